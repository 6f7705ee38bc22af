"""PaddlePaddle/Paddle#78402: put_along_axis with no indices fails instead of returning the tensor."""

import numpy as np
from case import F, T, finish, same

import paddle_mps as paddle

x = np.arange(8, dtype="float32").reshape(2, 4)
for i, v in (((2, 0), (2, 0)), ((0, 4), (0, 4)), ((2, 0), (1,))):
    ax = 1 if i[1] == 0 else 0
    same(f"{i} {v}", paddle.put_along_axis(T(x), paddle.zeros(i, "int64"), paddle.zeros(v), ax), x)
same("take", paddle.take_along_axis(T(x), paddle.zeros([2, 0], "int64"), 1), np.zeros((2, 0)))
same("gather", paddle.gather(T(x), paddle.zeros([0], "int64")), np.zeros((0, 4)))
same("index_select", paddle.index_select(T(x), paddle.zeros([0], "int64"), 1), np.zeros((2, 0)))
same("scatter", paddle.scatter(T(x), paddle.zeros([0], "int64"), paddle.zeros([0, 4])), x)
same("index_add", paddle.index_add(T(x), paddle.zeros([0], "int64"), 0, paddle.zeros([0, 4])), x)
same("masked_select", paddle.masked_select(T(x), T(x > 99)), np.zeros(0))
same("gather_nd", paddle.gather_nd(T(x), paddle.zeros([0, 2], "int64")), np.zeros(0))
same("index by an empty list", T(x)[T(np.zeros(0, "int64"))], np.zeros((0, 4)))
y = T(x)
y[T(np.zeros(0, "int64"))] = 5.0
same("write to no index", y, x)
y[1:1] = 7.0
same("write to an empty slice", y, x)
same("sort", paddle.sort(paddle.zeros([0, 3]), 0), np.zeros((0, 3)))
same("concat", paddle.concat([paddle.zeros([0, 4]), T(x)]), x)
same("stack", paddle.stack([paddle.zeros([0])] * 3), np.zeros((3, 0)))
same("einsum", paddle.einsum("ij,jk->ik", paddle.zeros([2, 0]), paddle.zeros([0, 3])), np.zeros((2, 3)))
same("conv", F.conv2d(paddle.zeros([0, 3, 5, 5]), paddle.zeros([4, 3, 3, 3])), np.zeros((0, 4, 3, 3)))
same("interpolate", F.interpolate(paddle.zeros([0, 3, 5, 5]), size=[2, 2]), np.zeros((0, 3, 2, 2)))
same("layer_norm", F.layer_norm(paddle.zeros([0, 3]), 3), np.zeros((0, 3)))

finish()
