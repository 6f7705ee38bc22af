"""Parameters as one vector, and bounds for their gradients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._arrays._array import concat
from .._arrays._creation import filled
from .._calls import _operators
from .._calls._grad import no_grad
from .._core import _dtype, _place
from .._core._objects import Tensor
from .._matrices._statistics import vector_norm

if TYPE_CHECKING:
    from ._parameter import Parameter


def parameters_to_vector(parameters: Iterable[Parameter], name: str | None = None) -> Tensor:
    """The elements of all parameters, one after the other, as one axis; gradients pass through."""
    made: Tensor = concat([p.reshape([-1]) for p in parameters], axis=0)
    return made


def vector_to_parameters(vec: Tensor, parameters: Iterable[Parameter], name: str | None = None) -> None:
    """Writes elements of a vector into parameters, one after the other.

    Raises:
        ValueError: the vector has more or fewer elements than the parameters.
    """
    given = list(parameters)
    wanted = sum(p.size for p in given)
    if vec.size != wanted:
        raise ValueError(f"[vector_to_parameters] vec has {vec.size} elements; want {wanted}, those of the parameters")
    start = 0
    with no_grad():
        for p in given:
            p.set_value(vec[start : start + p.size].reshape(p.shape).astype(p.dtype))
            start += p.size


def _gradients(parameters: Any) -> list[Any]:
    """Of one parameter or of many; those without are left out."""
    given = [parameters] if isinstance(parameters, Tensor) else list(parameters)
    return [p.grad for p in given if p.grad is not None]


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False
) -> Tensor:
    """Scales gradients in place if they, as one vector, are longer than max_norm; returns their length before.

    Args:
        parameters: a parameter, or several.
        norm_type: the exponent of the length, or infinity.
        error_if_nonfinite: whether a length that is not finite is an error. It is read back for that.

    Raises:
        RuntimeError: the length is not finite, and this is to be an error.
    """
    gradients = _gradients(parameters)
    with no_grad():
        if not gradients:
            return filled((), 0.0, _dtype.float32, _place.current())
        length = vector_norm(concat([g.reshape([-1]) for g in gradients], axis=0), float(norm_type))
        if error_if_nonfinite and not bool(_operators.isfinite(length)):
            raise RuntimeError(f"[clip_grad_norm_] the norm of order {norm_type} is {float(length)}; want a finite one")
        factor = _operators.clip(float(max_norm) / (length + 1e-6), None, 1.0)
        for g in gradients:
            g.copy_(g * _operators.cast(factor, g.dtype))
        return length


def clip_grad_value_(parameters: Any, clip_value: float) -> None:
    """Brings the elements of gradients within [-clip_value, clip_value], in place.

    Raises:
        ValueError: clip_value is below 0.
    """
    if clip_value < 0:
        raise ValueError(f"[clip_grad_value_] clip_value is {clip_value}; want 0 or more")
    with no_grad():
        for g in _gradients(parameters):
            g.copy_(_operators.clip(g, -float(clip_value), float(clip_value)))
