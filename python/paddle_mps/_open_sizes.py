"""Programs of traced functions for arguments of all sizes, made of two traces for other sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from . import _tracing
from ._errors import UnsupportedError

Shapes = tuple[tuple[int, ...], ...]

Self = TypeVar("Self", bound="Traced")


class Traced(Protocol):
    """What a function is for arguments of some sizes: `jit.Entry`."""

    program: _tracing.Program
    results: Any
    leaves: list[Any]

    def __init__(self, program: _tracing.Program, results: Any, leaves: list[Any]) -> None: ...


def united(first: Self, other: Self) -> Self:
    """What a function is for all sizes, from what it is for some and for others.

    Raises:
        UnsupportedError: it does or returns something else for the others.
    """
    same = len(first.leaves) == len(other.leaves) and all(
        x is y or (isinstance(x, int) and isinstance(y, int) and x == y) for x, y in zip(first.leaves, other.leaves)
    )
    try:
        same = same and bool(first.results == other.results)
    except (TypeError, ValueError):  # of arrays, which are not compared
        same = False
    if not same:
        raise UnsupportedError("[jit] what the function returns beside new tensors is not the same for all sizes")
    return type(first)(first.program.unify(other.program), first.results, first.leaves)


class Family(Generic[Self]):
    """What a function is for arguments that differ in their sizes alone.

    Attributes:
        reason: why each set of sizes has a program of its own; empty as long as none need have.
        open: what there is for open sizes, the latest first, with the shapes that it takes; see `takes`.
    """

    def __init__(self) -> None:
        self.reason = ""
        self.open: list[tuple[Shapes, Self]] = []
        self._first: tuple[Shapes, Self] | None = None

    def find(self, shapes: Shapes) -> Self | None:
        """What takes arguments of these shapes."""
        return next((made for pattern, made in self.open if takes(pattern, shapes)), None)

    def add(self, shapes: Shapes, traced: Self) -> Self:
        """What is to run for arguments of these shapes, for which the function was traced: for open sizes, if there can be one.

        Sizes of 0 and 1 stay as they are: functions often do something else for them. Once a function has done something else
        for two sizes, none are open.
        """
        if self.reason:
            return traced
        if self._first is None:
            self._first = shapes, traced
            return traced
        known, first = self._first
        pairs = [pair for x, y in zip(known, shapes) for pair in zip(x, y) if pair[0] != pair[1]]
        if any(m < 2 for _, m in pairs):
            return traced
        if any(n < 2 for n, _ in pairs):
            self._first = shapes, traced
            return traced
        try:
            made = united(first, traced)
        except UnsupportedError as error:
            self.reason = str(error)
            self.open.clear()
            return traced
        symbols = {pair: -1 - i for i, pair in enumerate(dict.fromkeys(pairs))}
        pattern = tuple(tuple(symbols.get(pair, pair[0]) for pair in zip(x, y)) for x, y in zip(known, shapes))
        self.open.insert(0, (pattern, made))
        return made


def takes(pattern: Shapes, shapes: Shapes) -> bool:
    """Whether shapes are those of a pattern, in which a number below 0 is any size but 0 and 1, the same wherever it stands."""
    sizes: dict[int, int] = {}
    return all(
        n == m or (n < 0 and m > 1 and sizes.setdefault(n, m) == m)
        for x, y in zip(pattern, shapes)
        for n, m in zip(x, y)
    )


# Far from each other, so that a condition on a size seldom decides both alike. What is traced takes no memory.
SMALL, LARGE = (5, 7, 11, 13, 17, 19, 23, 29), (211, 223, 227, 229, 233, 239, 241, 251)


def probes(axes: Sequence[int]) -> list[tuple[Sequence[int], Sequence[int]]]:
    """Sizes to trace a function for whose open sizes are those of these axes, as pairs to try one after the other.

    Sizes that are all different leave the most open. Where the function does not take them, equal axes of several arguments are
    taken for one size, then the first axes for one and all others for another one, then all for one; then all of this is
    tried with sizes that are even and not small, as those of images are.
    """
    found: list[tuple[Sequence[int], Sequence[int]]] = []
    for times in (1, 32):
        for which in (list(range(len(axes))), list(axes), [min(axis, 1) for axis in axes], [0] * len(axes)):
            if max(which) < len(SMALL):
                found.append(([times * SMALL[i] for i in which], [times * LARGE[i] for i in which]))
    return found
