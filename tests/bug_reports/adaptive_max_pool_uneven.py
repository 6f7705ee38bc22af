"""pytorch/pytorch#190064: adaptive_max_pool2d with sizes that do not divide returns values of a fixed window, wrong indices, and a wrong shape where it enlarges."""

import numpy as np
from case import F, T, finish, same


def ref(x, o):
    n, c, H, W = x.shape
    v, m = np.zeros((n, c, *o)), np.zeros((n, c, *o), int)
    for i in range(o[0]):
        for j in range(o[1]):
            a, b = i * H // o[0], -(-(i + 1) * H // o[0])
            d, e = j * W // o[1], -(-(j + 1) * W // o[1])
            w = x[:, :, a:b, d:e].reshape(n, c, -1)
            k = w.argmax(-1)
            v[:, :, i, j] = w.max(-1)
            m[:, :, i, j] = (a + k // (e - d)) * W + d + k % (e - d)
    return v, m


for size, o in (((5, 5), (3, 3)), ((2, 2), (4, 4)), ((7, 3), (2, 5)), ((10, 9), (4, 7)), ((1, 8), (3, 3))):
    x = np.random.default_rng(1).permutation(2 * size[0] * size[1]).reshape((1, 2, *size)).astype("float32")
    v, m = ref(x, o)
    got = F.adaptive_max_pool2d(T(x), o, return_mask=True)
    same(f"values {size} {o}", got[0], v)
    same(f"indices {size} {o}", got[1], m)
    mean = np.zeros(v.shape)
    for i in range(o[0]):
        for j in range(o[1]):
            mean[:, :, i, j] = x[
                :,
                :,
                i * size[0] // o[0] : -(-(i + 1) * size[0] // o[0]),
                j * size[1] // o[1] : -(-(j + 1) * size[1] // o[1]),
            ].mean((2, 3))
    same(f"mean {size} {o}", F.adaptive_avg_pool2d(T(x), o), mean, 1e-5)
    y = T(x)
    y.stop_gradient = False
    F.adaptive_max_pool2d(y, o).sum().backward()
    g = np.zeros(x.shape).reshape(1, 2, -1)
    for c in range(2):
        np.add.at(g[0, c], m[0, c].ravel(), 1)
    same(f"gradient {size} {o}", y.grad, g.reshape(x.shape))

finish()
