"""Probes of order: constants that change, long chains, streams, events, threads, and random numbers."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

import paddle_mps as paddle

from .compare import Array, same, tensor, values
from .recorder import Skip

MODULUS = 30011


def step(x: Array) -> Array:
    """One link of a chain in which every step depends on the one before."""
    return (x * 17 + 5) % MODULUS


def chained(x: Array, links: int) -> Array:
    for _ in range(links):
        x = step(x)
    return x


def start(n: int) -> Array:
    return np.arange(n, dtype=np.int32) % MODULUS


def changing_constants(place: str) -> None:
    """Scalars, shapes and offsets that differ from one operator to the next."""
    x = np.arange(40, dtype=np.float32)
    t = tensor(x, place)
    sums = [t + float(i) for i in range(60)]
    parts = [t[i:] * 2 for i in range(0, 40, 3)]
    grids = [t.reshape([i, -1]).T + 0 for i in (1, 2, 4, 5, 8)]
    for i, got in enumerate(sums):
        same(got, x + i, f"x + {i}")
    for i, got in zip(range(0, 40, 3), parts):
        same(got, x[i:] * 2, f"x[{i}:] * 2")
    for i, got in zip((1, 2, 4, 5, 8), grids):
        same(got, x.reshape(i, -1).T, f"{i} rows, transposed")


def long_chains(place: str) -> None:
    """Hundreds of operators in a row, each on the result of the last, over many command buffers."""
    for n, links in ((64, 400), (40000, 60)):
        t = tensor(start(n), place)
        for _ in range(links):
            t = (t * 17 + 5) % MODULUS
        same(t, chained(start(n), links), f"{links} links of {n}")


def reads_before_writes(place: str) -> None:
    """An operand that is changed right after it was used keeps its old value for the use."""
    x = start(5000)
    t = tensor(x, place)
    kept = []
    for _ in range(40):
        kept.append(t + 0)
        t += 1
    for i, got in enumerate(kept):
        same(got, x + i, f"after {i} additions")


def streams(place: str) -> None:
    """Work of one stream that needs the result of another waits for it."""
    if place == "cpu":
        raise Skip("the CPU has no streams")
    one, two = paddle.mps.Stream(), paddle.mps.Stream()
    n, links = 40000, 12
    for turn in range(8):
        with paddle.mps.stream(one):
            t = tensor(start(n) + turn, place)
            for _ in range(links):
                t = (t * 17 + 5) % MODULUS
        with paddle.mps.stream(two):
            u = t * 2
            v = u.sum()
        want = chained(start(n) + turn, links)
        same(v, want.sum(dtype=np.int64) * 2, f"the sum on the second stream, turn {turn}")
        same(u, want * 2, f"the second stream, turn {turn}")


def events(place: str) -> None:
    """Events pass after the work before them, take time, and hold back a stream."""
    if place == "cpu":
        raise Skip("the CPU has no streams")
    begin, end = paddle.mps.Event(enable_timing=True), paddle.mps.Event(enable_timing=True)
    side, main = paddle.mps.Stream(), paddle.mps.current_stream()
    begin.record()
    t = tensor(start(40000), place)
    for _ in range(12):
        t = (t * 17 + 5) % MODULUS
    end.record()
    side.wait_event(end)
    with paddle.mps.stream(side):
        u = t + 1
    end.synchronize()
    assert end.query(), "an event has not passed after it was waited for"
    assert begin.elapsed_time(end) > 0, f"twelve operators took {begin.elapsed_time(end)} ms"
    same(u, chained(start(40000), 12) + 1, "work that was held back")
    main.synchronize()


def memory_used_again(place: str) -> None:
    """Memory that is freed while the device still works with it is not overwritten by what comes next."""
    n = 1 << 16
    x = start(n)
    base = tensor(x, place)
    sums = []
    for i in range(30):
        sums.append(((base * 3 + i) % 1009).sum())  # the steps between lose their memory at once
    for i, got in enumerate(sums):
        same(got, ((x * 3 + i) % 1009).sum(dtype=np.int64), f"temporary {i}")


def threads(place: str) -> None:
    """Four threads compute at the same time."""
    wrong: list[str] = []

    def work(number: int) -> None:
        try:
            t = tensor(start(3000) + number, place)
            for _ in range(60):
                t = (t * 17 + 5) % MODULUS
            same(t, chained(start(3000) + number, 60), f"thread {number}")
        except Exception as error:
            wrong.append(str(error))

    workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    assert not wrong, wrong[0]


def random_numbers(place: str) -> None:
    """Random numbers keep their limits, do not repeat, and begin anew with their seed."""
    with on(place):
        paddle.seed(7)
        first, second = values(paddle.rand([20000])), values(paddle.rand([20000]))
        paddle.seed(7)
        same(paddle.rand([20000]), first, "the same seed")
    assert (first >= 0).all() and (first < 1).all(), "rand leaves [0, 1)"
    for name, x in (("rand", first), ("rand again", second)):
        # Ten standard deviations; and of 2**24 numbers twelve or so come twice.
        assert abs(x.mean() - 0.5) < 0.02, f"the mean of {name} is {x.mean()}"
        assert len(np.unique(x)) > 19900, f"{name} has {len(np.unique(x))} different values among 20000"
    assert np.count_nonzero(first == second) < 20, "two calls of rand give the same numbers"


def random_distributions(place: str) -> None:
    """Whole numbers, the normal distribution and permutations are what they are called."""
    with on(place):
        paddle.seed(8)
        whole, normal, order = (
            values(x) for x in (paddle.randint(0, 10, [5000]), paddle.randn([20000]), paddle.randperm(1000))
        )
    assert set(whole.tolist()) == set(range(10)), f"randint(0, 10) gives {sorted(set(whole.tolist()))}"
    # Seven standard deviations of either.
    assert abs(normal.mean()) < 0.05, f"the mean of randn is {normal.mean()}"
    assert abs(normal.std() - 1) < 0.035, f"the standard deviation of randn is {normal.std()}"
    assert np.array_equal(np.sort(order), np.arange(1000)), "randperm is no permutation"
    assert np.count_nonzero(order == np.arange(1000)) < 50, "randperm moves too little"


def on(place: str) -> Any:
    """Makes a place the current one."""
    return paddle.device.device_guard("cpu" if place == "cpu" else place)


PROBES = [
    changing_constants, long_chains, reads_before_writes, streams, events, memory_used_again, threads,
    random_numbers, random_distributions,
]  # fmt: skip
