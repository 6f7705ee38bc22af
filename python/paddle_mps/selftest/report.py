"""The report, in Markdown that reads well as text too."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .recorder import Outcome, Recorder

MOST = 25  # failures of a section that are shown; the rest is counted


def write(outcomes: list[Outcome], quick: bool, seconds: float) -> str:
    """The whole report."""
    parts = [
        "# paddle_mps self-test",
        verdict(outcomes, quick, seconds),
        facts(outcomes[0]),
        summary(outcomes[1:]),
        *(failures(o) for o in outcomes if o.failed),
        *(part(o) for o in outcomes for part in PARTS.get(o.section, ()) if o.numbers),
        skipped(outcomes),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def verdict(outcomes: list[Outcome], quick: bool, seconds: float) -> str:
    """One line that says it all."""
    passed, failed = sum(o.passed for o in outcomes), sum(len(o.failed) for o in outcomes)
    devices = list(dict.fromkeys(o.target for o in outcomes[1:]))
    form = " (--quick)" if quick else ""
    if failed:
        where = Counter(f"{o.section} on {o.target}" for o in outcomes for _ in o.failed)
        return f"**FAIL**: {failed:,} of {passed + failed:,} checks failed{form}: " + ", ".join(
            f"{place} ({count:,})" for place, count in where.items()
        )
    untried = sum(o.skipped.get(Recorder.LATE, 0) for o in outcomes)
    text = f"**PASS**: {passed:,} checks on {', '.join(devices)}, none failed{form}, in {seconds:.0f} s"
    if untried:
        text += f"; {untried:,} not tried for lack of time"
    if "metal" not in outcomes[0].numbers.get("backends", {}).values():
        text += "; **no Apple GPU** was checked"
    return text


def facts(environment: Outcome) -> str:
    known = environment.numbers.get("facts", {})
    return "\n".join(["```", *(f"{title}: {value}" for title, value in known.items()), "```"]) if known else ""


def summary(outcomes: list[Outcome]) -> str:
    rows = [(o.target, o.section, f"{o.passed:,}", f"{len(o.failed):,}", f"{sum(o.skipped.values()):,}", f"{o.seconds:.1f}") for o in outcomes]
    return table(("device", "section", "passed", "failed", "not tried", "seconds"), rows) if rows else ""


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table whose first two columns are words and whose others are numbers."""
    lines = [head, tuple("---" if i < 2 else "---:" for i in range(len(head))), *rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in lines)


def failures(outcome: Outcome) -> str:
    """What failed in a section, each with its reason."""
    lines = [f"## Failed: {outcome.section} on {outcome.target}", ""]
    for name, why in outcome.failed[:MOST]:
        first, _, rest = why.partition("\n")
        lines.append(f"- `{name}`: {first}")
        lines += [f"      {line}" for line in rest.splitlines()]
    if len(outcome.failed) > MOST:
        lines.append(f"- and {len(outcome.failed) - MOST:,} more")
    return "\n".join(lines)


def skipped(outcomes: list[Outcome]) -> str:
    """Why checks were not made, and which operators the GPU left to the CPU."""
    lines = []
    for o in outcomes:
        lines += [f"- {o.section} on {o.target}: {count:,} not tried: {why}" for why, count in o.skipped.items()]
    left = sorted({name for o in outcomes for name in o.numbers.get("fallback", ())})
    if left:
        lines.append(f"- run on the CPU for want of a kernel: {', '.join(left)}")
    return "\n".join(["## What was not tried", "", *lines]) if lines else ""


# ---- Sections with something of their own to tell


def interface(o: Outcome) -> str:
    """The census: what there is, and what a newer macOS would have."""
    if "macos" not in o.numbers:
        return ""
    n = o.numbers
    text = f"## Census\n\nmacOS {n['macos']}, GPU {n['architecture'] or 'unnamed'}: {n['classes']} classes and {n['methods']} methods found"
    return f"{text}; missing: {', '.join(n['newer'])}" if n["newer"] else text + ", none missing"


def precision(o: Outcome) -> str:
    """The largest errors by operator and dtype, with the bound that was held to."""
    worst: dict[str, dict[str, list[float]]] = o.numbers.get("worst", {})
    if not worst:
        return ""
    columns = [d for d in ("float16", "bfloat16", "float32", "float64") if any(d in row for row in worst.values())]
    rows = [
        (name, "", *("{:.2f} of {:g}".format(*row[d]) if d in row else "" for d in columns)) for name, row in worst.items()
    ]
    return f"## Largest errors on {o.target}, in ulp, and what is promised\n\n" + table(("operator", "", *columns), rows)


def measured(o: Outcome) -> str:
    """What calls, memory and matrix products cost. Nothing here is judged."""
    rows: list[tuple[str, ...]] = [(name, "", value) for name, value in o.numbers.items() if isinstance(value, str)]
    return f"## Speed of {o.target}\n\n" + table(("what", "", "measured"), rows) if rows else ""


PARTS: dict[str, tuple[Any, ...]] = {
    "census": (interface,), "accuracy": (precision,), "leaks": (measured,), "speed": (measured,),
}  # fmt: skip
__all__ = ["Recorder", "verdict", "write"]
