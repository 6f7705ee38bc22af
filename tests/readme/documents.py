"""What the tests of documents share: their parts, and the devices that their programs run on."""

from __future__ import annotations

import functools
import os
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE = ROOT / "build" / "libfakemetal.so"
READMES = ["README.md", "README.zh-CN.md", "README.ja.md"]
PAGES = sorted(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md"))
DESIGN = sorted(f"docs/design/{p.name}" for p in (ROOT / "docs" / "design").glob("*.md"))

FENCE = re.compile(r"^ *```(\w*)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)]+)\)")
PROMISE = re.compile(r"(?:#|//|/\*) +-> (.*?)(?: \*/)?$|  -> (.*)$")
DEVICES = ["host", "metal"] if sys.platform == "linux" else ["host"]


def text(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def blocks(document: str, *languages: str) -> list[str]:
    """The fenced blocks of a document, of all languages or of those named."""
    found = FENCE.findall(text(document))
    return [textwrap.dedent(body) for language, body in found if not languages or language in languages]


def prose(document: str) -> str:
    """The document without its fenced blocks."""
    return FENCE.sub("", text(document))


def tables(document: str) -> list[list[list[str]]]:
    """The tables of a document: rows of cells, without the head."""
    found = re.findall(r"(?:^\|.*\n?)+", prose(document), re.MULTILINE)
    return [[[cell.strip() for cell in row.strip("|").split("|")] for row in t.splitlines()[2:]] for t in found]


def slug(heading: str) -> str:
    """What a link to a heading has after its #, by GitHub's rule: the words of the heading with hyphens between."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(document: str) -> set[str]:
    """What links to a document may have after their #."""
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", prose(document), re.MULTILINE)}


def promises(program: str) -> list[str]:
    """What the lines of a program say that they print, in order."""
    found = (PROMISE.search(line) for line in program.splitlines())
    return [next(filter(None, match.groups())) for match in found if match]


@functools.cache
def fake() -> pathlib.Path:
    """The library that stands in for Apple's."""
    subprocess.run(["sh", ROOT / "tests" / "fakemetal" / "build.sh"], check=True, capture_output=True)
    return FAKE


def on(device: str) -> dict[str, str]:
    """The environment in which mps is a device; on the mock of Metal nothing may be left to the CPU."""
    kept_out = re.compile(r"(PADDLE_MPS_(?!LIBRARY$)|MPS_|FAKEMETAL_)")
    plain = {k: v for k, v in os.environ.items() if not kept_out.match(k)}
    plain |= {
        "PADDLE_MPS_DEVICE": device,
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),
    }
    if device == "metal":
        plain |= {"PADDLE_MPS_METAL_LIBRARY": str(fake()), "PADDLE_MPS_FALLBACK": "0", "MTL_CAPTURE_ENABLED": "1"}
    return plain


def output(command: list[str], folder: pathlib.Path, device: str, **env: str) -> str:
    """What a command prints, run in a folder of its own; it must end well."""
    done = subprocess.run(command, cwd=folder, env=on(device) | env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def kept(program: str, printed: str) -> None:
    """Every promise of a program is in what it printed, in order."""
    at = 0
    for promise in promises(program):
        assert promise in printed[at:], f"{promise!r} was not printed:\n{printed}"
        at = printed.index(promise, at) + len(promise)
