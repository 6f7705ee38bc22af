"""Padding as layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._functional import _all as F
from ._layer import Layer

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Pad(Layer):
    """Adds elements around the axes behind the channels.

    Args:
        padding: how many at every end, or at both ends of each axis, from the last axis to the first.
        mode: "constant", "reflect", "replicate" or "circular".
        value: of the elements, for "constant".
    """

    _axes: int

    def __init__(self, padding: Any, mode: str, value: float, data_format: str, name: str | None) -> None:
        super().__init__()
        self.padding = [padding] * (2 * self._axes) if isinstance(padding, int) else padding
        self._mode, self.value, self._data_format, self._name = mode, value, data_format, name

    def forward(self, x: Tensor) -> Any:
        return F.pad(x, self.padding, self._mode, self.value, self._data_format)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"padding={self.padding}, mode={self._mode}, value={self.value}, data_format={self._data_format}{name}"


class Pad1D(_Pad):
    """Padding of 1 axis in a mode that is said; see `paddle.nn.functional.pad`."""

    _axes = 1

    def __init__(
        self,
        padding: int | Sequence[int] | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad2D(_Pad):
    """Padding of 2 axes in a mode that is said; see `paddle.nn.functional.pad`."""

    _axes = 2

    def __init__(
        self,
        padding: int | Sequence[int] | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class Pad3D(_Pad):
    """Padding of 3 axes in a mode that is said; see `paddle.nn.functional.pad`."""

    _axes = 3

    def __init__(
        self,
        padding: int | Sequence[int] | Tensor,
        mode: str = "constant",
        value: float = 0.0,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(padding, mode, value, data_format, name)


class ConstantPad1D(Pad1D):
    """Padding of 1 axis of one number."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, value: float, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad2D(Pad2D):
    """Padding of 2 axes of one number."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, value: float, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ConstantPad3D(Pad3D):
    """Padding of 3 axes of one number."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, value: float, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", value, data_format, name)


class ZeroPad1D(Pad1D):
    """Padding of 1 axis of zeros."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ZeroPad2D(Pad2D):
    """Padding of 2 axes of zeros."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ZeroPad3D(Pad3D):
    """Padding of 3 axes of zeros."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "constant", 0.0, data_format, name)


class ReflectionPad1D(Pad1D):
    """Padding of 1 axis that mirrors the elements at the ends, without the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReflectionPad2D(Pad2D):
    """Padding of 2 axes that mirrors the elements at the ends, without the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReflectionPad3D(Pad3D):
    """Padding of 3 axes that mirrors the elements at the ends, without the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "reflect", 0.0, data_format, name)


class ReplicationPad1D(Pad1D):
    """Padding of 1 axis that repeats the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


class ReplicationPad2D(Pad2D):
    """Padding of 2 axes that repeats the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


class ReplicationPad3D(Pad3D):
    """Padding of 3 axes that repeats the end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "replicate", 0.0, data_format, name)


class CircularPad1D(Pad1D):
    """Padding of 1 axis with the elements of the other end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCL", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


class CircularPad2D(Pad2D):
    """Padding of 2 axes with the elements of the other end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


class CircularPad3D(Pad3D):
    """Padding of 3 axes with the elements of the other end."""

    def __init__(
        self, padding: int | Sequence[int] | Tensor, data_format: str = "NCDHW", name: str | None = None
    ) -> None:
        super().__init__(padding, "circular", 0.0, data_format, name)


CircularPad1d = CircularPad1D
CircularPad2d = CircularPad2D
CircularPad3d = CircularPad3D
ConstantPad1d = ConstantPad1D
ConstantPad2d = ConstantPad2D
ConstantPad3d = ConstantPad3D
ReflectionPad1d = ReflectionPad1D
ReflectionPad2d = ReflectionPad2D
ReflectionPad3d = ReflectionPad3D
ReplicationPad1d = ReplicationPad1D
ReplicationPad2d = ReplicationPad2D
ReplicationPad3d = ReplicationPad3D

__all__ = [
    "CircularPad1D",
    "CircularPad1d",
    "CircularPad2D",
    "CircularPad2d",
    "CircularPad3D",
    "CircularPad3d",
    "ConstantPad1D",
    "ConstantPad1d",
    "ConstantPad2D",
    "ConstantPad2d",
    "ConstantPad3D",
    "ConstantPad3d",
    "Pad1D",
    "Pad2D",
    "Pad3D",
    "ReflectionPad1D",
    "ReflectionPad1d",
    "ReflectionPad2D",
    "ReflectionPad2d",
    "ReflectionPad3D",
    "ReflectionPad3d",
    "ReplicationPad1D",
    "ReplicationPad1d",
    "ReplicationPad2D",
    "ReplicationPad2d",
    "ReplicationPad3D",
    "ReplicationPad3d",
    "ZeroPad1D",
    "ZeroPad2D",
    "ZeroPad3D",
]
