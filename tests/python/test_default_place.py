"""The default place: mps:0 with an Apple GPU, cpu elsewhere, or what PADDLE_MPS_DEFAULT_PLACE says."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
PLACES = "import paddle_mps as p; print(p.get_device(), p.ones([1]).device, p.to_tensor(1).device, p.rand([1]).device)"
FLOAT64 = """
import sys
import warnings
import numpy as np
import paddle_mps as p
if "mps" in sys.argv: p.set_device("mps")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    made = [p.to_tensor(np.ones(2)), p.zeros([1], "float64"), p.rand([1], "float64"), p.ones([1]), p.ones([1]).astype("float64")]
    made += [p.ones([2]) * np.ones(2), p.eye(2, dtype="float64"), p.arange(0, 1, .5, dtype="float64"), p.logspace(0, 1, 2, dtype="float64")]
print([x.device for x in made], {str(x.dtype) for x in made if x.device != "cpu"}, len(caught), *[(w.category.__name__, w.filename) for w in caught])
"""


def run(program: str, **env: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PADDLE_MPS_")}
    if "PADDLE_MPS_LIBRARY" in os.environ:
        kept["PADDLE_MPS_LIBRARY"] = os.environ["PADDLE_MPS_LIBRARY"]
    done = subprocess.run(
        [sys.executable, "-c", program], env={**kept, **env}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("value", ["", "auto", "AUTO", "cpu"])
def test_an_emulation_is_no_gpu(value: str) -> None:
    assert run(PLACES, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE=value) == "cpu cpu cpu cpu"


@pytest.mark.parametrize("value", ["mps", "mps:0", "MPS"])
def test_the_variable_chooses(value: str) -> None:
    assert run(PLACES, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE=value) == " ".join(["mps:0"] * 4)


@pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")
def test_a_gpu_is_the_default() -> None:
    """The mock counts as one where PADDLE_MPS_DEVICE asks for it."""
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    mock = str(ROOT / "build" / "libfakemetal.so")
    assert run(PLACES, PADDLE_MPS_DEVICE="metal", PADDLE_MPS_METAL_LIBRARY=mock) == " ".join(["mps:0"] * 4)
    assert run(PLACES, PADDLE_MPS_METAL_LIBRARY=mock) == "cpu cpu cpu cpu"
    chosen = run(PLACES, PADDLE_MPS_DEVICE="metal", PADDLE_MPS_METAL_LIBRARY=mock, PADDLE_MPS_DEFAULT_PLACE="cpu")
    assert chosen == "cpu cpu cpu cpu"


@pytest.mark.parametrize("chosen", ["", "import paddle_mps as p; p.set_device('mps')"])
def test_float64_is_made_on_the_cpu_with_one_warning(chosen: str) -> None:
    """Whether the GPU is the place by default or because the program has set it."""
    out = run(chosen + FLOAT64, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="cpu" if chosen else "mps")
    where = ["cpu"] * 3 + ["mps:0", "cpu", "mps:0"] + ["cpu"] * 3
    assert out == f"{where} {{'paddle.float32'}} 1 ('RuntimeWarning', '<string>')"


def test_float64_is_made_as_float32() -> None:
    out = run(FLOAT64, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps", PADDLE_MPS_FLOAT64="float32")
    assert out == f"{['mps:0'] * 9} {{'paddle.float32'}} 1 ('RuntimeWarning', '<string>')"


@pytest.mark.parametrize(
    "line",
    [
        "p.to_tensor(np.ones(2))", "p.zeros([1], 'float64')", "p.ones([1]).astype('float64')", "p.ones([2]) * np.ones(2)", "p.eye(2, dtype='float64')",
        "p.to_tensor(1j)", "p.to_tensor(np.ones(2), place='cpu').to('mps')",
    ],
)  # fmt: skip
def test_float64_is_an_error(line: str) -> None:
    program = f"""
import numpy as np
import paddle_mps as p
try: {line}
except TypeError as error: print(error)
"""
    out = run(program, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps", PADDLE_MPS_FLOAT64="error")
    assert "does not exist on mps:0; " in out


def test_an_unknown_choice_is_an_error() -> None:
    program = """
import paddle_mps as p
try: p.ones([1], "float64")
except ValueError as error: print(error)
"""
    out = run(program, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps", PADDLE_MPS_FLOAT64="double")
    assert out == "[place] PADDLE_MPS_FLOAT64 is 'double'; want cpu, float32 or error"


@pytest.mark.parametrize("chosen", ["", "p.set_device('mps')"])
def test_float64_is_loaded_to_the_cpu(chosen: str) -> None:
    """As it is made there, from where it follows."""
    program = f"""
import io
import warnings
import paddle_mps as p
{chosen}
file = io.BytesIO()
p.save([p.ones([2], "float64", place="cpu"), p.ones([2], place="cpu")], file)
file.seek(0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print([x.device for x in p.load(file)], len(caught))
file.seek(0)
print(p.load(file)[0].astype("float32").device)
"""
    out = run(program, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps").splitlines()
    assert out == ["['cpu', 'mps:0'] 1", "mps:0"]


def test_what_the_program_chooses_wins() -> None:
    program = """
import paddle_mps as p
with p.mps.device_guard("cpu"):
    print(p.ones([1]).device, end=" ")
print(p.ones([1], place="cpu").device, p.ones([1]).device, p.set_device("cpu"), p.ones([1]).device)
"""
    out = run(program, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE="mps")
    assert out == "cpu cpu mps:0 Place(cpu) cpu"


@pytest.mark.parametrize(
    ("value", "error"),
    [("gpu", "ValueError: [place] PADDLE_MPS_DEFAULT_PLACE is 'gpu'; want auto,"), ("mps:7", "DeviceError: ")],
)
def test_what_is_no_place(value: str, error: str) -> None:
    program = """
import paddle_mps as p
try: p.ones([1])
except Exception as e: print(f"{type(e).__name__}: {e}")
"""
    assert run(program, PADDLE_MPS_DEVICE="host", PADDLE_MPS_DEFAULT_PLACE=value).startswith(error)
