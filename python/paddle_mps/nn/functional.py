"""paddle.nn.functional: activation functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _ids
from .._call import call, flag, integer, renamed, tensor
from .._inplace import in_place
from .._ops import leaky_relu, relu, relu_, sigmoid, sigmoid_, silu, softplus, tanh

if TYPE_CHECKING:
    from .._dtype import DTypeLike
    from .._tensor import Tensor

__all__ = [
    "gelu",
    "leaky_relu",
    "relu",
    "relu_",
    "sigmoid",
    "sigmoid_",
    "silu",
    "softmax",
    "softmax_",
    "softplus",
    "tanh",
]


@renamed(input="x")
def gelu(x: Tensor, approximate: bool | str = False, name: str | None = None) -> Tensor:
    """0.5 * x * (1 + erf(x / sqrt(2))), element by element.

    Args:
        x: a tensor of a floating-point dtype.
        approximate: True or "tanh" for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)));
            False or "none" for the exact function.

    Raises:
        ValueError: x is no tensor, or approximate is another string.
    """
    if isinstance(approximate, str):
        if approximate not in ("tanh", "none"):
            raise ValueError(f"[gelu] approximate is {approximate!r}; want a bool, 'tanh' or 'none'")
        approximate = approximate == "tanh"
    return call(_ids.GELU, (tensor(x, "gelu", "x"),), (flag("approximate", approximate),))


@renamed(input="x", dim="axis")
def softmax(
    x: Tensor,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """exp(x - max(x)) / sum(exp(x - max(x))) along an axis.

    Args:
        x: a tensor of a floating-point dtype.
        axis: the axis along which the results add up to 1.
        dtype: x is cast to it first.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or the axis is out of range.
    """
    given = tensor(x, "softmax", "x")
    if dtype is not None:
        given = given.cast(dtype)
    return call(_ids.SOFTMAX, (given,), (integer("axis", axis),), out)


def softmax_(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`softmax`, whose result takes the place of x; returns x."""
    return in_place(softmax, x, axis, dtype)
