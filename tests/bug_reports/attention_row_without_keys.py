"""pytorch/pytorch#156707: a query whose mask allows no key gets nan in attention instead of zeros as in the other backends."""

import numpy as np
from case import F, T, check, finish, same

r = np.random.default_rng(0)
q, k, v = (r.standard_normal((1, 2, 1, 4)).astype("float32") for _ in range(3))
mask = np.array([[[[False, False], [True, True]]]])
out = F.scaled_dot_product_attention(T(q), T(k), T(v), attn_mask=T(mask)).numpy()
s = (q[0, :, 0] @ k[0, :, 0].T) / 2
p = np.exp(s - s.max(1, keepdims=True))
p /= p.sum(1, keepdims=True)
same("the other row", out[0, 1, 0], (p @ v[0, :, 0])[1], 1e-5)
check(f"the row without keys: {out[0, 0, 0].tolist()}", np.isfinite(out[0, 0, 0]).all() or np.isnan(out[0, 0, 0]).all())
add = np.where(mask, 0, -np.inf).astype("float32")
same("bool and additive masks agree", F.scaled_dot_product_attention(T(q), T(k), T(v), attn_mask=T(add)), out, 1e-6)
low = np.where(mask, 0, np.finfo("float32").min).astype("float32")
got = F.scaled_dot_product_attention(T(q), T(k), T(v), attn_mask=T(low)).numpy()
check("lowest finite mask gives nan", np.isfinite(got).all())

finish()
