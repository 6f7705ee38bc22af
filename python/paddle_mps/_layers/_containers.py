"""Layers that hold others, or parameters, and find them by number or name."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ._layer import Layer
from ._parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self


def place_of(name: str, number: int, count: int) -> int:
    """The number of an element that may be counted from the end.

    Raises:
        IndexError: there is none.
    """
    if not -count <= number < count:
        raise IndexError(f"[{name}] index {number} is out of range; there are {count}")
    return number % count


class Sequential(Layer):
    """Calls layers one after the other, each with the result of the one before.

    Args:
        layers: layers, whose names are their numbers; or pairs of a name and a layer; or one OrderedDict of layers by their names.
    """

    def __init__(self, *layers: Layer | tuple[str, Layer] | list[Any] | collections.OrderedDict[str, Layer]) -> None:
        super().__init__()
        if len(layers) == 1 and isinstance(layers[0], collections.OrderedDict):
            for name, layer in layers[0].items():
                self.add_sublayer(name, layer)
        elif layers and isinstance(layers[0], (list, tuple)):
            for name, layer in pairs("Sequential", layers):
                self.add_sublayer(str(name), layer)
        else:
            self.extend(layers)  # type: ignore[arg-type]

    def forward(self, input: Any) -> Any:
        for layer in self._sub_layers.values():
            assert layer is not None
            input = layer(input)
        return input

    def _name(self, place: int | str) -> str:
        if isinstance(place, str):
            return place
        return list(self._sub_layers)[place_of(type(self).__name__, place, len(self))]

    def __getitem__(self, name: int | slice | str) -> Any:
        if isinstance(name, slice):
            return type(self)(*list(self._sub_layers.values())[name])  # type: ignore[arg-type]
        return self._sub_layers[self._name(name)]

    def __setitem__(self, name: int | str, layer: Layer) -> None:
        self.add_sublayer(self._name(name), layer)

    def __delitem__(self, name: int | str) -> None:
        del self._sub_layers[self._name(name)]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def append(self, module: Layer) -> Self:
        """Adds a layer at the end; returns the container."""
        self.add_sublayer(str(len(self)), module)
        return self

    def extend(self, sequential: Iterable[Layer]) -> Self:
        """Adds layers at the end; returns the container."""
        for layer in list(sequential):
            self.append(layer)
        return self

    def insert(self, index: int, module: Layer) -> Self:
        """Puts a layer before the one of a number, and counts anew; returns the container."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"[Sequential] index {index} is out of range; there are {len(self)}")
        layers = list(self)
        layers.insert(index + len(self) if index < 0 else index, module)
        self._sub_layers.clear()
        return self.extend(layers)


class LayerList(Layer):
    """A list of layers, whose names are their numbers. It has no `forward`."""

    def __init__(self, sublayers: Iterable[Layer] | None = None) -> None:
        super().__init__()
        self.extend(sublayers or ())

    def _renew(self, layers: Iterable[Any]) -> None:
        kept = list(layers)
        self._sub_layers.clear()
        self.extend(kept)

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._sub_layers[str(place_of("LayerList", idx, len(self)))]

    def __setitem__(self, idx: int, sublayer: Layer) -> None:
        self.add_sublayer(str(place_of("LayerList", idx, len(self))), sublayer)

    def __delitem__(self, idx: int | slice) -> None:
        layers = list(self)
        del layers[idx]
        self._renew(layers)

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._sub_layers.values())

    def __iadd__(self, sublayers: Iterable[Layer]) -> Self:
        return self.extend(sublayers)

    def __add__(self, sublayers: Iterable[Layer]) -> LayerList:
        return LayerList([*self, *sublayers])

    def append(self, sublayer: Layer) -> Self:
        """Adds a layer at the end; returns the list."""
        self.add_sublayer(str(len(self)), sublayer)
        return self

    def extend(self, sublayers: Iterable[Layer]) -> Self:
        """Adds layers at the end; returns the list."""
        for layer in list(sublayers):
            self.append(layer)
        return self

    def insert(self, index: int, sublayer: Layer) -> None:
        """Puts a layer before the one of a number."""
        if not -len(self) <= index <= len(self):
            raise IndexError(f"[LayerList] index {index} is out of range; there are {len(self)}")
        layers = list(self)
        layers.insert(index + len(self) if index < 0 else index, sublayer)
        self._renew(layers)

    def pop(self, key: int | slice) -> Any:
        """Removes the layer of a number, and returns it."""
        found = self[key]
        del self[key]
        return found


class LayerDict(Layer):
    """A dictionary of layers, in the order in which they were added. It has no `forward`."""

    def __init__(self, sublayers: Any = None) -> None:
        super().__init__()
        if sublayers is not None:
            self.update(sublayers)

    def __getitem__(self, key: str) -> Any:
        return self._sub_layers[key]

    def __setitem__(self, key: str, sublayer: Layer) -> None:
        self.add_sublayer(key, sublayer)

    def __delitem__(self, key: str) -> None:
        del self._sub_layers[key]

    def __len__(self) -> int:
        return len(self._sub_layers)

    def __iter__(self) -> Iterator[str]:
        return iter(self._sub_layers)

    def __contains__(self, key: object) -> bool:
        return key in self._sub_layers

    def clear(self) -> None:
        """Removes all layers."""
        self._sub_layers.clear()

    def pop(self, key: str) -> Any:
        """Removes the layer of a key, and returns it."""
        return self._sub_layers.pop(key)

    def keys(self) -> Iterable[str]:
        """The keys, in order."""
        return self._sub_layers.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Keys and layers, in order."""
        return self._sub_layers.items()

    def values(self) -> Iterable[Any]:
        """The layers, in order."""
        return self._sub_layers.values()

    def update(self, sublayers: Any) -> None:
        """Adds layers of a dictionary, or of pairs of a key and a layer; those of the same keys are replaced."""
        for key, layer in pairs("LayerDict", sublayers):
            self.add_sublayer(key, layer)


class ParameterList(Layer):
    """A list of parameters, whose names are their numbers."""

    def __init__(self, parameters: Iterable[Any] | None = None) -> None:
        super().__init__()
        for parameter in parameters or ():
            self.append(parameter)

    def __getitem__(self, key: int) -> Any:
        return self._parameters[str(place_of("ParameterList", key, len(self)))]

    def __setitem__(self, key: int, param: Parameter) -> None:
        setattr(self, str(place_of("ParameterList", key, len(self))), param)

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parameters.values())

    def append(self, parameter: Any) -> Self:
        """Adds a parameter at the end; returns the list."""
        self.add_parameter(str(len(self)), parameter)
        return self


class ParameterDict(Layer):
    """A dictionary of parameters, in the order in which they were added."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return self._parameters[key]

    def __setitem__(self, key: str, param: Parameter) -> None:
        if not isinstance(param, Parameter):
            raise TypeError(f"[ParameterDict] {key!r} is {type(param).__name__}; want Parameter")
        self._parameters[key] = param

    def __len__(self) -> int:
        return len(self._parameters)

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def update(self, parameters: Any) -> None:
        """Adds parameters of a dictionary, or of pairs of a key and a parameter."""
        for key, parameter in pairs("ParameterDict", parameters):
            self[key] = parameter


def pairs(name: str, given: Any) -> Iterable[tuple[str, Any]]:
    """Keys and values of a mapping, of a container, or of pairs.

    Raises:
        TypeError: it is none of them, or a key is a layer.
        ValueError: an element is no pair.
    """
    if isinstance(given, (Mapping, LayerDict)):
        return list(given.items())
    if isinstance(given, ParameterDict):
        return list(given._parameters.items())
    if not isinstance(given, Iterable):
        raise TypeError(f"[{name}] got {type(given).__name__}; want a mapping, or pairs of a key and a value")
    found = list(given)
    for i, pair in enumerate(found):
        if not isinstance(pair, Iterable) or len(list(pair)) != 2:
            raise ValueError(f"[{name}] element {i} is {type(pair).__name__}; want a pair of a key and a value")
        if isinstance(next(iter(pair)), Layer):
            raise TypeError(
                f"[{name}] element {i} has a layer for its key; want a key and a value, or layers without a list"
            )
    return found


ModuleList = LayerList
ModuleDict = LayerDict

__all__ = ["LayerDict", "LayerList", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]
