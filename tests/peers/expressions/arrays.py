"""Selection, casts, and what changes the shape of a tensor."""

from __future__ import annotations

from collections.abc import Iterator

from . import kernels
from .row import Row, defects, lines, tensor

DTYPES = "float32 float64 float16 bfloat16 int64 int32 int16 int8 uint8 bool".split()
VALUES = {"bool": "True, False, True, False, False, True", "uint8": "1, 2, 250, 4, 5, 6"}
SETUP = (
    "x = paddle.arange(12.0).reshape([3, 4])\ns = T([1.0, 2.0])\nl = T([1, 2])\nb = T([True, False])\n"
    "e = paddle.zeros([0, 3])\nz = T(3.0)"
)

# op: expressions on x, six values of each dtype.
MOVES = {
    "reshape": "{}.reshape([2, 3])",
    "transpose": "{}.reshape([2, 3]).transpose([1, 0])",
    "concat": "paddle.concat([{0}, {0}[::-1]])",
    "stack": "paddle.stack([{0}, {0}[::-1]], axis=1)",
    "split": "paddle.split({}, 3)[1]",
    "slice": "paddle.slice({}, [0], [1], [-1])",
    "gather": "paddle.gather({}, T([5, 0, 0]))",
    "tile": "paddle.tile({}, [2, 1])",
    "expand": "paddle.expand({}, [2, 6])",
    "flip": "paddle.flip({}, [0])",
}


def values(dtype: str) -> str:
    return VALUES.get(dtype, "1.5, -2.5, 3.0, nan, -0.0, inf" if "float" in dtype else "1, -2, 3, 4, -5, 100")


def moved(op: str, template: str) -> Iterator[Row]:
    for dtype in DTYPES:
        yield kernels.row(op, template, [tensor(values(dtype), dtype)], dtype)


def selected() -> Iterator[Row]:
    for dtype in DTYPES:
        x = tensor(values(dtype), dtype)
        yield kernels.row(
            "where", "paddle.where(T([True, False, True, False, True, True]), {0}, {0}[::-1])", [x], dtype
        )
        if dtype != "bool":
            yield kernels.row("clip", "paddle.clip({}, 0, 3)", [tensor(values(dtype), dtype, "[::-1]")], dtype)


def casts() -> Iterator[Row]:
    for source in DTYPES:
        numbers = "1.5, -2.5, 3.0, 0.0, -0.0, 100.0" if "float" in source else values(source)
        for target in DTYPES:
            if target == "uint8" and "float" in source:
                numbers = numbers.replace("-2.5", "2.5")  # what is below 0 saturates: see CAST
            yield Row("cast", f"paddle.cast({tensor(numbers, source, '[::-1]')}, {target!r})")


CAST = [
    *lines(
        "cast",
        "",
        """
        T([300, -1, 128]).astype('int8')
        T([300, -1, 128]).astype('uint8')
        T([0.0, -0.0, nan, 0.1]).astype('bool')
        T([1e10, 1e-10, 65519.0, 65520.0, nan, -inf]).astype('float16')
        T([1.00390625, 1.01171875, 3.4e38, nan, 1e-40]).astype('bfloat16')
        T([16777217, 2**62 + 1]).astype('float32')
        T([2**53 + 1]).astype('float64')
        T([1e300, 1e-310], 'float64').astype('float32')
        T([2049, 2051, 70000]).astype('float16')
        T([257, 259, 513]).astype('bfloat16')
        T(1.5).astype('int32')
        paddle.cast([1.0], 'int32')
        """,
    ),
    *defects(
        "cast",
        "float to integer",
        "",
        """
        T([nan, inf, -inf, 1e20, 3e9]).astype('int32')  =>  T([0, 2**31 - 1, -2**31, 2**31 - 1, 2**31 - 1], 'int32')
        T([nan, inf, -inf, -1e20]).astype('int64')  =>  T([0, 2**63 - 1, -2**63, -2**63])
        T([nan, inf, -inf, 300.0, -300.0]).astype('int8')  =>  T([0, 127, -128, 127, -128], 'int8')
        T([nan, inf, -inf, 300.0, -1.5]).astype('uint8')  =>  T([0, 255, 0, 255, 0], 'uint8')
        """,
    ),
]

WHERE_AND_CLIP = [
    *lines(
        "where",
        SETUP,
        """
        paddle.where(b, 1, 2)
        paddle.where(b, 1.0, 2.0)
        paddle.where(b, True, False)
        paddle.where(b, s, 0.0)
        paddle.where(b, l, 0)
        paddle.where(b, T([1.0, 2.0], 'float16'), 2.0)
        paddle.where(b, s, T([0.0, 5.0], 'float64'))
        paddle.where(T([[True], [False]]), s, T([9.0, 9.0]))
        paddle.where(T(True), s, T([9.0, 9.0]))
        paddle.where(s > 1, s, T(nan))
        b.where(s, s[::-1])
        paddle.where(b)
        paddle.where(b, 1, 2.0)
        paddle.where(b, s, 0)
        paddle.where(b, l, T([1, 2], 'int32'))
        paddle.where(b, s, l)
        paddle.where(b, s)
        paddle.where(l, s, s)
        paddle.where(T([True, False, True]), s, s)
        """,
    ),
    *lines(
        "clip",
        SETUP,
        """
        paddle.clip(T([-1.0, 0.5, 2.0, nan, -inf, inf]), 0.0, 1.0)
        paddle.clip(T([1, 5, 9]), 2.5, 6.5)
        paddle.clip(T([1, 5, 9])[::-1], min=3)
        paddle.clip(x.T, max=3)
        paddle.clip(s)
        paddle.clip(s, T(1.5), T(1.75))
        paddle.clip(e, 0, 1)
        paddle.clip(z, 4)
        s.clip(1.5)
        """,
    ),
]

SHAPES = [
    *lines(
        "reshape",
        SETUP,
        """
        x.reshape([0, -1])
        x.reshape(4, 3).shape
        x.reshape(-1).shape
        x.T.reshape([2, 6])
        x[:, 1:3].reshape([6])
        z.reshape([1, 1])
        T([3.0]).reshape([])
        e.reshape([-1, 0])
        e.reshape([0])
        x.reshape((4, 3)).shape
        x.reshape(T([4, 3])).shape
        x.reshape([-1, -1])
        x.reshape([5])
        x.reshape([5, -1])
        x.reshape([])
        x.reshape([3, 4, 0])
        x.reshape([-2, 3])
        x.reshape([2.0, 6.0])
        x.reshape('a')
        x.reshape()
        e.reshape([1])
        """,
    ),
    *lines(
        "transpose",
        SETUP,
        """
        x.transpose([0, 1])
        x.transpose(0, 1)
        x.transpose([-1, 0]).strides
        paddle.zeros([2, 3, 4]).transpose([2, 0, 1]).shape
        paddle.zeros([2, 3, 4]).transpose(0, 2).shape
        x.T
        paddle.arange(24).reshape([2, 3, 4]).T[1]
        x.t()
        s.t()
        paddle.arange(12).reshape([2, 2, 3]).mT
        z.transpose([])
        x.transpose(perm=[1, 0]).shape
        x.transpose([0, 0])
        x.transpose([0, 2])
        x.transpose([0, 1, 2])
        paddle.zeros([2, 3, 4]).t()
        s.mT
        """,
    ),
    *lines(
        "squeeze",
        "y = paddle.ones([1, 3, 1])",
        """
        y.squeeze().shape
        y.squeeze(0).shape
        y.squeeze(1).shape
        y.squeeze(-1).shape
        y.squeeze([0, 2])
        paddle.squeeze(y, axis=(0,)).shape
        y.squeeze([]).shape
        T(3.0).squeeze().shape
        y.squeeze(3)
        y.squeeze(-4)
        """,
    ),
    *lines(
        "unsqueeze",
        SETUP,
        """
        x.unsqueeze(0).shape
        x.T.unsqueeze(-1).strides
        x.unsqueeze([0, 2]).shape
        x.unsqueeze([0, -1]).shape
        z.unsqueeze(0)
        paddle.unsqueeze(s, axis=1)
        x.unsqueeze(3)
        x.unsqueeze(-4)
        x.unsqueeze(1.0)
        """,
    ),
    *lines(
        "concat",
        SETUP,
        """
        paddle.concat([x, x.clone()[:, ::-1]], axis=1)
        paddle.concat((s, s[::-1]), -1)
        paddle.concat([x, x[:2]]).shape
        paddle.concat([e, paddle.ones([2, 3])])
        paddle.concat([s])
        paddle.concat([x, x], axis=T(1)).shape
        paddle.concat([x, x], axis=2)
        paddle.concat([x, s])
        paddle.concat([x, x[:2]], 1)
        paddle.concat([])
        paddle.concat(s)
        paddle.concat([l, T([1, 2], 'int32')])
        paddle.concat([s, l])
        paddle.concat([s, T([1.0], 'float64')])
        paddle.concat([T(1.0), T(2.0)])
        paddle.concat([s, 1.0])
        """,
    ),
    *defects("concat", "unchecked argument", SETUP, "paddle.concat([x, x], axis='a')  =>  TypeError"),
    *defects("slice", "unchecked argument", SETUP, "paddle.slice(x, [2], [0], [1])  =>  ValueError"),
    *defects("expand", "unchecked argument", SETUP, "paddle.expand(x, [-2, 4])  =>  ValueError"),
    *lines(
        "split",
        SETUP,
        """
        paddle.split(x, 2, 1)
        paddle.split(x.T, [1, -1], axis=-1)
        paddle.split(x, [1, 2])[1]
        x.split(3, axis=0)[0]
        paddle.split(e, 3, 1)[0]
        paddle.chunk(x, 2, 1)[1]
        x.unbind(1)[3]
        paddle.unbind(x)
        paddle.split(x, 2)
        paddle.split(x, [-1, -1])
        paddle.split(x, [1, 1])
        paddle.split(x, 2, axis=2)
        x.unbind(2)
        """,
    ),
    *lines(
        "stack",
        SETUP,
        """
        paddle.stack([s, s], -2)
        paddle.stack([T(1.0), T(2.0)])
        paddle.stack([e, e])
        paddle.stack([x, x.clone()], 2).shape
        paddle.stack([s, s], 2)
        paddle.stack([s, s], -4)
        paddle.stack([s, T([1.0])])
        paddle.stack([])
        paddle.stack([s, l])
        """,
    ),
    *lines(
        "slice",
        SETUP,
        """
        paddle.slice(x, [0, 1], [1, 0], [3, 2])
        paddle.slice(x.T, [1], [-2], [100])
        paddle.slice(x, [-1], [0], [2])
        paddle.slice(x, [0], [2], [1])
        paddle.slice(x, [0], T([0]), T([1]))
        paddle.slice(x, [0, 1], [0], [1])
        """,
    ),
    *lines(
        "gather",
        SETUP,
        """
        paddle.gather(x, T([0, 2]), axis=1)
        paddle.gather(x.T, T([0, 2], 'int32'))
        paddle.gather(x, T(1))
        paddle.gather(x, T([-1]))
        paddle.gather(x, T([], 'int64'))
        paddle.gather(s[::-1], T([1, 0, 1]))
        paddle.gather(x, T([3]))
        paddle.gather(x, T([-4]))
        paddle.gather(x, T([0.0]))
        paddle.gather(x, [0])
        paddle.gather(x, T([0]), axis=2)
        paddle.gather(x, T([0], 'int8'))
        """,
    ),
    *lines(
        "tile",
        SETUP,
        """
        paddle.tile(s, 2)
        paddle.tile(x, [1, 2, 1]).shape
        paddle.tile(x.T, [0, 1])
        paddle.tile(z, [3])
        paddle.tile(x, [])
        paddle.tile(x, T([2, 2])).shape
        paddle.tile(e, [2, 1])
        paddle.tile(x, [-1])
        paddle.tile(x, [1.5])
        """,
    ),
    *lines(
        "expand",
        SETUP,
        """
        paddle.expand(s, [3, -1])
        paddle.expand(T([[1.0], [2.0]]), [2, 3])
        paddle.expand(z, [2, 2])
        paddle.expand(e, [2, 0, 3])
        paddle.expand(T([1.0]), [0])
        s.expand(3, 2)
        paddle.broadcast_to(s[::-1], [2, 2])
        s.expand_as(x[:, :2])
        paddle.expand(s, [3])
        paddle.expand(x, [3])
        paddle.expand(s, [-1, 2])
        paddle.expand(e, [4, 3])
        """,
    ),
    *lines(
        "flip",
        SETUP,
        """
        paddle.flip(x, 0)
        paddle.flip(x.T, [0, 1])
        paddle.flip(x, [])
        paddle.flip(e, 0)
        x.flip(-1)
        paddle.flip(x, 2)
        paddle.flip(x, -3)
        paddle.flip(x)
        """,
    ),
    *lines(
        "flatten",
        SETUP,
        "x.flatten()\nx.T.flatten()\nx.flatten(0, 0).shape\nz.flatten()\ne.flatten().shape\nx.flatten(1, 0)",
    ),
]

ROWS = [
    *(row for op, template in MOVES.items() for row in moved(op, template)),
    *selected(),
    *casts(),
    *CAST,
    *WHERE_AND_CLIP,
    *SHAPES,
]
