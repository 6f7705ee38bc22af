"""What rows of formulas should answer, in NumPy, with operands and attributes to try: for test_composite_oracles.py and test_builtin.py."""

from __future__ import annotations

import json
import pathlib
import statistics
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import oracles_attention
import oracles_detection
import oracles_image
import oracles_index
import oracles_product
import oracles_sequence
import oracles_step

import paddle_mps as paddle

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = {row["name"]: row for row in json.loads((ROOT / "python/paddle_mps/selftest/table.json").read_text())}

PARTS = (
    oracles_attention,
    oracles_detection,
    oracles_image,
    oracles_index,
    oracles_product,
    oracles_sequence,
    oracles_step,
)

rng = np.random.default_rng(31)


def drawn(name: str, setting: list[Any]) -> list[Any]:
    """The operands of a case: the same whichever cases run before it."""
    for generator in (rng, *(module.rng for module in PARTS)):
        generator.bit_generator.state = np.random.default_rng(
            zlib.crc32(f"{name} {setting}".encode())
        ).bit_generator.state
    return ORACLES[name].operands()


def partly_nan(x: Any) -> Any:
    """A third of the elements become nan, and some are left along each axis."""
    return np.where(np.indices(x.shape).sum(0) % 3 == 0, np.nan, x)


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


def scaled(x: Any, factor: Any, summand: Any, scale: float = 1.0, bias: float = 0.0, after: bool = True) -> Any:
    times, plus = scale if factor is None else factor.reshape([]), bias if summand is None else summand.reshape([])
    return x * times + plus if after else (x + plus) * times


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


def products(*given: Any) -> Any:
    return np.einsum(given[-1], *given[:-1])


def pairs_of(z: Any) -> Any:
    return np.stack([z.real, z.imag], -1)


def spectrum(x: Any, length: int = 0, axis: int = -2, inverse: bool = False, onesided: bool = False) -> Any:
    z = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    axis = axis % x.ndim
    made = (np.fft.ifft if inverse else np.fft.fft)(z, length or None, axis)
    return pairs_of(made.take(range(made.shape[axis] // 2 + 1), axis) if onesided else made)


def half_spectrum(x: Any, length: int, axis: int, *_: bool) -> Any:
    """The real part of the inverse of the spectrum that has x as its first half."""
    n = length or 2 * (x.shape[axis] - 1)
    z = (x[..., 0] + 1j * x[..., 1]).take(range(min(n // 2 + 1, x.shape[axis])), axis)
    weights = np.where((np.arange(z.shape[axis]) == 0) | (2 * np.arange(z.shape[axis]) == n), 1, 2)
    turns = np.exp(2j * np.pi * np.outer(np.arange(z.shape[axis]), np.arange(n)) / n)
    return (np.moveaxis(z, axis, -1) * weights @ turns).real.swapaxes(axis, -1)[..., None] / n


def frames(x: Any, window: Any, length: int = 1, step: int = 1, onesided: bool = True) -> Any:
    parts = np.stack([x[:, i : i + length] for i in range(0, x.shape[1] - length + 1, step)], 1)
    return spectrum(parts if window is None else parts * window[:, None], length, 2, False, onesided)


def root_mean_square(x: Any, axis: Any = None, epsilon: float = 1e-5, centered: bool = True) -> Any:
    axes = tuple(range(x.ndim)) if axis is None else tuple(axis)
    mean = x.mean(axes, keepdims=True)
    apart = x - mean if centered else x
    inverse = 1 / np.sqrt((apart**2).mean(axes, keepdims=True) + epsilon)
    return apart * inverse, mean, inverse


def quantized(x: Any, scale: Any, zero: Any, low: float = 0.0, high: float = 255.0) -> Any:
    return np.clip(np.round(x / scale) + zero, low, high)


def dynamic(x: Any) -> Any:
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = (high - low) / 255 or 1
    zero = np.round(-low / scale)
    return np.round(x / scale) + zero, scale, zero


def rounded(x: Any, bits: int = 8, kind: int = 1, axis: int | None = None) -> Any:
    """To integers of a number of bits, and back, with the largest magnitude, of each channel or of all."""
    others = None if axis is None else tuple(i for i in range(x.ndim) if i != axis % x.ndim)
    scale, steps = np.abs(x).max(others, keepdims=True), 2 ** (bits - 1) - 1
    place = x / scale * steps
    nearest = np.rint(place) if kind == 0 else np.sign(place) * np.floor(np.abs(place) + 0.5)
    return nearest / steps * scale, scale.reshape(-1)


def drawn_indices(w: Any, u: Any, count: int = 1, replacement: bool = False) -> Any:
    """With replacement by counting how many parts of the running sum are up to a number, without by exponential waiting times."""
    if not replacement:
        return np.argsort(-np.log(u) / w, axis=-1, kind="stable")[..., :count]
    sums = np.cumsum(w, -1) / w.sum(-1, keepdims=True)
    return (sums[..., None, :] <= u[..., None]).sum(-1)


def truncated(u: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Any:
    normal = statistics.NormalDist(mean, std)
    low, high = normal.cdf(a), normal.cdf(b)
    return np.vectorize(normal.inv_cdf)(low + (high - low) * u)


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
        lambda: [partly_nan(floats(3, 4))],
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
    "scale": Oracle(scaled, lambda: [floats(3, 4), None if rng.random() < 0.5 else floats(1), None if rng.random() < 0.5 else floats(1)], [[1.5, 0.0], [2.5, -1.0], [0.5, 3, False]]),
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
    "linear": Oracle(lambda x, w, b: x @ w + (0 if b is None else b), lambda: [floats(2, 3, 4), floats(4, 5), floats(5)], [[]]),
    "linear/unbiased": Oracle(lambda x, w, b: x @ w, lambda: [floats(2, 3, 4), floats(4, 5), None], [[]]),
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
        nan_median, lambda: [partly_nan(floats(3, 5))], [[], [-1, True], [0]], dtypes=("float64",)
    ),
    "median_without_nan/none": Oracle(nan_median, lambda: [np.full((2, 3), np.nan)], [[]], (0,), dtypes=("float64",)),
    "kthvalue": Oracle(
        lambda x, k=1, a=-1: (np.expand_dims(np.sort(x, a).take(k - 1, a), a), np.expand_dims(np.argsort(x, a, kind="stable").take(k - 1, a), a)),
        lambda: [floats(3, 4)], [[], [3], [2, 0]],
    ),
    "einsum": Oracle(products, lambda: [floats(3, 4), floats(4, 2)], [["ij,jk->ik"], ["ij, jk -> ki"], ["ij,jk"], ["ij,jk->j"], ["ij,jk->"], ["ij,kl->ijl"]]),
    "einsum/one": Oracle(products, lambda: [floats(3, 3, 2)], [["iij->ij"], ["iij"], ["i...->..."], ["abc->cab"], ["abc"]]),
    "einsum/batches": Oracle(products, lambda: [floats(2, 3, 4), floats(1, 4, 3)], [["...ij,...jk->...ik"], ["bij,bjk->kib"], ["...ij,...jk"], ["bij,bji->b"]]),
    "einsum/three": Oracle(products, lambda: [floats(3, 4), floats(2, 3), floats(2, 4)], [["ij,ki,kj->"], ["ij,ki,kj->kji"], ["ij,ki,kl->jl"], ["ij,ki,kj"]]),
    "dft": Oracle(spectrum, lambda: [floats(2, 5, 3, 2)], [[], [0, 1], [4, 1], [6, -3, True], [8, 0, False, True], [0, 1, True]]),
    "dft/real": Oracle(spectrum, lambda: [floats(3, 6, 1)], [[], [0, -2, False, True], [7, 1, True], [0, 0, True]]),
    "dft/half": Oracle(half_spectrum, lambda: [floats(3, 4, 2)], [[0, 1, True, True], [7, 1, True, True], [5, 1, True, True]]),
    "stft": Oracle(frames, lambda: [floats(2, 9, 1), shares(4)], [[4, 2], [4, 3, False]]),
    "stft/pairs": Oracle(frames, lambda: [floats(1, 7, 2), None], [[3, 2, False]]),
    "shrink": Oracle(
        lambda x, t=0.5, b=0.0: np.where(x < -t, x + b, np.where(x > t, x - b, 0)), lambda: [floats(3, 4)], [[], [0.3, 0.2]]
    ),
    "hardmax": Oracle(
        lambda x, a=-1: 1.0 * (np.expand_dims(x.argmax(a), a) == along(np.arange(x.shape[a]), x.ndim, a)), lambda: [floats(3, 4)], [[], [0]], (0,)
    ),
    "standardize": Oracle(root_mean_square, lambda: [floats(3, 4, 2)], [[], [[1], 0.1], [[0, 2], 1e-5, False]]),
    "quantize_linear": Oracle(
        quantized, lambda: [floats(3, 4), shares(4), rng.integers(0, 9, 4)], [[], [-2.0, 2.0]], (0, 1, 2), dtypes=("float64",)
    ),
    "dequantize_linear": Oracle(
        lambda q, scale, zero: (q - (0 if zero is None else zero)) * scale, lambda: [rng.integers(-9, 9, (3, 4)), shares(4), None if rng.random() < 0.5 else rng.integers(0, 9, 4)], [[]], (0, 2)
    ),
    "dequantize_linear/zero": Oracle(
        lambda q, scale, zero: (q - zero) * scale, lambda: [rng.integers(-9, 9, (3, 4)), shares(3, 1), rng.integers(0, 9, 4)], [[]], (0, 2)
    ),
    "dynamic_quantize_linear": Oracle(dynamic, lambda: [floats(3, 4)], [[]], (0,), "uint8", ("float64",)),
    "bernoulli": Oracle(lambda x, u: 1.0 * (u < x), lambda: [shares(3, 4), shares(3, 4)], [[]], (0, 1)),
    "exponential": Oracle(lambda u, lam=1.0: -np.log(u) / lam, lambda: [shares(3, 4)], [[], [2.5]]),
    "cauchy": Oracle(lambda u, loc, s=1.0: np.tan((u - 0.5) * np.pi) * s + loc, lambda: [shares(3, 4), floats(4)], [[], [0.3]]),
    "geometric": Oracle(lambda u, p: np.log(u) / np.log(1 - p), lambda: [shares(3, 4), shares(4)], [[]]),
    "multinomial": Oracle(drawn_indices, lambda: [shares(3, 4), shares(3, 4)], [[], [3], [4, True]], (0, 1), "int64", ("float64",)),
    "truncated_gaussian": Oracle(truncated, lambda: [shares(3, 4)], [[], [1.0, 2.0, -1.0, 4.0]]),
    "fake_quantize_dequantize_abs_max": Oracle(rounded, lambda: [floats(3, 4)], [[], [4], [3, 0]], (0,), dtypes=("float64",)),
    "fake_quantize_dequantize_abs_max/halves": Oracle(rounded, lambda: [np.array([0.5, 1.5, -0.5, -2.5, 3.0])], [[3], [3, 0]], (0,)),
    "fake_channel_wise_quantize_dequantize_abs_max": Oracle(
        lambda x, b=8, k=1, axis=0: rounded(x, b, k, axis), lambda: [floats(3, 4)], [[], [4, 1, 1], [3, 0, -1]], (0,), dtypes=("float64",)
    ),
    "embedding_rows": Oracle(lambda i, w: w[i], lambda: [rng.integers(0, 5, (2, 3)), floats(5, 4)], [[]], (0,)),
}  # fmt: skip
for module in PARTS:
    ORACLES.update({name: Oracle(*given) for name, given in module.ORACLES.items()})


def row_of(name: str) -> Any:
    """The row of an oracle; behind a slash stands which operands it is for."""
    return TABLE[name.split("/")[0]]


def as_arguments(name: str, operands: list[Any]) -> list[Any]:
    """Operands as the function of the row takes them: any number of them, the last ones, are one list."""
    inputs = row_of(name)["inputs"]
    return [*operands[: len(inputs) - 1], operands[len(inputs) - 1 :]] if inputs[-1].get("variadic") else operands


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
