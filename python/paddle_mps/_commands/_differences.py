"""How far results are from others, for tests and benchmarks: a NaN or a result that is missing is infinitely far, where Python's
`max` and `zip` would pass over it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Callable

import numpy as np


def worst(differences: Iterable[float]) -> float:
    """The largest of some differences; infinite if one is NaN, and 0 if there is none."""
    return max((math.inf if math.isnan(d) else float(d) for d in differences), default=0.0)


def apart(got: Any, want: Any) -> float:
    """The largest difference of two arrays; infinite for other shapes, and where one is NaN. Equal infinities are not apart."""
    if got.shape != want.shape:
        return math.inf
    x, y = got.astype("float64"), want.astype("float64")
    with np.errstate(invalid="ignore"):
        return worst([float(np.where(x == y, 0, np.abs(x - y)).max(initial=0))])


def between(got: Sequence[Any], want: Sequence[Any], difference: Callable[[Any, Any], float] = apart) -> float:
    """The largest difference of results and those that are wanted; infinite if there are more or fewer of them."""
    return worst(map(difference, got, want)) if len(got) == len(want) else math.inf
