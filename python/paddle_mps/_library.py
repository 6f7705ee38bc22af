"""Finds and loads libpaddlemps, and declares its functions to ctypes.

`library` releases the interpreter lock during a call and serves everything that can wait or work
long. `quick` keeps the lock, which is 30 to 60 ns cheaper, and serves calls of a microsecond.
SIGNATURES is checked by a test against the C header and the exports of the library.
"""

from __future__ import annotations

import ctypes
import os
import sys
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint32, c_void_p
from typing import Any

from ._structs import DeviceInfo, MemoryStats, PlaceStruct, TensorInfo, ViewItem


class Word(ctypes.c_uint64):
    """64 bits on their way to or from the library: a tensor's handle, an operator's number.

    An instance carries its C type, so functions without `argtypes` take it as it is, and with
    `restype = Word` they return one: both ways skip a conversion of about 100 ns.
    """

    __slots__ = ()


LogCallback = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
Deleter = ctypes.CFUNCTYPE(None, c_void_p)

Error = c_void_p  # pmps_error *, NULL for success
Stream = c_void_p
Event = c_void_p
Tensor = Word  # pmps_tensor *
Place = POINTER(PlaceStruct)
Bool = POINTER(c_bool)
Ints = POINTER(c_int64)
NewTensor = POINTER(Word)
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
    "pmps_device_synchronize": (Error, (Place,)),
    "pmps_rng_seed": (Error, (Place, ctypes.c_uint64)),
    "pmps_rng_get_state": (Error, (Place, POINTER(ctypes.c_uint64), POINTER(ctypes.c_uint64))),
    "pmps_rng_set_state": (Error, (Place, ctypes.c_uint64, ctypes.c_uint64)),
    "pmps_stream_new": (Error, (Place, NewPointer)),
    "pmps_stream_default": (Error, (Place, NewPointer)),
    "pmps_stream_free": (None, (Stream,)),
    "pmps_stream_set_current": (Error, (Stream,)),
    "pmps_stream_get_current": (Error, (Place, NewPointer)),
    "pmps_stream_get_place": (Error, (Stream, Place)),
    "pmps_stream_query": (Error, (Stream, Bool)),
    "pmps_stream_synchronize": (Error, (Stream,)),
    "pmps_stream_wait_for": (Error, (Stream, c_int64, Bool)),
    "pmps_stream_wait_event": (Error, (Stream, Event)),
    "pmps_event_new": (Error, (Place, NewPointer)),
    "pmps_event_free": (None, (Event,)),
    "pmps_event_record": (Error, (Event, Stream)),
    "pmps_event_query": (Error, (Event, Bool)),
    "pmps_event_synchronize": (Error, (Event,)),
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
    "pmps_tensor_map": (Error, (Tensor, NewPointer)),
    "pmps_tensor_unmap": (None, (Tensor,)),
    "pmps_tensor_to": (Error, (Tensor, Place, c_bool, NewTensor)),
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
    "pmps_log_set": (None, (LogCallback, c_void_p, c_int32)),
    "pmps_live_handles": (c_int64, ()),
    "pmps_fast_error": (Error, ()),
    "pmps_fast_unary": (Word, (Word,) * 3),
    "pmps_fast_binary": (Word, (Word,) * 4),
    "pmps_fast_scalar": (Word, (Word,) * 5),
    "pmps_fast_call": (Word, (Word, c_void_p, Word, c_void_p, Word, Word, Word)),
    "pmps_fast_index": (Word, (Word, POINTER(ViewItem), Word, Word)),
    "pmps_fast_release": (None, (POINTER(Word), Word)),
}

ABI_VERSION = 0x00010000  # PMPS_ABI_VERSION of the header that the tables here were written for


def find() -> str:
    """The library's path: PADDLE_MPS_LIBRARY in the environment, or the file beside this one."""
    given = os.environ.get("PADDLE_MPS_LIBRARY")
    if given:
        return given
    name = "libpaddlemps.dylib" if sys.platform == "darwin" else "libpaddlemps.so"
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def declare(loaded: ctypes.CDLL) -> ctypes.CDLL:
    """Sets results and parameters. The fast family's arguments are Words and need no `argtypes`."""
    for name, (result, parameters) in SIGNATURES.items():
        function = getattr(loaded, name)
        function.restype = result
        if not name.startswith("pmps_fast_"):
            function.argtypes = parameters
    return loaded


def load() -> tuple[ctypes.CDLL, ctypes.PyDLL]:
    """The library, without and with the interpreter lock held."""
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
