"""microsoft/onnxruntime#24681: AveragePool from opset 19 on ignores the padding at the end when auto_pad is SAME_LOWER and the padding counts."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

x = np.arange(12, dtype="float32").reshape(1, 1, 6, 2)
for opset in (11, 19, 21):
    for mode, before in (("SAME_LOWER", 2), ("SAME_UPPER", 2)):
        m = model(
            [h.make_node("AveragePool", ["x"], ["y"], kernel_shape=[5, 1], auto_pad=mode, count_include_pad=1)],
            [("x", P.FLOAT, x.shape)],
            [("y", P.FLOAT, None)],
            opset,
        )
        want = np.zeros(x.shape)
        for i in range(6):
            want[0, 0, i] = x[0, 0, max(0, i - before) : i - before + 5].sum(0) / 5
        same(f"{mode} opset {opset}", run(m, {"x": x})[0], want, 1e-5)
    for mode, before in (("SAME_LOWER", 2), ("SAME_UPPER", 1)):
        m = model(
            [h.make_node("AveragePool", ["x"], ["y"], kernel_shape=[4, 1], auto_pad=mode)],
            [("x", P.FLOAT, x.shape)],
            [("y", P.FLOAT, None)],
            opset,
        )
        want = np.zeros(x.shape)
        for i in range(6):
            want[0, 0, i] = x[0, 0, max(0, i - before) : i - before + 4].mean(0)
        same(f"even kernel {mode} opset {opset}", run(m, {"x": x})[0], want, 1e-5)

finish()
