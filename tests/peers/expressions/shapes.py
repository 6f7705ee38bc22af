"""What moves, cuts and joins; diagonals and triangles."""

from __future__ import annotations

from .row import NO_KERNEL, Row, defects, lines

SETUP = (
    "x = paddle.arange(12.0).reshape([3, 4])\nv = T([1.0, 2.0, 3.0])\nz = T(3.0)\ne = paddle.zeros([0, 3])\n"
    "c = paddle.arange(24).reshape([2, 3, 4])\ni = T([0, 2])"
)

DIAGONALS = [
    *lines(
        "eye",
        SETUP,
        """
        paddle.eye(3)
        paddle.eye(2, 3, 'int32')
        paddle.eye(3, 2, dtype='float64')
        paddle.eye(T(2), T(3))
        paddle.eye(0)
        paddle.eye(True)
        paddle.eye(2.0)
        paddle.eye(-1)
        """,
    ),
    *lines(
        "tril",
        SETUP,
        """
        paddle.tril(x)
        paddle.tril(x, -1)
        paddle.tril(x.T, 1)
        paddle.tril(x, 100)
        paddle.tril(c, 1)
        paddle.tril(e)
        paddle.tril(x > 3)
        paddle.tril(T([[1.0, nan], [inf, 2.0]]), -1)
        paddle.triu(x)
        paddle.triu(c[:, ::-1], -1)
        x.triu(diagonal=2)
        paddle.triu(input=x)
        y = x.clone() ;; y.tril_() ;; y
        y = x.clone() ;; y.triu_(1) is y
        paddle.tril(v)
        paddle.triu(z)
        paddle.tril(1.0)
        """,
    ),
    *lines(
        "tril_indices",
        "",
        """
        paddle.tril_indices(3, 3, 0)
        paddle.tril_indices(3, None)
        paddle.tril_indices(2, 4, 1)
        paddle.tril_indices(4, 2, -1, 'int32')
        paddle.tril_indices(0, 3)
        paddle.triu_indices(3)
        paddle.triu_indices(4, 2, -1)
        paddle.tril_indices(2.0, 3)
        paddle.tril_indices(-1, 3)
        """,
    ),
    *lines(
        "diag",
        SETUP,
        """
        paddle.diag(v)
        paddle.diag(v, 1, 5)
        paddle.diag(v[::-1], -2)
        paddle.diag(z)
        paddle.diag(x, -1)
        paddle.diag(x.T, 1)
        paddle.diag(x, 10)
        paddle.diag(T([1, 2], 'int32'))
        paddle.diag(paddle.zeros([0]))
        y = paddle.diag(x) ;; y[0] = 9 ;; x
        paddle.diag(c)
        x[:2, :2].diagflat(1)
        paddle.diagflat(z)
        paddle.diagflat(c[:, :2, 1])
        """,
    ),
    *lines(
        "diag_embed",
        SETUP,
        """
        paddle.diag_embed(v)
        paddle.diag_embed(x[:2], 1, 0, 2)
        paddle.diag_embed(x.T, -1)
        paddle.diag_embed(v, dim1=1, dim2=0, offset=1)
        paddle.diag_embed([1.0, 2.0])
        paddle.diag_embed(e).shape
        paddle.diag_embed(z)
        paddle.diag_embed(v, 0, 0, 0)
        paddle.diag_embed(v, 0, 0, 5)
        """,
    ),
    *lines(
        "diagonal",
        SETUP,
        """
        paddle.diagonal(x)
        paddle.diagonal(x, 1)
        paddle.diagonal(x.T, -1)
        paddle.diagonal(x[::-1, ::-1], 1)
        paddle.diagonal(c, 1, 2, 0)
        paddle.diagonal(c, 0, -1, 1)
        x.diagonal().strides
        paddle.diagonal(x, -9)
        y = paddle.diagonal(x) ;; y[0] = 9 ;; x
        paddle.diagonal(e)
        paddle.diagonal(c, 0, 1, 1)
        paddle.diagonal(c, 0, 1, 5)
        paddle.diagonal(v)
        paddle.trace(x)
        paddle.trace(c)
        paddle.trace(c.astype('int32')[:, ::-1], 1, 2, 1)
        x.trace(1, 0, -1)
        paddle.trace(x, 100)
        paddle.trace(v)
        """,
    ),
    Row("diagonal", "paddle.trace(T([[True]]))", rule=NO_KERNEL, instead="fail(RuntimeError)"),
    *lines(
        "diagonal_scatter",
        SETUP,
        """
        paddle.diagonal_scatter(x, T([7.0, 8.0, 9.0]))
        paddle.diagonal_scatter(x.T, T([7.0, 8.0]), 1)
        c.diagonal_scatter(paddle.zeros([3, 2], 'int64'), 0, 0, 2)
        paddle.diagonal_scatter(x, T([7.0, 8.0]))
        paddle.diagonal_scatter(x, T(7.0))
        x.fill_diagonal_tensor(T([7.0, 8.0, 9.0]), 1)
        c.fill_diagonal_tensor(paddle.zeros([4, 2], 'int64'), 0, 0, 1)
        c.fill_diagonal_tensor(paddle.zeros([2, 3], 'int64'), 0, 1, 2)
        x.fill_diagonal_tensor(T([7.0, 8.0]))
        y = x.clone() ;; y.fill_diagonal_tensor_(T([7.0, 8.0, 9.0])) ;; y
        """,
    ),
    *lines(
        "fill_diagonal_",
        SETUP,
        """
        y = x.clone() ;; y.fill_diagonal_(7) ;; y
        y = x.clone() ;; y.fill_diagonal_(7, 1) is y
        y = paddle.zeros([7, 3]) ;; y.fill_diagonal_(1, 0, True) ;; y
        y = paddle.zeros([7, 3]) ;; y.fill_diagonal_(1, -1, True) ;; y
        y = paddle.zeros([7, 3]) ;; y.fill_diagonal_(1, 1, True) ;; y
        y = paddle.zeros([7, 3]) ;; y.fill_diagonal_(1, -1) ;; y
        y = paddle.zeros([3, 7]) ;; y.fill_diagonal_(1, -1) ;; y
        y = paddle.zeros([3, 7]) ;; y.fill_diagonal_(1, 1, True) ;; y
        y = paddle.zeros([3, 3, 3]) ;; y.fill_diagonal_(1) ;; y
        y = c.clone() ;; y.fill_diagonal_(-1) ;; y
        """,
    ),
]

MOVES = [
    *lines(
        "meshgrid",
        SETUP,
        """
        paddle.meshgrid(v, T([1.0, 2.0]))
        paddle.meshgrid([v, v[::2]])
        paddle.meshgrid((i, T([1]), T([5, 6])))
        paddle.meshgrid(v)
        paddle.meshgrid(z, v)
        paddle.meshgrid(v, T([1.0, 2.0]), indexing='xy')
        paddle.meshgrid(v, v)[0].strides
        paddle.meshgrid(v, e[:, 0])[0].shape
        paddle.meshgrid(v, i)
        paddle.meshgrid(v, x)
        paddle.meshgrid()
        paddle.meshgrid(v, 1)
        """,
    ),
    *lines(
        "roll",
        SETUP,
        """
        paddle.roll(x, 1)
        paddle.roll(x, -1, 0)
        paddle.roll(x, [1, 5], [0, 1])
        paddle.roll(x.T, [1, -2], (1, -1))
        paddle.roll(c, 2, axis=-2)
        x.roll(shifts=0)
        paddle.roll(z, 1)
        paddle.roll(e, 1)
        paddle.roll(e, 1, 0)
        paddle.roll(x, T(1), 0)
        paddle.roll(x, T([1, 2]), [0, 1])
        paddle.roll(x, [1, 1], [0, 0])
        paddle.roll(x > 3, 1, 0)
        paddle.roll(x, 2**40 + 1, 1)
        paddle.roll(x, [1, 2])
        paddle.roll(x, 1, [0, 1])
        paddle.roll(x, 1, 2)
        paddle.roll(x, 1.0, 0)
        """,
    ),
    *lines(
        "rot90",
        SETUP,
        """
        paddle.rot90(x)
        paddle.rot90(x, 2)
        paddle.rot90(x, 0) is x
        paddle.rot90(x, -1)
        paddle.rot90(x.T, 5)
        x.rot90(1, [1, 0])
        paddle.rot90(c, 3, [1, -1])
        paddle.rot90(e).shape
        paddle.rot90(x).strides
        paddle.rot90(x, 1, [0, 0])
        paddle.rot90(x, 1, [0])
        paddle.rot90(x, 1, [0, 2])
        paddle.rot90(v)
        """,
    ),
    *lines(
        "moveaxis",
        SETUP,
        """
        paddle.moveaxis(c, 0, -1)
        paddle.moveaxis(c, [0, 1], [-1, -2]).shape
        c.moveaxis([2, 0], (0, 1)).strides
        paddle.moveaxis(x.T, 1, 0)
        paddle.moveaxis(c, 0, 3)
        paddle.moveaxis(c, [0, 0], [1, 2])
        paddle.moveaxis(c, [0], [1, 2])
        paddle.moveaxis(x, 0.0, 1)
        paddle.swapaxes(x, 0, 1)
        paddle.swapaxes(x, [1, 0]).strides
        c.swapdims(0, -1).shape
        paddle.matrix_transpose(c).shape
        paddle.matrix_transpose(v)
        paddle.reverse(x, [0])
        x.reverse(axis=1)
        paddle.reverse(x.T, [0, 1])
        """,
    ),
    *lines(
        "atleast",
        SETUP,
        """
        paddle.atleast_1d(z)
        paddle.atleast_1d(z, v)
        paddle.atleast_2d(v[::-1])
        paddle.atleast_2d(z)
        paddle.atleast_3d(v)
        paddle.atleast_3d(x.T).shape
        z.atleast_3d().shape
        paddle.atleast_1d(1.0)
        paddle.atleast_1d([1.0, 2.0])
        paddle.atleast_2d([z, v])
        paddle.atleast_1d()
        paddle.atleast_3d(c, x)
        paddle.atleast_2d(e[:, 0])
        """,
    ),
]

CUTS = [
    *lines(
        "tensor_split",
        SETUP,
        """
        paddle.hsplit(x, 2)
        paddle.hsplit(v, 3)
        x.hsplit([1, 3])
        paddle.hsplit(z, 1)
        paddle.vsplit(x, [1])
        paddle.vsplit(v, 3)
        paddle.dsplit(c, 2)
        paddle.dsplit(x, 2)
        paddle.tensor_split(x, 2)
        x.tensor_split(3, 1)
        paddle.tensor_split(x, [1, 5])[2].shape
        paddle.tensor_split(x, (2, 1))[2]
        paddle.tensor_split(x, [-1])
        paddle.tensor_split(x.T, 2, -1)
        paddle.tensor_split(x, 2, T(1))
        paddle.tensor_split(x, 5)[4].shape
        paddle.tensor_split(x, 0)
        paddle.tensor_split(x, 2, 2)
        paddle.tensor_split(z, 2)
        paddle.tensor_split(x, T([1, 2]))
        y = paddle.hsplit(x, 4)[0] ;; y[0] = 9 ;; x
        """,
    ),
    *lines(
        "unstack",
        SETUP,
        """
        paddle.unstack(x)
        x.unstack(1)
        paddle.unstack(x.T, -1, 3)
        paddle.unstack(e)
        paddle.unstack(x, 0, 2)
        paddle.unstack(x, 2)
        paddle.unstack(z)
        y = paddle.unstack(x)[0] ;; y[0] = 9 ;; x
        """,
    ),
    *lines(
        "narrow",
        SETUP,
        """
        paddle.narrow(x, 1, 1, 2)
        paddle.narrow(x.T, 0, -2, 1)
        x.narrow(1, T(1), 2)
        paddle.narrow(x, 1, 4, 0).shape
        y = paddle.narrow(x, 1, 1, 2) ;; y[0] = 9 ;; x
        paddle.narrow(x, 1, 3, 2)
        paddle.narrow(x, 1, 0, -1)
        paddle.narrow(x, 2, 0, 1)
        paddle.narrow(x, 1, -5, 1)
        paddle.narrow(z, 0, 0, 1)
        paddle.narrow(x, 1, T([1]), 2)
        """,
    ),
    *lines(
        "crop",
        SETUP,
        """
        paddle.crop(x, [2, 2])
        paddle.crop(x, [2, 2], [1, 2])
        paddle.crop(x.T, [-1, 2], [1, 0])
        paddle.crop(x)
        paddle.crop(x, T([2, 2]), T([0, 1]))
        paddle.crop(x, [2, T(2)], [0, T(1)])
        paddle.crop(x, [0, 2])
        y = paddle.crop(x, [2, 2]) ;; y[0] = 9 ;; x
        paddle.crop(x, [4, 2])
        paddle.crop(x, [2])
        paddle.crop(x, [2, 2], [2, 0])
        paddle.crop(x, [2, 2], [-1, 0])
        paddle.crop(x, [2.0, 2])
        """,
    ),
    *lines(
        "strided_slice",
        SETUP,
        """
        paddle.strided_slice(x, [1], [3], [0], [-1])
        paddle.strided_slice(x, [0, 1], [0, 0], [3, 4], [2, 3])
        x.T.strided_slice([1], [-100], [100], [2])
        paddle.strided_slice(x, [0], [2], [1], [1])
        paddle.strided_slice(x, [1], [3], [-100], [-1])
        paddle.strided_slice(x, [1], [0], [4], [2]).strides
        y = paddle.strided_slice(x, [1], [0], [4], [2]) ;; y[0] = 9 ;; x
        paddle.strided_slice(x, [1], [0], [4], [0])
        paddle.strided_slice(x, [2], [0], [4], [1])
        """,
    ),
    *lines(
        "slice_scatter",
        SETUP,
        """
        paddle.slice_scatter(x, paddle.ones([3, 2]), [1], [0], [4], [2])
        paddle.slice_scatter(x.T, paddle.ones([1, 3]), [0], [0], [2], [1])
        paddle.slice_scatter(x, T(1), [1], [0], [2], [1])
        x.slice_scatter(paddle.ones([2, 2], 'int64'), [0, 1], [0, 0], [2, 2], [1, 1])
        paddle.slice_scatter(x, paddle.ones([3, 3]), [1], [0], [2], [1])
        paddle.slice_scatter(x, paddle.ones([3, 2]), [2], [0], [2], [1])
        paddle.select_scatter(x, paddle.ones([3]), 1, 0)
        x.T.select_scatter(paddle.ones([3]), 0, -1)
        paddle.select_scatter(x, paddle.ones([4], 'int64'), 0, 1)
        paddle.select_scatter(x, paddle.ones([1]), 0, -1)
        paddle.select_scatter(x, paddle.ones([4]), 2, 0)
        """,
    ),
    *defects(
        "slice_scatter", "unchecked argument", SETUP, "paddle.select_scatter(x, paddle.ones([4]), 0, 3)  =>  IndexError"
    ),
]

JOINS = [
    *lines(
        "hstack",
        SETUP,
        """
        paddle.hstack([v, v[::-1]])
        paddle.hstack([x, x[:, :1]])
        paddle.hstack([z, z])
        paddle.hstack((z, v))
        paddle.hstack([])
        paddle.vstack([v, v])
        paddle.vstack([x, v[:1].expand([4])])
        paddle.vstack([z, z])
        paddle.dstack([v, v])
        paddle.dstack([x, x.T.T]).shape
        paddle.column_stack([v, x])
        paddle.column_stack([z, z])
        paddle.column_stack([v, x[:, :1]])
        paddle.row_stack([v, v]).shape
        paddle.hstack([v, i])
        paddle.concatenate([v, v[::2]])
        paddle.concatenate(tensors=[x, x], dim=1)
        """,
    ),
    *lines(
        "block_diag",
        SETUP,
        """
        paddle.block_diag([v, x, z])
        paddle.block_diag([x.T])
        paddle.block_diag((i, i))
        paddle.block_diag([e, v]).shape
        paddle.block_diag([i, v])
        paddle.block_diag([c])
        """,
    ),
    *lines(
        "broadcast_tensors",
        SETUP,
        """
        paddle.broadcast_tensors([v, T([[1.0], [2.0]])])
        paddle.broadcast_tensors([z, x.T])
        paddle.broadcast_tensors([e, v])[1].shape
        paddle.broadcast_tensors([v, i])
        paddle.broadcast_tensors([])
        paddle.broadcast_tensors([v, x])
        paddle.broadcast_shape([2, 1], [3])
        paddle.broadcast_shape([], [3])
        paddle.broadcast_shape([-1, 2], [3, 2])
        paddle.broadcast_shape([0, 1], [1, 3])
        paddle.broadcast_shape([2], [3])
        paddle.broadcast_shapes([2, 1], [3], [1])
        paddle.broadcast_shapes([2])
        paddle.broadcast_shapes()
        """,
    ),
    *lines(
        "repeat_interleave",
        SETUP,
        """
        paddle.repeat_interleave(x, 2)
        paddle.repeat_interleave(v[::-1], 2, 0)
        x.repeat_interleave(T([1, 0, 2]), 0)
        paddle.repeat_interleave(x.T, T([1, 0, 2], 'int32'), -1)
        paddle.repeat_interleave(x, 3, -1)
        paddle.repeat_interleave(z, 2)
        paddle.repeat_interleave(e, 2, 1).shape
        paddle.repeat_interleave(x, T([1, 2, 3]), 0, output_size=6).shape
        paddle.repeat_interleave(x, T([1, 2]), 0)
        paddle.repeat_interleave(x, [1, 0, 2], 0)
        paddle.repeat_interleave(x, -1, 0)
        paddle.repeat_interleave(x, 0, 0)
        paddle.repeat_interleave(x, T([1, 2, 3]), 0, output_size=7)
        paddle.repeat_interleave(x, 2, 2)
        paddle.repeat_interleave(x, 1.5)
        paddle.repeat_interleave(x, T([1.0, 0, 2]), 0)
        paddle.repeat_interleave(x, T([1, -1, 2]), 0)
        x.repeat(2, 1)
        x.T.repeat([2, 1]).shape
        x.repeat(2)
        v.repeat(2, 2)
        x.repeat(T([2, 2])).shape
        v.repeat(-1)
        """,
    ),
]

VIEWS = [
    *lines(
        "view",
        SETUP,
        """
        x.view([4, 3])
        x.view(4, 3).shape
        x[1:].view([-1])
        paddle.view(x, [2, 6]).strides
        x.view_as(paddle.zeros([4, 3]))
        y = x.view([12]) ;; y[0] = 7 ;; x
        x.T.view([12])
        x.view([5])
        """,
    ),
    *lines(  # an mps device reads no bytes as another dtype yet
        "storage",
        SETUP,
        """
        x.view('int32')
        x.view(paddle.float16).shape
        paddle.view(x, 'float64')
        i.view('int32')
        y = x.view('int32') ;; y[0] = 1065353216 ;; x
        paddle.view(v, 'float64')
        """,
    ),
    *lines(
        "as_strided",
        SETUP,
        """
        paddle.as_strided(x, [2, 2], [1, 1], 4)
        x.as_strided((2, 3), (4, 1), 20)
        paddle.as_strided(x, [3], [5]).strides
        paddle.as_strided(x, [2, 2], [0, 1])
        paddle.as_strided(x.T, [3], [1])
        paddle.as_strided(x, [], [], 8)
        paddle.as_strided(x, [0], [1])
        y = paddle.as_strided(x, [3], [5]) ;; y[:] = -1 ;; x
        paddle.as_strided(c, [2, 2], [12, 1], 8)
        paddle.as_strided(x, [2], [1], -1)
        paddle.as_strided(x, [-1], [1])
        """,
    ),
    *defects(
        "as_strided",
        "unchecked argument",
        SETUP,
        """
        paddle.as_strided(x, [13], [1])  =>  ValueError
        paddle.as_strided(x, [2], [-1], 0)  =>  ValueError
        paddle.as_strided(x, [2], [2**61])  =>  ValueError
        paddle.as_strided(x, [1], [1], 48)  =>  ValueError
        paddle.as_strided(x, [2], [1], 3)  =>  ValueError
        paddle.as_strided(x, [2], [1, 1])  =>  ValueError
        paddle.as_strided(x[1:], [2], [1], 0)  =>  ValueError
        """,
    ),
    *lines(
        "unfold",
        SETUP,
        """
        x.unfold(1, 2, 1)
        x.unfold(0, 2, 2)
        x.T.unfold(-1, 2, 1).strides
        paddle.unfold(c, 1, 2, 1)
        x[::-1].unfold(0, 2, 1)
        x.unfold(-1, 4, 1)
        x.unfold(0, 0, 1).shape
        z.unfold(0, 1, 1)
        y = v.clone() ;; u = y.unfold(0, 2, 1) ;; u[1, 1] = 9 ;; y
        x.unfold(0, 4, 1)
        x.unfold(0, 2, 0)
        x.unfold(2, 1, 1)
        """,
    ),
    *lines(
        "unflatten",
        SETUP,
        """
        paddle.unflatten(x, 1, [2, 2])
        paddle.unflatten(x.T, -2, [2, -1])
        x.unflatten(1, T([2, 2])).shape
        paddle.unflatten(e, 0, [0, 2]).shape
        paddle.unflatten(x, 1, (3, -1))
        paddle.unflatten(x, 2, [2])
        """,
    ),
    *lines(
        "clone",
        SETUP,
        """
        paddle.clone(x.T)
        y = paddle.clone(x) ;; y[0] = 9 ;; x
        x.clone(name='n').shape
        paddle.tolist(x.T)
        paddle.tolist(T(2))
        paddle.ravel(x.T)
        paddle.ravel(z)
        y = x.ravel() ;; y[0] = 9 ;; x
        x.is_same_shape(x.T)
        x.is_same_shape(paddle.zeros([3, 4]))
        """,
    ),
]

ROWS = [*DIAGONALS, *MOVES, *CUTS, *JOINS, *VIEWS]
