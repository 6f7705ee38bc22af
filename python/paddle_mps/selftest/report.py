"""The report, in Markdown that reads well as text too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Callable

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
        *(PARTS[o.section](o) for o in outcomes if o.section in PARTS),
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
    rows = [
        (o.target, o.section, f"{o.passed:,}", f"{len(o.failed):,}", f"{sum(o.skipped.values()):,}", f"{o.seconds:.1f}")
        for o in outcomes
    ]
    return table(("device", "section", "passed", "failed", "not tried", "seconds"), rows, 2) if rows else ""


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]], words: int = 1) -> str:
    """A table whose first columns are words and whose others are numbers."""
    lines = [head, tuple("---" if i < words else "---:" for i in range(len(head))), *rows]
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
    text = f"## Census\n\nmacOS {n['macos']}, GPU {n['architecture'] or 'unnamed'}: {n['classes']} classes, {n['methods']} methods and {n['constants']} constants found"
    return f"{text}; missing: {', '.join(n['newer'])}" if n["newer"] else text + ", none missing"


def precision(o: Outcome) -> str:
    """The largest errors by operator and dtype, with the bound that was held to."""
    worst: dict[str, list[float]] = o.numbers.get("worst", {})
    if not worst:
        return ""
    columns = [
        d for d in ("float16", "bfloat16", "float32", "float64") if any(name.endswith(" " + d) for name in worst)
    ]
    operators = dict.fromkeys(name.split()[0] for name in worst)
    cells = {name: "{:.2f} of {:.3g}".format(*pair) for name, pair in worst.items()}
    rows = [(name, *(cells.get(f"{name} {d}", "") for d in columns)) for name in operators]
    return f"## Largest errors on {o.target}, in ulp, and what is promised\n\n{table(('operator', *columns), rows)}"


def measured(o: Outcome) -> str:
    """What was measured in words. Nothing here is judged."""
    rows = [(name, value) for name, value in o.numbers.items() if isinstance(value, str)]
    return f"## {TITLES[o.section]} of {o.target}\n\n{table(('what', 'measured'), rows)}" if rows else ""


TITLES = {"leaks": "Memory", "speed": "Speed"}
PARTS: dict[str, Callable[[Outcome], str]] = {
    "census": interface, "conformance": precision, "accuracy": precision, "leaks": measured, "speed": measured,
}  # fmt: skip
