"""What was recorded: the trace as the library wrote it, and as a tree of spans for each thread and stream."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from .._core._errors import UnsupportedError

STREAMS = 1_000_000_000  # thread numbers from here on are streams of devices: firstTrack of core/profile


@dataclass
class Span:
    """A node of a tree: a span with those that lie within it. Times are nanoseconds of `time.perf_counter_ns`' clock.

    Attributes:
        type: the category, such as Operator; the root of a tree has Root.
        args: what the trace says of it, such as input_shapes.
    """

    name: str
    type: str
    start_ns: int
    end_ns: int
    thread_id: int
    args: dict[str, Any]
    children_node: list[Span] = field(default_factory=list)

    @property
    def duration(self) -> int:
        """Nanoseconds."""
        return self.end_ns - self.start_ns


class ProfilerResult:
    """A recording. It keeps the text of the trace, and reads it when it is asked for more than `save`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._document: dict[str, Any] | None = None

    @property
    def document(self) -> dict[str, Any]:
        """The trace as `json.loads` reads it."""
        if self._document is None:
            import json

            self._document = json.loads(self._text)
        assert self._document is not None
        return self._document

    def save(self, path: str | os.PathLike[str], format: str = "json") -> None:
        """Writes the trace to a file.

        Raises:
            ValueError: path is empty, or format is neither json nor pb.
            UnsupportedError: format is pb.
            OSError: the file cannot be written.
        """
        if format == "pb":
            raise UnsupportedError("[profiler] protobuf files are not written; want format='json'")
        if format != "json":
            raise ValueError(f"[profiler] format is {format!r}; want 'json'")
        if not os.fspath(path):
            raise ValueError("[profiler] path is empty; want the name of a file")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def events(self) -> list[dict[str, Any]]:
        """The events of the trace, as the Trace Event Format has them."""
        found: list[dict[str, Any]] = self.document["traceEvents"]
        return found

    def dropped(self) -> int:
        """How many events were dropped because there were more than fit."""
        return int(self.get_extra_info().get("dropped", 0))

    def get_extra_info(self) -> dict[str, Any]:
        """What the trace says of itself: clock, pid, events, dropped, limit, start and end."""
        return dict(self.document.get("otherData", {}))

    def get_data(self) -> dict[int, Span]:
        """For each thread and stream, a root with the spans that lie in no other one."""
        roots: dict[int, Span] = {}
        open_spans: dict[int, list[Span]] = {}
        for event in self.events():  # a span comes before those that it contains
            if event["ph"] != "X":
                continue
            start = round(event["ts"] * 1000)
            thread = event["tid"]
            span = Span(
                event["name"],
                event["cat"],
                start,
                start + round(event["dur"] * 1000),
                thread,
                event.get("args", {}),
            )
            root = roots.setdefault(thread, Span("root node", "Root", start, span.end_ns, thread, {}))
            root.end_ns = max(root.end_ns, span.end_ns)
            path = open_spans.setdefault(thread, [root])
            while len(path) > 1 and path[-1].end_ns < span.end_ns:
                path.pop()
            path[-1].children_node.append(span)
            path.append(span)
        return roots


def load_profiler_result(filename: str | os.PathLike[str]) -> ProfilerResult:
    """Reads a trace that `Profiler.export` or `export_chrome_tracing` has written.

    Raises:
        ValueError: the file is no such trace.
        OSError: it cannot be read.
    """
    with open(filename, encoding="utf-8") as file:
        result = ProfilerResult(file.read())
    try:
        good = isinstance(result.document, dict) and isinstance(result.document["traceEvents"], list)
    except (ValueError, KeyError):
        good = False
    if not good:
        raise ValueError(
            f"[load_profiler_result] {os.fspath(filename)!r} is no trace; want a JSON file of Profiler.export"
        )
    return result


__all__ = ["ProfilerResult", "load_profiler_result"]
