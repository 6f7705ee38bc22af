"""What Triton's own tests found: a kernel for each defect, which failed before it was mended."""

import numpy as np
import triton
import triton.language as tl
from corpus import BF16, FP8E4, FP8E5, Out, Run, Typed, case, sums, to_bf16


@triton.jit
def exchange_if_equal(out, expected, x, old, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(old + at, tl.atomic_cas(out + at, tl.load(expected + at), tl.load(x + at)))


def cas_case(name, dtype):
    @case(name)
    def _(rng):
        start = rng.integers(-4, 4, 256).astype(np.float32)
        expected = np.where(rng.random(256) < 0.5, start, start + 1)
        start[:2], expected[:2] = [0.0, np.nan], [-0.0, np.nan]  # bits are compared: a zero of the other sign differs
        x = rng.standard_normal(256).astype(np.float32)
        x = to_bf16(x) if dtype == BF16 else x.astype(np.float16).astype(np.float32)
        same = start == expected
        same[:2] = False, True
        after = np.where(same, x, start).astype(np.float32)

        def make(v):
            return Typed(v, BF16) if dtype == BF16 else v.astype(np.float16)

        def out(v, **more):
            return Out(v, dtype=BF16, **more) if dtype == BF16 else Out(v.astype(np.float16), **more)

        initial = start if dtype == BF16 else start.astype(np.float16)
        return Run(
            exchange_if_equal, (1,), [out(after, initial=initial), make(expected), make(x), out(start)], {"BLOCK": 256}
        )


cas_case("atomic_cas_fp16", np.float16)
cas_case("atomic_cas_bf16", BF16)


@triton.jit
def quotients(a0, a1, b0, b1):
    return a0 // b0, a1 // b1, a0 % b0, a1 % b1


@triton.jit
def map_pairs(x, y, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    q, r = tl.map_elementwise(quotients, tl.load(x + at), tl.load(y + at), pack=2)
    tl.store(out + at, q)
    tl.store(out + BLOCK + at, r)


def pack_case(name, n):
    @case(name)
    def _(rng):
        x, y = rng.integers(0, 1 << 32, n, np.uint32), rng.integers(1, 1 << 16, n, np.uint32)
        return Run(map_pairs, (1,), [x, y, Out(np.concatenate([x // y, x % y]))], {"BLOCK": n})


pack_case("map_elementwise_pack", 512)
pack_case("map_elementwise_pack_of_one_register", 64)


@triton.jit
def product_of_tiles(a, b, c, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, BK)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + m * K + start + k[None, :])
        y = tl.load(b + (start + k[:, None]) * N + n)
        total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + m * N + n, total)


def panel_case(name, dtype, m, n, k, bk, warps):
    @case(name)
    def _(rng):
        a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
        wide = a.astype(np.float64) @ b.astype(np.float64)
        tolerance = sums(k + 1, np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))
        constants = {"K": k, "M": m, "N": n, "BK": bk}
        return Run(
            product_of_tiles, (1,), [a, b, Out(wide.astype(np.float32), tolerance)], constants, {"num_warps": warps}
        )


# The factors of a step take more than 32 KiB together: they go to threadgroup memory in panels.
panel_case("dot_panels", np.float32, 64, 128, 128, 128, 4)
panel_case("dot_panels_in_a_loop", np.float32, 128, 128, 128, 64, 4)
panel_case("dot_panels_fp16", np.float16, 128, 128, 128, 128, 8)


@triton.jit
def widen(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, tl.where(v > 0, v * 1.5, -0.25).to(tl.float64), mask=at < n)


@case("float64_in_memory_only")
def _(rng):
    x = rng.standard_normal(100).astype(np.float32)
    x[:4] = [-0.0, np.inf, 2e38, np.nan]
    out = np.where(x > 0, x * np.float32(1.5), np.float32(-0.25)).astype(np.float64)
    return Run(widen, (1,), [x, Out(out), 100], {"BLOCK": 128})


@triton.jit
def widen_then_add(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(tl.float64) + 1.0)


@case("float64_arithmetic")
def _(rng):
    x = rng.standard_normal(64).astype(np.float32)
    return Run(widen_then_add, (1,), [x, Out(x.astype(np.float64) + 1)], {"BLOCK": 64})


@triton.jit
def absolute(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.abs(tl.load(x + at)))


def abs_case(name, dtype):
    @case(name)
    def _(rng):
        codes = np.arange(256, dtype=np.uint8)
        return Run(absolute, (1,), [Typed(codes, dtype), Out(codes & 0x7F, dtype=dtype)], {"BLOCK": 256})


abs_case("abs_e5m2", FP8E5)
abs_case("abs_e4m3", FP8E4)


@triton.jit
def count_to(bound, cut, out, BLOCK: tl.constexpr):
    j = 0
    found = 0
    while j < tl.load(bound):  # read again in each round, which a loop that waits for others does too
        found += j == tl.load(cut)
        j += 1
        tl.store(out, j)
    tl.store(out + 1, found)


@case("while_bound_in_memory")
def _(rng):
    bound, cut = np.array([10], np.int32), np.array([5], np.int32)
    return Run(count_to, (1,), [bound, cut, Out(np.array([10, 1], np.int32))], {"BLOCK": 1})


@triton.jit
def widen_only(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at).to(tl.float64))


@case("float64_of_all_magnitudes")
def _(rng):
    bits = rng.integers(0, 1 << 32, 256, np.uint32)
    bits[:128] &= 0x807FFFFF  # subnormal numbers are normal ones of float64
    x = bits.view(np.float32)
    with np.errstate(invalid="ignore"):  # some are signalling NaNs
        expected = Out(x.astype(np.float64))
    return Run(widen_only, (1,), [x, expected], {"BLOCK": 256})


@triton.jit
def item_of_tensor(x, out, BLOCK: tl.constexpr):
    first = tl.load(x + tl.arange(0, 1)).item()  # tt.unsplat, which prints one type
    tl.store(out + tl.arange(0, BLOCK), first + tl.arange(0, BLOCK))


@case("unsplat")
def _(rng):
    x = rng.integers(-9, 9, 4).astype(np.int32)
    return Run(item_of_tensor, (1,), [x, Out((x[0] + np.arange(64)).astype(np.int32))], {"BLOCK": 64})


# What random programs found: see fuzz.py.


@triton.jit
def swap_pairs(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    even, odd = tl.split(tl.reshape(tl.load(x + at).to(tl.int16), (BLOCK // 2, 2)))
    tl.store(out + at, tl.reshape(tl.join(odd, even), (BLOCK,)))


def swap_case(name, n, warps):
    @case(name)
    def _(rng):
        x = rng.integers(0, 99, n).astype(np.uint8)
        expected = x.reshape(-1, 2)[:, ::-1].reshape(-1).astype(np.int16)
        return Run(swap_pairs, (1,), [x, Out(expected)], {"BLOCK": n}, {"num_warps": warps})


# A register of a loop that another iteration computes.
swap_case("swapped_pairs", 512, 4)
swap_case("swapped_pairs_of_many", 4096, 2)


@triton.jit
def swap_pairs_of_numbers(n, out, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    v = (at < n).to(tl.int8) * 5 ^ (at % 3).to(tl.int8)  # which is cheap to compute again in another layout
    even, odd = tl.split(tl.reshape(v, (M, N // 2, 2)))
    tl.store(out + at, tl.reshape(tl.join(odd, even), (M, N)))


@case("swapped_pairs_of_numbers")
def _(rng):
    at = np.arange(256)
    v = ((at < 131) * 5 ^ at % 3).astype(np.int8)
    expected = v.reshape(-1, 2)[:, ::-1].reshape(-1)
    return Run(swap_pairs_of_numbers, (1,), [131, Out(expected)], {"M": 8, "N": 32}, {"num_warps": 8})


@triton.jit
def product_then_argmax(x, y, product, out, M: tl.constexpr, N: tl.constexpr):
    m, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    number = m * N + k
    a = (number & 15).to(tl.int8)
    tl.store(product + m * M + tl.arange(0, M)[None, :], tl.dot(a, tl.trans(a), out_dtype=tl.int32))
    v = tl.load(x + m + k * M)  # so that SIMD groups have different columns
    i = tl.broadcast_to(tl.argmax(v, 1, keep_dims=True), (M, N))
    tl.store(out + number, i + tl.load(y + number))


# What a reduction reads in two areas is behind the barrier that the second one needs, and in front of what is exchanged next.
@case("product_then_argmax")
def _(rng):
    x, y = rng.integers(-50, 50, (64, 16)).astype(np.int16), rng.integers(0, 9, (64, 16)).astype(np.int32)
    a = (np.arange(1024) & 15).reshape(64, 16)
    outs = [Out((a @ a.T).astype(np.int32)), Out(x.reshape(16, 64).argmax(0)[:, None].astype(np.int32) + y)]
    return Run(product_then_argmax, (1,), [x, y, *outs], {"M": 64, "N": 16}, {"num_warps": 8})


# What a review found.


@triton.jit
def gather_below_zero(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    below = at - 16
    # Remainders are those of C: below zero, numbers that follow each other have others than above it.
    v = tl.load(x + 16 + below % 4)
    tl.store(out + at, v + tl.load(x + at, mask=below // 4 == 0, other=7))


@case("division_below_zero")
def _(rng):
    x, at = rng.integers(10, 99, 1024).astype(np.int32), np.arange(1024)
    chosen = np.where(np.trunc((at - 16) / 4) == 0, x, 7)
    return Run(
        gather_below_zero, (1,), [x, Out(x[16 + np.fmod(at - 16, 4)] + chosen)], {"BLOCK": 1024}, {"num_warps": 1}
    )


@triton.jit
def halves_of_words(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x.to(tl.pointer_type(tl.int16)) + at))
    upper = (x + at).to(tl.pointer_type(tl.int16)) + 1  # each element has a pointer of its own
    tl.store(out + BLOCK + at, tl.load(upper))


@case("pointers_to_halves_of_words")
def _(rng):
    x = rng.integers(-(2**31), 2**31 - 1, 128).astype(np.int32)
    halves = x.view(np.int16)
    return Run(halves_of_words, (1,), [x, Out(np.concatenate([halves[:128], halves[1::2]]))], {"BLOCK": 128})


@triton.jit
def choose_pointers(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    p = x
    if n > 3:
        p = y
    q = tl.where(at < n, x + at, y + at * 2)
    tl.store(out + at, tl.load(p + at) + tl.load(q))


@case("pointers_of_two_arguments")
def _(rng):
    x, y, at = rng.integers(0, 99, 256).astype(np.int32), rng.integers(0, 99, 256).astype(np.int32), np.arange(128)
    return Run(choose_pointers, (1,), [x, y, Out(y[:128] + np.where(at < 50, x[at], y[at * 2])), 50], {"BLOCK": 128})


@triton.jit
def sum_of_many(
    x, out, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, b0, b1, b2, b3, b4, b5, b6, b7, b8, b9, c0, c1, c2, c3, c4, c5,
    factor, wide, positive, n, out2, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.arange(0, BLOCK)
    total = (
        a0 + a1 * 2 + a2 * 3 + a3 * 5 + a4 + a5 + a6 + a7 + a8 + a9 + b0 + b1 + b2 + b3 + b4 + b5 + b6 + b7 + b8 + b9
    )
    total += c0 + c1 + c2 + c3 + c4 + c5 * 7
    tl.store(out + at, tl.load(x + at) + total, mask=at < n)
    tl.store(out2 + at, at * factor, mask=positive)
    if wide > 2**33:
        tl.store(out2 + BLOCK + at, factor)


@case("more_arguments_than_buffers")
def _(rng):
    numbers, x = [int(a) for a in rng.integers(2, 9, 26)], rng.integers(0, 9, 64).astype(np.int32)
    total = sum(numbers) + numbers[1] + 2 * numbers[2] + 4 * numbers[3] + 6 * numbers[25]
    out = Out(np.where(np.arange(64) < 40, x + total, 0).astype(np.int32))
    out2 = Out(np.concatenate([np.arange(64) * 1.25, np.full(64, 1.25)]).astype(np.float32))
    return Run(sum_of_many, (1,), [x, out, *numbers, 1.25, 2**34, True, 40, out2], {"BLOCK": 64})


@triton.jit
def count_up_and_add(x, y, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + m * 3)  # by each thread that adds it to an element of y
    tl.store(x + m * 3, v + 1)
    tl.store(out + m * N + n, v + tl.load(y + m * N + n))


def count_case(name, m, n, warps):
    @case(name)
    def _(rng):
        x, y = rng.integers(0, 99, m * 3).astype(np.int32), rng.integers(0, 99, (m, n)).astype(np.int32)
        after = x.copy()
        after[::3] += 1
        args = [Out(after, initial=x), y, Out(x[::3][:, None] + y)]
        return Run(count_up_and_add, (1,), args, {"M": m, "N": n}, {"num_warps": warps})


# One thread stores what others still have to load: lanes of a SIMD group, and several groups.
count_case("load_by_lanes_then_store", 64, 64, 4)
count_case("load_by_groups_then_store", 16, 128, 8)


@triton.jit
def draw_tiles(x, out, counter, tiles, BLOCK: tl.constexpr):
    tile = tl.atomic_add(counter, 1)
    while tile < tiles:
        at = tile * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + at, tl.load(x + at) * tile)
        tile = tl.atomic_add(counter, 1)


# A loop that ends when a counter has passed a bound waits for no other program.
@case("atomic_counter_of_tiles")
def _(rng):
    x = rng.integers(0, 99, (10, 128)).astype(np.int32)
    outs = [
        Out(x * np.arange(10, dtype=np.int32)[:, None]),
        Out(np.array([13], np.int32)),
    ]  # each of three draws one too many
    return Run(draw_tiles, (3,), [x, *outs, 10], {"BLOCK": 128})
