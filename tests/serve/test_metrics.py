"""The metrics are those of tritonserver, and equal to the statistics."""

from __future__ import annotations

import re

import numpy as np
import pytest
import test_infer
import test_models
import tritonclient.http as http
from tritonclient.utils import InferenceServerException

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
        assert values['paddle_mps_program_hits{place="cpu"}'] >= 3
        client.unload_model("m")
        assert not any('model="m"' in name for name in read(server)[1])


def test_other_paths(server):
    assert test_models.fetch(server.metrics, "/")[0] == 404
    assert test_models.fetch(server.metrics, "/metrics", b"")[0] == 405
