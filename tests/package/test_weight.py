"""The library that is built weighs what is recorded, and loads with glibc 2.35. These tests build nothing and run every time."""

from __future__ import annotations

import pathlib
import sys

import pytest

from package.weight import BACKEND, MOST, OLDEST, RELOCATION, ROOT, Needs, needs, recorded, within

LIBRARY = ROOT / "python" / "paddle_mps" / "libpaddlemps.so"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sizes are those of the library for Linux")


def test_the_built_library_has_the_recorded_size() -> None:
    within("plain", LIBRARY.stat().st_size)


@pytest.fixture(scope="module")
def built() -> Needs:
    return needs(LIBRARY)


def test_the_built_library_leaves_the_wheel_below_its_bar(built: Needs) -> None:
    """The library of a wheel is this one with packed relocations, each of which takes less than half a byte, and without the backend."""
    assert LIBRARY.stat().st_size - built.relocations * RELOCATION + built.relocations // 2 - BACKEND <= MOST


def test_the_built_library_loads_with_an_old_glibc(built: Needs) -> None:
    """This file is also what the tarball and the backend for tritonserver have: see test_install.py."""
    assert built.libraries == ["libc.so.6"]
    assert built.glibc <= OLDEST
    assert not built.packed
    assert built.relocations > 10_000


def test_sizes_are_bounded() -> None:
    for kind in ("plain", "wheel"):
        within(kind, recorded(kind))
        with pytest.raises(AssertionError, match="Find what has grown"):
            within(kind, recorded(kind) * 102 // 100)
    assert recorded("wheel") < recorded("plain")
    with pytest.raises(AssertionError, match="Find what has grown"):
        within("wheel", MOST + 1)


def test_needs_of_a_library_that_asks_for_more(tmp_path: pathlib.Path) -> None:
    """Python of this machine is a program that no one has made for an old glibc: the reader finds its libraries."""
    assert "libc.so.6" in needs(pathlib.Path(sys.executable).resolve()).libraries
