"""Calls from Python into the library: operators as functions of their operands and attributes.

`operator` makes such a function for a row of the table; they are in `_operators`. It is a built-in function,
which reads the usual arguments itself and returns tensors. Calls with other arguments, failures and long calls
are passed to `Operator.otherwise`, which uses ctypes: `call`, `call_into` and `call_many`. The functions for
`x + y` are faster still, and only for small tensors of one shape.
"""

from __future__ import annotations

import copy
import ctypes
import functools
import math
import struct
from collections.abc import Sequence
from ctypes import byref
from typing import Any, Callable, Literal, TypeVar, overload

import numpy as np

from .._core import _dtype, _place
from .._core._builtin import FAILED, HEAVY, OPERANDS, OPTIONAL, OUTPUT, PLACE, SCALAR, VARIADIC, builtin, traces
from .._core._caller import called
from .._core._convert import (
    A_FLOATS,
    A_INTS,
    A_STRING,
    A_STRINGS,
    ATTRIBUTES,
    FLOAT,
    INT,
    NOTHING,
    TENSOR,
    TYPES,
    either,
    element_type,
    flag,
    index,
    integer,
    integers,
    listed,
    number,
    operand,
    scalar,
    tensor,
    value_of_attribute,
    whole,
    word,
)
from .._core._errors import BusyError, UnsupportedError, check, last_failure, rename
from .._core._ids import ASSIGN, CAST, MATMUL
from .._core._library import library, quick
from .._core._meta import Meta
from .._core._objects import SMALL, Tensor, collect, flush, fresh, meta, replace, retained, view
from .._core._recording import asks
from .._core._worker import SLICE_MS, run
from .._devices import _default_place
from . import _complex

Function = TypeVar("Function", bound=Callable[..., Any])

HEAVY_WORK = 1 << 23  # elements; work on more takes 10 milliseconds and more
PRODUCTS = 64  # multiplications of a matrix product that take as long as one element of other work

NONE = 0  # no handle
ANYWHERE = 2**64 - 1  # "where the tensors are", as a place
LEFT = 16  # added to the kind of a scalar that is the first operand


def again(function: Any, *arguments: Any) -> int:
    """The result of a fast call that has failed: if it was refused because it would have to wait, this waits.

    Raises:
        Exception: what made the call fail.
    """
    error = last_failure()
    while isinstance(error, BusyError):
        while not library.pmps_fast_wait(SLICE_MS):
            pass  # here Python handles signals
        admitted: int = function(*arguments)
        if admitted:
            return admitted
        error = last_failure()
    raise error


def heavy(op: int, operands: Sequence[Any], attributes: Sequence[Any] = ()) -> bool:
    """Whether a call runs on the CPU place, which computes before it returns, and takes long."""
    size = 0
    for x in operands:
        if isinstance(x, Tensor):
            m = meta(x)
            if m.place.kind != _place.CPU:
                return False
            if op == MATMUL and size and m.shape:
                size *= m.shape[-1] // PRODUCTS
            size += m.numel
    for given in attributes:
        if given is not None and given[0] == "shape":
            size += math.prod(given[2])
    return size > HEAVY_WORK


@functools.lru_cache(maxsize=1024)
def packed(attributes: Sequence[Any]) -> tuple[bytes, int, Any]:
    """An array of pmps_attr, its length, and the memory that it points to. Cached, because attributes repeat."""
    records, kept = [], []
    for given in attributes:
        if given is None:
            continue
        name, kind, value = given
        count, pointed = 0, pointed_to(kind, value)
        if pointed is not None:
            kept.append(pointed)
            count, value = len(value), ctypes.addressof(pointed)
        text = ctypes.create_string_buffer(name.encode())
        kept.append(text)
        records.append(struct.pack("=QIIQq", ctypes.addressof(text), kind, 0, value & (2**64 - 1), count))
    return b"".join(records), len(records), kept


def pointed_to(kind: int, value: Any) -> Any:
    """The memory of an attribute's value; None for one that is its bits."""
    if kind == A_INTS:
        return (ctypes.c_int64 * len(value))(*value)
    if kind == A_FLOATS:
        return (ctypes.c_uint64 * len(value))(*value)
    if kind == A_STRING:
        return ctypes.create_string_buffer(value)
    if kind == A_STRINGS:
        return (ctypes.c_char_p * len(value))(*value)
    return None


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

    def work() -> Tensor:
        return fresh(library.pmps_fast_call(*arguments) or again(library.pmps_fast_call, *arguments))

    made = run(work) if place in (ANYWHERE, NONE) and heavy(op, operands, attributes) else work()
    return into(out, made)


def call_view(op: int, operands: Sequence[Any], attributes: Sequence[Any]) -> Tensor:
    """Runs an operator whose result may share memory with its operand."""
    attrs, count, _ = packed(tuple(attributes))
    arguments = op, b"".join([operand(x) for x in operands]), len(operands), attrs, count, ANYWHERE, NONE
    return view(library.pmps_fast_call(*arguments) or again(library.pmps_fast_call, *arguments))


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
    arguments = op, args, len(operands), attrs, count, out._handle, NONE

    def work() -> None:
        if not library.pmps_fast_call_into(*arguments):
            again(library.pmps_fast_call_into, *arguments)

    if heavy(op, (*operands, out), attributes):
        run(work)
    else:
        work()


class Operator:
    """A row of the table, as its function needs it.

    Args:
        number, name: of the operator.
        operands: their names; behind one "?" if a number is welcome, "=" if None is, "*" for a list of
            tensors.
        attributes: as "axis:ints", with a type of `ATTRIBUTES`.
        lead: what stands before the operands of the function.
        result: "one" tensor with memory of its own, a "view" of an operand, or "many".
        keeps: kinds of dtypes, of "bool int float": if the operands are tensors of one such dtype, the result has it, too. "test":
            the result is always bool.
    """

    def __init__(
        self, number: int, name: str, operands: str, attributes: str, lead: int, result: str, keeps: str = ""
    ) -> None:
        self.number, self.name, self.lead, self.result, self.keeps = number, name, lead, result, keeps
        self.results = results(keeps)
        self.operands = [(o.rstrip("?=*"), sum(KINDS[c] for c in o if c in KINDS)) for o in operands.split()]
        pairs = [a.partition(":") for a in attributes.split()]
        self.attributes = [(name, kind) for name, _, kind in pairs]
        _names[number] = name

    def function(self) -> Callable[..., Any]:
        """The function: its arguments are the lead, the operands and the attributes; None stands for a default."""
        kinds = bytes([kind for _, kind in self.operands])
        types = bytes([TYPES[a[1]] for a in self.attributes])
        made = builtin("call", self.number, self.otherwise, self.lead, kinds, types)
        _operators[made] = self
        return made

    def otherwise(self, arguments: tuple[Any, ...], reason: int) -> Any:
        """Handles a call that the built-in function has not made; its errors name the function that the program called."""
        try:
            return self._made(arguments, reason)
        except Exception as error:
            rename(error, [self.name], called(self.name))
            raise

    def _made(self, arguments: tuple[Any, ...], reason: int) -> Any:
        """Makes a call that the built-in function has not made. What the library refuses may be complex."""
        error = last_failure() if reason == FAILED else None
        if isinstance(error, UnsupportedError):
            return self._complex(arguments, error)
        if self.number == CAST and isinstance(error, TypeError):
            away = _default_place.casts[0](*arguments[:2])
            if away is not None:
                return away
        if error is not None and not isinstance(error, BusyError):
            raise error
        try:
            return self._real(arguments, reason)
        except (UnsupportedError, TypeError) as refusal:
            return self._complex(arguments, refusal)

    def _complex(self, arguments: tuple[Any, ...], error: Exception) -> Any:
        """What NumPy computes of complex operands; raises the error of the library if it is about something else."""
        if not _complex.concerned(arguments):
            raise error
        first = 0 if self.lead == OPERANDS else 1
        last = first + len(self.operands)
        operands = self._operands(arguments[first:last], _complex.NUMBERS)
        attributes = [self._attribute(name, kind, v) for (name, kind), v in zip(self.attributes, arguments[last:])]
        result = _complex.answer(
            self.name, operands, {a[0]: value_of_attribute(a) for a in attributes if a is not None}
        )
        if result is None:
            raise error
        return assign_into(arguments[0], result) if self.lead == OUTPUT else result

    def _real(self, arguments: tuple[Any, ...], reason: int) -> Any:
        first = 0 if self.lead == OPERANDS else 1
        last = first + len(self.operands)
        operands = self._operands(arguments[first:last])
        attributes = [self._attribute(name, kind, v) for (name, kind), v in zip(self.attributes, arguments[last:])]
        work = functools.partial(self._call, arguments[0] if first else None, operands, attributes)
        return run(work) if reason == HEAVY else work()

    def _operands(self, given: Sequence[Any], also: tuple[type[Any], ...] = ()) -> list[Any]:
        """The operands, one after the other, after a check that each is a tensor or, where one is welcome, a number."""
        flat: list[Any] = []
        for (name, kind), x in zip(self.operands, given):
            if kind & VARIADIC:
                flat += listed(x, self.name, name)
            elif x is None and kind & OPTIONAL:
                flat.append(x)
            elif kind & SCALAR:
                if not isinstance(x, (Tensor, *also)) and scalar(x) is None:
                    raise TypeError(
                        f"[{self.name}] {name} is {type(x).__name__}; want a Tensor, a bool, an int or a float"
                    )
                flat.append(x)
            else:
                flat.append(tensor(x, self.name, name))
        return flat

    def _attribute(self, name: str, kind: str, value: Any) -> Any:
        """An attribute; its errors name the operator if no other function has been called."""
        try:
            return ATTRIBUTES[kind](name, value)
        except (TypeError, ValueError) as error:
            text = str(error)
            if not text.startswith(f"[{name}] "):
                raise
            raise type(error)(f"[{self.name}] {text[len(name) + 3 :]}") from None

    def _call(self, lead: Any, operands: list[Any], attributes: list[Any]) -> Any:
        """Makes a call through ctypes."""
        if self.lead == OUTPUT:
            return call_into(self.number, operands, attributes, tensor(lead, self.name, "out"))
        if self.result == "many":
            return call_many(self.number, operands, attributes, MOST_RESULTS)
        if self.result == "view":
            return call_view(self.number, operands, attributes)
        return call(self.number, operands, attributes, None, ANYWHERE if lead is None else lead)


@functools.cache
def results(keeps: str) -> dict[int, _dtype.DType]:
    """The dtype of the result by the number of that of the operands, as `Operator.keeps` says it."""
    if keeps == "test":
        return {d.number: _dtype.bool_ for d in _dtype.ALL}
    return {d.number: d for d in _dtype.ALL if any(word in d.name for word in keeps.split())}


_operators: dict[Callable[..., Any], Operator] = {}  # by their functions
_names: dict[int, str] = {}  # by their numbers
KINDS = {"?": SCALAR, "=": OPTIONAL, "*": VARIADIC}
MOST_RESULTS = 1 << 12


@overload
def operator(
    number: int, name: str, operands: str, attributes: str = "", lead: int = OPERANDS, *, result: Literal["many"]
) -> Callable[..., list[Tensor]]: ...
@overload
def operator(
    number: int,
    name: str,
    operands: str,
    attributes: str = "",
    lead: int = OPERANDS,
    *,
    result: Literal["one", "view"] = "one",
    keeps: str = "",
) -> Callable[..., Tensor]: ...
def operator(
    number: int,
    name: str,
    operands: str,
    attributes: str = "",
    lead: int = OPERANDS,
    *,
    result: str = "one",
    keeps: str = "",
) -> Callable[..., Any]:
    """The function of a row of the table: see `Operator`."""
    return Operator(number, name, operands, attributes, lead, result, keeps).function()


@functools.cache
def writer(function: Callable[..., Any]) -> Callable[..., None]:
    """The function of an operator that takes a tensor first, into which it writes the result."""
    row = copy.copy(_operators[function])
    row.lead = OUTPUT
    return row.function()


def into(out: Tensor | None, result: Tensor) -> Tensor:
    """The result, or out after it took the result, with its shape and dtype, as in Paddle."""
    if out is None:
        return result
    take(out if isinstance(out, Tensor) else tensor(out, called("out"), "out"), result)
    return out


def computed(out: Tensor, function: Callable[..., Tensor], *arguments: Any) -> Tensor:
    """`into(out, function(*arguments))`, computed in the memory of out if the result is known to fit: see `written`."""
    return out if written(out, function, *arguments) else into(out, function(*arguments))


def written(out: Any, function: Callable[..., Tensor], *arguments: Any) -> bool:
    """Computes function(*arguments) in the memory of out if the result is known to fit, and says whether it has.

    It is known to have the shape and the place of out if an operand has these and the other tensors broadcast to it, and its
    dtype if `Operator.keeps` says so; Python numbers of the kind of that dtype do not change it. What is traced or recorded for
    gradients is left to the caller.
    """
    if traces or not isinstance(out, Tensor):
        return False
    row, mine, kind, alike = _operators[function], meta(out), None, False
    operands = arguments[: len(row.operands)]
    others = False
    for x in operands:
        if not isinstance(x, Tensor):
            others = True
            continue
        m = meta(x)
        if kind is None:
            kind = m.dtype
        if m.dtype is not kind:
            return False
        if m is mine or (m.shape == mine.shape and m.place == mine.place):  # metas are often one object
            alike = True
        elif not beside(m, mine):
            return False
    if not alike or kind is None or row.results.get(kind.number) is not mine.dtype:
        return False
    if others:
        for x, (_, flags) in zip(operands, row.operands):
            if not isinstance(x, Tensor) and not weak(x, kind, flags):
                return False
    if asks(*operands) if operands[0] is out else asks(out, *operands):
        return False
    writer(function)(out, *arguments)
    return True


def beside(m: Meta, result: Meta) -> bool:
    """Whether a tensor broadcasts to a result without enlarging it, and is on its place or a number on the CPU."""
    if m.place != result.place and (m.place.kind != _place.CPU or m.shape):
        return False
    pairs = zip(reversed(m.shape), reversed(result.shape))
    return len(m.shape) <= len(result.shape) and all(n in (1, size) for n, size in pairs)


def weak(x: Any, kind: _dtype.DType, flags: int) -> bool:
    """Whether an operand that is no tensor is left out, or a number that does not change the dtype of tensors beside it."""
    if x is None:
        return bool(flags & OPTIONAL)
    return bool(flags & SCALAR) and (x.__class__ is int or (x.__class__ is float and kind.is_floating))


def take(x: Tensor, result: Tensor) -> None:
    """Gives x the value of result: in its own memory if shape and dtype allow, else in result's."""
    mine, its = meta(x), meta(result)
    if mine.shape == its.shape and mine.dtype is its.dtype and mine.place == its.place:
        assign_into(x, result)
    else:
        replace(x, result)


assign_into = Operator(ASSIGN, "assign", "x", "", OUTPUT, "one").function()


class Short:
    """The functions of an operator for small tensors: handles and a shape in, a tensor of that shape out."""

    def __init__(self, op: int) -> None:
        self.op = op
        self.unary: Callable[..., Tensor] = builtin("unary", op, self._unary)
        self.binary: Callable[..., Tensor] = builtin("binary", op, self._binary)
        self.scalar: Callable[..., Tensor] = builtin("scalar", op, self._scalar)

    def _unary(self, arguments: tuple[Any, ...], reason: int) -> Tensor:
        return self._made(reason, arguments[:1], quick.pmps_fast_unary, self.op, arguments[0], NONE)

    def _binary(self, arguments: tuple[Any, ...], reason: int) -> Tensor:
        return self._made(reason, arguments[:2], quick.pmps_fast_binary, self.op, *arguments[:2], NONE)

    def _scalar(self, arguments: tuple[Any, ...], reason: int) -> Tensor:
        x, given, left, _ = arguments
        known = scalar(given, _names[self.op])  # no function was called, but an expression computed
        assert known is not None  # the caller has checked it
        kind, operands = known[0] + (LEFT if left else 0), (given, x) if left else (x, given)
        return self._made(reason, operands, quick.pmps_fast_scalar, self.op, x, kind, word(*known), NONE, left=left)

    def _made(
        self, reason: int, operands: Sequence[Any], function: Any, *arguments: Any, left: bool | None = None
    ) -> Tensor:
        """Makes the call in its longer form; operands are handles, and a number on the side that left says."""
        try:
            return self._answer(reason, operands, function, *arguments, left=left)
        except Exception as error:
            rename(error, [_names[self.op]], called(_names[self.op]))
            raise

    def _answer(
        self, reason: int, operands: Sequence[Any], function: Any, *arguments: Any, left: bool | None = None
    ) -> Tensor:
        """What `_made` returns; its errors name the operator."""
        try:
            handle = 0 if reason == FAILED else function(*arguments)
            return fresh(handle or again(function, *arguments))
        except UnsupportedError as error:
            number = None if left is None else int(not left)
            given = [x if i == number else retained(x) for i, x in enumerate(operands)]
            result = _complex.answer(_names[self.op], given, {}) if _complex.concerned(given) else None
            if result is None:
                raise error
            return result


@functools.cache
def short(op: int) -> Short:
    """The short functions of an operator, made once."""
    return Short(op)


def small(x: Any) -> Any:
    """The shape of x if it is a small tensor with memory of its own, else None."""
    return x._shape if isinstance(x, Tensor) else None


def unary(op: int, general: Callable[..., Tensor]) -> Callable[[Any], Tensor]:
    """The function of an operator of one operand and no attributes, whose result has the operand's shape."""
    fast = short(op).unary

    def function(x: Any) -> Tensor:
        shape = small(x)
        return general(x) if shape is None else fast(x._handle, shape)

    return function


def expression(op: int, general: Callable[..., Any], name: str) -> Callable[[Tensor, Any], Any]:
    """The method for `x op y`; general is the function of the operator, for any operands."""
    fast, with_number = short(op).binary, short(op).scalar

    def method(x: Tensor, y: Any) -> Any:
        shape, kind = x._shape, y.__class__
        if kind is x.__class__:
            if y._shape is shape and shape is not None:
                return fast(x._handle, y._handle, shape)
        elif shape is not None and (kind is float or kind is int or kind is bool):
            return with_number(x._handle, y, False, shape)
        return mixed(general, x, y)

    method.__name__ = method.__qualname__ = name
    return method


def reflected(op: int, general: Callable[..., Any], name: str) -> Callable[[Tensor, Any], Any]:
    """The method for `y op x`, where y is not a tensor."""
    with_number = short(op).scalar

    def method(x: Tensor, y: Any) -> Any:
        shape, kind = x._shape, y.__class__
        if shape is not None and (kind is float or kind is int or kind is bool):
            return with_number(x._handle, y, True, shape)
        return mixed(general, x, y, True)

    method.__name__ = method.__qualname__ = name
    return method


def mixed(general: Callable[..., Any], x: Tensor, y: Any, left: bool = False) -> Any:
    """Runs an operator of two operands in an expression; NotImplemented if y cannot be an operand.

    left is True for y op x; NumPy arrays become tensors beside x.
    """
    if isinstance(y, np.ndarray):
        y = _default_place.array_beside(y, meta(x).place)
    elif isinstance(y, (str, bytes)):  # == and != of other things are False and True, as in Python
        if spelled(general) == "multiply" and meta(x).numel == 1:
            return NotImplemented  # Python repeats the text
        raise TypeError(f"[{called(spelled(general))}] got a Tensor and {y!r}; want a Tensor, an array or a number")
    elif not isinstance(y, (Tensor, *_complex.NUMBERS)):
        try:
            if scalar(y) is None:
                return NotImplemented
        except ValueError as error:
            rename(error, ["scalar"], spelled(general))
            raise
    return general(y, x) if left else general(x, y)


def spelled(general: Callable[..., Any]) -> str:
    """The name of an operator, for errors."""
    return _operators[general].name if general in _operators else "operator"


def renamed(**names: str) -> Callable[[Function], Function]:
    """Accepts further keywords for parameters: @renamed(input="x") takes f(input=...) for f(x=...).

    Giving a parameter under both names, or by position as well, is a TypeError. It costs a hundred nanoseconds and more;
    functions that count them have the further names as parameters, see `chosen`.
    """
    aliases = frozenset(names)

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not kwargs:
                return function(*args)
            if not aliases.isdisjoint(kwargs):
                resolve(function, names, kwargs)
            return function(*args, **kwargs)

        wrapper.names = names  # type: ignore[attr-defined]  # see requiring
        return wrapper  # type: ignore[return-value]

    return decorate


def resolve(function: Callable[..., Any], names: dict[str, str], kwargs: dict[str, Any]) -> None:
    """Gives keywords the names of the parameters that they stand for."""
    for alias, parameter in names.items():
        if alias in kwargs:
            if parameter in kwargs:
                raise TypeError(f"[{function.__name__}] got {alias}= and {parameter}=; want one of them")
            kwargs[parameter] = kwargs.pop(alias)


__all__ = [
    "ANYWHERE", "A_INTS", "FLOAT", "INT", "NONE", "NOTHING", "PLACE", "SLICE_MS", "SMALL", "TENSOR", "call",
    "call_into", "call_many", "call_view", "collect", "computed", "either", "element_type", "expression", "flag", "flush", "index",
    "integer", "integers", "into", "mixed", "number", "operand", "operator", "packed", "reflected", "renamed", "resolve",
    "short", "take", "tensor", "unary", "whole", "writer", "written",
]  # fmt: skip
