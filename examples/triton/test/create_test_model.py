"""Writes three ONNX models with seeded weights as a model repository: test/models.

    python3 create_test_model.py

simple_cnn is a convolution, a ReLU and a pooling; resnet_block has a connection that skips two convolutions; my_mps_model
is the model of ../config.pbtxt: a picture of 224 x 224 in, 1,000 scores out. It needs the packages numpy and onnx.
"""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

import numpy as np

import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent

CONFIG = """name: "{name}"
backend: "metal_mps"
max_batch_size: 8
input [{{ name: "input" data_type: TYPE_FP32 dims: {inputs} }}]
output [{{ name: "output" data_type: TYPE_FP32 dims: {outputs} }}]
"""


class Network:
    """A graph that grows by one node a call; a value is its name."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.weights: list[Any] = []

    def constant(self, *shape: int, fan_in: int) -> str:
        name = f"w{len(self.weights)}"
        scaled = self.random.standard_normal(shape) * (2 / fan_in) ** 0.5  # keeps the variance through a ReLU
        self.weights.append(numpy_helper.from_array(scaled.astype(np.float32), name))
        return name

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [out], **attributes))
        return out

    def conv(self, x: str, cin: int, cout: int, size: int, stride: int = 1) -> str:
        w, b = self.constant(cout, cin, size, size, fan_in=cin * size * size), self.constant(cout, fan_in=cout)
        pad = size // 2
        return self.node("Conv", x, w, b, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[pad] * 4)

    def save(self, name: str, last: str, inputs: Sequence[int], outputs: Sequence[int], config: str = "") -> None:
        """Writes the model as version 1 of a model of the repository."""
        self.nodes[-1].output[0] = "output"
        assert last.startswith("v")
        ports = [
            helper.make_tensor_value_info(port, TensorProto.FLOAT, ["N", *shape])
            for port, shape in (("input", inputs), ("output", outputs))
        ]
        graph = helper.make_graph(self.nodes, name, ports[:1], ports[1:], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        folder = HERE / "models" / name
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "1").mkdir(parents=True)
        onnx.save(model, folder / "1" / "model.onnx")
        config = config or CONFIG.format(name=name, inputs=list(inputs), outputs=list(outputs))
        (folder / "config.pbtxt").write_text(config)
        print(f"{(folder / '1' / 'model.onnx').relative_to(HERE)}: {len(self.nodes)} nodes")


def simple_cnn() -> None:
    """Conv, ReLU, MaxPool."""
    net = Network(1)
    x = net.node("Relu", net.conv("input", 3, 16, 3))
    last = net.node("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    net.save("simple_cnn", last, [3, 32, 32], [16, 16, 16])


def resnet_block() -> None:
    """Two convolutions and the connection that skips them."""
    net = Network(2)
    x = net.node("Relu", net.conv("input", 16, 16, 3))
    last = net.node("Relu", net.node("Add", net.conv(x, 16, 16, 3), "input"))
    net.save("resnet_block", last, [16, 32, 32], [16, 32, 32])


def my_mps_model() -> None:
    """A classifier of pictures for the configuration beside this folder."""
    net = Network(3)
    x, channels = "input", 3
    for wider in (16, 32, 64):
        x, channels = net.node("Relu", net.conv(x, channels, wider, 3, stride=4)), wider
    x = net.node("Flatten", net.node("GlobalAveragePool", x))
    last = net.node("Gemm", x, net.constant(1000, channels, fan_in=channels), net.constant(1000, fan_in=1000), transB=1)
    net.save("my_mps_model", last, [3, 224, 224], [1000], (HERE.parent / "config.pbtxt").read_text())


if __name__ == "__main__":
    simple_cnn()
    resnet_block()
    my_mps_model()
