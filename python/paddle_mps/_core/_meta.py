"""The library's description of a tensor: dtype, place and layout."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from . import _dtype, _place

if TYPE_CHECKING:
    from ._dtype import DType
    from ._place import Place

MANY = 1 << 14  # descriptions that are cached; with more of them the cache is cleared

_HEAD = struct.Struct("=4i")  # dtype, rank, kind and index of the place; dims and strides follow


class Meta:
    """The description of a tensor. Tensors with equal descriptions share one object."""

    __slots__ = ("dtype", "numel", "place", "shape", "strides")

    def __init__(self, described: bytes) -> None:
        dtype, rank, kind, index = _HEAD.unpack_from(described)
        numbers = struct.unpack_from(f"={2 * rank}q", described, _HEAD.size)
        self.dtype: DType = _dtype.BY_NUMBER[dtype]
        self.place: Place = _place.of(kind, index)
        self.shape: tuple[int, ...] = intern(numbers[:rank])
        self.strides: tuple[int, ...] = numbers[rank:]
        self.numel: int = math.prod(self.shape)


# By the bytes with which the library describes a tensor. The library reads it; see `describe`.
metas: dict[bytes, Meta] = {}
_shapes: dict[tuple[int, ...], tuple[int, ...]] = {}


def intern(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The one tuple for a shape, so that equal shapes are the same object."""
    if len(_shapes) > MANY:
        _shapes.clear()  # tensors with an old tuple only take the slower path
    return _shapes.setdefault(shape, shape)


def describe(described: bytes) -> Meta:
    """Makes a Meta that is missing in `metas`, and stores it there."""
    if len(metas) > MANY:
        metas.clear()
    return metas.setdefault(described, Meta(described))
