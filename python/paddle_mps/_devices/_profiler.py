"""paddle_mps.mps.profiler: trace documents for Xcode, as torch.mps.profiler makes them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from ctypes import byref, c_bool
from typing import TYPE_CHECKING

from .._core import _place
from .._core._errors import check
from .._core._library import library

if TYPE_CHECKING:
    from .._core._place import Place

SUFFIX = ".gputrace"  # Xcode opens documents of that name


def _state(place: Place) -> tuple[bool, bool]:
    enabled, capturing = c_bool(), c_bool()
    check(library.pmps_capture_get_state(byref(place.struct), byref(enabled), byref(capturing)))
    return enabled.value, capturing.value


def is_metal_capture_enabled() -> bool:
    """Whether `metal_capture` works: on a Metal device, in a process that was started with MTL_CAPTURE_ENABLED=1."""
    return _state(_place.mps_place(None))[0]


def is_capturing_metal() -> bool:
    """Whether a capture is under way."""
    return _state(_place.mps_place(None))[1]


@contextlib.contextmanager
def metal_capture(fname: str | os.PathLike[str]) -> Iterator[None]:
    """Records the commands for the Metal device inside a with block in a trace document for Xcode.

    Args:
        fname: a path that does not exist; .gputrace is added if it is missing.

    Raises:
        UnsupportedError: the process may not capture: see `is_metal_capture_enabled`.
        ValueError: a capture is under way, or the document cannot be made.
    """
    path = os.fspath(fname)
    if "\0" in path:
        raise ValueError(f"[metal_capture] fname is {path!r}; want a path without zeros")
    if not path.endswith(SUFFIX):
        path += SUFFIX
    place = _place.mps_place(None)
    check(library.pmps_capture_begin(byref(place.struct), os.fsencode(path)))
    try:
        yield
    finally:
        check(library.pmps_capture_end(byref(place.struct)))


__all__ = ["is_capturing_metal", "is_metal_capture_enabled", "metal_capture"]
