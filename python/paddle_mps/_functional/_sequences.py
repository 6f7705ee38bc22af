"""Losses of sequences whose alignment is unknown, and the paths that a beam search found."""

from __future__ import annotations

from typing import Any

from .._calls import _operators
from .._core import _dtype
from .._core._convert import index, tensor
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats


@errors_of("index", "reshape")
def ctc_loss(
    log_probs: Tensor,
    labels: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    reduction: str = "mean",
    norm_by_times: bool = False,
    zero_infinity: bool = False,
) -> Tensor:
    """-log of the probability that softmax(log_probs) spells the labels, with blanks and repetitions removed.

    It is computed with one step a time, after A. Graves et al., Connectionist Temporal Classification (2006), 4.1.

    Args:
        log_probs: scores of shape [times, batch, classes]; the softmax is taken of them here.
        labels: int32, of shape [batch, longest label]; what is behind a label's end does not matter.
        input_lengths, label_lengths: int64, of shape [batch].
        blank: the class that stands for no label.
        reduction: "mean" of the losses divided by the label lengths, "sum" or "none".
        norm_by_times: whether the gradient of an example is divided by its number of times.
        zero_infinity: whether the loss of labels of probability 0 is 0, not inf. That of labels that are too long for
            their input is 0 either way, as in Paddle.

    Raises:
        AssertionError: there is no such reduction.
        IndexError, ValueError: a label or a length is out of range.
        UnsupportedError: log_probs is not floating-point.
        ValueError: an operand is no tensor, or the shapes do not fit.
    """
    if reduction not in ("mean", "sum", "none"):
        raise AssertionError(f"[ctc_loss] reduction is {reduction!r}; want 'mean', 'sum' or 'none'")
    shape = meta(of_floats(log_probs, "ctc_loss")).shape
    given = meta(tensor(labels, "ctc_loss", "labels")).shape
    if len(shape) != 3 or len(given) != 2 or given[0] != shape[1]:
        raise ValueError(f"[ctc_loss] shapes are {list(shape)} and {list(given)}; want [times, batch, classes] first")
    blank = index("blank", blank)
    if not 0 <= blank < shape[2]:
        raise ValueError(f"[ctc_loss] blank is {blank}; want one of the {shape[2]} classes")
    for lengths in (input_lengths, label_lengths):
        check_lengths("ctc_loss", lengths, shape[1])
    scaled = norm_by_times and not log_probs.stop_gradient
    return _operators.ctc_loss(
        log_probs, labels, input_lengths, label_lengths, blank, reduction, bool(scaled), bool(zero_infinity)
    )


def check_lengths(function: str, lengths: Any, batch: int) -> None:
    """Raises a ValueError unless there is one for each example."""
    given = meta(tensor(lengths, function, "lengths")).numel
    if given != batch:
        raise ValueError(f"[{function}] {given} lengths; want one for each of {batch} examples")


@errors_of("index")
def gather_tree(ids: Tensor, parents: Tensor) -> Tensor:
    """The sequences that a beam search found, from the choices of each step and the beams that they continue.

    Args:
        ids: of shape [steps, batch, beams], int32 or int64.
        parents: of the same shape and dtype: the beam of the step before.

    Returns:
        A tensor of that shape: the whole sequence of each beam of the last step.

    Raises:
        IndexError, ValueError: a parent is no beam.
        UnsupportedError: ids is neither int32 nor int64.
        ValueError: an operand is no tensor, or has not 3 axes.
    """
    shape = meta(tensor(ids, "gather_tree", "ids")).shape
    if len(shape) != 3 or meta(tensor(parents, "gather_tree", "parents")).shape != shape:
        raise ValueError(f"[gather_tree] ids has shape {list(shape)}; want [steps, batch, beams], and parents the same")
    if meta(ids).dtype not in (_dtype.int32, _dtype.int64):
        raise UnsupportedError(f"[gather_tree] ids is {meta(ids).dtype.name}; want int32 or int64")
    if meta(parents).dtype not in (_dtype.int32, _dtype.int64):
        raise ValueError(f"[gather_tree] parents is {meta(parents).dtype.name}; want int32 or int64")
    return _operators.gather_tree(ids, parents)


__all__ = ["ctc_loss", "gather_tree"]
