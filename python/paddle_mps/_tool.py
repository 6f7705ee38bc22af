"""The command `paddle-mps` of an installed package. The one in Go (cmd/paddle-mps) has the same subcommands."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Callable

from ._version import __version__

Command = Callable[[Sequence[str]], int]


def _of(module: str) -> Command:
    """The `main` of a module of the package, which is imported when it is called: the self-test is large."""
    return lambda arguments: importlib.import_module(f"{__package__}.{module}").main(list(arguments))


# The subcommands: what they take, what they do and the function that gets the arguments after the name.
COMMANDS: dict[str, tuple[str, str, Command]] = {
    "run": ("MODEL.onnx [--input X.npy] [--output DIR]", "runs an ONNX model", _of("onnx")),
    "explain": ("MODEL.onnx [--shape X=N,N]", "prints the compiled steps of a model", _of("_commands._explain")),
    "bench": ("MODEL.onnx [--compare onnxruntime]", "times an ONNX model", _of("_commands._bench")),
    "convert": (
        "MODEL.onnx [--shape X=N,N] [--output FILE]",
        "writes a model as a program that loads faster",
        _of("_commands._conversion"),
    ),
    "serve": (
        "REPOSITORY|MODEL.onnx [OPTIONS]",
        "serves models over HTTP and gRPC, as tritonserver does",
        _of("serve"),
    ),
    "triton": (
        "compile|explain KERNEL.ttir [-o KERNEL.metal] [-w WARPS]",
        "compiles a Triton kernel, or explains it; see also triton frontend",
        _of("_commands._triton_tool"),
    ),
    "memory-viz": (
        "SNAPSHOT.json [-o PAGE.html]",
        "draws a memory snapshot as an HTML page",
        _of("memory_viz"),
    ),
    "selftest": ("[--quick] [...]", "checks every device and prints a report", _of("selftest.command")),
    "collect-env": ("", "prints the versions that a bug report needs", _of("collect_env")),
}


def usage() -> str:
    """The list of the subcommands."""
    lines = [f"  paddle-mps {name + ' ' + takes:<50} {does}" for name, (takes, does, _) in COMMANDS.items()]
    return "\n".join(
        [
            "usage:",
            *lines,
            "",
            "python -m paddle_mps script.py runs a program for PaddlePaddle.",
            "paddle-mps COMMAND --help describes one; paddle-mps --version prints the version.",
        ]
    )


def run(arguments: Sequence[str]) -> int:
    """Runs a command line and returns the exit status: 0, 1 for a failure, 2 for a wrong command line."""
    name, rest = (arguments[0], arguments[1:]) if arguments else ("", ())
    if name in ("-h", "--help", "help"):
        if name == "help" and rest and rest[0] in COMMANDS:
            return COMMANDS[rest[0]][2](["--help"])
        print(usage())
        return 0
    if name == "--version":
        print(f"paddle-mps {__version__}")
        return 0
    if name not in COMMANDS:
        print(usage(), file=sys.stderr)
        if name:
            print(f"\npaddle-mps: got command {name!r}; want one of those above", file=sys.stderr)
        return 2
    if list(rest) == ["--version"]:
        print(f"paddle-mps {__version__}")
        return 0
    return COMMANDS[name][2](rest)


def main() -> int:
    """The entry point of the script that pip installs."""
    try:
        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130  # as shells say it of a program that Ctrl-C has ended
