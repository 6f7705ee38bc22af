"""Operators whose result takes the place of their first operand."""

from __future__ import annotations

from typing import Any, Callable

from .._core._caller import called
from .._core._errors import rename
from .._core._objects import Tensor, asked, meta
from . import _grad, _operators
from ._call import take, tensor, written


def in_place(
    function: Callable[..., Tensor], x: Any, *arguments: Any, operator: Callable[..., Tensor] | None = None
) -> Tensor:
    """Gives x the value of function(x, *arguments), and returns x.

    A result of another dtype changes the dtype of x, as in Paddle; views of the old value keep it.

    Args:
        operator: of `_operators`, for a function that does no more with these arguments than call it. It computes in the memory
            of x where it can; everything else computes a new tensor, which is copied into x.

    Raises:
        ValueError: the result has another shape than x.
        Exception: an error of function, in the name of the function that the program called.
    """
    name = function.__name__
    mine = tensor(x, name + "_", "x")
    if asked and _grad.is_grad_enabled():  # else nothing is refused
        _grad.graded_leaf(mine, name + "_")
    try:
        if operator is not None and written(mine, operator, mine, *arguments):
            return mine
        # A gradient may read what x was, so that the function gets a copy.
        operand = _operators.assign(mine) if _grad.asks(mine, *arguments) else mine
        result = function(operand, *arguments)
    except Exception as error:
        rename(error, [name], called(f"{name}_"))
        raise
    if meta(result).shape != meta(mine).shape:
        raise ValueError(
            f"[{name}_] the result has shape {list(meta(result).shape)} and x {list(meta(mine).shape)}; want them equal"
        )
    take(mine, result)
    return mine
