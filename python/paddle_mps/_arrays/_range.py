"""range: `arange` with its end."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import _operators
from .._calls._call import into
from .._core import _dtype
from .._core._convert import scalar
from .._core._dtype import DType, DTypeLike
from .._core._objects import Tensor
from ._creation import fit, floating, requiring, value_of

if TYPE_CHECKING:
    from .._core._typing import PlaceLike, Scalar

__all__ = ["range"]


@requiring
def range(
    start: Scalar | Tensor = 0,
    end: Scalar | Tensor | None = None,
    step: Scalar | Tensor = 1,
    dtype: DTypeLike | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    name: str | None = None,
) -> Tensor:
    """start, start + step, ... up to end, which is included; range(n) counts from 0 to n.

    Args:
        dtype: None: the default one. Bounds and the step are converted to it first.

    Raises:
        TypeError: a bound or the step is no number.
        ValueError: one is not finite, or the step is 0.
    """
    if end is None:
        start, end = 0, start
    kind, target = fit(floating(dtype), place, device)
    first, last, distance = (number(value_of(b), kind) for b in (start, end, step))
    if distance == 0:
        raise ValueError(f"[range] the step is 0 in {kind.name}; want another one")
    count = steps(first, last, distance, kind)
    made = _operators.range(target.word, first, distance, max(count, 0), kind)
    return into(out, made)


def number(value: Any, dtype: DType) -> int | float:
    """A bound for a dtype: an int for integers, whose fraction is cut off."""
    if scalar(value) is None:
        raise TypeError(f"[range] got {value!r}; want a number")
    if not math.isfinite(value):
        raise ValueError(f"[range] got {value}; want a finite number")
    return float(value) if dtype.is_floating else int(value)


def steps(first: float, last: float, distance: float, dtype: DType) -> int:
    """How many values there are. As in Paddle, float32 is computed in float32."""
    if not dtype.is_floating:
        return int((last - first) // distance) + 1
    kind = np.float64 if dtype is _dtype.float64 else np.float32
    with np.errstate(all="ignore"):
        found = float(np.floor((kind(last) - kind(first)) / kind(distance) + kind(1)))
    if not found < 2.0**63:
        raise ValueError(f"[range] from {first} to {last} in steps of {distance}; want fewer than 2**63 elements")
    return int(found)
