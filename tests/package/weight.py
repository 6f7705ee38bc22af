"""The size of the library for Linux, and what it asks of the system that loads it.

Two libraries are built: the plain one, for checkouts, the tarball and tritonserver, and that of a wheel, whose relocations are packed.
`./build.sh bench code library` prints what each package of Go takes.
"""

from __future__ import annotations

import pathlib
import re
from typing import NamedTuple

import lief

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests" / "package" / "library_size.txt"  # lines of a kind and its bytes
MOST = 10_500_000  # of a wheel's library
OLDEST = (2, 35)  # the glibc with which the plain library has to load: that of Ubuntu 22.04
BACKEND = 120_000  # bytes, at least, of the backend for tritonserver, which the library of a wheel is without
RELOCATION = 24  # bytes of one that is not packed


def recorded(kind: str) -> int:
    """The recorded size of the library, "plain" or "wheel"."""
    return int(dict(line.split() for line in RECORDED.read_text().splitlines())[kind])


def within(kind: str, size: int) -> None:
    """Refuses a library that has grown by more than 1 % since its size was recorded, or that of a wheel beyond MOST."""
    most = recorded(kind) * 101 // 100
    if kind == "wheel":
        most = min(most, MOST)
    assert size <= most, (
        f"the library ({kind}) has {size:,} bytes; want {most:,} at most, 1 % above what is recorded. Find what has grown "
        f"(./build.sh bench code library); record a new size in {RECORDED.relative_to(ROOT)} only with the reason"
    )


class Needs(NamedTuple):
    """What a library asks of the system that loads it."""

    libraries: list[str]
    glibc: tuple[int, ...]  # the newest version that a symbol has
    packed: bool  # whether it has packed relocations, which glibc reads from 2.36 on
    relocations: int  # that are not packed


def needs(path: pathlib.Path) -> Needs:
    """Reads the tables that the dynamic linker reads."""
    library = lief.ELF.parse(str(path))
    assert library is not None, path
    versions = [aux.name for of in library.symbols_version_requirement for aux in of.get_auxiliary_symbols()]
    numbers = [
        tuple(map(int, version.split(".")[:2])) for v in versions for version in re.findall(r"^GLIBC_([\d.]+)$", str(v))
    ]
    assert numbers, versions
    tags = {entry.tag for entry in library.dynamic_entries}
    return Needs(
        sorted(str(name) for name in library.libraries),
        max(numbers),
        lief.ELF.DynamicEntry.TAG.RELR in tags or "GLIBC_ABI_DT_RELR" in versions,
        sum(1 for _ in library.dynamic_relocations),
    )
