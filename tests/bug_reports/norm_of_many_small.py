"""PaddlePaddle/Paddle#75212: the norm of a hundred million small numbers is off by a sixth, because squares are added one by one in float32."""

import os

import numpy as np
from case import T, check, finish

import paddle_mps as paddle

n = 30_000_000 if "PADDLE_MPS_METAL_LIBRARY" not in os.environ else 300_000
x = np.random.default_rng(0).standard_normal(n).astype("float32") * np.float32(1e-3)
t = T(x)
exact = float(np.sqrt(np.dot(x.astype("float64"), x.astype("float64"))))
for what, f in (
    ("linalg.norm", lambda: paddle.linalg.norm(t)),
    ("norm p=2", lambda: paddle.norm(t, p=2)),
    ("dist", lambda: paddle.dist(t, paddle.zeros_like(t), p=2)),
    ("sqrt of sum", lambda: (t * t).sum().sqrt()),
    ("sqrt of dot", lambda: paddle.dot(t, t).sqrt()),
    ("vector_norm", lambda: paddle.linalg.vector_norm(t)),
):
    got = float(f())
    check(f"{what}: {got}, not {exact}", abs(got / exact - 1) < 1e-5)
one = paddle.ones([n])
check(f"sum of ones: {float(one.sum())}", float(one.sum()) == n)
check(f"mean of ones: {float(one.mean())}", float(one.mean()) == 1)
c = float(paddle.cumsum(one, axis=0)[-1])
check(f"cumsum of ones ends in {c}", abs(c / n - 1) < 1e-5)
v = float(paddle.var(t + 1000.0))
check(f"var beside a large mean: {v}", abs(v / np.var((x + np.float32(1000)).astype("float64"), ddof=1) - 1) < 1e-3)
f16 = paddle.full([200_000], 0.5, dtype="float16")
check(f"float16 mean {float(f16.mean())}", float(f16.mean()) == 0.5)
check(
    f"float16 sum of small {float(paddle.full([4096], 0.25, dtype='float16').sum())}",
    float(paddle.full([4096], 0.25, dtype="float16").sum()) == 1024,
)

finish()
