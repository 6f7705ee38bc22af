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
from paddle_mps._commands._triton_tool import compiled
from paddle_mps._kernels._triton import Program
from paddle_mps_triton.ttir import lower

CALLS, ROUNDS, IMPORTS = 40, 60, 7
SIGNATURE = dict.fromkeys("xyo", "*fp32") | {"n": "i32", "BLOCK": "constexpr"}


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


# What keeps the GPU of the mock busy for some 50 ms.
SLOW = Program(
    """#include <metal_stdlib>
kernel void slow(device float *x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    for (int i = 0; i < 300000; i++) x[t] = x[t] * 0.5f + 1.0f;
}
""",
    {"name": "slow", "args": [{"name": "x", "type": "*fp32"}], "threads": 32},
)
busy = paddle.zeros([32], place="mps")


def microseconds(call: Callable[[], Any]) -> float:
    """Of a call, when many follow each other behind work that takes long: the mock's GPU is a thread that would compete
    with this one. What they have enqueued is waited for afterwards."""
    SLOW.run(1, 1, 1, [busy])
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
    """What `import triton` does more where the plug-in is installed: it imports two modules."""
    program = """
import importlib, time, triton
start = time.perf_counter()
for name in ("compiler", "driver"):
    importlib.import_module("paddle_mps_triton." + name)
print(time.perf_counter() - start)
"""
    environment = {**os.environ, "TRITON_BACKENDS_IN_TREE": "1"}  # triton does not import it then
    command = [sys.executable, "-c", program]
    runs = [subprocess.run(command, env=environment, capture_output=True, text=True) for _ in range(IMPORTS)]
    times = [float(run.stdout) for run in runs]
    print(
        f"import triton: {statistics.median(times) * 1e3:.1f} ms longer, least {min(times) * 1e3:.1f}; want at most 10"
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
