"""The exceptions of the package, and how an error of the library becomes one."""

from __future__ import annotations

import functools
import re
import threading
from collections.abc import Sequence
from typing import Any, Callable, TypeVar

from ._library import quick

Function = TypeVar("Function", bound=Callable[..., Any])


class OutOfMemoryError(MemoryError, RuntimeError):
    """A device has no memory left, even after caches were emptied and garbage was collected."""


class UnsupportedError(NotImplementedError):
    """The device or the package does not support this. Every NotImplementedError is a RuntimeError."""


class GradientError(ValueError, RuntimeError, AssertionError):
    """A backward pass cannot be made: of what is no tensor, for a gradient of another shape, or of what was changed in place or is freed.
    Paddle raises one of the three, by case.
    """


class SizeError(ValueError, RuntimeError):
    """A size is negative. Paddle raises a RuntimeError in random functions, a ValueError in others."""


class NoCudaError(UnsupportedError, ValueError):
    """A CUDA device is asked for. Paddle raises a ValueError or a RuntimeError, by function."""


class DeviceError(RuntimeError):
    """The machine has no such device, or the device failed."""


class IntegerDivisionError(ValueError, RuntimeError):
    """An integer was divided by zero. Paddle calls it InvalidArgument and raises a RuntimeError."""


class OutOfRangeError(IndexError, ValueError, RuntimeError):
    """An element of an index tensor is out of range. Paddle raises one of the three, by function."""


class ShaderError(SyntaxError, RuntimeError):
    """The source of a shader does not compile. lineno and offset are the position, if the compiler reports one."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        place = re.search(r"program_source:(\d+):(\d+): error", message)
        if place:
            self.filename, self.lineno, self.offset = "program_source", int(place[1]), int(place[2])


class TracingError(RuntimeError):
    """A function that is being traced for `paddle.jit` wants elements of a tensor, which has none yet."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        _thread.unhandled, _thread.latest = unhandled() + 1, str(self)

    def handled(self) -> None:
        """For functions of the package that go on without the elements: a function that is traced is none the worse for it."""
        count_unhandled(unhandled() - 1)


_thread = threading.local()


def unhandled() -> int:
    """How many tracing errors of this thread there were, less those of `count_unhandled` and `handled`."""
    return getattr(_thread, "unhandled", 0)


def latest_unhandled() -> str:
    """The message of the latest one."""
    return getattr(_thread, "latest", "")


def count_unhandled(count: int) -> None:
    """Sets that number: a trace does so when it ends."""
    _thread.unhandled = count


class BusyError(RuntimeError):
    """A call would have to wait for the device and was not made. It never leaves the package."""


def outside_of_programs(name: str) -> UnsupportedError:
    """The error of a function of complex numbers that is called with tensors of a function that is being traced."""
    return UnsupportedError(
        f"[{name}] a program does not compute with complex numbers; want the function without jit, or this part of it"
    )


# pmps_code: exception. A code that a newer library may add is a RuntimeError.
EXCEPTIONS: dict[int, type[Exception]] = {
    1: ValueError,  # INVALID_ARGUMENT
    2: TypeError,  # TYPE_MISMATCH
    3: OutOfRangeError,  # INDEX_OUT_OF_RANGE
    4: OutOfMemoryError,  # OUT_OF_MEMORY
    5: UnsupportedError,  # UNSUPPORTED
    6: DeviceError,  # UNAVAILABLE
    7: DeviceError,  # DEVICE_FAILED
    8: ValueError,  # INVALID_HANDLE
    9: RuntimeError,  # FORKED
    10: RuntimeError,  # INTERNAL
    11: KeyError,  # NOT_FOUND
    12: IntegerDivisionError,  # ARITHMETIC
    13: BusyError,  # BUSY
    14: ShaderError,  # SYNTAX
    15: TracingError,  # TRACED
    16: RuntimeError,  # CANCELLED
}


INVALID_HANDLE = 8
# The library's words for a handle that was freed. A tensor of the package has a live one, but for the moment in which another
# thread gives it a new one.
_STALE = re.compile(r"^\[([^\]]*)\] .* is null, freed or not of a tensor; want a live tensor")
_CHANGED = r"[\1] another thread has changed a tensor in place during the call; want a lock around both, or a copy"


def exception(error: int | None) -> Exception:
    """The exception for an owned `pmps_error *`, which is freed."""
    if not error:
        return RuntimeError("[paddle_mps] a call failed without an error; want one")
    code = quick.pmps_error_code(error)
    message = quick.pmps_error_message(error).decode("utf-8", "replace")
    quick.pmps_error_free(error)
    if code == INVALID_HANDLE:
        message = _STALE.sub(_CHANGED, message)
    return EXCEPTIONS.get(code, RuntimeError)(message)


def check(error: int | None) -> None:
    """Raises what a fallible function of the library returned, unless it is NULL."""
    if error:
        raise exception(error)


def last_failure() -> Exception:
    """The exception for this thread's last fast call that returned 0."""
    return exception(quick.pmps_fast_error())


def rename(error: Exception, inner: Sequence[str], name: str) -> None:
    """Makes the error of one of some functions that of another."""
    text = error.args[0] if error.args and isinstance(error.args[0], str) else ""
    found, bracket, rest = text.partition("] ")
    if bracket and found[1:] in inner:
        error.args = (f"[{name}] {rest}", *error.args[1:])


def errors_of(*inner: str) -> Callable[[Function], Function]:
    """Lets the errors of operators and functions that a function calls name the function, which its caller knows."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            try:
                return function(*args, **kwargs)
            except Exception as error:
                rename(error, inner, function.__name__)
                raise

        return wrapper  # type: ignore[return-value]

    return decorate
