"""Layers that move elements: flatten, fold, shuffle, resize."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._arrays._array import flatten
from .._arrays._shapes import unflatten
from .._functional import _all as F
from ._function import FunctionLayer
from ._layer import Layer

if TYPE_CHECKING:
    from .._tensor import Tensor


class Identity(Layer):
    """Returns its input. Arguments have no effect."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Tensor) -> Tensor:
        return input


class Flatten(FunctionLayer):
    """Makes one axis of those from `start_axis` to `stop_axis`; see `paddle.flatten`."""

    function = staticmethod(flatten)
    _shown = ()

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        self._keep(start_axis=start_axis, stop_axis=stop_axis)


class Unflatten(FunctionLayer):
    """Makes several axes of one; see `paddle.unflatten`."""

    function = staticmethod(unflatten)

    def __init__(self, axis: int, shape: Sequence[int] | Tensor, name: str | None = None) -> None:
        self._keep(name, axis=axis, shape=shape)


class _Windows(FunctionLayer):
    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        said = f"kernel_size={self.kernel_sizes}, dilation={self.dilations}, padding={self.paddings}, stride={self.strides}"
        return said + name


class Unfold(_Windows):
    """See `paddle.nn.functional.unfold`."""

    function = staticmethod(F.unfold)

    def __init__(
        self,
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        self._keep(name, kernel_sizes=kernel_sizes, dilations=dilations, paddings=paddings, strides=strides)


class Fold(_Windows):
    """See `paddle.nn.functional.fold`."""

    function = staticmethod(F.fold)

    def __init__(
        self,
        output_sizes: int | Sequence[int],
        kernel_sizes: int | Sequence[int],
        dilations: int | Sequence[int] = 1,
        paddings: int | Sequence[int] = 0,
        strides: int | Sequence[int] = 1,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            output_sizes=output_sizes,
            kernel_sizes=kernel_sizes,
            dilations=dilations,
            paddings=paddings,
            strides=strides,
        )


class _Shuffle(FunctionLayer):
    _prefix = "_"

    def extra_repr(self) -> str:
        first = self._kept[0]
        said = f"{first}={getattr(self, self._attribute(first))}"
        if self._data_format != "NCHW":
            said += f", data_format={self._data_format}"
        return said if self._name is None else f"{said}, name={self._name}"


class PixelShuffle(_Shuffle):
    """See `paddle.nn.functional.pixel_shuffle`."""

    function = staticmethod(F.pixel_shuffle)

    def __init__(self, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        self._keep(name, upscale_factor=upscale_factor, data_format=data_format)


class PixelUnshuffle(_Shuffle):
    """See `paddle.nn.functional.pixel_unshuffle`."""

    function = staticmethod(F.pixel_unshuffle)

    def __init__(self, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> None:
        self._keep(name, downscale_factor=downscale_factor, data_format=data_format)


class ChannelShuffle(_Shuffle):
    """See `paddle.nn.functional.channel_shuffle`."""

    function = staticmethod(F.channel_shuffle)

    def __init__(self, groups: int, data_format: str = "NCHW", name: str | None = None) -> None:
        self._keep(name, groups=groups, data_format=data_format)


class Upsample(FunctionLayer):
    """See `paddle.nn.functional.interpolate`."""

    function = staticmethod(F.interpolate)

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            size=size,
            scale_factor=scale_factor,
            mode=mode,
            align_corners=align_corners,
            align_mode=align_mode,
            data_format=data_format,
            recompute_scale_factor=recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        said = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        said += f", mode={self.mode}, align_corners={self.align_corners}, align_mode={self.align_mode}"
        return f"{said}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class _Upsampling2D(Layer):
    _mode: str
    _align: bool

    def __init__(
        self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.data_format, self.name = size, scale_factor, data_format, name

    def forward(self, x: Tensor) -> Any:
        return F.interpolate(
            x, self.size, self.scale_factor, self._mode, self._align, align_mode=0, data_format=self.data_format
        )

    def extra_repr(self) -> str:
        said = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{said}, data_format={self.data_format}" + (f", name={self.name}" if self.name else "")


class UpsamplingNearest2D(_Upsampling2D):
    """Resizes pictures to the nearest element; see `paddle.nn.functional.interpolate`."""

    _mode, _align = "nearest", False


class UpsamplingBilinear2D(_Upsampling2D):
    """Resizes pictures linearly along both axes, whose corners stay; see `paddle.nn.functional.interpolate`."""

    _mode, _align = "bilinear", True


__all__ = [
    "ChannelShuffle",
    "Flatten",
    "Fold",
    "Identity",
    "PixelShuffle",
    "PixelUnshuffle",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2D",
    "UpsamplingNearest2D",
]
