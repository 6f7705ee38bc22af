"""Launches of compiled kernels and files of them, with shaders written by hand: nothing here needs the compiler."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import triton_aot
from paddle_mps._kernels import _triton

METADATA = (
    '{"triton_mps":1,"name":"scale","args":[{"name":"x","type":"*fp32","divisible":16},{"name":"n","type":"i32"},'
    '{"name":"out","type":"*fp32","writes":true},{"name":"by","type":"fp32"},{"name":"far","type":"i64"}],'
    '"grid":"threadgroups","num_warps":1,"threads":32,"shared":0}'
)
SOURCE = f"""// {METADATA}
#include <metal_stdlib>
using namespace metal;
kernel void scale(device const float *x [[buffer(0)]], constant int &n [[buffer(1)]], device float *out [[buffer(2)]],
                  constant float &by [[buffer(3)]], constant long &far [[buffer(4)]],
                  uint3 group [[threadgroup_position_in_grid]], uint3 groups [[threadgroups_per_grid]], uint3 t [[thread_position_in_threadgroup]]) {{
    int at = int(group.x) * 32 + int(t.x);
    if (at < n) out[at] = x[at] * by + float(far >> 40) + 100.0f * float(groups.y);
}}
"""
FAR = 3 << 40


@pytest.fixture(scope="module")
def program() -> _triton.Program:
    return _triton.Program(*_triton.unpack(SOURCE.encode()))


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> triton_aot.Kernel:
    path = tmp_path_factory.mktemp("aot") / "scale.metal"
    path.write_text(SOURCE)
    return triton_aot.load(path)


OTHERS = [
    b"",
    b"kernel void f() {}",
    b"// {\n",
    b"// {}\n",
    b'// {"triton_mps":99}\n',
    f'// {{"triton_mps":{_triton.FORMAT}}}\n'.encode(),
]


@pytest.mark.parametrize("file", OTHERS)
def test_other_files_are_refused(file: bytes):
    with pytest.raises(ValueError, match=r"\[triton\]"):
        _triton.unpack(file)


def test_a_launch_is_ordered_like_an_operator(program: _triton.Program):
    x = paddle.ones([70], place="mps") * 3  # enqueued before
    out = paddle.zeros([70], place="mps")
    program.run(3, 1, 1, [x, 70, out, 0.5, FAR])
    assert (out + 1).tolist() == [105.5] * 70  # enqueued behind


def test_the_grid_has_three_axes_and_may_be_empty(program: _triton.Program):
    x, out = paddle.ones([64], place="mps"), paddle.zeros([64], place="mps")
    program.run(2, 7, 1, [x, 64, out, 2.0, 0])
    assert out.tolist() == [702.0] * 64
    program.run(0, 1, 1, [x, 64, out, 9.0, 0])
    assert out.tolist() == [702.0] * 64


@pytest.mark.parametrize("grid", [(-1, 1, 1), (1 << 62, 1, 1)])
def test_a_grid_that_no_device_has_is_refused(program: _triton.Program, grid: tuple[int, int, int]):
    x, out = paddle.ones([64], place="mps"), paddle.zeros([64], place="mps")
    with pytest.raises(ValueError, match=re.escape(f"[scale] the grid is {grid}; want numbers from 0 to 2147483647")):
        program.run(*grid, [x, 64, out, 1.0, 0])
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        program.run(1, 1.5, 1, [x, 64, out, 1.0, 0])  # type: ignore[arg-type]
    program.run(2, 1, 1, [x, 64, out, 2.0, 0])
    assert out.tolist() == [102.0] * 64


def test_a_number_beyond_float32_is_infinite(program: _triton.Program):
    x, out = paddle.ones([32], place="mps"), paddle.zeros([32], place="mps")
    for large in (1e39, -1e39):
        program.run(1, 1, 1, [x, 32, out, large, 0])
        assert out.tolist() == [large * np.inf] * 32


def test_a_tensor_of_the_cpu_is_refused(program: _triton.Program):
    with pytest.raises(ValueError, match="is on"):
        program.run(1, 1, 1, [paddle.ones([32], place="cpu"), 32, paddle.zeros([32], place="mps"), 1.0, 0])


def test_many_launches_in_flight(program: _triton.Program):
    xs = [paddle.full([32], i, place="mps") for i in range(100)]
    outs = [paddle.zeros([32], place="mps") for _ in xs]
    for i, (x, out) in enumerate(zip(xs, outs)):
        program.run(1, 1, 1, [x, 32, out, float(i), 0])
    assert [out.tolist()[5] for out in outs] == [i * i + 100 for i in range(100)]


def test_launches_of_several_threads(program: _triton.Program):
    import threading

    wrong = []

    def work(seed: int) -> None:
        x, out = paddle.full([32], seed, place="mps"), paddle.zeros([32], place="mps")
        for by in range(50):
            program.run(1, 1, 1, [x, 32, out, float(by), 0])
            if out.tolist() != [seed * by + 100.0] * 32:
                wrong.append((seed, by))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


class Foreign:
    """A tensor of the CPU of another package, as far as Triton asks."""

    def __init__(self, array):
        self.array, self.dtype, self.device, self.nbytes = array, array.dtype, "cpu", array.nbytes

    def data_ptr(self):
        return self.array.ctypes.data


def test_memory_of_another_package_is_copied_in_and_out(program: _triton.Program, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(_triton.Borrowed, "_warned", False)
    x, out = np.arange(40, dtype=np.float32)[3:35], np.zeros(50, np.float32)[3:43]  # not whole pages
    before = _triton.Borrowed.copies
    with pytest.warns(UserWarning, match="copied to the GPU"):
        program.run(1, 1, 1, [Foreign(x), 32, Foreign(out), 2.0, 0])
    assert out.tolist() == [2 * v + 100 for v in range(3, 35)] + [0] * 8
    assert _triton.Borrowed.copies == before + 2


def test_numpy_pages_are_shared(program: _triton.Program):
    pages = paddle.mps.page_aligned_empty([4096], np.float32)
    pages[:] = 5
    x = paddle.to_tensor(pages, place="mps", zero_copy=True)
    program.run(1, 1, 1, [x, 32, x, 2.0, 0])
    paddle.mps.synchronize()
    assert pages[:33].tolist() == [110.0] * 32 + [5.0]


def test_a_file_runs_without_triton(kernel: triton_aot.Kernel):
    x, out = paddle.ones([40], place="mps"), paddle.zeros([40], place="mps")
    kernel[(2,)](x, 40, out, 2.0, FAR)
    assert out.tolist() == [105.0] * 40
    assert kernel.name == "scale" and kernel.num_warps == 1 and kernel.signature[1] == ("n", "i32")


WRONG = {
    "count": ("out", TypeError, "got 4 arguments; want 5: x, n, out, by, far"),
    "dtype": ("half", TypeError, "x has dtype float16; want float32"),
    "alignment": ("shifted", ValueError, "multiples of 16"),
    "place": ("cpu", ValueError, "want a tensor on an mps device"),
    "number": ("float", TypeError, "n is 2.5; want a number of type i32"),
    "range": ("large", ValueError, "n is 4294967296; want a number that i32 can hold"),
    "array": ("array", TypeError, "x is ndarray; want a tensor"),
}


@pytest.mark.parametrize("what", WRONG)
def test_arguments_of_a_file_are_checked(kernel: triton_aot.Kernel, what: str):
    x, out = paddle.ones([41], place="mps"), paddle.zeros([40], place="mps")
    change, error, words = WRONG[what]
    arguments = {
        "out": [x, 40, out, 1.0], "half": [x.cast("float16"), 40, out, 1.0, 0], "shifted": [x[1:], 40, out, 1.0, 0],
        "cpu": [paddle.ones([40], place="cpu"), 40, out, 1.0, 0], "float": [x, 2.5, out, 1.0, 0],
        "large": [x, 1 << 32, out, 1.0, 0], "array": [np.ones(40, np.float32), 40, out, 1.0, 0],
    }[change]  # fmt: skip
    with pytest.raises(error, match=words):
        kernel[(2,)](*arguments)


def test_a_grid_is_one_to_three_numbers(kernel: triton_aot.Kernel):
    wrong: list[Any] = [(), (1, 1, 1, 1), (-1,), ("a",)]
    for grid in wrong:
        with pytest.raises(ValueError, match="grid"):
            kernel[grid]


SLOW = """#include <metal_stdlib>
using namespace metal;
kernel void slow(device float *x [[buffer(0)]], uint t [[thread_position_in_grid]]) {
    for (int i = 0; i < 3000000; i++) x[t] = x[t] * 0.5f + 1.0f;
}
"""


def test_a_launch_waits_for_nothing(program: _triton.Program):
    from paddle_mps_triton import _arguments

    metadata = {"name": "slow", "args": [{"name": "x", "type": "*fp32"}], "threads": 32}
    slow = _triton.Program(SLOW, metadata)
    x, out = paddle.zeros([32], place="mps"), paddle.zeros([32], place="mps")
    slow.run(1, 1, 1, [x])
    assert _arguments.aligned(x) and _arguments.aligned(out)
    program.run(1, 1, 1, [x, 32, out, 1.0, 0])
    assert not paddle.mps.current_stream().query()  # the slow kernel still runs
    assert out.tolist() == [102.0] * 32
