"""tests/count.py counts every format and never takes silence for success."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys

import pytest

COUNT = pathlib.Path(__file__).resolve().parents[1] / "count.py"


def event(action: str, test: str = "", output: str = "") -> str:
    fields = {"Action": action, "Package": "p", "Test": test, "Output": output}
    return json.dumps({k: v for k, v in fields.items() if v})


GO = [
    event("pass", "TestA/x"),
    event("output", "TestA/y", "    a_test.go:7: no GPU here\n"),
    event("skip", "TestA/y"),
    event("pass", "TestA"),
    event("pass"),
]
JUNIT = (
    '<testsuites><testsuite><testcase classname="m" name="a"/>'
    '<testcase classname="m" name="b"><failure message="boom">why</failure></testcase>'
    '<testcase classname="m" name="c"><skipped message="no Mac"/></testcase></testsuite></testsuites>'
)

# format, log, status -> passed, failed, skipped, and a line of the output
CASES = {
    "go counts leaves": ("go", "\n".join(GO), 0, (1, 0, 1), "skipped 1: no GPU here"),
    "go failed test": (
        "go",
        "\n".join([event("fail", "TestB"), event("fail")]),
        1,
        (0, 1, 0),
        "FAIL p TestB",
    ),
    "go failed package": ("go", event("fail"), 1, (0, 1, 0), "FAIL p"),
    "go test that dies": (
        "go",
        "\n".join([event("run", "TestB"), event("output", "TestB", "signal: aborted\n"), event("fail")]),
        1,
        (0, 1, 0),
        "signal: aborted",
    ),
    "go test that fails and one that dies": (
        "go",
        "\n".join(
            [
                *(event("run", "TestA"), event("fail", "TestA"), event("run", "TestB"), event("run", "TestB/x")),
                *(
                    event("output", "TestB/x", "panic: " + 70 * "more\n"),
                    event("output", "", "FAIL p\n"),
                    event("fail"),
                ),
            ]
        ),
        1,
        (0, 2, 0),
        "panic: more",
    ),
    "go test that panics": (
        "go",
        "\n".join([event("output", "TestA", "panic: why\n" + 70 * "more\n"), event("fail", "TestA"), event("fail")]),
        1,
        (0, 1, 0),
        "panic: why",
    ),
    "go does not start": ("go", "go: no such tool", 2, (0, 1, 0), "go: no such tool"),
    "junit": ("junit", JUNIT, 1, (1, 1, 1), "FAIL m::b"),
    "junit is missing": ("junit", "", 4, (0, 1, 0), "FAIL part ended with status 4"),
    "lines": ("lines", "ok a\nFAIL b\nskip c: no C++\nok d\n", 1, (2, 1, 1), "skipped 1: no C++"),
    "lines that say more": ("lines", "FAIL b\n  3 != 4\nok d\n  not this\n", 1, (1, 1, 0), "  3 != 4"),
    "lines that say more before": ("lines", "ok d\n  3 != 4\nFAIL b\n", 1, (1, 1, 0), "  3 != 4"),
    "lines, then a crash": ("lines", "ok a\nSegmentation fault\n", 139, (1, 1, 0), "Segmentation fault"),
    "nothing ran": ("lines", "", 0, (0, 1, 0), "FAIL part ran nothing"),
    "status": ("status", "", 0, (1, 0, 0), "1 passed, 0 failed, 0 skipped, in 3 s"),
    "bad status": ("status", "unformatted", 1, (0, 1, 0), "unformatted"),
}


def count(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, COUNT, *map(str, args)], capture_output=True, text=True)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_add(case: tuple[str, str, int, tuple[int, int, int], str], tmp_path: pathlib.Path) -> None:
    form, log, status, counts, line = case
    (tmp_path / "part.log").write_text(log)
    if form == "junit" and log:
        (tmp_path / "part.xml").write_text(log)
    done = count("add", tmp_path, "part", form, status, 3)
    assert done.returncode == 0, done.stderr
    assert line in done.stdout.splitlines()
    assert (tmp_path / "part.counts").read_text() == "{} {} {}".format(*counts)


@pytest.mark.parametrize(("failed", "code"), [(0, 0), (2, 1)])
def test_total(failed: int, code: int, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.counts").write_text("3 0 1")
    (tmp_path / "b.counts").write_text(f"4 {failed} 0")
    done = count("total", tmp_path)
    assert done.returncode == code
    assert done.stdout.splitlines()[-1] == f"7 passed, {failed} failed"


def test_total_of_nothing_is_a_failure(tmp_path: pathlib.Path) -> None:
    assert count("total", tmp_path).returncode == 1
