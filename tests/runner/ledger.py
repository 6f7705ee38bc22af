"""The ledger of flaky tests: tests/flaky.tsv, to which the author of a change commits what a run of it has found flaky.

A row is a test, the date, the load of the machine, the seed or turn, and the commit. A test with three rows is no longer
excused: `./build.sh check` warns, and `./build.sh test long` fails. Mend the test, or the fault that it finds, and remove its rows.
"""

from __future__ import annotations

import collections
import datetime
import pathlib
import re

from .execute import Result
from .table import ROOT, Settings, output

LEDGER = ROOT / "tests" / "flaky.tsv"
FOUND = ROOT / "build" / "flaky.tsv"
COLUMNS = ("test", "date", "load", "seed", "commit")
ENTRIES = 3


def row(result: Result, test: str, said: str, now: Settings) -> str:
    """The line of a flaky test. The seed is that in its output, or the turn."""
    seed = re.search(r"\bseed\D{0,3}(\d+)", said)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    commit = output("git", "rev-parse", "--short", "HEAD")
    return "\t".join(
        (f"{result.part.name}: {test}", date, f"{result.load:.1f}", seed[1] if seed else f"turn {now.turn}", commit)
    )


def add(lines: list[str], file: pathlib.Path = FOUND) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as out:
        out.writelines(f"{line}\n" for line in lines)


def often(file: pathlib.Path = LEDGER) -> dict[str, int]:
    """Tests with as many entries as end the excuse."""
    lines = file.read_text(encoding="utf-8").splitlines()
    if not lines or tuple(lines[0].split("\t")) != COLUMNS:
        raise ValueError(f"{file}: the first line is {lines[:1]}; want {' '.join(COLUMNS)}, divided by tabs")
    wrong = [line for line in lines[1:] if len(line.split("\t")) != len(COLUMNS)]
    if wrong:
        raise ValueError(f"{file}: got {wrong[0]!r}; want {len(COLUMNS)} columns")
    counts = collections.Counter(line.partition("\t")[0] for line in lines[1:])
    return {test: n for test, n in counts.items() if n >= ENTRIES}


def check(strict: bool, file: pathlib.Path = LEDGER) -> int:
    """Prints lines that count.py reads; 1 if a test has too many entries and strict is set."""
    try:
        found = often(file)
    except (OSError, ValueError) as wrong:
        print(f"FAIL ledger of flaky tests\n  {wrong}")
        return 1
    print("ok the ledger of flaky tests can be read")
    for test, n in found.items():
        why = f"has {n} entries in tests/flaky.tsv; mend it"
        print(f"FAIL {test}\n  {why}" if strict else f"skip {test}: warning: {test} {why}, or test long fails")
    return int(strict and bool(found))
