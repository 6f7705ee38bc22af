"""paddle-mps triton compile, of Triton IR and of Python files, and the files that it writes."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import triton_aot

HERE = pathlib.Path(__file__).parent
ADD = """import triton, triton.language as tl
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)
"""
SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 1024"


def tool(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "paddle_mps._commands._triton_tool", "compile", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})


@pytest.fixture
def add_py(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "add.py"
    path.write_text(ADD)
    return path


def test_a_python_file(add_py: pathlib.Path, tmp_path: pathlib.Path):
    files = [tmp_path / "1.metal", tmp_path / "2.metal"]
    for file in files:
        done = tool(add_py, "-n", "add", "-s", SIGNATURE, "-w", 2, "-o", file)
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    kernel = triton_aot.load(files[0])
    assert kernel.num_warps == 2 and [kind for _, kind in kernel.signature] == ["*fp32"] * 3 + ["i32"]
    x, y, out = paddle.randn([3000], place="mps"), paddle.randn([3000], place="mps"), paddle.zeros([3000], place="mps")
    kernel[(3,)](x, y, out, 3000)
    assert np.array_equal(out.numpy(), x.numpy() + y.numpy())


def test_triton_ir_needs_no_triton(tmp_path: pathlib.Path):
    done = tool(
        HERE / "ttir" / "3.9.0" / "softmax.ttir", "-o", tmp_path / "softmax.metal", PADDLE_MPS_PYTHON="/nowhere"
    )
    assert done.returncode == 0, done.stderr
    kernel = triton_aot.load(tmp_path / "softmax.metal")
    x, out = paddle.ones([2, 10], place="mps"), paddle.zeros([2, 10], place="mps")
    kernel[2](x, out, 10, 10)
    assert np.allclose(out.numpy(), 0.1, rtol=2.0**-20)


WRONG = {
    "signature": (["-n", "add", "-s", "*fp32"], 2, "the signature has 1 parts; want 5: x, y, out, n, BLOCK"),
    "hint": (["-n", "add", "-s", SIGNATURE.replace("16", "8", 1)], 2, "x has the hint '8'; want 1 or 16"),
    "name": (["-n", "sub", "-s", SIGNATURE], 2, "has no kernel 'sub'"),
    "no type": (
        ["-n", "add", "-s", SIGNATURE.replace("*fp32", "*foo", 1)],
        2,
        "x has the type '*foo'; want one such as",
    ),
    "empty": (["-n", "add", "-s", SIGNATURE.replace("i32", "")], 2, "n has the type ''; want one such as"),
    "warps": (["-n", "add", "-s", SIGNATURE, "-w", "3"], 1, "num_warps=3; want a power of 2 from 1 to 32"),
    "output": (
        ["-n", "add", "-s", SIGNATURE, "-o", "/nowhere/add.metal"],
        1,
        "No such file or directory: '/nowhere/add",
    ),
    "type": (["-n", "add", "-s", "i32, *fp32, *fp32, i32, 1024"], 1, "Unsupported ptr type"),
    "neither": ([], 2, "a Python file needs -n and -s"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_command_lines(add_py: pathlib.Path, what: str):
    arguments, status, words = WRONG[what]
    done = tool(add_py, *arguments)
    assert done.returncode == status and words in done.stderr and "Traceback" not in done.stderr


def test_a_file_that_is_no_text(tmp_path: pathlib.Path):
    (tmp_path / "x.ttir").write_bytes(b"module \xff")
    done = tool(tmp_path / "x.ttir")
    assert done.returncode == 1 and "x.ttir: byte 7 is not UTF-8; want the text of Triton IR" in done.stderr


def test_a_promised_multiple_is_checked(add_py: pathlib.Path, tmp_path: pathlib.Path):
    done = tool(add_py, "-n", "add", "-s", SIGNATURE.replace("i32", "i32:16"), "-o", tmp_path / "add.metal")
    assert done.returncode == 0, done.stderr
    kernel = triton_aot.load(tmp_path / "add.metal")
    x, out = paddle.ones([100], place="mps"), paddle.zeros([100], place="mps")
    with pytest.raises(ValueError, match="argument n is 100; the kernel was compiled for multiples of 16"):
        kernel[1](x, x, out, 100)
    kernel[1](x, x, out, 96)
    assert out.tolist() == [2] * 96 + [0] * 4


def test_explain(add_py: pathlib.Path):
    """The same text for IR and for the Python file that it comes from."""
    script = "import sys; from paddle_mps._tool import main; sys.exit(main())"  # what pip installs
    command = [sys.executable, "-c", script, "triton", "explain"]
    of_python = subprocess.run(
        [*command, add_py, "-n", "add", "-s", SIGNATURE, "-w", "2"], capture_output=True, text=True
    )
    assert of_python.returncode == 0, of_python.stderr
    words = ["kernel add", "0 bytes of threadgroup memory", "add.py:5 tt.load: 16 bytes an access"]
    assert all(word in of_python.stdout for word in words) and "kernel void" not in of_python.stdout
    of_ir = subprocess.run([*command, HERE / "ttir" / "3.9.0" / "softmax.ttir"], capture_output=True, text=True)
    assert of_ir.returncode == 0 and "2 barriers in the text" in of_ir.stdout, of_ir.stdout


def test_wrong_input_says_where(tmp_path: pathlib.Path):
    (tmp_path / "x.ttir").write_text("module {\n  tt.func nothing\n}\n")
    done = tool(tmp_path / "x.ttir")
    assert done.returncode == 1 and "x.ttir:2:" in done.stderr
    assert tool(tmp_path / "missing.ttir").returncode == 1
