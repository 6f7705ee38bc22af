"""Convolutions as layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._core import _dtype
from .._functional import _all as F
from ._initializers import Normal
from ._layer import Layer

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import PlaceLike
    from .._tensor import Tensor
    from ._parameter import ParamAttrLike

PADDED = ("reflect", "replicate", "circular")


def per_axis(name: str, label: str, value: Any, axes: int) -> list[int]:
    """One integer for each axis."""
    found = [value] * axes if isinstance(value, int) else list(value)
    if len(found) != axes or not all(isinstance(n, int) for n in found):
        raise ValueError(f"[{name}] {label} is {value}; want an integer, or {axes} of them")
    return found


class _Convolution(Layer):
    """What all convolutions keep; the weight is (out_channels, in_channels / groups, *kernel), of transposed ones the first two
    the other way round.
    """

    _axes: int
    _transposed = False

    def _build(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        output_padding: Any = 0,
        padding_mode: str = "zeros",
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
        weight_attr: Any = None,
        bias_attr: Any = None,
        data_format: str = "NCHW",
    ) -> None:
        name, axes = type(self).__name__, self._axes
        Layer.__init__(self, dtype=_dtype.default() if dtype is None else dtype)
        first, last = ("NCL", "NCHW", "NCDHW")[axes - 1], ("NLC", "NHWC", "NDHWC")[axes - 1]
        if data_format not in (first, last):
            raise ValueError(f"[{name}] data_format is {data_format!r}; want {first!r} or {last!r}")
        if padding_mode not in ("zeros", *PADDED):
            raise ValueError(f"[{name}] padding_mode is {padding_mode!r}; want zeros, reflect, replicate or circular")
        if padding_mode in PADDED and not isinstance(padding, int):
            raise TypeError(f"[{name}] padding is {padding!r}; want an integer with padding_mode {padding_mode!r}")
        if groups < 1 or in_channels % groups or out_channels % groups:
            raise ValueError(
                f"[{name}] in_channels is {in_channels} and out_channels {out_channels}; want multiples of groups, {groups}"
            )
        if weight_attr is False:
            raise AssertionError(f"[{name}] weight_attr is False; want a ParamAttr or None")
        self._in_channels, self._out_channels, self._groups = in_channels, out_channels, groups
        self._kernel_size = per_axis(name, "kernel_size", kernel_size, axes)
        self._stride = per_axis(name, "stride", stride, axes)
        self._dilation = per_axis(name, "dilation", dilation, axes)
        self._padding, self.output_padding, self._padding_mode = padding, output_padding, padding_mode
        self._data_format = data_format
        self._param_attr, self._bias_attr = weight_attr, bias_attr
        ends = (in_channels, out_channels // groups) if self._transposed else (out_channels, in_channels // groups)
        inputs = in_channels * math.prod(self._kernel_size)
        spread = None if self._transposed else Normal(0.0, math.sqrt(2.0 / inputs) if inputs else 0.0)
        shape = [*ends, *self._kernel_size]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=spread, device=device)
        said = bias_attr if bias else False
        self.bias = self.create_parameter([out_channels], said, is_bias=True, device=device)

    def _padded(self, x: Tensor) -> tuple[Any, Any]:
        """The input and the padding that is left to do."""
        if self._padding_mode == "zeros":
            return x, self._padding
        return F.pad(x, [self._padding] * 2 * self._axes, self._padding_mode, data_format=self._data_format), 0

    def extra_repr(self) -> str:
        axes = self._axes
        said = f"{self._in_channels}, {self._out_channels}, kernel_size={self._kernel_size}"
        if self._stride != [1] * axes:
            said += f", stride={self._stride}"
        if self._padding != 0:
            said += f", padding={self._padding}"
        if self._padding_mode != "zeros":
            said += f", padding_mode={self._padding_mode}"
        if self.output_padding != 0:
            said += f", output_padding={self.output_padding}"
        if self._dilation != [1] * axes:
            said += f", dilation={self._dilation}"
        if self._groups != 1:
            said += f", groups={self._groups}"
        return f"{said}, data_format={self._data_format}"


class Conv1D(_Convolution):
    """Convolution over 1 axis; see `paddle.nn.functional.conv1d`.

    Args:
        kernel_size, stride, dilation: integers, or one for each axis.
        padding: as of the function; an integer with another padding_mode than "zeros".
        bias: False for no bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    _axes = 1

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCL",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode=padding_mode,
            bias=bias,
            device=device,
            dtype=dtype,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor) -> Any:
        x, padding = self._padded(x)
        return F.conv1d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )


class Conv2D(_Convolution):
    """Convolution over 2 axes; see `paddle.nn.functional.conv2d`.

    Args:
        kernel_size, stride, dilation: integers, or one for each axis.
        padding: as of the function; an integer with another padding_mode than "zeros".
        bias: False for no bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    _axes = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode=padding_mode,
            bias=bias,
            device=device,
            dtype=dtype,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor) -> Any:
        x, padding = self._padded(x)
        return F.conv2d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )


class Conv3D(_Convolution):
    """Convolution over 3 axes; see `paddle.nn.functional.conv3d`.

    Args:
        kernel_size, stride, dilation: integers, or one for each axis.
        padding: as of the function; an integer with another padding_mode than "zeros".
        bias: False for no bias.
        padding_mode: "zeros", "reflect", "replicate" or "circular".
    """

    _axes = 3

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        *,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCDHW",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            padding_mode=padding_mode,
            bias=bias,
            device=device,
            dtype=dtype,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor) -> Any:
        x, padding = self._padded(x)
        return F.conv3d(
            x,
            self.weight,
            self.bias,
            self._stride,
            padding,
            self._dilation,
            self._groups,
            self._data_format,
        )


class Conv1DTranspose(_Convolution):
    """Transposed convolution over 1 axis; see `paddle.nn.functional.conv1d_transpose`."""

    _axes = 1
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        output_padding: int | Sequence[int] = 0,
        groups: int = 1,
        dilation: int | Sequence[int] = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCL",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            output_padding,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor, output_size: int | Sequence[int] | None = None) -> Any:
        return F.conv1d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            groups=self._groups,
            dilation=self._dilation,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv2DTranspose(_Convolution):
    """Transposed convolution over 2 axes; see `paddle.nn.functional.conv2d_transpose`."""

    _axes = 2
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        output_padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            output_padding,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor, output_size: int | Sequence[int] | None = None) -> Any:
        return F.conv2d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            groups=self._groups,
            dilation=self._dilation,
            output_size=output_size,
            data_format=self._data_format,
        )


class Conv3DTranspose(_Convolution):
    """Transposed convolution over 3 axes; see `paddle.nn.functional.conv3d_transpose`."""

    _axes = 3
    _transposed = True

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] = 1,
        padding: int | str | Sequence[Any] = 0,
        output_padding: int | Sequence[int] = 0,
        dilation: int | Sequence[int] = 1,
        groups: int = 1,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCDHW",
    ) -> None:
        self._build(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            dilation,
            groups,
            output_padding,
            weight_attr=weight_attr,
            bias_attr=bias_attr,
            data_format=data_format,
        )

    def forward(self, x: Tensor, output_size: int | Sequence[int] | None = None) -> Any:
        return F.conv3d_transpose(
            x,
            self.weight,
            self.bias,
            self._stride,
            self._padding,
            self.output_padding if output_size is None else 0,
            groups=self._groups,
            dilation=self._dilation,
            output_size=output_size,
            data_format=self._data_format,
        )


Conv1d = Conv1D
Conv2d = Conv2D
Conv3d = Conv3D

__all__ = [
    "Conv1D",
    "Conv1DTranspose",
    "Conv1d",
    "Conv2D",
    "Conv2DTranspose",
    "Conv2d",
    "Conv3D",
    "Conv3DTranspose",
    "Conv3d",
]
