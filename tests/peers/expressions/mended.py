"""What users and testers met: calls that answered otherwise than Paddle, each of which is a row from then on."""

from __future__ import annotations

from .row import Row, lines

SETUP = "x = paddle.arange(6.0).reshape([2, 3])\nn = paddle.arange(6).reshape([2, 3])\nb = T([True, False])"

SIZES = [
    *lines(
        "sizes",
        SETUP,
        """
        str(x.shape)
        repr(x[None].shape)
        f'{x.shape}'
        str(x.shape[0:1])
        str(x.T.shape + [1])
        str([1] + x.shape)
        str((1,) + x.shape)
        str(x.shape * 2)
        str(x.shape[::-1])
        x.shape.numel()
        paddle.Size([]).numel()
        paddle.Size([1.5])
        paddle.Size(['a'])
        str(paddle.Size(T([2, 3])))
        x.shape == (2, 3)
        hash(x.shape)
        x.size(0)
        x.T.size(-1)
        str(x.size())
        str(x.size(None))
        x.size(dim=0)
        x.size(5)
        x.size + 1
        str(x.size)
        """,
    ),
    *lines(
        "iteration",
        SETUP,
        """
        next(iter(T(1.0)), None)
        list(T(1.0))
        np.iterable(T(3))
        [i for i in T(3.0)]
        3 in T(3)
        len(T(1.0))
        list(paddle.zeros([0, 2]))
        """,
    ),
]

CALLS = [
    *lines(
        "numpy",
        SETUP,
        """
        np.transpose(x)
        np.transpose(x[::-1])
        np.transpose(T(1.0))
        np.transpose(x, (1, 0))
        x.numpy(False)
        x.T.numpy(force=True)
        x.__rmatmul__(x.T)
        (x + 1).__rsub__(x)
        (x + 1).__rtruediv__(x.T.t())
        (x + 1).__rfloordiv__(x + 2)
        (x + 1).__rmod__(x + 2)
        (x + 1).__rpow__(x + 2)
        """,
    ),
    *lines(
        "matmul",
        SETUP,
        """
        x @ np.ones([3, 2])
        x @ np.ones(3, 'float32')
        np.ones(2) @ x
        n @ np.ones(3, 'int32')
        x[:, ::2] @ np.arange(4.0).reshape([2, 2])[::-1]
        x @ np.ones(2)
        x @ [1.0, 2.0, 3.0]
        """,
    ),
    *lines(
        "multiply",
        SETUP,
        """
        'ab' * T(2)
        T(2) * 'ab'
        [0] * T(3)
        T(2) * b'a'
        """,
    ),
    *lines(
        "to_tensor",
        SETUP,
        """
        T([[T(1.0), 2.0]])
        T([[T(1.0, dtype='float64')], [2.0]])
        T([T(1, dtype='int32')])
        T([T(1, dtype='int32'), True])
        T([[T(1, dtype='int32'), 2]])
        T([T([1.0]), [2.0]])
        T([[[T(1.5, dtype='float64')]]])
        """,
    ),
    *lines(
        "bitwise_right_shift",
        SETUP,
        """
        paddle.bitwise_right_shift(T([-8]), T([1]), False)
        paddle.bitwise_right_shift(T([-8]), T([1]), is_arithmetic=False)
        paddle.bitwise_right_shift(T([-8, 8, -1])[::2], T([0, 63]), False)
        paddle.bitwise_right_shift(T([-8, 127, -128], 'int8'), T([1, 7, 8], 'int8'), False)
        paddle.bitwise_right_shift(T([-8, -8], 'int32'), T([40, -1], 'int32'), False)
        paddle.bitwise_right_shift(T([-8, -2], 'int16'), T([0, 15], 'int16'), False)
        paddle.bitwise_right_shift(T([200, 255], 'uint8'), T([1, 8], 'uint8'), False)
        paddle.bitwise_right_shift(T([[-8], [8]]), T([1, 2, 64]), False)
        paddle.bitwise_right_shift(paddle.zeros([0], 'int64'), T([1]), False)
        T([-8]).bitwise_right_shift(T([1]), False)
        T([-8]).bitwise_right_shift_(T([1]), False)
        T([-8]).bitwise_right_shift_(T([1]))
        paddle.bitwise_right_shift(T([-8]), T([1]), False, None, 'n')
        """,
    ),
    *lines(
        "bitwise_left_shift",
        SETUP,
        """
        paddle.bitwise_left_shift(T([-8, 3], 'int8'), T([5, -1], 'int8'), False)
        paddle.bitwise_left_shift(T([-8, 3]), T([1, 64]), is_arithmetic=True)
        T([-8])[::-1].bitwise_left_shift(T([1]), False)
        T([-8]).bitwise_left_shift_(T([1]), False)
        """,
    ),
    *lines(
        "clip",
        SETUP,
        """
        y = T([0, 1, 2, 5], 'int32') ;; y.clip_(1.5, 2.5) ;; y
        y = T([0, 1, 2, 5], 'int32') ;; y.clip_(-1.5, 2.5) ;; y
        y = T([-5, 0, 1, 2, 5]) ;; y.clip_(T([-1.5]), T([2.5])) ;; y
        y = T([0, 1, 2, 5]) ;; z = y[1:] ;; z.clip_(1.5, 2.5) ;; y
        """,
    ),
    *lines(
        "trunc",
        SETUP,
        """
        paddle.trunc(input=T([1.5, -1.5]))
        paddle.trunc(T([1.5, -1.5])[::-1], None)
        paddle.trunc_(input=T([1.5]))
        T([1.5]).trunc_()
        y = T([1.5, 2.5]) ;; y[1:].trunc_() ;; y
        """,
    ),
    *lines(
        "divide",
        SETUP,
        """
        x.divide_(T(2.0), rounding_mode='floor')
        (x - 2.5).divide_(T(2.0), rounding_mode='trunc')
        x.divide_(T(2.0), 'n')
        x.divide_(T(2.0), rounding_mode='a')
        """,
    ),
    *lines(
        "transpose",
        SETUP,
        """
        paddle.Tensor.t_(input=x)
        n[:, ::2].t_()
        T(1.0).t_(None)
        paddle.t_(x[0])
        paddle.t_(paddle.zeros([2, 2, 2]))
        x.transpose([1, 0], 'n')
        paddle.transpose(x, [1, 0], None)
        """,
    ),
    *lines(
        "names",
        SETUP,
        """
        paddle.expand(x, [2, 2, 3], None)
        paddle.broadcast_to(x[0], [2, 3], 'n')
        paddle.reshape(x, [3, 2], 'n')
        x.reshape([3, 2], None)
        x.reshape_([3, 2], 'n')
        x.T.reshape((3, 2), 'n')
        """,
    ),
]

ONE_ELEMENT = [
    *lines(
        "one element",
        SETUP,
        """
        paddle.concat([x, x], axis=T([1]))
        paddle.concat([x.T, x.T], axis=T([[0]]))
        paddle.gather(x, T([1]), T([1]))
        paddle.gather(x, T([1]), T([[1]]))
        paddle.full([T([2]), 3], 1.0)
        paddle.full([T([2]), T(3)], 1.0)
        paddle.zeros([T([2]), T(3)])
        paddle.split(x, 3, T([1]))
        paddle.split(x, [T([1]), 2], 1)
        paddle.split(x, [T([1]), T([2])], axis=T([1]))
        paddle.slice(x, [0], [T([1])], [T([2])])
        paddle.reshape(x, [T([3]), 2])
        paddle.chunk(x[::-1], 2, T([0]))
        paddle.unsqueeze(x, [T([1])])
        paddle.argmax(x, T([1]))
        paddle.rand([T([2]), 3]).shape
        paddle.randint(0, 3, [T([2])]).shape
        paddle.cumsum(x, T([1]))
        x.item(T(1))
        paddle.full([T([1.5])], 1.0)
        """,
    ),
]

BOOLS = [
    *lines(
        "getitem",
        SETUP + "\nz = paddle.arange(24).reshape([2, 3, 4])",
        """
        x[True, [0, 1]]
        x[True, False]
        x[True, True]
        x.T[[0, 1], True]
        x[T(True), T([0])]
        x[:, True, [0, 1]]
        x[True, ..., False]
        x[False, False]
        x[True, :, [0, 1]]
        z[True, :, :, [0, 1]]
        z[:, [0, 1], :, True]
        z[:, [0, 1], True, [1, 0]]
        z[0, True, [0, 1]]
        z[False, T([True, False])]
        z[True, True, [0, 1]]
        z[True, [[0, 1]]]
        x[True]
        x[False]
        x[:, True]
        x[None, True]
        x[True, None]
        x[0, True]
        """,
    ),
    *lines(
        "setitem",
        SETUP,
        """
        x[True, [0, 1]] = T([[9.0, 9.0, 9.0], [8.0, 8.0, 8.0]]) ;; x
        x[True, True] = 7 ;; x
        x[:, True, [0, 1]] = 7 ;; x
        x[T(True), [0]] = 7 ;; x
        x[False] = 7 ;; x
        x[:] = np.array([1.5, 2.5, 3.5]) ;; x
        n[0] = np.array([1.5, -2.5, 3.5]) ;; n
        """,
    ),
    *lines(
        "wide integers",
        SETUP,
        """
        paddle.zeros([2**64 + 2])
        x.item(2**64)
        paddle.sum(x, axis=5)
        """,
    ),
]

CREATION = [
    *lines(
        "linspace",
        SETUP,
        """
        paddle.linspace(0.1, -7.3, 10, 'int32')
        paddle.linspace(0.9, 10.9, 4, 'int64')
        paddle.linspace(-0.9, 10.9, 4, 'int64')
        paddle.linspace(T([0.5]), 10, 4, 'int32')
        """,
    ),
    *lines(
        "arange",
        SETUP,
        """
        paddle.arange(-6, -4.2, 0.1).shape
        paddle.arange(1.0, 1.3, 0.1).shape
        paddle.arange(-6, -4.2, 0.1, 'float64').shape
        paddle.arange(5, 0, -0.7).shape
        paddle.arange(0, 0.3, 0.1).shape
        paddle.arange(0.5, 5.9, 1, 'int64')
        """,
    ),
    *lines(
        "assign",
        SETUP,
        """
        paddle.assign(3.0).astype('float32')
        paddle.assign(3)
        paddle.assign(True)
        paddle.assign([1.0, 2.0]).astype('float32')
        paddle.assign([1, 2.0]).astype('float32')
        paddle.assign([]).astype('float32')
        paddle.assign([[1, 2]])
        paddle.assign(np.float32(2))
        paddle.assign(np.array(2.0))
        paddle.assign(T([1.0, 2.0])[::-1])
        o = paddle.zeros([2]) ;; paddle.assign([1.0, 2.0], o) ;; o.astype('float32')
        """,
    ),
    *lines(
        "round",
        SETUP,
        """
        paddle.round(x, 400)
        paddle.round(x.T + 0.5, -400)
        """,
    ),
    *lines(
        "set_value",
        SETUP,
        """
        x.set_value(n)
        x.set_value(x.numpy().astype('float64'))
        x.set_value([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
        x.set_value(1.5)
        x.set_value(T(1.0))
        x.set_value(x + 1) ;; x
        y = T([1.0], 'bfloat16') ;; y.set_value(np.array([16256], 'uint16')) ;; y.astype('float32')
        """,
    ),
    *lines(
        "repr",
        SETUP,
        """
        paddle.set_printoptions(precision=-1) ;; repr(x + 0.5)
        """,
    ),
]

VIEWS = [
    *lines(
        "view",
        SETUP,
        """
        x.view('int32')
        x.view(paddle.float16).shape
        x.view(dtype='int32')
        x.view(np.int32)
        x.view(shape_or_dtype=[3, 2])
        x.view([3, 2], 'n')
        x.view(3, 2)
        x.view('float32') is x
        x.T.view('int32')
        x.T.view('int16')
        x.T.view([6])
        x.view('int64')
        x.view('bfloat16').shape
        x.view('foo')
        n.view('int32').shape
        T(1.0).view('int32')
        T(1.0).view('float16')
        T([True, False]).view('int8')
        T([1, 0], 'int8').view('bool')
        T([1.0, 2.0]).view('float64')
        T([1.0, 2.0, 3.0]).view('float64')
        paddle.ones([4, 2]).T.view('float64')
        paddle.ones([2, 4])[:, ::2].view('int32')
        paddle.ones([2, 4])[:, ::2].view('int16')
        paddle.ones([2, 4])[::2].view('int16').shape
        paddle.ones([2, 4])[:, 2:].view('float64').shape
        paddle.zeros([2, 0]).view('int64').shape
        y = x.view('int32') ;; y[0] = 0 ;; x
        """,
    ),
]

ROWS: list[Row] = [*SIZES, *CALLS, *ONE_ELEMENT, *BOOLS, *CREATION, *VIEWS]
