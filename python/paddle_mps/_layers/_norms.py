"""Normalization as layers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._arrays._array import t
from .._calls._grad import no_grad
from .._core import _dtype
from .._functional import _all as F
from .._maths._ops import matmul
from ._function import FunctionLayer
from ._initializers import Constant, Normal
from ._layer import Layer
from ._parameter import ParamAttr

if TYPE_CHECKING:
    from .._core._dtype import DTypeLike
    from .._core._typing import PlaceLike
    from .._tensor import Tensor
    from ._parameter import ParamAttrLike


class _BatchNorm(Layer):
    """What all batch norms keep. The running statistics are parameters that are not trained, as in Paddle: `_mean`, `_variance`.

    Args:
        num_features: channels.
        momentum: how much of the running statistics stays at each step.
        weight_attr, bias_attr: of the parameters; False for none.
        use_global_stats: whether the running statistics are used in training too; None as the mode says.
    """

    _ranks: tuple[int, ...] = ()
    _default_format = "NCHW"

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        self._num_features, self._weight_attr, self._bias_attr = num_features, weight_attr, bias_attr
        self._use_global_stats, self._data_format = use_global_stats, data_format
        self._momentum, self._epsilon, self._name = momentum, epsilon, name
        self._learn(num_features, weight_attr, bias_attr)
        self._remember(num_features, *((f"{name}_mean", f"{name}_variance") if name else (None, None)))

    def _learn(self, channels: int, weight_attr: Any, bias_attr: Any) -> None:
        self.weight = self.create_parameter([channels], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([channels], bias_attr, is_bias=True)

    def _remember(self, channels: int, mean_name: str | None, variance_name: str | None) -> None:
        for attribute, name, first in (("_mean", mean_name, 0.0), ("_variance", variance_name, 1.0)):
            kept = ParamAttr(name=name, initializer=Constant(first), trainable=False, do_model_average=True)
            setattr(self, attribute, self.create_parameter([channels], kept))

    def forward(self, input: Tensor) -> Any:
        if self._ranks and input.ndim not in self._ranks:
            wanted = " or ".join(map(str, self._ranks))
            raise ValueError(f"[{type(self).__name__}] the input has {input.ndim} axes; want {wanted}")
        return F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            self.training,
            self._momentum,
            self._epsilon,
            self._data_format,
            self._use_global_stats,
        )

    def extra_repr(self) -> str:
        said = f"num_features={self._num_features}, momentum={self._momentum}, epsilon={self._epsilon}"
        if self._data_format != "NCHW":
            said += f", data_format={self._data_format}"
        return said + (f", name={self._name}" if self._name is not None else "")


class BatchNorm1D(_BatchNorm):
    """Batch norm of (N, C) or (N, C, L); see `paddle.nn.functional.batch_norm`."""

    _ranks = (2, 3)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCL",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


class BatchNorm2D(_BatchNorm):
    """Batch norm of (N, C, H, W); see `paddle.nn.functional.batch_norm`."""

    _ranks = (4,)


class BatchNorm3D(_BatchNorm):
    """Batch norm of (N, C, D, H, W); see `paddle.nn.functional.batch_norm`."""

    _ranks = (5,)

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCDHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, use_global_stats, name)


class SyncBatchNorm(_BatchNorm):
    """Batch norm over all processes, of which there is one: BatchNorm of any number of axes."""

    def __init__(
        self,
        num_features: int,
        momentum: float = 0.9,
        epsilon: float = 1e-5,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, data_format, None, name)

    @classmethod
    def convert_sync_batchnorm(cls, layer: Layer) -> Layer:
        """The layer with a SyncBatchNorm for each batch norm below, which has its parameters."""
        made: Layer = layer
        if isinstance(layer, _BatchNorm) and not isinstance(layer, SyncBatchNorm):
            made = cls(
                layer._num_features,
                layer._momentum,
                layer._epsilon,
                layer._weight_attr,
                layer._bias_attr,
                layer._data_format,
                layer._name,
            )
            for name, p in layer._parameters.items():
                made._parameters[name] = p
            made.training = layer.training
        for name, below in layer.named_children():
            made.add_sublayer(name, cls.convert_sync_batchnorm(below))
        return made


class BatchNorm(_BatchNorm):
    """Batch norm of any number of axes, with an activation function behind it, as older programs have it.

    Args:
        act: the name of a function of `paddle.nn.functional`, or None.
        is_test: whether the running statistics are used until `train()` is called.
        param_attr: of the weight.
        moving_mean_name, moving_variance_name: names of the running statistics.
        trainable_statistics: whether batches have their own statistics in evaluation too.
        in_place, do_model_average_for_mean_and_var: have no effect.
    """

    def __init__(
        self,
        num_channels: int,
        act: str | None = None,
        is_test: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        param_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        dtype: DTypeLike = "float32",
        data_layout: str = "NCHW",
        in_place: bool = False,
        moving_mean_name: str | None = None,
        moving_variance_name: str | None = None,
        do_model_average_for_mean_and_var: bool = True,
        use_global_stats: bool = False,
        trainable_statistics: bool = False,
    ) -> None:
        Layer.__init__(self, dtype=dtype)
        if act is not None and not hasattr(F, act):
            raise ValueError(f"[BatchNorm] act is {act!r}; want a function of paddle.nn.functional, or None")
        self._num_features, self._act, self._is_test = num_channels, act, is_test
        self._weight_attr, self._bias_attr = param_attr, bias_attr
        self._momentum, self._epsilon, self._data_format, self._name = momentum, epsilon, data_layout, None
        self._use_global_stats, self._trainable_statistics = use_global_stats, trainable_statistics
        self._learn(num_channels, param_attr, bias_attr)
        self._remember(num_channels, moving_mean_name, moving_variance_name)
        self.training = not is_test

    def forward(self, input: Tensor) -> Any:
        own = (self.training or self._trainable_statistics) and not self._use_global_stats
        y = F.batch_norm(
            input,
            self._mean,
            self._variance,
            self.weight,
            self.bias,
            own,
            self._momentum,
            self._epsilon,
            self._data_format,
            not own,
        )
        return y if self._act is None else getattr(F, self._act)(y)

    def extra_repr(self) -> str:
        return ""


class _InstanceNorm(Layer):
    """What all instance norms keep: `scale` and `bias`, both or none.

    Args:
        momentum: has no effect, as in Paddle.
    """

    _ranks: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        if (weight_attr is False) != (bias_attr is False):
            raise AssertionError(
                f"[{type(self).__name__}] one of weight_attr and bias_attr is False; want both or none"
            )
        self._num_features, self._epsilon, self._momentum = num_features, epsilon, momentum
        self._weight_attr, self._bias_attr, self._data_format = weight_attr, bias_attr, data_format
        self.scale = self.create_parameter([num_features], weight_attr, default_initializer=Constant(1.0))
        self.bias = self.create_parameter([num_features], bias_attr, is_bias=True)

    def forward(self, input: Tensor) -> Any:
        if input.ndim not in self._ranks:
            wanted = " or ".join(map(str, self._ranks))
            raise ValueError(f"[{type(self).__name__}] the input has {input.ndim} axes; want {wanted}")
        return F.instance_norm(
            input, weight=self.scale, bias=self.bias, eps=self._epsilon, data_format=self._data_format
        )

    def extra_repr(self) -> str:
        return f"num_features={self._num_features}, epsilon={self._epsilon}"


class InstanceNorm1D(_InstanceNorm):
    """Instance norm of (N, C, L); see `paddle.nn.functional.instance_norm`."""

    _ranks = (2, 3)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCL",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class InstanceNorm2D(_InstanceNorm):
    """Instance norm of (N, C, H, W); see `paddle.nn.functional.instance_norm`."""

    _ranks = (4,)


class InstanceNorm3D(_InstanceNorm):
    """Instance norm of (N, C, D, H, W); see `paddle.nn.functional.instance_norm`."""

    _ranks = (5,)

    def __init__(
        self,
        num_features: int,
        epsilon: float = 1e-5,
        momentum: float = 0.9,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCDHW",
        name: str | None = None,
    ) -> None:
        super().__init__(num_features, epsilon, momentum, weight_attr, bias_attr, data_format, name)


class GroupNorm(Layer):
    """Normalization over groups of channels; see `paddle.nn.functional.group_norm`.

    Args:
        affine: False for no weight and no bias.
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        epsilon: float = 1e-5,
        *,
        affine: bool = True,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default() if dtype is None else dtype)
        self._num_groups, self._num_channels, self._epsilon = num_groups, num_channels, epsilon
        self._data_format, self._weight_attr, self._bias_attr = data_format, weight_attr, bias_attr
        weight, bias = (weight_attr, bias_attr) if affine else (False, False)
        ones = Constant(1.0)
        self.weight = self.create_parameter([num_channels], weight, default_initializer=ones, device=device)
        self.bias = self.create_parameter([num_channels], bias, is_bias=True, device=device)

    def forward(self, input: Tensor) -> Any:
        return F.group_norm(input, self._num_groups, self._epsilon, self.weight, self.bias, self._data_format)

    def extra_repr(self) -> str:
        return f"num_groups={self._num_groups}, num_channels={self._num_channels}, epsilon={self._epsilon}"


class LayerNorm(Layer):
    """Normalization over the last axes; see `paddle.nn.functional.layer_norm`. Weight and bias have one axis, as in Paddle.

    Args:
        normalized_shape: the sizes of the last axes.
        elementwise_affine: False for no weight and no bias.
        bias: False for no bias.
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        epsilon: float = 1e-5,
        *,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: PlaceLike | None = None,
        dtype: DTypeLike | None = None,
        weight_attr: ParamAttrLike = None,
        bias_attr: ParamAttrLike = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default() if dtype is None else dtype)
        sizes = [normalized_shape] if isinstance(normalized_shape, int) else list(normalized_shape)
        if not sizes or not all(isinstance(n, int) for n in sizes):
            raise ValueError(
                f"[LayerNorm] normalized_shape is {normalized_shape!r}; want an integer or a list of integers"
            )
        self._normalized_shape, self._epsilon = sizes, epsilon
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        count, ones = [math.prod(sizes)], Constant(1.0)
        weight_of = weight_attr if elementwise_affine else False
        bias_of = bias_attr if elementwise_affine and bias else False
        self.weight = self.create_parameter(count, weight_of, default_initializer=ones, device=device)
        self.bias = self.create_parameter(count, bias_of, is_bias=True, device=device)

    def forward(self, input: Tensor) -> Any:
        return F.layer_norm(input, self._normalized_shape, self.weight, self.bias, self._epsilon)

    def extra_repr(self) -> str:
        return f"normalized_shape={self._normalized_shape}, epsilon={self._epsilon}"


class LocalResponseNorm(FunctionLayer):
    """See `paddle.nn.functional.local_response_norm`."""

    function = staticmethod(F.local_response_norm)

    def __init__(
        self,
        size: int,
        alpha: float = 0.0001,
        beta: float = 0.75,
        k: float = 1.0,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        self._keep(name, size=size, alpha=alpha, beta=beta, k=k, data_format=data_format)

    def extra_repr(self) -> str:
        said = f"size={self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"
        if self.data_format != "NCHW":
            said += f", data_format={self.data_format}"
        return said + (f", name={self.name}" if self.name is not None else "")


class SpectralNorm(Layer):
    """Divides a weight by its largest singular value, which is found by power iteration from `weight_u` and `weight_v`.

    Args:
        weight_shape: the sizes of the weights that `forward` gets.
        dim: the axis of the rows of the matrix; the others are its columns.
        power_iters: steps of the iteration, each time from the same vectors.
        eps: added to lengths before divisions.
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: DTypeLike = "float32",
    ) -> None:
        super().__init__(dtype=dtype)
        sizes = list(weight_shape)
        if not sizes or math.prod(sizes) <= 0:
            raise ValueError(f"[SpectralNorm] weight_shape is {sizes}; want sizes above 0")
        self._weight_shape, self._dim, self._power_iters, self._eps = sizes, dim, power_iters, eps
        rows = sizes[dim]
        for name, count in (("weight_u", rows), ("weight_v", math.prod(sizes) // rows)):
            kept = ParamAttr(initializer=Normal(0.0, 1.0), trainable=False)
            setattr(self, name, self.create_parameter([count], kept))

    def forward(self, x: Tensor) -> Any:
        matrix = rows_first(x, self._dim)
        with no_grad():
            u, v = power_iteration(matrix, self.weight_u, self.weight_v, self._power_iters, self._eps)
        return x / matmul(u, matmul(matrix, v))


def rows_first(weight: Tensor, dim: int) -> Tensor:
    """A weight as a matrix whose rows are along an axis."""
    axes = [dim, *(i for i in range(weight.ndim) if i != dim % weight.ndim)]
    matrix: Tensor = weight.transpose(axes).reshape([weight.shape[dim], -1])
    return matrix


def power_iteration(matrix: Tensor, u: Tensor, v: Tensor, count: int, eps: float) -> tuple[Tensor, Tensor]:
    """Singular vectors of the largest singular value, after so many steps from a guess."""
    for _ in range(count):
        v = F.normalize(matmul(t(matrix), u), axis=0, epsilon=eps)
        u = F.normalize(matmul(matrix, v), axis=0, epsilon=eps)
    return u, v


__all__ = [
    "BatchNorm",
    "BatchNorm1D",
    "BatchNorm2D",
    "BatchNorm3D",
    "GroupNorm",
    "InstanceNorm1D",
    "InstanceNorm2D",
    "InstanceNorm3D",
    "LayerNorm",
    "LocalResponseNorm",
    "SpectralNorm",
    "SyncBatchNorm",
]
