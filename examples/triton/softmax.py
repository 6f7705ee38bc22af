"""A softmax of rows in one pass over memory, written in Triton, on the Apple GPU, compared with NumPy.

python examples/triton/softmax.py
"""

import numpy as np
import triton
import triton.language as tl

import paddle_mps as paddle


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    mask = at < columns
    v = tl.load(x + row * columns + at, mask=mask, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * columns + at, e / tl.sum(e, axis=0), mask=mask)


rows, columns = 200, 781
x = paddle.randn([rows, columns], place="mps")
out = paddle.empty([rows, columns], place="mps")
softmax[(rows,)](x, out, columns, BLOCK=triton.next_power_of_2(columns))

wide = x.numpy().astype(np.float64)
e = np.exp(wide - wide.max(1, keepdims=True))
expected = e / e.sum(1, keepdims=True)
error = np.abs(out.numpy() - expected) / expected
print(f"{rows} rows of {columns}; largest relative error against NumPy in float64: {error.max():.1e}")
assert error.max() < 78 * 2.0**-24  # rounding of the difference, of exp (4 ulp), of the sum and of the quotient
