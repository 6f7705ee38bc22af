"""microsoft/onnxruntime#16105: products of uint8 by int8 saturate at 16 bits on processors without VNNI, so QLinearConv and QGemm are wrong for large values."""

import numpy as np
from onnx_case import P, check, finish, h, model, run, same

r = np.random.default_rng(0)
for K in (1, 2, 3, 4, 17, 64, 255):
    a = np.full((5, K), 255, "uint8")
    a[1] = r.integers(0, 256, K)
    b = np.full((K, 6), 127, "int8")
    b[:, 1] = -128
    b[:, 2] = r.integers(-128, 128, K)
    for za, zb in ((0, 0), (42, -26), (255, 127)):
        want = (a.astype("int64") - za) @ (b.astype("int64") - zb)
        m = model(
            [h.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])],
            [("a", P.UINT8, a.shape), ("b", P.INT8, b.shape)],
            [("y", P.INT32, None)],
            init=[("za", np.uint8(za)), ("zb", np.int8(zb))],
        )
        same(f"MatMulInteger {K} {za} {zb}", run(m, {"a": a, "b": b})[0], want)
        s = np.float32(0.001)
        init = [
            ("za", np.uint8(za)),
            ("zb", np.int8(zb)),
            ("sa", s),
            ("sb", s * 10),
            ("sy", np.float32(0.01)),
            ("zy", np.uint8(100)),
            ("b", b),
        ]
        m = model(
            [h.make_node("QLinearMatMul", ["a", "sa", "za", "b", "sb", "zb", "sy", "zy"], ["y"])],
            [("a", P.UINT8, a.shape)],
            [("y", P.UINT8, None)],
            init=init,
        )
        real = want * (0.001 * 0.01) / 0.01
        got = run(m, {"a": a})[0].astype("int64")
        check(
            f"QLinearMatMul {K} {za} {zb}: {np.abs(got - np.clip(np.rint(real) + 100, 0, 255)).max()}",
            np.abs(got - np.clip(np.rint(real) + 100, 0, 255)).max() <= 1,
        )
left = np.array([[238, 115, 94], [245, 111, 102], [158, 225, 48]], "uint8")
w = r.integers(-128, 128, (8, 16, 3, 3)).astype("int8")
x = r.integers(0, 256, (1, 16, 7, 7)).astype("uint8")
x[0, :, 2] = 255
w[0] = 127
w[1] = -128
want = np.zeros((1, 8, 5, 5), "int64")
for i in range(3):
    for j in range(3):
        want += np.einsum(
            "nchw,oc->nohw", x[:, :, i : i + 5, j : j + 5].astype("int64") - 3, w[:, :, i, j].astype("int64")
        )
m = model(
    [h.make_node("ConvInteger", ["x", "w", "zx"], ["y"])],
    [("x", P.UINT8, x.shape)],
    [("y", P.INT32, None)],
    init=[("w", w), ("zx", np.uint8(3))],
)
same("ConvInteger", run(m, {"x": x})[0], want)

finish()
