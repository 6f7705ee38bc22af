"""The corpus notices defects of the compiler: fifteen are planted, one at a time."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import planted
import pytest

CASES = 8  # that a defect may take to be noticed; a case takes a second
SECONDS = 120


def verdicts(name: str) -> dict[str, str]:
    """What cases say that have the defect. A process that the defect ends has noticed it, and one that does not end has not."""
    command = [sys.executable, str(pathlib.Path(planted.__file__)), name, str(CASES)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
        output, ended = done.stdout, f"the process ended with {done.returncode}"
    except subprocess.TimeoutExpired as error:
        output, ended = (error.stdout or b"").decode(), planted.UNENDED
    found = dict(json.loads(line) for line in output.splitlines() if line.startswith('["'))
    return {case: ended if said == "started" else said for case, said in found.items()}


def test_there_are_fifteen():
    assert len(planted.DEFECTS) == 15


@pytest.mark.parametrize("name", planted.DEFECTS)
def test_a_planted_defect_is_noticed(name: str):
    found = verdicts(name)
    assert found, "no case has the defect"
    assert any(planted.detected(said) for said in found.values()), found


def test_without_a_defect_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch):
    cases = planted.corpus.load()
    for name in ("add_fp32_ragged", "softmax_small", "atomic_add_i32", "cumsum_tile_8"):
        options = json.loads((planted.IR / "options.json").read_text())[name]
        assert planted.verdict(cases[name], planted.source(name, options, None)) == "pass"
