"""Operators on elements that Paddle calls in ways of its own."""

from __future__ import annotations

import builtins
import math
import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._creation import full_0d, to_tensor
from .._arrays._indexing import coordinates
from .._calls import _displaced, _grad, _operators
from .._calls._call import computed, into, mixed, renamed
from .._calls._inplace import in_place
from .._core import _place
from .._core._convert import REQUIRED, chosen, index, said, scalar, tensor
from .._core._dtype import DTypeLike
from .._core._objects import Tensor, meta, method
from .._devices import _default_place

if TYPE_CHECKING:
    from .._core._typing import Ints, Scalar


MOST_DECIMALS = 308  # 10.0 to a higher power is infinite


def add(
    x: Tensor = REQUIRED,
    y: Tensor = REQUIRED,
    name: str | None = None,
    *,
    alpha: Scalar = 1,
    out: Tensor | None = None,
    input: Tensor | None = None,
    other: Tensor | None = None,
) -> Tensor:
    """x + alpha * y, element by element, for tensors that broadcast.

    Args:
        x, y: tensors of any dtype; bool is logical or, integers wrap around.
        alpha: a number; its product with y keeps the dtype of y.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x or y is no tensor, or the shapes do not broadcast.
    """
    if input is not None or other is not None:
        x = chosen("add", "x", x, REQUIRED, "input", input)
        y = chosen("add", "y", y, REQUIRED, "other", other)
    x, y = tensor(x, "add", "x"), scaled(y, alpha, "add")
    return _operators.add(x, y) if out is None else computed(out, _operators.add, x, y)


def subtract(
    x: Tensor = REQUIRED,
    y: Tensor = REQUIRED,
    name: str | None = None,
    *,
    alpha: Scalar = 1,
    out: Tensor | None = None,
    input: Tensor | None = None,
    other: Tensor | None = None,
) -> Tensor:
    """x - alpha * y, element by element; see `add`. There is no difference of bools."""
    if input is not None or other is not None:
        x = chosen("subtract", "x", x, REQUIRED, "input", input)
        y = chosen("subtract", "y", y, REQUIRED, "other", other)
    x, y = tensor(x, "subtract", "x"), scaled(y, alpha, "subtract")
    return _operators.subtract(x, y) if out is None else computed(out, _operators.subtract, x, y)


def scaled(y: Any, alpha: Scalar, name: str) -> Tensor:
    """alpha * y in the dtype of y."""
    given = tensor(y, name, "y")
    if type(alpha) is not int and not isinstance(alpha, (numbers.Number, np.ndarray, Tensor)):
        raise TypeError(f"[{name}] alpha is {said(alpha)}; want a number")
    return given if alpha == 1 else cast(mixed(_operators.multiply_expression, given, alpha), meta(given).dtype)


def divide(
    x: Tensor = REQUIRED,
    y: Tensor = REQUIRED,
    name: str | None = None,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
    input: Tensor | None = None,
    other: Tensor | None = None,
) -> Tensor:
    """x / y, element by element, for tensors that broadcast; integers are divided as float32.

    Args:
        rounding_mode: "floor" rounds the quotient down and "trunc" towards zero, in the dtype of
            the operands; None: the true quotient.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x or y is no tensor, the shapes do not broadcast, or there is no such mode.
        IntegerDivisionError: a rounded quotient of integers by zero.
    """
    if input is not None or other is not None:
        x = chosen("divide", "x", x, REQUIRED, "input", input)
        y = chosen("divide", "y", y, REQUIRED, "other", other)
    x, y = tensor(x, "divide", "x"), tensor(y, "divide", "y")
    if rounding_mode is None:
        return _operators.divide(x, y) if out is None else computed(out, _operators.divide, x, y)
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"[divide] rounding_mode is {rounding_mode!r}; want None, 'floor' or 'trunc'")
    quotient = _operators.floor_divide(x, y)
    if rounding_mode == "trunc":
        quotient = truncated(x, y, quotient)
    return into(out, quotient)


def truncated(x: Tensor, y: Tensor, floor: Tensor) -> Tensor:
    """The quotient rounded towards zero, from the one rounded down."""
    if meta(floor).dtype.is_floating:
        return _operators.trunc(_operators.divide(x, y))
    inexact_below_zero = ((x % y) != 0) & (floor < 0)
    adjusted: Tensor = floor + inexact_below_zero.cast(meta(floor).dtype)
    return adjusted


def pow(
    x: Tensor = REQUIRED,
    y: Tensor | Scalar = REQUIRED,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
    exponent: Tensor | Scalar | None = None,
) -> Tensor:
    """x ** y, element by element.

    Args:
        y: a tensor, or a number; for an integer x a fraction of the number is dropped, as in
            Paddle, where the operator ** gives float32.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one, or y is no number.
        ValueError: x is no tensor, or an integer is raised to a negative power.
    """
    if input is not None or exponent is not None:
        x = chosen("pow", "x", x, REQUIRED, "input", input)
        y = chosen("pow", "y", y, REQUIRED, "exponent", exponent)
    if out is None and isinstance(x, Tensor) and isinstance(y, Tensor):  # the case whose nanoseconds count
        return _operators.pow_expression(x, y)
    if out is None and (y.__class__ is float or y.__class__ is int) and isinstance(x, Tensor):
        m = meta(x)
        if m.dtype.is_floating:
            return _operators.pow_expression(x, y)
    x = tensor(x, "pow", "x")
    if y is REQUIRED:
        raise TypeError("pow() missing a required argument: 'y'")
    known = scalar(y)
    if known is not None and meta(x).dtype.is_integer:
        y = int(known[1])
    result: Any = mixed(_operators.pow_expression, x, y)
    if result is NotImplemented:
        raise TypeError(f"[pow] y is {type(y).__name__}; want a Tensor or a number")
    return into(out, result)


@renamed(input="x")
def round(x: Tensor, decimals: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """x rounded to a number of decimals, halves to the even neighbour.

    Args:
        decimals: may be negative: round([1234.5], -2) is [1200.].
    """
    if decimals == 0:
        return _operators.round(x) if out is None else computed(out, _operators.round, x)
    places = index("decimals", decimals)
    factor = 10.0**places if places <= MOST_DECIMALS else math.inf
    if _grad.asks(x):  # the gradient is 0, also where the factor overflows
        with _grad.no_grad():
            nearest = cast(_operators.round(x * factor) / factor, meta(x).dtype)
        return into(out, _operators.where(full_0d(x, 1).astype("bool"), nearest, _operators.round(x)))
    return into(out, cast(_operators.round(x * factor) / factor, meta(x).dtype))


def add_(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1) -> Tensor:
    """`add`, whose result takes the place of x; returns x."""
    return in_place(add, x, scaled(y, alpha, "add_"), operator=_operators.add)


def subtract_(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1) -> Tensor:
    """`subtract`, whose result takes the place of x; returns x."""
    return in_place(subtract, x, scaled(y, alpha, "subtract_"), operator=_operators.subtract)


def divide_(x: Tensor, y: Tensor, name: str | None = None, *, rounding_mode: str | None = None) -> Tensor:
    """`divide`, whose result takes the place of x; returns x."""
    if rounding_mode is not None:
        return in_place(divided, x, y, rounding_mode)
    return in_place(divide, x, tensor(y, "divide_", "y"), operator=_operators.divide)


def divided(x: Tensor, y: Tensor, rounding_mode: str) -> Tensor:
    return divide(x, y, rounding_mode=rounding_mode)


divided.__name__ = "divide"


def trunc(
    input: Tensor = REQUIRED, name: str | None = None, *, out: Tensor | None = None, x: Tensor | None = None
) -> Tensor:
    """The elements without their fractions, in the same dtype.

    Args:
        input: a tensor of any dtype but bool; x= is another name for it.
        out: takes the result and is returned.

    Raises:
        ValueError: input is no tensor.
        UnsupportedError: input is bool.
    """
    if x is not None:
        input = chosen("trunc", "input", input, REQUIRED, "x", x)
    return _operators.trunc(input) if out is None else computed(out, _operators.trunc, input)


@renamed(x="input")
def trunc_(input: Tensor, name: str | None = None) -> Tensor:
    """`trunc`, whose result takes the place of the input; returns the input."""
    return in_place(trunc, input, operator=_operators.trunc)


def bitwise_left_shift(
    x: Tensor = REQUIRED,
    y: Tensor | Scalar = REQUIRED,
    is_arithmetic: bool = True,
    out: Tensor | None = None,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    other: Tensor | Scalar | None = None,
) -> Tensor:
    """x * 2 ** y, wrapped around; 0 when y is negative or not below the number of bits.

    Args:
        x, y: tensors of integer dtypes that broadcast; y may be an int.
        is_arithmetic: both shifts to the left are the same.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x is no tensor, or the shapes do not broadcast.
        UnsupportedError: a dtype is not an integer one.
    """
    if input is not None or other is not None:
        x = chosen("bitwise_left_shift", "x", x, REQUIRED, "input", input)
        y = chosen("bitwise_left_shift", "y", y, REQUIRED, "other", other)
    return _operators.bitwise_left_shift(x, y) if out is None else computed(out, _operators.bitwise_left_shift, x, y)


def bitwise_right_shift(
    x: Tensor = REQUIRED,
    y: Tensor | Scalar = REQUIRED,
    is_arithmetic: bool = True,
    out: Tensor | None = None,
    name: str | None = None,
    *,
    input: Tensor | None = None,
    other: Tensor | Scalar | None = None,
) -> Tensor:
    """The bits of x moved y places to the right.

    Args:
        x, y: tensors of integer dtypes that broadcast; y may be an int. Any y that is negative or not below
            the number of bits counts as the largest shift: it leaves copies of what comes in from the left.
        is_arithmetic: True for floor(x / 2 ** y): copies of the sign come in from the left; False for zeros.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x is no tensor, or the shapes do not broadcast.
        UnsupportedError: a dtype is not an integer one.
    """
    if input is not None or other is not None:
        x = chosen("bitwise_right_shift", "x", x, REQUIRED, "input", input)
        y = chosen("bitwise_right_shift", "y", y, REQUIRED, "other", other)
    result = _operators.bitwise_right_shift(x, y)
    if not is_arithmetic:
        result = without_signs(result, y)
    return result if out is None else into(out, result)


def without_signs(shifted: Tensor, y: Tensor | Scalar) -> Tensor:
    """What an arithmetic shift to the right by y has made, with zeros for the copies of the sign."""
    bits = meta(shifted).dtype.itemsize * 8
    places = y if isinstance(y, Tensor) else full_0d(shifted, y)
    # The low bits - y ones. For y = 0 the shift is by all bits, which leaves 0, and the mask keeps everything.
    kept = _operators.bitwise_not(_operators.bitwise_left_shift(full_0d(shifted, -1), bits - places))
    within = _operators.bitwise_and(places >= 0, places < bits)
    return _operators.where(within, _operators.bitwise_and(shifted, kept), full_0d(shifted, 0))


def bitwise_left_shift_(
    x: Tensor, y: Tensor | Scalar, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None
) -> Tensor:
    """`bitwise_left_shift`, whose result takes the place of x; returns x."""
    return into(out, in_place(bitwise_left_shift, x, y, operator=_operators.bitwise_left_shift))


def bitwise_right_shift_(
    x: Tensor, y: Tensor | Scalar, is_arithmetic: bool = True, out: Tensor | None = None, name: str | None = None
) -> Tensor:
    """`bitwise_right_shift`, whose result takes the place of x; returns x."""
    if is_arithmetic:
        return into(out, in_place(bitwise_right_shift, x, y, operator=_operators.bitwise_right_shift))
    return into(out, in_place(bitwise_right_shift, x, y, False))


def pow_(x: Tensor, y: Scalar, name: str | None = None) -> Tensor:
    """`pow`, whose result takes the place of x; returns x."""
    return in_place(pow, x, y, operator=_operators.pow)


def round_(x: Tensor, decimals: int = 0, name: str | None = None) -> Tensor:
    """`round`, whose result takes the place of x; returns x."""
    if decimals == 0:
        return in_place(round, x, operator=_operators.round)
    return in_place(round, x, decimals)


def sum(
    x: Tensor = REQUIRED,
    axis: Ints | None = None,
    dtype: DTypeLike | bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
    dim: Ints | None = None,
) -> Tensor:
    """The sum of elements; bool and int32 add up in int64, nothing to 0.

    Args:
        axis: an axis, several, or None for all.
        dtype: x is cast to it first. A bool in its place is keepdim, as in sum(x, 0, True).
        keepdim: keep reduced axes with one element.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    if input is not None or dim is not None:
        x = chosen("sum", "x", x, REQUIRED, "input", input)
        axis = chosen("sum", "axis", axis, None, "dim", dim)
    if isinstance(dtype, bool):
        keepdim, dtype = dtype, None
    result = _operators.sum(x, axis, dtype, keepdim)
    return result if out is None else into(out, result)


def mean(
    x: Tensor = REQUIRED,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
    input: Tensor | None = None,
    dim: Ints | None = None,
) -> Tensor:
    """The arithmetic mean of elements, in the dtype of x; nan of nothing.

    Args:
        axis: an axis, several, or None for all.
        keepdim: keep reduced axes with one element.
        dtype: x is cast to it first.
        out: takes the result and is returned.

    Raises:
        ValueError: x is no tensor, or an axis is out of range or stands twice.
    """
    if input is not None or dim is not None:
        x = chosen("mean", "x", x, REQUIRED, "input", input)
        axis = chosen("mean", "axis", axis, None, "dim", dim)
    result = _operators.mean(x if dtype is None else cast(x, dtype), axis, keepdim)
    return result if out is None else into(out, result)


def softmax(
    input: Tensor, dim: int | None = None, dtype: DTypeLike | None = None, *, out: Tensor | None = None
) -> Tensor:
    """exp(x - max(x)) / sum(exp(x - max(x))) along an axis; `paddle.nn.functional.softmax` has another default axis.

    Args:
        dim: the axis along which the results add up to 1; None: the first of tensors of 0, 1 or 3 dimensions, else the
            second, as in PyTorch.
        dtype: input is cast to it first.
        out: takes the result and is returned.

    Raises:
        ValueError: input is no tensor, or the axis is out of range.
        UnsupportedError: the dtype is no floating-point dtype.
    """
    x = tensor(input, "softmax", "input")
    if dim is None:
        dim = 0 if len(meta(x).shape) in (0, 1, 3) else 1
    return into(out, _operators.softmax(x if dtype is None else cast(x, dtype), dim))


def where(
    condition: Tensor,
    x: Tensor | Scalar | None = None,
    y: Tensor | Scalar | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | Scalar | None = None,
    other: Tensor | Scalar | None = None,
) -> Any:
    """x where condition holds and y elsewhere; without x and y, where it holds.

    Args:
        condition: a bool tensor.
        x, y: tensors or numbers of one dtype, or of two floating-point ones; an int counts as
            int64 and a float as float32.
        out: takes the result and is returned.

    Returns:
        A tensor of the shape that all three broadcast to; without x and y, a tuple of one int64
        tensor of indices an axis.

    Raises:
        TypeError: the dtypes of x and y differ.
        ValueError: condition is no bool tensor, or only one of x and y is given.
    """
    if input is not None or other is not None:
        x = chosen("where", "x", x, None, "input", input)
        y = chosen("where", "y", y, None, "other", other)
    if x is None and y is None:
        return tuple(coordinates(tensor(condition, "where", "condition")))
    if x is None or y is None:
        raise ValueError("[where] got one of x and y; want both or neither")
    result = _operators.where(condition, x, y)
    return result if out is None else into(out, result)


def clip(
    x: Tensor = REQUIRED,
    min: Scalar | Tensor | None = None,
    max: Scalar | Tensor | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
    input: Tensor | None = None,
) -> Tensor:
    """x with elements below min raised to min and elements above max lowered to max; nan stays.

    Args:
        min, max: numbers, or tensors of one element; None for no bound. A float bound makes
            integers float32.
        out: takes the result and is returned.

    Raises:
        ValueError: min is above max, or a bound is a tensor of several elements.
    """
    if input is not None:
        x = chosen("clip", "x", x, REQUIRED, "input", input)
    low, high = bounds("clip", min, max)
    result = _operators.clip(x, low, high)
    return result if out is None else into(out, result)


def bounds(function: str, min: Any, max: Any) -> tuple[Any, Any]:
    """The bounds of clip as 0-d tensors or numbers.

    Raises:
        ValueError: one has other than one element, or both are numbers, and the lower one is larger.
    """
    low, high = single(function, "min", min), single(function, "max", max)
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and not low <= high:
        raise ValueError(f"[{function}] min is {min} and max {max}; want min up to max")
    return low, high


def single(function: str, name: str, bound: Any) -> Any:
    """A bound as a 0-d tensor or a number."""
    if bound is None or bound.__class__ is float or bound.__class__ is int:
        return bound
    if not hasattr(bound, "reshape") or isinstance(bound, np.generic):
        return bound
    if bound.size != 1:
        raise ValueError(f"[{function}] {name} has {bound.size} elements; want one")
    return bound.reshape([])


def clip_(
    x: Tensor, min: Scalar | Tensor | None = None, max: Scalar | Tensor | None = None, name: str | None = None
) -> Tensor:
    """`clip`, whose result takes the place of x; returns x.

    The bounds of integers lose their fractions, as in Paddle.
    """
    mine = tensor(x, "clip_", "x")
    low, high = bounds("clip_", bound_like(mine, "min", min), bound_like(mine, "max", max))
    return in_place(clip, mine, low, high, operator=_operators.clip)


def bound_like(x: Tensor, name: str, bound: Any) -> Any:
    """A bound that does not change the dtype of x."""
    if bound is not None and not isinstance(bound, Tensor) and scalar(bound) is None:
        raise TypeError(f"[clip_] {name} is {type(bound).__name__}; want a number or a Tensor")
    if bound is None or not meta(x).dtype.is_integer:
        return bound
    if isinstance(bound, Tensor):
        return cast(bound, meta(x).dtype)
    return full_0d(x, bound)  # out of range it becomes the nearest number that there is


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """A copy of x in another dtype, or in its own.

    Floats become integers by dropping the fraction; what is out of range becomes the nearest
    integer that there is, nan becomes 0. Integers wrap around.

    A tensor that is on the CPU because the GPU lacks its dtype goes to the GPU with a dtype that this has, and one of the GPU to
    the CPU with one that it lacks.

    Raises:
        TypeError: there is no such dtype.
        ValueError: x is no tensor.
    """
    made = _operators.cast(x, dtype)
    return _displaced.followed(made) if _default_place.displacing else made


def cast_(x: Tensor, dtype: DTypeLike) -> Tensor:
    """`cast`, whose result takes the place of x; returns x."""
    return in_place(cast, x, dtype)


def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A contiguous copy of x, in output if that is given.

    Arrays, lists and numbers become tensors, and a number one of shape [1], as in Paddle. Floats of Python become
    float64 on the CPU; mps devices have none, so that they are of the default dtype there. Complex numbers become
    complex128.
    """
    if isinstance(x, Tensor):
        return into(output, _operators.assign(x))
    wide = has_floats(x) and _place.current().kind == _place.CPU
    given = to_tensor(x, dtype="complex128" if has_complex(x) else "float64" if wide else None)
    return into(output, given.reshape([1]) if isinstance(x, (bool, int, float, complex, np.generic)) else given)


def has_complex(x: Any) -> bool:
    """Whether these are Python's own numbers, and some of them complex."""
    if isinstance(x, (list, tuple)):
        return builtins.any(map(has_complex, x))
    return isinstance(x, complex)


def has_floats(x: Any) -> bool:
    """Whether these are Python's own numbers, and not all of them whole."""
    if isinstance(x, (list, tuple)):
        return not x or builtins.any(map(has_floats, x))
    return isinstance(x, float) and not isinstance(x, np.generic)


class ArithmeticMethods:
    """These functions as methods of tensors."""

    __slots__ = ()

    add = method(add)
    add_ = method(add_)
    bitwise_left_shift = method(bitwise_left_shift)
    bitwise_left_shift_ = method(bitwise_left_shift_)
    bitwise_right_shift = method(bitwise_right_shift)
    bitwise_right_shift_ = method(bitwise_right_shift_)
    cast = method(cast)
    cast_ = method(cast_)
    clip = method(clip)
    clip_ = method(clip_)
    divide = method(divide)
    divide_ = method(divide_)
    mean = method(mean)
    pow = method(pow)
    pow_ = method(pow_)
    round = method(round)
    round_ = method(round_)
    softmax = method(softmax)
    subtract = method(subtract)
    subtract_ = method(subtract_)
    sum = method(sum)
    trunc = method(trunc)
    trunc_ = method(trunc_)
    where = method(where)
