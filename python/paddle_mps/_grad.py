"""Scopes with and without gradients: they do nothing, because there are no gradients yet."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar

from ._objects import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


class Scope:
    """A with block that changes nothing."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None


class DecoratorScope(Scope):
    """`with scope():` and `@scope()`."""

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


class no_grad(DecoratorScope):
    """`with no_grad():` and `@no_grad()`; nothing records gradients in either case."""


class enable_grad(DecoratorScope):
    """`with enable_grad():` and `@enable_grad()`.

    They record nothing: only tensors with stop_gradient=False have gradients, and making one is an UnsupportedError.
    """


class set_grad_enabled(Scope):
    """`with set_grad_enabled(mode):` and, as a statement, `set_grad_enabled(mode)`; see `enable_grad`."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode


def is_grad_enabled() -> bool:
    """False: there are no gradients yet."""
    return False


def is_tensor(x: object) -> bool:
    """Whether x is a Tensor."""
    return isinstance(x, Tensor)
