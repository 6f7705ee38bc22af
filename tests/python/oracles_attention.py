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


def attended(
    q: Any, k: Any, v: Any, mask: Any, lengths: Any, scale: float = 1.0, softcap: float = 0.0, causal: bool = False,
    past: int = 0, left: int = -1, right: int = -1, opened: bool = False, stage: Any = None, precision: Any = None,
) -> Any:  # fmt: skip
    """Query by query: of the keys that it sees."""
    (batch, heads, n, _), (shared, m) = q.shape, k.shape[1:3]
    y, stages = np.zeros((*q.shape[:3], v.shape[3])), np.zeros((4, batch, heads, n, m))
    full = np.zeros((batch, heads, n, m))
    if mask is not None:
        added = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
        short = np.full((*added.shape[:-1], max(m - added.shape[-1], 0)), -np.inf)
        full = full + np.concatenate([added, short], -1)
    for b, h, i in np.ndindex(batch, heads, n):
        at = i + (past if lengths is None else lengths.reshape(-1)[b] - n)
        raw = scale * k[b, h // (heads // shared)] @ q[b, h, i]
        capped = softcap * np.tanh(raw / softcap) if softcap else raw
        seen = np.array([
            (not causal or j <= at) and (left < 0 or j >= at - left) and (right < 0 or j <= at + right)
            and (lengths is None or j < lengths.reshape(-1)[b]) for j in range(m)
        ])  # fmt: skip
        masked = np.where(seen, capped + full[b, h, i], -np.inf)
        weights = np.exp(masked - masked.max()) if masked.max(initial=-np.inf) > -np.inf else np.zeros(m)
        weights = weights / max(weights.sum(), 1e-300)
        y[b, h, i] = weights @ v[b, h // (heads // shared)]
        stages[:, b, h, i] = raw, capped, masked, weights
    return y if stage is None else (y, stages[stage])


def asked(mask: Any, lengths: Any, keys: int = 5) -> Any:
    """Operands of masked_attention."""
    return lambda: [floats(2, 4, 3, 2), floats(2, 2, keys, 2), floats(2, 2, keys, 3), mask, lengths]


SEEN = np.array([[True, False, True, True], [True] * 4, [True, True, False, True]])

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
    "masked_attention": (
        attended, asked(None, None), [[], [0.3, 0.0, True], [1.0, 2.0, True, 2], [1.0, 0.0, True, 1, 1], [1.0, 0.0, False, 1, 0, 1], [0.5, 0.0, False, 2, 0, 0]],
    ),
    "masked_attention/mask": (attended, asked(SEEN, None), [[], [1.0, 0.0, True], [0.3, 2.0, True, 1]], (3,)),
    "masked_attention/hidden": (attended, asked(SEEN & [[True], [False], [True]], None), [[], [1.0, 0.0, True], [0.3, 2.0, True, 1]], (0, 1, 2, 3, 4)),
    "masked_attention/added": (
        attended, lambda: [*asked(None, None)()[:3], floats(4, 3, 5), None], [[], [1.0, 0.0, True], [0.3, 2.0, True, 1, 2]],
    ),
    "masked_attention/lengths": (attended, asked(None, np.array([5, 3])), [[], [1.0, 0.0, True], [0.3, 2.0, False, 0, 1]], (4,)),
    "masked_attention_scores": (
        attended, asked(None, None), [[1.0, 0.0, False, 0, -1, -1, False, 0], [0.3, 2.0, False, 0, -1, -1, False, 1], [0.3, 2.0, True, 1, -1, -1, False, 3]],
    ),
    "linear_attention": (by_token, states(True, True, True), [[0.5]]),
    "linear_attention/gated": (by_token, states(False, True, False), [[]]),
    "linear_attention/delta": (by_token, states(False, False, True), [[2.0]]),
    "linear_attention/plain": (by_token, states(True, False, False), [[]]),
}  # fmt: skip
