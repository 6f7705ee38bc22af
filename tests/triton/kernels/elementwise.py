"""One operation on each element: types, masks, ragged sizes, misaligned addresses, tiles of 1 to 16,384."""

import numpy as np
import triton
import triton.language as tl
from corpus import BF16, EXACT, Out, Run, Shifted, Typed, bf16, case, to_bf16, ulps, within


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


def masked(expected, size):
    """What a buffer of size elements holds after a kernel that writes the first ones."""
    return np.concatenate([expected, np.zeros(size - len(expected), expected.dtype)])


def add_case(name, dtype, n, block, warps, pad=5):
    @case(name)
    def _(rng):
        if np.dtype(dtype).kind == "f":
            x, y = rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)
        else:
            info = np.iinfo(dtype)
            x, y = (rng.integers(info.min, info.max, n, dtype, endpoint=True) for _ in range(2))
        with np.errstate(over="ignore"):
            out = masked(x + y, n + pad)
        return Run(add, (triton.cdiv(n, block),), [x, y, Out(out), n], {"BLOCK": block}, {"num_warps": warps})


add_case("add_fp32", np.float32, 4096, 1024, 4, 0)
add_case("add_fp32_ragged", np.float32, 1000, 256, 2)
add_case("add_fp32_tile_1", np.float32, 3, 1, 1)
add_case("add_fp32_tile_2", np.float32, 5, 2, 1)
add_case("add_fp32_tile_16_warps_8", np.float32, 37, 16, 8)
add_case("add_fp32_tile_16384", np.float32, 20000, 16384, 8)
add_case("add_fp32_warps_1", np.float32, 333, 128, 1)
add_case("add_fp16", np.float16, 1001, 512, 4)
add_case("add_i8", np.int8, 1001, 512, 4)
add_case("add_u8", np.uint8, 1001, 512, 4)
add_case("add_i16", np.int16, 1001, 512, 4)
add_case("add_u16", np.uint16, 999, 256, 4)
add_case("add_i32", np.int32, 1001, 512, 4)
add_case("add_u32", np.uint32, 1001, 256, 2)
add_case("add_i64", np.int64, 1001, 512, 4)
add_case("add_u64", np.uint64, 515, 128, 1)


@case("add_bf16")
def _(rng):
    n = 1001
    x, y = to_bf16(rng.standard_normal(n)), to_bf16(rng.standard_normal(n))
    out = Out(masked(to_bf16(x + y), n + 7), dtype=BF16)
    return Run(add, (4,), [Typed(x, BF16), Typed(y, BF16), out, n], {"BLOCK": 256}, {"num_warps": 4})


@case("add_misaligned")
def _(rng):
    n = 1000
    x, y = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    return Run(add, (4,), [Shifted(x, 1), Shifted(y, 2), Out(x + y, offset=3), n], {"BLOCK": 256})


@case("add_misaligned_fp16")
def _(rng):
    n = 1024
    x, y = rng.standard_normal(n).astype(np.float16), rng.standard_normal(n).astype(np.float16)
    return Run(add, (2,), [Shifted(x, 1), y, Out(x + y, offset=7), n], {"BLOCK": 512})


@triton.jit
def arithmetic(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1)
    b = tl.load(y + at, mask=mask, other=1)
    tl.store(out + at, a - b, mask=mask)
    tl.store(out + n + at, a * b, mask=mask)
    tl.store(out + 2 * n + at, -a, mask=mask)
    tl.store(out + 3 * n + at, tl.minimum(a, b), mask=mask)
    tl.store(out + 4 * n + at, tl.maximum(a, b), mask=mask)
    tl.store(out + 5 * n + at, tl.abs(a), mask=mask)


def arithmetic_case(name, dtype):
    @case(name)
    def _(rng):
        n = 700
        if np.dtype(dtype).kind == "f":
            x, y = rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)
        else:
            info = np.iinfo(dtype)
            x, y = (rng.integers(info.min, info.max, n, dtype, endpoint=True) for _ in range(2))
        with np.errstate(over="ignore"):
            out = np.concatenate([x - y, x * y, -x, np.minimum(x, y), np.maximum(x, y), np.abs(x)])
        return Run(arithmetic, (triton.cdiv(n, 256),), [x, y, Out(out), n], {"BLOCK": 256})


for _name, _dtype in {
    "fp32": np.float32, "fp16": np.float16, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u32": np.uint32,
}.items():  # fmt: skip
    arithmetic_case(f"arithmetic_{_name}", _dtype)


@triton.jit
def division(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1)
    b = tl.load(y + at, mask=mask, other=1)
    tl.store(out + at, a // b, mask=mask)
    tl.store(out + n + at, a % b, mask=mask)


def division_case(name, dtype):
    @case(name)
    def _(rng):
        n, info = 600, np.iinfo(dtype)
        x = rng.integers(info.min + (info.min < 0), info.max, n, dtype, endpoint=True)
        y = rng.integers(1, min(info.max, 1000), n, dtype, endpoint=True)
        y = np.where(rng.random(n) < 0.5, -y if info.min < 0 else y, y).astype(dtype)
        quotient = np.trunc(x / y).astype(dtype) if info.bits < 64 else x // y + ((x % y != 0) & ((x < 0) != (y < 0)))
        quotient = quotient.astype(dtype)
        out = np.concatenate([quotient, (x - quotient * y).astype(dtype)])  # C's: towards zero
        return Run(division, (triton.cdiv(n, 128),), [x, y, Out(out), n], {"BLOCK": 128})


for _name, _dtype in {"i8": np.int8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}.items():
    division_case(f"division_{_name}", _dtype)


@triton.jit
def division_float(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1)
    b = tl.load(y + at, mask=mask, other=1)
    tl.store(out + at, a / b, mask=mask)
    tl.store(out + n + at, tl.math.div_rn(a, b), mask=mask)
    tl.store(out + 2 * n + at, a % b, mask=mask)
    tl.store(out + 3 * n + at, tl.math.sqrt_rn(tl.abs(a)), mask=mask)


@case("division_fp32")
def _(rng):
    n = 512
    x, y = (rng.standard_normal(n).astype(np.float32) * 10 for _ in range(2))
    out = np.concatenate([x / y, x / y, np.fmod(x, y), np.sqrt(np.abs(x))])
    return Run(division_float, (4,), [x, y, Out(out), n], {"BLOCK": 128})


@triton.jit
def bits(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    b = tl.load(y + at, mask=mask)
    s = b & 7
    tl.store(out + at, a & b, mask=mask)
    tl.store(out + n + at, a | b, mask=mask)
    tl.store(out + 2 * n + at, a ^ b, mask=mask)
    tl.store(out + 3 * n + at, ~a, mask=mask)
    tl.store(out + 4 * n + at, a << s, mask=mask)
    tl.store(out + 5 * n + at, a >> s, mask=mask)


def bits_case(name, dtype):
    @case(name)
    def _(rng):
        n, info = 500, np.iinfo(dtype)
        x, y = (rng.integers(info.min, info.max, n, dtype, endpoint=True) for _ in range(2))
        s = (y & dtype(7)).astype(dtype)
        out = np.concatenate([x & y, x | y, x ^ y, ~x, x << s, x >> s])
        return Run(bits, (2,), [x, y, Out(out), n], {"BLOCK": 256}, {"num_warps": 2})


for _name, _dtype in {"i8": np.int8, "u8": np.uint8, "i32": np.int32, "u32": np.uint32, "i64": np.int64}.items():
    bits_case(f"bits_{_name}", _dtype)


@triton.jit
def comparison(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    b = tl.load(y + at, mask=mask)
    tl.store(out + at, a == b, mask=mask)
    tl.store(out + n + at, a != b, mask=mask)
    tl.store(out + 2 * n + at, a < b, mask=mask)
    tl.store(out + 3 * n + at, a <= b, mask=mask)
    tl.store(out + 4 * n + at, a > b, mask=mask)
    tl.store(out + 5 * n + at, a >= b, mask=mask)


def comparison_case(name, dtype):
    @case(name)
    def _(rng):
        n = 300
        x, y = (rng.integers(0, 5, n).astype(dtype) for _ in range(2))
        if np.dtype(dtype).kind == "f":
            x[::7], y[::11] = np.nan, np.inf
        elif np.dtype(dtype).kind == "i":
            x -= 2
        out = np.concatenate([x == y, x != y, x < y, x <= y, x > y, x >= y]).astype(np.int8)
        return Run(comparison, (3,), [x, y, Out(out), n], {"BLOCK": 128})


for _name, _dtype in {"fp32": np.float32, "fp16": np.float16, "i8": np.int8, "u32": np.uint32, "i64": np.int64}.items():
    comparison_case(f"comparison_{_name}", _dtype)


@triton.jit
def select(x, y, c, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    taken = tl.load(c + at, mask=mask) != 0
    tl.store(
        out + at, tl.where(taken & (at % 3 != 0), tl.load(x + at, mask=mask), tl.load(y + at, mask=mask)), mask=mask
    )


@case("where_fp32")
def _(rng):
    n = 777
    x, y = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    c = rng.integers(0, 2, n).astype(np.int8)
    out = np.where((c != 0) & (np.arange(n) % 3 != 0), x, y)
    return Run(select, (4,), [x, y, c, Out(out), n], {"BLOCK": 256})


@triton.jit
def other(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, other=-2.5))


@case("load_other")
def _(rng):
    n = 201
    x = rng.standard_normal(n).astype(np.float32)
    out = np.concatenate([x, np.full(256 - n, -2.5, np.float32)])
    return Run(other, (2,), [x, Out(out), n], {"BLOCK": 128})


@triton.jit
def math1(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1.0)
    tl.store(out + at, tl.exp(a), mask=mask)
    tl.store(out + n + at, tl.exp2(a), mask=mask)
    tl.store(out + 2 * n + at, tl.log(a), mask=mask)
    tl.store(out + 3 * n + at, tl.log2(a), mask=mask)
    tl.store(out + 4 * n + at, tl.sin(a), mask=mask)
    tl.store(out + 5 * n + at, tl.cos(a), mask=mask)


@case("math_fp32")
def _(rng):
    n = 512
    x = rng.uniform(0.01, 20, n).astype(np.float32)
    wide = x.astype(np.float64)
    out = np.concatenate([f(wide) for f in (np.exp, np.exp2, np.log, np.log2, np.sin, np.cos)]).astype(np.float32)
    return Run(math1, (2,), [x, Out(out, ulps(5)), n], {"BLOCK": 256})  # Metal: 4 ulp each, and the rounding here


@triton.jit
def math2(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1.0)
    tl.store(out + at, tl.sqrt(tl.abs(a)), mask=mask)
    tl.store(out + n + at, tl.floor(a), mask=mask)
    tl.store(out + 2 * n + at, tl.ceil(a), mask=mask)
    tl.store(out + 3 * n + at, tl.fma(a, a, 1.0), mask=mask)
    tl.store(out + 4 * n + at, tl.clamp(a, -1.0, 1.5), mask=mask)


@case("math_exact_fp32")
def _(rng):
    n = 400
    x = (rng.standard_normal(n) * 5).astype(np.float32)
    wide = x.astype(np.float64)
    out = [np.sqrt(np.abs(wide)), np.floor(wide), np.ceil(wide), wide * wide + 1, np.clip(wide, -1, 1.5)]
    return Run(math2, (2,), [x, Out(np.concatenate(out).astype(np.float32), ulps(1)), n], {"BLOCK": 256})


@triton.jit
def math3(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask, other=1.0)
    tl.store(out + at, tl.rsqrt(tl.abs(a)), mask=mask)
    tl.store(out + n + at, tl.erf(a), mask=mask)


@case("math_rsqrt_erf")
def _(rng):
    import math

    n = 256
    x = (rng.standard_normal(n)).astype(np.float32)
    wide = x.astype(np.float64)
    out = np.concatenate([1 / np.sqrt(np.abs(wide)), np.vectorize(math.erf)(wide)]).astype(np.float32)
    # rsqrt is correctly rounded. Metal has no erf: a sum of terms of one sign, which is exp(-x * x) times others. In
    # units of 2^-24: exp 8, its argument 4 (x * x is at most 4 there), the terms and their sum 24, products 3
    tolerance = within(np.concatenate([np.zeros(n), 39 * 2.0**-24 * np.abs(out[n:])]))
    return Run(math3, (1,), [x, Out(out, tolerance), n], {"BLOCK": 256})


@triton.jit
def activations(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    tl.store(out + at, tl.sigmoid(a), mask=mask)
    tl.store(out + n + at, a * tl.sigmoid(a), mask=mask)
    tl.store(out + 2 * n + at, tl.where(a > 0, a, 0.01 * a), mask=mask)


@case("activations_fp32")
def _(rng):
    n = 640
    x = (rng.standard_normal(n) * 3).astype(np.float32)
    wide = x.astype(np.float64)
    s = 1 / (1 + np.exp(-wide))
    leaky = np.where(wide > 0, wide, np.float64(np.float32(0.01)) * wide)
    # in units of 2^-24, of which an ulp is one or two: exp 8, the sum, the quotient and the product 1 each
    out = np.concatenate([s, wide * s, leaky]).astype(np.float32)
    return Run(activations, (3,), [x, Out(out, ulps(11)), n], {"BLOCK": 256})


@triton.jit
def activations_half(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask).to(tl.float32)
    tl.store(out + at, a * tl.sigmoid(1.702 * a), mask=mask)


@case("gelu_fp16")
def _(rng):
    n = 511
    x = (rng.standard_normal(n) * 3).astype(np.float16)
    wide = x.astype(np.float64)
    out = (wide / (1 + np.exp(-1.702 * wide))).astype(np.float16)
    return Run(
        activations_half, (2,), [x, Out(out, ulps(1)), n], {"BLOCK": 256}
    )  # float32 inside: a unit of fp16 at most


@case("gelu_bf16")
def _(rng):
    n = 511
    x = to_bf16(rng.standard_normal(n) * 3)
    wide = x.astype(np.float64)
    out = to_bf16((wide / (1 + np.exp(-1.702 * wide))).astype(np.float32))
    return Run(activations_half, (2,), [bf16(x), Out(out, ulps(1), dtype=BF16), n], {"BLOCK": 256})


@triton.jit
def nan_rules(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    b = tl.load(y + at, mask=mask)
    tl.store(out + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL), mask=mask)
    tl.store(out + n + at, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL), mask=mask)
    tl.store(out + 2 * n + at, tl.maximum(a, b, propagate_nan=tl.PropagateNan.NONE), mask=mask)
    tl.store(out + 3 * n + at, tl.minimum(a, b, propagate_nan=tl.PropagateNan.NONE), mask=mask)
    tl.store(out + 4 * n + at, tl.clamp(a, -1.0, 1.0, propagate_nan=tl.PropagateNan.ALL), mask=mask)


@case("nan_min_max")
def _(rng):
    n = 100
    x, y = rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)
    x[::5], y[::7], x[3], y[9] = np.nan, np.nan, np.inf, -np.inf
    clamp = np.where(np.isnan(x), x, np.clip(x, -1, 1))
    out = np.concatenate([np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), clamp])
    return Run(nan_rules, (1,), [x, y, Out(out.astype(np.float32), EXACT), n], {"BLOCK": 128})


@triton.jit
def scalars(out, a, b, c, d, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, a * at.to(tl.float32) + b + c.to(tl.float32) + d)


@case("scalar_arguments")
def _(rng):
    at = np.arange(64, dtype=np.float32)
    out = np.float32(0.5) * at + np.float32(3) + np.float32(2**33) + np.float32(1)
    expected = ((np.float32(0.5) * at + np.float32(3)) + np.float32(2**33)).astype(np.float32) + np.float32(1)
    assert out.dtype == np.float32
    return Run(
        scalars, (1,), [Out(expected.astype(np.float32), ulps(1)), 0.5, 3, 2**33, True], {"BLOCK": 64}, {"num_warps": 1}
    )


@triton.jit
def one_scalar(x, out, n):
    i = tl.program_id(0)
    if i < n:
        tl.store(out + i, tl.load(x + i) * 2)


@case("scalar_load_store")
def _(rng):
    x = rng.standard_normal(9).astype(np.float32)
    return Run(one_scalar, (12,), [x, Out(np.concatenate([2 * x, np.zeros(3, np.float32)])), 9])


@triton.jit
def strided(x, out, n, stride_x, stride_out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at * stride_out, tl.load(x + at * stride_x, mask=at < n), mask=at < n)


@case("strided_copy")
def _(rng):
    n = 250
    x = rng.standard_normal(3 * n).astype(np.float32)
    out = np.zeros(2 * n, np.float32)
    out[::2] = x[::3]
    return Run(strided, (2,), [x, Out(out), n, 3, 2], {"BLOCK": 128})


@triton.jit
def grid3(out, w, h):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    count = tl.num_programs(0) * 100 + tl.num_programs(1) * 10 + tl.num_programs(2)
    tl.store(out + (z * h + y) * w + x, x + 10 * y + 100 * z + 1000 * count)


@case("grid_3d")
def _(rng):
    z, y, x = np.meshgrid(range(3), range(4), range(5), indexing="ij")
    return Run(grid3, (5, 4, 3), [Out((x + 10 * y + 100 * z + 543000).astype(np.int32).reshape(-1)), 5, 4])


@triton.jit
def tile2d(x, out, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    c = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    mask = (r < rows) & (c < cols)
    v = tl.load(x + r * cols + c, mask=mask)
    tl.store(out + c * rows + r, v, mask=mask)


@case("transpose_through_memory")
def _(rng):
    x = rng.standard_normal((45, 70)).astype(np.float32)
    return Run(tile2d, (3, 3), [x, Out(np.ascontiguousarray(x.T)), 45, 70], {"BM": 16, "BN": 32})


@triton.jit
def broadcast_kernel(x, y, out, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + r[:, None] * N + c[None, :], tl.load(x + r)[:, None] * tl.load(y + c)[None, :])


@case("outer_product")
def _(rng):
    x, y = rng.standard_normal(32).astype(np.float32), rng.standard_normal(64).astype(np.float32)
    return Run(broadcast_kernel, (1,), [x, y, Out(np.outer(x, y))], {"M": 32, "N": 64})


@triton.jit
def mulhi_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.umulhi(tl.load(x + at, mask=mask), tl.load(y + at, mask=mask)), mask=mask)


@case("umulhi_u32")
def _(rng):
    x, y = (rng.integers(0, 2**32, 200, np.uint32) for _ in range(2))
    out = (x.astype(np.uint64) * y >> 32).astype(np.uint32)
    return Run(mulhi_kernel, (1,), [x, y, Out(out), 200], {"BLOCK": 256})


@case("umulhi_u64")
def _(rng):
    x, y = (rng.integers(0, 2**64, 200, np.uint64) for _ in range(2))
    out = np.array([int(a) * int(b) >> 64 for a, b in zip(x, y)], np.uint64)
    return Run(mulhi_kernel, (1,), [x, y, Out(out), 200], {"BLOCK": 256})


@triton.jit
def many(
    p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17, p18, p19, p20, p21, p22, p23, p24, p25,
    p26, p27, p28, p29, p30, p31, p32, out, n, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, BLOCK)
    mask = at < n
    s = (
        tl.load(p0 + at, mask=mask)
        + tl.load(p1 + at, mask=mask)
        + tl.load(p2 + at, mask=mask)
        + tl.load(p3 + at, mask=mask)
    )
    s += (
        tl.load(p4 + at, mask=mask)
        + tl.load(p5 + at, mask=mask)
        + tl.load(p6 + at, mask=mask)
        + tl.load(p7 + at, mask=mask)
    )
    s += tl.load(p8 + at, mask=mask) + tl.load(p9 + at, mask=mask) + tl.load(p10 + at, mask=mask)
    s += tl.load(p11 + at, mask=mask) + tl.load(p12 + at, mask=mask) + tl.load(p13 + at, mask=mask)
    s += tl.load(p14 + at, mask=mask) + tl.load(p15 + at, mask=mask) + tl.load(p16 + at, mask=mask)
    s += tl.load(p17 + at, mask=mask) + tl.load(p18 + at, mask=mask) + tl.load(p19 + at, mask=mask)
    s += tl.load(p20 + at, mask=mask) + tl.load(p21 + at, mask=mask) + tl.load(p22 + at, mask=mask)
    s += tl.load(p23 + at, mask=mask) + tl.load(p24 + at, mask=mask) + tl.load(p25 + at, mask=mask)
    s += tl.load(p26 + at, mask=mask) + tl.load(p27 + at, mask=mask) + tl.load(p28 + at, mask=mask)
    s += tl.load(p29 + at, mask=mask) + tl.load(p30 + at, mask=mask) + tl.load(p31 + at, mask=mask)
    s += tl.load(p32 + at, mask=mask)
    tl.store(out + at, s, mask=mask)


@case("pointers_34")
def _(rng):
    xs = [rng.integers(-1000, 1000, 50, np.int32) for _ in range(33)]
    return Run(many, (1,), [*xs, Out(np.sum(xs, axis=0, dtype=np.int32)), 50], {"BLOCK": 64}, {"num_warps": 1})
