"""The command line of tests/parts.py."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import NoReturn

from . import ledger, store, table
from .execute import PARTS, environment, filled, stop_all
from .run import Run
from .table import ROOT, Part, Table

USAGE = """usage: python tests/parts.py COMMAND, which build.sh calls

  test [long | op NAME | SUITE [ARGUMENT...] | PART...]
  check [PART...]
  ci                     the suites of CI, with one summary
  bench NAME [ARGUMENT...]
  plan [--changed GLOB...] [SUITE | PART...]
                         which parts of CI, or of these, would run now, and which cases whatever their turn; with --changed, which
                         parts a change of these files alone would repeat
  list                   all parts with suites, lane and usual seconds
  ledger [--strict]      check tests/flaky.tsv
"""
CI = ("check", "test", "peers", "darwin", "onnx", "serve", "tritonserver", "triton")


def mistake(what: str) -> NoReturn:
    """Ends with the usage of build.sh and, last, what is wrong with the command line."""
    sys.stderr.write(subprocess.run(["sh", "build.sh", "help"], cwd=ROOT, capture_output=True, text=True).stdout)
    sys.stderr.write(f"\nbuild.sh: {what}\n")
    sys.exit(2)


# ---- Suites and parts


def of_suite(rows: Table, *names: str) -> list[Part]:
    return [part for part in rows.parts if set(names) & set(part.suites)]


def run(rows: Table, suites: Sequence[Sequence[Part]], known: bool = True, arguments: Sequence[str] = (), operator: str = "") -> int:  # fmt: skip
    """Runs the parts of suites and prints one summary."""
    since = time.monotonic()
    shutil.rmtree(PARTS, ignore_errors=True)
    shutil.rmtree(ROOT / "build" / "sources", ignore_errors=True)
    for folder in (PARTS, ROOT / "build" / "sources"):
        folder.mkdir(parents=True)
    store.trim()
    whole = Run(rows, table.settings(rows, arguments, operator), store.opened() if known else None)
    try:
        whole.suites(suites)
        whole.settle()
    except KeyboardInterrupt:
        stop_all()
        print("\ninterrupted", file=sys.stderr)
        return 130
    return whole.summary(since)


def test(words: Sequence[str]) -> int:
    if words[:1] == ["long"]:
        if len(words) > 1:
            mistake(f"test long: got {' '.join(words[1:])}; want nothing after it")
        os.environ["PADDLE_MPS_LONG"] = "1"
        rows = table.read(long=True)
        return run(rows, [of_suite(rows, "test", "long")], known=False)
    rows = table.read(long=table.is_long())
    if not words:
        return run(rows, [of_suite(rows, "test", "long") if table.is_long() else of_suite(rows, "test")])
    suite, *arguments = words
    if suite == "op":
        return test_op(rows, arguments)
    if f"test {suite}" in rows.programs:
        return program(rows, f"test {suite}", arguments)
    if suite in rows.suites and suite not in ("test", "long", "check"):
        parts = of_suite(rows, suite)
        if arguments and not any(part.arguments == "append" for part in parts):
            mistake(f"test {suite}: got {' '.join(arguments)}; want nothing after it")
        return run(rows, [parts], known=not arguments, arguments=arguments)
    return some(rows, words, "test")


def some(rows: Table, names: Sequence[str], command: str) -> int:
    """Runs parts by name, always."""
    parts = {part.name: part for part in rows.parts if ("check" in part.suites) == (command == "check")}
    if unknown := [name for name in names if name not in parts]:
        if command == "check":
            mistake(f"check: got '{unknown[0]}'; want nothing, or some of {', '.join(parts)}")
        programs = [name.partition(" ")[2] for name in rows.programs if name.startswith("test ")]
        suites = [suite for suite in rows.suites if suite not in ("test", "long", "check", "op")]
        want = "nothing, long, op NAME, peers, paddle-suite, onnx, exports, tritonserver, serve, triton, triton-tutorials, darwin"
        assert set(want.replace("op NAME", "op").split(", ")) == {"nothing", "long", "op", *programs, *suites}
        mistake(f"{command}: got '{unknown[0]}'; want {want} or names of parts, which {sys.argv[0]} list prints")
    return run(rows, [[parts[name] for name in dict.fromkeys(names)]], known=False)


def test_op(rows: Table, arguments: Sequence[str]) -> int:
    """The tests of one operator. tests/operator says which tests in Go those are; nothing here knows an operator."""
    if len(arguments) != 1:
        mistake(f"test op: got {len(arguments)} arguments; want one, the name of an operator (./build.sh test op NAME)")
    name = arguments[0]
    ids = (ROOT / "core" / "op" / "testdata" / "ids.golden").read_text(encoding="utf-8")
    if not any(line.endswith(f" {name}") for line in ids.splitlines()):
        sys.stderr.write(f"build.sh: there is no operator {name}; for a new row, run go generate ./core/op first\n")
        return 2
    return run(rows, [of_suite(rows, "op")], known=False, operator=name)


def check(words: Sequence[str]) -> int:
    rows = table.read(long=table.is_long())
    return some(rows, words, "check") if words else run(rows, [of_suite(rows, "check")])


def ci() -> int:
    """All suites of CI, whatever fails, with one summary."""
    rows = table.read(long=table.is_long())
    return run(rows, [of_suite(rows, suite) for suite in CI])


# ---- Programs: benchmarks, and suites that print what they find


def program(rows: Table, name: str, arguments: Sequence[str]) -> int:
    """Runs a program in the foreground, after what its row has under `first`; its status."""
    now = table.settings(rows, arguments)
    row = rows.programs.get(name) or default_benchmark(name)
    fields = {key: value for key, value in row.items() if key in table.KEYS}
    part = table.part_of({**fields, "suites": [], "format": "status"}, now.long, rows.environments, {})
    for need in part.needs:
        if subprocess.run(["sh", "build.sh", "prepare", *need.split()], cwd=ROOT).returncode:
            return 1
    for before in table.listed(row.get("first", [])):
        if status := program(rows, before, []):
            return status
    for number, command in enumerate(part.commands):
        words = [filled(word, now) for word in shlex.split(command)]
        words += arguments if number == len(part.commands) - 1 and row.get("arguments") != "none" else []
        try:
            status = subprocess.run(words, cwd=ROOT / part.folder, env=foreground(part, now)).returncode
        except KeyboardInterrupt:
            return 130
        if status:
            return status
    return 0


def foreground(part: Part, now: table.Settings) -> dict[str, str]:
    """The environment of a program: its timed tests, if any, run with all others."""
    env = environment(part, now)
    del env["PADDLE_MPS_TIMED"]
    return env


def default_benchmark(name: str) -> dict[str, object]:
    """The row of a benchmark without one: a program in Go, or one in Python beside its peers."""
    word = name.partition(" ")[2]
    if (ROOT / "bench" / word / "main.go").is_file():
        return {"name": name, "command": f"go run ./bench/{word}", "env": ["GOEXPERIMENT={simd}"], "needs": ["lib"]}
    file = ROOT / "bench" / f"{word.replace('-', '_')}.py"
    if not word or not file.is_file():
        mistake(f"bench: got '{word}'; want a name that ./build.sh bench lists")
    return {"name": name, "command": f".venv-bench/bin/python bench/{file.name}", "needs": ["lib", "bench-peers"]}


def bench(words: Sequence[str]) -> int:
    if words:
        name = (
            words[0].replace("-", "_") if (ROOT / "bench" / f"{words[0].replace('-', '_')}.py").is_file() else words[0]
        )
        return program(table.read(), f"bench {name}", words[1:])
    files = sorted([*(ROOT / "bench").glob("*.py"), *(ROOT / "bench").glob("*/main.go")])
    print(
        *(file.parent.name if file.name == "main.go" else file.stem for file in files),
        "triton",
        "triton-core",
        sep="\n",
    )
    return 0


def listing() -> int:
    for part in table.read().parts:
        print(f"{part.name:<26}{' '.join(part.suites):<16}{part.lane:<7}{part.seconds:>6} s")
    return 0


def plan(words: Sequence[str]) -> int:
    """Prints which parts would run, without running any."""
    files: list[str] = []
    names = list(words)
    if names[:1] == ["--changed"]:
        end = next((n for n, word in enumerate(names) if n and not set(word) & set("/.*")), len(names))
        files, names = store.chosen(names[1:end], list(store.contents())), names[end:]
        if not files:
            mistake("plan: no file fits the names after --changed")
    rows = table.read(long=table.is_long())
    known = {part.name for part in rows.parts}
    if wrong := [name for name in names if name not in rows.suites and name not in known]:
        mistake(f"plan: got '{wrong[0]}'; want suites and parts, which {sys.argv[0]} list prints")
    suites = [[part for part in rows.parts if name in (part.name, *part.suites)] for name in names or CI]
    whole = Run(rows, table.settings(rows), store.opened())
    todo, rest = [], 0
    for part, why in planned_for(whole, suites, files):
        if why:
            todo.append(part)
            print(f"{part.name:<26}{part.lane:<7}{part.seconds:>6} s  {why}")
        rest += not why
    for line in () if files else whole.said_of_changes(todo):
        print(line)
    lanes = sum(part.seconds for part in todo if part.lane in ("first", "cpu", "mock")) / 2
    # what waits ends before the lanes do
    alone = sum(part.seconds for part in todo if part.lane in ("alone", "timed"))
    print(
        f"\n{len(todo)} parts run, {rest} need not; by their usual seconds about {lanes + alone:.0f} s, without what they need"
    )
    return 0


def planned_for(whole: Run, suites: Sequence[Sequence[Part]], files: Sequence[str]) -> Iterator[tuple[Part, str]]:
    """Each part, and why it would run; empty if it need not. With files: where all parts had passed before these changed."""
    for parts in whole.planned(suites):
        again = {part.name: why_again(part, result, files) for part, result in parts}
        for part, _ in parts:
            if not again[part.name] and again.get(part.feeds):
                again[part.name] = f"it feeds {part.feeds}"
            yield part, again[part.name]


def why_again(part: Part, result: object, files: Sequence[str]) -> str:
    if not part.store:
        return "it runs every time"
    if files:
        read = store.chosen(part.inputs, files)
        return f"it may read {read[0]}{f' and {len(read) - 1} more' if len(read) > 1 else ''}" if read else ""
    return "" if result else "not passed with these inputs"


def main(words: Sequence[str]) -> int:
    # As Ctrl-C, so that no part outlives the run.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    commands = {"test": test, "check": check, "bench": bench}
    command, *rest = words or ["help"]
    if command in commands:
        return commands[command](rest)
    if command == "ci" and not rest:
        return ci()
    if command == "list" and not rest:
        return listing()
    if command == "plan":
        return plan(rest)
    if command == "ledger" and rest in ([], ["--strict"]):
        return ledger.check(bool(rest))
    sys.stderr.write(USAGE)
    return 2
