"""snipsco/ntm-lasagne#5: the gradient of the binary cross entropy is NaN where a prediction is exactly 0 or 1, so one confident sample destroys all weights."""

import numpy as np
from case import F, T, check, finish


def grad(f, v):
    x = T(np.array(v, "float32"))
    x.stop_gradient = False
    y = f(x)
    y.backward()
    return float(y), x.grad.numpy()


def lab(*v):
    return T(np.array(v, "float32"))


for what, f, v in (
    ("predictions equal to the labels", lambda x: F.binary_cross_entropy(x, lab(0, 1)), [0, 1]),
    (
        "a sigmoid that saturates on the right side",
        lambda x: F.binary_cross_entropy(F.sigmoid(x), lab(0, 1)),
        [-200, 200],
    ),
    (
        "a sigmoid that saturates on the wrong side",
        lambda x: F.binary_cross_entropy(F.sigmoid(x), lab(1, 0)),
        [-200, 200],
    ),
    ("with weights", lambda x: F.binary_cross_entropy(x, lab(0, 1), weight=lab(2, 3)), [0, 1]),
    ("one of many", lambda x: F.binary_cross_entropy(x, lab(0, 1, 1, 0)), [0, 0.5, 0.25, 0.75]),
):
    loss, g = grad(f, v)
    check(f"{what}: loss {loss}, gradient {g.tolist()}", np.isfinite(loss) and np.isfinite(g).all())
loss, g = grad(lambda x: F.binary_cross_entropy(x, lab(0, 1, 1, 0)), [0, 0.5, 0.25, 0.75])
check(f"the other samples: {g.tolist()}", np.allclose(g[1:], [-0.5, -1, 1], rtol=1e-4))
w = T(np.array([[60.0], [60.0]], "float32"))
w.stop_gradient = False
F.binary_cross_entropy(
    F.sigmoid(T(np.array([[3.0, 3.0], [0.01, -0.02]], "float32")) @ w), T(np.array([[1.0], [0.0]], "float32"))
).backward()
check(f"weights of a classifier with one confident sample: {w.grad.tolist()}", np.isfinite(w.grad.numpy()).all())
for what, f, v in (
    ("with logits", lambda x: F.binary_cross_entropy_with_logits(x, lab(0, 1)), [-200, 200]),
    ("focal", lambda x: F.sigmoid_focal_loss(x, lab(0, 1)), [-200, 200]),
    ("soft labels of 0", lambda x: F.kl_div(x, lab(0, 1), reduction="sum"), [-3, -1]),
):
    loss, g = grad(f, v)
    check(f"{what}: {g.tolist()}", np.isfinite(g).all())

finish()
