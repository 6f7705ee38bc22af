"""ONNX models that the tests of the server ask, written with the onnx package."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

# tests/onnx is called onnx for mypy too, hence no import statement.
onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
TensorProto: Any = onnx.TensorProto

ROOT = Path(__file__).parents[2]

# The datatypes that ONNX models and this server have in common: names of the protocol and of ONNX.
DATATYPES = {
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
    "BYTES": TensorProto.STRING,
}

# Those whose tensors have the bits of signed integers.
UNSIGNED = ("UINT16", "UINT32", "UINT64")


def port(name: str, elem: int, *dims: int | str) -> Any:
    """An input or output; a dimension that is a text may have any size."""
    return helper.make_tensor_value_info(name, elem, list(dims))


def write(
    folder: Path, nodes: list[Any], inputs, outputs, version: int = 1, config: str = "", constants=(), opset: int = 17
) -> Path:
    """Writes a model as a version of the model in a folder, and its configuration."""
    graph = helper.make_graph(nodes, "test", inputs, outputs, list(constants))
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 4)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    path = folder / str(version) / "model.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
    if config:
        (folder / "config.pbtxt").write_text(config)
    return path


def unary(folder: Path, operator: str, elem: int = TensorProto.FLOAT, dims=("n", 4), **more) -> Path:
    """Writes a model of one operator from x to y."""
    node = helper.make_node(operator, ["x"], ["y"])
    return write(folder, [node], [port("x", elem, *dims)], [port("y", elem, *dims)], **more)


def add_sub(folder: Path) -> Path:
    """Writes the model of Triton's examples: the sum and the difference of two vectors of 16 numbers."""
    inputs = [port(name, TensorProto.INT32, "n", 16) for name in ("INPUT0", "INPUT1")]
    outputs = [port(name, TensorProto.INT32, "n", 16) for name in ("OUTPUT0", "OUTPUT1")]
    nodes = [
        helper.make_node(operator, ["INPUT0", "INPUT1"], [f"OUTPUT{i}"]) for i, operator in enumerate(("Add", "Sub"))
    ]
    return write(folder, nodes, inputs, outputs)


def strings(folder: Path) -> dict[str, Path]:
    """Writes models of strings: one that joins its inputs, two dictionaries, and one that returns what it gets."""
    text, number = TensorProto.STRING, TensorProto.INT64
    ending = helper.make_tensor("ending", text, [1, 1], [b"!"])
    join = [helper.make_node("StringConcat", ["x", "ending"], ["y"])]
    words, numbers = ["cat", "dog", "日本"], [7, 8, 9]
    keys = {"keys_strings": words, "values_int64s": numbers, "default_int64": -1}
    names = {"keys_int64s": numbers, "values_strings": words, "default_string": "?"}
    return {
        "join": write(
            folder / "join",
            join,
            [port("x", text, "n", 2), port("ending", text, "n", 1)],
            [port("y", text, "n", 2)],
            config='max_batch_size: 4 input { name: "x" data_type: TYPE_STRING dims: 2 }'
            ' input { name: "ending" data_type: TYPE_STRING dims: 1 optional: true }'
            ' output { name: "y" data_type: TYPE_STRING dims: 2 }',
            constants=[ending],
            opset=20,
        ),
        "number": write(
            folder / "number",
            [helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **keys)],
            [port("x", text, "n", 2)],
            [port("y", number, "n", 2)],
        ),
        "name": write(
            folder / "name",
            [helper.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", **names)],
            [port("x", number, "n", 2)],
            [port("y", text, "n", 2)],
        ),
        "any_text": unary(folder / "any_text", "Identity", text, dims=("n", "m")),
    }


LABELS = "zero\none\ntwo\nthree\n"


def repository(folder: Path) -> Path:
    """Writes all models of the tests."""
    add_sub(folder / "addsub")
    strings(folder)
    for name, elem in DATATYPES.items():
        unary(folder / f"identity_{name.lower()}", "Identity", elem)
        if name in UNSIGNED:
            inputs = [port(one, elem, "n", 4) for one in ("x", "by")]
            divide = helper.make_node("Div", ["x", "by"], ["y"])
            write(folder / f"divide_{name.lower()}", [divide], inputs, [port("y", elem, "n", 4)])
    unary(
        folder / "labels",
        "Identity",
        config='max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 4 }'
        ' output { name: "y" data_type: TYPE_FP32 dims: 4 label_filename: "labels.txt" }',
    )
    (folder / "labels" / "labels.txt").write_text(LABELS)
    unary(
        folder / "reshaped",
        "Neg",
        dims=("n", 2, 2),
        config='max_batch_size: 4 input { name: "x" data_type: TYPE_FP32 dims: 4 reshape { shape: [2, 2] } }'
        ' output { name: "y" data_type: TYPE_FP32 dims: 4 reshape { shape: [2, 2] } }',
    )
    unary(folder / "fixed", "Neg", dims=(2, 3))
    unary(folder / "any", "Neg", dims=("n", "m"))
    for version in (1, 3):
        unary(
            folder / "versions", "Neg" if version == 1 else "Abs", version=version, config="version_policy { all {} }"
        )
    unary(
        folder / "batched",
        "Neg",
        config='backend: "metal_mps" max_batch_size: 8 dynamic_batching { max_queue_delay_microseconds: 3000 }'
        " model_warmup { name: 'zeros' batch_size: 8 inputs { key: 'x' value"
        " { data_type: TYPE_FP32 dims: 4 zero_data: true } } }",
    )
    return folder
