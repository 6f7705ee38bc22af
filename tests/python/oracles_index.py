"""What the rows of core/op/formula/composites_index.go that write through indices should answer, in NumPy: a part of oracles.py,
which says what each entry means."""

from __future__ import annotations

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


def masked(x: Any, m: Any, v: Any) -> Any:
    y = x.copy()
    m = m.astype(bool)
    y[m] = v.ravel()[: m.sum()]
    return y


def read_nd(x: Any, i: Any, batch: int = 0) -> Any:
    return np.stack([read_nd(a, b, batch - 1) for a, b in zip(x, i)]) if batch else x[tuple(np.moveaxis(i, -1, 0))]


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
    "gather_nd": (read_nd, lambda: [floats(3, 4, 2), places(3, 3, 2, 2)], [[]], (1,)),
    "gather_nd/batches": (read_nd, lambda: [floats(3, 4, 2), places(2, 3, 4, 1)], [[0], [1], [2]], (1,)),
    "masked_fill": (lambda x, m, v: np.where(m, v, x), lambda: [floats(3, 4), rng.random((3, 4)) < 0.5, floats()], [[]], (1,)),
    "masked_scatter": (masked, lambda: [floats(3, 4), rng.random((3, 4)) < 0.5, floats(3, 4)], [[]], (1,)),
}  # fmt: skip
