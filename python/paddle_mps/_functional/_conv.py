"""Convolutions of paddle.nn.functional, in one to three spatial axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from .._arrays._array import reshaped
from .._arrays._creation import value_of
from .._calls import _operators
from .._calls._call import renamed
from .._core._convert import described, settled, sizes, tensor
from .._core._meta import Meta
from .._core._objects import Tensor, meta
from ._window import last, numbers, padding_of, same, shape_of, spatial

if TYPE_CHECKING:
    from collections.abc import Sequence

    Size = Union[int, Sequence[int]]
    Padding = Union[str, int, Sequence[int], Sequence[Sequence[int]]]


CONV = {axes: f"conv{axes}d" for axes in (1, 2, 3)}
TRANSPOSE = {axes: f"conv{axes}d_transpose" for axes in (1, 2, 3)}


def grouped(function: str, groups: int, **channels: int) -> int:
    """The number of groups, which divides channels.

    Raises:
        ValueError: it does not.
    """
    if groups < 1:
        raise ValueError(f"[{function}] groups is {groups}; want a number from 1")
    for what, n in channels.items():
        if n % groups:
            raise ValueError(f"[{function}] {what} channels are {n} and groups {groups}; want a multiple")
    return groups


def biased(function: str, y: Tensor, bias: Tensor, channels_last: bool) -> Tensor:
    """y with a number added to each channel."""
    axes = len(meta(y).shape)
    shape = [1] * axes
    shape[-1 if channels_last else 1] = -1
    if len(meta(tensor(bias, function, "bias")).shape) < axes:
        bias = reshaped(bias, shape)
    result: Tensor = y + bias
    return result


def conv(
    axes: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int, data_format: str
) -> Tensor:
    """A convolution along so many spatial axes."""
    function = CONV[axes]
    images, kernels = described(x, function, "x"), described(weight, function, "weight")
    if not stride.__class__ is padding.__class__ is dilation.__class__ is int:
        stride, padding, dilation = sizes(stride), sizes(padding), sizes(dilation)
    given = attributes(function, axes, images, kernels, stride, padding, dilation, groups, data_format)
    y = _operators.conv(x, weight, *given)
    return y if bias is None else biased(function, y, bias, given[-1])


@settled
def attributes(
    function: str,
    axes: int,
    x: Meta,
    weight: Meta,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    data_format: str,
) -> tuple[list[int], list[int], list[int], int, bool]:
    """The attributes of the operator: stride, padding, dilation, groups, and whether channels are last.

    Raises:
        ValueError: they do not fit x and weight, or these each other.
    """
    channels_last = last(function, data_format, axes)
    shape, kernel = shape_of(function, x, axes), shape_of(function, weight, axes, "weight")
    of_one_dtype(function, x, weight)
    output = {} if function == TRANSPOSE[axes] else {"output": kernel[0]}
    grouped(function, groups, input=shape[-1 if channels_last else 1], **output)
    strides, dilations = numbers(stride, axes, "stride"), numbers(dilation, axes, "dilation")
    if same(padding):
        dilations = [1] * axes  # as in Paddle
    pads = padding_of(function, padding, spatial(shape, channels_last), kernel[2:], strides, channels_last)
    return strides, pads, dilations, groups, channels_last


def of_one_dtype(function: str, x: Meta, weight: Meta) -> None:
    """Raises a ValueError unless x and weight have one dtype."""
    if x.dtype is not weight.dtype:
        raise ValueError(f"[{function}] x is {x.dtype.name} and y {weight.dtype.name}; want one dtype")


def conv_transpose(
    axes: int, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, dilation: Any,
    groups: int, output_size: Any, data_format: str,
) -> Tensor:  # fmt: skip
    """A transposed convolution along so many spatial axes."""
    function = TRANSPOSE[axes]
    images, kernels = described(x, function, "x"), described(weight, function, "weight")
    if not stride.__class__ is padding.__class__ is dilation.__class__ is int:
        stride, padding, dilation = sizes(stride), sizes(padding), sizes(dilation)
    given = attributes(function, axes, images, kernels, stride, padding, dilation, groups, data_format)
    strides, pads, dilations, groups, channels_last = given
    if output_size is None and output_padding.__class__ is int and output_padding == 0:
        extra = None
    elif output_size is None:
        extra = smaller(function, output_padding, strides, dilations)
    elif output_padding != 0:
        raise ValueError(f"[{function}] got output_padding and output_size; want one of them")
    else:
        size, kernel = spatial(images.shape, channels_last), kernels.shape[2:]
        least = [
            (n - 1) * s - before - behind + d * (k - 1) + 1
            for n, s, before, behind, d, k in zip(size, strides, pads[::2], pads[1::2], dilations, kernel)
        ]
        wanted = output_sizes(output_size, axes)
        extra = [n - m for n, m in zip(wanted, least)]
        if any(not 0 <= e < s for e, s in zip(extra, strides)):
            raise ValueError(f"[{function}] output_size is {wanted}; want {least} or less than a stride more")
    y = _operators.conv_transpose(x, weight, strides, pads, extra, dilations, groups, channels_last)
    return y if bias is None else biased(function, y, bias, channels_last)


def smaller(function: str, output_padding: Any, strides: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """output_padding, a number for each axis.

    Raises:
        ValueError: one is as large as stride and dilation.
    """
    extra = numbers(output_padding, len(strides), "output_padding")
    for e, s, d in zip(extra, strides, dilations):
        if e < 0 or (e and e >= max(s, d)):
            raise ValueError(f"[{function}] output_padding is {output_padding}; want less than stride or dilation")
    return extra


def output_sizes(value: Any, axes: int) -> list[int]:
    """A size for each axis, of ints or tensors.

    Raises:
        ValueError: it is something else.
    """
    if isinstance(value, Tensor):
        value = value.tolist()
        value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(value, (list, tuple)):
        value = [value_of(v) for v in value]
    return numbers(value, axes, "output_size")


@renamed(input="x")
def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """`conv2d` along one axis: x is [N, C, L], or [N, L, C] for "NLC", and weight [O, C / groups, k]."""
    return conv(1, x, weight, bias, stride, padding, dilation, groups, data_format)


@renamed(input="x")
def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """Cross-correlation of images with weights: the sum of weight times x over the elements under each window.

    Args:
        x: a floating-point tensor [N, C, H, W], or [N, H, W, C] for the format "NHWC".
        weight: a tensor [O, C / groups, kh, kw] of x's dtype, in either format.
        bias: a number for each of the O channels of the result, which is added.
        stride: the distance of neighbouring windows, an int or one an axis.
        padding: zeros around x: an int; an int an axis; two ints an axis, before and behind; pairs of ints, with [0, 0]
            for batch and channels; "VALID" for none; or "SAME" for as many as make a window for each stride. Beside
            "SAME" the dilation counts as 1, as in Paddle.
        dilation: the distance of neighbours in a window.
        groups: parts of the channels that are convolved by themselves.
        data_format: "NCHW" or "NHWC".

    Returns:
        A tensor [N, O, windows...], or [N, windows..., O].

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: shapes, dtypes or numbers do not fit, or no window fits x.
    """
    return conv(2, x, weight, bias, stride, padding, dilation, groups, data_format)


@renamed(input="x")
def conv3d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    dilation: Size = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """`conv2d` along three axes: x is [N, C, D, H, W], or [N, D, H, W, C] for "NDHWC"."""
    return conv(3, x, weight, bias, stride, padding, dilation, groups, data_format)


def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
    output_size: Size | None = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """`conv2d_transpose` along one axis."""
    return conv_transpose(
        1, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    output_padding: Size = 0,
    dilation: Size = 1,
    groups: int = 1,
    output_size: Size | Tensor | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d` as a linear map: each element of x adds weight times itself to a window of the result.

    Args:
        x: a floating-point tensor [N, C, H, W], or [N, H, W, C] for the format "NHWC".
        weight: a tensor [C, O / groups, kh, kw] of x's dtype.
        bias: a number for each of the O channels of the result, which is added.
        stride, padding, dilation, groups: those of the convolution; see `conv2d`.
        output_padding: how many elements the result has more at the end of each axis, less than stride or dilation.
        output_size: the size of the result instead, less than a stride above the usual one.
        data_format: "NCHW" or "NHWC".

    Returns:
        A tensor [N, O, ...], or [N, ..., O], with (size - 1) * stride - padding + dilation * (k - 1) + 1 elements an
        axis, and those that are asked for in addition.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: shapes, dtypes or numbers do not fit.
    """
    return conv_transpose(
        2, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )


def conv3d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = 0,
    output_padding: Size = 0,
    groups: int = 1,
    dilation: Size = 1,
    output_size: Size | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """`conv2d_transpose` along three axes."""
    return conv_transpose(
        3, x, weight, bias, stride, padding, output_padding, dilation, groups, output_size, data_format
    )


__all__ = ["conv1d", "conv1d_transpose", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose"]
