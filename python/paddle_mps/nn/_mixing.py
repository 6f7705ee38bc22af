"""Functions that mix features, channels and random numbers: bilinear forms, shifts in time, Gumbel noise."""

from __future__ import annotations

from .._arrays._array import concat, reshaped
from .._arrays._creation import filled
from .._calls import _operators
from .._calls._precision import rounded, working
from .._core import _dtype
from .._core._convert import axis_of, real, tensor
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from .._randomness._sampling import uniforms
from ._attention import counted
from ._layout import between

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
    shape = meta(of_floats(x, "temporal_shift")).shape
    if len(shape) != 4 or seg_num < 1 or shape[0] % seg_num or not 0 < shift_ratio < 0.5:
        raise ValueError(
            f"[temporal_shift] x has shape {list(shape)}, seg_num is {seg_num} and shift_ratio {shift_ratio}; "
            "want 4 axes, a divisor of the first, and a ratio between 0 and 0.5"
        )
    axis = 2 if data_format == "NCHW" else 4
    frames = reshaped(x, [shape[0] // seg_num, seg_num, *shape[1:]])
    channels = shape[axis - 1]
    first, second = int(channels * shift_ratio), int(channels * 2 * shift_ratio)
    before, behind, rest = (between(frames, axis, *ends) for ends in ((0, first), (first, second), (second, channels)))
    parts = [shifted(before, 1), shifted(behind, -1), rest]
    return reshaped(concat([part for part in parts if meta(part).numel], axis), list(shape)) if meta(x).numel else x


def shifted(x: Tensor, steps: int) -> Tensor:
    """x moved by one along axis 1, with 0 at the end that becomes free."""
    shape = list(meta(x).shape)
    if not meta(x).numel:
        return x
    zeros = filled((shape[0], 1, *shape[2:]), 0, meta(x).dtype, meta(x).place)
    if steps > 0:
        return concat([zeros, between(x, 1, 0, shape[1] - 1)], 1)
    return concat([between(x, 1, 1, shape[1]), zeros], 1)


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
