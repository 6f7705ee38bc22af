"""The command `paddle-mps convert`: writes a model as a program, which is read faster than the model.

The file has the graph of the model for one set of input sizes, and its constants, those included that the library computes when it
reads a model. It is mapped when it is loaded; kernels are chosen for the machine that runs it.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence

from .. import onnx
from .._core._place import place as place_of
from .._models._progress import Progress
from . import _examples

SUFFIX = ".pmps"


def main(arguments: Sequence[str]) -> int:
    """Loads a model, runs it once on inputs of the given sizes, and writes its program."""
    parser = argparse.ArgumentParser(
        prog="paddle-mps convert",
        description="Writes an ONNX model as a program for inputs of one set of sizes. The file is loaded as the model is: by "
        "paddle-mps run and paddle_mps.onnx.load, and in C by pmps_program_load. Inputs have the model's order, and no names.",
    )
    _examples.options(parser)
    parser.add_argument("--output", metavar="FILE", help=f"the file to write; default MODEL{SUFFIX}")
    given = parser.parse_args(arguments)
    try:
        _convert(given)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        print(f"paddle-mps convert: {error}", file=sys.stderr)
        return 1
    return 0


def _convert(given: argparse.Namespace) -> None:
    """The command, after its arguments are parsed."""
    path = given.output or os.path.splitext(given.model)[0] + SUFFIX
    if os.path.abspath(path) == os.path.abspath(given.model):
        raise ValueError(f"[output] {path} is the model itself; want another file")
    model = onnx.load(given.model, None if given.place is None else place_of(given.place))
    if model._takes_forms or model._returns_forms:
        raise ValueError(f"[convert] {given.model} takes or returns sequences or optionals; want a model of tensors")
    arrays = _examples.inputs(model, given)
    with Progress("compiling"):
        made = model.run(arrays)  # which compiles it for these sizes, and shows that it runs
    with Progress("writing"):
        model._program.save(path)
    start = time.perf_counter()
    again = onnx.load(path, model.place)
    loaded = time.perf_counter() - start
    if len(again.outputs) != len(made):
        raise RuntimeError(f"[convert] {path} has {len(again.outputs)} outputs; want {len(made)}")
    print(
        f"wrote {path}: {os.path.getsize(path):,} bytes, for {_examples.described(arrays)}; it loads in {loaded:.3f} s"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
