"""paddle.metric and paddle.regularizer: what tests/peers/stateful.py has recorded from PaddlePaddle, and definitions in NumPy."""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import metric, regularizer
from paddle_mps.optimizer import lr

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from stateful import classes, difference, errors, of_metrics, read, scope_of, scores

RECORDED = read()
SCOPE = scope_of(paddle, lr, metric, regularizer)
ROWS = list(of_metrics())
RANDOM = np.random.default_rng(20)


@pytest.mark.parametrize(("source", "ours"), ROWS, ids=[source[:100] for source, _ in ROWS])
def test_answer(source: str, ours: str | None) -> None:
    assert difference(source, ours, RECORDED, SCOPE) == ""


# The messages about classes that lack methods are Python's.
@pytest.mark.parametrize("source", [s for s in errors(of_metrics(), RECORDED) if "M.Metric" not in s])
def test_errors_name_what_came_and_what_was_wanted(source: str) -> None:
    with pytest.raises(Exception, match=r"(?s)^\[\w+\] .*; want ") as raised:
        eval(source, SCOPE)
    assert str(raised.value)[1:].partition("]")[0] in (*source.replace("(", ".").split("."), "topk")


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_accuracy_of_tensors_anywhere(place: str) -> None:
    """Beside a count in NumPy."""
    x, y = scores(40, 10), classes(10, 40, 1)
    order = np.argsort(-x, axis=1)
    held = metric.Accuracy((1, 3, 7))
    found = held.update(held.compute(paddle.to_tensor(x, place=place), paddle.to_tensor(y, place=place)))
    for k, share in zip((1, 3, 7), found):
        want = np.mean([y[i, 0] in order[i, :k] for i in range(40)])
        assert share == want
        got = metric.accuracy(paddle.to_tensor(x, place=place), paddle.to_tensor(y, place=place), k)
        assert got.item() == np.float32(want) and got.place == paddle.to_tensor(x, place=place).place


def test_precision_recall_and_auc_are_what_their_names_say() -> None:
    chance = RANDOM.integers(1, 1000, 500) / 1000
    labels = (RANDOM.random(500) < chance).astype("int64")
    precision, recall, auc = metric.Precision(), metric.Recall(), metric.Auc(num_thresholds=1000)
    for i in range(0, 500, 100):
        a, b = chance[i : i + 100], labels[i : i + 100]
        precision.update(a, b)
        recall.update(paddle.to_tensor(a), paddle.to_tensor(b))
        auc.update(np.stack([1 - a, a], 1), b)
    chosen = chance > 0.5
    assert precision.accumulate() == labels[chance >= 0.5].mean()
    assert recall.accumulate() == chosen[labels == 1].mean()
    # The share of pairs of a sample of each class whose order is right; equals count half.
    ones, zeros = chance[labels == 1][:, None], chance[labels == 0]
    want = ((ones > zeros) + 0.5 * (ones == zeros)).mean()
    bins = np.floor(chance * 1000)  # in which rounding may put two that differ
    assert len(set(bins)) == len(set(chance))
    assert abs(auc.accumulate() - want) < 1e-12


def test_counts_of_many_samples_are_exact() -> None:
    """In float32, 2**24 + 1 is 2**24."""
    held = metric.Accuracy()
    held.total, held.count = [2.0**24], [2**24]
    held.update(np.ones((70001, 1), "float16"))
    assert (held.total, held.count) == ([2.0**24 + 70001], [2**24 + 70001])


def test_a_batch_that_is_refused_is_not_counted() -> None:
    held = metric.Auc(num_thresholds=10)
    held.update(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 0]))
    with pytest.raises(AssertionError, match="not from 0 to 1"):
        held.update(np.array([[0.2, 0.8], [0.9, 1.1]]), np.array([0, 1]))
    assert held.accumulate() == 1.0


def test_a_batch_without_samples_counts_nothing() -> None:
    held: Any = metric.Accuracy((1, 2))
    assert held.update(np.zeros((0, 2), "float32")) == [0.0, 0.0] == held.accumulate()
    for held in (metric.Precision(), metric.Recall(), metric.Auc()):
        held.update(np.zeros((0, 2) if isinstance(held, metric.Auc) else 0), np.zeros(0))
        assert held.accumulate() == 0.0


def test_results_have_no_gradient() -> None:
    x = paddle.to_tensor(scores(3, 4), stop_gradient=False)
    assert metric.Accuracy().compute(x, paddle.to_tensor(classes(4, 3, 1))).stop_gradient
    assert metric.accuracy(x, paddle.to_tensor(classes(4, 3, 1))).stop_gradient


def test_regularizers_have_one_base_class() -> None:
    assert regularizer.__all__ == ["L1Decay", "L2Decay"]
    for kind in (regularizer.L1Decay, regularizer.L2Decay):
        assert issubclass(kind, regularizer.WeightDecayRegularizer)
        with pytest.raises(TypeError, match=rf"\[{kind.__name__}\] coeff is '1'; want a number"):
            kind("1")  # type: ignore[arg-type]
