"""Special functions that are no operators of the library: polygamma, multigammaln and the incomplete gamma functions.

multigammaln is composed of operators, on the place of its operand. The others are computed on the CPU with NumPy, in float64
whatever the dtype, and wait for the device, as factorizations do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._calls import _operators
from .._calls._derivative import derivative
from .._calls._inplace import in_place
from .._calls._lapack import Floats, numbers, result
from .._calls._precision import fractional
from .._core._convert import index, of_one_dtype, of_one_place, tensor
from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from . import _ops

__all__ = [
    "gammainc", "gammainc_", "gammaincc", "gammaincc_", "multigammaln", "multigammaln_", "polygamma", "polygamma_",
]  # fmt: skip

# The coefficients of eta**n / a**k in the expansion of N. M. Temme, The asymptotic expansion of the incomplete gamma functions
# (1979); DLMF 8.12.
_TEMME = (
    (-1 / 3, 1 / 12, -2 / 135, 1 / 864, 1 / 2835, -139 / 777600, 1 / 25515, -571 / 261273600),
    (-1 / 540, -1 / 288, 1 / 378, -77 / 77760),
    (25 / 6048,),
)  # fmt: skip

# zeta(k) / k for the logarithm of gamma(1 + a), DLMF 5.7.3; the first is Euler's constant.
_NEAR_ONE = (
    0.57721566490153286, 0.82246703342411322, 0.40068563438653143, 0.27058080842778454, 0.20738555102867399,
    0.16955717699740819, 0.14404989676884612, 0.12550966952474304, 0.11133426586956469, 0.10009945751278181,
)  # fmt: skip

# B(2j) / (2j)! of the Bernoulli numbers.
_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
    -3617 / 10670622842880000,
)  # fmt: skip

_LEAST = 2.0**-56  # terms below this part of a sum are left out


# Of polygamma: terms are counted in float64. Of multigammaln: each dimension is a term for each element.
MOST_ORDER, MOST_DIMENSION = 2**31 - 1, 2**16


def _next_polygamma(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    return [d[0] * polygamma(given.x, given.n + 1)]


@derivative(_next_polygamma, "x")
def polygamma(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """The n-th derivative of `digamma`, element by element; infinite at 0 and at negative integers.

    The relative error is at most 4 * (n + 2) * 2**-53 for x > 0 in float64, and half an ulp in narrower dtypes. Below 0 it is
    that of the larger of two terms, which may cancel.

    Args:
        x: integers are computed in float32. On the CPU with NumPy for n > 0.
        n: the order; 0 is `digamma` itself.

    Raises:
        TypeError: n is no int.
        ValueError: n is below 0, or x is no tensor.
    """
    if not isinstance(n, int) or isinstance(n, bool):
        raise TypeError(f"[polygamma] n is {type(n).__name__}; want an int")
    if n < 0:
        raise ValueError(f"[polygamma] n is {n}; want 0 or more")
    if n > MOST_ORDER:
        raise ValueError(f"[polygamma] n is {n}; want at most {MOST_ORDER}")
    if n == 0:
        return _ops.digamma(x)
    operand = _fractional_number("polygamma", tensor(x, "polygamma", "x"))
    with np.errstate(all="ignore"):
        return result(_polygamma(n, numbers("polygamma", operand)), operand)


def multigammaln(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """The logarithm of the multivariate gamma function of dimension p, element by element.

    That is the sum of lgamma(x - i / 2) for i < p, plus p * (p - 1) / 4 * log(pi).

    Args:
        x: of a floating-point dtype; the function is infinite or no logarithm for x <= (p - 1) / 2.
        p: 1 or more.

    Raises:
        AssertionError: p is below 1.
        TypeError: p is no int.
        UnsupportedError: x is of integers.
        AttributeError: x is no tensor.
    """
    p = index("p", p)
    if p < 1:
        raise AssertionError(f"[multigammaln] p is {p}; want 1 or more")
    if p > MOST_DIMENSION:
        raise ValueError(f"[multigammaln] p is {p}; want at most {MOST_DIMENSION}")
    if not isinstance(x, Tensor):
        raise AttributeError(f"[multigammaln] x is {type(x).__name__}; want a Tensor")
    if not meta(x).dtype.is_floating:
        raise UnsupportedError(f"[multigammaln] x is {meta(x).dtype.name}; want a floating-point dtype")
    return _operators.multigammaln(x, p)


def _density(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    """With respect to y, y ** (x - 1) * exp(-y) / gamma(x)."""
    x, y = given.x, given.y
    power = _operators.where(_operators.equal(x, 1.0), 0.0, (x - 1.0) * _operators.log(y))
    dy = d[0] * _operators.exp(power - y - _ops.lgamma(x))
    return [None if x.stop_gradient else d[0] * _by_order(x, y), dy]


def _less_density(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    return [None if found is None else -found for found in _density(d, made, given)]


def _none(d: list[Any], made: list[Any], given: Any) -> list[Any]:
    raise UnsupportedError("[gammainc] the gradient with respect to x has no gradient; want create_graph=False")


@derivative(_none, "x", "y")
def _by_order(x: Tensor, y: Tensor) -> Tensor:
    """The derivative of P(x, y) with respect to x, which has none itself."""
    a, b = np.broadcast_arrays(numbers("gammainc", x), numbers("gammainc", y))
    with np.errstate(all="ignore"):
        return result(_order_slope(np.ravel(a), np.ravel(b)).reshape(a.shape), x)


@derivative(_density, "x", "y")
def gammainc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The regularized lower incomplete gamma function P(x, y), element by element; 0 at x = 0, as Paddle defines it.

    The relative error is at most about 1e-13 in float64, and half an ulp in narrower dtypes; it is not that of 1 - Q.

    Args:
        x, y: of one floating-point dtype, at least 0; they broadcast. Computed on the CPU with NumPy.

    Raises:
        ValueError: an element is below 0 or nan, or the shapes do not broadcast.
        UnsupportedError: the operands are no floats.
        AttributeError: an operand is no tensor.
    """
    return _incomplete("gammainc", x, y)


@derivative(_less_density, "x", "y")
def gammaincc(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The regularized upper incomplete gamma function Q(x, y) = 1 - P(x, y), element by element; see `gammainc`.

    Args:
        x, y: of one floating-point dtype, at least 0; they broadcast. Computed on the CPU with NumPy.

    Raises:
        ValueError: an element is below 0 or nan, or the shapes do not broadcast.
        UnsupportedError: the operands are no floats.
        AttributeError: an operand is no tensor.
    """
    return _incomplete("gammaincc", x, y)


def polygamma_(x: Tensor, n: int, name: str | None = None) -> Tensor:
    """`polygamma`, whose result takes the place of x; returns x."""
    return in_place(polygamma, x, n)


def multigammaln_(x: Tensor, p: int, name: str | None = None) -> Tensor:
    """`multigammaln`, whose result takes the place of x; returns x."""
    return in_place(multigammaln, x, p)


def gammainc_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`gammainc`, whose result takes the place of x; returns x."""
    return in_place(gammainc, x, y)


def gammaincc_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`gammaincc`, whose result takes the place of x; returns x."""
    return in_place(gammaincc, x, y)


def _fractional_number(name: str, x: Tensor) -> Tensor:
    """x, or as float32 if it is of integers."""
    if meta(x).dtype.name == "bool":
        raise UnsupportedError(f"[{name}] x is bool; want numbers")
    return x if meta(x).dtype.is_floating else fractional(x)


def _polygamma(n: int, x: Floats) -> Floats:
    """The series (DLMF 5.15.1), of which terms on both sides of 0 are two such series and what is left of one."""
    sign = 1.0 if n % 2 else -1.0
    pole = (x <= 0) & (x == np.floor(x))
    below = (x < 0) & ~pole
    above = np.where(below, -x - np.floor(-x), 0.5)  # to the next integer above, without rounding
    first = np.where(below, 1 - above, np.where(pole, 1, x))
    value = sign * _hurwitz(n, first)
    if below.any():
        # The two large ones first, which cancel for even n, or they would absorb the third.
        both = (value + _hurwitz(n, above)) - _hurwitz(n, np.where(below, 1 - x, 1))
        value = np.where(below, both, value)
    return np.where(pole, sign * np.inf, value)


def _hurwitz(n: int, x: Floats) -> Floats:
    """n! * zeta(n + 1, x): Euler and Maclaurin's formula (DLMF 25.11.5) behind the terms below 2 * n + 20. All are
    divided by the first one, so that none is too large."""
    total, end = np.zeros_like(x), x.copy()
    while (more := end < 2 * n + 20).any():
        term = np.where(more, (x / end) ** (n + 1), 0)
        total += term
        end = np.where(more & (term > total * _LEAST / 16), end + 1, np.where(more, np.inf, end))
    series, factor = np.zeros_like(x), (n + 1) / end
    for j, b in enumerate(_BERNOULLI):
        series = series + b * factor
        factor = factor * ((n + 2 + 2 * j) / end) * ((n + 3 + 2 * j) / end)
    tail = (x / end) ** (n + 1) * (end / n + 0.5 + series)
    value = (total + np.where(np.isinf(end), 0, tail)) / x
    for k in range(1, n + 1):
        if not (np.isfinite(value) & (value != 0)).any():
            break
        value = value * (k / x)
    return np.where(np.isinf(x), 0, value)


def _incomplete(name: str, x: Tensor, y: Tensor) -> Tensor:
    for operand in (x, y):
        if not isinstance(operand, Tensor):
            raise AttributeError(f"[{name}] an operand is {type(operand).__name__}; want Tensors")
    of_one_place(name, x, y)
    of_one_dtype(name, x, y)
    a, b = numbers(name, x), numbers(name, y)
    for parameter, values in (("x", a), ("y", b)):
        if not (values >= 0).all():
            raise ValueError(f"[{name}] {parameter} has elements that are below 0 or nan; want 0 or more")
    try:
        a, b = np.broadcast_arrays(a, b)
    except ValueError:
        raise ValueError(f"[{name}] shapes are {list(a.shape)} and {list(b.shape)}; want ones that broadcast") from None
    with np.errstate(all="ignore"):
        lower, upper = _gammas(np.ravel(a), np.ravel(b))
    return result((lower if name == "gammainc" else upper).reshape(a.shape), x)


def _gammas(a: Floats, x: Floats) -> tuple[Floats, Floats]:
    """P and Q, which add up to 1. The smaller one is computed: P by its series (DLMF 8.11.4) and Q by its continued fraction
    (8.9.2); both take some 9 * sqrt(a) terms where x is about a, so that a from 2**20 on is for Temme's expansion."""
    lower, upper = np.zeros_like(a), np.ones_like(a)
    far = (a > 0) & np.isinf(x)
    lower[far], upper[far] = 1, 0
    both = np.isinf(a) & np.isinf(x)
    lower[both] = upper[both] = np.nan
    inside = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    large = inside & (a >= 2**20)
    fraction = inside & ~large & (x >= 1) & ((x >= a + 1) | (a < 1))
    series = inside & ~large & ~fraction
    lower[large], upper[large] = _temme(a[large], x[large])
    upper[fraction] = _factor(a[fraction], x[fraction]) * a[fraction] * _fraction(a[fraction], x[fraction])
    lower[fraction] = 1 - upper[fraction]
    lower[series] = _factor(a[series], x[series]) * _series(a[series], x[series])
    upper[series] = 1 - lower[series]
    small = series & (a < 1)
    upper[small] = _upper_of_small(a[small], x[small])
    return lower, upper


def _order_slope(a: Floats, x: Floats) -> Floats:
    """The derivative of P with respect to a, by central differences of four points: h = a / 2048, an error of h**4.

    No closed form has fewer than three hypergeometric functions (DLMF 8.8, 8.9). About 1e-10 of the largest slope.
    """
    h = np.where(a > 0, a, np.nan) / 2048
    values = [_gammas(a + k * h, x)[0] for k in (1, -1, 2, -2)]
    slope: Floats = (8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * h)
    return slope


def _lgamma(a: Floats) -> Floats:
    return np.array([math.lgamma(v) for v in a], np.float64)


def _lgamma_of_next(a: Floats) -> Floats:
    """The logarithm of gamma(1 + a) for a < 1, with all digits near 0."""
    total = np.zeros_like(a)
    for k in range(len(_NEAR_ONE), 0, -1):
        total = a * (_NEAR_ONE[k - 1] * (-1) ** k + total)
    return np.where(a < 0.02, total, _lgamma(1 + a))


def _factor(a: Floats, x: Floats) -> Floats:
    """x**a * exp(-x) / gamma(a + 1)."""
    z = 1 / (a * a)  # Stirling's series (DLMF 5.11.1)
    stirling = (1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - z * (691 / 360360)))))) / a
    large = np.exp(-a * _distance(a, x) - stirling) / np.sqrt(2 * np.pi * a)
    direct = np.exp(a * np.log(x) - x - np.where(a < 1, _lgamma_of_next(np.minimum(a, 1)), _lgamma(a + 1)))
    return np.where(a < 10, direct, large)


def _distance(a: Floats, x: Floats) -> Floats:
    """x / a - 1 - log(x / a); where x is near a by the series of the inverse hyperbolic tangent."""
    m = (x - a) / a
    s = m / (2 + m)
    total = np.zeros_like(m)
    for k in range(41, 1, -2):
        total = s * s * (total + 1 / k)
    return np.where(np.abs(m) > 0.5, m - np.log(x / a), s * (m - 2 * total))


def _series(a: Floats, x: Floats) -> Floats:
    """The series of P, without its factor."""
    total, term, n = np.ones_like(a), np.ones_like(a), a + 1
    while (term > total * _LEAST).any():
        term = term * (x / n)
        total, n = total + term, n + 1
    return total


def _fraction(a: Floats, x: Floats) -> Floats:
    """The continued fraction of Q, without its factors, by Steed's algorithm."""
    b = x + 1 - a
    d = 1 / b
    step, total, n = d, d.copy(), 1
    while (np.abs(step) > total * _LEAST).any():
        c = n * (a - n)
        b = b + 2
        d = 1 / (b + c * d)
        step = step * (b * d - 1)
        total, n = total + step, n + 1
    return total


def _upper_of_small(a: Floats, x: Floats) -> Floats:
    """Q for a < 1 and x < 1, where P may be close to 1: 1 - u less u * a times a series (8.7.1), for the first factor u of
    P."""
    u = a * np.log(x) - _lgamma_of_next(a)
    total, term = np.zeros_like(a), np.ones_like(a)
    for n in range(1, 24):
        term = term * (-x / n)
        total = total + term / (a + n)
    upper: Floats = -np.expm1(u) - np.exp(u) * a * total
    return upper


def _temme(a: Floats, x: Floats) -> tuple[Floats, Floats]:
    """P and Q for a large a: a normal distribution, and what corrects it."""
    distance = _distance(a, x)
    near = a * distance < 800
    distance = np.where(near, distance, 0)
    eta = np.copysign(np.sqrt(2 * distance), x - a)
    total = np.zeros_like(a)
    for coefficients in reversed(_TEMME):
        power = np.zeros_like(a)
        for c in reversed(coefficients):
            power = power * eta + c
        total = total / a + power
    total = total * np.exp(-a * distance) / np.sqrt(2 * np.pi * a)
    z = eta * np.sqrt(a / 2)
    half = np.array([math.erfc(v) / 2 for v in np.concatenate([-z, z])], np.float64)
    lower, upper = half[: z.size] - total, half[z.size :] + total
    return np.where(near, lower, x > a), np.where(near, upper, x < a)


class SpecialMethods:
    """The functions of this module that are methods of Tensor."""

    __slots__ = ()

    gammainc = gammainc
    gammainc_ = gammainc_
    gammaincc = gammaincc
    gammaincc_ = gammaincc_
    multigammaln = multigammaln
    multigammaln_ = multigammaln_
    polygamma = polygamma
    polygamma_ = polygamma_
