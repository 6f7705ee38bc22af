"""Control flow: for, while, if with and without tensors, early return, calls, static loops, tuples."""

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, Shifted, case


@triton.jit
def power(x, out, n, times, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    p = tl.full([BLOCK], 1, tl.int32)
    for _ in range(times):
        p *= v
    tl.store(out + at, p, mask=at < n)


@case("for_runtime_bound")
def _(rng):
    x = rng.integers(-3, 4, 200).astype(np.int32)
    return Run(power, (2,), [x, Out(x**7), 200, 7], {"BLOCK": 128})


@triton.jit
def countdown(out, first, last, step, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.int64)
    for i in range(first, last, step):
        total += i * at
    tl.store(out + at, total)


@case("for_i64_step")
def _(rng):
    at = np.arange(32, dtype=np.int64)
    return Run(
        countdown,
        (1,),
        [Out(at * sum(range(2**33, 2**33 + 100, 7))), 2**33, 2**33 + 100, 7],
        {"BLOCK": 32},
        {"num_warps": 1},
    )


@triton.jit
def nested(x, out, m, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(m):
        for j in tl.static_range(3):
            total += tl.load(x + (i * 3 + j) * n + at, mask=at < n, other=0.0) * (j + 1)
        if i == 2:
            total = total * 2
    tl.store(out + at, total, mask=at < n)


@case("for_nested_with_if")
def _(rng):
    x = rng.integers(-9, 9, (12, 50)).astype(np.float32)
    total = np.zeros(50, np.float32)
    for i in range(4):
        for j in range(3):
            total += x[i * 3 + j] * (j + 1)
        if i == 2:
            total *= 2
    return Run(nested, (1,), [x, Out(total), 4, 50], {"BLOCK": 64})


@triton.jit
def gcd(x, y, out):
    i = tl.program_id(0)
    a, b = tl.load(x + i), tl.load(y + i)
    while b != 0:
        t = a % b
        a = b
        b = t
    tl.store(out + i, a)


@case("while_scalar")
def _(rng):
    x, y = rng.integers(1, 500, 6).astype(np.int32), rng.integers(1, 500, 6).astype(np.int32)
    return Run(gcd, (6,), [x, y, Out(np.gcd(x, y))], {}, {"num_warps": 1})


@triton.jit
def newton(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    y = v
    steps = 0
    while tl.max(tl.abs(y * y - v)) > 0.001:
        y = 0.5 * (y + v / y)
        steps += 1
    tl.store(out + at, (y * y - v < 0.01).to(tl.int32))


@case("while_with_reduction")
def _(rng):
    return Run(newton, (1,), [rng.uniform(1, 9, 128).astype(np.float32), Out(np.ones(128, np.int32))], {"BLOCK": 128})


@triton.jit
def branches(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    at = i * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    if i % 3 == 0:
        v = v + 1
    elif i % 3 == 1:
        v = tl.zeros_like(v) + tl.sum(v)
    else:
        v = -v
    tl.store(out + at, v, mask=at < n)


@case("if_with_tensors")
def _(rng):
    # No zeros: the sign of -x differs between versions of Triton for them.
    x = rng.integers(1, 10, 7 * 32) * rng.choice([-1, 1], 7 * 32)
    x = x.astype(np.float32).reshape(7, 32)
    out = np.stack([[r + 1, np.full(32, r.sum(), np.float32), -r][i % 3] for i, r in enumerate(x)])
    return Run(branches, (7,), [x, Out(out.astype(np.float32)), 224], {"BLOCK": 32}, {"num_warps": 1})


@triton.jit
def early(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0)
    at = i * BLOCK + tl.arange(0, BLOCK)
    if i * BLOCK >= n:
        return
    v = tl.load(x + at)
    if tl.sum(v) < 0:
        tl.store(out + at, -v)
        return
    tl.store(out + at, v)


@case("early_return")
def _(rng):
    x = rng.integers(-9, 9, (6, 64)).astype(np.int32)
    out = np.where(x.sum(1, keepdims=True) < 0, -x, x)
    out[4:] = 0
    return Run(early, (6,), [x, Out(out.astype(np.int32)), 256], {"BLOCK": 64})


@triton.jit(noinline=True)
def poly(x, y):
    return x * x + y


@triton.jit
def calls(x, out):
    i = tl.program_id(0)
    v = tl.load(x + i)
    tl.store(out + i, poly(poly(v, 1), i))


@case("noinline_scalar")
def _(rng):
    x = rng.integers(-9, 9, 8).astype(np.int32)
    return Run(calls, (8,), [x, Out(((x * x + 1) ** 2 + np.arange(8)).astype(np.int32))], {}, {"num_warps": 1})


@triton.jit(noinline=True)
def clip_half(x):
    if x < 0:
        return 0.0
    return x * 0.5


@triton.jit
def calls_branches(x, out):
    i = tl.program_id(0)
    tl.store(out + i, clip_half(tl.load(x + i)))


@case("noinline_early_return")
def _(rng):
    x = rng.standard_normal(9).astype(np.float32)
    return Run(calls_branches, (9,), [x, Out(np.where(x < 0, 0, x * 0.5).astype(np.float32))], {}, {"num_warps": 1})


@triton.jit
def helper(v, w):
    s = tl.sum(v)
    return s, v + w


@triton.jit
def tuples(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    pairs = (tl.load(x + at, mask=at < n, other=0), 5)
    s, v = helper(pairs[0], pairs[1])
    tl.store(out + at, v + s, mask=at < n)


@case("calls_and_tuples")
def _(rng):
    x = rng.integers(-9, 9, 60).astype(np.int32)
    return Run(tuples, (1,), [x, Out((x + 5 + x.sum()).astype(np.int32)), 60], {"BLOCK": 64})


@triton.jit
def pointer_loop(x, out, n, BLOCK: tl.constexpr):
    p = x + tl.arange(0, BLOCK)
    q = out + tl.arange(0, BLOCK)
    for _ in range(n):
        tl.store(q, tl.load(p) + 1)
        p += BLOCK
        q += BLOCK


@case("loop_carried_pointers")
def _(rng):
    x = rng.standard_normal((5, 64)).astype(np.float32)
    return Run(pointer_loop, (1,), [x, Out(x + 1), 5], {"BLOCK": 64})


@case("loop_carried_pointers_misaligned")
def _(rng):
    x = rng.standard_normal((5, 64)).astype(np.float32)
    return Run(pointer_loop, (1,), [Shifted(x.reshape(-1), 3), Out((x + 1).reshape(-1), offset=1), 5], {"BLOCK": 64})


@triton.jit
def choose_pointer(x, y, out, which, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    if which > 0:  # noqa: SIM108 - the statement is what is tested
        p = x + at
    else:
        p = y + at
    tl.store(out + at, tl.load(p))


@case("if_with_pointers")
def _(rng):
    x, y = rng.standard_normal(64).astype(np.float32), rng.standard_normal(64).astype(np.float32)
    return Run(choose_pointer, (1,), [x, y, Out(y), 0], {"BLOCK": 64})


@triton.jit
def barrier_kernel(x, out, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) * 2)
    tl.debug_barrier()
    tl.store(out + BLOCK + at, tl.load(out + (BLOCK - 1 - at)))


@case("debug_barrier")
def _(rng):
    x = rng.standard_normal(256).astype(np.float32)
    return Run(barrier_kernel, (1,), [x, Out(np.concatenate([2 * x, 2 * x[::-1]]))], {"BLOCK": 256})


@triton.jit
def lookup_table(x, out, BLOCK: tl.constexpr, TABLE: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at)
    total = tl.zeros_like(v)
    for i in tl.static_range(len(TABLE)):
        total += tl.where(v == i, TABLE[i], 0)
    tl.store(out + at, total)


@case("constexpr_tuple")
def _(rng):
    x = rng.integers(0, 4, 64).astype(np.int32)
    return Run(lookup_table, (1,), [x, Out(np.array([7, 1, 9, 4], np.int32)[x])], {"BLOCK": 64, "TABLE": (7, 1, 9, 4)})


@triton.jit
def assume_kernel(x, out, n, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    at = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK) + tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n, eviction_policy="evict_first"), mask=at < n, cache_modifier=".cs")


@case("assume_and_hints")
def _(rng):
    x = rng.standard_normal(300).astype(np.float32)
    return Run(assume_kernel, (3,), [x, Out(x), 300], {"BLOCK": 128})


@triton.jit
def descriptor_copy(x, out, m, n, BM: tl.constexpr, BN: tl.constexpr):
    a = tl.make_tensor_descriptor(x, [m, n], [n, 1], [BM, BN])
    b = tl.make_tensor_descriptor(out, [m, n], [n, 1], [BM, BN])
    i, j = tl.program_id(0) * BM, tl.program_id(1) * BN
    b.store([i, j], a.load([i, j]) + 1.0)


@case("tensor_descriptor")
def _(rng):
    x = rng.standard_normal((40, 48)).astype(np.float32)
    return Run(descriptor_copy, (3, 2), [x, Out(x + 1), 40, 48], {"BM": 16, "BN": 32})
