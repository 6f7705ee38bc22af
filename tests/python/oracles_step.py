"""What the rows of core/op/formula/composites_step.go should answer, in NumPy: a part of oracles.py, which says what each entry means."""

from __future__ import annotations

from typing import Any

import numpy as np

rng = np.random.default_rng(53)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def adam(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    step: Any,
    first: Any,
    second: Any,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    scaled: bool = False,
    decay: float = 0.0,
    decoupled: float = 0.0,
    after: float = 0.0,
) -> Any:
    """By the means without their bias, as in the article of Kingma and Ba."""
    g = g + decay * x
    m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g * g
    p, q = (first, second) if step is None else (beta1**step, beta2**step)
    if np.all(p == 1):
        p = q = np.zeros_like(rate)
    root = np.sqrt(1 - q)
    mean, size = m / (1 - p), np.sqrt(v) / root + epsilon * (1 if scaled else 1 / root)
    return (x - rate * decoupled * x - rate * mean / size) * (1 - after), m, v


def adagrad(
    x: Any, g: Any, h: Any, rate: Any, step: Any, epsilon: float = 1e-6, decay: float = 0.0, rate_decay: float = 0.0
) -> Any:
    g = g + decay * x
    h = h + g * g
    return x - rate / (1 + step * rate_decay) * g / (np.sqrt(h) + epsilon), h


def momentum(
    x: Any,
    g: Any,
    v: Any,
    rate: Any,
    step: Any,
    share: float = 0.9,
    factor: float = 1.0,
    nesterov: bool = False,
    decay: float = 0.0,
) -> Any:
    g = g + decay * x
    v = share * v + (g * factor if step > 0 else g)
    return x - rate * (g + share * v if nesterov else v), v


def weights(count: int, state: int, more: list[Any]) -> Any:
    """Operands, and a rate and a number of steps behind them."""
    rate, step = np.array(0.1), np.array(3, np.int64)
    return lambda: [
        *(floats(3, 4) for _ in range(count)),
        *(rng.uniform(0.1, 1, (3, 4)) for _ in range(state)),
        rate,
        step,
        *more,
    ]


def powers() -> list[Any]:
    return [
        floats(3, 4),
        floats(3, 4),
        floats(3, 4),
        rng.uniform(0.1, 1, (3, 4)),
        np.array(0.1),
        None,
        np.array(0.7),
        np.array(0.9),
    ]


ORACLES: dict[str, tuple[Any, ...]] = {
    "adam_step": (
        adam,
        weights(3, 1, [None, None]),
        [[], [0.5, 0.9, 0.01, True], [0.5, 0.9, 0.01, False, 0.3], [0.5, 0.9, 1e-8, True, 0.0, 0.2, 0.1]],
        (5, 6, 7),
    ),
    "adam_step/powers": (adam, powers, [[], [0.7, 0.9, 0.01, True]], (5,)),
    "adagrad_step": (adagrad, weights(2, 1, []), [[], [0.01, 0.3, 0.2]], (4,)),
    "momentum_step": (momentum, weights(3, 0, []), [[], [0.5, 0.25], [0.5, 0.25, True, 0.3]], (4,)),
}
