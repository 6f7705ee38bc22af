"""The scheduler that follows a measure of the training."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core._convert import said, scalar
from .._core._objects import Tensor
from ._scheduler import LRScheduler, finite, plain, real, refuse


class ReduceOnPlateau(LRScheduler):
    """The learning rate times factor, each time that a measure, such as the loss, has not become better for more than `patience`
    epochs.

    Args:
        learning_rate: the first learning rate, 0 or more.
        mode: "min" if a lower measure is better, "max" if a higher one is.
        factor: below 1.
        patience: how many epochs without improvement the rate stays as it is.
        threshold: what the measure has to improve by to count as better.
        threshold_mode: "rel" for a share of the best measure, "abs" for a difference.
        cooldown: how many epochs after a reduction are not looked at.
        min_lr: the lowest learning rate.
        epsilon: a reduction by this much or less is not made.
        verbose: whether reductions are printed.

    Attributes:
        best: the best measure so far, a float; None before the first.
        num_bad_epochs: epochs since that one.
        cooldown_counter: epochs that will not be looked at.

    Raises:
        TypeError: an argument is no number.
        ValueError: mode or threshold_mode is another one, factor is 1 or more, or learning_rate is negative.
    """

    best: float | None

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        self.mode = _one_of(self, "mode", mode, ("min", "max"))
        self.threshold_mode = _one_of(self, "threshold_mode", threshold_mode, ("rel", "abs"))
        if not real(self, "factor", factor) < 1:
            refuse(self, "factor", factor, "a number below 1")
        self.factor, self.patience = factor, real(self, "patience", patience)
        self.threshold, self.cooldown = real(self, "threshold", threshold), real(self, "cooldown", cooldown)
        self.min_lr, self.epsilon = real(self, "min_lr", min_lr), real(self, "epsilon", epsilon)
        self.cooldown_counter, self.num_bad_epochs, self.best = 0, 0, None
        self.begin(learning_rate, 0, verbose)

    def state_keys(self) -> None:
        """Sets `keys`."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(  # type: ignore[override]
        self, metrics: Tensor | np.ndarray[Any, Any] | np.number[Any] | float, epoch: int | None = None
    ) -> None:
        """Looks at the measure of the next epoch, or of a given one.

        Args:
            metrics: the measure: a number, or a tensor or array of one element. It is compared in float64.

        Raises:
            AssertionError: metrics has several elements.
            TypeError: metrics or epoch is no number.
            ValueError: epoch is infinite or nan.
        """
        measure = _measure(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else finite(self, "epoch", epoch)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(measure, self.best):
            self.best, self.num_bad_epochs = measure, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            reduced = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - reduced > self.epsilon:
                self.last_lr = reduced
                self.tell()

    def _is_better(self, current: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        better: bool = current < best - margin if self.mode == "min" else current > best + margin
        return better


def _one_of(scheduler: LRScheduler, name: str, value: Any, words: tuple[str, str]) -> str:
    """A word in lower case, which is one of two."""
    if not isinstance(value, str) or value.lower() not in words:
        refuse(scheduler, name, value, " or ".join(map(repr, words)))
    return value.lower()


def _measure(metrics: Any) -> float:
    """The number that `step` got."""
    value = plain(metrics, "[ReduceOnPlateau] metrics")
    if isinstance(value, (complex, np.complexfloating)) or scalar(value) is None:
        raise TypeError(
            f"[ReduceOnPlateau] metrics is {said(metrics)}; want a number, or a tensor or an array of one element"
        )
    return float(value)


__all__ = ["ReduceOnPlateau"]
