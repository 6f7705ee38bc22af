"""The speed section: what a call costs, memory bandwidth and matrix products. It measures and judges nothing.

Sizes grow until a measurement is long enough to be one, so that slow and fast devices take the same time.
"""

from __future__ import annotations

import statistics
import time
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle

from .recorder import Recorder

# Gigabytes a second that Apple states for its chips.
BANDWIDTH = {
    "M1": 68.25, "M1 Pro": 200, "M1 Max": 400, "M1 Ultra": 800,
    "M2": 100, "M2 Pro": 200, "M2 Max": 400, "M2 Ultra": 800,
    "M3": 100, "M3 Pro": 150, "M3 Max": 400, "M3 Ultra": 819,
    "M4": 120, "M4 Pro": 273, "M4 Max": 546, "M5": 153,
}  # fmt: skip


def run(record: Recorder, place: str, quick: bool) -> None:
    """Measures; a measurement that fails is a failed check."""
    enough = 0.05 if quick else 0.3
    works: list[tuple[str, Callable[[str, float], str]]] = [
        ("an addition of 8 floats, one of a thousand in a row", dispatch),
        ("an addition of 8 floats, waited for", latency),
        ("bandwidth of x + y, float32", bandwidth),
        *((f"matrix product, {dtype}", matrices(dtype)) for dtype in ("float32", "float16", "bfloat16")),
    ]
    record.expect(len(works))
    for name, work in works:
        record.check(name, lambda name=name, work=work: record.number(name, work(place, enough)))  # type: ignore[misc]


def seconds(place: str, work: Callable[[], Any], rounds: int = 5) -> float:
    """The median time of some work, waited for."""
    work()
    times = []
    for _ in range(rounds):
        paddle.device.synchronize(place)
        start = time.perf_counter()
        kept = work()
        paddle.device.synchronize(place)
        times.append(time.perf_counter() - start)
        del kept
    return statistics.median(times)


def dispatch(place: str, _enough: float) -> str:
    x, y = (paddle.ones([8], place=place) for _ in range(2))

    def work() -> Any:
        for _ in range(1000):
            z = x + y
        return z

    return f"{seconds(place, work) * 1e3:.2f} µs"


def latency(place: str, _enough: float) -> str:
    x, y = (paddle.ones([8], place=place) for _ in range(2))
    return f"{seconds(place, lambda: x + y, 50) * 1e6:.1f} µs"


def bandwidth(place: str, enough: float) -> str:
    """Bytes read and written by an addition, beside what Apple states or what a copy by NumPy reaches."""
    n, taken = 1 << 16, 0.0
    while taken < enough / 5 and n < 1 << 26:
        n *= 4
        x, y = (paddle.ones([n], place=place) for _ in range(2))
        taken = seconds(place, lambda x=x, y=y: x + y)  # type: ignore[misc]
    speed = 3 * 4 * n / taken / 1e9
    most, of = stated(place, n)
    return f"{speed:.1f} GB/s at {4 * n >> 20} MiB, {speed / most:.0%} of {of}"


def stated(place: str, n: int) -> tuple[float, str]:
    """What there could be: by the chip's name, else by a copy."""
    if place != "cpu":
        name = paddle.mps.get_device_name().replace("Apple ", "")
        if name in BANDWIDTH:
            return BANDWIDTH[name], f"{BANDWIDTH[name]} GB/s"
    a, b = np.ones(n, np.float32), np.ones(n, np.float32)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        np.copyto(b, a)
        times.append(time.perf_counter() - start)
    copy = 2 * a.nbytes / statistics.median(times) / 1e9
    return copy, f"a copy by NumPy ({copy:.1f} GB/s)"


def matrices(dtype: str) -> Callable[[str, float], str]:
    def measure(place: str, enough: float) -> str:
        n, taken = 64, 0.0
        while taken < enough / 5 and n < 8192:
            n *= 2
            x, y = (paddle.full([n, n], 1 / n, dtype=dtype, place=place) for _ in range(2))
            taken = seconds(place, lambda x=x, y=y: x @ y, 3)  # type: ignore[misc]
        return f"{2 * n**3 / taken / 1e12:.3f} TFLOP/s at {n} x {n}"

    return measure
