"""triton-inference-server/server#6341: the metrics lack the number of pending requests, or counters stay 0 while summaries grow."""

import re
import urllib.request

import numpy as np
from serving_case import add, ask, bad, check, finish, http, new_repo, relu

from paddle_mps.serve import Server

repo = new_repo()
add(repo, "relu", relu([-1, 4]), "max_batch_size: 8")
add(repo, "unused", relu([-1, 4]), "max_batch_size: 8")
with Server(repo, "--metrics-config=summary_latencies=true", "--metrics-config=counter_latencies=true") as s:
    c = http.InferenceServerClient(s.http)
    for n in (1, 3, 8):
        ask(c, "relu", {"x": np.ones((n, 4), "float32")})
    try:
        ask(c, "relu", {"x": np.ones((9, 4), "float32")})
        bad.append("9 rows were accepted")
    except Exception as e:
        check(f"9 rows: {e}", "8" in str(e))
    text = urllib.request.urlopen(f"http://{s.metrics}/metrics").read().decode()

    def value(name, model="relu"):
        m = re.search(rf'^{name}{{[^}}]*model="{model}"[^}}]*}} (\S+)$', text, re.M)
        return float(m.group(1)) if m else None

    for name, want in (
        ("nv_inference_request_success", 3),
        ("nv_inference_count", 12),
        ("nv_inference_exec_count", 3),
        ("nv_inference_pending_request_count", 0),
    ):
        check(f"{name} is {value(name)}, not {want}", value(name) == want)
    for name in (
        "nv_inference_request_duration_us",
        "nv_inference_queue_duration_us",
        "nv_inference_compute_infer_duration_us",
    ):
        check(
            f"{name} is {value(name)}",
            (value(name) or 0) > 0 or (name == "nv_inference_queue_duration_us" and value(name) is not None),
        )
    check(
        f"summary counts {value('nv_inference_request_summary_us_count')}",
        value("nv_inference_request_summary_us_count") == 3,
    )
    check(f"failures {text.count('nv_inference_request_failure{')}", "nv_inference_request_failure{" in text)
    check(f"unused model {value('nv_inference_count', 'unused')}", value("nv_inference_count", "unused") == 0)

finish()
