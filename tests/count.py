"""Counts what the parts of `./build.sh test` and `./build.sh check` did.

    count.py add DIR PART FORMAT STATUS   reads DIR/PART.log (or .xml), prints one line and what failed
    count.py total DIR                    prints the sum; exits 1 if anything failed

A part that ends with a status and no failed test of its own, or that ran nothing, has failed once.
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
    """What one part did: passed tests, failures by name, skip reasons by number of tests."""

    passed: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    skips: Counter[str] = field(default_factory=Counter)


def tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-TAIL:])


def read_go(base: pathlib.Path, _status: int) -> Counts:
    """`go test -json`: leaf tests count; a package or build that fails by itself is one failure."""
    counts = Counts()
    outputs: defaultdict[str, list[str]] = defaultdict(list)
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
        if event["Action"] in ("pass", "fail", "skip", "build-fail"):
            ended[package, name] = event["Action"].replace("build-", "")
    parents = {(package, name.rpartition("/")[0]) for package, name in ended if name}
    failed_packages = {p for (p, name), action in ended.items() if name and action == "fail"}
    for (package, name), action in ended.items():
        full = f"{package} {name}".strip()
        text = "".join(outputs[full])
        if name == "" and (action != "fail" or package in failed_packages):
            continue
        if action == "fail":
            counts.failures[full] = tail(text)
        elif (package, name) in parents:
            continue
        elif action == "skip":
            counts.skips[skip_reason(text)] += 1
        else:
            counts.passed += 1
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
        elif word == "FAIL":
            counts.failures[failed] = before
        elif word == "skip":
            counts.skips[rest.partition(": ")[2] or "no reason given"] += 1
        before = ""
    return counts


def read_status(_base: pathlib.Path, status: int) -> Counts:
    """Nothing but the exit status: one test."""
    return Counts(passed=int(status == 0))


FORMATS: dict[str, Callable[[pathlib.Path, int], Counts]] = {
    "go": read_go,
    "junit": read_junit,
    "lines": read_lines,
    "status": read_status,
}


def add(directory: pathlib.Path, part: str, form: str, status: int) -> None:
    base = directory / part
    counts = FORMATS[form](base, status)
    log = base.with_suffix(".log").read_text(errors="replace")
    if status != 0 and not counts.failures:
        counts.failures[f"{part} ended with status {status}"] = tail(log)
    if counts.passed == 0 and not counts.failures and not counts.skips:
        counts.failures[f"{part} ran nothing"] = tail(log)
    for failed, text in counts.failures.items():
        print(f"FAIL {failed}\n{text}")
    for reason, times in counts.skips.items():
        print(f"skipped {times}: {reason}")
    row = (counts.passed, len(counts.failures), sum(counts.skips.values()))
    base.with_suffix(".counts").write_text("{} {} {}".format(*row))
    print("{} passed, {} failed, {} skipped".format(*row))


def total(directory: pathlib.Path) -> int:
    """Prints a row a part in the order in which they ended, and the sum."""
    files = sorted(directory.glob("*.counts"), key=lambda f: f.stat().st_mtime_ns)
    rows = {f.stem: [int(n) for n in f.read_text().split()] for f in files}
    print(f"\n{'part':<18}{'passed':>8}{'failed':>8}{'skipped':>8}")
    for part, row in rows.items():
        print(f"{part:<18}" + "".join(f"{n:>8}" for n in row))
    passed, failed = (sum(numbers[i] for numbers in rows.values()) for i in (0, 1))
    print(f"\n{passed} passed, {failed} failed")
    return 1 if failed or not rows else 0


def main(args: list[str]) -> int:
    if len(args) == 5 and args[0] == "add":
        add(pathlib.Path(args[1]), args[2], args[3], int(args[4]))
        return 0
    if len(args) == 2 and args[0] == "total":
        return total(pathlib.Path(args[1]))
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
