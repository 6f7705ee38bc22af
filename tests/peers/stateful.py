"""Expressions on objects of Paddle that keep state: schedulers of learning rates, metrics, regularizers.

    stateful.py            compares the real Paddle with stateful_3_3_1.json; exits 1 if the file is stale
    stateful.py --record   writes stateful_3_3_1.json

tests/python/test_schedulers.py and test_metric.py evaluate the same expressions here: all bits of all numbers are compared, if the
functions of this machine's libm have the bits of the one that recorded. After ` ## ` stands our own answer, where it is another one on purpose: the class of an exception, or a value.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import math
import pathlib
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

VERSION = "3.3.1"
GOLDEN = pathlib.Path(__file__).with_name("stateful_3_3_1.json")

if TYPE_CHECKING:
    Numbers = np.ndarray[Any, Any]

# Each is followed for 60 steps, through epochs out of turn, and through a state in the middle.
SCHEDULERS = """
lr.NoamDecay(64, 20)
lr.NoamDecay(7, 3, 0.3)
lr.NoamDecay(512, 4000, 2, last_epoch=3990)
lr.PiecewiseDecay([10, 20, 45], [0.1, 0.05, 0.01, 0.001])
lr.PiecewiseDecay((1, 2), (0.7, 1, 0.3))
lr.PiecewiseDecay([5], [0.5, 0.25, 0.125], last_epoch=2)
lr.NaturalExpDecay(0.5, 0.1)
lr.NaturalExpDecay(0.3, 1)
lr.NaturalExpDecay(1, 0.017, last_epoch=30)
lr.InverseTimeDecay(0.5, 0.1)
lr.InverseTimeDecay(0.7, 3)
lr.InverseTimeDecay(0.7, 0.003, last_epoch=11)
lr.PolynomialDecay(0.5, 20)
lr.PolynomialDecay(0.5, 20, cycle=True)
lr.PolynomialDecay(0.3, 7, 0.01, 2.0, True)
lr.PolynomialDecay(0.3, 50, 0.003, 0.5, False, 4)
lr.PolynomialDecay(1, 33, end_lr=0, power=3)
lr.LinearWarmup(0.5, 20, 0., 0.5)
lr.LinearWarmup(3, 7, 0.1, 0.7)
lr.LinearWarmup(lr.StepDecay(0.5, 3, 0.7), 13, 0.05, 0.5)
lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, 11, 0.01), 6, 0.01, 0.5)
lr.LinearWarmup(lr.CosineAnnealingWarmRestarts(0.5, 4, 2, 0.01), 6, 0.01, 0.5)
lr.LinearWarmup(lr.LinearWarmup(lr.NoamDecay(64, 9), 8, 0.1, 0.3), 5, 0, 0.1)
lr.LinearWarmup(lr.OneCycleLR(1.0, 70), 3, 0, 0.1)
lr.LinearWarmup(lr.PolynomialDecay(0.5, 20), 10, 0.1, 0.5, last_epoch=20)
lr.ExponentialDecay(0.5, 0.9)
lr.ExponentialDecay(1, 0.123)
lr.ExponentialDecay(0.7, 0.999, last_epoch=100)
lr.MultiStepDecay(0.5, [2, 4], 0.8)
lr.MultiStepDecay(0.3, (10, 20, 30, 50))
lr.MultiStepDecay(0.3, [], 0.5)
lr.MultiStepDecay(0.3, [1, 3, 31], -0.7, last_epoch=1)
lr.StepDecay(0.5, 5, 0.8)
lr.StepDecay(0.3, 1)
lr.StepDecay(0.3, 13, 0.3, 25)
lr.LambdaDecay(0.5, lambda n: 0.95 ** n)
lr.LambdaDecay(0.3, lambda n: 1 / (n + 1))
lr.LambdaDecay(0.3, lambda n: n % 7, last_epoch=3)
lr.MultiplicativeDecay(0.5, lambda n: 0.95)
lr.MultiplicativeDecay(0.3, lambda n: 1 + 1 / (n + 3) - 0.1)
lr.MultiplicativeDecay(0.3, lambda n: 0.9 if n % 3 else 1.1, last_epoch=5)
lr.CosineAnnealingDecay(0.5, 10)
lr.CosineAnnealingDecay(0.5, 10, verbose=True)
lr.CosineAnnealingDecay(0.3, 7, 0.013)
lr.CosineAnnealingDecay(0.3, 100, 1)
lr.CosineAnnealingDecay(0.3, 1, 0.1)
lr.CosineAnnealingDecay(0.3, 9, 0.01, last_epoch=4)
lr.OneCycleLR(1.0, 100)
lr.OneCycleLR(1, 60, 10, 0, 0.37)
lr.OneCycleLR(0.3, 61, 7.0, 0.001, 0.41, 'linear')
lr.OneCycleLR(0.3, 77, 7.0, 0.001, 0.29, 'cos', True)
lr.OneCycleLR(0.3, 66, 3.0, 0.5, 1 / 3, 'linear', True)
lr.OneCycleLR(0.3, 99, phase_pct=0.0, last_epoch=7)
lr.OneCycleLR(0.3, 99, phase_pct=1.0)
lr.CyclicLR(0.5, 1.0, 15, 5)
lr.CyclicLR(0.1, 0.7, 7)
lr.CyclicLR(0.1, 0.7, 7, 4, 'triangular2')
lr.CyclicLR(0.1, 0.7, 3, 8, 'exp_range', 0.97)
lr.CyclicLR(0.1, 0.7, 3, 8, 'exp_range', 0.97, scale_mode='iterations')
lr.CyclicLR(0.1, 0.7, 6, 5, scale_fn=lambda c: 0.9 ** c)
lr.CyclicLR(0.1, 0.7, 6, 5, 'any', scale_fn=lambda n: 1 / (1 + n), scale_mode='iterations')
lr.CyclicLR(1, 0, 4, 9, last_epoch=6)
lr.LinearLR(0.5, 10)
lr.LinearLR(0.3, 37, 0.1, 0.7)
lr.LinearLR(0.3, 50, 1.0, 0.0)
lr.LinearLR(1, 1, 0.5, 0.25)
lr.LinearLR(0.3, 47.5, 0.2, 0.9, last_epoch=4)
lr.CosineAnnealingWarmRestarts(0.5, 10)
lr.CosineAnnealingWarmRestarts(0.3, 7, 1, 0.013)
lr.CosineAnnealingWarmRestarts(0.3, 5, 2, 0.01)
lr.CosineAnnealingWarmRestarts(0.3, 3, 4, last_epoch=4)
Own(0.3)
Own(0.3, last_epoch=5)
"""

# A state of these lacks where they are between two restarts, so that Paddle begins a round anew. Ours finds it.
NOT_RESUMED = "lr.CosineAnnealingWarmRestarts"

PLATEAUS = """
lr.ReduceOnPlateau(1.0)
lr.ReduceOnPlateau(1.0, patience=2)
lr.ReduceOnPlateau(1, 'MAX', 0.5, 3, 0.01, 'rel', 2)
lr.ReduceOnPlateau(1.0, 'max', 0.7, 1, 0.02, 'ABS', 4)
lr.ReduceOnPlateau(0.3, 'min', 0.7, 0, 0.02, 'abs', 1, 0.01)
lr.ReduceOnPlateau(0.3, 'min', 0.3, 1, 0.0, min_lr=0.001, epsilon=0.01)
lr.ReduceOnPlateau(0.3, factor=-1, patience=1, min_lr=0.1)
lr.LinearWarmup(lr.ReduceOnPlateau(0.5, patience=4), 5, 0., 0.5)
"""

# What Python computes with the system's libm.
LIBM = "[[math.cos(i / 7), math.exp(-i / 7), (i + 1.0) ** -1.5, 0.97 ** i] for i in range(200)]"

# Of schedulers: what else they do, and refuse.
MORE = """
vars(lr.PiecewiseDecay([3, 6], [0.7, 0.2, 0.3]))['base_lr']
visible(lr.NoamDecay(64, 20, 0.5))
visible(lr.PiecewiseDecay([3, 6], [0.1, 0.2, 0.3]))
visible(lr.PolynomialDecay(0.5, 20, cycle=True))
visible(lr.LinearWarmup(0.5, 20, 0., 0.5))
visible(lr.MultiStepDecay(0.5, [2, 4], 0.8))
visible(lr.StepDecay(0.5, 5, 0.8))
visible(lr.ReduceOnPlateau(1.0, 'MAX', patience=2))
visible(lr.CosineAnnealingDecay(0.5, 10, 1))
visible(lr.OneCycleLR(1.0, 100))
visible(lr.CyclicLR(0.5, 1.0, 15, 5))
visible(lr.CyclicLR(0.5, 1.0, 15, mode='exp_range'))
visible(lr.LinearLR(0.5, 10))
visible(lr.CosineAnnealingWarmRestarts(0.5, 5, 2))
printed(lambda: walk(lr.NoamDecay(64, 20, verbose=True), 3))
printed(lambda: walk(lr.LinearWarmup(lr.StepDecay(0.5, 1, verbose=True), 2, 0., 0.5, verbose=True), 4))
printed(lambda: walk(lr.CosineAnnealingWarmRestarts(0.5, 5, 2, verbose=1), 3))
printed(lambda: follow(lr.ReduceOnPlateau(1.0, patience=0, verbose=True), [1., 1., 1.]))
out_of_turn(lr.CosineAnnealingWarmRestarts(0.5, 4, 2, 0.1), [3.5, 4.0, None, 11.9, 12, 13, None, 28, 60.5, None])
out_of_turn(lr.CosineAnnealingWarmRestarts(0.5, 4, 1, 0.1), [3.5, 4.0, None, 11.9, 12, 13, None, 28, 60.5, None])
out_of_turn(lr.StepDecay(0.5, 2), [-3, -1, None])
out_of_turn(lr.ExponentialDecay(0.5, 0.9), [-3, 1.5, None])
out_of_turn(lr.PiecewiseDecay([2, 4], [1., 2., 3.]), [-1, 0.5, 4])
out_of_turn(lr.OneCycleLR(1.0, 10), [3.5, 10])
follow(lr.ReduceOnPlateau(1.0, patience=0, threshold=0.1), [20., 19., 18., 17., 15.5, 13.96, 13.95])
follow(lr.ReduceOnPlateau(1.0, 'max', patience=0, threshold=0.1), [20., 21., 22., 23., 25.2, 25.4])
follow(lr.ReduceOnPlateau(1.0, patience=0, threshold=0.1), [-20., -19., -18.5, -17.9, -30.])
follow(lr.ReduceOnPlateau(1.0, patience=0), [nan, 2.0, 1.0, nan])
follow(lr.ReduceOnPlateau(1.0, patience=0), [2, True, False])
follow(lr.ReduceOnPlateau(1.0, patience=0), [np.float64(2), np.array([1.0]), np.array([[3.0]]), np.array(4, 'int32')])
follow(lr.ReduceOnPlateau(1.0, patience=0), [T(2., dtype='float64'), T([1.0], dtype='float64'), T([[3.]], dtype='float64')])
(lambda s: [s.step(1.0, epoch=7), s.last_epoch, s.step(2.0), s.last_epoch])(lr.ReduceOnPlateau(1.0))
(lambda s: [s.step(T(2., dtype='float64')), s.state_dict()])(lr.ReduceOnPlateau(1.0))
(lambda s: [setattr(s, 'last_lr', T(0.25)), s.state_dict()])(lr.StepDecay(0.5, 2))
(lambda s: [setattr(s, 'last_lr', T([0.25, 2])), s.state_dict()])(lr.StepDecay(0.5, 2))
(lambda s: [s.set_state_dict({'last_epoch': 9, 'last_lr': 0.3}), s(), s.step(), s()])(lr.CosineAnnealingDecay(0.5, 4, 0.1))
(lambda s: [s.set_dict({'last_epoch': 9, 'last_lr': 0.3}), s(), s.step(), s()])(lr.StepDecay(0.5, 4))
(lambda s: [s.state_keys(), s.keys])(lr.StepDecay(0.5, 4))
(lambda s: [s.state_keys(), s.keys])(lr.ReduceOnPlateau(0.5))
(lambda s: [s.last_lr, s.step(), s(), s.state_dict()])(Counting(0.5))
lr.LRScheduler()
lr.LRScheduler('a')
lr.LRScheduler(-1.0)
lr.LRScheduler(None)
lr.ReduceOnPlateau(0.5).get_lr()
lr.NoamDecay(0, 5)
lr.NoamDecay(8, 0) ## ValueError
lr.NoamDecay(8, -5) ## ValueError
lr.NoamDecay('a', 5)
lr.NoamDecay(8, 5).step(-2) ## ValueError
lr.PiecewiseDecay([3, 6], [0.1, 0.2])
lr.PiecewiseDecay([], [0.1])
lr.PiecewiseDecay(3, [0.1, 0.2])
lr.PiecewiseDecay([3], ['a', 0.2]) ## TypeError
lr.NaturalExpDecay(0.5, 0)
lr.NaturalExpDecay(0.5, 'a')
lr.InverseTimeDecay(0.5, 'a')
lr.InverseTimeDecay(0.5, -1).step() ## ValueError
lr.PolynomialDecay(0.5, 0)
lr.PolynomialDecay(0.5, 1.5)
lr.PolynomialDecay(0.5, 10, power=0)
lr.PolynomialDecay(0.5, 10, 'a')
lr.PolynomialDecay(0.5, 10, cycle=True).step(-1) ## ValueError
lr.LinearWarmup(0.5, 0, 0., 0.5)
lr.LinearWarmup(0.5, 1.5, 0., 0.5)
lr.LinearWarmup(0.5, 5, 0.5, 0.5)
lr.LinearWarmup(0.5, 5, -1., 0.5)
lr.LinearWarmup('a', 5, 0, 0.5)
lr.LinearWarmup(None, 5, 0, 0.5)
lr.LinearWarmup(lr.StepDecay(0.5, 3), 5, 0., 0.5).set_state_dict({'last_epoch': 9, 'last_lr': 0.3}) ## RuntimeError
lr.ExponentialDecay(0.5, 1.0)
lr.ExponentialDecay(0.5, 0.0)
lr.ExponentialDecay(0.5, 0.9).step('a')
lr.ExponentialDecay(0.5, 0.9).step(nan) ## ValueError
lr.ExponentialDecay(0.5, 0.9, last_epoch=nan) ## ValueError
lr.CosineAnnealingWarmRestarts(0.5, 5).step(nan)
lr.ExponentialDecay(0.5, 0.9, last_epoch='a')
lr.ExponentialDecay(0.5, 0.9).set_state_dict({})
lr.ExponentialDecay(0.5, 0.9).set_state_dict({'last_epoch': 3})
lr.ExponentialDecay(0.5, 0.9).set_state_dict(3)
lr.MultiStepDecay(0.5, [4, 2])
lr.MultiStepDecay(0.5, [2, 2])
lr.MultiStepDecay(0.5, 2)
lr.MultiStepDecay(0.5, [2], 1.0)
lr.StepDecay(0.5, 5, 1.0)
lr.StepDecay(0.5, 5.0)
lr.StepDecay(0.5, 0)
lr.LambdaDecay(0.5, 3)
lr.MultiplicativeDecay(0.5, None)
lr.ReduceOnPlateau(1.0, mode='x')
lr.ReduceOnPlateau(1.0, threshold_mode='x')
lr.ReduceOnPlateau(1.0, factor=1.0)
lr.ReduceOnPlateau('1')
lr.ReduceOnPlateau(1.0, min_lr='a') ## TypeError
lr.ReduceOnPlateau(1.0).step('a')
lr.ReduceOnPlateau(1.0).step(None)
lr.ReduceOnPlateau(1.0).step([1.0])
lr.ReduceOnPlateau(1.0).step(np.array([1.0, 2]))
lr.ReduceOnPlateau(1.0).step(T([1.0, 2.0]))
lr.ReduceOnPlateau(1.0).step(np.array(['a'])) ## TypeError
lr.CosineAnnealingDecay(0.5, 0)
lr.CosineAnnealingDecay(0.5, 2.5)
lr.CosineAnnealingDecay(0.5, 2, eta_min='a')
lr.OneCycleLR('a', 100)
lr.OneCycleLR(-1.0, 100)
lr.OneCycleLR(1.0, 0)
lr.OneCycleLR(1.0, 10.0)
lr.OneCycleLR(1.0, 10, end_learning_rate=-1)
lr.OneCycleLR(1.0, 10, divide_factor='a')
lr.OneCycleLR(1.0, 10, divide_factor=0) ## ValueError
lr.OneCycleLR(1.0, 10, divide_factor=-1.)
lr.OneCycleLR(1.0, 10, phase_pct=1)
lr.OneCycleLR(1.0, 10, phase_pct=1.1)
lr.OneCycleLR(1.0, 10, phase_pct=0.5, three_phase=True)
lr.OneCycleLR(1.0, 10, phase_pct=0.1)() ## 1.0
lr.OneCycleLR(1.0, 10, anneal_strategy='x')
lr.OneCycleLR(1.0, 10).step(11)
lr.CyclicLR('a', 1.0, 15)
lr.CyclicLR(0.5, 'a', 15)
lr.CyclicLR(-0.5, 1.0, 15)
lr.CyclicLR(0.5, -1.0, 15)
lr.CyclicLR(0.5, 1.0, 0)
lr.CyclicLR(0.5, 1.0, 1.5)
lr.CyclicLR(0.5, 1.0, 15, 0)
lr.CyclicLR(0.5, 1.0, 15, 1.5)
lr.CyclicLR(0.5, 1.0, 15, mode='x')
lr.CyclicLR(0.5, 1.0, 15, scale_mode='x')
lr.CyclicLR(0.5, 1.0, 15, scale_fn=3)
lr.CyclicLR(0.5, 1.0, 15, exp_gamma='a', mode='exp_range')
lr.LinearLR(0.5, 0)
lr.LinearLR(0.5, 10, start_factor=0)
lr.LinearLR(0.5, 10, start_factor=1.1)
lr.LinearLR(0.5, 10, end_factor=1.1)
lr.LinearLR(0.5, 10, end_factor=-0.1)
lr.CosineAnnealingWarmRestarts(0.5, 0)
lr.CosineAnnealingWarmRestarts(0.5, 1.5)
lr.CosineAnnealingWarmRestarts(0.5, 5, 0)
lr.CosineAnnealingWarmRestarts(0.5, 5, 1.5)
lr.CosineAnnealingWarmRestarts(0.5, 5, 1, eta_min='a')
lr.CosineAnnealingWarmRestarts(0.5, 5).step(-1)
"""


METRICS = """
M.Accuracy().name()
M.Accuracy((1, 5)).name()
M.Accuracy([2, 5], name='x').name()
M.Accuracy((2,), 'x').name()
M.Accuracy((1,), 'x').name()
M.Accuracy((3,)).name()
M.Precision().name()
M.Recall('r').name()
M.Auc().name()
M.Auc(name='a').name()
visible(M.Accuracy([1, 2]))
visible(M.Precision())
visible(M.Recall())
M.Accuracy().accumulate()
M.Accuracy((1, 2)).accumulate()
M.Accuracy().compute(P, T(classes(5, 6, 1)))
M.Accuracy((1, 2)).compute(P, T(classes(5, 6, 1)))
M.Accuracy((3, 1)).compute(P, T(classes(5, 6)))
M.Accuracy((1, 9)).compute(P, T(classes(5, 6, 1)))
M.Accuracy((1, 2)).compute(P, T(classes(5, 6, 1).astype('int32')))
M.Accuracy((1, 2)).compute(P, T(classes(5, 6, 1).astype('float32')))
M.Accuracy((1, 2)).compute(P.astype('float64'), T(classes(5, 6, 1)))
M.Accuracy((1, 2)).compute(P, T(np.eye(5, dtype='float32')[classes(5, 6)]))
M.Accuracy((1, 2)).compute(P, T(np.eye(5, dtype='int64')[classes(5, 6)]))
M.Accuracy((1, 2)).compute(T(scores(2, 3, 4)), T(classes(4, 2, 3, 1)))
M.Accuracy((1, 2)).compute(T(scores(2, 3, 4)), T(np.eye(4, dtype='float32')[classes(4, 2, 3)]))
M.Accuracy((1, 2)).compute(T([[0.5, 0.5, 0.5], [0.1, 0.2, 0.2]]), T([[0], [1]]))
M.Accuracy((1, 2)).compute(T([[nan, 1., 2.], [1., nan, 2.]]), T([[0], [1]]))
M.Accuracy((1,)).compute(P[:, :1], T(classes(2, 6, 1)))
batches(M.Accuracy(), [(P, T(classes(5, 6, 1))), (P[:2], T(classes(4, 2, 1)))], True)
batches(M.Accuracy((1, 3)), [(P, T(classes(5, 6, 1))), (P[:2], T(classes(4, 2, 1)))], True)
batches(M.Accuracy((1, 2)), [(T(scores(2, 3, 4)), T(classes(4, 2, 3, 1)))], True)
batches(M.Accuracy((1, 2)), [(np.array([[1., 0], [0, 1], [0, 0]], 'float32'),), (np.array([[[1., 0]]], 'float32'),)])
(lambda m: [m.update(np.array([[1., 0], [0, 1], [0, 0]], 'float32')), m.total, m.count])(M.Accuracy((1, 2)))
batches(M.Precision(), [(T([[0.1], [0.5], [0.6], [0.7], [1.5]]), T([[0], [1], [1], [0], [1]]))])
batches(M.Precision(), [(scores(20), classes(2, 20)), (scores(31, 1), classes(2, 31, 1)), (T(scores(8)), T(classes(2, 8)))])
batches(M.Precision(), [(T([0.1, 0.5, 0.6, 0.7, 2.5, -0.7, -0.4]), T([0, 1, 1, 0, 2, 1, 1]))])
batches(M.Precision(), [(T([0.9, 0.8]), T([2, 1])), (T([1, 0]), T([1., 0.]))])
batches(M.Precision(), [(T([0.1]), T([0]))])
batches(M.Recall(), [(T([[0.1], [0.5], [0.6], [0.7], [1.5]]), T([[0], [1], [1], [0], [1]]))])
batches(M.Recall(), [(scores(20), classes(2, 20)), (scores(31, 1), classes(2, 31, 1)), (T(scores(8)), T(classes(2, 8)))])
batches(M.Recall(), [(T([0.1, 0.5, 0.6, 0.7, 2.5, -0.7, -0.4]), T([0, 1, 1, 0, 2, 1, 1]))])
batches(M.Recall(), [(T([0.9, 0.8]), T([2, 1])), (T([1, 0]), T([1., 0.]))])
batches(M.Recall(), [(T([0.9]), T([0]))])
batches(M.Auc(), [(T([[0.3, 0.7], [0.6, 0.4], [0.2, 0.8], [0.5, 0.5]]), T([[1], [0], [0], [1]]))])
batches(M.Auc(), [(scores(50, 2), classes(2, 50)), (scores(31, 2), classes(2, 31, 1)), (T(scores(8, 2)), T(classes(2, 8)))])
batches(M.Auc(num_thresholds=7), [(scores(50, 2), classes(2, 50)), (scores(31, 2), classes(2, 31, 1))])
batches(M.Auc(num_thresholds=1), [(scores(50, 2), classes(3, 50))])
batches(M.Auc('ROC', 100), [(np.array([[1., 0.], [0., 1.]]), np.array([0, 1])), (np.array([[0.1, 0.9]]), np.array([0]))])
batches(M.Auc(), [(np.array([[1., 0.], [0., 1.]]), np.array([1, 1]))])
M.Auc.trapezoid_area(1., 2., 3., 4.)
M.accuracy(P, T(classes(5, 6, 1)))
M.accuracy(P, T(classes(5, 6, 1)), 2)
M.accuracy(P, T(classes(5, 6, 1)), k=5)
M.accuracy(P.astype('float64'), T(classes(5, 6, 1).astype('int32')), k=3)
M.accuracy(input=P[::2], label=T(classes(5, 6, 1))[::2], k=3)
(lambda c, t: [M.accuracy(P, T(classes(5, 6, 1)), 2, c, t), c, t])(T([7], dtype='int32'), T([9], dtype='int32'))
(lambda c, t: [M.accuracy(P, T(classes(5, 6, 1)), 2, c, t), c, t])(T([7]), T(9.))
(lambda c: [M.accuracy(P, T(classes(5, 6, 1)), correct=c), c])(T([7], dtype='int32'))
M.accuracy(paddle.zeros([0, 4]), paddle.zeros([0, 1], 'int64'))
M.accuracy(T(scores(3, 4), stop_gradient=False), T(classes(4, 3, 1))).stop_gradient
M.Metric()
type('Half', (M.Metric,), {'reset': len})()
type('Whole', (M.Metric,), {name: len for name in ('reset', 'update', 'accumulate', 'name')})().compute(1, 2)
M.Accuracy(3)
M.Accuracy(())
M.Accuracy().compute(scores(2, 3), T(classes(3, 2, 1)))
M.Accuracy().update([1, 2]) ## ValueError
M.Accuracy().compute(T(scores(2, 3, 4)), T(classes(4, 2, 3))) ## {"dtype": "float32", "shape": [2, 3, 1], "values": [[[0.0], [0.0], [0.0]], [[1.0], [0.0], [0.0]]]}
M.Accuracy().compute(P, T(classes(5, 2, 1)))
M.Precision().update([0.1, 0.9], [1, 1])
M.Precision().update(T([0.1, 0.9]), [1, 1])
M.Precision().update(T([0.1, 0.9]), T([1])) ## ValueError
M.Recall().update([0.1, 0.9], [1, 1])
M.Recall().update(T([0.1, 0.9]), T([1])) ## ValueError
M.Auc('PR') ## UnsupportedError
M.Auc('x') ## ValueError
M.Auc(num_thresholds=0) ## ValueError
M.Auc(num_thresholds=2.5)
M.Auc().update([[0.3, 0.7]], [1])
M.Auc().update(np.array([[0.3, 1.7]]), np.array([1]))
M.Auc().update(np.array([[0.3, -0.7]]), np.array([1])) ## AssertionError
M.Auc().update(np.array([[0.3, nan]]), np.array([1])) ## AssertionError
M.Auc().update(np.array([0.3, 0.7]), np.array([1, 0])) ## ValueError
M.Auc().update(np.array([[0.3], [0.7]]), np.array([1, 0])) ## ValueError
M.Auc().update(np.array([[0.3, 0.7]]), np.array([1, 0])) ## ValueError
M.Auc().update(np.array([[0.3, 0.7], [0.3, 0.7]]), np.array([1])) ## ValueError
M.accuracy(P, T(classes(5, 6)))
M.accuracy(P[0], T([[1]]))
M.accuracy(P, T(classes(5, 6, 1).astype('float32')))
M.accuracy(P, T(classes(5, 3, 1)))
M.accuracy(P, T(classes(5, 6, 1)), k=9)
M.accuracy(P, T(classes(5, 6, 1)), k=0)
M.accuracy(scores(2, 3), T(classes(3, 2, 1)))
M.accuracy(P.astype('float16'), T(classes(5, 6, 1)), 5) ## {"dtype": "float32", "shape": [], "values": 1.0}
"""

REGULARIZERS = """
str(R.L1Decay())
str(R.L1Decay(0.1))
str(R.L2Decay(1e-4))
str(R.L2Decay(coeff=1e-9))
str(R.L2Decay(3))
R.L1Decay(0.1)._coeff
R.L2Decay(-1)._coeff
[base.__name__ for base in R.L2Decay.__mro__]
vars(R.L1Decay(0.5))
R.L2Decay(None)
R.L1Decay('a') ## TypeError
"""


def scope_of(paddle: Any, lr: Any, metric: Any, regularizer: Any) -> dict[str, Any]:
    """What expressions name, of a library under the name `paddle`."""

    class Own(lr.LRScheduler):  # type: ignore[misc]
        """A scheduler of a program, with a formula for epochs out of turn."""

        def get_lr(self) -> float:
            return float(self.last_lr * 0.9 + self.last_epoch / 100)

        def _get_closed_form_lr(self) -> float:
            return float(self.base_lr / (1 + self.last_epoch))

    class Counting(lr.LRScheduler):  # type: ignore[misc]
        """A scheduler with more state, and a rate that is no float."""

        def state_keys(self) -> None:
            self.keys = ["last_epoch", "count", "never_set"]

        def get_lr(self) -> int:
            self.count = int(3 + self.last_epoch)
            return self.count

    names = {
        "paddle": paddle,
        "lr": lr,
        "M": metric,
        "R": regularizer,
        "T": paddle.to_tensor,
        "np": np,
        "math": math,
        "nan": math.nan,
    }
    functions = (Own, Counting, walk, out_of_turn, resumed, follow, visible, printed, scores, classes, batches)
    return {**names, "P": paddle.to_tensor(scores(6, 5)), **{f.__name__: f for f in functions}}


EPOCHS = [None, None, 17, None, None, 3, None, 40, None, None, None, 0, None, None, 59, None, 21, 20, 22, None]
MEASURES = [round(math.exp(-i / 9) + 0.05 * math.sin(i * 1.7), 6) for i in range(61)]


def walk(s: Any, steps: int = 60) -> list[float]:
    """The learning rates of so many steps."""
    rates = [s()]
    for _ in range(steps):
        s.step()
        rates.append(s())
    return rates


def out_of_turn(s: Any, epochs: list[Any] = EPOCHS) -> list[Any]:
    """The learning rates and epochs after steps with these epochs; None: the next one."""
    found = []
    for epoch in epochs:
        s.step() if epoch is None else s.step(epoch)
        found.append([s(), s.last_epoch])
    return found


def resumed(make: Callable[[], Any]) -> list[Any]:
    """A state after some steps, and the learning rates of another scheduler that continues from it."""
    first, second = make(), make()
    walk(first, 23)
    state = json.loads(json.dumps(first.state_dict()))
    second.set_state_dict(state)
    return [state, walk(second, 32), second.state_dict()]


def follow(s: Any, measures: list[Any] = MEASURES) -> list[Any]:
    """What is visible of a `ReduceOnPlateau` after each measure."""
    found = []
    for measure in measures:
        s.step(measure)
        best = s.best.item() if hasattr(s.best, "item") else s.best
        found.append([s(), s.last_epoch, best, s.num_bad_epochs, s.cooldown_counter])
    return found


def visible(s: Any) -> dict[str, Any]:
    """The attributes without underscores that are numbers, words or lists of them."""
    return {k: v for k, v in vars(s).items() if k[0] != "_" and isinstance(v, (int, float, str, list, type(None)))}


def scores(*shape: int) -> Numbers:
    """Different scores between 0 and 1, as float32."""
    count = math.prod(shape)
    order = np.argsort(np.array([i * 7919 % 10007 for i in range(count)]), kind="stable")
    return ((order.reshape(shape) + 0.5) / count).astype("float32")


def classes(of: int, *shape: int) -> Numbers:
    """Classes, as int64."""
    return np.array([i * i * 31 % 17 % of for i in range(math.prod(shape))]).reshape(shape)


def batches(metric: Any, of: list[tuple[Any, ...]], compute: bool = False) -> list[Any]:
    """What a metric returns for each batch and says after it; and after `reset`."""
    found = []
    for batch in of:
        given = metric.compute(*batch) if compute else batch
        found.append([metric.update(*given) if isinstance(given, tuple) else metric.update(given), metric.accumulate()])
    metric.reset()
    return [*found, metric.accumulate(), metric.name()]


def printed(call: Callable[[], object]) -> list[str]:
    """The lines that a call prints."""
    with contextlib.redirect_stdout(io.StringIO()) as text:
        call()
    return text.getvalue().splitlines()


def expressions(*tables: str) -> Iterator[tuple[str, str | None]]:
    """The expressions of tables, each with our own answer where it is another one."""
    for table in tables:
        for line in table.strip().splitlines():
            source, _, ours = line.partition(" ## ")
            yield source, ours or None


def of_schedulers() -> Iterator[tuple[str, str | None]]:
    """The expressions on schedulers."""
    for source, _ in expressions(SCHEDULERS):
        yield f"walk({source})", None
        yield f"out_of_turn({source})", None
        if not source.startswith(NOT_RESUMED):
            yield f"resumed(lambda: {source})", None
    for source, _ in expressions(PLATEAUS):
        if source.startswith("lr.LinearWarmup"):
            yield f"walk({source})", None
        else:
            yield f"follow({source})", None
            yield f"follow({source}, [T(x, dtype='float64') for x in {MEASURES[::3]}])", None
    yield from expressions(MORE)


def of_metrics() -> Iterator[tuple[str, str | None]]:
    """The expressions on metrics and regularizers."""
    return expressions(METRICS, REGULARIZERS)


def described(x: Any) -> Any:
    """A value as JSON has it; nan is a word, because it does not equal itself."""
    if isinstance(x, dict):
        return {str(key): described(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [described(y) for y in x]
    if isinstance(x, np.ndarray):
        return {"dtype": f"numpy.{x.dtype}", "shape": list(x.shape), "values": described(x.tolist())}
    if isinstance(x, np.generic):
        return described(x.item())
    if hasattr(x, "stop_gradient"):
        return {
            "dtype": str(x.dtype).rpartition(".")[2],
            "shape": [int(n) for n in x.shape],
            "values": described(x.tolist()),
        }
    if isinstance(x, float) and x != x:
        return "nan"
    return x if isinstance(x, (int, float, str, type(None))) else {"is": type(x).__name__}


def answer(source: str, scope: dict[str, Any]) -> Any:
    """What an expression gives, as JSON has it; the class of an exception."""
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return described(eval(source, scope))
    except Exception as error:
        return {"raises": type(error).__name__}


def difference(source: str, ours: str | None, stored: dict[str, Any], scope: dict[str, Any]) -> str:
    """What is wrong with an answer of ours; empty if it is the recorded one, or the one that is named instead of it."""
    want, got = stored[source], answer(source, scope)
    if ours is not None:
        if want == got:
            return f"Paddle's answer is ours: {got}"
        want = {"raises": ours} if ours.endswith("Error") else json.loads(ours)
    if want == got or (stored[LIBM] != answer(LIBM, scope) and near(want, got)):
        return ""
    return f"got {got}; want {want}"


def near(want: Any, got: Any) -> bool:
    """Whether two answers are equal but for last digits: a rate that is computed from the one before adds up roundings of cosines."""
    if isinstance(want, dict) and isinstance(got, dict):
        return want.keys() == got.keys() and all(near(want[key], got[key]) for key in want)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(near, want, got))
    if isinstance(want, float) and isinstance(got, float):
        return math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-12)
    return bool(want == got)


def errors(table: Iterator[tuple[str, str | None]], stored: dict[str, Any]) -> Iterator[str]:
    """The expressions of a table that raise an error of ours."""
    for source, ours in table:
        if ours.endswith("Error") if ours is not None else "'raises'" in str(stored[source]):
            yield source


def read() -> dict[str, Any]:
    """The recorded answers, by expression."""
    stored = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if stored["paddle"] != VERSION:
        raise SystemExit(f"{GOLDEN} holds the answers of PaddlePaddle {stored['paddle']}; want {VERSION}")
    answers: dict[str, Any] = stored["answers"]
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    paddle: Any
    paddle, lr, metric, regularizer = map(
        importlib.import_module, ("paddle", "paddle.optimizer.lr", "paddle.metric", "paddle.regularizer")
    )
    if paddle.__version__ != VERSION:
        raise SystemExit(f"PaddlePaddle {paddle.__version__} is installed; want {VERSION}")
    scope = scope_of(paddle, lr, metric, regularizer)
    fresh = {source: answer(source, scope) for source, _ in ((LIBM, None), *of_schedulers(), *of_metrics())}
    if options.record:
        lines = ",\n".join(f"{json.dumps(source)}: {json.dumps(got)}" for source, got in fresh.items())
        GOLDEN.write_text(f'{{"paddle": "{VERSION}", "answers": {{\n{lines}\n}}}}\n', encoding="utf-8")
        return 0
    stored = read()
    stale = [source for source in {**stored, **fresh} if stored.get(source, "none") != fresh.get(source, "none")]
    print(*[f"{GOLDEN.name} is stale: {source}" for source in stale], f"{len(fresh) - len(stale)} equal", sep="\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
