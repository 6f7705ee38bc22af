"""docs/proven.md: every row says what to run, and that exists."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest
from documents import LINK, ROOT, tables, text

ROWS = [row for table in tables("docs/proven.md") for row in table]
BUILD = text("build.sh")
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def commands(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def exists(command: str) -> bool:
    """Whether a command names what is there: a command of build.sh, a test, a script, a module."""
    first, *rest = re.sub(r"^(?:\w+=\w+ )*(?:\S*/bin/)?", "", command).split()
    if first == "./build.sh" and rest[0] == "bench":
        files = (ROOT / "bench" / rest[1], ROOT / "bench" / f"{rest[1]}.py")
        return any(f.exists() for f in files) or f'if [ "$1" = {rest[1]} ]' in BUILD
    if first == "./build.sh":
        return all(re.search(rf"^ *(.* )?{word}( .*)?\)", BUILD, re.MULTILINE) for word in rest)
    if first == "go":
        folder, wanted = ROOT / rest[1], rest[3] if "-run" in rest else "Test"
        return any(f"func {wanted}" in p.read_text(encoding="utf-8") for p in folder.glob("*_test.go"))
    if first == "sh" or (first == "python" and rest[0].endswith(".py")):
        return (ROOT / rest[0]).is_file()
    if rest[:2] == ["-m", "pytest"]:
        return (ROOT / rest[2]).exists()
    if rest[:1] == ["-m"]:
        return importlib.util.find_spec(rest[1]) is not None
    return first in ("arch", "xattr")  # of macOS


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_row_names_what_proves_it(row: list[str]) -> None:
    cell = row[-1]
    for name in re.findall(r"(?:parts? |and )`([\w-]+)`", cell):
        assert re.search(rf"\b(part|aside) {name} ", BUILD), name
        cell = cell.replace(f"`{name}`", "a part")
    assert commands(cell) or LINK.findall(cell) or "a part" in cell
    for command in commands(cell):
        assert exists(command), command


def test_commands_that_do_not_exist_are_seen() -> None:
    for wrong in (
        "./build.sh tset",
        "./build.sh test everything",
        "./build.sh bench nothing",
        "go test ./objc -run TestNothing",
        "sh tests/nothing.sh",
        "python tests/nothing.py",
        ".venv/bin/python -m pytest tests/nothing",
        "python -m paddle_mps.nothing",
        "make",
    ):
        assert not exists(wrong), wrong


def test_every_workflow_has_a_row() -> None:
    linked = {link.rpartition("/")[2] for row in ROWS for link in LINK.findall(row[-1])}
    assert linked == {p.name for p in WORKFLOWS}


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda p: p.name)
def test_workflow_may_do_little(workflow: pathlib.Path) -> None:
    """Actions are those of one commit, jobs may only read, and each ends."""
    said = workflow.read_text(encoding="utf-8")
    uses = re.findall(r"uses: (.*)", said)
    assert uses and all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v[\d.]+", action) for action in uses)
    assert re.findall(r"permissions:\n((?:  .*\n)+)", said) == ["  contents: read\n"]
    assert said.count("timeout-minutes: ") == said.count("runs-on: ") > 0
