"""The four arithmetic operators on mps against NumPy. A script with a report, and a test."""

from __future__ import annotations

import sys
from functools import partial

import pytest

import mps_report as mps

QUICK = ("add", "subtract", "multiply", "divide")


@pytest.mark.parametrize("name", QUICK)
def test_arithmetic(name: str) -> None:
    check(name)


def check(name: str) -> float:
    operator, twin = mps.BINARY[name]
    return float(mps.difference(operator, twin, mps.values((3, 4)), mps.values((4,), 1)))


if __name__ == "__main__":
    sys.exit(mps.report({"Arithmetic": {name: partial(check, name) for name in QUICK}}))
