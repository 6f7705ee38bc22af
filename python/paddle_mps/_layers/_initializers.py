"""First values of parameters: constants, random numbers by the sizes of a weight, and special weights.

Random numbers come from the generator of the parameter's place, as `paddle.uniform` and `paddle.normal` draw them. They are not
Paddle's numbers; their distributions are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._creation import filled
from .._calls import _operators
from .._calls._grad import no_grad
from .._core import _dtype
from .._core._objects import Tensor, from_array, meta
from .._randomness._sampling import normals, uniforms

if TYPE_CHECKING:
    from .._core._dtype import DType
    from .._core._place import Place


class Initializer:
    """Gives a parameter its first values, in place. A class of one's own defines `forward(param, block)`."""

    def __call__(self, param: Tensor, block: Any = None) -> Tensor:
        """Writes the values into a tensor of any floating-point dtype, without recording; returns it."""
        with no_grad():
            done = self.forward(param, block)
        return param if done is None else done

    def forward(self, param: Tensor, block: Any = None) -> Tensor | None:
        m = meta(param)
        values = self.values(m.shape, m.dtype, m.place)
        return param.copy_(values)

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        """A new tensor with the values."""
        raise NotImplementedError(f"[{type(self).__name__}] has no forward(param, block)")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"


class Constant(Initializer):
    """One number for all elements."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        return filled(shape, self.value, dtype, place)


class Uniform(Initializer):
    """Evenly distributed numbers in [low, high)."""

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        _below("Uniform", "low", low, "high", high)
        self.low, self.high = low, high

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        return uniforms(shape, self.low, self.high, dtype, place)


class Normal(Initializer):
    """Normally distributed numbers.

    Args:
        std: the standard deviation, 0 or more.
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        self.mean, self.std = mean, _spread("Normal", std)

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        return normals(shape, self.mean, self.std, dtype, place)


class TruncatedNormal(Initializer):
    """Normally distributed numbers, of which those outside [a, b] are left out.

    Args:
        std: the standard deviation of the normal distribution, above 0; what is left varies less.
        a: the smallest number.
        b: the largest number.
    """

    def __init__(
        self, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, name: str | None = None
    ) -> None:
        _below("TruncatedNormal", "a", a, "b", b)
        if not _spread("TruncatedNormal", std):
            raise ValueError("[TruncatedNormal] std is 0; want more")
        self.mean, self.std, self.a, self.b = mean, std, a, b

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        """The inverse of the distribution function, of numbers that are evenly distributed between those of a and b."""
        low, high = (math.erf((end - self.mean) / self.std / math.sqrt(2)) for end in (self.a, self.b))
        if low == high:
            raise ValueError(
                f"[TruncatedNormal] [{self.a}, {self.b}] is too far from the mean {self.mean}; want a range near it"
            )
        found = _operators.erfinv(uniforms(shape, low, high, _dtype.float32, place))
        scaled = found * (self.std * math.sqrt(2)) + self.mean
        return _operators.cast(_operators.clip(scaled, self.a, self.b), dtype)


class _Scaled(Initializer):
    """Random numbers whose spread follows from the sizes of the weight."""

    _normal: bool

    def _spread(self, inputs: int, outputs: int) -> float:
        """The standard deviation for a weight with so many inputs and outputs of each element."""
        raise NotImplementedError

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        std = self._spread(*fans(shape))
        if self._normal:
            return normals(shape, 0.0, std, dtype, place)
        limit = math.sqrt(3.0) * std
        return uniforms(shape, -limit, limit, dtype, place) if limit else filled(shape, 0.0, dtype, place)


class _Xavier(_Scaled):
    def __init__(
        self, fan_in: float | None = None, fan_out: float | None = None, gain: float = 1.0, name: str | None = None
    ) -> None:
        self.fan_in, self.fan_out, self.gain = fan_in, fan_out, gain

    def _spread(self, inputs: int, outputs: int) -> float:
        ends = (inputs if self.fan_in is None else self.fan_in) + (outputs if self.fan_out is None else self.fan_out)
        return self.gain * math.sqrt(2.0 / ends) if ends else 0.0


class XavierUniform(_Xavier):
    """Evenly distributed numbers up to gain * sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).

    Args:
        fan_in: the number of inputs of an output; by default that of the weight.
        fan_out: the number of outputs of an input; by default that of the weight.
    """

    _normal = False


class XavierNormal(_Xavier):
    """Normally distributed numbers with the standard deviation gain * sqrt(2 / (fan_in + fan_out)); see `XavierUniform`."""

    _normal = True


class _Kaiming(_Scaled):
    def __init__(
        self,
        fan_in: float | None = None,
        negative_slope: float = 0.0,
        nonlinearity: str = "relu",
        mode: str = "fan_in",
    ) -> None:
        if mode not in ("fan_in", "fan_out"):
            raise ValueError(f"[{type(self).__name__}] mode is {mode!r}; want 'fan_in' or 'fan_out'")
        calculate_gain(nonlinearity, negative_slope)
        self.fan_in, self.negative_slope, self.nonlinearity, self.mode = fan_in, negative_slope, nonlinearity, mode

    def _spread(self, inputs: int, outputs: int) -> float:
        ends: float = (inputs if self.fan_in is None else self.fan_in) if self.mode == "fan_in" else outputs
        return calculate_gain(self.nonlinearity, self.negative_slope) / math.sqrt(ends) if ends else 0.0


class KaimingUniform(_Kaiming):
    """Evenly distributed numbers up to gain * sqrt(3 / fan_in) (He and others, 2015).

    Args:
        fan_in: the number of inputs of an output; by default that of the weight.
        negative_slope: of a leaky ReLU behind the weight.
        nonlinearity: what is behind the weight; see `calculate_gain`.
        mode: "fan_in", or "fan_out" to divide by the number of outputs instead.
    """

    _normal = False


class KaimingNormal(_Kaiming):
    """Normally distributed numbers with the standard deviation gain / sqrt(fan_in); see `KaimingUniform`."""

    _normal = True


class Assign(Initializer):
    """The elements of an array, a tensor or a list, of the parameter's shape."""

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, (np.ndarray, list, tuple, Tensor)):
            raise TypeError(f"[Assign] value is {type(value).__name__}; want an array, a list or a Tensor")
        self.value = value

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        value = self.value
        if not isinstance(value, Tensor):
            value = from_array(np.asarray(value).astype(np.float64, copy=False).astype(np.float32), place)
        if tuple(value.shape) != tuple(shape):
            raise ValueError(
                f"[Assign] the value has shape {list(value.shape)}; want {list(shape)}, that of the parameter"
            )
        made: Tensor = value.to(place).astype(dtype)
        return made


class Orthogonal(Initializer):
    """A matrix with orthonormal rows or columns, times gain (Saxe and others, 2013).

    The first axis of a weight of more than two counts its rows.
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = gain

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        if len(shape) < 2:
            raise ValueError(f"[Orthogonal] the parameter has shape {list(shape)}; want 2 axes or more")
        rows, columns = shape[0], math.prod(shape[1:])
        drawn = normals((max(rows, columns), min(rows, columns)), 0.0, 1.0, _dtype.float32, place).numpy()
        q, r = np.linalg.qr(drawn.astype(np.float64))
        q *= np.where(np.diag(r) < 0, -1.0, 1.0)  # else some matrices were likelier than others
        made = (q.T if rows < columns else q).reshape(shape) * self.gain
        return _operators.cast(from_array(made.astype(np.float32), place), dtype)


class Dirac(Initializer):
    """A convolution that passes its first channels on: 1 in the middle of kernel (i, i), 0 elsewhere.

    Args:
        groups: how many times the channels repeat along the outputs, whose number it divides.
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if groups < 1:
            raise ValueError(f"[Dirac] groups is {groups}; want 1 or more")
        self.groups = groups

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"[Dirac] the parameter has shape {list(shape)}; want 3, 4 or 5 axes")
        if shape[0] % self.groups:
            raise ValueError(f"[Dirac] the parameter has {shape[0]} outputs; want a multiple of groups, {self.groups}")
        each = shape[0] // self.groups
        made = np.zeros(shape, np.float32)
        middle = tuple(size // 2 for size in shape[2:])
        for group in range(self.groups):
            for i in range(min(each, shape[1])):
                made[(group * each + i, i, *middle)] = 1
        return _operators.cast(from_array(made, place), dtype)


class Bilinear(Initializer):
    """Weights of a transposed convolution that resizes by bilinear interpolation, with the numbers that Paddle has.

    The parameter is (outputs, inputs, size, size).
    """

    def values(self, shape: tuple[int, ...], dtype: DType, place: Place) -> Tensor:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ValueError(
                f"[Bilinear] the parameter has shape {list(shape)}; want 4 axes, of which the last two are equal"
            )
        size = shape[3]
        half = math.ceil(size / 2)
        center = (2 * half - 1 - half % 2) / (2 * half)
        i = np.arange(math.prod(shape))
        x, y = i % size, (i / size) % size  # y is no integer in Paddle either
        made = (1 - np.abs(x / half - center)) * (1 - np.abs(y / half - center))
        return _operators.cast(from_array(made.reshape(shape).astype(np.float32), place), dtype)


_GAINS = {
    **dict.fromkeys(("sigmoid", "linear", "conv1d", "conv2d", "conv3d"), 1.0),
    **dict.fromkeys(("conv1d_transpose", "conv2d_transpose", "conv3d_transpose"), 1.0),
    "tanh": 5 / 3,
    "relu": math.sqrt(2),
    "selu": 0.75,
}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """The factor by which weights before an activation function are larger, so that the variance stays.

    Args:
        nonlinearity: sigmoid, linear, conv1d, conv2d, conv3d, their transposed forms, tanh, relu, leaky_relu or selu.
        param: the slope of leaky_relu, 0.01 by default.
    """
    if nonlinearity == "leaky_relu":
        return math.sqrt(2 / (1 + (0.01 if param is None else param) ** 2))
    if nonlinearity not in _GAINS:
        raise ValueError(
            f"[calculate_gain] nonlinearity is {nonlinearity!r}; want leaky_relu or one of {', '.join(_GAINS)}"
        )
    return _GAINS[nonlinearity]


_global: dict[str, Initializer | None] = {"weight": None, "bias": None}


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """Sets the initializers of parameters that name none; None for those of the layers."""
    for name, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        if given is not None and not isinstance(given, Initializer):
            raise TypeError(f"[set_global_initializer] {name} is {type(given).__name__}; want an Initializer or None")
    _global["weight"], _global["bias"] = weight_init, bias_init


def global_initializer(is_bias: bool) -> Initializer | None:
    """The one that `set_global_initializer` has set."""
    return _global["bias" if is_bias else "weight"]


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """The numbers of inputs and outputs of each element of a weight: (inputs, outputs) or (outputs, inputs, *kernel)."""
    if len(shape) < 2:
        n = shape[0] if shape else 1
        return n, n
    if len(shape) == 2:
        return shape[0], shape[1]
    kernel = math.prod(shape[2:])
    return shape[1] * kernel, shape[0] * kernel


def _spread(name: str, std: float) -> float:
    if not std >= 0:
        raise ValueError(f"[{name}] std is {std}; want 0 or more")
    return std


def _below(name: str, first: str, low: float, second: str, high: float) -> None:
    if not low < high:
        raise ValueError(f"[{name}] {first} is {low} and {second} {high}; want {first} below {second}")
