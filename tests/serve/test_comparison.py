"""Requests, good and bad, that tritonserver 2.51 and our server answer alike, but for the rows of docs/differences.md.

The answers of tritonserver are recorded: see comparison/record.py. With --live it is asked again.
"""

from __future__ import annotations

import pytest
import record
import servers
import table

RECORDED = table.recorded()


@pytest.fixture(scope="module")
def ours():
    return record.answers(servers.ours, True)


@pytest.fixture(scope="module")
def theirs(request):
    """Answers of tritonserver: with --live those that it gives now."""
    if request.config.getoption("--live"):
        return record.answers(servers.real, False)
    return {name: one.theirs for name, one in RECORDED.items()}


@pytest.mark.parametrize("name", RECORDED)
def test_request(name, ours, theirs):
    assert theirs[name] == RECORDED[name].theirs, "tritonserver answers otherwise than is recorded"
    listed = RECORDED[name].ours
    if listed is None:
        assert record.same(theirs[name], ours[name]), f"{ours[name]} and not {theirs[name]}"
        return
    assert not record.same(theirs[name], ours[name]), "a difference is listed that there is no more"
    assert ours[name] == listed, "another difference than the listed one"


def test_all_are_recorded(ours, theirs):
    assert list(ours) == list(theirs) == list(RECORDED), "record the answers again: comparison/record.py"
    assert len(RECORDED) >= 500


def test_each_difference_has_its_reason_and_each_reason_a_difference():
    *found, left = table.by_reason(RECORDED)
    assert not left
    for reason, names in zip(table.reasons(), found):
        assert names, f"nothing differs any more for this reason: {reason['why']}"
        for pattern in reason["requests"]:
            assert any(table.matches(n, pattern) for n in names), f"{pattern}: no such difference"


def test_the_table_is_that_of_the_answers():
    assert table.DOCUMENT.read_text(encoding="utf-8") == table.document(RECORDED)
