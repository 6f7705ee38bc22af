"""Runs the tests of the onnx package and compares what passes with the list in passing.txt.

    python tests/onnx/run.py [--group node] [--match REGEX] [--update] [--verbose]

Beside the counts of each group it prints those of the node tests by the domain of their operators, and by element type.

Each test is a model with inputs and the outputs that ONNX's reference gives. A test passes if the outputs are within its
tolerance (a relative error of 1e-3 and an absolute one of 1e-7, unless it says otherwise). It is refused where the model needs
something that is not supported, and the error says so. Everything else is a failure: a wrong answer, another error, or the
end of the process, for which the tests run in a process of their own.

passing.txt lists what has passed once, so that nothing is lost: --update writes it anew.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

HERE = pathlib.Path(__file__).parent
# Tests whose answers are random numbers of NumPy's generator: dtype and shape count. tests/python/test_onnx_operators.py says more
# of the latter.
RANDOM = re.compile(r"bernoulli|training_dropout(?!_zero_ratio)")
# The recorded answers of inverse Fourier transforms are those of a float32 FFT of 10 elements up to 9: each may be off by
# log2(10) * 9 * 2**-24 / 10 and more near zero, where ours are smaller.
ATOL = {"dft_inverse": 2.0**-21}
GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator", "light")


def package(name: str) -> Any:
    """A module of the onnx package, which type checkers would take for the folder of this file."""
    return importlib.import_module(name)


def tests(group: str, match: str) -> Iterator[tuple[str, pathlib.Path]]:
    """The names and folders of the tests of a group; light ones have their models in one folder."""
    data = pathlib.Path(package("onnx.backend.test").__file__).parent / "data" / group
    found = sorted(data.glob("*.onnx" if group == "light" else "*/model.onnx"))
    for path in found:
        name = f"{group}/{path.stem if group == 'light' else path.parent.name}"
        if re.search(match, name):
            yield name, path


def read(path: pathlib.Path, kind: Any) -> Any:
    """A value of a .pb file: an array, or a list or None for the types that tensors are not."""
    onnx, numpy_helper = package("onnx"), package("onnx.numpy_helper")

    message = path.read_bytes()
    if kind.HasField("sequence_type"):
        sequence = onnx.SequenceProto()
        sequence.ParseFromString(message)
        return numpy_helper.to_list(sequence)
    if kind.HasField("optional_type"):
        optional = onnx.OptionalProto()
        optional.ParseFromString(message)
        return numpy_helper.to_optional(optional)
    tensor = onnx.TensorProto()
    tensor.ParseFromString(message)
    return numpy_helper.to_array(tensor)


def values(folder: pathlib.Path, what: str, ports: Any) -> list[Any]:
    """The inputs or the outputs of a test."""
    return [
        read(folder / f"{what}_{i}.pb", p.type) for i, p in enumerate(ports) if (folder / f"{what}_{i}.pb").exists()
    ]


def wrong(name: str, got: Any, want: Any, rtol: float, atol: float) -> str:
    """What is wrong with a result, which may be a list or None; empty if nothing is."""
    import numpy as np

    if want is None or isinstance(want, list):
        if type(got) is not type(want) or (want is not None and len(got) != len(want)):
            return f"{got}; want {want}"
        faults = (wrong(name, x, y, rtol, atol) for x, y in zip(got or (), want or ()))
        return next((f"element {i}: {fault}" for i, fault in enumerate(faults) if fault), "")
    if got is None or isinstance(got, list):
        return f"{got}; want a tensor"
    if want.dtype.name == "bfloat16":
        got, want = got.cast("float32"), want.astype("float32")
    array = got if isinstance(got, np.ndarray) else got.numpy()
    if array.dtype != want.dtype:
        return f"dtype {array.dtype}; want {want.dtype}"
    if want.dtype.isbuiltin != 1:  # of ml_dtypes, whose numbers float32 holds
        array, want = array.astype("float32"), want.astype("float32")
    if array.shape != want.shape:
        return f"shape {array.shape}; want {want.shape}"
    if RANDOM.search(name):
        return ""
    if want.dtype == object:  # strings
        return "" if np.array_equal(array, want) else f"{array.tolist()}; want {want.tolist()}"
    if not np.allclose(array, want, rtol=rtol, atol=atol, equal_nan=True):
        different = ~np.isclose(array, want, rtol=rtol, atol=atol, equal_nan=True)
        return (
            f"{different.sum()} of {different.size} elements, such as {array[different][0]}; want {want[different][0]}"
        )
    return ""


def sorts(path: pathlib.Path) -> tuple[str, str]:
    """The domain of a model, that of its nodes which is not the main one if there is one; and an element type: that of the first
    input, or of the first output if there is none."""
    onnx = package("onnx")
    graph = onnx.load(path, load_external_data=False).graph
    domain = next((n.domain for n in graph.node if n.domain not in ("", "ai.onnx")), "ai.onnx")
    kind = (list(graph.input) or list(graph.output))[0].type
    while not kind.HasField("tensor_type"):
        if kind.HasField("map_type"):
            return domain, "map"
        kind = kind.sequence_type.elem_type if kind.HasField("sequence_type") else kind.optional_type.elem_type
    return domain, onnx.TensorProto.DataType.Name(kind.tensor_type.elem_type).lower()


def table(title: str, sort: Any, found: dict[str, tuple[str, str]]) -> None:
    """Prints how many tests of each sort pass, of how many."""
    counts: dict[str, list[int]] = collections.defaultdict(lambda: [0, 0])
    for name, (how, _) in found.items():
        counts[sort[name]][0] += how == "pass"
        counts[sort[name]][1] += 1
    print(f"  by {title}: " + ", ".join(f"{what} {ours} of {all_}" for what, (ours, all_) in sorted(counts.items())))


def run(name: str, path: pathlib.Path) -> tuple[str, str]:
    """The outcome of a test: "pass", "refused" or "fail", and why."""
    import paddle_mps

    try:
        model = package("onnx").load(path)
        folder = path.parent / ("test_data_set_0" if path.name == "model.onnx" else f"{path.stem}_data")
        settings = path.parent / "data.json"
        limits = json.loads(settings.read_text()) if path.name == "model.onnx" and settings.exists() else {}
        given = {t.name for t in model.graph.initializer}
        ports = (
            model.graph.input if path.name == "model.onnx" else [p for p in model.graph.input if p.name not in given]
        )
        if path.name != "model.onnx":
            inputs, want = light(path, ports, model.graph.output)
        else:
            inputs, want = values(folder, "input", ports), values(folder, "output", model.graph.output)
        ours = paddle_mps.onnx.load(path, paddle_mps.CPUPlace())
        arrays = {p.name: x for p, x in zip(ports, inputs)}
        got = ours(*[tensor(arrays[p.name], p) for p in ours.inputs])
        for i, (x, y) in enumerate(zip(got if isinstance(got, tuple) else (got,), want)):
            atol = next((a for part, a in ATOL.items() if part in name), limits.get("atol", 1e-7))
            fault = wrong(name, x, y, limits.get("rtol", 1e-3), atol)
            if fault:
                return "fail", f"output {i}: {fault}"
        return "pass", ""
    except paddle_mps.UnsupportedError as error:
        return "refused", str(error)
    except Exception as error:  # whatever it is, the next test runs
        return "fail", f"{type(error).__name__}: {error}"


def tensor(x: Any, port: Any) -> Any:
    """An input as the model takes it: NumPy has no bfloat16 of its own."""
    import paddle_mps

    if getattr(x, "dtype", None) is not None and x.dtype.name == "bfloat16":
        return paddle_mps.to_tensor(x.astype("float32"), place=paddle_mps.CPUPlace()).cast("bfloat16")
    return x


def light(path: pathlib.Path, inputs: Any, outputs: Any) -> tuple[list[Any], list[Any]]:
    """The inputs of a light model, which are any numbers, and the outputs that it always has."""
    import numpy as np

    shape = [d.dim_value for d in inputs[0].type.tensor_type.shape.dim]
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    return [x], [read(path.with_name(path.stem + "_output_0.pb"), outputs[0].type)]


def child(group: str, match: str, done: int) -> None:
    """Runs the tests of a group from one on, and prints a line at the start and at the end of each."""
    for i, (name, path) in enumerate(tests(group, match)):
        if i < done:
            continue
        print(json.dumps(["begin", name, ""]), flush=True)
        print(json.dumps(outcome(name, path)), flush=True)


def outcome(name: str, path: pathlib.Path) -> list[str]:
    """A line for a test that has run."""
    how, why = run(name, path)
    return [how, name, why]


def collect(group: str, match: str) -> dict[str, tuple[str, str]]:
    """The outcomes of a group. A process that ends early has crashed in the test that it had begun."""
    found: dict[str, tuple[str, str]] = {}
    while True:
        command = [sys.executable, __file__, "--child", group, "--match", match, "--done", str(len(found))]
        made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        begun = ""
        for line in made.stdout.splitlines():
            how, name, why = json.loads(line)
            begun = name if how == "begin" else ""
            if how != "begin":
                found[name] = how, why
        if made.returncode == 0:
            return found
        if not begun:
            raise SystemExit(f"run.py: the tests of {group} did not start")
        found[begun] = "crash", f"the process ended with status {made.returncode}"


def main() -> int:
    """Runs the groups, prints counts and faults, and returns 1 if something has failed or is not refused any more."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--group", choices=GROUPS)
    parser.add_argument("--match", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="print why tests are refused")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--done", type=int, default=0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.match, given.done)
        return 0
    listed = HERE / "passing.txt"
    before = set(listed.read_text().split()) if listed.exists() else set()
    passed, bad, all_of = set(), 0, {}
    for group in [given.group] if given.group else GROUPS:
        found = collect(group, given.match)
        all_of.update(found)
        counts = collections.Counter(how for how, _ in found.values())
        print(
            f"{group}: " + ", ".join(f"{counts[how]} {how}" for how in ("pass", "refused", "fail", "crash")), flush=True
        )
        for name, (how, why) in found.items():
            if how in ("fail", "crash") or (given.verbose and how == "refused"):
                print(f"  {how} {name}: {why[:300]}")
            bad += how in ("fail", "crash")
        if group == "node":
            by = {name: sorts(path) for name, path in tests(group, given.match)}
            table("domain", {name: domain for name, (domain, _) in by.items()}, found)
            table("element type", {name: elem for name, (_, elem) in by.items()}, found)
        passed |= {name for name, (how, _) in found.items() if how == "pass"}
        if drawn := sum(how == "pass" and RANDOM.search(name) is not None for name, (how, _) in found.items()):
            print(f"  of random answers, dtype and shape alone: {drawn}")
    lost = sorted((before & set(all_of)) - passed)
    for name in lost:
        print(f"lost: {name} passed before: {all_of[name]}")
    if given.update:
        listed.write_text("\n".join(sorted((before - set(all_of)) | passed)) + "\n")
    print(f"{len(passed)} passed, {len(passed - before)} of them new, {bad} failed, {len(lost)} lost")
    return 1 if bad or lost else 0


if __name__ == "__main__":
    sys.exit(main())
