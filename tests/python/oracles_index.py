"""What the rows of core/op/formula/composites_index.go that read and write through indices, or sort, and some others, should answer, in NumPy: a part of oracles.py,
which says what each entry means."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

rng = np.random.default_rng(53)


def floats(*shape: int) -> Any:
    return rng.standard_normal(shape)


def places(n: int, *shape: int) -> Any:
    return rng.integers(-n, n, shape)


JOINS: dict[str, Any] = {
    "assign": lambda old, new: new[-1],
    "add": lambda old, new: sum([*old, *new]),
    "mean": lambda old, new: sum([*old, *new]) / len([*old, *new]),
    "multiply": lambda old, new: np.prod([*old, *new], 0),
    "minimum": lambda old, new: np.min([*old, *new], 0),
    "maximum": lambda old, new: np.max([*old, *new], 0),
}


def joined(x: Any, writes: list[tuple[Any, Any]], how: str, include: bool = True) -> Any:
    """Place by place, with all that is written there."""
    y, at = x.copy(), dict[Any, list[Any]]()
    for place, value in writes:
        at.setdefault(tuple(p % n for p, n in zip(place, x.shape)), []).append(value)
    for place, values in at.items():
        y[place] = JOINS[how]([x[place]] if include else [], values)
    return y


def put_along(x: Any, i: Any, v: Any, axis: int = 0, how: str = "assign", include: bool = True) -> Any:
    v = np.broadcast_to(v, i.shape)
    axis %= x.ndim
    return joined(x, [((*p[:axis], i[p], *p[axis + 1 :]), v[p]) for p in np.ndindex(*i.shape)], how, include)


def put_slices(x: Any, i: Any, v: Any, overwrite: bool = True) -> Any:
    if not i.ndim:
        return joined(x, [((i,), v)], "assign")
    return joined(x, [((p,), v[k]) for k, p in enumerate(i)], "assign" if overwrite else "add", False)


def put_nd(x: Any, i: Any, v: Any, how: str = "assign") -> Any:
    return joined(x, [(tuple(i[p]), v[p]) for p in np.ndindex(*i.shape[:-1])], how)


POOLS: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min}


def pooled(values: Any, index: Any, how: str, n: int) -> Any:
    """The values of each of n numbers, joined."""
    y = np.zeros((n, *values.shape[1:]))
    for i in range(n):
        if (index == i).any():
            y[i] = POOLS[how](values[index == i], axis=0)
    return y


def sent(x: Any, y: Any, how: str) -> Any:
    """What edges send."""
    return {"add": x + y, "sub": x - y, "mul": x * y, "div": x / (y + 1e-12)}[how]


def edge_messages(x: Any, y: Any, i: Any, j: Any, message: str = "add", how: str = "sum", n: int = 0) -> Any:
    return pooled(sent(x[i], y if y.ndim > 1 else y[:, None], message), j, how, n or len(x))


def masked(x: Any, m: Any, v: Any) -> Any:
    y = x.copy()
    m = m.astype(bool)
    y[m] = v.ravel()[: m.sum()]
    return y


def turned(x: Any, lengths: Any, batch: int = 1, time: int = 0) -> Any:
    """Each sequence with its first elements the other way round."""
    y = x.swapaxes(0, batch).copy()
    for line, n in zip(y, lengths):
        line[:n] = line[:n][::-1].copy()
    return y.swapaxes(0, batch)


def read_nd(x: Any, i: Any, batch: int = 0) -> Any:
    return np.stack([read_nd(a, b, batch - 1) for a, b in zip(x, i)]) if batch else x[tuple(np.moveaxis(i, -1, 0))]


def quantile(x: Any, q: Any = None, axis: int = -1, word: Any = "linear") -> Any:
    q = [0.5] if q is None else q
    found = np.quantile(x, q, axis, method=word, keepdims=True)
    return found if len(q) > 1 else found[0]


def searched(s: Any, v: Any, right: bool = False) -> Any:
    rows = np.broadcast_to(s, (*v.shape[:-1], s.shape[-1])).reshape(-1, s.shape[-1])
    side: Any = "right" if right else "left"
    return np.reshape([np.searchsorted(a, b, side) for a, b in zip(rows, v.reshape(len(rows), -1))], v.shape)


def multigammaln(x: Any, p: int = 1) -> Any:
    return sum(np.vectorize(math.lgamma)(x - i / 2) for i in range(p)) + p * (p - 1) / 4 * math.log(math.pi)


def alpha_dropped(x: Any, u: Any, p: float = 0.5) -> Any:
    limit = -1.0507009873554805 * 1.6732632423543772
    a = (1 - p + p * (1 - p) * limit**2) ** -0.5
    return a * np.where(u >= p, x, limit) - a * p * limit


def gumbel(x: Any, u: Any, temperature: float = 1.0, axis: int = -1) -> Any:
    e = np.exp((x - np.log(-np.log(u))) / temperature)
    return e / e.sum(axis, keepdims=True)


def tree_loss(x: Any, y: Any, w: Any, b: Any, table: Any, code: Any, classes: int = 2) -> Any:
    found = np.zeros((len(x), 1))
    longest = (2 * classes - 1).bit_length() - 1 if table is None else table.shape[1]
    for i, label in enumerate(y.ravel()):
        nodes = [] if table is None else [(n, c) for n, c in zip(table[i], code[i]) if n >= 0]
        at = label + classes
        while table is None and at > 1:
            nodes, at = [*nodes, (at // 2 - 1, at % 2)], at // 2
        scores = [np.clip(x[i] @ w[n] + (0 if b is None else b.ravel()[n]), -40, 40) for n, _ in nodes]
        found[i] = sum(np.log1p(np.exp(s)) - c * s for s, (_, c) in zip(scores, nodes)) + (
            longest - len(nodes)
        ) * np.log(2)
    return found


def most_frequent(x: Any, axis: int = -1) -> Any:
    def last(line: Any) -> int:
        values, counts = np.unique(line, return_counts=True)
        return int(np.flatnonzero(line == values[counts.argmax()])[-1])

    at = np.expand_dims(np.apply_along_axis(last, axis, x), axis)
    return np.take_along_axis(x, at, axis), at


def steps(*shape: int) -> Any:
    """Few different numbers, which halves have exactly."""
    return rng.integers(-3, 4, shape) / 2


WAYS = [how for how in JOINS if how != "assign"]

ORACLES: dict[str, tuple[Any, ...]] = {
    "put_along_axis": (
        put_along, lambda: [floats(4, 3), places(3, 2, 3), floats(2, 3)],
        [[], [1], *([0, how, include] for how in WAYS for include in (True, False)), [-1, "mean"]], (1,), "", ("float64",),
    ),
    "put_along_axis/number": (put_along, lambda: [floats(4, 3), places(4, 2, 3), floats()], [[], [0, "add"]], (1,)),
    "scatter": (put_slices, lambda: [floats(4, 3), places(4, 5), floats(5, 3)], [[], [False]], (1,), "", ("float64",)),
    "scatter/one": (put_slices, lambda: [floats(4, 3), places(4), floats(3)], [[], [False]], (1,)),
    "scatter_nd": (put_nd, lambda: [floats(3, 4, 2), places(3, 3, 2), floats(3, 2)], [[], *([how] for how in WAYS)], (1,), "", ("float64",)),
    "scatter_nd/elements": (put_nd, lambda: [floats(3, 4), places(3, 2, 3, 2), floats(2, 3)], [[], ["add"]], (1,), "", ("float64",)),
    "reverse_sequence": (turned, lambda: [floats(5, 3, 2), rng.integers(0, 6, 3)], [[], [1, 0]], (1,)),
    "reverse_sequence/rows": (turned, lambda: [floats(3, 5), rng.integers(0, 6, 3)], [[0, 1]], (1,)),
    "gather_nd": (read_nd, lambda: [floats(3, 4, 2), places(3, 3, 2, 2)], [[]], (1,)),
    "gather_nd/batches": (read_nd, lambda: [floats(3, 4, 2), places(2, 3, 4, 1)], [[0], [1], [2]], (1,)),
    "masked_fill": (lambda x, m, v: np.where(m, v, x), lambda: [floats(3, 4), rng.random((3, 4)) < 0.5, floats()], [[]], (1,)),
    "masked_scatter": (masked, lambda: [floats(3, 4), rng.random((3, 4)) < 0.5, floats(3, 4)], [[]], (1,)),
    "quantile": (
        quantile, lambda: [floats(3, 5)], [[], [[0.3], 0], *([[0.1, 0.8, 1.0], 1, how] for how in ("linear", "lower", "higher", "nearest", "midpoint"))],
        (), "", ("float64",),
    ),
    "searchsorted": (searched, lambda: [np.sort(steps(6)), steps(3, 4)], [[], [True]], (0, 1), "int64"),
    "searchsorted/lines": (searched, lambda: [np.sort(steps(3, 5)), steps(3, 4)], [[], [True]], (0, 1), "int64"),
    "isin": (lambda x, t, no=False: np.isin(x, t, invert=no), lambda: [steps(3, 4), steps(5)], [[], [True]], (0, 1), "bool"),
    "isin/many": (lambda x, t, no=False: np.isin(x, t, invert=no), lambda: [floats(3, 4).round(1), floats(7, 3).round(1)], [[], [True]], (0, 1), "bool", ("float64",)),
    "mode": (most_frequent, lambda: [steps(4, 6)], [[], [0]], (0,)),
    "mode/apart": (most_frequent, lambda: [floats(4, 6)], [[], [0]]),
    "roll": (
        lambda x, shifts, axis=None: np.roll(x, shifts if axis else shifts[0], axis and tuple(axis)),
        lambda: [floats(3, 4, 2)], [[[5]], [[-1], [1]], [[0], [0]], [[2, -7], [0, -2]]],
    ),
    "fftshift": (lambda x, a=None: np.fft.fftshift(x, a), lambda: [floats(3, 4, 5)], [[], [[0]], [[1, -1]]]),
    "ifftshift": (lambda x, a=None: np.fft.ifftshift(x, a), lambda: [floats(3, 4, 5)], [[], [[0]], [[1, -1]]]),
    "repeat_interleave": (np.repeat, lambda: [floats(3, 4, 2)], [[2], [3, 0], [2, 1], [4, -1], [1, -2]]),
    "sequence_mask": (
        lambda x, n=1, dtype=None: (np.arange(n) < x[..., None]).astype(dtype or "int64"), lambda: [rng.integers(0, 6, (3, 2))],
        [[5], [0]], (0,), "int64",
    ),
    "sequence_mask/floats": (
        lambda x, n=1, dtype=None: (np.arange(n) < x[..., None]).astype(dtype), lambda: [steps(4) + 1.5], [[3, "bool"]], (0,), "bool",
    ),
    "multiplex": (
        lambda i, *x: np.stack([x[k][row] for row, k in enumerate(i.ravel())]), lambda: [rng.integers(0, 3, (3, 1)), floats(4, 2), floats(4, 2), floats(4, 2)],
        [[]], (0,),
    ),
    "vecdot": (lambda x, y, a=-1: (x * y).sum(a), lambda: [floats(3, 4), floats(3, 4)], [[], [0]]),
    "vecdot/broadcast": (lambda x, y, a=-1: (x * y).sum(a), lambda: [floats(2, 3, 4), floats(4)], [[], [1]]),
    "matrix_power": (lambda x, n=1: np.linalg.matrix_power(x, n), lambda: [floats(2, 3, 3)], [[], [0], [2], [3], [7]], (), "", ("float64",)),
    "multigammaln": (multigammaln, lambda: [rng.uniform(2.5, 9, (3, 4))], [[], [2], [4]]),
    "shard_index": (
        lambda x, count=1, shards=1, shard=0, other=-1: np.where(x // -(-count // shards) == shard, x % -(-count // shards), other),
        lambda: [rng.integers(0, 20, (5, 1))], [[20, 3, 1], [20, 2, 0, 7]], (0,), "int64",
    ),
    "dropout": (
        lambda x, u, p=0.5, up=True: np.where(u >= p, x / (1 - p) if up else x, 0), lambda: [floats(3, 4), rng.random((3, 4))],
        [[], [0.3], [0.3, False]], (1,),
    ),
    "dropout/channels": (
        lambda x, u, p=0.5, up=True: np.where(u >= p, x / (1 - p), 0), lambda: [floats(3, 4, 2), rng.random((3, 4, 1))], [[]], (1,),
    ),
    "alpha_dropout": (alpha_dropped, lambda: [floats(3, 4), rng.random((3, 4))], [[], [0.2]], (1,)),
    "gumbel_softmax": (gumbel, lambda: [floats(3, 4), rng.uniform(0.1, 0.9, (3, 4))], [[], [0.5, 0]], (1,)),
    "rrelu": (lambda x, s: np.where(x < 0, x * s, x), lambda: [floats(3, 4), rng.random((3, 4))], [[]]),
    "hsigmoid_loss": (tree_loss, lambda: [floats(3, 4), rng.integers(0, 5, (3, 1)), floats(4, 4), floats(4), None, None], [[5]], (1,)),
    "hsigmoid_loss/paths": (
        tree_loss,
        lambda: [floats(2, 4), rng.integers(0, 5, 2), floats(6, 4), None, np.array([[0, 2, 5], [1, 3, -1]]), rng.integers(0, 2, (2, 3))],
        [[]], (1, 4, 5),
    ),
    "segment_pool": (
        lambda x, i, how="sum", n=0: pooled(x, i, how, n or len(x)),
        lambda: [floats(5, 3), np.array([0, 0, 2, 2, 2])],
        [[], ["mean", 3], ["max", 4], ["min"]],
        (1,),
    ),
    "send_u_recv": (
        lambda x, i, j, how="sum", n=0: pooled(x[i], j, how, n or len(x)),
        lambda: [floats(4, 3), np.array([0, 1, 3, 0, 2]), np.array([1, 1, 0, 3, 1])],
        [[], ["mean", 6], ["max"], ["min", 4]],
        (1, 2),
    ),
    "send_ue_recv": (
        edge_messages,
        lambda: [floats(4, 3), rng.uniform(0.5, 1, (5, 3)), np.array([0, 1, 3, 0, 2]), np.array([1, 1, 0, 3, 1])],
        [[], ["sub", "mean", 6], ["mul", "max"], ["div", "min", 4]],
        (2, 3),
    ),
    "send_ue_recv/numbers": (
        edge_messages,
        lambda: [floats(4, 3), rng.uniform(0.5, 1, 5), np.array([0, 1, 3, 0, 2]), np.array([1, 1, 0, 3, 1])],
        [["mul"], ["add", "max"]],
        (2, 3),
    ),
    "send_uv": (
        lambda x, y, i, j, how="add": sent(x[i], y[j], how),
        lambda: [floats(4, 3), rng.uniform(0.5, 1, (5, 1)), np.array([0, 1, 3, 0, 2]), np.array([4, 1, 0, 3, 1])],
        [[], ["sub"], ["mul"], ["div"]],
        (2, 3),
    ),
}  # fmt: skip
