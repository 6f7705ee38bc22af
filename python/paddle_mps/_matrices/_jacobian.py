"""Jacobian matrices, one row of which is one backward pass.

A `Jacobian` is of tensors that were computed already; its rows are computed when they are read, and kept. It stands for the
matrix as a tensor does: it can be indexed, added, compared, and has the methods of tensors.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Callable

from .._arrays._creation import filled
from .._calls import _grad, _operators
from .._calls._derivative import own
from .._core._caller import axes_text
from .._core._objects import Tensor, meta


def zeros_like(x: Tensor) -> Tensor:
    """Zeros of the shape, the dtype and the place of x."""
    m = meta(x)
    return filled(m.shape, 0, m.dtype, m.place)


def gradients(outputs: Any, inputs: Sequence[Tensor], grads: Any = None, create_graph: bool = True) -> list[Tensor]:
    """`grad`, with zeros for inputs that no output depends on. What was recorded stays."""
    found = _grad.grad(outputs, list(inputs), grads, retain_graph=True, create_graph=create_graph, allow_unused=True)
    return [zeros_like(x) if d is None else d for x, d in zip(inputs, found)]


def joined(parts: Sequence[Tensor], batched: bool) -> Tensor:
    """Tensors as one vector, or with batched as a vector for each element of their first axis."""
    flat = [_operators.reshape(x, [meta(x).shape[0], -1] if batched else [-1]) for x in parts]
    return flat[0] if len(flat) == 1 else _operators.concat(flat, 1 if batched else 0)


class Jacobian:
    """The matrix of the derivatives of each element of ys with respect to each element of xs.

    Indices are ints and slices. Reading some rows computes only these. Anything else than an index is about the whole matrix.

    Attributes:
        shape: [M, N] for M results and N operands; [B, M, N] with a batch, each element of which is on its own. The axis of
            ys or xs is left out where these are numbers.
    """

    def __init__(self, ys: Sequence[Tensor], xs: Sequence[Tensor], batched: bool, axes: tuple[bool, bool]) -> None:
        """
        Args:
            ys, xs: joined to a vector each.
            batched: the first axis of all of them is that of the batch.
            axes: whether the matrix has an axis for ys, and one for xs.
        """
        self._xs, self._batched, self._axes = tuple(xs), batched, axes
        with _grad.enable_grad():  # rows are computed later, wherever that is
            self._ys = joined(ys, batched)
        self._kept: dict[int, Tensor] = {}
        rows, columns = meta(self._ys).shape[-1], sum(meta(x).numel for x in xs)
        batch = [meta(self._ys).shape[0]] if batched else []
        if batched:
            columns //= max(batch[0], 1)
        self.shape = [*batch, *([rows] if axes[0] else []), *([columns] if axes[1] else [])]

    def _row(self, i: int) -> Tensor:
        """The derivatives of result i: [N], or [B, N]."""
        if i not in self._kept:
            with _grad.enable_grad():
                one = _operators.slice(self._ys, [-1], [i], [i + 1])
            found = joined(gradients(one, self._xs), self._batched)
            self._kept[i] = found if self._axes[1] else _operators.squeeze(found, -1)
        return self._kept[i]

    def __getitem__(self, index: Any) -> Tensor:
        given = list(index) if isinstance(index, tuple) else [index]
        if any(i is Ellipsis for i in given) or not self.shape or len(given) > len(self.shape):
            raise IndexError(
                f"[Jacobian] got {index!r} for a matrix of shape {self.shape}; want an index for each axis"
            )
        for i in given:
            if not isinstance(i, (int, slice)):
                raise TypeError(f"[Jacobian] an index is {type(i).__name__}; want an int or a slice")
        given += [slice(None)] * (len(self.shape) - len(given))
        if not self._axes[0]:
            return self._row(0)[tuple(given)]
        axis = 1 if self._batched else 0
        if isinstance(given[axis], int):
            i = given.pop(axis)
            if not -self.shape[axis] <= i < self.shape[axis]:
                raise IndexError(f"[Jacobian] index {i} of {self.shape[axis]} rows; want one of them")
            return self._row(i % self.shape[axis])[tuple(given)] if given else self._row(i % self.shape[axis])
        rows = [self._row(i) for i in range(self.shape[axis])[given[axis]]]
        if not rows:
            one = self[(*given[:axis], slice(0, 1), *given[axis + 1 :])]
            return _operators.slice(one, [axis], [0], [0])
        given[axis] = slice(None)
        return _operators.stack(rows, axis)[tuple(given)]

    def _whole(self) -> Tensor:
        return self[:] if self.shape else self._row(0)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._whole(), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape})"

    __hash__ = None  # type: ignore[assignment]


class Hessian(Jacobian):
    """The Jacobian of a gradient: the second derivatives."""


def _of_whole(function: Callable[[Any, Any], Any]) -> Callable[[Jacobian, Any], Any]:
    """An operator of Python for the whole matrix."""

    def method(self: Jacobian, other: Any) -> Any:
        return function(self._whole(), other._whole() if isinstance(other, Jacobian) else other)

    return method


for _name in "add sub mul truediv pow mod floordiv matmul eq ne lt le gt ge".split():
    setattr(Jacobian, f"__{_name}__", _of_whole(getattr(operator, _name)))


def matrix(y: Tensor, x: Tensor, batched: bool, kind: type[Jacobian] = Jacobian) -> Jacobian:
    """The matrix of one result and one operand.

    Raises:
        ValueError: one of them has too many or too few axes.
    """
    for name, t in (("ys", y), ("xs", x)):
        rank = len(meta(t).shape)
        if not batched <= rank <= batched + 1:
            raise ValueError(f"[jacobian] {name} has {axes_text(rank)}; want {int(batched)} or {batched + 1}")
    return kind([y], [x], batched, (len(meta(y).shape) > batched, len(meta(x).shape) > batched))


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """The Jacobian matrix of ys, which were computed from xs.

    Args:
        ys, xs: a tensor, or a list or tuple of tensors, of at most one axis, beside that of a batch.
        batch_axis: None, or 0 where the first axis of all tensors is that of a batch, whose elements do not depend on each
            other.

    Returns:
        A `Jacobian`; a tuple of them for several xs or several ys, and for both a tuple for each y.

    Raises:
        ValueError: there is no such batch axis, or a tensor has other numbers of axes.
    """
    if batch_axis is not None and batch_axis != 0:
        raise ValueError(f"[jacobian] batch_axis is {batch_axis!r}; want None or 0")
    batched = batch_axis is not None
    if isinstance(ys, (list, tuple)):
        return tuple(jacobian(y, xs, batch_axis) for y in ys)
    if isinstance(xs, (list, tuple)):
        return tuple(matrix(ys, x, batched) for x in xs)
    return matrix(ys, xs, batched)


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """The matrix of the second derivatives of ys, which were computed from xs.

    Args:
        ys: one number, or with a batch one for each of its elements.
        xs, batch_axis: as of `jacobian`.

    Returns:
        A `Hessian`; for several xs a tuple of tuples of them.

    Raises:
        ValueError: ys has more elements; or as of `jacobian`.
    """
    if batch_axis is not None and batch_axis != 0:
        raise ValueError(f"[hessian] batch_axis is {batch_axis!r}; want None or 0")
    batched = batch_axis is not None
    count = meta(ys).shape[0] if batched else 1
    if meta(ys).numel != count:
        raise ValueError(
            f"[hessian] ys has shape {list(meta(ys).shape)}; want one number{', or one for each element of the batch' * batched}"
        )
    y = _operators.reshape(ys, [count] if batched else [])
    operands = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    firsts = [matrix(y, x, batched)._whole() for x in operands]
    made = tuple(tuple(matrix(first, x, batched, Hessian) for x in operands) for first in firsts)
    return made if isinstance(xs, (list, tuple)) else made[0][0]


__all__ = ["Hessian", "Jacobian", "gradients", "hessian", "jacobian", "own", "zeros_like"]
