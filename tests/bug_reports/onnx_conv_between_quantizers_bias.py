"""microsoft/onnxruntime#24711: Conv between quantizers with an int32 bias loses accuracy when the operators are fused."""

import numpy as np
from onnx_case import P, check, finish, h, model, run

r = np.random.default_rng(3)
for Cin, groups in ((3, 1), (8, 1), (16, 1), (16, 16), (16, 4)):
    x = (r.standard_normal((1, Cin, 9, 9)) * 2).astype("float32")
    w = r.integers(-127, 128, (16, Cin // groups, 3, 3)).astype("int8")
    b = r.integers(-2000, 2000, 16).astype("int32")
    sx, sw, sy, zx = np.float32(0.03), (r.random(16) * 0.01 + 0.001).astype("float32"), np.float32(0.05), np.uint8(117)
    init = [
        ("w", w),
        ("b", b),
        ("sx", sx),
        ("zx", zx),
        ("sw", sw),
        ("zw", np.zeros(16, "int8")),
        ("sb", sx * sw),
        ("zb", np.zeros(16, "int32")),
        ("sy", sy),
        ("zy", np.uint8(90)),
    ]
    m = model(
        [
            h.make_node("QuantizeLinear", ["x", "sx", "zx"], ["q"]),
            h.make_node("DequantizeLinear", ["q", "sx", "zx"], ["xd"]),
            h.make_node("DequantizeLinear", ["w", "sw", "zw"], ["wd"], axis=0),
            h.make_node("DequantizeLinear", ["b", "sb", "zb"], ["bd"], axis=0),
            h.make_node("Conv", ["xd", "wd", "bd"], ["c"], pads=[1, 1, 1, 1], group=groups),
            h.make_node("QuantizeLinear", ["c", "sy", "zy"], ["e"]),
            h.make_node("DequantizeLinear", ["e", "sy", "zy"], ["y"]),
        ],
        [("x", P.FLOAT, x.shape)],
        [("y", P.FLOAT, None)],
        17,
        init,
    )
    xd = (np.clip(np.rint(x / sx) + 117, 0, 255) - 117) * np.float64(sx)
    wd = w * sw.astype("float64")[:, None, None, None]
    xp = np.pad(xd, ((0, 0), (0, 0), (1, 1), (1, 1)))
    win = np.lib.stride_tricks.sliding_window_view(xp, (3, 3), (2, 3))
    per = 16 // groups
    c = (
        np.concatenate(
            [
                np.einsum(
                    "nchwij,ocij->nohw",
                    win[:, g * (Cin // groups) : (g + 1) * (Cin // groups)],
                    wd[g * per : (g + 1) * per],
                )
                for g in range(groups)
            ],
            1,
        )
        + (b * (sx * sw).astype("float64"))[:, None, None]
    )
    want = (np.clip(np.rint(c / sy) + 90, 0, 255) - 90) * np.float64(sy)
    got = run(m, {"x": x})[0]
    off = np.abs(got - want)
    check(
        f"{Cin} channels, {groups} groups: {(off > 1e-4).sum()} of {off.size} differ, by at most {off.max() / sy:.2f} quanta",
        (off > 1e-4).mean() < 0.005 and off.max() < 1.01 * sy,
    )

finish()
