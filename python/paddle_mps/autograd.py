"""paddle.autograd: backward passes, and functions with gradients of their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _grad
from ._creation import filled
from ._grad import backward, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ._gradient_functions import connect
from ._jacobian import hessian, jacobian
from ._objects import Tensor, meta

__all__ = [
    "Function",
    "PyLayer",
    "PyLayerContext",
    "backward",
    "enable_grad",
    "hessian",
    "is_grad_enabled",
    "jacobian",
    "no_grad",
    "set_grad_enabled",
]


class PyLayerContext:
    """What forward of a `PyLayer` hands to its backward. Further attributes may be set."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._fixed: tuple[Any, ...] = ()
        self._materialize = True
        self._outputs: list[tuple[Any, ...]] = []

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors for `saved_tensor`; called once, in forward."""
        self._saved = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        """The tensors that were kept."""
        return self._saved

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """`saved_tensor`, under PyTorch's name."""
        return self._saved

    def mark_not_inplace(self, *args: Any) -> None:
        """Nothing: results that are operands are always other tensors over the same memory."""

    def mark_non_differentiable(self, *args: Any) -> None:
        """Marks results that have no gradient; called in forward."""
        self._fixed = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros, and not None, for results that nothing depends on: True at first."""
        self._materialize = bool(value)


class PyLayer:
    """A function with a gradient of its own.

    A subclass has two static methods. `forward(ctx, *args, **kwargs)` computes a tensor, or a tuple of them, without being
    recorded. `backward(ctx, *grads)` gets the gradient of each result and returns that of each tensor among args: a
    tensor, a tuple of several, None for one without. `apply(*args, **kwargs)` calls the function.
    """

    @staticmethod
    def forward(ctx: PyLayerContext, *args: Any, **kwargs: Any) -> Any:
        """Computes the results."""
        raise NotImplementedError("[PyLayer] forward is missing; want a static method")

    @staticmethod
    def backward(ctx: PyLayerContext, *args: Any) -> Any:
        """Computes the gradients of the operands."""
        raise NotImplementedError("[PyLayer] backward is missing; want a static method")

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """What forward computes, with the gradient that backward computes."""
        ctx = PyLayerContext()
        with no_grad():
            made = cls.forward(ctx, *args, **kwargs)
        several = isinstance(made, (tuple, list))
        results = list(made) if several else [made]
        inputs = tensors_in((*args, *kwargs.values()))
        if not _grad.asks(*inputs):
            return made
        same = {id(x) for x in inputs}
        results = [x.detach() if id(x) in same else x for x in results]
        outputs = [x for x in results if isinstance(x, Tensor)]
        ctx._outputs = [(meta(x).shape, meta(x).dtype, meta(x).place) for x in outputs]
        connect(_Call(cls, ctx, inputs), inputs, outputs)
        for x in outputs:
            if any(x is fixed for fixed in ctx._fixed):
                x.stop_gradient = True
        return type(made)(results) if several else results[0]


Function = PyLayer  # its name in PyTorch, which Paddle has too


def tensors_in(given: Sequence[Any]) -> list[Tensor]:
    """The tensors among arguments, and in lists and tuples among them, in order."""
    found: list[Tensor] = []
    for x in given:
        if isinstance(x, Tensor):
            found.append(x)
        elif isinstance(x, (list, tuple)):
            found += tensors_in(x)
    return found


class _Call:
    """One call of a `PyLayer`, for the backward pass."""

    def __init__(self, layer: type[PyLayer], ctx: PyLayerContext, inputs: Sequence[Tensor]) -> None:
        self.layer, self.ctx = layer, ctx
        self.wanted = [bool(_grad.info(x).requires_grad) for x in inputs]

    def backward(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients of the inputs."""
        if self.ctx._materialize:
            for i, (shape, dtype, place) in enumerate(self.ctx._outputs):
                if grads[i] is None:
                    grads[i] = filled(shape, 0, dtype, place)
        found = self.layer.backward(self.ctx, *grads)
        listed = list(found) if isinstance(found, (tuple, list)) else [found]
        if len(listed) == sum(self.wanted) != len(self.wanted):
            given = iter(listed)
            listed = [next(given) if wanted else None for wanted in self.wanted]
        if len(listed) != len(self.wanted):
            raise ValueError(
                f"[PyLayer] {self.layer.__name__}.backward returned {len(listed)} gradients; want {len(self.wanted)}, "
                "one for each tensor that forward got"
            )
        return [x if wanted else None for x, wanted in zip(listed, self.wanted)]
