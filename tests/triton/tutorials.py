"""Runs Triton's own tutorials on the mps device.

    TRITON_SOURCE=DIR ./build.sh test triton-tutorials [NAME...]

DIR is a checkout of Triton; its files run unchanged, each in a process of its own, with torch tensors on the CPU. Three
things are replaced around them, not in them: `triton.testing.perf_report`, because times on the mock say nothing; the
benchmark of autotune, which runs each configuration once; and torch's layer_norm of float16, the reference of tutorial 05,
whose gradients on the CPU are sums in float16: of 1,151 rows they are off by 0.05, where the tutorial allows 0.01. It is
computed in float32, as on CUDA. No line of these tutorials calls torch.cuda where the target is not CUDA.
Tutorial 08 writes addresses of tensors into a tensor, and its kernel follows them. With CUDA, torch.rand and torch.empty
give memory of the device; here both are replaced by functions that give memory which the CPU and the device share. Of its
configurations for autotune the one with the fewest programs and the smallest tiles is run: on the mock each takes minutes.
It compares float16 results of up to 256 with an absolute tolerance of 0.01, less than one unit in the last place: near a tie
PyTorch on the CPU, which adds in another order, rounds the other way. torch.allclose allows one unit here.
A tutorial passes if it ends without an exception and its own comparisons with torch hold.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import runpy
import subprocess
import sys
import time
from typing import Any

FOLDER = "python/tutorials"
PATIENCE = 1800  # seconds that a tutorial may take

# differ: the word by which a tutorial that only prints how results compare tells of a difference. calls: tests that a
# tutorial leaves to pytest, with their arguments. shared: functions of torch that give memory of the device. configuration:
# the only one of autotune that is run. rtol: for torch.allclose.
TUTORIALS: dict[str, dict[str, Any]] = {
    "01-vector-add": {},
    "02-fused-softmax": {},
    "03-matrix-multiplication": {"differ": "differ"},
    "04-low-memory-dropout": {},
    "05-layer-norm": {},
    "06-fused-attention": {
        "calls": [
            ("test_op", {"Z": 1, "H": 2, "N_CTX": 128, "HEAD_DIM": 64, "causal": True, "warp_specialize": False, "mode": mode,
                         "provider": provider})
            for mode, provider in (("bwd", "triton-fp16"), ("fwd", "triton-fp8"))
        ]
    },
    "08-grouped-gemm": {"shared": ("rand", "empty"), "configuration": 2, "rtol": 2.0**-10},
}  # fmt: skip


class Report:
    """In place of what perf_report makes: a benchmark that is not run."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __call__(self, *args: Any, **given: Any) -> Any:
        return self.function(*args, **given)

    def run(self, *args: Any, **given: Any) -> None:
        """Times would be those of the mock."""


def once(call: Any, **_: Any) -> list[float]:
    """One run of a configuration."""
    from paddle_mps import mps

    start = time.perf_counter()
    call()
    mps.synchronize()
    return [(time.perf_counter() - start) * 1e3] * 3


kept: list[Any] = []  # tensors of the device over memory that torch has


def sharing(make: Any) -> Any:
    """A function of torch that makes a tensor, in memory that the mps device has too."""

    def call(*args: Any, **given: Any) -> Any:
        import torch

        from paddle_mps import mps, to_tensor

        made = make(*args, **given)
        memory = mps.page_aligned_empty([made.nbytes], dtype="uint8")
        kept.append(to_tensor(memory, place="mps", zero_copy=True))
        return torch.from_numpy(memory).view(made.dtype).reshape(made.shape).copy_(made)

    return call


def work(path: pathlib.Path) -> None:
    """Runs one tutorial in this process."""
    import torch
    import triton

    torch.manual_seed(0)
    torch.set_num_threads(1)
    layer_norm = torch.nn.functional.layer_norm

    def in_float32(x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
        return layer_norm(x.float(), shape, weight.float(), bias.float(), eps).to(x.dtype)

    torch.nn.functional.layer_norm = in_float32
    triton.testing.perf_report = lambda configs: Report
    triton.runtime.driver.MPSDriver.get_benchmarker = lambda self: once
    facts = TUTORIALS[path.stem]
    for name in facts.get("shared", ()):
        setattr(torch, name, sharing(getattr(torch, name)))
    if "rtol" in facts:
        allclose = torch.allclose
        torch.allclose = lambda a, b, atol, rtol: allclose(a, b, atol=atol, rtol=facts["rtol"])
    if "configuration" in facts:
        autotune, only = triton.autotune, facts["configuration"]
        triton.autotune = lambda configs, **given: autotune(configs[only : only + 1], **given)
    sys.argv = [str(path)]
    calls = facts.get("calls", [])
    if calls:
        os.environ["PYTEST_VERSION"] = "1"  # for which the tutorial takes one configuration
    made = runpy.run_path(str(path), run_name="tutorial" if calls else "__main__")
    for name, given in calls:
        made[name](**given)
        print(f"{name} {given}")


def verdict(path: pathlib.Path) -> tuple[bool, str]:
    """Whether a tutorial passes, and the end of what it said."""
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--worker", str(path)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"it took more than {PATIENCE} s"
    facts = TUTORIALS[path.stem]
    return done.returncode == 0 and facts.get("differ", "\0") not in done.stdout, done.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description="runs Triton's tutorials on the mps device")
    parser.add_argument("names", nargs="*", help="01, 02 and so on; without names, all")
    parser.add_argument("--worker", type=pathlib.Path)
    given = parser.parse_args()
    if given.worker:
        work(given.worker)
        return 0
    folder = pathlib.Path(os.environ.get("TRITON_SOURCE", "")) / FOLDER
    if not os.environ.get("TRITON_SOURCE") or not folder.exists():
        sys.exit(
            f"triton-tutorials: TRITON_SOURCE is {os.environ.get('TRITON_SOURCE', '')!r}; want a checkout of Triton, which has {FOLDER}"
        )
    failed = 0
    for name in TUTORIALS:
        if given.names and not any(name.startswith(n) for n in given.names):
            continue
        start = time.monotonic()
        passed, said = verdict(folder.resolve() / f"{name}.py")
        failed += not passed
        print(f"{'ok' if passed else 'FAIL'} {name} ({time.monotonic() - start:.0f} s)", flush=True)
        if not passed:
            print("    " + "\n    ".join(said.splitlines()[-25:]), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
