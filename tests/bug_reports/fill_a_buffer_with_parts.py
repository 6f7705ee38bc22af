"""PaddlePaddle/Paddle#34633: a buffer of zeros that is filled slice by slice with results gives no gradients."""

import numpy as np
from case import T, check, finish, same

import paddle_mps as paddle

a, b = np.random.default_rng(0).random((2, 1, 4)).astype("float32") + 0.5
x, y = T(a), T(b)
x.stop_gradient = y.stop_gradient = False
buf = paddle.zeros([4, 4])
check("a fresh buffer has no gradient", buf.stop_gradient)
for k in range(4):
    buf[k, :] = (x / y * float(k + 1))[0] if k % 2 else x[0] * y[0]
check("the buffer has a gradient now", not buf.stop_gradient)
w = np.arange(16, dtype="float32").reshape(4, 4)
(buf * T(w)).sum().backward()
ga = w[0] * b + w[2] * b + w[1] * 2 / b + w[3] * 4 / b
gb = w[0] * a + w[2] * a - w[1] * 2 * a / b**2 - w[3] * 4 * a / b**2
same("x", x.grad, ga, 1e-5)
same("y", y.grad, gb, 1e-5)
p = T(a)
p.stop_gradient = False
q = paddle.zeros([2, 4])
q[1] = p[0]
q[1, 1:3] = 0.0
q[0] = q[1] * 2
q.sum().backward()
same("overwritten parts", p.grad, np.array([[3, 0, 0, 3]]))
rows = paddle.zeros([3, 4])
p = T(a)
p.stop_gradient = False
rows[T(np.array([0, 2]))] = paddle.concat([p, p * 3])
rows.sum().backward()
same("rows by index", p.grad, np.full((1, 4), 4.0))
rows = paddle.zeros([3, 4])
p = T(a)
p.stop_gradient = False
mask = T(np.array([True, False, True]))
rows[mask] = paddle.concat([p, p * 3])
rows.sum().backward()
same("rows by mask", p.grad, np.full((1, 4), 4.0))

finish()
