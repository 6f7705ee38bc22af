"""The bring-up section: the riskiest steps of a first run on an Apple GPU, the most basic one first.

A step that fails, crashes or never ends says what the library does instead and what to send us; the next step
is tried in a new process. Expected values are integers and powers of two wherever they can be.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import time
from typing import Callable

import numpy as np

import paddle_mps as paddle

from . import arithmetic, fault, hardware, ordering, stored
from .compare import Array, same, tensor, values
from .recorder import Recorder, Skip

Work = Callable[[str], None]

# What Apple's compilers did not take, by the names of `memory_stats`.
REFUSALS = ("refused_shaders", "refused_graphs", "second_way_steps")


@dataclasses.dataclass(frozen=True)
class Step:
    """One step.

    Attributes:
        name: in the report, "shaders: softmax".
        work: does it on a place and raises AssertionError.
        instead: what the library does where this fails.
        send: what we need to mend it, besides the report.
        seconds: after which the process of the step is taken for dead.
    """

    name: str
    work: Work
    instead: str
    send: str = "this report"
    seconds: float = 60.0


def run(record: Recorder, place: str, _quick: bool) -> None:
    """Takes all steps."""
    record.expect(len(STEPS))
    for step in STEPS:
        record.check(step.name, lambda step=step: take(step, place), step.seconds)  # type: ignore[misc]


def take(step: Step, place: str) -> None:
    """Takes one step. It has failed too where a shader or a graph was refused and another way gave the result."""
    before = refusals(place)
    with np.errstate(all="ignore"):
        step.work(place)
    new = {name: count - before.get(name, 0) for name, count in refusals(place).items()}
    said = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in new.items() if count)
    assert not said, f"{REFUSED}: {said}"


def refusals(place: str) -> dict[str, int]:
    """What Apple's compilers have refused in this process, by the names of `memory_stats` that are not 0."""
    stats = {} if place == "cpu" else paddle.mps.memory_stats()
    return {name: stats[name] for name in REFUSALS if stats.get(name)}


REFUSED = "the results are right, but another way gave them"
UNCOMPILED = "[compile_shader] the source does not compile"


def advice(name: str, why: str) -> tuple[str, str]:
    """What the library does where a step fails for a reason, and what to send us."""
    if why.startswith(REFUSED):
        return "What is refused runs by another shader, as a graph of MPSGraph or on the CPU, slower.", QUOTES
    if UNCOMPILED in why:
        return (
            "Nothing: this kernel of the self-test, and perhaps others of yours, do not run. Operators still do.",
            QUOTES,
        )
    for step in STEPS:
        if step.name == name:
            return step.instead, step.send
    return "The section ended before its first step.", "this report"


RAMP = np.arange(1, 13, dtype=np.float32).reshape(3, 4)

# ---- Opening the device


def first_addition(place: str) -> None:
    """Memory is allocated, one shader is compiled and run, and the result is read."""
    same(tensor(RAMP[0], place) + 1, RAMP[0] + 1, "[1, 2, 3, 4] + 1")


def copies(place: str) -> None:
    """A MiB goes to the device and back, and a part of it."""
    x = np.arange(1 << 18, dtype=np.int32)
    t = tensor(x, place)
    same(t, x, "a MiB")
    same(t[12345:54321], x[12345:54321], "a part of it")


def kernels_at_one_time(place: str) -> None:
    """Two chains side by side, whose kernels may run at the same time as those of the other and not of their own.

    Each link reads what the last one wrote and overwrites what the one before that read, in memory of all sizes.
    """
    for n, links in ((64, 40), (1 << 14, 40), (1 << 20, 12)):
        start = ordering.start(n)
        one, two = tensor(start, place), tensor(start + 1, place)
        for _ in range(links):
            one = (one * 17 + 5) % ordering.MODULUS
            two = (two * 17 + 5) % ordering.MODULUS
        same(one, ordering.chained(start, links), f"{links} links of {n}")
        same(two, ordering.chained(start + 1, links), f"{links} links of {n}, the other chain")


# ---- One operator of each family of shaders, and MPSGraph


def elementwise(place: str) -> None:
    for dtype in ("float32", "float16", "int32", "int64"):
        same(tensor(RAMP, place, dtype) * 2, RAMP * 2, dtype)


def broadcast(place: str) -> None:
    t = tensor(RAMP, place)
    same(t + t[0], RAMP + RAMP[0], "a row")
    same(t + t[:, :1], RAMP + RAMP[:, :1], "a column")
    same(t.T * 2, RAMP.T * 2, "a transpose")


def casts(place: str) -> None:
    t = tensor(RAMP, place)
    for dtype in ("float16", "int64", "int32", "uint8", "bool"):
        same(t.astype(dtype), RAMP.astype(dtype), dtype)


def reductions(place: str) -> None:
    t = tensor(RAMP, place)
    same(t.sum(), RAMP.sum(), "sum")
    same(t.sum(axis=1), RAMP.sum(axis=1), "sum of rows")
    same(t.max(axis=0), RAMP.max(axis=0), "max of columns")
    same(t.argmax(axis=1), RAMP.argmax(axis=1), "argmax of rows")


def softmax(place: str) -> None:
    got = values(paddle.nn.functional.softmax(tensor(np.zeros((3, 4), np.float32), place), axis=-1))
    assert np.array_equal(got, np.full((3, 4), 0.25, np.float32)), f"softmax of four zeros is {got[0].tolist()}"
    x = np.zeros((3, 1024), np.float32)
    for row in range(3):
        x[row, 1024 >> row :] = -np.inf  # leaves powers of two, which differ from row to row
    counts = np.isfinite(x).sum(axis=-1, keepdims=True)
    same(paddle.nn.functional.softmax(tensor(x, place), axis=-1), np.where(np.isfinite(x), 1 / counts, 0), "softmax")


def indexing(place: str) -> None:
    t = tensor(RAMP, place)
    same(t[tensor([2, 0], place, "int64")], RAMP[[2, 0]], "x[[2, 0]]")
    rows, changed = tensor([1], place, "int64"), RAMP.copy()
    changed[1] = 7
    t[rows] = 7.0
    same(t, changed, "x[[1]] = 7")


def nonzero(place: str) -> None:
    odd = RAMP % 2
    same(paddle.nonzero(tensor(odd, place)), np.argwhere(odd), "nonzero")


def scans(place: str) -> None:
    same(paddle.cumsum(tensor(RAMP, place), axis=1), RAMP.cumsum(axis=1), "cumsum")


def joining(place: str) -> None:
    t = tensor(RAMP, place)
    same(paddle.concat([t, t[:1]], axis=0), np.concatenate([RAMP, RAMP[:1]]), "concat")
    same(paddle.tile(t, [1, 2]), np.tile(RAMP, (1, 2)), "tile")


def sorts(place: str) -> None:
    x = np.arange(3 * 1500, dtype=np.int32).reshape(3, 1500) * 1009 % 4507  # longer than a threadgroup sorts at once
    same(paddle.sort(tensor(x, place), axis=1), np.sort(x, axis=1), "sort of rows")
    largest, where = paddle.topk(tensor(RAMP, place), 2, axis=1)
    same(largest, RAMP[:, :1:-1], "the two largest of each row")
    same(where, [[3, 2]] * 3, "where they are")
    with paddle.device.device_guard(place):
        same(paddle.sort(paddle.randperm(1000)), np.arange(1000), "randperm, sorted")


def convolutions(place: str) -> None:
    image, ones = RAMP.reshape(1, 1, 3, 4), np.ones((1, 1, 2, 2), np.float32)
    sums = RAMP[:-1, :-1] + RAMP[:-1, 1:] + RAMP[1:, :-1] + RAMP[1:, 1:]
    functional = paddle.nn.functional
    same(functional.conv2d(tensor(image, place), tensor(ones, place)).reshape([2, 3]), sums, "conv2d")
    back = functional.conv2d_transpose(tensor(ones, place), tensor(ones, place)).reshape([3, 3])
    same(back, [[1, 2, 1], [2, 4, 2], [1, 2, 1]], "conv2d_transpose")


def pools(place: str) -> None:
    image = tensor(RAMP[:2].reshape(1, 1, 2, 4), place)
    same(paddle.nn.functional.max_pool2d(image, 2), [[[[6, 8]]]], "max_pool2d")
    same(paddle.nn.functional.avg_pool2d(image, 2), [[[[3.5, 5.5]]]], "avg_pool2d")


def norms(place: str) -> None:
    """Rows of which the mean is 0 and the variance 4."""
    x = np.tile(np.array([2, -2], np.float32), (3, 100))
    got = values(paddle.nn.functional.layer_norm(tensor(x, place), [200], epsilon=0.0))
    assert np.allclose(got, x / 2, rtol=2**-20, atol=0), f"layer_norm of 2, -2, ... begins with {got[0, :4].tolist()}"


def groups(place: str) -> None:
    """Steps of a compiled function that run as one kernel."""
    fused = paddle.jit.to_static(lambda x: (x * 2 + 1) * (x - 3))
    same(fused(tensor(RAMP, place)), (RAMP * 2 + 1) * (RAMP - 3), "(2x + 1) * (x - 3)")


def random(place: str) -> None:
    with paddle.device.device_guard(place):
        paddle.seed(1)
        x = values(paddle.rand([1000]))
    assert (x >= 0).all() and (x < 1).all() and len(np.unique(x)) > 990, f"rand begins with {x[:4].tolist()}"


def integer_products(place: str) -> None:
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    same(tensor(x, place) @ tensor(x.T.copy(), place), x @ x.T, "int64")


def float_products(place: str) -> None:
    for n in (4, 128):
        x = arithmetic.ternary((n, n), n)
        same(tensor(x, place) @ tensor(x, place), x @ x, f"{n} x {n}")


# ---- Order


def two_busy_streams(place: str) -> None:
    """Two streams with much to do and events both ways between them come to an end."""
    on_mps(place)
    one, two = paddle.mps.Stream(), paddle.mps.Stream()
    n, turns = 40000, 25
    start = np.arange(n, dtype=np.int32) % 1009
    x, want = tensor(start, place), start
    for turn in range(turns):
        for stream, other in ((one, two), (two, one)):
            stream.wait_stream(other)
            with paddle.mps.stream(stream):
                for _ in range(4):
                    x = (x * 17 + turn) % 1009
        for _ in range(8):
            want = (want * 17 + turn) % 1009
    one.synchronize()
    two.synchronize()
    same(x, want, f"{8 * turns} steps on two streams")


def a_long_wait(place: str) -> None:
    """A stream waits for another that is busy for more than 5 s, after which macOS ends a command buffer."""
    on_mps(place)
    busy, patient = paddle.mps.Stream(), paddle.mps.Stream()
    start, seconds = one_link(place)
    links = int(LONG / seconds) + 1
    with paddle.mps.stream(busy):
        x = tensor(start, place)
        for _ in range(links):
            x = (x * 17 + 5) % ordering.MODULUS
        done = busy.record_event()
    patient.wait_event(done)
    with paddle.mps.stream(patient):
        y = x + 1
    same(y, ordering.chained(start, links) + 1, f"a sum that waited for {links} steps of {start.size} elements")


LONG = 6.0  # seconds of work
LINK = 0.05  # at least so many in one link, so that few command buffers hold the work
LARGEST = 1 << 26


def one_link(place: str) -> tuple[Array, float]:
    """An array of which one link of a chain takes at least LINK seconds on the device, and how long that takes."""
    n = 1 << 16
    while True:
        start = ordering.start(n)
        x = tensor(start, place)
        values((x * 17 + 5) % ordering.MODULUS)  # compiles
        begun = time.perf_counter()
        x = (x * 17 + 5) % ordering.MODULUS
        paddle.device.synchronize(place)
        seconds = time.perf_counter() - begun
        if seconds >= LINK or n >= LARGEST:
            return start, seconds
        n *= 2


def on_mps(place: str) -> None:
    if place == "cpu":
        raise Skip("the CPU has no streams")


# ---- A fault


def a_fault(place: str) -> None:
    """A kernel that writes far outside of its memory spoils neither this process nor the next one."""
    command = [sys.executable, "-m", f"{__package__}.fault", place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50)
    if done.returncode == fault.UNSUPPORTED:
        raise Skip("the device compiles no kernels of the program")
    assert done.returncode == 0, (
        f"the process of the fault ended with status {done.returncode}\n{done.stdout}{done.stderr}"
    )
    first_addition(place)


# ---- Graphs on disk


def stored_graphs(place: str) -> None:
    """What MPSGraph writes in one process, another one loads, with the same results."""
    command = [sys.executable, "-m", f"{__package__}.stored", place]
    done = subprocess.run(command, capture_output=True, text=True, timeout=140)
    if done.returncode == stored.UNSUPPORTED:
        raise Skip("the device stores no graphs")
    assert done.returncode == 0, f"the processes ended with status {done.returncode}\n{done.stdout}{done.stderr}"


# ---- Large grids


def many_rows(place: str) -> None:
    """More rows than the 65,535 threadgroups that other systems have for an axis, each with a result of its own."""
    x = np.arange(70001 * 3, dtype=np.int32).reshape(70001, 3)
    t = tensor(x, place)
    same(t.sum(axis=1), x.sum(axis=1), "sums of 70,001 rows")
    same(t.T * 2, x.T * 2, "a transpose of 70,001 rows")
    same(t + t[:1], x + x[:1], "a row added to 70,001 rows")


def many_elements(place: str) -> None:
    """More elements than a 24-bit integer counts, which is as far as a float32 does."""
    n = (1 << 24) + 3
    t = paddle.full([n], 1, dtype="uint8", place=place)
    same(t[n - 3 :] + 1, [2, 2, 2], "the last three elements")
    same((t + 1).astype("int32").sum(), 2 * n, f"the sum of {n} elements")


# ---- All of them, in order


def spoken(work: Work) -> str:
    return work.__name__.replace("_", " ")


MPSGRAPH = "Where MPSGraph has the operator it is computed there, otherwise on the CPU, with a warning."
SHADER = "Where a shader has the operator it is computed there, otherwise on the CPU, with a warning."
WRONG = "Nothing: results of these operators are wrong on this GPU. Compute on the CPU (paddle.set_device('cpu'))."
QUOTES = "this report: it quotes the compiler"

STEPS = [
    Step("first addition", first_addition, "Nothing runs on this GPU. Compute on the CPU (paddle.set_device('cpu')).",
         "this report and the output of `python -m paddle_mps.collect_env`"),
    Step("copies", copies, WRONG),
    Step("kernels at one time", kernels_at_one_time,
         "Nothing by itself: with PADDLE_MPS_CONCURRENT=0 in the environment each kernel waits for the one before.",
         "this report, and that of `PADDLE_MPS_CONCURRENT=0 python -m paddle_mps.selftest --quick`"),
    *(Step(f"shaders: {spoken(family)}", family, MPSGRAPH, QUOTES)
      for family in (elementwise, broadcast, casts, reductions, softmax, indexing, nonzero, scans, joining, sorts,
                     convolutions, pools, norms, groups, random, integer_products)),
    Step("MPSGraph: float products", float_products, SHADER),
    *(Step(f"math modes: {spoken(probe)}", probe, WRONG) for probe in hardware.MATH_MODES),
    Step("two busy streams", two_busy_streams, "Nothing: use one stream, which is the default.",
         "this report, and whether the screen froze", 120),
    Step("a wait longer than 5 s", a_long_wait, "A call that waited raises DeviceError; synchronize() between streams avoids it.",
         "this report, and what Console.app says of kIOGPUCommandBuffer in that minute", 120),
    Step("a fault on purpose", a_fault, "After a fault the process has to be started again.",
         "this report, and what Console.app says of kIOGPUCommandBuffer in that minute"),
    Step("stored graphs", stored_graphs, "Nothing: graphs are stored only where PADDLE_MPS_CACHE_DIR is set. Do not set it.",
         "this report, and the output of `python -m paddle_mps.selftest.stored mps`", 150),
    *(Step(f"division: {spoken(probe)}", probe, WRONG) for probe in hardware.DIVISIONS),
    Step("large grids: many rows", many_rows, WRONG),
    Step("large grids: many elements", many_elements, WRONG),
]  # fmt: skip
