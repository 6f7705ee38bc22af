"""paddle.utils.dlpack: memory shared with other libraries."""

from __future__ import annotations

from typing import Any

from .._arrays._dlpack import from_dlpack
from .._core._objects import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(x: Tensor) -> Any:
    """A DLPack capsule with the memory of x, for one consumer.

    Libraries that take objects with `__dlpack__` need none: numpy.from_dlpack(x).

    Raises:
        TypeError: x is no tensor.
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"[to_dlpack] got {type(x).__name__}; want a Tensor")
    return x.__dlpack__()
