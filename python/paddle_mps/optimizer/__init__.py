"""paddle.optimizer: steps that change parameters by their gradients, and the schedules of their sizes in `lr`."""

from __future__ import annotations

from . import lr
from ._lbfgs import LBFGS
from ._optimizer import Optimizer
from ._rules import (
    ASGD,
    SGD,
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    AdamW,
    Lamb,
    Momentum,
    NAdam,
    RAdam,
    RMSProp,
    Rprop,
)

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSProp",
    "Rprop",
    "lr",
]
