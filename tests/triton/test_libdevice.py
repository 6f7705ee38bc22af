"""Every function of libdevice that takes or gives float32, against mpmath and NumPy: supported, or refused by its name.

The list is that of Triton's own module. A function that is new in it fails here until it has an oracle or a refusal.
"""

from __future__ import annotations

import importlib.util
import inspect
import math
import pathlib
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
import pytest
import triton
from triton.language.extra.cuda import libdevice

import paddle_mps as paddle
from paddle_mps import UnsupportedError

mpmath.mp.dps = 30
TYPES = {"fp32": "float32", "int32": "int32", "uint32": "uint32", "int64": "int64", "uint64": "uint64"}
COUNT = 256


def overloads() -> dict[str, tuple[str, tuple[str, ...], str]]:
    """The functions with float32, by symbol: name, types of operands, type of the result."""
    found = {}
    for name, function in vars(libdevice).items():
        if not callable(function) or name.startswith("_"):
            continue
        try:
            text = re.sub(r"\s+", " ", inspect.getsource(function))
        except (TypeError, OSError):
            continue
        for operands, symbol, result in re.findall(
            r'\( ?((?:core\.dtype\("\w+"\),? ?)+)\): \( ?"__nv_(\w+)", core\.dtype\("(\w+)"\)', text
        ):
            types = tuple(re.findall(r'"(\w+)"', operands))
            if "fp32" in (*types, result) and "fp64" not in (*types, result):
                found[symbol] = (name, types, result)
    return found


ALL = overloads()


@dataclass
class Oracle:
    """The exact function, the range of its operands (in powers of two where logarithmic), and the largest error in ulp."""

    function: Callable[..., Any]
    ulps: float
    low: float = -4
    high: float = 4
    special: bool = True  # whether 0, infinities and NaN are tried too


def near(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *x: function(*(mpmath.mpf(v) for v in x))


def hypot(*x: float) -> Any:
    if any(math.isinf(v) for v in x):
        return math.inf
    return mpmath.sqrt(sum(mpmath.mpf(v) ** 2 for v in x))


def inverse(function: Callable[..., Any]) -> Callable[..., Any]:
    def of(*x: float) -> Any:
        y = function(*x)
        return math.inf if y == 0 else 0 if math.isinf(y) else 1 / y

    return of


def erfcx(x: float) -> Any:
    return mpmath.exp(mpmath.mpf(x) ** 2) * mpmath.erfc(x)


def gamma(x: float) -> Any:
    if x == 0:
        return math.copysign(math.inf, x)
    return math.nan if x < 0 and x == math.floor(x) else mpmath.gamma(x)


def lgamma(x: float) -> Any:
    return math.inf if x <= 0 and x == math.floor(x) else mpmath.log(abs(mpmath.gamma(x)))


def erfcinv(x: float) -> Any:
    if not 0 <= x <= 2:
        return math.nan
    if x in (0, 2):
        return math.inf if x == 0 else -math.inf
    if x > 0.01:
        return mpmath.erfinv(1 - mpmath.mpf(x))
    return mpmath.findroot(lambda y: mpmath.log(mpmath.erfc(y)) - mpmath.log(x), mpmath.sqrt(-mpmath.log(x)))


def truncated(x: float, least: int, most: int, rounded: Callable[[float], Any]) -> int:
    if math.isnan(x):
        return 0
    return most if x >= most else least if x <= least else int(rounded(x))


def away(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x) if abs(x) < 2**23 else x


def to(bits: int, signed: bool, rounded: Callable[[float], Any]) -> Oracle:
    least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return Oracle(lambda x: truncated(x, least, most, rounded), 0, -(2.0 ** (bits + 1)), 2.0 ** (bits + 1))


def reinterpreted(kind: str) -> Callable[[Any], Any]:
    return lambda x: x.view(kind)


def exponent(x: float) -> Any:
    if x == 0 or math.isnan(x):
        return -(2**31)
    return 2**31 - 1 if math.isinf(x) else math.frexp(x)[1] - 1


def exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy's in float64, whose result is rounded once."""
    return lambda *x: function(*(np.float64(v) for v in x))


ROUND: dict[str, Callable[[float], Any]] = {
    "rn": lambda x: float(np.rint(x)),
    "rz": math.trunc,
    "rd": math.floor,
    "ru": math.ceil,
}
F = np.float32
# Where there is no other reason beside it: Metal's own bound and one more, as in kernels/libdevice.py.
ORACLES: dict[str, Oracle] = {
    **{f"float2{kind}_{end}": to(bits, signed, rounded) for kind, bits, signed in [("int", 32, True), ("uint", 32, False), ("ll", 64, True), ("ull", 64, False)] for end, rounded in ROUND.items()},
    **{f"{kind}2float_rn": Oracle(exactly(lambda x: x), 0.5) for kind in ("int", "uint")},
    **{f"{kind}2float_rn": Oracle(lambda x: mpmath.mpf(int(x)), 0.5) for kind in ("ll", "ull")},
    "llrintf": to(64, True, ROUND["rn"]),
    "llroundf": to(64, True, away),
    "int_as_float": Oracle(reinterpreted("float32"), 0),
    "uint_as_float": Oracle(reinterpreted("float32"), 0),
    "float_as_int": Oracle(reinterpreted("int32"), 0),
    "float_as_uint": Oracle(reinterpreted("int32"), 0),
    "fabsf": Oracle(abs, 0),
    "floorf": Oracle(exactly(np.floor), 0),
    "ceilf": Oracle(exactly(np.ceil), 0),
    "truncf": Oracle(exactly(np.trunc), 0),
    "rintf": Oracle(exactly(np.rint), 0),
    "nearbyintf": Oracle(exactly(np.rint), 0),
    "roundf": Oracle(lambda x: x if not math.isfinite(x) else away(x), 0),
    "saturatef": Oracle(lambda x: 0 if math.isnan(x) else min(max(x, 0), 1), 0),
    "copysignf": Oracle(exactly(np.copysign), 0),
    "nextafterf": Oracle(lambda x, y: np.nextafter(F(x), F(y)), 0),
    "fdimf": Oracle(lambda x, y: math.nan if math.isnan(x) or math.isnan(y) else mpmath.mpf(x) - y if x > y else 0, 0.5, special=False),
    "ilogbf": Oracle(exponent, 0),
    "logbf": Oracle(lambda x: -math.inf if x == 0 else x * x if not math.isfinite(x) else exponent(x), 0),
    "isnanf": Oracle(lambda x: int(math.isnan(x)), 0),
    "isinff": Oracle(lambda x: int(math.isinf(x)), 0),
    "finitef": Oracle(lambda x: int(math.isfinite(x)), 0),
    "signbitf": Oracle(lambda x: int(np.signbit(x)), 0),
    "fmaf_rn": Oracle(near(lambda x, y, z: x * y + z), 0.5),
    "fmaf": Oracle(near(lambda x, y, z: x * y + z), 0.5),
    "fadd_rn": Oracle(near(lambda x, y: x + y), 0.5),
    "fsub_rn": Oracle(near(lambda x, y: x - y), 0.5),
    "fmul_rn": Oracle(near(lambda x, y: x * y), 0.5),
    "fdiv_rn": Oracle(exactly(np.divide), 0.5),
    "frcp_rn": Oracle(exactly(np.reciprocal), 0.5),
    "fast_fdividef": Oracle(exactly(np.divide), 3.5),
    "fsqrt_rn": Oracle(exactly(np.sqrt), 0.5, 0, 9),
    "sqrtf": Oracle(exactly(np.sqrt), 1, 0, 9),
    "rsqrtf": Oracle(lambda x: math.copysign(math.inf, x) if x == 0 else 1 / np.sqrt(np.float64(x)), 2, 0, 9),
    "frsqrt_rn": Oracle(lambda x: math.copysign(math.inf, x) if x == 0 else 1 / np.sqrt(np.float64(x)), 0.5, 0, 9),
    "fmodf": Oracle(exactly(np.fmod), 0),
    "remainderf": Oracle(lambda x, y: math.nan if y == 0 or math.isinf(x) else math.remainder(x, y), 0),
    "ldexpf": Oracle(lambda x, n: mpmath.mpf(float(x)) * mpmath.mpf(2) ** int(n), 0),
    "scalbnf": Oracle(lambda x, n: mpmath.mpf(float(x)) * mpmath.mpf(2) ** int(n), 0),
    "powif": Oracle(lambda x, n: mpmath.mpf(float(x)) ** int(n), 17, special=False),
    "powf": Oracle(lambda x, y: mpmath.mpf(x) ** mpmath.mpf(y), 17, 0.1, 4, special=False),
    # The squares of scaled operands are added with one rounding each, and a root halves their sum's error: 0.5 each.
    "hypotf": Oracle(hypot, 1.5),
    "norm3df": Oracle(hypot, 2),
    "norm4df": Oracle(hypot, 2),
    "rhypotf": Oracle(inverse(hypot), 2.5),
    "rnorm3df": Oracle(inverse(hypot), 3),
    "rnorm4df": Oracle(inverse(hypot), 3),
    "cbrtf": Oracle(exactly(np.cbrt), 3),
    "rcbrtf": Oracle(lambda x: math.copysign(math.inf, x) if x == 0 else 1 / np.cbrt(np.float64(x)), 4),
    "erff": Oracle(near(mpmath.erf), 6),
    # Measured, and rounded up: libdevice_errors.py with FAKEMETAL_WORST=1 prints the largest errors of 32,768 samples of each range.
    "erfcf": Oracle(near(mpmath.erfc), 10, -3, 9),
    "erfcxf": Oracle(erfcx, 10, -3, 20, special=False),
    "normcdff": Oracle(near(mpmath.ncdf), 11, -12, 5),
    "erfinvf": Oracle(near(mpmath.erfinv), 5, -1, 1, special=False),
    "erfcinvf": Oracle(erfcinv, 6, 0, 2, special=False),
    "normcdfinvf": Oracle(lambda p: -mpmath.sqrt(2) * erfcinv(2 * p), 7, 0, 1, special=False),
    "lgammaf": Oracle(lgamma, 19, 0, 40, special=False),
    "tgammaf": Oracle(gamma, 13, -8, 30, special=False),
    "cyl_bessel_i0f": Oracle(near(lambda x: mpmath.besseli(0, x)), 18, -40, 40, special=False),
    "cyl_bessel_i1f": Oracle(near(lambda x: mpmath.besseli(1, x)), 17, -40, 40, special=False),
    "sinf": Oracle(near(mpmath.sin), 5),
    "cosf": Oracle(near(mpmath.cos), 5),
    "tanf": Oracle(near(mpmath.tan), 7),
    "sinpif": Oracle(near(mpmath.sinpi), 5, special=False),
    "cospif": Oracle(near(mpmath.cospi), 5, special=False),
    "expf": Oracle(near(mpmath.exp), 5),
    "exp2f": Oracle(near(lambda x: mpmath.mpf(2) ** x), 5),
    "exp10f": Oracle(near(lambda x: mpmath.mpf(10) ** x), 5),
    "expm1f": Oracle(near(mpmath.expm1), 11),
    "logf": Oracle(exactly(np.log), 4, 0, 9),
    "log2f": Oracle(exactly(np.log2), 4, 0, 9),
    "log10f": Oracle(exactly(np.log10), 4, 0, 9),
    "log1pf": Oracle(exactly(np.log1p), 11, -0.9, 9),
    "sinhf": Oracle(near(mpmath.sinh), 5),
    "coshf": Oracle(near(mpmath.cosh), 5),
    "tanhf": Oracle(near(mpmath.tanh), 6),
    "asinhf": Oracle(near(mpmath.asinh), 5),
    "acoshf": Oracle(exactly(np.arccosh), 5, 1, 9),
    "atanhf": Oracle(exactly(np.arctanh), 6, -1, 1),
    "asinf": Oracle(exactly(np.arcsin), 5, -1, 1),
    "acosf": Oracle(exactly(np.arccos), 5, -1, 1),
    "atanf": Oracle(exactly(np.arctan), 6),
    "atan2f": Oracle(exactly(np.arctan2), 7, special=False),
}  # fmt: skip
# The fast ones have absolute bounds of other kinds: they are compiled and compared loosely, as what they say they are.
FAST: dict[str, Callable[..., Any]] = {"sinf": np.sin, "cosf": np.cos, "tanf": np.tan, "log2f": np.log2, "logf": np.log, "log10f": np.log10, "expf": np.exp, "exp10f": lambda x: 10**x, "powf": np.power}  # fmt: skip
REFUSED = {"j0f", "j1f", "y0f", "y1f", "jnf", "ynf"}


def refused(symbol: str) -> bool:
    return symbol in REFUSED or (symbol.endswith(("_rz", "_rd", "_ru")) and not symbol.startswith("float2"))


def test_each_function_is_known() -> None:
    assert len(ALL) > 100
    unknown = [s for s in ALL if not refused(s) and s not in ORACLES and s.removeprefix("fast_") not in FAST]
    assert not unknown
    assert not [s for s in ORACLES if s not in ALL]


def kernels(folder: pathlib.Path, symbols: list[str]) -> Any:
    """A module with a kernel for each function: Triton reads sources of files."""
    lines = ["import triton", "import triton.language as tl", "from triton.language.extra import libdevice", ""]
    for symbol in symbols:
        name, types, _ = ALL[symbol]
        names = [f"x{i}" for i in range(len(types))]
        loads = ", ".join(f"tl.load({x} + at)" for x in names)
        lines += ["", "@triton.jit", f"def {symbol}({', '.join(names)}, out, BLOCK: tl.constexpr):"]
        lines += ["    at = tl.arange(0, BLOCK)", f"    tl.store(out + at, libdevice.{name}({loads}))", ""]
    file = folder / f"made_{symbols[0]}.py"
    file.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module


def tensor(data: Any) -> Any:
    unsigned = {"uint32": "int32", "uint64": "int64"}.get(str(data.dtype))
    on = paddle.to_tensor(data.view(unsigned) if unsigned else data, place="mps")
    return triton.reinterpret(on, getattr(triton.language, str(data.dtype))) if unsigned else on


def operands(oracle: Oracle, types: tuple[str, ...]) -> list[Any]:
    rng = np.random.default_rng(7)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 3e38, 1e-37, -1e-37, 0.5, 2.5], F)
    made = []
    for i, kind in enumerate(types):
        if kind != "fp32":
            wide = len(types) == 1
            low, high = (np.iinfo(kind).min, np.iinfo(kind).max) if wide else (-20, 20)
            made.append(rng.integers(low, high, COUNT, TYPES[kind], endpoint=True))
            continue
        x = rng.uniform(oracle.low, oracle.high, COUNT).astype(F)
        x[1::4] *= F(2.0) ** rng.integers(-20, 1, len(x[1::4])).astype(F) if oracle.low <= 0 <= oracle.high else F(1)
        if oracle.special:
            x[: len(special) ** 2] = np.tile(special, 12) if i % 2 else np.repeat(special, 12)
        made.append(x)
    return made


def unit(x: float) -> float:
    """A unit in the last place of float32; results below the normal numbers may become 0."""
    return 2.0 ** (max(math.frexp(x)[1], -125) - 24)


def far_off(oracle: Oracle, x: tuple[Any, ...], got: Any) -> bool:
    with np.errstate(all="ignore"):
        want = oracle.function(*x)
    if isinstance(got, np.integer):
        return int(got) & (2**64 - 1 if got.itemsize == 8 else 2**32 - 1) != int(want) & (
            2**64 - 1 if got.itemsize == 8 else 2**32 - 1
        )
    if isinstance(want, mpmath.mpc):
        want = math.nan
    if math.isnan(want):
        return not math.isnan(got)
    if abs(want) >= mpmath.mpf(2) ** 128 * (1 - mpmath.mpf(2) ** -25):
        return not (math.isinf(got) and (got > 0) == (want > 0)) and not (
            math.isfinite(want) and bool(abs(got) > 3.3e38)
        )
    if not math.isfinite(got):
        return True
    if abs(want) < 2.0**-126:
        return bool(abs(got) > 2.0**-125)
    return bool(abs(mpmath.mpf(float(got)) - want) > max(oracle.ulps, 0.5) * unit(float(want)))


SUPPORTED = sorted(s for s in ORACLES if s in ALL)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("symbol", SUPPORTED)
def test_function(symbol: str, tmp_path: pathlib.Path) -> None:
    oracle, (_, types, result) = ORACLES[symbol], ALL[symbol]
    given = operands(oracle, types)
    out = paddle.zeros([COUNT], dtype=TYPES[result]).to("mps")
    getattr(kernels(tmp_path, [symbol]), symbol)[(1,)](*[tensor(x) for x in given], out, BLOCK=COUNT)
    got = out.numpy()
    as_is = "as_" in symbol or any(t != "fp32" for t in types)
    rows = [tuple(x[i] if as_is else float(x[i]) for x in given) for i in range(COUNT)]
    wrong = [(row, got[i], oracle.function(*row)) for i, row in enumerate(rows) if far_off(oracle, row, got[i])]
    assert not wrong, (len(wrong), wrong[:3])


@pytest.mark.sampled(5)
@pytest.mark.parametrize("name", FAST)
def test_fast_function(name: str, tmp_path: pathlib.Path) -> None:
    symbol = f"fast_{name}"
    given = [np.random.default_rng(i).uniform(0.5, 3, COUNT).astype(F) for i in range(len(ALL[symbol][1]))]
    out = paddle.zeros([COUNT], dtype="float32").to("mps")
    getattr(kernels(tmp_path, [symbol]), symbol)[(1,)](*[tensor(x) for x in given], out, BLOCK=COUNT)
    np.testing.assert_allclose(out.numpy(), FAST[name](*(x.astype(np.float64) for x in given)), rtol=1e-4, atol=1e-5)


def test_refusals_name_the_function(tmp_path: pathlib.Path) -> None:
    symbols = sorted(s for s in ALL if refused(s))
    module = kernels(tmp_path, symbols)
    for symbol in symbols:
        _, types, result = ALL[symbol]
        given = [tensor(np.zeros(COUNT, TYPES[t])) for t in types]
        out = paddle.zeros([COUNT], dtype=TYPES[result].removeprefix("u")).to("mps")
        with pytest.raises(
            UnsupportedError, match=rf"at made_\w+\.py:\d+: libdevice's function {symbol} is not supported"
        ):
            getattr(module, symbol)[(1,)](*given, out, BLOCK=COUNT)
