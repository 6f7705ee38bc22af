"""Runs one section on one device in a process of its own: python -m paddle_mps.selftest.worker

What the section tells goes to the standard output that the process began with; what libraries print there
goes to standard error instead.
"""

from __future__ import annotations

import os
import sys
from typing import Callable

from . import accuracy, bringup, census, conformance, environment, leaks, probes, speed
from .recorder import Recorder

Section = Callable[[Recorder, str, bool], None]

SECTIONS: dict[str, Section] = {
    "environment": environment.run,
    "census": census.run,
    "bring-up": bringup.run,
    "conformance": conformance.run,
    "accuracy": accuracy.run,
    "probes": probes.run,
    "leaks": leaks.run,
    "speed": speed.run,
}


def main(section: str, place: str, budget: str, after: str, first: str) -> None:
    """Runs the checks of a section after the first so many. A budget of 0 seconds is none, any other makes it
    the quick form; first is "first" for a run that ends with the first failure."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    seconds = float(budget)
    record = Recorder(out, seconds or None, int(after), first == "first")
    SECTIONS[section](record, place, seconds > 0)
    if place != "cpu":
        record.number("refusals", bringup.refusals(place))


if __name__ == "__main__":
    main(*sys.argv[1:])
