"""tests/runner: what counts as passed, failed, flaky, inconclusive and not repeated, on tables of parts made here."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
from typing import Any

import pytest

import count
from runner import again, execute, ledger, main, run, store, table, touched

ROOT = pathlib.Path(__file__).resolve().parents[1]
SH = "sh -c '{}'"


@pytest.fixture(autouse=True)
def folders(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs, cache and ledger of these tests are not those of the run that they are part of."""
    for module in (execute, run):
        monkeypatch.setattr(module, "PARTS", tmp_path / "parts")
    (tmp_path / "parts").mkdir()
    monkeypatch.setattr(ledger, "FOUND", tmp_path / "flaky.tsv")
    monkeypatch.setattr(ledger.add, "__defaults__", (tmp_path / "flaky.tsv",))
    monkeypatch.setenv("PADDLE_MPS_CACHE", str(tmp_path / "cache"))
    for name in ("PADDLE_MPS_LONG", "PADDLE_MPS_SAMPLE", "CI"):
        monkeypatch.delenv(name, raising=False)


def part(name: str = "p", command: str = "true", **keys: Any) -> dict[str, Any]:
    return {"name": name, "suites": ["s"], "command": command, "format": "lines", **keys}


def read(folder: pathlib.Path, *rows: dict[str, Any]) -> table.Table:
    """A table with these rows, through a file."""
    lines: list[str] = []
    for row in rows:
        lines.append("[[part]]")
        lines += [f"{key} = {json.dumps(value)}" for key, value in row.items()]
    file = folder / "parts.toml"
    file.write_text("\n".join(lines), encoding="utf-8")
    return table.read(file)


def settings(turn: str = "7", **keys: Any) -> table.Settings:
    return table.Settings(turn=turn, values={"{root}": str(ROOT), "{self}": sys.executable}, **keys)


def ran(rows: table.Table, now: table.Settings | None = None, known: store.Store | None = None) -> tuple[run.Run, int]:
    whole = run.Run(rows, now or settings(), known)
    whole.suites([rows.parts])
    whole.settle()
    return whole, whole.summary(0)


def once_bad(folder: pathlib.Path, first: str, then: str) -> str:
    """A command that prints other lines from its second run on, and fails the first time."""
    done = folder / "done"
    return SH.format(f"echo run >>{folder}/runs; test -f {done} && {then}; touch {done}; {first}")


def times(folder: pathlib.Path) -> int:
    return len((folder / "runs").read_text().split())


# ---- Passed and failed


def test_the_last_line_is_the_sum(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = read(
        tmp_path, part("a", SH.format("echo ok one; echo skip two: no Mac")), part("b", "true", format="status")
    )
    assert ran(rows)[1] == 0
    assert capsys.readouterr().out.splitlines()[-1] == "2 passed, 0 failed, 1 skipped"


def test_all_parts_run_whatever_fails(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = SH.format(f"echo run >>{tmp_path}/runs; echo FAIL one; exit 1")
    whole, status = ran(read(tmp_path, part("a", failing), part("b", "echo ok two")))
    assert status == 1 and times(tmp_path) == 3  # a failure runs twice more
    assert [r.counts.row() for r in whole.results] == [(0, 1, 0), (1, 0, 0)]
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "1 passed, 1 failed, 0 skipped" and "FAIL one" in out


@pytest.mark.parametrize(("form", "command"), [("lines", "true"), ("sum", "true"), ("go", "true"), ("junit", "true")])
def test_a_part_that_runs_nothing_has_failed(form: str, command: str, tmp_path: pathlib.Path) -> None:
    whole, status = ran(read(tmp_path, part(command=command, format=form, retry=False)))
    assert status == 1 and whole.results[0].counts.failures.keys() == {"p ran nothing"}


def test_no_part_at_all_is_a_failure(tmp_path: pathlib.Path) -> None:
    assert run.Run(read(tmp_path, part()), settings()).summary(0) == 1


@pytest.mark.parametrize("form", ["lines", "status", "sum"])
def test_a_part_that_a_signal_ends_has_failed(form: str, tmp_path: pathlib.Path) -> None:
    killed = SH.format(f"echo run >>{tmp_path}/runs; echo ok one; echo 5 passed; kill -9 $$")
    whole, status = ran(read(tmp_path, part(command=killed, format=form)))
    assert status == 1 and times(tmp_path) == 1
    assert "p was ended by signal 9" in whole.results[0].counts.failures


def test_a_part_that_runs_too_long_is_ended(tmp_path: pathlib.Path) -> None:
    whole, status = ran(read(tmp_path, part(command=SH.format("echo ok one; exec sleep 600"), limit=1)))
    assert status == 1 and whole.results[0].status < 0
    assert "ended after its limit of 1 s" in "".join(whole.results[0].counts.failures.values())


def test_a_program_that_is_missing_fails_its_part(tmp_path: pathlib.Path) -> None:
    assert ran(read(tmp_path, part(command="no-such-program", retry=False)))[1] == 1


def test_a_part_whose_need_is_missing_has_failed(tmp_path: pathlib.Path) -> None:
    whole, status = ran(read(tmp_path, part("a", "echo ok one", needs=["nothing-of-that-name"]), part("b", "echo ok")))
    assert status == 1
    assert [(r.part.name, r.counts.passed, len(r.counts.failures)) for r in whole.results] == [("a", 0, 1), ("b", 1, 0)]


def test_the_first_bad_status_of_several_commands_counts(tmp_path: pathlib.Path) -> None:
    rows = read(tmp_path, {**part(format="status", retry=False), "command": ["false", "true"]})
    assert ran(rows)[1] == 1


# ---- Flaky


def test_what_fails_and_then_passes_is_flaky(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = once_bad(tmp_path, "echo seed 42; echo FAIL one; exit 1", "echo ok one && exit 0")
    whole, status = ran(read(tmp_path, part(command=command)))
    assert status == 0 and times(tmp_path) == 2 and whole.results[0].counts.row() == (1, 0, 0)
    test, date, load, seed, commit = (tmp_path / "flaky.tsv").read_text().rstrip("\n").split("\t")
    assert test == "p: one" and re.fullmatch(r"\d{4}-\d\d-\d\d", date) and float(load) >= 0 and commit
    assert seed == "turn 7"  # of the failure itself, whose lines have no seed
    out = capsys.readouterr().out
    assert "FLAKY p: one" in out and "Commit these lines to tests/flaky.tsv" in out
    assert out.splitlines()[-1] == "1 passed, 0 failed, 0 skipped"


PYTEST = """
import pathlib
HERE = pathlib.Path(__file__).parent

def test_fine():
    with (HERE / "runs").open("a") as f:
        f.write("fine ")

def test_flaky():
    with (HERE / "runs").open("a") as f:
        f.write("flaky ")
    assert (HERE / "runs").read_text().count("flaky") > {failures}
"""


@pytest.mark.parametrize(("failures", "status"), [(0, 0), (1, 0), (2, 0), (3, 1)])
def test_of_pytest_only_what_failed_runs_again(failures: int, status: int, tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_some.py").write_text(PYTEST.replace("{failures}", str(failures)))
    command = f"{sys.executable} {{pytest}} {folder}"
    whole, ended = ran(read(tmp_path, part(command=command, format="junit")))
    assert ended == status
    assert (folder / "runs").read_text().split().count("fine") == 1
    assert (folder / "runs").read_text().split().count("flaky") == min(failures + 1, 3)
    assert whole.results[0].counts.row() == ((2, 0, 0) if status == 0 else (1, 1, 0))
    assert bool(whole.results[0].flaky) == (0 < failures < 3)


@pytest.mark.parametrize(
    "said",
    [
        "WARNING: DATA RACE",
        "Segmentation fault (core dumped)",
        "subprocess.CalledProcessError: died with <Signals.SIGSEGV: 11>",
    ],
)
def test_crashes_and_races_are_not_forgiven(said: str, tmp_path: pathlib.Path) -> None:
    command = once_bad(tmp_path, f'echo FAIL one; echo "  {said}"; exit 1', "echo ok one && exit 0")
    assert ran(read(tmp_path, part(command=command)))[1] == 1
    assert times(tmp_path) == 1


def test_fuzzers_and_refusals_are_not_forgiven(tmp_path: pathlib.Path) -> None:
    command = once_bad(tmp_path, "echo FAIL one; exit 1", "echo ok one && exit 0")
    assert ran(read(tmp_path, part(command=command, retry=False)))[1] == 1
    assert times(tmp_path) == 1
    parts = table.read().parts
    assert all(not p.retry and not p.store for p in parts if re.search("fuzz|refusals|random|differential", p.name))


def test_many_failures_are_no_flakes(tmp_path: pathlib.Path) -> None:
    failing = SH.format(f"echo run >>{tmp_path}/runs; for i in $(seq 21); do echo FAIL $i; done; exit 1")
    whole, _ = ran(read(tmp_path, part(command=failing)))
    assert times(tmp_path) == 1 and len(whole.results[0].counts.failures) == 21


def go_result(commands: list[str], **keys: Any) -> execute.Result:
    row = table.Part("go", (), tuple(commands), "go", **keys)
    return execute.Result(row, count.Counts(), 1, 1, tuple(tuple(c.split()) for c in commands))


def test_of_go_only_the_failed_tests_of_a_package_run_again() -> None:
    result = go_result(["go test -json -race -run=Old ./a ./b"])
    assert again.go_commands(result, ["m/a TestX/y", "m/a TestX", "m/a TestZ", "m/b TestB"]) == [
        ["go", "test", "-json", "-race", "-count=1", "-run=^(TestX|TestZ)$", "m/a"],
        ["go", "test", "-json", "-race", "-count=1", "-run=^(TestB)$", "m/b"],
    ]
    assert again.go_commands(result, ["m/a"]) == []  # it does not build
    other = go_result(["sh go.sh test"], again="sh go.sh test {run} {package}")
    assert again.go_commands(other, ["m/a TestX"]) == [["sh", "go.sh", "test", "^(TestX)$", "m/a"]]


def test_a_failed_test_of_go_and_its_parent_count_once() -> None:
    result = go_result(["go test -json ./a"])
    result.counts = count.Counts(5, {"m/a TestX/y": "got 1", "m/a TestX": ""})

    def attempt(*_: object) -> execute.Result:
        return execute.Result(result.part, count.Counts(1, names={"m/a TestX/y", "m/a TestX"}), 0, 1)

    rows = table.Table((), {}, {}, {}, {}, ())
    assert again.settle(result, rows, settings(), attempt).keys() == {"m/a TestX/y", "m/a TestX"}
    assert result.counts.row() == (6, 0, 0)


def test_a_test_that_does_not_run_again_stays_failed() -> None:
    result = go_result(["go test -json ./a"])
    result.counts = count.Counts(5, {"m/a TestX": "got 1"})

    def attempt(*_: object) -> execute.Result:
        return execute.Result(result.part, count.Counts(1, names={"m/a TestY"}), 0, 1)

    again.settle(result, table.Table((), {}, {}, {}, {}, ()), settings(), attempt)
    assert result.counts.row() == (5, 1, 0)


def test_the_ledger_counts_to_three(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ledger.tsv"
    entry = "go: TestX\t2026-01-01\t1.0\tturn 1\tabc"
    file.write_text("\n".join(["\t".join(ledger.COLUMNS), entry, entry, "go: TestY" + entry[9:]]) + "\n")
    assert ledger.check(True, file) == 0
    assert "TestX" not in capsys.readouterr().out
    with file.open("a") as out:
        out.write(entry + "\n")
    assert ledger.check(False, file) == 0 and "skip go: TestX: warning" in capsys.readouterr().out
    assert ledger.check(True, file) == 1 and "FAIL go: TestX" in capsys.readouterr().out
    file.write_text("something else\n")
    assert ledger.check(False, file) == 1


# ---- Timed


@pytest.mark.parametrize(
    ("delays", "statuses", "long", "row"),
    [
        ((0.0, 0.0, 0.0), (1, 1, 1), False, (0, 1, 0)),  # calm: three failures fail
        ((0.0, 0.0), (1, 0), False, (1, 0, 0)),  # calm, then passed: flaky
        ((0.1, 0.1), (1, 1), False, (0, 0, 1)),  # busy twice: inconclusive
        ((0.1, 0.1), (1, 1), True, (0, 1, 0)),  # which test long takes for a failure
        ((0.1, 0.0), (1, 0), False, (1, 0, 0)),  # busy, then passed
        ((0.1, 0.0, 0.0, 0.0), (1, 1, 1, 1), False, (0, 1, 0)),  # busy, then failures of a calm machine
    ],
)
def test_timed_tests_on_a_busy_machine_say_nothing(
    delays: tuple[float, ...], statuses: tuple[int, ...], long: bool, row: tuple[int, ...]
) -> None:
    timed = table.Part("timed", (), ("true",), "status", lane="timed")
    left = list(zip(delays, statuses))

    def attempt(*_: object) -> execute.Result:
        delay, status = left.pop(0)
        failures = {"timed ended with status 1": ""} if status else {}
        return execute.Result(timed, count.Counts(1 - status, failures), status, 1, delay=delay)

    result = attempt()
    again.settle(result, table.Table((), {}, {}, {}, {}, ()), settings(long=long), attempt)
    assert result.counts.row() == row and left == []
    assert bool(result.inconclusive) == (delays == (0.1, 0.1))


def test_every_timed_test_has_a_part() -> None:
    """A timed part that does not name its file would leave it out for good, because all other parts do."""
    commands = " ".join(command for row in table.read().parts if row.timed for command in row.commands).split()
    for file in (ROOT / "tests").rglob("test_*.py"):
        text = file.read_text(encoding="utf-8")
        if re.search(r"^@pytest\.mark\.timed$", text, re.MULTILINE) and file.name != "test_sampling.py":
            assert str(file.relative_to(ROOT)) in commands
    listed = subprocess.run(
        ["git", "grep", "-l", r"\bsample\.Timed(", "--", "*_test.go"], cwd=ROOT, capture_output=True, text=True
    )
    assert listed.stdout
    for name in listed.stdout.split():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert f"./{pathlib.PurePath(name).parent}" in commands
        for test in re.findall(r"func (Test\w+)\(t \*testing\.T\) \{\n\tsample\.Timed\(t\)", text):
            assert re.search(rf"[(|]{test}[|)]", " ".join(commands)), test
        assert text.count("sample.Timed(") == len(re.findall(r"\{\n\tsample\.Timed\(t\)", text))


def test_the_canary_measures_a_delay() -> None:
    with execute.Canary() as canary:
        canary._ended.wait(0.03)
    assert canary.largest > 0


# ---- Not repeated


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The files of the checkout with their hashes."""
    known = {"a/x.py": "1", "docs/x.md": "1"}
    monkeypatch.setattr(store, "contents", cached(lambda: dict(known)))
    monkeypatch.setattr(store, "tools", cached(lambda: {"go": "1"}))
    return known


def cached(function: Any) -> Any:
    """With what clears a cache, but without the cache."""
    function.cache_clear = lambda: None
    return function


def test_a_part_that_has_passed_is_not_repeated(
    tmp_path: pathlib.Path, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    command = SH.format(f"echo run >>{tmp_path}/runs; echo ok one")
    rows, known = read(tmp_path, part(command=command, inputs=["*", "!docs/*"])), store.Store(tmp_path / "passed")
    ran(rows, known=known)
    capsys.readouterr()
    files["docs/x.md"] = "2"  # which it does not read
    whole, status = ran(rows, known=known)
    out = capsys.readouterr().out
    assert status == 0 and times(tmp_path) == 1 and whole.results[0].stored == store.revision()
    assert out.splitlines()[-1] == "0 passed, 0 failed, 1 skipped" and f"passed at {store.revision()}" in out
    files["a/x.py"] = "2"
    ran(rows, known=known)
    assert times(tmp_path) == 2


@pytest.mark.parametrize("change", ["file", "new file", "tool", "variable", "turn", "command"])
def test_what_changes_the_key(
    change: str, tmp_path: pathlib.Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = read(tmp_path, part(turns=True)).parts[0]
    now, row = settings(), first
    before = store.key(first, now)
    assert store.key(first, now) == before
    if change == "file":
        files["a/x.py"] = "2"
    elif change == "new file":
        files["a/y.py"] = "1"
    elif change == "tool":
        monkeypatch.setattr(store, "tools", lambda: {"go": "2"})
    elif change == "variable":
        monkeypatch.setenv("PADDLE_MPS_NUM_THREADS", "1")
    elif change == "turn":
        now = settings("8")
    else:
        row = read(tmp_path, part(command="false", turns=True)).parts[0]
    assert store.key(row, now) != before


def test_the_turn_is_no_part_of_the_key_of_a_part_without_turns(tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    row = read(tmp_path, part()).parts[0]
    assert store.key(row, settings("7")) == store.key(row, settings("8"))


@pytest.mark.parametrize("what", ["failed", "flaky", "store = false", "long", "only skipped"])
def test_what_is_not_kept(what: str, tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    command = {
        "failed": SH.format(f"echo run >>{tmp_path}/runs; echo FAIL one; exit 1"),
        "flaky": once_bad(tmp_path, "echo FAIL one; exit 1", "echo ok one && exit 0"),
        "only skipped": SH.format(f"echo run >>{tmp_path}/runs; echo skip one: no Mac"),
    }.get(what, SH.format(f"echo run >>{tmp_path}/runs; echo ok one"))
    rows = read(tmp_path, part(command=command, store=what != "store = false"))
    known, now = store.Store(tmp_path / "passed"), settings(long=what == "long")
    ran(rows, now, known)
    before = times(tmp_path)
    whole, _ = ran(rows, now, known)
    assert times(tmp_path) > before and whole.results[0].stored == ""


def test_a_part_that_feeds_one_that_runs_runs_too(tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    command = SH.format(f"echo run >>{tmp_path}/runs; echo ok one")
    rows = read(tmp_path, part("a", command, feeds="b"), part("b", "echo ok two", store=False))
    known = store.Store(tmp_path / "passed")
    ran(rows, known=known)
    ran(rows, known=known)
    assert times(tmp_path) == 2


def test_a_part_is_not_kept_if_its_files_change_while_it_runs(
    tmp_path: pathlib.Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, known = read(tmp_path, part(command="echo ok one", inputs=["a/*"])), store.Store(tmp_path / "passed")
    for changed, stored in ((set(), True), ({"docs/x.md"}, True), ({"a/x.py"}, False)):
        monkeypatch.setattr(store, "changed", lambda changed=changed: changed)
        files["a/x.py"] += "1"
        ran(rows, known=known)
        assert (known.find(rows.parts[0], store.key(rows.parts[0], settings())) is not None) == stored


def test_a_damaged_file_of_the_store_is_not_believed(tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    row, known = read(tmp_path, part()).parts[0], store.Store(tmp_path)
    key = store.key(row, settings())
    for text in ("", "{}", json.dumps({"key": "other", "row": [1, 0, 0]}), json.dumps({"key": key, "row": [1, 1, 0]})):
        known.file(row, key).write_text(text)
        assert known.find(row, key) is None


def test_contents_have_files_that_are_not_yet_committed() -> None:
    store.contents.cache_clear()
    known = store.contents()
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {name for name in listed if (ROOT / name).exists()} <= set(known)


@pytest.mark.parametrize(
    ("globs", "names"),
    [
        (["*"], ["README.md", "a/b.go", "a/b_test.go", "docs/a.md"]),
        (["*", "!docs/*"], ["README.md", "a/b.go", "a/b_test.go"]),
        (["*", "!*.md", "docs/*"], ["a/b.go", "a/b_test.go", "docs/a.md"]),
        (["*.go", "!*_test.go"], ["a/b.go"]),
        ([], []),
    ],
)
def test_globs(globs: list[str], names: list[str]) -> None:
    assert store.chosen(globs, ["README.md", "a/b.go", "a/b_test.go", "docs/a.md"]) == names


# ---- Order, and the table itself


def test_lanes(tmp_path: pathlib.Path) -> None:
    """The first lane runs before all, those alone after both lanes, timed parts last."""
    lanes = ["alone", "cpu", "timed", "mock", "first", "cpu", "alone"]
    rows = read(tmp_path, *(part(f"{lane}{n}", lane=lane) for n, lane in enumerate(lanes)))
    order: list[str] = []

    def note(row: table.Part, *_: object) -> execute.Result:
        order.append(row.name)
        return execute.Result(row, count.Counts(1), 0, 1)

    whole = run.Run(rows, settings(), execute=note)
    whole.suites([rows.parts])
    assert order[0] == "first4" and order[4:] == ["alone0", "alone6", "timed2"]
    assert set(order[1:4]) == {"cpu1", "cpu5", "mock3"}  # a lane that has ended takes from the other


def test_a_run_of_the_first_lane_alone_waits_for_it(tmp_path: pathlib.Path) -> None:
    """`./build.sh test darwin-build` printed that nothing was there to do."""
    rows = read(tmp_path, part("first", lane="first"))

    def slow(row: table.Part, *_: object) -> execute.Result:
        threading.Event().wait(0.2)
        return execute.Result(row, count.Counts(1), 0, 1)

    whole = run.Run(rows, settings(), execute=slow)
    whole.suites([rows.parts])
    assert [result.part.name for result in whole.results] == ["first"]


def test_a_lane_has_the_order_of_the_table() -> None:
    """The other lane holds its part until this one has ended."""
    ended = threading.Event()
    done: list[str] = []

    def one(part: table.Part) -> None:
        if part.name == "c":
            assert ended.wait(60)
            return
        done.append(part.name)
        if len(done) == 2:
            ended.set()

    rows = {name: table.Part(name, (), ("true",), "status") for name in "abc"}
    run.beside(one, [rows["a"], rows["b"]], [rows["c"]])
    assert done == ["a", "b"]


def test_a_lane_that_has_ended_takes_from_the_other() -> None:
    """Each lane holds one part up until both have begun; the third is taken by the lane that has no more of its own."""
    both = threading.Barrier(2, timeout=60)
    third = threading.Event()
    done: list[str] = []

    def one(part: table.Part) -> None:
        if part.name in ("a", "b"):
            both.wait()
        if part.name == "a":
            assert third.wait(60)
        if part.name == "c":
            third.set()
        done.append(part.name)

    rows = {name: table.Part(name, (), ("true",), "status") for name in "abc"}
    run.beside(one, [rows["a"], rows["c"]], [rows["b"]])
    assert done == ["b", "c", "a"]


def test_parts_that_wait_run_beside_the_lanes() -> None:
    """All three run at once; a lane that has ended takes no part that waits, nor does the lane of those take from the others."""
    three = threading.Barrier(3, timeout=60)
    by: dict[str, str] = {}

    def one(part: table.Part) -> None:
        by[part.name] = threading.current_thread().name
        if part.name in "abw":
            three.wait()

    rows = {name: table.Part(name, (), ("true",), "status") for name in "abcwx"}
    run.beside(one, [rows["a"], rows["c"]], [rows["b"]], waits=[rows["w"], rows["x"]])
    assert by["w"] == by["x"] and len({by["a"], by["b"], by["w"]}) == 3 and by["c"] != by["w"]


def test_what_a_lane_raises_is_raised() -> None:
    def one(part: table.Part) -> None:
        raise RuntimeError(part.name)

    with pytest.raises(RuntimeError, match="a"):
        run.beside(one, [table.Part("a", (), ("true",), "status")], [])


def test_needs_of_later_suites_are_made_beside_parts(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the first suite waits for a need of the second one, and a part of that for all needs of its suite."""
    rows = read(tmp_path, part("a", needs=["one"]), part("b", needs=["two"]), part("c", needs=["three", "lost"]))
    have: list[str] = []
    two, ran = threading.Event(), {}

    def make(self: run.Run, need: str) -> None:
        have.append(need)
        self.prepared[need] = need != "lost"
        if need == "two":
            two.set()

    def one(row: table.Part, *_: object) -> execute.Result:
        assert row.name != "a" or two.wait(60)
        ran[row.name] = list(have)
        return execute.Result(row, count.Counts(1), 0, 1)

    monkeypatch.setattr(run.Run, "have", make)
    whole = run.Run(rows, settings(), execute=one)
    whole.suites([rows.parts[:1], rows.parts[1:], rows.parts[:2]])
    assert have == ["one", "two", "three", "lost"]
    assert ran["b"] == have and list(ran) == ["a", "b"]
    assert [tuple(result.counts.row()[:2]) for result in whole.results] == [(1, 0), (1, 0), (0, 1)]


def test_lists_of_kinds_are_joined() -> None:
    kinds = {"a": {"env": ["X=1"], "needs": "lib", "turns": True}, "b": {"env": "Y=1", "turns": False}}
    row = {"name": "p", "like": ["a", "b"], "env": ["Z=1"], "needs": ["lib", "tool"]}
    whole = table.merged(row, kinds)
    assert whole["env"] == ["X=1", "Y=1", "Z=1"] and whole["needs"] == ["lib", "tool"] and whole["turns"] is False


@pytest.mark.parametrize("wrong", [{"lane": "fast"}, {"colour": "red"}])
def test_mistakes_in_the_table_are_named(wrong: dict[str, str], tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match=r"fast|colour"):
        read(tmp_path, part(**wrong))


@pytest.mark.parametrize("long", [False, True])
def test_the_table(long: bool) -> None:
    """Every row can be read, every suite of CI has parts, and what parts need is known to build.sh."""
    rows = table.read(long=long)
    assert all(main.of_suite(rows, suite) for suite in main.CI)
    script = (ROOT / "build.sh").read_text(encoding="utf-8")
    prepare = script[script.index("\nprepare() {") : script.index("\n}\n", script.index("\nprepare() {"))]
    for row in rows.parts:
        assert row.format in count.FORMATS and row.commands and row.inputs
        assert "{report}" in " ".join(row.commands) or ("{pytest}" in " ".join(row.commands)) == (row.format == "junit")
        for need in row.needs:
            assert re.search(rf"[( |]{need.split()[0]}[ |)]", prepare), need
        for command in row.commands:
            words, _ = execute.expand(
                row, command.replace("{packages:", "{other:"), row.name, rows, settings(long=long)
            )
            assert words


def test_no_part_of_the_baseline_is_lost() -> None:
    """The parts that `test` had at commit 9d64382 are those of the table."""
    baseline = json.loads((ROOT / "tests" / "baseline_9d64382.json").read_text())
    assert set(baseline) <= {row.name for row in main.of_suite(table.read(), "test")}


def test_packages_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"list": "./...", "without": "/msl$", "turns": ["a|b", "c(?:/d)?"]}
    listed = [f"x/paddle-mps/{name}" for name in ("a", "b", "c", "c/d", "c/e", "msl")]
    monkeypatch.setattr(execute, "output", lambda *_: "\n".join(listed))
    taken = {turn: execute.go_packages(spec, settings(turn)) for turn in ("0", "1", "")}
    assert [name.rpartition("paddle-mps/")[2] for name in taken["0"][0]] == ["a", "b"]
    assert [name.rpartition("paddle-mps/")[2] for name in taken["1"][0]] == ["c", "c/d"]
    assert taken[""][0] == taken["0"][0] + taken["1"][0]
    assert taken["0"][1].startswith("left out 3: ")
    assert execute.go_packages(spec, settings(long=True)) == (listed[:-1], "")


def test_turns_advance_with_what_a_part_reads(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for number, file in enumerate(["a/x.py", "docs/x.md", "a/x.py", "docs/x.md", "docs/y.md"]):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(str(number))
        git("add", "-A")
        git("commit", "-qm", file)
    monkeypatch.setattr(table, "ROOT", tmp_path)
    table.changes.cache_clear()
    code = table.Part("p", (), (), "lines", inputs=("*", "!docs/*"), turns=True)
    now = settings("5", given=False)
    assert table.commits() == "5" and table.turn_of(code, now) == "2"
    assert table.turn_of(table.Part("p", (), (), "lines", turns=True), now) == "5"
    assert table.turn_of(code, settings("40")) == "40"  # the caller's
    assert table.turn_of(code, settings("", given=False)) == ""
    assert execute.environment(code, now)["PADDLE_MPS_SAMPLE"] == "2"
    table.changes.cache_clear()


def test_random_programs_have_seeds_and_seconds_of_their_turn() -> None:
    assert [settings("6").random_seconds(n) for n in range(6)] == [30, 4, 4, 4, 4, 4]
    assert settings("6").seed == "60000"
    assert execute.filled("--seconds={seconds:0} --seed={seed}", settings("6")) == "--seconds=30 --seed=60000"


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    monkeypatch.setenv("PADDLE_MPS_CACHE", "")
    assert table.cache() is None and store.opened() is None
    monkeypatch.delenv("PADDLE_MPS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert table.cache() == tmp_path / "paddle-mps"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert table.cache() == tmp_path / "home" / ".cache" / "paddle-mps"
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOME", str(tmp_path / "file"))  # no folder can be made there
    assert table.cache() is None and table.cache_folder("shaders", f"{tmp_path}/inside").is_dir()


# ---- What a change touches


ROWS = """package op

var rows = []row{
	{
		ID: 1, Name: "add",
		// Why.
		Tolerance: 1,
	},
	{
		ID: 2, Name: "log1p",
		Tolerance: 1,
	},
	{ID: 3, Name: "abs"},
	{ID: 4, Name: "neg"},
}

var shaders = map[op.ID]text{
	op.IDLog1p: float("log_of_1_and(x)"),
	op.IDAdd:   any("x + y"),
}

var formulas = []composite{
	{
		id: 5,
		formula: `logaddexp(x, y) = log1p(
			exp(x))`,
	},
}

func helper() {
	return
}

func register() {
	loop(op.IDNeg)
	loop(nil)
}
"""


@pytest.fixture
def repository(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A checkout of one commit, with operators."""
    root = tmp_path / "checkout"
    for name, text in {
        "core/op/testdata/ids.golden": "1 add\n2 log1p\n3 abs\n4 neg\n5 logaddexp\n",
        "core/op/rows_x.go": ROWS,
        "python/files/save.py": "x = 1\n",
        "tests/test_turns.py": "@pytest.mark.sampled(3)\ndef test_x(): ...\n",
        "tests/test_plain.py": "def test_x(): ...\n",
        "tests/bug_reports/case_of.py": "x = 1\n",
        "x/x_test.go": "sample.Skip(t, 3, name, 0)\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for module in (table, touched):
        monkeypatch.setattr(module, "ROOT", root)
    touched.operators.cache_clear()
    touched.since.cache_clear()
    commit(root, "first")
    return root


def git(root: pathlib.Path, *words: str) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def commit(root: pathlib.Path, message: str) -> str:
    if not (root / ".git").exists():
        git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", message, "--allow-empty")
    return git(root, "rev-parse", "HEAD")


RULES = {"most": 3, "operators": ["core/op/rows_*.go"], "files": {"python/files/*": "tests/test_turns.py"}}
TURNS = table.Part("p", (), (), "lines", turns=True)


def found(known: store.Store | None = None, rules: dict[str, Any] = RULES) -> touched.Touched:
    touched.since.cache_clear()
    return touched.touched(TURNS, settings(), rules, known)


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("		// Why.\n", "		// Because.\n", ["add"]),
        ("		ID: 2, Name: \"log1p\",\n		Tolerance: 1,", "		ID: 2, Name: \"log1p\",\n		Tolerance: 2,", ["log1p"]),
        ('	{ID: 3, Name: "abs"},\n', '	{ID: 3, Name: "abs", Own: true},\n', ["abs"]),
        ('	{ID: 4, Name: "neg"},\n', "", ["neg"]),  # the row that is gone
        ('any("x + y")', 'any("y + x")', ["add"]),
        ("			exp(x))`", "			exp(y))`", ["logaddexp"]),
        ("loop(nil)", "loop(none)", ["neg"]),
        ('	{ID: 3, Name: "abs"},\n', '	{\n		ID: 3,\n		Name: "abs",\n	},\n', ["abs"]),
        ("	return\n", "	panic(1)\n", None),
        ("var rows = []row{", "var rows = []Row{", None),
    ],
)  # fmt: skip
def test_the_operators_of_changed_lines(old: str, new: str, names: list[str] | None, repository: pathlib.Path) -> None:
    commit(repository, "second")
    assert ROWS.count(old) == 1
    (repository / "core/op/rows_x.go").write_text(ROWS.replace(old, new))
    said = found()
    assert said.base == git(repository, "rev-parse", "HEAD^")
    assert said.names == tuple(names or ())
    assert (said.kept == ()) == (names is not None)
    assert names is not None or "core/op/rows_x.go has changes that name no operator" in " ".join(said.lines())


def test_the_files_of_tests_that_a_change_touches(repository: pathlib.Path) -> None:
    commit(repository, "second")
    for name in ("python/files/save.py", "tests/test_plain.py", "tests/bug_reports/case_of.py", "x/x_test.go"):
        with (repository / name).open("a") as file:
            file.write("# more\n")
    said = found()  # the one without turns runs anyway
    assert said.names == ("tests/bug_reports/case_of.py", "tests/test_turns.py", "x/x_test.go")
    assert said.folders == ("x",) and "x/" in said.words and said.kept == ()
    (repository / "tests/test_new.py").write_text("@pytest.mark.sampled(3)\n")
    said = found()
    assert said.names == () and said.kept == ("4 files of tests are touched, more than 3",)


def test_since_when_files_count_as_changed(repository: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Since the caller's commit, else since the part has passed, else since the commit before."""
    first, known = git(repository, "rev-parse", "HEAD"), store.Store(repository.parent / "passed")
    assert found().kept == ("git does not have the commit before",)
    (repository / "tests/test_turns.py").write_text("@pytest.mark.sampled(5)\n")
    second = commit(repository, "second")
    (repository / "x/x_test.go").write_text("sample.Skip(t, 5, name, 0)\n")
    third = commit(repository, "third")
    monkeypatch.setattr(store, "revision", lambda: "third")
    assert (found().base, found(known).base, found().names) == (second, second, ("x/x_test.go",))
    passed = execute.Result(TURNS, count.Counts(1), 0, 1)
    monkeypatch.setattr(store, "output", lambda *_: first)
    known.set_base(execute.Result(TURNS, count.Counts(1, {"x": ""}), 0, 1))
    assert known.base(TURNS) == ""  # it has failed
    known.set_base(passed)
    assert found(known).names == ("tests/test_turns.py", "x/x_test.go")
    monkeypatch.setattr(store, "output", lambda *_: third)
    monkeypatch.setattr(store, "revision", lambda: "third with changes")
    known.set_base(passed)
    assert known.base(TURNS) == first
    monkeypatch.setenv("PADDLE_MPS_BASE", third)
    assert found(known).names == ()
    monkeypatch.setenv("PADDLE_MPS_BASE", "0" * 40)
    assert found(known).base == ""
    (known.folder / "p.commit").write_text("not a commit\n")
    monkeypatch.delenv("PADDLE_MPS_BASE")
    assert found(known).base == second


def test_parts_without_turns_have_nothing_to_add(repository: pathlib.Path) -> None:
    commit(repository, "second")
    plain = table.Part("p", (), (), "lines")
    assert touched.touched(plain, settings(), RULES, None) == touched.Touched()
    assert touched.touched(TURNS, settings(""), RULES, None) == touched.Touched()
    assert touched.touched(TURNS, settings(), {}, None) == touched.Touched()


def test_a_part_is_repeated_for_what_it_has_not_run_whole(tmp_path: pathlib.Path, files: dict[str, str]) -> None:
    row, known = read(tmp_path, part(turns=True)).parts[0], store.Store(tmp_path / "passed")
    key = store.key(row, settings())
    known.add(execute.Result(row, count.Counts(1), 0, 1), key, ["add", "x/"])
    assert known.find(row, key) and known.find(row, key, ["add"])
    assert known.find(row, key, ["add", "mean"]) is None


def test_a_part_is_told_what_a_change_touches(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_MPS_TOUCHED", "of the caller")
    command = SH.format("echo ok one; echo skip it: $PADDLE_MPS_TOUCHED")
    rows = read(tmp_path, part("a", command, turns=True), part("b", command))
    whole = run.Run(rows, settings())
    whole.touched = {"a": touched.Touched("1", ("add", "mean")), "b": touched.Touched()}
    whole.suites([rows.parts])
    assert {r.part.name: list(r.counts.skips) for r in whole.results} == {"a": ["add mean"], "b": ["no reason given"]}


def test_packages_with_changes_run_whatever_their_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"list": "./...", "always": "a(?:/.*)?", "turns": ["b", "c|d"]}
    listed = [f"github.com/paddle-mps/paddle-mps/{name}" for name in ("a", "a/x", "b", "c", "d", "e", "b/paddle-mps/c")]
    monkeypatch.setattr(execute, "output", lambda *_: "\n".join(listed))
    for folders, want in (((), "a a/x b"), (("d", "e"), "a a/x b d")):  # e has no turn
        taken, said = execute.go_packages(spec, settings("0", folders=folders))
        assert " ".join(map(execute.folder_of, taken)) == want and said.startswith(f"left out {7 - len(taken)}: ")


def test_each_package_has_a_turn_under_the_emulator(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = table.read().packages["darwin"]
    listed = {}
    for system in ("linux", "darwin"):
        environment = {**os.environ, "GOOS": system, "GOARCH": "arm64", "CGO_ENABLED": "1"}
        done = subprocess.run(["go", "list", "./..."], cwd=ROOT, env=environment, capture_output=True, text=True)
        listed[system] = done.stdout.split()
    assert len(listed["linux"]) > 100 and listed["linux"] == listed["darwin"]
    for package in listed["linux"]:
        shares = [spec["always"], *spec["turns"]]
        assert sum(bool(re.fullmatch(share, execute.folder_of(package))) for share in shares) == 1, package


def test_the_table_of_what_changes_touch() -> None:
    """Each glob fits a file, and each file of tests has cases that take turns."""
    rules, names = table.read().touched, list(store.contents())
    for glob in (g for g in [*rules["operators"], *rules["files"]] if not g.startswith("!")):
        assert store.chosen([glob], names), glob
    for file in {f for to in rules["files"].values() for f in table.listed(to)}:
        assert touched.takes_turns(file), file


# ---- The plan


def test_the_plan_says_what_runs_and_runs_nothing(
    tmp_path: pathlib.Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = SH.format(f"echo run >>{tmp_path}/runs; echo ok one")
    rows = read(
        tmp_path,
        part("a", command, inputs=["a/*"]),
        part("b", command, inputs=["docs/*"], feeds="a", lane="cpu", seconds=20),
        part("c", command, store=False, seconds=5),
    )
    monkeypatch.setattr(table, "read", lambda **_: rows)
    monkeypatch.setattr(main, "CI", ("s",))
    ran(rows, known=store.opened())
    before = times(tmp_path)
    monkeypatch.setattr(table, "settings", lambda *_: settings())

    def planned(*words: str) -> list[str]:
        capsys.readouterr()
        assert main.main(["plan", *words]) == 0
        return [line.split()[0] for line in capsys.readouterr().out.splitlines() if " s  " in line]

    assert planned() == ["c"]
    assert planned("--changed", "docs/*") == ["b", "c"]
    assert planned("--changed", "a/x.py") == ["a", "b", "c"]  # b feeds a
    assert planned("--changed", "a/x.py", "b") == []  # without what it feeds
    files["docs/x.md"] = "2"
    assert planned() == ["b", "c"] and planned("a") == []
    assert times(tmp_path) == before


def test_the_conformance_suite_runs_nothing_that_its_parts_leave_out() -> None:
    """Rooms of the package that are no inputs of these parts are imported and not called."""
    from paddle_mps.selftest import suite

    ran: set[str] = set()

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            ran.add(frame.f_code.co_filename)

    cases = list(suite.cases())[::97]
    sys.setprofile(note)
    try:
        for case in cases:
            suite.check(case, "cpu")
    finally:
        sys.setprofile(None)
    files = {pathlib.Path(name).relative_to(ROOT).as_posix() for name in ran if name.startswith(f"{ROOT}/python/")}
    assert len(cases) > 50 and len(files) > 10
    for name in ("conformance-cpu", "refusals-msl"):
        assert set(store.chosen(table.read().named(name).inputs, list(files))) == files
