"""Reads pickles of data, and runs nothing that is in them.

A pickle is a program for a stack machine. Python's own machine imports and calls whatever the program names.
This one knows the instructions of protocols 2 to 5 that make data, and of functions only those in FUNCTIONS:
what NumPy and Paddle write for arrays, and a few containers. It never imports a module, and it calls nothing but
functions of this file.

Memory is bounded by the size of the file. What an instruction makes has a size in COSTS, and a file may make `GROWTH`
times its own size and ALLOWANCE more (`Machine.spend`): an empty set is one byte of a pickle and 232 of memory.
Functions that copy are charged for it (`Machine.charge`). Arrays are made as `Array`, which holds the elements where they
were read. Values nested deeper than Python's stack are for the caller to refuse: nothing here descends into a value.
"""

from __future__ import annotations

import math
import struct
from collections import OrderedDict
from typing import Any, Callable, NoReturn

import numpy as np

from ._source import Payload, Source

GROWTH = 44  # a list of one small int takes 26 times its bytes in a pickle, a dict of one entry 42 times
ALLOWANCE = 16 << 20  # bytes
MAX_DIMS = 32
MAX_KEY = 64  # elements of a tuple, and words of an int, that is a key: hashing is linear in them
ELEMENTS = "b1 u1 u2 u4 u8 i1 i2 i4 i8 f2 f4 f8 c8 c16".split()


class Raw:
    """A bytes object of the pickle."""

    __slots__ = ("data",)

    def __init__(self, data: Payload) -> None:
        self.data = data


class Kind:
    """A NumPy dtype, whose byte order is set after it was made."""

    __slots__ = ("dtype",)

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype


class Array:
    """An array, which has no elements before they are set by a later instruction.

    Attributes:
        at: the byte of the file with the instruction that made it.
        elements: the array in the machine's byte order, writable, None before it is set.
    """

    __slots__ = ("at", "elements")

    elements: np.ndarray[Any, Any] | None

    def __init__(self, at: int) -> None:
        self.at = at
        self.elements = None


class Function:
    """A name that a pickle may call."""

    __slots__ = ("call", "name")

    def __init__(self, name: str, call: Callable[[Machine, tuple[Any, ...]], Any]) -> None:
        self.name, self.call = name, call


SCALARS = (str, int, float, bool, complex, type(None), np.generic)


class Machine:
    """The stack machine. `run` gives the value that the pickle describes.

    Attributes:
        pairs: whether a tuple of a name and an array was made, as Paddle writes tensors.
        shared: values that an instruction has pushed again, by id: all others occur once in the result.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: list[Any] = []  # what was stored in order, as writers do
        self.others: dict[int, Any] = {}  # what was stored with another index
        self.shared: dict[int, Any] = {}
        self.copied = 0
        self.left = GROWTH * source.size + ALLOWANCE
        self.at = source.at
        self.pairs = False

    def run(self) -> Any:
        """Reads to the end of the pickle.

        Raises:
            ValueError: it is damaged, or describes anything but data.
        """
        source = self.source
        while True:
            self.at = source.at
            code = source.byte("an instruction")
            if code == STOP:
                return self.pop()
            action = ACTIONS.get(code)
            if action is None:
                self.refuse_code(code)
            self.left -= COSTS.get(code, LEAST)
            if self.left < 0:
                self.spend(0)
            action(self)

    def fail(self, what: str) -> NoReturn:
        """Raises a ValueError that names the instruction under way."""
        raise self.source.error(what, self.at)

    def refuse_code(self, code: int) -> NoReturn:
        import pickletools  # for the message alone

        known = pickletools.code2op.get(chr(code))  # type: ignore[attr-defined]
        if known is None:
            self.fail(f"got {code:#04x}; want an instruction of a pickle")
        self.fail(f"got the instruction {known.name}; want one that makes data, of protocols 2 to 5")

    def spend(self, count: int) -> None:
        """Counts bytes of memory that an instruction takes."""
        self.left -= count
        if self.left < 0:
            most = GROWTH * self.source.size + ALLOWANCE
            self.fail(f"got more than {most >> 20} MiB of objects; want no more in a file of {self.source.size} bytes")

    def charge(self, count: int) -> None:
        """Counts bytes that a function copies: in a file of Paddle no byte is copied more than twice."""
        self.copied += count
        if self.copied > 2 * self.source.size:
            self.fail(f"got {self.copied} bytes of data; want no more than a file of {self.source.size} bytes holds")

    # The stack. What lies below the last mark is out of reach until the mark is taken.

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self) -> Any:
        if not self.stack:
            self.fail("the stack is empty; want a value")
        return self.stack.pop()

    def top(self, *kinds: type) -> Any:
        """The last value, which must be of one of the types."""
        if not self.stack or type(self.stack[-1]) not in kinds:
            wanted = " or ".join(kind.__name__ for kind in kinds)
            self.fail(f"got {type(self.stack[-1]).__name__ if self.stack else 'no value'}; want {wanted}")
        return self.stack[-1]

    def mark(self) -> None:
        self.marks.append(self.stack)
        self.stack = []

    def taken(self) -> list[Any]:
        """The values after the last mark, which are removed with it."""
        if not self.marks:
            self.fail("there is no mark; want one")
        values, self.stack = self.stack, self.marks.pop()
        return values

    def drop(self) -> None:
        if self.stack:
            self.stack.pop()
        else:
            self.taken()

    # The memo.

    def remember(self, index: int) -> None:
        if index == len(self.memo):
            self.memo.append(self.top_of_any())
        elif index < len(self.memo):
            self.memo[index] = self.top_of_any()
        else:
            self.spend(SCATTERED)
            self.others[index] = self.top_of_any()

    def top_of_any(self) -> Any:
        if not self.stack:
            self.fail("the stack is empty; want a value")
        return self.stack[-1]

    def recall(self, index: int) -> None:
        if index < len(self.memo):
            value = self.memo[index]
        elif index in self.others:
            value = self.others[index]
        else:
            self.fail(f"nothing is stored as {index}")
        self.again(value)

    def again(self, value: Any) -> None:
        """Pushes a value that has been pushed before."""
        if id(value) not in self.shared and not isinstance(value, (str, int, Function)):
            self.spend(SCATTERED)
            self.shared[id(value)] = value
        self.push(value)

    # Numbers, strings and bytes.

    def long(self, width: int) -> None:
        data = self.source.take(self.source.number(width, "a length"), "an integer")
        self.push(int.from_bytes(data, "little", signed=True))

    def text(self, width: int, encoding: str = "utf-8") -> None:
        data = self.source.take(self.source.number(width, "a length"), "a string")
        try:
            self.push(data.decode(encoding, "surrogatepass"))
        except UnicodeDecodeError as error:
            self.fail(f"got a string that is not {encoding}: {error.reason} at its byte {error.start}")

    def raw(self, width: int) -> None:
        self.push(Raw(self.source.payload(self.source.number(width, "a length"), "bytes")))

    # Containers.

    def tuple_of(self, values: list[Any]) -> None:
        if len(values) == 2 and type(values[1]) is Array and type(values[0]) is str:
            self.pairs = True
        self.push(tuple(values))

    def tuple_of_last(self, count: int) -> None:
        if len(self.stack) < count:
            self.fail(f"the stack has {len(self.stack)} values; want {count}")
        values = self.stack[-count:]
        del self.stack[-count:]
        self.tuple_of(values)

    def extend(self, values: list[Any]) -> None:
        self.top(list).extend(values)

    def set_items(self, values: list[Any], target: dict[Any, Any] | None = None) -> None:
        if len(values) % 2:
            self.fail(f"got {len(values)} keys and values; want an even number")
        into = self.top(dict, OrderedDict) if target is None else target
        self.spend(ENTRY * len(values) // 2)
        for i in range(0, len(values), 2):
            into[self.key(values[i])] = values[i + 1]

    def add_items(self, values: list[Any]) -> None:
        self.spend(ENTRY * len(values))
        self.top(set).update(map(self.key, values))

    def key(self, value: Any) -> Any:
        """A value that is hashed: its hash takes a bounded time and no recursion."""
        if type(value) is Raw and isinstance(value.data, bytes):
            return value.data
        if type(value) is tuple and len(value) <= MAX_KEY:
            for item in value:
                self.scalar_key(item)
            return value
        return self.scalar_key(value)

    def scalar_key(self, value: Any) -> Any:
        if not isinstance(value, SCALARS):
            self.fail(f"got a key of type {type(value).__name__}; want a string, a number or a short tuple of them")
        if isinstance(value, int) and value.bit_length() > 64 * MAX_KEY:
            self.fail(f"got a key of {value.bit_length()} bits; want at most {64 * MAX_KEY}")
        return value

    # Functions.

    def function(self, module: Any, name: Any) -> None:
        found = FUNCTIONS.get((module, name)) if isinstance(module, str) and isinstance(name, str) else None
        if found is None:
            shown = f"{module}.{name}" if isinstance(module, str) and isinstance(name, str) else "no name"
            self.fail(f"got {shown[:100]!r}; want a function that makes arrays or containers")
        self.push(found)

    def function_by_line(self) -> None:
        module, name = self.source.line(128, "a module"), self.source.line(128, "a name")
        self.function(module.decode("latin1"), name.decode("latin1"))

    def function_by_stack(self) -> None:
        name, module = self.pop(), self.pop()
        self.function(module, name)

    def call(self) -> None:
        arguments, function = self.pop(), self.pop()
        if type(function) is not Function or type(arguments) is not tuple:
            self.fail(f"got a call of {type(function).__name__}; want a function and a tuple of arguments")
        self.push(function.call(self, arguments))

    def wrong(self, function: str) -> NoReturn:
        self.fail(f"got arguments of {function} that no array or container has")

    def build(self) -> None:
        state, target = self.pop(), self.top_of_any()
        if type(target) is Array:
            self.set_elements(target, state)
        elif type(target) is Kind:
            self.set_order(target, state)
        else:
            self.fail(f"got a state of {type(target).__name__}; want that of an array")

    def set_order(self, kind: Kind, state: Any) -> None:
        order = state[1] if type(state) is tuple and len(state) >= 5 else None
        if order not in ("<", ">", "|", "=") or not (state[2] is state[3] is state[4] is None):
            self.wrong("dtype")
        kind.dtype = kind.dtype.newbyteorder(order)

    def set_elements(self, array: Array, state: Any) -> None:
        if type(state) is not tuple or len(state) != 5 or array.elements is not None:
            self.wrong("ndarray")
        _, shape, kind, by_columns, data = state
        array.elements = self.elements(data, kind, shape, "F" if by_columns is True else "C")

    def elements(self, data: Any, kind: Any, shape: Any, order: str) -> np.ndarray[Any, Any]:
        """An array of the shape over data, checked against each other before memory is allocated."""
        payload = self.payload(data)
        if type(kind) is not Kind or type(shape) is not tuple or len(shape) > MAX_DIMS:
            self.wrong("ndarray")
        if not all(type(n) is int and 0 <= n < 2**63 for n in shape):
            self.wrong("ndarray")
        wanted = math.prod(shape) * kind.dtype.itemsize
        if wanted != len(payload):
            self.fail(f"got {len(payload)} bytes for an array of shape {list(shape)}; want {wanted}")
        self.charge(wanted)
        try:
            flat = native(np.frombuffer(payload, np.uint8).view(kind.dtype))
            by_rows: np.ndarray[Any, Any] = flat.reshape(shape if order == "C" else shape[::-1])
            if order == "F":
                by_rows = by_rows.transpose()
            return by_rows
        except (ValueError, OverflowError) as error:  # a shape without elements, but too large for NumPy
            self.fail(f"got the shape {list(shape)}: {error}")

    def payload(self, data: Any) -> Payload:
        """The bytes of an array: a string holds them in files that Python 2 wrote."""
        if type(data) is Raw:
            return data.data
        if type(data) is not str:
            self.wrong("ndarray")
        return self.latin1(data)

    def latin1(self, text: str) -> bytes:
        self.charge(len(text))
        try:
            return text.encode("latin1")
        except UnicodeEncodeError as error:
            self.fail(f"got bytes as a string with {text[error.start]!r}; want characters up to 255")


def native(flat: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Elements that may be written to, in the byte order of the machine, with bools that are 0 or 1."""
    if flat.dtype == np.bool_:
        flags: np.ndarray[Any, Any] = flat.view(np.uint8) != 0
        return flags
    if not flat.dtype.isnative:
        return flat.astype(flat.dtype.newbyteorder("="))
    return flat if flat.flags.writeable else flat.copy()


# The functions that a pickle may call. Each checks its arguments.


def _tuple(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """Paddle's form of a tensor is a call of tuple with a tuple of a name and an array."""
    if len(arguments) != 1 or type(arguments[0]) is not tuple:
        machine.wrong("tuple")
    return arguments[0]


def _set(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 1 or type(arguments[0]) is not list:
        machine.wrong("set")
    machine.charge(len(arguments[0]))
    machine.spend(ENTRY * len(arguments[0]))
    return set(map(machine.key, arguments[0]))


def _frozenset(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    return frozenset(_set(machine, arguments))


def _complex(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 2 or not all(type(part) is float for part in arguments):
        machine.wrong("complex")
    return complex(*arguments)


def _bytes(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """Protocol 2 has no bytes; empty ones are a call without arguments."""
    if arguments:
        machine.wrong("bytes")
    return Raw(b"")


def _encode(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """The bytes of protocol 2: a string of the characters 0 to 255."""
    if len(arguments) != 2 or type(arguments[0]) is not str or arguments[1] not in ("latin1", "latin-1"):
        machine.wrong("encode")
    return Raw(machine.latin1(arguments[0]))


def _eval(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """Paddle's form of a tensor of a static graph: the expression "data", where data is an array."""
    names = arguments[1] if len(arguments) == 2 and arguments[0] == "data" else None
    if type(names) is not dict or len(names) != 1 or type(names.get("data")) is not Array:
        machine.wrong("eval")
    return names["data"]


def _ordered(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """An OrderedDict: empty, or of a list of pairs in files that Python 2 wrote."""
    result: OrderedDict[Any, Any] = OrderedDict()
    pairs = arguments[0] if arguments else []
    if len(arguments) > 1 or type(pairs) is not list:
        machine.wrong("OrderedDict")
    machine.charge(8 * len(pairs))
    for pair in pairs:
        if type(pair) not in (list, tuple) or len(pair) != 2:
            machine.wrong("OrderedDict")
        machine.set_items(list(pair), result)
    return result


def _dtype(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    name = arguments[0] if arguments and type(arguments[0]) is str else "no dtype"
    if name not in ELEMENTS:
        machine.fail(f"got an array of {name[:40]!r}; want one of {', '.join(ELEMENTS)}")
    return Kind(np.dtype(name))


def _reconstruct(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    if not arguments or arguments[0] is not NDARRAY:
        machine.wrong("_reconstruct")
    return Array(machine.at)


def _scalar(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    if len(arguments) != 2:
        machine.wrong("scalar")
    return machine.elements(arguments[1], arguments[0], (), "C")[()]


def _frombuffer(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    """The form of arrays in protocol 5."""
    if len(arguments) != 4 or arguments[3] not in ("C", "F"):
        machine.wrong("_frombuffer")
    array = Array(machine.at)
    array.elements = machine.elements(*arguments)
    return array


def _ndarray(machine: Machine, arguments: tuple[Any, ...]) -> Any:
    machine.wrong("ndarray")


NDARRAY = Function("ndarray", _ndarray)
FUNCTIONS = {("numpy", "ndarray"): NDARRAY, ("numpy", "dtype"): Function("dtype", _dtype)}
FUNCTIONS[("_codecs", "encode")] = Function("encode", _encode)
FUNCTIONS[("collections", "OrderedDict")] = Function("OrderedDict", _ordered)
for _module in ("builtins", "__builtin__"):  # of Python 3 and of protocol 2
    for _call in (_tuple, _set, _frozenset, _complex, _bytes, _eval):
        FUNCTIONS[(_module, _call.__name__[1:])] = Function(_call.__name__[1:], _call)
for _module in ("numpy.core", "numpy._core"):  # of NumPy 1 and 2
    FUNCTIONS[(f"{_module}.multiarray", "_reconstruct")] = Function("_reconstruct", _reconstruct)
    FUNCTIONS[(f"{_module}.multiarray", "scalar")] = Function("scalar", _scalar)
    FUNCTIONS[(f"{_module}.numeric", "_frombuffer")] = Function("_frombuffer", _frombuffer)


# The instructions. Their names are those of the module pickletools, which documents each.


def _proto(machine: Machine) -> None:
    version = machine.source.number(1, "a protocol")
    if not 2 <= version <= 5:
        machine.fail(f"got a pickle of protocol {version}; want 2 to 5")


def _frame(machine: Machine) -> None:
    """The size of the next part, which need not be known here."""
    size = machine.source.number(8, "the size of a frame")
    left = machine.source.end - machine.source.at
    if size > left:
        machine.fail(f"got a frame of {size} bytes; want at most {left}, which the file still has")


def _frozen(machine: Machine, values: list[Any]) -> None:
    machine.spend(ENTRY * len(values))
    machine.push(frozenset(map(machine.key, values)))


# Bytes that objects take in CPython, with the place on the stack and in a container that each of them needs. Payloads, such as
# those of strings, are less than GROWTH times their bytes.
LEAST = 16
ENTRY = 72  # of a dict or set
SCATTERED = 110  # an entry with an int that is its key
COSTS = {ord(code): cost for codes, cost in (
    ("(]", 88), ("}", 96), ("\x8f", 248), ("\x91", 248), ("\x85\x86\x87t", 80), ("JG\x8a\x8b", 48), ("M", 40), ("UTX\x8c\x8d", 72),
    ("CB\x8e\x96", 160), ("R", 320), ("a", 40), ("b", 160), ("\x94qr", 8), ("su", 88),
) for code in codes}  # fmt: skip
STOP = ord(".")
ACTIONS: dict[int, Callable[[Machine], None]] = {
    0x80: _proto,
    0x95: _frame,
    ord("("): Machine.mark,
    ord("0"): Machine.drop,
    ord("1"): lambda m: m.taken().clear(),
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("K"): lambda m: m.push(m.source.number(1, "an integer")),
    ord("M"): lambda m: m.push(m.source.number(2, "an integer")),
    ord("J"): lambda m: m.push(int.from_bytes(m.source.take(4, "an integer"), "little", signed=True)),
    0x8A: lambda m: m.long(1),
    0x8B: lambda m: m.long(4),
    ord("G"): lambda m: m.push(struct.unpack(">d", m.source.take(8, "a float"))[0]),
    0x8C: lambda m: m.text(1),
    ord("X"): lambda m: m.text(4),
    0x8D: lambda m: m.text(8),
    ord("U"): lambda m: m.text(1, "latin1"),
    ord("T"): lambda m: m.text(4, "latin1"),
    ord("C"): lambda m: m.raw(1),
    ord("B"): lambda m: m.raw(4),
    0x8E: lambda m: m.raw(8),
    0x96: lambda m: m.raw(8),
    ord("]"): lambda m: m.push([]),
    ord("}"): lambda m: m.push({}),
    ord(")"): lambda m: m.push(()),
    0x8F: lambda m: m.push(set()),
    ord("a"): lambda m: m.extend([m.pop()]),
    ord("e"): lambda m: m.extend(m.taken()),
    ord("l"): lambda m: m.push(m.taken()),
    ord("t"): lambda m: m.tuple_of(m.taken()),
    0x85: lambda m: m.tuple_of_last(1),
    0x86: lambda m: m.tuple_of_last(2),
    0x87: lambda m: m.tuple_of_last(3),
    ord("s"): lambda m: m.set_items([m.pop(), m.pop()][::-1]),
    ord("u"): lambda m: m.set_items(m.taken()),
    0x90: lambda m: m.add_items(m.taken()),
    0x91: lambda m: _frozen(m, m.taken()),
    ord("q"): lambda m: m.remember(m.source.number(1, "an index")),
    ord("r"): lambda m: m.remember(m.source.number(4, "an index")),
    0x94: lambda m: m.remember(len(m.memo)),
    ord("h"): lambda m: m.recall(m.source.number(1, "an index")),
    ord("j"): lambda m: m.recall(m.source.number(4, "an index")),
    ord("c"): Machine.function_by_line,
    0x93: Machine.function_by_stack,
    ord("R"): Machine.call,
    ord("b"): Machine.build,
}


__all__ = ["Array", "Function", "Kind", "Machine", "Raw"]
