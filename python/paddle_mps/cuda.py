"""paddle.cuda, as a build of PaddlePaddle without CUDA has it: see `paddle.device.cuda`."""

from __future__ import annotations

from .device.cuda import (
    device_count,
    empty_cache,
    get_device_capability,
    get_device_name,
    get_device_properties,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    synchronize,
)


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


__all__ = [
    "device_count", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties", "is_available",
    "is_initialized", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "synchronize",
]  # fmt: skip
