"""Functions whose result takes the place of their operand: values, dtypes, views, tensors without elements, and errors.

What the functions compute is compared by the expressions on the functions without an underscore; these are about the place
that the result goes to, its dtype and its shape.
"""

from __future__ import annotations

from collections.abc import Iterator

from match import Steps

from .row import Row, lines

# Functions of one operand of floats, with two numbers that each is defined for.
UNARY = """
abs_ -0.5 0.25 | acos_ 0.5 0.25 | acosh_ 1.5 2.25 | asin_ 0.5 -0.25 | asinh_ 0.5 -0.25 | atan_ 0.5 -0.25 | atanh_ 0.5 -0.25
cos_ 0.5 -0.25 | cosh_ 0.5 -0.25 | digamma_ 3.5 4.25 | gammaln_ 3.5 4.25
i0_ 0.5 -0.25 | lgamma_ 3.5 4.25 | log_ 3.5 4.25 | log10_ 3.5 4.25 | log1p_ 0.5 1.25 | log2_ 3.5 4.25 | logit_ 0.25 0.125
sin_ 0.5 -0.25 | sinh_ 0.5 -0.25 | square_ 0.5 -0.25 | tan_ 0.5 -0.25 | tanh_ 0.5 -0.25 | trunc_ 1.5 -2.25
"""
METHODS = """
ceil_ 0.5 -0.25 | erfinv_ 0.5 -0.25 | exp_ 0.5 1.25 | floor_ 0.5 -0.25 | reciprocal_ 0.5 -0.25 | round_ 0.75 -1.25
rsqrt_ 0.5 0.25 | sigmoid_ 0.5 -0.25 | sqrt_ 0.5 0.25
"""

# No methods in Paddle, and functions that refuse a list in another way.
FUNCTIONS = "erf_ 0.5 -0.25 | expm1_ 0.5 1.25 | frac_ 1.5 -2.25 | neg_ 0.5 -0.25 | nan_to_num_ 0.5 -0.25"

# Functions of two operands: pairs of numbers, as their dtype.
BINARY = """
copysign_ 0.5 -2.0 | divide_ 3.0 2.0 | div_ 3.0 2.0 | floor_divide_ 7 2 | gcd_ 12 18 | hypot_ 3.0 4.0 | lcm_ 4 6 | multiply_ 3 2
remainder_ 7 4 | mod_ 7 4 | floor_mod_ 7 4 | subtract_ 7 4 | sub_ 7 4 | bitwise_and_ 6 3 | bitwise_or_ 6 3
bitwise_xor_ 6 3 | bitwise_left_shift_ 6 3 | bitwise_right_shift_ 6 1
equal_ 6 6 | not_equal_ 6 3 | greater_than_ 6 3 | greater_equal_ 6 6 | less_than_ 6 3 | less_equal_ 6 6 | less_ 3 6
logical_and_ True False | logical_or_ True False | logical_xor_ True False
"""


def entries(text: str) -> Iterator[list[str]]:
    for line in text.strip().splitlines():
        for entry in line.split(" | "):
            yield entry.split()


def unary(name: str, a: str, b: str, call: str) -> Iterator[Row]:
    # One function on each side, within two roundings or so.
    yield from lines(
        name,
        "",
        f"""
        y = T([{a}, {b}, {a}]) + 0 ;; y.{name}() ;; y
        y = T([[{a}, {b}], [{b}, {a}]], 'float64') + 0 ;; {call} ;; y
        y = T([{a}, {b}, {a}, {b}]) + 0 ;; y[::2].{name}() ;; y
        y = T({b}) + 0 ;; y.{name}() ;; y
        y = paddle.zeros([0, 3]) ;; {call} ;; y
        y = [{a}] ;; {call}
        """,
        Steps(16),
    )


def function(name: str, a: str, b: str) -> Iterator[Row]:
    yield from lines(
        name,
        "",
        f"""
        y = T([{a}, {b}, {a}]) + 0 ;; paddle.{name}(y) ;; y
        y = T([[{a}, {b}], [{b}, {a}]], 'float64') + 0 ;; paddle.{name}(y) ;; y
        y = T([{a}, {b}, {a}, {b}]) + 0 ;; paddle.{name}(y[::2]) ;; y
        y = T({b}) + 0 ;; paddle.{name}(y) ;; y
        y = paddle.zeros([0, 3]) ;; paddle.{name}(y) ;; y
        paddle.{name}()
        """,
        Steps(16),
    )


def binary(name: str, a: str, b: str) -> Iterator[Row]:
    yield from lines(
        name,
        "",
        f"""
        y = T([{a}, {b}, {a}]) ;; y.{name}(T([{b}, {b}, {a}])) ;; y
        y = T([[{a}, {b}], [{b}, {a}]]) ;; paddle.{name}(y, T([{b}, {a}])) ;; y
        y = T({a}) ;; y.{name}(T({b})) ;; y
        y = paddle.zeros([0, 2], T({a}).dtype) ;; paddle.{name}(y, T([{b}, {b}])) ;; y
        y = T([{a}, {b}]) ;; y.{name}(T([[{b}, {b}], [{b}, {b}]]))
        """,
        Steps(2),
    )


SETUP = "x = T([[1.0, 2.0, 3.0], [0.5, 0.25, 0.75]])\ne = paddle.zeros([0, 3])"

ROWS: list[Row] = [
    *(row for name, a, b in entries(UNARY) for row in unary(name, a, b, f"paddle.{name}(y)")),
    *(row for name, a, b in entries(METHODS) for row in unary(name, a, b, f"y.{name}()")),
    *(row for name, a, b in entries(FUNCTIONS) for row in function(name, a, b)),
    *(row for name, a, b in entries(BINARY) for row in binary(name, a, b)),
    *lines(
        "in place",
        SETUP,
        """
        y = x + 0 ;; y.pow_(2) ;; y
        y = x + 0 ;; paddle.pow_(y, 2.0) ;; y
        y = T([3, 2], 'int32') ;; y.pow_(2) ;; y
        e.pow_(2.0)
        y = T(3.0) + 0 ;; y.pow_() ;; y
        y = x + 0 ;; y.addmm_(x[:, :2], x[:2]) ;; y
        y = x[:, :2] + 0 ;; paddle.addmm_(y, x, x.T, beta=2.0, alpha=0.5) ;; y
        y = x + 0 ;; y.addmm_(x, x)
        y = x.astype('float64') ;; y.addmm_(y[:, :2] + 0, y + 0) ;; y
        y = T([[[1.0, 2.0], [3.0, 4.0]]]) ;; y.baddbmm_(y + 1, y + 2) ;; y
        y = T([[[1.0, 2.0], [3.0, 4.0]]]) ;; paddle.baddbmm_(y, y + 1, y + 2, beta=0.0, alpha=2.0) ;; y
        y = T([[[1.0, 2.0], [3.0, 4.0]]]) ;; y.baddbmm_(y[0], y)
        y = T([[[1.0, 2.0], [3.0, 4.0]]], 'float64') ;; y.baddbmm_(y + 1, y + 2) ;; y
        y = x + 0 ;; y.cast_('int32') ;; y
        y = T([0, 3]) ;; paddle.cast_(y, 'float64') ;; y
        y = T([0, 3]) ;; y.cast_('bool') ;; y
        y = T(1.5) + 0 ;; y.cast_('float16') ;; y
        e.cast_('int64')
        y = x + 0 ;; y.flatten_() ;; y
        y = x + 0 ;; paddle.flatten_(y, 0, 1).shape
        y = paddle.zeros([2, 1, 3]) ;; y.flatten_(1) ;; y
        y = paddle.zeros([0, 3]) ;; y.flatten_() ;; y
        y = x + 0 ;; y.flatten_(1, 0)
        y = T([1, 2, 3]) ;; y.bitwise_not_() ;; y
        y = T([True, False]) ;; paddle.bitwise_not_(y) ;; y
        y = T([1, 2, 3]) ;; y.bitwise_invert_() ;; y
        y = T([1, 2, 3], 'uint8') ;; paddle.bitwise_invert_(y) ;; y
        y = [1] ;; paddle.bitwise_not_(y)
        y = T([], 'int64') ;; y.bitwise_invert_() ;; y
        y = T([True, False]) ;; y.logical_not_() ;; y
        y = T([2.0, 0.0]) ;; paddle.logical_not_(y) ;; y
        y = T([], 'bool') ;; y.logical_not_() ;; y
        y = T(True) ;; y.logical_not_() ;; y
        y = x + 0 ;; y.index_add_(T([0, 1]), 0, x[:2]) ;; y
        y = x + 0 ;; paddle.index_add_(y, T([0, 0]), 1, x[:, :2]) ;; y
        y = x + 0 ;; y.index_add_(T([0, 1]), 0, x[:, :1])
        y = x + 0 ;; y.index_fill_(T([1]), 0, 9.0) ;; y
        y = x + 0 ;; paddle.index_fill_(y, T([0, 2]), 1, -1) ;; y
        y = T([1, 2, 3]) ;; y.index_fill_(T([-1]), 0, 7) ;; y
        y = x + 0 ;; y.index_fill_(T([[1]]), 0, 9.0)
        y = x + 0 ;; y.index_put_((T([0]), T([1])), T([9.0])) ;; y
        y = x + 0 ;; paddle.index_put_(y, (T([0, 0]), T([1, 1])), T([9.0, 1.0]), True) ;; y
        y = x + 0 ;; y.index_put_((T([True, False]),), T(5.0)) ;; y
        y = T([1.0, 2.0]) ;; y.ldexp_(T([1, 2])) ;; y
        y = T([1.0, 2.0], 'float64') ;; paddle.ldexp_(y, T([3])) ;; y
        y = T(3.0) + 0 ;; y.ldexp_(T(-1)) ;; y
        y = T([], 'float32') ;; y.ldexp_(T([1])) ;; y
        y = x + 0 ;; y.lerp_(x * 2, 0.5) ;; y
        y = x + 0 ;; y.lerp_(x * 2, x) ;; y
        y = T([1.0], 'float64') ;; y.lerp_(T([3.0], 'float64'), 0.25) ;; y
        e.lerp_(e, 0.5)
        y = x + 0 ;; y.masked_fill_(x > 1, 0.0) ;; y
        y = x + 0 ;; paddle.masked_fill_(y, T([True, False, True]), -1.0) ;; y
        y = T([1, 2]) ;; y.masked_fill_(T([True, False]), 5) ;; y
        e.masked_fill_(e > 0, 1.0)
        y = x + 0 ;; y.masked_scatter_(x > 1, T([7.0, 8.0, 9.0, 10.0, 11.0])) ;; y
        y = T([1, 2]) ;; paddle.masked_scatter_(y, T([False, True]), T([5])) ;; y
        y = x + 0 ;; y.masked_scatter_(x > 100, T([7.0])) ;; y
        y = x + 0 ;; y.masked_scatter_(x, T([7.0]))
        y = x + 0 ;; y.put_along_axis_(T([[0], [1]]), T([[7.0], [8.0]]), 1) ;; y
        y = x + 0 ;; y.put_along_axis_(T([[0], [1]]), T([[7.0], [8.0]]), 1, 'add') ;; y
        y = T([1, 2, 3]) ;; y.put_along_axis_(T([0, 2]), T([4, 5]), 0) ;; y
        y = x + 0 ;; y.renorm_(2.0, 0, 1.0) ;; y
        y = x + 0 ;; paddle.renorm_(y, 1.0, 1, 2.0) ;; y
        y = T([[3.0, 4.0]], 'float64') ;; y.renorm_(2.0, 0, 5.0) ;; y
        y = x + 0 ;; y.renorm_(2.0, 5, 1.0)
        y = x + 0 ;; y.reshape_([3, 2]) ;; y
        y = x + 0 ;; paddle.reshape_(y, [-1]) ;; y
        y = paddle.zeros([0, 3]) ;; y.reshape_([3, 0]) ;; y
        y = x + 0 ;; y.scale_(2.0, 1.0) ;; y
        y = x + 0 ;; y.scale_(2.0, 1.0, False) ;; y
        y = T([1, 2]) ;; y.scale_(3) ;; y
        e.scale_(2.0)
        y = x + 0 ;; y.scatter_(T([1]), T([[7.0, 8.0, 9.0]])) ;; y
        y = x + 0 ;; paddle.scatter_(y, T([1, 1]), x, False) ;; y
        y = x + 0 ;; y.scatter_(T([0.0]), x[:1])
        y = x + 0 ;; y.scatter_add_(1, T([[0], [2]]), T([[7.0], [8.0]])) ;; y
        y = x + 0 ;; paddle.scatter_add_(y, 0, T([[0, 1, 0]]), T([[1.0, 2.0, 3.0]])) ;; y
        y = T([1, 2]) ;; y.scatter_add_(0, T([1, 1]), T([5, 6])) ;; y
        y = paddle.zeros([1, 2, 1]) ;; y.squeeze_() ;; y
        y = paddle.zeros([1, 2, 1]) ;; paddle.squeeze_(y, [0, 1]) ;; y
        y = x + 0 ;; y.t_() ;; y
        y = x + 0 ;; y.transpose_([1, 0]) ;; y
        y = paddle.arange(6.0).reshape([1, 2, 3]) + 0 ;; paddle.transpose_(y, [2, 0, 1]) ;; y
        y = paddle.zeros([0, 3]) ;; y.transpose_([1, 0]) ;; y
        y = x + 0 ;; y.transpose_([0])
        y = x + 0 ;; y.tril_() ;; y
        y = x + 0 ;; paddle.tril_(y, 1) ;; y
        y = T([[1, 2], [3, 4]]) ;; y.tril_(-1) ;; y
        y = T([1.0]) ;; y.tril_()
        y = x + 0 ;; y.triu_() ;; y
        y = x + 0 ;; paddle.triu_(y, 1) ;; y
        y = T([[1, 2], [3, 4]]) ;; y.triu_(-1) ;; y
        y = T([1.0]) ;; y.triu_()
        y = x + 0 ;; y.unsqueeze_(0) ;; y
        y = x + 0 ;; paddle.unsqueeze_(y, [0, -1]).shape
        y = e + 0 ;; y.unsqueeze_(1) ;; y
        y = x + 0 ;; paddle.where_(x > 1, y, x * 10) ;; y
        y = T([1, 2]) ;; paddle.where_(T([True, False]), y, T([5, 6])) ;; y
        y = T(1.0) + 0 ;; paddle.where_(T(False), y, T(2.0)) ;; y
        y = T([1, 2, 3]) ;; y.index_add_(T([-1]), 0, T([5])) ;; y
        y = x.astype('float64') ;; y.scatter_add_(1, T([[0]]), T([[7.0]], 'float64')) ;; y
        y = x + 0 ;; y.copy_(x * 2, True) ;; y
        y = x + 0 ;; y.copy_(x[:] - 1, False) ;; y
        y = x.astype('float64') ;; y.copy_(y * 2, True) ;; y
        y = T([1, 2]) ;; y.copy_(T([5, 6]), True) ;; y
        y = T(1.0) + 0 ;; y.copy_(T(2.0), True) ;; y
        y = x + 0 ;; y.copy_([1.0], True)
        y = x + 0 ;; y.zero_() ;; y
        y = x + 0 ;; y[:, 1].zero_() ;; y
        y = T([1.0, 2.0]) ;; y.gammainc_(T([1.0, 3.0])) ;; y
        y = T([1.0, 2.0], 'float64') ;; paddle.gammainc_(y, T([1.0, 3.0], 'float64')) ;; y
        y = T([], 'float32') ;; y.gammainc_(T([], 'float32')) ;; y
        y = [1.0] ;; paddle.gammainc_(y, T([1.0]))
        y = T([1.0, 2.0]) ;; y.gammaincc_(T([1.0, 3.0])) ;; y
        y = T([1.0, 2.0], 'float64') ;; paddle.gammaincc_(y, T([1.0, 3.0], 'float64')) ;; y
        y = T([], 'float32') ;; y.gammaincc_(T([], 'float32')) ;; y
        y = [1.0] ;; paddle.gammaincc_(y, T([1.0]))
        y = T([3.5, 4.0]) ;; y.multigammaln_(2) ;; y
        y = T([3.5, 4.0], 'float64') ;; paddle.multigammaln_(y, 3) ;; y
        y = T([], 'float32') ;; y.multigammaln_(2) ;; y
        y = T([1.5, 2.0]) ;; y.polygamma_(1) ;; y
        y = T([1.5, 2.0], 'float64') ;; paddle.polygamma_(y, 2) ;; y
        y = T([], 'float32') ;; y.polygamma_(1) ;; y
        y = T([0.5, 0.25]) + 0 ;; y.sinc_() ;; y
        y = T([0.5, 0.25], 'float64') ;; paddle.sinc_(y) ;; y
        y = T([], 'float32') ;; y.sinc_() ;; y
        y = T([0.5, 0.0, -1.0]) ;; y[1:].sinc_() ;; y
        y = x - 2 ;; F.elu_(y) ;; y
        y = x - 2 ;; F.elu_(y, 0.5) ;; y
        y = T([-1.0], 'float64') ;; F.elu_(y) ;; y
        F.elu_(paddle.zeros([0]))
        y = x - 2 ;; F.hardtanh_(y) ;; y
        y = x - 2 ;; F.hardtanh_(y, -0.5, 0.5) ;; y
        y = T([-3.0], 'float64') ;; F.hardtanh_(y) ;; y
        F.hardtanh_(paddle.zeros([0]))
        y = x - 2 ;; F.leaky_relu_(y) ;; y
        y = x - 2 ;; F.leaky_relu_(y, 0.5) ;; y
        y = T([-3.0], 'float64') ;; F.leaky_relu_(y) ;; y
        F.leaky_relu_(paddle.zeros([0]))
        y = x - 2 ;; F.relu_(y) ;; y
        y = T([-3.0, 2.0], 'float64') ;; F.relu_(y) ;; y
        F.relu_(paddle.zeros([0]))
        F.relu_([1.0])
        y = x - 2 ;; F.softmax_(y) ;; y
        y = x - 2 ;; F.softmax_(y, 0) ;; y
        y = T([1.0, 2.0], 'float64') ;; F.softmax_(y) ;; y
        y = T([[1.0, 2.0]]) ;; F.softmax_(y, axis=-1) ;; y
        F.softmax_(x + 0, 5)
        y = x - 2 ;; F.thresholded_relu_(y, 0.5) ;; y
        y = x - 2 ;; F.thresholded_relu_(y, 0.5, -1.0) ;; y
        y = T([-3.0, 2.0], 'float64') ;; F.thresholded_relu_(y) ;; y
        F.thresholded_relu_(paddle.zeros([0]))
        y = x + 0 ;; y.fill_diagonal_tensor_(T([7.0, 8.0])) ;; y
        y = x + 0 ;; y.fill_diagonal_tensor_(T([7.0, 8.0]), 1) ;; y
        y = T([[1, 2], [3, 4]]) ;; y.fill_diagonal_tensor_(T([7, 8]), 0, 0, 1) ;; y
        y = x + 0 ;; y.fill_diagonal_tensor_(T([7.0, 8.0, 9.0]))
        """,
        Steps(16),
    ),
]
