"""The Metal device over the mock of Apple's libraries, as used by a program."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FAKE = ROOT / "build" / "libfakemetal.so"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")


def run(program: str, **env: str) -> tuple[str, str]:
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", "import paddle_mps as paddle\n" + program], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(FAKE), **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_it_says_what_it_is() -> None:
    out, _ = run(
        "print(paddle.mps.is_available(), paddle.mps.get_device_name(), paddle.mps.get_device_properties().backend)"
    )
    assert out == "True fakemetal (Apple M1) metal\n"


def test_elementwise_operators_run_as_shaders() -> None:
    """Nothing falls back; the GPU is sent dispatches and few command buffers, and compiles each kernel once."""
    out, errors = run(
        """
import ctypes, os
fake = ctypes.CDLL(os.environ["PADDLE_MPS_METAL_LIBRARY"])
fake.fakemetal_count.restype = ctypes.c_int64
count = lambda what: fake.fakemetal_count(what.encode())
x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], place="mps")
def step():
    y = paddle.exp(x) * 2.0 + x
    return paddle.where(y > 10.0, y, -x).astype("float16")[:, 1:]
step(); paddle.mps.synchronize()
dispatches, compiles, commits = count("dispatches"), count("compiles"), count("commits")
for _ in range(100): y = step()
print([round(v, 2) for v in y.numpy()[1].tolist()])
print(count("dispatches") - dispatches, count("compiles") - compiles, count("commits") - commits < 100)
""",
        PADDLE_MPS_FALLBACK="0",
    )
    assert out == "[301.75, 813.0]\n700 0 True\n" and errors == ""


def test_what_is_left_to_the_cpu_runs_there_and_is_said_once() -> None:
    program = """
x = paddle.ones([3, 3], place="mps")
for _ in range(3): print((x @ (x + 1.0)).sum().item(), (x @ x).place)
"""
    out, errors = run(program, PADDLE_MPS_CPU_OPS="matmul,softmax")
    assert out == "54.0 Place(mps:0)\n" * 3
    assert errors.count("[matmul] is left to the CPU") == 1 and errors.count("it runs on the CPU") == 1
    with pytest.raises(AssertionError, match=r"matmul. is left to the CPU"):
        run(program, PADDLE_MPS_CPU_OPS="matmul", PADDLE_MPS_FALLBACK="0")
    assert run(program, PADDLE_MPS_FALLBACK="0") == (out, "")


def test_a_division_by_zero_on_the_gpu() -> None:
    out, _ = run(
        """
x = paddle.to_tensor([1, 2], place="mps") // paddle.to_tensor([1, 0], place="mps")
y = x + 1
for t in (x, y, x):
    try: t.numpy()
    except paddle.DeviceError as e: print("dev", e)
    except Exception as e: print(type(e).__name__, e)
try: paddle.mps.synchronize()
except Exception as e: print("once", type(e).__name__)
paddle.mps.synchronize()
print((paddle.to_tensor([6], place="mps") // 3).tolist())
""",
        PADDLE_MPS_FALLBACK="0",
    )
    lines = out.splitlines()
    assert all("[floor_divide] an integer is divided by zero" in line for line in lines[:3]), out
    assert lines[3].startswith("once") and lines[4] == "[2]"


@pytest.mark.parametrize("macos", ["13.0", "14.0", "15.0"])
def test_worst_case_on_every_macos(macos: str) -> None:
    out, _ = run(
        "x = paddle.arange(1, 9, dtype='float32', place='mps')\n"
        "print(max(abs(v) for v in (paddle.log(paddle.exp(x)) - x).tolist()) < 1e-5, x.astype('bfloat16').sum().item())",
        FAKEMETAL_WORST="1", FAKEMETAL_MACOS=macos, FAKEMETAL_DELAY_US="200",
    )  # fmt: skip
    assert out == "True 36.0\n"


def test_calls_that_keep_the_interpreter_lock_are_refused_when_the_stream_is_full() -> None:
    out, _ = run(
        """
from paddle_mps._core import _errors
from paddle_mps._core._ids import NEG
from paddle_mps._core._library import quick
x = paddle.ones([4], place="mps")
refused = 0
for _ in range(2000):
    made = quick.pmps_fast_unary(NEG, x._handle, 0)
    if made:
        quick.pmps_tensor_free(made)
    else:
        refused += isinstance(_errors.last_failure(), _errors.BusyError)
        break
for _ in range(500): y = -x
print(refused, y.tolist())
""",
        FAKEMETAL_DELAY_US="100000",
    )
    assert out == "1 [-1.0, -1.0, -1.0, -1.0]\n"


def test_page_aligned_arrays_are_shared_without_a_copy() -> None:
    """The GPU gets one buffer over the array and no bytes; an array that begins elsewhere is refused."""
    out, _ = run(
        """
import ctypes, os
fake = ctypes.CDLL(os.environ["PADDLE_MPS_METAL_LIBRARY"])
fake.fakemetal_count.restype = ctypes.c_int64
count = lambda what: fake.fakemetal_count(what.encode())
array = paddle.mps.page_aligned_empty([1000, 3])
array[:] = 1.0
buffers = count("buffers")
x = paddle.to_tensor(array, place="mps", zero_copy=True)
print(count("buffers") - buffers, count("copied_bytes"))
x.add_(x)
paddle.mps.synchronize()
print(array[999].tolist())
try:
    paddle.to_tensor(array[1:], place="mps", zero_copy=True)
except paddle.UnsupportedError as error:
    print(error)
"""
    )
    assert out == (
        "1 0\n[2.0, 2.0, 2.0]\n"
        "[share] the memory begins 12 bytes behind the start of a page; want it to begin with one, at a multiple of 16384\n"
    )


def test_a_refused_shader_is_a_warning() -> None:
    """It quotes the compiler and names operator, dtype and build, once; MPSGraph computes the operator, or the CPU."""
    program = """
x = paddle.to_tensor([1.0, 2.0], place="mps")
for _ in range(3): y = paddle.tanh(x[:1]) + paddle.tanh(x)
print([round(v, 4) for v in y.numpy().tolist()], sum(paddle.mps.memory_stats()[k] > 0 for k in ("refused_shaders", "second_way_steps")))
"""
    out, errors = run(program, FAKEMETAL_REFUSE="library:*", PADDLE_MPS_FALLBACK="0", FAKEMETAL_MACOS="14.2")
    assert out == "[1.5232, 1.7256] 2\n"
    words = (
        r"paddle_mps: \[{}\] float32: Metal refuses its shader: it does not compile: program_source:\d+:13: error: "
        r"reference to 'run' is ambiguous.*\(macOS 14.2 \(Build fakemetal\)\); {}, which (may be|is) slower\n"
    )
    both = words.format("tanh", "a graph of MPSGraph computes it") + words.format(
        "add", "a graph of MPSGraph computes it"
    )
    assert re.fullmatch(both, errors), errors
    out, errors = run(program, FAKEMETAL_REFUSE="*", FAKEMETAL_MACOS="14.2")
    assert out == "[1.5232, 1.7256] 1\n"
    assert errors.count("Metal refuses its shader") == errors.count("MPSGraph refuses its graph") == 2, errors
    assert errors.count("it runs on the CPU") == errors.count("\n") == 2, errors


def test_without_fallback_a_refusal_is_an_error() -> None:
    out, errors = run(
        """
x = paddle.to_tensor([1.0, 2.0], place="mps")
for _ in range(2):
    try:
        paddle.tanh(x)
    except paddle.UnsupportedError as error:
        print(error)
""",
        FAKEMETAL_REFUSE="*",
        PADDLE_MPS_FALLBACK="0",
    )
    first, second = out.splitlines()
    assert first == second and errors == ""
    assert "error: reference to 'run' is ambiguous" in first and "MPSGraph refuses its graph" in first
