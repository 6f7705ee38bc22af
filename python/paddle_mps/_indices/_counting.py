"""Distinct elements, places in sorted sequences, and histograms.

The shapes of some results depend on the data: on the number of distinct elements, or on the largest number counted.
Those functions wait for the device. Histograms, `bincount`, and `unique` with an axis are computed by NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import _array
from .._arrays._array import reshaped
from .._arrays._creation import full, linspace
from .._calls import _complex, _operators
from .._calls._call import into, renamed
from .._calls._displaced import together
from .._core import _dtype
from .._core._caller import dimensions_text
from .._core._convert import index, of_one_place, real, said, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, from_array, meta
from .._maths import _ops
from .._maths._arithmetic import cast
from ._sorting import axis_along, changes, ordered

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike


def unique(
    x: Tensor,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    sorted: bool = True,
    name: str | None = None,
) -> Any:
    """The distinct elements in ascending order, or the distinct slices along an axis. A nan equals nothing.

    Args:
        return_index: also the index of the first of each among all elements.
        return_inverse: also the index of each element among the distinct ones.
        return_counts: also how often each of them occurs.
        axis: None: of all elements.
        dtype: of these indices: int64 or int32.
        sorted: the results are in order whatever it says.

    Returns:
        A tensor, or a tuple with those that are asked for.

    Raises:
        UnsupportedError: dtype is another one.
        ValueError: the axis is out of range.
    """
    x = tensor(x, "unique", "x")
    small = index_dtype("unique", dtype)
    if axis is not None:
        axis = axis_along("unique", x, axis)
    wanted = (return_index, return_inverse, return_counts)
    if 0 in meta(x).shape:
        nothing = full([0], 0, dtype=small, place=meta(x).place)
        return answered(x, [nothing] * 3, wanted)
    if axis is not None and len(meta(x).shape) > 1:
        return unique_slices(x, axis, small, wanted)
    line = _array.reshape(x, [1, -1])
    values, places = ordered(line)
    first = changes(values)
    starts = _array.reshape(_array.nonzero(_array.reshape(first, [-1])), [-1])
    flat = _array.reshape(places, [-1])
    n = meta(line).shape[1]
    numbers = _operators.cumsum(cast(_array.reshape(first, [-1]), "int64"), 0, None) - 1
    back = _operators.index_put(flat, numbers, [flat])
    ends = _array.concat([starts[1:], full([1], n, dtype="int64", place=meta(x).place)], 0)
    found = _operators.gather(_array.reshape(values, [-1]), starts, 0)
    extras = [_operators.gather(flat, starts, 0), back, ends - starts]
    return answered(found, [cast(t, small) for t in extras], wanted)


def index_dtype(function: str, dtype: Any) -> Any:
    """The dtype of indices.

    Raises:
        UnsupportedError: it is neither int64 nor int32.
    """
    found = _dtype.dtype(dtype)
    if found not in (_dtype.int64, _dtype.int32):
        raise UnsupportedError(f"[{function}] dtype is {found}; want int64 or int32")
    return found


def answered(found: Tensor, extras: Sequence[Tensor], wanted: Sequence[bool]) -> Any:
    """A tensor, and of the extras those that are wanted."""
    some = [t for t, w in zip(extras, wanted) if w]
    return (found, *some) if some else found


def unique_slices(x: Tensor, axis: int, small: Any, wanted: Sequence[bool]) -> Any:
    """The distinct slices of x along an axis in ascending order of their elements."""
    m = meta(x)
    array = (cast(x, "float32") if m.dtype is _dtype.bfloat16 else x).numpy()
    table = np.moveaxis(array, axis, 0).reshape(m.shape[axis], -1)
    rank = np.zeros(len(table), np.int64)
    order = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    inner = table[order]
    rank[1:] = np.cumsum((inner[1:] != inner[:-1]).any(1))
    first = np.flatnonzero(np.r_[True, rank[1:] != rank[:-1]])
    back = np.empty_like(rank)
    back[order] = rank
    extras = [order[first], back, np.bincount(rank)]
    found = _operators.gather(x, from_array(order[first], m.place), axis)
    return answered(found, [cast(from_array(e, m.place), small) for e in extras], wanted)


@renamed(input="x", dim="axis")
def unique_consecutive(
    x: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    dtype: DTypeLike = "int64",
    name: str | None = None,
) -> Any:
    """The elements, or the slices along an axis, that are other than the one before. A nan equals nothing.

    Args:
        return_inverse: also the index of each element's run.
        return_counts: also how long each run is.
        axis: None: of all elements in row-major order.
        dtype: of these indices: int64 or int32.

    Returns:
        A tensor, or a tuple with those that are asked for.

    Raises:
        UnsupportedError: dtype is another one.
        ValueError: the axis is out of range.
    """
    x = tensor(x, "unique_consecutive", "x")
    small, place, axis = index_dtype("unique_consecutive", dtype), meta(x).place, axis
    if axis is None or not meta(x).shape:
        if axis is not None:
            axis_along("unique_consecutive", x, axis)
        x, axis = reshaped(x, [meta(x).numel]), 0
    axis = axis_along("unique_consecutive", x, axis)
    n = meta(x).shape[axis]
    if 0 in meta(x).shape:
        nothing = full([0], 0, dtype=small, place=place)
        return answered(x, [nothing] * 2, (return_inverse, return_counts))
    front = [axis, *(a for a in range(len(meta(x).shape)) if a != axis)]
    table = _array.reshape(_array.transpose(x, front), [n, -1])
    if n == 1:
        differ = full([0], False, dtype="bool", place=place)
    elif meta(table).shape[1] == 1:
        line = _array.reshape(table, [n])
        differ = _ops.not_equal(line[1:], line[: n - 1])
    else:
        differ = _ops.any(_ops.not_equal(table[1:], table[: n - 1]), axis=1)
    first = _array.concat([full([1], True, dtype="bool", place=place), differ], 0)
    starts = _array.reshape(_array.nonzero(first), [-1])
    extras = []
    if return_inverse:
        extras.append(_operators.cumsum(cast(first, "int64"), 0, None) - 1)
    if return_counts:
        extras.append(_array.concat([starts[1:], full([1], n, dtype="int64", place=place)], 0) - starts)
    found = _operators.gather(x, starts, axis)
    return (found, *[cast(e, small) for e in extras]) if extras else found


@renamed(input="values")
def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    side: str | None = None,
    out: Tensor | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Where values would be inserted into the last axis of sorted sequences.

    Args:
        sorted_sequence: in ascending order along the last axis; of one axis, or with the other axes of values.
        out_int32: the result is int32, else int64.
        right, side: behind elements that are equal (right, side="right"), else before them. nan goes to the end.
        out: takes the result and is returned.
        sorter: indices that put each sequence in order.

    Raises:
        RuntimeError: the shapes do not fit.
        ValueError: an argument is no tensor.
    """
    sequence, wanted = (
        tensor(sorted_sequence, "searchsorted", "sorted_sequence"),
        tensor(values, "searchsorted", "values"),
    )
    right = bool(right) or side == "right"
    shape, place = meta(wanted).shape, meta(wanted).place
    have = meta(sequence).shape
    if not have or (len(have) > 1 and have[:-1] != shape[:-1]):
        raise RuntimeError(
            f"[searchsorted] the sequences have shape {list(have)} and the values {list(shape)}; want one sequence, "
            "or equal dimensions but for the last"
        )
    if sorter is not None:
        sequence = reshaped(along(rows(sequence), rows(tensor(sorter, "searchsorted", "sorter"))), have)
    if not meta(wanted).numel:
        found = full(list(shape), 0, dtype="int64", place=place)
    else:
        common = joint(meta(sequence).dtype, meta(wanted).dtype, place)
        found = _operators.searchsorted(cast(sequence, common), cast(wanted, common), right)
    return into(out, cast(found, "int32") if out_int32 else found)


def rows(x: Tensor) -> Tensor:
    """x as lines along its last axis."""
    shape = meta(x).shape
    return reshaped(x, [math.prod(shape[:-1]), shape[-1] if shape else 1])


def along(x: Tensor, at: Tensor) -> Tensor:
    """Of each line of x the elements at its places."""
    m = meta(at)
    return _operators.index(x, [from_array(np.arange(m.shape[0])[:, None], m.place), at])


def joint(x: Any, y: Any, place: Any) -> Any:
    """The dtype in which elements of two dtypes are compared."""
    if x is y:
        return x
    if x.is_complex or y.is_complex:
        raise UnsupportedError(
            f"[searchsorted] got tensors of {x.name} and {y.name}; want real numbers, which have an order"
        )
    if x.is_floating or y.is_floating:
        return _dtype.float64 if place.is_cpu_place() else _dtype.float32
    return _dtype.int64


@renamed(input="x", boundaries="sorted_sequence")
def bucketize(
    x: Tensor,
    sorted_sequence: Tensor,
    out_int32: bool = False,
    right: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """`searchsorted` of x in one sequence.

    Raises:
        ValueError: the sequence has other than one dimension, or an argument is no tensor.
    """
    if len(meta(tensor(sorted_sequence, "bucketize", "sorted_sequence")).shape) != 1:
        raise ValueError(f"[bucketize] sorted_sequence has shape {list(sorted_sequence.shape)}; want one dimension")
    return searchsorted(sorted_sequence, tensor(x, "bucketize", "x"), out_int32, right, out=out)


@renamed(elements="x", test_elements="test_x")
def isin(
    x: Tensor, test_x: Tensor, assume_unique: bool = False, invert: bool = False, name: str | None = None
) -> Tensor:
    """Whether each element of x is among those of test_x. A nan is not.

    Args:
        assume_unique: changes nothing.
        invert: whether it is not among them.

    Raises:
        TypeError: an argument is no tensor, or the dtypes are neither one nor two floating-point ones.
    """
    for given in (x, test_x):
        if not isinstance(given, Tensor):
            raise TypeError(f"[isin] got {type(given).__name__}; want a Tensor")
    kinds = meta(x).dtype, meta(test_x).dtype
    if kinds[0] is not kinds[1] and not (kinds[0].is_floating and kinds[1].is_floating):
        raise TypeError(
            f"[isin] x is {kinds[0].name} and test_x {kinds[1].name}; want one dtype, or two floating-point ones"
        )
    of_one_place("isin", x, test_x)
    if kinds[0] is not kinds[1]:
        common = joint(*kinds, meta(x).place)
        x, test_x = cast(x, common), cast(test_x, common)
    return _operators.isin(x, test_x, bool(invert))


def complex_isin(x: Tensor, test_x: Tensor, invert: bool) -> Tensor:
    """The same of complex numbers, which have no order: each is compared with all."""
    found = full(list(meta(x).shape), False, dtype="bool", place=meta(x).place)
    for i in range(meta(test_x).numel):
        found = _ops.logical_or(found, _ops.equal(x, _array.reshape(test_x, [-1])[i]))
    return _ops.logical_not(found) if invert else found


_complex.COMPOSITES.update(isin=complex_isin)


def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0, name: str | None = None) -> Tensor:
    """How often each number from 0 to the largest occurs, or the sums of weights.

    Args:
        x: int32 or int64, of one dimension, not negative.
        weights: one a number of x. The sums are float32 of float32 weights, else float64.
        minlength: the least length of the result.

    Raises:
        TypeError: x is of another dtype.
        ValueError: x has other than one dimension or a negative element, weights are of another shape, or minlength is
            negative.
    """
    x = tensor(x, "bincount", "x")
    m, least = meta(x), index("minlength", minlength.item() if isinstance(minlength, Tensor) else minlength)
    if m.dtype not in (_dtype.int32, _dtype.int64):
        raise TypeError(f"[bincount] x is {m.dtype.name}; want int32 or int64")
    if len(m.shape) != 1:
        raise ValueError(f"[bincount] x has shape {list(m.shape)}; want one dimension")
    if least < 0:
        raise ValueError(f"[bincount] minlength is {least}; want 0 or more")
    if weights is not None and meta(weights).shape != m.shape:
        raise ValueError(
            f"[bincount] x has shape {list(m.shape)} and weights {list(meta(weights).shape)}; want them equal"
        )
    if weights is not None:
        of_one_place("bincount", x, weights)
        x, weights = together([x, weights])
    numbers = x.numpy()
    if numbers.size and numbers.min() < 0:
        raise ValueError(f"[bincount] x has a {numbers.min()}; want no negative number")
    return tallied(numbers, weights, least, m.place)


def tallied(numbers: np.ndarray[Any, Any], weights: Tensor | None, least: int, place: Any) -> Tensor:
    """np.bincount; weighted sums are float32 of float32 weights."""
    if weights is None:
        return from_array(np.bincount(numbers, minlength=least).astype(np.int64), place)
    sums = np.bincount(numbers, weights.numpy(), least)
    return from_array(sums.astype(np.float32 if meta(weights).dtype is _dtype.float32 else np.float64), place)


def histogram(
    input: Tensor,
    bins: int = 100,
    min: float = 0.0,
    max: float = 0.0,
    weight: Tensor | None = None,
    density: bool = False,
    name: str | None = None,
) -> Tensor:
    """How many elements lie in each of some bins of one width.

    Args:
        bins: how many.
        min, max: where the first begins and the last ends, both included. Where they are equal, they are the smallest
            and the largest element, and 1 below and above where these are equal. Elements outside and nan are not
            counted.
        weight: what each element counts; the result is then float32.
        density: the result is divided by its sum and by the width, as float32.

    Returns:
        An int64 tensor of bins elements.

    Raises:
        UnsupportedError: input is complex.
        ValueError: bins is below 1, max below min, the range is not finite, for integers none of its numbers is one more
            than another, or weight has another shape.
    """
    x = tensor(input, "histogram", "input")
    if meta(x).dtype.is_complex:
        raise UnsupportedError(f"[histogram] input is {meta(x).dtype.name}; want a real dtype")
    if weight is not None:
        of_one_place("histogram", x, tensor(weight, "histogram", "weight"))
        x, weight = together([x, weight])
        if meta(weight).shape != meta(x).shape:
            raise ValueError(
                f"[histogram] weight is {list(meta(weight).shape)} and input {list(meta(x).shape)}; want one shape"
            )
    place = meta(x).place
    count = index("bins", bins)
    low, high = extent("histogram", x, count, min, max, 1.0)
    if not meta(x).numel:
        return full([count], 0, dtype=meta(x).dtype, place=place)
    shares = None if weight is None else np.ravel(cast(weight, "float32").numpy())
    sums = from_array(tallies(np.ravel(elements(x)), low, high, count, shares), place)
    if not density:
        return sums
    total = cast(sums, "float32")
    result: Tensor = total / _operators.sum(total, None, None, False) / ((high - low) / count)
    return result


BLOCK = 1 << 14  # elements that are counted at a time, which stay in the cache of the processor


def elements(x: Tensor) -> np.ndarray[Any, Any]:
    """The elements as an array; of halves as float32."""
    return (cast(x, "float32") if meta(x).dtype.itemsize == 2 and meta(x).dtype.is_floating else x).numpy()


def tallies(
    flat: np.ndarray[Any, Any], low: float, high: float, count: int, shares: np.ndarray[Any, Any] | None
) -> np.ndarray[Any, Any]:
    """How many elements lie in each of count bins from low to high, as int64; with shares their sums, as float32.

    An element's bin is computed in its own dtype, as in Paddle; that of an integer is exact.
    """
    floating = flat.dtype.kind == "f"
    if not floating:
        low, high = int(low), int(high)
        if low == high:
            raise ValueError(f"[histogram] the range is {low} to {high}; want two integers for integers")
    sums: np.ndarray[Any, Any] = np.zeros(count, np.int64 if shares is None else np.float64)
    large = not floating and max(-low, high, (high - low) * count) >= 2**63
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK]
        part = None if shares is None else shares[start : start + BLOCK]
        if not floating:
            block = block.astype(object if large else np.int64)
        with np.errstate(all="ignore"):  # elements outside may overflow
            at = (block - low) * float(count) / (high - low) if floating else (block - low) * count // (high - low)
            numbers = np.minimum(at.astype(np.int64), count - 1)
        if not (block.min() >= low and block.max() <= high):  # as it is where one is nan
            numbers = np.where(np.logical_and(block >= low, block <= high), numbers, count)  # a bin that is dropped
        sums += np.bincount(numbers, part, count + 1)[:count].astype(sums.dtype)
    return sums if shares is None else sums.astype(np.float32)


def extent(function: str, x: Tensor, bins: int, low: float, high: float, beside: float) -> tuple[float, float]:
    """Where the first of some bins begins and the last ends.

    Raises:
        ValueError: bins is below 1, high below low, or the range is not finite.
    """
    low, high = real(function, "min", low), real(function, "max", high)
    if bins < 1:
        raise ValueError(f"[{function}] bins is {bins}; want 1 or more")
    if high < low:
        raise ValueError(f"[{function}] the range is {low} to {high}; want it in order")
    if low == high and meta(x).numel:
        values = elements(x)
        low, high = values.min().item(), values.max().item()
        if low != low:
            low, high = np.fmin.reduce(values, None).item(), np.fmax.reduce(values, None).item()
        if low != low:
            raise ValueError(f"[{function}] all elements are nan; want a range")
    if low == high:
        low, high = low - beside, high + beside
    if not math.isfinite(high - low):
        raise ValueError(f"[{function}] the range is {low} to {high}; want it finite")
    return low, high


def histogram_bin_edges(
    input: Tensor, bins: int = 100, min: float = 0.0, max: float = 0.0, name: str | None = None
) -> Tensor:
    """The edges of bins of one width, as float32.

    Args:
        bins: how many.
        min, max: the first and the last edge. Where they are equal, they are the smallest and the largest element, and
            0.5 below and above where these are equal.

    Raises:
        ValueError: bins is below 1, max below min, the range is not finite, or there are no elements for it.
    """
    x = tensor(input, "histogram_bin_edges", "input")
    if min == max and not meta(x).numel:
        raise ValueError("[histogram_bin_edges] input has no elements; want some, or a range")
    count = index("bins", bins)
    low, high = extent("histogram_bin_edges", x, count, min, max, 0.5)
    return linspace(low, high, count + 1, dtype="float32", place=meta(x).place)


def histogramdd(
    x: Tensor,
    bins: Tensor | Sequence[int] | Sequence[Tensor] | int = 10,
    ranges: Sequence[float] | None = None,
    density: bool = False,
    weights: Tensor | None = None,
    name: str | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """How many points of several dimensions lie in each cell of a grid.

    Args:
        x: a float32 or float64 tensor of shape [count, dimensions].
        bins: how many bins every dimension has, a list of how many each has, or a list of tensors of edges.
        ranges: where the bins of each dimension begin and end, one pair after the other; None: at the smallest and the
            largest element.
        density: the result is divided by its sum and by the size of each cell.
        weights: what each point counts.

    Returns:
        A tensor of x's dtype with a dimension each, and a list of the edges.

    Raises:
        ValueError: the shapes do not fit.
    """
    x = tensor(x, "histogramdd", "x")
    m = meta(x)
    if len(m.shape) < 2 or m.dtype not in (_dtype.float32, _dtype.float64):
        raise ValueError(
            f"[histogramdd] x is {m.dtype} of shape {list(m.shape)}; want float32 or float64 of two dimensions"
        )
    if weights is not None:
        tensor(weights, "histogramdd", "weights")
    of_one_place("histogramdd", x, *(given for given in (weights, *tensors_of(bins)) if given is not None))
    size = m.shape[-1]
    points = _array.reshape(x, [-1, size]).numpy()
    edges = [np.asarray(e, points.dtype) for e in grid(points, bins, ranges)]
    inside = np.ones(len(points), bool)
    cell = np.zeros(len(points), np.int64)
    for d, e in enumerate(edges):
        column, last = points[:, d], len(e) - 1
        inside &= (column >= e[0]) & (column <= e[-1])
        cell = cell * last + np.minimum(np.searchsorted(e, column, "right") - 1, last - 1)
    shares = None if weights is None else np.ravel(weights.numpy())[inside]
    counts = [len(e) - 1 for e in edges]
    found = np.bincount(cell[inside], shares, math.prod(counts)).reshape(counts).astype(points.dtype)
    if density:
        found = found / found.sum()
        for d, e in enumerate(edges):
            found = found / np.diff(e).reshape([-1 if i == d else 1 for i in range(size)])
    return from_array(found.astype(points.dtype), m.place), [from_array(e, m.place) for e in edges]


def tensors_of(bins: Any) -> list[Tensor]:
    """The tensors of edges among bins."""
    return [b for b in bins if isinstance(b, Tensor)] if isinstance(bins, (list, tuple)) else []


def grid(points: np.ndarray[Any, Any], bins: Any, ranges: Any) -> list[np.ndarray[Any, Any]]:
    """The edges of the bins of each dimension.

    Raises:
        ValueError: bins or ranges has other than one entry a dimension.
    """
    size = points.shape[1]
    for name, value in (("bins", bins), ("ranges", ranges)):
        if not isinstance(value, (int, np.integer, list, tuple, Tensor, np.ndarray)) and value is not None:
            raise TypeError(f"[histogramdd] {name} is {said(value)}; want one or several numbers")
    given = [bins] * size if isinstance(bins, (int, np.integer)) else list(bins)
    if len(given) != size or (ranges is not None and len(ranges) != 2 * size):
        raise ValueError(
            f"[histogramdd] got {len(given)} bins and ranges {ranges} for {dimensions_text(size)}; want one of each"
        )
    edges = []
    for d, b in enumerate(given):
        if isinstance(b, Tensor) and meta(b).shape:
            edges.append(b.numpy())
            continue
        low, high = (
            ranges[2 * d : 2 * d + 2]
            if ranges is not None
            else (points[:, d].min(), points[:, d].max())
            if len(points)
            else (0.0, 1.0)
        )
        if low == high:
            low, high = low - 0.5, high + 0.5
        edges.append(linspace(float(low), float(high), int(b) + 1, dtype=str(points.dtype), place="cpu").numpy())
    return edges


__all__ = [
    "bincount",
    "bucketize",
    "histogram",
    "histogram_bin_edges",
    "histogramdd",
    "isin",
    "searchsorted",
    "unique",
    "unique_consecutive",
]


class CountingMethods:
    """Distinct elements and histograms, as methods of Tensor."""

    __slots__ = ()

    bincount = bincount
    bucketize = bucketize
    histogram = histogram
    histogram_bin_edges = histogram_bin_edges
    histogramdd = histogramdd
    isin = isin
    unique = unique
    unique_consecutive = unique_consecutive
