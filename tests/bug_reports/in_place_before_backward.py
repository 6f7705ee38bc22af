"""PaddlePaddle/Paddle#37367: backward called directly on the result of an in-place function adds the incoming gradient once too often."""

import numpy as np
from case import finish, same

import paddle_mps as paddle


def g(f, start=1.0):
    x = paddle.full([2, 2], start)
    x.stop_gradient = False
    y = x * 2
    f(y).backward()
    return x.grad


for name, d in (
    ("tanh_", 2 / np.cosh(2) ** 2),
    ("exp_", 2 * np.exp(2)),
    ("sigmoid_", 2 * (1 / (1 + np.exp(-2))) * (1 - 1 / (1 + np.exp(-2)))),
    ("sqrt_", 1 / np.sqrt(2)),
    ("reciprocal_", -2 / 4),
    ("neg_", -2),
    ("abs_", 2),
    ("rsqrt_", 2 * -0.5 * 2**-1.5),
):
    same(name, g(lambda y, name=name: getattr(y, name)()), np.full((2, 2), d), 1e-5)
    same(name + " and a sum", g(lambda y, name=name: getattr(y, name)().sum()), np.full((2, 2), d), 1e-5)
    same(
        name + " twice used",
        g(lambda y, name=name: (lambda z: z + z)(getattr(y, name)()).sum()),
        np.full((2, 2), 2 * d),
        1e-5,
    )
same("add_", g(lambda y: y.add_(y.detach())), np.full((2, 2), 2.0))
same("scale_", g(lambda y: y.scale_(3.0)), np.full((2, 2), 6.0))
same("clip_", g(lambda y: y.clip_(0, 5)), np.full((2, 2), 2.0))
same("multiply_ by itself", g(lambda y: y.multiply_(y + 0)), np.full((2, 2), 8.0))


def setter(y):
    y[0] = y[1] * 10
    return y


same("item set", g(setter), [[0, 0], [22, 22]])

finish()
