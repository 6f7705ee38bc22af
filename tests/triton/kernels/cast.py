"""Conversions, bfloat16 and float8 to the bit."""

import numpy as np
import triton
import triton.language as tl
from corpus import BF16, FP8E4, FP8E5, Out, Run, Typed, case, decode, to_bf16


@triton.jit
def cast(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n).to(out.dtype.element_ty), mask=at < n)


def cast_case(name, x, expected, out_dtype=""):
    @case(name)
    def _(rng):
        size = len(x.data if isinstance(x, Typed) else x)
        return Run(cast, (triton.cdiv(size, 128),), [x, Out(expected, dtype=out_dtype), size], {"BLOCK": 128})


_rng = np.random.default_rng(5)
_floats = np.concatenate(
    [_rng.standard_normal(200) * 100, [0.0, -0.0, np.inf, -np.inf, np.nan, 65504, 65519, 65520, 6e-8, 1e-8]]
).astype(np.float32)
_small = (_rng.standard_normal(300) * 50).astype(np.float32)
_ints = _rng.integers(-(2**31), 2**31, 300).astype(np.int32)
_longs = _rng.integers(-(2**63), 2**63 - 1, 300, np.int64)
with np.errstate(all="ignore"):
    cast_case("cast_fp32_fp16", _floats, _floats.astype(np.float16))
    cast_case("cast_fp16_fp32", _floats.astype(np.float16), _floats.astype(np.float16).astype(np.float32))
cast_case("cast_fp32_bf16", _floats, to_bf16(_floats), BF16)
cast_case("cast_bf16_fp32", Typed(to_bf16(_floats), BF16), to_bf16(_floats))
cast_case("cast_fp32_i32", _small, np.trunc(_small).astype(np.int32))
cast_case("cast_fp32_i8", _small.clip(-128, 127), np.trunc(_small.clip(-128, 127)).astype(np.int8))
cast_case(
    "cast_fp32_i64", _small * np.float32(1e9), np.trunc((_small * np.float32(1e9)).astype(np.float64)).astype(np.int64)
)
cast_case("cast_i32_fp32", _ints, _ints.astype(np.float32))
cast_case("cast_u32_fp32", _ints.view(np.uint32), _ints.view(np.uint32).astype(np.float32))
cast_case("cast_i64_fp32", _longs, _longs.astype(np.float32))
cast_case("cast_i32_i8", _ints, _ints.astype(np.int8))
cast_case("cast_i8_i64", _ints.astype(np.int8), _ints.astype(np.int8).astype(np.int64))
cast_case("cast_u8_i32", _ints.astype(np.uint8), _ints.astype(np.uint8).astype(np.int32))
cast_case("cast_i64_i32", _longs, _longs.astype(np.int32))
cast_case("cast_i32_bf16", _ints, to_bf16(_ints.astype(np.float64).astype(np.float32)), BF16)


@triton.jit
def fp8_decode(x, out, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(TYPE, bitcast=True).to(tl.float32))


@triton.jit
def fp8_encode(x, out, n, TYPE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, v.to(TYPE).to(tl.uint8, bitcast=True), mask=at < n)


def fp8_cases(name, dtype, kind):
    @case(f"cast_{name}_fp32")
    def _(rng):
        codes = np.arange(256).astype(np.uint8)
        return Run(fp8_decode, (1,), [codes, Out(decode(codes, dtype))], {"TYPE": kind, "BLOCK": 256})

    @case(f"cast_fp32_{name}")
    def _(rng):
        # each finite code's value, the middle between neighbours (ties), and a little beside them
        codes = np.array([c for c in range(256) if np.isfinite(decode(np.array([c]), dtype)[0])], np.uint8)
        order = np.sort(np.unique(decode(codes, dtype)))
        middle = (order[1:] + order[:-1]) / 2
        x = np.concatenate([order, middle, middle * np.float32(1 + 2**-10), middle * np.float32(1 - 2**-10)]).astype(
            np.float32
        )
        return Run(fp8_encode, (1,), [x, Out(encode(x, dtype)), len(x)], {"TYPE": kind, "BLOCK": 1024})


def encode(x, dtype):
    """The code of the nearest value; of two as near the one with an even mantissa."""
    positive = np.array([c for c in range(128) if np.isfinite(decode(np.array([c]), dtype)[0])], np.uint8)
    values = decode(positive, dtype).astype(np.float64)
    distance = np.abs(np.abs(x.astype(np.float64))[:, None] - values[None, :])
    code = np.lexsort((positive[None, :] % 2 + np.zeros_like(distance), distance), axis=1)[:, 0]
    return (positive[code] | np.signbit(x).astype(np.uint8) << 7).astype(np.uint8)


fp8_cases("fp8e5", FP8E5, tl.float8e5)
fp8_cases("fp8e4nv", FP8E4, tl.float8e4nv)


@triton.jit
def fp8_sum(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(tl.float16) + tl.load(y + at).to(tl.float16))


@case("fp8e5_pointers")
def _(rng):
    x, y = (rng.integers(0, 0x78, 256).astype(np.uint8) for _ in range(2))
    with np.errstate(over="ignore"):
        out = decode(x, FP8E5).astype(np.float16) + decode(y, FP8E5).astype(np.float16)
    return Run(fp8_sum, (1,), [Typed(x, FP8E5), Typed(y, FP8E5), Out(out)], {"BLOCK": 256})


@triton.jit
def bitcast_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(tl.int32, bitcast=True) ^ 0x55)


@case("bitcast_fp32_i32")
def _(rng):
    x = rng.standard_normal(128).astype(np.float32)
    return Run(bitcast_kernel, (1,), [x, Out(x.view(np.int32) ^ 0x55)], {"BLOCK": 128})


@triton.jit
def downcast(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, v.to(tl.float16, fp_downcast_rounding="rtz"), mask=at < n)


@case("cast_fp32_fp16_to_zero")
def _(rng):
    x = (rng.standard_normal(250) * 30).astype(np.float32)
    near = x.astype(np.float16)
    out = np.where(np.abs(near.astype(np.float32)) > np.abs(x), np.nextafter(near, np.float16(0)), near)
    return Run(downcast, (1,), [x, Out(out), 250], {"BLOCK": 256})


@triton.jit
def booleans(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0).to(tl.int1)
    tl.store(out + at, v, mask=at < n)
    tl.store(out + n + at, (v & (at % 2 == 0)) | (at == 3), mask=at < n)


@case("cast_i32_i1")
def _(rng):
    x = rng.integers(-2, 3, 100).astype(np.int32)
    at = np.arange(100)
    out = np.concatenate([x != 0, ((x != 0) & (at % 2 == 0)) | (at == 3)])
    return Run(booleans, (1,), [x, Out(out.astype(np.int8)), 100], {"BLOCK": 128})


@triton.jit
def bool_pointer(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, ~tl.load(x + at))


@case("bool_pointers")
def _(rng):
    x = rng.integers(0, 2, 128).astype(bool)
    return Run(bool_pointer, (1,), [x, Out(~x)], {"BLOCK": 128})
