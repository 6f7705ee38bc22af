"""The default place: where tensors go that are made without one, as long as the program has not called set_device.

It is `mps:0` on a machine with an Apple GPU, as it is `gpu:0` in Paddle's builds for CUDA, and `cpu` elsewhere; the
environment variable PADDLE_MPS_DEFAULT_PLACE says otherwise. It is decided when it is first needed. The GPU lacks some
dtypes. A program that has chosen mps by itself gets an error for them; one that got it by default was not written
for a GPU without float64, so that its float64 tensors are made on the CPU, with a warning.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings

from . import _place
from ._device import properties_of
from ._dtype import DType
from ._errors import DeviceError
from ._place import Place, device_name

PACKAGE = __name__.partition(".")[0]
VARIABLE = "PADDLE_MPS_DEFAULT_PLACE"
NOT_ON_MPS = frozenset({"float64", "complex64", "complex128"})

_decided: list[Place] = []
_warned: set[str] = set()
_lock = threading.Lock()


def default() -> Place:
    """The default place.

    Raises:
        ValueError: PADDLE_MPS_DEFAULT_PLACE names no place.
        DeviceError: it names an mps device that the machine does not have.
    """
    if _decided:
        return _decided[0]
    with _lock:
        if not _decided:
            _decided.append(decide())
    return _decided[0]


def decide() -> Place:
    """What PADDLE_MPS_DEFAULT_PLACE and the devices of the machine make the default place."""
    asked = os.environ.get(VARIABLE) or "auto"
    if asked.lower() == "auto":
        return _place.of(_place.MPS, 0) if has_gpu() else _place.cpu
    try:
        found = _place.place(asked)
    except ValueError:
        raise ValueError(f"[place] {VARIABLE} is {asked!r}; want auto, cpu, mps or mps:N") from None
    if found.kind == _place.MPS:
        properties_of(found)
    return found


def has_gpu() -> bool:
    """Whether mps:0 is a GPU. An emulation is none; the mock of Metal is one if PADDLE_MPS_DEVICE=metal asks for it."""
    device = os.environ.get("PADDLE_MPS_DEVICE", "auto")
    try:
        metal = properties_of(_place.of(_place.MPS, 0)).backend == "metal"
    except DeviceError as error:
        if sys.platform == "darwin":
            warn(f"tensors are made on the CPU, because the Apple GPU cannot be used: {error}")
        return False
    return metal and (device == "metal" or not os.environ.get("PADDLE_MPS_METAL_LIBRARY"))


def holding(dtype: DType | None) -> Place:
    """The current place, or the CPU for a dtype that the default place lacks."""
    place = _place.current()
    if place.kind == _place.CPU or dtype is None or dtype.name not in NOT_ON_MPS or _place.chosen() is not None:
        return place
    warn(
        f"{dtype.name} tensors are made on the CPU, because {device_name(place)} has no {dtype.name}; "
        f"pass dtype='float32', or choose the place of all tensors with paddle.set_device or {VARIABLE}"
    )
    return _place.cpu


def warn(text: str) -> None:
    """Warns once a process, about the line of the program that has called the package."""
    if text in _warned:
        return
    _warned.add(text)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals["__name__"].partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(f"paddle_mps: {text}", RuntimeWarning, stacklevel=level)


_place.decides(default)

__all__ = ["VARIABLE", "default", "holding"]
