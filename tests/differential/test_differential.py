"""That the random programs can find something: an operator that is wrong, and one that does not share memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import programs
import run

CPU = ("cpu",)


def first_difference(seed: int, traced: bool) -> list[programs.Statement]:
    """The first program that differs, shortened."""
    streams: dict[str, list[Any]] | None = None if traced else {}
    for at in range(seed, seed + 500):
        statements = programs.Maker(at, CPU, traced).make()
        if programs.difference(statements, streams):
            return run.shortened(statements, streams)
    return []


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("maximum", lambda x, y: x),
        ("slice", lambda x, parts: x[programs.slices(parts)].clone()),
        ("assign_at", lambda x, index, value: None),
    ],
)
def test_a_wrong_operator_is_found(monkeypatch: pytest.MonkeyPatch, name: str, wrong: object, traced: bool) -> None:
    operator = programs.OPERATORS[name]
    monkeypatch.setitem(programs.OPERATORS, name, programs.Operator(wrong, operator.oracle, operator.writes))  # type: ignore[arg-type]
    found = first_difference(1, traced)
    assert name in [s.name for s in found]
    assert "FAIL program of seed 1\n" in run.told(1, found, "v0: want")


def test_programs_are_the_same_for_a_seed() -> None:
    one, two = ([str(s) for s in programs.Maker(5, CPU).make()] for _ in range(2))
    assert one == two and len(one) > 5
