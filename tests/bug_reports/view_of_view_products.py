"""pytorch/pytorch#95482: the product of two parts of a part of a tensor aborts with a shape mismatch."""

import numpy as np
from case import T, finish, same

a = np.random.default_rng(0).standard_normal((2, 3, 3)).astype("float32")
x = T(a)[:1]
same("product", x[:, 0:1, 0:1] * x[:, 1:2, 1:2], a[:1, :1, :1] * a[:1, 1:2, 1:2], 1e-6)
same("outer", x[:, :, 0:1] * x[:, 1:2, :], a[:1, :, :1] * a[:1, 1:2, :], 1e-6)
y = T(a)[1:].transpose([2, 1, 0])[1:]
n = a[1:].transpose(2, 1, 0)[1:]
same("sum", y.sum(0), n.sum(0), 1e-6)
same("matmul", y.squeeze(-1) @ y.squeeze(-1).t(), n[..., 0] @ n[..., 0].T, 1e-5)

finish()
