"""Gradients of activations and of round where the operand is nan, infinite or too large: those of PaddlePaddle 3.3.1."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

F: Any = paddle.nn.functional
PLACES = ("cpu", "mps")
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("name", "values", "slopes"),
    [
        ("hardshrink", [NAN, INF, -INF, 0.25, -2.0], [0, 1, 1, 0, 1]),
        ("softshrink", [NAN, INF, -INF, 0.0, -1.5], [0, 1, 1, 0, 1]),
        ("thresholded_relu", [NAN, INF, 0.0, 0.0, 0.0], [0, 1, 0, 0, 0]),
        ("softsign", [NAN, NAN, NAN, 0.2, -2 / 3], [NAN, 0, 0, 0.64, 1 / 9]),
    ],
)
def test_activations(name: str, values: list[float], slopes: list[float], traced: bool, place: str) -> None:
    x = paddle.to_tensor([NAN, INF, -INF, 0.25, -2.0], place=place)
    x.stop_gradient = False
    function = getattr(F, name)
    y = (paddle.jit.to_static(lambda x: function(x)) if traced else function)(x)
    y.backward(paddle.ones_like(y))
    want = [v * 0.0 if name == "hardshrink" and v == 0.25 else v for v in values]
    np.testing.assert_allclose(y.numpy(), np.array(want, np.float32), rtol=2**-22)
    np.testing.assert_allclose(x.grad.numpy(), np.array(slopes, np.float32), rtol=2**-22)
    np.testing.assert_allclose(function(x.detach()).numpy(), y.numpy(), rtol=2**-22)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("decimals", [0, 2, -2, 38, 39, 308, 400, -50, -400])
def test_the_gradient_of_round_is_0(decimals: int, place: str) -> None:
    x = paddle.to_tensor([1.5, 0.0, -3.25], place=place)
    x.stop_gradient = False
    y = paddle.round(x, decimals)
    assert np.array_equal(y.numpy(), paddle.round(x.detach(), decimals).numpy(), equal_nan=True)
    (y * 3).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0, 0.0]
