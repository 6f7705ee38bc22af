"""The conformance suite under pytest.

It runs on the places of this process: PADDLE_MPS_DEVICE and PADDLE_MPS_INLINE say which, and
build.sh runs it once for each configuration.
"""

from __future__ import annotations

import os
import pathlib

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.selftest import suite

ROOT = pathlib.Path(__file__).parents[2]
PLACES = ["mps"] if paddle.mps.is_available() else ["cpu"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The cases of all operators, or of the one that --operator names. pytest takes longer to collect a case than most
    cases take, so those of other operators are not made."""
    if "case" not in metafunc.fixturenames:
        return
    name = metafunc.config.getoption("--operator", None)
    cases = [(p, c) for p in PLACES for c in suite.cases(suite.dtypes(p)) if name in (None, c.name)]
    metafunc.parametrize(("place", "case"), cases, ids=[f"{p}-{c}" for p, c in cases])


def test_case(place: str, case: suite.Case) -> None:
    if suite.lacking(case) and os.environ.get("PADDLE_MPS_FALLBACK") == "0":
        with pytest.raises(paddle.UnsupportedError, match="metal has no kernel of this operator"):
            suite.check(case, place)
        return
    suite.check(case, place)


def test_every_operator_is_tried() -> None:
    """An operator that is neither in the cases nor says which test tries it is an error."""
    tried = {case.name for case in suite.cases()}
    for row in suite.TABLE:
        file = row.get("elsewhere", "")
        assert row["name"] in tried or file, f"{row['name']} is in no case and says no other test"
        assert (ROOT / file).exists(), f"{row['name']} is said to be tried in {file}; there is no such file"
        assert row["numpy"] or file, f"{row['name']} has no NumPy expression"


def test_repeated_results_around_a_power_of_two() -> None:
    """Two results may be on either side of a power of two, where the unit in the last place changes."""
    row = next(row for row in suite.TABLE if row["kind"] == "unary" and row["tolerance"]["float32"] > 1)
    case = suite.Case(row["name"], "float32", "aliased")
    off = row["tolerance"]["float32"] * np.finfo(np.float32).eps
    above, below = np.array([1 + off], np.float32), np.array([1 - off], np.float32)
    agree = suite.repeats(row, case, {})
    agree("there", [np.zeros(1, np.float32)], above, below, "float32")
    agree("there", [np.zeros(1, np.float32)], below, above, "float32")
    if not suite.METAL:
        with pytest.raises(AssertionError, match="there"):
            agree("there", [np.zeros(1, np.float32)], above + np.float32(off), below, "float32")
