"""Writes small ONNX files, so that tests need no onnx package. Numbers of fields are those of onnx.proto."""

from __future__ import annotations

import struct
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
    """An integer in the wire format; a negative one as its 64 bits."""
    out = bytearray()
    n &= 2**64 - 1
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


def port(name: str, elem: str, shape: Sequence[Dim] | None, *, sequence: bool = False, optional: bool = False) -> bytes:
    """An input or an output of a graph."""
    tensor = field(1, ELEMS[elem])
    if shape is not None:
        tensor += field(2, b"".join(field(1, dim(d)) for d in shape))
    kind = field(1, tensor)
    if sequence:
        kind = field(4, field(1, kind))
    if optional:
        kind = field(9, field(1, kind))
    return field(1, name) + field(2, kind)


def attribute(name: str, value: Any) -> bytes:
    """An attribute: an integer, a float, a text, a graph, or a list of integers, of floats or of texts; a tensor as `weight` makes it
    in a tuple."""
    floats = isinstance(value, float) or (isinstance(value, list) and isinstance(value[0], float))
    if floats:
        numbers = value if isinstance(value, list) else [value]
        number, kind = (7, 6) if isinstance(value, list) else (2, 1)
        made = b"".join(varint(number << 3 | 5) + struct.pack("<f", x) for x in numbers)
    elif isinstance(value, tuple):
        made, kind = field(5, value[0]), 4
    elif isinstance(value, list) and isinstance(value[0], (str, bytes)):
        made, kind = b"".join(field(9, s) for s in value), 8
    elif isinstance(value, list):
        made, kind = b"".join(field(8, n) for n in value), 7
    else:
        number, kind = (4, 3) if isinstance(value, str) else (6, 5) if isinstance(value, bytes) else (3, 2)
        made = field(number, value)
    return field(1, name) + made + field(20, kind)


def node(op: str, inputs: Sequence[str], outputs: Sequence[str], domain: str = "", **attributes: Any) -> bytes:
    """A node of a domain, the main one by default."""
    made = b"".join(field(1, x) for x in inputs) + b"".join(field(2, y) for y in outputs) + field(4, op)
    if domain:
        made += field(7, domain)
    return made + b"".join(field(5, attribute(name, value)) for name, value in attributes.items())


def graph(nodes: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes]) -> bytes:
    """A graph for an attribute."""
    body = b"".join(field(1, n) for n in nodes) + field(2, "body")
    return body + b"".join(field(11, p) for p in inputs) + b"".join(field(12, p) for p in outputs)


def function(name: str, nodes: Sequence[bytes], inputs: Sequence[str], outputs: Sequence[str]) -> bytes:
    """A function of the domain "own", as a further field of the model."""
    body = field(1, name) + b"".join(field(4, x) for x in inputs) + b"".join(field(5, y) for y in outputs)
    return field(25, body + b"".join(field(7, n) for n in nodes) + field(9, field(2, 17)) + field(10, "own"))


def weight(name: str, array: Any) -> bytes:
    """An initializer of float32, integers or strings."""
    if array.dtype == object:
        texts = b"".join(field(6, s) for s in array.reshape(-1).tolist())
        return b"".join(field(1, n) for n in array.shape) + field(2, ELEMS["string"]) + field(8, name) + texts
    elem = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}[str(array.dtype)]
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
    graph: bytes = b"",
    about: bytes = b"",
    opset: int = 17,
    domains: Sequence[str] = (),
) -> bytes:
    """A file of an opset, with version 1 of other domains. graph and about are further fields of the graph and of the model."""
    body = b"".join(field(1, n) for n in nodes) + field(2, "g") + b"".join(field(5, w) for w in weights) + graph
    body += b"".join(field(11, p) for p in inputs) + b"".join(field(12, p) for p in outputs)
    pairs = b"".join(field(14, field(1, k) + field(2, v)) for k, v in (metadata or {}).items())
    opsets = field(8, field(2, opset)) + b"".join(field(8, field(1, name) + field(2, 1)) for name in domains)
    return field(1, ir) + about + field(7, body) + opsets + pairs
