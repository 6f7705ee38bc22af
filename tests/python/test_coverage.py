"""tests/peers/coverage.py: what it finds wrong."""

from __future__ import annotations

import importlib.util
import pathlib
import sys
from typing import Any

import pytest

PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module, under another name: a package that tests may be run with has its own."""
    monkeypatch.syspath_prepend(str(PEERS))
    spec = importlib.util.spec_from_file_location("peers_coverage", PEERS / "coverage.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_names_that_are_missing_need_a_reason(tool: Any) -> None:
    tier = tool.Count()
    for path, present in (("paddle.a", True), ("paddle.b", False), ("paddle.c", False)):
        tier.add(path, present, 1)
    assert tool.complaints(tier, {"paddle.b": "why", "paddle.c": "why"}) == []
    assert tool.complaints(tier, {"paddle.b": "why"}) == ["1 of 3 names of tier 1 are missing without a reason"]
    stale = {"paddle.a": "why", "paddle.b": "why", "paddle.c": "why"}
    assert tool.complaints(tier, stale) == ["reasons for names that are not missing from tier 1: paddle.a"]


def test_reasons_are_of_names_of_tier_1(tool: Any) -> None:
    tier = tool.count("paddle_mps")[0][1]
    assert set(tool.REASONS) <= set(tier.missing)
