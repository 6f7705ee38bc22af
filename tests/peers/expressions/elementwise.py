"""Unary operators and activations, every dtype, on views and on special values."""

from __future__ import annotations

from collections.abc import Iterator

import precision
from match import Exact, Tolerance, Ulps

from . import kernels
from .row import Row, defects, lines, tensor

# op: six inputs inside the domain that Paddle was measured on, six integers.
FLOATS = {
    "exp": "0.5, -2.25, 10.0, 1.0, -79.5, 60.125",
    "expm1": "0.5, -2.25, 1e-05, 1.0, -4.75, 4.5",
    "log": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "log1p": "0.5, -0.25, 10.0, 1.0, -0.875, 60.5",
    "log2": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "sqrt": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "rsqrt": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "reciprocal": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "sin": "0.5, -2.25, 1.5, 1.0, -0.75, 2.75",
    "cos": "0.5, -1.25, 1.375, 1.0, -0.75, 0.125",
    "tan": "0.5, -1.25, 1.375, 1.0, -0.75, 0.125",
    "tanh": "0.5, -2.25, 9.5, 1.0, -0.75, 0.125",
    "sinh": "0.5, -2.25, 9.5, 1.0, -0.75, 0.125",
    "cosh": "0.5, -2.25, 9.5, 1.0, -0.75, 0.125",
    "acos": "0.5, -0.25, 0.875, 1.0, -0.75, 0.125",
    "asin": "0.5, -0.25, 0.875, 1.0, -0.75, 0.125",
    "atan": "0.5, -2.25, 9.5, 1.0, -0.75, 0.125",
    "acosh": "1.5, 2.25, 10.0, 1.0, 1.0625, 90.5",
    "asinh": "0.5, -2.25, 9.5, 1.0, -0.75, 0.125",
    "atanh": "0.5, -0.25, 0.875, 0.0, -0.75, 0.125",
    "log10": "0.5, 2.25, 10.0, 1.0, 0.0625, 600.0",
    "erf": "0.5, -2.25, 3.5, 1.0, -0.75, 0.125",
    "sigmoid": "0.5, -2.25, 19.5, 1.0, -15.75, 0.125",
    "silu": "0.5, -2.25, 19.5, 1.0, -15.75, 0.125",
    "gelu": "0.5, -0.25, 4.5, 1.0, -0.75, 0.125",
    "softplus": "0.5, -2.25, 19.5, 1.0, -0.75, 24.125",
    "leaky_relu": "0.5, -2.25, 19.5, 1.0, -100.5, 0.125",
    "relu": "0.5, -2.25, 19.5, 1.0, -100.5, 0.125",
    "abs": "0.5, -2.25, 1e-40, -0.0, -600.5, 0.125",
    "neg": "0.5, -2.25, 1e-40, 1.0, -600.5, 0.125",
    "sign": "0.5, -2.25, 1e-40, 1.0, -600.5, 0.125",
    "square": "0.5, -2.25, 1e-10, -0.0, -600.5, 1e+30",
    "floor": "0.5, -2.25, 1e+20, -0.0, -0.5, 600.75",
    "ceil": "0.5, -2.25, 1e+20, -0.0, -0.5, 600.75",
    "round": "0.5, -2.5, 1.5, -0.0, -0.5, 600.75",
    "trunc": "0.5, -2.25, 1e+20, -0.0, -0.5, 600.75",
    "logical_not": "0.5, -2.25, 0.0, -0.0, 1e-40, 600.75",
    "isnan": "0.5, -2.25, nan, -0.0, inf, -inf",
    "isinf": "0.5, -2.25, nan, -0.0, inf, -inf",
    "isfinite": "0.5, -2.25, nan, -0.0, inf, -inf",
}
POSITIVE = {"log", "log1p", "log2", "sqrt", "rsqrt", "reciprocal"}
FUNCTIONAL = {"relu", "sigmoid", "silu", "gelu", "softplus", "leaky_relu"}  # under nn.functional
INTEGERS = {"signed": "3, -2, 0, 1, -7, 5", "positive": "3, 2, 1, 4, 7, 5", "bool": "True, False, True"}

# Where the function itself is known to be off on these: the rows that say so are in EDGES.
SPECIAL = "nan, inf, -inf, 0.0, -0.0"
SPECIAL_ELSEWHERE = {"exp", "neg", "gelu"}


def tolerance(op: str) -> Tolerance:
    return Ulps(op) if op in precision.PADDLE else Exact()


def integers(op: str, dtype: str) -> str:
    if dtype == "bool":
        return INTEGERS["bool"]
    return INTEGERS["positive" if op in POSITIVE or dtype == "uint8" else "signed"]


def of_op(op: str) -> Iterator[Row]:
    call = f"F.{op}({{}})" if op in FUNCTIONAL else f"paddle.{op}({{}})"
    method = call if op in FUNCTIONAL - {"sigmoid"} else f"{{}}.{op}()"
    near = tolerance(op)

    def row(template: str, values: str, dtype: str, view: str = "") -> Row:
        return kernels.row(op, template, [tensor(values, dtype, view)], dtype, near)

    some = FLOATS[op]
    small = "0.5, 1.25, 2.5, 1.0, 0.75, 0.125"  # what float16 and bfloat16 hold exactly
    yield row(call, some, "float32")
    yield row(method, some, "float32", ".reshape([2, 3]).T")
    yield row(call, some, "float64", "[1::2]")
    yield row(call, small, "float16", "[::-1]")
    yield row(call, small, "bfloat16", ".reshape([3, 2])[1:]")
    yield row(method, integers(op, "int32"), "int32", ".expand([2, 6])")
    yield row(call, integers(op, "int64"), "int64", "[2]")
    yield row(call, integers(op, "int8"), "int8", "[-2:]")
    yield row(call, integers(op, "uint8"), "uint8", "[:, None]" if op == "abs" else ".unsqueeze(1)")
    yield row(call, integers(op, "int16"), "int16")
    yield row(call, integers(op, "bool"), "bool")
    yield row(call, "", "float32", ".reshape([0, 3])")
    if op not in SPECIAL_ELSEWHERE:
        yield row(call, SPECIAL, "float32")


EDGES = [
    *lines("exp", "", "paddle.exp(T([nan, inf, 88.5, 89.0, 0.0, -0.0, 1e-40]))", Ulps("exp")),
    *lines("exp", "", "T([-700.0, 700.0, -0.0, nan], 'float64')[::-1].exp()", Ulps("exp")),
    *lines("exp", "", "paddle.exp(T([-20.0, 11.0, 12.0], 'float16'))", Ulps("exp")),
    *lines(
        "neg",
        "",
        "-T([nan, inf, -inf, -0.0, 1e-45])\n-T(True)\n-T([1, 255], 'uint8')\n-T([-128, 127], 'int8')",
    ),
    *lines("neg", "", "-T([-2**31], 'int32')\n-T([[1, 2], [3, 4]]).T"),
    *lines("abs", "", "abs(T([-2**31, 5], 'int32'))\nabs(T([-3.5, 2.0])[::-1])\npaddle.abs(T([-1e-45, -0.0]))"),
    *lines("gelu", "", "F.gelu(T([nan, inf, 0.0, 10.0]))", Ulps("gelu")),
    *lines(
        "gelu",
        "",
        """
        F.gelu(T([0.5, -0.25, 4.5, 1.0]), approximate=True)
        F.gelu(T([[0.5, -0.25], [4.5, 1.0]]).T, approximate='tanh')
        F.gelu(T([0.5, -0.25, 4.5, 1.0], 'float64')[::2], True)
        F.gelu(T([nan, inf, 0.0, 10.0]), approximate=True)
        """,
        Ulps("gelu_tanh"),
    ),
    *lines("gelu", "", "F.gelu(T([0.5]), approximate='none')", Ulps("gelu")),
    *lines("gelu", "", "F.gelu(T([0.5]), approximate='foo')"),
    *lines(
        "softplus",
        "",
        """
        F.softplus(T([1.0, 2.0]), beta=2.0)
        F.softplus(T([1.0, 2.0])[::-1], beta=2, threshold=1)
        F.softplus(T([1.0, -2.0]), 0.5, 10.0)
        F.softplus(T([20.0, 20.125, 100.0]))
        """,
        Ulps("softplus"),
    ),
    *lines(
        "leaky_relu",
        "",
        """
        F.leaky_relu(T([-1.0, 1.0, nan, -inf]), 0.5)
        F.leaky_relu(T([-3.0, 1.0])[::-1], negative_slope=-2.0)
        """,
    ),
    *lines(
        "round",
        "",
        """
        paddle.round(T([0.5, 1.5, 2.5, -0.5, -1.5, 8388609.5, 0.49999997]))
        paddle.round(T([1.25, -1.375]), decimals=1)
        """,
    ),
    *lines(
        "square",
        "",
        """
        paddle.square(T([2**31, -3]))
        paddle.square(T([2**16], 'int32'))
        """,
    ),
    *lines(
        "sin",
        "",
        "paddle.sin(T([1e-40, -0.0, 0.0]))\npaddle.sin(T(2.5))\npaddle.sin(T([inf, -inf, nan]))",
        Ulps("sin"),
    ),
    *lines(
        "tanh",
        "",
        "paddle.tanh(T([-100.0, 100.0, 1e-40]))\npaddle.tanh(T([[0.5, 1.5]]).expand([2, 2]))",
        Ulps("tanh"),
    ),
    *lines("log", "", "paddle.log(T([0.0, -0.0, -1.0]))\npaddle.log(T([1e-38, 3e38]))", Ulps("log")),
    *lines("log1p", "", "paddle.log1p(T([-1.0, -2.0, 1e-40, -0.0]))", Ulps("log1p")),
    *lines("log2", "", "paddle.log2(T([8.0, 1024.0, 0.125])[::2])", Ulps("log2")),
    *lines("sqrt", "", "paddle.sqrt(T([4.0, -1.0, -0.0]))\npaddle.sqrt(T([4, 9, 16])[::-1])", Ulps("sqrt")),
    *lines("sigmoid", "", "F.sigmoid(T([-1000.0, 1000.0]))\npaddle.sigmoid(T([0.5]))", Ulps("sigmoid")),
    *lines("silu", "", "F.silu(T([1000.0, 0.0, -0.0]))", Ulps("silu")),
    *lines("relu", "", "F.relu(T([nan, -nan, -0.0]))\nF.relu(T([[-1.0, 2.0], [3.0, -4.0]]).T)"),
    *defects(
        "exp",
        "exp floor",
        "",
        """
        paddle.exp(T([-inf, -110.0] * 8))  =>  T([0.0, 0.0] * 8)
        T([-inf, 0.0] * 8)[::-1].exp()  =>  T([1.0, 0.0] * 8)
        """,
    ),
    *defects(
        "neg",
        "sign of zero",
        "",
        "-T([0.0])  =>  T([-0.0])\npaddle.neg(T([0.0, 1.0])[::-1])  =>  T([-1.0, -0.0])",
    ),
    *defects(
        "softplus",
        "lost tail",
        "",
        "F.softplus(T([-20.0]))  =>  T(np.log1p(np.exp(np.array([-20.0]))).astype('float32'))",
        Ulps("softplus"),
    ),
    *defects(
        "reciprocal",
        "lost subnormals",
        "",
        "paddle.rsqrt(T([1e-40] * 16))  =>  T((1 / np.sqrt(np.array([1e-40] * 16, 'float32').astype('float64'))).astype('float32'))",
        Ulps("rsqrt"),
    ),
]

ROWS = [row for op in FLOATS for row in of_op(op)] + EDGES
