"""Samplers: in which order the indices of samples are read, and which make a batch. Orders are drawn from NumPy's global generator."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from .._core._convert import said
from .._core._objects import Tensor
from .._randomness._sampling import randperm
from ._datasets import length
from ._errors import ArgumentError, boolean, natural, positive

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Generator, Sized


class Sampler(Generic[T]):
    """An order of samples. A subclass has `__iter__`, and `__len__` for the number of batches.

    Args:
        data_source: the data set.
    """

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[T]:
        """Iterates over indices."""
        raise NotImplementedError(
            f"[Sampler] {type(self).__name__} has no __iter__; want a method that returns an iterator"
        )


class SequenceSampler(Sampler[int]):
    """The indices from 0 on.

    Args:
        data_source: a data set with a length.
    """

    data_source: Sized

    def __init__(self, data_source: Sized) -> None:
        length("SequenceSampler", "data_source", data_source)
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices in a random order, which each iteration draws from `np.random`.

    Args:
        data_source: a data set with a length.
        replacement: whether an index may be drawn again.
        num_samples: how many indices are drawn, from 1; None: as many as there are samples.
        generator: an iterator over indices that replaces the drawing; fewer than num_samples end the iteration.

    Raises:
        TypeError: replacement is no bool.
        ValueError: num_samples is no int from 1, or, without replacement, more than there are samples.
    """

    data_source: Sized

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Generator[int, None, None] | None = None,
    ) -> None:
        self.data_source, self.generator = data_source, generator
        self.replacement = boolean("RandomSampler", "replacement", replacement)
        self._num_samples = num_samples
        count = length("RandomSampler", "data_source", data_source)
        positive("RandomSampler", "num_samples", self.num_samples)
        if not replacement and generator is None and self.num_samples > count:
            raise ArgumentError(
                f"[RandomSampler] num_samples is {num_samples} of {count} samples; want replacement=True"
            )

    @property
    def num_samples(self) -> int:
        """How many indices an iteration has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        count = len(self.data_source)
        if self.generator is not None:
            for _, index in zip(range(self.num_samples), self.generator):
                yield index
        elif self.replacement:
            yield from np.random.choice(count, self.num_samples).tolist()
        else:
            yield from np.random.permutation(count)[: self.num_samples].tolist()

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn from `np.random` with probabilities that are proportional to weights.

    Args:
        weights: of the samples, from 0, with one above 0: shape (N,), or (1, N).
        num_samples: how many indices are drawn, from 1.
        replacement: whether an index may be drawn again.

    Raises:
        ValueError: a weight is negative, infinite or nan, all are 0, or, without replacement, fewer than num_samples are not 0;
            or num_samples is no int from 1, or replacement no bool.
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        self.num_samples = positive("WeightedRandomSampler", "num_samples", num_samples)
        self.replacement = boolean("WeightedRandomSampler", "replacement", replacement)
        if not isinstance(weights, (Tensor, np.ndarray, list, tuple)):
            raise ArgumentError(
                f"[WeightedRandomSampler] weights is {said(weights)}; want a Tensor, an array or a list"
            )
        self.weights = weights
        given = weights.numpy() if isinstance(weights, Tensor) else weights
        array = np.asarray(given, np.float64)
        if array.ndim == 2 and len(array) == 1:
            array = array[0]
        if array.ndim != 1:
            raise ArgumentError(f"[WeightedRandomSampler] weights have shape {list(array.shape)}; want one axis")
        if not np.isfinite(array).all() or (array < 0).any() or not (array > 0).any():
            raise ArgumentError(
                f"[WeightedRandomSampler] weights are {said(given)}; want finite numbers from 0, one above 0"
            )
        if not replacement and np.count_nonzero(array) < num_samples:
            raise ArgumentError(
                f"[WeightedRandomSampler] num_samples is {num_samples} of {np.count_nonzero(array)} weights above 0; want replacement=True"
            )
        self._shares = array / array.sum()

    def __iter__(self) -> Iterator[int]:
        return iter(np.random.choice(len(self._shares), self.num_samples, self.replacement, self._shares).tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given indices in a random order, that of `paddle.randperm`, which each iteration draws.

    Args:
        indices: at least one.

    Raises:
        ValueError: there is none.
        TypeError: they have no length.
    """

    def __init__(self, indices: Sequence[int]) -> None:
        if not hasattr(type(indices), "__len__") or not len(indices):
            raise ArgumentError(f"[SubsetRandomSampler] indices is {said(indices)}; want at least one index")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        for i in randperm(len(self.indices)).tolist():
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class BatchSampler(Sampler["list[int]"]):
    """Lists of indices, one a batch.

    Args:
        dataset: a data set with a length; None with a sampler.
        sampler: an iterable of indices; None: a SequenceSampler of the data set, or a RandomSampler.
        shuffle: whether the order is random; False with a sampler.
        batch_size: indices of a batch, from 1.
        drop_last: whether a last batch of fewer indices is left out.

    Raises:
        ValueError: neither a data set nor a sampler is given, or both; or an argument is of another type. It is a TypeError and an
            AssertionError too.
    """

    sampler: Iterable[int]

    def __init__(
        self,
        dataset: Sized | None = None,
        sampler: Sampler[int] | Iterable[int] | None = None,
        shuffle: bool = False,
        batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:
        if (dataset is None) == (sampler is None):
            raise ArgumentError("[BatchSampler] want either dataset or sampler")
        self.shuffle = boolean("BatchSampler", "shuffle", shuffle)
        if dataset is not None:
            length("BatchSampler", "dataset", dataset)
            self.sampler = RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
        else:
            if not isinstance(sampler, Iterable):
                raise ArgumentError(f"[BatchSampler] sampler is {said(sampler)}; want an iterable of indices")
            if shuffle:
                raise ArgumentError("[BatchSampler] shuffle is True beside a sampler; want a sampler that shuffles")
            self.sampler = sampler
        self.batch_size = positive("BatchSampler", "batch_size", batch_size)
        self.drop_last = boolean("BatchSampler", "drop_last", drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        return in_batches(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        count = len(self.sampler)  # type: ignore[arg-type]
        return count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size)


def in_batches(indices: Iterable[int], size: int, drop_last: bool) -> Iterator[list[int]]:
    """Indices in lists of a length; the last one may be shorter."""
    batch: list[int] = []
    for index in indices:
        batch.append(index)
        if len(batch) == size:
            yield batch
            batch = []
    if batch and not drop_last:
        yield batch


class DistributedBatchSampler(BatchSampler):
    """Lists of indices of one process of several that share a data set. Indices are repeated so that all have equally many.

    Args:
        dataset: a data set with a length.
        batch_size: indices of a batch, from 1.
        num_replicas: the number of processes; None: 1.
        rank: of this process, from 0 below num_replicas; None: 0.
        shuffle: whether the order is random: that of `np.random.RandomState(epoch)`, where the epoch counts iterations.
        drop_last: whether a last batch of fewer indices is left out.

    Raises:
        ValueError: an argument is out of range, or of another type. It is a TypeError and an AssertionError too.
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        owner = "DistributedBatchSampler"
        count = length(owner, "dataset", dataset)
        self.dataset = dataset
        self.batch_size = positive(owner, "batch_size", batch_size)
        self.shuffle = boolean(owner, "shuffle", shuffle)
        self.nranks = 1 if num_replicas is None else positive(owner, "num_replicas", num_replicas)
        self.local_rank = 0 if rank is None else natural(owner, "rank", rank)
        if self.local_rank >= self.nranks:
            raise ArgumentError(f"[{owner}] rank is {rank} of {self.nranks} processes; want one below")
        self.drop_last = boolean(owner, "drop_last", drop_last)
        self.epoch = 0
        self.num_samples = math.ceil(count / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        order = np.resize(np.arange(len(self.dataset)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return in_batches(self._own(order), self.batch_size, self.drop_last)

    def _own(self, order: np.ndarray[Any, Any]) -> list[int]:
        """The indices of this process: whole batches of all processes in turn, then an equal share of the rest."""
        rest = self.total_size % (self.batch_size * self.nranks)
        turns, last = order[: self.total_size - rest], order[self.total_size - rest :]
        share = rest // self.nranks
        mine = turns.reshape(-1, self.nranks, self.batch_size)[:, self.local_rank].ravel()
        return [*mine.tolist(), *last[self.local_rank * share : (self.local_rank + 1) * share].tolist()]

    def __len__(self) -> int:
        return self.num_samples // self.batch_size if self.drop_last else math.ceil(self.num_samples / self.batch_size)

    def set_epoch(self, epoch: int) -> None:
        """Sets the number that the next random order depends on.

        Raises:
            ValueError: it is no int from 0.
        """
        self.epoch = natural("DistributedBatchSampler", "epoch", epoch)


__all__ = [
    "BatchSampler",
    "DistributedBatchSampler",
    "RandomSampler",
    "Sampler",
    "SequenceSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]
