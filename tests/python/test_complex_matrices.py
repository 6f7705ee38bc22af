"""paddle.linalg of complex matrices: backward errors within the bounds of test_factorizations, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import linalg

THRESHOLD = 30.0  # of LAPACK's own tests
PRECISION = {"complex64": 2.0**-23, "complex128": 2.0**-52}
DTYPES = sorted(PRECISION)
SHAPES = [(1, 1), (7, 7), (2, 20, 20), (12, 5), (5, 12), (0, 3, 3)]
SQUARE = [s for s in SHAPES if s[-1] == s[-2]]

Matrix = np.ndarray[Any, Any]


def matrices(shape: tuple[int, ...], dtype: str) -> paddle.Tensor:
    rng = np.random.default_rng(sum(shape))
    return paddle.to_tensor((rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype))


def positive(shape: tuple[int, ...], dtype: str) -> paddle.Tensor:
    """Hermitian matrices without small eigenvalues."""
    a = wide(matrices(shape, dtype))
    return paddle.to_tensor((a @ adjoint(a) + shape[-1] * np.eye(shape[-1])).astype(dtype))


def wide(x: Any) -> Matrix:
    return np.asarray(x.numpy(), np.complex128)


def adjoint(a: Matrix) -> Matrix:
    return np.swapaxes(a, -1, -2).conj()


def near(made: Any, want: Matrix, of: Any, condition: float = 1.0) -> None:
    """The error is of the size of the precision, times the size of the matrices and a condition number."""
    assert str(made.dtype) == f"paddle.{of.dtype.name}" or made.dtype.name in ("float32", "float64")
    bound = THRESHOLD * PRECISION[of.dtype.name] * max(*of.shape[-2:], 1) * condition
    assert np.all(np.abs(wide(made) - want) <= bound * max(np.abs(want).max(initial=0.0), 1.0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_square(shape: tuple[int, ...], dtype: str) -> None:
    x, y = matrices(shape, dtype), matrices((*shape[:-1], 3), dtype)
    a, b, one = wide(x), wide(y), np.eye(shape[-1])
    worst = np.linalg.cond(a).max(initial=1.0)
    near(x @ linalg.inv(x), np.broadcast_to(one, shape), x, worst)
    near(linalg.det(x), np.linalg.det(a), x, worst)
    sign, logarithm = np.linalg.slogdet(a)
    near(linalg.slogdet(x), np.stack([sign, logarithm]), x, worst)
    near(x @ linalg.solve(x, y), b, x, worst)
    near(linalg.matrix_power(x, -1), wide(linalg.inv(x)), x, worst)
    packed, pivots = linalg.lu(x)
    p, lower, upper = linalg.lu_unpack(packed, pivots)
    assert p is not None and lower is not None and upper is not None
    near(p.astype(dtype) @ lower @ upper, a, x)
    near(x @ linalg.lu_solve(y, packed, pivots), b, x, worst)
    for trans, turned in (("T", np.swapaxes(a, -1, -2)), ("C", adjoint(a))):
        solved = wide(linalg.lu_solve(y, packed, pivots, trans))
        near(paddle.to_tensor((turned @ solved).astype(dtype)), b, x, worst)
    near(paddle.triu(x) @ linalg.triangular_solve(x, y), b, x, 1e3 * np.linalg.cond(np.triu(a)).max(initial=1.0))
    assert np.allclose(linalg.cond(x).numpy(), np.linalg.cond(a), rtol=1e-3)
    assert linalg.cond(x).dtype.name == {"complex64": "float32", "complex128": "float64"}[dtype]
    assert np.allclose(linalg.cond(x, 1).numpy(), np.linalg.cond(a, 1), rtol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SQUARE)
def test_hermitian(shape: tuple[int, ...], dtype: str) -> None:
    x, y = positive(shape, dtype), matrices((*shape[:-1], 2), dtype)
    a, b = wide(x), wide(y)
    size = np.abs(a).max(initial=1.0)
    for upper in (False, True):
        factor = linalg.cholesky(x, upper)
        f = wide(factor)
        near(paddle.to_tensor(((adjoint(f) @ f) if upper else (f @ adjoint(f))).astype(dtype)), a, x)
        near(x @ linalg.cholesky_solve(y, factor, upper), b, x, size)
        near(x @ linalg.cholesky_inverse(factor, upper), np.broadcast_to(np.eye(shape[-1]), shape), x, size)
    for uplo in ("L", "U"):
        values, vectors = linalg.eigh(x, uplo)
        assert values.dtype.name == {"complex64": "float32", "complex128": "float64"}[dtype]
        v = wide(vectors)
        near(x @ vectors, v * wide(values)[..., None, :], x, size)
        near(linalg.eigvalsh(x, uplo), np.linalg.eigvalsh(a), x, size)
    near(x @ linalg.pinv(x, hermitian=True) @ x, a, x, size)
    assert (linalg.matrix_rank(x, hermitian=True).numpy() == shape[-1]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    a, k = wide(x), min(shape[-2:])
    q, r = linalg.qr(x)
    near(q @ r, a, x)
    near(
        paddle.to_tensor((adjoint(wide(q)) @ wide(q)).astype(dtype)), np.broadcast_to(np.eye(k), (*shape[:-2], k, k)), x
    )
    u, s, vh = linalg.svd(x)
    near(paddle.to_tensor(((wide(u) * wide(s)[..., None, :]) @ wide(vh)).astype(dtype)), a, x)
    near(linalg.svdvals(x), np.linalg.svd(a, compute_uv=False), x)
    near(x @ linalg.pinv(x) @ x, a, x, 100.0)
    assert (linalg.matrix_rank(x).numpy() == k).all()
    near(linalg.norm(x, "nuc", (-2, -1)), np.linalg.svd(a, compute_uv=False).sum(-1), x)
    if shape[-2] >= shape[-1] and 0 not in shape:
        y = matrices((*shape[:-1], 2), dtype)
        solution = linalg.lstsq(x, y)[0]
        for one, left, right in zip(
            wide(solution).reshape(-1, shape[-1], 2), a.reshape(-1, *shape[-2:]), wide(y).reshape(-1, shape[-2], 2)
        ):
            assert np.allclose(one, np.linalg.lstsq(left, right, rcond=None)[0], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reflections(dtype: str) -> None:
    """LAPACK's reflections of complex columns, as NumPy's raw mode gives them."""
    a = wide(matrices((6, 4), dtype))
    raw, factors = np.linalg.qr(a, "raw")
    q = linalg.householder_product(paddle.to_tensor(raw.T.astype(dtype)), paddle.to_tensor(factors.astype(dtype)))
    near(q, np.linalg.qr(a)[0], q)


@pytest.mark.parametrize("dtype", DTYPES)
def test_low_rank(dtype: str) -> None:
    left, right = wide(matrices((9, 2), dtype)), wide(matrices((2, 7), dtype))
    x = paddle.to_tensor((left @ right).astype(dtype))
    for given in (x, paddle.to_tensor(adjoint(wide(x)).astype(dtype))):
        u, s, v = linalg.svd_lowrank(given, 2)
        near(paddle.to_tensor(((wide(u) * wide(s)) @ adjoint(wide(v))).astype(dtype)), wide(given), given, 10.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, float("inf")])
def test_distances(dtype: str, p: float) -> None:
    x, y = matrices((30, 3), dtype), matrices((4, 3), dtype)
    want = np.linalg.norm(wide(x)[:, None] - wide(y), p, -1)
    near(paddle.cdist(x, y, p), want, x)


def test_what_is_refused() -> None:
    x = matrices((2, 2), "complex64")
    x.stop_gradient = False
    for function in (linalg.inv, linalg.det, linalg.svd, linalg.eigh, linalg.qr, linalg.svdvals, linalg.cond):
        with pytest.raises(paddle.UnsupportedError, match=function.__name__):
            function(x)
        with paddle.no_grad():
            function(x)
    with pytest.raises(ValueError, match="Singular"):
        linalg.inv(paddle.zeros([2, 2], "complex64"))
    with pytest.raises(paddle.UnsupportedError, match="floating-point or complex"):
        linalg.inv(paddle.ones([2, 2], "int32"))
    with pytest.raises(paddle.UnsupportedError, match="pinv"):
        linalg.pinv(x.detach(), paddle.to_tensor(1j))
