"""Writes a snapshot of memory as a page for a browser: `paddle-mps memory-viz snapshot.json`.

The page is one HTML file that refers to no other. Its parts lie beside this file; see files.go, by which the command in
Go has them too.
"""

from __future__ import annotations

import argparse
import html
import json
import os
import pathlib
import re
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["main", "render"]

WANT = "want a file of paddle.mps.dump_snapshot"

VERSION = 1  # of a snapshot; it changes only when fields change their meaning

# What the JSON is escaped with inside a script element, as Go's json.HTMLEscape does it.
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(data: bytes) -> bytes:
    """The page of a snapshot.

    Raises:
        ValueError: data is not a snapshot, or is one that contradicts itself.
    """
    found = _parsed(data)
    title = html.escape(f"Memory of {found.get('place', '')} ({found.get('device', '')})")
    values = {
        "title": title.replace("&quot;", "&#34;").replace("&#x27;", "&#39;"),  # as Go writes them
        "data": data.decode().translate(_ESCAPES),
    }
    folder = pathlib.Path(__file__).parent

    def part(match: re.Match[str]) -> str:
        name = match.group(1)
        return values[name] if name in values else (folder / name).read_text(encoding="utf-8")

    return re.sub(r"\{\{([a-z.]+)\}\}", part, (folder / "page.html").read_text(encoding="utf-8")).encode()


def _parsed(data: bytes) -> dict[str, Any]:
    """Reads a snapshot and checks what the script of the page relies on."""
    try:
        found = json.loads(data.decode(), parse_constant=_refuse)
        if not isinstance(found, dict):
            raise TypeError(f"{type(found).__name__} instead of an object")
        _check(found)
    except UnicodeDecodeError as error:  # its repr would be all of the file
        raise ValueError(f"got a file that is not a snapshot: byte {error.start} is not UTF-8; {WANT}") from None
    except (TypeError, KeyError, AttributeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"got a file that is not a snapshot: {error!r}; {WANT}") from None
    return found


def _refuse(name: str) -> None:
    raise TypeError(f"{name} is not a number in JSON")


def _check(found: dict[str, Any]) -> None:
    """Sizes are positive, the blocks of a segment cover it, and numbers of stacks are within the list."""
    if found.get("version") != VERSION:
        raise ValueError(f"the snapshot has version {found.get('version')}; want {VERSION}")
    stacks = None if found.get("stacks") is None else len(found["stacks"])

    def known(stack: int) -> bool:
        return stack >= 0 and (stacks is None or stack <= stacks)

    for segment in found.get("segments") or []:
        covered = 0
        for block in segment.get("blocks") or []:
            size, stack = block["size"], block.get("stack", 0)
            if size <= 0 or not known(stack):
                raise ValueError(
                    f"segment {segment.get('id')} has a block of {size} bytes with stack {stack}; want more than 0 bytes and a stack of 0 to {stacks}"
                )
            covered += size
        if covered != segment["total_size"] or covered <= 0:
            raise ValueError(
                f"segment {segment.get('id')} has {segment['total_size']} bytes and its blocks have {covered}; want the same number"
            )
    for i, event in enumerate(found.get("trace") or []):
        size, stack = event.get("size", 0), event.get("stack", 0)
        if size < 0 or not known(stack):
            raise ValueError(
                f"event {i} has {size} bytes and stack {stack}; want no negative size and a stack of 0 to {stacks}"
            )


def main(arguments: Sequence[str]) -> int:
    """The command: writes the page, prints its name and returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="paddle-mps memory-viz",
        description="Writes a snapshot of memory (paddle.mps.dump_snapshot) as a page for a browser.",
    )
    parser.add_argument("snapshot", metavar="SNAPSHOT.json")
    parser.add_argument("-o", metavar="PAGE.html", dest="page",
        help="the page to write; default: the snapshot's name with .html; - for standard output")  # fmt: skip
    options = parser.parse_args(arguments)
    try:
        _write(options.snapshot, options.page)
    except (OSError, ValueError) as error:
        print(f"paddle-mps memory-viz: {error}", file=sys.stderr)
        return 1
    return 0


def _write(snapshot: str, page: str | None) -> None:
    data = pathlib.Path(snapshot).read_bytes()
    try:
        text = render(data)
    except ValueError as error:
        raise ValueError(f"{snapshot}: {error}") from None
    if page == "-":
        sys.stdout.buffer.write(text)
        return
    target = page or os.path.splitext(snapshot)[0] + ".html"
    if os.path.exists(target) and os.path.samefile(snapshot, target):
        raise ValueError(f"{target} is the snapshot itself; want another name for the page (-o PAGE.html)")
    pathlib.Path(target).write_bytes(text)
    print(target)
