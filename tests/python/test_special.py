"""Special functions against mpmath, with the bounds that their documentation states."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._commands._differences import worst

T = paddle.to_tensor
EPSILON = {"float32": 2.0**-24, "float64": 2.0**-53}


def exact(function: Any, *operands: Any) -> list[Any]:
    """A function of mpmath's of every element."""
    with mpmath.workdps(40):
        return [function(*map(mpmath.mpf, values)) for values in zip(*(np.ravel(x).tolist() for x in operands))]


def relative(got: Any, want: list[Any]) -> float:
    """The largest relative error of results within the range of normal numbers."""
    with mpmath.workdps(40):
        errors = [abs((mpmath.mpf(g) - w) / w) for g, w in zip(np.ravel(got).tolist(), want) if 1e-290 < abs(w) < 1e300]
    assert errors
    return worst(map(float, errors))


@pytest.mark.parametrize("dtype, n", [("float32", 1), ("float32", 2), *(("float64", n) for n in (1, 2, 3, 10, 40))])
@pytest.mark.parametrize("low, high", [(1e-3, 1), (1, 10), (10, 1000)])
def test_polygamma(n: int, low: float, high: float, dtype: str) -> None:
    x = np.random.default_rng(n).uniform(low, high, 40).astype(dtype)
    bound = 4 * (n + 2) * 2.0**-53 + (EPSILON["float32"] if dtype == "float32" else 0)
    want = exact(lambda v: mpmath.polygamma(n, v), x)
    assert relative(paddle.polygamma(T(x), n).numpy(), want) <= bound


@pytest.mark.parametrize("n", [1, 2, 5])
def test_polygamma_below_zero(n: int) -> None:
    x = np.random.default_rng(n).uniform(-20, 0, 60)
    want = exact(lambda v: mpmath.polygamma(n, v), x)
    got = paddle.polygamma(T(x), n).numpy()
    larger = exact(lambda v: mpmath.factorial(n) * 2 * abs(v - mpmath.nint(v)) ** -(n + 1), x)
    for g, w, scale in zip(got.tolist(), want, larger):
        assert abs(mpmath.mpf(g) - w) <= 4 * (n + 2) * 2.0**-53 * float(scale)


def test_polygamma_at_poles_and_infinities() -> None:
    x = T([0.0, -1.0, -7.0, float("inf"), float("nan")])
    assert repr(paddle.polygamma(x, 1).tolist()) == "[inf, inf, inf, 0.0, nan]"
    assert repr(paddle.polygamma(x, 2).tolist()) in (
        "[-inf, -inf, -inf, 0.0, nan]",
        "[-inf, -inf, -inf, -0.0, nan]",
    )


# Both below 1; next to 0; of ordinary size; large and near each other; and for Temme's expansion, where the deviation is of
# some standard deviations.
def pairs(kind: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(7)
    if kind == "small":
        return rng.uniform(0, 1, 40), rng.uniform(0, 1, 40)
    if kind == "tiny":
        return 10 ** rng.uniform(-10, 0, 40), 10 ** rng.uniform(-10, 0.5, 40)
    if kind == "ordinary":
        return rng.uniform(1, 12, 40), rng.uniform(0, 40, 40)
    a = rng.uniform(10, 300, 40)
    return a, a * rng.uniform(0.5, 1.7, 40)


@pytest.mark.parametrize("kind", ["small", "tiny", "ordinary", "large"])
@pytest.mark.parametrize("dtype", EPSILON)
def test_incomplete_gamma(kind: str, dtype: str) -> None:
    a, x = (v.astype(dtype) for v in pairs(kind))
    bound = 1e-13 + (EPSILON["float32"] if dtype == "float32" else 0)
    least = 1e-290 if dtype == "float64" else 1e-37
    for function, want in (
        (paddle.gammainc, exact(lambda s, v: mpmath.gammainc(s, 0, v, regularized=True), a, x)),
        (paddle.gammaincc, exact(lambda s, v: mpmath.gammainc(s, v, regularized=True), a, x)),
    ):
        got = function(T(a), T(x)).numpy()
        kept = [i for i, w in enumerate(want) if w > least]
        assert relative(np.ravel(got)[kept], [want[i] for i in kept]) <= bound


def test_incomplete_gamma_of_large_operands() -> None:
    a = np.array([2.0**21, 3.0**14])
    x = a + np.sqrt(a) * np.array([1.5, -2.5])
    want = []
    with mpmath.workdps(30):
        for s, v in zip(a.tolist(), x.tolist()):
            term = total = mpmath.mpf(1)
            n = mpmath.mpf(s)
            while term > total * mpmath.mpf(10) ** -22:
                n += 1
                term *= v / n
                total += term
            want.append(total * mpmath.exp(s * mpmath.log(v) - v - mpmath.loggamma(s + 1)))
    assert relative(paddle.gammainc(T(a), T(x)).numpy(), want) <= 1e-13
    assert relative(paddle.gammaincc(T(a), T(x)).numpy(), [1 - w for w in want]) <= 1e-13


def test_incomplete_gamma_at_the_ends() -> None:
    inf = float("inf")
    x, y = T([0.0, 1.0, 1.0, inf, 0.0, inf, 1e300]), T([1.0, 0.0, inf, 1.0, 0.0, inf, 1.0])
    assert repr(paddle.gammainc(x, y).tolist()) == "[0.0, 0.0, 1.0, 0.0, 0.0, nan, 0.0]"
    assert repr(paddle.gammaincc(x, y).tolist()) == "[1.0, 1.0, 0.0, 1.0, 1.0, nan, 1.0]"
    assert paddle.gammainc(T([[1.0], [2.0]]), T([1.0, 2.0, 3.0])).shape == [2, 3]
    assert paddle.gammainc(paddle.zeros([0, 3]), T(1.0)).shape == [0, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves(dtype: str) -> None:
    x, y = T([2.5, 4.0], dtype=dtype), T([1.5, 3.0], dtype=dtype)
    first, second = paddle.cast(x, "float32"), paddle.cast(y, "float32")
    for got, want in (
        (paddle.gammainc(x, y), paddle.gammainc(first, second)),
        (paddle.polygamma(x, 1), paddle.polygamma(first, 1)),
        (paddle.multigammaln(x, 2), paddle.multigammaln(first, 2)),
    ):
        assert got.dtype == dtype
        assert paddle.cast(got, "float32").tolist() == paddle.cast(paddle.cast(want, dtype), "float32").tolist()


@pytest.mark.parametrize("p", [1, 2, 5])
def test_multigammaln(p: int) -> None:
    """Of p + 2 positive terms, each off by 8 ulp."""
    x = np.random.default_rng(p).uniform(5, 50, 40)
    want = exact(
        lambda v: (
            mpmath.mpf(p * (p - 1)) / 4 * mpmath.log(mpmath.pi)
            + mpmath.fsum(mpmath.loggamma(v - mpmath.mpf(i) / 2) for i in range(p))
        ),
        x,
    )
    assert relative(paddle.multigammaln(T(x), p).numpy(), want) <= (p + 2) * 16 * 2.0**-53


def test_errors() -> None:
    x = T([1.5])
    number: Any = 1.0
    for call, error in (
        (lambda: paddle.polygamma(x, -1), ValueError),
        (lambda: paddle.polygamma(x, number), TypeError),
        (lambda: paddle.polygamma(x, True), TypeError),
        (lambda: paddle.polygamma(T([True]), 1), paddle.UnsupportedError),
        (lambda: paddle.multigammaln(x, 0), AssertionError),
        (lambda: paddle.multigammaln(T([3]), 2), paddle.UnsupportedError),
        (lambda: paddle.gammainc(x, T([-1.0])), ValueError),
        (lambda: paddle.gammainc(T([float("nan")]), x), ValueError),
        (lambda: paddle.gammainc(x, T([1.0], dtype="float64")), ValueError),
        (lambda: paddle.gammainc(T([1]), T([2])), paddle.UnsupportedError),
        (lambda: paddle.gammainc(T([1.0, 2.0]), T([1.0, 2.0, 3.0])), ValueError),
        (lambda: paddle.gammaincc(x, number), AttributeError),
        (lambda: T([1.0]).gammaincc_(T([1.0, 2.0])), ValueError),
    ):
        with pytest.raises(error, match=r"^\["):
            call()


@pytest.mark.parametrize("n", [2, 10, 20, 50, 100])
def test_polygamma_of_even_order_is_the_same_on_both_sides_of_a_half(n: int) -> None:
    """The reflection formula at half-integers, where the derivative of the cotangent is 0."""
    x = np.array([-0.5, -1.5, -10.5, -30.5])
    found = paddle.polygamma(paddle.to_tensor(np.stack([x, 1 - x])), n).numpy()
    np.testing.assert_allclose(found[0], found[1], rtol=4 * (n + 2) * 2.0**-53)


@pytest.mark.parametrize("p", ["a", 2.5, 2**70])
def test_multigammaln_wants_an_int(p: object) -> None:
    with pytest.raises((TypeError, OverflowError, ValueError), match="p"):
        paddle.multigammaln(paddle.to_tensor([5.0]), p)  # type: ignore[arg-type]
