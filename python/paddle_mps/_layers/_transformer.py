"""Attention with several heads, and the encoders and decoders made of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .._arrays._array import concat
from .._arrays._creation import full, zeros
from .._calls import _operators
from .._core import _dtype
from .._functional import _all as F
from .._indices._diagonals import triu
from .._maths._ops import matmul
from ._containers import LayerList
from ._dropouts import Dropout
from ._layer import Layer
from ._norms import LayerNorm
from ._parameter import ParamAttr
from ._products import Linear

if TYPE_CHECKING:
    from .._tensor import Tensor

UNSEEN = 1e9  # by how much the scores of keys that a mask hides are smaller


class Cache(NamedTuple):
    """Keys and values of the steps so far, of (batch, heads, steps, width of a head); each call adds its own."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values of a memory that stays the same."""

    k: Any
    v: Any


def additive_mask(mask: Any, dtype: _dtype.DType) -> Any:
    """A mask that is added to scores: of booleans and integers, 0 where a key is seen and -1e9 where it is not."""
    if mask is None:
        return None
    kind = mask.dtype
    if kind is _dtype.bool_ or kind.is_integer:
        return (_operators.cast(mask, dtype) - 1.0) * UNSEEN
    return _operators.cast(mask, dtype)


class MultiHeadAttention(Layer):
    """Attention: for each head softmax(q @ k.T / sqrt(width)) @ v of projected queries, keys and values, joined and projected.

    Args:
        embed_dim: the width of queries and results, a multiple of num_heads.
        dropout: the probability for weights of attention.
        kdim, vdim: the widths of keys and values, by default embed_dim.
        need_weights: whether `forward` returns the weights too.
    """

    Cache = Cache
    StaticCache = StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        for name, value in (("embed_dim", embed_dim), ("num_heads", num_heads)):
            if value <= 0:
                raise AssertionError(f"[MultiHeadAttention] {name} is {value}; want more than 0")
        if embed_dim % num_heads:
            raise AssertionError(
                f"[MultiHeadAttention] embed_dim is {embed_dim}; want a multiple of num_heads, {num_heads}"
            )
        self.embed_dim, self.num_heads, self.dropout, self.need_weights = embed_dim, num_heads, dropout, need_weights
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.head_dim = embed_dim // num_heads
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def _heads(self, x: Any) -> Any:
        """(batch, steps, embed_dim) as (batch, heads, steps, width)."""
        return x.reshape([0, 0, self.num_heads, self.head_dim]).transpose([0, 2, 1, 3])

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Projected keys and values of each head."""
        return self._heads(self.k_proj(key)), self._heads(self.v_proj(value))

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """A cache for `forward`: a StaticCache of a memory, or a Cache, which is empty unless both key and value are given.

        Args:
            key: of (batch, steps, kdim); without a value only its batch counts.
        """
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is None:
            empty = [key.shape[0], self.num_heads, 0, self.head_dim]
            return Cache(zeros(empty, key.dtype), zeros(empty, key.dtype))
        return Cache(key, value)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        """The result of (batch, steps, embed_dim), or a tuple with the weights if wanted and the new cache if one is given.

        Args:
            key, value: by default the queries.
            attn_mask: broadcast to (batch, heads, queries, keys): booleans or integers, 0 for keys that are hidden, or numbers that
                are added to the scores.
        """
        key = query if key is None else key
        value = query if value is None else value
        q = self._heads(self.q_proj(query))
        if isinstance(cache, StaticCache):
            k, v = cache.k, cache.v
        else:
            k, v = self.compute_kv(key, value)
        if isinstance(cache, Cache):
            k, v = concat([cache.k, k], axis=2), concat([cache.v, v], axis=2)
            cache = Cache(k, v)
        scores = matmul(q * self.head_dim**-0.5, k, transpose_y=True)
        if attn_mask is not None:
            scores = scores + additive_mask(attn_mask, scores.dtype)
        weights = F.softmax(scores)
        if self.dropout:
            weights = F.dropout(weights, self.dropout, training=self.training, mode="upscale_in_train")
        joined = matmul(weights, v).transpose([0, 2, 1, 3])
        result = self.out_proj(joined.reshape([0, 0, self.embed_dim]))
        made = [result, *([weights] if self.need_weights else []), *([cache] if cache is not None else [])]
        return made[0] if len(made) == 1 else tuple(made)


def attributes_of(attr: Any, count: int) -> list[Any]:
    """The attributes of the parts of a layer: one for all, or a list of as many."""
    if isinstance(attr, (list, tuple)):
        if len(attr) == 1:
            return list(attr) * count
        if len(attr) != count:
            raise AssertionError(f"[ParamAttr] got {len(attr)} attributes; want 1 or {count}")
        return list(attr)
    if isinstance(attr, ParamAttr):
        copies = [copy.copy(attr) for _ in range(count)]
        for i, each in enumerate(copies):
            each.name = f"{attr.name}_{i}" if attr.name else None
        return copies
    return [attr] * count


def activation_of(name: str) -> Callable[..., Any]:
    """A function of nn.functional.

    Raises:
        AttributeError: it has no such function.
    """
    found: Callable[..., Any] = getattr(F, name)
    return found


def _check_sizes(name: str, d_model: int, nhead: int, dim_feedforward: int) -> None:
    for label, value in (("d_model", d_model), ("nhead", nhead), ("dim_feedforward", dim_feedforward)):
        if value <= 0:
            raise AssertionError(f"[{name}] {label} is {value}; want more than 0")


class TransformerEncoderLayer(Layer):
    """Self-attention and a network of two linear layers, each with dropout, a residual sum and layer norm.

    Args:
        activation: the name of a function of nn.functional, between both linear layers.
        attn_dropout, act_dropout: for attention and behind the activation, by default dropout.
        normalize_before: whether layer norm comes before each part, and not after its sum.
        weight_attr, bias_attr: for all, or a list of two: for attention, and for the linear layers.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _check_sizes("TransformerEncoderLayer", d_model, nhead, dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = attributes_of(weight_attr, 2), attributes_of(bias_attr, 2)
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[0], bias_attr=biases[0])
        self.linear1 = Linear(d_model, dim_feedforward, weights[1], biases[1])
        self.dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[1], biases[1])
        self.norm1 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm2 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.dropout1 = Dropout(dropout, mode="upscale_in_train")
        self.dropout2 = Dropout(dropout, mode="upscale_in_train")
        self.activation = activation_of(activation)

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """The result of (batch, steps, d_model), or with a cache a pair of it and the new cache."""
        residual = src
        x = self.norm1(src) if self.normalize_before else src
        new = None
        if cache is None:
            x = self.self_attn(x, x, x, src_mask)
        else:
            x, new = self.self_attn(x, x, x, src_mask, cache)
        x = residual + self.dropout1(x)
        x = x if self.normalize_before else self.norm1(x)
        residual = x
        x = self.norm2(x) if self.normalize_before else x
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        x = residual + self.dropout2(x)
        x = x if self.normalize_before else self.norm2(x)
        return x if cache is None else (x, new)

    def gen_cache(self, src: Tensor) -> Cache:
        """An empty cache for examples like these."""
        made: Cache = self.self_attn.gen_cache(src, type=Cache)
        return made


class _Stack(Layer):
    """Layers of one kind, and a norm behind them."""

    def _build(self, layer: Any, num_layers: int, norm: Any) -> None:
        Layer.__init__(self)
        self.layers = LayerList([layer if i == 0 else type(layer)(**layer._config) for i in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm


class TransformerEncoder(_Stack):
    """Layers of the kind of `encoder_layer`, which is the first; the others have parameters of their own."""

    def __init__(self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Layer | None = None) -> None:
        self._build(encoder_layer, num_layers, norm)

    def forward(self, src: Tensor, src_mask: Any = None, cache: Any = None) -> Any:
        """The result of (batch, steps, d_model), or with caches of all layers a pair of it and the new ones."""
        x: Any = src
        mask = additive_mask(src_mask, src.dtype)
        caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, mask)
            else:
                x, new = layer(x, mask, cache[i])
                caches.append(new)
        x = x if self.norm is None else self.norm(x)
        return x if cache is None else (x, caches)

    def gen_cache(self, src: Tensor) -> list[Cache]:
        """Empty caches of all layers."""
        return [layer.gen_cache(src) for layer in self.layers]


class TransformerDecoderLayer(Layer):
    """Self-attention, attention to a memory and a network of two linear layers; see `TransformerEncoderLayer`.

    Args:
        weight_attr, bias_attr: for all, or a list of three: for both attentions, and for the linear layers.
    """

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        layer_norm_eps: float = 1e-5,
    ) -> None:
        self._config = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        super().__init__()
        _check_sizes("TransformerDecoderLayer", d_model, nhead, dim_feedforward)
        attn_dropout = dropout if attn_dropout is None else attn_dropout
        act_dropout = dropout if act_dropout is None else act_dropout
        self.normalize_before = normalize_before
        weights, biases = attributes_of(weight_attr, 3), attributes_of(bias_attr, 3)
        self.self_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[0], bias_attr=biases[0])
        self.cross_attn = MultiHeadAttention(d_model, nhead, attn_dropout, weight_attr=weights[1], bias_attr=biases[1])
        self.linear1 = Linear(d_model, dim_feedforward, weights[2], biases[2])
        self.dropout = Dropout(act_dropout, mode="upscale_in_train")
        self.linear2 = Linear(dim_feedforward, d_model, weights[2], biases[2])
        self.norm1 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm2 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.norm3 = LayerNorm(d_model, epsilon=layer_norm_eps)
        self.dropout1 = Dropout(dropout, mode="upscale_in_train")
        self.dropout2 = Dropout(dropout, mode="upscale_in_train")
        self.dropout3 = Dropout(dropout, mode="upscale_in_train")
        self.activation = activation_of(activation)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """The result of (batch, steps, d_model), or with a pair of caches a pair of it and the new pair."""
        residual = tgt
        x = self.norm1(tgt) if self.normalize_before else tgt
        growing = fixed = None
        if cache is None:
            x = self.self_attn(x, x, x, tgt_mask)
        else:
            x, growing = self.self_attn(x, x, x, tgt_mask, cache[0])
        x = residual + self.dropout1(x)
        x = x if self.normalize_before else self.norm1(x)
        residual = x
        x = self.norm2(x) if self.normalize_before else x
        if cache is None:
            x = self.cross_attn(x, memory, memory, memory_mask)
        else:
            x, fixed = self.cross_attn(x, memory, memory, memory_mask, cache[1])
        x = residual + self.dropout2(x)
        x = x if self.normalize_before else self.norm2(x)
        residual = x
        x = self.norm3(x) if self.normalize_before else x
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        x = residual + self.dropout3(x)
        x = x if self.normalize_before else self.norm3(x)
        return x if cache is None else (x, (growing, fixed))

    def gen_cache(self, memory: Tensor) -> tuple[Cache, StaticCache]:
        """An empty cache of self-attention, and one of the memory."""
        return (
            self.self_attn.gen_cache(memory, type=Cache),
            self.cross_attn.gen_cache(memory, memory, type=StaticCache),
        )


class TransformerDecoder(_Stack):
    """Layers of the kind of `decoder_layer`; see `TransformerEncoder`."""

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Layer | None = None) -> None:
        self._build(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Any = None, memory_mask: Any = None, cache: Any = None
    ) -> Any:
        """The result of (batch, steps, d_model), or with caches of all layers a pair of it and the new ones."""
        x: Any = tgt
        own, other = additive_mask(tgt_mask, tgt.dtype), additive_mask(memory_mask, memory.dtype)
        caches = []
        for i, layer in enumerate(self.layers):
            if cache is None:
                x = layer(x, memory, own, other)
            else:
                x, new = layer(x, memory, own, other, cache[i])
                caches.append(new)
        x = x if self.norm is None else self.norm(x)
        return x if cache is None else (x, caches)

    def gen_cache(self, memory: Tensor, do_zip: bool = False) -> Any:
        """Caches of all layers; with do_zip two lists, of those that grow and of those of the memory."""
        made = [layer.gen_cache(memory) for layer in self.layers]
        return list(zip(*made)) if do_zip else made


class Transformer(Layer):
    """An encoder and a decoder (Vaswani and others, 2017).

    Args:
        weight_attr, bias_attr: for all, or lists: of one, of two (attention, linear layers) or of three (self-attention, attention
            to the memory, linear layers).
        custom_encoder, custom_decoder: layers instead of those that the other arguments describe.
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: str = "relu",
        attn_dropout: float | None = None,
        act_dropout: float | None = None,
        normalize_before: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
        custom_encoder: Layer | None = None,
        custom_decoder: Layer | None = None,
    ) -> None:
        super().__init__()
        _check_sizes("Transformer", d_model, nhead, dim_feedforward)
        self.d_model, self.nhead = d_model, nhead
        common = (dim_feedforward, dropout, activation, attn_dropout, act_dropout, normalize_before)
        for_encoder, for_decoder = zip(*(_of_both(attr) for attr in (weight_attr, bias_attr)))
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(d_model, nhead, *common, *for_encoder)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model))
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            decoder = TransformerDecoderLayer(d_model, nhead, *common, *for_decoder)
            self.decoder = TransformerDecoder(decoder, num_decoder_layers, LayerNorm(d_model))

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None
    ) -> Any:
        """The result of (batch, steps of tgt, d_model)."""
        return self.decoder(tgt, self.encoder(src, src_mask), tgt_mask, memory_mask)

    def generate_square_subsequent_mask(self, length: int) -> Any:
        """A mask of (length, length) that hides later keys: 0 on and below the diagonal, -inf above."""
        return triu(full([length, length], float("-inf")), 1)


def _of_both(attr: Any) -> tuple[Any, Any]:
    """The attributes of encoder layers, and those of decoder layers, from what Transformer takes."""
    if not isinstance(attr, (list, tuple)):
        return attr, attr
    if len(attr) == 1:
        return [attr[0]] * 2, [attr[0]] * 3
    if len(attr) == 2:
        return list(attr), [attr[0], attr[0], attr[1]]
    if len(attr) == 3:
        return [attr[0], attr[2]], list(attr)
    raise AssertionError(f"[Transformer] got {len(attr)} attributes; want 1 to 3")


__all__ = [
    "MultiHeadAttention",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]
