"""Many requests, versions, loads and connections: nothing is lost, nothing is wrong, and nothing grows.

The short form is that of ./build.sh test serve; PADDLE_MPS_LONG=1 is what the figures in docs/proven.md are of. The client
is cmd/paddle-mps/internal/load, which compares every byte.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import models
import pytest
import test_models
from running import Server, serving

LOAD = models.ROOT / "build" / "serve-load"  # built by build.sh
LONG = os.environ.get("PADDLE_MPS_LONG") == "1"
IDENTITY = (
    'max_batch_size: 0 input { name: "x" data_type: TYPE_FP32 dims: -1 }'
    ' output { name: "y" data_type: TYPE_FP32 dims: -1 }'
)


def load(address: str, *options: str) -> dict[str, Any]:
    """What the client has seen."""
    said = subprocess.run([str(LOAD), *options, address], capture_output=True, text=True, check=True, timeout=3600)
    found: dict[str, Any] = json.loads(said.stdout)
    return found


@contextlib.contextmanager
def loading(address: str, *options: str) -> Iterator[dict[str, Any]]:
    """Requests until the end of the block; afterwards what the client has seen. The block lasts until some were answered."""
    client = subprocess.Popen([str(LOAD), "-seconds=0", *options, address], stdout=subprocess.PIPE, text=True)
    said: dict[str, Any] = {}
    try:
        yield said
        client.send_signal(signal.SIGINT)
        said.update(json.loads(client.communicate(timeout=600)[0]))
    finally:
        client.kill()
        client.wait()


def right(said: dict[str, Any]) -> None:
    """Every request was answered with what it sent."""
    assert (said["failed"], said["wrong"], said["refused"]) == (0, 0, 0), said


class Footprint:
    """Memory in KiB, threads and descriptors of a server: the least of a second, once it has closed all connections."""

    def __init__(self, server: Server) -> None:
        folder = Path(f"/proc/{server.process.pid}")
        test_models.wait(lambda: not any(map(is_connection, (folder / "fd").iterdir())))
        samples = []
        for _ in range(20):
            status = (folder / "status").read_text()
            fields = [int(re.findall(rf"{name}:\s+(\d+)", status)[0]) for name in ("VmRSS", "Threads")]
            samples.append((*fields, len(list((folder / "fd").iterdir()))))
            time.sleep(0.05)
        self.memory, self.threads, self.files = (min(column) for column in zip(*samples, strict=True))

    def __str__(self) -> str:
        return f"{self.memory / 1024:.1f} MiB, {self.threads} threads, {self.files} files"


def is_connection(descriptor: Path) -> bool:
    """Whether a descriptor is a connection of TCP that is open on both sides, or waits to be closed."""
    try:
        inode = os.readlink(descriptor).removeprefix("socket:[").removesuffix("]")
    except OSError:
        return False  # it was closed just now
    return any(
        fields[9] == inode and fields[3] != "0A"  # what listens is no connection
        for table in ("tcp", "tcp6")
        for fields in map(str.split, Path(f"/proc/net/{table}").read_text().splitlines()[1:])
    )


def flat(before: Footprint, after: Footprint, allowed: float) -> None:
    """Nothing has grown but for the memory by a factor."""
    print(f"before: {before}; after: {after}")
    assert after.memory <= before.memory * allowed
    assert after.threads <= before.threads + 4  # those of Go's scheduler come and go
    assert after.files <= before.files


def grown(server: Server, ask: Callable[[], None]) -> tuple[Footprint, int]:
    """The footprint once requests make it no larger, by more than 1 %, and how often they were sent: at most ten times.

    The heap of Go grows until the garbage collector has run, and pages of the program are read when they are first used.
    """
    last, times, growing = Footprint(server), 0, True
    while growing and times < 10:
        ask()
        before, last, times = last, Footprint(server), times + 1
        growing = last.memory > before.memory * 1.01
    return last, times


def infer(server: Server, model: str = "m") -> tuple[int, dict[str, Any]]:
    body = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [2], "data": [1, 2]}]}).encode()
    status, text = test_models.fetch(server.http, f"/v2/models/{model}/infer", body)
    return status, json.loads(text)


def statistics(address: str) -> dict[str, Any]:
    """Those of the model at an address of HTTP."""
    found: dict[str, Any] = json.loads(test_models.fetch(address, "/v2/models/m/stats")[1])["model_stats"][0]
    return found


def under_load(address: str, requests: int = 1) -> None:
    """Waits until so many requests were answered by the version that serves."""
    test_models.wait(lambda: statistics(address)["inference_count"] >= requests)


@pytest.mark.timed
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_requests(tmp_path, protocol):
    """A million requests of 16 clients, half of them over each protocol."""
    count = 500_000 if LONG else 20_000
    first = max(count // 5, 20_000)
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    with serving(str(tmp_path), "--log-info=false") as server:
        options = ["-seconds=0", "-clients=16", *(["-grpc"] if protocol == "grpc" else [])]
        address = getattr(server, protocol)
        before, times = grown(server, lambda: right(load(address, *options, f"-requests={first}")))
        total = times * first + count
        said = load(address, *options, f"-requests={count}")
        right(said)
        after = Footprint(server)
        assert said["requests"] == count
        got = statistics(server.http)
        assert got["inference_count"] == got["execution_count"] == got["inference_stats"]["success"]["count"] == total
        assert got["inference_stats"]["fail"]["count"] == 0
        print(f"{count} requests of 16 clients over {protocol}: {said}")
        # Requests of a short run leave the heap of Go at some size below its goal.
        flat(before, after, 1.03 if LONG else 1.25)


def test_versions_under_load(tmp_path):
    """Versions are swapped under 8 clients: none fails, and none is answered by an old one after the load has returned."""
    count = 30 if LONG else 8
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    with serving(str(tmp_path), "--model-control-mode=explicit", "--load-model=m", "--log-info=false") as server:
        with loading(server.http, "-clients=8") as said:
            for version in range(2, count + 2):
                under_load(server.http, 1000)
                models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY, version=version)
                assert test_models.fetch(server.http, "/v2/repository/models/m/load", b"{}")[0] == 200
                assert infer(server)[1]["model_version"] == str(version)
            under_load(server.http, 1000)
        right(said)
        assert said["requests"] > 1000 * count
        print(f"{count} versions under 8 clients: {said}")


@pytest.mark.timed
def test_loads_and_unloads(tmp_path, small_heap):
    count = 150 if LONG else 40
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    with serving(str(tmp_path), "--model-control-mode=explicit", "--log-info=false") as server:

        def cycle(times: int) -> None:
            for _ in range(times):
                assert test_models.fetch(server.http, "/v2/repository/models/m/load", b"{}")[0] == 200
                assert infer(server)[0] == 200
                assert test_models.fetch(server.http, "/v2/repository/models/m/unload", b"{}")[0] == 200

        cycle(60)
        before = Footprint(server)
        cycle(count)
        flat(before, Footprint(server), 1.05)


def test_full_queue(tmp_path, small_heap):
    """48 clients on a queue of 8: those that are refused are refused at once, and the others wait for few executions."""
    config = (
        'max_batch_size: 1 input { name: "x" data_type: TYPE_FP32 dims: 1024 }'
        ' output { name: "y" data_type: TYPE_FP32 dims: 1024 }'
        " dynamic_batching { default_queue_policy { max_queue_size: 8 } }"
    )
    weights = models.helper.make_tensor("w", models.TensorProto.FLOAT, [1024, 1024], [0.5] * (1 << 20))
    ports = [models.port(name, models.TensorProto.FLOAT, "n", 1024) for name in "xy"]
    names = ["x"] + [f"h{i}" for i in range(15)] + ["y"]
    nodes = [models.helper.make_node("MatMul", [a, "w"], [b]) for a, b in zip(names, names[1:], strict=False)]
    models.write(tmp_path / "m", nodes, ports[:1], ports[1:], config=config, constants=[weights])
    with serving(str(tmp_path), "--log-info=false") as server:
        options = "-clients=48", "-batched", "-any", "-bytes=4096"
        load(server.http, *options, "-seconds=6")  # the heap of Go grows to its size
        before, first = Footprint(server), statistics(server.http)
        said = load(server.http, *options, f"-seconds={20 if LONG else 3}")
        after, last = Footprint(server), statistics(server.http)
        compute = last["inference_stats"]["compute_infer"]["ns"] - first["inference_stats"]["compute_infer"]["ns"]
        each = compute / (last["execution_count"] - first["execution_count"]) / 1000
        print(f"48 clients on a queue of 8: {said}, an execution takes {each:.0f} us")
        assert said["failed"] == 0 and said["refused"] > 0 and said["requests"] > 0
        if LONG:  # times are for a machine that does nothing else
            assert said["refused_p50"] < 10_000
            assert said["p99"] < 30 * each
        flat(before, after, 1.03 if LONG else 1.25)


def connection(address: str) -> socket.socket:
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def alive(one: socket.socket) -> bool:
    """Whether the server has the connection still."""
    try:
        one.setblocking(False)
        return one.recv(4096) == b"never"
    except BlockingIOError:
        return True
    except OSError:
        return False


@pytest.mark.timed
def test_slow_clients(tmp_path):
    """Clients of a byte a second, in headers and in bodies, are put out; a good client is served meanwhile, within a second."""
    count = 300 if LONG else 30
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    with serving(str(tmp_path), "--log-info=false") as server, contextlib.ExitStack() as stack:
        slow = [stack.enter_context(connection(server.http)) for _ in range(count)]
        head = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
        for i, one in enumerate(slow):
            one.sendall(head + b"\r\n" if i % 2 else head)
        start, worst = time.monotonic(), 0.0
        while (left := [one for one in slow if alive(one)]) and time.monotonic() - start < 60:
            for one in left:
                with contextlib.suppress(OSError):
                    one.send(b"x")
            asked = time.monotonic()
            assert infer(server)[0] == 200
            worst = max(worst, time.monotonic() - asked)
            time.sleep(1)
        print(
            f"{count} slow clients: out after {time.monotonic() - start:.0f} s, the good one took {worst:.3f} s at most"
        )
        assert not left
        assert worst < 1


@pytest.mark.timed
def test_connections_that_come_and_go(tmp_path, small_heap):
    count = 3000 if LONG else 600
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    with serving(str(tmp_path), "--log-info=false") as server:
        for turn in range(2):
            if turn:
                before = Footprint(server)
            for i in range(count):
                with connection(server.http if i % 3 else server.grpc) as one:
                    one.sendall(
                        (b"POST /v2/models/m/infer HTTP/1.1\r\n", b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")[i % 3]
                    )
        flat(before, Footprint(server), 1.1)
        assert infer(server)[0] == 200


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_end_under_load(tmp_path, protocol):
    """SIGTERM under load: whatever was accepted is answered, and the status is 0."""
    models.unary(tmp_path / "m", "Identity", dims=("n",), config=IDENTITY)
    server = Server(str(tmp_path), "--log-info=false")
    try:
        options = ["-clients=8", *(["-grpc"] if protocol == "grpc" else [])]
        with loading(getattr(server, protocol), *options) as said:
            under_load(server.http)
            assert server.stop() == 0
        assert said["requests"] > 0 and said["wrong"] == 0, said
        assert re.search("EOF|reset|refused|pipe|^$", said.get("error", "")), said
    finally:
        server.process.kill()
        server.process.wait()
