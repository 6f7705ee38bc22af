"""What sorts along an axis, what is found by sorting, and scans that the operator table has under other signatures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .._arrays import _array
from .._arrays._array import reshaped
from .._arrays._creation import full
from .._calls import _grad, _operators
from .._calls._call import into, renamed, take
from .._core import _dtype
from .._core._caller import axis_text
from .._core._convert import (
    REQUIRED,
    axis_of,
    chosen,
    described,
    flag,
    index,
    of_one_place,
    one_number,
    said,
    tensor,
    whole,
)
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, from_array, meta
from .._maths import _ops
from .._maths._arithmetic import cast, where

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import Ints


def sort(x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None) -> Tensor:
    """The elements along an axis in ascending or descending order.

    nan counts as larger than anything. Equals stay in their order, whatever stable says.

    Raises:
        TypeError: the axis is no whole number.
        ValueError: the axis is out of range.
    """
    return _operators.sort(tensor(x, "sort", "x"), index("axis", axis), descending)


@renamed(input="x", dim="axis")
def argsort(
    x: Tensor, axis: int = -1, descending: bool = False, stable: bool = False, name: str | None = None
) -> Tensor:
    """Where the elements of `sort` were along the axis, as int64.

    Raises:
        TypeError: the axis is no whole number.
        ValueError: the axis is out of range.
    """
    flag("descending", descending)
    return ordered(tensor(x, "argsort", "x"), index("axis", axis), descending)[1]


def ordered(x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """The elements along an axis in order, and where they were."""
    values, places = _operators.topk(x, None, axis, descending)
    return values, places


@errors_of("sort")
def msort(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The elements in ascending order along the first axis, in a copy; see `sort`.

    Raises:
        ValueError: input is no tensor.
    """
    return into(out, sort(input, axis=0))


class TopKRetType(NamedTuple):
    """What `topk` returns, under Paddle's name."""

    values: Tensor
    indices: Tensor


@renamed(input="x", dim="axis")
def topk(
    x: Tensor,
    k: int | Tensor,
    axis: int | None = None,
    largest: bool = True,
    sorted: bool = True,
    name: str | None = None,
    *,
    out: tuple[Tensor, Tensor] | None = None,
) -> TopKRetType:
    """The k largest or smallest elements along an axis, in order, as values, and their int64 indices, as indices.

    Args:
        k: how many; also a tensor of one element.
        axis: None: the last.
        largest: the largest in descending order, else the smallest in ascending order. nan counts as larger than
            anything, and of equals the first comes first.
        sorted: the results are in order whatever it says.
        out: two tensors that take the results.

    Raises:
        TypeError: k or the axis is no whole number.
        ValueError: k is below 1 or more than the axis has, or the axis is out of range.
    """
    count = k if k.__class__ is int else index("k", k.item() if isinstance(k, Tensor) else k)
    along = -1 if axis is None else axis if axis.__class__ is int else index("axis", axis)
    found = _operators.topk(tensor(x, "topk", "x"), count, along, largest)
    if out is not None:
        if not isinstance(out, (list, tuple)) or len(out) != 2:
            raise TypeError(f"[topk] out is {said(out)}; want two Tensors")
        found = [into(o, t) for o, t in zip(out, found)]
    return TopKRetType(found[0], found[1])


@errors_of("topk")
def kthvalue(
    x: Tensor, k: int, axis: int | None = None, keepdim: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The k-th smallest element along an axis, counted from 1, and its int64 index.

    Raises:
        TypeError: k or the axis is no whole number.
        ValueError: k is below 1 or more than the axis has, or the axis is out of range.
    """
    x, axis = tensor(x, "kthvalue", "x"), -1 if axis is None else index("axis", axis)
    line = x if meta(x).shape else _operators.reshape(x, [1])
    length = meta(line).shape[axis_of("kthvalue", axis, len(meta(line).shape))]
    if not 1 <= index("k", k) <= length:
        raise ValueError(f"[kthvalue] k is {k}; want 1 to the {length} elements of the axis")
    values, places = _operators.kthvalue(line, k, axis)
    return (
        (values, places)
        if keepdim and meta(x).shape
        else (_operators.squeeze(values, axis), _operators.squeeze(places, axis))
    )


def at(x: Tensor, i: int, axis: int, keepdim: bool) -> Tensor:
    """Number i along an axis."""
    if not meta(x).shape:
        return x
    place = from_array(np.array([i] if keepdim else i), meta(x).place)
    return _operators.gather(x, place, axis)


def lines(x: Tensor, axis: int | Sequence[int] | None) -> tuple[Tensor, list[int], list[int]]:
    """x as lines along some axes, which become one: a tensor of two axes.

    Returns:
        The lines, the shape of a result with one element a line, and that with the axes kept as 1.
    """
    shape = list(meta(x).shape)
    axes = (
        range(len(shape))
        if axis is None
        else [a % max(len(shape), 1) for a in ([axis] if isinstance(axis, int) else axis)]
    )
    if not shape:
        return _array.reshape(x, [1, 1]), [], []
    rest = [a for a in range(len(shape)) if a not in axes]
    left = [shape[a] for a in rest]
    kept = [1 if a in axes else d for a, d in enumerate(shape)]
    turned = _array.transpose(x, [*rest, *axes])
    length = math.prod(shape[a] for a in axes)
    if 0 in shape:
        return full([math.prod(left), length], 0, dtype=meta(x).dtype, place=meta(x).place), left, kept
    return _array.reshape(turned, [math.prod(left), length]), left, kept


def picked(x: Tensor, places: Tensor) -> Tensor:
    """Of each line of x the element at its place."""
    number = from_array(np.arange(meta(x).shape[0]), meta(x).place)
    return _operators.index(x, [number, places])


def mode(x: Tensor, axis: int = -1, keepdim: bool = False, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The most frequent element along an axis, the smallest of several, and the index of the last of its equals.

    A nan equals nothing.

    Raises:
        ValueError: the axis is out of range or has no elements.
    """
    x = tensor(x, "mode", "x")
    axis = axis_along("mode", x, axis)
    shape = meta(x).shape
    line = x if shape else _operators.reshape(x, [1])
    if shape and not shape[axis]:
        raise ValueError(f"[mode] x has shape {list(shape)}; want elements along axis {axis}")
    values, places = _operators.mode(line, axis)
    if keepdim and shape:
        return values, places
    return _operators.squeeze(values, axis), _operators.squeeze(places, axis)


def changes(x: Tensor) -> Tensor:
    """Where an element of a line is other than the one before; the first one always is."""
    rows, n = meta(x).shape
    first = full([rows, 1], True, dtype="bool", place=meta(x).place)
    return _array.concat([first, _ops.not_equal(x[:, 1:], x[:, : n - 1])], 1)


def axis_along(function: str, x: Tensor, axis: Any) -> int:
    """An axis of x that counts from the front; a 0-d tensor has one. See `axis_of`."""
    return axis_of(function, axis, max(len(meta(x).shape), 1))


def median(
    x: Tensor = REQUIRED,
    axis: int | None = None,
    keepdim: bool = False,
    mode: str | None = None,
    name: str | None = None,
    *,
    out: Any = None,
    input: Tensor | None = None,
    dim: int | None = None,
) -> Any:
    """The middle of the elements along an axis in order; nan if any is.

    Args:
        axis: None: of all elements.
        mode: "avg": the mean of both middle ones, as float64 of a float64 tensor and else as float32; "min": the
            smaller one, in the dtype of x. None: "min" for a call with input= or dim=, else "avg".
        out: takes the result, a pair of them with mode "min" and an axis.

    Returns:
        The medians; with mode "min" and an axis, also their int64 indices.

    Raises:
        TypeError: x is no tensor.
        ValueError: the axis is out of range, or mode is another word.
    """
    if mode is None:
        mode = "avg" if input is None and dim is None else "min"
    x = chosen("median", "x", x, REQUIRED, "input", input)
    axis = chosen("median", "axis", axis, None, "dim", dim)
    if not isinstance(x, Tensor):
        raise TypeError(f"[median] x is {type(x).__name__}; want a Tensor")
    rank = len(meta(x).shape)
    if axis is not None and (not isinstance(axis, int) or not -max(rank, 1) <= axis < max(rank, 1)):
        raise ValueError(f"[median] axis is {axis!r}; want None or {axis_text(rank)}")
    moded("median", mode)
    line, left, kept = lines(x, axis)
    shape = kept if keepdim else left
    wide = "float64" if meta(x).dtype is _dtype.float64 else "float32"
    if not meta(line).shape[1]:
        empty = full(shape, math.nan, dtype=wide, place=meta(x).place)
        return finished(out, empty, full(shape, 0, dtype="int64", place=meta(x).place), mode, axis)
    values, places = _operators.median_along(line, 1, mode == "min")
    return finished(out, reshaped(values, shape), reshaped(places, shape), mode, axis)


def moded(function: str, mode: str) -> None:
    if mode not in ("avg", "min"):
        raise ValueError(f"[{function}] mode is {mode!r}; want 'avg' or 'min'")


def finished(out: Any, values: Tensor, places: Tensor, mode: str, axis: Any) -> Any:
    """What median and nanmedian answer."""
    if mode == "avg" or axis is None:
        return into(out, values)
    return (values, places) if out is None else (into(out[0], values), into(out[1], places))


def nanmedian(
    x: Tensor, axis: Ints | None = None, keepdim: bool = False, mode: str = "avg", name: str | None = None
) -> Any:
    """`median` of the elements that are not nan, in the dtype of x; nan where there are none.

    Args:
        axis: an axis, several, or None for all.

    Returns:
        The medians; with mode "min" and an axis, also their int64 indices, -1 where all elements are nan.

    Raises:
        ValueError: an axis is out of range or stands twice, axis is empty, or mode is another word.
    """
    x = tensor(x, "nanmedian", "x")
    moded("nanmedian", mode)
    axes = axes_of("nanmedian", x, axis)
    line, left, kept = lines(x, axes)
    shape, place = kept if keepdim else left, meta(x).place
    if not meta(line).numel:
        empty = full(shape, math.nan if meta(x).dtype.is_floating else 0, dtype=meta(x).dtype, place=place)
        return finished(None, empty, full(shape, -1, dtype="int64", place=place), mode, axis)
    values, places = _operators.median_without_nan(line, 1, mode == "min")
    return finished(None, reshaped(values, shape), reshaped(places, shape), mode, axis)


def counts_of(line: Tensor) -> Tensor:
    """How many elements of each line are not nan, as int64."""
    known = _operators.cast(_ops.logical_not(_ops.isnan(line)), "int64")
    return _operators.sum(known, [1], None, False)


def axes_of(function: str, x: Tensor, axis: Any) -> list[int] | None:
    """Axes that count from the front; None for all.

    Raises:
        ValueError: one is out of range or stands twice, or there are none.
    """
    if axis is None:
        return None
    axes = [axis_along(function, x, a) for a in whole("axis", axis)]
    if not axes or len(set(axes)) < len(axes):
        raise ValueError(f"[{function}] axis is {axis!r}; want at least one axis, and each once")
    return axes


@renamed(input="x", dim="axis")
def quantile(
    x: Tensor,
    q: float | Sequence[float] | Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """The elements below which shares q of the others lie, along some axes; nan if any element is.

    Args:
        q: a number from 0 to 1 or several, also as a tensor. Several make a first axis of the result, unless they
            are one.
        axis: an axis, several, or None for all.
        interpolation: what is taken between two elements: "linear", "lower", "higher", "midpoint" or "nearest".

    Raises:
        TypeError: x is no tensor, or q is of another type.
        UnsupportedError: x is no tensor of a floating-point dtype.
        ValueError: q is empty or out of range, an axis is out of range, or interpolation is another word.
    """
    return into(out, quantiles("quantile", x, q, axis, keepdim, interpolation, skip=False))


def nanquantile(
    x: Tensor,
    q: float | Sequence[float] | Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """The quantiles of the elements that are not nan; nan where there are none. See `quantile` for q, axis and interpolation.

    Raises:
        TypeError: x is no tensor, or q is of another type.
        UnsupportedError: x is no tensor of a floating-point dtype.
        ValueError: q is empty or out of range, an axis is out of range, or interpolation is another word.
    """
    return quantiles("nanquantile", x, q, axis, keepdim, interpolation, skip=True)


INTERPOLATIONS = ("linear", "lower", "higher", "nearest", "midpoint")


def quantiles(function: str, x: Any, q: Any, axis: Any, keepdim: bool, interpolation: str, skip: bool) -> Tensor:
    """Quantiles of x, with skip of what is not nan."""
    if not isinstance(x, Tensor):
        raise TypeError(f"[{function}] x is {type(x).__name__}; want a Tensor")
    if isinstance(q, Tensor):
        of_one_place(function, x, q)
    shares = shares_of(function, q)
    if interpolation not in INTERPOLATIONS:
        raise ValueError(f"[{function}] interpolation is {interpolation!r}; want one of {', '.join(INTERPOLATIONS)}")
    if not meta(x).dtype.is_floating:
        raise UnsupportedError(f"[{function}] x is {meta(x).dtype.name}; want a floating-point dtype")
    line, left, kept = lines(x, axes_of(function, x, axis))
    shape, place = kept if keepdim else left, meta(x).place
    rows, n = meta(line).shape
    several = [len(shares)] if len(shares) > 1 else []
    if not rows or not n:
        return full([*several, *shape], math.nan, dtype=meta(x).dtype, place=place)
    if not skip:
        return reshaped(_operators.quantile(line, shares, 1, interpolation), [*several, *shape])
    # Places of which each follows from how many elements a line has; float64 alone has them exactly.
    last = np.maximum(counts_of(line).numpy() - 1, 0)
    values = _operators.sort(line, 1, False)
    found = [reshaped(between(values, share * last, interpolation), shape) for share in shares]
    return _array.stack(found, 0) if several else found[0]


def shares_of(function: str, q: Any) -> list[float]:
    """q as a list."""
    if isinstance(q, Tensor):
        q = q.tolist()
    if not isinstance(q, (int, float, list, tuple)):
        raise TypeError(f"[{function}] q is {type(q).__name__}; want an int, a float, a list, a tuple or a tensor")
    shares = [float(one_number(s, function, "q")) for s in (q if isinstance(q, (list, tuple)) else [q])]
    if not shares:
        raise ValueError(f"[{function}] q is empty; want at least one number")
    if not all(0 <= s <= 1 for s in shares):
        raise ValueError(f"[{function}] q is {q}; want numbers from 0 to 1")
    return shares


def between(values: Tensor, position: np.ndarray[Any, Any], interpolation: str) -> Tensor:
    """Of each line of sorted values what lies at a position, which need not be whole."""
    m = meta(values)
    if interpolation == "nearest":
        return picked(values, from_array(np.round(position).astype(np.int64), m.place))
    floor = np.floor(position)
    below = picked(values, from_array(floor.astype(np.int64), m.place))
    if interpolation == "lower":
        return below
    above = picked(values, from_array(np.ceil(position).astype(np.int64), m.place))
    if interpolation == "higher":
        return above
    if interpolation == "midpoint":
        middle: Tensor = (above + below) / 2
        return middle
    share = position - floor
    weight = from_array(share if m.dtype is _dtype.float64 else share.astype(np.float32), m.place)
    # Where both ends are one element, their difference may be nan: inf - inf.
    mixed = below + (above - below) * cast(weight, m.dtype)
    found: Tensor = where(from_array(share == 0, m.place), below, mixed)
    return found


# ---- Scans


def cummax(
    x: Tensor, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The largest of the elements up to each along an axis, and the index of the last of those; nan once there is one.

    Args:
        axis: None: of all elements, as one line.
        dtype: of the indices: int64 or int32.

    Raises:
        IndexError: the axis is out of range.
        ValueError: dtype is another one.
    """
    values, places = _operators.cummax(x, axis, dtype)
    return values, places


def cummin(
    x: Tensor, axis: int | None = None, dtype: DTypeLike = "int64", name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The smallest of the elements up to each along an axis, and the index of the last of those; nan once there is one.

    Args:
        axis: None: of all elements, as one line.
        dtype: of the indices: int64 or int32.

    Raises:
        IndexError: the axis is out of range.
        ValueError: dtype is another one.
    """
    values, places = _operators.cummin(x, axis, dtype)
    return values, places


def cumprod(
    x: Tensor = REQUIRED,
    dim: int | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    name: str | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """Products of the elements up to each along an axis.

    Args:
        dim: the axis; None: of all elements, as one line.
        dtype: x is cast to it first; None: its own, and int64 of bool.

    Raises:
        ValueError: the axis is out of range.
    """
    if input is not None:
        x = chosen("cumprod", "x", x, REQUIRED, "input", input)
    rank = len(described(x, "cumprod", "x").shape)
    if dim is not None and not (dim.__class__ is int and -rank <= dim < rank):
        axis_along("cumprod", x, dim)
    result = _operators.cumprod(x, dim, dtype)
    return result if out is None else into(out, result)


def cumprod_(x: Tensor, dim: int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`cumprod`, whose result takes the place of x; returns x."""
    # The gradient reads what x was.
    take(x, cumprod(_operators.assign(x) if _grad.asks(x) else x, dim, dtype=dtype))
    return x


def cumsum_(x: Tensor, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`cumsum` in the dtype of x unless another is given; the result takes the place of x, which is returned."""
    x = tensor(x, "cumsum_", "x")
    take(x, _operators.cumsum(x, axis, meta(x).dtype if dtype is None else dtype))
    return x


def logcumsumexp(x: Tensor, axis: int | None = None, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """log(sum(exp(x))) of the elements up to each along an axis; integers as float32.

    Args:
        axis: None: of all elements, as one line.
        dtype: x is cast to it first.

    Raises:
        IndexError: the axis is out of range.
    """
    if dtype is not None or not isinstance(x, Tensor):
        x = cast(tensor(x, "logcumsumexp", "x"), dtype)
    return _operators.logcumsumexp(x, axis)


__all__ = [
    "argsort",
    "cummax",
    "cummin",
    "cumprod",
    "cumprod_",
    "cumsum_",
    "kthvalue",
    "logcumsumexp",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "quantile",
    "sort",
    "topk",
]


class SortingMethods:
    """What sorts and scans, as methods of Tensor."""

    __slots__ = ()

    argsort = argsort
    cummax = cummax
    cummin = cummin
    cumprod = cumprod
    cumprod_ = cumprod_
    cumsum_ = cumsum_
    kthvalue = kthvalue
    logcumsumexp = logcumsumexp
    median = median
    mode = mode
    msort = msort
    nanmedian = nanmedian
    nanquantile = nanquantile
    quantile = quantile
    sort = sort
    topk = topk
