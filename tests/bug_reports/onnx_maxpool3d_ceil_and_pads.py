"""microsoft/onnxruntime#15446: MaxPool with ceil_mode and pads in three dimensions gives other values than windows cut at the border."""

import numpy as np
from onnx_case import P, finish, h, model, run, same


def ref(x, k, s, p, ceil):
    n = len(k)
    size = []
    for d in range(n):
        L = x.shape[2 + d]
        o = (L + p[d] + p[n + d] - k[d]) / s[d]
        o = int(np.ceil(o) if ceil else np.floor(o)) + 1
        if ceil and (o - 1) * s[d] >= L + p[d]:
            o -= 1
        size.append(o)
    out = np.zeros(x.shape[:2] + tuple(size), "float32")
    for i in np.ndindex(*size):
        sl = tuple(slice(max(0, i[d] * s[d] - p[d]), min(x.shape[2 + d], i[d] * s[d] - p[d] + k[d])) for d in range(n))
        out[(slice(None), slice(None), *i)] = x[(slice(None), slice(None), *sl)].max(tuple(range(2, 2 + n)))
    return out


r = np.random.default_rng(0)
for shape, k, s, p in (
    ((1, 2, 3, 6, 5), (3, 3, 3), (3, 3, 3), (1,) * 6),
    ((1, 1, 6, 7), (1, 1), (2, 2), (0,) * 4),
    ((1, 2, 8, 9), (3, 2), (2, 3), (1, 0, 0, 1)),
    ((2, 1, 11), (4,), (3,), (2, 1)),
    ((1, 1, 4, 6), (1, 1), (2, 2), (0,) * 4),
):
    x = (r.standard_normal(shape) - 9).astype("float32")
    for ceil in (0, 1):
        m = model(
            [h.make_node("MaxPool", ["x"], ["y"], kernel_shape=k, strides=s, pads=p, ceil_mode=ceil)],
            [("x", P.FLOAT, shape)],
            [("y", P.FLOAT, None)],
        )
        same(f"{shape} {k} {s} {p} ceil {ceil}", run(m, {"x": x})[0], ref(x, k, s, p, ceil))

finish()
