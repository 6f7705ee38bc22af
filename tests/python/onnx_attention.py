"""Attention of ONNX by the text of the standard of ONNX 1.23, query by query and key by key, in float64; and random operands for it."""

from __future__ import annotations

import math
import random
from typing import Any, NamedTuple

import numpy as np

EPS = 2.0**-24  # of float32


class Case(NamedTuple):
    """Operands in the order of the standard, None for those that are left out, and attributes."""

    operands: list[Any]
    attributes: dict[str, Any]

    def __str__(self) -> str:
        shapes = [None if x is None else (x.shape if i < 6 else x.tolist()) for i, x in enumerate(self.operands)]
        return f"{shapes} {self.attributes}"


def split(x: Any, heads: int | None) -> Any:
    """[batch, length, heads * size] as [batch, heads, length, size]."""
    if x.ndim == 4:
        return x
    return x.reshape(x.shape[0], x.shape[1], heads, -1).transpose(0, 2, 1, 3)


def sees(case: Case, b: int, i: int, j: int, n: int, past: int) -> bool:
    """Whether query i of n sees key j of a batch, as far as the attributes and the lengths say."""
    lengths, at = case.operands[6], case.attributes
    offset = past if lengths is None else int(lengths[b]) - n
    position = offset + i
    left, right = at.get("left_window_size", -1), at.get("right_window_size", -1)
    return (
        (lengths is None or j < lengths[b])
        and (not at.get("is_causal", 0) or j <= position)
        and (left < 0 or position - left <= j)
        and (right < 0 or j <= position + right)
    )


def attention(case: Case) -> tuple[Any, Any, Any, Any, Any]:
    """Y, all keys, all values, the result of qk_matmul_output_mode, and how far float32 may be from Y, element by element."""
    at = case.attributes
    q, k, v = (
        split(x, at.get(f"{name}_num_heads")).astype("float64") for x, name in zip(case.operands, ("q", "kv", "kv"))
    )
    mask, past_key, past_value = case.operands[3:6]
    past = 0
    if past_key is not None:
        past = past_key.shape[2]
        k, v = np.concatenate([past_key, k], 2), np.concatenate([past_value, v], 2)
    (batch, heads, n, size), m = q.shape, k.shape[2]
    scale, cap = at.get("scale", 1 / math.sqrt(size)), at.get("softcap", 0.0)
    y, bound = np.zeros((2, batch, heads, n, v.shape[3]))
    stages = np.zeros((4, batch, heads, n, m))
    if mask is not None:
        short = [(0, 0)] * (mask.ndim - 1) + [(0, m - mask.shape[-1])]
        mask = np.pad(mask, short, constant_values=False if mask.dtype == bool else -np.inf)
        mask = np.broadcast_to(mask, (batch, heads, n, m))
    for b, h, i in np.ndindex(batch, heads, n):
        other = h // (heads // k.shape[1])
        scores = k[b, other] @ q[b, h, i] * scale
        error = (size + 4) * EPS * (np.abs(k[b, other]) @ np.abs(q[b, h, i]) * scale).max()
        stages[0, b, h, i] = scores
        if cap:
            scores = cap * np.tanh(scores / cap)
            error += 8 * EPS * cap
        stages[1, b, h, i] = scores
        for j in range(m):
            if not sees(case, b, i, j, n, past):
                scores[j] = -np.inf
            if mask is not None:
                scores[j] += mask[b, h, i, j] if mask.dtype != bool else 0 if mask[b, h, i, j] else -np.inf
        stages[2, b, h, i] = scores
        if np.isneginf(scores).all():
            continue
        error += 2 * EPS * np.abs(scores[np.isfinite(scores)]).max()
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        stages[3, b, h, i] = weights
        y[b, h, i] = weights @ v[b, other]
        # Each weight is e**error off, and so is their sum; exp and the sums add roundings of their own.
        bound[b, h, i] = (2 * error + (2 * m + 16) * EPS) * np.abs(v[b, other]).max(0)
    shown = stages[at.get("qk_matmul_output_mode", 0)]
    if case.operands[0].ndim == 3:
        y, bound = (x.transpose(0, 2, 1, 3).reshape(batch, n, -1) for x in (y, bound))
    return y, k, v, shown, bound


def masked(rng: random.Random, numbers: Any, batch: int, heads: int, n: int, m: int, least: int) -> Any:
    """A mask of a random kind, rank and width, or None. The keys behind its end are not seen."""
    kind = rng.choice(["none", "bool", "float"])
    if kind == "none":
        return None
    shape = [rng.choice([1, batch]), rng.choice([1, heads]), rng.choice([1, n]), rng.randint(max(least, 1), m)]
    shape = shape[rng.randrange(4) :]
    seen = numbers.random(shape) < rng.choice([0.3, 0.8, 1])
    if kind == "bool":
        return seen
    return np.where(seen, numbers.standard_normal(shape), -np.inf).astype("float32")


def case(seed: int, *, windows: bool = True) -> Case:
    """Random operands: each form of the cache, of masks and of heads, with more queries than keys too."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    batch, others, group = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
    heads, n, m, size, width = (
        others * group,
        rng.randint(1, 5),
        rng.randint(1, 7),
        rng.randint(1, 4),
        rng.randint(1, 4),
    )
    cache = rng.choice(["none", "past", "lengths", "lengths"])
    past = rng.randint(0, 4) if cache == "past" else 0

    def normal(*shape: int) -> Any:
        return numbers.standard_normal(shape).astype("float32")

    flat = rng.random() < 0.5
    sides = [(heads, n, size), (others, m, size), (others, m, width)]
    operands = [normal(batch, length, h * d) if flat else normal(batch, h, length, d) for h, length, d in sides]
    attributes: dict[str, Any] = {"q_num_heads": heads, "kv_num_heads": others} if flat else {}
    lengths = numbers.integers(0, m + 1, batch) if cache == "lengths" else None
    least = int(lengths.max()) if lengths is not None else 1
    operands.append(masked(rng, numbers, batch, heads, n, past + m, least))
    if cache == "past":
        operands += [normal(batch, others, past, size), normal(batch, others, past, width), None]
    else:
        operands += [None, None, lengths]
    attributes["is_causal"] = rng.choice([0, 1, 1])
    if rng.random() < 0.3:
        attributes["softcap"] = rng.choice([0.5, 2.0])
    if rng.random() < 0.3:
        attributes["scale"] = rng.choice([0.25, 1.5])
    if windows and rng.random() < 0.4:
        attributes["left_window_size"] = rng.choice([-1, 0, 1, 3])
        attributes["right_window_size"] = rng.choice([-1, 0, 2])
    return Case(operands, attributes)
