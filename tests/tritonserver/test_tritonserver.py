"""The backend in the real Triton Inference Server: ./build.sh test tritonserver."""

from __future__ import annotations

import concurrent.futures
import json
import pathlib
import struct
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import repository
from server import DATATYPES, Server, ServerError, backends

LOADS = 150


def started(folder: pathlib.Path, **environment: str) -> Iterator[Server]:
    repository.make(folder / "models")
    server = Server(folder / "models", backends(folder / "prefix"), folder / "log", False, **environment)
    try:
        yield server
        assert server.process.poll() is None, f"the server died:\n{server.text()}"
        assert server.stop() == 0, server.text()
    finally:
        server.process.kill()
        server.process.wait()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    yield from started(tmp_path_factory.mktemp("triton"), PADDLE_MPS_DEVICE="auto")


@pytest.fixture
def random() -> np.random.Generator:
    return np.random.default_rng(0)


def refused(server: Server, name: str, *texts: str) -> None:
    with pytest.raises(ServerError) as e:
        server.load(name)
    for text in texts:
        assert text in e.value.text, e.value.text


def test_configuration_is_completed_from_the_file(server: Server) -> None:
    server.load("identity")
    config = server.json("/v2/models/identity/config")
    assert config["max_batch_size"] == 4
    assert "dynamic_batching" in config
    assert [(p["name"], p["data_type"], p["dims"]) for p in config["input"]] == [("x", "TYPE_FP32", [16])]
    assert [(p["name"], p["data_type"], p["dims"]) for p in config["output"]] == [("y", "TYPE_FP32", [16])]
    assert config["instance_group"][0]["kind"] == "KIND_MODEL"
    server.load("add")
    config = server.json("/v2/models/add/config")
    assert (config["max_batch_size"], "dynamic_batching" in config) == (0, False)
    assert config["input"][1]["dims"] == [2, 3]


def test_two_inputs(server: Server, random: np.random.Generator) -> None:
    server.load("add")
    a, b = random.standard_normal((2, 2, 3)).astype(np.float32)
    assert np.array_equal(server.infer("add", {"b": b, "a": a})["c"], a + b)


def mlp(x: Any) -> tuple[Any, Any]:
    h = x.astype(np.float64) @ repository.WEIGHTS.astype(np.float64) + repository.BIAS
    return np.maximum(h, 0), h.sum(1)


def test_requests_are_batched_and_split(server: Server, random: np.random.Generator) -> None:
    name = "mlp_patient"
    server.load(name)
    before = server.statistics(name)
    xs = [random.standard_normal((1 + i % 3, 4)).astype(np.float32) for i in range(120)]
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda x: server.infer(name, {"x": x}), xs))
    for x, answer in zip(xs, answers, strict=True):
        y, s = mlp(x)
        # Sums of five products, each within an ulp of its own size.
        np.testing.assert_allclose(answer["y"], y, rtol=0, atol=1e-5)
        assert answer["s"].shape == (len(x), 1)
        np.testing.assert_allclose(answer["s"][:, 0], s, rtol=0, atol=1e-4)
    after = server.statistics(name)
    assert after["inference_count"] - before["inference_count"] == sum(map(len, xs))
    assert after["inference_stats"]["success"]["count"] - before["inference_stats"]["success"]["count"] == len(xs)
    assert after["execution_count"] - before["execution_count"] < len(xs)
    assert max(b["batch_size"] for b in after["batch_stats"]) > 3


def test_only_what_is_asked_for_is_sent(server: Server) -> None:
    server.load("mlp")
    assert list(server.infer("mlp", {"x": np.ones((1, 4), np.float32)}, ["s"])) == ["s"]


def test_open_dimensions(server: Server, random: np.random.Generator) -> None:
    server.load("open")
    xs = [random.standard_normal((1 + i % 2, 1 + i % 3, 1 + i % 5)).astype(np.float32) for i in range(60)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for x, answer in zip(xs, pool.map(lambda x: server.infer("open", {"x": x}), xs), strict=True):
            assert np.array_equal(answer["y"], x.transpose(0, 2, 1) + np.float32(1))


def test_empty_tensors(server: Server) -> None:
    server.load("open")
    assert server.infer("open", {"x": np.zeros((1, 0, 3), np.float32)})["y"].shape == (1, 3, 0)


def test_reshape(server: Server) -> None:
    server.load("reshape")
    x = np.arange(12, dtype=np.float32).reshape(2, 6)
    want = x.reshape(2, 2, 3).transpose(0, 2, 1).reshape(2, 6)
    assert np.array_equal(server.infer("reshape", {"x": x})["y"], want)


def test_scalars(server: Server) -> None:
    server.load("scalar")
    answer = server.infer("scalar", {"x": np.array([2.5], np.float32)})["y"]
    assert answer.shape == (1,)
    assert answer[0] == -2.5


def test_optional_inputs(server: Server) -> None:
    server.load("optional")
    scale = np.array([[3, 4]], np.float32)

    def one(i: int) -> Any:
        x = np.full((1, 2), i, np.float32)
        return server.infer("optional", {"x": x, "scale": scale} if i % 2 else {"x": x})["y"]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, y in enumerate(pool.map(one, range(40))):
            assert y.tolist() == [[3 * i, 4 * i] if i % 2 else [10 * i, 100 * i]]


@pytest.mark.parametrize("name", repository.ELEMS)
def test_datatypes(server: Server, name: str, random: np.random.Generator) -> None:
    model = f"type_{name.lower()}"
    server.load(model)
    dtype = np.dtype(DATATYPES.get(name, np.uint16))  # bfloat16 as its bits
    if dtype.kind in "iu" and name != "BF16":
        x = random.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 3), dtype, endpoint=True)
    else:
        x = random.integers(0, 2 if name == "BOOL" else 120, (2, 3)).astype(dtype)
    assert server.json(f"/v2/models/{model}")["inputs"][0]["datatype"] == name
    y = server.infer(model, {"x": x}, x=name)["y"]
    assert y.dtype == x.dtype
    assert np.array_equal(y, np.concatenate([x, x], 1))


def divisions(server: Server, seed: int) -> None:
    """Quotients of all of uint64: a request and its answer, with a batch size of 1 to 3."""
    random = np.random.default_rng(seed)
    x = random.integers(0, 2**64 - 1, (1 + seed % 3, 3), np.uint64, endpoint=True)
    by = random.integers(1, 2**64 - 1, x.shape, np.uint64, endpoint=True) >> random.integers(0, 64, x.shape, np.uint64)
    by = np.maximum(by, 1)
    answer = server.infer("divide", {"x": x, "by": by})
    assert np.array_equal(answer["y"], x // by)
    assert np.array_equal(answer["z"], x % by)


def test_unsigned_integers(server: Server) -> None:
    server.load("divide")
    assert [p["data_type"] for p in server.json("/v2/models/divide/config")["input"]] == ["TYPE_UINT64"] * 2
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(divisions, [server] * 60, range(60)))


def wire(texts: list[str]) -> bytes:
    return b"".join(struct.pack("<I", len(t.encode())) + t.encode() for t in texts)


def ask_texts(server: Server, data: bytes, rows: int) -> bytes:
    """The strings that the model makes of others, in binary form."""
    one = {"name": "x", "datatype": "BYTES", "shape": [rows, 2], "parameters": {"binary_data_size": len(data)}}
    head = json.dumps({"inputs": [one], "parameters": {"binary_data_output": True}}).encode()
    length = {"Inference-Header-Content-Length": str(len(head))}
    body, headers = server.call("/v2/models/texts/infer", head + data, length)
    return body[int(headers["Inference-Header-Content-Length"]) :]


def joins(server: Server, seed: int) -> None:
    """A request with random strings, a few of them long, and its answer."""
    random = np.random.default_rng(seed)
    rows = 1 + seed % 3
    texts = ["é\0x"[i % 3] * int(n) for i, n in enumerate(random.integers(0, 40, 2 * rows) ** (1 + seed % 3))]
    want = [t for row in range(rows) for t in texts[2 * row : 2 * row + 2] * 2]
    assert ask_texts(server, wire(texts), rows) == wire(want)


def test_strings(server: Server) -> None:
    server.load("texts")
    config = server.json("/v2/models/texts/config")
    assert [(p["data_type"], p["dims"]) for p in (*config["input"], *config["output"])] == [
        ("TYPE_STRING", [2]),
        ("TYPE_STRING", [4]),
    ]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(joins, [server] * 60, range(60)))
    one = {"name": "x", "datatype": "BYTES", "shape": [1, 2], "data": ["日本", '"']}
    assert server.json("/v2/models/texts/infer", {"inputs": [one]})["outputs"][0]["data"] == ["日本", '"'] * 2


def test_strings_that_are_cut(server: Server) -> None:
    """Beside good requests, whose batches they are in."""
    server.load("texts")

    def spoiled(i: int) -> None:
        if i % 4:
            joins(server, i)
            return
        with pytest.raises(
            ServerError, match="incomplete string data for input 'x', expecting string of length 4294967295"
        ):
            ask_texts(server, wire(["a"]) + b"\xff" * 7, 1)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(spoiled, range(40)))


@pytest.mark.parametrize("name", repository.REFUSED)
def test_other_datatypes_are_refused_by_name(server: Server, name: str) -> None:
    refused(server, f"type_{name.lower()}", '"x" is', repository.REFUSED[name][1])


@pytest.mark.parametrize(
    ("name", "texts"),
    {
        "broken": ("[onnx]", "damaged"),
        "empty": ("model.onnx", "no such file"),
        "unknown_operator": ("Frobnicate",),
        "wrong_type": ("TYPE_INT32", "want TYPE_FP32"),
        "wrong_dims": ("dims [3]", "float[n, 2]"),
        "wrong_name": ('"z"', "want one of the file: x"),
        "not_batched": ("max_batch_size is 4; want 0",),
        "ragged": ("allow_ragged_batch",),
        "decoupled": ("decoupled",),
        "on_gpu": ("GPU",),
    }.items(),
)
def test_models_that_do_not_load(server: Server, name: str, texts: tuple[str, ...]) -> None:
    refused(server, name, *texts)


def test_a_wrong_request_fails_alone(server: Server) -> None:
    server.load("gather")

    def one(i: int) -> object:
        x = np.array([[i % 5, 9 if i % 4 == 3 else 0]], np.int64)
        try:
            return server.infer("gather", {"x": x})["y"].tolist()
        except ServerError as e:
            return e

    before = server.statistics("gather")["inference_stats"]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, answer in enumerate(pool.map(one, range(64))):
            if i % 4 == 3:
                assert isinstance(answer, ServerError), answer
                assert answer.status == 400
                assert "index" in answer.text
            else:
                assert answer == [[i % 5, 0]]
    after = server.statistics("gather")["inference_stats"]
    assert after["success"]["count"] - before["success"]["count"] == 48
    assert after["fail"]["count"] - before["fail"]["count"] == 16


def test_metrics_and_memory(server: Server) -> None:
    server.load("mlp")
    server.infer("mlp", {"x": np.ones((1, 4), np.float32)})
    text = server.metrics()
    for name in ("memory_reserved_bytes", "memory_allocated_bytes", "program_cache_entries", "program_compilations"):
        assert f'paddle_mps_{name}{{place="cpu"}}' in text
    assert [m["type"] for m in server.statistics("mlp")["memory_usage"]] == ["CPU"]


def test_instances_say_where_they_run(server: Server) -> None:
    server.load("on_mps")
    assert np.allclose(server.infer("on_mps", {"x": np.zeros(3, np.float32)})["y"], 1)
    assert "instance on_mps_0 runs on cpu" in server.text() or "instance on_mps_0_0 runs on cpu" in server.text()


def test_emulated_mps(tmp_path: pathlib.Path, random: np.random.Generator) -> None:
    for server in started(tmp_path, PADDLE_MPS_DEVICE="host"):
        server.load("on_mps")
        x = random.standard_normal(3).astype(np.float32)
        np.testing.assert_allclose(server.infer("on_mps", {"x": x})["y"], np.exp(x), rtol=1e-6)
        assert "runs on mps:0" in server.text()
        server.load("identity")
        for _ in range(50):
            x = random.standard_normal((4, 16)).astype(np.float32)
            assert np.array_equal(server.infer("identity", {"x": x})["y"], x)
        assert 'paddle_mps_memory_reserved_bytes{place="mps"}' in server.metrics()


def test_several_instances_on_emulated_mps(tmp_path: pathlib.Path) -> None:
    for server in started(tmp_path, PADDLE_MPS_DEVICE="host"):
        server.load("divide")
        assert server.text().count("instance divide") == 3 and server.text().count("runs on mps:0") == 3
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(divisions, [server] * 60, range(60)))


def compilations(server: Server) -> int:
    """How many programs were compiled for the CPU. The metric is set by executions, at most once a second."""
    time.sleep(1.1)
    server.infer("identity", {"x": np.zeros((1, 16), np.float32)})
    (line,) = (s for s in server.metrics().splitlines() if s.startswith('paddle_mps_program_compilations{place="cpu"}'))
    return int(float(line.split()[-1]))


def test_instances_share_weights_and_programs(server: Server, random: np.random.Generator) -> None:
    repository.heavy(server.repository)
    server.load("identity")
    grown, compiled = {}, {}
    xs = [random.standard_normal((1, len(repository.HEAVY)), dtype=np.float32) for _ in range(16)]
    x, w = np.concatenate(xs).astype(np.float64), repository.HEAVY.astype(np.float64)
    want = x @ w
    # A sum of 2048 products: their rounding errors add up to less than this many halves of an ulp of their sizes.
    bound = len(w) * 2**-24 * (np.abs(x) @ np.abs(w))
    server.load("heavy_one")
    server.unload("heavy_one")  # which gives back what the heap has kept, but for a few megabytes
    for name in ("heavy_one", "heavy_four"):
        programs, (memory, _, _) = compilations(server), server.footprint()
        server.load(name)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda x, model: server.infer(model, {"x": x})["y"], xs, [name] * len(xs)))
        assert (np.abs(np.concatenate(answers) - want) <= bound).all()
        grown[name], compiled[name] = server.footprint()[0] - memory, compilations(server) - programs
        (usage,) = server.statistics(name)["memory_usage"]
        assert usage["byte_size"] == repository.HEAVY.nbytes
        server.unload(name)
    assert compiled == {"heavy_one": 1, "heavy_four": 1}
    once = repository.HEAVY.nbytes >> 10
    assert 0.9 * once <= grown["heavy_one"] <= 1.1 * once, grown
    assert grown["heavy_four"] <= 1.1 * grown["heavy_one"], grown


def test_instances_run_at_once(server: Server) -> None:
    """A request overtakes one that an instance executes already. With one instance it could not, however long that takes."""
    server.load("powers")
    small = np.eye(repository.POWERS + 4, k=1, dtype=np.float32)
    want = np.linalg.matrix_power(small, repository.POWERS + 1)
    assert np.array_equal(server.infer("powers", {"x": small})["y"], want)
    server.json("/v2/logging", {"log_verbose_level": 1})
    try:
        overtaken = any(overtakes(server, small, want, size) for size in (512, 1024, 2048, 3072))
    finally:
        server.json("/v2/logging", {"log_verbose_level": 0})
    assert overtaken


def overtakes(server: Server, small: Any, want: Any, size: int) -> bool:
    """Whether the server is done with a small request before a large one that began to run before the small one was sent."""
    log = f"[request id: {{}}{size}] Setting state from {{}} to {{}}"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        large = np.eye(size, k=1, dtype=np.float32)
        long = pool.submit(server.infer, "powers", {"x": large}, request=f"large{size}")
        while log.format("large", "PENDING", "EXECUTING") not in server.text() and not long.done():
            time.sleep(0.01)
        assert np.array_equal(server.infer("powers", {"x": small}, request=f"small{size}")["y"], want)
        assert np.array_equal(long.result()["y"], np.eye(size, k=repository.POWERS + 1, dtype=np.float32))
    ends = [log.format(name, "EXECUTING", "RELEASED") for name in ("small", "large")]
    while not all(end in server.text() for end in ends):  # a request is released after its answer
        assert server.process.poll() is None
        time.sleep(0.01)
    return server.text().index(ends[0]) < server.text().index(ends[1])


def test_loads_and_unloads_leave_nothing(server: Server) -> None:
    x = np.ones((2, 4), np.float32)

    def cycle(times: int) -> None:
        for _ in range(times):
            server.load("mlp")
            server.infer("mlp", {"x": x})
            server.unload("mlp")

    cycle(60)  # heaps of Go and of the server grow to their size
    # Go makes a thread whenever all of its threads are in calls, which a busy machine has at any time. What loads leave grows with
    # each round of them, and what was made by chance does not.
    grown, rounds = [True], 0
    while any(grown) and rounds < 4:
        (memory, threads, files), rounds = server.footprint(), rounds + 1
        cycle(LOADS)
        after = server.footprint()
        print(f"{LOADS} loads: {memory} -> {after[0]} KB, {threads} -> {after[1]} threads, {files} -> {after[2]} files")
        grown = [after[0] > memory * 1.03, after[1] > threads + 2, after[2] > files]
    assert not any(grown)
