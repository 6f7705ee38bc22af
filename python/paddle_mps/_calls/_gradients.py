"""The methods of tensors that are about gradients."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

import numpy as np

from .._core._convert import tensor
from .._core._errors import check
from .._core._library import GradHook, library, quick
from .._core._objects import Tensor, asked, replace, retained, view
from . import _grad


class Hook:
    """A hook of a tensor, to be removed."""

    def __init__(self, x: Tensor, number: int) -> None:
        self._tensor, self._number = x, number

    def remove(self) -> bool:
        """Removes the hook; False if that was done before."""
        removed = ctypes.c_bool()
        check(quick.pmps_tensor_remove_grad_hook(self._tensor._handle, self._number, ctypes.byref(removed)))
        return removed.value


def _see(number: int, gradient: int, other: Any) -> int:
    def work(hook: Callable[[Tensor], Any]) -> None:
        result = hook(retained(gradient))
        if result is not None:
            other[0] = _grad.handed_over(result, "register_hook")

    return _grad.callbacks.call(number, work)


_seen = GradHook(_see)


class GradNode:
    """What recorded a tensor; it has no more than a name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def name(self) -> str:
        """The name."""
        return self._name

    def __repr__(self) -> str:
        return f"<GradNode of {self._name}>"


class GradientMethods:
    """Mixed into Tensor."""

    __slots__ = ()

    @property
    def stop_gradient(self: Any) -> bool:
        """False if operators on the tensor are recorded, so that it gets a gradient; True at first.

        It says what happens from now on: what was computed from the tensor before keeps its gradient. Set to False, a tensor
        that was computed from nothing is a leaf; others have the history that they had. Results have False if an operand
        does. Tensors of integers and bools have no gradient; setting it to False is a TypeError for them.
        """
        return not _grad.info(self).requires_grad

    @stop_gradient.setter
    def stop_gradient(self: Any, value: bool) -> None:
        check(quick.pmps_tensor_set_requires_grad(self._handle, not value))
        if not value and not asked:
            asked.append(True)

    @property
    def requires_grad(self: Any) -> bool:
        """The opposite of `stop_gradient`."""
        return bool(_grad.info(self).requires_grad)

    @requires_grad.setter
    def requires_grad(self: Any, value: bool) -> None:
        self.stop_gradient = not value

    def requires_grad_(self: Any, requires_grad: bool = True) -> Any:
        """Sets `requires_grad`; returns the tensor."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self: Any) -> bool:
        """Whether the tensor was not computed from tensors with stop_gradient=False."""
        return bool(_grad.info(self).is_leaf)

    @property
    def grad_fn(self: Any) -> GradNode | None:
        """What recorded the tensor; None for a leaf."""
        return None if self.is_leaf else GradNode(self.name)

    @property
    def inplace_version(self: Any) -> int:
        """How often operators have written to the memory of the tensor since its first contents."""
        return int(_grad.info(self).version)

    @property
    def grad(self: Any) -> Any:
        """The gradient that backward passes have added up, a tensor of the same shape and dtype; None if there is none.

        Passes add in its memory. It can be set to a copy of another, or to None.
        """
        handle = ctypes.c_uint64()
        check(quick.pmps_tensor_get_grad(self._handle, ctypes.byref(handle)))
        return view(handle.value) if handle.value else None

    @grad.setter
    def grad(self: Any, value: Any) -> None:
        other = 0 if value is None else tensor(value, "grad", "grad")._handle
        check(quick.pmps_tensor_set_grad(self._handle, other))

    def gradient(self: Any) -> np.ndarray[Any, Any] | None:
        """`grad` as a NumPy array, or None."""
        found = self.grad
        return None if found is None else found.numpy()

    def clear_grad(self: Any, set_to_zero: bool = True) -> None:
        """Sets the gradient to zeros if there is one, or with set_to_zero=False to None.

        The zeros are in its memory if the program has another tensor over that.
        """
        if set_to_zero:
            check(quick.pmps_tensor_zero_grad(self._handle))
        elif _grad.info(self).has_grad:
            self.grad = None

    def clear_gradient(self: Any, set_to_zero: bool = True) -> None:
        """`clear_grad`."""
        self.clear_grad(set_to_zero)

    def backward(self: Any, grad_tensor: Any = None, retain_graph: bool = False) -> None:
        """Computes gradients of the tensor, and adds them to the `grad` of the leaves that it was computed from.

        Args:
            grad_tensor: the gradient of the tensor, of its shape and dtype; None: ones.
            retain_graph: keep what was recorded, so that another pass can go over it.

        Raises:
            ValueError, UnsupportedError: as `paddle_mps.autograd.backward`.
        """
        _grad.backward([self], None if grad_tensor is None else [grad_tensor], retain_graph)

    def retain_grads(self: Any) -> None:
        """Makes backward passes keep the gradient of a tensor that is no leaf: that of the last pass, as hooks that were
        registered before have made it. Without effect on others.
        """
        if self.requires_grad:
            check(quick.pmps_tensor_retain_grad(self._handle))

    def register_hook(self: Any, hook: Callable[[Any], Any]) -> Hook:
        """Calls hook(gradient) in each backward pass; a tensor that it returns takes the gradient's place.

        Returns:
            A handle whose remove() ends that.

        Raises:
            GradientError: the tensor has stop_gradient=True. It is a RuntimeError, as in Paddle.
        """
        if not callable(hook):
            raise TypeError(f"[register_hook] hook is {type(hook).__name__}; want a function")
        number, user = ctypes.c_uint64(), _grad.callbacks.add(hook)
        try:
            _grad.callbacks.check(
                library.pmps_tensor_add_grad_hook(
                    self._handle, _seen, _grad.callbacks.deleter, user, ctypes.byref(number)
                )
            )
        except Exception:
            _grad.callbacks.drop(user)
            raise
        return Hook(self, number.value)

    def detach(self: Any) -> Any:
        """Another tensor over the same memory, with stop_gradient=True."""
        handle = ctypes.c_uint64()
        check(quick.pmps_tensor_detach(self._handle, ctypes.byref(handle)))
        return view(handle.value)

    def detach_(self: Any) -> Any:
        """Makes the tensor one with stop_gradient=True that was computed from nothing; returns it."""
        replace(self, self.detach())
        return self
