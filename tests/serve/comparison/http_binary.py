"""Inferences with binary tensors over HTTP: what the sizes say is not what is there."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from typing import Any

from case import Case, binary, post, tensor

MODEL = "type_fp32"
DATA = struct.pack("<4f", 1, -2, 0.1, float("nan"))


def given(size: Any = 16, name: str = "x", **more: Any) -> dict[str, Any]:
    return tensor(name, data=None, binary_data_size=size, **more)


def cases() -> Iterator[Case]:
    yield from sizes()
    yield from lengths()
    yield from datatypes()
    yield from raw()


def sizes() -> Iterator[Case]:
    head = {"inputs": [given()], "parameters": {"binary_data_output": True}}
    yield binary("binary", MODEL, head, DATA)
    yield binary("binary, answer as JSON", MODEL, {"inputs": [given()]}, struct.pack("<4f", 1, 2, 3, 4))
    yield binary("binary, answer of NaN as JSON", MODEL, {"inputs": [given()]}, DATA)
    yield binary("binary with an id", MODEL, {**head, "id": "7"}, DATA)
    yield binary("binary, a byte too few", MODEL, head, DATA[:-1])
    yield binary("binary, a byte too many", MODEL, head, DATA + b"x")
    yield binary("binary, nothing behind", MODEL, head, b"")
    yield binary("binary, twice as much", MODEL, head, DATA * 2)
    wrong: list[Any] = [0, 1, 15, 17, 32, -1, 2**31, 2**32 + 16, 2**63, 2**64 - 1, 2**64, 1.5, "16", None, True, [], {}]
    for size in wrong:
        yield binary(f"binary_data_size {size!r}", MODEL, {"inputs": [given(size)]}, DATA)
    yield binary("a size that suits the bytes, but not the shape", MODEL, {"inputs": [given(8)]}, DATA[:8])
    yield binary("binary, data as well", MODEL, {"inputs": [{**given(), "data": [1, 2, 3, 4]}]}, DATA)
    yield binary("binary, region as well", MODEL, {"inputs": [given(shared_memory_region="r")]}, DATA)
    yield binary("binary, a batch of 0", MODEL, {"inputs": [tensor(data=None, shape=(0, 4), binary_data_size=0)]}, b"")
    yield binary(
        "binary, an open dimension of 0",
        "wide",
        {"inputs": [tensor(data=None, shape=(1, 0), binary_data_size=0)], "parameters": {"binary_data_output": True}},
        b"",
    )
    two = [tensor(f"INPUT{i}", "INT32", (1, 16), None, binary_data_size=64) for i in range(2)]
    a, b = struct.pack("<16i", *range(16)), struct.pack("<16i", *[3] * 16)
    both = {"inputs": two, "parameters": {"binary_data_output": True}}
    yield binary("two binary inputs", "addsub", both, a + b)
    yield binary("two binary inputs, turned", "addsub", {**both, "inputs": two[::-1]}, a + b)
    yield binary("the first of two is too short", "addsub", both, a[:-4] + b)
    yield binary(
        "the first of two takes all",
        "addsub",
        {"inputs": [tensor("INPUT0", "INT32", (1, 16), None, binary_data_size=128), two[1]]},
        a + b,
    )
    yield binary(
        "one binary, one JSON", "addsub", {"inputs": [two[0], tensor("INPUT1", "INT32", (1, 16), [1] * 16)]}, a
    )
    yield binary(
        "one JSON, one binary", "addsub", {"inputs": [tensor("INPUT0", "INT32", (1, 16), [1] * 16), two[1]]}, b
    )
    yield binary(
        "all JSON, and bytes behind",
        "addsub",
        {"inputs": [tensor(f"INPUT{i}", "INT32", (1, 16), [1] * 16) for i in range(2)]},
        b,
    )
    yield binary("all JSON, and a header", MODEL, {"inputs": [tensor()]}, b"")
    yield binary("an input twice in binary", "addsub", {"inputs": [two[0], two[0]]}, a + b)
    yield binary("a wrong input in binary", "addsub", {"inputs": [two[0], {**two[1], "name": "z"}]}, a + b)


def lengths() -> Iterator[Case]:
    head = json.dumps({"inputs": [given()]}).encode()
    n = len(head)
    for name, length in {
        "one too few": n - 1,
        "one too many": n + 1,
        "the whole body": n + 16,
        "more than the body": n + 17,
        "much more": 10**6,
        "2^31": 2**31,
        "2^64": 2**64,
        "one": 1,
        "negative": -1,
        "negative zero": "-0",
        "a plus": f"+{n}",
        "spaces": f"  {n} ",
        "no number": "x",
        "a number and letters": f"{n}x",
        "a fraction": f"{n}.5",
        "hexadecimal": hex(n),
        "zeros before": f"000{n}",
        "empty": "",
        "a word before": f"x{n}",
    }.items():
        yield binary(f"length of the JSON: {name}", MODEL, head, DATA, length=length)
    path = f"/v2/models/{MODEL}/infer"
    yield post(
        "length of the JSON twice",
        path,
        head + DATA,
        ("Inference-Header-Content-Length", str(n)),
        ("Inference-Header-Content-Length", str(n)),
    )
    yield post("length of the JSON in small letters", path, head + DATA, ("inference-header-content-length", str(n)))
    yield post("no length of the JSON", path, head + DATA)
    yield post(
        "binary in gzip",
        path,
        gzip.compress(head + DATA, mtime=0),
        ("Inference-Header-Content-Length", str(n)),
        ("Content-Encoding", "gzip"),
    )
    chunks = b"%x\r\n%s\r\n%x\r\n%s\r\n0\r\n\r\n" % (n, head, 16, DATA)
    yield post(
        "binary in chunks", path, chunks, ("Inference-Header-Content-Length", str(n)), ("Transfer-Encoding", "chunked")
    )
    yield binary("binary in a list", MODEL, b"[]", DATA)
    yield binary("binary, no JSON", MODEL, b"rubbish", DATA)


def datatypes() -> Iterator[Case]:
    bits = {"BOOL": b"\1\0\1\1", "UINT8": b"\0\1\xfe\xff", "INT8": b"\0\1\xfe\xff"}
    for datatype, size in {"UINT16": 2, "UINT32": 4, "UINT64": 8}.items():
        largest = 2 ** (8 * size) - 1
        bits[datatype] = b"".join(n.to_bytes(size, "little") for n in (0, largest, largest // 2, largest // 2 + 1))
    for datatype, size in {
        "BOOL": 1,
        "UINT8": 1,
        "UINT16": 2,
        "UINT32": 4,
        "UINT64": 8,
        "INT8": 1,
        "INT16": 2,
        "INT32": 4,
        "INT64": 8,
        "FP16": 2,
        "BF16": 2,
        "FP32": 4,
        "FP64": 8,
    }.items():
        data = bits.get(datatype, bytes(range(4 * size)))
        for name, wanted in {"": True, ", answer as JSON": False}.items():
            head = {
                "inputs": [tensor(datatype=datatype, data=None, binary_data_size=len(data))],
                "parameters": {"binary_data_output": wanted},
            }
            yield binary(f"binary {datatype}{name}", f"type_{datatype.lower()}", head, data)
        classes = {
            "inputs": [tensor(datatype=datatype, data=None, binary_data_size=len(data))],
            "outputs": [{"name": "y", "parameters": {"classification": 1}}],
        }
        if datatype in ("FP16", "BF16"):
            yield binary(f"classes of {datatype}", f"type_{datatype.lower()}", classes, data)
    yield binary(
        "binary BOOL of other bytes",
        "type_bool",
        {
            "inputs": [tensor(datatype="BOOL", data=None, binary_data_size=4)],
            "parameters": {"binary_data_output": True},
        },
        b"\0\1\2\xff",
    )
    texts = b"".join(struct.pack("<I", len(t)) + t for t in (b"a", b"", b"\xff\xfe", b"0123456789"))
    for name, data in {
        "texts": texts,
        "cut": texts[:-1],
        "a lying length": struct.pack("<I", 2**32 - 1) + b"abcd",
        "empty": b"",
        "too few": texts[:5],
    }.items():
        yield binary(
            f"binary BYTES: {name}",
            MODEL,
            {"inputs": [tensor(datatype="BYTES", data=None, binary_data_size=len(data))]},
            data,
        )
    for datatype in ("UINT16", "UINT32", "UINT64", "FP8", ""):
        yield binary(
            f"binary {datatype} for FP32",
            MODEL,
            {"inputs": [tensor(datatype=datatype, data=None, binary_data_size=16)]},
            DATA,
        )
    for name, shape in {
        "wraps to 16 bytes": [2**62, 4],
        "2^63": [1, 2**63],
        "negative": [1, -4],
        "wraps to 0": [2**32, 2**32],
        "batch of 2": [2, 4],
    }.items():
        yield binary(
            f"binary of shape: {name}", MODEL, {"inputs": [tensor(data=None, shape=shape, binary_data_size=16)]}, DATA
        )
    yield binary(
        "binary of an open shape that wraps",
        "open",
        {"inputs": [tensor(data=None, shape=[2**62, 4], binary_data_size=16)]},
        DATA,
    )


def raw() -> Iterator[Case]:
    """A body that is the only input, without JSON."""
    zero = ("Inference-Header-Content-Length", "0")
    for name, model, data in [
        ("raw", MODEL, DATA),
        ("raw, too few bytes", MODEL, DATA[:-1]),
        ("raw, too many bytes", MODEL, DATA * 2),
        ("raw, nothing", MODEL, b""),
        ("raw, two inputs", "addsub", DATA * 16),
        ("raw, a fixed shape", "fixed", struct.pack("<6f", *range(6))),
        ("raw, an open dimension", "wide", DATA),
        ("raw, an open dimension, no whole element", "wide", DATA[:-1]),
        ("raw, two open dimensions", "open", DATA),
        ("raw, an optional input", "optional", DATA),
        ("raw, whole numbers", "type_int8", b"\1\2\3\4"),
        ("raw, a reshaped input", "reshaped", DATA),
        ("raw, an ensemble", "both", struct.pack("<4f", 1, 2, 3, 4)),
        ("raw, no model", "none", DATA),
    ]:
        yield post(name, f"/v2/models/{model}/infer", data, zero)
    yield post("raw JSON", f"/v2/models/{MODEL}/infer", {"inputs": [tensor()]}, zero)
    yield post(
        "raw in gzip", f"/v2/models/{MODEL}/infer", gzip.compress(DATA, mtime=0), zero, ("Content-Encoding", "gzip")
    )
    yield post("raw of a version", "/v2/models/versions/versions/2/infer", DATA, zero)
