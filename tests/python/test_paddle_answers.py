"""Expressions whose answers were measured on PaddlePaddle 3.3.1 (golden/*.txt), evaluated here.

Statements are divided by ` ;; `; the last one is an expression. `!ValueError` is an exception.
"""

from __future__ import annotations

import math
import pathlib
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.nn import functional

GOLDEN = pathlib.Path(__file__).parent / "golden"
NAMES = ("assignment", "conversions", "creation", "in_place", "indexing", "operators", "shapes")


def cases() -> list[Any]:
    found = []
    for name in NAMES:
        setup = ""
        for line in (GOLDEN / f"{name}.txt").read_text().splitlines():
            if line.startswith("setup: "):
                setup = line.partition(": ")[2]
            elif not line.startswith("#"):
                source, _, answer = line.rpartition(" -> ")
                found.append(pytest.param(setup, source, answer, id=f"{name}: {source}"))
    return found


def shown(value: Any) -> str:
    """A value as the golden files write it."""
    if isinstance(value, paddle.Tensor):
        return f"{value.dtype.name}{list(value.shape)} {value.tolist()}"
    if isinstance(value, np.ndarray):
        return f"np {value.dtype}{list(value.shape)} {value.tolist()}"
    if isinstance(value, (list, tuple)) and any(isinstance(v, paddle.Tensor) for v in value):
        return f"{type(value).__name__}({'; '.join(map(shown, value))})"
    return f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize("setup, source, answer", cases())
def test_answer(setup: str, source: str, answer: str) -> None:
    if "a=np.from_dlpack" in source and tuple(map(int, np.__version__.split(".")[:2])) < (2, 1):
        pytest.skip("NumPy before 2.1 takes arrays from DLPack as read-only")
    scope = {"paddle": paddle, "T": paddle.to_tensor, "np": np, "F": functional, "nan": math.nan, "inf": math.inf}
    exec(setup, scope)
    *statements, last = source.split(" ;; ")
    try:
        for statement in statements:
            exec(statement, scope)
        got = shown(eval(last, scope))
    except Exception as error:  # what catches the class of the answer must catch ours
        kinds = [f"!{kind.__name__}" for kind in type(error).__mro__]
        got = answer if answer in kinds else kinds[0]
    finally:
        paddle.set_default_dtype("float32")
    assert got.replace(" ", "") == answer.replace(" ", "")
