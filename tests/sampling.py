"""Which part of a large suite runs: all of it, or one group of cases in a few, other ones at every commit.

`./build.sh test` sets PADDLE_MPS_SAMPLE to a number that grows by one with each commit, the turn. Each group has a place
among the N turns that follow each other, which depends on its name alone: N successive turns run every case exactly
once. Without the variable, as in `./build.sh test long` and wherever a suite is started by hand, all cases run.

A suite that leaves something out says so in a line of `left_out`, which tests/count.py reads: what is left out counts as
skipped.

For pytest, `--every N` runs the conformance cases of an operator in a dtype in one of N turns. A test that says
`@pytest.mark.sampled(N)` runs in one of N turns, each set of its parameters for itself, and with a second argument in the
turn of that number. All other tests run always. tests/conftest.py has the hooks.

Whatever the turn, what a change touches runs whole: PADDLE_MPS_TOUCHED has the names of operators and the paths of files of tests, which
tests/runner finds (see [touched] of tests/parts.toml). A group that has the name of such an operator runs, and so do all tests of
such a file.

`@pytest.mark.timed` is for a test that asserts durations, the order of threads, the memory of the process or numbers of threads. The
parts of `./build.sh test` leave it out (PADDLE_MPS_TIMED=0), except those that run alone at the end and nothing else (`only`).
"""

from __future__ import annotations

import collections
import os
import pathlib
import zlib
from typing import Any

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]

# In which order the dtypes of an operator take their turns.
DTYPES = ("float32", "int64", "float16", "bool", "bfloat16", "int32", "uint8", "int16", "int8", "float64", "complex64", "complex128")  # fmt: skip


# Numbers of cases by number of turns: those left out, and all that take turns. The hooks print them at the end.
LEFT_OUT: collections.Counter[int] = collections.Counter()
ALL: collections.Counter[int] = collections.Counter()


def sampled() -> bool:
    """Whether some cases are left out."""
    return bool(os.environ.get("PADDLE_MPS_SAMPLE"))


def turn(every: int) -> int:
    """The turn of this run, 0 to every - 1."""
    return int(os.environ.get("PADDLE_MPS_SAMPLE") or 0) % every


def touched(name: str) -> bool:
    """Whether the change touches an operator, or the file of tests with this path."""
    return name in os.environ.get("PADDLE_MPS_TOUCHED", "").split()


def takes(every: int, group: str, number: int = 0) -> bool:
    """Whether a group runs. Groups of one name and successive numbers take successive turns."""
    return not sampled() or touched(group) or (zlib.crc32(group.encode()) + number) % every == turn(every)


def takes_dtype(every: int, operator: str, dtype: str) -> bool:
    """Whether the cases of an operator in a dtype run: they have most of their shaders in common. An operator with
    enough dtypes runs in every turn."""
    return takes(every, operator, DTYPES.index(dtype))


def note(every: int, taken: bool) -> bool:
    """Counts a case that takes turns, and returns whether it runs."""
    ALL[every] += 1
    LEFT_OUT[every] += not taken
    return taken


def left_out() -> list[str]:
    """For each number of turns the line that says how many cases of how many are left out."""
    return [
        f"left out {cases}: of {ALL[every]} cases, which take turns; this is turn {turn(every) + 1} of {every}"
        for every, cases in sorted(LEFT_OUT.items())
        if cases
    ]


# ---- Hooks of pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--every", metavar="N", type=int, default=1, help="run the cases of one turn in N")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "timed: asserts durations, order of threads, memory or numbers of threads")
    config.addinivalue_line("markers", "sampled(every, number): runs in one of so many turns, that of the number")


def touches(item: pytest.Item) -> bool:
    """Whether the change touches the file of a test, or the file beside it that its parameter `name` names."""
    name = item.callspec.params.get("name") if hasattr(item, "callspec") else None
    files = [item.path, *([item.path.with_name(f"{name}.py")] if isinstance(name, str) else [])]
    return any(touched(file.relative_to(ROOT).as_posix()) for file in files if file.is_relative_to(ROOT))


def taken(item: pytest.Item, every: int) -> bool:
    """Whether a test runs."""
    case: Any = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    if every > 1 and hasattr(case, "dtype"):
        return note(every, takes_dtype(every, case.name, case.dtype))
    mark = item.get_closest_marker("sampled")
    if mark is None:
        return True
    turns, *number = mark.args
    return note(turns, touches(item) or takes(turns, "" if number else item.nodeid, *number))


@pytest.hookimpl(trylast=True)  # so that what -k has left out is not counted
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    every = config.getoption("--every")
    timed = os.environ.get("PADDLE_MPS_TIMED")
    if timed == "only":
        items[:] = [item for item in items if item.get_closest_marker("timed")]
    items[:] = [item for item in items if taken(item, every)]
    for item in items if timed == "0" else ():
        if item.get_closest_marker("timed"):
            item.add_marker(pytest.mark.skip(reason="timed: it runs alone, in a part of its own"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    for line in left_out():
        terminalreporter.write_line(line)
