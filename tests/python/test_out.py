"""Operators with `out`: where they compute, and that the answer does not depend on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps
from paddle_mps._calls import _call, _operators
from paddle_mps.selftest import aliases, suite

T = paddle.to_tensor
PLACES = ["cpu", "mps"]
REAL = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
NAMES = [
    row.name
    for row in _call._operators.values()
    if row.keeps and row.lead == 0 and getattr(_operators, row.name, None) in _call._operators
]


def operands(name: str, dtype: str, place: str) -> list[paddle.Tensor]:
    """Tensors without zeros, which integers cannot be divided by."""
    count = len(_call._operators[getattr(_operators, name)].operands)
    values = np.array([[1, 2, 3], [3, 1, 2]])
    return [T(values + i, place=place).astype(dtype) for i in range(count)]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", sorted(set(NAMES)))
def test_out_has_the_result_and_its_dtype(name: str, place: str) -> None:
    """The oracle is the call without out. The dtype of out is right, or wrong, and then replaced."""
    function = getattr(_operators, name)
    for dtype in REAL:
        if dtype == "float64" and place == "mps":
            continue
        given = operands(name, dtype, place)
        try:
            want = function(*given)
        except (TypeError, paddle.UnsupportedError):
            continue
        for kind in {dtype, "bool", "float32", "int32"}:
            out = paddle.zeros(want.shape, kind, place=place)
            assert _call.computed(out, function, *given) is out
            assert out.dtype == want.dtype
            assert out.numpy().tobytes() == want.numpy().tobytes()


@pytest.mark.parametrize(
    "call", ["add(x, y, out=o)", "multiply(x, y, out=o)", "exp(x, out=o)", "less_than(x, y, out=b)"]
)
def test_the_result_gets_no_memory_of_its_own(call: str) -> None:
    """Views of out show the result, and no block is allocated beside x, y and out."""
    x, y, o = (paddle.ones([1 << 18], place="mps") for _ in range(3))
    b = paddle.zeros([1 << 18], "bool", place="mps")
    names: dict[str, Any] = {"x": x, "y": y, "o": o, "b": b}
    paddle.device.synchronize("mps")
    mps.reset_peak_memory_stats()
    before = mps.max_memory_allocated()
    eval(f"paddle.{call}", {"paddle": paddle}, names)
    paddle.device.synchronize("mps")
    assert mps.max_memory_allocated() == before


@pytest.mark.parametrize("place", PLACES)
def test_out_may_overlap_an_operand(place: str) -> None:
    """The operator reads what its operands were before the call."""
    for way, parts in (("+", (slice(1, None), slice(None, -1))), ("-", (slice(None, None, -1), slice(None)))):
        x = paddle.arange(100000.0, dtype="float32").to(place)
        out, given = x[parts[0]], x[parts[1]]
        want = given.numpy() + given.numpy()
        paddle.add(given, given, out=out)
        assert np.array_equal(out.numpy(), want), way
    x = paddle.ones([3], place=place)
    assert paddle.add(x, x, out=x) is x
    assert x.tolist() == [2, 2, 2]


@pytest.mark.parametrize("place", PLACES)
def test_out_may_be_strided(place: str) -> None:
    base = paddle.zeros([3, 4], place=place)
    x = T([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], place=place)
    paddle.multiply(x, x, out=base[:, ::2].T)
    assert base.tolist() == [[1, 0, 16, 0], [4, 0, 25, 0], [9, 0, 36, 0]]


@pytest.mark.parametrize("place", PLACES)
def test_out_of_another_shape_is_replaced(place: str) -> None:
    x, row = paddle.ones([2, 3], place=place), paddle.ones([3], place=place)
    for given in ((x, row), (row, x), (x, x)):
        out = paddle.zeros([3], place=place)
        alias = out[:]
        assert paddle.add(*given, out=out).tolist() == [[2, 2, 2]] * 2
        assert alias.tolist() == [0, 0, 0]
    out = paddle.zeros([2, 3], place=place)
    alias = out[:]
    paddle.add(x, row, out=out)
    assert alias.tolist() == [[2, 2, 2]] * 2


def test_an_error_leaves_out_as_it_was() -> None:
    """The quotient by the last element is the error; the elements before it are not written."""
    x, y = paddle.ones([100000], "int64"), paddle.ones([100000], "int64")
    y[-1] = 0
    out = paddle.full([100000], 7, "int64")
    with pytest.raises(paddle.IntegerDivisionError, match=r"\[floor_divide\]"):
        paddle.floor_divide(x, y, out=out)
    assert (out == 7).all()
    with pytest.raises(ValueError, match=r"\[add\] got tensors on cpu and on mps:0"):
        paddle.add(x, paddle.ones([100000], "int64", place="mps"), out=out)
    with pytest.raises(ValueError, match=r"\[exp\] argument out is list; want a Tensor"):
        paddle.exp(T([1.0]), out=[1.0])  # type: ignore[arg-type]
    windows = paddle.zeros([4]).unfold(0, 2, 1)
    with pytest.raises(ValueError, match="overlap"):
        paddle.exp(paddle.ones([3, 2]), out=windows)


def test_gradients_pass_through_out() -> None:
    x = T([1.0, 2.0], stop_gradient=False)
    out = paddle.zeros([2])
    paddle.multiply(x, x, out=out)
    out.sum().backward()
    assert x.grad.tolist() == [2, 4]


@pytest.mark.parametrize("place", PLACES)
def test_outputs_over_the_operands_of_internal_rows(place: str) -> None:
    """The rows that the conformance suite cannot try, because the table has no attributes for them."""

    def agree(where: str, _: Any, got: Any, want: Any, dtype: str) -> None:
        np.testing.assert_array_equal(got, want, f"{where}, {dtype}")

    x = T(np.arange(1, 7, dtype=np.float32).reshape(2, 3), place=place)
    cases: list[tuple[str, dict[str, Any]]] = [
        ("bitcast", {"dtype": "float32"}),
        ("spread", {"shape": [4, 6], "axes": [0, 1], "starts": [0, 1], "ends": [4, 6], "steps": [2, 2]}),
        ("spread", {"shape": [3, 3], "axes": [0], "starts": [1], "ends": [3]}),
    ]
    for name, given in cases:
        row = suite.BY_NAME[name]
        aliases.check(row, [x], suite.attributes(row, given), agree)
