"""Pools as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from .._functional import _all as F
from ._function import FunctionLayer


class _Pool(FunctionLayer):
    _says_name = False
    _renamed: ClassVar[dict[str, str]] = {"kernel_size": "ksize", "divisor_override": "divisor"}
    _shown: tuple[str, ...] = ("kernel_size", "stride", "padding")


class _AdaptiveAvg(FunctionLayer):
    _says_name = False
    _prefix = "_"
    _shown = ("output_size",)


class _AdaptiveMax(FunctionLayer):
    _says_name = False
    _shown = ("output_size", "return_mask")


class _Unpool(_Pool):
    _shown = ("output_size",)


class _PowerPool(_Pool):
    _shown = ("norm_type", "kernel_size", "stride", "padding")


class _Fractional(_AdaptiveMax):
    _prefix = "_"


class AdaptiveAvgPool1D(_AdaptiveAvg):
    """See `paddle.nn.functional.adaptive_avg_pool1d`."""

    function = staticmethod(F.adaptive_avg_pool1d)

    def __init__(self, output_size: int | Sequence[int], name: str | None = None) -> None:
        self._keep(name, output_size=output_size)


class AdaptiveAvgPool2D(_AdaptiveAvg):
    """See `paddle.nn.functional.adaptive_avg_pool2d`."""

    function = staticmethod(F.adaptive_avg_pool2d)

    def __init__(
        self, output_size: int | Sequence[int | None], data_format: str = "NCHW", name: str | None = None
    ) -> None:
        self._keep(name, output_size=output_size, data_format=data_format)


class AdaptiveAvgPool3D(_AdaptiveAvg):
    """See `paddle.nn.functional.adaptive_avg_pool3d`."""

    function = staticmethod(F.adaptive_avg_pool3d)

    def __init__(
        self, output_size: int | Sequence[int | None], data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        self._keep(name, output_size=output_size, data_format=data_format)


class AdaptiveMaxPool1D(_AdaptiveMax):
    """See `paddle.nn.functional.adaptive_max_pool1d`."""

    function = staticmethod(F.adaptive_max_pool1d)

    def __init__(self, output_size: int | Sequence[int], return_mask: bool = False, name: str | None = None) -> None:
        self._keep(name, output_size=output_size, return_mask=return_mask)


class AdaptiveMaxPool2D(_AdaptiveMax):
    """See `paddle.nn.functional.adaptive_max_pool2d`."""

    function = staticmethod(F.adaptive_max_pool2d)

    def __init__(
        self, output_size: int | Sequence[int | None], return_mask: bool = False, name: str | None = None
    ) -> None:
        self._keep(name, output_size=output_size, return_mask=return_mask)


class AdaptiveMaxPool3D(_AdaptiveMax):
    """See `paddle.nn.functional.adaptive_max_pool3d`."""

    function = staticmethod(F.adaptive_max_pool3d)

    def __init__(
        self, output_size: int | Sequence[int | None], return_mask: bool = False, name: str | None = None
    ) -> None:
        self._keep(name, output_size=output_size, return_mask=return_mask)


class AvgPool1D(_Pool):
    """See `paddle.nn.functional.avg_pool1d`."""

    function = staticmethod(F.avg_pool1d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        exclusive: bool = True,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        self._keep(
            name, kernel_size=kernel_size, stride=stride, padding=padding, exclusive=exclusive, ceil_mode=ceil_mode
        )


class AvgPool2D(_Pool):
    """See `paddle.nn.functional.avg_pool2d`."""

    function = staticmethod(F.avg_pool2d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            exclusive=exclusive,
            divisor_override=divisor_override,
            data_format=data_format,
        )


class AvgPool3D(_Pool):
    """See `paddle.nn.functional.avg_pool3d`."""

    function = staticmethod(F.avg_pool3d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        ceil_mode: bool = False,
        exclusive: bool = True,
        divisor_override: float | None = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            exclusive=exclusive,
            divisor_override=divisor_override,
            data_format=data_format,
        )


class FractionalMaxPool2D(_Fractional):
    """See `paddle.nn.functional.fractional_max_pool2d`."""

    function = staticmethod(F.fractional_max_pool2d)

    def __init__(
        self,
        output_size: int | Sequence[int | None],
        kernel_size: int | Sequence[int] | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        self._keep(name, output_size=output_size, kernel_size=kernel_size, random_u=random_u, return_mask=return_mask)


class FractionalMaxPool3D(_Fractional):
    """See `paddle.nn.functional.fractional_max_pool3d`."""

    function = staticmethod(F.fractional_max_pool3d)

    def __init__(
        self,
        output_size: int | Sequence[int | None],
        kernel_size: int | Sequence[int] | None = None,
        random_u: float | None = None,
        return_mask: bool = False,
        name: str | None = None,
    ) -> None:
        self._keep(name, output_size=output_size, kernel_size=kernel_size, random_u=random_u, return_mask=return_mask)


class LPPool1D(_PowerPool):
    """See `paddle.nn.functional.lp_pool1d`."""

    function = staticmethod(F.lp_pool1d)

    def __init__(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        ceil_mode: bool = False,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            norm_type=float(norm_type),
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            data_format=data_format,
        )


class LPPool2D(_PowerPool):
    """See `paddle.nn.functional.lp_pool2d`."""

    function = staticmethod(F.lp_pool2d)

    def __init__(
        self,
        norm_type: float,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            norm_type=float(norm_type),
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            ceil_mode=ceil_mode,
            data_format=data_format,
        )


class MaxPool1D(_Pool):
    """See `paddle.nn.functional.max_pool1d`."""

    function = staticmethod(F.max_pool1d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        name: str | None = None,
    ) -> None:
        self._keep(
            name, kernel_size=kernel_size, stride=stride, padding=padding, return_mask=return_mask, ceil_mode=ceil_mode
        )


class MaxPool2D(_Pool):
    """See `paddle.nn.functional.max_pool2d`."""

    function = staticmethod(F.max_pool2d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            return_mask=return_mask,
            ceil_mode=ceil_mode,
            data_format=data_format,
        )


class MaxPool3D(_Pool):
    """See `paddle.nn.functional.max_pool3d`."""

    function = staticmethod(F.max_pool3d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        return_mask: bool = False,
        ceil_mode: bool = False,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            return_mask=return_mask,
            ceil_mode=ceil_mode,
            data_format=data_format,
        )


class MaxUnPool1D(_Unpool):
    """See `paddle.nn.functional.max_unpool1d`."""

    function = staticmethod(F.max_unpool1d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        data_format: str = "NCL",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            data_format=data_format,
            output_size=output_size,
        )


class MaxUnPool2D(_Unpool):
    """See `paddle.nn.functional.max_unpool2d`."""

    function = staticmethod(F.max_unpool2d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        data_format: str = "NCHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            data_format=data_format,
            output_size=output_size,
        )


class MaxUnPool3D(_Unpool):
    """See `paddle.nn.functional.max_unpool3d`."""

    function = staticmethod(F.max_unpool3d)

    def __init__(
        self,
        kernel_size: int | Sequence[int],
        stride: int | Sequence[int] | None = None,
        padding: int | str | Sequence[int] = 0,
        data_format: str = "NCDHW",
        output_size: Sequence[int] | None = None,
        name: str | None = None,
    ) -> None:
        self._keep(
            name,
            kernel_size=kernel_size,
            stride=stride,
            padding=padding,
            data_format=data_format,
            output_size=output_size,
        )


AdaptiveMaxPool1d = AdaptiveMaxPool1D
AdaptiveMaxPool2d = AdaptiveMaxPool2D
AdaptiveMaxPool3d = AdaptiveMaxPool3D
LPPool1d = LPPool1D
LPPool2d = LPPool2D

__all__ = [
    "AdaptiveAvgPool1D",
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool1D",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2D",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3D",
    "AdaptiveMaxPool3d",
    "AvgPool1D",
    "AvgPool2D",
    "AvgPool3D",
    "FractionalMaxPool2D",
    "FractionalMaxPool3D",
    "LPPool1D",
    "LPPool1d",
    "LPPool2D",
    "LPPool2d",
    "MaxPool1D",
    "MaxPool2D",
    "MaxPool3D",
    "MaxUnPool1D",
    "MaxUnPool2D",
    "MaxUnPool3D",
]
