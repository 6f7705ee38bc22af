"""Tensors that are on the CPU because the GPU lacks their dtype: they follow the GPU."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]


def calls(*arguments: str, **env: str) -> str:
    """What the program displaced_calls.py prints."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE_MPS_", "FAKEMETAL_"))}
    if "PADDLE_MPS_LIBRARY" in os.environ:
        kept["PADDLE_MPS_LIBRARY"] = os.environ["PADDLE_MPS_LIBRARY"]
    command = [sys.executable, str(HERE / "displaced_calls.py"), *arguments]
    done = subprocess.run(command, env={**kept, **env}, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    printed: str = done.stdout.strip()
    return printed


def test_by_default() -> None:
    assert calls(PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps").endswith(" calls, 0 wrong")


def test_after_set_device() -> None:
    assert calls("set_device", PADDLE_MPS_DEVICE="host").endswith(" calls, 0 wrong")


@pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")
@pytest.mark.sampled(3)
def test_on_metal() -> None:
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    mock = str(ROOT / "build" / "libfakemetal.so")
    out = calls(PADDLE_MPS_DEVICE="metal", PADDLE_MPS_METAL_LIBRARY=mock, FAKEMETAL_STRICT="1", MPS_VERBOSE="0")
    assert out.endswith(" calls, 0 wrong")
