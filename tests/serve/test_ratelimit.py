"""The rate limiter, and instances that share what a model has in memory."""

from __future__ import annotations

import concurrent.futures

import models
import numpy as np
import pytest
import running
import test_infer
import test_metrics
import test_models
import tritonclient.http as http

GROUP = (
    'instance_group {{ count: {} kind: KIND_CPU rate_limiter {{ priority: {} resources {{ name: "R" count: {} }} }} }}'
)


@pytest.mark.parametrize("limits", [[], ["--rate-limit-resource=R:3"], ["--rate-limit-resource=R:2:0"]])
def test_models_that_share_a_resource(tmp_path, limits):
    models.unary(tmp_path / "small", "Neg", config=GROUP.format(3, 1, 1))
    models.unary(tmp_path / "large", "Abs", config=GROUP.format(2, 2, 2))
    x = np.ones((2, 4), np.float32)

    def ask(i: int) -> None:
        with test_infer.connect(server, "http") as client:
            for _ in range(20):
                y = client.infer(("small", "large")[i % 2], test_infer.given(http, x=("FP32", x))).as_numpy("y")
                np.testing.assert_array_equal(y, x if i % 2 else -x)

    with (
        running.serving(str(tmp_path), "--rate-limit=execution_count", *limits) as server,
        concurrent.futures.ThreadPoolExecutor(8) as pool,
    ):
        list(pool.map(ask, range(8)))


def test_a_limit_that_cannot_be_met(tmp_path):
    models.unary(tmp_path / "m", "Neg", config=GROUP.format(1, 1, 4))
    options = "--rate-limit=execution_count", "--rate-limit-resource=R:3", "--exit-on-error=false"
    with running.serving(str(tmp_path), *options) as server, test_infer.connect(server, "http") as client:
        (one,) = client.get_model_repository_index()
        assert 'Resource count for "R" is limited to 3' in one["reason"] and not client.is_server_ready()
    with running.serving(str(tmp_path)) as server:  # off: the setting changes nothing
        assert test_models.fetch(server.http, "/v2/health/ready")[0] == 200


def test_instances_share_weights_and_programs(tmp_path):
    """Four instances of a model of 16 MiB take the memory of one, and compile its program once."""
    weight = models.helper.make_tensor(
        "w", models.TensorProto.FLOAT, [2048, 2048], np.ones((2048, 2048), np.float32).tobytes(), raw=True
    )
    port = [models.port(n, models.TensorProto.FLOAT, "n", 2048) for n in ("x", "y")]
    graph = models.helper.make_graph(
        [models.helper.make_node("MatMul", ["x", "w"], ["y"])], "test", port[:1], port[1:], [weight]
    )
    model = models.helper.make_model(graph, opset_imports=[models.helper.make_opsetid("", 17)], ir_version=8)
    taken = {}
    for count in (1, 4):
        folder = tmp_path / str(count) / "m"
        (folder / "1").mkdir(parents=True)
        models.onnx.save(model, folder / "1" / "model.onnx")
        (folder / "config.pbtxt").write_text(f"max_batch_size: 1 instance_group {{ count: {count} kind: KIND_CPU }}")
        with running.serving(str(folder.parent)) as server:

            def ask(_: int) -> None:
                with test_infer.connect(server, "http") as client:
                    x = np.ones((1, 2048), np.float32)
                    assert (client.infer("m", test_infer.given(http, x=("FP32", x))).as_numpy("y") == 2048).all()

            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(ask, range(16)))
            _, values = test_metrics.read(server)
            with test_infer.connect(server, "http") as client:
                memory = client.get_inference_statistics("m")["model_stats"][0]["memory_usage"]
            taken[count] = (
                values['paddle_mps_memory_allocated_bytes{place="cpu"}'],
                values['paddle_mps_program_misses_total{place="cpu"}'],
                memory,
            )
    assert taken[1] == taken[4]
