"""Every row that is a formula without a NumPy oracle in its description, against NumPy: answers and gradients.

A row without an entry in ORACLES fails. Gradients are compared with central differences of the oracle in float64, so that neither
the formula nor a rule of a gradient is on both sides. Operands come contiguous and as views, calls eager, repeated (the second
call of a kind is one program) and traced.
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import pytest
from oracles import ORACLES, TABLE, as_arguments, drawn, floats, rng, row_of, shares, tensors

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _call
from paddle_mps._calls import _operators as ops
from paddle_mps._core._errors import GradientError
from paddle_mps.selftest import suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORMULAS = [
    name
    for file in sorted((ROOT / "core/op/formula").glob("composites_*.go"))
    for name in re.findall(r"formula: *`(\w+)\(", file.read_text())
]
ROWS = [name for name in FORMULAS if not TABLE[name]["numpy"] and name != "glu"]  # glu is in test_composites.py

CASES = [
    pytest.param(name, setting, id=f"{name}-{i}") for name, o in ORACLES.items() for i, setting in enumerate(o.settings)
]
SLOPES = [
    case
    for case in CASES
    for oracle in [ORACLES[str(case.values[0])]]
    if not oracle.result and len(oracle.fixed) < len(oracle.operands())
]


def test_every_formula_has_an_oracle() -> None:
    assert len(FORMULAS) > 40 and len(set(FORMULAS)) == len(FORMULAS)
    assert set(ROWS) == {name.split("/")[0] for name in ORACLES}


def call(name: str, operands: list[Any], setting: list[Any]) -> Any:
    row = row_of(name)
    defaults = [a["default"] for a in row["attrs"]][len(setting) :]
    return getattr(ops, row["name"])(*as_arguments(name, operands), *setting, *defaults)


def listed(found: Any) -> list[Any]:
    """The results of a row, or those of its oracle."""
    return list(found) if isinstance(found, (list, tuple)) else [found]


def smooth(found: Any) -> list[Any]:
    """Those that are floats, and may have gradients."""
    return [
        t
        for t in listed(found)
        if (t.dtype.is_floating if isinstance(t, paddle.Tensor) else np.asarray(t).dtype.kind == "f")
    ]


PLACES = ["cpu", "mps:0"]


@pytest.fixture(params=PLACES)
def place(request: Any) -> str:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return str(request.param)


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_answers(name: str, setting: list[Any], place: str) -> None:
    arrays = drawn(name, setting)
    bounds = {"float32": 1e-5, "float16": 2e-2, "bfloat16": 1e-1, "float64": 1e-12}
    for dtype, bound in bounds.items():
        if (dtype == "float64" and place != "cpu") or dtype not in ("float32", *ORACLES[name].dtypes):
            continue
        for view in (False, True):
            given = tensors(arrays, dtype, place, view)
            first = listed(call(name, given, setting))
            held = [
                None if t is None else t.astype("float32").numpy() if t.dtype != paddle.float64 else t.numpy()
                for t in given
            ]
            wide = [
                h if h is None or h.dtype != "float32" or a.dtype != "float64" else h.astype("float64")
                for h, a in zip(held, arrays)
            ]
            wide = [a if a is not None and a.dtype.kind in "ib" else h for h, a in zip(wide, arrays)]
            exact = [np.asarray(e) for e in listed(ORACLES[name].numpy(*wide, *setting))]
            assert len(first) == len(exact) and first[0].dtype == getattr(paddle, ORACLES[name].result or dtype)
            for result, e in zip(first, exact):
                assert list(result.shape) == list(e.shape)
                got, e = result.astype("float64" if place == "cpu" else "float32").numpy(), e.astype("float64")
                np.testing.assert_allclose(got, e, rtol=bound, atol=bound * max(1, np.nanmax(np.abs(e), initial=0)))
            traced = paddle.jit.to_static(lambda *t: listed(call(name, list(t), setting)))
            again = [listed(call(name, given, setting)) for _ in range(2)]  # the second call of a kind is one program
            for found in [*again, *([traced(*given)] if None not in given else [])]:
                for got, want in zip(found, first):
                    np.testing.assert_array_equal(got.numpy(), want.numpy())


@pytest.mark.parametrize(("name", "setting"), CASES)
def test_result_in_the_memory_of_an_operand(name: str, setting: list[Any], place: str) -> None:
    """The result may lie where an operand does, or overlap it."""
    arrays, attributes = drawn(name, setting), row_of(name)["attrs"]
    for i, a in enumerate(arrays):
        given = tensors(arrays, "float32", place, False)
        first = call(name, given, setting)
        if isinstance(first, list):
            pytest.skip("several results have no memory in common")
        if a is None or a.dtype.kind != "f" or first.numel() > given[i].numel() or ORACLES[name].result:
            continue
        for start in (0, 1):
            memory = paddle.zeros([given[i].numel() + 1]).to(place)
            given[i] = memory[: memory.numel() - 1].reshape(given[i].shape).copy_(given[i])
            assert given[i].data_ptr() == memory.data_ptr()
            out = memory[start : start + first.numel()].reshape(first.shape)
            values = [*setting, *(a["default"] for a in attributes[len(setting) :])]
            chosen = suite.attributes(row_of(name), {a["name"]: v for a, v in zip(attributes, values)})
            _call.call_into(row_of(name)["id"], given, chosen, out)
            np.testing.assert_array_equal(
                out.numpy(), first.numpy(), err_msg=f"operand {i}, {start} behind its beginning"
            )
            given = tensors(arrays, "float32", place, False)


def slopes(function: Callable[..., Any], arrays: list[Any], wanted: list[int], weights: Any) -> list[Any]:
    """The gradients of the weighted sum of results, by central differences."""
    found = []
    for i in wanted:
        slope = np.zeros_like(arrays[i])
        for at in np.ndindex(*arrays[i].shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved: list[Any] = [None if a is None else np.array(a) for a in arrays]
                moved[i][at] += step
                ends.append(sum(np.nansum(f * w) for f, w in zip(smooth(function(*moved)), weights)))
            slope[at] = (ends[0] - ends[1]) / 2e-6
        found.append(slope)
    return found


@pytest.mark.parametrize(("name", "setting"), SLOPES)
def test_gradients(name: str, setting: list[Any]) -> None:
    oracle = ORACLES[name]
    if name == "p_norm" and setting[:1] == [0.0]:
        pytest.skip("a step function")
    arrays = drawn(name, setting)
    wanted = [i for i, a in enumerate(arrays) if a is not None and i not in oracle.fixed]
    weights = [rng.uniform(0.5, 2, np.shape(f)) for f in smooth(oracle.numpy(*arrays, *setting))]
    exact = slopes(lambda *a: oracle.numpy(*a, *setting), arrays, wanted, weights)

    def gradients(*t: Any) -> Any:
        found = smooth(call(name, list(t), setting))
        total = sum((f * paddle.to_tensor(np.asarray(w))).sum() for f, w in zip(found, weights))
        return paddle.grad(total, [t[i] for i in wanted], retain_graph=True)

    for view in (False, True):
        given = tensors(arrays, "float64", "cpu", view)
        for i in wanted:
            given[i].stop_gradient = False
        for _ in range(3):
            for got, want in zip(gradients(*given), exact):
                np.testing.assert_allclose(got.numpy(), np.nan_to_num(want), rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "setting"), SLOPES)
def test_gradients_of_gradients(name: str, setting: list[Any]) -> None:
    """Along a random direction: the derivative of the gradient is the difference of two gradients."""
    oracle = ORACLES[name]
    arrays = drawn(name, setting)
    wanted = [i for i, a in enumerate(arrays) if a is not None and i not in oracle.fixed]
    directions = {i: floats(*arrays[i].shape) for i in wanted}

    def gradient(step: float, create: bool = False) -> tuple[Any, Any]:
        moved = [a if i not in directions else a + step * directions[i] for i, a in enumerate(arrays)]
        given = tensors(moved, "float64", "cpu", False)
        for i in wanted:
            given[i].stop_gradient = False
        total = sum((f * f).sum() for f in smooth(call(name, given, setting)))
        return given, paddle.grad(total, [given[i] for i in wanted], create_graph=create, allow_unused=True)

    given, first = gradient(0.0, create=True)
    total = sum((g * paddle.to_tensor(np.asarray(directions[i]))).sum() for i, g in zip(wanted, first))
    if total.stop_gradient:
        pytest.skip("the gradient is the same for all operands")
    second = paddle.grad(total, [given[i] for i in wanted], allow_unused=True)
    got = sum(
        0 if s is None else float((s * paddle.to_tensor(np.asarray(directions[i]))).sum())
        for i, s in zip(wanted, second)
    )
    ends = [
        sum(float((g * paddle.to_tensor(np.asarray(directions[i]))).sum()) for i, g in zip(wanted, gradient(step)[1]))
        for step in (1e-6, -1e-6)
    ]
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-4)


# ---- What single calls gave once that was wrong


def test_numbers_beside_labels_of_small_integers_do_not_wrap_around(place: str) -> None:
    x = paddle.to_tensor(np.array([0.2, 0.7], "float32"), place=place)
    label = paddle.to_tensor(np.array([255, 1], "uint8"), place=place)
    np.testing.assert_allclose(F.hinge_embedding_loss(x, label, reduction="none").numpy(), [0, 0.7], rtol=1e-6)
    many = paddle.to_tensor(np.array([2, 0], "uint8"), place=place)
    wanted = F.multi_label_soft_margin_loss(x, many.astype("float32")).numpy()
    for dtype in ("uint8", "int8", "int32", "int64"):
        got = F.multi_label_soft_margin_loss(x, many.astype(dtype))
        np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_operands_that_may_be_left_out_do_not_decide_the_dtype(dtype: str, place: str) -> None:
    x, y = (paddle.to_tensor(shares(3, 4).astype("float32"), place=place).astype(dtype) for _ in range(2))
    weight = paddle.ones([4]).to(place)
    for got in (
        F.binary_cross_entropy(x, y, weight),
        F.binary_cross_entropy_with_logits(x, y, weight, pos_weight=weight),
        F.multi_label_soft_margin_loss(x, y, weight),
        F.sigmoid_focal_loss(x, y, weight[:1]),
        F.cosine_similarity(x, y.astype("float32")),
        F.pairwise_distance(x, y.astype("float32")),
    ):
        assert got.dtype == getattr(paddle, dtype)


def test_none_is_no_reduction() -> None:
    x, nothing = paddle.ones([2, 2]), cast(Any, None)
    for function in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.soft_margin_loss, F.binary_cross_entropy_with_logits):
        with pytest.raises(ValueError, match=r"reduction is None; want one of 'mean', 'sum', 'none'"):
            function(x, x, reduction=nothing)
    assert F.kl_div(x, x, reduction=nothing).shape == [2, 2]
    np.testing.assert_allclose(F.normalize(x, axis=nothing).numpy(), np.full((2, 2), 0.5))
    with pytest.raises(TypeError, match="ignore_index"):
        F.nll_loss(x, paddle.zeros([2], "int64"), ignore_index=nothing)
    assert paddle.std(x, unbiased=nothing) == 0


def test_losses_of_classes_are_saved_for_any_batch(tmp_path: Any) -> None:
    spec = [paddle.static.InputSpec([None, 3], "float32"), paddle.static.InputSpec([None], "int64")]
    function = paddle.jit.to_static(lambda x, label: F.nll_loss(x, label), input_spec=spec)
    paddle.jit.save(function, str(tmp_path / "loss"), input_spec=spec)
    loaded = paddle.jit.load(str(tmp_path / "loss"))
    for n in (1, 2, 5):
        x, label = paddle.to_tensor(floats(n, 3).astype("float32")), paddle.to_tensor(rng.integers(0, 3, n))
        np.testing.assert_array_equal(loaded(x, label).numpy(), F.nll_loss(x, label).numpy())


def test_later_errors_name_the_function_that_was_called() -> None:
    """A row that is a part of a function is no name that a program knows."""
    x, mean, variance = paddle.ones([2, 3]), paddle.zeros([3]), paddle.ones([3])
    x.stop_gradient = False
    result = F.batch_norm(x, mean, variance)
    variance.add_(paddle.ones([3]))
    with pytest.raises(GradientError, match=r"\[batch_norm\] its operand .* was changed in place"):
        result.sum().backward()
    result = paddle.var(x)
    result.backward()
    with pytest.raises(GradientError, match=r"\[var\] a backward pass has gone through"):
        result.backward()


def test_scale_takes_numbers_that_are_no_floats(place: str) -> None:
    """Large integers, integers that wrap in the dtype, complex numbers, and a bias that is a tensor, with its gradient."""
    large = 2**60 + 1
    x = paddle.to_tensor([1, 3], dtype="int64").to(place)
    np.testing.assert_array_equal(paddle.scale(x, large).numpy(), [large, 3 * large])
    np.testing.assert_array_equal(paddle.scale(x, 1, large, bias_after_scale=False).numpy(), [large + 1, large + 3])
    np.testing.assert_array_equal(paddle.scale(x.astype("uint8"), -1).numpy(), [255, 253])
    np.testing.assert_array_equal(paddle.scale(x.astype("int8"), 300).numpy(), [44, -124])
    scale: Callable[..., Any] = paddle.scale
    np.testing.assert_array_equal(scale(paddle.to_tensor([1j]), 2j, 1).numpy(), [-1])
    bias = paddle.to_tensor(2.0, stop_gradient=False).to(place)
    given = paddle.ones([2, 3]).to(place)
    for function in (scale, paddle.jit.to_static(lambda *given: scale(*given), full_graph=True)):
        made = function(given, 3.0, bias)
        np.testing.assert_array_equal(made.numpy(), np.full((2, 3), 5))
        np.testing.assert_array_equal(paddle.grad(made.sum(), bias)[0].numpy(), 6)


def test_complex_numbers_are_indexed_and_added() -> None:
    x, index = np.array([[1j, 2], [3, 4j]]), np.array([[1, 0], [0, 0]])
    c, i = paddle.to_tensor(x, stop_gradient=False), paddle.to_tensor(index)
    wanted = np.take_along_axis(x, index, 1)
    traced = paddle.jit.to_static(lambda x, i: paddle.index_sample(x, i), full_graph=True)
    for got in (paddle.take_along_axis(c, i, 1), paddle.index_sample(c, i), traced(c.detach(), i)):
        np.testing.assert_array_equal(got.numpy(), wanted)
    np.testing.assert_array_equal(paddle.grad(paddle.index_sample(c, i).real().sum(), c)[0].numpy(), [[1, 1], [2, 0]])
    np.testing.assert_allclose(paddle.nansum(c).numpy(), x.sum())
    single = paddle.nansum(c, axis=0, dtype="complex64", keepdim=True)
    assert single.dtype == paddle.complex64
    np.testing.assert_allclose(single.numpy(), x.sum(0, keepdims=True))


def test_a_formula_has_gradients_of_more_operands_than_a_number_has_bits(place: str) -> None:
    many = [paddle.full([2, 2], float(i)).to(place) for i in range(70)]
    index = paddle.to_tensor(np.array([[66], [3]], "int32"), place=place)
    wanted = [many[i] for i in (3, 65, 66)]
    for x in wanted:
        x.stop_gradient = False
    for _ in range(3):  # the second call is one program
        made = paddle.multiplex(many, index)
        np.testing.assert_array_equal(made.numpy(), [[66, 66], [3, 3]])
        slopes = [d.tolist() for d in paddle.grad(made.sum(), wanted)]
        assert slopes == [[[0, 0], [1, 1]], [[0, 0], [0, 0]], [[1, 1], [0, 0]]]


def test_complex_numbers_are_moved_and_summed() -> None:
    x = np.array([[1j, 2, 3], [4, 5j, 6]])
    c = paddle.to_tensor(x, stop_gradient=False)
    weights = paddle.to_tensor(np.arange(12.0).reshape(4, 3))
    calls: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "roll": (lambda t: paddle.roll(t, 1, 1), np.roll(x, 1, 1), [[1, 2, 0], [4, 5, 3]]),
        "fftshift": (paddle.fft.fftshift, np.fft.fftshift(x), [[4, 5, 3], [1, 2, 0]]),
        "repeat_interleave": (lambda t: paddle.repeat_interleave(t, 2, 0), x.repeat(2, 0), [[3, 5, 7], [15, 17, 19]]),
        "flatten": (lambda t: paddle.flatten(t).reshape([2, 3]), x, [[0, 1, 2], [3, 4, 5]]),
        "add_n": (lambda t: paddle.add_n([t, t]), x + x, [[0, 2, 4], [6, 8, 10]]),
        "diagonal": (lambda t: paddle.diagonal(t, 1)[None].expand([2, 2]), [[2, 6]] * 2, [[0, 3, 0], [0, 0, 5]]),
    }
    for name, (call, wanted, slope) in calls.items():
        for _ in range(3):
            made = call(c)
            np.testing.assert_array_equal(made.numpy(), wanted, err_msg=name)
            rows, columns = made.shape
            got = paddle.grad((made.real() * weights[:rows, :columns]).sum(), c)[0]
            np.testing.assert_array_equal(got.numpy(), slope, err_msg=name)


def test_an_axis_of_more_slices_than_a_call_has_results_is_unstacked(place: str) -> None:
    x = paddle.arange(5000).to(place)
    assert [int(t) for t in paddle.unstack(x, 0, 5000)[4094:4099]] == [4094, 4095, 4096, 4097, 4098]
    with pytest.raises(ValueError, match=r"^\[unstack\]"):
        paddle.unstack(x, 0, 4999)


def test_flattened_and_diagonal_elements_are_views(place: str) -> None:
    x = paddle.zeros([3, 4]).to(place)
    paddle.flatten(x).add_(paddle.ones([12]).to(place))
    paddle.diagonal(x, 1).multiply_(paddle.full([3], 5.0).to(place))
    np.testing.assert_array_equal(x.numpy(), np.ones((3, 4)) + np.eye(3, 4, 1) * 4)
    for part in paddle.unstack(x, 0):
        part.zero_()
    assert x.sum() == 24


def test_medians_of_integers_without_nan_are_exact(place: str) -> None:
    for dtype, low in (("int64", 2**60 + 1), ("int32", 2**24 + 1), ("uint8", 201)):
        for values, wanted in (([low, low, 3], low), ([low, low], low), ([low + 2, low], low + 1)):
            x = paddle.to_tensor(np.array(values, dtype), place=place)
            got = paddle.nanmedian(x)
            assert (got.dtype, int(got)) == (x.dtype, wanted)
    with pytest.raises(NotImplementedError, match="bool"):
        paddle.nanmedian(paddle.to_tensor([True, False]))


def test_a_place_in_the_order_is_found_of_bools(place: str) -> None:
    values, _ = paddle.kthvalue(paddle.to_tensor([[True, False, True]], place=place), 2)
    assert values.dtype == paddle.bool and values.tolist() == [True]


@pytest.mark.parametrize("shape", [(3, 0, 0), (0, 2, 0), (2, 0, 3), (0, 0), (0, 3)])
def test_inner_has_the_shape_of_all_axes_but_the_last(shape: tuple[int, ...], place: str) -> None:
    x = paddle.zeros(shape).to(place)
    x.stop_gradient = False
    for y in (x, paddle.ones([4, shape[-1]]).to(place)):
        got = paddle.inner(x, y)
        np.testing.assert_array_equal(got.numpy(), np.inner(np.zeros(shape), y.numpy()))
        assert paddle.grad(got.sum(), x)[0].shape == list(shape)


def test_offsets_far_outside_leave_nothing(place: str) -> None:
    x = paddle.ones([2, 3]).to(place)
    for offset in (-(2**63), 2**63 - 1, -5, 5):
        assert paddle.trace(x, offset) == 0
        wanted = 6 if offset > 0 else 0
        assert (float(paddle.tril(x, offset).sum()), float(paddle.triu(x, offset).sum())) == (wanted, 6 - wanted)


def test_linear_of_halves_is_of_halves(place: str) -> None:
    """Also beside parameters of another dtype."""
    for dtype, other in (("float16", "float32"), ("bfloat16", "float32"), ("bfloat16", "float16")):
        x, w, b = paddle.ones([2, 3]), paddle.ones([3, 4]), paddle.ones([4])
        got = F.linear(x.to(place).astype(dtype), w.to(place).astype(other), b.to(place))
        assert got.dtype == getattr(paddle, dtype)
        np.testing.assert_array_equal(got.astype("float32").numpy(), np.full((2, 4), 4))


def test_labels_out_of_range_name_the_function() -> None:
    x, label = paddle.ones([2, 3]).cpu(), paddle.to_tensor([0, 7], place="cpu")
    for function in (F.cross_entropy, F.multi_margin_loss):
        for _ in range(3):  # the second call is one program
            with pytest.raises(ValueError, match=rf"^\[{function.__name__}\] index 7 is out of range"):
                function(x, label)
    with pytest.raises(ValueError, match=r"^\[softmax_with_cross_entropy\] index 7 is out of range"):
        F.softmax_with_cross_entropy(x, label.unsqueeze(1))
    one, far, scores = paddle.ones([1], "int64").cpu(), label[1:].unsqueeze(0), paddle.ones([1, 1, 2, 3]).cpu()
    calls: list[tuple[Any, Any]] = [
        (F.ctc_loss, (scores[0][:, :1], far, one, one)),
        (F.rnnt_loss, (scores, far, one, one)),
        (F.gather_tree, (far.expand([2, 1, 1]), far.expand([2, 1, 1]))),
    ]
    for sequences, operands in calls:
        for _ in range(3):
            with pytest.raises(ValueError, match=rf"^\[{sequences.__name__}\] index 7 is out of range"):
                sequences(*operands)


def test_operands_that_a_gradient_does_not_depend_on_may_be_written_later(place: str) -> None:
    """As in Paddle: a program writes into what tril, a sum or a table of rows was called with, and goes backward."""
    labels, rows = paddle.to_tensor([0, 2], place=place), paddle.to_tensor([[0, 1, 1], [2, 0, 1]], place=place)
    calls: dict[str, Callable[..., Any]] = {
        "tril": lambda x, y: paddle.tril(x), "trace": lambda x, y: paddle.trace(x), "diff": lambda x, y: paddle.diff(x),
        "scale": lambda x, y: paddle.scale(x, 2.0, 1.0), "rad2deg": lambda x, y: paddle.rad2deg(x),
        "take_along_axis": lambda x, y: paddle.take_along_axis(x, rows, 1), "embedding": lambda x, y: F.embedding(labels % 2, x),
        "addmm": lambda x, y: paddle.addmm(x, paddle.ones([2, 4]).to(place), paddle.ones([4, 3]).to(place)),
        "linear": lambda x, y: F.linear(y.detach() @ y.detach().T, paddle.ones([2, 3]).to(place), x[0]),
        "frac": lambda x, y: paddle.frac(x), "l1_loss": lambda x, y: F.square_error_cost(y, y.detach()) + paddle.triu(x),
    }  # fmt: skip
    for name, call in calls.items():
        for _ in range(3):  # the second call is one program
            leaf = paddle.to_tensor(floats(2, 3).astype("float32"), place=place, stop_gradient=False)
            x, y = leaf * 1, paddle.ones([2, 3]).to(place)
            wanted = paddle.grad(call(leaf, y).sum(), leaf)[0].numpy()
            made = call(x, y)
            x.zero_()
            made.sum().backward()
            np.testing.assert_array_equal(leaf.grad.numpy(), wanted, err_msg=name)
    for call in (lambda x: paddle.hypot(x, x), lambda x: F.cross_entropy(x, labels), lambda x: paddle.kron(x, x)):
        leaf = paddle.to_tensor(floats(2, 3).astype("float32"), place=place, stop_gradient=False)
        x = leaf * 1
        made = call(x)
        x.zero_()
        with pytest.raises(RuntimeError, match="was changed in place after the call"):
            made.sum().backward()
