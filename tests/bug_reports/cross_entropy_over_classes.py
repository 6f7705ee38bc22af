"""PaddlePaddle/Paddle#57753: cross_entropy of large logits over a transposed tensor is wrong on the CPU."""

import numpy as np
from case import F, T, finish, same

import paddle_mps as paddle

r = np.random.default_rng(0)
x = (r.standard_normal((2, 19, 32, 24)) * 100).astype("float32")
label = r.integers(0, 19, (2, 32, 24))
z = x.astype("float64")
m = z.max(1, keepdims=True)
lse = m[:, 0] + np.log(np.exp(z - m).sum(1))
want = lse - np.take_along_axis(z, label[:, None], 1)[:, 0]
logit = paddle.transpose(T(x), [0, 2, 3, 1])
same("last axis", F.cross_entropy(logit, T(label), reduction="none").reshape(want.shape), want, 1e-4)
same("axis 1", F.cross_entropy(T(x), T(label), reduction="none", axis=1).reshape(want.shape), want, 1e-4)
same("mean", F.cross_entropy(logit, T(label)), want.mean(), 1e-4)
label[0, :5] = 255
keep = label != 255
same("ignored labels", F.cross_entropy(logit, T(label), ignore_index=255), want[keep].mean(), 1e-4)
t = T(x)
t.stop_gradient = False
F.cross_entropy(t.transpose([0, 2, 3, 1]), T(label), ignore_index=255).backward()
p = np.exp(z - lse[:, None])
onehot = np.zeros_like(z)
np.put_along_axis(onehot, np.where(keep, label, 0)[:, None], 1, 1)
same("gradient", t.grad, (p - onehot) * keep[:, None] / keep.sum(), 1e-5)

finish()
