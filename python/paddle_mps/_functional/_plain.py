"""gelu, silu and softmax: operators of the table, with arguments that it does not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._calls import _operators
from .._calls._call import into
from .._calls._inplace import in_place
from .._core._convert import REQUIRED, chosen, tensor
from .._core._objects import Tensor

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike

__all__ = ["gelu", "silu", "softmax", "softmax_"]


def gelu(
    x: Tensor = REQUIRED, approximate: bool | str = False, name: str | None = None, *, input: Tensor | None = None
) -> Tensor:
    """0.5 * x * (1 + erf(x / sqrt(2))), element by element.

    Args:
        x: a tensor of a floating-point dtype.
        approximate: True or "tanh" for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x**3)));
            False or "none" for the exact function.

    Raises:
        ValueError: x is no tensor, or approximate is another string.
    """
    if input is not None:
        x = chosen("gelu", "x", x, REQUIRED, "input", input)
    if isinstance(approximate, str):
        if approximate not in ("tanh", "none"):
            raise ValueError(f"[gelu] approximate is {approximate!r}; want a bool, 'tanh' or 'none'")
        approximate = approximate == "tanh"
    return _operators.gelu(x, approximate)


def silu(
    x: Tensor = REQUIRED,
    inplace: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """x * sigmoid(x), element by element.

    Args:
        x: a tensor of a floating-point dtype; integers are computed in float32.
        inplace: whether the result takes the place of x, which is returned then.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor.
    """
    if input is not None:
        x = chosen("silu", "x", x, REQUIRED, "input", input)
    if inplace:
        return in_place(silu, x, operator=_operators.silu)
    result = _operators.silu(x)
    return result if out is None else into(out, result)


def softmax(
    x: Tensor = REQUIRED,
    axis: int = -1,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
    dim: int | None = None,
) -> Tensor:
    """exp(x - max(x)) / sum(exp(x - max(x))) along an axis.

    Args:
        x: a tensor of a floating-point dtype.
        axis: the axis along which the results add up to 1.
        dtype: x is cast to it first.
        out: takes the result and is returned.
        input, dim: other names of x and axis.

    Raises:
        ValueError: x is no tensor, or the axis is out of range.
    """
    if input is not None or dim is not None:
        x = chosen("softmax", "x", x, REQUIRED, "input", input)
        axis = chosen("softmax", "axis", axis, -1, "dim", dim)
    if dtype is not None:
        x = tensor(x, "softmax", "x").cast(dtype)
    result = _operators.softmax(x, axis)
    return result if out is None else into(out, result)


def softmax_(x: Tensor, axis: int = -1, dtype: DTypeLike | None = None, name: str | None = None) -> Tensor:
    """`softmax`, whose result takes the place of x; returns x."""
    return in_place(softmax, x, axis, dtype)
