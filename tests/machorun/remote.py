"""The library of another process, seen through a pipe: see test/server.c, which is at its other end.

`Library` starts the process; a `Tensor` of its can do what the conformance suite asks of tensors.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from typing import Any

import numpy as np

from paddle_mps._calls import _call
from paddle_mps._core import _dtype
from paddle_mps._core._convert import A_STRING
from paddle_mps._core._ids import RESHAPE, TRANSPOSE
from paddle_mps.selftest import oracle
from paddle_mps.selftest.oracle import Array

ANYWHERE = struct.pack("=ii", 0, 0)  # a call with tensors runs where they are


class Failure(Exception):
    """What the other side answered instead of a result: the code and the message of the error."""


class Library:
    """The library at the other end of a pipe to `command`."""

    def __init__(self, command: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1 << 20
        )

    def close(self) -> int:
        """Ends the process and answers its status."""
        self._to.close()
        self._from.close()
        return self._process.wait(60)

    @property
    def _to(self) -> Any:
        return self._process.stdin

    @property
    def _from(self) -> Any:
        return self._process.stdout

    def _get(self, size: int) -> bytes:
        data: bytes = self._from.read(size)
        if len(data) != size:
            raise EOFError(f"the server ended with status {self._process.wait(60)}")
        return data

    def _numbers(self, count: int = 1) -> tuple[int, ...]:
        return struct.unpack(f"={count}q", self._get(8 * count))

    def ask(self, letter: bytes, *parts: bytes) -> None:
        """Makes a request. What comes next is its result.

        Raises:
            Failure: the call failed.
        """
        self._to.write(letter + b"".join(parts))
        self._to.flush()
        (code,) = self._numbers()
        if code:
            raise Failure(code, self._get(self._numbers()[0]).decode())

    def backend(self, place: str) -> str:
        """The name of what computes on a place."""
        self.ask(b"b", place_of(place))
        return self._get(16).rstrip(b"\0").decode()

    def live(self) -> int:
        """How many objects there are on the other side."""
        self.ask(b"l")
        return self._numbers()[0]

    def to_tensor(self, data: Any, dtype: str | None = None, place: str = "cpu") -> Tensor:
        """Values on a place."""
        array = np.asarray(data)
        name = dtype or str(array.dtype)
        bits = to_bits(array, name)
        head = numbers(_dtype.dtype(name).number, array.ndim, *array.shape, len(bits))
        self.ask(b"n", place_of(place), head, bits)
        return Tensor(self, *self._numbers())

    def call(self, op: int, operands: Sequence[Any], attributes: Sequence[Any], place: str = "") -> list[Tensor]:
        """An operator's results, on a place if there is no tensor to say where."""
        args = b"".join([operand(x) for x in operands])
        attrs = [attribute(a) for a in attributes if a is not None]
        where = place_of(place) if place else ANYWHERE
        self.ask(b"c", where, numbers(op, len(operands)), args, numbers(len(attrs)), *attrs)
        (count,) = self._numbers()
        return [Tensor(self, handle) for handle in self._numbers(count)]

    def index(self, handle: int, items: list[bytes]) -> Tensor:
        """A view of a tensor by basic indexing."""
        self.ask(b"i", numbers(handle, len(items)), *items)
        return Tensor(self, *self._numbers())

    def read(self, handle: int) -> tuple[str, tuple[int, ...], bytes]:
        """A tensor's dtype, shape and bytes."""
        self.ask(b"r", numbers(handle))
        number, rank = self._numbers(2)
        shape = self._numbers(rank)
        return _dtype.BY_NUMBER[number].name, shape, self._get(self._numbers()[0])

    def free(self, handle: int) -> None:
        """Frees a tensor."""
        if not self._to.closed:
            self.ask(b"f", numbers(handle))


class Tensor:
    """A tensor of a Library. It is read once, when it is first used."""

    def __init__(self, library: Library, handle: int) -> None:
        self.library = library
        self.handle = handle
        self._read: tuple[str, tuple[int, ...], bytes] | None = None

    def __del__(self) -> None:
        self.library.free(self.handle)

    def _all(self) -> tuple[str, tuple[int, ...], bytes]:
        self._read = self._read or self.library.read(self.handle)
        return self._read

    @property
    def dtype(self) -> str:
        return self._all()[0]

    @property
    def shape(self) -> tuple[int, ...]:
        return self._all()[1]

    @property
    def T(self) -> Tensor:
        axes = tuple(reversed(range(len(self.shape))))
        return self.library.call(TRANSPOSE, [self], [_call.integers("perm", axes)])[0]

    def reshape(self, shape: list[int]) -> Tensor:
        return self.library.call(RESHAPE, [self], [_call.integers("shape", shape)])[0]

    def __getitem__(self, items: slice | tuple[slice, ...]) -> Tensor:
        each = items if isinstance(items, tuple) else (items,)
        return self.library.index(self.handle, [slice_item(s) for s in each])

    def astype(self, _: str) -> Tensor:
        return self  # numpy() answers what the suite would cast to

    def numpy(self) -> Array:
        """The values; of bfloat16 as float32."""
        dtype, shape, bits = self._all()
        return from_bits(bits, dtype).reshape(shape)


def numbers(*values: int) -> bytes:
    return struct.pack(f"={len(values)}q", *[signed(v) for v in values])


def signed(word: int) -> int:
    """A word of 64 bits as the signed number of the same bits."""
    return word - (1 << 64) if word >= 1 << 63 else word


def place_of(name: str) -> bytes:
    return struct.pack("=ii", 0 if name == "cpu" else 1, 0)


def slice_item(s: slice) -> bytes:
    """A pmps_index."""
    given = [getattr(s, part) for part in ("start", "stop", "step")]
    has = sum(1 << i for i, v in enumerate(given) if v is not None)
    return struct.pack("=ii3q", 1, has, *[v or 0 for v in given])


def operand(x: Any) -> bytes:
    """A pmps_arg."""
    if isinstance(x, Tensor):
        return struct.pack("=IIq", 1, 0, x.handle)
    return _call.operand(x)


def attribute(given: tuple[str, int, Any]) -> bytes:
    """An attribute as the server reads it, and behind it the numbers or the text that it points to."""
    name, kind, value = given
    text = name.encode() + b"\0"
    if kind == _call.A_INTS:
        return numbers(kind, 0, len(value), len(text)) + text + numbers(*value)
    if isinstance(value, bytes):
        assert kind == A_STRING
        return numbers(kind, 0, len(value), len(text)) + text + value
    return numbers(kind, signed(value & (2**64 - 1)), 0, len(text)) + text


def to_bits(array: Array, dtype: str) -> bytes:
    """Values as they lie in memory; bfloat16 is the high half of float32."""
    if dtype == "bfloat16":
        return (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16).tobytes()
    return np.ascontiguousarray(array, oracle.NUMPY[dtype]).tobytes()


def from_bits(bits: bytes, dtype: str) -> Array:
    """The values of what lies in memory."""
    if dtype == "bfloat16":
        return (np.frombuffer(bits, np.uint16).astype(np.uint32) << 16).view(np.float32)
    return np.frombuffer(bits, oracle.NUMPY[dtype])
