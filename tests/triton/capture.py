"""Writes the Triton IR of each case of kernels/ to ttir/VERSION/NAME.ttir, for the tests of the compiler in Go,
and the options of each launch to ttir/VERSION/options.json.

    PYTHONPATH=python .venv-triton/bin/python tests/triton/capture.py [NAME...]

Nothing is run, so no device is needed. The text has no paths of this machine: locations name files from tests/ on.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from typing import Any

import corpus
import triton

from paddle_mps_triton.ttir import lower

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {
    "bool": "i1",
    "float32": "fp32",
    "float64": "fp64",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float8_e5m2": "fp8e5",
    "float8_e4m3fn": "fp8e4nv",
}


def signature_of(argument: Any) -> tuple[str, bool]:
    """The type of an argument for Triton, and whether 16 divides it."""
    offset = 0
    if isinstance(argument, (corpus.Out, corpus.Shifted)):
        offset = argument.offset
        if isinstance(argument, corpus.Out):
            name, size = argument.type(), 2 if argument.dtype == corpus.BF16 else argument.expected.dtype.itemsize
        else:
            name, size = str(argument.data.dtype), argument.data.dtype.itemsize
    elif isinstance(argument, corpus.Typed):
        name, size = argument.dtype, 1
    elif isinstance(argument, bool):
        return "i1", False
    elif isinstance(argument, int):
        return ("i32" if -(2**31) <= argument < 2**31 else "i64"), argument % 16 == 0
    elif isinstance(argument, float):
        return "fp32", False
    else:
        name, size = str(argument.dtype), argument.dtype.itemsize
    short = TYPES.get(name) or name.replace("uint", "u").replace("int", "i")
    return "*" + short, offset * size % 16 == 0


def capture(run: corpus.Run) -> str:
    """The Triton IR of a launch: what Triton's launcher would have compiled."""
    signature, constants, attributes = {}, {}, {}
    names = run.kernel.arg_names
    for i, argument in enumerate(run.args):
        if isinstance(argument, int) and not isinstance(argument, bool) and argument == 1:
            signature[names[i]], constants[(i,)] = "constexpr", 1
            continue
        signature[names[i]], aligned = signature_of(argument)
        if aligned:
            attributes[(i,)] = [["tt.divisibility", 16]]
    for name, value in run.constants.items():
        signature[name], constants[(names.index(name),)] = "constexpr", value
    text = lower(run.kernel, signature, constants, attributes, run.options)
    return re.sub(r'loc\("[^"]*/(tests/triton/|site-packages/triton/)', r'loc("\1', text)


def main() -> int:
    folder = HERE / "ttir" / triton.__version__
    folder.mkdir(parents=True, exist_ok=True)
    failed, options = 0, {}
    for name, case in corpus.load().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        try:
            run = case.run()
            (folder / f"{name}.ttir").write_text(capture(run))
            options[name] = {"num_warps": 4, **run.options}
        except Exception as error:
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[-400:]}", file=sys.stderr)
    kept = folder / "options.json"
    if sys.argv[1:] and kept.exists():
        options = json.loads(kept.read_text()) | options
    if options:
        lines = [f'"{name}": {json.dumps(given)}' for name, given in sorted(options.items())]
        kept.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{len(corpus.CASES)} cases, {failed} failed; {folder}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
