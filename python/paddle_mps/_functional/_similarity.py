"""Linear maps, normalizations and distances of paddle.nn.functional."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._calls import _complex, _operators
from .._calls._call import into, renamed
from .._calls._precision import rounded, working
from .._core._convert import axis_of, described, one_number, tensor
from .._core._errors import UnsupportedError, errors_of
from .._core._objects import Tensor, meta
from .._maths._arithmetic import cast
from .._maths._elementwise import floats

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike

__all__ = ["cosine_similarity", "linear", "log_softmax", "normalize", "pairwise_distance"]


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """x @ weight + bias.

    Args:
        x: of shape [..., m].
        weight: of shape [m, n].
        bias: of shape [n]; None for 0.

    Raises:
        ValueError: an operand is no tensor, the dtypes of x and weight differ, or the shapes do not fit.
        TypeError: the dtype of bias does not promote with that of x.
    """
    x, weight = tensor(x, "linear", "x"), tensor(weight, "linear", "weight")
    if bias is None:
        return _operators.matmul(x, weight)
    return rounded(_operators.linear(x, weight, tensor(bias, "linear", "bias")), x)


def complex_linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take."""
    return _operators.add(_operators.matmul(x, weight), bias)


_complex.COMPOSITES.update(linear=complex_linear)


@errors_of("square_sum", "sum", "max")
@renamed(input="x", dim="axis", eps="epsilon")
def normalize(
    x: Tensor,
    p: float = 2,
    axis: int = 1,
    epsilon: float = 1e-12,
    out: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """x / max(norm, epsilon), with the p-norm along an axis.

    Args:
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or the axis is out of range.
    """
    x = floats(x, "normalize")
    return into(out, _operators.normalize(x, float(one_number(p, "normalize", "p")), axis, epsilon))


@renamed(dim="axis")
def cosine_similarity(x1: Tensor, x2: Tensor, axis: int = 1, eps: float = 1e-8) -> Tensor:
    """sum(x1 * x2) / max(|x1| * |x2|, eps) along an axis, for tensors that broadcast.

    Raises:
        ValueError: an operand is no tensor, or the shapes do not broadcast.
        IndexError: the axis is out of range.
        TypeError: the operands are no floats.
    """
    for x, name in ((x1, "x1"), (x2, "x2")):
        m = described(x, "cosine_similarity", name)
        if not m.dtype.is_floating:
            raise TypeError(f"[cosine_similarity] {name} is {m.dtype.name}; want a floating-point dtype")
        axis_of("cosine_similarity", axis, len(m.shape), IndexError)
    return _operators.cosine_similarity(x1, x2, axis, eps)


@renamed(input="x", dim="axis")
def log_softmax(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """The logarithm of `softmax`: x - max(x) - log(sum(exp(x - max(x)))) along an axis.

    Args:
        x: a tensor of a floating-point dtype.
        dtype: x is cast to it first.

    Raises:
        ValueError: x is no tensor, or the axis is out of range.
        UnsupportedError: x is no tensor of floats.
    """
    x = tensor(x, "log_softmax", "x")
    x = x if dtype is None else cast(x, dtype)
    if not meta(x).dtype.is_floating:
        raise UnsupportedError(f"[log_softmax] x is {meta(x).dtype.name}; want a floating-point dtype")
    if not meta(x).numel:
        return _operators.softmax(x, axis)  # empty too, after the check of the axis
    return rounded(_operators.log_softmax(working(x), axis), x)


def pairwise_distance(
    x: Tensor, y: Tensor, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Tensor:
    """The p-norm of x - y + epsilon along the last axis, for tensors that broadcast.

    Raises:
        ValueError: an operand is no tensor, or the shapes do not broadcast.
        TypeError: the dtypes do not promote to one.
    """
    a, b = floats(x, "pairwise_distance"), floats(y, "pairwise_distance")
    return _operators.pairwise_distance(
        a, b, float(one_number(p, "pairwise_distance", "p")), epsilon or 0.0, bool(keepdim)
    )
