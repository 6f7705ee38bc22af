"""Rows of images that formulas do not say: lines of numbers, and resizing in programs for any sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _operators as ops

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
