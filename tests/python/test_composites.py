"""Composites, the operators that are formulas of others: what the conformance suite and the recorded answers do not see.

An eager call takes one of two ways, step by step or as one program of the device, and a traced one a third. All have the same
bits. That is why each test makes its call more than twice: the second call of one kind makes the program.
"""

from __future__ import annotations

import ast
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _operators as ops

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPOSITES = re.findall(r"formula: *`(\w+)\(", (ROOT / "core/op/formula/composites_activation.go").read_text())
ONE = [name for name in COMPOSITES if name not in ("prelu", "glu", "swiglu")]

rng = np.random.default_rng(11)
NUMBERS = np.concatenate([rng.standard_normal(4093).astype(np.float32) * 4, np.array([0.0, -0.0, np.nan], np.float32)])


def operands(name, dtype, place, elements=NUMBERS):
    x = paddle.to_tensor(elements, place=place).astype(dtype).reshape([-1, 16])
    return [x, x * 0.5] if name in ("prelu", "swiglu") else [x]


def bits(t):
    return t.astype("float64" if t.place.is_cpu_place() else "float32").numpy()


PLACES = ["cpu", "mps:0"]


@pytest.fixture(params=PLACES)
def place(request):
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return request.param


def test_there_are_composites():
    assert len(COMPOSITES) >= 17
    table = {row["name"] for row in json.loads((ROOT / "python/paddle_mps/selftest/table.json").read_text())}
    assert set(COMPOSITES) <= table


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", COMPOSITES)
def test_ways_agree(name, dtype, place):
    call, x = getattr(ops, name), operands(name, dtype, place)
    more = [None] if name == "swiglu" and len(x) == 1 else []
    steps = bits(call(*x, *more))  # the first call of its kind
    for _ in range(3):
        np.testing.assert_array_equal(bits(call(*x, *more)), steps)
    # Of a view that is not contiguous there are steps alone.
    strided = [t.T.contiguous().T for t in x]
    for _ in range(3):
        np.testing.assert_array_equal(bits(call(*strided, *more)), steps)
    # A tensor that begins between two places where plans may begin.
    if name not in ("glu",):
        odd = [paddle.concat([t.flatten()[:1], t.flatten()])[1:] for t in x]
        for _ in range(3):
            np.testing.assert_array_equal(bits(call(*odd, *more)) if name != "swiglu" else steps.ravel(), steps.ravel())
    traced = paddle.jit.to_static(lambda *t: call(*t, *more))
    np.testing.assert_array_equal(bits(traced(*x)), steps)


@pytest.mark.parametrize("name", COMPOSITES)
def test_gradients_of_eager_and_traced_calls_agree(name, place):
    def slopes(*t):
        return paddle.grad(getattr(ops, name)(*t).sum(), list(t))

    numbers = NUMBERS[: 16 * 64]
    x = operands(name, "float32", place, numbers)
    for t in x:
        t.stop_gradient = False
    wanted = [bits(t) for t in slopes(*x)]
    for _ in range(3):
        for got, want in zip(slopes(*x), wanted):
            np.testing.assert_array_equal(bits(got), want)
    for got, want in zip(paddle.jit.to_static(slopes)(*x), wanted):
        np.testing.assert_array_equal(bits(got), want)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", COMPOSITES)
def test_halves_are_computed_in_float32_and_rounded_once(name, dtype, place):
    call, x = getattr(ops, name), operands(name, dtype, place)
    wide = call(*[t.astype("float32") for t in x]).astype(dtype)
    assert call(*x).dtype == getattr(paddle, dtype)
    np.testing.assert_array_equal(bits(call(*x)), bits(wide))


@pytest.mark.parametrize("name", COMPOSITES)
def test_no_elements(name, place):
    x = [t[:0] for t in operands(name, "float32", place)]
    for _ in range(3):
        assert getattr(ops, name)(*x).shape[0] == 0


@pytest.mark.parametrize("name", ONE)
def test_other_dtypes_are_refused(name, place):
    for dtype in ("int32", "int64", "bool"):
        with pytest.raises(paddle.UnsupportedError, match=name):
            getattr(ops, name)(paddle.to_tensor([1, 0], dtype=dtype, place=place))


def test_values_that_no_other_suite_compares(place):
    x = np.array([[-2.0, -0.5, 0.25, 1.0], [3.0, 0.125, -1.0, 0.0]], np.float32)
    t = paddle.to_tensor(x, place=place)
    wide: Any = x.astype(np.float64)
    sigmoid = 1 / (1 + np.exp(-wide))
    near: Any = {"rtol": 3e-6, "atol": 1e-7}
    np.testing.assert_allclose(F.tanhshrink(t).numpy(), wide - np.tanh(wide), **near)
    np.testing.assert_allclose(F.glu(t).numpy(), wide[:, :2] * sigmoid[:, 2:], **near)
    np.testing.assert_allclose(F.glu(t, 0).numpy(), wide[:1] * sigmoid[1:], **near)
    np.testing.assert_allclose(F.swiglu(t).numpy(), (wide * sigmoid)[:, :2] * wide[:, 2:], **near)
    np.testing.assert_allclose(F.swiglu(t, t).numpy(), wide * sigmoid * wide, **near)
    with pytest.raises(ValueError, match=r"\[glu\]"):
        F.glu(t[:, :3])


def test_in_place_forms(place):
    forms: Any = [(F.elu_, "elu"), (F.hardtanh_, "hardtanh"), (F.thresholded_relu_, "thresholded_relu")]
    for function, name in forms:
        t = paddle.to_tensor(np.array([-2.0, 0.5, 3.0], np.float32), place=place)
        want = getattr(F, name)(t).numpy()
        view = t[:]
        assert function(t) is t
        np.testing.assert_array_equal(t.numpy(), want)
        np.testing.assert_array_equal(view.numpy(), want)


def test_the_gradient_of_a_rounding_is_that_of_its_operand(place):
    x = paddle.arange(12, dtype="float32").reshape([3, 4]).to(place)
    x.stop_gradient = False
    for found in (
        ops.fake_quantize_dequantize_abs_max(x, 8, 1),
        ops.fake_channel_wise_quantize_dequantize_abs_max(x, 4, 0, 1),
    ):
        np.testing.assert_array_equal(paddle.grad((found[0] * 3).sum(), [x])[0].numpy(), np.full((3, 4), 3.0))
        np.testing.assert_array_equal(paddle.grad(found[1].sum(), [x])[0].numpy(), np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"\[fake_channel_wise_quantize_dequantize_abs_max\] an operand has 2 axes"):
        ops.fake_channel_wise_quantize_dequantize_abs_max(x, 8, 1, 2)


def called(tree):
    """The operators that a function of Python calls, and whether it computes with the operators of the language."""
    names = {
        n.attr
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name) and n.value.id == "_operators"
    }
    return names


ARGUMENTS = {"cast", "reshape", "squeeze", "unsqueeze"}  # which give an argument another dtype or shape

# What functions of rows do beside the call of theirs, and why.
BESIDE: dict[str, tuple[set[str], set[str], str]] = {
    "group_norm": (set(), {"len(args) + len(options)"}, "a count of arguments"),
    "gaussian_nll_loss": ({"unsqueeze"}, set(), "another shape of an argument"),
    "deg2rad": (set(), {"math.pi / 180"}, "the factor of `scale`, which computes with integers"),
    "rad2deg": (set(), {"180 / math.pi"}, "as deg2rad"),
    "equal_all": ({"full"}, set(), "tensors of other shapes are not equal; the row has no answer for them"),
    "diff": ({"concat"}, set(), "what is joined to the operand is an argument of Paddle's"),
    "nansum": ({"isnan", "sum"}, set(), "on the CPU one pass tells whether there is a nan"),
    "multi_label_margin_loss": ({"logical_or"}, set(), "a check of labels"),
    "cross_entropy": (set(), {"rank - 1", "axis + 1"}, "counts of axes"),
    "softmax_with_cross_entropy": ({"cross_entropy"}, {"len(shape) - 1"}, "without the softmax it is that"),
    "rnnt_loss": (set(), {"shape[2] - 1"}, "a size that is compared"),
    "linear": ({"matmul"}, set(), "without a bias it is that, and halves stay halves"),
    "inner": ({"multiply"}, set(), "an operand of one element is a factor, whatever its axes are"),
    "masked_scatter": ({"assign"}, set(), "without elements there is nothing to choose between"),
    "shard_index": ({"max"}, set(), "a check of elements"),
    "vecdot": ({"sum", "multiply_expression"}, set(), "y may be a number, which does not widen halves"),
    "dropout": ({"assign"}, {"working(x) * (1 - p)", "1 - p"}, "what is no training draws no numbers"),
    "gumbel_softmax": (
        {"argmax", "equal", "subtract"},
        {"_operators.subtract(soft, soft.detach()) + chosen"},
        "of a hard choice the gradient is that of the softmax",
    ),
    "rrelu": (
        set(),
        {"(lower + upper) / 2", "lower + upper", "1.0 / 8.0", "1.0 / 3.0"},
        "a slope, where none is drawn",
    ),
    "bernoulli": (
        {"greater_equal", "logical_and", "logical_not"},
        set(),
        "a check of elements",
    ),
    "sequence_mask": ({"max"}, set(), "the largest length, where none is given"),
    "repeat_interleave": ({"gather"}, set(), "how long the result is, tensors of repeats say alone"),
    "hypot": ({"add"}, set(), "says whether dtypes promote"),
    "swish": ({"silu"}, set(), "its row with the factor 1"),
}


def test_functions_of_composites_call_nothing_else():
    """A name that is a composite translates its arguments, and leaves what it computes to the row."""
    formulas = [
        name
        for file in (ROOT / "core/op/formula").glob("composites_*.go")
        for name in re.findall(r"formula: *`(\w+)\(", file.read_text())
    ]
    seen = set()
    for file in sorted((ROOT / "python/paddle_mps").rglob("_*.py")):
        if file.name in ("_ops.py", "_operators.py", "_complex_gradients.py", "_grad.py"):
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name.rstrip("_") not in formulas:
                continue
            seen.add(node.name)
            row = node.name.rstrip("_")
            operators, expressions, _ = BESIDE.get(row, (set(), set(), ""))
            assert called(node) <= {row} | ARGUMENTS | operators, f"{file.name}: {node.name} calls {called(node)}"
            computes = [
                n for n in ast.walk(node) if isinstance(n, ast.BinOp) and not isinstance(n.op, (ast.BitOr, ast.Mod))
            ]
            known = {"len(known.shape) - 1", "CHANNELS_FIRST + CHANNELS_LAST"} | expressions
            assert all(ast.unparse(n) in known for n in computes), node.name
    assert {
        "celu",
        "selu",
        "softshrink",
        "prelu",
        "glu",
        "swiglu",
        "kl_div",
        "nll_loss",
        "group_norm",
        "logsumexp",
        "lerp",
    } <= seen
