"""PaddlePaddle/Paddle#72816: backward from a result and from the values it was computed from, in one call, fails or counts twice."""

import numpy as np
from case import finish, same

import paddle_mps as paddle

a, b = paddle.ones([5]), paddle.ones([5])
a.stop_gradient = b.stop_gradient = False
c = a + b
d = c + c
e = d + d
one = paddle.ones([5])
paddle.autograd.backward([e, c, d], [one, one, one])
same("a", a.grad, np.full(5, 4.0 + 1 + 2))
for order in ((0, 1, 2), (2, 1, 0), (1, 2, 0)):
    a = paddle.full([5], 2.0)
    a.stop_gradient = False
    c = a * a
    d = c * a
    e = d * c
    vs = [c, d, e]
    g = paddle.grad([vs[k] for k in order], [a])[0]
    same(f"grad {order}", g, np.full(5, 2 * 2 + 3 * 4 + 5 * 16.0))
a = paddle.full([5], 2.0)
a.stop_gradient = False
c = a * a
d = c * 3
g = paddle.grad(d.sum(), [a, c])
same("gradient of an inner value", g[1], np.full(5, 3.0))
same("gradient of the leaf beside it", g[0], np.full(5, 12.0))

finish()
