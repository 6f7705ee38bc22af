"""paddle.incubate.autograd: derivatives of functions of tensors. `paddle_mps.func` has more general ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

from .._calls import _operators
from .._core._convert import tensor
from .._core._objects import Tensor, meta
from .._matrices import _jacobian
from .._matrices._jacobian import gradients, own

__all__ = ["Hessian", "Jacobian", "jvp", "vjp"]

Tensors = Any  # a tensor, or a list or tuple of tensors


def listed(x: Tensors, who: str, name: str) -> list[Tensor]:
    """One tensor, or several in a list or tuple."""
    return [tensor(t, who, name) for t in (x if isinstance(x, (list, tuple)) else [x])]


def alike(xs: Tensors, found: Sequence[Tensor]) -> Any:
    """Tensors as xs has them: one, or a tuple."""
    return tuple(found) if isinstance(xs, (list, tuple)) else found[0]


def called(func: Callable[..., Any], xs: Tensors, who: str) -> tuple[list[Tensor], Any, list[Tensor]]:
    """The operands of a call that asks for gradients, its result, and this as a list."""
    operands = [own(x) for x in listed(xs, who, "xs")]
    result = func(*operands)
    return operands, tuple(result) if isinstance(result, list) else result, listed(result, who, "func(xs)")


def fitting(v: Tensors, like: Sequence[Tensor], who: str) -> list[Tensor]:
    """Vectors of the shapes of tensors; ones for None.

    Raises:
        RuntimeError: there are more or fewer, or of other shapes.
    """
    if v is None:
        return [_operators.full(meta(x).place.word, meta(x).shape, 1, meta(x).dtype) for x in like]
    given = listed(v, who, "v")
    shapes = [[list(meta(x).shape) for x in tensors] for tensors in (given, like)]
    if shapes[0] != shapes[1]:
        raise RuntimeError(f"[{who}] v has the shapes {shapes[0]}; want {shapes[1]}")
    return given


def vjp(func: Callable[..., Any], xs: Tensors, v: Tensors = None) -> tuple[Any, Any]:
    """The result of func(*xs), and the product of v with its Jacobian: the gradients of xs, given those of the results.

    Args:
        xs: a tensor, or a list or tuple of tensors.
        v: as many tensors as results, of their shapes; None: ones.

    Returns:
        (result, gradients), the latter one tensor if xs is one, else a tuple.

    Raises:
        RuntimeError: v has other shapes.
    """
    operands, result, results = called(func, xs, "vjp")
    return result, alike(xs, gradients(results, operands, fitting(v, results, "vjp")))


def jvp(func: Callable[..., Any], xs: Tensors, v: Tensors = None) -> tuple[Any, Any]:
    """The result of func(*xs), and the product of its Jacobian with v: the derivatives of the results along v.

    Gradients are linear in what they are given for the results; this is the gradient of that function.

    Args:
        xs: a tensor, or a list or tuple of tensors.
        v: as many tensors, of their shapes; None: ones.

    Returns:
        (result, derivatives), the latter one tensor if the result is one, else a tuple.

    Raises:
        RuntimeError: v has other shapes.
    """
    operands, result, results = called(func, xs, "jvp")
    return result, alike(result, pushed(results, operands, fitting(v, operands, "jvp"), True))


def pushed(
    results: Sequence[Tensor], operands: Sequence[Tensor], v: Sequence[Tensor], create_graph: bool
) -> list[Tensor]:
    """The derivatives of results along v."""
    given = [own(_jacobian.zeros_like(x)) for x in results]
    return gradients(gradients(results, operands, given), given, v, create_graph)


class Jacobian(_jacobian.Jacobian):
    """The Jacobian matrix of func at xs.

    Operands are joined to one vector, and results too. With is_batched the first axis of all of them is that of a batch, whose
    elements do not depend on each other, and the matrix has shape [B, M, N], else [M, N].
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        operands, _, results = called(func, xs, "Jacobian")
        super().__init__(results, operands, is_batched, (True, True))


class Hessian(_jacobian.Jacobian):
    """The matrix of the second derivatives of func at xs, whose result is one number, or one for each element of a batch.

    Raises:
        RuntimeError: it has more elements.
    """

    def __init__(self, func: Callable[..., Any], xs: Tensors, is_batched: bool = False) -> None:
        operands, _, results = called(func, xs, "Hessian")
        count = meta(operands[0]).shape[0] if is_batched else 1
        if len(results) != 1 or meta(results[0]).numel != count:
            raise RuntimeError(
                f"[Hessian] func returned the shapes {[list(meta(y).shape) for y in results]}; want one number{', or one for each element of the batch' * is_batched}"
            )
        super().__init__(gradients(results, operands), operands, is_batched, (True, True))
