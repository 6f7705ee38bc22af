"""What allocating a result costs: `z = x + y` in a loop, beside the same into memory that is there.

Memory that is freed should be used again, and using it again should touch no new pages: then the two
cost the same. Ours on the CPU and on the emulated mps device, NumPy's and PyTorch's own ratio, and a
copy of as many bytes as the limit. Medians; the bar is 1.1 times at 64 MiB.

    ./build.sh bench memory
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
import time
from typing import Any, Callable

os.environ.setdefault("PADDLE_MPS_DEVICE", "host")

import numpy as np

import paddle_mps as paddle
from paddle_mps._calls import _call
from paddle_mps._core import _ids

ROUNDS = 15
BAR = 1.1


def median(work: Callable[[], Any], rounds: int = ROUNDS) -> float:
    """Milliseconds of one call."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


def ratio(fresh: Callable[[], Any], into: Callable[[], Any]) -> tuple[float, float, float]:
    """Medians of both, taken in turns so that a busy machine slows both down, and of their ratio."""
    fresh(), into()
    pairs = []
    for _ in range(ROUNDS):
        pairs.append((median(fresh, 1), median(into, 1)))
    return (
        statistics.median(f for f, _ in pairs),
        statistics.median(i for _, i in pairs),
        statistics.median(f / i for f, i in pairs),
    )


class Kept:
    """A program's variable: the result of a round takes the place of the one before."""

    z: Any = None


def ours(place: str, n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    x, y, out = (paddle.ones([n], place=place) for _ in range(3))
    kept = Kept()

    def fresh() -> None:
        kept.z = x + y
        paddle.device.synchronize(place)

    def into() -> None:
        _call.call_into(_ids.ADD, (x, y), (), out)
        paddle.device.synchronize(place)

    return fresh, into


def numpy(n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    x, y, out = (np.ones(n, np.float32) for _ in range(3))
    kept = Kept()

    def fresh() -> None:
        kept.z = x + y

    return fresh, lambda: np.add(x, y, out=out)


def torch(n: int) -> tuple[Callable[[], Any], Callable[[], Any]]:
    import torch as t

    x, y, out = (t.ones(n) for _ in range(3))
    kept = Kept()

    def fresh() -> None:
        kept.z = x + y

    return fresh, lambda: t.add(x, y, out=out)


def main() -> int:
    contestants: dict[str, Callable[[int], tuple[Callable[[], Any], Callable[[], Any]]]] = {
        "paddle_mps, cpu": lambda n: ours("cpu", n),
        "paddle_mps, mps": lambda n: ours("mps", n),
        "numpy": numpy,
    }
    if importlib.util.find_spec("torch"):
        contestants["torch"] = torch
    else:
        print("torch is not installed: its lines stay away")
    good = True
    print(
        f"{'x + y, float32':<24}{'MiB':>6}{'new, ms':>10}{'given, ms':>11}{'ratio':>8}{'bar':>12}{'GB/s':>8}{'of a copy':>11}"
    )
    for mib in (1, 16, 64, 256):
        n = mib << 18
        a, b = np.ones(n, np.float32), np.ones(n, np.float32)
        copy = 2 * a.nbytes / median(lambda a=a, b=b: np.copyto(b, a)) / 1e6  # type: ignore[misc]
        for name, make in contestants.items():
            fresh, into, times = ratio(*make(n))
            verdict = ""
            if mib == 64 and name.startswith("paddle"):
                verdict = f"{BAR} {'ok' if times <= BAR else 'MISSED'}"
                good = good and times <= BAR
            speed = 3 * a.nbytes / fresh / 1e6
            print(
                f"{name:<24}{mib:>6}{fresh:>10.3f}{into:>11.3f}{times:>8.3f}{verdict:>12}{speed:>8.1f}{speed / copy:>10.0%}"
            )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
