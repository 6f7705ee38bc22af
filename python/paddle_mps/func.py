"""Derivatives as functions of functions: `grad`, `value_and_grad`, `vjp` and `jvp`, as JAX and torch.func have them.

Arguments and results may be nested lists, tuples and dicts of tensors. The functions can be nested, and traced: the
derivative of a derivative is the second one, and `paddle.jit(grad(f))` is one program. They leave the `grad` of all tensors
alone. Results have gradients where recording is on; under `no_grad` they have none, and take less memory.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, Callable

from ._calls import _grad
from ._calls._trees import flatten, result, unflatten
from ._core._objects import Tensor, is_grad_enabled, meta
from ._matrices._jacobian import gradients, own, zeros_like

__all__ = ["grad", "jvp", "value_and_grad", "vjp"]


def apart(tree: Any) -> tuple[Any, list[Tensor]]:
    """A tree without its tensors, and these."""
    leaves: list[Tensor] = []
    return flatten(tree, leaves, result), leaves


def asking(tree: Any, who: str) -> tuple[Any, list[Tensor]]:
    """The tree with tensors that ask for gradients, and these.

    Raises:
        TypeError: there is no tensor, or one is not of a floating-point dtype.
    """
    shape, leaves = apart(tree)
    if not leaves:
        raise TypeError(f"[{who}] got {type(tree).__name__} to differentiate by; want tensors")
    for x in leaves:
        if not meta(x).dtype.is_floating:
            raise TypeError(
                f"[{who}] got a tensor of {meta(x).dtype.name} to differentiate by; want a floating-point dtype"
            )
    mine = [own(x) for x in leaves]
    return unflatten(shape, mine), mine


def called(func: Callable[..., Any], args: Sequence[Any], kwargs: Any, has_aux: bool, who: str) -> tuple[Any, Any]:
    """The result of a call that is recorded, and what else it returned."""
    with _grad.enable_grad():
        made = func(*args, **kwargs)
    if not has_aux:
        return made, None
    if not isinstance(made, tuple) or len(made) != 2:
        raise TypeError(f"[{who}] func returned {type(made).__name__} with has_aux=True; want (result, aux)")
    return made


def settled(tree: Any) -> Any:
    """A result for the caller: without a history where recording is off."""
    shape, leaves = apart(tree)
    return tree if is_grad_enabled() or not leaves else unflatten(shape, [x.detach() for x in leaves])


def grad(func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False) -> Callable[..., Any]:
    """The function that computes the gradient of func, whose result is one number.

    Args:
        argnums: the position of the argument to differentiate by, or several. Keyword arguments are constants.
        has_aux: func returns (result, aux), and the function (gradient, aux).

    Returns:
        A function of the arguments of func. The gradient is like the argument; for several argnums a tuple.

    Raises:
        TypeError: when it is called: an argument has tensors of integers or none, or the result is no tensor.
        ValueError: then, too: the result has more than one element, or there is no such argument.
    """
    both = value_and_grad(func, argnums, has_aux)

    @functools.wraps(func)
    def gradient(*args: Any, **kwargs: Any) -> Any:
        value, found = both(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return gradient


def value_and_grad(
    func: Callable[..., Any], argnums: int | Sequence[int] = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """As `grad`; the function returns (result, gradient), and with has_aux ((result, aux), gradient)."""
    several = not isinstance(argnums, int)
    numbers: list[int] = list(argnums) if not isinstance(argnums, int) else [argnums]

    @functools.wraps(func)
    def both(*args: Any, **kwargs: Any) -> Any:
        given, trees, leaves = list(args), [], []
        for n in numbers:
            if not -len(args) <= n < len(args):
                raise ValueError(f"[grad] argnums has {n} for {len(args)} arguments; want one of them")
            given[n], mine = asking(args[n], "grad")
            trees.append(apart(args[n])[0])
            leaves.append(mine)
        value, aux = called(func, given, kwargs, has_aux, "grad")
        if not isinstance(value, Tensor):
            raise TypeError(f"[grad] func returned {type(value).__name__}; want a Tensor")
        if meta(value).numel != 1:
            raise ValueError(f"[grad] func returned shape {list(meta(value).shape)}; want one number")
        flat = gradients(value, [x for mine in leaves for x in mine], None, is_grad_enabled())
        found = []
        for tree, mine in zip(trees, leaves):
            found.append(unflatten(tree, flat[: len(mine)]))
            flat = flat[len(mine) :]
        value = settled(value)
        return (value, settled(aux)) if has_aux else value, tuple(found) if several else found[0]

    return both


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The result of func(*primals), and the function that computes the gradients of primals from that of the result.

    Args:
        primals: the arguments of func, of tensors of floating-point dtypes.
        has_aux: func returns (result, aux).

    Returns:
        (result, pullback), or (result, pullback, aux). pullback(v), for a v like the result, returns a tuple of gradients,
        one like each argument; it can be called several times.

    Raises:
        TypeError, ValueError: an argument has tensors of integers or none; v has other shapes or another structure.
    """
    operands, leaves = asking(list(primals), "vjp")
    shape = apart(list(primals))[0]
    made, aux = called(func, operands, {}, has_aux, "vjp")
    tree, results = apart(made)

    def pullback(v: Any) -> tuple[Any, ...]:
        found = gradients(results, leaves, like(v, tree, results, "vjp"), is_grad_enabled())
        return tuple(unflatten(shape, found))

    return (settled(made), pullback, settled(aux)) if has_aux else (settled(made), pullback)


def jvp(
    func: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The result of func(*primals), and its derivative along tangents, computed by two backward passes.

    Args:
        primals: a tuple of the arguments of func, of tensors of floating-point dtypes.
        tangents: a tuple of as many, with tensors of the same shapes.
        has_aux: func returns (result, aux).

    Returns:
        (result, derivative), the latter like the result, or (result, derivative, aux).

    Raises:
        TypeError, ValueError: primals or tangents are no tuples, an argument has tensors of integers or none, or the
            tangents have other shapes or another structure.
    """
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"[jvp] {name} is {type(given).__name__}; want a tuple with an entry for each argument")
    operands, leaves = asking(list(primals), "jvp")
    along = like(list(tangents), apart(list(primals))[0], leaves, "jvp")
    made, aux = called(func, operands, {}, has_aux, "jvp")
    tree, results = apart(made)
    given = [own(zeros_like(x)) for x in results]
    with _grad.enable_grad():
        first = gradients(results, leaves, given)
    found = unflatten(tree, gradients(first, given, along, is_grad_enabled()))
    return (settled(made), found, settled(aux)) if has_aux else (settled(made), found)


def like(v: Any, tree: Any, tensors: Sequence[Tensor], who: str) -> list[Tensor]:
    """The tensors of v, which is to have the structure of a tree and the shapes of its tensors.

    Raises:
        ValueError: it has not.
    """
    given, leaves = apart(v)
    shapes = [[list(meta(x).shape) for x in several] for several in (leaves, tensors)]
    if given != tree or shapes[0] != shapes[1]:
        raise ValueError(
            f"[{who}] got tensors of the shapes {shapes[0]} in {type(v).__name__}; want {shapes[1]}, nested likewise"
        )
    return leaves
