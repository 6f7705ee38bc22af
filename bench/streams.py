"""What streams cost: waiting for nothing, from C and from Python; the way to a worker and back; copies.

The table shows medians beside the bars that the project has set itself. The device is the emulated
one unless there is a real one. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
import timeit
from typing import Any, Callable

os.environ.setdefault("PADDLE_MPS_DEVICE", "auto" if sys.platform == "darwin" else "host")

import paddle_mps as paddle
from paddle_mps import mps
from paddle_mps._core import _library

ROUNDS, CALLS = 15, 20_000
ROOT = pathlib.Path(__file__).resolve().parents[1]


def row(what: str, value: float, unit: str, bar: float | None = None) -> bool:
    good = bar is None or value <= bar
    limit = "" if bar is None else f"{bar:>10g} {'ok' if good else 'MISSED'}"
    print(f"{what:<46}{value:>10.2f} {unit:<3}{limit}")
    return good


def nanoseconds(call: Callable[[], Any], calls: int = CALLS) -> float:
    """The median time of a call."""
    return statistics.median(timeit.timeit(call, number=calls) / calls * 1e9 for _ in range(ROUNDS))


def idle_in_c() -> dict[str, float]:
    """What bench/streams.c prints."""
    library = pathlib.Path(_library.find()).resolve()
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/streams"
        source = [f"-I{ROOT}/include", f"{ROOT}/bench/streams.c"]
        link = [str(library), f"-Wl,-rpath,{library.parent}"]
        subprocess.run([*compiler, "-O2", *source, *link, "-o", program], check=True)
        found = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    return {name: float(value) for name, value in (line.split() for line in found.splitlines())}


def round_trip() -> float:
    """Microseconds from a record on a stream that must hand it to its worker until the wait is over."""
    mine, other, event = mps.Stream(), mps.Stream(), mps.Event()

    def there_and_back() -> None:
        mine.wait_stream(other)
        event.record(mine)
        event.synchronize()

    return nanoseconds(there_and_back, 500) / 1e3


def copies() -> tuple[float, float]:
    """Milliseconds that a caller spends on a copy of 64 MiB to the device: with and without waiting."""
    x, spent = paddle.ones([1 << 24]), ([], [])  # type: tuple[Any, tuple[list[float], list[float]]]
    for _ in range(ROUNDS):
        for blocking, times in zip((True, False), spent):
            start = time.perf_counter()
            y = x.to("mps", blocking=blocking)
            times.append((time.perf_counter() - start) * 1e3)
            mps.synchronize()
            del y
    return statistics.median(spent[0]), statistics.median(spent[1])


def main() -> int:
    if not mps.is_available():
        print("there is no mps device; PADDLE_MPS_DEVICE=host emulates one")
        return 1
    stream, event = mps.Stream(), mps.Event()
    event.record(stream)
    print(f"{mps.get_device_name()}\n{'':<46}{'measured':>10} {'':<3}{'bar':>10}")
    good = [row(f"{name}, nothing to do", t, "ns", 1000) for name, t in idle_in_c().items()]
    good.append(row("mps.synchronize(), nothing to do", nanoseconds(mps.synchronize), "ns", 1000))
    for what, call in (("Stream.synchronize()", stream.synchronize), ("Event.synchronize()", event.synchronize)):
        good.append(row(f"{what}, nothing to do", nanoseconds(call), "ns", 1000))
    row("Event.query()", nanoseconds(event.query), "ns")
    row("wait_stream, record, synchronize", round_trip(), "us")
    waiting, queued = copies()
    row("64 MiB to the device, waiting", waiting, "ms")
    row("64 MiB to the device, blocking=False", queued, "ms")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
