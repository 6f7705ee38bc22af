"""`load`: tensors and nested data out of files, those of Paddle among them."""

from __future__ import annotations

import os
from collections import OrderedDict
from io import BytesIO
from typing import Any, Callable, NoReturn

import numpy as np

from .._core import _dtype
from .._core._errors import UnsupportedError
from .._core._objects import Tensor
from .._devices import _default_place
from . import _tensor_file
from ._source import Readable, Source
from ._unpickle import Array, Function, Kind, Machine, Raw

# Paddle's keys in a state dict: names of layers to names of variables; arrays that were cut because protocols 2 and
# 3 cannot hold them.
NAMES = "StructuredToParameterName@@"
PARTS = "UnpackBigParamInfor@@"
MAX_DEPTH = 320  # levels of lists in lists; Paddle saves about as many

OPTIONS = ("model_filename", "params_filename", "keep_name_table", "return_numpy", "safetensors")


def load(path: str | BytesIO, **configs: Any) -> Any:
    """What `save` wrote: tensors, numbers, strings, and lists, tuples, sets and dicts of them.

    Only data is read: a file that names anything else is refused and nothing in it is run. Memory is bounded by
    the size of the file.

    Args:
        path: the name of a file, or a BytesIO, which is read from its position on and is left after what was read.
        return_numpy: True for NumPy arrays instead of tensors; bfloat16 as bits in uint16.
        keep_name_table: True to keep the key "StructuredToParameterName@@" of a state dict.

    Returns:
        Tensors are on the current place; those of float64 are on the CPU where the default place has no float64, as
        for `to_tensor`. Where the same tensor or list stood twice in what was saved, the same
        one stands twice in the result.

    Raises:
        ValueError: there is no such file; it is damaged or holds more than data, and the message has the byte; or
            an unknown option.
        EOFError: the file is empty.
        TypeError: path is neither; or float64 tensors on an mps device that the program has chosen.
        UnsupportedError: the path is that of a model or of a folder, or safetensors=True.
    """
    for key in configs:
        if key not in OPTIONS:
            raise ValueError(f"[load] got the option {key}; want one of {', '.join(OPTIONS)}")
    if configs.get("safetensors"):
        raise UnsupportedError("[load] got safetensors=True; want a file of paddle.save")
    if isinstance(path, BytesIO):
        return _from_buffer(path, configs)
    if not isinstance(path, str):
        raise TypeError(f"[load] path is {type(path).__name__}; want a str or a BytesIO")
    if not os.path.isfile(path):
        _refuse_path(path)
    with open(path, "rb") as file:
        return _from_file(file, path, configs)


def _from_buffer(buffer: BytesIO, configs: dict[str, Any]) -> Any:
    start = buffer.tell()
    try:
        return _from_file(buffer, "BytesIO", configs)
    except BaseException:
        buffer.seek(start)
        raise


def _refuse_path(path: str) -> NoReturn:
    for model in (path, path + ".json", path + ".pdmodel"):
        if os.path.exists(model):
            raise UnsupportedError(
                f"[load] {model} is not a file of paddle.save; want one: models cannot be loaded yet; paddle2onnx converts them"
            )
    whole = [path + end for end in (".pdparams", ".pdopt") if os.path.exists(path + end)]
    hint = f"; want the whole name, {whole[0]!r}" if whole else "; want the name of a file"
    raise ValueError(f"[load] there is no {path!r}{hint}")


def _from_file(file: Readable, name: str, configs: dict[str, Any]) -> Any:
    source = Source(file, name)
    if not source.size:
        raise EOFError(f"[load] {name}, byte {source.at}: the file is empty; want a pickle or a tensor")
    file.seek(source.at)
    first = file.read(1)
    numpy = bool(configs.get("return_numpy"))
    if first == b"\x80":
        return _from_pickle(source, numpy, bool(configs.get("keep_name_table")))
    if first == b"\x00":
        array = _tensor_file.read(source)
        source.leave()
        return array if numpy else _tensor(array, source, source.at - array.nbytes)
    instead = "; an ONNX model is loaded by paddle_mps.onnx.load" if name.endswith(".onnx") else ""
    raise source.error(
        f"got {first[0]:#04x}; want 0x80, the start of a pickle of protocol 2 to 5, or 0x00, of a tensor{instead}"
    )


def _from_pickle(source: Source, numpy: bool, keep_names: bool) -> Any:
    machine = Machine(source)
    value, pairs, shared = machine.run(), machine.pairs, machine.shared
    source.leave()
    del machine  # and with it the memory of arrays, as soon as there are tensors of them
    if type(value) in (dict, OrderedDict):
        _join_parts(value, source)
        if NAMES in value:
            return _state(value, source, numpy, keep_names, shared)
    # A file has names with its tensors, and then its other arrays are arrays, or it has tensors only.
    return Converter(source, numpy, shared, pairs=pairs, arrays=not pairs).convert(value)


def _state(state: dict[Any, Any], source: Source, numpy: bool, keep_names: bool, shared: dict[int, Any]) -> Any:
    """A state dict: what the table of names lists are tensors, all else stays as it is."""
    table = state[NAMES] if keep_names else state.pop(NAMES)
    if type(table) not in (dict, OrderedDict):
        raise source.error(f"{NAMES} is {type(table).__name__}; want a dict")
    tensors = Converter(source, numpy, shared, pairs=False, arrays=True)
    for key, name in table.items():
        if key not in state:
            raise source.error(f"{NAMES} has the key {_shown(key)}; want one of the state dict")
        if type(state[key]) is Array:
            state[key] = _named(tensors.convert(state[key]), name)
    return Converter(source, numpy, shared, pairs=False, arrays=False).convert(state)


def _shown(key: Any) -> str:
    """A key in a message. Others than strings may be large."""
    return repr(key[:100]) if isinstance(key, str) else f"a key of type {type(key).__name__}"


def _join_parts(state: dict[Any, Any], source: Source) -> None:
    """Puts arrays together that were cut because protocols 2 and 3 cannot hold them. Each part is used once."""
    cut = state.pop(PARTS, {})
    if type(cut) is not dict:
        raise source.error(f"{PARTS} is {type(cut).__name__}; want a dict")
    for key, how in cut.items():
        names = how.get("slices") if type(how) is dict else None
        shape = how.get("OriginShape") if type(how) is dict else None
        if type(names) is not list or type(shape) is not tuple or not names:
            raise source.error(f"{PARTS} of {_shown(key)} is damaged; want slices and OriginShape")
        parts = [state.pop(name) for name in names if type(name) is str and type(state.get(name)) is Array]
        found = [part.elements for part in parts if part.elements is not None]
        if len(found) != len(names) or any(a.ndim != 1 or a.dtype != found[0].dtype for a in found):
            raise source.error(f"{PARTS} of {_shown(key)} names what are no parts of one array")
        whole = Array(parts[0].at)
        try:
            whole.elements = np.concatenate(found).reshape(shape)
        except (TypeError, ValueError) as error:
            raise source.error(f"{PARTS} of {_shown(key)}: {error}") from None
        state[key] = whole


class Converter:
    """Makes the result out of what was read, in place where possible.

    Args:
        numpy: tensors become NumPy arrays.
        shared: what may occur more than once, by id. Only of these is noted what became of them.
        pairs: tuples of a name and an array are tensors.
        arrays: arrays are tensors.
    """

    def __init__(self, source: Source, numpy: bool, shared: dict[int, Any], pairs: bool, arrays: bool) -> None:
        self.source, self.numpy, self.shared, self.pairs, self.arrays = source, numpy, shared, pairs, arrays
        # Results by the id of what was read, with that object, so that its id stays its own.
        self.done: dict[int, tuple[Any, Any]] = {}
        self.tensors: dict[int, tuple[Array, Any]] = {}

    def convert(self, value: Any, depth: int = 0) -> Any:
        """The result for a value and all that is in it."""
        step = CONTAINERS.get(type(value))
        if step is None:
            return self.leaf(value)
        if depth > MAX_DEPTH:
            raise self.source.error(f"the value that ends here has more than {MAX_DEPTH} levels")
        if id(value) not in self.shared:
            return step(self, value, depth + 1)
        known = self.done.get(id(value))
        if known is None:
            self.done[id(value)] = value, UNDER_WAY
            result = step(self, value, depth + 1)
            self.done[id(value)] = value, result
            return result
        if known[1] is UNDER_WAY:
            raise self.source.error("the value that ends here holds itself; want lists, tuples and dicts that do not")
        return known[1]

    def in_list(self, value: list[Any], depth: int) -> Any:
        for i, item in enumerate(value):
            value[i] = self.convert(item, depth)
        return value

    def in_dict(self, value: dict[Any, Any], depth: int) -> Any:
        for key, item in value.items():
            value[key] = self.convert(item, depth)
        return value

    def in_tuple(self, value: tuple[Any, ...], depth: int) -> Any:
        if self.pairs and len(value) == 2 and type(value[1]) is Array and type(value[0]) is str:
            return _named(self.tensor(value[1]), value[0])
        items = []
        for item in value:  # no comprehension, which would be another frame on Python's stack
            items.append(self.convert(item, depth))
        return tuple(items)

    def leaf(self, value: Any) -> Any:
        if type(value) is Array:
            return self.tensor(value) if self.arrays else self.array(value)
        if type(value) is Raw:
            return bytes(value.data)
        if type(value) is Kind:
            return value.dtype
        if type(value) is Function:
            raise self.source.error(f"the value that ends here holds the function {value.name}; want data")
        return value

    def array(self, value: Array) -> np.ndarray[Any, Any]:
        if value.elements is not None:
            return value.elements
        if id(value) in self.tensors:
            return self.tensors[id(value)][1].numpy()  # type: ignore[no-any-return]
        raise self.source.error("got an array without elements", value.at)

    def tensor(self, value: Array) -> Any:
        """The tensor of an array, which is made once and then has the elements to itself."""
        if self.numpy:
            return self.array(value)
        if id(value) not in self.tensors:
            self.tensors[id(value)] = value, _tensor(self.array(value), self.source, value.at)
            value.elements = None
        return self.tensors[id(value)][1]


UNDER_WAY = object()
CONTAINERS: dict[type, Callable[[Converter, Any, int], Any]] = {
    list: Converter.in_list,
    dict: Converter.in_dict,
    OrderedDict: Converter.in_dict,
    tuple: Converter.in_tuple,
}


def _tensor(array: np.ndarray[Any, Any], source: Source, at: int) -> Tensor:
    if array.dtype not in _dtype.BY_NUMPY:
        names = ", ".join(d.name for d in _dtype.ALL)
        raise source.error(f"got an array of {array.dtype}; want one of {names}, or return_numpy=True", at)
    try:
        return _default_place.placed(array)
    except ValueError as error:  # more dimensions than a tensor may have
        raise source.error(str(error), at) from None


def _named(x: Any, name: Any) -> Any:
    """x with the name of the variable that it was, if tensors have names."""
    if isinstance(x, Tensor) and isinstance(name, str) and hasattr(type(x), "name"):
        setattr(x, "name", name)  # noqa: B010 - tensors may have none
    return x


__all__ = ["load"]
