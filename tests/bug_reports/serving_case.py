"""What the programs about the model server have in common, beside case.py. They need the packages onnx and tritonclient."""

from __future__ import annotations

import pathlib
import tempfile
from typing import Any

import numpy as np
from case import bad, check, finish, without

try:
    import tritonclient.grpc as grpc
    import tritonclient.http as http

    from onnx import TensorProto as P
    from onnx import helper as h
    from onnx import numpy_helper as nh
except ImportError:
    without("tritonclient")


def new_repo() -> pathlib.Path:
    """An empty model repository."""
    return pathlib.Path(tempfile.mkdtemp(prefix="repo"))


def add(repo: pathlib.Path, name: str, model: bytes | None, config: str) -> None:
    """Adds version 1 of a model to a repository."""
    (repo / name / "1").mkdir(parents=True)
    (repo / name / "config.pbtxt").write_text(config)
    if model is not None:
        (repo / name / "1" / "model.onnx").write_bytes(model)


def onnx_model(nodes: Any, ins: Any, outs: Any, init: Any = ()) -> bytes:
    """A model of float32; ins and outs are (name, shape), with -1 for an open size."""

    def described(pairs: Any) -> list[Any]:
        return [h.make_tensor_value_info(n, P.FLOAT, [None if d == -1 else d for d in s]) for n, s in pairs]

    constants = [nh.from_array(np.asarray(v), n) for n, v in init]
    graph = h.make_graph(nodes, "g", described(ins), described(outs), constants)
    made: bytes = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9).SerializeToString()
    return made


def relu(shape: Any) -> bytes:
    """A model of one node."""
    return onnx_model([h.make_node("Relu", ["x"], ["y"])], [("x", shape)], [("y", shape)])


def ask(client: Any, name: str, feed: dict[str, Any], lib: Any = http) -> Any:
    """The output y of a model."""
    inputs = []
    for key, value in feed.items():
        given = lib.InferInput(key, list(value.shape), "FP32")
        given.set_data_from_numpy(value)
        inputs.append(given)
    return client.infer(name, inputs).as_numpy("y")


__all__ = ["P", "add", "ask", "bad", "check", "finish", "grpc", "h", "http", "new_repo", "nh", "onnx_model", "relu"]
