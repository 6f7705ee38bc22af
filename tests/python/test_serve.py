"""paddle_mps.serve: a server is started, asked over HTTP, and gone afterwards, however its parent ends.

tests/serve asks the server with its usual clients; here is what Python adds.
"""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import urllib.request
from typing import Any

import onnx_files as files
import pytest

import paddle_mps
from paddle_mps import serve


@pytest.fixture
def net(tmp_path: pathlib.Path) -> pathlib.Path:
    """A model that negates vectors of two numbers."""
    path = tmp_path / "net.onnx"
    path.write_bytes(
        files.model(
            [files.node("Neg", ["x"], ["y"])],
            [files.port("x", "float", ["n", 2])],
            [files.port("y", "float", ["n", 2])],
        )
    )
    return path


def ask(server: serve.Server, path: str, body: Any = None) -> Any:
    """The answer to a request, read as JSON."""
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(f"http://{server.http}{path}", data, timeout=20) as response:
        return json.load(response)


REQUEST = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1, -2]}]}


def gone(pid: int) -> bool:
    """Whether a process ends soon."""
    for _ in range(200):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        with open(f"/proc/{pid}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] == "Z":
                return True
        time.sleep(0.05)
    return False


def test_a_file_is_served(net: pathlib.Path) -> None:
    with paddle_mps.serve.Server(net) as server:
        answer = ask(server, "/v2/models/net/infer", REQUEST)
        assert answer["outputs"][0]["data"] == [-1.0, 2.0]
        assert server.http in repr(server) and server.grpc and server.metrics
    assert server.close() == 0 and "ended" in repr(server)


def test_models_are_added(net: pathlib.Path, tmp_path: pathlib.Path) -> None:
    repository = tmp_path / "models"
    assert serve.add_model(repository, "a", net) == repository / "a" / "1"
    assert serve.add_model(repository, "a", net).name == "2"
    assert serve.add_model(repository, "a", net, version=7).name == "7"
    serve.add_model(
        repository,
        "b",
        net,
        max_batch_size=8,
        preferred_batch_size=[2, 4],
        max_queue_delay_microseconds=5,
        instances=2,
        kind="CPU",
    )
    assert sorted(p.name for p in (repository / "b").iterdir()) == ["1", "config.pbtxt"]
    with serve.Server(repository) as server:
        assert ask(server, "/v2/models/a")["versions"] == ["7"]
        config = ask(server, "/v2/models/b/config")
    assert config["max_batch_size"] == 8 and config["dynamic_batching"]["preferred_batch_size"] == [2, 4]
    assert config["dynamic_batching"]["max_queue_delay_microseconds"] == 5
    assert config["instance_group"][0]["count"] == 2 and config["instance_group"][0]["kind"] == "KIND_CPU"
    wrongs: list[dict[str, Any]] = [{"name": "../a"}, {"name": ".."}, {"version": 2}, {"version": 0}, {"kind": "TPU"}]
    wrongs += [{"max_batch_size": -1}, {"max_queue_delay_microseconds": -1}, {"instances": 0}]
    for wrong in wrongs:
        with pytest.raises(ValueError, match=r"\[add_model\]"):
            serve.add_model(**{"repository": repository, "name": "a", "model": net, **wrong})
    with pytest.raises(OSError, match="nowhere"):
        serve.add_model(repository, "a", "nowhere.onnx")
    with pytest.raises(OSError, match="is no file; want the path of an ONNX file"):
        serve.add_model(repository, "c", tmp_path)
    assert sorted(p.name for p in repository.iterdir()) == ["a", "b"]  # a folder c would be a model that does not load
    assert sorted(p.name for p in (repository / "a").iterdir()) == ["1", "2", "7"]


def test_a_server_that_does_not_start(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="ended with status 1"):
        serve.Server(tmp_path / "nowhere")
    assert "failed to load all models" in capfd.readouterr().err
    with pytest.raises(RuntimeError, match="ended with status 2"):
        serve.Server(tmp_path, "--allow-sagemaker=1")
    assert "option --allow-sagemaker of tritonserver is not supported" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")
@pytest.mark.parametrize("how", ["exit", "kill"])
def test_no_server_outlives_its_parent(net: pathlib.Path, how: str) -> None:
    """A program that forgets its server, or is killed, leaves none behind."""
    program = (
        "import sys, time, paddle_mps.serve\n"
        f"server = paddle_mps.serve.Server({str(net)!r})\n"
        "print(server.pid, flush=True)\n"
        f"{'time.sleep(60)' if how == 'kill' else ''}\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        if how == "kill":
            parent.send_signal(signal.SIGKILL)
        parent.wait(30)
    assert gone(pid)


def test_without_the_executable(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(serve.VARIABLE, "nowhere")
    with pytest.raises(FileNotFoundError, match="PADDLE_MPS_TOOL is 'nowhere'; want an executable file"):
        serve.executable()
    assert serve.main(["models"]) == 1
    assert "PADDLE_MPS_TOOL" in capsys.readouterr().err
    assert serve.main(["--help"]) == 0
    assert "usage: paddle-mps serve" in capsys.readouterr().out


def test_the_command() -> None:
    """`paddle-mps serve`, as pip installs it, becomes the executable."""
    line = [sys.executable, "-c", "from paddle_mps._tool import main; main()", "serve", "--help"]
    ended = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and "--model-control-mode" in ended.stdout
