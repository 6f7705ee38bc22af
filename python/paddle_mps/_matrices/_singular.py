"""Singular values and vectors of matrices, on the CPU by NumPy as `_factorizations`."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._calls._call import into
from .._calls._derivative import derivative_of_real
from .._calls._lapack import checked, matrices, result, singular_values
from .._core._convert import said
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from ._matrix_parts import column, differences, product, scaled, sizes, turned

__all__ = ["svd", "svdvals"]

Grads = list[Any]


def _of_factors(d: Grads, made: Grads, given: Any) -> Grads:
    """J. Townsend, Differentiating the singular value decomposition (2016), (20) and what precedes it."""
    m, n = sizes(given.x)
    if given.full_matrices and m != n:
        raise UnsupportedError("[svd] the gradient with full_matrices=True is not determined; want full_matrices=False")
    u, s, vh = made
    du, ds, dvh = d
    k = meta(s).shape[-1]
    found = product(scaled(u, ds), vh) if ds is not None else None
    gaps = differences(s * s)
    if du is not None:
        inner = product(turned(u), du)
        part = product(scaled(product(u, gaps * (inner - turned(inner))), s), vh)
        if m > k:
            rest = scaled(du, 1.0 / s)
            part = part + product(rest - product(u, product(turned(u), rest)), vh)
        found = part if found is None else found + part
    if dvh is not None:
        inner = product(vh, turned(dvh))
        part = product(scaled(u, s), product(gaps * (inner - turned(inner)), vh))
        if n > k:
            rest = column(1.0 / s) * dvh
            part = part + product(u, rest - product(product(rest, turned(vh)), vh))
        found = part if found is None else found + part
    return [found]


def _of_values(d: Grads, made: Grads, given: Any) -> Grads:
    u, _, vh = svd(given.x)
    return [product(scaled(u, d[0]), vh)]


@derivative_of_real(_of_factors, "x")
def svd(
    x: Tensor,
    full_matrices: bool = False,
    name: str | None = None,
    *,
    out: tuple[Tensor, Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """x = U @ diag(S) @ VH, with orthonormal U and VH, and S from the largest to the smallest.

    Args:
        full_matrices: all columns of U and rows of VH, instead of the first min(m, n).
        out: three tensors that take the results and are returned.

    Raises:
        ValueError: x is no tensor, or has less than two dimensions.
    """
    u, s, vh = checked("svd", np.linalg.svd, matrices("svd", x), full_matrices=bool(full_matrices))
    made = result(u, x), result(s, x), result(vh, x)
    if out is None:
        return made
    if not isinstance(out, (list, tuple)) or len(out) != 3:
        raise TypeError(f"[svd] out is {said(out)}; want three Tensors")
    return into(out[0], made[0]), into(out[1], made[1]), into(out[2], made[2])


@derivative_of_real(_of_values, "x")
def svdvals(x: Tensor, name: str | None = None) -> Tensor:
    """The singular values of matrices, from the largest to the smallest; see `svd`."""
    return result(singular_values("svdvals", x), x)
