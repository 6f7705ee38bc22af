"""Element types of ONNX that tensors lack: unsigned integers of 16 bits and more, 8-bit floats, 4-bit and 2-bit elements, and strings.

Models take and return them as NumPy arrays. The tensors in between carry their bits: signed integers those of unsigned ones, and
uint8 those of smaller elements, each of which takes a byte. Strings have tensors of their own kind; see _strings.py.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    Array = np.ndarray[Any, Any]
else:  # the oldest NumPy has no such expression
    Array = np.ndarray

# The names in ONNX, with the dtype that carries integers, and the name that ml_dtypes has for smaller elements.
UNSIGNED = {"uint16": "int16", "uint32": "int32", "uint64": "int64"}
SMALL = {
    "float8e4m3fn": "float8_e4m3fn",
    "float8e4m3fnuz": "float8_e4m3fnuz",
    "float8e5m2": "float8_e5m2",
    "float8e5m2fnuz": "float8_e5m2fnuz",
    "float8e8m0": "float8_e8m0fnu",
    "float4e2m1": "float4_e2m1fn",
    "uint4": "uint4",
    "int4": "int4",
    "uint2": "uint2",
    "int2": "int2",
}


STRING = "string"


def lacking(kind: str) -> str | None:
    """The element type of a port that is declared as kind, such as `uint16[n, 3]`, if tensors lack it."""
    name = kind.partition("[")[0]
    return name if name in UNSIGNED or name in SMALL or name == STRING else None


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of arrays of elements that tensors lack: that of ml_dtypes where it is installed and has one, else uint8."""
    if name in UNSIGNED:
        return np.dtype(name)
    try:
        dtype: np.dtype[Any] = np.dtype(getattr(importlib.import_module("ml_dtypes"), SMALL[name]))
    except (ImportError, AttributeError):
        return np.dtype(np.uint8)
    return dtype


def plain(kind: str) -> np.dtype[Any] | None:
    """A dtype of NumPy that a port takes which is declared as kind, if tensors lack its elements: uint8 for
    small ones, objects for strings."""
    name = lacking(kind)
    return None if name is None else np.dtype(name if name in UNSIGNED else "O" if name == STRING else "uint8")


def carried(x: Any, name: str, what: str) -> Array:
    """An array of such elements as one of the dtype that carries them. what names it in errors.

    Raises:
        TypeError: it is no array, or one of another dtype.
    """
    wanted = dtype_of(name)
    got = x.dtype if isinstance(x, np.ndarray) else type(x).__name__
    if isinstance(x, np.ndarray) and name in UNSIGNED and np.can_cast(x.dtype, wanted, "same_kind"):
        return x.astype(wanted, copy=False).view(UNSIGNED[name])
    if isinstance(x, np.ndarray) and name in SMALL and x.dtype in (wanted, np.dtype(np.uint8)):
        return x.view(np.uint8)
    bits = "" if name in UNSIGNED or wanted == np.uint8 else ", or of uint8 with their bits"
    text = f"{wanted}{bits}" if name in UNSIGNED or bits else f"uint8 with the bits of {name}"
    raise TypeError(f"[onnx] {what} is {got}; want an array of {text}")


def uncarried(x: Array, name: str) -> Array:
    """An array of the dtype that carries such elements, as one of these elements."""
    return x.view(dtype_of(name))
