"""`save`: tensors and nested data as files that Paddle reads."""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from io import BytesIO
from typing import Any

from .._core._errors import UnsupportedError
from .._core._objects import Tensor, meta
from . import _tensor_file
from ._load import NAMES, PARTS
from ._pickle import Writer, name_of
from ._tensor_file import Bare

OPTIONS = ("use_binary_format", "pickle_protocol", "safetensors")
# Bytes of the largest array that protocols 2 and 3 hold in one piece, in a state dict.
MAX_PIECE = 2**30 - 1


def save(obj: Any, path: str | BytesIO, protocol: int = 4, **configs: Any) -> None:
    """Writes a tensor, a state dict, or nested lists, tuples, sets and dicts of tensors, arrays and numbers.

    Paddle reads the file, and `load`. What is not data is refused before the file is opened.

    Args:
        obj: what to save. A dict of nothing but tensors, and of dicts without tensors, is a state dict.
        path: the name of the file, whose folder is made if there is none; or a BytesIO.
        protocol: of the pickle: 2, 3 or 4.
        use_binary_format: True for the file of one tensor, without a pickle.

    Raises:
        ValueError: a protocol other than 2 to 4, an unknown option, no name, or a path of another type.
        TypeError: obj holds something that is no data.
        NotImplementedError: it holds bytes, or another iterable than those above; or use_binary_format with
            something else than a tensor.
        RecursionError: it holds itself, or has more than 320 levels.
    """
    _check_path(path)
    binary, protocol = _options(configs, protocol)
    if binary:
        if not isinstance(obj, Tensor):
            raise NotImplementedError(f"[save] use_binary_format of {type(obj).__name__}; want a Tensor")
        _write(path, lambda file: _tensor_file.write(file, obj))
        return
    if type(protocol) not in (int, bool) or not 2 <= protocol <= 4:
        raise ValueError(f"[save] got protocol={protocol!r}; want 2, 3 or 4")
    state = is_state(obj)
    if state:
        obj = state_of(obj, protocol)
    Writer(None, protocol, not state).dump(obj)
    _write(path, lambda file: Writer(file, protocol, not state).dump(obj))


def _check_path(path: Any) -> None:
    if isinstance(path, str):
        if not os.path.basename(path):
            raise ValueError(f"[save] got the path {path!r}; want the name of a file")
    elif not isinstance(path, BytesIO):
        raise ValueError(f"[save] path is {type(path).__name__}; want a str or a BytesIO")


def _options(configs: dict[str, Any], protocol: int) -> tuple[bool, int]:
    """Whether the format is that of one tensor, and the protocol."""
    for key in configs:
        if key not in OPTIONS:
            raise ValueError(f"[save] got the option {key}; want one of {', '.join(OPTIONS)}")
    binary = configs.get("use_binary_format", False)
    if not isinstance(binary, bool):
        raise TypeError(f"[save] use_binary_format is {type(binary).__name__}; want a bool")
    if configs.get("safetensors"):
        raise UnsupportedError("[save] got safetensors=True; want Paddle's own format")
    old = configs.get("pickle_protocol")
    if old is None:
        return binary, protocol
    if not binary:
        warnings.warn("pickle_protocol is deprecated; use protocol", stacklevel=3)
    return binary, old


def _write(path: str | BytesIO, write: Any) -> None:
    if isinstance(path, BytesIO):
        write(path)
        path.flush()
        return
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        write(file)


def is_state(obj: Any) -> bool:
    """Whether obj is a state dict: all values are tensors, or dicts without tensors."""
    return isinstance(obj, dict) and all(
        not holds_tensor(list(value.values()), set()) if isinstance(value, dict) else isinstance(value, Tensor)
        for value in obj.values()
    )


def holds_tensor(obj: Any, seen: set[int]) -> bool:
    """Whether obj is a tensor or a list, tuple or dict with one in it; seen are ids of what was looked at."""
    if isinstance(obj, Tensor):
        return True
    if type(obj) not in (list, tuple, dict, OrderedDict) or id(obj) in seen:
        return False
    seen.add(id(obj))
    return any(holds_tensor(item, seen) for item in (obj.values() if isinstance(obj, dict) else obj))


def state_of(obj: dict[Any, Any], protocol: int) -> dict[Any, Any]:
    """What a file holds for a state dict: arrays by name, and the table of the variables' names."""
    if not obj:
        warnings.warn("[save] the state dict is empty", stacklevel=3)
    names = {key: name_of(value) for key, value in obj.items() if isinstance(value, Tensor)}
    state = {key: Bare(value) if isinstance(value, Tensor) else value for key, value in obj.items()}
    state[NAMES] = names
    return state if protocol >= 4 else in_pieces(state)


def in_pieces(state: dict[Any, Any]) -> dict[Any, Any]:
    """Cuts arrays that protocols 2 and 3 cannot hold, as Paddle does."""
    cut: dict[Any, Any] = {}
    pieces: dict[Any, Any] = {}
    for key, value in state.items():
        if not isinstance(value, Bare):
            continue
        m = meta(value.tensor)
        step = MAX_PIECE // m.dtype.itemsize
        if m.numel > step:
            parts = {
                f"{key}@@.{i}": Bare(value.tensor, start, min(start + step, m.numel))
                for i, start in enumerate(range(0, m.numel, step))
            }
            cut[key] = {"OriginShape": m.shape, "slices": list(parts)}
            pieces.update(parts)
    if not cut:
        return state
    whole = {key: value for key, value in state.items() if key not in cut}
    return {**whole, **pieces, PARTS: cut}


def async_save(obj: Any, path: str | BytesIO, protocol: int = 4, sync_other_task: bool = False, **configs: Any) -> None:
    """`save`, which is done when this returns: what is saved may change at once.

    Args:
        sync_other_task: changes nothing, as no other save is under way.
    """
    save(obj, path, protocol, **configs)


def clear_async_save_task_queue() -> None:
    """Does nothing: no save is under way."""


__all__ = ["async_save", "clear_async_save_task_queue", "save"]
