"""Small things that PaddlePaddle computes and that programs meet: numbers left of bitwise operators, float labels, batches of one."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._core._errors import UnsupportedError

T = paddle.to_tensor


@pytest.mark.parametrize(
    ("text", "dtype", "values"),
    [
        ("2 & T([3])", "int64", [2]),
        ("True | T([3])", "int64", [3]),
        ("3 ^ T([1])", "int64", [2]),
        ("2 & T([3], dtype='int32')", "int32", [2]),
        ("True & T([True])", "bool", [True]),
        ("2 | T([True])", "bool", [True]),
        ("True ^ T([1], dtype='uint8')", "uint8", [0]),
        ("2**40 & T([3], dtype='int32')", "int32", [0]),
        ("-1 & T([3], dtype='uint8')", "uint8", [3]),
        ("2 & T(3)", "int64", 2),
    ],
)
def test_numbers_left_of_bitwise_operators(text: str, dtype: str, values: object) -> None:
    got = eval(text)
    assert (got.dtype.name, got.tolist()) == (dtype, values)


@pytest.mark.parametrize("text", ["2.5 & T([3])", "'a' | T([3])", "None ^ T([3])", "np.array([2]) & T([3])"])
def test_what_is_no_whole_number(text: str) -> None:
    with pytest.raises(TypeError):
        eval(text)


@pytest.mark.parametrize("label", [T([1.0]), T([[1.0]]), T([1.7]), T([1.0], dtype="float64"), T([True])])
@pytest.mark.parametrize("traced", [False, True])
def test_float_labels(label: paddle.Tensor, traced: bool) -> None:
    loss = paddle.jit.to_static(F.cross_entropy) if traced else F.cross_entropy
    x = T([[1.0, 2.0]], stop_gradient=False)
    y = loss(x, label)
    y.backward()
    assert y.item() == pytest.approx(0.31326165795326233)
    assert x.grad.numpy() == pytest.approx(np.array([[0.26894142, -0.26894142]]))
    assert F.softmax_with_cross_entropy(x, label.reshape([1, 1])).item() == y.item()


def test_float_labels_that_are_cut_ignored_or_no_class() -> None:
    x = T([[1.0, 2.0], [3.0, 5.0]])
    assert (
        F.cross_entropy(x, T([-0.7, 0.9]), reduction="none").tolist()
        == F.cross_entropy(x, T([0, 0]), reduction="none").tolist()
    )
    assert F.cross_entropy(x, T([-100.0, 1.0]), reduction="none").tolist()[0] == 0
    assert F.cross_entropy(x, T([1.5, 0.0]), ignore_index=1).item() == F.cross_entropy(x[1:], T([0])).item()
    with pytest.raises((IndexError, ValueError)):
        F.cross_entropy(x, T([5.0, 0.0])).item()
    with pytest.raises(UnsupportedError, match="want integers"):
        F.nll_loss(x, T([1.0, 0.0]))


@pytest.mark.parametrize("shape", [[1, 2], [1, 2, 1], [1, 2, 1, 1], [1, 2, 1, 1, 1]])
@pytest.mark.parametrize("traced", [False, True])
def test_a_batch_of_one_value_for_each_channel(shape: list[int], traced: bool) -> None:
    """Paddle skips the computation: weights have the gradient 0, and the running statistics stay."""
    x, weight, bias = T([5.0, 7.0]).reshape(shape), T([3.0, 3.0]), T([1.0, 1.0])
    for leaf in (x, weight, bias):
        leaf.stop_gradient = False
    mean, variance = T([0.5, 0.5]), T([2.0, 2.0])

    def normal(x: paddle.Tensor) -> paddle.Tensor:
        return F.batch_norm(x, mean, variance, weight, bias, training=True)

    y = (paddle.jit.to_static(normal) if traced else normal)(x)
    assert y.flatten().tolist() == [5, 7]
    (y.flatten() * T([2.0, 3.0])).sum().backward()
    assert x.grad.flatten().tolist() == [2, 3]
    assert weight.grad.tolist() == bias.grad.tolist() == [0, 0]
    assert (mean.tolist(), variance.tolist()) == ([0.5, 0.5], [2, 2])
    still = F.batch_norm(x, mean, variance, weight, bias, training=False)
    assert still.flatten().tolist() == pytest.approx([(v - 0.5) / np.sqrt(2 + 1e-5) * 3 + 1 for v in (5, 7)])


def test_two_values_for_each_channel_are_normalized() -> None:
    y = F.batch_norm(T([[5.0], [7.0]]), T([0.0]), T([1.0]), training=True)
    assert y.numpy() == pytest.approx(np.array([[-1.0], [1.0]]), abs=1e-4)
