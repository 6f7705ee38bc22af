"""Losses that keep what is unlike apart by a margin: of pairs, of triplets and of several labels.

Each takes reduction="mean", "sum" or "none".
"""

from __future__ import annotations

from typing import Callable

from .._calls import _operators
from .._calls._precision import working
from .._calls._tracing import found
from .._core import _dtype
from .._core._convert import real, said, tensor
from .._core._dtype import float32, float64
from .._core._errors import errors_of
from .._core._objects import Tensor, meta
from ._classification import whole_labels
from ._reduction import check_reduction, operands, reduced, same_shape
from ._similarity import pairwise_distance

Distance = Callable[[Tensor, Tensor], Tensor]


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    label: Tensor,
    margin: float = 0,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """1 - cos(input1, input2) where label is 1, max(cos(input1, input2) - margin, 0) where it is -1, 0 elsewhere.

    The cosine is that along the last axis; 1e-11 is added to the square of each length.

    Args:
        input1, input2: float32 or float64, of shape [n, features] or [features].
        label: of shape [n].

    Raises:
        ValueError: an operand is no tensor, has another dtype or another shape, or there is no such reduction.
    """
    name = "cosine_embedding_loss"
    a, b, wanted = (meta(tensor(x, name, p)) for x, p in ((input1, "input1"), (input2, "input2"), (label, "label")))
    if len(wanted.shape) != 1 or a.shape != b.shape or len(a.shape) > 2:
        shapes = f"{list(a.shape)}, {list(b.shape)} and {list(wanted.shape)}"
        raise ValueError(f"[{name}] shapes are {shapes}; want [n, features] twice, and [n]")
    kinds = (float32, float64)
    if a.dtype not in kinds or wanted.dtype not in (*kinds, _dtype.int32, _dtype.int64):
        raise ValueError(f"[{name}] dtypes are {a.dtype.name} and {wanted.dtype.name}; want float32 or float64")
    check_reduction("cosine_embedding_loss", reduction)
    return _operators.cosine_embedding_loss(input1, input2, label, margin, reduction)


def check_margin(function: str, margin: float) -> None:
    """Raises a ValueError for a negative margin."""
    if real(function, "margin", margin) < 0:
        raise ValueError(f"[{function}] margin is {margin}; want a number from 0")


def triplet_margin_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """max(d(input, positive) - d(input, negative) + margin, 0), d being `pairwise_distance`.

    Args:
        input, positive, negative: of one shape.
        swap: whether d(positive, negative) counts where it is less than d(input, negative).

    Raises:
        ValueError: an operand is no tensor, the shapes differ, margin is negative or there is no such reduction.
    """
    check_margin("triplet_margin_loss", margin)
    real("triplet_margin_loss", "p", p)
    check_reduction("triplet_margin_loss", reduction)
    return _operators.triplet_margin_loss(input, positive, negative, margin, p, epsilon or 0.0, bool(swap), reduction)


def distances(three: list[Tensor], distance: Distance, swap: bool) -> tuple[Tensor, Tensor]:
    """How far the first is from the second, and how far these are, or the first is, from the third."""
    near, far = distance(three[0], three[1]), distance(three[0], three[2])
    return near, _operators.minimum(far, distance(three[1], three[2])) if swap else far


def triplet_margin_with_distance_loss(
    input: Tensor,
    positive: Tensor,
    negative: Tensor,
    distance_function: Distance | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """`triplet_margin_loss` with a distance of one's own. It waits for the device, which says whether one is negative.

    Args:
        distance_function: takes two tensors; None: the Euclidean `pairwise_distance`.

    Raises:
        ValueError: an operand is no tensor, the shapes differ, margin or a distance is negative, or there is no such
            reduction.
    """
    function = "triplet_margin_with_distance_loss"
    check_reduction(function, reduction)
    check_margin(function, margin)
    like = operands(function, input=input, positive=positive, negative=negative)[0]
    same_shape(function, input, positive, negative)
    if distance_function is not None and not callable(distance_function):
        raise TypeError(f"[{function}] distance_function is {said(distance_function)}; want a function")
    near, far = distances([input, positive, negative], distance_function or pairwise_distance, swap)
    if found(_operators.logical_not(_operators.logical_and(near >= 0, far >= 0))):
        raise ValueError(f"[{function}] a distance is negative or nan; want all from 0")
    loss = _operators.relu(_operators.subtract(working(near), working(far)) + margin)
    return reduced(loss, reduction, like)


def multi_label_soft_margin_loss(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """The mean over the last axis of -label * log(sigmoid(input)) - (1 - label) * log(sigmoid(-input)).

    Args:
        label: of the shape of input.
        weight: a factor of each term, which broadcasts.

    Raises:
        ValueError: an operand is no tensor, the shapes differ, or there is no such reduction.
    """
    check_reduction("multi_label_soft_margin_loss", reduction)
    return _operators.multi_label_soft_margin_loss(input, label, weight, reduction)


@errors_of("index")
def multi_margin_loss(
    input: Tensor,
    label: Tensor,
    p: int = 1,
    margin: float = 1.0,
    weight: Tensor | None = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """The mean over all other classes c of weight[label] * max(margin - input[label] + input[c], 0)**p.

    Args:
        input: scores, of shape [n, classes].
        label: int32 or int64, of shape [n].
        weight: of each class, of shape [classes].

    Raises:
        IndexError, ValueError: a label is no class.
        ValueError: an operand is no tensor, the shapes do not fit, or there is no such reduction.
    """
    check_reduction("multi_margin_loss", reduction)
    shape, label = meta(tensor(input, "multi_margin_loss", "input")).shape, tensor(label, "multi_margin_loss", "label")
    if len(shape) != 2 or meta(label).numel != shape[0]:
        raise ValueError(
            f"[multi_margin_loss] shapes are {list(shape)} and {list(meta(label).shape)}; want [n, c], [n]"
        )
    if weight is not None and meta(tensor(weight, "multi_margin_loss", "weight")).shape != (shape[1],):
        raise ValueError(f"[multi_margin_loss] weight has shape {list(meta(weight).shape)}; want [{shape[1]}]")
    return _operators.multi_margin_loss(
        input,
        whole_labels("multi_margin_loss", label),
        weight,
        real("multi_margin_loss", "p", p),
        real("multi_margin_loss", "margin", margin),
        reduction,
    )


def multi_label_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """sum(max(1 - input[y] + input[c], 0)) / classes over the labels y of a row and all classes c that are none.

    It waits for the device, which says whether a label is no class.

    Args:
        input: scores, of shape [n, classes].
        label: int32 or int64, of shape [n, m]. A row's labels end before its first -1.

    Raises:
        ValueError: an operand is no tensor, has not 2 axes, a label is no class, or there is no such reduction.
    """
    check_reduction("multi_label_margin_loss", reduction)
    label = tensor(label, "multi_label_margin_loss", "label")
    shape, given = meta(tensor(input, "multi_label_margin_loss", "input")).shape, meta(label).shape
    if len(shape) != 2 or len(given) != 2:
        raise ValueError(f"[multi_label_margin_loss] shapes are {list(shape)} and {list(given)}; want 2 axes each")
    if meta(label).numel and found(_operators.logical_or(label < -1, label >= shape[1])):
        raise ValueError(f"[multi_label_margin_loss] a label is no class; want -1 or one of the {shape[1]}")
    return _operators.multi_label_margin_loss(input, whole_labels("multi_label_margin_loss", label), reduction)


__all__ = [
    "cosine_embedding_loss", "multi_label_margin_loss", "multi_label_soft_margin_loss", "multi_margin_loss",
    "triplet_margin_loss", "triplet_margin_with_distance_loss",
]  # fmt: skip
