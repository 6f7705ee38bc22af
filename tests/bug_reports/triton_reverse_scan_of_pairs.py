"""triton-lang/triton#4362: associative_scan of pairs with reverse=True gives wrong results."""

import numpy as np
from triton_case import dev, finish, same, tl, triton, zeros


@triton.jit
def step(fl, xl, fr, xr):
    return fr * fl, fr * xl + xr


@triton.jit
def kernel(f, x, of, ox, N: tl.constexpr, REV: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.associative_scan((tl.load(f + i), tl.load(x + i)), axis=0, combine_fn=step, reverse=REV)
    tl.store(of + i, a)
    tl.store(ox + i, b)


r = np.random.default_rng(0)
for N in (2, 8, 32, 64, 256, 1024):
    f, x = r.uniform(0.5, 1.2, N).astype("float32"), r.standard_normal(N).astype("float32")
    for rev in (False, True):
        for w in (1, 4):
            of, ox = zeros(N), zeros(N)
            kernel[(1,)](dev(f), dev(x), of, ox, N=N, REV=rev, num_warps=w)
            wf, wx = np.zeros(N), np.zeros(N)
            order = range(N - 1, -1, -1) if rev else range(N)
            p, q = 1.0, 0.0
            for k in order:
                p, q = float(f[k]) * p, float(f[k]) * q + float(x[k])
                wf[k], wx[k] = p, q
            same(f"factors {N} {rev} {w}", of, wf, 2e-4)
            same(f"values {N} {rev} {w}", ox, wx, 2e-3)

finish()
