"""paddle.profiler: what is recorded, the states, the files and the tables."""

from __future__ import annotations

import gc
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import _surface, mps, profiler
from paddle_mps._core._library import quick
from paddle_mps.profiler import ProfilerState, ProfilerTarget, RecordEvent, SummaryView, TracerEventType

STREAMS = 1_000_000_000
PLACES = ["cpu", "mps"]


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    yield
    assert profiler._events.users == 0 and profiler._profiler._owner is None


def silent(**options: Any) -> profiler.Profiler:
    return profiler.Profiler(on_trace_ready=lambda p: None, **options)


def result(p: profiler.Profiler) -> profiler.ProfilerResult:
    assert p.profiler_result is not None
    return p.profiler_result


def spans(p: profiler.Profiler, kind: str | None = None) -> list[dict[str, Any]]:
    return [e for e in result(p).events() if e["ph"] == "X" and kind in (None, e["cat"])]


def names(p: profiler.Profiler, kind: str) -> list[str]:
    return [e["name"] for e in spans(p, kind)]


def kernels(p: profiler.Profiler) -> Counter[str]:
    """How often each operator is in a kernel. On a GPU a kernel is a command buffer, which lists its operators."""
    found: Counter[str] = Counter()
    for e in spans(p, "Kernel"):
        found.update(e.get("args", {}).get("names") or e["name"].split("+"))
    return found


def check_format(p: profiler.Profiler) -> None:
    """The trace follows the Trace Event Format, and the spans of each thread and stream are nested."""
    document = result(p).document
    assert set(document) == {"schemaVersion", "displayTimeUnit", "otherData", "traceEvents"}
    info = document["otherData"]
    assert info["events"] == sum(e["ph"] in "XC" for e in document["traceEvents"]) and info["pid"] == os.getpid()
    ends: dict[int, list[float]] = {}
    for e in document["traceEvents"]:
        assert e["ph"] in ("X", "C", "M") and e["name"] and e["pid"] == os.getpid() and 0 <= e["tid"] < 2**32
        if e["ph"] == "M":
            assert e["name"] in ("process_name", "thread_name", "thread_sort_index") and len(e["args"]) == 1
            continue
        assert info["start"] <= e["ts"] <= info["end"] + 0.001
        if e["ph"] == "C":
            assert all(type(v) is int for v in e["args"].values())
            continue
        assert e["cat"] and e["dur"] >= 0
        path = ends.setdefault(e["tid"], [])
        start, end = round(e["ts"] * 1000), round((e["ts"] + e["dur"]) * 1000)
        while path and path[-1] <= start:
            path.pop()
        assert not path or end <= path[-1] + 2, e  # a digit may be lost in the sum
        path.append(end)


@pytest.mark.parametrize("place", PLACES)
def test_each_operator_is_there_once(place: str) -> None:
    x = paddle.to_tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], place=place)
    w = paddle.ones([3, 4], place=place)
    with silent(record_shapes=True) as p:
        y = x + x
        z = paddle.matmul(y, w)
        paddle.exp(z)
        paddle.concat([x, x, y], axis=0)
        x.add_(y)
        paddle.cumsum(x, axis=1)
        2.0 * x
    check_format(p)
    assert names(p, "Operator") == ["add", "matmul", "exp", "concat", "add", "cumsum", "multiply"]
    one, product, _, joined, into, *_ = spans(p, "Operator")
    assert one["args"]["input_shapes"] == {"x": [[2, 3]], "y": [[2, 3]]}
    assert one["args"]["input_dtypes"] == {"x": ["float32"], "y": ["float32"]}
    assert product["args"]["input_shapes"] == {"x": [[2, 3]], "y": [[3, 4]]}
    assert product["args"]["output_shapes"] == {"out": [[2, 4]]}
    assert list(joined["args"]["input_shapes"].values()) == [[[2, 3], [2, 3], [2, 3]]]
    assert joined["args"]["output_shapes"] == {"out": [[6, 3]]}
    assert into["args"]["output_shapes"] == {"out": [[2, 3]]}
    ran = kernels(p)
    assert ran["add"] >= 2 and ran["matmul"] >= 1 and ran["exp"] >= 1
    on_stream = {e["tid"] >= STREAMS for e in spans(p, "Kernel")}
    assert on_stream == {place == "mps"}


def test_shapes_only_where_asked_for() -> None:
    x = paddle.ones([2])
    with silent() as p:
        x + x
    assert "args" not in spans(p, "Operator")[0]


def test_a_call_that_fails_says_so() -> None:
    x, y = paddle.ones([2]), paddle.ones([3])
    with silent(record_shapes=True) as p, pytest.raises(ValueError, match="add"):
        paddle.add(x, y)
    failed = spans(p, "Operator")
    assert [e["name"] for e in failed] == ["add"] and failed[0]["args"]["error"]


@pytest.mark.parametrize("place", PLACES)
def test_programs_show_their_steps(place: str) -> None:
    @paddle.jit.to_static
    def f(a: Any, b: Any) -> Any:
        return paddle.sum(paddle.exp(paddle.matmul(a, b) + 1) * 2, axis=1)

    a, b = paddle.ones([3, 4], place=place), paddle.ones([4, 5], place=place)
    want = f(a, b).numpy()
    with silent(record_shapes=True) as p:
        got = [f(a, b) for _ in range(3)]
    np.testing.assert_array_equal(got[2].numpy(), want)
    check_format(p)
    assert names(p, "Program") == ["program"] * 3 and names(p, "Operator") == []
    assert spans(p, "Program")[0]["args"]["input_shapes"] == {"in": [[3, 4], [4, 5]]}
    steps = kernels(p)
    assert set(steps) == {"matmul", "add", "exp", "multiply", "sum"} and min(steps.values()) >= 3
    if place == "cpu" or mps.get_device_properties().backend == "host":
        assert Counter(names(p, "Kernel")) == {"matmul": 3, "add+exp+multiply+sum": 3}
        assert len(spans(p, "Sequence")) == 3


def test_a_traced_function_is_compiled_in_its_first_call() -> None:
    @paddle.jit.to_static
    def f(a: Any) -> Any:
        return paddle.tanh(a) * 3

    with silent() as p:
        f(paddle.ones([7]))
    assert "compile program" in names(p, "Compile")
    assert [n for n in names(p, "Operator") if n in ("tanh", "multiply")] == []


def test_backward_passes_contain_their_calls() -> None:
    x = paddle.ones([3], place="mps")
    x.stop_gradient = False
    y = (x * x).sum()
    with silent() as p:
        y.backward()
    (backward,) = spans(p, "Backward")
    within = spans(p, "Operator")
    assert within
    for call in within:
        assert call["tid"] == backward["tid"]
        assert backward["ts"] <= call["ts"] and call["ts"] + call["dur"] <= backward["ts"] + backward["dur"] + 0.002


@pytest.mark.parametrize("place", PLACES)
def test_the_last_level_is_what_is_allocated(place: str) -> None:
    gc.collect()  # what other tests have left must not go between the last event and the question
    x = paddle.ones([1000], place=place)
    with silent(profile_memory=True) as p:
        kept = [x + i for i in range(5)]
        for _ in range(20):
            x * 2
        del kept[2:]
    name = {"cpu": "memory of cpu", "mps": "memory of mps:0"}[place]
    levels = [e["args"] for e in result(p).events() if e["ph"] == "C" and e["name"] == name]
    check_format(p)
    assert levels[-1] == {"allocated": mps.memory_allocated(place), "reserved": mps.memory_reserved(place)}
    assert max(level["allocated"] for level in levels) >= levels[0]["allocated"] + 3 * 4000
    assert len(levels) > 25


def test_copies_have_their_bytes() -> None:
    x = paddle.ones([100], place="mps")
    with silent() as p:
        x.numpy()
        x.cpu()
    copies = {e["name"]: e["args"] for e in spans(p, "Memcpy") if e["tid"] < STREAMS}
    assert copies["read"] == {"place": "mps:0", "bytes": 400} and copies["to"]["bytes"] == 400


def test_waits_are_recorded() -> None:
    x = paddle.ones([1 << 21], place="mps")
    for _ in range(50):  # on a busy machine the work may be done before it is waited for
        with silent() as p:
            for _ in range(5):
                x = x * 1.5
            mps.synchronize()
        if names(p, "Wait"):
            return
    raise AssertionError("no wait was recorded")


def test_threads_have_their_own_lines() -> None:
    x = paddle.ones([4])
    barrier = threading.Barrier(4)

    def work() -> None:
        barrier.wait()
        for _ in range(50):
            with RecordEvent("part"):
                x + x

    with silent() as p:
        threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(4)]
        for t in threads:
            t.start()
        numbers = {t.native_id for t in threads}
        for t in threads:
            t.join()
    check_format(p)
    for kind, name in (("Operator", "add"), ("PythonUserDefined", "part")):
        found = [e for e in spans(p, kind) if e["name"] == name]
        assert Counter(e["tid"] for e in found) == dict.fromkeys(numbers, 50)
    named = {e["tid"]: e["args"]["name"] for e in result(p).events() if e["name"] == "thread_name"}
    assert named[threading.get_native_id()] == "MainThread"


def test_functions_made_of_operators_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    x = paddle.ones([3])
    with silent() as p:
        paddle.nanquantile(x, 0.5)
    assert names(p, "PythonOp") == []
    monkeypatch.setenv("PADDLE_MPS_PROFILER_CALLS", "1")

    def outside(y: Any) -> Any:
        return paddle.nanquantile(y, 0.5)

    with silent() as p:
        outside(x)
        with pytest.raises(ValueError, match="broadcast"):
            paddle.nn.functional.cosine_similarity(x, paddle.ones([2]), axis=0)
    assert sys.getprofile() is None
    check_format(p)
    calls = {e["name"]: e for e in spans(p, "PythonOp")}
    assert {"nanquantile", "cosine_similarity"} <= set(calls)
    made = calls["nanquantile"]
    inner = [e for e in spans(p, "Operator") if made["ts"] <= e["ts"] <= made["ts"] + made["dur"]]
    assert len(inner) >= 2
    assert not [name for name in calls if "outside" in name or "Profiler" in name or "RecordEvent" in name]


def test_another_profile_function_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    import cProfile

    monkeypatch.setenv("PADDLE_MPS_PROFILER_CALLS", "1")

    other = cProfile.Profile()
    other.enable()
    try:
        with silent() as p:
            paddle.add_n([paddle.ones([3]), paddle.ones([3])])
        assert names(p, "PythonOp") == [] and "add_n" in names(p, "Operator")
    finally:
        other.disable()


# ---- RecordEvent


def test_spans_of_the_program() -> None:
    @RecordEvent("decorated")
    def fib(n: int) -> int:
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    event = RecordEvent("by hand", TracerEventType.Forward)
    with silent() as p:
        assert fib(4) == 3
        event.begin()
        event.begin()
        event.end()
        event.end()
        event.end()
        with pytest.raises(KeyError), RecordEvent("raises"):
            raise KeyError
        RecordEvent("never ended").begin()
    check_format(p)
    assert Counter(names(p, "PythonUserDefined")) == {"decorated": 9, "raises": 1}
    assert names(p, "Forward") == ["by hand", "by hand"]


def test_spans_without_a_profiler_are_nothing() -> None:
    RecordEvent(3).begin()  # type: ignore[arg-type]  # as PaddlePaddle, which looks at the name when it records
    RecordEvent("x").end()
    with silent():
        with pytest.raises(TypeError, match="want a string"):
            RecordEvent(3).begin()  # type: ignore[arg-type]
        with pytest.warns(UserWarning, match="can be recorded"):
            RecordEvent("x", TracerEventType.Operator).begin()


def test_a_span_that_begins_in_the_future_is_empty() -> None:
    with silent() as p:
        for begun in (quick.pmps_profile_begin() + 10**12 + 7, 2**63 - 1, -(2**63)):
            quick.pmps_profile_end(begun, b"PythonUserDefined", b"impossible")
    assert names(p, "PythonUserDefined").count("impossible") <= 3
    event = RecordEvent("named later")
    with silent():
        event.begin()
        event.name = 3  # type: ignore[assignment]
        event.end()


def test_names_of_any_text() -> None:
    texts = ["", 'é\n"\\', "\udcff", "x" * 5000, "a</script>"]
    with silent() as p:
        for text in texts:
            with RecordEvent(text):
                pass
    assert names(p, "PythonUserDefined") == ["", 'é\n"\\', "?", "x" * 1024, "a</script>"]


# ---- States


def sequence(scheduler: Any, steps: int) -> str:
    return "".join("CrRE"[scheduler(i).value] for i in range(steps))


@pytest.mark.parametrize(
    ("given", "states"),
    [  # what PaddlePaddle 3.3.1 gives
        ({"closed": 1, "ready": 1, "record": 4, "repeat": 1}, "CrRRRECCCCCC"),
        ({"closed": 1, "ready": 1, "record": 4, "skip_first": 1}, "CCrRRRECrRRRE"),
        ({"closed": 0, "ready": 0, "record": 1}, "EEEE"),
        ({"closed": 2, "ready": 0, "record": 2, "repeat": 2, "skip_first": 3}, "CCCCCRECCRECCC"),
        ({"closed": 0, "ready": 2, "record": 1, "repeat": 0}, "rrErrE"),
    ],
)
def test_scheduler(given: dict[str, int], states: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scheduler = profiler.make_scheduler(**given)
    assert len(caught) == (given["ready"] == 0)
    assert sequence(scheduler, len(states)) == states


@pytest.mark.parametrize(
    ("given", "states"),
    [((2, 5), "CrRRECC"), ((0, 2), "RECC"), ([-2, 2], "RECC"), ((1, 2), "rECC"), (None, "RRRR"), (3, "RRRR")],
)
def test_schedulers_of_profilers(given: Any, states: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sequence(silent(scheduler=given).scheduler, len(states)) == states


def test_bad_schedules() -> None:
    for given in ((3, 3), (3, 4, 5)):
        with pytest.raises(AssertionError):
            silent(scheduler=given)
    for bad in ({"closed": -1}, {"ready": -1}, {"record": 0}, {"repeat": -1}, {"skip_first": -1}):
        with pytest.raises(AssertionError, match="Invalid profiler scheduler arguments"):
            profiler.make_scheduler(**{"closed": 1, "ready": 1, "record": 1, **bad})
    with pytest.raises(AssertionError):
        profiler.make_scheduler(closed=1, ready=1, record=1)(-1)


def test_only_the_steps_of_the_schedule_are_recorded() -> None:
    x = paddle.ones([2])
    found: list[list[str]] = []
    ready = lambda p: found.append([*names(p, "ProfileStep"), *names(p, "Operator")])  # noqa: E731
    p = profiler.Profiler(
        scheduler=profiler.make_scheduler(closed=1, ready=1, record=2, repeat=2), on_trace_ready=ready
    )
    operators = [
        paddle.exp,
        paddle.sin,
        paddle.cos,
        paddle.tanh,
        paddle.sqrt,
        paddle.floor,
        paddle.ceil,
        paddle.abs,
        paddle.sign,
    ]
    with p:
        for i, f in enumerate(operators):
            f(x)
            assert p.step_num == i
            p.step()
    assert found == [
        ["ProfileStep#2", "ProfileStep#3", "cos", "tanh"],
        ["ProfileStep#6", "ProfileStep#7", "ceil", "abs"],
    ]
    assert (p.previous_state, p.current_state) == (ProfilerState.CLOSED, ProfilerState.CLOSED)


def test_one_recording_after_the_other() -> None:
    """RECORD_AND_RETURN after RECORD_AND_RETURN: each step is a recording."""
    found: list[list[str]] = []
    p = profiler.Profiler(
        scheduler=lambda n: ProfilerState.RECORD_AND_RETURN,
        on_trace_ready=lambda p: found.append(names(p, "ProfileStep")),
    )
    with p:
        p.step()
        p.step()
    assert found == [["ProfileStep#0"], ["ProfileStep#1"], ["ProfileStep#2"]]


def test_improper_schedules_warn() -> None:
    states = [ProfilerState.READY, ProfilerState.CLOSED, ProfilerState.RECORD, ProfilerState.READY]
    p = silent(scheduler=lambda n: states[n])
    p.start()
    with pytest.warns(UserWarning, match="READY to CLOSED"):
        p.step()
    p.step()
    with pytest.warns(UserWarning, match="RECORD to READY"):
        p.step()
    with pytest.warns(UserWarning, match="stopped in state READY"):
        p.stop()
    assert p.profiler_result is None


def test_wrong_order(tmp_path: pathlib.Path) -> None:
    p = silent()
    with pytest.raises(RuntimeError, match="before start"):
        p.stop()
    with pytest.raises(RuntimeError, match="before start"):
        p.step_info()
    p.step()
    p.start()
    with pytest.warns(UserWarning, match="no recording yet"):
        p.export(str(tmp_path / "early.json"))
    p.summary()
    with pytest.warns(UserWarning, match="called twice"):
        p.start()
    with pytest.raises(RuntimeError, match="another profiler records"):
        silent().start()
    p.stop()
    with pytest.raises(RuntimeError, match="before start"):
        p.stop()
    assert not list(tmp_path.iterdir())
    with p:  # again
        paddle.ones([1])
    assert names(p, "Operator")


def test_exceptions_end_the_profiler() -> None:
    p = silent()
    with pytest.raises(KeyError), p:
        paddle.exp(paddle.ones([1]))
        raise KeyError
    assert "exp" in names(p, "Operator")


def test_targets() -> None:
    assert silent().targets == [ProfilerTarget.CPU, ProfilerTarget.CUSTOM_DEVICE]
    with pytest.warns(UserWarning, match=r"Profiling ProfilerTarget.GPU is not supported in current context\."):
        assert silent(targets=[ProfilerTarget.GPU, ProfilerTarget.CPU]).targets == {ProfilerTarget.CPU}
    with pytest.raises(RuntimeError, match="npu"):
        silent(custom_device_types=["npu"])
    x = paddle.ones([2], place="mps")
    for target, threads, streams in ((ProfilerTarget.CPU, True, False), (ProfilerTarget.CUSTOM_DEVICE, False, True)):
        with silent(targets=[target], custom_device_types=["mps"]) as p:
            paddle.exp(x)
            x.numpy()
        assert {e["tid"] >= STREAMS for e in spans(p)} == {streams} and threads is not streams
        json.dumps(result(p).document)


# ---- Bounds


def test_a_million_events_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PADDLE_MPS_PROFILER_EVENTS", "20000")
    p = silent()
    p.start()
    event = RecordEvent("span")
    for _ in range(1_000_000):
        event.begin()
        event.end()
    p.stop()
    info = result(p).get_extra_info()
    assert info["events"] == info["limit"] == 20000 and result(p).dropped() == 1_000_000 + 1 - 20000
    assert names(p, "ProfileStep") == ["ProfileStep#0"]  # what ended last is kept, whenever it began


def test_the_limit_is_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("-1", "0", "many", "1.5", "99999999999", "18446744073709551617", "1" * 5000):
        monkeypatch.setenv("PADDLE_MPS_PROFILER_EVENTS", text)
        with pytest.raises(ValueError, match=r"PADDLE_MPS_PROFILER_EVENTS|max_events"):
            silent().start()


# ---- Files


def test_export_and_load(tmp_path: pathlib.Path) -> None:
    x = paddle.ones([2], place="mps")
    with silent() as p, RecordEvent("outer"):
        paddle.exp(x)
    path = tmp_path / "trace.json"
    p.export(str(path))
    loaded = profiler.load_profiler_result(str(path))
    assert loaded.document == json.loads(path.read_text()) == result(p).document
    tree = loaded.get_data()[threading.get_native_id()]
    step = tree.children_node[0]  # a wait of stop may follow
    assert (step.name, step.type) == ("ProfileStep#0", "ProfileStep")
    (outer,) = step.children_node
    call = outer.children_node[0]
    assert (outer.name, call.name, call.type) == ("outer", "exp", "Operator")
    assert step.start_ns <= outer.start_ns <= call.start_ns <= call.end_ns <= outer.end_ns <= step.end_ns
    for error, options in (
        (ValueError, {"path": ""}),
        (ValueError, {"path": str(path), "format": "xml"}),
        (paddle.UnsupportedError, {"path": str(path), "format": "pb"}),
        (FileNotFoundError, {"path": str(tmp_path / "no" / "folder.json")}),
    ):
        with pytest.raises(error):
            p.export(**options)
    (tmp_path / "other.json").write_text("[]")
    for other in ("other.json", __file__):
        with pytest.raises(ValueError, match="is no trace"):
            profiler.load_profiler_result(tmp_path / other)


def test_chrome_tracing(tmp_path: pathlib.Path) -> None:
    folder = tmp_path / "a" / "b"
    with profiler.Profiler(on_trace_ready=profiler.export_chrome_tracing(str(folder), "me")) as p:
        p.step()
    (file,) = folder.iterdir()
    assert re.fullmatch(r"me_time_\d{4}(_\d\d){5}_\d{6}\.paddle_trace\.json", file.name)
    assert json.loads(file.read_text()) == result(p).document
    with profiler.Profiler(on_trace_ready=profiler.export_chrome_tracing(str(folder))):
        pass
    assert any(re.match(rf"host_.*pid_{os.getpid()}_time_", f.name) for f in folder.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(RuntimeError, match="Can not create directory"):
        profiler.export_chrome_tracing(str(tmp_path / "file" / "x"))
    with pytest.raises(paddle.UnsupportedError, match="want export_chrome_tracing"):
        profiler.export_protobuf(str(tmp_path))


# ---- Times and tables


def test_step_info() -> None:
    p = profiler.Profiler(timer_only=True, on_trace_ready=lambda p: None)
    p.start()
    assert p.step_info() == ""
    time.sleep(0.01)
    p.step(8)
    found = re.fullmatch(r" batch_cost: (\d\.\d{5}) s ips: (\d+\.\d{3}) images/s", p.step_info("images"))
    assert found and float(found[1]) >= 0.01
    assert float(found[2]) == pytest.approx(8 / float(found[1]), rel=1e-2)
    assert p.step_info() == ""
    p.step(8)
    assert p.step_info().endswith(" samples/s")
    p.step()
    assert p.step_info("images").endswith(" steps/s")
    p.stop()
    assert p.profiler_result is None


def test_the_summary_of_steps(capsys: pytest.CaptureFixture[str]) -> None:
    p = profiler.Profiler(timer_only=True, on_trace_ready=lambda p: None)
    with p:
        for _ in range(10):
            p.step(4)
    assert capsys.readouterr().out == ""
    with p:
        for _ in range(13):
            time.sleep(0.002)
            p.step(4)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Perf Summary".center(100, "=") and lines[1] == "Time Unit: s, IPS Unit: samples/s"
    cost = [float(c) for c in lines[3].strip("| ").split("|")[1:]]
    assert cost[2] <= cost[0] <= cost[1] and cost[2] >= 0.002


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    x = paddle.ones([64, 64], place="mps")
    with silent(profile_memory=True) as p:
        with RecordEvent("mine"):
            for _ in range(3):
                paddle.matmul(x, x)
            paddle.exp(x).numpy()
        p.step()
    p.summary(op_detail=False)
    text = capsys.readouterr().out
    for title in ("Device", "Overview", "Model", "Kernel", "Operator", "Memory", "Memory Manipulation", "UserDefined"):
        assert re.search(rf"^-+{title} Summary-+$", text, re.M), title
    (row,) = [
        line.split() for line in text[text.index("Operator Summary") :].splitlines() if line.startswith("matmul ")
    ]
    calls, total, average, most, least, share, device = (float(cell) for cell in row[1:])
    assert (
        calls == 3
        and total == pytest.approx(3 * average, abs=0.005)
        and least <= average <= most
        and 0 < share < 100
        and (device > 0 or mps.get_device_properties().backend == "metal")  # command buffers of many calls
    )
    p.summary(views=SummaryView.UDFView, time_unit="us")
    only = capsys.readouterr().out
    assert "UserDefined Summary" in only and "Operator Summary" not in only
    p.summary(thread_sep=True, views=[SummaryView.OperatorView], sorted_by=profiler.SortedKeys.GPUMin)
    assert "Operator (thread MainThread) Summary" in capsys.readouterr().out
    with pytest.raises(ValueError, match="time_unit is 'h'"):
        p.summary(time_unit="h")


def test_summary_says_what_was_dropped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PADDLE_MPS_PROFILER_EVENTS", "10")
    x = paddle.ones([2])
    with silent() as p:
        for _ in range(100):
            x + x
    p.summary()
    assert re.search(r"^\d+ earlier events had no room", capsys.readouterr().out, re.M)


# ---- The package


def test_names_are_paddles() -> None:
    theirs = _surface.NAMES["paddle.profiler"].split()
    assert [n for n in theirs if not hasattr(profiler, n)] == [] and set(theirs) <= set(profiler.__all__)


RUN = """
import sys
import paddle_mps as paddle
assert not [m for m in sys.modules if m.startswith("paddle_mps.profiler")], "imported early"
paddle.profiler.Profiler
import paddle_mps.profiler
assert paddle_mps.profiler is paddle.profiler
try:
    paddle.profiler.nothing
except AttributeError:
    print("ok")
"""


def test_it_is_imported_late() -> None:
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=True)
    assert done.stdout == "ok\n"


FORK = """
import os, sys
import paddle_mps as paddle
from paddle_mps import profiler
p = profiler.Profiler(on_trace_ready=lambda p: None)
p.start()
x = paddle.ones([3])
if os.fork() == 0:
    with profiler.RecordEvent("in the child"):
        pass
    try:
        p.stop()
    except Exception as error:
        print(type(error).__name__, error, flush=True)
    os._exit(0)
os.wait()
x + x
p.stop()
print([e["name"] for e in p.profiler_result.events() if e.get("cat") == "Operator"])
"""


def test_a_forked_child_has_no_profiler() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    child, parent = done.stdout.splitlines()
    assert "fork" in child and parent.endswith("'add']")
