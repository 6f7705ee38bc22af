"""Kernels in the shape that users write them: sorts with packed indices, scans of several values, descriptors, early returns."""

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, case


@triton.jit
def topk_of_rows(x, vals, idx, V, K: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + r * V + at, mask=at < V, other=float("-inf"))
    bits = v.to(tl.int32, bitcast=True)
    key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits)
    packed = (key.to(tl.int64) << 32) | (BLOCK - at).to(tl.int64)
    s = tl.sort(packed, descending=True)
    k2 = (s >> 32).to(tl.int32)
    back = tl.where(k2 < 0, k2 ^ 0x7FFFFFFF, k2).to(tl.float32, bitcast=True)
    i = BLOCK - (s & 0xFFFFFFFF).to(tl.int32)
    tl.store(vals + r * K + at, back, mask=at < K)
    tl.store(idx + r * K + at, i, mask=at < K)


@case("topk_packed_i64")
def _(rng):
    R, V, K = 3, 200, 10
    x = rng.integers(-20, 20, (R, V)).astype(np.float32)
    o = np.argsort(-x, axis=1, kind="stable")[:, :K]
    return Run(
        topk_of_rows, (R,), [x, Out(np.take_along_axis(x, o, 1)), Out(o.astype(np.int32)), V], {"K": K, "BLOCK": 256}
    )


@triton.jit
def segmented(f1, v1, f2, v2):
    return f1 | f2, tl.where(f2 != 0, v2, v1 + v2)


@triton.jit
def segmented_scan_kernel(x, f, y, M: tl.constexpr, N: tl.constexpr, AX: tl.constexpr, REV: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    _, v = tl.associative_scan((tl.load(f + at), tl.load(x + at)), AX, segmented, reverse=REV)
    tl.store(y + at, v)


def seg_case(name, M, N, ax, rev, warps):
    @case(name)
    def _(rng):
        x = rng.integers(-9, 9, (M, N)).astype(np.int32)
        f = (rng.random((M, N)) < 0.2).astype(np.int8)
        X, F = (np.moveaxis(a, ax, 0) for a in (x, f))
        if rev:
            X, F = X[::-1], F[::-1]
        y = np.empty_like(X)
        run = np.zeros_like(X[0])
        for i, begins in enumerate(F):
            run = np.where(begins != 0, X[i], run + X[i])
            y[i] = run
        if rev:
            y = y[::-1]
        return Run(
            segmented_scan_kernel,
            (1,),
            [x, f, Out(np.ascontiguousarray(np.moveaxis(y, 0, ax)))],
            {"M": M, "N": N, "AX": ax, "REV": rev},
            {"num_warps": warps},
        )


seg_case("segmented_scan", 8, 128, 1, False, 4)
seg_case("segmented_scan_axis_0", 64, 16, 0, False, 4)
seg_case("segmented_scan_reverse", 4, 512, 1, True, 8)
seg_case("segmented_scan_axis_0_reverse", 256, 2, 0, True, 2)


@triton.jit
def sum_and_largest(a1, b1, c1, a2, b2, c2):
    better = b2 > b1
    return a1 + a2, tl.where(better, b2, b1), tl.where(better, c2, c1)


@triton.jit
def scan_of_three(x, s, m, i, N: tl.constexpr):
    at = tl.arange(0, N)
    v = tl.load(x + at)
    a, b, c = tl.associative_scan((v.to(tl.int64), v, at.to(tl.int16)), 0, sum_and_largest)
    tl.store(s + at, a)
    tl.store(m + at, b)
    tl.store(i + at, c)


@case("scan_of_three_types")
def _(rng):
    x = rng.integers(-1000, 1000, 1024).astype(np.int32)
    m = np.maximum.accumulate(x)
    first = np.array([np.argmax(x[: k + 1]) for k in range(1024)], np.int16)
    return Run(scan_of_three, (1,), [x, Out(np.cumsum(x.astype(np.int64))), Out(m), Out(first)], {"N": 1024})


@triton.jit
def returns(x, y, n, BLOCK: tl.constexpr):
    p = tl.program_id(0)
    if p == 1:
        return
    at = p * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    s = tl.sum(v)
    if s > n:
        tl.store(y + at, v * 2)
        if s > 2 * n:
            tl.store(y + at, v * 3)
            return
        tl.debug_barrier()
        tl.store(y + at, tl.load(y + at) + s)
        return
    tl.store(y + at, -v)


@case("returns_in_a_row")
def _(rng):
    x = rng.integers(0, 4, (6, 64)).astype(np.int32)
    x[2] += 2
    x[4] += 6
    y = np.full_like(x, 5)
    n = 150
    for p in range(6):
        if p == 1:
            continue
        s = x[p].sum()
        y[p] = x[p] * 3 if s > 2 * n else x[p] * 2 + s if s > n else -x[p]
    return Run(returns, (6,), [x, Out(y, initial=np.full_like(x, 5)), n], {"BLOCK": 64})


@triton.jit(noinline=True)
def gcd(a, b):
    while b != 0:
        t = a % b
        a = b
        b = t
    return a


@triton.jit(noinline=True)
def lcm(a, b):
    return a // gcd(a, b) * b


@triton.jit(noinline=True)
def gcd_and_lcm(a, b, x):
    g = gcd(a, b)
    h = lcm(a, b)
    if h > 100:
        return g, h, x * 0.5
    return h, g, x


@triton.jit
def noinline_kernel(x, y, z, w, o):
    p = tl.program_id(0)
    a, b, c = gcd_and_lcm(tl.load(x + p), tl.load(y + p), tl.load(z + p))
    tl.store(w + 2 * p, a)
    tl.store(w + 2 * p + 1, b)
    tl.store(o + p, c)


@case("noinline_nested")
def _(rng):
    x, y = rng.integers(1, 40, 20).astype(np.int32), rng.integers(1, 40, 20).astype(np.int32)
    z = rng.standard_normal(20).astype(np.float32)
    g, h = np.gcd(x, y), np.lcm(x, y)
    big = h > 100
    w = np.stack([np.where(big, g, h), np.where(big, h, g)], 1).astype(np.int32)
    return Run(noinline_kernel, (20,), [x, y, z, Out(w), Out(np.where(big, z * np.float32(0.5), z))])


@triton.jit
def pack_bits(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    b = (tl.load(x + at) > 0).to(tl.uint32)
    w = tl.reshape(b, (BLOCK // 32, 32)) << tl.arange(0, 32)[None, :].to(tl.uint32)
    tl.store(out + tl.arange(0, BLOCK // 32), tl.sum(w, 1))
    tl.store(out + BLOCK // 32 + tl.arange(0, BLOCK // 32), tl.xor_sum(w, 1))


@case("pack_bits")
def _(rng):
    x = rng.standard_normal(1024).astype(np.float32)
    w = np.packbits(x > 0, bitorder="little").view(np.uint32)
    return Run(pack_bits, (1,), [x, Out(np.concatenate([w, w]))], {"BLOCK": 1024})


@triton.jit
def viterbi(trans, emit, back, score, T, S: tl.constexpr):
    j = tl.arange(0, S)
    tr = tl.load(trans + j[:, None] * S + j[None, :])
    v = tl.load(emit + j)
    for t in range(1, T):
        m, a = tl.max(v[:, None] + tr, 0, return_indices=True)
        v = m + tl.load(emit + t * S + j)
        tl.store(back + t * S + j, a)
    tl.store(score + j, v)


@case("viterbi")
def _(rng):
    S, T = 32, 6
    tr = rng.integers(-5, 5, (S, S)).astype(np.int32)
    em = rng.integers(-5, 5, (T, S)).astype(np.int32)
    v = em[0].copy()
    back = np.zeros((T, S), np.int32)
    for t in range(1, T):
        c = v[:, None] + tr
        back[t] = c.argmax(0)
        v = c.max(0) + em[t]
    return Run(viterbi, (1,), [tr, em, Out(back), Out(v), T], {"S": S})


@triton.jit
def turned(x, y, K, M: tl.constexpr):
    i = tl.arange(0, M)
    v = tl.load(x + i[:, None] * M + i[None, :])
    for k in range(K):
        v = tl.trans(v) + i[None, :]
        v = tl.reshape(tl.flip(tl.reshape(v, (M * M // 4, 4)), 1), (M, M))
        v = v - tl.sum(v, 1)[:, None] // M
        v = tl.where(k % 2 == 0, v, tl.max(v, 0)[None, :] - v)
    tl.store(y + i[:, None] * M + i[None, :], v)


def turned_case(name, M, warps):
    @case(name)
    def _(rng):
        x = rng.integers(-9, 9, (M, M)).astype(np.int32)
        v = x.copy()
        i = np.arange(M, dtype=np.int32)
        for k in range(5):
            v = v.T + i[None]
            v = v.reshape(-1, 4)[:, ::-1].reshape(M, M)
            v = v - np.trunc(v.sum(1) / M).astype(np.int32)[:, None]
            v = v if k % 2 == 0 else v.max(0)[None] - v
        return Run(turned, (1,), [x, Out(v.astype(np.int32)), 5], {"M": M}, {"num_warps": warps})


turned_case("layouts_in_a_loop_32", 32, 4)
turned_case("layouts_in_a_loop_16_w1", 16, 1)
turned_case("layouts_in_a_loop_64_w8", 64, 8)


@triton.jit
def descriptor_3d(x, y, A, B, C, D0: tl.constexpr, D1: tl.constexpr, D2: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [A, B, C], [B * C, C, 1], [D0, D1, D2])
    o = tl.make_tensor_descriptor(y, [A, C, B], [B * C, B, 1], [D0, D2, D1])
    v = tl.load_tensor_descriptor(d, [tl.program_id(0) * D0, tl.program_id(1) * D1, tl.program_id(2) * D2])
    tl.store_tensor_descriptor(
        o, [tl.program_id(0) * D0, tl.program_id(2) * D2, tl.program_id(1) * D1], tl.permute(v, (0, 2, 1)) + 1
    )


@case("tensor_descriptor_3d")
def _(rng):
    A, B, C = 3, 12, 20
    x = rng.integers(-99, 99, (A, B, C)).astype(np.int32)
    return Run(
        descriptor_3d,
        (2, 2, 3),
        [x, Out(np.ascontiguousarray(x.transpose(0, 2, 1)) + 1), A, B, C],
        {"D0": 2, "D1": 8, "D2": 8},
    )


@triton.jit
def descriptor_sum(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    o = tl.make_tensor_descriptor(y, [BM, N], [N, 1], [BM, BN])
    v = d.load([tl.program_id(0) * BM, tl.program_id(1) * BN])
    o.atomic_add([0, tl.program_id(1) * BN], v)


@case("tensor_descriptor_atomic_add")
def _(rng):
    M, N = 24, 40
    x = rng.integers(-9, 9, (M, N)).astype(np.float32)
    return Run(descriptor_sum, (3, 3), [x, Out(x.reshape(3, 8, N).sum(0)), M, N], {"BM": 8, "BN": 16})


@triton.jit
def descriptor_gather(x, idx, y, M, N, BN: tl.constexpr, ROWS: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [1, BN])
    i = tl.load(idx + tl.arange(0, ROWS))
    v = d.gather(i, 8)
    tl.store(y + tl.arange(0, ROWS)[:, None] * BN + tl.arange(0, BN)[None, :], v)


@case("tensor_descriptor_gather")
def _(rng):
    M, N, rows = 30, 64, 16
    x = rng.standard_normal((M, N)).astype(np.float32)
    i = rng.integers(0, M, rows).astype(np.int32)
    return Run(descriptor_gather, (1,), [x, i, Out(np.ascontiguousarray(x[i, 8:40])), M, N], {"BN": 32, "ROWS": rows})


@triton.jit
def sorted_rows(x, y, M: tl.constexpr, N: tl.constexpr, DESC: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(y + at, tl.sort(tl.load(x + at), dim=1, descending=DESC))


def sort_case(name, t, M, N, desc, warps):
    @case(name)
    def _(rng):
        if t == np.float16:
            x = (rng.standard_normal((M, N)) * 50).astype(t)
        else:
            x = rng.integers(np.iinfo(t).min, np.iinfo(t).max, (M, N), t, endpoint=True)
        s = np.sort(x, 1)
        return Run(
            sorted_rows,
            (1,),
            [x, Out(np.ascontiguousarray(s[:, ::-1] if desc else s))],
            {"M": M, "N": N, "DESC": desc},
            {"num_warps": warps},
        )


sort_case("sort_i8", np.int8, 8, 64, False, 4)
sort_case("sort_i16_desc", np.int16, 4, 128, True, 2)
sort_case("sort_u8", np.uint8, 2, 256, False, 8)
sort_case("sort_f16", np.float16, 16, 32, True, 1)
sort_case("sort_i64", np.int64, 2, 64, False, 4)
sort_case("sort_u32_2048", np.uint32, 1, 2048, False, 8)
sort_case("sort_pairs_i32", np.int32, 64, 2, False, 4)


@triton.jit
def gathered(x, y, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    idx = (tl.arange(0, N)[None, :] * 5 + tl.arange(0, M)[:, None]) % N
    for _ in range(3):
        v = tl.gather(v, idx, 1)
        v = tl.gather(v, (at // N + 1) % M, 0)
    a, b = tl.split(tl.reshape(v, (M, N // 2, 2)))
    tl.store(y + at, tl.interleave(b, a))


def gathered_case(name, t, M, N, warps):
    @case(name)
    def _(rng):
        x = rng.integers(-99, 99, (M, N)).astype(t)
        v = x
        idx = (np.arange(N)[None] * 5 + np.arange(M)[:, None]) % N
        for _i in range(3):
            v = np.take_along_axis(v, idx, 1)
            v = v[(np.arange(M) + 1) % M]
        w = v.reshape(M, N // 2, 2)[..., ::-1].reshape(M, N)
        return Run(gathered, (1,), [x, Out(np.ascontiguousarray(w))], {"M": M, "N": N}, {"num_warps": warps})


gathered_case("gather_both_axes_i8", np.int8, 8, 64, 4)
gathered_case("gather_both_axes_i64", np.int64, 4, 32, 2)
gathered_case("gather_both_axes_f16", np.float16, 32, 32, 8)
