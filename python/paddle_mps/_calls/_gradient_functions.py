"""Functions of Python that the library calls back for their gradients."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .._core._errors import check
from .._core._library import library
from .._core._objects import Tensor, retained
from .._core._structs import GradFunction
from . import _grad

_Backward = ctypes.CFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t,
)  # fmt: skip


def _called(number: int, of: Any, count: int, grads: Any, operands: int) -> int:
    def work(call: Any) -> None:
        found = call.backward([retained(of[i]) if of[i] else None for i in range(count)])
        for i, x in enumerate(found):
            if x is not None:
                grads[i] = _grad.handed_over(x, "PyLayer")

    return _grad.callbacks.call(number, work)


_backward = _Backward(_called)


def connect(call: Any, inputs: Sequence[Tensor], outputs: Sequence[Tensor]) -> None:
    """Makes outputs results of a call, whose backward(grads) computes the gradients of the inputs."""
    user = _grad.callbacks.add(call)
    function = GradFunction(
        ctypes.sizeof(GradFunction),
        ctypes.cast(_backward, ctypes.c_void_p),
        ctypes.cast(_grad.callbacks.deleter, ctypes.c_void_p),
        user,
    )
    try:
        check(
            library.pmps_grad_apply(
                ctypes.byref(function), _grad.handles(inputs), len(inputs), _grad.handles(outputs), len(outputs)
            )
        )
    except Exception:
        _grad.callbacks.drop(user)
        raise
