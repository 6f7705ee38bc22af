"""paddle.device: the functions of paddle.mps and those about all devices, in the shape of Paddle's module."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import mps
from .._arrays._typed import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .._core._place import CPUPlace, MPSPlace, device_name
from .._devices._device import get_device, is_compiled_with_mps, set_device, synchronize
from .._devices._platform import (
    CustomPlace,
    IPUPlace,
    XPUPlace,
    get_cudnn_version,
    is_compiled_with_cinn,
    is_compiled_with_cuda,
    is_compiled_with_custom_device,
    is_compiled_with_distribute,
    is_compiled_with_ipu,
    is_compiled_with_rocm,
    is_compiled_with_xpu,
)
from .._devices._random import all_places
from ..mps import (
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
from . import cuda

if TYPE_CHECKING:
    from .._core._typing import DeviceLike

device = device_guard
StreamContext = stream_guard


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
    return [device_name(place) for place in all_places()]


def get_all_custom_device_type() -> list[str]:
    """The kinds of devices that stock Paddle does not know: "mps"."""
    return ["mps"]


def get_available_custom_device() -> list[str]:
    """The mps devices of this machine: "mps:0"."""
    return [device_name(place) for place in all_places() if place.is_mps_place()]


def is_current_stream_capturing() -> bool:
    """False: streams are not captured."""
    return False


__all__ = [
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CPUPlace",
    "CharTensor",
    "CustomPlace",
    "DoubleTensor",
    "Event",
    "FloatTensor",
    "HalfTensor",
    "IPUPlace",
    "IntTensor",
    "LongTensor",
    "MPSPlace",
    "ShortTensor",
    "Stream",
    "StreamContext",
    "XPUPlace",
    "cuda",
    "current_device",
    "current_stream",
    "device",
    "device_count",
    "device_guard",
    "empty_cache",
    "get_all_custom_device_type",
    "get_all_device_type",
    "get_available_custom_device",
    "get_available_device",
    "get_cudnn_version",
    "get_device",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "is_available",
    "is_bf16_supported",
    "is_compiled_with_cinn",
    "is_compiled_with_cuda",
    "is_compiled_with_custom_device",
    "is_compiled_with_distribute",
    "is_compiled_with_ipu",
    "is_compiled_with_mps",
    "is_compiled_with_rocm",
    "is_compiled_with_xpu",
    "is_current_stream_capturing",
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
