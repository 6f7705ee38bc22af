"""What a call of each operator costs a Python program, on 8 elements, in the spellings that programs use.

Functions that are generated from the table of operators are called with operands by position, with all arguments by name,
and as methods of Tensor; calls.txt has the spellings of all others. A figure is processor time, the least of several
rounds: a busy machine changes that least. The bar is BAR times what x + y takes, which is measured beside each call in
every round, so that a change of the machine's speed hits both. What takes more is printed, and how many do; the exit
status is 1 if one of them has no reason in calls.txt. With -v every call is printed. Arguments are names of operators;
none for all.

A call that raises is left out, and printed, and counted: `bench pair -script` runs this script with an older library,
which lacks some names. The exit status is 1 then too.
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
from paddle_mps._calls import _operators
from paddle_mps._functional import _generated
from paddle_mps._maths import _ops
from paddle_mps.selftest.domains import GENERATORS
from paddle_mps.selftest.suite import TABLE

ROUNDS, CALLS = 15, 200
BAR = 2.2  # times what x + y takes
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
        "i": tensor([3, 1]), "j": tensor([1, 0]), "j0": tensor([0, 0]), "LR": paddle.ones([1, 2, 1]), "v": tensor([1.0, 2.0]), "w": paddle.ones([4]), "b": paddle.zeros([4]),
        "I": images, "S": x.reshape([1, 4, 1, 2]), "L": lines, "A": x.reshape([1, 2, 1, 4]), "K": paddle.ones([1, 2, 1, 1]), "T": paddle.ones([2, 1, 1, 1]),
        "G": images.reshape([1, 2, 2, 2]), "H": paddle.ones([1, 2, 3]),
        "N": paddle.ones([1, 2, 1]), "P": pooled[0], "Q": pooled[1], "q": paddle.arange(8).cast("int8").reshape([2, 4]),
        "lb": paddle.ones([2, 4, 4]), "bw": paddle.ones([3, 4, 4]), "j1": tensor([1.0, 2.0]), "ij": tensor([[0, 1], [1, 0]]), "r": paddle.ones([4, 2], dtype="int8"), "boxes": paddle.ones([1, 2, 4]), "scores": paddle.ones([1, 1, 2]),
        "c8": x.reshape([1, 8, 1, 1]), "hw": tensor([[8, 8]]), "n1": tensor([1]), "n2": tensor([2]), "tb": x.reshape([2, 1, 4]), "j11": tensor([[1]]), "j21": tensor([[1], [0]]), "jj": tensor([[[0, 1]], [[1, 0]]]),
        "p8": paddle.ones([1, 1, 2, 4], dtype="int8"), "w8": paddle.ones([1, 1, 1, 1], dtype="int8"),
    }  # fmt: skip
    functions = paddle.nn.functional
    # Generated calls that have a reason in calls.txt are spelled there as `ways` does. An older library lacks these functions.
    named = {name: getattr(functions, name, None) for name in ("hardshrink", "thresholded_relu")}
    return {**found, **named, "paddle": paddle, "F": functions, "O": _operators, "put": put}


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


def every() -> list[Call]:
    """All calls, each label once; those of calls.txt, which may have a reason, before those that are generated."""
    return list({label(c): c for c in [*generated(), *spelled()]}.values())


def ways(row: dict[str, Any], function: Callable[..., Any]) -> Iterator[Call]:
    """The ways to call a function: operands by position, everything by name, and a method."""
    name, dtype = row["name"], "float32" if "float32" in row["dtypes"] else row["dtypes"][-1]
    operands = {}
    for i, declared in enumerate(row["inputs"]):
        kind = "bool" if declared["domain"] == "condition" else dtype
        shape = (8,) if row["kind"] == "product" else (2, 4)
        array = GENERATORS[declared["domain"]](kind, shape, f"{name}{i}")
        operands[declared["name"]] = paddle.to_tensor(array, dtype=kind)
    setting = row.get("settings", [{}])[-1]
    given = {a["name"]: setting.get(a["name"], a["default"]) for a in row["attrs"]}
    given = {n: v for n, v in given.items() if v is not None and not (n == "dtype" and isinstance(v, int))}
    first, *rest = operands
    scope = {"function": function, **operands, **given}
    text = ", ".join([*(f"{n}={n}" for n in operands), *(f"{n}={v!r}" for n, v in given.items())])
    by_name = ", ".join(f"{n}={n}" for n in [*operands, *given])
    # As a program writes them: to unpack lists and dictionaries of arguments would take its own time.
    yield Call(name, f"{name}({', '.join(operands)})", eval(f"lambda: function({', '.join(operands)})", scope))
    yield Call(name, f"{name}({text})", eval(f"lambda: function({by_name})", scope))
    if hasattr(paddle.Tensor, name):
        method = f"{first}.{name}({', '.join(rest)})"
        yield Call(name, f"x.{name}({', '.join(rest)})", eval(f"lambda: {method}", scope))


class Time(NamedTuple):
    """What a call takes, and x + y beside it, in nanoseconds of processor time."""

    call: Call
    ns: float
    add: float

    @property
    def above(self) -> bool:
        return self.ns > BAR * self.add

    def row(self, width: int) -> str:
        """A row of the table. The bar may touch no number of it: `bench pair` reads the columns by where they end."""
        reason = f"  ({self.call.reason})" if self.call.reason else ""
        bar = f"{BAR * self.add:>10.0f} {'MISSED' if self.above else 'ok':<6}"
        return f"{label(self.call):<{width}}{self.ns:>10.0f}{bar}{self.ns / self.add:>8.2f} times x + y{reason}"


def label(call: Call) -> str:
    """What tells a call from all others; with single blanks, because two would end it."""
    return " ".join(f"{call.row}: {call.spelling}".split())


def once(call: Callable[[], Any]) -> float:
    """Nanoseconds of processor time that a call takes in one round."""
    begun = time.thread_time_ns()
    for _ in itertools.repeat(None, CALLS):
        call()
    return (time.thread_time_ns() - begun) / CALLS


def measure(calls: list[Call], add: Callable[[], Any]) -> list[Time]:
    """The least times. Each round goes through all calls, so that a machine that is busy for a while spoils one of a call's."""
    least = [(float("inf"), float("inf"))] * len(calls)
    for _ in range(ROUNDS):
        for i, call in enumerate(calls):
            ns, beside = least[i]
            least[i] = min(ns, once(call.run)), min(beside, once(add))
    return [Time(call, *times) for call, times in zip(calls, least)]


def running(calls: list[Call]) -> tuple[list[Call], list[str]]:
    """The calls that run, and what the others raise."""
    good, left_out = [], []
    for call in calls:
        try:
            call.run()
        except Exception as error:
            left_out.append(f"left out: {label(call)}: {type(error).__name__}: {' '.join(str(error).split())}")
        else:
            good.append(call)
    return good, left_out


def report(times: list[Time], left_out: list[str], verbose: bool) -> int:
    """Prints the table, the slowest first; the exit status."""
    above = [t for t in times if t.above]
    missed = sum(not t.call.reason for t in above)
    shown = sorted(times if verbose else above, key=lambda t: -t.ns / t.add)
    width = max((len(label(t.call)) for t in shown), default=0) + 2
    print(f"{'operator: call':<{width}}{'ns':>10}{'bar':>10}")
    for line in [*(t.row(width) for t in shown), *left_out]:
        print(line)
    print(
        f"{len(times)} calls of {len({t.call.row for t in times})} operators: {len(above)} take more than {BAR} times x + y, "
        f"{missed} of them without a reason; {len(left_out)} are left out"
    )
    return 1 if missed or left_out else 0


def main(arguments: list[str]) -> int:
    wanted = [a for a in arguments if a != "-v"]
    unknown = sorted(set(wanted) - {row["name"] for row in TABLE})
    if unknown:
        print(f"calls.py: got {', '.join(unknown)}; want names of operators, as in docs/ops.md", file=sys.stderr)
        return 2
    warnings.simplefilter("ignore")  # of NumPy, about values for tests
    x, y = paddle.arange(8, dtype="float32"), paddle.ones([8])
    with np.errstate(all="ignore"):
        calls, left_out = running([c for c in every() if not wanted or c.row in wanted])
        times = measure(calls, lambda: x + y)
    return report(times, left_out, "-v" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
