"""Gradients: every rule against finite differences in float64, and what backward passes promise.

The rules are those of the rows; `CASES` has a call for each of them, and a test fails where a row has none.
"""

from __future__ import annotations

import functools
import gc
import json
import pathlib
import threading
import warnings
from typing import Any

import numpy as np
import pytest
from oracles import ORACLES
from slopes import first_derivatives, second_derivatives

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops

TABLE = json.loads((pathlib.Path(paddle.__file__).parent / "selftest/table.json").read_text())
RULES = {row["name"] for row in TABLE if row.get("gradient")} - set(
    ORACLES
)  # those have cases in test_composite_oracles.py

ONCE = {"logcumsumexp"}  # rules that have no gradient of their own

rng = np.random.default_rng(7)


def normal(*shape):
    return rng.standard_normal(shape)


def positive(*shape):
    return rng.uniform(0.3, 2.0, shape)


def apart(*shape):
    """Numbers of which no two are nearer than 0.1, and none is near 0."""
    count = int(np.prod(shape, dtype=int))
    return (rng.permutation(count) + 1).reshape(shape) * 0.25 - 0.125 * count - 0.06


def unit(*shape):
    return rng.uniform(-0.9, 0.9, shape)


PLACES = np.array([[2, 0, 1, 2]])
A, B = apart(3, 4), apart(3, 4) + 0.03


def int64(a):
    return paddle.to_tensor(np.asarray(a, np.int64))


def case(name, function, *arrays):
    return pytest.param(name, function, arrays, id=f"{name}-{'x'.join(str(np.shape(a)) for a in arrays)}")


def reduced(op, *shapes):
    """A reduction over all axes, one, the last with keepdim, and several."""
    cases = []
    for axes, keep in [(None, False), ([0], False), ([-1], True), ([0, 2], False)]:
        x = apart(2, 3, 2) if op in (ops.max, ops.min) else positive(2, 3, 2)
        name = {ops.sum: "sum", ops.mean: "mean", ops.max: "max", ops.min: "min", ops.prod: "prod"}[op]
        if op is ops.sum:
            cases.append(case(name, lambda t, a=axes, k=keep: ops.sum(t, a, None, k), x))
        else:
            cases.append(case(name, lambda t, a=axes, k=keep: op(t, a, k), x))
    return cases


def unary(names, make):
    return [case(n, getattr(ops, n), make(2, 3)) for n in names.split()]


WITH_ZEROS = np.array([[1.5, 0.0, 2.0, -1.0], [0.0, 3.0, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])

CASES = [
    *[case(n, getattr(ops, n), normal(3, 4), normal(3, 4)) for n in "add subtract multiply logaddexp".split()],
    case("binary_cross_entropy", ops.binary_cross_entropy, (unit(3, 4) + 1) / 2, (unit(3, 4) + 1) / 2),
    *[case(n, getattr(ops, n), normal(3, 1), normal(2, 1, 4)) for n in "add subtract multiply logaddexp".split()],
    *[case("atan2", ops.atan2, positive(3, 1), -positive(*s)) for s in [(3, 4), (2, 1, 4)]],
    case("divide", ops.divide, normal(3, 4), positive(4)),
    case("divide", lambda x: ops.divide_expression(2.0, x), positive(4)),
    case("subtract", lambda x: ops.subtract_expression(2.0, x), positive(4)),
    case("remainder", ops.remainder, apart(3, 4), positive(3, 4) + 3),
    case("pow", ops.pow, positive(3, 4), normal(4)),
    case("pow", lambda x: ops.pow(x, 3), normal(3, 4)),
    case("pow", lambda x: ops.pow_expression(2.5, x), normal(3, 4)),
    *[case(n, getattr(ops, n), A, B) for n in "maximum minimum fmax fmin copysign".split()],
    *unary("abs", apart),
    *unary("neg exp expm1 square sin cos tanh sinh cosh erf atan asinh sigmoid silu gelu", normal),
    *unary("log log2 log10 log1p sqrt rsqrt reciprocal lgamma digamma", positive),
    *unary("lgamma digamma", lambda *s: -positive(*s) * 0.4 - 0.05),
    *unary("asin acos atanh erfinv tan", unit),
    *unary("i0 i0e i1 i1e", normal),
    *unary("sign floor ceil round trunc relu", apart),
    case("acosh", ops.acosh, positive(3) + 1),
    case("gelu", lambda x: ops.gelu(x, True), normal(3, 4)),
    case("softplus", lambda x: ops.softplus(x, 2.0, 1.0), apart(3, 4)),
    case("leaky_relu", lambda x: ops.leaky_relu(x, 0.2), apart(3, 4)),
    *unary("elu celu selu relu6 hardsigmoid hardswish softsign tanhshrink log_sigmoid mish", apart),
    *unary("hardtanh hardshrink softshrink thresholded_relu", apart),
    case("elu", lambda x: ops.elu(x, -0.5), apart(3, 4)),
    case("celu", lambda x: ops.celu(x, 0.7), apart(3, 4)),
    case("celu", lambda x: ops.celu(x, -2.0), apart(3, 4)),
    case("selu", lambda x: ops.selu(x, 1.5, 0.5), apart(3, 4)),
    case("hardsigmoid", lambda x: ops.hardsigmoid(x, 0.3, 0.4), apart(3, 4)),
    *[case("prelu", ops.prelu, apart(3, 4), normal(*s)) for s in [(3, 4), (4,), (3, 1), ()]],
    *[case("glu", lambda x, a=a: ops.glu(x, a), normal(2, 4)) for a in (0, -1)],
    case("swiglu", ops.swiglu, normal(3, 4), normal(3, 4)),
    case("swiglu", lambda x: ops.swiglu(x, None), normal(3, 4)),
    case("square_sum", lambda x: ops.square_sum(x, 1), normal(3, 4)),
    case("square_sum", lambda x: ops.square_sum(x, None, True), normal(3, 4)),
    case("softmax", lambda x: ops.softmax(x, -1), normal(2, 3)),
    case("softmax", lambda x: ops.softmax(x, 0), normal(2, 3)),
    case("log_softmax", lambda x: ops.log_softmax(x, -1), normal(2, 3)),
    case("log_softmax", lambda x: ops.log_softmax(x, 0), normal(2, 3)),
    case("lstm", lambda *t: ops.lstm(*t, False)[0], normal(3, 2, 8), normal(2, 8), normal(2, 2), normal(2, 2)),
    case("lstm", lambda *t: ops.add(ops.sum(ops.lstm(*t, True)[0], [0]), ops.lstm(*t, True)[1]), normal(3, 1, 8), normal(2, 8), normal(1, 2), normal(1, 2)),
    case("gru", lambda *t: ops.gru(*t, False, True), normal(3, 2, 6), normal(2, 6), normal(2, 2), normal(6)),
    case("gru", lambda x, w, h: ops.gru(x, w, h, None, True, False), normal(3, 2, 6), normal(2, 6), normal(2, 2)),
    case("layer_norm", lambda x, w, b: ops.layer_norm(x, w, b, 1e-3, True)[0], normal(2, 4), normal(4), normal(4)),
    case("layer_norm", lambda x, w: ops.layer_norm(x, w, None, 1e-3, False)[0], normal(2, 4), normal(4)),
    case("layer_norm", lambda x, b: ops.layer_norm(x, None, b, 1e-3, True)[0], normal(3), normal(3)),
    case("layer_norm", lambda x: ops.layer_norm(x, None, None, 1e-3, True)[1], normal(2, 4)),
    case("layer_norm", lambda x: ops.add(*ops.layer_norm(x, None, None, 1e-3, False)), normal(2, 4)),
    case("where", lambda x, y: ops.where(paddle.to_tensor(A > 0), x, y), normal(3, 4), normal(4)),
    case("clip", lambda x: ops.clip(x, -0.4, 0.7), apart(3, 4)),
    case("clip", lambda x: ops.clip(x, None, 0.7), apart(3, 4)),
    case("cast", lambda x: ops.cast(ops.cast(x, "float64"), "float64"), normal(3)),
    case("assign", ops.assign, normal(3)),
    *reduced(ops.sum), *reduced(ops.mean), *reduced(ops.max), *reduced(ops.min), *reduced(ops.prod),
    case("prod", lambda x: ops.prod(x, [1], False), WITH_ZEROS),
    case("sum", lambda x: ops.sum(x, None, None, False), normal()),
    *[case("cumsum", lambda x, a=a: ops.cumsum(x, a), normal(3, 4)) for a in (None, 0, -1)],
    *[case("cumprod", lambda x, a=a: ops.cumprod(x, a), WITH_ZEROS) for a in (None, 0, -1)],
    *[case("logcumsumexp", lambda x, a=a: ops.logcumsumexp(x, a), normal(3, 4)) for a in (None, 0, -1)],
    *[case("cummax", lambda x, a=a: ops.cummax(x, a)[0], apart(3, 4)) for a in (None, 0, -1)],
    *[case("cummin", lambda x, a=a: ops.cummin(x, a)[0], apart(3, 4)) for a in (None, 1)],
    *[case("sort", lambda x, a=a, d=d: ops.sort(x, a, d), apart(3, 4)) for a in (0, -1) for d in (False, True)],
    *[case("topk", lambda x, a=a: ops.topk(x, 2, a, True)[0], apart(3, 4)) for a in (0, -1)],
    *[
        case("matmul", lambda x, y, a=a, b=b: ops.matmul(x, y, a, b), normal(*sx), normal(*sy))
        for sx, sy, a, b in [
            ((3, 4), (4, 2), False, False), ((4, 3), (4, 2), True, False), ((3, 4), (2, 4), False, True),
            ((4, 3), (2, 4), True, True), ((4,), (4,), False, False), ((4,), (4, 2), False, False),
            ((3, 4), (4,), False, False), ((2, 3, 4), (4, 2), False, False), ((2, 3, 4), (2, 4), False, True),
            ((2, 4, 3), (4, 2), True, False), ((3, 4), (2, 4, 2), False, False), ((2, 1, 3, 4), (3, 4, 2), False, False),
            ((4,), (2, 4, 3), False, False), ((2, 3, 4), (4,), False, False), ((2, 4, 3), (2, 2, 4), True, True),
        ]
    ],
    case("reshape", lambda x: ops.reshape(x, [4, 3]), normal(3, 4)),
    case("transpose", lambda x: ops.transpose(x, [2, 0, 1]), normal(2, 3, 4)),
    case("transpose", lambda x: ops.transpose(x, [-2, -3]), normal(2, 3, 4)),  # the last axis stays
    case("squeeze", lambda x: ops.squeeze(x, [1]), normal(2, 1, 3)),
    case("unsqueeze", lambda x: ops.unsqueeze(x, [1]), normal(2, 3)),
    case("expand", lambda x: ops.expand(x, [2, 3, 4]), normal(3, 1)),
    case("slice", lambda x: x[1:, ::-2], normal(3, 4)),
    case("slice", lambda x: x[None, 1, ..., 2:0:-1], normal(3, 2, 4)),
    case("slice", lambda x: ops.slice(x, [1, -3], [1, 0], [99, -1], [2, 1]), normal(2, 3, 4)),
    case("as_strided", lambda x: ops.as_strided(x, [3, 3], [2, 1], 1), normal(2, 4)),
    case("spread", lambda x: ops.spread(x, [3, 5], [1], [4], [-9], [-2]), normal(3, 3)),
    case("split", lambda x: sum((i + 1) * p.sum() for i, p in enumerate(ops.split(x, [1, 3], 1)[1:])), normal(2, 4)),
    case("split", lambda x: ops.concat([p * p for p in ops.split(x, [2], -1)], 0), normal(2, 4)),
    case("flatten", lambda x: ops.flatten(x, 1, -1), normal(2, 3, 2)),
    case("flatten", lambda x: ops.flatten(x, 0, -1), normal()),
    case("diagonal", lambda x: ops.diagonal(x, 1, -1, 0), normal(3, 2, 4)),
    case("diagonal", lambda x: ops.diagonal(x, 9, 0, 1), normal(3, 2)),
    case("unstack", lambda x: sum((i + 1) * p.sum() for i, p in enumerate(ops.unstack(x, 1, 3)[1:])), normal(2, 3)),
    case("unstack", lambda x: ops.concat([p * p for p in ops.unstack(x, -2, 2)], 0), normal(2, 4)),
    case("add_n", lambda x, y, z: ops.add_n([x, y * y, z]), normal(2, 4), normal(2, 4), normal(2, 4)),
    case("concat", lambda x, y: ops.concat([x, y], -1), normal(2, 4), normal(2, 1)),
    case("stack", lambda x, y: ops.stack([x, y], -1), normal(2, 4), normal(2, 4)),
    case("tile", lambda x: ops.tile(x, [2, 1, 3]), normal(2, 4)),
    *[
        case("pad", lambda x, mode=mode: ops.pad(x, [1, 2, -1, 3], mode, 0.5), normal(2, 4))
        for mode in ("constant", "reflect", "replicate", "circular")
    ],
    case("unfold", lambda x: ops.unfold(x, [2, 2], [1, 2], [1, 0, 0, 1], None), normal(1, 2, 3, 3)),
    case("diag_embed", lambda x: ops.diag_embed(x, 1, 0, -1, 0), normal(2, 3)),
    case("diagonal_scatter", lambda x, y: ops.diagonal_scatter(x, y, -1, 0, 1), normal(3, 4), normal(2)),
    case("slice_scatter", lambda x, v: ops.slice_scatter(x, v, [0], [1], [9], [2]), normal(4, 3), normal(2, 1)),
    case("select_scatter", lambda x, v: ops.select_scatter(x, v, 1, -2), normal(2, 3), normal(2)),
    case("block_diag", lambda x, y: ops.block_diag([x, y]), normal(2, 3), normal(2)),
    case("flip", lambda x: ops.flip(x, [0]), normal(2, 4)),
    *[case("gather", lambda x, a=a: ops.gather(x, int64([2, 0, 2]), a), normal(3, 4, 3)) for a in (0, -1)],
    case("gather", lambda x: ops.gather(x, int64([[2], [0]]), 1), normal(3, 4)),
    case("gather", lambda x: ops.gather(x, int64(1), 1), normal(3, 4)),
    case("index", lambda x: ops.index(x, [int64([[0, 2]]), int64([[1], [1]])]), normal(3, 4, 2)),
    *[case("index_add", lambda x, v, a=a: ops.index_add(x, int64([2, 0, 2]), v, a), normal(3, 3, 4), normal(3, 3, 4)) for a in (0, 1)],
    case("index_add", lambda x, v: ops.index_add(x, int64([3, 0, -1, 1, 3]), v, -1), normal(3, 4), normal(3, 5)),
    *[case("index_fill", lambda x, v, a=a: ops.index_fill(x, int64([2, 0, 2]), v, a), normal(3, 3), normal()) for a in (0, -1)],
    case("index_put", lambda x, v: ops.index_put(x, v, [int64([0, 2])]), normal(3, 4), normal(4)),
    case("index_put", lambda x, v: ops.index_put(x, v, [int64([0, 2, 0])]), normal(3, 4), normal(3, 4)),
    case("index_put", lambda x, v: ops.index_put(x, v, [int64([[0], [2]]), int64([1, 1])]), normal(3, 4), normal(2, 2)),
    *[
        case("index_reduce", lambda x, v, r=r: ops.index_reduce(x, v, [int64([0, 2, 0])], r), apart(3, 4), apart(3, 4) + 0.03)
        for r in ("add", "multiply", "minimum", "maximum")
    ],
    *[
        case("conv", lambda x, w, a=a: ops.conv(x, w, *a), normal(*sx), normal(*sw))
        for sx, sw, a in [
            ((2, 3, 5, 4), (4, 3, 3, 2), (None, None, None, 1, False)),
            ((2, 4, 7), (6, 2, 3), ([2], [1, 2], [2], 2, False)),
            ((1, 6, 7, 4), (4, 1, 3, 3), ([3, 2], [1, 1, 0, 2], None, 4, True)),
        ]
    ],
    *[
        case("conv_transpose", lambda x, w, a=a: ops.conv_transpose(x, w, *a), normal(*sx), normal(*sw))
        for sx, sw, a in [
            ((2, 3, 3, 2), (3, 4, 3, 2), (None, None, None, None, 1, False)),
            ((2, 4, 3), (4, 3, 3), ([2], [1, 2], [1], [2], 2, False)),
        ]
    ],
    case("conv_weight", lambda x, y: ops.conv_weight(x, y, [3], [2], [1, 2], None, 2, False), normal(2, 4, 8), normal(2, 6, 5)),
    *[
        case("max_pool", lambda x, a=a: ops.max_pool(x, *a)[0], apart(*s))
        for s, a in [((1, 2, 4, 5), ([2, 3], [1, 2], None, False, False, False)), ((1, 6, 2), ([3], None, [1, 1], True, False, True))]
    ],
    *[
        case("max_unpool", lambda x, i=i, a=a: ops.max_unpool(x, int64(i), *a), normal(*np.shape(i)))
        for i, a in [([[[3, 0, 5]]], ([6], False, False)), ([[[3], [0], [3]]], ([6], True, True))]
    ],
    *[
        case("avg_pool", lambda x, a=a: ops.avg_pool(x, *a), normal(*s))
        for s, a in [
            ((1, 2, 4, 5), ([2, 3], [1, 2], None, False, False, True, False)),
            ((1, 7, 2), ([3], None, [1, 1], True, False, False, True)), ((1, 2, 7), ([3], None, None, False, True, True, False)),
        ]
    ],
    case("avg_unpool", lambda x: ops.avg_unpool(x, [5], [2], [1], [1, 1], False, False, True, False), normal(1, 2, 6)),
    *[
        case("attention", lambda *t, c=c: ops.attention(*t, 0.5, c), normal(*q), normal(*k), normal(*v), normal(*m))
        for q, k, v, m in [
            ((2, 2, 3, 2), (2, 2, 4, 2), (2, 2, 4, 3), (3, 4)), ((1, 4, 3, 2), (1, 2, 3, 2), (1, 2, 3, 2), (1, 4, 1, 3)),
        ] for c in (False, True)
    ],
    case("attention", lambda q, k, v: ops.attention(q, k, v, paddle.to_tensor(np.tri(3, 3, 1) > 0), 1.0, False),
         normal(2, 3, 2), normal(1, 3, 2).repeat(2, 0), normal(2, 3, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "function", "arrays"), CASES)
def test_rules_against_finite_differences(name, function, arrays):
    first_derivatives(function, arrays, rng)


# What has no second derivative worth a test: it is zero, or one of a sum of parts that other cases have.
@pytest.mark.parametrize(("name", "function", "arrays"), [c for c in CASES if c.values[0] not in ONCE])
def test_gradients_of_gradients(name, function, arrays):
    second_derivatives(function, arrays, rng)


def test_rules_without_a_gradient_of_their_own():
    for name, function, arrays in [c.values for c in CASES if c.values[0] in ONCE]:
        leaves = [paddle.to_tensor(np.array(a, np.float64), stop_gradient=False) for a in arrays]
        first = paddle.grad(function(*leaves).sum(), leaves, create_graph=True)
        with pytest.raises(paddle.UnsupportedError, match=name):
            first[0].sum().backward()


def test_every_rule_has_a_case():
    assert RULES
    assert RULES - {c.values[0] for c in CASES} == set()


def graded(x):
    """Whether a tensor has a gradient."""
    return x.grad is not None


def leaf(*values, dtype="float32"):
    return paddle.to_tensor(np.array(values, dtype), stop_gradient=False)


def test_results_ask_where_an_operand_does():
    x, c = leaf(1.0, 2.0), paddle.to_tensor([1.0, 2.0])
    assert not x.stop_gradient
    assert c.stop_gradient
    assert x.is_leaf
    assert not (x * c).stop_gradient
    assert not (x * c).is_leaf
    assert (c * c).stop_gradient
    assert (x > c).stop_gradient
    assert x.argmax().stop_gradient
    assert x.astype("int32").stop_gradient


def test_leaves_add_up():
    x = leaf(1.0, 2.0, 3.0)
    assert not graded(x)
    (x * x).sum().backward()
    (x * 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4, 6, 8])
    assert x.grad.stop_gradient
    x.clear_grad()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0, 0])
    x.clear_grad(set_to_zero=False)
    assert not graded(x)
    assert x.gradient() is None


def gradient(x: paddle.Tensor) -> Any:
    """Type checkers would take what `assert x.grad is None` says to hold for good."""
    return x.grad


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_cleared_gradients(dtype):
    x = paddle.to_tensor([1.0, 2.0], dtype=dtype, stop_gradient=False)
    x.clear_grad()
    assert gradient(x) is None  # nothing to clear

    def step():
        (x * 2).sum().backward(paddle.ones([], dtype=dtype))

    for held in (False, True, False):
        step()
        mine: Any = gradient(x) if held else None
        x.clear_grad()
        x.clear_grad()
        if held:
            np.testing.assert_array_equal(mine.numpy(), [0, 0])
        step()
        step()
        np.testing.assert_array_equal(gradient(x).numpy(), [4, 4])
        assert gradient(x).dtype == x.dtype and gradient(x).stop_gradient
        if held and not gradient(x).is_complex():
            np.testing.assert_array_equal(mine.numpy(), [4, 4])
        x.clear_grad()
        np.testing.assert_array_equal(gradient(x).numpy(), [0, 0])
        gradient(x).add_(paddle.ones([2], dtype=dtype))  # the zeros are there once they have been asked for
        np.testing.assert_array_equal(gradient(x).numpy(), [1, 1])
        x.clear_grad()
        x.grad = None
        assert gradient(x) is None


def test_clearing_frees_memory_until_zeros_are_asked_for():
    x = paddle.to_tensor(np.ones(1 << 16, np.float32), stop_gradient=False)
    x.sum().backward()
    before = paddle.device.memory_allocated("cpu")
    x.clear_grad()
    assert paddle.device.memory_allocated("cpu") <= before - 4 * 2**16
    assert graded(x) and not x.grad.numpy().any()


def test_clearing_gradients_of_other_kinds():
    x = leaf(1.0, 2.0)
    y = x * x
    y.retain_grads()
    y.sum().backward()
    y.clear_grad()
    np.testing.assert_array_equal(y.grad.numpy(), [0, 0])
    x.clear_grad()
    (g,) = paddle.grad((x**3).sum(), [x], create_graph=True)
    x.grad = g
    x.clear_grad()
    np.testing.assert_array_equal(x.grad.numpy(), [0, 0])
    np.testing.assert_array_equal(g.numpy(), [3, 12])
    paddle.to_tensor([1.0]).clear_grad()  # which asks for none, and has none


def test_a_gradient_shares_no_memory_with_what_was_given():
    x, g = leaf(1.0, 2.0), paddle.to_tensor([3.0, 4.0])
    (x + 0.0).backward(g)
    g.zero_()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 4])


def test_a_second_pass_needs_what_was_recorded():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4, 8])
    with pytest.raises(ValueError, match="retain_graph=True"):
        y.backward()


def test_changes_in_place():
    x = leaf(1.0, 2.0)
    with pytest.raises(ValueError, match="leaf"):
        x.add_(paddle.ones([2]))
    with pytest.raises(ValueError, match="leaf"):
        x[0] = 5.0
    np.testing.assert_array_equal(x.numpy(), [1, 2])
    with paddle.no_grad():
        x.add_(paddle.ones([2]))
    assert not x.stop_gradient
    assert x.inplace_version == 1
    y = x * 1
    z = y * y
    y.add_(paddle.ones([2]))
    with pytest.raises(ValueError, match="changed in place"):
        z.sum().backward()
    y = x * 1
    y.multiply_(x)
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4, 6])


def test_assignment_by_index():
    x, v = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2
    y[1:] = v * 3
    np.testing.assert_array_equal(y.numpy(), [2, 15, 15])
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [8, 0, 0])
    np.testing.assert_array_equal(v.grad.numpy(), [180])
    fresh = paddle.zeros([3])
    fresh[:] = x
    fresh.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [9, 1, 1])
    fresh = paddle.zeros([3])
    fresh[paddle.to_tensor([0, 2])] = x[:2]
    fresh.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [10, 2, 1])


def test_views_follow_what_is_written():
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    part = y[:2]
    part.add_(paddle.ones([2]))
    y.multiply_(paddle.full([3], 2.0))
    (part * 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4, 4, 0])
    out = paddle.zeros([3])
    out[:2].add_(x[:2])
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [5, 5, 0])


def test_views_whose_gradient_cannot_pass_are_refused():
    x = leaf(1.0, 2.0, 3.0)
    with pytest.raises(ValueError, match="view of a leaf"):
        x[:2].add_(paddle.ones([2]))
    numbers = paddle.zeros([4])
    bits = numbers.view("float16")
    with pytest.raises(paddle.UnsupportedError, match="another dtype"):
        bits[:3] = x
    strided = paddle.utils.dlpack.from_dlpack(np.arange(6.0, dtype=np.float32).reshape(2, 3).T)
    with pytest.raises(paddle.UnsupportedError, match="not contiguous"):
        strided[:, 0] = x


def test_scopes():
    x = leaf(1.0)
    assert paddle.is_grad_enabled()
    with paddle.no_grad():
        assert not paddle.is_grad_enabled()
        assert (x * 2).stop_gradient
        with paddle.enable_grad():
            assert not (x * 2).stop_gradient
    assert paddle.is_grad_enabled()

    @paddle.no_grad()
    def called():
        return x * 2

    bare: Any = paddle.no_grad(lambda: x * 2)

    assert called().stop_gradient
    assert bare().stop_gradient
    paddle.set_grad_enabled(False)
    assert (x * 2).stop_gradient
    paddle.set_grad_enabled(True)
    with paddle.set_grad_enabled(False):
        assert (x * 2).stop_gradient
    assert not (x * 2).stop_gradient
    seen = []
    with paddle.no_grad():
        thread = threading.Thread(target=lambda: seen.append((x * 2).stop_gradient))
        thread.start()
        thread.join()
    assert seen == [False]  # a scope is the thread's


def test_long_calls_keep_the_scope():
    x = paddle.ones([9_000_000])
    x.stop_gradient = False
    with paddle.no_grad():
        assert (x * 2).stop_gradient
        assert paddle.exp(x).stop_gradient
    assert not (x * 2).stop_gradient


def test_detach():
    x = leaf(1.0, 2.0)
    y = (x * 2).detach()
    assert y.stop_gradient
    assert y.is_leaf
    z = x * 2
    z.detach_()
    assert z.stop_gradient
    same = x.detach()
    same.zero_()
    np.testing.assert_array_equal(x.numpy(), [0, 0])


def test_hooks():
    x = leaf(1.0, 2.0)
    seen = []
    first = x.register_hook(lambda g: seen.append(g.numpy().tolist()))
    x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    assert seen == [[2, 4]]
    np.testing.assert_array_equal(x.grad.numpy(), [20, 40])
    assert first.remove()
    assert not first.remove()
    y = x * 2
    y.register_hook(lambda g: g + 1)
    x.clear_grad()
    y.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [40, 40])
    assert len(seen) == 1

    def fails(g):
        raise KeyError("mine")

    z = x * 3
    z.register_hook(fails)
    with pytest.raises(KeyError, match="mine"):
        z.sum().backward()
    z = x * 3
    z.register_hook(lambda g: paddle.ones([7]))
    with pytest.raises(ValueError, match=r"shape \[7\]"):
        z.sum().backward()
    with pytest.raises(ValueError, match="stop_gradient"):
        paddle.ones([1]).register_hook(fails)


def test_grad_leaves_the_leaves_alone():
    x, y, unused = leaf(1.0, 2.0), leaf(3.0, 4.0), leaf(1.0)
    product = x * y
    out = (product * product).sum()
    dx, dp = paddle.grad(out, [x, product], retain_graph=True)
    np.testing.assert_array_equal(dx.numpy(), [18, 64])
    np.testing.assert_array_equal(dp.numpy(), [6, 16])
    assert not graded(x)
    assert dx.stop_gradient
    with pytest.raises(ValueError, match="allow_unused"):
        paddle.grad(out, [unused], retain_graph=True)
    assert paddle.grad(out, [unused], allow_unused=True, retain_graph=True) == [None]
    stopped = paddle.grad(out, [x], no_grad_vars=[product], allow_unused=True, retain_graph=True)
    assert stopped == [None]
    (weighted,) = paddle.grad(product, x, grad_outputs=paddle.to_tensor([1.0, 10.0]))
    np.testing.assert_array_equal(weighted.numpy(), [3, 40])


def test_retained_gradients():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grads()
    assert not graded(y)
    (y * y).sum().backward()
    np.testing.assert_array_equal(y.grad.numpy(), [4, 8])
    assert not graded(x * 2)
    x.grad = paddle.to_tensor([7.0, 7.0])
    np.testing.assert_array_equal(x.grad.numpy(), [7, 7])
    with pytest.raises(ValueError, match="shape"):
        x.grad = paddle.ones([3])


def test_grad_keeps_what_was_recorded():
    x = leaf(1.0, 2.0)
    out = (x * x).sum()
    for _ in range(2):
        np.testing.assert_array_equal(paddle.grad(out, x, retain_graph=False)[0].numpy(), [2, 4])
    out.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 4])
    with pytest.raises(ValueError, match="retain_graph"):
        paddle.grad(out, x)


def test_hooks_in_grad_are_those_of_results():
    x, seen = leaf(1.0, 2.0), list[Any]()
    x.register_hook(seen.append)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    dx, dy = paddle.grad((y * y).sum(), [x, y])
    np.testing.assert_array_equal(dy.numpy(), [40, 80])
    np.testing.assert_array_equal(dx.numpy(), [80, 160])
    assert seen == []


def test_retained_gradients_are_those_of_the_last_pass():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grads()
    y.retain_grads()
    y.register_hook(lambda g: g * 10)
    out = (y * y).sum()
    for _ in range(2):
        out.backward(retain_graph=True)
        np.testing.assert_array_equal(y.grad.numpy(), [4, 8])
    np.testing.assert_array_equal(x.grad.numpy(), [160, 320])
    z = x * 2
    z.register_hook(lambda g: g * 10)
    z.retain_grads()
    paddle.grad((z * z).sum(), x)
    np.testing.assert_array_equal(z.grad.numpy(), [40, 80])
    paddle.ones([1]).retain_grads()


def test_copies_of_tensors_are_leaves():
    x = leaf(1.0, 2.0)
    for of in (x, x * 2):
        for dtype in (None, "float32", "float64"):
            copied = paddle.to_tensor(of, dtype)
            assert copied.stop_gradient and copied.is_leaf
            copied = paddle.to_tensor(of, dtype, stop_gradient=False)
            assert copied.is_leaf
            (copied * 3).sum().backward()
            np.testing.assert_array_equal(copied.grad.numpy(), [3, 3])
            assert x.grad is None
            with paddle.no_grad():
                copied.fill_(7.0)
    np.testing.assert_array_equal(x.numpy(), [1, 2])


def test_retained_gradients_are_of_before_a_change_in_place():
    x = leaf(1.0, 2.0)
    y = x * 2
    y.retain_grads()
    seen = []
    y.register_hook(lambda g: seen.append(g.numpy().tolist()))
    y.multiply_(paddle.full([2], 3.0))
    out = (y * y).sum()
    out.backward(retain_graph=True)
    np.testing.assert_array_equal(y.grad.numpy(), [36, 72])  # as PaddlePaddle 3.3.1
    assert seen == [[36.0, 72.0]]
    y.clear_grad(False)
    assert y.gradient() is None
    y.retain_grads()
    out.backward()
    np.testing.assert_array_equal(y.grad.numpy(), [36, 72])
    y = x * 2
    y.add_(paddle.ones([2]))
    y.retain_grads()
    (y * y).sum().backward()
    np.testing.assert_array_equal(y.grad.numpy(), [6, 10])
    y.detach_()
    assert y.gradient() is None
    z = x * 1
    z.retain_grads()
    z.fill_(5.0)
    z.sum().backward()
    np.testing.assert_array_equal(z.grad.numpy(), [0, 0])


def test_a_retained_gradient_is_there_at_once_after_a_write_through_a_view():
    x = leaf(1.0, 2.0)
    for read in (lambda y: y.grad, lambda y: y.gradient(), lambda y: y.clear_gradient() or y.grad):
        y = x * 2
        row = y[0:1]
        y.retain_grads()
        y.backward(retain_graph=True)
        row[0] = x[1] * 3
        assert read(y) is not None


def test_views_go_on_to_retain_their_gradient():
    """Also a view of everything, whose tensor retains nothing, and after several writes."""
    for key in (slice(0, 2), slice(None)):
        x = leaf(1.0, 2.0, 3.0)
        y = x * 2
        part = y[key]
        part.retain_grads()
        y.multiply_(paddle.full([3], 3.0))
        y[2] = x[0]
        (part * part).sum().backward()
        np.testing.assert_array_equal(part.grad.numpy(), 2 * part.numpy())
        assert y.grad is None


WRITES_THREE_TIMES = [lambda v: v.scale_(3.0), lambda v: v.multiply_(v.detach() * 0 + 3), lambda v: v[:].scale_(3.0)]


@pytest.mark.parametrize("write", WRITES_THREE_TIMES, ids=["scale", "multiply", "through a view of the view"])
@pytest.mark.parametrize("traced", [False, True])
def test_a_view_that_was_written_through_is_computed_from_its_tensor(write, traced):
    """The gradient of a tensor has that of a view through which it was written to, for grad, hooks and retain_grads alike."""
    seen = []

    def tenfold(g):
        seen.append(g)
        return g * 10

    def program(x):
        y = x * 2
        v = y[1:]
        write(v)
        y.register_hook(tenfold)
        y.retain_grads()
        total = (v * v).sum() / 2 + y.sum()
        return total, *paddle.grad(total, y, retain_graph=True), y

    x = leaf(1.0, 2.0, 3.0)
    total, of_y, y = paddle.jit.to_static(program, full_graph=True)(x) if traced else program(x)
    np.testing.assert_array_equal(of_y.numpy(), [10, 130, 190])
    total.backward()
    np.testing.assert_array_equal(x.grad.numpy(), [20, 780, 1140])
    if not traced:
        np.testing.assert_array_equal(seen[-1].numpy(), [1, 13, 19])
        np.testing.assert_array_equal(y.grad.numpy(), [10, 130, 190])


@pytest.mark.parametrize("view", [lambda y: y[:], lambda y: y.reshape([2])], ids=["slice", "reshape"])
@pytest.mark.parametrize(
    "write",
    [lambda y, v: y.scale_(3.0), lambda y, v: v.scale_(3.0), lambda y, v: (y[:1].scale_(3.0), v[1:].scale_(3.0))],
    ids=["tensor", "view", "parts"],
)
def test_a_view_of_everything_has_a_gradient_of_its_own_after_a_write(view, write):
    """What reads the tensor is no part of it, and goes neither through its hooks nor through its stop_gradient."""
    x = leaf(1.0, 2.0)
    y = x * 2
    v = view(y)
    write(y, v)
    total = y.sum() + (v * v).sum() / 2
    of_v, of_y = paddle.grad(total, [v, y], retain_graph=True)
    assert of_v.tolist() == [6, 12] and of_y.tolist() == [7, 13]
    v.register_hook(lambda g: g * 100)
    total.backward()
    assert x.grad.tolist() == [6 * 601, 6 * 1201]
    v.stop_gradient = True
    assert not y.stop_gradient


def test_hooks_are_removed_from_what_a_tensor_was():
    x = leaf(1.0, 2.0)
    for change in (lambda y: y.multiply_(x), lambda y: y[0:1].add_(x[1:]), lambda y: y.__setitem__(0, x[1])):
        y = x * 2
        keep = y.register_hook(lambda g: g * 10)
        gone = y.register_hook(lambda g: g * 100)
        change(y)
        assert gone.remove() and not gone.remove()
        want = paddle.grad(y.sum(), x, retain_graph=True)[0] * 1
        assert keep.remove()
        assert float(want.sum()) > float(paddle.grad(y.sum(), x)[0].sum()) > 0


# Of y = 2 * x with views, what is written while one of them is stopped: the gradient of the sum of squares of what is read.
STOPPED = {
    "a view of a stopped tensor": (lambda y, v, u: (y, v), lambda y, v, u: v.fill_(5.0), lambda y, v, u: v, [0, 0, 0]),
    "a part of it": (lambda y, v, u: (y,), lambda y, v, u: y.__setitem__(0, 5.0), lambda y, v, u: u, [0, 16, 0]),
    "a part, asked again": (lambda y, v, u: (y,), lambda y, v, u: v.fill_(5.0), lambda y, v, u: y, [0, 0, 24]),
    "all of it": (lambda y, v, u: (y,), lambda y, v, u: y.fill_(5.0), lambda y, v, u: v, [0, 0, 0]),
    "a stopped view": (lambda y, v, u: (v,), lambda y, v, u: v.fill_(5.0), lambda y, v, u: y, [0, 0, 24]),
    "a stopped view, asked again": (lambda y, v, u: (v,), lambda y, v, u: v.fill_(5.0), lambda y, v, u: v, [0, 0, 0]),
    "a recorded part of it": (
        lambda y, v, u: (y,), lambda y, v, u: v.multiply_(paddle.full([2], 3.0)), lambda y, v, u: u, [72, 144, 0],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", STOPPED)
def test_what_is_written_while_a_tensor_is_stopped_has_no_old_gradient(case):
    stop, write, read, want = STOPPED[case]

    def program(x):
        y = x * 2
        views = y, y[:2], y[0:2]
        for t in stop(*views):
            t.stop_gradient = True
        write(*views)
        for t in stop(*views):
            t.stop_gradient = False
        t = read(*views)
        return (t * t).sum() + 0 * x.sum()

    for wrap in (lambda f: f, functools.partial(paddle.jit.to_static, full_graph=True)):
        x = leaf(1.0, 2.0, 3.0)
        wrap(program)(x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), want)


def test_a_stopped_buffer_without_views_that_ask_records_nothing():
    """It may be written for ever. Asked again, it has the history that it had, as in Paddle."""
    x = leaf(1.0, 2.0, 3.0)
    y = x * 2
    y.stop_gradient = True
    rows = [y[i] for i in range(3)]
    for i in range(6):
        y[i % 3] = float(i)
        rows[i % 3].fill_(i + 1.0)
    assert y.stop_gradient and rows[0].stop_gradient
    y.stop_gradient = False
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 4 * y.numpy())


def test_stop_gradient_is_about_what_comes():
    x = leaf(1.0, 2.0)
    y = x * 2
    used = (y * 3).sum()
    y.stop_gradient = x.stop_gradient = True
    assert y.stop_gradient and not y.is_leaf and (y * 3).stop_gradient and (x * 3).stop_gradient
    used.backward(retain_graph=True)
    np.testing.assert_array_equal(x.grad.numpy(), [6, 6])
    y.stop_gradient = False
    (y * 3).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [12, 12])
    y.stop_gradient = True
    y.add_(paddle.ones([]))
    y.stop_gradient = False
    assert y.is_leaf
    z = x * 2
    z.detach_()
    assert z.stop_gradient and z.is_leaf


def test_new_contents_do_not_depend_on_the_old_ones():
    for change in (
        lambda y: y.zero_(),
        lambda y: y.fill_(5),
        lambda y: y.uniform_(),
        lambda y: y.copy_(paddle.ones([2])),
    ):
        x = leaf(1.0, 2.0)
        y = x * x
        change(y)
        assert not y.stop_gradient
        (y * 3).sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [0, 0])


@pytest.mark.parametrize("name", ["zero_", "exp_", "uniform_", "normal_", "tril_", "clip_"])
def test_refused_changes_name_the_method(name):
    x = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False)
    with pytest.raises(ValueError, match=rf"\[{name}\] x is a leaf"):
        getattr(x, name)()


def test_generators_without_gradients():
    @paddle.no_grad()
    def values():
        try:
            got = yield paddle.is_grad_enabled()
            yield got, paddle.is_grad_enabled()
        except KeyError:
            yield "caught", paddle.is_grad_enabled()
        return 7

    running = values()
    assert next(running) is False
    assert paddle.is_grad_enabled()
    assert running.send(5) == (5, False)
    assert running.throw(KeyError()) == ("caught", False)
    with pytest.raises(StopIteration) as end:
        next(running)
    assert end.value.value == 7
    closed = values()
    next(closed)
    closed.close()
    assert paddle.is_grad_enabled()


def test_gradients_add_up_in_their_memory():
    x = leaf(1.0, 2.0)
    (x * x).sum().backward()
    held = x.grad
    (x * x).sum().backward()
    np.testing.assert_array_equal(held.numpy(), [4, 8])
    x.clear_grad()
    np.testing.assert_array_equal(held.numpy(), [0, 0])
    given = paddle.to_tensor([1.0, 1.0])
    x.grad = given
    (x * x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3, 5])
    np.testing.assert_array_equal(given.numpy(), [1, 1])


def test_creation_with_requires_grad():
    x = paddle.to_tensor([1.0])
    for made in (
        paddle.zeros([2], requires_grad=True),
        paddle.full([2], 3.0, requires_grad=True),
        paddle.arange(0.0, 2.0, requires_grad=True),
        paddle.randn([2], requires_grad=True),
        paddle.eye(2, requires_grad=True),
        paddle.zeros_like(x, requires_grad=True),
        paddle.as_tensor([1.0], None, None, True),
        x.new_ones([2], requires_grad=True),
    ):
        assert made.is_leaf
        assert not made.stop_gradient
        assert made.requires_grad
    assert not paddle.fft.fftfreq(3, requires_grad=True).stop_gradient


def test_layers_of_python():
    class Cube(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, y, factor=1.0):
            ctx.save_for_backward(x)
            ctx.factor = factor
            assert not paddle.is_grad_enabled()
            return x * x * x * factor, y

        @staticmethod
        def backward(ctx, dx, dy):
            (x,) = ctx.saved_tensor()
            return dx * 3 * x * x * ctx.factor, dy * 5

    x, y = leaf(1.0, 2.0), leaf(1.0)
    cube, same = Cube.apply(x, y, factor=2.0)
    (cube.sum() + same.sum()).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [6, 24])
    np.testing.assert_array_equal(y.grad.numpy(), [5])
    x.clear_grad(), y.clear_grad()
    cube, same = Cube.apply(x, y)
    cube.sum().backward()  # nothing depends on the other result: its gradient is zeros
    np.testing.assert_array_equal(y.grad.numpy(), [0])
    (d,) = paddle.grad(Cube.apply(x, y)[0].sum(), x, create_graph=True)
    (dd,) = paddle.grad(d.sum(), x)
    np.testing.assert_array_equal(dd.numpy(), [6, 12])

    class Fails(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, dx):
            raise OSError("not today")

    with pytest.raises(OSError, match="not today"):
        Fails.apply(x).sum().backward()
    with pytest.raises(NotImplementedError):
        paddle.autograd.PyLayer.apply(x)


def test_layers_take_lists_and_keep_their_results():
    class Sum(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, parts):
            total = parts[0] + parts[1]
            ctx.save_for_backward(total)
            return total

        @staticmethod
        def backward(ctx, dy):
            (total,) = ctx.saved_tensor()
            return dy * total, dy

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    Sum.apply([x, y]).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4, 6])
    np.testing.assert_array_equal(y.grad.numpy(), [1, 1])
    x, y = paddle.ones([1 << 18]), paddle.ones([1 << 18])
    x.stop_gradient = False
    start = paddle.mps.memory_allocated("cpu")
    for _ in range(20):
        Sum.apply([x, y]).sum().backward()
    assert paddle.mps.memory_allocated("cpu") <= start + (4 << 20)


# Gradients of x and y that are one tensor on the way, or the tensor that the pass begins with.
SHARED = {
    "sum": lambda x, y, d: paddle.grad(x + y, [x, y], [d]),
    "recorded sum": lambda x, y, d: paddle.grad(x + y, [x, y], [d], create_graph=True),
    "twice": lambda x, y, d: paddle.grad(x + 0, [x, x], [d]),
    "itself": lambda x, y, d: [*paddle.grad(x, [x], [d]), *paddle.grad(y, [y], [d])],
    "views": lambda x, y, d: paddle.grad(x.reshape([3, 1]) + y.unsqueeze(1), [x, y], [d.reshape([3, 1])]),
    "total": lambda x, y, d: paddle.grad((x + y).sum(), [x, y]),
    "difference": lambda x, y, d: paddle.grad([x + y, x * 0], [x, y], [d, d]),
    "complex": lambda x, y, d: paddle.grad(x * (1 + 0j) + y * (1 + 0j), [x, y], [d * (1 + 0j)]),
}


@pytest.mark.parametrize("case", SHARED)
def test_gradients_that_grad_returns_change_alone(case):
    """In place, as where they are clipped; and what the pass was given stays."""

    def program(x, y):
        d = paddle.ones([3])
        first, second = SHARED[case](x, y, d)
        with paddle.no_grad():
            first.multiply_(paddle.full([3], 5.0))
        return first, second, d

    wraps: list[Any] = [lambda f: f, functools.partial(paddle.jit.to_static, full_graph=True)]
    for wrap in wraps[: 1 if case == "complex" else 2]:  # programs do not compute with complex numbers
        first, second, d = wrap(program)(leaf(1.0, 2.0, 3.0), leaf(1.0, 2.0, 3.0))
        assert (first.tolist(), second.tolist(), d.tolist()) == ([5.0] * 3, [1.0] * 3, [1.0] * 3)


def test_layers_return_and_take_lists():
    """A list of tensors among the results has gradients, which backward gets as a list; those of lists of operands may be one."""
    given = []

    class Mixed(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, others):
            (y,) = others
            return [x * 2, [y * 3, x * 5, "text"], 7, (y,)]

        @staticmethod
        def backward(ctx, first, listed, same):
            given.append([type(g).__name__ for g in (first, listed, same)])
            return first * 2 + listed[1] * 5, [listed[0] * 3 + same[0]]

    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    first, (second, third, text), number, (same,) = Mixed.apply(x, [y])
    assert (text, number, same is y) == ("text", 7, False)
    assert not any(out.stop_gradient for out in (first, second, third, same))
    (first + 10 * second + 100 * third + 1000 * same).sum().backward()
    assert given == [["Tensor", "list", "list"]]
    np.testing.assert_array_equal(x.grad.numpy(), [502.0, 502.0])
    np.testing.assert_array_equal(y.grad.numpy(), [1030.0, 1030.0])
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    Mixed.apply(x, [y])[1][0].sum().backward()  # the others get zeros
    np.testing.assert_array_equal(x.grad.numpy(), [0.0, 0.0])
    np.testing.assert_array_equal(y.grad.numpy(), [3.0, 3.0])


def test_layers_refuse_saved_tensors_that_have_changed():
    """As operators do: the gradient would be that of other values. Traced functions too."""

    class Exp(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x, unused=None):
            y = paddle.exp(x)
            ctx.save_for_backward(x, None, y)
            y.multiply_(paddle.ones([2]))  # before the call has ended
            return y

        @staticmethod
        def backward(ctx, dy):
            _, _, y = ctx.saved_tensor()
            return dy * y

    def program(x, change):
        x = x * 1
        y = Exp.apply(x)
        change(x, y)
        return y.sum()

    for wrap in (lambda f: f, functools.partial(paddle.jit.to_static, full_graph=True)):
        for change in (lambda x, y: y.multiply_(paddle.ones([2])), lambda x, y: x[:1].fill_(3.0)):
            with pytest.raises(ValueError, match=r"saved tensor [02] was changed in place after"):
                wrap(functools.partial(program, change=change))(leaf(0.0, 0.0)).backward()
        x = leaf(0.0, 0.0)
        wrap(functools.partial(program, change=lambda x, y: y + 1))(x).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [1, 1])


def test_layers_refuse_saved_tensors_that_have_changed_in_lists():
    class Square(paddle.autograd.PyLayer):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(2, [x, (y, None)])
            return y

        @staticmethod
        def backward(ctx, dy):
            _, (x, (y, _)) = ctx.saved_tensor()
            assert isinstance(y, paddle.Tensor)
            return dy * x * 2

    for change in (lambda x, y: x.add_(paddle.ones([2])), lambda x, y: y[:1].fill_(3.0)):
        x = leaf(1.0, 2.0) * 1
        y = Square.apply(x)
        change(x, y)
        with pytest.raises(ValueError, match="saved tensor 1 was changed in place after the call"):
            y.sum().backward()
    x = leaf(1.0, 2.0)
    Square.apply(x).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 4])


def test_the_same_dtype_keeps_the_gradient():
    x = leaf(1.0, 2.0)
    for same in (x.astype("float32"), +x, x.type_as(x), x.cast("float32"), x.contiguous(), x.to("cpu")):
        assert not same.stop_gradient
    for made in (x.cast("complex64"), paddle.complex(x, x), paddle.polar(x, x), x * 1j):
        assert not made.stop_gradient


def test_bounds():
    x = leaf(-3.0, -1.0, 0.0, 1.0, 3.0, 6.0)
    for function, wanted in [
        (paddle.nn.functional.relu6, [0, 0, 0, 1, 1, 0]),
        (paddle.nn.functional.hardtanh, [0, 0, 1, 0, 0, 0]),
        (paddle.nn.functional.celu, [np.exp(-3), np.exp(-1), 1, 1, 1, 1]),
        (paddle.nn.functional.hardswish, [0, 1 / 6, 0.5, 5 / 6, 1, 1]),
    ]:
        call: Any = function
        (found,) = paddle.grad(call(x).sum(), x)
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6, err_msg=call.__name__)


@pytest.mark.parametrize(
    ("function", "of_x"),
    [(paddle.maximum, [0, 0.5, 1]), (paddle.minimum, [1, 0.5, 0]), (paddle.fmax, [0, 1, 1]), (paddle.fmin, [1, 1, 0])],
)
def test_equals_share_a_gradient_or_the_first_has_it(function, of_x):
    x, y = leaf(1.0, 2.0, 3.0), leaf(2.0, 2.0, 2.0)
    dx, dy = paddle.grad(function(x, y).sum(), [x, y])
    np.testing.assert_array_equal(dx.numpy(), np.array(of_x, np.float32))
    np.testing.assert_array_equal(dy.numpy(), 1 - np.array(of_x, np.float32))


def test_leaves_stay_leaves():
    x = leaf(1.0, 2.0)
    for change in (lambda: x.reshape_([2, 1]), lambda: x.cast_("float64"), lambda: x.unsqueeze_(0), lambda: x.set_()):
        with pytest.raises(ValueError, match="leaf"):
            change()
    with paddle.no_grad():
        x.reshape_([2, 1])
    assert not x.stop_gradient
    assert x.is_leaf
    x.set_value(np.array([[5.0], [6.0]], "float32"))
    x.copy_(paddle.ones([2, 1]))
    assert not x.stop_gradient
    (x * 2).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [[2], [2]])


def test_two_devices():
    if not paddle.is_available():
        pytest.skip("no mps device")
    x = leaf(1.0, 2.0)
    y = x.to("mps")
    assert not y.stop_gradient
    (y * y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2, 4])
    assert x.grad.place == x.place
    number = leaf(3.0).sum().detach()
    number.stop_gradient = False
    (y * number).sum().backward()
    assert number.grad.item() == 3
    assert number.grad.place == number.place


def test_memory_returns_without_a_collection():
    gc.disable()
    try:
        x = paddle.ones([1 << 20])
        x.stop_gradient = False
        start = paddle.mps.memory_allocated("cpu")
        y = x
        for _ in range(20):
            y = paddle.exp(y) * 0.1
        assert paddle.mps.memory_allocated("cpu") > start + (75 << 20)
        del y
        assert paddle.mps.memory_allocated("cpu") <= start
    finally:
        gc.enable()


def test_long_chains():
    x = leaf(1.0)
    y = x
    for _ in range(50_000):
        y = y + 1.0
    y.backward()
    assert x.grad.item() == 1
    y = x
    for _ in range(50_000):
        y = y + 1.0
    del y


def test_threads():
    x = leaf(1.0, 2.0)

    def work():
        for _ in range(50):
            (x * x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.shape == [2]


def test_what_has_no_gradient_says_so():
    square = paddle.to_tensor([[2.0, 0.0], [0.0, 2.0]], stop_gradient=False)
    for function in (paddle.linalg.eig, paddle.linalg.svd_lowrank, paddle.standard_gamma):
        call: Any = function
        with pytest.raises(paddle.UnsupportedError, match="no gradient"):
            call(square)
        with paddle.no_grad():
            call(square)
    turned = square.T.detach()
    turned.stop_gradient = False
    with pytest.raises(paddle.UnsupportedError, match="contiguous"):
        paddle.as_strided(turned, [2], [1])
    with pytest.raises(TypeError, match="int64"):
        paddle.to_tensor([1, 2], stop_gradient=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        paddle.to_tensor([1.0]).backward()  # nothing to do, as in Paddle


@pytest.mark.parametrize(
    "function",
    [
        paddle.flatten, paddle.ravel, paddle.atleast_3d, lambda x: paddle.dstack([x, x]), lambda x: paddle.flatten(x.T, 1),
        lambda x: paddle.flatten(x.unsqueeze(1).expand([2, 4, 0]), 0, 1), lambda x: paddle.flatten(x.unsqueeze(0), 1),
    ],
)  # fmt: skip
def test_shapes_without_elements_keep_the_gradient(function):
    x = paddle.zeros([2, 0])
    x.stop_gradient = False
    y = function(x)
    assert y.numel().item() == 0 and not y.stop_gradient
    y.sum().backward()
    assert x.grad is not None and x.grad.shape == [2, 0]


@pytest.mark.parametrize(
    ("call", "kept"),
    [
        (lambda x, c: x * 2.0, 0),
        (lambda x, c: x * c, 1),
        (lambda x, c: c * x, 1),
        (lambda x, c: x @ c, 1),
        (lambda x, c: x * x, 1),
        (lambda x, c: paddle.nn.functional.conv2d(x.reshape([1, 1, 100, 100]), c[:3, :3].reshape([1, 1, 3, 3])), 1),
    ],
)
def test_of_products_what_no_gradient_reads_is_not_kept(call, kept):
    """Of a product with a constant, only the constant is kept; x and c are 40,000 bytes each."""
    x = paddle.to_tensor(np.ones((100, 100), "float32"), place="cpu", stop_gradient=False)
    c = paddle.to_tensor(np.full((100, 100), 2, "float32"), place="cpu")
    result = call(x, c)
    before = paddle.device.memory_allocated("cpu")
    del x, c
    freed = before - paddle.device.memory_allocated("cpu")
    assert (2 - kept) * 40000 <= freed < (2 - kept) * 40000 + 1000
    result.sum().backward()


def test_an_operand_that_no_gradient_reads_may_change():
    """Of x * c with a constant c, x may be changed in place, and c may not."""
    x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    c = paddle.to_tensor([3.0, 4.0])
    once, twice = x * c, x * c
    with paddle.no_grad():
        x.fill_(7.0)
    once.sum().backward()
    assert x.grad.tolist() == [3.0, 4.0]
    c.fill_(5.0)
    with pytest.raises(ValueError, match=r"\[multiply\] its operand 1, which the gradient reads, was changed in place"):
        twice.sum().backward()
