"""FloatTensor, LongTensor and the like: makers of tensors of one dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._core import _dtype
from .._core._dtype import DType
from .._core._objects import Tensor
from ._creation import empty, to_tensor

if TYPE_CHECKING:
    from .._core._typing import Data, PlaceLike


class Maker:
    """LongTensor(2, 3) is an empty tensor of that shape, LongTensor(data) one with a copy of data.

    As in Paddle a tensor or a NumPy array keeps its own dtype; lists and tuples of numbers get that of the class.
    """

    dtype: DType

    def __new__(cls, *data: Data, device: PlaceLike | None = None) -> Tensor:  # type: ignore[misc]
        if any(isinstance(n, bool) for n in data):
            raise TypeError(f"[{cls.__name__}] got {data}; want dimensions as ints, or one list, array or Tensor")
        if len(data) != 1 or isinstance(data[0], int):
            return empty(list(data) if data else [0], cls.dtype, device=device)
        kept = isinstance(data[0], (Tensor, np.ndarray))
        return to_tensor(data[0], None if kept else cls.dtype, device=device)


class BoolTensor(Maker):
    """A maker of bool tensors."""

    dtype = _dtype.bool_


class ByteTensor(Maker):
    """A maker of uint8 tensors."""

    dtype = _dtype.uint8


class CharTensor(Maker):
    """A maker of int8 tensors."""

    dtype = _dtype.int8


class ShortTensor(Maker):
    """A maker of int16 tensors."""

    dtype = _dtype.int16


class IntTensor(Maker):
    """A maker of int32 tensors."""

    dtype = _dtype.int32


class LongTensor(Maker):
    """A maker of int64 tensors."""

    dtype = _dtype.int64


class HalfTensor(Maker):
    """A maker of float16 tensors."""

    dtype = _dtype.float16


class BFloat16Tensor(Maker):
    """A maker of bfloat16 tensors."""

    dtype = _dtype.bfloat16


class FloatTensor(Maker):
    """A maker of float32 tensors."""

    dtype = _dtype.float32


class DoubleTensor(Maker):
    """A maker of float64 tensors."""

    dtype = _dtype.float64


__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]
