"""Activation functions as layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._core import _dtype
from .._functional import _all as F
from ._function import FunctionLayer
from ._initializers import Constant
from ._layer import Layer

if TYPE_CHECKING:
    from .._tensor import Tensor
    from ._parameter import ParamAttrLike


class _Activation(FunctionLayer):
    """A function of each element, or of those along an axis; inputs have any shape."""

    _prefix = "_"

    def __init__(self, name: str | None = None) -> None:
        self._keep(name)


class CELU(_Activation):
    """See `paddle.nn.functional.celu`."""

    function = staticmethod(F.celu)

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        self._keep(name, alpha=alpha)


class ELU(_Activation):
    """See `paddle.nn.functional.elu`."""

    function = staticmethod(F.elu)

    def __init__(self, alpha: float = 1.0, name: str | None = None) -> None:
        self._keep(name, alpha=alpha)


class GELU(_Activation):
    """See `paddle.nn.functional.gelu`."""

    function = staticmethod(F.gelu)

    def __init__(self, approximate: bool = False, name: str | None = None) -> None:
        self._keep(name, approximate=approximate)


class GLU(_Activation):
    """See `paddle.nn.functional.glu`."""

    function = staticmethod(F.glu)

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        self._keep(name, axis=axis)


class Hardshrink(_Activation):
    """See `paddle.nn.functional.hardshrink`."""

    function = staticmethod(F.hardshrink)

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        self._keep(name, threshold=threshold)


class Hardsigmoid(_Activation):
    """See `paddle.nn.functional.hardsigmoid`."""

    function = staticmethod(F.hardsigmoid)


class Hardswish(_Activation):
    """See `paddle.nn.functional.hardswish`."""

    function = staticmethod(F.hardswish)


class Hardtanh(_Activation):
    """See `paddle.nn.functional.hardtanh`."""

    function = staticmethod(F.hardtanh)

    def __init__(self, min: float = -1.0, max: float = 1.0, name: str | None = None) -> None:
        self._keep(name, min=min, max=max)


class LeakyReLU(_Activation):
    """See `paddle.nn.functional.leaky_relu`."""

    function = staticmethod(F.leaky_relu)

    def __init__(self, negative_slope: float = 0.01, name: str | None = None) -> None:
        self._keep(name, negative_slope=negative_slope)


class LogSigmoid(_Activation):
    """See `paddle.nn.functional.log_sigmoid`."""

    function = staticmethod(F.log_sigmoid)


class LogSoftmax(_Activation):
    """See `paddle.nn.functional.log_softmax`."""

    function = staticmethod(F.log_softmax)

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        self._keep(name, axis=axis)


class Maxout(_Activation):
    """See `paddle.nn.functional.maxout`."""

    function = staticmethod(F.maxout)

    def __init__(self, groups: int, axis: int = 1, name: str | None = None) -> None:
        self._keep(name, groups=groups, axis=axis)


class Mish(_Activation):
    """See `paddle.nn.functional.mish`."""

    function = staticmethod(F.mish)


class PReLU(Layer):
    """Leaky ReLU whose slopes are parameters.

    Args:
        num_parameters: 1 slope for all, or as many as channels.
        init: their first value.
        weight_attr: of the parameter `_weight`.
        data_format: where channels are: NCHW and the like, or NHWC.
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: ParamAttrLike = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=_dtype.default())
        self._num_parameters, self._init, self._name, self._data_format = num_parameters, init, name, data_format
        self._weight = self.create_parameter([num_parameters], weight_attr, default_initializer=Constant(init))

    def forward(self, x: Tensor) -> Any:
        return F.prelu(x, self._weight, data_format=self._data_format)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        said = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{said}, dtype={self._dtype.name}{name}"


class RReLU(FunctionLayer):
    """Leaky ReLU whose slopes are random in training, and the mean of both ends else; see `paddle.nn.functional.rrelu`."""

    function = staticmethod(F.rrelu)
    _prefix = "_"

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        self._keep(name, lower=lower, upper=upper)

    def forward(self, x: Tensor) -> Any:
        return F.rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        name = f", name={self._name}" if self._name else ""
        return f"lower={self._lower}, upper={self._upper}, training={self.training}, dtype={self._dtype.name}{name}"


class ReLU(_Activation):
    """See `paddle.nn.functional.relu`."""

    function = staticmethod(F.relu)


class ReLU6(_Activation):
    """See `paddle.nn.functional.relu6`."""

    function = staticmethod(F.relu6)


class SELU(_Activation):
    """See `paddle.nn.functional.selu`."""

    function = staticmethod(F.selu)

    def __init__(
        self,
        scale: float = 1.0507009873554804934193349852946,
        alpha: float = 1.6732632423543772848170429916717,
        name: str | None = None,
    ) -> None:
        self._keep(name, scale=scale, alpha=alpha)

    def extra_repr(self) -> str:
        return f"scale={self._scale:.16f}, alpha={self._alpha:.16f}" + (f", name={self._name}" if self._name else "")


class Sigmoid(_Activation):
    """See `paddle.nn.functional.sigmoid`."""

    function = staticmethod(F.sigmoid)


class Silu(_Activation):
    """See `paddle.nn.functional.silu`."""

    function = staticmethod(F.silu)

    def __init__(self, inplace: bool = False, name: str | None = None) -> None:
        self._keep(name, inplace=inplace)


class Softmax(_Activation):
    """See `paddle.nn.functional.softmax`."""

    function = staticmethod(F.softmax)

    def __init__(self, axis: int = -1, name: str | None = None) -> None:
        self._keep(name, axis=axis)


class Softmax2D(_Activation):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, x: Tensor) -> Any:
        if x.ndim not in (3, 4):
            raise ValueError(f"[Softmax2D] x has {x.ndim} axes; want 3 or 4")
        return F.softmax(x, axis=-3)


class Softplus(_Activation):
    """See `paddle.nn.functional.softplus`."""

    function = staticmethod(F.softplus)

    def __init__(self, beta: float = 1, threshold: float = 20, name: str | None = None) -> None:
        self._keep(name, beta=beta, threshold=threshold)


class Softshrink(_Activation):
    """See `paddle.nn.functional.softshrink`."""

    function = staticmethod(F.softshrink)

    def __init__(self, threshold: float = 0.5, name: str | None = None) -> None:
        self._keep(name, threshold=threshold)


class Softsign(_Activation):
    """See `paddle.nn.functional.softsign`."""

    function = staticmethod(F.softsign)


class Swish(_Activation):
    """See `paddle.nn.functional.swish`."""

    function = staticmethod(F.swish)


class Tanh(_Activation):
    """See `paddle.nn.functional.tanh`."""

    function = staticmethod(F.tanh)


class Tanhshrink(_Activation):
    """See `paddle.nn.functional.tanhshrink`."""

    function = staticmethod(F.tanhshrink)


class ThresholdedReLU(_Activation):
    """See `paddle.nn.functional.thresholded_relu`."""

    function = staticmethod(F.thresholded_relu)

    def __init__(self, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> None:
        self._keep(name, threshold=threshold, value=value)


SiLU = Silu

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "SELU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LeakyReLU",
    "LogSigmoid",
    "LogSoftmax",
    "Maxout",
    "Mish",
    "PReLU",
    "RReLU",
    "ReLU",
    "ReLU6",
    "SiLU",
    "Sigmoid",
    "Silu",
    "Softmax",
    "Softmax2D",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Swish",
    "Tanh",
    "Tanhshrink",
    "ThresholdedReLU",
]
