"""`triton._C.libtriton.llvm`: nothing is compiled by LLVM here."""

from __future__ import annotations

from typing import Any


class Absent:
    """What Triton's Python files name and do not use, unless a program asks for it."""

    def __init__(self, *given: Any, **named: Any):
        raise NotImplementedError("nothing is compiled by LLVM here")


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return Absent
