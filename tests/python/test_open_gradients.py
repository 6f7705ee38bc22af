"""Gradients of functions with open sizes: those of the same calls made one by one, for all sizes through one program.

The function is called for two sizes, to be traced, and for no further one.
"""

from __future__ import annotations

import gc
import re
from typing import Any, Callable

import numpy as np
import pytest
from test_open_sizes import CASES, PLACES, Weights, sized

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps.jit import to_static

N = None
SIZES = ((4, 6), (5, 9), (2, 2), (7, 3), (13, 8), (7, 3))


def without_gradient(w: Weights, x: Any) -> Any:
    with paddle.no_grad():
        scale = (x * w.bias).abs().max(0)
    return x / (scale + 1) + (x * 2).detach() * w.bias


def counted(w: Weights, x: Any) -> Any:
    """It changes a tensor that it captures."""
    with paddle.no_grad():
        w.table.add_(x.mean(0))
    return x * w.bias


def in_training(w: Weights, x: Any) -> Any:
    return F.batch_norm(x, w.table[0] * 1, w.table[1] * 1, w.bias, w.bias, training=True)


def of_gradient(w: Weights, x: Any) -> Any:
    (slope,) = paddle.grad((x**3 * w.bias).sum(), x, create_graph=True)
    return slope * x


OWN: dict[str, tuple[Callable[..., Any], list[list[int | None]]]] = {
    "elementwise": (lambda w, x, y: F.gelu(x) * y.tanh() - (x / (y * y + 1)).exp().log1p(), [[N, 8], [N, 8]]),
    "activations": (lambda w, x: F.silu(x) + F.softplus(x) + F.leaky_relu(x) + F.sigmoid(x), [[N, 8]]),
    "broadcast": (lambda w, x, y: x * y.unsqueeze(1) + w.bias, [[N, N, 8], [N, 1]]),
    "mean": (lambda w, x: (x * x).mean(), [[N, 8]]),
    "mean of columns": (lambda w, x: x.mean(0) * w.bias, [[N, 8]]),
    "reductions": (lambda w, x: x.max(0) + x.sum(0) + (x * x + 1).prod(0).log() + paddle.logsumexp(x, 0), [[N, 8]]),
    "matmul": (lambda w, x: x @ w.square @ w.square.t(), [[N, N, 8]]),
    "softmax over rows": (lambda w, x: F.softmax(x, 0) * x, [[N, 8]]),
    "rms_norm": (lambda w, x: x * (x * x).mean(-1, keepdim=True).rsqrt() * w.bias, [[N, 8]]),
    "mse_loss": (lambda w, x, y: F.mse_loss(x, y), [[N, 8], [N, 8]]),
    "smooth_l1_loss": (lambda w, x, y: F.smooth_l1_loss(x, y), [[N, 8], [N, 8]]),
    "cross_entropy": (lambda w, x: F.cross_entropy(x, x.argmax(-1)), [[N, 8]]),
    "kl_div": (lambda w, x, y: F.kl_div(F.log_softmax(x), F.softmax(y)), [[N, 8], [N, 8]]),
    "slices": (lambda w, x: x[1:] * x[:-1] + x[:1], [[N, 8]]),
    "concat": (lambda w, x, y: paddle.concat([x, y * 2]) ** 2, [[N, 8], [N, 8]]),
    "cumsum": (lambda w, x: paddle.cumsum(x, 0) * x, [[N, 8]]),
    "without gradient": (without_gradient, [[N, 8]]),
    "changes": (counted, [[N, 8]]),
    "counts": (lambda w, x: x * w.bias / x.shape[0] + x.var(0, unbiased=False), [[N, 8]]),
    "batch_norm in training": (in_training, [[N, 8, N]]),
    "gradient of a gradient": (of_gradient, [[N, 8]]),
}
# Three of those of test_open_sizes.py have no gradient, one has results of integers, and one writes into a part.
WITHOUT = ("one_hot", "embedding", "topk", "integers", "written")
ALL = {**OWN, **{name: case for name, case in CASES.items() if name not in WITHOUT}}


def gradients(function: Callable[..., Any], inputs: list[Any], weights: Weights) -> list[Any]:
    """Results and gradients, of the arguments and of the weights."""
    leaves = [*inputs, *(t for name, t in vars(weights).items() if name != "table")]
    for t in leaves:
        if t.stop_gradient:
            t.stop_gradient = False
        t.clear_gradient(set_to_zero=False)
    paddle.seed(3)
    made = function(*inputs)
    made = made if isinstance(made, list) else [made]
    # Weights of their own for all elements, so that no gradient is zero because all shares are alike.
    # Indices have no gradient.
    slopes = [paddle.arange(1, y.size + 1, dtype="float32").reshape(y.shape) for y in made]
    sum((y * slope).sum() for y, slope in zip(made, slopes) if y.dtype.is_floating).backward()
    found = [y.numpy().tobytes() for y in made]
    return found + [None if t.grad is None else (t.grad.shape, t.grad.numpy().tobytes()) for t in leaves]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ALL)
def test_gradients_for_all_sizes(name: str, place: str) -> None:
    written, specs = ALL[name]
    before = paddle.get_device()
    paddle.set_device(place)
    try:
        weights, others, traced = Weights(), Weights(), []

        def function(*inputs: Any) -> Any:
            traced.append(len(inputs))
            return written(weights, *inputs)

        dynamic = to_static(function, dynamic=True)
        for sizes in SIZES:
            got = gradients(dynamic, sized(specs, *sizes), weights)
            assert got == gradients(lambda *xs: written(others, *xs), sized(specs, *sizes), others)
            assert weights.table.numpy().tobytes() == others.table.numpy().tobytes()
        assert len(traced) in (4, 5) and dynamic.program_cache == 2
    finally:
        paddle.set_device(before)


@pytest.mark.parametrize("place", PLACES)
def test_a_mean_divides_by_the_size_of_the_call(place: str) -> None:
    """Against the formula, and not against other calls of the library."""
    w = paddle.to_tensor([0.5, -2.0, 1.0], place=place, stop_gradient=False)
    f = to_static(lambda x: (x * x * w).mean(), dynamic=True)
    kept = []
    for n in (2, 3, 5, 8, 64):
        x = paddle.to_tensor(np.arange(3 * n, dtype=np.float32).reshape(n, 3), place=place, stop_gradient=False)
        kept.append((n, x, f(x)))
    del f
    gc.collect()
    for n, x, y in kept:  # results hold what their gradients need
        w.clear_gradient(set_to_zero=False)
        y.backward()
        numbers = np.arange(3 * n).reshape(n, 3)
        # A few roundings of float32, and the sum over n rows.
        np.testing.assert_allclose(x.grad.numpy(), 2 * numbers * [0.5, -2, 1] / (3 * n), rtol=4 * 2**-24)
        np.testing.assert_allclose(w.grad.numpy(), (numbers**2).sum(0) / (3 * n), rtol=(n + 4) * 2**-24)


class Tripled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return x * 2

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        return dy * 3


def hooked(x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda dy: dy * 5)
    return y * y


def written_into(x: Any) -> Any:
    y = x * 2
    y[0] = 1.0
    return y * y


REFUSED = {
    "hook": (hooked, r"is not that of its calls alone: it has `.* multiply\(.*, 5\)`"),
    "PyLayer": (lambda x: Tripled.apply(x * 1.0), "is not that of its calls alone"),
    "write": (written_into, "sizes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_gradients_that_the_calls_do_not_tell(name: str) -> None:
    """Each set of sizes has a program of its own then, whose gradients are right."""
    function, reason = REFUSED[name]
    dynamic = to_static(function, dynamic=True)
    for n in (4, 2, 3, 5):
        found = []
        for f in (dynamic, function):
            x = paddle.to_tensor(np.arange(2 * n, dtype=np.float32).reshape(n, 2), stop_gradient=False)
            f(x).sum().backward()
            found.append(x.grad.numpy().tolist())
        assert found[0] == found[1]
    x = paddle.ones([6, 2])
    x.stop_gradient = False
    first = dynamic.explain(x).splitlines()[0]
    assert first.startswith("sizes are not open: ")

    assert re.search(reason, first)
