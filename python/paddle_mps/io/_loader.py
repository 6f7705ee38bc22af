"""DataLoader: iterates over the batches of a data set."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._core import _place
from .._core._convert import said
from .._core._errors import UnsupportedError
from .._core._place import Place
from ._batches import END, Fetcher, collated, collated_in_place, to_tensors
from ._crews import Processes, Threads, Unreadable, copies, why_no_processes
from ._datasets import IterableDataset, length
from ._errors import ArgumentError, LengthError, boolean, function_or_none, natural, positive
from ._samplers import BatchSampler, RandomSampler
from ._workers import ENDED, FAILED

if TYPE_CHECKING:
    from .._core._objects import Tensor
    from .._core._typing import PlaceLike
    from ._datasets import Dataset


class DataLoader:
    """Iterates over the batches of a data set.

    A batch has the structure of a sample: a tensor, or a list or dict of tensors and lists of texts. Arrays keep their dtypes; ints
    become int64, floats float64. Batches come in the order of the sampler, and their tensors are at the current place.

    Workers are processes that are started anew (`spawn`): what starts the program must be below `if __name__ == "__main__":`. If
    worker processes cannot read the data set, threads do, with one warning. A worker computes on the CPU.

    Args:
        dataset: samples by index, or an IterableDataset.
        feed_list: None: it is for static graphs.
        places: of the tensors: a place, or a list of one; None: the current one.
        return_list: accepted; batches have the structure of samples in both cases.
        batch_sampler: an iterable of lists of indices, which replaces batch_size, shuffle and drop_last.
        batch_size: samples of a batch, from 1; None: samples come one by one, without another axis.
        shuffle: whether the order is random.
        drop_last: whether a last batch of fewer samples is left out.
        collate_fn: makes a batch of a list of samples (of one sample with batch_size=None).
        num_workers: processes that make batches; 0: this one does.
        use_buffer_reader: with num_workers=0, whether a thread makes batches ahead.
        reader_buffer_size: batches that this thread makes ahead, from 1.
        prefetch_factor: batches that each worker makes ahead, from 1.
        use_shared_memory: whether workers send arrays through shared memory.
        timeout: seconds that workers have for a batch; 0: no limit.
        worker_init_fn: called in each worker with its number, before it reads data.
        persistent_workers: whether workers go on to the next epoch.

    Raises:
        ValueError: an argument is out of range, of another type, or does not go with others. It is a TypeError and an AssertionError
            too.
        UnsupportedError: feed_list is given.
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        feed_list: Sequence[Tensor] | None = None,
        places: PlaceLike | Sequence[PlaceLike] | None = None,
        return_list: bool = True,
        batch_sampler: BatchSampler | Iterable[Sequence[int]] | None = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        owner = "DataLoader"
        if feed_list is not None:
            raise UnsupportedError(f"[{owner}] feed_list is given; want None: there is no static graph mode")
        self.dataset, self.feed_list, self.return_list = dataset, feed_list, return_list
        self.places, self._place = placed_at(places)
        self.num_workers = natural(owner, "num_workers", num_workers)
        self.use_buffer_reader, self.use_shared_memory = use_buffer_reader, use_shared_memory
        self.reader_buffer_size = positive(owner, "reader_buffer_size", reader_buffer_size)
        self.prefetch_factor = positive(owner, "prefetch_factor", prefetch_factor)
        if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not 0 <= timeout < math.inf:
            raise ArgumentError(f"[{owner}] timeout is {said(timeout)}; want seconds from 0")
        self.timeout = timeout
        self.collate_fn = function_or_none(owner, "collate_fn", collate_fn)
        self.worker_init_fn = function_or_none(owner, "worker_init_fn", worker_init_fn)
        self._persistent_workers, self._latest = persistent_workers, -1  # the number of the latest iteration
        self._crew: Processes | None = None  # of persistent workers
        self._reason = ""  # why processes cannot read the data set
        self._serials = itertools.count()
        boolean(owner, "shuffle", shuffle)
        self.drop_last = boolean(owner, "drop_last", drop_last)
        self.batch_size, self.shuffle = batch_size, shuffle
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable and (shuffle or batch_sampler is not None):
            raise ArgumentError(f"[{owner}] the data set is an IterableDataset; want neither shuffle nor batch_sampler")
        self.batch_sampler: Any = None
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise ArgumentError(
                    f"[{owner}] got batch_sampler; want none of batch_size, shuffle and drop_last beside it"
                )
            if not isinstance(batch_sampler, Iterable):
                raise ArgumentError(
                    f"[{owner}] batch_sampler is {said(batch_sampler)}; want an iterable of lists of indices"
                )
            self.batch_sampler, self.batch_size = batch_sampler, None
        elif batch_size is not None:
            positive(owner, "batch_size", batch_size)
            if not self._iterable:
                self.batch_sampler = BatchSampler(dataset, None, shuffle, batch_size, drop_last)
        elif not self._iterable:
            length(owner, "dataset", dataset)
        self.auto_collate_batch = batch_sampler is not None or batch_size is not None

    def __len__(self) -> int:
        """The number of batches.

        Raises:
            ValueError: the data set is an IterableDataset. It is a RuntimeError and a TypeError too.
        """
        if self._iterable:
            raise LengthError("[DataLoader] the data set is an IterableDataset; want one with a length")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __iter__(self) -> Batches:
        """Begins an epoch. With persistent workers this ends an earlier iteration."""
        return Batches(self)

    def __call__(self) -> Batches:
        """The same as iter()."""
        return Batches(self)

    def _tasks(self) -> Iterator[Any]:
        """What makes each batch: lists of indices, single ones, or for an iterable data set None without an end."""
        if self._iterable:
            return itertools.repeat(None)
        if self.batch_sampler is not None:
            return iter(self.batch_sampler)
        return iter(RandomSampler(self.dataset)) if self.shuffle else iter(range(len(self.dataset)))

    def _fetcher(self) -> Fetcher:
        size = (self.batch_size or 0) if self._iterable else -1
        here = not self.num_workers and self._where().is_cpu_place()
        own = (collated_in_place if here else collated) if self.auto_collate_batch else None
        collate = self.collate_fn or own
        return Fetcher(self.dataset, collate, size, self.drop_last)

    def _begin(self) -> Any:
        """The crew of an epoch; None: the caller makes batches itself."""
        if not self.num_workers:
            return Threads([self._fetcher()], self._where(), None) if self.use_buffer_reader else None
        seed = int(np.random.randint(0, sys.maxsize))  # as in Paddle, so that a shuffled order after it is the same
        if self._crew is not None:
            self._crew.begin(seed)
            return self._crew
        self._reason = self._reason or why_no_processes()
        if not self._reason:
            try:
                crew = Processes(
                    self._fetcher(),
                    self.num_workers,
                    self._where(),
                    seed,
                    self.worker_init_fn,
                    bool(self.use_shared_memory),
                )
                if self._persistent_workers:
                    self._crew = crew
                    weakref.finalize(self, crew.end)
                return crew
            except Unreadable as error:
                self._reason = str(error)
        fetchers = copies(self._fetcher(), self.num_workers)
        warn(
            f"{len(fetchers)} thread{'s read' if len(fetchers) > 1 else ' reads'} the data instead of worker processes: {self._reason}"
        )
        return Threads(fetchers, self._where(), seed, self.worker_init_fn)

    def _where(self) -> Place:
        """The place of tensors: that of now, whatever the program does while threads make batches."""
        return self._place or _place.current()


def placed_at(places: Any) -> tuple[list[Place], Place | None]:
    """The argument `places` as a list, and the place of tensors.

    Raises:
        ValueError: it names no place, or several.
    """
    given = list(places) if isinstance(places, (list, tuple)) else [] if places is None else [places]
    if len(given) > 1:
        raise ArgumentError(f"[DataLoader] places has {len(given)} places; want one")
    found = [_place.place(p) for p in given]
    return found or [_place.current()], found[0] if found else None


_warned: set[str] = set()


def warn(text: str) -> None:
    """Warns once a process."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(f"paddle_mps: DataLoader: {text}", RuntimeWarning, stacklevel=5)


class Batches:
    """An iteration over the batches of a DataLoader. Leaving it, by whatever way, ends its threads and processes."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._number = loader._latest = next(loader._serials)
        self._tasks: Iterator[Any] | None = None
        self._answers: dict[int, Any] = {}
        self._order: list[tuple[int, int]] = []  # serial numbers of tasks and their workers
        self._crew: Threads | Processes | None = loader._begin()
        self._shared = self._crew is not None and self._crew is loader._crew
        self._end: Any = None
        if self._crew is not None and not self._shared:
            self._end = weakref.finalize(self, self._crew.end)
        try:
            self._start()
        except BaseException:
            self._finish(True)
            raise

    def _start(self) -> None:
        """Gives the first tasks."""
        self._tasks = self._loader._tasks()
        if self._crew is None:
            self._fetcher = self._loader._fetcher()
            self._fetcher.start()
            return
        self._active = set(range(self._crew.count))
        self._turn = itertools.cycle(range(self._crew.count))
        for _ in range(
            self._crew.count * self._loader.prefetch_factor
            if self._loader.num_workers
            else self._loader.reader_buffer_size
        ):
            self._give()

    def __iter__(self) -> Batches:
        return self

    def __len__(self) -> int:
        """The number of batches of the DataLoader."""
        return len(self._loader)

    def _give(self) -> None:
        """Gives the next task to the next worker that has not ended."""
        if self._tasks is None or self._crew is None or not self._active:
            return
        try:
            task = next(self._tasks)
        except StopIteration:
            self._tasks = None
            return
        worker = next(i for i in self._turn if i in self._active)
        serial = next(self._loader._serials)
        self._order.append((serial, worker))
        self._crew.give(worker, serial, task)

    def __next__(self) -> Any:
        """The next batch.

        Raises:
            WorkerError: a worker has ended, or did not answer within `timeout` seconds.
            Exception: what the data set, the sampler or the collate_fn raised.
        """
        try:
            return self._next()
        except StopIteration:
            raise
        except BaseException:
            self._finish(True)
            raise

    def _next(self) -> Any:
        if self._crew is None:
            return self._made_here()
        if self._shared and self._loader._latest != self._number:
            raise StopIteration
        while self._order:
            serial, worker = self._order.pop(0)
            while serial not in self._answers:
                for found in self._crew.wait(self._loader.timeout):
                    if found.serial < 0:  # an epoch could not begin
                        raise_in_caller(found.content)
                    if found.serial > self._number:  # not of an earlier epoch
                        self._answers[found.serial] = found
            answer = self._answers.pop(serial)
            if answer.kind == FAILED:
                raise_in_caller(answer.content)
            if answer.kind == ENDED:
                self._active.discard(worker)
                continue
            self._give()
            return answer.content
        self._finish(False)
        raise StopIteration

    def _made_here(self) -> Any:
        """The next batch, without a thread."""
        for task in self._tasks or ():
            try:
                batch = self._fetcher.batch(task)
            except StopIteration as error:
                raise_in_caller(error)
            if batch is not END:
                return to_tensors(batch, self._loader._where())
            break
        self._tasks = None
        raise StopIteration

    def _finish(self, at_once: bool) -> None:
        """Ends the crew: at once, or after its workers have ended by themselves."""
        self._tasks, self._order = None, []
        if self._crew is None:
            return
        if self._shared:
            if at_once and self._loader._latest == self._number:
                self._loader._crew = None
                self._crew.end()
        elif self._end is not None and self._end.alive:
            self._crew.end(at_once)
            self._end.detach()


def raise_in_caller(error: BaseException) -> None:
    """Raises the exception of a worker. A StopIteration would end the loop without a word, so that it becomes a RuntimeError."""
    if isinstance(error, StopIteration):
        raise RuntimeError("[DataLoader] the data set raised StopIteration; want another exception") from error
    try:
        raise error
    finally:
        del error  # which holds this frame
