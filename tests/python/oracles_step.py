"""What the steps of optimizers in core/op/formula/composites_loss.go should answer, in NumPy: a part of oracles.py, which says what each entry means."""

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


def means(g: Any, m: Any, v: Any, beta1: float, beta2: float) -> Any:
    return m + (1 - beta1) * (g - m), v + (1 - beta2) * (g**2 - v)


def adamw(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    first: Any,
    second: Any,
    largest: Any,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.01,
    ratio: float = 1.0,
) -> Any:
    """By the means without their bias, as in the article of Loshchilov and Hutter."""
    m, v = means(g, m, v, beta1, beta2)
    most = 0.0 if largest is None else np.maximum(largest, v)
    change = m / (1 - first) / (np.sqrt((v if largest is None else most) / (1 - second)) + epsilon)
    return x - rate * ratio * (decay * x + change), m, v, most


def adamax(
    x: Any, g: Any, m: Any, u: Any, rate: Any, first: Any, beta1: float = 0.9, beta2: float = 0.999, e: float = 1e-8
) -> Any:
    m, u = m + (1 - beta1) * (g - m), np.max([beta2 * u + e, np.abs(g)], axis=0)
    return x - rate * m / u / (1 - first), m, u


def adadelta(x: Any, g: Any, v: Any, w: Any, rate: Any, epsilon: float = 1e-6, rho: float = 0.95) -> Any:
    v = v + (1 - rho) * (g**2 - v)
    change = np.sqrt(w + epsilon) / np.sqrt(v + epsilon) * g
    return x - rate * change, v, w + (1 - rho) * (change**2 - w)


def rmsprop(
    x: Any, g: Any, v: Any, u: Any, rate: Any, m: Any, rho: float = 0.95, epsilon: float = 1e-6, share: float = 0.0
) -> Any:
    v = v + (1 - rho) * (g**2 - v)
    m = 0.0 if m is None else m + (1 - rho) * (g - m)
    u = share * u + rate * g / np.sqrt(v - m**2 + epsilon)
    return x - u, v, u, m


def lamb(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    first: Any,
    second: Any,
    decay: float = 0.01,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-6,
    always: bool = False,
) -> Any:
    m, v = means(g, m, v, beta1, beta2)
    change = m / (1 - first) / (np.sqrt(v / (1 - second)) + epsilon) + decay * x
    lengths = np.linalg.norm(x), np.linalg.norm(change)
    if (decay > 0 or always) and min(lengths) > 0:
        rate = rate * lengths[0] / lengths[1]
    return x - rate * change, m, v


def nadam(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    power: Any,
    second: Any,
    product: Any,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
    decay: float = 0.004,
) -> Any:
    """With the momentum of this step and the next one, as in the article of Dozat."""
    m, v = means(g, m, v, beta1, beta2)
    power, second = 0.96 * power, beta2 * second
    now, later = (beta1 * (1 - 0.5 * p**decay) for p in (power, 0.96 * power))
    product = product * now
    change = later * m / (1 - product * later) + (1 - now) * g / (1 - product)
    return x - rate * change / (np.sqrt(v / (1 - second)) + epsilon), m, v, power, second, product


def radam(
    x: Any,
    g: Any,
    m: Any,
    v: Any,
    rate: Any,
    first: Any,
    second: Any,
    rho: Any,
    beta1: float = 0.9,
    beta2: float = 0.999,
    epsilon: float = 1e-8,
) -> Any:
    """As in the article of Liu and others; rho is step * beta2**step / (1 - beta2**step)."""
    m, v = means(g, m, v, beta1, beta2)
    first, second = beta1 * first, beta2 * second
    rho = (rho * (beta2 - second) + second) / (1 - second)
    end = 2 / (1 - beta2) - 1
    n = end - 2 * rho
    change = m / (1 - first)
    if n > 5:
        change = change * np.sqrt((n - 4) * (n - 2) * end / ((end - 4) * (end - 2) * n) * (1 - second))
        change = change / (np.sqrt(v) + epsilon)
    return x - rate * change, m, v, first, second, rho


def rprop(
    x: Any,
    g: Any,
    old: Any,
    rate: Any,
    low: float = 1e-5,
    high: float = 50.0,
    smaller: float = 0.5,
    larger: float = 1.2,
) -> Any:
    rate = np.clip(np.select([g * old > 0, g * old < 0], [rate * larger, rate * smaller], rate), low, high)
    g = np.where(g * old < 0, 0, g)
    return x - np.sign(g) * rate, g, rate


def lars(
    x: Any,
    g: Any,
    v: Any,
    rate: Any,
    share: float = 0.9,
    factor: float = 0.001,
    decay: float = 0.0005,
    epsilon: float = 0.0,
) -> Any:
    lengths = np.linalg.norm(x), np.linalg.norm(g)
    if decay > 0 and min(lengths) > 0:
        rate = rate * factor * lengths[0] / (lengths[1] + decay * lengths[0] + epsilon)
    v = share * v + rate * (g + decay * x)
    return x - v, v


def rescaled(
    found: Any,
    scale: Any,
    good: Any,
    bad: Any,
    every: int = 2000,
    falls: int = 1,
    larger: float = 2.0,
    smaller: float = 0.5,
) -> Any:
    good, bad = (0, bad + 1) if found else (good + 1, 0)
    if found and bad == falls:
        scale, bad = max(scale * smaller, 1), 0
    elif not found and good == every:
        scale, good = scale * larger if scale * larger < 3.4e38 else scale, 0
    return scale, good, bad


def operands(states: str, *more: Any) -> Any:
    """x, a gradient, states, which are of any numbers (m) or positive (v), the rate, and what is behind it."""
    return lambda: [
        floats(3, 4),
        floats(3, 4),
        *(rng.uniform(0.1, 1, (3, 4)) if state == "v" else floats(3, 4) for state in states),
        np.array(0.1),
        *(np.array(a) if isinstance(a, float) else a() if a else None for a in more),
    ]


def loss_scale(found: bool, good: int, bad: int, scale: float = 1024.0) -> Any:
    return lambda: [np.array(found), np.array(scale), np.array(good, np.int32), np.array(bad, np.int32)]


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
    "sgd_step": (lambda x, g, rate: x - rate * g, operands(""), [[]]),
    "adamw_step": (adamw, operands("mv", 0.7, 0.9, None), [[], [0.8, 0.9, 0.01, 0.3, 0.5]]),
    "adamw_step/largest": (adamw, operands("mv", 0.7, 0.9, lambda: rng.uniform(0.1, 1, (3, 4))), [[], [0.8, 0.5]]),
    "adamax_step": (adamax, operands("mv", 0.7), [[], [0.5, 0.8, 0.1]]),
    "adadelta_step": (adadelta, operands("vv"), [[], [0.1, 0.7]]),
    "rmsprop_step": (rmsprop, operands("vm", None), [[], [0.5, 0.01, 0.9]]),
    "rmsprop_step/centered": (
        rmsprop,
        lambda: [*operands("vm")()[:2], np.full((3, 4), 4.0), floats(3, 4), np.array(0.1), rng.uniform(-1, 1, (3, 4))],
        [[], [0.9, 0.01, 0.9]],
    ),
    "lamb_step": (lamb, operands("mv", 0.7, 0.9), [[], [0.0, 0.5, 0.9], [0.0, 0.9, 0.999, 0.01, True]]),
    "lamb_step/zero": (
        lamb,
        lambda: [np.zeros((3, 4)), *operands("mv", 0.7, 0.9)()[1:4], *operands("", 0.7, 0.9)()[2:]],
        [[]],
        (0, 1, 2, 3, 4, 5, 6),
    ),
    "nadam_step": (nadam, operands("mv", 0.9, 0.8, 0.7), [[], [0.8, 0.9, 0.01, 0.5]]),
    "radam_step": (radam, operands("mv", 0.7, 0.9, 900.0), [[], [0.8, 0.9, 0.01]]),
    "radam_step/known": (radam, operands("mv", 0.7, 0.9, 5.0), [[], [0.8, 0.99, 0.01]]),
    "rprop_step": (rprop, operands("m"), [[], [0.06, 0.11]]),
    "rprop_step/each": (
        rprop,
        lambda: [*operands("m")()[:3], rng.uniform(0.1, 1, (3, 4))],
        [[], [1e-5, 50.0, 0.1, 3.0]],
    ),
    "asgd_step": (lambda x, g, d, y, rate, n: (x - rate / n * (d - y + g), d - y + g), operands("mm", 3.0), [[]]),
    "lars_momentum_step": (lars, operands("m"), [[], [0.5, 0.1, 0.0], [0.5, 0.1, 0.3, 0.01]]),
    "clip_by_norm": (
        lambda x, most=1.0: x if np.linalg.norm(x) <= most else x * most / np.linalg.norm(x),
        lambda: [floats(3, 4)],
        [[], [0.5], [100.0]],
    ),
    "check_finite_and_unscale": (
        lambda x, scale: (x / scale, not np.isfinite(x).all()),
        lambda: [floats(3, 4), np.array(4.0)],
        [[]],
    ),
    "check_finite_and_unscale/infinite": (
        lambda x, scale: (x / scale, not np.isfinite(x).all()),
        lambda: [np.array([1.0, rng.choice([np.inf, -np.inf, np.nan]), 2.0]), np.array(4.0)],
        [[]],
        (0, 1),
    ),
    "update_loss_scaling": (rescaled, loss_scale(False, 3, 1), [[], [4], [4, 2, 3.0]], (0, 1, 2, 3)),
    "update_loss_scaling/bad": (
        rescaled,
        loss_scale(True, 3, 1),
        [[], [4, 2], [4, 2, 2.0, 0.25], [4, 2, 2.0, 1e-4]],
        (0, 1, 2, 3),
    ),
    "update_loss_scaling/largest": (rescaled, loss_scale(False, 3, 1, 2e38), [[4]], (0, 1, 2, 3), None, ()),
}
