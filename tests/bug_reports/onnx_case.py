"""What the programs about ONNX models have in common, beside case.py. They need the package onnx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from case import bad, check, finish, same, without

import paddle_mps.onnxruntime as ort

try:
    from onnx.reference import ReferenceEvaluator

    from onnx import TensorProto as P
    from onnx import helper as h
    from onnx import numpy_helper as nh
except ImportError:
    without("onnx")


def model(
    nodes: Any, inputs: Any, outputs: Any, opset: int = 21, init: Any = (), extra: Sequence[Any] = (), **options: Any
) -> bytes:
    """A model of nodes; inputs and outputs are (name, type, shape), constants (name, value)."""
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info(n, t, s) for n, t, s in inputs],
        [h.make_tensor_value_info(n, t, s) for n, t, s in outputs],
        [nh.from_array(np.asarray(v), n) for n, v in init],
    )
    opsets = [h.make_opsetid("", opset), *extra]
    made: bytes = h.make_model(graph, opset_imports=opsets, ir_version=10, **options).SerializeToString()
    return made


def run(m: bytes, feed: dict[str, Any], providers: Any = None) -> Any:
    """The outputs of a model."""
    return ort.InferenceSession(m, providers=providers or ort.get_available_providers()).run(None, feed)


__all__ = ["P", "ReferenceEvaluator", "bad", "check", "finish", "h", "model", "nh", "run", "same"]
