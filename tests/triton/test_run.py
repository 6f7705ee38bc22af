"""The exit status of run.py: what fails is never passed over."""

from __future__ import annotations

import importlib
import pathlib
import subprocess
import sys
from typing import Any

import pytest

run: Any = importlib.import_module("run")


@pytest.mark.parametrize(
    ("verdicts", "status"),
    [
        ({"a": "pass", "b": "refused"}, 0),
        ({"a": "pass", "b": "failed"}, 1),  # b is not in passing.txt
        ({"a": "pass", "b": "wrong"}, 1),
        ({"a": "refused", "b": "pass"}, 1),  # a has passed before
        ({}, 1),
    ],
)
def test_status(verdicts: dict[str, str], status: int) -> None:
    assert run.report([[name, said, "why", 0.1] for name, said in verdicts.items()], {"a"}) == status


def test_a_name_that_no_case_has() -> None:
    line = [sys.executable, str(pathlib.Path(run.__file__)), "softmax_small", "sotfmax_small"]
    done = subprocess.run(line, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "there is no case sotfmax_small" in done.stderr and "there is no case softmax" not in done.stderr
