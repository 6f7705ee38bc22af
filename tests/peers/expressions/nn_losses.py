"""The losses of paddle.nn.functional."""

from __future__ import annotations

from match import Summed

from .row import NO_KERNEL, Row, defects, lines

SETUP = (
    "r = np.random.RandomState(0)\n"
    "x = T(r.randn(3, 4).astype('float32'))\ny = T(r.randn(3, 4).astype('float32'))\n"
    "z = T(r.randn(3, 4).astype('float32'))\n"
    "p = T(r.rand(3, 4).astype('float32'))\nq = T(r.rand(3, 4).astype('float32'))\n"
    "s = T(np.sign(r.randn(3, 4)).astype('float32'))\nw = T([0.5, 2.0, 1.0, 3.0])\nl = T([1, 3, 0])\n"
    "d = r.randn(3, 4)\ne = r.rand(3, 4)\nh = x.astype('float16')\n"
    "c = T(r.randn(2, 4, 3).astype('float32'))\nk = T([[1, 3, 0], [2, 2, 1]])\n"
    "i = T(r.randn(2, 3, 2, 2).astype('float32'))\nj = T(r.randint(0, 3, [2, 2, 2]))\n"
    "o = T([[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 0, 1]], 'float32')\n"
    "a = T(r.randn(2, 5, 3, 2).astype('float32'))\nv = T([1.0, -1.0, 1.0])\nb = T([[1], [3], [0]])"
)

# At most 16 terms, each up to 16 with the functions before it, each of which is within 3 ulps here and 7 in Paddle:
# as 16 roundings more of one term, which the bound of (n - 1) roundings of all terms covers.
LOSS = Summed(16, 16.0)
# Half precision: Paddle rounds intermediate results to 16 bits or not, by function; one rounding of the result is ours.

REGRESSION = [
    *lines(
        "mse_loss",
        SETUP,
        """
        F.mse_loss(x, y)
        F.mse_loss(x[::-1], y, 'sum')
        F.mse_loss(x.T, y.T, reduction='none')
        F.mse_loss(x, y[0])
        F.mse_loss(T(d), T(e))
        F.mse_loss(x, T(d))
        F.mse_loss(x, y, 'foo')
        F.mse_loss(x, y[:, :3])
        F.mse_loss(paddle.zeros([0]), paddle.zeros([0]))
        F.mse_loss(paddle.zeros([0]), paddle.zeros([0]), 'sum')
        F.mse_loss(T(2.0), T(1.0))
        F.mse_loss(1.0, x)
        F.square_error_cost(x[::-1], y)
        F.square_error_cost(T(d).T, T(e).T)
        F.square_error_cost(x, y[:, :3])
        F.l1_loss(x, y)
        F.l1_loss(x.T, y.T, 'none')
        F.l1_loss(x[::-1], y, 'sum')
        F.l1_loss(T(d), T(e))
        F.l1_loss(x, y[::-1][0])
        F.l1_loss(x, y, 'foo')
        F.l1_loss(T([1, 5]), T([4, 3]), 'none')
        F.l1_loss(T([1, 5]), T([4, 3]), 'sum')
        F.l1_loss(T([nan, 1.0]), T([1.0, inf]), 'none')
        """,
        LOSS,
    ),
    *lines(
        "smooth_l1_loss",
        SETUP,
        """
        F.smooth_l1_loss(x, y)
        F.smooth_l1_loss(x.T, y.T, 'none')
        F.smooth_l1_loss(x[::-1], y, 'sum', 0.5)
        F.smooth_l1_loss(x[::-1], y, 'none', 2.0, is_huber=False)
        F.smooth_l1_loss(x, y, is_huber=False, delta=0.3)
        F.smooth_l1_loss(T(d), T(e))
        F.smooth_l1_loss(x, y, 'foo')
        F.smooth_l1_loss(x, y[:, :3])
        F.smooth_l1_loss(T([1.0, nan, inf]), T([1.0, 1.0, 1.0]), 'none')
        F.smooth_l1_loss(T([1.0, 0.0]), T([0.0, 0.0]), 'none', 1.0)
        """,
        LOSS,
    ),
    *lines(
        "log_loss",
        SETUP,
        """
        F.log_loss(p.reshape([12, 1]), q.reshape([12, 1]))
        F.log_loss(p.T.reshape([12, 1]), q.reshape([12, 1]), 1e-2)
        F.log_loss(p[:, :1], o[:, :1])
        F.log_loss(p, q)
        F.log_loss(p[:, :1], o[:2, :1])
        """,
        LOSS,
    ),
    *lines(
        "kl_div",
        SETUP,
        """
        F.kl_div(x, p)
        F.kl_div(x.T, p.T, 'none')
        F.kl_div(x[::-1], p, 'sum')
        F.kl_div(x, p[::-1], 'batchmean')
        F.kl_div(x, y, log_target=True)
        F.kl_div(x[::-1], y, 'none', log_target=True)
        F.kl_div(x, o, 'none')
        F.kl_div(x, y, 'none')
        F.kl_div(T(d), T(e))
        F.kl_div(x, T(e))
        F.kl_div(T(d), p)
        F.kl_div(x, p, 'foo')
        F.kl_div(T(1.0), T(0.5), 'batchmean')
        F.kl_div(x, p[:, :3])
        """,
        LOSS,
    ),
    *lines(
        "poisson_nll_loss",
        SETUP,
        """
        F.poisson_nll_loss(x, p)
        F.poisson_nll_loss(x.T, p.T, reduction='none')
        F.poisson_nll_loss(p[::-1], q, log_input=False, reduction='sum')
        F.poisson_nll_loss(x, p * 5, full=True, reduction='none')
        F.poisson_nll_loss(x[::-1], p * 5, full=True)
        F.poisson_nll_loss(p, q * 3, False, True, 1e-3, 'none')
        F.poisson_nll_loss(T(d), T(e))
        F.poisson_nll_loss(x, p, epsilon=0)
        F.poisson_nll_loss(x, p[:, :3])
        F.poisson_nll_loss(x, p, reduction='foo')
        F.poisson_nll_loss(x, l)
        """,
        LOSS,
    ),
    *lines(
        "gaussian_nll_loss",
        SETUP,
        """
        F.gaussian_nll_loss(x, y, p + 0.1)
        F.gaussian_nll_loss(x.T, y.T, p.T + 0.1, reduction='none')
        F.gaussian_nll_loss(x[::-1], y, p + 0.1, full=True, reduction='sum')
        F.gaussian_nll_loss(x, y, p[:, 0] + 0.1)
        F.gaussian_nll_loss(x, y, p[:, :1] + 0.1, epsilon=0.5, reduction='none')
        F.gaussian_nll_loss(T(d), T(e), T(e) + 0.1)
        F.gaussian_nll_loss(x, y, p[:2])
        F.gaussian_nll_loss(x, y, -p)
        F.gaussian_nll_loss(x, y, p, reduction='foo')
        F.gaussian_nll_loss(l, l, l)
        """,
        LOSS,
    ),
    *lines(
        "margin_ranking_loss",
        SETUP,
        """
        F.margin_ranking_loss(x, y, s)
        F.margin_ranking_loss(x.T, y.T, s.T, 0.5, 'none')
        F.margin_ranking_loss(x[::-1], y, s, -0.5, 'sum')
        F.margin_ranking_loss(T(d), T(e), T(d)[::-1])
        F.margin_ranking_loss(x, y, s[0])
        F.margin_ranking_loss(x, y, s, reduction='foo')
        F.hinge_embedding_loss(x, s)
        F.hinge_embedding_loss(x.T, s.T, 2.0, 'none')
        F.hinge_embedding_loss(x[::-1], s, 0.5, 'sum')
        F.hinge_embedding_loss(x, y, reduction='none')
        F.hinge_embedding_loss(x, s.astype('int64')[::-1])
        F.hinge_embedding_loss(T(d), T(e))
        F.hinge_embedding_loss(x, s, reduction='foo')
        F.soft_margin_loss(x, s)
        F.soft_margin_loss(x.T, s.T, 'none')
        F.soft_margin_loss(x[::-1], s, 'sum')
        F.soft_margin_loss(x, s.astype('int32'))
        F.soft_margin_loss(T(d), s)
        F.soft_margin_loss(x, s[0])
        F.soft_margin_loss(x, s, 'foo')
        """,
        LOSS,
    ),
]

CLASSES = [
    *lines(
        "cross_entropy",
        SETUP,
        """
        F.cross_entropy(x, l)
        F.cross_entropy(x[::-1], l, reduction='none')
        F.cross_entropy(x.T[:3], T([0, 2, 1]), reduction='sum')
        F.cross_entropy(x, b)
        F.cross_entropy(x[::-1], b, reduction='none')
        F.cross_entropy(x, b, w, reduction='none')
        F.cross_entropy(x, l, w)
        F.cross_entropy(x[::-1], l, w, reduction='none')
        F.cross_entropy(x, l, w, reduction='sum')
        F.cross_entropy(x, l, ignore_index=3)
        F.cross_entropy(x, l, ignore_index=3, reduction='none')
        F.cross_entropy(x, l, w, ignore_index=3)
        F.cross_entropy(x, l, w, ignore_index=0, reduction='sum')
        F.cross_entropy(x, T([1, -100, 0]))
        F.cross_entropy(x, T([1, -100, 0]), w)
        F.cross_entropy(x, T([1, -100, 0]), reduction='none')
        F.cross_entropy(x, T([2, 2, 2]), ignore_index=2)
        F.cross_entropy(x, T([2, 2, 2]), w, ignore_index=2)
        F.cross_entropy(x, T([1, -7, 0]), ignore_index=-7, reduction='sum')
        F.cross_entropy(x, p, soft_label=True)
        F.cross_entropy(x[::-1], p, soft_label=True, reduction='none')
        F.cross_entropy(x, p, w, soft_label=True)
        F.cross_entropy(x, p, w, soft_label=True, reduction='none')
        F.cross_entropy(x, p, w, soft_label=True, reduction='sum')
        F.cross_entropy(x, l, label_smoothing=0.1)
        F.cross_entropy(x[::-1], l, label_smoothing=0.3, reduction='none')
        F.cross_entropy(x, p, soft_label=True, label_smoothing=0.1)
        F.cross_entropy(x, l, w, label_smoothing=0.1)
        F.cross_entropy(p + 0.1, l, use_softmax=False)
        F.cross_entropy(p + 0.1, l, use_softmax=False, reduction='none')
        F.cross_entropy(p + 0.1, q, soft_label=True, use_softmax=False)
        F.cross_entropy(c, k, axis=1)
        F.cross_entropy(c, k, axis=1, reduction='none')
        F.cross_entropy(c, k, w, axis=1, reduction='none')
        F.cross_entropy(c, k, w, axis=1)
        F.cross_entropy(c, k, w, axis=1, ignore_index=2)
        F.cross_entropy(c, k, axis=1, ignore_index=2)
        F.cross_entropy(i, j, axis=1)
        F.cross_entropy(i.transpose([0, 2, 3, 1]), j)
        F.cross_entropy(i.transpose([0, 2, 3, 1]), j, reduction='none')
        F.cross_entropy(i, j, axis=-3, reduction='sum')
        F.cross_entropy(c, F.softmax(c, 1), soft_label=True, axis=1, reduction='none')
        F.cross_entropy(T(d), l)
        F.cross_entropy(T(d), T(e), soft_label=True)
        F.cross_entropy(x, l.astype('int32'))
        F.cross_entropy(input=x, target=l[::-1])
        F.cross_entropy(x[0], T([1]))
        F.cross_entropy(x[0], T(1))
        F.cross_entropy(x, l, reduction='foo')
        F.cross_entropy(x, p, soft_label=True, ignore_index=2)
        F.cross_entropy(T(1.0), T(0))
        F.cross_entropy(c, l)
        F.cross_entropy(x, l, T([1.0, 2.0]))
        F.cross_entropy(x, l[:2])
        F.cross_entropy(x, T([1, 4, 0]))
        F.cross_entropy(T([[-inf, 0.0]]), T([[0.0, 1.0]]), soft_label=True)
        F.cross_entropy(x, T([1, -1, 0]))
        F.cross_entropy(x, l, axis=2)
        F.cross_entropy(paddle.zeros([0, 4]), T([], 'int64'))
        F.cross_entropy(paddle.zeros([0, 4]), T([], 'int64'), reduction='sum')
        """,
        LOSS,
    ),
    *lines(
        "softmax_with_cross_entropy",
        SETUP,
        """
        F.softmax_with_cross_entropy(x, b)
        F.softmax_with_cross_entropy(x[::-1], b)
        F.softmax_with_cross_entropy(x, b, return_softmax=True)
        F.softmax_with_cross_entropy(x[::-1], p, soft_label=True)
        F.softmax_with_cross_entropy(x, b, ignore_index=3)
        F.softmax_with_cross_entropy(x, b, numeric_stable_mode=False)
        F.softmax_with_cross_entropy(c, k.unsqueeze(1), axis=1)
        F.softmax_with_cross_entropy(x, l)
        F.softmax_with_cross_entropy(x[:, :1], T([0, 0, 0])) + 0.0
        F.softmax_with_cross_entropy(T(1.0), T(0))
        """,
        LOSS,
    ),
    *lines(
        "nll_loss",
        SETUP,
        """
        F.nll_loss(x, l)
        F.nll_loss(x[::-1], l, reduction='none')
        F.nll_loss(x, l, w)
        F.nll_loss(x[::-1], l, w, reduction='none')
        F.nll_loss(x, l, w, reduction='sum')
        F.nll_loss(x, l, ignore_index=3)
        F.nll_loss(x, l, w, ignore_index=3)
        F.nll_loss(x, l, w, 3, 'none')
        F.nll_loss(x, T([3, 3, 3]), ignore_index=3)
        F.nll_loss(c, k)
        F.nll_loss(c, k, w, reduction='none')
        F.nll_loss(i[::-1], j)
        F.nll_loss(i, j, reduction='none')
        F.nll_loss(a, T(np.arange(12).reshape(2, 3, 2) % 5), T([1.0, 2.0, 3.0, 4.0, 5.0]))
        F.nll_loss(i.unsqueeze(-1), j.unsqueeze(-1), reduction='none')
        F.nll_loss(T(d), l)
        F.nll_loss(x, T([1, 4, 0]))
        F.nll_loss(paddle.zeros([0, 3]), T([], 'int64'))
        F.nll_loss(x, T([1, -1, 0]))
        F.nll_loss(x, l, T([1.0]))
        F.nll_loss(x, l, reduction='foo')
        F.nll_loss(x[0], T([1]))
        F.nll_loss(x, l[:2])
        """,
        LOSS,
    ),
    *lines(
        "binary_cross_entropy",
        SETUP,
        """
        F.binary_cross_entropy(p, q)
        F.binary_cross_entropy(p.T, q.T, reduction='none')
        F.binary_cross_entropy(p[::-1], o, reduction='sum')
        F.binary_cross_entropy(p, o, w)
        F.binary_cross_entropy(p, o, w, 'none')
        F.binary_cross_entropy(o, q, reduction='none')
        F.binary_cross_entropy(T(e), T(e)[::-1])
        F.binary_cross_entropy(p, q, reduction='foo')
        F.binary_cross_entropy(p, q[:2])
        F.binary_cross_entropy(p, T(e))
        """,
        Summed(16, 100.0),  # logarithms of 0 count as -100
    ),
    *lines(
        "binary_cross_entropy_with_logits",
        SETUP,
        """
        F.binary_cross_entropy_with_logits(x, o)
        F.binary_cross_entropy_with_logits(x.T, o.T, reduction='none')
        F.binary_cross_entropy_with_logits(x[::-1], p, reduction='sum')
        F.binary_cross_entropy_with_logits(x, o, w)
        F.binary_cross_entropy_with_logits(x, o, w, 'none')
        F.binary_cross_entropy_with_logits(x, o, pos_weight=w, reduction='none')
        F.binary_cross_entropy_with_logits(x[::-1], p, w, pos_weight=w)
        F.binary_cross_entropy_with_logits(x * 30, p, reduction='none')
        F.binary_cross_entropy_with_logits(T(d), T(e))
        F.binary_cross_entropy_with_logits(T(d) * 50, T(e), pos_weight=T([2.0], 'float64'), reduction='none')
        F.binary_cross_entropy_with_logits(x, T([[-100.0, 1.0, 0.0, 1.0]] * 3), reduction='none')
        F.binary_cross_entropy_with_logits(x, o, reduction='foo')
        F.binary_cross_entropy_with_logits(x, o[:2])
        """,
        Summed(16, 64.0),
    ),
    *lines(
        "sigmoid_focal_loss",
        SETUP,
        """
        F.sigmoid_focal_loss(x, o)
        F.sigmoid_focal_loss(x.T, o.T, reduction='none')
        F.sigmoid_focal_loss(x[::-1], o, T([4.0]), reduction='mean')
        F.sigmoid_focal_loss(x, o, T(4.0), 0.6, 1.5, 'none')
        F.sigmoid_focal_loss(x, p, alpha=0.5, gamma=0.0, reduction='none')
        F.sigmoid_focal_loss(T(d), T(e))
        F.sigmoid_focal_loss(x, o, T([[4.0]]))
        F.sigmoid_focal_loss(x, o, T([4]))
        F.sigmoid_focal_loss(x, o, reduction='foo')
        """,
        LOSS,
    ),
    *lines(
        "dice_loss",
        SETUP,
        """
        F.dice_loss(p, b)
        F.dice_loss(p[::-1], b, 1e-2)
        F.dice_loss(T(e), b.astype('int32'))
        F.dice_loss(F.softmax(i, -1), T([[[[1], [0]]] * 3] * 2))
        F.dice_loss(p, l)
        F.dice_loss(p, b[:2])
        F.dice_loss(p.astype('float16'), b)
        F.npair_loss(x, y, T([1.0, 2.0, 1.0]))
        F.npair_loss(x[::-1], y, T([1, 2, 1]), 0.1)
        F.npair_loss(T(d), T(d)[::-1], T([1, 1, 1]).astype('float32') * 2)
        F.npair_loss(x, y, l.astype('int32'))
        F.npair_loss(paddle.zeros([0, 4]), y, l)
        F.label_smooth(o)
        F.label_smooth(o[::-1], epsilon=0.3)
        F.label_smooth(o, paddle.full([1, 4], 0.25), 0.2)
        F.label_smooth(x.T)
        F.label_smooth(o, epsilon=1.5)
        """,
        LOSS,
    ),
]

MARGINS = [
    *lines(
        "cosine_embedding_loss",
        SETUP,
        """
        F.cosine_embedding_loss(x, y, T([1, -1, 1]))
        F.cosine_embedding_loss(x[::-1], y, v, 0.2, 'none')
        F.cosine_embedding_loss(x.T, y.T, T([1.0, -1.0, -1.0, 2.0]), -0.5, 'sum')
        F.cosine_embedding_loss(T(d), T(e), T([1, -1, 1], 'int32'))
        F.cosine_embedding_loss(x[0], y[0], T([1]))
        F.cosine_embedding_loss(x, y, b)
        F.cosine_embedding_loss(x, y[:2], l)
        F.cosine_embedding_loss(c, c, l)
        F.cosine_embedding_loss(h, h, l)
        """,
        LOSS,
    ),
    *lines(
        "triplet_margin_loss",
        SETUP,
        """
        F.triplet_margin_loss(x, y, z)
        F.triplet_margin_loss(x.T, y.T, z.T, reduction='none')
        F.triplet_margin_loss(x[::-1], y, z, 0.5, 1, swap=True, reduction='sum')
        F.triplet_margin_loss(x, y, z, p=3, epsilon=1e-2, reduction='none')
        F.triplet_margin_loss(x, y[::-1], z, p=inf, reduction='none')
        F.triplet_margin_loss(T(d), T(e), T(d)[::-1])
        F.triplet_margin_loss(x, y, z, -1)
        F.triplet_margin_loss(x, y, z[:2])
        F.triplet_margin_loss(x, y, z, reduction='foo')
        F.triplet_margin_with_distance_loss(x, y, z)
        F.triplet_margin_with_distance_loss(x[::-1], y, z, lambda a, b: abs(a - b).sum(-1), 0.5, True, 'none')
        F.triplet_margin_with_distance_loss(x.T, y.T, z.T, reduction='sum')
        F.triplet_margin_with_distance_loss(x, y, z, lambda a, b: (a - b).sum(-1))
        F.triplet_margin_with_distance_loss(x, y, z, margin=-1)
        F.triplet_margin_with_distance_loss(x, y, z[:2])
        """,
        LOSS,
    ),
    *lines(
        "multi_margin_loss",
        SETUP,
        """
        F.multi_margin_loss(x, l)
        F.multi_margin_loss(x[::-1], l, 2, 0.5, reduction='none')
        F.multi_margin_loss(x, l, weight=w, reduction='none')
        F.multi_margin_loss(x, l, 2, weight=w, reduction='sum')
        F.multi_margin_loss(x.T[:3, ::-1], T([0, 2, 1]))
        F.multi_margin_loss(x, l[:2])
        F.multi_margin_loss(x, l, weight=w[:2])
        F.multi_margin_loss(x, l, reduction='foo')
        F.multi_label_margin_loss(x, T([[3, 0, -1, 1], [-1, 0, 1, 2], [0, 1, 2, 3]]))
        F.multi_label_margin_loss(x[::-1], T([[3, 0, -1, 1], [-1, 0, 1, 2], [2, -1, -1, -1]]), 'none')
        F.multi_label_margin_loss(T(d), T([[1, 2, -1, -1]] * 3, 'int32'), 'sum')
        F.multi_label_margin_loss(x, T([[4, 0, -1, 1]] * 3))
        F.multi_label_margin_loss(x, T([[-2, 0, -1, 1]] * 3))
        F.multi_label_margin_loss(x, l)
        F.multi_label_margin_loss(x[0], l)
        F.multi_label_margin_loss(x, T([[1, 1, 1, 1]] * 3), 'foo')
        F.multi_label_soft_margin_loss(x, o)
        F.multi_label_soft_margin_loss(x[::-1], o, reduction='none')
        F.multi_label_soft_margin_loss(x, p, w, 'sum')
        F.multi_label_soft_margin_loss(T(d).T, T(e).T)
        F.multi_label_soft_margin_loss(x, o[:2])
        F.multi_label_soft_margin_loss(x, o, reduction='foo')
        """,
        LOSS,
    ),
]

SEQUENCES = (
    "r = np.random.RandomState(1)\n"
    "R = T(r.randn(2, 4, 3, 5).astype('float32'))\nS = F.log_softmax(R)\nL = T([[1, 2], [3, 1]], 'int32')\n"
    "A = T([4, 3], 'int32')\nB = T([2, 1], 'int32')\n"
    "g = T(r.randn(6, 3, 5).astype('float32'))\nu = T([[1, 2, 3], [1, 1, 0], [4, 0, 0]], 'int32')\n"
    "n = T([6, 5, 3])\nm = T([3, 2, 1])\n"
    "f = T(r.randn(4, 3).astype('float32'))\nt = T(r.randn(5, 3).astype('float32'))\nb = T(r.randn(5).astype('float32'))\n"
    "l = T([0, 5, 2, 3])\n"
    "pt = T([[0, 2, -1], [0, 1, 3], [0, -1, -1], [0, 1, 4]])\npc = T([[0, 1, 0], [1, 0, 1], [1, 0, 0], [1, 1, 1]])\n"
    "x = T(r.randn(5, 4).astype('float32'))\nhw = T(r.randn(4, 5).astype('float32'))\n"
    "tw = [[T(r.randn(4, 2).astype('float32')), T(r.randn(2, 3).astype('float32'))],"
    " [T(r.randn(4, 1).astype('float32')), T(r.randn(1, 4).astype('float32'))]]\n"
    "hb = T(r.randn(5).astype('float32'))\nal = T([0, 4, 9, 2, 6])\nav = T([1, 3, 9, 2, 0])"
)
# A step of the recurrence adds a few roundings to numbers up to 32; there are 6 of them.
CTC = Summed(64, 32.0)

SEQUENCE_LOSSES = [
    *lines(
        "ctc_loss",
        SEQUENCES,
        """
        F.ctc_loss(g, u, n, m)
        F.ctc_loss(g, u, n, m, reduction='none')
        F.ctc_loss(g[::-1], u, n, m, reduction='sum')
        F.ctc_loss(g, u, n, m, 4, 'none')
        F.ctc_loss(g, T([[1, 2], [3, 3], [4, 1]], 'int32'), n, T([2, 2, 2]), reduction='none')
        F.ctc_loss(g[:, ::-1], u[:, :2], n, T([2, 2, 1]), norm_by_times=True)
        F.ctc_loss(g.astype('float64'), u, n, m)
        F.ctc_loss(g, u, n, m, reduction='foo')
        F.ctc_loss(g, T([[1, 1, 1], [2, 2, 2], [3, 3, 3]], 'int32'), T([4, 5, 6]), T([3, 3, 3]), reduction='none')
        F.ctc_loss(g, T([[1, 1, 9], [2, -1, -1], [3, 3, 3]], 'int32'), T([4, 5, 6]), T([2, 1, 3]), reduction='none')
        F.ctc_loss(g[:, :, ::2], T([[1], [2], [1]], 'int32'), n, T([1, 1, 1]), reduction='none', zero_infinity=True)
        F.gather_tree(T([[[2, 2]], [[1, 1]]]), T([[[0, 1]], [[5, 0]]]))
        F.gather_tree(T([[[2, 2], [6, 1]], [[3, 9], [6, 1]], [[0, 1], [9, 0]]]), T([[[0, 0], [1, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]))
        F.gather_tree(T([[[2, 2, 5]], [[3, 9, 1]]], 'int32'), T([[[0, 0, 0]], [[1, 0, 2]]], 'int32'))
        F.gather_tree(T([[[2, 2]]]), T([[[0, 1]]]))
        F.gather_tree(T([[2, 2]]), T([[0, 1]]))
        F.gather_tree(T([[[2, 2]]]), T([[0, 1]]))
        """,
        CTC,
    ),
    *lines(
        "rnnt_loss",
        SEQUENCES,
        """
        F.rnnt_loss(S, L, A, B)
        F.rnnt_loss(S[::-1], L, A, B, reduction='none')
        F.rnnt_loss(S, L[::-1], A, B, 4, 0.5, 'sum')
        F.rnnt_loss(R, L, A, B, reduction='none')
        F.rnnt_loss(S, T([[1, 1], [2, 2]], 'int32'), T([4, 4], 'int32'), T([2, 2], 'int32'), 0, 0.0, 'none')
        F.rnnt_loss(S[:, :1], L, T([1, 1], 'int32'), B, reduction='none')
        F.rnnt_loss(S[:, :, ::2], L[:, :1], A, T([1, 1], 'int32'), reduction='none')
        F.rnnt_loss(F.log_softmax(R.astype('float64')), L, A, B)
        F.rnnt_loss(S, L, A, B, reduction='foo')
        """,
        CTC,
    ),
    *lines(
        "hsigmoid_loss",
        SEQUENCES,
        """
        F.hsigmoid_loss(f, l, 6, t)
        F.hsigmoid_loss(f[::-1], l, 6, t, b)
        F.hsigmoid_loss(f, l.reshape([4, 1]), 6, t, b.reshape([5, 1]))
        F.hsigmoid_loss(f, T([0, 1, 1, 0]), 2, t[:1])
        F.hsigmoid_loss(f * 100, l, 6, t)
        F.hsigmoid_loss(f, l, 6, t, None, pt, pc)
        F.hsigmoid_loss(f[::-1], l, 6, t, b, pt, pc)
        F.hsigmoid_loss(f.astype('float64'), l, 6, t.astype('float64'))
        F.hsigmoid_loss(f, l, 1, t)
        """,
        CTC,
    ),
    *lines(
        "adaptive_log_softmax_with_loss",
        SEQUENCES,
        """
        F.adaptive_log_softmax_with_loss(x, al, hw, tw, [3, 6, 10])
        F.adaptive_log_softmax_with_loss(x[::-1], al, hw, tw, [3, 6, 10], hb)
        F.adaptive_log_softmax_with_loss(x, T([0, 1, 2, 1, 0]), hw, tw, [3, 6, 10], hb)
        F.adaptive_log_softmax_with_loss(x[0], T(7), hw, tw, [3, 6, 10])
        F.adaptive_log_softmax_with_loss(x, T([0, 1, 2, 1, 10]), hw, tw, [3, 6, 10])
        F.adaptive_log_softmax_with_loss(x, T([0, 1]), hw, tw, [3, 6, 10])
        F.adaptive_log_softmax_with_loss(x, T([[0, 1]]), hw, tw, [3, 6, 10])
        """,
        CTC,
    ),
]

# Paddle has no kernels for halves on the CPU: a rounding of what float32 gives is right.
HALVES = [
    Row(op, f"F.{ours}", LOSS, NO_KERNEL, f"F.{theirs}.astype('float16')", SETUP)
    for op, ours, theirs in (
        (
            "smooth_l1_loss",
            "smooth_l1_loss(h[::-1], h)",
            "smooth_l1_loss(h[::-1].astype('float32'), h.astype('float32'))",
        ),
        ("cross_entropy", "cross_entropy(h, l)", "cross_entropy(h.astype('float32'), l)"),
        ("nll_loss", "nll_loss(h[::-1], l)", "nll_loss(h[::-1].astype('float32'), l)"),
        (
            "kl_div",
            "kl_div(h, p.astype('float16'))",
            "kl_div(h.astype('float32'), p.astype('float16').astype('float32'))",
        ),
    )
]

LABELS = [
    Row(
        "cross_entropy",
        f"F.cross_entropy(x, l.astype('{dtype}')[::-1])",
        LOSS,
        NO_KERNEL,
        "F.cross_entropy(x, l[::-1])",
        SETUP,
    )
    for dtype in ("int8", "int16", "uint8")
]

INTEGERS = [
    Row("cross_entropy", source, rule=NO_KERNEL, instead="fail(RuntimeError)", setup=SETUP)
    for source in (
        "F.cross_entropy(T([[1, 1]]), T([0]))",
        "F.label_smooth(T([1, 0]))",
        "F.smooth_l1_loss(T([1, 0]), T([1, 1]))",
        "F.nll_loss(T([[1, 0]]), T([1]))",
    )
]

FACTORS = [
    *defects(
        "label_smooth",
        "float32 factor",
        SETUP,
        """
        F.label_smooth(T(d).T)  =>  T(d).T * 0.9 + 0.1 / 3
        F.multi_margin_loss(T(d), l, margin=0.7)  =>  (F.relu(T(d) - T(d)[[0, 1, 2], l].unsqueeze(1) + 0.7).mean(1) - 0.7 / 4).mean()
        """,
        LOSS,
    ),
]

UNBOUNDED = [
    *defects(
        "cross_entropy",
        "softmax floor",
        SETUP,
        """
        F.cross_entropy(T([[100.0, 0.0]]), T([1]))  =>  T(100.0)
        F.cross_entropy(T([[-inf, 0.0]]), T([0]))  =>  T(inf)
        F.cross_entropy(T([[0.0, 1.0]]), T([0]), use_softmax=False)  =>  T(inf)
        """,
    ),
    *defects(
        "cross_entropy",
        "unchecked argument",
        SETUP,
        """
        F.cosine_embedding_loss(x, y, l, reduction='foo')  =>  ValueError
        F.hsigmoid_loss(x[:1], T([7]), 4, y)  =>  IndexError
        """,
    ),
]

ROWS: list[Row] = [*UNBOUNDED, *HALVES, *LABELS, *INTEGERS, *FACTORS, *REGRESSION, *CLASSES, *MARGINS, *SEQUENCE_LOSSES]
