"""Rows that reduce slices by segments and send messages along the edges of a graph: what their oracles leave open."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops

INDEX = np.array([0, 2, 2])


@pytest.fixture(params=["cpu", "mps:0"])
def place(request: Any) -> str:
    if request.param != "cpu" and not paddle.device.mps.device_count():
        pytest.skip("no mps device")
    return str(request.param)


def numbers(place: str, *shape: int) -> Any:
    return paddle.arange(int(np.prod(shape)), dtype="float32").reshape(list(shape)).to(place)


def test_indices_of_another_count_are_refused(place: str) -> None:
    x, i = numbers(place, 3, 2), paddle.to_tensor(INDEX, place=place)
    with pytest.raises(ValueError, match=r"\[segment_pool\] .* shape \[3, 2\] and indices \[2\]"):
        ops.segment_pool(x, i[:2], "sum", 3)
    with pytest.raises(ValueError, match=r"\[segment_pool\] .* shape \[1, 2\] and indices \[3\]"):
        ops.segment_pool(x[:1], i, "sum", 3)
    with pytest.raises(ValueError, match=r"\[send_u_recv\] .* indices \[2\]"):
        ops.send_u_recv(x, i, i[:2], "sum", 0)
    with pytest.raises(ValueError, match=r"\[send_uv\] shapes are \[3\], \[1\]"):
        ops.send_uv(x, x, i, i[:1], "add")


def test_words_that_are_none_are_refused(place: str) -> None:
    x, i = numbers(place, 3, 2), paddle.to_tensor(INDEX, place=place)
    with pytest.raises(
        ValueError, match=r"\[send_u_recv\] the reduction is 'prod'; want one of 'sum', 'mean', 'max', 'min'"
    ):
        ops.send_u_recv(x, i, i, "prod", 0)
    with pytest.raises(
        ValueError, match=r"\[send_ue_recv\] message_op is 'pow'; want one of 'add', 'sub', 'mul', 'div'"
    ):
        ops.send_ue_recv(x, x, i, i, "pow", "sum", 0)


@pytest.mark.parametrize("index", [-1, 3])
def test_indices_out_of_range_are_refused(index: int, place: str) -> None:
    """Below 0 they do not count from the end."""
    x, i = numbers(place, 3, 2), paddle.to_tensor(np.array([0, index, 2]), place=place)
    good = paddle.to_tensor(INDEX, place=place)
    for call in (
        lambda: ops.segment_pool(x, i, "sum", 3),
        lambda: ops.send_u_recv(x, i, good, "sum", 0),
        lambda: ops.send_u_recv(x, good, i, "max", 0),
        lambda: ops.send_uv(x, x, good, i, "add"),
    ):
        with pytest.raises(IndexError, match="index 3 is out of range for axis 0 of 3 elements"):
            call().numpy()


def test_integers_and_indices_of_32_bits(place: str) -> None:
    x, i = numbers(place, 3, 2).astype("int64"), paddle.to_tensor(INDEX.astype("int32"), place=place)
    np.testing.assert_array_equal(ops.segment_pool(x, i, "sum", 3).numpy(), [[0, 1], [0, 0], [6, 8]])
    np.testing.assert_array_equal(ops.segment_pool(x, i, "min", 4).numpy(), [[0, 1], [0, 0], [2, 3], [0, 0]])
    assert ops.segment_pool(x, i, "mean", 3).dtype == paddle.int64


def test_halves_are_added_up_in_float32(place: str) -> None:
    x = paddle.ones([3000, 1], "bfloat16").to(place)
    i = paddle.zeros([3000], "int64").to(place)
    assert ops.segment_pool(x, i, "sum", 1).item() == 3008  # the nearest; the sum of halves stays at 256


def test_no_edges(place: str) -> None:
    x, none = numbers(place, 3, 2), paddle.to_tensor(INDEX[:0], place=place)
    for how in ("sum", "mean", "max", "min"):
        np.testing.assert_array_equal(ops.send_u_recv(x, none, none, how, 0).numpy(), np.zeros((3, 2)))
    assert ops.send_uv(x, x, none, none, "mul").shape == [0, 2]


@pytest.mark.parametrize("how", ["sum", "mean", "max", "min"])
def test_a_program_of_any_sizes(how: str, place: str) -> None:
    spec = [paddle.static.InputSpec([None, 2], "float32"), *(paddle.static.InputSpec([None], "int64") for _ in "ij")]
    program = paddle.jit.to_static(lambda x, i, j: ops.send_u_recv(x, i, j, how, 0), input_spec=spec)
    for n in (3, 5):
        x, i = numbers(place, n, 2), paddle.to_tensor(INDEX, place=place)
        np.testing.assert_array_equal(program(x, i, i).numpy(), ops.send_u_recv(x, i, i, how, 0).numpy())


@pytest.mark.parametrize("how", ["max", "min"])
def test_the_gradient_of_an_extreme_goes_to_all_that_are_it(how: str, place: str) -> None:
    x = paddle.to_tensor([[1.0], [1.0], [1.0], [3.0]], place=place)
    x.stop_gradient = False
    first, last = (paddle.to_tensor(np.array(i), place=place) for i in ([0, 1, 2, 3], [1, 1, 0, 0]))
    weights = paddle.to_tensor([[5.0], [7.0], [0.0], [0.0]], place=place)
    wanted = [[7.0], [7.0], [5.0 * (how == "min")], [5.0 * (how == "max")]]
    for found in (ops.segment_pool(x, last, how, 4), ops.send_u_recv(x, first, last, how, 0)):
        np.testing.assert_array_equal(paddle.grad((found * weights).sum(), [x])[0].numpy(), wanted)
