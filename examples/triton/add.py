"""The sum of two vectors, written in Triton, on the Apple GPU, compared with NumPy.

    python examples/triton/add.py

It needs paddle-mps and triton; on Linux it runs on the mock of Metal: ./build.sh demo triton add.
"""

import numpy as np
import triton
import triton.language as tl

import paddle_mps as paddle


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


n = 100_000
x, y = paddle.randn([n], place="mps"), paddle.randn([n], place="mps")
out = paddle.empty([n], place="mps")
kernel = add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

print(kernel.asm["msl"])
same = np.array_equal(out.numpy(), x.numpy() + y.numpy())
print(f"{n} elements; equal to NumPy's sum to the bit: {same}")
assert same
