"""paddle.nn.utils: weights in other terms, gradients within bounds, parameters as one vector."""

from .._layers._reweighting import remove_weight_norm, spectral_norm, weight_norm
from .._layers._vectors import clip_grad_norm_, clip_grad_value_, parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm_",
    "clip_grad_value_",
    "parameters_to_vector",
    "remove_weight_norm",
    "spectral_norm",
    "vector_to_parameters",
    "weight_norm",
]
