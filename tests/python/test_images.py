"""Rows of images that formulas do not say: lines of numbers, and resizing in programs for any sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _operators as ops
from paddle_mps.selftest.oracle import padded

PLACES = ["cpu", "mps:0"]


@pytest.fixture(params=PLACES)
def place(request: Any) -> Any:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return paddle.to_tensor(0.0, place=request.param).place


@pytest.mark.parametrize("count", [0, 1, 3, 257, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "uint8", "bool"])
def test_number_lines(dtype: str, count: int, place: Any) -> None:
    if dtype == "float64" and not place.is_cpu_place():
        pytest.skip("no float64")
    values = [i % 100 + 0.1 for i in range(count)]
    made = ops.number_line(place.word, values, dtype)
    assert made.shape == [count]
    np.testing.assert_array_equal(made.numpy(), np.array(values, np.float64).astype(dtype))


def test_number_lines_are_told_apart() -> None:
    x = paddle.arange(4, dtype="float32").reshape([1, 1, 4])
    for scale in (0.5, 1.5, 0.5, 2.0, 1.5, 2.0):
        got = ops.interpolate(
            x, [2], None, [scale], None, "nearest", "asymmetric", "floor", -0.75, False, False, 0.0, False
        )
        want = [int(i / scale) for i in range(int(4 * scale))]
        np.testing.assert_array_equal(got.numpy().ravel(), want)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        (([2], None, None), "sizes or scales"),
        (([2, 3], [4], None), "sizes or scales"),
        (([2], None, [0.0]), "above 0"),
        (([2, -2], [3, 3], None), "twice"),
        (([9], [3], None), "axis"),
        (([2], [-3], None), "elements"),
        (([2], None, [1e30]), "elements"),
        (([2], [3], None, [0.0]), "region"),
        (([2], [3], None, None, "lanczos"), "mode"),
        (([2], [3], None, None, "cubic", "corners"), "coordinates"),
    ],
)
def test_attributes_of_interpolate_that_do_not_fit(attributes: Any, message: str) -> None:
    rest = [None, "nearest", "half_pixel", "floor", -0.75, False, False, 0.0, False]
    given = [*attributes, *rest[len(attributes) - 3 :]]
    with pytest.raises((ValueError, IndexError), match=message):
        ops.interpolate(paddle.ones([1, 1, 4, 4]), *given)


def test_a_channel_of_nan_stays_where_it_is() -> None:
    """Elements that are not read do not count, whatever they are."""
    x = np.zeros((1, 1, 64, 2), np.float32)
    x[0, 0, 0] = np.nan
    for mode in ("bilinear", "bicubic"):
        y = F.interpolate(paddle.to_tensor(x), size=[16, 2], mode=mode, antialias=True)
        assert np.isnan(y.numpy()[0, 0, 0]).all() and not np.isnan(y.numpy()[0, 0, 3:]).any()


MODES = ["constant", "reflect", "replicate", "circular"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "pads", [[1, 2, 0, 2], [-1, 2, 2, -2], [0, -3, -1, 0], [0, 0, 0, 0], [9, 30, 17, 4], [0, 3000, 1, 0]]
)
def test_gradients_of_pads(pads: list[int], mode: str, place: Any) -> None:
    """An element has the sum of the gradients of those that read it."""
    x = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    y = paddle.to_tensor(x, stop_gradient=False, place=place)
    made = ops.pad(y, pads, mode, 0)
    read = padded(x, pads, mode, 0).astype(int)
    np.testing.assert_array_equal(made.numpy(), read)
    slope = np.random.default_rng(1).integers(-8, 8, read.shape).astype(np.float32)
    made.backward(paddle.to_tensor(slope, place=place))
    want = np.bincount(read.ravel(), slope.ravel(), 13)[1:].reshape(4, 3)
    np.testing.assert_array_equal(y.grad.numpy(), want)


@pytest.mark.parametrize("mode", MODES[1:])
def test_long_axes_are_padded_by_computed_places(mode: str, place: Any) -> None:
    x = np.arange(1, 2001, dtype=np.float32).reshape(1, 2000)
    y = paddle.to_tensor(x, stop_gradient=False, place=place)
    ops.pad(y, [0, 0, 700, 5000], mode, 0).sum().backward()
    want = np.bincount(padded(x, [0, 0, 700, 5000], mode, 0).astype(int).ravel(), None, 2001)[1:]
    np.testing.assert_array_equal(y.grad.numpy()[0], want)


@pytest.mark.parametrize(
    ("pads", "mode", "message"),
    [
        ([1, 1], "constant", "two numbers an axis"),
        ([1, 1, 1, 1], "edge", "mode is 'edge'"),
        ([0, 0, -2, -2], "constant", "axis 1 of 3 elements"),
        ([0, 0, 2**50, 0], "constant", "axis 1 of 3 elements"),
    ],
)
def test_pads_that_do_not_fit(pads: list[int], mode: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ops.pad(paddle.ones([4, 3]), pads, mode, 0)
    with pytest.raises(ValueError, match="no elements"):
        ops.pad(paddle.ones([0]), [1, 1], "reflect", 0)


def test_complex_numbers_are_padded_with_others() -> None:
    x = np.array([[[1 + 2j, 3j]]], np.complex64)
    cases: list[tuple[list[int], Any]] = [([1, 2], 1 + 3j), ([1, -1], 2j), ([0, 1], 2.5)]
    for pads, value in cases:
        got = F.pad(paddle.to_tensor(x), pads, value=value)
        np.testing.assert_array_equal(got.numpy(), padded(x, [0, 0, 0, 0, *pads], "constant", value))
