"""Reading and writing through index tensors and masks."""

from __future__ import annotations

from .row import defects, lines

SETUP = (
    "x = paddle.arange(12.0).reshape([3, 4])\nv = T([1.0, 2.0, 3.0])\nz = T(3.0)\ne = paddle.zeros([0, 3])\n"
    "i = T([0, 2])\nk = T([[0, 0], [1, 1], [2, 2]])\nu = T([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])"
)

READS = [
    *lines(
        "gather_nd",
        SETUP,
        """
        paddle.gather_nd(x, T([[0, 1], [2, 3]]))
        paddle.gather_nd(x.T, T([[0], [2]]))
        x.gather_nd(T([1]))
        paddle.gather_nd(x, T([1, 2]))
        paddle.gather_nd(x, T([[-1, -1]]))
        paddle.gather_nd(x > 3, T([[0, 1]], 'int32'))
        paddle.gather_nd(x, paddle.zeros([2, 0], 'int64')).shape
        paddle.gather_nd(x, paddle.zeros([0, 2], 'int64'))
        paddle.gather_nd(x, T([[1, 2, 3]]))
        paddle.gather_nd(x, T([[3, 0]]))
        paddle.gather_nd(x, T([[0.0, 1.0]]))
        """,
    ),
    *lines(
        "index_select",
        SETUP,
        """
        paddle.index_select(x, i)
        paddle.index_select(x.T, i, 1)
        x.index_select(i, axis=-1)
        paddle.index_select(x, T([[0], [2]]))
        paddle.index_select(x, T([-1]))
        paddle.index_select(x, T([0], 'int32'))
        paddle.index_select(x, T([], 'int64'))
        paddle.index_select(input=x, dim=1, index=i)
        paddle.index_select(x, 1, i)
        paddle.index_select(v[::-1], T([0, 0]))
        paddle.index_select(x, T(0))
        paddle.index_select(x, T([5]))
        paddle.index_select(x, T([0.0]))
        paddle.index_select(x, i, 2)
        paddle.index_select(z, T([0]))
        """,
    ),
    *lines(
        "index_sample",
        SETUP,
        """
        paddle.index_sample(x, T([[0, 1], [1, 2], [3, 3]]))
        x.T.index_sample(T([[0], [1], [2], [0]]))
        paddle.index_sample(x, paddle.zeros([3, 0], 'int64'))
        paddle.index_sample(x, k.astype('int32'))
        paddle.index_sample(x, T([[0, 1], [1, 2]]))
        paddle.index_sample(x, T([0, 1]))
        paddle.index_sample(x, T([[0, 1], [1, 2], [3, 4]]))
        paddle.index_sample(v, T([[0]]))
        """,
    ),
    *lines(
        "take",
        SETUP,
        """
        paddle.take(x, T([0, 5, -1]))
        x.T.take(T([[0, 5], [1, 2]]))
        paddle.take(x, T([13, -13]), 'wrap')
        paddle.take(x, T([13, -13]), mode='clip')
        paddle.take(x, T(3))
        paddle.take(x, T([12]))
        paddle.take(x, T([0.0]))
        paddle.take(x, T([0]), 'foo')
        paddle.take(x, 3)
        """,
    ),
    *defects(
        "take",
        "index range",
        SETUP,
        """
        paddle.take(x, T([-13]))  =>  ValueError
        paddle.index_fill(x, T([4]), 1, 5)  =>  IndexError
        paddle.masked_scatter(x, x > 9, T([1.0]))  =>  ValueError
        paddle.take_along_axis(x, T([[0.0]]), 1)  =>  TypeError
        paddle.take_along_axis(x, T([[0]], 'uint8'), 1)  =>  TypeError
        """,
    ),
    *lines(
        "take_along_axis",
        SETUP,
        """
        paddle.take_along_axis(x, T([[0], [1], [2]]), 1)
        paddle.take_along_axis(x, T([[0]]), 1)
        paddle.take_along_axis(x.T, T([[0, 1, 2]]), 0)
        paddle.take_along_axis(x, T([[0]]), 1, False)
        paddle.take_along_axis(x, T([[0, 1]]), 1, broadcast=False)
        x.take_along_axis(T([[-1]], 'int32'), -1)
        paddle.take_along_axis(x, paddle.zeros([2, 6], 'int64'), 1, False)
        paddle.take_along_axis(x, paddle.zeros([3, 0], 'int64'), 1)
        paddle.take_along_dim(x, T([[0], [1], [2]]), 1).shape
        paddle.take_along_axis(v[::-1], T([2, 0]), 0)
        paddle.take_along_axis(paddle.arange(24).reshape([2, 3, 4]), T([[[1], [2], [0]]]), 2)
        paddle.take_along_axis(x, T([0]), 1)
        paddle.take_along_axis(x, T([[4]]), 1)
        paddle.take_along_axis(x, T([[-5]]), 1)
        paddle.take_along_axis(x, T([[0]]), 2)
        paddle.take_along_axis(x, paddle.zeros([5, 1], 'int64'), 1)
        paddle.take_along_axis(x, paddle.zeros([5, 1], 'int64'), 1, False)
        """,
    ),
    *lines(
        "masked_select",
        SETUP,
        """
        paddle.masked_select(x, x > 9)
        paddle.masked_select(x, T([[True], [False], [True]]))
        x.T.masked_select((x > 8).T)
        paddle.masked_select(v, T([[True, False, True]]))
        paddle.masked_select(v, T([False, False, False]))
        paddle.masked_select(z, T(True))
        paddle.masked_select(x, T(True))
        paddle.masked_select(x, T([True, False]))
        paddle.masked_select(v, T([1, 0, 1]))
        paddle.argwhere(x > 9)
        paddle.argwhere(e)
        x.T.argwhere()[:2]
        paddle.argwhere(z)
        """,
    ),
    *lines(
        "multiplex",
        SETUP,
        """
        paddle.multiplex([x, x + 100], T([[0], [1], [0]], 'int32'))
        paddle.multiplex([x.T, x.T * 2], T([[1], [1]], 'int32'))
        paddle.multiplex([x, x + 100], T([[0], [1], [0]]))
        paddle.multiplex([x, x + 100], T([0, 1, 0], 'int32'))
        paddle.multiplex([x, x + 100], T([[2], [1], [0]], 'int32'))
        paddle.multiplex([x], T([[0], [0], [0]], 'int32'))
        paddle.multiplex([x, v], T([[0], [0], [0]], 'int32'))
        paddle.multiplex([v, v], T([[0], [0], [0]], 'int32'))
        """,
    ),
]

REDUCES = "add mul multiply mean amin amax".split()

WRITES = [
    *lines(
        "put_along_axis",
        SETUP,
        "\n".join(
            f"paddle.put_along_axis({x}, k{t}, u{t}, {axis}, {reduce!r}{self})"
            for reduce in REDUCES
            for self in ("", ", include_self=False")
            for x, t, axis in (("x", "", 1), ("x.T", ".T", 0))
        ),
    ),
    *lines(
        "put_along_axis",
        SETUP,
        """
        paddle.put_along_axis(x, T([[0], [1], [2]]), 9.0, 1)
        paddle.put_along_axis(x, T([[0]]), T([[9.0]]), 1)
        paddle.put_along_axis(x, T([[0]]), 9.0, 1, broadcast=False)
        paddle.put_along_axis(x, k, u, 1, 'assign')
        paddle.put_along_axis(x, T([[-1]]), 9.0, 1)
        paddle.put_along_axis(x, T([[0, 1]]), T([[9.0, 8.0, 7.0]]), 1, broadcast=False)
        paddle.put_along_axis(x, T([[0, 1], [1, 2]]), T([[9.0, 8.0, 7.0], [1.0, 2.0, 3.0]]), 1, broadcast=False)
        paddle.put_along_axis(T([[1, 2], [3, 4]]), T([[0, 0], [1, 1]]), T([[1, 2], [3, 5]]), 1, 'mean')
        paddle.put_along_axis(T([[1, 2], [3, 4]]), T([[0, 0], [1, 1]]), T([[-1, -3], [-3, -8]]), 1, 'mean')
        paddle.put_along_axis(T([[1, 2]], 'int32'), T([[0, 0]]), T([[2**31 - 1, 3]], 'int32'), 1, 'add')
        paddle.put_along_axis(T([[1, 2]], 'uint8'), T([[0, 0]]), T([[200, 100]], 'uint8'), 1, 'mul')
        y = x.clone() ;; y.put_along_axis_(T([[0]]), 9.0, 1) ;; y
        y = x.clone() ;; y.put_along_axis_(T([[0]]), 9.0, 1) is y
        paddle.put_along_axis(x, T([[0]]), 9.0, 1, 'foo')
        paddle.put_along_axis(x, T([[7]]), 9.0, 1)
        paddle.put_along_axis(x, T([[-9]]), 9.0, 1)
        paddle.put_along_axis(x, T([0]), 9.0, 1)
        paddle.put_along_axis(x, T([[0]]), 9.0, 2)
        paddle.put_along_axis(x, T([[0]]), T([[9]]), 1)
        paddle.put_along_axis(x, T([[0.0]]), 9.0, 1)
        paddle.put_along_axis(x, T([[0, 1]]), T([[9.0]]), 1, broadcast=False)
        """,
    ),
    *lines(
        "scatter",
        SETUP,
        """
        paddle.scatter(x, i, paddle.ones([2, 4]))
        paddle.scatter(x.T, T([3]), paddle.ones([1, 3]))
        paddle.scatter(x, T([0, 0, 2]), paddle.ones([3, 4]), overwrite=False)
        paddle.scatter(x, T([0, 0, 2]), paddle.ones([3, 4]) * T([[1.0], [2.0], [3.0]]))
        paddle.scatter(x, T(1), paddle.ones([4]))
        paddle.scatter(x, T(1), paddle.ones([4]), False)
        paddle.scatter(x, i, paddle.ones([3, 4]))
        paddle.scatter(x, T([[0], [2]]), paddle.ones([2, 4]))
        paddle.scatter(x, T([-1], 'int32'), paddle.ones([1, 4]))
        paddle.scatter(v, i, T([9.0, 8.0]))
        paddle.scatter(v, T([], 'int64'), paddle.zeros([0]))
        y = x.clone() ;; y.scatter_(i, paddle.ones([2, 4])) ;; y
        paddle.scatter(x, 1, T([[0]]), T([[5.0]]))
        paddle.scatter(x, 1, T([[0]]), 5.0)
        paddle.scatter(input=x, dim=1, index=T([[0]]), src=T([[5.0]]))
        paddle.scatter(input=x, dim=1, index=T([[0]]), src=T([[5.0]]), reduce='add')
        paddle.scatter(x, 1, T([[0]]), value=5.0, reduce='multiply')
        y = x.clone() ;; y.scatter_(1, T([[0]]), T([[5.0]]))
        paddle.scatter(x, i, paddle.ones([2, 3]))
        paddle.scatter(x, i, paddle.ones([4]))
        paddle.scatter(x, T([3]), paddle.ones([1, 4]))
        paddle.scatter(x, i, paddle.ones([2, 4], 'int64'))
        paddle.scatter(x, T([0.0]), paddle.ones([1, 4]))
        paddle.scatter(z, T([0]), T([1.0]))
        """,
    ),
    *lines(
        "scatter_nd",
        SETUP,
        """
        paddle.scatter_nd(T([[1], [1], [0]]), v, [4])
        paddle.scatter_nd(T([[1, 1], [0, 1]]), T([1.0, 2.0]), [2, 2])
        paddle.scatter_nd(T([[1], [0]]), paddle.ones([2, 3]), [2, 3])
        paddle.scatter_nd(T([[-1]]), T([1.0]), [4])
        paddle.scatter_nd(T([[1]]), T([2]), [4])
        paddle.scatter_nd(T([1]), T(2.0), [4])
        paddle.scatter_nd(T([[4]]), T([1.0]), [4])
        paddle.scatter_nd(T([[1]]), T([1.0, 2.0]), [4])
        paddle.scatter_nd(T([1]), T([2.0]), [4])
        paddle.scatter_nd_add(v, T([[1], [1]]), T([1.0, 2.0]))
        x.T.scatter_nd_add(T([[1], [1]]), paddle.ones([2, 3]))
        paddle.scatter_nd_add(v, T([[-1]], 'int32'), T([1.0]))
        paddle.scatter_nd_add(v, paddle.zeros([2, 0], 'int64'), paddle.ones([2, 3]))
        paddle.scatter_nd_add(v, T([[1], [1]]), T([1, 2]))
        paddle.scatter_nd_add(v, T([[3]]), T([1.0]))
        paddle.scatter_nd_add(v, T([[1.0]]), T([1.0]))
        """,
    ),
    *lines(
        "scatter_add",
        SETUP,
        """
        paddle.scatter_add(x, 1, T([[0, 0]]), T([[1.0, 2.0]]))
        paddle.scatter_add(x.T, 0, T([[0], [0]]), T([[1.0], [2.0]]))
        y = x.clone() ;; y.scatter_add_(1, T([[0, 0]]), T([[1.0, 2.0]])) ;; y
        paddle.scatter_add(x, 1, T([[0, 0]]), T([[1.0]]))
        paddle.scatter_add(x, 1, T([[0]]), T([[1]]))
        paddle.scatter_reduce(x, 1, T([[0, 0]]), T([[1.0, 2.0]]), 'sum')
        paddle.scatter_reduce(x, 1, T([[0, 0]]), T([[1.0, 2.0]]), 'prod', include_self=False)
        x.scatter_reduce(1, T([[0, 0]]), T([[1.0, 2.0]]), 'mean')
        paddle.scatter_reduce(x, 1, T([[0, 0]]), T([[1.0, 2.0]]), 'amax')
        """,
    ),
    *lines(
        "index_add",
        SETUP,
        """
        paddle.index_add(x, T([0, 0]), 0, paddle.ones([2, 4]))
        paddle.index_add(x.T, i, -1, paddle.ones([4, 2]))
        paddle.index_add(x, T([0, 0]), 0, paddle.ones([2, 4]), alpha=2)
        paddle.index_add(x, T([-1], 'int32'), 0, paddle.ones([1, 4]))
        paddle.index_add(x, 0, T([0]), paddle.ones([1, 4]))
        paddle.index_add(input=x, dim=0, index=T([0]), source=paddle.ones([1, 4]))
        y = x.clone() ;; y.index_add_(T([0]), 0, paddle.ones([1, 4])) ;; y
        paddle.index_add(x, T([3]), 0, paddle.ones([1, 4]))
        paddle.index_add(x, T([0]), 2, paddle.ones([1, 4]))
        paddle.index_add(x, T([0]), 0, paddle.ones([1, 4], 'int64'))
        paddle.index_add(x, T([0.0]), 0, paddle.ones([1, 4]))
        paddle.index_add(x, T([[0]]), 0, paddle.ones([1, 4]))
        """,
    ),
    *lines(
        "index_fill",
        SETUP,
        """
        paddle.index_fill(x, i, 0, -1)
        paddle.index_fill(x.T, i, 1, T(5.0))
        paddle.index_fill(x, T([-1]), 1, 5)
        paddle.index_fill(x, T([[0]]), 1, 5)
        paddle.index_fill(i, T([0]), 0, 5.7)
        y = x.clone() ;; y.index_fill_(i, 0, 7.0) ;; y
        paddle.index_fill(x, i, 1, T([5.0]))
        paddle.index_fill(x, i, 2, 5)
        paddle.index_fill(x, T([0.0]), 0, 5.7)
        """,
    ),
    *lines(
        "index_put",
        SETUP,
        """
        paddle.index_put(x, [T([0, 1]), T([1, 1])], T([9.0, 8.0]))
        paddle.index_put(x.T, (T([0, 0]),), paddle.ones([2, 3]), True)
        paddle.index_put(x, [T([0, 0]), T([1, 1])], T(1.0), accumulate=True)
        paddle.index_put(x, [x > 9], T(1.0))
        paddle.index_put(x, [x > 9], T([1.0, 2.0]), True)
        x.index_put([T([True, False, True]), T([0, 1])], T([1.0, 2.0]))
        paddle.index_put(x, [T([-1])], T(1.0))
        paddle.index_put(x, [T([0, 1]), T([[0], [1]])], T(1.0))
        y = x.clone() ;; y.index_put_([T([0])], T(7.0)) ;; y
        y = x.clone() ;; y.T.index_put_([T([0, 0])], T(7.0), True) ;; y
        paddle.index_put(T([1, 2]), [T([0, 0])], T([2**62, 2**62]), True)
        paddle.index_put(x, T([0]), T(1.0))
        paddle.index_put(x, [T([0])], T(1))
        paddle.index_put(x, [T([0])], 1.0)
        paddle.index_put(x, [T([0.0])], T(1.0))
        """,
    ),
    *lines(
        "masked_fill",
        SETUP,
        """
        paddle.masked_fill(x, x > 9, 1)
        paddle.masked_fill(x.T, T([[True], [False], [True], [False]]), T(5.0))
        paddle.masked_fill(v, T([[True, False, True]]), 0)
        paddle.masked_fill(i, T([True, False]), 1.7)
        v.masked_fill(T([1, 0, 1]), 0)
        paddle.masked_fill(v, T([True, False, True]), T([1.0, 5.0, 9.0]))
        y = v.clone() ;; y.masked_fill_(T([True, False, True]), 0) ;; y
        paddle.masked_fill(i, T([True, False]), T(1.7))
        paddle.masked_fill(v, T([True, False]), 0)
        paddle.masked_scatter(x, x > 9, v)
        paddle.masked_scatter(x.T, T([[True], [False], [True], [False]]), paddle.arange(20.0))
        paddle.masked_scatter(x, x < 2, x[::-1])
        paddle.masked_scatter(v, T([[True, False, True]]), v)
        paddle.masked_scatter(v, T([False, False, False]), v)
        y = x.clone() ;; y.masked_scatter_(x > 9, v) ;; y
        paddle.masked_scatter(x, x > 9, T([1, 2]))
        paddle.masked_scatter(x, x, x)
        y = x.clone() ;; paddle.where_(y > 3, y, T(0.0)) ;; y
        y = x.clone() ;; c = y > 3 ;; c.where_(y, T(0.0)) ;; y
        """,
    ),
    *defects(
        "masked_fill", "foreign operand", SETUP, "paddle.masked_fill(v, T([True, False, True]), 'a')  =>  TypeError"
    ),
]

ROWS = [*READS, *WRITES]
