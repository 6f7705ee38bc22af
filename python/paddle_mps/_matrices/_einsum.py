"""Sums of products by Einstein's convention.

The equation is read into labels, a list of them for each operand. Two operands at a time become one by a product
of matrices, the pair with the smallest result first; labels that nothing after them needs are summed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from .._arrays._array import reshaped
from .._calls import _operators
from .._calls._precision import rounded, working
from .._core._caller import axes_text
from .._core._convert import of_one_dtype, said
from .._core._objects import Tensor, meta

__all__ = ["einsum"]

Labels = list[str]
Term = tuple[Tensor, Labels]  # an operand and the label of each of its axes


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
    inputs, output = parsed(equation, [len(meta(x).shape) for x in operands])
    terms = [diagonals(working(x), labels) for x, labels in zip(operands, inputs)]
    check_lengths(terms)
    while len(terms) > 1:
        first, second = best_pair(terms, output)
        rest = [t for i, t in enumerate(terms) if i not in (first, second)]
        terms = [*rest, contracted(terms[first], terms[second], needed(rest, output))]
    x, labels = summed(terms[0], set(output))
    result = _operators.transpose(x, [labels.index(label) for label in output])
    return rounded(_operators.assign(result) if result is x or len(operands) == 1 else result, operands[0])


def parsed(equation: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """The labels of each operand and of the result; the axes of an ellipsis are labelled ".0", ".1" from the last."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    texts = left.split(",")
    if len(texts) != len(ranks):
        raise AssertionError(f"[einsum] the equation {equation!r} has {len(texts)} operands; want {len(ranks)}")
    inputs = [labels_of(text, rank) for text, rank in zip(texts, ranks)]
    flat = [label for labels in inputs for label in labels]
    broadcast = sorted({label for label in flat if label[0] == "."}, key=lambda label: -int(label[1:]))
    if not arrow:
        return inputs, broadcast + sorted(label for label in set(flat) if flat.count(label) == 1 and label[0] != ".")
    if broadcast and "..." not in right:
        raise AssertionError(f"[einsum] the result of {equation!r} lacks the ellipsis; want it, as in an operand")
    output = labels_of(right, len(letters(right)) + len(broadcast))
    for label in output:
        if label not in flat or output.count(label) > 1:
            raise ValueError(
                f"[einsum] the result of {equation!r} has the label {label!r}; want labels of operands, once"
            )
    return inputs, output


def letters(text: str) -> str:
    """The labels of a part of an equation without its ellipsis."""
    found = text.replace("...", "", 1)
    for letter in found:
        if not (letter.isascii() and letter.isalpha()):
            raise AssertionError(f"[einsum] got {letter!r} in {text!r}; want letters, and '...' once")
    return found


def labels_of(text: str, rank: int) -> Labels:
    """The labels of the axes of an operand, or of the result."""
    found = letters(text)
    more = rank - len(found)
    if more < 0 or (more and "..." not in text):
        raise AssertionError(f"[einsum] the labels {text!r} are for {axes_text(len(found))}; want {rank}")
    before = text.index("...") if "..." in text else len(text)
    return [*found[:before], *(f".{i}" for i in reversed(range(more))), *found[before:]]


def diagonals(x: Tensor, labels: Labels) -> Term:
    """x with one axis for a label that occurs several times."""
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            x, labels = diagonal(x, labels, first, labels.index(label, first + 1))
    return x, labels


def diagonal(x: Tensor, labels: Labels, first: int, second: int) -> Term:
    """x with the diagonal of two axes in front, and the labels of the result."""
    shape = meta(x).shape
    n, m = shape[first], shape[second]
    if n != m:
        raise ValueError(f"[einsum] axes of the label {labels[first]!r} have lengths {n} and {m}; want them equal")
    others = [a for a in range(len(shape)) if a not in (first, second)]
    kept = [shape[a] for a in others]
    flat = reshaped(_operators.transpose(x, [first, second, *others]), [n * n, *kept])
    if n > 1:
        flat = _operators.slice(flat, [0], [0], [n * n], [n + 1])
    return flat, [labels[first], *(labels[a] for a in others)]


def check_lengths(terms: Sequence[Term]) -> None:
    """Checks that axes of one label have one length, or one element."""
    lengths: dict[str, int] = {}
    for x, labels in terms:
        for label, n in zip(labels, meta(x).shape):
            known = lengths.setdefault(label, n)
            if n != known and n != 1 and known != 1:
                raise ValueError(f"[einsum] axes of the label {label!r} have lengths {known} and {n}; want them equal")
            lengths[label] = n if known == 1 else known


def needed(terms: Sequence[Term], output: Labels) -> set[str]:
    """The labels that other operands or the result have."""
    return {*output, *(label for _, labels in terms for label in labels)}


def best_pair(terms: Sequence[Term], output: Labels) -> tuple[int, int]:
    """The two operands whose product has the fewest elements."""
    if len(terms) == 2:
        return 0, 1

    def size(pair: tuple[int, int]) -> int:
        keep = needed([t for i, t in enumerate(terms) if i not in pair], output)
        lengths: dict[str, int] = {}
        for i in pair:
            for label, n in zip(terms[i][1], meta(terms[i][0]).shape):
                lengths[label] = max(n, lengths.get(label, n))
        return math.prod(n for label, n in lengths.items() if label in keep)

    return min(((i, j) for j in range(len(terms)) for i in range(j)), key=size)


def summed(term: Term, keep: set[str]) -> Term:
    """The operand, summed over the labels that are not kept."""
    x, labels = term
    gone = [a for a, label in enumerate(labels) if label not in keep]
    if gone:
        x = _operators.sum(x, gone, meta(x).dtype, False)
    return x, [label for label in labels if label in keep]


def squeezed(term: Term, other: Term) -> Term:
    """The operand without axes of one element that broadcast along the other operand."""
    x, labels = term
    lengths = dict(zip(other[1], meta(other[0]).shape))
    gone = [a for a, (label, n) in enumerate(zip(labels, meta(x).shape)) if n == 1 and lengths.get(label, 1) != 1]
    if gone:
        x = _operators.squeeze(x, gone)
    return x, [label for a, label in enumerate(labels) if a not in gone]


def contracted(first: Term, second: Term, keep: set[str]) -> Term:
    """The product of two operands, summed over the labels that are not kept."""
    first, second = squeezed(first, second), squeezed(second, first)
    x, left = summed(first, keep | set(second[1]))
    y, right = summed(second, keep | set(left))
    both = [label for label in left if label in right]
    batch = [label for label in both if label in keep]
    terms = [label for label in both if label not in keep]
    rows = [label for label in left if label not in both]
    columns = [label for label in right if label not in both]
    lengths = {**dict(zip(left, meta(x).shape)), **dict(zip(right, meta(y).shape))}

    def arranged(z: Tensor, labels: Labels, *groups: Labels) -> Tensor:
        """z with its axes in the order of the groups, and one axis for each group but that of the batches."""
        order = [labels.index(label) for group in (batch, *groups) for label in group]
        dims = [lengths[label] for label in batch] + [math.prod(lengths[k] for k in group) for group in groups]
        return reshaped(_operators.transpose(z, order), dims)

    result = [*batch, *rows, *columns]
    if not rows and not columns:  # no matrices: a sum of products is faster, and added in pairs
        product = _operators.multiply(arranged(x, left, terms), arranged(y, right, terms))
        found = _operators.sum(product, -1, meta(product).dtype, False) if terms else product
    else:
        found = _operators.matmul(arranged(x, left, rows, terms), arranged(y, right, terms, columns))
    return reshaped(found, [lengths[label] for label in result]), result
