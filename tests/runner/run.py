"""The order of a run: parts in two lanes beside each other, parts that run alone, timed parts, what failed once more, the summary."""

from __future__ import annotations

import collections
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import count

from . import again, ledger, store
from . import touched as changes
from .execute import PARTS, Result, execute, kept, not_prepared
from .table import LANES, ROOT, Part, Settings, Table, applies

RED, PLAIN = "\033[31m", "\033[0m"
PRINTING = threading.Lock()


def red(text: str) -> str:
    """Red on a terminal and in the log of CI, which shows colours."""
    return f"{RED}{text}{PLAIN}" if sys.stdout.isatty() or os.environ.get("CI") else text


def log_of(need: str) -> pathlib.Path:
    """The log of what a part needs."""
    return PARTS / f"prepare-{re.sub('[^a-z0-9]+', '-', need)}.log"


def shown(result: Result) -> Iterator[str]:
    """The lines of a part's output that its row shows."""
    log = PARTS / f"{result.part.name}.log"
    if result.part.show and log.exists():
        yield from (line for line in log.read_text(errors="replace").splitlines() if re.search(result.part.show, line))


@dataclass
class Group:
    """Parts of one suite that run, and whether what they need was built and installed."""

    parts: Sequence[Part]
    prepared: threading.Event = field(default_factory=threading.Event)


def beside(run: Callable[[Part], None], *lanes: Sequence[Part], waits: Sequence[Part] = ()) -> None:
    """Runs the parts of each lane one after the other, and the lanes beside each other. A lane that has ended takes from the others;
    that of parts which mostly wait takes from none, and none from it."""
    left = [collections.deque(lane) for lane in lanes]
    waiting = collections.deque(waits)
    taking = threading.Lock()
    wrong: list[BaseException] = []

    def take(lane: int) -> Part | None:
        with taking:
            for parts in [left[lane], *left] if lane < len(left) else [waiting]:
                if parts:
                    return parts.popleft()
        return None

    def work(lane: int) -> None:
        try:
            while not wrong and (part := take(lane)):
                run(part)
        except BaseException as error:  # raised again below, in the main thread
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(lane,), daemon=True) for lane in range(len(lanes) + 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        while thread.is_alive():  # join without a limit hears no Ctrl-C
            thread.join(0.5)
    if wrong:
        raise wrong[0]


@dataclass
class Run:
    """One run of some parts."""

    table: Table
    now: Settings
    known: store.Store | None = None
    results: list[Result] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    found_flaky: list[str] = field(default_factory=list)
    execute: Callable[..., Result] = execute
    prepared: dict[str, bool] = field(default_factory=dict)
    touched: dict[str, changes.Touched] = field(default_factory=dict)

    # ---- One part

    def touched_by(self, part: Part) -> changes.Touched:
        """What runs whatever its turn."""
        if part.name not in self.touched:
            self.touched[part.name] = changes.touched(part, self.now, self.table.touched, self.known)
        return self.touched[part.name]

    def settings_of(self, part: Part) -> Settings:
        """The settings of a run, and what it has to run of this part whatever its turn."""
        found = self.touched_by(part)
        return replace(self.now, touched=found.names, folders=found.folders)

    def stored(self, part: Part) -> Result | None:
        """The result of a part that need not be repeated."""
        if self.known is None or not part.store or self.now.long:
            return None
        self.keys[part.name] = store.key(part, self.now)
        known = self.known.find(part, self.keys[part.name], self.touched_by(part).words)
        if known is None:
            return None
        passed, _, skipped = known["row"]
        reason = f"passed at {known['revision']} with the same inputs, tools and command: not repeated"
        return Result(
            part, count.Counts(skips=collections.Counter({reason: passed + skipped})), 0, 0, stored=known["revision"]
        )

    def one(self, part: Part) -> None:
        """Runs a part, unless something is missing that it needs."""
        missing = next((need for need in part.needs if not self.prepared.get(need)), None)
        result = (
            not_prepared(part, missing, log_of(missing))
            if missing
            else self.execute(part, self.table, self.settings_of(part))
        )
        with PRINTING:
            self.results.append(result)
            self.show(result)

    def show(self, result: Result) -> None:
        """Prints what a part did. What failed and may be flaky is printed when it has run again."""
        print(f"\n== {result.part.name}")
        for line in shown(result):
            print(line)
        kept(result)
        if again.forgivable(result):
            print("what failed runs again at the end")
        sys.stdout.flush()

    # ---- What parts need

    def prepare(self, group: Group) -> None:
        """Builds and installs what the parts of a group need, in the order of the parts, and runs those of the lane `first`."""
        for need in dict.fromkeys(need for part in group.parts for need in part.needs):
            self.have(need)
        for part in group.parts:
            if part.lane == "first":
                self.one(part)
        group.prepared.set()

    def have(self, need: str) -> None:
        if need not in self.prepared:
            with PRINTING:
                print(f"\n== prepare {need}", flush=True)
            with log_of(need).open("wb") as log:
                done = subprocess.run(
                    ["sh", "build.sh", "prepare", *need.split()], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT
                )
            self.prepared[need] = done.returncode == 0
            if done.returncode:
                with PRINTING:
                    sys.stdout.write(log_of(need).read_text(errors="replace"))

    # ---- Many parts

    def suites(self, suites: Sequence[Sequence[Part]]) -> None:
        """Runs the parts of suites as one: two lanes beside each other, those that run alone, timed ones.

        What a suite needs is built and installed while parts of suites before it run, and before any of its own.
        """
        groups = self.groups(suites)
        for line in self.said_of_changes([part for group in groups for part in group.parts]):
            print(line, flush=True)
        by_name = {part.name: group for group in groups for part in group.parts}

        def run(part: Part) -> None:
            by_name[part.name].prepared.wait()
            self.one(part)

        def prepare() -> None:
            try:
                for group in groups:
                    self.prepare(group)
            finally:
                for group in groups:
                    group.prepared.set()

        threading.Thread(target=prepare, daemon=True).start()
        lanes = {lane: [part for group in groups for part in group.parts if part.lane == lane] for lane in LANES}
        beside(run, lanes["cpu"], lanes["mock"], waits=lanes["waits"])
        for part in [*lanes["alone"], *lanes["timed"]]:
            run(part)
        for group in groups:  # of which all parts may be in the lane `first`
            group.prepared.wait()

    def planned(self, suites: Sequence[Sequence[Part]]) -> list[list[tuple[Part, Result | None]]]:
        """The parts of each suite that apply, and not with a suite before it, each with its result if it need not run."""
        plan, named = [], set()
        for parts in suites:
            mine = [part for part in parts if applies(part, self.now) and part.name not in named]
            named |= {part.name for part in mine}
            found = {part.name: self.stored(part) for part in mine}
            for part in mine:
                if part.feeds in found and found[part.feeds] is None:
                    found[part.name] = None
            plan.append([(part, found[part.name]) for part in mine])
        return plan

    def groups(self, suites: Sequence[Sequence[Part]]) -> list[Group]:
        """The parts of each suite that run; shows the results of those that need not."""
        groups = []
        for plan in self.planned(suites):
            for _, result in plan:
                if result:
                    self.results.append(result)
                    self.show(result)
            groups.append(Group([part for part, result in plan if result is None]))
        return groups

    def said_of_changes(self, parts: Sequence[Part]) -> Iterator[str]:
        """What the change touches, once for all parts that have the same base."""
        said: dict[tuple[str, ...], list[str]] = {}
        for part in parts:
            if part.turns and (lines := tuple(self.touched_by(part).lines())):
                said.setdefault(lines, []).append(part.name)
        for lines, names in said.items():
            yield f"\n== {len(names)} parts with turns: {', '.join(names[:4])}{' ...' if len(names) > 4 else ''}"
            yield from lines

    def settle(self) -> None:
        """Runs again, alone, what failed in all parts, and keeps which parts have passed whole."""
        for result in self.results:
            if not again.forgivable(result):
                continue
            print(f"\n== {result.part.name}, again: {', '.join(result.counts.failures)}", flush=True)
            flaky = again.settle(result, self.table, self.settings_of(result.part), self.execute)
            lines = [
                ledger.row(result, test, said, self.now)
                for test, said in flaky.items()
                if again.leaf(test, list(flaky))
            ]
            for line in lines:
                print(red(f"FLAKY {line}"))
            ledger.add(lines)
            self.found_flaky += lines
            for name in result.inconclusive:
                print(f"inconclusive {name}: it failed while threads woke late")
            kept(result)
        if self.known:
            self.remember(self.known)

    def remember(self, known: store.Store) -> None:
        """Keeps the parts that have passed, under the keys of before and after the run, which may have installed tools."""
        changed = store.changed()
        for result in self.results:
            if result.part.name in self.keys and not set(store.chosen(result.part.inputs, list(changed))):
                for key in {self.keys[result.part.name], store.key(result.part, self.now)}:
                    known.add(result, key, self.touched_by(result.part).words)
        if not changed:
            for result in self.results:
                known.set_base(result)

    def summary(self, since: float) -> int:
        """Prints a row a part, what failed once more, flaky tests, and the sum alone on the last line. 1 if something has failed."""
        print(f"\n{'part':<26}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}{'cpu':>7}")
        for result in self.results:
            numbers = [*result.counts.row(), result.seconds, round(result.cpu)]
            note = f"  passed at {result.stored}" if result.stored else ""
            print(f"{result.part.name:<26}" + "".join(f"{n:>{w}}" for n, w in zip(numbers, (8, 8, 9, 9, 7))) + note)
        for result in self.results:
            if result.counts.failures:
                print(f"\n== what failed in {result.part.name}")
                for name, said in result.counts.failures.items():
                    print(f"FAIL {name}\n{said}")
        for result in self.results:
            for name in result.inconclusive:
                print(f"inconclusive {result.part.name}: {name}")
        if self.found_flaky:
            print(
                red(
                    f"\nFLAKY, {len(self.found_flaky)}: failed, then passed alone. Commit these lines to tests/flaky.tsv, or mend the tests:"
                )
            )
            for line in self.found_flaky:
                print(red(line))
        passed, failed, skipped = (sum(result.counts.row()[i] for result in self.results) for i in range(3))
        print(
            f"\nin {time.monotonic() - since:.0f} s, {sum(bool(r.stored) for r in self.results)} of {len(self.results)} parts not repeated"
        )
        print(f"{passed} passed, {failed} failed, {skipped} skipped", flush=True)
        return int(failed > 0 or not self.results)
