"""The table of differences in docs/differences.md, made of reasons.json and the recorded answers."""

from __future__ import annotations

import fnmatch
import json
import pathlib
from collections.abc import Iterator
from typing import Any, NamedTuple

HERE = pathlib.Path(__file__).parent
ANSWERS, REASONS = HERE / "answers.jsonl", HERE / "reasons.json"
DOCUMENT = HERE.parents[2] / "docs" / "differences.md"
BEGIN, END = "<!-- made by tests/serve/comparison/record.py -->\n", "<!-- end -->\n"


class Recorded(NamedTuple):
    """What tritonserver has answered, and ours where that is something else."""

    theirs: Any
    ours: Any  # None: the same


def recorded() -> dict[str, Recorded]:
    found: dict[str, Recorded] = {}
    for line in (
        ANSWERS.read_text(encoding="utf-8").strip().split("\n")
    ):  # splitlines ends lines at other characters too
        name, theirs, *ours = json.loads(line)
        if "as" in theirs:
            theirs = found[theirs["as"]].theirs
        found[name] = Recorded(theirs, *(ours or [None]))
    return found


def write(answers: dict[str, Recorded]) -> None:
    """A line for each request; a long answer that was there before is named."""
    first: dict[str, str] = {}
    with ANSWERS.open("w", encoding="utf-8") as file:
        for name, (theirs, ours) in answers.items():
            before = first.setdefault(json.dumps(theirs, sort_keys=True), name)
            if before != name and len(str(theirs)) > 100:
                theirs = {"as": before}
            line = [name, theirs] if ours is None else [name, theirs, ours]
            file.write(json.dumps(line, ensure_ascii=False, separators=(",", ":"), sort_keys=True) + "\n")


def reasons() -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(REASONS.read_text(encoding="utf-8"))
    return made


def by_reason(answers: dict[str, Recorded]) -> list[list[str]]:
    """The names of requests with a difference, for each reason; the last list has those without one."""
    found: list[list[str]] = [[] for _ in reasons()]
    found.append([])
    for name, (_, ours) in answers.items():
        if ours is not None:
            at = (i for i, r in enumerate(reasons()) if any(matches(name, p) for p in r["requests"]))
            found[next(at, -1)].append(name)
    return found


def matches(name: str, pattern: str) -> bool:
    """As in a shell, but brackets are themselves."""
    return fnmatch.fnmatchcase(name, pattern.replace("[", "[[]"))


def short(answer: Any, other: Any) -> str:
    """What an answer has that another one has not, in a cell of a table."""
    if "ends" in answer:
        return f"**{answer['ends']}**"
    if "varies" in answer:
        return str(answer["varies"])
    status = str(answer.get("status", answer.get("code", "closed")))
    if "varies" in other:
        return status
    one, another = content(answer), content(other)
    if isinstance(one, str) or isinstance(another, str):
        text = one if isinstance(one, str) else "" if one is None else "..."
    else:
        if one == another:
            one, another = answer, other
        text = next((f"{path} {value}" for path, value in leaves(one, another)), "")
    text = f"{status} {text}".strip().replace("\n", " ")
    text = text if len(text) <= 150 else text[:150].rstrip() + " ..."
    for old, new in (("|", "\\|"), ("<", "&lt;"), ("[", "\\["), ("*", "\\*"), ("_", "\\_")):
        text = text.replace(old, new)
    return text


def content(answer: Any) -> Any:
    """The message of an error, or what else the answer holds."""
    body = answer.get("body", answer.get("messages", answer.get("details")))
    return body["error"] if isinstance(body, dict) and "error" in body else body


def leaves(one: Any, another: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The parts of a value that differ from another one, with their places."""
    if one == another:
        return
    if isinstance(one, dict) and isinstance(another, dict) and "number" not in one:
        for key in sorted({*one, *another}):
            yield from leaves(one.get(key, "missing"), another.get(key, "missing"), f"{path}.{key}".lstrip("."))
    elif isinstance(one, list) and isinstance(another, list) and len(one) == len(another):
        for i, (a, b) in enumerate(zip(one, another)):
            yield from leaves(a, b, f"{path}[{i}]")
    else:
        one = one["number"] if isinstance(one, dict) and "number" in one else one
        yield (
            path,
            one if isinstance(one, str) else "" if one is None else json.dumps(one, ensure_ascii=False, sort_keys=True),
        )


def table(answers: dict[str, Recorded]) -> str:
    """A row for each reason, with one request as an example."""
    rows = ["| requests | for example | tritonserver 2.51 | here | why |", "|---|---|---|---|---|"]
    for reason, names in zip(reasons(), by_reason(answers)):
        if not names:
            continue
        theirs, ours = answers[names[0]]
        shown = names[0] if len(names[0]) < 50 else names[0][:50] + " ..."
        rows.append(
            f"| {len(names)} | {shown.replace('|', ' ')} | {short(theirs, ours)} | {short(ours, theirs)} | {reason['why']} |"
        )
    return "\n".join(rows) + "\n"


def document(answers: dict[str, Recorded]) -> str:
    """docs/differences.md with the table as it should be."""
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(BEGIN)
    return (
        before
        + BEGIN
        + f"\n{len(answers):,} requests are compared.\n\n"
        + table(answers)
        + "\n"
        + END
        + rest.split(END)[1]
    )
