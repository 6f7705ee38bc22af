"""Requests that are made to harm the server: each gets an error or loses its connection, and a good one is answered."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import socket
import struct
import time

import models
import numpy as np
import pytest
import test_infer
import test_models
import test_serve_soak
import tritonclient.grpc as grpc
import tritonclient.http as http

PATH = "/v2/models/any/infer"


@pytest.fixture(autouse=True)
def good_afterwards(server):
    """A good request is answered after each test, soon."""
    yield
    with test_infer.connect(server, "http") as client:
        x = np.ones((1, 4), np.float32)
        start = time.monotonic()
        np.testing.assert_array_equal(client.infer("any", test_infer.given(http, x=("FP32", x))).as_numpy("y"), -x)
        if test_serve_soak.LONG:  # times are for a machine that does nothing else
            assert time.monotonic() - start < 1


def rss(server) -> int:
    """Memory of the server in KiB."""
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def body(shape, data="[1]", **more) -> bytes:
    """A request whose shape need not be true."""
    return json.dumps(
        {"inputs": [{"name": "x", "datatype": "FP32", "shape": shape, "data": json.loads(data), **more}]}
    ).encode()


@pytest.mark.parametrize(
    ("data", "status", "text"),
    [
        (b"[" * 200_000, 400, "JSON nesting depth exceeds"),
        (b'{"a":' * 200_000, 400, "JSON nesting depth exceeds"),
        (b" ", 500, "The document is empty. at 1"),
        (b"{", 500, "failed to parse the request JSON buffer: "),
        (b"[]", 500, "Unable to parse 'inputs'"),
        (body([2**62, 4]), 400, "exceed"),
        (body([2**31, 1]), 500, "shape does not match true shape"),
        (body([1, 2**40]), 500, "shape does not match true shape"),
        (body([-1, 4]), 500, "non-unsigned-integer"),
        (body([1, 2**64]), 500, "non-unsigned-integer"),
        (body([1, 1], "[1.5, 2]"), 500, "hape does not match true shape"),
        (body([1, 1], '["a"]'), 500, "non-number as double"),
        (body([1, 1], parameters={"binary_data_size": 2**64 - 1}), 400, "Input must set only one of"),
        (
            b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1,1],"parameters":{"binary_data_size":18446744073709551615}}]}',
            400,
            "additional bytes",
        ),
    ],
    ids=range(14),
)
def test_bodies(server, data, status, text):
    got, answer = test_models.fetch(server.http, PATH, data)
    assert (got, text in json.loads(answer)["error"]) == (status, True), answer


@pytest.mark.parametrize("length", ["-5", "99999999999999999999", "x", "1000000", "2147483648"])
def test_lengths_of_the_header(server, length):
    got, answer = test_models.fetch(server.http, PATH, body([1, 1]), Inference_Header_Content_Length=length)
    assert got == 400 and "error" in json.loads(answer)


def test_bombs(server):
    bomb = gzip.compress(bytes(1 << 28), 9)
    before = rss(server)
    for _ in range(4):
        got, answer = test_models.fetch(server.http, PATH, bomb, Content_Encoding="gzip")
        assert got == 400 and b"exceeds the maximum allowed input size" in answer
    assert rss(server) - before < 512 << 10
    for spoiled in (bomb[:200], bomb[:-4] + b"abcd"):
        assert test_models.fetch(server.http, PATH, spoiled, Content_Encoding="gzip")[0] == 400
    good = gzip.compress(body([1, 1]))
    assert test_models.fetch(server.http, PATH, good, Content_Encoding="gzip")[0] == 200
    assert test_models.fetch(server.http, PATH, good[:-4] + b"abcd", Content_Encoding="gzip")[0] == 400


def connection(address: str) -> socket.socket:
    """A connection to a port."""
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_lying_length(server):
    before = rss(server)
    with contextlib.ExitStack() as stack:
        for _ in range(50):
            one = stack.enter_context(connection(server.http))
            head = (
                f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000000\r\nExpect: 100-continue\r\n\r\n"
            )
            one.sendall(head.encode())
            assert one.recv(1000).startswith(b"HTTP/1.1 100 ")  # the server reads the body
            one.sendall(b"x")
        assert rss(server) - before < 200 << 10
    with connection(server.http) as one:
        one.sendall(f"POST {PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n".encode())
        assert b"400 Bad Request" in one.recv(1000)


def test_connections_that_come_and_go(server):
    for _ in range(300):
        with connection(server.http) as one:
            one.sendall(b"POST ")
        with connection(server.grpc) as one:
            one.sendall(b"PRI * HTTP/2")
    test_models.wait(lambda: len(os.listdir(f"/proc/{server.process.pid}/fd")) < 100)


def test_names(server):
    for name in ("..", "%2e%2e", "a%2Fb", "%00", "<img src=x>", "a" * 5000):
        got, answer = test_models.fetch(server.http, f"/v2/models/{name.replace(' ', '%20')}/config")
        assert got in (400, 404) and answer.startswith(b"{")


def test_cancelled_calls(server):
    x = np.ones((1, 4), np.float32)
    with test_infer.connect(server, "grpc") as client:
        inputs = test_infer.given(grpc, x=("FP32", x))
        for _ in range(1000):
            client.async_infer("batched", inputs, lambda result, error: None).cancel()


def test_grpc_sizes(server):
    """A message that states more bytes than it has, and one above the limit."""
    with test_infer.connect(server, "grpc") as client:
        for shape in ([2**62, 4], [1, 5], [-1, 4], [0, 4]):
            one = grpc.InferInput("x", shape, "FP32")
            one._raw_content = struct.pack("<4f", 1, 2, 3, 4)
            with pytest.raises(Exception, match=r"exceed|mismatch|specified|unexpected shape|batch-size"):
                client.infer("any", [one])
        big = np.zeros((4, 5 << 20), np.float32)
        with pytest.raises(Exception, match="larger than max"):
            client.infer("any", test_infer.given(grpc, x=("FP32", big)))


def test_pipes_in_a_repository(explicit):
    """A load does not wait for the other end of a pipe, and neither does the end of the server."""
    server, folder = explicit
    for name in ("config.pbtxt", "1/model.onnx"):
        path = models.unary(folder / "pipe", "Neg").parents[1] / name
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        got, answer = test_models.fetch(server.http, "/v2/repository/models/pipe/load", b"{}")
        assert got in (400, 500) and b"pipe" in answer
        path.unlink()
