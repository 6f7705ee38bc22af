"""The leaks section: what rounds of operators, tensors, streams and large blocks leave behind.

Objects and bytes that the library counts must come back to where they were. The process's memory is noisier:
each kind of work is repeated in rounds, and the later half of the rounds may not have grown over the earlier
half by more than a small part of what a round uses.
"""

from __future__ import annotations

import gc
import statistics
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle

from .._core._library import library
from .recorder import Recorder, Skip
from .resident import resident

ROUNDS, QUICK_ROUNDS = 24, 8
SMALL_OPERATORS = 600  # a round; of three kinds, by six times two hundred
MIB = 1 << 20
NOISE = 3 * MIB  # by which a Go process comes and goes


def run(record: Recorder, place: str, quick: bool) -> None:
    """Repeats each kind of work and looks at what has grown."""
    works: list[tuple[str, Callable[[str], None], int]] = [
        ("large blocks", large, 32 * MIB),
        ("small operators", small, NOISE),
        ("changing shapes", shapes, NOISE),
        ("streams and events", streams, NOISE),
    ]
    record.expect(len(works))
    rounds = QUICK_ROUNDS if quick else ROUNDS
    for name, work, room in works:
        record.check(name, lambda name=name, work=work, room=room: soak(record, name, work, place, rounds, room))  # type: ignore[misc]


def soak(record: Recorder, name: str, work: Callable[[str], None], place: str, rounds: int, room: int) -> None:
    """Does some work over and over; room is the bytes by which the process may have grown in the end."""
    if place == "cpu" and work is streams:
        raise Skip("the CPU has no streams")
    work(place)
    settle(place)
    handles, allocated = library.pmps_live_handles(), paddle.mps.memory_allocated(device(place))
    sizes = []
    for _ in range(rounds):
        work(place)
        settle(place)
        sizes.append(resident())
    now = library.pmps_live_handles()
    assert now <= handles, f"{now - handles} handles are left after {rounds} rounds"
    left = paddle.mps.memory_allocated(device(place)) - allocated
    assert left <= 0, f"{left} bytes of tensors are left after {rounds} rounds"
    half = len(sizes) // 2
    grown = statistics.median(sizes[half:]) - statistics.median(sizes[:half])
    record.number(f"growth over {rounds} rounds of {name}", mebibytes(grown))
    assert grown <= room, (
        f"the process grew by {grown / MIB:.1f} MiB between the halves of {rounds} rounds; want at most {room / MIB:.0f}"
    )


def mebibytes(change: float) -> str:
    """A change with its sign, and none where it rounds to nothing."""
    text = f"{change / MIB:+.1f} MiB"
    return text[1:] if text[1:] == "0.0 MiB" else text


def device(place: str) -> Any:
    return "cpu" if place == "cpu" else 0


def settle(place: str) -> None:
    """Gives back all that can be given back."""
    gc.collect()
    paddle.device.synchronize(place)
    if place != "cpu":
        paddle.mps.empty_cache()


def large(place: str) -> None:
    """A tensor of 40 MiB, which has a heap of its own, written and gone."""
    x = paddle.to_tensor(np.full(40 * MIB, 3, np.uint8), place=place)
    assert x[-1].item() == 3


def small(place: str) -> None:
    """Operators on few elements, whose results are dropped."""
    x = paddle.ones([7, 5], place=place)
    for i in range(SMALL_OPERATORS // 6):
        y = (x * float(i) + 1.0).abs()
        z = y.T[1:].sum(axis=0) - y[0, 0]
    assert z.shape == [7]


def shapes(place: str) -> None:
    """The same operators on shapes that are all different."""
    total = 0.0
    for n in range(1, 120):
        x = paddle.to_tensor(np.ones((n % 11 + 1, n), np.float32), place=place)
        total += (x + x.T.sum()).max().item()
    assert total > 0


def streams(place: str) -> None:
    """Streams and events that come and go."""
    for _ in range(8):
        stream, event = paddle.mps.Stream(), paddle.mps.Event(enable_timing=True)
        with paddle.mps.stream(stream):
            x = paddle.ones([1000], place=place) + 1.0
            event.record(stream)
        event.synchronize()
        assert x[0].item() == 2.0
