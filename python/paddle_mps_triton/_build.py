"""The stages behind Triton's own: shader source by the library, and the file that is run."""

from __future__ import annotations

import ctypes
import functools
import json
import os
from ctypes import byref, c_void_p
from typing import Any

from . import _options


@functools.cache
def key() -> str:
    """What changes with the library: its file's size and time, and the version of the package."""
    from paddle_mps import __version__
    from paddle_mps._library import find

    state = os.stat(find())
    return f"paddle-mps-{__version__}-{state.st_size}-{state.st_mtime_ns}"


def msl(module: Any, metadata: dict[str, Any], options: _options.Options) -> str:
    """The source of the shader, with what a launch must know in its first line."""
    from paddle_mps._errors import check
    from paddle_mps._library import library

    text = str(module).encode()
    wanted = {name: getattr(options, name) for name in ("num_warps", "debug", "enable_fp_fusion", "allow_f64_as_f32")}
    source, described = c_void_p(), c_void_p()
    check(library.pmps_triton_compile(text, len(text), json.dumps(wanted).encode(), byref(source), byref(described)))
    try:
        made, found = ctypes.string_at(source.value or 0).decode(), json.loads(ctypes.string_at(described.value or 0))
    finally:
        library.pmps_text_free(source)
        library.pmps_text_free(described)
    metadata["name"], metadata["shared"] = found["name"], found["shared"]
    limit("shared memory", found["shared"], options.shared_memory)
    limit("threads", 32 * options.num_warps, options.max_threads)
    return made


def limit(what: str, required: int, allowed: int) -> None:
    """Raises what autotune takes for a configuration that does not fit."""
    if required > allowed:
        from triton.runtime.errors import OutOfResources

        raise OutOfResources(required, allowed, what)


def pack(source: str) -> bytes:
    """The file that `paddle_mps.triton_aot.load` reads, too."""
    return source.encode()
