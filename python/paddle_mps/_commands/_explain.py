"""The command `paddle-mps explain`: what a model becomes on a place, step by step."""

from __future__ import annotations

import argparse
import collections
import re
import sys
from collections.abc import Sequence

from .. import onnx
from .._core._place import place as place_of
from .._models._drawing import Drawing
from .._models._progress import Progress
from . import _examples


def main(arguments: Sequence[str]) -> int:
    """Loads a model, runs it once on inputs of the given sizes, and prints its steps."""
    parser = argparse.ArgumentParser(
        prog="paddle-mps explain",
        description="Prints the steps of a model: operator, operands, dtype, shape; which steps are a group that is computed block "
        "by block, and which ones the CPU runs for the GPU.",
    )
    _examples.options(parser)
    parser.add_argument("--summary", action="store_true", help="how often each operator runs, instead of the steps")
    parser.add_argument("--svg", metavar="FILE", help="draw the model's graph to this file, instead of printing steps")
    given = parser.parse_args(arguments)
    try:
        _explain(given)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        print(f"paddle-mps explain: {error}", file=sys.stderr)
        return 1
    return 0


def _explain(given: argparse.Namespace) -> None:
    """The command, after its arguments are parsed."""
    model = onnx.load(given.model, None if given.place is None else place_of(given.place))
    if given.svg:
        Drawing(model._program.text()).save(given.svg)
        print(f"wrote {given.svg}")
        return
    arrays = _examples.inputs(model, given)
    with Progress("compiling and running"):
        model.run(arrays)
    text, info = model.explain(), model._program.info()
    print(f"{given.model} on {model.place}: {_examples.described(arrays)}")
    print(
        f"{info.operators} nodes, {info.steps} steps, {info.grouped_steps} of them in {info.groups} groups, "
        f"{info.cpu_steps} on the CPU because the GPU cannot run them\n{info.constant_bytes:,} bytes of constants, "
        f"{info.scratch_bytes:,} bytes of scratch memory\n"
    )
    if not given.summary:
        print(text.rstrip())
        return
    counts = collections.Counter(re.findall(r"^ *\d+  .*? = (\w+)\(", text, re.MULTILINE))
    for name, count in counts.most_common():
        print(f"{count:>6}  {name}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
