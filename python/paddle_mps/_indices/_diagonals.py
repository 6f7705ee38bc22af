"""Diagonals and triangles of matrices.

A diagonal is a view: it has the stride of both axes together. What writes a diagonal writes through that view.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._arrays._array import flatten, reshaped
from .._arrays._creation import filled, fit, floating, refuse, requiring, room, to_tensor, value_of, where
from .._arrays._indexing import fill
from .._calls import _complex, _grad, _operators
from .._calls._call import into, renamed
from .._calls._inplace import in_place
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import index, real, tensor
from .._core._dtype import DTypeLike
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, from_array, meta
from .._maths._arithmetic import sum as added_up

if TYPE_CHECKING:
    from .._core._typing import PlaceLike, Scalar


@requiring
@renamed(n="num_rows", m="num_columns")
def eye(
    num_rows: int | Tensor,
    num_columns: int | Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones on the diagonal of a matrix of zeros.

    Args:
        num_columns: None: as many as rows.
        dtype: None: the default one.

    Raises:
        TypeError: a size is no whole number from 0.
    """
    refuse(pin_memory)
    rows = size_of("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else size_of("eye", "num_columns", num_columns)
    kind, on = fit(floating(dtype), place, device)
    return into(out, _operators.eye(on.word, rows, columns, 0, kind))


def size_of(function: str, name: str, given: Any) -> int:
    """A size that may be a tensor of one element.

    Raises:
        TypeError: it is no whole number from 0.
    """
    value = value_of(given)
    if not isinstance(value, int) or value < 0:
        raise TypeError(f"[{function}] {name} is {value!r}; want an int from 0")
    return value


def length(shape: Sequence[int], offset: int, first: int, second: int) -> int:
    """How many elements a diagonal over two axes has."""
    rows, columns = shape[first], shape[second]
    return max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)


def plane(function: str, rank: int, first: int, second: int) -> tuple[int, int]:
    """Two different axes, counted from the front.

    Raises:
        IndexError: the tensor has fewer than two axes, or one is out of range.
        ValueError: both are the same.
    """
    first, second = index("axis", first), index("axis", second)
    for axis in (first, second):
        if rank < 2 or not -rank <= axis < rank:
            raise IndexError(f"[{function}] axis is {axis} and x has {axes_text(rank)}; want one of at least 2 axes")
    if first % rank == second % rank:
        raise ValueError(f"[{function}] the axes are {first} and {second}; want two different ones")
    return first % rank, second % rank


@renamed(input="x", dim1="axis1", dim2="axis2")
def diagonal(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The diagonal of the matrices over two axes, as a view whose last axis it is.

    Args:
        offset: how far it is above the main diagonal; below it if negative.

    Raises:
        IndexError: an axis is out of range.
        ValueError: both axes are the same.
    """
    x = tensor(x, "diagonal", "x")
    return _operators.diagonal(x, offset, *plane("diagonal", len(meta(x).shape), axis1, axis2))


@renamed(input="x", src="y", dim1="axis1", dim2="axis2")
def diagonal_scatter(
    x: Tensor, y: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None
) -> Tensor:
    """A copy of x with y on the diagonal over two axes; see `diagonal`.

    Raises:
        AssertionError: y has another shape than the diagonal.
    """
    x = tensor(x, "diagonal_scatter", "x")
    offset, first, second = of_diagonal("diagonal_scatter", x, y, offset, axis1, axis2)
    return _operators.diagonal_scatter(x, y, offset, first, second)


def of_diagonal(function: str, x: Tensor, y: Any, offset: Any, first: int, second: int) -> tuple[int, int, int]:
    """Where a diagonal of x is, whose shape y must have.

    Raises:
        AssertionError: y has another one.
    """
    shape, offset = meta(x).shape, index("offset", offset)
    first, second = plane(function, len(shape), first, second)
    wanted = [*(n for a, n in enumerate(shape) if a not in (first, second)), length(shape, offset, first, second)]
    if list(meta(tensor(y, function, "y")).shape) != wanted:
        raise AssertionError(f"[{function}] y has shape {list(meta(y).shape)}; want {wanted}")
    return offset, first, second


@errors_of("fill_diagonal_tensor_")
def fill_diagonal_tensor(
    x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """`diagonal_scatter` under another name, with its errors."""
    x = tensor(x, "fill_diagonal_tensor", "x")
    offset, first, second = of_diagonal("fill_diagonal_tensor", x, y, offset, dim1, dim2)
    return _operators.diagonal_scatter(x, y, offset, first, second)


def fill_diagonal_tensor_(
    x: Tensor, y: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1, name: str | None = None
) -> Tensor:
    """Writes y onto the diagonal over two axes; returns x.

    Raises:
        AssertionError: y has another shape than the diagonal.
    """
    fill(_operators.diagonal(x, *of_diagonal("fill_diagonal_tensor_", x, y, offset, dim1, dim2)), y)
    return x


def fill_diagonal_(x: Tensor, value: Scalar, offset: int = 0, wrap: bool = False, name: str | None = None) -> Tensor:
    """Writes a number onto the diagonal over all axes; returns x.

    Args:
        offset: how far it is above the main diagonal.
        wrap: of a matrix with more rows than columns, begin again behind the last column, with one row left out.

    Raises:
        ValueError: x has fewer than two axes.
    """
    shape = meta(tensor(x, "fill_diagonal_", "x")).shape
    if len(shape) < 2:
        raise ValueError(f"[fill_diagonal_] x has shape {list(shape)}; want at least two axes")
    if len(shape) > 2:
        fill(steep(x, offset), value)
        return x
    rows, columns = shape
    last = rows if wrap else min(rows, 1)
    for row in range(0, last, columns + 1):
        fill(band(x, row, offset), value)
    return x


def band(x: Tensor, row: int, offset: int) -> Tensor:
    """The diagonal of the square matrix that begins in a row of a tall one; of a wide one its diagonal."""
    rows, columns = meta(x).shape
    return _operators.diagonal(x[row : row + max(columns, 1)] if rows > columns else x, offset, 0, 1)


def steep(x: Tensor, offset: int) -> Tensor:
    """The diagonal over all axes, as a view."""
    offset = index("offset", offset)
    x = _grad.compact(x)
    m = meta(x)
    first, count = max(-offset, 0), max(min(m.shape) - abs(offset), 0)
    step = sum(m.strides)
    return _operators.as_strided(x, [count], [step], first * step + offset * m.strides[-1] if count else 0)


@renamed(input="x")
def trace(x: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, name: str | None = None) -> Tensor:
    """The sum of the diagonal over two axes, in the dtype of x; see `diagonal`.

    Raises:
        IndexError: an axis is out of range.
        ValueError: both axes are the same.
    """
    x = tensor(x, "trace", "x")
    if meta(x).dtype is _dtype.bool_:
        raise UnsupportedError("[trace] x is bool; want numbers")
    return _operators.trace(x, index("offset", offset), *plane("trace", len(meta(x).shape), axis1, axis2))


@renamed(input="x", diagonal="offset")
def diag(x: Tensor, offset: int = 0, padding_value: Scalar = 0, name: str | None = None) -> Tensor:
    """A matrix with a vector on its diagonal, or a copy of the diagonal of a matrix.

    Args:
        offset: how far the diagonal is above the main one; below it if negative.
        padding_value: what stands beside the diagonal.

    Raises:
        ValueError: x has more than two axes.
    """
    shape = meta(tensor(x, "diag", "x")).shape
    if len(shape) > 2:
        raise ValueError(f"[diag] x has {axes_text(len(shape))}; want at most 2")
    real("diag", "padding_value", padding_value, False)
    if len(shape) == 2:
        return _operators.assign(_operators.diagonal(x, offset, 0, 1))
    return _operators.diag_embed(x if shape else reshaped(x, [1]), index("offset", offset), 0, 1, padding_value)


@renamed(input="x")
def diagflat(x: Tensor, offset: int = 0, name: str | None = None) -> Tensor:
    """A matrix of zeros with all n elements of x, in row-major order, on a diagonal.

    Args:
        offset: the diagonal, above the main one if positive; the matrix has n + abs(offset) rows and columns.

    Raises:
        ValueError: x is no tensor.
    """
    return diag(flatten(tensor(x, "diagflat", "x")), offset)


def diag_embed(input: Tensor | Sequence[Any], offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices of zeros with the last axis of input on a diagonal.

    Args:
        offset: how far the diagonal is above the main one.
        dim1, dim2: which axes of the result the matrices are over.

    Raises:
        IndexError: an axis is out of range.
        ValueError: both are the same.
    """
    x = input if isinstance(input, Tensor) else to_tensor(np.array(input))
    shape = meta(x).shape
    if not shape:
        raise IndexError("[diag_embed] the tensor has no axes; want at least one")
    first, second = plane("diag_embed", len(shape) + 1, dim1, dim2)
    return _operators.diag_embed(x, index("offset", offset), first, second, 0)


def triangle(function: str, x: Any, diagonal: int, lower: bool) -> Tensor:
    """The elements on and below a diagonal, or on and above it; zeros elsewhere.

    Raises:
        ValueError: x is no tensor, or has fewer than two axes.
    """
    given = tensor(x, function, "x")
    shape = meta(given).shape
    if len(shape) < 2:
        raise ValueError(f"[{function}] x has {axes_text(len(shape))}; want at least 2")
    return (_operators.tril if lower else _operators.triu)(given, index("diagonal", diagonal))


def complex_triangle(row: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The same of complex numbers, which rows of formulas do not take."""

    def cut(x: Tensor, diagonal: int = 0) -> Tensor:
        m = meta(x)
        kept = row(filled(m.shape[-2:], True, _dtype.bool_, m.place), diagonal)
        return _operators.where(kept, x, filled((), 0, m.dtype, m.place))

    return cut


def complex_trace(x: Tensor, offset: int, axis1: int, axis2: int) -> Tensor:
    return added_up(_operators.diagonal(x, offset, axis1, axis2), -1)


_complex.COMPOSITES.update(
    trace=complex_trace, tril=complex_triangle(_operators.tril), triu=complex_triangle(_operators.triu)
)


@renamed(input="x")
def tril(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The lower triangles of matrices: zeros above a diagonal.

    Args:
        diagonal: how far it is above the main diagonal; below it if negative.

    Raises:
        ValueError: x has fewer than two axes.
    """
    return into(out, triangle("tril", x, diagonal, True))


@renamed(input="x")
def triu(x: Tensor, diagonal: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The upper triangles of matrices: a copy of x with zeros below a diagonal.

    Args:
        diagonal: above the main one if positive, below it if negative.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or has fewer than two axes.
        TypeError: diagonal is no int.
    """
    return into(out, triangle("triu", x, diagonal, False))


def tril_(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """`tril`, whose result takes the place of x; returns x."""
    return in_place(tril, x, diagonal)


def triu_(x: Tensor, diagonal: int = 0, name: str | None = None) -> Tensor:
    """`triu`, whose result takes the place of x; returns x."""
    return in_place(triu, x, diagonal)


def tril_indices(
    row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64", *, device: PlaceLike | None = None
) -> Tensor:
    """The indices of the elements on and below a diagonal of a matrix: one row of them an axis.

    Raises:
        TypeError: a size is no int from 0, the offset no int, or the dtype neither int32 nor int64.
    """
    return indices("tril_indices", True, row, col, offset, dtype, device)


def triu_indices(
    row: int, col: int | None = None, offset: int = 0, dtype: DTypeLike = "int64", *, device: PlaceLike | None = None
) -> Tensor:
    """The indices of the elements on and above a diagonal of a matrix, in row-major order: shape [2, n], rows and columns.

    Args:
        row, col: the size of the matrix; col is row if it is None.
        offset: the diagonal, above the main one if positive.
        dtype: int64 or int32.
        device: where the tensor lives; None: the current place.

    Raises:
        TypeError: a size is no int from 0, or the offset no int.
        UnsupportedError: the dtype is neither int32 nor int64.
    """
    return indices("triu_indices", False, row, col, offset, dtype, device)


def indices(function: str, lower: bool, row: Any, col: Any, offset: Any, dtype: DTypeLike, device: Any) -> Tensor:
    """The indices of a triangle. Memory for the result is allocated first, so that a size beyond it is refused at once."""
    rows = size_of(function, "row", row)
    columns = rows if col is None else size_of(function, "col", col)
    kind = _dtype.dtype(dtype)
    if kind is not _dtype.int64 and kind is not _dtype.int32:
        raise UnsupportedError(f"[{function}] dtype is {kind.name}; want int64 or int32")
    place, diagonal = where(None, device), index("offset", offset)
    if lower:  # row i has min(i + diagonal + 1, columns) of them
        first, end = max(-diagonal, 0), rows
        first = min(first, end)
        full = min(max(columns - diagonal - 1, first), end)  # rows from this one on have all columns
        count = triangular(first + diagonal + 1, full + diagonal) + (end - full) * columns
    else:  # row i has columns - max(i + diagonal, 0)
        first, end = 0, max(min(rows, columns - diagonal), 0)
        full = min(max(-diagonal, 0), end)  # rows before this one have all columns
        count = full * columns + triangular(columns - diagonal - end + 1, columns - diagonal - full)
    room(function, [2, count], kind, place)
    i = np.arange(first, end, dtype=np.int64)
    starts = np.zeros_like(i) if lower else np.maximum(i + diagonal, 0)
    lengths = np.minimum(i + diagonal + 1, columns) if lower else columns - starts
    j = np.arange(count, dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths - starts, lengths)
    return from_array(np.array([np.repeat(i, lengths), j], kind.numpy), place)


def triangular(first: int, last: int) -> int:
    """The sum of all integers from first to last; 0 if there are none."""
    return (first + last) * (last - first + 1) // 2 if last >= first else 0


__all__ = [
    "diag",
    "diag_embed",
    "diagflat",
    "diagonal",
    "diagonal_scatter",
    "eye",
    "trace",
    "tril",
    "tril_",
    "tril_indices",
    "triu",
    "triu_",
    "triu_indices",
]


class DiagonalMethods:
    """The methods of this module."""

    __slots__ = ()

    diag = diag
    diag_embed = diag_embed
    diagflat = diagflat
    diagonal = diagonal
    diagonal_scatter = diagonal_scatter
    fill_diagonal_ = fill_diagonal_
    fill_diagonal_tensor = fill_diagonal_tensor
    fill_diagonal_tensor_ = fill_diagonal_tensor_
    trace = trace
    tril = tril
    tril_ = tril_
    triu = triu
    triu_ = triu_
