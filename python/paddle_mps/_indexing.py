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

from . import _complex, _dtype, _grad, _operators
from ._call import NONE, again, writer
from ._caller import called
from ._creation import full_0d, to_tensor
from ._gradient_functions import connect
from ._library import quick
from ._objects import Tensor, meta, retained, view
from ._stream import drain
from ._structs import ViewItem

if TYPE_CHECKING:
    from ._place import Place

put_into = writer(_operators.index_put)
full_into = writer(_operators.full)
assign_into = writer(_operators.assign)
where_into = writer(_operators.where)

# pmps_index_kind.
INTEGER, SLICE, NEW_AXIS, ELLIPSIS = range(4)
WHOLE = (SLICE, 0, 0, 0, 0)
NEW = (NEW_AXIS, 0, 0, 0, 0)
WANTED = "want ints, slices, ..., None, and tensors, arrays or lists of ints or bools"


def get(x: Tensor, key: Any) -> Tensor:
    """x[key]: a view, or new memory if key holds index tensors or masks.

    Raises:
        IndexError: an index is out of range, or a mask has another shape than the axes it is for.
        ValueError: an item of key is not an index, or there are too many.
    """
    items, indices = translate(x, key)
    base = basic(x, items)
    if not indices:
        return base
    axes, tensors = along(base, items, indices)
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
    if _grad.asks(x, value):
        recorded(x, value, lambda t: get(t, key), lambda t, v: put(t, key, v))
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


def fill_part(x: Tensor, part: Callable[[Tensor], Tensor], value: Any) -> None:
    """Writes a value into a view that part makes of x."""
    if _grad.asks(x, value):
        recorded(x, value, part, lambda t, v: fill(part(t), v))
    else:
        fill(part(x), value)


def recorded(x: Tensor, value: Any, read: Callable[[Tensor], Tensor], write: Callable[[Tensor, Any], None]) -> None:
    """write(x, value), where x or value has a gradient: x becomes what a function computes of both.

    Args:
        read: the part of a tensor like x that write writes.
    """
    _grad.graded_leaf(x, "setitem")
    inputs = [retained(x._handle)]
    if isinstance(value, Tensor):
        inputs.append(value)
    with _grad.no_grad():
        write(x, value)
    connect(Replaced(read, write, inputs), inputs, [x])


class Replaced:
    """x with a value in a part of it, for the backward pass: the gradient of x is 0 there, and value has what is there."""

    def __init__(
        self, read: Callable[[Tensor], Tensor], write: Callable[[Tensor, Any], None], inputs: Sequence[Tensor]
    ) -> None:
        self.read, self.write, self.metas = read, write, [meta(x) for x in inputs]

    def backward(self, grads: Sequence[Tensor]) -> list[Tensor]:
        """The gradients of x, and of value if it is a tensor."""
        (dy,) = grads
        dx = _operators.assign(dy)
        if _grad.asks(dx):
            recorded(dx, 0, self.read, self.write)
        else:
            self.write(dx, 0)
        if len(self.metas) == 1:
            return [dx]
        m, found = self.metas[1], self.read(dy)
        extra = len(meta(found).shape) - len(m.shape)
        axes = [i for i, d in enumerate(meta(found).shape) if i < extra or m.shape[i - extra] != d]
        if axes:
            found = _operators.sum(found, axes, None, False)
        return [dx, _operators.cast(_operators.reshape(found, m.shape), m.dtype).to(m.place)]


def translate(x: Tensor, key: Any) -> tuple[list[tuple[int, ...]], list[tuple[int, Tensor]]]:
    """The items of the view, and the index tensors with the items that stand for their axes."""
    items: list[tuple[int, ...]] = []
    indices: list[tuple[int, Tensor]] = []
    booleans: list[tuple[int, bool]] = []
    for k in key if isinstance(key, tuple) else (key,):
        item = translated(k)
        if item is not None:
            items.append(item)
            continue
        index = None if isinstance(k, (bool, np.bool_)) else as_index(k, meta(x).place)
        if index is None:
            booleans.append((len(items), bool(k)))
            items.append(NEW)
            continue
        indices.append((len(items), index))
        items += [WHOLE] * (len(meta(index).shape) if meta(index).dtype is _dtype.bool_ else 1)
    if sum(item[0] == ELLIPSIS for item in items) > 1:
        raise ValueError("[index] got two ellipses; want at most one")
    if booleans:
        indices = beside_booleans(x, items, indices, booleans)
    return items, indices


def translated(k: Any) -> tuple[int, ...] | None:
    """The item for one entry of a key, None for bools, index tensors and what may be one."""
    if isinstance(k, (bool, np.bool_)):
        return None
    if isinstance(k, (int, np.integer)):
        if not -(2**63) <= k < 2**63:
            raise IndexError(f"[index] index {k} is out of range; want one of 64 bits")
        return INTEGER, 0, int(k), 0, 0
    if isinstance(k, slice):
        return sliced(k)
    if k is None:
        return NEW
    if k is Ellipsis:
        return ELLIPSIS, 0, 0, 0, 0
    return None


def beside_booleans(
    x: Tensor, items: list[tuple[int, ...]], indices: list[tuple[int, Tensor]], booleans: list[tuple[int, bool]]
) -> list[tuple[int, Tensor]]:
    """The index tensors of a key with bools, whose new axes are in items.

    A bool alone is that axis, of one element for True and of none for False. Beside others it is an index of that
    axis, which broadcasts with the other indices (NumPy's rule).
    """
    if not indices and len(booleans) == 1:
        position, value = booleans[0]
        if not value:
            items.insert(position + 1, (-1, 0, 0, 0, 0))
        return []
    place = meta(x).place.word
    zeros = [(position, _operators.full(place, (int(value),), 0, _dtype.int64)) for position, value in booleans]
    return sorted([*indices, *zeros], key=operator.itemgetter(0))


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
    if dtype is not _dtype.int64 and dtype is not _dtype.int32:
        raise ValueError(f"[index] an index tensor is {dtype.name}; want int64, int32 or bool")
    return k


def basic(x: Tensor, items: Sequence[tuple[int, ...]]) -> Tensor:
    """The view by items; entries of kind -1 empty the new axis before them."""
    emptied = [i for i, item in enumerate(items) if item[0] == -1]
    if emptied:
        return without(x, items, emptied)
    array = (ViewItem * len(items))(*items)  # type: ignore[misc]  # a tuple fills a structure
    arguments = x._handle, array, len(items), NONE
    try:
        return view(quick.pmps_fast_index(*arguments) or again(quick.pmps_fast_index, *arguments))
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
    return _operators.transpose(x, order)


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
    return _operators.nonzero(x)


def coordinates(mask: Tensor) -> list[Tensor]:
    """Where a mask is True: one index tensor an axis."""
    where = places(mask)
    return [basic(where, [WHOLE, (INTEGER, 0, axis, 0, 0)]) for axis in range(len(meta(mask).shape))]


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
        return to_tensor(value, place=meta(x).place)
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
