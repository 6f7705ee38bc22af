"""In-place forms: where they compute, and that the answer is that of the function without an underscore."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps

T = paddle.to_tensor
PLACES = ["cpu", "mps"]
REAL = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "digamma", "erf", "exp", "expm1", "floor", "log", "log10", "log1p", "log2",
    "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sin", "sinh", "sqrt", "square", "tan", "tanh", "trunc",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "copysign", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "equal", "less_than", "logical_and", "gcd",
]  # fmt: skip


def made(dtype: str, place: str, shape: tuple[int, ...], first: int = 1) -> paddle.Tensor:
    """Numbers from 1 to 6, so that integers can be divided by them."""
    count = int(np.prod(shape))
    return T((np.arange(first, first + count) % 6 + 1).reshape(shape), place=place).astype(dtype)


def bits(x: paddle.Tensor) -> tuple[Any, bytes]:
    return x.dtype, x.numpy().tobytes()


def dtypes_of(place: str) -> list[str]:
    return [d for d in REAL if place == "cpu" or d != "float64"]


def agrees(x: paddle.Tensor, name: str, *arguments: Any) -> None:
    """The form with an underscore gives x the value that the other one returns, and returns x; a view of x has it, too.

    It refuses what the other one refuses, and results of another shape.
    """
    function: Callable[..., paddle.Tensor] = getattr(paddle.Tensor, name)
    before = bits(x)
    refusal: type[Exception] | None = None
    try:
        want = function(x, *arguments)
        refusal = None if want.shape == x.shape else ValueError
    except (TypeError, ValueError, paddle.UnsupportedError) as error:
        refusal = type(error)
    if refusal is not None:
        with pytest.raises(refusal):
            getattr(x, name + "_")(*arguments)
        assert bits(x) == before
        return
    seen = x[...]
    assert getattr(x, name + "_")(*arguments) is x
    assert bits(x) == bits(want)
    if want.dtype == before[0]:
        assert bits(seen) == bits(want)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_operand(name: str, place: str) -> None:
    for dtype in dtypes_of(place):
        for shape in ((), (0, 2), (2, 3), (5000,)):
            agrees(made(dtype, place, shape), name)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_operands(name: str, place: str) -> None:
    """Of each pair of dtypes; one that the dtype of the result has to differ for is refused, or gives x another dtype."""
    for dtype in dtypes_of(place):
        for other in dtypes_of(place):
            agrees(made(dtype, place, (2, 3)), name, made(other, place, (2, 3), 2))
        for shape in ((), (1,), (3,), (2, 1), (4, 2, 3)):
            agrees(made(dtype, place, (2, 3)), name, made(dtype, place, shape, 2))
        agrees(made(dtype, place, (3,)), name, made(dtype, place, (2, 3)))
        if dtype != "bool":
            for number in (2, 2.5, True):
                agrees(made(dtype, place, (2, 3)), name, number)


@pytest.mark.parametrize("place", PLACES)
def test_functions_with_attributes(place: str) -> None:
    for dtype in dtypes_of(place):
        for bounds in (
            (2, 4),
            (2.5, 4.5),
            (None, 3),
            (2, None),
            (made(dtype, place, ()), None),
            (T([3.5]), None),
            (4.5, 2),
        ):
            if dtype.startswith("float") or all(isinstance(b, int) for b in bounds):
                agrees(made(dtype, place, (2, 3)), "clip", *bounds)
        x = made(dtype, place, (2, 3)) - made(dtype, place, (), 2) if dtype != "bool" else made(dtype, place, (2, 3))
        functional = paddle.nn.functional
        if dtype.startswith(("float", "bfloat")):
            want = functional.leaky_relu(x, 0.5)
            assert functional.leaky_relu_(x, 0.5) is x and bits(x) == bits(want)
            want = functional.silu(x)
            assert functional.silu(x, True) is x and bits(x) == bits(want)


IN_PLACE = [
    "x.add_(y)", "x.subtract_(y[0])", "x.multiply_(y[:, :1])", "x.divide_(y)", "x.exp_()", "x.clip_(0.0, 2.0)", "x.pow_(2.0)",
    "x.round_()", "x.copysign_(y)", "x.T.tanh_()", "x[::2].add_(y[::2])", "paddle.nn.functional.relu_(x)",
]  # fmt: skip


@pytest.mark.parametrize("call", IN_PLACE)
def test_no_memory_is_allocated(call: str) -> None:
    x, y = (paddle.ones([1 << 9, 1 << 9], place="mps") for _ in range(2))
    names = {"paddle": paddle, "x": x, "y": y}
    paddle.device.synchronize("mps")
    mps.reset_peak_memory_stats()
    before = mps.max_memory_allocated()
    eval(call, names)
    paddle.device.synchronize("mps")
    assert mps.max_memory_allocated() == before


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", [10, 100_000])
def test_an_operand_may_overlap_the_tensor(place: str, count: int) -> None:
    """The operator reads what its operands were before the call."""
    base = np.arange(count, dtype=np.float32)
    for change in (
        lambda x: x.add_(x[::-1]),
        lambda x: x[1:].subtract_(x[:-1]),
        lambda x: x[:-1].multiply_(x[1:]),
        lambda x: x.add_(x),
        lambda x: x.add_(x[3]),
        lambda x: x.reshape([2, -1]).T.add_(x.reshape([2, -1])[::-1].T),
    ):
        x = T(base, place=place)
        change(x)
        want = Copied(base)
        change(want)
        assert np.array_equal(x.numpy(), want.array)


class Copied:
    """An array with the methods of tensors that the test above calls. Operands are copied before anything is written."""

    def __init__(self, array: Any) -> None:
        self.array = array if array.base is not None else array.copy()

    def __getitem__(self, item: Any) -> Copied:
        made = Copied.__new__(Copied)
        made.array = self.array[item]
        return made

    def _view(self, array: Any) -> Copied:
        made = Copied.__new__(Copied)
        made.array = array
        return made

    def reshape(self, shape: list[int]) -> Copied:
        return self._view(self.array.reshape(shape))

    @property
    def T(self) -> Copied:
        return self._view(self.array.T)

    def add_(self, other: Copied) -> None:
        self.array[...] = self.array + other.array.copy()

    def subtract_(self, other: Copied) -> None:
        self.array[...] = self.array - other.array.copy()

    def multiply_(self, other: Copied) -> None:
        self.array[...] = self.array * other.array.copy()


@pytest.mark.parametrize("place", PLACES)
def test_gradients_read_what_the_tensor_was(place: str) -> None:
    """y is 2 w, then exp(2 w), then 3 exp(2 w); the gradient of its sum by w is 6 exp(2 w)."""
    w = T([0.0, 1.0], place=place, stop_gradient=False)
    y = w * 2.0
    assert y.exp_() is y
    y.multiply_(T([3.0, 3.0], place=place))
    y.sum().backward()
    np.testing.assert_allclose(w.grad.numpy(), 6 * np.exp([0.0, 2.0]), rtol=1e-6)


@pytest.mark.parametrize("place", PLACES)
def test_a_change_advances_the_version(place: str) -> None:
    """A gradient that needs the old value is refused, and not computed of the new one; a leaf changes under no_grad alone."""
    x, y = T([1.0, 2.0], place=place, stop_gradient=False), T([3.0, 4.0], place=place)
    product = x * y
    version = y.inplace_version
    y.add_(T([1.0, 1.0], place=place))
    assert y.inplace_version == version + 1
    with pytest.raises(ValueError, match="changed in place"):
        product.sum().backward()
    with pytest.raises(ValueError, match="leaf"):
        x.add_(y)
    with paddle.no_grad():
        assert x.subtract_(y) is x
    assert x.numpy().tolist() == [-3.0, -3.0] and not x.stop_gradient


@pytest.mark.parametrize("place", PLACES)
def test_an_error_leaves_the_tensor_as_it_was(place: str) -> None:
    x, row = made("float32", place, (2, 3)), made("float32", place, (4, 2, 3))
    before = bits(x)
    with pytest.raises(ValueError, match=r"\[add_\] the result has shape \[4, 2, 3\] and x \[2, 3\]"):
        x.add_(row)
    with pytest.raises(ValueError, match=r"\[multiply_\]"):
        x.multiply_(made("float32", place, (2, 2)))
    with pytest.raises(ValueError, match=r"\[clip_\] min is 2 and max 1; want min up to max"):
        x.clip_(2, 1)
    with pytest.raises(ValueError, match="overlap"):
        paddle.zeros([4], place=place).unfold(0, 2, 1).exp_()
    assert bits(x) == before


def test_an_integer_divided_by_zero_leaves_the_tensor_as_it_was() -> None:
    """The zero stands behind elements that have been divided when it is met."""
    x, y = paddle.full([100_000], 7, "int64"), paddle.full([100_000], 2, "int64")
    y[-1] = 0
    for name in ("floor_divide", "remainder", "mod"):
        with pytest.raises(paddle.IntegerDivisionError, match="divided by zero"):
            getattr(x, name + "_")(y)
        with pytest.raises(paddle.IntegerDivisionError, match="divided by zero"):
            getattr(paddle, name)(x, y, out=x)
        assert (x == 7).all()


def test_a_number_of_the_cpu_beside_a_tensor_of_another_place() -> None:
    x = paddle.ones([5000], place="mps")
    assert x.multiply_(T(3.0, place="cpu")) is x
    assert (x == 3).all() and x.place == paddle.MPSPlace(0)
    y = T(2.0, place="cpu")
    y.add_(x[0])
    assert y.item() == 5


def test_traced_functions_change_their_arguments() -> None:
    traced = paddle.jit.to_static(lambda x, y: x.add_(y).exp_())
    x, y = paddle.zeros([5000]), paddle.ones([5000])
    for _ in range(2):
        x.zero_()
        traced(x, y)
        np.testing.assert_allclose(x.numpy(), np.exp(np.ones(5000)), rtol=1e-6)


def test_work_in_a_queue_is_in_order() -> None:
    """Each change reads what the one before it has written, also on another stream."""
    x, one = paddle.zeros([100_000], place="mps"), paddle.ones([100_000], place="mps")
    streams = [paddle.device.Stream("mps") for _ in range(2)]
    for i in range(50):
        with paddle.device.stream_guard(streams[i % 2]):
            x.add_(one)
    assert (x == 50).all()
