"""Tensors of strings, datatype BYTES: tritonclient asks for models of strings, and onnx's reference evaluator says what is right."""

from __future__ import annotations

import asyncio
import importlib
import json
import struct
from typing import Any

import models
import numpy as np
import pytest
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as http
import tritonclient.http.aio as http_aio
from numpy.typing import NDArray
from test_hostile import rss
from test_infer import PROTOCOLS, connect, given
from test_models import fetch
from tritonclient.utils import InferenceServerException

reference: Any = importlib.import_module("onnx.reference")

TEXTS = np.array([["cat", "dog"], ["", "日本 🎉"], ["a\0b", '"\\\n\x7f<&>/' * 3], ["cat", "x" * 100_000]], object)
ENDINGS = np.array([["!"], [""], [" é"], ["cat"]], object)


@pytest.fixture(scope="module")
def oracle(tmp_path_factory) -> dict[str, Any]:
    """The models of strings by name, as onnx computes them."""
    paths = models.strings(tmp_path_factory.mktemp("strings"))
    return {name: reference.ReferenceEvaluator(str(path)) for name, path in paths.items()}


def encoded(array: NDArray[Any]) -> NDArray[Any]:
    """Strings as tritonclient returns them: bytes."""
    return np.array([s.encode() for s in array.ravel()], object).reshape(array.shape)


# Models of the oracle, and their inputs.
ASKED: list[tuple[str, dict[str, tuple[str, NDArray[Any]]]]] = [
    ("any_text", {"x": ("BYTES", TEXTS)}),
    ("join", {"x": ("BYTES", TEXTS)}),
    ("join", {"x": ("BYTES", TEXTS), "ending": ("BYTES", ENDINGS)}),
    ("number", {"x": ("BYTES", TEXTS)}),
    ("name", {"x": ("INT64", np.array([[7, 8], [9, 10]]))}),
]


def wanted(oracle: dict[str, Any], name: str, inputs: dict[str, tuple[str, NDArray[Any]]]) -> list[Any]:
    """What a model is to return."""
    feeds = {k: v for k, (_, v) in inputs.items()}
    if name == "join":
        feeds.setdefault("ending", np.array([["!"]], object))
    y = np.asarray(oracle[name].run(None, feeds)[0])
    made: list[Any] = (y if name == "number" else encoded(y)).tolist()
    return made


@pytest.mark.parametrize("protocol", ["http", "http with JSON", "grpc"])
@pytest.mark.parametrize(("name", "inputs"), ASKED, ids=[f"{n}-{len(i)}" for n, i in ASKED])
def test_models_of_strings(server, oracle, protocol, name, inputs):
    module, outputs, made = PROTOCOLS[protocol[:4]], None, given(PROTOCOLS[protocol[:4]], **inputs)
    if "JSON" in protocol:
        outputs = [http.InferRequestedOutput("y", binary_data=False)]
        for one, (_, array) in zip(made, inputs.values(), strict=True):
            one.set_data_from_numpy(array, binary_data=False)
    with connect(server, protocol[:4]) as client:
        model = client.get_model_metadata(name, **({"as_json": True} if module is grpc else {}))
        types = {p["name"]: p["datatype"] for p in (*model["inputs"], *model["outputs"])}
        y = client.infer(name, made, outputs=outputs).as_numpy("y")
    assert {k: types[k] for k in inputs} == {k: d for k, (d, _) in inputs.items()}
    assert types["y"] == ("INT64" if name == "number" else "BYTES")
    # tritonclient returns texts of JSON as they are.
    got = encoded(y) if "JSON" in protocol and name != "number" else y
    assert got.tolist() == wanted(oracle, name, inputs)


def test_asyncio(server, oracle):
    """Requests of both protocols at one time, each with its own strings."""

    async def ask() -> None:
        async with (
            http_aio.InferenceServerClient(server.http) as one,
            grpc_aio.InferenceServerClient(server.grpc) as two,
        ):
            arrays = [np.array([[f"{i}" * i, "é" * (40 - i)]], object) for i in range(40)]
            results = await asyncio.gather(
                *(one.infer("join", given(http_aio, x=("BYTES", a))) for a in arrays[::2]),
                *(two.infer("join", given(grpc_aio, x=("BYTES", a))) for a in arrays[1::2]),
            )
            for a, result in zip([*arrays[::2], *arrays[1::2]], results, strict=True):
                assert result.as_numpy("y").tolist() == wanted(oracle, "join", {"x": ("BYTES", a)})

    asyncio.run(ask())


def test_typed_contents(server):
    """Texts in bytes_contents, more than a request may have fields of other kinds."""
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    with grpc.grpc.insecure_channel(server.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        request = service_pb2.ModelInferRequest(model_name="any_text")
        tensor = request.inputs.add(name="x", datatype="BYTES", shape=[2, 50_000])
        tensor.contents.bytes_contents.extend([b"ab", b""] * 50_000)
        assert stub.ModelInfer(request).raw_output_contents[0] == b"\2\0\0\0ab\0\0\0\0" * 50_000
        tensor.contents.bytes_contents.append(b"")
        with pytest.raises(
            grpc.grpc.RpcError, match="unexpected number of string elements 100001 for inference input 'x'"
        ):
            stub.ModelInfer(request)


def body(data: bytes, shape: list[int]) -> tuple[bytes, str]:
    """A request with data in binary form, and the length of its JSON."""
    one = {"name": "x", "datatype": "BYTES", "shape": shape, "parameters": {"binary_data_size": len(data)}}
    head = json.dumps({"inputs": [one]}).encode()
    return head + data, str(len(head))


# Data of two elements that is none, and what the error says.
LYING = [
    (b"", "expected 2 string elements"),
    (b"\0\0\0\0", "expected 2 string elements"),
    (b"\xff\xff\xff\xff", "expected 2 string elements"),
    (b"\xff\xff\xff\x7f" + b"a" * 100, "expected 2 string elements"),
    (b"\0\0\0\0\xff\xff\xff\xff", "incomplete string data"),
    (b"\0\0\0\0\xfb\xff\xff\xff", "incomplete string data"),
    (b"\0\0\0\0\x01\0\0\0", "incomplete string data"),
    (b"\0\0\0\0\0\0\0", "incomplete string length indicator"),
    (b"\0" * 9, "incomplete string length indicator"),
    (b"\0" * 12, "unexpected number of string elements 3"),
    (b"\x02\0\0\0\xff\xfe\0\0\0\0", "string element 0 of inference input 'x' for model 'any_text' is not UTF-8"),
]


@pytest.mark.parametrize(("data", "text"), LYING, ids=range(len(LYING)))
def test_lying_lengths(server, data, text):
    request, length = body(data, [1, 2])
    status, answer = fetch(server.http, "/v2/models/any_text/infer", request, Inference_Header_Content_Length=length)
    assert (status, text in json.loads(answer)["error"]) == (400, True), answer
    with connect(server, "grpc") as client:
        x = grpc.InferInput("x", [1, 2], "BYTES")
        x._raw_content = data
        with pytest.raises(InferenceServerException, match=text):
            client.infer("any_text", [x])


@pytest.mark.parametrize("shape", [[1, 2**40], [2**31, 2**31], [2**62, 4], [2**63 - 1, 1]])
def test_lying_shapes(server, shape):
    """No memory is taken for elements that are not there."""
    before = rss(server)
    for request, length in (
        body(b"\0" * 8, shape),
        (json.dumps({"inputs": [{"name": "x", "datatype": "BYTES", "shape": shape, "data": ["", ""]}]}).encode(), ""),
    ):
        headers = {"Inference_Header_Content_Length": length} if length else {}
        status, answer = fetch(server.http, "/v2/models/any_text/infer", request, **headers)
        assert status == 400 and "error" in json.loads(answer)
    assert rss(server) - before < 64 << 10


def test_many_strings(server):
    """A million short strings come back; in memory each takes many times its bytes."""
    data = b"".join(struct.pack("<I", 3) + b"%03d" % i for i in range(1000)) * 1000
    request, length = body(data, [1, 1_000_000])
    status, answer = fetch(server.http, "/v2/models/any_text/infer", request, Inference_Header_Content_Length=length)
    assert status == 200 and len(json.loads(answer)["outputs"][0]["data"]) == 1_000_000
