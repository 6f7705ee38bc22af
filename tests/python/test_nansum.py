"""nansum of many elements takes one pass where there is no nan: the results are those of the longer way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._matrices import _statistics

ROWS, COLUMNS = 3, _statistics.MANY


def numbers() -> Any:
    return np.random.default_rng(3).integers(-8, 9, (ROWS, COLUMNS)).astype("float32")


@pytest.mark.parametrize("axis", [None, 0, 1, [0, 1]])
@pytest.mark.parametrize("nans", [0, 1, 1000])
def test_values(axis: Any, nans: int) -> None:
    x = numbers()
    x.reshape(-1)[np.random.default_rng(4).permutation(x.size)[:nans]] = np.nan
    want = np.nansum(x, axis=tuple(axis) if isinstance(axis, list) else axis)
    assert np.array_equal(paddle.nansum(paddle.to_tensor(x), axis).numpy(), want)  # sums of whole numbers are exact


def test_infinities_are_no_nans() -> None:
    x = numbers()
    x[0, 0], x[1, 0], x[1, 1], x[2, 5] = np.inf, np.inf, -np.inf, np.nan
    got = paddle.nansum(paddle.to_tensor(x), 1).numpy()
    assert got[0] == np.inf and np.isnan(got[1]) and got[2] == np.nansum(x[2])


def test_a_nan_is_no_integer_either() -> None:
    x = numbers()
    x[1, 2] = np.nan
    assert paddle.nansum(paddle.to_tensor(x), dtype="int64").item() == np.nansum(x)
    assert paddle.nansum(paddle.to_tensor(np.nan_to_num(x).astype("int32"))).item() == np.nansum(x)


@pytest.mark.parametrize("nans", [False, True])
def test_gradients(nans: bool) -> None:
    values = numbers()
    values[1, 2] = np.nan if nans else 1
    x = paddle.to_tensor(values, stop_gradient=False)
    (paddle.nansum(x, 1) * paddle.to_tensor([1.0, 2.0, 3.0])).sum().backward()
    want = np.repeat(np.array([[1], [2], [3]], "float32"), COLUMNS, 1)
    want[np.isnan(values)] = 0
    assert x.grad is not None and np.array_equal(x.grad.numpy(), want)


def test_traced() -> None:
    """A function is traced with tensors without elements, and has to be right for nan too."""
    total = paddle.jit.to_static(lambda x: paddle.nansum(x))
    values = numbers()
    assert total(paddle.to_tensor(values)).item() == np.nansum(values)
    values[2, 7] = np.nan
    assert total(paddle.to_tensor(values)).item() == np.nansum(values)
