"""All the operators of mps_report on mps against NumPy, and copies. A script with a report, and tests."""

from __future__ import annotations

import sys
from functools import partial
from typing import Callable

import numpy as np

import mps_report as mps
import paddle_mps as paddle


def binary(name: str) -> float:
    operator, twin = mps.BINARY[name]
    pairs = [(mps.values(x), mps.values(y, 1)) for x, y in mps.SHAPES]
    return float(max(mps.difference(operator, twin, x, y) for x, y in pairs))


def unary(name: str) -> float:
    operator, twin = mps.UNARY[name]
    return float(max(mps.difference(operator, twin, mps.values(s)) for s in ((), (0,), (7,), (100, 101))))


def reduction(name: str) -> float:
    operator, twin = mps.REDUCTIONS[name]
    x = mps.values((5, 6, 7))
    return float(max(mps.difference(operator, twin, x, axis=axis) for axis in (None, 0, 1, -1, (0, 2))))


def copies(source: str, target: str) -> str:
    x = mps.values((1000,))
    there = paddle.to_tensor(x, place=source).to(target)
    np.testing.assert_array_equal(there.numpy(), x)
    return f"{x.nbytes} bytes"


SECTIONS: dict[str, dict[str, Callable[[], object]]] = {
    "Two operands, broadcast": {name: partial(binary, name) for name in mps.BINARY},
    "One operand": {name: partial(unary, name) for name in mps.UNARY},
    "Reductions": {name: partial(reduction, name) for name in mps.REDUCTIONS},
    "Copies": {f"{a} to {b}": partial(copies, a, b) for a in ("cpu", "mps") for b in ("cpu", "mps") if "mps" in (a, b)},
}


def test_binary() -> None:
    for name in mps.BINARY:
        binary(name)


def test_unary() -> None:
    for name in mps.UNARY:
        unary(name)


def test_reductions() -> None:
    for name in mps.REDUCTIONS:
        reduction(name)


def test_copies() -> None:
    for check in SECTIONS["Copies"].values():
        check()


if __name__ == "__main__":
    sys.exit(mps.report(SECTIONS))
