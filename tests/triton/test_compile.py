"""Kernels through Triton's launcher: what a compiled kernel shows, caches, tuning, hooks, descriptors, refusals."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from kernels.elementwise import add
from kernels.refused import float64_kernel
from triton.runtime.errors import OutOfResources

import paddle_mps as paddle
from paddle_mps import triton_aot
from paddle_mps._kernels import _triton
from paddle_mps_triton.driver import MPSDriver

N = 1000


@pytest.fixture
def arrays() -> list[Any]:
    return [paddle.randn([N], place="mps"), paddle.randn([N], place="mps"), paddle.zeros([N], place="mps")]


def summed(x: Any, y: Any, out: Any) -> bool:
    return np.array_equal(out.numpy(), x.numpy() + y.numpy())


def test_a_compiled_kernel_shows_its_stages(arrays: list[Any]):
    kernel = add[(1,)](*arrays, N, BLOCK=1024, num_warps=2)
    assert summed(*arrays)
    assert kernel.asm["ttir"].startswith("#loc") and "kernel void add" in kernel.asm["msl"]
    assert "elementwise.py:" in kernel.asm["msl"]  # lines of Python stand beside the statements
    assert (
        kernel.metadata.shared == 0
        and kernel.metadata.num_warps == 2
        and kernel.metadata.target.backend == "paddle-mps"
    )
    assert kernel.n_regs > 0 and kernel.asm["metal"] == kernel.asm["msl"].encode()


def test_the_last_stage_runs_without_triton(arrays: list[Any], tmp_path: pathlib.Path):
    kernel = add.warmup(*arrays, N, BLOCK=256, grid=(1,))
    path = tmp_path / "add.metal"
    path.write_bytes(kernel.asm["metal"])
    triton_aot.load(path)[(4,)](*arrays, N)
    assert summed(*arrays)
    with pytest.raises(ValueError, match="multiples of 16"):
        triton_aot.load(path)[(4,)](paddle.zeros([N + 1], place="mps")[1:], *arrays[1:], N)


def test_alignment_is_part_of_a_specialisation(arrays: list[Any]):
    x = paddle.randn([N + 1], place="mps")
    add[(1,)](x[1:], *arrays[1:], N, BLOCK=1024)
    assert summed(x[1:], *arrays[1:])


def test_a_process_finds_what_another_has_compiled(tmp_path: pathlib.Path):
    program = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import triton, paddle_mps as paddle
from kernels.elementwise import add
times = []
triton.knobs.compilation.listener = lambda **told: print("hit" if told["cache_hit"] else "compiled")
x = paddle.ones([64], place="mps")
add[(1,)](x, x, x, 64, BLOCK=64)
print(x.tolist()[5])
"""
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path)}
    environment.pop("TRITON_ALWAYS_COMPILE", None)
    told = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
        for _ in range(2)
    ]
    assert [t.stdout.split() for t in told] == [["compiled", "2.0"], ["hit", "2.0"]], told[0].stderr


def test_float64_is_refused_with_its_line(arrays: list[Any]):
    with pytest.raises(paddle.UnsupportedError, match=r"f64.*refused\.py:\d+"):
        float64_kernel[(1,)](arrays[0], arrays[2], N, BLOCK=1024)
    add[(1,)](*arrays, N, BLOCK=1024)
    assert summed(*arrays)


@triton.jit
def big(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(tl.load(x + at)))


def test_threads_beyond_a_limit_are_out_of_resources(arrays: list[Any]):
    with pytest.raises(OutOfResources, match="threads"):
        add[(1,)](*arrays, N, BLOCK=1024, num_warps=8, max_threads=128)
    with pytest.raises(OutOfResources):
        add[(1,)](*arrays, N, BLOCK=1024, num_warps=64)


def test_threadgroup_memory_beyond_a_limit_is_out_of_resources():
    from kernels.reduce import reduce_sum

    x, out = paddle.ones([1024], place="mps"), paddle.zeros([1], place="mps")
    with pytest.raises(OutOfResources):
        reduce_sum[(1,)](x, out, 1024, BLOCK=1024, num_warps=8, shared_memory=4)
    reduce_sum[(1,)](x, out, 1024, BLOCK=1024, num_warps=8)
    assert out.tolist() == [1024.0]


def test_autotune_skips_what_does_not_fit(arrays: list[Any]):
    configurations = [triton.Config({"BLOCK": b}, num_warps=w) for b, w in [(64, 64), (256, 1), (1024, 4)]]
    tuned = triton.autotune(configs=configurations, key=["n"])(add)
    tuned[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](*arrays, N)
    assert summed(*arrays) and tuned.best_config.num_warps in (1, 4)


def test_heuristics(arrays: list[Any]):
    chosen = triton.heuristics({"BLOCK": lambda given: triton.next_power_of_2(given["n"])})(add)
    chosen[(1,)](*arrays, N)
    assert summed(*arrays)


def test_do_bench(arrays: list[Any], monkeypatch: pytest.MonkeyPatch):
    # The mock takes a minute to clear what is larger than a cache.
    monkeypatch.setattr(MPSDriver, "get_empty_cache_for_benchmark", lambda self: paddle.empty([64], place="mps"))
    assert triton.testing.do_bench(lambda: add[(1,)](*arrays, N, BLOCK=1024), warmup=1, rep=2) > 0


def test_hooks_around_a_launch(arrays: list[Any]):
    told: list[str] = []
    triton.knobs.runtime.launch_enter_hook.add(lambda metadata: told.append("enter " + metadata.get()["name"]))
    triton.knobs.runtime.launch_exit_hook.add(lambda metadata: told.append("exit"))
    try:
        add[(1,)](*arrays, N, BLOCK=1024)
    finally:
        triton.knobs.runtime.launch_enter_hook.calls.clear()
        triton.knobs.runtime.launch_exit_hook.calls.clear()
    assert told == ["enter add", "exit"]


def test_an_unknown_keyword_is_an_error(arrays: list[Any]):
    with pytest.raises(KeyError, match="num_wraps"):
        add[(1,)](*arrays, N, BLOCK=1024, num_wraps=4)


def test_arguments_that_are_no_tensors_of_the_device(arrays: list[Any]):
    with pytest.raises(ValueError, match="argument 0 is on cpu; want a tensor on mps:0"):
        add[(1,)](paddle.ones([N], place="cpu"), *arrays[1:], N, BLOCK=1024)
    with pytest.raises(TypeError):
        add[(1,)](np.ones(N, np.float32), *arrays[1:], N, BLOCK=1024)
    add[(1,)](*arrays, N, BLOCK=1024)
    assert summed(*arrays)


def test_fusion_of_products_and_sums_can_be_forbidden(arrays: list[Any]):
    kernel = add.warmup(*arrays, N, BLOCK=256, grid=(1,), enable_fp_fusion=False)
    assert "#pragma METAL fp contract(off)" in kernel.asm["msl"]
    assert "contract" not in add.warmup(*arrays, N, BLOCK=256, grid=(1,)).asm["msl"]


@triton.jit
def through_descriptor(source, out, n, M: tl.constexpr, N: tl.constexpr):
    tl.store(out + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], source.load([n, 0]) * 2)


def test_a_tensor_descriptor_of_the_host():
    from triton.tools.tensor_descriptor import TensorDescriptor

    x, out = paddle.randn([20, 32], place="mps"), paddle.zeros([8, 32], place="mps")
    through_descriptor[(1,)](TensorDescriptor(x, [20, 32], [32, 1], [8, 32]), out, 16, M=8, N=32)
    expected = np.zeros((8, 32), np.float32)
    expected[:4] = 2 * x.numpy()[16:]
    assert np.array_equal(out.numpy(), expected)


def test_the_emulated_device_says_that_it_runs_no_shaders():
    program = """
import triton, paddle_mps as paddle, sys
sys.path.insert(0, sys.argv[1])
from kernels.elementwise import add
x = paddle.ones([64], place="mps")
try: add[(1,)](x, x, x, 64, BLOCK=64)
except paddle.UnsupportedError as error: print(error)
"""
    environment = {**os.environ, "PADDLE_MPS_DEVICE": "host"}
    done = subprocess.run(
        [sys.executable, "-c", program, str(pathlib.Path(__file__).parent)],
        capture_output=True,
        text=True,
        env=environment,
    )
    assert "want device metal" in done.stdout, done.stderr


def test_copies_of_foreign_tensors_reach_triton(arrays: list[Any], monkeypatch: pytest.MonkeyPatch):
    class Foreign:
        device = "cpu"

        def __init__(self, array: Any) -> None:
            self.array, self.dtype, self.nbytes = array, array.dtype, array.nbytes

        def data_ptr(self) -> int:
            return int(self.array.ctypes.data)

    x, out = np.arange(N + 3, dtype=np.float32)[3:], np.zeros(N + 3, np.float32)[3:]
    monkeypatch.setattr(_triton.Borrowed, "_warned", True)
    add[(1,)](Foreign(x), Foreign(x), Foreign(out), N, BLOCK=1024)
    assert np.array_equal(out, x + x)
