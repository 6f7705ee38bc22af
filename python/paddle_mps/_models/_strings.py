"""Tensors of strings, which only models of `paddle_mps.onnx` take and return: NumPy arrays before and behind a call.

The library has strings in their wire form: the length of each in 4 bytes, little-endian, and then its UTF-8.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core._errors import check
from .._core._library import library, quick
from .._core._objects import Tensor, fresh, meta

if TYPE_CHECKING:
    from .._core._place import Place

    Array = np.ndarray[Any, Any]
else:  # the oldest NumPy has no such expression
    Array = np.ndarray

PREFIX = 4  # bytes of a length


def tensor_of(x: Any, place: Place, what: str) -> Tensor:
    """A tensor of the strings of an array of str or bytes, or of a list of them. what names it in errors.

    Raises:
        TypeError: an element is no string.
        ValueError: a string is no Unicode text, or bytes are not UTF-8.
    """
    if isinstance(x, Tensor):
        raise TypeError(f"[onnx] {what} is a tensor of {meta(x).dtype.name}; want an array of str")
    array = x if isinstance(x, np.ndarray) else np.array(x, object)
    if array.dtype.kind not in "USOT":
        raise TypeError(f"[onnx] {what} is an array of {array.dtype}; want one of str")
    wire = b"".join(_encoded(s, i, what) for i, s in enumerate(array.reshape(-1).tolist()))
    dims, handle = (ctypes.c_int64 * array.ndim)(*array.shape), ctypes.c_uint64()
    check(library.pmps_tensor_from_strings(byref(place.struct), array.ndim, dims, wire, len(wire), byref(handle)))
    return fresh(handle.value)


def _encoded(s: Any, i: int, what: str) -> bytes:
    """The wire form of element i."""
    try:
        raw = s.encode() if isinstance(s, str) else s
        if not isinstance(raw, bytes):
            raise TypeError(f"[onnx] element {i} of {what} is {type(s).__name__}; want str")
        raw.decode()
        return len(raw).to_bytes(PREFIX, "little") + raw
    except (UnicodeError, OverflowError) as error:
        raise ValueError(f"[onnx] element {i} of {what} cannot be UTF-8 of up to 4 GiB: {error}") from error


def array_of(x: Tensor) -> Array:
    """An array of the strings of a tensor, objects of str."""
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(library.pmps_tensor_get_strings(x._handle, byref(data), byref(size)))
    try:
        wire = ctypes.string_at(data, size.value)
    finally:
        quick.pmps_text_free(data)
    shape = meta(x).shape
    flat = np.empty(int(np.prod(shape, dtype=np.int64)), object)
    at = 0
    for i in range(flat.size):
        end = at + PREFIX + int.from_bytes(wire[at : at + PREFIX], "little")
        flat[i] = wire[at + PREFIX : end].decode()
        at = end
    return flat.reshape(shape)
