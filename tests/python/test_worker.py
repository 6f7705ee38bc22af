"""Heavy calls run in threads that are reused, and the main thread answers to Ctrl-C meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import pytest

import paddle_mps as paddle
from paddle_mps._calls import _call, _operators
from paddle_mps._core import _ids, _objects, _worker
from paddle_mps._core._library import library


def names() -> list[str]:
    return sorted(t.name for t in threading.enumerate() if t.name == "paddle_mps")


def test_a_thread_serves_many_calls() -> None:
    x = paddle.ones([_call.HEAVY_WORK + 1], "uint8")
    _operators.bitwise_not(x)
    before = names()
    assert before
    for _ in range(5):
        assert _operators.bitwise_not(x).shape == x.shape  # which is what the short way makes of it
        assert _call.call(_ids.BITWISE_NOT, (x,)).shape == x.shape
    assert names() == before


def test_views_are_made_by_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    """A view takes no time, however large its tensor is; a reshape of a view that has to copy does."""
    x = paddle.ones([_call.HEAVY_WORK // 8 + 1, 8], "uint8")
    ran: list[Any] = []

    def counted(work: Any) -> Any:
        ran.append(work)
        return work()

    monkeypatch.setattr(_call, "run", counted)
    assert paddle.reshape(x, [-1]).shape == [x.size]
    assert paddle.transpose(x, [1, 0]).shape == [8, x.shape[0]]
    assert paddle.slice(x, [0], [1], [3]).shape == [2, 8]
    assert x[:, 3].shape == [x.shape[0]]
    assert not ran
    assert paddle.reshape(paddle.transpose(x, [1, 0]), [-1]).shape == [x.size]
    assert len(ran) == 1


def test_it_ran_in_another_thread_and_brought_back_what_came() -> None:
    assert _worker.run(threading.current_thread) is not threading.main_thread()

    def fail() -> None:
        raise KeyError("x")

    with pytest.raises(KeyError, match="x"):
        _worker.run(fail)


def test_other_threads_call_by_themselves() -> None:
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(_worker.run(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_an_interrupt_ends_the_wait_and_not_the_work() -> None:
    """The next call does not wait for what was given up; the thread comes back when that is done."""
    gate, begun, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> paddle.Tensor:
        begun.set()
        gate.wait()
        made = paddle.ones([3])
        ended.set()
        return made

    def interrupt() -> None:
        begun.wait()
        os.kill(os.getpid(), signal.SIGINT)

    _objects.collect()
    before = library.pmps_live_handles()
    other = threading.Thread(target=interrupt)
    other.start()
    with pytest.raises(KeyboardInterrupt):
        _worker.run(work)
    other.join()
    assert not ended.is_set()
    assert _worker.run(lambda: 7) == 7
    gate.set()
    ended.wait()
    deadline = time.monotonic() + 60
    while len(_worker._idle) < len(names()) and time.monotonic() < deadline:
        time.sleep(0.01)
    _objects.collect()
    assert library.pmps_live_handles() == before  # the result was dropped


def script(program: str) -> tuple[str, str]:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip(), done.stderr


HEAVY = """
import atexit, os, sys, threading
import paddle_mps as paddle
from paddle_mps._calls import _call
from paddle_mps._core import _worker
x = paddle.ones([_call.HEAVY_WORK + 1], "uint8")
"""


def test_a_forked_child_has_no_workers() -> None:
    out, _ = script(
        HEAVY
        + """
x + x
child = os.fork()
if child == 0:
    assert not _worker._idle
    assert _worker.run(lambda: 5) == 5
    try:
        x + x
    except RuntimeError as error:
        os._exit(0 if "fork" in str(error) else 1)
    os._exit(2)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if hasattr(os, "waitstatus_to_exitcode") else os.waitpid(child, 0)[1])
print((x + x)[0].item())
"""
    )
    assert out.split() == ["0", "2"]


def test_heavy_work_at_exit() -> None:
    """Where no thread starts any more, the call is made all the same."""
    out, err = script(HEAVY + "atexit.register(lambda: print((x + x)[0].item()))\n")
    assert (out, err) == ("2", "")


def test_exit_does_not_wait_for_what_was_given_up() -> None:
    program = """
import os, signal, threading
from paddle_mps._core import _worker
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.2, interrupt).start()
try:
    _worker.run(threading.Event().wait)
except KeyboardInterrupt:
    print("interrupted")
"""
    assert script(program) == ("interrupted", "")


def test_views_and_questions_of_large_tensors_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their time does not grow with the size, so that no thread is woken for them; a reshape that copies is another matter."""
    n = _call.HEAVY_WORK + 2
    x, z = paddle.zeros([2, n // 2]), paddle.zeros([n], "complex64")

    def refuse(function: Any) -> Any:
        raise AssertionError("it went to a worker")

    monkeypatch.setattr(_call, "run", refuse)
    assert x.unsqueeze(0).shape == [1, 2, n // 2]
    assert x.T.shape == [n // 2, 2]
    assert x.reshape([-1]).shape == [n]
    assert paddle.real(z).shape == paddle.imag(z).shape == [n]
    assert paddle.as_complex(paddle.as_real(z)).shape == [n]
    assert not paddle.any(x)
    assert not paddle.all(x)
    with pytest.raises(AssertionError, match="worker"):
        x.T.reshape([-1])
    with pytest.raises(AssertionError, match="worker"):
        paddle.abs(x)
