"""Operators on two operands: arithmetic, comparison, logic; broadcasting and the ends of the integers."""

from __future__ import annotations

from collections.abc import Iterator

from match import Exact, Tolerance, Ulps

from . import kernels
from .row import Row, defects, lines, tensor

ARITHMETIC = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "divide": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "maximum": "",
    "minimum": "",
}
COMPARE = {
    "equal": "==",
    "not_equal": "!=",
    "less_than": "<",
    "less_equal": "<=",
    "greater_than": ">",
    "greater_equal": ">=",
}
LOGIC = {"logical_and": "", "logical_or": "", "logical_xor": ""}

X = {
    "float": "1.5, -2.25, 3.0, 0.5, 7.0, -0.75",
    "int": "7, -7, 3, -2, 100, 5",
    "uint": "7, 9, 3, 200, 100, 5",
}
Y = {"float": "0.5, 2.0, -1.5, 4.0, 3.0, -0.25", "int": "2, 3, -2, 5, 7, -3", "uint": "2, 3, 2, 5, 7, 3"}
BASE = "1.5, 2.25, 3.0, 0.5, 7.0, 0.75"  # of powers: inside the measured domain
POWER = {"float": Y["float"], "int": "2, 3, 0, 1, 2, 3", "uint": "2, 3, 0, 1, 2, 3"}
BOOLS = ("True, False, True, False", "True, True, False, False")


def values(op: str, dtype: str) -> tuple[str, str]:
    if dtype == "bool":
        return BOOLS
    kind = "float" if "float" in dtype else "uint" if dtype == "uint8" else "int"
    if op != "pow":
        return X[kind], Y[kind]
    return (BASE if kind == "float" else X[kind]), POWER[kind]


def of_op(op: str, symbol: str) -> Iterator[Row]:
    near: Tolerance = Ulps(op) if op in ("divide", "pow") else Exact()
    function = f"paddle.{op}({{}}, {{}})"
    operator = f"{{}} {symbol} {{}}" if symbol else function

    def row(template: str, dtype: str, left: str = "", right: str = "") -> Row:
        x, y = values(op, dtype)
        return kernels.row(op, template, [tensor(x, dtype, left), tensor(y, dtype, right)], dtype, near)

    yield row(operator, "float32")
    yield row(function, "float32", ".reshape([2, 3]).T", ".reshape([3, 2])")
    yield row(operator, "float32", "[:, None]" if op == "add" else ".unsqueeze(1)", "[::2]")
    yield row(operator, "float64", "[::-1]", "[0]")
    yield row(function, "float16", "[::2]", "[1::2]")
    yield row(operator, "bfloat16", "", "[::-1]")
    yield row(operator, "int64", ".reshape([2, 3]).T", "[:2]")
    yield row(function, "int32", "[::-1]")
    yield row(operator, "int8", ".expand([2, 6])")
    yield row(function, "int16", "[1:3]", "[3:5]")
    yield row(operator, "uint8")
    if op not in ("divide",):
        yield row(function, "bool", "[::-1]")
    yield row(operator, "float32", ".reshape([2, 3])[:0]", "[:3]")


SPECIAL = """
T([1.0, -1.0, 0.0, nan, inf, -inf]) {0} T([0.0, 0.0, 0.0, 1.0, inf, inf])
T([1.0, -1.0, -0.0, nan]) {0} T([inf, -inf, 1.0, nan])
"""
SETUP = "s = T([1.0, 2.0])\nl = T([1, 2])\nb = T([True, False])\ne = paddle.zeros([0, 3])"

EDGES = [
    *(row for op, symbol in ARITHMETIC.items() if symbol for row in lines(op, "", SPECIAL.format(symbol), Ulps("pow"))),
    *(row for op, symbol in COMPARE.items() for row in lines(op, "", SPECIAL.format(symbol))),
    *lines(
        "maximum",
        "",
        """
        paddle.maximum(T([nan, 1.0, -inf]), T([1.0, nan, inf])[::-1])
        paddle.maximum(T([-2**63, 5]), T([2**62, -5]))
        """,
    ),
    *lines(
        "logaddexp",
        "",
        """
        paddle.logaddexp(T([1.0, -2.0, 0.5]), T([2.0, -2.0, 100.0])[::-1])
        paddle.logaddexp(T([-1.0, -0.5], 'float64'), T([-2.0, -0.25], 'float64'))
        T([[1.0], [2.0]]).logaddexp(T([1.0, 2.0, 3.0]))
        paddle.logaddexp(T([1, 2], 'int32'), T([2, 1], 'int32'))
        paddle.logaddexp(T([1, 2]), T([2, 1]))
        paddle.logaddexp(T([1.0, 2.0]), T([2.0, 1.0], 'float64'))
        paddle.logaddexp(T([1e30, -1e30, 88.0]), T([1e30, -1e30, 88.0]))
        paddle.logaddexp(paddle.zeros([0, 3]), T([1.0, 2.0, 3.0]))
        paddle.logaddexp(T([1.0]), 2.0)
        paddle.logaddexp(T([1.0, 2.0]), T([1.0, 2.0, 3.0]))
        """,
        Ulps("pow"),
    ),
    *defects(
        "logaddexp",
        "sum of infinity",
        "",
        "paddle.logaddexp(T([inf, -inf, inf, nan, 1.0, -inf]), T([inf, -inf, -inf, 1.0, nan, 2.0]))"
        "  =>  T([inf, -inf, inf, nan, nan, 2.0])",
    ),
    *lines("minimum", "", "paddle.minimum(T([nan, 1.0]), T([1.0, nan]))\npaddle.minimum(T([5, 6])[::-1], T(5))"),
    *lines(
        "add",
        SETUP,
        """
        T([127], 'int8') + T([1], 'int8')
        T([2**31 - 1], 'int32') + 1
        T([2**63 - 1]) + 1
        T([200, 100], 'uint8') + T([100, 100], 'uint8')
        T([1e38]) + T([3e38])
        T([1e-45]) + T([1e-45])
        paddle.add(s, s, alpha=2)
        paddle.add(x=s, y=s)
        paddle.add(input=s, other=s)
        s.add(s[::-1])
        e + e
        e + T([1.0, 2.0, 3.0])
        e + T(1.0)
        paddle.zeros([1]) + paddle.zeros([0])
        e + paddle.zeros([2, 3])
        s + T([1.0, 2.0, 3.0])
        s + paddle.zeros([3, 4])
        paddle.add(s, 1)
        paddle.add(1, s)
        paddle.add(s, [1.0, 2.0])
        paddle.add(s)
        paddle.add(s, s, foo=1)
        paddle.add(s, s, other=s)
        """,
    ),
    *lines(
        "subtract",
        SETUP,
        """
        T([-128], 'int8')[::-1] - 1
        T([-2**31], 'int32') - 1
        T([1], 'uint8') - 2
        2 - T([1.0, 5.0])
        2.5 - l
        paddle.subtract(s, s, alpha=2)
        """,
    ),
    *lines(
        "multiply",
        SETUP,
        """
        T([2**31 - 1], 'int32') * 2
        T([2**62]) * 4
        T([200, 100], 'uint8') * 3
        T([1e-30]) * T([1e-15])
        l * nan
        l * inf
        T([True, False]) * T([True, True])
        paddle.multiply(s, 2.0)
        """,
    ),
    *lines(
        "divide",
        SETUP,
        """
        l / 0
        7 / T([2, 4])
        1 / T([0.0, -0.0])
        T([2**53 + 1, 1]) / 2
        T([1e-40]) / T([2.0])
        paddle.divide(T([7.0, -7.0]), T([2.0, 2.0]), rounding_mode='floor')
        paddle.divide(T([7.0, -7.0]), T([2.0, 2.0]), rounding_mode='trunc')
        paddle.divide(T([7, -7]), T([2, 2]), rounding_mode='trunc')
        paddle.divide(l, 2)
        """,
        Ulps("divide"),
    ),
    *lines(
        "floor_divide",
        SETUP,
        """
        T([7, -7, 7, -7]) // T([2, 2, -2, -2])
        T([-128], 'int8') // T([-1], 'int8')
        T([5.5, -5.5])[::-1] // 2
        T([1.0, 0.3, 6.0]) // T([0.1, 0.1, 0.2])
        T([-1.0, 1.0]) // inf
        7 // T([2, -2])
        1 // T([0.0])
        paddle.floor_divide(l, 2)
        paddle.floor_divide(l, 2.5)
        """,
    ),
    *lines(
        "remainder",
        SETUP,
        """
        T([7, -7, 7, -7]) % T([2, 2, -2, -2])
        T([5.5, -5.5])[::-1] % 2
        T([-1.0, 1.0]) % inf
        T([3.0]) % T([-inf])
        T([-0.0, 0.0, -6.0, 6.0]) % T([3.0, -3.0, 3.0, -3.0])
        T([1e20, 5.25]) % 3
        T([-1e-10]) % 3.0
        -7 % T([2.0, 3.0])
        paddle.mod(s, 2.0)
        paddle.floor_mod(l, T([2, 2]))
        """,
    ),
    *lines(
        "pow",
        SETUP,
        """
        T([2, 3]) ** 2
        T([3]) ** 40
        T([2], 'int32') ** 31
        T([4, 9])[::-1] ** 0.5
        2 ** T([1, 2])
        2.0 ** T([1, 2])
        T([-8.0]) ** (1 / 3)
        T([0.0, nan, 1.0, inf]) ** 0
        T([1.0]) ** nan
        T([0.0]) ** -1
        T([2, 3]) ** T([-1, -1])
        T([1, -1, 1, -1]) ** T([-1, -1, -2, -2])
        T([-2.0, 2.0]) ** 3
        T([10.0]) ** 40
        paddle.pow(l, 2)
        paddle.pow(l, 2.5)
        paddle.pow(s, T(2))
        paddle.pow(s, 'a')
        """,
        Ulps("pow"),
    ),
    *lines(
        "equal",
        SETUP,
        """
        T([nan]) == T([nan])
        T([0.0]) == T([-0.0])
        T([2**53 + 1]) == 2**53
        T([0.1]) == 0.1
        T([0.1], 'float64') == 0.1
        T([0.1], 'float16') == 0.1
        l == 1.5
        l == nan
        1 == l
        s == T([[1.0], [2.0]])
        s == T([1.0, 2.0, 3.0])
        s == None
        s == [1.0, 2.0]
        paddle.equal(s, 1.0)
        """,
    ),
    *lines("not_equal", SETUP, "s != None\nT([nan]) != T([nan])\nl[::-1] != 1"),
    *lines("less_than", SETUP, "1 < l\nl < 1.5\nl < inf\nT([nan, 1.0]) < T([1.0, nan])\npaddle.less_than(l, 1.5)"),
    *lines("greater_than", SETUP, "s > s[::-1]\nT(3) > T(2)\n1.5 > l"),
    *lines(
        "logical_and",
        SETUP,
        """
        paddle.logical_and(T([nan, 0.0]), T([1.0, 1.0]))
        paddle.logical_and(l, T([0, 1]))
        paddle.logical_and(b, T(True))
        paddle.logical_and(s, b)
        paddle.logical_and(b, T(1))
        paddle.logical_and(b, True)
        b & b[::-1]
        l & T([3, 1])
        l & T([1, 2], 'int32')
        b & 1
        """,
    ),
    *lines("logical_or", SETUP, "b | b[::-1]\nl | T([4, 4])\npaddle.logical_or(e, e)\nb | False"),
    *lines("logical_xor", SETUP, "b ^ b\nl ^ T([3, 1])\npaddle.logical_xor(T([[True], [False]]), b)"),
    *lines("logical_not", SETUP, "~b\n~l\n~T([0, 255], 'uint8')\npaddle.logical_not(T([0.0, nan, 2.0]))"),
    *defects(
        "floor_divide",
        "division by zero",
        SETUP,
        """
        l // 0  =>  ValueError
        paddle.floor_divide(l, T([0, 1]))  =>  ValueError
        T([1, 2], 'uint8') // T([0, 1], 'uint8')  =>  ValueError
        """,
    ),
    *defects("remainder", "division by zero", SETUP, "l % 0  =>  ValueError\nl[::-1] % T([0, 1])  =>  ValueError"),
    *defects(
        "floor_divide",
        "smallest integer",
        "",
        """
        T([-2**31], 'int32') // T([-1], 'int32')  =>  T([-2**31], 'int32')
        T([-2**63]) // T([-1])  =>  T([-2**63])
        """,
    ),
    *defects("remainder", "smallest integer", "", "T([-2**31], 'int32') % T([-1], 'int32')  =>  T([0], 'int32')"),
    *defects(
        "pow",
        "negative power",
        "",
        "T([2, 3]) ** -1  =>  T([2, 3]) ** T([-1, -1])",
    ),
    *defects(
        "add",
        "foreign operand",
        SETUP,
        "s + 'a'  =>  TypeError\ns * 'a'  =>  TypeError\ns < 'a'  =>  TypeError",
    ),
    *defects(
        "multiply",
        "NumPy scalar",
        SETUP,
        """
        l * np.float32(2.5)  =>  T([2.5, 5.0])
        np.float32(2.5) + l  =>  T([3.5, 4.5])
        """,
    ),
]

ROWS = [
    *(row for op, symbol in {**ARITHMETIC, **COMPARE, **LOGIC}.items() for row in of_op(op, symbol)),
    *EDGES,
]
