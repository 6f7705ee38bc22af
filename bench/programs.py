"""Programs beside operator by operator, and beside what people use instead: NumPy, numexpr, PaddlePaddle, PyTorch.

Each library is a process of its own. The processes take turns, so that a change of the machine's speed hits all, and a
figure is the median of the turns; ratios are times of the peer over ours, so that more is better. PyTorch and numexpr are
measured where they are installed. With --threads, that many for every library (1 if it is left out).

The bars are those that the project has set itself: `bar` beside a line, and the exit status is 1 if one is missed. With
more than one thread the processor time of each process is shown as a part of the time: where it is below 0.95 of the
threads, something else was running and the line means nothing. Cases that memory bounds say what part of its bandwidth their
shortest turn reaches: the bytes that have to be read and written, beside those of a copy on as many threads.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import signal
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from typing import Any

TURNS = 7
LEAST = 0.05  # seconds that a turn measures at least

# What every process runs first, with `name` and the modules of its library; cases define functions in it.
WORKER = """
import gc, importlib, json, os, sys, time
import numpy as np
name = sys.argv[1]
rng = np.random.default_rng(7)
if name in ("paddle_mps", "paddle"):
    paddle = importlib.import_module(name)
    F = paddle.nn.functional
    paddle.set_device("cpu")
elif name == "torch":
    import torch
    import torch.nn.functional as F
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
elif name == "numexpr":
    import numexpr
    numexpr.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
def array(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)
def tensor(a, ask=False):
    if name in ("numpy", "numexpr"):
        return a
    if name == "torch":
        return torch.from_numpy(a).requires_grad_(ask)
    return paddle.to_tensor(a, stop_gradient=not ask)
spaces = {}  # of names, one for each column
for line in sys.stdin:
    what, space, code, least = json.loads(line)
    names = spaces.setdefault(space, dict(globals()))
    try:
        if what == "define":
            exec(code, names)
            answer = None
        elif what == "value":
            answer = eval(code, {**names, "names": names} if code == "names.clear()" else names)
        else:
            run = eval("lambda: " + code, names)
            run(); run()
            calls, start, processor = 0, time.perf_counter(), time.process_time()
            while time.perf_counter() - start < least:
                run(); calls += 1
            took = time.perf_counter() - start
            answer = [took / calls, (time.process_time() - processor) / took]
    except Exception as error:
        answer = f"{type(error).__name__}: {error}"[:300]
    print(json.dumps(answer), flush=True)
"""


class Library:
    """A process with one of the libraries.

    It is stopped while it has no turn: threads of OpenMP and OpenBLAS look for work up to 200 ms after a call, and would
    take a processor of the next library's turn.
    """

    def __init__(self, name: str, threads: int, **environment: str) -> None:
        variables = "PADDLE_MPS_NUM_THREADS OMP_NUM_THREADS OPENBLAS_NUM_THREADS MKL_NUM_THREADS NUMEXPR_NUM_THREADS"
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", WORKER, name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, **dict.fromkeys(variables.split(), str(threads)), **environment},
        )  # fmt: skip
        atexit.register(self.process.kill)  # it may be stopped, and would not see that its input ends

    def ask(self, what: str, space: str, code: str) -> Any:
        """The answer of the process to code that sees the names of a space.

        Raises:
            SystemExit: the code has failed.
        """
        answer = self.attempt(what, space, code)
        if isinstance(answer, str):
            raise SystemExit(f"{self.name}: {code.strip().splitlines()[-1]}: {answer}")
        return answer

    def attempt(self, what: str, space: str, code: str, least: float = LEAST) -> Any:
        """`ask`, or the error as text."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps([what, space, code, least]) + "\n")
        self.process.stdin.flush()
        self.process.send_signal(signal.SIGCONT)
        line = self.process.stdout.readline()
        self.process.send_signal(signal.SIGSTOP)
        return json.loads(line) if line else "the process has ended"

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.send_signal(signal.SIGCONT)
        self.process.wait()


@dataclass
class Column:
    """One way of computing a case: `run` is measured after `define` has been run once."""

    library: str
    define: str
    run: str = "f()"
    title: str = ""
    bar: float = 0.0  # the least ratio of its time to that of the first column; 0: none


@dataclass
class Case:
    title: str
    columns: list[Column] = field(default_factory=list)
    traffic: int = 0  # bytes that have to be read and written


# Ten elementwise steps on 16 MiB, written alike for all.
CHAIN = """
def chain(x, y, sqrt, maximum, abs):
    for _ in range(2):
        x = maximum(abs(x * y + 0.5) - x, x) * 0.9
    return x
"""
ARRAYS = CHAIN + "X, Y = array(1 << 22), array(1 << 22)\n"
NUMEXPR = (
    ARRAYS
    + """
half, tenths, step = np.float32(0.5), np.float32(0.9), "where(abs({0}*Y + half) - {0} > {0}, abs({0}*Y + half) - {0}, {0}) * tenths"
text = step.format("(" + step.format("X") + ")")  # it computes equal parts once
f = lambda: numexpr.evaluate(text)
"""
)
TENSORS = ARRAYS + "x, y = tensor(X), tensor(Y)\n"
OURS = TENSORS + "compute = lambda x, y: chain(x, y, paddle.sqrt, paddle.maximum, paddle.abs)\n"
TORCH = TENSORS + "compute = lambda x, y: chain(x, y, torch.sqrt, torch.maximum, torch.abs)\n"

# A loss: two elementwise steps and a reduction of all elements.
ERRORS = "X, Y = array(1 << 22), array(1 << 22)\n"
OUR_ERROR = ERRORS + "x, y = tensor(X), tensor(Y)\ncompute = lambda x, y: ((x - y) ** 2).mean()\n"

# Copies 64 MiB, which no cache holds, a part on each thread; the bytes per second that are read and written.
BANDWIDTH = """
from concurrent.futures import ThreadPoolExecutor
def bandwidth(threads):
    source, target = np.ones(1 << 24, np.float32), np.zeros(1 << 24, np.float32)
    parts = list(zip(np.array_split(target, threads), np.array_split(source, threads)))
    taken = []
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(20):
            start = time.perf_counter()
            list(pool.map(lambda part: np.copyto(*part), parts))
            taken.append(time.perf_counter() - start)
    return 2 * source.nbytes / min(taken)
"""

# The tail of a layer of a transformer.
TAIL = """
x, r, w, b = tensor(array(4096, 1024)), tensor(array(4096, 1024)), tensor(array(1024)), tensor(array(1024))
def compute(x, r):
    return F.gelu(F.layer_norm(x, {shape}, w, b)) + r
"""

MLP = """
X, T = tensor(array(64, 784)), tensor(rng.integers(0, 10, 64))
W = [tensor(array(784, 256, scale=0.05), True), tensor(array(256, 10, scale=0.05), True)]
B = [tensor(np.zeros(256, np.float32), True), tensor(np.zeros(10, np.float32), True)]
P = W + B
def loss(x, t):
    h = F.relu(x @ W[0] + B[0])
    return F.cross_entropy(h @ W[1] + B[1], t)
"""

LENET = """
X, T = tensor(array(64, 1, 28, 28)), tensor(rng.integers(0, 10, 64))
C = [tensor(array(6, 1, 3, 3, scale=0.2), True), tensor(array(16, 6, 5, 5, scale=0.1), True)]
W = [tensor(array(n, m, scale=0.05), True) for n, m in ((400, 120), (120, 84), (84, 10))]
B = [tensor(np.zeros(n, np.float32), True) for n in (6, 16, 120, 84, 10)]
P = C + W + B
def loss(x, t):
    h = F.max_pool2d(F.relu(F.conv2d(x, C[0], B[0], padding=1)), 2, 2)
    h = F.max_pool2d(F.relu(F.conv2d(h, C[1], B[1])), 2, 2)
    h = h.reshape([64, 400])
    h = F.relu(h @ W[0] + B[2])
    h = F.relu(h @ W[1] + B[3])
    return F.cross_entropy(h @ W[2] + B[4], t)
"""

STEP = """
def step(x, t, loss=loss):
    loss(x, t).backward()
    {update}
    for p in P: {clear}
step(X, T)
"""
CLEAR = STEP.format(update="", clear="p.clear_grad()")
TORCH_CLEAR = STEP.format(update="", clear="p.grad = None")

# The same with what an optimizer of plain SGD computes.
UPDATE = STEP.format(update="with paddle.no_grad(): [p.subtract_(p.grad * 1e-3) for p in P]", clear="p.clear_grad()")
TORCH_UPDATE = STEP.format(
    update="with torch.no_grad(): [p.sub_(p.grad, alpha=1e-3) for p in P]", clear="p.grad = None"
)


def training(title: str, model: str, step: str = CLEAR, torch_step: str = TORCH_CLEAR) -> Case:
    return Case(title, [
        Column("paddle_mps", model + step, "step(X, T)", "eager"),
        Column("paddle_mps", model + step + "compiled = paddle.jit(loss)\n", "step(X, T, compiled)", "jit"),
        Column("paddle", model + step, "step(X, T)", "eager", 1.0),
        Column("torch", model + torch_step, "step(X, T)", "eager", 1.0),
    ])  # fmt: skip


# Queries, keys and values are [batch, length, heads, size] in Paddle and [batch, heads, length, size] in PyTorch.
ATTENTION = """
batch, heads, length, size = {shape}
q, k, v = (tensor(array(batch, length, heads, size)) for _ in range(3))
if name == "torch":
    q, k, v = (x.transpose(1, 2).contiguous() for x in (q, k, v))
def composed():
    a, b, c = (x.transpose([0, 2, 1, 3]) for x in (q, k, v))
    scores = paddle.matmul(a * size**-0.5, b, transpose_y=True)
    if {causal}:
        scores = paddle.where(paddle.ones([length, length], "bool").tril(), scores, paddle.full([], -np.inf))
    return paddle.matmul(F.softmax(scores, -1), c).transpose([0, 2, 1, 3])
f = lambda: F.scaled_dot_product_attention(q, k, v, is_causal={causal})
"""


def attention(shape: tuple[int, ...], causal: bool) -> Case:
    define = ATTENTION.format(shape=shape, causal=causal)
    return Case(f"{'causal ' * causal}attention of {shape}", [
        Column("paddle_mps", define),
        Column("paddle_mps", define, "composed()", "composed", 1.0),
        Column("paddle", define),
        Column("torch", define, bar=1.0),
    ])  # fmt: skip


CASES = [
    Case("ten elementwise steps on 16 MiB", [
        Column("paddle_mps", OURS + "f = paddle.jit(compute)\n", "f(x, y)", "jit"),
        Column("paddle_mps", OURS, "compute(x, y)", "eager"),
        Column("numpy", ARRAYS, "chain(X, Y, np.sqrt, np.maximum, np.abs)"),
        Column("numexpr", NUMEXPR, bar=5.0),
        Column("paddle", OURS, "compute(x, y)", "eager"),
        Column("torch", TORCH, "compute(x, y)", "eager"),
        Column("torch", TORCH + "f = torch.compile(compute)\n", "f(x, y)", "compile", 1.0),
    ], 3 << 24),
    Case("mean squared error of 16 MiB", [
        Column("paddle_mps", OUR_ERROR + "f = paddle.jit(compute)\n", "f(x, y)", "jit"),
        Column("paddle_mps", OUR_ERROR, "compute(x, y)", "eager", 1.0),
        Column("numpy", ERRORS, "((X - Y) ** 2).mean()"),
        Column("paddle", OUR_ERROR, "compute(x, y)", "eager"),
        Column("torch", OUR_ERROR, "compute(x, y)", "eager", 1.0),
    ], 2 << 24),
    Case("layer norm, gelu and residual on (4096, 1024)", [
        Column("paddle_mps", TAIL.format(shape="[1024]") + "f = paddle.jit(compute)\n", "f(x, r)", "jit"),
        Column("paddle_mps", TAIL.format(shape="[1024]"), "compute(x, r)", "eager"),
        Column("paddle", TAIL.format(shape="[1024]"), "compute(x, r)", "eager"),
        Column("torch", TAIL.format(shape="(1024,)"), "compute(x, r)", "eager", 1.5),
    ]),
    training("forward and backward of an MLP, batch 64, 784-256-10", MLP),
    training("forward and backward of LeNet, batch 64", LENET),
    *(attention(shape, causal) for shape in ((1, 12, 512, 64), (8, 12, 128, 64), (1, 8, 2048, 64)) for causal in (False, True)),
]  # fmt: skip

SMALL = """
x, y = tensor(array(8)), tensor(array(8))
one = paddle.jit(lambda x, y: paddle.add(x, y))
def many(x, y, n):
    for _ in range(n): x = paddle.add(x, y)
    return x
hundred = paddle.jit(lambda x, y: many(x, y, 100))
"""

COMPILE = """
def compiled():
    def thousand(x, y):
        for i in range(500): x = paddle.tanh(x * y)
        return x
    f = paddle.jit(thousand)
    began = time.perf_counter(); f.lower(x, y)
    traced = time.perf_counter(); f.explain(x, y)
    ended = time.perf_counter(); f(x, y)
    ran = time.perf_counter()
    g = paddle.jit(thousand)
    start = time.perf_counter(); g(x, y)
    return [traced - began, ended - traced, ran - ended, time.perf_counter() - start]
"""

PEAK = """
def peak():
    w = [tensor(array(512, 512, scale=0.05)) for _ in range(20)]
    x = tensor(array(4096, 512))
    def layers(x):
        for one in w: x = paddle.tanh(x @ one)
        return x
    f = paddle.jit(layers)
    f(x); gc.collect(); paddle.device.empty_cache() if hasattr(paddle.device, "empty_cache") else None
    before = paddle.device.memory_allocated("cpu")
    paddle.device.reset_max_memory_allocated("cpu")
    y = f(x)
    return [paddle.device.max_memory_allocated("cpu") - before, 2 * 4096 * 512 * 4]
"""

# The memory of a step beside what lies before it, whose gradients are not kept. PyTorch counts none on the CPU, but its profiler
# lists what is allocated and freed.
STEP_PEAK = """
def step_peak():
    step(X, T); step(X, T); gc.collect()
    if name == "torch":
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
            step(X, T)
        held = peak = 0
        for event in profile.profiler.kineto_results.events():
            if event.name() == "[memory]":
                held += event.nbytes(); peak = max(peak, held)
        return peak
    asked = lambda what: paddle.mps.memory_stats("cpu")["requested_bytes.all." + what] # as the profiler of PyTorch counts
    before = asked("current")
    paddle.device.reset_max_memory_allocated("cpu")
    step(X, T)
    return asked("peak") - before
"""

# What a step costs beside its kernels, by the spans of the profiler: the whole step, and as parts of it what is in no kernel,
# what of that is in calls and runs, what in the backward pass beside these, and what in Python. Another process that takes the
# processor away makes all of them longer: the quarter of the steps that were the fastest count.
BESIDE = """
def beside(*arguments, steps=80):
    from paddle_mps import profiler
    for _ in range(10): step(*arguments)
    gc.collect(); gc.disable()
    with profiler.Profiler(on_trace_ready=lambda recorded: None) as recording:
        for _ in range(steps):
            with profiler.RecordEvent("step"): step(*arguments)
    gc.enable()
    spans = [e for e in recording.profiler_result.events() if e["ph"] == "X"]
    found = []
    for one in (e for e in spans if e["name"] == "step"):
        inside = [e for e in spans if one["ts"] <= e["ts"] < one["ts"] + one["dur"]]
        passes = [e for e in inside if e["cat"] == "Backward"]
        of = lambda *kinds, since=0, till=np.inf: sum(e["dur"] for e in inside if e["cat"] in kinds and since <= e["ts"] < till)
        whole, kernels, calls, back = one["dur"], of("Kernel"), of("Operator", "Program"), of("Backward")
        within = sum(of("Operator", "Program", since=e["ts"], till=e["ts"] + e["dur"]) for e in passes)
        found.append([whole, whole - kernels, calls - kernels, back - within, whole - calls - (back - within)])
    found.sort()
    means = np.mean(found[: steps // 4], 0)
    return [float(means[0])] + [float(x / means[0]) for x in means[1:]]
"""

# What a warm run asks of Metal, by the counts of the mock.
MOCK = """
import ctypes, os
import numpy as np
import paddle_mps as paddle
F = paddle.nn.functional
name, rng = "paddle_mps", np.random.default_rng(7)
paddle.set_device("mps")
mock = ctypes.CDLL(os.environ["PADDLE_MPS_METAL_LIBRARY"])
mock.fakemetal_count.restype, mock.fakemetal_count.argtypes = ctypes.c_int64, [ctypes.c_char_p]
def array(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)
def tensor(a, ask=False):
    return paddle.to_tensor(a, stop_gradient=not ask)
def counted(title, run):
    for _ in range(10): # the memory of results is where it is in each further run once all work before has ended
        run()
        paddle.mps.synchronize()
    mock.fakemetal_reset()
    run()
    paddle.mps.synchronize()
    counts = {what: mock.fakemetal_count(what.encode()) for what in ("commits", "dispatches", "sends", "compiles", "buffers")}
    print(f"  {title:<44}" + ", ".join(f"{n} {what}" for what, n in counts.items()), flush=True)
# Which copies a run makes: of the CPU, by the spans of the profiler, and of the GPU, by the bytes that the mock has copied.
def copies(title, run):
    from paddle_mps import profiler
    for _ in range(3): run()
    paddle.mps.synchronize()
    mock.fakemetal_reset()
    with profiler.Profiler(on_trace_ready=lambda recorded: None) as recording:
        run()
        paddle.mps.synchronize()
    made = sum(e["ph"] == "X" and e["cat"] == "Memcpy" for e in recording.profiler_result.events())
    moved, commits = mock.fakemetal_count(b"copied_bytes"), mock.fakemetal_count(b"commits")
    bad = made or moved or not commits
    print(f"  {title:<48}{made} copies by the CPU, {moved} bytes by the GPU   bar 0: {'MISSED' if bad else 'met'}", flush=True)
    return [f"copies of {title}: {made}, {moved} bytes"] if bad else []
def chain(x, w):
    for _ in range(50): x = paddle.tanh(x @ w)
    return x
def grouped(x, w):
    for _ in range(50): x = paddle.tanh(x * w)
    return x
x, w = tensor(array(8, 8)), tensor(array(8, 8))
first, second = paddle.jit(chain), paddle.jit(grouped)
counted("100 nodes, 50 products", lambda: first(x, w))
counted("100 nodes, all elementwise", lambda: second(x, w))
mean = paddle.jit(lambda x, w: ((x - w) ** 2).mean())
counted("a loss of three nodes", lambda: mean(x, w))
# Arguments and results in memory of the caller, which begins at a page.
from paddle_mps._core._errors import check
from paddle_mps._core._library import library
from paddle_mps._calls._tracing import handles
def of_caller(a):
    pages = paddle.mps.page_aligned_empty(list(a.shape), "float32")
    pages[:] = a
    return pages, paddle.to_tensor(pages, place="mps", zero_copy=True)
(a, mine), (b, other), (c, out) = (of_caller(array(64, 64, scale=0.1)) for _ in range(3))
missed = []
for title, f in (("100 nodes, 50 products", chain), ("100 nodes, all elementwise", grouped)):
    f = paddle.jit(f)
    want = f(mine, other).numpy()
    program = f._latest.program._handle
    run = lambda: check(library.pmps_program_run_into(program, handles([mine, other]), 2, handles([out]), 1))
    missed += copies("the caller's memory, " + title, run)
    if not np.array_equal(c, want): missed.append(title + ": the result is not in the memory of the caller")
"""


def installed(name: str) -> bool:
    return subprocess.run([sys.executable, "-c", f"import {name}"], capture_output=True).returncode == 0


def compare(case: Case, libraries: dict[str, Library], threads: int) -> list[str]:
    """Prints a case; returns the bars that it misses."""
    columns = [c for c in case.columns if c.library in libraries]
    turns: list[list[list[float]]] = [[] for _ in columns]
    for c in columns:
        libraries[c.library].ask("define", case.title + c.title, c.define)
    for _ in range(TURNS):
        for c, taken in zip(columns, turns):
            taken.append(libraries[c.library].ask("time", case.title + c.title, c.run))
    for c in columns:
        libraries[c.library].ask("value", case.title + c.title, "names.clear()")
    print(f"\n{case.title}, {threads} thread{'s' * (threads > 1)}")
    bandwidth = 0.0
    if case.traffic:
        libraries["numpy"].ask("define", "bandwidth", BANDWIDTH)
        bandwidth = libraries["numpy"].ask("value", "bandwidth", f"bandwidth({threads})")
        print(f"  a copy reads and writes {bandwidth / 1e9:.1f} GB/s")
    ours, missed = statistics.median(t[0] for t in turns[0]), []
    for c, taken in zip(columns, turns):
        took, busy = statistics.median(t[0] for t in taken), statistics.median(t[1] for t in taken)
        ratio = took / ours
        line = f"  {c.library + ' ' + c.title:<24}{took * 1e3:>10.3f} ms{ratio:>9.2f}x   processor {busy:.2f}"
        if bandwidth:
            line += f"   {case.traffic / min(t[0] for t in taken) / bandwidth:.2f} of the bandwidth"
        if c.bar:
            line += f"   bar {c.bar}: {'met' if ratio >= c.bar else 'MISSED'}"
            if ratio < c.bar:
                missed.append(f"{case.title}: {ratio:.2f} times as fast as {c.library} {c.title}; bar {c.bar}")
        print(line, flush=True)
    return missed


def bound(title: str, figure: float, bar: float, unit: str) -> list[str]:
    """Prints a figure that has to stay below a bar; returns it if it does not."""
    met = figure <= bar
    print(f"  {title:<58}{figure:>10.3f} {unit}   bar {bar:g}: {'met' if met else 'MISSED'}", flush=True)
    return [] if met else [f"{title}: {figure:.3f} {unit}; bar {bar:g}"]


def overheads(library: Library) -> list[str]:
    """What a program costs beside what it computes."""
    library.ask("define", "", SMALL + COMPILE + PEAK)
    times: dict[str, list[float]] = {"paddle.add(x, y)": [], "one(x, y)": [], "hundred(x, y)": []}
    for _ in range(TURNS):
        for code, taken in times.items():
            taken.append(library.ask("time", "", code)[0])
    eager, one, hundred = (statistics.median(taken) for taken in times.values())
    print(
        f"\na call: eager {eager * 1e6:.2f} us, a program of one node {one * 1e6:.2f}, of 100 nodes {hundred * 1e6:.2f}"
    )
    missed = bound("a program of one node, beside the eager operator", one / eager, 1.2, "x ")
    missed += bound("a node more in a program of tiny tensors", (hundred - one) / 99 * 1e9, 100, "ns")
    rounds = [library.ask("value", "", "compiled()") for _ in range(5)]
    trace, build, run, first = (statistics.median(column) for column in zip(*rounds))
    print(f"\n1,000 nodes: traced in {trace * 1e3:.1f} ms, compiled in {build * 1e3:.1f} ms, run in {run * 1e3:.2f} ms")
    missed += bound("compilation of 1,000 nodes", build * 1e3, 50, "ms")
    missed += bound("first call, beside tracing and compiling", first / (trace + build), 1.5, "x ")
    peak, least = library.ask("value", "", "peak()")
    print("\nmemory of 20 layers, tanh(x @ w) with x of 8 MiB")
    missed += bound("peak, beside two layers that are alive at a time", peak / least, 1.05, "x ")
    return missed


def training_memory(libraries: dict[str, Library]) -> list[str]:
    """What a training step holds at its peak, beside PyTorch."""
    print("\nmemory of forward and backward, batch 64, beside parameters and arguments")
    missed = []
    for title, model in (("MLP", MLP), ("LeNet", LENET)):
        peaks = {}
        for library, clear in (("paddle_mps", "p.clear_grad(False)"), ("torch", "p.grad = None")):
            if library in libraries:
                libraries[library].ask("define", title, model + STEP.format(update="", clear=clear) + STEP_PEAK)
                peaks[library] = libraries[library].ask("value", title, "step_peak()")
        print("  " + title + ": " + ", ".join(f"{name} {peak / 1e6:.2f} MB" for name, peak in peaks.items()))
        if "torch" in peaks:
            missed += bound(f"peak of {title}, beside PyTorch", peaks["paddle_mps"] / peaks["torch"], 1, "x ")
    return missed


def beside_kernels(library: Library, threads: int) -> list[str]:
    """What a training step costs beside its kernels. With several threads kernels of one step overlap, so it says nothing."""
    if threads > 1:
        return []
    print("\na step of batch 64 by the profiler, parts of it")
    missed = []
    for title, model in (("MLP", MLP), ("LeNet", LENET)):
        library.ask("define", title, model + CLEAR + "compiled = paddle.jit(loss)\n" + BESIDE)
        for how, code in (("eager", "beside(X, T)"), ("jit", "beside(X, T, compiled)")):
            whole, share, *parts = library.ask("value", title, code)
            named = ", ".join(f"{part} {100 * x:.1f} %" for part, x in zip(("calls", "the tape", "Python"), parts))
            print(f"  {title}, {how}: {whole:.0f} us, of which {named}")
            missed += bound(f"{title}, {how}: beside the kernels", 100 * share, 5, "% ")
    return missed


def on_mock() -> list[str]:
    """Counts of warm runs on the mock of Metal, where that is built."""
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build", "libfakemetal.so")
    print("\nwarm runs on the mock of Metal", flush=True)
    if not os.path.exists(library):
        print("  it is not built: sh tests/fakemetal/build.sh")
        return []
    code = MOCK + LENET + CLEAR + 'counted("a step of LeNet", lambda: step(X, T))\n'
    code += 'compiled = paddle.jit(loss)\ncounted("a step of LeNet, jit", lambda: step(X, T, compiled))\n'
    code += "raise SystemExit(bool(missed))\n"
    given = {"PADDLE_MPS_DEVICE": "metal", "PADDLE_MPS_METAL_LIBRARY": library}
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env={**os.environ, **given})
    return ["warm runs on the mock of Metal: see there"] if ended.returncode else []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("case", nargs="*", help="parts of titles; none for all")
    given = parser.parse_args()
    peers = [name for name in ("numexpr", "paddle", "torch") if installed(name)]
    for name in {"numexpr", "paddle", "torch"} - set(peers):
        print(f"{name} is not installed: it is not measured")
    libraries = {name: Library(name, given.threads) for name in ("paddle_mps", "numpy", *peers)}
    missed = []
    if not given.case:
        missed = overheads(libraries["paddle_mps"]) + training_memory(libraries)
        missed += beside_kernels(libraries["paddle_mps"], given.threads) + on_mock()
    for case in CASES:
        if not given.case or any(part in case.title for part in given.case):
            missed += compare(case, libraries, given.threads)
    print("\nmissed:" if missed else "\nall bars are met")
    for line in missed:
        print(f"  {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
