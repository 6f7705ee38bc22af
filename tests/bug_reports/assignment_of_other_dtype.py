"""pytorch/pytorch#95417: assigning integers to a slice of floats writes at the wrong offset."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

t = paddle.zeros([5])
t[2:4] = T(np.ones(2, "int64"))
same("int64 into float32", t, [0, 0, 1, 1, 0])
a = T(np.arange(56, dtype="int32"))
a[10] = T(np.array([1568]))
want = np.arange(56)
want[10] = 1568
same("one element of int64 into int32", a, want)
x = T(np.random.default_rng(0).random((1120, 3)).astype("float32"))
n = x.numpy().copy()
x[..., -1] = 1
n[..., -1] = 1
same("last column", x, n)
x[:, 0] = 7
n[:, 0] = 7
same("first column", x, n)
x[5:900:7, 1:] = T(np.array([1, 2], "int32"))
n[5:900:7, 1:] = [1, 2]
same("rows with steps", x, n)
for src in ("bool", "uint8", "int16", "int64", "float16", "bfloat16"):
    for dst in ("float32", "int32", "int64", "float16", "uint8"):
        t = paddle.zeros([3, 4], dtype=dst)
        t[1:, ::2] = T(np.array([[1, 0], [1, 1]], "float32")).astype(src)
        w = np.zeros((3, 4))
        w[1:, ::2] = [[1, 0], [1, 1]]
        same(f"{src} into {dst}", t.astype("float32"), w)

finish()
