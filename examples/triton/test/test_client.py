"""Asks a server for the models of create_test_model.py: are the answers right, and how long do they take?

    python3 test_client.py [ADDRESS]

ADDRESS is host:port of HTTP: the variable TRITON_URL, or localhost:8000. The server may be `paddle-mps serve` or the real
tritonserver. It needs the packages numpy, onnx and tritonclient[http].
"""

from __future__ import annotations

import math
import os
import pathlib
import sys
import time
from typing import Any

import numpy as np
import tritonclient.http as httpclient
from onnx.reference import ReferenceEvaluator

import onnx
from onnx import numpy_helper

MODELS = pathlib.Path(__file__).resolve().parent / "models"
RUNS = int(os.environ.get("TRITON_RUNS", "50"))


def ask(client: Any, name: str, x: Any) -> Any:
    """The answer of the server."""
    given = httpclient.InferInput("input", list(x.shape), "FP32")
    given.set_data_from_numpy(x)
    return client.infer(name, [given]).as_numpy("output")


def reference(model: Any, x: Any, absolute: bool = False) -> Any:
    """The answer of ONNX's own evaluator in float64; with absolute, of the network with the magnitudes of all numbers."""
    wide = onnx.ModelProto()
    wide.CopyFrom(model)
    for tensor in wide.graph.initializer:
        w = numpy_helper.to_array(tensor).astype(np.float64)
        tensor.CopyFrom(numpy_helper.from_array(np.abs(w) if absolute else w, tensor.name))
    x = x.astype(np.float64)
    return ReferenceEvaluator(wide).run(None, {"input": np.abs(x) if absolute else x})[0]


def terms(model: Any) -> int:
    """How many rounded additions and products are behind an element: the longest sums of all nodes together."""
    shapes = {t.name: list(t.dims) for t in model.graph.initializer}
    count = 0
    for node in model.graph.node:
        weights = [shapes[name] for name in node.input if name in shapes]
        if node.op_type in ("Conv", "Gemm"):
            count += math.prod(weights[0][1:]) + 1
        elif node.op_type == "Add":
            count += 1
        elif node.op_type == "GlobalAveragePool":
            count += 16 + 1  # 4 x 4 elements and a division
    return count


def check(client: Any, name: str) -> bool:
    """Correctness for batches of 1 and 3, and the time of an answer."""
    config = client.get_model_config(name)
    dims = [int(d) for d in config["input"][0]["dims"]]
    model = onnx.load(MODELS / name / "1" / "model.onnx")
    worst = 0.0
    for batch in (1, 3):
        x = np.random.default_rng(batch).standard_normal([batch, *dims]).astype(np.float32)
        y, right = ask(client, name, x), reference(model, x)
        # ReLU and pooling enlarge no error, so that sums of n terms are at most n roundings away from the right ones,
        # each relative to the sum of magnitudes.
        allowed = terms(model) * 2.0**-24 * reference(model, x, absolute=True)
        worst = float(np.maximum(worst, np.max(np.abs(y - right) / allowed)))  # NaN stays
    x = x[:1]
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        ask(client, name, x)
        times.append(time.perf_counter() - start)
    times.sort()
    p50, p99 = (1000 * times[int(q * (len(times) - 1))] for q in (0.5, 0.99))
    verdict = "PASS" if worst <= 1 else "FAIL"
    print(f"{name:14} {verdict}: error {worst:.2f} of the bound; p50 {p50:.2f} ms, p99 {p99:.2f} ms, {RUNS} requests")
    return worst <= 1


def main() -> int:
    address = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("TRITON_URL", "localhost:8000")
    with httpclient.InferenceServerClient(address) as client:
        if not client.is_server_ready():
            print(f"the server at {address} is not ready")
            return 1
        server = client.get_server_metadata()
        print(f"{server['name']} {server['version']} at {address}")
        results = [check(client, folder.name) for folder in sorted(MODELS.iterdir())]
    return 0 if all(results) and results else 1


if __name__ == "__main__":
    sys.exit(main())
