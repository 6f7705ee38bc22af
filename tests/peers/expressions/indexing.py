"""Reading and writing through an index, and what shares storage with what."""

from __future__ import annotations

from .row import defects, lines

SETUP = (
    "x = paddle.arange(12.0).reshape([3, 4])\nv = paddle.arange(5)\nz = T(3.0)\ni = T([0, 2])\n"
    "m = T([True, False, True])"
)

GET = [
    *lines(
        "getitem",
        SETUP,
        """
        v[0]
        v[-1]
        v[True]
        v[False]
        v[None]
        v[...]
        v[()]
        v[1:3]
        v[-2:]
        v[::2]
        v[::-1]
        v[3:1:-1]
        v[4:0:-2]
        v[10:]
        v[-100:2]
        v[3:1]
        v[np.int64(1)]
        v[T(1)]
        v[T(1):3]
        x[0]
        x[0, 1]
        x[:, 1]
        x[1:, :2]
        x[::2, ::-1]
        x[..., 0]
        x[:, None, 1]
        x[None, :, None, :]
        x[1:1, 0]
        x.T[1:, ::-2]
        x.T[::-1][0]
        z[None]
        z[...]
        z[()]
        z[True]
        paddle.zeros([0, 3])[:, 0]
        len(x)
        len(paddle.zeros([0, 3]))
        [float(a) for a in paddle.arange(3.0)]
        list(v[::-1])
        list(paddle.zeros([0, 3]))
        v[5]
        v[-6]
        x[3]
        x[0, 4]
        x[0, 1, 2]
        z[0]
        z[:]
        v[1.0]
        v['a']
        v[{}]
        v[1.0:2]
        v[::0]
        x[..., ...]
        v[0:2, 1]
        len(z)
        list(z)
        """,
    ),
    *lines(
        "index",
        SETUP,
        """
        v[i]
        v[T([1, 2], 'int32')]
        v[[1, 2]]
        v[[]]
        v[np.array([3, 1])]
        v[T([[1, 2], [3, 4]])]
        v[T([-1, -5])]
        v[T([], 'int64')]
        v[::-1][i]
        x[i]
        x[:, i]
        x.T[i]
        x[i, i]
        x[i, 1]
        x[1, i]
        x[i, 1:3]
        x[1:3, i]
        x[i, None]
        x[T([[0], [2]]), T([1, 3])]
        x[[0, 2], [1, 3]]
        x[(0, 2),]
        paddle.arange(24).reshape([2, 3, 4])[:, T([0, 1]), T([0, 1])]
        paddle.arange(24).reshape([2, 3, 4])[T([0, 1]), :, T([0, 1])]
        paddle.arange(24).reshape([2, 3, 4])[0, :, T([0, 1])]
        paddle.arange(24).reshape([2, 3, 4])[..., T([3, 0])]
        paddle.zeros([0, 3])[T([], 'int64')]
        x[[0, 1], [1, 2, 3]]
        v[T([1.0])]
        v[T([1], 'uint8')]
        v[T([1], 'int16')]
        z[T([0])]
        """,
    ),
    *lines(
        "mask",
        SETUP,
        """
        x[m]
        x[m, 1]
        x[m, 1:3]
        x[m, T([0, 1])]
        x[:, T([True, False, True, False])]
        x[m, T([True, False, True, False])]
        x[x > 5]
        x.T[x.T > 5]
        x[x > 100]
        x[(x > 5) & (x < 9)]
        x[[True, False, True]]
        x[np.array([True, False, True])]
        v[v % 2 == 0]
        z[T(True)]
        z[T(False)]
        x[T([True, False])]
        x[T([[True, False]])]
        v[T([True] * 6)]
        """,
    ),
    *defects(
        "index",
        "index range",
        SETUP,
        """
        v[T([5])]  =>  IndexError
        v[T([-6])]  =>  IndexError
        x[T([0, 3])]  =>  IndexError
        v[T([70000000000])] = 9 ;; v  =>  IndexError
        """,
    ),
    *defects("index", "index after None", SETUP, "x[None, i]  =>  x[i][None]"),
]

SET = [
    *lines(
        "setitem",
        SETUP,
        """
        v[0] = 9 ;; v
        v[0] = -9.75 ;; v
        v[0] = True ;; v
        v[0] = T(9.75) ;; v
        v[0] = T([9]) ;; v
        v[0] = np.array(9) ;; v
        v[1:3] = 7 ;; v
        v[1:3] = T([7.5, 8.5]) ;; v
        v[1:3] = T([7, 8], 'int32') ;; v
        v[::-1] = T([0, 1, 2, 3, 4]) ;; v
        v[4:1:-1] = T([7, 8, 9]) ;; v
        v[:] = 0 ;; v
        v[...] = 3 ;; v
        v[None] = 3 ;; v
        v[2:2] = 5 ;; v
        v[T(1)] = 9 ;; v
        v[True] = 9 ;; v
        v[False] = 9 ;; v
        x[0] = T([1, 2, 3, 4]) ;; x
        x[:, 0] = T([1.0, 2.0, 3.0]) ;; x
        x[0, 1] = nan ;; x
        x[1:, 1:3] = T([1.0, 2.0]) ;; x
        x[::2, ::-2] = -1 ;; x
        x[..., 0] = 7 ;; x
        x[:] = x[0].clone() ;; x
        x[0] = x[1] ;; x
        x[1:] = x[:-1] ;; x
        x[::-1] = x.clone() ;; x
        x.T[0] = -1 ;; x
        x[0] += 1 ;; x
        x[:, 1] *= 2 ;; x
        z[...] = 5 ;; z
        z[()] = 5 ;; z
        b = T([True, False]) ;; b[0] = 0.5 ;; b
        u = T([1, 2], 'uint8') ;; u[0] = 300 ;; u
        u = T([1, 2], 'int8') ;; u[:] = 1000 ;; u
        h = T([1.0, 2.0], 'float16') ;; h[0] = 1e6 ;; h
        h = T([1.0, 2.0], 'bfloat16') ;; h[0] = 1.2345 ;; h
        y = T([1.0]).expand([3]) ;; y[0] = 5 ;; y
        v[0] = T([9, 8]) ;; v
        v[1:3] = T([7, 8, 9]) ;; v
        v[1:3] = [7, 8] ;; v
        v[0] = 'a' ;; v
        v[0] = None ;; v
        v[5] = 1 ;; v
        v['a'] = 1 ;; v
        x[0, 1, 2] = 1 ;; x
        x[:, 0] = T([[1.0], [2.0], [3.0]]) ;; x
        z[0] = 5 ;; z
        """,
    ),
    *lines(
        "index_put",
        SETUP,
        """
        v[i] = T([5, 6]) ;; v
        v[T([0, 0])] = T([5, 6]) ;; v
        v[[0, 1]] = 5 ;; v
        x[i] = -1 ;; x
        x[:, i] = -1 ;; x
        x[i, i] = T([-1.0, -2.0]) ;; x
        x[i, 1:3] = -1 ;; x
        x[m] = -1 ;; x
        x[m, 0] = -1 ;; x
        x[:, T([True, False, True, False])] = -1 ;; x
        x[x > 5] = 0 ;; x
        x[x > 5] = paddle.arange(6.0) ;; x
        x[x > 100] = 7 ;; x
        v[T([True, False, True, False, True])] = T([7, 8, 9]) ;; v
        x[x > 5] = paddle.arange(5.0) ;; x
        v[T([1.0])] = 9 ;; v
        """,
    ),
]

VIEWS = defects(
    "index_put",
    "index into a view",
    SETUP,
    """
    v[::-1][i] = 7 ;; v  =>  v[T([4, 2])] = 7 ;; v
    x.T[i] = -1 ;; x  =>  x[:, i] = -1 ;; x
    """,
)

# Each pair of write and look: what aliases shows the other's value.
ALIASES = """
x.reshape([4, 3])
x.T.reshape([4, 3])
x.transpose([1, 0])
x.T
x.t()
x.squeeze()
x.unsqueeze(0)
x[1:]
x[:, 1]
x[::-1]
x[:, ::-2]
x[None]
x[...]
x.unbind()[0]
list(x)[1]
x.flatten()
x.detach()
x.contiguous()
x.astype('float32')
x.to('cpu')
x.cpu()
paddle.slice(x, [0], [1], [3])
x.view([12])
x.expand([2, 3, 4])
x[0:1].expand([3, 4])
x.broadcast_to([2, 3, 4])
x.flip(0)
paddle.split(x, 3)[0]
x.chunk(3)[0]
x.clone()
x.T.reshape([12])
x[:, 1:3].reshape([6])
x.T.flatten()
x.T.contiguous()
x.cast('float32')
x[T([0, 1])]
x[x > 3]
paddle.tile(x, [1, 1])
paddle.concat([x])
T(x)
"""

START = "x = paddle.arange(12.0).reshape([3, 4]).clone()"

STORAGE = [
    *lines("storage", START, "\n".join(f"y = {view} ;; y[...] = -1 ;; x" for view in ALIASES.split("\n") if view)),
    *lines(
        "storage",
        START,
        "\n".join(f"y = {view} ;; x[...] = -1 ;; y" for view in ALIASES.split("\n")[::2] if view),
    ),
    *lines(
        "storage",
        START,
        """
        y = x.numpy() ;; y[...] = -1 ;; x
        y = np.asarray(x) ;; y[...] = -1 ;; x
        y = np.from_dlpack(x) ;; y[...] = -1 ;; x
        y = np.from_dlpack(x) ;; x[...] = -1 ;; y
        y = paddle.from_dlpack(x) ;; y[...] = -1 ;; x
        a = np.arange(3.0) ;; y = paddle.from_dlpack(a) ;; y[0] = 9 ;; a
        a = np.arange(3.0) ;; y = paddle.from_dlpack(a) ;; a[0] = 9 ;; y
        a = np.arange(3.0) ;; y = T(a) ;; a[0] = 9 ;; y
        paddle.from_dlpack(np.arange(6.0).reshape(2, 3).T)
        y = x[1] ;; y += 1 ;; x
        y = x[1] ;; y.add_(T(1.0)) ;; x
        x.T.strides
        x[::-2].strides
        x[:, None].strides
        x.T.is_contiguous()
        """,
    ),
]

ROWS = [*GET, *SET, *VIEWS, *STORAGE]
