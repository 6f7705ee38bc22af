"""PaddlePaddle/Paddle#49659: assigning a tensor of shape [1, 4] to a column writes values that are not in it."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

a = paddle.ones([4, 4])
a[:, 1] = paddle.reshape(3 * paddle.ones([4, 1]), shape=[1, 4])
want = np.ones((4, 4))
want[:, 1] = 3
same("column", a, want)
n = np.arange(24, dtype="float32").reshape(2, 3, 4)
v = T(np.arange(4, dtype="float32").reshape(1, 1, 4) * -1)
for key in (
    (slice(None), 1),
    (0, slice(1, 3)),
    (Ellipsis, slice(None, None, 2)),
    (slice(None), slice(None), 1),
    (None, 1),
    (0, None, 1),
    (slice(None), [2, 0]),
    (1, [0, 2], slice(1, None)),
    (slice(None), slice(None), [True, False, True, False]),
):
    t, m = T(n), n.copy()
    val = np.float32(-7)
    t[key] = -7.0
    m[key] = val
    same(f"{key}", t, m)
    part = n[key]
    t, m = T(n), n.copy()
    t[key] = T((part * 2 + 1).astype("float32")) if part.ndim else float(part * 2 + 1)
    m[key] = part * 2 + 1
    same(f"{key} by a tensor", t, m)
t = T(n)
t[:, 1] = v
m = n.copy()
m[:, 1] = np.arange(4) * -1
same("leading ones dropped", t, m)

finish()
