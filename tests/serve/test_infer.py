"""tritonclient asks the server over HTTP and gRPC, synchronously and with asyncio; NumPy says what is right."""

from __future__ import annotations

import asyncio
import queue
from typing import Any

import ml_dtypes
import models
import numpy as np
import pytest
import tritonclient.grpc as grpc
import tritonclient.grpc.aio as grpc_aio
import tritonclient.http as http
import tritonclient.http.aio as http_aio
from tritonclient.utils import InferenceServerException, triton_to_np_dtype

PROTOCOLS = {"http": http, "grpc": grpc}


def connect(server, protocol):
    """A client of a server."""
    return PROTOCOLS[protocol].InferenceServerClient(getattr(server, protocol))


def given(module, **arrays):
    """Arrays as inputs."""
    made = []
    for name, (datatype, array) in arrays.items():
        one = module.InferInput(name, list(array.shape), datatype)
        one.set_data_from_numpy(array)
        made.append(one)
    return made


def random(datatype: str, shape):
    """Elements of a datatype."""
    generator = np.random.default_rng(1)
    dtype = ml_dtypes.bfloat16 if datatype == "BF16" else triton_to_np_dtype(datatype)
    if datatype == "BYTES":
        return np.array([b"a" * n for n in generator.integers(0, 100, np.prod(shape))], object).reshape(shape)
    if datatype == "BOOL":
        return generator.integers(0, 2, shape).astype(bool)
    if datatype == "BF16" or np.issubdtype(dtype, np.floating):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("datatype", models.DATATYPES)
def test_every_datatype_comes_back(server, protocol, datatype):
    module, name = PROTOCOLS[protocol], f"identity_{datatype.lower()}"
    x = random(datatype, (3, 4))
    with connect(server, protocol) as client:
        y = client.infer(name, given(module, x=(datatype, x))).as_numpy("y")
    assert y.dtype == x.dtype and (y.tolist() == x.tolist() if datatype == "BYTES" else y.tobytes() == x.tobytes())


@pytest.mark.parametrize("protocol", ["http", "http with JSON", "grpc"])
@pytest.mark.parametrize("datatype", models.UNSIGNED)
def test_quotients_of_unsigned_integers(server, protocol, datatype):
    """Numbers in the upper half of the type, which are negative ones as signed integers, exactly."""
    module, dtype = PROTOCOLS[protocol[:4]], triton_to_np_dtype(datatype)
    largest = np.iinfo(dtype).max
    x = np.array([[largest, largest - 1, largest // 2 + 1, largest // 2], [largest] * 4], dtype)
    by = np.array([[1, 3, 2, largest], [largest, largest // 2 + 1, 10, 7]], dtype)
    inputs = []
    for name, array in {"x": x, "by": by}.items():
        inputs.append(module.InferInput(name, array.shape, datatype))
        inputs[-1].set_data_from_numpy(array, **({"binary_data": False} if "JSON" in protocol else {}))
    outputs = [http.InferRequestedOutput("y", binary_data=False)] if "JSON" in protocol else None
    with connect(server, protocol[:4]) as client:
        model = client.get_model_metadata(
            f"divide_{datatype.lower()}", **({"as_json": True} if protocol == "grpc" else {})
        )
        assert [p["datatype"] for p in (*model["inputs"], *model["outputs"])] == [datatype] * 3
        y = client.infer(f"divide_{datatype.lower()}", inputs, outputs=outputs).as_numpy("y")
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, x // by)


@pytest.mark.parametrize("request_compression", [None, "gzip", "deflate"])
@pytest.mark.parametrize("response_compression", [None, "gzip", "deflate"])
@pytest.mark.parametrize("binary", [True, False])
def test_forms_of_http(server, request_compression, response_compression, binary):
    a, b = np.arange(32, dtype=np.int32).reshape(2, 16), np.full((2, 16), 3, np.int32)
    with connect(server, "http") as client:
        inputs = [http.InferInput(f"INPUT{i}", [2, 16], "INT32") for i in range(2)]
        inputs[0].set_data_from_numpy(a, binary_data=binary)
        inputs[1].set_data_from_numpy(b, binary_data=not binary)
        outputs = [
            http.InferRequestedOutput("OUTPUT0", binary_data=binary),
            http.InferRequestedOutput("OUTPUT1", binary_data=not binary),
        ]
        result = client.infer(
            "addsub",
            inputs,
            outputs=outputs,
            request_id="seven",
            request_compression_algorithm=request_compression,
            response_compression_algorithm=response_compression,
        )
    assert result.get_response()["id"] == "seven"
    np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), a + b)
    np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), a - b)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_only_the_outputs_that_are_asked_for(server, protocol):
    module = PROTOCOLS[protocol]
    a = np.ones((1, 16), np.int32)
    with connect(server, protocol) as client:
        result = client.infer(
            "addsub",
            given(module, INPUT0=("INT32", a), INPUT1=("INT32", a)),
            outputs=[module.InferRequestedOutput("OUTPUT1")],
        )
    assert result.as_numpy("OUTPUT0") is None
    np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), a - a)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_classification(server, protocol):
    module = PROTOCOLS[protocol]
    x = np.array([[0.5, 3, -1, 2], [1, 1, 1, 7]], np.float32)
    with connect(server, protocol) as client:
        result = client.infer(
            "labels", given(module, x=("FP32", x)), outputs=[module.InferRequestedOutput("y", class_count=2)]
        )
    assert result.as_numpy("y").tolist() == [
        [b"3.000000:1:one", b"2.000000:3:three"],
        [b"7.000000:3:three", b"1.000000:0:zero"],
    ]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_shapes(server, protocol):
    module = PROTOCOLS[protocol]
    with connect(server, protocol) as client:
        for name, shape in {"reshaped": (3, 4), "fixed": (2, 3), "any": (2, 5)}.items():
            x = random("FP32", shape)
            y = client.infer(name, given(module, x=("FP32", x))).as_numpy("y")
            np.testing.assert_array_equal(y, -x)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_versions(server, protocol):
    module = PROTOCOLS[protocol]
    x = -np.ones((1, 4), np.float32)
    with connect(server, protocol) as client:
        assert client.is_model_ready("versions", "1") and client.is_model_ready("versions", "3")
        for version, want in {"1": -x, "3": abs(x), "": abs(x)}.items():
            result = client.infer("versions", given(module, x=("FP32", x)), version)
            np.testing.assert_array_equal(result.as_numpy("y"), want)
            told = result.get_response()
            assert (told["model_version"] if protocol == "http" else told.model_version) == (version or "3")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_async_requests(server, protocol):
    module = PROTOCOLS[protocol]
    x = random("FP32", (1, 4))
    with connect(server, protocol) as client:
        if protocol == "http":
            waiting = [client.async_infer("batched", given(module, x=("FP32", x + i))) for i in range(16)]
            results = [one.get_result() for one in waiting]
        else:
            done: queue.Queue[tuple[Any, Any]] = queue.Queue()
            for i in range(16):
                client.async_infer(
                    "batched",
                    given(module, x=("FP32", x + i)),
                    lambda result, error: done.put((result, error)),
                    request_id=str(i),
                )
            pairs = [done.get(timeout=60) for _ in range(16)]
            assert all(error is None for _, error in pairs)
            results = sorted((result for result, _ in pairs), key=lambda result: int(result.get_response().id))
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result.as_numpy("y"), -(x + i))


def test_stream(server):
    x = random("FP32", (1, 4))
    done: queue.Queue[tuple[Any, Any]] = queue.Queue()
    with connect(server, "grpc") as client:
        client.start_stream(lambda result, error: done.put((result, error)))
        for i in range(10):
            client.async_stream_infer("batched", given(grpc, x=("FP32", x + i)), request_id=str(i))
        client.async_stream_infer("none", given(grpc, x=("FP32", x)), request_id="bad")
        client.async_stream_infer("batched", given(grpc, x=("FP32", x)), request_id="last")
        for i in range(10):
            result, error = done.get(timeout=60)
            assert error is None and result.get_response().id == str(i)
            assert result.get_response().parameters["triton_final_response"].bool_param
            np.testing.assert_array_equal(result.as_numpy("y"), -(x + i))
        assert "Request for unknown model: 'none' is not found" in str(done.get(timeout=60)[1])
        assert done.get(timeout=60)[0].get_response().id == "last"


def test_asyncio(server):
    x = random("FP32", (1, 4))

    async def ask():
        async with (
            http_aio.InferenceServerClient(server.http) as one,
            grpc_aio.InferenceServerClient(server.grpc) as two,
        ):
            assert await one.is_server_ready() and await two.is_server_ready()
            results = await asyncio.gather(
                *(one.infer("batched", given(http_aio, x=("FP32", x + i))) for i in range(8)),
                *(two.infer("batched", given(grpc_aio, x=("FP32", x + (8 + i)))) for i in range(8)),
            )
            for i, result in enumerate(results):
                np.testing.assert_array_equal(result.as_numpy("y"), -(x + i))

    asyncio.run(ask())


def test_typed_contents(server):
    """Clients of KServe send elements in typed fields and not as bytes."""
    from tritonclient.grpc import service_pb2, service_pb2_grpc

    with grpc.grpc.insecure_channel(server.grpc) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        for datatype, field in {
            "INT8": "int_contents",
            "UINT8": "uint_contents",
            "FP64": "fp64_contents",
            "BOOL": "bool_contents",
        }.items():
            request = service_pb2.ModelInferRequest(model_name=f"identity_{datatype.lower()}")
            tensor = request.inputs.add(name="x", datatype=datatype, shape=[1, 4])
            getattr(tensor.contents, field).extend([1, 0, 1, 1])
            raw = stub.ModelInfer(request).raw_output_contents[0]
            assert np.frombuffer(raw, triton_to_np_dtype(datatype)).tolist() == [1, 0, 1, 1]
            tensor.contents.int64_contents.append(1)
            with pytest.raises(grpc.grpc.RpcError, match="unexpected explicit tensor data"):
                stub.ModelInfer(request)


# Requests that are refused: how to spoil a good one, and the message of tritonserver.
SPOILED: dict[str, dict[str, Any]] = {
    "[request id: <id_unknown>] inference request batch-size must be <= 4 for 'addsub'": {"shape": [5, 16]},
    "unexpected inference input 'X' for model 'addsub'": {"name": "X"},
    "[request id: <id_unknown>] inference input 'INPUT0' data-type is 'FP32', but model 'addsub' expects 'INT32'": {
        "datatype": "FP32"
    },
    "[request id: <id_unknown>] unexpected shape for input 'INPUT0' for model 'addsub'. Expected [-1,16], got [1,15]. NOTE: ": {
        "shape": [1, 15]
    },
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("message", SPOILED)
def test_refusals(server, protocol, message):
    module, change = PROTOCOLS[protocol], SPOILED[message]
    shape = change.get("shape", [1, 16])
    datatype = change.get("datatype", "INT32")
    with connect(server, protocol) as client:
        inputs = given(
            module,
            **{
                change.get("name", "INPUT0"): (datatype, np.ones(shape, triton_to_np_dtype(datatype))),
                "INPUT1": ("INT32", np.ones([shape[0], 16], np.int32)),
            },
        )
        with pytest.raises(InferenceServerException) as error:
            client.infer("addsub", inputs)
    assert error.value.message().startswith(message)
    assert error.value.status() == ("400" if protocol == "http" else "StatusCode.INVALID_ARGUMENT")
