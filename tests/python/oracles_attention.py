"""What the rows of core/op/formula/composites_attention.go should answer, in NumPy: a part of oracles.py, which says what each entry means."""

from __future__ import annotations

from typing import Any

import numpy as np

rng = np.random.default_rng(59)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def turned(x: Any, cos: Any, sin: Any, positions: Any, part: int = 0, interleaved: bool = False) -> Any:
    """Pair by pair, as products of complex numbers."""
    n, y = part or x.shape[3], np.array(x)
    if positions is not None and positions.size == 1:
        positions = np.broadcast_to(positions.reshape([]) + np.arange(x.shape[2]), (len(x), x.shape[2]))
    for b, h, t, i in np.ndindex(*x.shape[:3], n // 2):
        at = (b % len(cos), t) if positions is None else (positions[b, t],)
        first, second = (2 * i, 2 * i + 1) if interleaved else (i, i + n // 2)
        z = (x[b, h, t, first] + 1j * x[b, h, t, second]) * (cos[at][i] + 1j * sin[at][i])
        y[b, h, t, first], y[b, h, t, second] = z.real, z.imag
    return y


def by_token(q: Any, k: Any, v: Any, state: Any, decay: Any, beta: Any, scale: float = 1.0) -> Any:
    """Head by head, token by token."""
    batch, heads, tokens, size = q.shape
    shared, width = v.shape[1], v.shape[3]
    s = np.zeros((batch, shared, size, width)) if state is None else np.array(state)
    y = np.zeros((batch, heads, tokens, width))
    for b, h, t in np.ndindex(batch, shared, tokens):
        if decay is not None:
            s[b, h] *= np.exp(decay[b, h, t])[:, None]
        value = v[b, h, t]
        if beta is not None:
            value = beta[b, h % beta.shape[1], t] * (value - k[b, h, t] @ s[b, h])
        s[b, h] += np.outer(k[b, h, t], value)
        each = heads // shared
        y[b, h * each : (h + 1) * each, t] = scale * q[b, h * each : (h + 1) * each, t] @ s[b, h]
    return y, s


def cached(positions: Any) -> Any:
    return lambda: [floats(2, 3, 4, 6), floats(9, 3), floats(9, 3), positions]


def states(state: bool, decay: bool, beta: bool) -> Any:
    """Operands of linear_attention."""
    return lambda: [
        floats(1, 4, 3, 2), floats(1, 2, 3, 2), floats(1, 2, 3, 5), floats(1, 2, 2, 5) if state else None,
        floats(1, 2, 3, 1 + state) if decay else None, floats(1, 1 + state, 3, 1) if beta else None,
    ]  # fmt: skip


ORACLES: dict[str, tuple[Any, ...]] = {
    "rotary_embedding": (
        turned, cached(np.array([[0, 1, 2, 3], [8, 5, 5, 2]])), [[], [4], [4, True], [0, True]], (3,),
    ),
    "rotary_embedding/first": (turned, cached(np.array([3])), [[], [2, True]], (3,)),
    "rotary_embedding/places": (
        turned, lambda: [floats(2, 3, 4, 6), floats(2, 4, 3), floats(2, 4, 3), None], [[], [4, True]],
    ),
    "linear_attention": (by_token, states(True, True, True), [[0.5]]),
    "linear_attention/gated": (by_token, states(False, True, False), [[]]),
    "linear_attention/delta": (by_token, states(False, False, True), [[2.0]]),
    "linear_attention/plain": (by_token, states(True, False, False), [[]]),
}  # fmt: skip
