"""triton-lang/triton#1162: two products in a row of 16x16 blocks, the second with the rounded result of the first, are wrong."""

import numpy as np
from triton_case import dev, finish, same, tl, triton, zeros


@triton.jit
def kernel(q, k, v, qk, o, S: tl.constexpr, D: tl.constexpr):
    s, d = tl.arange(0, S), tl.arange(0, D)
    a = tl.load(q + D * s[:, None] + d[None, :])
    b = tl.load(k + D * s[:, None] + d[None, :])
    c = tl.load(v + D * s[:, None] + d[None, :])
    p = tl.dot(a, tl.trans(b)).to(a.dtype)
    tl.store(qk + S * s[:, None] + s[None, :], p)
    tl.store(o + D * s[:, None] + d[None, :], tl.dot(p, c).to(a.dtype))


@triton.jit
def both(a, b, o, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.load(a + m[None, :] + M * k[:, None])
    y = tl.load(b + k[None, :] + K * n[:, None])
    tl.store(o + n[None, :] + N * m[:, None], tl.dot(x.T, y.T))


r = np.random.default_rng(0)
for S, D in ((16, 16), (32, 16), (16, 64), (64, 32)):
    for w in (1, 4):
        q, k, v = r.standard_normal((3, S, D)).astype("float16")
        p, o = zeros((S, S), "float16"), zeros((S, D), "float16")
        kernel[(1,)](dev(q), dev(k), dev(v), p, o, S=S, D=D, num_warps=w)
        want = q.astype("float32") @ k.astype("float32").T
        same(f"first {S} {D} {w}", p, want, 2e-2)
        same(f"second {S} {D} {w}", o, p.numpy().astype("float32") @ v.astype("float32"), 3e-2)
for M, K, N in ((16, 16, 16), (32, 16, 64), (64, 32, 16)):
    a, b = r.standard_normal((K, M)).astype("float32"), r.standard_normal((N, K)).astype("float32")
    o = zeros((M, N))
    both[(1,)](dev(a), dev(b), o, M=M, K=K, N=N)
    same(f"both transposed {M} {K} {N}", o, a.T @ b.T, 1e-3)

finish()
