"""Factorisations: shapes, dtypes, errors, and values that are exact in whatever order LAPACK computes them.

How near the others are to the truth is in tests/python/test_factorizations.py.
"""

from __future__ import annotations

from match import Steps

from .products import ours
from .row import lines

SETUP = (
    "a = T([[4.0, 2.0], [2.0, 5.0]])\nd = T([[2.0, 0.0], [0.0, 4.0]])\nw = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])\n"
    "p = T([[0.0, 2.0], [1.0, 0.0]])\ns = T([9.0, 8.0])\nc = T([[9.0], [8.0]])\nv = T([1.0])\n"
    "k = paddle.stack([d, a, d])\ne = paddle.zeros([0, 0])"
)

EXACT = [
    *lines(
        "cholesky",
        SETUP,
        """
        paddle.linalg.cholesky(a)
        a.T.cholesky(upper=True)
        paddle.linalg.cholesky(k[::2].astype('float64'))
        paddle.linalg.cholesky(T([[4.0, 99.0], [2.0, 5.0]]))
        paddle.linalg.cholesky(e)
        paddle.linalg.cholesky(-a)
        paddle.linalg.cholesky(w)
        paddle.linalg.cholesky(v)
        paddle.cholesky(d * d)
        """,
    ),
    *lines(
        "cholesky_solve",
        SETUP,
        """
        paddle.linalg.cholesky_solve(c, d)
        c.cholesky_solve(T([[2.0, 1.0], [0.0, 1.0]]), upper=True)
        paddle.linalg.cholesky_solve(c.astype('float64'), d.T.astype('float64'))
        paddle.linalg.cholesky_solve(w, d)
        d.cholesky_inverse()
        paddle.linalg.cholesky_inverse(T([[2.0, 0.0], [1.0, 1.0]]))
        paddle.linalg.cholesky_inverse(T([[2.0, 0.0], [1.0, 1.0]]).T, upper=True)
        """,
    ),
    *lines(
        "inv",
        SETUP,
        """
        paddle.linalg.inv(d)
        p.T.inverse()
        paddle.inverse(k[::2])
        paddle.linalg.inv(e)
        paddle.linalg.inv(paddle.zeros([0, 2, 2]))
        paddle.linalg.inv(T([[1.0, 2.0], [2.0, 4.0]]))
        paddle.linalg.inv(w)
        paddle.linalg.inv(v)
        paddle.linalg.matrix_power(d, -2)
        paddle.linalg.matrix_power(T([[1.0, 2.0], [2.0, 4.0]]), -1)
        """,
    ),
    *ours(
        "inv",
        "",
        "paddle.linalg.inv(T([[2]]))  =>  RuntimeError\npaddle.linalg.inv(T([[2]], 'float16'))  =>  T([[0.5]], 'float16')",
    ),
    *lines(
        "det",
        SETUP,
        """
        paddle.linalg.det(a)
        paddle.linalg.det(p.T)
        paddle.linalg.det(k)
        paddle.linalg.det(e)
        paddle.linalg.det(paddle.zeros([0, 2, 2]))
        paddle.linalg.det(w)
        paddle.linalg.slogdet(-p)[0]
        paddle.linalg.slogdet(T([[1.0, 2.0], [2.0, 4.0]]))
        paddle.linalg.slogdet(e)
        paddle.linalg.slogdet(w)
        """,
    ),
    *lines(
        "solve",
        SETUP,
        """
        paddle.linalg.solve(d, s)
        p.T.solve(c)
        paddle.linalg.solve(d, c.T, left=False)
        paddle.linalg.solve(k[::2], s)
        paddle.linalg.solve(k[::2], d)
        paddle.linalg.solve(k[::2], w[:2])
        paddle.linalg.solve(e, paddle.zeros([0]))
        paddle.linalg.solve(T([[1.0, 2.0], [2.0, 4.0]]), s)
        paddle.linalg.solve(w, s)
        paddle.linalg.solve(d, s.astype('float64'))
        """,
    ),
    *lines(
        "triangular_solve",
        SETUP,
        """
        paddle.linalg.triangular_solve(T([[2.0, 1.0], [99.0, 4.0]]), c)
        paddle.linalg.triangular_solve(a, c, upper=False)
        paddle.linalg.triangular_solve(a.T, c, transpose=True)
        paddle.linalg.triangular_solve(a, c[::-1], unitriangular=True)
        paddle.linalg.triangular_solve(a, c, upper=False, unitriangular=True, transpose=True)
        paddle.linalg.triangular_solve(k, c)
        paddle.linalg.triangular_solve(T([[0.0, 1.0], [3.0, 4.0]]), c)
        paddle.linalg.triangular_solve(a, s)
        paddle.linalg.triangular_solve(w, c)
        """,
        Steps(2),  # a quotient on each side
    ),
    *lines(
        "lu",
        SETUP,
        """
        paddle.linalg.lu(a)
        paddle.linalg.lu(p, get_infos=True)
        k.lu(get_infos=True)
        paddle.linalg.lu(T([[0.0, 1.0], [0.0, 2.0]]), get_infos=True)
        paddle.linalg.lu(paddle.ones([2, 3]))
        paddle.linalg.lu(paddle.zeros([0, 2]))
        paddle.linalg.lu(a, pivot=False)
        paddle.linalg.lu(v)
        f, g = p.lu() ;; paddle.linalg.lu_unpack(f, g)
        f, g = paddle.linalg.lu(T([[1.0, 2.0], [2.0, 4.0], [4.0, 0.0]])) ;; paddle.linalg.lu_unpack(f, g)
        f, g = p.lu() ;; paddle.linalg.lu_solve(c, f, g)
        f, g = p.lu() ;; paddle.linalg.lu_solve(c[::-1], f, g, 'T')
        """,
    ),
    *lines(
        "householder_product",
        SETUP,
        """
        paddle.linalg.householder_product(w, T([0.5, 0.25]))
        w[::-1].householder_product(T([0.5]))
        paddle.linalg.householder_product(w, T([0.5, 0.25, 1.0]))
        paddle.linalg.householder_product(w.T, T([0.5, 0.25]))
        paddle.linalg.householder_product(w, T([0.5, 0.25], 'float64'))
        """,
        Steps(2),  # exact here; the last product is rounded in float32 there
    ),
]

# Singular values of diagonal matrices, and of outer products: a root and a sum on each side.
NEAR = Steps(4)

SPECTRA = [
    *lines(
        "svd",
        SETUP,
        """
        paddle.linalg.svdvals(d)
        paddle.linalg.svdvals(k[0].T * -1)
        [t.shape for t in paddle.linalg.svd(w)]
        [t.shape for t in paddle.linalg.svd(w.T, full_matrices=True)]
        [t.shape for t in paddle.linalg.svd(paddle.zeros([0, 3]))]
        [t.dtype for t in paddle.linalg.svd(k.astype('float64'))]
        paddle.linalg.svd(v)
        paddle.linalg.svdvals(v)
        paddle.norm(d, p='nuc')
        paddle.norm(d, axis=[0, 1])
        paddle.linalg.matrix_norm(k[::2], 2, keepdim=True)
        paddle.linalg.matrix_norm(d, -2, axis=[1, 0])
        """,
        NEAR,
    ),
    *ours("svd", "", "paddle.linalg.svd(T([[2]]))  =>  RuntimeError"),
    *lines(
        "qr",
        SETUP,
        """
        [t.shape for t in paddle.linalg.qr(w)]
        [t.shape for t in w.T.qr(mode='complete')]
        [t.shape for t in paddle.linalg.qr(paddle.zeros([0, 3]))]
        paddle.linalg.qr(w, mode='r').shape
        paddle.linalg.qr(w, mode='x')
        paddle.linalg.qr(v)
        """,
    ),
    *lines(
        "eigh",
        SETUP,
        """
        paddle.linalg.eigvalsh(d)
        T([[2.0, 9.0], [1.0, 2.0]]).eigvalsh('U')
        paddle.linalg.eigh(T([[2.0, 9.0], [1.0, 2.0]]))[0]
        [t.shape for t in paddle.linalg.eigh(k[::2])]
        paddle.linalg.eigh(d, 'x')
        paddle.linalg.eigh(w)
        """,
        NEAR,
    ),
    *lines(
        "pinv",
        SETUP,
        """
        paddle.linalg.pinv(d)
        d.T.pinv(hermitian=True)
        paddle.linalg.pinv(w).shape
        paddle.linalg.pinv(d, rcond=0.75)
        paddle.linalg.pinv(v)
        """,
        NEAR,
    ),
    *lines(
        "matrix_rank",
        SETUP,
        """
        paddle.linalg.matrix_rank(T([[1.0, 2.0], [2.0, 4.0]]))
        paddle.linalg.matrix_rank(d, tol=3.0)
        paddle.linalg.matrix_rank(d, hermitian=True)
        paddle.linalg.matrix_rank(k[::-1])
        paddle.linalg.matrix_rank(d, atol=0.1, rtol=0.6)
        paddle.linalg.matrix_rank(v)
        """,
    ),
    *lines(
        "cond",
        SETUP,
        """
        paddle.linalg.cond(d)
        d.T.cond(1)
        paddle.linalg.cond(d, inf)
        paddle.linalg.cond(k[::2], -1)
        paddle.linalg.cond(d, -2)
        paddle.linalg.cond(d, 'fro')
        paddle.linalg.cond(d, 'nuc')
        paddle.linalg.cond(d, 3)
        paddle.linalg.cond(w, 1)
        paddle.linalg.cond(v)
        """,
        Steps(8),  # two norms within two ulps each and their product, on both sides
    ),
    *lines(
        "lstsq",
        SETUP,
        """
        paddle.linalg.lstsq(d, c, driver='gelsd')[2:]
        [t.shape for t in w.lstsq(w[:, :1])]
        [t.shape for t in paddle.linalg.lstsq(w, w[:, :1], driver='gels')]
        [t.shape for t in paddle.linalg.lstsq(w, w, driver='gelss')]
        paddle.linalg.lstsq(w, w[:, :1], driver='gels')[2]
        [t.dtype for t in paddle.linalg.lstsq(w, w[:, :1])]
        paddle.linalg.lstsq(w, w, driver='abc')
        """,
        NEAR,
    ),
]

COMPLEX_SETUP = """a = T([[2+1j, 1-1j], [0.5j, 3+0j]])
h = T([[4+0j, 1-1j], [1+1j, 3+0j]])
w = T([[1+1j, 2+0j], [0+0j, 1-1j], [3j, 1+0j]])
b = T([[[1+1j, 0.5+0j], [2+0j, 1j]], [[1+0j, 1j], [2+0j, 1-1j]]]).astype('complex128')"""

COMPLEX = [
    *lines(
        "complex_matrices",
        COMPLEX_SETUP,
        """
        paddle.linalg.inv(a)
        paddle.linalg.inv(b)
        paddle.linalg.det(a)
        b.det()
        paddle.linalg.slogdet(a)
        paddle.linalg.svd(w)[1]
        paddle.linalg.eigh(h)[0]
        paddle.linalg.eigvalsh(h)
        paddle.linalg.eigvalsh(h.astype('complex128'), 'U')
        paddle.linalg.qr(w)[0].abs()
        paddle.linalg.matrix_rank(w)
        paddle.linalg.matrix_rank(h, hermitian=True)
        paddle.linalg.cond(a)
        paddle.linalg.cond(b, 1)
        paddle.linalg.lu(a)
        paddle.linalg.lu_solve(a, *paddle.linalg.lu(h))
        paddle.linalg.triangular_solve(a, h)
        paddle.linalg.triangular_solve(a, h, upper=False, transpose=True, unitriangular=True)
        paddle.linalg.matrix_power(a, -2)
        paddle.linalg.norm(w, 'nuc', [0, 1])
        paddle.cdist(w, h)
        paddle.cdist(w, h, 1.0)
        paddle.linalg.inv(w)
        """,
        Steps(16),  # small matrices of small condition, and their differences on both sides
    ),
]

ROWS = [*EXACT, *SPECTRA, *COMPLEX]
