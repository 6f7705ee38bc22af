"""microsoft/onnxruntime#12098: Resize nearest from 26 to 64 is off by one pixel, because the scale is rounded to float32 before coordinates are computed."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

for n, o in ((26, 64), (64, 26), (7, 49), (49, 7), (3, 10), (13, 39), (100, 33), (33, 100), (41, 82), (1000, 1500)):
    x = np.arange(n, dtype="float32").reshape(1, 1, n)
    want = [i * n // o for i in range(o)]
    for opset in (13, 19):
        m = model(
            [
                h.make_node(
                    "Resize",
                    ["x", "", "", "s"],
                    ["y"],
                    mode="nearest",
                    coordinate_transformation_mode="asymmetric",
                    nearest_mode="floor",
                )
            ],
            [("x", P.FLOAT, x.shape)],
            [("y", P.FLOAT, None)],
            opset,
            init=[("s", np.array([1, 1, o], "int64"))],
        )
        same(f"{n} to {o} by sizes, opset {opset}", run(m, {"x": x})[0].ravel(), want)

finish()
