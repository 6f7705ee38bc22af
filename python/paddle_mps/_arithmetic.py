"""Operators on elements that Paddle calls in ways of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _ids
from ._call import (
    binary,
    call,
    deliver,
    either,
    element_type,
    flag,
    index,
    integers,
    meta,
    renamed,
    scalar,
    tensor,
    two,
    unary,
)
from ._dtype import DTypeLike
from ._indexing import coordinates
from ._inplace import in_place

if TYPE_CHECKING:
    from ._tensor import Tensor
    from ._typing import Ints, Scalar


@renamed(input="x", other="y")
def add(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1, out: Tensor | None = None) -> Tensor:
    """x + alpha * y, element by element, for tensors that broadcast.

    Args:
        x, y: tensors of any dtype; bool is logical or, integers wrap around.
        alpha: a number; its product with y keeps the dtype of y.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one.
        ValueError: x or y is no tensor, or the shapes do not broadcast.
    """
    return deliver(two(_ids.ADD, tensor(x, "add", "x"), scaled(y, alpha, "add")), out)


@renamed(input="x", other="y")
def subtract(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1, out: Tensor | None = None) -> Tensor:
    """x - alpha * y, element by element; see `add`. There is no difference of bools."""
    return deliver(two(_ids.SUBTRACT, tensor(x, "subtract", "x"), scaled(y, alpha, "subtract")), out)


def scaled(y: Any, alpha: Scalar, name: str) -> Tensor:
    """alpha * y in the dtype of y."""
    given = tensor(y, name, "y")
    return given if alpha == 1 else cast(binary(_ids.MULTIPLY, given, alpha), meta(given).dtype)


@renamed(input="x", other="y")
def divide(
    x: Tensor,
    y: Tensor,
    name: str | None = None,
    *,
    rounding_mode: str | None = None,
    out: Tensor | None = None,
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
    x, y = tensor(x, "divide", "x"), tensor(y, "divide", "y")
    if rounding_mode is None:
        return deliver(two(_ids.DIVIDE, x, y), out)
    if rounding_mode not in ("floor", "trunc"):
        raise ValueError(f"[divide] rounding_mode is {rounding_mode!r}; want None, 'floor' or 'trunc'")
    quotient = two(_ids.FLOOR_DIVIDE, x, y)
    if rounding_mode == "trunc":
        quotient = truncated(x, y, quotient)
    return deliver(quotient, out)


def truncated(x: Tensor, y: Tensor, floor: Tensor) -> Tensor:
    """The quotient rounded towards zero, from the one rounded down."""
    if meta(floor).dtype.is_floating:
        return unary(_ids.TRUNC, two(_ids.DIVIDE, x, y))
    inexact_below_zero = ((x % y) != 0) & (floor < 0)
    adjusted: Tensor = floor + inexact_below_zero.cast(meta(floor).dtype)
    return adjusted


@renamed(input="x", exponent="y")
def pow(x: Tensor, y: Tensor | Scalar, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """x ** y, element by element.

    Args:
        y: a tensor, or a number; for an integer x a fraction of the number is dropped, as in
            Paddle, where the operator ** gives float32.
        out: takes the result and is returned.

    Raises:
        TypeError: the dtypes do not promote to one, or y is no number.
        ValueError: x is no tensor, or an integer is raised to a negative power.
    """
    x = tensor(x, "pow", "x")
    known = scalar(y)
    if known is not None and meta(x).dtype.is_integer:
        y = int(known[1])
    result: Any = binary(_ids.POW, x, y)
    if result is NotImplemented:
        raise TypeError(f"[pow] y is {type(y).__name__}; want a Tensor or a number")
    return deliver(result, out)


@renamed(input="x")
def round(x: Tensor, decimals: int = 0, name: str | None = None, *, out: Tensor | None = None) -> Tensor:
    """x rounded to a number of decimals, halves to the even neighbour.

    Args:
        decimals: may be negative: round([1234.5], -2) is [1200.].
    """
    if decimals == 0:
        return unary(_ids.ROUND, x, out)
    factor = 10.0 ** index("decimals", decimals)
    return deliver(cast(unary(_ids.ROUND, x * factor) / factor, meta(x).dtype), out)


def add_(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1) -> Tensor:
    """`add`, whose result takes the place of x; returns x."""
    return in_place(add, x, scaled(y, alpha, "add_"))


def subtract_(x: Tensor, y: Tensor, name: str | None = None, *, alpha: Scalar = 1) -> Tensor:
    """`subtract`, whose result takes the place of x; returns x."""
    return in_place(subtract, x, scaled(y, alpha, "subtract_"))


def divide_(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """`divide`, whose result takes the place of x; returns x."""
    return in_place(divide, x, y)


def pow_(x: Tensor, y: Scalar, name: str | None = None) -> Tensor:
    """`pow`, whose result takes the place of x; returns x."""
    return in_place(pow, x, y)


def round_(x: Tensor, decimals: int = 0, name: str | None = None) -> Tensor:
    """`round`, whose result takes the place of x; returns x."""
    return in_place(round, x, decimals)


@renamed(input="x", dim="axis")
def sum(
    x: Tensor,
    axis: Ints | None = None,
    dtype: DTypeLike | bool | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
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
    if isinstance(dtype, bool):
        keepdim, dtype = dtype, None
    attributes = integers("axis", axis), element_type("dtype", dtype), flag("keepdim", keepdim)
    return call(_ids.SUM, (tensor(x, "sum", "x"),), attributes, out)


@renamed(input="x", dim="axis")
def mean(
    x: Tensor,
    axis: Ints | None = None,
    keepdim: bool = False,
    name: str | None = None,
    *,
    dtype: DTypeLike | None = None,
    out: Tensor | None = None,
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
    given = tensor(x, "mean", "x") if dtype is None else cast(x, dtype)
    return call(_ids.MEAN, (given,), (integers("axis", axis), flag("keepdim", keepdim)), out)


@renamed(input="x", other="y")
def where(
    condition: Tensor,
    x: Tensor | Scalar | None = None,
    y: Tensor | Scalar | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
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
    condition = tensor(condition, "where", "condition")
    if x is None and y is None:
        return tuple(coordinates(condition))
    if x is None or y is None:
        raise ValueError("[where] got one of x and y; want both or neither")
    return call(_ids.WHERE, (condition, x, y), (), out)


@renamed(input="x")
def clip(
    x: Tensor,
    min: Scalar | Tensor | None = None,
    max: Scalar | Tensor | None = None,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """x with elements below min raised to min and elements above max lowered to max; nan stays.

    Args:
        min, max: numbers, or tensors of one element; None for no bound. A float bound makes
            integers float32.
        out: takes the result and is returned.

    Raises:
        ValueError: min is above max, or a bound is a tensor of several elements.
    """
    bounds = [single(b) for b in (min, max)]
    if all(isinstance(b, (int, float)) for b in bounds) and not bounds[0] <= bounds[1]:
        raise ValueError(f"[clip] min is {min} and max {max}; want min up to max")
    return call(_ids.CLIP, (tensor(x, "clip", "x"), *bounds), (), out)


def single(bound: Any) -> Any:
    """A bound as a 0-d tensor or a number."""
    if not hasattr(bound, "reshape") or isinstance(bound, np.generic):
        return bound
    if bound.size != 1:
        raise ValueError(f"[clip] a bound has {bound.size} elements; want one")
    return bound.reshape([])


def clip_(
    x: Tensor, min: Scalar | Tensor | None = None, max: Scalar | Tensor | None = None, name: str | None = None
) -> Tensor:
    """`clip`, whose result takes the place of x; returns x."""
    return in_place(clip, x, min, max)


def cast(x: Tensor, dtype: DTypeLike) -> Tensor:
    """A copy of x in another dtype, or in its own.

    Floats become integers by dropping the fraction; what is out of range becomes the nearest
    integer that there is, nan becomes 0. Integers wrap around.

    Raises:
        TypeError: there is no such dtype.
        ValueError: x is no tensor.
    """
    return call(_ids.CAST, (tensor(x, "cast", "x"),), (element_type("dtype", dtype),))


def cast_(x: Tensor, dtype: DTypeLike) -> Tensor:
    """`cast`, whose result takes the place of x; returns x."""
    return in_place(cast, x, dtype)


def assign(x: Any, output: Tensor | None = None) -> Tensor:
    """A contiguous copy of x, in output if that is given; arrays and lists become tensors."""
    from ._creation import to_tensor  # creation needs this module

    if not hasattr(x, "_h"):
        x = to_tensor(x)
    return call(_ids.ASSIGN, (x,), (), output)


def masked_fill(x: Tensor, mask: Tensor, value: Scalar | Tensor, name: str | None = None) -> Tensor:
    """x with value where mask holds."""
    given: Any = value if hasattr(value, "_h") else full_0d(x, value)
    return call(_ids.WHERE, (tensor(mask, "masked_fill", "mask"), cast(given, meta(x).dtype), x))


def masked_fill_(x: Tensor, mask: Tensor, value: Scalar | Tensor, name: str | None = None) -> Tensor:
    """`masked_fill`, whose result takes the place of x; returns x."""
    return in_place(masked_fill, x, mask, value)


def full_0d(x: Tensor, value: Any) -> Tensor:
    """A 0-d tensor of a number, in the dtype and place of x."""
    attributes = integers("shape", []), either("fill_value", value), element_type("dtype", meta(x).dtype)
    return call(_ids.FULL, (), attributes, None, meta(x).place.word)
