"""Losses beside formulas in NumPy, and what they refuse.

The bound of a sum of n terms is n roundings of each; a function of an element has a few more. 64 of float64 cover all.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.nn import functional as F

T = paddle.to_tensor
Array = Any  # of NumPy, in float64

rng = np.random.default_rng(3)
X, Y, Z = (rng.standard_normal((5, 7)) for _ in range(3))
P, Q = rng.random((5, 7)), rng.random((5, 7))
SIGNS = np.sign(rng.standard_normal((5, 7)))
LABELS, WEIGHT = rng.integers(0, 7, 5), rng.random(7) + 0.5
ONES = (rng.random((5, 7)) > 0.5).astype("float64")


def near(got: Any, want: Any) -> None:
    want = np.asarray(want)
    assert list(got.shape) == list(want.shape)
    scale = max(1.0, float(np.abs(want).max(initial=0.0)))
    assert np.abs(got.numpy() - want).max(initial=0.0) <= 64 * 2.0**-52 * scale


def log_softmax(x: Array, axis: int = -1) -> Array:
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


def log_sigmoid(x: Array) -> Array:
    return -np.log1p(np.exp(-x))


def huber(x: Array, y: Array, delta: float) -> Array:
    d = np.abs(x - y)
    return np.where(d <= delta, d * d / 2, delta * (d - delta / 2))


def focal(x: Array, y: Array) -> Array:
    p = 1 / (1 + np.exp(-x))
    entropy = -y * np.log(p) - (1 - y) * np.log(1 - p)
    return (0.25 * y + 0.75 * (1 - y)) * (1 - (p * y + (1 - p) * (1 - y))) ** 2 * entropy


def stirling(y: Array) -> Array:
    return np.where(y > 1, y * np.log(y) - y + np.log(2 * np.pi * y) / 2, 0)


def margins(x: Array, labels: Array) -> Array:
    """For each row the sum over the other classes, by loops."""
    found = [sum(max(0.5 - row[n] + v, 0) ** 2 for i, v in enumerate(row) if i != n) for row, n in zip(x, labels)]
    return np.array(found) / x.shape[1]


ELEMENTWISE: list[tuple[str, Callable[..., Any], tuple[Array, ...], dict[str, Any], Array]] = [
    ("mse_loss", F.mse_loss, (X, Y), {}, (X - Y) ** 2),
    ("l1_loss", F.l1_loss, (X, Y), {}, np.abs(X - Y)),
    ("smooth_l1_loss", F.smooth_l1_loss, (X, Y), {"delta": 0.7}, huber(X, Y, 0.7)),
    ("huber", F.smooth_l1_loss, (X, Y), {"delta": 0.7, "is_huber": False}, huber(X, Y, 0.7) / 0.7),
    ("kl_div", F.kl_div, (X, P), {}, P * (np.log(P) - X)),
    ("kl_div_log", F.kl_div, (X, Y), {"log_target": True}, np.exp(Y) * (Y - X)),
    ("poisson", F.poisson_nll_loss, (X, Q * 4), {"full": True}, np.exp(X) - Q * 4 * X + stirling(Q * 4)),
    ("poisson_rate", F.poisson_nll_loss, (P, Q), {"log_input": False}, P - Q * np.log(P + 1e-8)),
    ("gaussian", F.gaussian_nll_loss, (X, Y, P), {}, (np.log(P) + (X - Y) ** 2 / P) / 2),
    ("ranking", F.margin_ranking_loss, (X, Y, SIGNS), {"margin": 0.3}, np.maximum(SIGNS * (Y - X) + 0.3, 0)),
    ("hinge", F.hinge_embedding_loss, (X, SIGNS), {}, np.where(SIGNS == 1, X, np.maximum(1 - X, 0))),
    ("soft_margin", F.soft_margin_loss, (X, SIGNS), {}, np.log1p(np.exp(-SIGNS * X))),
    ("bce", F.binary_cross_entropy, (P, Q), {}, -Q * np.log(P) - (1 - Q) * np.log(1 - P)),
    (
        "bce_logits",
        F.binary_cross_entropy_with_logits,
        (X, Q),
        {"pos_weight": T(WEIGHT), "weight": T(WEIGHT)},
        WEIGHT * (-WEIGHT * Q * log_sigmoid(X) - (1 - Q) * log_sigmoid(-X)),
    ),
    ("focal", F.sigmoid_focal_loss, (X, ONES), {}, focal(X, ONES)),
    (
        "multi_label",
        F.multi_label_soft_margin_loss,
        (X, ONES),
        {},
        -(ONES * log_sigmoid(X) + (1 - ONES) * log_sigmoid(-X)).mean(1),
    ),
    (
        "triplet",
        F.triplet_margin_loss,
        (X, Y, Z),
        {"margin": 0.5},
        np.maximum(np.sqrt(((X - Y + 1e-6) ** 2).sum(1)) - np.sqrt(((X - Z + 1e-6) ** 2).sum(1)) + 0.5, 0),
    ),
    ("multi_margin", F.multi_margin_loss, (X, LABELS), {"p": 2, "margin": 0.5}, margins(X, LABELS)),
    ("cross_entropy", F.cross_entropy, (X, LABELS), {}, -log_softmax(X)[np.arange(5), LABELS]),
]


@pytest.mark.parametrize("name, function, operands, options, want", ELEMENTWISE, ids=[row[0] for row in ELEMENTWISE])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_formula(
    name: str,
    function: Callable[..., Any],
    operands: tuple[Array, ...],
    options: dict[str, Any],
    want: Array,
    reduction: str,
) -> None:
    wanted = {"none": want, "mean": np.mean(want), "sum": np.sum(want)}[reduction]
    near(function(*map(T, operands), reduction=reduction, **options), wanted)


@pytest.mark.parametrize("name, function, operands, options, want", ELEMENTWISE, ids=[row[0] for row in ELEMENTWISE])
def test_reduction_is_checked(
    name: str, function: Callable[..., Any], operands: tuple[Array, ...], options: dict[str, Any], want: Array
) -> None:
    if function is F.kl_div:  # which Paddle does not check
        near(function(*map(T, operands), reduction="all", **options), want)
        return
    with pytest.raises(ValueError, match="reduction is 'all'"):
        function(*map(T, operands), reduction="all", **options)


def test_losses_without_a_reduction() -> None:
    near(F.square_error_cost(T(X), T(Y)), (X - Y) ** 2)
    p, q = P.reshape(-1, 1), Q.reshape(-1, 1)
    near(F.log_loss(T(p), T(q)), -q * np.log(p + 1e-4) - (1 - q) * np.log(1 - p + 1e-4))
    near(F.label_smooth(T(P), epsilon=0.2), P * 0.8 + 0.2 / 7)
    near(F.label_smooth(T(P), T(Q[:1]), 0.2), P * 0.8 + 0.2 * Q[:1])
    near(F.kl_div(T(X), T(P), "batchmean"), (P * (np.log(P) - X)).sum() / 5)


def test_dice_loss() -> None:
    one = np.eye(7)[LABELS]
    score = 2 * (P * one).sum(1) / (P.sum(1) + 1 + 1e-5)
    near(F.dice_loss(T(P), T(LABELS[:, None])), (1 - score).mean())


def test_npair_loss() -> None:
    a, b = X.astype("float32"), Y.astype("float32")
    same = np.array([1, 2, 1, 2, 3])[:, None] == np.array([1, 2, 1, 2, 3])
    target = same / same.sum(1, keepdims=True)
    scores = log_softmax(a.astype("float64") @ b.T)
    # Each row's cross entropy counts for every column of the target.
    entropy = (target * -(target * scores).sum(1, keepdims=True)).sum(0).mean()
    penalty = 0.25 * 0.002 * ((a.astype("float64") ** 2).sum(1).mean() + (b.astype("float64") ** 2).sum(1).mean())
    got = F.npair_loss(T(a), T(b), T(np.array([1, 2, 1, 2, 3])))
    assert abs(got.item() - entropy - penalty) <= 64 * 2.0**-24 * 8


@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "shape, axis", [((6, 4), 1), ((3, 4, 5), 1), ((3, 5, 4), -1), ((2, 4, 3, 2), 1), ((4, 3, 2), 0)]
)
def test_cross_entropy(shape: tuple[int, ...], axis: int, weighted: bool, ignored: int) -> None:
    r = np.random.default_rng(5)
    x, classes = r.standard_normal(shape), shape[axis]
    labels = r.integers(0, classes, [n for a, n in enumerate(shape) if a != axis % len(shape)])
    labels.flat[0] = ignored
    weight = r.random(classes) + 0.5 if weighted else np.ones(classes)
    logs, want, total = np.moveaxis(log_softmax(x, axis), axis, -1), np.zeros(labels.shape), 0.0
    for place, label in np.ndenumerate(labels):
        if label != ignored:
            want[place] = -weight[label] * logs[place][label]
            total += weight[label]
    if not weighted and ignored < 0:
        total = labels.size  # without weights what is ignored by a label below 0 counts in the mean
    options: dict[str, Any] = {"ignore_index": ignored, "axis": axis, "weight": T(weight) if weighted else None}
    near(F.cross_entropy(T(x), T(labels), reduction="none", **options), want)
    near(F.cross_entropy(T(x), T(labels), reduction="sum", **options), want.sum())
    near(F.cross_entropy(T(x), T(labels), **options), want.sum() / total)


def test_cross_entropy_of_soft_labels() -> None:
    rows = -(Q * log_softmax(X)).sum(1, keepdims=True)
    near(F.cross_entropy(T(X), T(Q), soft_label=True, reduction="none"), rows)
    near(F.cross_entropy(T(X), T(Q), T(WEIGHT), soft_label=True, reduction="none"), rows * (Q @ WEIGHT)[:, None])
    near(
        F.cross_entropy(T(X), T(Q), T(WEIGHT), soft_label=True), (rows[:, 0] * (Q @ WEIGHT)).sum() / (Q @ WEIGHT).sum()
    )
    near(F.cross_entropy(T(P), T(Q), soft_label=True, use_softmax=False), -(Q * np.log(P)).sum(1).mean())
    smooth = np.eye(7)[LABELS] * 0.9 + 0.1 / 7
    near(
        F.cross_entropy(T(X), T(LABELS), label_smoothing=0.1),
        -(smooth.astype("float32") * log_softmax(X)).sum(1).mean(),
    )


def test_cross_entropy_far_from_zero() -> None:
    x = np.array([[1000.0, 0.0, -1000.0]])
    near(F.cross_entropy(T(x), T([2]), reduction="none"), np.array([2000.0]))
    masked = T([[-math.inf, 0.0, 0.0]])
    got = F.cross_entropy(masked, T([[0.0, 0.5, 0.5]]), soft_label=True)
    assert abs(got.item() - math.log(2)) <= 2.0**-22
    assert F.cross_entropy(masked, T([0])).item() == math.inf


def test_softmax_with_cross_entropy() -> None:
    loss, softmax = F.softmax_with_cross_entropy(T(X), T(LABELS[:, None]), return_softmax=True)
    near(loss, -log_softmax(X)[np.arange(5), LABELS][:, None])
    near(softmax, np.exp(log_softmax(X)))


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 4, 3, 2), (2, 4, 1, 3, 2)])
def test_nll_loss(shape: tuple[int, ...]) -> None:
    r = np.random.default_rng(6)
    x, weight = r.standard_normal(shape), r.random(4) + 0.5
    labels = r.integers(0, 4, (shape[0], *shape[2:]))
    kept = labels != 1
    want = -np.take_along_axis(x, labels[:, None], 1)[:, 0] * weight[labels] * kept
    near(F.nll_loss(T(x), T(labels), T(weight), 1, "none"), want)
    near(F.nll_loss(T(x), T(labels), T(weight), 1), want.sum() / (weight[labels] * kept).sum())
    near(F.nll_loss(T(x), T(labels)), -np.take_along_axis(x, labels[:, None], 1).mean())
    near(F.nll_loss(T(x), T(np.ones_like(labels)), ignore_index=1), 0.0)


def test_halves_are_rounded_once() -> None:
    x = T(X.astype("float16"))
    exact = -log_softmax(X.astype("float16").astype("float64"))[np.arange(5), LABELS].mean()
    got = F.cross_entropy(x, T(LABELS))
    assert got.dtype is paddle.float16
    assert abs(got.item() - exact) <= 0.5001 * np.spacing(np.float16(exact))


def test_cosine_embedding_loss() -> None:
    labels = np.array([1, -1, 1, -1, 0])
    cosine = (X * Y).sum(1) / np.sqrt(((X**2).sum(1) + 1e-11) * ((Y**2).sum(1) + 1e-11))
    want = np.where(labels == 1, 1 - cosine, np.where(labels == -1, np.maximum(cosine - 0.1, 0), 0))
    near(F.cosine_embedding_loss(T(X), T(Y), T(labels), 0.1, "none"), want)
    near(F.cosine_embedding_loss(T(X[0]), T(Y[0]), T([1])), 1 - cosine[0])


def test_triplets_with_a_distance() -> None:
    def distance(a: Any, b: Any) -> Any:
        return (a - b).abs().sum(-1)

    near_by, far = np.abs(X - Y).sum(1), np.minimum(np.abs(X - Z).sum(1), np.abs(Y - Z).sum(1))
    got = F.triplet_margin_with_distance_loss(T(X), T(Y), T(Z), distance, 0.5, True, "none")
    near(got, np.maximum(near_by - far + 0.5, 0))
    with pytest.raises(ValueError, match="a distance is negative"):
        F.triplet_margin_with_distance_loss(T(X), T(Y), T(Z), lambda a, b: -distance(a, b))


def test_multi_label_margin_loss() -> None:
    labels = np.array([[3, 0, -1, 4], [-1, 1, 2, 3], [6, 5, 4, 3], [2, -1, 2, 2], [1, 1, -1, 0]])
    want = []
    for row, line in zip(X, labels):
        wanted = [n for i, n in enumerate(line) if -1 not in line[: i + 1]]
        others = [c for c in range(7) if c not in wanted]
        want.append(sum(max(1 - row[n] + row[c], 0) for n in wanted for c in others) / 7)
    near(F.multi_label_margin_loss(T(X), T(labels), "none"), np.array(want))
    for wrong in (-2, 7):
        with pytest.raises(ValueError, match="a label is no class"):
            F.multi_label_margin_loss(T(X), T(np.full((5, 2), wrong)))


@pytest.mark.parametrize("label", [7, -1])
def test_a_label_that_is_no_class(label: int) -> None:
    labels = T([0, 1, label, 2, 3])
    for call in (
        lambda: F.cross_entropy(T(X), labels),
        lambda: F.nll_loss(T(X), labels),
        lambda: F.multi_margin_loss(T(X), labels),
        lambda: F.softmax_with_cross_entropy(T(X), labels.unsqueeze(1)),
    ):
        with pytest.raises(IndexError, match="out of range"):
            call().numpy()


def test_shapes_are_checked() -> None:
    x = T(X)
    for function in (F.smooth_l1_loss, F.kl_div, F.binary_cross_entropy, F.soft_margin_loss, F.poisson_nll_loss):
        with pytest.raises(ValueError, match="want one shape"):
            function(x, T(Y[:3]))
    with pytest.raises(ValueError, match="want as many or one less"):
        F.cross_entropy(x, T(0))
    with pytest.raises(ValueError, match="a variance is negative"):
        F.gaussian_nll_loss(x, T(Y), T(-P))


def test_gradients_can_pass_zero() -> None:
    """What hides a logarithm of 0 is not multiplied by it: values stay finite where a label is 0."""
    assert F.kl_div(T([0.0, -1.0]), T([0.0, 1.0]), "none").tolist() == [0.0, 1.0]
    got = F.poisson_nll_loss(T([0.0]), T([0.0]), full=True, reduction="none")
    assert got.tolist() == [1.0]
