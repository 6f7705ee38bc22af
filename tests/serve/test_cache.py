"""The cache of responses: --cache-config and response_cache."""

from __future__ import annotations

import models
import numpy as np
import pytest
import running
import test_infer
import test_metrics
import tritonclient.http as http

CONFIG = "response_cache { enable: true }"


@pytest.mark.parametrize("protocol", test_infer.PROTOCOLS)
def test_hits_and_metrics(tmp_path, protocol):
    module = test_infer.PROTOCOLS[protocol]
    models.unary(tmp_path / "m", "Neg", config=CONFIG)
    models.unary(tmp_path / "off", "Neg")
    x = np.ones((2, 4), np.float32)
    with (
        running.serving(str(tmp_path), "--cache-config=local,size=1048576") as server,
        test_infer.connect(server, protocol) as client,
    ):
        for name in ("m", "m", "m", "off", "off"):
            result = client.infer(name, test_infer.given(module, x=("FP32", x)), request_id="a")
            np.testing.assert_array_equal(result.as_numpy("y"), -x)
        types, values = test_metrics.read(server)
        label = '{model="m",version="1"}'
        assert values["nv_cache_num_hits_per_model" + label] == 2
        assert values["nv_cache_num_misses_per_model" + label] == 1
        assert types["nv_cache_hit_duration_per_model"] == types["nv_cache_miss_duration_per_model"] == "counter"
        assert values["nv_inference_request_success" + label] == 3
        assert values["nv_inference_count" + label] == 2 and values["nv_inference_exec_count" + label] == 1
        assert not any(name.startswith("nv_cache") and 'model="off"' in name for name in values)
        more = {"as_json": True} if protocol == "grpc" else {}
        one = client.get_inference_statistics("m", **more)["model_stats"][0]["inference_stats"]
        assert int(one["cache_hit"]["count"]) == 2 and int(one["cache_miss"]["count"]) == 1


def test_it_is_bounded(tmp_path, small_heap):
    """Ten thousand different answers of 16 KiB do not grow a cache of a megabyte."""
    models.unary(tmp_path / "m", "Neg", dims=("n", 4096), config=CONFIG)
    with (
        running.serving(str(tmp_path), "--cache-config=local,size=1048576") as server,
        test_infer.connect(server, "http") as client,
    ):

        def rss() -> int:
            with open(f"/proc/{server.process.pid}/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

        x = np.zeros((1, 4096), np.float32)
        for i in range(2000):
            x[0, 0] = i
            client.infer("m", test_infer.given(http, x=("FP32", x)))
            if i == 500:
                before = rss()
        assert rss() - before < 16 << 10
