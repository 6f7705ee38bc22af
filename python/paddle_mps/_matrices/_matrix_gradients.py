"""The gradients of `_factorizations`, as rules of `_derivative`.

In all of them d is the gradient of a result, and A the operand x. Where a formula is not that of a product, the comment names
its source: M. B. Giles, An extended collection of matrix derivative results for forward and reverse mode (2008); S. F. Walter
and L. Lehmann, Algorithmic differentiation of linear algebra functions (2010) for qr and eigh; G. H. Golub and V. Pereyra
(1973) for pinv.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

from .._calls import _operators
from .._calls._derivative import composed
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from .._indices._diagonals import tril, triu
from ._matrix_parts import column, differences, one, product, row, scaled, sizes, turned
from ._singular import svd, svdvals
from ._statistics import matrix_norm

Grads = list[Any]

matrices: Any = SimpleNamespace()  # the functions of _factorizations, which imports this module and puts them here


def halved(x: Tensor) -> Tensor:
    """The lower triangles, with half of their diagonals."""
    found: Tensor = (tril(x) + tril(x, -1)) * 0.5
    return found


def inv(d: Grads, made: Grads, given: Any) -> Grads:
    y = turned(made[0])
    return [-product(y, d[0], y)]


def det(d: Grads, made: Grads, given: Any) -> Grads:
    if bool(_operators.any(_operators.equal(made[0], 0.0), None, False)):
        return [column(column(d[0])) * matrices.cofactors(given.x)]
    return [column(column(d[0] * made[0])) * turned(matrices.inv(given.x))]


def cofactors(d: Grads, made: Grads, given: Any) -> Grads:
    raise UnsupportedError(
        "[det] the gradient of the determinant of a singular matrix has no gradient; want create_graph=False"
    )


def slogdet(d: Grads, made: Grads, given: Any) -> Grads:
    sign, factor = made[0][0], column(column(d[0][1]))
    if bool(_operators.any(_operators.equal(sign, 0.0), None, False)):  # the logarithm of 0 has no slope
        return [factor * _operators.where(column(column(sign)) == 0, math.nan, 1.0) * matrices.cofactors(given.x)]
    return [factor * turned(matrices.inv(given.x))]


def solve(d: Grads, made: Grads, given: Any) -> Grads:
    x, y, z, dz = given.x, given.y, made[0], d[0]
    vectors = len(meta(y).shape) == 1 or meta(y).shape == meta(x).shape[:-1]
    if vectors:
        y, z, dz = column(y), column(z), column(dz)
    if not given.left:
        x = turned(x)
        z, dz = (z, dz) if vectors else (turned(z), turned(dz))
    dy = matrices.solve(turned(x), dz)
    dx = -product(dy, turned(z))
    if vectors:
        dy = _operators.squeeze(dy, -1)
    elif not given.left:
        dy = turned(dy)
    return [dx if given.left else turned(dx), dy]


def triangular_solve(d: Grads, made: Grads, given: Any) -> Grads:
    dy = matrices.triangular_solve(given.x, d[0], given.upper, not given.transpose, given.unitriangular)
    dx = -product(made[0], turned(dy)) if given.transpose else -product(dy, turned(made[0]))
    diagonal = 1 if given.unitriangular else 0
    return [triu(dx, diagonal) if given.upper else tril(dx, -diagonal), dy]


def cholesky(d: Grads, made: Grads, given: Any) -> Grads:
    """Giles, 4.1: d of A is that of a symmetric matrix."""
    lower, dl = (turned(made[0]), turned(d[0])) if given.upper else (made[0], d[0])
    inner = halved(product(turned(lower), dl))
    left = matrices.triangular_solve(lower, inner, False, True)  # L**-T @ inner
    whole = turned(matrices.triangular_solve(lower, turned(left), False, True))  # ... @ L**-1
    return [(whole + turned(whole)) * 0.5]


def of_factor(da: Tensor, factor: Tensor, upper: bool) -> Tensor:
    """The gradient of a triangular factor from that of L @ L.T, or of U.T @ U."""
    both = da + turned(da)
    return triu(product(factor, both)) if upper else tril(product(both, factor))


def cholesky_solve(d: Grads, made: Grads, given: Any) -> Grads:
    db = matrices.cholesky_solve(d[0], given.y, given.upper)
    return [db, of_factor(-product(db, turned(made[0])), given.y, given.upper)]


def cholesky_inverse(d: Grads, made: Grads, given: Any) -> Grads:
    return [of_factor(-product(made[0], d[0], made[0]), given.x, given.upper)]


def qr(d: Grads, made: Grads, given: Any) -> Grads:
    """Walter and Lehmann; for wide matrices A = [X, Y] = Q @ [U, V], of which Q @ U is a factorisation of X."""
    m, n = sizes(given.x)
    if given.mode == "complete" and m > n:
        raise UnsupportedError(
            "[qr] the gradient of mode='complete' with more rows than columns is not determined; want mode='reduced'"
        )
    q, r = matrices.qr(given.x, "reduced") if given.mode == "r" else made
    dq, dr = (None, d[0]) if given.mode == "r" else d
    dq = q * 0.0 if dq is None else dq
    dr = r * 0.0 if dr is None else dr
    if m >= n:
        return [of_tall(q, r, dq, dr)]
    u = r[..., :m]
    du, dv = dr[..., :m], dr[..., m:]
    y = given.x[..., m:]
    dx = of_tall(q, u, dq + product(y, turned(dv)), du)
    return [_operators.concat([dx, product(q, dv)], -1)]


def of_tall(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Tensor:
    inner = product(r, turned(dr)) - product(turned(dq), q)
    both = tril(inner) + turned(tril(inner, -1))
    return turned(matrices.triangular_solve(r, turned(dq + product(q, both)), True, False))


def eigh(d: Grads, made: Grads, given: Any) -> Grads:
    """Walter and Lehmann: d of A is that of a symmetric matrix. Equal eigenvalues have no eigenvectors of their own."""
    values, vectors = made
    n = meta(vectors).shape[-1]
    inner: Any = one(vectors, n) * row(d[0]) if d[0] is not None else None
    if d[1] is not None:
        turn = differences(values) * product(turned(vectors), d[1])
        inner = turn if inner is None else inner + turn
    whole = product(vectors, inner, turned(vectors))
    return [(whole + turned(whole)) * 0.5]


def eigvalsh(d: Grads, made: Grads, given: Any) -> Grads:
    vectors = matrices.eigh(given.x, given.UPLO)[1]
    return [product(scaled(vectors, d[0]), turned(vectors))]


def pinv(d: Grads, made: Grads, given: Any) -> Grads:
    """Golub and Pereyra, for matrices near which the rank is the same. Where rcond leaves out more than rounding does, what is
    left turns with the singular vectors of the rest, and the rule is that of the factors.
    """
    y = made[0]
    a = tril(given.x) + turned(tril(given.x, -1)) if given.hermitian else given.x
    m, n = sizes(a)
    s = svdvals(a.detach())
    limit = given.rcond * _operators.max(s, [-1], True)
    rounding = matrices.PRECISION[meta(a).dtype.name] * max(m, n) * _operators.max(s, [-1], True)
    if bool(_operators.any(_operators.logical_and(s <= limit, s > rounding), None, False)):
        found = of_inverse(d, made, SimpleNamespace(x=a, limit=limit))[0]
    else:
        across = turned(d[0])
        found = product(one(a, m) - product(a, y), across, y, turned(y)) - product(turned(y), d[0], turned(y))
        found = found + product(turned(y), y, across, one(a, n) - product(y, a))
    return [(found + turned(found)) * 0.5 if given.hermitian else found, None]


def inverted(x: Tensor, limit: Tensor) -> Tensor:
    """V @ diag(1 / s) @ U.T of the singular values above a limit."""
    u, s, vh = svd(x)
    kept = s > limit
    return product(scaled(turned(vh), _operators.where(kept, 1.0 / _operators.where(kept, s, 1.0), 0.0)), turned(u))


of_inverse = composed(inverted, "x")


def lu(d: Grads, made: Grads, given: Any) -> Grads:
    """A = P @ L @ U: products, and the triangles that L and U have. For other shapes a part of L, or of U, is a solution."""
    packed, pivots = made[0], made[1]
    m, n = sizes(packed)
    k = min(m, n)
    square, dp = packed[..., :k, :k], d[0]
    lower, upper = tril(square, -1) + one(packed, k), triu(square)
    dl, du = tril(dp[..., :k, :k], -1), triu(dp[..., :k, :k])
    below, right = dp[..., k:, :], dp[..., k:]
    inner_l, inner_u = product(turned(lower), dl), product(du, turned(upper))
    if m > k:
        inner_u = inner_u - product(turned(packed[..., k:, :]), below)
    if n > k:
        inner_l = inner_l - product(right, turned(packed[..., k:]))
    inner = tril(inner_l, -1) + triu(inner_u)
    left = matrices.triangular_solve(lower, inner, False, True, True)
    top = turned(matrices.triangular_solve(upper, turned(left), True, False))
    if m > k:
        top = _operators.concat([top, turned(matrices.triangular_solve(upper, turned(below), True, False))], -2)
    if n > k:
        top = _operators.concat([top, matrices.triangular_solve(lower, right, False, True, True)], -1)
    return [product(order_of(packed, pivots), top)]


def order_of(packed: Tensor, pivots: Tensor) -> Tensor:
    """P of A = P @ L @ U, which has no gradient."""
    order = matrices.lu_unpack(packed.detach(), pivots, False)[0]
    assert order is not None
    solution: Tensor = order
    return solution


def unpacked(x: Tensor, y: Tensor, unpack_ludata: bool = True, unpack_pivots: bool = True, name: Any = None) -> Any:
    m, n = sizes(x)
    k = min(m, n)
    diagonal = one(x, max(m, k))[..., :k]
    constant = _operators.full(meta(x).place.word, [], 0.0, meta(x).dtype)  # P has no gradient
    return constant, tril(x[..., :k], -1) + diagonal, triu(x[..., :k, :])


def solved(b: Tensor, lu: Tensor, pivots: Tensor, trans: str = "N", name: Any = None) -> Tensor:
    order = order_of(lu, pivots)
    if trans == "N":
        half = matrices.triangular_solve(lu, product(turned(order), b), False, False, True)
        solution: Tensor = matrices.triangular_solve(lu, half, True)
        return solution
    half = matrices.triangular_solve(lu, b, True, True)
    return product(order, matrices.triangular_solve(lu, half, False, True, True))


def condition(x: Tensor, p: Any = None, name: Any = None) -> Tensor:
    p = 2 if p is None else p
    if p in (2, -2):
        s = svdvals(x)
        first, last = (0, -1) if p == 2 else (-1, 0)
        return _operators.divide(s[..., first], s[..., last])
    return _operators.multiply(matrix_norm(x, p), matrix_norm(matrices.inv(x), p))


def least_squares(x: Tensor, y: Tensor, rcond: Any = None, driver: Any = None, name: Any = None) -> Any:
    m, n = sizes(x)
    limit = matrices.PRECISION[meta(x).dtype.name] * max(m, n) if rcond is None else rcond
    solution = product(matrices.pinv(x, limit), y)
    residuals = _operators.sum((y - product(x, solution)) ** 2, [-2], None, False)
    return solution, residuals, None, svdvals(x)


def reflected(x: Tensor, tau: Tensor, name: Any = None) -> Tensor:
    """The product of reflections, column by column."""
    m, n = sizes(x)
    found = one(x, m)[..., :n]
    v = tril(x, -1) + one(x, m)[..., :n]
    for i in reversed(range(meta(tau).shape[-1])):
        w = v[..., i : i + 1]
        found = found - row(tau[..., i : i + 1]) * product(w, product(turned(w), found))
    return found


lu_unpack = composed(unpacked, "x")
lu_solve = composed(solved, "b", "lu")
cond = composed(condition, "x")
lstsq = composed(least_squares, "x", "y")
householder_product = composed(reflected, "x", "tau")
