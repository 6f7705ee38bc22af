"""Every row of docs/differences.md gives what it says."""

from __future__ import annotations

import io
import math
import pathlib
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.nn import functional

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "differences.md"
ROWS = [
    [cell.strip() for cell in line.split("|")[1:5]]
    for line in DOCUMENT.read_text().splitlines()
    if line.startswith("| `")
]


def shown(value: Any) -> str:
    if isinstance(value, paddle.Tensor):
        return f"{value.dtype.name} {value.tolist()}"
    return str(value)


@pytest.mark.parametrize("expression, theirs, here, why", ROWS, ids=[row[0] for row in ROWS])
def test_row(expression: str, theirs: str, here: str, why: str) -> None:
    scope = {
        "T": paddle.to_tensor,
        "F": functional,
        "paddle": paddle,
        "np": np,
        "io": io,
        "nan": math.nan,
        "inf": math.inf,
    }
    try:
        got = shown(eval(expression.strip("`"), scope))
    except Exception as error:
        got = f"*{type(error).__name__}*"
    assert got == here
    assert got != theirs
