"""Gather* and Scatter* of ONNX with random indices from -2n to 2n - 1, against NumPy.

An index from -n to n - 1 has the answer of the standard; with any other the call raises, and never reads or writes another element.
"""

from __future__ import annotations

import collections
import contextlib
import random
from typing import Any, NamedTuple

import numpy as np
import onnx_files
import pytest

import paddle_mps as paddle

OPERATORS = ("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND")
SEEDS = range(40)
REDUCE = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


class Case(NamedTuple):
    """A node: x, indices, updates or None, and attributes. sizes are those of the axes that indices count, aligned with indices."""

    operator: str
    x: Any
    indices: Any
    updates: Any
    attributes: dict[str, Any]
    sizes: Any

    @property
    def inside(self) -> bool:
        """Whether every index is one of the standard."""
        return bool(((self.indices >= -self.sizes) & (self.indices < self.sizes)).all())


def shape_of(rng: random.Random, least: int = 1) -> list[int]:
    return [rng.choice([1, 2, 3, 5]) for _ in range(rng.randint(least, 4))]


def case(operator: str, seed: int) -> Case:
    """Random operands. About half of the cases have only indices of the standard, a quarter one other, and a quarter any number."""
    rng, numbers = random.Random(f"{operator} {seed}"), np.random.default_rng(seed)
    x = numbers.integers(-9, 10, shape_of(rng)).astype(rng.choice(["float32", "int64", "int32"]))
    attributes: dict[str, Any] = {}
    if operator.endswith("ND"):
        batch = rng.randrange(x.ndim) if operator == "GatherND" else 0
        if batch:
            attributes["batch_dims"] = batch
        count = rng.randint(1, x.ndim - batch)
        shape = [*x.shape[:batch], *shape_of(rng, 0)[:2], count]
        sizes = np.array(x.shape[batch : batch + count])
    else:
        axis = rng.randrange(x.ndim)
        attributes["axis"] = axis - rng.choice([0, x.ndim])
        sizes = np.array(x.shape[axis])
        shape = shape_of(rng, 0)[:2] if operator == "Gather" else [rng.randint(1, n) for n in x.shape]
    indices = drawn(rng, numbers, shape, sizes)
    updates = None
    if operator.startswith("Scatter"):
        rest = x.shape[indices.shape[-1] :] if operator == "ScatterND" else ()
        shape = [*indices.shape[:-1], *rest] if operator == "ScatterND" else indices.shape
        updates = numbers.integers(-9, 10, shape).astype(x.dtype)
        if operator != "Scatter" and (reduction := rng.choice(["none", "none", *REDUCE])) != "none":
            attributes["reduction"] = reduction
    return Case(operator, x, indices, updates, attributes, sizes)


def drawn(rng: random.Random, numbers: Any, shape: list[int], sizes: Any) -> Any:
    within = rng.random() < 0.75
    low, high = (-sizes, sizes) if within else (-2 * sizes, 2 * sizes)
    indices = numbers.integers(low, high, shape).astype(rng.choice(["int64", "int32"]))
    if indices.size and within and rng.random() < 0.35:  # one beside the range
        at = tuple(rng.randrange(n) for n in indices.shape)
        size = int(np.broadcast_to(sizes, indices.shape)[at])
        indices[at] = rng.choice([-size - 1, size, -2 * size, 2 * size - 1 if size > 1 else size])
    return indices


def writes(case: Case) -> list[tuple[Any, Any]]:
    """What a Scatter* writes in order: a place of x and its value."""
    if case.operator == "ScatterND":
        return [(tuple(case.indices[at]), case.updates[at]) for at in np.ndindex(case.indices.shape[:-1])]
    axis = case.attributes["axis"] % case.x.ndim
    return [
        ((*at[:axis], case.indices[at], *at[axis + 1 :]), case.updates[at]) for at in np.ndindex(case.indices.shape)
    ]


def expected(case: Case) -> Any:
    """The answer of the standard, with the last of several writes to one place."""
    x, indices = case.x, case.indices
    axis = case.attributes.get("axis", 0) % x.ndim
    if case.operator == "Gather":
        return np.take(x, indices, axis=axis)
    if case.operator == "GatherElements":
        grid = list(np.indices(indices.shape))
        grid[axis] = indices
        return x[tuple(grid)]
    if case.operator == "GatherND":
        batch = case.attributes.get("batch_dims", 0)
        out = np.zeros([*indices.shape[:-1], *x.shape[batch + indices.shape[-1] :]], x.dtype)
        for at in np.ndindex(indices.shape[:-1]):
            out[at] = x[(*at[:batch], *indices[at])]
        return out
    out = x.copy()
    reduce = REDUCE.get(case.attributes.get("reduction", "none"))
    for place, value in writes(case):
        out[place] = value if reduce is None else reduce(out[place], value)
    return out


def run(case: Case, how: str, place: str) -> Any:
    """The answer of the library; how says whether the indices are an input or a constant of the file."""
    elem = {"float32": "float", "int64": "int64", "int32": "int32"}
    operands = {"x": case.x, "indices": case.indices} | ({} if case.updates is None else {"updates": case.updates})
    given = {name: a for name, a in operands.items() if how == "input" or name != "indices"}
    node = onnx_files.node(case.operator, list(operands), ["y"], **case.attributes)
    data = onnx_files.model(
        [node],
        [onnx_files.port(name, elem[str(a.dtype)], a.shape) for name, a in given.items()],
        [onnx_files.port("y", elem[str(case.x.dtype)], None)],
        [] if how == "input" else [onnx_files.weight("indices", case.indices)],
        opset=9 if case.operator == "Scatter" else 18,
    )
    return paddle.onnx.load(data, place)(**given).numpy()


def verdict(case: Case, how: str, place: str) -> str:
    try:
        got = run(case, how, place)
    except (IndexError, ValueError):
        with contextlib.suppress(IndexError, ValueError):
            paddle.device.synchronize(place)  # which tells of an error too, to the test after this one
        return "raised" if not case.inside else "raised where there is an answer"
    if not case.inside:
        return "an answer where it has to raise"
    want = expected(case)
    return "right" if got.shape == want.shape and (got == want).all() else "wrong"


@pytest.mark.parametrize("how", ["input", "constant"])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_indices(operator: str, how: str, place: str, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [case(operator, seed) for seed in SEEDS]
    found: collections.Counter[str] = collections.Counter()
    for seed, one in enumerate(cases):
        says = verdict(one, how, place)
        found[says] += 1
        assert says in ("right", "raised"), (operator, seed, says, one)
    assert found["right"] >= 10 and found["raised"] >= 10, found
    with capsys.disabled():
        print(f"\n{operator}, indices as {how}, {place}: {found['right']} right, {found['raised']} raised, 0 wrong")
