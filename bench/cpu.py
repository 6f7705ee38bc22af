"""The CPU beside its limits and beside what people use instead: NumPy, PaddlePaddle, PyTorch.

Each library is a process of its own. The processes take turns, line by line, together with a program that measures the
machine: the bandwidth of a STREAM triad, over arrays as large as those of the line, and the peak of fused multiply-adds.
So a change of the machine's speed hits all, and ratios count, not times. A figure is the median of the turns.

For each line the table has our time, the time of each peer over ours (more is better), the limit of the machine, the part
of it that we reach, and the bars that the project has set itself. Bytes are those that have to be read and written, once
each. The exit status is 1 if a bar is missed. PyTorch is measured where it is installed; a column is empty where a library
lacks the operator.
"""

from __future__ import annotations

import argparse
import math
import os
import pathlib
import re
import shlex
import statistics
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import programs
from programs import Library

TURNS = 5
LEAST = 0.03  # seconds that a turn measures at least
PEERS = ("numpy", "paddle", "torch")


@dataclass
class Line:
    """A row of the table: one expression for each library, and what it costs at least."""

    name: str
    define: dict[str, str]  # by library, what is run first
    run: dict[str, str]  # by library
    bytes: float = 0
    flops: float = 0
    limit: str = ""  # what bench/limits.c measures; none where neither bytes nor operations bound the time
    bar: float = 1.0  # the least ratio of each peer's time to ours; 0: none
    part: float = 0.0  # the least part of the limit


# Families of lines. `setup` is Python that all libraries run; size is the bytes of the largest operand. Each row is
#   name | Paddle's expression, ours too | NumPy's | PyTorch's | bytes | floating-point operations
# An expression that is left out is not measured. Names in braces are replaced by those of the family.
ELEMENTWISE_SETUP = """
n = {size} // 4
x, y, o = tensor(array(n)), tensor(array(n)), tensor(np.zeros(n, np.float32))
b = x > y
ob = x > y
oi = None if name in ("paddle", "paddle_mps") else tensor(np.zeros(n, np.int32))
"""
MEMORY_BOUND = """
add | paddle.add(x, y) | np.add(x, y, out=o) | torch.add(x, y, out=o) | 12*n | n
multiply | paddle.multiply(x, y) | np.multiply(x, y, out=o) | torch.mul(x, y, out=o) | 12*n | n
relu | F.relu(x) | np.maximum(x, np.float32(0), out=o) | torch.clamp_min(x, 0, out=o) | 8*n | n
copy | x.clone() | np.copyto(o, x) | o.copy_(x) | 8*n | 0
cast to int32 | x.astype('int32') | np.copyto(oi, x, casting='unsafe') | oi.copy_(x) | 8*n | n
where | paddle.where(b, x, y) | np.where(b, x, y) | torch.where(b, x, y, out=o) | 13*n | n
compare | paddle.greater_than(x, y) | np.greater(x, y, out=ob) | torch.gt(x, y, out=ob) | 9*n | n
"""
FUNCTIONS = """
exp | paddle.exp(x) | np.exp(x, out=o) | torch.exp(x, out=o) | 8*n | 20*n
log | paddle.log(p) | np.log(p, out=o) | torch.log(p, out=o) | 8*n | 20*n
sigmoid | F.sigmoid(x) | | torch.sigmoid(x, out=o) | 8*n | 24*n
tanh | paddle.tanh(x) | np.tanh(x, out=o) | torch.tanh(x, out=o) | 8*n | 24*n
gelu | F.gelu(x) | | F.gelu(x) | 8*n | 30*n
erf | paddle.erf(x) | | torch.erf(x, out=o) | 8*n | 26*n
sin | paddle.sin(x) | np.sin(x, out=o) | torch.sin(x, out=o) | 8*n | 20*n
pow | paddle.pow(p, y) | np.power(p, y, out=o) | torch.pow(p, y, out=o) | 12*n | 50*n
"""
FUNCTIONS_SETUP = """
n = {size} // 4
x, y, p, o = tensor(array(n)), tensor(array(n)), tensor(abs(array(n)) + 0.1), tensor(np.zeros(n, np.float32))
"""
REDUCTIONS_SETUP = """
n = {size} // 4
x = tensor(array(64, 256, n // 64 // 256))
z = x > 9
"""
REDUCTIONS = """
sum | paddle.sum(x{axis}) | np.sum(x{axis}) | torch.sum(x{dim}) | 4*n | n
mean | paddle.mean(x{axis}) | np.mean(x{axis}) | torch.mean(x{dim}) | 4*n | n
max | paddle.max(x{axis}) | np.max(x{axis}) | torch.amax(x{dim}) | 4*n | n
argmax | paddle.argmax(x{axis}) | np.argmax(x{axis}) | torch.argmax(x{dim}) | 4*n | n
any | paddle.any(z{axis}) | np.any(z{axis}) | torch.any(z{dim}) | n | n
"""
CUMSUM = "cumsum | paddle.cumsum(x{axis}) | np.cumsum(x{axis}) | torch.cumsum(x{dim}) | 8*n | n\n"
SORTS_SETUP = "n = 10**6\nx = tensor(array(n))\n"
SORTS = """
sort of 10^6 | paddle.sort(x) | np.sort(x) | torch.sort(x)[0] | 8*n | 0
top 100 of 10^6 | paddle.topk(x, 100) | np.partition(x, -100)[-100:] | torch.topk(x, 100) | 4*n | 0
"""
LINES_SETUP = """
n = {rows} * {columns}
x, w, b = tensor(array({rows}, {columns})), tensor(array({columns})), tensor(array({columns}))
def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
def log_softmax(x):
    x = x - x.max(1, keepdims=True)
    return x - np.log(np.exp(x).sum(1, keepdims=True))
def norm(x):
    x = x - x.mean(1, keepdims=True)
    return x / np.sqrt((x * x).mean(1, keepdims=True) + np.float32(1e-5)) * w + b
"""
LINES = """
softmax | F.softmax(x, -1) | softmax(x) | torch.softmax(x, -1) | 8*n | 25*n
log_softmax | F.log_softmax(x, -1) | log_softmax(x) | torch.log_softmax(x, -1) | 8*n | 25*n
layer_norm | F.layer_norm(x, [{columns}], w, b) | norm(x) | F.layer_norm(x, ({columns},), w, b) | 8*n | 8*n
"""
MOVES_SETUP = """
n = 4096 * 4096
x = tensor(array(4096, 4096))
rows = rng.permutation(4096)
i = tensor(rows)
"""
MOVES = """
transposed copy 4096^2 | paddle.transpose(x, [1, 0]).contiguous() | np.ascontiguousarray(x.T) | x.t().contiguous() | 8*n | 0
gather of rows | paddle.gather(x, i) | x[rows] | torch.index_select(x, 0, i) | 8*n | 0
scatter of rows | paddle.scatter(x, i, x) | scatter(x, rows) | x.index_copy(0, i, x) | 12*n | 0
concat | paddle.concat([x, x]) | np.concatenate([x, x]) | torch.cat([x, x]) | 12*n | 0
concat, last axis | paddle.concat([x, x], 1) | np.concatenate([x, x], 1) | torch.cat([x, x], 1) | 12*n | 0
"""
SCATTER = """
def scatter(x, rows):
    y = x.copy()
    y[rows] = x
    return y
"""
MIB = 1 << 20


def family(title: str, setup: str, rows: str, names: dict[str, Any], **given: Any) -> Iterator[Line]:
    """The lines of a table; given are fields that all of them have."""
    for row in rows.strip().splitlines():
        name, ours, numpy, torch, moved, flops = [cell.strip().format(**names) for cell in row.split("|")]
        size = {"n": count(setup.format(**names))}
        expressions = {"paddle_mps": ours, "paddle": ours, "numpy": numpy, "torch": torch}
        run = {library: e for library, e in expressions.items() if e}
        yield Line(
            name + title, dict.fromkeys(run, setup.format(**names)), run, eval(moved, size), eval(flops, size), **given
        )


def count(setup: str) -> int:
    """The n that a setup begins with."""
    found = re.search(r"^n = (.*)$", setup, re.MULTILINE)
    assert found
    return int(eval(found.group(1)))


def elementwise() -> Iterator[Line]:
    large: dict[str, Any] = {"size": 64 * MIB}
    yield from family(", 64 MiB", ELEMENTWISE_SETUP, MEMORY_BOUND, large, limit="nontemporal", part=0.95)
    for size, text in ((16 * MIB, "16 MiB"), (16 << 10, "16 KiB")):
        yield from family(f", {text}", FUNCTIONS_SETUP, FUNCTIONS, {"size": size}, limit="roof")


def reductions() -> Iterator[Line]:
    for axis, text in ((0, "first axis"), (1, "middle axis"), (2, "last axis"), (None, "all")):
        names = {"size": 64 * MIB, "axis": "", "dim": ""}
        if axis is not None:
            names |= {"axis": f", axis={axis}", "dim": f", dim={axis}"}
        yield from family(f", {text}", REDUCTIONS_SETUP, REDUCTIONS, names, limit="plain")
        if axis is not None:
            yield from family(f", {text}", REDUCTIONS_SETUP, CUMSUM, names, limit="nontemporal")


def rest() -> Iterator[Line]:
    yield from family("", SORTS_SETUP, SORTS, {})
    for rows, columns in ((4096, 1024), (65536, 64)):
        names = {"rows": rows, "columns": columns}
        yield from family(f", ({rows}, {columns})", LINES_SETUP, LINES, names, limit="roof")
    yield from family("", MOVES_SETUP + SCATTER, MOVES, {}, limit="nontemporal")


# rows, inner, columns, batch (0: none), dtype, which operand is transposed, bar beside peers, least part of the limit
PRODUCTS: list[tuple[int, int, int, int, str, str, float, float]] = [
    (64, 64, 64, 0, "float32", "", 0.85, 0),
    (128, 128, 128, 0, "float32", "", 0.85, 0),
    (512, 512, 512, 0, "float32", "", 0.85, 0),
    (1024, 1024, 1024, 0, "float32", "", 0.85, 0.6),
    (2048, 2048, 2048, 0, "float32", "", 0.85, 0),
    (64, 1024, 1024, 0, "float32", "", 0.85, 0),
    (1, 4096, 4096, 0, "float32", "", 0.85, 0),
    (128, 128, 128, 64, "float32", "", 0.85, 0),
    (1024, 1024, 1024, 0, "float32", "x", 0.85, 0),
    (1024, 1024, 1024, 0, "float32", "y", 0.85, 0),
    (1024, 1024, 1024, 0, "float64", "", 0.9, 0),
    (1024, 1024, 1024, 0, "bfloat16", "", 1.0, 0),
    (1024, 1024, 1024, 0, "int8", "", 1.0, 0),
]


def products() -> Iterator[Line]:
    for m, k, n, batch, dtype, swapped, bar, part in PRODUCTS:
        outer = f"{batch}, " if batch else ""
        convert = {"float32": "", "int8": ".astype('int8')", "float64": ".astype('float64')"}.get(dtype)
        # NumPy has no bfloat16: the tensor is converted.
        later = {"paddle": ".astype('bfloat16')", "torch": ".to(torch.bfloat16)"} if convert is None else {}
        x, y = (f"array({outer}{a}, {b}, scale=9){convert or ''}" for a, b in ((m, k), (k, n)))
        if swapped == "x":
            x = f"array({outer}{k}, {m})"
        if swapped == "y":
            y = f"array({outer}{n}, {k})"
        define, run = {}, {}
        for library, call in (("paddle_mps", "paddle.matmul"), ("paddle", "paddle.matmul"), ("numpy", "np.matmul"), ("torch", "torch.matmul")):  # fmt: skip
            if convert is None and library == "numpy":
                continue
            suffix = later.get(library.split("_")[0], "")
            define[library] = f"x, y = tensor({x}){suffix}, tensor({y}){suffix}\n"
            run[library] = f"{call}({'x.T' if swapped == 'x' else 'x'}, {'y.T' if swapped == 'y' else 'y'})"
        if dtype == "int8":
            run["paddle_mps"] = "paddle.matmul(x, y)"
        title = f"matmul {f'{batch}x' if batch else ''}{m}x{k}x{n} {dtype}" + (
            f", {swapped} transposed" if swapped else ""
        )
        size = {"float64": 8, "float32": 4, "bfloat16": 2, "int8": 1}[dtype]
        times = max(batch, 1)
        yield Line(
            title, define, run, size * times * (m * k + k * n + m * n), 2.0 * times * m * k * n,
            "float64" if dtype == "float64" else "float32" if k * n * m > 2**25 or m > 1 else "plain", bar, part,
        )  # fmt: skip


# channels, height (and width), filters, side of the window, stride, padding, groups, transposed
CONVOLUTIONS = {
    "ResNet-50": [
        (3, 224, 64, 7, 2, 3, 1), (64, 56, 64, 1, 1, 0, 1), (64, 56, 64, 3, 1, 1, 1), (64, 56, 256, 1, 1, 0, 1),
        (256, 56, 512, 1, 2, 0, 1), (128, 28, 128, 3, 1, 1, 1), (256, 14, 256, 3, 1, 1, 1), (1024, 14, 256, 1, 1, 0, 1),
        (512, 7, 512, 3, 1, 1, 1), (512, 7, 2048, 1, 1, 0, 1),
    ],
    "MobileNetV3": [
        (3, 224, 16, 3, 2, 1, 1), (16, 112, 16, 3, 1, 1, 16), (16, 112, 64, 1, 1, 0, 1), (64, 112, 64, 3, 2, 1, 64),
        (72, 56, 72, 5, 2, 2, 72), (120, 28, 120, 5, 1, 2, 120), (80, 14, 480, 1, 1, 0, 1), (672, 14, 672, 5, 2, 2, 672),
        (160, 7, 960, 1, 1, 0, 1),
    ],
    "U-Net": [
        (3, 256, 64, 3, 1, 1, 1), (64, 256, 64, 3, 1, 1, 1), (128, 128, 128, 3, 1, 1, 1), (512, 32, 512, 3, 1, 1, 1),
        (64, 256, 2, 1, 1, 0, 1),
    ],
}  # fmt: skip


def convolutions() -> Iterator[Line]:
    for model, shapes in CONVOLUTIONS.items():
        for c, h, f, side, stride, padding, groups in shapes:
            define = f"x, w = tensor(array(1, {c}, {h}, {h})), tensor(array({f}, {c // groups}, {side}, {side}))\n"
            run = f"F.conv2d(x, w, stride={stride}, padding={padding}, groups={groups})"
            out = (h + 2 * padding - side) // stride + 1
            libraries = ("paddle_mps", "paddle", "torch")
            kind = f", {groups} groups" if groups > 1 else ""
            yield Line(
                f"conv {model} {c}x{h}^2 -> {f}, {side}x{side}/{stride}{kind}",
                dict.fromkeys(libraries, define), dict.fromkeys(libraries, run),
                4.0 * (c * h * h + f * out * out + f * c // groups * side * side),
                2.0 * f * out * out * c // groups * side * side, "roof", 0.75,
            )  # fmt: skip


def steps() -> Iterator[Line]:
    """Steps of training the networks of bench/programs.py: eager, and compiled beside what the peers do eagerly."""
    for name, model in (("an MLP, batch 64, 784-256-10", programs.MLP), ("LeNet, batch 64", programs.LENET)):
        case = programs.training(f"training step of {name}", model, programs.UPDATE, programs.TORCH_UPDATE)
        eager, jit, *peers = case.columns
        for ours, title, bar in ((eager, "eager", 1.0), (jit, "jit", 1.5)):
            columns = [ours, *peers]
            define, run = ({c.library: getattr(c, what) for c in columns} for what in ("define", "run"))
            yield Line(f"{case.title}, {title}", define, run, bar=bar)


class Limits:
    """The process of bench/limits.c."""

    def __init__(self, folder: str) -> None:
        source = pathlib.Path(__file__).with_name("limits.c")
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
        command = [*compiler, "-O3", "-march=native", str(source), "-o", f"{folder}/limits", "-lpthread"]
        subprocess.run(command, check=True)
        self.process = subprocess.Popen([f"{folder}/limits"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, what: str, threads: int = 1, size: float = 0) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(f"{what} {threads} {int(size)}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def seconds(self, line: Line, threads: int) -> float:
        """The least time of a line; 0 where it has no limit. Three arrays of a triad take as much memory as the line."""
        if not line.limit:
            return 0.0
        times = [0.0]
        if line.limit in ("plain", "nontemporal", "roof"):
            kind = "plain" if line.limit == "plain" or line.bytes < 32 * MIB else "nontemporal"
            times.append(line.bytes / 1e9 / float(self.ask(kind, threads, line.bytes / 3)))
        if line.limit in ("float32", "float64", "roof"):
            times.append(
                line.flops / 1e9 / float(self.ask("float64" if line.limit == "float64" else "float32", threads))
            )
        return max(times)


@dataclass
class Figures:
    """What was measured of a line, in seconds."""

    line: Line
    took: dict[str, float]
    limit: float
    failed: dict[str, str]

    def missed(self) -> list[str]:
        """The bars that are missed."""
        if "paddle_mps" not in self.took:
            return [f"no figure: {self.failed['paddle_mps']}"]
        ours, line = self.took["paddle_mps"], self.line
        found = [
            f"{self.took[peer] / ours:.2f}x {peer}; bar {line.bar:g}"
            for peer in PEERS
            if line.bar and peer in self.took and self.took[peer] / ours < line.bar
        ]
        if line.part and self.limit / ours < line.part:
            found.append(f"{self.limit / ours:.2f} of the limit; bar {line.part:g}")
        return found


def measure(line: Line, libraries: dict[str, Library], limits: Limits, threads: int) -> Figures:
    turns: dict[str, list[float]] = {}
    bounds, failed = [], {}
    for name, code in line.define.items():
        if name in libraries and isinstance(answer := libraries[name].attempt("define", line.name, code), str):
            failed[name] = answer
    for _ in range(TURNS):
        for name, code in line.run.items():
            if name in libraries and name not in failed:
                answer = libraries[name].attempt("time", line.name, code, LEAST)
                if isinstance(answer, str):
                    failed[name] = answer
                else:
                    turns.setdefault(name, []).append(answer[0])
        bounds.append(limits.seconds(line, threads))
    for name in line.define:
        if name in libraries:
            libraries[name].attempt("value", line.name, "names.clear()")
    took = {name: statistics.median(taken) for name, taken in turns.items() if name not in failed}
    return Figures(line, took, statistics.median(bounds), failed)


def show(f: Figures) -> None:
    """Prints a row of the table."""
    ours = f.took.get("paddle_mps", math.nan)
    ratios = "".join(f"{f.took[peer] / ours:>8.2f}" if peer in f.took else f"{'':>8}" for peer in PEERS)
    rate = f"{f.line.flops / ours / 1e9:>8.1f}" if f.line.flops else f"{'':>8}"
    rate += f"{f.line.bytes / ours / 1e9:>8.1f}" if f.line.bytes else f"{'':>8}"
    bound = f"{f.limit * 1e6:>12,.1f}{f.limit / ours:>7.2f}" if f.limit else f"{'':>19}"
    bars = f"{f.line.bar:>6.2f}" if f.line.bar else f"{'':>6}"
    bars += f"{f.line.part:>6.2f}" if f.line.part else f"{'':>6}"
    verdict = "; ".join(f.missed()) if not math.isnan(ours) else f.missed()[0]
    print(
        f"{f.line.name:<54}{ours * 1e6:>12,.1f}{ratios}{rate}{bound}{bars}  {'MISSED ' + verdict if verdict else 'met'}",
        flush=True,
    )


def plot(path: str, figures: list[Figures], limits: Limits, threads: int, level: str) -> str:
    """Draws the roofline; returns what it did, or what to install."""
    try:
        import matplotlib
    except ImportError:
        return f"no picture: matplotlib is missing; install it with {sys.executable} -m pip install matplotlib"
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(11, 7))
    peak, wide = (float(limits.ask(what, threads)) for what in ("float32", "nontemporal"))
    wide = float(limits.ask("nontemporal", threads, 64 * MIB))
    xs = [2.0**e for e in range(-5, 12)]
    axes.plot(xs, [min(peak, wide * x) for x in xs], "k-", label=f"{wide:.0f} GB/s, {peak:.0f} GFLOP/s")
    for f in figures:
        if f.line.flops and f.line.bytes and "paddle_mps" in f.took:
            at = (f.line.flops / f.line.bytes, f.line.flops / f.took["paddle_mps"] / 1e9)
            axes.plot(*at, "o", color="tab:red" if f.missed() else "tab:green")
            axes.annotate(f.line.name, at, fontsize=5)
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="GFLOP/s")
    axes.set_title(f"{level}, threads: {threads}; green: all bars met")
    axes.legend()
    name = pathlib.Path(path)
    name = name.with_name(f"{name.stem}-{threads}{name.suffix or '.png'}")
    figure.savefig(name, dpi=150)
    return f"drew {name}"


def chosen(wanted: list[str]) -> list[Line]:
    lines = [*elementwise(), *reductions(), *rest(), *products(), *convolutions(), *steps()]
    return [line for line in lines if not wanted or any(part in line.name for part in wanted)]


def run(lines: list[Line], limits: Limits, threads: int, given: argparse.Namespace) -> list[str]:
    """Measures all lines with a number of threads; returns the bars that are missed."""
    level, environment = limits.ask("level"), {}
    if given.avx2:
        environment = {"GODEBUG": "cpu.avx512f=off"}
        level = "avx2" if level == "avx512" else level
    peers = [name for name in PEERS if programs.installed(name)]
    libraries = {
        name: Library(name, threads, **(environment if name == "paddle_mps" else {})) for name in ("paddle_mps", *peers)
    }
    print(f"\n{level}, {threads} thread{'s' * (threads > 1)}")
    head = "".join(f"{name:>8}" for name in PEERS)
    print(f"{'':<54}{'us':>12}{head}{'GFLOP/s':>8}{'GB/s':>8}{'limit us':>12}{'part':>7}{'bars':>12}")
    figures = []
    for line in lines:
        figures.append(measure(line, libraries, limits, threads))
        show(figures[-1])
    for name, library in libraries.items():
        library.close()
        for f in figures:
            if name in f.failed:
                print(f"  {name} failed: {f.line.name}: {f.failed[name][:150]}")
    products = [f for f in figures if f.line.name.startswith("matmul") and "float32" in f.line.name]
    means = mean("float32 matmul, geometric mean beside the fastest peer", products)
    means += mean("convolutions, geometric mean", [f for f in figures if f.line.name.startswith("conv ")])
    means += over_float32("int8", 2, figures)
    means += over_float32("bfloat16", 2 if has_amx() else 1, figures)
    if given.plot:
        print(plot(given.plot, figures, limits, threads, level))
    return [f"{f.line.name}: {text} ({threads})" for f in figures for text in f.missed()] + means


def over_float32(dtype: str, bar: float, figures: list[Figures]) -> list[str]:
    """Prints how many times as fast as float32 a dtype is multiplied; returns it if it is below its bar."""
    product = "matmul 1024x1024x1024 "
    took = {f.line.name: f.took["paddle_mps"] for f in figures if "paddle_mps" in f.took}
    if product + "float32" not in took or product + dtype not in took:
        return []
    found = took[product + "float32"] / took[product + dtype]
    print(f"{product}{dtype}, times our float32: {found:.2f}; bar {bar:g}: {'met' if found >= bar else 'MISSED'}")
    return [] if found >= bar else [f"{product}{dtype}, times our float32: {found:.2f}"]


def has_amx() -> bool:
    """Whether the processor has AMX for bfloat16."""
    information = pathlib.Path("/proc/cpuinfo")
    return information.exists() and "amx_bf16" in information.read_text().split()


def mean(title: str, figures: list[Figures]) -> list[str]:
    """Prints the geometric mean of the ratios to the fastest peer; returns it if it is below 1."""
    ratios = [
        min(t for name, t in f.took.items() if name != "paddle_mps") / f.took["paddle_mps"]
        for f in figures
        if "paddle_mps" in f.took and len(f.took) > 1
    ]
    if not ratios:
        return []
    found = statistics.geometric_mean(ratios)
    print(f"{title}: {found:.2f}; bar 1: {'met' if found >= 1 else 'MISSED'}")
    return [] if found >= 1 else [f"{title}: {found:.2f}"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", default="1,2", help="numbers of threads, each of which is measured (1,2)")
    parser.add_argument("--avx2", action="store_true", help="without AVX-512")
    parser.add_argument("--list", action="store_true", help="print the names of the lines")
    parser.add_argument("--plot", metavar="FILE", help="draw a roofline, one picture for each number of threads")
    parser.add_argument("line", nargs="*", help="parts of names; none for all")
    given = parser.parse_args()
    lines = chosen(given.line)
    if given.list:
        print("\n".join(line.name for line in lines))
        return 0
    for name in PEERS:
        if not programs.installed(name):
            print(f"{name} is not installed: it is not measured")
    with tempfile.TemporaryDirectory() as folder:
        limits = Limits(folder)
        missed = [text for n in given.threads.split(",") for text in run(lines, limits, int(n), given)]
        limits.process.terminate()
        limits.process.wait()
    print(f"\n{len(missed)} missed" if missed else "\nall bars are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
