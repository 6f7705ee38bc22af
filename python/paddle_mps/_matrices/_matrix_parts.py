"""Products and parts of matrices, for what is written in several of them."""

from __future__ import annotations

from .._arrays._array import transpose
from .._calls import _operators
from .._core._objects import Tensor, meta


def product(*factors: Tensor) -> Tensor:
    """The matrix product."""
    found = factors[0]
    for factor in factors[1:]:
        found = _operators.matmul(found, factor)
    return found


def turned(x: Tensor) -> Tensor:
    """The transposes of matrices."""
    return transpose(x, -2, -1)


def column(x: Tensor) -> Tensor:
    return _operators.unsqueeze(x, -1)


def row(x: Tensor) -> Tensor:
    return _operators.unsqueeze(x, -2)


def scaled(x: Tensor, factors: Tensor) -> Tensor:
    """x @ diag(factors)."""
    return _operators.multiply(x, row(factors))


def one(x: Tensor, n: int) -> Tensor:
    """The identity matrix of order n, of the dtype of x."""
    m = meta(x)
    counted = _operators.range(m.place.word, 0, 1, n, m.dtype)
    return _operators.cast(_operators.equal(row(counted), column(counted)), m.dtype)


def sizes(x: Tensor) -> tuple[int, int]:
    """The rows and columns of matrices."""
    m, n = meta(x).shape[-2:]
    return m, n


def differences(s: Tensor) -> Tensor:
    """1 / (s[j] - s[i]), and 0 on the diagonal."""
    gaps = row(s) - column(s)
    n = meta(s).shape[-1]
    diagonal = one(s, n)
    found: Tensor = (1.0 - diagonal) / (gaps + diagonal)
    return found
