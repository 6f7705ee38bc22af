"""Batches: samples become arrays, arrays go through shared memory, and become tensors."""

from __future__ import annotations

import itertools
import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Callable, NamedTuple

import numpy as np

from .._arrays._array import stack
from .._calls._grad import no_grad
from .._core._dtype import BY_NUMPY
from .._core._objects import Tensor, blank, memory
from .._core._place import Place, cpu
from .._devices._default_place import array_beside
from ._errors import ArgumentError

Join = Callable[[Sequence[Any]], Any]


def collated(samples: Sequence[Any], join: Join = np.stack) -> Any:
    """The batch of samples that are alike: arrays and tensors are stacked, numbers become an array, texts a list; of dicts, lists and
    tuples each field becomes such a batch.

    Args:
        join: stacks arrays.

    Raises:
        ValueError: shapes or numbers of fields differ, or a sample is something else. It is a TypeError too.
    """
    first = samples[0]
    if isinstance(first, np.ndarray):
        return joined(samples, join)
    if isinstance(first, Tensor):
        with no_grad():
            return joined(samples, stack)
    if isinstance(first, (numbers.Number, np.generic)) and not isinstance(first, (np.str_, np.bytes_)):
        return np.array(samples)
    if isinstance(first, (str, bytes)):
        return samples
    if isinstance(first, Mapping):
        missing = [key for key in first for sample in samples if key not in sample]
        if missing:
            raise ArgumentError(
                f"[DataLoader] a sample has no {missing[0]!r}, which the first of its batch has; want the same keys"
            )
        return {key: collated([sample[key] for sample in samples], join) for key in first}
    if isinstance(first, Sequence):
        lengths = [len(sample) for sample in samples]
        if len(set(lengths)) > 1:
            raise ArgumentError(
                f"[DataLoader] the samples of a batch have {', '.join(map(str, lengths))} fields; want one number"
            )
        return [collated(fields, join) for fields in zip(*samples)]
    raise ArgumentError(
        f"[DataLoader] a sample has a field of type {type(first).__name__}; want arrays, tensors, numbers, texts, dicts, lists or tuples, "
        "or a collate_fn"
    )


def joined(samples: Sequence[Any], join: Join) -> Any:
    """Arrays or tensors along a new first axis."""
    shapes = [list(getattr(x, "shape", np.shape(x) if not isinstance(x, Tensor) else ())) for x in samples]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ArgumentError(
                f"[DataLoader] samples 0 and {i} of a batch have shapes {shapes[0]} and {shape}; want one shape, or a collate_fn"
            )
    return join(list(samples))


def collated_in_place(samples: Sequence[Any]) -> Any:
    """`collated`, with large arrays in the memory of tensors of the CPU. The library uses memory of tensors that are gone once more,
    where new memory of the system costs several times as much as what is written into it.
    """
    return collated(samples, stacked)


def stacked(arrays: Sequence[np.ndarray[Any, Any]]) -> Any:
    """Arrays along a new first axis: a tensor, if they are large and of one dtype that tensors have."""
    first = arrays[0]
    kind = BY_NUMPY.get(first.dtype)
    if kind is None or first.nbytes * len(arrays) < LARGE or any(x.dtype != first.dtype for x in arrays):
        return np.stack(arrays)
    made = blank((len(arrays), *first.shape), kind, cpu)
    np.stack(arrays, out=memory(made))
    return made


class Recycled:
    """`collated` for a worker, which has copied the arrays of a batch before it makes the next one: large ones are stacked in the same
    memory again.
    """

    def __init__(self) -> None:
        self._memory: dict[Any, list[np.ndarray[Any, Any]]] = {}  # by dtype and shape
        self._used: dict[Any, int] = {}  # of these, in this batch

    def __call__(self, samples: Sequence[Any]) -> Any:
        self._used.clear()
        if len(self._memory) > MOST_RECYCLED:  # batches of ever other shapes
            self._memory.clear()
        return collated(samples, self._stacked)

    def _stacked(self, arrays: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        first = arrays[0]
        if first.nbytes * len(arrays) < LARGE or any(x.dtype != first.dtype for x in arrays):
            return np.stack(arrays)
        key = first.dtype.str, (len(arrays), *first.shape)
        i = self._used.get(key, 0)
        self._used[key] = i + 1
        kept = self._memory.setdefault(key, [])
        if i == len(kept):
            kept.append(np.empty(key[1], first.dtype))
        return np.stack(arrays, out=kept[i])


MOST_RECYCLED = 8  # shapes of arrays


def mapped(x: Any, change: Callable[[Any], Any]) -> Any:
    """A batch with its arrays and tensors changed. Tuples become lists, as in Paddle; other fields stay."""
    if isinstance(x, (np.ndarray, Tensor, Field)):
        return change(x)
    if isinstance(x, Mapping):
        return {key: mapped(value, change) for key, value in x.items()}
    if isinstance(x, Sequence) and not isinstance(x, (str, bytes)):
        return [mapped(value, change) for value in x]
    return x


def to_tensors(batch: Any, place: Place) -> Any:
    """A batch with tensors at a place, without gradients."""

    def one(x: Any) -> Any:
        if isinstance(x, Tensor):
            moved = x if x.place == place else x.to(place)
            return moved if moved.stop_gradient else moved.detach()
        if BY_NUMPY.get(x.dtype) is None:
            raise ArgumentError(
                f"[DataLoader] a batch has an array of {x.dtype}; want numbers, or a collate_fn that makes some"
            )
        return array_beside(x, place)

    return mapped(batch, one)


LARGE = 1 << 18  # bytes


class Fetcher:
    """Makes batches of a data set.

    Args:
        collate: makes a batch of a list of samples; None for batch_size=None: of one sample.
        size: samples of a batch of an iterable data set; 0: one by one. -1: the data set has samples by index.
    """

    def __init__(self, dataset: Any, collate: Callable[[Any], Any] | None, size: int, drop_last: bool) -> None:
        self.dataset, self.collate, self.size, self.drop_last = dataset, collate, size, drop_last
        self.iterator: Iterator[Any] | None = None

    def start(self) -> None:
        """Begins an epoch."""
        self.iterator = iter(self.dataset) if self.size >= 0 else None

    def batch(self, task: Any, stopped: Callable[[], bool] = bool) -> Any:
        """The batch of some indices, of one index, or the next one; `END` behind the last one, or when stopped."""
        if self.iterator is not None:
            if self.size == 0:
                samples = next(self.iterator, END)
            else:
                samples = list(itertools.islice(self.iterator, self.size))
                if not samples or (self.drop_last and len(samples) < self.size):
                    return END
        elif isinstance(task, (list, tuple)):
            samples = []
            for index in task:
                if stopped():
                    return END
                samples.append(self.dataset[index])
        else:
            samples = self.dataset[task]
        return samples if self.collate is None or samples is END else self.collate(samples)


class End:
    """What a fetcher returns behind the last batch."""

    def __reduce__(self) -> str:
        return "END"


END = End()


class Field(NamedTuple):
    """An array of a batch in shared memory: where it begins, in bytes."""

    start: int
    dtype: str
    shape: tuple[int, ...]


ALIGNMENT = 64  # bytes
SMALL = 1 << 14  # bytes; batches of fewer go through the pipe


def packed(batch: Any) -> tuple[Any, list[np.ndarray[Any, Any]], int]:
    """A batch with fields for its arrays, those arrays, and their size in bytes. Tensors become arrays: those of bfloat16 of uint16."""
    arrays: list[np.ndarray[Any, Any]] = []
    size = 0

    def one(x: Any) -> Any:
        nonlocal size
        array = x.numpy() if isinstance(x, Tensor) else x
        if array.dtype.hasobject or BY_NUMPY.get(array.dtype) is None:
            raise ArgumentError(
                f"[DataLoader] a batch has an array of {array.dtype}; want numbers, or a collate_fn that makes some"
            )
        arrays.append(array)
        field = Field(size, array.dtype.str, array.shape)
        size += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        return field

    return mapped(batch, one), arrays, size


def fill(room: Any, arrays: Sequence[np.ndarray[Any, Any]]) -> None:
    """Writes arrays where their fields say."""
    start = 0
    for array in arrays:
        np.ndarray(array.shape, array.dtype, room, start)[...] = array
        start += -(-array.nbytes // ALIGNMENT) * ALIGNMENT


def unpacked(batch: Any, room: Any, place: Place) -> Any:
    """The batch of fields in memory, with tensors."""

    def one(field: Field) -> Any:
        array: np.ndarray[Any, Any] = np.ndarray(field.shape, field.dtype, room, field.start)
        return to_tensors(array, place)

    return mapped(batch, one)
