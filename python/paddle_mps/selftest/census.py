"""The census section: the classes, methods and constants of Apple's that the library uses.

A method that is newer than the running macOS may be missing, and a class that the library does without;
anything else that is missing is a failure. So is a method whose types, as the system tells them, are
others than the library sends.
"""

from __future__ import annotations

import ctypes
import json
import re
from ctypes import byref
from typing import Any

from .._core._errors import UnsupportedError, check
from .._core._library import library
from .._core._place import mps_place
from .recorder import Recorder


def ask() -> dict[str, Any]:
    """What the library finds; UnsupportedError where the device is not driven through Objective-C."""
    text = ctypes.c_void_p()
    check(library.pmps_device_census(byref(mps_place(None).struct), byref(text)))
    try:
        found: dict[str, Any] = json.loads(ctypes.string_at(text.value or 0))
    finally:
        library.pmps_text_free(text)
    return found


def run(record: Recorder, _place: str, _quick: bool) -> None:
    """Judges every finding."""
    record.doing("pmps_device_census")
    try:
        found = ask()
    except UnsupportedError:
        record.skipped("the device is not driven through Objective-C")
        return
    record.number("macos", found["macos"])
    record.number("architecture", found["architecture"])
    record.expect(len(found["findings"]) + len(found["constants"]))
    for constant in found["constants"]:
        record.check(constant["name"], lambda c=constant: dated(c, found["macos"]))  # type: ignore[misc]
    for finding in found["findings"]:
        record.check(name_of(finding), lambda f=finding: judge(f, found["macos"]))  # type: ignore[misc]
    record.number("classes", sum(f["found"] and not f["selector"] for f in found["findings"]))
    record.number("methods", sum(f["found"] and bool(f["selector"]) for f in found["findings"]))
    record.number("constants", len(found["constants"]))
    record.number("newer", [name_of(f) for f in found["findings"] if not f["found"]])


# Constants that are newer than the oldest macOS, which are not used on macOS before their own.
GUARDED = ("MTLGPUFamilyApple", "MTLMathMode", "MPSDataTypeBFloat16")


def dated(constant: dict[str, Any], macos: str) -> None:
    """Fails on a constant that the running macOS does not know."""
    known = version(constant["since"]) <= version(macos) or constant["name"].startswith(GUARDED)
    assert known, f"macOS {macos} has no such constant; it came with {constant['since']}"


def name_of(finding: dict[str, Any]) -> str:
    return f"[{finding['class']} {finding['selector']}]" if finding["selector"] else finding["class"]


def judge(finding: dict[str, Any], macos: str) -> None:
    """Fails on what should be there."""
    excused = finding["optional"] or version(finding["since"]) > version(macos)
    assert finding["found"] or excused, f"macOS {macos} has no such {'method' if finding['selector'] else 'class'}"
    if finding["found"] and finding["selector"]:
        want = finding["selector"].count(":") + 2
        got = arguments(finding["encoding"])
        assert got in (0, want), f"its types are {finding['encoding']}: {got} arguments; want {want}"


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")) if text else ()


def arguments(encoding: str) -> int:
    """How many arguments a type encoding has, receiver and selector included; 0 for no encoding."""
    text, last = re.sub(r'"[^"]*"|\d+|[rnNoORV]|(?<=@)\?', "", encoding), ""
    while text != last:
        text, last = re.sub(r"\{[^{}]*\}|\[[^\[\]]*\]|\([^()]*\)", "s", text), text
    return max(len(re.sub(r"\^+.", "p", text)) - 1, 0)
