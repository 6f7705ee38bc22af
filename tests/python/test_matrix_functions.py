"""matrix_exp, ormqr, svd_lowrank and pca_lowrank beside mpmath, NumPy and what they promise."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import linalg

PRECISION = {"float32": 2.0**-23, "float64": 2.0**-52}


def exact(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The exponential with 60 digits, rounded to float64."""
    with mpmath.workdps(60):
        found = mpmath.expm(mpmath.matrix(a.tolist()), method="taylor")
        return np.array([[float(v) for v in row] for row in found.tolist()])


def condition(a: np.ndarray[Any, Any]) -> float:
    """A bound of the condition number of the exponential: |a| exp(|a| - alpha), which is |a| for normal matrices (Higham,
    Functions of Matrices, 10.2)."""
    half = np.linalg.eigvalsh((a + a.T) / 2)
    return float(np.linalg.norm(a, 2) * np.exp(2 * max(half.max() - np.linalg.eigvals(a).real.max(), 0.0)))


MATRICES = {
    "small": np.array([[0.1, -0.2], [0.05, 0.3]]),
    "rotation": np.array([[0.0, -3.0], [3.0, 0.0]]),
    "large": np.array([[10.0, 3.0], [3.0, -20.0]]),
    "negative": np.array([[-30.0, 1.0, 0.0], [1.0, -40.0, 2.0], [0.0, 2.0, -35.0]]),
    "nilpotent": np.triu(np.ones([5, 5]), 1),
    "random": np.random.default_rng(1).standard_normal((12, 12)) / 3,
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", MATRICES)
def test_matrix_exp(name: str, dtype: str) -> None:
    """Computed in float64: its own error is that of the precision times the condition, and float32 adds a rounding."""
    a = MATRICES[name].astype(dtype).astype(np.float64)
    found = linalg.matrix_exp(paddle.to_tensor(a.astype(dtype))).numpy()
    want = exact(a)
    n = len(a)
    bound = 10 * n * PRECISION["float64"] * max(condition(a), 1.0) + PRECISION[dtype] / 2
    assert np.linalg.norm(found - want, 1) <= n * bound * np.linalg.norm(want, 1)


def test_matrix_exp_of_batches() -> None:
    """Each matrix has its own scaling, and one that is not finite leaves the others alone."""
    a = np.stack([np.eye(3) * 1e-3, np.eye(3) * 50, np.full((3, 3), np.nan), np.zeros((3, 3))])
    found = linalg.matrix_exp(paddle.to_tensor(a).reshape([2, 2, 3, 3])).numpy().reshape(4, 3, 3)
    for i in (0, 1, 3):
        np.testing.assert_array_equal(found[i], linalg.matrix_exp(paddle.to_tensor(a[i])).numpy())
        np.testing.assert_allclose(np.diag(found[i]), np.exp(np.diag(a[i])), rtol=1e-13)
    assert np.isnan(found[2]).all()
    view = paddle.to_tensor(a[1].astype("float32")).T[::1, ::1]
    np.testing.assert_array_equal(linalg.matrix_exp(view).numpy(), linalg.matrix_exp(view.clone()).numpy())
    assert linalg.matrix_exp(paddle.to_tensor([[2000.0, 0.0], [0.0, 1.0]]))[0, 0].item() == float("inf")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (2, 5, 3)])
def test_ormqr(shape: tuple[int, ...], dtype: str) -> None:
    """All four products beside those with the factor of householder_product, which are of float64 here."""
    random = np.random.default_rng(2)
    x, tau = random.standard_normal(shape), random.standard_normal((*shape[:-2], shape[-1]))
    x, tau = x.astype(dtype), tau.astype(dtype)
    q = linalg.householder_product(
        paddle.to_tensor(x.astype("float64")), paddle.to_tensor(tau.astype("float64"))
    ).numpy()
    for transpose, left in ((False, True), (True, True), (False, False), (True, False)):
        factor = np.swapaxes(q, -1, -2) if transpose else q
        rows, columns = (factor.shape[-1], 2) if left else (2, factor.shape[-2])
        y = random.standard_normal((*shape[:-2], rows, columns)).astype(dtype)
        want = factor @ y if left else y @ factor
        found = linalg.ormqr(paddle.to_tensor(x), paddle.to_tensor(tau), paddle.to_tensor(y), left, transpose)
        size = np.abs(factor) @ np.abs(y) if left else np.abs(y) @ np.abs(factor)
        assert (np.abs(found.numpy() - want) <= (PRECISION[dtype] + 20 * PRECISION["float64"]) * size).all()


def of_rank(shape: tuple[int, ...], rank: int, dtype: str) -> np.ndarray[Any, Any]:
    """Matrices with the singular values 2, 1, 1/2, ... and so on, `rank` of them."""
    random = np.random.default_rng(3)
    u = np.linalg.qr(random.standard_normal((shape[-2], rank)))[0]
    v = np.linalg.qr(random.standard_normal((shape[-1], rank)))[0]
    made = (u * 2.0 ** -np.arange(-1, rank - 1)) @ v.T
    return np.broadcast_to(made, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (5, 5), (2, 1, 12, 20)])
def test_svd_lowrank(shape: tuple[int, ...], dtype: str) -> None:
    """Matrices of rank 4 come back whole, with orthonormal factors and the singular values that they were made of."""
    a = of_rank(shape, 4, dtype)
    for q in (4, 5):
        found = linalg.svd_lowrank(paddle.to_tensor(a), q)
        u, s, v = (np.asarray(t.numpy(), np.float64) for t in found)
        bound = 30 * max(shape) * PRECISION[dtype]
        assert [list(t.shape) for t in found] == [[*shape[:-1], q], [*shape[:-2], q], [*shape[:-2], shape[-1], q]]
        assert np.abs(u * s[..., None, :] @ np.swapaxes(v, -1, -2) - a).max() <= bound
        assert np.abs(s[..., :4] - [2, 1, 0.5, 0.25]).max() <= bound
        for basis in (u, v):
            assert np.abs(np.swapaxes(basis, -1, -2) @ basis - np.eye(q)).max() <= bound


def test_svd_lowrank_of_matrices_of_full_rank() -> None:
    """With gaps between the singular values, four rounds find the largest to a part in 10**4: each round divides what is
    left of the others by 4**2 (Halko, Martinsson and Tropp, 2009, 10.4)."""
    a = of_rank((40, 30), 12, "float64")
    s = linalg.svd_lowrank(paddle.to_tensor(a), 6, niter=4)[1].numpy()
    np.testing.assert_allclose(s[:3], [2, 1, 0.5], rtol=1e-4)
    centred = linalg.svd_lowrank(paddle.to_tensor(a), 2, M=paddle.to_tensor(a))[1].numpy()
    np.testing.assert_array_equal(centred, [0, 0])


def test_pca_lowrank() -> None:
    """The components of centred rows are their singular vectors."""
    a = of_rank((30, 8), 3, "float64") + np.arange(8.0)
    u, s, v = (t.numpy() for t in linalg.pca_lowrank(paddle.to_tensor(a), 3))
    centred = a - a.mean(0)
    np.testing.assert_allclose(s, np.linalg.svd(centred, compute_uv=False)[:3], rtol=1e-12)
    np.testing.assert_allclose(u * s @ v.T, centred, atol=1e-12)
    plain = linalg.pca_lowrank(paddle.to_tensor(a), 4, center=False)[1].numpy()
    np.testing.assert_allclose(plain, np.linalg.svd(a, compute_uv=False)[:4], rtol=1e-12)
    half = paddle.to_tensor(a, "float16").pca_lowrank(2)
    assert [t.dtype.name for t in half] == ["float16"] * 3


def test_operands_of_two_places() -> None:
    x = paddle.ones([2, 2])
    with pytest.raises(ValueError, match="want one place"):
        linalg.ormqr(x, paddle.ones([2]), x.to("mps"))
    with pytest.raises(ValueError, match="want one place"):
        linalg.svd_lowrank(x, M=x.to("mps"))
    there = linalg.svd_lowrank(x.to("mps"))
    assert all(t.place.is_mps_place() for t in there)
