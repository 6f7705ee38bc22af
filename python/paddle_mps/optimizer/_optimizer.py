"""Optimizer: parameters in groups, what it keeps of each, and the steps that change them in place."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._creation import filled, to_tensor
from .._calls import _operators
from .._calls._call import assign_into
from .._calls._grad import no_grad
from .._core import _dtype
from .._core._objects import Tensor, meta
from .._layers._clipping import ClipGradBase
from .._layers._names import generate
from ..regularizer import L1Decay, L2Decay, WeightDecayRegularizer
from .lr import LambdaDecay, LRScheduler

if TYPE_CHECKING:
    from .._core._dtype import DType

Pairs = list[tuple[Any, Any]]


class Optimizer:
    """Changes parameters by their gradients. Each class below it has a rule for one parameter.

    What it keeps of a parameter is made at the first step, and named after it: `linear_0.w_0_moment1_0`. Files are keyed by these
    names.

    Args:
        learning_rate: a number, or a scheduler.
        parameters: tensors, or dictionaries with "params" and, of these alone, "learning_rate" (a factor), "weight_decay",
            "grad_clip", and numbers of the rule by the names of its arguments, such as "beta1" or "momentum".
        weight_decay: a number, which is L2Decay, or a regularizer; a parameter with one of its own has that.
        grad_clip: a ClipGradBy class of paddle.nn.
        name: has no effect.
    """

    _kept: tuple[str, ...] = ()  # what is kept of each parameter, in the order of `state_dict`
    _rescale_grad = 1.0  # the factor of gradients, before decay
    _wide = True  # whether parameters of halves may be kept in float32 besides, with multi_precision

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        own = type(self).__name__
        if parameters is None:
            raise AttributeError(f"[{own}] parameters is None; want the parameters of a layer")
        if isinstance(parameters, (Tensor, dict)):
            raise TypeError(
                f"[{own}] parameters is {type(parameters).__name__}; want a list of tensors or of dictionaries"
            )
        if isinstance(learning_rate, bool) or not isinstance(learning_rate, (int, float, LRScheduler, np.floating)):
            raise TypeError(f"[{own}] learning_rate is {type(learning_rate).__name__}; want a number or an LRScheduler")
        if grad_clip is not None and not isinstance(grad_clip, ClipGradBase):
            raise TypeError(f"[{own}] grad_clip is {type(grad_clip).__name__}; want a ClipGradBy class of paddle.nn")
        self._learning_rate: Any = learning_rate if isinstance(learning_rate, LRScheduler) else float(learning_rate)
        self._grad_clip, self._name = grad_clip, name
        self.regularization = regularizer_of(own, weight_decay)
        self._multi_precision = False
        self._accumulators: dict[str, dict[str, Tensor]] = collections.OrderedDict((name, {}) for name in self._kept)
        self._master_weights: dict[str, Tensor] = {}
        self._loaded: dict[str, Any] = {}  # state for what is not made yet
        self._rates: dict[Any, tuple[float, Tensor]] = {}
        self._groups: list[dict[str, Any]] = []
        given = list(parameters)
        self._parameter_list: list[Any] = given
        if given and isinstance(given[0], dict):
            self._param_groups: list[Any] = given
            for group in given:
                self._add_param_group(group)
        else:
            self._param_groups = given
            self._add_param_group({"params": given})

    def _add_param_group(self, group: dict[str, Any]) -> None:
        own = type(self).__name__
        inside = group["params"]
        inside = [inside] if isinstance(inside, Tensor) else list(inside)
        for i, p in enumerate(inside):
            if not isinstance(p, Tensor):
                raise TypeError(f"[{own}] parameter {i} is {type(p).__name__}; want a Tensor")
        known = {id(p) for other in self._groups for p in other["params"]}
        if any(id(p) in known for p in inside):
            raise ValueError(f"[{own}] a parameter is in two groups; want it in one")
        names = {p.name: p for other in self._groups for p in other["params"]} if self._kept else {}
        for p in inside if self._kept else ():
            if names.setdefault(p.name, p) is not p:
                raise ValueError(
                    f"[{own}] two parameters have the name {p.name!r}; want names that differ: they key the state"
                )
        if "learning_rate" in group:
            for p in inside:
                p.optimize_attr = {"learning_rate": float(group["learning_rate"])}
        decay = regularizer_of(own, group["weight_decay"]) if "weight_decay" in group else self.regularization
        kept = {
            "params": inside,
            "decay": decay,
            "grad_clip": group.get("grad_clip", self._grad_clip),
            "options": group,
        }
        self._groups.append(kept)

    # ---- Learning rates

    def get_lr(self) -> float:
        """The learning rate of the next step."""
        if isinstance(self._learning_rate, LRScheduler):
            return float(self._learning_rate())
        return float(self._learning_rate)

    def set_lr(self, value: float) -> None:
        """Sets the learning rate.

        Raises:
            RuntimeError: a scheduler sets it.
            TypeError: it is no number.
        """
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                "[set_lr] a scheduler sets the learning rate; want set_lr_scheduler, or a number from the beginning"
            )
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"[set_lr] got {type(value).__name__}; want a float")
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Lets a scheduler set the learning rate from now on."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"[set_lr_scheduler] got {type(scheduler).__name__}; want an LRScheduler")
        self._learning_rate = scheduler

    def _rate(self, parameter: Any, dtype: DType) -> Tensor:
        """The learning rate of a parameter as a tensor beside it, which is made anew when the number changes."""
        attributes = getattr(parameter, "optimize_attr", None) or {}
        value = self.get_lr() * float(attributes.get("learning_rate", 1.0))
        place = meta(parameter).place
        key = place, dtype, float(attributes.get("learning_rate", 1.0))
        known = self._rates.get(key)
        if known is None or known[0] != value:
            known = self._rates[key] = value, filled((), value, dtype, place)
        return known[1]

    # ---- Steps

    def step(self) -> None:
        """Changes all parameters that have a gradient."""
        with no_grad():
            for group in self._groups:
                pairs = [(p, p.grad) for p in group["params"] if not p.stop_gradient and p.grad is not None]
                self._apply(pairs, group)

    def apply_gradients(self, params_grads: Pairs) -> list[Any]:
        """Changes parameters by the gradients that they are paired with, after clipping and decay; returns an empty list."""
        given = list(params_grads)
        places = {id(p): i for i, group in enumerate(self._groups) for p in group["params"]}
        with no_grad():
            for i, group in enumerate(self._groups):  # those of no group count to the first
                pairs = [pair for pair in given if places.get(id(pair[0]), 0) == i]
                self._apply(pairs, {**group, "params": [p for p, _ in pairs]})
        return []

    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> Pairs:
        """Pairs of the parameters and the gradients that they have, after `loss.backward()` was called.

        Args:
            loss, startup_program, no_grad_set, callbacks: have no effect.
            parameters: those that are meant, by default all.
        """
        wanted = [p for group in self._groups for p in group["params"]] if parameters is None else list(parameters)
        return [(p, p.grad) for p in wanted if not p.stop_gradient and p.grad is not None]

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Sequence[Any] | None = None,
        no_grad_set: Any = None,
    ) -> tuple[list[Any], Pairs]:
        """A step with the gradients that `loss.backward()` has left; returns an empty list, and pairs of parameters and gradients."""
        pairs = self.backward(loss, parameters=parameters)
        return self.apply_gradients(pairs), pairs

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Clears the gradients of all parameters.

        Args:
            set_to_zero: zeros instead of None.
        """
        for group in self._groups:
            for p in group["params"]:
                if not p.stop_gradient:
                    p.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """See `clear_grad`; gradients become None by default."""
        self.clear_grad(not set_to_none)

    def _apply(self, pairs: Pairs, group: dict[str, Any]) -> None:
        clip = group["grad_clip"]
        clipped = pairs if clip is None else clip(pairs)
        for p, gradient in clipped:
            if gradient is not None:
                self._one(p, gradient, group)

    def append_regularization_ops(
        self, parameters_and_grads: Pairs, regularization: WeightDecayRegularizer | None = None
    ) -> Pairs:
        """The pairs with decayed gradients: of each parameter's own regularizer, else of the one that is given."""
        with no_grad():
            return [
                (p, g if g is None else decayed(p, g, getattr(p, "regularizer", None) or regularization))
                for p, g in parameters_and_grads
            ]

    def _one(self, p: Any, gradient: Any, group: dict[str, Any]) -> None:
        """The step of one parameter: in float32, if it has a wide copy."""
        target = self._master(p) if self._widens(p) else p
        kind = meta(target).dtype
        gradient = gradient if gradient.dtype is kind else _operators.cast(gradient, kind)
        rescale = float(group["options"].get("rescale_grad", self._rescale_grad))
        if rescale != 1:
            gradient = gradient * rescale
        gradient = decayed(target, gradient, getattr(p, "regularizer", None) or group["decay"])
        self._update(p, target, gradient, self._rate(p, kind), group["options"])
        if target is not p:
            assign_into(p, _operators.cast(target, meta(p).dtype))

    def _update(self, p: Any, target: Tensor, gradient: Tensor, rate: Tensor, options: dict[str, Any]) -> None:
        """The rule: writes a new value into target, and what is kept of p."""
        raise NotImplementedError(f"[{type(self).__name__}] is no optimizer; want a class below it, such as Adam")

    # ---- What is kept of each parameter

    def _widens(self, p: Any) -> bool:
        return self._multi_precision and self._wide and meta(p).dtype.itemsize == 2

    def _master(self, p: Any) -> Tensor:
        """The float32 copy of a parameter of halves."""
        found = self._master_weights.get(p.name)
        if found is None:
            stored = self._loaded.get("master_weights", {}).get(p.name)
            found = _operators.cast(p.detach(), _dtype.float32)
            found.name = generate(f"{p.name}_fp32_master")
            if stored is not None:
                write(found, stored)
            self._master_weights[p.name] = found
        return found

    def _state(
        self, name: str, p: Any, first: float = 0.0, shape: tuple[int, ...] | None = None, dtype: DType | None = None
    ) -> Tensor:
        """What is kept of a parameter under a name; made with one number at first, or with what was loaded.

        Args:
            shape: by default that of the parameter.
            dtype: by default that in which it is computed.
        """
        group = self._accumulators.setdefault(name, {})
        found = group.get(p.name)
        if found is None:
            kind = dtype or (_dtype.float32 if self._widens(p) else meta(p).dtype)
            found = filled(meta(p).shape if shape is None else shape, first, kind, meta(p).place)
            found.name = generate(f"{self._master(p).name if self._widens(p) else p.name}_{name}")
            found.persistable = True
            if any(key != "master_weights" for key in self._loaded):
                if found.name not in self._loaded:
                    raise AssertionError(
                        f"[step] {found.name!r} is missing in the state that was loaded; want the names of this process: "
                        "paddle.utils.unique_name.guard() begins anew"
                    )
                write(found, self._loaded.pop(found.name))
            group[p.name] = found
        return found

    def state_dict(self) -> dict[str, Any]:
        """What is kept of the parameters by its names, "master_weights", and "LR_Scheduler", the state of the scheduler."""
        state: dict[str, Any] = {}
        for group in self._accumulators.values():
            for kept in group.values():
                state[kept.name] = kept
        if self._master_weights:
            state["master_weights"] = dict(self._master_weights)
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` of an optimizer of the same kind and parameters of the same names has said.

        What is not made yet takes its values when it is. The names count how often a parameter's name was used in the process:
        `paddle.utils.unique_name.guard()` begins anew.

        Raises:
            AssertionError: what is kept already, or the state of the scheduler, is missing.
        """
        state = dict(state_dict)
        scheduler = state.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler):
            if scheduler is None and not isinstance(self._learning_rate, LambdaDecay):
                raise AssertionError("[set_state_dict] 'LR_Scheduler' is missing; want the state of the scheduler too")
            if scheduler:
                self._learning_rate.set_state_dict(scheduler)
        self._loaded = state
        for name, found in self._master_weights.items():
            stored = state.get("master_weights", {}).get(name)
            if stored is not None:
                write(found, stored)
        for group in self._accumulators.values():
            for kept in group.values():
                if kept.name not in state:
                    raise AssertionError(
                        f"[set_state_dict] {kept.name!r} is missing; want what state_dict has of every parameter"
                    )
                write(kept, state.pop(kept.name))

    load_state_dict = set_dict = set_state_dict

    def get_opti_var_name_list(self) -> list[str]:
        """The names of what is kept."""
        return [kept.name for group in self._accumulators.values() for kept in group.values()]


def write(target: Tensor, value: Any) -> None:
    """Writes a tensor or an array of the same number of elements, cast if need be."""
    source = value if isinstance(value, Tensor) else to_tensor(np.asarray(value), place="cpu")
    if source.size != target.size:
        raise AssertionError(
            f"[set_state_dict] {target.name!r} has shape {list(source.shape)}; want {list(target.shape)}"
        )
    target.set_value(source.to(target.place).astype(target.dtype).reshape(target.shape))


def regularizer_of(name: str, given: Any) -> WeightDecayRegularizer | None:
    """The regularizer that a weight_decay stands for: a number is L2Decay.

    Raises:
        TypeError: it stands for none.
    """
    if given is None or isinstance(given, WeightDecayRegularizer):
        return given
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return L2Decay(float(given))
    raise TypeError(f"[{name}] weight_decay is {type(given).__name__}; want a number, L1Decay, L2Decay or None")


def decayed(p: Tensor, gradient: Tensor, regularizer: Any) -> Tensor:
    """A gradient with that of the regularizer's term."""
    if regularizer is None or not regularizer._coeff:
        return gradient
    kind = meta(gradient).dtype
    source = p if meta(p).dtype is kind else _operators.cast(p, kind)
    term = _operators.sign(source) if isinstance(regularizer, L1Decay) else source
    made: Tensor = gradient + term * float(regularizer._coeff)
    return made


__all__ = ["Optimizer"]
