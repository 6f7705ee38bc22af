"""System shared memory: inputs and outputs in objects of the machine, which their owners may spoil at any time."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import threading
from collections.abc import Iterator

import models
import numpy as np
import pytest
import running
import test_infer
import test_models
import tritonclient.utils.shared_memory as shm
from tritonclient.utils import InferenceServerException, serialize_byte_tensor

PROTOCOLS = test_infer.PROTOCOLS
BYTES = 3 * 16 * 4
OBJECTS = pathlib.Path("/dev/shm")


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[running.Server]:
    with running.serving(
        str(models.repository(tmp_path_factory.mktemp("models"))),
        "--allow-client-shm=true",
        "--http-max-input-size=4096",
    ) as one:
        yield one


@contextlib.contextmanager
def shared(name: str, size: int) -> Iterator[object]:
    """An object of a size and its handle."""
    handle = shm.create_shared_memory_region(name, f"/paddle-mps-{os.getpid()}-{name}", size)
    try:
        yield handle
    finally:
        with contextlib.suppress(shm.SharedMemoryException):
            shm.destroy_shared_memory_region(handle)


def key(name: str) -> str:
    return f"/paddle-mps-{os.getpid()}-{name}"


def tensors(module, inputs=("in", 0), output=("out", 0)):
    """Inputs of addsub in one region and one of its outputs in another, at an offset."""
    given = []
    for i in range(2):
        one = module.InferInput(f"INPUT{i}", [3, 16], "INT32")
        one.set_shared_memory(inputs[0], BYTES, inputs[1] + i * BYTES)
        given.append(one)
    wanted = [module.InferRequestedOutput("OUTPUT0"), module.InferRequestedOutput("OUTPUT1")]
    wanted[0].set_shared_memory(output[0], BYTES, output[1])
    return given, wanted


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_inputs_and_outputs(server, protocol):
    module = PROTOCOLS[protocol]
    a, b = np.arange(48, dtype=np.int32).reshape(3, 16), np.full((3, 16), 7, np.int32)
    with (
        shared("in", 2 * BYTES + 4) as i,
        shared("out", BYTES + 8) as o,
        test_infer.connect(server, protocol) as client,
    ):
        shm.set_shared_memory_region(i, [a, b], 4)
        client.register_system_shared_memory("in", key("in"), 2 * BYTES, 4)
        client.register_system_shared_memory("out", key("out"), BYTES + 8)
        status = client.get_system_shared_memory_status(**({"as_json": True} if protocol == "grpc" else {}))
        if protocol == "http":
            assert status == [
                {"name": "in", "key": key("in"), "offset": 4, "byte_size": 2 * BYTES},
                {"name": "out", "key": key("out"), "offset": 0, "byte_size": BYTES + 8},
            ]
        else:
            assert status["regions"]["in"]["offset"] == "4" and set(status["regions"]) == {"in", "out"}
        given, wanted = tensors(module, output=("out", 8))
        result = client.infer("addsub", given, outputs=wanted)
        np.testing.assert_array_equal(shm.get_contents_as_numpy(o, np.int32, [3, 16], 8), a + b)
        np.testing.assert_array_equal(result.as_numpy("OUTPUT1"), a - b)
        place = result.get_output("OUTPUT0")
        if protocol == "http":
            assert place == {"name": "OUTPUT0", "datatype": "INT32", "shape": [3, 16]}
        else:
            assert list(place.shape) == [3, 16] and result.get_response().raw_output_contents[0] == b""
        client.unregister_system_shared_memory("in")
        with pytest.raises(InferenceServerException, match="Unable to find shared memory region: 'in'"):
            client.infer("addsub", given, outputs=wanted)
        client.unregister_system_shared_memory()
        assert not fetch_status(server)


def fetch_status(server):
    status, body = test_models.fetch(server.http, "/v2/systemsharedmemory/status")
    assert status == 200
    return json.loads(body)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_refusals(server, protocol):
    module = PROTOCOLS[protocol]
    with shared("in", 2 * BYTES), test_infer.connect(server, protocol) as client:
        client.register_system_shared_memory("in", key("in"), 2 * BYTES)
        client.register_system_shared_memory("small", key("in"), BYTES - 1)
        try:
            for inputs, output, text in [
                (("in", 1), ("in", 0), "Invalid offset + byte size for shared memory region: 'in'"),
                (("in", 2 * BYTES), ("in", 0), "Invalid offset for shared memory region: 'in'"),
                (("in", 0), ("none", 0), "Unable to find shared memory region: 'none'"),
                (("in", 0), ("small", 0), "Invalid offset + byte size for shared memory region: 'small'"),
            ]:
                given, wanted = tensors(module, inputs, output)
                with pytest.raises(InferenceServerException) as error:
                    client.infer("addsub", given, outputs=wanted)
                assert error.value.message() == text
            given, wanted = tensors(module)
            wanted[0].set_shared_memory("in", BYTES - 1, 0)
            with pytest.raises(InferenceServerException) as error:
                client.infer("addsub", given, outputs=wanted)
            want = "shared memory size specified with the request for output 'OUTPUT0' (191 bytes) should be at least 192 bytes to hold the results"
            assert error.value.message() == want
            for name, of, size, offset, text in [
                ("in", "in", 1, 0, "shared memory region 'in' already in manager"),
                ("b", "in", 2 * BYTES, 1, "failed to register shared memory region 'b': invalid args"),
                ("b", "none", 1, 0, f"Unable to open shared memory region: '{key('none')}'"),
            ]:
                with pytest.raises(InferenceServerException) as error:
                    client.register_system_shared_memory(name, key(of), size, offset)
                assert error.value.message() == text
        finally:
            client.unregister_system_shared_memory()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_object_that_its_owner_truncates(server, protocol):
    """The input of tritonserver 2.51 that ends the process: here it is an error, and a good request is answered."""
    module = PROTOCOLS[protocol]
    with shared("in", 2 * BYTES) as i, test_infer.connect(server, protocol) as client:
        client.register_system_shared_memory("in", key("in"), 2 * BYTES)
        given, wanted = tensors(module, output=("in", 0))
        file = OBJECTS / key("in")[1:]
        client.infer("addsub", given, outputs=wanted)
        os.truncate(file, 16)
        with pytest.raises(InferenceServerException, match="which has been truncated"):
            client.infer("addsub", given, outputs=wanted)
        assert file.stat().st_size == 16
        os.truncate(file, 2 * BYTES)
        shm.set_shared_memory_region(i, [np.ones(96, np.int32)])
        np.testing.assert_array_equal(
            client.infer("addsub", given, outputs=wanted).as_numpy("OUTPUT1"), np.zeros((3, 16))
        )
        stop = threading.Event()

        def spoil() -> None:
            while not stop.is_set():
                os.truncate(file, 0)
                os.truncate(file, 2 * BYTES)

        spoiler = threading.Thread(target=spoil)
        spoiler.start()
        try:
            for _ in range(200):
                with contextlib.suppress(InferenceServerException):
                    client.infer("addsub", given, outputs=wanted)
        finally:
            stop.set()
            spoiler.join()
        client.unregister_system_shared_memory("in")
        assert client.is_server_ready()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_sparse_object_takes_no_memory(server, protocol):
    """Its size says nothing: an input has at most as many bytes as a body may have."""
    module = PROTOCOLS[protocol]
    with test_infer.connect(server, protocol) as client:
        path = OBJECTS / key("sparse")[1:]
        with path.open("wb") as f:
            f.truncate(1 << 40)
        try:
            client.register_system_shared_memory("sparse", key("sparse"), 1 << 40)
            one = module.InferInput("x", [1, 1 << 38], "FP32")
            one.set_shared_memory("sparse", 1 << 40)
            with pytest.raises(InferenceServerException, match="exceeds the maximum allowed input size"):
                client.infer("any", [one])
        finally:
            client.unregister_system_shared_memory()
            path.unlink()


def test_off_unless_asked_for(tmp_path):
    models.unary(tmp_path / "m", "Neg")
    with running.serving(str(tmp_path)) as server:
        text = "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable."
        for path in ("/v2/systemsharedmemory/region/a/register", "/v2/systemsharedmemory/unregister"):
            status, body = test_models.fetch(server.http, path, b'{"key":"/a","byte_size":1}')
            assert (status, json.loads(body)["error"]) == (501, text)
        with test_infer.connect(server, "grpc") as client, pytest.raises(InferenceServerException, match="disabled"):
            client.register_system_shared_memory("a", "/a", 1)
        assert fetch_status(server) == []


def test_bodies_of_a_registration(server):
    for body, status, text in [
        (b"{}", 400, "Shared memory register request has no 'key' field"),
        (b'{"key":"/a"}', 400, "Shared memory register request has no 'byte_size' field"),
        (b'{"key":"//","byte_size":1}', 400, "cannot register shared memory region 'a' - invalid shm key '//'"),
        (b'{"key":"/../etc/passwd","byte_size":1}', 500, "Unable to open shared memory region: '/../etc/passwd'"),
    ]:
        got, answer = test_models.fetch(server.http, "/v2/systemsharedmemory/region/a/register", body)
        assert (got, json.loads(answer)["error"]) == (status, text)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_strings(server, protocol):
    """Inputs and outputs of strings; a client reserves more for an output than it takes, or too little."""
    module = PROTOCOLS[protocol]
    texts = np.array([[b"cat", b""], [b"a" * 1000, "日本".encode()]], object)
    size = sum(4 + len(one) for one in texts.ravel())
    with shared("texts", 4096) as memory, test_infer.connect(server, protocol) as client:
        shm.set_shared_memory_region(memory, [serialize_byte_tensor(texts)])
        client.register_system_shared_memory("texts", key("texts"), 4096)
        x, y = module.InferInput("x", [2, 2], "BYTES"), module.InferRequestedOutput("y")
        x.set_shared_memory("texts", size, 0)
        y.set_shared_memory("texts", 2048, 2048)
        client.infer("any_text", [x], outputs=[y])
        assert shm.get_contents_as_numpy(memory, np.object_, [2, 2], offset=2048).tolist() == texts.tolist()
        y.set_shared_memory("texts", size - 1, 2048)
        want = rf"\({size - 1} bytes\) should be at least {size} bytes to hold the results"
        with pytest.raises(InferenceServerException, match=want):
            client.infer("any_text", [x], outputs=[y])
        x.set_shared_memory("texts", size - 1, 0)
        with pytest.raises(InferenceServerException, match="incomplete string data for inference input 'x'"):
            client.infer("any_text", [x])
        client.unregister_system_shared_memory()
