"""`triton._C.libtriton.gluon_ir`: kernels written in Gluon are for other GPUs."""

from __future__ import annotations

from typing import Any


class Absent:
    """What Triton's Python files name and do not use, unless a program asks for it."""

    def __init__(self, *given: Any, **named: Any):
        raise NotImplementedError("kernels written in Gluon are for other GPUs")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent
