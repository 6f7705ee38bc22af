"""x[...] and x[...] = value.

Integers, slices, None and Ellipsis make a view, which the library does in one call. What is left
are index tensors and masks. They index the axes of that view: those axes are moved to the front,
where the operators `index` and `index_put` count along them, and the new axes are moved to where
the first index stood, or stay in front if something stood between the indices (NumPy's rule).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._calls import _complex, _operators
from .._calls._call import NONE, again, writer
from .._core import _dtype
from .._core._builtin import KEY, builtin
from .._core._caller import called
from .._core._library import quick
from .._core._objects import Tensor, meta, view
from .._core._structs import ViewItem
from .._devices import _default_place
from .._devices._stream import drain
from ._creation import full_0d, to_tensor

if TYPE_CHECKING:
    from .._core._place import Place

put_into = writer(_operators.index_put)
full_into = writer(_operators.full)
assign_into = writer(_operators.assign)
where_into = writer(_operators.where)

# pmps_index_kind.
INTEGER, SLICE, NEW_AXIS, ELLIPSIS = range(4)
WHOLE = slice(None)
EMPTIED = object()  # stands behind the new axis of False, which has no element
WANTED = "want ints, slices, ..., None, and tensors, arrays or lists of ints or bools"


def _viewed(arguments: tuple[Any, ...], reason: int) -> Tensor | None:
    """What `viewed` returns where the library makes no view: it has refused the key, or there are no built-in functions."""
    x, key = arguments
    items, indices = translate(x, key)
    return None if indices else by_items(x, items)


# The view x[key] for a key of ints, slices of ints, None and an ellipsis; None for one with anything else.
viewed: Callable[[Tensor, Any], Tensor | None] = builtin("index", KEY, _viewed)


def get(x: Tensor, key: Any) -> Tensor:
    """x[key]: a view, or new memory if key holds index tensors or masks.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than the axes it is for.
        ValueError: an item of key is not an index, or there are too many.
    """
    found = viewed(x, key)
    if found is not None:
        return found
    if leading(x, key):
        return _operators.index(x, [key])
    items, indices = translate(x, key)
    base = basic(x, items)
    if not indices:
        return base
    axes, tensors = along(base, items, indices)
    if axes[0] and len(axes) == len(meta(tensors[0]).shape) == 1:
        return _operators.gather(base, tensors[0], axes[0])
    result = _operators.index(front(base, axes), tensors)
    if axes[0] == 0 or not adjacent(axes):
        return result
    rank, first = len(meta(result).shape), axes[0]
    count = rank - (len(meta(base).shape) - len(axes))
    order = [*range(count, count + first), *range(count), *range(count + first, rank)]
    return _operators.assign(permuted(result, order))


def put(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value, which is broadcast and cast to the dtype of x.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than the axes it is for.
        ValueError: value does not broadcast, is of a wrong type, or an item of key is not an index.
    """
    base = viewed(x, key)
    if base is not None:
        fill(base, value)
        return
    if leading(x, key):
        put_into(x, x, like(value, x), [key])
        return
    items, indices = translate(x, key)
    base = basic(x, items)
    if not indices:
        fill(base, value)
        return
    if whole_mask(base, indices) and isinstance(value, (bool, int, float)):
        masked(base, indices[0][1], value)
        return
    axes, tensors = along(base, items, indices)
    target = front(base, axes)
    given = like(value, x)
    if adjacent(axes) and axes[0] > 0 and meta(given).shape:
        given = behind(given, axes, len(meta(base).shape), tensors)
    put_into(target, target, given, tensors)


def leading(x: Tensor, key: Any) -> bool:
    """Whether a key is a tensor of integers for the first axis of x."""
    return isinstance(key, Tensor) and whole_numbers(key) and bool(meta(x).shape)


def whole_numbers(index: Tensor) -> bool:
    """Whether the dtype is one of an index tensor."""
    dtype = meta(index).dtype
    return dtype is _dtype.int64 or dtype is _dtype.int32


def translate(x: Tensor, key: Any) -> tuple[list[Any], list[tuple[int, Tensor]]]:
    """The items of the view, and the index tensors with the positions of the items that stand for their axes.

    Items are ints, slices of ints, None and an ellipsis, and EMPTIED.
    """
    items: list[Any] = []
    indices: list[tuple[int, Tensor]] = []
    booleans: list[tuple[int, bool]] = []
    for k in key if isinstance(key, tuple) else (key,):
        if isinstance(k, (bool, np.bool_)):
            index = None
        elif k is None or k is Ellipsis:
            items.append(k)
            continue
        elif isinstance(k, (int, np.integer)):
            items.append(number(k))
            continue
        elif isinstance(k, slice):
            items.append(sliced(k))
            continue
        else:
            index = as_index(k, meta(x).place)
        if index is None:
            booleans.append((len(items), bool(k)))
            items.append(None)
            continue
        indices.append((len(items), index))
        items += [WHOLE] * (len(meta(index).shape) if meta(index).dtype is _dtype.bool_ else 1)
    if sum(item is Ellipsis for item in items) > 1:
        raise ValueError("[index] got two ellipses; want at most one")
    if booleans:
        indices = beside_booleans(x, items, indices, booleans)
    return items, indices


def number(k: int | np.integer[Any]) -> int:
    """An integer of a key."""
    if not -(2**63) <= k < 2**63:
        raise IndexError(f"[index] index {k} is out of range; want one of 64 bits")
    return int(k)


def beside_booleans(
    x: Tensor, items: list[Any], indices: list[tuple[int, Tensor]], booleans: list[tuple[int, bool]]
) -> list[tuple[int, Tensor]]:
    """The index tensors of a key with bools, whose new axes are in items.

    A bool alone is that axis, of one element for True and of none for False. Beside others it is an index of that
    axis, which broadcasts with the other indices (NumPy's rule).
    """
    if not indices and len(booleans) == 1:
        position, value = booleans[0]
        if not value:
            items.insert(position + 1, EMPTIED)
        return []
    place = meta(x).place.word
    zeros = [(position, _operators.full(place, (int(value),), 0, _dtype.int64)) for position, value in booleans]
    return sorted([*indices, *zeros], key=operator.itemgetter(0))


def sliced(k: slice) -> slice:
    """A slice with bounds that are ints of 64 bits or None; they may be tensors of one."""
    return slice(*[b if b is None else min(max(bound_of(b), -(2**63)), 2**63 - 1) for b in (k.start, k.stop, k.step)])


def bound_of(bound: Any) -> int:
    try:
        if hasattr(bound, "item") and not isinstance(bound, np.generic):
            bound = bound.item()
        return operator.index(bound)
    except (TypeError, ValueError):
        raise ValueError(f"[index] a bound of a slice is {bound!r}; want ints or None") from None


def as_index(k: Any, place: Place) -> Tensor | None:
    """An index tensor or mask; None for a 0-d bool, which is an axis and no mask."""
    if isinstance(k, (list, tuple, range)):
        k = np.array(k)
        k = k if k.size else k.astype(np.int64)
    if isinstance(k, np.ndarray) and k.dtype.kind in "iub":
        k = to_tensor(k, place=place)
    if not isinstance(k, Tensor):
        got = f"an array of {k.dtype}" if isinstance(k, np.ndarray) else type(k).__name__
        raise ValueError(f"[index] got {got}; {WANTED}")
    dtype = meta(k).dtype
    if dtype is _dtype.bool_:
        return k if meta(k).shape else None
    if not whole_numbers(k):
        raise ValueError(f"[index] an index tensor is {dtype.name}; want int64, int32 or bool")
    return k


def basic(x: Tensor, items: Sequence[Any]) -> Tensor:
    """The view by items of `translate`."""
    found = viewed(x, tuple(items))
    return by_items(x, items) if found is None else found


def by_items(x: Tensor, items: Sequence[Any]) -> Tensor:
    """The view by items, through ctypes."""
    if EMPTIED in items:
        return without(x, items)
    array = (ViewItem * len(items))(*map(fields, items))
    arguments = x._handle, array, len(items), NONE
    try:
        return view(quick.pmps_fast_index(*arguments) or again(quick.pmps_fast_index, *arguments))
    except IndexError as error:
        if any(isinstance(item, int) for item in items):
            raise
        raise ValueError(str(error)) from None  # slices fit any axis: there are too many


def fields(item: Any) -> ViewItem:
    """An item as the library takes it."""
    if item is None or item is Ellipsis:
        return ViewItem(NEW_AXIS if item is None else ELLIPSIS)
    if isinstance(item, int):
        return ViewItem(INTEGER, 0, item)
    bounds = item.start, item.stop, item.step
    has = sum(1 << i for i, bound in enumerate(bounds) if bound is not None)
    return ViewItem(SLICE, has, *[bound or 0 for bound in bounds])


def without(x: Tensor, items: Sequence[Any]) -> Tensor:
    """The view by items, with no element along the new axes before an EMPTIED."""
    kept = [item for item in items if item is not EMPTIED]
    base = basic(x, kept)
    cut: list[slice] = []
    gone = len(meta(x).shape) - sum(isinstance(item, (int, slice)) for item in kept)
    for item in items:
        if item is Ellipsis:
            cut += [WHOLE] * gone
        elif item is EMPTIED:
            cut[-1] = slice(0, 0)
        elif not isinstance(item, int):
            cut.append(WHOLE)
    return basic(base, cut)


def permuted(x: Tensor, order: Sequence[int]) -> Tensor:
    """x with its axes in another order, as a view."""
    if list(order) == list(range(len(order))):
        return x
    return _operators.transpose(x, order)


def front(base: Tensor, axes: Sequence[int]) -> Tensor:
    """The view with some axes moved to the front."""
    rest = [a for a in range(len(meta(base).shape)) if a not in axes]
    return permuted(base, [*axes, *rest])


def adjacent(axes: Sequence[int]) -> bool:
    return axes[-1] - axes[0] == len(axes) - 1


def along(base: Tensor, items: Sequence[Any], indices: Sequence[tuple[int, Tensor]]) -> tuple[list[int], list[Tensor]]:
    """The axes of the view that are indexed, and an integer tensor for each."""
    axes: list[int] = []
    tensors: list[Tensor] = []
    shape = meta(base).shape
    for position, index in indices:
        axis = axis_at(len(shape), items, position)
        if meta(index).dtype is not _dtype.bool_:
            axes.append(axis)
            tensors.append(index)
            continue
        mask = meta(index).shape
        if shape[axis : axis + len(mask)] != mask:
            raise IndexError(f"[index] a mask has shape {list(mask)}; want {list(shape[axis:])}, or its first axes")
        axes += range(axis, axis + len(mask))
        tensors += coordinates(index)
    return axes, tensors


def axis_at(rank: int, items: Sequence[Any], position: int) -> int:
    """The axis of a view of some rank that the item at a position became."""
    axes = [int(not isinstance(item, int)) for item in items]
    if Ellipsis in items:
        axes[items.index(Ellipsis)] = rank - sum(axes) + 1
    return sum(axes[:position])


def places(x: Tensor) -> Tensor:
    """The indices of the elements that are not zero, one row each."""
    drain(meta(x).place)
    return _operators.nonzero(x)


def coordinates(mask: Tensor) -> list[Tensor]:
    """Where a mask is True: one index tensor an axis."""
    where = places(mask)
    return [basic(where, [WHOLE, axis]) for axis in range(len(meta(mask).shape))]


def fill(target: Tensor, value: Any) -> None:
    """Writes a value into a view."""
    if isinstance(value, (bool, int, float)) and not meta(target).dtype.is_complex:
        full_into(target, meta(target).shape, value, meta(target).dtype)
        return
    given = fitted(like(value, target), meta(target).shape)
    try:
        assign_into(target, given)
    except ValueError:
        check_broadcast(meta(given).shape, meta(target).shape)
        raise


def check_broadcast(given: Sequence[int], part: Sequence[int]) -> None:
    """Raises a ValueError unless a value of one shape broadcasts to another."""
    if len(given) > len(part) or any(n not in (1, wanted) for n, wanted in zip(reversed(given), reversed(part))):
        raise ValueError(
            f"[{called('setitem')}] the value has shape {list(given)} and the part {list(part)}; want it to broadcast"
        )


def fitted(given: Tensor, shape: Sequence[int]) -> Tensor:
    """The value without leading axes of one element that the target does not have."""
    extra = len(meta(given).shape) - len(shape)
    if extra > 0 and all(n == 1 for n in meta(given).shape[:extra]):
        given = _operators.reshape(given, meta(given).shape[extra:])
    return given


def like(value: Any, x: Tensor) -> Tensor:
    """A value that will be cast to the dtype of x, as a tensor where x is, which need not have the value's dtype."""
    if isinstance(value, np.ndarray) and value.dtype == np.float64 and meta(x).dtype is not _dtype.float64:
        return to_tensor(value, dtype=meta(x).dtype, place=meta(x).place)
    return beside(value, x)


def beside(value: Any, x: Tensor) -> Tensor:
    """A value as a tensor where x is.

    Raises:
        ValueError: it is not a tensor, NumPy array, int, float or bool, nor a complex number beside a complex tensor.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return _default_place.array_beside(value, meta(x).place)
    if isinstance(value, (bool, int, float)) or (isinstance(value, _complex.NUMBERS) and meta(x).dtype.is_complex):
        return full_0d(x, value)
    raise ValueError(
        f"[{called('setitem')}] the value is {type(value).__name__}; want a Tensor, an array, an int, a float or a bool, or beside "
        "a complex tensor a complex number"
    )


def factor(value: Any, x: Tensor) -> Tensor:
    """What x is multiplied with as a matrix in an expression: an array takes the dtype of x, as in Paddle, unless one is complex."""
    if isinstance(value, Tensor):
        return value
    m = meta(x)
    keeps = value.dtype.kind == "c" or m.dtype.is_complex
    return to_tensor(value, None if keeps else m.dtype, place=m.place)


def behind(given: Tensor, axes: Sequence[int], rank: int, tensors: Sequence[Tensor]) -> Tensor:
    """The value with the axes of the indices in front, where index_put has them.

    In the expression they stand at axes[0]; the value may lack leading axes, which broadcast.
    """
    count = max(len(meta(t).shape) for t in tensors)
    total = rank - len(axes) + count
    shape = meta(given).shape
    if len(shape) < total:
        padded = [1] * (total - len(shape)) + list(shape)
        given = _operators.reshape(given, padded)
    first = axes[0]
    return permuted(given, [*range(first, first + count), *range(first), *range(first + count, total)])


def whole_mask(base: Tensor, indices: Sequence[tuple[int, Tensor]]) -> bool:
    """Whether the only index is a mask of the view's own shape."""
    index = meta(indices[0][1])
    return len(indices) == 1 and index.dtype is _dtype.bool_ and index.shape == meta(base).shape


def masked(base: Tensor, mask: Tensor, value: Any) -> None:
    """base[mask] = value without asking where the mask is True, so that nothing waits."""
    where_into(base, mask, beside(value, base), base)
