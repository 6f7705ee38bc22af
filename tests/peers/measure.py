"""Measures PaddlePaddle's own error: the table of precision.py, from the real library.

.venv-peers/bin/python tests/peers/measure.py     prints the table; exits 1 if precision.py's differs
"""

from __future__ import annotations

import math
import sys
from typing import Any, Callable

import numpy as np
import numpy.typing as npt
import paddle
import precision

from paddle_mps.selftest import oracle as exact

POINTS = 20_001
F = paddle.nn.functional
Array = npt.NDArray[Any]


SLACK = 1e-3  # of an ulp: what the oracles themselves are off
FROM_PYTHON = {"erf", "gelu"}  # oracles of float64 that are themselves off by up to an ulp of float64


def each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    """For the functions that NumPy lacks: Python's, correct to one ulp of float64."""
    return lambda x: np.array([function(float(v)) for v in x])


def gelu(x: Array) -> Array:
    return np.asarray(x * each(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)))(x))


def gelu_tanh(x: Array) -> Array:
    inner = np.sqrt(np.asarray(2 / np.pi, x.dtype)) * (x + x.dtype.type(0.044715) * x**3)
    return np.asarray(x / (1 + np.exp(-2 * inner)))  # 0.5 * (1 + tanh(v)) without its cancellation


# function: domain, Paddle's, the oracle in float64 or, for float64, in the extended format.
FUNCTIONS: dict[str, tuple[tuple[float, float], Callable[[Any], Any], Callable[[Array], Array]]] = {
    "exp": ((-80, 80), paddle.exp, np.exp),
    "expm1": ((-5, 5), paddle.expm1, np.expm1),
    "log": ((0.01, 1000), paddle.log, np.log),
    "log1p": ((-0.9, 100), paddle.log1p, np.log1p),
    "log2": ((0.01, 1000), paddle.log2, np.log2),
    "sqrt": ((0, 1000), paddle.sqrt, np.sqrt),
    "rsqrt": ((0.01, 1000), paddle.rsqrt, lambda x: 1 / np.sqrt(x)),
    "reciprocal": ((0.01, 1000), paddle.reciprocal, lambda x: 1 / x),
    "divide": ((0.01, 1000), lambda x: paddle.full_like(x, 3) / x, lambda x: 3 / x),
    "sin": ((-3, 3), paddle.sin, np.sin),
    "cos": ((-1.5, 1.5), paddle.cos, np.cos),
    "tan": ((-1.5, 1.5), paddle.tan, np.tan),
    "tanh": ((-10, 10), paddle.tanh, np.tanh),
    "sinh": ((-10, 10), paddle.sinh, np.sinh),
    "cosh": ((-10, 10), paddle.cosh, np.cosh),
    "erf": ((-4, 4), paddle.erf, each(math.erf)),
    "acos": ((-1, 1), paddle.acos, np.arccos),
    "asin": ((-1, 1), paddle.asin, np.arcsin),
    "atan": ((-10, 10), paddle.atan, np.arctan),
    "acosh": ((1, 100), paddle.acosh, np.arccosh),
    "asinh": ((-10, 10), paddle.asinh, np.arcsinh),
    "atanh": ((-0.99, 0.99), paddle.atanh, np.arctanh),
    "log10": ((0.01, 1000), paddle.log10, np.log10),
    "lgamma": ((2.5, 50), paddle.lgamma, exact.lgamma),
    "digamma": ((2, 50), paddle.digamma, exact.digamma),
    "erfinv": ((0.25, 0.99), paddle.erfinv, exact.erfinv),
    "i0": ((-50, 50), paddle.i0, lambda x: exact.bessel(0, x)),
    "i0e": ((-50, 50), paddle.i0e, lambda x: exact.scaled_bessel(0, x)),
    "i1": ((-50, 50), paddle.i1, lambda x: exact.bessel(1, x)),
    "i1e": ((-50, 50), paddle.i1e, lambda x: exact.scaled_bessel(1, x)),
    "atan2": (
        (-10, 10),
        lambda x: paddle.atan2(x, paddle.full_like(x, -3)),
        lambda x: np.arctan2(x, -3 * np.ones_like(x)),
    ),
    "pow": ((0.1, 10), lambda x: x**2.5, lambda x: x**2.5),
    "sigmoid": ((-20, 20), F.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "silu": ((-20, 20), F.silu, lambda x: x / (1 + np.exp(-x))),
    "gelu": ((-1, 5), F.gelu, gelu),
    "gelu_tanh": ((-1, 5), lambda x: F.gelu(x, approximate=True), gelu_tanh),
    "softplus": ((-3, 25), F.softplus, lambda x: np.where(x > 20, x, np.log1p(np.exp(x)))),
    "softmax": ((-10, 10), lambda x: F.softmax(x.reshape([-1, 3])), lambda x: soft(x.reshape(-1, 3))),
}


def soft(x: Array) -> Array:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def error(name: str, dtype: str) -> float:
    """Paddle's largest error over the domain in ulps, rounded up to a half."""
    (low, high), function, oracle = FUNCTIONS[name]
    x = np.linspace(low, high, POINTS, dtype=dtype)
    got = function(paddle.to_tensor(x)).numpy()
    wide = np.longdouble if dtype == "float64" else np.float64
    want = np.asarray(oracle(x.astype(wide)))
    ulps = np.abs(got.astype(wide) - want) / precision.spacing(want, dtype)
    worst = float(np.ceil((np.max(ulps) - SLACK) * 2) / 2)
    return worst + 1 if dtype == "float64" and name in FROM_PYTHON else worst


def main() -> int:
    stale = 0
    for name, (domain, _, _) in FUNCTIONS.items():
        row = (*map(float, domain), error(name, "float32"), error(name, "float64"))
        known = precision.PADDLE.get(name)
        stale += known is None or known[2] < row[2] or known[3] < row[3]
        print(f'    "{name}": ({", ".join(f"{v:g}" for v in row)}),')
    print(f"{len(FUNCTIONS)} measured, {stale} larger than precision.py says")
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main())
