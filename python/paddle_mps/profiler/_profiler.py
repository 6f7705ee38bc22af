"""The profiler: when the library records, and what becomes of the recording."""

from __future__ import annotations

import ctypes
import enum
import os
import threading
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Callable

from .._core._errors import UnsupportedError, check
from .._core._library import library
from .._core._objects import flush
from . import _calls, _events
from ._events import RecordEvent, TracerEventType
from ._result import STREAMS, ProfilerResult
from ._summary import SortedKeys, SummaryView, tables
from ._timer import Timer

if TYPE_CHECKING:
    from types import TracebackType

SHAPES, MEMORY = 1, 2  # PMPS_PROFILE_
DEVICE = "mps"  # the type of custom device that there is


class ProfilerState(enum.Enum):
    """What a step is for."""

    CLOSED = 0  # nothing is recorded
    READY = 1  # nor here: the step before those that are
    RECORD = 2
    RECORD_AND_RETURN = 3  # the last step of a recording


class ProfilerTarget(enum.Enum):
    """What is recorded. The devices of this package are custom devices to PaddlePaddle."""

    CPU = 0
    GPU = 1
    XPU = 2
    CUSTOM_DEVICE = 3


SUPPORTED = [ProfilerTarget.CPU, ProfilerTarget.CUSTOM_DEVICE]
RECORDING = (ProfilerState.RECORD, ProfilerState.RECORD_AND_RETURN)
Scheduler = Callable[[int], ProfilerState]


def make_scheduler(*, closed: int, ready: int, record: int, repeat: int = 0, skip_first: int = 0) -> Scheduler:
    """A function from the number of a step to its state: skip_first closed steps, and then cycles.

    Args:
        closed: steps of a cycle in which nothing happens.
        ready: steps after these, in which nothing is recorded yet.
        record: steps that are recorded; the recording is returned after the last one.
        repeat: how many cycles there are; 0: no end.
        skip_first: steps before the first cycle.

    Raises:
        AssertionError: a number is negative, or record is 0.
    """
    assert min(closed, ready, repeat, skip_first) >= 0 and record > 0, "Invalid profiler scheduler arguments"
    if ready == 0:
        warnings.warn(
            "[make_scheduler] ready is 0: the recording begins at once, and its first step has the overhead of the start",
            stacklevel=2,
        )
    cycle = closed + ready + record

    def state(step: int) -> ProfilerState:
        assert step >= 0, "steps count from 0"
        turn, at = divmod(step - skip_first, cycle)
        if step < skip_first or 0 < repeat <= turn or at < closed:
            return ProfilerState.CLOSED
        if at < closed + ready:
            return ProfilerState.READY
        return ProfilerState.RECORD if at < cycle - 1 else ProfilerState.RECORD_AND_RETURN

    return state


def _always(step: int) -> ProfilerState:
    return ProfilerState.RECORD


def _scheduler_of(given: Any) -> Scheduler:
    """The scheduler that an argument stands for."""
    if callable(given):
        scheduler: Scheduler = given
        return scheduler
    if not isinstance(given, (tuple, list)):
        return _always
    assert len(given) == 2 and given[1] > given[0], "scheduler: want a first step and a later one, before which it ends"
    first, end = max(given[0], 0), given[1]
    if first == 0:
        return make_scheduler(closed=0, ready=0, record=end, repeat=1)
    return make_scheduler(closed=first - 1, ready=1, record=end - first, repeat=1)


def export_chrome_tracing(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """A function for on_trace_ready: writes each recording to a file of its own in a folder, which is made.

    Args:
        dir_name: the folder.
        worker_name: what the names of files begin with; None: machine and process.

    Raises:
        RuntimeError: the folder cannot be made.
    """
    try:
        os.makedirs(dir_name, exist_ok=True)
    except OSError:
        raise RuntimeError(f"Can not create directory '{dir_name}' for saving profiling results.") from None

    def write(profiler: Profiler) -> None:
        import datetime
        import socket

        worker = worker_name or f"host_{socket.gethostname()}pid_{os.getpid()}"
        now = datetime.datetime.now().strftime("%Y_%m_%d_%H_%M_%S_%f")
        profiler.export(os.path.join(dir_name, f"{worker}_time_{now}.paddle_trace.json"), "json")

    return write


def export_protobuf(dir_name: str, worker_name: str | None = None) -> Callable[[Profiler], None]:
    """PaddlePaddle's other format, which is not written.

    Raises:
        UnsupportedError: always, so that a program does not find out at its end.
    """
    raise UnsupportedError("[export_protobuf] protobuf files are not written; want export_chrome_tracing")


_lock = threading.Lock()
_owner: Profiler | None = None  # the profiler that records


class Profiler:
    """Records what a program does, step by step.

    Args:
        targets: of what there are events; None: the CPU and the mps device. Others are left out, with a warning.
        scheduler: a function from the number of a step to its state, such as `make_scheduler` makes; (start, end) for steps
            start to end-1; None: all steps.
        on_trace_ready: called with the profiler when there is a recording; None: `export_chrome_tracing('./profiler_log/')`.
        record_shapes: operators with the dtypes and shapes of their operands.
        profile_memory: allocated and reserved bytes of each device, whenever they change.
        timer_only: nothing is recorded; steps are timed for `step_info` and the summary that `stop` prints.
        emit_nvtx: of no effect: there is no NVTX.
        custom_device_types: ["mps"], or none for the same.
        with_flops: of no effect but a warning: operations are not counted.

    One profiler records at a time, for all threads. The latest events are kept, 262144 or as many as PADDLE_MPS_PROFILER_EVENTS
    says, and the trace tells how many there was no room for.
    """

    def __init__(
        self,
        *,
        targets: Iterable[ProfilerTarget] | None = None,
        scheduler: Scheduler | tuple[int, int] | None = None,
        on_trace_ready: Callable[[Profiler], None] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        timer_only: bool = False,
        emit_nvtx: bool = False,
        custom_device_types: Sequence[str] = [],  # as PaddlePaddle's signature; never changed
        with_flops: bool = False,
    ) -> None:
        wanted = list(targets or ())
        for target in wanted:
            if target not in SUPPORTED:
                warnings.warn(f"Profiling {target} is not supported in current context.", stacklevel=2)
        self.targets: Any = {t for t in wanted if t in SUPPORTED} if wanted else list(SUPPORTED)
        for name in custom_device_types:
            if name != DEVICE:
                raise RuntimeError(f"[Profiler] custom_device_types has {name!r}; want {[DEVICE]}")
        if with_flops:
            warnings.warn(
                "[Profiler] with_flops has no effect: floating point operations are not counted", stacklevel=2
            )
        self.scheduler = _scheduler_of(scheduler)
        self.on_trace_ready = export_chrome_tracing("./profiler_log/") if on_trace_ready is None else on_trace_ready
        self.step_num = 0
        self.previous_state = ProfilerState.CLOSED
        self.current_state = self.scheduler(0)
        self.record_event: RecordEvent | None = None
        self.profiler_result: ProfilerResult | None = None
        self.timer_only, self.record_shapes, self.profile_memory = timer_only, record_shapes, profile_memory
        self.with_flops, self.emit_nvtx = with_flops, emit_nvtx
        self._timer: Timer | None = None
        self._started = False

    def __enter__(self) -> Profiler:
        self.start()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begins, with step 0 the first time and else with the step that `stop` left. A second start without a stop warns.

        Raises:
            RuntimeError: another profiler records.
        """
        if self._started:
            warnings.warn("[Profiler] start was called twice: what was recorded so far is lost", stacklevel=2)
            self._take()
            self._started = False
            _events.users -= 1
        self._timer = Timer()
        if self.timer_only:
            return
        if self.current_state in RECORDING:
            self._record()
        self._started = True
        _events.users += 1
        self._begin_step()

    def stop(self) -> None:
        """Ends the last step. What is being recorded is returned, as after a last step of the scheduler.

        Raises:
            RuntimeError: the profiler has not been started.
        """
        timer, self._timer = self._timer, None
        summary = timer.summary() if timer else ""
        if summary:
            print(summary)
        if self.timer_only:
            return
        if not self._started:
            raise RuntimeError("[Profiler] stop was called before start; want start first")
        self._end_step()
        self._started = False
        _events.users -= 1
        if self.current_state is ProfilerState.READY:
            warnings.warn("[Profiler] stopped in state READY: nothing was recorded", stacklevel=2)
        if self.current_state in RECORDING:
            self._finish()
            self._ready()

    def step(self, num_samples: int | None = None) -> None:
        """Ends a step and begins the next one, in the state that the scheduler gives.

        Args:
            num_samples: of the step that ends, for the speed in `step_info`.
        """
        if self._timer:
            self._timer.step(num_samples)
        if self.timer_only or not self._started:
            return
        self._end_step()
        self.previous_state, self.step_num = self.current_state, self.step_num + 1
        self.current_state = self.scheduler(self.step_num)
        self._enter(self.previous_state, self.current_state)
        self._begin_step()

    def step_info(self, unit: str | None = None) -> str:
        """The average cost and speed of the steps since the last call, such as " batch_cost: 0.00130 s ips: 767.1 steps/s".

        Args:
            unit: what samples are called; None: samples.

        Raises:
            RuntimeError: the profiler has not been started.
        """
        if not self._timer:
            raise RuntimeError("[Profiler] step_info was called before start; want start first")
        return self._timer.info("samples" if unit is None else unit)

    def export(self, path: str = "", format: str = "json") -> None:
        """Writes the latest recording to a file. Without one nothing is written, with a warning.

        Args:
            path: the file.
            format: "json".

        Raises:
            ValueError: path is empty, or there is no such format.
            UnsupportedError: format is "pb".
        """
        if self.profiler_result is None:
            warnings.warn(
                "[Profiler] there is no recording yet, so that nothing is exported; want stop first", stacklevel=2
            )
            return
        self.profiler_result.save(path, format)

    def summary(
        self,
        sorted_by: SortedKeys = SortedKeys.CPUTotal,
        op_detail: bool = True,
        thread_sep: bool = False,
        time_unit: str = "ms",
        views: SummaryView | list[SummaryView] | None = None,
    ) -> None:
        """Prints tables of the latest recording; nothing where there is none.

        Args:
            sorted_by: the order of operators. GPU stands for the device.
            op_detail: below each operator, what it spent its time on.
            thread_sep: operators of each thread by themselves.
            time_unit: s, ms, us or ns.
            views: the tables; None: all that have rows.

        Raises:
            ValueError: there is no such unit.
        """
        if self.profiler_result is not None:
            print(tables(self.profiler_result, sorted_by, op_detail, thread_sep, time_unit, views))

    # ---- Recording

    def _begin_step(self) -> None:
        self.record_event = RecordEvent(f"ProfileStep#{self.step_num}", TracerEventType.ProfileStep)
        self.record_event.begin()

    def _end_step(self) -> None:
        if self.record_event is not None:
            self.record_event.end()
            self.record_event = None

    def _enter(self, before: ProfilerState, now: ProfilerState) -> None:
        """Goes from the state of one step to that of the next."""
        if before is ProfilerState.RECORD_AND_RETURN:
            self._finish()
        elif before is ProfilerState.RECORD and now not in RECORDING:
            warnings.warn(
                f"[Profiler] the scheduler goes from RECORD to {now.name}: what was recorded is lost", stacklevel=3
            )
            self._take()
        elif before is ProfilerState.READY and now is ProfilerState.CLOSED:
            warnings.warn("[Profiler] the scheduler goes from READY to CLOSED: nothing is recorded", stacklevel=3)
        if now in RECORDING and before is not ProfilerState.RECORD:
            self._record()
        if before is ProfilerState.RECORD_AND_RETURN:
            self._ready()

    def _record(self) -> None:
        """Begins a recording."""
        global _owner
        flags = SHAPES * (self.record_shapes or self.with_flops) | MEMORY * self.profile_memory
        with _lock:
            if _owner is not None:
                raise RuntimeError("[Profiler] another profiler records; want that stopped first")
            flush()
            check(library.pmps_profile_start(flags, limit()))
            _owner = self
        if os.environ.get("PADDLE_MPS_PROFILER_CALLS") == "1":
            _calls.begin()

    def _take(self) -> str | None:
        """Ends the recording of this profiler, and returns its text; None where it does not record."""
        global _owner
        with _lock:
            if _owner is not self:
                return None
            _calls.end()
            flush()
            text = ctypes.c_void_p()
            _owner = None
            check(library.pmps_profile_stop(ctypes.byref(text)))
        try:
            return ctypes.string_at(text.value or 0).decode()
        finally:
            library.pmps_text_free(text)

    def _finish(self) -> None:
        """Ends the recording and keeps it."""
        text = self._take()
        if text is not None:
            self.profiler_result = ProfilerResult(named(selected(text, self.targets)))

    def _ready(self) -> None:
        if self.profiler_result is not None:
            self.on_trace_ready(self)


MOST = 1 << 24  # events that the library keeps at most


def limit() -> int:
    """How many events are kept; 0 for the library's number.

    Raises:
        ValueError: the environment says something else than a number.
    """
    text = os.environ.get("PADDLE_MPS_PROFILER_EVENTS", "")
    if text and not (text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= MOST):
        raise ValueError(f"PADDLE_MPS_PROFILER_EVENTS is {text!r}; want a number of events from 1 to {MOST}")
    return int(text or 0)


def selected(text: str, targets: Iterable[ProfilerTarget]) -> str:
    """The trace without the spans of threads, or those of streams, where the target of these is not wanted."""
    wanted = set(targets)
    if wanted >= set(SUPPORTED):
        return text
    head, _, rest = text.partition('"traceEvents":[\n')
    kept = []
    for line in rest[: rest.rindex("\n]}")].split(",\n"):
        stream = int(line.partition('"tid":')[2].partition(",")[0]) >= STREAMS
        target = ProfilerTarget.CUSTOM_DEVICE if stream else ProfilerTarget.CPU
        if target in wanted or (not stream and not line.startswith('{"ph":"X"')):
            kept.append(line)
    return head + '"traceEvents":[\n' + ",\n".join(kept) + "\n]}\n"


def named(text: str) -> str:
    """The trace with the names of Python's threads, which only Python knows."""
    import json

    events = [
        {"ph": "M", "name": "thread_name", "pid": os.getpid(), "tid": thread.native_id, "args": {"name": thread.name}}
        for thread in threading.enumerate()
        if thread.native_id is not None
    ]
    lines = "".join(json.dumps(event, separators=(",", ":")) + ",\n" for event in events)
    return text.replace('"traceEvents":[\n', '"traceEvents":[\n' + lines, 1)
