"""Activation functions whose arguments are checked or changed before the call of their operator, and two that are made of
operators.

Other dtypes than floating-point ones are refused with an UnsupportedError: Paddle has no kernels for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._arrays._creation import full_0d
from .._calls import _operators
from .._calls._inplace import in_place
from .._core._caller import axes_text
from .._core._convert import axis_of, described, index, real, tensor
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from .._maths._ops import leaky_relu
from .._randomness._sampling import uniform

if TYPE_CHECKING:
    from .._core._typing import Scalar


def celu(x: Tensor, alpha: float = 1.0, name: str | None = None) -> Tensor:
    """max(x, 0) + min(alpha * (exp(x / alpha) - 1), 0).

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor.
        ZeroDivisionError: alpha is 0.
    """
    of_floats(x, "celu")
    if real("celu", "alpha", alpha, False) == 0:
        raise ZeroDivisionError("[celu] alpha is 0; want another number")
    return _operators.celu(x, alpha)


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
    of_floats(x, "selu")
    if real("selu", "scale", scale, False) <= 1.0:
        raise ValueError(f"[selu] scale is {scale}; want more than 1")
    if real("selu", "alpha", alpha, False) < 0:
        raise ValueError(f"[selu] alpha is {alpha}; want at least 0")
    return _operators.selu(x, scale, alpha)


def softshrink(x: Tensor, threshold: float = 0.5, name: str | None = None) -> Tensor:
    """x moved towards 0 by threshold, and 0 where |x| is not above it.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, or threshold is below 0.
    """
    of_floats(x, "softshrink")
    if real("softshrink", "threshold", threshold, False) < 0:
        raise ValueError(f"[softshrink] threshold is {threshold}; want at least 0")
    return _operators.softshrink(x, threshold)


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
    return _operators.prelu(x, weight)


def glu(x: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
    """a * sigmoid(b) for the two halves a and b of x along an axis.

    Raises:
        TypeError: x is not floating-point.
        ValueError: x is no tensor, the axis is out of range, or its size is odd.
    """
    known = described(x, "glu", "x")
    axis = axis_of("glu", axis, len(known.shape))
    if not known.dtype.is_floating:
        raise TypeError(f"[glu] x is {known.dtype.name}; want a floating-point tensor")
    return _operators.glu(x, axis)


def swiglu(x: Tensor, y: Tensor | None = None, name: str | None = None) -> Tensor:
    """silu(x) * y; without y, of the two halves of x along the last axis.

    Args:
        x, y: floating-point tensors of one shape and one dtype.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x or y is no tensor, the shapes or dtypes differ, or the last axis has an odd size.
    """
    of_floats(x, "swiglu")
    if y is not None and meta(x) is not described(
        y, "swiglu", "y"
    ):  # tensors that are alike often have one description
        alike(x, y, "swiglu")
        if meta(x).shape != meta(y).shape:
            raise ValueError(f"[swiglu] x is {list(meta(x).shape)} and y {list(meta(y).shape)}; want one shape")
    return _operators.swiglu(x, y)


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
    return _operators.rrelu(x, slopes)


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
    return _operators.maxout(x, groups, axis)


def leaky_relu_(x: Tensor, negative_slope: Scalar = 0.01, name: str | None = None) -> Tensor:
    """`leaky_relu`, whose result takes the place of x; returns x."""
    return in_place(leaky_relu, x, negative_slope, operator=_operators.leaky_relu)


__all__ = ["celu", "glu", "leaky_relu_", "maxout", "prelu", "rrelu", "selu", "softshrink", "swiglu", "swish"]
