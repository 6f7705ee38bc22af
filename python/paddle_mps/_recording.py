"""Whether a call is recorded for gradients, for functions that are written in other calls or leave the library."""

from __future__ import annotations

import ctypes
from typing import Any

from ._errors import UnsupportedError, check
from ._library import quick
from ._objects import Tensor, asked
from ._structs import GradInfo


def is_grad_enabled() -> bool:
    """Whether operators are recorded by this thread: True at first."""
    enabled = bool(quick.pmps_grad_set_enabled(True))
    quick.pmps_grad_set_enabled(enabled)
    return enabled


def info(x: Tensor) -> GradInfo:
    """What the library knows of a tensor's gradient."""
    found = GradInfo(ctypes.sizeof(GradInfo))
    check(quick.pmps_tensor_get_grad_info(x._handle, ctypes.byref(found)))
    return found


def asks(*tensors: Any) -> bool:
    """Whether calls with these operands are recorded: one of them has stop_gradient=False, and recording is on."""
    if not asked:
        return False
    wanted = any(isinstance(x, Tensor) and info(x).requires_grad for x in tensors)
    return wanted and is_grad_enabled()


def refuse(name: str, *tensors: Any) -> None:
    """Raises where an operand of a function that is computed outside the library has a gradient.

    Raises:
        UnsupportedError: recording is on, and a tensor has stop_gradient=False.
    """
    if asks(*tensors):
        raise UnsupportedError(f"[{name}] has no gradient yet; want detached operands, or no_grad()")


def refuse_leaf(name: str, x: Tensor) -> None:
    """Raises where a tensor that is to be changed in place is a leaf with a gradient.

    Raises:
        ValueError: recording is on, and x is one.
    """
    if asks(x) and info(x).is_leaf:
        raise ValueError(f"[{name}] x is a leaf with stop_gradient=False; want no_grad() to change it in place")
