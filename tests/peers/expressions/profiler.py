"""paddle.profiler: schedules, names and values. What is recorded differs, and is tested in tests/python/test_profiler.py."""

from __future__ import annotations

from .row import Row, lines

ROWS: list[Row] = [
    *lines(
        "profiler_schedules",
        "",
        """
        [paddle.profiler.make_scheduler(closed=1, ready=1, record=4, repeat=1)(i).name for i in range(9)]
        [paddle.profiler.make_scheduler(closed=1, ready=1, record=4, skip_first=1)(i).name for i in range(14)]
        [paddle.profiler.make_scheduler(closed=0, ready=0, record=1)(i).name for i in range(3)]
        [paddle.profiler.make_scheduler(closed=2, ready=0, record=2, repeat=2, skip_first=3)(i).name for i in range(14)]
        [paddle.profiler.make_scheduler(closed=0, ready=2, record=1)(i).value for i in range(7)]
        paddle.profiler.make_scheduler(closed=-1, ready=1, record=1)
        paddle.profiler.make_scheduler(closed=1, ready=1, record=0)
        paddle.profiler.make_scheduler(1, 1, 1)
        paddle.profiler.make_scheduler(closed=1, ready=1, record=1)(-1)
        """,
    ),
    *lines(
        "profiler_names",
        "",
        """
        [[state.name, state.value] for state in paddle.profiler.ProfilerState]
        [[target.name, target.value] for target in paddle.profiler.ProfilerTarget]
        [[key.name, key.value] for key in paddle.profiler.SortedKeys]
        [[view.name, view.value] for view in paddle.profiler.SummaryView]
        [[name, kind.value] for name, kind in paddle.profiler.TracerEventType.__members__.items()]
        str(paddle.profiler.TracerEventType.PythonUserDefined)
        """,
    ),
    *lines(
        "profiler_objects",
        "",
        """
        [paddle.profiler.Profiler(scheduler=(2, 5), on_trace_ready=len).scheduler(i).name for i in range(7)]
        [paddle.profiler.Profiler(scheduler=[-2, 2], on_trace_ready=len).scheduler(i).name for i in range(4)]
        [paddle.profiler.Profiler(on_trace_ready=len).scheduler(i).name for i in range(3)]
        [str(target) for target in paddle.profiler.Profiler(on_trace_ready=len).targets]
        paddle.profiler.Profiler(scheduler=(3, 3), on_trace_ready=len)
        paddle.profiler.Profiler(scheduler=(3, 4, 5), on_trace_ready=len)
        paddle.profiler.RecordEvent('x').end()
        paddle.profiler.RecordEvent(3).begin()
        paddle.profiler.RecordEvent('x')(lambda: 5)()
        """,
    ),
]
