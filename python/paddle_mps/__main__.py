"""python -m paddle_mps: runs a program for PaddlePaddle with paddle_mps in the place of paddle.

    python -m paddle_mps script.py [argument ...]
    python -m paddle_mps -m module [argument ...]
    python -m paddle_mps -c 'program' [argument ...]
    python -m paddle_mps --onnxruntime[=PROVIDER] script.py (or -m, -c) [argument ...]
    python -m paddle_mps --version

The program sees sys.argv and sys.path as if python itself had started it. Processes that it starts are not affected:
they call paddle_mps.install() before they import paddle.

With --onnxruntime it is a program for onnxruntime, with paddle_mps.onnxruntime in the place of onnxruntime; paddle is not
replaced. PROVIDER is where all models run, whatever the program asks for: mps or cpu.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from types import ModuleType
from typing import Callable

from . import _install
from ._version import __version__


def run_file(arguments: list[str]) -> None:
    """`python script.py ...`: the folder of the script is where its imports are looked for first."""
    sys.argv = arguments
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


def run_module(arguments: list[str]) -> None:
    """`python -m module ...`"""
    sys.argv = arguments
    runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)


def run_text(arguments: list[str]) -> None:
    """`python -c program ...`"""
    sys.argv = ["-c", *arguments[1:]]
    if sys.path and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = ""
    sys.modules["__main__"] = program = ModuleType("__main__")
    exec(compile(arguments[0], "<string>", "exec"), vars(program))


PROVIDERS = {"mps": "MPSExecutionProvider", "cpu": "CPUExecutionProvider"}


def installer(option: str) -> Callable[[], None]:
    """What puts a package of ours into the place of another; option is `--onnxruntime[=PROVIDER]`, or empty."""
    if not option:
        return _install.install
    provider = option.partition("=")[2]
    onnxruntime = importlib.import_module("paddle_mps.onnxruntime")  # programs for Paddle do not wait for it
    return lambda: onnxruntime.install(PROVIDERS.get(provider, provider) or None)


def main(arguments: list[str]) -> int:
    """Runs a program and returns an exit status."""
    option = ""
    if arguments and arguments[0].partition("=")[0] == "--onnxruntime":
        option, arguments = arguments[0], arguments[1:]
    first = arguments[0] if arguments else "--help"
    ways = {"-m": (run_module, arguments[1:]), "-c": (run_text, arguments[1:])}
    run, rest = ways.get(first, (run_file, arguments))
    if first == "--version":
        print(f"paddle_mps {__version__}")
    elif first in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    elif not rest or (run is run_file and first.startswith("-")):
        print(f"paddle_mps: {first} is no program or option; see python -m paddle_mps --help", file=sys.stderr)
        return 2
    elif run is run_file and not os.path.exists(first):
        print(f"paddle_mps: can't open file {first!r}: it does not exist", file=sys.stderr)
        return 2
    elif run is run_file and os.path.isdir(first) and not os.path.exists(os.path.join(first, "__main__.py")):
        print(f"paddle_mps: {first!r} is a folder without __main__.py; want a program", file=sys.stderr)
        return 2
    else:
        installer(option)()
        run(rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
