"""Runs the cases of kernels/ through the plug-in and compares each element that they write with NumPy.

    PADDLE_MPS_DEVICE=metal PADDLE_MPS_METAL_LIBRARY=build/libfakemetal.so .venv-triton/bin/python tests/triton/run.py
        [--frontend] [--every N] [--update] [--processes N] [--report FILE] [NAME...]

A case passes, is refused (UnsupportedError or OutOfResources: what is not supported is said), fails (any other error), or
is wrong. passing.txt lists those that have passed before. The exit status is 1 if one of them does not pass, if any fails or
is wrong, or if none ran. A name that no case has is an error. --update writes the list. --frontend runs Triton's Python files without its compiled module, as `paddle-mps triton
frontend` writes them, of the Triton that is installed; --every takes the cases of one turn in N (tests/sampling.py).
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any

import corpus
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import sampling  # noqa: E402

FRONTEND = HERE.parents[1] / "build" / "triton-frontend"
PASSING = HERE / "passing.txt"
GUARD = 64  # elements before and behind each output that a kernel must leave alone
MARK = 77
# Types that paddle has not on mps: the same bits.
VIEWS = {"float64": "int64", "uint16": "int16", "uint32": "int32", "uint64": "int64"}


def device_tensor(data: Any, dtype: str) -> Any:
    """A tensor on the mps device, of a type of Triton's."""
    import triton
    import triton.language as tl

    import paddle_mps

    if dtype == corpus.BF16:
        return paddle_mps.to_tensor(np.ascontiguousarray(data, np.float32), place="mps").cast("bfloat16")
    if dtype in (corpus.FP8E5, corpus.FP8E4):
        return triton.reinterpret(
            paddle_mps.to_tensor(data, place="mps"), tl.float8e5 if dtype == corpus.FP8E5 else tl.float8e4nv
        )
    if dtype in VIEWS:
        return triton.reinterpret(paddle_mps.to_tensor(data.view(VIEWS[dtype]), place="mps"), getattr(tl, dtype))
    return paddle_mps.to_tensor(data, place="mps")


def part(whole: Any, first: int, end: int) -> Any:
    """Elements of a flat tensor, as a view."""
    import triton

    if hasattr(whole, "base"):
        return triton.reinterpret(whole.base[first:end], whole.dtype)
    return whole[first:end]


def prepare(argument: Any) -> tuple[Any, Any]:
    """An argument of the launch, and what of it is compared afterwards: the whole tensor, or None."""
    if isinstance(argument, corpus.Out):
        start = argument.start().reshape(-1)
        before = GUARD + argument.offset
        filled = np.full(before + len(start) + GUARD, MARK).astype(start.dtype)
        filled[before : before + len(start)] = start
        whole = device_tensor(filled, argument.type())
        return part(whole, before, before + len(start)), whole
    if isinstance(argument, corpus.Shifted):
        flat = argument.data.reshape(-1)
        whole = device_tensor(np.concatenate([np.zeros(argument.offset, flat.dtype), flat]), str(flat.dtype))
        return part(whole, argument.offset, len(flat) + argument.offset), None
    if isinstance(argument, corpus.Typed):
        return device_tensor(argument.data.reshape(-1), argument.dtype), None
    if isinstance(argument, np.ndarray):
        return device_tensor(np.ascontiguousarray(argument).reshape(-1), str(argument.dtype)), None
    return argument, None


def fetched(whole: Any, out: corpus.Out) -> np.ndarray[Any, Any]:
    """The elements of an output as NumPy has them: bfloat16 as float32."""
    tensor = whole.base if hasattr(whole, "base") else whole
    if out.dtype == corpus.BF16:
        tensor = tensor.cast("float32")
    return np.asarray(tensor.numpy()).view(out.expected.dtype)


def difference(out: corpus.Out, whole: Any) -> str:
    """What is wrong with an output; empty if nothing is."""
    got, before = fetched(whole, out), GUARD + out.offset
    expected = out.expected.reshape(-1)
    mark = np.full(1, MARK).astype(got.dtype)[0]
    outside = np.concatenate([got[:before], got[before + len(expected) :]])
    if (outside != mark).any():
        return f"{int((outside != mark).sum())} elements outside of the output were written"
    got = got[before : before + len(expected)]
    wrong = corpus.mismatches(out, got)
    if not wrong.any():
        return ""
    i = int(np.argmax(wrong))
    return f"{int(wrong.sum())} of {len(wrong)} wrong, first [{i}]: got {got[i]!r}, want {expected[i]!r} ({out.tolerance.words})"


def run_case(case: corpus.Case) -> tuple[str, str]:
    """The verdict about a case, and why."""
    from triton.runtime.errors import OutOfResources

    from paddle_mps import UnsupportedError, mps

    run = case.run()
    try:
        prepared = [prepare(a) for a in run.args]
        run.kernel[run.grid](*[a for a, _ in prepared], **run.constants, **run.options)
        mps.synchronize()
        for (_, whole), argument in zip(prepared, run.args):
            if isinstance(argument, corpus.Out) and (said := difference(argument, whole)):
                return "wrong", said
    except (UnsupportedError, OutOfResources) as error:
        return "refused", str(error)
    except Exception as error:
        return "failed", f"{type(error).__name__}: {error}"
    return "pass", ""


def work(names: list[str]) -> None:
    """Runs cases, a line of JSON each."""
    cases = corpus.load()
    assert without_compiled_module() == ("triton-frontend" in os.environ.get("PYTHONPATH", ""))
    for name in names:
        start = time.perf_counter()
        verdict, why = run_case(cases[name])
        print(json.dumps([name, verdict, why[:2000], round(time.perf_counter() - start, 2)]), flush=True)


def use_frontend() -> None:
    """Writes the front end of the Triton that is installed, and has processes that are started import it."""
    from paddle_mps_triton import frontend

    spec = importlib.util.find_spec("triton")
    assert spec is not None and spec.origin is not None, "triton is not installed"
    frontend.write(pathlib.Path(spec.origin).parents[1], FRONTEND)
    paths = [str(FRONTEND), str(HERE.parents[1] / "python"), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def without_compiled_module() -> bool:
    """Whether the Triton of this process is one that `paddle-mps triton frontend` has written."""
    from triton._C import libtriton

    with open("/proc/self/maps") as maps:
        return hasattr(libtriton, "__path__") and "libtriton" not in maps.read()


def spread(names: list[str], processes: int) -> list[list[Any]]:
    """The verdicts, by processes beside each other. A case that kills its process has failed; the others go on."""
    results: list[list[Any]] = []
    waiting = [names[i::processes] for i in range(processes)]
    with tempfile.TemporaryDirectory() as folder:
        running: list[tuple[subprocess.Popen[str], list[str], pathlib.Path]] = []

        def start(list_of: list[str]) -> None:
            log = pathlib.Path(folder) / f"{len(results)}-{list_of[0]}"
            with open(log, "w") as file:
                process = subprocess.Popen(
                    [sys.executable, __file__, "--worker", *list_of], stdout=file, stderr=subprocess.STDOUT, text=True
                )
            running.append((process, list_of, log))

        for list_of in waiting:
            if list_of:
                start(list_of)
        while running:
            process, list_of, log = running.pop(0)
            process.wait()
            lines = log.read_text(errors="replace").splitlines()
            done = [json.loads(line) for line in lines if line.startswith('["')]
            results += done
            left = list_of[len(done) :]
            if left:
                rest = " ".join(line for line in lines if not line.startswith('["'))[-300:]
                results.append([left[0], "failed", f"the process ended with {process.returncode}: {rest}", 0])
                if left[1:]:
                    start(left[1:])
    return sorted(results)


def report(results: list[list[Any]], wanted: set[str]) -> int:
    """Prints the verdicts; the exit status."""
    count = collections.Counter(verdict for _, verdict, _, _ in results)
    reasons: dict[str, list[str]] = collections.defaultdict(list)
    for name, verdict, why, _ in results:
        if verdict != "pass":
            reasons[f"{verdict}: {why.strip().splitlines()[0][:200] if why.strip() else ''}"].append(name)
    for reason, names in sorted(reasons.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{len(names):4} {reason}\n     {' '.join(names)}")
    passed = {name for name, verdict, _, _ in results if verdict == "pass"}
    ran = {name for name, _, _, _ in results}
    lost = sorted((wanted & ran) - passed)
    slow = sorted(results, key=lambda r: -r[3])[:5]
    print("slowest: " + ", ".join(f"{name} {seconds} s" for name, _, _, seconds in slow))
    print(
        f"{len(results)} kernels: {count['pass']} passed, {count['refused']} refused, {count['failed']} failed, {count['wrong']} wrong"
    )
    for name in lost:
        print(f"FAIL {name}: it is in passing.txt")
    return bool(lost or count["wrong"] or count["failed"] or not results)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--worker", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--report")
    parser.add_argument("--frontend", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    given = parser.parse_args()
    os.environ.setdefault("PADDLE_MPS_TRITON", "1")
    if given.worker:
        work(given.names)
        return 0
    import triton

    known = corpus.load()
    if unknown := [n for n in given.names if n not in known]:
        parser.error(f"there is no case {', '.join(unknown)} in tests/triton/kernels")
    names = given.names or [n for n in known if sampling.note(given.every, sampling.takes(given.every, n))]
    if given.frontend:
        use_frontend()
    start = time.perf_counter()
    results = spread(names, given.processes)
    through = "its Python files alone" if given.frontend else "the wheel"
    print(f"triton {triton.__version__}, {through}, {time.perf_counter() - start:.0f} s")
    for line in sampling.left_out():
        print(line)
    if given.report:
        pathlib.Path(given.report).write_text(json.dumps(results, indent=0))
    wanted = set(PASSING.read_text().split()) if PASSING.exists() else set()
    status = report(results, wanted)
    if given.update:
        passed = {name for name, verdict, _, _ in results if verdict == "pass"}
        PASSING.write_text("\n".join(sorted(wanted - {r[0] for r in results} | passed)) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
