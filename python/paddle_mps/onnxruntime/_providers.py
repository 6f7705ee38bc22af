"""Execution providers: where sessions run. There are two: the Apple GPU, where there is one, and the CPU."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .._devices._device import is_available

CPU, MPS = "CPUExecutionProvider", "MPSExecutionProvider"
# Programs for Macs ask onnxruntime for this one where they want Apple's hardware.
ALIASES = {"CoreMLExecutionProvider": MPS}
# What install() and `python -m paddle_mps --onnxruntime` set: the provider of all sessions.
_forced: list[str] = []


def get_all_providers() -> list[str]:
    """The providers that there are on some machine, the best first."""
    return [MPS, CPU]


def get_available_providers() -> list[str]:
    """The providers of this machine, the best first."""
    return [MPS, CPU] if is_available() else [CPU]


def get_device() -> str:
    """`MPS` or `CPU`: the device of the best provider."""
    return "MPS" if is_available() else "CPU"


def force(provider: str | None) -> None:
    """Makes all sessions that are made from here on run on a provider, whatever they ask for; None: as they ask.

    Raises:
        ValueError: the machine has no such provider.
    """
    if provider is not None and provider not in get_available_providers():
        hint = "" if provider != MPS else "; there is no mps device: PADDLE_MPS_DEVICE=host emulates one on the CPU"
        raise ValueError(f"[install] provider is {provider!r}; want one of {get_available_providers()}{hint}")
    _forced[:] = [] if provider is None else [provider]


def chosen(
    asked: Sequence[str | tuple[str, dict[Any, Any]]] | None, options: Sequence[dict[Any, Any]] | None
) -> list[str]:
    """The providers of a session: those that are asked for and available, and the CPU at last. What is wrong with the request
    is a warning, as onnxruntime goes on without it.
    """
    available = get_available_providers()
    if _forced:
        return available[available.index(_forced[0]) :]
    if not asked:
        return available
    if options is not None and len(options) != len(asked):
        _warn("'providers' and 'provider_options' should be the same length if both are given.")
    found: list[str] = []
    for one in [asked] if isinstance(asked, str) else asked:
        name = one[0] if isinstance(one, tuple) and one else one
        if not isinstance(name, str):
            _warn(f"provider is {one!r}; 'providers' values must be either strings or (string, dict) tuples.")
            continue
        known = ALIASES.get(name, name)
        if known not in available:
            _warn(
                f"Specified provider '{name}' is not in available provider names."
                f"Available providers: '{', '.join(available)}'"
            )
        elif known in found:
            _warn(f"Duplicate provider '{name}' encountered, ignoring.")
        else:
            found.append(known)
    return found if CPU in found else [*found, CPU]


def _warn(text: str) -> None:
    """Warns the caller of InferenceSession."""
    warnings.warn(text, UserWarning, stacklevel=4)
