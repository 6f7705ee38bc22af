"""Inferences over gRPC: raw and typed contents, parameters, streams, and messages that are none."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from case import Case, rpc
from tritonclient.grpc import service_pb2 as pb

MODEL = "type_fp32"
DATA = struct.pack("<4f", 1, -2, 0.1, float("nan"))


def tensor(name: str = "x", datatype: str = "FP32", shape: Any = (1, 4), **parameters: Any) -> Any:
    return pb.ModelInferRequest.InferInputTensor(
        name=name, datatype=datatype, shape=shape, parameters=values(parameters)
    )


def values(given: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the protocol; a pair names the field of the value."""
    made = {}
    for name, value in given.items():
        if isinstance(value, tuple):
            made[name] = pb.InferParameter(**{value[0]: value[1]})
        elif isinstance(value, bool):
            made[name] = pb.InferParameter(bool_param=value)
        elif isinstance(value, int):
            made[name] = pb.InferParameter(int64_param=value)
        elif isinstance(value, float):
            made[name] = pb.InferParameter(double_param=value)
        elif value is None:
            made[name] = pb.InferParameter()
        else:
            made[name] = pb.InferParameter(string_param=value)
    return made


def wanted(name: str, **parameters: Any) -> Any:
    return pb.ModelInferRequest.InferRequestedOutputTensor(name=name, parameters=values(parameters))


def request(model: str = MODEL, inputs: Any = None, raw: Any = (DATA,), parameters: Any = (), **more: Any) -> Any:
    return pb.ModelInferRequest(
        model_name=model,
        inputs=[tensor()] if inputs is None else inputs,
        raw_input_contents=raw,
        parameters=values(dict(parameters)),
        **more,
    )


def infer(name: str, *arguments: Any, **more: Any) -> Case:
    return rpc(f"gRPC {name}", "ModelInfer", request(*arguments, **more))


def typed(name: str, model: str, datatype: str, shape: Any = (1, 4), raw: Any = (), **contents: Any) -> Case:
    one = tensor(datatype=datatype, shape=shape)
    one.contents.CopyFrom(pb.InferTensorContents(**contents))
    return infer(f"typed: {name}", model, [one], raw)


def cases() -> Iterator[Case]:
    yield from raws()
    yield from contents()
    yield from parameters()
    yield from outputs()
    yield from streams()
    yield from messages()


def raws() -> Iterator[Case]:
    yield infer("raw")
    yield infer("raw with an id", id="seven")
    yield infer("raw with an id that is not ASCII", id="日本 🎉")
    yield infer("no model", "none")
    yield infer("no name of a model", "")
    yield infer("a model that did not load", "damaged")
    yield infer("a model whose name is not ASCII", "größe")
    for version in ("1", "2", "7", "3", "0", "-1", "x", "01", " 1", "1x", "99999999999999999999"):
        yield infer(f"version {version!r}", "versions", model_version=version)
    yield infer("no data", raw=())
    yield infer("an empty blob", raw=(b"",))
    yield infer("a blob too many", raw=(DATA, DATA))
    yield infer("a byte too few", raw=(DATA[:-1],))
    yield infer("a byte too many", raw=(DATA + b"x",))
    yield infer("no input", inputs=[])
    yield infer("nothing at all", inputs=[], raw=())
    yield infer("an input twice", inputs=[tensor(), tensor()], raw=(DATA, DATA))
    yield infer("a wrong name", inputs=[tensor("z")])
    yield infer("an empty name", inputs=[tensor("")])
    yield infer("a name that is not ASCII", inputs=[tensor("ä")])
    for datatype in ("INT32", "FP64", "FP16", "BYTES", "UINT64", "FP8", "", "fp32"):
        yield infer(f"datatype {datatype!r}", inputs=[tensor(datatype=datatype)])
    for shape in (
        (),
        (4,),
        (1, 4, 1),
        (1, 3),
        (4, 1),
        (2, 4),
        (5, 4),
        (0, 4),
        (1, 0),
        (-1, 4),
        (1, -1),
        (1, -4),
        (-1, -4),
        (-(2**63), 4),
        (2**62, 4),
        (2**32, 2**32),
        (1, 2**62),
        (1, 2**63 - 1),
    ):
        yield infer(f"shape {shape}", inputs=[tensor(shape=shape)])
    for batch in (2, 4, 5):
        yield infer(f"batch of {batch}", inputs=[tensor(shape=(batch, 4))], raw=(DATA * batch,))
    yield infer("batch of 0, no bytes", inputs=[tensor(shape=(0, 4))], raw=(b"",))
    yield infer("an open shape", "open", [tensor(shape=(2, 2))])
    yield infer("an open shape of nothing", "open", [tensor(shape=(0, 2))], (b"",))
    yield infer("an open shape that wraps", "open", [tensor(shape=(2**62, 4))])
    yield infer("a fixed shape", "fixed", [tensor(shape=(2, 3))], (struct.pack("<6f", *range(6)),))
    yield infer("a reshaped input", "reshaped")
    yield infer("an optional input left out", "optional")
    yield infer("an optional input", "optional", [tensor(), tensor("scale")], (DATA, DATA))
    yield infer("only an optional input", "optional", [tensor("scale")])
    yield infer("an ensemble", "both")
    yield infer(
        "unsigned integers, halved",
        "half",
        [tensor(datatype="UINT64")],
        (struct.pack("<4Q", 2**64 - 1, 2**63, 2**63 - 1, 1),),
    )
    yield infer(
        "an index out of range", "gather", [tensor(datatype="INT64", shape=(1, 2))], (struct.pack("<2q", 7, 0),)
    )
    two = [tensor(f"INPUT{i}", "INT32", (1, 16)) for i in range(2)]
    a, b = struct.pack("<16i", *range(16)), struct.pack("<16i", *[3] * 16)
    yield infer("two inputs", "addsub", two, (a, b))
    yield infer("two inputs turned", "addsub", two[::-1], (a, b))
    yield infer("one blob for two inputs", "addsub", two, (a + b,))
    yield infer("one of two inputs", "addsub", two[:1], (a,))
    yield infer("batches that differ", "addsub", [two[0], tensor("INPUT1", "INT32", (2, 16))], (a, b + b))
    yield infer("three inputs", "addsub", [*two, tensor("INPUT2", "INT32", (1, 16))], (a, b, b))
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
        "FP64": 8,
    }.items():
        data = b"\1\0\1\0" if datatype == "BOOL" else bytes(range(256 - 4 * size, 256))
        yield infer(f"raw {datatype}", f"type_{datatype.lower()}", [tensor(datatype=datatype)], (data,))
    texts = b"".join(struct.pack("<I", len(t)) + t for t in (b"a", b"", b"\xff\xfe", b"0123456789"))
    yield infer("raw BYTES", inputs=[tensor(datatype="BYTES")], raw=(texts,))
    yield infer("raw BYTES with a lying length", inputs=[tensor(datatype="BYTES")], raw=(struct.pack("<I", 2**32 - 1),))


def contents() -> Iterator[Case]:
    fields: dict[str, Any] = {
        "bool_contents": [True, False, True, False],
        "int_contents": [1, -2, 300, 2**31 - 1],
        "int64_contents": [1, -2, 2**63 - 1, -(2**63)],
        "uint_contents": [1, 2, 300, 2**32 - 1],
        "uint64_contents": [1, 2, 3, 2**64 - 1],
        "fp32_contents": [1, -2, 0.1, float("inf")],
        "fp64_contents": [1, -2, 0.1, float("-inf")],
        "bytes_contents": [b"a", b"", b"\xff", b"abcd"],
    }
    for datatype in "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 BF16 FP32 FP64".split():
        for field, value in fields.items():
            yield typed(f"{field} for {datatype}", f"type_{datatype.lower()}", datatype, **{field: value})
    for datatype, field in {
        "UINT16": "uint_contents",
        "UINT32": "uint_contents",
        "UINT64": "uint64_contents",
        "BYTES": "bytes_contents",
    }.items():
        yield typed(f"{field} of {datatype} for FP32", MODEL, datatype, **{field: fields[field]})
    yield typed("too few", MODEL, "FP32", fp32_contents=[1, 2, 3])
    yield typed("too many", MODEL, "FP32", fp32_contents=[1] * 5)
    yield typed("none", MODEL, "FP32")
    yield typed("two fields", MODEL, "FP32", fp32_contents=[1] * 4, int_contents=[1] * 4)
    yield typed(
        "two fields, the wrong one first", "type_int32", "INT32", bool_contents=[True] * 4, int_contents=[1] * 4
    )
    yield typed("raw as well", MODEL, "FP32", raw=(DATA,), fp32_contents=[1] * 4)
    yield typed("an empty blob as well", MODEL, "FP32", raw=(b"",), fp32_contents=[1] * 4)
    yield typed("an unknown datatype", MODEL, "FP8", fp32_contents=[1] * 4)
    a, b = tensor("INPUT0", "INT32", (1, 16)), tensor("INPUT1", "INT32", (1, 16))
    a.contents.int_contents.extend(range(16))
    yield infer("typed and raw inputs", "addsub", [a, b], (struct.pack("<16i", *range(16)),))
    b.contents.int_contents.extend([2] * 16)
    yield infer("two typed inputs", "addsub", [a, b], ())


def parameters() -> Iterator[Case]:
    for name, value in {
        "a number": {"a": 1},
        "a text": {"a": "b"},
        "true": {"a": True},
        "a fraction": {"a": 1.5},
        "unsigned": {"a": ("uint64_param", 2**64 - 1)},
        "nothing": {"a": None},
        "an empty name": {"": 1},
        "triton_": {"triton_x": 1},
        "triton_enable_empty_final_response": {"triton_enable_empty_final_response": True},
        "triton_enable_empty_final_response a number": {"triton_enable_empty_final_response": 1},
        "triton_enable_empty_final_response a text": {"triton_enable_empty_final_response": "x"},
        "sequence_id": {"sequence_id": 42, "sequence_start": True, "sequence_end": False},
        "sequence_id as a text": {"sequence_id": "a"},
        "sequence_id negative": {"sequence_id": -1},
        "sequence_id true": {"sequence_id": True},
        "sequence_id a fraction": {"sequence_id": 1.5},
        "sequence_start a number": {"sequence_start": 1},
        "sequence_end a text": {"sequence_end": "true"},
        "priority 1": {"priority": 1},
        "priority unsigned": {"priority": ("uint64_param", 2)},
        "priority negative": {"priority": -1},
        "priority a text": {"priority": "1"},
        "priority true": {"priority": True},
        "timeout": {"timeout": 10_000_000},
        "timeout negative": {"timeout": -1},
        "timeout a text": {"timeout": "1"},
        "timeout unsigned": {"timeout": ("uint64_param", 1)},
        "headers": {"headers": "x"},
        "binary_data_output": {"binary_data_output": True},
    }.items():
        yield infer(f"parameters: {name}", parameters=value)
    yield infer("a timeout that passes in the queue", "queued", parameters={"timeout": 1000})
    yield infer("a level of priority", "priorities", parameters={"priority": 3})
    yield infer("a level of priority that there is not", "priorities", parameters={"priority": 9})
    for name, value in {
        "binary_data_size": 16,
        "unknown": "x",
        "shared_memory_region": "none",
        "shared_memory_byte_size": 16,
    }.items():
        yield infer(f"parameter of the input: {name}", inputs=[tensor(**dict[str, Any]({name: value}))])


def outputs() -> Iterator[Case]:
    two = [tensor(f"INPUT{i}", "INT32", (1, 16)) for i in range(2)]
    data = struct.pack("<16i", *range(16)), struct.pack("<16i", *[3] * 16)
    for name, value in {
        "one": [wanted("OUTPUT1")],
        "turned": [wanted("OUTPUT1"), wanted("OUTPUT0")],
        "twice": [wanted("OUTPUT1"), wanted("OUTPUT1")],
        "unknown": [wanted("OUTPUT2")],
        "empty": [wanted("")],
        "classes": [wanted("OUTPUT0", classification=2)],
        "no classes": [wanted("OUTPUT0", classification=0)],
        "classes below 0": [wanted("OUTPUT0", classification=-1)],
        "classes as a text": [wanted("OUTPUT0", classification="2")],
        "classes as a fraction": [wanted("OUTPUT0", classification=2.0)],
        "too many classes": [wanted("OUTPUT0", classification=99)],
        "an unknown parameter": [wanted("OUTPUT0", x=1)],
        "binary_data": [wanted("OUTPUT0", binary_data=False)],
    }.items():
        yield infer(f"outputs: {name}", "addsub", two, data, outputs=value)
    values = struct.pack("<4f", 0.5, 3, -1, 2)
    for model in ("labels", "few_labels", "open"):
        yield infer(f"classes of {model}", model, raw=(values,), outputs=[wanted("y", classification=3)])
    for datatype, size in {"FP16": 2, "BF16": 2, "BOOL": 1}.items():
        yield infer(
            f"classes of {datatype}",
            f"type_{datatype.lower()}",
            [tensor(datatype=datatype)],
            (b"\1\0\1\0" * size,),
            outputs=[wanted("y", classification=2)],
        )


def streams() -> Iterator[Case]:
    def stream(name: str, *messages: Any) -> Case:
        return rpc(f"stream: {name}", "ModelStreamInfer", *messages)

    bad = request(inputs=[tensor("z")], id="bad")
    yield stream("nothing")
    yield stream("one", request(id="1"))
    yield stream("three", *(request(id=str(i)) for i in range(3)))
    yield stream("a wrong one", bad)
    yield stream("a wrong model", request("none", id="1"))
    yield stream("a wrong version", request("versions", id="1", model_version="9"))
    yield stream("no version", request(id="1", model_version="x"))
    yield stream("a wrong one between", request(id="1"), bad, request(id="2"))
    yield stream("no data", request(raw=()))
    yield stream("an empty final response", request(id="1", parameters={"triton_enable_empty_final_response": True}))
    yield stream("an ensemble", request("both", id="1"))
    yield stream(
        "an index out of range",
        request("gather", [tensor(datatype="INT64", shape=(1, 2))], (struct.pack("<2q", 7, 0),), id="1"),
    )
    yield stream("classes", request("labels", outputs=[wanted("y", classification=2)]))


def messages() -> Iterator[Case]:
    good = request().SerializeToString()
    for name, data in {
        "empty": b"",
        "no protobuf": b"\xff\xff\xff\xff",
        "cut": good[:-3],
        "an unknown field": good + b"\xa2\x06\x01a",
        "a wrong type of a field": b"\x08\x01",
        "a text that is no UTF-8": b"\x0a\x02\xff\xfe",
        "rubbish behind": good + b"\x00",
    }.items():
        yield rpc(f"gRPC message: {name}", "ModelInfer", data)
    yield rpc("gRPC method that there is not", "None", b"")
    yield rpc("gRPC service that there is not", "ModelInfer", good, service="inference.None")
    yield rpc("gRPC health", "Check", b"", service="grpc.health.v1.Health")
    yield rpc(
        "gRPC health of the service",
        "Check",
        b"\x0a\x22",
        service="grpc.health.v1.Health",
    )
    service = b"inference.GRPCInferenceService"
    yield rpc(
        "gRPC health of a service", "Check", b"\x0a" + bytes([len(service)]) + service, service="grpc.health.v1.Health"
    )
    yield rpc("gRPC health of no service", "Check", b"\x0a\x01x", service="grpc.health.v1.Health")
    yield rpc(
        "gRPC metadata that nobody reads",
        "ServerLive",
        pb.ServerLiveRequest(),
        metadata=[("x-a", "1"), ("x-b-bin", b"\xff")],
    )
