"""PaddlePaddle/Paddle#72163: take_along_axis with broadcast=False reads wrong elements if the index is smaller than the tensor in other axes."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

x = np.arange(1, 33).reshape(4, 2, 4)
i = np.array([[[0, 1, 1], [1, 0, 1]], [[0, 1, 0], [1, 0, 1]]])
want = np.empty(i.shape, int)
for p in np.ndindex(*i.shape):
    want[p] = x[i[p], p[1], p[2]]
same("take", paddle.take_along_axis(T(x), T(i), 0, broadcast=False), want)
same(
    "take of a view",
    paddle.take_along_axis(
        T(np.ascontiguousarray(x.transpose(2, 1, 0))).transpose([2, 1, 0]), T(i), 0, broadcast=False
    ),
    want,
)
for ax in (0, 1, 2):
    j = np.random.default_rng(ax).integers(0, x.shape[ax], (2, 1, 3))
    want = np.empty(j.shape, int)
    for p in np.ndindex(*j.shape):
        q = list(p)
        q[ax] = j[p]
        want[p] = x[tuple(q)]
    same(f"axis {ax}", paddle.take_along_axis(T(x), T(j), ax, broadcast=False), want)
    y = x.astype("float32").copy()
    for p in np.ndindex(*j.shape):
        q = list(p)
        q[ax] = j[p]
        y[tuple(q)] += 100
    same(
        f"put axis {ax}",
        paddle.put_along_axis(
            T(x.astype("float32")), T(j), paddle.full(j.shape, 100.0), ax, reduce="add", broadcast=False
        ),
        y,
    )

finish()
