"""Moments, norms and other reductions that are compositions of other operators."""

from __future__ import annotations

from match import Steps, Summed

from .products import POWERS, SETUP, ours
from .row import defects, lines

# The squares of differences from a mean, all positive: the mean and each difference, square and partial sum of
# six terms, the quotient and the root, on both sides. No two of these cancel.
MOMENTS = Steps(14)

VARIANCES = [
    *(
        row
        for op in ("std", "var")
        for row in lines(
            op,
            SETUP,
            f"""
            paddle.{op}(T([1.0, 2.0, 4.0]))
            paddle.{op}(x, unbiased=False)
            x.T.{op}(axis=1)
            paddle.{op}(x[:, ::2] * 0.1, axis=[0, 1], keepdim=True)
            paddle.{op}(x, axis=[])
            paddle.{op}(x.astype('float64'), 0)
            paddle.{op}(T([1, 2, 4]))
            paddle.{op}(T([1.0]))
            paddle.{op}(z)
            paddle.{op}(z, unbiased=False)
            paddle.{op}(paddle.zeros([0]))
            paddle.{op}(e, axis=0)
            paddle.{op}(e, axis=1)
            paddle.{op}(T([1.0, inf]))
            paddle.{op}(x, axis=2)
            paddle.{op}([1.0])
            """,
            MOMENTS,
        )
    ),
    *lines(
        "var",
        SETUP,
        "paddle.var(x, correction=2)\npaddle.var(x, correction=0.5)\npaddle.var(s, correction=4)\n"
        "paddle.var(x, unbiased=True, correction=2)\npaddle.var(input=x, dim=0)\n"
        "o = paddle.empty([]) ;; paddle.var(x, out=o) ;; o",
        MOMENTS,
    ),
    *ours(
        "std", "", "paddle.std(T([1, 2, 3], 'float16'))  =>  T(1, 'float16')\npaddle.std(T([True]))  =>  RuntimeError"
    ),
    *defects("var", "rounded mean", "", "paddle.var(T([1e8, 1e8 + 8, 1e8 + 16]))  =>  T(64.0)"),
]

EXTREMES = [
    *(
        row
        for op in ("amax", "amin")
        for row in lines(
            op,
            SETUP,
            f"""
            paddle.{op}(x)
            x.T.{op}(axis=0)
            paddle.{op}(T([[1, 3], [3, 2]], 'int32'), axis=[0, 1], keepdim=True)
            paddle.{op}(x.astype('float64'), dim=-1)
            paddle.{op}(T([nan, 1.0])[::-1])
            paddle.{op}(e, 1)
            paddle.{op}(z)
            paddle.{op}(x, 2)
            paddle.{op}(x, [0, 0])
            paddle.{op}([1.0])
            o = paddle.empty([]) ;; paddle.{op}(x, out=o) ;; o
            """,
        )
    ),
    *ours("amax", "", "paddle.amax(T([1, 3], 'uint8'))  =>  T(3, 'uint8')\npaddle.amax(T([True]))  =>  T(True)"),
    *defects("amin", "nothing to choose", SETUP, "paddle.amin(e, 0)  =>  ValueError"),
]

NAN = [
    *lines(
        "nansum",
        SETUP + "\nn = T([[1.0, nan], [nan, nan]])",
        """
        paddle.nansum(n)
        n.T.nansum(axis=1)
        paddle.nansum(n, axis=[0, 1], keepdim=True)
        paddle.nansum(n[::-1], 0, 'float64')
        paddle.nansum(T([1, 3], 'int32'))
        paddle.nansum(paddle.zeros([0]))
        paddle.nansum(T([inf, -inf]))
        paddle.nansum(n, axis=3)
        """,
    ),
    *ours("nansum", "", "paddle.nansum(T([1.0, nan], 'float16'))  =>  T(1, 'float16')"),
    *lines(
        "nanmean",
        SETUP + "\nn = T([[1.0, nan, 5.0], [nan, nan, nan]])",
        """
        paddle.nanmean(n)
        n.T.nanmean(axis=0)
        paddle.nanmean(n, axis=[0, 1], keepdim=True)
        paddle.nanmean(T([1, 2], 'int32'))
        paddle.nanmean(x.astype('float64'), -1)
        paddle.nanmean(paddle.zeros([0]))
        paddle.nanmean(n, axis=4)
        """,
    ),
    *ours("nanmean", "", "paddle.nanmean(paddle.ones([4000], 'float16'))  =>  T(1, 'float16')"),
    *lines(
        "count_nonzero",
        SETUP,
        """
        paddle.count_nonzero(T([0.0, 1.0, nan]))
        x.T.count_nonzero(axis=0)
        paddle.count_nonzero(T([[0, 1], [2, 3]], 'uint8'), axis=[0, 1], keepdim=True)
        paddle.count_nonzero(b)
        paddle.count_nonzero(e)
        paddle.count_nonzero(e, 1)
        paddle.count_nonzero(z)
        paddle.count_nonzero(x, axis=[])
        paddle.count_nonzero(x, axis=4)
        """,
    ),
    *lines(
        "reduce_as",
        SETUP,
        """
        paddle.reduce_as(x, T([1.0, 2.0, 3.0]))
        x.T.reduce_as(y[:, :1])
        paddle.reduce_as(x, z)
        paddle.reduce_as(T([[1, 2]], 'int32'), T([1]))
        paddle.reduce_as(paddle.ones([2, 3], 'bool'), T([1]))
        paddle.reduce_as(e, T([1.0, 2.0, 3.0]))
        paddle.reduce_as(x, s)
        paddle.reduce_as(s, x)
        """,
    ),
]

# exp of differences from the largest term, each within 2 ulps, their sum and its logarithm, on both sides; the
# result is at least half of the largest term.
EXPONENTIALS = Steps(10)

LOGARITHMS = [
    *lines(
        "logsumexp",
        SETUP,
        """
        paddle.logsumexp(T([1000.0, 1000.0]))
        x.T.logsumexp(axis=1)
        paddle.logsumexp(x, axis=[0, -1], keepdim=True)
        paddle.logsumexp(x[:, ::2], axis=[])
        paddle.logsumexp(x.astype('float64'), dim=0)
        paddle.logsumexp(T([1, 2]))
        paddle.logsumexp(T([nan, 1.0]))
        paddle.logsumexp(paddle.zeros([0]))
        paddle.logsumexp(e, axis=0)
        paddle.logsumexp(e, axis=1)
        paddle.logsumexp(z)
        paddle.logsumexp(s, 3)
        """,
        EXPONENTIALS,
    ),
    *ours("logsumexp", "", "paddle.logsumexp(T([5.0], 'float16'))  =>  T(5.0, 'float16')"),
    *defects(
        "logsumexp",
        "sum of infinity",
        "",
        "paddle.logsumexp(T([-inf, -inf]))  =>  T(-inf)\npaddle.logsumexp(T([inf, 1.0]))  =>  T(inf)",
    ),
    *lines(
        "log_softmax",
        SETUP,
        """
        F.log_softmax(T([1.0, 2.0, 3.0]))
        F.log_softmax(x.T, axis=0)
        F.log_softmax(T([1, 2]), dtype='float32')
        F.log_softmax(x, dtype='float64')
        F.log_softmax(z)
        F.log_softmax(e)
        F.log_softmax(T([inf, 1.0]))
        F.log_softmax(s, 2)
        """,
        EXPONENTIALS,
    ),
    *ours("log_softmax", "", "F.log_softmax(T([1, 2]))  =>  RuntimeError"),
    *defects("log_softmax", "softmax floor", "", "F.log_softmax(T([-inf, 1.0]))  =>  T([-inf, 0.0])"),
]

NORMS = [
    *lines(
        "norm",
        SETUP + "\na = T([[3.0, -4.0], [1.0, 2.0]])",
        """
        paddle.norm(T([3.0, 4.0]))
        paddle.norm(a)
        a.norm(p='fro')
        paddle.norm(a.T, p='fro', axis=0)
        paddle.norm(a, p='fro', axis=[0, 1], keepdim=True)
        paddle.norm(a, p='abc')
        paddle.norm(a, p=1, axis=[0, 1])
        paddle.norm(a[::-1], p=-1, axis=[0, 1])
        paddle.norm(a, p=inf, axis=[0, 1])
        paddle.norm(a, p=-inf, axis=[-1, -2], keepdim=True)
        paddle.norm(a, p=3, axis=[0, 1])
        paddle.norm(a, p=0, axis=1)
        paddle.norm(a, p=inf)
        paddle.norm(a.T, p=-inf, axis=-1)
        paddle.norm(a, keepdim=True)
        paddle.norm(paddle.ones([2, 2, 2]), axis=(1,))
        paddle.norm(paddle.ones([2, 2, 2]), p=1, axis=[0, 1, 2])
        paddle.norm(z)
        paddle.norm(paddle.zeros([0]))
        paddle.norm(e, axis=0)
        paddle.norm(e, p=inf, axis=0)
        paddle.norm(l, dtype='float64')
        paddle.norm(T([inf, nan]))
        paddle.norm(A=a, ord=1, dim=0)
        paddle.norm(s, p=T(2.0))
        paddle.norm(s, axis=3)
        """,
        Steps(2),  # a root on each side
    ),
    *lines("norm", "", "paddle.norm(T([3.0, 4.0, 1.0]), p=-1)\npaddle.norm(T([3.0, 4.0, 1.0])[::2], p=0.5)", POWERS),
    *ours(
        "norm", "", "paddle.norm(T([3, 4]))  =>  T(5.0)\npaddle.norm(T([300, 400], 'float16'))  =>  T(500, 'float16')"
    ),
    *lines(
        "vector_norm",
        SETUP,
        """
        paddle.linalg.vector_norm(x)
        paddle.linalg.vector_norm(x.T, 0, [0, 1])
        paddle.linalg.vector_norm(x, inf, [0, 1], True)
        paddle.linalg.vector_norm(x, ord=1, dim=0)
        paddle.linalg.vector_norm(l, 2, dtype='float64')
        paddle.linalg.vector_norm(e, axis=1)
        paddle.linalg.vector_norm(x, 'fro')
        """,
        Steps(2),
    ),
    *lines("vector_norm", SETUP, "paddle.linalg.vector_norm(x[0] + 1, 3)", POWERS),
    *defects(
        "vector_norm",
        "float32 exponent",
        "",
        "paddle.linalg.vector_norm(T([3, 4]), 1.5, dtype='float64')  =>  T(5.584250376480029, 'float64')",
        Steps(4),  # two powers, each within 2 ulps of what is written here
    ),
    *lines(
        "matrix_norm",
        SETUP,
        """
        paddle.linalg.matrix_norm(x)
        paddle.linalg.matrix_norm(x.T, 1)
        paddle.linalg.matrix_norm(x, inf, axis=(0, 1), keepdim=True)
        paddle.linalg.matrix_norm(x, 3)
        paddle.linalg.matrix_norm(x, axis=0)
        paddle.linalg.matrix_norm(x, axis=[0])
        paddle.linalg.matrix_norm(s)
        paddle.linalg.matrix_norm(x, axis=[0, 0])
        """,
        Steps(2),
    ),
    *ours("matrix_norm", "", "paddle.linalg.matrix_norm(T([[3, 4]]), 1)  =>  T(4.0)"),
    # A norm within an ulp, a quotient and a product, on both sides.
    *lines(
        "renorm",
        SETUP + "\na = T([[3.0, 4.0], [0.3, 0.4]])",
        """
        paddle.renorm(a, 2, 0, 1)
        a.T.renorm(2, -1, 1.0)
        paddle.renorm(a, 1.0, 0, 5.0)
        paddle.renorm(paddle.ones([2, 2, 2]), 2, 1, 1.0)
        paddle.renorm(T([3.0, 4.0]), 2, 0, 1.0)
        paddle.renorm(paddle.zeros([2, 0]), 2, 0, 1.0)
        c = a[:1] ;; c.renorm_(2, 0, 1.0) ;; a
        paddle.renorm(a, 2, 2, 1.0)
        paddle.renorm(a, 2, -3, 1.0)
        """,
        Steps(6),
    ),
    *ours(
        "renorm", "", "paddle.renorm(T([[3, 4]]), 2, 0, 1.0)  =>  paddle.renorm(T([[3.0, 4.0]]), 2, 0, 1.0)", Steps(6)
    ),
    *defects(
        "renorm",
        "norm of infinite order",
        "",
        "paddle.renorm(T([[3.0, 4.0]]), inf, 0, 1.0)  =>  T([[0.75, 1.0]])",
    ),
]

# Six products of differences below 3, added up, of numbers whose mean is exact or within an ulp.
PRODUCTS = Summed(6, 20)

COVARIANCES = [
    *lines(
        "cov",
        "a = T([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0]])",
        """
        paddle.linalg.cov(a)
        a.T.cov(rowvar=False)
        paddle.linalg.cov(a, ddof=False)
        paddle.linalg.cov(a, fweights=T([1, 2, 1]))
        paddle.linalg.cov(a[:, ::-1], aweights=T([1.0, 2.0, 1.0]))
        paddle.linalg.cov(a, fweights=T([1, 2, 1]), aweights=T([1.0, 2.0, 1.0]))
        paddle.linalg.cov(a[0])
        paddle.linalg.cov(T([1.0]))
        paddle.linalg.cov(paddle.zeros([0, 3]))
        paddle.linalg.cov(a, fweights=T([1.5, 2.0, 1.0]))
        paddle.linalg.cov(a, fweights=T([-1, 2, 1]))
        paddle.linalg.cov(a, fweights=T([0, 0, 0]))
        paddle.linalg.cov(a, aweights=T([1.0, 1.0]))
        paddle.linalg.cov(paddle.ones([2, 2, 2]))
        paddle.linalg.cov(T(1.0))
        paddle.linalg.cov(T([[1, 2, 4]]))
        """,
        PRODUCTS,
    ),
    *ours("cov", "", "paddle.linalg.cov(T([1, 2, 3], 'float16'))  =>  T(1, 'float16')"),
    *lines(
        "corrcoef",
        "a = T([[1.0, 2.0, 4.0], [2.0, 1.0, 0.0]])",
        """
        paddle.linalg.corrcoef(a)
        a.T.corrcoef()
        paddle.linalg.corrcoef(a, rowvar=False)
        paddle.linalg.corrcoef(a[0])
        paddle.linalg.corrcoef(T([[1.0, 1.0], [1.0, 2.0]]))
        paddle.linalg.corrcoef(paddle.ones([2, 2, 2]))
        """,
        PRODUCTS,
    ),
]

ROWS = [*VARIANCES, *EXTREMES, *NAN, *LOGARITHMS, *NORMS, *COVARIANCES]
