"""What runs in a worker of a DataLoader: in a process that `_crews` has started, or in one of its threads."""

from __future__ import annotations

import os
import pickle
import queue
import random
import signal
import threading
import traceback
from multiprocessing import shared_memory
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any

import numpy as np

from .._devices._random import seed as seed_devices
from .._install import install
from ._batches import END, SMALL, Fetcher, Recycled, collated, fill, packed
from ._errors import ArgumentError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

READY, UNREADABLE, BATCH, ENDED, FAILED = "ready", "unreadable", "batch", "ended", "failed"
GRACE = 5.0  # seconds in which a worker that is told to end finishes its batch


class WorkerInfo:
    """A worker of a DataLoader.

    Attributes:
        id: from 0 below num_workers.
        num_workers: how many there are.
        dataset: the copy of the data set that this worker reads.
        seed: what the random generators of the worker began with.
    """

    def __init__(self, id: int, num_workers: int, dataset: Any, seed: int) -> None:
        self.id, self.num_workers, self.dataset, self.seed = id, num_workers, dataset, seed

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed})"


_thread = threading.local()
_process: list[WorkerInfo] = []


def get_worker_info() -> WorkerInfo | None:
    """The worker that calls this: its `id`, `num_workers`, `dataset` and `seed`; None outside of workers."""
    return getattr(_thread, "info", None) or (_process[0] if _process else None)


def set_worker_info(info: WorkerInfo) -> None:
    """Sets what `get_worker_info` returns in this thread."""
    _thread.info = info


def seed_all(number: int, seed: int) -> int:
    """Seeds the generators of Python, NumPy and the devices; returns the seed of a worker."""
    own = (seed + number) % 2**63
    random.seed(own)
    np.random.seed(np.random.SeedSequence(own).generate_state(8))
    seed_devices(own)
    return own


def tasks_of(connection: Connection) -> queue.SimpleQueue[Any]:
    """A queue of what arrives. A thread reads it, so that the caller never waits for a worker that waits for the caller."""
    found: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def read() -> None:
        try:
            while True:
                found.put(connection.recv())
        except (EOFError, OSError):  # the caller has closed it, or has ended
            found.put(None)
        threading.main_thread().join(GRACE)
        if threading.main_thread().is_alive():  # it is in a batch that does not end
            os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return found


def send(connection: Connection, kind: str, serial: int, content: Any) -> None:
    """Sends a message."""
    connection.send_bytes(ForkingPickler.dumps((kind, serial, content)))


def send_failure(connection: Connection, kind: str, serial: int, error: BaseException) -> None:
    """Sends an exception, as itself if it can be pickled, with its traceback as text."""
    text = traceback.format_exc()
    try:
        made = pickle.loads(ForkingPickler.dumps(error))
        content = error if type(made) is type(error) else None
    except Exception:
        content = None
    send(connection, kind, serial, (content, f"{type(error).__name__}: {error}", text))


def main(connection: Connection, installed: bool) -> None:
    """Answers tasks until the connection ends."""
    signal.signal(signal.SIGINT, lambda *_: None)  # the caller handles Ctrl-C, and ends this process
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    try:
        try:
            if installed:
                install()
            number, count, seed, data, names = pickle.loads(connection.recv_bytes())
            fetcher, init = pickle.loads(data)
        except (EOFError, BrokenPipeError):
            return
        except BaseException as error:
            send_failure(connection, UNREADABLE, -1, error)
            return
        try:
            begin(number, count, seed, init, fetcher)
        except BaseException as error:
            send_failure(connection, FAILED, -1, error)
            return
        send(connection, READY, -1, None)
        answer(connection, fetcher, names)
    except (BrokenPipeError, ConnectionResetError):  # the caller has ended
        pass


def begin(number: int, count: int, seed: int, init: Any, fetcher: Fetcher) -> None:
    """Prepares this process."""
    _process.append(WorkerInfo(number, count, fetcher.dataset, seed_all(number, seed)))
    if init is not None:
        init(number)
    if fetcher.collate is collated:
        fetcher.collate = Recycled()
    fetcher.start()


def answer(connection: Connection, fetcher: Fetcher, names: str) -> None:
    """Makes batches."""
    tasks = tasks_of(connection)
    while (given := tasks.get()) is not None:
        serial, task = given
        if serial < 0:  # a new epoch
            seed_all(_process[0].id, task)
            try:
                fetcher.start()
            except BaseException as error:
                send_failure(connection, FAILED, -1, error)
            continue
        try:
            batch = fetcher.batch(task)
            if batch is END:
                send(connection, ENDED, serial, None)
            else:
                send_batch(connection, serial, batch, names)
        except (BrokenPipeError, ConnectionResetError):
            raise
        except BaseException as error:
            send_failure(connection, FAILED, serial, error)


def send_batch(connection: Connection, serial: int, batch: Any, names: str) -> None:
    """Sends a batch: its arrays through shared memory of the name that the caller expects, or in the message if they are small."""
    tree, arrays, size = packed(batch)
    if size <= SMALL or not names:
        room = bytearray(size)
        fill(room, arrays)
        send(connection, BATCH, serial, (tree, bytes(room)))
        return
    try:
        message = ForkingPickler.dumps((BATCH, serial, (tree, size)))
    except Exception as error:
        raise ArgumentError(
            f"[DataLoader] a batch cannot be sent to the caller: {error}; want data that can be pickled"
        ) from error
    segment = shared_memory.SharedMemory(f"{names}{serial:x}", create=True, size=size)
    try:
        fill(segment.buf, arrays)
    finally:
        segment.close()
    connection.send_bytes(message)
