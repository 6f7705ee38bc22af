"""paddle.metric: measures of predictions that are collected over batches."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays._array import unsqueeze
from ._arrays._creation import filled
from ._core._convert import said, tensor
from ._core._dtype import float32, int32
from ._core._errors import UnsupportedError
from ._core._objects import Tensor, meta
from ._indices._sorting import topk
from ._maths._arithmetic import assign, cast, mean, sum
from ._maths._ops import any, argmax, equal

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]


class Metric(abc.ABC):
    """The base class of metrics. For each batch, `compute` is called on tensors, then `update` with what it returns.

    Raises:
        TypeError: a subclass lacks one of the four methods.
    """

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all batches."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Adds a batch."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The measure of all batches since `reset`."""

    @abc.abstractmethod
    def name(self) -> Any:
        """The name of the metric, or the names of its numbers."""

    def compute(self, *args: Any) -> Any:
        """What of a batch is computed with tensors, before `update`; here the arguments."""
        return args


def array(metric: Metric, name: str, given: Any) -> Numbers:
    """A tensor or an array as an array.

    Raises:
        ValueError: it is neither.
    """
    if isinstance(given, Tensor):
        return given.numpy()
    if isinstance(given, np.ndarray):
        return given
    raise ValueError(f"[{type(metric).__name__}] {name} is {said(given)}; want a tensor or an array of NumPy")


def pairs(metric: Metric, preds: Any, labels: Any) -> tuple[Numbers, Numbers]:
    """Predictions and labels, as many of the one as of the other.

    Raises:
        ValueError: one is no tensor or array, or there are more of one.
    """
    first, second = array(metric, "preds", preds).reshape(-1), array(metric, "labels", labels).reshape(-1)
    if first.size != second.size:
        raise ValueError(
            f"[{type(metric).__name__}] preds has {first.size} elements; want {second.size}, as many as labels"
        )
    return first, second


class Accuracy(Metric):
    """The share of samples whose class is among the k best predictions, for each k of topk.

    Args:
        topk: the numbers of predictions that are looked at, each above 0.
        name: of the metric; None: "acc". "_top" and k are appended, but where only the best prediction is looked at.

    Raises:
        TypeError: topk is no list or tuple of whole numbers.
        ValueError: it is empty, or one of them is 0 or less.
    """

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        if not isinstance(topk, (list, tuple)) or not all(isinstance(k, (int, np.integer)) for k in topk):
            raise TypeError(f"[Accuracy] topk is {said(topk)}; want a list or tuple of whole numbers")
        if not topk or min(topk) < 1:
            raise ValueError(f"[Accuracy] topk is {said(topk)}; want at least one number, each above 0")
        self.topk, self.maxk = topk, max(topk)
        base = "acc" if name is None else name
        self.total: list[float]
        self.count: list[int]
        self._name = [base] if self.maxk == 1 else [f"{base}_top{k}" for k in topk]
        self.reset()

    def compute(self, pred: Tensor, label: Tensor, *args: Any) -> Tensor:
        """Which of the best predictions are right.

        Args:
            pred: scores [..., classes].
            label: the classes [...] or [..., 1], or as many ones and zeros as pred has scores.

        Returns:
            float32 [..., k] with k the largest of topk, or the number of classes if that is lower: 1 for the right class, in descending
            order of scores. Of equal scores the first class comes first.

        Raises:
            ValueError: pred or label is no tensor, or the shapes do not fit each other.
        """
        pred, label = tensor(pred, "Accuracy", "pred"), tensor(label, "Accuracy", "label")
        shape, given = list(meta(pred).shape), list(meta(label).shape)
        if not shape:
            raise ValueError("[Accuracy] pred has no axis; want [..., classes]")
        if given == shape and shape[-1] != 1:
            label = argmax(label, axis=-1, keepdim=True)
        elif given == shape[:-1]:
            label = unsqueeze(label, -1)
        elif given != [*shape[:-1], 1]:
            raise ValueError(
                f"[Accuracy] label has shape {given}; want {shape[:-1]}, {[*shape[:-1], 1]} or {shape}, to fit pred"
            )
        best = topk(pred, min(self.maxk, shape[-1])).indices
        return cast(equal(best, cast(label, "int64")), float32)

    def update(self, correct: Tensor | Numbers, *args: Any) -> Any:
        """Adds a batch.

        Args:
            correct: what `compute` returned, as a tensor or an array.

        Returns:
            the accuracy of this batch, a list of them for several k.

        Raises:
            ValueError: correct is no tensor or array, or has no axis.
        """
        found = array(self, "correct", correct)
        if not found.ndim:
            raise ValueError("[Accuracy] correct has no axis; want [..., k]")
        samples = math.prod(found.shape[:-1])
        hits = [float(found[..., :k].sum(dtype=np.float64)) for k in self.topk]
        self.total = [a + b for a, b in zip(self.total, hits)]
        self.count = [n + samples for n in self.count]
        return self._shares(hits, [samples] * len(hits))

    def _shares(self, hits: list[float], samples: list[int]) -> float | list[float]:
        found = [a / n if n else 0.0 for a, n in zip(hits, samples)]
        return found[0] if len(found) == 1 else found

    def reset(self) -> None:
        """Forgets all batches."""
        self.total = [0.0] * len(self.topk)
        self.count = [0] * len(self.topk)

    def accumulate(self) -> float | list[float]:
        """The accuracy of all batches, a list of them for several k; 0.0 without samples."""
        return self._shares(self.total, self.count)

    def name(self) -> list[str]:
        """The names, one for each k."""
        return self._name


class Precision(Metric):
    """Of the samples of two classes that are predicted to be of class 1, the share that is.

    Args:
        name: of the metric.
    """

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Numbers | Tensor, labels: Numbers | Tensor) -> None:
        """Adds a batch.

        Args:
            preds: the probability of class 1 of each sample; from 0.5 to below 1.5 counts as class 1.
            labels: as many, 0 or 1.

        Raises:
            ValueError: one is no tensor or array, or there are more of one.
        """
        first, second = pairs(self, preds, labels)
        chosen = np.floor(first + 0.5) == 1
        self.tp += int((chosen & (second == 1)).sum())
        self.fp += int((chosen & (second != 1)).sum())

    def reset(self) -> None:
        """Forgets all batches."""
        self.tp = self.fp = 0

    def accumulate(self) -> float:
        """The precision of all batches; 0.0 if nothing was predicted to be of class 1."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else 0.0

    def name(self) -> str:
        """The name."""
        return self._name


class Recall(Metric):
    """Of the samples of class 1 of two, the share that is predicted to be.

    Args:
        name: of the metric.
    """

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        self._name = name
        self.reset()

    def update(self, preds: Numbers | Tensor, labels: Numbers | Tensor) -> None:
        """Adds a batch.

        Args:
            preds: the probability of class 1 of each sample; above 0.5 and at most 1.5 rounds to class 1: halves go to the even number,
                other than in `Precision`.
            labels: as many, 0 or 1.

        Raises:
            ValueError: one is no tensor or array, or there are more of one.
        """
        first, second = pairs(self, preds, labels)
        there = second == 1
        found = int((there & (np.rint(first) == 1)).sum())
        self.tp += found
        self.fn += int(there.sum()) - found

    def reset(self) -> None:
        """Forgets all batches."""
        self.tp = self.fn = 0

    def accumulate(self) -> float:
        """The recall of all batches; 0.0 without samples of class 1."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else 0.0

    def name(self) -> str:
        """The name."""
        return self._name


class Auc(Metric):
    """The area under the curve of the true positive rate over the false positive rate, of two classes.

    Probabilities are counted in num_thresholds + 1 bins, between which the curve is a line.

    Args:
        curve: "ROC".
        num_thresholds: above 0.
        name: of the metric.

    Raises:
        TypeError: num_thresholds is no whole number.
        UnsupportedError: curve is "PR". PaddlePaddle computes the area of "ROC" then.
        ValueError: num_thresholds is 0 or less, or curve is another word.
    """

    def __init__(
        self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any
    ) -> None:
        if curve == "PR":
            raise UnsupportedError("[Auc] curve is 'PR'; want 'ROC', which is the only one that is computed")
        if curve != "ROC":
            raise ValueError(f"[Auc] curve is {said(curve)}; want 'ROC'")
        if not isinstance(num_thresholds, (int, np.integer)):
            raise TypeError(f"[Auc] num_thresholds is {said(num_thresholds)}; want a whole number above 0")
        if num_thresholds < 1:
            raise ValueError(f"[Auc] num_thresholds is {num_thresholds}; want a whole number above 0")
        self._curve, self._num_thresholds, self._name = curve, int(num_thresholds), name
        self.reset()

    def update(self, preds: Numbers | Tensor, labels: Numbers | Tensor) -> None:
        """Adds a batch. One that is refused leaves the metric as it was.

        Args:
            preds: the probabilities of both classes [n, 2], each from 0 to 1; those of class 1 are read.
            labels: n numbers; 0 is class 0, any other class 1.

        Raises:
            AssertionError: a probability of class 1 is below 0, above 1 or nan.
            ValueError: one is no tensor or array, or the shapes are others.
        """
        first, second = array(self, "preds", preds), array(self, "labels", labels).reshape(-1)
        if first.ndim != 2 or first.shape[1] != 2 or len(first) != second.size:
            raise ValueError(
                f"[Auc] preds has shape {list(first.shape)} and labels {second.size} elements; want [n, 2] and n elements"
            )
        chance = first[:, 1]
        if not ((chance >= 0) & (chance <= 1)).all():
            raise AssertionError("[Auc] preds has a probability of class 1 that is not from 0 to 1; want probabilities")
        bins = (chance * self._num_thresholds).astype(np.int64)
        there = second.astype(bool)
        self._stat_pos += np.bincount(bins[there], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~there], minlength=self._num_thresholds + 1)

    @staticmethod
    def trapezoid_area(x1: float, x2: float, y1: float, y2: float) -> float:
        """The area between the axis and a line from (x1, y1) to (x2, y2)."""
        return abs(x1 - x2) * (y1 + y2) / 2.0

    def accumulate(self) -> float:
        """The area, from 0 to 1; 0.0 if a class has no samples."""
        # From the highest threshold on down: how many of each class are above it.
        right, wrong = (np.concatenate(([0.0], counts[::-1].cumsum())) for counts in (self._stat_pos, self._stat_neg))
        if not right[-1] or not wrong[-1]:
            return 0.0
        area = (np.diff(wrong) * (right[1:] + right[:-1]) / 2.0).sum()
        return float(area / right[-1] / wrong[-1])

    def reset(self) -> None:
        """Forgets all batches."""
        self._stat_pos = np.zeros(self._num_thresholds + 1)
        self._stat_neg = np.zeros(self._num_thresholds + 1)

    def name(self) -> str:
        """The name."""
        return self._name


def accuracy(
    input: Tensor,
    label: Tensor,
    k: int = 1,
    correct: Tensor | None = None,
    total: Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """The share of samples whose class is among the k best scores, float32 of shape [], without gradient.

    Args:
        input: scores [n, classes]. Of equal scores those of the first classes count as better.
        label: the classes, integers [n, 1].
        k: from 1 to classes.
        correct, total: tensors that take how many were right and how many there were, as int32 of shape [].

    Raises:
        TypeError: k is no whole number.
        ValueError: input or label is no tensor, the shapes are others, or k is out of range.
    """
    input, label = tensor(input, "accuracy", "input"), tensor(label, "accuracy", "label")
    shape, given = list(meta(input).shape), list(meta(label).shape)
    if len(shape) != 2:
        raise ValueError(f"[accuracy] input has shape {shape}; want [n, classes]")
    if given != [shape[0], 1]:
        raise ValueError(f"[accuracy] label has shape {given}; want {[shape[0], 1]}")
    if not meta(label).dtype.name.startswith(("int", "uint")):
        raise ValueError(f"[accuracy] label is {meta(label).dtype.name}; want an integer dtype")
    right = any(equal(topk(input, k).indices, cast(label, "int64")), axis=1)
    if correct is not None:
        assign(sum(cast(right, "int32"), dtype="int32"), tensor(correct, "accuracy", "correct"))
    if total is not None:
        assign(filled((), shape[0], int32, meta(input).place), tensor(total, "accuracy", "total"))
    return mean(cast(right, float32)) if shape[0] else sum(cast(right, float32))
