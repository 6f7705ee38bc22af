"""What a running kernel says: tl.device_print and tl.device_assert."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl

import paddle_mps as paddle
from paddle_mps import triton_aot

FILE = pathlib.Path(__file__)


@triton.jit
def checked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0)
    tl.device_assert(v >= 0, "v is negative", mask=at < n)
    tl.store(out + at, v + 1, mask=at < n)


@triton.jit
def scalar_check(n, out):
    tl.device_assert(n < 5, "n is large")
    tl.store(out, n)


@triton.jit
def printing(x, y, scale, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(1) * BLOCK + at)
    tl.device_print("v", v)
    tl.device_print("both", v, tl.load(y + at))
    tl.device_print("hex", v, hex=True)
    tl.device_print("scale", scale)
    tl.device_print("here")


@triton.jit
def many(BLOCK: tl.constexpr):
    tl.device_print("i", tl.arange(0, BLOCK))


def line_of(text: str) -> str:
    lines = FILE.read_text().splitlines()
    return f"{FILE.name}:{next(i for i, line in enumerate(lines, 1) if text in line)}"


@pytest.fixture
def negative() -> Any:
    data = np.arange(300, dtype=np.int32)
    data[217] = -1
    return paddle.to_tensor(data, place="mps")


def test_an_assertion_that_fails_is_an_error_of_the_next_wait(negative: Any):
    out = paddle.zeros([300], dtype="int32", place="mps")
    checked[(3,)](negative, out, 300, BLOCK=128, debug=True)
    with pytest.raises(RuntimeError, match="device_assert: v is negative at ") as error:
        paddle.mps.synchronize()
    assert line_of('"v is negative"') in str(error.value) and "program (1, 0, 0), element  89" in str(error.value)
    paddle.mps.synchronize()  # it is said once
    assert out.tolist()[:3] == [1, 2, 3]


def test_a_read_of_what_the_kernel_wrote_is_a_wait(negative: Any):
    out = paddle.zeros([300], dtype="int32", place="mps")
    checked[(3,)](negative, out, 300, BLOCK=128, debug=True)
    with pytest.raises(RuntimeError, match="v is negative"):
        out.numpy()
    paddle.mps.synchronize()
    assert out.numpy()[5] == 6


def test_the_next_launch_works(negative: Any):
    out = paddle.zeros([300], dtype="int32", place="mps")
    for _ in range(3):
        checked[(3,)](negative, out, 300, BLOCK=128, debug=True)
        with pytest.raises(RuntimeError, match="v is negative"):
            paddle.mps.synchronize()
        checked[(3,)](paddle.ones([300], dtype="int32", place="mps"), out, 300, BLOCK=128, debug=True)
        paddle.mps.synchronize()
        assert out.tolist() == [2] * 300


def test_an_assertion_counts_with_debug_only(negative: Any):
    out = paddle.zeros([300], dtype="int32", place="mps")
    kernel = checked[(3,)](negative, out, 300, BLOCK=128)
    paddle.mps.synchronize()
    assert "records" not in kernel.asm["msl"]


def test_an_assertion_of_a_scalar():
    out = paddle.zeros([1], dtype="int32", place="mps")
    scalar_check[(1,)](4, out, debug=True)
    paddle.mps.synchronize()
    scalar_check[(2,)](7, out, debug=True)
    with pytest.raises(RuntimeError, match=r"n is large at .*, program \([01], 0, 0\)$"):
        paddle.mps.synchronize()


def test_what_is_printed_is_there_at_the_next_wait(capfd: pytest.CaptureFixture[str]):
    x = paddle.to_tensor(np.array([[3, -4], [5, 6]], np.int32), place="mps")
    y = paddle.to_tensor(np.array([0.5, -1.25], np.float32), place="mps")
    printing[(1, 2)](x, y.cast("float16"), 2.5, BLOCK=2)
    paddle.mps.synchronize()
    lines = capfd.readouterr().out.splitlines()
    assert sorted(lines) == sorted([
        "pid (0, 0, 0) idx (0) v: 3", "pid (0, 0, 0) idx (1) v: -4", "pid (0, 1, 0) idx (0) v: 5", "pid (0, 1, 0) idx (1) v: 6",
        "pid (0, 0, 0) idx (0) both: (operand 0) 3", "pid (0, 0, 0) idx (1) both: (operand 0) -4",
        "pid (0, 1, 0) idx (0) both: (operand 0) 5", "pid (0, 1, 0) idx (1) both: (operand 0) 6",
        "pid (0, 0, 0) idx (0) both: (operand 1) 0.500000", "pid (0, 0, 0) idx (1) both: (operand 1) -1.250000",
        "pid (0, 1, 0) idx (0) both: (operand 1) 0.500000", "pid (0, 1, 0) idx (1) both: (operand 1) -1.250000",
        "pid (0, 0, 0) idx (0) hex: 0x00000003", "pid (0, 0, 0) idx (1) hex: 0xfffffffc",
        "pid (0, 1, 0) idx (0) hex: 0x00000005", "pid (0, 1, 0) idx (1) hex: 0x00000006",
        "pid (0, 0, 0) idx () scale: 2.500000", "pid (0, 1, 0) idx () scale: 2.500000",
        "pid (0, 0, 0) idx () here", "pid (0, 1, 0) idx () here",
    ])  # fmt: skip
    programs = [line[: len("pid (0, 0, 0)")] for line in lines]
    assert programs == sorted(programs)


def test_what_has_no_room_is_counted(capfd: pytest.CaptureFixture[str]):
    many[(3,)](BLOCK=4096)
    paddle.mps.synchronize()
    lines = capfd.readouterr().out.splitlines()
    shown = [line for line in lines if line.startswith("pid")]
    assert 9300 < len(shown) < 3 * 4096
    assert lines[-1] == f"device_print: {3 * 4096 - len(shown)} more values, for which there was no room"


def test_a_file_reports_too(negative: Any, tmp_path: pathlib.Path):
    out = paddle.zeros([300], dtype="int32", place="mps")
    kernel = checked.warmup(negative, out, 300, BLOCK=128, debug=True, grid=(1,))
    (tmp_path / "checked.metal").write_bytes(kernel.asm["metal"])
    triton_aot.load(tmp_path / "checked.metal")[(3,)](negative, out, 300)
    with pytest.raises(RuntimeError, match="v is negative"):
        paddle.mps.synchronize()
