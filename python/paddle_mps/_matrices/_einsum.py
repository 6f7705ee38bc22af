"""Sums of products by Einstein's convention: the row, which reads the equation itself."""

from __future__ import annotations

import itertools
import re
from typing import Any

from .._calls import _complex, _operators
from .._core._caller import axes_text
from .._core._convert import of_one_dtype, said
from .._core._objects import Tensor, meta
from .._maths._parts import complex as joined
from .._maths._parts import imag, real

__all__ = ["einsum"]


def einsum(equation: str, *operands: Tensor) -> Tensor:
    """The sum of products of the operands over the labels that are not in the result.

    Args:
        equation: the labels of each operand's axes, letters divided by commas, then perhaps "->" and
            those of the result; without it the result has the labels that occur once, in the order of the
            alphabet. A label twice in one operand takes its diagonal. "..." is any number of axes that
            broadcast. Axes of one element broadcast.

    Raises:
        TypeError: the equation is no str.
        ValueError: dtypes differ, axes of one label have other lengths, or the
            result has a label that no operand has, or one label twice.
        AssertionError: the equation is malformed or does not fit the operands, or one of them is no tensor.
    """
    if not isinstance(equation, str):
        raise TypeError(f"[einsum] equation is {said(equation)}; want a str")
    for i, x in enumerate(operands):
        if not isinstance(x, Tensor):
            raise AssertionError(f"[einsum] operand {i} is {type(x).__name__}; want a Tensor")
    of_one_dtype("einsum", *operands)
    check_equation(equation, operands)
    return _operators.einsum(operands, equation)


def check_equation(equation: str, operands: tuple[Tensor, ...]) -> None:
    """Checks what Paddle asserts of an equation; the row has the other errors."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts, wide = left.split(","), False
    if len(texts) != len(operands):
        raise AssertionError(f"[einsum] the equation {equation!r} has {len(texts)} operands; want {len(operands)}")
    for text in (*texts, right):
        if other := re.search("[^A-Za-z]", text.replace("...", "", 1)):
            raise AssertionError(f"[einsum] got {other[0]!r} in {text!r}; want letters, and '...' once")
    for text, x in zip(texts, operands):
        letters, rank = len(text.replace("...", "")), len(meta(x).shape)
        if rank < letters or (rank > letters and "..." not in text):
            raise AssertionError(f"[einsum] the labels {text!r} are for {axes_text(letters)}; want {rank}")
        wide = wide or rank > letters
    if arrow and wide and "..." not in right:
        raise AssertionError(f"[einsum] the result of {equation!r} lacks the ellipsis; want it, as in an operand")


def complex_einsum(*operands: Tensor, equation: str) -> Tensor:
    """The same of complex numbers, which rows of formulas do not take: a sum over which factors are imaginary."""
    sums: list[Any] = [None, None]
    for choice in itertools.product((0, 1), repeat=len(operands)):
        term = _operators.einsum([(real, imag)[c](x) for c, x in zip(choice, operands)], equation)
        part, combine = sum(choice) % 2, _operators.subtract if sum(choice) % 4 > 1 else _operators.add
        if sums[part] is None:
            sums[part] = -term if sum(choice) % 4 > 1 else term
        else:
            sums[part] = combine(sums[part], term)
    return joined(*sums)


_complex.COMPOSITES.update(einsum=complex_einsum)
