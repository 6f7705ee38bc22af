"""What compiled Triton kernels ask of a GPU, beside shaders written by hand, counted by the mock of Metal.

    ./build.sh bench triton_counts

The model is that of tests/fakemetal/shader_count.c. Bytes are those that instructions access, of device memory as often as a SIMD
group touches them, of threadgroup memory by each thread. Functions of SIMD groups are loads, products and stores of 8x8 matrices, and
exchanges between lanes. Both kernels compute the same, which is compared with NumPy's result. Bars are those that the project has
set itself; the exit status is 1 if one is missed.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import triton
import triton.language as tl

import paddle_mps as paddle

N, ROWS, COLUMNS = 1 << 16, 64, 1024
SIDE, DEPTH, STEP = 128, 512, 32  # of a product of (SIDE, DEPTH) by (DEPTH, SIDE), in tiles of STEP

mock = ctypes.CDLL(os.environ["PADDLE_MPS_METAL_LIBRARY"])
mock.fakemetal_dispatch.restype = ctypes.c_int64
mock.fakemetal_dispatch.argtypes = [ctypes.c_char_p, ctypes.c_int64]


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def softmax(x, o, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.load(x + tl.program_id(0) * columns + at, mask=at < columns, other=-float("inf"))
    e = tl.exp(row - tl.max(row, axis=0))
    tl.store(o + tl.program_id(0) * columns + at, e / tl.sum(e, axis=0), mask=at < columns)


@triton.jit
def matmul(a, b, c, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, at = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    sums = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        x = tl.load(a + i[:, None] * k + start + at[None, :])
        y = tl.load(b + (start + at)[:, None] * N + j[None, :])
        sums = tl.dot(x, y, sums, input_precision="ieee")
    tl.store(c + i[:, None] * N + j[None, :], sums)


# The same by hand. softmax has 128 threads for a row, which they keep in registers. The product has 8 SIMD groups, each with
# 64 x 32 of the result in 8 x 4 matrices, and both tiles in threadgroup memory.
BY_HAND = """
#include <metal_stdlib>
using namespace metal;

kernel void add(device const float4 *x, device const float4 *y, device float4 *o, uint i [[thread_position_in_grid]]) {
    float4 u = x[i], v = y[i];
    o[i] = u + v;
}

kernel void softmax(device const float4 *x, device float4 *o, uint i [[thread_position_in_threadgroup]],
                    uint row [[threadgroup_position_in_grid]], uint group [[simdgroup_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
    threadgroup float tops[4], sums[4];
    float4 u = x[row * 256 + i], v = x[row * 256 + 128 + i];
    float4 m = max(u, v);
    float top = simd_max(max(max(m.x, m.y), max(m.z, m.w)));
    if (lane == 0) tops[group] = top;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    top = max(max(tops[0], tops[1]), max(tops[2], tops[3]));
    u = exp(u - top);
    v = exp(v - top);
    float4 s = u + v;
    float sum = simd_sum(s.x + s.y + s.z + s.w);
    if (lane == 0) sums[group] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = sums[0] + sums[1] + sums[2] + sums[3];
    o[row * 256 + i] = u / sum;
    o[row * 256 + 128 + i] = v / sum;
}

kernel void matmul(device const float4 *a, device const float4 *b, device float *c, constant int &k,
                   uint i [[thread_position_in_threadgroup]], uint group [[simdgroup_index_in_threadgroup]]) {
    threadgroup float x[128 * 32], y[32 * 128];
    uint row = group / 4 * 64, column = group % 4 * 32;
    simdgroup_float8x8 sums[8][4];
    for (int r = 0; r < 8; r++)
        for (int s = 0; s < 4; s++) sums[r][s] = simdgroup_float8x8(0);
    for (int start = 0; start < k; start += 32) {
        for (uint at = i; at < 1024; at += 256) {
            ((threadgroup float4 *)x)[at] = a[(at / 8 * uint(k) + uint(start)) / 4 + at % 8];
            ((threadgroup float4 *)y)[at] = b[(uint(start) + at / 32) * 32 + at % 32];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint l = 0; l < 32; l += 8) {
            simdgroup_float8x8 left[8], right[4];
            for (uint r = 0; r < 8; r++) simdgroup_load(left[r], x + (row + 8 * r) * 32 + l, 32);
            for (uint s = 0; s < 4; s++) simdgroup_load(right[s], y + l * 128 + column + 8 * s, 128);
            for (uint r = 0; r < 8; r++)
                for (uint s = 0; s < 4; s++) simdgroup_multiply_accumulate(sums[r][s], left[r], right[s], sums[r][s]);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint r = 0; r < 8; r++)
        for (uint s = 0; s < 4; s++) simdgroup_store(sums[r][s], c + (row + 8 * r) * 128 + column + 8 * s, 128);
}
"""

WHAT = ("loaded_bytes", "stored_bytes", "loads", "barriers", "threadgroup_bytes", "meetings")


def counted(run: Callable[[], Any]) -> dict[str, int]:
    """What the dispatch of a run did; the kernel is compiled before."""
    for _ in range(2):
        paddle.mps.synchronize()
        mock.fakemetal_reset()
        run()
    paddle.mps.synchronize()
    assert mock.fakemetal_dispatch(b"dispatches", 0) == 1
    return {what: mock.fakemetal_dispatch(what.encode(), 0) for what in WHAT}


def line(what: str, got: float, by_hand: float, bar: float) -> bool:
    """Prints a figure, and answers whether it is at most its bar."""
    good = got <= bar
    print(f"  {what:44s}{got:>12,.0f}{by_hand:>12,.0f}{bar:>12,.0f} {'ok' if good else 'MISSED'}")
    return good


def main() -> int:
    rng = np.random.default_rng(0)
    hand = paddle.mps.compile_shader(BY_HAND)

    def operand(*shape: int) -> tuple[Any, paddle.Tensor]:
        values = rng.standard_normal(shape, dtype=np.float32)
        return values, paddle.to_tensor(values, place="mps")

    (nx, x), (ny, y), (nr, r) = operand(N), operand(N), operand(ROWS, COLUMNS)
    (na, a), (nb, b) = operand(SIDE, DEPTH), operand(DEPTH, SIDE)
    exps = np.exp(nr - nr.max(axis=1, keepdims=True), dtype=np.float64)

    def both(compiled: Callable[[paddle.Tensor], Any], written: Callable[[paddle.Tensor], Any], want: Any) -> Any:
        """Counts of both, whose results are compared."""
        counts = []
        for run in (compiled, written):
            out = paddle.zeros(want.shape, place="mps")
            counts.append(counted(lambda run=run, out=out: run(out)))  # type: ignore[misc]
            np.testing.assert_allclose(out.numpy(), want, rtol=1e-5, atol=1e-4)
        return counts

    print(f"{'':46s}{'compiled':>12s}{'by hand':>12s}{'bar':>12s}")
    good = []

    u, v = both(
        lambda o: add[(N // 1024,)](x, y, o, N, BLOCK=1024),
        lambda o: hand.add(x, y, o, threads=N // 4, group_size=256),
        nx + ny,
    )
    print("add of 65,536 float32")
    good += [
        line("device bytes loaded", u["loaded_bytes"], v["loaded_bytes"], 8 * N),
        line("device bytes stored", u["stored_bytes"], v["stored_bytes"], 4 * N),
        line("loads of 16 bytes a lane", u["loads"], v["loads"], 8 * N / 16 / 32),
        line("barriers", u["barriers"], v["barriers"], 0),
    ]

    u, v = both(
        lambda o: softmax[(ROWS,)](r, o, COLUMNS, BLOCK=COLUMNS),
        lambda o: hand.softmax(r, o, threads=ROWS * 128, group_size=128),
        exps / exps.sum(axis=1, keepdims=True),
    )
    print("softmax of 64 rows of 1,024 float32")
    good += [
        line("device bytes loaded", u["loaded_bytes"], v["loaded_bytes"], 4 * ROWS * COLUMNS),
        line("device bytes stored", u["stored_bytes"], v["stored_bytes"], 4 * ROWS * COLUMNS),
        line("barriers, of a row", u["barriers"] / ROWS, v["barriers"] / ROWS, 4),
    ]

    u, v = both(
        lambda o: matmul[(1,)](a, b, o, DEPTH, M=SIDE, N=SIDE, K=STEP, num_warps=8),
        lambda o: hand.matmul(a, b, o, DEPTH, threads=256, group_size=256, arg_casts="int32"),
        na.astype(np.float64) @ nb,
    )
    print("matmul of (128, 512) by (512, 128) in tiles of 128 x 128 x 32, float32")
    good += [
        line("device bytes loaded", u["loaded_bytes"], v["loaded_bytes"], 8 * SIDE * DEPTH),
        line("device bytes stored", u["stored_bytes"], v["stored_bytes"], 4 * SIDE * SIDE),
        line(
            "bytes of threadgroup memory", u["threadgroup_bytes"], v["threadgroup_bytes"], 1.1 * v["threadgroup_bytes"]
        ),
        line("functions of SIMD groups, 8x8 products most", u["meetings"], v["meetings"], 1.1 * v["meetings"]),
    ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
