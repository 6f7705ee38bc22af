"""Scaled dot-product attention, in Paddle's layout: the heads are the axis before the last."""

from __future__ import annotations

from typing import Any

from .._arrays._array import reshaped
from .._arrays._creation import full_0d
from .._calls import _operators
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import tensor
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from ._dropout import dropout

__all__ = ["scaled_dot_product_attention"]


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    backend: str | None = None,
    scale: float | None = None,
    enable_gqa: bool = True,
    name: str | None = None,
) -> Tensor:
    """softmax(scale * query @ key.T + mask) @ value, for each head.

    Args:
        query: of shape [batch, length, heads, features], or without the batch.
        key, value: of shape [batch, other length, heads or a divisor of them, features].
        attn_mask: broadcasts to [batch, heads, length, other length]: of bools True where query may see key, or a
            tensor that is added. With is_causal it changes nothing, as in Paddle.
        dropout_p: the probability with which `dropout` sets an element of the softmax to 0.
        is_causal: whether query i sees the keys up to i only.
        training: whether there is dropout.
        backend: changes nothing; there is one.
        scale: None: 1 / sqrt(features).
        enable_gqa: whether several heads of query may share one of key and value.

    Returns:
        A tensor of the shape of query, with the features of value.

    Raises:
        AssertionError: the heads do not fit.
        UnsupportedError: query is not floating-point.
        ValueError: an operand is no tensor, or the dtypes or shapes do not fit.
    """
    function = "scaled_dot_product_attention"
    alike(of_floats(query, function), tensor(key, function, "key"), function)
    alike(query, tensor(value, function, "value"), function)
    rank = len(meta(query).shape)
    if rank not in (3, 4) or len(meta(key).shape) != rank or len(meta(value).shape) != rank:
        raise ValueError(f"[{function}] query has {axes_text(rank)}; want 3 or 4, and as many of key and value")
    if rank == 3:
        query, key, value = (_operators.unsqueeze(x, 0) for x in (query, key, value))
    heads, shared = meta(query).shape[2], meta(key).shape[2]
    if meta(value).shape[2] != shared or (heads % max(shared, 1) if enable_gqa else heads != shared):
        raise AssertionError(
            f"[{function}] heads are {heads}, {shared} and {meta(value).shape[2]}; want a divisor twice"
        )
    q, k, v = (_operators.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    features = meta(query).shape[3]
    factor = float(scale or (features**-0.5 if features else 1.0))
    mask = None if is_causal or attn_mask is None else tensor(attn_mask, function, "attn_mask")
    dropped = dropout_p > 0 and training
    if not dropped and (mask is None or meta(mask).dtype in (_dtype.bool_, meta(query).dtype)):
        result = _operators.attention(q, k, v, mask, factor, bool(is_causal))
    else:
        weights = _operators.softmax(masked(grouped(q * factor, k, True), mask, is_causal), -1)
        if dropped:
            weights = dropout(weights, dropout_p, None, training)
        result = grouped(weights, v, False)
    result = _operators.transpose(result, [0, 2, 1, 3])
    return _operators.squeeze(result, 0) if rank == 3 else result


def grouped(x: Tensor, y: Tensor, transpose: bool) -> Tensor:
    """x @ y for each head, or x @ y.T; neighbouring heads of x share one of y, as its rows."""
    (batch, heads, rows, columns), shared = meta(x).shape, meta(y).shape[1]
    if heads == shared:
        return _operators.matmul(x, y, False, transpose)
    joined = reshaped(x, [batch, shared, heads // max(shared, 1) * rows, columns])
    product = _operators.matmul(joined, y, False, transpose)
    return reshaped(product, [batch, heads, rows, meta(product).shape[3]])


def masked(scores: Tensor, mask: Any, causal: bool) -> Tensor:
    """Scores with -inf where a query must not see a key, or with a mask added."""
    if causal:
        rows, columns = (counted(scores, n) for n in meta(scores).shape[2:])
        seen = _operators.less_equal(columns, _operators.unsqueeze(rows, 1))
        return _operators.where(seen, scores, full_0d(scores, float("-inf")))
    if mask is None:
        return scores
    if meta(mask).dtype is _dtype.bool_:
        return _operators.where(mask, scores, full_0d(scores, float("-inf")))
    return _operators.add(scores, mask)


def counted(like: Tensor, n: int) -> Tensor:
    """The numbers from 0 to n - 1, in the place of a tensor."""
    return _operators.range(meta(like).place.word, 0, 1, n, _dtype.int64)
