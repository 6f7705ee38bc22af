"""The structures of the C header, as ctypes sees them."""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_char, c_char_p, c_int32, c_int64, c_size_t, c_ssize_t, c_uint32, c_uint64, c_void_p

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


class GradInfo(ctypes.Structure):
    """pmps_grad_info."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("requires_grad", c_bool),
        ("is_leaf", c_bool),
        ("has_grad", c_bool),
        ("version", c_uint32),
    ]


class GradPass(ctypes.Structure):
    """pmps_grad_pass."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("of", c_void_p),
        ("of_count", c_size_t),
        ("grads_of", c_void_p),
        ("to", c_void_p),
        ("to_count", c_size_t),
        ("stop", c_void_p),
        ("stop_count", c_size_t),
        ("retain_graph", c_bool),
        ("create_graph", c_bool),
    ]


class GradFunction(ctypes.Structure):
    """pmps_grad_function."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("backward", c_void_p),
        ("deleter", c_void_p),
        ("user", c_void_p),
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


class StoredStats(ctypes.Structure):
    """pmps_stored_stats."""

    _fields_ = [(name, c_int64) for name in ("hits", "misses", "writes", "dropped", "bytes")]


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
        ("refused_shaders", c_int64),
        ("refused_graphs", c_int64),
        ("second_way_steps", c_int64),
        ("stored_graphs", StoredStats),
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
        ("traced", c_bool),
        ("made_here", c_bool),
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


class ValueInfo(ctypes.Structure):
    """pmps_value_info."""

    _fields_ = [("struct_size", c_size_t), ("dtype", c_int32), ("rank", c_int32), ("dims", c_int64 * MAX_RANK)]


class ProgramInfo(ctypes.Structure):
    """pmps_program_info."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("inputs", c_int64),
        ("outputs", c_int64),
        ("operators", c_int64),
        ("compilations", c_int64),
        ("constant_bytes", c_int64),
        ("steps", c_int64),
        ("cpu_steps", c_int64),
        ("parts", c_int64),
        ("scratch_bytes", c_int64),
        ("groups", c_int64),
        ("grouped_steps", c_int64),
        ("captured", c_int64),
        ("outdated", c_bool),
    ]


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

    _fields_ = [
        ("name", c_char_p),
        ("kind", c_uint32),
        ("reserved", c_uint32),
        ("value", c_uint64),
        ("count", c_int64),
    ]


class PythonTensor(ctypes.Structure):
    """pmps_python_tensor."""

    _fields_ = (
        ("type", c_void_p),
        ("parameter", c_void_p),
        *((name, c_ssize_t) for name in ("type_offset", "handle_offset", "shape_offset", "meta_offset", "link_offset")),
    )


class PythonApi(ctypes.Structure):
    """pmps_python_api: addresses of functions and objects."""

    _fields_ = [("struct_size", c_size_t)] + [
        (name, c_void_p)
        for name in """
            Py_IncRef Py_DecRef PyObject_Type PyObject_GetAttr
            PyObject_SetAttr PyObject_GetItem PyObject_CallFunctionObjArgs PySequence_Size
            PySequence_GetItem PyList_New PyList_SetItem PyTuple_New
            PyTuple_SetItem PyBytes_FromStringAndSize PyBytes_AsString PyUnicode_AsUTF8AndSize PyLong_AsLongLong
            PyLong_AsUnsignedLongLong PyLong_FromLongLong PyLong_FromUnsignedLongLong PyFloat_AsDouble
            PyErr_Occurred PyErr_Clear PyEval_SaveThread PyEval_RestoreThread
            PyType_GetSlot PyCapsule_IsValid PyCapsule_GetPointer
            none yes no not_implemented ellipsis bool_type int_type float_type tuple_type list_type str_type slice_type
            dtype_type tensor name_handle name_shape name_meta name_number name_dims name_latest name_bound
            name_otherwise name_start name_stop name_step traces
            metas dtypes describe otherwise
        """.split()
    ]


class PythonEntries(ctypes.Structure):
    """pmps_python_entries."""

    _fields_ = [
        (name, c_void_p)
        for name in "context unary binary scalar call program idle describe flush index free traced release held collected traverse".split()
    ]
