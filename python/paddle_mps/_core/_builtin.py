"""Built-in functions that the library makes for CPython, and their replacements in other interpreters.

Each has a handler in Python, which is called with the arguments when the library does not make the call itself
(`Reason`). If built-in functions cannot be made (another interpreter, or one that lacks a function that the
library needs), a Python function passes every call to the handler.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from ctypes import POINTER, c_char, c_char_p, c_int, c_void_p, py_object
from typing import Any, Callable, TypeVar

from . import _dtype
from ._library import is_loaded, quick
from ._meta import describe, metas
from ._structs import PythonApi, PythonEntries, PythonTensor

# pmps_python_reason.
UNUSUAL, FAILED, HEAVY, OTHER = range(4)
# pmps_python_lead.
OPERANDS, PLACE, OUTPUT = range(3)
# Bits of the lead of a program.
SINGLE, RECORDING = 1, 2
# What functions of the kind "index" are bound to.
KEY, BITS = 0, 1
# Bits of an operand.
SCALAR, OPTIONAL, VARIADIC = 1, 2, 4

Handler = Callable[["tuple[Any, ...]", int], Any]
T = TypeVar("T")

_METH_KEYWORDS, _METH_NOARGS, _METH_FASTCALL = 0x02, 0x04, 0x80
_HEAD = struct.Struct("=QQBBBB4x")  # pmps_python_function
_KINDS = ("unary", "binary", "scalar", "call", "program", "idle", "describe", "flush", "index")


class MethodDef(ctypes.Structure):
    """Python's PyMethodDef, part of its stable ABI. The interpreter keeps the address."""

    _fields_ = (("name", c_char_p), ("function", c_void_p), ("flags", c_int), ("doc", c_char_p))


def prototype(name: str, result: Any, *parameters: Any) -> Any:
    """A function of the interpreter's C API. `ctypes.pythonapi.NAME` would be shared with all other modules.

    Raises:
        AttributeError: the interpreter has no such function, or no C API.
    """
    return ctypes.PYFUNCTYPE(result, *parameters)((name, ctypes.pythonapi))


_handlers: dict[bytes, Handler] = {}  # by the bytes that their function is bound to


def otherwise(function: bytes, arguments: tuple[Any, ...], reason: int) -> Any:
    """Handles a call of a built-in function that the library has not made."""
    return _handlers[function](arguments, reason)


_kept: list[Any] = []


def forever(value: T) -> T:
    """value, which is never freed: C code has its address, and may use it until the process ends.

    A reference from a module would end too early. When the interpreter ends, it clears the modules one after
    the other, and what one of them still held may use a tensor, a built-in function or a capsule even then.
    """
    try:
        prototype("Py_IncRef", None, py_object)(value)
    except AttributeError:  # an interpreter without a C API
        _kept.append(value)
    return value


# The traces of all threads, and one that never ends while functions of `to_static` are switched off. While there are none, no
# tensor is asked whether it is traced, and the library calls functions that were traced.
traces: list[int] = []
_tensor = forever(PythonTensor())  # the library reads it


def _object(value: Any) -> int:
    """The address of an object, which is kept alive."""
    return id(forever(value))


def _start() -> PythonEntries | None:
    """Initializes the built-in functions for this interpreter; None if it has none, and in workers, which load the library late."""
    if sys.implementation.name != "cpython" or not is_loaded():
        return None
    api, entries = PythonApi(ctypes.sizeof(PythonApi)), PythonEntries()
    objects = {
        "none": None, "yes": True, "no": False, "not_implemented": NotImplemented, "ellipsis": Ellipsis, "bool_type": bool, "int_type": int, "float_type": float,
        "tuple_type": tuple, "list_type": list, "str_type": str, "slice_type": slice, "dtype_type": _dtype.DType,
        "name_handle": sys.intern("_handle"), "name_shape": sys.intern("_shape"), "name_meta": sys.intern("_meta"),
        "name_number": sys.intern("number"), "name_dims": sys.intern("shape"), "name_latest": sys.intern("_latest"),
        "name_bound": sys.intern("bound"), "name_otherwise": sys.intern("_otherwise"), "name_start": sys.intern("start"),
        "name_stop": sys.intern("stop"), "name_step": sys.intern("step"), "traces": traces, "metas": metas,
        "dtypes": _dtype.NAMES, "describe": describe, "otherwise": otherwise,
    }  # fmt: skip
    for name in [field[0] for field in PythonApi._fields_[1:]]:
        if name.startswith("Py"):
            setattr(api, name, ctypes.addressof(c_char.in_dll(ctypes.pythonapi, name)))
        elif name == "tensor":
            api.tensor = ctypes.addressof(_tensor)
        else:
            setattr(api, name, _object(objects[name]))
    made: bool = quick.pmps_python_init(ctypes.byref(api), ctypes.byref(entries))
    return entries if made else None


try:
    _entries = _start()
    if _entries is not None:
        _new_function = prototype("PyCFunction_NewEx", py_object, POINTER(MethodDef), py_object, c_void_p)
        _new_method = prototype("PyDescr_NewMethod", py_object, py_object, POINTER(MethodDef))
except (AttributeError, ValueError):  # a function is missing
    _entries = None

_definitions: dict[str, MethodDef] = {}


def _definition(name: str, flags: int) -> MethodDef:
    """The PyMethodDef of an entry, made once."""
    if name not in _definitions:
        _definitions[name] = forever(MethodDef(name.encode(), getattr(_entries, name), flags, None))
    return _definitions[name]


def available() -> bool:
    """Whether this interpreter has built-in functions."""
    return _entries is not None


def builtin(
    kind: str, number: int, handler: Handler, lead: int = OPERANDS, operands: bytes = b"", attributes: bytes = b""
) -> Callable[..., Any]:
    """A function of one of the kinds of pmps_python_entries, for an operator or another thing with a number."""
    if _entries is None:
        return lambda *arguments: handler(arguments, UNUSUAL)
    head = _HEAD.pack(_entries.context, number, lead, len(operands), len(attributes), _KINDS.index(kind))
    bound = head + operands + attributes
    if kind != "idle":  # it never needs its handler, and there is one for each stream
        _handlers[bound] = handler
    made: Callable[..., Any] = _new_function(_definition(kind, _METH_FASTCALL), bound, None)
    return made


def forget(kind: str, number: int, lead: int = OPERANDS) -> None:
    """Drops the handler of a function without operands and attributes, which is called no more."""
    if _entries is not None:
        _handlers.pop(_HEAD.pack(_entries.context, number, lead, 0, 0, _KINDS.index(kind)), None)


def idle(what: int) -> Callable[[], bool]:
    """A cheap function: whether a stream, an event or a device has nothing to wait for and to report."""
    return builtin("idle", what, lambda arguments, reason: bool(quick.pmps_fast_idle(what)))


def method(kind: str, cls: type, arguments: bool = False) -> Any:
    """A method of a class, without arguments or with any; None if there are no built-in functions."""
    if _entries is None:
        return None
    return _new_method(cls, _definition(kind, _METH_FASTCALL | _METH_KEYWORDS if arguments else _METH_NOARGS))


def entries() -> PythonEntries:
    """The functions of the library; only where there are built-in functions."""
    assert _entries is not None
    return _entries


def place_link(offset: int) -> None:
    """Sets where links keep what they hold."""
    _tensor.link_offset = offset


def destructor() -> int:
    """The address of the destructor of capsules; 0 if there are no built-in functions."""
    return 0 if _entries is None else int(_entries.release)


def register(cls: type) -> None:
    """Sets the class of tensors."""
    _tensor.type = _object(cls)
    if _entries is not None and "t" not in sys.abiflags:  # without the global lock, a slot may change while it is read
        for name, offset in _offsets(cls).items():
            setattr(_tensor, f"{name}_offset", offset)


def register_parameter(cls: type) -> None:
    """Sets the class of parameters: a subclass of that of tensors with the same slots. Calls take both on the short way."""
    _tensor.parameter = _object(cls)


def _offsets(cls: type) -> dict[str, int]:
    """Where an object of the class of tensors keeps its class and its slots, in bytes; nothing if one of them is not found."""
    x: Any = object.__new__(cls)
    kept: dict[str, Any] = {"handle": object(), "shape": object(), "meta": object()}
    for name, mark in kept.items():
        setattr(x, f"_{name}", mark)
    words = list((c_void_p * (cls.__basicsize__ // ctypes.sizeof(c_void_p))).from_address(id(x)))
    for name in kept:
        delattr(x, f"_{name}")
    kept["type"] = cls
    if any(words.count(id(value)) != 1 for value in kept.values()):
        return {}
    return {name: words.index(id(value)) * ctypes.sizeof(c_void_p) for name, value in kept.items()}
