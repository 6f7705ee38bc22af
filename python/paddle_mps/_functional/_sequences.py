"""Losses of sequences whose alignment is unknown, and the paths that a beam search found."""

from __future__ import annotations

from typing import Any

from .._arrays._array import concat, reshaped, stack
from .._arrays._creation import filled, full_0d
from .._calls import _operators
from .._calls._precision import rounded, working
from .._core import _dtype
from .._core._convert import index, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from ._attention import counted
from ._layout import between, step_of
from ._similarity import log_softmax

# The logarithm of 0 within the recurrences: finite, so that differences of two of them are no nan, and so large that
# every path that contains it is impossible.
NEVER = -1e30


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
    x = working(of_floats(log_probs, "ctc_loss"))
    shape, given = meta(x).shape, meta(tensor(labels, "ctc_loss", "labels")).shape
    if len(shape) != 3 or len(given) != 2 or given[0] != shape[1]:
        raise ValueError(f"[ctc_loss] shapes are {list(shape)} and {list(given)}; want [times, batch, classes] first")
    blank = index("blank", blank)
    if not 0 <= blank < shape[2]:
        raise ValueError(f"[ctc_loss] blank is {blank}; want one of the {shape[2]} classes")
    times, lengths = (lengths_of("ctc_loss", n, shape[1]) for n in (input_lengths, label_lengths))
    spelled = without_padding(_operators.cast(labels, _dtype.int64), lengths, blank, shape[2])
    paths = alignments(log_softmax(x, -1), interleaved(spelled, blank))
    batch = counted(x, shape[1])
    at_end = [_operators.index(paths, [times - 1, batch, column]) for column in (lengths * 2, lengths * 2 - 1)]
    ends = _operators.logaddexp(at_end[0], _operators.where(lengths > 0, at_end[1], full_0d(x, NEVER)))
    loss = _operators.where(ends > NEVER / 2, -ends, full_0d(x, 0.0 if zero_infinity else float("inf")))
    enough = _operators.greater_equal(times, _operators.add(lengths, repetitions(spelled, lengths)))
    loss = _operators.where(enough, loss, full_0d(x, 0))
    if norm_by_times and not x.stop_gradient:
        # The value is that of the loss, and the gradient that of the first term.
        fixed = loss.detach()
        loss = _operators.divide(_operators.subtract(loss, fixed), _operators.cast(times, meta(x).dtype)) + fixed
    if reduction == "mean":
        loss = _operators.mean(_operators.divide(loss, _operators.cast(lengths, meta(loss).dtype)))
    elif reduction == "sum":
        loss = _operators.sum(loss)
    return rounded(loss, log_probs)


def lengths_of(function: str, lengths: Any, batch: int) -> Tensor:
    """Lengths as int64, one an example.

    Raises:
        ValueError: there are not as many.
    """
    given = tensor(lengths, function, "lengths")
    if meta(given).numel != batch:
        raise ValueError(f"[{function}] {meta(given).numel} lengths; want one for each of {batch} examples")
    return _operators.cast(reshaped(given, [batch]), _dtype.int64)


def without_padding(labels: Tensor, lengths: Tensor, blank: int, classes: int) -> Tensor:
    """Labels with blanks behind the end of each.

    One below 0 would count from the end: it becomes one that is out of range.
    """
    inside = _operators.less_than(counted(labels, meta(labels).shape[1]), _operators.unsqueeze(lengths, 1))
    spelled = _operators.where(labels < 0, full_0d(labels, classes), labels)
    return _operators.where(inside, spelled, full_0d(labels, blank))


def repetitions(labels: Tensor, lengths: Tensor) -> Tensor:
    """How many labels are equal to the one before: each needs a blank between them."""
    n = meta(labels).shape[1]
    again = _operators.equal(labels[:, 1:], labels[:, :-1]) if n > 1 else labels[:, 1:] > 0
    inside = _operators.less_than(counted(labels, max(n, 1))[1:], _operators.unsqueeze(lengths, 1))
    return _operators.sum(_operators.logical_and(again, inside), 1)


def interleaved(labels: Tensor, blank: int) -> Tensor:
    """Labels [batch, n] with blanks before, between and behind them: [batch, 2 * n + 1]."""
    batch, n = meta(labels).shape
    blanks = filled((batch, n, 1), blank, _dtype.int64, meta(labels).place)
    pairs = concat([blanks, _operators.unsqueeze(labels, 2)], 2)
    last = filled((batch, 1), blank, _dtype.int64, meta(labels).place)
    return concat([reshaped(pairs, [batch, 2 * n]), last], 1)


def alignments(logarithms: Tensor, targets: Tensor) -> Tensor:
    """The logarithms of the probabilities of all paths that are at a target at a time: [times, batch, targets]."""
    (times, batch, _), n = meta(logarithms).shape, meta(targets).shape[1]
    place, dtype = meta(logarithms).place, meta(logarithms).dtype
    rows = reshaped(counted(logarithms, batch), [1, batch, 1])
    moments = reshaped(counted(logarithms, times), [times, 1, 1])
    scores = _operators.index(logarithms, [moments, rows, _operators.unsqueeze(targets, 0)])
    scores = _operators.clip(scores, NEVER, None)
    # A path may skip the blank between two labels, unless they are equal.
    two_before = concat([targets[:, :1], targets[:, :1], targets[:, :-2]], 1) if n > 2 else targets
    skip = _operators.where(targets == two_before, filled((), NEVER, dtype, place), filled((), 0, dtype, place))
    edge = filled((batch, 2), NEVER, dtype, place)
    begun = _operators.where(counted(logarithms, n) < 2, step_of(scores, 0), filled((), NEVER, dtype, place))
    found = [begun]
    for moment in range(1, times):
        before = concat([edge, found[-1]], 1)
        stepped = _operators.logaddexp(found[-1], between(before, 1, 1, n + 1))
        skipped = _operators.add(between(before, 1, 0, n), skip)
        found.append(_operators.add(_operators.logaddexp(stepped, skipped), step_of(scores, moment)))
    return stack(found)


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
    if not meta(ids).numel:
        return _operators.assign(ids)
    rows = reshaped(counted(ids, shape[1]), [shape[1], 1])
    # A parent below 0 would count from the end: it becomes one that is out of range.
    parents = _operators.where(parents < 0, full_0d(parents, shape[2]), parents)
    found, beams = [ids[-1]], parents[-1]
    for step in range(shape[0] - 2, -1, -1):
        found.append(_operators.index(ids[step], [rows, beams]))
        beams = _operators.index(parents[step], [rows, beams])
    return stack(found[::-1])


__all__ = ["ctc_loss", "gather_tree"]
