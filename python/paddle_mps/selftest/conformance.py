"""The conformance section: every operator in every dtype on every layout against NumPy, see suite.py."""

from __future__ import annotations

import zlib

from . import oracle, suite
from .recorder import Recorder


def run(record: Recorder, place: str, quick: bool) -> None:
    """Tries all cases; with quick in an order in which the first ones say the most."""
    cases = list(suite.cases(dtypes(place)))
    if quick:
        cases.sort(key=urgency)
    record.expect(len(cases))
    for case in cases:
        record.check(str(case), lambda case=case: suite.check(case, place))  # type: ignore[misc]


def dtypes(place: str) -> tuple[str, ...]:
    """The dtypes that a place has."""
    return tuple(d for d in oracle.NUMPY if place == "cpu" or d != "float64")


# What most programs use comes first, then what most devices get wrong.
FIRST = (
    ("float32", "same"),
    ("float32", "misaligned"),
    ("bfloat16", "same"),
    ("int64", "strided"),
    ("float32", "large"),
)


def urgency(case: suite.Case) -> tuple[int, int]:
    """A key to sort by: each operator once for each of FIRST, then all others as in a lottery."""
    among = (case.dtype, case.layout)
    return FIRST.index(among) if among in FIRST else len(FIRST), zlib.crc32(str(case).encode())
