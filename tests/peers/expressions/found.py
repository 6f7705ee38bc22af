"""What a tester found: further names and forms, numbers as tensors of one element, PyTorch's gather and softmax."""

from __future__ import annotations

from match import Steps, Ulps

from .row import Row, lines

SETUP = """x = T([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
n = T([[1, 2], [3, 4]])
z = paddle.arange(24).reshape([2, 3, 4])"""

SOFTMAX = [
    *lines(
        "softmax",
        SETUP,
        """
        paddle.softmax(x)
        paddle.softmax(x, 0)
        paddle.softmax(x.T, dim=-1)
        paddle.softmax(z.astype('float32')[:, ::2])
        paddle.softmax(input=z.astype('float64'), dim=1)
        paddle.softmax(n, 0, 'float32')
        paddle.softmax(x[0], None, 'float64')
        paddle.softmax(T(1.0))
        paddle.softmax(paddle.zeros([2, 0, 3]))
        paddle.softmax(x, 2)
        paddle.softmax(x=x)
        paddle.softmax(x, axis=0)
        x.softmax()
        x.T.softmax(0)
        x.softmax(dim=-1)
        x.softmax(-1, 'float64')
        o = paddle.zeros([2, 3]) ;; paddle.softmax(x, 1, out=o) ;; o
        """,
        Ulps("softmax"),
    ),
]

GATHER = [
    *lines(
        "gather",
        SETUP,
        """
        paddle.gather(n, 1, T([[0, 0], [1, 0]]))
        paddle.gather(n, dim=1, index=T([[0, 0], [1, 0]]))
        paddle.gather(input=n, dim=1, index=T([[0, 0], [1, 0]]))
        n.T.gather(1, T([[0, 0], [1, 0]]))
        n.gather(-1, index=T([[1], [0]], 'int32'))
        n.gather(1, T([[0]]))
        n.gather(1, T([[0, 1, 0]]))
        n.gather(1, T([[-1]]))
        z[:, ::2].gather(2, T([[[3, 0]], [[1, 2]]]))
        o = T([0]) ;; paddle.gather(n, 1, T([[0, 0], [1, 0]]), out=o) ;; o
        n.gather(1, T([[0], [0], [0]]))
        n.gather(2, T([[0]]))
        n.gather(1, T([[5]]))
        n.gather(1, T([0]))
        paddle.gather(n, T([0]), dim=0)
        paddle.gather(x=n, index=T([0]), dim=1)
        paddle.gather(n, T([0]), 1)
        paddle.gather(n, index=T([1, 0]), axis=1)
        """,
    ),
    *lines(
        "index_select",
        SETUP,
        """
        paddle.index_select(n, T([0]), T(1))
        paddle.index_select(n.T, axis=T(-1), index=T([0]))
        paddle.index_select(n, 1, T([0]))
        paddle.index_select(n, T([0]), axis=T([1, 1]))
        x.index_select(T([2, 0], 'int32'), T(1))
        """,
    ),
]

NAMES = [
    *lines(
        "aliases",
        SETUP,
        """
        paddle.chunk(input=x, chunks=3, dim=1)
        paddle.chunk(x.T, 3, dim=-2)
        x.chunk(chunks=2, dim=0)
        paddle.unbind(input=x, dim=1)
        x.T.unbind(dim=0)
        paddle.flatten(input=z, start_dim=1, end_dim=2)
        z[:, ::2].flatten(start_dim=1)
        z.flatten(end_dim=1)
        paddle.transpose(z, axis0=0, axis1=2)
        paddle.swapaxes(z, axis0=-1, axis1=0)
        z.transpose(dim0=0, dim1=1)
        z.swapaxes(axis0=0, axis1=1)
        paddle.nonzero(input=x > 2)
        paddle.nonzero(input=x.T > 2, as_tuple=True)
        o = T([0]) ;; paddle.nonzero(x > 2, out=o) ;; o
        paddle.unique_consecutive(input=T([1, 1, 2]))
        paddle.unique_consecutive(T([[1, 1], [1, 1]]).T, dim=0)
        paddle.isclose(input=x, other=x + 1)
        x[:, ::2].isclose(other=x[:, ::2])
        paddle.expand_as(input=x[0], other=x)
        x[0].expand_as(other=x)
        x.view(size=[3, 2])
        paddle.view(x, size=[6])
        paddle.frac(input=x.T + 0.5)
        """,
    ),
    *lines(
        "in-place functions",
        SETUP,
        """
        y = x[:, :1] ;; paddle.squeeze_(y, 1) is y ;; y
        y = x[:, :1] ;; paddle.squeeze_(y) ;; y
        y = x.T ;; paddle.unsqueeze_(y, [0, -1]) ;; y
        y = z[:, ::2] ;; paddle.flatten_(y, 1) ;; y
        y = z[:, ::2] ;; paddle.transpose_(y, [2, 0, 1]) ;; y
        y = T([-8, 3]) ;; paddle.bitwise_left_shift_(y, T([1, 2])) ;; y
        y = T([-8, 3]) ;; paddle.bitwise_right_shift_(y, T([1, 1]), False) ;; y
        y = paddle.zeros([2, 3]).T ;; paddle.normal_(y, 5.0, 0.0) is y ;; y
        paddle.normal_(paddle.zeros([0])).shape
        paddle.squeeze_(x[None], 5)
        """,
    ),
]

ONE_ELEMENT = [
    *lines(
        "one element",
        SETUP,
        """
        paddle.nan_to_num(T([nan, inf]), T([1.0]))
        paddle.nan_to_num(T([nan, inf, -inf])[::-1], T(1.0), T(2.0), T([3.0]))
        paddle.nan_to_num(T([nan, inf], 'float64'), nan=T(1))
        paddle.nan_to_num(T([nan, inf]), T([1.0, 2.0]))
        y = T([nan]) ;; paddle.nan_to_num_(y, T(7.0)) ;; y
        """,
    ),
    # As the rows of logit in special.py.
    *lines(
        "one element",
        SETUP,
        """
        paddle.logit(T([0.1, 0.5]), T(0.2))
        paddle.logit(T([0.1, 0.5])[::-1], eps=T(0.2))
        paddle.logit(T([0.1, 0.5]), eps=T([0.2, 0.3]))
        paddle.logit(T([0.1, 0.5]), eps='a')
        """,
        Steps(8),
    ),
    *lines(
        "vecdot",
        SETUP,
        """
        paddle.vecdot(x, 2.0)
        paddle.vecdot(x.T, 2)
        paddle.vecdot(n, 2.5, 0)
        paddle.vecdot(n, True)
        paddle.vecdot(T([1, 2], 'int32'), 3)
        paddle.vecdot(T([], 'float64'), 3)
        """,
    ),
    *lines(
        "isin",
        SETUP,
        """
        paddle.isin(T([1, 2, 3], 'int8')[::-1], T([1, 3], 'int8'))
        paddle.isin(T([1, 2], 'int8'), T([1]))
        paddle.isin(T([1, 2]), T([1.0]))
        paddle.isin(T([1, 2], 'int32'), T([1]))
        paddle.isin(T([1.0, 2.0]), T([1.0], 'float64'))
        """,
    ),
]

# What Paddle's own tests found: see tests/paddle_suite.
SUITE = [
    *lines(
        "paddle_suite",
        SETUP,
        """
        paddle.argmax(x, keepdim=None)
        paddle.sum(x, 1, keepdim=None)
        paddle.max(x, keepdim=None)
        paddle.Tensor.fill_(x=x, value=2) ;; x
        paddle.Tensor.zero_(x=x) ;; x
        F.pad(z.astype('float32'), [1, 1], value=T(2.5), data_format='NCL')
        F.adaptive_avg_pool2d(z.astype('float32').reshape([1, 2, 3, 4]), T([1, 2]))
        """,
    ),
]

ROWS: list[Row] = [*SOFTMAX, *GATHER, *NAMES, *ONE_ELEMENT, *SUITE]
