"""DLPack: memory shared with other libraries, without a copy, both ways.

A capsule named "dltensor" (or "dltensor_versioned" since version 1.0) holds a C structure. The
consumer renames it to "used_..." and must call the structure's deleter once. A capsule that was not
consumed calls the deleter when it is freed.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_char_p, c_int, c_uint64, c_void_p, py_object
from typing import TYPE_CHECKING, Any

from .._calls import _grad
from .._core import _place
from .._core._builtin import destructor, forever, prototype
from .._core._errors import UnsupportedError, check
from .._core._library import library
from .._core._objects import Tensor, meta, view
from .._devices import _stream

if TYPE_CHECKING:
    from .._core._place import Place
    from .._core._typing import PlaceLike

# A capsule has the address of its name.
PLAIN, VERSIONED = forever(b"dltensor"), forever(b"dltensor_versioned")
# Bytes before the deleter in DLManagedTensor and in DLManagedTensorVersioned.
DELETER_AT = {PLAIN: 56, VERSIONED: 16}
CPU_DEVICE = 1  # DLDeviceType

_Destructor = getattr(ctypes, "PYFUNCTYPE", ctypes.CFUNCTYPE)(None, c_void_p)
_Deleter = ctypes.CFUNCTYPE(None, c_void_p)


def _refuse(*arguments: Any) -> Any:
    raise UnsupportedError("[dlpack] this interpreter has no capsules; want CPython")


def _function(name: str, *types: Any) -> Any:
    """A function of the interpreter about capsules, or one that says that there are none."""
    try:
        return prototype(name, *types)
    except AttributeError:
        return _refuse


_new = _function("PyCapsule_New", py_object, c_void_p, c_char_p, c_void_p)
_pointer = _function("PyCapsule_GetPointer", c_void_p, py_object, c_char_p)
_is_valid = _function("PyCapsule_IsValid", c_int, py_object, c_char_p)
_rename = _function("PyCapsule_SetName", c_int, py_object, c_char_p)
# A destructor sees a capsule without references, which must not become a Python object again: these take it
# as an address.
_is_valid_at = _function("PyCapsule_IsValid", c_int, c_void_p, c_char_p)
_pointer_at = _function("PyCapsule_GetPointer", c_void_p, c_void_p, c_char_p)

_USED = {PLAIN: forever(b"used_dltensor"), VERSIONED: forever(b"used_dltensor_versioned")}


def _release(
    capsule: int,
    deleters: dict[bytes, int] = DELETER_AT,
    valid: Any = _is_valid_at,
    pointer: Any = _pointer_at,
    address: Any = c_void_p.from_address,
    function: Any = _Deleter,
) -> None:
    """Frees the structure of a capsule that was not consumed.

    Names are parameters: those of the module are gone when the interpreter ends.
    """
    for name, offset in deleters.items():
        if valid(capsule, name):
            managed = pointer(capsule, name)
            deleter = address(managed + offset).value
            if deleter:
                function(deleter)(managed)


# The library's own destructor where possible: one in Python fails when it is called while an exception is set.
_destroy = destructor() or ctypes.cast(forever(_Destructor(_release)), c_void_p).value


def to_dlpack(x: Tensor, versioned: bool = False) -> Any:
    """A capsule with x's memory, after the work that x depends on."""
    managed = c_void_p()
    export = library.pmps_tensor_to_dlpack_versioned if versioned else library.pmps_tensor_to_dlpack
    check(export(x._handle, byref(managed)))
    return _new(managed, VERSIONED if versioned else PLAIN, _destroy)


def from_dlpack(dlpack: Any, *, device: PlaceLike | None = None, copy: bool | None = None) -> Tensor:
    """A tensor over another library's memory: writes through either are visible through the other.

    Args:
        dlpack: an object with `__dlpack__` (an array of NumPy, a tensor of PyTorch), or a capsule.
        device: where the tensor shall live; None: where the memory is.
        copy: True for memory of its own, False to refuse what needs a copy; None: another device gets a
            copy.

    Raises:
        ValueError: dlpack is neither, or a capsule that has been used.
        UnsupportedError: the memory is not the CPU's, or with copy=False what device cannot work in.
    """
    capsule, copied = _capsule(dlpack, copy is True)
    x = _take(capsule)
    target = meta(x).place if device is None else _place.place(device)
    if target != meta(x).place:
        return shared(x, target) if copy is False else x.to(target)
    return x.clone() if copy and not copied else x


def shared(x: Tensor, place: Place) -> Tensor:
    """x on a place, over the same memory.

    Raises:
        UnsupportedError: the place cannot use the memory; the message has the reason.
    """
    _grad.refuse("share", x)
    _stream.settle(x, writing=True)
    handle = c_uint64()
    check(library.pmps_tensor_share(x._handle, byref(place.struct), byref(handle)))
    return view(handle.value)


def _capsule(dlpack: Any, copy: bool) -> tuple[Any, bool]:
    """A capsule, and whether it holds a copy, which is asked for if that is wanted: memory that is read-only can be
    had in no other way."""
    if hasattr(dlpack, "__dlpack__"):
        if copy:
            try:
                return dlpack.__dlpack__(max_version=(1, 0), copy=True), True
            except TypeError:  # a library from before version 1.0
                pass
        try:
            return dlpack.__dlpack__(max_version=(1, 0)), False
        except TypeError:
            return _unversioned(dlpack, copy)
    if _is_valid(dlpack, PLAIN) or _is_valid(dlpack, VERSIONED):
        return dlpack, False
    raise ValueError(f"[from_dlpack] got {type(dlpack).__name__}; want an object with __dlpack__ or an unused capsule")


def _unversioned(dlpack: Any, copy: bool) -> tuple[Any, bool]:
    """As _capsule, of a library from before version 1.0, such as NumPy 2.0. Its capsules cannot say that memory is
    read-only, so that it refuses to export such an array."""
    try:
        return dlpack.__dlpack__(), False
    except BufferError as error:
        if getattr(getattr(dlpack, "flags", None), "writeable", True):
            raise
        if copy:
            return dlpack.copy().__dlpack__(), True
        raise UnsupportedError(
            "[from_dlpack] the tensor is read-only; want one that may be written, or a copy"
        ) from error


def _take(capsule: Any) -> Tensor:
    name = VERSIONED if _is_valid(capsule, VERSIONED) else PLAIN
    take = library.pmps_tensor_from_dlpack_versioned if name == VERSIONED else library.pmps_tensor_from_dlpack
    handle = c_uint64()
    check(take(_pointer(capsule, name), byref(handle)))
    _rename(capsule, _USED[name])  # owned by this library from here on
    return view(handle.value)
