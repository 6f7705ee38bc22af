"""Layers that multiply their input with a parameter, or read its rows, and distances between inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._calls._grad import no_grad
from .._core import _dtype
from .._functional import _all as F
from ._function import FunctionLayer
from ._layer import Layer

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import PlaceLike
    from .._tensor import Tensor
    from ._parameter import ParamAttrLike


class Linear(Layer):
    """x @ weight + bias, for x of shape (..., in_features); the weight is (in_features, out_features).

    Args:
        weight_attr, bias_attr: of the parameters; False for no bias.
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        self._weight_attr, self._bias_attr, self.name = weight_attr, bias_attr, name
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Any:
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        name = f", name={self.name}" if self.name else ""
        rows, columns = self.weight.shape
        return f"in_features={rows}, out_features={columns}, dtype={self._dtype.name}{name}"


class Bilinear(Layer):
    """x1 @ weight[i] @ x2 + bias[i] for each output i; see `paddle.nn.functional.bilinear`.

    The weight is (out_features, in1_features, in2_features), the bias (1, out_features).
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        self._weight_attr, self._bias_attr, self._name = weight_attr, bias_attr, name
        self._in1_features, self._in2_features, self._out_features = in1_features, in2_features, out_features
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Tensor, x2: Tensor) -> Any:
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        sizes = (
            f"in1_features={self._in1_features}, in2_features={self._in2_features}, out_features={self._out_features}"
        )
        return f"{sizes}, dtype={self._dtype.name}{name}"


class Embedding(Layer):
    """Rows of a weight of (num_embeddings, embedding_dim) by integers of any shape.

    Args:
        padding_idx: the integer whose row is zeros and gets no gradient; below 0 it counts from the end.
        max_norm: rows that are read and longer are scaled to this length, in place; None for no limit.
        norm_type: the exponent of the length.
        scale_grad_by_freq: whether gradients of rows are divided by how often they were read.
        sparse: has no effect: gradients are dense.
        _weight: an array or a tensor of first values.
        _freeze: whether the weight is not trained.
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        *,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default() if dtype is None else dtype)
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(f"[Embedding] the weight is {[num_embeddings, embedding_dim]}; want sizes above 0")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(
                f"[Embedding] padding_idx is {padding_idx}; want {-num_embeddings} to {num_embeddings - 1}"
            )
        self._num_embeddings, self._embedding_dim = num_embeddings, embedding_dim
        self._sparse, self._scale_grad_by_freq = sparse, scale_grad_by_freq
        self._max_norm, self._norm_type, self._name = max_norm, norm_type, name
        self._padding_idx = padding_idx
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, device=device)
        with no_grad():
            if _weight is not None:
                self.set_state_dict({"weight": _weight})
            if padding_idx is not None:
                self.weight[padding_idx] = 0.0
        if _freeze:
            self.weight.stop_gradient = True

    def forward(self, x: Tensor) -> Any:
        return F.embedding(
            x,
            self.weight,
            self._padding_idx,
            self._max_norm,
            self._norm_type,
            self._sparse,
            self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        said = f"{self._num_embeddings}, {self._embedding_dim}"
        if self._padding_idx is not None:
            said += f", padding_idx={self._padding_idx}"
        said += f", sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return said + (f", name={self._name}" if self._name else "")


class CosineSimilarity(FunctionLayer):
    """See `paddle.nn.functional.cosine_similarity`."""

    function = staticmethod(F.cosine_similarity)
    _prefix = "_"

    def __init__(self, axis: int = 1, eps: float = 1e-8) -> None:
        self._keep(axis=axis, eps=eps)


class PairwiseDistance(FunctionLayer):
    """See `paddle.nn.functional.pairwise_distance`."""

    function = staticmethod(F.pairwise_distance)

    def __init__(self, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None) -> None:
        self._keep(name, p=p, epsilon=epsilon, keepdim=keepdim)

    def extra_repr(self) -> str:
        said = f"p={self.p}"
        if self.epsilon != 1e-6:
            said += f", epsilon={self.epsilon}"
        if self.keepdim:
            said += f", keepdim={self.keepdim}"
        return said + (f", name={self.name}" if self.name else "")


class HSigmoidLoss(Layer):
    """The hierarchical sigmoid loss, whose weight is (num_classes - 1, feature_size); see `paddle.nn.functional.hsigmoid_loss`.

    Args:
        is_custom: whether `forward` gets the paths of a tree of its own; the weight then has num_classes rows.
        is_sparse: has no effect: gradients are dense.
    """

    def __init__(
        self,
        feature_size: int,
        num_classes: int,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        is_custom: bool = False,
        is_sparse: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        if num_classes < 2 and not is_custom:
            raise ValueError(f"[HSigmoidLoss] num_classes is {num_classes}; want 2 or more")
        self._feature_size, self._num_classes, self._is_custom = feature_size, num_classes, is_custom
        self._is_sparse, self._name = is_sparse, name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        rows = num_classes if is_custom else num_classes - 1
        self.weight = self.create_parameter([rows, feature_size], weight_attr)
        self.bias = self.create_parameter([rows, 1], bias_attr, is_bias=True)

    def forward(
        self, input: Tensor, label: Tensor, path_table: Tensor | None = None, path_code: Tensor | None = None
    ) -> Any:
        return F.hsigmoid_loss(
            input, label, self._num_classes, self.weight, self.bias, path_table, path_code, self._is_sparse
        )


class AdaptiveLogSoftmaxWithLoss(Layer):
    """Log-softmax over many classes in groups by how often they occur; see `paddle.nn.functional.adaptive_log_softmax_with_loss`.

    Args:
        cutoffs: where the groups after the first begin, ascending.
        div_value: by how much the weights of each group are narrower than those of the group before.
        head_bias: whether the first group has a bias.
    """

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        div_value: float = 4.0,
        head_bias: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        given = list(cutoffs)
        if not given or sorted(set(given)) != given or given[0] <= 0 or given[-1] > n_classes - 1:
            raise ValueError(
                f"[AdaptiveLogSoftmaxWithLoss] cutoffs are {given}; want ascending integers from 1 to {n_classes - 1}"
            )
        self.in_features, self.n_classes, self.div_value = in_features, n_classes, div_value
        self.cutoffs = [*given, n_classes]
        self._weight_attr, self._bias_attr, self.is_head_bias = weight_attr, bias_attr, head_bias
        self.shortlist_size = given[0]
        self.n_clusters = len(given)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head_weight = self.create_parameter([in_features, self.head_size], weight_attr)
        self.head_bias = self.create_parameter([self.head_size], bias_attr, is_bias=True) if head_bias else None
        self.tail_weights: list[list[Any]] = []
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:])):
            width = int(in_features // div_value ** (i + 1))
            pair = [
                self.create_parameter([in_features, width], weight_attr),
                self.create_parameter([width, high - low], weight_attr),
            ]
            self.tail_weights.append(pair)

    def forward(self, input: Tensor, label: Tensor) -> Any:
        return F.adaptive_log_softmax_with_loss(
            input, label, self.head_weight, self.tail_weights, self.cutoffs, self.head_bias
        )


__all__ = [
    "AdaptiveLogSoftmaxWithLoss",
    "Bilinear",
    "CosineSimilarity",
    "Embedding",
    "HSigmoidLoss",
    "Linear",
    "PairwiseDistance",
]
