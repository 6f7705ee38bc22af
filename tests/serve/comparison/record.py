"""Requests that the real tritonserver and `paddle-mps serve` must answer alike: asks both, and records what they answer.

Modules of this folder list the requests (http_*.py, rpc_*.py and others, joined in everything.py), play.py sends them, masks.py
removes what may differ from run to run, such as times. answers.jsonl has what tritonserver 2.51 has answered, one line a
request, and our answer where it is another one. reasons.json says why; docs/differences.md has a table of them.

    export PYTHONPATH=tests/serve
    .venv-serve/bin/python tests/serve/comparison/record.py          both, after ./build.sh test tritonserver and test serve
    .venv-serve/bin/python tests/serve/comparison/record.py --ours   ours alone: the answers of tritonserver stay

    pytest tests/serve/test_comparison.py                            compares ours with the recorded answers
    pytest tests/serve/test_comparison.py --live                     asks both

A difference without a row in reasons.json is printed, and the status is 1.
"""

from __future__ import annotations

import pathlib
import sys
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import everything
import memory
import model_files
import play
import servers
import table


def answers(server: Callable[..., AbstractContextManager[servers.Running]], mine: bool) -> dict[str, Any]:
    """What a server answers to all requests; tritonserver is spared those that end it."""
    found: dict[str, Any] = {}
    for setup in everything.SETUPS.values():
        with tempfile.TemporaryDirectory() as folder, memory.objects():
            models = model_files.make(pathlib.Path(folder) / "models")
            cases = list(setup.cases(models))
            options = [*setup.options, *(setup.more if mine else [])]
            with server(models, *options) as running:
                got = play.play(running, (c for c in cases if mine or not c.dies))
            for case in cases:
                assert case.name not in found, f"two requests are called {case.name}"
                found[case.name] = got.get(case.name, {"ends": case.dies})
                if case.varies and not mine:
                    found[case.name] = {"varies": case.varies}
    return found


def compared(theirs: dict[str, Any], ours: dict[str, Any]) -> dict[str, table.Recorded]:
    return {name: table.Recorded(theirs[name], None if same(theirs[name], one) else one) for name, one in ours.items()}


def same(theirs: Any, ours: Any) -> bool:
    """Whether two answers are equal, but that ours say that they are JSON where tritonserver says text/plain."""
    if theirs == ours:
        return True
    error = isinstance(theirs.get("body"), dict) or theirs.get("status") in (404, 405)
    return (
        theirs.get("Content-Type") == "text/plain" and error and {**theirs, "Content-Type": "application/json"} == ours
    )


def main() -> int:
    ours = answers(servers.ours, True)
    if "--ours" in sys.argv:
        theirs = {name: one.theirs for name, one in table.recorded().items()}
    else:
        theirs = answers(servers.real, False)
    made = compared(theirs, ours)
    table.write(made)
    *found, left = table.by_reason(made)
    for reason, names in zip(table.reasons(), found):
        for pattern in reason["requests"]:
            if not any(table.matches(n, pattern) for n in names):
                print(f"nothing differs, or for another reason: {pattern}")
    for name in left:
        print(name, *made[name], sep="\n    ")
    table.DOCUMENT.write_text(table.document(made), encoding="utf-8")
    print(
        f"{len(made)} requests, {sum(one.ours is not None for one in made.values())} differ, {len(left)} of them without a reason"
    )
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
