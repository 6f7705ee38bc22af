"""isin of few elements, runs of equal ones, and frexp, beside NumPy."""

from __future__ import annotations

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
