"""Public bug reports of similar projects as programs, each of which checks that the fault is not in this one: see its docstring.

Each runs in a process of its own, on the CPU, on the emulated mps device and on the Metal device over the mock, which is the default
place; no program chooses one.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
PROGRAMS = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.endswith("case") and p.stem != "test_bug_reports")
KERNELS = [name for name in PROGRAMS if name.startswith("triton_")]  # they run on a Metal device alone
MOCK = {"PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(ROOT / "build" / "libfakemetal.so")}
PLACES = {
    "cpu": {"PADDLE_MPS_DEVICE": "host", "PADDLE_MPS_DEFAULT_PLACE": "cpu"},
    "mps": {"PADDLE_MPS_DEVICE": "host", "PADDLE_MPS_DEFAULT_PLACE": "mps"},
    "metal": {**MOCK, "FAKEMETAL_STRICT": "1", "MPS_VERBOSE": "0"},
}

# By what the names of programs begin with, the packages that they need. `./build.sh test onnx`, `serve` and `triton` have them.
NEEDS = {"onnx_": "onnx", "serving_": "tritonclient", "triton_": "triton"}

TIMED = {"onnx_memory_with_changing_shapes"}  # programs that assert the memory of their process
CASES = [pytest.param(name, marks=[pytest.mark.timed] if name in TIMED else []) for name in PROGRAMS]
CASES_OF_CALLS = [case for case in CASES if case.values[0] not in KERNELS]

linux = pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")


def run(name: str, place: str) -> None:
    """Runs a program on a place; its status is 0 if all is right."""
    package = next((package for prefix, package in NEEDS.items() if name.startswith(prefix)), "sys")
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:  # a folder of the checkout has no origin
        pytest.skip(f"there is no {package}")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PADDLE_MPS_", "FAKEMETAL_"))}
    if "PADDLE_MPS_LIBRARY" in os.environ:
        kept["PADDLE_MPS_LIBRARY"] = os.environ["PADDLE_MPS_LIBRARY"]
    env = {**kept, **PLACES[place]}
    done = subprocess.run(
        [sys.executable, HERE / f"{name}.py"], env=env, cwd=HERE, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def mock() -> None:
    """The mock of Metal."""
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)


@pytest.mark.parametrize("name", CASES_OF_CALLS)
@pytest.mark.sampled(3)
def test_on_the_cpu(name: str) -> None:
    run(name, "cpu")


@pytest.mark.parametrize("name", CASES_OF_CALLS)
@pytest.mark.sampled(3, 1)
def test_on_the_emulated_device(name: str) -> None:
    run(name, "mps")


@linux
@pytest.mark.usefixtures("mock")
@pytest.mark.parametrize("name", CASES)
@pytest.mark.sampled(7)
def test_on_metal(name: str) -> None:
    run(name, "metal")
