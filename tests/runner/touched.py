"""What a change touches: the operators and files of tests all of whose cases run at once, whatever their turn.

The change is what differs between the working tree and a commit: PADDLE_MPS_BASE where the caller gives it, else the last commit at
which the part has passed here, else the one before HEAD. Of a merge that is the first parent, so a merged branch counts as a whole.
Rules, which [touched] of tests/parts.toml fills in:

    a file of tests           runs all of its cases
    a row of an operator      runs all cases of that operator: changed lines name it, or the smallest block around them does
    a package in Go           runs, where packages take turns
    a file of [touched.files] runs all cases of the files of tests beside it

Other changes select nothing, and neither does one that touches more than `most` operators or files: turns then stay as they are,
which the run says. A part gets the names in PADDLE_MPS_TOUCHED, which tests/sampling.py and internal/sample read.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from . import store
from .table import ROOT, Part, Settings, output

TEST = re.compile(r"(?:.*/)?test_\w+\.py|.*_test\.go")
TURNS = re.compile(r"\bsampled\(|\bsample\.Skip\(")  # in a file of tests: it has cases that take turns
CASE = re.compile(r"tests/(?:bug_reports|triton/kernels)/\w+\.py")  # a file that is a case, or a few
NAMED = re.compile(r'\bName: "(\w+)"|\bop\.ID(\w+)|\bformula:\s*`(\w+)\(')
HUNK = re.compile(r"^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@", re.MULTILINE)


@dataclass(frozen=True)
class Touched:
    """What a change touches since a commit; `kept` says why turns stay as they are for the rest."""

    base: str = ""
    names: tuple[str, ...] = ()  # of operators, and paths of files of tests
    kept: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()  # with changed files of Go

    @property
    def words(self) -> tuple[str, ...]:
        """All of it, for the store."""
        return (*self.names, *(f"{folder}/" for folder in self.folders))

    def lines(self) -> Iterator[str]:
        if self.words:
            yield f"changed since {self.base[:12]}, all cases run: {' '.join(self.words)}"
        yield from (f"turns stay as they are: {reason}" for reason in self.kept)


def git(*words: str) -> str | None:
    """What git prints; None if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, errors="replace")
    return done.stdout if done.returncode == 0 else None


def base_of(part: Part, known: store.Store | None) -> str:
    """The commit since which files count as changed; empty if git does not have it, as in a shallow clone."""
    given = os.environ.get("PADDLE_MPS_BASE")
    wanted = [given] if given else [known.base(part) if known else "", "HEAD^"]
    return next(
        (c for w in wanted if w and (c := output("git", "rev-parse", "--verify", "--quiet", f"{w}^{{commit}}"))), ""
    )


def changed_files(base: str) -> list[str]:
    """Files that differ between a commit and the working tree, without those that are gone."""
    listed = git("diff", "-z", "--name-only", "--no-renames", "--diff-filter=d", base, "--") or ""
    others = git("ls-files", "-z", "--others", "--exclude-standard") or ""
    return sorted({name for name in (listed + others).split("\0") if name})


# ---- Operators that changed lines name


FEW = 3  # operators that one block names; one with more is a table or a function of many


def indentation(line: str) -> int:
    return len(line) - len(line.lstrip("\t"))


def block(lines: Sequence[str], start: int) -> str:
    """The block that a line begins: up to the next line that is indented no more."""
    end = start + 1
    while end < len(lines) and (not lines[end].strip() or indentation(lines[end]) > indentation(lines[start])):
        end += 1
    return "\n".join(lines[start:end])


def named_at(lines: Sequence[str], number: int) -> set[str]:
    """The operators that a line of Go names, or the smallest block around it that names any."""
    start = number
    if lines[start].strip()[:1] in ("}", ")"):  # which ends a block: where that begins
        depth = indentation(lines[start])
        start = next(
            (n for n in range(start - 1, -1, -1) if lines[n].strip() and indentation(lines[n]) <= depth), start
        )
    names = operators_of(lines[number])
    while not names:
        names = operators_of(block(lines, start))
        depth = indentation(lines[start])
        if depth == 0:
            break
        start = next((n for n in range(start - 1, -1, -1) if lines[n].strip() and indentation(lines[n]) < depth), 0)
    return names if len(names) <= FEW else set()


@functools.cache
def operators() -> Mapping[str, str]:
    """Names of operators by how identifiers of Go spell them."""
    golden = (ROOT / "core" / "op" / "testdata" / "ids.golden").read_text(encoding="utf-8")
    names = [line.rpartition(" ")[2] for line in golden.splitlines() if line]
    return {name.replace("_", "").lower(): name for name in names}


def operators_of(text: str) -> set[str]:
    """Operators that lines of Go name."""
    found = {word.replace("_", "").lower() for words in NAMED.findall(text) for word in words if word}
    return {operators()[word] for word in found if word in operators()}


def operators_in(base: str, file: str) -> tuple[set[str], bool]:
    """The operators whose rows a change of a file touches, and whether all of the change is in such rows."""
    path = ROOT / file
    lines = path.read_text(encoding="utf-8").split("\n")
    difference = git("diff", "-U0", "--no-color", "--no-ext-diff", base, "--", file) or ""
    found: set[str] = set()
    whole = True
    pieces = HUNK.split(difference)[1:]
    for first, count, body in zip(pieces[0::3], pieces[1::3], pieces[2::3]):
        gone = operators_of("\n".join(line for line in body.split("\n") if line.startswith("-")))
        found |= gone
        if gone and count == "0":  # a row that is no more
            continue
        start = max(int(first) - 1, 0)
        for number in range(start, min(start + max(int(count or 1), 1), len(lines))):
            if lines[number].strip():
                names = named_at(lines, number)
                found |= names
                whole = whole and bool(names)
    return found, whole


# ---- All of it


def touched(part: Part, now: Settings, rules: Mapping[str, Any], known: store.Store | None) -> Touched:
    """What runs in addition to the turn of a part. Nothing where a part takes no turns, or all turns run."""
    if not part.turns or not now.turn or not rules:
        return Touched()
    base = base_of(part, known)
    if not base:
        return Touched(kept=("git does not have the commit before",))
    return since(base, rules_of(rules))


def takes_turns(name: str) -> bool:
    """Whether a file has, or is, cases that take turns: all others run anyway."""
    if TEST.fullmatch(name):
        return bool(TURNS.search((ROOT / name).read_text(encoding="utf-8")))
    return bool(CASE.fullmatch(name))


Rules = tuple[int, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]


def rules_of(rules: Mapping[str, Any]) -> Rules:
    files = tuple((glob, tuple([to] if isinstance(to, str) else to)) for glob, to in rules.get("files", {}).items())
    return rules["most"], tuple(rules["operators"]), files


@functools.cache
def since(base: str, rules: Rules) -> Touched:
    most, globs, mapped = rules
    changed = changed_files(base)
    ops: set[str] = set()
    tests = {name for name in changed if takes_turns(name)}
    kept: list[str] = []
    for file in store.chosen(globs, changed):
        names, whole = operators_in(base, file)
        ops |= names
        if not whole and not any(store.chosen([glob], [file]) for glob, _ in mapped):
            kept.append(f"{file} has changes that name no operator")
    for glob, to in mapped:
        if store.chosen([glob], changed):
            tests |= set(to)
    if len(ops) > most:
        kept.append(f"{len(ops)} operators are touched, more than {most}")
        ops = set()
    if len(tests) > most:
        kept.append(f"{len(tests)} files of tests are touched, more than {most}")
        tests = set()
    folders = {name.rpartition("/")[0] for name in changed if name.endswith(".go")} - {""}
    if len(folders) > most:
        kept.append(f"{len(folders)} packages in Go are touched, more than {most}")
        folders = set()
    return Touched(base, (*sorted(ops), *sorted(tests)), tuple(kept), tuple(sorted(folders)))
