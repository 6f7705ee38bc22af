"""How long a thread is delayed while another one compiles: first calls of operators on Metal compile shaders.

One thread calls operators for the first time, one after the other, with an empty shader cache. Another
one measures meanwhile how long the interpreter keeps it waiting between two steps of a loop, and how long
an addition takes whose program is there already: on the same stream, and on a stream of its own. The table
shows the same without a compiler beside it. Runs on the Apple GPU, or on the mock of Metal
(tests/fakemetal), whose compiler takes about as long as Apple's for a small shader, times ten.
"""

from __future__ import annotations

import os
import pathlib
import sys
import tempfile
import threading
import time
from typing import Callable

ROOT = pathlib.Path(__file__).parent.parent
MOCK = ROOT / "build" / "libfakemetal.so"
SECONDS = 4.0

if sys.platform != "darwin":
    os.environ.setdefault("PADDLE_MPS_METAL_LIBRARY", str(MOCK))
os.environ.setdefault("PADDLE_MPS_DEVICE", "metal")
_cache = tempfile.TemporaryDirectory()
os.environ["FAKEMETAL_CACHE"] = _cache.name  # empty: every shader is compiled

import paddle_mps as paddle  # noqa: E402  # the library reads the environment

FUNCTIONS = (
    "sin", "cos", "tan", "tanh", "sinh", "cosh", "exp", "expm1", "log", "log1p", "log2", "sqrt", "rsqrt", "erf",
    "square", "reciprocal", "floor", "ceil", "round", "trunc", "sign", "abs", "neg", "isnan", "isinf",
)  # fmt: skip


def compile_all(dtype: str, stop: threading.Event, first: list[float]) -> None:
    """Calls operators for the first time until there are none left or the time is over."""
    x = paddle.ones([64], dtype=dtype, place="mps")
    for name in FUNCTIONS:
        if stop.is_set():
            return
        began = time.perf_counter()
        getattr(paddle, name)(x)
        first.append(time.perf_counter() - began)


def delays(step: Callable[[], object], compiling: str) -> tuple[list[float], list[float]]:
    """How long each step takes, in seconds, and each first call of the other thread, which compiles for a dtype
    ("": there is none).
    """
    stop, first = threading.Event(), []  # type: ignore[var-annotated]
    other = threading.Thread(target=compile_all, args=(compiling, stop, first))
    if compiling:
        other.start()
    taken, end = [], time.perf_counter() + SECONDS
    while time.perf_counter() < end and (other.is_alive() or not compiling):
        began = time.perf_counter()
        step()
        taken.append(time.perf_counter() - began)
    stop.set()
    if compiling:
        other.join()
    paddle.mps.synchronize()
    return taken, first


def share(times: list[float], part: float) -> float:
    """The time that a share of all does not exceed, in microseconds."""
    return sorted(times)[min(int(len(times) * part), len(times) - 1)] * 1e6


def main() -> int:
    if not paddle.mps.is_available() or paddle.mps.get_device_properties().backend != "metal":
        print(f"there is no Metal device; on Linux: sh tests/fakemetal/build.sh makes {MOCK.relative_to(ROOT)}")
        return 2
    x = paddle.ones([8], place="mps")
    stream = paddle.mps.Stream()

    def elsewhere() -> None:
        with paddle.mps.stream(stream):
            x + x

    steps: dict[str, Callable[[], object]] = {
        "a step of Python": lambda: None,
        "x + x, the same stream": lambda: x + x,
        "x + x, a stream of its own": elsewhere,
    }
    for step in steps.values():
        step()  # their own programs are compiled
    paddle.mps.synchronize()
    print(f"{'microseconds':<28}{'quiet p50':>11}{'p99':>9}{'max':>9}  {'compiling p50':>13}{'p99':>9}{'max':>9}")
    for (name, step), dtype in zip(steps.items(), ("float32", "float16", "bfloat16")):
        quiet, _ = delays(step, "")
        busy, first = delays(step, dtype)
        figures = [share(t, p) for t in (quiet, busy) for p in (0.5, 0.99, 1.0)]
        before, after = (f"{p50:11.1f}{p99:9.1f}{most:9.0f}" for p50, p99, most in (figures[:3], figures[3:]))
        print(f"{name:<28}{before}    {after}")
        if first:
            print(f"  beside {len(first)} first calls of {share(first, 0.5) / 1e3:.0f} ms (median)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
