"""What a small call costs: x + y and other operators on 8 float32, and what the package itself costs.

Rounds of paddle_mps, NumPy and PyTorch (if it is installed) take turns, so that a change of the
machine's speed hits all; the table shows medians and their ratios beside the bars that the project
has set itself. Operators are measured in processor time, the least of several rounds: a busy machine
changes that least. Exits with 1 if a bar is missed.
"""

from __future__ import annotations

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle
from paddle_mps.nn import functional

ROUNDS, CALLS, IMPORTS = 15, 20_000, 7
# Prints the seconds and the MB of resident memory that an import takes. Linux says what is resident
# now; a Mac only says what was at most, which is as good while memory grows.
MEASURE = """
import resource, sys, time
import numpy

def resident():
    if sys.platform == "linux":
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize() / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6

start, before = time.perf_counter(), resident()
import paddle_mps
print(time.perf_counter() - start, resident() - before)
"""


def adders() -> dict[str, Callable[[], Any]]:
    """x + y of each library that is there."""
    x, y = paddle.arange(8, dtype="float32"), paddle.ones([8])
    a, b = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    found: dict[str, Callable[[], Any]] = {"paddle_mps": lambda: x + y, "numpy": lambda: a + b}
    try:
        import torch
    except ImportError:
        print("torch is not installed: its bar is not checked")
    else:
        t, u = torch.arange(8, dtype=torch.float32), torch.ones(8)
        found["torch"] = lambda: t + u
    return found


def nanoseconds() -> dict[str, float]:
    """The median time of a call of each library."""
    libraries = adders()
    rounds: dict[str, list[float]] = {name: [] for name in libraries}
    for _ in range(ROUNDS):
        for name, add in libraries.items():
            rounds[name].append(timeit.timeit(add, number=CALLS) / CALLS * 1e9)
    return {name: statistics.median(times) for name, times in rounds.items()}


def operators() -> dict[str, Callable[[], Any]]:
    """Calls of operators with attributes, optional operands and keywords, as programs write them."""
    x, y = paddle.arange(8, dtype="float32"), paddle.ones([8])
    positive = x > 0
    return {
        "maximum(x, y)": lambda: paddle.maximum(x, y),
        "sum(x, axis=0)": lambda: paddle.sum(x, axis=0),
        "reshape(x, [2, 4])": lambda: paddle.reshape(x, [2, 4]),
        "where(condition, x, y)": lambda: paddle.where(positive, x, y),
        "softmax(x, axis=-1)": lambda: functional.softmax(x, axis=-1),
        "clip(x, min=1.0, max=5.0)": lambda: paddle.clip(x, min=1.0, max=5.0),
        "concat([x, y], axis=0)": lambda: paddle.concat([x, y], axis=0),
        "matmul(x, y)": lambda: paddle.matmul(x, y),
        "x + 1.0": lambda: x + 1.0,
    }


def least(call: Callable[[], Any]) -> float:
    """Nanoseconds of processor time that a call takes."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time_ns()
        for _ in range(CALLS // 10):
            call()
        best = min(best, (time.thread_time_ns() - begun) / (CALLS // 10))
    return best


def import_cost() -> tuple[float, float]:
    """Milliseconds and MB that importing the package takes when NumPy is imported already.

    The sources are compiled beforehand, as an installation does.
    """
    runs = []
    with tempfile.TemporaryDirectory() as cache:
        env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        env["PYTHONPYCACHEPREFIX"] = cache
        for _ in range(1 + IMPORTS):
            command = [sys.executable, "-c", MEASURE]
            answer = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
            runs.append([float(number) for number in answer.stdout.split()])
    warm = runs[1:]
    return statistics.median(r[0] for r in warm) * 1e3, statistics.median(r[1] for r in warm)


def library_size() -> float:
    """MB of the library."""
    folder = pathlib.Path(paddle.__file__).parent
    return max(os.path.getsize(f) for f in folder.glob("libpaddlemps.*")) / 1e6


def row(what: str, value: float, unit: str, bar: float | None = None) -> bool:
    good = bar is None or value <= bar
    limit = "" if bar is None else f"{bar:>10g} {'ok' if good else 'MISSED'}"
    print(f"{what:<34}{value:>10.2f} {unit:<4}{limit}")
    return good


def main() -> int:
    print(f"{'':<34}{'measured':>10} {'':<4}{'bar':>10}")
    times = nanoseconds()
    good = [row(f"x + y, {name}", t, "ns") for name, t in times.items()]
    for name, bar in (("numpy", 4.0), ("torch", 1.3)):
        if name in times:
            good.append(row(f"paddle_mps / {name}", times["paddle_mps"] / times[name], "", bar))
    good += [row(f"{name}, processor", least(call), "ns", 2500) for name, call in operators().items()]
    milliseconds, megabytes = import_cost()
    good.append(row("import beyond NumPy", milliseconds, "ms", 60))
    good.append(row("memory beyond Python and NumPy", megabytes, "MB", 20))
    good.append(row("library", library_size(), "MB"))  # tests/package has the bar
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
