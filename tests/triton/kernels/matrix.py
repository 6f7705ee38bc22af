"""Products of matrices: types, ragged sizes, a product in a loop, attention."""

import numpy as np
import triton
import triton.language as tl
from corpus import BF16, Out, Run, Typed, case, sums, to_bf16, within


@triton.jit
def matmul(
    a, b, c, m, n, k, stride_am, stride_bk, stride_cm,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * stride_am + rk[None, :]
    pb = b + rk[:, None] * stride_bk + rn[None, :]
    acc = tl.zeros((BM, BN), dtype=ACC)
    for start in range(0, k, BK):
        left = k - start
        x = tl.load(pa, mask=(rm[:, None] < m) & (rk[None, :] < left), other=0)
        y = tl.load(pb, mask=(rk[:, None] < left) & (rn[None, :] < n), other=0)
        acc = tl.dot(x, y, acc, input_precision=PRECISION, out_dtype=ACC)
        pa += BK
        pb += BK * stride_bk
    pc = c + rm[:, None] * stride_cm + rn[None, :]
    tl.store(pc, acc.to(c.dtype.element_ty), mask=(rm[:, None] < m) & (rn[None, :] < n))


def matmul_case(name, dtype, m, n, k, bm, bn, bk, warps, out=None):
    @case(name)
    def _(rng):
        constants = {"BM": bm, "BN": bn, "BK": bk, "ACC": tl.float32, "PRECISION": "ieee"}
        grid = (triton.cdiv(m, bm), triton.cdiv(n, bn))
        if dtype == np.int8:
            a, b = rng.integers(-128, 128, (m, k)).astype(np.int8), rng.integers(-128, 128, (k, n)).astype(np.int8)
            constants["ACC"] = tl.int32
            expected = Out(a.astype(np.int32) @ b.astype(np.int32))
        else:
            a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((k, n)).astype(np.float32)
            if dtype == BF16:
                a, b = to_bf16(a), to_bf16(b)
            else:
                a, b = a.astype(dtype).astype(np.float32), b.astype(dtype).astype(np.float32)
            wide = a.astype(np.float64) @ b.astype(np.float64)
            tolerance = sums(triton.cdiv(k, bk) * bk + 1, np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
            if dtype == BF16:
                expected = Out(to_bf16(wide.astype(np.float32)), tolerance, dtype=BF16)
                a, b = Typed(a, BF16), Typed(b, BF16)
            else:
                a, b = a.astype(dtype), b.astype(dtype)
                expected = Out(wide.astype(out or np.float32), tolerance)
        return Run(matmul, grid, [a, b, expected, m, n, k, k, n, n], constants, {"num_warps": warps})


matmul_case("matmul_fp32", np.float32, 64, 64, 64, 32, 32, 32, 4)
matmul_case("matmul_fp32_ragged", np.float32, 45, 70, 37, 32, 32, 16, 4)
matmul_case("matmul_fp32_16_warps_1", np.float32, 16, 16, 16, 16, 16, 16, 1)
matmul_case("matmul_fp32_128x64", np.float32, 128, 64, 64, 128, 64, 32, 8)
matmul_case("matmul_fp16", np.float16, 64, 96, 64, 64, 32, 32, 4)
matmul_case("matmul_fp16_out_fp16", np.float16, 64, 64, 64, 32, 64, 16, 2, np.float16)
matmul_case("matmul_bf16", BF16, 64, 64, 64, 32, 32, 32, 4)
matmul_case("matmul_i8", np.int8, 64, 64, 96, 32, 32, 32, 4)
matmul_case("matmul_128x128x32", np.float16, 128, 128, 64, 128, 128, 32, 8)


@triton.jit
def dot_small(a, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, N)[:, None] * K + tl.arange(0, K)[None, :])
    tl.store(
        c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], tl.dot(x, tl.trans(y), input_precision="ieee")
    )


def dot_case(name, m, n, k, warps):
    @case(name)
    def _(rng):
        a, b = rng.standard_normal((m, k)).astype(np.float32), rng.standard_normal((n, k)).astype(np.float32)
        wide = a.astype(np.float64) @ b.T.astype(np.float64)
        out = Out(wide.astype(np.float32), sums(k, np.abs(a).astype(np.float64) @ np.abs(b.T)))
        return Run(dot_small, (1,), [a, b, out], {"M": m, "N": n, "K": k}, {"num_warps": warps})


dot_case("dot_transposed", 32, 64, 16, 4)
dot_case("dot_4x4x4", 4, 4, 4, 1)
dot_case("dot_8x8x8_warps_4", 8, 8, 8, 4)
dot_case("dot_1x16x32", 1, 16, 32, 1)


@triton.jit
def dot_batch(a, b, c, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    ib = tl.arange(0, B)[:, None, None]
    x = tl.load(a + (ib * M + tl.arange(0, M)[None, :, None]) * K + tl.arange(0, K)[None, None, :])
    y = tl.load(b + (ib * K + tl.arange(0, K)[None, :, None]) * N + tl.arange(0, N)[None, None, :])
    z = tl.dot(x, y, input_precision="ieee")
    tl.store(c + (ib * M + tl.arange(0, M)[None, :, None]) * N + tl.arange(0, N)[None, None, :], z)


@case("dot_3d")
def _(rng):
    a, b = rng.standard_normal((2, 16, 16)).astype(np.float32), rng.standard_normal((2, 16, 32)).astype(np.float32)
    wide = a.astype(np.float64) @ b.astype(np.float64)
    out = Out(wide.astype(np.float32), sums(16, np.abs(a).astype(np.float64) @ np.abs(b)))
    return Run(dot_batch, (1,), [a, b, out], {"B": 2, "M": 16, "N": 32, "K": 16})


@triton.jit
def two_dots(a, b, d, c, N: tl.constexpr):
    at = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.dot(tl.load(a + at), tl.load(b + at), input_precision="ieee")
    x = tl.where(x > 0, x, 0.0)
    tl.store(c + at, tl.dot(x, tl.load(d + at), input_precision="ieee"))


@case("dot_relu_dot")
def _(rng):
    a, b, d = (rng.integers(-8, 8, (32, 32)).astype(np.float32) for _ in range(3))
    return Run(two_dots, (1,), [a, b, d, Out(np.maximum(a @ b, 0) @ d)], {"N": 32})  # whole numbers below 2^24: exact


@triton.jit
def attention(q, k, v, out, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr):
    start, head = tl.program_id(0) * BM, tl.program_id(1)
    base = head * n * D
    rm, rd = start + tl.arange(0, BM), tl.arange(0, D)
    x = tl.load(q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < n, other=0.0)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for j in range(0, n, BN):
        rn = j + tl.arange(0, BN)
        y = tl.load(k + base + rn[None, :] * D + rd[:, None], mask=rn[None, :] < n, other=0.0)
        s = tl.dot(x, y, input_precision="ieee") * scale
        keep = rn[None, :] < n
        if CAUSAL:
            keep = keep & (rn[None, :] <= rm[:, None])
        s = tl.where(keep, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, 1)
        z = tl.load(v + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < n, other=0.0)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(z.dtype), z, acc, input_precision="ieee")
        top = new
    tl.store(
        out + base + rm[:, None] * D + rd[None, :],
        (acc / total[:, None]).to(out.dtype.element_ty),
        mask=rm[:, None] < n,
    )


def attention_case(name, n, d, bm, bn, causal, warps, dtype=np.float32):
    @case(name)
    def _(rng):
        heads = 2
        q, k, v = (rng.standard_normal((heads, n, d)).astype(dtype) for _ in range(3))
        scale = np.float32(1.4426950408889634 / np.sqrt(d))
        s = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * np.float64(scale)
        if causal:
            s = np.where(np.tril(np.ones((n, n), bool)), s, -np.inf)
        p = np.exp2(s - s.max(2, keepdims=True))
        p /= p.sum(2, keepdims=True)
        wide = p @ v.astype(np.float64)
        # an error e of a score, d + 2 roundings of up to sum |q k| scale, makes a relative one of e ln 2 in p; exp2 4 ulp
        # twice; n + 2 roundings of the sums. Half precision: p is rounded to it before the second product.
        score = (d + 2) * (np.abs(q).astype(np.float64) @ np.abs(k).astype(np.float64).transpose(0, 2, 1)).max() * scale
        relative = (2 * 0.7 * score + 16 + 2 * n + 4) * 2.0**-24 + (2.0**-11 if dtype == np.float16 else 0)
        bound = 2 * relative * (p @ np.abs(v).astype(np.float64)) + (
            2.0**-24 * np.abs(v).astype(np.float64).sum(1, keepdims=True) if dtype == np.float16 else 0
        )
        if dtype == np.float16:
            bound = bound + 2.0**-11 * np.abs(wide)
        grid = (triton.cdiv(n, bm), heads)
        constants = {"BM": bm, "BN": bn, "D": d, "CAUSAL": causal}
        return Run(
            attention,
            grid,
            [q, k, v, Out(wide.astype(dtype), within(bound)), n, float(scale)],
            constants,
            {"num_warps": warps},
        )


attention_case("attention", 64, 32, 32, 32, False, 4)
attention_case("attention_causal", 64, 32, 32, 32, True, 4)
attention_case("attention_ragged_16", 50, 16, 16, 16, True, 2)
attention_case("attention_fp16", 64, 64, 64, 32, False, 4, np.float16)


@triton.jit
def scaled(a, sa, b, sb, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    x = tl.load(a + tl.arange(0, M)[:, None] * K + tl.arange(0, K)[None, :])
    y = tl.load(b + tl.arange(0, K)[:, None] * N + tl.arange(0, N)[None, :])
    u = tl.load(sa + tl.arange(0, M)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    v = tl.load(sb + tl.arange(0, N)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    z = tl.dot_scaled(x, u, "e5m2", y, v, "e5m2")
    tl.store(c + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], z)


@case("dot_scaled_e5m2")
def _(rng):
    from corpus import FP8E5, decode

    m, n, k = 16, 16, 64
    a, b = rng.integers(0x30, 0x40, (m, k)).astype(np.uint8), rng.integers(0x30, 0x40, (k, n)).astype(np.uint8)
    sa, sb = (
        rng.integers(125, 130, (m, k // 32)).astype(np.uint8),
        rng.integers(125, 130, (n, k // 32)).astype(np.uint8),
    )
    x = decode(a, FP8E5).astype(np.float64) * np.exp2(np.repeat(sa, 32, 1).astype(np.float64) - 127)
    y = decode(b, FP8E5).astype(np.float64) * np.exp2(np.repeat(sb, 32, 1).astype(np.float64).T - 127)
    return Run(
        scaled,
        (1,),
        [a, sa, b, sb, Out((x @ y).astype(np.float32), sums(k, np.abs(x) @ np.abs(y)))],
        {"M": m, "N": n, "K": k},
    )
