"""Stores graphs of MPSGraph in one process and loads them in the next: python -m paddle_mps.selftest.stored PLACE

MPSGraph reports no error of what it writes or reads, and ends the process instead, so each half runs in a process of its
own. Differences and products of operands of equal shapes show whether inputs come in another order after loading. The
last line says how long the graphs took to compile and to load.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

import numpy as np

import paddle_mps as paddle

from . import arithmetic
from .compare import same, tensor

UNSUPPORTED = 3
SIZES = (4, 16, 64, 128)


def compute(place: str) -> None:
    """Computes what has graphs, with results that are exact."""
    for n in SIZES:
        x, y = arithmetic.ternary((n, n), n), arithmetic.ternary((n, n), n + 1)
        same(tensor(x, place) - tensor(y, place), x - y, f"the difference of {n} x {n}")
        same(tensor(x, place) @ tensor(y, place), x @ y, f"the product of {n} x {n}")
    image, weight = arithmetic.ternary((1, 2, 9, 9), 1), np.ones((1, 2, 9, 9), dtype=np.float32)
    sums = paddle.nn.functional.conv2d(tensor(image, place), tensor(weight, place))
    same(sums, image.sum().reshape(1, 1, 1, 1), "a convolution with ones")


def half(place: str, folder: str) -> dict[str, Any]:
    """The statistics of a process that computes with graphs in a folder."""
    command = [sys.executable, "-m", __spec__.name if __spec__ else __name__, place, folder]
    env = {**os.environ, "PADDLE_MPS_CACHE_DIR": folder, "PADDLE_MPS_PREFER": "mpsgraph"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, f"a process ended with status {done.returncode}\n{done.stdout}{done.stderr}"
    stats: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return stats


def main(arguments: list[str]) -> int:
    """0: the second process loads what the first one has stored, and both compute the same."""
    place, *folders = arguments
    if folders:
        compute(place)
        print(json.dumps({} if place == "cpu" else paddle.mps.memory_stats()))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        first = half(place, folder)
        if not first.get("stored_graphs.misses"):
            return UNSUPPORTED
        second = half(place, folder)
    wrote, hits = first["stored_graphs.writes"], second["stored_graphs.hits"]
    assert wrote == hits == first["stored_graphs.misses"] and not second["stored_graphs.dropped"], (
        f"of {first['stored_graphs.misses']} graphs {wrote} were stored and {hits} loaded"
    )
    times = [stats["program_cache.compile_ns"] / 1e6 for stats in (first, second)]
    print(f"{hits} graphs: {times[0]:.1f} ms to compile all programs, {times[1]:.1f} ms with these graphs loaded")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
