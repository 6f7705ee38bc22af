"""Weights in other terms: a length and a direction, or divided by their largest singular value. A hook makes them before each call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls._grad import no_grad
from .._functional import _all as F
from .._maths._ops import matmul
from .._matrices._statistics import norm
from .._randomness._sampling import randn
from ._convolutions import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ._norms import power_iteration, rows_first
from ._parameter import ParamAttr, skip
from ._products import Linear

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ._layer import Layer


def lengths(v: Tensor, dim: int | None) -> Any:
    """The 2-norms of slices along an axis, as one axis; of all elements without one."""
    if dim is None:
        return norm(v)
    return norm(rows_first(v, dim), axis=1)


class WeightNorm:
    """The hook of `weight_norm`: weight = v * g / |v|."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name, self.dim = name, dim

    def weight(self, layer: Any) -> Any:
        v, g = getattr(layer, f"{self.name}_v"), getattr(layer, f"{self.name}_g")
        factor = g / lengths(v, self.dim)
        if self.dim is not None:
            factor = factor.reshape([-1 if i == self.dim else 1 for i in range(v.ndim)])
        return v * factor

    def __call__(self, layer: Any, inputs: Any) -> None:
        layer._buffers[self.name] = self.weight(layer)


def weight_norm(layer: Layer, name: str = "weight", dim: int | None = 0) -> Layer:
    """Replaces a parameter by its length and its direction, `weight_g` and `weight_v`, which are trained instead; returns the layer.

    Args:
        dim: the axis along which each slice has a length of its own; None or -1 for one length.

    Raises:
        RuntimeError: this parameter is replaced already.
    """
    if any(isinstance(h.hook, WeightNorm) and h.hook.name == name for h in layer._forward_pre_hooks.values()):
        raise RuntimeError(f"[weight_norm] {name!r} has weight norm already; want remove_weight_norm before")
    weight: Any = layer._parameters[name]
    axis = None if dim is None or dim == -1 else dim % weight.ndim
    hook = WeightNorm(name, axis)
    with no_grad():
        g, v = lengths(weight, axis), weight.detach().clone()
    del layer._parameters[name]
    for suffix, first in (("_v", v), ("_g", g)):
        made: Any = layer.create_parameter(list(first.shape), dtype=first.dtype)
        made.set_value(first)
        layer.add_parameter(name + suffix, made)
    layer._non_persistable_buffer_names_set.add(name)
    hook(layer, None)
    layer.register_forward_pre_hook(hook)
    return layer


def remove_weight_norm(layer: Layer, name: str = "weight") -> Layer:
    """Undoes `weight_norm`: the weight is a parameter again; returns the layer.

    Raises:
        ValueError: it has no weight norm.
    """
    for number, registered in layer._forward_pre_hooks.items():
        hook = registered.hook
        if isinstance(hook, WeightNorm) and hook.name == name:
            with no_grad():
                weight = hook.weight(layer)
            kept: Any = layer._parameters.pop(f"{name}_v")
            del layer._parameters[f"{name}_g"], layer._forward_pre_hooks[number]
            layer._buffers.pop(name, None)
            layer._non_persistable_buffer_names_set.discard(name)
            made: Any = layer.create_parameter(list(weight.shape), ParamAttr(trainable=kept.trainable), weight.dtype)
            made.set_value(weight)
            layer.add_parameter(name, made)
            return layer
    raise ValueError(f"[remove_weight_norm] {type(layer).__name__} has no weight norm of {name!r}")


class SpectralNormHook:
    """The hook of `spectral_norm`: weight = weight_orig / its largest singular value."""

    def __init__(self, name: str, count: int, dim: int, eps: float) -> None:
        self.name, self.count, self.dim, self.eps = name, count, dim, eps

    def weight(self, layer: Any, training: bool) -> Any:
        original = getattr(layer, f"{self.name}_orig")
        matrix = rows_first(original, self.dim)
        u, v = getattr(layer, f"{self.name}_u"), getattr(layer, f"{self.name}_v")
        if training:
            with no_grad():
                new_u, new_v = power_iteration(matrix, u, v, self.count, self.eps)
                u.set_value(new_u), v.set_value(new_v)
        return original / matmul(u.detach().clone(), matmul(matrix, v.detach().clone()))

    def __call__(self, layer: Any, inputs: Any) -> None:
        layer._buffers[self.name] = self.weight(layer, layer.training)


def spectral_norm(
    layer: Layer, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Layer:
    """Divides a parameter by its largest singular value at each call; returns the layer.

    The parameter is `weight_orig` then. The guess of the singular vectors, `weight_u` and `weight_v`, improves in training.

    Args:
        n_power_iterations: steps at each call.
        dim: the axis of rows; by default 1 for Linear and transposed convolutions, 0 for others.

    Raises:
        ValueError: n_power_iterations is below 1.
        RuntimeError: this parameter is divided already.
    """
    if n_power_iterations <= 0:
        raise ValueError(f"[spectral_norm] n_power_iterations is {n_power_iterations}; want 1 or more")
    if any(isinstance(h.hook, SpectralNormHook) and h.hook.name == name for h in layer._forward_pre_hooks.values()):
        raise RuntimeError(f"[spectral_norm] {name!r} has spectral norm already")
    if dim is None:
        dim = 1 if isinstance(layer, (Conv1DTranspose, Conv2DTranspose, Conv3DTranspose, Linear)) else 0
    for _ in ("u", "v"):
        skip(layer)
    weight: Any = layer._parameters.pop(name)
    hook = SpectralNormHook(name, n_power_iterations, dim, eps)
    with no_grad():
        matrix = rows_first(weight.detach(), dim)
        u = F.normalize(randn([matrix.shape[0]], weight.dtype), axis=0, epsilon=eps)
        v = F.normalize(randn([matrix.shape[1]], weight.dtype), axis=0, epsilon=eps)
        u, v = power_iteration(matrix, u, v, 15, eps)
    layer.add_parameter(f"{name}_orig", weight)
    layer._non_persistable_buffer_names_set.add(name)
    layer._buffers[name] = weight.detach().clone()
    layer.register_buffer(f"{name}_u", u)
    layer.register_buffer(f"{name}_v", v)
    layer.register_forward_pre_hook(hook)
    return layer
