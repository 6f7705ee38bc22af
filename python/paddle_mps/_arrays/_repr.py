"""How tensors print: Paddle's layout, element for element.

Elements are padded on the right to the width of the widest one shown; when one of them is negative,
the others are moved one column to the right where there is room. Of a tensor with more elements
than `threshold` only the first and last `edgeitems` along each axis are fetched and shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._calls import _operators, _tracing
from .._core._dtype import int64
from .._core._errors import TracingError
from .._core._objects import Tensor, meta
from .._core._place import cpu

INDENT = 7  # columns before the first bracket


class Options:
    """What set_printoptions sets."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


options = Options()


def set_printoptions(
    precision: int | None = None,
    threshold: int | None = None,
    edgeitems: int | None = None,
    sci_mode: bool | None = None,
    linewidth: int | None = None,
) -> None:
    """Sets how tensors print; None leaves an option as it is.

    Args:
        precision: digits after the point of numbers with a fraction; 8 at first.
        threshold: tensors with more elements are summarised; 1000 at first.
        edgeitems: elements at both ends of each axis of a summary; 3 at first.
        sci_mode: whether numbers are printed as 1.00000000e+00; False at first.
        linewidth: columns of a line; 80 at first.

    Raises:
        TypeError: a number is no int, or sci_mode is no bool.
        ValueError: precision or edgeitems is negative.
    """
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
        "sci_mode": sci_mode,
    }
    for name, value in given.items():
        wanted = bool if name == "sci_mode" else int
        if value is not None and not isinstance(value, wanted):
            raise TypeError(f"[set_printoptions] {name} is {value!r}; want {wanted.__name__}")
        if name in ("precision", "edgeitems") and value is not None and value < 0:
            raise ValueError(f"[set_printoptions] {name} is {value}; want a number from 0")
    for name, value in given.items():
        if value is not None:
            setattr(options, name, value)


def text(x: Tensor) -> str:
    """What repr(x) and str(x) are."""
    m = meta(x)
    head = f"Tensor(shape={list(m.shape)}, dtype={m.dtype.name}, place={m.place}, stop_gradient={x.stop_gradient},\n"
    try:
        return f"{head}{' ' * INDENT}{body(x)})"
    except TracingError as error:  # print in a function that is being traced
        if _tracing.active() and not _tracing.whole():
            raise  # it runs operator by operator then, and prints elements in each call
        error.handled()
        return f"{head}{' ' * INDENT}traced)"
    except TypeError as error:
        if "strings" not in str(error):
            raise
        return f"{head}{' ' * INDENT}strings)"


def body(x: Tensor) -> str:
    """The elements with their brackets."""
    shape = meta(x).shape
    cut = math.prod(shape) > options.threshold
    values = shown(x, cut).tolist()
    flat = list(leaves(values, len(shape)))
    texts = [element(v) for v in flat]
    width = max((len(t) for t in texts), default=0)
    signed = any(negative(v) for v in flat)
    cells = iter([pad(t, v, width, signed) for t, v in zip(texts, flat)])
    return layout(shape, cells, cut, INDENT, width) if shape else texts[0]


def shown(x: Tensor, cut: bool) -> Tensor:
    """The elements that are printed, on the CPU: all, or the edges of each long axis.

    Raises:
        TypeError: they are strings.
    """
    edge, m = options.edgeitems, meta(x)
    if m.dtype is int64:
        x[(slice(1),) * len(m.shape)].numpy()  # copies and gathered elements of strings count as numbers
    for axis, n in enumerate(meta(x).shape if cut else ()):
        if n > 2 * edge:
            ends = x.__class__([*range(edge), *range(n - edge, n)], dtype="int64", place=meta(x).place)
            x = _operators.gather(x, ends, axis)
    return x.to(cpu)


def leaves(values: Any, rank: int) -> Any:
    """The numbers of nested lists, in order."""
    if rank == 0:
        yield values
    else:
        for row in values:
            yield from leaves(row, rank - 1)


def negative(value: complex) -> bool:
    """Whether an element counts as one below 0: of a complex one the real part decides, then the imaginary part."""
    if isinstance(value, complex):
        return (value.real, value.imag) < (0, 0)
    return not isinstance(value, bool) and value < 0


def element(value: complex) -> str:
    """One element without padding; an infinity counts as a whole number, as in Paddle."""
    if isinstance(value, complex):
        kind, sign = "e" if options.sci_mode else "f", "+" if value.imag >= 0 else ""
        return f"({value.real:.{options.precision}{kind}}{sign}{value.imag:.{options.precision}{kind}}j)"
    if not isinstance(value, float):
        return str(value)
    if options.sci_mode:
        return f"{value:.{options.precision}e}"
    if value != value:
        return "nan"
    if math.isinf(value) or value == int(value):
        return f"{value:.0f}."
    return f"{value:.{options.precision}f}"


def pad(item: str, value: complex, width: int, signed: bool) -> str:
    """An element in its column."""
    if signed and not negative(value) and len(item) < width:
        item = " " + item
    return item.ljust(width)


def layout(shape: Sequence[int], cells: Any, cut: bool, indent: int, width: int) -> str:
    """Brackets around rows, recursively; cells are taken in the order of the elements."""
    n, edge = shape[0], options.edgeitems
    short = cut and n > 2 * edge
    count = 2 * edge if short else n
    if len(shape) == 1:
        items = [next(cells) for _ in range(count)]
        gap = ",\n" + " " * (indent + 1)
    else:
        items = [layout(shape[1:], cells, cut, indent + 1, width) for _ in range(count)]
        gap = "," + "\n" * (len(shape) - 1) + " " * (indent + 1)
    if short:
        items.insert(edge, "...")
    if len(shape) == 1:
        per_line = max(1, (options.linewidth - indent) // (width + 2))
        items = [", ".join(items[i : i + per_line]) for i in range(0, len(items), per_line)]
    return f"[{gap.join(items)}]"
