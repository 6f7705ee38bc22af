"""python -m paddle_mps: runs a program for PaddlePaddle with paddle_mps in the place of paddle.

    python -m paddle_mps script.py [argument ...]
    python -m paddle_mps -m module [argument ...]
    python -m paddle_mps -c 'program' [argument ...]
    python -m paddle_mps - [argument ...], which reads the program from standard input
    python -m paddle_mps --onnxruntime[=PROVIDER] script.py (or -m, -c) [argument ...]
    python -m paddle_mps --version

The program sees sys.argv and sys.path as if python itself had started it, and its tracebacks begin at its own first line. Python
processes that it starts, by multiprocessing or as sys.executable, get paddle_mps as paddle too: a folder with a module `paddle` is in
PYTHONPATH and sys.path. A process without it, or with the option -E or -I, calls paddle_mps.install() before it imports paddle.

With --onnxruntime it is a program for onnxruntime, with paddle_mps.onnxruntime in the place of onnxruntime; paddle is not
replaced, and processes that the program starts are not affected. PROVIDER is where all models run, whatever the program asks for:
mps or cpu.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from types import ModuleType, TracebackType
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


def run_input(arguments: list[str]) -> None:
    """`python - ...`: the program is read from standard input."""
    sys.argv = arguments
    if sys.path and not getattr(sys.flags, "safe_path", False):
        sys.path[0] = ""
    code = compile(sys.stdin.read(), "<stdin>", "exec")
    sys.modules["__main__"] = program = ModuleType("__main__")
    exec(code, vars(program))


CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_children")


def install_for_children() -> None:
    """Lets Python processes that are started from here find paddle. multiprocessing gives them this sys.path, other ways PYTHONPATH."""
    paths = os.environ.get("PYTHONPATH", "")
    if CHILDREN not in paths.split(os.pathsep):
        os.environ["PYTHONPATH"] = CHILDREN + (os.pathsep + paths if paths else "")
    if CHILDREN not in sys.path:
        sys.path.insert(0 if getattr(sys.flags, "safe_path", False) else 1, CHILDREN)


def show_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The sys.excepthook of a program: leaves out the frames above it, which are of this file and of runpy."""
    ours = (run_file.__code__.co_filename, runpy.run_path.__code__.co_filename)
    step = trace
    while step is not None and step.tb_frame.f_code.co_filename in ours:
        step = step.tb_next
    if step is not None or isinstance(error, SyntaxError):
        error.__traceback__ = trace = step
    sys.__excepthook__(kind, error, trace)


PROVIDERS = {"mps": "MPSExecutionProvider", "cpu": "CPUExecutionProvider"}


def installer(option: str) -> Callable[[], None]:
    """What puts a package of ours into the place of another; option is `--onnxruntime[=PROVIDER]`, or empty."""
    if not option:
        install_for_children()
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
    ways = {"-m": (run_module, arguments[1:]), "-c": (run_text, arguments[1:]), "-": (run_input, arguments)}
    run, rest = ways.get(first, (run_file, arguments))
    if first == "--version":
        print(f"paddle_mps {__version__}")
    elif first in ("-h", "--help"):
        print(__doc__, file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    elif not rest or (run is run_file and first.startswith("-")):
        print(
            f"paddle_mps: {first} is neither a program nor an option; see python -m paddle_mps --help", file=sys.stderr
        )
        return 2
    elif run is run_file and not os.path.exists(first):
        print(f"paddle_mps: can't open file {first!r}: it does not exist", file=sys.stderr)
        return 2
    elif run is run_file and os.path.isdir(first) and not os.path.exists(os.path.join(first, "__main__.py")):
        print(f"paddle_mps: {first!r} is a folder without __main__.py; want a program", file=sys.stderr)
        return 2
    else:
        installer(option)()
        sys.excepthook = show_error
        run(rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
