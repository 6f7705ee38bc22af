"""The random number generators: one a device, Philox4x32-10 with the seed as key and a counter."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence
from ctypes import byref, c_uint64
from typing import TYPE_CHECKING, NamedTuple

from .._core import _place
from .._core._caller import called
from .._core._convert import index, said
from .._core._errors import check
from .._core._library import library, quick, when_loaded
from .._core._place import Place

if TYPE_CHECKING:
    from .._core._typing import PlaceLike


class GeneratorState(NamedTuple):
    """Where a generator stands: the same state gives the same values on every device."""

    seed: int
    counter: int


def get_state(place: Place) -> GeneratorState:
    """Where the generator of a place stands."""
    seed, counter = c_uint64(), c_uint64()
    check(quick.pmps_rng_get_state(byref(place.struct), byref(seed), byref(counter)))
    return GeneratorState(seed.value, counter.value)


def set_state(place: Place, state: GeneratorState) -> None:
    """Puts the generator of a place where another stood."""
    check(quick.pmps_rng_set_state(byref(place.struct), *GeneratorState(*state)))


def set_seed(place: Place, seed: int) -> None:
    """Starts the generator of a place anew."""
    check(quick.pmps_rng_seed(byref(place.struct), whole_seed(seed)))


def whole_seed(seed: int) -> int:
    """A seed as a whole number from 0 below 2**64, from what int() takes, as in Paddle.

    Raises:
        TypeError: it is outside that range, or of a type that is no number.
        ValueError: it is a string that is no number, or nan.
    """
    wanted = f"[{called('seed')}] seed is {said(seed)}; want a whole number from 0 below 2**64"
    try:
        number = int(seed)
    except (TypeError, ValueError, OverflowError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(wanted) from None
    if not 0 <= number < 2**64:
        raise TypeError(wanted)
    return number


def all_places() -> list[Place]:
    """The CPU and every mps device of the machine."""
    count = library.pmps_device_count(_place.MPS)
    return [_place.cpu, *(_place.of(_place.MPS, i) for i in range(count))]


def seed(seed: int) -> None:
    """Starts the generators of all devices anew.

    Args:
        seed: from 0 below 2**64; the same seed gives the same values on every device.

    Raises:
        TypeError: it is outside that range.
        ValueError: it is no number.
    """
    number = whole_seed(seed)

    def seed_all() -> None:
        for place in all_places():
            set_seed(place, number)

    when_loaded(seed_all)


def same_kind(device: PlaceLike | None) -> list[Place]:
    """The CPU, or every mps device of the machine, as a device names one of them; None: the current place."""
    given = _place.current() if device is None else _place.place(device)
    return [p for p in all_places() if p.kind == given.kind]


def get_rng_state(device: PlaceLike | None = None) -> list[GeneratorState]:
    """Where the generators of the CPU, or of all mps devices, stand.

    Args:
        device: 'cpu', 'mps' or a Place; None: the current place.
    """
    return [get_state(p) for p in same_kind(device)]


def set_rng_state(state_list: Sequence[GeneratorState], device: PlaceLike | None = None) -> None:
    """Puts generators where `get_rng_state` found them.

    Raises:
        ValueError: there are more or fewer states than devices.
    """
    places = same_kind(device)
    if len(state_list) != len(places):
        raise ValueError(f"[set_rng_state] got {len(state_list)} states; want {len(places)}, one a device")
    for p, state in zip(places, state_list):
        set_state(p, state)


def get_cuda_rng_state() -> list[GeneratorState]:
    """An empty list: there is no CUDA device, as in Paddle without one."""
    return []


def set_cuda_rng_state(state_list: Sequence[GeneratorState]) -> None:
    """Does nothing: there is no CUDA device, as in Paddle without one."""


def clock_seed() -> int:
    """A seed that differs from run to run."""
    return time.time_ns() & (2**63 - 1)


@contextlib.contextmanager
def one_seed(place: Place, seed: int) -> Iterator[None]:
    """Draws from a generator with this seed meanwhile; 0 draws from the device's own."""
    if index("seed", seed) == 0:
        yield
        return
    state = get_state(place)
    set_seed(place, seed)
    try:
        yield
    finally:
        set_state(place, state)
