"""onnx/onnx-tensorflow#342: a reverse GRU with sequence_lens starts at the end of the padding instead of the end of each sequence."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

r = np.random.default_rng(0)
T_, B, size, H = 7, 3, 4, 5
lens = np.array([7, 4, 1], "int32")


def sig(v):
    return 1 / (1 + np.exp(-v))


def gru(x, W, R, b, h0, lens, back, lbr):
    Y = np.zeros((T_, B, H))
    hl = np.zeros((B, H))
    for n in range(B):
        hh = h0[n]
        order = range(lens[n] - 1, -1, -1) if back else range(lens[n])
        for t in order:
            gx = W @ x[t, n] + b[: 3 * H]
            gr = R @ hh
            z = sig(gx[:H] + gr[:H] + b[3 * H : 4 * H])
            rr = sig(gx[H : 2 * H] + gr[H : 2 * H] + b[4 * H : 5 * H])
            if lbr:
                hn = np.tanh(gx[2 * H :] + rr * (gr[2 * H :] + b[5 * H :]))
            else:
                hn = np.tanh(gx[2 * H :] + R[2 * H :] @ (rr * hh) + b[5 * H :])
            hh = (1 - z) * hn + z * hh
            Y[t, n] = hh
        hl[n] = hh
    return Y, hl


x = r.standard_normal((T_, B, size)).astype("float32")
for direction, D in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
    W, R, b = (r.standard_normal(s).astype("float32") * 0.5 for s in ((D, 3 * H, size), (D, 3 * H, H), (D, 6 * H)))
    h0 = r.standard_normal((D, B, H)).astype("float32")
    for lbr in (0, 1):
        m = model(
            [
                h.make_node(
                    "GRU",
                    ["x", "W", "R", "b", "l", "h0"],
                    ["Y", "Yh"],
                    hidden_size=H,
                    direction=direction,
                    linear_before_reset=lbr,
                )
            ],
            [("x", P.FLOAT, x.shape), ("l", P.INT32, [B]), ("h0", P.FLOAT, h0.shape)],
            [("Y", P.FLOAT, None), ("Yh", P.FLOAT, None)],
            14,
            init=[("W", W), ("R", R), ("b", b)],
        )
        got = run(m, {"x": x, "l": lens, "h0": h0})
        for d in range(D):
            back = direction == "reverse" or d == 1
            Y, hl = gru(x, W[d], R[d], b[d], h0[d], lens, back, lbr)
            same(f"{direction} {d} lbr {lbr} Y", got[0][:, d], Y, 1e-4)
            same(f"{direction} {d} lbr {lbr} Y_h", got[1][d], hl, 1e-4)

finish()
