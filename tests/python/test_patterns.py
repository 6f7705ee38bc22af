"""Expressions that one operator computes, in traced functions and in files as exporters write them: each is one step."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
import onnx_files
import pytest

import paddle_mps as paddle
from paddle_mps.jit import to_static

RNG = np.random.default_rng(5)
X = RNG.normal(0.0, 3.0, (4, 6)).astype(np.float32)
W, B = RNG.normal(size=6).astype(np.float32), RNG.normal(size=6).astype(np.float32)
ERF = np.vectorize(math.erf, otypes=[np.float64])


def normal(x: Any, epsilon: float = 1e-5) -> Any:
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon)


def centered(x: Any) -> Any:
    return normal(x - x.mean(-1, keepdims=True))


def gelu(x: Any) -> Any:
    return 0.5 * x * (1 + ERF(x / math.sqrt(2)))


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def spelled_layer_norm(x: Any, w: Any, b: Any) -> Any:
    d = x - x.mean(-1, keepdim=True)
    return d / paddle.sqrt((d**2).mean(-1, keepdim=True) + 1e-5) * w + b


def spelled_softmax(x: Any, w: Any, b: Any) -> Any:
    e = paddle.exp(x - x.max(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def spelled_gelu_tanh(x: Any, w: Any, b: Any) -> Any:
    return 0.5 * x * (1.0 + paddle.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * paddle.pow(x, 3.0))))


# By the operator that the expression becomes: in this package, and in NumPy.
SPELLED: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    ("layer_norm", spelled_layer_norm, lambda x, w, b: centered(x) * w + b),
    ("layer_norm", lambda x, w, b: w * (x * paddle.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)),
     lambda x, w, b: normal(x) * w),
    ("gelu", lambda x, w, b: x * 0.5 * (1.0 + paddle.erf(x / math.sqrt(2.0))), lambda x, w, b: gelu(x)),
    ("gelu", spelled_gelu_tanh, lambda x, w, b: gelu_tanh(x)),
    ("softmax", spelled_softmax, lambda x, w, b: softmax(x)),
]  # fmt: skip


def steps(explained: str) -> list[str]:
    """The operators of the steps of a program."""
    return [line.split("= ")[1].split("(")[0] for line in explained.splitlines() if "= " in line]


@pytest.mark.parametrize(("row", "spelled", "numpy"), SPELLED)
@pytest.mark.parametrize("dynamic", [False, True])
def test_traced_functions(row: str, spelled: Any, numpy: Any, dynamic: bool) -> None:
    f = to_static(spelled, dynamic=dynamic)
    for rows in (4, 2, 3):  # the third size is not traced if sizes are open
        arrays = X[:rows], W, B
        args = [paddle.to_tensor(a) for a in arrays]
        if not dynamic:
            assert steps(f.explain(*args)) == [row]
        want = numpy(*(a.astype(np.float64) for a in arrays))
        # The rows are off by 2 ulp or less. What is added to a product may cancel: the ulp is that of the largest element.
        assert np.abs(f(*args).numpy() - want).max() <= 2 * np.spacing(np.float32(np.abs(want).max()))


@pytest.mark.parametrize(("row", "spelled", "numpy"), SPELLED)
def test_gradients(row: str, spelled: Any, numpy: Any) -> None:
    """Those of central differences in float64, of a sum with weights, once in a function that computes them itself."""

    def loss(x: Any, w: Any, b: Any) -> Any:
        return (spelled(x, w, b) * scale).sum()

    def slopes(x: Any, w: Any, b: Any) -> Any:
        (g,) = paddle.grad([loss(x, w, b)], [x])
        return g

    weights = RNG.normal(size=X.shape)
    scale = paddle.to_tensor(weights)
    arrays = [a.astype(np.float64) for a in (X, W, B)]
    want, step = np.empty(X.shape), 1e-4
    for i in np.ndindex(*X.shape):
        near = [arrays[0].copy(), arrays[0].copy()]
        near[0][i] -= step
        near[1][i] += step
        low, high = ((numpy(x, *arrays[1:]) * weights).sum() for x in near)
        want[i] = (high - low) / (2 * step)
    x, w, b = (paddle.to_tensor(a, stop_gradient=False) for a in arrays)
    to_static(loss)(x, w, b).backward()
    # A central difference is off by step**2 / 6 of the third derivative, which is below 100 for these.
    for got in (x.grad.numpy(), to_static(slopes)(x, w, b).numpy()):
        assert np.abs(got - want).max() <= 100 * step**2 / 6


def file(nodes: list[bytes], **constants: float) -> bytes:
    """A model of X, W and B, which are called x, w and b, with constants of no dimensions, whose result is y."""
    weights = [onnx_files.weight(name, np.array(v, np.float32)) for name, v in constants.items()]
    weights += [
        onnx_files.weight("w", W),
        onnx_files.weight("b", B),
        onnx_files.weight("axes", np.array([-1], np.int64)),
    ]
    shape: list[onnx_files.Dim] = ["rows", 6]
    return onnx_files.model(
        nodes, [onnx_files.port("x", "float", shape)], [onnx_files.port("y", "float", shape)], weights
    )


def mean(x: str, y: str) -> bytes:
    """ReduceMean of opset 17, whose axes are an attribute."""
    ints = onnx_files.field(1, "axes") + onnx_files.field(8, (1 << 64) - 1) + onnx_files.field(20, 7)
    return onnx_files.node("ReduceMean", [x], [y]) + onnx_files.field(5, ints)


node = onnx_files.node
FILES = {
    "layer norm of PyTorch for opset 16": ("layer_norm", lambda x: centered(x) * W + B, file([
        mean("x", "m"), node("Sub", ["x", "m"], ["d"]), node("Pow", ["d", "two"], ["p"]), mean("p", "v"),
        node("Add", ["v", "eps"], ["ve"]), node("Sqrt", ["ve"], ["s"]), node("Div", ["d", "s"], ["n"]),
        node("Mul", ["n", "w"], ["nw"]), node("Add", ["nw", "b"], ["y"])], two=2.0, eps=1e-5)),
    "RMS norm of Llama": ("layer_norm", lambda x: normal(x) * W, file([
        node("Pow", ["x", "two"], ["p"]), mean("p", "v"), node("Add", ["v", "eps"], ["ve"]), node("Sqrt", ["ve"], ["s"]),
        node("Div", ["one", "s"], ["r"]), node("Mul", ["x", "r"], ["n"]), node("Mul", ["w", "n"], ["y"])],
        two=2.0, one=1.0, eps=1e-5)),
    "RMS norm of paddle2onnx, which drops an epsilon of 1e-6": ("layer_norm", lambda x: normal(x, 0) * W, file([
        node("Mul", ["x", "x"], ["p"]), mean("p", "v"), node("Mul", ["v", "one"], ["ve"]), node("Sqrt", ["ve"], ["s"]),
        node("Reciprocal", ["s"], ["r"]), node("Mul", ["x", "r"], ["n"]), node("Mul", ["n", "w"], ["y"])], one=1.0)),
    "gelu of PyTorch": ("gelu", gelu, file([
        node("Div", ["x", "root"], ["q"]), node("Erf", ["q"], ["e"]), node("Add", ["e", "one"], ["a"]),
        node("Mul", ["x", "a"], ["m"]), node("Mul", ["m", "half"], ["y"])], root=math.sqrt(2), one=1.0, half=0.5)),
    "gelu, x halved first": ("gelu", gelu, file([
        node("Div", ["x", "root"], ["q"]), node("Erf", ["q"], ["e"]), node("Add", ["e", "one"], ["a"]),
        node("Mul", ["x", "half"], ["m"]), node("Mul", ["m", "a"], ["y"])], root=math.sqrt(2), one=1.0, half=0.5)),
    "gelu of GPT-2": ("gelu", gelu_tanh, file([
        node("Pow", ["x", "three"], ["p"]), node("Mul", ["p", "k"], ["kp"]), node("Add", ["x", "kp"], ["c"]),
        node("Mul", ["c", "root"], ["t"]), node("Tanh", ["t"], ["h"]), node("Add", ["h", "one"], ["a"]),
        node("Mul", ["x", "half"], ["m"]), node("Mul", ["m", "a"], ["y"])],
        three=3.0, k=0.044715, root=math.sqrt(2 / math.pi), one=1.0, half=0.5)),
    "softmax of parts": ("softmax", softmax, file([
        onnx_files.node("ReduceMax", ["x"], ["m"]) + onnx_files.field(5, onnx_files.field(1, "axes")
        + onnx_files.field(8, 1) + onnx_files.field(20, 7)), node("Sub", ["x", "m"], ["d"]), node("Exp", ["d"], ["e"]),
        node("ReduceSum", ["e", "axes"], ["s"]), node("Div", ["e", "s"], ["y"])])),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files(name: str) -> None:
    row, numpy, data = FILES[name]
    model = paddle.onnx.load(data, "cpu")
    want = numpy(X.astype(np.float64))
    assert np.abs(model(X).numpy() - want).max() <= 2 * np.spacing(np.float32(np.abs(want).max()))
    assert steps(model.explain()) == [row]
