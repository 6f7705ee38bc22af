"""paddle.profiler: what a program does and when, as a trace for Perfetto and as tables.

    with paddle.profiler.Profiler(on_trace_ready=paddle.profiler.export_chrome_tracing("log")) as p:
        for batch in batches:
            train(batch)
            p.step()
    p.summary()

Names, arguments and states are PaddlePaddle's; docs/profiler.md says what is recorded and what differs. The library records;
this package starts and stops a recording and reads the result. It is imported only when it is used.
"""

from ._events import RecordEvent, TracerEventType
from ._profiler import (
    Profiler,
    ProfilerState,
    ProfilerTarget,
    export_chrome_tracing,
    export_protobuf,
    make_scheduler,
)
from ._result import ProfilerResult, load_profiler_result
from ._summary import SortedKeys, SummaryView

__all__ = [
    "Profiler",
    "ProfilerResult",
    "ProfilerState",
    "ProfilerTarget",
    "RecordEvent",
    "SortedKeys",
    "SummaryView",
    "TracerEventType",
    "export_chrome_tracing",
    "export_protobuf",
    "load_profiler_result",
    "make_scheduler",
]
