"""Operators on whole arrays that Paddle calls in ways of its own, and what is made of others."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .._calls import _grad, _operators
from .._calls._call import into, renamed
from .._core import _builtin, _dtype
from .._core._builtin import BITS
from .._core._caller import axis_text, called, dimensions_text
from .._core._convert import REQUIRED, axis_of, chosen, index, said, tensor, whole
from .._core._dtype import DType, DTypeLike
from .._core._errors import check, errors_of
from .._core._library import library
from .._core._objects import Tensor, from_array, information, meta, method, replace
from .._core._objects import view as adopted
from .._core._place import cpu
from ._indexing import WHOLE, basic, coordinates, places

if TYPE_CHECKING:
    from .._core._typing import Ints, ShapeLike

Function = TypeVar("Function", bound=Callable[..., Any])


def spread(first: Any, rest: Sequence[Any]) -> Any:
    """f(2, 3) means f([2, 3]); what stands behind a list is a name, as in f([2, 3], None)."""
    if len(rest) == 1 and (rest[0] is None or isinstance(rest[0], str)) and hasattr(first, "__len__"):
        return first
    return (first, *rest) if rest else first


def reshape(
    x: Tensor = REQUIRED,
    shape: ShapeLike = REQUIRED,
    *more: int,
    name: str | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """The elements of x under another shape: a view where strides allow, else a copy.

    Args:
        shape: new dimensions; 0 copies that of x, one -1 is inferred.

    Raises:
        TypeError: a dimension is no whole number.
        ValueError: the number of elements differs, or a dimension is below -1.
    """
    if input is not None:
        x = chosen("reshape", "x", x, REQUIRED, "input", input)
    if isinstance(shape, str):
        raise ValueError(f"[{called('reshape')}] shape is {said(shape)}; want ints")
    return _operators.reshape(x, spread(shape, more) if more else shape)


def dtype_first(function: Function) -> Function:
    """Takes view(x, dtype) before `view` does, whose wrappers would take as long as that call."""

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        if not options and len(args) == 2:
            x, dtype = args
            if isinstance(dtype, (DType, str)) and isinstance(x, Tensor):
                return of_dtype(x, _dtype.dtype(dtype))
        return function(*args, **options)

    return wrapper  # type: ignore[return-value]


@dtype_first
@errors_of("reshape")
@renamed(dtype="shape_or_dtype", shape="shape_or_dtype", size="shape_or_dtype")
def view(x: Tensor, shape_or_dtype: ShapeLike | DTypeLike, *more: int, name: str | None = None) -> Tensor:
    """x under another shape, or its bits as another dtype, over the same memory.

    Args:
        shape_or_dtype: new dimensions, as for `reshape`; or a dtype. One with smaller or larger elements makes the
            last axis longer or shorter; bool wants bytes of 0 and 1.

    Raises:
        TypeError: there is no such dtype.
        ValueError: x is no tensor; the strides do not allow a view of that shape, or the memory none of that dtype.
    """
    x = tensor(x, "view", "x")
    if isinstance(shape_or_dtype, (DType, str, np.dtype, type)):
        return of_dtype(x, _dtype.dtype(shape_or_dtype))
    made = reshape(x, shape_or_dtype, *more)
    if meta(x).numel and information(made._handle).storage_id != information(x._handle).storage_id:
        raise ValueError(
            f"[view] shape {list(meta(x).shape)} with strides {list(meta(x).strides)} is no view of shape "
            f"{list(meta(made).shape)}; want reshape, which copies"
        )
    return made


def of_dtype(x: Tensor, dtype: DType) -> Tensor:
    """The bits of x as another dtype; x itself where it has that dtype."""
    return x if dtype is meta(x).dtype else bits(x, dtype)


def bits(x: Tensor, dtype: DType) -> Tensor:
    if not dtype.is_integer:
        _grad.refuse("view", x)
    return viewed(x, dtype)


def _viewed(arguments: tuple[Any, ...], reason: int) -> Tensor:
    """`viewed` through ctypes: where the library has refused the view, or there are no built-in functions."""
    x, dtype = arguments
    handle = c_uint64()
    error = library.pmps_tensor_view(x._handle, dtype.number, byref(handle))
    if error:
        check(error)
    return adopted(handle.value)


viewed: Callable[[Tensor, DType], Tensor] = _builtin.builtin("index", BITS, _viewed)


def reshape_(x: Tensor, shape: ShapeLike, *more: int, name: str | None = None) -> Tensor:
    """`reshape`, whose result takes the place of x; returns x."""
    replace(x, reshape(x, shape, *more))
    return x


@renamed(input="x", dim0="perm", axis0="perm", axis1="dim1")
def transpose(
    x: Tensor, perm: Ints, other: int | str | None = None, name: str | None = None, *, dim1: int | None = None
) -> Tensor:
    """x with its axes in another order, as a view.

    Args:
        perm: axis i of the result is axis perm[i] of x. transpose(x, a, b) with two ints swaps
            the axes a and b.

    Raises:
        ValueError: perm does not name each axis once.
    """
    if perm is None:
        raise TypeError("[transpose] perm is None; want the axes")  # NumPy's transpose expects this class
    second = other if dim1 is None else dim1
    if second is not None and not isinstance(second, str):  # a str is a name
        perm = exchanged(len(meta(x).shape), index("perm", perm), index("perm", second))
    return _operators.transpose(x, perm)


def exchanged(rank: int, a: int, b: int) -> list[int]:
    """All axes with two of them swapped."""
    for axis in (a, b):
        if not -rank <= axis < rank:
            raise IndexError(f"[transpose] axis is {axis}; want {axis_text(rank)}")
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
        raise ValueError(f"[t] the tensor has {dimensions_text(rank)}; want at most 2")
    return transpose(input, list(range(rank))[::-1])


def t_(input: Tensor, name: str | None = None) -> Tensor:
    """`t`, whose result takes the place of the input; returns the input."""
    replace(input, t(input))
    return input


def squeeze(
    x: Tensor = REQUIRED,
    axis: Ints | None = None,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    dim: Ints | None = None,
) -> Tensor:
    """x without axes of one element, as a view.

    Args:
        axis: the axes that go if they have one element; None: all such axes.

    Raises:
        ValueError: an axis is out of range.
    """
    if input is not None or dim is not None:
        x = chosen("squeeze", "x", x, REQUIRED, "input", input)
        axis = chosen("squeeze", "axis", axis, None, "dim", dim)
    return _operators.squeeze(x, axis)


def unsqueeze(
    x: Tensor = REQUIRED,
    axis: Ints = REQUIRED,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    dim: Ints | None = None,
) -> Tensor:
    """x with further axes of one element, as a view.

    Args:
        axis: where they appear, one after the other; negative ones count from the end.

    Raises:
        ValueError: an axis is out of range.
    """
    if input is not None or dim is not None:
        x = chosen("unsqueeze", "x", x, REQUIRED, "input", input)
        axis = chosen("unsqueeze", "axis", axis, REQUIRED, "dim", dim)
    return _operators.unsqueeze(x, axis)


def expand(
    x: Tensor = REQUIRED,
    shape: ShapeLike = REQUIRED,
    *more: int,
    name: str | None = None,
    input: Tensor | None = None,
    size: ShapeLike | None = None,
) -> Tensor:
    """A copy of x, broadcast to a shape; -1 keeps a dimension.

    Raises:
        ValueError: x does not broadcast to the shape.
    """
    if input is not None or size is not None:
        x = chosen("expand", "x", x, REQUIRED, "input", input)
        shape = chosen("expand", "shape", shape, REQUIRED, "size", size)
    return _operators.expand(x, spread(shape, more))


broadcast_to = expand


@renamed(input="x", other="y")
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
    return _operators.slice(input, axes, starts, ends)


@renamed(input="x", start_dim="start_axis", end_dim="stop_axis")
def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """x with the axes from start_axis to stop_axis made one: a view where strides allow.

    Raises:
        ValueError: an axis is out of range, or stop_axis is before start_axis.
    """
    return _operators.flatten(x, start_axis, stop_axis)


def reshaped(x: Tensor, dims: Sequence[int]) -> Tensor:
    """x under another shape, in which 0 is a dimension and not that of x: a view where strides and elements allow."""
    if 0 in dims:
        # reshape infers one axis without elements, as it infers others; a tensor made anew would not depend on x.
        at = list(dims).index(0)
        return _operators.expand(_operators.reshape(x, [1] * at + [-1] + [1] * (len(dims) - at - 1)), list(dims))
    return _operators.reshape(x, list(dims))


def transpose_(x: Tensor, perm: Ints, name: str | None = None) -> Tensor:
    """`transpose`, whose result takes the place of x; returns x."""
    replace(x, transpose(x, perm))
    return x


@renamed(input="x", dim="axis")
def squeeze_(x: Tensor, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """`squeeze`, whose result takes the place of x; returns x."""
    replace(x, squeeze(x, axis))
    return x


@renamed(input="x", dim="axis")
def unsqueeze_(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """`unsqueeze`, whose result takes the place of x; returns x."""
    replace(x, unsqueeze(x, axis))
    return x


@renamed(input="x", start_dim="start_axis", end_dim="stop_axis")
def flatten_(x: Tensor, start_axis: int = 0, stop_axis: int = -1, name: str | None = None) -> Tensor:
    """`flatten`, whose result takes the place of x; returns x."""
    replace(x, flatten(x, start_axis, stop_axis))
    return x


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
            return parts(x, (sections[0], 0), axis)[:1]
        return parts(x, sections, axis)
    if isinstance(num_or_sections, bool) or not isinstance(num_or_sections, (int, np.integer)):
        raise TypeError(f"[split] num_or_sections is {num_or_sections!r}; want an int, a list or a tuple")
    largest = max(meta(x).shape, default=0)
    if num_or_sections > max(largest, 1):
        raise ValueError(f"[split] got {num_or_sections} parts; want a divisor of the axis of shape {list(x.shape)}")
    return parts(x, int(num_or_sections), axis)


def parts(x: Tensor, sections: int | Sequence[int], axis: Any) -> list[Tensor]:
    return _operators.split(x, sections, axis)


@errors_of("split")
@renamed(input="x", dim="axis")
def chunk(x: Tensor, chunks: int, axis: int = 0, name: str | None = None) -> list[Tensor]:
    """`split` into equal parts."""
    return split(x, index("chunks", chunks), axis)


@renamed(dim="axis")
def unbind(input: Tensor, axis: int = 0) -> list[Tensor]:
    """The slices of a tensor along an axis, as views without it.

    Raises:
        ValueError: the axis is out of range.
    """
    shape = meta(tensor(input, "unbind", "input")).shape
    axis = axis_of("unbind", axis, len(shape))
    return [basic(input, [WHOLE] * axis + [i]) for i in range(shape[axis])]


def concat(
    x: Sequence[Tensor] = REQUIRED,
    axis: int | Tensor = 0,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    tensors: Sequence[Tensor] | None = None,
    dim: int | Tensor | None = None,
) -> Tensor:
    """Tensors of one dtype end to end along an axis.

    Raises:
        TypeError: the axis is no whole number.
        ValueError: x is no list of tensors; their dtypes, or other dimensions, differ; the axis is
            out of range.
    """
    if tensors is not None or dim is not None:
        x = chosen("concat", "x", x, REQUIRED, "tensors", tensors)
        axis = chosen("concat", "axis", axis, 0, "dim", dim)
    result = _operators.concat(x, axis)
    return result if out is None else into(out, result)


cat = concat


def stack(
    x: Sequence[Tensor] = REQUIRED,
    axis: int = 0,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    tensors: Sequence[Tensor] | None = None,
    dim: int | None = None,
) -> Tensor:
    """Tensors of one dtype and shape side by side along a new axis.

    Raises:
        ValueError: x is no list of tensors; their dtypes or shapes differ; the axis is out of range.
    """
    if tensors is not None or dim is not None:
        x = chosen("stack", "x", x, REQUIRED, "tensors", tensors)
        axis = chosen("stack", "axis", axis, 0, "dim", dim)
    result = _operators.stack(x, axis)
    return result if out is None else into(out, result)


def tile(
    x: Tensor = REQUIRED,
    repeat_times: Ints = REQUIRED,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    dims: Ints | None = None,
) -> Tensor:
    """x repeated along its axes, aligned at the last one.

    Raises:
        ValueError: a number of repetitions is negative.
    """
    if input is not None or dims is not None:
        x = chosen("tile", "x", x, REQUIRED, "input", input)
        repeat_times = chosen("tile", "repeat_times", repeat_times, REQUIRED, "dims", dims)
    return _operators.tile(x, repeat_times)


def flip(x: Tensor, axis: Ints, name: str | None = None) -> Tensor:
    """A copy of x with some axes in reverse order.

    Raises:
        ValueError: an axis is out of range or stands twice.
    """
    return _operators.flip(x, axis)


@renamed(input="x")
def nonzero(x: Tensor, as_tuple: bool = False, *, out: Tensor | None = None) -> Any:
    """The indices of the elements that are not zero, in row-major order.

    Args:
        out: takes the result and is returned, unless as_tuple is True.

    Returns:
        An int64 tensor of shape [count, rank]; with as_tuple, a tuple of one column an axis.
    """
    x = tensor(x, "nonzero", "x")
    return tuple(coordinates(x)) if as_tuple else into(out, places(x))


def numel(x: Tensor, name: str | None = None) -> Tensor:
    """The number of elements, as a 0-d int64 tensor on the CPU."""
    return number_of(meta(tensor(x, "numel", "x")).numel, _dtype.int64)


def rank(input: Tensor) -> Tensor:
    """The number of dimensions, as a 0-d int32 tensor on the CPU."""
    return number_of(len(meta(tensor(input, "rank", "input")).shape), _dtype.int32)


def number_of(value: int, dtype: _dtype.DType) -> Tensor:
    if _builtin.traces:  # a function that is traced has to know it: see core/trace/numbers.go
        return from_array(np.array(value, dtype.numpy), cpu)
    return _operators.full(cpu.word, (), value, dtype)


def shape(input: Tensor) -> Tensor:
    """The dimensions, as an int64 tensor on the CPU."""
    return from_array(np.array(meta(tensor(input, "shape", "input")).shape, np.int64), cpu)


def bmm(x: Tensor, y: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """Matrix products of two batches: [b, m, k] and [b, k, n] give [b, m, n].

    Raises:
        ValueError: the shapes are others.
    """
    shapes = [meta(tensor(a, "bmm", n)).shape for a, n in ((x, "x"), (y, "y"))]
    if any(len(s) != 3 for s in shapes) or shapes[0][0] != shapes[1][0]:
        raise ValueError(f"[bmm] shapes are {[list(s) for s in shapes]}; want [b, m, k] and [b, k, n]")
    return into(out, _operators.matmul(x, y))


class ArrayMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    bmm = method(bmm)
    broadcast_to = method(broadcast_to)
    chunk = method(chunk)
    expand = method(expand)
    expand_as = method(expand_as)
    flatten = method(flatten)
    flatten_ = method(flatten_)
    flip = method(flip)
    nonzero = method(nonzero)
    numel = method(numel)
    permute = method(permute)
    rank = method(rank)
    reshape = method(reshape)
    reshape_ = method(reshape_)
    slice = method(slice)
    split = method(split)
    squeeze = method(squeeze)
    squeeze_ = method(squeeze_)
    t = method(t)
    t_ = method(t_)
    tile = method(tile)
    transpose = method(transpose)
    transpose_ = method(transpose_)
    unbind = method(unbind)
    unsqueeze = method(unsqueeze)
    unsqueeze_ = method(unsqueeze_)
