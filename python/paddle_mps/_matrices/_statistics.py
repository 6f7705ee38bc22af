"""Moments, norms and other reductions that are made of the operators of the table.

Variances subtract the mean first and correct for its rounding; logarithms of sums take out the largest term.
Half precision is computed in float32 and rounded once.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

from .._arrays._array import reshaped
from .._calls import _complex, _grad, _operators, _tracing
from .._calls._call import into, renamed
from .._calls._inplace import in_place
from .._calls._precision import fractional, number_of_terms, rounded
from .._core import _dtype
from .._core._convert import axis_of, flag, one_number, tensor, whole
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta
from .._maths._arithmetic import cast
from ._singular import svdvals

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import Ints

MANY = 1 << 16  # elements: with fewer, nansum takes one way whether there is a nan or not

__all__ = [
    "amax",
    "amin",
    "count_nonzero",
    "logsumexp",
    "nanmean",
    "nansum",
    "norm",
    "reduce_as",
    "renorm",
    "renorm_",
    "std",
    "var",
]


@errors_of("mean", "sum")
@renamed(input="x", dim="axis")
def var(
    x: Tensor,
    axis: Ints | None = None,
    unbiased: bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    correction: float = 1,
    out: Tensor | None = None,
) -> Tensor:
    """The variance of elements, in the dtype of x; nan of nothing.

    Args:
        axis: an axis, several, or None for all.
        unbiased: True divides by n - 1, False by n; None: correction decides.
        keepdim: keep reduced axes with one element.
        correction: the divisor is n - correction, at least 0.
        out: takes the result and is returned.

    Raises:
        TypeError: unbiased is no bool, or correction no number.
        ValueError: x is no tensor, an axis is out of range or stands twice, or unbiased and
            correction are both given.
        UnsupportedError: x is complex.
    """
    if unbiased is not None and correction != 1:
        raise ValueError(f"[var] got unbiased={unbiased} and correction={correction}; want one of them")
    flag("unbiased", unbiased)
    lost = float(one_number(correction, "var", "correction")) if unbiased is None else float(unbiased)
    x = tensor(x, "var", "x")
    if meta(x).dtype.is_complex:
        raise UnsupportedError(f"[var] x is {meta(x).dtype.name}; want real numbers")
    if meta(x).dtype.is_floating:
        result = _operators.variance(x, axis, lost, keepdim)
        divisor = number_of_terms(x, result) - lost if meta(x).numel else 0.0
    else:
        difference = _operators.subtract(x, _operators.mean(x, axis, True))
        squares = _operators.sum(_operators.square(difference), axis, meta(x).dtype, keepdim)
        divisor = number_of_terms(x, squares) - lost if meta(x).numel else 0.0
        result = cast(_operators.divide(squares, max(divisor, 0.0)), meta(x).dtype)
    if divisor <= 0 and lost:
        warnings.warn("[var] the degrees of freedom are at most 0", stacklevel=4)
    return into(out, result)


@errors_of("var")
def std(
    x: Tensor,
    axis: Ints | None = None,
    unbiased: bool = True,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The standard deviation of elements: the square root of `var`.

    Args:
        axis: an axis, several, or None for all.
        unbiased: divide by n - 1 instead of n.
        keepdim: keep reduced axes with one element.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    x = tensor(x, "std", "x")
    flag("unbiased", unbiased)
    if not meta(x).dtype.is_floating:
        return _grad.root(var(x, axis, unbiased, keepdim))
    unbiased = unbiased is None or unbiased
    result = _operators.standard_deviation(x, axis, float(unbiased), keepdim)
    if unbiased and number_of_terms(x, result) <= 1:
        warnings.warn("[var] the degrees of freedom are at most 0", stacklevel=4)
    return result


@renamed(input="x", dim="axis")
def amax(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The largest element; nan if any is.

    Args:
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, an axis is out of range or stands twice, or there is no element.
    """
    return into(out, _operators.max(tensor(x, "amax", "x"), axis, keepdim))


@renamed(input="x", dim="axis")
def amin(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The smallest element; nan if any is.

    Args:
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, an axis is out of range or stands twice, or there is no element.
    """
    return into(out, _operators.min(tensor(x, "amin", "x"), axis, keepdim))


def nansum(
    x: Tensor,
    axis: Ints | None = None,
    dtype: DTypeLike | None = None,
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """The sum of the elements that are not nan; 0 where there are none.

    Args:
        axis: an axis, several, or None for all.
        dtype: x is cast to it first; None: the rule of `sum`, where integers and bools add up as int64.
        keepdim: keep reduced axes with one element.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    x = tensor(x, "nansum", "x")
    described = meta(x)
    if described.numel > MANY and described.place.is_cpu_place() and not _tracing.active():
        # A nan among the elements makes the sum one; without any, one pass over the elements is enough. Other places are not
        # waited for.
        total = _operators.sum(x, axis, dtype, keepdim)
        if not described.dtype.is_floating or not _tracing.found(_operators.isnan(total)):
            return total
    return _operators.nansum(x, axis, dtype, keepdim)


def complex_nansum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: Any = False) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take, and of which none counts as nan."""
    return _operators.sum(x, axis, None if dtype is None else _dtype.BY_NUMBER[dtype], keepdim)


_complex.COMPOSITES.update(nansum=complex_nansum)


def nanmean(x: Tensor, axis: Ints | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean of the elements that are not nan; nan if there are none. Integers are averaged as float32.

    Args:
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    x = tensor(x, "nanmean", "x")
    return _operators.mean_without_nan(x if meta(x).dtype.is_floating else fractional(x), axis, keepdim)


def count_nonzero(x: Tensor, axis: Ints | None = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """How many elements are not zero, as int64; nan is not.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    x = tensor(x, "count_nonzero", "x")
    return _operators.count_nonzero(cast(x, _dtype.bool_) if meta(x).dtype.is_complex else x, axis, keepdim)


@errors_of("max")
@renamed(input="x", dim="axis")
def logsumexp(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """log(sum(exp(x))), without overflow; -inf of nothing. Integers are computed as float32.

    Args:
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    x = tensor(x, "logsumexp", "x")
    x = x if meta(x).dtype.is_floating else fractional(x)
    return into(out, _operators.logsumexp(x, axis, keepdim))


@renamed(ord="p", dim="axis")
def vector_norm(
    x: Tensor,
    p: float = 2.0,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """sum(abs(x) ** p) ** (1 / p) over axes; integers are computed as float32.

    Args:
        p: inf is the largest magnitude, -inf the smallest, 0 the number of elements that are not 0.
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        dtype: x is cast to it first.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, p is no number, or an axis is out of range or stands twice.
    """
    x = tensor(x, "vector_norm", "x")
    if not isinstance(p, (int, float)):
        raise ValueError(f"[vector_norm] p is {p!r}; want an int or a float")
    x = x if dtype is None else cast(x, dtype)
    return into(out, rounded(_operators.p_norm(fractional(magnitudes(x)), float(p), axis, keepdim), x))


def magnitudes(x: Tensor) -> Tensor:
    """What norms are made of: x itself, or of complex numbers their magnitudes."""
    return _operators.abs(x) if meta(x).dtype.is_complex else x


def matrix_norm(
    x: Tensor,
    p: float | str = "fro",
    axis: Ints = (-2, -1),
    keepdim: bool = False,
    name: str | None = None,
) -> Tensor:
    """A norm of matrices.

    Args:
        p: "fro" for the root of the summed squares; 1 and -1 for the largest and the smallest sum
            of magnitudes in a column; inf and -inf for those in a row; 2, -2 and "nuc" for the
            largest, the smallest and the sum of the singular values, which are computed on the CPU.
        axis: the two axes of a matrix: its rows and its columns.
        keepdim: keep both axes with one element.

    Raises:
        ValueError: x is no tensor, axis is not two axes, or there is no such norm.
        TypeError: axis is an int.
    """
    x = tensor(x, "matrix_norm", "x")
    if isinstance(axis, int):
        raise TypeError(f"[matrix_norm] axis is {axis}; want two")
    axes = whole("axis", axis)
    if len(axes) != 2:
        raise ValueError(f"[matrix_norm] axis is {list(axes)}; want two")
    rank = len(meta(x).shape)
    rows, columns = (axis_of("matrix_norm", a, max(rank, 1)) for a in axes)
    if rows == columns:
        raise ValueError(f"[matrix_norm] axis is {list(axes)}; want two that differ")
    singular = p in (2, -2, "nuc")
    wide = x if singular and meta(x).dtype.is_complex else fractional(magnitudes(x))
    if p == "fro":
        return rounded(_operators.p_norm(wide, 2.0, (rows, columns), keepdim), x)
    if singular:
        return rounded(singular_norm(wide, p, rows, columns, keepdim), x)
    if not isinstance(p, (int, float)) or p not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"[matrix_norm] p is {p!r}; want 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    return rounded(_operators.matrix_sums_norm(wide, float(p), rows, columns, keepdim), x)


def singular_norm(x: Tensor, p: Any, rows: int, columns: int, keepdim: bool) -> Tensor:
    """The norm of the singular values of the matrices in two axes of x."""
    others = [a for a in range(len(meta(x).shape)) if a not in (rows, columns)]
    turned = _operators.transpose(x, [*others, rows, columns])
    values = svdvals(turned)
    if p == "nuc" or not meta(values).numel:
        found = _operators.sum(values, -1, None, False)
    else:
        found = (_operators.max if p > 0 else _operators.min)(values, -1, False)
    return _operators.unsqueeze(found, sorted((rows, columns))) if keepdim else found


@errors_of("matrix_norm", "vector_norm")
@renamed(input="x", A="x", ord="p", dim="axis")
def norm(
    x: Tensor,
    p: float | str | None = None,
    axis: Ints | None = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of vectors (`vector_norm`), or of matrices where axis names two axes (`matrix_norm`).

    Args:
        p: the norm; None: 2. "fro" is 2 of vectors; "nuc" is of matrices only.
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        out: takes the result and is returned.
        dtype: x is cast to it first.

    Raises:
        ValueError: x is no tensor, there is no such norm, or an axis is out of range.
    """
    x = tensor(x, "norm", "x")
    x = x if dtype is None else cast(x, dtype)
    axes = None if axis is None else whole("axis", axis)
    if isinstance(p, str) and not (p == "fro" and (axes is None or len(axes) == 1)):
        pair = tuple(range(len(meta(x).shape))) if axes is None else axes
        if p != "fro" or len(pair) == 2:
            return into(out, matrix_norm(x, p, pair, keepdim))
    degree = 2.0 if p is None or isinstance(p, str) else p
    if axes is not None and len(axes) == 2:
        return into(out, matrix_norm(x, degree, axes, keepdim))
    return into(out, vector_norm(x, degree, axes, keepdim))


def renorm(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """x with the slices along an axis scaled down to a p-norm of at most max_norm.

    Raises:
        ValueError: x is no tensor, or axis is out of range.
    """
    x = tensor(x, "renorm", "x")
    p, most = float(one_number(p, "renorm", "p")), float(one_number(max_norm, "renorm", "max_norm"))
    rank = len(meta(x).shape)
    kept = axis_of("renorm", axis, rank)
    return _operators.renorm(x if meta(x).dtype.is_floating else fractional(x), p, kept, most)


def renorm_(x: Tensor, p: float, axis: int, max_norm: float) -> Tensor:
    """`renorm`, whose result takes the place of x; returns x."""
    return in_place(renorm, x, p, axis, max_norm)


def reduce_as(x: Tensor, target: Tensor, name: str | None = None) -> Tensor:
    """The sum of x over the axes along which target was broadcast to the shape of x, in target's shape.

    Raises:
        ValueError: x or target is no tensor, or target does not broadcast to the shape of x.
    """
    x, target = tensor(x, "reduce_as", "x"), tensor(target, "reduce_as", "target")
    if meta(x).shape == meta(target).shape:
        return reshaped(x, meta(x).shape)
    return _operators.reduce_as(x, target if target.stop_gradient else target.detach())


def complex_reduce_as(x: Tensor, target: Tensor) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    shape, wanted = meta(x).shape, meta(target).shape
    lead = len(shape) - len(wanted)
    if lead < 0 or any(w not in (1, n) for w, n in zip(wanted, shape[lead:])):
        raise ValueError(f"[reduce_as] target has shape {list(wanted)}; want one that broadcasts to {list(shape)}")
    axes = [a for a, n in enumerate(shape) if a < lead or (wanted[a - lead] == 1 and n != 1)]
    return reshaped(_operators.sum(x, axes, None, True) if axes else x, wanted)


_complex.COMPOSITES.update(reduce_as=complex_reduce_as)


class StatisticsMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    amax = amax
    amin = amin
    count_nonzero = count_nonzero
    logsumexp = logsumexp
    nanmean = nanmean
    nansum = nansum
    norm = norm
    reduce_as = reduce_as
    renorm = renorm
    renorm_ = renorm_
    std = std
    var = var
