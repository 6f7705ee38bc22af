"""The command `paddle-mps triton`: compiles Triton kernels ahead of time, to files for `paddle_mps.triton_aot`, and explains them."""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Sequence
from ctypes import byref, c_void_p

from .._core._errors import check
from .._core._library import library


def compiled(text: str, file: str, warps: int, f64_as_f32: bool, explain: bool = False) -> str:
    """The Metal source of Triton IR, or what explains it; file is the name that errors give."""
    options = {"num_warps": warps, "allow_f64_as_f32": f64_as_f32, "file": file, "explain": explain}
    encoded, source, metadata = text.encode(), c_void_p(), c_void_p()
    check(
        library.pmps_triton_compile(encoded, len(encoded), json.dumps(options).encode(), byref(source), byref(metadata))
    )
    try:
        return ctypes.string_at(source.value or 0).decode()
    finally:
        library.pmps_text_free(source)
        library.pmps_text_free(metadata)


def of_python(path: pathlib.Path, name: str, signature: str, warps: int) -> str:
    """The Triton IR of a kernel in a Python file, by an interpreter that has Triton.

    Raises:
        ValueError: it has none.
        subprocess.CalledProcessError: it has said what is wrong.
    """
    python = os.environ.get("PADDLE_MPS_PYTHON") or sys.executable
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('triton') is None)"
    if subprocess.run([python, "-c", find]).returncode:
        raise ValueError(
            f"{python} has no triton; want it installed, or the path of an interpreter that has it in PADDLE_MPS_PYTHON"
        )
    command = [python, "-m", "paddle_mps_triton.ttir", str(path), "-n", name, "-s", signature, "-w", str(warps)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def of_file(path: pathlib.Path) -> str:
    """The Triton IR in a file.

    Raises:
        ValueError: it is no text.
    """
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; want the text of Triton IR") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; the status is 1 for a kernel that does not compile, 2 for a wrong command line."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if list(arguments[:1]) == ["frontend"]:
        from paddle_mps_triton import frontend

        return frontend.main(arguments[1:])
    parser = argparse.ArgumentParser(
        prog="paddle-mps triton",
        description="Compiles a Triton kernel to a Metal shader, or explains it: layouts, threadgroup memory, barriers, "
        "bytes per access.",
    )
    parser.add_argument(
        "command",
        choices=["compile", "explain", "frontend"],
        help="frontend has other arguments: see paddle-mps triton frontend --help",
    )
    parser.add_argument("file", type=pathlib.Path, help="Triton IR (.ttir), or a Python file (.py)")
    parser.add_argument("-o", dest="output", help="where the source goes; standard output without it")
    parser.add_argument("-w", dest="warps", type=int, default=4, help="SIMD groups of a program (4)")
    parser.add_argument("-n", dest="name", help="the kernel in a Python file")
    parser.add_argument("-s", dest="signature", help='its signature, such as "*fp32:16, i32, 1024"')
    parser.add_argument("--allow-f64-as-f32", action="store_true", help="compute float64 as float32")
    given = parser.parse_args(arguments)
    python = given.file.suffix == ".py"
    if python != bool(given.name and given.signature):
        parser.error("a Python file needs -n and -s; a .ttir file takes neither")
    try:
        read = of_python(given.file, given.name, given.signature, given.warps) if python else of_file(given.file)
        source = compiled(
            read, given.file.name, given.warps, given.allow_f64_as_f32, explain=given.command == "explain"
        )
        if given.output not in (None, "-"):
            pathlib.Path(given.output).write_text(source, encoding="utf-8")
        else:
            sys.stdout.write(source)
    except subprocess.CalledProcessError as error:
        return error.returncode
    except (OSError, ValueError, RuntimeError) as error:
        print(f"paddle-mps triton: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
