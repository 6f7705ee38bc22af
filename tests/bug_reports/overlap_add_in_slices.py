"""ml-explore/mlx#3676: adding windows into overlapping slices of a buffer corrupts the sum."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

sr, seg = 4410, 3439
stride = int(0.75 * seg)
n = 20 * sr // 2
t = np.arange(n) / sr
x = np.stack([0.5 * np.sin(2 * np.pi * 220 * t), 0.3 * np.sin(2 * np.pi * 440 * t)]).astype("float32")
win = (np.hanning(seg) + 0.1).astype("float32")
out, wsum = paddle.zeros([2, n]), paddle.zeros([n])
ref, rw = np.zeros((2, n)), np.zeros(n)
for o in range(0, n, stride):
    e = min(o + seg, n)
    part = T(x)[:, o:e] * T(win)[: e - o]
    out[:, o:e] += part
    wsum[o:e] += T(win)[: e - o]
    ref[:, o:e] += x[:, o:e] * win[: e - o]
    rw[o:e] += win[: e - o]
same("sum", out, ref, 1e-5)
same("quotient", out / wsum, x, 1e-4)
up = paddle.zeros([2, 2 * 3000])
up[:, ::2] += T(x)[:, :3000]
w2 = np.zeros((2, 6000))
w2[:, ::2] = x[:, :3000]
same("every second", up, w2)
up[:, 1::3] *= 5.0
w2[:, 1::3] *= 5
up[:, ::-2] -= 1.0
w2[:, ::-2] -= 1
same("other operators", up, w2, 1e-6)

finish()
