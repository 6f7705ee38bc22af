"""Counts what the parts of `./build.sh test` and `./build.sh check` did.

    count.py add DIR PART FORMAT STATUS SECONDS
                                          reads DIR/PART.log (or .xml), prints one line and what failed
    count.py total DIR                    prints the sum, the seconds of each part and what failed; exits 1 if anything failed
    count.py save DIR FILE                writes the counts of all parts as JSON
    count.py compare OLD NEW              prints the counts of two runs side by side, each a DIR or such a
                                          FILE; exits 1 if a part has fewer cases than it had

A part that ends with a status and no failed test of its own, or that ran nothing, has failed once. What has its turn at
another commit (see sampling.py) counts as skipped, with that as the reason.
"""

from __future__ import annotations

import json
import pathlib
import re
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Callable
from xml.etree import ElementTree

TAIL = 60  # lines of output shown for something that failed


@dataclass
class Counts:
    """What one part did: passed tests, failures by name, skip reasons by number of tests, and the names of passed tests where
    the output has them."""

    passed: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    skips: Counter[str] = field(default_factory=Counter)
    names: set[str] = field(default_factory=set)

    def row(self) -> tuple[int, int, int]:
        return self.passed, len(self.failures), sum(self.skips.values())


def tail(text: str) -> str:
    """The last lines, and all that Go's runtime says when it ends a program, whose first line is the reason."""
    lines = text.rstrip().splitlines()
    ends = [i for i, line in enumerate(lines) if line.startswith(("panic: ", "fatal error: "))]
    return "\n".join(lines[max(0, min([len(lines) - TAIL, *ends])) :])


def read_go(base: pathlib.Path, _status: int) -> Counts:
    """`go test -json`: leaf tests count; a package or build that fails by itself is one failure. A program that
    dies leaves tests without an end, to which its last words belong: they are shown whole, as one failure."""
    counts = Counts()
    outputs: defaultdict[str, list[str]] = defaultdict(list)
    started: list[tuple[str, str]] = []
    ended: dict[tuple[str, str], str] = {}
    for line in base.with_suffix(".log").read_text(errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:  # what the go command says before its first event
            outputs[""].append(line + "\n")
            continue
        package = event.get("Package") or event.get("ImportPath", "")
        name = event.get("Test", "")
        if "Output" in event:
            outputs[f"{package} {name}".strip()].append(event["Output"])
        if event["Action"] == "run":
            started.append((package, name))
        if event["Action"] in ("pass", "fail", "skip", "build-fail"):
            ended[package, name] = event["Action"].replace("build-", "")
    parents = {(package, name.rpartition("/")[0]) for package, name in ended if name}
    failed_packages = {p for (p, name), action in ended.items() if name and action == "fail"}
    died: defaultdict[str, str] = defaultdict(str)
    for package, name in started:
        if (package, name) not in ended:
            died[package] += "".join(outputs[f"{package} {name}"])
    for (package, name), action in ended.items():
        full = f"{package} {name}".strip()
        text = "".join(outputs[full])
        if name == "" and (action != "fail" or (package in failed_packages and package not in died)):
            continue
        if name == "" and package in died:
            counts.failures[full] = died[package] + text
        elif action == "fail":
            counts.failures[full] = tail(text)
        elif (package, name) in parents:
            if action == "pass":
                counts.names.add(full)
            continue
        elif action == "skip":
            counts.skips[skip_reason(text)] += 1
        else:
            counts.passed += 1
        if action == "pass" and name:
            counts.names.add(full)
    return counts


def skip_reason(text: str) -> str:
    """The message of t.Skip, without the file and line that go test puts before it."""
    found = re.search(r"^\s+\S+\.go:\d+: (.*)", text, re.MULTILINE)
    return found.group(1) if found else "no reason given"


def read_junit(base: pathlib.Path, _status: int) -> Counts:
    """pytest's --junitxml."""
    counts = Counts()
    report = base.with_suffix(".xml")
    if not report.exists():
        return counts
    for case in ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname')}::{case.get('name')}"
        skipped = case.find("skipped")
        wrong = [e for tag in ("failure", "error") for e in case.iter(tag)]
        if wrong:
            counts.failures[name] = tail("\n".join(str(e.text or e.get("message")) for e in wrong))
        elif skipped is not None:
            counts.skips[skipped.get("message") or "no reason given"] += 1
        else:
            counts.passed += 1
            counts.names.add(name)
    return counts


def read_lines(base: pathlib.Path, _status: int) -> Counts:
    """Lines that start with `ok`, `FAIL` or `skip`; indented lines around FAIL say more, a skip's
    reason follows a colon."""
    counts = Counts()
    failed = before = ""
    for line in base.with_suffix(".log").read_text(errors="replace").splitlines():
        word, _, rest = line.partition(" ")
        if word == "":
            if failed:
                counts.failures[failed] += line + "\n"
            else:
                before += line + "\n"
            continue
        failed = rest if word == "FAIL" else ""
        if word == "ok":
            counts.passed += 1
            counts.names.add(rest)
        elif word == "FAIL":
            counts.failures[failed] = before
        elif word == "skip":
            counts.skips[rest.partition(": ")[2] or "no reason given"] += 1
        before = ""
    return counts


SUM = re.compile(r"\b(\d+) passed\b(?:.*?\b(\d+) failed\b)?.*")


def read_sum(base: pathlib.Path, _status: int) -> Counts:
    """The last line that says how many passed, and perhaps how many failed. Output without one has run nothing."""
    log = base.with_suffix(".log").read_text(errors="replace")
    said = [found for found in map(SUM.search, log.splitlines()) if found]
    if not said:
        return Counts()
    failed = int(said[-1][2] or 0)
    failures = {f"failure {n + 1} of {failed}": "" if n else tail(log) for n in range(failed)}
    return Counts(int(said[-1][1]), failures)


def read_status(_base: pathlib.Path, status: int) -> Counts:
    """Nothing but the exit status: one test."""
    return Counts(passed=int(status == 0))


FORMATS: dict[str, Callable[[pathlib.Path, int], Counts]] = {
    "go": read_go,
    "junit": read_junit,
    "lines": read_lines,
    "sum": read_sum,
    "status": read_status,
}


def read(directory: pathlib.Path, part: str, form: str, status: int) -> Counts:
    """What a part did. One that fails without a failed test, or that ran nothing, has failed once."""
    base = directory / part
    counts = FORMATS[form](base, status)
    log = base.with_suffix(".log").read_text(errors="replace")
    for number, reason in LEFT_OUT.findall(log):
        counts.skips[reason] += int(number)
    if status != 0 and not counts.failures:
        counts.failures[f"{part} ended with status {status}"] = tail(log)
    if counts.passed == 0 and not counts.failures and not counts.skips:
        counts.failures[f"{part} ran nothing"] = tail(log)
    return counts


def report(directory: pathlib.Path, part: str, counts: Counts, seconds: int) -> None:
    """Prints what failed, the reasons of skips and the numbers, and keeps them in the folder."""
    base = directory / part
    failures = "".join(f"FAIL {failed}\n{text}\n" for failed, text in counts.failures.items())
    print(failures, end="")
    base.with_suffix(".failures").write_text(failures)
    for reason, times in counts.skips.items():
        print(f"skipped {times}: {reason}")
    row = counts.row()
    base.with_suffix(".counts").write_text("{} {} {}".format(*row))
    base.with_suffix(".seconds").write_text(str(seconds))
    print("{} passed, {} failed, {} skipped, in {} s".format(*row, seconds))


# What a suite says that has left out cases; see sampling.py. In the output of `go test -json` a line ends with "\\n".
LEFT_OUT = re.compile(r"left out (\d+): ([^\n\\]+)")

Rows = dict[str, list[int]]  # passed, failed, skipped; in the order in which the parts ended


def rows_of(source: pathlib.Path) -> Rows:
    """The counts in a folder of parts, or in a file that `save` has written."""
    if source.is_file():
        stored: Rows = json.loads(source.read_text())
        return stored
    files = sorted(source.glob("*.counts"), key=lambda f: f.stat().st_mtime_ns)
    return {f.stem: [int(n) for n in f.read_text().split()] for f in files}


def save(directory: pathlib.Path, file: pathlib.Path) -> int:
    """One part a line, so that a change shows as that line."""
    rows = rows_of(directory)
    body = ",\n".join(f"{json.dumps(part)}: {json.dumps(row)}" for part, row in rows.items())
    file.write_text(f"{{\n{body}\n}}\n")
    return 0 if rows else 1


def compare(old: pathlib.Path, new: pathlib.Path) -> int:
    """Cases are all that ran or said why they did not, so that a failure does not pass for a lost case."""
    then, now = rows_of(old), rows_of(new)
    print(f"{'part':<22}{'cases':>8}{'now':>8}{'failed':>8}{'now':>8}{'skipped':>9}{'now':>8}")
    nothing = [0, 0, 0]
    lost = []
    for part in [*then, *(p for p in now if p not in then)]:
        a, b = then.get(part, nothing), now.get(part, nothing)
        compared(part, a, b)
        if sum(b) < sum(a):
            lost.append(part)
    compared("all", *([sum(row[i] for row in rows.values()) for i in range(3)] for rows in (then, now)))
    print(f"fewer cases: {', '.join(lost)}" if lost else "no part has fewer cases")
    return 1 if lost or not then else 0


def compared(part: str, old: list[int], new: list[int]) -> None:
    columns = ((sum(old), sum(new)), (old[1], new[1]), (old[2], new[2]))
    cells = [f"{a:>{width}}{b:>8}" for (a, b), width in zip(columns, (8, 8, 9))]
    print(f"{part:<22}" + "".join(cells))


def total(directory: pathlib.Path) -> int:
    """Prints a row a part in the order in which they ended, what failed once more, and the sum. A part beside others has
    seconds of its own."""
    rows = rows_of(directory)
    print(f"\n{'part':<20}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>8}")
    for part, row in rows.items():
        took = (directory / part).with_suffix(".seconds")
        seconds = took.read_text() if took.exists() else ""
        print(f"{part:<20}" + "".join(f"{n:>8}" for n in row) + f"{seconds:>8}")
    for part, (_, failed, _) in rows.items():
        if failed:
            said = (directory / part).with_suffix(".failures")
            print(f"\n== what failed in {part}\n{said.read_text() if said.exists() else ''}", end="")
    passed, failed = (sum(numbers[i] for numbers in rows.values()) for i in (0, 1))
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not rows else 0


def main(args: list[str]) -> int:
    if len(args) == 6 and args[0] == "add":
        folder, part, form, status, seconds = pathlib.Path(args[1]), *args[2:]
        report(folder, part, read(folder, part, form, int(status)), int(seconds))
        return 0
    if len(args) == 2 and args[0] == "total":
        return total(pathlib.Path(args[1]))
    if len(args) == 3 and args[0] in ("save", "compare"):
        return {"save": save, "compare": compare}[args[0]](pathlib.Path(args[1]), pathlib.Path(args[2]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
