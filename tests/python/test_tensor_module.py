"""paddle.tensor, a module that can be called, and further names that PaddlePaddle shares with PyTorch."""

from __future__ import annotations

import importlib
import subprocess
import sys

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import Tensor


def test_makes_tensors() -> None:
    for made, dtype, values in (
        (paddle.tensor([1, 2]), paddle.int64, [1, 2]),
        (paddle.tensor([1.0, 2.0]), paddle.float32, [1, 2]),
        (paddle.tensor([1.7], "int32"), paddle.int32, [1]),
        (paddle.tensor(data=3.0, dtype="float16", device="cpu"), paddle.float16, 3),
        (paddle.tensor(np.arange(6, dtype="int32")[::3]), paddle.int32, [0, 3]),
        (paddle.tensor([]), paddle.float32, []),
    ):
        assert isinstance(made, Tensor)
        assert made.dtype is dtype
        assert made.tolist() == values
        assert made.stop_gradient


def test_copies_a_tensor() -> None:
    x = paddle.ones([2])
    x.stop_gradient = False
    y = paddle.tensor(x)
    y[0] = 5.0
    assert x.tolist() == [1, 1]
    assert y.stop_gradient
    assert not paddle.tensor(x, requires_grad=True).stop_gradient


def test_errors_name_it() -> None:
    with pytest.raises(TypeError, match=r"^\[tensor\] data is dict; want"):
        paddle.tensor({})
    with pytest.raises(TypeError, match=r"^\[tensor\] dtype is 'int31'; want"):
        paddle.tensor([1], dtype="int31")
    with pytest.raises(TypeError, match="has no gradient"):
        paddle.tensor([1], requires_grad=True)


def test_has_the_functions_of_the_package() -> None:
    module = importlib.import_module("paddle_mps.tensor")
    assert module is sys.modules["paddle_mps"].tensor
    assert module.add is paddle.add
    with pytest.raises(AttributeError, match="nonsense"):
        module.nonsense  # noqa: B018


def test_names_of_pytorch_are_those_of_paddle() -> None:
    for name in ("adaptive_avg_pool1d", "conv1d", "conv2d", "conv3d", "group_norm", "layer_norm"):
        assert getattr(paddle, name) is getattr(paddle.nn.functional, name)
    assert paddle.autograd.Function is paddle.autograd.PyLayer


def test_imports_of_older_programs() -> None:
    program = (
        "from paddle.tensor import add; import paddle; print(add(paddle.tensor([1]), paddle.tensor([2])).tolist())"
    )
    done = subprocess.run(
        [sys.executable, "-m", "paddle_mps", "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[3]\n"
