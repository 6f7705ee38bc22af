"""Whether a call is recorded for gradients, for functions that are written in other calls or leave the library."""

from __future__ import annotations

from typing import Any

from ._errors import UnsupportedError
from ._objects import Tensor, asked, grad_info, is_grad_enabled


def asks(*tensors: Any) -> bool:
    """Whether calls with these operands are recorded: one of them has stop_gradient=False, and recording is on."""
    if not asked or not is_grad_enabled():
        return False
    return any(isinstance(x, Tensor) and grad_info(x).requires_grad for x in tensors)


def refuse(name: str, *tensors: Any) -> None:
    """Raises where an operand of a function that is computed outside the library has a gradient.

    Raises:
        UnsupportedError: recording is on, and a tensor has stop_gradient=False.
    """
    if asks(*tensors):
        raise UnsupportedError(f"[{name}] has no gradient yet; want detached operands, or no_grad()")
