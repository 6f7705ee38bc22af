"""pytorch/pytorch#49724: adding two log-probabilities that are both -inf, the neutral element, gives NaN somewhere."""

import numpy as np
from case import T, finish, same

import paddle_mps as paddle

inf = np.inf
a = np.array([-inf, inf, -inf, inf, 2], "float32")
b = np.array([-inf, inf, 2, 2, -inf], "float32")
same("logaddexp", paddle.logaddexp(T(a), T(b)), np.logaddexp(a, b), 1e-6)
same("logsumexp", paddle.logsumexp(T(np.array([[-inf, -inf], [inf, 2]], "float32")), 1), [-inf, inf])
same(
    "logcumsumexp",
    paddle.logcumsumexp(T(np.array([-inf, -inf, 1, 2], "float32"))),
    [-inf, -inf, 1, np.logaddexp(1, 2)],
    1e-6,
)
r = np.array([[2.0, -inf, -inf, 1, -inf, -inf, 3], [2, 1, -inf, 1, -inf, -inf, 3]], "float32")
same("logcumsumexp of rows", paddle.logcumsumexp(T(r), axis=-1), np.logaddexp.accumulate(r, 1), 1e-6)

finish()
