"""What `./build.sh test` leaves out runs in another turn, or with `./build.sh test long`: nothing is lost."""

from __future__ import annotations

import collections
import os
import pathlib
import re
import subprocess
import sys

import pytest

import sampling
from paddle_mps.selftest import suite

ROOT = pathlib.Path(__file__).resolve().parents[2]
NUMBERS = sorted({int(n) for n in re.findall(r"--every (\d+)", (ROOT / "tests" / "parts.toml").read_text())})
CASES = list(suite.cases())


@pytest.fixture(autouse=True)
def nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the change of this run touches runs in every turn, which is not what these tests count."""
    monkeypatch.delenv("PADDLE_MPS_TOUCHED", raising=False)


@pytest.mark.parametrize("every", NUMBERS)
def test_successive_turns_run_each_case_once(every: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ran: collections.Counter[suite.Case] = collections.Counter()
    for turn in range(241, 241 + every):
        monkeypatch.setenv("PADDLE_MPS_SAMPLE", str(turn))
        some = [c for c in CASES if sampling.takes_dtype(every, c.name, c.dtype)]
        assert len(CASES) / every / 2 < len(some) < 2 * len(CASES) / every
        ran.update(some)
    assert ran == collections.Counter(CASES)


def test_without_a_turn_all_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PADDLE_MPS_SAMPLE", raising=False)
    assert all(sampling.takes_dtype(7, c.name, c.dtype) for c in CASES)


def test_what_a_change_touches_runs_in_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_MPS_TOUCHED", "add tests/package/test_sampling.py")
    for turn in range(3):
        monkeypatch.setenv("PADDLE_MPS_SAMPLE", str(turn))
        assert [n for n in range(3) if sampling.takes(3, "add", n)] == [0, 1, 2]
        assert len([n for n in range(3) if sampling.takes(3, "subtract", n)]) == 1


def test_turns_are_those_of_the_tests_in_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """internal/sample/sample_test.go has the same row."""
    monkeypatch.setenv("PADDLE_MPS_SAMPLE", "0")
    assert [n for n in range(6) if sampling.takes(3, "logaddexp", n)] == [2, 5]


PROGRAM = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", range(30))
def test_many(n):
    pass

@pytest.mark.sampled(3, 1)
def test_of_turn_1():
    pass

def test_always():
    pass
"""


def collected(folder: pathlib.Path, **environment: str) -> tuple[set[str], list[str]]:
    """The tests that run, and what the output says of those left out."""
    environment = {**{k: v for k, v in os.environ.items() if k != "PADDLE_MPS_SAMPLE"}, **environment}
    command = [sys.executable, "-m", "pytest", "-v", "-p", "sampling", "--rootdir", str(folder), "."]
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "tests"), environment.get("PYTHONPATH", "")])
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=True)
    return set(re.findall(r"::(\S+) PASSED", done.stdout)), re.findall(r"^left out .*", done.stdout, re.MULTILINE)


def test_marked_tests_take_turns(tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_some.py").write_text(PROGRAM)
    all_of_them, said = collected(tmp_path)
    assert len(all_of_them) == 32 and said == []
    ran: collections.Counter[str] = collections.Counter()
    for turn in range(3):
        some, said = collected(tmp_path, PADDLE_MPS_SAMPLE=str(turn))
        assert ("test_of_turn_1" in some) == (turn == 1)
        assert said == [f"left out {32 - len(some)}: of 31 cases, which take turns; this is turn {turn + 1} of 3"]
        ran.update(some)
    assert ran.pop("test_always") == 3
    assert set(ran) | {"test_always"} == all_of_them and set(ran.values()) == {1}


TIMED = """
import pytest

@pytest.mark.timed
def test_timed():
    pass

def test_always():
    pass
"""


@pytest.mark.parametrize(
    ("setting", "want"), [("0", {"test_always"}), ("only", {"test_timed"}), ("", {"test_timed", "test_always"})]
)
def test_timed_tests_run_in_a_part_of_their_own(setting: str, want: set[str], tmp_path: pathlib.Path) -> None:
    (tmp_path / "test_some.py").write_text(TIMED)
    assert collected(tmp_path, PADDLE_MPS_TIMED=setting)[0] == want


def test_what_is_left_out_counts_as_skipped(tmp_path: pathlib.Path) -> None:
    (tmp_path / "part.log").write_text("ok one\nleft out 7: of 9 cases\n")
    command = [sys.executable, str(ROOT / "tests" / "count.py"), "add", str(tmp_path), "part", "lines", "0", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "skipped 7: of 9 cases\n1 passed, 0 failed, 7 skipped" in done.stdout
