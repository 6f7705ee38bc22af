"""The parts of the oracle that are not NumPy's: where its answers are kept, Newton's steps, running extremes."""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np
import pytest

from paddle_mps.selftest import oracle

mpmath = pytest.importorskip("mpmath")


def exact(*values: float) -> oracle.Array:
    """Operands of float64 as the oracle gets them. There are enough of them to be stored."""
    return np.resize(np.array(values, np.longdouble), 2 * oracle.STORED_FROM)


@pytest.mark.skipif(not oracle.WIDER, reason="nothing is wider than float64 here")
def test_answers_are_stored_and_found(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second process, without mpmath's functions here, has the same answers; other arguments are computed."""
    x = exact(0.5, -3.25, math.nan, 1e-300)
    want = oracle.erf(x)
    monkeypatch.setenv("PADDLE_MPS_ORACLES", str(tmp_path))
    first = oracle.erf(x)
    assert len(list(tmp_path.iterdir())) == 1

    def computed(*_: Any) -> oracle.Array:
        raise ArithmeticError("computed")

    monkeypatch.setattr(oracle, "_computed", computed)
    for found in (first, oracle.erf(x)):
        assert found.dtype == want.dtype and np.array_equal(found, want, equal_nan=True)
    for ask in (lambda: oracle.erf(exact(0.5, -3.25, 1e-300)), lambda: oracle.lgamma(x)):
        with pytest.raises(ArithmeticError, match="computed"):
            ask()


@pytest.mark.skipif(not oracle.WIDER, reason="nothing is wider than float64 here")
def test_inverse_of_erf_is_that_of_mpmath() -> None:
    """To the last bit of a long double: for tiny arguments, about 1/2, and up to the last number below 1."""
    values = [5e-324, 1e-300, 1e-9, 0.1, 0.4999, 0.5, 0.5001, 0.75, 0.999, 1 - 1e-9, 1 - 2.0**-52, 1 - 2.0**-53]
    with mpmath.workdps(40):
        want = [np.longdouble(mpmath.nstr(mpmath.erfinv(mpmath.mpf(v)), 25)) for v in values]
    got = oracle.erfinv(np.array([-v for v in values] + values, np.longdouble))
    assert got.tolist() == [-v for v in want] + want


def one_by_one(line: list[float], sign: int) -> list[int]:
    """Where the last of the largest, or smallest, elements is up to each; nan before all."""
    found: list[int] = []
    for i, v in enumerate(line):
        best = line[found[-1]] if found else v
        better = v != v or (best == best and (v >= best if sign > 0 else v <= best))
        found.append(i if better or not found else found[-1])
    return found


@pytest.mark.parametrize("sign", [1, -1])
def test_running_extremes(sign: int) -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        line = rng.choice([0.0, -0.0, 1.0, -1.0, 2.0, math.inf, -math.inf, math.nan], 12, p=[0.15] * 6 + [0.05] * 2)
        values, at = oracle.extremes(np.stack([line, line[::-1]], 1), 0, sign)
        for column, x in enumerate((line, line[::-1])):
            want = one_by_one(x.tolist(), sign)
            assert at[:, column].tolist() == want
            assert values[:, column].tobytes() == x[want].tobytes()
