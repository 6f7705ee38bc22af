"""The optimizers: each names what it keeps of a parameter and the operator that makes a step of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._calls import _operators
from .._calls._call import assign_into
from .._core import _dtype
from .._core._objects import meta
from ._optimizer import Optimizer

if TYPE_CHECKING:
    from .._core._objects import Tensor
    from .._layers._clipping import ClipGradBase
    from ..regularizer import WeightDecayRegularizer
    from .lr import LRScheduler


def within(name: str, label: str, value: Any, low: float, high: float | None = None, open_low: bool = False) -> float:
    """A number from low up to, but not including, high.

    Raises:
        ValueError: it is outside.
    """
    number = float(value)
    if not (number > low if open_low else number >= low) or (high is not None and not number < high):
        wanted = f"{'more than ' if open_low else ''}{low}" + (" or more" if high is None and not open_low else "")
        raise ValueError(
            f"[{name}] {label} is {value}; want {wanted}" + ("" if high is None else f" up to, not including, {high}")
        )
    return number


def store(targets: list[Tensor], results: Any) -> None:
    """Writes results of a step into the tensors that hold them."""
    for target, result in zip(targets, results):
        assign_into(target, result)


def chosen(options: dict[str, Any], name: str, usual: float) -> float:
    """The number that the group of a parameter says under a name, else the optimizer's."""
    return float(options.get(name, usual))


class SGD(Optimizer):
    """parameter - learning_rate * gradient.

    Args:
        multi_precision: whether parameters of halves have a copy in float32, which is changed instead.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        assign_into(target, _operators.sgd_step(target, gradient, rate))


class Momentum(Optimizer):
    """velocity = momentum * velocity + gradient, by which the parameter changes; see `SGD`.

    Args:
        use_nesterov: whether the gradient counts as if the velocity were that of the next step.
        rescale_grad: the factor of gradients.
        use_multi_tensor: has no effect.
    """

    _kept = ("velocity",)

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Iterable[Any] | None = None,
        use_nesterov: bool = False,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._momentum, self._use_nesterov, self._rescale_grad = (
            float(momentum),
            bool(use_nesterov),
            float(rescale_grad),
        )
        self._multi_precision = multi_precision

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        velocity = self._state("velocity", p)
        store(
            [target, velocity],
            _operators.momentum_step(
                target,
                gradient,
                velocity,
                rate,
                None,
                chosen(options, "momentum", self._momentum),
                1.0,
                bool(options.get("use_nesterov", self._use_nesterov)),
                0.0,
            ),
        )


class Adagrad(Optimizer):
    """Divides gradients by the root of the sum of all their squares (Duchi and others, 2011).

    Args:
        epsilon: added to the root.
        initial_accumulator_value: the sum before the first step, 0 or more.
    """

    _kept = ("moment",)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1.0e-6,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon = float(epsilon)
        self._first = within("Adagrad", "initial_accumulator_value", initial_accumulator_value, 0.0)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        total = self._state("moment", p, chosen(options, "initial_accumulator_value", self._first))
        epsilon = chosen(options, "epsilon", self._epsilon)
        store([target, total], _operators.adagrad_step(target, gradient, total, rate, None, epsilon, 0.0, 0.0))


class _Powers(Optimizer):
    """What has factors beta1 and beta2, and may keep their powers up to the next step."""

    _beta1: float
    _beta2: float
    _epsilon: float

    def _factors(self, options: dict[str, Any]) -> tuple[float, float, float]:
        """beta1, beta2 and epsilon of a group."""
        return (
            chosen(options, "beta1", self._beta1),
            chosen(options, "beta2", self._beta2),
            chosen(options, "epsilon", self._epsilon),
        )

    def _powers(self, p: Any, *factors: float) -> list[Tensor]:
        """The powers of beta1 and, if it is given too, of beta2."""
        kind = _dtype.float32 if meta(p).dtype.itemsize == 2 else meta(p).dtype
        names = "beta1_pow_acc", "beta2_pow_acc"
        return [self._state(name, p, factor, (1,), kind) for name, factor in zip(names, factors)]

    @staticmethod
    def _fitted(p: Any, powers: list[Tensor]) -> list[Tensor]:
        """Powers without their axis for a parameter that has none: the axis would become one of the results."""
        return powers if meta(p).shape else [_operators.reshape(power, ()) for power in powers]

    def _raise_powers(self, powers: list[Tensor], *factors: float) -> None:
        for power, factor in zip(powers, factors):
            assign_into(power, power * factor)


class Adam(_Powers):
    """Divides the mean of gradients by the root of the mean of their squares (Kingma and Ba, 2014).

    Args:
        beta1, beta2: how much of both means stays at each step; from 0 up to, not including, 1.
        epsilon: added to the root.
        lazy_mode, use_multi_tensor: have no effect.
        multi_precision: see `SGD`.
        amsgrad: whether the largest mean of squares so far counts, and not the last one.
    """

    _kept: tuple[str, ...] = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        own = type(self).__name__
        self._beta1, self._beta2 = within(own, "beta1", beta1, 0.0, 1.0), within(own, "beta2", beta2, 0.0, 1.0)
        self._epsilon, self._amsgrad = within(own, "epsilon", epsilon, 0.0), bool(amsgrad)
        if amsgrad:
            self._kept = ("moment1", "moment2", "moment2_max", "beta1_pow_acc", "beta2_pow_acc")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision

    def _shrinking(self, p: Any) -> tuple[float, float]:
        """By how much of it a parameter shrinks at a step of learning rate 1, and the factor of its learning rate."""
        return 0.0, 1.0

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        mean, square = self._state("moment1", p), self._state("moment2", p)
        most = self._state("moment2_max", p) if self._amsgrad else None
        beta1, beta2, epsilon = self._factors(options)
        powers = self._powers(p, beta1, beta2)
        decay, ratio = self._shrinking(p)
        found = _operators.adamw_step(
            target, gradient, mean, square, rate, *self._fitted(p, powers), most, beta1, beta2, epsilon, decay, ratio
        )
        store([target, mean, square, *([] if most is None else [most])], found)
        self._raise_powers(powers, beta1, beta2)


class AdamW(Adam):
    """`Adam` with decay beside the gradient: parameters shrink by learning_rate * weight_decay (Loshchilov and Hutter, 2017).

    Args:
        weight_decay: a number.
        lr_ratio: called with a parameter, it gives the factor of its learning rate.
        apply_decay_param_fun: called with a parameter's name, it says whether the parameter shrinks.
        use_lowprecision_moment: has no effect.
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float | Tensor = 0.9,
        beta2: float | Tensor = 0.999,
        epsilon: float | Tensor = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | Tensor = 0.01,
        use_lowprecision_moment: bool = False,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: ClipGradBase | None = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        amsgrad: bool = False,
        name: str | None = None,
    ) -> None:
        if isinstance(weight_decay, bool) or (
            not isinstance(weight_decay, (int, float)) and not hasattr(weight_decay, "item")
        ):
            raise TypeError(f"[AdamW] weight_decay is {type(weight_decay).__name__}; want a number")
        self._coeff, self._lr_ratio, self._apply_decay_param_fun = float(weight_decay), lr_ratio, apply_decay_param_fun
        super().__init__(
            learning_rate,
            beta1,
            beta2,
            epsilon,
            parameters,
            None,
            grad_clip,
            lazy_mode,
            multi_precision,
            False,
            amsgrad,
            name,
        )

    def _add_param_group(self, group: dict[str, Any]) -> None:
        super()._add_param_group({k: v for k, v in group.items() if k != "weight_decay"})
        self._groups[-1]["options"] = group

    def _shrinking(self, p: Any) -> tuple[float, float]:
        shrinks = self._apply_decay_param_fun is None or self._apply_decay_param_fun(p.name)
        options: dict[str, Any] = next((g["options"] for g in self._groups if any(q is p for q in g["params"])), {})
        coeff = float(options.get("weight_decay", self._coeff))
        return (coeff if shrinks else 0.0), (1.0 if self._lr_ratio is None else float(self._lr_ratio(p)))


class Adamax(_Powers):
    """Divides the mean of gradients by the largest one so far, which decays (Kingma and Ba, 2014); see `Adam`."""

    _kept = ("moment", "inf_norm", "beta1_pow_acc")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._beta1, self._beta2 = (
            within("Adamax", "beta1", beta1, 0.0, 1.0),
            within("Adamax", "beta2", beta2, 0.0, 1.0),
        )
        self._epsilon = within("Adamax", "epsilon", epsilon, 0.0)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        mean, largest = self._state("moment", p), self._state("inf_norm", p)
        beta1, beta2, epsilon = self._factors(options)
        powers = self._powers(p, beta1)
        found = _operators.adamax_step(
            target, gradient, mean, largest, rate, *self._fitted(p, powers), beta1, beta2, epsilon
        )
        store([target, mean, largest], found)
        self._raise_powers(powers, beta1)


class Adadelta(Optimizer):
    """Divides gradients by the root of the mean of their squares, times that of the changes so far (Zeiler, 2012).

    Args:
        epsilon: added to both means.
        rho: how much of them stays at each step.
    """

    _kept = ("_avg_squared_grad", "_avg_squared_update")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1.0e-6,
        rho: float = 0.95,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._epsilon, self._rho = float(epsilon), float(rho)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        square, change = self._state("_avg_squared_grad", p), self._state("_avg_squared_update", p)
        epsilon, rho = chosen(options, "epsilon", self._epsilon), chosen(options, "rho", self._rho)
        found = _operators.adadelta_step(target, gradient, square, change, rate, epsilon, rho)
        store([target, square, change], found)


class RMSProp(Optimizer):
    """Divides gradients by the root of the mean of their squares (Hinton).

    Args:
        rho: how much of the mean stays at each step.
        epsilon: added to the mean.
        momentum: how much of the last change is repeated.
        centered: whether the square of the mean gradient is taken from the mean of squares.
    """

    _kept = ("momentum", "mean_square", "mean_grad")

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1.0e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._rho, self._epsilon = within("RMSProp", "rho", rho, 0.0), within("RMSProp", "epsilon", epsilon, 0.0)
        self._momentum, self._centered = within("RMSProp", "momentum", momentum, 0.0), bool(centered)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        velocity, square, mean = (self._state(name, p) for name in self._kept)
        centered = bool(options.get("centered", self._centered))
        found = _operators.rmsprop_step(
            target,
            gradient,
            square,
            velocity,
            rate,
            mean if centered else None,
            chosen(options, "rho", self._rho),
            chosen(options, "epsilon", self._epsilon),
            chosen(options, "momentum", self._momentum),
        )
        store([target, square, velocity, *([mean] if centered else [])], found)


class Lamb(_Powers):
    """`AdamW` with each parameter's step as long as the parameter says (You and others, 2019).

    Args:
        lamb_weight_decay: by how much parameters shrink.
        exclude_from_weight_decay_fn: called with a parameter, it says whether the parameter does not shrink.
        always_adapt: whether the length counts for parameters that do not shrink, too.
    """

    _kept: tuple[str, ...] = ("moment1", "moment2", "beta1_pow_acc", "beta2_pow_acc")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Iterable[Any] | None = None,
        grad_clip: ClipGradBase | None = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        self._beta1, self._beta2, self._epsilon = float(beta1), float(beta2), float(epsilon)
        self._lamb_weight_decay, self._exclude_from_weight_decay_fn = (
            float(lamb_weight_decay),
            exclude_from_weight_decay_fn,
        )
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._multi_precision, self._always_adapt = multi_precision, bool(always_adapt)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        mean, square = self._state("moment1", p), self._state("moment2", p)
        beta1, beta2, epsilon = self._factors(options)
        powers = self._powers(p, beta1, beta2)
        excludes = options.get("exclude_from_weight_decay_fn", self._exclude_from_weight_decay_fn)
        excluded = excludes is not None and excludes(p)
        found = _operators.lamb_step(
            target,
            gradient,
            mean,
            square,
            rate,
            *self._fitted(p, powers),
            0.0 if excluded else chosen(options, "lamb_weight_decay", self._lamb_weight_decay),
            beta1,
            beta2,
            epsilon,
            self._always_adapt,
        )
        store([target, mean, square], found)
        self._raise_powers(powers, beta1, beta2)


class NAdam(_Powers):
    """`Adam` with the mean of the next step (Dozat, 2016).

    Args:
        momentum_decay: how fast beta1 grows.
    """

    _kept = ("momentum_decay_pow", "beta2_pow", "mu_product", "moment1", "moment2")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.002,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1.0e-8,
        momentum_decay: float = 0.004,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._beta1, self._beta2 = within("NAdam", "beta1", beta1, 0.0, 1.0), within("NAdam", "beta2", beta2, 0.0, 1.0)
        self._epsilon = within("NAdam", "epsilon", epsilon, 0.0)
        self._momentum_decay = within("NAdam", "momentum_decay", momentum_decay, 0.0)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        power, second, product = (self._state(name, p, 1.0) for name in self._kept[:3])
        mean, square = self._state("moment1", p), self._state("moment2", p)
        found = _operators.nadam_step(
            target,
            gradient,
            mean,
            square,
            rate,
            power,
            second,
            product,
            *self._factors(options),
            chosen(options, "momentum_decay", self._momentum_decay),
        )
        store([target, mean, square, power, second, product], found)


class RAdam(_Powers):
    """`Adam` whose divisor counts once its variance is known (Liu and others, 2019)."""

    _kept = ("beta1_pow", "beta2_pow", "rho", "moment1", "moment2")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1.0e-8,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._beta1, self._beta2 = within("RAdam", "beta1", beta1, 0.0, 1.0), within("RAdam", "beta2", beta2, 0.0, 1.0)
        self._epsilon = within("RAdam", "epsilon", epsilon, 0.0)
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        first, second, rho = (self._state(name, p, 1.0) for name in self._kept[:3])
        mean, square = self._state("moment1", p), self._state("moment2", p)
        found = _operators.radam_step(target, gradient, mean, square, rate, first, second, rho, *self._factors(options))
        store([target, mean, square, first, second, rho], found)


class Rprop(Optimizer):
    """Steps whose sizes grow while a gradient keeps its sign and shrink when it changes (Riedmiller, 1993).

    Args:
        learning_rate: the first size of all steps.
        learning_rate_range: the smallest and the largest size.
        etas: the factors by which sizes shrink and grow.
    """

    _kept = ("prevs", "learning_rates")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        learning_rate_range: tuple[float, float] = (1e-5, 50),
        parameters: Iterable[Any] | None = None,
        etas: tuple[float, float] = (0.5, 1.2),
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        low, high = (float(n) for n in learning_rate_range)
        shrink, grow = (float(n) for n in etas)
        if not 0 < low <= high:
            raise ValueError(
                f"[Rprop] learning_rate_range is {learning_rate_range}; want two numbers above 0, ascending"
            )
        if not 0 < shrink < 1 < grow:
            raise ValueError(f"[Rprop] etas is {etas}; want one below 1 and one above")
        self._range, self._etas = (low, high), (shrink, grow)
        super().__init__(learning_rate, parameters, None, grad_clip, name)
        self._multi_precision = multi_precision

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        before, sizes = self._state("prevs", p), self._state("learning_rates", p, self.get_lr())
        found = _operators.rprop_step(target, gradient, before, sizes, *self._range, *self._etas)
        store([target, before, sizes], found)


class ASGD(Optimizer):
    """The mean of the gradients of the last batch_num steps (Schmidt and others, 2017).

    Args:
        batch_num: how many steps count, 1 or more.
    """

    _kept = ("d", "y", "m")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        batch_num: int = 1,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        if batch_num < 1:
            raise ValueError(f"[ASGD] batch_num is {batch_num}; want 1 or more")
        self._batch_num = batch_num
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        self._multi_precision = multi_precision
        self._counts: dict[str, int] = {}

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        total = self._state("d", p)
        kept = self._state("y", p, 0.0, (self._batch_num, *meta(p).shape))
        count = self._state("m", p, 0, (1,), _dtype.int64)
        number = self._counts.get(p.name)
        if number is None:  # of steps so far; it is read once, after it may have been loaded
            number = int(count.item())
        place = number % self._batch_num
        n = _operators.full(meta(p).place.word, (), float(min(number + 1, self._batch_num)), meta(target).dtype)
        store([target, total], _operators.asgd_step(target, gradient, total, kept[place], rate, n))
        kept[place] = gradient
        self._counts[p.name] = number + 1
        assign_into(count, count + 1)

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().set_state_dict(state_dict)
        self._counts.clear()


__all__ = [
    "ASGD",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Lamb",
    "Momentum",
    "NAdam",
    "RAdam",
    "RMSProp",
    "Rprop",
]
