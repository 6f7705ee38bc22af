"""Functions that mix features, channels and random numbers: bilinear forms, shifts in time, Gumbel noise."""

from __future__ import annotations

from .._arrays._array import reshaped
from .._calls import _operators
from .._calls._precision import rounded, working
from .._core import _dtype
from .._core._convert import axis_of, real, tensor
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from .._randomness._sampling import uniforms
from ._attention import counted

__all__ = ["bilinear", "gumbel_softmax", "temporal_shift"]


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor | None = None, name: str | None = None) -> Tensor:
    """x1[n] @ weight[k] @ x2[n] + bias[k], of shape [n, k].

    Args:
        x1: of shape [n, a].
        x2: of shape [n, b].
        weight: of shape [k, a, b].
        bias: of shape [1, k]; None for 0.

    Raises:
        UnsupportedError: x1 is not floating-point.
        ValueError: an operand is no tensor, or the dtypes or shapes do not fit.
    """
    for other, label in ((x2, "x2"), (weight, "weight")):
        alike(of_floats(x1, "bilinear"), tensor(other, "bilinear", label), "bilinear")
    a, b, w = (meta(x).shape for x in (x1, x2, weight))
    if len(a) != 2 or len(b) != 2 or w[1:] != (a[1], b[1]) or a[0] != b[0]:
        raise ValueError(f"[bilinear] shapes are {list(a)}, {list(b)} and {list(w)}; want [n, a], [n, b] and [k, a, b]")
    if bias is not None and meta(tensor(bias, "bilinear", "bias")).shape != (1, w[0]):
        raise ValueError(f"[bilinear] bias has shape {list(meta(bias).shape)}; want [1, {w[0]}]")
    return _operators.bilinear(x1, x2, weight, bias)


def temporal_shift(
    x: Tensor, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Tensor:
    """Frames with the first channels of the frame before and the next channels of the frame behind; 0 where there is none.

    Args:
        x: of shape [n * seg_num, channels, height, width], or "NHWC".
        seg_num: how many frames are one sequence.
        shift_ratio: the part of the channels that comes from either side, below 0.5.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, has not 4 axes or no whole number of sequences, or an argument is out of range.
    """
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"[temporal_shift] data_format is {data_format!r}; want 'NCHW' or 'NHWC'")
    return _operators.temporal_shift(of_floats(x, "temporal_shift"), seg_num, shift_ratio, data_format == "NHWC")


def gumbel_softmax(
    x: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Tensor:
    """softmax((x + g) / temperature) along an axis, with a g = -log(-log(u)) for each element and u from [0, 1).

    Args:
        hard: whether the result is 1 for the largest element and 0 for all others, with the gradient of the softmax.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, the axis is out of range, or temperature is not above 0.
    """
    m = meta(of_floats(x, "gumbel_softmax"))
    axis = axis_of("gumbel_softmax", axis, len(m.shape))
    if real("gumbel_softmax", "temperature", temperature) <= 0:
        raise ValueError(f"[gumbel_softmax] temperature is {temperature}; want a number above 0")
    wide = working(x)
    chance = uniforms(m.shape, 0.0, 1.0, meta(wide).dtype, m.place)
    if not hard:
        return _operators.gumbel_softmax(x, chance, temperature, axis)
    soft = _operators.gumbel_softmax(wide, chance, temperature, axis)
    largest = _operators.argmax(soft, axis, True, _dtype.int64)
    places = reshaped(counted(x, m.shape[axis]), [-1 if a == axis else 1 for a in range(len(m.shape))])
    chosen = _operators.cast(_operators.equal(places, largest), meta(soft).dtype)
    if not x.stop_gradient:  # the value is that of the choice, and the gradient that of the softmax
        chosen = _operators.subtract(soft, soft.detach()) + chosen
    return rounded(chosen, x)
