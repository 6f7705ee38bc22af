"""Tensors as objects: how one is made from a handle, described and freed.

A tensor has three slots, one for what a program marks it with, its name and attributes of the program's own, and one that is empty
but for the time of a collection. `_handle` is its handle in the library, which it
owns. `_meta` is its description by the library, None until it is needed. `_shape` is its shape if it is small and
owns its memory, one tuple for all tensors of that shape, else None. Only tensors with a `_shape` are freed late,
because a view may keep a large storage alive.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from . import _builtin, _dtype
from ._caller import called
from ._errors import TracingError, check, last_failure
from ._library import library, quick
from ._meta import Meta, describe, intern, metas
from ._structs import GradInfo, TensorInfo

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec, TypeVar

    from ._place import Place
    from ._typing import Tensor

    P = ParamSpec("P")
    R = TypeVar("R")

SMALL = 4096  # elements; work on fewer takes a few microseconds and may keep the interpreter lock

new = object.__new__


put = object.__setattr__
attributes: set[str] = set()  # names that programs have given to attributes of tensors


class Attribute:
    """An attribute of tensors that a program has set on one of them. The others do not have it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, x: Base | None, owner: type | None = None) -> Any:
        marks = getattr(x, "_marks", {})
        if self.name not in marks:
            raise AttributeError(
                f"{'type object ' * (x is None)}'Tensor' {'object ' * (x is not None)}has no attribute {self.name!r}"
            )
        return marks[self.name]

    def __set__(self, x: Base, value: Any) -> None:
        if not hasattr(x, "_marks"):
            _set_marks(x, {})
        x._marks[self.name] = value

    def __delete__(self, x: Base) -> None:
        self.__get__(x)
        del x._marks[self.name]


class Base:
    """The part of a tensor that owns its handle."""

    __slots__ = ("__weakref__", "_handle", "_link", "_marks", "_meta", "_shape")

    _handle: int
    _link: Any  # while a collection runs: see _holding.py
    _marks: dict[str, Any]  # what a program has set: name, persistable, attributes of its own; absent at first
    _meta: Meta
    _shape: tuple[int, ...] | None

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; one that tensors do not have becomes the program's own, as in Paddle.

        A `__dict__` would make each tensor larger and slower to make. So the first of a name adds a descriptor to the class.
        """
        try:
            put(self, name, value)
        except AttributeError:
            if any(name in vars(cls) for cls in type(self).__mro__):  # of a property or a method
                raise
            attributes.add(name)
            setattr(Base, name, Attribute(name))
            put(self, name, value)

    def __del__(self, free: Callable[[int], None] = quick.pmps_tensor_free) -> None:
        handle = getattr(self, "_handle", 0)  # absent if the tensor could not be completed
        if handle:
            free(handle)


# What __setattr__ does for the slots, without its cost.
_set_handle, _set_marks, _set_meta, _set_shape = (
    vars(Base)[name].__set__ for name in ("_handle", "_marks", "_meta", "_shape")
)

# A built-in function where possible: while Python code runs, a signal handler may raise, and in __del__ that
# exception would be lost, and the handle with it.
Base.__del__ = _builtin.method("free", Base) or Base.__del__  # type: ignore[method-assign]


if not TYPE_CHECKING:
    Tensor = Base  # what is a tensor, for isinstance; the class itself is made of what stands above this module

_class: list[type[Tensor]] = []


def register(cls: type[Tensor]) -> type[Tensor]:
    """Sets the class of tensors. It is defined in a module that imports this one."""
    _class.append(cls)
    _builtin.register(cls)
    return cls


def method(function: Callable[Concatenate[Tensor, P], R]) -> Callable[Concatenate[Tensor, P], R]:
    """A function in the table of methods of its family: its first parameter is the tensor, and so not left out."""
    return function


def information(handle: int) -> TensorInfo:
    """The library's description of a tensor."""
    found = TensorInfo(ctypes.sizeof(TensorInfo))
    check(quick.pmps_tensor_get_info(handle, byref(found)))
    return found


def _described(arguments: tuple[Any, ...], reason: int) -> Meta:
    """The Meta of a handle, by the structure of the header."""
    if reason == _builtin.FAILED:
        raise last_failure()
    info = information(*arguments)
    numbers = *info.dims[: info.rank], *info.strides[: info.rank]
    head = info.dtype, info.rank, info.place.kind, info.place.index
    key = bytes((ctypes.c_int32 * 4)(*head)) + bytes((ctypes.c_int64 * len(numbers))(*numbers))
    return metas.get(key) or describe(key)


ask: Callable[[int], Meta] = _builtin.builtin("describe", 0, _described)


def meta(x: Tensor) -> Meta:
    """The library's description of x, which is requested once."""
    try:
        return x._meta
    except AttributeError:
        pass
    while True:
        handle = x._handle
        found = ask(handle)
        _set_meta(x, found)
        if x._handle == handle:
            return found
        del x._meta  # another thread has replaced the tensor meanwhile


def view(handle: int) -> Tensor:
    """A tensor that owns a new handle, whose memory other tensors may share."""
    x: Tensor = new(_class[-1])
    _set_shape(x, None)
    _set_handle(x, handle)
    return x


def fresh(handle: int) -> Tensor:
    """A tensor that owns a new handle to memory that no other tensor shares."""
    x = view(handle)
    m = ask(handle)
    _set_meta(x, m)
    _set_shape(x, m.shape if m.numel <= SMALL else None)
    return x


def _flushed(arguments: tuple[Any, ...], reason: int) -> int:
    return 0  # without built-in functions no free is deferred


flush = _builtin.builtin("flush", 0, _flushed)  # frees the tensors whose free was deferred


def collect() -> None:
    """Frees every tensor that the program cannot reach any more."""
    flush()
    gc.collect()
    flush()


def retained(handle: int) -> Tensor:
    """A tensor over the memory of a handle, which stays its owner's."""
    made = ctypes.c_uint64()
    check(quick.pmps_tensor_retain(handle, byref(made)))
    return view(made.value)


_replacing = threading.Lock()
asked: list[bool] = []  # not empty once a tensor of the program has asked for a gradient: until then none is looked for


def is_grad_enabled() -> bool:
    """Whether operators are recorded by this thread: True at first."""
    enabled = bool(quick.pmps_grad_set_enabled(True))
    quick.pmps_grad_set_enabled(enabled)
    return enabled


def grad_info(x: Tensor) -> GradInfo:
    """What the library knows of a tensor's gradient."""
    found = GradInfo(ctypes.sizeof(GradInfo))
    check(quick.pmps_tensor_get_grad_info(x._handle, byref(found)))
    return found


def graded_leaf(x: Tensor, name: str) -> bool:
    """Whether x is a leaf with a gradient, which may be changed in place under no_grad alone.

    Raises:
        ValueError: it is one, and recording is on.
    """
    if not asked:
        return False
    found = grad_info(x)
    if not (found.requires_grad and found.is_leaf):
        return False
    if is_grad_enabled():
        raise ValueError(f"[{name}] x is a leaf with stop_gradient=False; want no_grad() to change it in place")
    return True


def made_here(x: Tensor) -> bool:
    """Whether the function that this thread traces has made x of elements, as `to_tensor` does."""
    return bool(information(x._handle).made_here)


def replace(x: Tensor, result: Tensor) -> None:
    """Replaces the handle of x by another one to the view of result."""
    made = ctypes.c_uint64()
    with _replacing:  # else another thread might free the handle of x that this one has read
        check(quick.pmps_tensor_replace(x._handle, result._handle, byref(made)))
    described = ask(made.value)
    if _builtin.traces and information(made.value).traced and not (information(x._handle).traced or made_here(x)):
        quick.pmps_tensor_free(made.value)
        raise TracingError("[jit] a traced function gives a tensor another shape in place; want a new tensor")
    if graded_leaf(x, "in place"):
        check(quick.pmps_tensor_set_requires_grad(made.value, True))
    with _replacing:
        old = x._handle
        # In this order: what another thread reads meanwhile leads it to the longer path, or is asked anew.
        _set_shape(x, None)
        _set_handle(x, made.value)
        _set_meta(x, described)
    quick.pmps_tensor_free(old)


def blank(shape: tuple[int, ...], dtype: _dtype.DType, place: Place) -> Tensor:
    """A tensor with undefined elements."""
    handle = ctypes.c_uint64()
    array = (ctypes.c_int64 * len(shape))(*shape)
    check(library.pmps_tensor_empty(byref(place.target), dtype.number, len(shape), array, byref(handle)))
    return fresh(handle.value)


def memory(x: Tensor) -> np.ndarray[Any, Any]:
    """The elements of a contiguous tensor on the CPU that is not empty, as an array over its memory, after work on it is done.

    It is valid while the tensor lives, and while no other thread may give x other memory: hold what `retained` makes of x.
    """
    m = meta(x)
    room = (ctypes.c_char * (m.numel * m.dtype.itemsize)).from_address(x.data_ptr())
    return np.frombuffer(memoryview(room), m.dtype.numpy).reshape(m.shape)


def address(array: np.ndarray[Any, Any]) -> int:
    """Where the elements of an array are.

    NumPy imports a module for `ctypes`, which fails when the interpreter is ending. The other way is slower.
    """
    try:
        return array.ctypes.data
    except ImportError:
        return int(array.__array_interface__["data"][0])


def from_array(array: np.ndarray[Any, Any], place: Place) -> Tensor:
    """A tensor with a copy of an array; arrays of uint16 hold bfloat16."""
    kind = _dtype.BY_NUMPY.get(array.dtype)
    if kind is None:
        names = ", ".join(str(d) for d in _dtype.BY_NUMPY)
        raise ValueError(f"[{called('to_tensor')}] the data is {array.dtype}; want one of {names}")
    data = array if array.flags.c_contiguous else np.ascontiguousarray(array).reshape(array.shape)
    shape = (ctypes.c_int64 * data.ndim)(*data.shape)
    handle = ctypes.c_uint64()
    start = ctypes.c_void_p(address(data))
    check(library.pmps_tensor_from_host(byref(place.target), kind.number, data.ndim, shape, start, byref(handle)))
    return fresh(handle.value)


__all__ = [
    "SMALL",
    "Base",
    "Meta",
    "Tensor",
    "address",
    "ask",
    "blank",
    "collect",
    "flush",
    "fresh",
    "from_array",
    "information",
    "intern",
    "made_here",
    "memory",
    "meta",
    "method",
    "new",
    "register",
    "replace",
    "retained",
    "view",
]  # fmt: skip
