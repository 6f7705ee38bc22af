"""The exponential of matrices, products with a factor Q, and factorisations of low rank, as in `_factorizations`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._arrays._creation import to_tensor
from .._calls import _operators
from .._calls._derivative import composed, derivative, derivative_of_real, without_derivative
from .._calls._lapack import Floats, Numbers, adjoint, checked, elements, matrices, result
from .._core import _dtype
from .._core._convert import index, of_one_place, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._randomness._sampling import normals
from ._factorizations import householder_product, reflections, swapped
from ._matrix_parts import product, turned

__all__ = ["matrix_exp", "ormqr", "pca_lowrank", "svd_lowrank"]

# The coefficients of the numerator of the Padé approximant of order 13 to the exponential, and the norm up to which its
# error is below the precision of float64 (Higham, SIAM J. Matrix Anal. Appl. 26, 2005, table 2.3 and (2.4)).
TERMS = [
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0,
    10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
]  # fmt: skip
PADE = [term / TERMS[0] for term in TERMS]  # so that the exponential of 0 is exact
PADE_NORM = 5.371920351148152


def _of_exponential(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    """The upper right block of the exponential of [[A.T, d], [0, A.T]] (Higham, Functions of Matrices, 2008, (3.16))."""
    shape = meta(given.x).shape
    n = shape[-1] if shape else 1
    if n == 1:
        return [d[0] * made[0]]
    a = turned(given.x)
    top, bottom = _operators.concat([a, d[0]], -1), _operators.concat([a * 0.0, a], -1)
    return [matrix_exp(_operators.concat([top, bottom], -2))[..., :n, n:]]


@derivative(_of_exponential, "x")
def matrix_exp(x: Tensor, name: str | None = None) -> Tensor:
    """The exponentials of square matrices, by scaling, a Padé approximant and squaring.

    Args:
        x: of shape [..., n, n], or 0-d; float32 or float64. What is no tensor becomes one. A matrix with an element that
            is not finite has a result of nan.

    Raises:
        UnsupportedError: x is complex.
        ValueError: x has another dtype, or is no batch of square matrices.
    """
    given = x if isinstance(x, Tensor) else to_tensor(x)
    m = meta(given)
    if m.dtype.is_complex:
        raise UnsupportedError(f"[matrix_exp] x is {m.dtype.name}; want float32 or float64")
    if m.dtype.name not in ("float32", "float64"):
        raise ValueError(f"[matrix_exp] x is {m.dtype.name}; want float32 or float64")
    if not m.shape or m.shape[-2:] == (1, 1):
        return _operators.exp(given)
    a = matrices("matrix_exp", given, True)
    finite = np.isfinite(a).all((-2, -1), keepdims=True)
    with np.errstate(over="ignore", invalid="ignore"):
        found = exponential_of(np.where(finite, a, 0.0))
    return result(np.where(finite, found, np.nan), given)


def exponential_of(a: Floats) -> Floats:
    """The exponentials of finite matrices."""
    norms = np.abs(a).sum(-2, keepdims=True).max(-1, keepdims=True, initial=0.0)
    halvings = np.ceil(np.log2(np.maximum(norms / PADE_NORM, 1.0)))
    a = a * np.exp2(-halvings)
    one = np.eye(a.shape[-1])
    a2 = np.matmul(a, a)
    a4, a6 = np.matmul(a2, a2), np.matmul(a2, np.matmul(a2, a2))

    def half(b: list[float]) -> Floats:
        """Every other term, of which the first has the power 0."""
        low = b[3] * a6 + b[2] * a4 + b[1] * a2 + b[0] * one
        whole: Floats = low + np.matmul(a6, b[6] * a6 + b[5] * a4 + b[4] * a2)
        return whole

    odd, even = np.matmul(a, half(PADE[1::2])), half(PADE[::2])
    power: Floats = np.linalg.solve(even - odd, even + odd)
    for i in range(int(halvings.max(initial=0.0))):
        power = np.where(i < halvings, np.matmul(power, power), power)
    return power


def _multiplied(
    x: Tensor, tau: Tensor, y: Tensor, left: bool = True, transpose: bool = False, name: Any = None
) -> Tensor:
    q = householder_product(x, tau)
    q = turned(q) if transpose else q
    return product(q, y) if left else product(y, q)


@derivative_of_real(composed(_multiplied, "x", "tau", "y"), "x", "tau", "y")
def ormqr(
    x: Tensor, tau: Tensor, y: Tensor, left: bool = True, transpose: bool = False, name: str | None = None
) -> Tensor:
    """Q @ y, where Q is `householder_product(x, tau)`.

    Args:
        x: of shape [..., m, n], with m from n.
        tau: of shape [..., n].
        y: of shape [..., n, k]; with transpose or on the left [..., m, k] and so on, as the product needs it.
        left: False: y @ Q.
        transpose: Q.T instead of Q.

    Raises:
        ValueError: an operand is no tensor.
        AssertionError: dtypes differ, or the shapes do not fit.
    """
    operands = [tensor(v, "ormqr", n) for v, n in ((x, "x"), (tau, "tau"), (y, "y"))]
    kinds = [meta(v).dtype for v in operands]
    if any(kind is not kinds[0] for kind in kinds):
        raise AssertionError(f"[ormqr] dtypes are {', '.join(kind.name for kind in kinds)}; want one dtype")
    of_one_place("ormqr", *operands)
    check_factors([list(meta(v).shape) for v in operands], left, transpose)
    q = reflections(elements("ormqr", x), elements("ormqr", tau))
    q, other = swapped(q) if transpose else q, elements("ormqr", y)
    return result(np.matmul(q, other) if left else np.matmul(other, q), y)


def check_factors(shapes: list[list[int]], left: bool, transpose: bool) -> None:
    """Checks the shapes of the operands of ormqr."""
    x, tau, y = shapes
    fits = len(x) == len(y) >= 2 and x[-2] >= x[-1] and tau == [*x[:-2], x[-1]] and x[:-2] == y[:-2]
    if not fits or (y[-2] != x[-2 if transpose else -1] if left else y[-1] != x[-1 if transpose else -2]):
        raise AssertionError(
            f"[ormqr] shapes are {x}, {tau} and {y}; want [..., m, n] with m from n, [..., n] and what the product needs"
        )


@without_derivative
def svd_lowrank(
    x: Tensor, q: int | None = None, niter: int = 2, M: Tensor | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """x - M ~ U @ diag(S) @ V.T of rank q, from products with random vectors.

    A basis of the q largest singular vectors is found by subspace iteration from normally distributed vectors of the
    generator of the place (Halko, Martinsson and Tropp, 2009, algorithms 4.4 and 5.1). So the same seed gives the same
    result; the signs of the vectors, and what is not of rank q, depend on it.

    Args:
        x: of shape [..., m, n].
        q: None: min(6, m, n).
        niter: how often the basis is improved.
        M: broadcasts to the shape of x; None: 0.

    Returns:
        (U, S, V) of shapes [..., m, q], [..., q] and [..., n, q], S from the largest to the smallest.

    Raises:
        ValueError: x is no tensor or has less than two dimensions, M does not fit, or q or niter is out of range.
        TypeError: q or niter is no int.
    """
    a = matrices("svd_lowrank", x)
    rank = wanted("svd_lowrank", q, a, bool(a.size))
    if M is not None:
        of_one_place("svd_lowrank", x, tensor(M, "svd_lowrank", "M"))
        try:
            a = a - np.broadcast_to(elements("svd_lowrank", M), a.shape)
        except ValueError:
            raise ValueError(
                f"[svd_lowrank] shapes are {list(a.shape)} and {list(meta(M).shape)}; want an M that broadcasts to x"
            ) from None
    return lowrank("svd_lowrank", x, a, rank, niter)


@without_derivative
def pca_lowrank(
    x: Tensor, q: int | None = None, center: bool = True, niter: int = 2, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """The first q principal components of rows: `svd_lowrank` of x without the means of its columns.

    Args:
        center: False: x as it is.

    Raises:
        ValueError: as for `svd_lowrank`.
        TypeError: so, too.
    """
    a = matrices("pca_lowrank", x)
    rank = wanted("pca_lowrank", q, a, True)
    if center and a.shape[-2]:
        a = a - a.mean(-2, keepdims=True)
    return lowrank("pca_lowrank", x, a, rank, niter)


def wanted(name: str, q: int | None, a: Numbers, checked: bool) -> int:
    """The rank of an approximation.

    Raises:
        ValueError: q is out of range and is checked.
    """
    most = min(a.shape[-2:])
    rank = min(6, most) if q is None else index("q", q)
    if checked and not 0 <= rank <= most:
        raise ValueError(f"[{name}] q is {rank}; want a number from 0 to {most}")
    return min(max(rank, 0), most)


MOST_ROUNDS = 1000  # of an iteration that converges in a few


def lowrank(name: str, x: Tensor, a: Numbers, rank: int, niter: int | None) -> tuple[Tensor, Tensor, Tensor]:
    """The factors of an approximation to matrices."""
    rounds = 2 if niter is None else index("niter", niter)
    if rounds < 0:
        raise ValueError(f"[{name}] niter is {rounds}; want a number from 0")
    if rounds > MOST_ROUNDS:
        raise ValueError(f"[{name}] niter is {rounds}; want at most {MOST_ROUNDS}")
    wide = a.shape[-2] < a.shape[-1]
    tall = adjoint(a) if wide else a
    basis = orthonormal(np.matmul(tall, directions(tall.shape[-1], rank, x)))
    for _ in range(rounds):
        basis = orthonormal(np.matmul(tall, orthonormal(np.matmul(adjoint(tall), basis))))
    u, s, vh = checked(name, np.linalg.svd, np.matmul(adjoint(basis), tall), full_matrices=False)
    left, right = np.matmul(basis, u), adjoint(vh)
    if wide:
        left, right = right, left
    return result(left, x), result(s, x), result(right, x)


def directions(n: int, rank: int, x: Tensor) -> Floats:
    """Random vectors as columns, drawn in the precision of x."""
    dtype = _dtype.float64 if meta(x).dtype in (_dtype.float64, _dtype.complex128) else _dtype.float32
    drawn: Floats = normals([n, rank], 0.0, 1.0, dtype, meta(x).place).numpy().astype(np.float64)
    return drawn


def orthonormal(a: Numbers) -> Numbers:
    """Orthonormal columns that span those of matrices. One at a time: NumPy 1.21 knows no batches."""
    made = np.empty(a.shape, a.dtype)
    for i in np.ndindex(a.shape[:-2]):
        made[i] = np.linalg.qr(a[i])[0]
    return made


class MatrixMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    ormqr = ormqr
    pca_lowrank = pca_lowrank
    svd_lowrank = svd_lowrank
