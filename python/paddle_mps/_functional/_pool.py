"""Pools of paddle.nn.functional, in one to three spatial axes."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any, Callable, Union

from .._arrays._creation import value_of
from .._calls import _operators
from .._calls._call import renamed
from .._core._convert import described, one_number, settled, sizes
from .._core._dtype import int32
from .._core._meta import Meta
from .._core._objects import Tensor
from .._maths._elementwise import of_floats
from ._window import last, numbers, padding_of, shape_of, spatial

if TYPE_CHECKING:
    from collections.abc import Sequence

    Size = Union[int, Sequence[int]]
    Padding = Union[str, int, Sequence[int], Sequence[Sequence[int]]]
    Pooled = Union[Tensor, "tuple[Tensor, Tensor]"]


MAX = {axes: f"max_pool{axes}d" for axes in (1, 2, 3)}
AVERAGE = {axes: f"avg_pool{axes}d" for axes in (1, 2, 3)}


def windows(
    function: str, axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> tuple[list[int], list[int], list[int], bool]:
    """Kernel, stride, padding and whether channels are last.

    Raises:
        ValueError: x is no tensor, or they do not fit it or each other.
    """
    images = described(x, function, "x")
    if not kernel_size.__class__ is padding.__class__ is int:
        kernel_size, padding = sizes(kernel_size), sizes(padding)
    if stride is not None:
        stride = sizes(stride)
    return attributes(function, axes, images, kernel_size, stride, padding, ceil_mode, data_format)


@settled
def attributes(
    function: str, axes: int, x: Meta, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> tuple[list[int], list[int], list[int], bool]:
    """What `windows` returns."""
    channels_last = last(function, data_format, axes)
    kernel = numbers(kernel_size, axes, "kernel_size")
    strides = kernel if stride is None else numbers(stride, axes, "stride")
    if isinstance(padding, str) and padding.upper() == "VALID" and ceil_mode:
        raise ValueError(f"[{function}] padding is 'VALID' and ceil_mode true; want one of them")
    size = spatial(shape_of(function, x, axes), channels_last)
    return kernel, strides, padding_of(function, padding, size, kernel, strides, channels_last), channels_last


def max_pool(
    axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, return_mask: bool, ceil_mode: bool, data_format: str
) -> Pooled:
    """The largest elements along so many spatial axes."""
    function, ceil_mode = MAX[axes], bool(ceil_mode)
    kernel, strides, pads, channels_last = windows(
        function, axes, x, kernel_size, stride, padding, ceil_mode, data_format
    )
    if return_mask and channels_last:
        raise ValueError(f"[{function}] data_format is {data_format} with return_mask; want channels in front")
    found, places = _operators.max_pool(x, kernel, strides, pads, ceil_mode, False, channels_last, int32)
    return (found, places) if return_mask else found


def avg_pool(
    axes: int, x: Any, kernel_size: Any, stride: Any, padding: Any, exclusive: bool, ceil_mode: bool,
    divisor_override: Any, data_format: str,
) -> Tensor:  # fmt: skip
    """Means along so many spatial axes."""
    function, ceil_mode = AVERAGE[axes], bool(ceil_mode)
    kernel, strides, pads, channels_last = windows(
        function, axes, x, kernel_size, stride, padding, ceil_mode, data_format
    )
    y = _operators.avg_pool(x, kernel, strides, pads, ceil_mode, False, bool(exclusive), channels_last)
    if divisor_override is None:
        return y
    if not isinstance(divisor_override, (int, float)):
        raise ValueError(f"[{function}] divisor_override is {divisor_override!r}; want a number")
    result: Tensor = y * math.prod(kernel) / divisor_override
    return result


def max_pool1d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Pooled:
    """`max_pool2d` along one axis: x is [N, C, L]."""
    return max_pool(1, x, kernel_size, stride, padding, return_mask, ceil_mode, "NCL")


def max_pool2d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Pooled:
    """The largest element in each window; nan if any is.

    Args:
        x: a floating-point tensor [N, C, H, W], or [N, H, W, C] for the format "NHWC".
        kernel_size: the size of a window, an int or one an axis.
        stride: the distance of neighbouring windows; None: their size.
        padding: what windows may reach beyond x, in the forms of `conv2d`. Nothing there is ever the largest.
        return_mask: whether to return also, as int32, where each element was: its number in the plane [H, W].
        ceil_mode: whether the number of windows is rounded up.
        data_format: "NCHW" or "NHWC"; return_mask takes "NCHW" alone.

    Returns:
        A tensor [N, C, windows...] or, with return_mask, two. A window of padding alone has the smallest finite number
        and index -1.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: the numbers do not fit x.
    """
    return max_pool(2, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def max_pool3d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Pooled:
    """`max_pool2d` along three axes: x is [N, C, D, H, W], or [N, D, H, W, C] for "NDHWC"."""
    return max_pool(3, x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def avg_pool1d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Tensor:
    """`avg_pool2d` along one axis: x is [N, C, L]."""
    return avg_pool(1, x, kernel_size, stride, padding, exclusive, ceil_mode, None, "NCL")


def avg_pool2d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The mean of each window.

    Args:
        x, kernel_size, stride, padding, ceil_mode, data_format: as for `max_pool2d`.
        exclusive: whether to divide by the elements of the window that are in x; else by the size of the window.
        divisor_override: the mean is multiplied by the size of the window and divided by this number.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: the numbers do not fit x.
    """
    return avg_pool(2, x, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override, data_format)


def avg_pool3d(
    x: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Tensor:
    """`avg_pool2d` along three axes."""
    return avg_pool(3, x, kernel_size, stride, padding, exclusive, ceil_mode, divisor_override, data_format)


def adaptive_sizes(function: str, axes: int, x: Any, output_size: Any, data_format: str) -> tuple[list[int], bool]:
    """The size of the result on each axis, where None is that of x; and whether channels are last."""
    return adapted(function, axes, described(x, function, "x"), sizes(output_size), data_format)


@settled
def adapted(function: str, axes: int, x: Meta, output_size: Any, data_format: str) -> tuple[list[int], bool]:
    """What `adaptive_sizes` returns."""
    channels_last = last(function, data_format, axes)
    size = spatial(shape_of(function, x, axes), channels_last)
    if isinstance(output_size, Tensor) and output_size.ndim:
        output_size = output_size.tolist()
    if isinstance(output_size, (list, tuple)) and len(output_size) == axes:
        output_size = [n if wanted is None else value_of(wanted) for n, wanted in zip(size, output_size)]
    return numbers(output_size, axes, "output_size"), channels_last


def adaptive_avg(axes: int, x: Any, output_size: Any, data_format: str) -> Tensor:
    size, channels_last = adaptive_sizes(f"adaptive_avg_pool{axes}d", axes, x, output_size, data_format)
    return _operators.avg_pool(x, size, None, None, False, True, True, channels_last)


def adaptive_max(axes: int, x: Any, output_size: Any, return_mask: bool, data_format: str) -> Pooled:
    size, _ = adaptive_sizes(f"adaptive_max_pool{axes}d", axes, x, output_size, data_format)
    found, places = _operators.max_pool(x, size, None, None, False, True, False, int32)
    return (found, places) if return_mask else found


@renamed(input="x")
def adaptive_avg_pool1d(x: Tensor, output_size: Size, name: str | None = None) -> Tensor:
    """`adaptive_avg_pool2d` along one axis: x is [N, C, L]."""
    return adaptive_avg(1, x, output_size, "NCL")


@renamed(input="x")
def adaptive_avg_pool2d(
    x: Tensor, output_size: Size | Sequence[int | None], data_format: str = "NCHW", name: str | None = None
) -> Tensor:
    """Means of windows of which there are `output_size`: window i of n is from floor(i * size / n) to
    ceil((i + 1) * size / n).

    Args:
        x: a floating-point tensor [N, C, H, W], or [N, H, W, C] for the format "NHWC".
        output_size: an int, or one an axis, also in a tensor; None stands for the size of x.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: x has another number of axes, or output_size is not as above.
    """
    return adaptive_avg(2, x, output_size, data_format)


@renamed(input="x")
def adaptive_avg_pool3d(
    x: Tensor, output_size: Size | Sequence[int | None], data_format: str = "NCDHW", name: str | None = None
) -> Tensor:
    """`adaptive_avg_pool2d` along three axes."""
    return adaptive_avg(3, x, output_size, data_format)


@renamed(input="x", return_indices="return_mask")
def adaptive_max_pool1d(x: Tensor, output_size: Size, return_mask: bool = False, name: str | None = None) -> Pooled:
    """`adaptive_max_pool2d` along one axis: x is [N, C, L]."""
    return adaptive_max(1, x, output_size, return_mask, "NCL")


@renamed(input="x", return_indices="return_mask")
def adaptive_max_pool2d(
    x: Tensor, output_size: Size | Sequence[int | None], return_mask: bool = False, name: str | None = None
) -> Pooled:
    """The largest elements of the windows of `adaptive_avg_pool2d`; with return_mask also where they were, as for
    `max_pool2d`."""
    return adaptive_max(2, x, output_size, return_mask, "NCHW")


@renamed(input="x", return_indices="return_mask")
def adaptive_max_pool3d(
    x: Tensor, output_size: Size | Sequence[int | None], return_mask: bool = False, name: str | None = None
) -> Pooled:
    """`adaptive_max_pool2d` along three axes."""
    return adaptive_max(3, x, output_size, return_mask, "NCDHW")


def max_unpool(
    axes: int, x: Any, indices: Any, kernel_size: Any, stride: Any, padding: Any, data_format: str, output_size: Any
) -> Tensor:
    """Zeros with the elements of x at their places."""
    function = f"max_unpool{axes}d"
    if last(function, data_format, axes):
        raise ValueError(f"[{function}] data_format is {data_format}; want channels in front")
    planes, found = described(x, function, "x"), described(indices, function, "x")
    given = sizes(kernel_size), sizes(stride), sizes(padding)
    size, strides = unpooled(function, axes, planes, found, *given)
    if output_size is not None:
        wanted = [int(value_of(n)) for n in output_size]
        wanted = wanted[2:] if len(wanted) == axes + 2 else wanted
        if len(wanted) != axes or any(not abs(w - n) < s for w, n, s in zip(wanted, size, strides)):
            raise ValueError(f"[{function}] output_size is {wanted}; want {size} or less than a stride from it")
        size = wanted
    return _operators.max_unpool(x, indices, size, False, False)


@settled
def unpooled(
    function: str, axes: int, x: Meta, indices: Meta, kernel_size: Any, stride: Any, padding: Any
) -> tuple[list[int], list[int]]:
    """The size of what was pooled, as far as it is known, and the distances of its windows."""
    shape = shape_of(function, x, axes)
    shape_of(function, indices, axes)
    kernel = numbers(kernel_size, axes, "kernel_size")
    strides = kernel if stride is None else numbers(stride, axes, "stride")
    pads = numbers(padding, axes, "padding")
    return [(n - 1) * s + k - 2 * p for n, k, s, p in zip(shape[2:], kernel, strides, pads)], strides


def max_unpool1d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    data_format: str = "NCL",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """`max_unpool2d` along one axis."""
    return max_unpool(1, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool2d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    data_format: str = "NCHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """Zeros, with each element of x where `max_pool2d` found it.

    Args:
        x, indices: the results of `max_pool2d` with return_mask.
        kernel_size, stride, padding: its arguments, from which the size of the result follows.
        output_size: the size of the result instead, less than a stride from that one.

    Raises:
        ValueError: the numbers do not fit x, or an index is out of range.
    """
    return max_unpool(2, x, indices, kernel_size, stride, padding, data_format, output_size)


def max_unpool3d(
    x: Tensor,
    indices: Tensor,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Size = 0,
    data_format: str = "NCDHW",
    output_size: Sequence[int] | None = None,
    name: str | None = None,
) -> Tensor:
    """`max_unpool2d` along three axes."""
    return max_unpool(3, x, indices, kernel_size, stride, padding, data_format, output_size)


def ceil_mode_fifth(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """A bool as the fifth argument is ceil_mode, as in PyTorch."""

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Tensor:
        if len(args) == 5 and isinstance(args[4], bool):
            kwargs["ceil_mode"], args = args[4], args[:4]
        return function(*args, **kwargs)

    return wrapper


def lp_pool(
    axes: int, x: Any, norm_type: Any, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, data_format: str
) -> Tensor:
    """The roots of sums of powers along so many spatial axes."""
    function, p = f"lp_pool{axes}d", float(one_number(norm_type, f"lp_pool{axes}d", "norm_type"))
    if p == 0:
        raise ValueError(f"[{function}] norm_type is 0; want another number")
    kernel, strides, pads, channels_last = windows(
        function, axes, x, kernel_size, stride, padding, ceil_mode, data_format
    )
    return _operators.lp_pool(of_floats(x, function), p, kernel, strides, pads, bool(ceil_mode), channels_last)


@renamed(input="x")
@ceil_mode_fifth
def lp_pool1d(
    x: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCL",
    name: str | None = None,
) -> Tensor:
    """`lp_pool2d` along one axis."""
    return lp_pool(1, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


@renamed(input="x")
@ceil_mode_fifth
def lp_pool2d(
    x: Tensor,
    norm_type: float,
    kernel_size: Size,
    stride: Size | None = None,
    padding: Padding = 0,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Tensor:
    """The root sum(x ** p) ** (1 / p) of each window, for p = norm_type; for infinity the largest element. There is no
    absolute value in it: a negative number to a power that is not whole is nan.

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: norm_type is 0, or the numbers do not fit x.
    """
    return lp_pool(2, x, norm_type, kernel_size, stride, padding, ceil_mode, data_format)


__all__ = [
    "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "adaptive_max_pool1d", "adaptive_max_pool2d",
    "adaptive_max_pool3d", "avg_pool1d", "avg_pool2d", "avg_pool3d", "lp_pool1d", "lp_pool2d", "max_pool1d",
    "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
]  # fmt: skip
