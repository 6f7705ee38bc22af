"""Products of 8-bit integers beside NumPy's in int64: matmul of one dtype, and matmul_integer and conv_integer, which quantized
models are made of."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as operators

T = paddle.to_tensor
KINDS = list(itertools.product(("uint8", "int8"), repeat=2))


def integers(rng: Any, dtype: str, *shape: int) -> Any:
    """Any elements, many of which are the least or the greatest."""
    x = rng.integers(0, 256, shape, np.uint8)
    x = np.where(rng.random(shape) < 0.3, rng.choice(np.array([0, 127, 128, 255], np.uint8), shape), x)
    return x.astype(np.uint8).view(dtype)


def product(x: Any, y: Any, zero: Any = 0) -> Any:
    """The product in 64 bits, of which 32 remain."""
    return ((x.astype(np.int64) - int(zero)) @ y.astype(np.int64)).astype(np.int32)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("m", range(1, 41))
def test_small_sizes(m: int) -> None:
    """All sizes up to 40 of each of the three."""
    rng = np.random.default_rng(m)
    for i, (k, n) in enumerate(itertools.product(range(1, 41), repeat=2)):
        dx, dy = KINDS[i % 4]
        x, y, zero = integers(rng, dx, m, k), integers(rng, dy, k, n), integers(rng, dx)
        got = operators.matmul_integer(T(x, place="cpu"), T(y, place="cpu"), T(zero, place="cpu"))
        assert got.dtype == paddle.int32
        np.testing.assert_array_equal(got.numpy(), product(x, y, zero), f"{m} x {k} x {n}, {dx} and {dy}")


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize(("dx", "dy"), KINDS)
def test_layouts(place: str, dx: str, dy: str) -> None:
    """Views of the operands, transposed ones, batches that broadcast, vectors, and empty ones."""
    rng = np.random.default_rng(7)
    for x, y in [
        (integers(rng, dx, 40, 70)[::2, ::-1], integers(rng, dy, 90, 70).T[::1, 3::4]),
        (integers(rng, dx, 70, 13).T, integers(rng, dy, 33, 70).T),
        (integers(rng, dx, 3, 1, 5, 600), integers(rng, dy, 2, 600, 40)),
        (integers(rng, dx, 9), integers(rng, dy, 9)),
        (integers(rng, dx, 4, 9), integers(rng, dy, 9)),
        (integers(rng, dx, 0, 4), integers(rng, dy, 4, 3)),
        (integers(rng, dx, 2, 0), integers(rng, dy, 0, 3)),
        (integers(rng, dx, 0, 2, 4), integers(rng, dy, 4, 3)),
    ]:
        for zero in (None, integers(rng, dx)):
            tensor = None if zero is None else T(zero, place=place)
            a, b = T(x.copy(), place=place), T(y.copy(), place=place)
            want = product(x, y, 0 if zero is None else zero)
            np.testing.assert_array_equal(operators.matmul_integer(a, b, tensor).numpy(), want)
            if x.ndim > 1 < y.ndim:  # views of tensors whose last two axes lie the other way round
                perm = [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2], [*range(y.ndim - 2), y.ndim - 1, y.ndim - 2]
                a = T(np.transpose(x, perm[0]).copy(), place=place).transpose(perm[0])
                b = T(np.transpose(y, perm[1]).copy(), place=place).transpose(perm[1])
                np.testing.assert_array_equal(operators.matmul_integer(a, b, tensor).numpy(), want)


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_matmul_of_one_dtype(place: str, dtype: str) -> None:
    """The result has the low 8 bits."""
    rng = np.random.default_rng(8)
    for m, k, n in [(1, 1, 1), (1, 500, 70), (70, 3, 1), (33, 520, 65), (400, 30, 20)]:
        x, y = integers(rng, dtype, m, k), integers(rng, dtype, k, n)
        np.testing.assert_array_equal(
            paddle.matmul(T(x, place=place), T(y, place=place)).numpy(), product(x, y).astype(dtype)
        )


def test_threads_and_repeated_calls_agree() -> None:
    """A product that is large enough for several threads."""
    rng = np.random.default_rng(9)
    x, y = integers(rng, "int8", 300, 700), integers(rng, "int8", 700, 500)
    a, b = T(x, place="cpu"), T(y, place="cpu")
    want = product(x, y)
    for _ in range(5):
        np.testing.assert_array_equal(operators.matmul_integer(a, b).numpy(), want)


def test_errors() -> None:
    x, y = T(np.zeros((2, 3), "uint8"), place="cpu"), T(np.zeros((3, 2), "int8"), place="cpu")
    with pytest.raises(paddle.UnsupportedError, match=r"\[matmul_integer\] y is float32; want one of"):
        operators.matmul_integer(x, y.astype("float32"))
    with pytest.raises(
        ValueError, match=r"\[matmul_integer\] zero is int8 of shape \[\]; want a tensor of uint8 without dim"
    ):
        operators.matmul_integer(x, y, T(np.zeros((), "int8"), place="cpu"))
    with pytest.raises(ValueError, match=r"\[matmul_integer\] shapes \[2, 3\] and \[2, 3\] do not fit"):
        operators.matmul_integer(x, x)
