"""x[...] and x[...] = value.

Integers, slices, None and Ellipsis make a view, which the library does in one call. What is left
are index tensors and masks. They index the axes of that view: those axes are moved to the front,
where the operators `index` and `index_put` count along them, and the new axes are moved to where
the first index stood, or stay in front if something stood between the indices (NumPy's rule).
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _dtype, _ids
from ._call import (
    NONE,
    call,
    call_into,
    call_view,
    either,
    element_type,
    integers,
    meta,
    recover,
    view,
)
from ._library import quick
from ._stream import drain
from ._structs import ViewItem

if TYPE_CHECKING:
    from ._place import Place
    from ._tensor import Tensor

# pmps_index_kind.
INTEGER, SLICE, NEW_AXIS, ELLIPSIS = range(4)
WHOLE = (SLICE, 0, 0, 0, 0)
WANTED = "want ints, slices, ..., None, and tensors, arrays or lists of ints or bools"


def get(x: Tensor, key: Any) -> Tensor:
    """x[key]: a view, or new memory if key holds index tensors or masks.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than the axes it is for.
        ValueError: something in key is no index, or there are too many.
    """
    items, indices = translate(x, key)
    base = basic(x, items)
    if not indices:
        return base
    axes, tensors = along(base, items, indices)
    result = call(_ids.INDEX, (front(base, axes), *tensors))
    if axes[0] == 0 or not adjacent(axes):
        return result
    rank, first = len(meta(result).shape), axes[0]
    count = rank - (len(meta(base).shape) - len(axes))
    order = [*range(count, count + first), *range(count), *range(count + first, rank)]
    return call(_ids.ASSIGN, (permuted(result, order),))


def put(x: Tensor, key: Any, value: Any) -> None:
    """x[key] = value, which is broadcast and cast to the dtype of x.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than the axes it is for.
        ValueError: value does not broadcast, is of a wrong type, or something in key is no index.
    """
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
    given = beside(value, x)
    if adjacent(axes) and axes[0] > 0 and meta(given).shape:
        given = behind(given, axes, len(meta(base).shape), tensors)
    call_into(_ids.INDEX_PUT, (call(_ids.CAST, (given,), (dtype_of(x),)), *tensors), (), target)


def translate(x: Tensor, key: Any) -> tuple[list[tuple[int, ...]], list[tuple[int, Tensor]]]:
    """The items of the view, and the index tensors with the items that stand for their axes."""
    items: list[tuple[int, ...]] = []
    indices: list[tuple[int, Tensor]] = []
    for k in key if isinstance(key, tuple) else (key,):
        basic_items = translated(k)
        if basic_items is not None:
            items += basic_items
            continue
        index = as_index(k, meta(x).place)
        if index is None:
            items += boolean(bool(k))
            continue
        indices.append((len(items), index))
        items += [WHOLE] * (len(meta(index).shape) if meta(index).dtype is _dtype.bool_ else 1)
    if sum(item[0] == ELLIPSIS for item in items) > 1:
        raise ValueError("[index] got two ellipses; want at most one")
    return items, indices


def translated(k: Any) -> list[tuple[int, ...]] | None:
    """The items for one entry of a key, None for index tensors and what may be one."""
    if isinstance(k, (bool, np.bool_)):
        return boolean(bool(k))
    if isinstance(k, (int, np.integer)):
        return [(INTEGER, 0, int(k), 0, 0)]
    if isinstance(k, slice):
        return [sliced(k)]
    if k is None:
        return [(NEW_AXIS, 0, 0, 0, 0)]
    if k is Ellipsis:
        return [(ELLIPSIS, 0, 0, 0, 0)]
    return None


def boolean(k: bool) -> list[tuple[int, ...]]:
    """True adds an axis of one element, False one of none."""
    return [(NEW_AXIS, 0, 0, 0, 0)] if k else [(NEW_AXIS, 0, 0, 0, 0), (-1, 0, 0, 0, 0)]


def sliced(k: slice) -> tuple[int, ...]:
    """A slice as an item; its bounds are ints, or tensors of one."""
    has, bounds = 0, []
    for bit, bound in enumerate((k.start, k.stop, k.step)):
        if bound is None:
            bounds.append(0)
            continue
        has |= 1 << bit
        bounds.append(min(max(bound_of(bound), -(2**63)), 2**63 - 1))
    return (SLICE, has, *bounds)


def bound_of(bound: Any) -> int:
    try:
        if hasattr(bound, "item") and not isinstance(bound, np.generic):
            bound = bound.item()
        return operator.index(bound)
    except (TypeError, ValueError):
        raise ValueError(f"[index] a bound of a slice is {bound!r}; want ints or None") from None


def as_index(k: Any, place: Place) -> Tensor | None:
    """An index tensor or mask; None for a 0-d bool, which is an axis and no mask."""
    from ._tensor import Tensor  # the class needs this module

    if isinstance(k, (list, tuple, range)):
        k = np.array(k)
        k = k if k.size else k.astype(np.int64)
    if isinstance(k, np.ndarray) and k.dtype.kind in "iub":
        k = Tensor(k, place=place)
    if not isinstance(k, Tensor):
        raise ValueError(f"[index] got {type(k).__name__}; {WANTED}")
    dtype = meta(k).dtype
    if dtype is _dtype.bool_:
        return k if meta(k).shape else None
    if dtype is not _dtype.int64 and dtype is not _dtype.int32:
        raise ValueError(f"[index] an index tensor is {dtype.name}; want int64, int32 or bool")
    return k


def basic(x: Tensor, items: Sequence[tuple[int, ...]]) -> Tensor:
    """The view by items; entries of kind -1 empty the new axis before them."""
    emptied = [i for i, item in enumerate(items) if item[0] == -1]
    if emptied:
        return without(x, items, emptied)
    array = (ViewItem * len(items))(*items)  # type: ignore[misc]  # a tuple fills a structure
    arguments = x._h, array, len(items), NONE
    try:
        return view(quick.pmps_fast_index(*arguments) or recover(quick.pmps_fast_index, *arguments))
    except IndexError as error:
        if any(item[0] == INTEGER for item in items):
            raise
        raise ValueError(str(error)) from None  # slices fit any axis: there are too many


def without(x: Tensor, items: Sequence[tuple[int, ...]], emptied: Sequence[int]) -> Tensor:
    """The view by items, with no element along the new axes of False."""
    base = basic(x, [item for item in items if item[0] != -1])
    cut: list[tuple[int, ...]] = []
    gone = len(meta(x).shape) - sum(item[0] in (INTEGER, SLICE) for item in items)
    for i, item in enumerate(items):
        if item[0] == ELLIPSIS:
            cut += [WHOLE] * gone
        elif item[0] == NEW_AXIS:
            cut.append((SLICE, 2, 0, 0, 0) if i + 1 in emptied else WHOLE)
        elif item[0] == SLICE:
            cut.append(WHOLE)
    return basic(base, cut)


def permuted(x: Tensor, order: Sequence[int]) -> Tensor:
    """x with its axes in another order, as a view."""
    if list(order) == list(range(len(order))):
        return x
    return call_view(_ids.TRANSPOSE, x, (integers("perm", list(order)),))


def front(base: Tensor, axes: Sequence[int]) -> Tensor:
    """The view with some axes moved to the front."""
    rest = [a for a in range(len(meta(base).shape)) if a not in axes]
    return permuted(base, [*axes, *rest])


def adjacent(axes: Sequence[int]) -> bool:
    return axes[-1] - axes[0] == len(axes) - 1


def along(
    base: Tensor, items: Sequence[tuple[int, ...]], indices: Sequence[tuple[int, Tensor]]
) -> tuple[list[int], list[Tensor]]:
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


def axis_at(rank: int, items: Sequence[tuple[int, ...]], position: int) -> int:
    """The axis of a view of some rank that the item at a position became."""
    axes = [int(item[0] in (SLICE, NEW_AXIS)) for item in items]
    kinds = [item[0] for item in items]
    if ELLIPSIS in kinds:
        axes[kinds.index(ELLIPSIS)] = rank - sum(axes)
    return sum(axes[:position])


def places(x: Tensor) -> Tensor:
    """The indices of the elements that are not zero, one row each."""
    drain(meta(x).place)
    return call(_ids.NONZERO, (x,))


def coordinates(mask: Tensor) -> list[Tensor]:
    """Where a mask is True: one index tensor an axis."""
    where = places(mask)
    return [basic(where, [WHOLE, (INTEGER, 0, axis, 0, 0)]) for axis in range(len(meta(mask).shape))]


def dtype_of(x: Tensor) -> Any:
    return element_type("dtype", meta(x).dtype)


def fill(target: Tensor, value: Any) -> None:
    """Writes a value into a view."""
    if isinstance(value, (bool, int, float)):
        shape = integers("shape", list(meta(target).shape))
        call_into(_ids.FULL, (), (shape, either("fill_value", value), dtype_of(target)), target)
        return
    given = beside(value, target)
    call_into(_ids.ASSIGN, (fitted(given, meta(target).shape),), (), target)


def fitted(given: Tensor, shape: Sequence[int]) -> Tensor:
    """The value without leading axes of one element that the target does not have."""
    extra = len(meta(given).shape) - len(shape)
    if extra > 0 and all(n == 1 for n in meta(given).shape[:extra]):
        return call_view(_ids.RESHAPE, given, (integers("shape", list(meta(given).shape[extra:])),))
    return given


def beside(value: Any, x: Tensor) -> Tensor:
    """A value as a tensor where x is.

    Raises:
        ValueError: it is no tensor, NumPy array, int, float or bool.
    """
    from ._tensor import Tensor  # the class needs this module

    if isinstance(value, Tensor):
        return value
    if isinstance(value, np.ndarray):
        return Tensor(value, place=meta(x).place)
    if isinstance(value, (bool, int, float)):
        attributes = integers("shape", []), either("fill_value", value), dtype_of(x)
        return call(_ids.FULL, (), attributes, None, meta(x).place.word)
    raise ValueError(f"[index] the value is {type(value).__name__}; want a Tensor, an array, an int, a float or a bool")


def behind(given: Tensor, axes: Sequence[int], rank: int, tensors: Sequence[Tensor]) -> Tensor:
    """The value with the axes of the indices in front, where index_put has them.

    In the expression they stand at axes[0]; the value may lack leading axes, which broadcast.
    """
    count = max(len(meta(t).shape) for t in tensors)
    total = rank - len(axes) + count
    shape = meta(given).shape
    if len(shape) < total:
        padded = [1] * (total - len(shape)) + list(shape)
        given = call_view(_ids.RESHAPE, given, (integers("shape", padded),))
    first = axes[0]
    return permuted(given, [*range(first, first + count), *range(first), *range(first + count, total)])


def whole_mask(base: Tensor, indices: Sequence[tuple[int, Tensor]]) -> bool:
    """Whether the only index is a mask of the view's own shape."""
    index = meta(indices[0][1])
    return len(indices) == 1 and index.dtype is _dtype.bool_ and index.shape == meta(base).shape


def masked(base: Tensor, mask: Tensor, value: Any) -> None:
    """base[mask] = value without asking where the mask is True, so that nothing waits."""
    call_into(_ids.WHERE, (mask, beside(value, base), base), (), base)
