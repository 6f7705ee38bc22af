"""Operators on whole arrays that Paddle calls in ways of its own, and what is made of others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dtype, _ids
from ._call import (
    call,
    call_many,
    call_view,
    either,
    element_type,
    flag,
    index,
    integer,
    integers,
    meta,
    renamed,
    swap,
    tensor,
    whole,
)
from ._indexing import INTEGER, WHOLE, basic, coordinates, places
from ._place import cpu

if TYPE_CHECKING:
    from ._tensor import Tensor
    from ._typing import Ints, ShapeLike


def spread(first: Any, rest: Sequence[Any]) -> Any:
    """f(2, 3) means f([2, 3])."""
    return (first, *rest) if rest else first


@renamed(input="x")
def reshape(x: Tensor, shape: ShapeLike, *more: int, name: str | None = None) -> Tensor:
    """The elements of x under another shape: a view where strides allow, else a copy.

    Args:
        shape: new dimensions; 0 copies that of x, one -1 is inferred.

    Raises:
        TypeError: a dimension is no whole number.
        ValueError: the number of elements differs, or a dimension is below -1.
    """
    if isinstance(shape, str):
        raise ValueError(f"[reshape] shape is {shape!r}; want ints")
    return call_view(_ids.RESHAPE, tensor(x, "reshape", "x"), (integers("shape", spread(shape, more)),))


def reshape_(x: Tensor, shape: ShapeLike, *more: int, name: str | None = None) -> Tensor:
    """`reshape`, whose result takes the place of x; returns x."""
    swap(x, reshape(x, shape, *more))
    return x


@renamed(input="x", dim0="perm")
def transpose(
    x: Tensor, perm: Ints, other: int | None = None, name: str | None = None, *, dim1: int | None = None
) -> Tensor:
    """x with its axes in another order, as a view.

    Args:
        perm: axis i of the result is axis perm[i] of x. transpose(x, a, b) with two ints swaps
            the axes a and b.

    Raises:
        ValueError: perm does not name each axis once.
    """
    second = other if dim1 is None else dim1
    if second is not None:
        perm = exchanged(len(meta(x).shape), index("perm", perm), index("perm", second))
    return call_view(_ids.TRANSPOSE, tensor(x, "transpose", "x"), (integers("perm", perm),))


def exchanged(rank: int, a: int, b: int) -> list[int]:
    """All axes with two of them swapped."""
    for axis in (a, b):
        if not -rank <= axis < rank:
            raise IndexError(f"[transpose] axis is {axis}; want one of the {rank} axes")
    order = list(range(rank))
    order[a], order[b] = order[b], order[a]
    return order


def permute(input: Tensor, dims: Ints, *more: int) -> Tensor:
    """`transpose` with the axes as arguments of their own, or as a list."""
    return transpose(input, spread(dims, more))


def t(input: Tensor, name: str | None = None) -> Tensor:
    """The transpose of a matrix; vectors and 0-d tensors stay.

    Raises:
        ValueError: the tensor has more than two dimensions.
    """
    rank = len(meta(tensor(input, "t", "input")).shape)
    if rank > 2:
        raise ValueError(f"[t] the tensor has {rank} dimensions; want at most 2")
    return transpose(input, list(range(rank))[::-1])


@renamed(input="x", dim="axis")
def squeeze(x: Tensor, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """x without axes of one element, as a view.

    Args:
        axis: the axes that go if they have one element; None: all such axes.

    Raises:
        ValueError: an axis is out of range.
    """
    return call_view(_ids.SQUEEZE, tensor(x, "squeeze", "x"), (integers("axis", axis),))


@renamed(input="x", dim="axis")
def unsqueeze(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """x with further axes of one element, as a view.

    Args:
        axis: where they appear, one after the other; negative ones count from the end.

    Raises:
        ValueError: an axis is out of range.
    """
    return call_view(_ids.UNSQUEEZE, tensor(x, "unsqueeze", "x"), (integers("axis", axis),))


@renamed(input="x", size="shape")
def expand(x: Tensor, shape: ShapeLike, *more: int, name: str | None = None) -> Tensor:
    """A copy of x, broadcast to a shape; -1 keeps a dimension.

    Raises:
        ValueError: x does not broadcast to the shape.
    """
    return call(_ids.EXPAND, (tensor(x, "expand", "x"),), (integers("shape", spread(shape, more)),))


broadcast_to = expand


def expand_as(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """A copy of x, broadcast to the shape of y."""
    return expand(x, list(meta(tensor(y, "expand_as", "y")).shape))


def slice(input: Tensor, axes: Sequence[int], starts: Ints, ends: Ints) -> Tensor:
    """The indices from starts to before ends on some axes, as a view; bounds are clamped.

    Raises:
        ValueError: axes is no list or tuple, or an axis is out of range.
    """
    if not isinstance(axes, (list, tuple)):
        raise ValueError(f"[slice] axes is {axes!r}; want a list or tuple of ints")
    bounds = integers("axes", axes), integers("starts", starts), integers("ends", ends)
    return call_view(_ids.SLICE, tensor(input, "slice", "input"), bounds)


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """x with the axes from start_axis to stop_axis made one: a view where strides allow.

    Raises:
        ValueError: an axis is out of range, or stop_axis is before start_axis.
    """
    shape = meta(tensor(x, "flatten", "x")).shape
    rank = max(len(shape), 1)
    first, last = (a + rank if a < 0 else a for a in (start_axis, stop_axis))
    if not 0 <= first <= last < rank:
        raise ValueError(f"[flatten] axes are {start_axis} to {stop_axis}; want two of {rank}, in order")
    dims = [*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]]
    if 0 in dims:  # reshape takes a 0 for "that dimension of x"; and there is no memory to share
        return call(_ids.FULL, (), (integers("shape", dims), *zero_like(x)), None, meta(x).place.word)
    return reshape(x, dims)


def zero_like(x: Tensor) -> tuple[Any, Any]:
    return either("fill_value", 0), element_type("dtype", meta(x).dtype)


def split(
    x: Tensor, num_or_sections: int | Sequence[int | Tensor], axis: int | Tensor = 0, name: str | None = None
) -> list[Tensor]:
    """Copies of the parts of x along an axis.

    Args:
        num_or_sections: how many equal parts, or the length of each, one of which may be -1.

    Raises:
        TypeError: it is neither.
        ValueError: the parts do not make up the axis.
    """
    x = tensor(x, "split", "x")
    if isinstance(num_or_sections, (list, tuple)):
        sections = whole("sections", num_or_sections)
        if len(sections) == 1:  # a list of one length is no number of parts
            return divided(x, (sections[0], 0), axis, 2)[:1]
        return divided(x, sections, axis, len(sections))
    if isinstance(num_or_sections, bool) or not isinstance(num_or_sections, (int, np.integer)):
        raise TypeError(f"[split] num_or_sections is {num_or_sections!r}; want an int, a list or a tuple")
    largest = max(meta(x).shape, default=0)
    if num_or_sections > max(largest, 1):
        raise ValueError(f"[split] got {num_or_sections} parts; want a divisor of the axis of shape {x.shape}")
    return divided(x, (int(num_or_sections),), axis, max(int(num_or_sections), 1))


def divided(x: Tensor, sections: Sequence[int], axis: Any, count: int) -> list[Tensor]:
    attributes = integers("sections", list(sections)), integer("axis", axis)
    return call_many(_ids.SPLIT, (x,), attributes, count)


def chunk(x: Tensor, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """`split` into equal parts."""
    return split(x, index("chunks", chunks), axis)


def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of a tensor along an axis, as views without it.

    Raises:
        ValueError: the axis is out of range.
    """
    shape = meta(tensor(input, "unbind", "input")).shape
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"[unbind] axis is {axis}; want one of the {len(shape)} axes")
    axis %= len(shape)
    return [basic(input, [WHOLE] * axis + [(INTEGER, 0, i, 0, 0)]) for i in range(shape[axis])]


def listed(x: Any, function: str) -> list[Tensor]:
    """A list or tuple of tensors, of at least one."""
    if not isinstance(x, (list, tuple)) or not x:
        what = "an empty list" if isinstance(x, (list, tuple)) else type(x).__name__
        raise ValueError(f"[{function}] x is {what}; want a list of Tensors")
    return [tensor(item, function, f"x[{i}]") for i, item in enumerate(x)]


@renamed(tensors="x", dim="axis")
def concat(
    x: Sequence[Tensor], axis: int | Tensor = 0, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Tensors of one dtype end to end along an axis.

    Raises:
        TypeError: the axis is no whole number.
        ValueError: x is no list of tensors; their dtypes, or other dimensions, differ; the axis is
            out of range.
    """
    return call(_ids.CONCAT, listed(x, "concat"), (integer("axis", axis),), out)


cat = concat


@renamed(tensors="x", dim="axis")
def stack(x: Sequence[Tensor], axis: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Tensors of one dtype and shape side by side along a new axis.

    Raises:
        ValueError: x is no list of tensors; their dtypes or shapes differ; the axis is out of range.
    """
    return call(_ids.STACK, listed(x, "stack"), (integer("axis", axis),), out)


@renamed(input="x", dims="repeat_times")
def tile(x: Tensor, repeat_times: Ints, name: str | None = None) -> Tensor:
    """x repeated along its axes, aligned at the last one.

    Raises:
        ValueError: a number of repetitions is negative.
    """
    return call(_ids.TILE, (tensor(x, "tile", "x"),), (integers("repeat_times", repeat_times),))


def flip(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """A copy of x with some axes in reverse order.

    Raises:
        ValueError: an axis is out of range or stands twice.
    """
    return call(_ids.FLIP, (tensor(x, "flip", "x"),), (integers("axis", axis),))


def gather(
    x: Tensor, index: Tensor, axis: int | Tensor | None = None, name: str | None = None, out: Tensor | None = None
) -> Tensor:
    """The slices x[index[i]] along an axis.

    Args:
        index: int32 or int64, of no or one dimension.
        axis: None: the first.

    Raises:
        IndexError: an index is out of range.
        ValueError: index is of another dtype or has more dimensions.
    """
    operands = tensor(x, "gather", "x"), tensor(index, "gather", "index")
    return call(_ids.GATHER, operands, (integer("axis", axis),), out)


def nonzero(x: Tensor, as_tuple: bool = False) -> Any:
    """The indices of the elements that are not zero, in row-major order.

    Returns:
        An int64 tensor of shape [count, rank]; with as_tuple, a tuple of one column an axis.
    """
    x = tensor(x, "nonzero", "x")
    return tuple(coordinates(x)) if as_tuple else places(x)


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements, as a 0-d int64 tensor on the CPU."""
    return number_of(meta(tensor(x, "numel", "x")).numel, _dtype.int64)


def rank(input: Tensor) -> Tensor:
    """The number of dimensions, as a 0-d int32 tensor on the CPU."""
    return number_of(len(meta(tensor(input, "rank", "input")).shape), _dtype.int32)


def number_of(value: int, dtype: _dtype.DType) -> Tensor:
    attributes = integers("shape", []), either("fill_value", value), element_type("dtype", dtype)
    return call(_ids.FULL, (), attributes)


def shape(input: Tensor) -> Tensor:
    """The dimensions, as an int64 tensor on the CPU."""
    from ._creation import from_array  # creation needs this module

    return from_array(np.array(meta(tensor(input, "shape", "input")).shape, np.int64), cpu)


def bmm(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Matrix products of two batches: [b, m, k] and [b, k, n] give [b, m, n].

    Raises:
        ValueError: the shapes are others.
    """
    shapes = [meta(tensor(a, "bmm", n)).shape for a, n in ((x, "x"), (y, "y"))]
    if any(len(s) != 3 for s in shapes) or shapes[0][0] != shapes[1][0]:
        raise ValueError(f"[bmm] shapes are {[list(s) for s in shapes]}; want [b, m, k] and [b, k, n]")
    return call(_ids.MATMUL, (x, y), (flag("transpose_x", False),), out)
