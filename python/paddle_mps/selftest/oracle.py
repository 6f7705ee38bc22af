"""What every operator should answer, in NumPy and in more precision than the operator has.

An operator's row holds a NumPy expression over its inputs and attributes. Here it is evaluated with
floats widened (float64 for dtypes up to float32, the platform's long double for float64) and integers
as they are, so that what is left of a difference is the operator's own error.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

try:
    import mpmath
except ImportError:  # users need not have it: then nobody can judge erf and gelu of float64
    mpmath = None

Array = npt.NDArray[Any]

# Whether there is a wider type than float64: on arm64 Macs long double is float64.
WIDER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant

# NumPy has no bfloat16: its values travel as float32, which holds them all.
NUMPY = {
    "bool": np.bool_, "uint8": np.uint8, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64,
}  # fmt: skip
FLOATS = ("float16", "bfloat16", "float32", "float64")

# Bits of the significand, smallest exponent, largest finite value.
FORMATS = {
    "float16": (11, -14, 65504.0),
    "bfloat16": (8, -126, float.fromhex("0x1.fep127")),
    "float32": (24, -126, float.fromhex("0x1.fffffep127")),
    "float64": (53, -1022, float.fromhex("0x1.fffffffffffffp1023")),
}


def widen(x: Array, dtype: str) -> Array:
    """The values of x in more precision than dtype has."""
    if dtype not in FLOATS or x.dtype.kind != "f":
        return x
    return x.astype(np.longdouble if dtype == "float64" else np.float64)


def ulp(exact: Array, dtype: str) -> Array:
    """The distance of neighbouring numbers of dtype at each value, as float64."""
    bits, smallest, _ = FORMATS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.abs(np.asarray(exact, np.longdouble)))[1] - 1
    exponent = np.where(np.isfinite(exact) & (exact != 0), exponent, smallest)
    unit: Array = np.ldexp(1.0, np.maximum(exponent, smallest) - bits + 1)
    return unit


def difference(got: Array, exact: Array, dtype: str) -> Array:
    """|got - exact| in ulps of dtype. NaN agrees with NaN; beyond the largest number infinity agrees,
    and so does the largest number itself with what rounds to it."""
    got = np.asarray(got, np.longdouble)
    exact = np.asarray(exact, np.longdouble)
    unit = ulp(exact, dtype)
    largest = FORMATS[dtype][2]
    with np.errstate(all="ignore"):
        apart = np.abs(got - exact) / unit
        overflow = np.isinf(got) & (np.sign(got) == np.sign(exact)) & (np.abs(exact) >= largest)
    same = (np.isnan(got) & np.isnan(exact)) | (got == exact) | overflow
    return np.where(same, 0.0, np.where(np.isnan(apart), np.inf, apart)).astype(np.float64)


def judges(name: str, dtype: str) -> bool:
    """Whether the exact answer of an operator can be told in a dtype: not always without mpmath."""
    return mpmath is not None or dtype != "float64" or name not in ("erf", "gelu")


def _exactly(function: str, x: Array) -> Array:
    """A function of mpmath of every element, in enough digits for float64."""

    def one(v: float) -> np.longdouble:
        if math.isnan(v):
            return np.longdouble("nan")
        return np.longdouble(mpmath.nstr(getattr(mpmath, function)(mpmath.mpf(v)), 25))

    with mpmath.workdps(40):
        return np.array([one(float(v)) for v in np.ravel(x)], np.longdouble).reshape(np.shape(x))


def _each(function: Any, x: Array) -> Array:
    """A function of Python's of every element, in float64: enough for dtypes up to float32."""
    return np.array([function(v) for v in np.ravel(x).tolist()], np.float64).reshape(np.shape(x))


def erf(x: Array) -> Array:
    return _each(math.erf, x) if x.dtype == np.float64 else _exactly("erf", x)


def _normal(v: float) -> float:
    return math.erfc(-v / math.sqrt(2)) / 2


def _gauss(x: Array) -> Array:
    """x times the normal distribution function; minus infinity gives the nan of -inf * 0."""
    far = np.clip(x, -50, 50)  # beyond, the function is 0 or 1 in every dtype
    share = _each(_normal, far) if x.dtype == np.float64 else _exactly("ncdf", far)
    return np.where(np.isneginf(x), np.nan, x * np.where(x < -50, 0, share))


def _divide(x: Any, y: Any) -> Any:
    return np.logical_and(x, y) if np.asarray(x).dtype == bool else np.true_divide(x, y)


def _argmax(x: Array, axis: Any, keepdim: bool) -> Array:
    """The first of the largest; nan counts as smaller than anything."""
    ranked = np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x
    return np.asarray(np.argmax(ranked, axis=axis, keepdims=keepdim))


def _floor_divide(x: Any, y: Any) -> Any:
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        return np.floor_divide(x, y)
    q = np.asarray(np.floor_divide(x, y))
    return np.where(y == 0, np.asarray(x) / y, q)


def _remainder(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y as Paddle computes it: fmod, moved to the sign of the divisor."""
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        return np.remainder(x, y)
    r = np.asarray(np.fmod(x, y))
    return np.where((r != 0) & ((r < 0) != (np.asarray(y) < 0)), r + y, r)


def _power(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    if not np.issubdtype(x.dtype, np.integer):
        return np.power(x, y)
    out = np.power(x, np.abs(y))  # wraps around
    if np.issubdtype(y.dtype, np.signedinteger):
        inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0)).astype(x.dtype)
        out = np.where(y < 0, inverse, out)
    return out


def _shift(x: Any, y: Any, *, left: bool) -> Any:
    """Shifts by any distance: a negative or too large one moves every bit out."""
    bits = np.asarray(x).dtype.itemsize * 8
    out = (y < 0) | (np.asarray(y, np.int64) >= bits)
    y = np.where(out, 0 if left else bits - 1, y).astype(np.asarray(x).dtype)
    return np.where(out, 0, np.left_shift(x, y)).astype(np.asarray(x).dtype) if left else np.right_shift(x, y)


def _softmax(x: Array, axis: Any) -> Array:
    if x.size == 0:
        return x
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(e / np.sum(e, axis=axis, keepdims=True))


def _mean(x: Array, axis: Any, keepdim: bool) -> Array:
    """The mean; of integers it is truncated and of nothing 0, of bools it is whether any is set."""
    if np.issubdtype(x.dtype, np.floating):
        return np.asarray(np.mean(x, axis=axis, keepdims=keepdim))
    total = np.asarray(np.sum(x, axis=axis, keepdims=keepdim, dtype=np.int64))
    count = max(x.size // max(total.size, 1), 1)
    return total.astype(bool) if x.dtype == bool else (np.sign(total) * (np.abs(total) // count)).astype(x.dtype)


def _reshape(x: Array, shape: Any) -> Array:
    return np.reshape(x, [x.shape[i] if d == 0 and i < x.ndim else d for i, d in enumerate(shape)])


def _unsqueeze(x: Array, axis: Any) -> Array:
    for a in axis:  # one after the other, as Paddle does
        x = np.expand_dims(x, a)
    return x


def _expand(x: Array, shape: Any) -> Array:
    lead = len(shape) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if d == -1 else d for i, d in enumerate(shape)])


def _swap(x: Array, transposed: bool) -> Array:
    return np.swapaxes(x, -1, -2) if transposed and x.ndim > 1 else x


def _slices(x: Array, axes: Any, starts: Any, ends: Any, steps: Any) -> tuple[slice, ...]:
    parts = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        parts[axis] = slice(starts[i], ends[i], steps[i] if steps else None)
    return tuple(parts)


def _split(x: Array, sections: Any, axis: int) -> list[Array]:
    if len(sections) == 1:
        return np.split(x, sections[0], axis)
    sizes = [x.shape[axis] - sum(s for s in sections if s >= 0) if s < 0 else s for s in sections]
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def _cast(dtype: str, x: Array, _: Any) -> Array:
    """x in another dtype: floats saturate on their way to integers, nan becomes 0."""
    target = NUMPY[dtype]
    if dtype in FLOATS or dtype == "bool" or x.dtype.kind != "f":
        return x if dtype in FLOATS else x.astype(target)
    limits = np.iinfo(target)
    inside = np.clip(np.nan_to_num(x, nan=0.0, posinf=np.inf, neginf=-np.inf), float(limits.min), float(limits.max))
    with np.errstate(all="ignore"):
        whole = np.trunc(inside).astype(target)
    return np.where(inside >= float(limits.max), limits.max, whole).astype(target)


def expect(row: dict[str, Any], inputs: list[Any], attrs: dict[str, Any], dtype: str, to: str = "") -> Any:
    """Evaluates a row's expression. inputs are arrays (lists of them where variadic) or scalars, in the
    compute dtype; attrs are by name; to is the dtype that a cast goes to."""
    scope: dict[str, Any] = {
        "np": np, "pi": np.pi, "erf": erf, "gauss": _gauss, "floor_divide": _floor_divide, "remainder": _remainder,
        "power": _power, "divide": _divide, "shift_left": partial(_shift, left=True), "shift_right": partial(_shift, left=False), "argmax": _argmax, "reshape": _reshape, "expand": _expand, "unsqueeze": _unsqueeze, "softmax": _softmax, "mean": _mean, "swap": _swap, "slices": _slices, "split": _split,
        "cast": partial(_cast, to),
    }  # fmt: skip
    if "axis" in attrs and isinstance(inputs[0], np.ndarray) and inputs[0].ndim == 0:
        attrs = attrs | {"axis": None}  # NumPy knows no axis of a 0-d array; 0 and -1 are fine here
    scope.update(attrs)
    for declared, value in zip(row["inputs"], inputs):
        if isinstance(value, list):
            scope[declared["name"]] = [widen(v, dtype) for v in value]
        elif isinstance(value, np.ndarray):
            scope[declared["name"]] = widen(value, dtype)
        else:
            scope[declared["name"]] = value
    with np.errstate(all="ignore"):
        return eval(row["numpy"], scope)
