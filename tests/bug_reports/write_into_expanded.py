"""pytorch/pytorch#183986: index_add, index_fill and index_put on an expanded tensor let rows share their elements."""

import numpy as np
from case import T, check, finish, same

import paddle_mps as paddle


def z():
    return paddle.zeros([1, 8]).expand([4, 8])


idx, src = T(np.array([0, 1, 0])), paddle.ones([3, 8])
want = np.zeros((4, 8))
np.add.at(want, [0, 1, 0], 1)
same("index_add", paddle.index_add(z(), idx, 0, src), want)
same("index_put accumulate", paddle.index_put(z(), (idx,), src, accumulate=True), want)
same("scatter_nd_add", paddle.scatter_nd_add(z(), idx.unsqueeze(-1), src), want)
same("index_fill", paddle.index_fill(z(), T(np.array([0, 1])), 0, 7.0), np.array([[7.0] * 8] * 2 + [[0.0] * 8] * 2))
same(
    "put_along_axis",
    paddle.put_along_axis(z(), T(np.array([[1] * 8])), 5.0, 0),
    np.array([[0.0] * 8, [5.0] * 8, [0.0] * 8, [0.0] * 8]),
)
same("masked_fill", paddle.masked_fill(z(), T(np.eye(4, 8, dtype=bool)), 3.0), np.eye(4, 8) * 3)
same("scatter", paddle.scatter(z(), T(np.array([2])), paddle.ones([1, 8])), np.eye(4)[2][:, None] * np.ones(8))
y = z()
try:
    y[1] = 5.0
    got = y.numpy()
    check(f"y[1] = 5 changed other rows: {got[:, 0].tolist()}", got[1, 0] == 5 and got[0, 0] == 0)
except (ValueError, RuntimeError):
    pass

finish()
