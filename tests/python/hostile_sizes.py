"""Calls of the public functions with sizes that no tensor has, one after the other: what test_sizes.py runs in a child.

    hostile_sizes.py FIRST [STEP OFFSET]     begins with case FIRST; a STEP takes each STEP-th case from OFFSET on

The cases are made of the expressions that tests/peers has recorded, in which each integer of each argument of each
function is replaced in turn, and of calls with one more argument, for the parameters that no expression gives.
Prints two lines for each case: JSON [number, source] before it, and [seconds of the processor, what came] after it.
"""

from __future__ import annotations

import ast
import copy
import inspect
import json
import pathlib
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

GUARD = 20  # seconds of the processor, after which SIGXCPU ends the process: Python's handlers do not run within a call
ROOM = 3 << 28  # bytes of address space beside those that the library takes
VALUES = (2**31, 2**63 - 1, -(2**31))
RECORDED = pathlib.Path(__file__).resolve().parents[1] / "peers" / "paddle_3_3_1.json"
# Parameters that are no sizes: what other arguments are made of, places and names.
OTHERS = set("name out x input y other dtype device place requires_grad pin_memory data obj path label".split())
SPACES = {
    "paddle": "paddle", "F": "paddle.nn.functional", "paddle.nn.functional": "paddle.nn.functional",
    "paddle.linalg": "paddle.linalg", "paddle.fft": "paddle.fft", "paddle.special": "paddle.special",
    "paddle.incubate.autograd": "paddle.incubate.autograd", "paddle.autograd": "paddle.autograd",
}  # fmt: skip
# Calls that make operands, change the process, or wait by design.
LEFT_OUT = set(
    "paddle.to_tensor paddle.tensor paddle.seed paddle.set_device paddle.set_printoptions .register_hook".split()
)


def called(node: ast.Call) -> str | None:
    """The function of a call, as "paddle.nn.functional.pad", or ".sum" for a method; None for one that is not ours."""
    f = node.func
    if not isinstance(f, ast.Attribute):
        return None
    owner = ast.unparse(f.value)
    if owner in SPACES:
        return f"{SPACES[owner]}.{f.attr}"
    foreign = owner.startswith(("np", "'", '"', "math", "(lambda")) or (owner.startswith("paddle") and "(" not in owner)
    return None if foreign else f".{f.attr}"


def integers(node: ast.AST) -> Iterator[tuple[int, ...]]:
    """The ways to the integers of an argument: () for one that is a number, (i,) for an element of a list."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Constant) and type(node.value) is int:
        yield ()
    elif isinstance(node, (ast.List, ast.Tuple)):
        for i, element in enumerate(node.elts):
            for way in integers(element):
                yield (i, *way)


def replaced(tree: ast.Module, at: int, slot: int | str, way: tuple[int, ...], value: int) -> str:
    """The source with the value in the place of an integer of call number `at`; a slot that is missing is added."""
    tree = copy.deepcopy(tree)
    node = [n for n in ast.walk(tree) if isinstance(n, ast.Call)][at]
    number: ast.expr = ast.Constant(value)
    if isinstance(slot, str) and slot not in [k.arg for k in node.keywords]:
        node.keywords.append(ast.keyword(slot, number))
        return ast.unparse(tree)
    keyword = next((k for k in node.keywords if k.arg == slot), None)
    holder: Any = node.args[slot] if isinstance(slot, int) else keyword.value  # type: ignore[union-attr]
    if not way:
        if isinstance(slot, int):
            node.args[slot] = number
        else:
            keyword.value = number  # type: ignore[union-attr]
        return ast.unparse(tree)
    for i in way[:-1]:
        holder = holder.elts[i]
    holder.elts[way[-1]] = number
    return ast.unparse(tree)


def parameters(paddle: Any, function: str) -> list[str]:
    """The names of the parameters of a function that may be sizes."""
    owner, _, name = function.rpartition(".")
    space: Any = paddle.Tensor if not owner else paddle
    for part in owner.split(".")[1:]:
        space = getattr(space, part)
    try:
        found = inspect.signature(getattr(space, name)).parameters.values()
    except (AttributeError, TypeError, ValueError):
        return []
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in found if p.kind in kinds and p.name not in OTHERS]


def cases(paddle: Any) -> list[str]:
    """The sources, in an order that does not change: the shortest expression for each integer of each argument."""
    sources: dict[tuple[Any, ...], tuple[ast.Module, int]] = {}
    calls: dict[str, tuple[ast.Module, int]] = {}
    given: dict[str, set[Any]] = {}
    answers = json.loads(RECORDED.read_text(encoding="utf-8"))["answers"]
    for text in sorted(answers, key=lambda s: ("exception" in answers[s], len(s), s)):
        tree = ast.parse(text)
        for at, node in enumerate(n for n in ast.walk(tree) if isinstance(n, ast.Call)):
            function = called(node)
            if function is None or function in LEFT_OUT or any(isinstance(a, ast.Starred) for a in node.args):
                continue
            calls.setdefault(function, (tree, at))
            slots: list[tuple[int | str, ast.expr]] = list(enumerate(node.args))
            slots += [(k.arg, k.value) for k in node.keywords if k.arg]
            for slot, value in slots:
                given.setdefault(function, set()).add(slot)
                for way in integers(value):
                    sources.setdefault((function, slot, way[:1]), (tree, at))
    made = []
    for (_, slot, way), (tree, at) in sources.items():
        node = [n for n in ast.walk(tree) if isinstance(n, ast.Call)][at]
        argument: Any = node.args[slot] if isinstance(slot, int) else {k.arg: k.value for k in node.keywords}[slot]
        full = next(w for w in integers(argument) if w[:1] == way)
        made += [replaced(tree, at, slot, full, value) for value in VALUES]
    for function, (tree, at) in calls.items():
        names = parameters(paddle, function)
        node = [n for n in ast.walk(tree) if isinstance(n, ast.Call)][at]
        used = names[: len(node.args)] if function.startswith("paddle") else names[1 : 1 + len(node.args)]
        made += [
            replaced(tree, at, name, (), value)
            for name in names
            if name not in used and name not in given.get(function, ()) and name != "self"
            for value in VALUES
        ]
    return list(dict.fromkeys(made))


def run(paddle: Any, worker: Any, source: str) -> str:
    """What a case gives; statements come first, and the last line is an expression."""
    try:
        worker.value_of(paddle, source, worker.names(paddle))
    except Exception as error:  # whatever the library raises is its answer
        return f"{type(error).__name__}: {error}"
    return "answered"


def main() -> None:
    first = int(sys.argv[1])
    step, offset = map(int, sys.argv[2:4]) if len(sys.argv) > 2 else (1, 0)
    sys.path.insert(0, str(RECORDED.parent))
    import worker

    import paddle_mps as paddle

    warnings.simplefilter("ignore")
    todo = list(enumerate(cases(paddle)))[offset::step]
    print(json.dumps(len(todo)), flush=True)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) if sys.platform == "linux" else 0
    if pages:
        resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, resource.RLIM_INFINITY))
    for number, (_, source) in enumerate(todo):
        if number < first:
            continue
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + GUARD, resource.RLIM_INFINITY))
        print(json.dumps([number, source]), flush=True)
        begun = time.process_time()
        came = run(paddle, worker, source)
        print(json.dumps([round(time.process_time() - begun, 3), came[:300]]), flush=True)


if __name__ == "__main__":
    main()
