"""Gradients of gradients of traced functions, against eager calls and finite differences."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import func

PLACES = ["cpu", "mps"]


def leaf(values, place, dtype="float64"):
    return paddle.to_tensor(np.asarray(values, dtype), place=place, stop_gradient=False)


@pytest.fixture(params=PLACES)
def place(request):
    before = paddle.get_device()
    paddle.set_device(request.param)
    yield request.param
    paddle.set_device(before)


def dtype_of(place):
    return "float64" if place == "cpu" else "float32"


def second(function, *operands, wrt, weights):
    """The gradients of sum(weights * (gradients of function)), for the operands in wrt."""
    result = function(*operands)
    first = paddle.grad(result, wrt, create_graph=True)
    total = sum((w * g).sum() for w, g in zip(weights, first))
    return [g.numpy() for g in first], [
        None if g is None else g.numpy() for g in paddle.grad(total, wrt, allow_unused=True)
    ]


def cases(w):
    return {
        "cube": lambda x, y: (x**3 * y * w).sum(),
        "captured": lambda x, y: (paddle.tanh(x * w) @ y).sum(),
        "softmax": lambda x, y: (paddle.nn.functional.softmax(x * y, axis=-1) * w).sum(),
        "detached": lambda x, y: (x.detach() * x * x * y + w.exp()).sum(),
        "broadcast": lambda x, y: ((x - x.mean()) ** 2 * y[0]).mean() * w.sum(),
        "norm": lambda x, y: paddle.nn.functional.layer_norm(x * y, [3]).pow(2).multiply(w).sum(),
        "linear": lambda x, y: (x + 2 * y + w).sum(),
    }


@pytest.mark.parametrize("name", list(cases(None)))
@pytest.mark.parametrize("dynamic", [False, True])
def test_as_eager(name, dynamic, place):
    """Gradients of gradients are those of the calls one by one, for arguments and for captured tensors."""
    random = np.random.default_rng(1)
    kind = dtype_of(place)
    w = leaf(random.standard_normal((3, 3)), place, kind)
    function = cases(w)[name]
    traced = paddle.jit.to_static(function, dynamic=dynamic)
    for _ in range(2):  # the second time with what the first one has made
        x, y = leaf(random.standard_normal((3, 3)), place, kind), leaf(random.standard_normal((3, 3)), place, kind)
        wrt = [x, y, w] if name != "broadcast" else [x, w]
        weights = [paddle.to_tensor(random.standard_normal((3, 3)).astype(kind)) for _ in wrt]
        if name == "linear":
            first = paddle.grad(traced(x, y), wrt, create_graph=True)
            assert [g.numpy().tolist() for g in first] == [np.full((3, 3), n).tolist() for n in (1, 2, 1)]
            assert paddle.grad([g.sum() for g in first], wrt, allow_unused=True) == [None] * 3
            continue
        want = second(function, x, y, wrt=wrt, weights=weights)
        got = second(traced, x, y, wrt=wrt, weights=weights)
        # Sums of 9 products, in another order: 9 roundings of terms of the size of the largest result.
        eps = 2.0**-52 if kind == "float64" else 2.0**-23
        for g, e in zip(got[0] + got[1], want[0] + want[1]):
            assert (g is None) == (e is None)
            if e is not None:
                np.testing.assert_allclose(g, e, rtol=32 * eps, atol=32 * eps * max(1, np.abs(e).max()))


def test_finite_differences():
    """The gradient of a gradient is the slope of the gradient."""
    f = paddle.jit.to_static(lambda x: (paddle.sin(x) * x.exp()).sum())
    gradient = func.grad(f)
    x = np.array([0.3, -0.7, 1.1])
    made = func.grad(lambda x: gradient(x).sum())(leaf(x, "cpu")).numpy()
    h = 2.0**-17  # the cube root of eps: the error of a central difference is h**2 times the third derivative
    above, below = (gradient(leaf(x + sign * h, "cpu")).numpy() for sign in (1, -1))
    np.testing.assert_allclose(made, (above - below) / (2 * h), rtol=64 * h * h, atol=64 * h * h)


def test_higher_orders(place):
    """Each order is a gradient of the one before: x**5 has 60 x**2, 120 x, 120 and 0."""
    f = paddle.jit.to_static(lambda x: (x**5).sum())
    x = leaf([1, 2, -1], place, dtype_of(place))
    found = f(x)
    wants = [5 * x.numpy() ** 4, 20 * x.numpy() ** 3, 60 * x.numpy() ** 2, 120 * x.numpy()]
    for want in wants:
        (found,) = paddle.grad(found.sum(), x, create_graph=True)
        np.testing.assert_allclose(found.numpy(), want, rtol=16 * 2.0**-23)


def test_hessian_of_a_traced_function():
    """Hessians and mixed passes of func go through a traced function."""
    f = paddle.jit.to_static(lambda x: (x**3).sum() + x[0] * x[1])
    x = leaf([1, 2, 3], "cpu")
    want = np.diag(6 * x.numpy())
    want[0, 1] = want[1, 0] = 1
    np.testing.assert_array_equal(paddle.autograd.hessian(f(x), x)[:].numpy(), want)
    np.testing.assert_array_equal(func.grad(lambda x: func.grad(f)(x)[1])(x).numpy(), want[1])


def test_through_the_gradient_of_the_result(place):
    """The gradient of a result may have a history: d/dv of (v * 2x) is 2x. One that is left out counts as zeros."""
    kind = dtype_of(place)
    f = paddle.jit.to_static(lambda x: (x * x, x**3))
    x, v = leaf([1, 2, 3], place, kind), leaf([1, -1, 0.5], place, kind)
    square, _ = f(x)
    (g,) = paddle.grad(square, x, v, create_graph=True)
    dv, dx = paddle.grad(g.sum(), [v, x])
    np.testing.assert_array_equal(dv.numpy(), 2 * x.numpy())
    np.testing.assert_array_equal(dx.numpy(), 2 * v.numpy())


def test_arguments_computed_from_others(place):
    """Gradients go on through what the arguments were computed from, and add up in leaves."""
    kind = dtype_of(place)
    f = paddle.jit.to_static(lambda x: (x**3).sum())
    x = leaf([1, 2, 3], place, kind)
    (g,) = paddle.grad(f(x * 2), x, create_graph=True)  # 24 x**2
    g.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), 48 * x.numpy())


class Doubled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * x

    @staticmethod
    def backward(ctx, dy):
        return dy * 2


def hooked(x):
    y = x * x
    y.register_hook(lambda g: g * 3)
    return y.sum()


@pytest.mark.parametrize(
    "function, why",
    [
        (lambda x: (x * x * paddle.rand([3], x.dtype)).sum(), "would draw other numbers"),
        (lambda x: (Doubled.apply(x) * x).sum(), "has a hook or a gradient of its own"),
        (hooked, "has a hook or a gradient of its own"),
    ],
)
def test_refused(function, why):
    """What a graph does not tell is an error of the second pass, which says what to do. The first pass is right."""
    x = leaf([1, 2, 3], "cpu")
    f = paddle.jit.to_static(function)
    (g,) = paddle.grad(f(x), x, create_graph=True)
    with pytest.raises(
        paddle.UnsupportedError, match=f"{why}.*want create_graph=False, or both gradients taken within"
    ):
        paddle.grad(g.sum(), x)
    paddle.grad(f(x), x)


def test_written_into():
    """Neither an argument that was written to after the call nor one that the function writes to has a second gradient."""
    x, n = leaf([1, 2, 3], "cpu"), paddle.zeros([3], "float64")
    f = paddle.jit.to_static(lambda x, n: (x * x * n).sum())
    (g,) = paddle.grad(f(x, n), x, create_graph=True)
    n.add_(paddle.ones([3], "float64"))
    with pytest.raises(ValueError, match="was changed in place after the call"):
        paddle.grad(g.sum(), x)

    def counts(x):
        n.add_(paddle.ones([3], "float64"))
        return (x**3).sum()

    (g,) = paddle.grad(paddle.jit.to_static(counts)(x), x, create_graph=True)
    with pytest.raises(paddle.UnsupportedError, match="writes into a tensor"):
        paddle.grad(g.sum(), x)


def test_outlives_the_function():
    """Gradients may be differentiated when the function is gone, and nothing is left after them."""
    gc.collect()
    before = paddle.device.memory_allocated("cpu") if hasattr(paddle.device, "memory_allocated") else None
    w = leaf([2, 3, 4], "cpu")
    f = paddle.jit.to_static(lambda x: (x**3 * w).sum())
    x = leaf([1, 2, 3], "cpu")
    (g,) = paddle.grad(f(x), x, create_graph=True)
    f.clear()
    del f
    gc.collect()
    found = paddle.grad(g.sum(), [x, w])
    np.testing.assert_array_equal(found[0].numpy(), 6 * x.numpy() * w.numpy())
    np.testing.assert_array_equal(found[1].numpy(), 3 * x.numpy() ** 2)
    del g, found, x
    w = None
    gc.collect()
    if before is not None:
        assert paddle.device.memory_allocated("cpu") == before


def test_threads():
    """Threads may differentiate gradients of one function at a time."""
    f = paddle.jit.to_static(lambda x: (x**3).sum())
    wrong = []

    def work(n):
        x = leaf([n, n + 1], "cpu")
        for _ in range(10):
            (g,) = paddle.grad(f(x), x, create_graph=True)
            if paddle.grad(g.sum(), x)[0].numpy().tolist() != (6 * x.numpy()).tolist():
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def held_by(function, *shapes):
    """The bytes that a result of a traced function holds beside itself once its arguments are gone."""
    traced = paddle.jit(function)  # type: ignore[operator]

    def call():
        return traced(*(leaf(np.ones(shape), "cpu") for shape in shapes))

    call().sum().backward()
    gc.collect()
    before = paddle.device.memory_allocated("cpu")
    result = call()
    return paddle.device.memory_allocated("cpu") - before - result.numel().item() * 8


def test_what_no_gradient_reads_is_not_kept():
    """An argument is kept if the gradient reads it, or a value that was computed from it, and not else."""
    big = 8 * 1000 * 10
    assert held_by(lambda x: x * 2 + 1, (1000, 10)) < 256  # a block is longer than what it was asked for
    assert held_by(lambda x, y: x.sum(0) + y, (1000, 10), (10,)) < 512
    # The gradient of y reads the sum, whose gradient is one of x.
    assert held_by(lambda x, y: x.sum(0) * y, (1000, 10), (10,)) > big
    assert held_by(lambda x, y: x * y, (1000, 10), (10,)) > big
    assert 80 <= held_by(lambda x, y: x.sum(0) + y * y, (1000, 10), (10,)) < big


@pytest.mark.parametrize("dynamic", [False, True])
def test_second_gradients_without_an_argument(dynamic, place):
    """Arguments that nothing depends on may be gone, changed or not asked for when a gradient is differentiated."""
    kind = dtype_of(place)

    def function(x, y, z):
        return (x * 3 + y * y * y - z).sum()

    traced = paddle.jit(function, dynamic=dynamic)  # type: ignore[operator]
    for size in (4, 5, 6):
        x, y, z = (leaf(np.arange(1.0, size + 1) * k, place, kind) for k in (1, 2, 3))
        z.stop_gradient = True
        result = traced(x, y, z)
        x, z = leaf(np.zeros(size), place, kind), None
        (first,) = paddle.grad(result, [y], create_graph=True)
        (second,) = paddle.grad((first * first).sum(), [y])
        np.testing.assert_allclose(first.numpy(), 3 * y.numpy() ** 2, rtol=1e-6)
        np.testing.assert_allclose(second.numpy(), 36 * y.numpy() ** 3, rtol=1e-6)
