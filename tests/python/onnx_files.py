"""Writes small ONNX files, so that tests need no onnx package. Numbers of fields are those of onnx.proto."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union

import numpy as np

Dim = Union[int, str, None]
# TensorProto.DataType
ELEMS = {
    name: number
    for number, name in enumerate(
        "undefined float uint8 int8 uint16 int16 int32 int64 string bool float16 double uint32 uint64 complex64 complex128 "
        "bfloat16 float8e4m3fn float8e4m3fnuz float8e5m2 float8e5m2fnuz uint4 int4 float4e2m1 float8e8m0 uint2 int2".split()
    )
}


def varint(n: int) -> bytes:
    """An integer in the wire format."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def field(number: int, value: Any) -> bytes:
    """A field: an integer, a text, bytes or a message."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def dim(size: Dim) -> bytes:
    """A dimension: a size, the name of one, or nothing."""
    return b"" if size is None else field(1, size) if isinstance(size, int) else field(2, size)


def port(name: str, elem: str, shape: Sequence[Dim] | None) -> bytes:
    """An input or an output of a graph."""
    tensor = field(1, ELEMS[elem])
    if shape is not None:
        tensor += field(2, b"".join(field(1, dim(d)) for d in shape))
    return field(1, name) + field(2, field(1, tensor))


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], **ints: int) -> bytes:
    """A node, with attributes that are integers."""
    made = b"".join(field(1, x) for x in inputs) + b"".join(field(2, y) for y in outputs) + field(4, op)
    return made + b"".join(field(5, field(1, name) + field(3, n) + field(20, 2)) for name, n in ints.items())


def weight(name: str, array: Any) -> bytes:
    """An initializer of float32 or int64."""
    elem = {"float32": 1, "int64": 7}[str(array.dtype)]
    raw = field(2, elem) + field(8, name) + field(9, np.ascontiguousarray(array).tobytes())
    return b"".join(field(1, n) for n in array.shape) + raw


def model(
    nodes: Sequence[bytes],
    inputs: Sequence[bytes],
    outputs: Sequence[bytes],
    weights: Sequence[bytes] = (),
    metadata: Mapping[str, str] | None = None,
    *,
    ir: int = 8,
    opset: int = 17,
    graph: bytes = b"",
    about: bytes = b"",
) -> bytes:
    """A file. graph and about are further fields of the graph and of the model."""
    body = b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, w) for w in weights) + graph
    body += b"".join(field(11, p) for p in inputs) + b"".join(field(12, p) for p in outputs)
    pairs = b"".join(field(14, field(1, k) + field(2, v)) for k, v in (metadata or {}).items())
    return field(1, ir) + about + field(7, body) + field(8, field(2, opset)) + pairs
