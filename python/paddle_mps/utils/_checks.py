"""Checks of what is installed: of this package, of its version, of other packages."""

from __future__ import annotations

import functools
import importlib
import re
import warnings
from types import ModuleType
from typing import Any, Callable

from .._calls import _operators
from .._calls._grad import grad
from .._core._place import current
from .._randomness._sampling import randn
from .._version import __version__
from ..version import full_version


def run_check() -> None:
    """Computes a product and its gradient on the current place, and prints that this works. `python -m paddle_mps.selftest --quick`
    checks more.

    Raises:
        DeviceError: the device failed.
        RuntimeError: the gradient is wrong.
    """
    place = current()
    print("Running verify PaddlePaddle program ... ")
    x, w = randn([4, 3], place=place), randn([3, 2], place=place)
    x.stop_gradient = False
    (found,) = grad([_operators.matmul(x, w).sum()], [x])
    if not bool((found - w.sum(1)).abs().max() < 1e-4):
        raise RuntimeError(f"[run_check] the gradient of a product is wrong on {place}")
    print(f"PaddlePaddle works well on 1 {'CPU' if place.is_cpu_place() else 'MPS device'}.")
    print(f"paddle_mps {__version__} is installed successfully, with the API of PaddlePaddle {full_version}.")


def try_import(module_name: str, err_msg: str | None = None) -> ModuleType:
    """The module of a name, such as 'cv2'.

    Args:
        err_msg: what the error says if it is missing; None: how to install it.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return importlib.import_module(module_name)
    except ImportError:
        package = {"cv2": "opencv-python"}.get(module_name, module_name)
        raise ImportError(
            f"[try_import] {module_name} is not installed; want it (pip install {package})"
            if err_msg is None
            else err_msg
        ) from None


def numbers(version: Any, name: str) -> tuple[int, ...]:
    """The numbers of a version, four at least."""
    if not isinstance(version, str):
        raise TypeError(f"[require_version] {name} is {type(version).__name__}; want a str")
    if not re.fullmatch(r"\d+(\.\d+){0,3}", version):
        raise ValueError(f"[require_version] {name} is {version!r}; want numbers such as '1.5.2.0'")
    found = tuple(map(int, version.split(".")))
    return found + (0,) * (4 - len(found))


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Checks the version of PaddlePaddle whose API this package follows.

    Raises:
        TypeError: a version is no str.
        ValueError: a version is not made of numbers.
        Exception: it is outside of the bounds, as in Paddle.
    """
    have, least = numbers(full_version, "full_version"), numbers(min_version, "min_version")
    most = have if max_version is None else numbers(max_version, "max_version")
    if not least <= have <= most:
        bounds = f"at least {min_version}" + ("" if max_version is None else f" and at most {max_version}")
        raise Exception(f"[require_version] the version of the API is {full_version}; want {bounds}")


def deprecated(update_to: str = "", since: str = "", reason: str = "", level: int = 0) -> Callable[..., Any]:
    """A decorator that warns when a function is called that should be used no more.

    Args:
        update_to: the function to use.
        since: the version of Paddle from which on it warns; empty: always.
        reason: why.
        level: 2 raises a RuntimeError instead.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        said = f'API "{function.__module__}.{function.__name__}" is deprecated' + (f" since {since}" if since else "")
        said += f", and will be removed in future versions. Please use {update_to!r} instead." if update_to else "."
        said += f"\nReason: {reason}" if reason else ""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if level >= 2:
                raise RuntimeError(f"[deprecated] {said}")
            if not since or numbers(full_version, "full_version") >= numbers(since, "since"):
                warnings.warn(said, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapper

    return decorate
