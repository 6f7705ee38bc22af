"""Values for operands: what the domain of an input allows, in every dtype.

A domain is a word in the input's declaration in table.json (core/op/conformance.go says what each means).
"""

from __future__ import annotations

import math
import zlib
from typing import Callable

import numpy as np

from . import oracle
from .oracle import Array

Generator = Callable[[str, "tuple[int, ...]", str], Array]


def anything(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Reproducible values that fit a dtype: ordinary ones and, among floats, every special one."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype not in oracle.FLOATS:
        return rng.integers(0 if dtype == "uint8" else -20, 21, shape).astype(oracle.NUMPY[dtype])
    x = np.asarray(rng.normal(0, 3, shape))
    bits, smallest, largest = oracle.FORMATS[dtype]
    special = [
        math.nan,
        math.inf,
        -math.inf,
        0.0,
        -0.0,
        1.0,
        -1.0,
        largest,
        -largest,
        2.0**smallest,
        2.0 ** (smallest - bits + 1),
        0.5,
        2.5,
        100.0,
        -100.0,
    ]
    flat = x.reshape(-1)
    for i, v in enumerate(special):
        if flat.size > 2 * len(special):
            flat[(i * 7919) % flat.size] = v
    return rounded(x, dtype)


def ordinary(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Values without special ones, for operators that add many of them up."""
    rng = np.random.default_rng(zlib.crc32(seed.encode()))
    if dtype not in oracle.FLOATS:
        return anything(dtype, shape, seed)
    return rounded(np.asarray(rng.normal(0, 1, shape)), dtype)


def rounded(x: Array, dtype: str) -> Array:
    """x with each value moved to one that the dtype has."""
    with np.errstate(all="ignore"):
        y: Array = x.astype(oracle.NUMPY[dtype])
    if dtype == "bfloat16":
        y = (y.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
    return np.asarray(y)


def divisor(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Any float, any integer but 0."""
    x = anything(dtype, shape, seed)
    return x if dtype in oracle.FLOATS else np.where(x == 0, np.asarray(3, x.dtype), x)


def exponent(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """Exponents: any float, integers whose powers fit."""
    x = anything(dtype, shape, seed)
    return x if dtype in oracle.FLOATS else (x % 7).astype(x.dtype)


def condition(dtype: str, shape: tuple[int, ...], seed: str) -> Array:
    """bool, whatever dtype the operator computes in."""
    return anything("bool", shape, seed)


# Indices ("position") are missing here: they depend on the shape of what they count along.
GENERATORS: dict[str, Generator] = {
    "unrestricted": anything, "nonempty": anything, "ordinary": ordinary, "divisor": divisor, "exponent": exponent, "condition": condition,
}  # fmt: skip
