"""Streams, events, waits that a signal can end, copies that do not wait, and failures that come late."""

from __future__ import annotations

import gc
import inspect
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import device, mps

N = 1 << 20


def long_work(seconds: float = 0.3) -> paddle.Tensor:
    """Queues work of at least so many seconds on this thread's stream; its result holds ones."""
    a = paddle.full([512, 512], 1 / 512, place="mps")
    x = paddle.ones([512, 512], place="mps")
    times = []
    for _ in range(10):  # the shortest time: the others may contain the work of other processes
        mps.synchronize()
        start = time.perf_counter()
        x = a.matmul(x)
        mps.synchronize()
        times.append(time.perf_counter() - start)
    for _ in range(round(seconds / max(min(times), 1e-4))):
        x = a.matmul(x)
    return x


def test_events_have_the_arguments_of_paddle() -> None:
    def defaults(cls: Any) -> dict[str, Any]:
        return {p.name: p.default for p in inspect.signature(cls).parameters.values()}

    flags = {"enable_timing": False, "blocking": False, "interprocess": False}
    assert defaults(mps.Event) == {**flags, "device": None}
    assert list(defaults(device.Event)) == ["device", *flags] and defaults(device.Event) == {"device": None, **flags}
    for event in (device.Event("mps"), device.Event(paddle.MPSPlace(0), True), device.Event(True), mps.Event(True)):
        assert isinstance(event, mps.Event) and event.query() and event.device == paddle.MPSPlace(0)
    for cls in (mps.Event, device.Event):
        with pytest.raises(paddle.UnsupportedError, match="interprocess"):
            cls(interprocess=True)


def test_elapsed_time_is_for_events_with_timing() -> None:
    plain, timed = mps.Event(), mps.Event(enable_timing=True)
    plain.record()
    timed.record()
    mps.synchronize()
    for start, end in ((plain, timed), (timed, plain), (plain, plain)):
        with pytest.raises(ValueError, match="enable_timing"):
            start.elapsed_time(end)
    with pytest.raises(ValueError, match="recorded"):
        timed.elapsed_time(mps.Event(enable_timing=True))
    assert timed.elapsed_time(timed) == 0.0


@pytest.mark.timed
def test_events_are_timed_where_the_work_is_done() -> None:
    start, end = mps.Event(enable_timing=True), mps.Event(enable_timing=True)
    begun = time.perf_counter()
    start.record()
    x = long_work(0.3)
    end.record()
    called = (time.perf_counter() - begun) * 1e3
    assert not end.query()
    with pytest.raises(ValueError, match="synchronize"):
        start.elapsed_time(end)
    end.synchronize()
    milliseconds = start.elapsed_time(end)
    assert isinstance(milliseconds, float) and milliseconds > called + 50
    assert milliseconds <= (time.perf_counter() - begun) * 1e3
    np.testing.assert_allclose(x.numpy(), 1, rtol=1e-5)


def test_streams_have_numbers_and_are_equal_to_themselves() -> None:
    a, b = mps.Stream(), mps.Stream("mps:0")
    assert 0 == mps.default_stream().stream_id < a.stream_id < b.stream_id
    assert a == a and a != b and a != 1 and len({a, b, mps.default_stream(), mps.current_stream()}) == 3
    assert a.device == a.place == paddle.MPSPlace(0)
    assert f"Stream {a.stream_id}" in repr(a)
    assert device.Stream is mps.Stream and device.stream_guard is mps.stream


def test_a_thread_has_its_own_current_stream() -> None:
    stream, seen = mps.Stream(), []

    def other() -> None:
        seen.append(mps.current_stream())
        mps.set_stream(mps.Stream())
        seen.append(mps.current_stream())

    with mps.stream(stream):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert mps.current_stream() is stream
        with mps.stream(mps.Stream()) as nothing, mps.stream(None):
            assert nothing is None and mps.current_stream() not in (stream, mps.default_stream())
        assert mps.current_stream() is stream
    assert mps.current_stream() == mps.default_stream() == seen[0] != seen[1]


def test_a_current_stream_stays_alive() -> None:
    assert device.set_stream(mps.Stream()) == mps.default_stream()
    gc.collect()
    try:
        assert (paddle.ones([3], place="mps") + 1).tolist() == [2, 2, 2]
        kept = mps.current_stream()
    finally:
        device.set_stream(mps.default_stream())
    assert kept.query() and mps.current_stream() == mps.default_stream()


def test_streams_wait_for_events_and_streams() -> None:
    a, b = mps.Stream(), mps.Stream()
    with mps.stream(a):
        x = long_work(0.1)
    event = a.record_event()
    b.wait_event(event)
    mark = b.record_event(mps.Event())
    assert not mark.query()
    mps.default_stream().wait_stream(b)
    event.wait(b)
    event.wait()
    mark.synchronize()
    assert event.query() and b.query()
    np.testing.assert_allclose(x.numpy(), 1, rtol=1e-5)


def test_synchronize_covers_streams_that_are_gone() -> None:
    with mps.stream(mps.Stream()):
        x = long_work(0.1)
        event = mps.current_stream().record_event()
    gc.collect()
    mps.synchronize()
    assert event.query()
    del x


def test_too_much_work_waits_for_room() -> None:
    x, count = paddle.zeros([3], place="mps"), 20_000
    busy = long_work(0.2)
    for i in range(count):
        if i % 4 == 0:
            x.add_(paddle.ones([3], place="mps"))
        else:
            x = x + 1
    assert x.tolist() == [count] * 3
    del busy


@pytest.mark.parametrize("there, back", [("cpu", "mps"), ("mps", "cpu")])
def test_a_copy_keeps_its_source(there: str, back: str) -> None:
    for keyword in ({"blocking": False}, {"non_blocking": True}):
        busy = long_work(0.1)
        source = paddle.arange(N, dtype="float32").to(there)
        freed, written = source.to(back, **keyword), source.to(back, **keyword)
        source.fill_(-1.0)
        del source
        reused = paddle.zeros([N], place=there)
        want = np.arange(N, dtype=np.float32)
        np.testing.assert_array_equal(freed.numpy(), want)
        np.testing.assert_array_equal((written + 1).numpy(), want + 1)
        target = paddle.zeros([N], place=back)
        target.copy_(reused + 2, blocking=False)
        assert target[-1].item() == 2
        del busy


def test_copies_do_not_wait_unless_they_are_told_to() -> None:
    x = long_work(0.3)
    home = x.to("cpu", blocking=False)
    event = mps.current_stream().record_event()
    assert not event.query()
    assert abs(x.cpu()[0, 0].item() - 1) < 1e-5
    np.testing.assert_allclose((home * 2).numpy(), 2, rtol=1e-5)
    with pytest.raises(TypeError, match="surprise"):
        x.to("cpu", surprise=True)


def test_numpy_memory_is_copied_before_the_call_returns() -> None:
    busy = long_work(0.1)
    array = np.ones(N, np.float32)
    shared, made = paddle.from_dlpack(array), paddle.to_tensor(array, place="mps")
    moved = shared.to("mps", blocking=False)
    array[:] = 7
    assert made.numpy().max() == moved.numpy().max() == 1
    assert shared.numpy().min() == 7
    del busy


def test_failures_come_late_and_keep_their_name() -> None:
    stream = mps.Stream()
    x, zeros = paddle.to_tensor([1, 2], place="mps"), paddle.zeros([2], "int64", place="mps")
    with mps.stream(stream):
        busy = long_work(0.05)
        bad = x.floor_divide(zeros)
        event = stream.record_event()
    worse, fine = (bad + x).sum(), x + 1
    home = worse.to("cpu", blocking=False)
    for _ in range(2):
        for lost in (bad, worse, bad[0], home):
            with pytest.raises(paddle.IntegerDivisionError, match=r"\[floor_divide\]"):
                lost.numpy()
        with pytest.raises(paddle.IntegerDivisionError, match=r"\[floor_divide\]"):
            bad.cpu()
    assert fine.tolist() == [2, 3]
    event.synchronize()
    for wait in (stream.synchronize, mps.synchronize):
        with pytest.raises(paddle.IntegerDivisionError, match=r"\[floor_divide\]"):
            wait()
        wait()
    assert (x + 2).tolist() == [3, 4]
    bad.copy_(fine)
    assert bad.tolist() == [2, 3]
    del busy


def script(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)


INTERRUPTS = """
import os, signal, threading, time
import paddle_mps as paddle
from paddle_mps import mps

a = paddle.full([1024, 1024], 1 / 1024, place="mps")
small = paddle.zeros([3], place="mps")
big = paddle.zeros([1 << 20], place="mps")

def work(count):
    x = paddle.ones([1024, 1024], place="mps")
    for _ in range(count):
        x = a.matmul(x)
    return x

times = []
for _ in range(5):
    begun = time.perf_counter()
    work(1)
    mps.synchronize()
    times.append(time.perf_counter() - begun)
count = min(int(8 / min(times)), 600)
begun = time.perf_counter()
x = work(count)
event = mps.current_stream().record_event()

def flood(step):
    while True:
        step()

waits = {
    "event": event.synchronize,
    "stream": mps.current_stream().synchronize,
    "device": mps.synchronize,
    "numpy": x.numpy,
    "item": lambda: x[0, 0].item(),
    "cpu": x.cpu,
    "data_ptr": x.data_ptr,
    "dlpack": x.__dlpack__,
    "copy": lambda: paddle.zeros([1024, 1024]).copy_(x),
    "small operators": lambda: flood(lambda: small + 1),
    "large operators": lambda: flood(lambda: big + 1),
    "in place": lambda: flood(lambda: small.add_(small)),
}
for name, wait in waits.items():
    threading.Timer(0.15, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        wait()
        print(name, "was not interrupted")
    except KeyboardInterrupt:
        print(name, "done" if event.query() else "interrupted", sep=": ")
# Other processes can only make the work take longer.
print("left", begun + count * min(times) - time.perf_counter(), sep=": ", flush=True)
"""


@pytest.mark.timed
@pytest.mark.skipif(sys.platform == "win32", reason="sends itself a SIGINT")
def test_every_wait_can_be_interrupted_and_exit_does_not_wait() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTS], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as ran:
        assert ran.stdout is not None and ran.stderr is not None
        answers = {}
        for line in ran.stdout:
            name, _, answer = line.rstrip().partition(": ")
            answers[name] = answer
            ended = time.perf_counter()
        status, stderr = ran.wait(60), ran.stderr.read()
        exit_took = time.perf_counter() - ended
    assert (status, stderr) == (0, "")
    left = float(answers.pop("left"))
    assert len(answers) == 12 and set(answers.values()) == {"interrupted"}, answers
    assert exit_took < left, "the exit waited for the work"


@pytest.mark.parametrize("end", ["", "raise SystemExit(0)", "import os; os._exit(0)"])
def test_exit_with_work_in_flight_is_clean(end: str) -> None:
    ran = script(
        "import paddle_mps as paddle\n"
        "from paddle_mps import mps\n"
        "s = mps.Stream(); mps.set_stream(s)\n"
        "a = paddle.full([512, 512], 1 / 512, place='mps')\n"
        "x = paddle.ones([512, 512], place='mps')\n"
        "for _ in range(600): x = a.matmul(x)\n"
        "y = x.to('cpu', blocking=False)\n"
        "e = s.record_event()\n"
        "assert not e.query()\n" + end
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.timed
@pytest.mark.parametrize("wait", ["x.numpy()", "mps.synchronize()", "[small + 1 for _ in range(3000)]"])
def test_waits_let_other_threads_run(wait: str) -> None:
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.005):
            ticks.append(time.perf_counter())

    names = {"mps": mps, "small": paddle.ones([3], place="mps"), "x": long_work(0.3)}
    thread = threading.Thread(target=tick)
    thread.start()
    eval(wait, names)
    stop.set()
    thread.join()
    assert len(ticks) > 5
