"""Dropout as layers, which do nothing in evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._functional import _all as F
from ._function import FunctionLayer

if TYPE_CHECKING:
    from .._tensor import Tensor


class _Dropout(FunctionLayer):
    def forward(self, x: Tensor) -> Any:
        return type(self).function(x, training=self.training, **self._arguments())


class AlphaDropout(_Dropout):
    """See `paddle.nn.functional.alpha_dropout`."""

    function = staticmethod(F.alpha_dropout)

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        self._keep(name, p=p)


class Dropout(_Dropout):
    """See `paddle.nn.functional.dropout`."""

    function = staticmethod(F.dropout)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        return f"p={self.p}, axis={self.axis}, mode={self.mode}{name}, inplace={self.inplace}"

    def __init__(
        self,
        p: float = 0.5,
        inplace: bool = False,
        axis: int | Sequence[int] | None = None,
        mode: str = "upscale_in_train",
        name: str | None = None,
    ) -> None:
        self._keep(name, p=p, inplace=inplace, axis=axis, mode=mode)


class Dropout2D(_Dropout):
    """See `paddle.nn.functional.dropout2d`."""

    function = staticmethod(F.dropout2d)

    def __init__(self, p: float = 0.5, data_format: str = "NCHW", name: str | None = None) -> None:
        self._keep(name, p=p, data_format=data_format)


class Dropout3D(_Dropout):
    """See `paddle.nn.functional.dropout3d`."""

    function = staticmethod(F.dropout3d)

    def __init__(self, p: float = 0.5, data_format: str = "NCDHW", name: str | None = None) -> None:
        self._keep(name, p=p, data_format=data_format)


class FeatureAlphaDropout(_Dropout):
    """See `paddle.nn.functional.feature_alpha_dropout`."""

    function = staticmethod(F.feature_alpha_dropout)

    def __init__(self, p: float = 0.5, name: str | None = None) -> None:
        self._keep(name, p=p)


__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout2D",
    "Dropout3D",
    "FeatureAlphaDropout",
]
