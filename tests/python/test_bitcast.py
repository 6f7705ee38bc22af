"""Bits as elements of another dtype: the row against NumPy's views, on each place."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import jit
from paddle_mps._calls import _operators as ops

pytestmark = pytest.mark.parametrize("place", ["cpu", "mps"])

SIZES = [["bool", "uint8", "int8"], ["int16", "float16"], ["int32", "float32"], ["int64"]]
PAIRS = [pair for names in SIZES for pair in itertools.permutations(names, 2) if "bool" not in pair]

rng = np.random.default_rng(5)


def bits(dtype, *shape):
    """Elements of any bits, NaNs with a payload and negative zeros among them."""
    size = np.dtype(dtype).itemsize
    return rng.integers(0, 256, (*shape, size), dtype=np.uint8).view(dtype)[..., 0]


def same(got, want):
    assert str(got.dtype).endswith(str(want.dtype))
    np.testing.assert_array_equal(got.numpy().view(np.uint8), np.ascontiguousarray(want).view(np.uint8))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (257,)])
def test_bits_are_kept(place, pair, shape):
    x = bits(pair[0], *shape)
    same(ops.bitcast(paddle.to_tensor(x, place=place), pair[1]), x.view(pair[1]))


def test_float64_and_bool(place):
    if place == "cpu":
        x = bits("float64", 33)
        same(ops.bitcast(paddle.to_tensor(x, place=place), "int64"), x.view("int64"))
    x = np.array([True, False, True])
    same(ops.bitcast(paddle.to_tensor(x, place=place), "uint8"), x.view("uint8"))


def test_bfloat16(place):
    x = np.array([1.5, -2.0, 0.0], "float32")
    halves = paddle.to_tensor(x, place=place).cast("bfloat16")
    same(ops.bitcast(halves, "int16"), (x.view("int32") >> 16).astype("int16"))


def test_strides(place):
    x = bits("float32", 6, 8)
    same(ops.bitcast(paddle.to_tensor(x, place=place).transpose([1, 0])[::2], "int32"), x.T[::2].view("int32"))


@pytest.mark.parametrize(("of", "to"), [("float32", "int32"), ("float16", "int16"), ("int32", "float32")])
def test_between_calls_of_a_program(place, of, to):
    """Neighbours in a program may be fused: what is between them is in registers or caches."""
    x = rng.integers(1, 100, 1000).astype(of)

    def work(v):
        return ops.add(ops.bitcast(ops.add(v, v), to), ops.bitcast(ops.multiply(v, v), to))

    program = jit.to_static(work)
    want = (x + x).view(to) + (x * x).view(to)
    for _ in range(2):
        same(program(paddle.to_tensor(x, place=place)), want)


def test_errors(place):
    x = paddle.to_tensor(np.ones(3, "float32"), place=place)
    with pytest.raises(ValueError, match=r"\[bitcast\] dtype is int64, whose elements have 8 bytes; want a dtype of 4"):
        ops.bitcast(x, "int64")
