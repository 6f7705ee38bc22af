"""What `x.shape` and `x.size` are: a list, and an int that may be called."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import SupportsIndex, overload

from ._caller import axis_text


class Size(list[int]):
    """The dimensions of a tensor: a list that also equals a tuple of the same numbers.

    Raises:
        TypeError: an item is no int.
    """

    __slots__ = ()

    def __init__(self, dims: Iterable[int] = (), /) -> None:
        super().__init__(dims)
        for position, n in enumerate(self):
            if n.__class__ is not int:
                self[position] = whole(n, position)

    def numel(self) -> int:
        """The number of elements of a tensor of these dimensions."""
        return math.prod(self)

    def __eq__(self, other: object) -> bool:
        return list.__eq__(self, list(other) if isinstance(other, tuple) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    @overload
    def __getitem__(self, key: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, key: slice) -> Size: ...
    def __getitem__(self, key: SupportsIndex | slice) -> int | Size:
        found = list.__getitem__(self, key)
        return Size(found) if isinstance(found, list) else found

    def __add__(self, other: Iterable[int]) -> Size:  # type: ignore[override]
        return Size([*self, *other]) if isinstance(other, (list, tuple)) else NotImplemented

    def __radd__(self, other: Iterable[int]) -> Size:
        return Size([*other, *self]) if isinstance(other, (list, tuple)) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> Size:
        return Size(list.__mul__(self, times))

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return f"paddle.Size({list.__repr__(self)})"


def whole(n: object, position: int) -> int:
    """A dimension as an int: it may be an integer of NumPy or a 0-d tensor."""
    shape = getattr(n, "shape", ())
    if isinstance(n, (float, str, bytes)) or not hasattr(n, "__index__") or len(shape):
        raise TypeError(f"[Size] item {position} is {type(n).__name__}; want an int")
    return int(n.__index__())


class TensorSize(int):
    """The number of elements; called, the dimensions, or one of them."""

    _shape: tuple[int, ...]

    def __new__(cls, numel: int, shape: tuple[int, ...]) -> TensorSize:
        made = int.__new__(cls, numel)
        made._shape = shape
        return made

    @overload
    def __call__(self, dim: None = None) -> Size: ...
    @overload
    def __call__(self, dim: int) -> int: ...
    def __call__(self, dim: int | None = None) -> Size | int:
        """The dimensions as a Size, or the one of an axis.

        Raises:
            IndexError: there is no such axis.
        """
        if dim is None:
            return Size(self._shape)
        if not -len(self._shape) <= dim < len(self._shape):
            raise IndexError(f"[size] dim is {dim}; want {axis_text(len(self._shape))}")
        return self._shape[dim]

    def __reduce__(self) -> tuple[type[TensorSize], tuple[int, tuple[int, ...]]]:
        return TensorSize, (int(self), self._shape)
