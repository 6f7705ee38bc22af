"""pytorch/pytorch#183885: argsort over the first axis of a very wide tensor returns wrong indices."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

n = 4_194_305 if "PADDLE_MPS_METAL_LIBRARY" not in __import__("os").environ else 65_537
x = np.abs(np.random.default_rng(0).standard_normal((3, n)).astype("float32"))
same("argsort", paddle.argsort(T(x), axis=0), np.argsort(x, axis=0, kind="stable"))
same("sort", paddle.sort(T(x), axis=0), np.sort(x, axis=0))
same("argmax", paddle.argmax(T(x), axis=0), np.argmax(x, axis=0))
same("cummax", paddle.cummax(T(x), axis=0)[0], np.maximum.accumulate(x, 0))

finish()
