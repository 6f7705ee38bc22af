"""Spans of the program itself."""

from __future__ import annotations

import enum
import threading
import warnings
from contextlib import ContextDecorator
from typing import TYPE_CHECKING

from .._core._library import quick

if TYPE_CHECKING:
    from types import TracebackType


class TracerEventType(enum.Enum):
    """The kinds of events that PaddlePaddle knows. Of these the library itself records Operator, Kernel, Memcpy and Backward."""

    Operator = 0
    Dataloader = 1
    ProfileStep = 2
    CudaRuntime = 3
    Kernel = 4
    Memcpy = 5
    Memset = 6
    UserDefined = 7
    OperatorInner = 8
    Forward = 9
    Backward = 10
    Optimization = 11
    Communication = 12
    PythonOp = 13
    PythonUserDefined = 14
    DygraphKernelLaunch = 15
    StaticKernelLaunch = 16


ALLOWED = (
    TracerEventType.Dataloader,
    TracerEventType.ProfileStep,
    TracerEventType.Forward,
    TracerEventType.Backward,
    TracerEventType.Optimization,
    TracerEventType.PythonOp,
    TracerEventType.PythonUserDefined,
)

users = 0  # profilers that have been started and not stopped


class RecordEvent(ContextDecorator):
    """A span of the calling thread, as a context manager, as a decorator, or from `begin` to `end`.

    It is recorded while a `Profiler` records, and costs next to nothing otherwise. Spans of one thread end in the order
    opposite to that in which they began. An exception inside the block ends the span and passes.

    Args:
        name: what the trace calls it; 1024 bytes are kept.
        event_type: its category, one of those of programs.

    Raises:
        TypeError: when a profiler is on and name is no string.
    """

    def __init__(self, name: str, event_type: TracerEventType = TracerEventType.PythonUserDefined) -> None:
        self.name = name
        self.event_type = event_type
        self._begun = threading.local()

    def _recreate_cm(self) -> RecordEvent:
        """The context of one call of a function that is decorated: it may be called by itself, and by many threads."""
        return RecordEvent(self.name, self.event_type)

    def __enter__(self) -> RecordEvent:
        self.begin()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.end()

    def begin(self) -> None:
        """Begins the span."""
        if not users:
            return
        if not isinstance(self.name, str):
            raise TypeError(f"[RecordEvent] name is {self.name!r}; want a string")
        if self.event_type not in ALLOWED:
            names = ", ".join(str(kind) for kind in ALLOWED)
            warnings.warn(f"[RecordEvent] event_type is {self.event_type}; only {names} can be recorded", stacklevel=2)
            return
        begun = self._begun.__dict__.setdefault("at", [])
        begun.append(quick.pmps_profile_begin())

    def end(self) -> None:
        """Ends the span that this thread has begun last; without effect where there is none."""
        begun = self._begun.__dict__.get("at")
        if begun:
            name = str(self.name).encode("utf-8", "replace")
            quick.pmps_profile_end(begun.pop(), self.event_type.name.encode(), name)


__all__ = ["RecordEvent", "TracerEventType"]
