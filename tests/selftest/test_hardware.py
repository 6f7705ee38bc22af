"""The probes of hardware pass where it computes right, and find each way in which it may not."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.selftest import compare, hardware, recorder

PROBE = """
from paddle_mps.selftest import hardware, recorder
for probe in hardware.PROBES:
    try:
        probe("mps")
        print(probe.__name__, "passes")
    except AssertionError:
        print(probe.__name__, "fails")
"""
NAMES = [probe.__name__ for probe in hardware.PROBES]


def probed(fake: pathlib.Path, **env: str) -> dict[str, str]:
    """What each probe says of the mock with some switches."""
    metal = {"PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(fake), "FAKEMETAL_MACOS": "15.0"}
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, timeout=300, env={**os.environ, **metal, **env}
    )
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


def test_a_sound_device_passes(fake: pathlib.Path) -> None:
    assert probed(fake) == dict.fromkeys(NAMES, "passes")


def test_fast_functions_and_a_naive_fmod_are_not_used(fake: pathlib.Path) -> None:
    """The library asks for precise functions, and computes remainders by itself."""
    found = probed(fake, FAKEMETAL_FAST_FUNCTIONS="1", FAKEMETAL_NAIVE_FMOD="1", FAKEMETAL_CONTRACTION="1")
    assert found == dict.fromkeys(NAMES, "passes")


def test_fast_functions_are_found(fake: pathlib.Path) -> None:
    """A compiler that makes functions fast whatever it was asked is noticed."""
    found = probed(fake, FAKEMETAL_DEFECT="fast_functions")
    failed = {name for name, verdict in found.items() if verdict == "fails"}
    assert failed == {"tanh_of_50_is_1", "tanh_of_50_is_1_in_a_shader", "sine_of_a_large_number"}


def test_wrong_division_is_found(fake: pathlib.Path) -> None:
    found = probed(fake, FAKEMETAL_DEFECT="uint_division")
    assert [name for name, verdict in found.items() if verdict == "fails"] == ["division_near_two_to_the_32"]


def test_a_naive_remainder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe of remainders fails of x - y * trunc(x / y) in float32."""

    def naive(x: Any, y: Any) -> Any:
        a, b = x.numpy(), y.numpy()
        return compare.tensor(a - b * np.trunc(a / b), "cpu")

    hardware.remainder_of_a_large_quotient("cpu")
    monkeypatch.setattr(paddle, "remainder", naive)
    with pytest.raises(AssertionError, match="remainder"):
        hardware.remainder_of_a_large_quotient("cpu")


def test_the_cpu_has_no_shaders() -> None:
    with pytest.raises(recorder.Skip):
        hardware.division_near_two_to_the_32("cpu")
