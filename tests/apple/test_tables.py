"""On a Mac: macOS has every method that the library uses. On Linux: the comparison sees what is wrong."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from typing import Any, ClassVar

import pytest
import tables

ROOT = pathlib.Path(__file__).resolve().parents[2]
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="the mock of Metal is Linux's")


def compare(*library: str, **env: str) -> tuple[int, list[str]]:
    """The status and the lines of a comparison in a process of its own."""
    command = [sys.executable, "tests/apple/tables.py", *library]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **env}, capture_output=True, text=True)
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def stand_in(**env: str) -> tuple[int, list[str]]:
    subprocess.run(["sh", "tests/fakemetal/build.sh"], cwd=ROOT, check=True, capture_output=True)
    return compare("build/libfakemetal.so", **env)


@pytest.mark.skipif(sys.platform != "darwin", reason="Apple's frameworks are on a Mac")
def test_macos_has_what_is_used() -> None:
    status, said = compare()
    assert status == 0, "\n".join(said)
    assert said[-1].endswith(" 0 differ, 0 left out")


@on_linux
@pytest.mark.parametrize("macos", ["13.0", "14.0", "15.0"])
def test_the_stand_in_has_what_is_used(macos: str) -> None:
    status, said = stand_in(FAKEMETAL_MACOS=macos)
    assert status == 0, "\n".join(said)
    assert int(said[-1].split()[0]) > 100


@on_linux
def test_a_missing_method_is_seen() -> None:
    status, said = stand_in(FAKEMETAL_DEFECT="selector_missing")
    assert status == 1 and len(said) == 2 and said[0].endswith(" is not there")


@on_linux
def test_a_newer_method_is_not_asked_of_an_older_system() -> None:
    older, newer = (int(stand_in(FAKEMETAL_MACOS=macos)[1][-1].split()[0]) for macos in ("13.0", "15.0"))
    assert older < newer


@pytest.mark.parametrize(
    ("said", "table", "same"),
    [
        ("v24@0:8Q16", "v@:Q", True),
        ("v24@0:8q16", "v@:Q", True),  # a signed word is passed as an unsigned one
        ("v20@0:8I16", "v@:Q", False),
        ("v24@0:8d16", "v@:Q", False),
        ("v16@0:8", "v@:Q", False),
        ("c16@0:8", "B@:", True),
        ('@"NSString"16@0:8', "@@:", True),
        ('v24@0:8@?<v@?@"NSError">16', "v@:@?", True),
        ("v64@0:8{MTLSize=QQQ}16{MTLSize=QQQ}40", "v@:{?=QQQ}{?=QQQ}", True),
        ("v32@0:8{_NSRange=QQ}16", "v@:{?=QQQ}", False),
        ("@32@0:8@16^@24", "@@:@^@", True),
        ("v24@0:8r^{?={?=QQQ}{?=QQQ}}16", "v@:^v", True),
        ("v24@0:8^v16", "v@:", False),
        ("r*16@0:8", "*@:", True),
    ],
)
def test_types_are_compared_as_a_call_sees_them(said: str, table: str, same: bool) -> None:
    assert (tables.kinds(said) == tables.kinds(table)) is same


class Imagined(tables.Runtime):
    """A system of three classes: 2 is above 3 and conforms to the protocol P, 1 is alone."""

    ANSWERS: ClassVar = {
        ("objc_getClass", b"Two"): 2,
        ("objc_getProtocol", b"P"): 9,
        ("class_getSuperclass", 3): 2,
        ("class_conformsToProtocol", 2, 9): True,
        ("class_getInstanceMethod", 3, b"run:"): 7,
        ("method_getTypeEncoding", 7): b"v20@0:8B16",
    }

    def __init__(self) -> None:
        self.classes = [1, 2, 3]

    def call(self, name: str, *arguments: Any) -> Any:
        return arguments[0] if name == "sel_registerName" else self.ANSWERS.get((name, *arguments))


@pytest.mark.parametrize(
    ("owner", "protocol", "selector", "types", "want"),
    [
        ("P", True, "run:", "v@:B", ""),
        ("Two", False, "run:", "v@:B", ""),
        ("Two", False, "run:", "v@:Q", "-[Two run:] has the types v20@0:8B16; want v@:Q"),
        ("P", True, "stop", "v@:", "-[P stop] is not there"),
        ("Q", True, "run:", "v@:B", "-[Q run:] is not there"),
        ("One", False, "run:", "v@:B", "-[One run:] is not there"),
    ],
)
def test_methods_are_looked_for_below(owner: str, protocol: bool, selector: str, types: str, want: str) -> None:
    """Apple's classes are often abstract, and protocols have no code: what is below them has."""
    row = tables.Row(owner, False, selector, (), protocol, types)
    assert tables.difference(Imagined(), row) == want


def test_a_bound_is_a_version() -> None:
    assert tables.version("<=13.1") == tables.version("13.1") == (13, 1)
    assert tables.version("") == ()
