"""The tests of the self-test drive it as a user does, over what stands in for Metal."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Callable

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FAKE = ROOT / "build" / "libfakemetal.so"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def fake() -> pathlib.Path:
    """The library that stands in for Apple's."""
    if sys.platform != "linux":
        pytest.skip("the mock of Metal is Linux's")
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    return FAKE


@pytest.fixture(scope="session")
def selftest(fake: pathlib.Path) -> Run:
    """Runs the self-test on the Metal device."""

    def run(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "paddle_mps.selftest", *arguments]
        metal = {"PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(fake)}
        return subprocess.run(command, capture_output=True, text=True, timeout=1200, env={**os.environ, **metal, **env})

    return run
