"""paddle.optimizer.lr: learning rates that change while a network is trained.

A scheduler is called for its learning rate, and `step` advances it by one epoch: what the program counts as one, such as a batch or a
pass over the data.

    scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=30)
    scheduler.step()
    rate = scheduler()
"""

from __future__ import annotations

from ._cycles import CosineAnnealingDecay, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from ._decays import (
    ExponentialDecay,
    InverseTimeDecay,
    LambdaDecay,
    LinearLR,
    MultiplicativeDecay,
    MultiStepDecay,
    NaturalExpDecay,
    NoamDecay,
    PiecewiseDecay,
    PolynomialDecay,
    StepDecay,
)
from ._plateau import ReduceOnPlateau
from ._scheduler import LRScheduler
from ._warmup import LinearWarmup

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]
