"""`triton._C.libtriton.passes`: passes that do nothing. The library does what is left of them: see tritonlang/clean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Passes:
    """A group of passes. Any that is asked for exists."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if not name.startswith("add_"):
            raise AttributeError(name)
        return nothing


def nothing(manager: Any, *options: Any) -> None:
    """Adds no pass."""


common = Passes()
ttir = Passes()
