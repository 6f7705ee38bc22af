"""no_grad: a scope without gradients, which every scope is until there are some."""

from __future__ import annotations

import functools
from typing import Any, Callable, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class no_grad:
    """`with no_grad():` and `@no_grad()`; nothing records gradients in either case."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exc: object) -> None:
        return None

    def __call__(self, function: Function) -> Function:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with no_grad():
                return function(*args, **kwargs)

        return wrapper  # type: ignore[return-value]


def is_grad_enabled() -> bool:
    """False: there are no gradients yet."""
    return False


def is_tensor(x: object) -> bool:
    """Whether x is a Tensor."""
    from ._tensor import Tensor  # keeps this module free of the library

    return isinstance(x, Tensor)
