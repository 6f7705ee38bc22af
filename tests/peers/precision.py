"""How far apart two right answers may be, in ulps of the dtype of the result.

Allowed = ours + Paddle's. Ours is the limit that the op table states and the Go tests hold: correctly
rounded for what IEEE 754 defines (0.5), 2 for other float32 and float64 functions, 1 for float16 and
bfloat16, which are computed in float32 and rounded. Paddle's is what `measure.py` finds for 3.3.1
against an oracle in higher precision, over the domain that the expressions draw their inputs from,
rounded up to a half; where both are correctly rounded nothing is allowed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
LEAST_EXPONENT = {"float16": -14, "bfloat16": -126, "float32": -126, "float64": -1022}

ROUNDED = {"divide", "reciprocal", "sqrt"}  # ours are correctly rounded

SPECIAL = {"lgamma", "digamma", "erfinv", "i0", "i0e", "i1", "i1e"}  # the table allows 8 ulp of float64

# function: inputs from, to, Paddle's largest error there in float32 and float64.
PADDLE: dict[str, tuple[float, float, float, float]] = {
    "exp": (-80, 80, 1.5, 1.5),
    "expm1": (-5, 5, 2.5, 1),
    "log": (0.01, 1000, 0.5, 0.5),
    "log1p": (-0.9, 100, 1, 1),
    "log2": (0.01, 1000, 0.5, 0.5),
    "sqrt": (0, 1000, 3, 0.5),
    "rsqrt": (0.01, 1000, 3.5, 1.5),
    "reciprocal": (0.01, 1000, 0.5, 0.5),
    "divide": (0.01, 1000, 1, 1),
    "sin": (-3, 3, 2, 1),
    "cos": (-1.5, 1.5, 2, 1),
    "tan": (-1.5, 1.5, 1, 1),
    "tanh": (-10, 10, 5, 2),
    "sinh": (-10, 10, 1.5, 2),
    "cosh": (-10, 10, 1, 1),
    "erf": (-4, 4, 6.5, 1),
    "acos": (-1, 1, 1, 1),
    "asin": (-1, 1, 1, 1),
    "atan": (-10, 10, 1, 1),
    "acosh": (1, 100, 1.5, 1.5),
    "asinh": (-10, 10, 1.5, 1.5),
    "atanh": (-0.99, 0.99, 1.5, 1.5),
    "log10": (0.01, 1000, 1.5, 1.5),
    "lgamma": (2.5, 50, 2.5, 2.5),
    "digamma": (2, 50, 12.5, 13),
    "erfinv": (0.25, 0.99, 14, 14),
    "i0": (-50, 50, 4, 4),
    "i0e": (-50, 50, 4.5, 3.5),
    "i1": (-50, 50, 17.5, 15),
    "i1e": (-50, 50, 11, 10.5),
    "atan2": (-10, 10, 1.5, 0.5),
    "pow": (0.1, 10, 1, 1.5),
    "sigmoid": (-20, 20, 3, 2),
    "silu": (-20, 20, 3, 2.5),
    "gelu": (-1, 5, 3.5, 4.5),
    "gelu_tanh": (-1, 5, 5.5, 4),
    "softplus": (-3, 25, 15.5, 16),
    "softmax": (-10, 10, 1.5, 1),
}


def spacing(x: Any, dtype: str) -> npt.NDArray[np.float64]:
    """The distance from |x| to the next larger number of dtype; of a subnormal, the least distance."""
    _, exponent = np.frexp(np.abs(np.asarray(x, dtype="float64")))
    return np.asarray(np.ldexp(EPSILON[dtype], np.maximum(exponent - 1, LEAST_EXPONENT[dtype])))


def ours(function: str, dtype: str) -> float:
    if function in ROUNDED:
        return 0.5
    if function in SPECIAL and dtype == "float64":
        return 8.0
    return 2.0 if dtype in ("float32", "float64") else 1.0


def allowed(function: str, dtype: str) -> float:
    """Ulps between our answer and Paddle's. Two correctly rounded answers are the same number."""
    _, _, single, double = PADDLE[function]
    theirs = double if dtype == "float64" else single
    if dtype in ("float16", "bfloat16"):
        theirs = 0.5 + theirs * EPSILON["float32"] / EPSILON[dtype]  # computed in float32 and rounded
    total = ours(function, dtype) + theirs
    return 0.0 if total <= 1 and function in ROUNDED else total
