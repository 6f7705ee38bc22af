"""Sixteen threads on one device: right results whatever the others do."""

from __future__ import annotations

import sys
import threading
from typing import Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import _objects, mps
from paddle_mps._library import library

THREADS, ROUNDS = 16, 60


def together(work: Callable[[int], None]) -> None:
    """Runs work(0) to work(15) at once; the first exception of any is raised."""
    failures: list[BaseException] = []
    barrier = threading.Barrier(THREADS)

    def one(number: int) -> None:
        try:
            barrier.wait()
            work(number)
        except BaseException as error:  # it is raised again below
            failures.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failures:
        raise failures[0]


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_sixteen_threads(place: str) -> None:
    """Operations, views, copies and frees of every thread, on its own stream and the shared one, while
    some of them empty the cache, take snapshots, change limits and synchronize."""
    shared = np.arange(5000, dtype=np.float32)
    common = paddle.to_tensor(shared, place=place)
    standard = mps.memory_stats()["limit_bytes"] / mps.recommended_max_memory()

    def work(number: int) -> None:
        rng = np.random.default_rng(number)
        stream = mps.Stream() if number % 2 and place == "mps" else None
        with mps.stream(stream):
            total, expected = common * 0.0, np.zeros_like(shared)
            for i in range(ROUNDS):
                step = float(rng.integers(1, 9))
                total = total + common * step
                expected = expected + shared * np.float32(step)
                if i % 7 == number % 7:
                    part = total[100:2000:3]
                    assert np.array_equal((part * 2.0).numpy(), expected[100:2000:3] * 2)
                if i % 11 == 0:
                    there = paddle.to_tensor(rng.integers(0, 100, (40, 50)).astype(np.int64), place=place)
                    assert int(there.sum().item()) == int(there.numpy().sum())
                    total = total.cpu().to(place)
                nuisance(number, i)
            assert np.array_equal(total.numpy(), expected)

    def nuisance(number: int, i: int) -> None:
        if number == 1 and i % 5 == 0:
            mps.empty_cache()
        elif number == 2 and i % 5 == 0:
            assert sum(s["allocated_size"] for s in mps.memory_snapshot()) >= 0
        elif number == 3 and i % 9 == 0:
            mps.record_memory_history("all" if i % 2 else None, max_entries=50)
        elif number == 4:
            mps.synchronize()
        elif number == 5 and i % 5 == 0:
            mps.set_per_process_memory_fraction(0.5 if i % 2 else standard)
            mps.reset_peak_memory_stats()
            assert mps.memory_stats(place)["allocated_bytes.all.current"] > 0

    before = library.pmps_live_handles()
    try:
        together(work)
    finally:
        mps.record_memory_history(None)
        mps.set_per_process_memory_fraction(standard)
    mps.synchronize()
    assert mps.memory_allocated() >= 0 and mps.memory_allocated("cpu") >= 0  # what was deferred is freed
    assert library.pmps_live_handles() <= before


def test_one_tensor_made_used_and_dropped_by_all() -> None:
    """A list that every thread puts tensors into and takes others' out of."""
    pile: list[paddle.Tensor] = []
    lock = threading.Lock()

    def work(number: int) -> None:
        for i in range(200):
            with lock:
                pile.append(paddle.full([100 + i], number + i, dtype="int32", place="mps"))
                taken = pile.pop(0) if len(pile) > 5 else None
            if taken is not None:
                values = (taken + 1).numpy()
                assert (values == values[0]).all() and values[0] <= THREADS + 200

    together(work)


def test_errors_stay_with_their_thread() -> None:
    """Each thread gets the errors of its own calls, and no others."""
    one = paddle.ones([3], place="mps")

    def work(number: int) -> None:
        for i in range(100):
            wrong = paddle.ones([4 + number], place="mps")
            with pytest.raises(ValueError, match=rf"\[{4 + number}\]"):
                one + wrong
            assert (one + one).sum().item() == 6, i

    together(work)


def test_small_work_of_threads_loses_no_handle() -> None:
    """What threads free late is freed, however often they take turns."""
    one = paddle.ones([4])
    _objects.collect()
    before, switching = library.pmps_live_handles(), sys.getswitchinterval()

    def work(number: int) -> None:
        for _ in range(3000):
            one + 1.0

    sys.setswitchinterval(1e-6)
    try:
        together(work)
    finally:
        sys.setswitchinterval(switching)
    _objects.collect()
    assert library.pmps_live_handles() <= before
