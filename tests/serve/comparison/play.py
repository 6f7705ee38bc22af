"""Sends requests to a server and makes an answer of what comes back: values of JSON, without what differs from run to run."""

from __future__ import annotations

import base64
import gzip
import http.client
import importlib
import json
import socket
import time
import zlib
from collections.abc import Iterable
from typing import Any

from case import HTTP, RPC, Case
from google.protobuf import json_format
from masks import masked
from servers import Running, alive
from tritonclient.grpc import service_pb2

grpc: Any = importlib.import_module("grpc")  # its stubs are a package of their own

SERVICE = service_pb2.DESCRIPTOR.services_by_name["GRPCInferenceService"]

# The headers that clients read.
HEADERS = ("Content-Type", "Content-Encoding", "Inference-Header-Content-Length", "Accept-Encoding")


class Ended(Exception):
    """The server has ended by itself."""


def play(server: Running, cases: Iterable[Case]) -> dict[str, Any]:
    """Answers by name; the requests are sent in order, one after another."""
    answers = {}
    with grpc.insecure_channel(server.grpc, options=[("grpc.max_receive_message_length", -1)]) as channel:
        for case in cases:
            try:
                found = (
                    over_http(server, case.request)
                    if isinstance(case.request, HTTP)
                    else over_grpc(channel, case.request)
                )
            except OSError as e:
                found = {"closed": type(e).__name__}
                # A server that dies closes the connection first.
            if "closed" in found or (found.get("code") == "UNAVAILABLE" and "ocket" in (found["details"] or "")):
                time.sleep(0.2)
            if not alive(server):
                raise Ended(f"the server has ended with {server.process.wait()} after: {case.name}")
            answers[case.name] = masked(found, server.folder)
    return answers


def over_http(server: Running, request: HTTP) -> dict[str, Any]:
    """One request on a connection of its own."""
    host, port = server.http.split(":")
    names = {name.lower() for name, _ in request.headers}
    headers = [("Host", "localhost"), *request.headers, ("Connection", "close")]
    if not names & {"content-length", "transfer-encoding"} and (request.body or request.method in ("POST", "PUT")):
        headers.append(("Content-Length", str(len(request.body))))
    head = f"{request.method} {request.path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in headers) + "\r\n"
    with socket.create_connection((host, int(port)), timeout=60) as one:
        one.sendall(head.encode("latin-1") + request.body)
        answer = http.client.HTTPResponse(one, method=request.method)
        try:
            answer.begin()
            body = answer.read()
        except http.client.HTTPException as e:
            return {"closed": type(e).__name__}
    found: dict[str, Any] = {"status": answer.status}
    for name in HEADERS:
        if (value := answer.getheader(name)) is not None:
            found[name] = value
    if "Content-Encoding" in found:
        body = gzip.decompress(body) if found["Content-Encoding"] == "gzip" else zlib.decompress(body)
    length = int(found.get("Inference-Header-Content-Length", len(body)))
    found["body"] = text(body[:length])
    if length < len(body):
        found["binary"] = body[length:].hex()
    return found


def text(body: bytes) -> Any:
    """A body as JSON, with numbers as they are written; as a text if it is no JSON."""
    try:
        return json.loads(body, parse_float=lambda s: {"number": s}, parse_constant=lambda s: {"number": s})
    except ValueError:
        return {"text": body.decode("utf-8", "backslashreplace")} if body else None


def over_grpc(channel: Any, request: RPC) -> dict[str, Any]:
    """One call."""
    known = SERVICE.methods_by_name.get(request.method) if request.service == RPC.service else None
    path = f"/{request.service}/{request.method}"
    sent = [m if isinstance(m, bytes) else m.SerializeToString(deterministic=True) for m in request.messages]
    metadata = tuple(request.metadata)
    got = []
    try:
        if known is not None and known.client_streaming:
            got = list(channel.stream_stream(path)(iter(sent), metadata=metadata, timeout=60))
        else:
            got = [channel.unary_unary(path)(sent[0] if sent else b"", metadata=metadata, timeout=60)]
    except grpc.RpcError as e:
        return {"code": e.code().name, "details": e.details(), **({"before": len(got)} if got else {})}
    if known is None:
        return {"code": "OK", "messages": [m.hex() for m in got]}
    return {"code": "OK", "messages": [message(known.output_type.name, m) for m in got]}


def message(name: str, data: bytes) -> Any:
    """A message as a value; contents as hexadecimal digits."""
    made = json_format.MessageToDict(getattr(service_pb2, name).FromString(data), preserving_proto_field_name=True)
    for one in (made, made.get("infer_response", {})):
        if "raw_output_contents" in one:
            one["raw_output_contents"] = [base64.b64decode(c).hex() for c in one["raw_output_contents"]]
    return made
