"""Every row that is a formula without a NumPy oracle in its description, against NumPy: answers and gradients.

A row without an entry in ORACLES fails. Gradients are compared with central differences of the oracle in float64, so that neither
the formula nor a rule of a gradient is on both sides. Operands come contiguous and as views, calls eager, repeated (the second
call of a kind is one program) and traced.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
import oracles_image
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _call
from paddle_mps._calls import _operators as ops
from paddle_mps._core._errors import GradientError
from paddle_mps.selftest import suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = {row["name"]: row for row in json.loads((ROOT / "python/paddle_mps/selftest/table.json").read_text())}
FORMULAS = [
    name
    for file in sorted((ROOT / "core/op/formula").glob("composites_*.go"))
    for name in re.findall(r"formula: *`(\w+)\(", file.read_text())
]
ROWS = [name for name in FORMULAS if not TABLE[name]["numpy"] and name != "glu"]  # glu is in test_composites.py

rng = np.random.default_rng(31)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def shares(*shape: int) -> Any:
    return rng.uniform(0.05, 0.95, shape)


def signs(*shape: int) -> Any:
    return rng.choice([-1.0, 1.0], shape)


def bits(*shape: int) -> Any:
    return rng.choice([0.0, 1.0], shape)


def reduced(loss: Any, reduction: str) -> Any:
    ways: dict[str, Callable[[Any], Any]] = {"mean": np.mean, "sum": np.sum, "none": np.asarray}
    return ways[reduction](loss)


def smooth_l1(x: Any, y: Any, reduction: str = "mean", delta: float = 1.0, is_huber: bool = True) -> Any:
    d = np.abs(x - y)
    loss = np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))
    return reduced(loss if is_huber else loss / delta, reduction)


def kl_div(x: Any, y: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    with np.errstate(all="ignore"):
        loss = np.exp(y) * (y - x) if log_target else np.where(y > 0, y * (np.log(y) - x), 0)
    return np.sum(loss) / len(x) if reduction == "batchmean" else reduced(loss, reduction)


def poisson(
    x: Any, y: Any, log_input: bool = True, full: bool = False, eps: float = 1e-8, reduction: str = "mean"
) -> Any:
    loss = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    with np.errstate(all="ignore"):
        more = np.where(y > 1, y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y), 0)
    return reduced(loss + more if full else loss, reduction)


def gaussian(x: Any, y: Any, v: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Any:
    v = np.maximum(v, eps)
    return reduced(0.5 * (np.log(v) + (x - y) ** 2 / v) + (0.5 * np.log(2 * np.pi) if full else 0), reduction)


def hinge(x: Any, y: Any, margin: float = 1.0, reduction: str = "mean") -> Any:
    return reduced(np.where(y == 1, x, np.where(y == -1, np.maximum(margin - x, 0), 0)), reduction)


def label_smooth(y: Any, prior: Any, epsilon: float = 0.1) -> Any:
    return (1 - epsilon) * y + epsilon * (1 / y.shape[-1] if prior is None else np.ravel(prior))


def entropy(p: Any, y: Any, weight: Any, least: float = 1e-12, reduction: str = "mean") -> Any:
    return reduced(-(y * np.log(p) + (1 - y) * np.log1p(-p)) * (1 if weight is None else weight), reduction)


def chance(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def entropy_of_logits(x: Any, y: Any, weight: Any, pos: Any, reduction: str = "mean") -> Any:
    loss = -(y * np.log(chance(x)) * (1 if pos is None else pos) + (1 - y) * np.log(chance(-x)))
    return reduced(np.where(y == -100, 0, loss * (1 if weight is None else weight)), reduction)


def focal(x: Any, y: Any, normalizer: Any, alpha: float = 0.25, gamma: float = 2.0, reduction: str = "sum") -> Any:
    p = chance(x)
    right = p * y + (1 - p) * (1 - y)
    loss = (alpha * y + (1 - alpha) * (1 - y)) * (1 - right) ** gamma * entropy_of_logits(x, y, None, None, "none")
    return reduced(loss if normalizer is None else loss / normalizer, reduction)


def multi_label(x: Any, y: Any, weight: Any, reduction: str = "mean") -> Any:
    return reduced(entropy_of_logits(x, y, weight, None, "none").mean(-1), reduction)


def cosine_loss(a: Any, b: Any, y: Any, margin: float = 0.0, reduction: str = "mean") -> Any:
    cosine = (a * b).sum(-1) / np.sqrt(((a * a).sum(-1) + 1e-11) * ((b * b).sum(-1) + 1e-11))
    return reduced(np.where(y == 1, 1 - cosine, np.where(y == -1, np.maximum(cosine - margin, 0), 0)), reduction)


def norm(x: Any, p: float = 2.0, axis: Any = None, keepdim: bool = False) -> Any:
    axis = None if axis is None else tuple(axis)
    size = np.abs(x)
    if p in (np.inf, -np.inf):
        return (np.max if p > 0 else np.min)(size, axis=axis, keepdims=keepdim)
    if p == 0:
        return np.sum(x != 0, axis=axis, keepdims=keepdim) + 0.0
    return np.sum(size**p, axis=axis, keepdims=keepdim) ** (1 / p)


def distance(x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False) -> Any:
    return norm(x - y + epsilon, p, (-1,), keepdim)


def triplet(
    x: Any,
    near: Any,
    far: Any,
    margin: float = 1.0,
    p: float = 2.0,
    e: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Any:
    apart = distance(x, far, p, e)
    apart = np.minimum(apart, distance(near, far, p, e)) if swap else apart
    return reduced(np.maximum(distance(x, near, p, e) - apart + margin, 0), reduction)


def nll(x: Any, y: Any, weight: Any, ignore: int = -100, reduction: str = "mean") -> Any:
    kept = y != ignore
    safe = np.where(kept, y, 0)
    weights = kept * (1.0 if weight is None else weight[safe])
    loss = -np.take_along_axis(x, np.expand_dims(safe, 1), 1).squeeze(1) * weights
    return loss.sum() / weights.sum() if reduction == "mean" else reduced(loss, reduction)


def logsumexp(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=None if axis is None else tuple(axis), keepdims=keepdim))


def along(w: Any, rank: int, axis: int) -> Any:
    return w.reshape([-1 if a == axis % rank else 1 for a in range(rank)])


def affine(x: Any, weight: Any, bias: Any, axis: int) -> Any:
    x = x if weight is None else x * along(weight, x.ndim, axis)
    return x if bias is None else x + along(bias, x.ndim, axis)


def standard(x: Any, axes: tuple[int, ...], epsilon: float) -> Any:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def group_norm(x: Any, w: Any, b: Any, groups: int = 1, epsilon: float = 1e-5, last: bool = False) -> Any:
    y = np.moveaxis(x, -1, 1) if last else x
    y = standard(y.reshape(len(x), groups, -1), (2,), epsilon).reshape(y.shape)
    return affine(np.moveaxis(y, 1, -1) if last else y, w, b, -1 if last else 1)


def batch_norm(x: Any, mean: Any, variance: Any, w: Any, b: Any, epsilon: float = 1e-5, axis: int = 1) -> Any:
    y = (x - along(mean, x.ndim, axis)) / np.sqrt(along(variance, x.ndim, axis) + epsilon)
    return affine(y, w, b, axis)


def variance(x: Any, axis: Any = None, correction: float = 1.0, keepdim: bool = False) -> Any:
    return np.var(x, axis=None if axis is None else tuple(axis), ddof=correction, keepdims=keepdim)


def similarity(a: Any, b: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    a, b = np.broadcast_arrays(a, b)
    return (a * b).sum(axis) / np.maximum(norm(a, 2, (axis,)) * norm(b, 2, (axis,)), eps)


class Oracle(NamedTuple):
    """What a row should answer, operands that it has an answer and a slope for, and attributes to try.

    Attributes:
        fixed: operands of which no gradient is asked: labels.
        result: the dtype of the result, where that is not the one that floats are tried in.
        dtypes: those that floats are tried in, without 'float32'.
    """

    numpy: Callable[..., Any]
    operands: Callable[[], list[Any]]
    settings: list[list[Any]]
    fixed: tuple[int, ...] = ()
    result: str = ""
    dtypes: tuple[str, ...] = ("float16", "bfloat16", "float64")


def scaled(x: Any, factor: Any, scale: float = 1.0, bias: float = 0.0, after: bool = True) -> Any:
    times = scale if factor is None else factor.reshape([])
    return x * times + bias if after else (x + bias) * times


def without_nan(x: Any, nan: float = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    return np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)


def between(x: Any, y: Any, p: float = 2.0, product: bool = False) -> Any:
    return norm(x[..., :, None, :] - y[..., None, :, :], p, (-1,))


def areas(y: Any, x: Any, spacing: Any, dx: float = 1.0, axis: int = -1) -> Any:
    y = np.moveaxis(y, axis, -1)
    step = np.diff(x) if x is not None and x.ndim == 1 else None if x is None else np.diff(np.moveaxis(x, axis, -1))
    width = step if step is not None else dx if spacing is None else spacing
    return np.moveaxis((y[..., 1:] + y[..., :-1]) / 2 * width, -1, axis)


def shrunk(x: Any, p: float = 2.0, axis: int = 0, most: float = 1.0) -> Any:
    size = norm(x, p, [a for a in range(x.ndim) if a != axis % x.ndim], True)
    return np.where(size > most, x * most / size, x)


def largest_channel(x: Any, groups: int = 2, axis: int = 1) -> Any:
    y = np.moveaxis(x, axis, -1)
    return np.moveaxis(y.reshape(*y.shape[:-1], -1, groups).max(-1), -1, axis)


def log_softmax(x: Any, axis: int) -> Any:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def cross_entropy(
    x: Any,
    y: Any,
    weight: Any,
    ignore: int = -100,
    reduction: str = "mean",
    soft: bool = False,
    axis: int = -1,
    softmax: bool = True,
) -> Any:
    logs = log_softmax(x, axis) if softmax else np.log(x)
    every = 1.0 if weight is None else along(weight, x.ndim, axis)
    if soft:
        loss, weights = -(logs * y).sum(axis, keepdims=True), (y * every).sum(axis, keepdims=True)
        loss = loss if weight is None else loss * weights
    else:
        kept = y != ignore
        safe = np.where(kept, y, 0)
        weights = kept * (1.0 if weight is None else weight[safe])
        loss = -np.take_along_axis(logs, safe, axis) * weights
    if reduction == "mean" and (weight is not None or (not soft and ignore >= 0)):
        return loss.sum() / weights.sum()
    return reduced(loss, reduction)


def dice(x: Any, classes: Any, epsilon: float = 1e-5) -> Any:
    axes = tuple(range(1, x.ndim))
    return np.mean(1 - 2 * (x * classes).sum(axes) / (x.sum(axes) + classes.sum(axes) + epsilon))


def pairs(a: Any, p: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    same = labels[:, None] == labels[None]
    target = same / same.sum(1, keepdims=True)
    loss = cross_entropy(a @ p.T, target, None, -100, "none", True, 1)
    return l2_reg / 4 * ((a * a).sum(1).mean() + (p * p).sum(1).mean()) + (target * loss).sum(0).mean()


def multi_margin(x: Any, y: Any, weight: Any, p: float = 1.0, margin: float = 1.0, reduction: str = "mean") -> Any:
    rows = np.arange(len(x))
    terms = np.maximum(x - x[rows, y][:, None] + margin, 0) ** p
    terms[rows, y] = 0
    return reduced(terms.mean(1) * (1 if weight is None else weight[y]), reduction)


def multi_label_margin(x: Any, y: Any, reduction: str = "mean") -> Any:
    losses = []
    for row, labels in zip(x, y):
        named = list(labels[: [*labels, -1].index(-1)])
        rest = [c for c in range(len(row)) if c not in named]
        losses.append(sum(max(0.0, 1 - row[a] + row[c]) for a in named for c in rest) / len(row))
    return reduced(np.array(losses), reduction)


def nan_median(x: Any, axis: int = -1, low: bool = False) -> Any:
    lines, values, places = np.moveaxis(x, axis, -1), [], []
    for line in lines:
        known = np.flatnonzero(~np.isnan(line))
        order = known[np.argsort(line[known], kind="stable")]
        middle = order[(len(order) - 1) // 2] if len(order) else -1
        places.append(middle)
        values.append(np.nan if middle < 0 else line[middle] if low else np.median(line[known]))
    return tuple(np.expand_dims(np.array(v), axis) for v in (values, places))


def one_hot(n: int, classes: int) -> Any:
    return np.eye(classes)[rng.integers(0, classes, n)]


TWO = lambda: [floats(3, 4), floats(3, 4)]  # noqa: E731
EACH = [["mean"], ["sum"], ["none"]]

ORACLES: dict[str, Oracle] = {
    "mse_loss": Oracle(lambda x, y, r="mean": reduced((x - y) ** 2, r), TWO, EACH),
    "square_error_cost": Oracle(lambda x, y: (x - y) ** 2, TWO, [[]]),
    "l1_loss": Oracle(lambda x, y, r="mean": reduced(np.abs(x - y), r), TWO, EACH),
    "smooth_l1_loss": Oracle(smooth_l1, TWO, [["mean", 1.0, True], ["none", 0.3, True], ["sum", 0.3, False]]),
    "log_loss": Oracle(
        lambda x, y, e=1e-4: -y * np.log(x + e) - (1 - y) * np.log(1 - x + e), lambda: [shares(5, 1), shares(5, 1)], [[], [0.01]]
    ),
    "kl_div": Oracle(
        kl_div, lambda: [floats(3, 4), shares(3, 4)], [["mean"], ["batchmean"], ["none", True], ["sum"]]
    ),
    "poisson_nll_loss": Oracle(
        poisson, lambda: [shares(3, 4), 3 * shares(3, 4)], [[], [False, True, 1e-8, "sum"], [True, True, 1e-8, "none"]]
    ),
    "gaussian_nll_loss": Oracle(
        gaussian, lambda: [floats(3, 4), floats(3, 4), shares(3, 4)], [[], [True, 1e-6, "sum"], [False, 0.01, "none"]]
    ),
    "margin_ranking_loss": Oracle(
        lambda x, y, z, m=0.0, r="mean": reduced(np.maximum(z * (y - x) + m, 0), r),
        lambda: [floats(3, 4), floats(3, 4), signs(3, 4)],
        [[], [0.5, "none"]],
        (2,),
    ),
    "hinge_embedding_loss": Oracle(hinge, lambda: [floats(3, 4), signs(3, 4)], [[], [0.5, "none"]], (1,)),
    "soft_margin_loss": Oracle(
        lambda x, y, r="mean": reduced(np.log1p(np.exp(-y * x)), r), lambda: [floats(3, 4), signs(3, 4)], EACH, (1,)
    ),
    "label_smooth": Oracle(label_smooth, lambda: [shares(3, 4), None if rng.random() < 0.5 else shares(1, 4)], [[], [0.3]]),
    "binary_cross_entropy_loss": Oracle(
        entropy, lambda: [shares(3, 4), shares(3, 4), shares(4)], [[], [1e-12, "sum"], [1e-12, "none"]]
    ),
    "binary_cross_entropy_with_logits": Oracle(
        entropy_of_logits, lambda: [floats(3, 4), shares(3, 4), shares(3, 4), shares(4)], EACH
    ),
    "sigmoid_focal_loss": Oracle(
        focal, lambda: [floats(3, 4), bits(3, 4), shares(1)], [[], [0.4, 0.5, "none"], [0.25, 3.0, "mean"]], (1,)
    ),
    "multi_label_soft_margin_loss": Oracle(multi_label, lambda: [floats(3, 4), bits(3, 4), shares(4)], EACH, (1,)),
    "cosine_embedding_loss": Oracle(
        cosine_loss, lambda: [floats(3, 4), floats(3, 4), signs(3)], [[], [0.2, "none"], [0.0, "sum"]], (2,)
    ),
    "triplet_margin_loss": Oracle(
        triplet,
        lambda: [floats(3, 4), floats(3, 4), floats(3, 4)],
        [[], [3.0, 1.0, 1e-6, True, "none"], [5.0, 3.0, 1e-6, False, "sum"], [5.0, float("inf"), 1e-6, True, "sum"]],
    ),
    "nll_loss": Oracle(
        nll,
        lambda: [floats(5, 4, 2), rng.integers(0, 4, (5, 2)), shares(4)],
        [[-100, "mean"], [2, "mean"], [1, "none"], [-100, "sum"]],
        (1,),
    ),
    "root": Oracle(lambda x, p=0.5: x**p, lambda: [shares(3, 4)], [[], [0.3]]),
    "p_norm": Oracle(
        norm,
        lambda: [floats(3, 4, 2)],
        [[], [3.0, [1], True], [1.0, [0, 2], False], [float("inf"), [-1], False], [float("-inf"), [1], True], [0.0, [1], False]],
    ),
    "logsumexp": Oracle(logsumexp, lambda: [floats(3, 4, 2)], [[], [[1], True], [[0, -1], False]]),
    "normalize": Oracle(
        lambda x, p=2.0, a=None, e=1e-12: x / np.maximum(norm(x, p, a, True), e), lambda: [floats(3, 4, 2)], [[], [1.0, [-1]], [3.0, [0, 1]]]
    ),
    "cosine_similarity": Oracle(similarity, lambda: [floats(3, 4), floats(3, 4) if rng.random() < 0.5 else floats(3, 1)], [[], [0]]),
    "pairwise_distance": Oracle(distance, TWO, [[], [1.0, 0.0, True], [3.0, 1e-3, False]]),
    "group_norm": Oracle(
        group_norm, lambda: [floats(2, 4, 3, 4), floats(4), floats(4)], [[2], [4, 1e-3], [2, 1e-5, True], [1, 1e-5, False]]
    ),
    "instance_norm": Oracle(
        lambda x, w, b, e=1e-5: affine(standard(x, (2, 3), e), w, b, 1), lambda: [floats(2, 3, 4, 2), floats(3), floats(3)], [[], [0.1]]
    ),
    "batch_norm_inference": Oracle(
        batch_norm, lambda: [floats(2, 4, 3, 4), floats(4), shares(4), floats(4), floats(4)], [[], [0.1, -1]]
    ),
    "variance": Oracle(variance, lambda: [floats(3, 4, 2)], [[], [[1], 0.0, True], [[0, 2], 1.0, False]]),
    "standard_deviation": Oracle(
        lambda *a: np.sqrt(variance(*a)), lambda: [floats(3, 4, 2)], [[], [[1], 0.0, True], [[0, 2], 1.0, False]]
    ),
    "mean_without_nan": Oracle(
        lambda x, a=None, k=False: np.nanmean(x, axis=None if a is None else tuple(a), keepdims=k),
        lambda: [np.where(rng.random((3, 4)) < 0.2, np.nan, floats(3, 4))],
        [[], [[0], True]],
    ),
    "lerp": Oracle(lambda x, y, w: x + w * (y - x), lambda: [floats(3, 4), floats(4), floats(3, 1)], [[]]),
    "logit": Oracle(
        lambda x, e=0.0: np.log(np.clip(x, e, 1 - e) / (1 - np.clip(x, e, 1 - e))), lambda: [shares(3, 4)], [[], [0.2]]
    ),
    "sinc": Oracle(np.sinc, lambda: [floats(3, 4)], [[]]),
    "stanh": Oracle(lambda x, a=0.67, b=1.7159: b * np.tanh(a * x), lambda: [floats(3, 4)], [[], [2.0, -0.5]]),
    "hypot": Oracle(np.hypot, lambda: [floats(3, 4), floats(4)], [[]]),
    "frac": Oracle(lambda x: x - np.trunc(x), lambda: [floats(3, 4) * 3], [[]]),
    "heaviside": Oracle(np.heaviside, lambda: [floats(3, 4) * bits(3, 4), floats(4)], [[]], (0,)),
    "ldexp": Oracle(lambda x, y: x * 2.0**y, TWO, [[]]),
    "nan_to_num": Oracle(
        without_nan, lambda: [np.where(rng.random((4, 5)) < 0.5, rng.choice([np.nan, np.inf, -np.inf], (4, 5)), floats(4, 5))],
        [[0.0, 3.0, -4.0], [2.5, 100.0, 0.0]], dtypes=("float64",),
    ),
    "isneginf": Oracle(np.isneginf, lambda: [np.where(bits(3, 4), np.inf, 1) * signs(3, 4)], [[]], (0,), "bool"),
    "isposinf": Oracle(np.isposinf, lambda: [np.where(bits(3, 4), np.inf, 1) * signs(3, 4)], [[]], (0,), "bool"),
    "isclose": Oracle(
        lambda x, y, r=1e-5, a=1e-8, e=False: (np.abs(x - y) <= a + r * np.abs(y)) | (x == y) | (e & np.isnan(x) & np.isnan(y)),
        lambda: [np.array([[1.0, 2.0, np.nan], [np.inf, -np.inf, 4.0]]), np.array([[1.25, 2.0, np.nan], [np.inf, np.inf, 4.5]])],
        [[], [0.25, 0.1], [0.0, 0.3, True]], (0, 1), "bool",
    ),
    "allclose": Oracle(
        lambda x, y, r=1e-5, a=1e-8, e=False: np.allclose(x, y, r, a, e),
        lambda: [np.array([[1.0, 2.0, np.nan]]), np.array([[1.25, 2.0, np.nan]])],
        [[], [0.25, 0.1], [0.0, 0.3, True]], (0, 1), "bool",
    ),
    "equal_all": Oracle(lambda x, y: np.array_equal(x, y), lambda: [np.ones((3, 4)), np.ones((3, 4))], [[]], (0, 1), "bool"),
    "equal_all/other": Oracle(lambda x, y: np.array_equal(x, y), TWO, [[]], (0, 1), "bool"),
    "angle": Oracle(np.angle, lambda: [floats(3, 4)], [[]], (0,)),
    "lcm": Oracle(
        np.lcm, lambda: [rng.integers(-9, 9, (3, 4)), rng.integers(0, 9, (4,))], [[]], (0, 1), "int64"
    ),
    "signbit": Oracle(np.signbit, lambda: [floats(3, 4) * bits(3, 4)], [[]], (0,), "bool"),
    "deg2rad": Oracle(np.deg2rad, lambda: [floats(3, 4) * 90], [[]]),
    "rad2deg": Oracle(np.rad2deg, lambda: [floats(3, 4)], [[]]),
    "scale": Oracle(scaled, lambda: [floats(3, 4), None if rng.random() < 0.5 else floats(1)], [[], [2.5, -1.0], [0.5, 3.0, False]]),
    "nansum": Oracle(
        lambda x, a=None, d=None, k=False: np.nansum(x, None if a is None else tuple(a), keepdims=k),
        lambda: [np.where(rng.random((3, 4)) < 0.2, np.nan, floats(3, 4))], [[], [[0], None, True]],
    ),
    "dot": Oracle(lambda x, y: (x * y).sum(-1), TWO, [[]]),
    "outer": Oracle(np.outer, lambda: [floats(3), floats(2, 2)], [[]]),
    "cross": Oracle(lambda x, y, a=-1: np.cross(x, y, axis=a), lambda: [floats(3, 3), floats(3, 3)], [[], [0]]),
    "addmm": Oracle(
        lambda i, x, y, b=1.0, a=1.0: b * i + a * (x @ y), lambda: [floats(5), floats(3, 4), floats(4, 5)], [[], [0.5, -2.0], [0.0, 3.0]]
    ),
    "baddbmm": Oracle(
        lambda i, x, y, b=1.0, a=1.0: b * i + a * (x @ y), lambda: [floats(2, 1, 5), floats(2, 3, 4), floats(2, 4, 5)], [[], [0.5, -2.0]]
    ),
    "dist": Oracle(lambda x, y, p=2.0: norm(x - y, p), TWO, [[], [3.0], [float("inf")]]),
    "cdist": Oracle(between, lambda: [floats(2, 3, 4), floats(2, 5, 4)], [[], [1.0], [2.0, True]]),
    "trapezoid_areas": Oracle(areas, lambda: [floats(3, 4), floats(4), None], [[], [1.0, 1]]),
    "trapezoid_areas/even": Oracle(areas, lambda: [floats(3, 4), None, floats(1)], [[], [1.0, 0]]),
    "trapezoid": Oracle(lambda *a: areas(*a).sum(a[-1] if len(a) > 4 else -1), lambda: [floats(3, 4), floats(3, 4), None], [[], [1.0, 0]]),
    "trapezoid/even": Oracle(lambda *a: areas(*a).sum(a[-1] if len(a) > 4 else -1), lambda: [floats(3, 4), None, None], [[], [0.5, 0]]),
    "cumulative_trapezoid": Oracle(
        lambda *a: areas(*a).cumsum(a[-1] if len(a) > 4 else -1), lambda: [floats(3, 4), None if rng.random() < 0.5 else floats(3, 4), None], [[], [0.5, 0]]
    ),
    "diff": Oracle(lambda x, a=-1: np.diff(x, axis=a), lambda: [floats(3, 4)], [[], [0]]),
    "bilinear": Oracle(
        lambda x, y, w, b: np.einsum("na,kab,nb->nk", x, w, y) + b, lambda: [floats(3, 4), floats(3, 2), floats(5, 4, 2), floats(1, 5)], [[]]
    ),
    "tril": Oracle(lambda x, k=0: np.tril(x, k), lambda: [floats(2, 3, 4)], [[], [1], [-1]]),
    "triu": Oracle(lambda x, k=0: np.triu(x, k), lambda: [floats(2, 3, 4)], [[], [1], [-1]]),
    "renorm": Oracle(shrunk, lambda: [floats(3, 4)], [[], [1.0, 1, 2.0], [3.0, -1, 0.5]]),
    "maxout": Oracle(largest_channel, lambda: [floats(2, 4, 3, 4)], [[], [4], [2, 3]]),
    "take_along_axis": Oracle(
        lambda x, i, a=0: np.take_along_axis(x, i, a), lambda: [floats(3, 3), rng.integers(-3, 3, (3, 3))], [[], [1]], (1,)
    ),
    "cross_entropy": Oracle(
        cross_entropy, lambda: [floats(5, 4), rng.integers(0, 4, (5, 1)), None if rng.random() < 0.5 else shares(4)],
        [[], [2], [-100, "none"], [1, "sum"]], (1,),
    ),
    "cross_entropy/axis": Oracle(
        cross_entropy, lambda: [shares(2, 4, 3), rng.integers(0, 4, (2, 1, 3)), shares(4)],
        [[-100, "mean", False, 1], [3, "mean", False, 1, False]], (1,),
    ),
    "cross_entropy/soft": Oracle(
        cross_entropy, lambda: [shares(5, 4), shares(5, 4), shares(4)], [[-100, "mean", True], [-100, "none", True, -1, False], [-100, "sum", True, 1]]
    ),
    "dice_loss": Oracle(dice, lambda: [shares(3, 4), one_hot(3, 4)], [[], [0.1]]),
    "npair_loss": Oracle(pairs, lambda: [floats(4, 3), floats(4, 3), rng.integers(0, 2, 4)], [[], [0.5]], (2,)),
    "multi_margin_loss": Oracle(
        multi_margin, lambda: [floats(5, 4), rng.integers(0, 4, 5), shares(4)], [[], [2.0, 0.5, "none"], [1.0, 2.0, "sum"]], (1,)
    ),
    "multi_label_margin_loss": Oracle(
        multi_label_margin, lambda: [floats(2, 4), np.array([[1, 3, -1, 0], [2, -1, -1, -1]])], EACH, (1,)
    ),
    "batch_norm_training": Oracle(
        lambda x, w, b, e=1e-5, a=1: (
            affine(standard(x, tuple(i for i in range(x.ndim) if i != a % x.ndim), e), w, b, a),
            *(f(x, tuple(i for i in range(x.ndim) if i != a % x.ndim)) for f in (np.mean, np.var)),
        ),
        lambda: [floats(3, 4, 2), shares(4), None if rng.random() < 0.5 else floats(4)], [[], [0.1, 1]],
    ),
    "batch_norm_training/last": Oracle(
        lambda x, w, b, e=1e-5, a=-1: (affine(standard(x, (0, 1), e), w, b, a), x.mean((0, 1)), x.var((0, 1))),
        lambda: [floats(3, 4, 2), shares(2), floats(2)], [[0.1, -1]],
    ),
    "moving_average": Oracle(lambda x, y, m=0.9: x * m + y * (1 - m), TWO, [[], [0.3]]),
    "matrix_sums_norm": Oracle(
        lambda x, p=1.0, r=-2, c=-1, k=False: np.linalg.norm(np.moveaxis(x, (r, c), (-2, -1)), p, (-2, -1)).reshape([1 if i in (r % x.ndim, c % x.ndim) else n for i, n in enumerate(x.shape) if k or i not in (r % x.ndim, c % x.ndim)]),
        lambda: [floats(2, 3, 4)], [[], [-1.0], [np.inf, 0, 2], [-np.inf, 2, 1, True]],
    ),
    "linear": Oracle(lambda x, w, b: x @ w + (0 if b is None else b), lambda: [floats(2, 3, 4), floats(4, 5), None if rng.random() < 0.5 else floats(5)], [[]]),
    "inner": Oracle(np.inner, lambda: [floats(2, 3), floats(4, 2, 3)], [[]]),
    "kron": Oracle(np.kron, lambda: [floats(2, 3), floats(3)], [[]]),
    "trace": Oracle(lambda x, o=0, a=0, b=1: np.trace(x, o, a, b), lambda: [floats(3, 4, 2)], [[], [1], [-1, 1, 2], [0, -1, 0]]),
    "cov": Oracle(lambda x, w, d, c=1.0: np.cov(x, ddof=int(c)), lambda: [floats(3, 4), None, None], [[], [0.0]]),
    "cov/weights": Oracle(
        lambda x, w, d, c=1.0: ((x - (x * w).sum(1, keepdims=True) / w.sum()) * w) @ (x - (x * w).sum(1, keepdims=True) / w.sum()).T / d,
        lambda: [floats(3, 4), shares(4), np.array(2.5)], [[]],
    ),
    "corrcoef": Oracle(np.corrcoef, lambda: [floats(3, 6)], [[]]),
    "median_along": Oracle(
        lambda x, a=-1, low=False: (
            np.expand_dims(np.sort(x, a).take((x.shape[a] - 1) // 2, a) if low else np.median(x, a), a),
            np.expand_dims(np.argsort(x, a, kind="stable").take((x.shape[a] - 1) // 2, a), a),
        ),
        lambda: [floats(3, 4, 5)], [[-1, True], [1, True]],
    ),
    "median_along/mean": Oracle(
        lambda x, a=-1, low=False: (np.median(x, a, keepdims=True), np.expand_dims(np.argsort(x, a, kind="stable").take((x.shape[a] - 1) // 2, a), a)),
        lambda: [floats(3, 4, 5)], [[], [1]], dtypes=("float64",),
    ),
    "median_without_nan": Oracle(
        nan_median, lambda: [np.where(rng.random((3, 5)) < 0.3, np.nan, floats(3, 5))], [[], [-1, True], [0]], dtypes=("float64",)
    ),
    "kthvalue": Oracle(
        lambda x, k=1, a=-1: (np.expand_dims(np.sort(x, a).take(k - 1, a), a), np.expand_dims(np.argsort(x, a, kind="stable").take(k - 1, a), a)),
        lambda: [floats(3, 4)], [[], [3], [2, 0]],
    ),
    "embedding_rows": Oracle(lambda i, w: w[i], lambda: [rng.integers(0, 5, (2, 3)), floats(5, 4)], [[]], (0,)),
}  # fmt: skip
ORACLES.update({name: Oracle(*given) for name, given in oracles_image.ORACLES.items()})

CASES = [
    pytest.param(name, setting, id=f"{name}-{i}") for name, o in ORACLES.items() for i, setting in enumerate(o.settings)
]
SLOPES = [
    case
    for case in CASES
    for oracle in [ORACLES[str(case.values[0])]]
    if not oracle.result and len(oracle.fixed) < len(oracle.operands())
]


def row_of(name: str) -> Any:
    """The row of an oracle; behind a slash stands which operands it is for."""
    return TABLE[name.split("/")[0]]


def test_every_formula_has_an_oracle() -> None:
    assert len(FORMULAS) > 40 and len(set(FORMULAS)) == len(FORMULAS)
    assert set(ROWS) == {name.split("/")[0] for name in ORACLES}


def tensors(arrays: list[Any], dtype: str, place: str, view: bool) -> list[Any]:
    """Operands; as views they are neither contiguous nor at the beginning of their memory."""
    made: list[Any] = []
    for a in arrays:
        if a is None:
            made.append(None)
            continue
        a = np.asarray(a)
        t = paddle.to_tensor(a if a.dtype != "float64" or dtype == "float64" else a.astype("float32"), place=place)
        t = t if a.dtype != "float64" or dtype == "float64" else t.astype(dtype)
        if view and t.ndim > 1:
            order = list(range(t.ndim))[::-1]
            t = paddle.concat(
                [paddle.zeros([1, *t.transpose(order).shape[1:]], t.dtype).to(place), t.transpose(order)]
            )[1:]
            t = t.transpose(order)
        made.append(t)
    return made


def call(name: str, operands: list[Any], setting: list[Any]) -> Any:
    row = row_of(name)
    defaults = [a["default"] for a in row["attrs"]][len(setting) :]
    return getattr(ops, row["name"])(*operands, *setting, *defaults)


def listed(found: Any) -> list[Any]:
    """The results of a row, or those of its oracle."""
    return list(found) if isinstance(found, (list, tuple)) else [found]


def smooth(found: Any) -> list[Any]:
    """Those that are floats, and may have gradients."""
    return [
        t
        for t in listed(found)
        if (t.dtype.is_floating if isinstance(t, paddle.Tensor) else np.asarray(t).dtype.kind == "f")
    ]


PLACES = ["cpu", "mps:0"]


@pytest.fixture(params=PLACES)
def place(request: Any) -> str:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return str(request.param)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_answers(name: str, setting: list[Any], place: str) -> None:
    arrays = ORACLES[name].operands()
    bounds = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 1e-1, "float64": 1e-12}
    for dtype, bound in bounds.items():
        if (dtype == "float64" and place != "cpu") or dtype not in ("float32", *ORACLES[name].dtypes):
            continue
        for view in (False, True):
            given = tensors(arrays, dtype, place, view)
            first = listed(call(name, given, setting))
            held = [
                None if t is None else t.astype("float32").numpy() if t.dtype != paddle.float64 else t.numpy()
                for t in given
            ]
            wide = [
                h if h is None or h.dtype != "float32" or a.dtype != "float64" else h.astype("float64")
                for h, a in zip(held, arrays)
            ]
            wide = [a if a is not None and a.dtype.kind == "i" else h for h, a in zip(wide, arrays)]
            exact = [np.asarray(e) for e in listed(ORACLES[name].numpy(*wide, *setting))]
            assert len(first) == len(exact) and first[0].dtype == getattr(paddle, ORACLES[name].result or dtype)
            for result, e in zip(first, exact):
                assert list(result.shape) == list(e.shape)
                got, e = result.astype("float64" if place == "cpu" else "float32").numpy(), e.astype("float64")
                np.testing.assert_allclose(got, e, rtol=bound, atol=bound * max(1, np.nanmax(np.abs(e), initial=0)))
            traced = paddle.jit.to_static(lambda *t: listed(call(name, list(t), setting)))
            again = [listed(call(name, given, setting)) for _ in range(2)]  # the second call of a kind is one program
            for found in [*again, *([traced(*given)] if None not in given else [])]:
                for got, want in zip(found, first):
                    np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_result_in_the_memory_of_an_operand(name: str, setting: list[Any], place: str) -> None:
    """The result may lie where an operand does, or overlap it."""
    arrays, attributes = ORACLES[name].operands(), row_of(name)["attrs"]
    for i, a in enumerate(arrays):
        given = tensors(arrays, "float32", place, False)
        first = call(name, given, setting)
        if isinstance(first, list):
            pytest.skip("several results have no memory in common")
        if a is None or a.dtype.kind != "f" or first.numel() > given[i].numel() or ORACLES[name].result:
            continue
        for start in (0, 1):
            memory = paddle.zeros([given[i].numel() + 1]).to(place)
            given[i] = memory[: memory.numel() - 1].reshape(given[i].shape).copy_(given[i])
            assert given[i].data_ptr() == memory.data_ptr()
            out = memory[start : start + first.numel()].reshape(first.shape)
            values = [*setting, *(a["default"] for a in attributes[len(setting) :])]
            chosen = suite.attributes(row_of(name), {a["name"]: v for a, v in zip(attributes, values)})
            _call.call_into(row_of(name)["id"], given, chosen, out)
            np.testing.assert_array_equal(
                out.numpy(), first.numpy(), err_msg=f"operand {i}, {start} behind its beginning"
            )
            given = tensors(arrays, "float32", place, False)


def slopes(function: Callable[..., Any], arrays: list[Any], wanted: list[int], weights: Any) -> list[Any]:
    """The gradients of the weighted sum of results, by central differences."""
    found = []
    for i in wanted:
        slope = np.zeros_like(arrays[i])
        for at in np.ndindex(*arrays[i].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved: list[Any] = [None if a is None else np.array(a) for a in arrays]
                moved[i][at] += step
                ends.append(sum(np.nansum(f * w) for f, w in zip(smooth(function(*moved)), weights)))
            slope[at] = (ends[0] - ends[1]) / 2e-6
        found.append(slope)
    return found


@pytest.mark.parametrize(("name", "setting"), SLOPES)
def test_gradients(name: str, setting: list[Any]) -> None:
    oracle = ORACLES[name]
    if name == "p_norm" and setting[:1] == [0.0]:
        pytest.skip("a step function")
    arrays = oracle.operands()
    wanted = [i for i, a in enumerate(arrays) if a is not None and i not in oracle.fixed]
    weights = [rng.uniform(0.5, 2, np.shape(f)) for f in smooth(oracle.numpy(*arrays, *setting))]
    exact = slopes(lambda *a: oracle.numpy(*a, *setting), arrays, wanted, weights)

    def gradients(*t: Any) -> Any:
        found = smooth(call(name, list(t), setting))
        total = sum((f * paddle.to_tensor(np.asarray(w))).sum() for f, w in zip(found, weights))
        return paddle.grad(total, [t[i] for i in wanted], retain_graph=True)

    for view in (False, True):
        given = tensors(arrays, "float64", "cpu", view)
        for i in wanted:
            given[i].stop_gradient = False
        for _ in range(3):
            for got, want in zip(gradients(*given), exact):
                np.testing.assert_allclose(got.numpy(), np.nan_to_num(want), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "setting"), SLOPES)
def test_gradients_of_gradients(name: str, setting: list[Any]) -> None:
    """Along a random direction: the derivative of the gradient is the difference of two gradients."""
    oracle = ORACLES[name]
    arrays = oracle.operands()
    wanted = [i for i, a in enumerate(arrays) if a is not None and i not in oracle.fixed]
    directions = {i: floats(*arrays[i].shape) for i in wanted}

    def gradient(step: float, create: bool = False) -> tuple[Any, Any]:
        moved = [a if i not in directions else a + step * directions[i] for i, a in enumerate(arrays)]
        given = tensors(moved, "float64", "cpu", False)
        for i in wanted:
            given[i].stop_gradient = False
        total = sum((f * f).sum() for f in smooth(call(name, given, setting)))
        return given, paddle.grad(total, [given[i] for i in wanted], create_graph=create, allow_unused=True)

    given, first = gradient(0.0, create=True)
    total = sum((g * paddle.to_tensor(np.asarray(directions[i]))).sum() for i, g in zip(wanted, first))
    if total.stop_gradient:
        pytest.skip("the gradient is the same for all operands")
    second = paddle.grad(total, [given[i] for i in wanted], allow_unused=True)
    got = sum(
        0 if s is None else float((s * paddle.to_tensor(np.asarray(directions[i]))).sum())
        for i, s in zip(wanted, second)
    )
    ends = [
        sum(float((g * paddle.to_tensor(np.asarray(directions[i]))).sum()) for i, g in zip(wanted, gradient(step)[1]))
        for step in (1e-6, -1e-6)
    ]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-4)


# ---- What single calls gave once that was wrong


def test_numbers_beside_labels_of_small_integers_do_not_wrap_around(place: str) -> None:
    x = paddle.to_tensor(np.array([0.2, 0.7], "float32"), place=place)
    label = paddle.to_tensor(np.array([255, 1], "uint8"), place=place)
    np.testing.assert_allclose(F.hinge_embedding_loss(x, label, reduction="none").numpy(), [0, 0.7], rtol=1e-6)
    many = paddle.to_tensor(np.array([2, 0], "uint8"), place=place)
    wanted = F.multi_label_soft_margin_loss(x, many.astype("float32")).numpy()
    for dtype in ("uint8", "int8", "int32", "int64"):
        got = F.multi_label_soft_margin_loss(x, many.astype(dtype))
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operands_that_may_be_left_out_do_not_decide_the_dtype(dtype: str, place: str) -> None:
    x, y = (paddle.to_tensor(shares(3, 4).astype("float32"), place=place).astype(dtype) for _ in range(2))
    weight = paddle.ones([4]).to(place)
    for got in (
        F.binary_cross_entropy(x, y, weight),
        F.binary_cross_entropy_with_logits(x, y, weight, pos_weight=weight),
        F.multi_label_soft_margin_loss(x, y, weight),
        F.sigmoid_focal_loss(x, y, weight[:1]),
        F.cosine_similarity(x, y.astype("float32")),
        F.pairwise_distance(x, y.astype("float32")),
    ):
        assert got.dtype == getattr(paddle, dtype)


def test_none_is_no_reduction() -> None:
    x, nothing = paddle.ones([2, 2]), cast(Any, None)
    for function in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.soft_margin_loss, F.binary_cross_entropy_with_logits):
        with pytest.raises(ValueError, match=r"reduction is None; want one of 'mean', 'sum', 'none'"):
            function(x, x, reduction=nothing)
    assert F.kl_div(x, x, reduction=nothing).shape == [2, 2]
    np.testing.assert_allclose(F.normalize(x, axis=nothing).numpy(), np.full((2, 2), 0.5))
    with pytest.raises(TypeError, match="ignore_index"):
        F.nll_loss(x, paddle.zeros([2], "int64"), ignore_index=nothing)
    assert paddle.std(x, unbiased=nothing) == 0


def test_losses_of_classes_are_saved_for_any_batch(tmp_path: Any) -> None:
    spec = [paddle.static.InputSpec([None, 3], "float32"), paddle.static.InputSpec([None], "int64")]
    function = paddle.jit.to_static(lambda x, label: F.nll_loss(x, label), input_spec=spec)
    paddle.jit.save(function, str(tmp_path / "loss"), input_spec=spec)
    loaded = paddle.jit.load(str(tmp_path / "loss"))
    for n in (1, 2, 5):
        x, label = paddle.to_tensor(floats(n, 3).astype("float32")), paddle.to_tensor(rng.integers(0, 3, n))
        np.testing.assert_array_equal(loaded(x, label).numpy(), F.nll_loss(x, label).numpy())


def test_later_errors_name_the_function_that_was_called() -> None:
    """A row that is a part of a function is no name that a program knows."""
    x, mean, variance = paddle.ones([2, 3]), paddle.zeros([3]), paddle.ones([3])
    x.stop_gradient = False
    result = F.batch_norm(x, mean, variance)
    variance.add_(paddle.ones([3]))
    with pytest.raises(GradientError, match=r"\[batch_norm\] its operand .* was changed in place"):
        result.sum().backward()
    result = paddle.var(x)
    result.backward()
    with pytest.raises(GradientError, match=r"\[var\] a backward pass has gone through"):
        result.backward()


def test_scale_takes_numbers_that_are_no_floats(place: str) -> None:
    """Large integers, integers that wrap in the dtype, complex numbers, and a bias that is a tensor, with its gradient."""
    large = 2**60 + 1
    x = paddle.to_tensor([1, 3], dtype="int64").to(place)
    np.testing.assert_array_equal(paddle.scale(x, large).numpy(), [large, 3 * large])
    np.testing.assert_array_equal(paddle.scale(x, 1, large, bias_after_scale=False).numpy(), [large + 1, large + 3])
    np.testing.assert_array_equal(paddle.scale(x.astype("uint8"), -1).numpy(), [255, 253])
    np.testing.assert_array_equal(paddle.scale(x.astype("int8"), 300).numpy(), [44, -124])
    scale: Callable[..., Any] = paddle.scale
    np.testing.assert_array_equal(scale(paddle.to_tensor([1j]), 2j, 1).numpy(), [-1])
    bias = paddle.to_tensor(2.0, stop_gradient=False).to(place)
    given = paddle.ones([2, 3]).to(place)
    for function in (scale, paddle.jit.to_static(lambda *given: scale(*given), full_graph=True)):
        made = function(given, 3.0, bias)
        np.testing.assert_array_equal(made.numpy(), np.full((2, 3), 5))
        np.testing.assert_array_equal(paddle.grad(made.sum(), bias)[0].numpy(), 6)


def test_complex_numbers_are_indexed_and_added() -> None:
    x, index = np.array([[1j, 2], [3, 4j]]), np.array([[1, 0], [0, 0]])
    c, i = paddle.to_tensor(x, stop_gradient=False), paddle.to_tensor(index)
    wanted = np.take_along_axis(x, index, 1)
    traced = paddle.jit.to_static(lambda x, i: paddle.index_sample(x, i), full_graph=True)
    for got in (paddle.take_along_axis(c, i, 1), paddle.index_sample(c, i), traced(c.detach(), i)):
        np.testing.assert_array_equal(got.numpy(), wanted)
    np.testing.assert_array_equal(paddle.grad(paddle.index_sample(c, i).real().sum(), c)[0].numpy(), [[1, 1], [2, 0]])
    np.testing.assert_allclose(paddle.nansum(c).numpy(), x.sum())
    single = paddle.nansum(c, axis=0, dtype="complex64", keepdim=True)
    assert single.dtype == paddle.complex64
    np.testing.assert_allclose(single.numpy(), x.sum(0, keepdims=True))


def test_medians_of_integers_without_nan_are_exact(place: str) -> None:
    for dtype, low in (("int64", 2**60 + 1), ("int32", 2**24 + 1), ("uint8", 201)):
        for values, wanted in (([low, low, 3], low), ([low, low], low), ([low + 2, low], low + 1)):
            x = paddle.to_tensor(np.array(values, dtype), place=place)
            got = paddle.nanmedian(x)
            assert (got.dtype, int(got)) == (x.dtype, wanted)
    with pytest.raises(NotImplementedError, match="bool"):
        paddle.nanmedian(paddle.to_tensor([True, False]))


def test_a_place_in_the_order_is_found_of_bools(place: str) -> None:
    values, _ = paddle.kthvalue(paddle.to_tensor([[True, False, True]], place=place), 2)
    assert values.dtype == paddle.bool and values.tolist() == [True]


@pytest.mark.parametrize("shape", [(3, 0, 0), (0, 2, 0), (2, 0, 3), (0, 0), (0, 3)])
def test_inner_has_the_shape_of_all_axes_but_the_last(shape: tuple[int, ...], place: str) -> None:
    x = paddle.zeros(shape).to(place)
    x.stop_gradient = False
    for y in (x, paddle.ones([4, shape[-1]]).to(place)):
        got = paddle.inner(x, y)
        np.testing.assert_array_equal(got.numpy(), np.inner(np.zeros(shape), y.numpy()))
        assert paddle.grad(got.sum(), x)[0].shape == list(shape)


def test_offsets_far_outside_leave_nothing(place: str) -> None:
    x = paddle.ones([2, 3]).to(place)
    for offset in (-(2**63), 2**63 - 1, -5, 5):
        assert paddle.trace(x, offset) == 0
        wanted = 6 if offset > 0 else 0
        assert (float(paddle.tril(x, offset).sum()), float(paddle.triu(x, offset).sum())) == (wanted, 6 - wanted)


def test_linear_of_halves_is_of_halves(place: str) -> None:
    """Also beside parameters of another dtype."""
    for dtype, other in (("float16", "float32"), ("bfloat16", "float32"), ("bfloat16", "float16")):
        x, w, b = paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4])
        got = F.linear(x.to(place).astype(dtype), w.to(place).astype(other), b.to(place))
        assert got.dtype == getattr(paddle, dtype)
        np.testing.assert_array_equal(got.astype("float32").numpy(), np.full((2, 4), 4))


def test_labels_out_of_range_name_the_function() -> None:
    x, label = paddle.ones([2, 3]).cpu(), paddle.to_tensor([0, 7], place="cpu")
    for function in (F.cross_entropy, F.multi_margin_loss):
        for _ in range(3):  # the second call is one program
            with pytest.raises(ValueError, match=rf"^\[{function.__name__}\] index 7 is out of range"):
                function(x, label)
    with pytest.raises(ValueError, match=r"^\[softmax_with_cross_entropy\] index 7 is out of range"):
        F.softmax_with_cross_entropy(x, label.unsqueeze(1))


def test_operands_that_a_gradient_does_not_depend_on_may_be_written_later(place: str) -> None:
    """As in Paddle: a program writes into what tril, a sum or a table of rows was called with, and goes backward."""
    labels, rows = paddle.to_tensor([0, 2], place=place), paddle.to_tensor([[0, 1, 1], [2, 0, 1]], place=place)
    calls: dict[str, Callable[..., Any]] = {
        "tril": lambda x, y: paddle.tril(x), "trace": lambda x, y: paddle.trace(x), "diff": lambda x, y: paddle.diff(x),
        "scale": lambda x, y: paddle.scale(x, 2.0, 1.0), "rad2deg": lambda x, y: paddle.rad2deg(x),
        "take_along_axis": lambda x, y: paddle.take_along_axis(x, rows, 1), "embedding": lambda x, y: F.embedding(labels % 2, x),
        "addmm": lambda x, y: paddle.addmm(x, paddle.ones([2, 4]).to(place), paddle.ones([4, 3]).to(place)),
        "linear": lambda x, y: F.linear(y.detach() @ y.detach().T, paddle.ones([2, 3]).to(place), x[0]),
        "frac": lambda x, y: paddle.frac(x), "l1_loss": lambda x, y: F.square_error_cost(y, y.detach()) + paddle.triu(x),
    }  # fmt: skip
    for name, call in calls.items():
        for _ in range(3):  # the second call is one program
            leaf = paddle.to_tensor(floats(2, 3).astype("float32"), place=place, stop_gradient=False)
            x, y = leaf * 1, paddle.ones([2, 3]).to(place)
            wanted = paddle.grad(call(leaf, y).sum(), leaf)[0].numpy()
            made = call(x, y)
            x.zero_()
            made.sum().backward()
            np.testing.assert_array_equal(leaf.grad.numpy(), wanted, err_msg=name)
    for call in (lambda x: paddle.hypot(x, x), lambda x: F.cross_entropy(x, labels), lambda x: paddle.kron(x, x)):
        leaf = paddle.to_tensor(floats(2, 3).astype("float32"), place=place, stop_gradient=False)
        x = leaf * 1
        made = call(x)
        x.zero_()
        with pytest.raises(RuntimeError, match="was changed in place after the call"):
            made.sum().backward()
