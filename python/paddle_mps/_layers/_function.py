"""Layers that are one function with arguments that are said once."""

from __future__ import annotations

from typing import Any, Callable, ClassVar

from ._layer import Layer


class FunctionLayer(Layer):
    """Calls a function with its inputs and the arguments that the layer keeps.

    A subclass names the function, and calls `_keep` with the arguments, by the function's names for them.
    """

    function: Callable[..., Any]
    _prefix = ""  # of the attributes that keep the arguments
    _renamed: ClassVar[dict[str, str]] = {}  # arguments whose attribute has another name
    _shown: tuple[str, ...] | None = None  # arguments in repr; None for all
    _says_name = True  # whether repr says the name

    def _keep(self, name: str | None = None, **arguments: Any) -> None:
        Layer.__init__(self)
        self._kept = tuple(arguments)
        for argument, value in arguments.items():
            setattr(self, self._attribute(argument), value)
        setattr(self, f"{self._prefix}name", name)

    def _attribute(self, argument: str) -> str:
        return self._renamed.get(argument, self._prefix + argument)

    def _arguments(self) -> dict[str, Any]:
        return {argument: getattr(self, self._attribute(argument)) for argument in self._kept}

    def forward(self, *inputs: Any) -> Any:
        return type(self).function(*inputs, **self._arguments())

    def extra_repr(self) -> str:
        shown = self._kept if self._shown is None else self._shown
        said = [f"{argument}={getattr(self, self._attribute(argument))}" for argument in shown]
        name = getattr(self, f"{self._prefix}name") if self._says_name else None
        return ", ".join([*said, *([f"name={name}"] if name else [])])
