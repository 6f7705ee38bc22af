"""The repository of small ONNX models that the server is given."""

from __future__ import annotations

import importlib
import pathlib
from collections.abc import Sequence
from typing import Any

import numpy as np

# To mypy the name is a folder of this repository.
onnx: Any = importlib.import_module("onnx")
TensorProto, helper = onnx.TensorProto, onnx.helper
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

Port = tuple[str, int, list[object]]

WEIGHTS = np.random.default_rng(1).standard_normal((4, 8)).astype(np.float32)
BIAS = np.random.default_rng(2).standard_normal(8).astype(np.float32)

# The weights of a model, 128 MiB: large beside everything else that an instance has, and beside the few megabytes
# by which the heap of a process differs from run to run.
HEAVY = np.random.default_rng(3).standard_normal((2048, 16384), dtype=np.float32)

# How many products a model makes that runs for seconds where its input is large.
POWERS = 24

ELEMS = {
    "BOOL": TensorProto.BOOL,
    "UINT8": TensorProto.UINT8,
    "UINT16": TensorProto.UINT16,
    "UINT32": TensorProto.UINT32,
    "UINT64": TensorProto.UINT64,
    "INT8": TensorProto.INT8,
    "INT16": TensorProto.INT16,
    "INT32": TensorProto.INT32,
    "INT64": TensorProto.INT64,
    "FP16": TensorProto.FLOAT16,
    "FP32": TensorProto.FLOAT,
    "FP64": TensorProto.DOUBLE,
    "BF16": TensorProto.BFLOAT16,
}
REFUSED = {
    "FP8": (TensorProto.FLOAT8E4M3FN, "float8e4m3fn"),
    "COMPLEX": (TensorProto.COMPLEX64, "complex64"),
}


class Repository:
    """A folder with a model in each folder."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder

    def add(self, name: str, config: str, data: bytes, version: int = 1) -> None:
        (self.folder / name / str(version)).mkdir(parents=True)
        (self.folder / name / str(version) / "model.onnx").write_bytes(data)
        (self.folder / name / "config.pbtxt").write_text(f'name: "{name}"\nbackend: "metal_mps"\n{config}\n')

    def model(
        self,
        name: str,
        nodes: Sequence[Any],
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        config: str = "",
        constants: Sequence[Any] = (),
    ) -> None:
        graph = helper.make_graph(
            nodes,
            name,
            [helper.make_tensor_value_info(*p) for p in inputs],
            [helper.make_tensor_value_info(*p) for p in outputs],
            list(constants),
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        self.add(name, config, made.SerializeToString())


def node(op: str, inputs: str, outputs: str, **attributes: object) -> Any:
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def ports(kind: str, of: Sequence[tuple[str, str, str]]) -> str:
    """Inputs or outputs of a configuration: name, type, and the rest of the fields."""
    return f"{kind} [" + ", ".join(f'{{ name: "{n}" data_type: {t} {rest} }}' for n, t, rest in of) + "]"


def make(folder: pathlib.Path) -> None:
    """Every model of the tests."""
    r, f32 = Repository(folder), TensorProto.FLOAT
    r.model("identity", [node("Identity", "x", "y")], [("x", f32, ["n", 16])], [("y", f32, ["n", 16])])
    r.model("add", [node("Add", "a b", "c")], [("a", f32, [2, 3]), ("b", f32, [2, 3])], [("c", f32, [2, 3])])
    mlp = [node("Gemm", "x w b", "h"), node("Relu", "h", "y"), node("ReduceSum", "h axes", "s", keepdims=0)]
    # A batch of the second one waits for more requests for as long as a busy machine needs.
    for name, delay in (("mlp", 20_000), ("mlp_patient", 3_000_000)):
        r.model(
            name,
            mlp,
            [("x", f32, ["n", 4])],
            [("y", f32, ["n", 8]), ("s", f32, ["n"])],
            f"max_batch_size: 8\ndynamic_batching {{ max_queue_delay_microseconds: {delay} }}\n"
            + ports("input", [("x", "TYPE_FP32", "dims: [4]")])
            + ports("output", [("y", "TYPE_FP32", "dims: [8]"), ("s", "TYPE_FP32", "dims: [1] reshape { shape: [] }")])
            + "\nmodel_warmup [{ name: 'warm' batch_size: 2 inputs { key: 'x' value { data_type: TYPE_FP32 dims: [4] random_data: true } } }]"
            + "\ninstance_group [{ kind: KIND_CPU count: 2 }]",
            [
                numpy_helper.from_array(WEIGHTS, "w"),
                numpy_helper.from_array(BIAS, "b"),
                numpy_helper.from_array(np.array([1], np.int64), "axes"),
            ],
        )
    r.model(
        "open",
        [node("Transpose", "x", "t", perm=[0, 2, 1]), node("Add", "t one", "y")],
        [("x", f32, ["n", "h", "w"])],
        [("y", f32, ["n", "w", "h"])],
        "max_batch_size: 4\ndynamic_batching { }\n"
        + ports("input", [("x", "TYPE_FP32", "dims: [-1, -1]")])
        + ports("output", [("y", "TYPE_FP32", "dims: [-1, -1]")]),
        [numpy_helper.from_array(np.float32(1), "one")],
    )
    reshaped = [("x", "TYPE_FP32", "dims: [6] reshape { shape: [2, 3] }")]
    r.model(
        "reshape",
        [node("Transpose", "x", "y", perm=[0, 2, 1])],
        [("x", f32, ["n", 2, 3])],
        [("y", f32, ["n", 3, 2])],
        "max_batch_size: 4\n"
        + ports("input", reshaped)
        + ports("output", [("y", "TYPE_FP32", "dims: [6] reshape { shape: [3, 2] }")]),
    )
    r.model("scalar", [node("Neg", "x", "y")], [("x", f32, [])], [("y", f32, [])])
    optional = ports(
        "input", [("x", "TYPE_FP32", "dims: [2]"), ("scale", "TYPE_FP32", "dims: [2] optional: true")]
    ) + ports("output", [("y", "TYPE_FP32", "dims: [2]")])
    r.model(
        "optional",
        [node("Mul", "x scale", "y")],
        [("x", f32, ["n", 2]), ("scale", f32, ["n", 2])],
        [("y", f32, ["n", 2])],
        "max_batch_size: 4\ndynamic_batching { max_queue_delay_microseconds: 20000 }\n" + optional,
        [numpy_helper.from_array(np.array([[10, 100]], np.float32), "scale")],
    )
    r.model(
        "gather",
        [node("Gather", "table x", "y")],
        [("x", TensorProto.INT64, ["n", 2])],
        [("y", f32, ["n", 2])],
        "max_batch_size: 8\ndynamic_batching { max_queue_delay_microseconds: 50000 }\n"
        + ports("input", [("x", "TYPE_INT64", "dims: [2]")])
        + ports("output", [("y", "TYPE_FP32", "dims: [2]")]),
        [numpy_helper.from_array(np.arange(5, dtype=np.float32), "table")],
    )
    for name, elem in ELEMS.items():
        r.model(
            f"type_{name.lower()}",
            [node("Concat", "x x", "y", axis=1)],
            [("x", elem, ["n", "k"])],
            [("y", elem, ["n", "k2"])],
        )
    r.model(
        "on_mps",
        [node("Exp", "x", "y")],
        [("x", f32, [3])],
        [("y", f32, [3])],
        "instance_group [{ kind: KIND_MODEL }]",
    )
    instances(r)
    bad(r)


def instances(r: Repository) -> None:
    """Models with several instances."""
    f32, u64 = TensorProto.FLOAT, TensorProto.UINT64
    powers = ["x", *(f"x{i}" for i in range(POWERS - 1)), "y"]
    r.model(
        "powers",
        [node("MatMul", f"{a} x", b) for a, b in zip(powers, powers[1:])],
        [("x", f32, ["n", "n"])],
        [("y", f32, ["n", "n"])],
        "max_batch_size: 0\n"
        + ports("input", [("x", "TYPE_FP32", "dims: [-1, -1]")])
        + ports("output", [("y", "TYPE_FP32", "dims: [-1, -1]")])
        + "\ninstance_group [{ kind: KIND_CPU count: 2 }]",
    )
    text = TensorProto.STRING
    r.model(
        "texts",
        [node("Concat", "x x", "y", axis=1)],
        [("x", text, ["n", 2])],
        [("y", text, ["n", 4])],
        "dynamic_batching { max_queue_delay_microseconds: 2000 }\ninstance_group [{ kind: KIND_MODEL count: 3 }]"
        + "\nmodel_warmup [{ name: 'w' batch_size: 2 inputs { key: 'x' value { data_type: TYPE_STRING dims: [2] zero_data: true } } }]",
    )
    r.model(
        "divide",
        [node("Div", "x by", "y"), node("Mod", "x by", "z")],
        [("x", u64, ["n", 3]), ("by", u64, ["n", 3])],
        [("y", u64, ["n", 3]), ("z", u64, ["n", 3])],
        "dynamic_batching { max_queue_delay_microseconds: 2000 }\ninstance_group [{ kind: KIND_MODEL count: 3 }]",
    )


def heavy(folder: pathlib.Path) -> None:
    """Adds the models with the weights HEAVY, of one and of four instances. One test wants files of this size."""
    r, f32 = Repository(folder), TensorProto.FLOAT
    for name, count in {"heavy_one": 1, "heavy_four": 4}.items():
        r.model(
            name,
            [node("MatMul", "x w", "y")],
            [("x", f32, [1, HEAVY.shape[0]])],
            [("y", f32, [1, HEAVY.shape[1]])],
            f"instance_group [{{ kind: KIND_CPU count: {count} }}]",
            [numpy_helper.from_array(HEAVY, "w")],
        )


def bad(r: Repository) -> None:
    """Models that must not load."""
    f32 = TensorProto.FLOAT
    x, y = [("x", f32, ["n", 2])], [("y", f32, ["n", 2])]
    identity = [node("Identity", "x", "y")]
    both = ports("output", [("y", "TYPE_FP32", "dims: [2]")])
    r.add("broken", "", b"\x08\x08\x3a\xff not a model")
    (r.folder / "empty" / "1").mkdir(parents=True)
    (r.folder / "empty" / "config.pbtxt").write_text('backend: "metal_mps"')
    r.model("unknown_operator", [helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")], x, y)
    r.model(
        "wrong_type", identity, x, y, "max_batch_size: 4\n" + ports("input", [("x", "TYPE_INT32", "dims: [2]")]) + both
    )
    r.model(
        "wrong_dims", identity, x, y, "max_batch_size: 4\n" + ports("input", [("x", "TYPE_FP32", "dims: [3]")]) + both
    )
    r.model(
        "wrong_name", identity, x, y, "max_batch_size: 4\n" + ports("input", [("z", "TYPE_FP32", "dims: [2]")]) + both
    )
    r.model("not_batched", identity, [("x", f32, [2])], [("y", f32, [2])], "max_batch_size: 4")
    ragged = ports("input", [("x", "TYPE_FP32", "dims: [2] allow_ragged_batch: true")])
    r.model("ragged", identity, x, y, "max_batch_size: 4\n" + ragged + both)
    r.model("decoupled", identity, x, y, "model_transaction_policy { decoupled: true }")
    r.model("on_gpu", identity, x, y, "instance_group [{ kind: KIND_GPU }]")
    for name, (elem, _) in REFUSED.items():
        r.model(f"type_{name.lower()}", identity, [("x", elem, ["n", 2])], [("y", elem, ["n", 2])])
