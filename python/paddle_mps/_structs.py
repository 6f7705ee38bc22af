"""The structures of the C header, as ctypes sees them."""

from __future__ import annotations

import ctypes
from ctypes import c_char, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

MAX_RANK = 9


class PlaceStruct(ctypes.Structure):
    """pmps_place."""

    _fields_ = [("kind", c_int32), ("index", c_int32)]


class DeviceInfo(ctypes.Structure):
    """pmps_device_info."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char * 128),
        ("backend", c_char * 16),
        ("uuid", c_char * 40),
        ("total_memory", c_int64),
        ("recommended_memory", c_int64),
        ("major", c_int32),
        ("minor", c_int32),
        ("multi_processor_count", c_int32),
        ("has_float64", c_int32),
        ("has_bfloat16", c_int32),
    ]


class Stat(ctypes.Structure):
    """pmps_stat."""

    _fields_ = [("current", c_int64), ("peak", c_int64), ("allocated", c_int64), ("freed", c_int64)]


class ProgramStats(ctypes.Structure):
    """pmps_program_stats."""

    _fields_ = [
        (name, c_int64)
        for name in (
            "entries", "bytes", "hits", "misses", "evictions", "cleared", "compilations", "failures", "compile_ns",
        )
    ]  # fmt: skip


class MemoryStats(ctypes.Structure):
    """pmps_memory_stats."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("allocated_bytes", Stat),
        ("allocation", Stat),
        ("active_bytes", Stat),
        ("active", Stat),
        ("reserved_bytes", Stat),
        ("segment", Stat),
        ("inactive_split_bytes", Stat),
        ("inactive_split", Stat),
        ("requested_bytes", Stat),
        ("num_alloc_retries", c_int64),
        ("num_ooms", c_int64),
        ("limit_bytes", c_int64),
        ("available_bytes", c_int64),
        ("program_cache", ProgramStats),
    ]


class TensorInfo(ctypes.Structure):
    """pmps_tensor_info."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("dtype", c_int32),
        ("rank", c_int32),
        ("place", PlaceStruct),
        ("dims", c_int64 * MAX_RANK),
        ("strides", c_int64 * MAX_RANK),
        ("numel", c_int64),
        ("offset", c_int64),
        ("storage_id", c_uint64),
    ]


class KernelInfo(ctypes.Structure):
    """pmps_kernel_info."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("max_threads_per_threadgroup", c_uint64),
        ("thread_execution_width", c_uint64),
        ("static_threadgroup_memory", c_uint64),
        ("argument_count", c_uint64),
    ]


class KernelArg(ctypes.Structure):
    """pmps_kernel_arg."""

    _fields_ = [("tensor", c_uint64), ("data", c_void_p), ("size", c_size_t)]


class ViewItem(ctypes.Structure):
    """pmps_index."""

    _fields_ = [
        ("kind", c_int32),
        ("has", c_int32),
        ("start", c_int64),
        ("stop", c_int64),
        ("step", c_int64),
    ]


class Operand(ctypes.Structure):
    """pmps_arg. Calls pack it with `struct`; this class is what a test compares that with."""

    _fields_ = [("kind", c_uint32), ("reserved", c_uint32), ("value", c_uint64)]


class Attr(ctypes.Structure):
    """pmps_attr. Calls pack it with `struct`; this class is what a test compares that with."""

    _fields_ = [("name", c_char * 20), ("kind", c_uint32), ("value", c_uint64), ("count", c_int64)]
