"""The tables of `Profiler.summary`."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ._result import STREAMS, ProfilerResult, Span


class SummaryView(enum.Enum):
    """The tables."""

    DeviceView = 0
    OverView = 1
    ModelView = 2
    DistributedView = 3
    KernelView = 4
    OperatorView = 5
    MemoryView = 6
    MemoryManipulationView = 7
    UDFView = 8


class SortedKeys(enum.Enum):
    """Orders of operators; GPU stands for the device."""

    CPUTotal = 0
    CPUAvg = 1
    CPUMax = 2
    CPUMin = 3
    GPUTotal = 4
    GPUAvg = 5
    GPUMax = 6
    GPUMin = 7


UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0}
STEP = "ProfileStep"
PHASES = ("Dataloader", "Forward", "Backward", "Optimization")
USER = ("PythonUserDefined", "PythonOp", "UserDefined")


@dataclass
class Figures:
    """What rows show of spans with one name: nanoseconds."""

    calls: int = 0
    total: int = 0
    most: int = 0
    least: int = 0

    def add(self, ns: int) -> None:
        """Counts a span."""
        self.least = ns if not self.calls else min(self.least, ns)
        self.most = max(self.most, ns)
        self.calls += 1
        self.total += ns

    @property
    def average(self) -> float:
        """0 where there are no spans."""
        return self.total / self.calls if self.calls else 0.0

    def cells(self, unit: float, whole: float) -> list[str]:
        """Calls, total, average, maximum, minimum and share in percent."""
        times = [self.total, self.average, self.most, self.least]
        share = 100 * self.total / whole if whole else 0.0
        return [str(self.calls), *(f"{t / unit:.3f}" for t in times), f"{share:.2f}"]


HEAD = ("Calls", "Total", "Avg", "Max", "Min", "Ratio (%)")


def table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], notes: str = "") -> str:
    """A table as text, with its first column to the left and numbers to the right."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    rule = "  ".join("-" * w for w in widths)
    text = [f"{title} Summary".center(len(rule), "-"), rule]
    for n, line in enumerate(lines):
        text.append(
            "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(line, widths))).rstrip()
        )
        if n == 0:
            text.append(rule)
    return "\n".join([*text, rule, *([notes] if notes else [])])


def walk(spans: Iterable[Span]) -> Iterable[Span]:
    """The spans and all within them, each before those within it."""
    stack = list(spans)[::-1]
    while stack:
        span = stack.pop()
        yield span
        stack.extend(span.children_node[::-1])


def merged(spans: Iterable[Span]) -> int:
    """Nanoseconds in which at least one of the spans was under way."""
    total, end = 0, None
    for start, stop in sorted((s.start_ns, s.end_ns) for s in spans):
        if end is None or start > end:
            total, end = total + stop - start, stop
        elif stop > end:
            total, end = total + stop - end, stop
    return total


def by_name(spans: Iterable[Span]) -> dict[str, Figures]:
    """The figures of each name."""
    found: dict[str, Figures] = {}
    for span in spans:
        found.setdefault(span.name, Figures()).add(span.duration)
    return found


class Tables:
    """The tables of one recording."""

    def __init__(
        self, result: ProfilerResult, sorted_by: SortedKeys, detail: bool, apart: bool, time_unit: str
    ) -> None:
        self.result, self.sorted_by, self.detail, self.apart = result, sorted_by, detail, apart
        self.unit, self.unit_name = UNITS[time_unit], time_unit
        roots = result.get_data()
        self.threads = {tid: list(walk(r.children_node)) for tid, r in roots.items() if tid < STREAMS}
        self.streams = {tid: list(walk(r.children_node)) for tid, r in roots.items() if tid >= STREAMS}
        self.host = [s for spans in self.threads.values() for s in spans]
        self.device = [s for spans in self.streams.values() for s in spans]
        self.names = {
            e["tid"]: e["args"]["name"] for e in result.events() if e["ph"] == "M" and e["name"] == "thread_name"
        }
        info = result.get_extra_info()
        self.elapsed = (info["end"] - info["start"]) * 1000 if "end" in info else merged(self.host + self.device)

    def of(self, *kinds: str) -> list[Span]:
        """The spans of threads in some categories."""
        return [s for s in self.host if s.type in kinds]

    def rows(self, figures: dict[str, Figures], whole: float) -> list[list[str]]:
        """A row a name, the longest total first."""
        order = sorted(figures.items(), key=lambda item: -item[1].total)
        return [[name, *f.cells(self.unit, whole)] for name, f in order]

    def device_view(self) -> str:
        """How busy each stream was."""
        rows = [
            [str(self.names.get(tid, tid)), f"{100 * merged(spans) / self.elapsed:.2f}" if self.elapsed else "-"]
            for tid, spans in sorted(self.streams.items())
        ]
        return table("Device", ("Stream", "Busy (%)"), rows) if rows else ""

    def over_view(self) -> str:
        """Calls and time of each category; times that overlap count once."""
        rows = []
        for where, spans in (("", self.host), ("device ", self.device)):
            for kind in sorted({s.type for s in spans}):
                of_kind = [s for s in spans if s.type == kind]
                time = merged(of_kind)
                share = f"{100 * time / self.elapsed:.2f}" if self.elapsed else "-"
                rows.append([where + kind, str(len(of_kind)), f"{time / self.unit:.3f}", share])
        rows.sort(key=lambda row: -float(row[2]))
        notes = [
            f"Time unit: {self.unit_name}. Recorded: {self.elapsed / self.unit:.3f}. Spans that overlap count once."
        ]
        if self.result.dropped():
            notes.append(f"{self.result.dropped()} earlier events had no room and are not counted in any table.")
        return table("Overview", ("Event Type", "Calls", "Time", "Ratio (%)"), rows, "\n".join(notes))

    def model_view(self) -> str:
        """The steps and the phases in them."""
        steps = self.of(STEP)
        if not steps:
            return ""
        figures = {STEP: Figures()}
        for span in steps:
            figures[STEP].add(span.duration)
        for phase in PHASES:
            for span in self.of(phase):
                figures.setdefault("  " + phase, Figures()).add(span.duration)
        whole = figures[STEP].total
        return table("Model", ("Name", *HEAD), [[name, *f.cells(self.unit, whole)] for name, f in figures.items()])

    def operator_view(self) -> str:
        """The calls of operators and runs of programs, with the time of the device beside them."""
        groups = self.threads.items() if self.apart else [(None, self.host)]
        kernels = by_name(s for s in self.device if s.type == "Kernel")
        parts = []
        for tid, spans in groups:
            calls = [s for s in spans if s.type in ("Operator", "Program")]
            if not calls:
                continue
            figures, inner = by_name(calls), self.inner(calls)
            whole = sum(f.total for f in figures.values())
            rows = []
            for name in self.ordered(figures, kernels):
                on_device = kernels.get(name, Figures()).total
                rows.append([name, *figures[name].cells(self.unit, whole), f"{on_device / self.unit:.3f}"])
                for part, f in sorted(inner.get(name, {}).items(), key=lambda item: -item[1].total):
                    rows.append(["  " + part, *f.cells(self.unit, figures[name].total), "-"])
            title = "Operator" if tid is None else f"Operator (thread {self.names.get(tid, tid)})"
            note = "Device: the time of the streams in kernels of that name, of all threads."
            parts.append(table(title, ("Name", *HEAD, "Device"), rows, note))
        return "\n\n".join(parts)

    def inner(self, calls: list[Span]) -> dict[str, dict[str, Figures]]:
        """By operator, what its calls spent their time on, where that is to be shown."""
        found: dict[str, dict[str, Figures]] = {}
        for call in calls if self.detail else ():
            for span in call.children_node:
                of = found.setdefault(call.name, {})
                label = span.name if span.type == "Compile" else f"{span.type} {span.name}"
                of.setdefault(label, Figures()).add(span.duration)
        return found

    def ordered(self, figures: dict[str, Figures], kernels: dict[str, Figures]) -> list[str]:
        """Names in the order that was asked for."""
        place, what = self.sorted_by.name[:3], self.sorted_by.name[3:]

        def key(name: str) -> float:
            f = figures[name] if place == "CPU" else kernels.get(name, Figures())
            return {"Total": f.total, "Avg": f.average, "Max": f.most, "Min": f.least}[what]

        return sorted(figures, key=key, reverse=what != "Min")

    def kernel_view(self) -> str:
        """What the streams ran."""
        figures = by_name(s for s in self.device if s.type == "Kernel")
        whole = sum(f.total for f in figures.values())
        return table("Kernel", ("Name", *HEAD), self.rows(figures, whole)) if figures else ""

    def memory_view(self) -> str:
        """The levels of memory of each device."""
        levels: dict[str, list[dict[str, Any]]] = {}
        for event in self.result.events():
            if event["ph"] == "C":
                levels.setdefault(event["name"][len("memory of ") :], []).append(event["args"])
        rows = []
        for place, found in sorted(levels.items()):
            for what in ("allocated", "reserved"):
                values = [args[what] for args in found]
                rows.append(
                    [f"{place} {what}", *map(str, (values[0], values[-1], max(values), min(values), len(values)))]
                )
        head = ("Memory (bytes)", "First", "Last", "Peak", "Least", "Changes")
        return table("Memory", head, rows) if rows else ""

    def manipulation_view(self) -> str:
        """Copies between devices, and from and to the program."""
        found: dict[str, Figures] = {}
        moved: dict[str, int] = {}
        for span in self.of("Memcpy"):
            name = f"{span.name} {span.args.get('place', '')}".strip()
            found.setdefault(name, Figures()).add(span.duration)
            moved[name] = moved.get(name, 0) + span.args.get("bytes", 0)
        rows = [[*row, str(moved[row[0]])] for row in self.rows(found, self.elapsed)]
        return table("Memory Manipulation", ("Name", *HEAD, "Bytes"), rows) if rows else ""

    def user_view(self) -> str:
        """Spans of the program."""
        figures = by_name(self.of(*USER))
        return table("UserDefined", ("Name", *HEAD), self.rows(figures, self.elapsed)) if figures else ""


def tables(
    result: ProfilerResult,
    sorted_by: SortedKeys,
    detail: bool,
    apart: bool,
    time_unit: str,
    views: SummaryView | Sequence[SummaryView] | None,
) -> str:
    """The tables as text, of which those without rows are left out."""
    if time_unit not in UNITS:
        raise ValueError(f"[summary] time_unit is {time_unit!r}; want one of {list(UNITS)}")
    wanted = list(SummaryView) if views is None else [views] if isinstance(views, SummaryView) else list(views)
    made = Tables(result, sorted_by, detail, apart, time_unit)
    parts = {
        SummaryView.DeviceView: made.device_view,
        SummaryView.OverView: made.over_view,
        SummaryView.ModelView: made.model_view,
        SummaryView.KernelView: made.kernel_view,
        SummaryView.OperatorView: made.operator_view,
        SummaryView.MemoryView: made.memory_view,
        SummaryView.MemoryManipulationView: made.manipulation_view,
        SummaryView.UDFView: made.user_view,
    }
    return "\n\n".join(text for view, part in parts.items() if view in wanted and (text := part()))


__all__ = ["SortedKeys", "SummaryView"]
