"""The tables of docs/torch.md: what is said to take the place of PyTorch does.

With PyTorch installed (./build.sh bench puts it into .venv-bench) both columns are run and compared:
`.venv-bench/bin/python -m pytest tests/readme/test_torch.py`.
"""

from __future__ import annotations

import functools
import pathlib
import re
import sys
from typing import Any

import numpy as np
import pytest
from documents import DEVICES, output, tables, text

import paddle_mps as paddle

DEVICE, VARIABLES, OPERATORS = tables("docs/torch.md")
VALUES = [[1.0, 5.0, 3.0], [4.0, 2.0, 6.0]]

# What the cells of the first table name besides the package.
PREAMBLE = f"""
import contextlib
import paddle_mps as paddle
x = paddle.to_tensor({VALUES}, place="mps")
state, stream = paddle.mps.get_rng_state(), paddle.mps.default_stream()
source = "kernel void one(device float *x, uint i [[thread_position_in_grid]]) {{ x[i] = 1; }}"
library = source.encode()
"""


def cells(table: list[list[str]]) -> list[tuple[str, str]]:
    """The first two columns as code; the second is empty where nothing takes the place of the first."""
    return [(row[0].strip("`"), row[1].strip("`")) for row in table]


@pytest.mark.skipif("metal" not in DEVICES, reason="the mock of Metal is Linux's")
def test_device_table_runs(tmp_path: pathlib.Path) -> None:
    """On the mock of Metal, because other devices have no shaders."""
    wanted = [right for _, right in cells(DEVICE) if right]
    run = f"""
for cell in {wanted}:
    made = eval(cell)
    with made if hasattr(made, "__enter__") else contextlib.nullcontext():
        print("ran", cell)
"""
    said = output([sys.executable, "-c", PREAMBLE + run], tmp_path, "metal")
    assert said.splitlines() == [f"ran {cell}" for cell in wanted]


def test_variables_exist() -> None:
    known = text("docs/environment.md")
    for _, here in cells(VARIABLES):
        assert f"`{here.partition('=')[0]}`" in known


def answer(cell: str, framework: Any, tensor: Any) -> Any:
    """The value of a cell of the last table; tensors become NumPy's."""
    name = "paddle" if framework is paddle else "torch"
    x = tensor(VALUES)
    ids = tensor([1, 0])
    a = np.ones((2, 2), np.float32)
    value = eval(cell, {name: framework, "F": framework.nn.functional, "x": x, "y": x * 2, "ids": ids, "a": a})
    return value.numpy() if hasattr(value, "numpy") else value


OURS = functools.partial(answer, framework=paddle, tensor=functools.partial(paddle.to_tensor, place="cpu"))


@pytest.mark.parametrize("cell", [right for _, right in cells(OPERATORS)])
def test_operator_runs(cell: str) -> None:
    assert OURS(cell) is not None


def test_operators_answer_as_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    for theirs, ours in cells(OPERATORS):
        want, got = answer(theirs, torch, torch.tensor), OURS(ours)
        if not isinstance(want, np.ndarray):
            assert got == (list(want) if isinstance(want, tuple) else want), ours
            continue
        assert (got.dtype, got.shape) == (want.dtype, want.shape), ours
        if want.dtype.kind == "f":  # each rounds its own way: an ulp on either side
            np.testing.assert_array_max_ulp(got, want, 2)
        else:
            np.testing.assert_array_equal(got, want, ours)


def test_table_has_all_of_torch_mps() -> None:
    """What the table names exists in PyTorch, and torch.mps has nothing that it does not name."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    named = " ".join(left for left, _ in cells(DEVICE + OPERATORS))
    for path in re.findall(r"torch(?:\.\w+)+", named):
        functools.reduce(getattr, path.split(".")[1:], torch)
    for module in (torch.mps, torch.mps.profiler):
        for name in set(module.__all__) - {"profiler", "stop", "profile"}:
            assert f"{module.__name__}.{name}(" in named
