"""When two answers are the same.

Classes, dtypes, shapes, integers, bools, strings and whatever is only moved must be equal, and so must
signs of zero, infinities and the places of nan. A float that two libraries compute may differ by what
both are allowed: `Exact`, `Ulps`, `Summed`, `Steps` and `Slopes` say how that follows from their own errors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Union

import numpy as np
import numpy.typing as npt
import precision

PARTS = {"complex64": "float32", "complex128": "float64"}
Floats = npt.NDArray[np.float64]
Answer = dict[str, Any]


@dataclass(frozen=True)
class Exact:
    """The default: the values are equal, -0.0 is not 0.0."""

    def margin(self, want: Floats, dtype: str) -> Floats:
        return np.zeros_like(want)


@dataclass(frozen=True)
class Ulps:
    """An elementwise function: our bound plus Paddle's measured error (precision.py), in ulps."""

    function: str

    def margin(self, want: Floats, dtype: str) -> Floats:
        return precision.allowed(self.function, dtype) * precision.spacing(want, dtype)


@dataclass(frozen=True)
class Summed:
    """n terms added up, of which the magnitudes add up to at most total.

    Ours is within (2 + log2 n) u total; any order of adding is within (n - 1) u total, which is all
    that is known of Paddle's (Higham, Accuracy and Stability, 4.2). u is half the spacing at 1. The
    result is rounded to its dtype once more on each side, and divided in a mean.
    """

    n: int
    total: float

    def margin(self, want: Floats, dtype: str) -> Floats:
        u = precision.EPSILON[dtype] / 2 if dtype in ("float32", "float64") else precision.EPSILON["float32"] / 2
        bound = (2 + math.log2(self.n) + self.n - 1) * u * self.total
        return bound + precision.spacing(want, dtype)


@dataclass(frozen=True)
class Steps:
    """A composition of n roundings, of functions within an ulp or so each, in which no terms cancel: n ulps of the result.

    The row says in a comment which n roundings they are, ours and Paddle's together.
    """

    n: int

    def margin(self, want: Floats, dtype: str) -> Floats:
        return self.n * precision.spacing(want, dtype)


@dataclass(frozen=True)
class Slopes:
    """A gradient is a sum of products of some functions, and its terms cancel: units of its largest element."""

    units: int = 64

    def margin(self, want: Floats, dtype: str) -> Floats:
        largest = np.max(np.abs(want[np.isfinite(want)]), initial=0.0)
        return np.full_like(want, self.units * precision.EPSILON[dtype] * max(largest, 1.0))


Tolerance = Union[Exact, Ulps, Summed, Steps, Slopes]


def matches(want: Answer, got: Answer, tolerance: Tolerance) -> str:
    """Empty when got is an allowed form of want, else what is different."""
    if "raises" in want or "raises" in got:
        return _match_exceptions(want.get("raises", ""), got.get("raises", ""), got.get("also", []))
    if want.keys() != got.keys():
        return f"kind: want {_kind(want)}, got {_kind(got)}"
    for kind in ("tensor", "array"):
        if kind in want:
            return _match_elements(want, got, want[kind], got[kind], tolerance)
    for kind in ("list", "tuple"):
        if kind in want:
            return _match_items(want[kind], got[kind], tolerance)
    if "float" in want:
        return _match_values(want["float"], got["float"], "float64", tolerance)
    return "" if want == got else f"want {want}, got {got}"


def _kind(answer: Answer) -> str:
    return next(iter(answer), "nothing")


def _differ(what: str, want: object, got: object) -> str:
    return "" if want == got else f"{what}: want {want}, got {got}"


def _match_exceptions(want: str, got: str, also: list[str]) -> str:
    """What catches Paddle's exception must catch ours: the same class, or one derived from it."""
    if want and got and want in (got, *also):
        return ""
    return f"exception: want {want or 'a result'}, got {got or 'a result'}"


def _match_items(want: list[Answer], got: list[Answer], tolerance: Tolerance) -> str:
    if len(want) != len(got):
        return f"length: want {len(want)}, got {len(got)}"
    parts = (matches(w, g, tolerance) for w, g in zip(want, got))
    return next((f"item {i}: {text}" for i, text in enumerate(parts) if text), "")


def _match_elements(want: Answer, got: Answer, dtype: str, other: str, tolerance: Tolerance) -> str:
    return (
        _differ("dtype", dtype, other)
        or _differ("shape", want["shape"], got["shape"])
        or _match_values(want["values"], got["values"], dtype, tolerance)
    )


def _match_values(want: str, got: str, dtype: str, tolerance: Tolerance) -> str:
    if want == got:
        return ""
    dtype = PARTS.get(dtype, dtype)
    if "float" not in dtype:
        return f"values: want {want}, got {got}"
    w = np.array(want.split(), dtype="float64")
    g = np.array(got.split(), dtype="float64")
    with np.errstate(all="ignore"):
        same = (w == g) & (np.signbit(w) == np.signbit(g)) | np.isnan(w) & np.isnan(g)
        near = np.isfinite(w) & np.isfinite(g) & (np.abs(w - g) <= tolerance.margin(w, dtype))
    # A zero from the other side of zero is an error of sign, not of size.
    near &= (w != 0) | (g != 0)
    bad = np.flatnonzero(~(same | near))
    if not bad.size:
        return ""
    i = int(bad[0])
    return f"value {i}: want {want.split()[i]}, got {got.split()[i]} (allowed {tolerance.margin(w, dtype)[i]:.3g})"
