"""The table of parts: tests/parts.toml, which says what each key means."""

from __future__ import annotations

import functools
import os
import pathlib
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # before Python 3.11; pip has the same module
    from pip._vendor import tomli as tomllib  # type: ignore[no-redef]

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "tests" / "parts.toml"
LANES = ("first", "cpu", "mock", "waits", "alone", "timed")
KEYS = {
    *("name", "suites", "like", "command", "long", "format", "env", "lane", "inputs", "seconds", "turns", "retry", "again"),
    *("store", "feeds", "needs", "when", "arguments", "folder", "show", "limit"),
}  # fmt: skip


@dataclass(frozen=True)
class Part:
    """One row of the table, with the rows that it is like."""

    name: str
    suites: tuple[str, ...]
    commands: tuple[str, ...]
    format: str
    env: tuple[str, ...] = ()
    lane: str = "alone"
    inputs: tuple[str, ...] = ("*",)
    seconds: int = 0
    turns: bool = False
    retry: bool = True
    again: str = ""
    store: bool = True
    feeds: str = ""
    needs: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    arguments: str = ""
    folder: str = "."
    show: str = ""
    limit: int = 3600

    @property
    def timed(self) -> bool:
        return self.lane == "timed"


@dataclass(frozen=True)
class Table:
    parts: tuple[Part, ...]
    programs: Mapping[str, Mapping[str, Any]]
    packages: Mapping[str, Mapping[str, Any]]
    environments: Mapping[str, Sequence[str]]
    values: Mapping[str, str]
    suites: tuple[str, ...]
    touched: Mapping[str, Any] = field(default_factory=dict)

    def named(self, name: str) -> Part:
        return next(part for part in self.parts if part.name == name)


def listed(value: Any) -> list[str]:
    """A string is a list of one."""
    return [value] if isinstance(value, str) else list(value)


def merged(row: Mapping[str, Any], kinds: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A row with what the kinds under `like` say: lists are joined, all else is the last one's."""
    whole: dict[str, Any] = {}
    for source in [*(kinds[name] for name in listed(row.get("like", []))), row]:
        for key, value in source.items():
            if key in ("env", "needs", "when"):
                before = whole.get(key, [])
                value = [*before, *(v for v in listed(value) if v not in before)]
            whole[key] = value
    return whole


def inputs_of(names: Sequence[str], sets: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Globs; a name stands for a set of them."""
    return tuple(glob for name in names for glob in (inputs_of(sets[name], sets) if name in sets else [name]))


def part_of(row: Mapping[str, Any], long: bool, environments: Mapping[str, Sequence[str]], sets: Mapping[str, Sequence[str]]) -> Part:  # fmt: skip
    if unknown := set(row) - KEYS:
        raise ValueError(
            f"{TABLE.name}: {row.get('name')} has {', '.join(sorted(unknown))}; want {', '.join(sorted(KEYS))}"
        )
    fields: dict[str, Any] = {key: row[key] for key in row if key in Part.__dataclass_fields__}
    fields["commands"] = tuple(listed(row["long"] if long and "long" in row else row["command"]))
    for key in ("suites", "needs", "when"):
        fields[key] = tuple(listed(row.get(key, [])))
    fields["env"] = tuple(e for name in listed(row.get("env", [])) for e in (environments.get(name, [name])))
    fields["inputs"] = inputs_of(listed(row.get("inputs", ["*"])), sets)
    part = Part(**fields)
    if part.lane not in LANES:
        raise ValueError(f"{TABLE.name}: the lane of {part.name} is {part.lane}; want {', '.join(LANES)}")
    return part


def read(path: pathlib.Path = TABLE, long: bool = False) -> Table:
    """The table; with `long` the commands of `test long`."""
    with path.open("rb") as file:
        data = tomllib.load(file)
    kinds, environments, sets = data.get("like", {}), data.get("env", {}), data.get("inputs", {})
    parts = [part_of(merged(row, kinds), long, environments, sets) for row in data["part"]]
    names = [part.name for part in parts]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{path.name}: two parts have the name {', '.join(sorted(twice))}")
    programs = {row["name"]: merged(row, kinds) for row in data.get("program", [])}
    suites = tuple(dict.fromkeys(suite for part in parts for suite in part.suites))
    return Table(
        tuple(parts),
        programs,
        data.get("packages", {}),
        environments,
        data.get("values", {}),
        suites,
        data.get("touched", {}),
    )


# ---- What the placeholders of commands stand for


def is_long() -> bool:
    return os.environ.get("PADDLE_MPS_LONG") == "1"


def output(*command: str) -> str:
    """What a command prints; nothing if it fails or is missing."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def commits() -> str:
    """The number of commits, which is the turn. A shallow clone does not know it, and takes the time of its commit."""
    shallow = output("git", "rev-parse", "--is-shallow-repository") == "true"
    return output("git", *(["log", "-1", "--format=%ct"] if shallow else ["rev-list", "--count", "HEAD"])) or "0"


def cache() -> pathlib.Path | None:
    """The folder outside the checkout for what can be made again: PADDLE_MPS_CACHE; None where that is empty."""
    given = os.environ.get("PADDLE_MPS_CACHE")
    if given is not None:
        return pathlib.Path(given).absolute() if given else None
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(home) / "paddle-mps"
    return folder if writable(folder) else None


def writable(folder: pathlib.Path) -> bool:
    """Whether a folder can be made and written: a machine of CI may have no home."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def cache_folder(name: str, inside: str) -> pathlib.Path:
    """A folder of the cache, or that in the checkout if there is no cache. It exists."""
    base = cache()
    folder = base / name if base else ROOT / inside
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclass(frozen=True)
class Settings:
    """What is the same for all parts of a run."""

    long: bool = False
    turn: str = "0"  # the number of PADDLE_MPS_SAMPLE; empty: no turns
    simd: str = ""
    arguments: tuple[str, ...] = ()
    operator: str = ""
    given: bool = True  # whether the caller has given the turn
    values: Mapping[str, str] = field(default_factory=dict)  # of further placeholders
    touched: tuple[str, ...] = ()  # operators and files of tests whose cases all run; see touched.py
    folders: tuple[str, ...] = ()  # with changed files of Go, whose packages run whatever their turn

    @property
    def seed(self) -> str:
        """The first seed of the random programs of a run. Each turn has seeds of its own, and so has each commit where all turns run."""
        return f"{self.turn or commits()}0000"

    def random_seconds(self, number: int) -> int:
        """For how long the random programs of number N, 0 to 5, run: 30 s in one of six turns, 4 s in the others."""
        return 30 if int(self.turn or commits()) % 6 == number else 4


def settings(rows: Table, arguments: Sequence[str] = (), operator: str = "") -> Settings:
    long = is_long()
    given = os.environ.get("PADDLE_MPS_SAMPLE")
    turn = "" if long else commits() if given is None else given
    simd = "simd" if output("go", "env", "GOARCH") == "amd64" else ""
    on_mac = platform.system() == "Darwin"
    values = {
        **{f"{{{name}}}": value for name, value in rows.values.items()},  # first, for they have placeholders
        "{root}": str(ROOT),
        "{simd}": simd,
        "{mac_cc}": os.environ.get("CC") or ("cc" if on_mac else str(ROOT / "capi" / "darwin" / "cc")),
        "{arm64_shaders}": str(cache_folder("shaders-arm64", "build/machorun/shadercache")),
        "{operator}": operator,
        "{self}": sys.executable,
    }
    return Settings(long, turn, simd, tuple(arguments), operator, given is not None, values)


@functools.cache
def changes(inputs: tuple[str, ...]) -> str:
    """The number of commits that have changed these files, as near as git's patterns say it: in them a file that one pattern leaves
    out stays out."""
    patterns = [f":(exclude){glob[1:]}" if glob.startswith("!") else glob for glob in inputs]
    return output("git", "rev-list", "--full-history", "--count", "HEAD", "--", *patterns) or "0"


def turn_of(part: Part, now: Settings) -> str:
    """The turn of a part, which advances with commits that change what it reads: after others it has nothing new to try, and is not
    repeated if it has passed. A caller's turn is that of all parts, and so is the time of the commit in a shallow clone."""
    shallow = output("git", "rev-parse", "--is-shallow-repository") == "true"
    if now.given or not now.turn or part.inputs == ("*",) or shallow:
        return now.turn
    return changes(part.inputs)


def applies(part: Part, now: Settings) -> bool:
    """Whether all conditions of `when` hold: long, short, linux, simd, whole (no arguments), a variable or a folder with /."""
    known = {
        "long": now.long,
        "short": not now.long,
        "linux": platform.system() == "Linux",
        "simd": bool(now.simd),
        "whole": not now.arguments,
    }
    for condition in part.when:
        if not (
            known[condition]
            if condition in known
            else bool(os.environ.get(condition)) or ("/" in condition and (ROOT / condition).is_dir())
        ):
            return False
    return True
