"""Attention beside onnxruntime and ONNX's reference, with random operands.

python -m pytest tests/onnx/attention.py
"""

from __future__ import annotations

import importlib
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python"))
import onnx_attention
from onnx_attention import Case

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
reference: Any = importlib.import_module("onnx.reference.ops.op_attention")
onnxruntime = pytest.importorskip("onnxruntime")

NAMES = ["q", "k", "v", "mask", "past_key", "past_value", "lengths"]
SEEDS = range(5000, 5300)


def model(case: Case) -> tuple[bytes, dict[str, Any]]:
    """A file with the node, and its inputs. Results: Y, and the keys and values where the cache is inside of the operator."""
    given = {name: x for name, x in zip(NAMES, case.operands) if x is not None}
    results = ["y", "keys", "values"] if "past_key" in given else ["y"]
    node = helper.make_node("Attention", [name if name in given else "" for name in NAMES], results, **case.attributes)
    inputs = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in given.items()
    ]
    outputs = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, None) for n in results]
    opsets = [helper.make_opsetid("", 24)]
    file = helper.make_model(helper.make_graph([node], "g", inputs, outputs), opset_imports=opsets, ir_version=10)
    return bytes(file.SerializeToString()), given


def ours(case: Case) -> list[Any]:
    data, given = model(case)
    made = paddle_mps.onnx.load(data, "cpu")(*given.values())
    return [x.numpy() for x in (made if isinstance(made, tuple) else (made,))]


def case_of(seed: int) -> Case:
    """A random case whose mask has all axes: onnxruntime and the reference do not broadcast all that the standard allows."""
    case = onnx_attention.case(seed, windows=False)
    q, k = (
        onnx_attention.split(x, case.attributes.get(n)) for x, n in zip(case.operands, ("q_num_heads", "kv_num_heads"))
    )
    past = 0 if case.operands[4] is None else case.operands[4].shape[2]
    shape = (*q.shape[:3], past + k.shape[2])
    mask = case.operands[3]
    if mask is None and case.operands[6] is not None:
        mask = np.zeros(shape, "float32")
    if mask is not None:
        short = [(0, 0)] * (mask.ndim - 1) + [(0, shape[3] - mask.shape[-1])]
        mask = np.pad(mask, short, constant_values=False if mask.dtype == bool else -np.inf)
        case.operands[3] = np.broadcast_to(mask, shape).copy()
    return case


@pytest.mark.parametrize("seed", SEEDS)
def test_onnxruntime(seed: int) -> None:
    case = case_of(seed)
    queries = onnx_attention.split(case.operands[0], case.attributes.get("q_num_heads")).shape[2]
    if queries == 1 and case.operands[4] is not None:
        case.attributes["is_causal"] = 0  # onnxruntime lets one query of a group of heads see keys behind its position
    data, given = model(case)
    want = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, given)
    got = ours(case)
    bound = onnx_attention.attention(case)[4]
    assert (np.abs(want[0] - got[0]) <= 2 * bound).all(), case  # each is as far from the exact numbers as bound says
    for a, b in zip(want[1:], got[1:]):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("seed", SEEDS)
def test_reference(seed: int) -> None:
    """The reference of ONNX 1.22 counts the positions of an external cache from 0, and gives NaN for queries without keys: errors, as
    the text of 1.23 says."""
    case = case_of(seed)
    mask, causal = case.operands[3], case.attributes["is_causal"]
    if causal and (case.operands[6] is not None or (mask is not None and mask.dtype == bool)):
        case.attributes["is_causal"] = 0  # it also multiplies infinity by masks of bools
    with np.errstate(invalid="ignore"):
        want = reference._compute_attention(
            *[None if x is None else x.copy() for x in case.operands], **case.attributes
        )[0]
    bound = onnx_attention.attention(case)[4]
    got, empty = ours(case)[0], np.isnan(want)
    assert (got[empty] == 0).all(), case
    assert (np.abs(want - got)[~empty] <= 2 * bound[~empty]).all(), case
