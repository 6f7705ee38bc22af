"""Runs a section in a process of its own and listens to it."""

from __future__ import annotations

import dataclasses
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Callable

from .plan import Target
from .recorder import Outcome

PATIENCE = 300.0  # seconds without a word after which a process is taken for dead, unless a check says otherwise
CRASHES = 10  # processes that a section may lose before it is given up
TAIL = 12  # lines of standard error that a crash is reported with

# What a section is doing: its name, how many checks are done, and of how many.
Listener = Callable[[str, int, int], None]


@dataclasses.dataclass
class Last:
    """What a process did last: its name, how many checks were done before, and for how long it may be silent."""

    name: str = "the start"
    done: int = -1
    limit: float = 0.0
    silent: float = 0.0  # the seconds of silence for which it was killed


def run(section: str, target: Target, budget: float, first: bool, listen: Listener) -> Outcome:
    """Runs a section on a target. A check that ends the process has failed, and another process goes on behind
    it."""
    outcome, started, said, after = Outcome(section, target.name), time.monotonic(), "", 0
    for _ in range(CRASHES):
        left = budget - (time.monotonic() - started) if budget else 0.0
        status, last, text = once(section, target, max(left, 0.1) if budget else 0.0, first, after, outcome, listen)
        said += text
        if status == 0:
            break
        why = f"no answer for {last.silent:.0f} s" if last.silent else ending(status)
        outcome.failed.append((last.name, f"{why}\n{tail(text)}".rstrip()))
        if first or last.done < 0:
            break
        after = last.done + 1
    outcome.numbers["fallback"] = left_to_cpu(said)
    outcome.numbers["refused"] = refused(said)
    outcome.seconds = time.monotonic() - started
    return outcome


def once(
    section: str, target: Target, budget: float, first: bool, after: int, outcome: Outcome, listen: Listener
) -> tuple[int, Last, str]:
    """Runs the checks of a section after the first so many: the exit status, what was done last, and what the
    process complained of."""
    with tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace") as complaints:
        command = [sys.executable, "-m", __package__ + ".worker", section, target.place, str(budget), str(after)]
        process = subprocess.Popen(
            [*command, "first" if first else "all"], stdout=subprocess.PIPE, stderr=complaints, text=True,
            env={**os.environ, **target.env},
        )  # fmt: skip
        last = follow(process, outcome, listen)
        complaints.seek(0)
        return process.returncode, last, complaints.read()


def follow(process: subprocess.Popen[str], outcome: Outcome, listen: Listener) -> Last:
    """Reads the events of a process until it ends, or kills it after too many seconds without one."""
    lines: queue.Queue[str | None] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=pump, args=(process.stdout, lines), daemon=True).start()
    last = Last()
    try:
        while (line := lines.get(timeout=last.limit or PATIENCE)) is not None:
            event = json.loads(line)
            outcome.add(event)
            if event["event"] == "doing":
                last = Last(event["name"], event["done"], event["limit"])
                listen(last.name, last.done, event["of"])
    except queue.Empty:
        last.silent = last.limit or PATIENCE
        process.kill()
    except BaseException:
        process.kill()
        raise
    finally:
        process.wait()
    return last


def left_to_cpu(text: str) -> list[str]:
    """The operators of which the library says that they run on the CPU."""
    return sorted(set(re.findall(r"\[(\w+)\] .*runs on the CPU", text)))


def refused(text: str) -> list[str]:
    """The warnings of the library about what Apple's compilers refuse, with their words."""
    return sorted(set(re.findall(r"(\[\w+\] \w+: (?:Metal|MPSGraph) refuses its .*)", text)))


def pump(out: IO[str], lines: queue.Queue[str | None]) -> None:
    for line in out:
        lines.put(line)
    lines.put(None)


def ending(code: int) -> str:
    """An exit status in words."""
    if code >= 0:
        return f"the process ended with status {code}"
    try:
        return f"the process was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"the process was ended by signal {-code}"


def tail(text: str) -> str:
    """The last lines of what a process complained of, without the goroutines of a Go crash."""
    lines = [line for line in text.splitlines() if line.strip()]
    for i, line in enumerate(lines):
        if line.startswith(("fatal error:", "SIGABRT:", "panic:")):
            lines = lines[: i + 1]
            break
    return "\n".join(lines[-TAIL:])
