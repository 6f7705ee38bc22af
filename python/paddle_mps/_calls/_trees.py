"""Nested lists, tuples and dicts of tensors, taken apart and put together again: arguments and results of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from .._core._objects import Tensor


class Leaf:
    """Where a tensor stands among arguments or results: its number."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Leaf) and other.number == self.number

    def __hash__(self) -> int:
        return hash((Leaf, self.number))


def flatten(tree: Any, leaves: list[Tensor], constant: Callable[[Any], Any]) -> Any:
    """The tree with a Leaf for each tensor, which is appended to leaves, tuples for containers, and constant(x) for others."""
    if isinstance(tree, Tensor):
        leaves.append(tree)
        return Leaf(len(leaves) - 1)
    if isinstance(tree, dict):
        return (dict, type(tree), tuple((k, flatten(v, leaves, constant)) for k, v in tree.items()))
    if isinstance(tree, (list, tuple)):
        return (list, type(tree), tuple(flatten(v, leaves, constant) for v in tree))
    return constant(tree)


def result(x: Any) -> Any:
    """A result that is no tensor: it stays as it was."""
    return (None, type(x), x)


def unflatten(tree: Any, leaves: Sequence[Any]) -> Any:
    """What was flattened, with other tensors."""
    if isinstance(tree, Leaf):
        return leaves[tree.number]
    sort, kind, content = tree
    if sort is float:
        return float.fromhex(content)
    if sort is dict:
        made = {k: unflatten(v, leaves) for k, v in content}
        return made if kind is dict else kind(made)
    if sort is list:
        items = [unflatten(v, leaves) for v in content]
        return kind(*items) if hasattr(kind, "_fields") else items if kind is list else kind(items)
    return content
