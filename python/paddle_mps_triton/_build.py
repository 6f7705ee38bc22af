"""The stages behind Triton's own: shader source by the library, and the file that is run."""

from __future__ import annotations

import ctypes
import functools
import json
import os
import re
from ctypes import byref, c_void_p
from typing import Any

from . import _options

COMPILER = (
    "num_warps",
    "allow_f64_as_f32",
    "max_threads",
    "shared_memory",
    "enable_fp_fusion",
)  # what the compiler must know of options


@functools.cache
def key() -> str:
    """What changes with the library: its file's size and time, and the version of the package."""
    from paddle_mps import __version__
    from paddle_mps._core._library import find

    state = os.stat(find())
    return f"paddle-mps-{__version__}-{state.st_size}-{state.st_mtime_ns}"


def msl(module: Any, metadata: dict[str, Any], options: _options.Options) -> str:
    """The source of the shader, with what a launch must know in its first line."""
    from paddle_mps import UnsupportedError
    from paddle_mps._core._errors import check
    from paddle_mps._core._library import library

    text = str(module).encode()
    wanted = {name: getattr(options, name) for name in COMPILER}
    source, described = c_void_p(), c_void_p()
    try:
        check(
            library.pmps_triton_compile(text, len(text), json.dumps(wanted).encode(), byref(source), byref(described))
        )
    except UnsupportedError as error:
        raise fitting(error) from None
    try:
        made, found = ctypes.string_at(source.value or 0).decode(), json.loads(ctypes.string_at(described.value or 0))
    finally:
        library.pmps_text_free(source)
        library.pmps_text_free(described)
    metadata["name"], metadata["shared"], metadata["packed"] = found["name"], found["shared"], "packed" in found
    return made


def fitting(error: Exception) -> Exception:
    """What autotune takes for a configuration that does not fit, if that is what an error says; else the error."""
    found = re.search(r"out of resource: (.*), required: (\d+), limit: (\d+)", str(error))
    if not found:
        return error
    from triton.runtime.errors import OutOfResources

    fits: Exception = OutOfResources(int(found[2]), int(found[3]), found[1])
    return fits


def pack(source: str) -> bytes:
    """The file that `paddle_mps.triton_aot.load` reads, too."""
    return source.encode()
