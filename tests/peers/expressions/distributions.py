"""Random values: shapes, dtypes, errors, and what does not depend on the generator.

How they are distributed is in tests/python/test_distributions.py.
"""

from __future__ import annotations

from match import Steps

from .products import ours
from .row import Row, defects, lines

SETUP = (
    "f = T([0.0, 3.0])\nn = T([0, 3])\ne = T([])\nz = T(1.0)\nw = T([0.0, 1.0])\n"
    "k = T([0.0, 1.0, 0.5])\nr = T([[0.0, 1.0], [1.0, 0.0]])\nones = paddle.ones([3, 4])\n"
    "half = T([0.0, 3.0], 'float16')\nb = T([0.0, 1.0], 'bfloat16')"
)

BERNOULLI = [
    *lines(
        "bernoulli",
        SETUP,
        """
        paddle.bernoulli(w)
        paddle.bernoulli(w.astype('float64'))
        paddle.bernoulli(r.T)
        paddle.bernoulli(ones[::2] * 0.5).shape
        paddle.bernoulli(f, 1.0)
        paddle.bernoulli(f, p=T(0.0))
        paddle.bernoulli(e)
        paddle.bernoulli(z)
        paddle.bernoulli(f)
        paddle.bernoulli(-w)
        paddle.bernoulli(T([nan]))
        paddle.bernoulli(f, 2.0)
        paddle.bernoulli(1.0)
        sorted(set(paddle.bernoulli(paddle.full([1000], 0.5)).tolist()))
        paddle.seed(1) ;; x = paddle.bernoulli(ones / 2) ;; paddle.seed(1) ;; bool((x == paddle.bernoulli(ones / 2)).all())
        (f.bernoulli_(1.0) is f, f)
        f.bernoulli_(0)
        f.bernoulli_(w)
        f.bernoulli_(T(1.0))
        f.bernoulli_(2.0)
        f.astype('float64').bernoulli_(w)
        f.bernoulli_(w.astype('float64'))
        e.bernoulli_(1.0)
        z.bernoulli_(0.0)
        paddle.bernoulli_(f, 1.0)
        x = paddle.zeros([2, 4]) ;; x[:, 1:3].bernoulli_(1.0) ;; x
        f.bernoulli_(T([0, 1]))
        sorted(set(paddle.zeros([1000]).bernoulli_().tolist()))
        """,
    ),
    *ours(
        "bernoulli",
        SETUP,
        """
        paddle.bernoulli(b)  =>  T([0.0, 1.0], 'bfloat16')
        paddle.bernoulli(b.astype('float16'))  =>  T([0.0, 1.0], 'float16')
        half.bernoulli_(1.0)  =>  paddle.ones([2], 'float16')
        paddle.bernoulli(n)  =>  RuntimeError
        n.bernoulli_(1.0)  =>  RuntimeError
        """,
    ),
    *defects("bernoulli", "in-place shape", SETUP, "f.bernoulli_(r)  =>  ValueError"),
    *defects("bernoulli", "unchecked argument", SETUP, "f.bernoulli_('a')  =>  TypeError"),
    *defects("bernoulli", "probability nan", SETUP, "f.bernoulli_(nan)  =>  paddle.zeros([2])"),
]

IN_PLACE = [
    *lines(
        "exponential",
        SETUP,
        """
        f.exponential_() is f
        f.exponential_(inf)
        f.exponential_(0.0)
        f.exponential_(nan)
        f.exponential_(lam=2).shape
        f.exponential_(T(1.0)).shape
        f.astype('float64').exponential_().dtype
        e.exponential_()
        z.exponential_().shape
        f.exponential_('a')
        f.exponential_(T([1.0, 2.0]))
        bool((paddle.zeros([1000]).exponential_() > 0).all())
        bool((paddle.zeros([1000]).exponential_(-1.0) < 0).all())
        """,
    ),
    *lines(
        "cauchy",
        SETUP,
        """
        (f.cauchy_(3.0, 0.0), f)
        paddle.cauchy_(f, 3.0, 0.0)
        f.astype('float64').cauchy_(3, 0)
        f.cauchy_(T([1.0, 2.0]), 0.0)
        f.cauchy_(T(1.0), T(0.0))
        f.cauchy_(1, -1).shape
        e.cauchy_()
        z.cauchy_(1.0, 0.0)
        x = paddle.zeros([2, 4]) ;; x[:, ::2].cauchy_(1.0, 0.0) ;; x
        f.cauchy_(T(1.0), T([0.0, 0.0]))
        f.cauchy_(r)
        f.cauchy_('a')
        """,
    ),
    *lines(
        "geometric",
        SETUP,
        """
        (f.geometric_(1.0), f)
        paddle.geometric_(f, 1.0)
        f.astype('float64').geometric_(0.5).dtype
        f.geometric_(T([0.5, 1.0])).shape
        e.geometric_(0.5)
        z.geometric_(0.5).shape
        f.geometric_(2.0)
        bool((paddle.zeros([1000]).geometric_(0.3) >= 0).all())
        f.geometric_(r)
        f.geometric_('a')
        f.geometric_()
        n.geometric_(0.5)
        """,
    ),
    *lines(
        "log_normal",
        SETUP,
        """
        paddle.log_normal(0.0, 0.0, [2])
        paddle.log_normal(w, 0.0)
        paddle.log_normal(0.0, T([0.0, 0.0]))
        paddle.log_normal(T([0.0], 'float64'), 0.0)
        paddle.log_normal(1, 0, [])
        paddle.log_normal(shape=[2]).dtype
        paddle.log_normal(shape=[0, 3])
        paddle.log_normal(0.0, 0.0, T([2]))
        paddle.log_normal('a', 1.0, [2])
        bool((paddle.log_normal(shape=[1000]) > 0).all())
        (f.log_normal_(0.0, 0.0), f)
        paddle.log_normal_(f.astype('float64'), 1.0, 0.0)
        e.log_normal_()
        z.log_normal_(0.0, 0.0)
        """,
        Steps(2),
    ),
    *lines(
        "random",
        SETUP,
        """
        (f.random_(0, 1) is f, f)
        f.random_(3, 4)
        f.random_(1)
        n.random_(-3, -2)
        n.random_(from_=0, to=1)
        n.random_(T(3), T(4))
        half.random_(7, 8)
        b.random_(7, 8)
        f.astype('float64').random_().dtype
        e.random_()
        T(3).random_(0, 1)
        T([0, 3], 'int32').random_(7, 8)
        T([0, 3], 'int32').random_(2**40, 2**40 + 1)
        n.random_(-3)
        n.random_(3, 3)
        n.random_(5, 3)
        n.random_(0.5, 3.5)
        n.random_('a')
        x = paddle.zeros([1000]).random_() ;; (float(x.min()) >= 0, float(x.max()) < 2**24, bool((x == x.round()).all()))
        """,
    ),
    *ours(
        "exponential",
        SETUP,
        """
        half.exponential_(inf)  =>  T([0.0, 0.0], 'float16')
        b.exponential_(inf)  =>  T([0.0, 0.0], 'bfloat16')
        half.cauchy_(3.0, 0.0)  =>  T([3.0, 3.0], 'float16')
        half.log_normal_(0.0, 0.0)  =>  T([1.0, 1.0], 'float16')
        half.geometric_(1.0)  =>  T([0.0, 0.0], 'float16')
        n.exponential_()  =>  RuntimeError
        n.cauchy_()  =>  RuntimeError
        n.log_normal_()  =>  RuntimeError
        T([True]).random_(0, 1)  =>  RuntimeError
        T([0, 3], 'int8').random_(7, 8)  =>  T([7, 7], 'int8')
        T([0, 3], 'uint8').random_(7, 8)  =>  T([7, 7], 'uint8')
        """,
    ),
]

MULTINOMIAL = [
    *lines(
        "multinomial",
        SETUP,
        """
        paddle.multinomial(w)
        paddle.multinomial(w.astype('float64'))
        paddle.multinomial(w, 2, True)
        paddle.multinomial(r.T, 3, True)
        paddle.multinomial(r)
        w.multinomial(2, True)
        paddle.multinomial(input=w, num_samples=2, replacement=True)
        paddle.multinomial(w, T([2]), True)
        paddle.multinomial(w, T(2), True)
        paddle.multinomial(k, 2).shape
        sorted(paddle.multinomial(k, 2).tolist())
        sorted(paddle.multinomial(paddle.ones([100]), 100).tolist()) == list(range(100))
        paddle.multinomial(ones, 3).shape
        paddle.multinomial(ones[:, ::2], 5, True).shape
        paddle.multinomial(paddle.zeros([0, 3]), 2)
        o = T([9]) ;; paddle.multinomial(w, 2, True, out=o) ;; o
        paddle.multinomial(w, 2)
        paddle.multinomial(k, 4)
        paddle.multinomial(T([0.0, 0.0]), 1, True)
        paddle.multinomial(T([[0.0, 0.0], [1.0, 0.0]]))
        paddle.multinomial(-w)
        paddle.multinomial(T([nan, 1.0]), 1, True)
        paddle.multinomial(w, 0)
        paddle.multinomial(w, -1)
        paddle.multinomial(z)
        paddle.multinomial(e)
        paddle.multinomial(paddle.ones([3, 0]), 2)
        paddle.multinomial(paddle.ones([2, 2, 2]), 2)
        paddle.multinomial([1.0])
        """,
    ),
    *ours(
        "multinomial",
        SETUP,
        """
        paddle.multinomial(b)  =>  T([1])
        paddle.multinomial(b.astype('float16'), 2, True)  =>  T([1, 1])
        paddle.multinomial(n)  =>  RuntimeError
        """,
    ),
    *defects("multinomial", "whole numbers of things", SETUP, "paddle.multinomial(w, 2.0, True)  =>  TypeError"),
    *defects("multinomial", "infinite weight", SETUP, "paddle.multinomial(T([1.0, inf]))  =>  ValueError"),
]

COUNTED = [
    *lines(
        "binomial",
        SETUP,
        """
        paddle.binomial(T([3, 5]), w)
        paddle.binomial(T([3, 5], 'int32'), w)
        paddle.binomial(T([3.7]), z)
        paddle.binomial(T([3]), T([1.0], 'float64'))
        paddle.binomial(T([3.0]), r.T)
        paddle.binomial(T(3), z)
        paddle.binomial(T([-3]), z)
        paddle.binomial(T([3]), T([2.0]))
        paddle.binomial(T([3]), T([-1.0]))
        paddle.binomial(e, e)
        paddle.binomial(paddle.zeros([0, 2]), w)
        paddle.binomial(3, z)
        paddle.binomial(T([3, 4]), T([1.0, 1.0, 1.0]))
        x = paddle.binomial(paddle.full([1000], 3), paddle.full([1000], 0.5)) ;; sorted(set(x.tolist()))
        """,
    ),
    *lines(
        "poisson",
        SETUP,
        """
        paddle.poisson(T([0.0, 0.0]))
        paddle.poisson(T([0.0], 'float64'))
        paddle.poisson(T([-1.0]))
        paddle.poisson(e)
        paddle.poisson(T(0.0))
        paddle.poisson(ones[:, ::2]).shape
        paddle.poisson(0.0)
        x = paddle.poisson(paddle.full([1000], 3.0)) ;; (bool((x >= 0).all()), bool((x == x.round()).all()))
        """,
    ),
    *lines(
        "standard_gamma",
        SETUP,
        """
        paddle.standard_gamma(T([0.0, -1.0]))
        paddle.standard_gamma(T([0.0], 'float64'))
        paddle.standard_gamma(T([inf]))
        paddle.standard_gamma(e)
        paddle.standard_gamma(z).shape
        paddle.standard_gamma(ones[:, ::2]).shape
        paddle.standard_gamma(z.astype('float64')).dtype
        paddle.standard_gamma(1.0)
        bool((paddle.standard_gamma(paddle.full([1000], 0.01)) > 0).all())
        """,
    ),
    *ours(
        "poisson",
        SETUP,
        """
        paddle.binomial(T([3]), T([1.0], 'bfloat16'))  =>  T([3])
        paddle.binomial(T([3]), T([1.0], 'float16'))  =>  T([3])
        paddle.poisson(T([0.0], 'float16'))  =>  T([0.0], 'float16')
        paddle.binomial(T([3]), T([1]))  =>  RuntimeError
        paddle.poisson(n)  =>  RuntimeError
        paddle.standard_gamma(n)  =>  RuntimeError
        paddle.standard_gamma(half).dtype  =>  half.dtype
        """,
    ),
    Row("binomial", "paddle.binomial(T([3]), T([nan]))", rule="probability nan", instead="fail(ValueError)"),
    *defects(
        "poisson",
        "probability nan",
        SETUP,
        "paddle.poisson(T([nan]))  =>  T([nan])\npaddle.standard_gamma(T([nan]))  =>  T([nan])",
    ),
]

ROWS = [*BERNOULLI, *IN_PLACE, *MULTINOMIAL, *COUNTED]
