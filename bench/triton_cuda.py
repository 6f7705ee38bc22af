"""Compiled Triton kernels on an NVIDIA GPU, against stock Triton on the same GPU.

    ./build.sh bench triton-cuda                     # all of it, where nvcc, a GPU, PyTorch and Triton are
    python bench/triton_cuda.py compile DIR          # Triton to Metal: needs paddle-mps and Triton, no GPU
    python3 bench/triton_cuda.py build DIR           # Metal to CUDA, by nvcc: needs no GPU either
    python3 bench/triton_cuda.py check DIR           # against NumPy, and for races
    python3 bench/triton_cuda.py measure DIR         # against Triton: needs PyTorch and Triton

The words of the Metal source are mapped to CUDA's, as_cuda/words.py, and nothing else is changed, so what is measured is
what the compiler has decided: layouts, accesses, exchanges, barriers. It says nothing of Apple's GPUs. Matrices of SIMD
groups have no counterpart in CUDA; as_cuda/metal.h makes them of shuffles, and products have no bar.
"""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
IR = HERE.parent / "tests" / "triton" / "ttir" / "3.9.0"
BAR = 0.95  # of Triton's speed
ROUNDS = 5


def compile_all(folder: pathlib.Path) -> int:
    """Writes the Metal source of each row and of each case of the corpus that compiles."""
    from as_cuda import rows

    from paddle_mps import UnsupportedError
    from paddle_mps._commands._triton_tool import compiled
    from paddle_mps_triton import ttir

    (folder / "corpus").mkdir(parents=True, exist_ok=True)
    for row in rows.ROWS:
        for warps in row.warps:
            text = ttir.lower(row.kernel, *ttir.parse(row.kernel, row.signature), {"num_warps": warps})
            (folder / f"{rows.file_name(row, warps)}.metal").write_text(compiled(text, row.name, warps, False))
    for name, options in json.loads((IR / "options.json").read_text()).items():
        try:
            text = compiled(
                (IR / f"{name}.ttir").read_text(), name, options["num_warps"], options.get("allow_f64_as_f32", False)
            )
        except UnsupportedError:
            continue
        (folder / "corpus" / f"{name}.metal").write_text(text)
    return 0


def build(folder: pathlib.Path) -> int:
    """Compiles each source with nvcc, beside it: NAME.cu, NAME.cubin. Without a GPU it is for the H100."""
    from as_cuda import driver, words

    try:
        architecture = driver.Device().architecture
    except (OSError, RuntimeError):
        architecture = "sm_90"

    nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

    def one(path: pathlib.Path) -> str:
        source = path.with_suffix(".cu")
        source.write_text(words.cuda(path.read_text()))
        command = [nvcc, "-std=c++17", "-O3", f"-arch={architecture}", "-lineinfo", "-cubin", f"-I{HERE / 'as_cuda'}"]
        quiet = ["-diag-suppress", "177,550"]  # variables that are never used, or only set
        done = subprocess.run(
            [*command, *quiet, str(source), "-o", str(path.with_suffix(".cubin"))], capture_output=True, text=True
        )
        return f"{source}: {done.stderr}" if done.returncode else ""

    paths = sorted(folder.rglob("*.metal"))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = [said for said in pool.map(one, paths) if said]
    print("\n".join([*failed, f"nvcc: {len(paths)} kernels, {len(failed)} failed"]))
    return len(failed) > 0


def check(folder: pathlib.Path) -> int:
    """Compares with NumPy, under the check for races if that is installed."""
    command = [sys.executable, str(HERE / "as_cuda" / "check.py"), str(folder)]
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if not os.path.exists(sanitizer):
        print("compute-sanitizer is not installed: races are not looked for")
        return subprocess.run(command).returncode
    options = ["--tool", "racecheck", "--racecheck-report", "all", "--error-exitcode", "9", "--print-limit", "30"]
    return subprocess.run([sanitizer, *options, *command]).returncode


def measure(folder: pathlib.Path) -> int:
    """Times each row against Triton, each at its best number of warps, in turns."""
    import torch
    import triton
    from as_cuda import rows
    from as_cuda.driver import Device

    torch.zeros(1, device="cuda")
    device = Device()
    print(f"{torch.cuda.get_device_name()}, triton {triton.__version__}, torch {torch.__version__}")
    print(f"{'':32} {'triton':>9} {'ours':>9}  ratio  warps  largest difference")
    failed = sum(not measured(folder, device, row) for row in rows.ROWS)
    print(f"want at least {BAR}x where there is a bar: {failed or 'none'} of {len(rows.ROWS)} fall short of it")
    return failed > 0


def measured(folder: pathlib.Path, device: Any, row: Any) -> bool:
    """Prints the figures of a row; whether it is as asked for."""
    import numpy as np
    import torch
    from as_cuda import rows, words
    from as_cuda.driver import Launch
    from triton.testing import do_bench

    made = row.make(np.random.default_rng(0), row.rows)
    args = [torch.from_numpy(a).cuda() if isinstance(a, np.ndarray) else a for a in made]
    out, grid = row.kernel.arg_names.index("out"), row.grid(row.rows)
    theirs = [a.clone() if i == out else a for i, a in enumerate(args)]
    calls: dict[Any, Any] = {}
    for warps in row.warps:
        path = folder / f"{rows.file_name(row, warps)}.cubin"
        metadata = words.metadata(path.with_suffix(".metal").read_text())
        calls["ours", warps] = Launch(
            device, device.function(path.read_bytes(), metadata["name"]), metadata, grid, args
        )
        calls["triton", warps] = functools.partial(row.kernel[grid], *theirs, *row.constants(), num_warps=warps)
    worst = 0.0
    for (who, _), call in calls.items():
        (args if who == "ours" else theirs)[out].zero_()
        call()
        if who == "triton":
            worst = float(np.maximum(worst, apart(row, args[out], theirs[out])))  # NaN stays
    times: dict[Any, list[float]] = {key: [] for key in calls}
    for _ in range(ROUNDS):
        for key, call in calls.items():
            times[key].append(do_bench(call, warmup=5, rep=30, return_mode="median") * 1e3)
    median = {key: statistics.median(values) for key, values in times.items()}
    (slow, slow_warps), (fast, fast_warps) = (
        min((t, warps) for (w, warps), t in median.items() if w == who) for who in ("triton", "ours")
    )
    good = worst <= 1 and (slow / fast >= BAR or not row.bar)
    print(
        f"{row.name:32} {slow:6.1f} us {fast:6.1f} us {slow / fast:5.2f}x {slow_warps:3} {fast_warps:3}  {worst:.2g} of the bound"
        f"{'' if row.bar else ', no bar'}{'' if good else '  FAIL'}"
    )
    print("   ", ", ".join(f"{who} {warps}: {t:.1f}" for (who, warps), t in median.items()), flush=True)
    return good


def apart(row: Any, ours: Any, theirs: Any) -> float:
    """The largest difference of two results, in units of what is allowed: both may be off."""
    if row.terms == 0:
        return 0.0 if bool((ours == theirs).all()) else float("inf")
    unit = 2.0**-11 if ours.element_size() == 2 else 2.0**-24
    ours, theirs = ours.float(), theirs.float()
    allowed = 2 * row.allowed(theirs, theirs.abs().max(), unit)
    return float(((ours - theirs).abs() / (allowed + 2.0**-149)).max())


STEPS = {"compile": compile_all, "build": build, "check": check, "measure": measure}


def main() -> int:
    if len(sys.argv) == 3 and sys.argv[1] in STEPS:
        return STEPS[sys.argv[1]](pathlib.Path(sys.argv[2]).resolve())
    if len(sys.argv) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        return max(step(pathlib.Path(folder)) for step in STEPS.values())


if __name__ == "__main__":
    sys.exit(main())
