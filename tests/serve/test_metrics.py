"""The metrics are those of tritonserver, and equal to the statistics."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import models
import numpy as np
import pytest
import running
import test_infer
import test_models
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

PROMTOOL = os.environ.get("PROMTOOL") or shutil.which("promtool") or ""
# The metrics of tritonserver for a model: name and type.
OF_MODELS = {
    "nv_inference_request_success": "counter",
    "nv_inference_request_failure": "counter",
    "nv_inference_count": "counter",
    "nv_inference_exec_count": "counter",
    "nv_inference_request_duration_us": "counter",
    "nv_inference_queue_duration_us": "counter",
    "nv_inference_compute_input_duration_us": "counter",
    "nv_inference_compute_infer_duration_us": "counter",
    "nv_inference_compute_output_duration_us": "counter",
    "nv_inference_pending_request_count": "gauge",
    "nv_model_load_duration_secs": "gauge",
}


def read(server) -> tuple[dict[str, str], dict[str, float]]:
    """Types by name, and values by name with labels."""
    status, body = test_models.fetch(server.metrics, "/metrics")
    assert status == 200
    types = dict(re.findall(r"^# TYPE (\S+) (\S+)$", body.decode(), re.M))
    values = {name: float(value) for name, value in re.findall(r"^([^#\s]\S*) (\S+)$", body.decode(), re.M)}
    return types, values


def test_names_types_and_values(explicit):
    server, _ = explicit
    with test_infer.connect(server, "http") as client:
        x = np.ones((3, 4), np.float32)
        for _ in range(4):
            client.infer("m", test_infer.given(http, x=("FP32", x)))
        with pytest.raises(InferenceServerException):
            client.infer("m", test_infer.given(http, z=("FP32", x)))
        types, values = read(server)
        assert {name: types[name] for name in OF_MODELS} == OF_MODELS
        labels = '{model="m",version="1"}'
        assert values["nv_inference_request_success" + labels] == 4
        assert values["nv_inference_count" + labels] == 12
        assert values["nv_inference_exec_count" + labels] == 4
        assert values["nv_inference_pending_request_count" + labels] == 0
        for reason, count in {"OTHER": 1, "REJECTED": 0, "CANCELED": 0, "BACKEND": 0}.items():
            assert values[f'nv_inference_request_failure{{model="m",reason="{reason}",version="1"}}'] == count
        assert values['paddle_mps_program_hits_total{place="cpu"}'] >= 3
        client.unload_model("m")
        assert not any('model="m"' in name for name in read(server)[1])


@pytest.mark.skipif(not PROMTOOL, reason="there is no promtool")
def test_promtool(server):
    """promtool reads all of it, and finds fault with names of tritonserver alone: 3 is its status then."""
    body = test_models.fetch(server.metrics, "/metrics")[1]
    done = subprocess.run([PROMTOOL, "check", "metrics"], input=body, capture_output=True)
    assert done.returncode == 3, done.stderr
    assert all(line.startswith(b"nv_") for line in done.stderr.splitlines()), done.stderr


def test_other_paths(server):
    assert test_models.fetch(server.metrics, "/")[0] == 404
    assert test_models.fetch(server.metrics, "/metrics", b"")[0] == 405


def test_summaries_and_their_settings(tmp_path):
    """By --metrics-config, as in tritonserver: quantiles of the last minute, and no counters of durations."""
    models.unary(tmp_path / "m", "Neg")
    models.unary(tmp_path / "cached", "Neg", config="response_cache { enable: true }")
    options = ["summary_latencies=true", "counter_latencies=false", "summary_quantiles=0.5:0.05,0.9:0.01"]
    line = [f"--metrics-config={o}" for o in options]
    with (
        running.serving(str(tmp_path), "--cache-config=local,size=100000", *line) as server,
        test_infer.connect(server, "http") as client,
    ):
        x = np.ones((3, 4), np.float32)
        for _ in range(8):
            client.infer("m", test_infer.given(http, x=("FP32", x)))
            client.infer("cached", test_infer.given(http, x=("FP32", x)))
        types, values = read(server)
        for what in ("request", "queue", "compute_input", "compute_infer", "compute_output"):
            name = f"nv_inference_{what}_summary_us"
            assert types[name] == "summary" and values[name + '_count{model="m",version="1"}'] == 8
            assert values[name + '{model="m",version="1",quantile="0.9"}'] >= 0
            assert (name + '_count{model="cached",version="1"}' in values) == (what != "request")
        assert values['nv_inference_request_summary_us_sum{model="m",version="1"}'] > 0
        assert not any(re.match(r"nv_inference_\w+_duration_us", name) for name in values)
        label = '_count{model="cached",version="1"}'
        assert values["nv_cache_hit_summary_per_model" + label] == 7
        assert values["nv_cache_miss_summary_per_model" + label] == 1
