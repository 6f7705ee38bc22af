"""Tensors of strings, datatype BYTES, in every form; lengths that lie."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import memory
import rpc_infer
from case import Case, binary, get, infer, post, rpc, tensor

MODEL = "type_bytes"
BINARY: dict[str, Any] = {"parameters": {"binary_data_output": True}}


def wire(*texts: str | bytes) -> bytes:
    """Strings as the data of a tensor."""
    encoded = [t.encode() if isinstance(t, str) else t for t in texts]
    return b"".join(struct.pack("<I", len(t)) + t for t in encoded)


FOUR = wire("a", "", "日本", "d e")


def given(data: Any, shape: Any = (1, 4), name: str = "x", **more: Any) -> dict[str, Any]:
    """An input as JSON."""
    return tensor(name, "BYTES", shape, data, **more)


def cases() -> Iterator[Case]:
    for model in (MODEL, "one_text", "open_text", "join", "texts"):
        yield get(f"GET {model} of strings", f"/v2/models/{model}")
        yield get(f"GET {model}/config of strings", f"/v2/models/{model}/config")
    yield from in_json()
    yield from in_binary()
    yield from raw()
    yield from over_grpc()
    yield from models()


def in_json() -> Iterator[Case]:
    for name, data in {
        "four": ["a", "b", "c", "d"],
        "empty": [""] * 4,
        "nested": [["a", "b"], ["c", "d"]],
        "nested oddly": [["a", ["b"]], [["c", "d"]]],
        "unicode": ["ä", "日本", "🎉", "\u2028"],
        "escapes": ['"', "\\", "/", "\b\t\n\f\r"],
        "control characters": ["\0", "a\0b", "\x01\x1f", "\x7f"],
        "HTML": ["<b>", "&amp;", "'", ">"],
        "long": ["x" * 1000] * 4,
        "too few": ["a", "b", "c"],
        "none": [],
        "too many": ["a"] * 5,
        "far too many": ["a"] * 9,
        "numbers": [1, 2, 3, 4],
        "a number within": ["a", "b", 3, "d"],
        "a number behind": ["a", "b", "c", "d", 1],
        "true": [True, "b", "c", "d"],
        "null": ["a", None, "c", "d"],
        "an object": ["a", {}, "c", "d"],
        "a text": "abcd",
        "a text alone": {"0": "a"},
    }.items():
        yield infer(f"strings: {name}", MODEL, {**given(None), "data": data})
    for name, text in {
        "a surrogate alone": '"\\ud800"',
        "a pair": '"\\ud83c\\udf89"',
        "a zero": '"\\u0000"',
        "a wrong escape": '"\\x"',
        "a line break": '"\n"',
        "an open text": '"a',
    }.items():
        body = f'{{"inputs":[{{"name":"x","datatype":"BYTES","shape":[1,4],"data":[{text},"","",""]}}]}}'
        yield post(f"strings: {name}, as it is written", f"/v2/models/{MODEL}/infer", body)
    for shape, count in (((2, 4), 8), ((4, 4), 16), ((5, 4), 20), ((0, 4), 0), ((4,), 4), ((1, 3), 3), ((1, 2**40), 2)):
        yield infer(f"strings of shape {shape}", MODEL, given(["a"] * count, shape))
    for datatype in ("FP32", "STRING", "TYPE_STRING", "bytes", "INT64"):
        yield infer(f"datatype {datatype} for BYTES", MODEL, tensor(datatype=datatype))
    yield infer(
        "strings as binary data", MODEL, given(["a"] * 4), outputs=[{"name": "y", "parameters": {"binary_data": True}}]
    )
    classes = [{"name": "y", "parameters": {"classification": 1}}]
    yield infer("classes of strings", MODEL, given(["a"] * 4), outputs=classes, dies="SIGFPE")


def in_binary() -> Iterator[Case]:
    def case(name: str, data: bytes, shape: Any = (1, 4), model: str = MODEL, **more: Any) -> Case:
        head = {"inputs": [given(None, shape, binary_data_size=len(data))], **more}
        return binary(f"binary strings: {name}", model, head, data)

    yield case("four", FOUR)
    yield case("four, back in binary", FOUR, **BINARY)
    yield case("empty, back in binary", wire("", "", "", ""), **BINARY)
    for name, data in {
        "three": wire("a", "b", "c"),
        "five": wire("a", "b", "c", "d", "e"),
        "six": wire("a", "b", "c", "d", "e", "f"),
        "none": b"",
        "one with all": wire(FOUR),
        "a length that is cut": wire("a", "b", "c") + b"\1\0",
        "a byte behind": FOUR + b"x",
        "four bytes behind": FOUR + b"\0\0\0\0",
        "the largest length first": b"\xff\xff\xff\xff" + FOUR,
        "the largest length alone": b"\xff\xff\xff\xff",
        "the largest length fifth": FOUR + b"\xff\xff\xff\xff",
        "a negative length": b"\xfb\xff\xff\xff" + FOUR,
        "big-endian": b"".join(struct.pack(">I", 1) + b"a" for _ in range(4)),
        "elements of FP32": struct.pack("<4f", 1, 2, 3, 4),
    }.items():
        yield case(name, data)
    yield case("the last is cut", FOUR[:-1])
    yield case("the last has the largest length", wire("a", "b", "c") + b"\xff\xff\xff\xffd")
    yield case("no UTF-8", wire(b"\xff\xfe", b"\xed\xa0\x80", b"\xc3(", b"ok"))
    yield case("no UTF-8, and three", wire(b"\xff\xfe", b"a", b"b"))
    yield case("an open shape", FOUR, (2, 2), "open_text", **BINARY)
    yield case("an open shape of nothing", b"", (0, 3), "open_text")
    yield case("an open shape of nothing, and bytes", wire("a"), (0, 3), "open_text")
    yield case("an open shape that wraps", FOUR, (2**62, 4), "open_text")
    yield case("an open shape of 2^40", FOUR, (1, 2**40), "open_text")


def raw() -> Iterator[Case]:
    for model in ("one_text", MODEL, "open_text", "join"):
        for name, data in {"a text": b"hello", "nothing": b"", "its wire form": wire("a"), "no UTF-8": b"\xff"}.items():
            yield post(
                f"raw, strings of {model}: {name}",
                f"/v2/models/{model}/infer",
                data,
                ("Inference-Header-Content-Length", "0"),
            )


def over_grpc() -> Iterator[Case]:
    for name, texts in {
        "four": [b"a", b"", "日本".encode(), b"d"],
        "three": [b"a"] * 3,
        "five": [b"a"] * 5,
        "none": [],
        "no UTF-8": [b"\xff"] * 4,
    }.items():
        yield rpc_infer.typed(f"strings, {name}", MODEL, "BYTES", bytes_contents=texts)
    yield rpc_infer.typed("strings for FP32", "type_fp32", "FP32", bytes_contents=[b"a"] * 4)
    yield rpc_infer.typed("integers for strings", MODEL, "BYTES", int_contents=[1] * 4)
    yield rpc_infer.typed("strings and raw contents", MODEL, "BYTES", raw=(FOUR,), bytes_contents=[b"a"] * 4)
    yield rpc_infer.typed("strings and integers", MODEL, "BYTES", bytes_contents=[b"a"] * 4, int_contents=[1])
    for name, data in {
        "four": FOUR,
        "three": wire("a", "b", "c"),
        "five": wire("a", "b", "c", "d", "e"),
        "a length that is cut": FOUR + b"\1",
        "the largest length": b"\xff\xff\xff\xff" + FOUR,
        "the last is cut": FOUR[:-1],
        "nothing": b"",
    }.items():
        yield rpc_infer.infer(f"strings, {name}", MODEL, [rpc_infer.tensor(datatype="BYTES")], (data,))
    stream = [
        rpc_infer.request(MODEL, [rpc_infer.tensor(datatype="BYTES")], (data,), id=str(i))
        for i, data in enumerate((FOUR, wire("a"), wire("", "", "", "")))
    ]
    yield rpc("stream: strings", "ModelStreamInfer", *stream)


def models() -> Iterator[Case]:
    """Models that look into strings, an optional input, and an ensemble."""
    two = given(["cat", "日本"], (1, 2))
    yield infer("strings, joined", "join", two)
    yield infer("strings, joined with an optional input", "join", two, given(["-"], (1, 1), "ending"))
    yield infer("strings, joined with an empty one", "join", two, given([""], (1, 1), "ending"))
    yield infer("strings, an optional input of another batch", "join", two, given(["-", "+"], (2, 1), "ending"))
    yield infer("strings, only the optional input", "join", given(["-"], (1, 1), "ending"))
    yield infer("strings, an optional input with no string", "join", two, given([], (1, 1), "ending"))
    yield infer("strings through an ensemble", "texts", two)
    yield infer("strings through an ensemble, one too few", "texts", given(["a"], (1, 2)))
    yield infer("numbers of strings", "number", given(["cat", "cow"], (1, 2)))
    yield infer("strings of numbers", "name", tensor(datatype="INT64", shape=(1, 2), data=[8, 10]))


def in_memory() -> Iterator[Case]:
    """Strings in the region r, whose bytes from the 16th on are zeros: lengths of empty strings."""
    zeros = memory.place(size=16, offset=32)
    yield infer("memory: empty strings", MODEL, given(None, **zeros))
    yield infer("memory: numbers as strings", MODEL, given(None, **memory.place()))
    yield infer("memory: too few strings", MODEL, given(None, **memory.place(size=12, offset=32)))
    yield infer("memory: too many strings", MODEL, given(None, **memory.place(size=20, offset=32)))
    yield infer("memory: strings and a rest", MODEL, given(None, **memory.place(size=17, offset=32)))
    texts = given(["a", "", "日本", "d"])
    for name, where in {
        "as large as they are": memory.place(size=24, offset=96),
        "in a larger place": memory.place(size=64, offset=96),
        "in a place too small": memory.place(size=23, offset=160),
        "in a place of no size": memory.place(size=0, offset=160),
    }.items():
        yield infer(f"memory: strings {name}", MODEL, texts, outputs=[{"name": "y", "parameters": where}])
        message = rpc_infer.request(
            MODEL, [rpc_infer.tensor(datatype="BYTES")], (FOUR,), outputs=[rpc_infer.wanted("y", **where)]
        )
        yield rpc(f"memory over gRPC: strings {name}", "ModelInfer", message)
    yield infer("memory: strings that were written", MODEL, given(None, **memory.place(size=len(FOUR), offset=96)))
