"""Rewrites an ONNX file for half precision: `onnx.load(dtype="float16")`.

Weights and constants of float32 become float16, and so do inputs, outputs and what nodes cast to float32. Everything else of the file
stays as it is, byte for byte. Numbers that decide sizes stay float32, because a size that is computed of a rounded scale is another
one: the scales of Resize, the limits of Range and NonMaxSuppression, and whatever these are computed of. Where a result of such a
number meets a half, the library computes in float32.

A finite weight beyond 65504 becomes that, and one that would vanish the smallest number that float16 has: exporters write -3.4e38 in
masks and 1e-12 beside a variance.

The wire format of protobuf is a sequence of fields, each a number with the kind of what follows; the numbers are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .._core._errors import UnsupportedError

FLOAT, FLOAT16 = 1, 10  # TensorProto.DataType
LARGEST, SMALLEST = 65504.0, 2.0**-24

# Operands that have to be as exact as they are, from one on, by operator.
EXACT = {
    "Resize": 1,
    "Upsample": 1,
    "NonMaxSuppression": 2,
    "Range": 0,
    "RoiAlign": 1,
    "MelWeightMatrix": 0,
    "BitCast": 0,
}
# Operators whose results say nothing of the elements of their operands.
SIZES = ("Shape", "Size")
# Attributes that name the element type of results, which is float32 if the operator has none.
DTYPES = {"Cast": "to", "EyeLike": "dtype", "Bernoulli": "dtype"}
DRAWN = {"RandomNormal": "dtype", "RandomUniform": "dtype"}


class Field(NamedTuple):
    """A field: its number, the kind of its value (0 a varint, 1 and 5 of 8 and 4 bytes, 2 bytes), the value, and all its bytes."""

    number: int
    kind: int
    value: Any
    raw: bytes


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """The integer at a place, and the place behind it."""
    n = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("[onnx] the file is damaged; want an ONNX model")
        n |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 128:
            return n, at


def fields(data: bytes) -> Iterator[Field]:
    """The fields of a message.

    Raises:
        ValueError: it is none.
    """
    at = 0
    while at < len(data):
        start = at
        tag, at = _varint(data, at)
        kind = tag & 7
        value: Any = None
        if kind == 0:
            value, at = _varint(data, at)
        elif kind in (1, 5):
            at += 8 if kind == 1 else 4
            value = data[at - (8 if kind == 1 else 4) : at]
        elif kind == 2:
            size, at = _varint(data, at)
            value, at = data[at : at + size], at + size
        if value is None or at > len(data):
            raise ValueError("[onnx] the file is damaged; want an ONNX model")
        yield Field(tag >> 3, kind, value, data[start:at])


def _number(n: int) -> bytes:
    """An integer in the wire format."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def field(number: int, value: int | bytes) -> bytes:
    """A field with an integer or with bytes."""
    if isinstance(value, int):
        return _number(number << 3) + _number(value)
    return _number(number << 3 | 2) + _number(len(value)) + value


def _texts(message: bytes, number: int) -> list[bytes]:
    """The values of a repeated field of bytes."""
    return [f.value for f in fields(message) if f.number == number and f.kind == 2]


def _text(message: bytes, number: int) -> str:
    """The last text of a field."""
    return next((t.decode("utf-8", "replace") for t in reversed(_texts(message, number))), "")


def halved(x: np.ndarray[Any, Any]) -> bytes:
    """The bytes of float32 elements as float16."""
    x = x.astype("<f4")
    kept = np.where(np.isfinite(x), np.clip(x, -LARGEST, LARGEST), x)
    lost = (kept != 0) & (np.abs(kept) < SMALLEST)
    return np.where(lost, np.copysign(np.float32(SMALLEST), kept), kept).astype("<f2").tobytes()


def _nodes(graph: bytes, number: int = 1) -> Iterator[bytes]:
    """The nodes of a graph and of graphs in their attributes; number is that of the field of nodes."""
    for node in _texts(graph, number):
        yield node
        for attribute in _texts(node, 5):
            for inner in _texts(attribute, 6):
                yield from _nodes(inner)


def exact(nodes: Iterable[bytes]) -> set[bytes]:
    """The names of values that decide sizes, and of what they are computed of."""
    known = [(_text(n, 4), _texts(n, 1), _texts(n, 2)) for n in nodes]
    names = {name for op, ins, _ in known if op in EXACT for name in ins[EXACT[op] :]}
    before = -1
    while before != len(names):  # one round is enough where nodes are in order
        before = len(names)
        for op, ins, outs in reversed(known):
            if op not in SIZES and names.intersection(outs):
                names.update(ins)
    return names - {b""}


class Halves:
    """The rewriting of a model: its methods take a message and return the new one.

    Args:
        names: of values that stay float32.
    """

    def __init__(self, names: set[bytes]) -> None:
        self._exact = names

    def tensor(self, message: bytes) -> bytes:
        """A TensorProto. Fields: 1 dimensions, 2 the element type, 4 and 9 elements, 13 and 14 those of another file."""
        found = list(fields(message))
        if not any(f.number == 2 and f.value == FLOAT for f in found):
            return message
        if any(f.number == 14 and f.value == 1 for f in found):
            raise UnsupportedError(
                f"[onnx] weight {_text(message, 8)!r} is in another file; want a model in one file for dtype='float16'"
            )
        raw = b"".join(f.value for f in found if f.number == 9)
        floats = b"".join(f.value for f in found if f.number == 4)  # packed, or one by one
        if len(raw or floats) % 4:
            raise ValueError(
                f"[onnx] tensor {_text(message, 8)!r} has {len(raw or floats)} bytes; want a multiple of 4"
            )
        kept = b"".join(f.raw for f in found if f.number not in (2, 4, 9))
        return kept + field(2, FLOAT16) + field(9, halved(np.frombuffer(raw or floats, "<f4")))

    def attribute(self, op: str, message: bytes) -> bytes:
        """An AttributeProto. Fields: 1 the name, 2 a float, 3 an integer, 5 a tensor, 6 a graph, 7 floats, 20 the type."""
        name = _text(message, 1)
        found = list(fields(message))
        if op == "Constant" and name in ("value_float", "value_floats"):
            floats = b"".join(f.value for f in found if f.number in (2, 7))
            dims = field(1, len(floats) // 4) if name == "value_floats" else b""
            return _value(dims, np.frombuffer(floats, "<f4"))
        out = b""
        for f in found:
            if f.number == 5 and op in ("Constant", "ConstantOfShape") and name == "value":
                out += field(5, self.tensor(f.value))
            elif f.number == 6:
                out += field(6, self.graph(f.value))
            elif f.number == 3 and f.value == FLOAT and name == {**DTYPES, **DRAWN}.get(op):
                out += field(3, FLOAT16)
            else:
                out += f.raw
        return out

    def node(self, message: bytes) -> bytes:
        """A NodeProto. Fields: 2 results, 4 the operator, 5 attributes."""
        op, outs = _text(message, 4), _texts(message, 2)
        keeps = self._exact.intersection(outs)
        out = b""
        for f in fields(message):
            inner = f.number == 5 and (not keeps or any(g.number == 6 for g in fields(f.value)))
            out += field(5, self.attribute(op, f.value)) if inner else f.raw
        names = [_text(a, 1) for a in _texts(message, 5)]
        if not keeps and op == "ConstantOfShape" and "value" not in names:
            out += field(5, _value(field(1, 1), np.zeros(1, "<f4")))
        if not keeps and op in DRAWN and "dtype" not in names:
            out += field(5, field(1, b"dtype") + field(3, FLOAT16) + field(20, 2))
        return out

    def port(self, message: bytes) -> bytes:
        """A ValueInfoProto. Fields: 2 the type, in it 1 a tensor, 4 a sequence and 9 an optional with a type each."""
        return b"".join(field(2, self.kind(f.value)) if f.number == 2 else f.raw for f in fields(message))

    def kind(self, message: bytes) -> bytes:
        """A TypeProto."""
        out = b""
        for f in fields(message):
            if f.number == 1:
                out += field(
                    1,
                    b"".join(
                        field(1, FLOAT16) if (g.number, g.value) == (1, FLOAT) else g.raw for g in fields(f.value)
                    ),
                )
            elif f.number in (4, 9):
                out += field(
                    f.number,
                    b"".join(field(1, self.kind(g.value)) if g.number == 1 else g.raw for g in fields(f.value)),
                )
            else:
                out += f.raw
        return out

    def graph(self, message: bytes) -> bytes:
        """A GraphProto. Fields: 1 nodes, 5 initializers, 11 inputs, 12 outputs."""
        parts = []
        for f in fields(message):
            if f.number == 1:
                parts.append(field(1, self.node(f.value)))
            elif f.number == 5:
                name = _texts(f.value, 8)
                parts.append(f.raw if self._exact.intersection(name) else field(5, self.tensor(f.value)))
            elif f.number in (11, 12):
                names = _texts(f.value, 1)
                parts.append(f.raw if self._exact.intersection(names) else field(f.number, self.port(f.value)))
            else:
                parts.append(f.raw)
        return b"".join(parts)


def _value(dims: bytes, floats: np.ndarray[Any, Any]) -> bytes:
    """An attribute `value` with a tensor of halves."""
    tensor = dims + field(2, FLOAT16) + field(9, halved(floats))
    return field(1, b"value") + field(5, tensor) + field(20, 4)


def model(data: bytes) -> bytes:
    """A ModelProto in half precision.

    Raises:
        ValueError: it is no ONNX model.
        UnsupportedError: weights are in other files.
    """
    try:
        return b"".join(map(_part, fields(data)))
    except (
        TypeError,
        RecursionError,
    ) as error:  # an integer where a message is wanted, and messages without end in each other
        raise ValueError("[onnx] the file is damaged; want an ONNX model") from error


def _part(f: Field) -> bytes:
    """A field of a ModelProto. Fields: 7 the graph, 25 functions, in them 7 nodes."""
    if f.number == 7:
        return field(7, Halves(exact(_nodes(f.value))).graph(f.value))
    if f.number != 25:
        return f.raw
    halves = Halves(exact(_nodes(f.value, 7)))
    return field(25, b"".join(field(7, halves.node(g.value)) if g.number == 7 else g.raw for g in fields(f.value)))


def wide(data: bytes) -> list[bool]:
    """Whether each output of a model is of float32, as `model` finds it."""
    graph = next((f.value for f in fields(data) if f.number == 7 and f.kind == 2), b"")
    kinds = [b"".join(_texts(port, 2)) for port in _texts(graph, 12)]
    return [Halves(set()).kind(kind) != kind for kind in kinds]
