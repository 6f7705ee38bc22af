"""What every operator should answer, in NumPy and in more precision than the operator has.

An operator's row holds a NumPy expression over its inputs and attributes. Here it is evaluated with
floats widened (float64 for dtypes up to float32, the platform's long double for float64) and integers
as they are, so that what is left of a difference is the operator's own error.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import os
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any, Callable

import numpy as np
import numpy.typing as npt

from . import windows

try:
    import mpmath
except ImportError:  # users need not have it: float64 is then not checked where NEED_MPMATH says so
    mpmath = None

Array = npt.NDArray[Any]

# Whether there is a wider type than float64: on arm64 Macs long double is float64.
WIDER = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant

# Fewer elements are computed sooner than a file is looked up.
STORED_FROM = 100

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


def judges(row: dict[str, Any], dtype: str) -> bool:
    """Whether the exact answer of an operator can be computed in a dtype: not always without mpmath."""
    return mpmath is not None or dtype != "float64" or not NEED_MPMATH & set(compiled(row["numpy"]).co_names)


@cache
def compiled(expression: str) -> CodeType:
    return compile(expression, expression, "eval")


def _exactly(function: Any, x: Array) -> Array:
    """A function of mpmath's of every element, in enough digits for float64. Results are stored under its name."""
    values = np.asarray(x, np.float64)
    return _stored(function.__name__, values, lambda: _computed(function, values))


def _computed(function: Any, x: Array) -> Array:
    def one(v: float) -> np.longdouble:
        if math.isnan(v):
            return np.longdouble("nan")
        return np.longdouble(mpmath.nstr(function(mpmath.mpf(v)), 25))

    with mpmath.workdps(40):
        return np.array([one(v) for v in np.ravel(x).tolist()], np.longdouble).reshape(np.shape(x))


@cache
def _source() -> bytes:
    """What the stored answers depend on beside the arguments: this file, mpmath, and what a long double is."""
    return Path(__file__).read_bytes() + f"{mpmath.__version__} {np.finfo(np.longdouble)!r}".encode()


def _stored(name: str, x: Array, compute: Callable[[], Array]) -> Array:
    """What compute returns for x, from a file if a process before this one has computed it: mpmath takes most of the
    time of the suite, and only PADDLE_MPS_ORACLES says where there is room. A file of other sources or arguments has
    another name; one is renamed into place when it is whole."""
    folder = os.environ.get("PADDLE_MPS_ORACLES")
    if not folder or x.size < STORED_FROM:
        return compute()
    key = hashlib.sha256(b"\0".join((name.encode(), _source(), repr(x.shape).encode(), x.tobytes()))).hexdigest()
    file = Path(folder, f"{name}-{key[:32]}.npy")
    if file.exists():
        return np.asarray(np.load(file, allow_pickle=False))
    y = compute()
    file.parent.mkdir(parents=True, exist_ok=True)
    whole = file.with_suffix(f".{os.getpid()}")
    with whole.open("wb") as out:
        np.save(out, y, allow_pickle=False)
    whole.replace(file)
    return y


def _each(function: Any, x: Array) -> Array:
    """A function of Python's of every element, in float64: enough for dtypes up to float32."""
    return np.array([function(v) for v in np.ravel(x).tolist()], np.float64).reshape(np.shape(x))


def _error_function(v: Any) -> Any:
    return mpmath.erf(v)


def erf(x: Array) -> Array:
    return _each(math.erf, x) if x.dtype == np.float64 else _exactly(_error_function, x)


def _normal(v: float) -> float:
    return math.erfc(-v / math.sqrt(2)) / 2


def _normal_exactly(v: Any) -> Any:
    return mpmath.ncdf(v)


def gauss(x: Array) -> Array:
    """x times the normal distribution function; minus infinity gives the nan of -inf * 0."""
    far = np.clip(x, -50, 50)  # beyond, the function is 0 or 1 in every dtype
    share = _each(_normal, far) if x.dtype == np.float64 else _exactly(_normal_exactly, far)
    return np.where(np.isneginf(x), np.nan, x * np.where(x < -50, 0, share))


def lgamma(x: Array) -> Array:
    poles = np.isinf(x) | ((x <= 0) & (x == np.floor(x)))
    inside = np.where(poles, 1, x)
    finite = _each(math.lgamma, inside) if x.dtype == np.float64 else _exactly(_log_gamma, inside)
    return np.where(poles, np.inf, finite)


def _log_gamma(v: Any) -> Any:
    return mpmath.re(mpmath.loggamma(v))


def _psi(v: Any) -> Any:
    return mpmath.digamma(v)


def digamma(x: Array) -> Array:
    """By the asymptotic series (DLMF 5.11.2) from 25 on, to where the recurrence moves the argument."""
    poles = (x <= 0) & (x == np.floor(x))
    inside = np.where(poles, 1, x)
    if x.dtype != np.float64:
        finite = _exactly(_psi, np.where(inside == np.inf, 1, inside))
        return np.where(x == np.inf, x, np.where(poles, _at_poles(x), finite))
    wide = inside.astype(np.longdouble)
    y = np.where(wide < 0, 1 - wide, wide)
    moved = np.zeros_like(y)
    for _ in range(25):
        moved -= np.where(y < 25, 1 / y, 0)
        y = np.where(y < 25, y + 1, y)
    series = sum(b / (2 * k * y ** (2 * k)) for k, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66), 1))
    up = np.log(y) - 1 / (2 * y) - series + moved
    rest = wide - np.rint(wide)
    cotangent = np.longdouble("3.14159265358979323846") / np.tan(np.longdouble("3.14159265358979323846") * rest)
    return np.asarray(np.where(poles, _at_poles(x), np.where(x < 0, up - cotangent, up)))


def _at_poles(x: Array) -> Array:
    """digamma at 0, where it has a sign, and at negative integers."""
    return np.asarray(np.where(x == 0, np.copysign(np.inf, -x), np.nan))


def erfinv(x: Array) -> Array:
    size = np.abs(x)
    inside = np.where(size < 1, size, 0)
    finite = _each(_erfinv, inside) if x.dtype == np.float64 else _exactly(_erfinv_exactly, inside)
    return np.asarray(np.copysign(np.where(size == 1, np.inf, np.where(size < 1, finite, np.nan)), x))


def _erfinv(v: float) -> float:
    """Of 0 to 1, by Newton's method on erf, or on erfc beyond 1/2, from an approximation of Winitzki's (2008)."""
    half = math.log1p(-v * v) / 2
    a = 2 / (math.pi * 0.147) + half
    y = math.sqrt(math.sqrt(a * a - half * 2 / 0.147) - a) if v > 1e-3 else v * math.sqrt(math.pi) / 2
    for _ in range(4):
        off = (1 - v) - math.erfc(y) if v > 0.5 else math.erf(y) - v
        y -= off * math.sqrt(math.pi) / 2 * math.exp(y * y)
    return y


def _erfinv_exactly(v: Any) -> Any:
    """One more step, which doubles the digits that are right."""
    y = mpmath.mpf(_erfinv(float(v)))
    return y - (mpmath.erf(y) - v) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)


def scaled_bessel(order: int, x: Array) -> Array:
    """exp(-|x|) times the modified Bessel function of the first kind of order 0 or 1: its power series up to 30
    (DLMF 10.25.2), and its asymptotic series (10.40.1)."""
    size = np.abs(x).astype(np.longdouble)
    near, far = np.where(size <= 30, size, 0), np.where(size > 30, size, 30)
    term = np.exp(-near) * (near / 2 if order else 1)
    total = term
    for k in range(1, 100):
        term = term * (near / 2) * (near / 2) / (k * (k + order))
        total = total + term
        if k > 30 and not np.any(term > total * 2.0**-70):
            break
    series = tail = np.ones_like(far)
    for k in range(1, 40):
        tail = tail * ((2 * k - 1) ** 2 - 4 * order) / (8 * k) / far
        series = series + tail
        if not np.any(np.abs(tail) > 2.0**-70):
            break
    pi2 = np.longdouble("6.28318530717958647693")
    y = np.where(np.isnan(x), x, np.where(size > 30, series / np.sqrt(pi2) / np.sqrt(far), total))
    return np.asarray(np.copysign(y, x) if order else y)


def bessel(order: int, x: Array) -> Array:
    y = np.where(np.isinf(x), np.inf, np.abs(scaled_bessel(order, x)) * np.exp(np.abs(x).astype(np.longdouble)))
    return np.asarray(np.copysign(y, x) if order else y)


def divide(x: Any, y: Any) -> Any:
    return np.logical_and(x, y) if np.asarray(x).dtype == bool else np.true_divide(x, y)


def argmax(x: Array, axis: Any, keepdim: bool) -> Array:
    """The first of the largest; nan counts as smaller than anything."""
    ranked = np.where(np.isnan(x), -np.inf, x) if x.dtype.kind == "f" else x
    return np.asarray(np.argmax(ranked, axis=axis, keepdims=keepdim))


def floor_divide(x: Any, y: Any) -> Any:
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        return np.floor_divide(x, y)
    q = np.asarray(np.floor_divide(x, y))
    return np.where(y == 0, np.asarray(x) / y, q)


def remainder(x: Any, y: Any) -> Any:
    """x - floor(x / y) * y as Paddle computes it: fmod, moved to the sign of the divisor."""
    if np.issubdtype(np.asarray(x).dtype, np.integer):
        return np.remainder(x, y)
    r = np.asarray(np.fmod(x, y))
    return np.where((r != 0) & ((r < 0) != (np.asarray(y) < 0)), r + y, r)


def power(x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    if not np.issubdtype(x.dtype, np.integer):
        return np.power(x, y)
    out = np.power(x, np.abs(y))  # wraps around
    if np.issubdtype(y.dtype, np.signedinteger):
        inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y % 2 == 0, 1, -1), 0)).astype(x.dtype)
        out = np.where(y < 0, inverse, out)
    return out


def neighbour(x: Array, y: Array, dtype: str) -> Array:
    """The number of dtype next to x towards y, for operands that have been widened."""
    return np.asarray(np.nextafter(x.astype(NUMPY[dtype]), y.astype(NUMPY[dtype])))


def shift_left(x: Any, y: Any) -> Any:
    return _shift(x, y, left=True)


def shift_right(x: Any, y: Any) -> Any:
    return _shift(x, y, left=False)


def _shift(x: Any, y: Any, *, left: bool) -> Any:
    """Shifts by any distance: a negative or too large one moves every bit out."""
    bits = np.asarray(x).dtype.itemsize * 8
    out = (y < 0) | (np.asarray(y, np.int64) >= bits)
    y = np.where(out, 0 if left else bits - 1, y).astype(np.asarray(x).dtype)
    return np.where(out, 0, np.left_shift(x, y)).astype(np.asarray(x).dtype) if left else np.right_shift(x, y)


def softmax(x: Array, axis: Any) -> Array:
    if x.size == 0:
        return x
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return np.asarray(e / np.sum(e, axis=axis, keepdims=True))


def layer_norm(x: Array, weight: Any, bias: Any, epsilon: float, centered: bool, dtype: str) -> list[Array]:
    """The normalized lines and their scales. What the bias leaves of an element may be small: float64 has nothing wide
    enough in NumPy."""
    if dtype == "float64":
        return [np.asarray(y) for y in _layer_norm_in_decimal(x, weight, bias, epsilon, centered)]
    d = x - np.mean(x, axis=-1, keepdims=True) if centered else x
    scale = 1 / np.sqrt(np.mean(d * d, axis=-1, keepdims=True) + epsilon)
    return [d * scale * (1 if weight is None else weight) + (0 if bias is None else bias), scale]


def _layer_norm_in_decimal(x: Array, weight: Any, bias: Any, epsilon: float, centered: bool) -> list[Array]:
    exact = np.vectorize(lambda v: Decimal(float(v)), otypes=[object])
    with localcontext() as context:
        context.prec = 60
        lines, count = exact(x), x.shape[-1]
        d = lines - np.sum(lines, axis=-1, keepdims=True) / count if centered else lines
        squares = np.sum(d * d, axis=-1, keepdims=True) / count + Decimal(epsilon)
        scale = np.vectorize(lambda v: 1 / v.sqrt(), otypes=[object])(squares)
        out = d * scale * (1 if weight is None else exact(weight)) + (0 if bias is None else exact(bias))
        return [np.vectorize(lambda v: np.longdouble(str(v)), otypes=[np.longdouble])(y) for y in (out, scale)]


def mean(x: Array, axis: Any, keepdim: bool) -> Array:
    """The mean; of integers it is truncated and of nothing 0, of bools it is whether any is set."""
    if np.issubdtype(x.dtype, np.floating):
        return np.asarray(np.mean(x, axis=axis, keepdims=keepdim))
    total = np.asarray(np.sum(x, axis=axis, keepdims=keepdim, dtype=np.int64))
    count = max(x.size // max(total.size, 1), 1)
    return total.astype(bool) if x.dtype == bool else (np.sign(total) * (np.abs(total) // count)).astype(x.dtype)


def ranks(x: Array, axis: int, descending: bool) -> Array:
    """Where the elements along an axis are in order: equals in theirs, and nan as larger than anything."""
    x = np.atleast_1d(x)
    kept = np.unique(x, return_inverse=True, equal_nan=True)[1].reshape(x.shape)
    return np.argsort(-kept if descending else kept, axis=axis, kind="stable")


def leading(x: Array, k: int | None, axis: int, largest: bool) -> list[Array]:
    """The first k of the elements along an axis in order, and where they are."""
    line = np.atleast_1d(x)
    at = np.take(ranks(x, axis, largest), np.arange(line.shape[axis] if k is None else k), axis=axis)
    shape = at.shape if x.ndim else ()
    return [np.take_along_axis(line, at, axis).reshape(shape), at.reshape(shape)]


def extremes(x: Array, axis: int | None, sign: int) -> list[Array]:
    """The largest of the elements up to each, for sign -1 the smallest, and where the last of them is; nan is larger,
    and smaller, than anything."""
    line = x.reshape(-1) if axis is None else np.atleast_1d(x)
    along = np.moveaxis(line, axis or 0, 0)
    best = (np.maximum if sign > 0 else np.minimum).accumulate(along)
    number = np.arange(len(along)).reshape(-1, *[1] * (along.ndim - 1))
    at = np.maximum.accumulate(np.where((along == best) | (along != along), number, 0))
    at = np.moveaxis(at, 0, axis or 0)
    values = np.take_along_axis(line, at, axis or 0)
    shape = values.shape if axis is None or x.ndim else ()
    return [values.reshape(shape), at.reshape(shape)]


def underflow(x: Array, axis: int | None) -> Array:
    """How far underflow may move running products, in units of the smallest number: half of one at each factor."""
    line = x.reshape(-1) if axis is None else np.atleast_1d(x)
    along = np.abs(np.moveaxis(line, axis or 0, 0)).astype(np.longdouble)
    moved = np.zeros_like(along)
    for i in range(1, len(along)):
        moved[i] = moved[i - 1] * along[i] + 0.5
    return np.moveaxis(moved, 0, axis or 0).reshape(-1 if axis is None else x.shape)


def reshape(x: Array, shape: Any) -> Array:
    return np.reshape(x, [x.shape[i] if d == 0 and i < x.ndim else d for i, d in enumerate(shape)])


def unsqueeze(x: Array, axis: Any) -> Array:
    for a in axis:  # one after the other, as Paddle does
        x = np.expand_dims(x, a)
    return x


def expand(x: Array, shape: Any) -> Array:
    lead = len(shape) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if d == -1 else d for i, d in enumerate(shape)])


def swap(x: Array, transposed: bool) -> Array:
    return np.swapaxes(x, -1, -2) if transposed and x.ndim > 1 else x


def slices(x: Array, axes: Any, starts: Any, ends: Any, steps: Any) -> tuple[slice, ...]:
    parts = [slice(None)] * x.ndim
    for i, axis in enumerate(axes):
        parts[axis] = slice(starts[i], ends[i], steps[i] if steps else None)
    return tuple(parts)


def padded(x: Array, pads: Any, mode: str, value: Any) -> Array:
    """Axis by axis, by the element that each place reads."""
    for axis, (before, behind) in enumerate(zip(pads[::2], pads[1::2])):
        n = x.shape[axis]
        places = np.arange(-before, n + behind)
        outside = (places < 0) | (places >= n)
        if mode == "circular":
            places %= n
        elif mode == "reflect" and n > 1:
            places %= 2 * n - 2
            places = np.minimum(places, 2 * n - 2 - places)
        shape = [-1 if a == axis else 1 for a in range(x.ndim)]
        if not n:
            x = np.full([len(places) if a == axis else d for a, d in enumerate(x.shape)], value, x.dtype)
            continue
        x = np.take(x, places.clip(0, n - 1), axis)
        if mode == "constant":
            x = np.where(outside.reshape(shape), np.asarray(value).astype(x.dtype), x)
    return x


def embedded(x: Array, offset: int, axis1: int, axis2: int, padding_value: Any) -> Array:
    side = x.shape[-1] + abs(offset)
    y = np.full((*x.shape[:-1], side, side), padding_value).astype(x.dtype)
    for i in range(x.shape[-1]):
        y[..., i + max(-offset, 0), i + max(offset, 0)] = x[..., i]
    return np.moveaxis(y, (-2, -1), (axis1, axis2))


def on_diagonal(x: Array, y: Array, offset: int, axis1: int, axis2: int) -> Array:
    made = np.moveaxis(x.copy(), (axis1, axis2), (-2, -1))
    for i in range(y.shape[-1]):
        made[..., i + max(-offset, 0), i + max(offset, 0)] = y[..., i]
    return np.moveaxis(made, (-2, -1), (axis1, axis2))


def in_slice(x: Array, value: Array, axes: Any, starts: Any, ends: Any, steps: Any) -> Array:
    made = x.copy()
    made[slices(x, axes, starts, ends, steps)] = value
    return made


def at_index(x: Array, values: Array, axis: int, index: int) -> Array:
    made = x.copy()
    np.moveaxis(made, axis, 0)[index] = values
    return made


def blocks(x: list[Array]) -> Array:
    matrices = [np.atleast_2d(m) for m in x]
    y = np.zeros([sum(m.shape[a] for m in matrices) for a in (0, 1)], matrices[0].dtype)
    row = column = 0
    for m in matrices:
        y[row : row + m.shape[0], column : column + m.shape[1]] = m
        row, column = row + m.shape[0], column + m.shape[1]
    return y


def split(x: Array, sections: Any, axis: int) -> list[Array]:
    if len(sections) == 1:
        return np.split(x, sections[0], axis)
    sizes = [x.shape[axis] - sum(s for s in sections if s >= 0) if s < 0 else s for s in sections]
    return np.split(x, np.cumsum(sizes)[:-1], axis)


def cast(x: Array, dtype: str) -> Array:
    """x in another dtype: floats saturate on their way to integers, nan becomes 0."""
    target = NUMPY[dtype]
    if dtype in FLOATS or dtype == "bool" or x.dtype.kind != "f":
        return x if dtype in FLOATS else x.astype(target)
    limits = np.iinfo(target)
    inside = np.clip(np.nan_to_num(x, nan=0.0, posinf=np.inf, neginf=-np.inf), float(limits.min), float(limits.max))
    with np.errstate(all="ignore"):
        whole = np.trunc(inside).astype(target)
    return np.where(inside >= float(limits.max), limits.max, whole).astype(target)


def magnitude(x: Array) -> Array:
    """|x|, with 0 for NaN and infinities."""
    return np.asarray(np.abs(np.nan_to_num(x, nan=0, posinf=0, neginf=0)))


# What expressions of rows may call beside NumPy, and which of it needs mpmath for float64.
HELPERS = {
    f.__name__: f
    for f in (
        erf, gauss, divide, argmax, floor_divide, remainder, power, shift_left, shift_right, softmax, layer_norm, mean, reshape,
        unsqueeze, expand, swap, slices, padded, embedded, on_diagonal, in_slice, at_index, blocks, split, cast, magnitude, ranks, leading, extremes, neighbour, underflow,
        lgamma, digamma, erfinv, bessel, scaled_bessel, windows.conv, windows.conv_transpose, windows.conv_weight,
        windows.max_pool, windows.max_unpool, windows.avg_pool, windows.avg_unpool, windows.unfold,
    )
}  # fmt: skip
NEED_MPMATH = {f.__name__ for f in (erf, gauss, lgamma, digamma, erfinv)}


def expect(row: dict[str, Any], inputs: list[Any], attrs: dict[str, Any], dtype: str) -> Any:
    """The exact result. inputs are arrays (lists of them where variadic) or scalars, in the compute dtype;
    attrs are by name."""
    return evaluate(row["numpy"], row, inputs, attrs, dtype)


def evaluate(
    expression: str, row: dict[str, Any], inputs: list[Any], attrs: dict[str, Any], dtype: str, out: Any = None
) -> Any:
    """An expression over the inputs, attributes and, where it is known, the exact result of a row."""
    scope: dict[str, Any] = {
        **HELPERS,
        "np": np,
        "pi": np.pi,
        "given": attrs,
        "out": out,
        "ulp": lambda y: ulp(y, dtype),
        "dtype": dtype,
        "lowest": -FORMATS[dtype][2] if dtype in FORMATS else None,
    }
    for declared, value in itertools.zip_longest(row["inputs"], inputs):
        scope[declared["name"]] = widened(value, dtype)  # None for operands that are left out
    # NumPy wants a tuple of axes, and knows no axis of a 0-d array, of which 0 and -1 are fine here; `given` has what
    # was asked for.
    flat = inputs and isinstance(inputs[0], np.ndarray) and inputs[0].ndim == 0
    for name, value in attrs.items():
        axes = tuple(value) if name == "axis" and isinstance(value, list) else value
        scope[name] = None if name == "axis" and flat else axes
    with np.errstate(all="ignore"):
        return eval(compiled(expression), scope)


def widened(value: Any, dtype: str) -> Any:
    """An operand in more precision than dtype has; a scalar as it is."""
    if isinstance(value, list):
        return [widen(v, dtype) for v in value]
    return widen(value, dtype) if isinstance(value, np.ndarray) else value
