"""Functions that move, cut and join: what is made of views, copies and `concat`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import _grad, _operators
from .._calls._call import MOST_RESULTS, renamed
from .._core._caller import axes_text, called
from .._core._convert import MOST_PARTS, axis_of, index, listed, of_one_place, tensor, whole
from .._core._errors import OutOfRangeError, errors_of
from .._core._objects import Tensor, from_array, meta
from ._array import concat, expand, flatten, flip, reshaped, spread, stack, tile, transpose, view
from ._creation import to_tensor, value_of
from ._indexing import WHOLE, basic

if TYPE_CHECKING:
    from .._core._typing import Ints, ShapeLike


def cut(x: Tensor, axis: int, start: int, stop: int, step: int = 1) -> Tensor:
    """A range of indices of one axis, as a view."""
    return basic(x, [WHOLE] * axis + [slice(start, stop, step)])


def meshgrid(*args: Any, name: str | None = None, indexing: str = "ij") -> list[Tensor]:
    """Vectors and 0-d tensors, each repeated along the axes of the others.

    Args:
        args: tensors of one dtype, or one list of them.
        indexing: "ij": axis i of the results belongs to tensor i; "xy": the first two axes are swapped.

    Raises:
        ValueError: there is no tensor, their dtypes differ, or one has more than one axis.
    """
    given = listed(list(args[0]) if len(args) == 1 and isinstance(args[0], (list, tuple)) else list(args), "meshgrid")
    if indexing not in ("ij", "xy"):
        raise ValueError(f"[meshgrid] indexing is {indexing!r}; want 'ij' or 'xy'")
    alike("meshgrid", given)
    for x in given:
        if len(meta(x).shape) > 1:
            raise ValueError(f"[meshgrid] a tensor has {axes_text(len(meta(x).shape))}; want at most 1")
    order = list(range(len(given)))
    if indexing == "xy" and len(given) > 1:
        order[:2] = 1, 0
    sizes = [meta(x).numel for x in given]
    shape = [sizes[i] for i in order]
    found = []
    for i, x in enumerate(given):
        lying = [1] * len(given)
        lying[order.index(i)] = sizes[i]
        found.append(expand(_operators.reshape(x, lying), shape))
    return found


def gone_through(x: Any) -> Any:
    """What an iterable gives, as a list; a tensor, and what is no iterable, as it is, for `listed` to refuse."""
    return x if isinstance(x, Tensor) or not hasattr(x, "__iter__") else list(x)


def alike(function: str, tensors: Sequence[Tensor]) -> None:
    """Raises a ValueError unless all tensors have one dtype."""
    kinds = {meta(x).dtype.name for x in tensors}
    if len(kinds) > 1:
        raise ValueError(f"[{function}] the dtypes are {', '.join(sorted(kinds))}; want one")


@renamed(input="x", dims="axis")
def roll(x: Tensor, shifts: Ints, axis: Ints | None = None, name: str | None = None) -> Tensor:
    """A copy of x with its elements moved along axes; what leaves at one end enters at the other.

    Args:
        shifts: how far, one number an axis.
        axis: None: along all elements in row-major order.

    Raises:
        TypeError: a shift is no whole number.
        ValueError: there are not as many shifts as axes, or an axis is out of range.
    """
    rank, given = len(meta(tensor(x, "roll", "x")).shape), whole("shifts", shifts)
    axes = () if axis is None else whole("axis", axis)
    if not axes and len(given) != 1:
        raise ValueError(f"[roll] got {len(given)} shifts and no axis; want one shift")
    if axes and len(axes) != len(given):
        raise ValueError(f"[roll] got {len(given)} shifts and {axes_text(len(axes))}; want as many")
    at = [axis_of("roll", a, max(rank, 1)) for a in axes]
    return _operators.roll(x, given, at) if at and rank else _operators.roll(x, given[:1], None)


@renamed(input="x", dims="axes")
def rot90(x: Tensor, k: int = 1, axes: Sequence[int] = (0, 1), name: str | None = None) -> Tensor:
    """x turned k times by 90 degrees, from the first of two axes to the second.

    Raises:
        ValueError: axes are not two different ones in range, or x has fewer.
    """
    rank = len(meta(tensor(x, "rot90", "x")).shape)
    axes = whole("axes", axes)
    if len(axes) != 2:
        raise ValueError(f"[rot90] got {axes_text(len(axes))}; want 2")
    if rank < 2:
        raise ValueError(f"[rot90] x has {axes_text(rank)}; want at least 2")
    first, second = (axis_of("rot90", a, rank) for a in axes)
    if first == second:
        raise ValueError(f"[rot90] axes are {list(axes)}; want two different ones")
    turns = index("k", k) % 4
    if turns == 0:
        return x
    if turns == 2:
        return flip(x, [first, second])
    order = list(range(rank))
    order[first], order[second] = second, first
    if turns == 1:
        return transpose(flip(x, [second]), order)
    return flip(transpose(x, order), [second])


@renamed(input="x")
def moveaxis(x: Tensor, source: Ints, destination: Ints, name: str | None = None) -> Tensor:
    """x with some axes at other positions, as a view.

    Raises:
        AssertionError: there are not as many of both, or one is out of range.
        TypeError: an axis is no whole number.
        ValueError: an axis stands twice.
    """
    rank = len(meta(tensor(x, "moveaxis", "x")).shape)
    sources, targets = whole("source", source), whole("destination", destination)
    if len(sources) != len(targets):
        raise AssertionError(
            f"[moveaxis] source has {len(sources)} and destination {axes_text(len(targets))}; want as many"
        )
    came = [axis_of("moveaxis", a, rank, AssertionError) for a in sources]
    goes = [axis_of("moveaxis", a, rank, AssertionError) for a in targets]
    if len(set(came)) < len(came) or len(set(goes)) < len(goes):
        raise ValueError(f"[moveaxis] axes are {list(sources)} and {list(targets)}; want each once")
    rest = iter([a for a in range(rank) if a not in came])
    placed = dict(zip(goes, came))
    return _operators.transpose(x, [placed[i] if i in placed else next(rest) for i in range(rank)])


swapaxes = swapdims = transpose
reverse = flip
concatenate = concat


def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """x with its last two axes swapped, as a view.

    Raises:
        ValueError: x has fewer than two axes.
    """
    if len(meta(tensor(x, "matrix_transpose", "x")).shape) < 2:
        raise ValueError(f"[matrix_transpose] x has {axes_text(len(meta(x).shape))}; want at least 2")
    return transpose(x, -2, -1)


def atleast_1d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least one axis.

    Args:
        inputs: tensors, data as for `to_tensor`, or one list of tensors.

    Returns:
        Of one input a tensor, of several a list: the input itself, or a 0-d one as a view of shape [1].

    Raises:
        TypeError: an input can be no tensor.
    """
    return raised(inputs, lambda shape: shape or [1])


def atleast_2d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least two axes: a 0-d tensor becomes [1, 1] and a vector of n elements [1, n].

    Args:
        inputs: as of `atleast_1d`, which also describes the result.

    Raises:
        TypeError: an input can be no tensor.
    """
    return raised(inputs, lambda shape: [1] * (2 - len(shape)) + shape)


def atleast_3d(*inputs: Any, name: str | None = None) -> Any:
    """Tensors with at least three axes: n elements become [1, n, 1], and [m, n] becomes [m, n, 1].

    Args:
        inputs: as of `atleast_1d`, which also describes the result.

    Raises:
        TypeError: an input can be no tensor.
    """
    return raised(inputs, lambda shape: ([1, *(shape or [1])] if len(shape) < 2 else shape) + [1] * (len(shape) < 3))


def raised(inputs: Sequence[Any], rule: Any) -> Any:
    """The tensors under the shapes that a rule makes of theirs; a list of them unless there is one."""
    found = []
    given = inputs[0] if len(inputs) == 1 and holds_tensors(inputs[0]) else inputs
    for x in given:
        x = x if isinstance(x, Tensor) else to_tensor(x)
        shape = list(meta(x).shape)
        wanted = rule(shape)
        added = len(wanted) != len(shape)
        found.append(reshaped(x, wanted) if added else x)
    return found[0] if len(found) == 1 else found


def holds_tensors(x: Any) -> bool:
    return isinstance(x, (list, tuple)) and any(isinstance(item, Tensor) for item in x)


@renamed(
    input="x", dim="axis", indices="num_or_indices", sections="num_or_indices", indices_or_sections="num_or_indices"
)
def tensor_split(
    x: Tensor, num_or_indices: int | Sequence[int], axis: int | Tensor = 0, name: str | None = None
) -> list[Tensor]:
    """Parts of x along an axis.

    Args:
        num_or_indices: how many parts, which are copies, the first of them longer by one if need be; or the
            indices where parts begin, which are views then.

    Raises:
        ValueError: it is neither, or the axis is out of range.
    """
    shape = meta(tensor(x, "tensor_split", "x")).shape
    a = axis_of("tensor_split", value_of(axis), len(shape))
    n = shape[a]
    if isinstance(num_or_indices, (int, np.integer)):
        count = int(num_or_indices)
        if count <= 0:
            raise ValueError(f"[{called('tensor_split')}] num_or_indices is {count}; want a number from 1")
        if count > MOST_PARTS:
            raise ValueError(f"[{called('tensor_split')}] num_or_indices is {count}; want at most {MOST_PARTS}")
        return _operators.split(x, [n // count + (i < n % count) for i in range(count)], a) if count > 1 else [clone(x)]
    if not isinstance(num_or_indices, (list, tuple)):
        raise ValueError(
            f"[{called('tensor_split')}] num_or_indices is {num_or_indices!r}; want an int, or a list or tuple of ints"
        )
    inner = list(whole("num_or_indices", num_or_indices))
    return [cut(x, a, start, stop) for start, stop in zip([0, *inner], [*inner, n])]


def split_along(function: str, x: Any, given: Any, axis: int, least: int) -> list[Tensor]:
    if len(meta(tensor(x, function, "x")).shape) < least:
        raise ValueError(f"[{function}] x has {axes_text(len(meta(x).shape))}; want at least {least}")
    return tensor_split(x, given, axis)


def hsplit(x: Tensor, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """Parts of x along the second axis, or along the first of a vector.

    Args:
        num_or_indices: as of `tensor_split`: how many parts, or where they begin.

    Returns:
        A list of tensors with as many axes as x.

    Raises:
        ValueError: x is a 0-d tensor, or num_or_indices is neither an int from 1 nor a list or tuple of ints.
    """
    return split_along("hsplit", x, num_or_indices, 1 if len(meta(tensor(x, "hsplit", "x")).shape) > 1 else 0, 1)


def vsplit(x: Tensor, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """Parts of x along the first axis.

    Args:
        num_or_indices: as of `tensor_split`: how many parts, or where they begin.

    Returns:
        A list of tensors with as many axes as x.

    Raises:
        ValueError: x has fewer than two axes, or num_or_indices is neither an int from 1 nor a list or tuple of ints.
    """
    return split_along("vsplit", x, num_or_indices, 0, 2)


def dsplit(x: Tensor, num_or_indices: int | Sequence[int], name: str | None = None) -> list[Tensor]:
    """Parts of x along the third axis.

    Args:
        num_or_indices: as of `tensor_split`: how many parts, or where they begin.

    Returns:
        A list of tensors with as many axes as x.

    Raises:
        ValueError: x has fewer than three axes, or num_or_indices is neither an int from 1 nor a list or tuple of ints.
    """
    return split_along("dsplit", x, num_or_indices, 2, 3)


def together(function: str, x: Any, raise_to: Any, axis: int | None = None) -> Tensor:
    """`concat` of tensors that have been given further axes."""
    raised_ones = raise_to(*listed([x] if isinstance(x, Tensor) else x, function))
    parts = raised_ones if isinstance(raised_ones, list) else [raised_ones]
    if axis is None:
        axis = 0 if len(meta(parts[0]).shape) == 1 else 1
    return concat(parts, axis)


@renamed(tensors="x")
def hstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A copy of tensors, end to end along the second axis; vectors and 0-d tensors along the only one.

    Raises:
        ValueError: x holds no tensor or something else, or shapes differ beside that axis.
    """
    return together("hstack", x, atleast_1d)


@renamed(tensors="x")
def vstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A copy of tensors, end to end along the first axis: 0-d tensors and vectors as rows, see `atleast_2d`.

    Raises:
        ValueError: x holds no tensor or something else, or shapes differ beside that axis.
    """
    return together("vstack", x, atleast_2d, 0)


row_stack = vstack


@renamed(tensors="x")
def dstack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A copy of tensors, end to end along the third axis, after `atleast_3d`.

    Raises:
        ValueError: x holds no tensor or something else, or shapes differ beside that axis.
    """
    return together("dstack", x, atleast_3d, 2)


@renamed(tensors="x")
def column_stack(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A copy of tensors, end to end along the second axis: 0-d tensors and vectors of n elements as columns [n, 1].

    Raises:
        ValueError: x holds no tensor or something else, or shapes differ beside that axis.
    """

    def columns(*given: Tensor) -> list[Tensor]:
        return [reshaped(t, [meta(t).numel, 1]) if len(meta(t).shape) < 2 else t for t in given]

    return together("column_stack", x, columns, 1)


def block_diag(inputs: Sequence[Tensor], name: str | None = None) -> Tensor:
    """A matrix of zeros with matrices along its diagonal; vectors are rows.

    Raises:
        ValueError: there is none, one has more than two axes, or their dtypes differ.
    """
    given = listed(gone_through(inputs), "block_diag", "inputs")
    if any(len(meta(x).shape) > 2 for x in given):
        raise ValueError("[block_diag] a tensor has more than 2 axes; want at most 2")
    alike("block_diag", given)
    return _operators.block_diag(given)


def broadcast_tensors(input: Sequence[Tensor], name: str | None = None) -> list[Tensor]:
    """Copies of tensors of one dtype, broadcast to the shape that they have in common.

    Raises:
        ValueError: there is none, their dtypes differ, or they do not broadcast.
    """
    given = listed(input, "broadcast_tensors", "input")
    alike("broadcast_tensors", given)
    shape = broadcast_shapes(*(meta(x).shape for x in given))
    return [expand(x, shape) for x in given]


def broadcast_shape(x_shape: Sequence[int], y_shape: Sequence[int]) -> list[int]:
    """The shape that two shapes broadcast to.

    Raises:
        ValueError: they do not.
    """
    return broadcast_shapes(x_shape, y_shape)


def broadcast_shapes(*shapes: Sequence[int]) -> list[int]:
    """The shape that several shapes broadcast to; -1 is a size that is not known.

    Raises:
        ValueError: they do not.
    """
    result: list[int] = []
    for shape in shapes:
        sizes = list(whole("shape", shape))
        rank = max(len(result), len(sizes))
        pairs = zip([1] * (rank - len(result)) + result, [1] * (rank - len(sizes)) + sizes)
        result = [common(a, b, shapes) for a, b in pairs]
    return result


def common(a: int, b: int, shapes: Sequence[Any]) -> int:
    if a == b or b == 1 or (b == -1 and a > 1):
        return a
    if a in (1, -1):
        return b
    raise ValueError(f"[broadcast_shape] got shapes {[list(s) for s in shapes]}; want equal sizes, or 1")


@renamed(input="x", size="shape", storage_offset="offset")
def as_strided(
    x: Tensor, shape: Sequence[int], stride: Sequence[int], offset: int = 0, name: str | None = None
) -> Tensor:
    """A view of the memory of x under any shape and strides.

    Args:
        stride: for each axis the distance of neighbours, in elements.
        offset: where the view begins, in bytes from the start of the memory.

    Raises:
        ValueError: the view has an element that lies before the first of x or behind the last, or
            the offset is negative or within an element.
    """
    if offset.__class__ is int and offset == 0 and isinstance(x, Tensor) and x._shape is not None:  # it owns its memory
        return _operators.as_strided(x, shape, stride, 0)
    size = meta(tensor(x, "as_strided", "x")).dtype.itemsize
    offset = index("offset", offset)
    if offset < 0 or offset % size:
        raise ValueError(f"[as_strided] offset is {offset}; want a multiple of {size} bytes from 0")
    begin = x.offset if x._shape is None else 0  # what has a _shape owns its memory
    return _operators.as_strided(x, whole("shape", shape), whole("stride", stride), offset // size - begin)


def view_as(x: Tensor, other: Tensor, name: str | None = None) -> Tensor:
    """x under the shape of another tensor: a view that shares the memory of x.

    Raises:
        ValueError: an argument is no tensor, other has another number of elements, or the strides of x allow no such view.
    """
    return view(x, list(meta(tensor(other, "view_as", "other")).shape))


def clone(x: Tensor, name: str | None = None) -> Tensor:
    """A contiguous copy of x, of its dtype and at its place; gradients pass through it.

    Raises:
        ValueError: x is no tensor.
    """
    return _operators.assign(tensor(x, "clone", "x"))


def tolist(x: Tensor) -> Any:
    """The elements as nested lists of Python numbers; a 0-d tensor as a number. It waits for the device.

    Raises:
        ValueError: x is no tensor.
    """
    return tensor(x, "tolist", "x").tolist()


@renamed(input="x", dim="axis", sizes="shape")
def unflatten(x: Tensor, axis: int, shape: ShapeLike, name: str | None = None) -> Tensor:
    """x with one axis made several: a view where strides allow.

    Args:
        shape: the sizes of the new axes, one of which may be -1.

    Raises:
        AssertionError: the axis is out of range.
        ValueError: the sizes do not make up the axis.
    """
    dims = list(meta(tensor(x, "unflatten", "x")).shape)
    a = axis_of("unflatten", axis, len(dims), AssertionError)
    sizes, known = list(whole("shape", shape)), math.prod(s for s in whole("shape", shape) if s != -1)
    if sizes.count(-1) == 1 and known and dims[a] % known == 0:
        sizes[sizes.index(-1)] = dims[a] // known
    if math.prod(sizes) != dims[a] or any(s < 0 for s in sizes):
        raise ValueError(f"[unflatten] shape is {list(whole('shape', shape))}; want sizes that make up {dims[a]}")
    return reshaped(x, [*dims[:a], *sizes, *dims[a + 1 :]])


@renamed(input="x", dimension="axis")
def unfold(x: Tensor, axis: int, size: int, step: int, name: str | None = None) -> Tensor:
    """All windows of an axis, as a view: they are counted along that axis, and their elements along a new last one.

    Raises:
        ValueError: the axis is out of range or shorter than a window, or the step is not from 1.
    """
    x = _grad.compact(tensor(x, "unfold", "x"))
    m, size, step = meta(x), index("size", size), index("step", step)
    if not m.shape:
        if axis in (0, -1) and size in (0, 1) and step > 0:
            return _operators.as_strided(x, [size], [1], 0)
        raise ValueError("[unfold] x has no axes; want axis 0 and a window of at most 1")
    a = axis_of("unfold", axis, len(m.shape))
    if not 0 <= size <= m.shape[a] or step <= 0:
        raise ValueError(f"[unfold] windows of {size} every {step}; want sizes up to {m.shape[a]} and a step from 1")
    shape, strides = list(m.shape), list(m.strides)
    shape[a], strides[a] = (m.shape[a] - size) // step + 1, m.strides[a] * step
    return _operators.as_strided(x, [*shape, size], [*strides, m.strides[a]], 0)


def unstack(x: Tensor, axis: int = 0, num: int | None = None) -> list[Tensor]:
    """Copies of the slices of x along an axis, without it.

    Args:
        num: how many there are; None: as many as there are.

    Raises:
        ValueError: the axis is out of range, or num another number.
    """
    shape = meta(tensor(x, "unstack", "x")).shape
    a = axis_of("unstack", axis, len(shape))
    n = shape[a]
    if n > MOST_RESULTS and num in (None, n):  # more than one call has
        return [part for i in range(0, n, MOST_RESULTS) for part in unstack(cut(x, a, i, i + MOST_RESULTS), a)]
    return _operators.unstack(x, a, n if num is None else num)


def narrow(input: Tensor, dim: int, start: int | Tensor, length: int) -> Tensor:
    """`length` indices of an axis from a first one, as a view.

    Raises:
        AssertionError: the tensor has no axes, or a bound is out of range.
        IndexError: the axis is out of range.
    """
    shape = meta(tensor(input, "narrow", "input")).shape
    if not shape or (isinstance(start, Tensor) and meta(start).shape):
        raise AssertionError("[narrow] input has no axes, or start has; want the opposite")
    a = axis_of("narrow", dim, len(shape), IndexError)
    first, n = index("start", value_of(start)), shape[a]
    length = index("length", length)
    if length < 0 or not -n <= first <= n:
        raise AssertionError(f"[narrow] start is {first} and length {length}; want bounds of an axis of {n}")
    first += n if first < 0 else 0
    if first + length > n:
        raise AssertionError(f"[narrow] start is {first} and length {length}; want at most {n} together")
    return cut(input, a, first, first + length)


def crop(x: Tensor, shape: Any = None, offsets: Any = None, name: str | None = None) -> Tensor:
    """A copy of the part of x that has a shape and begins at offsets.

    Args:
        shape: its dimensions; -1: up to the end. None: that of x.
        offsets: where it begins on each axis; None: at 0.

    Raises:
        TypeError: a number is not whole.
        ValueError: the part lies outside x, or there is not a number for each axis.
    """
    dims = meta(tensor(x, "crop", "x")).shape
    sizes = list(dims if shape is None else whole("shape", shape))
    starts = [0] * len(dims) if offsets is None else list(whole("offsets", offsets))
    if len(sizes) != len(dims) or len(starts) != len(dims):
        raise ValueError(f"[crop] shape has {len(sizes)} and offsets {len(starts)} entries; want {len(dims)}")
    sizes = [n - start if size == -1 else size for n, start, size in zip(dims, starts, sizes)]
    if any(start < 0 or size < 0 or start + size > n for n, start, size in zip(dims, starts, sizes)):
        raise ValueError(f"[crop] shape {sizes} from {starts} is not inside {list(dims)}")
    items = [slice(start, start + size) for start, size in zip(starts, sizes)]
    return _operators.assign(basic(x, items))


@errors_of("slice")
@renamed(input="x")
def strided_slice(
    x: Tensor, axes: Sequence[int], starts: Ints, ends: Ints, strides: Ints, name: str | None = None
) -> Tensor:
    """Every so many indices from starts to before ends on some axes, as a view; bounds are clamped.

    Raises:
        ValueError: an axis is out of range or a stride is 0.
    """
    x = tensor(x, "strided_slice", "x")
    return _operators.slice(
        x, whole("axes", axes), whole("starts", starts), whole("ends", ends), whole("strides", strides)
    )


@renamed(input="x", src="value")
def slice_scatter(
    x: Tensor,
    value: Tensor,
    axes: Sequence[int],
    starts: Sequence[int],
    ends: Sequence[int],
    strides: Sequence[int],
    name: str | None = None,
) -> Tensor:
    """A copy of x with value, broadcast and cast, in the place of a `strided_slice`.

    Raises:
        ValueError: an axis is out of range, or value does not broadcast.
    """
    given, rank = tensor(value, "slice_scatter", "value"), len(meta(tensor(x, "slice_scatter", "x")).shape)
    shape = meta(given).shape
    if len(shape) > rank and set(shape[: len(shape) - rank]) == {1}:
        given = reshaped(given, list(shape[len(shape) - rank :]))
    places = [whole(n, v) for n, v in (("axes", axes), ("starts", starts), ("ends", ends), ("strides", strides))]
    return _operators.slice_scatter(x, given, *places)


@renamed(input="x", src="values", dim="axis")
def select_scatter(x: Tensor, values: Tensor, axis: int, index: int, name: str | None = None) -> Tensor:
    """A copy of x with values, cast, in the place of one index of an axis.

    Raises:
        IndexError: the axis or the index is out of range.
        RuntimeError: values have another shape than that slice.
    """
    shape = meta(tensor(x, "select_scatter", "x")).shape
    a = axis_of("select_scatter", axis, len(shape), IndexError)
    (index,) = whole("index", index)
    n, wanted = shape[a], (*shape[:a], *shape[a + 1 :])
    if not -n <= index < n:
        raise OutOfRangeError(f"[select_scatter] index is {index}; want {-n} to {n - 1}")
    if meta(tensor(values, "select_scatter", "values")).shape != wanted:
        raise RuntimeError(f"[select_scatter] values have shape {list(meta(values).shape)}; want {list(wanted)}")
    return _operators.select_scatter(x, values, a, index)


def ravel(input: Tensor) -> Tensor:
    """All elements in row-major order, with the shape [n]: a view where the strides allow one, else a copy.

    Raises:
        ValueError: input is no tensor.
    """
    return flatten(input)


@renamed(input="x", dim="axis")
def repeat_interleave(
    x: Tensor,
    repeats: int | Tensor,
    axis: int | None = None,
    name: str | None = None,
    *,
    output_size: int | None = None,
) -> Tensor:
    """Each slice of x along an axis several times.

    Args:
        repeats: how often: one number, or a tensor of one for each slice.
        axis: None: the elements, in row-major order.
        output_size: of the axis, if it is known.

    Raises:
        IndexError: the axis is out of range.
        TypeError: repeats is neither.
        ValueError: a number is negative (or 0, if it is the only one), or they are not as many as slices.
    """
    x = tensor(x, "repeat_interleave", "x")
    if not isinstance(repeats, Tensor):
        times = index("repeats", repeats)
        if times <= 0:
            raise ValueError(f"[repeat_interleave] repeats is {times}; want a number from 1")
        if axis is not None and meta(x).shape:
            axis = axis_of("repeat_interleave", axis, len(meta(x).shape), IndexError)
        return _operators.repeat_interleave(x, times, axis)
    if axis is None or not meta(x).shape:
        x, axis = flatten(x), 0
    a = axis_of("repeat_interleave", axis, len(meta(x).shape), IndexError)
    n = meta(x).shape[a]
    of_one_place("repeat_interleave", x, repeats)
    counts = repeats.numpy()
    if counts.dtype.kind != "i" or counts.shape != (n,) or (counts < 0).any():
        raise ValueError(f"[repeat_interleave] repeats is {repeats}; want {n} integers from 0")
    if output_size is not None and output_size != counts.sum():
        raise ValueError(f"[repeat_interleave] output_size is {output_size}; want {counts.sum()}")
    where = from_array(np.repeat(np.arange(n), counts), meta(x).place)
    return _operators.gather(x, where, a)


def repeat(input: Tensor, repeats: Ints, *more: int) -> Tensor:
    """`tile` with the repetitions as a list, or as arguments of their own."""
    times = whole("repeats", spread(repeats, more))
    if any(t < 0 for t in times):
        raise ValueError(f"[repeat] repeats is {list(times)}; want numbers from 0")
    return tile(input, times)


def is_same_shape(x: Tensor, y: Tensor) -> bool:
    """Whether two tensors have one shape."""
    return meta(tensor(x, "is_same_shape", "x")).shape == meta(tensor(y, "is_same_shape", "y")).shape


__all__ = [
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shape",
    "broadcast_shapes",
    "broadcast_tensors",
    "clone",
    "column_stack",
    "concatenate",
    "crop",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "matrix_transpose",
    "meshgrid",
    "moveaxis",
    "narrow",
    "ravel",
    "repeat_interleave",
    "reverse",
    "roll",
    "rot90",
    "row_stack",
    "select_scatter",
    "slice_scatter",
    "strided_slice",
    "swapaxes",
    "swapdims",
    "tensor_split",
    "tolist",
    "unflatten",
    "unfold",
    "unstack",
    "view",
    "view_as",
    "vsplit",
    "vstack",
]


class ShapeMethods:
    """The methods of this module."""

    __slots__ = ()

    as_strided = as_strided
    atleast_1d = atleast_1d
    atleast_2d = atleast_2d
    atleast_3d = atleast_3d
    block_diag = block_diag
    broadcast_shape = broadcast_shape
    broadcast_shapes = broadcast_shapes
    broadcast_tensors = broadcast_tensors
    concat = concat
    dsplit = dsplit
    hsplit = hsplit
    is_same_shape = is_same_shape
    matrix_transpose = matrix_transpose
    moveaxis = moveaxis
    narrow = narrow
    ravel = ravel
    repeat = repeat
    repeat_interleave = repeat_interleave
    reverse = reverse
    roll = roll
    rot90 = rot90
    select_scatter = select_scatter
    slice_scatter = slice_scatter
    stack = stack
    strided_slice = strided_slice
    swapaxes = swapaxes
    swapdims = swapdims
    tensor_split = tensor_split
    unflatten = unflatten
    unfold = unfold
    unstack = unstack
    view = view
    view_as = view_as
    vsplit = vsplit
