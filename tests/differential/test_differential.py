"""That the random programs can find something: an operator that is wrong, and one that does not share memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import programs
import run
import slope_programs
import view_programs

import paddle_mps as paddle

CPU = ("cpu",)


def first_difference(seed: int, traced: bool) -> list[programs.Statement]:
    """The first program that differs, shortened."""
    streams: dict[str, list[Any]] | None = None if traced else {}
    for at in range(seed, seed + 500):
        statements = programs.Maker(at, CPU, traced).make()
        if programs.difference(statements, streams):
            return run.shortened(statements, lambda s: programs.difference(s, streams))
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


def wrong_rule(name: str) -> Any:
    """A function with its value, and half of its gradient."""

    class Wrong(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return getattr(paddle, name)(x)

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            (x,) = ctx.saved_tensor()
            return dy * (paddle.cos(x) if name == "sin" else -paddle.sin(x)) * 0.5

    return Wrong.apply


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("name", ["sin", "cos"])
def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch, name: str, traced: bool) -> None:
    operator = slope_programs.OPERATORS[name]
    monkeypatch.setitem(slope_programs.OPERATORS, name, programs.Operator(wrong_rule(name), operator.oracle))
    for seed in range(0, 1000, 5):
        statements, difference = run.program(seed, CPU, traced, None)
        if difference(statements):
            break
    else:
        raise AssertionError("no program found it")
    short = run.shortened(statements, difference)
    assert short[-1].name == name
    assert "gradient" in run.told(seed, short, difference(short))


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
def test_gradients_of_some_programs(traced: bool) -> None:
    used = set()
    for seed in range(0, 300, 5):
        statements, difference = run.program(seed, CPU, traced, None)
        assert difference(statements) == "", run.told(seed, statements, "")
        used |= {s.name for s in statements}
    assert used == slope_programs.OPERATORS.keys()


def test_a_view_that_is_none_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong view and a wrong history of a right one."""
    for name, wrong in {
        "transpose": lambda x, perm: paddle.transpose(x, perm).clone(),
        "index": lambda x, parts: x.detach()[view_programs.key_of(parts)],
    }.items():
        with monkeypatch.context() as patched:
            patched.setitem(view_programs.VIEWS, name, (view_programs.VIEWS[name][0], wrong))
            for seed in range(300):
                statements = view_programs.Maker(seed, "cpu").make()
                if view_programs.difference(statements):
                    break
            else:
                raise AssertionError(f"no program found {name}")
            short = view_programs.shortened(statements, view_programs.difference)
        assert name in view_programs.told(seed, short, "")


def test_programs_about_views_use_everything() -> None:
    used: set[str] = set()
    for seed in range(60):
        statements = view_programs.Maker(seed, "cpu").make()
        assert view_programs.difference(statements) == "", view_programs.told(seed, statements, "")
    for seed in range(600):
        statements = view_programs.Maker(seed, "cpu").make()
        used |= {s.name for s in statements} | {b.name for s in statements for b in s.given.get("body", ())}
    assert used >= view_programs.VIEWS.keys() | view_programs.CHANGES.keys() | view_programs.NEW.keys()
    assert used >= {"section", "pass", "hook", "delete", "detach", "set_value"}
    assert all(view_programs.RIGHT[way] > 5 for way in ("constant", "eager", "sections", "whole"))
