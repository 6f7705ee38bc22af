"""Remembers which parts have passed with which inputs: a part with the same key is not repeated.

The key is a hash of the row (commands before their placeholders are replaced, environment), of what the caller's environment says
to compilers and to this project, of the turn where a part takes turns, of the versions of the tools and installed packages, of
the processor, and of the contents of all files that the part may read. Files are those that git tracks or would add, so that
changes count before they are committed. Which files a part reads is the key `inputs` of its row; a part with wrong globs would
hide a failure, so they are narrow only where a part cannot read the rest.

Kept are parts that have passed whole: no failed, flaky or inconclusive test. Parts with `store = false` (fuzzers, and what reads
more than files of the checkout) and `test long` always run. A file is renamed into place when it is whole, so that runs may
share the folder.
"""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .execute import Result
from .table import ROOT, Part, Settings, cache, output, turn_of

VERSION = 1  # of the key: a change of this module that changes what a key means counts it up
TOOLS = (
    *("go", "cc", "c++", "g++", "clang", "clang++", "ld64.lld", "aarch64-linux-gnu-g++", "qemu-aarch64", "cmake", "pkg-config"),
    *("chromium", "google-chrome", "chromedriver", "haproxy", "python3"),
)  # fmt: skip
# Variables of the caller that change what is built or run.
READ = re.compile(
    r"(PADDLE_MPS|FAKEMETAL|MACHORUN|TRITON|MPS|GO|CGO|PYTHON|PYTEST|OMP|ONNX)[A-Z0-9_]*|CC|CXX|CFLAGS|LLVM|CI|MACOSX_.*"
)
OWN = (
    "PADDLE_MPS_CACHE",
    "PADDLE_MPS_ORACLES",
    "PADDLE_MPS_SAMPLE",
    "PADDLE_MPS_TOUCHED",
    "PADDLE_MPS_BASE",
    "FAKEMETAL_CACHE",
    "GOCACHE",
    "GOMODCACHE",
    "GOPATH",
    "GOPROXY",
    "GOTOOLCHAIN",
)
DAYS = 30  # after which what was not read is removed from the cache


@functools.cache
def contents() -> dict[str, str]:
    """The hash of each file that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    hashes = {}
    for name in filter(None, listed.decode().split("\0")):
        file = ROOT / name
        if file.is_symlink():
            hashes[name] = f"link to {os.readlink(file)}"
        elif file.is_file():
            mode = "x" if os.access(file, os.X_OK) else "-"
            hashes[name] = mode + hashlib.sha256(file.read_bytes()).hexdigest()
    return hashes


def chosen(globs: Sequence[str], names: Sequence[str]) -> list[str]:
    """The names that globs choose: the last glob that fits a name decides, and `!` before it leaves it out. `*` fits `/` too."""
    rules = [(not glob.startswith("!"), re.compile(fnmatch.translate(glob.lstrip("!")))) for glob in globs]

    def takes(name: str) -> bool:
        return next((wanted for wanted, rule in reversed(rules) if rule.match(name)), False)

    return sorted(name for name in names if takes(name))


@functools.cache
def tools() -> dict[str, str]:
    """Versions of the tools that are found, and what the processor has."""
    found = {}
    for tool in TOOLS:
        path = shutil.which(tool)
        if path:
            said = output(path, "version" if tool == "go" else "--version")
            found[tool] = said or str(pathlib.Path(path).stat().st_mtime_ns)
    with contextlib.suppress(OSError):
        text = pathlib.Path("/proc/cpuinfo").read_text()
        found["processor"] = "\n".join(
            sorted(set(re.findall(r"^(?:flags|Features|model name)\s*: .*", text, re.MULTILINE)))
        )
    found["system"] = " ".join((os.uname().sysname, os.uname().machine, str(os.cpu_count())))
    found["libc"] = output("ldd", "--version").partition("\n")[0]
    return found


@functools.cache
def packages(folder: str) -> list[str]:
    """The packages of a virtual environment with their versions, and its Python. An environment that is not there is to be made from
    pyproject.toml, whose pins it then has; so an installation changes no key unless it brings other versions."""
    root = ROOT / folder
    version = root / "pyvenv.cfg"
    lines = (
        [line for line in version.read_text().splitlines() if line.startswith("version")] if version.exists() else []
    )
    return [*lines, *sorted(p.name for p in root.glob("lib*/python*/site-packages/*.dist-info"))]


def caller() -> dict[str, str]:
    """What the caller's environment says."""
    return {name: value for name, value in os.environ.items() if READ.fullmatch(name) and name not in OWN}


def key(part: Part, now: Settings) -> str:
    """The hash of all that a part's outcome may depend on."""
    files = contents()
    folders = sorted(set(re.findall(r"\.venv[\w.-]*", " ".join((*part.commands, *part.needs, *part.env)))))
    what: dict[str, Any] = {
        "version": VERSION,
        "row": [part.name, part.commands, part.format, part.env, part.folder, part.arguments, part.lane],
        "arguments": now.arguments,
        "turn": turn_of(part, now) if part.turns else os.environ.get("PADDLE_MPS_SAMPLE", ""),
        "caller": caller(),
        "tools": tools(),
        "packages": {folder: packages(folder) for folder in folders},
        "files": [[name, files[name]] for name in chosen(part.inputs, list(files))],
    }
    return hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Store:
    """The folder of the cache with a file for each part and key."""

    folder: pathlib.Path

    def file(self, part: Part, key: str) -> pathlib.Path:
        return self.folder / f"{part.name}-{key[:40]}.json"

    def find(self, part: Part, key: str, touched: Sequence[str] = ()) -> dict[str, Any] | None:
        """What is known of a part that has passed with this key, and all cases of what a change touches."""
        file = self.file(part, key)
        try:
            known: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if not set(touched) <= set(known.get("touched", [])):
            return None
        if known.get("key") != key or known.get("row", [0, 1, 0])[1] != 0 or known["row"][0] == 0:
            return None
        file.touch()
        return known

    def base(self, part: Part) -> str:
        """The last commit at which a part has passed; empty if none is known."""
        try:
            return (self.folder / f"{part.name}.commit").read_text(encoding="utf-8").strip()
        except OSError:
            return ""

    def set_base(self, result: Result) -> None:
        """Keeps the commit at which a part that takes turns has passed, if the tree is that of the commit."""
        commit = output("git", "rev-parse", "HEAD")
        if result.part.turns and passed_whole(result) and commit and not revision().endswith("with changes"):
            self.write(self.folder / f"{result.part.name}.commit", commit + "\n")

    def write(self, file: pathlib.Path, text: str) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        whole = file.with_suffix(f".{os.getpid()}")
        whole.write_text(text, encoding="utf-8")
        whole.replace(file)

    def add(self, result: Result, key: str, touched: Sequence[str] = ()) -> None:
        """Keeps a part that has passed whole, and the names of what it has run all cases of."""
        counts = result.counts
        if not passed_whole(result):
            return
        known = {
            "key": key,
            "row": counts.row(),
            "revision": revision(),
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "touched": list(touched),
        }
        self.write(self.file(result.part, key), json.dumps(known))


def passed_whole(result: Result) -> bool:
    """Whether a part ran and no test of it has failed, was flaky or inconclusive."""
    counts = result.counts
    wrong = counts.failures or result.flaky or result.inconclusive or result.stored or result.status != 0
    return not wrong and counts.passed > 0


def changed() -> set[str]:
    """The files that have changed while parts ran, so that it is not known what these have read. Afterwards keys are made from what is
    there now: tools and packages that the run has installed."""
    before = contents()
    for known in (contents, tools, packages):
        known.cache_clear()
    after = contents()
    return {name for name in {*before, *after} if before.get(name) != after.get(name)}


@functools.cache
def revision() -> str:
    """The commit, with a word if the tree has changes."""
    changes = output("git", "status", "--porcelain")
    return (output("git", "rev-parse", "--short", "HEAD") or "no commit") + (" with changes" if changes else "")


def opened() -> Store | None:
    """The store, if there is a cache."""
    base = cache()
    return Store(base / "passed") if base else None


def trim() -> None:
    """Removes files of the cache that nothing has read for DAYS days. Others may do the same at that time."""
    base, oldest = cache(), time.time() - DAYS * 24 * 3600
    for file in base.rglob("*") if base and base.is_dir() else ():
        with contextlib.suppress(OSError):
            if file.is_file() and max(file.stat().st_atime, file.stat().st_mtime) < oldest:
                file.unlink()
