"""Times of a call, as triton.autotune asks for them, without torch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any


def benchmark(
    call: Callable[[], Any], *, quantiles: Sequence[float] = (0.5,), warmup: float = 25, rep: float = 100, **_: Any
) -> list[float]:
    """Milliseconds at the quantiles of at least five runs, for rep milliseconds.

    Each run is waited for, so that what it costs to wait (some microseconds) is part of all alike.
    """
    from paddle_mps import mps

    def once() -> float:
        start = time.perf_counter()
        call()
        mps.synchronize()
        return (time.perf_counter() - start) * 1e3

    first = once()
    for _run in range(min(int(warmup / max(first, 0.01)), 100)):
        call()
    mps.synchronize()
    times = sorted(once() for _run in range(max(5, min(int(rep / max(first, 0.01)), 1000))))
    return [times[min(int(q * len(times)), len(times) - 1)] for q in quantiles]
