"""Tensors made of others or of data."""

from __future__ import annotations

from match import Steps

from .row import NO_KERNEL, Row, lines

SETUP = (
    "x = paddle.arange(12.0).reshape([3, 4])\nv = T([1.0, 2.0, 3.0])\nz = T(3.0)\ni = T([0, 2])\n"
    "s = T([[16], [1]])\na = np.array([1.0, 2.0])"
)

# A power of two libraries within an ulp each, rounded once more on either side, of an exponent that one of them
# rounds to float32 first: at most 3 here, whose relative error of half an ulp grows by 3 ln(10) = 6.9 times.
LOGSPACE = Steps(11)

ROWS = [
    *lines(
        "logspace",
        SETUP,
        """
        paddle.logspace(0, 3, 4)
        paddle.logspace(0, 1, 5, 2.5, 'float64')
        paddle.logspace(2, -1, 7)
        paddle.logspace(0, 3, 1)
        paddle.logspace(0, 3, 2.5)
        paddle.logspace(0, 3, 0)
        """,
        LOGSPACE,
    ),
    *lines(
        "logspace",
        SETUP,
        "paddle.logspace(0, 3, 4, 2, 'int32')\npaddle.logspace(0, 3, 4, dtype='int64')",
    ),
    *lines(
        "vander",
        SETUP,
        """
        paddle.vander(v)
        paddle.vander(v[::-1], 2)
        v.vander(5, True)
        paddle.vander(i, 4)
        paddle.vander(v, 1)
        paddle.vander(v, 0)
        paddle.vander(T([], 'float32'))
        paddle.vander(v, -1)
        paddle.vander(x)
        """,
    ),
    *lines(
        "cartesian_prod",
        SETUP,
        """
        paddle.cartesian_prod([i, T([5, 6])])
        paddle.cartesian_prod([v[::2], v, v[::-1]])
        paddle.cartesian_prod([i])
        paddle.cartesian_prod([v, paddle.zeros([0])]).shape
        paddle.cartesian_prod([i, v])
        paddle.cartesian_prod([x, x])
        paddle.cartesian_prod([])
        paddle.combinations(v)
        v[::-1].combinations(3, True)
        paddle.combinations(v, 0)
        paddle.combinations(v, 4)
        paddle.combinations(v, 1)
        paddle.combinations(i, 2, True)
        paddle.combinations(v, -1)
        paddle.combinations(x)
        """,
    ),
    *lines(
        "shard_index",
        SETUP,
        """
        paddle.shard_index(s, 20, 2, 0)
        paddle.shard_index(s[::-1], 20, 2, 1, -5)
        paddle.shard_index(s.astype('int32'), 21, 2, 1)
        paddle.shard_index(T([16, 1]), 20, 2, 0)
        paddle.shard_index(s, 20, 2, 2)
        paddle.shard_index(s, 0, 2, 0)
        paddle.shard_index(T([[1, 2]]), 20, 2, 1)
        """,
    ),
    Row("shard_index", "paddle.shard_index(T([[1.0]]), 20, 2, 1)", rule=NO_KERNEL, instead="fail(RuntimeError)"),
    *lines(
        "asarray",
        SETUP,
        """
        paddle.asarray([1, 2])
        paddle.asarray(a)
        y = paddle.asarray(a) ;; y[0] = 9 ;; a
        y = paddle.asarray(x) ;; y[0] = 9 ;; x
        paddle.asarray(x.T, dtype='int64')
        paddle.asarray([1.0], copy=False)
        paddle.as_tensor([1, 2])
        y = paddle.as_tensor(x) ;; y[0] = 9 ;; x
        paddle.as_tensor(1.5, dtype='float64')
        paddle.tensor([1, 2])
        paddle.tensor([[1., 2.], [3., 4.]], 'int32')
        paddle.tensor(np.arange(4.)[::2])
        paddle.tensor([])
        y = paddle.tensor(x) ;; y[0] = 9 ;; x
        paddle.tensor('a')
        paddle.get_device(T([1]).cpu())
        paddle.diag(T([1.]), padding_value='a')
        F.elu(T([1.]), 1j)
        paddle.from_numpy(a[::-1])
        y = paddle.from_numpy(a) ;; y[0] = 9 ;; a
        paddle.from_numpy([1, 2])
        """,
    ),
    *lines(
        "new_full",
        SETUP,
        """
        x.new_full([2], 3)
        x.new_full([2], 3, dtype='int64')
        i.new_full((2,), 3.7)
        i.new_full([2], T(3.7))
        x.new_full(2, 3)
        x.T.new_ones([2])
        i.new_ones(2)
        i.new_ones(2, 3)
        i.new_zeros([2, 0])
        i.new_zeros(size=[1])
        i.new_empty([2]).shape
        """,
    ),
    Row("attributes", "T([1.0]).get_device()"),
    *lines(
        "as_dtype",
        SETUP,
        "\n".join(
            f"T([1.5, -2.0, 0.0, 100.0])[::-1].{name}()"
            for name in "int float long short half double bool char bfloat16".split()
        )
        + "\n"
        + "\n".join(
            f"T([1, 2, 0]).{name}()" for name in "byte float16 float32 float64 int8 int16 int32 int64 uint8".split()
        )
        + "\nx.float() is x\nx.int().int().dtype",
    ),
]
