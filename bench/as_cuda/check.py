"""Runs compiled kernels on the GPU and compares what they write with NumPy: the corpus of tests/triton, and small sizes of
what is measured. It needs neither PyTorch nor paddle-mps, so that compute-sanitizer sees our kernels alone.

    compute-sanitizer --tool racecheck python3 bench/as_cuda/check.py DIR [NAME...]

DIR is what `bench/triton_cuda.py compile` and `build` have left. The exit status is 1 if anything is wrong.
"""

from __future__ import annotations

import pathlib
import sys
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "triton")]

import corpus  # noqa: E402
import run  # noqa: E402

from as_cuda import rows, words  # noqa: E402
from as_cuda.driver import Device, Launch, Memory  # noqa: E402

device = Device()


class Part:
    """Elements of memory from one on, as an argument of a launch."""

    def __init__(self, memory: Memory, offset: int) -> None:
        self._address = memory.data_ptr() + offset

    def data_ptr(self) -> int:
        return self._address


class Fetched:
    """Memory as tests/triton/run.py reads a tensor."""

    def __init__(self, memory: Memory, bf16: bool) -> None:
        self._memory, self._bf16 = memory, bf16

    def numpy(self) -> np.ndarray[Any, Any]:
        return self._memory.numpy()

    def cast(self, dtype: str) -> Fetched:
        return self

    def view(self) -> np.ndarray[Any, Any]:
        got = self._memory.numpy()
        return (got.astype(np.uint32) << 16).view(np.float32) if self._bf16 else got


SKIP = "skip: "


def bits(data: np.ndarray[Any, Any], dtype: str) -> np.ndarray[Any, Any]:
    """An array as the GPU has it: of bfloat16 the upper halves."""
    if dtype == corpus.BF16:
        return (np.ascontiguousarray(data, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(data)


def prepare(argument: Any, kept: list[Memory]) -> tuple[Any, Any]:
    """An argument of a launch, and of an output the whole memory: with elements around it that must stay."""
    if isinstance(argument, corpus.Out):
        start = argument.start().reshape(-1)
        before = run.GUARD + argument.offset
        filled = np.full(before + len(start) + run.GUARD, run.MARK).astype(start.dtype)
        filled[before : before + len(start)] = start
        data = bits(filled, argument.type())
        kept.append(memory := Memory(device, data))
        return Part(memory, before * data.itemsize), Fetched(memory, argument.type() == corpus.BF16)
    if isinstance(argument, (corpus.Shifted, corpus.Typed, np.ndarray)):
        offset = getattr(argument, "offset", 0)
        flat = (argument if isinstance(argument, np.ndarray) else argument.data).reshape(-1)
        data = bits(np.concatenate([np.zeros(offset, flat.dtype), flat]), getattr(argument, "dtype", ""))
        kept.append(memory := Memory(device, data))
        return Part(memory, offset * data.itemsize), None
    return argument, None


def corpus_case(folder: pathlib.Path, case: corpus.Case) -> str:
    """What is wrong with a case; empty if nothing is."""
    path = folder / "corpus" / f"{case.name}.metal"
    metadata = words.metadata(path.read_text())
    if "reports" in metadata:
        return SKIP + "it prints or asserts, for which the library has a buffer and this program has not"
    launched, kept = case.run(), []  # type: ignore[var-annotated]
    # The IR may have another name for an argument, that of a variable to which it was assigned, so that places count.
    prepared = [(*prepare(a, kept), a) for a in launched.args]
    values = [value for value, _, _ in prepared]
    if len(values) > len(metadata["args"]):  # some have a value that is part of the kernel
        named = dict(zip(launched.kernel.arg_names, values))
        values = [named[p["name"]] for p in metadata["args"]]
    function = device.function(path.with_suffix(".cubin").read_bytes(), metadata["name"])
    Launch(device, function, metadata, launched.grid, values)()
    device.synchronize()
    wrong = ""
    for _, whole, argument in prepared:
        if whole is not None:
            whole.numpy = whole.view
            wrong = wrong or run.difference(argument, whole)
    for memory in kept:
        memory.free()
    return wrong


def row_case(folder: pathlib.Path, row: rows.Row, warps: int) -> str:
    """What is wrong with a small size of a kernel that is measured."""
    path = folder / f"{rows.file_name(row, warps)}.metal"
    metadata = words.metadata(path.read_text())
    args = row.make(np.random.default_rng(1), row.small)
    memory = [Memory(device, a) if isinstance(a, np.ndarray) else a for a in args]
    function = device.function(path.with_suffix(".cubin").read_bytes(), metadata["name"])
    Launch(device, function, metadata, row.grid(row.small), memory)()
    device.synchronize()
    got = memory[row.kernel.arg_names.index("out")].numpy()
    for m in memory:
        if isinstance(m, Memory):
            m.free()
    if row.exact is None:
        return ""
    expected = row.exact(args).reshape(got.shape)
    unit = 2.0**-11 if got.dtype == np.float16 else rows.EPS
    apart = np.abs(got.astype(np.float64) - expected)
    beyond = ~(apart <= row.allowed(expected, np.abs(expected).max(), unit))
    return f"{int(beyond.sum())} of {beyond.size} wrong, at most {apart.max():.3g} apart" if beyond.any() else ""


def main() -> int:
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    cases = {
        row.name + f", {w} warps": (lambda row=row, w=w: row_case(folder, row, w))
        for row in rows.ROWS
        for w in row.warps
    }
    cases |= {
        name: (lambda case=case: corpus_case(folder, case))
        for name, case in corpus.load().items()
        if (folder / "corpus" / f"{name}.cubin").exists()
    }
    wrong = skipped = 0
    chosen = {name: check for name, check in cases.items() if not names or name in names}
    for name, check in chosen.items():
        try:
            said = check()
        except RuntimeError as error:
            said = str(error)
        if said.startswith(SKIP):
            skipped += 1
            print(said.replace(SKIP, f"skip {name}: "))
        elif said:
            wrong += 1
            print(f"WRONG {name}: {said}", flush=True)
    print(f"{len(chosen) - skipped} kernels ran, {wrong} wrong, {skipped} skipped")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
