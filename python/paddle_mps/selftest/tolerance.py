"""How far results may be from exact ones: the tolerance of an operator's row, element by element.

A tolerance is data of the row (core/op/conformance.go defines its parts). Everything here is in units in the
last place (ulp) of the result's dtype.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import oracle, windows
from .oracle import Array

SMALLEST = 2.0**-126  # normal float32


def flushed(x: Any) -> Any:
    """An operand with zeros for subnormals, for which Metal may take them and may not."""
    if isinstance(x, list):
        return [flushed(y) for y in x]
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return x
    return np.where(np.abs(x) < SMALLEST, np.copysign(x.dtype.type(0), x), x)


def error(got: Array, want: Array, also: Array, dtype: str, metal: bool) -> Array:
    """How many ulps each element is away from want or, on Metal, from what is right too."""
    off = oracle.difference(got, want, dtype)
    if metal and dtype in ("float32", "bfloat16"):
        if also is not want:
            off = np.minimum(off, oracle.difference(got, also, dtype))
        # What is as small within its error may be flushed too.
        off = np.where((np.abs(want) < SMALLEST * (1 + 2.0**-18)) & (np.abs(got) < SMALLEST), 0, off)
    return off


def allowed(
    row: dict[str, Any], dtype: str, attrs: dict[str, Any], arrays: list[Any], want: Array, result: str, metal: bool
) -> Array:
    """How many ulps each element of a result of dtype `result` may be off, computed in `dtype`. Where nothing is
    wider than float64, its oracle is as inexact as the operator may be."""
    own = promised(row, dtype, attrs, arrays, want, result, metal)
    return np.broadcast_to(own if oracle.WIDER or result != "float64" else 2 * own + 1, want.shape)


def promised(
    row: dict[str, Any], dtype: str, attrs: dict[str, Any], arrays: list[Any], want: Array, result: str, metal: bool
) -> Any:
    """What the row says, which is the sum of its parts."""
    said = row["tolerance"]
    own: Any = said["half" if result in ("float16", "bfloat16") else result]
    if metal and result == "float32":
        own = max(own, said["metal"])
    if not want.size:
        return own
    count = roundings(said["roundings"], terms(row, attrs, arrays, want), metal) if arrays else 0
    if count and row["numpy"]:
        if row.get("scale"):
            scale = oracle.evaluate(row["scale"], row, arrays, attrs, dtype)
        else:
            scale = oracle.expect(row, [magnitudes(x) for x in arrays], attrs, dtype)
        eps = 2.0 ** (-53 if result == "float64" else -24)
        own = own + finite(count * eps * np.asarray(scale, np.float64) / oracle.ulp(want, result))
    if result == "float64" and said.get("float64_also"):
        own = own + finite(oracle.evaluate(said["float64_also"], row, arrays, attrs, dtype, want))
    return own


def roundings(said: dict[str, float], n: int, metal: bool) -> float:
    """How many roundings of intermediate values an element of n terms has: Roundings.Count of core/op."""
    once = max(said["once"], said["metal"]) if metal else said["once"]
    return once + said["level"] * math.log2(max(n, 1)) + said["term"] * n


def terms(row: dict[str, Any], attrs: dict[str, Any], arrays: list[Any], want: Array) -> int:
    """How many terms an element of the result is made of: Terms of core/op."""
    x: Array = arrays[0]
    axis = -2 if attrs.get("transpose_x") else -1
    if row["kind"] == "reduce":
        return max(x.size // want.size, 1)
    if row["kind"] == "window":
        return windows.terms(arrays, attrs)
    if row["kind"] == "lines":
        return x.shape[-1]
    if row["kind"] == "scan":
        axis = attrs["axis"]
    elif row["kind"] != "product":
        return 1
    return x.size if axis is None or not x.ndim else x.shape[axis]


def magnitudes(x: Any) -> Any:
    return [magnitudes(y) for y in x] if isinstance(x, list) else np.asarray(np.abs(x))


def finite(bound: Any) -> Any:
    """A bound with 0 where it is NaN or infinite: there the result is exactly NaN or infinite, too, or it does
    not depend on the operand that is."""
    return np.nan_to_num(np.asarray(bound, np.float64), nan=0.0, posinf=0.0)


# The largest errors so far, in ulps, and what was promised there, by operator and dtype.
WORST: dict[str, tuple[float, float]] = {}


def note(name: str, off: Array, bound: Array) -> None:
    """Remembers the largest of these errors, if it is the largest so far."""
    if off.size:
        WORST[name] = max(WORST.get(name, (0.0, 0.0)), nearest(off, bound), key=share)


def nearest(off: Array, bound: Array) -> tuple[float, float]:
    """The error that is nearest to its bound, or furthest above it, and that bound."""
    at = int(np.argmax(off / np.maximum(bound, 1e-9)))
    return float(min(off.reshape(-1)[at], 1e9)), float(bound.reshape(-1)[at])


def share(pair: tuple[float, float]) -> float:
    return pair[0] / max(pair[1], 1e-9)
