"""Causal attention, block by block with a running softmax, written in Triton, on the Apple GPU, compared with NumPy.

python examples/triton/attention.py
"""

import numpy as np
import triton
import triton.language as tl

import paddle_mps as paddle


@triton.jit
def attention(q, k, v, out, n, scale, BLOCK: tl.constexpr, D: tl.constexpr):
    first, head = tl.program_id(0) * BLOCK, tl.program_id(1) * n * D
    d, rows = tl.arange(0, D), first + tl.arange(0, BLOCK)
    at = head + rows[:, None] * D + d[None, :]
    x = tl.load(q + at, mask=rows[:, None] < n, other=0.0) * scale
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    total = tl.zeros((BLOCK,), tl.float32)
    result = tl.zeros((BLOCK, D), tl.float32)
    for start in range(0, first + BLOCK, BLOCK):  # keys behind the last query of the block are masked anyway
        keys = start + tl.arange(0, BLOCK)
        mask = keys[:, None] < n
        y = tl.load(k + head + keys[:, None] * D + d[None, :], mask=mask, other=0.0)
        scores = tl.dot(x, tl.trans(y))
        scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        larger = tl.maximum(largest, tl.max(scores, axis=1))
        p = tl.exp(scores - larger[:, None])
        shrink = tl.exp(largest - larger)
        total = total * shrink + tl.sum(p, axis=1)
        z = tl.load(v + head + keys[:, None] * D + d[None, :], mask=mask, other=0.0)
        result = tl.dot(p, z, result * shrink[:, None])
        largest = larger
    tl.store(out + at, result / total[:, None], mask=rows[:, None] < n)


heads, n, size = 4, 200, 64
q, k, v = (paddle.randn([heads, n, size], place="mps") for _ in range(3))
out = paddle.empty([heads, n, size], place="mps")
attention[(triton.cdiv(n, 32), heads)](q, k, v, out, n, size**-0.5, BLOCK=32, D=size)

wide = [x.numpy().astype(np.float64) for x in (q, k, v)]
scores = np.where(np.tri(n, dtype=bool), wide[0] @ wide[1].transpose(0, 2, 1) * size**-0.5, -np.inf)
p = np.exp(scores - scores.max(2, keepdims=True))
p /= p.sum(2, keepdims=True)
error = np.abs(out.numpy() - p @ wide[2])
# A score is a sum of `size` rounded products, and its error is one of p, relatively; so are those of exp (4 ulp) and of a
# factor of exp for each block of keys. The two sums are of n terms. np.abs(p) @ np.abs(v) is what all of them scale with.
largest = (np.abs(wide[0]) @ np.abs(wide[1]).transpose(0, 2, 1) * size**-0.5).max()
bound = 2.0**-24 * (2 * (size + 2) * largest + 2 * n + 16 * (n // 32 + 2)) * (p @ np.abs(wide[2]))
print(f"{heads} heads of {n} x {size}; largest error against NumPy in float64: {error.max():.1e}")
assert (error <= bound).all()
