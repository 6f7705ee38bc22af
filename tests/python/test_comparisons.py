"""Comparisons with other libraries, where results are not numbers or not there: each has to say that they differ."""

from __future__ import annotations

import importlib.util
import math
import pathlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle_mps
from paddle_mps._commands import _bench
from paddle_mps._commands._differences import apart, between, worst

ROOT = pathlib.Path(__file__).parents[2]
ONES, NANS = np.ones(3, "float32"), np.full(3, np.nan, "float32")
FIRST, LATER, MISSING = [NANS, ONES], [ONES, NANS], [ONES]
WRONG = pytest.mark.parametrize("got", [FIRST, LATER, MISSING, [ONES, ONES, NANS]])


def test_worst() -> None:
    assert worst([]) == 0 and worst([1.0, 3.0, 2.0]) == 3
    for differences in ([math.nan], [0.0, math.nan], [math.nan, 0.0], [1.0, math.nan, 2.0], [math.inf, math.nan]):
        assert worst(differences) == math.inf


def test_apart() -> None:
    infinite = np.array([1, -np.inf, np.inf], "float32")
    assert apart(ONES, ONES * 3) == 2 and apart(ONES[:0], ONES[:0]) == 0 and apart(infinite, infinite) == 0
    for x, y in ((ONES, NANS), (NANS, ONES), (NANS, NANS), (ONES, infinite), (infinite, -infinite), (ONES, ONES[:2])):
        assert apart(x, y) == math.inf


@WRONG
def test_between(got: list[Any]) -> None:
    assert between([ONES, ONES], [ONES, ONES]) == 0 and between([], []) == 0
    assert between(got, [ONES, ONES]) == between([ONES, ONES], got) == math.inf


def module(path: str) -> Any:
    """A program of the repository as a module."""
    spec = importlib.util.spec_from_file_location(pathlib.Path(path).stem + "_of_tests", ROOT / path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def exports(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """tests/onnx/exports.py, for networks of one input."""
    made = module("tests/onnx/exports.py")
    networks: Any = types.ModuleType("networks")
    networks.feeds = lambda name: [{"x": ONES}]
    monkeypatch.setitem(sys.modules, "networks", networks)
    monkeypatch.setitem(sys.modules, "exports", made)
    yield made


@WRONG
def test_exports(got: list[Any], exports: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "session", lambda path, threads: lambda feed: [ONES, ONES])
    for ours, good in (([ONES, ONES], True), (got, False)):
        monkeypatch.setattr(exports, "model", lambda path, place, ours=ours: lambda feed: ours)
        assert exports.compare("a network", pathlib.Path(), "cpu") is good
    assert exports.difference(ONES, NANS) == exports.difference(ONES, ONES.astype("float64")) == math.inf


@WRONG
def test_onnx_metal(got: list[Any], exports: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = module("bench/onnx_metal.py")
    metal = types.SimpleNamespace(fakemetal_reset=lambda: None, fakemetal_count=lambda what: 0)
    info = types.SimpleNamespace(cpu_steps=0, steps=1)
    monkeypatch.setattr(exports, "model", lambda path, place: lambda feed: [ONES, ONES])
    monkeypatch.setattr(paddle_mps.mps, "synchronize", lambda: None)
    for ours, good in (([ONES, ONES], True), (got, False)):

        class Model:
            _program = types.SimpleNamespace(info=lambda: info)
            made = tuple(paddle_mps.to_tensor(x) for x in ours)

            def __call__(self, **feed: Any) -> Any:
                return self.made

        monkeypatch.setattr(paddle_mps.onnx, "load", lambda *args, made=Model, **options: made())
        assert bench.measure("a network", pathlib.Path(), {"x": ONES}, metal) is good


def test_bench_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def runner(results: list[Any]) -> Any:
        nodes = {"count": 1, "sum": 1.0, "most": []}
        numbers = {"loading": 1.0, "first": 1.0, "times": [1.0], "peak": 1.0, "nodes": nodes, "rates": [1.0, 1.0]}
        return types.SimpleNamespace(results=lambda: results, **numbers)

    for got, said in (([ONES, ONES], "0"), (FIRST, "inf"), (LATER, "inf")):
        _bench._report(["paddle_mps", "onnxruntime"], [runner(got), runner([ONES, ONES])])
        assert f"largest difference of a result: {said};" in capsys.readouterr().out
    with pytest.raises(RuntimeError, match="other shapes"):
        _bench._report(["paddle_mps", "onnxruntime"], [runner(MISSING), runner([ONES, ONES])])


def test_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))
    monkeypatch.setenv("PADDLE_MPS_NUM_THREADS", "1")
    ocr = module("tests/onnx/ocr.py")
    theirs = types.SimpleNamespace(get_inputs=lambda: [types.SimpleNamespace(name="x")], run=lambda *args: [ONES])
    for got, error in ((ONES, 0), (NANS, math.inf), (ONES[:2], math.inf)):
        ours = paddle_mps.to_tensor(got)
        assert ocr.compare(lambda x, ours=ours: ours, theirs, ONES) == error
