"""KServe's own Python client, kserve.InferenceRESTClient and kserve.InferenceGRPCClient, with a server.

The client comes with KServe's web server and clients of several clouds, 400 MB, so that ./build.sh test serve does not run this.
By hand, after ./build.sh tool:

    python3 -m venv VENV && VENV/bin/pip install kserve==0.21.0 onnx
    VENV/bin/python tests/serve/kserve_client.py
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import logging
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

import models
import numpy as np
import running
from numpy.typing import NDArray

kserve: Any = importlib.import_module("kserve")
# The types of elements that the client has: FP16 and BF16 have no form in JSON.
DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float32", "float64", "bytes")


def elements(dtype: str) -> NDArray[Any]:
    if dtype == "bytes":
        return np.array([["a", "", "日本", "d e"]] * 2, object)
    return (np.arange(8) % 2 if dtype == "bool" else np.arange(8)).reshape(2, 4).astype(dtype)


def request(model: str, inputs: Mapping[str, NDArray[Any]], binary: bool, **parameters: Any) -> Any:
    """A request whose tensors are in the binary form, or in JSON and typed contents."""
    made = []
    for name, value in inputs.items():
        names = {"bool": "BOOL", "object": "BYTES"}
        kind = names.get(value.dtype.name) or value.dtype.name.upper().replace("FLOAT", "FP")
        one = kserve.InferInput(name, list(value.shape), kind)
        one.set_data_from_numpy(value, binary_data=binary)
        made.append(one)
    return kserve.InferRequest(model, made, request_id="seven", parameters=parameters or None)


def same(response: Any, want: Mapping[str, NDArray[Any]]) -> None:
    """The response has the outputs, in their types, and the id of the request."""
    assert response.id == "seven"
    got = {output.name: output.as_numpy() for output in response.outputs}
    assert got.keys() == want.keys()
    for name, value in want.items():
        assert got[name].dtype == value.dtype, (name, got[name].dtype)
        found = got[name].reshape(value.shape)
        if value.dtype == object:  # of bytes, or of texts where they are in JSON
            found = [[v.decode() if isinstance(v, bytes) else v for v in row] for row in found.tolist()]
        np.testing.assert_array_equal(found, value)


async def check(infer: Any, binary: bool, **parameters: Any) -> None:
    """Inferences of a client: every type, two inputs and outputs, and an error."""
    for dtype in DTYPES:
        name = "identity_" + dtype.replace("float", "fp")
        value = elements(dtype)
        same(await infer(request(name, {"x": value}, binary, **parameters)), {"y": value})
    a, b = (np.arange(16, dtype=np.int32).reshape(1, 16) * n for n in (3, 5))
    inputs = {"INPUT0": a, "INPUT1": b}
    same(await infer(request("addsub", inputs, binary, **parameters)), {"OUTPUT0": a + b, "OUTPUT1": a - b})
    for bad in (request("nothing", {"x": a}, binary), request("addsub", {"INPUT0": a}, binary)):
        try:
            await infer(bad)
        except Exception as error:  # of httpx or grpc
            assert "unknown model" in str(error) or "expected 2 inputs" in str(error), error
        else:
            raise AssertionError("a bad request was answered")


async def rest(address: str) -> None:
    url = f"http://{address}"
    async with kserve.InferenceRESTClient(kserve.RESTConfig(protocol="v2")) as client:
        assert await client.is_server_live(url) is True
        assert await client.is_server_ready(url) is True
        assert await client.is_model_ready(url, "addsub") is True
        assert await client.is_model_ready(url, "nothing") is False

        async def infer(r: Any) -> Any:
            return await client.infer(url, r, r.model_name)

        await check(infer, binary=False)
        await check(infer, binary=True)
        await check(infer, binary=True, binary_data_output=True)


async def grpc(address: str) -> None:
    async with kserve.InferenceGRPCClient(address) as client:
        assert await client.is_server_live() is True
        assert await client.is_server_ready() is True
        assert await client.is_model_ready("addsub") is True
        await check(client.infer, binary=False)
        await check(client.infer, binary=True)


def main() -> None:
    logging.getLogger("kserve").setLevel(logging.CRITICAL)  # it logs the errors that are wanted, with their stacks
    with tempfile.TemporaryDirectory() as folder:
        repository = models.repository(pathlib.Path(folder))
        with running.serving(str(repository), "--log-info=false") as server:
            asyncio.run(rest(server.http))
            asyncio.run(grpc(server.grpc))
    print(f"kserve {importlib.metadata.version('kserve')}: passed")


if __name__ == "__main__":
    main()
