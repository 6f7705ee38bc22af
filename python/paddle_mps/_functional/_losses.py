"""Losses of numbers: squared and absolute differences, likelihoods and divergences.

Each takes reduction="mean", "sum" or "none": the mean or the sum of the losses of all elements, a 0-d tensor, or all
of them. Operands broadcast unless it says otherwise.
"""

from __future__ import annotations

from .._calls import _complex, _operators
from .._calls._tracing import found
from .._core._convert import real, tensor
from .._core._dtype import float32, float64
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from ._reduction import check_reduction, reduced


def mse_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """(input - label)**2.

    Raises:
        ValueError: an operand is no tensor, the shapes do not broadcast, or there is no such reduction.
    """
    check_reduction("mse_loss", reduction)
    return _operators.mse_loss(input, label, reduction)


def l1_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """|input - label|.

    Raises:
        ValueError: an operand is no tensor, the shapes do not broadcast, or there is no such reduction.
    """
    check_reduction("l1_loss", reduction)
    return _operators.l1_loss(input, label, reduction)


def smooth_l1_loss(
    input: Tensor,
    label: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    is_huber: bool = True,
    name: str | None = None,
) -> Tensor:
    """0.5 * d**2 where d = |input - label| is at most delta, delta * (d - 0.5 * delta) elsewhere.

    Args:
        input, label: tensors of one dtype and one shape.
        is_huber: False for the loss divided by delta.

    Raises:
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, the dtypes or shapes differ, or there is no such reduction.
    """
    alike(of_floats(input, "smooth_l1_loss"), label, "smooth_l1_loss")
    real("smooth_l1_loss", "delta", delta)
    check_reduction("smooth_l1_loss", reduction)
    return _operators.smooth_l1_loss(input, label, reduction, delta, bool(is_huber))


def log_loss(input: Tensor, label: Tensor, epsilon: float = 1e-4, name: str | None = None) -> Tensor:
    """-label * log(input + epsilon) - (1 - label) * log(1 - input + epsilon), of every element.

    Args:
        input: probabilities, of shape [n, 1].
        label: of the same shape and dtype.

    Raises:
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, or the dtypes or shapes differ.
    """
    alike(of_floats(input, "log_loss"), label, "log_loss")
    if len(meta(input).shape) != 2 or meta(input).shape[1] != 1:
        raise ValueError(f"[log_loss] input has shape {list(meta(input).shape)}; want [n, 1]")
    return _operators.log_loss(input, label, epsilon)


def kl_div(
    input: Tensor, label: Tensor, reduction: str = "mean", log_target: bool = False, name: str | None = None
) -> Tensor:
    """label * (log(label) - input), which is 0 where label is not above 0.

    Args:
        input: logarithms of probabilities.
        label: probabilities, of the shape of input; their logarithms with log_target, and the loss is
            exp(label) * (label - input).
        reduction: also "batchmean", the sum divided by the size of the first axis. Another string acts as "none".

    Raises:
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, or the dtypes or shapes differ. float32 and float64 may be mixed.
    """
    of_floats(input, "kl_div")
    if {meta(input).dtype, meta(tensor(label, "kl_div", "label")).dtype} != {float32, float64}:
        alike(input, label, "kl_div")
    return _operators.kl_div(input, label, "none" if reduction is None else reduction, bool(log_target))


def poisson_nll_loss(
    input: Tensor,
    label: Tensor,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """exp(input) - label * input, the negative logarithm of a Poisson distribution's likelihood without its constant.

    Args:
        input: the logarithm of the expectation; without log_input the expectation, and the loss is
            input - label * log(input + epsilon).
        label: of the shape of input.
        full: adds Stirling's approximation of log(label!) where label is above 1:
            label * log(label) - label + 0.5 * log(2 * pi * label).

    Raises:
        ValueError: an operand is no tensor, the shapes differ, epsilon is not above 0, or there is no such reduction.
    """
    if real("poisson_nll_loss", "epsilon", epsilon) <= 0:
        raise ValueError(f"[poisson_nll_loss] epsilon is {epsilon}; want a number above 0")
    check_reduction("poisson_nll_loss", reduction)
    return _operators.poisson_nll_loss(input, label, bool(log_input), bool(full), epsilon, reduction)


def gaussian_nll_loss(
    input: Tensor,
    label: Tensor,
    variance: Tensor,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """0.5 * (log(v) + (input - label)**2 / v) with v = max(variance, epsilon).

    It waits for the device, which says whether a variance is negative.

    Args:
        input, label: float32 or float64.
        variance: of the shape of input, or of that with a last axis of 1 or none.
        full: adds the constant 0.5 * log(2 * pi).

    Raises:
        ValueError: an operand is no tensor or of another dtype, variance has another shape or a negative element, or
            there is no such reduction.
    """
    shape = meta(tensor(input, "gaussian_nll_loss", "input")).shape
    given = meta(tensor(variance, "gaussian_nll_loss", "variance")).shape
    if given != shape and given == shape[:-1]:
        variance = _operators.unsqueeze(variance, -1)
    elif given != shape and given != (*shape[:-1], 1):
        raise ValueError(f"[gaussian_nll_loss] variance has shape {list(given)}; want {list(shape)}, or 1 at its end")
    for x in (input, tensor(label, "gaussian_nll_loss", "label"), variance):
        if meta(x).dtype not in (float32, float64):
            raise ValueError(f"[gaussian_nll_loss] a dtype is {meta(x).dtype.name}; want float32 or float64")
    if found(variance < 0):
        raise ValueError("[gaussian_nll_loss] a variance is negative; want all from 0")
    check_reduction("gaussian_nll_loss", reduction)
    return _operators.gaussian_nll_loss(input, label, variance, bool(full), epsilon, reduction)


def margin_ranking_loss(
    input: Tensor, other: Tensor, label: Tensor, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """max(label * (other - input) + margin, 0): label 1 wants input above other, -1 other above input.

    Raises:
        ValueError: an operand is no tensor, the shapes do not broadcast, or there is no such reduction.
    """
    real("margin_ranking_loss", "margin", margin)
    check_reduction("margin_ranking_loss", reduction)
    return _operators.margin_ranking_loss(input, other, label, margin, reduction)


def hinge_embedding_loss(
    input: Tensor, label: Tensor, margin: float = 1.0, reduction: str = "mean", name: str | None = None
) -> Tensor:
    """input where label is 1, max(margin - input, 0) where it is -1, 0 elsewhere.

    Raises:
        ValueError: an operand is no tensor, the shapes do not broadcast, or there is no such reduction.
    """
    real("hinge_embedding_loss", "margin", margin)
    check_reduction("hinge_embedding_loss", reduction)
    return _operators.hinge_embedding_loss(input, label, margin, reduction)


def soft_margin_loss(input: Tensor, label: Tensor, reduction: str = "mean", name: str | None = None) -> Tensor:
    """log(1 + exp(-label * input)), for labels 1 and -1.

    Args:
        input, label: of one shape; the label is cast to the dtype of input.

    Raises:
        ValueError: an operand is no tensor, the shapes differ, or there is no such reduction.
    """
    check_reduction("soft_margin_loss", reduction)
    return _operators.soft_margin_loss(input, label, reduction)


def log_of_1_and_exp(x: Tensor) -> Tensor:
    """log(1 + exp(x)) without overflow: beyond 40 it is x to the last digit of float64."""
    return _operators.softplus(x, 1.0, 40.0)


def square_error(input: Tensor, label: Tensor, reduction: str = "none") -> Tensor:
    """Of complex operands, which rows of losses do not take."""
    check_reduction("mse_loss", reduction)
    return reduced(_operators.square(_operators.subtract(input, label)), reduction, input)


def distance(input: Tensor, label: Tensor, reduction: str) -> Tensor:
    """As `square_error`."""
    check_reduction("l1_loss", reduction)
    return reduced(_operators.abs(_operators.subtract(input, label)), reduction, input)


_complex.COMPOSITES.update(mse_loss=square_error, square_error_cost=square_error, l1_loss=distance)

__all__ = [
    "gaussian_nll_loss", "hinge_embedding_loss", "kl_div", "l1_loss", "log_loss", "margin_ranking_loss", "mse_loss", "poisson_nll_loss",
    "smooth_l1_loss", "soft_margin_loss",
]  # fmt: skip
