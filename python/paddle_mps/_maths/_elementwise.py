"""Elementwise functions that are made of operators of the table, and further names of operators.

Each is computed on the device of its operand. Half precision is computed in float32 and rounded once at the end, as
in the operators. No function copies elements to the host, so none waits for the device. `frexp` of many
elements on the CPU is NumPy's.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .._arrays._creation import full_0d
from .._calls import _complex, _grad, _operators
from .._calls._call import into, renamed, take
from .._calls._inplace import in_place
from .._calls._precision import fractional
from .._core._convert import REQUIRED, chosen, described, listed, numeric, one_number, real, scalar, tensor
from .._core._dtype import DType, bool_, float16, float32, float64, int32, int64
from .._core._errors import TracingError, UnsupportedError, outside_of_programs
from .._core._objects import Tensor, blank, memory, meta
from .._core._place import CPU
from .._core._recording import asks
from . import _ops
from ._arithmetic import clip, clip_, divide, divide_, subtract, subtract_

if TYPE_CHECKING:
    from .._core._typing import Scalar

Function = TypeVar("Function", bound=Callable[..., Any])


def in_single(function: Function) -> Function:
    """Computes a first operand of 16 bits in float32, and rounds the result once to its dtype."""

    @functools.wraps(function)
    def wrapper(x: Any, *arguments: Any, **options: Any) -> Any:
        dtype = meta(tensor(x, function.__name__, "x")).dtype
        if not dtype.is_floating or dtype.itemsize > 2:
            return function(x, *arguments, **options)
        return _operators.cast(function(_operators.cast(x, float32), *arguments, **options), dtype)

    return wrapper  # type: ignore[return-value]


def of_tensor(x: Any, name: str, parameter: str = "x") -> Tensor:
    """A tensor, for functions that Paddle refuses other operands of with a TypeError."""
    if not isinstance(x, Tensor):
        raise TypeError(f"[{name}] {parameter} is {type(x).__name__}; want a Tensor")
    return x


def of_dtypes(x: Any, name: str, *dtypes: DType) -> Tensor:
    """A tensor of one of some dtypes; Paddle refuses others with a TypeError."""
    dtype = meta(tensor(x, name, "x")).dtype
    if dtype not in dtypes:
        raise TypeError(f"[{name}] x is {dtype.name}; want one of {', '.join(d.name for d in dtypes)}")
    given: Tensor = x
    return given


def of_floats(x: Any, name: str) -> Tensor:
    """A floating-point tensor; Paddle has no kernel for others."""
    dtype = described(x, name, "x").dtype
    if not dtype.is_floating:
        raise UnsupportedError(f"[{name}] x is {dtype.name}; want a floating-point tensor")
    given: Tensor = x
    return given


def floats(x: Any, name: str) -> Tensor:
    """A tensor, as float32 if it is of integers or of bools."""
    given: Tensor = x if described(x, name, "x").dtype.is_floating else fractional(x)
    return given


def alike(x: Any, y: Any, name: str) -> None:
    """Checks that two operands are tensors of one dtype, for functions that do not promote."""
    first, second = described(x, name, "x").dtype, described(y, name, "y").dtype
    if first is not second:
        raise ValueError(f"[{name}] x is {first.name} and y {second.name}; want one dtype")


@renamed(input="x")
def frac(x: Tensor, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """x without its whole part, with the sign of x: x - trunc(x); nan for infinities.

    Args:
        x: a tensor of float16, float32, float64, int32 or int64.
        out: takes the result and is returned.

    Raises:
        TypeError: x has another dtype.
        ValueError: x is no tensor.
    """
    return into(out, _operators.frac(of_dtypes(x, "frac", int32, int64, float16, float32, float64)))


def sgn(x: Tensor, name: str | None = None) -> Tensor:
    """-1, 0 or 1 by the sign of x; nan of nan. Of complex numbers x / abs(x), and 0 of 0.

    Raises:
        TypeError: x is not float16, float32, float64 or complex.
        ValueError: x is no tensor.
    """
    if meta(tensor(x, "sgn", "x")).dtype.is_complex:
        return _operators.sign(x)
    return _operators.sign(of_dtypes(x, "sgn", float16, float32, float64))


def signbit(x: Tensor, name: str | None = None) -> Tensor:
    """Whether x has a minus sign, as -0.0 has, and some nan; a bool tensor.

    Raises:
        TypeError: x is no tensor.
    """
    return _operators.signbit(of_tensor(x, "signbit"))


def heaviside(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """0 where x < 0, y where x is 0, 1 where x > 0; 0 of nan.

    Args:
        x, y: tensors of one dtype that broadcast.

    Raises:
        ValueError: x or y is no tensor, the dtypes differ, or the shapes do not broadcast.
    """
    alike(x, y, "heaviside")
    return _operators.heaviside(x, y)


def ldexp(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """x * 2**y, in float64 if an operand is, else in float32. y need not be whole.

    Raises:
        TypeError: x or y is no tensor.
        UnsupportedError: x or y is complex.
        ValueError: the shapes do not broadcast.
    """
    operands = meta(of_tensor(x, "ldexp")).dtype, meta(of_tensor(y, "ldexp", "y")).dtype
    for name, kind in zip("xy", operands):
        if kind.is_complex:
            raise UnsupportedError(f"[ldexp] {name} is {kind.name}; want real numbers")
    dtype = float64 if float64 in operands else float32
    return _operators.ldexp(_operators.cast(x, dtype), _operators.cast(y, dtype))


def frexp(x: Tensor, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Mantissas in [0.5, 1), with the sign of x, and exponents: x == mantissa * 2**exponent.

    0 and its exponent are 0; of nan both are nan, and of infinities the exponent is 1.

    Returns:
        Two tensors of the dtype of x.

    Raises:
        TypeError: x is not float32 or float64.
    """
    x = of_dtypes(x, "frexp", float32, float64)
    if meta(x).numel > MANY and meta(x).place.kind == CPU and not asks(x):
        try:
            return frexp_in_numpy(x)
        except TracingError as error:
            error.handled()
    mantissa, exponent = _operators.frexp(x)
    return mantissa, exponent


MANY = 1 << 13  # elements from which on one pass of NumPy's takes less time than the steps of the row


def frexp_in_numpy(x: Tensor) -> tuple[Tensor, Tensor]:
    """`frexp` on the CPU, without gradients: NumPy computes it in the memory of the results, in one pass."""
    m, given = meta(x), x.contiguous()
    mantissa, exponent = blank(m.shape, m.dtype, m.place), blank(m.shape, int32, m.place)
    np.frexp(memory(given), memory(mantissa), memory(exponent))
    powers, usual = _operators.cast(exponent, m.dtype), _operators.isfinite(x)
    if not _ops.all(usual):
        infinite = _operators.where(_operators.isinf(x), full_0d(x, 1), x)
        powers = _operators.where(usual, powers, infinite)
    return mantissa, powers


def lerp(x: Tensor, y: Tensor, weight: float | Tensor, name: str | None = None) -> Tensor:
    """x + weight * (y - x), element by element, for tensors that broadcast.

    Args:
        x, y: floating-point tensors of one dtype.
        weight: a float, or a tensor of that dtype.

    Raises:
        ValueError: an operand is no tensor, weight is an int, or the dtypes differ.
        UnsupportedError: x is not floating-point.
    """
    alike(x, y, "lerp")
    if isinstance(weight, float):
        weight = full_0d(x, weight)
    alike(x, tensor(weight, "lerp", "weight"), "lerp")
    return _operators.lerp(of_floats(x, "lerp"), y, weight)


def logit(x: Tensor, eps: float | Tensor | None = None, name: str | None = None) -> Tensor:
    """log(x / (1 - x)); nan outside of [0, 1]. Integers are computed in float32.

    Args:
        eps: if above 0, x is lowered to 1 - eps and then raised to eps first; it may be a tensor of one element.

    Raises:
        TypeError: eps is no number.
        ValueError: x is no tensor.
    """
    x = floats(x, "logit")
    return _operators.logit(x, 0.0 if eps is None else one_number(eps, "logit", "eps", TypeError))


def sinc(x: Tensor, name: str | None = None) -> Tensor:
    """sin(pi * x) / (pi * x), and 1 of 0. The error is absolute: some units in the last place of 1.

    Raises:
        TypeError: x is no floating-point tensor.
        ValueError: x is no tensor.
    """
    if not described(x, "sinc", "x").dtype.is_floating:
        raise TypeError(f"[sinc] x is {meta(x).dtype.name}; want a floating-point tensor")
    return _operators.sinc(x)


def stanh(x: Tensor, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Tensor:
    """scale_b * tanh(scale_a * x). Integers are computed in float32.

    Raises:
        ValueError: x is no tensor.
    """
    real("stanh", "scale_a", scale_a), real("stanh", "scale_b", scale_b)
    whole = not described(x, "stanh", "x").dtype.is_complex and not meta(x).dtype.is_floating
    return _operators.stanh(fractional(x) if whole else x, scale_a, scale_b)


def deg2rad(x: Tensor, name: str | None = None) -> Tensor:
    """Degrees as radians, x * pi / 180. int32 and int64 are computed in float32; see `scale` for smaller integers.

    Raises:
        ValueError: x is no tensor.
    """
    x = angles(tensor(x, "deg2rad", "x"))
    return _operators.deg2rad(x) if meta(x).dtype.is_floating else scale(x, math.pi / 180)


def rad2deg(x: Tensor, name: str | None = None) -> Tensor:
    """Radians as degrees, x * 180 / pi. int32 and int64 are computed in float32; see `scale` for smaller integers.

    Raises:
        ValueError: x is no tensor.
    """
    x = angles(tensor(x, "rad2deg", "x"))
    return _operators.rad2deg(x) if meta(x).dtype.is_floating else scale(x, 180 / math.pi)


def angles(x: Tensor) -> Tensor:
    """Large integers as float32."""
    return _operators.cast(x, float32) if meta(x).dtype in (int32, int64) else x


def scale(
    x: Tensor,
    scale: float | Tensor = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """scale * x + bias, or scale * (x + bias), in the dtype of x.

    Args:
        x: a tensor. Where it is not floating-point, scale and bias are cast to its dtype first: 2.7 is 2.
        scale: a number, or a tensor of one element.
        bias: a number.
        bias_after_scale: whether bias is added after the product.
        act: "relu", "sigmoid" or "tanh", which the result is passed to.

    Raises:
        ValueError: x is no tensor, scale has several elements, or there is no such activation.
    """
    if act not in (None, "relu", "sigmoid", "tanh"):
        raise ValueError(f"[scale] act is {act!r}; want None, 'relu', 'sigmoid' or 'tanh'")
    tensor(x, "scale", "x")
    factor, times = operand_or_number(x, "scale", scale)
    summand, plus = operand_or_number(x, "bias", bias)
    result = _operators.scale(x, factor, summand, times, plus, bias_after_scale)
    if act is None:
        return result
    activation: Callable[[Tensor], Tensor] = getattr(_operators, act)
    return activation(result)


def operand_or_number(x: Tensor, name: str, value: Any) -> tuple[Tensor | None, Any]:
    """An argument of `scale` as an operand of its row, which tensors and complex numbers are, or as its attribute."""
    if isinstance(value, Tensor):
        if meta(value).numel != 1:
            raise ValueError(f"[scale] {name} has {meta(value).numel} elements; want one")
        return value, 0
    number = numeric("scale", name, value)
    return (full_0d(x, number), 0) if isinstance(number, _complex.NUMBERS) else (None, number)


def increment(x: Tensor, value: float = 1.0, name: str | None = None) -> Tensor:
    """Adds a number to x, in place, and returns x.

    Args:
        x: a tensor of one element.
        value: a number; beside integers its fraction is dropped.

    Raises:
        ValueError: x is no tensor, or has not one element.
    """
    if meta(tensor(x, "increment", "x")).numel != 1:
        raise ValueError(f"[increment] x has {meta(x).numel} elements; want one")
    take(x, _operators.add(x, full_0d(x, value)))
    return x


def add_n(inputs: Tensor | Sequence[Tensor], name: str | None = None) -> Tensor:
    """The sum of tensors, one after the other.

    Args:
        inputs: tensors of one shape and one dtype but bool, or one tensor.

    Returns:
        A new tensor of that shape and dtype.

    Raises:
        ValueError: there is none, an input is no tensor, or the shapes or dtypes differ.
        UnsupportedError: the tensors are bool.
    """
    if isinstance(inputs, Tensor):
        inputs = [inputs]
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError(f"[add_n] inputs is {inputs!r}; want a Tensor or a list of them")
    first, *others = listed(inputs, "add_n", "inputs")
    dtype = meta(first).dtype
    if dtype is bool_:
        raise UnsupportedError("[add_n] got bool tensors; want numbers")
    for x in others:
        alike(first, x, "add_n")
        if meta(x).shape != meta(first).shape:
            raise ValueError(f"[add_n] got shapes {list(meta(first).shape)} and {list(meta(x).shape)}; want them equal")
    return _operators.add_n([first, *others]) if others else _operators.assign(first)


def complex_sum(first: Tensor, *others: Tensor) -> Tensor:
    total = _operators.assign(first)
    for x in others:
        total = _operators.add(total, x)
    return total


_complex.COMPOSITES.update(add_n=complex_sum)


def nan_to_num(
    x: Tensor,
    nan: float | Tensor = 0.0,
    posinf: float | Tensor | None = None,
    neginf: float | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """x with numbers in place of nan and infinities.

    Args:
        x: a tensor of float32 or float64.
        nan: what nan becomes; an infinity is replaced in turn.
        posinf, neginf: what infinities become; None for the largest and the least finite number. All three may be
            tensors of one element.

    Raises:
        AssertionError: x has another dtype.
        TypeError: what takes a place is no number.
        ValueError: x is no tensor, or a number is beyond the range of the dtype.
    """
    dtype = meta(tensor(x, "nan_to_num", "x")).dtype
    if dtype not in (float32, float64):
        raise AssertionError(f"[nan_to_num] x is {dtype.name}; want float32 or float64")
    largest = float(np.finfo(dtype.name).max)
    replacements = {"nan": nan, "posinf": largest if posinf is None else posinf}
    replacements["neginf"] = -largest if neginf is None else neginf
    nan, above, below = (one_number(value, "nan_to_num", name) for name, value in replacements.items())
    for value in (nan, above, below):
        if math.isfinite(value) and abs(value) > largest:
            raise ValueError(f"[nan_to_num] got {value}; want a number that {dtype.name} holds")
    return _operators.nan_to_num(x, nan, above, below)


def isneginf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether x is minus infinity; a bool tensor.

    Raises:
        TypeError: x is no tensor.
    """
    return _operators.isneginf(of_tensor(x, "isneginf"))


def isposinf(x: Tensor, name: str | None = None) -> Tensor:
    """Whether x is plus infinity; a bool tensor.

    Raises:
        TypeError: x is no tensor.
    """
    return _operators.isposinf(of_tensor(x, "isposinf"))


def isreal(x: Tensor, name: str | None = None) -> Tensor:
    """Whether the imaginary part is 0, which every real number has; a bool tensor of the shape of x.

    Raises:
        TypeError: x is no tensor.
    """
    known = meta(of_tensor(x, "isreal"))
    if known.dtype.is_complex:
        try:
            return _complex.computed("isreal", np.isreal, x)
        except TracingError:
            raise outside_of_programs("isreal") from None
    return _operators.full(known.place.word, known.shape, True, bool_)


# The same of complex numbers: distances are those in the plane.


def complex_stanh(x: Tensor, scale_a: float, scale_b: float) -> Tensor:
    result: Tensor = scale_b * _operators.tanh(scale_a * x)
    return result


def complex_hypot(x: Tensor, y: Tensor) -> Tensor:
    return _grad.root(_operators.square(x) + _operators.square(y))


def complex_scale(x: Any, factor: Any, summand: Any, scale: Any, bias: Any, bias_after_scale: Any) -> Tensor:
    times, plus = scale if factor is None else factor.reshape([]), bias if summand is None else summand.reshape([])
    result: Tensor = x * times + plus if bias_after_scale else (x + plus) * times
    return result


def complex_isclose(x: Any, y: Any, rtol: float, atol: float, equal_nan: Any) -> Tensor:
    apart, allowed = _operators.abs(x - y), _operators.abs(y) * rtol + atol
    close = (apart <= allowed) | (x == y) | (_operators.abs(apart - allowed) <= 1e-15)
    result: Tensor = close | (_operators.isnan(x) & _operators.isnan(y)) if equal_nan else close
    return result


def complex_allclose(x: Any, y: Any, rtol: float, atol: float, equal_nan: Any) -> Tensor:
    return _operators.all(complex_isclose(x, y, rtol, atol, equal_nan))


def complex_equal_all(x: Any, y: Any) -> Tensor:
    return _operators.all(x == y)


_complex.COMPOSITES.update(
    stanh=complex_stanh, hypot=complex_hypot, scale=complex_scale,
    isclose=complex_isclose, allclose=complex_allclose, equal_all=complex_equal_all,
)  # fmt: skip


@renamed(input="x", other="y")
def isclose(
    x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Whether |x - y| <= atol + rtol * |y|, element by element; a bool tensor.

    Equal infinities are close. The sides are compared with 1e-15 to spare, as in Paddle. Integers are compared in
    float64, or in float32 on a device that has no float64.

    Args:
        x, y: tensors of one shape and one dtype.
        rtol, atol: the relative and the absolute tolerance, floats.
        equal_nan: whether two nan are close.

    Raises:
        RuntimeError: the shapes differ.
        ValueError: x or y is no tensor, the dtypes differ, or a tolerance is no float.
    """
    x, y = comparable(x, y, rtol, atol, "isclose")
    return _operators.isclose(x, y, rtol, atol, equal_nan)


def comparable(x: Tensor, y: Tensor, rtol: float, atol: float, name: str) -> tuple[Tensor, Tensor]:
    """Operands of `isclose`, in the dtype in which they are compared, under the name of the function that was called."""
    first, second = meta(tensor(x, name, "x")), meta(tensor(y, name, "y"))
    if first.shape != second.shape:
        raise RuntimeError(f"[{name}] x is {list(first.shape)} and y {list(second.shape)}; want one shape")
    alike(x, y, name)
    for what, value in (("rtol", rtol), ("atol", atol)):
        if not isinstance(value, float):
            raise ValueError(f"[{name}] {what} is {value!r}; want a float")
    if not (first.dtype.is_floating or first.dtype.is_complex) or first.dtype.itemsize == 2:
        exact = float64 if first.place.kind == CPU and not first.dtype.is_floating else float32
        x, y = _operators.cast(x, exact), _operators.cast(y, exact)
    return x, y


def allclose(
    x: Tensor, y: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False, name: str | None = None
) -> Tensor:
    """Whether all elements of two tensors are close: a 0-d bool tensor, True of nothing. See `isclose`.

    Args:
        x, y: tensors of one shape and one dtype.
        rtol, atol: the relative and the absolute tolerance, floats.
        equal_nan: whether two nan are close.

    Raises:
        RuntimeError: the shapes differ.
        ValueError: x or y is no tensor, the dtypes differ, or a tolerance is no float.
    """
    x, y = comparable(x, y, rtol, atol, "allclose")
    return _operators.allclose(x, y, rtol, atol, equal_nan)


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether two tensors have one shape and equal elements; a 0-d bool tensor.

    Raises:
        ValueError: x or y is no tensor, or the dtypes of tensors of one shape differ.
    """
    known, other = meta(tensor(x, "equal_all", "x")), meta(tensor(y, "equal_all", "y"))
    if known.shape != other.shape:
        return _operators.full(known.place.word, (), False, bool_)
    alike(x, y, "equal_all")
    return _operators.equal_all(x, y)


def of_complex(name: str, x: Tensor) -> Tensor:
    """A function of a complex tensor."""
    made = _complex.answer(name, [x], {})
    assert made is not None
    return made


def angle(x: Tensor, name: str | None = None) -> Tensor:
    """The angles of complex numbers in the plane, from -pi to pi, in the dtype of their parts.

    Of a real number 0 where x >= 0, pi where x < 0, nan of nan.

    Raises:
        UnsupportedError: x is neither floating-point nor complex.
        ValueError: x is no tensor.
    """
    return _operators.angle(tensor(x, "angle", "x"))


def conj(x: Tensor, name: str | None = None) -> Tensor:
    """The complex conjugates: a copy of x unless its dtype is complex.

    Raises:
        ValueError: x is no tensor.
    """
    if meta(tensor(x, "conj", "x")).dtype.is_complex:
        return of_complex("conj", x)
    return _operators.assign(tensor(x, "conj", "x"))


def negative(x: Tensor, name: str | None = None) -> Tensor:
    """-x; see `neg`.

    Raises:
        TypeError: x is bool.
        ValueError: x is no tensor.
    """
    return _operators.neg(signed(x, "negative"))


def positive(x: Tensor, name: str | None = None) -> Tensor:
    """x itself.

    Raises:
        TypeError: x is bool.
        ValueError: x is no tensor.
    """
    return signed(x, "positive")


def signed(x: Tensor, name: str) -> Tensor:
    """A tensor of numbers."""
    if meta(tensor(x, name, "x")).dtype is bool_:
        raise TypeError(f"[{name}] x is bool; want numbers")
    return x


def hypot(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """sqrt(x * x + y * y), element by element, for tensors that broadcast; integers as float32.

    Neither overflows nor underflows on the way: numbers whose squares would are scaled by a power of 2 first.

    Raises:
        TypeError: x or y is no tensor, or the dtypes do not promote to one.
        ValueError: the shapes do not broadcast.
    """
    first, second = meta(of_tensor(x, "hypot")).dtype, meta(of_tensor(y, "hypot", "y")).dtype
    if first.is_complex or second.is_complex:
        return _operators.hypot(x, y)
    if first.is_floating is not second.is_floating:
        sum_dtype = meta(_operators.add(x, y)).dtype  # which is a TypeError where the dtypes do not promote to one
        x, y = _operators.cast(x, sum_dtype), _operators.cast(y, sum_dtype)
    return _operators.hypot(floats(x, "hypot"), floats(y, "hypot"))


def copysign(
    x: Tensor = REQUIRED,
    y: Tensor | Scalar = REQUIRED,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    other: Tensor | Scalar | None = None,
) -> Tensor:
    """|x| with the sign of y, that of a zero or nan too, for tensors that broadcast.

    Args:
        x: a tensor; where it and y are integers the result is one.
        y: a tensor, or a number, which is cast to the dtype of x.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x is no tensor, or the shapes do not broadcast.
    """
    if input is not None or other is not None:
        x = chosen("copysign", "x", x, REQUIRED, "input", input)
        y = chosen("copysign", "y", y, REQUIRED, "other", other)
    number = y.__class__ is float or isinstance(y, Tensor)
    if number and isinstance(x, Tensor) and meta(x).dtype.is_floating:
        return _operators.copysign(x, y)
    known = scalar(y)
    if known is not None:
        if meta(tensor(x, "copysign", "x")).dtype.is_floating:
            return _operators.copysign(x, known[1])
        y = full_0d(x, known[1])
    first, second = meta(tensor(x, "copysign", "x")).dtype, meta(tensor(y, "copysign", "y")).dtype
    if first.is_floating or second.is_floating:
        return _operators.copysign(x, y)
    if first is bool_ and second is bool_:
        return _operators.logical_or(x, _operators.logical_and(x, y))
    turned = _operators.subtract(x, _operators.multiply(x, 2 * _operators.cast(one_negative(x, y), first)))
    return turned


def one_negative(x: Tensor, y: Any) -> Tensor:
    """Whether exactly one of two integers is below zero."""
    result: Tensor = (x < 0) ^ (y < 0)
    return result


def fmax(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The larger of x and y, element by element; of a number and nan the number.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x or y is no tensor, or the shapes do not broadcast.
    """
    floats = meta(tensor(x, "fmax", "x")).dtype.is_floating or meta(tensor(y, "fmax", "y")).dtype.is_floating
    return _operators.fmax(x, y) if floats else _operators.maximum(x, y)


def fmin(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The smaller of x and y, element by element; of a number and nan the number.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x or y is no tensor, or the shapes do not broadcast.
    """
    floats = meta(tensor(x, "fmin", "x")).dtype.is_floating or meta(tensor(y, "fmin", "y")).dtype.is_floating
    return _operators.fmin(x, y) if floats else _operators.minimum(x, y)


def lcm(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """The least common multiple |x / gcd(x, y) * y|, element by element; 0 if x or y is. Products wrap around.

    Args:
        x, y: tensors of one dtype, int32 or int64, that broadcast.

    Raises:
        TypeError: the dtypes differ.
        ValueError: x or y is no tensor, or the shapes do not broadcast.
        UnsupportedError: the tensors are not int32 or int64.
    """
    return _operators.lcm(tensor(x, "lcm", "x"), tensor(y, "lcm", "y"))


def true_divide(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """input / other, element by element; integers are divided as float32, see `divide`.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: the shapes do not broadcast.
    """
    return into(out, divide(input, other))


def frac_(x: Tensor, name: str | None = None) -> Tensor:
    """`frac`, whose result takes the place of x; returns x."""
    return in_place(frac, x)


def ldexp_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`ldexp`, whose result takes the place of x; returns x."""
    return in_place(ldexp, x, y)


def lerp_(x: Tensor, y: Tensor, weight: float | Tensor, name: str | None = None) -> Tensor:
    """`lerp`, whose result takes the place of x; returns x."""
    return in_place(lerp, x, y, weight)


def logit_(x: Tensor, eps: float | Tensor | None = None, name: str | None = None) -> Tensor:
    """`logit`, whose result takes the place of x; returns x."""
    return in_place(logit, x, eps)


def sinc_(x: Tensor, name: str | None = None) -> Tensor:
    """`sinc`, whose result takes the place of x; returns x."""
    return in_place(sinc, x)


def nan_to_num_(
    x: Tensor,
    nan: float | Tensor = 0.0,
    posinf: float | Tensor | None = None,
    neginf: float | Tensor | None = None,
    name: str | None = None,
) -> Tensor:
    """`nan_to_num`, whose result takes the place of x; returns x."""
    return in_place(nan_to_num, x, nan, posinf, neginf)


def hypot_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`hypot`, whose result takes the place of x; returns x."""
    return in_place(hypot, x, y)


def copysign_(x: Tensor, y: Tensor | Scalar, name: str | None = None) -> Tensor:
    """`copysign`, whose result takes the place of x; returns x."""
    return in_place(copysign, x, y, operator=_operators.copysign if isinstance(y, Tensor) else None)


def lcm_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`lcm`, whose result takes the place of x; returns x."""
    return in_place(lcm, x, y)


def scale_(
    x: Tensor,
    scale: float = 1.0,
    bias: float = 0.0,
    bias_after_scale: bool = True,
    act: str | None = None,
    name: str | None = None,
) -> Tensor:
    """`scale`, whose result takes the place of x; returns x."""
    return in_place(_scale, x, scale, bias, bias_after_scale, act)


_scale = scale  # which a parameter of scale_ hides

# Further names of other functions.
eq, ne = _ops.equal, _ops.not_equal
lt, le = _ops.less_than, _ops.less_equal
gt, ge = _ops.greater_than, _ops.greater_equal
greater = _ops.greater_than
mul, mul_ = _ops.multiply, _ops.multiply_
sub, sub_ = subtract, subtract_
div, div_ = divide, divide_
clamp, clamp_ = clip, clip_


class ElementwiseMethods:
    """The functions of this module that are methods of Tensor."""

    __slots__ = ()

    add_n = add_n
    allclose = allclose
    angle = angle
    clamp = clamp
    clamp_ = clamp_
    conj = conj
    copysign = copysign
    copysign_ = copysign_
    deg2rad = deg2rad
    div = div
    div_ = div_
    eq = eq
    equal_all = equal_all
    fmax = fmax
    fmin = fmin
    frac = frac
    frac_ = frac_
    frexp = frexp
    ge = ge
    greater = greater
    gt = gt
    heaviside = heaviside
    hypot = hypot
    hypot_ = hypot_
    increment = increment
    isclose = isclose
    isneginf = isneginf
    isposinf = isposinf
    isreal = isreal
    lcm = lcm
    lcm_ = lcm_
    ldexp = ldexp
    ldexp_ = ldexp_
    le = le
    lerp = lerp
    lerp_ = lerp_
    logit = logit
    logit_ = logit_
    lt = lt
    mul = mul
    mul_ = mul_
    nan_to_num = nan_to_num
    nan_to_num_ = nan_to_num_
    ne = ne
    negative = negative
    rad2deg = rad2deg
    scale = scale
    scale_ = scale_
    sgn = sgn
    signbit = signbit
    sinc = sinc
    sinc_ = sinc_
    stanh = stanh
    sub = sub
    sub_ = sub_
    true_divide = true_divide


__all__ = [
    "add_n", "allclose", "angle", "clamp", "conj", "copysign", "copysign_", "deg2rad", "div", "div_", "divide_", "eq",
    "equal_all", "fmax", "fmin", "frac", "frac_", "frexp", "ge", "greater", "gt", "heaviside", "hypot", "hypot_",
    "increment", "isclose", "isneginf", "isposinf", "isreal", "lcm", "lcm_", "ldexp", "ldexp_", "le", "lerp", "logit",
    "logit_", "lt", "mul", "nan_to_num", "nan_to_num_", "ne", "negative", "positive", "rad2deg", "scale", "sgn",
    "signbit", "sinc", "sinc_", "stanh", "sub", "sub_", "true_divide",
]  # fmt: skip
