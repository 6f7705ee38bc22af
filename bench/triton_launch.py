"""What Triton's launcher costs here, what `import triton` costs more, and how long a kernel compiles, on the mock of Metal.

    ./build.sh bench triton_launch

A warm launch is compared with one whose launcher does nothing, in turns, in one process: the rest is Triton's own. Medians
of many rounds; the smallest are beside them, because a machine that others use disturbs both.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import triton
import triton.language as tl

import paddle_mps as paddle
from paddle_mps._triton_tool import compiled
from paddle_mps_triton.ttir import lower

CALLS, ROUNDS, IMPORTS = 40, 60, 7
SIGNATURE = dict.fromkeys("xyo", "*fp32") | {"n": "i32", "BLOCK": "constexpr"}


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def microseconds(call: Callable[[], Any]) -> float:
    """Of a call, when many follow each other. What they have enqueued is waited for afterwards."""
    start = time.perf_counter()
    for _ in range(CALLS):
        call()
    passed = time.perf_counter() - start
    paddle.mps.synchronize()
    return passed / CALLS * 1e6


def launches() -> None:
    x, y, o = (paddle.ones([1000], place="mps") for _ in range(3))
    kernel = add[(1,)](x, y, o, 1000, BLOCK=1024)
    real = kernel.run
    times: dict[str, list[float]] = {"a launch": [], "a launcher that does nothing": []}
    for _ in range(ROUNDS):
        for name, launcher in zip(times, (real, lambda *arguments: None)):
            kernel._run = launcher
            times[name].append(microseconds(lambda: add[(1,)](x, y, o, 1000, BLOCK=1024)))
    kernel._run = real
    for name, values in times.items():
        print(f"{name:32} {statistics.median(values):6.1f} us, least {min(values):6.1f}")
    launch, nothing = times.values()
    print(
        f"ratio {statistics.median(launch) / statistics.median(nothing):.2f}, of the least {min(launch) / min(nothing):.2f}; want at most 1.6"
    )


def imports() -> None:
    program = "import time; start = time.perf_counter(); import triton; print(time.perf_counter() - start)"

    def seconds(**environment: str) -> float:
        return min(
            float(
                subprocess.run(
                    [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True
                ).stdout
            )
            for _ in range(IMPORTS)
        )

    with_us, without = seconds(), seconds(TRITON_BACKENDS_IN_TREE="1")
    print(
        f"import triton: {with_us * 1e3:.0f} ms, {without * 1e3:.0f} without any plug-in of other packages; want at most 10 more"
    )


def compiles() -> None:
    text = lower(add, SIGNATURE, {(4,): 1024}, {}, {})
    compiled(text, "add.ttir", 4, False)
    times = []
    for _ in range(50):
        start = time.perf_counter()
        compiled(text, "add.ttir", 4, False)
        times.append(time.perf_counter() - start)
    print(f"Triton IR to Metal: add {statistics.median(times) * 1e3:.2f} ms; want at most 1")


if __name__ == "__main__":
    launches()
    imports()
    compiles()
