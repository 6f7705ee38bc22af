"""Convolutions: the three operators against each other, threads, and layouts; values are compared with NumPy in the
conformance suite and with Paddle in tests/peers/expressions/windows.py."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators

F = paddle.nn.functional

# Shapes of x and w, stride, padding, dilation and groups: what is left of x behind the last window is that of a stride.
CASES = [
    ((2, 4, 9, 8), (6, 4, 3, 2), [2, 3], [1, 0, 0, 2], [1, 2], 1),
    ((2, 4, 9), (6, 2, 3), [4], [1, 1], [1], 2),
    ((1, 6, 7, 7), (6, 1, 3, 3), [2, 2], [1, 1, 1, 1], [1, 1], 6),
    ((2, 2, 5, 6, 4), (3, 2, 2, 2, 1), [2, 1, 3], [0, 1, 1, 0, 0, 0], [1, 2, 1], 1),
    ((1, 3, 5, 5), (4, 3, 1, 1), [3, 3], [0, 0, 0, 0], [1, 1], 1),
]


def whole(shape: tuple[int, ...], seed: int) -> Any:
    """Small whole numbers, whose products add up without rounding."""
    return paddle.to_tensor(np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32))


def inner(a: Any, b: Any) -> float:
    return float((a.numpy().astype(np.float64) * b.numpy()).sum())


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("channels_last", [False, True])
def test_the_three_convolutions_are_one_form(case: Any, channels_last: bool) -> None:
    """sum(y * conv(x, w)) is linear in each of its three factors, and the others are what it is multiplied by."""
    x_shape, w_shape, stride, padding, dilation, groups = case
    x, w = whole(x_shape, 1), whole(w_shape, 2)
    if channels_last:
        x = x.transpose([0, *range(2, len(x_shape)), 1])
    made = _operators.conv(x, w, stride, padding, dilation, groups, channels_last)
    y = whole(tuple(made.shape), 3)
    size, count = (list(t.shape[1:-1] if channels_last else t.shape[2:]) for t in (x, made))
    kernel = list(w_shape[2:])
    left = [
        n - ((m - 1) * s - before - behind + d * (k - 1) + 1)
        for n, m, s, before, behind, d, k in zip(size, count, stride, padding[::2], padding[1::2], dilation, kernel)
    ]
    dx = _operators.conv_transpose(y, w, stride, padding, left, dilation, groups, channels_last)
    dw = _operators.conv_weight(x, y, kernel, stride, padding, dilation, groups, channels_last)
    assert dx.shape == x.shape
    assert dw.shape == w.shape
    assert inner(made, y) == inner(x, dx) == inner(w, dw)


THREADS = """
import sys
import numpy as np
import paddle_mps as paddle
from paddle_mps._calls import _operators
rng = np.random.default_rng(0)
x = paddle.to_tensor(rng.normal(size=(3, 24, 29, 31)).astype(np.float32))
w = paddle.to_tensor(rng.normal(size=(40, 24, 3, 3)).astype(np.float32))
y = _operators.conv(x, w, [2, 1], [1, 1, 0, 2])
back = _operators.conv_transpose(y, w, [2, 1], [1, 1, 0, 2])
weight = _operators.conv_weight(x, y, [3, 3], [2, 1], [1, 1, 0, 2])
mean = _operators.avg_pool(x, [3, 2], [2, 1])
spread = _operators.avg_unpool(mean, [29, 31], [3, 2], [2, 1])
for t in (y, back, weight, mean, spread):
    sys.stdout.write(t.numpy().tobytes().hex())
"""


@pytest.mark.sampled(5, 2)
def test_results_do_not_depend_on_the_number_of_threads() -> None:
    def run(threads: str) -> str:
        environment = {**os.environ, "PADDLE_MPS_NUM_THREADS": threads, "PADDLE_MPS_DEVICE": "host"}
        return subprocess.run(
            [sys.executable, "-c", THREADS], env=environment, capture_output=True, text=True, check=True
        ).stdout

    alone = run("1")
    assert len(alone) > 1000
    assert run("2") == alone
    assert run("5") == alone


def test_nothing_to_convolve() -> None:
    x, w = paddle.zeros([2, 0, 4, 4]), paddle.zeros([3, 0, 2, 2])
    assert F.conv2d(x, w).numpy().tolist() == np.zeros((2, 3, 3, 3)).tolist()
    assert F.conv2d(paddle.zeros([0, 2, 4, 4]), paddle.zeros([3, 2, 2, 2])).shape == [0, 3, 3, 3]
    weight = _operators.conv_weight(paddle.zeros([0, 2, 4, 4]), paddle.zeros([0, 3, 3, 3]), [2, 2])
    assert weight.numpy().tolist() == np.zeros((3, 2, 2, 2)).tolist()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_are_rounded_once(dtype: str) -> None:
    rng = np.random.default_rng(4)
    x = paddle.to_tensor(rng.normal(size=(1, 30, 9, 9)).astype(np.float32)).astype(dtype)
    w = paddle.to_tensor(rng.normal(size=(5, 30, 3, 3)).astype(np.float32)).astype(dtype)
    single = F.conv2d(x.astype("float32"), w.astype("float32")).astype(dtype).astype("float32")
    assert np.array_equal(F.conv2d(x, w).astype("float32").numpy(), single.numpy())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, w: _operators.conv(x, w, [1]), "stride has 1 numbers; want one for each of 2 spatial axes"),
        (lambda x, w: _operators.conv(x, w, [0, 1]), "want numbers from 1"),
        (lambda x, w: _operators.conv(x, w, None, [1, 1]), "padding has 2 numbers; want two"),
        (lambda x, w: _operators.conv(x, w, None, [1, 1, 1, -1]), "want numbers from 0"),
        (lambda x, w: _operators.conv(x, w, None, None, None, 0), "groups is 0"),
        (lambda x, w: _operators.conv(x, w[0]), "as many"),
        (lambda x, w: _operators.conv(x[0, 0], w), "want 3 to 5"),
        (lambda x, w: _operators.conv(x, w[:, :, :0]), "a kernel of 1 element or more"),
        (lambda x, w: _operators.conv_weight(x, x, [2, 2]), "y has shape"),
        (lambda x, w: _operators.conv_transpose(x, w), "want as many in front"),
        (
            lambda x, w: _operators.conv_transpose(x, x[:, :, :1, :1].transpose([1, 0, 2, 3]), None, [3, 3, 3, 3]),
            "0 elements|-",
        ),
    ],
)
def test_calls_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(paddle.zeros([2, 3, 5, 5]), paddle.zeros([4, 3, 2, 2]))


def gradients(function: Any, x: Any, w: Any, **given: Any) -> tuple[Any, Any, Any]:
    """The result, and the gradients of its sum."""
    x.stop_gradient = w.stop_gradient = False
    y = function(x, w, **given)
    y.sum().backward()
    return y, x.grad.numpy(), w.grad.numpy()


def test_gradients_of_images_without_elements_are_zero() -> None:
    _, dx, dw = gradients(F.conv2d_transpose, paddle.zeros([1, 2, 0, 5]), paddle.ones([2, 3, 3, 3]))
    assert dx.shape == (1, 2, 0, 5) and dw.shape == (2, 3, 3, 3) and not dw.any()
    y, dx, dw = gradients(F.conv2d, paddle.zeros([1, 2, 0, 5]), paddle.ones([3, 2, 3, 3]), padding=2)
    assert y.shape == [1, 3, 2, 7] and dx.shape == (1, 2, 0, 5) and not dw.any()
    y, dx, dw = gradients(F.conv2d, paddle.zeros([0, 2, 5, 5]), paddle.ones([3, 2, 3, 3]))
    assert y.shape == [0, 3, 3, 3] and dx.shape == (0, 2, 5, 5) and not dw.any()


def test_strides_longer_than_everything_cost_nothing() -> None:
    """Each of these took too long to wait for: a phase for each element of a stride, planes for each of a kernel."""
    assert F.conv1d_transpose(whole((1, 1, 1), 1), whole((1, 1, 1), 2), stride=1 << 27).shape == [1, 1, 1]
    x, w = whole((1, 1, 4, 4), 3), paddle.full([1, 1, 1, 1], 2.0)
    _, dx, _ = gradients(F.conv2d, x, w, stride=20000)
    assert dx[0, 0, 0, 0] == 2 and dx.sum() == 2
    far = F.conv1d_transpose(paddle.ones([1, 1, 3]), paddle.ones([1, 1, 2]), stride=5)
    assert far.numpy().tolist() == [[[1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1]]]
    x, w = whole((1, 1, 1 << 16), 4), whole((1, 1, 1 << 15), 5)
    expected = x.numpy().astype(np.float64).reshape(2, -1) @ w.numpy()[0, 0].astype(np.float64)
    assert F.conv1d(x, w, stride=1 << 15).numpy().ravel().tolist() == expected.tolist()


WASTEFUL = [  # kernels as wide as the image, long dilations, few windows of many images
    ((2, 1, 20, 60), (7, 1, 3, 60), {}),
    ((1, 3, 300), (9, 3, 3), {"dilation": 100, "padding": 100}),
    ((6, 5, 2, 2), (8, 5, 2, 2), {}),
    ((40, 16, 1, 1), (9, 16, 1, 1), {}),
    ((2, 3, 40, 40), (5, 3, 8, 8), {"stride": 8}),
]


@pytest.mark.parametrize("case", WASTEFUL, ids=str)
def test_convolutions_that_gather_their_windows(case: Any) -> None:
    """Against the sum over the kernel's elements, of slices of the padded image; the numbers are whole."""
    size, kernel, given = case
    stride, dilation, padding = (given.get(k, d) for k, d in (("stride", 1), ("dilation", 1), ("padding", 0)))
    x, w = whole(size, 6), whole(kernel, 7)
    function = F.conv1d if len(size) == 3 else F.conv2d
    padded = np.pad(x.numpy().astype(np.float64), [(0, 0)] * 2 + [(padding, padding)] * (len(size) - 2))
    count = [(n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(padded.shape[2:], kernel[2:])]
    expected = np.zeros((size[0], kernel[0], *count))
    for at in np.ndindex(*kernel[2:]):
        windows = tuple(slice(k * dilation, k * dilation + (n - 1) * stride + 1, stride) for k, n in zip(at, count))
        element = w.numpy()[(slice(None), slice(None), *at)].astype(np.float64)
        expected += np.einsum("nc...,oc->no...", padded[(slice(None), slice(None), *windows)], element)
    assert np.array_equal(function(x, w, **given).numpy(), expected)
