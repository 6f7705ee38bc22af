"""finfo and iinfo: the limits of element types."""

from __future__ import annotations

import numpy as np

from .._core import _dtype
from .._core._dtype import DType, DTypeLike

# A complex dtype has the limits of its parts.
_PARTS = {"complex64": "float32", "complex128": "float64"}


class finfo:
    """The limits of a floating-point dtype.

    Args:
        dtype: a floating-point or complex dtype; None is float64.

    Attributes:
        min, max: the smallest and the largest finite number.
        eps: the distance from 1 to the next number.
        resolution: 10 to the power of minus the number of decimal digits that every number keeps.
        smallest_normal, tiny: the smallest positive number with full precision.
        bits: of one number.
        dtype: its name.

    Raises:
        ValueError: dtype is none of these.
        TypeError: dtype names no type.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")

    def __init__(self, dtype: DTypeLike | None) -> None:
        found = _dtype.float64 if dtype is None else _dtype.dtype(dtype)
        name = _PARTS.get(found.name, found.name)
        if "float" not in name:
            raise ValueError(f"[finfo] dtype is {found.name}; want a floating-point dtype (iinfo takes integers)")
        self.dtype = name
        self.eps, self.max, self.resolution, self.tiny, self.bits = _bfloat16 if name == "bfloat16" else _ieee(name)
        self.min, self.smallest_normal = -self.max, self.tiny

    def __repr__(self) -> str:
        return (
            f"paddle.finfo(min={self.min:g}, max={self.max:g}, eps={self.eps:g}, resolution={self.resolution:g}, "
            f"smallest_normal={self.tiny:g}, tiny={self.tiny:g}, bits={self.bits}, dtype={self.dtype})"
        )


# 8 bits of significand and the exponents of float32: 2 decimal digits are kept.
_bfloat16 = (2.0**-7, (2 - 2.0**-7) * 2.0**127, 0.01, 2.0**-126, 16)


def _ieee(name: str) -> tuple[float, float, float, float, int]:
    """eps, max, resolution, tiny and bits of a type that NumPy has."""
    info = np.finfo(name)
    return float(info.eps), float(info.max), float(str(info.resolution)), float(info.tiny), info.bits


class iinfo:
    """The limits of an integer dtype.

    Args:
        dtype: uint8, int8, int16, int32 or int64.

    Attributes:
        min, max: the smallest and the largest number.
        bits: of one number.
        dtype: its name.

    Raises:
        ValueError: dtype is none of these.
        TypeError: dtype names no type.
    """

    __slots__ = ("bits", "dtype", "max", "min")

    def __init__(self, dtype: DTypeLike) -> None:
        found: DType = _dtype.dtype(dtype)
        if not found.is_integer:
            raise ValueError(f"[iinfo] dtype is {found.name}; want an integer dtype (finfo takes floating-point ones)")
        info = np.iinfo(found.numpy)
        self.min, self.max, self.bits, self.dtype = int(info.min), int(info.max), info.bits, found.name

    def __repr__(self) -> str:
        return f"paddle.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


__all__ = ["finfo", "iinfo"]
