"""A rise in a line before another scheduler."""

from __future__ import annotations

from ._scheduler import LRScheduler, positive, real, refuse


class LinearWarmup(LRScheduler):
    """From start_lr to end_lr in a line within warmup_steps epochs, then another learning rate or another scheduler.

    Args:
        learning_rate: a number, or a scheduler. Its epoch 0 is epoch warmup_steps of this one, and it is stepped by this one; a
            `ReduceOnPlateau` gets its epoch as the measure, as in PaddlePaddle.
        warmup_steps: the epochs of the line, above 0.
        start_lr, end_lr: the first is 0 or more and below the second, which is that of epoch warmup_steps on the line.
        last_epoch, verbose: as of `LRScheduler`.

    Raises:
        AssertionError: warmup_steps is no whole number above 0, or start_lr not below end_lr.
        TypeError: learning_rate is neither a number nor a scheduler, or another argument is no number.
        ValueError: start_lr is negative.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, (int, float, LRScheduler)):
            refuse(self, "learning_rate", learning_rate, "a number or an LRScheduler", TypeError)
        self.learning_rate = learning_rate
        self.warmup_steps = positive(self, "warmup_steps", warmup_steps, AssertionError, AssertionError)
        if not real(self, "start_lr", start_lr) < real(self, "end_lr", end_lr):
            refuse(self, "end_lr", end_lr, f"a number above start_lr, which is {start_lr}", AssertionError)
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`; after the line, the other scheduler is stepped."""
        n = self.last_epoch
        if n < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(n) / float(self.warmup_steps) + self.start_lr
        if not isinstance(self.learning_rate, LRScheduler):
            return self.learning_rate
        self.learning_rate.step(n - self.warmup_steps)
        return self.learning_rate()

    def parts(self) -> dict[str, LRScheduler]:
        """The other scheduler."""
        return {"LinearWarmup_LR": self.learning_rate} if isinstance(self.learning_rate, LRScheduler) else {}


__all__ = ["LinearWarmup"]
