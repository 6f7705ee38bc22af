"""PaddlePaddle/Paddle#74621: functions of complex numbers give other infinities and NaNs than the C standard."""

import numpy as np
from case import T, check, finish

import paddle_mps as paddle

nan, inf = np.nan, np.inf
z = np.array(
    [
        complex(inf, 0),
        complex(inf, inf),
        complex(-inf, 1),
        complex(0, inf),
        complex(inf, nan),
        complex(0, nan),
        complex(nan, 0),
        complex(1e30, 1e30),
        complex(-0.0, 0.0),
        complex(3, -4),
    ],
    "complex64",
)
for name in (
    "exp",
    "tan",
    "tanh",
    "sin",
    "cos",
    "sinh",
    "cosh",
    "log",
    "log10",
    "log2",
    "log1p",
    "sqrt",
    "asin",
    "acos",
    "atan",
    "asinh",
    "acosh",
    "atanh",
    "abs",
    "angle",
    "square",
    "reciprocal",
):
    f = getattr(paddle, name)
    g = {
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
    }.get(name) or getattr(np, name)
    try:
        got = f(T(z)).numpy()
    except paddle.UnsupportedError:
        continue
    with np.errstate(all="ignore"):
        want = g(z)
    for part in ("real", "imag"):
        a, b = getattr(got, part), getattr(want, part)
        ok = np.isclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)
        check(f"{name} {part} of {z[~ok].tolist()}: {a[~ok].tolist()}, not {b[~ok].tolist()}", ok.all())

finish()
