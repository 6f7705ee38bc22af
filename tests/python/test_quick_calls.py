"""Functions that take a shorter way for the arguments that programs usually pass: it answers and refuses what the longer one does."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps
from paddle_mps._core import _place

paddle: Any = paddle_mps  # arguments that the annotations do not name, too

X = paddle.arange(8, dtype="float32")
I = paddle.to_tensor([3, 1])  # noqa: E741


def length(start: float, end: float, step: float, dtype: type[Any]) -> int:
    """The length of arange, every number and operation in the dtype."""
    first, last, size = dtype(start), dtype(end), dtype(step)
    return max(math.ceil(float((last - first) / size)), 0)


@pytest.mark.parametrize(("name", "dtype"), [("float32", np.float32), ("float64", np.float64)])
def test_the_length_of_arange_is_computed_in_the_dtype(name: str, dtype: type[Any]) -> None:
    draw = random.Random(20)
    steps = [0.1, 0.5, 0.25, 0.3, 1.0, 1 / 1024, 3 / 1024, 1 / 1023, 7.0, 1e-3]
    for _ in range(2000):
        step = draw.choice(steps) * draw.choice([1, -1])
        start = draw.choice([draw.uniform(-9, 9), draw.randrange(-64, 64) / 8, 0.0, 4095.5])
        end = draw.choice([start + step * draw.randrange(50), draw.uniform(-9, 9), start + draw.randrange(-16, 16) / 4])
        if abs((end - start) / step) < 1e5:
            found = paddle.arange(start, end, step, dtype=name).shape[0]
            assert found == length(start, end, step, dtype), (start, end, step)


def test_the_longer_and_the_shorter_way_give_the_same() -> None:
    pairs: list[tuple[Any, Any]] = [
        (paddle.full([2], 1), paddle.full(paddle.to_tensor([2]), np.float32(1))),
        (paddle.full(size=[2], fill_value=1.5), paddle.full((2,), "1.5")),
        (paddle.zeros([2, 3]), paddle.zeros(2, 3)),
        (paddle.ones([2], dtype="int64"), paddle.ones(size=[2], dtype=paddle.int64)),
        (paddle.zeros_like(X), paddle.zeros_like(input=X, dtype="float32")),
        (paddle.full_like(X, 2.0), paddle.full_like(X, paddle.to_tensor(2.0))),
        (paddle.arange(5, 0, -2), paddle.arange(np.int64(5), 0, -2)),
        (paddle.linspace(0, 1, 3), paddle.linspace(paddle.to_tensor(0), end=1.0, steps=3.0)),
        (paddle.pow(X, 2.0), paddle.pow(X, np.float32(2.0))),
        (X.pow(2), paddle.pow(input=X, exponent=2)),
        (paddle.copysign(X, -1.0), paddle.copysign(input=X, other=-1)),
        (paddle.cumprod(X, 0), paddle.cumprod(input=X, dim=np.int64(0))),
        (paddle.gather(X, I), paddle.gather(X, 0, I)),
        (paddle.gather(X, index=I, axis=0), paddle.gather(X, dim=0, index=I)),
        (X @ X, paddle.matmul(X, X)),
        (X.to("float64"), X.to(dtype=paddle.float64)),
        (paddle.nn.functional.gelu(input=X), paddle.nn.functional.gelu(X, "none")),
        (paddle.as_strided(X, [2, 2], [2, 1]), X[:4].reshape([2, 2])),
    ]
    for quick, other in pairs:
        assert quick.dtype == other.dtype and quick.shape == other.shape
        assert quick.tolist() == other.tolist()


def test_requires_grad() -> None:
    for made in (paddle.full([2], 1.0, requires_grad=True), paddle.arange(3.0, requires_grad=True)):
        assert not made.stop_gradient
    assert not paddle.linspace(0, 1, 3, requires_grad=True).stop_gradient
    assert not paddle.zeros([2], requires_grad=True).stop_gradient


def test_set_device_and_set_default_dtype_are_followed() -> None:
    try:
        paddle.set_device("mps")
        assert [paddle.zeros([2]).place, paddle.arange(2).place] == [paddle.MPSPlace(0)] * 2
        paddle.set_device("cpu")
        assert paddle.full([2], 1.0).place == paddle.CPUPlace()
        paddle.set_default_dtype("float64")
        assert paddle.zeros([2]).dtype == paddle.linspace(0, 1, 3).dtype == paddle.arange(2.0).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
        paddle.set_device("cpu")


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "full, no value": (lambda: paddle.full([2]), TypeError, "fill_value"),
    "full, two shapes": (lambda: paddle.full([2], 1, size=[2]), TypeError, r"\[full\]"),
    "zeros, a dtype": (lambda: paddle.zeros([2], dtype="none"), TypeError, r"\[zeros\]"),
    "zeros, negative": (lambda: paddle.zeros([-2]), ValueError, r"\[zeros\]"),
    "linspace, no num": (lambda: paddle.linspace(0, 1), TypeError, "num"),
    "linspace, no stop": (lambda: paddle.linspace(0, num=2), TypeError, "stop"),
    "copysign, no y": (lambda: paddle.copysign(X), TypeError, "'y'"),
    "cumprod, the axis": (lambda: paddle.cumprod(X, 1), ValueError, r"\[cumprod\]"),
    "gather, twice": (lambda: paddle.gather(X, I, index=I), TypeError, "index"),
    "gather, the axis twice": (lambda: paddle.gather(X, I, 0, axis=0), TypeError, "axis"),
    "arange, a step of 0": (lambda: paddle.arange(0, 4, 0), ValueError, r"\[arange\]"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    call, error, text = REFUSED[name]
    with pytest.raises(error, match=text):
        call()


def test_what_is_recorded_keeps_its_attributes_when_other_calls_follow() -> None:
    """The memory of a call's attributes is used again by the next."""
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    for _ in range(3):  # also from where the recipe of the call is kept
        y = paddle.sum(x, axis=[0], keepdim=True) * paddle.to_tensor([1.0, 10.0])
        for axis in (0, 1):
            paddle.max(x.detach(), axis=[axis])
            paddle.nn.functional.softmax(x.detach(), axis=axis)
        y.sum().backward()
    assert x.grad is not None and x.grad.tolist() == [[3.0, 30.0], [3.0, 30.0]]


def test_the_import_loads_no_module_that_is_for_few_programs() -> None:
    program = "import sys, numpy; before = set(sys.modules); import paddle_mps; print(*(set(sys.modules) - before))"
    loaded = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.split()
    assert not {"signal", "subprocess", "inspect", "ssl", "multiprocessing"} & set(loaded)


def test_the_end_of_a_guard_leaves_a_place_to_calls_of_other_threads() -> None:
    """They look whether there is one, and then which: it may change between, and not go."""
    before = _place.chosen()
    paddle_mps.zeros([1])
    try:
        _place.set_current(None)
        with paddle_mps.device.device_guard("cpu"):
            assert _place.here == [paddle_mps.CPUPlace()]
        assert len(_place.here) == 1 and _place.chosen() is None
    finally:
        _place.set_current(before)


def test_view_with_a_dtype_is_the_same_in_each_spelling() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0, 4.0])
    wanted = x.numpy().view("int32").tolist()
    for made in (
        x.view("int32"),
        x.view(paddle.int32),
        paddle.view(x, "int32"),
        paddle.view(x, shape_or_dtype="int32"),
    ):
        assert made.dtype == "int32" and made.tolist() == wanted
    x.view("int32")[0] = 0
    assert x.tolist() == [0.0, 2.0, 3.0, 4.0]  # the memory is shared
    assert x.view("float32") is x
    with pytest.raises(ValueError, match=r"^\[view\] .*divide"):
        paddle.ones([3]).view("float64")
    with pytest.raises(TypeError, match="want one of"):
        x.view("float31")


def test_index_put_with_one_index_writes_as_with_several() -> None:
    for accumulate in (False, True):
        x, y = paddle.zeros([4, 2]), paddle.zeros([4, 2])
        value = paddle.to_tensor([1.0, 2.0])
        paddle.index_put_(x, (paddle.to_tensor([2, 0]),), value, accumulate)
        columns = paddle.to_tensor([[0, 1]])
        paddle.index_put_(y, (paddle.to_tensor([[2], [0]]), columns), value, accumulate)
        assert x.tolist() == y.tolist() == [[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [0.0, 0.0]]
