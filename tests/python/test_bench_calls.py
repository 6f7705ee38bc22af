"""The calls that bench/calls.py measures: they are of every operator, and they run; and the table that it prints."""

from __future__ import annotations

import importlib.util
import itertools
import re
import sys
from pathlib import Path
from typing import Any, Callable

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
    called = {call.row for call in calls.every()}
    assert called == {row["name"] for row in TABLE}


@pytest.mark.filterwarnings("ignore")
def test_the_calls_run() -> None:
    for call in calls.every():
        try:
            call.run()
        except Exception as error:
            raise AssertionError(f"{call.row}: {call.spelling}") from error


def test_a_name_that_is_no_operator_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert calls.main(["convolution"]) == 2
    assert "got convolution" in capsys.readouterr().err


@pytest.fixture
def takes(monkeypatch: pytest.MonkeyPatch) -> Callable[[float, float], None]:
    """Sets what a round of a call takes, and of x + y."""

    def given(call: float, add: float) -> None:
        turns = itertools.cycle([call, add])
        monkeypatch.setattr(calls, "once", lambda run: next(turns))

    return given


def test_what_takes_longer_than_x_plus_y_is_printed_and_counted(
    capsys: pytest.CaptureFixture[str], takes: Callable[[float, float], None]
) -> None:
    takes(3000.0, 1000.0)
    assert calls.main(["randperm"]) == 0
    assert "3.00 times x + y  (sorts random keys)" in capsys.readouterr().out
    assert calls.main(["sigmoid"]) == 1
    out = capsys.readouterr().out
    assert "4 take more than 2.2 times x + y, 4 of them without a reason; 0 are left out" in out
    assert "2200 MISSED" in out
    takes(3000.0, 1500.0)  # a slower machine
    assert calls.main(["sigmoid"]) == 0
    out = capsys.readouterr().out
    assert ": 0 take more than 2.2 times x + y, 0 of them" in out
    assert "sigmoid: " not in out


def test_each_line_of_the_table_has_a_name_and_its_numbers_end_where_the_columns_do(
    capsys: pytest.CaptureFixture[str], takes: Callable[[float, float], None]
) -> None:
    """What bench/pair/parse.go reads."""
    takes(3000.0, 1000.0)
    calls.main(["-v"])
    header, *rows, last = capsys.readouterr().out.splitlines()
    columns = [m.end() for m in re.finditer(r"\S+(?: \S+)*", header)]
    assert re.split(r"\s{2,}", header) == ["operator: call", "ns", "bar"]
    for row in rows:
        name, numbers = re.split(r"\s{2,}", row, maxsplit=1)
        assert re.match(r"\w+: \S", name) and numbers.startswith("3000")
        assert [row[:end].split()[-1] for end in columns[1:]] == ["3000", "2200"]
    names = [re.split(r"\s{2,}", row)[0] for row in rows]
    assert len(set(names)) == len(names) == len(calls.every()) == int(last.split()[0])


def test_a_round_measures_x_plus_y_beside_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def once(run: Callable[[], str]) -> float:
        ran.append(run())
        return 1.0

    monkeypatch.setattr(calls, "once", once)
    given = [calls.Call("a", "a()", lambda: "a"), calls.Call("b", "b()", lambda: "b")]
    times = calls.measure(given, lambda: "add")
    assert ran == ["a", "add", "b", "add"] * calls.ROUNDS
    assert [(t.call, t.ns, t.add) for t in times] == [(call, 1.0, 1.0) for call in given]


def test_a_call_that_raises_is_left_out_and_counted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, takes: Callable[[float, float], None]
) -> None:
    """As with the library of an older revision, which lacks a name."""
    takes(1000.0, 1000.0)
    missing = calls.Call("sum", "paddle.lacking(x)", lambda: calls.paddle.lacking)
    monkeypatch.setattr(calls, "every", lambda: [missing, calls.Call("sum", "None", lambda: None)])
    assert calls.main(["-v"]) == 1
    out = capsys.readouterr().out
    assert "left out: sum: paddle.lacking(x): AttributeError: " in out
    assert "1 calls of 1 operators: 0 take more" in out and "; 1 are left out" in out
