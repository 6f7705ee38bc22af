"""What the server says about itself and its models, and loading and unloading."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request

import models
import numpy as np
import pytest
import running
import test_infer
import tritonclient.grpc as grpc
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

PROTOCOLS = test_infer.PROTOCOLS


def fetch(address: str, path: str, data: bytes | None = None, method: str | None = None, **headers: str):
    """Status and body of a request."""
    request = urllib.request.Request(
        f"http://{address}{path}", data, {k.replace("_", "-"): v for k, v in headers.items()}, method=method
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_health_and_metadata(server, protocol):
    with test_infer.connect(server, protocol) as client:
        assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("addsub")
        more = {"as_json": True} if protocol == "grpc" else {}
        extensions = client.get_server_metadata(**more)["extensions"]
        assert "statistics" in extensions and "sequence" not in extensions  # sequence_batching does not load
        model = client.get_model_metadata("addsub", **more)
        assert model["name"] == "addsub" and model["versions"] == ["1"] and model["platform"] == "onnxruntime_onnx"
        assert [int(d) for d in model["inputs"][0]["shape"]] == [-1, 16]
        config = client.get_model_config("addsub", **more)
        config = config["config"] if protocol == "grpc" else config
        assert config["max_batch_size"] == 4 and config["dynamic_batching"]["preferred_batch_size"] == [4]
        assert client.get_model_metadata("batched", **more)["platform"] == "metal_mps"


def test_clients_of_kserve_read_a_body(server):
    assert fetch(server.http, "/v2/health/live") == (200, b'{"live":true}')
    assert fetch(server.http, "/v2/health/ready") == (200, b'{"ready":true}')


def test_statistics_are_exact(explicit):
    server, _ = explicit
    with test_infer.connect(server, "http") as client:
        x = np.ones((2, 4), np.float32)
        for _ in range(5):
            client.infer("m", test_infer.given(http, x=("FP32", x)))
        with pytest.raises(InferenceServerException):
            client.infer("m", test_infer.given(http, x=("FP32", x.reshape(4, 2))))
        one = client.get_inference_statistics("m")["model_stats"][0]
    assert one["inference_count"] == 10 and one["execution_count"] == 5
    assert one["inference_stats"]["success"]["count"] == 5 and one["inference_stats"]["fail"]["count"] == 1
    assert one["batch_stats"] == [{**one["batch_stats"][0], "batch_size": 2}]
    with test_infer.connect(server, "grpc") as client:
        same = client.get_inference_statistics("m").model_stats[0]
    assert same.inference_count == 10 and same.inference_stats.success.count == 5


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_control(explicit, protocol):
    (server, folder), module = explicit, PROTOCOLS[protocol]
    x = -np.ones((1, 4), np.float32)

    def answer():
        return client.infer("m", test_infer.given(module, x=("FP32", x))).as_numpy("y")[0, 0]

    with test_infer.connect(server, protocol) as client:
        assert answer() == 1
        models.unary(folder / "m", "Identity", version=2)
        client.load_model("m")
        assert answer() == -1
        (folder / "m" / "3").mkdir()
        with pytest.raises(
            InferenceServerException, match=r"load failed for model 'm': version 3 is at UNAVAILABLE state: "
        ):
            client.load_model("m")
        assert answer() == -1 and client.is_server_ready()
        (folder / "m" / "3").rmdir()
        client.unload_model("m")
        assert not ready(client, "m") and client.is_server_ready()
        client.load_model("m", config=json.dumps({"name": "m", "backend": "metal_mps", "max_batch_size": 2}))
        more = {"as_json": True} if protocol == "grpc" else {}
        config = client.get_model_config("m", **more)
        assert (config["config"] if protocol == "grpc" else config)["max_batch_size"] == 2
        override = models.unary(folder.parent / "elsewhere", "Abs").read_bytes()
        client.load_model("other", config='{"backend": "onnxruntime"}', files={"file:1/model.onnx": override})
        assert client.infer("other", test_infer.given(module, x=("FP32", x))).as_numpy("y")[0, 0] == 1
        index = client.get_model_repository_index(**more)
        names = [m["name"] for m in (index["models"] if protocol == "grpc" else index)]
        assert set(names) == {"m", "other"}
        with pytest.raises(InferenceServerException, match="failed to poll from model repository"):
            client.load_model("none")
        for name in ("..", "a/b"):
            with pytest.raises(InferenceServerException):
                client.load_model(name)


def ready(client, name):
    """Whether a model is ready; a model without ready versions is an error of the protocol."""
    try:
        return client.is_model_ready(name)
    except InferenceServerException:
        return False


def test_log_settings(explicit):
    server, _ = explicit
    with test_infer.connect(server, "http") as one, test_infer.connect(server, "grpc") as two:
        assert one.get_log_settings()["log_verbose_level"] == 0
        one.update_log_settings({"log_verbose_level": 1, "log_info": False})
        settings = two.get_log_settings().settings
        assert settings["log_verbose_level"].uint32_param == 1 and not settings["log_info"].bool_param


def test_paths_of_http(server):
    for path, method, status, text in [
        ("/v2/none", "GET", 404, "Not Found"),
        ("/v2/health/live", "POST", 405, "Method Not Allowed"),
        ("/v2/models/none", "GET", 404, "Request for unknown model: 'none' is not found"),
        (
            "/v2/models/addsub/versions/9/infer",
            "POST",
            404,
            "Request for unknown model: 'addsub' version 9 is not found",
        ),
        ("/v2/models/addsub/generate", "POST", 501, "the generate extension is not supported"),
        (
            "/v2/systemsharedmemory/region/a/register",
            "POST",
            501,
            "Client shared memory is disabled. Start the server with '--allow-client-shm=true' to enable.",
        ),
        (
            "/v2/repository/models/addsub/load",
            "POST",
            503,
            "explicit model load / unload is not allowed if polling is enabled",
        ),
    ]:
        got, body = fetch(server.http, path, b"" if method == "POST" else None, method)
        assert (got, json.loads(body)["error"]) == (status, text)


def test_one_file_and_poll(tmp_path):
    path = models.unary(tmp_path / "m", "Neg", dims=(2,))
    x = np.ones(2, np.float32)
    with (
        running.serving(str(path.rename(tmp_path / "net.onnx"))) as server,
        test_infer.connect(server, "grpc") as client,
    ):
        np.testing.assert_array_equal(client.infer("net", test_infer.given(grpc, x=("FP32", x))).as_numpy("y"), -x)


def test_polling(tmp_path):
    models.unary(tmp_path / "m", "Neg")
    arguments = "--model-control-mode=poll", "--repository-poll-secs=1"
    with running.serving(str(tmp_path), *arguments) as server, test_infer.connect(server, "http") as client:
        models.unary(tmp_path / "new", "Abs")
        wait(lambda: ready(client, "new"))
        (tmp_path / "m" / "1" / "model.onnx").unlink()
        (tmp_path / "m" / "1").rmdir()
        (tmp_path / "m").rmdir()
        wait(lambda: not ready(client, "m"))


def wait(condition, seconds: float = 60):
    """Waits for a condition, on a busy machine long."""
    import time

    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it has not come to pass"
        time.sleep(0.05)


def test_it_ends_with_its_parent(tmp_path):
    models.unary(tmp_path / "m", "Neg")
    server = running.Server(str(tmp_path))
    assert server.process.stdin is not None
    server.process.stdin.close()
    assert server.process.wait(timeout=20) == 0
    server = running.Server(str(tmp_path))
    assert server.stop(signal.SIGINT) == 0


def test_command_lines(tmp_path):
    def run(*arguments):
        command = [running.EXECUTABLE, "serve", *arguments]
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    models.unary(tmp_path / "good" / "m", "Neg")
    (tmp_path / "empty").mkdir()
    (tmp_path / "flat" / "m").mkdir(parents=True)
    (tmp_path / "flat" / "m" / "model.onnx").write_bytes((tmp_path / "good" / "m" / "1" / "model.onnx").read_bytes())
    ports = ["--http-port=0", "--grpc-port=0", "--metrics-port=0"]
    layout = "want REPOSITORY/MODEL/VERSION/model.onnx"

    for arguments, status, text in [
        (["--help"], 0, ""),
        ([], 2, "got no model repository"),
        (["x", "--cache-config=redis,host=1"], 2, "want local,size=<integer>: no other cache is supported"),
        (["x", "--model-namespacing=true"], 2, "option --model-namespacing of tritonserver is not supported"),
        (["x", "--none"], 2, "there is no option --none"),
        (
            ["x", "--load-model=m"],
            2,
            "Use of '--load-model' requires setting '--model-control-mode=explicit' as well.",
        ),
        (["x", "--http-port=70000"], 2, "want a whole number from 0 to 65535"),
        (["nowhere"], 1, "failed to load all models"),
        (["x", "--http-prot=1"], 2, "paddle-mps serve --help lists them"),
        ([str(tmp_path / "flat")], 1, f"neither config.pbtxt nor a version with a model; {layout}"),
        ([str(tmp_path / "good" / "m")], 1, f"neither config.pbtxt nor a version with a model; {layout}"),
        (
            [str(tmp_path / "empty"), "--ends-with-parent", *ports],
            0,
            f"there is no model in '{tmp_path / 'empty'}'; {layout}",
        ),
        (
            [str(tmp_path / "good"), "--grpc-use-ssl=true", *ports],
            1,
            "--grpc-server-cert and --grpc-server-key for gRPC",
        ),
    ]:
        ended = run(*arguments)
        assert (ended.returncode, text in ended.stderr) == (status, True), ended.stderr


def test_restricted(tmp_path):
    models.unary(tmp_path / "m", "Neg")
    arguments = "--http-restricted-api=metadata,statistics:secret=1", "--grpc-restricted-protocol=metadata:secret=1"
    with running.serving(str(tmp_path), *arguments) as server:
        assert fetch(server.http, "/v2") == (403, b'{"error":"This API is restricted, expecting header \'secret\'"}')
        assert fetch(server.http, "/v2", secret="1")[0] == 200
        for path in ("/", "/status.json"):
            assert fetch(server.http, path)[0] == 403 and fetch(server.http, path, secret="1")[0] == 200
        with test_infer.connect(server, "grpc") as client:
            with pytest.raises(InferenceServerException, match="This protocol is restricted"):
                client.get_server_metadata()
            assert client.get_server_metadata(headers={"triton-grpc-protocol-secret": "1"}).name == "triton"
