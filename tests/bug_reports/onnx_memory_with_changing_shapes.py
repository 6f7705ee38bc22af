"""RapidAI/RapidOCR#187: memory grows for hours while pictures of ever other sizes are read.

A size has a program, of which the cache keeps 4,096 unless told otherwise; 200 are enough to see whether it gives them back.
"""

import os

os.environ["PADDLE_MPS_PROGRAM_CACHE_ENTRIES"] = "200"  # before the library is loaded

import numpy as np
from onnx_case import P, check, finish, h, model

import paddle_mps.onnxruntime as ort

r = np.random.default_rng(0)
w = r.standard_normal((8, 3, 3, 3)).astype("float32")
m = model(
    [
        h.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1, 1, 1]),
        h.make_node("Relu", ["a"], ["b"]),
        h.make_node("Resize", ["b", "", "s"], ["c"], mode="nearest"),
        h.make_node("GlobalAveragePool", ["c"], ["y"]),
    ],
    [("x", P.FLOAT, [1, 3, "h", "w"])],
    [("y", P.FLOAT, None)],
    init=[("w", w), ("s", np.array([1, 1, 2, 2], "float32"))],
)
s = ort.InferenceSession(m, providers=["CPUExecutionProvider"])


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


marks = []
for n in range(1600):
    a, b = 32 + (n * 37) % 211, 32 + (n * 53) % 197
    s.run(None, {"x": np.ones((1, 3, a, b), "float32")})
    if n in (799, 1199, 1599):  # the cache is full after 200
        marks.append(rss())
check(
    f"resident memory grows: {[round(v) for v in marks]} MiB after 800, 1200 and 1600 sizes",
    marks[-1] < marks[0] + 4,  # a program takes 34 KiB: 27 MiB if 800 stayed
)

finish()
