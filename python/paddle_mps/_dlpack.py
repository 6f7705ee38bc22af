"""DLPack: memory shared with other libraries, without a copy, both ways.

A capsule named "dltensor" (or "dltensor_versioned" since version 1.0) holds a C structure. Whoever
takes it renames it to "used_..." and must call the structure's deleter once; a capsule that nobody
took calls the deleter when it goes away.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_uint64, c_void_p, py_object
from typing import TYPE_CHECKING, Any

from . import _place, _stream
from ._call import meta, view
from ._errors import check
from ._library import library

if TYPE_CHECKING:
    from ._place import Place
    from ._tensor import Tensor
    from ._typing import PlaceLike

PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"
# Bytes before the deleter in DLManagedTensor and in DLManagedTensorVersioned.
DELETER_AT = {PLAIN: 56, VERSIONED: 16}
CPU_DEVICE, METAL_DEVICE = 1, 8  # DLDeviceType

_Destructor = ctypes.PYFUNCTYPE(None, c_void_p)
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


def _function(name: str, result: Any, *parameters: Any) -> Any:
    function = getattr(ctypes.pythonapi, name)
    function.restype, function.argtypes = result, parameters
    return function


_new = _function("PyCapsule_New", py_object, c_void_p, c_char_p, _Destructor)
_pointer = _function("PyCapsule_GetPointer", c_void_p, py_object, c_char_p)
_is_valid = _function("PyCapsule_IsValid", c_int, py_object, c_char_p)
_rename = _function("PyCapsule_SetName", c_int, py_object, c_char_p)
# A destructor sees a capsule without references, which must not become a Python object again. The
# two below take it as an address. PyDLL objects keep their own copies of a function's types.
_api = ctypes.PyDLL(None)
_api.PyCapsule_IsValid.argtypes = c_void_p, c_char_p
_api.PyCapsule_GetPointer.argtypes = c_void_p, c_char_p
_api.PyCapsule_GetPointer.restype = c_void_p

_USED = {PLAIN: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}


def _release(capsule: int) -> None:
    for name, offset in DELETER_AT.items():
        if _api.PyCapsule_IsValid(capsule, name):
            managed = _api.PyCapsule_GetPointer(capsule, name)
            deleter = ctypes.cast(managed + offset, ctypes.POINTER(c_void_p)).contents.value
            if deleter:
                _Deleter(deleter)(managed)


_destroy = _Destructor(_release)


def to_dlpack(x: Tensor, versioned: bool = False) -> Any:
    """A capsule with x's memory, after the work that x depends on."""
    managed = c_void_p()
    export = library.pmps_tensor_to_dlpack_versioned if versioned else library.pmps_tensor_to_dlpack
    check(export(x._h, byref(managed)))
    return _new(managed, VERSIONED if versioned else PLAIN, _destroy)


def from_dlpack(dlpack: Any, *, device: PlaceLike | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over another library's memory: writing through either is seen through the other.

    Args:
        dlpack: an object with `__dlpack__` (an array of NumPy, a tensor of PyTorch), or a capsule.
        device: where the tensor shall live; None: where the memory is.
        copy: True for memory of its own, False to refuse what needs a copy; None: another device gets a
            copy.

    Raises:
        ValueError: dlpack is neither, or a capsule that has been used.
        UnsupportedError: the memory is not the CPU's, or with copy=False what device cannot work in.
    """
    x = _take(_capsule(dlpack))
    target = meta(x).place if device is None else _place.place(device)
    if target != meta(x).place:
        return shared(x, target) if copy is False else x.to(target)
    return x.clone() if copy else x


def shared(x: Tensor, place: Place) -> Tensor:
    """x on a place, in the memory that it has.

    Raises:
        UnsupportedError: the place cannot work there; the message says what it wants.
    """
    _stream.settle(x, writing=True)
    handle = c_uint64()
    check(library.pmps_tensor_share(x._h, byref(place.struct), byref(handle)))
    return view(handle.value)


def _capsule(dlpack: Any) -> Any:
    if hasattr(dlpack, "__dlpack__"):
        try:
            return dlpack.__dlpack__(max_version=(1, 0))
        except TypeError:  # a library from before version 1.0
            return dlpack.__dlpack__()
    if _is_valid(dlpack, PLAIN) or _is_valid(dlpack, VERSIONED):
        return dlpack
    raise ValueError(f"[from_dlpack] got {type(dlpack).__name__}; want an object with __dlpack__ or an unused capsule")


def _take(capsule: Any) -> Tensor:
    name = VERSIONED if _is_valid(capsule, VERSIONED) else PLAIN
    take = library.pmps_tensor_from_dlpack_versioned if name == VERSIONED else library.pmps_tensor_from_dlpack
    handle = c_uint64()
    check(take(_pointer(capsule, name), byref(handle)))
    _rename(capsule, _USED[name])  # ours from here on
    return view(handle.value)
