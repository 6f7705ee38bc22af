"""Schedulers whose learning rate rises and falls. In formulas n is the epoch."""

from __future__ import annotations

import math
from typing import Any, Callable

from ._scheduler import LRScheduler, finite, function, positive, real, refuse


class CosineAnnealingDecay(LRScheduler):
    """eta_min + (learning_rate - eta_min) * (1 + cos(pi * n / T_max)) / 2: from learning_rate to eta_min and back in 2 * T_max
    epochs. From SGDR (2017), without its restarts.

    `step` without an epoch computes the rate from the one before, as PaddlePaddle does, so that a rate that the program has changed
    stays changed.

    Args:
        T_max: the epochs to eta_min, above 0.
        eta_min: the lowest learning rate.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: T_max is 0 or less.
        TypeError: T_max is no whole number, or another argument no number.
    """

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.T_max = positive(self, "T_max", T_max, AssertionError)
        self.eta_min = float(real(self, "eta_min", eta_min))
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`, from that of the epoch before."""
        n, half = self.last_epoch, self.T_max
        if n == 0:
            return self.base_lr
        if (n - 1 - half) % (2 * half) == 0:  # the rate before is eta_min, which has no ratio to this one
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / half)) / 2
        ratio = (1 + math.cos(math.pi * n / half)) / (1 + math.cos(math.pi * (n - 1) / half))
        return ratio * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        wave = 1 + math.cos(math.pi * self.last_epoch / self.T_max)
        return self.eta_min + (self.base_lr - self.eta_min) * wave / 2


class CosineAnnealingWarmRestarts(LRScheduler):
    """eta_min + (learning_rate - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2, where T_cur counts epochs since the last restart and T_i
    from one restart to the next. From SGDR (2017).

    Args:
        T_0: the epochs before the first restart, above 0.
        T_mult: how many times longer each further round takes, 1 or more.
        eta_min: the lowest learning rate.
        learning_rate, last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: learning_rate, eta_min or last_epoch is no number.
        ValueError: T_0 or T_mult is no whole number above 0.
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0 = positive(self, "T_0", T_0, kind=ValueError)
        self.T_mult = positive(self, "T_mult", T_mult, kind=ValueError)
        self.eta_min = real(self, "eta_min", eta_min)
        self.T_cur, self.T_i = self.place(max(0, finite(self, "last_epoch", last_epoch)))
        if last_epoch < 0:
            last_epoch, self.T_cur = -1, -1
        super().__init__(learning_rate, last_epoch, verbose)

    def place(self, epoch: float) -> tuple[float, int]:
        """The epochs between the last restart and epoch, and from that restart to the next."""
        if self.T_mult == 1:
            return epoch % self.T_0, self.T_0
        length = self.T_0
        while epoch >= length:
            epoch -= length
            length *= self.T_mult
        return epoch, length

    def get_lr(self) -> float:
        """The learning rate at T_cur."""
        wave = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        rate: float = self.eta_min + (self.base_lr - self.eta_min) * wave / 2
        return rate

    def step(self, epoch: float | None = None) -> None:
        """Computes the learning rate of the next epoch, or of a given one, which may be a fraction: `last_epoch` is the whole number
        below it.

        Raises:
            TypeError: epoch is no number.
            ValueError: it is negative, infinite or nan.
        """
        if epoch is None:
            self.T_cur, self.last_epoch = self.T_cur + 1, self.last_epoch + 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        else:
            if finite(self, "epoch", epoch) < 0:
                refuse(self, "epoch", epoch, "0 or more")
            self.T_cur, self.T_i = self.place(epoch)
            self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        self.tell()

    def set_state_dict(self, state_dict: Any) -> None:
        """As of `LRScheduler`; T_cur and T_i, which the state has not, follow from the epoch."""
        super().set_state_dict(state_dict)
        if "T_cur" not in self.keys:
            self.T_cur, self.T_i = self.place(max(0, self.last_epoch))


class OneCycleLR(LRScheduler):
    """One rise from max_learning_rate / divide_factor to max_learning_rate, and one fall to end_learning_rate. From
    "Super-Convergence" (2018).

    Args:
        max_learning_rate: above 0.
        total_steps: the epochs of the cycle, above 0. Epochs from 0 to this one can be asked for.
        divide_factor: above 0.
        end_learning_rate: the last learning rate, 0 or more.
        phase_pct: the share of the rise in the cycle, a float from 0 to 1.
        anneal_strategy: "cos" for half a cosine in each phase, "linear" for a line.
        three_phase: whether the rate falls to its first value in as many epochs as it has risen, and only then to
            end_learning_rate. phase_pct is below 0.5 then.
        last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: an argument is out of range, or the epoch is above total_steps.
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not real(self, "max_learning_rate", max_learning_rate) > 0:
            refuse(self, "max_learning_rate", max_learning_rate, "a number above 0")
        if not real(self, "divide_factor", divide_factor) > 0:
            refuse(self, "divide_factor", divide_factor, "a number above 0")
        if not real(self, "end_learning_rate", end_learning_rate) >= 0:
            refuse(self, "end_learning_rate", end_learning_rate, "0 or more")
        if not isinstance(phase_pct, float):
            refuse(self, "phase_pct", phase_pct, "a float from 0 to 1", TypeError)
        if not 0 <= phase_pct <= 1:
            refuse(self, "phase_pct", phase_pct, "a float from 0 to 1")
        if three_phase and phase_pct >= 0.5:
            refuse(self, "phase_pct", phase_pct, "a float below 0.5, because three_phase is true")
        if anneal_strategy not in ("cos", "linear"):
            refuse(self, "anneal_strategy", anneal_strategy, "'cos' or 'linear'")
        self.total_steps = positive(self, "total_steps", total_steps)
        first, highest, last = max_learning_rate / divide_factor, float(max_learning_rate), float(end_learning_rate)
        rise = phase_pct * self.total_steps - 1
        ends = [rise, 2 * phase_pct * self.total_steps - 2] if three_phase else [rise]
        rates = [first, highest, first, last] if three_phase else [first, highest, last]
        # Of each phase the epochs where it begins and ends, and its first and last rate.
        self._phases = list(zip([0, *ends], [*ends, self.total_steps - 1], rates, rates[1:]))
        self.anneal_func = _half_cosine if anneal_strategy == "cos" else _line
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        n = self.last_epoch
        if n > self.total_steps:
            refuse(self, "epoch", n, f"at most {self.total_steps}, which is total_steps")
        begin, end, first, last = next((phase for phase in self._phases if n <= phase[1]), self._phases[-1])
        share = (n - begin) / (end - begin) if end != begin else 1.0
        return self.anneal_func(first, last, share)


def _half_cosine(first: float, last: float, share: float) -> float:
    return last + (first - last) / 2.0 * (1 + math.cos(math.pi * share))


def _line(first: float, last: float, share: float) -> float:
    return (last - first) * share + first


class CyclicLR(LRScheduler):
    """base_learning_rate + (max_learning_rate - base_learning_rate) * t * s: t rises in a line from 0 to 1 and falls back in each
    cycle, s scales it. From "Cyclical Learning Rates for Training Neural Networks" (2017).

    Args:
        base_learning_rate: the rate at the ends of a cycle.
        max_learning_rate: that at its top; 0 or more.
        step_size_up: the epochs of the rise, above 0.
        step_size_down: those of the fall; None: as many.
        mode: "triangular" for s = 1, "triangular2" for half as much in each further cycle, "exp_range" for exp_gamma ** n.
        exp_gamma: see mode.
        scale_fn: computes s instead, whatever mode is: called with the number of the cycle, a float from 1.0 on, or with the epoch.
        scale_mode: which of them it is called with, "cycle" or "iterations".
        last_epoch, verbose: as of `LRScheduler`.

    Raises:
        TypeError: an argument has a wrong type.
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        real(self, "base_learning_rate", base_learning_rate)
        if not real(self, "max_learning_rate", max_learning_rate) >= 0:
            refuse(self, "max_learning_rate", max_learning_rate, "0 or more")
        up = float(positive(self, "step_size_up", step_size_up))
        down = up if step_size_down is None else float(positive(self, "step_size_down", step_size_down))
        scales = {"triangular": self._whole, "triangular2": self._halved, "exp_range": self._power}
        if scale_fn is None and mode not in scales:
            refuse(self, "mode", mode, f"one of {', '.join(scales)}, or scale_fn")
        if scale_mode not in ("cycle", "iterations"):
            refuse(self, "scale_mode", scale_mode, "'cycle' or 'iterations'")
        self.cycle_size, self.step_up_pct = up + down, up / (up + down)
        self.max_lr, self.amplitude = float(max_learning_rate), max_learning_rate - base_learning_rate
        self.mode, self.gamma = mode, real(self, "exp_gamma", exp_gamma)
        self.scale_fn = scales[mode] if scale_fn is None else function(self, "scale_fn", scale_fn)
        self.scale_mode = scale_mode
        if scale_fn is None:
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def _whole(self, cycle: float) -> float:
        return 1.0

    def _halved(self, cycle: float) -> float:
        return float(1 / 2.0 ** (cycle - 1))

    def _power(self, epoch: float) -> float:
        return float(self.gamma**epoch)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`."""
        n = self.last_epoch
        cycle = 1 + n // self.cycle_size
        within = 1.0 + n / self.cycle_size - cycle
        rising = within <= self.step_up_pct
        height = within / self.step_up_pct if rising else (1 - within) / (1 - self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else n)
        rate: float = self.base_lr + self.amplitude * height * scale
        return rate


__all__ = ["CosineAnnealingDecay", "CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]
