"""The block Usage of examples/triton/README.md, word for word, with the real server and with ours."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import server
import usage


def test_usage(tmp_path: pathlib.Path) -> None:
    repository = tmp_path / "models"
    repository.mkdir()
    usage.run(usage.BUILD + usage.CREATE + usage.COPY, TRITON_MODEL_REPO=str(repository))
    backends = usage.FOLDER / "build" / "backends"
    with_real = server.Server(
        repository, backends, tmp_path / "log", MPS_MAX_POOL_SIZE=str(1 << 30), MPS_MAX_BUFFER_AGE="60000"
    )
    try:
        for model in sorted(p.name for p in repository.iterdir()):
            with_real.load(model)
        said = usage.run(usage.ASK, usage.FOLDER / "test", TRITON_URL=with_real.url.partition("//")[2])
    finally:
        assert with_real.stop() == 0
    assert said.count(" PASS: ") == 3 and said.startswith("triton 2.51.0"), said
    assert usage.run(f"{sys.executable} demo.py").count(" PASS: ") >= 3


def test_the_real_server_refuses_gpus(tmp_path: pathlib.Path) -> None:
    """Which is why the page says so."""
    folder = tmp_path / "models" / "m"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.onnx").write_bytes(b"")
    (folder / "config.pbtxt").write_text('backend: "metal_mps" instance_group [{ kind: KIND_GPU gpus: [ 0 ] }]')
    one = server.Server(tmp_path / "models", server.backends(tmp_path / "installed"), tmp_path / "log")
    try:
        one.load("m")
    except server.ServerError as error:
        assert "gpu" in error.text.lower()
    else:
        raise AssertionError("KIND_GPU was accepted")
    finally:
        one.stop()


def test_build_script_is_plain_shell() -> None:
    subprocess.run(["sh", "-n", str(usage.FOLDER / "build_macos.sh")], check=True)
