"""matrix_exp, ormqr and factorisations of low rank: shapes, dtypes, errors and values that do not depend on the generator.

How near matrix_exp is to the truth is in tests/python/test_matrix_functions.py.
"""

from __future__ import annotations

from match import Steps

from .products import ours
from .row import defects, lines

SETUP = (
    "d = T([[1.0, 0.0], [0.0, 2.0]])\nq = T([[1.0, 2.0], [2.0, 1.0]])\nt = T([1.0, 0.0])\ny = T([[1.0, 2.0], [3.0, 4.0]])\n"
    "h = T([[1.0, 2.0], [2.0, 1.0], [3.0, 3.0]])\ns = T([1.0, 0.5])\nz = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\n"
    "a = paddle.ones([4, 3])\nb = paddle.ones([2, 9, 8])\nshapes = lambda *v: [t.shape for t in v]"
)

ROWS = [
    *lines(
        "matrix_exp",
        SETUP,
        """
        paddle.linalg.matrix_exp(paddle.zeros([2, 2]))
        paddle.linalg.matrix_exp(paddle.zeros([2, 3, 3], 'float64'))
        paddle.linalg.matrix_exp(T([[0.0, 1.0], [0.0, 0.0]]))
        paddle.linalg.matrix_exp(T([[0.0, 0.0], [1.0, 0.0]]).T)
        paddle.linalg.matrix_exp(T([[nan, 2.0], [3.0, 4.0]]))
        paddle.linalg.matrix_exp(T([[inf, 2.0], [3.0, 4.0]]))
        paddle.linalg.matrix_exp(T([[nan]]))
        paddle.linalg.matrix_exp(T([1.0]))
        paddle.linalg.matrix_exp(T([[1.0, 2.0]]))
        paddle.linalg.matrix_exp(T([[1, 2], [3, 4]]))
        paddle.linalg.matrix_exp(y.astype('float16'))
        paddle.linalg.matrix_exp('a')
        """,
    ),
    *lines(
        "matrix_exp",
        SETUP,
        """
        paddle.linalg.matrix_exp(d.astype('float64'))
        paddle.linalg.matrix_exp(T([[1.0]]))
        paddle.linalg.matrix_exp(T([[[1.0]], [[2.0]]]))
        paddle.linalg.matrix_exp(T(1.0))
        paddle.linalg.matrix_exp(1.0)
        """,
        Steps(16),
    ),
    *defects(
        "matrix_exp",
        "exponential of nothing",
        SETUP,
        """
        paddle.linalg.matrix_exp(paddle.zeros([0, 0]))  =>  paddle.zeros([0, 0])
        paddle.linalg.matrix_exp(paddle.zeros([0, 2, 2]))  =>  paddle.zeros([0, 2, 2])
        paddle.linalg.matrix_exp(T([[[nan, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]))  =>  T([[[nan, nan], [nan, nan]], [[1.0, 0.0], [0.0, 1.0]]])
        """,
    ),
    *lines(
        "ormqr",
        SETUP,
        """
        paddle.linalg.ormqr(paddle.eye(2), T([0.0, 0.0]), y)
        paddle.linalg.ormqr(q, t, y)
        q.T.ormqr(t, y.T)
        paddle.linalg.ormqr(q, t, y, True, True)
        paddle.linalg.ormqr(q, t, y, left=False)
        paddle.linalg.ormqr(q, t, y, False, transpose=True)
        paddle.linalg.ormqr(h, s, y)
        paddle.linalg.ormqr(h, s, z, True, True)
        paddle.linalg.ormqr(h.astype('float64'), s.astype('float64'), z.astype('float64'), True, True)
        paddle.linalg.ormqr(q[None], t[None], y[None])
        paddle.linalg.ormqr(paddle.stack([q, q]), paddle.stack([t, t]), paddle.stack([y, y]), True, True)
        paddle.linalg.ormqr(paddle.ones([2, 1, 2, 2]), paddle.ones([2, 1, 2]), paddle.ones([2, 1, 2, 2]))
        paddle.linalg.ormqr(h, s, z)
        paddle.linalg.ormqr(q, T([1.0]), y)
        paddle.linalg.ormqr(q, t.astype('float64'), y)
        paddle.linalg.ormqr(t, T([1.0]), y)
        paddle.linalg.ormqr(q, t, t)
        paddle.linalg.ormqr(q[None], t[None], y)
        paddle.linalg.ormqr(paddle.ones([2, 2, 2]), paddle.ones([2, 2]), paddle.ones([3, 2, 2]))
        paddle.linalg.ormqr(h.T, T([1.0, 0.0, 0.0]), z)
        """,
    ),
    *ours(
        "ormqr",
        SETUP,
        "paddle.linalg.ormqr(*(v.astype('float16') for v in (q, t, y)))  =>  paddle.linalg.ormqr(q, t, y).astype('float16')",
    ),
    *defects(
        "ormqr",
        "factor on the right",
        SETUP,
        """
        paddle.linalg.ormqr(h, s, z.T, False)  =>  paddle.matmul(z.T, paddle.linalg.householder_product(h, s))
        paddle.linalg.ormqr(h, s, z, False, True)  =>  paddle.matmul(z, paddle.linalg.householder_product(h, s).T)
        """,
    ),
    *lines(
        "svd_lowrank",
        SETUP,
        """
        shapes(*paddle.linalg.svd_lowrank(a))
        shapes(*paddle.linalg.svd_lowrank(a, 2))
        shapes(*paddle.linalg.svd_lowrank(a.T, 2))
        shapes(*paddle.linalg.svd_lowrank(b))
        shapes(*paddle.linalg.svd_lowrank(b[:, None]))
        shapes(*paddle.linalg.svd_lowrank(a, 0))
        shapes(*paddle.linalg.svd_lowrank(a, 2, 0))
        shapes(*paddle.linalg.svd_lowrank(paddle.ones([0, 3])))
        shapes(*paddle.linalg.svd_lowrank(paddle.ones([3, 0]), 2))
        shapes(*paddle.linalg.svd_lowrank(paddle.ones([0, 3, 4]), 2))
        shapes(*a.svd_lowrank(q=2))
        [v.dtype for v in paddle.linalg.svd_lowrank(a.astype('float64'))]
        round(float(paddle.linalg.svd_lowrank(a, 1)[1]), 4)
        round(float(paddle.linalg.svd_lowrank(a, 1, 2, a)[1]), 4)
        round(float(paddle.linalg.svd_lowrank(a, 1, M=paddle.ones([3]))[1]), 4)
        paddle.linalg.svd_lowrank(a, 4)
        paddle.linalg.svd_lowrank(a, -1)
        paddle.linalg.svd_lowrank(a, 2, -1)
        paddle.linalg.svd_lowrank(a, 2.0)
        paddle.linalg.svd_lowrank(a, 2, 1.5)
        paddle.linalg.svd_lowrank(a, 1, 2, paddle.ones([2]))
        paddle.linalg.svd_lowrank(paddle.ones([3]))
        paddle.linalg.svd_lowrank([[1.0]])
        """,
    ),
    *ours(
        "svd_lowrank",
        SETUP,
        "paddle.linalg.svd_lowrank(T([[1]]))  =>  RuntimeError\n[v.dtype for v in a.astype('float16').svd_lowrank()]  =>  [paddle.float16] * 3",
    ),
    *lines(
        "pca_lowrank",
        SETUP,
        """
        shapes(*paddle.linalg.pca_lowrank(a))
        shapes(*paddle.linalg.pca_lowrank(a.T, 2))
        shapes(*paddle.linalg.pca_lowrank(b, niter=1))
        shapes(*a.pca_lowrank(2, False))
        shapes(*paddle.linalg.pca_lowrank(paddle.ones([0, 3])))
        round(float(paddle.linalg.pca_lowrank(a, 1)[1]), 4)
        round(float(paddle.linalg.pca_lowrank(a, 1, center=False)[1]), 4)
        paddle.linalg.pca_lowrank(a, 4)
        paddle.linalg.pca_lowrank(a, 2, True, -1)
        paddle.linalg.pca_lowrank(paddle.ones([0, 3]), 2)
        paddle.linalg.pca_lowrank(paddle.ones([3]))
        paddle.linalg.pca_lowrank([[1.0]])
        """,
    ),
    *lines(
        "eigvalsh",
        SETUP,
        """
        paddle.eigvalsh(d)
        paddle.eigvalsh(d.astype('float64'), 'U')
        paddle.eigvalsh(z)
        paddle.linalg.diagonal(y)
        paddle.linalg.diagonal(z.T, offset=1)
        paddle.linalg.diagonal(b, 0, 1, 2).shape
        """,
    ),
]
