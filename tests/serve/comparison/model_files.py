"""The models of the corpus."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import models
import numpy as np
from models import TensorProto, helper, port, unary, write

F32, I64, U64 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT64
LABELS = "zero\none\ntwo\nthree\n"
XY = 'input { name: "x" data_type: TYPE_FP32 dims: 4 } output { name: "y" data_type: TYPE_FP32 dims: 4 }'
BACKEND = 'backend: "metal_mps" '
# The inputs of a quotient of unsigned integers, whose bits as signed ones would give another result.
HALF = {"x": "", "by": "optional: true"}
OPEN_TEXT = "max_batch_size: 0 " + XY.replace("FP32", "STRING").replace("dims: 4", "dims: [-1, -1]")
# The real server leaves the kind to our backend, which prefers KIND_MODEL there: models of their own show it.
MPS = BACKEND + "instance_group { kind: KIND_CPU } "


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> Any:
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)


def constant(name: str, value: Any) -> Any:
    return importlib.import_module("onnx.numpy_helper").from_array(np.asarray(value), name)


def make(folder: Path) -> Path:
    """Writes all models, also those that must not load, which are loaded by name or not at all."""
    for name, elem in models.DATATYPES.items():
        unary(folder / f"type_{name.lower()}", "Identity", elem, config=BACKEND if name == "BOOL" else MPS)
    models.add_sub(folder / "addsub").parent.parent.joinpath("config.pbtxt").write_text(MPS)
    unary(folder / "fixed", "Neg", dims=(2, 3), config=MPS + "max_batch_size: 0")
    unary(
        folder / "open",
        "Neg",
        dims=("n", "m"),
        config=MPS + "max_batch_size: 0 " + XY.replace("dims: 4", "dims: [-1, -1]"),
    )
    unary(folder / "scalar", "Neg", dims=(), config=MPS)
    unary(
        folder / "wide",
        "Identity",
        dims=("n", "m"),
        config=MPS + "max_batch_size: 2 " + XY.replace("dims: 4", "dims: -1"),
    )
    shapes = MPS + "max_batch_size: 4 " + XY.replace("dims: 4", "dims: 4 reshape { shape: [2, 2] }")
    unary(folder / "reshaped", "Neg", dims=("n", 2, 2), config=shapes)
    unary(
        folder / "labels",
        "Identity",
        config=MPS + "max_batch_size: 4 " + XY.replace('name: "y"', 'name: "y" label_filename: "labels.txt"'),
    )
    (folder / "labels" / "labels.txt").write_text(LABELS)
    unary(
        folder / "few_labels",
        "Identity",
        config=MPS + "max_batch_size: 4 " + XY.replace('name: "y"', 'name: "y" label_filename: "labels.txt"'),
    )
    (folder / "few_labels" / "labels.txt").write_text("zero\n\ntwo")
    for version in (1, 2, 7):
        unary(
            folder / "versions",
            "Neg" if version == 2 else "Abs",
            version=version,
            config=MPS + "version_policy { specific { versions: [1, 2] } }",
        )
    write(
        folder / "optional",
        [node("Mul", "x scale", "y")],
        [port("x", F32, "n", 4), port("scale", F32, "n", 4)],
        [port("y", F32, "n", 4)],
        config=MPS + "max_batch_size: 4 " + XY + ' input { name: "scale" data_type: TYPE_FP32 dims: 4 optional: true }',
        constants=[constant("scale", np.array([[1, 10, 100, 1000]], np.float32))],
    )
    write(
        folder / "gather",
        [node("Gather", "table x", "y")],
        [port("x", I64, "n", 2)],
        [port("y", F32, "n", 2)],
        config=MPS
        + 'max_batch_size: 8 input { name: "x" data_type: TYPE_INT64 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }',
        constants=[constant("table", np.arange(5, dtype=np.float32))],
    )
    write(
        folder / "counted",
        [node("Gather", "table x", "y")],
        [port("x", I64, "n", 2)],
        [port("y", F32, "n", 2)],
        config=MPS
        + 'max_batch_size: 8 input { name: "x" data_type: TYPE_INT64 dims: 2 } output { name: "y" data_type: TYPE_FP32 dims: 2 }',
        constants=[constant("table", np.arange(5, dtype=np.float32))],
    )
    unsigned = " ".join(
        f'input {{ name: "{name}" data_type: TYPE_UINT64 dims: 4 {more} }}' for name, more in HALF.items()
    )
    write(
        folder / "half",
        [node("Div", "x by", "y")],
        [port("x", U64, "n", 4), port("by", U64, "n", 4)],
        [port("y", U64, "n", 4)],
        config=MPS + f'max_batch_size: 4 {unsigned} output {{ name: "y" data_type: TYPE_UINT64 dims: 4 }}',
        constants=[constant("by", np.array([[2, 2, 2, 2]], np.uint64))],
    )
    queue = "dynamic_batching { preferred_batch_size: 8 max_queue_delay_microseconds: 200000 default_queue_policy { timeout_action: REJECT default_timeout_microseconds: 0 allow_timeout_override: true max_queue_size: 8 } }"
    unary(folder / "queued", "Neg", config=MPS + "max_batch_size: 8 " + queue + XY)
    priorities = "dynamic_batching { priority_levels: 3 default_priority_level: 2 priority_queue_policy { key: 1 value { max_queue_size: 5 } } }"
    unary(folder / "priorities", "Neg", config=MPS + "max_batch_size: 8 " + priorities + XY)
    warm = "model_warmup { name: 'zeros' batch_size: 2 inputs { key: 'x' value { data_type: TYPE_FP32 dims: 4 zero_data: true } } }"
    unary(
        folder / "warm",
        "Neg",
        config=BACKEND
        + "max_batch_size: 2 instance_group { count: 2 kind: KIND_CPU } parameters { key: 'a' value { string_value: 'b' } } "
        + warm
        + XY,
    )
    unary(folder / "größe", "Neg", config=MPS)
    text = TensorProto.STRING
    unary(folder / "one_text", "Identity", text, dims=(1,), config=MPS)
    unary(folder / "open_text", "Identity", text, dims=("n", "m"), config=MPS + OPEN_TEXT)
    for path in models.strings(folder).values():
        config = path.parents[1] / "config.pbtxt"
        config.write_text(MPS + (config.read_text() if config.exists() else ""))
    ensemble(folder)
    bad(folder)
    return folder


LOADED = [f"type_{name.lower()}" for name in models.DATATYPES] + (
    "addsub fixed open wide reshaped labels few_labels versions optional gather counted half queued priorities warm größe both one_text open_text join number name texts".split()
)


def ensemble(folder: Path) -> None:
    """Two steps in a row, by models of the repository."""
    steps = "".join(
        f'step {{ model_name: "{name}" model_version: -1 input_map {{ key: "x" value: "{x}" }} output_map {{ key: "y" value: "{y}" }} }}'
        for name, x, y in (("labels", "x", "middle"), ("queued", "middle", "y"))
    )
    twice = "".join(
        f'step {{ model_name: "join" model_version: -1 input_map {{ key: "x" value: "{x}" }} output_map {{ key: "y" value: "{y}" }} }}'
        for x, y in (("x", "middle"), ("middle", "y"))
    )
    ports = XY.replace("FP32", "STRING").replace("dims: 4", "dims: 2")
    (folder / "texts" / "1").mkdir(parents=True)
    (folder / "texts" / "config.pbtxt").write_text(
        f'platform: "ensemble" max_batch_size: 4 {ports} ensemble_scheduling {{ {twice} }}'
    )
    (folder / "both" / "1").mkdir(parents=True)
    (folder / "both" / "config.pbtxt").write_text(
        f'platform: "ensemble" max_batch_size: 4 {XY} ensemble_scheduling {{ {steps} }}'
    )


def bad(folder: Path) -> None:
    """Models that do not load."""
    configs = {
        "no_text": "this is no configuration {",
        "unknown_field": MPS + "frobnicate: 1",
        "wrong_directory_name": MPS + 'name: "another"',
        "negative_batch": MPS + "max_batch_size: -1 " + XY,
        "zero_dims": MPS + "max_batch_size: 4 " + XY.replace("dims: 4", "dims: 0"),
        "no_dims": MPS + "max_batch_size: 4 " + XY.replace(" dims: 4", ""),
        "two_inputs": MPS + "max_batch_size: 4 " + XY + ' input { name: "x" data_type: TYPE_FP32 dims: 4 }',
        "no_datatype": MPS + "max_batch_size: 4 " + XY.replace("data_type: TYPE_FP32 ", ""),
        "no_name": MPS + "max_batch_size: 4 " + XY.replace('name: "x" ', ""),
        "wrong_reshape": MPS + "max_batch_size: 4 " + XY.replace("dims: 4", "dims: 4 reshape { shape: [3] }"),
        "preferred_too_large": MPS + "max_batch_size: 4 dynamic_batching { preferred_batch_size: 8 } " + XY,
        "priority_too_large": MPS
        + "max_batch_size: 4 dynamic_batching { priority_levels: 2 default_priority_level: 3 } "
        + XY,
        "priority_of_queue": MPS
        + "max_batch_size: 4 dynamic_batching { priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 3 value { } } } "
        + XY,
        "default_priority_missing": MPS + "max_batch_size: 4 dynamic_batching { priority_levels: 2 } " + XY,
        "no_group_count": BACKEND + "max_batch_size: 4 instance_group { count: -1 kind: KIND_CPU } " + XY,
        "group_with_gpus": BACKEND + "max_batch_size: 4 instance_group { kind: KIND_CPU gpus: [0] } " + XY,
        "warmup_without_dims": MPS
        + "max_batch_size: 4 model_warmup { name: 'a' batch_size: 1 inputs { key: 'x' value { data_type: TYPE_FP32 zero_data: true } } } "
        + XY,
        "warmup_of_wrong_input": MPS
        + "max_batch_size: 4 model_warmup { name: 'a' batch_size: 1 inputs { key: 'z' value { data_type: TYPE_FP32 dims: 4 zero_data: true } } } "
        + XY,
        "batch_too_large_for_warmup": MPS
        + "max_batch_size: 4 model_warmup { name: 'a' batch_size: 9 inputs { key: 'x' value { data_type: TYPE_FP32 dims: 4 zero_data: true } } } "
        + XY,
        "no_labels": MPS + "max_batch_size: 4 " + XY.replace('name: "y"', 'name: "y" label_filename: "none.txt"'),
        "wrong_file_name": MPS + 'default_model_filename: "other.onnx"',
        "wrong_backend": 'backend: "none"',
        "wrong_type": MPS + "max_batch_size: 4 " + XY.replace("FP32", "INT32"),
        "wrong_dims": MPS + "max_batch_size: 4 " + XY.replace("dims: 4", "dims: 3"),
        "wrong_input_name": MPS + "max_batch_size: 4 " + XY.replace('"x"', '"z"'),
        "format_without_dims": MPS + "max_batch_size: 4 " + XY.replace("dims: 4", "dims: 4 format: FORMAT_NCHW"),
        "ragged": MPS + "max_batch_size: 4 " + XY.replace("dims: 4 } out", "dims: 4 allow_ragged_batch: true } out"),
        "decoupled": MPS + "max_batch_size: 4 model_transaction_policy { decoupled: true } " + XY,
        "no_version": MPS + "version_policy { specific { versions: [4] } }",
    }
    for name, config in configs.items():
        unary(folder / name, "Neg", config=config)
    # Tensors of signed integers have the bits of unsigned ones; for a configuration they are other types.
    signed = MPS + "max_batch_size: 4 " + XY.replace("FP32", "INT16")
    unary(folder / "signed", "Identity", TensorProto.UINT16, config=signed)
    for name in ("no_versions", "no_file", "damaged", "wrong_version"):
        (folder / name).mkdir()
        (folder / name / "config.pbtxt").write_text(MPS)
    (folder / "no_file" / "1").mkdir()
    (folder / "damaged" / "1").mkdir()
    (folder / "damaged" / "1" / "model.onnx").write_bytes(b"\x08\x08\x3a\xff not a model")
    (folder / "wrong_version" / "01").mkdir()
    write(
        folder / "operator",
        [helper.make_node("Frobnicate", ["x"], ["y"], domain="com.example")],
        [port("x", F32, 4)],
        [port("y", F32, 4)],
        config=MPS,
    )
    for name, steps in {
        "ensemble_circle": (("ensemble_circle", "x", "y"),),
        "ensemble_unknown": (("none", "x", "y"),),
        "ensemble_unused": (("labels", "x", "middle"),),
        "ensemble_unwritten": (("labels", "nobody", "y"),),
        "ensemble_wrong_type": (("type_int32", "x", "y"),),
        "ensemble_no_steps": (),
    }.items():
        text = "".join(
            f'step {{ model_name: "{m}" model_version: -1 input_map {{ key: "x" value: "{x}" }} output_map {{ key: "y" value: "{y}" }} }}'
            for m, x, y in steps
        )
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "config.pbtxt").write_text(
            f'platform: "ensemble" max_batch_size: 4 {XY} ensemble_scheduling {{ {text} }}'
        )
