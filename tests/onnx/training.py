"""Operators of training, and inverse transforms of real signals, beside ONNX's reference.

python -m pytest tests/onnx/training.py
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import paddle_mps

helper: Any = importlib.import_module("onnx.helper")
reference: Any = importlib.import_module("onnx.reference")
TRAINING = "ai.onnx.preview.training"
random = np.random.default_rng(11)


def both(op: str, inputs: list[Any], outputs: int, domain: str = "", opset: int = 19, **attributes: Any) -> list[Any]:
    """Pairs of results of a node: ours, and those of the reference."""
    names, made = [f"x{i}" for i in range(len(inputs))], [f"y{i}" for i in range(outputs)]
    elem = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(op, names, made, domain=domain, **attributes)],
        "g",
        [helper.make_tensor_value_info(n, elem(x.dtype), x.shape) for n, x in zip(names, inputs)],
        [helper.make_tensor_value_info(n, elem(inputs[-1].dtype if domain else inputs[0].dtype), None) for n in made],
    )
    opsets = [helper.make_opsetid("", opset), *([helper.make_opsetid(domain, 1)] if domain else [])]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    got = paddle_mps.onnx.load(model.SerializeToString(), paddle_mps.CPUPlace())(*inputs)
    want = reference.ReferenceEvaluator(model).run(None, dict(zip(names, inputs)))
    return list(zip([x.numpy() for x in (got if isinstance(got, tuple) else (got,))], want))


@pytest.mark.parametrize("steps", [0, 1, 7])
@pytest.mark.parametrize("tensors", [1, 3])
@pytest.mark.parametrize(
    ("op", "states", "attributes"),
    [
        ("Adagrad", 1, {"decay_factor": 0.25, "epsilon": 0.001, "norm_coefficient": 0.125}),
        (
            "Adam",
            2,
            {"alpha": 0.75, "beta": 0.875, "epsilon": 0.001, "norm_coefficient": 0.125, "norm_coefficient_post": 0.5},
        ),
        ("Momentum", 1, {"alpha": 0.75, "beta": 0.25, "mode": "standard", "norm_coefficient": 0.125}),
        ("Momentum", 1, {"alpha": 0.75, "beta": 0.25, "mode": "nesterov", "norm_coefficient": 0.125}),
    ],
)
def test_optimizers(op: str, states: int, attributes: dict[str, Any], tensors: int, steps: int) -> None:
    """Sums of a few products, whose terms do not cancel: all are positive. Each rounds to float32, the reference does in part."""
    shapes = [(2, 3), (4,), ()][:tensors]
    kinds = [[random.uniform(1, 2, shape).astype(np.float32) for shape in shapes] for _ in range(2 + states)]
    inputs = [np.array(0.125, np.float32), np.array(steps), *[x for kind in kinds for x in kind]]
    results = both(op, inputs, tensors * (1 + states), TRAINING, **attributes)
    for got, want in results:
        assert got.shape == want.shape and np.allclose(got, want, rtol=16 * 2.0**-23, atol=4 * 2.0**-23)


@pytest.mark.parametrize("momentum", [0.5, 0.875])
def test_batch_normalization_in_training(momentum: float) -> None:
    """Statistics of 120 elements."""
    x = random.standard_normal((4, 3, 5, 6)).astype(np.float32)
    parameters = [random.uniform(1, 2, 3).astype(np.float32) for _ in range(4)]
    for got, want in both("BatchNormalization", [x, *parameters], 3, training_mode=1, momentum=momentum):
        assert got.shape == want.shape and np.allclose(got, want, rtol=120 * 2.0**-24, atol=120 * 2.0**-24)


@pytest.mark.parametrize("length", [None, 1, 2, 5, 6, 7, 12])
@pytest.mark.parametrize("opset", [19, 20])
def test_real_signals_from_half_of_their_transform(length: int | None, opset: int) -> None:
    """Sums of up to 12 products of numbers up to 4 with roots, in float64. A length cuts the transform, or adds zeros."""
    x = random.uniform(-4, 4, (2, 5, 3, 2))
    inputs = [x] if length is None else [x, np.array(length)]
    attributes: dict[str, Any] = {"inverse": 1, "onesided": 1} | ({"axis": 1} if opset < 20 else {})
    if opset >= 20:
        inputs = [*inputs, *([np.array(8)] if length is None else []), np.array(1)]
    ((got, want),) = both("DFT", inputs, 1, opset=opset, **attributes)
    assert got.shape == want.shape and np.allclose(got, want, rtol=0, atol=12 * 4 * 2.0**-52)


def test_features_of_a_vector() -> None:
    """A matrix of one row."""
    graph = [np.array([1.0, 2, 3], np.float32), np.array([[2, 0]])]
    node = helper.make_node("ArrayFeatureExtractor", ["x", "i"], ["y"], domain="ai.onnx.ml")
    ports = [helper.make_tensor_value_info(n, t, None) for n, t in (("x", 1), ("i", 7), ("y", 1))]
    made = helper.make_model(
        helper.make_graph([node], "g", ports[:2], ports[2:]),
        opset_imports=[helper.make_opsetid("", 19), helper.make_opsetid("ai.onnx.ml", 1)],
        ir_version=9,
    )
    assert paddle_mps.onnx.load(made.SerializeToString(), paddle_mps.CPUPlace())(*graph).tolist() == [[3, 1]]
