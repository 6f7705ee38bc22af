"""paddle.linalg: norms, products, statistics and factorisations of matrices.

Products and norms run on the place of their operands, factorisations on the CPU: see `_factorizations`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from .._arrays._array import transpose
from .._calls import _complex, _grad, _operators
from .._calls._precision import fractional, rounded, working
from .._core import _dtype
from .._core._caller import dimensions_text
from .._core._convert import flag, index, listed, of_one_dtype, tensor
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta
from .._indices._diagonals import diagonal
from .._maths._ops import matmul
from . import _factorizations, _matrix_functions
from ._factorizations import *  # noqa: F403
from ._factorizations import (
    cholesky,
    cholesky_inverse,
    cholesky_solve,
    cond,
    eig,
    eigvals,
    eigvalsh,
    householder_product,
    inv,
    lstsq,
    lu,
    lu_unpack,
    pinv,
    qr,
    slogdet,
    solve,
)
from ._matrix_functions import *  # noqa: F403
from ._matrix_functions import MatrixMethods
from ._products import cross, vecdot
from ._statistics import matrix_norm, norm, vector_norm

__all__ = [
    "corrcoef",
    "cov",
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "vecdot",
    "vector_norm",
]
__all__ += _factorizations.__all__
__all__ += _matrix_functions.__all__


def cov(
    x: Tensor,
    rowvar: bool = True,
    ddof: bool = True,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The covariance matrix of variables; 0-d for one variable.

    Args:
        x: a variable in each row, an observation in each column.
        rowvar: False: the other way round.
        ddof: divide by n - 1 instead of n.
        fweights: how often each observation was made.
        aweights: how much each observation counts.

    Raises:
        ValueError: x is no tensor or has other than one or two dimensions; weights of another
            length, negative ones, ones that add up to 0, or fweights that are not whole.
        TypeError: x has integers or bools.
        UnsupportedError: x is complex.
    """
    shape = meta(tensor(x, "cov", "x")).shape
    if len(shape) not in (1, 2):
        raise ValueError(f"[cov] x has {dimensions_text(len(shape))}; want 1 or 2")
    if meta(x).dtype.is_complex:
        raise UnsupportedError(f"[cov] x is {meta(x).dtype.name}; want a floating-point dtype")
    if not meta(x).dtype.is_floating:
        raise TypeError(f"[cov] x is {meta(x).dtype.name}; want a floating-point dtype")
    flag("ddof", ddof)
    rows = _operators.unsqueeze(fractional(x), 0) if len(shape) == 1 else fractional(x)
    if not rowvar and meta(rows).shape[0] != 1:
        rows = transpose(rows, [1, 0])
    observations = meta(rows).shape[1]
    weights, divisor = weighting(rows, observations, ddof, fweights, aweights)
    return rounded(_operators.squeeze(_operators.cov(rows, weights, divisor, float(ddof)), None), x)


def weighting(
    rows: Tensor, observations: int, ddof: bool, fweights: Tensor | None, aweights: Tensor | None
) -> tuple[Tensor | None, Tensor | None]:
    """The weights of the observations, None for 1, and what the sum of products is divided by."""
    if fweights is None and aweights is None:
        return None, None
    dtype = meta(rows).dtype
    weights: Tensor | None = None
    for label, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        check_weights(label, given, observations)
        factor = _operators.cast(given, dtype)
        weights = factor if weights is None else _operators.multiply(weights, factor)
    assert weights is not None
    total = weights.sum()
    if float(total) == 0:
        raise ValueError("[cov] the sum of the weights is 0; want one above 0")
    if ddof and aweights is not None:
        return weights, total - (weights * _operators.cast(aweights, dtype)).sum() / total
    return weights, total - float(ddof)


def check_weights(label: str, weights: Tensor, observations: int) -> None:
    """Checks the weights of cov."""
    shape = meta(tensor(weights, "cov", label)).shape
    if shape != (observations,):
        raise ValueError(f"[cov] {label} has shape {list(shape)}; want [{observations}]")
    values = weights.cast(_dtype.float64) if weights.place.is_cpu_place() else weights.cast(_dtype.float32)
    if observations and float(values.min()) < 0:
        raise ValueError(f"[cov] {label} has values below 0; want none")
    if label == "fweights" and meta(weights).dtype.is_floating and bool((values != _operators.round(values)).any()):
        raise ValueError("[cov] fweights has fractions; want whole numbers")


@errors_of("cov")
def corrcoef(x: Tensor, rowvar: bool = True, name: str | None = None) -> Tensor:
    """Pearson's correlation coefficients of n variables, in [-1, 1]: [n, n], or a 0-d tensor of one variable.

    Args:
        x: real observations, [n, observations]; a vector is one variable.
        rowvar: whether the rows are the variables, and not the columns.

    Raises:
        ValueError: x is no tensor, or has other than one or two axes.
        UnsupportedError: x is complex.
    """
    shape = meta(tensor(x, "corrcoef", "x")).shape
    if len(shape) not in (1, 2):
        raise ValueError(f"[corrcoef] x has {dimensions_text(len(shape))}; want 1 or 2")
    if meta(x).dtype.is_complex:
        raise UnsupportedError(f"[corrcoef] x is {meta(x).dtype.name}; want a floating-point dtype")
    if not meta(x).dtype.is_floating:
        raise TypeError(f"[corrcoef] x is {meta(x).dtype.name}; want a floating-point dtype")
    rows = _operators.unsqueeze(x, 0) if len(shape) == 1 else x
    if not rowvar and meta(rows).shape[0] != 1:
        rows = transpose(rows, [1, 0])
    return _operators.squeeze(_operators.corrcoef(rows), None)


def multi_dot(x: Sequence[Tensor], name: str | None = None) -> Tensor:
    """The matrix product of two or more tensors, in the order that takes the fewest multiplications.

    Args:
        x: matrices, of which the first may be a row and the last a column of one dimension.

    Raises:
        ValueError: x is no list of at least two tensors, dtypes differ, or the shapes do not fit.
    """
    operands = listed(x, "multi_dot")
    of_one_dtype("multi_dot", *operands)
    if len(operands) < 2:
        raise ValueError(f"[multi_dot] got a list of {len(operands)}; want two or more matrices")
    return _operators.multi_dot(operands)


def complex_multi_dot(*x: Tensor) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    ends = [axis for axis, a in ((0, x[0]), (1, x[-1])) if len(meta(a).shape) == 1]
    chain = [_operators.unsqueeze(a, i) if len(meta(a).shape) == 1 else a for i, a in zip((0, *[1] * len(x)), x)]
    dims = [meta(chain[0]).shape[0], *(meta(a).shape[-1] for a in chain)]

    @functools.lru_cache(None)
    def split(i: int, j: int) -> tuple[int, int]:
        """The fewest multiplications of the product of the matrices from i to j, and where to split it for that."""
        ways = [(split(i, k)[0] + split(k + 1, j)[0] + dims[i] * dims[k + 1] * dims[j + 1], k) for k in range(i, j)]
        return min(ways, default=(0, i))

    def product(i: int, j: int) -> Tensor:
        k = split(i, j)[1]
        return chain[i] if i == j else _operators.matmul(product(i, k), product(k + 1, j))

    made = product(0, len(chain) - 1)
    return _operators.squeeze(made, ends) if ends else made


def square_matrices(name: str, x: Tensor) -> int:
    """The order of square matrices.

    Raises:
        ValueError: x is no batch of square matrices.
    """
    shape = meta(tensor(x, name, "x")).shape
    if len(shape) < 2 or shape[-1] != shape[-2]:
        raise ValueError(f"[{name}] x has shape {list(shape)}; want [..., n, n]")
    return shape[-1]


def identity(x: Tensor) -> Tensor:
    """The identity matrices of the shape of x."""
    shape, place = meta(x).shape, meta(x).place.word
    counted = _operators.range(place, 0, 1, shape[-1], _dtype.int64)
    equal = _operators.equal(_operators.unsqueeze(counted, 0), _operators.unsqueeze(counted, 1))
    return _operators.expand(_operators.cast(equal, meta(x).dtype), list(shape))


def matrix_power(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The matrices x to the power of n, by repeated squares; n below 0 is of the inverse.

    Raises:
        ValueError: x is no tensor, no batch of square matrices, or n is below 0 and a matrix singular.
        TypeError: n is no int.
    """
    square_matrices("matrix_power", x)
    n = index("n", n)
    if n < 0:
        return rounded(_operators.matrix_power(inv(working(x)), -n), x)
    return _operators.matrix_power(x, n)


def complex_matrix_power(x: Tensor, n: int) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    if n < 2:
        return _operators.assign(x) if n else _grad.regardless(identity(x), x)
    power: Tensor | None = None
    while n:
        if n & 1:
            power = x if power is None else _operators.matmul(power, x)
        n >>= 1
        if n:
            x = _operators.matmul(x, x)
    assert power is not None
    return power


_complex.COMPOSITES.update(matrix_power=complex_matrix_power, multi_dot=complex_multi_dot)


def matrix_transpose(x: Tensor, name: str | None = None) -> Tensor:
    """x with the last two axes swapped, as a view.

    Raises:
        ValueError: x is no tensor, or has less than two dimensions.
    """
    rank = len(meta(tensor(x, "matrix_transpose", "x")).shape)
    if rank < 2:
        raise ValueError(f"[matrix_transpose] x has {dimensions_text(rank)}; want at least 2")
    return transpose(x, -2, -1)


class LinalgMethods(MatrixMethods):
    """These functions as methods of tensors."""

    __slots__ = ()

    cholesky = cholesky
    cholesky_inverse = cholesky_inverse
    cholesky_solve = cholesky_solve
    cond = cond
    corrcoef = corrcoef
    cov = cov
    eig = eig
    eigvals = eigvals
    eigvalsh = eigvalsh
    householder_product = householder_product
    inverse = inv
    lstsq = lstsq
    lu = lu
    lu_unpack = lu_unpack
    matrix_power = matrix_power
    multi_dot = multi_dot
    pinv = pinv
    qr = qr
    slogdet = slogdet
    solve = solve
