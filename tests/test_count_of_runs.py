"""What tests/count.py makes of two runs."""

from __future__ import annotations

import pathlib
import subprocess
import sys

COUNT = pathlib.Path(__file__).with_name("count.py")


def count(*args: pathlib.Path | str) -> tuple[int, list[list[str]]]:
    """The status of count.py and the words of each line that it prints."""
    done = subprocess.run([sys.executable, COUNT, *args], capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, [line.split() for line in done.stdout.splitlines()]


def parts(folder: pathlib.Path, **rows: str) -> pathlib.Path:
    """A folder as `add` leaves it."""
    folder.mkdir()
    for part, row in rows.items():
        (folder / f"{part}.counts").write_text(row)
    return folder


def test_lost_cases_are_named(tmp_path: pathlib.Path) -> None:
    old = parts(tmp_path / "old", go="10 0 1", python="5 1 0", gone="3 0 0")
    new = parts(tmp_path / "new", go="9 1 1", python="5 0 0", added="7 0 0")
    status, lines = count("compare", old, new)
    rows = {words[0]: words[1:] for words in lines[1:-1]}
    assert rows == {
        "go": ["11", "11", "0", "1", "1", "1"],
        "python": ["6", "5", "1", "0", "0", "0"],
        "gone": ["3", "0", "0", "0", "0", "0"],
        "added": ["0", "7", "0", "0", "0", "0"],
        "all": ["20", "23", "1", "1", "1", "1"],
    }
    assert status == 1 and lines[-1][:2] == ["fewer", "cases:"]
    assert {word.strip(",") for word in lines[-1][2:]} == {"python", "gone"}


def test_saved_counts_compare_like_their_folder(tmp_path: pathlib.Path) -> None:
    old = parts(tmp_path / "old", go="10 0 1", c="2 0 0")
    assert count("save", old, tmp_path / "old.json") == (0, [])
    status, lines = count("compare", tmp_path / "old.json", old)
    assert (status, lines[-1]) == (0, ["no", "part", "has", "fewer", "cases"])
    assert ["all", "13", "13", "0", "0", "1", "1"] in lines


def test_nothing_to_compare_with_is_a_failure(tmp_path: pathlib.Path) -> None:
    empty = parts(tmp_path / "empty")
    assert count("compare", empty, parts(tmp_path / "new", go="1 0 0"))[0] == 1
    assert count("save", empty, tmp_path / "empty.json")[0] == 1


def test_what_failed_is_said_again_at_the_end(tmp_path: pathlib.Path) -> None:
    folder = parts(tmp_path / "run", fine="3 0 0")
    (folder / "wrong.log").write_text("ok one\n  got 1, want 2\nFAIL two\nok three\n")
    assert count("add", folder, "wrong", "lines", "1", "5")[0] == 0
    status, lines = count("total", folder)
    assert (status, lines[-1]) == (1, "5 passed, 1 failed".split())
    assert lines[-6:-2] == ["== what failed in wrong".split(), ["FAIL", "two"], "got 1, want 2".split(), []]
