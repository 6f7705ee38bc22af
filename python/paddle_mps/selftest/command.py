"""The command line of the self-test."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from . import child, plan, report
from .plan import SECTIONS, Target
from .progress import Bar
from .recorder import Outcome

# Seconds that a section may take on a device with --quick, and that all of them may take together: on a busy
# machine, on which starting takes its time too, each gets its share of what is left. Bring-up always gets all of its own:
# its steps are what a first run is for.
TOGETHER = 45.0
BUDGETS = {
    "census": 5.0,
    "bring-up": 30.0,
    "conformance": 4.0,
    "accuracy": 2.0,
    "probes": 7.0,
    "leaks": 4.0,
    "speed": 3.0,
}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="paddle-mps selftest",
        description="Checks every device of this machine and prints a report in Markdown, to paste into an issue.",
        epilog="The exit status is 0 if every check passed, else 1.",
    )
    parser.add_argument("--quick", action="store_true", help="only the most important checks: less than a minute")
    parser.add_argument("--section", choices=SECTIONS, action="append", help="only this one; may be repeated")
    parser.add_argument("--place", choices=("cpu", "mps"), help="only devices of this place")
    parser.add_argument(
        "--budget", type=float, metavar="SECONDS", help="time for one section on one device, with --quick"
    )
    parser.add_argument("--first", action="store_true", help="end a section at its first failure")
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="where to write the report; default: standard output"
    )
    options = parser.parse_args(arguments)
    if options.output:  # a path that cannot be written must not become known after minutes
        try:
            options.output.open("a").close()
        except OSError as error:
            parser.error(f"the report cannot be written: {error}")
    return options


def main(arguments: list[str]) -> int:
    """Runs what the arguments ask for, prints the report and answers the exit status."""
    options = parse(arguments)
    started = time.monotonic()
    bar = Bar()
    outcomes = run(options, bar)
    bar.show("done", 1.0, "")
    bar.say("")
    text = report.write(outcomes, options.quick, time.monotonic() - started)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
        print(report.verdict(outcomes, options.quick, time.monotonic() - started))
    else:
        print(text)
    return 1 if any(o.failed for o in outcomes) else 0


def run(options: argparse.Namespace, bar: Bar) -> list[Outcome]:
    """All outcomes, that of the environment first."""
    anywhere = Target("this machine", "cpu", "host", plan.base())
    outcomes = [child.run("environment", anywhere, 0, False, lambda *_: None)]
    backends = outcomes[0].numbers.get("backends")
    if not backends:
        return outcomes
    steps = [
        (section, target)
        for target in plan.targets(backends)
        for section in options.section or SECTIONS
        if plan.wanted(section, target) and options.place in (None, target.place)
    ]
    end = time.monotonic() + TOGETHER
    for i, (section, target) in enumerate(steps):
        title = f"{section} on {target.name}"

        def listen(doing: str, done: int, of: int, title: str = title, i: int = i) -> None:
            bar.show(title, (i + done / max(of, 1)) / len(steps), doing)

        budget = (options.budget or share(steps[i:], end - time.monotonic())) if options.quick else 0
        outcome = child.run(section, target, budget, options.first, listen)
        outcomes.append(outcome)
        for name, why in outcome.failed[:3]:
            bar.say(f"FAIL {title}: {name}: {why.splitlines()[0]}")
    return outcomes


def share(steps: list[tuple[str, Target]], left: float) -> float:
    """The seconds for the first of the steps that remain, where so many are left for all."""
    own, together = BUDGETS[steps[0][0]], sum(BUDGETS[section] for section, _ in steps)
    if steps[0][0] == "bring-up":
        return own
    return max(min(own, left * own / together), 0.1)
