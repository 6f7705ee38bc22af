"""Methods that give a tensor other memory, another shape over its memory, or what a function makes of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

from .._calls import _operators
from .._core._caller import called
from .._core._convert import axis_of, index, said, tensor, whole
from .._core._objects import Tensor, blank, meta, replace
from ._array import reshaped
from ._creation import dims, filled
from ._made import shard_index
from ._shapes import cut


def set_(
    x: Tensor,
    source: Tensor | None = None,
    shape: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    offset: int = 0,
    name: str | None = None,
) -> Tensor:
    """Makes x a view of the memory of source; returns x. Views of the old memory keep it.

    Args:
        source: None: x becomes an empty tensor of shape [0].
        shape: None: that of source.
        stride: for each axis the distance of neighbours, in elements; None: that of source, or with a shape the one of a
            contiguous tensor.
        offset: where x begins, in bytes from the first element of source.

    Raises:
        ValueError: source is no tensor, x would have an element that lies before the first of source or behind the last,
            or the offset is within an element.
        TypeError: source has another dtype than x.
    """
    m = meta(tensor(x, "set_", "x"))
    if source is None:
        replace(x, blank((0,), m.dtype, m.place))
        return x
    its = meta(tensor(source, "set_", "source"))
    if its.dtype is not m.dtype:
        raise TypeError(f"[set_] source is {its.dtype.name}; want {m.dtype.name}, the dtype of x")
    start = index("offset", offset)
    if start % its.dtype.itemsize:
        raise ValueError(f"[set_] offset is {start}; want a multiple of {its.dtype.itemsize} bytes")
    sizes = its.shape if shape is None else dims(shape)
    steps = whole("stride", stride) if stride is not None else its.strides if shape is None else contiguous(sizes)
    replace(x, _operators.as_strided(source, sizes, steps, start // its.dtype.itemsize))
    return x


def contiguous(shape: Sequence[int]) -> list[int]:
    """The strides of a contiguous tensor."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


def resize_(x: Tensor, shape: Sequence[int], fill_zero: bool = False, name: str | None = None) -> Tensor:
    """Gives x another shape, with its first elements in row-major order; returns x.

    The memory stays if x is contiguous and has as many elements or more. Else x gets memory of its own, where zeros
    follow, whether they are asked for or not: what x had before it shrank does not come back.

    Raises:
        ValueError: shape is neither a list nor a tuple, or a dimension is negative.
        TypeError: a dimension is no int.
    """
    m = meta(tensor(x, "resize_", "x"))
    if not isinstance(shape, (list, tuple)):
        raise ValueError(f"[resize_] shape is {type(shape).__name__}; want a list or a tuple")
    sizes = dims(shape)
    count, flat = math.prod(sizes), reshaped(x, [m.numel])
    if count > m.numel:
        flat = _operators.concat([flat, filled((count - m.numel,), 0, m.dtype, m.place)], 0)
    replace(x, reshaped(cut(flat, 0, 0, count), list(sizes)))
    return x


def apply(x: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """What a function makes of x.

    Raises:
        TypeError: it makes no tensor, or is no function.
    """
    if not callable(func):
        raise TypeError(f"[{called('apply')}] func is {said(func)}; want a function")
    made: Any = func(x)
    if not isinstance(made, Tensor):
        raise TypeError(f"[{called('apply')}] the function returned {type(made).__name__}; want a Tensor")
    return made


def apply_(x: Tensor, func: Callable[[Tensor], Tensor]) -> Tensor:
    """Makes x what a function makes of it, with that shape, dtype and memory; returns x. See `apply`."""
    replace(x, apply(x, func))
    return x


def split_with_sizes(x: Tensor, split_sizes: Sequence[int], dim: int = 0) -> list[Tensor]:
    """The parts of x along an axis, as views.

    Args:
        split_sizes: the length of each part.

    Raises:
        TypeError: split_sizes is no list of ints.
        ValueError: a length is negative, or they do not make up the axis.
        IndexError: there is no such axis.
    """
    shape = meta(tensor(x, "split_with_sizes", "x")).shape
    if not isinstance(split_sizes, (list, tuple, Tensor)):
        raise TypeError(f"[split_with_sizes] split_sizes is {said(split_sizes)}; want a list of ints")
    lengths = whole("split_sizes", split_sizes)
    if any(n < 0 for n in lengths):
        raise ValueError(f"[split_with_sizes] split_sizes are {list(lengths)}; want numbers from 0")
    axis = axis_of("split_with_sizes", dim, len(shape), IndexError)
    if sum(lengths) != shape[axis]:
        raise ValueError(f"[split_with_sizes] split_sizes add up to {sum(lengths)}; want {shape[axis]}")
    ends = [sum(lengths[: i + 1]) for i in range(len(lengths))]
    return [cut(x, axis, end - n, end) for n, end in zip(lengths, ends)]


class StorageMethods:
    """The functions of this module as methods of tensors."""

    __slots__ = ()

    apply = apply
    apply_ = apply_
    resize_ = resize_
    set_ = set_
    shard_index = shard_index
    split_with_sizes = split_with_sizes


__all__ = ["StorageMethods"]
