"""Ranges with their end, DLPack's capsules, and methods that give a tensor other memory."""

from __future__ import annotations

from .products import ours
from .row import defects, lines

SETUP = (
    "x = T([1.0, 2.0])\ny = T([1.0, 2.0, 3.0, 4.0])\nm = T([[1.0, 2.0], [3.0, 4.0]])\nn = T([1, 2, 3, 4])\ne = T([])"
)

RANGE = [
    *lines(
        "range",
        "",
        """
        paddle.range(3)
        paddle.range(3.0)
        paddle.range()
        paddle.range(1, 4)
        paddle.range(1, 4, dtype='int64')
        paddle.range(1, 4, 2, 'int32')
        paddle.range(4, 1, -1)
        paddle.range(0, 1, 0.25)
        paddle.range(0, 1, 0.4, dtype='float64')
        paddle.range(0, 0.3, 0.1)
        paddle.range(0, 0.3, 0.1, dtype='float64')
        paddle.range(0.5, 3.7, dtype='int64')
        paddle.range(0, 10, 2.5, 'int64')
        paddle.range(T([1.0]), T([4]), T(1))
        paddle.range(T([1]), 4, dtype='int32')
        paddle.range(0, 0)
        paddle.range(-1)
        paddle.range(end=4, start=2, device='cpu')
        o = T([9.0]) ;; paddle.range(3, out=o) ;; o
        paddle.range(0, 5, 0)
        paddle.range(0, 10, 0.5, 'int64')
        """,
    ),
    *ours(
        "range",
        "",
        """
        paddle.range(3, dtype='float16')  =>  T([0.0, 1.0, 2.0, 3.0], 'float16')
        paddle.range(3, dtype='bfloat16')  =>  T([0.0, 1.0, 2.0, 3.0], 'bfloat16')
        paddle.range(3, dtype='int8')  =>  T([0, 1, 2, 3], 'int8')
        """,
    ),
    *defects(
        "range",
        "range of nothing",
        "",
        """
        paddle.range(4, 1)  =>  T([])
        paddle.range(4, 1, dtype='int64')  =>  paddle.zeros([0], 'int64')
        paddle.range(0, inf)  =>  ValueError
        paddle.range(0, 1, nan)  =>  ValueError
        paddle.range('a')  =>  TypeError
        """,
    ),
]

STORAGE = [
    *lines(
        "dlpack",
        SETUP,
        """
        type(paddle.to_dlpack(x)).__name__
        paddle.from_dlpack(paddle.to_dlpack(x))
        paddle.from_dlpack(paddle.to_dlpack(m[:, ::2]))
        v = paddle.from_dlpack(paddle.to_dlpack(x)) ;; v[0] = 5.0 ;; x
        paddle.utils.dlpack.from_dlpack(paddle.utils.dlpack.to_dlpack(n))
        c = paddle.to_dlpack(x) ;; v = paddle.from_dlpack(c) ;; paddle.from_dlpack(c)
        paddle.to_dlpack(3)
        """,
    ),
    *lines(
        "apply",
        SETUP,
        """
        (x.apply(lambda v: v + 1), x)
        x.apply(func=lambda v: v.sum())
        e.apply(lambda v: v + 1)
        x.apply(lambda v: v.add_(T(1.0))) ;; x
        (x.apply_(lambda v: v + 1) is x, x)
        x.apply_(lambda v: v.astype('int64')) ;; x
        x.apply_(lambda v: v.sum()) ;; x
        v = x[:1] ;; x.apply_(lambda u: u + 1) ;; v
        T(1.0).apply_(lambda v: v + 1)
        (x.detach_() is x, x, x.stop_gradient)
        e.detach_()
        T(1).detach_()
        m.T.detach_()
        v = x.detach_() ;; v[0] = 9.0 ;; x
        """,
    ),
    *lines(
        "resize",
        SETUP,
        """
        (y.resize_([2, 2]) is y, y)
        y.resize_([2])
        y.resize_((3, 1))
        y.resize_([6], True)
        y.resize_([2, 5], fill_zero=True)
        y.resize_([6]).shape
        y.resize_([0])
        y.resize_([])
        T(1.0).resize_([1])
        e.resize_([2]).shape
        y[::2].resize_([2])
        T([1, 2, 3], 'int8').resize_([2])
        v = y[1:] ;; y.resize_([2]) ;; y[1] = 9.0 ;; v
        y.resize_(4)
        y.resize_(T([2, 2]))
        y.resize_([-1])
        y.resize_([2.0])
        """,
    ),
    *lines(
        "set",
        SETUP,
        """
        (x.set_(y) is x, x)
        x.set_(y) ;; y[0] = 7.0 ;; x
        x.set_()
        n.set_()
        x.set_(y, [2, 2])
        x.set_(y, [2, 2], [1, 2])
        x.set_(y, [2], [2])
        x.set_(y, [2], [2], 4)
        x.set_(y, [2], None, 4)
        x.set_(source=y, shape=[1], stride=[1], offset=12)
        x.set_(y, 1)
        x.set_(x, [1])
        v = x[:1] ;; x.set_(y) ;; v
        x.set_([1.0])
        """,
    ),
    *defects(
        "set",
        "memory of a view",
        SETUP,
        """
        x.set_(y[2:])  =>  T([3.0, 4.0])
        x.set_(m.T)  =>  m.T
        y[1:].resize_([2])  =>  T([2.0, 3.0])
        m.T.resize_([4])  =>  m.T.reshape([4])
        """,
    ),
    *defects(
        "set",
        "unchecked argument",
        SETUP,
        """
        x.set_(n)  =>  TypeError
        x.set_(y, [5])  =>  ValueError
        x.set_(y, [2], None, 3)  =>  ValueError
        x.set_(y, [2], [1], -4)  =>  ValueError
        x.set_(y, [2], [1, 1])  =>  ValueError
        e.resize_([2], True)  =>  T([0.0, 0.0])
        """,
    ),
    *lines(
        "split",
        SETUP,
        """
        n.split_with_sizes([1, 3])
        n.split_with_sizes((0, 4))
        n.split_with_sizes(T([1, 3]))
        n.split_with_sizes([T(1), T(3)])
        m.T.split_with_sizes([1, 1], 1)
        m.split_with_sizes(split_sizes=[1, 1], dim=-1)
        e.split_with_sizes([0])
        e.split_with_sizes([])
        v = n.split_with_sizes([1, 3]) ;; v[0][0] = 9 ;; n
        n.split_with_sizes([1, 2])
        n.split_with_sizes([5, -1])
        n.split_with_sizes(4)
        n.split_with_sizes([1.0, 3.0])
        m.split_with_sizes([1, 1], 2)
        m.split_with_sizes([1, 1], -3)
        T(3).split_with_sizes([1])
        n.reshape([4, 1]).shard_index(6, 2, 1)
        n.reshape([4, 1]).astype('int32').shard_index(5, 2, 0, 9)
        """,
    ),
]

ROWS = [*RANGE, *STORAGE]
