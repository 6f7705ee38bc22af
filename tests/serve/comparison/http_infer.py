"""Inferences as JSON over HTTP."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from typing import Any

from case import Case, infer, post, tensor

MODEL, PATH = "type_fp32", "/v2/models/type_fp32/infer"

# Every datatype of the protocol, of those that models here have.
WHOLE = "UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64".split()
TYPES = ["BOOL", *WHOLE, "FP32", "FP64"]

# Elements of whole numbers that are, or are not, in the range of some type.
NUMBERS = "0 -0 1 -1 127 128 255 256 -128 -129 32767 32768 65536 2147483647 2147483648 -2147483648 -2147483649 4294967295 4294967296 \
9223372036854775807 9223372036854775808 -9223372036854775808 18446744073709551615 18446744073709551616 1.0 1.5 1e2 true null".split()

FLOATS = (
    '0 -0 -0.0 1 1.5 -2.25 0.1 1e10 1e-10 1E+3 3.4028235e38 3.4028236e38 1e39 -1e39 1.17549435e-38 1e-45 1e-50 1.7976931348623157e308 1e309 \
-1e400 5e-324 1e-400 123456789012345678901234567890 0.30000000000000004 16777217 NaN Infinity -Infinity nan inf Inf +1 .5 1. 01 0x10 1e 1e+ --1 true null \
"1" [] {} [1] 1_000 ١'.split()
)


def element(name: str, datatype: str, text: str) -> Case:
    """One element as it is written."""
    body = f'{{"inputs":[{{"name":"x","datatype":"{datatype}","shape":[1,4],"data":[{text},1,2,3]}}]}}'
    return post(name, f"/v2/models/type_{datatype.lower()}/infer", body)


def cases() -> Iterator[Case]:
    yield from elements()
    yield from forms()
    yield from shapes()
    yield from names()
    yield from parameters()
    yield from outputs()
    yield from texts()
    yield from versions()
    yield from encodings()


def elements() -> Iterator[Case]:
    for datatype in WHOLE:
        for text in NUMBERS:
            yield element(f"{datatype} {text}", datatype, text)
    for datatype in ("FP32", "FP64"):
        for text in FLOATS:
            yield element(f"{datatype} {text}", datatype, text)
    for text in ("true", "false", "0", "1", "2", '"true"', "null", "1.0", "TRUE", "[true]"):
        yield element(f"BOOL {text}", "BOOL", text)
    for datatype in ("FP16", "BF16"):
        yield element(f"{datatype} as JSON", datatype, "1")
    for datatype in (
        "BYTES",
        "",
        "FP8",
        "fp32",
        "STRING",
        "INVALID",
        "FP32 ",
        "FP32\\u0000",
    ):
        yield infer(
            f"datatype {datatype!r}", MODEL, json.loads(json.dumps(tensor(datatype=datatype)).replace("\\\\u", "\\u"))
        )
    for datatype in TYPES:
        if datatype != "FP32":
            yield infer(
                f"datatype {datatype} for FP32",
                MODEL,
                tensor(datatype=datatype, data=[True] * 4 if datatype == "BOOL" else [1, 2, 3, 4]),
            )
    for name, data in {
        "texts": ["a", "b", "c", "d"],
        "empty texts": ["", "", "", ""],
        "unicode": ["ä", "日本", "🎉", "\0"],
        "numbers": [1, 2, 3, 4],
        "null": [None] * 4,
        "nested": [["a", "b"], ["c", "d"]],
        "too few": ["a"],
        "too many": ["a"] * 5,
    }.items():
        yield infer(f"BYTES: {name}", MODEL, tensor(datatype="BYTES", data=data))
    for name, text in {
        "a surrogate alone": '"\\ud800"',
        "a pair": '"\\ud83c\\udf89"',
        "a wrong escape": '"\\x"',
        "a line break": '"\n"',
        "an open text": '"a',
    }.items():
        yield post(
            f"BYTES: {name}",
            PATH,
            f'{{"inputs":[{{"name":"x","datatype":"BYTES","shape":[1,4],"data":[{text},"","",""]}}]}}',
        )
    yield post(
        "BYTES: no UTF-8",
        PATH,
        b'{"inputs":[{"name":"x","datatype":"BYTES","shape":[1,4],"data":["\xff\xfe","","",""]}]}',
    )


def forms() -> Iterator[Case]:
    """How elements are nested, and bodies that are no request."""
    for name, data in {
        "nested": [[1, 2, 3, 4]],
        "nested oddly": [[1, [2]], [[3, 4]]],
        "nested twice": [[[1], [2]], [[3], [4]]],
        "too few": [1, 2, 3],
        "too many": [1, 2, 3, 4, 5],
        "nested, too few": [[1, 2, 3]],
        "nested, too many": [[1, 2, 3, 4, 5]],
        "none": [],
        "nested none": [[]],
        "a number": 1,
        "a text": "1234",
        "an object": {"0": 1},
        "true": True,
        "null": None,
        "an object within": [1, 2, 3, {}],
        "deep": json.loads("[" * 50 + "1,2,3,4" + "]" * 50),
        "deep, 98 levels": json.loads("[" * 90 + "1,2,3,4" + "]" * 90),
    }.items():
        one = {**tensor(data=None), "data": data}
        yield infer(f"data: {name}", MODEL, one)
    bodies: dict[str, Any] = {
        "nothing": b"",
        "spaces": b" \n\t",
        "an object": {},
        "a list": [],
        "null": b"null",
        "a number": b"1",
        "a text": b'"a"',
        "open": b"{",
        "open text": b'{"inputs',
        "no colon": b'{"inputs" []}',
        "no UTF-8": b'{"inputs":[],"\xff":1}',
        "zero bytes": b"\0\0\0\0",
        "a zero behind": json.dumps({"inputs": [tensor()]}).encode() + b"\0",
        "spaces around": b"  " + json.dumps({"inputs": [tensor()]}).encode() + b" \r\n",
        "rubbish behind": json.dumps({"inputs": [tensor()]}).encode() + b"x",
        "two objects": json.dumps({"inputs": [tensor()]}).encode() * 2,
        "a byte order mark": b"\xef\xbb\xbf" + json.dumps({"inputs": [tensor()]}).encode(),
        "UTF-16": json.dumps({"inputs": [tensor()]}).encode("utf-16"),
        "a comma too many": b'{"inputs":[],}',
        "a comment": b'{"inputs":[] /* x */}',
        "inputs null": {"inputs": None},
        "inputs an object": {"inputs": {}},
        "inputs a text": {"inputs": "x"},
        "inputs empty": {"inputs": []},
        "an input null": {"inputs": [None]},
        "an input a text": {"inputs": ["x"]},
        "an input a list": {"inputs": [[]]},
        "an input empty": {"inputs": [{}]},
        "inputs twice": b'{"inputs":[],"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]}',
        "inputs twice, good first": b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}],"inputs":[]}',
        "name twice": b'{"inputs":[{"name":"x","name":"z","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]}',
        "data twice": b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,2,3,4],"data":[5]}]}',
        "unknown members": {"inputs": [{**tensor(), "more": {"a": [1]}}], "extra": None},
        "a form": b"inputs=1&x=2",
        "XML": b"<inputs/>",
        "Inputs": {"Inputs": [tensor()]},
        "members escaped": b'{"\\u0069nputs":[{"name":"\\u0078","datatype":"FP32","shape":[1,4],"data":[1,2,3,4]}]}',
    }
    for name, body in bodies.items():
        yield post(f"body: {name}", PATH, body)
    for opened in ("[", '{"a":'):
        yield post(f"body: 200,000 times {opened}", PATH, opened * 200_000, dies="SIGSEGV")


def shapes() -> Iterator[Case]:
    for name, shape in {
        "missing": None,
        "null": "null",
        "empty": [],
        "a number": 4,
        "a text": "1,4",
        "a fraction": [1, 4.0],
        "one and a half": [1, 4.5],
        "a text within": ["1", 4],
        "true": [True, 4],
        "null within": [None, 4],
        "nested": [[1, 4]],
        "negative": [1, -4],
        "minus one": [-1, 4],
        "both negative": [-1, -4],
        "zero": [1, 0],
        "batch of zero": [0, 4],
        "no batch": [4],
        "three dimensions": [1, 1, 4],
        "wrong dimension": [1, 3],
        "wrong order": [4, 1],
        "large": [1, 2**31],
        "larger": [1, 2**62],
        "2^63 - 1": [1, 2**63 - 1],
        "2^63": [1, 2**63],
        "2^64": [1, 2**64],
        "wraps to 4": [2**62, 4],
        "wraps to 0": [2**32, 2**32],
        "a batch too large": [5, 4],
        "many dimensions": [1] * 30 + [4],
    }.items():
        one = tensor(shape=shape)
        if shape == "null":
            one["shape"] = None
        yield infer(
            f"shape: {name}",
            MODEL,
            one,
            dies={"large": "takes 8 GiB and a minute", "larger": "SIGSEGV", "2^63 - 1": "SIGABRT"}.get(name, ""),
        )
    for batch in (1, 2, 3, 4, 5, 0):
        yield infer(f"batch of {batch}", MODEL, tensor(shape=[batch, 4], data=list(range(4 * batch))))
    for name, model, shape in [
        ("a fixed shape", "fixed", [2, 3]),
        ("a fixed shape, flat", "fixed", [6]),
        ("a fixed shape, turned", "fixed", [3, 2]),
        ("a fixed shape with a batch", "fixed", [1, 2, 3]),
        ("an open shape", "open", [3, 2]),
        ("an open shape, 0 columns", "open", [3, 0]),
        ("an open shape, 0 rows", "open", [0, 3]),
        ("an open shape of nothing", "open", [0, 0]),
        ("an open shape with one dimension", "open", [6]),
        ("an open shape, minus one", "open", [-1, 6]),
        ("an open dimension", "wide", [2, 3]),
        ("an open dimension of 0", "wide", [1, 0]),
        ("an open dimension of 1", "wide", [1, 1]),
        ("an open dimension, batch too large", "wide", [3, 2]),
        ("a reshaped input", "reshaped", [1, 4]),
        ("a reshaped input, as the model has it", "reshaped", [1, 2, 2]),
        ("a reshaped input, no batch", "reshaped", [4]),
    ]:
        count = 1
        for d in shape:
            count *= abs(d)
        yield infer(f"{name}", model, tensor(shape=shape, data=list(range(count))))
    yield infer("an index in range", "gather", tensor(datatype="INT64", shape=[1, 2], data=[4, 0]))
    yield infer("an index out of range", "gather", tensor(datatype="INT64", shape=[1, 2], data=[5, 0]))
    yield infer("an index below 0", "gather", tensor(datatype="INT64", shape=[1, 2], data=[-6, 0]))


def names() -> Iterator[Case]:
    a, b = tensor("INPUT0", "INT32", (1, 16), [1] * 16), tensor("INPUT1", "INT32", (1, 16), [2] * 16)
    yield infer("two inputs", "addsub", a, b)
    yield infer("two inputs turned", "addsub", b, a)
    yield infer("one of two inputs", "addsub", a)
    yield infer("the other of two inputs", "addsub", b)
    yield infer("no input of two", "addsub")
    yield infer("an input twice", "addsub", a, a)
    yield infer("three inputs", "addsub", a, b, tensor("INPUT2", "INT32", (1, 16), [2] * 16))
    yield infer("an input too many, and one twice", "addsub", a, b, b)
    yield infer("a wrong name", "addsub", a, {**b, "name": "INPUT2"})
    yield infer("a name in small letters", "addsub", a, {**b, "name": "input1"})
    yield infer("batches that differ", "addsub", a, tensor("INPUT1", "INT32", (2, 16), [2] * 32))
    yield infer("datatypes that differ", "addsub", a, {**b, "datatype": "INT64"})
    yield infer("batches too large", "addsub", *({**t, "shape": [5, 16], "data": [1] * 80} for t in (a, b)))
    yield infer("a wrong shape and a wrong datatype", "addsub", a, tensor("INPUT1", "FP32", (1, 15), [2] * 15))
    for name in ("", "y", "X", "x ", " x", "ä", "日本", "x\0", "a" * 300, '"', "\\", "<b>", "x\n", "/", "é̂"):
        yield infer(f"name of the input: {name[:10]!r}", MODEL, {**tensor(), "name": name})
    for name, value in {"a number": 1, "null": None, "a list": ["x"], "true": True}.items():
        yield infer(f"name of the input is {name}", MODEL, {**tensor(), "name": value})
        yield infer(f"datatype is {name}", MODEL, {**tensor(), "datatype": value})
    for member in ("name", "datatype", "shape", "data"):
        one = tensor()
        del one[member]
        yield infer(f"without {member}", MODEL, one)
    large = tensor(datatype="UINT64", data=[2**64 - 1, 2**63, 2**63 - 1, 1])
    yield infer("unsigned integers, halved", "half", large)
    yield infer("unsigned integers, divided", "half", large, tensor("by", "UINT64", data=[2**64 - 1, 3, 2**63, 1]))
    x, scale = tensor(), tensor("scale", data=[2, 2, 2, 2])
    yield infer("an optional input left out", "optional", x)
    yield infer("an optional input", "optional", x, scale)
    yield infer("an optional input first", "optional", scale, x)
    yield infer("only the optional input", "optional", scale)
    yield infer("no input of an optional one", "optional")
    yield infer("an optional input with a wrong shape", "optional", x, tensor("scale", shape=(1, 3), data=[1, 2, 3]))
    yield infer("an optional input with a wrong batch", "optional", x, tensor("scale", shape=(2, 4), data=[1] * 8))
    yield infer("an optional input and an unknown one", "optional", x, {**scale, "name": "z"})
    yield infer("three inputs for an optional one", "optional", x, scale, {**scale, "name": "z"})
    yield infer("an ensemble", "both", tensor())
    yield infer("an ensemble, batch too large", "both", tensor(shape=(5, 4), data=[1] * 20))
    yield infer("an ensemble, wrong input", "both", {**tensor(), "name": "middle"})
    yield infer("an ensemble, wrong datatype", "both", tensor(datatype="INT32"))
    yield infer("an ensemble, inner output", "both", tensor(), outputs=[{"name": "middle"}])
    yield infer("an ensemble with an id", "both", tensor(), id="7")
    yield infer("a name of the model that is not ASCII", "gr%C3%B6%C3%9Fe", tensor())
    for model in ("none", "damaged", "%2e%2e", "type_fp32%00"):
        yield infer(f"model {model}", model, tensor())


def parameters() -> Iterator[Case]:
    for name, value in {
        "empty": {},
        "a number": {"a": 1},
        "a negative number": {"a": -1},
        "a text": {"a": "b"},
        "true": {"a": True},
        "a fraction": {"a": 1.5},
        "null": {"a": None},
        "a list": {"a": [1]},
        "an object": {"a": {}},
        "an empty name": {"": 1},
        "unicode": {"ä": "日本"},
        "2^63": {"a": 2**63},
        "2^64": {"a": 2**64},
        "triton_": {"triton_x": 1},
        "triton_enable_empty_final_response": {"triton_enable_empty_final_response": True},
        "headers": {"headers": "x"},
        "sequence_id 0": {"sequence_id": 0},
        "sequence_id": {"sequence_id": 42, "sequence_start": True, "sequence_end": False},
        "sequence_id as a text": {"sequence_id": "a", "sequence_start": True},
        "sequence_id empty": {"sequence_id": ""},
        "sequence_id negative": {"sequence_id": -1},
        "sequence_id a fraction": {"sequence_id": 1.5},
        "sequence_id true": {"sequence_id": True},
        "sequence_start a number": {"sequence_start": 1},
        "sequence_end a text": {"sequence_end": "true"},
        "sequence_start alone": {"sequence_start": True},
        "priority 0": {"priority": 0},
        "priority 1": {"priority": 1},
        "priority 9": {"priority": 9},
        "priority negative": {"priority": -1},
        "priority a text": {"priority": "1"},
        "priority true": {"priority": True},
        "priority a fraction": {"priority": 1.0},
        "priority 2^64": {"priority": 2**64},
        "priority 2^64 - 1": {"priority": 2**64 - 1},
        "timeout 0": {"timeout": 0},
        "timeout": {"timeout": 10_000_000},
        "timeout negative": {"timeout": -1},
        "timeout a text": {"timeout": "1"},
        "timeout a fraction": {"timeout": 1.5},
        "timeout 2^63": {"timeout": 2**63},
        "binary_data_output false": {"binary_data_output": False},
        "binary_data_output": {"binary_data_output": True},
        "binary_data_output a number": {"binary_data_output": 1},
        "binary_data_output null": {"binary_data_output": None},
        "binary_data_size": {"binary_data_size": 16},
        "two mistakes": {"priority": "x", "timeout": "y"},
    }.items():
        yield infer(f"parameters: {name}", MODEL, tensor(), parameters=value)
    for name, value in {"null": None, "a list": [], "a text": "x", "a number": 1}.items():
        yield infer(f"parameters are {name}", MODEL, tensor(), parameters=value)
        yield infer(f"parameters of the input are {name}", MODEL, {**tensor(), "parameters": value})
    for priority in (0, 1, 2, 3, 4, 99):
        yield infer(f"levels of priority: {priority}", "priorities", tensor(), parameters={"priority": priority})
    yield infer("a timeout that passes in the queue", "queued", tensor(), parameters={"timeout": 1000})
    yield infer("a timeout that does not pass", "queued", tensor(), parameters={"timeout": 5_000_000})
    yield infer("a timeout of 0 in the queue", "queued", tensor(), parameters={"timeout": 0})
    yield infer(
        "a full batch does not wait", "queued", tensor(shape=(8, 4), data=[1] * 32), parameters={"timeout": 150_000}
    )
    for name, value in {
        "a text": "seven",
        "empty": "",
        "a number": 7,
        "null": None,
        "unicode": "日本 🎉 \u202e",
        "long": "i" * 5000,
        "quotes": '"\\/\b\f\n\r\t',
        "controls": "\x01\x1f\x7f",
        "html": "<&>'",
        "a list": ["a"],
    }.items():
        yield infer(f"id: {name}", MODEL, tensor(), id=value)
    for name, value in {"a text": "seven", "html": "<&>", "quotes": '"\\'}.items():
        yield infer(f"id of a refused request: {name}", MODEL, tensor(shape=(1, 3), data=[1, 2, 3]), id=value)


def outputs() -> Iterator[Case]:
    a, b = tensor("INPUT0", "INT32", (1, 16), list(range(16))), tensor("INPUT1", "INT32", (1, 16), [2] * 16)
    for name, value in {
        "none": [],
        "one": [{"name": "OUTPUT1"}],
        "both": [{"name": "OUTPUT0"}, {"name": "OUTPUT1"}],
        "turned": [{"name": "OUTPUT1"}, {"name": "OUTPUT0"}],
        "twice": [{"name": "OUTPUT1"}, {"name": "OUTPUT1"}],
        "unknown": [{"name": "OUTPUT2"}],
        "empty name": [{"name": ""}],
        "no name": [{}],
        "a name that is a number": [{"name": 1}],
        "a text": "OUTPUT0",
        "an object": {},
        "null": None,
        "null within": [None],
        "a text within": ["OUTPUT0"],
        "an input": [{"name": "INPUT0"}],
        "unknown members": [{"name": "OUTPUT0", "datatype": "FP32", "shape": [1]}],
        "binary": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}],
        "binary and JSON": [{"name": "OUTPUT0", "parameters": {"binary_data": True}}, {"name": "OUTPUT1"}],
        "JSON and binary": [{"name": "OUTPUT0"}, {"name": "OUTPUT1", "parameters": {"binary_data": True}}],
        "not binary": [{"name": "OUTPUT0", "parameters": {"binary_data": False}}],
        "binary_data a number": [{"name": "OUTPUT0", "parameters": {"binary_data": 1}}],
        "binary_data a text": [{"name": "OUTPUT0", "parameters": {"binary_data": "true"}}],
        "parameters null": [{"name": "OUTPUT0", "parameters": None}],
        "parameters a list": [{"name": "OUTPUT0", "parameters": []}],
        "an unknown parameter": [{"name": "OUTPUT0", "parameters": {"x": 1}}],
        "classes": [{"name": "OUTPUT0", "parameters": {"classification": 2}}],
        "no classes": [{"name": "OUTPUT0", "parameters": {"classification": 0}}],
        "more classes than elements": [{"name": "OUTPUT0", "parameters": {"classification": 99}}],
        "classes below 0": [{"name": "OUTPUT0", "parameters": {"classification": -1}}],
        "classes as a text": [{"name": "OUTPUT0", "parameters": {"classification": "1"}}],
        "a fraction of classes": [{"name": "OUTPUT0", "parameters": {"classification": 1.5}}],
        "binary classes": [{"name": "OUTPUT0", "parameters": {"classification": 3, "binary_data": True}}],
    }.items():
        yield infer(f"outputs: {name}", "addsub", a, b, outputs=value)
        if name in ("none", "one", "not binary", "both"):
            yield infer(
                f"outputs: {name}, binary by default",
                "addsub",
                a,
                b,
                outputs=value,
                parameters={"binary_data_output": True},
            )
    yield infer("all outputs binary", "addsub", a, b, parameters={"binary_data_output": True})
    x = tensor(shape=(2, 4), data=[0.5, 3, -1, 2, 1, 1, 1, 7])
    for model in ("labels", "few_labels", "type_fp32", "open", "both"):
        for count in (1, 3, 4, 9):
            yield infer(
                f"{count} classes of {model}",
                model,
                x,
                outputs=[{"name": "y", "parameters": {"classification": count}}],
            )
    yield infer(
        "binary classes of labels",
        "labels",
        x,
        outputs=[{"name": "y", "parameters": {"classification": 2, "binary_data": True}}],
    )
    for datatype in TYPES:
        data: list[object] = [True, False, True, False] if datatype == "BOOL" else [3, 1, 4, 1]
        yield infer(
            f"classes of {datatype}",
            f"type_{datatype.lower()}",
            tensor(datatype=datatype, data=data),
            outputs=[{"name": "y", "parameters": {"classification": 2}}],
        )
    for name, numbers in {
        "UINT64": [2**63 - 1, 2**64 - 1, 2**63, 2**64 - 2],
        "INT64": [2**53, 2**53 + 1, -(2**63), 2**63 - 1],
        "UINT32": [2**31 - 1, 2**32 - 1, 2**31, 0],
        "UINT16": [2**15 - 1, 2**16 - 1, 2**15, 0],
    }.items():
        yield infer(
            f"classes of {name}, large numbers",
            f"type_{name.lower()}",
            tensor(datatype=name, data=numbers),
            outputs=[{"name": "y", "parameters": {"classification": 4}}],
        )
    nan = '{"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,NaN,Infinity,-Infinity]}],"outputs":[{"name":"y","parameters":{"classification":2}}]}'
    yield post("classes of infinities", PATH, nan.replace("NaN", "2"))
    yield infer(
        "the output of a fixed shape",
        "fixed",
        tensor(shape=(2, 3), data=[1, 2, 3, 4, 5, 6]),
        outputs=[{"name": "y", "parameters": {"classification": 1}}],
    )
    yield infer("an output in JSON of FP16 is refused", "type_fp16", tensor(datatype="FP16"))


def texts() -> Iterator[Case]:
    """Types of the body, which do not matter, and headers of connections."""
    body = {"inputs": [tensor()]}
    for value in (
        "application/json",
        "text/plain",
        "application/octet-stream",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "image/png",
        "",
    ):
        yield post(f"Content-Type: {value}", PATH, body, ("Content-Type", value))
    form = ("Content-Type", "application/x-www-form-urlencoded")
    yield post("a large body that is called a form", PATH, json.dumps(body) + " " * (8 << 20), form, dies="SIGSEGV")
    for value in ("application/json", "text/html", "*/*", "image/png"):
        yield post(f"Accept: {value}", PATH, body, ("Accept", value))
    yield post("Expect: nothing", PATH, body, ("Expect", "nothing"))
    yield post("a header twice", PATH, body, ("X-A", "1"), ("X-A", "2"))
    yield post("a header that is not ASCII", PATH, body, ("X-A", "\xe9"))
    text = json.dumps(body).encode()
    chunked = (
        b"".join(b"%x\r\n%s\r\n" % (len(text[i : i + 20]), text[i : i + 20]) for i in range(0, len(text), 20))
        + b"0\r\n\r\n"
    )
    yield post("chunks", PATH, chunked, ("Transfer-Encoding", "chunked"))
    yield post("one chunk", PATH, b"%x\r\n%s\r\n0\r\n\r\n" % (len(text), text), ("Transfer-Encoding", "chunked"))
    yield post("no chunk", PATH, b"0\r\n\r\n", ("Transfer-Encoding", "chunked"))
    yield post("a query", PATH + "?a=b", body)


def versions() -> Iterator[Case]:
    negative = tensor(data=[-1, 2, -3, 4])
    for version in (
        "",
        "/versions/1",
        "/versions/2",
        "/versions/7",
        "/versions/3",
        "/versions/0",
        "/versions/-1",
        "/versions/x",
        "/versions/",
        "/versions/01",
        "/versions/99999999999999999999",
    ):
        yield post(f"infer versions{version}", f"/v2/models/versions{version}/infer", {"inputs": [negative]})


def encodings() -> Iterator[Case]:
    text = json.dumps({"inputs": [tensor()]}).encode()
    packed = gzip.compress(text, mtime=0)
    bodies = {"gzip": packed, "deflate": zlib.compress(text), "identity": text}
    for name, data in bodies.items():
        yield post(f"body in {name}", PATH, data, ("Content-Encoding", name))
        yield post(f"answer in {name}", PATH, text, ("Accept-Encoding", name))
    yield post(
        "body in gzip, binary answer in deflate",
        PATH,
        gzip.compress(json.dumps({"inputs": [tensor()], "parameters": {"binary_data_output": True}}).encode(), mtime=0),
        ("Content-Encoding", "gzip"),
        ("Accept-Encoding", "deflate"),
    )
    for value in (
        "gzip, deflate",
        "deflate, gzip",
        "deflate;q=0.5, gzip;q=0.9",
        "gzip;q=0",
        "gzip;q=0, deflate",
        "br",
        "*",
        "",
        "GZIP",
        "identity, gzip",
        "gzip;q=x",
        "identity;q=0",
    ):
        yield post(f"Accept-Encoding: {value}", PATH, text, ("Accept-Encoding", value))
    for value in ("br", "GZIP", "x-gzip", "gzip, deflate", "compress", ""):
        yield post(f"Content-Encoding: {value}", PATH, packed, ("Content-Encoding", value))
    yield post("gzip that is none", PATH, text, ("Content-Encoding", "gzip"))
    yield post("deflate that is none", PATH, text, ("Content-Encoding", "deflate"))
    yield post("deflate without a header", PATH, zlib.compress(text)[2:-4], ("Content-Encoding", "deflate"))
    yield post("gzip of nothing", PATH, gzip.compress(b"", mtime=0), ("Content-Encoding", "gzip"))
    yield post("no byte of gzip", PATH, b"", ("Content-Encoding", "gzip"))
    yield post("gzip cut short", PATH, packed[:-12], ("Content-Encoding", "gzip"))
    yield post("gzip without its end", PATH, packed[:-8], ("Content-Encoding", "gzip"))
    yield post("gzip with a wrong checksum", PATH, packed[:-8] + b"abcd" + packed[-4:], ("Content-Encoding", "gzip"))
    yield post(
        "deflate with a wrong checksum", PATH, zlib.compress(text)[:-4] + b"abcd", ("Content-Encoding", "deflate")
    )
    yield post(
        "gzip twice in a row",
        PATH,
        gzip.compress(text[:20], mtime=0) + gzip.compress(text[20:], mtime=0),
        ("Content-Encoding", "gzip"),
    )
    yield post("gzip and rubbish", PATH, packed + b"rubbish", ("Content-Encoding", "gzip"))
    yield post("an error in gzip", "/v2/models/none/infer", text, ("Accept-Encoding", "gzip"))
