"""The largest errors of libdevice's composed functions, in ulp, over dense samples of float32, against mpmath.

    ./build.sh demo triton tests/triton/libdevice_errors.py
    FAKEMETAL_WORST=1 ./build.sh demo triton tests/triton/libdevice_errors.py

The functions are those that the compiler composes of Metal's and for which Apple documents no error. The first command measures
the formulas with Metal's exp, log and others as the mock computes them, which is nearly exactly; with the second one these have the
largest errors that Apple documents. Half of the samples of a range are uniform, half are uniform in their bits. Results below the
normal numbers are left out, and counted. Prints a row for each range: the largest error of both, the operand, and the bound that
test_libdevice.py states; ends with status 1 if an error is above it.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

import paddle_mps as paddle

tested: Any = importlib.import_module("test_libdevice")

mpmath.mp.dps = 25
SAMPLES, BLOCK = 32768, 4096
F = np.float32

# Of an inverse the error is that of what it is the inverse of, divided by its slope: the term that this leaves out is the square.
SLOPE = 2 / mpmath.sqrt(mpmath.pi)


def erfinv(x: Any, y: Any) -> Any:
    return (mpmath.erf(y) - x) / (SLOPE * mpmath.exp(-y * y))


def erfcinv(x: Any, y: Any) -> Any:
    return (x - mpmath.erfc(y)) / (SLOPE * mpmath.exp(-y * y))


def normcdfinv(x: Any, y: Any) -> Any:
    return (mpmath.ncdf(y) - x) / mpmath.npdf(y)


def of(function: Callable[[Any], Any]) -> Callable[[Any, Any], Any]:
    """The error of a function that mpmath has."""
    return lambda x, y: y - function(x)


TINY = float(np.finfo(F).tiny)
RANGES: list[tuple[str, float, float, Callable[[Any, Any], Any]]] = [
    ("erfcf", -4, 10, of(mpmath.erfc)),
    ("erfcxf", -9, 1e4, of(lambda x: mpmath.exp(x * x) * mpmath.erfc(x))),
    ("normcdff", -13, 6, of(mpmath.ncdf)),
    ("erfinvf", -1, 1, erfinv),
    ("erfcinvf", TINY, 2, erfcinv),
    ("normcdfinvf", TINY, 1, normcdfinv),
    ("lgammaf", TINY, 40, of(tested.lgamma)),
    ("lgammaf", 40, 1e36, of(tested.lgamma)),
    ("tgammaf", TINY, 35, of(mpmath.gamma)),
    ("tgammaf", -30, -TINY, of(mpmath.gamma)),
    ("cyl_bessel_i0f", -88, 88, of(lambda x: mpmath.besseli(0, x))),
    ("cyl_bessel_i1f", -88, 88, of(lambda x: mpmath.besseli(1, x))),
]


def samples(low: float, high: float) -> Any:
    """Numbers of a range, without those whose result is a pole: half of them uniform, half uniform in their bits."""
    rng = np.random.default_rng(11)
    ends = [F(low), F(high)]
    uniform = rng.uniform(low, high, SAMPLES // 2).astype(F)
    positive = [int(abs(e).view(np.int32)) for e in ends]
    if low < 0 < high:
        least = int(F(2.0**-60).view(np.int32))
        signs = rng.integers(0, 2, SAMPLES // 2).astype(bool)
        bits = np.where(
            signs, rng.integers(least, positive[0], SAMPLES // 2), rng.integers(least, positive[1], SAMPLES // 2)
        )
        by_bits = np.where(signs, -1, 1).astype(F) * bits.astype(np.int32).view(F)
    else:
        by_bits = F(-1 if low < 0 else 1) * rng.integers(min(positive), max(positive), SAMPLES // 2).astype(
            np.int32
        ).view(F)
    x = np.concatenate([uniform, by_bits])
    return x[(x > ends[0]) & (x < ends[1]) & ~((x < 0) & (x == np.floor(x)) & (low >= -30) & (high <= 0))]


def computed(symbol: str, x: Any) -> Any:
    """The function as the compiler emits it."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = getattr(tested.kernels(pathlib.Path(folder), [symbol]), symbol)
        made = []
        for first in range(0, len(x), BLOCK):
            part = np.zeros(BLOCK, F)
            part[: len(x) - first] = x[first : first + BLOCK]
            out = paddle.zeros([BLOCK]).to("mps")
            kernel[(1,)](paddle.to_tensor(part, place="mps"), out, BLOCK=BLOCK)
            made.append(out.numpy())
        return np.concatenate(made)[: len(x)]


def worst(symbol: str, low: float, high: float, error: Callable[[Any, Any], Any]) -> tuple[float, float, int, int]:
    """The largest error in ulp, where it is, how many results were compared and how many were not normal."""
    x = samples(low, high)
    got = computed(symbol, x)
    largest, at, count = 0.0, 0.0, 0
    for a, y in zip(x.tolist(), got.tolist()):
        if not TINY <= abs(y) < np.inf:  # also a NaN, which the test of the function finds
            continue
        count += 1
        ulps = float(abs(error(mpmath.mpf(a), mpmath.mpf(y)))) / tested.unit(y)
        if ulps > largest:
            largest, at = ulps, a
    return largest, at, count, len(x) - count


def main() -> int:
    print(f"{'function':16}{'from':>10}{'to':>10}{'samples':>9}{'left out':>9}{'largest':>9}{'bound':>7}  at")
    above = 0
    for symbol, low, high, error in RANGES:
        if sys.argv[1:] and symbol not in sys.argv[1:]:
            continue
        ulps, at, count, left_out = worst(symbol, low, high, error)
        bound = tested.ORACLES[symbol].ulps
        above += ulps > bound
        print(f"{symbol:16}{low:10.3g}{high:10.3g}{count:9}{left_out:9}{ulps:9.2f}{bound:7g}  {at!r}", flush=True)
    return int(above > 0)


if __name__ == "__main__":
    sys.exit(main())
