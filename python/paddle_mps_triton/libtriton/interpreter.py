"""`triton._C.libtriton.interpreter`: names that Triton's interpreter, TRITON_INTERPRET=1, needs to be imported.

It cannot run: what reads and writes memory for it is compiled.
"""

from __future__ import annotations

from typing import Any

from ._enums import Atomic as RMW_OP
from ._enums import Order as MEM_SEMANTIC

__all__ = ["MEM_SEMANTIC", "RMW_OP"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise NotImplementedError("TRITON_INTERPRET needs a Triton with its compiled module")
