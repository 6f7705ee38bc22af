"""Operators whose result takes the place of their first operand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from ._call import become, meta, tensor

if TYPE_CHECKING:
    from ._tensor import Tensor


def in_place(function: Callable[..., Tensor], x: Any, *arguments: Any) -> Tensor:
    """Gives x the value of function(x, *arguments), and returns x.

    A result of another dtype changes the dtype of x, as in Paddle; views of the old value keep it.

    Raises:
        ValueError: the result has another shape than x.
    """
    name = function.__name__
    result = function(tensor(x, name + "_", "x"), *arguments)
    if meta(result).shape != meta(x).shape:
        raise ValueError(
            f"[{name}_] the result has shape {list(meta(result).shape)} and x {list(meta(x).shape)}; want them equal"
        )
    become(x, result)
    return x  # type: ignore[no-any-return]
