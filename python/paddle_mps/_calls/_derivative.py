"""Gradients of functions that are computed outside of the library, by NumPy.

`derivative` gives such a function a rule, which is written in functions that have gradients themselves, so that gradients of
gradients follow. The function itself stays as it is: it runs on elements, and is not recorded.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, Callable, TypeVar

from .._core._errors import TracingError
from .._core._objects import Tensor, information, is_grad_enabled, meta, retained
from .._core._recording import asks, refuse
from . import _grad, _operators, _tracing
from ._call import into
from ._gradient_functions import connect
from ._precision import working

Function = TypeVar("Function", bound=Callable[..., Any])

# What a rule gets: the gradients of the results, None where nothing depends on one; the results; and the arguments by their
# names. It returns the gradients of the operands in the order in which `derivative` names them: of any shape that these
# broadcast to, and None for zero.
Rule = Callable[[list[Any], list[Any], Any], Sequence[Any]]


def derivative(rule: Rule, *names: str) -> Callable[[Function], Function]:
    """Gives a function a gradient with respect to the parameters of these names.

    A function that is traced (`paddle.jit`) may call it with tensors that it captures, and gets what it computes then.

    Other tensors among the arguments are constants. `out` takes the results as it does without a gradient.
    """

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if not asks(*args, *kwargs.values()):
                return function(*args, **kwargs)
            bound = signature(function).bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            out = given.get("out")
            if out is not None:
                given["out"] = None
            with _grad.no_grad():
                made = function(*bound.args, **bound.kwargs)
            if _tracing.active() and any(map(is_traced, made if isinstance(made, (list, tuple)) else [made])):
                raise TracingError(
                    f"[{function.__name__}] its gradient is computed outside of the library, so that a function that is "
                    "traced cannot have it; want the call outside of the function, or no_grad"
                )
            return written(out, recorded(function.__name__, wrapper, rule, names, given, made))

        return wrapper  # type: ignore[return-value]

    return decorate


def derivative_of_real(rule: Rule, *names: str) -> Callable[[Function], Function]:
    """`derivative` for a function of complex numbers too, of which the rule is right for real ones alone.

    Raises:
        UnsupportedError: an operand is complex and has stop_gradient=False, and recording is on.
    """

    def decorate(function: Function) -> Function:
        differentiable = derivative(rule, *names)(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            given = [x for x in (*args, *kwargs.values()) if isinstance(x, Tensor)]
            if any(meta(x).dtype.is_complex for x in given):
                refuse(function.__name__, *given)
                return function(*args, **kwargs)
            return differentiable(*args, **kwargs)

        return wrapper  # type: ignore[return-value]

    return decorate


@functools.cache
def signature(function: Callable[..., Any]) -> Any:
    """The parameters of a function, found out at its first gradient: inspect takes its time at an import."""
    import inspect

    return inspect.signature(function)


def is_traced(x: Any) -> bool:
    """Whether a tensor has no elements, because it is of a function that is being traced."""
    return isinstance(x, Tensor) and bool(information(x._handle).traced)


def without_derivative(function: Function) -> Function:
    """Refuses calls with operands that ask for gradients.

    Raises:
        UnsupportedError: an operand has stop_gradient=False, and recording is on.
    """

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        refuse(function.__name__, *args, *kwargs.values())
        return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def written(out: Any, made: Any) -> Any:
    """Results, or out after it took them."""
    if out is None:
        return made
    if isinstance(made, tuple):
        return tuple(into(o, x) for o, x in zip(out, made))
    return into(out, made)


def recorded(
    name: str,
    again: Callable[..., Any],
    rule: Rule,
    names: Sequence[str],
    given: dict[str, Any],
    made: Any,
) -> Any:
    """Results of a call, with the rule as their gradient.

    Args:
        name: what errors call the function.
        again: computes the results anew, recorded.
        given: the arguments by their names.
    """
    operands = [given[n] for n in names]
    call = _Call(name, again, rule, names, given, made)
    inputs = [x for x in operands if isinstance(x, Tensor)]
    outputs = call.differentiable(made)
    if asks(*inputs) and outputs:
        connect(call, inputs, outputs)
    return made


class _Call:
    """One call, for the backward pass."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        rule: Rule,
        names: Sequence[str],
        given: dict[str, Any],
        made: Any,
    ) -> None:
        self._name, self._function, self._rule = name, function, rule
        # Tensors of its own: those of the program may become others, as by reshape_.
        self._given = {k: retained(x._handle) if isinstance(x, Tensor) else x for k, x in given.items()}
        self._operands = [n for n in names if isinstance(given[n], Tensor)]
        self._names = names
        self._several = isinstance(made, tuple)
        results = list(made) if self._several else [made]
        self._at = [i for i, x in enumerate(results) if isinstance(x, Tensor) and has_gradient(x)]
        # Without their histories, which name this call and would keep it.
        self._results = [x.detach() if isinstance(x, Tensor) else x for x in results]
        self._versions = [_grad.info(x).version for x in self._kept()]

    def differentiable(self, made: Any) -> list[Tensor]:
        """The results that have gradients."""
        results = list(made) if self._several else [made]
        return [results[i] for i in self._at]

    def _kept(self) -> list[Tensor]:
        return [x for x in (*self._given.values(), *self._results) if isinstance(x, Tensor)]

    def backward(self, grads: list[Tensor | None]) -> list[Tensor | None]:
        """The gradients of the operands."""
        for x, version in zip(self._kept(), self._versions):
            if _grad.info(x).version != version:
                raise ValueError(
                    f"[{self._name}] a tensor that the gradient reads was changed in place after the call "
                    f"(version {_grad.info(x).version}; want {version}); want a copy to change"
                )
        results = self._results
        if is_grad_enabled():  # gradients of gradients go through the results, too
            made = self._function(**self._given)
            results = list(made) if self._several else [made]
        spread: list[Any] = [None] * len(results)
        for i, d in zip(self._at, grads):
            spread[i] = None if d is None else working(d)
        given = SimpleNamespace(**{k: wide(x) for k, x in self._given.items()})
        found = dict(zip(self._names, self._rule(spread, [wide(x) for x in results], given)))
        return [None if found[n] is None else fitted(found[n], self._given[n]) for n in self._operands]


def has_gradient(x: Tensor) -> bool:
    """Whether the dtype is one that has gradients."""
    return meta(x).dtype.is_floating or meta(x).dtype.is_complex


def wide(x: Any) -> Any:
    """A tensor as float32 if it is of half precision."""
    return working(x) if isinstance(x, Tensor) else x


def fitted(d: Tensor, x: Tensor) -> Tensor:
    """A gradient of the shape and dtype of its tensor, summed where that was broadcast."""
    have, want = meta(d).shape, meta(x).shape
    if have != want:
        front = len(have) - len(want)
        axes = [i for i, n in enumerate(have) if i < front or (want[i - front] == 1 and n != 1)]
        d = _operators.reshape(_operators.sum(d, axes, None, False) if axes else d, list(want))
    mine, its = meta(d).dtype, meta(x).dtype
    if mine is its:
        return d
    return _operators.cast(d.real() if mine.is_complex and not its.is_complex else d, its)


def composed(function: Callable[..., Any], *names: str) -> Rule:
    """The rule of a function that is equal to a composition of functions that have gradients.

    Args:
        function: the composition; it gets the arguments by their names.
        names: the parameters with a gradient.
    """

    def rule(grads: list[Any], results: list[Any], given: Any) -> list[Any]:
        create = is_grad_enabled()
        arguments = dict(vars(given))
        leaves = []
        for n in names:
            if isinstance(arguments[n], Tensor):
                arguments[n] = own(arguments[n])
                leaves.append(arguments[n])
        with _grad.enable_grad():
            made = function(**arguments)
        made = list(made) if isinstance(made, tuple) else [made]
        # The gradient of a result without elements, such as residuals that were not computed, says nothing.
        pairs = [(y, d) for y, d in zip(made, grads) if d is not None and meta(d).numel and isinstance(y, Tensor)]
        pairs = [(y, d) for y, d in pairs if not y.stop_gradient]
        if not pairs:
            return [None] * len(names)
        found = _grad.grad([y for y, _ in pairs], leaves, [d for _, d in pairs], create_graph=create, allow_unused=True)
        by_name = iter(found)
        return [next(by_name) if isinstance(arguments[n], Tensor) else None for n in names]

    return rule


def own(x: Tensor) -> Tensor:
    """x as a tensor that asks for a gradient, and whose gradient is that of x where x asks for one and is recorded."""
    if is_grad_enabled() and not x.stop_gradient:
        return _operators.assign(x)
    leaf: Tensor = x.detach()
    leaf.stop_gradient = False
    return leaf
