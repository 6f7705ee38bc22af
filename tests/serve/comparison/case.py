"""A request of the corpus, and short forms for the usual ones."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from typing import Any

# A list of headers, because a header may stand twice.
Headers = list[tuple[str, str]]


@dataclasses.dataclass(frozen=True)
class HTTP:
    """A request over HTTP, byte by byte: a Content-Length is added unless the headers say how the body is sent."""

    method: str
    path: str
    headers: Headers = dataclasses.field(default_factory=list)
    body: bytes = b""


@dataclasses.dataclass(frozen=True)
class RPC:
    """A call over gRPC: messages of a stream, or one; a message is protobuf or bytes that are sent as they are."""

    method: str
    messages: tuple[Any, ...] = ()
    metadata: list[tuple[str, Any]] = dataclasses.field(default_factory=list)
    service: str = "inference.GRPCInferenceService"


@dataclasses.dataclass(frozen=True)
class Case:
    """A request with its name."""

    name: str
    request: HTTP | RPC
    # What becomes of tritonserver 2.51, such as a signal that ends it: the request is sent to our server alone.
    dies: str = ""
    # How the answer of tritonserver 2.51 varies from run to run: recorded in place of it.
    varies: str = ""


def get(name: str, path: str, *headers: tuple[str, str], method: str = "GET") -> Case:
    return Case(name, HTTP(method, path, list(headers)))


def post(
    name: str, path: str, body: Any = b"", *headers: tuple[str, str], method: str = "POST", dies: str = ""
) -> Case:
    """A body that is neither bytes nor text is sent as JSON."""
    if isinstance(body, str):
        body = body.encode()
    elif not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return Case(name, HTTP(method, path, list(headers), body), dies)


def tensor(
    name: str = "x", datatype: str = "FP32", shape: Any = (1, 4), data: Any = (1, 2, 3, 4), **parameters: Any
) -> dict[str, Any]:
    """An input as JSON; what is None is left out."""
    made = {"name": name, "datatype": datatype, "shape": shape, "data": data, "parameters": parameters or None}
    return {k: v for k, v in made.items() if v is not None}


def infer(
    name: str, model: str, *inputs: Any, dies: str = "", headers: Sequence[tuple[str, str]] = (), **more: Any
) -> Case:
    """An inference as JSON."""
    return post(name, f"/v2/models/{model}/infer", {"inputs": list(inputs), **more}, *headers, dies=dies)


def binary(name: str, model: str, head: Any, tail: bytes, *headers: tuple[str, str], length: Any = None) -> Case:
    """An inference with a binary part; length is that of the JSON as the header states it."""
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    stated = ("Inference-Header-Content-Length", str(len(text) if length is None else length))
    return post(name, f"/v2/models/{model}/infer", text + tail, stated, *headers)


def rpc(
    name: str,
    method: str,
    *messages: Any,
    metadata: Sequence[tuple[str, Any]] = (),
    service: str = RPC.service,
    dies: str = "",
) -> Case:
    return Case(name, RPC(method, messages, list(metadata), service), dies)
