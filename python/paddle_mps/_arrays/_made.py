"""Tensors made of others or of data: ranges, products of sets, and the constructors that tensors have as methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import _operators
from .._calls._call import renamed
from .._core import _dtype, _place
from .._core._caller import axes_text, called
from .._core._convert import MOST_PARTS, index, listed, one_number, tensor, whole
from .._core._dtype import DType, DTypeLike
from .._core._errors import SizeError, UnsupportedError
from .._core._objects import Tensor, blank, from_array, meta
from .._devices._default_place import placed
from ._array import reshaped
from ._creation import converted, filled, floating, like, refuse, requiring, room, to_tensor, value_of
from ._shapes import gone_through, meshgrid

if TYPE_CHECKING:
    from .._core._typing import PlaceLike, Scalar


@renamed(end="stop", steps="num")
def logspace(
    start: Scalar | Tensor,
    stop: Scalar | Tensor,
    num: int | Tensor,
    base: Scalar | Tensor = 10.0,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """num powers of base, the exponents of which are at equal distances from start to stop, both included.

    Raises:
        ValueError: num is below 1.
    """
    count, kind = int(one_number(num, "logspace", "num")), floating(dtype)
    first, last, root = (
        float(one_number(given, "logspace", name)) for name, given in (("start", start), ("stop", stop), ("base", base))
    )
    if count < 1:
        raise ValueError(f"[logspace] num is {count}; want a number from 1")
    exponents = np.linspace(first, last, count)
    powers = np.power(root, exponents)
    return placed(converted(powers, kind))


@renamed(input="x", N="n")
def vander(x: Tensor, n: int | None = None, increasing: bool = False, name: str | None = None) -> Tensor:
    """The powers of a vector's elements: column j is x ** j, or x ** (n - 1 - j) unless they are increasing.

    Args:
        n: the number of columns; None: as many as x has elements.

    Raises:
        ValueError: x is no vector, or n is negative.
    """
    m = meta(tensor(x, "vander", "x"))
    if len(m.shape) != 1:
        raise ValueError(f"[vander] x has {axes_text(len(m.shape))}; want 1")
    count = m.shape[0] if n is None else index("n", n)
    if count < 0:
        raise ValueError(f"[vander] n is {count}; want a number from 0")
    if count > MOST_PARTS:
        raise ValueError(f"[vander] n is {count}; want at most {MOST_PARTS}")
    if not count or not m.numel:
        return filled((m.shape[0], count), 0, m.dtype, m.place)
    column = _operators.reshape(x, [m.shape[0], 1])
    powers = [_operators.full(m.place.word, (m.shape[0], 1), 1, m.dtype), column]
    for _ in range(2, count):
        powers.append(_operators.multiply(powers[-1], column))
    made = _operators.concat(powers[:count], 1)
    return made if increasing else made[:, ::-1]


@renamed(tensors="x")
def cartesian_prod(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Each choice of one element of each vector as a row; of a single vector its elements.

    Raises:
        ValueError: there is no vector, one has another number of axes, or their dtypes differ.
    """
    given = listed(gone_through(x), "cartesian_prod")
    for t in given:
        if len(meta(t).shape) != 1:
            raise ValueError(f"[cartesian_prod] a tensor has {axes_text(len(meta(t).shape))}; want 1")
    if len(given) == 1:
        return given[0]
    return _operators.stack([reshaped(g, [meta(g).numel]) for g in meshgrid(given)], 1)


@renamed(input="x")
def combinations(x: Tensor, r: int = 2, with_replacement: bool = False, name: str | None = None) -> Tensor:
    """Each choice of r elements of a vector as a row, in the order of the vector.

    Args:
        with_replacement: let an element be chosen several times.

    Raises:
        TypeError: x is no vector.
        ValueError: r is negative.
    """
    m = meta(tensor(x, "combinations", "x"))
    if len(m.shape) != 1:
        raise TypeError(f"[combinations] x has {axes_text(len(m.shape))}; want 1")
    if not isinstance(r, int) or r < 0:
        raise ValueError(f"[combinations] r is {r!r}; want an int from 0")
    if r == 0:
        return filled((0,), 0, m.dtype, m.place)
    n, distance = m.shape[0], 0 if with_replacement else 1
    last = n - distance * (r - 1)  # the first element is below this one, the next below one more
    count = choices(n if distance else n + r - 1, r) if last > 0 else 0
    if count < 0:
        raise ValueError(f"[combinations] there are more than 2**62 of {r} of {n} elements; want fewer")
    if not count:
        return filled((0, r), 0, m.dtype, m.place)
    room("combinations", [count, r], m.dtype, m.place)
    chosen = np.arange(last, dtype=np.int64)[:, None]
    for column in range(1, r):  # each row with all elements that may follow its last one
        starts = chosen[:, -1] + distance
        lengths = last + distance * column - starts
        ends = np.cumsum(lengths)
        following = np.arange(ends[-1]) - np.repeat(ends - lengths - starts, lengths)
        chosen = np.column_stack([np.repeat(chosen, lengths, 0), following])
    return _operators.index(x, [from_array(chosen, m.place)])


def choices(n: int, r: int) -> int:
    """How many ways there are to choose r of n; -1 for more than 2**62, which take long to compute."""
    few, found = min(r, n - r), 1
    for i in range(few):  # at least doubles it from the second half on, and never makes it smaller
        found = found * (n - i) // (i + 1)
        if found > 2**62:
            return -1
    return found


def shard_index(input: Tensor, index_num: int, nshards: int, shard_id: int, ignore_value: int = -1) -> Tensor:
    """Indices counted from the start of their shard, and ignore_value for those of other shards.

    Args:
        index_num: the number of indices, of which each shard has ceil(index_num / nshards).

    Raises:
        UnsupportedError: input is neither int32 nor int64.
        ValueError: its last axis has not one element, or a number or an index is out of range.
    """
    m = meta(tensor(input, "shard_index", "input"))
    if m.dtype not in (_dtype.int32, _dtype.int64):
        raise UnsupportedError(f"[shard_index] input is {m.dtype.name}; want int32 or int64")
    if len(m.shape) < 2 or m.shape[-1] != 1:
        raise ValueError(f"[shard_index] input has shape {list(m.shape)}; want [..., 1]")
    if index_num <= 0 or nshards <= 0 or not 0 <= shard_id < nshards:
        raise ValueError(f"[shard_index] shard {shard_id} of {nshards} of {index_num} indices; want numbers from 1")
    if m.numel and (largest := int(_operators.max(input))) >= index_num:
        raise ValueError(f"[shard_index] input has the index {largest}; want indices below {index_num}")
    return _operators.shard_index(input, index_num, nshards, shard_id, ignore_value)


@requiring
def asarray(
    obj: Any,
    *,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    copy: bool | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A tensor with a copy of data, as of `to_tensor`; of a tensor where that is unless device says otherwise.

    Args:
        copy: taken for compatibility; there is always a copy, as in Paddle.
    """
    if isinstance(obj, Tensor) and device is None:
        device = meta(obj).place
    return to_tensor(obj, dtype, device=device)


@requiring
def as_tensor(
    data: Any,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor with a copy of data, as of `asarray`, under PyTorch's name.

    Args:
        dtype: None: that of the data, floats of Python as the default dtype.
        device: where the tensor lives; None: the current place, or that of a tensor.
        requires_grad: whether gradients are wanted: stop_gradient=False.

    Raises:
        TypeError: the data is no tensor, or the dtype is none.
        ValueError: pin_memory is set: memory of mps devices is the CPU's own.
    """
    refuse(pin_memory)
    made: Tensor = asarray(data, dtype=dtype, device=device)
    if requires_grad:
        made.stop_gradient = False
    return made


def from_numpy(ndarray: np.ndarray[Any, Any]) -> Tensor:
    """A tensor with a copy of an array.

    Raises:
        TypeError: it is no array.
    """
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"[from_numpy] got {type(ndarray).__name__}; want an array")
    return to_tensor(ndarray)


def sizes(size: Any, more: Sequence[int]) -> tuple[int, ...]:
    """A shape from f([2, 3]), f(2, 3) or f(2).

    Raises:
        ValueError: a dimension is negative.
    """
    found = whole("size", (size, *more) if more else size)
    if any(n < 0 for n in found):
        raise SizeError(f"[{called('size')}] size is {list(found)}; want dimensions from 0")
    return found


@requiring
@renamed(shape="size")
def new_full(
    x: Tensor,
    size: Any,
    fill_value: Scalar | Tensor,
    *,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """A tensor of one value, in the dtype and place of x unless others are given."""
    refuse(pin_memory)
    _, kind, place = like(x, dtype, None, device)
    return filled(sizes(size, ()), value_of(fill_value), kind, place)


@renamed(shape="size")
def new_zeros(
    x: Tensor,
    size: Any,
    *more: int,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros, in the dtype and place of x unless others are given."""
    return new_full(
        x, sizes(size, more), 0, dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory
    )


@renamed(shape="size")
def new_ones(
    x: Tensor,
    size: Any,
    *more: int,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Ones, in the dtype and place of x unless others are given."""
    return new_full(
        x, sizes(size, more), 1, dtype=dtype, device=device, requires_grad=requires_grad, pin_memory=pin_memory
    )


@requiring
@renamed(shape="size")
def new_empty(
    x: Tensor,
    size: Any,
    *more: int,
    dtype: DTypeLike | None = None,
    device: PlaceLike | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Undefined elements, in the dtype and place of x unless others are given."""
    refuse(pin_memory)
    _, kind, place = like(x, dtype, None, device)
    return blank(sizes(size, more), kind, place)


def get_device(x: Tensor) -> int:
    """The number of the mps device that the tensor is on; -1 on the CPU."""
    place = meta(tensor(x, "get_device", "x")).place
    return -1 if place.kind == _place.CPU else place.index


def as_dtype(kind: DType) -> Any:
    """The method that gives a tensor in a dtype: the tensor itself if it has that one."""

    def method(self: Tensor) -> Tensor:
        return self if meta(self).dtype is kind else self.cast(kind)

    method.__name__ = method.__qualname__ = kind.name
    method.__doc__ = f"The tensor as {kind.name}; itself if it is one."
    return method


__all__ = [
    "as_tensor",
    "asarray",
    "cartesian_prod",
    "combinations",
    "from_numpy",
    "logspace",
    "shard_index",
    "vander",
]


class MadeMethods:
    """The methods of this module."""

    __slots__ = ()

    combinations = combinations
    get_device = get_device
    new_empty = new_empty
    new_full = new_full
    new_ones = new_ones
    new_zeros = new_zeros
    vander = vander

    bfloat16 = as_dtype(_dtype.bfloat16)
    bool = as_dtype(_dtype.bool_)
    byte = uint8 = as_dtype(_dtype.uint8)
    char = int8 = as_dtype(_dtype.int8)
    short = int16 = as_dtype(_dtype.int16)
    int = int32 = as_dtype(_dtype.int32)
    long = int64 = as_dtype(_dtype.int64)
    half = float16 = as_dtype(_dtype.float16)
    float = float32 = as_dtype(_dtype.float32)
    double = float64 = as_dtype(_dtype.float64)
    cfloat = complex64 = as_dtype(_dtype.complex64)
    cdouble = complex128 = as_dtype(_dtype.complex128)
