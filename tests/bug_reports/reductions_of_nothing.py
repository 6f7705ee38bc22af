"""pytorch/pytorch#104694: all() of an empty tensor is False; other reductions of nothing return what was in memory."""

import numpy as np
from case import F, T, bad, check, finish, same

import paddle_mps as paddle

e = paddle.zeros([0])
same("all", paddle.all(e.astype("bool")), True)
same("any", paddle.any(e.astype("bool")), False)
same("sum", paddle.sum(e), 0.0)
same("prod", paddle.prod(e), 1.0)
same("mean", paddle.mean(e), np.nan)
z = paddle.zeros([3, 0, 5])
same("var axis 1", paddle.var(z, axis=1), np.full((3, 5), np.nan))
same("std axis 1", paddle.std(z, axis=1), np.full((3, 5), np.nan))
same("mean axis 1", paddle.mean(z, axis=1), np.full((3, 5), np.nan))
same("sum axis 1", paddle.sum(z, axis=1), np.zeros((3, 5)))
same("prod axis 1", paddle.prod(z, axis=1), np.ones((3, 5)))
same("all axis 1", paddle.all(z.astype("bool"), axis=1), np.ones((3, 5)))
same("logsumexp axis 1", paddle.logsumexp(z, axis=1), np.full((3, 5), -np.inf))
same("sum axis 0", paddle.sum(z, axis=0), np.zeros((0, 5)))
same("count", paddle.count_nonzero(z, axis=1), np.zeros((3, 5)))
for f in (paddle.max, paddle.min, paddle.amax, paddle.argmax):
    try:
        f(z, axis=1)
        bad.append(f"{f.__name__} of no elements returned something")
    except Exception as x:
        check(f"{f.__name__}: {type(x).__name__} {x}", isinstance(x, (ValueError, RuntimeError)))
same("0-d var axis 0", paddle.var(T(np.float32(3.0)), axis=0, unbiased=False), 0.0)
same("matmul over nothing", paddle.matmul(paddle.ones([2, 0]), paddle.ones([0, 3])), np.zeros((2, 3)))
same("cumsum", paddle.cumsum(z, axis=1), np.zeros((3, 0, 5)))
same("softmax", F.softmax(z, axis=1), np.zeros((3, 0, 5)))

finish()
