"""What a request costs in `paddle-mps serve`, beside the real Triton Inference Server with a backend in C that only copies.

Both servers run at one time and are asked by turns: wrk sends requests of HTTP, and a small client in Go
(cmd/paddle-mps/internal/load) those of gRPC, comparing every byte; perf_analyzer, which ./build.sh installs on Linux,
sends both. The model is the identity, so that all of it is overhead. Rates are noisy on a machine that does other things: the
ratio is the median of those of each turn, and the CPU time of the server for a request stands beside it. The other lines are
about models: ResNet-50 with random weights, and a layer that is larger than the cache.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[1]
# bench/onnx.py must not be found before the package onnx.
sys.path.append(sys.path.pop(0))
sys.path[:0] = [str(ROOT / "tests" / "tritonserver"), str(ROOT / "tests" / "serve")]

import repository  # noqa: E402
import running  # noqa: E402
import server as real  # noqa: E402

import tritonserver as peer  # noqa: E402

numpy_helper: Any = importlib.import_module("onnx.numpy_helper")
FLOAT = repository.TensorProto.FLOAT
LOAD = ROOT / "build" / "serve-load"
ANALYZER = pathlib.Path(os.environ.get("PERF_ANALYZER", ROOT / "build" / "clients" / "perf_analyzer"))
# Without a delay the requests that come while a batch runs are the next one: two groups of clients take turns, each with half
# a batch, which takes as long as a whole one.
BATCHING = "dynamic_batching { preferred_batch_size: 16 max_queue_delay_microseconds: 10000 }"


class Turn(NamedTuple):
    """One server for some seconds: requests a second, microseconds of p50, p99 and of CPU time for each request."""

    rate: float
    p50: float
    p99: float
    cpu: float


def used(pid: int) -> float:
    """Seconds of CPU time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def resident(pid: int) -> float:
    """Memory of a process in MiB."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


UNITS = {"us": 1, "ms": 1e3, "s": 1e6}


def wrk(pid: int, url: str, script: pathlib.Path, clients: int, seconds: float) -> Turn:
    """A turn over HTTP."""
    line = ["wrk", "-t1", f"-c{clients}", f"-d{seconds:.0f}s", "--latency", "-s", str(script), url]
    before = used(pid)
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    cpu = used(pid) - before
    count, took, unit = re.findall(r"(\d+) requests in ([\d.]+)(\w+),", said)[0]
    if not re.search(r"^bad 0$", said, re.M) or int(count) == 0:
        raise SystemExit(f"requests have failed:\n{said}")
    p50, p99 = (float(n) * UNITS[u] for n, u in re.findall(r"^ +(?:50|99)% +([\d.]+)(\w+)", said, re.M))
    return Turn(int(count) / (float(took) * UNITS[unit] / 1e6), p50, p99, cpu / int(count) * 1e6)


def load(pid: int, address: str, *options: str, seconds: float) -> Turn:
    """A turn of the client in Go."""
    before = used(pid)
    line = [str(LOAD), *options, f"-seconds={seconds}", address]
    said = json.loads(subprocess.run(line, capture_output=True, text=True, check=True).stdout)
    if said["failed"] or said["wrong"] or said["refused"] or not said["requests"]:
        raise SystemExit(f"requests have failed: {said}")
    cpu = (used(pid) - before) / said["requests"] * 1e6
    return Turn(said["requests"] / said["seconds"], said["p50"], said["p99"], cpu)


def succeeded(url: str, model: str) -> int:
    """How many requests a model has answered."""
    with urllib.request.urlopen(f"{url}/v2/models/{model}/stats") as response:
        return json.load(response)["model_stats"][0]["inference_stats"]["success"]["count"]


def analyze(pid: int, url: str, protocol: str, address: str, model: str, seconds: float) -> Turn:
    """A turn of perf_analyzer, with 4 requests on their way at a time. url is where the statistics are."""
    before, since = used(pid), succeeded(url, model)
    with tempfile.NamedTemporaryFile("r", suffix=".csv") as table:
        # It wants three windows, which need not be alike: the ratio of turns is what counts.
        line = [str(ANALYZER), "-m", model, "-i", protocol, "-u", address, "--shape", "x:16", "--concurrency-range=4"]
        line += [f"-p{seconds / 3 * 1000:.0f}", "-s999", "--max-trials=4", "-f", table.name]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"perf_analyzer has failed:\n{done.stdout}{done.stderr}")
        (row,) = csv.DictReader(table)
    cpu = (used(pid) - before) / (succeeded(url, model) - since) * 1e6
    return Turn(float(row["Inferences/Second"]), float(row["p50 latency"]), float(row["p99 latency"]), cpu)


def against(name: str, bar: float, rounds: int, theirs: Callable[[], Turn], ours: Callable[[], Turn]) -> bool:
    """Takes turns and prints a row of the table."""
    got = [(theirs(), ours()) for _ in range(rounds)]
    ratios = [b.rate / a.rate for a, b in got]
    for who, column in (("peer", 0), ("ours", 1)):
        rate, p50, p99, cpu = (statistics.median(values) for values in zip(*(g[column] for g in got), strict=True))
        print(f"{name:34} {who}  {rate:8.0f}/s  p50 {p50:7.0f}  p99 {p99:8.0f}  CPU {cpu:6.0f} us", flush=True)
    ratio, cheaper = statistics.median(ratios), statistics.median(a.cpu / b.cpu for a, b in got)
    return verdict(
        name, f"{ratio:.2f}x ({min(ratios):.2f} to {max(ratios):.2f}), CPU {cheaper:.2f}x", f"{bar}x", ratio >= bar
    )


def verdict(name: str, value: str, bar: str, met: bool) -> bool:
    print(f"{name:34} {value}  bar {bar}: {'met' if met else 'NOT MET'}", flush=True)
    return met


def bias(count: int, random: np.random.Generator) -> np.ndarray:
    return (random.standard_normal(count) * 0.1).astype(np.float32)


def resnet50(r: repository.Repository, name: str, config: str) -> None:
    """ResNet-50 for pictures of 224 by 224, normalizations folded into the convolutions, weights random."""
    random = np.random.default_rng(0)
    nodes: list[Any] = []
    constants: list[Any] = []

    def convolution(x: str, inside: int, outside: int, size: int, stride: int = 1, relu: bool = True) -> str:
        at = f"c{len(nodes)}"
        weights = random.standard_normal((outside, inside, size, size)) * (2 / (inside * size * size)) ** 0.5
        constants.append(numpy_helper.from_array(weights.astype(np.float32), f"{at}w"))
        constants.append(numpy_helper.from_array(bias(outside, random), f"{at}b"))
        nodes.append(
            repository.node(
                "Conv",
                f"{x} {at}w {at}b",
                at,
                kernel_shape=[size, size],
                strides=[stride, stride],
                pads=[size // 2] * 4,
            )
        )
        if relu:
            nodes.append(repository.node("Relu", at, f"{at}r"))
        return f"{at}r" if relu else at

    x = convolution("x", 3, 64, 7, 2)
    nodes.append(repository.node("MaxPool", x, "pool", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1]))
    x, inside = "pool", 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            short = x if block else convolution(x, inside, 4 * width, 1, stride, relu=False)
            y = convolution(convolution(x, inside, width, 1), width, width, 3, stride)
            y = convolution(y, width, 4 * width, 1, relu=False)
            nodes.append(repository.node("Add", f"{y} {short}", f"s{len(nodes)}"))
            x = f"r{len(nodes)}"
            nodes.append(repository.node("Relu", nodes[-1].output[0], x))
            inside = 4 * width
    constants.append(numpy_helper.from_array((random.standard_normal((2048, 1000)) * 0.02).astype(np.float32), "fw"))
    constants.append(numpy_helper.from_array(bias(1000, random), "fb"))
    nodes.append(repository.node("GlobalAveragePool", x, "mean"))
    nodes.append(repository.node("Flatten", "mean", "flat"))
    nodes.append(repository.node("Gemm", "flat fw fb", "y"))
    r.model(name, nodes, [("x", FLOAT, ["n", 3, 224, 224])], [("y", FLOAT, ["n", 1000])], config, constants)


def layer(r: repository.Repository, name: str, config: str) -> None:
    """A layer of 64 MiB: for one row, reading the weights is what takes the time, so that a batch gains most."""
    weights = (np.random.default_rng(1).standard_normal((4096, 4096)) * 0.01).astype(np.float32)
    node = repository.node("MatMul", "x w", "y")
    ports = ("x", FLOAT, ["n", 4096]), ("y", FLOAT, ["n", 4096])
    r.model(name, [node], ports[:1], ports[1:], config, [numpy_helper.from_array(weights, "w")])


@contextmanager
def tritonserver(folder: pathlib.Path) -> Iterator[real.Server]:
    """The real server with our backend and the one in C."""
    directory = real.backends(folder / "prefix")
    (directory / "identity").mkdir()
    source = ROOT / "tests" / "tritonserver" / "identity.c"
    library = directory / "identity" / "libtriton_identity.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
    one = real.Server(folder / "models", directory, folder / "log", grpc=True)
    try:
        one.load("ours")
        one.load("c")
        yield one
    finally:
        one.stop()


def identities(folder: pathlib.Path, rounds: int, seconds: float) -> list[bool]:
    """The rows of the identity."""
    peer.write_models(folder / "models")
    met = []
    explicit = "--model-control-mode=explicit", "--load-model=ours"
    with tritonserver(folder) as they, running.serving(str(folder / "models"), *explicit) as we:
        for clients, size, bar in ((1, 64, 1.3), (16, 64, 1.2), (4, 1 << 20, 1.5)):
            script = peer.request(folder, size)
            met.append(
                against(
                    f"HTTP, {size} B, {clients} clients",
                    bar,
                    rounds,
                    lambda n=clients, s=script: wrk(they.process.pid, f"{they.url}/v2/models/c/infer", s, n, seconds),
                    lambda n=clients, s=script: wrk(
                        we.process.pid, f"http://{we.http}/v2/models/ours/infer", s, n, seconds
                    ),
                )
            )
        for clients, bar in ((1, 1.1), (16, 1.0)):
            options = "-grpc", f"-clients={clients}"
            met.append(
                against(
                    f"gRPC, 64 B, {clients} clients",
                    bar,
                    rounds,
                    lambda o=options: load(they.process.pid, they.grpc, *o, "-model=c", seconds=seconds),
                    lambda o=options: load(we.process.pid, we.grpc, *o, "-model=ours", seconds=seconds),
                )
            )
        addresses = (("http", they.url.removeprefix("http://"), we.http, 1.2), ("grpc", they.grpc, we.grpc, 1.0))
        for protocol, theirs, ours, bar in addresses if ANALYZER.exists() else ():
            met.append(
                against(
                    f"perf_analyzer, {protocol}, 64 B",
                    bar,
                    rounds,
                    partial(analyze, they.process.pid, they.url, protocol, theirs, "c", seconds),
                    partial(analyze, we.process.pid, f"http://{we.http}", protocol, ours, "ours", seconds),
                )
            )
        if not ANALYZER.exists():
            print(f"perf_analyzer: not measured, there is no {ANALYZER}; ./build.sh installs it on Linux on x86-64")
        script = peer.request(folder, 64)
        met.append(
            against(
                "backend in the real server, over C",
                0.9,
                rounds,
                lambda: wrk(they.process.pid, f"{they.url}/v2/models/c/infer", script, 1, seconds),
                lambda: wrk(they.process.pid, f"{they.url}/v2/models/ours/infer", script, 1, seconds),
            )
        )
    return met


def overhead(folder: pathlib.Path, times: int) -> bool:
    """What a client waits for beside the run of ResNet-50, each request by itself."""
    size = 3 * 224 * 224 * 4
    head = {
        "inputs": [
            {
                "name": "x",
                "shape": [1, 3, 224, 224],
                "datatype": "FP32",
                "parameters": {"binary_data_size": size},
            }
        ],
        "parameters": {"binary_data_output": True},
    }
    text = json.dumps(head).encode()
    ask = (
        f"POST /v2/models/one/infer HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(text) + size}\r\n"
        f"Inference-Header-Content-Length: {len(text)}\r\n\r\n"
    ).encode()
    look = b"GET /v2/models/one/stats HTTP/1.1\r\nHost: localhost\r\n\r\n"
    body = ask + text + np.random.default_rng(2).random(size // 4, np.float32).tobytes()
    with running.serving(str(folder / "one")) as we:
        host, port = we.http.split(":")
        with socket.create_connection((host, int(port))) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

            def call(request: bytes) -> bytes:
                connection.sendall(request)
                got = b""
                while b"\r\n\r\n" not in got:
                    got += connection.recv(1 << 16)
                front, _, rest = got.partition(b"\r\n\r\n")
                if not front.startswith(b"HTTP/1.1 200"):
                    raise SystemExit(f"a request has failed: {got[:300]!r}")
                left = int(re.findall(rb"\r\nContent-Length: (\d+)", front)[0]) - len(rest)
                while left > 0:
                    more = connection.recv(1 << 16)
                    rest, left = rest + more, left - len(more)
                return rest

            def run() -> float:
                return json.loads(call(look))["model_stats"][0]["inference_stats"]["compute_infer"]["ns"] / 1e6

            for _ in range(3):
                call(body)
            beside, runs = [], []
            before = run()
            for _ in range(times):
                start = time.perf_counter()
                call(body)
                took, after = (time.perf_counter() - start) * 1e3, run()
                runs.append(after - before)
                beside.append(took - runs[-1])
                before = after
    value = statistics.median(beside)
    return verdict(
        "ResNet-50, client less run", f"{value:.2f} ms beside {statistics.median(runs):.1f}", "0.5 ms", value <= 0.5
    )


def instances(folder: pathlib.Path) -> bool:
    """Memory of four instances over that of one."""
    sizes = []
    for name in ("one", "four"):
        with running.serving(str(folder / name)) as we:
            time.sleep(1)
            sizes.append(resident(we.process.pid))
    ratio = sizes[1] / sizes[0]
    return verdict("ResNet-50, four instances over one", f"{ratio:.3f}x of {sizes[0]:.0f} MiB", "1.1x", ratio <= 1.1)


def batching(folder: pathlib.Path, rounds: int, seconds: float) -> bool:
    """16 clients with batches over the same without."""
    with running.serving(str(folder / "layers")) as we:
        options = "-clients=16", "-batched", "-any", "-bytes=16384"
        turns: dict[str, list[Turn]] = {"off": [], "on": []}
        for _ in range(rounds):
            for name, all_of in turns.items():
                all_of.append(load(we.process.pid, we.http, *options, f"-model={name}", seconds=seconds))
    ratios = [b.rate / a.rate for a, b in zip(turns["off"], turns["on"], strict=True)]
    ratio = statistics.median(ratios)
    rates = [statistics.median(t.rate for t in all_of) for all_of in turns.values()]
    cheaper = statistics.median(a.cpu / b.cpu for a, b in zip(turns["off"], turns["on"], strict=True))
    return verdict(
        "batching, 16 clients, on over off",
        f"{ratio:.2f}x ({min(ratios):.2f} to {max(ratios):.2f}), {rates[0]:.0f} and {rates[1]:.0f}/s, CPU {cheaper:.2f}x",
        "1.3x",
        ratio >= 1.3,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", choices=("identity", "models"), help="the rows of the identity, or the others")
    args = parser.parse_args()
    met = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if args.only != "models":
            met += identities(folder, args.rounds, args.seconds)
        if args.only != "identity":
            dims = [("x", "TYPE_FP32", "dims: [3, 224, 224]")], [("y", "TYPE_FP32", "dims: [1000]")]
            both = "max_batch_size: 4\n" + repository.ports("input", dims[0]) + repository.ports("output", dims[1])
            for name, count in (("one", 1), ("four", 4)):
                group = f"\ninstance_group [{{ kind: KIND_CPU count: {count} }}]"
                resnet50(repository.Repository(folder / name), name, both + group)
            # With inputs and outputs the configuration is complete. One without is completed with dynamic batching, also
            # where it has none.
            dims = [("x", "TYPE_FP32", "dims: [4096]")], [("y", "TYPE_FP32", "dims: [4096]")]
            both = "max_batch_size: 16\n" + repository.ports("input", dims[0]) + repository.ports("output", dims[1])
            for name, batches in (("off", ""), ("on", f"\n{BATCHING}")):
                layer(repository.Repository(folder / "layers"), name, both + batches)
            met += [
                overhead(folder, 10 * args.rounds),
                instances(folder),
                batching(folder, args.rounds, args.seconds),
            ]
    print(f"{sum(met)} of {len(met)} bars are met")


if __name__ == "__main__":
    main()
