"""Atomic operations: each operation, types, masks, colliding addresses, a lock."""

import numpy as np
import triton
import triton.language as tl
from corpus import BF16, Out, Run, Typed, case, to_bf16, within


@triton.jit
def atomic_add(x, index, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.atomic_add(out + tl.load(index + at, mask=mask, other=0), tl.load(x + at, mask=mask), mask=mask)


def add_case(name, dtype):
    @case(name)
    def _(rng):
        n = 700
        index = rng.integers(0, 16, n).astype(np.int32)
        x = rng.integers(0, 9, n)  # whole numbers: sums exact in each type, in any order
        out = np.bincount(index, x, 16).astype(dtype)
        return Run(atomic_add, (6,), [x.astype(dtype), index, Out(out), n], {"BLOCK": 128})


add_case("atomic_add_i32", np.int32)
add_case("atomic_add_u32", np.uint32)
add_case("atomic_add_fp32", np.float32)
add_case("atomic_add_fp16", np.float16)
add_case("atomic_add_i64", np.int64)


@case("atomic_add_bf16")
def _(rng):
    n = 200
    index = rng.integers(0, 16, n).astype(np.int32)
    x = rng.integers(0, 3, n)
    out = np.bincount(index, x, 16).astype(np.float32)  # below 2^8: exact
    return Run(
        atomic_add, (2,), [Typed(to_bf16(x.astype(np.float32)), BF16), index, Out(out, dtype=BF16), n], {"BLOCK": 128}
    )


@triton.jit
def atomic_others(x, out, old, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    slot = at % 4
    tl.atomic_max(out + slot, v)
    tl.atomic_min(out + 4 + slot, v)
    tl.atomic_or(out + 8 + slot, v)
    tl.atomic_and(out + 12 + slot, v)
    tl.atomic_xor(out + 16 + slot, v)
    tl.store(old + at, tl.atomic_xchg(out + 20 + at, v))


def others_case(name, dtype):
    @case(name)
    def _(rng):
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, 128, dtype, endpoint=True)
        start = rng.integers(info.min, info.max, 20 + 128, dtype, endpoint=True)
        out = start.copy()
        for j in range(4):
            part = x[j::4]
            out[j] = max(start[j], part.max())
            out[4 + j] = min(start[4 + j], part.min())
            out[8 + j] = start[8 + j] | np.bitwise_or.reduce(part)
            out[12 + j] = start[12 + j] & np.bitwise_and.reduce(part)
            out[16 + j] = start[16 + j] ^ np.bitwise_xor.reduce(part)
        out[20:] = x
        return Run(atomic_others, (1,), [x, Out(out, initial=start), Out(start[20:].copy())], {"BLOCK": 128})


others_case("atomic_others_i32", np.int32)
others_case("atomic_others_u32", np.uint32)


@triton.jit
def atomic_float_max(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.atomic_max(out + at % 3, v)
    tl.atomic_min(out + 3 + at % 3, v)


@case("atomic_max_fp32")
def _(rng):
    x = rng.standard_normal(256).astype(np.float32)
    out = np.array([x[j::3].max() for j in range(3)] + [x[j::3].min() for j in range(3)], np.float32)
    return Run(atomic_float_max, (2,), [x, Out(out, initial=np.array([-9] * 3 + [9] * 3, np.float32))], {"BLOCK": 128})


@triton.jit
def atomic_scalar(counter, out):
    i = tl.atomic_add(counter, 1)
    tl.store(out + i, 1)


@case("atomic_scalar_result")
def _(rng):
    return Run(atomic_scalar, (20,), [Out(np.array([20], np.int32)), Out(np.ones(20, np.int32))])


@triton.jit
def atomic_cas_tensor(x, out, old, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(old + at, tl.atomic_cas(out + at, tl.full([BLOCK], 3, tl.int32), v))


@case("atomic_cas_i32")
def _(rng):
    start = rng.integers(2, 5, 64).astype(np.int32)
    x = rng.integers(10, 20, 64).astype(np.int32)
    return Run(
        atomic_cas_tensor, (1,), [x, Out(np.where(start == 3, x, start), initial=start), Out(start)], {"BLOCK": 64}
    )


@triton.jit
def lock_kernel(x, out, lock, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * BLOCK + at)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(out + at, tl.load(out + at) + v)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


@case("atomic_lock")
def _(rng):
    x = rng.integers(-9, 9, (10, 64)).astype(np.float32)
    return Run(lock_kernel, (10,), [x, Out(x.sum(0)), Out(np.zeros(1, np.int32)), 64], {"BLOCK": 64})


@triton.jit
def atomic_reduce(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out, tl.sum(tl.load(x + at, mask=at < n, other=0.0)))


@case("atomic_sum_of_blocks")
def _(rng):
    x = rng.standard_normal(900).astype(np.float32)
    wide = x.astype(np.float64)
    out = Out(np.array([wide.sum()], np.float32), within(900 * 2.0**-24 * np.abs(wide).sum()))
    return Run(atomic_reduce, (8,), [x, out, 900], {"BLOCK": 128})
