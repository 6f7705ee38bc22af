"""isin of few elements, runs of equal ones, histograms, and frexp, beside NumPy."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

nan, inf = float("nan"), float("inf")


@pytest.mark.parametrize("count", [1, 2, 16, 17])
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32"])
def test_isin(count: int, invert: bool, dtype: str) -> None:
    """Up to 16 elements are compared one after the other, more are sorted with x."""
    x = np.random.default_rng(1).integers(0, 40, (30, 20)).astype(dtype)
    test = np.arange(1, 2 * count, 2).astype(dtype)
    found = paddle.isin(paddle.to_tensor(x), paddle.to_tensor(test), invert=invert)
    np.testing.assert_array_equal(found.numpy(), np.isin(x, test, invert=invert))
    turned = paddle.isin(paddle.to_tensor(x).T, paddle.to_tensor(test), invert=invert)
    np.testing.assert_array_equal(turned.numpy(), np.isin(x.T, test, invert=invert))


def test_isin_of_few_special_numbers() -> None:
    x, test = paddle.to_tensor([nan, 0.0, -0.0, inf, 1.0]), paddle.to_tensor([[nan, -0.0], [inf, 7.0]])
    assert paddle.isin(x, test).tolist() == [False, True, True, True, False]
    assert paddle.isin(x, test, invert=True).tolist() == [True, False, False, False, True]
    assert paddle.isin(paddle.to_tensor(3), paddle.to_tensor(3)).shape == []
    wide = paddle.isin(paddle.to_tensor([0.1, 0.5]), paddle.to_tensor([0.1, 0.5], "float64"))
    assert wide.tolist() == [False, True]


def runs(x: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], ...]:
    first = np.r_[True, x[1:] != x[:-1]]
    starts = np.flatnonzero(first)
    return x[first], np.cumsum(first) - 1, np.diff(np.r_[starts, len(x)])


@pytest.mark.parametrize("x", [[3], [3, 3], [3, 4], [nan, nan, 1, 1, 0, -0.0, 2], list(range(5)) * 300 + [4] * 900])
def test_unique_consecutive_of_a_line(x: list[float]) -> None:
    want = runs(np.array(x, "float32"))
    for given in (paddle.to_tensor(x, "float32"), paddle.to_tensor([[v, 9.0] for v in x], "float32")[:, 0]):
        np.testing.assert_array_equal(paddle.unique_consecutive(given).numpy(), want[0])
        for got, expected in zip(paddle.unique_consecutive(given, True, True), want):
            np.testing.assert_array_equal(got.numpy(), expected)
        counts = paddle.unique_consecutive(given, return_counts=True, dtype="int32")
        assert counts[1].dtype == paddle.int32
        np.testing.assert_array_equal(counts[1].numpy(), want[2])
    column = paddle.unique_consecutive(paddle.to_tensor(x, "float32").reshape([-1, 1]), axis=0)
    np.testing.assert_array_equal(column.numpy(), want[0][:, None])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_frexp(dtype: str) -> None:
    info = np.finfo(dtype)
    edges = [1, 3, -5.5, 0.75, 0.5, 1e-3, info.max, -info.max, info.tiny, info.tiny / 8, -info.smallest_subnormal]
    x = np.array(edges + list(np.random.default_rng(2).normal(0, 1e6, 500)), dtype)
    mantissa, exponent = np.frexp(x)
    for given in (
        paddle.to_tensor(x),
        paddle.to_tensor(np.stack([x, x], 1))[:, 1],
        paddle.to_tensor(x[::-1].copy())[::-1],
    ):
        got = paddle.frexp(given)
        assert [str(g.dtype) for g in got] == [str(given.dtype)] * 2
        np.testing.assert_array_equal(got[0].numpy(), mantissa)
        np.testing.assert_array_equal(got[1].numpy(), exponent)


def test_frexp_of_special_numbers() -> None:
    """They are the same with a gradient, which operators compute, as without one, where NumPy does."""
    x = paddle.to_tensor([nan, inf, -inf, 0.0, -0.0, 6.0])
    for given in (x, paddle.to_tensor(x, stop_gradient=False)):
        mantissa, exponent = (t.numpy() for t in paddle.frexp(given))
        np.testing.assert_array_equal(mantissa, np.array([nan, inf, -inf, 0, -0.0, 0.75], "float32"))
        assert np.signbit(mantissa).tolist()[1:] == [False, True, False, True, False]
        np.testing.assert_array_equal(exponent, np.array([nan, 1, 1, 0, 0, 3], "float32"))
        assert not np.signbit(exponent)[1:].any()
    x = paddle.to_tensor([6.0, -1.5], stop_gradient=False)
    (slope,) = paddle.grad(paddle.frexp(x)[0].sum(), x)
    assert slope.tolist() == [0.125, 0.5]
    assert [t.shape for t in paddle.frexp(paddle.zeros([0, 2]))] == [[0, 2], [0, 2]]
    assert [t.item() for t in paddle.frexp(paddle.to_tensor(8.0))] == [0.5, 4.0]


def test_frexp_in_a_program() -> None:
    made = paddle.jit.to_static(lambda x: paddle.frexp(x))(paddle.to_tensor([6.0, 0.0]))
    assert [t.tolist() for t in made] == [[0.75, 0.0], [3.0, 0.0]]


def bins_of(x: np.ndarray[Any, Any], count: int, low: float, high: float) -> np.ndarray[Any, Any]:
    """The bin of each element of a range, in exact arithmetic."""
    span = Fraction(high) - Fraction(low)
    inside = [Fraction(v) for v in x.tolist() if low <= v <= high]
    at = [min((v - Fraction(low)) * count // span, count - 1) for v in inside]
    return np.bincount(np.array(at, int), minlength=count)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_histograms_longer_than_a_block(dtype: str) -> None:
    """The numbers are quarters of powers of two, so that their bins are exact in every dtype."""
    x: np.ndarray[Any, Any] = np.random.default_rng(4).integers(0, 2 if dtype == "bool" else 120, 40_001)
    given = paddle.to_tensor(x).astype(dtype)
    if given.dtype.is_floating:
        x, given = x / 4 - 10, given / 4 - 10
    for low, high in ((0, 1), (0, 16), (-8, 0), (16, 32)):
        assert paddle.histogram(given, 8, low, high).tolist() == bins_of(x, 8, low, high).tolist()
        assert paddle.histogram(given[::-1], 8, low, high).tolist() == bins_of(x, 8, low, high).tolist()
    weight = np.random.default_rng(5).integers(0, 9, x.shape).astype("float32")
    sums = [0.0] * 8
    for v, w in zip(x.tolist(), weight.tolist()):
        if 0 <= v <= 16:
            sums[min(int(v * 8 // 16), 7)] += w
    assert paddle.histogram(given, 8, 0, 16, weight=paddle.to_tensor(weight)).tolist() == sums


def test_histograms_of_special_numbers() -> None:
    x = paddle.to_tensor([nan, inf, -inf, 3e38, -3e38, 1.0, 2.0, 2.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paddle.histogram(x, 2, 0, 2).tolist() == [0, 2]
        assert paddle.histogram(paddle.to_tensor([nan, 1.0, 3.0]), 2).tolist() == [1, 1]
    wide = np.array([0, 2**62, -(2**63), 2**63 - 1, 5])
    assert paddle.histogram(paddle.to_tensor(wide), 10).tolist() == bins_of(wide, 10, -(2**63), 2**63 - 1).tolist()
    assert paddle.histogram(paddle.to_tensor(wide), 3, 0, 2**62).tolist() == [2, 0, 1]
    assert paddle.histogram(paddle.to_tensor([1, 2]), 2, 0, 1e30).tolist() == [2, 0]


@pytest.mark.parametrize(
    ("x", "arguments", "kind", "message"),
    [
        ([1, 2], {"min": 0.2, "max": 0.7}, ValueError, "the range is 0 to 0; want two integers for integers"),
        ([1j], {}, paddle.UnsupportedError, "input is complex64; want a real dtype"),
        ([nan, nan], {}, ValueError, "all elements are nan; want a range"),
        ([1.0, 2.0], {"weight": [1.0]}, ValueError, r"weight is \[1\] and input \[2\]; want one shape"),
    ],
)
def test_histograms_that_are_refused(x: Any, arguments: Any, kind: type[Exception], message: str) -> None:
    arguments = {k: paddle.to_tensor(v) if k == "weight" else v for k, v in arguments.items()}
    with pytest.raises(kind, match=f"^.histogram. {message}"):
        paddle.histogram(paddle.to_tensor(x), 4, **arguments)
