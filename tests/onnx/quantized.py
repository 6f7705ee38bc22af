"""Models that onnxruntime has quantized in QDQ format, beside onnxruntime.

python -m pytest tests/onnx/quantized.py
"""

from __future__ import annotations

import importlib
import pathlib
from typing import Any

import numpy as np
import pytest

import paddle_mps

onnx: Any = importlib.import_module("onnx")
theirs: Any = importlib.import_module("onnxruntime")
helper: Any = importlib.import_module("onnx.helper")
quantization: Any = importlib.import_module("onnxruntime.quantization")

random = np.random.default_rng(16)
IMAGES = random.standard_normal((24, 3, 14, 14)).astype(np.float32)


def network() -> Any:
    """Two convolutions, of which one is of groups, a pool, a linear layer and a product of two results."""

    def weight(name: str, *shape: int) -> Any:
        scale = float(np.prod(shape[1:])) ** -0.5
        return onnx.numpy_helper.from_array((random.standard_normal(shape) * scale).astype(np.float32), name)

    nodes = [
        helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"]),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4, strides=[2, 2], group=2),
        helper.make_node("Relu", ["c2"], ["r2"]),
        helper.make_node("GlobalAveragePool", ["r2"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
        helper.make_node("Gemm", ["f", "w3", "b3"], ["g"], transB=1),
        helper.make_node("MatMul", ["g", "w4"], ["m"]),
        helper.make_node("Transpose", ["m"], ["t"], perm=[1, 0]),
        helper.make_node("MatMul", ["m", "t"], ["y"]),
    ]
    weights = [weight("w1", 16, 3, 3, 3), weight("b1", 16), weight("w2", 24, 8, 3, 3), weight("b2", 24)]
    weights += [weight("w3", 40, 24), weight("b3", 40), weight("w4", 40, 20)]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", 1, ["n", 3, 14, 14])],
        [helper.make_tensor_value_info("y", 1, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]  # the module has no types
    """The images, one batch of eight after the other."""

    def __init__(self) -> None:
        self.batches = iter(np.split(IMAGES, 3))

    def get_next(self) -> Any:
        x = next(self.batches, None)
        return None if x is None else {"x": x}


@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize(("activation", "weight"), [("QUInt8", "QInt8"), ("QInt8", "QInt8"), ("QUInt8", "QUInt8")])
def test_static(tmp_path: pathlib.Path, per_channel: bool, activation: str, weight: str) -> None:
    """Results are at most a quantum apart: onnxruntime adds the bias before it scales, so that a half may be rounded otherwise.
    Weights have 7 bits, because without VNNI the sums of two of its products saturate at 16 bits."""
    quantization.quantize_static(
        network(),
        tmp_path / "q.onnx",
        Reader(),
        quant_format=quantization.QuantFormat.QDQ,
        per_channel=per_channel,
        reduce_range=True,
        activation_type=quantization.QuantType[activation],
        weight_type=quantization.QuantType[weight],
    )
    file = onnx.load(tmp_path / "q.onnx")
    scales = {t.name: onnx.numpy_helper.to_array(t) for t in file.graph.initializer}
    last = next(n for n in file.graph.node if n.output[0] == "y")
    assert last.op_type == "DequantizeLinear"
    ours = paddle_mps.onnx.load(str(tmp_path / "q.onnx"), "cpu")
    got = ours(IMAGES[:8]).numpy()
    want = theirs.InferenceSession(tmp_path / "q.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": IMAGES[:8]})
    quantum = scales[last.input[1]]
    assert np.rint(np.abs(got - want[0]) / quantum).max() <= 1
    explained = ours.explain()
    assert " = matmul(" not in explained and " = matmul_integer(" in explained
    # The first one has few channels. Weights of uint8 have zero points.
    assert explained.count(" = conv_integer(") == (1 if weight == "QInt8" else 0)
