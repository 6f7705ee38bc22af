"""The programs of examples/triton, as their page says to run them."""

from __future__ import annotations

import pathlib

import models
import numpy as np
import pytest
import running
import test_infer
import test_models
import tritonclient.http as http
import usage


@pytest.fixture(scope="module")
def repository(tmp_path_factory) -> pathlib.Path:
    """The repository that the block makes. tests/tritonserver runs its line that builds as well."""
    folder: pathlib.Path = tmp_path_factory.mktemp("repository")
    usage.run(usage.CREATE + usage.COPY, TRITON_MODEL_REPO=str(folder))
    return folder


def test_the_block_runs_word_for_word(repository):
    assert (usage.FOLDER / "config.pbtxt").read_text() == usage.CONFIGURE.partition("\n")[2].strip() + "\n"
    assert (repository / "my_mps_model" / "config.pbtxt").read_text() == (usage.FOLDER / "config.pbtxt").read_text()
    with running.serving(str(repository)) as server:
        said = usage.run(usage.ASK, usage.FOLDER / "test", TRITON_URL=server.http)
    assert said.count(" PASS: ") == 3, said


def test_a_wrong_answer_is_found(repository, tmp_path):
    """The client must be able to fail: another model behind the same name."""
    for name in ("simple_cnn", "resnet_block", "my_mps_model"):
        (tmp_path / name).symlink_to(repository / name)
    (tmp_path / "simple_cnn").unlink()
    (tmp_path / "simple_cnn" / "1").mkdir(parents=True)
    file = repository / "simple_cnn" / "1" / "model.onnx"
    model = models.onnx.load(file)
    model.graph.initializer[1].raw_data = bytes(len(model.graph.initializer[1].raw_data))  # another bias
    models.onnx.save(model, tmp_path / "simple_cnn" / "1" / "model.onnx")
    (tmp_path / "simple_cnn" / "config.pbtxt").write_text((repository / "simple_cnn" / "config.pbtxt").read_text())
    with running.serving(str(tmp_path)) as server, pytest.raises(AssertionError, match=r"simple_cnn +FAIL"):
        usage.run(usage.ASK, usage.FOLDER / "test", TRITON_URL=server.http)


def test_gpu_and_variables(tmp_path, monkeypatch):
    """A group of the GPU, which the real server refuses, and the variables of the backend."""
    models.unary(
        tmp_path / "mps_model",
        "Neg",
        config='name: "mps_model" backend: "metal_mps" max_batch_size: 8'
        ' input [{ name: "x" data_type: TYPE_FP32 dims: [4] }] output [{ name: "y" data_type: TYPE_FP32 dims: [4] }]'
        " instance_group [{ count: 1 kind: KIND_GPU gpus: [ 0 ] }]",
    )
    monkeypatch.setenv("PADDLE_MPS_DEVICE", "host")
    monkeypatch.setenv("MPS_VERBOSE", "1")
    monkeypatch.setenv("MPS_MAX_POOL_SIZE", str(64 << 20))
    monkeypatch.setenv("MPS_MAX_BUFFER_AGE", "1000")
    x = np.ones((8, 4), np.float32)
    with running.serving(str(tmp_path)) as server, test_infer.connect(server, "http") as client:
        np.testing.assert_array_equal(
            client.infer("mps_model", test_infer.given(http, x=("FP32", x))).as_numpy("y"), -x
        )
        assert 'place="mps:0"' in test_models.fetch(server.metrics, "/metrics")[1].decode()
    monkeypatch.setenv("MPS_MAX_POOL_SIZE", "much")
    with pytest.raises(RuntimeError, match="status 1"):
        running.Server(str(tmp_path))
