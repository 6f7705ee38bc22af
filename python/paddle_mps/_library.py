"""Finds and loads libpaddlemps, and declares its functions to ctypes.

`library` releases the interpreter lock during a call and serves everything that can wait or work
long. `quick` keeps the lock, which is 30 to 60 ns cheaper, and serves calls of a microsecond. `builtin`
makes a built-in function of an operator, without ctypes in the way: it serves `x + y`.
SIGNATURES is checked by a test against the C header and the exports of the library.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from ctypes import (
    POINTER,
    c_bool,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

from ._structs import DeviceInfo, KernelArg, KernelInfo, MemoryStats, PlaceStruct, TensorInfo, ViewItem

LogCallback = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
Deleter = ctypes.CFUNCTYPE(None, c_void_p)
ReclaimCallback = ctypes.CFUNCTYPE(c_bool, c_int64, c_void_p)
StackCallback = ctypes.CFUNCTYPE(c_uint64, c_void_p)

Error = c_void_p  # pmps_error *, NULL for success
Stream = c_void_p
Event = c_void_p
Tensor = c_uint64  # pmps_tensor *
Library = c_void_p
Kernel = c_void_p
Place = POINTER(PlaceStruct)
Bool = POINTER(c_bool)
Ints = POINTER(c_int64)
NewTensor = POINTER(c_uint64)
NewPointer = POINTER(c_void_p)
_CALL = (c_uint32, c_void_p, c_size_t, c_void_p, c_size_t)  # op, args, how many, attrs, how many

# Name: (result, parameters). Arrays of Operand and Attr are passed as bytes, hence as void *.
SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "pmps_abi_version": (c_uint32, ()),
    "pmps_version": (c_char_p, ()),
    "pmps_init": (Error, (c_uint32,)),
    "pmps_error_code": (c_int32, (Error,)),
    "pmps_error_message": (c_char_p, (Error,)),
    "pmps_error_free": (None, (Error,)),
    "pmps_code_name": (c_char_p, (c_int32,)),
    "pmps_dtype_size": (c_int64, (c_int32,)),
    "pmps_dtype_name": (c_char_p, (c_int32,)),
    "pmps_device_count": (c_int32, (c_int32,)),
    "pmps_device_get_info": (Error, (Place, POINTER(DeviceInfo))),
    "pmps_memory_get_stats": (Error, (Place, POINTER(MemoryStats))),
    "pmps_memory_reset_peak": (Error, (Place,)),
    "pmps_memory_empty_cache": (Error, (Place,)),
    "pmps_memory_reset_accumulated": (Error, (Place,)),
    "pmps_memory_set_limit": (Error, (Place, c_int64)),
    "pmps_memory_on_pressure": (None, (ReclaimCallback, c_void_p)),
    "pmps_memory_record_history": (Error, (Place, c_int64, StackCallback, c_void_p)),
    "pmps_memory_snapshot": (Error, (Place, NewPointer)),
    "pmps_text_free": (None, (c_void_p,)),
    "pmps_device_synchronize": (Error, (Place,)),
    "pmps_device_wait_for": (Error, (Place, c_int64, POINTER(c_uint64))),
    "pmps_rng_seed": (Error, (Place, c_uint64)),
    "pmps_rng_get_state": (Error, (Place, POINTER(c_uint64), POINTER(c_uint64))),
    "pmps_rng_set_state": (Error, (Place, c_uint64, c_uint64)),
    "pmps_stream_new": (Error, (Place, NewPointer)),
    "pmps_stream_default": (Error, (Place, NewPointer)),
    "pmps_stream_free": (None, (Stream,)),
    "pmps_stream_set_current": (Error, (Stream,)),
    "pmps_stream_get_current": (Error, (Place, NewPointer)),
    "pmps_stream_get_place": (Error, (Stream, Place)),
    "pmps_stream_get_id": (Error, (Stream, POINTER(c_uint64))),
    "pmps_stream_query": (Error, (Stream, Bool)),
    "pmps_stream_synchronize": (Error, (Stream,)),
    "pmps_stream_wait_for": (Error, (Stream, c_int64, POINTER(c_uint64))),
    "pmps_stream_wait_event": (Error, (Stream, Event)),
    "pmps_event_new": (Error, (Place, c_uint32, NewPointer)),
    "pmps_event_free": (None, (Event,)),
    "pmps_event_record": (Error, (Event, Stream)),
    "pmps_event_query": (Error, (Event, Bool)),
    "pmps_event_synchronize": (Error, (Event,)),
    "pmps_event_wait_for": (Error, (Event, c_int64, POINTER(c_uint64))),
    "pmps_event_elapsed": (Error, (Event, Event, POINTER(c_double))),
    "pmps_tensor_empty": (Error, (Place, c_int32, c_int32, Ints, NewTensor)),
    "pmps_tensor_from_host": (Error, (Place, c_int32, c_int32, Ints, c_void_p, NewTensor)),
    "pmps_tensor_from_memory": (
        Error,
        (c_int32, c_int32, Ints, Ints, c_void_p, Deleter, c_void_p, NewTensor),
    ),
    "pmps_tensor_retain": (Error, (Tensor, NewTensor)),
    "pmps_tensor_free": (None, (Tensor,)),
    "pmps_tensor_get_info": (Error, (Tensor, POINTER(TensorInfo))),
    "pmps_tensor_read": (Error, (Tensor, c_void_p, c_size_t)),
    "pmps_tensor_write": (Error, (Tensor, c_void_p, c_size_t)),
    "pmps_tensor_wait_for": (Error, (Tensor, c_bool, c_int64, POINTER(c_uint64))),
    "pmps_tensor_map": (Error, (Tensor, NewPointer)),
    "pmps_tensor_unmap": (None, (Tensor,)),
    "pmps_tensor_to": (Error, (Tensor, Place, c_bool, NewTensor)),
    "pmps_tensor_share": (Error, (Tensor, Place, NewTensor)),
    "pmps_tensor_index": (Error, (Tensor, POINTER(ViewItem), c_size_t, NewTensor)),
    "pmps_tensor_from_dlpack": (Error, (c_void_p, NewTensor)),
    "pmps_tensor_from_dlpack_versioned": (Error, (c_void_p, NewTensor)),
    "pmps_tensor_to_dlpack": (Error, (Tensor, NewPointer)),
    "pmps_tensor_to_dlpack_versioned": (Error, (Tensor, NewPointer)),
    "pmps_op_find": (Error, (c_char_p, POINTER(c_uint32))),
    "pmps_op_signature": (c_char_p, (c_uint32,)),
    "pmps_op_name": (c_char_p, (c_uint32,)),
    "pmps_op_call": (Error, (*_CALL, NewTensor, POINTER(c_size_t))),
    "pmps_op_call_on": (Error, (Place, *_CALL, NewTensor, POINTER(c_size_t))),
    "pmps_op_call_into": (Error, (*_CALL, Tensor)),
    "pmps_library_new": (Error, (Place, c_char_p, NewPointer)),
    "pmps_library_load": (Error, (Place, c_char_p, NewPointer)),
    "pmps_library_free": (None, (Library,)),
    "pmps_library_get_names": (Error, (Library, NewPointer)),
    "pmps_library_get_kernel": (Error, (Library, c_char_p, NewPointer)),
    "pmps_kernel_free": (None, (Kernel,)),
    "pmps_kernel_get_info": (Error, (Kernel, POINTER(KernelInfo))),
    "pmps_kernel_run": (Error, (Kernel, POINTER(KernelArg), c_size_t, POINTER(c_uint64), POINTER(c_uint64))),
    "pmps_device_census": (Error, (Place, NewPointer)),
    "pmps_device_get_metal": (Error, (Place, NewPointer)),
    "pmps_stream_get_metal": (Error, (Stream, NewPointer)),
    "pmps_tensor_get_metal": (Error, (Tensor, NewPointer, POINTER(c_size_t))),
    "pmps_capture_get_state": (Error, (Place, Bool, Bool)),
    "pmps_capture_begin": (Error, (Place, c_char_p)),
    "pmps_capture_end": (Error, (Place,)),
    "pmps_log_set": (None, (LogCallback, c_void_p, c_int32)),
    "pmps_live_handles": (c_int64, ()),
    "pmps_fast_error": (Error, ()),
    "pmps_fast_unary": (c_uint64, (c_uint64,) * 3),
    "pmps_fast_binary": (c_uint64, (c_uint64,) * 4),
    "pmps_fast_scalar": (c_uint64, (c_uint64,) * 5),
    "pmps_fast_call": (c_uint64, (c_uint64, c_void_p, c_uint64, c_void_p, c_uint64, c_uint64, c_uint64)),
    "pmps_fast_call_into": (c_uint64, (c_uint64, c_void_p, c_uint64, c_void_p, c_uint64, c_uint64, c_uint64)),
    "pmps_fast_read": (c_uint64, (c_uint64, c_void_p, c_uint64)),
    "pmps_fast_wait": (c_uint64, (c_uint64,)),
    "pmps_fast_idle": (c_uint64, (c_uint64,)),
    "pmps_fast_index": (c_uint64, (c_uint64, POINTER(ViewItem), c_uint64, c_uint64)),
    "pmps_fast_release": (None, (POINTER(c_uint64), c_uint64)),
    "pmps_python_init": (None, (c_void_p,) * 3),
    "pmps_python_unary": (c_void_p, (c_void_p, c_void_p, c_int64)),
    "pmps_python_binary": (c_void_p, (c_void_p, c_void_p, c_int64)),
    "pmps_python_scalar": (c_void_p, (c_void_p, c_void_p, c_int64)),
    "pmps_python_idle": (c_void_p, (c_void_p, c_void_p, c_int64)),
}

ABI_VERSION = 0x00010000  # PMPS_ABI_VERSION of the header that the tables here were written for


def find() -> str:
    """The library's path: PADDLE_MPS_LIBRARY in the environment, or the file beside this one."""
    given = os.environ.get("PADDLE_MPS_LIBRARY")
    if given:
        return given
    name = "libpaddlemps.dylib" if sys.platform == "darwin" else "libpaddlemps.so"
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def translated() -> bool:
    """Whether this is a program for Intel Macs on Apple silicon: Rosetta translates it as it runs."""
    if sys.platform != "darwin" or os.uname().machine != "x86_64":
        return False
    answer, size = ctypes.c_int(0), c_size_t(ctypes.sizeof(ctypes.c_int))
    system = ctypes.CDLL(None)
    status = system.sysctlbyname(b"sysctl.proc_translated", ctypes.byref(answer), ctypes.byref(size), None, c_size_t(0))
    return status == 0 and answer.value == 1  # a real Intel Mac does not know the name


def declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Sets results and parameters."""
    for name, (result, parameters) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        function.argtypes = parameters
    return loaded


def load() -> tuple[ctypes.CDLL, ctypes.PyDLL]:
    """The library, without and with the interpreter lock held."""
    if translated():
        raise ImportError(
            "[paddle_mps] this Python is for Intel Macs and runs under Rosetta; want one for Apple silicon: "
            "try `arch -arm64 python3`, and see docs/install.md"
        )
    path = find()
    if not os.path.exists(path):
        raise ImportError(
            f"[paddle_mps] {path} does not exist; want the library: build it with `./build.sh lib`, "
            "or name it in PADDLE_MPS_LIBRARY"
        )
    loaded = declare(ctypes.CDLL(path)), ctypes.PyDLL(path)
    declare(loaded[1])
    return loaded


library, quick = load()


class MethodDef(ctypes.Structure):
    """Python's PyMethodDef, part of its stable ABI. The interpreter keeps the address."""

    _fields_ = (("name", c_char_p), ("function", c_void_p), ("flags", ctypes.c_int), ("doc", c_char_p))


METH_FASTCALL = 0x80


def address(function: Any) -> int:
    return ctypes.cast(function, c_void_p).value or 0


def definitions() -> dict[str, MethodDef]:
    """The entries for built-in functions; none where the interpreter is not CPython."""
    if sys.implementation.name != "cpython":
        return {}
    api = ctypes.pythonapi
    quick.pmps_python_init(
        address(api.PyLong_AsUnsignedLongLong), address(api.PyLong_FromUnsignedLongLong), address(api.PyErr_Occurred)
    )
    api.PyCFunction_NewEx.restype = ctypes.py_object
    api.PyCFunction_NewEx.argtypes = (POINTER(MethodDef), ctypes.py_object, c_void_p)
    names = ("unary", "binary", "scalar", "idle")
    return {n: MethodDef(n.encode(), address(getattr(quick, "pmps_python_" + n)), METH_FASTCALL, None) for n in names}


_definitions = definitions()


def builtin(name: str, first: int) -> Any:
    """pmps_fast_`name` of an operator, or of what is idle or not: a function of the other arguments, all 64-bit integers.

    It keeps the interpreter lock. Where there are no built-in functions to be made it is a partial one.
    """
    if name in _definitions:
        return ctypes.pythonapi.PyCFunction_NewEx(ctypes.byref(_definitions[name]), first, None)
    return functools.partial(getattr(quick, "pmps_fast_" + name), first)
