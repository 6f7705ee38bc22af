"""Many small operations through Python leave nothing behind: memory stays flat, no object is left.

A part of the ten million runs with every test; all of them with PADDLE_MPS_LONG=1.
"""

from __future__ import annotations

import os
import sys

import pytest
from test_mps import run

PROGRAM = """
import gc, random, sys
import numpy as np
import paddle_mps as paddle
from paddle_mps._core._library import library

PAGE = 4096
def resident():
    gc.collect()
    paddle.mps.synchronize()
    return int(open("/proc/self/statm").read().split()[1]) * PAGE

total, place = int(sys.argv[1]), sys.argv[2]
random.seed(3)
live = library.pmps_live_handles()
done, samples = 0, []
shapes = [[m, n] for m in range(1, 31) for n in range(1, 31)]  # all once: what is known of a layout is kept
while done < total:
    x = paddle.ones(shapes.pop() if shapes else [random.randint(1, 30), random.randint(1, 30)], place=place)
    for _ in range(20):
        y = x + 1.0
        y = y * x
        y = (y - 0.5).abs()
        z = y[0]
        x = x.transpose([1, 0])
        done += 6
    assert z.numpy().shape == (z.shape[0],)
    if done >= (len(samples) + 1) * total // 10:
        samples.append(resident())
del x, y, z
# A collector that is about to run makes one sample up to 2 % larger than the next. What is left behind stays. The table of
# legalized calls, which is bounded, fills during the first samples.
start, end = min(samples[2:5]), min(samples[-3:])
print(f"{done} operations on {place}; resident {start / 2**20:.1f} MiB at first, {end / 2**20:.1f} MiB at the end")
assert end - start <= 0.02 * start, samples
paddle.mps.memory_allocated(), paddle.mps.memory_allocated("cpu")  # what was deferred is freed
assert library.pmps_live_handles() == live
"""


@pytest.mark.timed
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc/self/statm is Linux's")
@pytest.mark.sampled(5)
@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_memory_stays_flat(place: str, capfd: pytest.CaptureFixture[str]) -> None:
    total = 10_000_000 if os.environ.get("PADDLE_MPS_LONG") == "1" else 1_500_000
    program = PROGRAM.replace("sys.argv[1]", str(total)).replace("sys.argv[2]", repr(place))
    # Go collects when its heap has doubled: a slow call leaves so little garbage that the heap has not its final size by then.
    said = run(program, timeout=600, GOGC="20")
    with capfd.disabled():
        print(f"\n    {said.strip()}")
