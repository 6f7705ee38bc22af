"""The base class of schedulers, and the checks of their arguments.

A subclass sets its own attributes, calls `__init__` of the base class, which computes the learning rate of the first epoch, and
defines `get_lr`, which computes that of epoch `last_epoch`. Its state is what the attributes that `keys` names hold.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np

from .._core._convert import said
from .._core._objects import Tensor, meta


def refuse(owner: object, name: str, value: Any, wanted: str, error: type[Exception] = ValueError) -> NoReturn:
    """Raises the error about an argument of a class."""
    raise error(f"[{type(owner).__name__}] {name} is {said(value)}; want {wanted}")


def real(owner: object, name: str, value: Any) -> Any:
    """A number of Python or NumPy, as it is.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, (int, float, np.integer, np.floating)):
        refuse(owner, name, value, "a number", TypeError)
    return value


def finite(owner: object, name: str, value: Any) -> Any:
    """A number that is neither infinite nor nan, as it is.

    Raises:
        TypeError: it is no number.
        ValueError: it is infinite or nan.
    """
    if not math.isfinite(real(owner, name, value)):
        refuse(owner, name, value, "a finite number")
    return value


def positive(
    owner: object, name: str, value: Any, error: type[Exception] = ValueError, kind: type[Exception] = TypeError
) -> int:
    """A whole number above 0.

    Raises:
        error: it is 0 or less.
        kind: it is no whole number.
    """
    if not isinstance(value, (int, np.integer)):
        refuse(owner, name, value, "a whole number above 0", kind)
    if value <= 0:
        refuse(owner, name, value, "a whole number above 0", error)
    return int(value)


def function(owner: object, name: str, value: Any) -> Any:
    """What can be called.

    Raises:
        TypeError: it cannot.
    """
    if not callable(value):
        refuse(owner, name, value, "a function", TypeError)
    return value


def plain(value: Any, what: str) -> Any:
    """A value of a state: a tensor or array of one element as a number, anything else as it is.

    Raises:
        AssertionError: a tensor or array has several elements.
    """
    if not isinstance(value, (Tensor, np.ndarray)):
        return value
    size = meta(value).numel if isinstance(value, Tensor) else value.size
    if size != 1:
        raise AssertionError(f"{what} has {size} elements; want one")
    return value.item()


class LRScheduler:
    """The base class of learning rates that change with the epoch. A subclass defines `get_lr`.

    Args:
        learning_rate: that from which the others are computed; 0 or more.
        last_epoch: the epoch before the first one; -1 to begin with epoch 0.
        verbose: whether each step prints its learning rate.

    Attributes:
        base_lr: learning_rate.
        last_epoch: the epoch of the current learning rate.
        last_lr: the current learning rate, which a call of the scheduler returns.
        keys: the names of the attributes in `state_dict`, once `state_keys` was called.

    Raises:
        NotImplementedError: the class does not define `get_lr`.
        TypeError: learning_rate or last_epoch is no number.
        ValueError: learning_rate is negative or nan, or last_epoch infinite or nan.
    """

    base_lr: float
    last_lr: float
    last_epoch: int
    verbose: bool
    keys: list[str]

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        self.begin(learning_rate, last_epoch, verbose)
        self.step()

    def begin(self, learning_rate: float, last_epoch: int, verbose: bool) -> None:
        """Sets the attributes that all schedulers have, without a step."""
        real(self, "learning_rate", learning_rate)
        if not learning_rate >= 0:
            refuse(self, "learning_rate", learning_rate, "0 or more")
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = finite(self, "last_epoch", last_epoch)
        self.verbose = verbose

    def __call__(self) -> float:
        """The current learning rate."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Computes the learning rate of the next epoch, or of a given one. A step that fails changes nothing.

        Raises:
            TypeError: epoch is no number.
            ValueError: the schedule has no such epoch, or it is infinite or nan.
        """
        before = self.last_epoch
        self.last_epoch = before + 1 if epoch is None else finite(self, "epoch", epoch)
        # A rate that is computed from the one before needs another formula for an epoch out of turn.
        closed = getattr(self, "_get_closed_form_lr", None)
        try:
            self.last_lr = self.get_lr() if epoch is None or closed is None else closed()
        except BaseException:
            self.last_epoch = before
            raise
        self.tell()

    def tell(self) -> None:
        """Prints the learning rate, if verbose."""
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The learning rate of epoch `last_epoch`, from the attributes; `step` calls it and keeps the result in `last_lr`."""
        raise NotImplementedError(f"[{type(self).__name__}] get_lr is missing; want a method that returns a number")

    def state_keys(self) -> None:
        """Sets `keys`. A subclass with further state overrides it."""
        self.keys = ["last_epoch", "last_lr"]

    def parts(self) -> dict[str, LRScheduler]:
        """The schedulers that this one steps, by the names of their states in its own."""
        return {}

    def state_dict(self) -> dict[str, Any]:
        """The state, to be saved: the value of each attribute in `keys`, tensors as numbers, and the states of inner schedulers.

        Raises:
            AssertionError: a tensor has several elements.
        """
        self.state_keys()
        name = type(self).__name__
        state = {key: plain(vars(self)[key], f"[{name}] {key}") for key in self.keys if key in vars(self)}
        return {**state, **{key: part.state_dict() for key, part in self.parts().items()}}

    def set_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Continues from a state, which `state_dict` of a scheduler with the same arguments returned. An error changes nothing.

        Raises:
            AssertionError: a tensor or array has several elements.
            RuntimeError: a name is missing.
            TypeError: it is no dictionary.

        Warns:
            UserWarning: it has further names.
        """
        name = type(self).__name__
        if not isinstance(state_dict, Mapping):
            refuse(self, "state_dict", state_dict, "a dictionary", TypeError)
        self.state_keys()
        wanted = [*self.keys, *self.parts()]
        missing = [key for key in wanted if key not in state_dict]
        if missing:
            raise RuntimeError(
                f"[{name}] state_dict has {', '.join(map(str, state_dict)) or 'nothing'}; want {', '.join(missing)} too"
            )
        values = {key: plain(state_dict[key], f"[{name}] {key}") for key in self.keys}
        for key, part in self.parts().items():
            part.set_state_dict(state_dict[key])
        vars(self).update(values)
        unused = [str(key) for key in state_dict if key not in wanted]
        if unused:
            warnings.warn(
                f"[{name}] state_dict has {', '.join(unused)}, which are not used; want {', '.join(wanted)}",
                stacklevel=2,
            )

    def set_dict(self, state_dict: Mapping[str, Any]) -> None:
        """`set_state_dict`, under its former name."""
        self.set_state_dict(state_dict)


__all__ = ["LRScheduler", "finite", "function", "plain", "positive", "real", "refuse"]
