"""Clipping of gradients: what optimizers do with (parameter, gradient) pairs before a step. No number is read back to Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls import _operators
from .._calls._grad import no_grad
from .._core import _dtype

if TYPE_CHECKING:
    from .._tensor import Tensor


class ClipGradBase:
    """Called with pairs of parameters and gradients, it returns pairs with clipped ones. Parameters with `need_clip` False and those
    without a gradient are left as they are.
    """

    def __call__(self, params_grads: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        with no_grad():
            return self._clipped(params_grads)

    def _clipped(self, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        return [(p, self._each(g) if _counts(p, g) else g) for p, g in pairs]

    def _each(self, gradient: Tensor) -> Tensor:
        raise NotImplementedError(f"[{type(self).__name__}] has no __call__(params_grads)")


def _counts(parameter: Any, gradient: Any) -> bool:
    return gradient is not None and getattr(parameter, "need_clip", True)


class ClipGradByValue(ClipGradBase):
    """Elements of each gradient within [min, max].

    Args:
        max: the largest; above 0 if min is left out.
        min: the smallest, by default -max.
    """

    def __init__(self, max: float, min: float | None = None) -> None:
        if min is None and not max > 0:
            raise AssertionError(f"[ClipGradByValue] max is {max}; want more than 0, or min too")
        self.max = float(max)
        self.min = -self.max if min is None else float(min)

    def _each(self, gradient: Tensor) -> Tensor:
        return _operators.clip(gradient, self.min, self.max)

    def __str__(self) -> str:
        return f"Clip Gradient By Value, min = {self.min:f}, max={self.max:f}"


class ClipGradByNorm(ClipGradBase):
    """Each gradient that is longer than clip_norm scaled to this length."""

    def __init__(self, clip_norm: float) -> None:
        self.clip_norm = float(clip_norm)

    def _each(self, gradient: Tensor) -> Tensor:
        length = _length([gradient])
        limit = _number(self.clip_norm, length)
        factor: Tensor = limit / _operators.maximum(length, limit)
        clipped: Tensor = gradient * _operators.cast(factor, gradient.dtype)
        return clipped

    def __str__(self) -> str:
        return f"Gradient Clip By Norm, clip_norm={self.clip_norm:f}"


class ClipGradByGlobalNorm(ClipGradBase):
    """All gradients scaled by one number if they, as one vector, are longer than clip_norm.

    Args:
        group_name, auto_skip_clip: have no effect.
    """

    def __init__(self, clip_norm: float, group_name: str = "default_group", auto_skip_clip: bool = False) -> None:
        self.clip_norm = float(clip_norm)
        self.group_name, self.auto_skip_clip = group_name, auto_skip_clip

    def _clipped(self, pairs: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
        counted = [g for p, g in pairs if _counts(p, g)]
        if not counted:
            return pairs
        length = _length(counted)
        limit = _number(self.clip_norm, length)
        factor = limit / _operators.maximum(length, limit)
        return [(p, g * _operators.cast(factor, g.dtype) if _counts(p, g) else g) for p, g in pairs]

    def __str__(self) -> str:
        return f"Gradient Clip By GlobalNorm, global_norm={self.clip_norm:f}"


def _number(value: float, like: Tensor) -> Tensor:
    return _operators.full(like.place.word, (), value, like.dtype)


def _length(gradients: list[Any]) -> Tensor:
    """The 2-norm of all elements; those of halves are squared in float32."""
    squares: Any = None
    for gradient in gradients:
        wide = gradient if gradient.dtype.itemsize > 2 else _operators.cast(gradient, _dtype.float32)
        found = (wide * wide).sum()
        squares = found if squares is None else squares + found
    return _operators.sqrt(squares)


__all__ = ["ClipGradByGlobalNorm", "ClipGradByNorm", "ClipGradByValue"]
