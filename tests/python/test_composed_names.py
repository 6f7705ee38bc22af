"""Which names are still composed in Python: those of bench/functions.txt that call more than one operator, in composed_names.txt.

A function of one row translates its arguments and calls the row; then C, C++ and ONNX have it too. What needs several calls is
listed with what it calls and why. A name that is not listed fails, and so does a line that is out of date.
"""

from __future__ import annotations

import ast
import collections
import importlib.util
import json
import pathlib
import sys
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIST = pathlib.Path(__file__).with_name("composed_names.txt")
MOST = 300
ARGUMENTS = {
    "cast",
    "reshape",
    "flatten",
    "squeeze",
    "unsqueeze",
    "transpose",
}  # which give an argument another dtype or shape

spec = importlib.util.spec_from_file_location("bench_functions", ROOT / "bench" / "functions.py")
assert spec and spec.loader
bench: Any = importlib.util.module_from_spec(spec)
sys.modules["bench_functions"] = bench
spec.loader.exec_module(bench)


def scope() -> dict[str, Any]:
    """What the expressions of bench/functions.txt see, for 10,000 elements."""
    names: dict[str, Any] = {"np": np, "n": 10_000}
    exec(bench.SETUP, names)

    def put(x: Any, i: Any, y: Any) -> None:
        x[i] = y

    def add(x: Any, i: Any, y: Any) -> None:
        x[i] += y

    tensors = {k: paddle.to_tensor(v) for k, v in names["arrays"].items()}
    return {**names, **tensors, "paddle": paddle, "F": paddle.nn.functional, "put": put, "add": add}


def prepared(expression: str, names: dict[str, Any]) -> Callable[[], Any]:
    """The outermost call of an expression, whose arguments have been computed."""

    def value(node: ast.expr) -> Any:
        return eval(compile(ast.Expression(node), expression, "eval"), names)

    node = ast.parse(expression, mode="eval").body
    if not isinstance(node, ast.Call):
        return lambda: value(node)
    function, args = value(node.func), list[Any]()
    for a in node.args:
        args += value(a.value) if isinstance(a, ast.Starred) else [value(a)]
    options = {k.arg: value(k.value) for k in node.keywords if k.arg}
    return lambda: function(*args, **options)


def operators(run: Callable[[], Any], trace: pathlib.Path) -> list[str]:
    """The operators that a call makes."""
    profiler = paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.CPU], on_trace_ready=lambda p: None)
    profiler.start()
    run()
    profiler.stop()
    profiler.export(str(trace))
    events = json.loads(trace.read_text())["traceEvents"]
    return [e["name"] for e in events if e.get("ph") == "X" and e.get("cat") == "Operator"]


def listed() -> dict[str, tuple[str, str]]:
    lines = [x.split(" | ") for x in LIST.read_text().splitlines() if x and not x.startswith("#")]
    assert all(len(parts) == 3 and parts[2] for parts in lines), "a line is name | operators | reason"
    return {name: (calls, reason) for name, calls, reason in lines}


@pytest.mark.filterwarnings("ignore")
def test_names_that_are_composed_are_listed(tmp_path: pathlib.Path) -> None:
    names, found, looked = scope(), {}, 0
    for line in bench.TABLE.read_text().splitlines():
        name, bar, rest = line.partition(" | ")
        if not bar or line.startswith("#"):
            continue
        run = prepared(rest.split(" |")[0].strip(), names)
        run()  # what is made once is not counted
        calls = [c for c in operators(run, tmp_path / "trace.json") if c not in ARGUMENTS]
        looked += 1
        if len(calls) > 1:
            counted = collections.Counter(calls)
            found[name.rstrip("*")] = " ".join(f"{c}*{n}" if n > 1 else c for c, n in counted.items())
    assert looked > 450
    assert len(found) <= MOST
    assert found == {name: calls for name, (calls, _) in listed().items()}
