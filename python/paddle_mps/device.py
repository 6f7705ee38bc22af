"""paddle.device: the functions of paddle.mps and those about all devices, in the shape of Paddle's module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import mps
from ._device import get_device, is_compiled_with_mps, set_device, synchronize
from ._place import CPUPlace, MPSPlace
from ._random import all_places
from .mps import (
    Stream,
    current_device,
    current_stream,
    device_count,
    device_guard,
    empty_cache,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_rng_state,
    is_available,
    is_bf16_supported,
    manual_seed,
    manual_seed_all,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_reserved,
    reset_peak_memory_stats,
    set_rng_state,
    set_stream,
    stream,
    stream_guard,
)

if TYPE_CHECKING:
    from ._typing import DeviceLike

device = device_guard


class Event(mps.Event):
    """`mps.Event` with the device in front, as in Paddle's module: Event("mps"), Event(enable_timing=True).

    Paddle's latest version has no device there: a bool in front is enable_timing.
    """

    __slots__ = ()

    def __init__(
        self,
        device: DeviceLike | bool | None = None,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        if isinstance(device, bool):
            super().__init__(device, enable_timing, blocking)
        else:
            super().__init__(enable_timing, blocking, interprocess, device=device)


def get_all_device_type() -> list[str]:
    """The kinds of devices that the package knows."""
    return ["cpu", "mps"]


def get_available_device() -> list[str]:
    """The devices of this machine, as set_device takes them."""
    return [str(place)[len("Place(") : -1] for place in all_places()]


def is_compiled_with_cuda() -> bool:
    """False."""
    return False


def is_compiled_with_rocm() -> bool:
    """False."""
    return False


def is_compiled_with_xpu() -> bool:
    """False."""
    return False


def is_compiled_with_custom_device(device_type: str) -> bool:
    """Whether the package was built for a kind of device: "mps" is the only one."""
    return device_type == "mps"


__all__ = [
    "CPUPlace",
    "Event",
    "MPSPlace",
    "Stream",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "device_guard",
    "empty_cache",
    "get_all_device_type",
    "get_available_device",
    "get_device",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_mps",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "mps",
    "reset_max_memory_allocated",
    "reset_max_memory_reserved",
    "reset_peak_memory_stats",
    "set_device",
    "set_rng_state",
    "set_stream",
    "stream",
    "stream_guard",
    "synchronize",
]
