"""The command `paddle-mps bench`: how long a model takes, also beside onnxruntime.

Each of the two runs in a process of its own, which its memory is asked of too. They take turns, run by run, so that both see the
same machine.

What the nodes take is compared with what the machine needs at least: for the operations of a node at the rate of a large matrix
product, or for its bytes at the rate of a large copy, whichever is longer. Both rates are measured in our process when the runs are
over, with as many threads. A node whose bytes are in caches may take less.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import ctypes
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

import numpy as np

from .. import onnx
from .._arrays._creation import to_tensor
from .._core._errors import check
from .._core._library import library
from .._core._place import place as place_of
from .._models._progress import Progress
from . import _differences, _examples

THEIRS = "onnxruntime"
RECORDED = 10  # runs that are recorded, node by node, after those that are timed
SHOWN = 5  # kinds of nodes

Run = Callable[[dict[str, Any]], list[Any]]
Asked = tuple[float, float]  # the bytes and the floating-point operations of a node
Spans = Sequence[tuple[str, float, Any]]  # names of nodes, microseconds, and an Asked or None


def main(arguments: Sequence[str]) -> int:
    """Times a model and prints the figures."""
    parser = argparse.ArgumentParser(prog="paddle-mps bench", description="Times a model.")
    _examples.options(parser)
    parser.add_argument("--compare", choices=[THEIRS], help="also time this, which must be installed")
    parser.add_argument("--threads", type=int, help="threads of one operator on the CPU; all CPUs by default")
    parser.add_argument("--seconds", type=float, default=5, help="how long to measure; default 5")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    try:
        if given.work:
            _work(given)
        else:
            _bench(given, list(arguments))
    except (OSError, ValueError, TypeError, RuntimeError, ImportError) as error:
        print(f"paddle-mps bench: {error}", file=sys.stderr)
        return 1
    return 0


def _ours(given: argparse.Namespace) -> Run:
    """A function that runs the model."""
    model = onnx.load(given.model, None if given.place is None else place_of(given.place))
    given.explain = model.explain
    return lambda arrays: [x if isinstance(x, np.ndarray) else x.numpy() for x in model.run(arrays).values()]


def _session(given: argparse.Namespace, trace: str | None = None) -> Any:
    """A session of onnxruntime on the CPU, which writes what it has done to a file that begins with trace."""
    theirs: Any = sys.modules[THEIRS]
    options = theirs.SessionOptions()
    options.intra_op_num_threads = given.threads or 0
    if trace:
        options.enable_profiling, options.profile_file_prefix = True, trace
    return theirs.InferenceSession(given.model, options, providers=["CPUExecutionProvider"])


def _theirs(given: argparse.Namespace) -> Run:
    """The same with onnxruntime."""
    session = _session(given)

    def run(arrays: dict[str, Any]) -> list[Any]:
        made: list[Any] = session.run(None, arrays)
        return made

    return run


def _units(plan: str) -> list[Asked]:
    """What each kernel of a plan asks of the machine: those of a group are one."""
    found, left = [], 0
    for line in plan.splitlines():
        group = re.match(r"group of steps (\d+) to (\d+):", line)
        step = re.search(r"  (\d+) bytes, (\d+) flop", line)
        if group:
            left = int(group[2]) - int(group[1]) + 1
            found.append((0.0, 0.0))
        elif step:
            asked = float(step[1]), float(step[2])
            if left:
                left -= 1
                asked = found[-1][0] + asked[0], found.pop()[1] + asked[1]
            found.append(asked)
    return found


def _our_spans(given: argparse.Namespace, run: Run, arrays: dict[str, Any]) -> Spans:
    """What the library records of some runs: a span for each kernel, be it of one step or of a group."""
    check(library.pmps_profile_start(0, 0))
    text = ctypes.c_void_p()
    try:
        for _ in range(RECORDED):
            run(arrays)
    finally:
        check(library.pmps_profile_stop(ctypes.byref(text)))
    try:
        events = json.loads(ctypes.string_at(text.value or 0))["traceEvents"]
    finally:
        library.pmps_text_free(text)
    spans = [(e["name"], e["dur"]) for e in events if e.get("cat") == "Kernel"]
    units: list[Any] = _units(given.explain())
    if len(units) * RECORDED != len(spans):  # a GPU's kernels are not one for each step
        units = [None] * (len(spans) // RECORDED)
    return [(name, took, asked) for (name, took), asked in zip(spans, units * RECORDED)]


def _their_spans(given: argparse.Namespace, arrays: dict[str, Any]) -> Spans:
    """What onnxruntime records of as many runs."""
    session = _session(given, str(pathlib.Path(given.work) / "trace"))
    for _ in range(RECORDED):
        session.run(None, arrays)
    events = json.loads(pathlib.Path(session.end_profiling()).read_text())
    return [
        (e["args"]["op_name"], e["dur"], _their_work(e["args"]))
        for e in events
        if e.get("cat") == "Node" and e["name"].endswith("kernel_time")
    ]


def _their_work(args: dict[str, Any]) -> Asked | None:
    """What a node of onnxruntime asks of the machine, by the shapes that it records; None for one that has recorded none."""
    ins, outs = (
        [list(shape) for port in args.get(f"{what}_type_shape", ()) for shape in port.values()]
        for what in ("input", "output")
    )
    if not ins or not outs:
        return None
    sizes = [float(np.prod(shape)) for shape in (*ins, *outs)]
    flop = max(sizes[0], sizes[len(ins)])
    if "Conv" in args["op_name"] and len(ins) > 1:
        flop = 2 * sizes[len(ins)] * float(np.prod(ins[1][1:]))
    elif args["op_name"] in ("MatMul", "Gemm", "FusedMatMul", "FusedGemm") and ins[0]:
        flop = 2 * sizes[len(ins)] * ins[0][-1]
    return 4 * sum(sizes), flop


def _rates() -> list[float]:
    """The operations and the bytes of a second: those of a product of matrices and of a sum with a number, the best of some."""
    side, count = 768, 1 << 23
    a, b = (to_tensor(np.ones(shape, "float32"), place="cpu") for shape in ((side, side), count))
    best = [0.0, 0.0]
    works: tuple[tuple[Callable[[], Any], int], ...] = ((lambda: a @ a, 2 * side**3), (lambda: b + 1, 8 * count))
    for _ in range(8):
        for i, (work, much) in enumerate(works):
            best[i] = max(best[i], much / _timed(work)[1] * 1e3)
    return best


def _most(spans: Spans) -> dict[str, Any]:
    """The kinds of nodes that take longest, in milliseconds of a run, and the sum of all. A node counts with its median: other work
    on the machine may interrupt any one. All runs have the same nodes, because they have the same arguments."""
    names, took = [name for name, *_ in spans], np.array([t for _, t, _ in spans]) / 1e3
    count = len(names) // RECORDED
    medians = np.median(took[: count * RECORDED].reshape(RECORDED, count), 0)
    times: dict[str, list[float]] = collections.defaultdict(list)
    asked: dict[str, list[Any]] = collections.defaultdict(list)
    for name, median, (_, _, work) in zip(names, medians, spans):
        times[name].append(float(median))
        asked[name].append(work)
    most = sorted(((sum(of), len(of), name) for name, of in times.items()), reverse=True)[:SHOWN]
    return {"sum": float(medians.sum()), "count": count, "most": [(*kind, asked[kind[2]]) for kind in most]}


def _work(given: argparse.Namespace) -> None:
    """The process that runs the model: once for each line of the standard input. It prints milliseconds, at first those of
    loading and of the first run, and at the end the peak of its memory in bytes, and what takes longest."""
    folder = pathlib.Path(given.work)
    with np.load(folder / "inputs.npz") as saved:
        arrays = dict(saved)
    load = _ours
    if folder.name == THEIRS:
        importlib.import_module(THEIRS)  # which takes longer than loading most models
        load = _theirs
    run, loading = _timed(lambda: load(given))
    made, first = _timed(lambda: run(arrays))
    np.savez(folder / "results.npz", *made)
    print(json.dumps([loading, first]), flush=True)
    for _ in sys.stdin:
        print(json.dumps(_timed(lambda: run(arrays))[1]), flush=True)
    print(json.dumps(peak()))
    print(json.dumps(_most(_their_spans(given, arrays) if load is _theirs else _our_spans(given, run, arrays))))
    print(json.dumps(None if load is _theirs else _rates()))


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What a function returns, and the milliseconds that it took."""
    start = time.perf_counter()
    made = work()
    return made, (time.perf_counter() - start) * 1e3


def peak() -> int:
    """The most memory that this process has had, in bytes. On Linux that of getrusage may be of the process that started it."""
    with contextlib.suppress(OSError, StopIteration), open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM:")).split()[1])
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


class Runner:
    """A process that runs the model."""

    def __init__(self, folder: pathlib.Path, arguments: Sequence[str], threads: int | None) -> None:
        self.folder = folder
        self.times: list[float] = []
        self._process = subprocess.Popen(
            [sys.executable, "-m", f"{__package__}._bench", *arguments, "--work", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **({"PADDLE_MPS_NUM_THREADS": str(threads)} if threads else {})},
        )
        self.loading, self.first = self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.folder.name} ended with status {self._process.wait()}")
        return json.loads(line)

    def run(self) -> None:
        """Runs the model once."""
        assert self._process.stdin
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.times.append(self._answer())

    def end(self) -> None:
        """Ends the process, and asks for its memory and its nodes."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.close()
        self.peak: int = self._answer()
        self.nodes: dict[str, Any] = self._answer()
        self.rates: list[float] | None = self._answer()
        self._process.stdout.close()
        self._process.wait()

    def stop(self) -> None:
        """Ends the process whatever it does."""
        self._process.kill()
        self._process.wait()

    def results(self) -> list[Any]:
        """The results of the first run."""
        with np.load(self.folder / "results.npz") as saved:
            return [saved[name] for name in saved.files]


@contextlib.contextmanager
def _runners(
    names: Sequence[str], arrays: dict[str, Any], arguments: Sequence[str], threads: int | None
) -> Iterator[Any]:
    """A runner for each name."""
    with tempfile.TemporaryDirectory() as folder:
        made: list[Runner] = []
        try:
            for name in names:
                own = pathlib.Path(folder) / name
                own.mkdir()
                np.savez(own / "inputs.npz", **arrays)
                with Progress(f"{name}: loading and first run"):
                    made.append(Runner(own, arguments, threads))
            yield made
        finally:
            for runner in made:
                runner.stop()


def _bench(given: argparse.Namespace, arguments: Sequence[str]) -> None:
    """The command, after its arguments are parsed."""
    if given.threads is not None and given.threads < 1:
        raise ValueError(f"[bench] threads is {given.threads}; want 1 or more")
    if not given.seconds >= 0:
        raise ValueError(f"[bench] seconds is {given.seconds}; want 0 or more")
    if given.compare and importlib.util.find_spec(given.compare) is None:
        raise ValueError(
            f"[bench] {given.compare} is not installed; want it in {sys.executable}, by pip install {given.compare}"
        )
    model = onnx.load(given.model, None if given.place is None else place_of(given.place))
    arrays = _examples.inputs(model, given)
    print(f"{given.model} on {model.place}: {_examples.described(arrays)}\n")
    names = ["paddle_mps", *([given.compare] if given.compare else [])]
    with _runners(names, arrays, arguments, given.threads) as runners:
        start = time.perf_counter()
        with Progress("timing") as bar:
            while (spent := time.perf_counter() - start) < given.seconds or len(runners[0].times) < 3:
                bar.done(spent / max(given.seconds, 1e-9))
                for runner in runners:
                    runner.run()
        with Progress("recording runs"):
            for runner in runners:
                runner.end()
        _report(names, runners)


def _report(names: Sequence[str], runners: Sequence[Runner]) -> None:
    """Prints the figures, a column for each."""

    def row(what: str, of: Callable[[Runner], float], unit: str) -> None:
        print(f"{what:<24}" + "".join(f"{of(r):>12,.3f} {unit:<6}" for r in runners))

    print(f"{'':<24}" + "".join(f"{name:>12}       " for name in names))
    row("load", lambda r: r.loading, "ms")
    row("first run", lambda r: r.first, "ms")
    for percent in (50, 90, 99):
        row(f"{percent} % of runs within", lambda r, p=percent: float(np.percentile(r.times, p)), "ms")  # type: ignore[misc]
    row("runs", lambda r: 1e3 / float(np.mean(r.times)), "/s")
    row("peak memory", lambda r: r.peak / 2**20, "MiB")
    row("nodes in a run", lambda r: r.nodes["count"], "")
    rates = runners[0].rates
    assert rates is not None
    for name, runner in zip(names, runners):
        _report_nodes(name, runner, rates)
    print(
        f"\nof the machine: at {rates[0] / 1e9:,.0f} GFLOP/s of a product of matrices, and {rates[1] / 1e9:,.1f} GB/s of a sum"
    )
    print(f"\n{len(runners[0].times)} runs each" if len(runners) > 1 else f"\n{len(runners[0].times)} runs")
    if len(runners) > 1:
        ours, theirs = (r.results() for r in runners)
        if [x.shape for x in ours] != [x.shape for x in theirs]:
            raise RuntimeError(f"results have other shapes than those of {names[1]}")
        worst = _differences.between(ours, theirs)
        ratio = float(np.median(runners[0].times) / np.median(runners[1].times))
        print(f"largest difference of a result: {worst:.2g}; the median is {ratio:.2f} times that of {names[1]}")


def _share(took: float, asked: Sequence[Any], rates: Sequence[float]) -> str:
    """What the machine needs at least for nodes, of the milliseconds that they take."""
    if not all(asked) or not took:
        return ""
    least = sum(max(work[1] / rates[0], work[0] / rates[1]) for work in asked)
    return f"{1e3 * least / took:.0%}"


def _report_nodes(name: str, runner: Runner, rates: Sequence[float]) -> None:
    """Prints what takes longest of a run. Recording takes time too, so that what nodes do not account for is what the median of
    a run that was not recorded has beside them, and 0 where that is less."""
    run = float(np.median(runner.times))
    print(f"\n{name}: what takes longest in a run\n{'':>20} {'nodes':>6} {'of the machine':>15}")
    rest = max(run - runner.nodes["sum"], 0)
    whole = runner.nodes["sum"] + rest
    for took, count, what, asked in runner.nodes["most"]:
        print(f"{took:>10,.3f} ms {took / whole:>6.1%} {count:>6} {_share(took, asked, rates):>15}  {what}")
    print(f"{rest:>10,.3f} ms {rest / whole:>6.1%} {'':>22}  between nodes, and arrays of the results")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
