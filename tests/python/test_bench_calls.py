"""The calls that bench/calls.py measures: they are of every operator, and they run."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from paddle_mps.selftest.suite import TABLE

FILE = Path(__file__).resolve().parents[2] / "bench" / "calls.py"
spec = importlib.util.spec_from_file_location("bench_calls", FILE)
assert spec and spec.loader
calls: Any = importlib.util.module_from_spec(spec)
sys.modules["bench_calls"] = calls
spec.loader.exec_module(calls)


@pytest.mark.filterwarnings("ignore")
def test_every_operator_is_called() -> None:
    called = {call.row for call in (*calls.generated(), *calls.spelled())}
    assert called == {row["name"] for row in TABLE}


@pytest.mark.filterwarnings("ignore")
def test_the_calls_run() -> None:
    for call in (*calls.generated(), *calls.spelled()):
        try:
            call.run()
        except Exception as error:
            raise AssertionError(f"{call.row}: {call.spelling}") from error


def test_a_name_that_is_no_operator_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert calls.main(["convolution"]) == 2
    assert "got convolution" in capsys.readouterr().err


def test_what_takes_longer_is_printed_and_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "least", lambda call: 3000.0)
    assert calls.main(["randperm"]) == 0
    assert "randperm" in (printed := capsys.readouterr().out) and "(sorts random keys)" in printed
    assert calls.main(["sigmoid"]) == 1
    assert " without a reason" in capsys.readouterr().out
    monkeypatch.setattr(calls, "least", lambda call: 2000.0)
    assert calls.main(["sigmoid"]) == 0
    assert ": 0 take more than 2500 ns, 0 of them" in capsys.readouterr().out
