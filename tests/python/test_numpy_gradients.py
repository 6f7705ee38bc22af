"""Gradients of what NumPy computes: factorizations, transforms, complex numbers and special functions."""

from __future__ import annotations

import gc
import itertools
from typing import Any

import numpy as np
import pytest
from slopes import first_derivatives, second_derivatives

import paddle_mps as paddle

linalg, fft = paddle.linalg, paddle.fft
rng = np.random.default_rng(11)


def normal(*shape):
    return rng.standard_normal(shape)


def regular(*shape):
    """Matrices far from singular, with singular values far from each other."""
    n = min(shape[-2:])
    u, _, vh = np.linalg.svd(normal(*shape), full_matrices=False)
    return np.matmul(u * np.linspace(1.0, 2.5, n), vh)


def symmetric(x):
    return (x + x.mT) * 0.5


def definite(x):
    n = x.shape[-1]
    return paddle.matmul(x, x, transpose_y=True) + paddle.eye(n, dtype="float64")


def joined(*parts):
    """Results as one vector; complex ones as their parts."""
    real = [p.as_real() if p.dtype in (paddle.complex64, paddle.complex128) else p for p in parts]
    return paddle.concat([paddle.flatten(p) if p.ndim else p.reshape([1]) for p in real])


def z(x):
    """A complex tensor whose parts are the halves of the last axis."""
    n = x.shape[-1] // 2
    return paddle.complex(x[..., :n], x[..., n:])


ORDER_SLOPES = [
    -0.50499326470352037,
    -0.19742541957920247,
    -0.097177972037179651,
]  # of P(x, y) with respect to x, by mpmath.diff
A, B, C = regular(3, 3), normal(3, 2), regular(2, 3, 3)
L = np.tril(regular(3, 3)) + 2 * np.eye(3)
TAU = np.array([0.3, 0.8, 1.1])

CASES = {
    "inv": (linalg.inv, C),
    "inverse of a view": (lambda x: x.mT.inverse(), A),
    "det": (linalg.det, C),
    "slogdet": (lambda x: linalg.slogdet(x)[1], C),
    "solve": (linalg.solve, A, B),
    "solve, broadcast": (linalg.solve, C, B),
    "solve, a batch": (linalg.solve, A, normal(2, 3, 2)),
    "solve, a vector": (linalg.solve, A, normal(3)),
    "solve, vectors": (linalg.solve, C, normal(2, 3)),
    "solve from the right": (lambda x, y: linalg.solve(x, y, left=False), A, normal(2, 3)),
    "solve from the right, a vector": (lambda x, y: linalg.solve(x, y, left=False), A, normal(3)),
    "cholesky": (lambda x: linalg.cholesky(definite(x)), C),
    "cholesky, upper": (lambda x: linalg.cholesky(definite(x), upper=True), A),
    "cholesky_solve": (linalg.cholesky_solve, B, L),
    "cholesky_solve, upper": (lambda x, y: linalg.cholesky_solve(x, y, upper=True), B, L.T.copy()),
    "cholesky_inverse": (linalg.cholesky_inverse, L),
    "cholesky_inverse, upper": (lambda x: linalg.cholesky_inverse(x, upper=True), L.T.copy()),
    "qr": (lambda x: joined(*linalg.qr(x)), C),
    "qr, tall": (lambda x: joined(*linalg.qr(x)), regular(4, 2)),
    "qr, wide": (lambda x: joined(*linalg.qr(x)), regular(2, 4)),
    "qr, R": (lambda x: linalg.qr(x, "r"), regular(3, 2)),
    "qr, complete": (lambda x: joined(*linalg.qr(x, "complete")), A),
    "svd": (lambda x: joined(*[p**2 for p in linalg.svd(x)]), C),
    "svd, tall": (lambda x: joined(*[p**2 for p in linalg.svd(x)]), regular(4, 2)),
    "svd, wide": (lambda x: joined(*[p**2 for p in linalg.svd(x)]), regular(2, 4)),
    "svdvals": (linalg.svdvals, regular(2, 4, 3)),
    "eigh": (lambda x: joined(*[p**2 for p in linalg.eigh(symmetric(x))]), regular(2, 3, 3)),
    "eigh, upper": (lambda x: joined(*[p**2 for p in linalg.eigh(symmetric(x), "U")]), A),
    "eigvalsh": (lambda x: linalg.eigvalsh(symmetric(x)), C),
    "pinv": (linalg.pinv, regular(4, 2)),
    "pinv, wide": (linalg.pinv, regular(2, 2, 4)),
    "pinv, hermitian": (lambda x: linalg.pinv(symmetric(x), hermitian=True), A),
    "pinv, a part": (lambda x: linalg.pinv(x, rcond=0.5), A),
    "matrix_power": (lambda x: linalg.matrix_power(x, -2), A),
    "cond": (linalg.cond, C),
    "cond, smallest": (lambda x: linalg.cond(x, -2), C),
    "cond, 1": (lambda x: linalg.cond(x, 1), A),
    "cond, fro": (lambda x: linalg.cond(x, "fro"), C),
    "cond, nuc": (lambda x: linalg.cond(x, "nuc"), A),
    "norm, nuc": (lambda x: paddle.norm(x, "nuc", [-2, -1]), regular(2, 2, 3)),
    "norm, 2": (lambda x: linalg.matrix_norm(x, 2), C),
    "lu": (lambda x: linalg.lu(x)[0], C),
    "lu, tall": (lambda x: linalg.lu(x)[0], regular(4, 2)),
    "lu, wide": (lambda x: linalg.lu(x)[0], regular(2, 4)),
    "lu_unpack": (lambda x: joined(*linalg.lu_unpack(*linalg.lu(x))[1:]), C),
    "lu_unpack, tall": (lambda x: joined(*linalg.lu_unpack(*linalg.lu(x))[1:]), regular(4, 2)),
    "lu_unpack, wide": (lambda x: joined(*linalg.lu_unpack(*linalg.lu(x))[1:]), regular(2, 4)),
    "lu_solve": (lambda b, x: linalg.lu_solve(b, *linalg.lu(x)[:2]), B, A),
    "lu_solve, transposed": (lambda b, x: linalg.lu_solve(b, linalg.lu(x)[0], linalg.lu(x)[1], "T"), B, A),
    "lu_solve, its factors": (
        lambda b, f: linalg.lu_solve(b, f, paddle.to_tensor([2, 3, 3], "int32"), "T"),
        B,
        regular(3, 3) + 2 * np.eye(3),
    ),
    "lstsq": (lambda x, y: linalg.lstsq(x, y)[0], regular(4, 2), normal(4, 3)),
    "lstsq, residuals": (lambda x, y: linalg.lstsq(x, y, driver="gelsd")[1], regular(4, 2), normal(4, 3)),
    "lstsq, values": (lambda x: linalg.lstsq(x, x, driver="gelss")[3], regular(3, 4)),
    "householder_product": (linalg.householder_product, normal(4, 3), TAU),
    "householder_product, fewer": (linalg.householder_product, normal(4, 3), TAU[:2]),
    "ormqr": (linalg.ormqr, normal(4, 3), TAU, normal(3, 2)),
    "ormqr, transposed": (lambda x, t, y: linalg.ormqr(x, t, y, transpose=True), normal(4, 3), TAU, normal(4, 2)),
    "matrix_exp": (linalg.matrix_exp, C),
    "matrix_exp of a number": (linalg.matrix_exp, normal(1, 1)),
    "polygamma": (lambda x: paddle.polygamma(x, 1), rng.uniform(0.5, 3.0, 4)),
    "polygamma, 3": (lambda x: x.polygamma(3), rng.uniform(1.0, 3.0, 4)),
    "gammainc": (
        lambda y: paddle.gammainc(paddle.to_tensor([[0.5], [1.0], [3.0]], "float64"), y),
        rng.uniform(0.4, 4, 5),
    ),
    "gammaincc": (lambda y: paddle.gammaincc(paddle.to_tensor(2.0, "float64"), y), rng.uniform(0.4, 4, 5)),
    "fft": (lambda x: joined(fft.fft(x)), normal(2, 5)),
    "fft, cut": (lambda x: joined(fft.fft(x, 3, 0, "ortho")), normal(5, 2)),
    "fft, filled up": (lambda x: joined(fft.fft(z(x), 5, norm="forward")), normal(2, 6)),
    "ifft": (lambda x: joined(fft.ifft(z(x))), normal(2, 6)),
    "fft2": (lambda x: joined(fft.fft2(z(x), norm="ortho")), normal(3, 4)),
    "ifftn": (lambda x: joined(fft.ifftn(z(x), [2, 3], [0, 1])), normal(3, 4)),
    "shifts": (lambda x: joined(fft.ifftshift(fft.fftshift(z(x), 0))), normal(3, 4)),
}
for n, norm in itertools.product((4, 5), ("backward", "ortho", "forward")):
    half = 2 * (n // 2 + 1)
    CASES |= {
        f"rfft {n} {norm}": (lambda x, norm=norm: joined(fft.rfft(x, norm=norm)), normal(2, n)),
        f"ihfft {n} {norm}": (lambda x, norm=norm: joined(fft.ihfft(x, norm=norm)), normal(2, n)),
        f"rfftn {n} {norm}": (lambda x, n=n, norm=norm: joined(fft.rfftn(x, [2, n], norm=norm)), normal(3, 4)),
        f"ihfftn {n} {norm}": (lambda x, n=n, norm=norm: joined(fft.ihfftn(x, [4, n], norm=norm)), normal(3, 4)),
        f"irfft {n} {norm}": (lambda x, n=n, norm=norm: fft.irfft(z(x), n, norm=norm), normal(2, half)),
        f"hfft {n} {norm}": (lambda x, n=n, norm=norm: fft.hfft(z(x), n, norm=norm), normal(2, half)),
        f"irfftn {n} {norm}": (lambda x, n=n, norm=norm: fft.irfftn(z(x), [2, n], norm=norm), normal(3, half)),
        f"hfftn {n} {norm}": (lambda x, n=n, norm=norm: fft.hfftn(z(x), [4, n], norm=norm), normal(3, half)),
    }
for upper, transposed, unit in itertools.product((False, True), repeat=3):
    CASES[f"triangular_solve {upper} {transposed} {unit}"] = (
        lambda x, y, how=(upper, transposed, unit): linalg.triangular_solve(x, y, *how),
        regular(3, 3) + 2 * np.eye(3),
        normal(2, 3, 2),
    )

W = normal(2, 6)  # complex numbers by their parts
OF_NUMBERS = {
    "parts": lambda a: joined(a.real(), a.imag() ** 2, paddle.as_real(a), paddle.as_complex(a.as_real())),
    "abs": paddle.abs,
    "angle": paddle.angle,
    "sign": lambda a: joined(paddle.sgn(a)),
    "conj": lambda a: joined(a.conj() * a),
    "polar": lambda a: joined(paddle.polar(a.real(), a.imag())),
    "arithmetic": lambda a: joined((a * (2 - 1j) + 3.0) / (a - 0.5j) - a[:, :1] * a.real() - 1 / a),
    "a number to a power": lambda a: joined(paddle.pow(a, 3), a**a),
    "sums": lambda a: joined(a.sum(), a.mean(0), a.sum(1, keepdim=True), a.cumsum(1), a.cumsum()),
    "matmul": lambda a: joined(a @ a.T, a.T @ a, a @ a[0], a[:, 0] @ a, paddle.matmul(a, a, True, False)),
    "where": lambda a: joined(paddle.where(a.real() > 0, a, a * 2j)),
    "views": lambda a: joined(a[:, 1:], a.T[::2], paddle.concat([a, a], 0).reshape([-1]), paddle.stack([a, a * a])),
    "broadcast": lambda a: joined(paddle.expand(a[:1], [3, 3]) * paddle.tile(a, [2, 1])[:3]),
    "indices": lambda a: joined(a[paddle.to_tensor([1, 0, 1])], paddle.index_select(a * a, paddle.to_tensor([0, 0]), 1)),
    "powers": lambda a: joined(paddle.square(a), paddle.sqrt(a), paddle.reciprocal(a), -a),
    "exponentials": lambda a: joined(paddle.exp(a), paddle.expm1(a), paddle.sigmoid(a), paddle.nn.functional.silu(a)),
    "logarithms": lambda a: joined(paddle.log(a), paddle.log2(a), paddle.log10(a), paddle.log1p(a)),
    "circles": lambda a: joined(paddle.sin(a), paddle.cos(a), paddle.tan(a), paddle.asin(a), paddle.acos(a), paddle.atan(a)),
    "hyperbolas": lambda a: joined(paddle.sinh(a), paddle.cosh(a), paddle.tanh(a), paddle.asinh(a), paddle.acosh(a), paddle.atanh(a)),
    "casts": lambda a: joined(a.real().astype("complex128") * a, (a * 2).astype("complex128")),
}  # fmt: skip
CASES |= {f"complex {name}": (lambda x, f=f: f(z(x)), W) for name, f in OF_NUMBERS.items()}


@pytest.mark.parametrize("name", CASES)
def test_against_finite_differences(name):
    function, *arrays = CASES[name]
    first_derivatives(function, arrays, rng, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_gradients(name):
    function, *arrays = CASES[name]
    second_derivatives(function, arrays, rng, rtol=1e-5, atol=1e-5)


def test_the_order_of_an_incomplete_gamma_function():
    """No closed form: by differences."""
    x = paddle.to_tensor([0.5, 2.0, 10.0, 0.0], "float64", stop_gradient=False)
    y = paddle.to_tensor([0.75, 3.0, 12.0, 1.0], "float64", stop_gradient=False)
    paddle.gammainc(x, y).sum().backward()
    lower = x.grad.numpy()
    assert np.isnan(lower[3])
    np.testing.assert_allclose(lower[:3], ORDER_SLOPES, rtol=1e-9)
    x.clear_grad(False)
    paddle.gammaincc(x, y).sum().backward()
    np.testing.assert_array_equal(x.grad.numpy()[:3], -lower[:3])
    with pytest.raises(paddle.UnsupportedError, match="gammainc"):
        paddle.grad(paddle.grad(paddle.gammainc(x, y).sum(), x, create_graph=True)[0].sum(), x)


def test_singular_matrices():
    x = paddle.to_tensor([[1.0, 2.0], [2.0, 4.0]], "float64", stop_gradient=False)
    paddle.linalg.det(x).backward()
    np.testing.assert_allclose(x.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-14)
    with pytest.raises(paddle.UnsupportedError, match="det"):
        paddle.grad(paddle.grad(linalg.det(x), x, create_graph=True)[0].sum(), x)
    assert np.isnan(paddle.grad(linalg.slogdet(x)[1], x)[0].numpy()).all()


def test_half_precision_is_computed_in_float32():
    for dtype in ("float16", "bfloat16"):
        x = paddle.to_tensor([[2.0, 1.0], [1.0, 3.0]], dtype, stop_gradient=False)
        linalg.inv(x).sum().backward()
        assert x.grad.dtype == x.dtype
        np.testing.assert_allclose(x.grad.astype("float32").numpy(), [[-0.16, -0.08], [-0.08, -0.04]], rtol=1e-2)


def test_what_is_not_determined_is_refused():
    x = paddle.to_tensor(normal(4, 2), stop_gradient=False)
    for call in (lambda: linalg.qr(x, "complete")[0], lambda: linalg.svd(x, True)[0]):
        with pytest.raises(paddle.UnsupportedError, match="not determined"):
            call().sum().backward()
    for call in (lambda: linalg.eig(x[:2]), lambda: linalg.svd_lowrank(x)):
        with pytest.raises(paddle.UnsupportedError, match="no gradient"):
            call()
    assert linalg.matrix_rank(x).stop_gradient
    with pytest.raises(paddle.UnsupportedError, match="prod"):
        paddle.prod(paddle.complex(x, x))


def test_results_in_tensors_of_the_caller():
    x, y = (paddle.to_tensor(a, stop_gradient=False) for a in (A, B))
    out = paddle.zeros([3, 2], "float64")
    assert linalg.solve(x, y, out=out) is out
    out.sum().backward()
    parts: Any = tuple(paddle.zeros([3, 3] if i != 1 else [3], "float64") for i in range(3))
    assert linalg.svd(x, out=parts)[1] is parts[1]
    want = paddle.grad(linalg.svdvals(x).sum(), x)[0].numpy()
    np.testing.assert_allclose(paddle.grad(parts[1].sum(), x)[0].numpy(), want, rtol=1e-12)
    spectrum = paddle.zeros([3, 3], "complex128")
    fft.fft(x, out=spectrum)
    assert not spectrum.stop_gradient


def test_what_was_read_must_not_change():
    x = paddle.to_tensor(A, stop_gradient=False)
    for changed in (0, 1):
        operand = x * 1
        made = linalg.inv(operand)
        with paddle.no_grad():
            (operand, made)[changed].add_(paddle.ones([], "float64"))
        with pytest.raises(ValueError, match="changed in place"):
            made.sum().backward()


def test_memory_returns_without_a_backward_pass():
    x = paddle.to_tensor(np.eye(300), stop_gradient=False)
    linalg.inv(x)
    gc.disable()
    try:
        start = paddle.mps.memory_allocated("cpu")
        for _ in range(10):
            linalg.inv(x)
            paddle.complex(x, x) * 2j
        assert paddle.mps.memory_allocated("cpu") <= start + (1 << 20)
    finally:
        gc.enable()


def test_leaves_of_complex_numbers():
    a = paddle.to_tensor([1 + 2j, 3 - 1j])
    a.stop_gradient = False
    (a * a.conj()).real().sum().backward()
    np.testing.assert_array_equal(a.grad.numpy(), 2 * a.numpy())
    (a * 2).backward()  # with ones
    np.testing.assert_array_equal(a.grad.numpy(), 2 * a.numpy() + 2)
    a.clear_grad()
    assert a.grad.numpy().tolist() == [0, 0]
    hook = a.register_hook(lambda g: g * 1j)
    (2 * a).backward()
    np.testing.assert_array_equal(a.grad.numpy(), [2j, 2j])
    hook.remove()


def test_parts_of_what_has_changed():
    y = paddle.to_tensor([[1.0, 2.0]], stop_gradient=False) * 1
    parts = paddle.as_complex(y)
    with paddle.no_grad():
        y.add_(paddle.ones([]))
    with pytest.raises(ValueError, match="view"):
        parts * 2
