"""Sorts, scans, medians and quantiles, distinct elements and histograms."""

from __future__ import annotations

from match import Steps, Summed

from .row import NO_KERNEL, Row, defects, lines

SETUP = """
nan = float('nan')
inf = float('inf')
x = T([[3., 1., 2.], [4., 6., 5.]])
w = T([[3., nan, 2.], [nan, nan, nan]])
e = paddle.zeros([0, 3])
z = T(3.)
m = T([3., nan, 1., -0., 0., nan, -inf, inf, 1.])
i = T([2, 3, 3, 1, 5, 3])
k = T([[2, 1, 3], [3, 0, 1], [2, 1, 3]])
""".strip()


def exact(op: str, text: str) -> list[Row]:
    return list(lines(op, SETUP, text))


def known(op: str, name: str, text: str) -> list[Row]:
    return list(defects(op, name, SETUP, text))


SORTS = [
    *exact(
        "sort",
        """
        paddle.sort(m)
        paddle.sort(m, descending=True)
        paddle.sort(m, stable=True)
        paddle.sort(m[::-2], -1, True, True)
        paddle.sort(x, 0)
        paddle.sort(x.T, axis=-2, descending=True)
        x.sort(1)
        paddle.sort(k.expand([2, 3, 3]), 1)
        paddle.sort(k.astype('int32')[:, ::-1])
        paddle.sort(k.astype('int16'), 0)
        paddle.sort(k.astype('uint8'))
        paddle.sort(x.astype('float16'))
        paddle.sort(m.astype('bfloat16'))
        paddle.sort(m.astype('float64'))
        paddle.sort(T([2 ** 62, -2 ** 63, 0, -1]))
        paddle.sort(paddle.arange(2000) * 7919 % 2003)
        paddle.sort(paddle.cos(paddle.arange(3000.).reshape([3, 1000])).round() + 4, descending=True)
        paddle.sort(z)
        paddle.sort(z, 0)
        paddle.sort(z, 1)
        paddle.sort(e)
        paddle.sort(e, 0)
        paddle.sort(x, 2)
        paddle.sort(x, -3)
        paddle.sort(x, 'a')
        paddle.sort(x, 1.0)
        paddle.sort(x, None)
        paddle.sort([1, 2])
        paddle.sort(input=x)
        """,
    ),
    *known(
        "sort",
        NO_KERNEL,
        "paddle.sort(T([True, False])) => T([False, True])\npaddle.sort(T([3, -1], 'int8')) => T([-1, 3], 'int8')",
    ),
    *exact(
        "argsort",
        """
        paddle.argsort(m)
        paddle.argsort(m, descending=True)
        paddle.argsort(m[::-1], stable=True)
        paddle.argsort(x.T, 0)
        paddle.argsort(input=x, dim=0)
        x.argsort(0, True)
        paddle.argsort(i, descending=True)
        paddle.argsort(k.astype('int16'), axis=1)
        paddle.argsort(T([5, 200, 7], 'uint8'))
        paddle.argsort(x.astype('bfloat16'), -1)
        paddle.argsort(paddle.arange(3000) * 7919 % 13, stable=True)
        paddle.argsort(z)
        paddle.argsort(e, 0)
        paddle.argsort(x, -3)
        paddle.argsort(x, 2)
        """,
    ),
    *exact(
        "msort",
        "paddle.msort(x)\npaddle.msort(x.T)\nx.msort()\npaddle.msort(z)\npaddle.msort(e)\npaddle.msort(k)\npaddle.msort(x=x)",
    ),
    *exact(
        "topk",
        """
        paddle.topk(x, 2)
        paddle.topk(x, 1, 0)
        paddle.topk(x.T, 2, largest=False)
        paddle.topk(x, T(2))
        paddle.topk(x, T([2]))
        paddle.topk(input=x, k=1, dim=0)
        x.topk(3)
        paddle.topk(k.astype('int32')[1], 2)
        paddle.topk(x.astype('float64'), 3, -1, False, True)
        paddle.topk(T([5, -2, 7, 1]), 3)
        paddle.topk(T([1., nan, 3., nan, 2.]), 3)
        paddle.topk(T([1., nan, 3., 2.]), 4, largest=False)
        paddle.topk(x.astype('float16'), 2)
        paddle.topk(z, 1)
        paddle.topk(e, 1)
        paddle.topk(x, 4)
        paddle.topk(x, 0)
        paddle.topk(x, -1)
        paddle.topk(x, 1, 5)
        a, b = paddle.zeros([2]), paddle.zeros([2], 'int64') ;; paddle.topk(x, 1, out=(a, b)) ;; (a, b)
        """,
    ),
    *known(
        "topk",
        "order of equals",
        "paddle.topk(T([1., 2., 2., 2.]), 2) => (T([2., 2.]), T([1, 2]))\npaddle.topk(T([5., 2., 7., 9.]), 3, sorted=False) => (T([9., 7., 5.]), T([3, 2, 0]))",
    ),
    *known("topk", "whole numbers of things", "paddle.topk(x, 1.5) => TypeError"),
    *known("topk", NO_KERNEL, "paddle.topk(x.astype('bfloat16'), 1) => (T([[3.], [6.]], 'bfloat16'), T([[0], [1]]))"),
    *exact(
        "kthvalue",
        """
        paddle.kthvalue(x, 1)
        paddle.kthvalue(x, 2, 0)
        paddle.kthvalue(x.T, 2, 0, True)
        paddle.kthvalue(k.astype('int32')[1], 2)
        x.kthvalue(3, keepdim=True)
        paddle.kthvalue(T([1., nan, 3., 2.]), 3)
        paddle.kthvalue(T([1., nan, 3., 2.], 'float64'), 4)
        paddle.kthvalue(z, 1)
        paddle.kthvalue(z, 1, 0, True)
        paddle.kthvalue(e, 1)
        paddle.kthvalue(x, 0)
        paddle.kthvalue(x, 4)
        paddle.kthvalue(x, 1, 7)
        paddle.kthvalue(input=x, k=1)
        """,
    ),
    *known("kthvalue", "order of equals", "paddle.kthvalue(T([2., 2., 2., 2., 2., 1.]), 3) => (T(2.), T(1))"),
    *exact(
        "mode",
        """
        paddle.mode(x)
        paddle.mode(T([[1, 2, 2, 1], [3, 3, 3, 1]]))
        paddle.mode(T([[1, 2, 2, 1], [3, 3, 3, 1]]).T, 0)
        paddle.mode(T([[1, 2, 2, 1], [3, 3, 3, 1]], 'int32'), -1, True)
        k.mode(0)
        paddle.mode(T([1., nan, nan, 2., 2.], 'float64'))
        paddle.mode(T([nan, nan]))
        paddle.mode(T([1., nan, nan, 2.]))
        paddle.mode(T([0., -0., 1., 1.]))
        paddle.mode(z)
        paddle.mode(e)
        paddle.mode(x, 3)
        """,
    ),
    *known("mode", "axis of a number", "paddle.mode(z, 0, True) => (T(3.), T(0))"),
]

# Means of two elements, and two more roundings of a quantile: a difference, its product and a sum.
MEDIANS = [
    *exact(
        "median",
        """
        paddle.median(x)
        paddle.median(x, 1)
        paddle.median(x.T, 0, True)
        paddle.median(x, mode='min')
        paddle.median(x, 1, mode='min')
        paddle.median(x, None, True, mode='min')
        paddle.median(x[::-1], 0, mode='min')
        paddle.median(T([1, 2, 3, 4]))
        paddle.median(T([1, 2, 3, 4]), mode='min')
        paddle.median(T([4, 2, 3, 1], 'int32'), 0, mode='min')
        paddle.median(x.astype('float64'), 0)
        paddle.median(x.astype('bfloat16'), 0)
        paddle.median(x.astype('float16'))
        paddle.median(T([True, False]))
        paddle.median(w)
        paddle.median(w, 1)
        paddle.median(w, 1, mode='min')
        paddle.median(T([inf, inf]))
        paddle.median(input=x)
        paddle.median(x, dim=0)
        x.median(1)
        paddle.median(z)
        paddle.median(z, 0, mode='min')
        paddle.median(e)
        paddle.median(e, 1)
        paddle.median(e, 0)
        paddle.median(x, [0, 1])
        paddle.median(x, mode='z')
        paddle.median(x, 4)
        paddle.median([1, 2])
        """,
    ),
    *exact(
        "nanmedian",
        """
        paddle.nanmedian(x)
        paddle.nanmedian(x.T, 1)
        paddle.nanmedian(w)
        paddle.nanmedian(w, 1)
        paddle.nanmedian(w, 1, True)
        paddle.nanmedian(w, [0, 1])
        paddle.nanmedian(w, 1, mode='min')
        paddle.nanmedian(x, 1, mode='min')
        paddle.nanmedian(x, mode='min')
        paddle.nanmedian(T([1, 2, 4, 4]), 0)
        paddle.nanmedian(T([1, 2, 4, 4], 'int32'), 0, mode='min')
        w.nanmedian(0)
        paddle.nanmedian(z)
        paddle.nanmedian(e)
        paddle.nanmedian(w, [])
        paddle.nanmedian(x, [0, 0])
        paddle.nanmedian(x, 5)
        paddle.nanmedian(x, mode='q')
        """,
    ),
    *lines(
        "quantile",
        SETUP,
        """
        paddle.quantile(x, 0.5)
        paddle.quantile(x, [0.1, 0.5], 1)
        paddle.quantile(x.T, [0.1, 0.5], [0, 1])
        paddle.quantile(x, 0.5, 0, True)
        paddle.quantile(x, [0.5], 0, True)
        paddle.quantile(x, T(0.3))
        paddle.quantile(x, T([0.3, 0.4]), 1)
        paddle.quantile(x.astype('float64'), 0.3, 0)
        paddle.quantile(x, 0.3, 1, interpolation='lower')
        paddle.quantile(x, 0.3, 1, interpolation='higher')
        paddle.quantile(x, 0.3, 1, interpolation='midpoint')
        paddle.quantile(x, 0.25, 1, interpolation='nearest')
        paddle.quantile(x, 0.3, 1, interpolation='zzz')
        paddle.quantile(input=x, q=0.5, dim=1)
        paddle.quantile(w, 0.3, 1)
        x.quantile(0.3)
        paddle.quantile(x, 1)
        paddle.quantile(z, 0.5)
        paddle.quantile(e, 0.5, 1)
        paddle.quantile(x, 2.0)
        paddle.quantile(x, [])
        paddle.quantile(x, 'a')
        paddle.quantile(x, 0.3, 4)
        """,
        Steps(6),
    ),
    *known("quantile", NO_KERNEL, "paddle.quantile(T([1, 2, 3]), 0.5) => NotImplementedError"),
    *known("quantile", "quantile of nothing", "paddle.quantile(e, 0.5) => T(nan)"),
    *lines(
        "nanquantile",
        SETUP,
        """
        paddle.nanquantile(w, 0.3, 1)
        paddle.nanquantile(w.T, 0.3)
        paddle.nanquantile(w, [0.1, 0.9], 1, True)
        w.nanquantile(0.5, [0])
        paddle.nanquantile(w.astype('float64'), 0.7, 0, interpolation='nearest')
        paddle.nanquantile(w, 3.0)
        """,
        Steps(6),
    ),
]

SCANS = [
    *exact(
        "cummax",
        """
        paddle.cummax(T([1., 1., nan, 2., nan, 3.]))
        paddle.cummax(x)
        paddle.cummax(x.T, 0)
        paddle.cummax(x, -1, 'int32')
        paddle.cummax(k.astype('int32'), axis=0)
        paddle.cummax(x.astype('float64')[:, ::-1], 1)
        x.cummax(0)
        paddle.cummax(z)
        paddle.cummax(z, 0)
        paddle.cummax(e)
        paddle.cummax(e, 0)
        paddle.cummax(x, 2)
        paddle.cummax(x, dtype='float32')
        paddle.cummax(x, 1.5)
        paddle.cummax(x, dim=0)
        """,
    ),
    *exact(
        "cummin",
        """
        paddle.cummin(T([1., 1., nan, 2., nan, 0.]))
        paddle.cummin(T([1., 1., 0., -0., 0.]))
        paddle.cummin(x)
        paddle.cummin(x.T, 0)
        paddle.cummin(x, -1, 'int32')
        paddle.cummin(k, 1)
        x.cummin(1)
        paddle.cummin(z, 0)
        paddle.cummin(e)
        paddle.cummin(x, -3)
        """,
    ),
    *known("cummin", NO_KERNEL, "paddle.cummin(T([3, 1], 'int8'), 0) => (T([3, 1], 'int8'), T([0, 1]))"),
    *exact(
        "cumprod",
        """
        paddle.cumprod(x)
        paddle.cumprod(x.T, 0)
        paddle.cumprod(x, -1)
        paddle.cumprod(x, dim=1, dtype='float64')
        paddle.cumprod(input=x, dim=1)
        paddle.cumprod(T([2, 3], 'int32'), 0)
        paddle.cumprod(T([2, 3], 'int32'), 0, dtype='float32')
        paddle.cumprod(T([2 ** 62, 3]), 0)
        paddle.cumprod(T([True, False]), 0, dtype='float32')
        x.cumprod(0)
        paddle.cumprod(z)
        paddle.cumprod(z, 0)
        paddle.cumprod(e, 0)
        paddle.cumprod(x, 2)
        paddle.cumprod(z, 1)
        paddle.cumprod(x, 'a')
        paddle.cumprod(x, axis=1)
        paddle.cumprod(x, 0, out=paddle.zeros([1]))
        """,
    ),
    *known("cumprod", "axis of a number", "paddle.cumprod(z, -1) => T(3.)"),
    *exact(
        "cumprod_",
        """
        y = x + 0 ;; y.cumprod_(1) ;; y
        y = x + 0 ;; y.cumprod_(1, 'float64') ;; y
        y = x + 0 ;; paddle.cumprod_(y) ;; y
        y = k + 0 ;; v = y.T ;; v.cumprod_(0) ;; v
        y = x + 0 ;; y.cumprod_(5)
        """,
    ),
    *exact(
        "cumsum_",
        """
        y = x + 0 ;; y.cumsum_(1) ;; y
        y = x + 0 ;; y.cumsum_() ;; y
        y = x + 0 ;; paddle.cumsum_(y, 0, 'float64') ;; y
        y = T([1, 2], 'int32') ;; y.cumsum_() ;; y
        y = x + 0 ;; y.cumsum_(5)
        """,
    ),
    # Each term of Paddle's adds an exp, a log1p and a sum to what was before; three terms, and ours is rounded once.
    *lines(
        "logcumsumexp",
        SETUP,
        """
        paddle.logcumsumexp(x)
        paddle.logcumsumexp(x.T, 0)
        paddle.logcumsumexp(x, 1, 'float64')
        paddle.logcumsumexp(T([1, 2]))
        paddle.logcumsumexp(T([1, 2]), dtype='float64')
        x.logcumsumexp(-1)
        paddle.logcumsumexp(z)
        paddle.logcumsumexp(e, 0)
        paddle.logcumsumexp(x, 5)
        paddle.logcumsumexp(x, dim=0)
        """,
        Steps(3 * 6 + 1),
    ),
    *known(
        "logcumsumexp",
        "log of zeros",
        "paddle.logcumsumexp(T([-inf, -inf, inf, inf])) => T([-inf, -inf, inf, inf])\npaddle.logcumsumexp(T([1., nan, 2.])) => T([1., nan, nan])",
    ),
]

COUNTS = [
    *exact(
        "unique",
        """
        paddle.unique(i)
        paddle.unique(i[::-1], True, True, True)
        paddle.unique(i, True, True, True, dtype='int32')
        paddle.unique(k)
        paddle.unique(k.T, True, True, True)
        paddle.unique(k, True, True, True, axis=0)
        paddle.unique(k, True, True, True, axis=1)
        paddle.unique(k.astype('float64'), return_counts=True, axis=-1)
        paddle.unique(x[:, ::-1], return_inverse=True)
        paddle.unique(T([0., -0., 1.]), True, True, True)
        x.unique()
        paddle.unique(i, return_inverse=True, sorted=False)
        paddle.unique(e)
        paddle.unique(e, True, True, True)
        paddle.unique(z, True, True, True)
        paddle.unique(k, axis=5)
        paddle.unique(i, dtype='float32')
        """,
    ),
    *known(
        "unique",
        "nan is unique",
        "paddle.unique(T([nan, 1., nan]), return_counts=True) => (T([1., nan, nan]), T([1, 1, 1]))\npaddle.unique_consecutive(T([nan, nan, 1.])) => T([nan, nan, 1.])",
    ),
    *known(
        "unique",
        NO_KERNEL,
        "paddle.unique(T([True, False, True])) => T([False, True])\npaddle.unique(T([3, 1, 3], 'int8')) => T([1, 3], 'int8')",
    ),
    *exact(
        "unique_consecutive",
        """
        paddle.unique_consecutive(T([1, 1, 2, 2, 3, 1, 1, 2]))
        paddle.unique_consecutive(T([1, 1, 2, 2, 3, 1, 1, 2])[::-1], True, True)
        paddle.unique_consecutive(T([1, 1, 2]), True, True, dtype='int32')
        paddle.unique_consecutive(T([[2, 1, 3], [2, 1, 3], [3, 0, 1]]), True, True, axis=0)
        paddle.unique_consecutive(T([[2, 2, 3], [2, 2, 3], [3, 3, 1]]), True, True, axis=1)
        paddle.unique_consecutive(k.T, True)
        x.unique_consecutive()
        paddle.unique_consecutive(e)
        paddle.unique_consecutive(z, True, True)
        """,
    ),
    *exact(
        "searchsorted",
        """
        paddle.searchsorted(T([1, 3, 5, 7]), T([3, 6, 9, 0]))
        paddle.searchsorted(T([1, 3, 5, 7]), T([3, 6, 9, 0]), right=True)
        paddle.searchsorted(T([1, 3, 5, 7]), T([3, 6, 9, 0]), out_int32=True)
        paddle.searchsorted(T([[1, 3, 5, 7], [2, 4, 6, 8]]), T([[3, 6], [3, 6]]).T)
        paddle.searchsorted(T([1., 3., 5., 7.]), x)
        paddle.searchsorted(T([1, 3, 5, 7]), T(3))
        paddle.searchsorted(T([1., 3., 5.], 'float64'), T([3]))
        paddle.searchsorted(T([1, 3, 5], 'int32'), T([2.5]))
        paddle.searchsorted(T([1., 3.]), T([nan, 3.]))
        paddle.searchsorted(T([1, 3, 5, 7]), T([3]), side='right')
        paddle.searchsorted(T([1, 3, 5, 7]), T([3]), side='left', right=True)
        paddle.searchsorted(T([5, 1, 3]), T([3]), sorter=T([1, 2, 0]))
        paddle.searchsorted(T([1., 2.]), input=T([1.]))
        paddle.searchsorted(T([]), T([3.]))
        paddle.searchsorted(T([1.]), T([]))
        paddle.searchsorted(T([1, 3, 5, 7]), 3)
        paddle.searchsorted(T([[1, 3, 5, 7], [2, 4, 6, 8]]), T([3, 6]))
        """,
    ),
    *known(
        "searchsorted", "infinite bound", "paddle.searchsorted(T([-inf, 2., inf, inf]), T([inf, -inf])) => T([2, 0])"
    ),
    *exact(
        "bucketize",
        """
        paddle.bucketize(T([3, 6, 9, 0]), T([1, 3, 5, 7]))
        paddle.bucketize(T([[3, 6], [9, 0]]).T, T([1, 3, 5, 7]), right=True)
        paddle.bucketize(T(3), T([1, 3]), out_int32=True)
        paddle.bucketize(input=T([1.]), boundaries=T([1., 2.]))
        x.bucketize(T([1., 4.]))
        paddle.bucketize(paddle.zeros([0]), T([1., 2.]))
        paddle.bucketize(T([3]), T([[1, 3, 5, 7]]))
        """,
    ),
    *exact(
        "isin",
        """
        paddle.isin(T([1, 2, 3]), T([2, 5]))
        paddle.isin(T([[1, 2], [3, 4]]).T, T([[2], [5]]), invert=True)
        paddle.isin(T([1., nan]), T([nan]))
        paddle.isin(T([1, 2, 3], 'uint8'), T([1], 'uint8'))
        paddle.isin(T([1., 2.], 'float16'), T([2.], 'float16'))
        paddle.isin(elements=T([1]), test_elements=T([1]))
        paddle.isin(T([1, 2, 3]), T([2, 5]), True, True)
        x.isin(T([1., 5.]))
        paddle.isin(T(1), T(1))
        paddle.isin(T([]), T([1.]))
        paddle.isin(T([1.]), T([]))
        paddle.isin([1], T([1.]))
        paddle.isin(T([1, 2]), T([1., 2.5]))
        """,
    ),
    *exact(
        "bincount",
        """
        paddle.bincount(T([1, 2, 1, 5]))
        paddle.bincount(T([1, 2, 1, 5], 'int32')[::-1], minlength=8)
        paddle.bincount(T([1, 2, 1, 5]), weights=T([1., 2., 3., 4.]))
        paddle.bincount(T([1, 2]), weights=T([1, 2]))
        paddle.bincount(T([1, 2]), weights=T([1., 2.], 'float64'))
        T([1, 2]).bincount()
        paddle.bincount(T([], 'int64'))
        paddle.bincount(T([], 'int64'), minlength=3)
        paddle.bincount(T([1, 2]), weights=T([1.]))
        paddle.bincount(T([-1, 2]))
        paddle.bincount(T([[1, 2]]))
        paddle.bincount(T([1.]))
        paddle.bincount(T([1]), minlength=-1)
        """,
    ),
    # With density two divisions follow a count on either side.
    *lines(
        "histogram",
        SETUP,
        """
        paddle.histogram(T([1, 2, 1]), bins=4, min=0, max=3)
        paddle.histogram(T([1., 2., 1.]), 4)
        paddle.histogram(T([1., 2., 1.]), 4, density=True)
        paddle.histogram(T([1., 2., 1.]), 4, weight=T([1., 2., 3.]))
        paddle.histogram(T([1., 2., 1.]), 4, weight=T([1., 2., 3.]), density=True)
        paddle.histogram(T([1., 1.]), 4)
        paddle.histogram(T([1, 1], 'int32'), 4)
        paddle.histogram(T([1., nan, 2.]), 4, 0, 3)
        paddle.histogram(T([1., inf, -inf, 5., -5.]), 4, 0, 3)
        paddle.histogram(T([1, 5, -5, 3]), 4, 0, 3)
        paddle.histogram(T([1., 2.], 'float64'), 4, 1.5, 1.75)
        paddle.histogram(T([1.]), 4, weight=T([1., 2.]))
        paddle.histogram(x.T, 4, 2, 5)
        paddle.histogram(T([1, 2]), 4, 2, 3.5)
        paddle.histogram(T([1., 2.], 'float64'), 2, density=True)
        paddle.histogram(paddle.sin(paddle.arange(1000.)), 7)
        x.histogram(3)
        paddle.histogram(z, 4)
        paddle.histogram(T([]), 4)
        paddle.histogram(T([1., 2.]), 4, 3, 1)
        paddle.histogram(T([1., 2.]), 0)
        paddle.histogram(T([1., inf]), 4)
        """,
        Steps(4),
    ),
    # Edges are a product and a sum on either side, within a step of the range.
    *lines(
        "histogram_bin_edges",
        SETUP,
        """
        paddle.histogram_bin_edges(T([1, 2, 1]), bins=4, min=0, max=3)
        paddle.histogram_bin_edges(T([1., 2., 1.]), 4)
        paddle.histogram_bin_edges(x[:, ::2], 3)
        paddle.histogram_bin_edges(T([1., 1.], 'float64'), 4)
        x.histogram_bin_edges(2)
        paddle.histogram_bin_edges(T([]), 4)
        paddle.histogram_bin_edges(T([1.]), 4, 3, 1)
        """,
        Steps(4),
    ),
    *known(
        "histogram_bin_edges",
        "edges of nothing",
        "paddle.histogram_bin_edges(T([1.]), 0) => ValueError\npaddle.histogram_bin_edges(T([1., inf]), 4) => ValueError",
    ),
    # The edges as above; a density is divided by the sum and by two widths, differences of edges of up to 2.
    *lines(
        "histogramdd",
        SETUP + "\np = T([[0., 1.], [1., 0.], [2., 0.], [2., 2.]])",
        """
        paddle.histogramdd(p, [3, 3])
        paddle.histogramdd(p[::-1], 3, weights=T([1., 2., 4., 8.]))
        paddle.histogramdd(p.astype('float64'), 3, ranges=[0., 2., 0., 3.])
        paddle.histogramdd(p, 3, ranges=[0., 2., 0., 3.], density=True)
        p.histogramdd([2, 4])
        """,
        Summed(8, 2.0),
    ),
    *known(
        "histogramdd",
        "edges of bins",
        "paddle.histogramdd(T([[0., 1.], [1., 0.]]), [T([0., 1., 2.]), T([0., .5, 1.])])[0] => T([[0., 1.], [1., 0.]])",
    ),
]

ROWS: list[Row] = [*SORTS, *MEDIANS, *SCANS, *COUNTS]
