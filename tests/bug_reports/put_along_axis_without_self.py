"""PaddlePaddle/Paddle#72803: put_along_axis with include_self=False gives wrong sums for more than a few hundred elements."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

r = np.random.default_rng(0)
for shape in ((10, 400), (400, 10), (3, 2000), (1, 5000)):
    x, i, v = (
        r.standard_normal(shape).astype("float32"),
        r.integers(0, shape[0], shape),
        r.standard_normal(shape).astype("float32"),
    )
    for red, f, start in (
        ("add", np.add, 0.0),
        ("mul", np.multiply, 1.0),
        ("amax", np.maximum, -np.inf),
        ("amin", np.minimum, np.inf),
        ("mean", None, 0.0),
    ):
        for include in (True, False):
            want = x.astype("float64")
            hit = np.zeros(shape, int)
            for a, b in np.ndindex(*shape):
                k = i[a, b]
                if not hit[k, b] and not include:
                    want[k, b] = start
                hit[k, b] += 1
                want[k, b] = (np.add if f is None else f)(want[k, b], v[a, b])
            if f is None:
                want = np.where(hit > 0, want / (hit + include), want)
            same(
                f"{shape} {red} include_self {include}",
                paddle.put_along_axis(T(x), T(i), T(v), 0, red, include_self=include),
                want,
                2e-4,
            )

finish()
