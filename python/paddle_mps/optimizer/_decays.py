"""Schedulers whose learning rate falls, or changes by a function of the program. In formulas n is the epoch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

from ._scheduler import LRScheduler, function, positive, real, refuse


def from_zero(scheduler: LRScheduler) -> int:
    """The epoch of a schedule that begins with epoch 0.

    Raises:
        ValueError: it is negative.
    """
    if scheduler.last_epoch < 0:
        refuse(scheduler, "epoch", scheduler.last_epoch, "0 or more")
    return scheduler.last_epoch


def below_one(scheduler: LRScheduler, name: str, value: Any) -> float:
    """A factor below 1."""
    if not real(scheduler, name, value) < 1:
        refuse(scheduler, name, value, "a number below 1")
    return float(value)


class NoamDecay(LRScheduler):
    """learning_rate * d_model**-0.5 * min(n**-0.5, n * warmup_steps**-1.5): a rise in a line, then the inverse square root. From
    "Attention Is All You Need" (2017), 5.3.

    Args:
        d_model: the width of the model, above 0.
        warmup_steps: the epochs of the rise, above 0.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: an argument is no number.
        ValueError: d_model or warmup_steps is 0 or less, or the epoch is negative.
    """

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        for name, value in (("d_model", d_model), ("warmup_steps", warmup_steps)):
            if not real(self, name, value) > 0:
                refuse(self, name, value, "a number above 0")
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        n = from_zero(self)
        share = min(n**-0.5, self.warmup_steps**-1.5 * n) if n else 0.0
        rate: float = self.base_lr * self.d_model**-0.5 * share
        return rate


class PiecewiseDecay(LRScheduler):
    """values[0] before epoch boundaries[0], values[1] before boundaries[1], and so on; the last value afterwards.

    Args:
        boundaries: epochs, at least one, in ascending order.
        values: learning rates, one more than boundaries.
        last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: one of them is no list or tuple of numbers.
        ValueError: there are no boundaries, or too few values.
    """

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        for name, given in (("boundaries", boundaries), ("values", values)):
            if not isinstance(given, (list, tuple)):
                refuse(self, name, given, "a list or tuple of numbers", TypeError)
            for value in given:
                real(self, f"a number of {name}", value)
        if not boundaries:
            refuse(self, "boundaries", boundaries, "at least one epoch")
        if len(values) <= len(boundaries):
            refuse(self, "values", values, f"{len(boundaries) + 1} numbers, one more than boundaries")
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        for boundary, value in zip(self.boundaries, self.values):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class NaturalExpDecay(LRScheduler):
    """learning_rate * exp(-gamma * n).

    Args:
        gamma: above 0.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: gamma is 0 or less.
        TypeError: an argument is no number.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        if not real(self, "gamma", gamma) > 0:
            refuse(self, "gamma", gamma, "a number above 0", AssertionError)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """learning_rate / (1 + gamma * n).

    Args:
        gamma: how fast the rate falls.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: an argument is no number.
        ValueError: the divisor is 0 at an epoch.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = real(self, "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        divisor = 1 + self.gamma * self.last_epoch
        if divisor == 0:
            refuse(self, "1 + gamma * epoch", divisor, f"another gamma than {self.gamma} at epoch {self.last_epoch}")
        rate: float = self.base_lr / divisor
        return rate


class PolynomialDecay(LRScheduler):
    """(learning_rate - end_lr) * (1 - n / decay_steps) ** power + end_lr, and end_lr after decay_steps epochs.

    Args:
        decay_steps: the epochs of the decay, above 0.
        end_lr: the last learning rate.
        power: above 0; 1 is a line.
        cycle: whether the rate rises again after decay_steps epochs: the decay then takes the next multiple of decay_steps.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: decay_steps or power is 0 or less, or decay_steps is no whole number.
        TypeError: another argument is no number.
        ValueError: the epoch is negative, with cycle.
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = positive(self, "decay_steps", decay_steps, AssertionError, AssertionError)
        if not real(self, "power", power) > 0:
            refuse(self, "power", power, "a number above 0", AssertionError)
        self.end_lr, self.power, self.cycle = real(self, "end_lr", end_lr), power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        n, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps *= max(1, math.ceil(from_zero(self) / steps))
        left = 1 - min(n, steps) / steps
        rate: float = (self.base_lr - self.end_lr) * left**self.power + self.end_lr
        return rate


class ExponentialDecay(LRScheduler):
    """learning_rate * gamma**n.

    Args:
        gamma: between 0 and 1.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: gamma is not between 0 and 1.
        TypeError: an argument is no number.
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        if not 0 < real(self, "gamma", gamma) < 1:
            refuse(self, "gamma", gamma, "a number between 0 and 1", AssertionError)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        rate: float = self.base_lr * self.gamma**self.last_epoch
        return rate


class MultiStepDecay(LRScheduler):
    """learning_rate times gamma for each milestone that is reached.

    Args:
        milestones: epochs in ascending order.
        gamma: below 1.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: milestones is no list or tuple of numbers, or another argument no number.
        ValueError: they do not ascend, or gamma is 1 or more.
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, (list, tuple)):
            refuse(self, "milestones", milestones, "a list or tuple of epochs", TypeError)
        for milestone in milestones:
            real(self, "a number of milestones", milestone)
        if any(not a < b for a, b in zip(milestones, milestones[1:])):
            refuse(self, "milestones", milestones, "epochs in ascending order")
        self.milestones, self.gamma = milestones, below_one(self, "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        reached = sum(milestone <= self.last_epoch for milestone in self.milestones)
        rate: float = self.base_lr * self.gamma**reached
        return rate


class StepDecay(LRScheduler):
    """learning_rate * gamma ** (n // step_size).

    Args:
        step_size: the epochs of one learning rate, above 0.
        gamma: below 1.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: step_size is 0 or less.
        TypeError: step_size is no whole number, or another argument no number.
        ValueError: gamma is 1 or more.
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.step_size = positive(self, "step_size", step_size, AssertionError)
        self.gamma = below_one(self, "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        rate: float = self.base_lr * self.gamma ** (self.last_epoch // self.step_size)
        return rate


class LambdaDecay(LRScheduler):
    """learning_rate * lr_lambda(n).

    Args:
        lr_lambda: called with the epoch; returns a factor.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: lr_lambda cannot be called, or another argument is no number.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = function(self, "lr_lambda", lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        rate: float = self.base_lr * self.lr_lambda(self.last_epoch)
        return rate


class MultiplicativeDecay(LRScheduler):
    """learning_rate * lr_lambda(1) * lr_lambda(2) * ... * lr_lambda(n).

    Args:
        lr_lambda: called with an epoch; returns its factor, which has to be the same each time.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: lr_lambda cannot be called, or another argument is no number.
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = function(self, "lr_lambda", lr_lambda)
        self._product: tuple[int, float] | None = None  # of how many factors, so that a step calls lr_lambda once
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        wanted = max(0, int(self.last_epoch))
        n, rate = self._product or (0, self.base_lr)
        if n > wanted:
            n, rate = 0, self.base_lr
        for factor in range(n + 1, wanted + 1):
            rate *= self.lr_lambda(factor)
        self._product = wanted, rate
        return rate


class LinearLR(LRScheduler):
    """learning_rate times a factor that goes in a line from start_factor to end_factor within total_steps epochs, and stays there.

    Args:
        total_steps: the epochs of the line, above 0.
        start_factor: above 0, at most 1.
        end_factor: from 0 to 1.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    The rate is that of the epoch before times the ratio of two factors: `step` with an epoch out of turn applies the ratio of that
    epoch to the current rate, as PaddlePaddle does.

    Raises:
        TypeError: an argument is no number.
        ValueError: total_steps or a factor is out of range, or the epoch is negative.
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not real(self, "total_steps", total_steps) > 0:
            refuse(self, "total_steps", total_steps, "a number above 0")
        if not 0 < real(self, "start_factor", start_factor) <= 1:
            refuse(self, "start_factor", start_factor, "a number above 0 and at most 1")
        if not 0 <= real(self, "end_factor", end_factor) <= 1:
            refuse(self, "end_factor", end_factor, "a number from 0 to 1")
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`, from that of the epoch before."""
        n = from_zero(self)
        if n == 0:
            return self.base_lr * self.start_factor
        if n > self.total_steps:
            return self.last_lr
        change = self.end_factor - self.start_factor
        return self.last_lr * (1.0 + change / (self.total_steps * self.start_factor + (n - 1) * change))


__all__ = [
    "ExponentialDecay", "InverseTimeDecay", "LambdaDecay", "LinearLR", "MultiStepDecay", "MultiplicativeDecay", "NaturalExpDecay",
    "NoamDecay", "PiecewiseDecay", "PolynomialDecay", "StepDecay",
]  # fmt: skip
