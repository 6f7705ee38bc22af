"""Kernels with more pointers than Metal binds buffers: they are in an argument buffer, whose tensors are resident and ordered."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

SIZE = 64


def kernel(folder: pathlib.Path, pointers: int, numbers: int, line: str) -> Any:
    """A kernel that writes the sum of all its inputs, each with a weight, to out; Triton reads sources of files."""
    inputs, scales = [f"x{i}" for i in range(pointers - 1)], [f"n{i}" for i in range(numbers)]
    text = ["import triton", "import triton.language as tl", "", "@triton.jit"]
    text += [f"def many({', '.join([*inputs, 'out', *scales])}, SIZE: tl.constexpr):", "    at = tl.arange(0, SIZE)"]
    text += ["    total = tl.zeros([SIZE], tl.float32)"]
    text += [f"    total += {i + 1} * tl.load({x} + at)" for i, x in enumerate(inputs)]
    text += [f"    total += {n}" for n in scales]
    text += [f"    {line}", "    tl.store(out + at, total)", ""]
    file = folder / f"many_{pointers}_{numbers}.py"
    file.write_text("\n".join(text))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module.many


def whole(shape: list[int]) -> Any:
    """Numbers whose sums are exact."""
    return np.random.default_rng(shape[0]).integers(-9, 9, shape).astype(np.float32)


@pytest.mark.parametrize(
    ("pointers", "numbers", "line"),
    [
        (30, 2, "pass"),  # numbers share a buffer
        (31, 0, "pass"),  # all are bound
        (31, 1, "pass"),
        (32, 0, "pass"),
        (40, 3, "pass"),
        (100, 0, "pass"),
        (31, 0, 'tl.device_assert(total < 0x1p30, "large")'),  # a buffer for reports, and no numbers
        (33, 1, 'tl.device_assert(total < 0x1p30, "large")'),
    ],
)
def test_sums(tmp_path: pathlib.Path, pointers: int, numbers: int, line: str) -> None:
    many = kernel(tmp_path, pointers, numbers, line.replace("0x1p30", "1e9"))
    data = whole([pointers, SIZE + 1])
    rows = paddle.to_tensor(data, place="mps")  # inputs are views with offsets, which share memory
    own = [paddle.to_tensor(data[i, 1:], place="mps") for i in range(0, pointers, 2)]
    inputs = [own[i // 2] if i % 2 == 0 else rows[i][1:] for i in range(pointers - 1)]
    out = paddle.zeros([SIZE]).to("mps")
    scales = [float(i + 5) for i in range(numbers)]
    want = sum((i + 1) * data[i, 1:] for i in range(pointers - 1)) + sum(scales)
    for _ in range(2):
        many[(1,)](*inputs, out, *scales, SIZE=SIZE, debug="assert" in line)
    np.testing.assert_array_equal(out.numpy(), want)


def test_order(tmp_path: pathlib.Path) -> None:
    """What writes an input before, and what reads the output afterwards, are ordered with the kernel; memory is kept meanwhile."""
    many = kernel(tmp_path, 35, 0, "pass")
    data = whole([34, SIZE])
    inputs = [paddle.to_tensor(row, place="mps") for row in data]
    out = paddle.zeros([SIZE]).to("mps")
    total = np.zeros(SIZE, np.float32)
    for turn in range(20):
        inputs[turn] = inputs[turn] + 1.0
        data[turn] += 1
        many[(1,)](*[x * 1.0 for x in inputs], out, SIZE=SIZE)
        result = out + 0.0
        total = sum((i + 1) * data[i] for i in range(34))
    np.testing.assert_array_equal(result.numpy(), total)


def test_changes_are_noticed(tmp_path: pathlib.Path) -> None:
    """An output that a gradient needs unchanged is an error, as with fewer pointers."""
    many = kernel(tmp_path, 32, 0, "pass")
    inputs = [paddle.ones([SIZE]).to("mps") for _ in range(31)]
    out = paddle.ones([SIZE]).to("mps")
    w = paddle.ones([SIZE]).to("mps")
    w.stop_gradient = False
    y = (w * out).sum()
    many[(1,)](*inputs, out, SIZE=SIZE)
    with pytest.raises(ValueError, match="changed in place"):
        y.backward()


def test_a_tensor_of_the_cpu(tmp_path: pathlib.Path) -> None:
    many = kernel(tmp_path, 33, 0, "pass")
    tensors = [paddle.ones([SIZE]).to("mps") for _ in range(33)]
    tensors[32] = paddle.ones([SIZE]).cpu()
    with pytest.raises(ValueError, match="argument 32 is on cpu"):
        many[(1,)](*tensors, SIZE=SIZE)
