"""The file of one tensor, without a pickle: `paddle.save(x, path, use_binary_format=True)`.

    uint32 0                version
    uint64 levels           ragged levels of tensors of Paddle 1; each is a uint64 size and as many bytes
    uint32 0                version of the tensor
    int32 size              of the description
    description             protobuf: field 1 is the dtype, each field 2 a dimension
    elements                in row-major order, little-endian

.pdiparams files are these, one after the other.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Union

import numpy as np

from .._core._objects import Tensor, meta
from ._source import Source, Writable

# Numbers of dtypes in the description, by NumPy's names for what Tensor.numpy() gives; 22 is bfloat16.
NUMBERS = {
    0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8",
    21: "int8", 22: "uint16", 23: "complex64", 24: "complex128",
}  # fmt: skip
BY_NAME = {name: number for number, name in NUMBERS.items()}
LARGEST = 1024  # bytes of a description; a dimension takes at most 11
PART = 1 << 30  # bytes of one write; systems refuse more than 2 GiB
DTYPE, DIMENSION = 0x08, 0x10  # tags of the fields: number << 3, and 0 for a varint
PACKED = 0x12  # dimensions in one field of bytes


def read(source: Source) -> np.ndarray[Any, Any]:
    """The tensor as an array; one of uint16 holds bfloat16.

    Raises:
        ValueError: the file is damaged.
    """
    _expect_zero(source, "the version of the file")
    for _ in range(_levels(source)):
        source.payload(source.number(8, "the size of a ragged level"), "a ragged level")
    _expect_zero(source, "the version of the tensor")
    start = source.at + 4
    number, shape = _described(source)
    if number not in NUMBERS:
        raise source.error(f"got the dtype {number}; want one of {sorted(NUMBERS)}", start)
    dtype = np.dtype(NUMBERS[number])
    elements = np.frombuffer(source.payload(math.prod(shape) * dtype.itemsize, "elements"), np.uint8)
    flat = elements != 0 if dtype == np.bool_ else elements.view(dtype)
    try:
        return np.require(flat.reshape(shape), requirements="W")
    except ValueError as error:
        raise source.error(f"got the shape {shape}: {error}", start) from None


def _expect_zero(source: Source, what: str) -> None:
    at, version = source.at, source.number(4, what)
    if version:
        raise source.error(f"got {version} as {what}; want 0", at)


def _levels(source: Source) -> int:
    at, count = source.at, source.number(8, "a count of ragged levels")
    if count > (source.end - source.at) // 8:
        raise source.error(f"got {count} ragged levels; want what a file of {source.size} bytes can hold", at)
    return count


def _described(source: Source) -> tuple[int, list[int]]:
    """The number of the dtype and the dimensions."""
    at, size = source.at, source.number(4, "the size of a description")
    if size > LARGEST:
        raise source.error(f"got a description of {size} bytes; want at most {LARGEST}", at)
    number, shape, end = -1, [], source.at + size
    while source.at < end:
        at, tag = source.at, _varint(source, end)
        if tag == DTYPE:
            number = _varint(source, end)
        elif tag == DIMENSION:
            shape.append(_varint(source, end))
        elif tag == PACKED:
            stop = _varint(source, end) + source.at
            if stop > end:
                raise source.error(f"got dimensions up to byte {stop}; want no more than up to byte {end}", at)
            while source.at < stop:
                shape.append(_varint(source, end))
        else:
            raise source.error(f"got the field {tag >> 3} of kind {tag & 7}; want a dtype or a dimension", at)
    if any(n >= 2**63 for n in shape):
        raise source.error(f"got the shape {[n - 2**64 if n >= 2**63 else n for n in shape]}; want sizes from 0", at)
    return number, shape


def _varint(source: Source, end: int) -> int:
    """Seven bits a byte, the lowest first; the highest bit says that more follow."""
    value, shift, at = 0, 0, source.at
    while shift < 64 and source.at < end:
        byte = source.number(1, "a number")
        value |= (byte & 127) << shift
        if byte < 128:
            return value & (2**64 - 1)
        shift += 7
    raise source.error("got a number without an end; want at most 10 bytes", at)


def head(x: Tensor) -> bytes:
    """What stands before the elements of a tensor."""
    m = meta(x)
    description = _field(DTYPE, BY_NAME[str(m.dtype.numpy)]) + b"".join([_field(DIMENSION, n) for n in m.shape])
    return bytes(16) + len(description).to_bytes(4, "little") + description


def _field(tag: int, value: int) -> bytes:
    encoded = bytearray([tag])
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


class Bare(NamedTuple):
    """A tensor to be written as an array, without a name, or as the elements start to stop of it."""

    tensor: Tensor
    start: int = 0
    stop: int | None = None


Data = Union["np.ndarray[Any, Any]", "Tensor", Bare]


class Elements:
    """Elements in row-major order, little-endian, as bytes: where they lie, if they are like that in memory."""

    def __init__(self, x: Data) -> None:
        self._owner: Any
        if isinstance(x, Bare):
            self._owner, whole = mapped(x.tensor)
            size = meta(x.tensor).dtype.itemsize
            self._bytes = whole[x.start * size : len(whole) if x.stop is None else x.stop * size]
        elif isinstance(x, np.ndarray):
            self._owner = np.ascontiguousarray(x.astype(x.dtype.newbyteorder("<"), copy=False)).reshape(-1)
            self._bytes = memoryview(self._owner.view(np.uint8))
        else:
            self._owner, self._bytes = mapped(x)

    def parts(self, size: int = PART) -> Iterator[memoryview]:
        """The bytes in parts of at most size bytes, which may be used while this object lives."""
        for start in range(0, len(self._bytes), size):
            yield self._bytes[start : start + size]


def mapped(x: Tensor) -> tuple[Any, memoryview]:
    """A tensor with the elements of x in row-major order, and its memory: that of x if it has that order."""
    owner = x.contiguous()
    count = meta(owner).numel * meta(owner).dtype.itemsize
    memory = (ctypes.c_ubyte * count).from_address(owner.data_ptr()) if count else b""
    return owner, memoryview(memory).cast("B")


def write_elements(file: Writable, x: Data) -> None:
    """Writes the elements of x, without a copy if they lie in row-major order."""
    elements = Elements(x)
    for part in elements.parts():
        file.write(part)


def write(file: Writable, x: Tensor) -> None:
    """Writes the file of one tensor."""
    file.write(head(x))
    write_elements(file, x)


__all__ = ["Bare", "Data", "Elements", "head", "read", "write", "write_elements"]
