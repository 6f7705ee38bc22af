"""Operations that move elements: join, split, interleave, cat, reshape, trans, flip, gather, sort, top-k, histogram."""

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, case


@triton.jit
def join_split(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    j = tl.join(tl.load(x + at), tl.load(y + at))
    a, b = tl.split(j)
    tl.store(out + at, b)
    tl.store(out + BLOCK + at, a)
    tl.store(out + 2 * BLOCK + at[:, None] * 2 + tl.arange(0, 2)[None, :], j)


@case("join_split")
def _(rng):
    x, y = rng.standard_normal(128).astype(np.float32), rng.standard_normal(128).astype(np.float32)
    return Run(join_split, (1,), [x, y, Out(np.concatenate([y, x, np.stack([x, y], 1).reshape(-1)]))], {"BLOCK": 128})


@triton.jit
def interleave_kernel(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + tl.arange(0, 2 * BLOCK), tl.interleave(tl.load(x + at), tl.load(y + at)))


@case("interleave_i16")
def _(rng):
    x, y = rng.integers(-99, 99, 256).astype(np.int16), rng.integers(-99, 99, 256).astype(np.int16)
    return Run(interleave_kernel, (1,), [x, y, Out(np.stack([x, y], 1).reshape(-1))], {"BLOCK": 256})


@triton.jit
def cat_kernel(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    both = tl.cat(tl.load(x + at), tl.load(y + at), can_reorder=True)
    tl.store(out, tl.sum(both))
    tl.store(out + 1, tl.max(both))


@case("cat")
def _(rng):
    x, y = rng.integers(-99, 99, 128).astype(np.int32), rng.integers(-99, 99, 128).astype(np.int32)
    return Run(
        cat_kernel, (1,), [x, y, Out(np.array([x.sum() + y.sum(), max(x.max(), y.max())], np.int32))], {"BLOCK": 128}
    )


@triton.jit
def reshape_trans(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    v = tl.load(x + tl.arange(0, A * B * C))
    v = tl.permute(tl.reshape(v, (A, B, C)), (2, 0, 1))
    tl.store(out + tl.arange(0, A * B * C), tl.reshape(v, (A * B * C,)))


@case("reshape_permute")
def _(rng):
    x = rng.standard_normal((4, 16, 8)).astype(np.float32)
    return Run(reshape_trans, (1,), [x, Out(np.ascontiguousarray(x.transpose(2, 0, 1)))], {"A": 4, "B": 16, "C": 8})


@triton.jit
def trans_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + tl.arange(0, N)[:, None] * M + tl.arange(0, M)[None, :], tl.trans(v))


@case("trans_fp16")
def _(rng):
    x = rng.standard_normal((64, 32)).astype(np.float16)
    return Run(trans_kernel, (1,), [x, Out(np.ascontiguousarray(x.T))], {"M": 64, "N": 32})


@triton.jit
def flip_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.flip(tl.load(x + at), 1))


@case("flip")
def _(rng):
    x = rng.standard_normal((8, 64)).astype(np.float32)
    return Run(flip_kernel, (1,), [x, Out(np.ascontiguousarray(x[:, ::-1]))], {"M": 8, "N": 64})


@triton.jit
def gather_kernel(x, index, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, AXIS: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    if AXIS == 0:
        at = tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :]
    else:
        at = tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :]
    tl.store(out + at, tl.gather(v, tl.load(index + at), AXIS))


@case("gather_axis_0")
def _(rng):
    x, index = rng.standard_normal((32, 16)).astype(np.float32), rng.integers(0, 32, (64, 16)).astype(np.int32)
    return Run(
        gather_kernel, (1,), [x, index, Out(np.take_along_axis(x, index, 0))], {"M": 32, "N": 16, "K": 64, "AXIS": 0}
    )


@case("gather_axis_1")
def _(rng):
    x, index = rng.standard_normal((8, 64)).astype(np.float32), rng.integers(0, 64, (8, 32)).astype(np.int32)
    return Run(
        gather_kernel,
        (1,),
        [x, index, Out(np.take_along_axis(x, index, 1))],
        {"M": 8, "N": 64, "K": 32, "AXIS": 1},
        {"num_warps": 2},
    )


@triton.jit
def sort_kernel(x, out, M: tl.constexpr, N: tl.constexpr, DOWN: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.sort(tl.load(x + at), 1, DOWN))


@case("sort_fp32_256")
def _(rng):
    x = rng.standard_normal((1, 256)).astype(np.float32)
    return Run(sort_kernel, (1,), [x, Out(np.sort(x, 1))], {"M": 1, "N": 256, "DOWN": False})


@case("sort_rows_descending_i32")
def _(rng):
    x = rng.integers(-(2**31), 2**31, (8, 32)).astype(np.int32)
    return Run(
        sort_kernel, (1,), [x, Out(np.ascontiguousarray(np.sort(x, 1)[:, ::-1]))], {"M": 8, "N": 32, "DOWN": True}
    )


@case("sort_fp32_1024")
def _(rng):
    x = rng.standard_normal((1, 1024)).astype(np.float32)
    return Run(sort_kernel, (1,), [x, Out(np.sort(x, 1))], {"M": 1, "N": 1024, "DOWN": False})


@triton.jit
def topk_kernel(x, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    v = tl.load(x + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :], tl.topk(v, K, 1))


@case("topk")
def _(rng):
    x = rng.standard_normal((4, 64)).astype(np.float32)
    return Run(
        topk_kernel, (1,), [x, Out(np.ascontiguousarray(np.sort(x, 1)[:, ::-1][:, :8]))], {"M": 4, "N": 64, "K": 8}
    )


@triton.jit
def histogram_kernel(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + tl.arange(0, BINS), tl.histogram(tl.load(x + at, mask=at < n, other=0), BINS, mask=at < n))


@case("histogram")
def _(rng):
    x = rng.integers(0, 16, 900).astype(np.int32)
    return Run(
        histogram_kernel,
        (1,),
        [x, Out(np.bincount(x, minlength=16).astype(np.int32)), 900],
        {"BLOCK": 1024, "BINS": 16},
    )


@case("histogram_256_bins")
def _(rng):
    x = rng.integers(0, 256, 512).astype(np.int32)
    return Run(
        histogram_kernel,
        (1,),
        [x, Out(np.bincount(x, minlength=256).astype(np.int32)), 512],
        {"BLOCK": 512, "BINS": 256},
        {"num_warps": 2},
    )


@triton.jit
def slice_expand(x, out, N: tl.constexpr):
    v = tl.load(x + tl.arange(0, N))
    m = v[:, None] - v[None, :]
    tl.store(out + tl.arange(0, N), tl.sum(tl.where(m > 0, 1, 0), axis=1))


@case("rank_by_comparison")
def _(rng):
    x = rng.permutation(64).astype(np.float32)
    return Run(slice_expand, (1,), [x, Out(x.astype(np.int32))], {"N": 64})


@triton.jit
def pair(a, b):
    return a + b, a * b


@triton.jit
def map_kernel(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    s, p = tl.map_elementwise(pair, tl.load(x + at), tl.load(y + at))
    tl.store(out + at, s)
    tl.store(out + BLOCK + at, p)


@case("map_elementwise")
def _(rng):
    x, y = rng.standard_normal(128).astype(np.float32), rng.standard_normal(128).astype(np.float32)
    return Run(map_kernel, (1,), [x, y, Out(np.concatenate([x + y, x * y]))], {"BLOCK": 128})


@triton.jit
def collatz(a):
    if a % 2 == 0:
        return a // 2
    return 3 * a + 1


@triton.jit
def map_branches(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.map_elementwise(collatz, tl.load(x + at)))


@case("map_elementwise_branches")
def _(rng):
    x = rng.integers(1, 1000, 256).astype(np.int32)
    return Run(map_branches, (1,), [x, Out(np.where(x % 2 == 0, x // 2, 3 * x + 1).astype(np.int32))], {"BLOCK": 256})


@triton.jit
def swizzle_kernel(out, M: tl.constexpr, N: tl.constexpr, G: tl.constexpr):
    i = tl.program_id(0)
    a, b = tl.swizzle2d(i // N, i % N, M, N, G)
    tl.store(out + i, a * 100 + b)


@case("swizzle2d")
def _(rng):
    out = []
    for ij in range(5 * 4):
        group, size = ij // (2 * 4), min(5 - ij // (2 * 4) * 2, 2)
        inner = ij % (2 * 4)
        out.append((group * 2 + inner % size) * 100 + inner // size)
    return Run(swizzle_kernel, (20,), [Out(np.array(out, np.int32))], {"M": 5, "N": 4, "G": 2})
