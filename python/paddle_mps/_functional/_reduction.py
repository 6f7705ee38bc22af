"""The operands of losses, and how the loss of each element becomes that of a batch.

Halves are computed in float32 and rounded once, after the reduction.
"""

from __future__ import annotations

from typing import Any

from .._calls import _operators
from .._calls._precision import HALF, rounded, working
from .._core._convert import tensor
from .._core._objects import Tensor, meta

REDUCTIONS = ("mean", "sum", "none")


def check_reduction(function: str, reduction: Any, error: type[Exception] = ValueError) -> None:
    """Raises the error unless reduction is "mean", "sum" or "none"."""
    if reduction not in REDUCTIONS:
        raise error(f"[{function}] reduction is {reduction!r}; want one of {', '.join(map(repr, REDUCTIONS))}")


def operands(function: str, **given: Any) -> tuple[Tensor, list[Tensor]]:
    """The operand whose dtype the result has, and all of them as they are computed with.

    Raises:
        ValueError: one is no tensor.
    """
    tensors = [tensor(x, function, name) for name, x in given.items()]
    wide = next((x for x in tensors if meta(x).dtype.is_floating and meta(x).dtype not in HALF), tensors[0])
    return wide, [working(x) for x in tensors]


def same_shape(function: str, *tensors: Tensor) -> None:
    """Raises a ValueError unless all have one shape."""
    shapes = [list(meta(x).shape) for x in tensors]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError(f"[{function}] shapes are {', '.join(map(str, shapes))}; want one shape")


def reduced(loss: Tensor, reduction: str, like: Tensor) -> Tensor:
    """The mean, the sum or all of the losses, in the dtype of like if that is of half precision."""
    if reduction == "mean":
        loss = _operators.mean(loss)
    elif reduction == "sum":
        loss = _operators.sum(loss)
    return rounded(loss, like)
