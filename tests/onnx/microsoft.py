"""Operators of com.microsoft and attributes for which the onnx package has no tests, beside onnxruntime.

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


@pytest.mark.parametrize("op, gates", [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
@pytest.mark.parametrize("clip", [0.5, 1.0])
def test_clip_of_recurrent_networks(op: str, gates: int, clip: float) -> None:
    """The gates are clipped, an LSTM's cell is not, though it grows beyond the bound: forget and input gates are near 1."""
    random, steps = np.random.default_rng(6), 8
    weights = {
        "w": random.standard_normal((1, gates * HIDDEN, INPUT)).astype(np.float32),
        "r": random.uniform(-0.2, 0.2, (1, gates * HIDDEN, HIDDEN)).astype(np.float32),
        "b": np.full((1, 2 * gates * HIDDEN), 2, np.float32),
    }
    feed = {"x": random.standard_normal((steps, BATCH, INPUT)).astype(np.float32)}
    names = ["y", "yh", "yc"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(op, ["x", "w", "r", "b"], names, hidden_size=HIDDEN, clip=clip)
    made = both(node, feed, weights, len(names))
    if op == "LSTM":
        assert np.abs(made[2][1]).max() > clip
    for got, want in made:
        assert np.abs(got - want).max() <= steps * 8 * 2.0**-23


def attention_feed(random: Any, batch: int, length: int, keys: int, mask: str) -> dict[str, Any]:
    """A mask of integers: how many keys count, or which."""
    if mask == "lengths":
        return {"m": random.integers(1, keys + 1, batch).astype(np.int32)}
    if mask == "keys":
        return {"m": (random.random((batch, keys)) < 0.7).astype(np.int32)}
    if mask == "queries":
        return {"m": (random.random((batch, length, keys)) < 0.7).astype(np.int32)}
    return {}


# A score is a sum of 8 products of up to some 3 * 3, so that it is off by less than 8 * 100 * 2**-24, as is its weight of itself; the
# results are up to 4.
NEAR = 2.0**-12


@pytest.mark.parametrize("mask", ["", "lengths", "keys", "queries"])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("past", [0, 4])
@pytest.mark.parametrize("bias", [False, True])
def test_multi_head_attention(mask: str, causal: int, past: int, bias: bool) -> None:
    random, batch, length, heads, size = np.random.default_rng(4), 2, 5, 3, 8
    keys = past + length
    feed = {n: random.standard_normal((batch, length, heads * size)).astype(np.float32) for n in "qkv"}
    feed |= attention_feed(random, batch, length, keys, mask)
    if bias:
        feed["b"] = random.standard_normal(3 * heads * size).astype(np.float32)
        feed["a"] = random.standard_normal((1, heads, length, keys)).astype(np.float32)
    if past:
        feed |= {n: random.standard_normal((batch, heads, past, size)).astype(np.float32) for n in ("pk", "pv")}
    names = ["q", "k", "v", "b", "m", "a", "pk", "pv"]
    node = helper.make_node(
        "MultiHeadAttention", [n if n in feed else "" for n in names], ["y", "nk", "nv"], domain="com.microsoft",
        num_heads=heads, unidirectional=causal,
    )  # fmt: skip
    for got, want in both(node, feed, {}, 3 if past else 1):
        assert got.shape == want.shape and np.abs(got - want).max() <= NEAR


@pytest.mark.parametrize("mask", ["", "lengths", "keys", "queries"])
@pytest.mark.parametrize("causal", [0, 1])
@pytest.mark.parametrize("past", [0, 4])
@pytest.mark.parametrize("sizes", [[24, 24, 24], [24, 24, 12]])
def test_attention(mask: str, causal: int, past: int, sizes: list[int]) -> None:
    if past and sizes[2] != 24:
        pytest.skip("keys and values of a past have one size")
    random, batch, length, heads = np.random.default_rng(5), 2, 5, 3
    feed = {"x": random.standard_normal((batch, length, 16)).astype(np.float32)}
    weights = {
        "w": (random.standard_normal((16, sum(sizes))) / 4).astype(np.float32),
        "b": random.standard_normal(sum(sizes)).astype(np.float32),
    }
    feed |= attention_feed(random, batch, length, past + length, mask)
    if past:
        feed["p"] = random.standard_normal((2, batch, heads, past, 8)).astype(np.float32)
    node = helper.make_node(
        "Attention", ["x", "w", "b", "m" if mask else "", "p" if past else ""], ["y", "n"][: 1 + (past > 0)], domain="com.microsoft",
        num_heads=heads, unidirectional=causal, qkv_hidden_sizes=sizes, scale=0.3,
    )  # fmt: skip
    for got, want in both(node, feed, weights, 1 + (past > 0)):
        assert got.shape == want.shape and np.abs(got - want).max() <= NEAR


@pytest.mark.parametrize(
    ("name", "shapes", "message"),
    [
        ("Attention", {"x": (2, 5, 16), "w": (16, 24), "p": (2, 2, 3, 8)}, "the past has shape"),
        ("Attention", {"x": (2, 5, 16), "w": (24,)}, "and a matrix"),
        ("Attention", {"x": (2, 5, 16), "w": (16, 25)}, "qkv_hidden_sizes is"),
        ("Attention", {"x": (2, 5, 16), "w": (16, 24), "m": (8,)}, "a mask of shape"),
        ("MultiHeadAttention", {"q": (2, 5, 8)}, "in one tensor"),
        ("MultiHeadAttention", {"q": (2, 5, 9), "k": (2, 5, 9), "v": (2, 5, 9)}, "does not have 2 heads"),
        ("MultiHeadAttention", {"q": (2, 5, 8), "k": (2, 5, 8), "v": (2, 4, 8)}, "query has shape"),
        (
            "MultiHeadAttention",
            {"q": (2, 5, 8), "k": (2, 5, 8), "v": (2, 5, 8), "pk": (2, 5), "pv": (2, 5)},
            "the past has shapes",
        ),
    ],
)
def test_attention_refuses(name: str, shapes: dict[str, Any], message: str) -> None:
    names = ["x", "w", "b", "m", "p"] if name == "Attention" else ["q", "k", "v", "b", "m", "a", "pk", "pv"]
    node = helper.make_node(name, [n if n in shapes else "" for n in names], ["y"], domain="com.microsoft", num_heads=2)
    feed = {n: np.ones(s, np.int32 if n == "m" else np.float32) for n, s in shapes.items()}
    with pytest.raises(Exception, match=message):
        both(node, feed, {}, 1)
