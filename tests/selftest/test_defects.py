"""Every defect of defects.tsv, planted in what stands in for Metal, fails the self-test where it should."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from subprocess import CompletedProcess
from typing import Any

import pytest

LINES = (pathlib.Path(__file__).parent / "defects.tsv").read_text().splitlines()
DEFECTS = [line.split("\t") for line in LINES if not line.startswith("#")]
SECONDS = "600"  # of a section, also on a busy machine; it ends when the defect is found


@pytest.fixture(scope="module")
def runs(selftest: Any, request: pytest.FixtureRequest) -> Iterator[dict[str, Future[CompletedProcess[str]]]]:
    """All runs, two at a time, of the defects that have their turn."""
    wanted = {item.callspec.params.get("name") for item in request.session.items if hasattr(item, "callspec")}
    with ThreadPoolExecutor(2) as pool:
        yield {
            name: pool.submit(
                selftest, "--quick", "--first", "--place", "mps", "--section", section, "--budget", SECONDS,
                FAKEMETAL_DEFECT=name, PADDLE_MPS_PREFER=way,
            )
            for name, way, section, _ in DEFECTS
            if name in wanted
        }  # fmt: skip


def test_there_are_ten() -> None:
    assert len(DEFECTS) >= 10 and len({name for name, *_ in DEFECTS}) == len(DEFECTS)


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "way", "section", "what"), DEFECTS, ids=[row[0] for row in DEFECTS])
def test_defect_is_found(
    name: str, way: str, section: str, what: str, runs: dict[str, Future[CompletedProcess[str]]]
) -> None:
    done = runs[name].result()
    assert done.returncode == 1, f"{what}, and nothing noticed it\n{done.stdout}\n{done.stderr}"
    assert "\n**FAIL**: 1 of " in done.stdout and f"{section} on mps (1)" in done.stdout, done.stdout
    assert f"FAKEMETAL_DEFECT={name}" in done.stdout, "the report says what it ran on"
