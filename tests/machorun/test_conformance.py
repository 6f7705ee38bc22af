"""The conformance suite on the library that was built for Macs.

run.sh starts it with the command of the server in MACHORUN_SERVER. The suite makes its tensors, takes its
views and runs its operators there; what it compares with, and how, is the same as everywhere.

MACHORUN_EVERY=N runs one case in N, those of the turn of PADDLE_MPS_SAMPLE, and all of the operators that the change touches (see
tests/sampling.py); PADDLE_MPS_LONG=1
runs all.

Left out are the cases of outputs over inputs: the server makes results in new memory only. What shares memory is
decided above the devices, in Go that is the same on every platform, and tested by the suite where it runs natively.
"""

from __future__ import annotations

import os
import shlex
import zlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import remote

import sampling
from paddle_mps.selftest import suite
from paddle_mps.selftest.oracle import NUMPY

COMMAND = os.environ.get("MACHORUN_SERVER", "")
PLACE = "mps"
EVERY = 1 if os.environ.get("PADDLE_MPS_LONG") == "1" else int(os.environ.get("MACHORUN_EVERY", "1"))
ALL = [c for c in suite.cases(tuple(d for d in NUMPY if d != "float64")) if c.layout != "aliased"]
CASES = [c for c in ALL if zlib.crc32(str(c).encode()) % EVERY == sampling.turn(EVERY) or sampling.touched(c.name)]


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
    if suite.lacking(case):
        with pytest.raises(remote.Failure, match="metal has no kernel of this operator"):
            suite.check(case, PLACE)
        return
    suite.check(case, PLACE)


def test_failures_come_back(library: remote.Library) -> None:
    """An error of the other side has its code and its words."""
    x, y = library.to_tensor([1.0, 2.0]), library.to_tensor([1.0, 2.0, 3.0])
    with pytest.raises(remote.Failure, match=r"\[add\]"):
        library.call(suite.BY_NAME["add"]["id"], [x, y], [])


@pytest.mark.skipif(len(CASES) < len(ALL), reason=f"one case in {EVERY}; PADDLE_MPS_LONG=1 runs all")
def test_all_cases() -> None:
    """So that the report says whether cases were left out."""
