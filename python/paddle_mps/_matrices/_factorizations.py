"""Factorisations of matrices on the CPU, by the LAPACK that NumPy carries.

Everything is computed in float64, or for complex matrices in complex128, and rounded once to the dtype of the operand;
results are on its place. What NumPy lacks, an LU factorisation and substitution in triangles, is here in its textbook form
(Golub and Van Loan, Matrix Computations, 3.1 and 3.4). Gradients are those of real matrices.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .._calls import _operators
from .._calls._call import into
from .._calls._derivative import derivative_of_real, without_derivative
from .._calls._lapack import Numbers, adjoint, checked, counts, elements, matrices, numbers, result, singular_values
from .._calls._precision import fractional, rounded
from .._core import _dtype
from .._core._convert import flag, of_one_dtype, of_one_place, real, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._core._place import device_name
from .._devices import _default_place
from . import _matrix_gradients as _rules
from ._singular import svd, svdvals
from ._statistics import matrix_norm

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "cholesky",
    "cholesky_inverse",
    "cholesky_solve",
    "cond",
    "det",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "lstsq",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_rank",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "triangular_solve",
]


def swapped(a: Numbers) -> Numbers:
    """The transposes of matrices, without conjugates."""
    return np.swapaxes(a, -1, -2)


@derivative_of_real(_rules.cholesky, "x")
def cholesky(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The triangular factors of positive definite matrices, symmetric or Hermitian: x = L @ L.H, or U.H @ U.

    Only the lower triangle of x is read, or the upper one if upper is True.

    Raises:
        ValueError: x is no tensor, or a matrix is not positive definite.
        AssertionError: x is no batch of square matrices.
    """
    a = matrices("cholesky", x, True, AssertionError)
    factor = checked("cholesky", np.linalg.cholesky, adjoint(a) if upper else a)
    return result(adjoint(factor) if upper else factor, x)


@derivative_of_real(_rules.cholesky_solve, "x", "y")
def cholesky_solve(x: Tensor, y: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The solutions z of (L @ L.H) z = x, for the factor y of `cholesky`.

    Raises:
        ValueError: an operand is no tensor, or the shapes do not fit.
    """
    of_one_place("cholesky_solve", tensor(x, "cholesky_solve", "x"), tensor(y, "cholesky_solve", "y"))
    b, factor = matrices("cholesky_solve", x), matrices("cholesky_solve", y, True)
    check_rows("cholesky_solve", factor, b)
    lower = adjoint(factor) if upper else factor
    return result(substituted(adjoint(lower), substituted(lower, b, False, False), True, False), x)


@derivative_of_real(_rules.cholesky_inverse, "x")
def cholesky_inverse(x: Tensor, upper: bool = False, name: str | None = None) -> Tensor:
    """The inverse of L @ L.H, for the factor x of `cholesky`.

    Raises:
        ValueError: x is no tensor, or no square matrix.
    """
    a = matrices("cholesky_inverse", x, True)
    lower = adjoint(a) if upper else a
    inverse = substituted(lower, np.eye(a.shape[-1]), False, False)
    return result(np.matmul(adjoint(inverse), inverse), x)


def check_rows(name: str, a: Numbers, b: Numbers) -> None:
    if a.shape[-1] != b.shape[-2]:
        raise ValueError(f"[{name}] shapes are {list(a.shape)} and {list(b.shape)}; want [..., n, n] and [..., n, k]")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise ValueError(
            f"[{name}] batches are {list(a.shape[:-2])} and {list(b.shape[:-2])}; want ones that broadcast"
        ) from None


# Rows of a triangle up to which it is solved row by row: with more of them, the calls of NumPy are products of matrices.
SUBSTITUTED_ROWS = 16


def substituted(a: Numbers, b: Numbers, upper: bool, unit: bool) -> Numbers:
    """The solutions z of a z = b for triangular matrices, by substitution; 0 on a diagonal gives inf or nan."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    z = np.array(np.broadcast_to(b, (*batch, *b.shape[-2:])), np.result_type(a, b))
    with np.errstate(all="ignore"):
        substitute(a, z, upper, unit)
    return z


def substitute(a: Numbers, z: Numbers, upper: bool, unit: bool) -> None:
    """`substituted` in the memory of z: one half of the triangle after the other, and in between a product of matrices.

    The other triangle of a is not read.
    """
    n = a.shape[-1]
    if n > SUBSTITUTED_ROWS:
        first, second = slice(0, n // 2), slice(n // 2, n)
        if upper:
            first, second = second, first
        substitute(a[..., first, first], z[..., first, :], upper, unit)
        z[..., second, :] -= np.matmul(a[..., second, first], z[..., first, :])
        substitute(a[..., second, second], z[..., second, :], upper, unit)
        return
    for i in reversed(range(n)) if upper else range(n):
        if not unit:
            z[..., i, :] /= a[..., i, i, None]
        rest = slice(0, i) if upper else slice(i + 1, n)
        z[..., rest, :] -= a[..., rest, i, None] * z[..., i, None, :]


@derivative_of_real(_rules.triangular_solve, "x", "y")
def triangular_solve(
    x: Tensor,
    y: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
    name: str | None = None,
) -> Tensor:
    """The solutions z of x z = y for triangular matrices.

    Args:
        upper: x is the upper triangle, and what is below it is not read; False: the lower one.
        transpose: solve x.T z = y.
        unitriangular: the diagonal is 1, and not read.

    Raises:
        ValueError: an operand is no tensor, or the shapes do not fit.
    """
    of_one_dtype("triangular_solve", tensor(x, "triangular_solve", "x"), tensor(y, "triangular_solve", "y"))
    of_one_place("triangular_solve", x, y)
    a, b = matrices("triangular_solve", x, True), matrices("triangular_solve", y)
    check_rows("triangular_solve", a, b)
    return result(substituted(swapped(a) if transpose else a, b, upper != transpose, unitriangular), y)


@derivative_of_real(_rules.inv, "x")
def inv(x: Tensor, name: str | None = None) -> Tensor:
    """The inverses of matrices.

    Raises:
        ValueError: x is no tensor or no batch of square matrices, or a matrix is singular.
    """
    return result(checked("inv", np.linalg.inv, matrices("inv", x, True)), x)


@derivative_of_real(_rules.det, "x")
def det(x: Tensor, name: str | None = None) -> Tensor:
    """The determinants of matrices.

    Raises:
        ValueError: x is no tensor, or no batch of square matrices.
    """
    with np.errstate(over="ignore"):
        return result(np.linalg.det(matrices("det", x, True)), x)


@derivative_of_real(_rules.cofactors, "x")
def cofactors(x: Tensor) -> Tensor:
    """det(x) * inv(x).T, also of singular matrices, of which it has no gradient.

    With x = U @ diag(S) @ VH that is det(U) * det(VH) * U @ diag(products of all but one of S) @ VH.
    """
    u, s, vh = checked("det", np.linalg.svd, matrices("det", x, True))
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1.0, s[..., None, :]).prod(-1)
    sign = (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return result(sign * np.matmul(u * others[..., None, :], vh), x)


@derivative_of_real(_rules.slogdet, "x")
def slogdet(x: Tensor, name: str | None = None) -> Tensor:
    """The signs of determinants, and the logarithms of their magnitudes, in a tensor of shape [2, ...].

    Raises:
        ValueError: x is no tensor, or no batch of square matrices.
    """
    sign, logarithm = np.linalg.slogdet(matrices("slogdet", x, True))
    return result(np.stack([sign, logarithm]), x)


@derivative_of_real(_rules.solve, "x", "y")
def solve(x: Tensor, y: Tensor, left: bool = True, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """The solutions z of x z = y, or of z x = y if left is False.

    Args:
        y: matrices; or vectors, if it has one dimension or the shape of x without its last axis.
        out: takes the result and is returned.

    Raises:
        ValueError: an operand is no tensor, dtypes differ, the shapes do not fit, or a matrix is singular.
    """
    of_one_dtype("solve", tensor(x, "solve", "x"), tensor(y, "solve", "y"))
    of_one_place("solve", x, y)
    a, b = matrices("solve", x, True), elements("solve", y)
    vectors = b.ndim == 1 or b.shape == a.shape[:-1]
    if not left:
        a, b = swapped(a), b if vectors else swapped(b)
    columns = b[..., None] if vectors else b
    check_rows("solve", a, columns)
    batch = np.broadcast_shapes(a.shape[:-2], columns.shape[:-2])  # NumPy 1 takes [2, 2] beside [3, 2, 2] for vectors
    columns = np.broadcast_to(columns, (*batch, *columns.shape[-2:]))
    found = checked("solve", np.linalg.solve, a, columns)
    found = found[..., 0] if vectors else found if left else swapped(found)
    return into(out, result(found, x))


@derivative_of_real(_rules.qr, "x")
def qr(x: Tensor, mode: str = "reduced", name: str | None = None) -> Any:
    """x = Q @ R with orthonormal columns of Q and an upper triangle R, by Householder's reflections.

    Args:
        mode: "reduced" for the first min(m, n) columns of Q, "complete" for all m, "r" for R alone.

    Returns:
        (Q, R), or R.

    Raises:
        ValueError: x is no tensor, has less than two dimensions, or there is no such mode.
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"[qr] mode is {mode!r}; want 'reduced', 'complete' or 'r'")
    a = matrices("qr", x)
    m, n = a.shape[-2:]
    k = m if mode == "complete" else min(m, n)
    # One at a time: NumPy 1.21 knows no batches.
    pairs = (
        [np.linalg.qr(one, "complete" if mode == "complete" else "reduced") for one in a.reshape(-1, m, n)]
        if a.size
        else []
    )
    q = (
        np.array([pair[0] for pair in pairs])
        if pairs
        else np.broadcast_to(np.eye(m, k), (math.prod(a.shape[:-2]), m, k))
    )
    r = np.array([pair[1] for pair in pairs])
    made = result(q.reshape(*a.shape[:-2], m, k), x), result(r.reshape(*a.shape[:-2], k, n), x)
    return made[1] if mode == "r" else made


def symmetric(name: str, x: Tensor, UPLO: str) -> Numbers:
    """Square matrices, after a check of the name of the triangle that is read."""
    if UPLO not in ("L", "U"):
        raise ValueError(f"[{name}] UPLO is {UPLO!r}; want 'L' or 'U'")
    return matrices(name, x, True)


@derivative_of_real(_rules.eigh, "x")
def eigh(x: Tensor, UPLO: str = "L", name: str | None = None) -> tuple[Tensor, Tensor]:
    """The real eigenvalues of symmetric or Hermitian matrices in ascending order, and the eigenvectors as columns.

    Args:
        UPLO: the triangle that is read, "L" or "U".

    Raises:
        ValueError: x is no tensor, no batch of square matrices, or there is no such triangle.
    """
    values, vectors = checked("eigh", np.linalg.eigh, symmetric("eigh", x, UPLO), UPLO)
    return result(values, x), result(vectors, x)


@derivative_of_real(_rules.eigvalsh, "x")
def eigvalsh(x: Tensor, UPLO: str = "L", name: str | None = None) -> Tensor:
    """The real eigenvalues of symmetric or Hermitian matrices [..., n, n] in ascending order, of shape [..., n].

    Args:
        UPLO: the triangle that is read, "L" or "U".

    Raises:
        ValueError: x is no tensor, no batch of square matrices, or there is no such triangle.
    """
    return result(checked("eigvalsh", np.linalg.eigvalsh, symmetric("eigvalsh", x, UPLO), UPLO), x)


@without_derivative
def eig(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """The eigenvalues of matrices in no order, and the eigenvectors of length 1 as columns: both complex.

    Args:
        x: matrices of float32, float64, complex64 or complex128, on the CPU.

    Raises:
        ValueError: x is no tensor, no batch of square matrices, or has elements that are not finite.
        UnsupportedError: x is of another dtype.
        TypeError: x is on an mps device.
    """
    values, vectors = checked("eig", np.linalg.eig, general("eig", x))
    return complex_result(values, x), complex_result(vectors, x)


@without_derivative
def eigvals(x: Tensor, name: str | None = None) -> Tensor:
    """The eigenvalues of matrices [..., n, n] in no order, of shape [..., n]: complex64, or complex128 of double precision.

    Args:
        x: matrices of float32, float64, complex64 or complex128, on the CPU.

    Raises:
        ValueError: x is no tensor, no batch of square matrices, or has elements that are not finite.
        UnsupportedError: x is of another dtype.
        TypeError: x is on an mps device.
    """
    return complex_result(checked("eigvals", np.linalg.eigvals, general("eigvals", x)), x)


def general(name: str, x: Tensor) -> Any:
    """Square matrices as float64 or complex128."""
    m = meta(tensor(x, name, "x"))
    if len(m.shape) < 2 or m.shape[-1] != m.shape[-2]:
        raise ValueError(f"[{name}] x has shape {list(m.shape)}; want [..., n, n]")
    if m.dtype.itemsize < 4 or not (m.dtype.is_floating or m.dtype.is_complex):
        raise UnsupportedError(f"[{name}] x is {m.dtype.name}; want float32, float64, complex64 or complex128")
    if not _default_place.has_complex(m.place):
        raise TypeError(f"[{name}] x is on {device_name(m.place)}; want x.cpu(): the results are complex")
    return x.numpy().astype(np.complex128 if m.dtype.is_complex else np.float64)


def complex_result(values: Any, x: Tensor) -> Tensor:
    """Values as a tensor of complex64 for x of single precision, else of complex128."""
    single = meta(x).dtype in (_dtype.float32, _dtype.complex64)
    with np.errstate(all="ignore"):
        made = np.asarray(values).astype(np.complex64 if single else np.complex128)
    return _default_place.array_beside(made, meta(x).place)


@derivative_of_real(_rules.householder_product, "x", "tau")
def householder_product(x: Tensor, tau: Tensor, name: str | None = None) -> Tensor:
    """The first n columns of the product of k reflections I - tau[i] * v @ v.H.

    Args:
        x: of shape [..., m, n]; v is 0 above the diagonal of column i, 1 on it, and x below it.
        tau: of shape [..., k], with k up to n.

    Raises:
        ValueError: an operand is no tensor, or x has less than two dimensions.
        AssertionError: dtypes differ, or the shapes do not fit.
    """
    dtypes = [meta(tensor(z, "householder_product", n)).dtype for z, n in ((x, "x"), (tau, "tau"))]
    if dtypes[0] is not dtypes[1]:
        raise AssertionError(f"[householder_product] dtypes are {dtypes[0].name} and {dtypes[1].name}; want one dtype")
    of_one_place("householder_product", x, tau)
    a, factors = matrices("householder_product", x), elements("householder_product", tau)
    m, n = a.shape[-2:]
    if m < n or factors.shape[:-1] != a.shape[:-2] or factors.shape[-1:] > (n,):
        raise AssertionError(
            f"[householder_product] shapes are {list(a.shape)} and {list(factors.shape)}; "
            "want [..., m, n] with m from n and [..., k] with k up to n"
        )
    return result(reflections(a, factors), x)


def reflections(a: Numbers, factors: Numbers) -> Numbers:
    """What `householder_product` answers."""
    m, n = a.shape[-2:]
    found = np.broadcast_to(np.eye(m, n, dtype=a.dtype), a.shape).copy()
    for i in reversed(range(factors.shape[-1])):
        v = np.tril(a, -1)[..., i]
        v[..., i] = 1.0
        along = np.matmul(v[..., None, :].conj(), found)
        found -= factors[..., i, None, None] * v[..., :, None] * along
    return found


@derivative_of_real(_rules.pinv, "x", "rcond")
def pinv(x: Tensor, rcond: float | Tensor = 1e-15, hermitian: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverses of Moore and Penrose.

    Args:
        rcond: singular values up to rcond times the largest count as 0.
        hermitian: the matrices are symmetric or Hermitian, and their lower triangle is read.

    Raises:
        ValueError: x is no tensor, or has less than two dimensions.
    """
    limit = numbers("pinv", rcond) if isinstance(rcond, Tensor) else real("pinv", "rcond", rcond)
    a = matrices("pinv", x)
    try:
        limit = np.broadcast_to(limit, a.shape[:-2])
    except ValueError:
        raise ValueError(
            f"[pinv] rcond has shape {list(np.shape(limit))}; want one that broadcasts to {list(a.shape[:-2])}"
        ) from None
    return result(checked("pinv", np.linalg.pinv, a, limit, hermitian=bool(hermitian)), x)


def matrix_rank(
    x: Tensor,
    tol: float | Tensor | None = None,
    hermitian: bool = False,
    atol: float | Tensor | None = None,
    rtol: float | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """How many singular values are above a bound, as int64.

    Args:
        tol: the bound; None: max(m, n) times the precision of the dtype times the largest one.
        hermitian: the matrices are symmetric or Hermitian.
        atol, rtol: the bound is the larger one of atol and rtol times the largest singular value.

    Raises:
        ValueError: x is no tensor or has less than two dimensions, or tol is given with atol or rtol.
    """
    for what, given in (("tol", tol), ("atol", atol), ("rtol", rtol)):
        if given is not None:
            real("matrix_rank", what, given)
    if tol is not None and (atol is not None or rtol is not None):
        raise ValueError("[matrix_rank] got tol with atol or rtol; want one of them")
    a = matrices("matrix_rank", x, bool(hermitian))
    sizes = np.abs(checked("matrix_rank", np.linalg.eigvalsh, a)) if hermitian else singular_values("matrix_rank", x)
    largest = sizes.max(-1, initial=0.0)
    precision = PRECISION[meta(x).dtype.name] * max(a.shape[-2:])
    known = [numbers("matrix_rank", v) if isinstance(v, Tensor) else v for v in (tol, atol, rtol)]
    if known[0] is not None:
        bound = known[0]
    elif known[1] is None and known[2] is None:
        bound = precision * largest
    else:
        relative = (0.0 if known[1] else precision) if known[2] is None else known[2]
        bound = np.maximum(0.0 if known[1] is None else known[1], relative * largest)
    return counts((sizes > np.asarray(bound)[..., None]).sum(-1), x, np.int64)


PRECISION = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
PRECISION.update(complex64=PRECISION["float32"], complex128=PRECISION["float64"])


@derivative_of_real(_rules.cond, "x")
def cond(x: Tensor, p: float | str | None = None, name: str | None = None) -> Tensor:
    """The condition numbers of matrices: the norm of each times the norm of its inverse.

    Args:
        p: a norm of `matrix_norm`; None: 2, the quotient of the largest and the smallest singular value.

    Raises:
        ValueError: x is no tensor, has less than two dimensions, there is no such norm, or it needs
            square matrices that are not singular.
    """
    p = 2 if p is None else p
    if p not in (2, -2, "fro", "nuc", 1, -1, math.inf, -math.inf):
        raise ValueError(f"[cond] p is {p!r}; want 'fro', 'nuc', 1, -1, 2, -2, inf or -inf")
    a = matrices("cond", x, p not in (2, -2))
    if not a.size:
        return result(np.zeros(a.shape[:-2]), x)
    if p in (2, -2):
        s = singular_values("cond", x)
        with np.errstate(divide="ignore", invalid="ignore"):
            return result(s[..., 0] / s[..., -1] if p == 2 else s[..., -1] / s[..., 0], x)
    given = x if meta(x).dtype.is_complex else fractional(x)
    first, second = (matrix_norm(m, p) for m in (given, result(checked("cond", np.linalg.inv, a), given)))
    return rounded(_operators.multiply(first, second), x)


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@derivative_of_real(_rules.lstsq, "x", "y")
def lstsq(
    x: Tensor, y: Tensor, rcond: float | None = None, driver: str | None = None, name: str | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The least-squares solutions z of x z = y, those of least length where there are several.

    Args:
        rcond: singular values up to rcond times the largest count as 0; None: max(m, n) times the
            precision of the dtype.
        driver: the routine of LAPACK whose results are given; all are computed from singular values.

    Returns:
        (solution, residuals, rank, singular values). Residuals, the sums of squares, are empty where a
        matrix has not more rows than columns or not full rank, and for "gelsy", the default; so is the
        rank for "gels", and the singular values but for "gelsd" and "gelss".

    Raises:
        ValueError: an operand is no tensor, the shapes do not fit, or there is no such driver.
    """
    if driver not in (None, *DRIVERS):
        raise ValueError(f"[lstsq] driver is {driver!r}; want None or one of {', '.join(DRIVERS)}")
    of_one_dtype("lstsq", tensor(x, "lstsq", "x"), tensor(y, "lstsq", "y"))
    of_one_place("lstsq", x, y)
    a, b = matrices("lstsq", x), matrices("lstsq", y)
    if a.shape[:-1] != b.shape[:-1]:
        raise ValueError(f"[lstsq] shapes are {list(a.shape)} and {list(b.shape)}; want [..., m, n] and [..., m, k]")
    rows, columns = a.shape[-2:]
    limit = PRECISION[meta(x).dtype.name] * max(rows, columns) if rcond is None else real("lstsq", "rcond", rcond)
    u, s, vh = checked("lstsq", np.linalg.svd, a, full_matrices=False)
    kept = s > limit * s.max(-1, keepdims=True, initial=0.0)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    solution = np.matmul(adjoint(vh), inverse[..., None] * np.matmul(adjoint(u), b))
    rank = kept.sum(-1)
    residuals = np.zeros(0)
    if driver not in (None, "gelsy") and rows > columns and (rank == columns).all():
        residuals = (np.abs(b - np.matmul(a, solution)) ** 2).sum(-2)
    ranks = counts(np.zeros(0), x, np.int64) if driver == "gels" else counts(rank, x, np.int32)
    values = s if driver in ("gelsd", "gelss") else np.zeros(0)
    return result(solution, x), result(residuals, x), ranks, result(values, x)


def factored(a: Numbers) -> tuple[Numbers, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """L and U in the place of one matrix, its pivots from 1, and the first zero pivot from 1, or 0."""
    a = a.copy()
    m, n = a.shape
    pivots, info = np.zeros(min(m, n), np.int32), 0
    for j in range(min(m, n)):
        below = a[j:, j]
        pivot = j + int(np.argmax(np.abs(below.real) + np.abs(below.imag)))  # as LAPACK measures complex numbers
        pivots[j] = pivot + 1
        if a[pivot, j] == 0:
            info = info or j + 1
            continue
        a[[j, pivot]] = a[[pivot, j]]
        a[j + 1 :, j] /= a[j, j]
        a[j + 1 :, j + 1 :] -= np.outer(a[j + 1 :, j], a[j, j + 1 :])
    return a, pivots, np.array(info, np.int32)


@derivative_of_real(_rules.lu, "x")
def lu(x: Tensor, pivot: bool = True, get_infos: bool = False, name: str | None = None) -> Any:
    """The factors of x = P @ L @ U, with partial pivoting.

    Returns:
        (LU, pivots), and with get_infos the positions of the first zero pivot, 0 for none. L is below
        the diagonal of LU; row i was swapped with row pivots[i], counted from 1, one after the other.

    Raises:
        ValueError: x is no tensor, has less than two dimensions, or pivot is False.
    """
    if not pivot:
        raise ValueError("[lu] pivot is False; want True")
    a = matrices("lu", x)
    m, n = a.shape[-2:]
    batch = a.shape[:-2]
    flat = a.reshape(math.prod(batch), m, n)
    found = [factored(one) for one in flat]
    packed = np.array([f[0] for f in found]).reshape(a.shape)
    pivots = counts(np.array([f[1] for f in found]).reshape(*batch, min(m, n)), x, np.int32)
    if not get_infos:
        return result(packed, x), pivots
    return result(packed, x), pivots, counts(np.array([f[2] for f in found]).reshape(batch), x, np.int32)


def rows_in_order(pivots: npt.NDArray[Any], m: int) -> npt.NDArray[np.int64]:
    """Which row of x each row of L @ U is."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    order = np.tile(np.arange(m), (len(flat), 1))
    for one, swaps in zip(order, flat):
        for i, j in enumerate(swaps):
            one[i], one[j - 1] = one[j - 1], one[i]
    return order.reshape(*pivots.shape[:-1], m)


@derivative_of_real(_rules.lu_unpack, "x")
def lu_unpack(
    x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True, name: str | None = None
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """(P, L, U) from the results of `lu`; None for what is not asked for.

    Raises:
        ValueError: x or y is no tensor, or x has less than two dimensions.
    """
    of_one_place("lu_unpack", tensor(x, "lu_unpack", "x"), tensor(y, "lu_unpack", "y"))
    a, pivots = matrices("lu_unpack", x), tensor(y, "lu_unpack", "y").numpy()
    flag("unpack_ludata", unpack_ludata), flag("unpack_pivots", unpack_pivots)
    m, n = a.shape[-2:]
    k = min(m, n)
    permutation = lower = upper = None
    if unpack_pivots:
        if pivots.dtype.kind != "i":
            raise TypeError(f"[lu_unpack] y is {meta(y).dtype.name}; want the pivots of lu, which are integers")
        if pivots.size and not 1 <= pivots.min() <= pivots.max() <= m:
            raise ValueError(f"[lu_unpack] y has pivots from {pivots.min()} to {pivots.max()}; want 1 to {m}")
        permutation = result(swapped(np.eye(m)[rows_in_order(pivots, m)]), x)
    if unpack_ludata:
        lower = result(np.tril(a[..., :k], -1) + np.eye(m, k), x)
        upper = result(np.triu(a[..., :k, :]), x)
    return permutation, lower, upper


@derivative_of_real(_rules.lu_solve, "b", "lu")
def lu_solve(b: Tensor, lu: Tensor, pivots: Tensor, trans: str = "N", name: str | None = None) -> Tensor:
    """The solutions z of x z = b, or of x.T z = b, from the results of `lu` for x.

    Args:
        trans: "N" for x, "T" for its transpose, "C" for its conjugate transpose.

    Raises:
        ValueError: an operand is no tensor, the shapes do not fit, or there is no such trans.
    """
    if trans not in ("N", "T", "C"):
        raise ValueError(f"[lu_solve] trans is {trans!r}; want 'N', 'T' or 'C'")
    of_one_place("lu_solve", *(tensor(v, "lu_solve", n) for v, n in ((b, "b"), (lu, "lu"), (pivots, "pivots"))))
    right, packed = matrices("lu_solve", b), matrices("lu_solve", lu, True)
    check_rows("lu_solve", packed, right)
    order = rows_in_order(tensor(pivots, "lu_solve", "pivots").numpy(), packed.shape[-1])
    right = np.broadcast_to(right, (*np.broadcast_shapes(packed.shape[:-2], right.shape[:-2]), *right.shape[-2:]))
    order = np.broadcast_to(order, right.shape[:-1])
    if trans == "N":
        permuted = np.take_along_axis(right, order[..., None], -2)
        return result(substituted(packed, substituted(packed, permuted, False, True), True, False), b)
    transposed = adjoint(packed) if trans == "C" else swapped(packed)
    half = substituted(transposed, substituted(transposed, right, False, False), True, True)
    return result(np.take_along_axis(half, np.argsort(order, -1)[..., None], -2), b)


vars(_rules.matrices).update({name: globals()[name] for name in (*__all__, "cofactors", "PRECISION")})
