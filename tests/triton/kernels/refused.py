"""What is refused, or reported: float64, inline assembly, print and assert."""

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, case, within


@triton.jit
def float64_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float64)
    tl.store(out + at, (v * v).to(tl.float32), mask=at < n)


@case("float64_inside")
def _(rng):
    x = rng.standard_normal(100).astype(np.float32)
    return Run(float64_kernel, (1,), [x, Out((x.astype(np.float64) ** 2).astype(np.float32)), 100], {"BLOCK": 128})


@case("float64_as_float32")
def _(rng):
    x = rng.standard_normal(100).astype(np.float32)
    out = Out((x.astype(np.float64) ** 2).astype(np.float32), within(2.0**-23 * x.astype(np.float64) ** 2))
    return Run(float64_kernel, (1,), [x, out, 100], {"BLOCK": 128}, {"allow_f64_as_f32": True})


@triton.jit
def assembly(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x + at)], dtype=tl.int32, is_pure=True, pack=1)
    tl.store(out + at, v)


@case("inline_assembly")
def _(rng):
    x = rng.integers(0, 9, 64).astype(np.int32)
    return Run(assembly, (1,), [x, Out(x)], {"BLOCK": 64})


@triton.jit
def print_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.device_print("v", v)
    tl.store(out + at, v)


@case("device_print")
def _(rng):
    x = rng.integers(0, 9, 8).astype(np.int32)
    return Run(print_kernel, (1,), [x, Out(x)], {"BLOCK": 8}, {"num_warps": 1})


@triton.jit
def assert_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.device_assert(v >= 0, "v is negative")
    tl.store(out + at, v)


@case("device_assert_holds")
def _(rng):
    x = rng.integers(0, 9, 64).astype(np.int32)
    return Run(assert_kernel, (1,), [x, Out(x)], {"BLOCK": 64}, {"debug": True})


@case("device_assert_off")
def _(rng):
    x = rng.integers(-9, 0, 64).astype(np.int32)
    return Run(assert_kernel, (1,), [x, Out(x)], {"BLOCK": 64})


@triton.jit
def table(pointers, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = tl.load(pointers + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    tl.store(out + tl.program_id(0) * BLOCK + at, tl.load(p + at))


@triton.jit
def big_tile(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, v * v + v)


@case("tile_65536")
def _(rng):
    x = rng.integers(-9, 9, 65536).astype(np.float32)
    return Run(big_tile, (1,), [x, Out(x * x + x)], {"BLOCK": 65536}, {"num_warps": 8})
