"""paddle.optimizer.lr: the learning rates that tests/peers/stateful.py has recorded from PaddlePaddle, bit for bit; and what ours do
besides."""

from __future__ import annotations

import copy
import json
import math
import pathlib
import pickle
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import metric, regularizer
from paddle_mps.optimizer import lr

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from stateful import LIBM, SCHEDULERS, difference, errors, expressions, near, of_schedulers, read, scope_of, walk

RECORDED = read()
SCOPE = scope_of(paddle, lr, metric, regularizer)
MADE = [source for source, _ in expressions(SCHEDULERS)]
ROWS = list(of_schedulers())


@pytest.mark.parametrize(("source", "ours"), ROWS, ids=[source[:100] for source, _ in ROWS])
def test_answer(source: str, ours: str | None) -> None:
    assert difference(source, ours, RECORDED, SCOPE) == ""


def test_every_class_is_recorded_with_several_arguments() -> None:
    refused = set(errors(of_schedulers(), RECORDED))
    for name in lr.__all__:
        count = sum(f"lr.{name}(" in source for source, _ in ROWS if source not in refused)
        assert count >= 6 or name == "LRScheduler", name


def test_last_digits_count_where_libm_has_those_of_the_recording() -> None:
    source = "walk(lr.NoamDecay(64, 20))"
    other = {**RECORDED, source: [x * (1 + 1e-15) for x in RECORDED[source]]}
    if difference(LIBM, None, RECORDED, SCOPE) == "":
        assert difference(source, None, other, SCOPE).startswith("got [0.0, ")
    assert difference(source, None, {**other, LIBM: []}, SCOPE) == ""
    assert difference(source, None, {**RECORDED, source: [x * (1 + 1e-8) for x in RECORDED[source]], LIBM: []}, SCOPE)
    assert (
        near({"a": [1.0, "nan"]}, {"a": [1.0 + 1e-12, "nan"]})
        and not near([1.0], [1.0, 1.0])
        and not near({"a": 1}, {"b": 1})
    )


@pytest.mark.parametrize("source", errors(of_schedulers(), RECORDED))
def test_errors_name_the_class_what_came_and_what_was_wanted(source: str) -> None:
    with pytest.raises(Exception, match=r"(?s)^\[\w+\] .*; want ") as raised:
        eval(source, SCOPE)
    assert str(raised.value)[1:].partition("]")[0] in source


@pytest.mark.parametrize("source", MADE)
def test_a_scheduler_continues_from_its_state_as_if_it_had_not_stopped(source: str) -> None:
    """Also where PaddlePaddle does not: restarts follow from the epoch."""
    for steps in (1, 4, 23, 24, 25):
        first, second = eval(source, SCOPE), eval(source, SCOPE)
        walk(first, steps)
        second.set_state_dict(json.loads(json.dumps(first.state_dict())))
        assert walk(second, 12) == walk(first, 12)


@pytest.mark.parametrize("source", [s for s in MADE if "Own" not in s and "lambda" not in s])
def test_copies_and_pickles_go_on_alike(source: str) -> None:
    first = eval(source, SCOPE)
    walk(first, 7)
    copied, pickled = copy.deepcopy(first), pickle.loads(pickle.dumps(first))
    assert walk(copied, 12) == walk(pickled, 12) == walk(first, 12)


def test_state_is_saved_and_loaded(tmp_path: pathlib.Path) -> None:
    def made() -> Any:
        return lr.LinearWarmup(lr.ReduceOnPlateau(0.5, patience=1), 3, 0.0, 0.5)

    first, second = made(), made()
    walk(first, 10)
    paddle.save(first.state_dict(), str(tmp_path / "lr.pdopt"))
    second.set_state_dict(paddle.load(str(tmp_path / "lr.pdopt")))
    assert walk(second, 12) == walk(first, 12)


@pytest.mark.parametrize("times", [2, 3, 5, 10])
def test_restarts_are_where_they_belong(times: int) -> None:
    """PaddlePaddle finds a round by a logarithm, which is rounded: log(243, 3) is below 5."""
    s = lr.CosineAnnealingWarmRestarts(0.5, 1, times, 0.1)
    epoch, length = 0, 1
    for _ in range(7):
        s.step(epoch)
        assert (s(), s.T_cur, s.T_i) == (0.5, 0, length)
        epoch, length = epoch + length, length * times
        if length > times:
            s.step(epoch - 1)
            assert s.T_cur == s.T_i - 1


def test_a_first_epoch_far_away_is_in_its_round() -> None:
    by_step = lr.CosineAnnealingWarmRestarts(0.5, 3, 2)
    walk(by_step, 50)
    assert lr.CosineAnnealingWarmRestarts(0.5, 3, 2, last_epoch=49)() == by_step()


def test_a_product_calls_its_function_once_a_step() -> None:
    calls: list[int] = []
    s = lr.MultiplicativeDecay(0.5, lambda n: calls.append(n) or 0.9)  # type: ignore[func-returns-value]
    walk(s, 100)
    assert calls == list(range(1, 101))
    s.step(50)
    assert s() == walk(lr.MultiplicativeDecay(0.5, lambda n: 0.9), 50)[-1]


def test_a_step_that_fails_changes_nothing() -> None:
    def broken(n: int) -> float:
        if n == 2:
            raise OSError("broken")
        return 0.9

    s = lr.LambdaDecay(0.5, broken)
    s.step()
    for _ in range(2):
        with pytest.raises(OSError):
            s.step()
        assert (s.last_epoch, s()) == (1, 0.45)
    s.step(3)
    assert s.last_epoch == 3
    one = lr.OneCycleLR(1.0, 3)
    walk(one, 3)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"\[OneCycleLR\] epoch is 4; want at most 3"):
            one.step()


def test_a_state_that_does_not_fit_changes_nothing() -> None:
    s = lr.LinearWarmup(lr.StepDecay(0.5, 3), 5, 0.0, 0.5)
    walk(s, 7)
    before = s.state_dict()
    for inner in ({}, {"last_epoch": 1}, 3):
        with pytest.raises((RuntimeError, TypeError), match=r"\[StepDecay\] state_dict"):
            s.set_state_dict({"last_epoch": 1, "last_lr": 0.1, "LinearWarmup_LR": inner})
        assert s.state_dict() == before
    with pytest.raises(RuntimeError, match=r"last_epoch, last_lr; want LinearWarmup_LR too"):
        s.set_state_dict({"last_epoch": 1, "last_lr": 0.1})
    with pytest.raises(
        RuntimeError, match=r"\[LinearWarmup\] state_dict has LinearWarmup_LR; want last_epoch, last_lr too"
    ):
        s.set_state_dict({"LinearWarmup_LR": before["LinearWarmup_LR"]})
    assert s.state_dict() == before


def test_unused_names_of_a_state_are_warned_of() -> None:
    s = lr.StepDecay(0.5, 3)
    with pytest.warns(UserWarning, match=r"\[StepDecay\] state_dict has best, which are not used"):
        s.set_state_dict({"last_epoch": 4, "last_lr": 0.25, "best": 1})
    assert (s.last_epoch, s()) == (4, 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warm = lr.LinearWarmup(s, 5, 0.0, 0.5)
        warm.set_state_dict(warm.state_dict())


def test_the_former_name_sets_the_whole_state() -> None:
    first, second = (lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, 9), 3, 0.0, 0.5) for _ in range(2))
    walk(first, 7)
    second.set_dict(first.state_dict())
    assert second.state_dict() == first.state_dict()


def test_numbers_of_numpy_and_tensors() -> None:
    rates = walk(lr.StepDecay(0.5, 2, 0.25), 9)
    assert walk(lr.StepDecay(np.float32(0.5), np.int64(2), np.float64(0.25)), 9) == rates  # type: ignore[arg-type]
    s = lr.StepDecay(0.5, 2, 0.25)
    s.set_state_dict({"last_epoch": paddle.to_tensor([4]), "last_lr": np.array([0.03125])})
    assert (s.last_epoch, s()) == (4, 0.03125)
    assert type(s.last_epoch) is int and type(s.last_lr) is float
    plateau = lr.ReduceOnPlateau(1.0, patience=0)
    for measure in (paddle.to_tensor([2.0]), np.float32(3.0), np.int64(4), paddle.to_tensor(5, dtype="bfloat16")):
        plateau.step(measure)
    assert (plateau.best, type(plateau.best)) == (2.0, float)
    assert math.isclose(plateau(), 1e-3)


def test_measures_are_compared_in_float64_before_and_after_a_state() -> None:
    """In float32, 0.27 is no improvement of 0.3 by 0.03; the digits that both have are one."""
    for resumed in (False, True):
        s = lr.ReduceOnPlateau(1.0, threshold=0.03, threshold_mode="abs", patience=0)
        s.step(paddle.to_tensor(0.3))
        if resumed:
            state = s.state_dict()
            s = lr.ReduceOnPlateau(1.0, threshold=0.03, threshold_mode="abs", patience=0)
            s.set_state_dict(state)
        s.step(paddle.to_tensor(0.27))
        assert s() == 1.0
