"""Compares a library with Apple's tables: python tests/apple/tables.py [LIBRARY]

Each row of objc/testdata/selectors.tsv says that a class or protocol has a method, with these types, from that
macOS on; those are compared that the Go package objc names. Without LIBRARY the frameworks of this Mac are asked,
which takes no GPU and makes no object. Each difference is a line; the last line counts, and the status is 0 if
there is none.
"""

from __future__ import annotations

import csv
import ctypes
import functools
import os
import pathlib
import platform
import re
import sys
from collections.abc import Iterator
from ctypes import c_bool, c_char_p, c_uint, c_void_p
from typing import Any, NamedTuple

OBJC = pathlib.Path(__file__).resolve().parents[2] / "objc"
TABLE = OBJC / "testdata" / "selectors.tsv"
FRAMEWORKS = ("Foundation", "Metal", "MetalPerformanceShaders", "MetalPerformanceShadersGraph")
FUNCTIONS = {
    "objc_getClass": (c_void_p, [c_char_p]),
    "objc_getProtocol": (c_void_p, [c_char_p]),
    "objc_copyClassList": (ctypes.POINTER(c_void_p), [ctypes.POINTER(c_uint)]),
    "sel_registerName": (c_void_p, [c_char_p]),
    "class_getInstanceMethod": (c_void_p, [c_void_p, c_void_p]),
    "class_getClassMethod": (c_void_p, [c_void_p, c_void_p]),
    "class_getSuperclass": (c_void_p, [c_void_p]),
    "class_conformsToProtocol": (c_bool, [c_void_p, c_void_p]),
    "method_getTypeEncoding": (c_char_p, [c_void_p]),
}

# One character of a type encoding as what it takes in a call: bytes of an integer or address, or its own name.
SIZES = {
    **dict.fromkeys("cCB", "1"),
    **dict.fromkeys("sS", "2"),
    **dict.fromkeys("iI", "4"),
    **dict.fromkeys("qQ@#:*^", "8"),
}


class Row(NamedTuple):
    """A method of the table."""

    owner: str
    of_class: bool
    selector: str
    since: tuple[int, ...]
    protocol: bool
    encoding: str

    def __str__(self) -> str:
        return f"{'+' if self.of_class else '-'}[{self.owner} {self.selector}]"


def used() -> set[tuple[str, str]]:
    """The classes and selectors that the package objc declares; a selector alone is one of MPSGraph's operators."""
    sources = "".join(p.read_text(encoding="utf-8") for p in OBJC.rglob("*.go") if not p.name.endswith("_test.go"))
    pairs = re.findall(r'\("(\w+)", "([\w:]+)"[,)]', sources)
    return {*pairs, *(("MPSGraph", selector) for selector in re.findall(r'\("(\w+:[\w:]*)"[,)]', sources))}


def rows() -> Iterator[Row]:
    with TABLE.open(encoding="utf-8", newline="") as lines:
        for cells in csv.reader((line for line in lines if line[0] != "#"), delimiter="\t", quoting=csv.QUOTE_NONE):
            owner, kind, selector, _, _, since, _, owner_kind, encoding = cells[:9]
            yield Row(owner, kind == "+", selector, version(since), owner_kind == "protocol", encoding)


def version(text: str) -> tuple[int, ...]:
    """A version; of one that is only bounded, "<=15", the bound."""
    return tuple(int(part) for part in text.lstrip("<=").split(".")) if text else ()


def kinds(encoding: str) -> str:
    """A type encoding as what a call has to know of it: the kinds of the result and of the arguments."""
    text = re.sub(r'"[^"]*"|<[^<>]*>|\[[^\]]*\]', "", encoding)  # names, types of blocks, contents of arrays
    text = re.sub(r"\^+(?:\{[^{}=]*=(?:[^{}]|\{[^{}]*\})*\}|[^{])", "@", text)
    text = re.sub(r"@\?", "@", text)
    text = re.sub(r"\{[^{}=]*=", "{", text)
    return "".join(SIZES.get(letter, letter) for letter in text if letter not in "0123456789rnNoORV")


class Runtime:
    """The Objective-C functions of a library; those that a library lacks are None."""

    def __init__(self, library: str | None) -> None:
        if library is None:
            for name in FRAMEWORKS:
                ctypes.CDLL(f"/System/Library/Frameworks/{name}.framework/{name}")
        self.library = ctypes.CDLL(library or "/usr/lib/libobjc.A.dylib")
        self.classes = self.all_classes()

    def call(self, name: str, *arguments: Any) -> Any:
        function = getattr(self.library, name, None)
        if function is None:
            return None
        function.restype, function.argtypes = FUNCTIONS[name]
        return function(*arguments)

    def all_classes(self) -> list[int]:
        """Every class there is; none where the library cannot tell, as what stands in for Apple's."""
        count = c_uint()
        found = self.call("objc_copyClassList", ctypes.byref(count))
        return [found[i] for i in range(count.value)]

    def owners(self, row: Row) -> Iterator[int]:
        """The class; then whatever may implement what an abstract class or a protocol promises."""
        if row.protocol:
            yield from self.conforming(row.owner)
            return
        named = self.call("objc_getClass", row.owner.encode())
        if named:
            yield named
            yield from (c for c in self.classes if named in self.above(c))

    def above(self, c: int | None) -> Iterator[int]:
        while c := self.call("class_getSuperclass", c):
            yield c

    @functools.cache  # noqa: B019  # there is one runtime, and looking through all classes takes a while
    def conforming(self, name: str) -> list[int]:
        """The classes of a protocol, also those that inherit it."""
        protocol = self.call("objc_getProtocol", name.encode())
        if not protocol:
            return []
        conforms = functools.partial(self.call, "class_conformsToProtocol")
        return [c for c in self.classes if any(conforms(one, protocol) for one in (c, *self.above(c)))]

    def encodings(self, row: Row) -> Iterator[str]:
        """The types of the method, in each class that has it."""
        selector = self.call("sel_registerName", row.selector.encode())
        find = "class_getClassMethod" if row.of_class else "class_getInstanceMethod"
        for owner in self.owners(row):
            method = self.call(find, owner, selector)
            if method:
                yield self.call("method_getTypeEncoding", method).decode()


def difference(runtime: Runtime, row: Row) -> str:
    """What is wrong with a method; "" if nothing is."""
    found = next(runtime.encodings(row), None)
    if found is None:
        return f"{row} is not there"
    if kinds(found) != kinds(row.encoding):
        return f"{row} has the types {found}; want {row.encoding}"
    return ""


def main(library: str | None) -> int:
    runtime = Runtime(library)
    running = version(platform.mac_ver()[0] or os.environ.get("FAKEMETAL_MACOS", "15.0"))
    declared = used()
    wanted = [row for row in rows() if (row.owner, row.selector) in declared and row.since <= running]
    # A library that cannot list its classes has no answer for protocols, nor for a class that goes by another name.
    asked = [row for row in wanted if runtime.classes or any(runtime.owners(row))]
    wrong = [text for text in (difference(runtime, row) for row in asked) if text]
    left = len(wanted) - len(asked)
    print(*wrong, f"{len(asked)} methods compared, {len(wrong)} differ, {left} left out", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else None))
