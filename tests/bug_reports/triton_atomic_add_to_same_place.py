"""triton-lang/triton#558: atomic_add loses additions to the same place, and adds masked elements."""

import numpy as np
from triton_case import dev, finish, same, tl, triton, zeros


@triton.jit
def kernel(idx, val, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    m = i < n
    tl.atomic_add(out + tl.load(idx + i, m), tl.load(val + i, m), m)


@triton.jit
def scalar(out, v, n):
    i = tl.program_id(0)
    if i < n:
        tl.atomic_add(out, v)


r = np.random.default_rng(0)
for n, N in ((7, 8), (100, 32), (1000, 128), (513, 256)):
    for dt in ("float32", "int32", "float16"):
        idx = r.integers(0, max(2, n // 10), n)
        val = r.integers(-3, 4, n).astype(dt)
        out = np.ones(n, dt)
        o = dev(out)
        kernel[(-(-n // N),)](dev(idx), dev(val), o, n, N=N)
        want = out.astype("float64")
        np.add.at(want, idx, val)
        same(f"{n} {N} {dt}", o, want)
o = zeros(1)
scalar[(64,)](o, 2.0, 37)
same("a number, guarded", o, [74])

finish()
