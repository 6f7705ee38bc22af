"""The default place: where tensors go that are made without one, as long as the program has not called set_device.

It is `mps:0` on a machine with an Apple GPU, as it is `gpu:0` in Paddle's builds for CUDA, and `cpu` elsewhere; the
environment variable PADDLE_MPS_DEFAULT_PLACE says otherwise. It is decided when it is first needed.

The GPU lacks some dtypes, float64 first of all, which is that of NumPy. A tensor that would be on the GPU if that had its dtype is on
the CPU and displaced: `_place.displaced` marks it, in the library, and its views and what is computed from it. It goes to the current
place when the program casts it to a dtype that this has, and it becomes float32 on the GPU in a call that has it beside a tensor
there. A tensor that the program has put on the CPU is not displaced.
"""

from __future__ import annotations

import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._core import _place
from .._core._dtype import BY_NUMPY, DType, float32, float64
from .._core._errors import DeviceError
from .._core._objects import from_array
from .._core._place import Place, device_name
from ._device import properties_of

if TYPE_CHECKING:
    from .._core._typing import Tensor

PACKAGE = __name__.partition(".")[0]
VARIABLE = "PADDLE_MPS_DEFAULT_PLACE"
FLOAT64_VARIABLE = "PADDLE_MPS_FLOAT64"
RARE = frozenset({"float64", "complex64", "complex128", "bfloat16"})  # dtypes that an mps device may lack

casts: list[Callable[[Any, Any], Tensor | None]] = []  # `_displaced.cast_away`; that module imports this one
displacing: list[bool] = []  # not empty once a tensor was put on the CPU because of its dtype
_decided: list[Place] = []
_policy: list[str] = []
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


def lacks(place: Place, dtype: DType) -> bool:
    """Whether an mps device has no tensors of a dtype; False for the CPU."""
    if place.kind == _place.CPU or dtype.name not in RARE:
        return False
    found = properties_of(place)
    return not (found.has_bfloat16 if dtype.name == "bfloat16" else found.has_float64)


def has_complex(place: Place) -> bool:
    """Whether complex results of a tensor of a place have one: the CPU, if need be because the current place lacks them."""
    return place.kind == _place.CPU or (_place.current().kind != _place.CPU and policy() != "error")


def policy() -> str:
    """What becomes of tensors of a dtype that the GPU lacks, as PADDLE_MPS_FLOAT64 says.

    Raises:
        ValueError: it says something else.
    """
    if not _policy:
        asked = os.environ.get(FLOAT64_VARIABLE) or "cpu"
        if asked.lower() not in ("cpu", "float32", "error"):
            raise ValueError(f"[place] {FLOAT64_VARIABLE} is {asked!r}; want cpu, float32 or error")
        _policy.append(asked.lower())
    return _policy[0]


def fit(dtype: DType) -> tuple[DType, Place]:
    """The dtype and the place of a new tensor without a place."""
    place = _place.current()
    if place.kind == _place.CPU or dtype.name not in RARE:
        return dtype, place
    return beside(dtype, place)


def beside(dtype: DType, place: Place) -> tuple[DType, Place]:
    """The dtype and the place of a new tensor of a dtype beside one of a place.

    A dtype that an mps device lacks has its tensors on the CPU, or is replaced, or stays and becomes an error of the call that
    makes the tensor.
    """
    if not lacks(place, dtype):
        return dtype, place
    chosen, device = policy(), device_name(place)
    if chosen == "error":
        return dtype, place
    if chosen == "float32" and dtype is float64:
        warn(f"{dtype.name} tensors are made as float32, because {device} has no {dtype.name} ({FLOAT64_VARIABLE})")
        return float32, place
    meeting = (
        "calls with these and tensors of that device run there"
        if dtype.is_complex
        else f"become float32 beside tensors of {device}"
    )
    warn(
        f"{dtype.name} tensors are made on the CPU, because {device} has no {dtype.name}, and {meeting}; "
        f"pass dtype='float32', or choose with {FLOAT64_VARIABLE} or {VARIABLE}"
    )
    if not displacing:
        displacing.append(True)
    return dtype, _place.displaced(place)


# The functions of programs that cast. What others cast for themselves stays where it is, so that what they compute of displaced
# tensors is as exact as on the CPU.
CASTS = frozenset(
    {"cast", "cast_", "astype", "to", "type", "type_as", "to_tensor", "Tensor", "float", "int", "long", "half"}
)


def placed(array: np.ndarray[Any, Any]) -> Tensor:
    """A tensor with a copy of an array, on the current place if that has the dtype."""
    return _made(array, _place.current())


def array_beside(array: np.ndarray[Any, Any], place: Place) -> Tensor:
    """A tensor with a copy of an array, as an operand beside a tensor of a place."""
    return _made(array, place)


def _made(array: np.ndarray[Any, Any], place: Place) -> Tensor:
    dtype = BY_NUMPY.get(array.dtype)
    if dtype is None or dtype.name not in RARE:
        return from_array(array, place)
    kind, where = beside(dtype, place)
    if kind is not dtype:
        with np.errstate(all="ignore"):
            array = array.astype(kind.numpy)
    return from_array(array, where)


def warn(text: str) -> None:
    """Warns once a process, about the line of the program that has called the package."""
    if text in _warned:
        return
    _warned.add(text)
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and (frame.f_globals.get("__name__") or "").partition(".")[0] == PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(f"paddle_mps: {text}", RuntimeWarning, stacklevel=level)


_place.decides(default)

__all__ = ["FLOAT64_VARIABLE", "VARIABLE", "array_beside", "beside", "default", "fit", "lacks", "placed"]
