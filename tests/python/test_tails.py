"""Groups of elementwise steps that end in a reduction: losses, masked sums and variances of traced functions and ONNX files."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np
import onnx_files
import pytest

import paddle_mps as paddle
from paddle_mps.jit import to_static

TAIL = "the last one reduces a result of the others block by block"
RNG = np.random.default_rng(11)
X, Y = (RNG.normal(0.0, 3.0, (37, 2100)).astype(np.float32) for _ in "xy")


def on_cpu(*arrays: Any, stop_gradient: bool = True) -> list[Any]:
    return [paddle.to_tensor(a, place="cpu", stop_gradient=stop_gradient) for a in arrays]


WIDE: dict[str, Any] = {"dtype": np.float64}

# By name: the function, the same in NumPy, and how many groups have a tail. Elements are rounded to float32 by each step on both
# sides; sums are rounded once, at the end.
WRITTEN: dict[str, tuple[Callable[..., Any], Callable[..., Any], int]] = {
    "mean squared error": (lambda x, y: ((x - y) ** 2).mean(), lambda x, y: ((x - y) ** 2).mean(**WIDE), 1),
    "last axis": (lambda x, y: x.abs().mean(-1, keepdim=True), lambda x, y: abs(x).mean(-1, keepdims=True, **WIDE), 1),
    "masked sum": (
        lambda x, y: paddle.where(x > y, x, y - y).sum(-1),
        lambda x, y: np.where(x > y, x, 0).sum(-1, **WIDE),
        1,
    ),
    "count": (lambda x, y: (x > y).sum(), lambda x, y: (x > y).sum(), 1),
    "extremes": (lambda x, y: (x * y).max(1) + (x + y).min(1), lambda x, y: (x * y).max(1) + (x + y).min(1), 2),
    "variance": (
        lambda x, y: ((x - x.mean(-1, keepdim=True)) ** 2).mean(-1),
        lambda x, y: ((x - x.mean(-1, keepdims=True, **WIDE).astype(np.float32)) ** 2).mean(-1, **WIDE),
        1,
    ),
    "first axis": (lambda x, y: (x * y).sum(0), lambda x, y: (x * y).sum(0, **WIDE), 0),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_functions_end_in_reductions(name: str) -> None:
    ours, theirs, tails = WRITTEN[name]
    f, (x, y) = to_static(ours), on_cpu(X, Y)
    got = f(x, y).numpy()
    np.testing.assert_array_equal(got, ours(x, y).numpy())
    want = np.asarray(theirs(X, Y)).astype(got.dtype)
    if got.dtype == np.float32:
        np.testing.assert_array_max_ulp(got, want, 1)  # where the sum in float64 is next to the middle of two numbers
    else:
        np.testing.assert_array_equal(got, want)
    assert f.explain(x, y).count(TAIL) == tails


def test_gradients_are_those_of_the_calls() -> None:
    def loss(x: Any, y: Any) -> Any:
        return ((x - y) ** 2).mean()

    grads = []
    for f in (loss, to_static(loss)):
        x, y = on_cpu(X, Y, stop_gradient=False)
        f(x, y).backward()
        grads.append([x.grad.numpy(), y.grad.numpy()])
    np.testing.assert_array_equal(grads[0], grads[1])
    # Of three factors, each is rounded, and so are the products.
    np.testing.assert_allclose(grads[1][0], 2 * (X - Y).astype(np.float64) / X.size, rtol=5 * 2.0**-24)


def test_no_array_is_written() -> None:
    x, y = on_cpu(np.ones((1 << 20,), np.float32), np.zeros((1 << 20,), np.float32))
    f = to_static(lambda x, y: ((x - y) ** 2).mean())
    assert f(x, y).item() == 1
    before = paddle.device.memory_allocated("cpu")
    paddle.device.reset_max_memory_allocated("cpu")
    f(x, y)
    assert paddle.device.max_memory_allocated("cpu") - before < 1 << 16  # of 4 MiB


def test_files_have_them_too() -> None:
    shape = [37, 2100]
    nodes = [
        onnx_files.node("Sub", ["x", "y"], ["d"]),
        onnx_files.node("Mul", ["d", "d"], ["s"]),
        onnx_files.node("ReduceMean", ["s"], ["z"], axes=[1], keepdims=0),
    ]
    ports = [onnx_files.port(name, "float", shape) for name in "xy"]
    model = paddle.onnx.load(
        onnx_files.model(nodes, ports, [onnx_files.port("z", "float", shape[:1])], opset=13), "cpu"
    )
    x, y = on_cpu(X, Y)
    np.testing.assert_array_equal(model(x, y).numpy(), ((x - y) * (x - y)).mean(-1).numpy())
    assert model.explain().count(TAIL) == 1
