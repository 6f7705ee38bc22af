"""The dtype that a composition of operators computes in.

A composition in half precision would round after every step. It runs in float32 instead and rounds once, which
is what a kernel for half precision does.
"""

from __future__ import annotations

from .._core import _dtype
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from . import _operators

HALF = (_dtype.float16, _dtype.bfloat16)


def working(x: Tensor) -> Tensor:
    """x, as float32 if it is of half precision."""
    return _operators.cast(x, _dtype.float32) if meta(x).dtype in HALF else x


def fractional(x: Tensor) -> Tensor:
    """x, as float32 if it is of half precision, of integers or of bools.

    Raises:
        UnsupportedError: x is complex, and the function is one of real numbers.
    """
    if meta(x).dtype.is_complex:
        raise UnsupportedError(f"[float32] got a tensor of {meta(x).dtype.name}; want real numbers")
    return x if meta(x).dtype in (_dtype.float32, _dtype.float64) else _operators.cast(x, _dtype.float32)


def rounded(result: Tensor, x: Tensor) -> Tensor:
    """The result for an operand x: in its dtype if that is of half precision."""
    dtype = meta(x).dtype
    return _operators.cast(result, dtype) if dtype in HALF and meta(result).dtype is not dtype else result


def number_of_terms(x: Tensor, reduced: Tensor) -> int:
    """How many elements of x make one of a reduction of it; of an empty reduction, 0."""
    return meta(x).numel // max(meta(reduced).numel, 1)
