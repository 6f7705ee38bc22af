"""Normalizations: (x - mean) / sqrt(variance + epsilon), by what the mean and the variance are of.

Halves are computed in float32 and rounded once at the end. Variances are divided by the number of elements, not by
one less. weight and bias may be float32 beside halves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from .._arrays._array import reshaped
from .._calls import _operators
from .._calls._call import into, renamed
from .._calls._grad import no_grad, regardless
from .._calls._precision import rounded, working
from .._core._caller import axes_text
from .._core._convert import described, index, real, settled, sizes, tensor, whole
from .._core._meta import Meta
from .._core._objects import Tensor, meta
from .._maths._elementwise import of_floats
from ._activation import CHANNELS_FIRST, CHANNELS_LAST


def along_lines(
    x: Tensor, sizes: Sequence[int], weight: Tensor | None, bias: Tensor | None, epsilon: float, centered: bool = True
) -> tuple[Tensor, Tensor]:
    """Row layer_norm over the last axes of x, which have these sizes, all above 0; weight and bias have as many elements. Also
    1 / deviation, in the shape of x without those axes."""
    shape, count = list(meta(x).shape), math.prod(sizes)
    lead = shape[: len(shape) - len(sizes)]
    lines = x if len(sizes) == 1 else reshaped(x, [*lead, count])
    weight, bias = (w if w is None or len(meta(w).shape) == 1 else reshaped(w, [count]) for w in (weight, bias))
    out, scale = _operators.layer_norm(lines, weight, bias, epsilon, centered)
    return out if len(sizes) == 1 else reshaped(out, shape), reshaped(scale, lead)


def affine(x: Tensor, weight: Tensor | None, bias: Tensor | None, shape: Sequence[int] | None = None) -> Tensor:
    """x * weight + bias, both reshaped if there is a shape."""
    if weight is not None:
        x = _operators.multiply(x, factor(weight, shape))
    return x if bias is None else _operators.add(x, factor(bias, shape))


def factor(weight: Tensor, shape: Sequence[int] | None) -> Tensor:
    weight = working(weight)
    return weight if shape is None else reshaped(weight, list(shape))


def sized_as(function: str, name: str, x: Any, count: int) -> None:
    """Raises a ValueError unless x is None or a tensor of so many elements."""
    if x is not None and meta(tensor(x, function, name)).numel != count:
        raise ValueError(f"[{function}] {name} has shape {list(meta(x).shape)}; want {count} elements")


@renamed(input="x", eps="epsilon")
def layer_norm(
    x: Tensor,
    normalized_shape: int | Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance over the last axes.

    Args:
        normalized_shape: the sizes of those axes.
        weight, bias: of as many elements as these axes have; None for 1 and 0.
        epsilon: from 0 to 0.001.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, a shape does not fit, or epsilon is out of range.
    """
    m = described(x, "layer_norm", "x")
    if not 0 <= (epsilon if epsilon.__class__ is float else real("layer_norm", "epsilon", epsilon)) <= 1e-3:
        raise ValueError(f"[layer_norm] epsilon is {epsilon}; want a number from 0 to 0.001")
    scale = None if weight is None else described(weight, "layer_norm", "weight")
    shift = None if bias is None else described(bias, "layer_norm", "bias")
    inner, plain = last_axes(m, sizes(normalized_shape), scale, shift)
    if plain:
        return _operators.layer_norm(x, weight, bias, epsilon, True)[0]
    x = of_floats(x, "layer_norm")
    if not math.prod(inner):
        return rounded(affine(working(x), weight, bias, inner), x)
    return along_lines(x, inner, weight, bias, epsilon)[0]


@settled
def last_axes(x: Meta, normalized_shape: Any, weight: Meta | None, bias: Meta | None) -> tuple[list[int], bool]:
    """The sizes of the axes that layer_norm normalizes over, and whether its row takes the operands as they are.

    Raises:
        ValueError: they are not the last axes of x, or weight and bias are of other sizes.
    """
    if isinstance(normalized_shape, (int, np.integer)):
        normalized_shape = [int(normalized_shape)]
    if not isinstance(normalized_shape, (list, tuple)):
        raise ValueError(f"[layer_norm] normalized_shape is {normalized_shape!r}; want an int or a list of ints")
    inner = [index("normalized_shape", n) for n in normalized_shape]
    first = len(x.shape) - len(inner)
    if first < 0 or list(x.shape[first:]) != inner:
        raise ValueError(f"[layer_norm] x has shape {list(x.shape)}; want {inner} at its end")
    for name, m in (("weight", weight), ("bias", bias)):
        if m is not None and m.numel != math.prod(inner):
            raise ValueError(f"[layer_norm] {name} has shape {list(m.shape)}; want {math.prod(inner)} elements")
    operands = [m for m in (x, weight, bias) if m is not None]
    plain = all(m.dtype is x.dtype and len(m.shape) == 1 for m in operands[1:]) and x.dtype.is_floating
    return inner, plain and len(inner) == 1 and inner[0] > 0


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float = 1e-5,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """x / sqrt(mean(x**2) + eps) * weight, with the mean over the last axes.

    Args:
        normalized_shape: the sizes of those axes.
        weight: of as many elements as these axes have; None for 1.

    Returns:
        The result, and 1 / sqrt(mean(x**2) + eps) in the shape of x without those axes, float32 for halves.

    Raises:
        UnsupportedError: input is not floating-point.
        ValueError: input is no tensor, or a shape does not fit.
    """
    shape = meta(tensor(input, "rms_norm", "input")).shape
    inner = list(whole("normalized_shape", normalized_shape))
    first = len(shape) - len(inner)
    if first < 0 or list(shape[first:]) != inner:
        raise ValueError(f"[rms_norm] input has shape {list(shape)}; want {inner} at its end")
    sized_as("rms_norm", "weight", weight, math.prod(inner))
    x = of_floats(input, "rms_norm")
    if math.prod(inner):
        return along_lines(x, inner, weight, None, eps, centered=False)
    wide = working(x)
    scale = _operators.rsqrt(_operators.mean(_operators.square(wide), list(range(first, len(shape))), True) + eps)
    return rounded(affine(wide, weight, None, inner), input), reshaped(scale, list(shape[:first]))


def channel_axis(function: str, rank: int, data_format: Any, formats: Sequence[str]) -> int:
    """The axis of the channels.

    Raises:
        ValueError: there is no such format.
    """
    if data_format not in formats:
        raise ValueError(f"[{function}] data_format is {data_format!r}; want one of {', '.join(formats)}")
    return 1 if data_format in CHANNELS_FIRST else rank - 1


def batch_norm(
    x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, with a mean and a variance for each channel.

    Args:
        x: of 2 to 5 axes.
        running_mean, running_var: of shape [channels]. In training they become
            running * momentum + batch * (1 - momentum), and the batch's own are used.
        weight, bias: of shape [channels]; None for 1 and 0.
        data_format: says whether the channels are axis 1 ("NC", "NCL", "NCHW", "NCDHW") or the last ("NLC", "NHWC",
            "NDHWC").
        use_global_stats: whether the running ones are used; None: unless training.

    Returns:
        x itself, as in Paddle, where each channel has one element and the batch's own statistics would be used: these
        would make 0 of it. The running ones stay.

    Raises:
        AssertionError: x has fewer than 2 axes.
        UnsupportedError: x is not floating-point.
        ValueError: an operand is no tensor, a shape does not fit, or there is no such format.
    """
    shape = meta(tensor(x, "batch_norm", "x")).shape
    rank = len(shape)
    if rank < 2:
        raise AssertionError(f"[batch_norm] x has {axes_text(rank)}; want 2 to 5")
    channels = channel_axis("batch_norm", rank, data_format, (*CHANNELS_FIRST, *CHANNELS_LAST))
    if rank > 5:
        raise ValueError(f"[batch_norm] x has {axes_text(rank)}; want 2 to 5")
    for known, label in ((running_mean, "running_mean"), (running_var, "running_var")):
        sized_as("batch_norm", label, tensor(known, "batch_norm", label), shape[channels])
    sized_as("batch_norm", "weight", weight, shape[channels])
    sized_as("batch_norm", "bias", bias, shape[channels])
    of_floats(x, "batch_norm")
    if (not training) if use_global_stats is None else use_global_stats:
        return _operators.batch_norm_inference(x, running_mean, running_var, weight, bias, epsilon, channels)
    if meta(x).numel == shape[channels]:
        same = _operators.assign(x)
        for unused in (weight, bias):
            same = same if unused is None else regardless(same, unused)
        return same
    result, mean, variance = _operators.batch_norm_training(x, weight, bias, epsilon, channels)
    if meta(x).numel:  # the statistics of nothing are nan
        with no_grad():
            follow(running_mean, mean, momentum)
            follow(running_var, variance, momentum)
    return result


def follow(running: Tensor, batch: Tensor, momentum: float) -> None:
    """Moves a running statistic towards that of a batch, in its own memory."""
    new = reshaped(batch.detach(), list(meta(running).shape))
    into(running, _operators.moving_average(running, new, momentum))


def instance_norm(
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """(x - mean) / sqrt(variance + eps) * weight + bias, with mean and variance of each channel of each example.

    Args:
        x: of shape [n, channels, ...], of 2 to 5 axes.
        weight, bias: of shape [channels]; None for 1 and 0.
        running_mean, running_var, use_input_stats, momentum, data_format: change nothing, as in Paddle.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, has not 2 to 5 axes, or a shape does not fit.
    """
    shape = meta(tensor(x, "instance_norm", "x")).shape
    if not 2 <= len(shape) <= 5:
        raise ValueError(f"[instance_norm] x has {axes_text(len(shape))}; want 2 to 5")
    sized_as("instance_norm", "weight", weight, shape[1])
    sized_as("instance_norm", "bias", bias, shape[1])
    return _operators.instance_norm(of_floats(x, "instance_norm"), weight, bias, eps)


def group_norm(*args: Any, **options: Any) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, with mean and variance of each group of channels.

    It takes (x, num_groups, epsilon=1e-05, weight=None, bias=None, data_format="NCHW", name=None), and
    (input, num_groups, weight=None, bias=None, eps=1e-05) too: what stands third is epsilon if it is a float.

    Args:
        x: of 2 axes or more; input= is another name of it.
        num_groups: divides the number of channels.
        epsilon: eps= is another name of it.
        weight, bias: of shape [channels]; None for 1 and 0.
        data_format: says whether the channels are axis 1 ("NCL", "NCHW", "NCDHW") or the last ("NLC", "NHWC",
            "NDHWC").

    Raises:
        TypeError: an argument is missing or given twice.
        UnsupportedError: x is not floating-point.
        ValueError: x is no tensor, a shape does not fit, or there is no such format.
    """
    if len(args) + len(options) < 2:
        raise TypeError(f"[group_norm] got {len(args) + len(options)} arguments; want x and num_groups")
    names = ("weight", "bias", "epsilon") if len(args) > 2 and not isinstance(args[2], float) else ()
    given = list(zip(names, args[2:]))
    for alias, known in (("input", "x"), ("eps", "epsilon")):
        if alias in options:
            given.append((known, options.pop(alias)))
    for known, value in given:
        if known in options:
            raise TypeError(f"[group_norm] got {known} twice; want it once")
        options[known] = value
    return groups_normalized(*(args[:2] if names else args), **options)


def groups_normalized(
    x: Tensor,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """`group_norm`, its arguments in order."""
    shape = meta(tensor(x, "group_norm", "x")).shape
    rank, groups = len(shape), index("num_groups", num_groups)
    formats = (*CHANNELS_FIRST[1:], *CHANNELS_LAST)
    axis = channel_axis("group_norm", rank, data_format, formats)
    if rank < 2 or groups < 1 or shape[axis] % groups:
        raise ValueError(
            f"[group_norm] x has shape {list(shape)} and num_groups is {groups}; want a divisor of channels"
        )
    sized_as("group_norm", "weight", weight, shape[axis])
    sized_as("group_norm", "bias", bias, shape[axis])
    return _operators.group_norm(of_floats(x, "group_norm"), weight, bias, groups, epsilon, axis != 1)


setattr(group_norm, "__wrapped__", groups_normalized)  # noqa: B010 (for inspect.signature; no attribute of functions)


def local_response_norm(
    x: Tensor,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """x / (k + alpha * m)**beta, m being the mean of the squares of `size` neighbouring channels, with 0 beyond the ends.

    Args:
        x: of 3 to 5 axes.
        size: how many channels, size // 2 of them before each.
        data_format: "NCL", "NCHW", "NCDHW", or "NLC", "NHWC", "NDHWC" for channels last.

    Raises:
        ValueError: x is no tensor, has fewer axes or an empty one behind the first, or there is no such format.
    """
    shape = meta(tensor(x, "local_response_norm", "x")).shape
    axis = channel_axis("local_response_norm", len(shape), data_format, (*CHANNELS_FIRST[1:], *CHANNELS_LAST))
    if len(shape) < 3 or not all(shape[1:]) or index("size", size) < 1:
        raise ValueError(f"[local_response_norm] x has shape {list(shape)} and size is {size}; want 3 axes and a size")
    return _operators.local_response_norm(x, int(size), float(alpha), float(beta), float(k), axis, False)


__all__ = [
    "batch_norm", "group_norm", "instance_norm", "layer_norm", "local_response_norm", "rms_norm",
]  # fmt: skip
