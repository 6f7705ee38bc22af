"""pytorch/pytorch#167154: a linear layer on an input with stride 0 fails because a buffer is too small."""

import numpy as np
from case import F, T, finish, same

import paddle_mps as paddle

r = np.random.default_rng(0)
w, b = r.standard_normal((48, 40)).astype("float32"), r.standard_normal(40).astype("float32")
row = r.standard_normal((1, 7, 48)).astype("float32")
for x, n in (
    (T(row).expand([5, 7, 48]), np.broadcast_to(row, (5, 7, 48))),
    (
        paddle.as_strided(T(np.arange(7 * 48, dtype="float32") / 100), [5, 7, 48], [0, 48, 1]),
        np.broadcast_to(np.arange(7 * 48, dtype="float32").reshape(7, 48) / 100, (5, 7, 48)),
    ),
    (
        paddle.as_strided(T(np.arange(100, dtype="float32") / 100), [10, 48], [3, 1]),
        np.lib.stride_tricks.sliding_window_view(np.arange(100, dtype="float32") / 100, 48)[:30:3],
    ),
):
    same("linear", F.linear(x, T(w), T(b)), n @ w + b, 1e-3)
    same("matmul", x @ T(w), n @ w, 1e-3)
big = r.standard_normal((96, 80)).astype("float32")
same("weight with steps", F.linear(T(row), T(big)[::2, 1::2], T(b)), row @ big[::2, 1::2] + b, 1e-3)
same("transposed weight", F.linear(T(row), T(np.ascontiguousarray(w.T)).t(), T(b)), row @ w + b, 1e-3)

finish()
