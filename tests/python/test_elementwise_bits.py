"""Elementwise functions bit by bit, on each place, alone and within traced functions: zeros of both signs, nan, infinities."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.jit import to_static

pytestmark = pytest.mark.parametrize("place", ["cpu", "mps"])

F = paddle.nn.functional
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 6.0, -6.0, 1e-45, -1e-45, 3.3, -7.7, np.inf, -np.inf, np.nan, -np.nan, 1e30], "float32"
)


def same(got: Any, want: np.ndarray[Any, Any]) -> None:
    """Equal elements with equal signs; the sign of nan is free."""
    found = got.numpy()
    assert found.dtype == want.dtype
    np.testing.assert_array_equal(found, want)
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found) & ~np.isnan(want), np.signbit(want) & ~np.isnan(want))


def each(place: str, function: Callable[[Any], Any], x: np.ndarray[Any, Any], want: np.ndarray[Any, Any]) -> None:
    """A function by itself, on every second element, and in a traced function."""
    spread = np.repeat(x, 2)
    operand, strided = paddle.to_tensor(x, place=place), paddle.to_tensor(spread, place=place)[::2]
    for f in (function, to_static(function)):
        same(f(operand), want)
        same(f(strided), want)
        same(f(operand[:0]), want[:0])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_signbit(place: str, dtype: str) -> None:
    if place == "mps" and dtype == "float64":
        pytest.skip("mps has no float64")
    with np.errstate(over="ignore"):
        x = SPECIAL.astype(dtype)
    each(place, paddle.signbit, x, np.signbit(x))
    assert paddle.signbit(paddle.to_tensor(-0.0, dtype, place)).item() is True


def test_signbit_of_integers(place: str) -> None:
    for dtype in ("int8", "int32", "int64", "uint8"):
        x = np.array([0, 1, 2, 100], dtype) - np.array(1, dtype)
        each(place, paddle.signbit, x, x < 0 if dtype != "uint8" else np.zeros(4, bool))


def test_signbit_of_bfloat16(place: str) -> None:
    numbers = SPECIAL[~np.isnan(SPECIAL)]  # a cast may change the sign of nan
    x = paddle.to_tensor(numbers, place=place).cast("bfloat16")
    np.testing.assert_array_equal(paddle.signbit(x).numpy(), np.signbit(numbers))


@pytest.mark.parametrize(
    "function", [lambda x: x**2, lambda x: paddle.pow(x, 2.0), lambda x: x ** paddle.full_like(x, 2.0)]
)
def test_power_of_2_is_square(place: str, function: Callable[[Any], Any]) -> None:
    x = np.concatenate([SPECIAL, np.random.default_rng(3).normal(0, 30, 1001).astype("float32")])
    want = paddle.square(paddle.to_tensor(x, place=place)).numpy()
    each(place, function, x, want)
    # In a group with other steps, which must not change it.
    grouped = to_static(lambda x: (function(x) * 2.0 - x, function(x)))
    same(grouped(paddle.to_tensor(x, place=place))[1], want)


@pytest.mark.parametrize(
    ("function", "low", "high"),
    [(F.relu6, 0.0, 6.0), (F.hardtanh, -1.0, 1.0), (lambda x: F.hardtanh(x, -0.0, 6), -0.0, 6.0)],
)
def test_clipped_activations(place: str, function: Callable[[Any], Any], low: float, high: float) -> None:
    lowest, highest = np.float32(low), np.float32(high)
    each(place, function, SPECIAL, np.where(lowest > SPECIAL, lowest, np.where(highest < SPECIAL, highest, SPECIAL)))


def test_hardtanh_with_bounds_in_the_wrong_order(place: str) -> None:
    got = F.hardtanh(paddle.to_tensor(SPECIAL, place=place), 1.0, -1.0)
    same(got, np.where(np.isnan(SPECIAL), SPECIAL, np.float32(-1)))


@pytest.mark.parametrize("kind", ["int32", "int64", "float32"])
def test_ldexp(place: str, kind: str) -> None:
    n = np.array([0, 1, -1, 126, -126, 127, -149, -150, 128, 200, -300, 5], kind)
    x = np.resize(SPECIAL, n.shape).astype("float32")
    with np.errstate(all="ignore"):
        want = x * np.exp2(n.astype("float64")).astype("float32")
        got = paddle.ldexp(paddle.to_tensor(x, place=place), paddle.to_tensor(n, place=place))
    if place == "cpu":
        same(got, want)
    else:  # subnormal powers may be 0 there
        np.testing.assert_array_equal(got.numpy()[:4], want[:4])
