"""Data sets: samples by index or in order, and data sets made of others."""

from __future__ import annotations

import bisect
import math
import operator
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._core._convert import said
from .._core._errors import UnsupportedError
from .._core._objects import Tensor
from .._randomness._sampling import randperm
from ._errors import ArgumentError, LengthError, parts

T = TypeVar("T")

if TYPE_CHECKING:
    from collections.abc import Sized


class Dataset(Generic[T]):
    """Samples by index. A subclass has `__getitem__`, and `__len__` for samplers."""

    def __getitem__(self, idx: int) -> T:
        """The sample with an index."""
        raise NotImplementedError(
            f"[Dataset] {type(self).__name__} has no __getitem__; want a method that returns a sample"
        )

    def __len__(self) -> int:
        """How many samples there are."""
        raise NotImplementedError(
            f"[Dataset] {type(self).__name__} has no __len__; want a method that returns the number of samples"
        )


class IterableDataset(Dataset[T]):
    """Samples in order. A subclass has `__iter__`. In workers each one iterates over its own copy: see `get_worker_info`."""

    def __iter__(self) -> Iterator[T]:
        """Iterates over the samples."""
        raise NotImplementedError(
            f"[IterableDataset] {type(self).__name__} has no __iter__; want a method that returns an iterator"
        )

    def __getitem__(self, idx: int) -> Any:
        """Raises a RuntimeError: samples come in order."""
        raise RuntimeError(f"[IterableDataset] {type(self).__name__} has no samples by index; want iter()")

    def __len__(self) -> Any:
        """Raises an error that is a RuntimeError, a ValueError and a TypeError: the number of samples is unknown."""
        raise LengthError(f"[IterableDataset] {type(self).__name__} has no length; want iter()")


class TensorDataset(Dataset[Any]):
    """The slices of tensors along their first axis.

    Args:
        tensors: of one length of the first axis; arrays are accepted. Sample i is the tuple of x[i] for each x.

    Raises:
        ValueError: there is none, one has no axis, or the lengths differ.
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        lengths = [tuple(x.shape)[:1] if hasattr(x, "shape") else None for x in tensors]
        if not lengths or not all(lengths):
            raise ArgumentError(f"[TensorDataset] tensors is {said(tensors)}; want tensors of at least one axis")
        if len(set(lengths)) > 1:
            sizes = ", ".join(str(size[0]) for size in lengths if size)
            raise ArgumentError(f"[TensorDataset] the first axes have {sizes} elements; want one length")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple[Tensor, ...]:
        return tuple([x[index] for x in self.tensors])

    def __len__(self) -> int:
        return int(self.tensors[0].shape[0])


def by_index(owner: str, dataset: Any) -> Any:
    """A data set with samples by index.

    Raises:
        ValueError: it is an IterableDataset.
    """
    if isinstance(dataset, IterableDataset):
        raise ArgumentError(
            f"[{owner}] got {type(dataset).__name__}, an IterableDataset; want data sets with samples by index"
        )
    return dataset


class ComposeDataset(Dataset[Any]):
    """Samples of several data sets side by side: sample i is the tuple of the fields of all samples i.

    Args:
        datasets: of one length; a sample that is a list or a tuple has several fields, another one is a field.

    Raises:
        ValueError: there is none, one is no Dataset or an IterableDataset, or the lengths differ.
    """

    def __init__(self, datasets: list[Dataset[Any]]) -> None:
        self.datasets = parts("ComposeDataset", "datasets", datasets)
        for dataset in self.datasets:
            if not isinstance(dataset, Dataset):
                raise ArgumentError(f"[ComposeDataset] got {said(dataset)}; want data sets")
            by_index("ComposeDataset", dataset)
        lengths = [len(dataset) for dataset in self.datasets]
        if len(set(lengths)) > 1:
            raise ArgumentError(
                f"[ComposeDataset] the data sets have {', '.join(map(str, lengths))} samples; want one length"
            )

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for dataset in self.datasets:
            sample = dataset[idx]
            fields += sample if isinstance(sample, (list, tuple)) else [sample]
        return tuple(fields)


class ChainDataset(IterableDataset[Any]):
    """The samples of several iterable data sets, one data set after the other.

    Args:
        datasets: IterableDatasets.

    Raises:
        ValueError: there is none, or one is no IterableDataset.
    """

    def __init__(self, datasets: list[IterableDataset[Any]]) -> None:
        self.datasets = parts("ChainDataset", "datasets", datasets)
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise ArgumentError(f"[ChainDataset] got {said(dataset)}; want IterableDatasets")

    def __iter__(self) -> Iterator[Any]:
        for dataset in self.datasets:
            yield from dataset


class Subset(Dataset[T]):
    """Samples of a data set.

    Args:
        dataset: samples by index.
        indices: of the samples, in order.
    """

    def __init__(self, dataset: Dataset[T], indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> T:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset[T]):
    """The samples of several data sets, one data set after the other.

    Args:
        datasets: with samples by index.

    Attributes:
        datasets: as a list.
        cumulative_sizes: for each data set how many samples it and those before it have.

    Raises:
        ValueError: there is none, or one is an IterableDataset.
    """

    def __init__(self, datasets: Iterable[Dataset[T]]) -> None:
        self.datasets: list[Dataset[T]] = [
            by_index("ConcatDataset", d) for d in parts("ConcatDataset", "datasets", datasets)
        ]
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Sequence[Any]) -> list[int]:
        """For each data set how many samples it and those before it have."""
        found: list[int] = []
        for dataset in sequence:
            found.append(len(dataset) + (found[-1] if found else 0))
        return found

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> T:
        """The sample with an index, which counts from the end if it is negative.

        Raises:
            IndexError: there is none; it is a ValueError too below the first one.
        """
        at = operator.index(idx)
        if at < -len(self):
            raise BelowError(f"[ConcatDataset] index is {at}; want one from {-len(self)} below {len(self)}")
        if at >= len(self):
            raise IndexError(f"[ConcatDataset] index is {at}; want one from {-len(self)} below {len(self)}")
        at += len(self) * (at < 0)
        which = bisect.bisect_right(self.cumulative_sizes, at)
        return self.datasets[which][at - (self.cumulative_sizes[which - 1] if which else 0)]


class BelowError(IndexError, ValueError):
    """An index lies before the first sample: a ValueError in Paddle, an IndexError in Python."""


def random_split(dataset: Dataset[T], lengths: Sequence[int], generator: Any | None = None) -> list[Subset[T]]:
    """Divides the samples of a data set at random, in the order of `paddle.randperm`.

    Args:
        dataset: samples by index.
        lengths: the number of samples of each part; or fractions, whose sum is 1: what rounding down leaves goes to the first parts,
            one sample each.
        generator: None: there are no generators besides those of `paddle.seed`.

    Raises:
        ValueError: the lengths do not add up, or one is negative.
        TypeError: one is neither a whole number nor a fraction.
        UnsupportedError: a generator is given.
    """
    if generator is not None:
        raise UnsupportedError(f"[random_split] generator is {said(generator)}; want None, and paddle.seed")
    count = len(dataset)
    given = [x.item() if isinstance(x, Tensor) else x for x in lengths]
    if given and any(isinstance(x, float) for x in given) and math.isclose(sum(given), 1) and sum(given) <= 1.0 + 1e-9:
        sizes = shares(given, count)
    else:
        sizes = [whole(x) for x in given]
    if sum(sizes) != count or min(sizes, default=0) < 0:
        raise ValueError(
            f"[random_split] lengths are {given} of {count} samples; want numbers from 0 that add up, or fractions of 1"
        )
    order = randperm(count).tolist() if count else []
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends)]


def whole(value: Any) -> int:
    """A number of samples."""
    if isinstance(value, float) and not value.is_integer():
        raise ValueError(f"[random_split] a length is {value}; want an int, or fractions that add up to 1")
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"[random_split] a length is {said(value)}; want an int, or fractions that add up to 1"
        ) from None


def shares(fractions: Sequence[float], count: int) -> list[int]:
    """How many of some samples each fraction has. What is left over goes to the first ones, one sample each."""
    if min(fractions) < 0:
        raise ValueError(f"[random_split] lengths are {list(fractions)}; want fractions from 0 to 1")
    sizes = [math.floor(count * fraction) for fraction in fractions]
    for i in range(count - sum(sizes)):
        sizes[i % len(sizes)] += 1
    for i, size in enumerate(sizes):
        if not size:
            warnings.warn(f"[random_split] part {i} has no samples", stacklevel=3)
    return sizes


def length(owner: str, name: str, value: Sized) -> int:
    """The number of samples of a data set.

    Raises:
        ValueError: it is an IterableDataset, or has no length.
    """
    by_index(owner, value)
    if not hasattr(type(value), "__len__"):
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want a data set with a length")
    return len(value)


__all__ = [
    "ChainDataset",
    "ComposeDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]
