"""onnx/onnx#4275: Resize cubic with pytorch_half_pixel to size 1 takes coordinate -0.5 where the text of the standard (and onnxruntime) says 0."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

x = np.random.default_rng(0).random((1, 1, 8, 8)).astype("float32")
for mode in ("cubic", "linear", "nearest"):
    for opset in (13, 19):
        m = model(
            [
                h.make_node(
                    "Resize", ["x", "", "", "s"], ["y"], mode=mode, coordinate_transformation_mode="pytorch_half_pixel"
                )
            ],
            [("x", P.FLOAT, x.shape)],
            [("y", P.FLOAT, None)],
            opset,
            init=[("s", np.array([1, 1, 1, 1], "int64"))],
        )
        same(f"{mode} to 1 by 1, opset {opset}", run(m, {"x": x})[0].ravel(), [x[0, 0, 0, 0]], 1e-5)

finish()
