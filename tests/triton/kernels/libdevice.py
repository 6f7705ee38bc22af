"""Functions of libdevice, by Metal's own functions; tolerances from Metal's tables, or stated beside."""

import math

import numpy as np
import triton
import triton.language as tl
from corpus import Out, Run, case, ulps
from triton.language.extra import libdevice


def unary(name, function, tolerance, low, high):
    """A case of a function of one number."""

    @case(f"libdevice_{name}")
    def _(rng):
        x = rng.uniform(low, high, 200).astype(np.float32)
        expected = np.vectorize(function)(x.astype(np.float64)).astype(np.float32)
        return Run(KERNELS[name], (1,), [x, Out(expected, tolerance), 200], {"BLOCK": 256})


@triton.jit
def tanh_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.tanh(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def asin_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.asin(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def tan_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.tan(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def rint_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.rint(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def trunc_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.trunc(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def log1p_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.log1p(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def expm1_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.expm1(tl.load(x + at, mask=at < n)), mask=at < n)


@triton.jit
def j0_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, libdevice.j0(tl.load(x + at, mask=at < n)), mask=at < n)


KERNELS = {
    "tanh": tanh_kernel, "asin": asin_kernel, "tan": tan_kernel, "rint": rint_kernel, "trunc": trunc_kernel,
    "log1p": log1p_kernel, "expm1": expm1_kernel,
}  # fmt: skip
unary("tanh", math.tanh, ulps(6), -3, 3)  # Metal: 5
unary("asin", math.asin, ulps(5), -1, 1)  # Metal: 4
unary("tan", math.tan, ulps(7), -1.5, 1.5)  # Metal: 6
unary("rint", lambda v: float(np.rint(v)), ulps(0), -9, 9)
unary("trunc", lambda v: float(np.trunc(v)), ulps(0), -9, 9)
# By Kahan's forms, in units of 2^-24, of which an ulp is one or two: log 8, a product and a quotient 1 each, a half of
# each operand's rounding
unary("log1p", math.log1p, ulps(11), -0.9, 3)
unary("expm1", math.expm1, ulps(11), -2, 2)


@case("libdevice_j0_missing")
def _(rng):
    return Run(
        j0_kernel,
        (1,),
        [rng.uniform(0, 9, 200).astype(np.float32), Out(np.zeros(200, np.float32)), 200],
        {"BLOCK": 256},
    )


@triton.jit
def binary_kernel(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a, b = tl.load(x + at, mask=at < n), tl.load(y + at, mask=at < n)
    tl.store(out + at, libdevice.pow(a, b), mask=at < n)
    tl.store(out + n + at, libdevice.atan2(a, b), mask=at < n)
    tl.store(out + 2 * n + at, libdevice.fmod(a, b), mask=at < n)


@case("libdevice_pow_atan2_fmod")
def _(rng):
    x, y = rng.uniform(0.1, 5, 200).astype(np.float32), rng.uniform(-3, 3, 200).astype(np.float32)
    a, b = x.astype(np.float64), y.astype(np.float64)
    out = np.concatenate([a**b, np.arctan2(a, b), np.fmod(a, b)]).astype(np.float32)
    return Run(binary_kernel, (1,), [x, y, Out(out, ulps(17)), 200], {"BLOCK": 256})  # Metal's pow: 16


@triton.jit
def integers_kernel(x, out, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n)
    tl.store(out + at, libdevice.popc(v), mask=at < n)
    tl.store(out + n + at, libdevice.clz(v), mask=at < n)
    tl.store(out + 2 * n + at, libdevice.brev(v), mask=at < n)
    tl.store(out + 3 * n + at, libdevice.ffs(v), mask=at < n)


@case("libdevice_bits")
def _(rng):
    x = (rng.integers(1, 2**31, 100) >> rng.integers(0, 31, 100)).astype(np.int32)
    strings = [f"{v:032b}" for v in x.view(np.uint32)]
    out = [s.count("1") for s in strings] + [len(s) - len(s.lstrip("0")) for s in strings]
    out += [int(s[::-1], 2) for s in strings] + [32 - s.rfind("1") if "1" in s else 0 for s in strings]
    return Run(integers_kernel, (1,), [x, Out(np.array(out, np.uint32).view(np.int32)), 100], {"BLOCK": 128})
