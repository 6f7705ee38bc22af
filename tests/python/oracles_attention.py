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

CURVES: dict[str, Any] = {
    "relu": lambda x, a, b: np.maximum(x, 0), "tanh": lambda x, a, b: np.tanh(x), "sigmoid": lambda x, a, b: 1 / (1 + np.exp(-x)),
    "softplus": lambda x, a, b: np.log1p(np.exp(x)), "softsign": lambda x, a, b: x / (1 + np.abs(x)), "affine": lambda x, a, b: a * x + b,
    "leakyrelu": lambda x, a, b: np.where(x < 0, a * x, x), "thresholdedrelu": lambda x, a, b: np.where(x > a, x, 0),
    "scaledtanh": lambda x, a, b: a * np.tanh(b * x), "hardsigmoid": lambda x, a, b: np.clip(a * x + b, 0, 1),
    "elu": lambda x, a, b: np.where(x < 0, a * np.expm1(x), x),
}  # fmt: skip
USUAL = {"affine": (1, 0), "leakyrelu": (0.01, 0), "thresholdedrelu": (1, 0), "scaledtanh": (1, 1), "hardsigmoid": (0.2, 0.5), "elu": (1, 0)}


def stepped(
    x: Any, w: Any, h: Any, c: Any, bias: Any, peephole: Any, lengths: Any, scale: Any, zero: Any, kind: str = "lstm",
    names: str = "sigmoid,tanh,tanh", alpha: Any = None, beta: Any = None, clip: float = 0.0, linear: bool = False,
    coupled: bool = False, reverse: bool = False,
) -> Any:  # fmt: skip
    """Example by example, step by step, by the equations of ONNX."""
    (steps, batch, _), hidden = x.shape, h.shape[1]
    out, last, cells = np.zeros((steps, batch, hidden)), np.array(h), np.array(h if c is None else c)

    def curve(i: int, v: Any, bounded: bool = True) -> Any:
        name = names.split(",")[i]
        a, b = (given[i] if given is not None and i < len(given) else USUAL.get(name, (0, 0))[k] for k, given in enumerate((alpha, beta)))
        return CURVES[name](np.clip(v, -clip, clip) if clip and bounded else v, a, b)

    for n in range(batch):
        count = steps if lengths is None else int(lengths[n])
        for t in range(count)[:: -1 if reverse else 1]:
            state, cell = last[n], cells[n]
            parts = np.split(x[t, n], {"rnn": 1, "gru": 3, "lstm": 4}[kind])
            made = np.split(state @ w + (0 if bias is None else bias), len(parts))
            if kind == "rnn":
                last[n] = curve(0, parts[0] + made[0])
            elif kind == "gru":
                z, r = curve(0, parts[0] + made[0]), curve(0, parts[1] + made[1])
                third = r * made[2] if linear else (r * state) @ w[:, 2 * hidden :]
                last[n] = (1 - z) * curve(1, parts[2] + third) + z * state
            else:
                i, o, f, g = (p + m for p, m in zip(parts, made))
                pi, po, pf = (0, 0, 0) if peephole is None else np.split(peephole, 3)
                i = curve(0, i + pi * cell)
                f = 1 - i if coupled else curve(0, f + pf * cell)
                cells[n] = f * cell + i * curve(1, g)
                last[n] = curve(0, o + po * cells[n]) * curve(2, cells[n], False)
            out[t, n] = last[n]
    return out, last, cells if kind == "lstm" else last


def layer(gates: int, bias: bool, peephole: bool, lengths: Any) -> Any:
    """Operands of recurrent."""
    return lambda: [
        floats(4, 2, 3 * gates), 0.5 * floats(3, 3 * gates), floats(2, 3), floats(2, 3) if gates == 4 else None,
        floats(3 * gates) if bias else None, floats(9) if peephole else None, lengths, None, None,
    ]  # fmt: skip


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
    "recurrent": (
        stepped, layer(4, False, True, np.array([4, 2])),
        [[], ["lstm", "hardsigmoid,softsign,scaledtanh", [0.25], None, 0.8], ["lstm", "sigmoid,affine,tanh", [0.0, 0.5], [0.0, 0.2], 0.0, False, True, True]],
        (6,),
    ),
    "recurrent/gru": (
        stepped, layer(3, True, False, np.array([1, 4])),
        [["gru", "sigmoid,elu", None, None, 0.0, True], ["gru", "softplus,leakyrelu", [0.0, 0.3], None, 1.5, True, False, True]], (6,),
    ),
    "recurrent/reset": (stepped, layer(3, False, False, None), [["gru", "sigmoid,tanh"], ["gru", "sigmoid,relu", None, None, 0.0, False, False, True]]),
    "recurrent/rnn": (stepped, layer(1, False, False, None), [["rnn", "tanh"], ["rnn", "thresholdedrelu", [0.1], None, 0.9, False, False, True]]),
    "linear_attention": (by_token, states(True, True, True), [[0.5]]),
    "linear_attention/gated": (by_token, states(False, True, False), [[]]),
    "linear_attention/delta": (by_token, states(False, False, True), [[2.0]]),
    "linear_attention/plain": (by_token, states(True, False, False), [[]]),
}  # fmt: skip
