"""What the kernels in kernels/ are made of: a case is a kernel, its arguments, and what NumPy says it must write.

A tolerance is a bound on the error of each element that follows from the arithmetic, computed beside the expected value:
`EXACT` (the same bits, any NaN for a NaN), `ulps(n)` of the result's type, or `within(array)`, for sums the usual
n * eps * sum(|terms|). Each element of an output is compared, those beyond a mask too.
"""

from __future__ import annotations

import importlib
import pathlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

# Names of dtypes that NumPy has not: their values as float32, which holds them exactly, or their bits as uint8.
BF16, FP8E5, FP8E4 = "bfloat16", "float8_e5m2", "float8_e4m3fn"
EPS = {"float32": 2.0**-24, "float16": 2.0**-11, BF16: 2.0**-8}  # half a unit in the last place, relative


@dataclass
class Typed:
    """An array of a dtype that NumPy has not."""

    data: Array
    dtype: str


@dataclass
class Tolerance:
    """The bound of the error: a function of the expected values and the name of their type."""

    bound: Callable[[Array, str], Array]
    words: str


def _unit(expected: Array, dtype: str) -> Array:
    """The distance of neighbouring numbers of the type at each element."""
    digits, least = {"float32": (24, -149), "float16": (11, -24), BF16: (8, -133)}[dtype]
    _, exponent = np.frexp(np.abs(np.where(np.isfinite(expected), expected, 0)).astype(np.float64))
    unit: Array = np.exp2(np.maximum(exponent - digits, least).astype(np.float64))
    return unit


EXACT = Tolerance(lambda expected, dtype: np.zeros(expected.shape), "exact")


def ulps(n: float) -> Tolerance:
    return Tolerance(lambda expected, dtype: n * _unit(expected, dtype), f"{n:g} ulp")


def within(bound: Any) -> Tolerance:
    """An absolute bound, and a unit of the stored type: the kernel rounds its result to it, and so was the expected one."""
    return Tolerance(
        lambda expected, dtype: (
            np.broadcast_to(np.asarray(bound, np.float64).reshape(-1), expected.shape)
            + (_unit(expected, dtype) if dtype in EPS else 0)
        ),
        "bound",
    )


def sums(n: int, absolute: Any, eps: float = 2.0**-24) -> Tolerance:
    """Of sums of n terms in any order: absolute is the sum of the terms' absolute values."""
    return within(1.01 * n * eps * np.asarray(absolute, np.float64))


@dataclass
class Out:
    """An argument that the kernel writes: what it holds before, and what it must hold after."""

    expected: Array
    tolerance: Tolerance = field(default_factory=lambda: EXACT)
    initial: Array | None = None
    dtype: str = ""  # where NumPy has not the type
    offset: int = 0  # elements before the first one that the kernel gets: not aligned to 16 bytes

    def start(self) -> Array:
        return np.zeros_like(self.expected) if self.initial is None else self.initial

    def type(self) -> str:
        return self.dtype or str(self.expected.dtype)


@dataclass
class Shifted:
    """An argument that begins offset elements behind an aligned address."""

    data: Array
    offset: int = 1


@dataclass
class Run:
    """A launch."""

    kernel: Any
    grid: tuple[int, ...]
    args: list[Any]
    constants: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    raises: type[BaseException] | None = None


@dataclass
class Case:
    name: str
    make: Callable[[np.random.Generator], Run]

    def run(self) -> Run:
        return self.make(np.random.default_rng(sum(map(ord, self.name))))


CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Callable[[np.random.Generator], Run]], Callable[[np.random.Generator], Run]]:
    """Registers what makes a case."""

    def register(make: Callable[[np.random.Generator], Run]) -> Callable[[np.random.Generator], Run]:
        assert name not in CASES, name
        CASES[name] = Case(name, make)
        return make

    return register


def load() -> dict[str, Case]:
    """All cases, in the order of the files and of their text."""
    folder = pathlib.Path(__file__).parent / "kernels"
    for module in sorted(m.name for m in pkgutil.iter_modules([str(folder)])):
        importlib.import_module(f"kernels.{module}")
    return CASES


def outputs(run: Run) -> Iterator[tuple[int, Out]]:
    for i, argument in enumerate(run.args):
        if isinstance(argument, Out):
            yield i, argument


def mismatches(out: Out, got: Array) -> Array:
    """Which elements are further from what is expected than the bound; a zero of the other sign is, where it is exact."""
    expected = out.expected.reshape(-1)
    if got.dtype.kind != "f":
        return np.asarray(got != expected)
    bound = out.tolerance.bound(expected, out.type())
    with np.errstate(invalid="ignore"):
        near = (np.abs(got.astype(np.float64) - expected.astype(np.float64)) <= bound) & (bound > 0)
    same = (got == expected) & (np.signbit(got) == np.signbit(expected)) | np.isnan(got) & np.isnan(expected)
    return np.asarray(~(same | near))


def to_bf16(x: Array) -> Array:
    """float32 rounded to the nearest bfloat16, ties to even, as float32."""
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(x), np.float32(np.nan), rounded).astype(np.float32)


def bf16(x: Array) -> Typed:
    return Typed(to_bf16(x), BF16)


def _codes(exponent_bits: int, mantissa_bits: int, finite: bool) -> Array:
    """The value of each code of a type of 8 bits; finite: no infinity, and NaN is only the last code."""
    bias = 2 ** (exponent_bits - 1) - 1
    values = np.empty(256)
    for code in range(256):
        e, m = code >> mantissa_bits & (1 << exponent_bits) - 1, code & (1 << mantissa_bits) - 1
        last = e == (1 << exponent_bits) - 1
        value = (m + (1 << mantissa_bits if e else 0)) * 2.0 ** (max(e, 1) - bias - mantissa_bits)
        if last and finite and m == (1 << mantissa_bits) - 1:
            value = np.nan
        elif last and not finite:
            value = np.nan if m else np.inf
        values[code] = -value if code >> 7 else value
    return values


CODES = {FP8E5: _codes(5, 2, False), FP8E4: _codes(4, 3, True)}


def decode(codes: Array, dtype: str) -> Array:
    """The values of codes of 8 bits."""
    return CODES[dtype][codes].astype(np.float32)
