"""Rows that put elements to other places: their gradients are those of their transposes, as linear maps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops

PLACES = ["cpu", "mps:0"]


@pytest.fixture(params=PLACES)
def place(request: Any) -> Any:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return paddle.to_tensor(0.0, place=request.param).place


CASES: dict[str, tuple[list[tuple[int, ...]], Any]] = {
    "unfold": ([(1, 2, 4, 5)], lambda x: ops.unfold(x, [2, 3], [2, 1], [1, 0, 0, 2], [2, 1])),
    "diag_embed": ([(3, 4)], lambda x: ops.diag_embed(x, -2, 2, 0, 5)),
    "diag_embed of nothing": ([(2, 0)], lambda x: ops.diag_embed(x, 3, 0, 1, 5)),
    "diagonal_scatter": ([(4, 3, 2), (3, 2)], lambda x, y: ops.diagonal_scatter(x, y, 1, 2, 0)),
    "diagonal_scatter below": ([(4, 3), (1,)], lambda x, y: ops.diagonal_scatter(x, y, -3, 0, 1)),
    "diagonal_scatter outside": ([(4, 3), (0,)], lambda x, y: ops.diagonal_scatter(x, y, 7, 0, 1)),
    "slice_scatter": ([(5, 4), (2, 1)], lambda x, y: ops.slice_scatter(x, y, [0, 1], [1, -1], [4, -9], [2, -2])),
    "slice_scatter of a number": ([(5, 4), ()], lambda x, y: ops.slice_scatter(x, y, [-1], [1], [3], None)),
    "select_scatter": ([(2, 3, 4), (2, 4)], lambda x, y: ops.select_scatter(x, y, 1, -1)),
    "block_diag": ([(2, 3), (2,), (), (0, 2)], lambda *x: ops.block_diag(list(x))),
    "one block": ([(2, 3)], lambda *x: ops.block_diag(list(x))),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_linear_maps(name: str, place: Any) -> None:
    shapes, call = CASES[name]
    rng = np.random.default_rng(3)
    given = [rng.integers(-9, 9, s).astype(np.float32) for s in shapes]
    xs = [paddle.to_tensor(x, stop_gradient=False, place=place) for x in given]
    for _ in range(2):  # the second call of a kind may be another program
        for x in xs:
            x.clear_gradient()
        made = call(*xs)
        slope = rng.integers(-9, 9, made.shape).astype(np.float32)
        made.backward(paddle.to_tensor(slope, place=place))
    origin = call(*[paddle.zeros(x.shape) for x in given]).numpy()
    for i, array in enumerate(given):
        want = np.zeros_like(array)
        for at in np.ndindex(*array.shape):
            units = [np.zeros_like(other) for other in given]
            units[i][at] = 1
            want[at] = ((call(*[paddle.to_tensor(u) for u in units]).numpy() - origin) * slope).sum()
        np.testing.assert_array_equal(xs[i].grad.numpy(), want)


def test_gradients_of_gradients_of_linear_maps_are_there() -> None:
    x = paddle.to_tensor(np.arange(6, dtype=np.float32).reshape(2, 3), stop_gradient=False)
    (first,) = paddle.grad((ops.diag_embed(x, 1, -2, -1, 0) ** 2).sum(), [x], create_graph=True)
    (second,) = paddle.grad(first.sum(), [x])
    np.testing.assert_array_equal(second.numpy(), np.full((2, 3), 2, np.float32))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ops.diag_embed(x, 0, 1, -2, 0), "two different ones"),
        (lambda x: ops.diag_embed(x, 2**60, 0, 1, 0), "offset is"),
        (lambda x: ops.diagonal_scatter(x, x, 0, 0, 1), "y has shape"),
        (lambda x: ops.slice_scatter(x, x, [0], [0], [1], None), "value has shape"),
        (lambda x: ops.select_scatter(x, x, 0, 0), "values has shape"),
        (lambda x: ops.select_scatter(x, x, 0, 2), "index is 2"),
        (lambda x: ops.block_diag([x, x.unsqueeze(0)]), "tensor 1 has shape"),
        (lambda x: ops.eye(0, -1, None, 0, "float32"), "-1 rows"),
        (lambda x: ops.unfold(x, [1], None, None, None), "3 to 5"),
    ],
)
def test_calls_that_do_not_fit(call: Any, message: str) -> None:
    with pytest.raises((ValueError, IndexError), match=message):
        call(paddle.ones([2, 3]))


def test_complex_numbers_of_rows_that_fill() -> None:
    """The number that fills is cast to a tensor of its own, which the step that makes it writes alone."""
    x = np.array([1 + 2j, 3j, 2], np.complex64)
    for _ in range(3):
        np.testing.assert_array_equal(ops.diag_embed(paddle.to_tensor(x), 0, 0, 1, 0).numpy(), np.diag(x))
        np.testing.assert_array_equal(paddle.eye(3, dtype="complex64").numpy(), np.eye(3))
        np.testing.assert_array_equal(paddle.eye(2, dtype="complex128").numpy(), np.eye(2))
