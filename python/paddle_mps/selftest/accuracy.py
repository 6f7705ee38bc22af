"""The accuracy section: how far results are from exact, in units in the last place, by operator and dtype.

Elementwise operators of floats are tried on values that are spread over all exponents, in 16 bits on every
value there is. The bound is that of the operator's row; Metal may take subnormals for zero, which is why
operators whose results jump are left out. float64, which only the CPU has, is left to the conformance suite:
Go's functions keep within their row for the arguments there, but not for all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import oracle, suite, tolerance
from .oracle import Array
from .recorder import Recorder

MANY, FEW = 1 << 16, 1 << 13
FORMATS = ("float16", "bfloat16", "float32")

KINDS = ("unary", "binary")


def run(record: Recorder, place: str, quick: bool) -> None:
    """Measures every function in every dtype of floats, and tells the largest errors."""
    tried = functions(place)
    record.expect(len(tried))
    for row, dtype in tried:
        record.check(
            f"{row['name']} of {dtype}",
            lambda row=row, dtype=dtype: measure(record, row, dtype, place, FEW if quick else MANY),  # type: ignore[misc]
        )


def functions(place: str) -> list[tuple[dict[str, Any], str]]:
    """The rows that are measured, with a dtype each. A row that another test covers has no oracle."""
    rows = [row for row in suite.TABLE if row["kind"] in KINDS and not row.get("jumps")]
    return [(row, dtype) for row in rows for dtype in suite.dtypes(place) if tells(row, dtype)]


def tells(row: dict[str, Any], dtype: str) -> bool:
    """Whether the operator answers floats of a dtype, and there is an oracle for it."""
    return dtype in FORMATS and dtype in row["dtypes"] and suite.compares(row, dtype)


def measure(record: Recorder, row: dict[str, Any], dtype: str, place: str, n: int) -> None:
    """Computes with n values, tells the largest error and fails if that is above the bound."""
    arrays = [spread(dtype, n, i) for i in range(len(row["inputs"]))]
    pairs = [suite.pair(x, dtype, place) for x in arrays]
    worst = (0.0, 1.0)
    for given in suite.settings(row):
        error, bound = errors(row, dtype, place, given, arrays, pairs)
        worst = max(worst, tolerance.nearest(error, bound), key=tolerance.share)
        record.number("worst", {f"{row['name']} {dtype}": worst})
        bad = ~(error <= bound)
        if bad.any():
            where = ", ".join(repr(float(x[bad][0])) for x in arrays)
            raise AssertionError(
                f"{row['name']}({where}) is {error[bad][0]:.3g} ulp off; want at most {bound[bad][0]:g}"
            )


def errors(
    row: dict[str, Any], dtype: str, place: str, attrs: dict[str, Any], arrays: list[Array], pairs: list[suite.Pair]
) -> tuple[Array, Array]:
    """How many ulps each result is off, and how many it may be."""
    case = suite.Case(row["name"], dtype, "same")
    got = suite.numpy_of(suite.run(row, list(pairs), suite.settle(row, case, attrs), place)[0])
    want, also = (
        np.asarray(oracle.expect(row, xs, attrs, dtype)) for xs in (arrays, [tolerance.flushed(x) for x in arrays])
    )
    off = tolerance.error(got, want, also, dtype, suite.METAL)
    return off, tolerance.allowed(row, dtype, attrs, arrays, want, dtype, suite.METAL)


def spread(dtype: str, n: int, seed: int) -> Array:
    """Values of a dtype over all its exponents, NaN and infinity included: all of them where there are no
    more than n, and else with more than a third near 1, where functions are interesting."""
    rng = np.random.default_rng(seed)
    if dtype == "float32":
        wide: Array = rng.integers(0, 1 << 32, n, dtype=np.uint32).view(np.float32)
        near = n * 3 // 8
        wide[:near] = rng.normal(0, 4, near)
        return wide
    patterns = rng.permutation(1 << 16)[:n].astype(np.uint32)
    return patterns.astype(np.uint16).view(np.float16) if dtype == "float16" else (patterns << 16).view(np.float32)
