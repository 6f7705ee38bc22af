"""Functions of float64 against mpmath, at arguments where a simple formula overflows, cancels or rounds too often."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import pytest

import paddle_mps as paddle

rng = np.random.default_rng(30)


def far(low: float, high: float, n: int = 400) -> Any:
    """Numbers of all sizes between powers of ten, with both signs."""
    return np.asarray(10.0 ** rng.uniform(low, high, n) * rng.choice([-1.0, 1.0], n))


def powers() -> tuple[Any, Any]:
    """Bases and exponents whose powers are finite, also near 1 and of large exponents."""
    base = np.concatenate([np.abs(far(-300, 300)), np.abs(far(-3, 3)), 1 + far(-12, -2), np.abs(far(-320, -308, 100))])
    exponent = rng.uniform(-700, 700, base.size) / np.log(base)
    return base, exponent


HYPERBOLIC = np.concatenate(
    [rng.uniform(-710.4, 710.4, 400), [709.78, 709.79, 710.0, 710.4758600739439, -710.47, 700.0, 1e-300]]
)
TURNS = np.concatenate(
    [far(0, 6), far(6, 18), far(18, 22), far(22, 308), np.array([2.0**20, 1e22, 6381956970095103 * 2.0**797])]
)
CASES = [
    ("sinh", mpmath.sinh, (HYPERBOLIC,), 4), ("cosh", mpmath.cosh, (HYPERBOLIC,), 4),
    ("sin", mpmath.sin, (TURNS,), 4), ("cos", mpmath.cos, (TURNS,), 4), ("tan", mpmath.tan, (TURNS,), 4),
    ("pow", mpmath.power, powers(), 1),
    ("hypot", mpmath.hypot, (far(-320, 308, 800), far(-320, 308, 800)), 4),
    ("hypot", mpmath.hypot, (far(-3, 3), far(-3, 3)), 4),
]  # fmt: skip


@pytest.mark.parametrize(("name", "right", "operands", "units"), CASES)
def test_units_in_the_last_place(name, right, operands, units) -> None:
    got = getattr(paddle, name)(*map(paddle.to_tensor, operands)).numpy()
    worst = 0.0
    with mpmath.workprec(1200):
        for y, *x in zip(got, *operands):
            want = right(*map(mpmath.mpf, map(float, x)))
            near = float(want)
            assert np.isfinite(y) or not np.isfinite(near), (name, x, y, near)
            if np.isfinite(near):
                error = float(abs(mpmath.mpf(float(y)) - want) / mpmath.mpf(float(np.spacing(abs(near)))))
                assert error <= units, (name, x, y, near, error)
                worst = max(worst, error)
    print(f"{name}: {worst:.2f} units")


def test_exact_powers() -> None:
    base, exponent = (a.ravel() for a in np.meshgrid(np.arange(-40.0, 41.0), np.arange(0.0, 9.0)))
    got = paddle.pow(paddle.to_tensor(base), paddle.to_tensor(exponent)).numpy()
    np.testing.assert_array_equal(got, [float(int(b) ** int(e)) for b, e in zip(base, exponent)])
    squares = np.arange(1.0, 1000.0) ** 2
    np.testing.assert_array_equal(
        paddle.pow(paddle.to_tensor(squares), paddle.full([1], 0.5, "float64")).numpy(), np.arange(1.0, 1000.0)
    )


def test_special_powers() -> None:
    special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.0,
        -2.0,
        0.5,
        -0.5,
        3.0,
        np.inf,
        -np.inf,
        np.nan,
        5e-324,
        -5e-324,
        1e308,
        2.0**53,
        2.0**53 + 2,
    ]
    base, exponent = (a.ravel() for a in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        want = np.power(base, exponent)
    got = paddle.pow(paddle.to_tensor(base), paddle.to_tensor(exponent)).numpy()
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_lcm_of_large_numbers(dtype: str) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([least, least, most, 1 << 20, 1 << 20, -(1 << 20), 0, least, 12, -12], dtype)
    y = np.array([least, 1, 1, 1 << 20, 3 << 18, 1 << 20, least, 0, 18, 18], dtype)
    got = paddle.lcm(paddle.to_tensor(x), paddle.to_tensor(y)).numpy()
    np.testing.assert_array_equal(got, [least, least, most, 1 << 20, 3 << 20, 1 << 20, 0, 0, 36, 36])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hypot_of_the_least_and_the_largest(dtype: str) -> None:
    info = np.finfo(dtype)
    x = np.array([info.tiny, info.tiny, info.max / 2, info.max, 3e-30, 0.0, -0.0, np.inf, np.nan, 3.0], dtype)
    y = np.array([0.0, info.tiny, info.max / 2, 0.0, 4e-30, 0.0, 0.0, 1.0, 1.0, 4.0], dtype)
    got = paddle.hypot(paddle.to_tensor(x), paddle.to_tensor(y)).numpy()
    np.testing.assert_allclose(got, np.hypot(x, y), rtol=float(4 * info.eps))
