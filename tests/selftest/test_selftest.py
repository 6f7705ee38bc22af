"""The self-test as a program: what passes, what it prints, and how it survives what it tests."""

from __future__ import annotations

import io
import json
import os
import pathlib
import re
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

from paddle_mps.selftest import accuracy, census, child, command, leaks, oracle, plan, recorder, report, suite
from paddle_mps.selftest.progress import Bar
from paddle_mps.selftest.recorder import Recorder

ROOT = pathlib.Path(__file__).parents[2]


@pytest.mark.sampled(5, 0)
def test_quick_passes_in_a_minute(selftest: Any, tmp_path: pathlib.Path) -> None:
    """What is sound passes, in all sections on all devices, within the minute that is promised. A machine that is so busy
    that the minute does not suffice leaves checks out, which is no failure."""
    begun = time.monotonic()
    done = selftest("--quick", "--output", str(tmp_path / "report.md"))
    seconds = time.monotonic() - begun
    text = (tmp_path / "report.md").read_text()
    assert done.returncode == 0, text
    assert re.fullmatch(
        r"\*\*(PASS|INCOMPLETE)\*\*: [\d,]+ checks on mps, mps by MPSGraph, cpu, none failed .*\n", done.stdout
    ), done.stdout
    late = set(re.findall(rf"^- (\S+) on .*: {Recorder.LATE}$", text, re.MULTILINE))
    if late - {"conformance", "accuracy"} or seconds >= 60:  # those two are more than a minute's work on any machine
        pytest.skip(
            f"this machine is too busy: --quick took {seconds:.0f} s and left out some of {', '.join(sorted(late))}"
        )
    for section in plan.SECTIONS:
        assert re.search(rf"^\| mps \| {section} \| [1-9]", text, re.MULTILINE), f"{section} did nothing\n{text}"
    assert "none missing" in text and "TFLOP/s" in text and "| exp |" in text and "GPU family Apple7" in text


def test_risky_steps_that_were_not_tried_are_no_pass() -> None:
    """The verdict names them, and time is never taken from them for other sections."""
    metal = plan.Target("mps", "mps", "metal", {})
    outcomes = [
        recorder.Outcome("environment", "this machine", numbers={"backends": {"mps": "metal"}}),
        recorder.Outcome("bring-up", "mps", passed=3, skipped={Recorder.LATE: 22}),
        recorder.Outcome("conformance", "mps", passed=1, skipped={Recorder.LATE: 6000}),
    ]
    text = report.verdict(outcomes, True, 60)
    assert text.startswith("**INCOMPLETE**: 4 checks") and "22 of bring-up" in text and "--section bring-up" in text
    outcomes[1].skipped.clear()
    assert report.verdict(outcomes, True, 60).startswith("**PASS**: 4 checks")
    steps = [("bring-up", metal), ("conformance", metal)]
    assert command.share(steps, 1.0) == command.BUDGETS["bring-up"]
    assert command.share(steps[1:], 1.0) < command.BUDGETS["conformance"]


def test_a_machine_without_a_gpu() -> None:
    """There the emulated device is checked, and the verdict says that no GPU was."""
    if sys.platform == "darwin":
        pytest.skip("a Mac has one")
    env = {k: v for k, v in os.environ.items() if k != "PADDLE_MPS_DEVICE"}
    command = [sys.executable, "-m", "paddle_mps.selftest", "--quick", "--section", "probes"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "checks on emulated mps, cpu, none failed" in done.stdout and "**no Apple GPU** was checked" in done.stdout
    assert "\r" not in done.stderr, "there is no progress bar without a terminal"


def test_numpy_is_enough(tmp_path: pathlib.Path) -> None:
    """Without mpmath everything runs but what only mpmath can judge."""
    (tmp_path / "mpmath.py").write_text("raise ImportError('hidden')")

    def run(*arguments: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(tmp_path)}
        done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=100, env=env)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run("-m", "paddle_mps.selftest", "--quick", "--place", "cpu", "--section", "conformance")
    judges = (
        "from paddle_mps.selftest import oracle, suite; "
        "print(*(oracle.judges(suite.BY_NAME[name], 'float64') for name in ('erf', 'exp')))"
    )
    assert run("-c", judges) == "False True\n"


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_what_accuracy_measures_has_an_oracle(place: str) -> None:
    """A row that another test covers has no expression of NumPy: it is left out instead of reported as failed."""
    measured = accuracy.functions(place)
    assert len(measured) > 100
    for row, _ in measured:
        oracle.compiled(row["numpy"])


def test_a_crash_is_a_line_of_the_report(selftest: Any) -> None:
    """A device that ends the process is reported with what was tried and what it said."""
    done = selftest("--quick", "--section", "census", FAKEMETAL_DEFECT="nonsense")
    assert done.returncode == 1
    assert "the process was ended by SIGABRT" in done.stdout and 'FAKEMETAL_DEFECT is "nonsense"' in done.stdout


def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path, program: str) -> plan.Target:
    """Puts a program in the place of the worker, which gets its arguments."""
    package = tmp_path / "pretended"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "worker.py").write_text(WORKER + program)
    monkeypatch.setattr(child, "__package__", "pretended")
    return plan.Target("mps", "mps", "metal", {"PYTHONPATH": str(tmp_path)})


WORKER = """
import io, os, sys, time
from paddle_mps.selftest.recorder import Recorder
section, place, budget, after, first = sys.argv[1:]
record = Recorder(sys.stdout, None, int(after), first == "first")
record.expect(4)
"""


def test_a_section_goes_on_behind_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    program = """
record.check("sound", lambda: None)
record.check("deadly", os.abort)
record.number("table", {"a": 1})
record.check("wrong", lambda: 1 / 0)
record.check("deadly too", lambda: (print("last words", file=sys.stderr, flush=True), os.abort()))
"""
    target = worker(monkeypatch, tmp_path, program)
    heard = child.run("probes", target, 0, False, lambda *_: None)
    assert heard.passed == 1
    assert [name for name, _ in heard.failed] == ["deadly", "wrong", "deadly too"]
    assert heard.failed[2][1] == "the process was ended by SIGABRT\nlast words" and heard.numbers["table"] == {"a": 1}
    heard = child.run("probes", target, 0, True, lambda *_: None)
    assert [name for name, _ in heard.failed] == ["deadly"], "and not where the first failure is to be the last"


def test_a_section_that_never_begins_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    target = worker(monkeypatch, tmp_path, "sys.exit('no such device')")
    heard = child.run("probes", target, 0, False, lambda *_: None)
    assert heard.failed == [("the start", "the process ended with status 1\nno such device")]


def test_silence_is_taken_for_death(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    target = worker(monkeypatch, tmp_path, "record.check('a wait', lambda: time.sleep(0 if int(after) else 60), 2.0)")
    heard = child.run("probes", target, 0, False, lambda *_: None)
    assert heard.failed == [("a wait", "no answer for 2 s")]


def test_collect_env() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "paddle_mps.collect_env"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PADDLE_MPS_DEVICE": "host", "PADDLE_MPS_NUM_THREADS": "2"},
    )  # fmt: skip
    for title in ("paddle_mps", "library", "system", "machine", "Python", "NumPy", "cpu", "mps:0", "environment"):
        assert re.search(rf"^{title}: .", done.stdout, re.MULTILINE), done.stdout + done.stderr
    assert "PADDLE_MPS_NUM_THREADS=2" in done.stdout
    for template in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("wrong*.md"):
        assert "python -m paddle_mps.collect_env" in template.read_text()


def test_recorder_counts() -> None:
    out = io.StringIO()
    record = recorder.Recorder(out, first=True)

    def fails() -> None:
        raise ValueError("no")

    def skips() -> None:
        raise recorder.Skip("not here")

    for work in (lambda: 3, lambda: None, skips, fails, lambda: 1):
        record.check("x", work)
    heard = recorder.Outcome("s", "t")
    for line in out.getvalue().splitlines():
        heard.add(json.loads(line))
    assert heard.passed == 4 and heard.failed == [("x", "ValueError: no")]
    assert heard.skipped == {"not here": 1, recorder.Recorder.STOPPED: 1}
    late = recorder.Recorder(io.StringIO(), budget=-1.0)
    late.check("x", fails)
    assert late.late


def test_verdict_names_where() -> None:
    outcomes = [
        recorder.Outcome("environment", "this machine"),
        recorder.Outcome("probes", "mps", 3, [("a", "b"), ("c", "d\ne")]),
    ]
    text = report.write(outcomes, quick=False, seconds=2.0)
    assert "**FAIL**: 2 of 5 checks failed: probes on mps (2)\n" in text
    assert "- `c`: d\n      e" in text


def test_one_table_of_errors_for_each_device() -> None:
    """Two sections measure errors. What is exact has no bound, and no change has no sign."""
    outcomes = [recorder.Outcome("environment", "this machine")]
    for target in ("mps", "cpu"):
        outcomes += [
            recorder.Outcome("conformance", target, numbers={"worst": {"sum float32": [0.41, 4.3]}}),
            recorder.Outcome("accuracy", target, numbers={"worst": {
                "exp float16": [0.5, 1.0], "abs float16": [0.0, 1.0], "abs float32": [0.0, 1.0], "sign float32": [0.0, 1.0],
                "divide float16": [0.0, 0.5], "divide float32": [0.5, 0.5]}}),
        ]  # fmt: skip
    text = report.write(outcomes, False, 1.0)
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert len(headings) == len(set(headings)) == 2
    assert "| sum |  | 0.41 of 4.3 |\n| exp | 0.50 of 1 |  |\n| divide | exact | 0.50 of 0.5 |\n" in text
    assert "Exact in all of these dtypes that they take: abs, sign\n" in text and "0.00" not in text
    assert [leaks.mebibytes(n * leaks.MIB) for n in (-0.04, 0.04, -0.06, 1.26)] == [
        "0.0 MiB", "0.0 MiB", "-0.1 MiB", "+1.3 MiB",
    ]  # fmt: skip


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has a GPU")
def test_why_there_is_no_mps_is_said_once() -> None:
    env = {k: v for k, v in os.environ.items() if k != "PADDLE_MPS_DEVICE"}
    command = [sys.executable, "-m", "paddle_mps.collect_env"]
    said = subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout
    assert "\nmps: not available: this is Linux" in said


def test_a_wrong_result_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """A suite that never fails would prove nothing: one changed element is enough."""
    true = suite.numpy_of

    def spoiled(x: Any) -> Any:
        array = np.array(true(x))
        array.reshape(-1)[-1:] = 0.125 if array.dtype.kind == "f" else 77
        return array

    case = suite.Case("add", "float32", "same")
    assert suite.check(case, "cpu") == 1
    monkeypatch.setattr(suite, "numpy_of", spoiled)
    with pytest.raises(AssertionError, match=r"got .*0\.125.* ulp apart; the tolerance of the row is 0\.5$"):
        suite.check(case, "cpu")


@pytest.mark.parametrize(
    ("encoding", "count"),
    [("@@:", 2), ("v40@0:8@16Q24Q32", 5), ("v@:{?=QQQ}{?=QQQ}", 4), ("@@:@^@", 4), ("v@:r^vQQ", 5), ("v@:@?", 3),
     ("^v@:", 2), ("@@:@^{x=^{y=[4i]}}", 4), ('@"NSString"16@0:8', 2), ("", 0), ("{{{", 2)],
)  # fmt: skip
def test_arguments_of_an_encoding(encoding: str, count: int) -> None:
    assert census.arguments(encoding) == count


@pytest.mark.parametrize(
    ("found", "since", "optional", "good"),
    [(True, "", False, True), (False, "", False, False), (False, "16.0", False, True), (False, "15.0", False, False), (False, "", True, True)],
)  # fmt: skip
def test_what_may_be_missing(found: bool, since: str, optional: bool, good: bool) -> None:
    finding = {"class": "C", "selector": "m:", "since": since, "optional": optional, "found": found, "encoding": "v@:Q"}
    if good:
        census.judge(finding, "15.2")
    else:
        with pytest.raises(AssertionError, match="has no such method"):
            census.judge(finding, "15.2")


def test_a_method_with_other_arguments() -> None:
    finding = {"class": "C", "selector": "m:", "since": "", "optional": False, "found": True, "encoding": "v@:QQ"}
    with pytest.raises(AssertionError, match="4 arguments; want 3"):
        census.judge(finding, "15.2")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_bar_is_one_line() -> None:
    out = Terminal()
    bar = Bar(out)
    bar.show("probes on mps", 0.5, "streams")
    bar.say("FAIL")
    assert out.getvalue().count("\n") == 1 and "[############............] streams" in out.getvalue()
    quiet = io.StringIO()
    Bar(quiet).show("probes on mps", 0.5, "streams")
    assert quiet.getvalue() == ""


@pytest.mark.sampled(5, 3)
def test_refusals_are_reported(selftest: Any) -> None:
    """What a compiler refuses fails no check, and the report quotes it."""
    options = ("--quick", "--section", "conformance", "--place", "mps", "--budget", "3")
    done = selftest(*options, FAKEMETAL_REFUSE="library:*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\*\*PASS\*\*.*\*\*[\d,]+ refusals\*\* of Apple's compilers", done.stdout), done.stdout
    assert re.search(
        r"^In all processes together: [\d,]+ refused shaders, [\d,]+ second way steps$", done.stdout, re.MULTILINE
    )
    assert re.search(r"^- \[\w+\] \w+: Metal refuses its shader: .*is ambiguous.*\(macOS ", done.stdout, re.MULTILINE)
    assert "refusals" not in selftest(*options).stdout


@pytest.mark.sampled(5, 2)
def test_a_refused_shader_fails_its_step_of_bring_up(selftest: Any) -> None:
    """The results are right by another way: the step says which, and what the library does instead."""
    done = selftest("--quick", "--section", "bring-up", "--place", "mps", FAKEMETAL_REFUSE="library:*")
    assert done.returncode == 1, done.stdout + done.stderr
    failed = dict(re.findall(r"^- `(.+)`: (.*)$", done.stdout, re.MULTILINE))
    assert {"first addition", "shaders: softmax"} <= failed.keys(), done.stdout
    assert "copies" not in failed
    assert "the results are right, but another way gave them: 1 refused shaders" in failed["first addition"]
    assert "what the library does instead: What is refused runs by another shader" in done.stdout
    assert "Nothing runs on this GPU" not in done.stdout
