"""Reading and writing through index tensors and masks, in the ways of Paddle's functions.

Reads are the operator `index`, whose tensors count along the first axes of a view. Writes are `index_put`, of
which the last of several for one place wins, or `index_reduce`, which joins them in their order.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .._arrays._array import expand, flatten, reshaped
from .._arrays._creation import filled, full_0d
from .._arrays._indexing import along, fill, front, leading, places, put_into, translate
from .._arrays._shapes import broadcast_shapes, cut
from .._calls import _complex, _grad, _operators
from .._calls._call import into, renamed, writer
from .._calls._call import take as take_value
from .._calls._inplace import in_place
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import REQUIRED, axis_of, listed, scalar, tensor, whole
from .._core._errors import errors_of, rename
from .._core._objects import Tensor, meta
from .._maths._arithmetic import cast, where

if TYPE_CHECKING:
    from .._core._typing import Scalar, ShapeLike

Function = TypeVar("Function", bound=Callable[..., Any])

reduce_into = writer(_operators.index_reduce)
add_into = writer(_operators.index_add)
fill_into = writer(_operators.index_fill)

WRITES = ("index_put", "index_reduce")  # the rows that write, which errors of elements name

# Paddle's and PyTorch's names of a reduction, and that of `index_reduce`.
REDUCTIONS = {
    "assign": "assign", "add": "add", "sum": "add", "mul": "multiply", "multiply": "multiply", "prod": "multiply",
    "mean": "mean", "amin": "minimum", "amax": "maximum",
}  # fmt: skip


def positions(function: str, index: Any, error: type[Exception] = ValueError) -> Tensor:
    """An index tensor.

    Raises:
        error: it is neither int32 nor int64.
        ValueError: it is no tensor.
    """
    given = tensor(index, function, "index")
    if meta(given).dtype not in (_dtype.int64, _dtype.int32):
        raise error(f"[{function}] index is {meta(given).dtype.name}; want int32 or int64")
    return given


def same_dtype(function: str, x: Tensor, value: Any, name: str, error: type[Exception] = ValueError) -> Tensor:
    """A tensor of the dtype of x.

    Raises:
        error: it is of another dtype.
    """
    given = tensor(value, function, name)
    if meta(given).dtype is not meta(x).dtype:
        raise error(f"[{function}] x is {meta(x).dtype.name} and {name} {meta(given).dtype.name}; want one dtype")
    return given


def column(function: str, index: Any) -> Tensor:
    """An index tensor of shape [n] or [n, 1], as [n].

    Raises:
        ValueError: the shape is another.
    """
    given = positions(function, index)
    shape = meta(given).shape
    if len(shape) == 1:
        return given
    if len(shape) != 2 or shape[1] != 1:
        raise ValueError(f"[{function}] index has shape {list(shape)}; want [n] or [n, 1]")
    return reshaped(given, [shape[0]])


def depth(function: str, x: Tensor, index: Any) -> int:
    """How many of the first axes of x the rows of an index tensor count along.

    Raises:
        ValueError: it has no axes, or a row is longer than x has axes.
    """
    given = positions(function, index)
    shape, rank = meta(given).shape, len(meta(x).shape)
    if not shape or shape[-1] > rank:
        raise ValueError(f"[{function}] index has shape {list(shape)}; want rows of at most {rank} indices")
    return shape[-1]


@errors_of("index")
@renamed(input="x")
def gather_nd(x: Tensor, index: Tensor, name: str | None = None) -> Tensor:
    """The slices x[index[..., 0], index[..., 1], ...].

    Raises:
        ValueError: an index is out of range, a row of them longer than x has axes, or not of integers.
    """
    count = depth("gather_nd", tensor(x, "gather_nd", "x"), index)
    if not count:
        return expand(x, [*meta(index).shape[:-1], *meta(x).shape])
    return _operators.gather_nd(x, index, 0)


def complex_gather_nd(x: Tensor, index: Tensor, batch_dims: int) -> Tensor:
    """The same of complex numbers, without batches."""
    return _operators.index(x, [index[..., i] for i in range(meta(index).shape[-1])])


@errors_of("index")
@renamed(input="x", dim="axis")
def index_select(
    x: Tensor, index: Tensor, axis: int = 0, name: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """The slices of x along an axis that an index tensor of shape [n] or [n, 1] names.

    Raises:
        IndexError: the axis is out of range.
        ValueError: an index is, or index has another shape or dtype.
    """
    if isinstance(axis, Tensor) and not isinstance(index, Tensor):  # index_select(x, axis, index) is PyTorch's order
        index, axis = axis, index
    x, where_from = tensor(x, "index_select", "x"), column("index_select", index)
    a = axis_of("index_select", axis, len(meta(x).shape), IndexError)
    return into(out, _operators.gather(x, where_from, a))


@errors_of("index")
def index_sample(x: Tensor, index: Tensor) -> Tensor:
    """x[i, index[i, j]] for all i and j of an index matrix.

    Raises:
        ValueError: an index is out of range, or x and index are no matrices of as many rows.
    """
    given = positions("index_sample", index)
    shape, wanted = meta(tensor(x, "index_sample", "x")).shape, meta(given).shape
    if len(shape) != 2 or len(wanted) != 2 or shape[0] != wanted[0]:
        raise ValueError(f"[index_sample] shapes are {list(shape)} and {list(wanted)}; want matrices of as many rows")
    return _operators.take_along_axis(x, given, 1)


def lattice(index: Tensor, axis: int) -> list[Tensor]:
    """An index tensor for each axis: the given one for one of them, and each element's own place for all others."""
    shape, place = meta(index).shape, meta(index).place
    found = []
    for a, n in enumerate(shape):
        if a == axis:
            found.append(index)
            continue
        line = _operators.range(place.word, 0, 1, n, _dtype.int64)
        found.append(reshaped(line, [n if b == a else 1 for b in range(len(shape))]))
    return found


@errors_of("index")
@renamed(input="x")
def take(x: Tensor, index: Tensor, mode: str = "raise", name: str | None = None) -> Tensor:
    """The elements of x by their numbers in row-major order, in the shape of index.

    Args:
        mode: what an index out of range is: "raise" an error, "wrap" counted around, "clip" the nearest one.

    Raises:
        TypeError: index is no tensor of integers.
        ValueError: an index is out of range, or the mode is another.
    """
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"[take] mode is {mode!r}; want 'raise', 'wrap' or 'clip'")
    if not isinstance(index, Tensor):
        raise TypeError(f"[take] index is {type(index).__name__}; want a Tensor")
    given, line = positions("take", index, TypeError), flatten(tensor(x, "take", "x"))
    count = meta(line).numel
    if mode == "wrap":
        given = _operators.remainder(given, count)
    elif mode == "clip":
        given = _operators.clip(given, 0, count - 1)
    return _operators.index(line, [given])


def beside(function: str, arr: Tensor, indices: Any, axis: Any) -> tuple[Tensor, int]:
    """An index tensor with as many axes as arr, and the axis, counted from the front.

    Raises:
        AssertionError: the axis is out of range.
        TypeError: the indices are no integers.
        ValueError: they have another number of axes.
    """
    given = positions(function, indices, TypeError)
    rank = len(meta(tensor(arr, function, "arr")).shape)
    if len(meta(given).shape) != rank:
        raise ValueError(f"[{function}] indices have {axes_text(len(meta(given).shape))}; want {rank}, as arr has")
    return given, axis_of(function, axis, rank, AssertionError)


def fitting(function: str, arr: Tensor, indices: Tensor, axis: int, values: Tensor | None = None) -> None:
    """Raises a RuntimeError unless indices are no larger than arr, but along the axis, and no larger than values."""
    shape, most = meta(indices).shape, list(meta(arr).shape)
    most[axis] = shape[axis]
    given = most if values is None else meta(values).shape
    if len(given) != len(shape) or any(n > min(m, g) for n, m, g in zip(shape, most, given)):
        raise RuntimeError(f"[{function}] indices have shape {list(shape)}; want at most {most} and {list(given)}")


@errors_of("index")
@renamed(input="arr", index="indices", dim="axis")
def take_along_axis(
    arr: Tensor, indices: Tensor, axis: int, broadcast: bool = True, *, out: Tensor | None = None
) -> Tensor:
    """Along one axis the elements that indices name; on all others each takes its own place.

    Args:
        broadcast: let arr and indices broadcast on the other axes; else indices may be smaller there.

    Raises:
        AssertionError: the axis is out of range.
        IndexError: an index is.
        RuntimeError: without broadcast, indices are larger than arr.
        ValueError: the shapes do not broadcast, or have different numbers of axes.
    """
    given, a = beside("take_along_axis", arr, indices, axis)
    if broadcast:
        shape, wanted = list(meta(arr).shape), list(meta(given).shape)
        length = shape[a]
        shape[a] = wanted[a]
        wanted = broadcast_shapes(shape, wanted)
        given = stretched(given, wanted)
        wanted[a] = length
        arr = stretched(arr, wanted)
    else:
        fitting("take_along_axis", arr, given, a)
    return into(out, _operators.take_along_axis(arr, given, a))


def complex_take_along_axis(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    return _operators.index(x, lattice(indices, axis))


_complex.COMPOSITES.update(take_along_axis=complex_take_along_axis, gather_nd=complex_gather_nd)


take_along_dim = take_along_axis


def either_order(function: Function) -> Function:
    """Takes gather(input, dim, index) too, PyTorch's, which is another function under the same name.

    It is `errors_of("index")`, too: a wrapper of its own would take 200 ns.
    """

    @functools.wraps(function)
    def wrapper(*args: Any, index: Any = REQUIRED, axis: Any = REQUIRED, **options: Any) -> Tensor:
        try:
            if not options:  # the most usual calls
                given = args[1] if len(args) == 2 and index is REQUIRED else index if len(args) == 1 else None
                if isinstance(given, Tensor):
                    return _operators.gather(args[0], given, None if axis is REQUIRED else axis)
            options.update((n, v) for n, v in (("index", index), ("axis", axis)) if v is not REQUIRED)
            second = args[1] if len(args) > 1 else None
            if "dim" in options or (isinstance(second, (int, np.integer)) and not isinstance(second, bool)):
                return gathered_along(*args, **options)
            return function(*args, **options)  # type: ignore[no-any-return]
        except Exception as error:
            rename(error, ("index",), function.__name__)
            raise

    return wrapper  # type: ignore[return-value]


def gathered_along(input: Tensor, dim: int, index: Tensor, *, out: Tensor | None = None) -> Tensor:
    """`take_along_axis` without broadcasting, as PyTorch's gather."""
    return take_along_axis(tensor(input, "gather", "input"), index, dim, False, out=out)


@either_order
@renamed(input="x")
def gather(
    x: Tensor, index: Tensor, axis: int | Tensor | None = None, name: str | None = None, out: Tensor | None = None
) -> Tensor:
    """The slices x[index[i]] along an axis.

    gather(input, dim, index), with an int or with dim=, is `take_along_axis` without broadcasting.

    Args:
        index: int32 or int64, of no or one dimension.
        axis: None: the first.

    Raises:
        IndexError: an index is out of range.
        ValueError: index is of another dtype or has more dimensions.
    """
    return into(out, _operators.gather(x, index, axis))


def stretched(x: Tensor, shape: Sequence[int]) -> Tensor:
    """x broadcast to a shape; x itself if it has that shape."""
    return x if list(meta(x).shape) == list(shape) else expand(x, list(shape))


@errors_of(*WRITES, "put_along_axis")
def put_along_axis_(
    arr: Tensor,
    indices: Tensor,
    values: Tensor | Scalar,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """`put_along_axis` into arr itself; returns it."""
    given, source, a, how = put_arguments(arr, indices, values, axis, reduce, broadcast)
    write(arr, source, lattice(given, a), how, include_self)
    return arr


def put_arguments(
    arr: Tensor, indices: Any, values: Any, axis: Any, reduce: str, broadcast: bool
) -> tuple[Tensor, Tensor, int, str]:
    """Those of the row: index tensors and values that fit beside arr, the axis from the front, and the reduction."""
    given, a = beside("put_along_axis", arr, indices, axis)
    if REDUCTIONS.get(reduce) is None:
        raise ValueError(f"[put_along_axis] reduce is {reduce!r}; want one of {', '.join(REDUCTIONS)}")
    if isinstance(values, Tensor):
        source = same_dtype("put_along_axis", arr, values, "values")
    else:
        source = constant("put_along_axis", arr, values)
    if broadcast:
        shape = list(meta(arr).shape)
        shape[a] = meta(given).shape[a]
        given = stretched(given, shape)
    else:
        fitting("put_along_axis", arr, given, a, source if meta(source).shape else None)
        if meta(source).shape:
            for b, n in enumerate(meta(given).shape):
                source = cut(source, b, 0, n)
    return given, source, a, REDUCTIONS[reduce]


def constant(function: str, x: Tensor, value: Any) -> Tensor:
    """A number as a 0-d tensor beside x.

    Raises:
        TypeError: it is no number.
    """
    fits = meta(x).dtype.is_complex and isinstance(value, _complex.NUMBERS)
    if not fits and scalar(value) is None:
        raise TypeError(f"[{function}] value is {type(value).__name__}; want a number or a Tensor")
    return full_0d(x, value)


def number_beside(function: str, x: Tensor, value: Any) -> Any:
    """A number for a row that computes with x: as the dtype of x has it, so that the result is of that dtype.

    Raises:
        TypeError: it is no number.
    """
    if value.__class__ is float and meta(x).dtype.is_floating:  # a float is weak beside them
        return value
    return constant(function, x, value)


def joined(
    x: Tensor, axes: Sequence[int], value: Tensor, indices: Sequence[Tensor], how: str, function: str = "put_along_axis"
) -> None:
    """Writes value where index tensors say, along axes of x, joined with what is there."""
    target = front(x, axes)
    if how == "assign":
        put_into(target, target, value, indices)
        return
    if not _grad.asks(x, value):
        reduce_into(target, target, value, indices, how)
        return
    _grad.graded_leaf(x, function)
    # The gradient may read what x was, so that the operator gets a copy.
    fill(target, _operators.index_reduce(_operators.assign(target), value, indices, how))


def write(x: Tensor, value: Tensor, indices: Sequence[Tensor], how: str, include_self: bool = True) -> None:
    """Writes value where index tensors say, joined with what is there by a reduction.

    Without include_self what is there does not count: it is the neutral number first, or for a minimum and
    a maximum any of the values, which changes nothing then.
    """
    if how == "assign" or (not include_self and how in ("minimum", "maximum")):
        joined(x, [], value, indices, "assign")
    elif not include_self:
        joined(x, [], constant(how, x, 1 if how == "multiply" else 0), indices, "assign")
    if how == "mean":
        joined(x, [], value, indices, "add")
        one = filled((), 1, _dtype.int64, meta(x).place)
        counts = filled(meta(x).shape, int(include_self), _dtype.int64, meta(x).place)
        reduce_into(counts, counts, one, indices, "add")
        divide_by(x, counts if include_self else _operators.clip(counts, 1, None))
    elif how != "assign":
        joined(x, [], value, indices, how)


def divide_by(x: Tensor, counts: Tensor) -> None:
    """Divides x in place; integers are rounded down."""
    kind = meta(x).dtype
    if kind.is_floating:
        take_value(x, _operators.divide(x, cast(counts, kind)))
    else:
        take_value(x, cast(_operators.floor_divide(cast(x, _dtype.int64), counts), kind))


@errors_of(*WRITES)
@renamed(input="arr", index="indices", dim="axis", src="values", value="values")
def put_along_axis(
    arr: Tensor,
    indices: Tensor,
    values: Tensor | Scalar,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Tensor:
    """A copy of arr with values along one axis where indices say; on all other axes each has its own place.

    Args:
        values: a number, or a tensor of the dtype of arr.
        reduce: "assign" (of several values for one place the last), or how they are joined in their order:
            "add", "multiply" or "mul", "mean", "amin", "amax".
        include_self: whether what is there is one of the values that are joined.
        broadcast: let indices and values broadcast; else they may be smaller than arr.

    Raises:
        AssertionError: the axis is out of range.
        IndexError: an index is.
        RuntimeError: without broadcast, indices are larger than arr or values.
        ValueError: the dtypes differ, the shapes do not broadcast, or there is no such reduction.
    """
    given, source, a, how = put_arguments(arr, indices, values, axis, reduce, broadcast)
    return _operators.put_along_axis(arr, given, source, a, how, include_self)


@errors_of("put_along_axis")
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of input, to which the elements of src are added where index says; equal indices add up.

    Args:
        dim: the axis along which index counts.
        index: int32 or int64, with as many axes as input, and nowhere longer than src.
        src: the summands, of the dtype of input.

    Raises:
        IndexError: an index is out of range.
        RuntimeError: index is longer than input or src along an axis.
        ValueError: the dtypes of input and src differ, or an argument is no tensor.
    """
    return put_along_axis(input, index, src, dim, "add", True, False)


@errors_of("put_along_axis", "put_along_axis_")
def scatter_add_(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """`scatter_add` into input itself; returns it."""
    return put_along_axis_(input, index, src, dim, "add", True, False)


@errors_of("put_along_axis")
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """A copy of input, with whose elements those of src are combined where index says.

    Args:
        dim: the axis along which index counts.
        index: int32 or int64, with as many axes as input, and nowhere longer than src.
        src: what is combined, of the dtype of input.
        reduce: "sum", "prod", "mean", "amin" or "amax".
        include_self: whether the elements of input count.

    Raises:
        IndexError: an index is out of range.
        RuntimeError: index is longer than input or src along an axis.
        ValueError: the dtypes differ, an argument is no tensor, or there is no such reduction.
    """
    return put_along_axis(input, index, src, dim, reduce, include_self, False)


@errors_of("put_along_axis", "put_along_axis_")
def scatter_reduce_(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`scatter_reduce` into input itself; returns it."""
    return put_along_axis_(input, index, src, dim, reduce, include_self, False)


@errors_of(*WRITES, "put_along_axis_", "scatter")
@renamed(input="x", dim="index_or_dim")
def scatter_(
    x: Tensor, *args: Any, overwrite: bool = True, name: str | None = None, reduce: str | None = None, **named: Any
) -> Tensor:
    """`scatter` into x itself; returns it."""
    x = tensor(x, "scatter_", "x")
    along_axis, given = either_scatter(args, overwrite, reduce, named)
    if along_axis:
        return put_along_axis_(x, *given)
    where_to, source, replaces = slice_arguments(x, *given)
    write(x, source, [where_to], "assign" if replaces else "add", False)
    return x


@errors_of(*WRITES, "put_along_axis")
@renamed(input="x", dim="index_or_dim")
def scatter(
    x: Tensor = REQUIRED,
    *args: Any,
    overwrite: bool = True,
    name: str | None = None,
    out: Tensor | None = None,
    reduce: str | None = None,
    **named: Any,
) -> Tensor:
    """A copy of x with the slices along its first axis that an index tensor names replaced by those of updates.

    scatter(x, index, updates, overwrite=True) takes index of shape [n], [n, 1] or []. With overwrite of
    several slices for one place the last wins; without, they are added up in place of what was there.
    scatter(x, dim, index, src, reduce=None) is `put_along_axis` without broadcasting.

    Raises:
        IndexError: an index is out of range.
        ValueError: the dtypes differ, or updates do not fit.
    """
    along_axis, given = either_scatter(args, overwrite, reduce, named)
    if along_axis:
        return into(out, put_along_axis(x, *given))
    return into(out, _operators.scatter(x, *slice_arguments(x, *given)))


def either_scatter(
    args: Sequence[Any], overwrite: Any, reduce: str | None, named: dict[str, Any]
) -> tuple[bool, tuple[Any, ...]]:
    """Whether `scatter` was called as PyTorch's, along an axis, and the arguments of `put_along_axis`, or index, updates and overwrite."""
    along_axis = "index_or_dim" in named or (args and not isinstance(args[0], Tensor))
    names = ["index_or_dim", "index", "src", "reduce"] if along_axis else ["index", "updates", "overwrite", "name"]
    if "value" in named:
        named["src"] = named.pop("value")
    given = {**dict(zip(names, args)), **named}
    missing = [n for n in names[: 3 if along_axis else 2] if n not in given]
    if missing or len(args) > len(names) or set(given) - set(names):
        raise TypeError(f"[scatter] got {len(args)} arguments and {sorted(named)}; want {', '.join(names)}")
    if along_axis:
        how = given.get("reduce", reduce) or "assign"
        return True, (given["index"], given["src"], given["index_or_dim"], how, True, False)
    return False, (given["index"], given["updates"], given.get("overwrite", overwrite))


def slice_arguments(x: Tensor, index: Any, updates: Any, overwrite: Any) -> tuple[Tensor, Tensor, bool]:
    """Those of the row: an index tensor of at most one axis, updates that fit, and whether they replace what was there."""
    source = same_dtype("scatter", tensor(x, "scatter", "x"), updates, "updates")
    where_to = positions("scatter", index)
    if meta(where_to).shape:
        where_to = column("scatter", where_to)
        count = meta(where_to).numel
        if meta(source).shape and meta(source).shape[0] > count:
            source = cut(source, 0, 0, count)
    wanted = (*meta(where_to).shape, *meta(x).shape[1:])
    if not meta(x).shape or meta(source).shape != wanted:
        raise ValueError(f"[scatter] updates have shape {list(meta(source).shape)}; want {list(wanted)}")
    return where_to, source, bool(overwrite) or not meta(where_to).shape


@errors_of(*WRITES, "scatter_nd")
@renamed(input="x")
def scatter_nd_add(x: Tensor, index: Tensor, updates: Tensor, name: str | None = None) -> Tensor:
    """A copy of x with updates added to the slices x[index[..., 0], index[..., 1], ...], one after the other.

    Raises:
        IndexError: an index is out of range.
        TypeError: the dtypes of x and updates differ.
        ValueError: the shape of updates is another than that of the slices.
    """
    source = same_dtype("scatter_nd_add", tensor(x, "scatter_nd_add", "x"), updates, "updates", TypeError)
    count = depth("scatter_nd_add", x, index)
    wanted = (*meta(index).shape[:-1], *meta(x).shape[count:])
    if meta(source).shape != wanted:
        raise ValueError(f"[scatter_nd_add] updates have shape {list(meta(source).shape)}; want {list(wanted)}")
    return _operators.scatter_nd(x, index, source, "add") if count else _operators.add(x, source)


@errors_of("scatter_nd_add")
def scatter_nd(index: Tensor, updates: Tensor, shape: ShapeLike, name: str | None = None) -> Tensor:
    """Zeros of a shape, to which updates are added: `scatter_nd_add` without x.

    Args:
        index: int32 or int64 of shape [..., k]: the first k indices of a slice.
        updates: the summands, of shape index.shape[:-1] + shape[k:]; the result has their dtype.

    Raises:
        IndexError: an index is out of range.
        ValueError: the shape of updates is another than that of the slices, or a dimension is negative.
    """
    m = meta(tensor(updates, "scatter_nd", "updates"))
    return scatter_nd_add(filled(whole("shape", shape), 0, m.dtype, m.place), index, updates)


@errors_of(*WRITES, "index_add")
def index_add_(
    x: Tensor, index: Tensor, axis: int, value: Tensor, alpha: Scalar = 1, name: str | None = None
) -> Tensor:
    """`index_add` into x itself; returns it."""
    add_into(x, x, *add_arguments(x, index, axis, value, alpha))
    return x


def add_arguments(x: Tensor, index: Any, axis: Any, value: Any, alpha: Scalar) -> tuple[Tensor, Tensor, int]:
    """Those of the row: the index tensor, alpha times the value, and the axis from the front."""
    if isinstance(axis, Tensor):  # index_add(x, axis, index, value) is PyTorch's order
        index, axis = axis, index
    a = axis_of("index_add", axis, len(meta(tensor(x, "index_add", "x")).shape), IndexError)
    given, source = positions("index_add", index), same_dtype("index_add", x, value, "value")
    shape = list(meta(x).shape)
    shape[a] = meta(given).numel
    if len(meta(given).shape) != 1 or list(meta(source).shape) != shape:
        raise ValueError(
            f"[index_add] index has shape {list(meta(given).shape)} and value {list(meta(source).shape)}; "
            f"want [{meta(given).numel}] and {shape}"
        )
    return given, source if alpha == 1 else cast(source * alpha, meta(x).dtype), a


@errors_of(*WRITES)
@renamed(input="x", dim="axis", source="value")
def index_add(
    x: Tensor,
    index: Tensor,
    axis: int,
    value: Tensor,
    alpha: Scalar = 1,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """A copy of x with alpha times the slices of value added to those that index names along an axis.

    Raises:
        IndexError: the axis is out of range.
        ValueError: an index is, the dtypes differ, or value has another shape.
    """
    return into(out, _operators.index_add(x, *add_arguments(x, index, axis, value, alpha)))


@errors_of(*WRITES, "index_fill")
def index_fill_(x: Tensor, index: Tensor, axis: int, value: Scalar | Tensor, name: str | None = None) -> Tensor:
    """`index_fill` into x itself; returns it."""
    fill_into(x, x, *fill_arguments(x, index, axis, value))
    return x


def fill_arguments(x: Tensor, index: Any, axis: Any, value: Any) -> tuple[Tensor, Tensor, int]:
    """Those of the row: the index tensor, the value, and the axis from the front."""
    if isinstance(axis, Tensor):
        index, axis = axis, index
    a = axis_of("index_fill", axis, len(meta(tensor(x, "index_fill", "x")).shape))
    if isinstance(value, Tensor) and meta(value).shape:
        raise ValueError(f"[index_fill] value has shape {list(meta(value).shape)}; want a number or a 0-d tensor")
    source = value if isinstance(value, Tensor) else constant("index_fill", x, value)
    return column("index_fill", index), source, a


@errors_of(*WRITES)
@renamed(input="x", dim="axis")
def index_fill(x: Tensor, index: Tensor, axis: int, value: Scalar | Tensor, name: str | None = None) -> Tensor:
    """A copy of x with a number in the slices that index names along an axis.

    Raises:
        IndexError: an index is out of range.
        ValueError: the axis is, or value has axes.
    """
    return _operators.index_fill(x, *fill_arguments(x, index, axis, value))


@errors_of(*WRITES)
def index_put_(
    x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """`index_put` into x itself; returns it."""
    given = listed(indices, "index_put", "indices")
    source = same_dtype("index_put", tensor(x, "index_put", "x"), value, "value")
    if not accumulate and len(given) == 1 and leading(x, given[0]):  # the index of the first axis, which is most usual
        put_into(x, x, source, given)
        return x
    items, found = translate(x, tuple(given))
    axes, tensors = along(x, items, found)
    joined(x, axes, source, tensors, "add" if accumulate else "assign", "index_put")
    return x


@errors_of(*WRITES, "index_put_")
@renamed(input="x", values="value")
def index_put(
    x: Tensor, indices: Sequence[Tensor], value: Tensor, accumulate: bool = False, name: str | None = None
) -> Tensor:
    """A copy of x with x[indices] = value.

    Args:
        indices: tensors of integers, and masks, for the first axes.
        value: of the dtype of x; it broadcasts.
        accumulate: add to what is there, once for each time that a place is named.

    Raises:
        IndexError: an index is out of range.
        ValueError: indices are no list of tensors, the dtypes differ, or value does not broadcast.
    """
    given = listed(indices, "index_put", "indices")
    source = same_dtype("index_put", tensor(x, "index_put", "x"), value, "value")
    if len(given) == 1 and leading(x, given[0]):
        return (
            _operators.index_reduce(x, source, given, "add") if accumulate else _operators.index_put(x, source, given)
        )
    return index_put_(_operators.assign(x), given, source, accumulate)


def agreed(function: str, x: Tensor, mask: Tensor, error: type[Exception]) -> list[Tensor]:
    """x and a mask, broadcast to one shape."""
    try:
        shape = broadcast_shapes(meta(x).shape, meta(mask).shape)
    except ValueError as bad:
        raise error(f"[{function}] {bad}") from None
    return [stretched(x, shape), stretched(mask, shape)]


@renamed(input="x")
def masked_select(x: Tensor, mask: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The elements of x where a mask is True, in row-major order, after both have been broadcast.

    Raises:
        RuntimeError: they do not broadcast.
        ValueError: the mask is not bool.
    """
    given = tensor(mask, "masked_select", "mask")
    if meta(given).dtype is not _dtype.bool_:
        raise ValueError(f"[masked_select] mask is {meta(given).dtype.name}; want bool")
    x, given = agreed("masked_select", tensor(x, "masked_select", "x"), given, RuntimeError)
    return into(out, x[given])


@renamed(input="x")
def masked_fill(x: Tensor, mask: Tensor, value: Scalar | complex | Tensor, name: str | None = None) -> Tensor:
    """x with value where mask holds; all three broadcast.

    Raises:
        TypeError: value is no number.
        ValueError: value is a tensor of another dtype, or the shapes do not broadcast.
    """
    x, given = tensor(x, "masked_fill", "x"), tensor(mask, "masked_fill", "mask")
    if meta(given).dtype is not _dtype.bool_:
        given = cast(given, _dtype.bool_)
    if isinstance(value, Tensor):
        return _operators.masked_fill(x, given, same_dtype("masked_fill", x, value, "value"))
    return _operators.masked_fill(x, given, number_beside("masked_fill", x, value))


def masked_fill_(x: Tensor, mask: Tensor, value: Scalar | complex | Tensor, name: str | None = None) -> Tensor:
    """`masked_fill`, whose result takes the place of x; returns x."""
    return in_place(masked_fill, x, mask, value)


@errors_of("index")
@renamed(input="x", source="value")
def masked_scatter(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """x with the elements of value, in row-major order, where mask holds; x and mask broadcast.

    Raises:
        AssertionError: the mask is not bool, or value has another dtype than x.
        ValueError: value has too few elements, or the shapes do not broadcast.
    """
    given = tensor(mask, "masked_scatter", "mask")
    if meta(given).dtype is not _dtype.bool_:
        raise AssertionError(f"[masked_scatter] mask is {meta(given).dtype.name}; want bool")
    source = flatten(same_dtype("masked_scatter", tensor(x, "masked_scatter", "x"), value, "value", AssertionError))
    x, given = agreed("masked_scatter", x, given, ValueError)
    if not meta(x).numel:
        return _operators.assign(x)
    if not meta(source).numel:
        source = filled((1,), 0, meta(x).dtype, meta(x).place)
        given_count = meta(places(given)).shape[0]
        if given_count:
            raise ValueError(f"[masked_scatter] value has no elements; want {given_count}")
    return _operators.masked_scatter(x, given, source)


def complex_masked_scatter(x: Tensor, mask: Tensor, value: Tensor) -> Tensor:
    """The same of complex numbers, which rows of formulas do not choose between."""
    number = _operators.cumsum(flatten(mask), 0, _dtype.int64) - 1
    chosen = reshaped(_operators.index(flatten(value), [number]), meta(x).shape)
    return _operators.where(mask, chosen, x)


def complex_masked_fill(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """As complex_masked_scatter."""
    return _operators.where(mask, value, x)


_complex.COMPOSITES.update(masked_fill=complex_masked_fill, masked_scatter=complex_masked_scatter)


def masked_scatter_(x: Tensor, mask: Tensor, value: Tensor, name: str | None = None) -> Tensor:
    """`masked_scatter`, whose result takes the place of x; returns x."""
    return in_place(masked_scatter, x, mask, value)


@errors_of("index")
def multiplex(inputs: Sequence[Tensor], index: Tensor, name: str | None = None) -> Tensor:
    """Row i of the tensor that index[i] names, for all i.

    Args:
        inputs: at least two tensors of one shape and dtype, with at least two axes.
        index: int32, of shape [n, 1].

    Raises:
        RuntimeError: an index is out of range, has another shape, or the shapes of the inputs differ.
        ValueError: there are too few inputs or axes, or index is not int32.
    """
    given, rows = listed(inputs, "multiplex", "inputs"), positions("multiplex", index)
    if len(given) < 2 or len(meta(given[0]).shape) < 2 or meta(rows).dtype is not _dtype.int32:
        raise ValueError("[multiplex] want two or more inputs of two or more axes, and index of int32")
    shape, count = meta(given[0]).shape, meta(rows).shape
    if any(meta(x).shape != shape for x in given) or len(count) != 2 or count[1] != 1 or count[0] > shape[0]:
        raise RuntimeError(f"[multiplex] index has shape {list(count)}; want [n, 1], and inputs of one shape")
    return _operators.multiplex(rows, given)


def argwhere(input: Tensor) -> Tensor:
    """The indices of the elements that are not zero, one row each.

    Raises:
        ValueError: the tensor has no axes.
    """
    if not meta(tensor(input, "argwhere", "input")).shape:
        raise ValueError("[argwhere] the tensor has no axes; want at least one")
    return places(input)


def where_(
    condition: Tensor, x: Tensor | Scalar | None = None, y: Tensor | Scalar | None = None, name: str | None = None
) -> Tensor:
    """`where`, whose result takes the place of x; returns x.

    Raises:
        ValueError: x is no tensor, or y is not given.
    """
    target = tensor(x, "where_", "x")
    if y is None:
        raise ValueError("[where_] got no y; want both x and y")
    take_value(target, where(condition, target, y))
    return target


__all__ = [
    "argwhere",
    "gather",
    "gather_nd",
    "index_add",
    "index_add_",
    "index_fill",
    "index_fill_",
    "index_put",
    "index_put_",
    "index_sample",
    "index_select",
    "masked_fill",
    "masked_fill_",
    "masked_scatter",
    "masked_scatter_",
    "masked_select",
    "multiplex",
    "put_along_axis",
    "scatter",
    "scatter_",
    "scatter_add",
    "scatter_add_",
    "scatter_nd",
    "scatter_nd_add",
    "scatter_reduce",
    "take",
    "take_along_axis",
    "take_along_dim",
    "where_",
]


class ScatterMethods:
    """The methods of this module."""

    __slots__ = ()

    argwhere = argwhere
    gather = gather
    gather_nd = gather_nd
    index_add = index_add
    index_add_ = index_add_
    index_fill = index_fill
    index_fill_ = index_fill_
    index_put = index_put
    index_put_ = index_put_
    index_sample = index_sample
    index_select = index_select
    masked_fill = masked_fill
    masked_fill_ = masked_fill_
    masked_scatter = masked_scatter
    masked_scatter_ = masked_scatter_
    masked_select = masked_select
    multiplex = multiplex
    put_along_axis = put_along_axis
    put_along_axis_ = put_along_axis_
    scatter = scatter
    scatter_ = scatter_
    scatter_add = scatter_add
    scatter_add_ = scatter_add_
    scatter_nd = scatter_nd
    scatter_nd_add = scatter_nd_add
    scatter_reduce = scatter_reduce
    scatter_reduce_ = scatter_reduce_
    take = take
    take_along_axis = take_along_axis
    take_along_dim = take_along_dim
    where_ = where_
