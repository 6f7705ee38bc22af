"""Losses of classes: cross entropies and likelihoods.

Each takes reduction="mean", "sum" or "none". Labels of classes are whole numbers; one that is no class is refused, but
for that of ignore_index.
"""

from __future__ import annotations

from typing import Any

from .._calls import _operators
from .._calls._call import renamed
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import axis_of, index, real, tensor
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_dtypes, of_floats
from ._layout import one_hot
from ._reduction import check_reduction


def label_smooth(
    label: Tensor, prior_dist: Tensor | None = None, epsilon: float = 0.1, name: str | None = None
) -> Tensor:
    """(1 - epsilon) * label + epsilon / classes, or + epsilon * prior_dist.

    Args:
        label: probabilities of classes along the last axis.
        prior_dist: of shape [1, classes].

    Raises:
        UnsupportedError: label is not floating-point.
        ValueError: an operand is no tensor, the shapes do not fit, or epsilon is not in [0, 1].
    """
    if not 0 <= real("label_smooth", "epsilon", epsilon) <= 1:
        raise ValueError(f"[label_smooth] epsilon is {epsilon}; want a number from 0 to 1")
    shape = meta(of_floats(label, "label_smooth")).shape
    if prior_dist is not None:
        alike(label, prior_dist, "label_smooth")
        if meta(prior_dist).numel != (shape[-1] if shape else 1):
            raise ValueError(f"[label_smooth] prior_dist has {meta(prior_dist).numel} elements; want {shape[-1:]}")
    return _operators.label_smooth(label, prior_dist, epsilon)


def whole_labels(function: str, label: Tensor, floats: bool = False) -> Tensor:
    """Labels as int64.

    Args:
        floats: whether floats and bools are accepted, too; a fraction is dropped.

    Raises:
        UnsupportedError: they are no integers.
    """
    dtype = meta(label).dtype
    if dtype is _dtype.int64:
        return label
    if dtype.is_complex or (not floats and dtype not in (_dtype.int8, _dtype.int16, _dtype.int32, _dtype.uint8)):
        raise UnsupportedError(f"[{function}] label is {dtype.name}; want integers")
    return _operators.cast(label, _dtype.int64)


def labels_beside(function: str, input: Tensor, label: Tensor, soft_label: bool, axis: int) -> Tensor:
    """Labels as the row of `cross_entropy` takes them.

    Raises:
        UnsupportedError: input is not floating-point, or hard labels are no integers.
        ValueError: label has another shape than input, which for hard labels has 1 class.
    """
    shape, given = meta(of_floats(input, function)).shape, meta(label).shape
    wanted = list(shape)
    wanted[axis] = shape[axis] if soft_label else 1
    if list(given) != wanted:
        raise ValueError(f"[{function}] label has shape {list(given)}; want {wanted}")
    if not soft_label:
        return whole_labels(function, label, True)
    alike(input, label, function)
    return label


@renamed(target="label")
@errors_of("index")
def cross_entropy(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """-log(softmax(input)[label]), or -sum(label * log(softmax(input))) for labels that are probabilities.

    Args:
        input: floating-point scores of classes along an axis.
        label: integers, or floats whose fractions are dropped, of the shape of input without that axis or with 1 there;
            probabilities of the shape of input with soft_label.
        weight: of each class, of shape [classes]. The mean is then weighted.
        ignore_index: the label whose loss is 0. One from 0 on does not count in the mean; one below 0 does.
        axis: that of the classes.
        use_softmax: False if input has probabilities already.
        label_smoothing: this much of each label is spread over all classes; see `label_smooth`.

    Returns:
        With "none" a tensor of the shape of label; for soft and smoothed labels with 1 for the axis of the classes.

    Raises:
        IndexError, ValueError: a label is no class.
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, the shapes do not fit, there is no such reduction, or ignore_index is
            above 0 for soft labels.
    """
    check_reduction("cross_entropy", reduction)
    ignore_index = index("ignore_index", ignore_index)
    if ignore_index > 0 and soft_label:
        raise ValueError(f"[cross_entropy] ignore_index is {ignore_index} and soft_label True; want one of them")
    x, label = tensor(input, "cross_entropy", "input"), tensor(label, "cross_entropy", "label")
    rank, given = len(meta(x).shape), len(meta(label).shape)
    if not rank or given not in (rank - 1, rank):
        raise ValueError(f"[cross_entropy] input has {axes_text(rank)} and label {given}; want as many or one less")
    axis = axis_of("cross_entropy", axis, rank)
    if real("cross_entropy", "label_smoothing", label_smoothing) > 0:
        label, soft_label = smoothed(x, label, given < rank, label_smoothing), True
    elif given < rank:
        label = _operators.unsqueeze(label, axis)
    label = labels_beside("cross_entropy", x, label, soft_label, axis)
    if weight is not None and meta(tensor(weight, "cross_entropy", "weight")).shape != meta(x).shape[axis : axis + 1]:
        raise ValueError(f"[cross_entropy] weight has shape {list(meta(weight).shape)}; want {[meta(x).shape[axis]]}")
    loss = _operators.cross_entropy(x, label, weight, ignore_index, reduction, soft_label, axis, use_softmax)
    flat = reduction == "none" and given < rank and not label_smoothing > 0
    return _operators.squeeze(loss, axis) if flat else loss


def smoothed(x: Tensor, label: Tensor, hard: bool, epsilon: float) -> Tensor:
    """Labels as probabilities, of which an epsilon is spread over all classes of the last axis."""
    if hard:
        label = one_hot(label, meta(x).shape[-1])
    return _operators.cast(label_smooth(label, epsilon=epsilon), meta(x).dtype)


@errors_of("index")
def softmax_with_cross_entropy(
    logits: Tensor,
    label: Tensor,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """`cross_entropy` of every row, with an axis of 1 for that of the classes.

    Args:
        numeric_stable_mode: changes nothing: the result is as accurate either way.
        return_softmax: whether the softmax of logits is returned, too.

    Returns:
        The loss, or the loss and the softmax.

    Raises:
        IndexError, ValueError: a label is no class.
        ValueError: an operand is no tensor, or the shapes do not fit.
    """
    name = "softmax_with_cross_entropy"
    shape, given = meta(tensor(logits, name, "logits")).shape, meta(tensor(label, name, "label")).shape
    if not shape or len(given) not in (len(shape) - 1, len(shape)):
        raise ValueError(
            f"[{name}] logits has {axes_text(len(shape))} and label {len(given)}; want as many or one less"
        )
    axis = axis_of(name, axis, len(shape))
    if len(given) < len(shape):
        label = _operators.reshape(label, [given[0] if given else 1, shape[1]])
    label = labels_beside(name, logits, label, soft_label, axis)
    if return_softmax:
        return tuple(_operators.softmax_with_cross_entropy(logits, label, soft_label, ignore_index, axis))
    return _operators.cross_entropy(logits, label, None, ignore_index, "none", soft_label, axis, True)


def nll_loss(
    input: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """-weight[label] * input[label] along axis 1; the mean is divided by the sum of the weights.

    Args:
        input: logarithms of the probabilities of classes, of shape [n, classes, ...].
        label: int32 or int64, of shape [n, ...].
        weight: of each class, of shape [classes]; None: 1.
        ignore_index: the label whose loss and weight are 0.

    Raises:
        IndexError, ValueError: a label is no class.
        UnsupportedError: input is not floating-point, or label not of integers.
        ValueError: an operand is no tensor, the shapes do not fit, or there is no such reduction.
    """
    shape, given = meta(of_floats(input, "nll_loss")).shape, meta(tensor(label, "nll_loss", "label")).shape
    if len(shape) < 2 or given != (shape[0], *shape[2:]) or not shape[1]:
        raise ValueError(
            f"[nll_loss] input has shape {list(shape)} and label {list(given)}; want [n, c, ...], [n, ...]"
        )
    if weight is not None:
        alike(input, weight, "nll_loss")
        if meta(weight).shape != (shape[1],):
            raise ValueError(f"[nll_loss] weight has shape {list(meta(weight).shape)}; want [{shape[1]}]")
    check_reduction("nll_loss", reduction)
    return _operators.nll_loss(
        input, whole_labels("nll_loss", label), weight, index("ignore_index", ignore_index), reduction
    )


def binary_cross_entropy(
    input: Tensor, label: Tensor, weight: Tensor | None = None, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """-label * log(input) - (1 - label) * log(1 - input), with logarithms of at least -100.

    Args:
        input: probabilities. The loss of a number that is none is nan.
        label: of the shape and dtype of input.
        weight: a factor of each loss, which broadcasts.

    Raises:
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, the shapes or dtypes differ, or there is no such reduction.
    """
    alike(of_floats(input, "binary_cross_entropy"), label, "binary_cross_entropy")
    # The bound of Paddle's gradient, or of the largest float16: infinity times the slope 0 of a saturated sigmoid is nan.
    least = 1 / 65504 if meta(input).dtype is _dtype.float16 else 1e-12
    check_reduction("binary_cross_entropy", reduction)
    return _operators.binary_cross_entropy_loss(input, label, weight, least, reduction)


def binary_cross_entropy_with_logits(
    logit: Tensor,
    label: Tensor,
    weight: Tensor | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """(1 - label) * logit + w * log(1 + exp(-logit)), with w = 1 + label * (pos_weight - 1), or 1.

    Args:
        label: of the shape and dtype of logit. The loss of a label -100 is 0.
        weight: a factor of each loss, which broadcasts.
        pos_weight: a factor of what label 1 adds, which broadcasts.

    Raises:
        UnsupportedError: logit is not floating-point.
        ValueError: an operand is no tensor, the shapes or dtypes differ, or there is no such reduction.
    """
    alike(of_floats(logit, "binary_cross_entropy_with_logits"), label, "binary_cross_entropy_with_logits")
    check_reduction("binary_cross_entropy_with_logits", reduction)
    return _operators.binary_cross_entropy_with_logits(logit, label, weight, pos_weight, reduction)


def sigmoid_focal_loss(
    logit: Tensor,
    label: Tensor,
    normalizer: Tensor | None = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Tensor:
    """a * (1 - p)**gamma * binary_cross_entropy_with_logits, p being the probability that logit gives to label.

    a is alpha for label 1, 1 - alpha for label 0, and between them for labels between.

    Args:
        normalizer: a float32 or float64 of one element that the loss is divided by.

    Raises:
        TypeError: normalizer has another dtype.
        UnsupportedError: logit is not floating-point.
        ValueError: an operand is no tensor, the shapes or dtypes differ, or there is no such reduction.
    """
    if normalizer is not None:
        of_dtypes(normalizer, "sigmoid_focal_loss", _dtype.float32, _dtype.float64)
        if len(meta(normalizer).shape) > 1:
            raise ValueError(
                f"[sigmoid_focal_loss] normalizer has {axes_text(len(meta(normalizer).shape))}; want 0 or 1"
            )
    real("sigmoid_focal_loss", "alpha", alpha)
    real("sigmoid_focal_loss", "gamma", gamma)
    alike(of_floats(logit, "sigmoid_focal_loss"), label, "sigmoid_focal_loss")
    check_reduction("sigmoid_focal_loss", reduction)
    return _operators.sigmoid_focal_loss(logit, label, normalizer, alpha, gamma, reduction)


def dice_loss(input: Tensor, label: Tensor, epsilon: float = 0.00001, name: str | None = None) -> Tensor:
    """The mean over the first axis of 1 - 2 * sum(input * label) / (sum(input) + sum(label) + epsilon).

    Args:
        input: probabilities of classes along the last axis, float32 or float64.
        label: int32 or int64, of the shape of input with 1 at the end.

    Raises:
        AssertionError: the dtypes or shapes are others.
        ValueError: an operand is no tensor.
    """
    x, given = meta(tensor(input, "dice_loss", "input")), meta(tensor(label, "dice_loss", "label"))
    if x.dtype not in (_dtype.float32, _dtype.float64) or given.dtype not in (_dtype.int32, _dtype.int64):
        raise AssertionError(f"[dice_loss] dtypes are {x.dtype.name} and {given.dtype.name}; want floats and integers")
    if len(x.shape) < 2 or given.shape != (*x.shape[:-1], 1):
        raise AssertionError(f"[dice_loss] input has shape {list(x.shape)} and label {list(given.shape)}; want 1 last")
    classes = one_hot(_operators.squeeze(label, -1), x.shape[-1])
    return _operators.dice_loss(input, classes, real("dice_loss", "epsilon", epsilon))


def npair_loss(anchor: Tensor, positive: Tensor, labels: Tensor, l2_reg: float = 0.002) -> Tensor:
    """The cross entropy of softmax(anchor @ positive.T) and of which labels are equal, and a penalty of large vectors.

    The penalty is 0.25 * l2_reg * (mean(sum(anchor**2)) + mean(sum(positive**2))), the sums along axis 1.

    Args:
        anchor, positive: of shape [n, features], float32.
        labels: of shape [n].

    Raises:
        ValueError: an operand is no tensor, or anchor or positive has no elements or another dtype.
    """
    for x, name in ((anchor, "anchor"), (positive, "positive")):
        if not meta(tensor(x, "npair_loss", name)).numel:
            raise ValueError(f"[npair_loss] {name} has no elements; want some")
        if meta(x).dtype is not _dtype.float32:  # that of the target, which Paddle makes
            raise ValueError(f"[npair_loss] {name} is {meta(x).dtype.name}; want float32")
    penalty = real("npair_loss", "l2_reg", l2_reg)
    return _operators.npair_loss(anchor, positive, tensor(labels, "npair_loss", "labels"), penalty)


__all__ = [
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "cross_entropy", "dice_loss", "label_smooth",
    "nll_loss", "npair_loss", "sigmoid_focal_loss", "softmax_with_cross_entropy",
]  # fmt: skip
