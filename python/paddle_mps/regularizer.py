"""paddle.regularizer: what is added to the loss so that parameters stay small. An optimizer, or a parameter, is given one."""

from __future__ import annotations

import numpy as np

from ._core._convert import said

__all__ = ["L1Decay", "L2Decay"]


class WeightDecayRegularizer:
    """The base class of regularizers, by which optimizers know one.

    Args:
        coeff: the weight of the term.

    Raises:
        AssertionError: coeff is None.
        TypeError: coeff is no number.
    """

    def __init__(self, coeff: float = 0.0) -> None:
        if not isinstance(coeff, (int, float, np.integer, np.floating)):
            error = AssertionError if coeff is None else TypeError
            raise error(f"[{type(self).__name__}] coeff is {said(coeff)}; want a number")
        self._coeff = coeff

    def __str__(self) -> str:
        return f"{type(self).__name__}, coeff={self._coeff:f}"


class L1Decay(WeightDecayRegularizer):
    """coeff * sum(abs(parameter)): the gradient of a parameter gets coeff * sign(parameter)."""


class L2Decay(WeightDecayRegularizer):
    """coeff * sum(parameter**2) / 2: the gradient of a parameter gets coeff * parameter."""
