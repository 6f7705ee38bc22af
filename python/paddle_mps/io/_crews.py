"""Crews: threads or processes that make batches ahead of the loop that reads them.

A crew gets tasks by `give`, each with a serial number and for one of its workers, and `wait` returns what became of some of them.
`end` ends the workers and removes what they have left; it may be called again, by any thread and when the interpreter ends.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import itertools
import multiprocessing
import os
import pickle
import queue
import signal
import sys
import threading
import time
from collections.abc import Iterator
from multiprocessing import connection, shared_memory
from multiprocessing.reduction import ForkingPickler
from typing import Any, NamedTuple

from .._core._library import WORKER
from .._core._place import Place
from ._batches import END, Fetcher, to_tensors, unpacked
from ._errors import WorkerError
from ._workers import BATCH, ENDED, FAILED, GRACE, READY, UNREADABLE, WorkerInfo, main, set_worker_info


class Answer(NamedTuple):
    """What became of a task.

    Attributes:
        kind: BATCH, ENDED or FAILED.
        content: the batch with tensors; the exception.
    """

    serial: int
    kind: str
    content: Any


class Unreadable(Exception):
    """Processes cannot read the data set. The message has the reason."""


class RemoteTraceback(Exception):
    """The traceback of an exception in a worker, as text: the cause of the exception in the caller."""

    def __str__(self) -> str:
        return f"\n\n{self.args[0]}"


class Threads:
    """A crew of threads of this process.

    Args:
        fetchers: one for each thread.
        place: of the tensors.
        seed: None: the threads are no workers, for `get_worker_info`.
        init: the worker_init_fn.
    """

    def __init__(self, fetchers: list[Fetcher], place: Place, seed: int | None, init: Any = None) -> None:
        self.count = len(fetchers)
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._tasks: list[queue.SimpleQueue[Any]] = [queue.SimpleQueue() for _ in fetchers]
        self._stopped = threading.Event()
        self._threads = []
        for i, (fetcher, tasks) in enumerate(zip(fetchers, self._tasks)):
            info = None if seed is None else WorkerInfo(i, len(fetchers), fetcher.dataset, seed + i)
            arguments = (fetcher, tasks, self._answers, self._stopped, place, info, init)
            thread = threading.Thread(target=work, args=arguments, name="paddle_mps.io", daemon=True)
            self._threads.append(thread)
            thread.start()

    def give(self, worker: int, serial: int, task: Any) -> None:
        """Adds a task."""
        self._tasks[worker].put((serial, task))

    def wait(self, timeout: float) -> list[Answer]:
        """At least one answer.

        Raises:
            WorkerError: there was none for some seconds; 0: this waits for ever.
        """
        try:
            return [self._answers.get(timeout=timeout or None)]
        except queue.Empty:
            raise late(timeout) from None

    def end(self, at_once: bool = True) -> None:
        """Ends the threads, after their current samples."""
        self._stopped.set()
        for tasks in self._tasks:
            tasks.put(None)
        for thread in self._threads:
            if thread is not threading.current_thread():  # a garbage collection may be anywhere
                thread.join(SAMPLE)


SAMPLE = (
    1.0  # seconds in which a thread that is told to end finishes its sample; a longer one ends without anybody waiting
)


def work(
    fetcher: Fetcher,
    tasks: queue.SimpleQueue[Any],
    answers: queue.SimpleQueue[Answer],
    stopped: threading.Event,
    place: Place,
    info: WorkerInfo | None,
    init: Any,
) -> None:
    """What a thread does."""
    failure: BaseException | None = None
    try:
        if info is not None:
            set_worker_info(info)
            if init is not None:
                init(info.id)
        fetcher.start()
    except BaseException as error:
        failure = error
    while (given := tasks.get()) is not None and not stopped.is_set():
        try:
            if failure is not None:
                raise failure
            batch = fetcher.batch(given[1], stopped.is_set)
            answer = (
                Answer(given[0], ENDED, None) if batch is END else Answer(given[0], BATCH, to_tensors(batch, place))
            )
        except BaseException as error:
            answer = Answer(given[0], FAILED, error)
        answers.put(answer)
        del answer, given


def late(timeout: float) -> WorkerError:
    """The error of a wait without an answer."""
    return WorkerError(f"[DataLoader] no batch came within {timeout} s; want a longer timeout=, or 0 for none")


_starting = threading.Lock()
_crews = itertools.count()


class Processes:
    """A crew of processes that are started anew, and load the library only if their data set needs it.

    Args:
        fetcher: as each process gets it.
        shared: whether arrays go through shared memory.
        timeout: as for `wait`.

    Raises:
        Unreadable: the data set cannot be pickled, or the processes cannot import what it needs.
    """

    def __init__(self, fetcher: Fetcher, count: int, place: Place, seed: int, init: Any, shared: bool) -> None:
        try:
            data = [bytes(ForkingPickler.dumps((fetcher, init)))]
        except Exception as error:
            raise Unreadable(f"the data set, collate_fn or worker_init_fn cannot be pickled ({error})") from error
        self.count = count
        self._names = (
            f"pmps{os.getpid():x}_{next(_crews):x}_"  # with a serial number the name of a segment; 30 letters on a Mac
        )
        self._place = place
        self._pending: dict[int, int] = {}  # serial numbers of tasks, and their workers
        self._connections: list[connection.Connection] = []
        self._processes: list[Any] = []
        self._pid = os.getpid()
        try:
            self._start(count)
            names = self._names if shared else ""
            for i, there in enumerate(self._connections):
                with contextlib.suppress(OSError):  # it has ended, which is found below
                    there.send_bytes(pickle.dumps((i, count, seed, data[0], names)))
            self._await_ready()
        except BaseException:
            self.end()
            raise

    def _start(self, count: int) -> None:
        context = multiprocessing.get_context("spawn")
        installed = (
            sys.modules.get("paddle") is not None and sys.modules["paddle"].__name__ == __name__.partition(".")[0]
        )
        for _ in range(count):
            here, there = context.Pipe()
            self._connections.append(here)
            process = context.Process(target=main, args=(there, installed), daemon=True)
            with in_workers():
                process.start()
            self._processes.append(process)
            there.close()

    def _await_ready(self) -> None:
        left = set(range(len(self._connections)))
        while left:
            for i, message in self._messages(0):
                if message is None:
                    code = self._processes[i].exitcode
                    if code is None or code < 0:
                        raise self._ended(i)
                    raise Unreadable(
                        f"a worker process ended with status {code} before it read any data: see what it printed"
                    )
                kind, _, content = message
                if kind == UNREADABLE:
                    raise Unreadable(f"a worker process cannot read the data set ({content[1]})")
                if kind == FAILED:
                    raise failure(content)
                if kind == READY:
                    left.discard(i)

    def _messages(self, timeout: float) -> Iterator[tuple[int, Any]]:
        """What arrives next from some workers; None from one that has ended."""
        by_object: dict[Any, int] = {}
        for i, (there, process) in enumerate(zip(self._connections, self._processes)):
            by_object[there] = by_object[process.sentinel] = i
        ready = connection.wait(list(by_object), timeout or None)
        if not ready:
            raise late(timeout)
        for i in sorted({by_object[x] for x in ready}):
            there = self._connections[i]
            try:
                if there in ready or there.poll():
                    yield i, pickle.loads(there.recv_bytes())
                    continue
            except (EOFError, OSError):
                pass
            self._processes[i].join(GRACE)
            yield i, None

    def _ended(self, i: int) -> WorkerError:
        process = self._processes[i]
        code = process.exitcode
        how = f"was killed by signal {-code}" if code is not None and code < 0 else f"ended with status {code}"
        return WorkerError(
            f"[DataLoader] worker {i} (process {process.pid}) {how}; want one that returns batches: memory may be short, or a function "
            "of the data set ends the process (num_workers=0 shows where)"
        )

    def give(self, worker: int, serial: int, task: Any) -> None:
        """Adds a task."""
        self._pending[serial] = worker
        with contextlib.suppress(OSError):  # it has ended, which `wait` finds
            self._connections[worker].send((serial, task))

    def begin(self, seed: int) -> None:
        """Begins another epoch, after what is left of the last one."""
        for there in self._connections:
            with contextlib.suppress(OSError):
                there.send((-1, seed))

    def wait(self, timeout: float) -> list[Answer]:
        """At least one answer.

        Raises:
            WorkerError: there was none for some seconds (0: this waits for ever); or a worker has ended.
        """
        found = []
        for i, message in self._messages(timeout):
            if message is None:
                raise self._ended(i)
            kind, serial, content = message
            if kind == BATCH:
                tree, data = content
                content = unpacked(tree, data, self._place) if isinstance(data, bytes) else self._received(tree, serial)
            elif kind == FAILED:
                content = failure(content)
            self._pending.pop(serial, None)
            found.append(Answer(serial, kind, content))
        return found

    def _received(self, tree: Any, serial: int) -> Any:
        """The batch in a segment, which this removes."""
        segment = shared_memory.SharedMemory(f"{self._names}{serial:x}")
        try:
            return unpacked(tree, segment.buf, self._place)
        finally:
            with contextlib.suppress(BufferError):  # after an exception its traceback holds arrays
                segment.close()
            segment.unlink()

    def end(self, at_once: bool = True) -> None:
        """Ends the processes: those that are idle by themselves, unless it has to be at once. Removes what is in shared memory."""
        if os.getpid() != self._pid:  # in a child of a fork, whose processes these are not
            return
        for there in self._connections:
            there.close()
        limit = time.monotonic() + (0 if at_once else GRACE)
        for process in self._processes:
            if not at_once:
                process.join(max(0.0, limit - time.monotonic()))
            if process.exitcode is None:
                process.terminate()
        for process in self._processes:
            process.join(GRACE)
            if process.exitcode is None:
                process.kill()
                process.join()
        self._processes, self._connections = [], []
        for serial in self._pending:
            remove(f"{self._names}{serial:x}")
        self._pending = {}


def remove(name: str) -> None:
    """Removes a segment of shared memory, if there is one."""
    try:
        segment = shared_memory.SharedMemory(name)
    except FileNotFoundError:
        return
    except ValueError:  # its worker was killed before it had a size
        with contextlib.suppress(FileNotFoundError):
            shared_memory._posixshmem.shm_unlink(f"/{name}")  # type: ignore[attr-defined]
        return
    segment.close()
    segment.unlink()


@contextlib.contextmanager
def in_workers() -> Iterator[None]:
    """Processes that are started meanwhile are workers, and Ctrl-C does not end them before they handle it."""
    with _starting:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        os.environ[WORKER] = "1"
        try:
            yield
        finally:
            os.environ.pop(WORKER, None)
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def failure(content: Any) -> BaseException:
    """The exception of a worker: itself, or a RuntimeError if it cannot be pickled. Its cause has the traceback."""
    error, said, text = content
    found: BaseException = RuntimeError(f"[DataLoader] a worker raised {said}") if error is None else error
    found.__cause__ = RemoteTraceback(text)
    return found


def copies(fetcher: Fetcher, count: int) -> list[Fetcher]:
    """A fetcher for each of some threads, with a copy of the data set, as each process would have one. Only one fetcher if the
    data set cannot be copied: it may hold a file, whose position threads must not share.
    """
    try:
        return [copy.deepcopy(fetcher) for _ in range(count)]
    except Exception:
        return [fetcher]


def why_no_processes() -> str:
    """Why this process cannot start worker processes, which import the main module of the program; empty if it can."""
    if multiprocessing.current_process().daemon:
        return "this process is a daemon, which may not start others"
    module = sys.modules["__main__"]
    path = getattr(module, "__file__", None)
    if path is not None and not os.path.exists(path):
        return f"the program is {path}, which is no file"
    line = line_of_main(module)
    if path is None or line is None or guarded(path, line):
        return ""
    name = os.path.basename(path)
    return f"the loop is not below `if __name__ == '__main__':` of {name}, which worker processes would run again"


def line_of_main(module: Any) -> int | None:
    """The line of the main module that runs; None if none does."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    found = None
    while frame is not None:
        if frame.f_code.co_name == "<module>" and frame.f_globals is vars(module):
            found = frame.f_lineno
        frame = frame.f_back
    return found


def guarded(path: str, line: int) -> bool:
    """Whether a line of a file is below a condition on __name__."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return True
    conditions = [
        node for node in ast.walk(tree) if isinstance(node, ast.If) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return any(isinstance(x, ast.Name) and x.id == "__name__" for node in conditions for x in ast.walk(node.test))
