"""Spans of the calls of this package's functions, for as long as something is recorded.

Operators are recorded by the library, and most of them are called without a frame of Python. What is found here are the functions
that are made of operators (`paddle.hypot`, `nn.functional.cross_entropy`, a jitted function): Python tells a profile function
of each call, also of those that are none of this package's, which makes all of the program slower: so a program asks for it,
with PADDLE_MPS_PROFILER_CALLS=1. There is one such function a thread, so that this one stays away where another profiler, such as
cProfile, has its own.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType, FunctionType
from typing import Any

from .._core._library import quick

PACKAGE = __name__.partition(".")[0]
OWN = f"{PACKAGE}.profiler"
CATEGORY = b"PythonOp"

_thread = threading.local()
_on = False


def _module(frame: FrameType | None) -> str:
    return "" if frame is None else frame.f_globals.get("__name__") or ""


def _within(module: str) -> bool:
    return module.partition(".")[0] == PACKAGE


def _public(frame: FrameType) -> bool:
    """Whether a frame is a call of this package from outside of it."""
    module = _module(frame)
    return _within(module) and not module.startswith(OWN) and not _within(_module(frame.f_back))


def _name(frame: FrameType) -> str:
    """The function that a frame runs or, where that is a wrapper around another one, the other's."""
    code = frame.f_code
    for variable in code.co_freevars:
        inner = frame.f_locals.get(variable)
        if isinstance(inner, FunctionType):
            return inner.__name__
    name: str = getattr(code, "co_qualname", code.co_name)  # from Python 3.11 on, with the class of a method
    return name.rpartition("<locals>.")[2]


def _noted(frame: FrameType, event: str, arg: Any) -> None:
    """The profile function: begins a span at a call, and ends it when the frame that began it returns."""
    if not _on:
        sys.setprofile(None)
        return
    if event == "call":
        if _public(frame):
            calls = _thread.__dict__.setdefault("calls", [])
            calls.append((id(frame), quick.pmps_profile_begin()))
    elif event == "return":
        calls = _thread.__dict__.get("calls")
        if calls and calls[-1][0] == id(frame):
            quick.pmps_profile_end(calls.pop()[1], CATEGORY, _name(frame).encode("utf-8", "replace"))


def begin() -> None:
    """Begins, on this thread and on those that are started from now on."""
    global _on
    if sys.getprofile() is not None:
        return
    _on = True
    _thread.__dict__.pop("calls", None)
    threading.setprofile(_noted)
    sys.setprofile(_noted)


def end() -> None:
    """Ends. Other threads remove their function at their next call."""
    global _on
    if not _on:
        return
    _on = False
    if sys.getprofile() is _noted:
        sys.setprofile(None)
    threading.setprofile(None)
    _thread.__dict__.pop("calls", None)
