"""ml-explore/mlx#1835: sorting along the second last axis of a tensor whose last axis has one element is wrong."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

r = np.random.default_rng(0)
for shape, ax in (
    ((3, 50, 1), -2),
    ((1, 3000, 1), -2),
    ((50, 1, 1), 0),
    ((2, 1, 7), 1),
    ((5, 1, 4097), -1),
    ((4097, 3), 0),
    ((2, 2049, 2), 1),
):
    x = r.permutation(int(np.prod(shape))).reshape(shape).astype("float32")
    for view, n in (
        (T(x), x),
        (T(np.ascontiguousarray(np.moveaxis(x, 0, -1))).transpose([len(shape) - 1, *list(range(len(shape) - 1))]), x),
    ):
        same(f"{shape} {ax}", paddle.sort(view, axis=ax), np.sort(n, ax))
        same(f"{shape} {ax} descending", paddle.sort(view, axis=ax, descending=True), -np.sort(-n, ax))
        same(f"{shape} {ax} argsort", paddle.argsort(view, axis=ax), np.argsort(n, ax))
        k = min(3, shape[ax])
        same(f"{shape} {ax} topk", paddle.topk(view, k, axis=ax)[0], -np.take(np.sort(-n, ax), range(k), ax))
        same(f"{shape} {ax} median", paddle.median(view, axis=ax), np.median(n, ax))
        same(f"{shape} {ax} cumsum", paddle.cumsum(view, axis=ax), np.cumsum(n.astype("float64"), ax), 1e-5)

finish()
