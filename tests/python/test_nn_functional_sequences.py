"""Losses of sequences, trees and clusters beside the sum over all alignments or classes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.nn import functional as F

T = paddle.to_tensor
Array = Any  # of NumPy, in float64


def softmax(x: Array) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def spelled(path: tuple[int, ...], blank: int) -> list[int]:
    return [label for label, _ in itertools.groupby(path) if label != blank]


def ctc(p: Array, label: list[int], blank: int) -> Any:
    """The sum of the probabilities of all paths that spell a label."""
    paths = itertools.product(range(p.shape[1]), repeat=p.shape[0])
    return np.sum([np.prod(p[np.arange(len(q)), q]) for q in paths if spelled(q, blank) == label])


LABELS = [[1, 2], [1, 1], [3, 0], [0, 0]]


@pytest.mark.parametrize("blank", [0, 2])
def test_ctc_loss(blank: int) -> None:
    x = np.random.default_rng(0).standard_normal((5, 4, 4))
    times, lengths = [5, 4, 3, 5], [2, 2, 1, 0]
    labels = [[(n + 1) % 4 if n == blank else n for n in row] for row in LABELS]
    want = [-np.log(ctc(softmax(x[:t, b]), labels[b][:n], blank)) for b, (t, n) in enumerate(zip(times, lengths))]
    arguments = T(x), T(labels, "int32"), T(times), T(lengths), blank
    got = F.ctc_loss(*arguments, reduction="none").numpy()
    assert np.abs(got - want).max() <= 200 * 2.0**-52 * max(want)
    assert abs(F.ctc_loss(*arguments, reduction="sum").item() - sum(want)) <= 400 * 2.0**-52 * max(want)


def test_ctc_loss_mean_divides_by_label_lengths() -> None:
    x = T(np.random.default_rng(1).standard_normal((6, 2, 3)))
    arguments = x, T([[1, 2], [2, 0]], "int32"), T([6, 6]), T([2, 1])
    each = F.ctc_loss(*arguments, reduction="none").numpy()
    assert abs(F.ctc_loss(*arguments).item() - (each / [2, 1]).mean()) <= 8 * 2.0**-52 * each.max()


def test_ctc_loss_of_impossible_labels() -> None:
    x = paddle.zeros([2, 1, 3])
    too_long = x, T([[1, 1]], "int32"), T([2]), T([2])
    assert F.ctc_loss(*too_long, reduction="none").tolist() == [0.0]
    never = T([[[0.0, -float("inf"), 0.0]], [[0.0, -float("inf"), 0.0]]])
    arguments = never, T([[1]], "int32"), T([2]), T([1])
    assert F.ctc_loss(*arguments, reduction="none").tolist() == [float("inf")]
    assert F.ctc_loss(*arguments, reduction="none", zero_infinity=True).tolist() == [0.0]


def test_ctc_loss_ignores_padding_and_refuses_what_is_no_class() -> None:
    x = T(np.random.default_rng(2).standard_normal((4, 1, 3)))
    want = F.ctc_loss(x, T([[1]], "int32"), T([4]), T([1]))
    for padding in (-1, 2, 99):
        assert F.ctc_loss(x, T([[1, padding]], "int32"), T([4]), T([1])).item() == want.item()
    for label in (-1, 3):
        with pytest.raises(IndexError, match="out of range"):
            F.ctc_loss(x, T([[label]], "int32"), T([4]), T([1])).numpy()
    with pytest.raises(ValueError, match="lengths"):
        F.ctc_loss(x, T([[1]], "int32"), T([4, 4]), T([1]))
    with pytest.raises(AssertionError, match="reduction"):
        F.ctc_loss(x, T([[1]], "int32"), T([4]), T([1]), reduction="all")


def transducer(log: Array, label: list[int], blank: int) -> float:
    """The sum over all orders of the labels and of the blanks before the last one."""
    times, total = log.shape[0], 0.0
    for where in itertools.combinations(range(times - 1 + len(label)), len(label)):
        t, u, path = 0, 0, 0.0
        for step in range(times - 1 + len(label)):
            if step in where:
                path += log[t, u, label[u]]
                u += 1
            else:
                path += log[t, u, blank]
                t += 1
        total += np.exp(path + log[t, u, blank])
    return -float(np.log(total))


def test_rnnt_loss() -> None:
    log = np.log(softmax(np.random.default_rng(3).standard_normal((3, 4, 4, 5))))
    labels, times, lengths = [[1, 2, 1], [3, 3, 0], [4, 9, -1]], [4, 3, 1], [3, 2, 1]
    want = [transducer(log[b, :t], labels[b][:n], 0) for b, (t, n) in enumerate(zip(times, lengths))]
    arguments = T(log), T(labels, "int32"), T(times, "int32"), T(lengths, "int32")
    assert np.abs(F.rnnt_loss(*arguments, reduction="none").numpy() - want).max() <= 200 * 2.0**-52 * max(want)
    assert abs(F.rnnt_loss(*arguments).item() - np.mean(want)) <= 200 * 2.0**-52 * max(want)
    with pytest.raises(ValueError, match="shapes are"):
        F.rnnt_loss(T(log[:, :, :3]), *arguments[1:])


def test_gather_tree() -> None:
    r = np.random.default_rng(4)
    ids, parents = r.integers(0, 9, (5, 3, 4)), r.integers(0, 4, (5, 3, 4))
    want = np.zeros_like(ids)
    for batch in range(3):
        for beam in range(4):
            here = beam
            for step in reversed(range(5)):
                want[step, batch, beam] = ids[step, batch, here]
                here = parents[step, batch, here]
    assert F.gather_tree(T(ids), T(parents)).tolist() == want.tolist()
    parents[4, 0, 0] = 4
    with pytest.raises(IndexError, match="out of range"):
        F.gather_tree(T(ids), T(parents)).numpy()


@pytest.mark.parametrize("classes", [2, 3, 6, 8, 11])
def test_hsigmoid_loss_is_of_a_distribution(classes: int) -> None:
    """exp(-loss) without the log(2) of each node that a path lacks adds up to 1 over all classes."""
    r = np.random.default_rng(classes)
    x, weight, bias = r.standard_normal((1, 4)), r.standard_normal((classes - 1, 4)), r.standard_normal(classes - 1)
    every = np.repeat(x, classes, 0)
    loss = F.hsigmoid_loss(T(every), T(np.arange(classes)), classes, T(weight), T(bias)).numpy()[:, 0]
    steps = np.array([(c + classes).bit_length() - 1 for c in range(classes)])
    total = np.exp(-(loss - (steps.max() - steps) * np.log(2))).sum()
    assert abs(total - 1) <= 64 * 2.0**-52


def test_hsigmoid_loss_of_given_paths() -> None:
    r = np.random.default_rng(7)
    x, weight, bias = r.standard_normal((2, 3)), r.standard_normal((4, 3)), r.standard_normal(4)
    table, code = np.array([[0, 2, 3], [0, 1, -1]]), np.array([[1, 0, 1], [0, 1, 0]])
    want = []
    for row, nodes, bits in zip(x, table, code):
        scores = [float(row @ weight[n] + bias[n]) if n >= 0 else 0.0 for n in nodes]
        want.append([sum(np.log1p(np.exp(s)) - b * s for s, b in zip(scores, bits))])
    got = F.hsigmoid_loss(T(x), T([0, 0]), 5, T(weight), T(bias), T(table), T(code))
    assert np.abs(got.numpy() - want).max() <= 64 * 2.0**-52
    with pytest.raises(IndexError, match="out of range"):
        F.hsigmoid_loss(T(x), T([0, 9]), 5, T(weight)).numpy()
    with pytest.raises(ValueError, match="num_classes"):
        F.hsigmoid_loss(T(x), T([0, 0]), 1, T(weight))


def test_adaptive_log_softmax_is_a_distribution() -> None:
    r = np.random.default_rng(8)
    x = np.repeat(r.standard_normal((1, 4)), 12, 0)
    head, bias = r.standard_normal((4, 5)), r.standard_normal(5)
    tails = [
        [T(r.standard_normal((4, 2))), T(r.standard_normal((2, 4)))],
        [T(r.standard_normal((4, 1))), T(r.standard_normal((1, 5)))],
    ]
    order = r.permutation(12)
    output, loss = F.adaptive_log_softmax_with_loss(T(x), T(order), T(head), tails, [3, 7, 12], T(bias))
    assert abs(np.exp(output.numpy()).sum() - 1) <= 64 * 2.0**-52
    assert abs(loss.item() + output.numpy().mean()) <= 64 * 2.0**-52
    logs = np.log(softmax(x[:1] @ head + bias))[0]
    inner = np.log(softmax(x[:1] @ tails[1][0].numpy() @ tails[1][1].numpy()))[0]
    want = {1: logs[1], 9: logs[4] + inner[2]}
    for label, value in want.items():
        assert abs(output.numpy()[list(order).index(label)] - value) <= 64 * 2.0**-52 * 8
    one, _ = F.adaptive_log_softmax_with_loss(T(x[0]), T(9), T(head), tails, [3, 7, 12], T(bias))
    assert one.shape == [] and abs(one.item() - want[9]) <= 64 * 2.0**-52 * 8
    with pytest.raises(ValueError, match="labels are from"):
        F.adaptive_log_softmax_with_loss(T(x), T(order + 1), T(head), tails, [3, 7, 12])
