"""Random values have the distribution that their function says.

The seed is fixed, so a test that passes always passes. Each bound follows from the statistic: for most seeds a right
generator is far below it, and it exceeds it with a probability of P.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _operators as ops

P = 1e-6
Z = 4.892  # of a normal value: two sides
N = 40000
PLACES = ("cpu", "mps")
SEED = 20240607


def drawn(make: Callable[[], paddle.Tensor], place: str = "cpu") -> np.ndarray[Any, Any]:
    """Values after the seed, as float64."""
    with paddle.device_guard(place):
        paddle.seed(SEED)
        made = make()
    assert str(made.place).find(place) >= 0
    return np.asarray(made.astype("float32" if made.dtype == "bfloat16" else made.dtype).numpy(), np.float64)


def check_moments(values: np.ndarray[Any, Any], mean: float, variance: float, fourth: float) -> None:
    """Mean and variance, by the normal distribution of both; fourth is the fourth central moment."""
    n = values.size
    assert abs(values.mean() - mean) <= Z * math.sqrt(variance / n)
    assert abs(values.var() - variance) <= Z * math.sqrt((fourth - variance**2) / n) + Z**2 * variance / n


def check_shape(values: np.ndarray[Any, Any], below: Callable[[float], float]) -> None:
    """Kolmogorov and Smirnov's distance, by Massart's bound: P(D > d) <= 2 exp(-2 n d**2)."""
    values = np.sort(values.ravel())
    n = values.size
    expected = np.array([below(v) for v in values])
    distance = max((np.arange(1, n + 1) / n - expected).max(), (expected - np.arange(n) / n).max())
    assert distance <= math.sqrt(math.log(2 / P) / (2 * n))


def check_counts(found: np.ndarray[Any, Any], chances: np.ndarray[Any, Any]) -> None:
    """Pearson's chi-square, by Laurent and Massart's bound: P(X > k + 2 sqrt(k t) + 2 t) <= exp(-t)."""
    assert found[chances == 0].sum() == 0
    found, chances = found[chances > 0], chances[chances > 0]
    assert abs(chances.sum() - 1) < 1e-9
    expected = found.sum() * chances
    assert expected.min() > 20  # where its distribution is that of chi-square
    k, t = len(found) - 1, -math.log(P)
    assert ((found - expected) ** 2 / expected).sum() <= k + 2 * math.sqrt(k * t) + 2 * t


def tally(values: np.ndarray[Any, Any], cells: int) -> np.ndarray[Any, Any]:
    """How often 0, 1, ... occur; what is larger counts for the last cell."""
    assert (values >= 0).all() and (values == np.round(values)).all()
    return np.bincount(np.minimum(values.ravel(), cells - 1).astype(int), minlength=cells)


def with_rest(chances: list[float]) -> np.ndarray[Any, Any]:
    return np.array([*chances, 1 - sum(chances)])


def normal_below(z: float) -> float:
    return (1 + math.erf(z / math.sqrt(2))) / 2


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_bernoulli(place: str, dtype: str) -> None:
    chance = float(paddle.to_tensor(0.3, dtype))
    full = drawn(lambda: paddle.bernoulli(paddle.full([N], 0.3, dtype)), place)
    check_counts(tally(full, 2), np.array([1 - chance, chance]))
    written = drawn(lambda: paddle.zeros([N], dtype).bernoulli_(chance), place)
    check_counts(tally(written, 2), np.array([1 - chance, chance]))
    each = drawn(lambda: paddle.bernoulli(paddle.to_tensor([0.1, 0.9], dtype).expand([N, 2])), place)
    for column, p in zip(each.T, paddle.to_tensor([0.1, 0.9], dtype).tolist()):
        check_counts(tally(column, 2), np.array([1 - p, p]))


@pytest.mark.parametrize("place, dtype", [("cpu", "float32"), ("cpu", "float64"), ("mps", "float32")])
def test_continuous(place: str, dtype: str) -> None:
    def x() -> paddle.Tensor:
        return paddle.zeros([N // 4, 8], dtype)[:, ::2]

    waits = drawn(lambda: x().exponential_(2.5), place)
    assert (waits > 0).all()
    check_moments(waits, 1 / 2.5, 1 / 2.5**2, 9 / 2.5**4)
    check_shape(waits, lambda v: -math.expm1(-2.5 * v))
    check_shape(drawn(lambda: x().cauchy_(1.5, 3.0), place), lambda v: 0.5 + math.atan((v - 1.5) / 3.0) / math.pi)
    logs = drawn(lambda: paddle.log_normal(0.5, 0.75, [N]), place)
    check_shape(logs, lambda v: normal_below((math.log(v) - 0.5) / 0.75))
    check_shape(drawn(lambda: x().log_normal_(0.5, 0.75), place), lambda v: normal_below((math.log(v) - 0.5) / 0.75))
    trials = drawn(lambda: x().geometric_(0.25), place)
    check_shape(trials, lambda v: -math.expm1(v * math.log1p(-0.25)))
    check_counts(tally(np.ceil(trials) - 1, 21), with_rest([0.25 * 0.75**i for i in range(20)]))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(
    "method, arguments", [("exponential_", (2.0,)), ("cauchy_", (1.0,)), ("geometric_", (0.5,)), ("log_normal_", ())]
)
def test_continuous_in_half_precision(method: str, arguments: tuple[float, ...], dtype: str) -> None:
    """What is drawn is float32, rounded once."""
    wide = drawn(lambda: getattr(paddle.zeros([100]), method)(*arguments))
    half = drawn(lambda: getattr(paddle.zeros([100], dtype), method)(*arguments))
    rounded = paddle.to_tensor(wide.astype(np.float32)).astype(dtype).astype("float32").numpy()
    np.testing.assert_array_equal(half, rounded)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32"])
def test_random(place: str, dtype: str) -> None:
    values = drawn(lambda: paddle.zeros([N], dtype).random_(3, 23), place)
    check_counts(tally(values - 3, 20), np.full(20, 1 / 20))
    top = 2 ** {"float16": 11, "bfloat16": 8, "float32": 24}[dtype] if "float" in dtype else paddle.iinfo(dtype).max
    values = drawn(lambda: paddle.zeros([N], dtype).random_(), place)
    assert (values >= 0).all() and (values <= top).all() and (values == np.round(values)).all()
    edges = [-(-top * i // 4) for i in range(5)]  # the first integers of quarters of the range
    check_counts(tally(np.searchsorted(edges, values, "right") - 1, 4), np.diff(edges) / top)


@pytest.mark.parametrize("place", PLACES)
def test_multinomial_with_replacement(place: str) -> None:
    weights = [0.0, 3.0, 0.5, 0.0, 1.5, 0.0]
    chances = np.array(weights) / 5
    check_counts(tally(drawn(lambda: paddle.multinomial(paddle.to_tensor(weights), N, True), place), 6), chances)
    rows = paddle.to_tensor([weights, weights[::-1]])
    found = drawn(lambda: paddle.multinomial(rows.to(place), N, True), place)
    check_counts(tally(found[0], 6), chances)
    check_counts(tally(found[1], 6), chances[::-1])


@pytest.mark.parametrize("place", PLACES)
def test_multinomial_without_replacement(place: str) -> None:
    """Ordered pairs: p_i p_j / (1 - p_i)."""
    weights = np.array([0.0, 4.0, 1.0, 2.0, 1.0])
    p = weights / weights.sum()
    found = drawn(lambda: paddle.multinomial(paddle.to_tensor(weights.astype("float32")).expand([N, 5]), 2), place)
    pairs = tally(found[:, 0] * 5 + found[:, 1], 25)
    chances = [p[i] * p[j] / (1 - p[i]) if i != j else 0.0 for i, j in itertools.product(range(5), repeat=2)]
    check_counts(pairs, np.array(chances))


def test_multinomial_of_extreme_weights() -> None:
    huge = paddle.to_tensor([3e38, 3e38, 0.0, 3e38])
    check_counts(tally(drawn(lambda: paddle.multinomial(huge, N, True)), 4), np.array([1, 1, 0, 1]) / 3)
    assert sorted(drawn(lambda: paddle.multinomial(huge, 3)).tolist()) == [0, 1, 3]
    small = paddle.to_tensor([1e-40, 0.0, 1e38])
    assert drawn(lambda: paddle.multinomial(small, 2)).tolist() == [2, 0]


@pytest.mark.parametrize("place", PLACES)
def test_binomial(place: str) -> None:
    values = drawn(lambda: paddle.binomial(paddle.full([N], 10), paddle.full([N], 0.25)), place)
    check_counts(tally(values, 8), with_rest([math.comb(10, i) * 0.25**i * 0.75 ** (10 - i) for i in range(7)]))
    values = drawn(lambda: paddle.binomial(paddle.full([N], 10**6), paddle.full([N], 0.25)), place)
    variance = 10**6 * 0.25 * 0.75
    check_moments(values, 250000, variance, 3 * variance**2 + variance * (1 - 6 * 0.25 * 0.75))


@pytest.mark.parametrize("place", PLACES)
def test_poisson(place: str) -> None:
    values = drawn(lambda: paddle.poisson(paddle.full([N], 3.5)), place)
    check_counts(tally(values, 12), with_rest([math.exp(-3.5) * 3.5**i / math.factorial(i) for i in range(11)]))
    values = drawn(lambda: paddle.poisson(paddle.full([N], 1024.0)), place)
    check_moments(values, 1024, 1024, 3 * 1024**2 + 1024)


def test_poisson_of_large_means() -> None:
    """Beyond 64 bits: a normal value."""
    mean = 2.0**64
    values = drawn(lambda: paddle.poisson(paddle.full([N], mean, "float64"))) - mean
    check_moments(values, 0.0, mean, 3 * mean**2)
    assert paddle.poisson(paddle.to_tensor([math.inf])).tolist() == [math.inf]


@pytest.mark.parametrize("place, dtype", [("cpu", "float32"), ("cpu", "float64"), ("mps", "float32")])
@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0, 100.0])
def test_standard_gamma(place: str, dtype: str, shape: float) -> None:
    values = drawn(lambda: paddle.standard_gamma(paddle.full([N], shape, dtype)), place)
    check_moments(values, shape, shape, 3 * shape**2 + 6 * shape)
    below: dict[float, Callable[[float], float]] = {
        0.5: lambda v: math.erf(math.sqrt(v)),
        1.0: lambda v: -math.expm1(-v),
        2.0: lambda v: 1 - math.exp(-v) * (1 + v),
    }
    if shape in below:
        check_shape(values, below[shape])


MADE: dict[str, Callable[[], paddle.Tensor]] = {
    "bernoulli": lambda: paddle.bernoulli(paddle.full([50], 0.4)),
    "exponential_": lambda: paddle.zeros([50]).exponential_(),
    "cauchy_": lambda: paddle.zeros([50]).cauchy_(),
    "geometric_": lambda: paddle.zeros([50]).geometric_(0.3),
    "log_normal_": lambda: paddle.zeros([50]).log_normal_(),
    "random_": lambda: paddle.zeros([50]).random_(),
    "multinomial": lambda: paddle.multinomial(paddle.arange(1.0, 20.0), 30, True),
    "distinct": lambda: paddle.multinomial(paddle.arange(1.0, 20.0), 19),
    "binomial": lambda: paddle.binomial(paddle.full([50], 50), paddle.full([50], 0.5)),
    "poisson": lambda: paddle.poisson(paddle.full([50], 50.0)),
    "standard_gamma": lambda: paddle.standard_gamma(paddle.full([50], 5.0)),
    "svd_lowrank": lambda: paddle.linalg.svd_lowrank(paddle.arange(20.0).reshape([4, 5]).sin(), 1)[0],
}


@pytest.mark.parametrize("name", MADE)
def test_seeds(name: str) -> None:
    """The same seed gives the same values, on every place up to the rounding of functions; the next ones differ."""
    first = drawn(MADE[name])
    following = np.asarray(MADE[name]().numpy(), np.float64)
    np.testing.assert_array_equal(drawn(MADE[name]), first)
    assert (following != first).any()
    there = drawn(MADE[name], "mps")
    # Of 50 angles the nearest to a pole of tan is some 2**-6 away, which makes a few ulps of float32 as many times more.
    np.testing.assert_allclose(there, first, rtol=2.0**-12)


def test_a_state_brings_values_back() -> None:
    for make in MADE.values():
        state = paddle.get_rng_state("cpu")
        first = make().numpy()
        paddle.set_rng_state(state, "cpu")
        np.testing.assert_array_equal(make().numpy(), first)


def test_operands_of_two_places() -> None:
    with pytest.raises(ValueError, match="want one place"):
        paddle.binomial(paddle.ones([2], place="mps"), paddle.ones([2]))
    with pytest.raises(NotImplementedError, match="generator"):
        paddle.ones([2]).random_(generator=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions_are_finite_at_0(dtype: str) -> None:
    u = paddle.zeros([2], dtype)
    for found in (ops.exponential(u, 1.0), ops.cauchy(u, 0.0, 1.0), ops.geometric(u, paddle.full([2], 0.5, dtype))):
        assert found.dtype == u.dtype and bool(paddle.isfinite(found).all())
    np.testing.assert_allclose(ops.truncated_gaussian(u, 1.0, 2.0, -1.0, 4.0).numpy(), [-1, -1], rtol=1e-6)
    with pytest.raises(ValueError, match=r"\[multinomial\]"):
        ops.multinomial(paddle.ones([2], dtype), u, 3, False)
