"""Finds and loads libpaddlemps, and declares its functions to ctypes.

`library` releases the interpreter lock during a call and serves everything that can wait or work
long. `quick` keeps the lock, which is 30 to 60 ns cheaper, and serves calls of a microsecond. Operators go
another way, without ctypes: see `_builtin`.
SIGNATURES is checked by a test against the C header and the exports of the library.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import sys
import threading
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
from typing import Any, Callable

from ._structs import (
    DeviceInfo,
    GradFunction,
    GradInfo,
    GradPass,
    KernelArg,
    KernelInfo,
    MemoryStats,
    PlaceStruct,
    ProgramInfo,
    PythonApi,
    PythonEntries,
    TensorInfo,
    ValueInfo,
    ViewItem,
)

LogCallback = ctypes.CFUNCTYPE(None, c_int32, c_char_p, c_void_p)
Deleter = ctypes.CFUNCTYPE(None, c_void_p)
ReclaimCallback = ctypes.CFUNCTYPE(c_bool, c_int64, c_void_p)
GradHook = ctypes.CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(c_uint64))
StackCallback = ctypes.CFUNCTYPE(c_uint64, c_void_p)

Error = c_void_p  # pmps_error *, NULL for success
Stream = c_void_p
Event = c_void_p
Tensor = c_uint64  # pmps_tensor *
Library = c_void_p
Kernel = c_void_p
Graph = c_void_p
Run = c_void_p
Program = c_void_p
Trace = c_void_p  # pmps_trace *
Value = c_int64  # pmps_value
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
    "pmps_profile_start": (Error, (c_uint32, c_int64)),
    "pmps_profile_stop": (Error, (NewPointer,)),
    "pmps_profile_begin": (c_uint64, ()),
    "pmps_profile_end": (None, (c_uint64, c_char_p, c_char_p)),
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
    "pmps_tensor_from_strings": (Error, (Place, c_int32, Ints, c_char_p, c_size_t, NewTensor)),
    "pmps_tensor_get_strings": (Error, (Tensor, NewPointer, POINTER(c_size_t))),
    "pmps_tensor_retain": (Error, (Tensor, NewTensor)),
    "pmps_tensor_replace": (Error, (Tensor, Tensor, NewTensor)),
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
    "pmps_tensor_view": (Error, (Tensor, c_int32, NewTensor)),
    "pmps_tensor_from_dlpack": (Error, (c_void_p, NewTensor)),
    "pmps_tensor_from_dlpack_versioned": (Error, (c_void_p, NewTensor)),
    "pmps_tensor_to_dlpack": (Error, (Tensor, NewPointer)),
    "pmps_tensor_to_dlpack_versioned": (Error, (Tensor, NewPointer)),
    "pmps_grad_set_enabled": (c_bool, (c_bool,)),
    "pmps_tensor_set_requires_grad": (Error, (Tensor, c_bool)),
    "pmps_tensor_get_grad_info": (Error, (Tensor, POINTER(GradInfo))),
    "pmps_tensor_get_grad": (Error, (Tensor, NewTensor)),
    "pmps_tensor_set_grad": (Error, (Tensor, Tensor)),
    "pmps_tensor_zero_grad": (Error, (Tensor,)),
    "pmps_tensor_retain_grad": (Error, (Tensor,)),
    "pmps_tensor_end_history": (Error, (Tensor,)),
    "pmps_tensor_detach": (Error, (Tensor, NewTensor)),
    "pmps_tensor_weaken": (Error, (Tensor, NewTensor)),
    "pmps_tensor_add_grad_hook": (Error, (Tensor, GradHook, Deleter, c_void_p, POINTER(c_uint64))),
    "pmps_tensor_remove_grad_hook": (Error, (Tensor, c_uint64, Bool)),
    "pmps_grad_backward": (Error, (POINTER(GradPass), NewTensor)),
    "pmps_grad_apply": (Error, (POINTER(GradFunction), NewTensor, c_size_t, NewTensor, c_size_t)),
    "pmps_op_find": (Error, (c_char_p, POINTER(c_uint32))),
    "pmps_op_signature": (c_char_p, (c_uint32,)),
    "pmps_op_name": (c_char_p, (c_uint32,)),
    "pmps_op_call": (Error, (*_CALL, NewTensor, POINTER(c_size_t))),
    "pmps_op_call_on": (Error, (Place, *_CALL, NewTensor, POINTER(c_size_t))),
    "pmps_op_call_into": (Error, (*_CALL, Tensor)),
    "pmps_graph_new": (Error, (NewPointer,)),
    "pmps_graph_free": (None, (Graph,)),
    "pmps_graph_add_symbol": (Error, (Graph, Ints)),
    "pmps_graph_add_input": (Error, (Graph, c_int32, c_int32, Ints, Ints)),
    "pmps_graph_add_constant": (Error, (Graph, Tensor, Ints)),
    "pmps_graph_add_scalar": (Error, (Graph, c_void_p, Ints)),
    "pmps_graph_call": (Error, (Graph, c_uint32, Ints, c_size_t, c_void_p, c_size_t, Ints, POINTER(c_size_t))),
    "pmps_graph_get_value_info": (Error, (Graph, Value, POINTER(ValueInfo))),
    "pmps_graph_to_text": (Error, (Graph, NewPointer)),
    "pmps_program_new": (Error, (Place, Graph, Ints, c_size_t, NewPointer)),
    "pmps_program_free": (None, (Program,)),
    "pmps_program_prepare": (Error, (Program, POINTER(Ints), POINTER(c_int32), c_size_t)),
    "pmps_program_run": (Error, (Program, NewTensor, c_size_t, NewTensor, POINTER(c_size_t))),
    "pmps_program_run_into": (Error, (Program, NewTensor, c_size_t, NewTensor, c_size_t)),
    "pmps_program_start": (Error, (Program, NewTensor, c_size_t, NewPointer)),
    "pmps_run_query": (Error, (Run, POINTER(c_bool))),
    "pmps_run_wait_for": (Error, (Run, c_int64, POINTER(c_uint64))),
    "pmps_run_wait": (Error, (Run, NewTensor, POINTER(c_size_t))),
    "pmps_run_cancel": (Error, (Run,)),
    "pmps_run_free": (None, (Run,)),
    "pmps_program_get_info": (Error, (Program, POINTER(ProgramInfo))),
    "pmps_program_to_text": (Error, (Program, c_bool, NewPointer)),
    "pmps_program_save": (Error, (Program, c_char_p)),
    "pmps_program_load": (Error, (Place, c_char_p, c_char_p, c_size_t, NewPointer)),
    "pmps_program_get_port": (Error, (Program, c_bool, c_size_t, POINTER(ValueInfo), NewPointer, NewPointer)),
    "pmps_program_describe": (Error, (Program, NewPointer)),
    "pmps_program_unify": (Error, (Program, Program, NewPointer)),
    "pmps_program_get_captured": (Error, (Program, c_size_t, NewTensor)),
    "pmps_trace_begin": (Error, (Place, NewTensor, c_size_t, NewTensor, NewPointer)),
    "pmps_trace_end": (Error, (Trace, NewTensor, c_size_t, NewPointer)),
    "pmps_trace_pause": (Error, (Trace, c_bool)),
    "pmps_trace_abort": (None, (Trace,)),
    "pmps_trace_to_text": (Error, (Trace, NewPointer)),
    "pmps_library_new": (Error, (Place, c_char_p, NewPointer)),
    "pmps_library_load": (Error, (Place, c_char_p, NewPointer)),
    "pmps_library_free": (None, (Library,)),
    "pmps_library_get_names": (Error, (Library, NewPointer)),
    "pmps_triton_compile": (Error, (c_char_p, c_size_t, c_char_p, NewPointer, NewPointer)),
    "pmps_library_get_kernel": (Error, (Library, c_char_p, NewPointer)),
    "pmps_kernel_free": (None, (Kernel,)),
    "pmps_kernel_get_info": (Error, (Kernel, POINTER(KernelInfo))),
    "pmps_kernel_run": (Error, (Kernel, POINTER(KernelArg), c_size_t, POINTER(c_uint64), POINTER(c_uint64))),
    "pmps_kernel_run_reporting": (
        Error,
        (Kernel, POINTER(KernelArg), c_size_t, POINTER(c_uint64), POINTER(c_uint64), c_char_p),
    ),
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
    "pmps_python_init": (c_bool, (POINTER(PythonApi), POINTER(PythonEntries))),
}

ABI_VERSION = 0x00020000  # PMPS_ABI_VERSION of the header that the tables here were written for


def find() -> str:
    """The library's path: PADDLE_MPS_LIBRARY in the environment, or the file in the folder of the package."""
    given = os.environ.get("PADDLE_MPS_LIBRARY")
    if given:
        return given
    name = "libpaddlemps.dylib" if sys.platform == "darwin" else "libpaddlemps.so"
    return os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), name)


def translated() -> bool:
    """Whether this is a program for Intel Macs on Apple silicon: Rosetta translates it as it runs."""
    if sys.platform != "darwin" or os.uname().machine != "x86_64":
        return False
    answer, size = ctypes.c_int(0), c_size_t(ctypes.sizeof(ctypes.c_int))
    system = ctypes.CDLL(None)
    status = system.sysctlbyname(b"sysctl.proc_translated", ctypes.byref(answer), ctypes.byref(size), None, c_size_t(0))
    return status == 0 and answer.value == 1  # a real Intel Mac does not know the name


# Addresses that the library's runtime reserves when it is loaded, with those of its threads. Without them it ends the
# process, so that load asks first.
ADDRESS_SPACE = 3 << 29


def limited() -> bool:
    """Whether a limit of the process (ulimit -v) leaves the library too few addresses."""
    try:
        import resource
    except ImportError:
        return False
    if resource.getrlimit(resource.RLIMIT_AS)[0] == resource.RLIM_INFINITY:
        return False
    try:
        mmap.mmap(-1, ADDRESS_SPACE, mmap.MAP_PRIVATE | mmap.MAP_ANON, prot=0).close()
    except (OSError, ValueError, MemoryError):
        return True
    return False


def declare(loaded: ctypes.CDLL, path: str) -> ctypes.CDLL:
    """Sets results and parameters.

    Raises:
        ImportError: a function is missing.
    """
    for name, (result, parameters) in SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is None:
            raise ImportError(
                f"[paddle_mps] {path} has no function {name}; want the library that came with the package"
            )
        function.restype = result
        function.argtypes = parameters
    return loaded


def load() -> tuple[ctypes.CDLL, ctypes.CDLL]:
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
    if limited():
        raise ImportError(
            f"[paddle_mps] the process may not use {ADDRESS_SPACE >> 20} MiB more of addresses; want a higher "
            "`ulimit -v`, or none"
        )
    keeping = getattr(ctypes, "PyDLL", ctypes.CDLL)  # PyPy has no lock that could be kept
    try:
        loaded = ctypes.CDLL(path)
    except OSError as error:
        raise ImportError(f"[paddle_mps] {path} cannot be loaded: {error}; want the library of this machine") from error
    check_version(loaded, path)
    return declare(loaded, path), declare(keeping(path), path)


def check_version(loaded: ctypes.CDLL, path: str) -> None:
    """Raises an ImportError unless the library has the ABI that the tables here were written for."""
    try:
        init, message = loaded.pmps_init, loaded.pmps_error_message
    except AttributeError:
        raise ImportError(f"[paddle_mps] {path} is another library; want libpaddlemps") from None
    init.restype, init.argtypes = SIGNATURES["pmps_init"]
    message.restype, message.argtypes = SIGNATURES["pmps_error_message"]
    error = init(ABI_VERSION)
    if error:
        raise ImportError(f"[paddle_mps] {path} is of another version: {message(error).decode()}")


# In a worker process of a paddle.io.DataLoader, which says so when it starts it, the library is loaded by the first call alone: most
# data sets make none. The worker computes on the CPU, and never opens a GPU.
WORKER = "PADDLE_MPS_WORKER"
worker = os.environ.pop(WORKER, "") == "1"
if worker:
    os.environ.update(PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="cpu")

_loaded: list[ctypes.CDLL] = []
_waiting: list[Callable[[], object]] = []
_loading = threading.RLock()


def loaded() -> list[ctypes.CDLL]:
    """The library, without and with the interpreter lock held, which this loads if nothing has."""
    with _loading:
        if not _loaded:
            _loaded.extend(load())
            while _waiting:
                _waiting.pop(0)()
    return _loaded


def is_loaded() -> bool:
    """Whether the library is in this process."""
    return bool(_loaded)


def when_loaded(function: Callable[[], object]) -> None:
    """Calls a function as soon as the library is loaded, which is now in all processes but workers."""
    with _loading:
        if not _loaded:
            _waiting.append(function)
            return
    function()


class Late:
    """The library in a worker process, whose first call loads it."""

    def __init__(self, which: int) -> None:
        self._which = which

    def __getattr__(self, name: str) -> Any:
        if name not in SIGNATURES:
            raise AttributeError(name)
        return getattr(_loaded[self._which], name) if _loaded else functools.partial(self._call, name)

    def _call(self, name: str, *arguments: Any) -> Any:
        return getattr(loaded()[self._which], name)(*arguments)


library: Any
quick: Any
library, quick = (Late(0), Late(1)) if worker else loaded()
