"""Devices: which exist, their properties, and which one is current.

Functions take an mps device as an int, 'mps', 'mps:N' or an MPSPlace; None is
the current one. If the machine has no mps device, counters are 0 and everything else raises.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, NamedTuple, overload

from .._core import _place
from .._core._convert import tensor
from .._core._errors import DeviceError, check
from .._core._library import find, library, worker
from .._core._objects import flush
from .._core._place import Place, device_name, mps_place
from .._core._structs import DeviceInfo
from .._version import __version__
from . import _random, _stream
from ._random import GeneratorState

if TYPE_CHECKING:
    from .._core._objects import Tensor
    from .._core._typing import DeviceLike


def device_count() -> int:
    """The number of mps devices of this machine."""
    return int(library.pmps_device_count(_place.MPS))


def is_available() -> bool:
    """Whether the machine has an mps device, or PADDLE_MPS_DEVICE=host emulates one."""
    return device_count() > 0


def is_initialized() -> bool:
    """Whether the mps devices can be used: they are set up at the first use of the library."""
    return is_available()


def is_compiled_with_mps() -> bool:
    """True: every build of the package knows mps."""
    return True


class DeviceProperties(NamedTuple):
    """The properties of a device.

    Attributes:
        name: "Apple M3 Max", "Emulated MPS (CPU: ...)".
        backend: "metal", "host" or "fake".
        total_memory: bytes.
        recommended_memory: bytes that one process should stay below.
        major, minor: the GPU family; 0.0 for a CPU.
        multi_processor_count: GPU cores, or threads.
        uuid: what tells the device from others.
        has_float64, has_bfloat16: whether it has these dtypes.
    """

    name: str
    backend: str
    total_memory: int
    recommended_memory: int
    major: int
    minor: int
    multi_processor_count: int
    uuid: str
    has_float64: bool
    has_bfloat16: bool


def properties_of(place: Place) -> DeviceProperties:
    """The properties of the device of a place; a DeviceError has the reason if there is none."""
    info = DeviceInfo()
    info.struct_size = ctypes.sizeof(DeviceInfo)
    check(library.pmps_device_get_info(byref(place.struct), byref(info)))
    fields = {name: getattr(info, name) for name in DeviceProperties._fields}
    for name, value in fields.items():
        if isinstance(value, bytes):
            fields[name] = value.decode("utf-8", "replace")
    fields.update(has_float64=bool(info.has_float64), has_bfloat16=bool(info.has_bfloat16))
    return DeviceProperties(**fields)


def get_device_properties(device: DeviceLike | None = None) -> DeviceProperties:
    """The properties of an mps device.

    Raises:
        DeviceError: the machine has no such device.
        ValueError: device names none.
    """
    return properties_of(mps_place(device))


def get_device_name(device: DeviceLike | None = None) -> str:
    """The name of an mps device; see `get_device_properties`."""
    return get_device_properties(device).name


def get_device_capability(device: DeviceLike | None = None) -> tuple[int, int]:
    """The GPU family of an mps device as (major, minor)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current mps device computes in bfloat16; False where there is none."""
    return is_available() and get_device_properties().has_bfloat16


def use(place: Place) -> Place:
    """Makes a place the current one, after asking whether the machine has it. In a worker of a DataLoader it is always the CPU."""
    if worker:
        place = _place.cpu
    if place.kind == _place.MPS:
        properties_of(place)
    _place.set_current(place)
    return place


def set_device(device: DeviceLike | None) -> Place:
    """Sets the place of tensors that are made without one.

    Args:
        device: 'cpu', 'mps', 'mps:N', the index of an mps device, or a Place. Without an mps
            device an index means the CPU, as in Paddle without a GPU; so does None.

    Returns:
        The place.

    Raises:
        DeviceError: the machine has no such device.
        ValueError: device names none.
    """
    if device is None or (isinstance(device, int) and not is_available()):
        return use(_place.cpu)
    return use(mps_place(device) if isinstance(device, int) else _place.place(device))


@overload
def get_device(input: None = None) -> str: ...
@overload
def get_device(input: Tensor) -> int: ...
def get_device(input: Tensor | None = None) -> str | int:
    """The current place as 'cpu' or 'mps:N'; of a tensor the number of its mps device, -1 on the CPU, as Tensor.get_device.

    Raises:
        ValueError: input is no tensor.
    """
    if input is None:
        return device_name(_place.current())
    place = tensor(input, "get_device", "input").place
    return -1 if place.is_cpu_place() else place.index


def set_mps_device(device: DeviceLike) -> None:
    """Makes an mps device the current place.

    Raises:
        DeviceError: the machine has no such device.
        ValueError: device names none.
    """
    use(mps_place(device))


def current_device() -> int:
    """The index of the mps device that functions use if none is given."""
    return mps_place(None).index


class device_guard:
    """Makes a place the current one inside a with block.

    Args:
        device: as for `set_device`; None leaves everything as it is.
    """

    def __init__(self, device: DeviceLike | None = None) -> None:
        self._device = device
        self._before: list[Place | None] = []

    def __enter__(self) -> None:
        self._before.append(_place.chosen())
        if self._device is not None:
            given = self._device
            use(mps_place(given) if isinstance(given, int) else _place.place(given))

    def __exit__(self, *exc: object) -> None:
        _place.set_current(self._before.pop())


def synchronize(device: DeviceLike | None = None) -> None:
    """Waits until all work of a device (None: the current one, which may be the CPU) is done.

    Raises:
        DeviceError: work has failed, which is reported once; or the machine has no such device.
    """
    if device is None:
        place = _place.current()
    else:
        place = mps_place(device) if isinstance(device, int) else _place.place(device)
    flush()
    if place.kind == _place.MPS:
        _stream.synchronize(place)


def synchronize_mps(device: DeviceLike | None = None) -> None:
    """Waits until all work of an mps device is done; see `synchronize`."""
    _stream.synchronize(mps_place(device))


def manual_seed(seed: int) -> None:
    """Seeds the generator of the current mps device, if there is one."""
    if is_available():
        _random.set_seed(mps_place(None), seed)


def manual_seed_all(seed: int) -> None:
    """Seeds the generators of all mps devices."""
    for index in range(device_count()):
        _random.set_seed(_place.of(_place.MPS, index), seed)


def seed() -> int:
    """Seeds the generator of the current mps device from the clock, and returns the seed."""
    chosen = _random.clock_seed()
    manual_seed(chosen)
    return chosen


def get_rng_state(device: DeviceLike | None = None) -> GeneratorState:
    """The state of the generator of an mps device."""
    return _random.get_state(mps_place(device))


def set_rng_state(new_state: GeneratorState, device: DeviceLike | None = None) -> None:
    """Restores a state of the generator of an mps device."""
    _random.set_state(mps_place(device), new_state)


def show_config() -> None:
    """Prints version, library and devices, for reports of problems."""
    print(f"paddle_mps {__version__}, library {library.pmps_version().decode()} at {find()}")
    for place in _random.all_places():
        properties = properties_of(place)
        memory = f"{properties.total_memory / 2**30:.1f} GiB"
        print(f"{device_name(place)}: {properties.name}, backend {properties.backend}, {memory}")
    if not is_available():
        try:
            get_device_properties(0)
        except DeviceError as error:
            print(error)
