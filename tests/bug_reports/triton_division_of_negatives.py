"""triton-lang/triton#954: cdiv and // of negative numbers round otherwise than in Python."""

import numpy as np
from triton_case import dev, finish, same, tl, triton, zeros


@triton.jit
def kernel(a, b, q, r, c, m, n, N: tl.constexpr):
    i = tl.arange(0, N)
    k = i < n
    x, y = tl.load(a + i, k, other=1), tl.load(b + i, k, other=1)
    tl.store(q + i, x // y, k)
    tl.store(r + i, x % y, k)
    tl.store(c + i, tl.cdiv(x, y), k)
    tl.store(m + i, x * y, k)


vals = [-7, -1, 0, 1, 7, 36, -36, 100, 2**31 - 1, -(2**31) + 1]
pairs = [(x, y) for x in vals for y in (-5, -2, -1, 1, 2, 5)]
for dt in ("int32", "int64", "int16", "int8"):
    ps = [p for p in pairs if all(abs(v) < 2 ** (8 * np.dtype(dt).itemsize - 1) for v in p)]
    a, b = np.array(ps, dt).T.copy()
    n = len(ps)
    o = [zeros(n, dt) for _ in range(4)]
    kernel[(1,)](dev(a), dev(b), *o, n, N=64)
    trunc = np.array([int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) for x, y in ps])
    same(f"{dt} //", o[0], trunc)  # Triton's // and % are C's
    same(f"{dt} %", o[1], np.array([int(x) - int(y) * int(t) for (x, y), t in zip(ps, trunc)]))
    with np.errstate(over="ignore"):
        num = (a + (b - np.array(1, dt)).astype(dt)).astype(dt)
        same(f"{dt} *", o[3], a * b)
    same(
        f"{dt} cdiv",
        o[2],
        np.array([int(abs(int(x)) // abs(int(y))) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(num, b)]),
    )

finish()
