"""What a call of each operator costs a Python program, on 8 elements, in the spellings that programs use.

Functions that are generated from the table of operators are called with operands by position, with all arguments by name,
and as methods of Tensor; calls.txt has the spellings of all others. A figure is processor time, the least of several
rounds: a busy machine changes that least. What takes more than the bar is printed, and how many do; the exit status is 1
if one of them has no reason in calls.txt. Arguments are names of operators; none for all. With -v every call is printed.
"""

from __future__ import annotations

import itertools
import pathlib
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy as np

import paddle_mps as paddle
from paddle_mps import _operators, _ops
from paddle_mps.nn import _generated
from paddle_mps.selftest.domains import GENERATORS
from paddle_mps.selftest.suite import TABLE

ROUNDS, CALLS = 9, 300
BAR = 2500  # nanoseconds
SPELLINGS = pathlib.Path(__file__).with_suffix(".txt")


class Call(NamedTuple):
    """A call of an operator."""

    row: str
    spelling: str
    run: Callable[[], Any]
    reason: str = ""  # why it may take longer than the bar


def put(x: Any, key: Any, value: Any) -> None:
    """x[key] = value, as an expression."""
    x[key] = value


def names() -> dict[str, Any]:
    """What expressions of calls.txt see."""
    tensor = paddle.to_tensor
    x = paddle.linspace(0.1, 0.9, 8)
    images, lines = x.reshape([1, 2, 2, 2]), x.reshape([1, 2, 4])
    pooled = paddle.nn.functional.max_pool2d(images, 2, return_mask=True)
    found = {
        "x": x, "y": paddle.linspace(0.9, 0.2, 8), "s": tensor(-1.0), "o": paddle.ones([1]), "k": paddle.arange(8), "l": paddle.arange(1, 9), "m": x > 0.5,
        "X": x.reshape([2, 4]), "Y": x.reshape([4, 2]), "M": (x > 0.5).reshape([2, 4]), "W": x.reshape([1, 8]),
        "x4": x.reshape([1, 1, 8]), "x3": x[:6].reshape([1, 1, 6]), "w4": paddle.ones([2, 8]), "w3": paddle.ones([2, 6]),
        "state": paddle.ones([1, 2]),
        "i": tensor([3, 1]), "j": tensor([1, 0]), "v": tensor([1.0, 2.0]), "w": paddle.ones([4]), "b": paddle.zeros([4]),
        "I": images, "L": lines, "A": x.reshape([1, 2, 1, 4]), "K": paddle.ones([1, 2, 1, 1]), "T": paddle.ones([2, 1, 1, 1]),
        "N": paddle.ones([1, 2, 1]), "P": pooled[0], "Q": pooled[1], "q": paddle.arange(8).cast("int8").reshape([2, 4]),
        "r": paddle.ones([4, 2], dtype="int8"), "boxes": paddle.ones([1, 2, 4]), "scores": paddle.ones([1, 1, 2]),
        "p8": paddle.ones([1, 1, 2, 4], dtype="int8"), "w8": paddle.ones([1, 1, 1, 1], dtype="int8"),
    }  # fmt: skip
    return {**found, "paddle": paddle, "F": paddle.nn.functional, "O": _operators, "put": put}


def spelled() -> Iterator[Call]:
    """The calls of calls.txt."""
    scope = names()
    for line in SPELLINGS.read_text().splitlines():
        if line and not line.startswith("#"):
            row, expression, *reason = [part.strip() for part in line.split(" |")]
            yield Call(row, expression, eval(f"lambda: {expression}", scope), *reason)


def generated() -> Iterator[Call]:
    """The calls of functions that are generated."""
    for row in TABLE:
        for module in (_ops, _generated):
            function = getattr(module, row["name"], None)
            if row["name"] in module.__all__ and function is not None:
                yield from ways(row, function)


def ways(row: dict[str, Any], function: Callable[..., Any]) -> Iterator[Call]:
    """The ways to call a function: operands by position, everything by name, and a method."""
    name, dtype = row["name"], "float32" if "float32" in row["dtypes"] else row["dtypes"][-1]
    operands = {}
    for i, declared in enumerate(row["inputs"]):
        kind = "bool" if declared["domain"] == "condition" else dtype
        shape = (8,) if row["kind"] == "product" else (2, 4)
        array = GENERATORS[declared["domain"]](kind, shape, f"{name}{i}")
        operands[declared["name"]] = paddle.to_tensor(array, dtype=kind)
    first, *rest = operands.values()
    setting = row.get("settings", [{}])[-1]
    given = {a["name"]: setting.get(a["name"], a["default"]) for a in row["attrs"]}
    given = {n: v for n, v in given.items() if v is not None and not (n == "dtype" and isinstance(v, int))}
    text = ", ".join([*(f"{n}={n}" for n in operands), *(f"{n}={v!r}" for n, v in given.items())])
    yield Call(name, f"{name}({', '.join(operands)})", lambda: function(first, *rest))
    yield Call(name, f"{name}({text})", lambda: function(**operands, **given))
    if hasattr(paddle.Tensor, name):
        method = getattr(first, name)
        yield Call(name, f"x.{name}({', '.join([*operands][1:])})", lambda: method(*rest))


def least(call: Callable[[], Any]) -> float:
    """Nanoseconds of processor time that a call takes."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.thread_time_ns()
        for _ in itertools.repeat(None, CALLS):
            call()
        best = min(best, (time.thread_time_ns() - begun) / CALLS)
    return best


def main(arguments: list[str]) -> int:
    wanted = [a for a in arguments if a != "-v"]
    unknown = sorted(set(wanted) - {row["name"] for row in TABLE})
    if unknown:
        print(f"calls.py: got {', '.join(unknown)}; want names of operators, as in docs/ops.md", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")  # of NumPy, about values for tests
    calls = [c for c in [*generated(), *spelled()] if not wanted or c.row in wanted]
    with np.errstate(all="ignore"):
        times = sorted([(least(c.run), c.row, c) for c in calls], key=lambda t: -t[0])
    above = [(ns, call) for ns, _, call in times if ns > BAR]
    for ns, row, call in times if "-v" in arguments else [(ns, c.row, c) for ns, c in above]:
        print(f"{row:<20}{ns:>8.0f} ns  {call.spelling}{f'  ({call.reason})' if call.reason else ''}")
    missed = sum(not call.reason for _, call in above)
    print(
        f"{len(times)} calls of {len({row for _, row, _ in times})} operators: {len(above)} take more than {BAR} ns, {missed} of them without a reason"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
