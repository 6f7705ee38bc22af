"""Reductions and products of matrices."""

from __future__ import annotations

from collections.abc import Iterator

from match import Summed, Tolerance, Ulps

from . import kernels
from .row import Row, defects, lines, tensor

FLOATS = "1.5, -2.25, 3.0, 0.5, 7.0, -0.75"
INTS = {
    "signed": "7, -7, 3, -2, 100, 5",
    "uint8": "7, 9, 3, 200, 100, 5",
    "bool": "True, False, True, True, False, True",
}
OPS = "sum mean max min prod any all argmax argmin".split()
SETUP = "x = paddle.arange(12.0).reshape([3, 4])\nb = T([True, False])\ne = paddle.zeros([0, 3])\nz = T(3.0)"


def of_op(op: str) -> Iterator[Row]:
    # Every intermediate sum and product of these inputs is a float32: no order of adding is wrong.
    def row(template: str, dtype: str, view: str = "") -> Row:
        if "float" in dtype:
            operand = tensor(FLOATS, dtype, view)
        else:
            operand = tensor(INTS[dtype if dtype in INTS else "signed"], dtype, view)
        return kernels.row(op, template, [operand], dtype)

    call = f"paddle.{op}({{}})"
    yield row(call, "float32")
    yield row(f"{{}}.{op}(axis=0)", "float32", ".reshape([2, 3]).T")
    yield row(f"{{}}.{op}(-1, keepdim=True)", "float64", ".reshape([3, 2])[::-1]")
    yield row(call, "float16", "[::2]")
    yield row(call, "bfloat16", "[1:4]")
    yield row(call, "int32", ".reshape([2, 3])[:, ::-1]")
    yield row(f"paddle.{op}({{}}, axis=1)", "int64", ".reshape([2, 3]).expand([2, 2, 3])")
    yield row(call, "int8")
    yield row(call, "int16", "[::-2]")
    yield row(call, "uint8", "[:3]")
    yield row(call, "bool")
    yield row(call, "float32", "[0]")


EMPTY = {
    "sum": "paddle.sum(e)\npaddle.sum(e, axis=0)\npaddle.sum(e, axis=1)\npaddle.sum(e, 0, keepdim=True)",
    "mean": "paddle.mean(e)\npaddle.mean(e, 0)\npaddle.mean(e, 1)",
    "prod": "paddle.prod(e)\npaddle.prod(e, 0)\npaddle.prod(e, 1)",
    "max": "paddle.max(e)\npaddle.max(e, 0)\npaddle.max(e, 1)",
    "min": "paddle.min(e)\npaddle.min(paddle.zeros([0]))\npaddle.min(e, 1)",
    "any": "paddle.any(e)\npaddle.any(e, 0)",
    "all": "paddle.all(e)\npaddle.all(e, 1)",
    "argmax": "paddle.argmax(e, 1)",
}

EDGES = [
    *(row for op, text in EMPTY.items() for row in lines(op, SETUP, text)),
    *lines(
        "sum",
        SETUP,
        """
        paddle.sum(x, axis=[0, 1])
        paddle.sum(x, axis=(0, -1), keepdim=True)
        paddle.sum(x, axis=[])
        paddle.sum(x, axis=None, keepdim=True)
        paddle.sum(x, 1, 'float64')
        paddle.sum(x.T, 0, None, True)
        paddle.sum(x, dim=1)
        paddle.sum(x, dim=1, keepdim=True)
        x.sum(0, True)
        paddle.sum(x, axis=T(1))
        paddle.sum(z)
        paddle.sum(z, axis=0)
        paddle.sum(z, axis=-1)
        paddle.sum(z, axis=1)
        paddle.sum(b)
        paddle.sum(b, dtype='float64')
        paddle.sum(T([100, 100], 'int8'))
        paddle.sum(T([200, 100], 'uint8'))
        paddle.sum(T([2**31 - 1, 1], 'int32'))
        paddle.sum(T([2**63 - 1, 1]))
        paddle.sum(T([1.5, 2.5]), dtype='int32')
        paddle.sum(T([inf, -inf]))
        paddle.sum(T([nan, 1.0]))
        paddle.sum(T([3e38, 3e38]))
        paddle.sum(T([65504.0, 65504.0], 'float16'))
        paddle.sum(paddle.ones([3000], 'float16'))
        paddle.sum(paddle.ones([300], 'bfloat16'))
        paddle.sum(x, axis=[0, 0])
        paddle.sum(x, axis=2)
        paddle.sum(x, axis=-3)
        paddle.sum(x, axis=1.0)
        paddle.sum(x, axis='a')
        paddle.sum([1.0, 2.0])
        """,
    ),
    *lines(
        "sum",
        "",
        "paddle.full([1000], 0.1).sum()\n(paddle.arange(1000.0) * 0.001)[::-1].sum()",
        Summed(1000, 500),
    ),
    *lines("sum", "", "paddle.full([500, 2], 0.1).T.sum(1)", Summed(500, 50)),
    *lines("sum", "", "paddle.full([1000], 0.1, 'float64')[::2].sum()", Summed(500, 50)),
    *lines(
        "cumsum",
        SETUP,
        """
        paddle.cumsum(x)
        paddle.cumsum(x, 0)
        paddle.cumsum(x.T, axis=-1)
        x[::-1].cumsum(1)
        paddle.cumsum(x, 1, 'int32')
        paddle.cumsum(x, dtype='float64')
        paddle.cumsum(T([7, -7, 3], 'int8'))
        paddle.cumsum(T([200, 100], 'uint8'))
        paddle.cumsum(T([7, -7, 3], 'int16')[::2])
        paddle.cumsum(T([2**31 - 1, 1], 'int32'))
        paddle.cumsum(T([2**63 - 1, 1]))
        paddle.cumsum(b, dtype='float32')
        paddle.cumsum(T([inf, 1.0, -inf, 2.0]))
        paddle.cumsum(e)
        paddle.cumsum(e, 0)
        paddle.cumsum(z)
        paddle.cumsum(z, 0)
        paddle.cumsum(z, -1)
        paddle.cumsum(x, 2)
        """,
    ),
    *lines(
        "mean",
        SETUP,
        """
        paddle.mean(x)
        paddle.mean(x, [0, 1], True)
        paddle.mean(T([1, 2, 4]))
        paddle.mean(T([-1, -2])[::-1])
        paddle.mean(T([1, 2, 4], 'int32'))
        paddle.mean(T([True, True, False]))
        paddle.mean(T([False, False]))
        paddle.mean(T([1, 2]), dtype='float32')
        paddle.mean(T([inf, 1.0]))
        paddle.mean(x, axis=5)
        paddle.mean(x, dim=0)
        """,
    ),
    *lines("mean", "", "paddle.mean(T([0.1, 0.2, 0.7]))\npaddle.mean(T([0.1, 0.2, 0.3, 0.4])[::2])", Summed(4, 2)),
    *lines(
        "max",
        SETUP,
        """
        paddle.max(T([1.0, nan, 3.0]))
        paddle.max(T([-inf, -1.0])[::-1])
        paddle.max(T([2**63 - 1, 0]))
        paddle.max(x, [0, 1])
        paddle.max(x.T, 1)
        paddle.max(z, axis=0)
        paddle.max(x, axis=7)
        x.max(axis=-1, keepdim=True)
        """,
    ),
    *lines(
        "min",
        SETUP,
        "paddle.min(T([1.0, nan]))\npaddle.min(T([-2**63, 0]))\nx[::-1].min(0)\npaddle.min(x, axis=-3)",
    ),
    *lines(
        "prod",
        SETUP,
        """
        paddle.prod(T([2**16, 2**16], 'int32'))
        paddle.prod(T([1, 2]), dtype='float32')
        paddle.prod(T([inf, 0.0]))
        paddle.prod(x + 1, axis=1, keepdim=True)
        paddle.prod(x, [0, 1])
        paddle.prod(x, axis=5)
        """,
    ),
    *lines("any", SETUP, "paddle.any(T([nan]))\npaddle.any(x, 0)\npaddle.any(x, [0, 1])\npaddle.any(x, 5)"),
    *lines("all", SETUP, "paddle.all(T([nan, 0.0]))\npaddle.all(x, 1, True)\npaddle.all(z)"),
    *lines(
        "argmax",
        SETUP,
        """
        paddle.argmax(x, axis=1, keepdim=True)
        paddle.argmax(x, keepdim=True)
        paddle.argmax(x.T, 0)
        paddle.argmax(T([1.0, 3.0, 3.0]))
        paddle.argmax(T([1.0, nan, 3.0]))
        paddle.argmax(T([nan, 3.0, 1.0]))
        paddle.argmax(x, dtype='int32')
        paddle.argmax(z)
        paddle.argmax(z, 0)
        paddle.argmax(x, dtype='float32')
        paddle.argmax(x, axis=2)
        paddle.argmax(x, axis=[0, 1])
        """,
    ),
    *lines(
        "argmin",
        SETUP,
        "paddle.argmin(x, -1)\npaddle.argmin(T([1.0, 1.0, nan]))\npaddle.argmin(T([3.0, 1.0, nan])[::-1])",
    ),
    *defects(
        "argmax",
        "nothing to choose",
        SETUP,
        "paddle.argmax(e)  =>  ValueError\npaddle.argmax(e, 0)  =>  ValueError",
    ),
]


def of_matmul() -> Iterator[Row]:
    """Small whole numbers: exact in every dtype, in whatever order the products are added."""
    x, y = "1.0, 2.0, -3.0, 4.0, 0.0, 6.0", "1.0, -1.0, 2.0, 0.0, 3.0, 1.0"
    shapes = [
        ("float32", ".reshape([2, 3])", ".reshape([3, 2])"),
        ("float32", ".reshape([3, 2]).T", ".reshape([2, 3]).T"),
        ("float64", ".reshape([2, 3])[:, ::-1]", "[::2]"),
        ("float16", ".reshape([2, 3])", ".reshape([3, 2])"),
        ("bfloat16", "[::-1]", "[::-1]"),
        ("float32", ".reshape([1, 2, 3])", ".reshape([2, 3, 1])"),
    ]
    for dtype, left, right in shapes:
        yield kernels.row("matmul", "{} @ {}", [tensor(x, dtype, left), tensor(y, dtype, right)], dtype)
    for dtype in ("int32", "int64", "int8", "int16", "uint8", "bool"):
        operand = tensor("True, False" if dtype == "bool" else "100, 3", dtype)
        yield kernels.row("matmul", "paddle.matmul({}, {})", [operand, operand + "[::-1]"], dtype)


NEAR: Tolerance = Summed(6, 10)

MATMUL = [
    *of_matmul(),
    *lines(
        "matmul",
        SETUP + "\ns = T([1.0, 2.0])",
        """
        paddle.matmul(x, x, transpose_y=True)
        paddle.matmul(x, x, True)
        x @ T([1.0, 2.0, 3.0, 4.0])
        T([1.0, 2.0, 3.0]) @ x
        s @ s
        paddle.ones([2, 3, 4]) @ paddle.ones([4, 5])
        paddle.ones([2, 1, 3, 4]) @ paddle.ones([5, 4, 2])
        paddle.ones([2, 3, 4]) @ paddle.ones([4])
        paddle.ones([3]) @ paddle.ones([2, 3, 4])
        paddle.ones([3, 0]) @ paddle.ones([0, 2])
        paddle.ones([0, 3]) @ paddle.ones([3, 2])
        paddle.matmul(s, s, transpose_x=True)
        T([[nan, 0.0]]) @ T([[0.0], [1.0]])
        T([[inf, 1.0]]) @ T([[0.0], [1.0]])
        x @ x
        s @ T([1.0, 2.0, 3.0])
        paddle.ones([2, 3, 4]) @ paddle.ones([3, 4, 5])
        paddle.matmul(s, 2.0)
        T(2.0) @ s
        T(2.0) @ T(2.0)
        """,
    ),
    *lines(
        "matmul",
        "",
        """
        T([[0.1, 0.7], [0.3, 0.9]]) @ T([[0.2], [0.6]])
        T([[0.1, 0.7], [0.3, 0.9]]).T @ T([0.2, 0.6])[::-1]
        T([[0.1, 0.7], [0.3, 0.9]], 'float64') @ T([0.2, 0.6], 'float64')
        """,
        NEAR,
    ),
    *lines(
        "matmul", "s = T([1.0, 2.0])", "s @ T([1.0, 2.0], 'float64')\ns @ T([1, 2])\nT([1, 2]) @ T([1, 2], 'int32')"
    ),
]


def of_softmax() -> Iterator[Row]:
    near = Ulps("softmax")
    x = "0.5, -2.25, 9.5, 1.0, -0.75, 0.125"
    for dtype, view in [
        ("float32", ".reshape([2, 3])"),
        ("float32", ".reshape([2, 3]).T"),
        ("float64", "[::-1]"),
        ("float16", "[::2]"),
        ("bfloat16", "[:3]"),
        ("int32", ""),
        ("int64", ""),
        ("bool", ""),
    ]:
        operand = tensor(x if "float" in dtype else "True, False" if dtype == "bool" else "1, 2", dtype, view)
        yield kernels.row("softmax", "F.softmax({})", [operand], dtype, near)
    yield from lines(
        "softmax",
        SETUP,
        """
        F.softmax(x * 0.25, axis=0)
        F.softmax(x.T * 0.25, dim=0)
        F.softmax(T([1000.0, 1000.0]))
        F.softmax(T([inf, 1.0]))
        F.softmax(T([-inf, -inf]))
        F.softmax(T([nan, 1.0]))
        F.softmax(T([1, 2]), dtype='float32')
        F.softmax(T([1.0, 2.0]), dtype='float64')
        F.softmax(z)
        F.softmax(e)
        F.softmax(x, 5)
        """,
        near,
    )
    yield from defects("softmax", "softmax floor", "", "F.softmax(T([-inf, 1.0]))  =>  T([0.0, 1.0])")


ROWS = [*(row for op in OPS for row in of_op(op)), *EDGES, *MATMUL, *of_softmax()]
