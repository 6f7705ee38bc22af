"""Errors of `paddle.io`, and checks of arguments that several of its classes make."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._core._convert import said


class ArgumentError(ValueError, TypeError, AssertionError):
    """An argument of a class of paddle.io is of another type or value. Paddle raises one of the three, by argument."""


class LengthError(ValueError, RuntimeError, TypeError):
    """The length of a data set without one is asked for. Paddle raises a ValueError or a RuntimeError; `list` accepts a TypeError."""


class WorkerError(RuntimeError):
    """A worker of a DataLoader ended, or did not answer in time."""


def positive(owner: str, name: str, value: Any) -> int:
    """A whole number from 1.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, int) or value < 1:
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want an int from 1")
    return value


def natural(owner: str, name: str, value: Any) -> int:
    """A whole number from 0.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, int) or value < 0:
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want an int from 0")
    return value


def boolean(owner: str, name: str, value: Any) -> bool:
    """A bool.

    Raises:
        ArgumentError: it is something else.
    """
    if not isinstance(value, bool):
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want a bool")
    return value


def function_or_none(owner: str, name: str, value: Any) -> Any:
    """What can be called, or None.

    Raises:
        ArgumentError: it is something else.
    """
    if value is not None and not callable(value):
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want a function or None")
    return value


def parts(owner: str, name: str, value: Iterable[Any]) -> list[Any]:
    """The elements of a list of data sets, of at least one. A data set itself is refused: its `__getitem__` may never end.

    Raises:
        ArgumentError: it is empty, or cannot be iterated over.
    """
    if not hasattr(type(value), "__iter__"):
        raise ArgumentError(f"[{owner}] {name} is {said(value)}; want a list of data sets")
    found = list(value)
    if not found:
        raise ArgumentError(f"[{owner}] {name} is empty; want at least one data set")
    return found
