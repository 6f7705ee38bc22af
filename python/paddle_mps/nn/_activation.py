"""Activation functions that are made of operators of the table.

Halves are computed in float32 and rounded once at the end. Other dtypes than floating-point ones are refused with
an UnsupportedError: Paddle has no kernels for them.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import numpy as np

from .. import _grad, _operators
from .._array import split
from .._call import renamed
from .._caller import axes_text
from .._convert import axis_of, index, real, tensor
from .._creation import full_0d
from .._dtype import float32
from .._elementwise import alike, in_single, of_floats
from .._errors import errors_of
from .._inplace import in_place
from .._objects import Tensor, meta
from .._ops import leaky_relu
from .._sampling import uniform

if TYPE_CHECKING:
    from .._typing import Scalar

Function = TypeVar("Function", bound=Callable[..., Any])


def activation(function: Function) -> Function:
    """Checks that the first operand is floating-point, and computes 16 bits in float32."""
    computed = errors_of("full", "less_than", "greater_than", "multiply", "divide")(in_single(function))

    @functools.wraps(function)
    def wrapper(x: Any, *arguments: Any, **options: Any) -> Any:
        return computed(of_floats(x, function.__name__), *arguments, **options)

    return wrapper  # type: ignore[return-value]


def clipped(x: Tensor, low: float, high: float) -> Tensor:
    """x between two numbers; nan stays, and so does the sign of a zero that is one of them."""
    # Of zeros with different signs, clip keeps that of x on the CPU only.
    if low <= high and meta(x).place.is_cpu_place() and not _grad.asks(x):
        return _operators.clip(x, low, high)
    above = _operators.where(x > high, full_0d(x, high), x)
    return inside(x, low, high, _operators.where(x < low, full_0d(x, low), above))


def inside(x: Tensor, low: float, high: float, clipped: Tensor) -> Tensor:
    """x clipped to two numbers, whose gradient at both of them is 0, as in Paddle."""
    if not _grad.asks(x):
        return clipped
    return _operators.where(_operators.logical_and(x > low, x < high), x, clipped.detach())


@activation
def elu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """x above 0, alpha * (exp(x) - 1) elsewhere.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    real("elu", "alpha", alpha, False)
    bent = _operators.expm1(_operators.clip(x, None, 0.0))
    return _operators.where(x > 0, x, bent if alpha == 1 else bent * full_0d(x, alpha))


@activation
def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
        ZeroDivisionError: alpha is 0.
    """
    if real("celu", "alpha", alpha) == 0:
        raise ZeroDivisionError("[celu] alpha is 0; want another number")
    zero = full_0d(x, 0)
    bent = _operators.expm1(x / alpha) * alpha
    if _grad.asks(x):
        bent = _operators.where(x == 0, zero, bent)  # one of the two terms has the gradient at 0
    positive, negative = _operators.where(x < 0, zero, x), _operators.where(bent > 0, zero, bent)
    result: Tensor = positive + negative
    return result


@activation
def selu(
    x: Tensor,
    scale: float = 1.0507009873554804934193349852946,
    alpha: float = 1.6732632423543772848170429916717,
    name: str | None = None,
) -> Tensor:
    """scale * x above 0, scale * alpha * (exp(x) - 1) elsewhere. As in Paddle, both factors are rounded to float32.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, scale is not above 1, or alpha is below 0.
    """
    if real("selu", "scale", scale) <= 1.0:
        raise ValueError(f"[selu] scale is {scale}; want more than 1")
    if real("selu", "alpha", alpha) < 0:
        raise ValueError(f"[selu] alpha is {alpha}; want at least 0")
    bent = _operators.expm1(_operators.clip(x, None, 0.0)) * float(np.float32(alpha))
    result: Tensor = _operators.where(x > 0, x, bent) * float(np.float32(scale))
    return result


@renamed(input="x")
@activation
def relu6(x: Tensor, name: str | None = None) -> Tensor:
    """min(max(x, 0), 6).

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    return clipped(x, 0.0, 6.0)


@activation
def hardtanh(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """x with elements below min raised to min and elements above max lowered to max; nan stays.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    real("hardtanh", "min", min, False), real("hardtanh", "max", max, False)
    if isinstance(min, (int, float)) and isinstance(max, (int, float)) and min <= max:
        return clipped(x, min, max)
    raised = _operators.where(x < min, full_0d(x, min), x)
    return inside(x, min, max, _operators.where(raised > max, full_0d(x, max), raised))


@activation
def hardsigmoid(x: Tensor, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Tensor:
    """slope * x + offset between 0 and 1. As in Paddle, both numbers are rounded to float32.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    real("hardsigmoid", "slope", slope), real("hardsigmoid", "offset", offset)
    return clipped(x * float(np.float32(slope)) + float(np.float32(offset)), 0.0, 1.0)


@activation
def hardswish(x: Tensor, name: str | None = None) -> Tensor:
    """x * min(max(x + 3, 0), 6) / 6.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    result: Tensor = x * clipped(x + 3.0, 0.0, 6.0) / 6.0
    return result


@activation
def hardshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x where x <= -threshold or x >= threshold, 0 with the sign of x elsewhere.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    real("hardshrink", "threshold", threshold)
    kept = (x <= -threshold) | (x >= threshold) | _operators.isnan(x)
    return _operators.where(kept, x, x * 0)


@activation
def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved towards 0 by threshold, and 0 where |x| is not above it.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, or threshold is below 0.
    """
    if real("softshrink", "threshold", threshold) < 0:
        raise ValueError(f"[softshrink] threshold is {threshold}; want at least 0")
    small = _operators.where((x >= -threshold) & (x <= threshold), full_0d(x, 0), x)
    lowered = _operators.where(x > threshold, x - threshold, small)
    return _operators.where(x < -threshold, x + threshold, lowered)


@activation
def softsign(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + |x|); nan for infinities.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    result: Tensor = x / (_operators.abs(x) + 1.0)
    return result


@activation
def tanhshrink(x: Tensor, name: str | None = None) -> Tensor:
    """x - tanh(x). Near 0 the difference cancels: the error is some units in the last place of x.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    result: Tensor = x - _operators.tanh(x)
    return result


@activation
def thresholded_relu(x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """x above threshold, value elsewhere.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    real("thresholded_relu", "threshold", threshold), real("thresholded_relu", "value", value, False)
    return _operators.where(x <= threshold, full_0d(x, value), x)


@activation
def log_sigmoid(x: Tensor, name: str | None = None) -> Tensor:
    """log(1 / (1 + exp(-x))), without overflow: -softplus(-x), which is x itself to the last digit below -40.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    return -_operators.softplus(-x, 1.0, 40.0)


@activation
def mish(x: Tensor, name: str | None = None) -> Tensor:
    """x * tanh(log(1 + exp(x))).

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    result: Tensor = x * _operators.tanh(_operators.softplus(x, 1.0, 20.0))
    return result


def swish(x: Tensor, name: str | None = None) -> Tensor:
    """x / (1 + exp(-x)), which is `silu` of floating-point tensors.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
    """
    return _operators.silu(of_floats(x, "swish"))


CHANNELS_FIRST, CHANNELS_LAST = ("NC", "NCL", "NCHW", "NCDHW"), ("NLC", "NHWC", "NDHWC")


def prelu(x: Tensor, weight: Tensor, data_format: str = "NCHW", name: str | None = None) -> Tensor:
    """x above 0, weight * x elsewhere.

    Args:
        x: a floating-point tensor.
        weight: a tensor of the dtype of x, of one element, or of one a channel of x.
        data_format: says whether the channels are axis 1 ("NC", "NCL", "NCHW", "NCDHW") or the last ("NLC", "NHWC",
            "NDHWC").

    Raises:
        AssertionError: weight does not fit x.
        UnsupportedError: x is not floating-point.
        ValueError: x or weight is no tensor, the dtypes differ, or there is no such format.
    """
    alike(of_floats(x, "prelu"), tensor(weight, "prelu", "weight"), "prelu")
    slopes, known = meta(weight).shape, meta(x)
    if len(slopes) > 1:
        raise AssertionError(f"[prelu] weight has {axes_text(len(slopes))}; want at most 1")
    if slopes not in ((), (1,)):
        if data_format not in CHANNELS_FIRST + CHANNELS_LAST:
            raise ValueError(f"[prelu] data_format is {data_format!r}; want {CHANNELS_FIRST + CHANNELS_LAST}")
        if len(known.shape) < 2:
            raise AssertionError(f"[prelu] x has {axes_text(len(known.shape))}; want at least 2")
        axis = 1 if data_format in CHANNELS_FIRST else len(known.shape) - 1
        if slopes[0] != known.shape[axis]:
            raise AssertionError(f"[prelu] weight has {slopes[0]} elements; want 1 or {known.shape[axis]}")
        weight = weight.reshape([-1 if i == axis else 1 for i in range(len(known.shape))])
    else:
        weight = weight.reshape([])
    return _operators.where(x > 0, x, _operators.multiply(x, weight))


def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """a * sigmoid(b) for the two halves a and b of x along an axis.

    Raises:
        TypeError: x is not floating-point.
        ValueError: x is no tensor, the axis is out of range, or its size is odd.
    """
    axis = axis_of("glu", axis, len(meta(tensor(x, "glu", "x")).shape))
    if not meta(x).dtype.is_floating:
        raise TypeError(f"[glu] x is {meta(x).dtype.name}; want a floating-point tensor")
    a, b = split(x, 2, axis)
    return gated(a, b, _operators.sigmoid)


def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """silu(x) * y; without y, of the two halves of x along the last axis.

    Args:
        x, y: floating-point tensors of one shape and one dtype.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x or y is no tensor, the shapes or dtypes differ, or the last axis has an odd size.
    """
    of_floats(x, "swiglu")
    if y is None:
        x, y = split(x, 2, -1)
    alike(x, y, "swiglu")
    if meta(x).shape != meta(y).shape:
        raise ValueError(f"[swiglu] x is {list(meta(x).shape)} and y {list(meta(y).shape)}; want one shape")
    return gated(y, x, _operators.silu)


def gated(value: Tensor, gate: Tensor, function: Callable[[Tensor], Tensor]) -> Tensor:
    """value * function(gate)."""
    dtype = meta(value).dtype
    if dtype.itemsize == 2:
        value, gate = _operators.cast(value, float32), _operators.cast(gate, float32)
    product = _operators.multiply(function(gate), value)
    return _operators.cast(product, dtype) if dtype.itemsize == 2 else product


def rrelu(
    x: Tensor, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None
) -> Tensor:
    """x where it is not below 0, a slope times x elsewhere.

    Args:
        x: a floating-point tensor.
        lower, upper: the range of the slopes, within [0, 1].
        training: whether each element has a random slope; else all have (lower + upper) / 2.

    Raises:
        TypeError: lower or upper is no float.
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, or the range is empty or beyond [0, 1].
    """
    if not isinstance(lower, float) or not isinstance(upper, float):
        raise TypeError(f"[rrelu] lower is {lower!r} and upper {upper!r}; want floats")
    if not 0 <= lower <= 1 or not lower <= upper <= 1:
        raise ValueError(f"[rrelu] lower is {lower} and upper {upper}; want 0 <= lower <= upper <= 1")
    known = meta(of_floats(x, "rrelu"))
    if training and lower < upper:
        slopes = uniform(list(known.shape), known.dtype, lower, upper, place=known.place)
    else:
        slopes = full_0d(x, (lower + upper) / 2)
    return _operators.where(x < 0, _operators.multiply(x, slopes), x)


def maxout(x: Tensor, groups: int, axis: int = 1, name: str | None = None) -> Tensor:
    """The largest of each `groups` neighbouring channels.

    Args:
        x: a tensor of 4 axes.
        groups: how many channels become one; it divides their number.
        axis: the axis of the channels: 1, 3 or -1.

    Returns:
        x with a `groups`-th of the channels.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor or has not 4 axes, or an argument is none of those.
    """
    shape = list(meta(of_floats(x, "maxout")).shape)
    if len(shape) != 4:
        raise ValueError(f"[maxout] x has {axes_text(len(shape))}; want 4")
    if axis not in (1, 3, -1):
        raise ValueError(f"[maxout] axis is {axis}; want 1, 3 or -1")
    if index("groups", groups) < 2 or shape[axis] % groups:
        raise ValueError(f"[maxout] groups is {groups}; want a divisor of {shape[axis]} above 1")
    axis %= 4
    shape[axis : axis + 1] = [shape[axis] // groups, groups]
    return _operators.max(x.reshape(shape), axis + 1, False)


def elu_(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """`elu`, whose result takes the place of x; returns x."""
    return in_place(elu, x, alpha)


def hardtanh_(x: Tensor, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Tensor:
    """`hardtanh`, whose result takes the place of x; returns x."""
    return in_place(hardtanh, x, min, max)


def leaky_relu_(x: Tensor, negative_slope: Scalar = 0.01, name: str | None = None) -> Tensor:
    """`leaky_relu`, whose result takes the place of x; returns x."""
    return in_place(leaky_relu, x, negative_slope, operator=_operators.leaky_relu)


def thresholded_relu_(x: Tensor, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Tensor:
    """`thresholded_relu`, whose result takes the place of x; returns x."""
    return in_place(thresholded_relu, x, threshold, value)


logsigmoid = log_sigmoid

__all__ = [
    "celu", "elu", "elu_", "glu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "hardtanh_", "leaky_relu_",
    "log_sigmoid", "logsigmoid", "maxout", "mish", "prelu", "relu6", "rrelu", "selu", "softshrink", "softsign",
    "swiglu", "swish", "tanhshrink", "thresholded_relu", "thresholded_relu_",
]  # fmt: skip
