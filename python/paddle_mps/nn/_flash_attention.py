"""paddle.nn.functional.flash_attention: attention under the names of Paddle's CUDA kernels, which its CPU has as well."""

from __future__ import annotations

import sys
from typing import Any

from .._calls import _operators
from .._core._objects import Tensor, meta
from .._functional._attention import grouped, masked, scaled_dot_product_attention
from .._functional._dropout import dropout as dropped


def flash_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout: float = 0.0,
    causal: bool = False,
    return_softmax: bool = False,
    *,
    fixed_seed_offset: Any = None,
    rng_name: str = "",
    training: bool = True,
    name: str | None = None,
    softmax_scale: float | None = None,
) -> tuple[Tensor, Tensor | None]:
    """`scaled_dot_product_attention` of tensors of shape [batch, length, heads, features], and the softmax or None.

    Args:
        dropout: the probability with which an element of the softmax is set to 0.
        causal: whether query i sees the keys up to i only.
        return_softmax: whether the softmax is returned, of shape [batch, heads, length, other length].
        fixed_seed_offset, rng_name: change nothing, as on Paddle's CPU.
        training: whether there is dropout.
        softmax_scale: None: 1 / sqrt(features).

    Raises:
        AssertionError, UnsupportedError, ValueError: as `scaled_dot_product_attention`.
    """
    found = scaled_dot_product_attention(
        query, key, value, None, 0.0 if return_softmax else dropout, causal, training, scale=softmax_scale
    )
    if not return_softmax:
        return found, None
    features = meta(query).shape[-1]
    q, k, v = (_operators.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    scale = float(softmax_scale or (features**-0.5 if features else 1.0))
    weights = _operators.softmax(masked(grouped(q * scale, k, True), None, causal), -1)
    if dropout > 0 and training:
        weights = dropped(weights, dropout, None, training)
        found = _operators.transpose(grouped(weights, v, False), [0, 2, 1, 3])
    return found, weights


# A program imports it as a submodule of a module that is no package here.
sys.modules[f"{__package__}.functional.flash_attention"] = sys.modules[__name__]

__all__ = ["flash_attention", "scaled_dot_product_attention"]
