"""The report, in Markdown that reads well as text too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from . import bringup
from .recorder import Outcome, Recorder

MOST = 40  # failures of a section that are shown, more than bring-up has steps; the rest is counted


def write(outcomes: list[Outcome], quick: bool, seconds: float) -> str:
    """The whole report."""
    parts = [
        "# paddle_mps self-test",
        verdict(outcomes, quick, seconds),
        facts(outcomes[0]),
        summary(outcomes[1:]),
        *(failures(o) for o in outcomes if o.failed),
        refused(outcomes),
        *details(outcomes[1:]),
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
    risky = sum(o.skipped.get(Recorder.LATE, 0) for o in outcomes if o.section == "bring-up")
    text = f"**{'INCOMPLETE' if risky else 'PASS'}**: {passed:,} checks on {', '.join(devices)}, none failed{form}, in {seconds:.0f} s"
    if untried:
        text += f"; {untried:,} not tried for lack of time"
    if risky:
        text += f", {risky:,} of bring-up among them: run `python -m paddle_mps.selftest --section bring-up`"
    if count := len(refusals(outcomes)):
        text += f"; **{count:,} refusals** of Apple's compilers"
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
        if outcome.section == "bring-up":
            instead, send = bringup.advice(name, why)
            lines += [f"  - what the library does instead: {instead}", f"  - please send us: {send}"]
    if len(outcome.failed) > MOST:
        lines.append(f"- and {len(outcome.failed) - MOST:,} more")
    return "\n".join(lines)


def refusals(outcomes: list[Outcome]) -> list[str]:
    """What Apple's compilers refused, each once."""
    return sorted({line for o in outcomes for line in o.numbers.get("refused", ())})


def refused(outcomes: list[Outcome]) -> str:
    """What Apple's compilers refused, in their words. The results are right all the same, and slow."""
    lines = refusals(outcomes)
    if not lines:
        return ""
    counts: Counter[str] = Counter()
    for o in outcomes:
        counts.update(o.numbers.get("refusals", {}))
    figures = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in sorted(counts.items()))
    more = [f"- and {len(lines) - MOST:,} more"] if len(lines) > MOST else []
    head = f"## Refused by Apple's compilers\n\nIn all processes together: {figures}\n"
    return "\n".join([head, *(f"- {line}" for line in lines[:MOST]), *more])


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


def details(outcomes: list[Outcome]) -> list[str]:
    """What the sections have to tell, device by device. Two sections measure errors; each device has one table of them."""
    parts = []
    for target in dict.fromkeys(o.target for o in outcomes):
        own = [o for o in outcomes if o.target == target]
        parts += [interface(o) for o in own if o.section == "census"]
        parts.append(precision(target, own))
        parts += [measured(o) for o in own if o.section in TITLES]
    return parts


def precision(target: str, outcomes: list[Outcome]) -> str:
    """The largest errors on a device by operator and dtype, with the bound that was held to."""
    worst: dict[str, list[float]] = {}
    for o in outcomes:
        worst.update(o.numbers.get("worst", {}))
    if not worst:
        return ""
    columns = [
        d for d in ("float16", "bfloat16", "float32", "float64") if any(name.endswith(" " + d) for name in worst)
    ]
    operators = dict.fromkeys(name.split()[0] for name in worst)
    cells = {name: "{:.2f} of {:.3g}".format(*pair) if pair[0] else "exact" for name, pair in worst.items()}
    rows = [(name, *(cells.get(f"{name} {d}", "") for d in columns)) for name in operators]
    inexact = [row for row in rows if set(row[1:]) - {"exact", ""}]
    parts = [f"## Largest errors on {target}, in ulp, and what is promised"]
    if inexact:
        parts.append(table(("operator", *columns), inexact))
    if exact := [row[0] for row in rows if row not in inexact]:
        parts.append(f"Exact in all of these dtypes that they take: {', '.join(exact)}")
    return "\n\n".join(parts)


def measured(o: Outcome) -> str:
    """What was measured in words. Nothing here is judged."""
    rows = [(name, value) for name, value in o.numbers.items() if isinstance(value, str)]
    return f"## {TITLES[o.section]} of {o.target}\n\n{table(('what', 'measured'), rows)}" if rows else ""


TITLES = {"leaks": "Memory", "speed": "Speed"}
