"""docs/proven.md: every row says what to run, and that exists."""

from __future__ import annotations

import importlib.util
import pathlib
import re

import pytest
from documents import LINK, ROOT, tables, text

ROWS = [row for table in tables("docs/proven.md") for row in table]
BUILD = text("build.sh")
PARTS = text("tests/parts.toml")
NAMES = set(re.findall(r'^name = "(.*?)"', PARTS, re.MULTILINE))
SUITES = {name for line in re.findall(r"^suites = (.*)$", PARTS, re.MULTILINE) for name in re.findall(r'"(.*?)"', line)}
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def commands(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def lacks_simd(command: str) -> bool:
    """Whether the vector kernels that a row speaks of are not in the build of its command, which prints ok without them."""
    of_kernels = re.search(r"\bgo test \./(kernels/host|core/runtime)", command)
    return bool(of_kernels) and not command.startswith("GOEXPERIMENT=simd ")


def exists(command: str) -> bool:
    """Whether a command names what is there: a command of build.sh, a test, a script, a module."""
    first, *rest = re.sub(r"^(?:\w+=\w+ )*(?:\S*/bin/)?", "", command).split()
    if first == "./build.sh" and rest[0] == "bench":
        files = (ROOT / "bench" / rest[1], ROOT / "bench" / f"{rest[1]}.py")
        return any(f.exists() for f in files) or f"bench {rest[1]}" in NAMES
    if first == "./build.sh" and rest[0] == "test" and len(rest) > 1:
        return rest[1] in SUITES | NAMES or f"test {rest[1]}" in NAMES
    if first == "./build.sh":
        words = [word for word in rest if "/" not in word]
        paths = [ROOT / word for word in rest if "/" in word]
        return all(p.is_file() for p in paths) and all(
            re.search(rf"^ *(.* )?{word}( .*)?\)", BUILD, re.M) for word in words
        )
    if first == "go":
        folder, wanted = ROOT / rest[1].removesuffix("/..."), rest[3] if "-run" in rest else "Test"
        tests = "**/*_test.go" if rest[1].endswith("/...") else "*_test.go"
        return any(f"func {wanted}" in p.read_text(encoding="utf-8") for p in folder.glob(tests))
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
        assert name in NAMES, name
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


@pytest.mark.parametrize("row", [row for row in ROWS if len(row) == 3], ids=lambda row: row[0][:60])
def test_commands_have_the_kernels_that_they_prove(row: list[str]) -> None:
    """Rows of two cells are questions about a Mac, where Go has no such experiment."""
    assert [command for command in commands(row[-1]) if lacks_simd(command)] == []


def test_commands_without_vector_kernels_are_seen() -> None:
    assert lacks_simd("go test ./kernels/host/vec/lowprec -run TestMatMul8")
    assert lacks_simd("CI=1 go test ./core/runtime -run TestRandomPrograms")
    assert not lacks_simd("GOEXPERIMENT=simd go test ./kernels/host -run TestWinograd")
    assert not lacks_simd("go test ./alloc")


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
