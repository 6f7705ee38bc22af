"""Writes pickles of data, as Paddle's: protocol 2 to 4, tensors as calls of tuple with a name and an array.

Elements go from a tensor's memory to the file without a copy where they lie in row-major order. Arrays are
written with the module names of NumPy 1, which NumPy 2 reads as well.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Callable

import numpy as np

from .._core._objects import Tensor, meta
from ._source import Writable
from ._tensor_file import Bare, Data, Elements, write_elements
from ._unpickle import ELEMENTS, MAX_KEY, SCALARS

MAX_DEPTH = 320  # levels of lists in lists that `load` accepts
BATCH = 1000  # items that are on the reader's stack at a time
RECODED = 1 << 20  # bytes that protocol 2 turns into text at a time

_numbers = itertools.count()


def name_of(x: Tensor) -> str:
    """The name of a tensor; a new one of Paddle's kind if it has none."""
    return getattr(x, "name", None) or f"generated_tensor_{next(_numbers)}"


class Writer:
    """Writes one pickle. A level of containers takes two frames of Python's stack, which has 1,000.

    Args:
        file: what is written to; None: nothing is written, and `dump` only raises what it would raise.
        protocol: 2 to 4.
        strict: refuse bytes and frozensets, as Paddle does except in a state dict.
    """

    def __init__(self, file: Writable | None, protocol: int, strict: bool) -> None:
        self.file, self.protocol, self.strict = file, protocol, strict
        # Places in the memo, by text or by id; with objects, so that their ids stay their own.
        self.memo: dict[Any, tuple[int, Any]] = {}
        self.under_way: set[int] = set()

    def dump(self, value: Any) -> None:
        """Writes the pickle of value.

        Raises:
            NotImplementedError: it holds something iterable that is no list, tuple, set, dict, string or array.
            TypeError: it holds something else that is no data.
            RecursionError: it holds itself, or more than 320 levels.
            OverflowError: an array or string of more than 4 GiB in protocol 2 or 3.
        """
        self.emit(b"\x80", bytes([self.protocol]))
        self.save(value)
        self.emit(b".")

    def emit(self, *parts: bytes) -> None:
        if self.file is not None:
            self.file.write(b"".join(parts))

    def save(self, value: Any) -> None:
        """Writes the instructions that make value."""
        kind = type(value)
        if kind in PLAIN:
            PLAIN[kind](self, value)
        elif kind in SHARED or isinstance(value, Tensor):
            if self.begun(value):
                SHARED.get(kind, Writer.save_tensor)(self, value)
                self.ended(value)
        elif isinstance(value, np.generic) and value.dtype.str[1:] in ELEMENTS:
            self.numpy_scalar(value)
        elif isinstance(value, str):
            self.save_text(str.__str__(value))
        else:
            self.refuse(value)

    def refuse(self, value: Any) -> None:
        if isinstance(value, Iterable):
            raise NotImplementedError(f"[save] got {type(value).__name__}; want a tuple, list, dict, set or string")
        got = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(f"[save] got {got}; want Tensors, arrays, numbers and containers of them")

    # What is written once and named by its place in the memo from then on.

    def begun(self, value: Any) -> bool:
        """Whether value is to be written; False: its place in the memo is."""
        if id(value) in self.under_way or len(self.under_way) > MAX_DEPTH:
            raise RecursionError(f"[save] the value holds itself or has more than {MAX_DEPTH} levels")
        if self.recalled(id(value)):
            return False
        self.under_way.add(id(value))
        return True

    def ended(self, value: Any) -> None:
        self.under_way.remove(id(value))
        if id(value) not in self.memo:
            self.memoize(id(value), value)

    def recalled(self, key: Any) -> bool:
        if key not in self.memo:
            return False
        place = self.memo[key][0]
        self.emit(b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<I", place))
        return True

    def memoize(self, key: Any, value: Any = None) -> None:
        place = len(self.memo)
        self.memo[key] = place, value
        if self.protocol >= 4:
            self.emit(b"\x94")
        else:
            self.emit(b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<I", place))

    def save_function(self, module: str, name: str) -> None:
        """The name of a function or class. Protocol 2 is also for Python 2."""
        if self.protocol < 3 and module == "builtins":
            module = "__builtin__"
        if self.recalled((module, name)):
            return
        if self.protocol >= 4:
            self.save_text(module)
            self.save_text(name)
            self.emit(b"\x93")
        else:
            self.emit(b"c", module.encode(), b"\n", name.encode(), b"\n")
        self.memoize((module, name))

    # Numbers, strings and bytes.

    def save_integer(self, value: int) -> None:
        if 0 <= value < 256:
            self.emit(b"K", bytes([value]))
        elif 0 <= value < 65536:
            self.emit(b"M", struct.pack("<H", value))
        elif -(2**31) <= value < 2**31:
            self.emit(b"J", struct.pack("<i", value))
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            self.emit(b"\x8a" + bytes([len(data)]) if len(data) < 256 else b"\x8b" + struct.pack("<i", len(data)), data)

    def save_complex(self, value: complex) -> None:
        self.save_function("builtins", "complex")
        self.emit(b"G", struct.pack(">d", value.real), b"G", struct.pack(">d", value.imag), b"\x86R")

    def save_text(self, value: str) -> None:
        if self.recalled(value):
            return
        data = value.encode("utf-8", "surrogatepass")
        self.emit(self.text_head(len(data)), data)
        self.memoize(value)

    def text_head(self, count: int) -> bytes:
        if self.protocol >= 4 and count < 256:
            return b"\x8c" + bytes([count])
        if count < 2**32:
            return b"X" + struct.pack("<I", count)
        return b"\x8d" + struct.pack("<Q", self.only_in_4(count))

    def only_in_4(self, count: int) -> int:
        if self.protocol < 4:
            raise OverflowError(f"[save] got {count} bytes in one value; want protocol 4 for more than 4 GiB")
        return count

    def save_bytes(self, value: bytes) -> None:
        if self.strict:
            self.refuse(value)
        self.payload(np.frombuffer(value, np.uint8), len(value))

    def payload(self, x: Data, count: int) -> None:
        """The count bytes of the elements of x."""
        if self.protocol < 3:
            self.recoded(x, count)
            return
        if count < 256:
            self.emit(b"C", bytes([count]))
        elif count < 2**32:
            self.emit(b"B", struct.pack("<I", count))
        else:
            self.emit(b"\x8e", struct.pack("<Q", self.only_in_4(count)))
        if self.file is not None:
            write_elements(self.file, x)

    def recoded(self, x: Data, count: int) -> None:
        """Bytes in protocol 2: each is a character of a string, of two bytes from 128 on."""
        self.save_function("_codecs", "encode")
        if self.file is None:
            self.text_head(count)
            return
        elements = Elements(x)
        for part in elements.parts():
            count += int(np.count_nonzero(np.frombuffer(part, np.uint8) & 128))
        self.emit(self.text_head(count))
        for part in elements.parts(RECODED):
            self.file.write(bytes(part).decode("latin1").encode())
        self.save_text("latin1")
        self.emit(b"\x86R")

    # Containers. A list or dict is in the memo before its items, as readers expect.

    def save_list(self, value: list[Any]) -> None:
        self.emit(b"]")
        self.memoize(id(value), value)
        for items in batches(value):
            self.emit(b"(")
            for item in items:
                self.save(item)
            self.emit(b"e")

    def save_tuple(self, value: tuple[Any, ...]) -> None:
        short = len(value) < 4
        if not short:
            self.emit(b"(")
        for item in value:
            self.save(item)
        self.emit((b")", b"\x85", b"\x86", b"\x87")[len(value)] if short else b"t")

    def save_dict(self, value: dict[Any, Any]) -> None:
        self.emit(b"}")
        for item in self.items(value):
            self.save(item)

    def save_ordered_dict(self, value: dict[Any, Any]) -> None:
        self.save_function("collections", "OrderedDict")
        self.emit(b")R")
        for item in self.items(value):
            self.save(item)

    def items(self, value: dict[Any, Any]) -> Iterator[Any]:
        """The items of a dict, each to be written before the next one is asked for, with their keys written."""
        self.memoize(id(value), value)
        for items in batches(value.items()):
            self.emit(b"(")
            for key, item in items:
                self.key(key)
                yield item
            self.emit(b"u")

    def key(self, key: Any) -> None:
        parts = key if type(key) is tuple else (key,)
        if not all(isinstance(part, (*SCALARS, bytes)) for part in parts) or len(parts) > MAX_KEY:
            raise TypeError(f"[save] got a key of type {type(key).__name__}; want strings, numbers or tuples of them")
        if any(isinstance(part, int) and part.bit_length() > 64 * MAX_KEY for part in parts):
            raise OverflowError(f"[save] got a key of more than {64 * MAX_KEY} bits")
        self.save(key)

    def save_set(self, value: set[Any]) -> None:
        self.save_function("builtins", "set")
        self.collection(value)

    def save_frozenset(self, value: frozenset[Any]) -> None:
        if self.strict:
            self.refuse(value)
        self.save_function("builtins", "frozenset")
        self.collection(value)

    def collection(self, value: Iterable[Any]) -> None:
        """A set: a call with the list of its items."""
        self.emit(b"](")
        for item in value:
            self.key(item)
        self.emit(b"e\x85R")

    # Arrays.

    def save_tensor(self, x: Tensor) -> None:
        self.save_function("builtins", "tuple")
        self.save_text("" if self.file is None else name_of(x))
        self.save_bare(Bare(x))
        self.emit(b"\x86\x85R")

    def save_bare(self, x: Bare) -> None:
        m = meta(x.tensor)
        shape = m.shape if x.stop is None else (x.stop - x.start,)
        self.array_of(shape, m.dtype.numpy, x.tensor if x.stop is None else x)

    def save_array(self, value: np.ndarray[Any, Any]) -> None:
        self.array_of(value.shape, value.dtype, value)

    def array_of(self, shape: tuple[int, ...], dtype: np.dtype[Any], x: Data) -> None:
        self.save_function("numpy.core.multiarray", "_reconstruct")
        self.save_function("numpy", "ndarray")
        self.emit(b"K\x00\x85")
        if self.protocol < 3:
            self.payload(np.frombuffer(b"b", np.uint8), 1)
        else:
            self.emit(b"C\x01b")
        self.emit(b"\x87R(K\x01")
        self.save_tuple(shape)
        self.save_dtype(dtype)
        self.emit(b"\x89")
        self.payload(x, math.prod(shape) * dtype.itemsize)
        self.emit(b"tb")

    def save_dtype(self, dtype: np.dtype[Any]) -> None:
        """A dtype, little-endian, which is made once in a file."""
        name = dtype.str[1:]
        if name not in ELEMENTS:
            raise TypeError(f"[save] got an array of {dtype}; want one of numbers or bools")
        if self.recalled(("dtype", name)):
            return
        self.save_function("numpy", "dtype")
        self.save_text(name)
        self.emit(b"\x89\x88\x87R(K\x03")
        self.save_text("|" if dtype.itemsize == 1 else "<")
        self.emit(b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb")
        self.memoize(("dtype", name))

    def numpy_scalar(self, value: np.generic) -> None:
        self.save_function("numpy.core.multiarray", "scalar")
        self.save_dtype(value.dtype)
        self.payload(np.asarray(value), value.nbytes)
        self.emit(b"\x86R")


def batches(items: Iterable[Any]) -> Iterable[list[Any]]:
    """The items in lists of at most BATCH."""
    rest = iter(items)
    while batch := list(itertools.islice(rest, BATCH)):
        yield batch


PLAIN: dict[type, Callable[[Writer, Any], None]] = {
    type(None): lambda w, value: w.emit(b"N"),
    bool: lambda w, value: w.emit(b"\x88" if value else b"\x89"),
    int: Writer.save_integer,
    float: lambda w, value: w.emit(b"G", struct.pack(">d", value)),
    complex: Writer.save_complex,
    str: Writer.save_text,
    bytes: Writer.save_bytes,
    Bare: Writer.save_bare,
}
SHARED: dict[type, Callable[[Writer, Any], None]] = {
    list: Writer.save_list,
    tuple: Writer.save_tuple,
    dict: Writer.save_dict,
    OrderedDict: Writer.save_ordered_dict,
    set: Writer.save_set,
    frozenset: Writer.save_frozenset,
    np.ndarray: Writer.save_array,
}

__all__ = ["Writer", "name_of"]
