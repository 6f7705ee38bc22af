"""Data sets that worker processes import: see test_io.py."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import paddle_mps as paddle
from paddle_mps.io import Dataset, IterableDataset, get_worker_info


def has_library() -> bool:
    """Whether the library is in this process."""
    return bool(sys.modules["paddle_mps._core._library"].is_loaded())


class Range(Dataset[Any]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __getitem__(self, index: int) -> Any:
        return index

    def __len__(self) -> int:
        return self.count


class Stream(IterableDataset[Any]):
    def __init__(self, count: int) -> None:
        self.count = count

    def __iter__(self) -> Iterator[int]:
        worker = get_worker_info()
        first, step = (worker.id, worker.num_workers) if worker else (0, 1)
        return iter(range(first, self.count, step))


class Images(Range):
    """Arrays large enough for shared memory, and what process made them, with or without the library."""

    def __getitem__(self, index: int) -> Any:
        return np.full((64, 65), index, "float32"), {"pid": os.getpid(), "library": has_library(), "name": str(index)}


class Tensors(Range):
    """Tensors that a worker makes, of a dtype that NumPy lacks too."""

    def __getitem__(self, index: int) -> Any:
        x = paddle.ones([3]) * index
        return x, paddle.to_tensor([index], dtype="bfloat16"), str(x.place)


class OddError(Exception):
    """It can be pickled, and not be made of it again."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what)


class Faulty(Range):
    """Sample 5 raises, or does something worse."""

    def __init__(self, count: int, kind: str) -> None:
        super().__init__(count)
        self.kind = kind

    def __getitem__(self, index: int) -> Any:
        if index == 5:
            if self.kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if self.kind == "exit":
                os._exit(3)
            if self.kind == "hang":
                time.sleep(60)
            if self.kind == "odd":
                raise OddError("a", "b")
            raise {"key": KeyError, "stop": StopIteration}[self.kind]("sample five")
        return np.full((64, 65), index, "float32")


class Seeds(Range):
    def __getitem__(self, index: int) -> Any:
        return np.random.randint(1 << 30), int(paddle.randint(0, 1 << 30, [1]).item())


def fail(worker: int) -> None:
    raise ValueError(f"worker {worker} cannot begin")
