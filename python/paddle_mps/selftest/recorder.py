"""What a section tells while it runs, one JSON object a line, and how the reader puts that together."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import Any, Callable, TextIO


@dataclasses.dataclass
class Outcome:
    """What a section found on one device.

    Attributes:
        section, target: which.
        passed: checks that held.
        failed: name and reason of those that did not.
        skipped: how many checks were not made, by reason.
        numbers: what was measured, by name; what the names mean is the section's and the report's.
        seconds: how long it took.
    """

    section: str
    target: str
    passed: int = 0
    failed: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    skipped: dict[str, int] = dataclasses.field(default_factory=dict)
    numbers: dict[str, Any] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0

    def add(self, event: dict[str, Any]) -> None:
        """Adds an event, one line of a Recorder."""
        kind = event["event"]
        if kind == "passed":
            self.passed += event["count"]
        elif kind == "failed":
            self.failed.append((event["name"], event["why"]))
        elif kind == "skipped":
            self.skipped[event["why"]] = self.skipped.get(event["why"], 0) + event["count"]
        elif kind == "number":
            name, value = event["name"], event["value"]
            if isinstance(value, dict):  # a part of a table
                value = {**self.numbers.get(name, {}), **value}
            self.numbers[name] = value


class Recorder:
    """Tells a reader what is being tried and how it ended.

    Args:
        out: where lines go.
        budget: seconds after which `check` skips; None: never.
        after: checks that another process has made; they are not made again.
        first: skip what comes after the first failure.
    """

    LATE = "there was no time left"
    STOPPED = "an earlier check failed"

    def __init__(self, out: TextIO, budget: float | None = None, after: int = 0, first: bool = False) -> None:
        self._out = out
        self._end = None if budget is None else time.monotonic() + budget
        self._after, self._first, self._stopped = after, first, False
        self._done, self._of = 0, 0

    def _say(self, event: str, **fields: Any) -> None:
        print(json.dumps({"event": event, **fields}), file=self._out, flush=True)

    @property
    def late(self) -> bool:
        """Whether the budget is spent."""
        return self._end is not None and time.monotonic() > self._end

    def expect(self, checks: int) -> None:
        """Announces how many checks follow."""
        self._of += checks

    def doing(self, name: str, limit: float = 0) -> None:
        """Names what is tried next, so that a crash can be blamed on it, and the seconds after which this process is
        taken for dead; 0: the reader decides."""
        self._say("doing", name=name, done=self._done, of=self._of, limit=limit)

    def passed(self, count: int = 1) -> None:
        self._done += 1
        self._say("passed", count=count)

    def failed(self, name: str, why: str) -> None:
        self._done += 1
        self._stopped = self._first
        self._say("failed", name=name, why=why)

    def skipped(self, why: str, count: int = 1) -> None:
        self._done += count
        self._say("skipped", why=why, count=count)

    def number(self, name: str, value: Any) -> None:
        """Hands over a measurement, or anything else that JSON can hold; a dict adds to one of that name."""
        self._say("number", name=name, value=value)

    def check(self, name: str, work: Callable[[], int | None], limit: float = 0) -> None:
        """Runs one check: what it returns is how many there were in it, what it raises why it failed. For the limit
        see `doing`."""
        if self._done < self._after:
            self._done += 1
            return
        if self._stopped or self.late:
            self.skipped(self.STOPPED if self._stopped else self.LATE)
            return
        self.doing(name, limit)
        try:
            count = work()
        except Skip as reason:
            self.skipped(str(reason))
        except Exception as error:
            text = str(error).strip() or "it fails without a word"
            self.failed(name, text if isinstance(error, AssertionError) else f"{type(error).__name__}: {text}")
        else:
            self.passed(1 if count is None else count)


class Skip(Exception):
    """A check that says nothing here, and why."""
