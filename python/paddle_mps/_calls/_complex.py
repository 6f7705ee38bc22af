"""Arithmetic of complex tensors, which the library moves and casts and does not compute with: NumPy does, on the CPU.

`_call` asks here when the library has refused a call, so that calls of real tensors do not come by. A complex operand
meets the others in complex64, or in complex128 if one of them is complex128 or float64; Python numbers do not
widen it. An operator without a row in `FUNCTIONS` keeps the error of the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Callable

import numpy as np

from .._core import _dtype, _place, _recording
from .._core._caller import called
from .._core._convert import of_one_place
from .._core._dtype import DType
from .._core._errors import TracingError, outside_of_programs
from .._core._objects import Tensor, blank, from_array, memory, meta, retained

if TYPE_CHECKING:
    import numpy.typing as npt  # importing it takes more than a millisecond

    from .._core._place import Place

    Array = npt.NDArray[Any]

NUMBERS = (complex, np.complexfloating)  # what counts as a complex number beside a tensor
WIDE = (_dtype.float64, _dtype.complex128)


def concerned(arguments: Iterable[Any]) -> bool:
    """Whether a call is about complex numbers: one of its arguments is a complex tensor, number or dtype."""
    for x in arguments:
        if isinstance(x, Tensor):
            if meta(x).dtype.is_complex:
                return True
        elif isinstance(x, (list, tuple)):
            if any(isinstance(item, Tensor) and meta(item).dtype.is_complex for item in x):
                return True
        elif (
            isinstance(x, NUMBERS)
            or (isinstance(x, DType) and x.is_complex)
            or (isinstance(x, str) and x in _dtype.NAMES and _dtype.NAMES[x].is_complex)
        ):
            return True
    return False


def common(operands: Sequence[Any]) -> DType:
    """The complex dtype in which operands meet."""
    wide = any(isinstance(x, Tensor) and meta(x).dtype in WIDE for x in operands)
    return _dtype.complex128 if wide else _dtype.complex64


def computed(name: str, function: Callable[..., Any], *operands: Any, **attributes: Any) -> Tensor:
    """The answer of a function of NumPy for tensors and numbers, as complex arrays of one dtype, on their place.

    Bools stay what they are. The result is of that dtype, of the dtype of its parts, bool or int64.

    Args:
        name: that of the function in errors, if the program called none of this package.

    Raises:
        ValueError: the operands do not fit together, or are on different places.
    """
    tensors = [x for x in operands if isinstance(x, Tensor)]
    of_one_place(name, *tensors)
    kind = common(operands).numpy
    kept = held(operands)
    arrays = [array(x, kind) for x in kept]
    if isinstance(function, np.ufunc):
        check_broadcast(name, *arrays)
    with np.errstate(all="ignore"):
        if isinstance(function, np.ufunc) and not attributes and max(a.size for a in arrays) >= SHARED:
            return in_place_of_tensor(function, arrays, place_of(tensors))
        found = np.asarray(function(*arrays, **attributes))
    if found.dtype.kind in "cf":
        found = found.astype(kind if found.dtype.kind == "c" else kind.type().real.dtype, copy=False)
    return from_array(found, place_of(tensors))


def place_of(tensors: Sequence[Tensor]) -> Place:
    """Where the result of tensors goes: with those that are on the CPU because an mps device lacks their dtype, if there are any."""
    places = [meta(x).place for x in tensors]
    return next(filter(_place.is_displaced, places), places[0])


def held(operands: Sequence[Any]) -> list[Any]:
    """Operands whose memory stays while this list does: another thread may give a tensor of the program other memory."""
    return [retained(x._handle) if isinstance(x, Tensor) else x for x in operands]


def check_broadcast(name: str, *arrays: Array) -> None:
    """Raises a ValueError that names the function, unless the arrays broadcast."""
    try:
        np.broadcast(*arrays)
    except ValueError:
        shapes = " and ".join(str(list(a.shape)) for a in arrays)
        raise ValueError(f"[{called(name)}] shapes {shapes} do not broadcast; want equal sizes, or 1") from None


def in_place_of_tensor(function: np.ufunc, arrays: Sequence[Array], place: Any) -> Tensor:
    """The answer of a function of elements, which NumPy writes into the memory of the tensor."""
    dtype = function(*[a.reshape(-1)[:0] for a in arrays]).dtype
    shape = np.broadcast(*arrays).shape
    made = blank(shape, _dtype.BY_NUMPY[dtype], place)
    function(*arrays, out=memory(made))
    return made


SHARED = 1 << 12  # elements from which copying costs more than asking where they lie


def array(x: Any, kind: np.dtype[Any]) -> Array:
    """An operand as an array, which is valid while the operand lives. It is not to be written."""
    if not isinstance(x, Tensor):
        return np.asarray(x, kind)
    m = meta(x)
    if m.numel >= SHARED and m.dtype.numpy == kind and x.is_contiguous():
        return memory(x)
    values: Array = x._values()
    return values.astype(kind, copy=False)


def answer(name: str, operands: Sequence[Any], attributes: dict[str, Any]) -> Tensor | None:
    """The result of an operator of the table for complex operands, recorded if one asks; None if it has none.

    Raises:
        UnsupportedError: an operand has no elements, because a function is being traced.
    """
    if name in COMPOSITES:
        given = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
        return COMPOSITES[name](*operands, **given)
    given = dict(attributes)
    try:
        made = result_of(name, operands, attributes)
    except TracingError:
        raise outside_of_programs(name) from None
    if made is not None and _recording.asks(*operands):
        recorders[0](name, operands, given, made)
    return made


# Composites that Paddle computes of complex operands too, of operators that record themselves, by the names of their rows: rows of
# formulas take real numbers alone.
COMPOSITES: dict[str, Callable[..., Tensor]] = {}

# What records a call: (name, operands, attributes, result). The module that has the rules imports this one.
recorders: list[Callable[[str, Sequence[Any], dict[str, Any], Tensor], None]] = []


def result_of(name: str, operands: Sequence[Any], attributes: dict[str, Any]) -> Tensor | None:
    """The result of an operator for complex operands; None if it has none."""
    if name == "where":
        return chosen(*operands)
    if "dtype" in attributes and name in FUNCTIONS:
        wanted = _dtype.BY_NUMBER[attributes.pop("dtype")]
        if not wanted.is_complex:  # the library computes real numbers
            return None
        operands = [x.cast(wanted) for x in operands]
    return computed(name, FUNCTIONS[name], *operands, **attributes) if name in FUNCTIONS else None


def chosen(condition: Tensor, x: Any, y: Any) -> Tensor:
    """`where` of the table."""
    if meta(condition).dtype is not _dtype.bool_:
        raise ValueError(f"[where] condition is {meta(condition).dtype.name}; want bool")
    of_one_place("where", condition, *[v for v in (x, y) if isinstance(v, Tensor)])
    kind, wanted, kept = common((x, y)).numpy, condition.numpy(), held((x, y))
    arrays = [array(v, kind) for v in kept]
    check_broadcast("where", wanted, *arrays)
    where = place_of([v for v in (condition, x, y) if isinstance(v, Tensor)])
    return from_array(np.where(wanted, arrays[0], arrays[1]), where)


def axes(axis: tuple[int, ...] | None) -> tuple[int, ...] | None:
    """None and no axis at all stand for all axes."""
    return axis or None


def reduction(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of NumPy, with the attributes of the operators."""

    def reduced(x: Array, axis: tuple[int, ...] | None = None, keepdim: int = 0) -> Any:
        try:
            return function(x, axis=axes(axis), keepdims=bool(keepdim))
        except ValueError as error:  # of an axis
            raise ValueError(f"[{function.__name__}] {error}; want axes of x") from None

    return reduced


def mean(x: Array, axis: tuple[int, ...] | None, keepdims: bool) -> Any:
    """As NumPy's, which warns of nothing; nan of nothing."""
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total / x.dtype.type(x.size / max(np.size(total), 1) if x.size else 0)


def scan(function: Callable[..., Any]) -> Callable[..., Any]:
    """A scan of NumPy; without an axis over all elements in a line."""

    def scanned(x: Array, axis: int | None = None) -> Any:
        try:
            return function(x, axis).reshape(x.shape if axis is not None else -1)
        except ValueError as error:
            raise ValueError(f"[{function.__name__}] {error}; want an axis of x") from None

    return scanned


def matmul(x: Array, y: Array, transpose_x: int = 0, transpose_y: int = 0) -> Array:
    """The product by four products of real matrices.

    Those of complex matrices in OpenBLAS differ between processors: where terms cancel, some give -0.0.
    """
    x, y = swapped(x, transpose_x), swapped(y, transpose_y)
    real = np.matmul(x.real, y.real) - np.matmul(x.imag, y.imag)
    found: Array = np.empty(real.shape, np.result_type(x, y))
    found.real, found.imag = real, np.matmul(x.real, y.imag) + np.matmul(x.imag, y.real)
    return found


def swapped(x: Array, wanted: int) -> Array:
    return np.swapaxes(x, -1, -2) if wanted and x.ndim > 1 else x


def sign(x: Array) -> Array:
    """x / abs(x), and 0 of 0: the point of the unit circle in the direction of x."""
    size = np.abs(x)
    found: Array = np.where(size == 0, 0, x / np.where(size == 0, 1, size))
    return found


def sigmoid(x: Array) -> Array:
    found: Array = 1 / (1 + np.exp(-x))
    return found


def silu(x: Array) -> Array:
    return x * sigmoid(x)


def nonzero(x: Array) -> Array:
    return np.argwhere(x)


# By the names of the operators, and two functions that are none; what Paddle computes of complex tensors, and nothing that orders them.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.true_divide, "pow": np.power,
    "equal": np.equal, "not_equal": np.not_equal,
    "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "logical_not": np.logical_not, "isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite,
    "abs": np.abs, "neg": np.negative, "sign": sign, "round": np.round, "square": np.square, "sqrt": np.sqrt,
    "reciprocal": np.reciprocal, "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p,
    "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "sigmoid": sigmoid, "silu": silu,
    "sum": reduction(np.sum), "mean": reduction(mean), "prod": reduction(np.prod),
    "any": reduction(np.any), "all": reduction(np.all), "cumsum": scan(np.cumsum), "cumprod": scan(np.cumprod),
    "matmul": matmul, "nonzero": nonzero,
    "angle": np.angle, "conj": np.conj,
}  # fmt: skip
