"""microsoft/onnxruntime#24917: an index out of range should be an error; below -n it was counted from the end a second time."""

import numpy as np
from onnx_case import P, bad, finish, h, model, run

x = np.arange(12, dtype="float32").reshape(3, 4)
nodes = {
    "Gather": (h.make_node("Gather", ["x", "i"], ["y"], axis=1), (2,), 4, None),
    "GatherElements": (h.make_node("GatherElements", ["x", "i"], ["y"], axis=1), (3, 4), 4, None),
    "GatherND": (h.make_node("GatherND", ["x", "i"], ["y"]), (2, 1), 3, None),
    "ScatterND": (h.make_node("ScatterND", ["x", "i", "u"], ["y"]), (1, 1), 3, (1, 4)),
    "ScatterElements": (h.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1), (1, 4), 4, (1, 4)),
    "Scatter of opset 10": (h.make_node("Scatter", ["x", "i", "u"], ["y"], axis=1), (1, 4), 4, (1, 4)),
}
for name, (node, shape, n, u) in nodes.items():
    ins = [("x", P.FLOAT, x.shape), ("i", P.INT64, shape)] + ([("u", P.FLOAT, u)] if u else [])
    m = model([node], ins, [("y", P.FLOAT, None)], 10 if "opset 10" in name else 18)
    for v in (-n - 1, -2 * n + 1, -2 * n, -2 * n - 1, -100, n, 2**33, -(2**33)):
        feed = {"x": x, "i": np.full(shape, v)}
        if u:
            feed["u"] = np.full(u, 99, "float32")
        try:
            got = run(m, feed)[0]
            bad.append(f"{name}: index {v} on an axis of {n} was accepted: {got.ravel()[:6].tolist()}")
        except Exception:
            pass

finish()
