"""Launches of compiled kernels: the plan of a signature is made once, and a launch is one call of the library."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any

from paddle_mps import _triton


def program(file: bytes) -> _triton.Program:
    """The pipeline of what the last stage made."""
    source, metadata = _triton.unpack(file)
    return _triton.Program(source, metadata)


class Launcher:
    """Triton's launcher of one compiled kernel."""

    def __init__(self, source: Any, metadata: Any) -> None:
        kinds = list(source.signature.values())
        self._kept = [i for i, kind in enumerate(kinds) if kind != "constexpr"]
        self._kinds = kinds
        self._nested = any(isinstance(kind, (tuple, list)) or str(kind).startswith("tensordesc") for kind in kinds)
        if len(self._kept) > 1:
            self._take: Any = itemgetter(*self._kept)
        else:
            kept = self._kept
            self._take = lambda args: [args[i] for i in kept]

    def __call__(
        self,
        x: int,
        y: int,
        z: int,
        stream: Any,
        function: _triton.Program,
        packed: Any,
        launch: Any,
        enter: Any,
        leave: Any,
        *args: Any,
    ) -> None:
        if enter is not None:
            enter(launch)
        values = (
            self._take(args) if not self._nested else [v for i in self._kept for v in flat(args[i], self._kinds[i])]
        )
        function.run(x, y, z, values)
        if leave is not None:
            leave(launch)


def flat(value: Any, kind: Any) -> Iterator[Any]:
    """The arguments that one of Python's is for the compiled kernel: elements of tuples, parts of descriptors."""
    if isinstance(kind, (tuple, list)):
        for v, k in zip(value, kind):
            yield from flat(v, k)
    elif kind == "constexpr":
        return
    elif kind.startswith("tensordesc"):
        yield value.base
        yield from value.shape
        yield from value.strides
        yield value.padding == "nan"
        if hasattr(value, "round_f32_to_tf32"):  # since 3.7
            yield value.round_f32_to_tf32
        yield from value.shape
        yield from value.strides
    else:
        yield value
