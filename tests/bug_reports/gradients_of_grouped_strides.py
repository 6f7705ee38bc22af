"""ml-explore/mlx#3800: the gradient of a convolution for its input is wrong where both groups and strides are above one."""

import numpy as np
from case import F, T, finish, same

r = np.random.default_rng(0)
for ins, outs, g, k, s, p, d in (
    (8, 8, 8, 3, 2, 1, 1),
    (8, 16, 8, 7, 2, 3, 1),
    (6, 9, 3, 3, 2, 1, 1),
    (4, 4, 2, 1, 2, 0, 1),
    (4, 8, 4, 3, 3, 0, 2),
    (8, 8, 1, 3, 2, 1, 1),
):
    x, w = r.standard_normal((2, ins, 11, 10)), r.standard_normal((outs, ins // g, k, k))
    xp = np.pad(x, ((0, 0), (0, 0), (p, p), (p, p)))
    span = (k - 1) * d + 1
    H, W = (xp.shape[2] - span) // s + 1, (xp.shape[3] - span) // s + 1
    cot = r.standard_normal((2, outs, H, W))
    gx, gw, y = np.zeros_like(xp), np.zeros_like(w), np.zeros((2, outs, H, W))
    for G in range(g):
        ci, co = slice(G * ins // g, (G + 1) * ins // g), slice(G * outs // g, (G + 1) * outs // g)
        for i in range(k):
            for j in range(k):
                hs, ws = slice(i * d, i * d + (H - 1) * s + 1, s), slice(j * d, j * d + (W - 1) * s + 1, s)
                y[:, co] += np.einsum("nchw,oc->nohw", xp[:, ci, hs, ws], w[co, :, i, j])
                gx[:, ci, hs, ws] += np.einsum("nohw,oc->nchw", cot[:, co], w[co, :, i, j])
                gw[co, :, i, j] += np.einsum("nohw,nchw->oc", cot[:, co], xp[:, ci, hs, ws])
    gx = gx[:, :, p : gx.shape[2] - p, p : gx.shape[3] - p] if p else gx
    tx, tw = T(x.astype("float32")), T(w.astype("float32"))
    tx.stop_gradient = tw.stop_gradient = False
    out = F.conv2d(tx, tw, stride=s, padding=p, groups=g, dilation=d)
    what = f"ins {ins} outs {outs} groups {g} kernel {k} stride {s} dilation {d}"
    same(what, out, y, 1e-4)
    (out * T(cot.astype("float32"))).sum().backward()
    same(what + ": input", tx.grad, gx, 2e-4)
    same(what + ": weight", tw.grad, gw, 2e-4)

finish()
