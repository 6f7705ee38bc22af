"""System shared memory: regions, and tensors in them. Objects are made before and removed after the corpus."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rpc_infer
from case import Case, get, infer, post, rpc, tensor
from tritonclient.grpc import service_pb2 as pb

KEY = "/paddle-mps-corpus"
SIZE = 256


@contextlib.contextmanager
def objects() -> Iterator[None]:
    """Objects with numbers and an empty one."""
    files = [Path("/dev/shm" + KEY + end) for end in ("", "-2", "-3", "-4", "-5", "-empty")]
    try:
        for f in files:
            f.write_bytes(b"" if f is files[-1] else struct.pack("<4f", 1, 2, 3, 4) + bytes(SIZE - 16))
        yield
    finally:
        for f in files:
            f.unlink(missing_ok=True)


def register(name: str, region: str, body: Any) -> Case:
    return post(f"memory: register {name}", f"/v2/systemsharedmemory/region/{region}/register", body)


def place(region: Any = "r", size: Any = 16, offset: Any = None) -> dict[str, Any]:
    made = {"shared_memory_region": region, "shared_memory_byte_size": size, "shared_memory_offset": offset}
    return {k: v for k, v in made.items() if v is not None}


def cases() -> Iterator[Case]:
    good = {"key": KEY, "byte_size": SIZE}
    for name, body in {
        "nothing": b"",
        "an empty object": {},
        "no key": {"byte_size": 4},
        "no size": {"key": KEY},
        "a size of 0": {**good, "byte_size": 0},
        "a size below 0": {**good, "byte_size": -1},
        "a size as a text": {**good, "byte_size": "4"},
        "a fraction": {**good, "byte_size": 1.5},
        "a size too large": {**good, "byte_size": SIZE + 1},
        "a huge size": {**good, "byte_size": 2**64 - 1},
        "a size of 2^64": {**good, "byte_size": 2**64},
        "an offset below 0": {**good, "offset": -1},
        "an offset as a text": {**good, "offset": "0"},
        "an offset behind the end": {**good, "offset": 4096},
        "an offset and a size that wrap": {**good, "offset": 4096, "byte_size": 2**64 - 4096},
        "a key that there is not": {**good, "key": "/paddle-mps-none"},
        "a key as a number": {**good, "key": 1},
        "an empty key": {**good, "key": ""},
        "a key with a folder": {**good, "key": "/../etc/passwd"},
        "a long key": {**good, "key": "/" + "a" * 300},
        "a reserved key": {**good, "key": "triton_python_backend_shm_region_x"},
        "an empty object of the machine": {**good, "key": KEY + "-empty"},
        "a list": [],
        "no JSON": b"{",
    }.items():
        yield register(name, "bad", body)
    yield register("a region", "r", good)
    yield register("it again", "r", good)
    yield register("it in another size", "r", {**good, "byte_size": 16})
    yield register("a second one", "größe".replace("ö", "%C3%B6").replace("ß", "%C3%9F"), {**good, "key": KEY + "-2"})
    yield register("unknown members", "s", {**good, "key": KEY + "-3", "x": 1})
    yield register("without a slash", "t", {**good, "key": KEY[1:] + "-4"})
    yield dataclasses.replace(
        register("the object of another region", "u", good),
        varies="500 invalid shared memory region, or 400 invalid args, by chance",
    )
    yield get("memory: status", "/v2/systemsharedmemory/status")
    yield get("memory: status of a region", "/v2/systemsharedmemory/region/r/status")
    yield get("memory: status of none", "/v2/systemsharedmemory/region/none/status")
    yield rpc("SystemSharedMemoryStatus", "SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest())
    yield rpc(
        "SystemSharedMemoryStatus of a region", "SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest(name="r")
    )
    yield rpc(
        "SystemSharedMemoryStatus of none", "SystemSharedMemoryStatus", pb.SystemSharedMemoryStatusRequest(name="none")
    )
    request = pb.SystemSharedMemoryRegisterRequest
    for name, message in {
        "a region": request(name="g", key=KEY + "-5", byte_size=SIZE),
        "it again": request(name="g", key=KEY + "-5", byte_size=SIZE),
        "nothing": request(),
        "no size": request(name="h", key=KEY),
        "no key": request(name="h", byte_size=4),
        "too much": request(name="h", key=KEY + "-5", byte_size=SIZE + 1),
        "an offset behind the end": request(name="h", key=KEY + "-5", byte_size=4, offset=4096),
        "an object that there is not": request(name="h", key="/paddle-mps-none", byte_size=4),
    }.items():
        yield rpc(f"SystemSharedMemoryRegister: {name}", "SystemSharedMemoryRegister", message)
    yield from inputs()
    yield from outputs()
    yield from importlib.import_module("texts").in_memory()  # which places its strings by this module
    yield post("memory: unregister none", "/v2/systemsharedmemory/region/none/unregister")
    yield post("memory: unregister", "/v2/systemsharedmemory/region/r/unregister")
    yield post("memory: unregister again", "/v2/systemsharedmemory/region/r/unregister")
    yield infer("memory: a region that was there", "type_fp32", tensor(data=None, **place()))
    yield rpc(
        "SystemSharedMemoryUnregister", "SystemSharedMemoryUnregister", pb.SystemSharedMemoryUnregisterRequest(name="g")
    )
    yield rpc(
        "SystemSharedMemoryUnregister of none",
        "SystemSharedMemoryUnregister",
        pb.SystemSharedMemoryUnregisterRequest(name="none"),
    )
    yield post("memory: unregister all", "/v2/systemsharedmemory/unregister")
    yield get("memory: status after all", "/v2/systemsharedmemory/status")
    for name, body in {
        "nothing": b"",
        "a handle": {"raw_handle": {"b64": "AAAA"}, "device_id": 0, "byte_size": 4},
        "no handle": {"device_id": 0, "byte_size": 4},
    }.items():
        yield post(f"CUDA memory: {name}", "/v2/cudasharedmemory/region/c/register", body)
    yield post("CUDA memory: unregister none", "/v2/cudasharedmemory/region/none/unregister")


def inputs() -> Iterator[Case]:
    for name, where in {
        "an input": place(),
        "an input at an offset": place(offset=4),
        "an input at the end": place(offset=SIZE - 16),
        "an input behind the end": place(offset=SIZE - 15),
        "an offset behind the end": place(offset=SIZE),
        "an offset far behind the end": place(offset=2**63),
        "an offset that wraps": place(offset=2**64 - 16),
        "an offset below 0": place(offset=-1),
        "an offset as a text": place(offset="0"),
        "no size": place(size=None),
        "a size of 0": place(size=0),
        "a size too small": place(size=15),
        "a size too large for the shape": place(size=32),
        "a size too large": place(size=SIZE + 1),
        "a size below 0": place(size=-1),
        "a size as a text": place(size="16"),
        "an unknown region": place("none"),
        "a region as a number": place(1),
        "an empty region": place(""),
    }.items():
        yield infer(f"memory: {name}", "type_fp32", tensor(data=None, **where))
        if all(not isinstance(v, int) or -(2**63) <= v < 2**63 for v in where.values()):
            yield rpc(
                f"memory over gRPC: {name}", "ModelInfer", rpc_infer.request(inputs=[rpc_infer.tensor(**where)], raw=())
            )
    yield infer("memory: an input and data", "type_fp32", tensor(**place()))
    yield rpc(
        "memory over gRPC: an input and raw contents",
        "ModelInfer",
        rpc_infer.request(inputs=[rpc_infer.tensor(**place())]),
    )
    yield infer(
        "memory: an input of a datatype without JSON", "type_fp16", tensor(datatype="FP16", data=None, **place(size=8))
    )
    unsigned = tensor(datatype="UINT64", data=None, **place(size=32, offset=SIZE - 32))
    where = {"name": "y", "parameters": place(size=32, offset=192)}
    large = tensor(datatype="UINT64", data=[2**64 - 1, 2**63, 2**63 - 1, 1])
    yield infer("memory: an output of UINT64", "type_uint64", large, outputs=[where])
    yield infer(
        "memory: an input of UINT64", "half", tensor(datatype="UINT64", data=None, **place(size=32, offset=192))
    )
    yield infer("memory: an input of UINT64 at the end", "type_uint64", unsigned)


def outputs() -> Iterator[Case]:
    for name, where in {
        "an output": place(offset=128),
        "an output in a place too small": place(offset=128, size=15),
        "an output in a larger place": place(offset=128, size=64),
        "an output at the end": place(offset=SIZE - 16),
        "an output behind the end": place(offset=SIZE - 15),
        "an output without a size": place(size=None, offset=128),
        "an output of a size of 0": place(size=0, offset=128),
        "an output at an offset that wraps": place(offset=16, size=2**64 - 16),
        "an output in an unknown region": place("none"),
        "an output as binary data": {**place(offset=128), "binary_data": True},
        "an output as classes": {**place(offset=128), "classification": 1},
        "an output in memory, not binary": {**place(offset=128), "binary_data": False},
    }.items():
        yield infer(f"memory: {name}", "type_fp32", tensor(), outputs=[{"name": "y", "parameters": where}])
        if "wraps" not in name:
            wanted = rpc_infer.wanted("y", **where)
            yield rpc(f"memory over gRPC: {name}", "ModelInfer", rpc_infer.request(outputs=[wanted]))
    yield infer("memory: what was written", "type_fp32", tensor(data=None, **place(offset=128)))
    yield infer(
        "memory: an output and the input, overlapping",
        "type_fp32",
        tensor(data=None, **place()),
        outputs=[{"name": "y", "parameters": place(offset=4)}],
    )
