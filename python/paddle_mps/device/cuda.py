"""paddle.device.cuda, as a build of PaddlePaddle without CUDA has it: there is no device, and what asks one raises.

Programs ask `device_count()` first. The Apple GPU has the same functions in `paddle.mps`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from .._core._errors import NoCudaError


def refuse(name: str) -> NoReturn:
    raise NoCudaError(
        f"[device.cuda] {name}: there is no CUDA device; want paddle.mps.{name}, or a program that asks device_count()"
    )


def device_count() -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """Does nothing: no memory of a CUDA device is kept."""


def synchronize(device: Any = None) -> None:
    """Refused.

    Raises:
        NoCudaError: always; so in all functions below.
    """
    refuse("synchronize")


def get_device_properties(device: Any = None) -> Any:
    """Refused."""
    refuse("get_device_properties")


def get_device_name(device: Any = None) -> str:
    """Refused."""
    refuse("get_device_name")


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """Refused."""
    refuse("get_device_capability")


def memory_allocated(device: Any = None) -> int:
    """Refused."""
    refuse("memory_allocated")


def memory_reserved(device: Any = None) -> int:
    """Refused."""
    refuse("memory_reserved")


def max_memory_allocated(device: Any = None) -> int:
    """Refused."""
    refuse("max_memory_allocated")


def max_memory_reserved(device: Any = None) -> int:
    """Refused."""
    refuse("max_memory_reserved")


def reset_max_memory_allocated(device: Any = None) -> None:
    """Refused."""
    refuse("reset_max_memory_allocated")


def reset_max_memory_reserved(device: Any = None) -> None:
    """Refused."""
    refuse("reset_max_memory_reserved")


__all__ = [
    "device_count", "empty_cache", "get_device_capability", "get_device_name", "get_device_properties", "max_memory_allocated",
    "max_memory_reserved", "memory_allocated", "memory_reserved", "reset_max_memory_allocated", "reset_max_memory_reserved",
    "synchronize",
]  # fmt: skip
