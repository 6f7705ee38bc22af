"""Operators of two operands on mps against NumPy: shapes that broadcast, views, Python operators."""

from __future__ import annotations

import operator
import sys

import numpy as np
import pytest

import mps_report as mps
import paddle_mps as paddle


@pytest.mark.parametrize("x_shape, y_shape", mps.SHAPES)
@pytest.mark.parametrize("name", mps.BINARY)
def test_broadcast(name: str, x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> None:
    function, twin = mps.BINARY[name]
    mps.difference(function, twin, mps.values(x_shape), mps.values(y_shape, 1))
    mps.difference(function, twin, mps.values(y_shape, 1), mps.values(x_shape))


@pytest.mark.parametrize("name", mps.BINARY)
def test_views(name: str) -> None:
    function, twin = mps.BINARY[name]
    x, y = mps.values((6, 4)), mps.values((4, 3), 1)
    mps.difference(lambda a, b: function(a[::2, ::-1], b.T), lambda a, b: twin(a[::2, ::-1], b.T), x, y)


@pytest.mark.parametrize("symbol", ["add", "sub", "mul", "truediv"])
def test_python_operators(symbol: str) -> None:
    function = getattr(operator, symbol)
    mps.difference(function, function, mps.values((3, 4)), mps.values((3, 4), 1))
    mps.difference(lambda x: function(x, 2.5), lambda x: function(x, 2.5), mps.values((5,)))
    mps.difference(lambda x: function(2.5, x), lambda x: function(2.5, x), mps.values((5,)))


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "minimum"])
def test_integers_wrap_around(name: str, dtype: str) -> None:
    function, twin = mps.BINARY[name]
    x = np.array([100, 3, 0, 127], dtype)
    got = function(paddle.to_tensor(x, place="mps"), paddle.to_tensor(x[::-1], place="mps"))
    np.testing.assert_array_equal(got.numpy(), twin(x, x[::-1]))
    assert got.dtype == dtype


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-v"]))
