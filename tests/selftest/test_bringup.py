"""The bring-up section: it survives the death of every step, and says what a failure means."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
from typing import Any

import pytest
from test_selftest import worker  # type: ignore[import-not-found]  # pytest finds it

from paddle_mps.selftest import bringup, child, recorder, report


@pytest.mark.sampled(5, 1)
def test_every_step_passes(selftest: Any) -> None:
    """On a sound device all steps are taken and none is skipped."""
    done = selftest("--section", "bring-up")
    assert done.returncode == 0, done.stdout
    assert re.search(rf"^\| mps \| bring-up \| {len(bringup.STEPS)} \| 0 \| 0 \|", done.stdout, re.MULTILINE), (
        done.stdout
    )


def test_every_failure_says_what_it_means() -> None:
    """Whatever step fails, the report says what the library does instead and what to send."""
    failed = [(step.name, "wrong") for step in bringup.STEPS] + [("the start", "dead")]
    text = report.write([recorder.Outcome("environment", "m"), recorder.Outcome("bring-up", "mps", 0, failed)], True, 1)
    assert text.count("what the library does instead: ") == text.count("please send us: ") == len(failed)
    for step in bringup.STEPS:
        assert f"- `{step.name}`: wrong\n  - what the library does instead: {step.instead}\n" in text


def test_a_kernel_that_does_not_compile_is_no_wrong_result() -> None:
    """Where Apple's compiler refuses the kernel of a step, the report does not claim that operators are wrong."""
    why = "ShaderError: [compile_shader] the source does not compile: program_source:2:13: error: no such function"
    for step in bringup.STEPS:
        instead, send = bringup.advice(step.name, why)
        assert "Operators still do." in instead and send == bringup.QUOTES


@pytest.mark.parametrize("death", ["os.abort()", "time.sleep(60)", "sys.exit(7)", "os.kill(os.getpid(), 9)"])
def test_steps_survive_the_death_of_any(death: str, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """Each of three steps in turn ends its process, or says nothing for longer than its limit."""
    program = f"""
for i in range(3):
    record.check(str(i), (lambda: {death}) if i == DEADLY else (lambda: None), 2.0)
"""
    for deadly in range(3):
        target = worker(monkeypatch, tmp_path / str(deadly), program.replace("DEADLY", str(deadly)))
        heard = child.run("bring-up", target, 0, False, lambda *_: None)
        assert heard.passed == 2 and [name for name, _ in heard.failed] == [str(deadly)], heard


@pytest.mark.sampled(5, 2)
@pytest.mark.parametrize("concurrent", ["1", "0"])
def test_lost_barriers_fail_their_step(concurrent: str, selftest: Any) -> None:
    """Where memory barriers do nothing, the step about them fails first, and passes as the report advises."""
    done = selftest(
        "--first", "--place", "mps", "--section", "bring-up",
        FAKEMETAL_DEFECT="memory_barrier_skipped", PADDLE_MPS_PREFER="msl", PADDLE_MPS_CONCURRENT=concurrent,
    )  # fmt: skip
    assert ("- `kernels at one time`: " in done.stdout) == (concurrent == "1"), done.stdout
    assert done.returncode == int(concurrent), done.stdout


ELSEWHERE = (
    bringup.two_busy_streams, bringup.a_long_wait, bringup.a_fault, bringup.stored_graphs, bringup.softmax, bringup.norms,
    bringup.random,
)  # fmt: skip


def test_stored_graphs_are_timed(fake: pathlib.Path) -> None:
    """The step about graphs on disk, by hand: it times them on the mock, and says where nothing is stored."""

    def stored(place: str, **env: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "paddle_mps.selftest.stored", place]
        metal = {"PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(fake)}
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, **metal, **env})
        return done.returncode, done.stdout + done.stderr

    code, text = stored("mps")
    assert code == 0 and re.fullmatch(r"9 graphs: [\d.]+ ms to compile .*, [\d.]+ ms with .*\n", text), text
    assert stored("mps", FAKEMETAL_MACOS="13.5") == (3, "")
    assert stored("cpu") == (3, "")


def test_a_wrong_result_fails_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a comparison that always differs each step fails, but those that need streams or compare otherwise."""

    def differs(_got: Any, _want: Any, what: str) -> None:
        raise AssertionError(what)

    monkeypatch.setattr(bringup, "same", differs)
    for step in bringup.STEPS:
        if step.work.__module__ == bringup.__name__ and step.work not in ELSEWHERE:
            with pytest.raises(AssertionError):
                step.work("cpu")
