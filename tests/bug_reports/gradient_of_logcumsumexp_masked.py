"""pytorch/pytorch#31829: gradients of sums of log-probabilities are NaN where masked places are -inf."""

import numpy as np
from case import F, T, check, finish

import paddle_mps as paddle

inf = np.inf
x = T(np.array([-inf, 1, 2], "float32"))
x.stop_gradient = False
paddle.logcumsumexp(x).sum().backward()
p = np.exp(2 - np.logaddexp(1, 2))
check(
    f"logcumsumexp after a masked place: {x.grad.tolist()}", np.allclose(x.grad.numpy(), [0, 1 + 1 - p, p], atol=1e-5)
)
x = T(np.array([1, -inf, 2], "float32"))
x.stop_gradient = False
paddle.logcumsumexp(x).sum().backward()
check(
    f"logcumsumexp around a masked place: {x.grad.tolist()}", np.allclose(x.grad.numpy(), [2 + 1 - p, 0, p], atol=1e-5)
)
x = T(np.array([[-inf, 1.0], [2, 3]], "float32"))
x.stop_gradient = False
paddle.logsumexp(x, 1).sum().backward()
check(f"logsumexp: {x.grad.tolist()}", np.isfinite(x.grad.numpy()).all())
x = T(np.array([[-inf, 1.0, 2]], "float32"))
x.stop_gradient = False
F.softmax(x, -1)[0, 2].backward()
check(f"softmax: {x.grad.tolist()}", np.isfinite(x.grad.numpy()).all())
x = T(np.array([[-inf, 1.0, 2]], "float32"))
x.stop_gradient = False
F.cross_entropy(x, T(np.array([1]))).backward()
check(f"cross_entropy: {x.grad.tolist()}", np.isfinite(x.grad.numpy()).all())
x = T(np.array([-200.0, -inf, 3], "float32"))
x.stop_gradient = False
F.log_sigmoid(x)[:1].sum().backward()
check(f"log_sigmoid: {x.grad.tolist()}", np.isfinite(x.grad.numpy()[0]))

finish()
