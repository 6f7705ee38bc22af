"""What the tests of one operator install."""

from __future__ import annotations

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from runner import table


def test_the_tests_of_one_operator_need_no_browser() -> None:
    parts = [part for part in table.read().parts if "op" in part.suites]
    assert len(parts) > 8
    for part in parts:
        assert not any("browser" in need for need in part.needs), part.name
