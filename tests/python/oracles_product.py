"""What rows of formulas that multiply, sum or take signals apart, and some others, should answer, in NumPy: a part of oracles.py, which says what each entry
means."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

rng = np.random.default_rng(71)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def distances(x: Any, p: float = 2.0) -> Any:
    return np.array([np.linalg.norm(a - b, p) for a, b in itertools.combinations(x, 2)])


def summed_as(x: Any, target: Any) -> Any:
    """Element by element, each to the place that broadcasting reads for it."""
    y = np.zeros(target.shape)
    places = np.broadcast_to(np.arange(target.size).reshape(target.shape), x.shape)
    np.add.at(y.reshape(-1), places.ravel(), x.ravel())
    return y


def framed(x: Any, length: int = 1, step: int = 1, axis: int = -1) -> Any:
    n = x.shape[axis]
    parts = [np.take(x, range(i, i + length), axis) for i in range(0, n - length + 1, step)]
    return np.stack(parts, axis)


def added(x: Any, step: int = 1, axis: int = -1) -> Any:
    frames = np.moveaxis(x, -1, 0) if axis else np.moveaxis(x, 1, -1)  # [n, ..., length]
    y = np.zeros((*frames.shape[1:-1], (len(frames) - 1) * step + frames.shape[-1]))
    for i, part in enumerate(frames):
        y[..., i * step : i * step + frames.shape[-1]] += part
    return y if axis else np.moveaxis(y, -1, 0)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_below(x: Any) -> Any:
    return softmax(np.where(np.tri(*x.shape[-2:]) > 0, x, -np.inf))


def split_floats(x: Any) -> Any:
    mantissa, exponent = np.frexp(x)
    return mantissa, exponent.astype(x.dtype)


ORACLES: dict[str, tuple[Any, ...]] = {
    "frexp": (split_floats, lambda: [np.exp2(floats(3, 4) * 9) * np.sign(floats(3, 4))], [[]], (), "", ("float64",)),
    "multi_dot": (lambda *x: np.linalg.multi_dot(x), lambda: [floats(3, 4), floats(4, 2), floats(2, 5)], [[]]),
    "multi_dot/vectors": (
        lambda *x: np.linalg.multi_dot(x),
        lambda: [floats(3), floats(3, 4), floats(4, 2), floats(2)],
        [[]],
    ),
    "multi_dot/column": (lambda *x: np.linalg.multi_dot(x), lambda: [floats(5, 3), floats(3)], [[]]),
    "pdist": (distances, lambda: [floats(4, 3)], [[], [1.0], [3.0], [float("inf")]]),
    "reduce_as": (summed_as, lambda: [floats(2, 3, 4), floats(3, 1)], [[]], (1,)),
    "reduce_as/same": (summed_as, lambda: [floats(3, 4), floats(3, 4)], [[]], (1,)),
    "reduce_as/one": (summed_as, lambda: [floats(3, 4), floats()], [[]], (1,)),
    "frame": (framed, lambda: [floats(2, 9)], [[4, 2], [3, 4], [9, 1]]),
    "frame/first": (framed, lambda: [floats(9, 2)], [[4, 2, 0], [2, 3, 0]]),
    "frame/line": (framed, lambda: [floats(7)], [[3, 2], [3, 2, 0]]),
    "overlap_add": (added, lambda: [floats(2, 4, 3)], [[2], [4], [5], [1]]),
    "overlap_add/first": (added, lambda: [floats(3, 4, 2)], [[2, 0], [3, 0]]),
    "overlap_add/line": (added, lambda: [floats(4, 3)], [[2], [2, 0]]),
    "swish": (lambda x, b=1.0: x / (1 + np.exp(-b * x)), lambda: [floats(3, 4) * 3], [[], [1.702], [-0.5], [0.0]]),
    "fused_softmax_mask": (lambda x, m: softmax(x + m), lambda: [floats(2, 3, 4), floats(2, 1, 4)], [[]]),
    "fused_softmax_mask_upper_triangle": (softmax_below, lambda: [floats(2, 4, 4)], [[]]),
}
