"""Philox, to the bit, against the published algorithm in NumPy."""

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, case, within


def philox(seed, offset, rounds=10):
    """Philox 4x32 (Salmon et al. 2011) of counters (offset, 0, 0, 0)."""
    mask = np.uint64(0xFFFFFFFF)
    c = [offset.astype(np.uint64), *(np.zeros(len(offset), np.uint64) for _ in range(3))]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(rounds):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0),
            b & mask,
            (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1),
            a & mask,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return [x.astype(np.uint32) for x in c]


@triton.jit
def randint_kernel(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.randint(seed, at), mask=at < n)


@case("randint")
def _(rng):
    out = philox(1234567, np.arange(300))[0].view(np.int32)
    return Run(randint_kernel, (3,), [Out(out), 1234567, 300], {"BLOCK": 128})


@triton.jit
def randint4_kernel(out, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, at)
    tl.store(out + at, a)
    tl.store(out + BLOCK + at, b)
    tl.store(out + 2 * BLOCK + at, c)
    tl.store(out + 3 * BLOCK + at, d)


@case("randint4x_seed_i64")
def _(rng):
    seed = 5 << 40 | 99
    return Run(
        randint4_kernel, (1,), [Out(np.concatenate(philox(seed, np.arange(128))).view(np.int32)), seed], {"BLOCK": 128}
    )


def uniform(bits):
    """What tl.rand makes of a number: x, or -x - 1 where it is negative, times a little less than 2^-31."""
    x = bits.view(np.int32)
    return np.where(x < 0, -x - 1, x).astype(np.float32) * np.float32(4.6566127342e-10)


@triton.jit
def rand_kernel(out, seed, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.rand(seed, at), mask=at < n)


@case("rand")
def _(rng):
    return Run(rand_kernel, (2,), [Out(uniform(philox(42, np.arange(500))[0])), 42, 500], {"BLOCK": 256})


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, at) > p
    tl.store(out + at, tl.where(keep, tl.load(x + at, mask=at < n) / (1 - p), 0.0), mask=at < n)


@case("dropout")
def _(rng):
    n, p = 1000, 0.3
    x = rng.standard_normal(n).astype(np.float32)
    out = np.where(
        uniform(philox(7, np.arange(n))[0]) > np.float32(p), x / (np.float32(1) - np.float32(p)), np.float32(0)
    )
    return Run(dropout, (4,), [x, Out(out.astype(np.float32)), n, p, 7], {"BLOCK": 256})


@triton.jit
def randn_kernel(out, seed, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.randn(seed, at))


@case("randn")
def _(rng):
    a, b = (uniform(x).astype(np.float64) for x in philox(3, np.arange(256))[:2])
    radius = np.sqrt(-2 * np.log(np.maximum(1e-7, a)))
    out = radius * np.cos(2 * np.pi * b)
    # log 4 ulp of up to 16; the angle up to 2 pi with 2 roundings; cos 4 ulp
    bound = within((16 * 8 / np.maximum(radius, 2.0**-10) + radius * (16 + 8)) * 2.0**-24)
    return Run(randn_kernel, (1,), [Out(out.astype(np.float32), bound), 3], {"BLOCK": 256})
