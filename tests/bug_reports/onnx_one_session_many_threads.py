"""microsoft/onnxruntime#13571: one session that several threads run at once gives wrong results in some of them."""

import threading

import numpy as np
from onnx_case import P, check, finish, h, model

import paddle_mps.onnxruntime as ort

r = np.random.default_rng(0)
w1, w2 = r.standard_normal((16, 3, 3, 3)).astype("float32"), r.standard_normal((16 * 36, 5)).astype("float32")
m = model(
    [
        h.make_node("Conv", ["x", "w1"], ["a"]),
        h.make_node("Relu", ["a"], ["b"]),
        h.make_node("Flatten", ["b"], ["c"]),
        h.make_node("MatMul", ["c", "w2"], ["d"]),
        h.make_node("Softmax", ["d"], ["y"]),
    ],
    [("x", P.FLOAT, ["n", 3, 8, 8])],
    [("y", P.FLOAT, None)],
    init=[("w1", w1), ("w2", w2 * 0.01)],
)
s = ort.InferenceSession(m, providers=["CPUExecutionProvider"])
xs = [r.standard_normal((1 + k % 4, 3, 8, 8)).astype("float32") for k in range(8)]
want = [s.run(None, {"x": x})[0].copy() for x in xs]
wrong = []


def work(k):
    kept = []
    for n in range(60):
        j = (k + n) % 8
        y = s.run(None, {"x": xs[j]})[0]
        kept.append((j, y))
        if not np.array_equal(y, want[j]):
            wrong.append((k, n))
    for j, y in kept:
        if not np.array_equal(y, want[j]):
            wrong.append((k, "changed later"))


ts = [threading.Thread(target=work, args=(k,)) for k in range(8)]
[t.start() for t in ts]
[t.join() for t in ts]
check(f"{len(wrong)} wrong results, such as {wrong[:2]}", not wrong)

finish()
