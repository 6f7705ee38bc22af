"""Servers of the tests, as fixtures."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "comparison"))
sys.path.append(str(Path(__file__).parents[1] / "tritonserver"))  # usage.py, and the real server where it is installed

import models
import pytest
from running import Server, serving


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Server]:
    """A server with all models, which no test changes."""
    with serving(str(models.repository(tmp_path_factory.mktemp("models")))) as one:
        yield one


@pytest.fixture
def explicit(tmp_path) -> Iterator[tuple[Server, Path]]:
    """A server that loads on request, and its repository."""
    models.unary(tmp_path / "m", "Neg")
    with serving(str(tmp_path), "--model-control-mode=explicit", "--load-model=m") as one:
        yield one, tmp_path


@pytest.fixture
def small_heap(monkeypatch) -> None:
    """Servers collect garbage as soon as the heap has doubled, so that 64 MiB of it do not hide what is lost."""
    monkeypatch.setenv("GOGC", "100")


def pytest_addoption(parser):
    parser.addoption("--live", action="store_true", help="ask the real tritonserver too")
