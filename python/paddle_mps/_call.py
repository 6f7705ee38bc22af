"""The way from Python into the library: operands and attributes in, tensors out.

The fast path serves one or two small tensors of one shape, which is what a loop over small data
does a million times. It makes one C call without conversions, and it frees nothing by itself:
`Tensor.__del__` notes the handles of small tensors in `pending`, and each call hands one of them
over. Everything else goes through `call`, which costs a few microseconds more.

A tensor has three slots. `_h` is its handle. `_e` is its shape if it is small and owns its memory,
the very same tuple for all tensors of that shape, else None; only tensors with a shape there are
freed late, because a view may hold on to something large. `_m` is what the library told about the
tensor, once it was asked.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import math
import operator
import struct
import threading
from collections.abc import Sequence
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from . import _dtype, _place
from ._errors import BusyError, check, last_failure
from ._ids import ASSIGN, MATMUL
from ._library import builtin, library, quick
from ._structs import TensorInfo

if TYPE_CHECKING:
    from ._dtype import DType
    from ._place import Place
    from ._tensor import Tensor

    Function = TypeVar("Function", bound=Callable[..., Any])
else:
    Tensor = None  # until `use`

SMALL = 4096  # elements; work on fewer takes a few microseconds and may keep the interpreter lock
SLICE_MS = 100  # how long to wait in the library, which cannot see a signal, before Python looks
HEAVY = 1 << 23  # elements; work on more takes 10 milliseconds and more
PRODUCTS = 64  # multiplications of a matrix product that take as long as one element of other work
BATCH = 64  # deferred handles that are too many to wait for the next operations

NONE = 0  # no handle
ANYWHERE = 2**64 - 1  # "where the tensors are", as a place

# pmps_arg_kind and pmps_attr_kind.
NOTHING, TENSOR, BOOL, INT, FLOAT = range(5)
A_BOOL, A_INT, A_FLOAT, A_INTS, A_DTYPE = range(1, 6)
LEFT = 16  # added to the kind of a scalar that stands left


new = object.__new__
pending: list[int] = []
defer = pending.append
free = quick.pmps_tensor_free
_shapes: dict[tuple[int, ...], tuple[int, ...]] = {}


def use(cls: type[Tensor]) -> None:
    """Says which class tensors are of: it is defined in a module that needs this one."""
    globals()["Tensor"] = cls


class Meta:
    """What the library says of a tensor. It never changes while the tensor keeps its handle."""

    __slots__ = ("dtype", "numel", "offset", "place", "shape", "storage", "strides")

    def __init__(self, info: TensorInfo) -> None:
        fields = _FIELDS.unpack_from(info)  # a structure is a buffer
        _, dtype, rank, kind, index = fields[:5]
        self.dtype: DType = _dtype.BY_NUMBER[dtype]
        self.place: Place = _place.of(kind, index)
        self.shape: tuple[int, ...] = fields[5 : 5 + rank]
        self.strides: list[int] = list(fields[14 : 14 + rank])
        self.numel: int
        self.offset: int
        self.storage: int
        self.numel, self.offset, self.storage = fields[23:]


# TensorInfo as a whole: reading its fields one by one costs more than the call that fills them in.
_FIELDS = struct.Struct("=Q4i9q9q2qQ")
_INFO_SIZE = ctypes.sizeof(TensorInfo)


def ask(handle: int) -> Meta:
    """Asks the library about a tensor."""
    info = TensorInfo(_INFO_SIZE)
    check(quick.pmps_tensor_get_info(handle, byref(info)))
    return Meta(info)


def meta(x: Tensor) -> Meta:
    """What the library says of x, asked once."""
    try:
        return x._m
    except AttributeError:
        x._m = m = ask(x._h)
        return m


def intern(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The one tuple for a shape, so that equal shapes are the same object."""
    if len(_shapes) > 4 * SMALL:
        _shapes.clear()  # tensors of an old tuple only take the longer path
    return _shapes.setdefault(shape, shape)


def view(handle: int) -> Tensor:
    """A tensor for a new handle to memory that others may hold as well."""
    x: Tensor = new(Tensor)
    x._h = handle
    x._e = None
    return x


def fresh(handle: int) -> Tensor:
    """A tensor for a new handle to memory of its own."""
    x: Tensor = new(Tensor)
    x._h = handle
    x._m = m = ask(handle)
    x._e = intern(m.shape) if m.numel <= SMALL else None
    if len(pending) > BATCH:
        flush()
    return x


def flush() -> None:
    """Frees what was deferred."""
    count = len(pending)
    if count:
        handles = (ctypes.c_uint64 * count)(*pending[:count])
        del pending[:count]
        quick.pmps_fast_release(handles, count)


def recover(function: Any, *arguments: Any) -> int:
    """The result of a fast call that has failed: one that was refused because it would have to wait, waits.

    Raises:
        Exception: what made the call fail.
    """
    error = last_failure()
    while isinstance(error, BusyError):
        while not library.pmps_fast_wait(SLICE_MS):
            pass  # here Python looks at signals
        admitted: int = function(*arguments)
        if admitted:
            return admitted
        error = last_failure()
    raise error


def heavy(op: int, operands: Sequence[Any], attributes: Sequence[Any] = ()) -> bool:
    """Whether a call works on the CPU place, where it is over when it returns, for long enough to be waited for."""
    size = 0
    for x in operands:
        if x.__class__ is Tensor:
            m = meta(x)
            if m.place.kind != _place.CPU:
                return False
            if op == MATMUL and size and m.shape:
                size *= m.shape[-1] // PRODUCTS
            size += m.numel
    for given in attributes:
        if given is not None and given[0] == "shape":
            size += math.prod(given[2])
    return size > HEAVY


def patiently(function: Any, *arguments: Any) -> int:
    """Calls a fast function in a thread of its own, so that this one can look at signals meanwhile.

    What is interrupted is finished all the same, and its result dropped.

    Raises:
        Exception: what made the call fail.
        KeyboardInterrupt: and whatever else a signal handler raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*arguments) or recover(function, *arguments)
    ended: list[int | Exception] = []
    wanted = True

    def work() -> None:
        ended.append(function(*arguments) or last_failure())
        if not wanted and isinstance(ended[0], int) and function is not library.pmps_fast_call_into:
            defer(ended[0])

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        while thread.is_alive():
            thread.join(SLICE_MS / 1000)
    except BaseException:
        wanted = False
        raise
    result = ended[0]
    if isinstance(result, Exception):
        if isinstance(result, BusyError):
            return function(*arguments) or recover(function, *arguments)
        raise result
    return result


def collect() -> None:
    """Frees every tensor that the program cannot reach any more."""
    flush()
    gc.collect()
    flush()


def scalar(value: object) -> tuple[int, int | float] | None:
    """(kind, number) of a Python or NumPy scalar, None for what is no scalar.

    Raises:
        ValueError: an integer does not fit into 64 bits.
        TypeError: a complex number; there are no complex dtypes.
    """
    if isinstance(value, (bool, np.bool_)):
        return BOOL, int(value)
    if isinstance(value, (int, np.integer)):
        number = int(value)
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"[scalar] got {number}; want an integer of 64 bits")
        return INT, number
    if isinstance(value, (float, np.floating)):
        return FLOAT, float(value)
    if isinstance(value, (complex, np.complexfloating)):
        raise TypeError(f"[scalar] got the complex number {value}; want a bool, an int or a float")
    return None


def word(kind: int, number: float) -> int:
    """The bits of a scalar: of an int64 or of a double."""
    if kind == FLOAT:
        bits: int = struct.unpack("=Q", struct.pack("=d", number))[0]
        return bits
    return int(number) & (2**64 - 1)


_OPERAND = struct.Struct("=IIQ")


def operand(x: object) -> bytes:
    """A pmps_arg: a tensor, a scalar, or None for an optional operand that is not given."""
    if isinstance(x, Tensor):
        return _OPERAND.pack(TENSOR, 0, x._h)
    if x is None:
        return struct.pack("=IIQ", NOTHING, 0, 0)
    known = scalar(x)
    if known is None:
        raise TypeError(f"[operand] got {type(x).__name__}; want a Tensor, a bool, an int or a float")
    return struct.pack("=IId" if known[0] == FLOAT else "=IIq", known[0], 0, known[1])


def tensor(x: object, function: str, name: str) -> Tensor:
    """x, which must be a tensor.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(x, Tensor):
        return x
    raise ValueError(f"[{function}] argument {name} is {type(x).__name__}; want a Tensor")


def flag(name: str, value: Any) -> Any:
    """A bool attribute. Numbers 0 and 1 and 0-d tensors will do; other types are TypeErrors."""
    if isinstance(value, (bool, np.bool_, int, Tensor)):
        return name, A_BOOL, int(bool(value))
    raise TypeError(f"[{name}] got {type(value).__name__}; want a bool")


def integer(name: str, value: Any) -> Any:
    """An int attribute, from whatever Python takes for an index; None: the default."""
    return None if value is None else (name, A_INT, index(name, value))


def index(name: str, value: Any) -> int:
    """A whole number; a float or a string is a TypeError."""
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"[{name}] got {value!r}; want an int") from None


def number(name: str, value: Any) -> Any:
    """A float attribute. Its bits are the value here, because 0.0 == -0.0 and nan != nan."""
    if isinstance(value, (str, bytes)) or value is None:
        raise TypeError(f"[{name}] got {value!r}; want a number")
    return name, A_FLOAT, word(FLOAT, float(value))


def whole(name: str, value: Any) -> tuple[int, ...]:
    """Whole numbers: one, a list or tuple of them (0-d tensors among them), or a tensor or array."""
    if isinstance(value, (Tensor, np.ndarray)) and value.ndim > 0:
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return tuple([index(name, v) for v in value])
    return (index(name, value),)


def integers(name: str, value: Any) -> Any:
    """An attribute of several ints; None: the default."""
    return None if value is None else (name, A_INTS, whole(name, value))


def element_type(name: str, value: Any) -> Any:
    """A dtype attribute; None: the default."""
    return None if value is None else (name, A_DTYPE, _dtype.dtype(value).number)


def either(name: str, value: Any) -> Any:
    """An attribute that is a bool, an int or a float, whichever was given."""
    known = scalar(value)
    if known is None:
        raise TypeError(f"[{name}] got {type(value).__name__}; want a bool, an int or a float")
    kind, given = known
    return name, {BOOL: A_BOOL, INT: A_INT, FLOAT: A_FLOAT}[kind], word(kind, given)


@functools.lru_cache(maxsize=1024)
def packed(attributes: Sequence[Any]) -> tuple[bytes, int, Any]:
    """An array of pmps_attr, its length, and what it points to. The same attributes come often."""
    records, kept = [], []
    for given in attributes:
        if given is None:
            continue
        name, kind, value = given
        count = 0
        if kind == A_INTS:
            numbers = (ctypes.c_int64 * len(value))(*value)
            kept.append(numbers)
            count, value = len(value), ctypes.addressof(numbers)
        records.append(struct.pack("=20sIQq", name.encode(), kind, value & (2**64 - 1), count))
    return b"".join(records), len(records), kept


def call(
    op: int,
    operands: Sequence[Any],
    attributes: Sequence[Any] = (),
    out: Tensor | None = None,
    place: int = ANYWHERE,
) -> Tensor:
    """Runs an operator with one result, in new memory or in out."""
    args = b"".join([operand(x) for x in operands])
    attrs, count, _ = packed(tuple(attributes))
    arguments = op, args, len(operands), attrs, count, place, NONE
    if place in (ANYWHERE, NONE) and heavy(op, operands, attributes):
        handle = patiently(library.pmps_fast_call, *arguments)
    else:
        handle = library.pmps_fast_call(*arguments) or recover(library.pmps_fast_call, *arguments)
    return deliver(fresh(handle), out)


def call_view(op: int, x: Tensor, attributes: Sequence[Any]) -> Tensor:
    """Runs an operator whose result may share memory with x."""
    attrs, count, _ = packed(tuple(attributes))
    arguments = op, operand(x), 1, attrs, count, ANYWHERE, NONE
    return view(quick.pmps_fast_call(*arguments) or recover(quick.pmps_fast_call, *arguments))


def call_many(op: int, operands: Sequence[Any], attributes: Sequence[Any], most: int) -> list[Tensor]:
    """Runs an operator with up to `most` results."""
    args = b"".join([operand(x) for x in operands])
    attrs, count, _ = packed(tuple(attributes))
    handles, made = (ctypes.c_uint64 * most)(), ctypes.c_size_t(most)
    check(library.pmps_op_call(op, args, len(operands), attrs, count, handles, byref(made)))
    return [fresh(handles[i]) for i in range(made.value)]


def call_into(op: int, operands: Sequence[Any], attributes: Sequence[Any], out: Tensor) -> None:
    """Runs an operator whose result is cast to the dtype of out and written there."""
    args = b"".join([operand(x) for x in operands])
    attrs, count, _ = packed(tuple(attributes))
    arguments = op, args, len(operands), attrs, count, out._h, NONE
    if heavy(op, (*operands, out), attributes):
        patiently(library.pmps_fast_call_into, *arguments)
    elif not library.pmps_fast_call_into(*arguments):
        recover(library.pmps_fast_call_into, *arguments)


def deliver(result: Tensor, out: Tensor | None) -> Tensor:
    """The result, or out after it took the result, with its shape and dtype, as in Paddle."""
    if out is None:
        return result
    become(tensor(out, "out", "out"), result)
    return out


def become(x: Tensor, result: Tensor) -> None:
    """Gives x the value of result: in its own memory if shape and dtype allow, else in result's."""
    mine, its = meta(x), meta(result)
    if mine.shape == its.shape and mine.dtype is its.dtype and mine.place == its.place:
        call_into(ASSIGN, (result,), (), x)
    else:
        swap(x, result)


def swap(x: Tensor, result: Tensor) -> None:
    """x becomes another handle to what result is."""
    made = ctypes.c_uint64()
    check(quick.pmps_tensor_retain(result._h, byref(made)))
    old = x._h
    x._h, x._e, x._m = made.value, None, ask(made.value)
    free(old)


@functools.cache
def entry(name: str, op: int) -> Callable[..., int]:
    """The built-in function of an operator, made once."""
    made: Callable[..., int] = builtin(name, op)
    return made


def unary(op: int, x: Any, out: Tensor | None = None) -> Tensor:
    """Runs an operator of one operand and no attributes, whose result has the operand's shape."""
    if out is None and x.__class__ is Tensor and x._e is not None:
        function = entry("unary", op)
        return beside(x, function(x._h, release()) or recover(function, x._h, NONE))
    return call(op, (tensor(x, "operator", "x"),), (), out)


def release() -> int:
    """A deferred handle for the next call to free, or none."""
    try:
        return pending.pop() if pending else NONE
    except IndexError:  # another thread took the last one
        return NONE


def beside(x: Tensor, handle: int) -> Tensor:
    """A tensor for a new handle to memory of its own, with the shape of the small tensor x."""
    result: Tensor = new(Tensor)
    result._h = handle
    result._e = x._e
    return result


def binary(op: int, x: Tensor, y: Any, left: int = 0) -> Any:
    """Runs an operator of two operands as an expression does; NotImplemented if y is none.

    left is LEFT for y op x; NumPy arrays become tensors beside x.
    """
    if isinstance(y, Tensor):
        return two(op, x, y)
    known = scalar(y)
    if known is not None:
        return with_scalar(op, x, known[0] + left, word(*known))
    if isinstance(y, np.ndarray):
        from ._creation import from_array  # creation needs this module

        other = from_array(y, meta(x).place)
        return two(op, other, x) if left else two(op, x, other)
    if isinstance(y, (str, bytes)):  # == and != of other things are False and True, as in Python
        raise TypeError(f"[operator] got a Tensor and {y!r}; want a Tensor, an array or a number")
    return NotImplemented


def two(op: int, x: Tensor, y: Tensor) -> Tensor:
    """Runs an operator on two tensors of any size; a large result is computed without the lock."""
    small = meta(x).numel * meta(y).numel <= SMALL
    function = (quick if small else library).pmps_fast_binary
    if not small and heavy(op, (x, y)):
        return fresh(patiently(function, op, x._h, y._h, NONE))
    return fresh(function(op, x._h, y._h, NONE) or recover(function, op, x._h, y._h, NONE))


def with_scalar(op: int, x: Tensor, kind: int, bits: int) -> Tensor:
    """Runs an operator on a tensor and a scalar of a kind."""
    if x._e is None:
        arguments = op, x._h, kind, bits, NONE
        if heavy(op, (x,)):
            return fresh(patiently(library.pmps_fast_scalar, *arguments))
        return fresh(library.pmps_fast_scalar(*arguments) or recover(library.pmps_fast_scalar, *arguments))
    function = entry("scalar", op)
    return beside(x, function(x._h, kind, bits, release()) or recover(function, x._h, kind, bits, NONE))


def expression(op: int, name: str) -> Callable[[Tensor, Any], Any]:
    """The method for `x op y`."""
    fast = entry("binary", op)
    pop = pending.pop

    def method(x: Tensor, y: Any) -> Any:
        shape = x._e
        if y.__class__ is Tensor and y._e is shape and shape is not None:
            try:
                handle = fast(x._h, y._h, pop() if pending else NONE)
            except IndexError:  # another thread took the last one
                handle = fast(x._h, y._h, NONE)
            if not handle:
                handle = recover(fast, x._h, y._h, NONE)
            result: Tensor = new(Tensor)
            result._h = handle
            result._e = shape
            return result
        return binary(op, x, y)

    method.__name__ = method.__qualname__ = name
    return method


def reflected(op: int, name: str) -> Callable[[Tensor, Any], Any]:
    """The method for `y op x`, where y is no tensor."""

    def method(x: Tensor, y: Any) -> Any:
        return binary(op, x, y, LEFT)

    method.__name__ = method.__qualname__ = name
    return method


def renamed(**names: str) -> Callable[[Function], Function]:
    """Accepts further keywords for parameters: @renamed(input="x") takes f(input=...) for f(x=...).

    Giving a parameter under both names, or by position as well, is a TypeError.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            for alias, parameter in names.items() if kwargs else ():
                if alias in kwargs:
                    if parameter in kwargs:
                        raise TypeError(f"[{function.__name__}] got {alias}= and {parameter}=; want one of them")
                    kwargs[parameter] = kwargs.pop(alias)
            return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate
