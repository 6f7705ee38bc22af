"""Runs what failed twice more, alone: a test that fails three times has failed, one that then passes is flaky.

Not forgiven are parts with `retry = false` (refusals, fuzzers, linters: what they find once is a fault), parts that a signal has
ended, failures whose output tells of a crash, a data race or a hang, and more than MANY failures of one part.

A timed part (its tests assert durations, order of threads, memory of the process or numbers of threads) that fails while the
machine delayed a sleeping thread by more than 20 ms is repeated once. If it fails again under such a delay it is inconclusive:
counted as skipped, by name. `test long` takes that for a failure.
"""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Callable, Sequence

from .execute import DELAY, Result, execute, expand
from .table import Settings, Table, output

MANY = 20
SERIOUS = re.compile(
    r"DATA RACE|^panic: |^fatal error: |SIGSEGV|SIGABRT|SIGBUS|Segmentation fault|core dumped|AddressSanitizer|\bdied\b"
    r"|ended with -\d+|ended by signal|ended after its limit|returncode=-\d+",
    re.MULTILINE,
)
Command = Sequence[str]


def forgivable(result: Result) -> bool:
    """Whether the failures of a part may be those of flaky tests."""
    failures = result.counts.failures
    if not failures or not result.part.retry or result.status < 0 or len(failures) > MANY:
        return False
    if "{pytest}" in " ".join(result.part.commands) and result.status != 1:
        return False  # not tests that failed, but pytest itself
    return not any(SERIOUS.search(f"{name}\n{said}") for name, said in failures.items())


def once_more(result: Result, failing: Sequence[str], name: str, table: Table, now: Settings) -> list[Command]:
    """The commands that run the failed tests of a part again, or the whole part where its tests cannot be chosen. An empty list
    if a failure is none of a test, as that of a package in Go that does not build."""
    part = result.part
    if part.format == "junit":
        words, _ = expand(part, part.commands[0], name, table, now)
        return [[*words, "--last-failed", "--last-failed-no-failures=none"]]
    if part.format == "go":
        return go_commands(result, failing)
    return [expand(part, command, name, table, now)[0] for command in part.commands]


def go_commands(result: Result, failing: Sequence[str]) -> list[Command]:
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for failure in failing:
        package, _, test = failure.partition(" ")
        if not test:
            return []
        tests[package].add(test.partition("/")[0])
    commands: list[Command] = []
    for package, names in tests.items():
        pattern = f"^({'|'.join(sorted(names))})$"
        if result.part.again:
            template = result.part.again.replace("{package}", package).replace("{run}", shlex.quote(pattern))
            commands.append(shlex.split(template))
            continue
        command = go_command(result, package)
        if not command:
            return []
        flags = [word for word in command[2:] if word.startswith("-") and not word.startswith("-run=")]
        commands.append(["go", "test", *flags, "-count=1", f"-run={pattern}", package])
    return commands


def go_command(result: Result, package: str) -> Command | None:
    """The command of a part that has tested a package."""
    tests = [words for words in result.commands if list(words[:2]) == ["go", "test"]]
    for words in tests:
        patterns = [word for word in words[2:] if not word.startswith("-")]
        if len(tests) == 1 or package in patterns or package in output("go", "list", *patterns).splitlines():
            return words
    return None


def leaf(name: str, names: Sequence[str]) -> bool:
    """Whether no other name is a subtest of this one: only leaves count as passed."""
    return not any(other.startswith(f"{name}/") for other in names)


def settle(result: Result, table: Table, now: Settings, run: Callable[..., Result] = execute) -> dict[str, str]:
    """Runs the failures of a part again and moves what has passed from its failures. Returns what the flaky tests had printed."""
    if not forgivable(result):
        return {}
    part, counts = result.part, result.counts
    first = dict(counts.failures)
    failing = list(first)
    noisy = part.timed and result.delay > DELAY
    attempts = [*([True] if noisy else []), False, False]  # a first one to repeat what says nothing
    flaky: dict[str, str] = {}
    for number, repeats in enumerate(attempts, 1):
        name = f"{part.name}-again{number}"
        commands = once_more(result, failing, name, table, now)
        if not commands:
            break
        attempt = run(part, table, now, name, commands)
        clean = attempt.status == 0 and not attempt.counts.failures and attempt.counts.passed > 0
        whole = part.format not in ("go", "junit")
        passed = [f for f in failing if f in attempt.counts.names or (clean and whole)]
        for failure in passed:
            counts.passed += leaf(failure, list(first))
            del counts.failures[failure]
            if not repeats:
                flaky[failure] = first[failure]
        failing = [f for f in failing if f not in passed]
        if not failing:
            break
        if repeats and attempt.delay > DELAY:
            inconclusive(result, failing, attempt.delay, now)
            break
    result.flaky += flaky
    return flaky


def inconclusive(result: Result, failing: Sequence[str], delay: float, now: Settings) -> None:
    """Timed tests that failed twice while the machine was busy say nothing; `test long` takes them for failures."""
    result.inconclusive += failing
    if now.long:
        return
    for failure in failing:
        del result.counts.failures[failure]
        result.counts.skips[f"inconclusive: {failure} failed while threads woke {1000 * delay:.0f} ms late"] += leaf(
            failure, failing
        )
