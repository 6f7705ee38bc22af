"""Long calls that Ctrl-C can end.

A call in C cannot see a signal. A heavy one therefore runs in a thread of its own, and the main thread, where
Python handles signals, waits for it. Threads are reused, for starting one costs more than a small call.
"""

from __future__ import annotations

import os
import queue
import threading
from typing import Any, Callable

from ._library import quick
from ._objects import is_grad_enabled

SLICE_MS = 100  # the longest time for which signals are not handled


class Job:
    """A call for a worker, and how it ended."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._recording = is_grad_enabled()  # of the caller; the worker makes the call as it would
        self._result: Any = None
        self._error: BaseException | None = None
        self._running = threading.Lock()
        self._running.acquire()

    def run(self) -> None:
        """Makes the call."""
        quick.pmps_grad_set_enabled(self._recording)
        try:
            self._result = self._function()
        except BaseException as error:  # result() raises it
            self._error = error

    def end(self) -> None:
        """Wakes the thread that waits for the call."""
        self._running.release()

    def wait(self) -> Any:
        """The result of the call, or its exception. A signal handler's exception ends only the wait."""
        while not self._running.acquire(timeout=SLICE_MS / 1000):
            pass
        if self._error is not None:
            raise self._error
        return self._result


class Worker:
    """A thread that runs one job after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
        threading.Thread(target=self._work, name="paddle_mps", daemon=True).start()

    def give(self, job: Job) -> None:
        """Starts a job. The worker must be idle."""
        self._jobs.put(job)

    def _work(self) -> None:
        while True:
            job = self._jobs.get()
            job.run()
            _idle.append(self)
            job.end()
            del job  # and its result, if the wait was interrupted


_idle: list[Worker] = []  # workers without a job; one whose wait was interrupted returns here when its job is done
os.register_at_fork(after_in_child=_idle.clear)  # a child has no other threads


def run(function: Callable[[], Any]) -> Any:
    """Calls a function so that the main thread handles signals meanwhile; other threads just call it.

    After an interrupt the call still finishes, and its result is dropped.

    Raises:
        Exception: what the function raises.
        KeyboardInterrupt: and whatever else a signal handler raises.
    """
    if threading.current_thread() is not threading.main_thread():
        return function()
    try:
        worker = _idle.pop() if _idle else Worker()
    except RuntimeError:  # the interpreter is ending and starts no thread any more
        return function()
    job = Job(function)
    worker.give(job)
    return job.wait()
