"""What the package was built for, which mode it is in, and places that it does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

from .._core import _place
from .._core._errors import UnsupportedError
from .._core._place import MPSPlace, Place
from ._device import set_device

if TYPE_CHECKING:
    from .._core._typing import DeviceLike


def is_compiled_with_cuda() -> bool:
    """False."""
    return False


def is_compiled_with_rocm() -> bool:
    """False."""
    return False


def is_compiled_with_xpu() -> bool:
    """False."""
    return False


def is_compiled_with_ipu() -> bool:
    """False."""
    return False


def is_compiled_with_cinn() -> bool:
    """False."""
    return False


def is_compiled_with_distribute() -> bool:
    """False: a program uses the devices of one machine."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether the package was built for a kind of device: "mps" is the only one."""
    return device_type == "mps"


def get_cudnn_version() -> None:
    """None: there is no cuDNN."""


def in_dynamic_mode() -> bool:
    """True: operators run when they are called."""
    return True


def disable_static(place: DeviceLike | None = None) -> None:
    """Does nothing, because there is no static graph mode; a place becomes the current one, as by set_device."""
    if place is not None:
        set_device(place)


def enable_static() -> NoReturn:
    """Raises an UnsupportedError: there is no static graph mode."""
    raise UnsupportedError(
        "[enable_static] there is no static graph mode; want a program that calls operators directly, without "
        "enable_static() and paddle.static"
    )


def disable_signal_handler() -> None:
    """Does nothing: the package installs no signal handlers."""


def is_autocast_enabled(device_type: Any = None) -> bool:
    """False: there is no automatic choice of dtypes yet."""
    return False


class ForeignPlace(Place):
    """A place that no tensor can be at. Its class is for isinstance; making one raises an UnsupportedError."""

    __slots__ = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = type(self).__name__
        raise UnsupportedError(f"[{name}] there is no such device; want paddle.MPSPlace(0) or paddle.CPUPlace()")


class CUDAPlace(ForeignPlace):
    """A device of CUDA; see `ForeignPlace`."""

    __slots__ = ()


class CUDAPinnedPlace(ForeignPlace):
    """Pinned memory of CUDA; see `ForeignPlace`."""

    __slots__ = ()


class XPUPlace(ForeignPlace):
    """A device of Kunlun; see `ForeignPlace`."""

    __slots__ = ()


class XPUPinnedPlace(ForeignPlace):
    """Pinned memory of Kunlun; see `ForeignPlace`."""

    __slots__ = ()


class IPUPlace(ForeignPlace):
    """A device of Graphcore; see `ForeignPlace`."""

    __slots__ = ()


class CustomPlace(ForeignPlace):
    """CustomPlace("mps", 0) is MPSPlace(0); other kinds of devices are an UnsupportedError."""

    __slots__ = ()

    def __new__(cls, device_type: str, index: int = 0) -> Any:
        if device_type == "mps":
            MPSPlace(index)  # checks it
            return _place.of(_place.MPS, index)
        return super().__new__(cls)


__all__ = [
    "CUDAPinnedPlace",
    "CUDAPlace",
    "CustomPlace",
    "IPUPlace",
    "XPUPinnedPlace",
    "XPUPlace",
    "disable_signal_handler",
    "disable_static",
    "enable_static",
    "get_cudnn_version",
    "in_dynamic_mode",
    "is_autocast_enabled",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
]
