"""Programs of traced functions for arguments of all sizes, made of traces for different sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, count, islice
from typing import Any, Generic, Protocol, TypeVar

from .._core._errors import UnsupportedError
from . import _tracing

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
    try:
        program = first.program.unify(other.program)
    except UnsupportedError as error:
        calls = zip(first.program.closed, other.program.closed)
        function, why = next((x[:2] for x, y in calls if x[2] != y[2]), ("", ""))
        if not function:
            raise
        raise UnsupportedError(
            f"[{function}] {why}, so that it has no form for all sizes; want sizes that are known here, in the InputSpec or without "
            f"dynamic=True ({error})"
        ) from None
    return type(first)(program, first.results, first.leaves)


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

    def add(self, shapes: Shapes, traced: Self, trace: Callable[[Shapes], Self]) -> Self:
        """What is to run for arguments of these shapes, for which the function was traced: for open sizes, if there can be one.
        `trace` traces the function for other shapes.

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
        if not pairs or any(m < 2 for _, m in pairs):
            return traced
        if any(n < 2 for n, _ in pairs):
            self._first = shapes, traced
            return traced
        symbols = {pair: -1 - i for i, pair in enumerate(dict.fromkeys(pairs))}
        pattern = tuple(tuple(symbols.get(pair, pair[0]) for pair in zip(x, y)) for x, y in zip(known, shapes))
        try:
            united(first, traced)  # a function that has no open form mostly ends here, and is not traced again
            made = confirmed(first, traced, further(pattern, list(symbols), known + shapes, trace))
        except UnsupportedError as error:
            self.reason = str(error)
            self.open.clear()
            return traced
        self.open.insert(0, (pattern, made))
        return made


def confirmed(first: Self, second: Self, more: Sequence[Self]) -> Self:
    """What a function is for all sizes, if it is the same by each pair of traces.

    The sizes of two calls tell little: 8 // 2 and 9 // 2 are one number, and 8 + 4 is 6 + 6. So it is made of the first call and of
    a trace for sizes that were chosen, and has to be the same from the second call, and from a second choice.

    Raises:
        UnsupportedError: it is not.
    """
    made = united(first, more[0])
    text = made.program.text()
    for one, other in [(second, more[0]), *((first, x) for x in more[1:])]:
        if (again := united(one, other).program.text()) != text:
            call = next(
                (f"{x.strip()!r} or {y.strip()!r}" for x, y in zip(text.split("\n"), again.split("\n")) if x != y), ""
            )
            raise UnsupportedError(
                "[jit] a number that Python computes of sizes is not made of them in the same way for all sizes: a call is "
                f"{call}; want a size, or a product of sizes"
            )
    return made


def further(
    pattern: Shapes, pairs: Sequence[tuple[int, int]], taken: Shapes, trace: Callable[[Shapes], Self]
) -> list[Self]:
    """What a function is for one or two other sets of sizes, those of `choices`: the first one of a group that it takes.

    Raises:
        UnsupportedError: it takes none of them.
    """
    made: list[Self] = []
    failure = ""
    for group in choices(pairs, {n for sizes in taken for n in sizes}):
        for sizes in group:
            if len(made) == 2:
                break
            try:
                made.append(trace(tuple(tuple(sizes[-1 - n] if n < 0 else n for n in shape) for shape in pattern)))
                break
            except Exception as error:  # of the function, which may check sizes
                failure = failure or f"{type(error).__name__}: {error}"
    if not made:
        raise UnsupportedError(f"[jit] the function takes no sizes that were chosen to compare: {failure}")
    return made


def choices(pairs: Sequence[tuple[int, int]], taken: set[int]) -> Iterator[list[list[int]]]:
    """Groups of sizes for open ones that were these pairs in two calls; none is among `taken`.

    Different primes tell numbers that are made of them apart. The small ones ascend and the large ones descend, so that a comparison of
    two sizes is decided in both ways; and large ones are beyond most limits, such as that of min(n, 512). Small ones that are even, as those
    of images, and large ones within tables of positions follow, and last what keeps all that is linear between sizes, as where one is
    twice another.
    """
    small, large = chosen(pairs, taken, 5), chosen(pairs, taken, 211)[::-1]
    yield [small, [32 * p for p in small]]
    yield [[32 * p for p in large], large]
    for times in 2, 3:
        lines = [n + times * (m - n) for n, m in pairs], [m + times * (n - m) for n, m in pairs]
        yield [sizes for sizes in lines if min(sizes) > 1 and not taken & set(sizes)]


def chosen(pairs: Sequence[tuple[int, int]], taken: set[int], least: int) -> list[int]:
    """Primes that follow each other, a size for each pair. No two have the sum that theirs have: 5 + 7 tells no more than 8 + 4."""
    sums = [{n + a for n, a in zip(one, other)} for one, other in combinations(pairs, 2)]
    for first in primes(least):
        found = list(islice((p for p in primes(first) if not {p, 32 * p} & taken), len(pairs)))
        if all(sum(two) not in known for two, known in zip(combinations(found, 2), sums)):
            return found
    raise AssertionError("there are more primes than sums")


def turned(sizes: Sequence[int]) -> list[list[int]]:
    """Larger sizes, and the same ones, with the smallest in the place of the largest; see `choices` for why."""
    order = sorted(set(sizes))
    other = dict(zip(order, reversed(order)))
    return [[times * other[n] for n in sizes] for times in (32, 1)]


def primes(least: int) -> Iterator[int]:
    """The primes from a number on."""
    return (n for n in count(least) if all(n % d for d in range(2, math.isqrt(n) + 1)))


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
