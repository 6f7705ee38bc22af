"""Operators of one operand on mps against NumPy. A script with a report, and a test."""

from __future__ import annotations

import sys
from functools import partial

import pytest

import mps_report as mps

SHAPES = ((), (5,), (2, 3), (128, 257))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", mps.UNARY)
def test_operator(name: str, shape: tuple[int, ...]) -> None:
    check(name, shape)


def check(name: str, shape: tuple[int, ...]) -> float:
    operator, twin = mps.UNARY[name]
    return float(mps.difference(operator, twin, mps.values(shape)))


if __name__ == "__main__":
    sections = {f"Shape {list(s)}": {name: partial(check, name, s) for name in mps.UNARY} for s in SHAPES}
    sys.exit(mps.report(sections))
