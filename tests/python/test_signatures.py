"""Parameters of functions and methods: names, order and defaults are Paddle's, or docs/differences.md lists the function."""

from __future__ import annotations

import enum
import inspect
import json
import math
import pathlib
import re
from collections.abc import Iterator
from typing import Any

import pytest

import paddle_mps as paddle
from paddle_mps._core._convert import REQUIRED

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED: dict[str, dict[str, str | None]] = json.loads(
    (ROOT / "tests" / "peers" / "surface_3_3_1.json").read_text(encoding="utf-8")
)["namespaces"]
SECTION = (
    (ROOT / "docs" / "differences.md")
    .read_text(encoding="utf-8")
    .partition("\n## Signatures\n")[2]
    .partition("\n## ")[0]
)
LISTED = re.findall(r"`(paddle\.[\w.]+)`", SECTION)

VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
MISSING = inspect.Parameter.empty


def owner(namespace: str) -> Any:
    """What stands for a namespace of Paddle; None if nothing does."""
    found: Any = paddle
    for name in namespace.split(".")[1:]:
        found = getattr(found, name, None)
    return found


def theirs(text: str) -> inspect.Signature:
    """The signature that was recorded."""
    scope: dict[str, Any] = {"inf": math.inf, "paddle": paddle}
    exec(f"def function{text}: pass", scope)
    return inspect.signature(scope["function"])


def pairs() -> Iterator[tuple[str, inspect.Signature, inspect.Signature]]:
    """Name, recorded signature and ours of whatever is present here and can be called."""
    for namespace, names in RECORDED.items():
        found = owner(namespace)
        for name, text in names.items():
            value = getattr(found, name, None)
            if text is None or not callable(value):
                continue
            if isinstance(value, enum.EnumMeta):  # the parameters of enum.Enum change from Python to Python
                continue
            try:
                ours = inspect.signature(value)
            except ValueError:  # a class of NumPy's or Python's own
                continue
            yield f"{namespace}.{name}", theirs(text), ours


def default(p: inspect.Parameter) -> Any:
    """A default; a tuple stands for the list that must not change, and REQUIRED for none."""
    if p.default is REQUIRED:
        return MISSING
    return list(p.default) if isinstance(p.default, tuple) else p.default


def same(recorded: Any, ours: Any) -> bool:
    """Whether two defaults are one; what Python could not write down was recorded as an ellipsis."""
    if recorded is ... or recorded is ours:
        return True
    kinds = {type(recorded), type(ours)}
    return recorded == ours and (len(kinds) == 1 or kinds == {int, float})


def differences(recorded: inspect.Signature, ours: inspect.Signature, method: bool) -> list[str]:
    """What a caller who knows Paddle's signature would notice. The first parameter of a method has no name that counts."""
    want = list(recorded.parameters.values())[method:]
    have = dict(list(ours.parameters.items())[method:])
    kinds = {p.kind for p in have.values()}
    wrong = []
    for p in want:
        if p.kind in VARIABLE:
            continue
        if p.kind is inspect.Parameter.POSITIONAL_ONLY:
            continue
        if p.name not in have:
            if inspect.Parameter.VAR_KEYWORD not in kinds:
                wrong.append(f"{p.name} is missing")
        elif not same(default(p), default(have[p.name])):
            wrong.append(f"{p.name} is {default(have[p.name])!r} by default, not {default(p)!r}")
    order = [p.name for p in want if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    places = [p.name for p in have.values() if p.kind in BY_PLACE]
    if order and inspect.Parameter.VAR_POSITIONAL not in kinds and places[: len(order)] != order:
        wrong.append(f"the order is {places}, not {order}")
    return wrong


def test_signatures_are_paddles_or_listed() -> None:
    found: dict[str, list[str]] = {}
    compared = 0
    for name, recorded, ours in pairs():
        compared += 1
        if wrong := differences(recorded, ours, name.startswith("paddle.Tensor.")):
            found[name] = wrong
    assert compared > 1200
    unlisted = [f"{name}: {'; '.join(wrong)}" for name, wrong in found.items() if name not in LISTED]
    assert unlisted == []
    assert sorted(set(LISTED) - found.keys()) == []


@pytest.mark.parametrize(
    ("recorded", "ours", "wrong"),
    [
        ("(x, axis=None, name=None)", lambda x, axis=None, name=None, *, out=None: 0, []),
        ("(x, axis=[0, 1])", lambda x=REQUIRED, axis=(0, 1): 0, []),
        ("(x, axis=0)", lambda x, axis=0.0: 0, []),
        (
            "(x, out=None, name=None)",
            lambda x, name=None, *, out=None: 0,
            ["the order is ['x', 'name'], not ['x', 'out', 'name']"],
        ),
        ("(x, axis=-1)", lambda x, axis=0: 0, ["axis is 0 by default, not -1"]),
        ("(x, axis=False)", lambda x, axis=0: 0, ["axis is 0 by default, not False"]),
        ("(x, *, out=None)", lambda x: 0, ["out is missing"]),
        ("(x, *, out=None)", lambda x, **named: 0, []),
    ],
)
def test_differences_are_found(recorded: str, ours: Any, wrong: list[str]) -> None:
    assert differences(theirs(recorded), inspect.signature(ours), False) == wrong


def test_out_by_place() -> None:
    x, y, out = paddle.to_tensor([5, 3]), paddle.to_tensor([6, 6]), paddle.to_tensor([0, 0])
    for call, want in (
        (lambda: paddle.bitwise_and(x, y, out), [4, 2]),
        (lambda: x.bitwise_or(y, out, "name"), [7, 7]),
        (lambda: paddle.bitwise_xor(x, y, out), [3, 5]),
        (lambda: paddle.bitwise_not(x, out), [-6, -4]),
        (lambda: paddle.bitwise_invert(x, out, None), [-6, -4]),
        (lambda: paddle.prod(paddle.stack([x, y]), 0, False, None, out, "name"), [30, 18]),
    ):
        assert call() is out
        assert out.tolist() == want


def test_words_of_methods() -> None:
    x = paddle.ones([2])
    assert x.requires_grad_(requires_grad=True) is x and not x.stop_gradient
    assert x.requires_grad_(False).stop_gradient
    assert "new_state" in inspect.signature(paddle.mps.set_rng_state).parameters
    with paddle.device.stream_guard(), paddle.device.StreamContext(stream=None):
        pass
