"""What losses and searches of sequences should answer, in NumPy: a part of oracles.py, which says what each entry means."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

rng = np.random.default_rng(61)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def log_softmax(x: Any, axis: int = -1) -> Any:
    e = np.exp(x - x.max(axis, keepdims=True))
    return np.log(e / e.sum(axis, keepdims=True))


def reduced(loss: Any, reduction: str) -> Any:
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def both(x: Any, label: Any, soft: bool = False, ignored: int = -100, axis: int = -1) -> Any:
    """Losses, and the softmax."""
    logs = log_softmax(x, axis)
    if soft:
        return -(logs * label).sum(axis, keepdims=True), np.exp(logs)
    kept = label != ignored
    return -np.take_along_axis(logs, np.where(kept, label, 0), axis) * kept, np.exp(logs)


def spelled(path: Any, blank: int) -> list[int]:
    return [int(c) for c, _ in itertools.groupby(path) if c != blank]


def ctc(
    x: Any, labels: Any, times: Any, lengths: Any, blank: int = 0, reduction: str = "mean", by_times: bool = False, zero: bool = False
) -> Any:  # fmt: skip
    """Path by path, of all of them."""
    loss = np.zeros(len(labels))
    for b, label in enumerate(labels):
        wanted, n = [int(c) for c in label[: lengths[b]]], times[b]
        logs = log_softmax(x[:n, b])
        paths = [p for p in itertools.product(range(x.shape[2]), repeat=n) if spelled(p, blank) == wanted]
        chances = [np.exp(sum(logs[t, c] for t, c in enumerate(p))) for p in paths]
        loss[b] = -np.log(sum(chances)) if paths else 0  # labels that are too long have no path
    return np.mean(loss / lengths) if reduction == "mean" else reduced(loss, reduction)


def transducer(
    x: Any, labels: Any, times: Any, lengths: Any, blank: int = 0, more: float = 0.0, reduction: str = "mean"
) -> Any:
    """Path by path: which of its moves emit."""
    loss = np.zeros(len(labels))
    for b in range(len(labels)):
        chance, last = 0.0, times[b] - 1
        for emits in itertools.combinations(range(last + lengths[b]), int(lengths[b])):
            t, u, logs = 0, 0, 0.0
            for move in range(last + lengths[b]):
                logs += x[b, t, u, labels[b, u] if move in emits else blank]
                t, u = (t, u + 1) if move in emits else (t + 1, u)
            chance += np.exp(logs + x[b, last, u, blank])
        loss[b] = -np.log(chance)
    return reduced(loss, reduction)


def followed(ids: Any, parents: Any) -> Any:
    """Beam by beam, from its end."""
    y = np.zeros_like(ids)
    for b, beam in np.ndindex(*ids.shape[1:]):
        at = beam
        for t in range(len(ids) - 1, -1, -1):
            y[t, b, beam] = ids[t, b, at]
            at = parents[t, b, at]
    return y


ORACLES: dict[str, tuple[Any, ...]] = {
    "softmax_with_cross_entropy": (both, lambda: [floats(3, 4), rng.integers(0, 4, (3, 1))], [[], [False, 2]], (1,)),
    "softmax_with_cross_entropy/first": (both, lambda: [floats(4, 3), rng.integers(0, 4, (1, 3))], [[False, -100, 0]], (1,)),
    "softmax_with_cross_entropy/soft": (both, lambda: [floats(3, 4), rng.uniform(0, 1, (3, 4))], [[True]]),
    "ctc_loss": (
        ctc, lambda: [floats(5, 3, 3), np.array([[1, 1], [2, 1], [1, 9]]), np.array([5, 4, 3]), np.array([2, 2, 1])],
        [[], [0, "sum"], [0, "none", False, True]], (1, 2, 3),
    ),
    "ctc_loss/too_long": (
        ctc, lambda: [floats(2, 2, 4), np.array([[1, 1], [0, 3]]), np.array([2, 2]), np.array([2, 2])], [[2], [2, "none"]], (1, 2, 3)
    ),
    "rnnt_loss": (
        transducer, lambda: [log_softmax(floats(2, 3, 3, 3)), np.array([[1, 2], [2, 9]]), np.array([3, 2]), np.array([2, 1])],
        [[0, 0.0], [0, 0.0, "sum"], [0, 0.0, "none"]], (1, 2, 3),
    ),
    "rnnt_loss/no_labels": (
        transducer, lambda: [floats(2, 3, 1, 2), np.zeros((2, 0), "int64"), np.array([3, 1]), np.array([0, 0])], [[1, 0.0, "none"]], (1, 2, 3)
    ),
    "gather_tree": (followed, lambda: [rng.integers(0, 9, (4, 2, 3)), rng.integers(0, 3, (4, 2, 3))], [[]], (0, 1), "int64"),
    "gather_tree/one": (followed, lambda: [rng.integers(0, 9, (1, 2, 3)), rng.integers(0, 3, (1, 2, 3))], [[]], (0, 1), "int64"),
}  # fmt: skip
