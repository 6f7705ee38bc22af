"""The conformance section: every operator in every dtype on every layout against NumPy, see suite.py.

The largest errors of inexact operators that the accuracy section does not measure are reported on the way.
"""

from __future__ import annotations

import zlib

from . import accuracy, suite, tolerance
from .recorder import Recorder


def run(record: Recorder, place: str, quick: bool) -> None:
    """Tries all cases; with quick in an order in which the first ones say the most."""
    cases = list(suite.cases(suite.dtypes(place)))
    if quick:
        cases.sort(key=urgency)
    record.expect(len(cases))
    reported: dict[str, tuple[float, float]] = {}
    for case in cases:
        record.check(str(case), lambda case=case: suite.check(case, place))  # type: ignore[misc]
        for name in [
            n for n, pair in tolerance.WORST.items() if pair != reported.get(n, (0.0, 0.0)) and not elementwise(n)
        ]:
            reported[name] = tolerance.WORST[name]
            record.number("worst", {name: reported[name]})


def elementwise(name: str) -> bool:
    """Whether "operator dtype" is measured by the accuracy section."""
    return suite.BY_NAME[name.split()[0]]["kind"] in accuracy.KINDS


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
