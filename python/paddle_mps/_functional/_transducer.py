"""The loss of a transducer, which at each time emits a label or goes on to the next time."""

from __future__ import annotations

from .._arrays._array import concat, reshaped, stack
from .._arrays._creation import filled, full_0d
from .._calls import _operators
from .._calls._precision import rounded, working
from .._core import _dtype
from .._core._convert import index, tensor
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from ._attention import counted
from ._layout import between, step_of
from ._sequences import NEVER, lengths_of, without_padding

__all__ = ["rnnt_loss"]


def rnnt_loss(
    input: Tensor,
    label: Tensor,
    input_lengths: Tensor,
    label_lengths: Tensor,
    blank: int = 0,
    fastemit_lambda: float = 0.001,
    reduction: str = "mean",
    name: str | None = None,
) -> Tensor:
    """-log of the probability of all paths that emit the labels.

    A path is at a time and behind some labels: a blank leads to the next time, a label behind itself. It is computed by
    diagonals of constant time + labels, after A. Graves, Sequence Transduction with Recurrent Neural Networks (2012),
    2.4.

    Args:
        input: logarithms of probabilities, of shape [batch, times, longest label + 1, classes]. No softmax is taken of
            them, as by Paddle on CPUs.
        label: int32, of shape [batch, longest label]; what is behind a label's end does not matter.
        input_lengths, label_lengths: int32, of shape [batch].
        blank: the class that stands for no label.
        fastemit_lambda: the gradient of emitted labels is multiplied by 1 + this (FastEmit); the loss stays.
        reduction: "mean" for the sum of the losses divided by the batch, "sum" or "none".

    Raises:
        AssertionError: there is no such reduction.
        IndexError, ValueError: a label or a length is out of range.
        UnsupportedError: input is not floating-point.
        ValueError: an operand is no tensor, or the shapes do not fit.
    """
    if reduction not in ("mean", "sum", "none"):
        raise AssertionError(f"[rnnt_loss] reduction is {reduction!r}; want 'mean', 'sum' or 'none'")
    x = working(of_floats(input, "rnnt_loss"))
    shape, given = meta(x).shape, meta(tensor(label, "rnnt_loss", "label")).shape
    if len(shape) != 4 or given != (shape[0], shape[2] - 1):
        raise ValueError(f"[rnnt_loss] shapes are {list(shape)} and {list(given)}; want [b, t, n + 1, c] and [b, n]")
    blank = index("blank", blank)
    if not 0 <= blank < shape[3]:
        raise ValueError(f"[rnnt_loss] blank is {blank}; want one of the {shape[3]} classes")
    times, lengths = (lengths_of("rnnt_loss", n, shape[0]) for n in (input_lengths, label_lengths))
    spelled = without_padding(_operators.cast(label, _dtype.int64), lengths, blank, shape[3])
    waiting, emitting = diagonals(x, spelled, blank)
    if fastemit_lambda and not x.stop_gradient:
        # The value is that of the emissions, and the gradient that of the first term.
        fixed = emitting.detach()
        emitting = _operators.subtract(emitting, fixed) * (1 + fastemit_lambda) + fixed
    paths = diagonal_paths(waiting, emitting)
    ends = [_operators.add(times - 1, lengths), counted(x, shape[0]), lengths]
    loss = -_operators.add(_operators.index(paths, ends), _operators.index(waiting, ends))
    if reduction != "none":
        loss = _operators.sum(loss)
    return rounded(loss / shape[0] if reduction == "mean" else loss, input)


def diagonals(logarithms: Tensor, labels: Tensor, blank: int) -> tuple[Tensor, Tensor]:
    """The logarithms of waiting and of emitting at time d - u behind u labels, each of shape [d, batch, u]."""
    batch, times, places, _ = meta(logarithms).shape
    rows = reshaped(counted(logarithms, batch), [1, batch, 1])
    behind = counted(logarithms, places)
    moments = _operators.subtract(reshaped(counted(logarithms, times + places - 1), [-1, 1, 1]), behind)
    there = _operators.logical_and(moments >= 0, moments < times)
    moments = _operators.clip(moments, 0, times - 1)
    last = filled((batch, 1), blank, _dtype.int64, meta(labels).place)  # nothing is emitted behind the last label
    found = []
    for column in (full_0d(labels, blank), _operators.unsqueeze(concat([labels, last], 1), 0)):
        scores = _operators.index(logarithms, [rows, moments, behind, column])
        found.append(_operators.where(there, _operators.clip(scores, NEVER, None), full_0d(scores, NEVER)))
    return found[0], found[1]


def diagonal_paths(waiting: Tensor, emitting: Tensor) -> Tensor:
    """The logarithms of the probabilities of all paths to each point of each diagonal, in the shape of waiting."""
    steps, batch, places = meta(waiting).shape
    never = filled((batch, 1), NEVER, meta(waiting).dtype, meta(waiting).place)
    start = _operators.where(counted(waiting, places) == 0, full_0d(waiting, 0), full_0d(waiting, NEVER))
    found = [_operators.expand(start, [batch, places])]
    for step in range(steps - 1):
        waited = _operators.add(found[-1], step_of(waiting, step))
        emitted = _operators.add(found[-1], step_of(emitting, step))
        found.append(_operators.logaddexp(waited, concat([never, between(emitted, 1, 0, places - 1)], 1)))
    return stack(found)
