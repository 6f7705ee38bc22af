"""triton-lang/triton#3017: a kernel that takes a cumulative sum along one axis of an outer product and then a sum along another gives other numbers."""

import numpy as np
from triton_case import dev, finish, same, tl, triton, zeros


@triton.jit
def kernel(k, v, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(k + i[:, None] * N + i[None, :])
    b = tl.load(v + i[:, None] * N + i[None, :])
    c = tl.cumsum(a[:, :, None] * b[:, None, :], axis=0)
    tl.store(o + i[:, None] * N + i[None, :], tl.sum(c, axis=1))


r = np.random.default_rng(1)
for N in (4, 8, 16):
    for w in (1, 2, 4):
        a, b = r.standard_normal((2, N, N)).astype("float32")
        o = zeros((N, N))
        kernel[(1,)](dev(a), dev(b), o, N=N, num_warps=w)
        same(f"{N} {w}", o, np.cumsum(np.einsum("id,ie->ide", a, b), 0).sum(1), 1e-4)

finish()
