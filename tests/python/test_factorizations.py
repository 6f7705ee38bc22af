"""How near the results of paddle.linalg are to the truth.

The bounds are those of LAPACK's own tests (LAPACK Working Note 41): a backward error, divided by the size of the
matrix and the precision of the dtype, is below 30.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import linalg

THRESHOLD = 30.0
PRECISION = {"float32": 2.0**-23, "float64": 2.0**-52}
SHAPES = [(1, 1), (2, 2), (7, 7), (40, 40), (3, 20, 20), (12, 5), (5, 12), (2, 30, 11)]
SQUARE = [s for s in SHAPES if s[-1] == s[-2]]


def matrices(shape: tuple[int, ...], dtype: str) -> paddle.Tensor:
    """Normally distributed elements, of sizes that differ from row to row."""
    numbers = np.random.default_rng(sum(shape)).standard_normal(shape)
    return paddle.to_tensor((numbers * np.logspace(-2, 2, shape[-2])[:, None]).astype(dtype))


def wide(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray(x.numpy(), np.float64)


def turned(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.swapaxes(a, -1, -2)


def ratio(error: Any, size: Any, n: int, dtype: str) -> float:
    """The largest norm of an error beside n times the precision times the size of what it is an error of."""
    norms = np.linalg.norm(error, 1, (-2, -1))
    return float(np.max(norms / (n * PRECISION[dtype] * np.maximum(size, 1e-300))))


def norm(a: np.ndarray[Any, Any]) -> Any:
    return np.linalg.norm(a, 1, (-2, -1))


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    q, r = map(wide, linalg.qr(x))
    n = max(shape[-2:])
    assert ratio(wide(x) - q @ r, norm(wide(x)), n, dtype) < THRESHOLD
    assert ratio(np.eye(q.shape[-1]) - turned(q) @ q, 1.0, n, dtype) < THRESHOLD
    assert not np.tril(r, -1).any()


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SHAPES)
def test_svd(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    u, s, vh = map(wide, linalg.svd(x))
    n = max(shape[-2:])
    assert ratio(wide(x) - (u * s[..., None, :]) @ vh, norm(wide(x)), n, dtype) < THRESHOLD
    assert ratio(np.eye(s.shape[-1]) - turned(u) @ u, 1.0, n, dtype) < THRESHOLD
    assert ratio(np.eye(s.shape[-1]) - vh @ turned(vh), 1.0, n, dtype) < THRESHOLD
    assert (np.diff(s) <= 0).all() and (s >= 0).all()


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("triangle", "LU")
@pytest.mark.parametrize("shape", SQUARE)
def test_eigh(shape: tuple[int, ...], triangle: str, dtype: str) -> None:
    a = wide(matrices(shape, dtype))
    x = paddle.to_tensor((a + turned(a)).astype(dtype))
    other = np.triu(np.ones(shape), 1) if triangle == "L" else np.tril(np.ones(shape), -1)
    values, z = map(wide, linalg.eigh(x + paddle.to_tensor(99 * other.astype(dtype)), triangle))
    assert ratio(wide(x) - (z * values[..., None, :]) @ turned(z), norm(wide(x)), shape[-1], dtype) < THRESHOLD
    assert ratio(np.eye(shape[-1]) - turned(z) @ z, 1.0, shape[-1], dtype) < THRESHOLD
    assert (np.diff(values) >= 0).all()


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SQUARE)
def test_cholesky(shape: tuple[int, ...], dtype: str) -> None:
    a = wide(matrices(shape, dtype))
    x = paddle.to_tensor((a @ turned(a) + np.eye(shape[-1])).astype(dtype))
    for upper in (False, True):
        factor = wide(linalg.cholesky(x, upper))
        product = turned(factor) @ factor if upper else factor @ turned(factor)
        assert ratio(wide(x) - product, norm(wide(x)), shape[-1], dtype) < THRESHOLD


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu(shape: tuple[int, ...], dtype: str) -> None:
    x = matrices(shape, dtype)
    p, lower, upper = map(wide, linalg.lu_unpack(*linalg.lu(x)))
    assert ratio(wide(x) - p @ lower @ upper, norm(wide(x)), max(shape[-2:]), dtype) < THRESHOLD
    assert (np.abs(lower) <= 1).all()


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SQUARE)
def test_solutions(shape: tuple[int, ...], dtype: str) -> None:
    """By elimination, from stored factors, by substitution in a triangle, and by the inverse on either side."""
    x, n = matrices(shape, dtype), shape[-1]
    b = paddle.to_tensor(np.random.default_rng(1).standard_normal((*shape[:-1], 3)).astype(dtype))
    factors, pivots = linalg.lu(x)
    for trans in "NT":
        a = wide(x) if trans == "N" else turned(wide(x))
        for z in (linalg.lu_solve(b, factors, pivots, trans), linalg.solve(x if trans == "N" else x.mT, b)):
            assert ratio(a @ wide(z) - wide(b), norm(a) * norm(wide(z)), n, dtype) < THRESHOLD
    for upper in (False, True):
        a = np.triu(wide(x)) if upper else np.tril(wide(x))
        found = wide(linalg.triangular_solve(x, b, upper))
        assert ratio(a @ found - wide(b), norm(a) * norm(found), n, dtype) < THRESHOLD
    inverse = wide(linalg.inv(x))
    assert ratio(wide(x) @ inverse - np.eye(n), norm(wide(x)) * norm(inverse), n, dtype) < THRESHOLD


@pytest.mark.parametrize("upper", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_substitution_reads_one_triangle(upper: bool, transpose: bool) -> None:
    """NaN in the other triangle is not read; a 0 on the diagonal gives inf or NaN in its row and in those that depend on
    it; a NaN stays in its column."""
    n, zero = 50, 31
    a = np.random.default_rng(1).standard_normal((n, n)) + 8 * np.eye(n)
    b = np.random.default_rng(2).standard_normal((2, n, 3))
    triangle = np.triu(a) if upper else np.tril(a)
    given = np.where(triangle == 0, np.nan, triangle)

    def solved(given: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return wide(linalg.triangular_solve(paddle.to_tensor(given), paddle.to_tensor(b), upper, transpose))

    want = np.linalg.solve(triangle.T if transpose else triangle, b)
    np.testing.assert_allclose(solved(given, b), want, rtol=1e3 * n * PRECISION["float64"])
    b[0, :, 1] = np.nan
    assert np.array_equal(np.isnan(solved(given, b)), np.isnan(b))
    b[0, :, 1], given[zero, zero] = 1, 0
    done = np.arange(n) > zero if upper != transpose else np.arange(n) < zero
    assert np.array_equal(np.isfinite(solved(given, b)), np.broadcast_to(done[:, None], b.shape))


@pytest.mark.parametrize("dtype", PRECISION)
@pytest.mark.parametrize("shape", SHAPES)
def test_pinv_and_lstsq(shape: tuple[int, ...], dtype: str) -> None:
    """Moore and Penrose's first two conditions, and residuals that are orthogonal to the columns."""
    x, n = matrices(shape, dtype), max(shape[-2:])
    a, inverse = wide(x), wide(linalg.pinv(x))
    size = norm(a) * norm(inverse)
    assert ratio(a @ inverse @ a - a, size * norm(a), n, dtype) < THRESHOLD
    assert ratio(inverse @ a @ inverse - inverse, size * norm(inverse), n, dtype) < THRESHOLD
    b = paddle.to_tensor(np.random.default_rng(2).standard_normal((*shape[:-1], 2)).astype(dtype))
    z = wide(linalg.lstsq(x, b)[0])
    residual = wide(b) - a @ z
    bound = norm(turned(a)) * (norm(a) * norm(z) + norm(wide(b)))
    assert ratio(turned(a) @ residual, bound, n, dtype) < THRESHOLD


def test_det_of_known_factors() -> None:
    x = matrices((6, 6), "float64")
    sign, logarithm = wide(linalg.slogdet(x))
    assert np.isclose(float(linalg.det(x)), sign * np.exp(logarithm), rtol=6 * 30 * PRECISION["float64"])
    assert np.isclose(abs(float(linalg.det(x))), np.prod(wide(linalg.svdvals(x))), rtol=6 * 30 * PRECISION["float64"])


def test_moments_far_from_zero() -> None:
    """Float32 numbers near 1e8 are 8 apart: their deviation is that of what they are, not of their rounding."""
    numbers = (1e8 + 100 * np.random.default_rng(0).standard_normal(100_000)).astype(np.float32)
    got = float(paddle.std(paddle.to_tensor(numbers)))
    assert abs(got / np.std(numbers.astype(np.float64), ddof=1) - 1) < 20 * 2.0**-23  # log2(n) additions in pairs


def test_logsumexp_does_not_overflow() -> None:
    assert float(paddle.logsumexp(paddle.to_tensor([88.8, 88.8]))) == pytest.approx(88.8 + np.log(2), rel=2.0**-22)
    assert float(paddle.logsumexp(paddle.to_tensor([-1e30, -1e30]))) == pytest.approx(-1e30)
