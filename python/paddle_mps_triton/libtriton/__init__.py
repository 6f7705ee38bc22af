"""What takes the place of Triton's compiled module where there is none: `triton._C.libtriton` in plain Python.

`paddle-mps triton frontend` writes this package into a copy of Triton's Python files. They call it to build the intermediate
representation of a kernel; it keeps operations, blocks and regions as objects, and gives the module as text, which the
library compiles. It optimizes nothing: calls are inlined, constants folded and descriptors lowered by the library
(tritonlang/clean), which finds the attribute `paddle_mps.raw` in the text.

The package depends on neither NumPy nor paddle-mps, and works with the Python files of Triton 3.6 to 3.9.
"""

from __future__ import annotations

import os

from . import gluon_ir, interpreter, ir, linear_layout, llvm, passes
from ._specialize import make_tensordesc_args, native_specialize_impl

__all__ = [
    "get_cache_invalidating_env_vars",
    "getenv",
    "getenv_bool",
    "gluon_ir",
    "interpreter",
    "ir",
    "linear_layout",
    "llvm",
    "make_tensordesc_args",
    "native_specialize_impl",
    "passes",
]


def getenv(name: str, default: str | None = None) -> str | None:
    """An environment variable."""
    return os.environ.get(name, default)


def getenv_bool(name: str, default: bool | None = False) -> bool | None:
    """An environment variable as a truth value: 1, true, on, y and yes are true."""
    value = os.environ.get(name)
    return default if value is None else value.lower() in ("1", "true", "on", "y", "yes")


def get_cache_invalidating_env_vars() -> dict[str, str]:
    """Variables that change what is compiled. None does: the options of a launch say everything."""
    return {}
