"""Derivatives of functions: paddle_mps.func, paddle_mps.autograd.jacobian and hessian, and paddle_mps.incubate.autograd."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import func
from paddle_mps.incubate import autograd as incubate

rng = np.random.default_rng(3)
X, W = rng.standard_normal((3, 4)), rng.standard_normal((4, 2))
STEP = 1e-5


def loss(x: Any, w: Any) -> Any:
    return (paddle.tanh(paddle.matmul(x, w)) ** 2).sum()


def outputs(x: Any, w: Any) -> Any:
    return paddle.tanh(paddle.matmul(x, w)) ** 2


def along(function: Any, arrays: list[Any], directions: list[Any]) -> Any:
    """The derivative along directions by central differences: an error of STEP**2."""
    ends = [
        function(*[paddle.to_tensor(a + sign * STEP * d) for a, d in zip(arrays, directions)]).numpy()
        for sign in (1, -1)
    ]
    return (ends[0] - ends[1]) / (2 * STEP)


def close(found: Any, want: Any) -> None:
    np.testing.assert_allclose(found.numpy(), want, rtol=1e-7, atol=1e-8)


def tensors(*arrays: Any) -> list[Any]:
    return [paddle.to_tensor(a) for a in arrays]


def test_grad_and_value() -> None:
    x, w = tensors(X, W)
    both = func.grad(loss, (0, 1))(x, w)
    assert isinstance(both, tuple) and [g.shape for g in both] == [x.shape, w.shape]
    direction = [rng.standard_normal(a.shape) for a in (X, W)]
    want = along(loss, [X, W], direction)
    np.testing.assert_allclose(sum((g.numpy() * d).sum() for g, d in zip(both, direction)), want, rtol=1e-7)
    value, one = func.value_and_grad(loss, -1)(x, w)
    assert float(value) == float(loss(x, w))
    np.testing.assert_array_equal(one.numpy(), both[1].numpy())
    assert x.stop_gradient and x.grad is None


def test_nested_arguments_and_what_else_is_returned() -> None:
    def model(p: Any, scale: float, *, twice: bool = False) -> Any:
        y = p["w"] * p["b"][0] * scale
        return (y * 2 if twice else y).sum(), {"y": y, "n": 3}

    p = {"w": paddle.to_tensor([1.0, 2.0]), "b": (paddle.to_tensor([3.0, 4.0]), "kept")}
    found, aux = func.grad(model, has_aux=True)(p, 0.5, twice=True)
    assert found["b"][1] == "kept" and aux["n"] == 3
    np.testing.assert_array_equal(found["w"].numpy(), [3, 4])
    np.testing.assert_array_equal(found["b"][0].numpy(), [1, 2])
    (value, aux), _ = func.value_and_grad(model, has_aux=True)(p, 0.5)
    assert float(value) == 5.5 and aux["y"].shape == [2]


def test_derivatives_of_derivatives() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    cubes = func.grad(lambda y: (y**3).sum())
    np.testing.assert_array_equal(func.grad(lambda y: cubes(y).sum())(x).numpy(), [6, 12, 18])
    third = func.grad(lambda y: func.grad(lambda z: cubes(z).sum())(y).sum())
    np.testing.assert_array_equal(third(x).numpy(), [6, 6, 6])
    _, d = func.jvp(cubes, (x,), (paddle.ones([3]),))
    np.testing.assert_array_equal(d.numpy(), [6, 12, 18])
    _, d = func.jvp(lambda y: func.jvp(lambda z: z**3, (y,), (y * y,))[1], (x,), (paddle.ones([3]),))
    np.testing.assert_array_equal(d.numpy(), (12 * x**3).numpy())  # (3 y^2 y^2)'


def test_captured_tensors_get_their_gradients() -> None:
    c = paddle.to_tensor([2.0, 5.0], stop_gradient=False)
    func.grad(lambda x: (c * x * x).sum())(paddle.to_tensor([1.0, 3.0])).sum().backward()
    np.testing.assert_array_equal(c.grad.numpy(), [2, 6])
    with paddle.no_grad():
        value, found = func.value_and_grad(lambda x: (c * x * x).sum())(paddle.to_tensor([1.0, 3.0]))
    assert value.stop_gradient and found.stop_gradient
    np.testing.assert_array_equal(found.numpy(), [4, 30])


def test_vjp() -> None:
    x, w = tensors(X, W)
    y, pullback = func.vjp(outputs, x, w)
    v = rng.standard_normal((3, 2))
    for _ in range(2):
        found = pullback(paddle.to_tensor(v))
        direction = [rng.standard_normal(a.shape) for a in (X, W)]
        want = (along(outputs, [X, W], direction) * v).sum()
        np.testing.assert_allclose(sum((g.numpy() * d).sum() for g, d in zip(found, direction)), want, rtol=1e-7)
    np.testing.assert_array_equal(y.numpy(), outputs(x, w).numpy())
    _, pullback, aux = func.vjp(lambda a: ({"s": a.sum()}, 7), x, has_aux=True)
    assert aux == 7 and pullback({"s": paddle.ones([], "float64")})[0].numpy().tolist() == np.ones((3, 4)).tolist()
    with pytest.raises(ValueError, match="vjp"):
        pullback({"t": paddle.ones([], "float64")})


def test_jvp() -> None:
    x, w = tensors(X, W)
    direction = [rng.standard_normal(a.shape) for a in (X, W)]
    y, d, aux = func.jvp(lambda a, b: (outputs(a, b), "aux"), (x, w), tuple(tensors(*direction)), has_aux=True)
    close(d, along(outputs, [X, W], direction))
    assert aux == "aux" and y.shape == [3, 2]
    _, d = func.jvp(lambda a: [a * 2, paddle.ones([2])], (x,), (x,))
    np.testing.assert_array_equal(d[0].numpy(), 2 * X)
    np.testing.assert_array_equal(d[1].numpy(), [0, 0])


def test_traced_functions() -> None:
    x, w = tensors(X, W)
    want = func.grad(loss)(x, w).numpy()
    np.testing.assert_allclose(paddle.jit.to_static(func.grad(loss))(x, w).numpy(), want, rtol=1e-14)
    np.testing.assert_allclose(func.grad(paddle.jit.to_static(loss))(x, w).numpy(), want, rtol=1e-14)
    _, d = paddle.jit.to_static(lambda a: func.jvp(loss, (a, w), (a, w * 0)))(x)
    np.testing.assert_allclose(d.numpy(), (want * X).sum(), rtol=1e-12)
    second, eager = (func.grad(lambda a, f=f: func.grad(f)(a, w).sum())(x) for f in (paddle.jit.to_static(loss), loss))
    np.testing.assert_allclose(second.numpy(), eager.numpy(), rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda x: func.grad(lambda y: y * 2)(x), ValueError),  # no number
        (lambda x: func.grad(lambda y: 2.0)(x), TypeError),
        (lambda x: func.grad(lambda y: y.sum(), 1)(x), ValueError),
        (lambda x: func.grad(lambda y: y.sum())(3.0), TypeError),
        (lambda x: func.grad(lambda y: y.sum())(x.astype("int32")), TypeError),
        (lambda x: func.grad(lambda y: y.sum(), has_aux=True)(x), TypeError),
        (lambda x: func.jvp(lambda y: y, x, (x,)), TypeError),
        (lambda x: func.jvp(lambda y: y, (x,), (x, x)), ValueError),
        (lambda x: func.jvp(lambda y: y, (x,), (paddle.ones([5]),)), ValueError),
    ],
)
def test_errors(call: Any, error: Any) -> None:
    with pytest.raises(error, match=r"\[(grad|jvp)\]"):
        call(paddle.ones([2]))


def numeric(function: Any, x: Any) -> Any:
    """The Jacobian of a function of a vector by central differences."""
    steps = np.eye(x.size)
    return np.stack([along(function, [x], [s.reshape(x.shape)]).reshape(-1) for s in steps], 1)


def test_jacobian() -> None:
    x = paddle.to_tensor(X[0], stop_gradient=False)

    def f(t: Any) -> Any:
        return paddle.sin(paddle.matmul(t, paddle.to_tensor(W))) * t[:2]

    j = paddle.autograd.jacobian(f(x), x)
    want = numeric(f, X[0])
    assert j.shape == [2, 4] and repr(j) == "Jacobian(shape=[2, 4])"
    close(j[:], want)
    close(j[1], want[1])
    close(j[-1, 1:3], want[-1, 1:3])
    close(j[:, 2], want[:, 2])
    close(j[::-1], want[::-1])
    close(j + j, 2 * want)
    close(j.numpy() * paddle.ones([], "float64"), want)
    assert j[2:].shape == [0, 4]
    for bad in (2, (0, 0, 0), Ellipsis):
        with pytest.raises(IndexError):
            j[bad]
    with pytest.raises(TypeError):
        j["a"]


def test_rows_are_computed_when_they_are_read_and_once() -> None:
    x, calls = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False), []
    y = x * x
    y.register_hook(lambda g: calls.append(g.numpy().tolist()))
    j = paddle.autograd.jacobian(y, x)
    assert calls == []
    j[1], j[1, 0], j[1:2]
    assert calls == [[0, 1, 0]]
    j[:]
    assert len(calls) == 3


def test_jacobian_of_several_and_batches() -> None:
    a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (X[0], X[1]))
    found = paddle.autograd.jacobian((a * b, (a * a).sum()), [a, b])
    assert [[j.shape for j in row] for row in found] == [[[4, 4], [4, 4]], [[4], [4]]]
    close(found[0][1][:], np.diag(X[0]))
    close(found[1][0][:], 2 * X[0])
    close(found[1][1][1:3], np.zeros(2))
    x = paddle.to_tensor(X, stop_gradient=False)
    j = paddle.autograd.jacobian(paddle.matmul(x * x, paddle.to_tensor(W)), x, batch_axis=0)
    assert j.shape == [3, 2, 4]
    close(j[:], 2 * X[:, None, :] * W.T[None])
    close(j[1, 1, 2:], 2 * X[1, 2:] * W.T[1, 2:])
    h = paddle.autograd.hessian((x**3).sum(1), x, batch_axis=0)
    close(h[:], 6 * X[:, :, None] * np.eye(4))


def test_hessian() -> None:
    a, b = (paddle.to_tensor(v, stop_gradient=False) for v in (X[0], X[1]))
    h = paddle.autograd.hessian((a * a * b).sum(), [a, b])
    close(h[0][0][:], np.diag(2 * X[1]))
    close(h[0][1][:], np.diag(2 * X[0]))
    close(h[1][1][:], np.zeros((4, 4)))
    assert isinstance(h[0][0], paddle.autograd.jacobian(a, a).__class__)
    with pytest.raises(ValueError, match="hessian"):
        paddle.autograd.hessian(a * b, a)
    with pytest.raises(ValueError, match="batch_axis"):
        paddle.autograd.jacobian(a, a, batch_axis=1)
    with pytest.raises(ValueError, match="axes"):
        paddle.autograd.jacobian(a, paddle.to_tensor(X, stop_gradient=False))


def test_incubate() -> None:
    x, w = tensors(X, W)
    y, found = incubate.vjp(outputs, [x, w])
    assert isinstance(found, tuple) and not y.stop_gradient
    _, d = incubate.jvp(outputs, [x, w], tensors(X, W))
    close(d, along(outputs, [X, W], [X, W]))
    j = incubate.Jacobian(lambda t: outputs(t, w), x)
    assert j.shape == [6, 12]
    close(j[:], numeric(lambda t: outputs(t, w), X))
    h = incubate.Hessian(lambda t: loss(t, w), x)
    close(h[:], numeric(lambda t: func.grad(loss)(t, w), X))
    batch = incubate.Jacobian(lambda t: outputs(t, w), x, is_batched=True)
    close(batch[0], numeric(lambda t: outputs(t, w), X[:1]))
    with pytest.raises(RuntimeError, match="Hessian"):
        incubate.Hessian(lambda t: t, x)


def test_a_matrix_of_rows_that_are_read_without_recording() -> None:
    x = paddle.to_tensor([1.0, 2.0, 3.0], stop_gradient=False)
    y = x * x
    with paddle.no_grad():
        matrix = paddle.autograd.jacobian(y, x)
        assert matrix[:].tolist() == [[2, 0, 0], [0, 4, 0], [0, 0, 6]]


def test_residuals_that_are_not_computed_have_no_gradient() -> None:
    x = paddle.to_tensor([[1.0, 2.0], [3.0, 5.0], [0.5, 1.0]], stop_gradient=False, place=paddle.CPUPlace())
    y = paddle.to_tensor([[1.0], [2.0], [3.0]], place=paddle.CPUPlace())
    slopes = []
    for driver in ("gelsy", "gels"):
        solution = paddle.linalg.lstsq(x, y, driver=driver)[0]
        slopes.append(paddle.grad(solution.sum(), x)[0].numpy())
    assert np.allclose(slopes[0], slopes[1], rtol=1e-3)
