"""Shaders of a program's own, and captures: on the Metal device over the mock of Apple's libraries."""

from __future__ import annotations

import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import paddle_mps as paddle
from paddle_mps._kernels import _shader

ROOT = pathlib.Path(__file__).parents[2]
FAKE = ROOT / "build" / "libfakemetal.so"

on_metal = pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal only runs on Linux")

SOURCE = """
#include <metal_stdlib>
using namespace metal;
kernel void full(device float *out, constant float &value, uint i [[thread_position_in_grid]]) { out[i] = value; }
kernel void transpose(device const float *x, device float *y, constant long2 &size, uint2 at [[thread_position_in_grid]]) {
  y[at.x * size.y + at.y] = x[at.y * size.x + at.x];
}
kernel void numbers(device long *out, constant int &a, constant uchar &b, constant half *c, constant bool &d, constant bfloat *e) {
  out[0] = a, out[1] = b, out[2] = long(c[1]), out[3] = d, out[4] = long(float(e[0]) * 2);
}
kernel void beyond(device float *out, uint i [[thread_position_in_grid]]) { out[i + (1 << 26)] = 1; }
kernel void sum_of_group(device const float *x, device float *y, uint i [[thread_position_in_threadgroup]],
                         uint g [[threadgroup_position_in_grid]], uint n [[threads_per_threadgroup]]) {
  threadgroup float part[64];
  part[i] = x[g * n + i];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint k = n / 2; k > 0; k /= 2) {
    if (i < k) part[i] += part[i + k];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  if (i == 0) y[g] = part[0];
}
"""


@pytest.fixture(scope="module")
def fake() -> pathlib.Path:
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    return FAKE


def run(fake: pathlib.Path, program: str, source: str = SOURCE, **env: str) -> list[str]:
    """What a program prints, line by line, with `lib` and `failure`, which says how a call fails."""
    prelude = f"""
import paddle_mps as paddle
paddle.set_device("mps")
lib = paddle.mps.compile_shader({source!r})
def failure(f):
    try: f()
    except Exception as e: return f"{{type(e).__name__}}: {{e}}"
    return "no failure"
"""
    done = subprocess.run(
        [sys.executable, "-c", prelude + program], capture_output=True, text=True, timeout=120,
        env={**os.environ, "PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": str(fake), **env},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@on_metal
def test_kernels_are_attributes(fake: pathlib.Path) -> None:
    assert run(
        fake,
        """
print(dir(lib))
print(lib, lib.full, lib.full is lib.full)
k = lib.sum_of_group
print(k.max_threads_per_threadgroup, k.thread_execution_width, k.static_thread_group_memory_length >= 0)
print(failure(lambda: lib.nothing), hasattr(lib, "__wrapped__"))
""",
    ) == [
        "['beyond', 'full', 'numbers', 'sum_of_group', 'transpose']",
        "<paddle_mps.mps.ShaderLibrary of full, transpose, numbers, beyond, sum_of_group> <paddle_mps.mps.Kernel full> True",
        "1024 32 True",
        "AttributeError: [compile_shader] the library has no kernel nothing; want one of "
        "['full', 'transpose', 'numbers', 'beyond', 'sum_of_group'] False",
    ]


@on_metal
def test_calls(fake: pathlib.Path) -> None:
    """Between operators, on parts of tensors, in two dimensions, with threadgroups."""
    assert run(
        fake,
        """
x = paddle.zeros([6])
lib.full(x[2:], 3.5, threads=3)
lib.full(x, 1, threads=[1], arg_casts="fp32")
print((x * 2.0).tolist())
a = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
b = paddle.zeros([3, 2])
lib.transpose(a, b, [3, 2], threads=(3, 2), group_size=(3, 1))
print(b.tolist())
y = paddle.zeros([2])
lib.sum_of_group(paddle.arange(64, dtype="float32"), y, threads=64, group_size=32)
print(y.tolist())
out = paddle.zeros([5], dtype="int64")
lib.numbers(out, -5, 200, [1.0, 7.0], True, [1.5], threads=1, arg_casts={1: "int32", 2: "uint8", 3: "fp16", 4: "bool", 5: "bf16"})
print(out.tolist())
lib.full(x, paddle.to_tensor(8.0, place="cpu"))
print(x.tolist())
with paddle.mps.stream(paddle.mps.Stream()):
    lib.full(x, 2.0)
lib.full(x[1:], 9.0, threads=1)
print(x.tolist())
lib.full(paddle.zeros([0]), 1.0)
paddle.mps.synchronize()
""",
        FAKEMETAL_DELAY_US="500",
        FAKEMETAL_STRICT="1",
    ) == [
        "[2.0, 0.0, 7.0, 7.0, 7.0, 0.0]",
        "[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]",
        "[496.0, 1520.0]",
        "[-5, 200, 7, 1, 3]",
        "[8.0, 8.0, 8.0, 8.0, 8.0, 8.0]",
        "[2.0, 9.0, 2.0, 2.0, 2.0, 2.0]",
    ]


@on_metal
def test_wrong_calls(fake: pathlib.Path) -> None:
    assert run(
        fake,
        """
x = paddle.zeros([4])
print(failure(lambda: lib.full(x)))
print(failure(lambda: lib.full(x, "1")))
print(failure(lambda: lib.full(x, [])))
print(failure(lambda: lib.full(1.0, x)))
print(failure(lambda: lib.full(x.cpu(), 1.0)))
print(failure(lambda: lib.full(x, 1.0, threads=(1, 2, 3, 4))))
print(failure(lambda: lib.full(x, 1.0, threads=-1)))
print(failure(lambda: lib.full(x, 1.0, group_size=(4, 4))))
print(failure(lambda: lib.full(x, 1.0, group_size=2000)))
print(failure(lambda: lib.full(x, 1.0, arg_casts="float")))
print(failure(lambda: lib.full(x, 300, arg_casts="uint8")))
print(failure(lambda: lib.full(x, 1.5, arg_casts="int32")))
print(x.tolist())
""",
    ) == [
        "ValueError: [full] argument 1 (value) is missing; want 2 arguments",
        "TypeError: [full] argument 1 is '1'; want a tensor, a number or a list of numbers",
        "TypeError: [full] argument 1 is []; want a tensor, a number or a list of numbers",
        "TypeError: [full] argument 0 (out) is written by the kernel; want a tensor on mps:0",
        "ValueError: [full] argument 0 is on cpu; want a tensor on mps:0",
        "ValueError: [full] threads is (1, 2, 3, 4); want one to three numbers from 0",
        "ValueError: [full] threads is -1; want one to three numbers from 0",
        "ValueError: [full] group_size is (4, 4); want as many numbers as threads has",
        "ValueError: [full] got threadgroups of 2000 x 1 x 1; want 1 to 1024 threads in all",
        "ValueError: [full] arg_casts is 'float'; want one of " + ", ".join(_shader.CASTS),
        "ValueError: [full] argument 1 is 300; want numbers that uint8 can hold",
        "ValueError: [full] argument 1 is 1.5; want numbers that int32 can hold",
        "[0.0, 0.0, 0.0, 0.0]",
    ]


@on_metal
def test_source_that_does_not_compile(fake: pathlib.Path) -> None:
    lines = run(
        fake,
        """
try: paddle.mps.compile_shader("kernel void f(device float *x) {\\n  x[0] = undeclared;\\n}")
except SyntaxError as e:
    print(isinstance(e, RuntimeError), isinstance(e, paddle.ShaderError), e.filename, e.lineno, e.text)
    print(e)
print(failure(lambda: paddle.mps.compile_shader(b"kernel")), failure(lambda: paddle.mps.compile_shader("\\0")))
""",
    )
    assert lines[0] == "True True program_source 2   x[0] = undeclared;"
    text = "\n".join(lines[1:])
    assert text.startswith("[compile_shader] the source does not compile") and "undeclared" in text
    assert text.count("TypeError: [compile_shader] source is not a str without zeros") == 2


@on_metal
def test_source_that_only_a_mac_would_refuse(fake: pathlib.Path) -> None:
    """The mock has the rules of Metal's language, not only those of the C++ that it compiles shaders as."""
    lines = run(
        fake,
        """
for parameters, body in (
    ("device float *x", "float *y = x; y[0] = 0;"),
    ("device float *x", "threadgroup float y[9216]; x[0] = y[0];"),
    ("device uint *x", "x[0] = max(x[0], 1);"),
    ("device float *x [[buffer(31)]]", "x[0] = 0;"),
):
    try: paddle.mps.compile_shader("kernel void f(" + parameters + ") {\\n  " + body + "\\n}")
    except paddle.ShaderError as e: print(e.filename, e.lineno, str(e).replace("\\n", " "))
""",
    )
    assert len(lines) == 4
    for line, (at, words) in zip(
        lines,
        (
            (2, "pointer type must have explicit address space qualifier"),
            (2, "threadgroup memory exceeds 32768 bytes"),
            (2, "max"),
            (1, "must be between 0 and 30"),
        ),
    ):
        assert line.startswith(f"program_source {at} ") and words in line


@on_metal
def test_a_kernel_that_goes_beyond_its_tensor(fake: pathlib.Path) -> None:
    """Nothing dies: the call has failed, its name is in the error, and so has what shared its command buffer."""
    lines = run(
        fake,
        """
y = paddle.ones([16])
y + 1.0  # is compiled
for _ in range(50):  # on a busy machine the first call may be sent alone
    x = paddle.zeros([16])
    paddle.mps.synchronize()
    lib.beyond(x)
    z = y + 1.0
    said = [failure(x.numpy), failure(z.numpy), failure(paddle.mps.synchronize)]
    if said[1] != "no failure":
        break
print("\\n".join(said))
print((y + 1.0).tolist()[0], failure(paddle.mps.synchronize))
""",
    )
    assert lines[0].startswith("DeviceError: [beyond] the GPU stopped the command buffer: ")
    assert lines[1].startswith("DeviceError: [add] the GPU stopped the command buffer: ")
    assert lines[1].endswith("; in it ran beyond of the program's own")
    assert lines[2].startswith("DeviceError: [beyond]")
    assert lines[3] == "2.0 no failure"


@on_metal
def test_load_metallib(fake: pathlib.Path, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "kernels.metallib"
    path.write_text(SOURCE)  # the mock of Metal takes source
    assert run(
        fake,
        f"""
import pathlib
for source in ({str(path)!r}, pathlib.Path({str(path)!r}), pathlib.Path({str(path)!r}).read_bytes()):
    x = paddle.zeros([2])
    paddle.mps.load_metallib(source).full(x, 2.0)
    print(x.tolist())
print(failure(lambda: paddle.mps.load_metallib("missing.metallib")).startswith("ValueError: [load_metallib] missing.metallib does not load: "))
""",
    ) == ["[2.0, 2.0]"] * 3 + ["True"]


@on_metal
def test_capture(fake: pathlib.Path, tmp_path: pathlib.Path) -> None:
    program = f"""
profiler = paddle.mps.profiler
print(profiler.is_metal_capture_enabled(), profiler.is_capturing_metal())
def capture(name):
    with profiler.metal_capture({str(tmp_path)!r} + "/" + name):
        lib.full(paddle.zeros([4]), 1.0)
        print(profiler.is_capturing_metal())
        if name == "bad": raise KeyError(name)
print(failure(lambda: capture("good")))
print(failure(lambda: capture("bad")))
print(failure(lambda: capture("good.gputrace")))
print(profiler.is_capturing_metal())
"""
    refused = run(fake, program)
    assert refused[0] == "False False"
    assert refused[1].startswith("UnsupportedError: [metal_capture] Metal does not let this process capture")
    lines = run(fake, program, MTL_CAPTURE_ENABLED="1")
    assert lines[:5] == ["True False", "True", "no failure", "True", "KeyError: 'bad'"]
    assert re.match(r"ValueError: \[metal_capture\] .*good.gputrace is not begun", lines[5]) and lines[6] == "False"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.gputrace", "good.gputrace"]


@on_metal
def test_the_program_of_the_documentation(fake: pathlib.Path, tmp_path: pathlib.Path) -> None:
    text = (ROOT / "docs" / "shaders.md").read_text(encoding="utf-8")
    program = "".join(re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    promises = re.findall(r"  # -> (.*)", program)
    assert len(promises) == 2
    lines = run(fake, f"import os; os.chdir({str(tmp_path)!r})\n" + program, MTL_CAPTURE_ENABLED="1")
    assert lines == promises
    assert (tmp_path / "trace.gputrace").exists()


@on_metal
@pytest.mark.parametrize("macos", ["13.0", "14.0"])
def test_older_systems(fake: pathlib.Path, macos: str) -> None:
    source = "kernel void grow(device float *x, uint i [[thread_position_in_grid]]) { x[i] += 1; }"
    program = "x = paddle.zeros([3]); lib.grow(x); lib.grow(x); print(x.tolist())"
    assert run(fake, program, source, FAKEMETAL_MACOS=macos) == ["[2.0, 2.0, 2.0]"]


def test_other_devices_have_no_shaders() -> None:
    """On the emulated device, and where there is none, each function says so."""
    if not paddle.mps.is_available():
        for call in (lambda: paddle.mps.compile_shader(SOURCE), paddle.mps.profiler.is_metal_capture_enabled):
            with pytest.raises(paddle.DeviceError, match="mps is not available"):
                call()
        return
    if paddle.mps.get_device_properties().backend == "metal":
        pytest.skip("this is the Metal device")
    with pytest.raises(
        paddle.UnsupportedError, match=r"\[compile_shader\] mps:0 runs on device host; want device metal"
    ):
        paddle.mps.compile_shader(SOURCE)
    with pytest.raises(paddle.UnsupportedError, match=r"\[load_metallib\]"):
        paddle.mps.load_metallib(b"MTLB")
    assert not paddle.mps.profiler.is_metal_capture_enabled() and not paddle.mps.profiler.is_capturing_metal()
    with pytest.raises(paddle.UnsupportedError, match=r"\[metal_capture\]"):
        paddle.mps.profiler.metal_capture("x").__enter__()


@pytest.mark.parametrize(
    ("cast", "value", "want"),
    [
        ("fp32", 1, struct.pack("f", 1.0)),
        ("fp16", 0.5, struct.pack("e", 0.5)),
        ("bf16", 1.0, b"\x80\x3f"),
        ("bf16", 1.0 + 2**-8, b"\x80\x3f"),  # a tie, to even
        ("bf16", 1.0 + 3 * 2**-8, b"\x82\x3f"),
        ("bf16", float("inf"), b"\x80\x7f"),
        ("bf16", -0.0, b"\x00\x80"),
        ("int8", -1, b"\xff"),
        ("uint64", 2**64 - 1, b"\xff" * 8),
        ("bool", 2, b"\x01"),
    ],
)
def test_numbers_as_bytes(cast: str, value: float, want: bytes) -> None:
    assert _shader.pack(cast, value) == want


def test_nan_stays_nan_as_bf16() -> None:
    (bits,) = struct.unpack("H", _shader.pack("bf16", float("nan")))
    assert bits & 0x7F80 == 0x7F80 and bits & 0x7F
