"""Runs the commands of one part, each in a process group of its own, and reads the counts from what they print."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import re
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import count

from .table import ROOT, Part, Settings, Table, cache_folder, output, turn_of

PARTS = ROOT / "build" / "parts"
DELAY = 0.020  # seconds of scheduling delay above which a timed test says nothing


@dataclass
class Result:
    """What one part did, and with which commands."""

    part: Part
    counts: count.Counts
    status: int
    seconds: int
    commands: tuple[tuple[str, ...], ...] = ()
    flaky: list[str] = field(default_factory=list)
    inconclusive: list[str] = field(default_factory=list)
    stored: str = ""  # the revision at which it passed, if it was not repeated
    delay: float = 0.0  # the largest scheduling delay while it ran, of timed parts
    load: float = 0.0
    cpu: float = 0.0  # seconds of processors, of its commands and what they started


# ---- Commands and environments


def folder_of(package: str) -> str:
    """The folder of a package in Go, from the path with which it is imported."""
    return package.partition("/paddle-mps/")[2].removeprefix("paddle-mps/")


def go_packages(spec: Mapping[str, Any], now: Settings) -> tuple[list[str], str]:
    """The Go packages of a row of [packages], and the line that says how many have their turn at another commit."""
    if not now.long and "short" in spec:
        left = len(output("go", "list", *shlex.split(spec["omits"])).splitlines())
        return shlex.split(spec["short"]), f"left out {left}: packages that run here with test long only"
    listed = output("go", "list", *shlex.split(spec["list"])).splitlines()
    every = [p for p in listed if "without" not in spec or not re.search(spec["without"], p)]
    if now.long or "turns" not in spec:
        return every, ""
    turns = spec["turns"]
    mine = turns if now.turn == "" else [turns[int(now.turn) % len(turns)]]
    mine = [*mine, spec.get("always", "")]
    known = [*turns, spec.get("always", "")]

    def takes(folder: str, shares: Sequence[str]) -> bool:
        return any(re.fullmatch(share, folder) for share in shares)

    folders = {p: folder_of(p) for p in every}
    taken = [p for p, f in folders.items() if takes(f, mine) or (f in now.folders and takes(f, known))]
    reason = "packages that have their turn at another commit, or run here with test long"
    return taken, f"left out {len(every) - len(taken)}: {reason}"


def pytest_words(part: Part, name: str) -> list[str]:
    """pytest with a report to count, and a cache of the part's own, which says what failed last."""
    cache = PARTS / f"{part.name}.cache"
    return ["-m", "pytest", "--quiet", f"--junitxml={PARTS / name}.xml", "-o", f"cache_dir={cache}"]


def expand(part: Part, text: str, name: str, table: Table, now: Settings) -> tuple[list[str], str]:
    """The words of a command, and the line about what it leaves out."""
    words: list[str] = []
    left_out = ""
    for word in shlex.split(text):
        if word == "{pytest}":
            words += pytest_words(part, name)
        elif word == "{report}":
            words.append(str(PARTS / f"{name}.xml"))
        elif found := re.fullmatch(r"\{packages:([\w-]+)\}", word):
            packages, left_out = go_packages(table.packages[found[1]], now)
            words += packages
        else:
            words.append(filled(word, now))
    return [*words, *(now.arguments if part.arguments == "append" else ())], left_out


def filled(word: str, now: Settings) -> str:
    for placeholder, value in {**now.values, "{seed}": now.seed}.items():
        word = word.replace(placeholder, value)
    return re.sub(r"\{seconds:(\d)\}", lambda found: str(now.random_seconds(int(found[1]))), word)


@functools.cache
def go_flags() -> str:
    """GOFLAGS of all parts: what the library and the tool are built from is then compiled once for them and for tests, linters and
    other programs in Go."""
    flags = output("go", "env", "GOFLAGS").split()
    return " ".join(dict.fromkeys([*flags, "-trimpath"]))


def environment(part: Part, now: Settings) -> dict[str, str]:
    """The environment of a part: that of the caller, caches, the turn if it takes turns, then what its row says."""
    env = dict(os.environ)
    env.setdefault("FAKEMETAL_CACHE", str(cache_folder("shaders", "build/shadercache")))
    env.setdefault("PADDLE_MPS_ORACLES", str(cache_folder("oracles", "build/oracles")))
    env.setdefault("GOTOOLCHAIN", "auto")
    env["GOFLAGS"] = go_flags()
    if now.long:
        env.pop("PADDLE_MPS_SAMPLE", None)
    elif part.turns:
        env["PADDLE_MPS_SAMPLE"] = turn_of(part, now)
    env["PADDLE_MPS_TIMED"] = "only" if part.timed else "0"
    env.pop("PADDLE_MPS_TOUCHED", None)
    if part.turns and now.turn:
        env["PADDLE_MPS_TOUCHED"] = " ".join(now.touched)
    for setting in part.env:
        name, _, value = setting.partition("=")
        # expandvars: a row may put a folder before PATH
        env[name] = os.path.expandvars(filled(value, now))
    return env


# ---- Processes

RUNNING: set[subprocess.Popen[bytes]] = set()
LOCK = threading.Lock()
STOPPED = threading.Event()


def stop_all() -> None:
    """Ends the process groups of all parts that run."""
    STOPPED.set()
    with LOCK:
        for process in RUNNING:
            end(process, signal.SIGTERM)
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any(process.poll() is None for process in list(RUNNING)):
        time.sleep(0.1)
    for process in list(RUNNING):
        end(process, signal.SIGKILL)


def end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)


def wait(process: subprocess.Popen[bytes], limit: float | None) -> float:
    """Waits for a process as process.wait does. Returns the seconds of processors that it took, with those of the children that it
    has waited for."""
    deadline = None if limit is None else time.monotonic() + limit
    while process.returncode is None:
        try:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
        except ChildProcessError:  # another thread has waited for it
            process.poll()
            break
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return used.ru_utime + used.ru_stime
        if deadline is not None and time.monotonic() > deadline:
            raise subprocess.TimeoutExpired(process.args, limit or 0)
        time.sleep(0.02)
    return 0.0


def run(words: Sequence[str], folder: str, env: Mapping[str, str], log: Any, limit: int | None) -> tuple[int, float]:
    """The status of a command: that of the process, negative if a signal has ended it, also for its limit of time; and the seconds of
    processors that it took."""
    try:
        process = subprocess.Popen(
            words, cwd=ROOT / folder, env=dict(env), stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )  # fmt: skip
    except OSError as wrong:
        log.write(f"{wrong}\n".encode())
        return 127, 0.0
    with LOCK:
        RUNNING.add(process)
    try:
        used = wait(process, limit)
        return process.returncode, used
    except subprocess.TimeoutExpired:
        end(process, signal.SIGQUIT)  # Go and faulthandler say where they are
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(10)
        end(process, signal.SIGKILL)
        process.wait()
        log.seek(0, os.SEEK_END)
        log.write(f"\nended after its limit of {limit} s\n".encode())
        return -int(signal.SIGKILL), 0.0
    finally:
        with LOCK:
            RUNNING.discard(process)


class Canary:
    """Measures the largest delay with which a sleeping thread wakes while timed tests run."""

    def __init__(self) -> None:
        self.largest = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._measure, daemon=True)

    def _measure(self) -> None:
        while not self._ended.is_set():
            start = time.monotonic()
            time.sleep(0.005)
            self.largest = max(self.largest, time.monotonic() - start - 0.005)

    def __enter__(self) -> Canary:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


# ---- Parts


def execute(part: Part, table: Table, now: Settings, name: str = "", commands: Iterable[Sequence[str]] | None = None) -> Result:  # fmt: skip
    """Runs a part, or other commands in its place under another name of its log."""
    name = name or part.name
    PARTS.mkdir(parents=True, exist_ok=True)
    for suffix in (".xml", ".log"):
        (PARTS / f"{name}{suffix}").unlink(missing_ok=True)
    since, status, env, ran, cpu = time.monotonic(), 0, environment(part, now), [], 0.0
    limit = None if now.long else part.limit
    with (PARTS / f"{name}.log").open("ab") as log, Canary() as canary:
        for command in part.commands if commands is None else commands:
            words, left_out = (
                expand(part, command, name, table, now) if isinstance(command, str) else (list(command), "")
            )
            if left_out:
                log.write(f"{left_out}\n".encode())
                log.flush()
            ended, used = run(words, part.folder, env, log, limit)
            status, cpu = status or ended, cpu + used
            ran.append(tuple(words))
            if STOPPED.is_set():
                raise KeyboardInterrupt
    counts = count.read(PARTS, name, part.format, status)
    if status < 0:
        log_text = (PARTS / f"{name}.log").read_text(errors="replace")
        counts.failures[f"{part.name} was ended by signal {-status}"] = count.tail(log_text)
    took = round(time.monotonic() - since)
    delay = canary.largest if part.timed else 0.0
    return Result(part, counts, status, took, tuple(ran), delay=delay, load=os.getloadavg()[0], cpu=cpu)


def not_prepared(part: Part, need: str, log: pathlib.Path) -> Result:
    """A part whose program or library is missing has failed."""
    said = count.tail(log.read_text(errors="replace")) if log.exists() else ""
    return Result(
        replace(part, retry=False),
        count.Counts(failures={f"{part.name} did not run: ./build.sh prepare {need} failed": said}),
        1,
        0,
    )


def kept(result: Result) -> None:
    """Prints and keeps the counts of a part."""
    count.report(PARTS, result.part.name, result.counts, result.seconds)
