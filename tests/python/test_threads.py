"""Sixteen threads on one device: right results whatever the others do."""

from __future__ import annotations

import sys
import threading
from typing import Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps
from paddle_mps._core import _objects
from paddle_mps._core._library import library
from paddle_mps._core._objects import view

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


def test_a_tensor_that_another_thread_changes_in_place() -> None:
    """Calls on a tensor whose handle is replaced meanwhile are right, or say what happened: no other error, no wrong elements."""
    x = paddle.to_tensor(np.full((4, 6), 3.0, np.float32))
    calls = {
        "numpy": lambda: x.numpy().sum(),
        "add": lambda: (x + 1).numpy().sum() - 24,
        "sum": lambda: x.sum().item(),
        "detach": lambda: x.detach().numpy().sum(),
        "clone": lambda: x.clone().numpy().sum(),
        "to": lambda: x.to("cpu").numpy().sum(),
        "fill": lambda: paddle.assign(x, output=paddle.zeros([24]).reshape_(x.shape)).numpy().sum(),
        "stop_gradient": lambda: 72 if x.stop_gradient else 0,
        "list": lambda: np.sum(x.tolist()),
    }
    failed: list[str] = []
    changed = "another thread has changed a tensor in place during the call; want a lock around both, or a copy"
    over = threading.Event()

    def change() -> None:
        while not over.is_set():
            for shape in ([24], [2, 12], [3, 8]):
                x.reshape_(shape)

    def use(seed: int) -> None:
        names = list(calls)
        for i in range(800):
            name = names[(i + seed) % len(names)]
            try:
                if calls[name]() != 72:
                    failed.append(f"{name}: another sum")
            except Exception as error:
                text = str(error)
                other_shape = "shape" in text or "size" in text or "[memcpy] got" in text or "dimension" in text
                if changed not in text and not other_shape:
                    failed.append(f"{name}: {type(error).__name__}: {text}")

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
        changing = threading.Thread(target=change)
        for t in [*threads, changing]:
            t.start()
        for t in threads:
            t.join()
        over.set()
        changing.join()
    finally:
        sys.setswitchinterval(before)
    assert failed == []


def test_a_handle_that_was_replaced() -> None:
    """What a call says that has read a handle before another thread has replaced it."""
    x = paddle.ones([4])
    handle = x._handle
    x.reshape_([2, 2])
    x, stale = view(handle), x
    with pytest.raises(
        ValueError, match=r"^\[detach\] another thread has changed a tensor in place during the call; want"
    ):
        x.detach()
    with pytest.raises(
        ValueError, match=r"^\[\w+\] another thread has changed a tensor in place during the call; want"
    ):
        print(x + 1)
    assert stale.shape == [2, 2]
