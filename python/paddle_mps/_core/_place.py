"""Places: the CPU, or an mps device. And the place where new tensors go."""

from __future__ import annotations

from typing import Any, Callable

from ._caller import called
from ._structs import PlaceStruct

CPU, MPS = 0, 1  # pmps_place_kind


class Place:
    """Where a tensor is. Equal places compare equal.

    `struct` is the C form for functions of devices; `target` and `word` are those for functions that make tensors. They differ for
    `displaced` places alone.
    """

    __slots__ = ("index", "kind", "struct", "target", "word")

    def __init__(self, kind: int = CPU, index: int = 0) -> None:
        self.kind = kind
        self.index = index
        self.target = PlaceStruct(kind, index)
        self.struct = PlaceStruct(kind, index if kind == MPS else 0)
        self.word = kind << 32 | index

    def is_cpu_place(self) -> bool:
        """Whether this is the CPU."""
        return self.kind == CPU

    def is_mps_place(self) -> bool:
        """Whether this is an mps device."""
        return self.kind == MPS

    def get_device_id(self) -> int:
        """The index of the device; 0 for the CPU."""
        return self.index if self.kind == MPS else 0

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Place):
            return self.kind == other.kind and self.index == other.index
        return NotImplemented

    def __hash__(self) -> int:
        return hash((self.kind, self.index))

    def __str__(self) -> str:
        return f"Place({device_name(self)})"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return place, (device_name(self),)


class CPUPlace(Place):
    """The CPU."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(CPU, 0)


class MPSPlace(Place):
    """The mps device with an index. Making the object does not ask whether the machine has it."""

    __slots__ = ()

    def __init__(self, index: int = 0) -> None:
        if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < 2**31:
            raise ValueError(f"[MPSPlace] index is {index!r}; want an int from 0")
        super().__init__(MPS, index)


cpu = CPUPlace()
_known: dict[tuple[int, int], Place] = {(CPU, 0): cpu}
_chosen: list[Place | None] = [None]
here: list[Place] = []  # first what `current` answers; empty until it is asked for or set
_default: list[Callable[[], Place]] = []


def of(kind: int, index: int) -> Place:
    """The place with a kind and an index: always the same object."""
    key = kind, index
    if key not in _known:
        _known[key] = Place(CPU, index) if kind == CPU else MPSPlace(index)
    return _known[key]


def displaced(p: Place) -> Place:
    """Where tensors are of dtypes that an mps device lacks: on the CPU, with a mark that says from which device.

    Results of displaced tensors are displaced, too. A call that has one beside a tensor of an mps device brings it there: see
    `_default_place`.
    """
    return of(CPU, 1 + p.index)


def is_displaced(p: Place) -> bool:
    """Whether this is the CPU for tensors whose dtype an mps device lacks."""
    return p.kind == CPU and p.index != 0


def device_name(p: Place) -> str:
    """The place as get_device prints it: "cpu", "mps:0"."""
    return "cpu" if p.kind == CPU else f"mps:{p.index}"


def place(value: str | Place) -> Place:
    """The place that a Place or one of 'cpu', 'mps' and 'mps:N' stands for; upper case is as good.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, Place):
        return value
    if isinstance(value, str):
        name, colon, digits = value.lower().partition(":")
        if name == "cpu" and not colon:
            return cpu
        if name == "mps" and not colon:
            return of(MPS, 0)
        if name == "mps" and digits.isdecimal() and digits.isascii() and int(digits) < 2**31:
            return of(MPS, int(digits))
    raise ValueError(f"[{called('place')}] place is {value!r}; want 'cpu', 'mps', 'mps:N', CPUPlace() or MPSPlace(N)")


def mps_place(device: int | str | Place | None) -> Place:
    """The mps device that the functions of paddle_mps.mps are asked about; None: the current one."""
    if device is None:
        here = current()
        return here if here.kind == MPS else of(MPS, 0)
    if isinstance(device, int):
        return MPSPlace(device)
    found = place(device)
    if found.kind != MPS:
        raise ValueError(f"[mps] device is {device!r}; want an mps device: an int, 'mps', 'mps:N' or MPSPlace(N)")
    return found


def current() -> Place:
    """Where tensors go that are made without a place."""
    if not here:
        here.append(_default[0]())  # another thread may have set one: it comes first
    return here[0]


def chosen() -> Place | None:
    """The place that the program has set; None: it has set none."""
    return _chosen[0]


def set_current(p: Place | None) -> None:
    """Sets where tensors go that are made without a place, or leaves it to the default. The caller has seen that
    the place exists."""
    _chosen[0] = p
    if p is not None or here:  # which has a place from the first one on: other threads read it
        here[:] = [_default[0]() if p is None else p]


def decides(default: Callable[[], Place]) -> None:
    """Names the function that decides while the program has set no place. It is in a module above this one."""
    _default.append(default)
