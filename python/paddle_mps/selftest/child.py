"""Runs a section in a process of its own and listens to it."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from typing import IO, Callable

from .plan import Target
from .recorder import Outcome

PATIENCE = 300.0  # seconds without a word after which a process is taken for dead
TAIL = 12  # lines of standard error that a crash is reported with

# What a section is doing: its name, how many checks are done, and of how many.
Listener = Callable[[str, int, int], None]


def run(section: str, target: Target, budget: float, listen: Listener) -> Outcome:
    """Runs a section on a target and reports how it went, also where the process did not survive it."""
    outcome = Outcome(section, target.name)
    started = time.monotonic()
    with tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace") as complaints:
        command = [sys.executable, "-m", __package__ + ".worker", section, target.place, str(budget)]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=complaints, text=True, env={**os.environ, **target.env}
        )
        doing = follow(process, outcome, listen)
        complaints.seek(0)
        said = complaints.read()
    if process.returncode != 0:
        outcome.failed.append((doing, f"{ending(process.returncode)}\n{tail(said)}".rstrip()))
    outcome.numbers["fallback"] = sorted({line.split("]")[0][1:] for line in said.splitlines() if "runs on the CPU" in line and "[" in line})
    outcome.seconds = time.monotonic() - started
    return outcome


def follow(process: subprocess.Popen[str], outcome: Outcome, listen: Listener) -> str:
    """Hears a process until it ends, or ends it when it falls silent; the name of what it did last."""
    lines: queue.Queue[str | None] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=pump, args=(process.stdout, lines), daemon=True).start()
    doing = "the start"
    try:
        while (line := lines.get(timeout=PATIENCE)) is not None:
            event = json.loads(line)
            outcome.hear(event)
            if event["event"] == "doing":
                doing = event["name"]
                listen(doing, event["done"], event["of"])
    except queue.Empty:
        process.kill()
        doing = f"{doing}, silent for {PATIENCE:.0f} s"
    except BaseException:
        process.kill()
        raise
    finally:
        process.wait()
    return doing


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
