"""The conformance suite under pytest.

It runs on the places of this process: PADDLE_MPS_DEVICE and PADDLE_MPS_INLINE say which, and
build.sh runs it once for each configuration.
"""

from __future__ import annotations

import pathlib

import pytest

import paddle_mps as paddle
from paddle_mps.selftest import suite

ROOT = pathlib.Path(__file__).parents[2]
PLACES = ["mps"] if paddle.mps.is_available() else ["cpu"]


CASES = [(place, case) for place in PLACES for case in suite.cases(suite.dtypes(place))]


@pytest.mark.parametrize(("place", "case"), CASES, ids=[f"{p}-{c}" for p, c in CASES])
def test_case(place: str, case: suite.Case) -> None:
    suite.check(case, place)


def test_every_operator_is_tried() -> None:
    """An operator that is neither in the cases nor named with the test that tries it is an error."""
    tried = {case.name for case in suite.cases()}
    assert tried | set(suite.ELSEWHERE) == set(suite.BY_NAME)
    for name, file in suite.ELSEWHERE.items():
        assert (ROOT / file).exists(), f"{name} is said to be tried in {file}; there is no such file"
    for row in suite.TABLE:
        assert row["numpy"] or row["name"] in suite.ELSEWHERE, f"{row['name']} has no NumPy expression"
