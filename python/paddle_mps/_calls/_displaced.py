"""Casts of tensors to and from dtypes that the GPU lacks: see `_default_place`."""

from __future__ import annotations

from typing import Any

from .._core import _builtin, _dtype, _place
from .._core._caller import called
from .._core._objects import Tensor, meta
from .._devices import _default_place
from . import _operators


def followed(made: Tensor) -> Tensor:
    """The result of a cast, on the current place if it was displaced and that has its dtype."""
    m = meta(made)
    if not _place.is_displaced(m.place):
        return made
    here = _place.current()
    if here.kind == _place.CPU or _default_place.lacks(here, m.dtype) or called("cast") not in _default_place.CASTS:
        return made
    return made.to(here, blocking=False)


def cast_away(x: Any, dtype: Any) -> Tensor | None:
    """A tensor of an mps device in a dtype that this lacks, where `_default_place.beside` has it; None for other casts."""
    if not isinstance(x, Tensor) or _builtin.traces or _place.current().kind == _place.CPU:
        return None
    try:
        wanted = _dtype.dtype(dtype)
    except (TypeError, ValueError):
        return None
    here = meta(x).place
    kind, target = _default_place.beside(wanted, here)
    if kind is wanted and target == here:
        return None
    return _operators.cast(x if target == here else x.to(target, blocking=False), kind)


_default_place.casts.append(cast_away)


def together(operands: list[Tensor]) -> list[Tensor]:
    """Operands of a function that NumPy computes, brought where an operator would bring them: displaced ones to the mps device of
    the others, as float32 in place of float64, and all to the CPU if a displaced one is complex.
    """
    places = [meta(x).place for x in operands]
    away = [p for p in places if p.kind == _place.MPS]
    home = [p for p in places if _place.is_displaced(p)]
    if not away or not home:
        return operands
    if any(_place.is_displaced(p) and meta(x).dtype.is_complex for x, p in zip(operands, places)):
        return [x.to(home[0]) if p.kind == _place.MPS else x for x, p in zip(operands, places)]
    return [carried(x, away[0]) if _place.is_displaced(p) else x for x, p in zip(operands, places)]


def carry_all(arguments: list[Tensor]) -> list[Tensor] | None:
    """Arguments of a traced function with the displaced ones on the current place; None if none is displaced, or one is complex."""
    here = _place.current()
    displaced = [_place.is_displaced(meta(x).place) for x in arguments]
    if here.kind == _place.CPU or not any(displaced) or any(meta(x).dtype.is_complex for x in arguments):
        return None
    return [carried(x, here) if away else x for x, away in zip(arguments, displaced)]


def carried(x: Tensor, place: _place.Place) -> Tensor:
    """A displaced tensor on an mps device."""
    return (_operators.cast(x, _dtype.float32) if _default_place.lacks(place, meta(x).dtype) else x).to(place)


__all__ = ["carry_all", "cast_away", "followed", "together"]
