"""A Python for Intel Macs on Apple silicon gets an error that says so, and no other Python does."""

from __future__ import annotations

import ctypes
import os
import sys
import types
from typing import Any

import pytest

from paddle_mps._core import _library


def pretend(monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, translated: int | None) -> None:
    """Makes this a process of another machine; None: its kernel does not know what translation is."""

    def sysctlbyname(name: bytes, answer: Any, size: Any, *new: Any) -> int:
        assert name == b"sysctl.proc_translated" and size._obj.value == 4
        if translated is None:
            return -1
        answer._obj.value = translated
        return 0

    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(os, "uname", lambda: types.SimpleNamespace(machine=machine))
    monkeypatch.setattr(ctypes, "CDLL", lambda name: types.SimpleNamespace(sysctlbyname=sysctlbyname))


@pytest.mark.parametrize(
    ("platform", "machine", "translated", "refused"),
    [
        ("darwin", "x86_64", 1, True),
        ("darwin", "x86_64", 0, False),
        ("darwin", "x86_64", None, False),
        ("darwin", "arm64", 0, False),
        ("linux", "x86_64", None, False),
    ],
    ids=["rosetta", "x86-64", "intel-mac", "apple-silicon", "linux"],
)
def test_who_is_translated(
    monkeypatch: pytest.MonkeyPatch, platform: str, machine: str, translated: int | None, refused: bool
) -> None:
    pretend(monkeypatch, platform, machine, translated)
    assert _library.translated() is refused


def test_the_error_says_what_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pretend(monkeypatch, "darwin", "x86_64", 1)
    with pytest.raises(ImportError, match=r"runs under Rosetta; want one for Apple silicon: try `arch -arm64 python3`"):
        _library.load()
