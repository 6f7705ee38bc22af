"""Rows of a table by their numbers."""

from __future__ import annotations

from .._arrays._array import reshaped
from .._arrays._creation import full_0d
from .._arrays._indexing import put_into
from .._calls import _operators
from .._calls._call import renamed
from .._calls._grad import no_grad
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import index, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats

__all__ = ["embedding"]


@renamed(input="x")
def embedding(
    x: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    sparse: bool = False,
    scale_grad_by_freq: bool = False,
    name: str | None = None,
) -> Tensor:
    """The rows of weight that x names.

    Args:
        x: int32 or int64, of any shape.
        weight: of shape [rows, features].
        padding_idx: a number for which the result is 0, and which changes no row in training; below 0 it counts from
            the end.
        max_norm: rows that are used and longer are scaled in weight itself to this length first.
        norm_type: the length is the norm of this order.
        sparse: changes nothing: there are no sparse gradients.
        scale_grad_by_freq: whether the gradient of a row is divided by how often it is used.

    Returns:
        A tensor of shape [*x.shape, features].

    Raises:
        AttributeError: scale_grad_by_freq is given with sparse.
        IndexError, ValueError: a number is out of range.
        UnsupportedError: x is neither int32 nor int64, or weight not floating-point.
        ValueError: an operand is no tensor, weight has not 2 axes, or padding_idx is out of range.
    """
    known, table = meta(tensor(x, "embedding", "x")), meta(of_floats(weight, "embedding")).shape
    if known.dtype not in (_dtype.int32, _dtype.int64):
        raise UnsupportedError(f"[embedding] x is {known.dtype.name}; want int32 or int64")
    if len(table) != 2:
        raise ValueError(f"[embedding] weight has {axes_text(len(table))}; want 2")
    padding = None if padding_idx is None else index("padding_idx", padding_idx)
    if padding is not None and not -table[0] <= padding < table[0]:
        raise ValueError(f"[embedding] padding_idx is {padding}; want a number from {-table[0]} to {table[0] - 1}")
    if scale_grad_by_freq and sparse:
        raise AttributeError("[embedding] scale_grad_by_freq is True; want False with sparse")
    if not max_norm and padding is None and not scale_grad_by_freq:
        return _operators.embedding_rows(x, weight)
    line = reshaped(x, [known.numel])
    # A number below 0 would count from the end: it becomes one that is out of range.
    line = _operators.where(line < 0, full_0d(line, table[0]), line)
    if max_norm:
        shorten(weight, line, float(max_norm), float(norm_type))
    rows = _operators.gather(weight, line, 0)
    if scale_grad_by_freq and not weight.stop_gradient:
        # The value is that of the rows, and the gradient that of the first term.
        fixed = rows.detach()
        rows = _operators.divide(_operators.subtract(rows, fixed), frequencies(line, table[0], rows)) + fixed
    if padding is not None:
        padded = _operators.unsqueeze(line == padding % table[0], 1)
        rows = _operators.where(padded, full_0d(rows, 0), rows)
    return reshaped(rows, [*known.shape, table[1]])


def shorten(weight: Tensor, line: Tensor, most: float, order: float) -> None:
    """Scales rows of a table, in its memory, to a norm of at most so much."""
    with no_grad():
        rows = _operators.gather(weight, line, 0)
        length = _operators.p_norm(rows, order, 1, True)
        scale = _operators.where(length > most, most / (length + 1e-7), full_0d(length, 1))
        # Of several that are written to one place all are equal.
        put_into(weight, weight, _operators.multiply(rows, scale), [line])


def frequencies(line: Tensor, count: int, like: Tensor) -> Tensor:
    """How often each element of a line of numbers stands in it, as a column in the dtype of like."""
    m = meta(line)
    zeros = _operators.full(m.place.word, (count,), 0, meta(like).dtype)
    ones = _operators.full(m.place.word, (m.numel,), 1, meta(like).dtype)
    counts = _operators.index_reduce(zeros, ones, [line], "add")
    return _operators.unsqueeze(_operators.gather(counts, line, 0), 1)
