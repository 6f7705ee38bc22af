"""PaddlePaddle/Paddle#79727: the gradient of put_along_axis with reduce="mul" divides by the factors, so a factor of 0 gives NaN."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

idx, base = np.array([0, 1, 0, 1, 2, 1]), np.array([1, 2, 3, 4], "float32")
for s in ([0, 2, 3, 4, 5, 6.0], [0, 2, 0, 4, 0, 0.0], [1, 2, 3, 4, 5, 6.0]):
    for self_included in (True, False):
        x, v = T(base), T(np.array(s, "float32"))
        x.stop_gradient = v.stop_gradient = False
        paddle.put_along_axis(x, T(idx), v, 0, reduce="mul", include_self=self_included).sum().backward()
        b = base if self_included else np.ones(4)
        gv = [b[k] * np.prod([s[m] for m in range(6) if idx[m] == k and m != n]) for n, k in enumerate(idx)]
        same(f"{s} self {self_included}: factors", v.grad, gv, 1e-5)
        gx = [
            np.prod([s[m] for m in range(6) if idx[m] == k]) if self_included or k not in idx else 0 for k in range(4)
        ]
        same(f"{s} self {self_included}: tensor", x.grad, gx, 1e-5)
for zeros in ([2, 0, 3.0], [0, 0, 3.0]):
    y = T(np.array(zeros, "float32"))
    y.stop_gradient = False
    y.prod().backward()
    same(f"prod {zeros}", y.grad, [np.prod(zeros[:n] + zeros[n + 1 :]) for n in range(3)])
    y = T(np.array(zeros, "float32"))
    y.stop_gradient = False
    paddle.cumprod(y, 0).sum().backward()
    a, b, c = zeros
    same(f"cumprod {zeros}", y.grad, [1 + b + b * c, a + a * c, a * b])

finish()
