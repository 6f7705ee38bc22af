"""The loss of a transducer, which at each time emits a label or goes on to the next time."""

from __future__ import annotations

from .._calls import _operators
from .._core._convert import index, tensor
from .._core._errors import errors_of
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from ._sequences import check_lengths

__all__ = ["rnnt_loss"]


@errors_of("index", "reshape")
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
    shape, given = meta(of_floats(input, "rnnt_loss")).shape, meta(tensor(label, "rnnt_loss", "label")).shape
    if len(shape) != 4 or given != (shape[0], shape[2] - 1):
        raise ValueError(f"[rnnt_loss] shapes are {list(shape)} and {list(given)}; want [b, t, n + 1, c] and [b, n]")
    blank = index("blank", blank)
    if not 0 <= blank < shape[3]:
        raise ValueError(f"[rnnt_loss] blank is {blank}; want one of the {shape[3]} classes")
    for lengths in (input_lengths, label_lengths):
        check_lengths("rnnt_loss", lengths, shape[0])
    emitted = 0.0 if input.stop_gradient else float(fastemit_lambda)
    return _operators.rnnt_loss(input, label, input_lengths, label_lengths, blank, emitted, reduction)
