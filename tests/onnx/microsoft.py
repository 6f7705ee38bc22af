"""Operators of com.microsoft, for which the onnx package has no tests, beside onnxruntime.

python -m pytest tests/onnx/microsoft.py
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import paddle_mps.onnxruntime as ours

onnx: Any = importlib.import_module("onnx")
theirs: Any = importlib.import_module("onnxruntime")
helper: Any = importlib.import_module("onnx.helper")

STEPS, BATCH, INPUT, HIDDEN = 5, 1, 12, 8


def both(node: Any, feed: dict[str, Any], weights: dict[str, Any], outputs: int) -> list[tuple[Any, Any]]:
    """The results of a model of one node, ours and onnxruntime's."""
    elem = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [node],
        "g",
        [helper.make_tensor_value_info(name, elem(x.dtype), x.shape) for name, x in feed.items()],
        [helper.make_tensor_value_info(name, 1, None) for name in node.output[:outputs]],
        [onnx.numpy_helper.from_array(x, name) for name, x in weights.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    sessions = [module.InferenceSession(data, providers=["CPUExecutionProvider"]) for module in (ours, theirs)]
    made = [session.run(None, feed) for session in sessions]
    return list(zip(*made))


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("weight", [np.int8, np.uint8])
@pytest.mark.parametrize("start", [False, True])
def test_dynamic_quantize_lstm(direction: str, weight: Any, start: bool) -> None:
    """The integers are the same, so that results differ by the roundings of the gates in float32: each of the 5 steps has two
    products of values of up to 1 with weights of up to 2, and functions whose slope is at most 1."""
    random, both_ways = np.random.default_rng(3), 2 if direction == "bidirectional" else 1
    # Without VNNI, onnxruntime's sums of two products with int8 saturate at 16 bits, unless the weights have 7 bits.
    low, high = (-64, 64) if weight is np.int8 else (0, 256)
    weights = {
        "w": random.integers(low, high, (both_ways, INPUT, 4 * HIDDEN)).astype(weight),
        "r": random.integers(low, high, (both_ways, HIDDEN, 4 * HIDDEN)).astype(weight),
        "b": random.standard_normal((both_ways, 8 * HIDDEN)).astype(np.float32),
        "ws": np.full(both_ways, 0.015, np.float32),
        "wz": np.full(both_ways, (low + high) // 2, weight),
        "rs": np.full(both_ways, 0.011, np.float32),
        "rz": np.full(both_ways, (low + high) // 2 - 8, weight),
    }
    feed = {"x": random.standard_normal((STEPS, BATCH, INPUT)).astype(np.float32)}
    if start:
        feed |= {s: random.uniform(-1, 1, (both_ways, BATCH, HIDDEN)).astype(np.float32) for s in ("h", "c")}
    node = helper.make_node(
        "DynamicQuantizeLSTM",
        ["x", "w", "r", "b", "", *(["h", "c"] if start else ["", ""]), "", "ws", "wz", "rs", "rz"],
        ["y", "yh", "yc"],
        domain="com.microsoft",
        direction=direction,
        hidden_size=HIDDEN,
    )
    for got, want in both(node, feed, weights, 3):
        assert got.shape == want.shape and np.abs(want).max() > 0.1
        assert np.abs(got - want).max() <= STEPS * 8 * 2.0**-23
