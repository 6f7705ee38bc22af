"""paddle.autograd: backward passes, and functions with gradients of their own."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from ._arrays._creation import filled
from ._calls import _grad
from ._calls._grad import backward, enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ._calls._gradient_functions import connect
from ._core._errors import GradientError, check
from ._core._library import quick
from ._core._objects import Tensor, meta, retained, view
from ._matrices._jacobian import hessian, jacobian

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
    "saved_tensors_hooks",
    "set_grad_enabled",
]


class PyLayerContext:
    """What forward of a `PyLayer` hands to its backward. Further attributes may be set."""

    def __init__(self) -> None:
        self._saved: tuple[Any, ...] = ()
        self._versions: tuple[Any, ...] = ()  # of saved tensors when forward had ended
        self._fixed: tuple[Any, ...] = ()
        self._materialize = True
        self._outputs: list[tuple[Any, ...]] = []
        self._groups: list[Any] = []

    def save_for_backward(self, *tensors: Any) -> None:
        """Keeps tensors for `saved_tensor`; called once, in forward. Within `saved_tensors_hooks` what is kept is packed."""
        hooks = _hooks[-1] if _hooks else None
        self._saved = tensors if hooks is None else tuple([hooks.packed(x) for x in tensors])

    def saved_tensor(self) -> tuple[Any, ...]:
        """The tensors that were kept.

        Raises:
            GradientError: one was changed in place after the call.
        """
        for i, (x, version) in enumerate(zip(self._saved, self._versions)):
            if version_of(x) != version:
                raise GradientError(
                    f"[PyLayer] saved tensor {i} was changed in place after the call (version {version_of(x)}; want {version}); "
                    "want a copy to change"
                )
        return tuple([kept(x) for x in self._saved])

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """`saved_tensor`, under PyTorch's name."""
        return self.saved_tensor()

    def mark_not_inplace(self, *args: Any) -> None:
        """Nothing: results that are operands are always other tensors over the same memory."""

    def mark_non_differentiable(self, *args: Any) -> None:
        """Marks results that have no gradient; called in forward."""
        self._fixed = args

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros, and not None, for results that nothing depends on: True at first."""
        self._materialize = bool(value)


class _Output:
    """A result that a call has kept for its gradient. The result keeps the call, so that this one does not keep the result."""

    def __init__(self, x: Tensor) -> None:
        made = ctypes.c_uint64()
        check(quick.pmps_tensor_weaken(x._handle, ctypes.byref(made)))
        self.handle = view(made.value)


class saved_tensors_hooks:
    """Within a with-statement, calls of `PyLayerContext.save_for_backward` keep what pack_hook makes of each tensor.

    What operators keep for their gradients is in the library and does not pass through these functions, other than in
    PaddlePaddle.

    Args:
        pack_hook: called with each tensor that is saved, and with those of lists and tuples, without gradients; returns what is
            kept instead, such as an array or the name of a file.
        unpack_hook: called with that where the backward pass reads the tensor; returns a tensor of the same content.

    Raises:
        TypeError: one of them cannot be called.
        ValueError: another pair is in use: there is one at a time, of all threads.
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"[saved_tensors_hooks] {name} is {hook!r}; want a function")
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        if _hooks:
            raise ValueError("[saved_tensors_hooks] another pair of hooks is in use; want one at a time")
        _hooks.append(self)

    def __exit__(self, *args: object) -> None:
        _hooks.clear()

    def packed(self, x: Any) -> Any:
        """What is kept of an argument of save_for_backward."""
        if isinstance(x, Tensor):
            with no_grad():
                return _Packed(self.pack_hook(x), self.unpack_hook)
        return type(x)([self.packed(y) for y in x]) if type(x) in (list, tuple) else x


_hooks: list[saved_tensors_hooks] = []  # those in use, of which there is one


class _Packed:
    """What pack_hook has made of a tensor, and the function that makes the tensor of it again."""

    def __init__(self, held: Any, unpack_hook: Callable[[Any], Tensor]) -> None:
        self.held, self.unpack_hook = held, unpack_hook

    def unpacked(self) -> Tensor:
        with no_grad():
            x = self.unpack_hook(retained_output(self.held))
        if not isinstance(x, Tensor):
            raise ValueError(f"[saved_tensors_hooks] unpack_hook returned {type(x).__name__}; want a tensor")
        return x


def retained_output(x: Any) -> Any:
    """The result that an `_Output` stands for; anything else as it is."""
    return retained(x.handle._handle) if isinstance(x, _Output) else x


def kept(x: Any) -> Any:
    """What `saved_tensor` returns of something that was saved."""
    if isinstance(x, _Packed):
        return x.unpacked()
    return in_parts(x, kept) if type(x) in (list, tuple) else retained_output(x)


def in_parts(x: Any, change: Callable[[Any], Any]) -> Any:
    """A list or tuple with each part changed: itself where no part is another one then."""
    made = [change(y) for y in x]
    return x if all(a is b for a, b in zip(made, x)) else type(x)(made)


def weakened(x: Any, outputs: set[int]) -> Any:
    """What was saved, without references to results of the call."""
    if isinstance(x, _Packed) and id(x.held) in outputs:
        x.held = _Output(x.held)
    elif id(x) in outputs:
        return _Output(x)
    return in_parts(x, lambda y: weakened(y, outputs)) if type(x) in (list, tuple) else x


def version_of(x: Any) -> Any:
    """How often the memory of a saved tensor was written to: for each part of a list or tuple; None for what is no tensor."""
    if type(x) in (list, tuple):
        return tuple([version_of(y) for y in x])
    x = x.handle if isinstance(x, _Output) else x
    return int(_grad.info(x).version) if isinstance(x, Tensor) else None


class PyLayer:
    """A function with a gradient of its own.

    A subclass has two static methods. `forward(ctx, *args, **kwargs)` computes a tensor, or a tuple of them, without being
    recorded. `backward(ctx, *grads)` gets the gradient of each result, a list for a list of tensors among them, and returns that
    of each tensor among args: a tensor, a tuple of several, None for one without. `apply(*args, **kwargs)` calls the function.
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
        results = [apart(x, same) for x in results]
        outputs = tensors_in(results)
        ctx._groups = groups(results)
        ctx._outputs = [(meta(x).shape, meta(x).dtype, meta(x).place) for x in outputs]
        connect(_Call(cls, ctx, inputs), inputs, outputs)
        made_here = {id(x) for x in outputs}
        ctx._saved = tuple([weakened(x, made_here) for x in ctx._saved])
        for x in outputs:
            if any(x is fixed for fixed in ctx._fixed):
                x.stop_gradient = True
        ctx._fixed = ()
        ctx._versions = tuple(map(version_of, ctx._saved))
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


def apart(x: Any, inputs: set[int]) -> Any:
    """A result of forward; one that is an operand as another tensor over the same memory."""
    if type(x) in (list, tuple):
        return in_parts(x, lambda y: apart(y, inputs))
    return x.detach() if id(x) in inputs else x


def groups(results: Sequence[Any]) -> list[Any]:
    """How the tensors among results are grouped: None for each, a list for a list or tuple that has some."""
    return [groups(x) if isinstance(x, (list, tuple)) else None for x in results if tensors_in([x])]


def flat(given: Any) -> list[Any]:
    """What a backward function returned, one by one: gradients of a list of tensors may be in a list."""
    return [y for x in given for y in flat(x)] if isinstance(given, (list, tuple)) else [given]


def grouped(grads: Iterator[Any], groups: Sequence[Any]) -> list[Any]:
    """Gradients in the groups of their results."""
    return [next(grads) if group is None else grouped(grads, group) for group in groups]


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
        found = self.layer.backward(self.ctx, *grouped(iter(grads), self.ctx._groups))
        listed = flat(found)
        if len(listed) == sum(self.wanted) != len(self.wanted):
            given = iter(listed)
            listed = [next(given) if wanted else None for wanted in self.wanted]
        if len(listed) != len(self.wanted):
            raise ValueError(
                f"[PyLayer] {self.layer.__name__}.backward returned {len(listed)} gradients; want {len(self.wanted)}, "
                "one for each tensor that forward got"
            )
        return [x if wanted else None for x, wanted in zip(listed, self.wanted)]
