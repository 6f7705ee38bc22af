"""The operators lstm and gru, on every device: by the host's kernel, and in terms of other operators, as halves and other devices have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators
from paddle_mps.selftest import aliases, suite

PLACES = ["cpu"] + ["mps:0"] * (paddle.mps.device_count() > 0)
RNG = np.random.default_rng(5)
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
Array = Any


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def bound(x: Array, w: Array, h: Array) -> Array:
    """A bound of the error of a step's sums, without the rounding unit: a rounding for each term of a product, and a few for the rest."""
    return (w.shape[0] + 4) * (np.abs(x) + np.abs(h) @ np.abs(w))


def lstm(x: Array, w: Array, h: Array, c: Array, reverse: bool) -> tuple[Array, Array, float]:
    """The results in float64, and a bound of their error, without the rounding unit.

    Sigmoid and tanh have slopes of 1/4 and 1 and are within 4 units; an error of a state reaches the next step through the weights and
    the gates, which are at most 1.
    """
    out, error, weights = np.zeros(x.shape[:2] + h.shape[1:]), np.zeros(2), np.abs(w).sum(0).max()
    for t in range(len(x))[:: -1 if reverse else 1]:
        sums = (bound(x[t], w, h)).max() + error[0] * weights
        i, o, f, g = np.split(x[t] + h @ w, 4, -1)
        grown = np.abs(c).max()
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        error[1] += (sums / 4 + 8) * (grown + 1) + sums + 8
        error[0] = error[1] + sums / 4 + 16
        out[t] = h
    return out, c, error.max()


def gru(x: Array, w: Array, h: Array, b: Array | None, reverse: bool, linear: bool) -> tuple[Array, float]:
    """The results in float64, and a bound of their error, without the rounding unit."""
    n, error, weights = h.shape[1], 0.0, np.abs(w).sum(0).max()
    b = np.zeros(3 * n) if b is None else b
    out = np.zeros(x.shape[:2] + h.shape[1:])
    for t in range(len(x))[:: -1 if reverse else 1]:
        sums = (bound(x[t], w, h) + 4 * np.abs(b)).max() + error * weights
        p = h @ w + b
        z, r = sigmoid(x[t][:, :n] + p[:, :n]), sigmoid(x[t][:, n : 2 * n] + p[:, n : 2 * n])
        last = r * p[:, 2 * n :] if linear else (r * h) @ w[:, 2 * n :] + b[2 * n :]
        largest = max(np.abs(p).max(), np.abs(h).max(), 1)
        g = np.tanh(x[t][:, 2 * n :] + last)
        error += (sums / 4 + 16) * (largest * max(weights, 1) + np.abs(h).max() + 1) + sums + 8
        h = (1 - z) * g + z * h
        out[t] = h
    return out, error


def given(a: Array, dtype: str, place: str) -> tuple[Any, Array]:
    """A tensor, and the numbers that it holds."""
    t = paddle.to_tensor(a.astype("float64" if dtype == "float64" else "float32"), place=place).astype(dtype)
    return t, exact(t)


def exact(x: Any) -> Array:
    return x.astype("float64" if x.dtype == paddle.float64 else "float32").numpy().astype(np.float64)


def dtypes(place: str) -> list[str]:
    return ["float32", "float16", "bfloat16"] + ["float64"] * (place == "cpu")


CASES = [(place, dtype) for place in PLACES for dtype in dtypes(place)]
SIZES = [(1, 1, 1), (5, 1, 48), (3, 4, 7), (2, 3, 33), (4, 0, 3), (9, 17, 16)]


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("steps, batch, hidden", SIZES)
@pytest.mark.parametrize("place, dtype", CASES)
def test_lstm(place: str, dtype: str, steps: int, batch: int, hidden: int, reverse: bool) -> None:
    shapes = [(steps, batch, 4 * hidden), (hidden, 4 * hidden), (batch, hidden), (batch, hidden)]
    tensors, numbers = zip(*(given(RNG.standard_normal(s) / 2, dtype, place) for s in shapes))
    out, last = _operators.lstm(*tensors, reverse)
    if batch == 0:
        assert out.shape == [steps, 0, hidden] and last.shape == [0, hidden]
        return
    x, w, h, c = numbers
    want, cell, error = lstm(x, w, h, c, reverse)
    assert out.dtype == last.dtype == tensors[0].dtype
    for got, exactly in ((out, want), (last, cell)):
        np.testing.assert_allclose(exact(got), exactly, rtol=0, atol=error * EPS[dtype])


@pytest.mark.parametrize("linear, biased", [(False, False), (False, True), (True, False), (True, True)])
@pytest.mark.parametrize("steps, batch, hidden", SIZES)
@pytest.mark.parametrize("place, dtype", CASES)
def test_gru(place: str, dtype: str, steps: int, batch: int, hidden: int, linear: bool, biased: bool) -> None:
    reverse = steps % 2 == 1
    shapes = [(steps, batch, 3 * hidden), (hidden, 3 * hidden), (batch, hidden)] + [(3 * hidden,)] * biased
    tensors, numbers = zip(*(given(RNG.standard_normal(s) / 2, dtype, place) for s in shapes))
    out = _operators.gru(*tensors, *[None] * (not biased), reverse, linear)
    if batch == 0:
        assert out.shape == [steps, 0, hidden]
        return
    x, w, h, *bias = numbers
    want, error = gru(x, w, h, bias[0] if bias else None, reverse, linear)
    np.testing.assert_allclose(exact(out), want, rtol=0, atol=error * EPS[dtype])


@pytest.mark.parametrize("place", PLACES)
def test_views(place: str) -> None:
    """Operands in any layout: transposed, broadcast, every other element, backwards."""
    x, w, h, c = (
        paddle.to_tensor(RNG.standard_normal(s).astype("float32"), place=place)
        for s in ((3, 5, 48), (24, 6), (6, 1), (3, 12))
    )
    views = (
        x[::-1].transpose([1, 0, 2])[:, :, ::2],
        w.transpose([1, 0]),
        h.transpose([1, 0]).expand([3, 6]),
        c[:, ::2],
    )
    for got, want in zip(_operators.lstm(*views, True), _operators.lstm(*(v.clone() for v in views), True)):
        np.testing.assert_array_equal(got.numpy(), want.numpy())
    cut, bias = (views[0][:, :, :18], views[1][:, 3:21], views[2]), w[:18, 1]
    for linear in (False, True):
        want = _operators.gru(*(v.clone() for v in cut), bias.clone(), False, linear)
        np.testing.assert_array_equal(_operators.gru(*cut, bias, False, linear).numpy(), want.numpy())


def test_rows_of_a_batch_do_not_depend_on_each_other() -> None:
    """A sequence has the same bits alone and in a batch, which threads divide."""
    x, w, h, c = (
        paddle.to_tensor(RNG.standard_normal(s).astype("float32"))
        for s in ((6, 70, 256), (64, 256), (70, 64), (70, 64))
    )
    out, last = _operators.lstm(x, w, h, c, False)
    for i in (0, 1, 35, 69):
        alone, end = _operators.lstm(x[:, i : i + 1], w, h[i : i + 1], c[i : i + 1], False)
        np.testing.assert_array_equal(alone.numpy()[:, 0], out.numpy()[:, i])
        np.testing.assert_array_equal(end.numpy()[0], last.numpy()[i])


def test_nan_stays_in_its_sequence() -> None:
    x = RNG.standard_normal((4, 3, 8)).astype("float32")
    x[1, 1, 3] = np.nan
    w, h = RNG.standard_normal((2, 8)).astype("float32"), np.zeros((3, 2), "float32")
    out = _operators.lstm(*map(paddle.to_tensor, (x, w, h, h)), False)[0].numpy()
    assert np.isnan(out[2:, 1]).all() and not np.isnan(out[:, ::2]).any() and not np.isnan(out[0]).any()
    big = _operators.lstm(*map(paddle.to_tensor, (np.full_like(h, 1e30)[None].repeat(4, 2), w, h, h)), False)[0].numpy()
    np.testing.assert_array_equal(big, np.tanh(np.float32(1)) + 0 * big)


@pytest.mark.parametrize(
    "shapes, want",
    [
        (
            ((0, 2, 8), (2, 8), (2, 2), (2, 2)),
            r"\[lstm\] x has shape \[0, 2, 8\], weight .* want \[1 or more steps, batch, 4 \* hidden\]",
        ),
        (((3, 2, 8), (2, 6), (2, 2), (2, 2)), r"\[lstm\] x has shape"),
        (((3, 2, 8), (2, 8), (1, 2), (2, 2)), r"\[lstm\] x has shape"),
        (((3, 8), (2, 8), (2, 2), (2, 2)), r"\[lstm\] x has shape"),
        (((3, 2, 8), (2, 8), (2, 2), (2, 3)), r"\[lstm\] cell has shape \[2, 3\]; want \[2, 2\]"),
    ],
)
def test_wrong_shapes(shapes: Any, want: str) -> None:
    with pytest.raises(ValueError, match=want):
        _operators.lstm(*(paddle.zeros(s) for s in shapes), False)


def test_wrong_types() -> None:
    x, w, h = paddle.zeros([3, 2, 6]), paddle.zeros([2, 6]), paddle.zeros([2, 2])
    with pytest.raises(ValueError, match=r"\[gru\] bias has shape \[5\]; want \[6\]"):
        _operators.gru(x, w, h, paddle.zeros([5]), False, True)
    with pytest.raises(Exception, match=r"\[gru\] has no kernel for int32"):
        _operators.gru(x.astype("int32"), w, h, None, False, True)


@pytest.mark.parametrize("place", PLACES)
def test_results_in_the_memory_of_operands(place: str) -> None:
    """The output of gru lies where an operand does, ahead of it or behind. Devices without the kernel may round in other ways then."""
    shapes = [(4, 3, 15), (5, 15), (3, 5), (15,)]
    operands = [paddle.to_tensor(RNG.standard_normal(s).astype("float32"), place=place) for s in shapes]

    def agree(where: str, values: list[Any], got: Array, want: Array, dtype: str) -> None:
        np.testing.assert_allclose(got, want, rtol=0, atol=0 if place == "cpu" else 1e-5, err_msg=where)

    row = suite.BY_NAME["gru"]
    for linear in (False, True):
        aliases.check(row, operands, suite.attributes(row, {"reverse": True, "linear": linear}), agree)
