"""The conformance suite on the library that was built for Macs.

run.sh starts it with the command of the server in MACHORUN_SERVER. The suite makes its tensors, takes its
views and runs its operators there; what it compares with, and how, is the same as everywhere.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import remote

from paddle_mps.selftest import suite
from paddle_mps.selftest.oracle import NUMPY

COMMAND = os.environ.get("MACHORUN_SERVER", "")
PLACE = "mps"
CASES = list(suite.cases(tuple(d for d in NUMPY if d != "float64")))


@pytest.fixture(scope="module")
def library() -> Iterator[remote.Library]:
    if not COMMAND:
        pytest.skip("MACHORUN_SERVER names no server: run ./build.sh test darwin")
    library = remote.Library(shlex.split(COMMAND), dict(os.environ))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suite, "paddle", SimpleNamespace(to_tensor=library.to_tensor))
        patch.setattr(suite, "run", lambda *given: run(library, *given))
        patch.setattr(suite, "METAL", library.backend(PLACE) == "metal")
        yield library
    assert library.live() == 0
    assert library.close() == 0


def run(
    library: remote.Library, row: dict[str, Any], inputs: list[Any], given: dict[str, Any], place: str
) -> list[remote.Tensor]:
    """The operator's results: what suite.run does with the library of this process."""
    flat: list[Any] = []
    for x in inputs:
        flat.extend([p.tensor for p in x] if isinstance(x, list) else [x.tensor if isinstance(x, suite.Pair) else x])
    return library.call(row["id"], flat, suite.attributes(row, given), place)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(library: remote.Library, case: suite.Case) -> None:
    suite.check(case, PLACE)


def test_failures_come_back(library: remote.Library) -> None:
    """An error of the other side has its code and its words."""
    x, y = library.to_tensor([1.0, 2.0]), library.to_tensor([1.0, 2.0, 3.0])
    with pytest.raises(remote.Failure, match=r"\[add\]"):
        library.call(suite.BY_NAME["add"]["id"], [x, y], [])
