"""The layers of paddle.nn.functional: normalizations, embeddings, attention, dropout and what mixes features.

What is random is asked for what does not depend on the numbers: shapes, dtypes, errors and limits.
"""

from __future__ import annotations

from collections.abc import Iterator

from match import Summed

from .row import NO_KERNEL, Row, defects, lines

SETUP = (
    "r = np.random.RandomState(0)\n"
    "x = T(r.randn(3, 4).astype('float32'))\nl = T(r.randn(2, 4, 3).astype('float32'))\n"
    "i = T(r.randn(2, 4, 3, 2).astype('float32'))\nv = T(r.randn(2, 4, 3, 2, 2).astype('float32'))\n"
    "d = r.randn(2, 4, 3)\nh = l.astype('float16')\n"
    "w = T([0.5, 2.0, 1.0, 3.0])\nb = T([0.1, -0.2, 0.3, 0.0])\nu = T([1.0, 2.0, 0.5])\n"
    "w2 = T(r.randn(12).astype('float32'))\nm = T([0.1, 0.2, -0.3, 0.4])\ns = T([1.0, 0.5, 2.0, 1.5])"
)

# Sums of up to 24 numbers up to 4, and their squares, divided by a deviation not far from 1.
NORM = Summed(32, 16.0)
# Variances near 0 are lost in epsilon; there x less its mean, which cancels to a few units of x, is divided by the root.


def rms_norms() -> Iterator[Row]:
    """Paddle has kernels for its GPUs only; on CPUs the formula is right."""
    for x, shape, axes, weight, epsilon in (
        ("x", "[4]", "-1", "None", 1e-5),
        ("x[::-1]", "[4]", "-1", "w", 1e-5),
        ("x", "[4]", "-1", "w", 0.1),
        ("l", "[4, 3]", "[1, 2]", "w2.reshape([4, 3])", 1e-5),
        ("T(d).T", "[2]", "-1", "None", 1e-5),
    ):
        scale = f"(({x}).square().mean({axes}, True) + {epsilon}).rsqrt()"
        factor = "" if weight == "None" else f" * {weight}"
        ours = f"F.rms_norm({x}, {shape}, {weight}, {epsilon})"
        flat = f"{scale}.flatten()" if axes != "-1" else f"{scale}.squeeze(-1)"
        yield Row("rms_norm", f"tuple({ours})", NORM, NO_KERNEL, f"({x} * {scale}{factor}, {flat})", SETUP)
    yield Row("rms_norm", "F.rms_norm(x, [3])", rule=NO_KERNEL, instead="fail(ValueError)", setup=SETUP)


NORMALIZATIONS = [
    *lines(
        "layer_norm",
        SETUP,
        """
        F.layer_norm(x, 4)
        F.layer_norm(paddle.zeros([0, 4]), 4)
        F.layer_norm(paddle.zeros([2, 0]), 0)
        F.layer_norm(x.T, 3)
        F.layer_norm(x, [4], w, b)
        F.layer_norm(x[::-1], (4,), w)
        F.layer_norm(x[::-1], [4], None, b, 1e-3)
        F.layer_norm(x, [4], None, b, 0.1)
        F.layer_norm(l, [4, 3])
        F.layer_norm(l, [4, 3], w2, w2[::-1])
        F.layer_norm(l.transpose([0, 2, 1]), [3, 4])
        F.layer_norm(i, [3, 2])
        F.layer_norm(T(d), 3, epsilon=0.0)
        F.layer_norm(T(d).T, [4, 2], epsilon=2.0**-12)
        F.layer_norm(input=x, normalized_shape=4, eps=0.0005)
        F.layer_norm(T([[1.0, nan, 2.0], [1.0, 2.0, 4.0]]), 3)
        F.layer_norm(T([[1.0, inf, 2.0], [3.0, 2.0, 4.0]]), 3)
        paddle.layer_norm(x, 4, w, b)
        F.layer_norm(x, 3)
        F.layer_norm(x, [2, 3, 4])
        F.layer_norm(x, 4.0)
        F.layer_norm(x, [4], u)
        """,
        NORM,
    ),
    *lines(
        "batch_norm",
        SETUP,
        """
        F.batch_norm(x, m, s)
        F.batch_norm(x[::-1], m, s, w, b)
        F.batch_norm(l, m, s, w, b)
        F.batch_norm(i, m, s, w, b, epsilon=0.1)
        F.batch_norm(v, m, s, w, b)
        F.batch_norm(l.transpose([0, 2, 1]), m, s, w, b, data_format='NLC')
        F.batch_norm(i.transpose([0, 2, 3, 1]), m, s, w, b, data_format='NHWC')
        F.batch_norm(v.transpose([0, 2, 3, 4, 1]), m, s, data_format='NDHWC')
        F.batch_norm(x, m, s, data_format='NC')
        F.batch_norm(l[::-1], m, s, w, b, training=True)
        F.batch_norm(i, m, s, w, b, True)
        F.batch_norm(v, m, s, w, b, True)
        F.batch_norm(i.transpose([0, 2, 3, 1]), m, s, w, b, True, data_format='NHWC')
        F.batch_norm(x, m, s, None, None, True)
        F.batch_norm(l, m, s, training=True) ;; [m, s]
        F.batch_norm(i, m, s, w, b, True, 0.5) ;; [m, s]
        F.batch_norm(i.transpose([0, 2, 3, 1]), m, s, w, b, True, 0.0, data_format='NHWC') ;; [m, s]
        n = m.reshape([4]) ;; F.batch_norm(l, m, s, training=True) ;; n
        F.batch_norm(l, m, s, w, b, True, use_global_stats=True)
        F.batch_norm(l, m, s, w, b, True, use_global_stats=True) ;; [m, s]
        F.batch_norm(l, m, s, w, b, False, use_global_stats=False)
        F.batch_norm(l, m, s, w, b, False, use_global_stats=False) ;; [m, s]
        F.batch_norm(l, m, s, w, b, True, use_global_stats=False)
        F.batch_norm(l, m, s, w, b, False) ;; [m, s]
        F.batch_norm(T(d), m.astype('float64'), s.astype('float64'), training=True, epsilon=0.25)
        F.batch_norm(w, m, s)
        F.batch_norm(v.unsqueeze(-1), m, s)
        F.batch_norm(paddle.zeros([0, 4]), m, s, training=True)
        F.batch_norm(l, m, s, data_format='FOO')
        F.batch_norm(l, u, s)
        """,
        NORM,
    ),
    *lines(
        "instance_norm",
        SETUP,
        """
        F.instance_norm(l)
        F.instance_norm(x[::-1])
        F.instance_norm(paddle.zeros([2, 3, 0]))
        F.instance_norm(l[::-1], weight=w, bias=b)
        F.instance_norm(i, weight=w, bias=b, eps=0.1)
        F.instance_norm(v.transpose([0, 1, 3, 2, 4]), weight=w, bias=b)
        F.instance_norm(i, m, s, w, b, False)
        F.instance_norm(i, m, s, w, b) ;; [m, s]
        F.instance_norm(T(d), eps=0.25)
        F.instance_norm(l, weight=u, bias=u)
        """,
        NORM,
    ),
    *lines(
        "group_norm",
        SETUP,
        """
        F.group_norm(l, 2)
        F.group_norm(paddle.zeros([0, 4, 2]), 2)
        F.group_norm(i[::-1], 2, weight=w, bias=b)
        F.group_norm(i, 4, 0.1)
        F.group_norm(i, 1, w, b)
        F.group_norm(i, 2, w, b, 0.1)
        F.group_norm(input=i, num_groups=2, eps=0.3)
        F.group_norm(v, 2, 1e-5, w, b)
        F.group_norm(i.transpose([0, 2, 3, 1]), 2, 1e-5, w, b, 'NHWC')
        F.group_norm(l.transpose([0, 2, 1]), 4, weight=w, data_format='NLC')
        F.group_norm(T(d), 2)
        F.group_norm(T(d)[::-1], 4, 1e-3)
        F.group_norm(x, 2)
        paddle.group_norm(l, 2, w, b)
        F.group_norm(l, 3)
        F.group_norm(l, 0)
        F.group_norm(l, 2, weight=u)
        F.group_norm(l, 2, data_format='FOO')
        F.group_norm(l)
        F.group_norm(l, 2, 0.1, epsilon=0.1)
        F.group_norm(l, 2, w, weight=w)
        """,
        NORM,
    ),
    *lines(
        "local_response_norm",
        SETUP,
        """
        F.local_response_norm(l, 3)
        F.local_response_norm(i[::-1], 2, 0.5, 0.5, 2.0)
        F.local_response_norm(v, 5, 1.0)
        F.local_response_norm(i, 1, 1.0)
        F.local_response_norm(l.transpose([0, 2, 1]), 3, 0.5, data_format='NLC')
        F.local_response_norm(i.transpose([0, 2, 3, 1]), 4, 0.5, data_format='NHWC')
        F.local_response_norm(v.transpose([0, 2, 3, 4, 1]), 3, 0.5, data_format='NDHWC')
        F.local_response_norm(T(d), 3, 0.5)
        F.local_response_norm(x, 3)
        F.local_response_norm(l, 3, data_format='FOO')
        """,
        NORM,
    ),
    *rms_norms(),
    *defects(
        "layer_norm",
        "float32 factor",
        SETUP,
        """
        F.layer_norm(T(d), 3)  =>  (T(d) - T(d).mean(-1, True)) / (T(d).var(-1, False, True) + 1e-5).sqrt()
        F.instance_norm(T(d)[::-1], eps=1e-3)  =>  (T(d) - T(d).mean(-1, True))[::-1] / (T(d).var(-1, False, True) + 1e-3).sqrt()[::-1]
        """,
        NORM,
    ),
    *defects("layer_norm", "unchecked argument", SETUP, "F.batch_norm(l, m, s, u)  =>  ValueError"),
    Row(
        "layer_norm",
        "F.layer_norm(h, 3)",
        NORM,
        NO_KERNEL,
        "F.layer_norm(h.astype('float32'), 3).astype('float16')",
        SETUP,
    ),
]

TABLES = (
    "r = np.random.RandomState(0)\nx = T([[1, 3, 1], [0, 2, 3]])\ny = x.T\n"
    "w = T(r.randn(4, 5).astype('float32'))\nd = r.randn(4, 5)\nh = w.astype('float16')"
)

EMBEDDINGS = [
    *lines(
        "embedding",
        TABLES,
        """
        F.embedding(x, w)
        F.embedding(y, w)
        F.embedding(x.astype('int32'), w)
        F.embedding(T(2), w)
        F.embedding(T([], 'int64'), w)
        F.embedding(x, w[::-1])
        F.embedding(x, T(d))
        F.embedding(x, h)
        F.embedding(input=x, weight=w)
        F.embedding(x, w, padding_idx=3)
        F.embedding(y, w, padding_idx=-1)
        F.embedding(x, w, padding_idx=0)
        F.embedding(x, w, sparse=True)
        F.embedding(x, w, scale_grad_by_freq=True)
        F.embedding(x, w, padding_idx=4)
        F.embedding(x, w, sparse=True, scale_grad_by_freq=True)
        F.embedding(T([4]), w)
        F.embedding(T([1.0]), w)
        F.embedding(T([1], 'int8'), w)
        F.embedding(x, w[0])
        F.embedding(T([-2]), w)
        """,
    ),
    *lines(
        "embedding",
        TABLES,
        """
        F.embedding(x, w, max_norm=1.0)
        F.embedding(x, w, max_norm=1.0) ;; w
        F.embedding(T([1, 1]), w, max_norm=0.5, norm_type=1.0) ;; w
        F.embedding(y, w, max_norm=100.0) ;; w
        F.embedding(T([[1, 2], [0, 2]]).T, w, 2, 2.0)
        """,
        NORM,
    ),
]

INTEGERS = [
    Row("layer_norm", source, rule=NO_KERNEL, instead="fail(RuntimeError)")
    for source in (
        "F.layer_norm(T([[1, 2]]), 2)",
        "F.embedding(T([0]), T([[1], [2]]))",
        "F.dropout(T([1, 2]), 0.5)",
        "F.dropout(T([1, 2]), 0.5, training=False)",
        "F.gumbel_softmax(T([[1, 2]]))",
    )
]

UNCHECKED = [
    *defects(
        "embedding",
        "unchecked argument",
        TABLES,
        """
        F.embedding(x, w, padding_idx=-5)  =>  ValueError
        F.embedding(x, w, padding_idx=-6)  =>  ValueError
        F.embedding(T([-1]), w)  =>  IndexError
        """,
    ),
]

HEADS = (
    "r = np.random.RandomState(0)\n"
    "q = T(r.randn(2, 5, 4, 3).astype('float32'))\nk = T(r.randn(2, 6, 4, 3).astype('float32'))\n"
    "v = T(r.randn(2, 6, 4, 3).astype('float32'))\nk2 = k[:, :, ::2]\nv2 = v[:, :, 1::2]\n"
    "a = T(r.randn(2, 4, 5, 6).astype('float32'))\nb = a > -0.5\n"
    "d = r.randn(1, 3, 2, 2)"
)
# A score is a sum of 3 products up to 9, and its error is that of a weight; then 6 products are added.
ATTENTION = Summed(32, 32.0)

ATTENTIONS = [
    *lines(
        "scaled_dot_product_attention",
        HEADS,
        """
        F.scaled_dot_product_attention(q, k, v)
        F.scaled_dot_product_attention(q, k, v, paddle.zeros([5, 6], 'bool'))
        F.scaled_dot_product_attention(q[::-1], k, v)
        F.scaled_dot_product_attention(q, k, v, a)
        F.scaled_dot_product_attention(q, k, v, a[:, :1])
        F.scaled_dot_product_attention(q, k, v, a[:1])
        F.scaled_dot_product_attention(q, k, v, b)
        F.scaled_dot_product_attention(q, k, v, b[0, 0])
        F.scaled_dot_product_attention(q, k, v, is_causal=True)
        F.scaled_dot_product_attention(q, q, q, is_causal=True)
        F.scaled_dot_product_attention(k, q, q, is_causal=True)
        F.scaled_dot_product_attention(q, k, v, a, is_causal=True)
        F.scaled_dot_product_attention(q, k, v, scale=0.7)
        F.scaled_dot_product_attention(q, k2, v2)
        F.scaled_dot_product_attention(q, k2, v2, a)
        F.scaled_dot_product_attention(q, k[:, :, :1], v[:, :, :1], is_causal=True)
        F.scaled_dot_product_attention(q, k2, v2, enable_gqa=False)
        F.scaled_dot_product_attention(q[0], k[0], v[0])
        F.scaled_dot_product_attention(q[0], k[1], v[1], a[:1])
        F.scaled_dot_product_attention(T(d), T(d), T(d))
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.5, training=False)
        F.scaled_dot_product_attention(q, k, v[..., :2])
        F.scaled_dot_product_attention(q, k[:, :, :3], v[:, :, :3])
        F.scaled_dot_product_attention(q, k, v2)
        F.scaled_dot_product_attention(q, k, v, dropout_p=0.5).shape
        """,
        ATTENTION,
    ),
]

LARGE = [
    *defects(
        "scaled_dot_product_attention",
        "finite mask",
        HEADS,
        """
        F.scaled_dot_product_attention(q * 300, k * 300, v, is_causal=True)  =>  F.scaled_dot_product_attention(q * 300, k * 300, v, paddle.ones([5, 6], 'bool').tril())
        """,
        ATTENTION,
    ),
]

RANDOM = (
    "r = np.random.RandomState(0)\nx = T(r.randn(3, 4).astype('float32'))\n"
    "i = T(r.randn(2, 4, 3, 2).astype('float32'))\nv = paddle.ones([2, 4, 3, 2, 2])\nl = T([1, 2])\n"
    "o = paddle.ones([40, 50])"
)

DROPOUTS = [
    *lines(
        "dropout",
        RANDOM,
        """
        F.dropout(x, 0)
        F.dropout(x, T(0.0))
        F.dropout(x, T([1.0]))
        F.dropout(paddle.zeros([2, 0]), 0.5)
        F.dropout(x, 0.5, axis=[])
        F.dropout(x.T, 0.3, training=False)
        F.dropout(x[::-1], 0.3, training=False, mode='downscale_in_infer')
        F.dropout(x[::-1], 0.3, 0, training=False, mode='downscale_in_infer')
        F.dropout(x, 1.0)
        F.dropout(x, 1)
        F.dropout(x.T, 1.0, axis=0)
        F.dropout(x, 0.0) is x
        F.dropout(x, 0.5, training=False) is x
        F.dropout(x.T, 0.5).shape
        paddle.unique(F.dropout(o, 0.5))
        paddle.unique(F.dropout(o.T, 0.75))
        paddle.unique(F.dropout(o[::-1], 0.5, mode='downscale_in_infer'))
        paddle.unique(F.dropout(o, 0.5, axis=0).sum(1))
        paddle.unique(F.dropout(o, 0.5, axis=[1], mode='downscale_in_infer').sum(0))
        paddle.unique(F.dropout(o, 0.5, axis=[0, 1]))
        F.dropout(input=x, p=0.5).dtype
        y = x + 0 ;; F.dropout(y, 0.5, inplace=True) is y
        F.dropout(x, -0.1)
        F.dropout(x, 1.1)
        F.dropout(x, 'a')
        F.dropout(x, 0.5, mode='foo')
        F.dropout(x, 0.5, axis=2)
        F.dropout(x, 0.5, axis=-1)
        F.dropout(x, 0.5, axis=1.5)
        F.dropout(x, 0.5, axis=[0, 1, 1])
        F.dropout(x, 0.5, axis=0, inplace=True)
        F.dropout1d(x, 0.5).shape
        F.dropout1d(o, 0.5, training=False).sum()
        paddle.unique(F.dropout1d(paddle.ones([2, 99, 3]), 0.5).sum([0, 2]))
        F.dropout1d(i, 0.5)
        F.dropout1d(x, 1.5)
        paddle.unique(F.dropout2d(paddle.ones([9, 9, 2, 3]), 0.5).sum([2, 3]))
        paddle.unique(F.dropout2d(paddle.ones([9, 2, 3, 9]), 0.5, data_format='NHWC').sum([1, 2]))
        F.dropout2d(i[::-1], 0.5, training=False)
        F.dropout2d(x, 0.5)
        F.dropout2d(i, 0.5, data_format='FOO')
        paddle.unique(F.dropout3d(paddle.ones([9, 9, 2, 3, 1]), 0.5).sum([2, 3, 4]))
        F.dropout3d(v.transpose([0, 2, 3, 4, 1]), 0.5, False, 'NDHWC').shape
        F.dropout3d(i, 0.5)
        F.dropout3d(v, 0.5, data_format='NCHW')
        F.alpha_dropout(x, 0.5, training=False)
        F.alpha_dropout(x.T, 1)
        F.alpha_dropout(x, 0.0)
        F.alpha_dropout(x, 0.5, False) is x
        F.alpha_dropout(x, -1)
        F.alpha_dropout(x, 'a')
        F.feature_alpha_dropout(i, 1)
        F.feature_alpha_dropout(i, 0.5).shape
        F.feature_alpha_dropout(x[0], 0.5)
        F.feature_alpha_dropout(x, 2)
        """,
        NORM,
    ),
    *lines(
        "alpha_dropout",
        RANDOM,
        """
        paddle.unique(F.alpha_dropout(o, 0.5))
        paddle.unique(F.alpha_dropout(o.T, 0.2))
        paddle.unique(F.feature_alpha_dropout(paddle.ones([9, 9, 2, 3]), 0.5).sum([2, 3]))
        """,
        NORM,
    ),
    *lines(
        "gumbel_softmax",
        RANDOM,
        """
        F.gumbel_softmax(x).shape
        F.gumbel_softmax(x.T, axis=0).dtype
        F.gumbel_softmax(x, hard=True).sum(-1)
        F.gumbel_softmax(i[::-1], hard=True, axis=1).sum(1)
        paddle.unique(F.gumbel_softmax(i, 0.5, True))
        F.gumbel_softmax(x, axis=2)
        F.gumbel_softmax(x, -1.0)
        """,
    ),
]

MIXTURES = (
    "r = np.random.RandomState(0)\nx = T(r.randn(3, 4).astype('float32'))\ny = T(r.randn(3, 2).astype('float32'))\n"
    "w = T(r.randn(5, 4, 2).astype('float32'))\nb = T(r.randn(1, 5).astype('float32'))\n"
    "t = paddle.arange(96.0).reshape([6, 4, 2, 2])\nd = r.randn(3, 4)"
)

MIXING = [
    *lines(
        "bilinear",
        MIXTURES,
        """
        F.bilinear(x, y, w)
        F.bilinear(x[::-1], y, w, b)
        F.bilinear(x, y[::-1], w[:1], b[:, :1])
        F.bilinear(T(d), y.astype('float64'), w.astype('float64'))
        F.bilinear(x, x, w)
        F.bilinear(x, y, w, b[0])
        F.bilinear(x, y[:2], w)
        """,
        NORM,
    ),
    *lines(
        "temporal_shift",
        MIXTURES,
        """
        F.temporal_shift(t, 2)
        F.temporal_shift(t[:0], 2)
        F.temporal_shift(t[::-1], 3, 0.3)
        F.temporal_shift(t.transpose([0, 2, 3, 1]), 2, data_format='NHWC')
        F.temporal_shift(t, 1)
        F.temporal_shift(t, 6, 0.1)
        F.temporal_shift(t.astype('float64').transpose([0, 1, 3, 2]), 3)
        F.temporal_shift(t, 4)
        F.temporal_shift(t, 2, 0.6)
        F.temporal_shift(x, 3)
        F.temporal_shift(t, 2, data_format='FOO')
        F.linear(x[::-1], w[0].astype('float32'))
        F.linear(x, w[1], b[0, :2])
        """,
        NORM,
    ),
]

ROWS: list[Row] = [*NORMALIZATIONS, *EMBEDDINGS, *INTEGERS, *UNCHECKED, *ATTENTIONS, *LARGE, *DROPOUTS, *MIXING]
