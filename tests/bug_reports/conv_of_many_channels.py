"""pytorch/pytorch#129207: conv1d and conv2d with more than 65,536 output channels are wrong in the last ones."""

import numpy as np
from case import F, T, finish, same

r = np.random.default_rng(0)
n = 65_539
w = r.standard_normal((n, 1, 3)).astype("float32")
b = r.standard_normal(n).astype("float32")
x = np.ones((1, 1, 3), "float32")
xp = np.pad(x, ((0, 0), (0, 0), (1, 1)))
want = np.stack([(w[:, 0] * xp[0, 0, k : k + 3]).sum(1) for k in range(3)], 1)[None] + b[:, None]
same("conv1d", F.conv1d(T(x), T(w), T(b), padding=1), want, 1e-4)
same("conv2d", F.conv2d(T(x[:, :, None]), T(w[:, :, None]), T(b), padding=[0, 1]), want[:, :, None], 1e-4)
xb = r.standard_normal((n, 1, 1)).astype("float32")
k = T(np.full((1, 1, 1), 2, "float32"))
k.stop_gradient = False
y = F.conv1d(T(xb), k)
same("batch", y, xb * 2, 1e-6)
y.mean().backward()
same("gradient of the weight", k.grad, np.full((1, 1, 1), xb.mean(dtype="float64")), 1e-4)
same(
    "depthwise",
    F.conv1d(T(np.ascontiguousarray(xb.transpose(1, 0, 2))), T(np.full((n, 1, 1), 3, "float32")), groups=n),
    xb.transpose(1, 0, 2) * 3,
    1e-6,
)

finish()
