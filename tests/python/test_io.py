"""paddle.io: orders and batches as recorded from PaddlePaddle, and what becomes of threads, processes and shared memory."""

from __future__ import annotations

import gc
import importlib.util
import json
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from typing import Any, Callable

import batch_data
import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.io import DataLoader

PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"
_spec = importlib.util.spec_from_file_location("batches", PEERS / "batches.py")
assert _spec is not None and _spec.loader is not None
batches = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(batches)
ANSWERS = json.loads((PEERS / "batches_3_3_1.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("expression", ANSWERS)
def test_recorded(expression: str) -> None:
    names = {**batches.scope("paddle_mps"), "Range": batch_data.Range, "Stream": batch_data.Stream}
    np.random.seed(0)
    assert batches.essence(eval(expression, names)) == ANSWERS[expression]


def test_every_expression_is_recorded() -> None:
    assert list(ANSWERS) == batches.EXPRESSIONS
    assert sorted(paddle.io.__all__) == sorted(paddle._surface.NAMES["paddle.io"].split())


def left_over(pid: int | None = None) -> list[Any]:
    """Threads, processes and segments of shared memory of data loaders."""
    gc.collect()
    threads: list[Any] = [t for t in threading.enumerate() if t.name == "paddle_mps.io"]
    folder = pathlib.Path("/dev/shm")  # a Mac cannot list them
    segments = list(folder.glob(f"pmps{pid or os.getpid():x}_*")) if folder.exists() else []
    return [*threads, *multiprocessing.active_children(), *segments]


def test_workers_make_batches_without_the_library() -> None:
    found = list(DataLoader(batch_data.Images(10), batch_size=4, num_workers=2))
    for k, (image, sample) in enumerate(found):
        want = np.arange(4 * k, min(4 * k + 4, 10))
        assert image.dtype is paddle.float32 and (image.numpy() == want.reshape(-1, 1, 1)).all()
        assert sample["name"] == [str(i) for i in want]
        assert not sample["library"].numpy().any()
    pids = {int(pid) for _, sample in found for pid in sample["pid"].numpy()}
    assert len(pids) == 2 and os.getpid() not in pids
    assert not left_over()


def test_tensors_of_workers_arrive() -> None:
    for x, half, places in DataLoader(batch_data.Tensors(4), batch_size=4, num_workers=1, places="mps"):
        assert x.place.is_mps_place() and x.numpy()[:, 0].tolist() == [0, 1, 2, 3]
        assert half.dtype is paddle.bfloat16 and half.astype("float32").numpy().ravel().tolist() == [0, 1, 2, 3]
        assert set(places) == {"Place(cpu)"}
    assert not left_over()


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize("kind, error", [("key", KeyError), ("stop", RuntimeError), ("odd", Exception)])
def test_exceptions_are_raised_in_the_caller(workers: int, kind: str, error: type[Exception]) -> None:
    seen = 0
    with pytest.raises(error) as caught:
        for _ in DataLoader(batch_data.Faulty(10, kind), batch_size=2, num_workers=workers):
            seen += 1
    assert seen == 2
    text = "".join(traceback.format_exception(caught.type, caught.value, caught.tb))
    assert "__getitem__" in text and "batch_data.py" in text and ("sample five" in text or kind == "odd")
    del caught
    assert not left_over()


def test_a_worker_that_ends_is_an_error() -> None:
    for kind, said in (("kill", "killed by signal 9"), ("exit", "status 3")):
        with pytest.raises(RuntimeError, match=rf"^\[DataLoader\] worker \d .*{said}"):
            list(DataLoader(batch_data.Faulty(10, kind), batch_size=1, num_workers=1))
        assert not left_over()


def test_a_worker_that_takes_too_long_is_an_error() -> None:
    with pytest.raises(RuntimeError, match=r"^\[DataLoader\] no batch came within 0.5 s"):
        list(DataLoader(batch_data.Faulty(10, "hang"), batch_size=1, num_workers=1, timeout=0.5))
    assert not left_over()


def test_worker_init_fn_fails() -> None:
    with pytest.raises(ValueError, match="worker 0 cannot begin"):
        list(DataLoader(batch_data.Range(3), num_workers=1, worker_init_fn=batch_data.fail))
    assert not left_over()


@pytest.mark.parametrize("workers", [0, 1])
def test_leaving_early_leaves_nothing(workers: int) -> None:
    loader = DataLoader(batch_data.Images(1000), batch_size=2, num_workers=workers)
    for _ in loader:
        while not any(isinstance(x, pathlib.Path) for x in left_over()) and workers and sys.platform == "linux":
            time.sleep(0.01)  # until the worker has made a batch that nobody reads
        assert left_over()
        break
    del _
    assert not left_over()


def test_persistent_workers_go_on() -> None:
    loader = DataLoader(batch_data.Images(4), batch_size=2, num_workers=1, persistent_workers=True)
    pids = {int(sample["pid"][0]) for _ in range(3) for _, sample in loader}
    assert len(pids) == 1
    first = iter(loader)
    next(first)
    assert [sample["name"] for _, sample in loader] == [["0", "1"], ["2", "3"]]
    assert list(first) == []
    del loader, first
    assert not left_over()


def test_seeds_of_workers_follow_numpy() -> None:
    def epochs() -> list[Any]:
        np.random.seed(3)
        loader = DataLoader(batch_data.Seeds(2), num_workers=1, persistent_workers=True)
        return [[x.item() for x in batch] for _ in range(2) for batch in loader]

    found = epochs()
    assert len({x for batch in found for x in batch}) == 8
    assert found == epochs()


class Local(batch_data.Range):
    """With a function that cannot be pickled, or an object that cannot be copied either."""

    def __init__(self, count: int, held: Any) -> None:
        super().__init__(count)
        self.held = held

    def __getitem__(self, index: int) -> Any:
        return index, threading.current_thread().ident


@pytest.mark.parametrize("held, threads", [(lambda x: x, 2), (threading.Lock(), 1)])
def test_what_cannot_be_pickled_is_read_by_threads(held: Any, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["paddle_mps.io._loader"], "_warned", set())
    loader = DataLoader(Local(8, held), batch_size=2, num_workers=2)
    with pytest.warns(RuntimeWarning, match="instead of worker processes: .*cannot be pickled") as caught:
        found = list(loader)
        list(loader)
    assert len(caught) == 1
    assert [i.tolist() for i, _ in found] == [[0, 1], [2, 3], [4, 5], [6, 7]]
    assert len({int(t) for _, idents in found for t in idents.numpy()}) == threads
    del caught
    assert not left_over()


def running(pid: str) -> bool:
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


PROGRAM = """
import os, sys, warnings
import numpy as np
import paddle
class Images(paddle.io.Dataset):
    def __getitem__(self, i):
        return np.full((64, 65), i, "float32"), os.getpid()
    def __len__(self):
        return 8
class Net(paddle.autograd.PyLayer):
    pass
sys.stdout.write("imported\\n")  # in one piece: others write too
sys.stdout.flush()
def run(**settings):
    pids = set()
    for image, pid in paddle.io.DataLoader(Images(), batch_size=2, num_workers=2, **settings):
        pids.update(pid.tolist())
    print(len(pids - {os.getpid()}), "workers")
"""


def program(tmp_path: pathlib.Path, end: str) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + end)
    return subprocess.run([sys.executable, "-m", "paddle_mps", str(path)], capture_output=True, text=True, timeout=60)


def test_a_program_with_a_main_guard(tmp_path: pathlib.Path) -> None:
    done = program(tmp_path, "if __name__ == '__main__':\n    run()\n")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.split() == ["imported"] * 3 + ["2", "workers"]


def test_a_program_without_one_is_read_by_threads(tmp_path: pathlib.Path) -> None:
    done = program(tmp_path, "run()\nrun()\n")
    assert done.returncode == 0 and done.stdout.split() == ["imported"] + ["0", "workers"] * 2
    assert done.stderr.count("RuntimeWarning") == 1 and "of program.py, which worker" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc and /dev/shm")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_is_stopped_leaves_nothing(tmp_path: pathlib.Path, number: int) -> None:
    path = tmp_path / "program.py"
    wait = "        if len(pids) == 2: print(*map(int, pids), flush=True); import time; time.sleep(60)\n"
    path.write_text(
        PROGRAM.replace("        pids.update(pid.tolist())\n", "        pids.update(pid.tolist())\n" + wait)
    )
    with path.open("a") as file:
        file.write("if __name__ == '__main__':\n    run()\n")
    command = [sys.executable, "-m", "paddle_mps", str(path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as child:
        assert child.stdout is not None and child.stderr is not None
        lines = iter(child.stdout)
        pids = next(line for line in lines if re.fullmatch(r"\d+ \d+\n", line)).split()
        os.killpg(child.pid, number) if number == signal.SIGINT else os.kill(child.pid, number)
        errors = child.stderr.read()  # until the last process that has it ends
    assert child.returncode == -number or (number == signal.SIGINT and child.returncode == 1)
    limit = time.monotonic() + 30  # a process closes its files before it has ended
    while (any(map(running, pids)) or left_over(child.pid)) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not any(map(running, pids))
    assert not left_over(child.pid)
    assert errors.count("Traceback") == (number == signal.SIGINT)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda io, d: io.DataLoader(d, batch_size=0), r"\[DataLoader\] batch_size is 0; want an int from 1"),
        (lambda io, d: io.DataLoader(d, num_workers=-1), r"\[DataLoader\] num_workers is -1; want"),
        (lambda io, d: io.DataLoader(d, prefetch_factor=0), r"\[DataLoader\] prefetch_factor is 0; want"),
        (lambda io, d: io.DataLoader(d, timeout=-1), r"\[DataLoader\] timeout is -1; want"),
        (lambda io, d: io.DataLoader(d, collate_fn=3), r"\[DataLoader\] collate_fn is 3; want"),
        (lambda io, d: io.DataLoader(3), r"\[BatchSampler\] dataset is 3; want"),
        (lambda io, d: io.DataLoader(d, batch_sampler=3), r"\[DataLoader\] batch_sampler is 3; want"),
        (
            lambda io, d: io.DataLoader(d, batch_sampler=[[0]], shuffle=True),
            r"\[DataLoader\] got batch_sampler; want none of",
        ),
        (
            lambda io, d: io.DataLoader(batch_data.Stream(3), shuffle=True),
            r"\[DataLoader\] .* IterableDataset; want neither",
        ),
        (lambda io, d: io.DataLoader(d, places=["cpu", "mps"]), r"\[DataLoader\] places has 2"),
        (
            lambda io, d: len(io.DataLoader(batch_data.Stream(3))),
            r"\[DataLoader\] .* IterableDataset; want one with a length",
        ),
        (lambda io, d: io.BatchSampler(), r"\[BatchSampler\] want either"),
        (lambda io, d: io.BatchSampler(d, sampler=[1]), r"\[BatchSampler\] want either"),
        (lambda io, d: io.RandomSampler(d, num_samples=9), r"\[RandomSampler\] num_samples is 9 of 4"),
        (lambda io, d: io.RandomSampler(d, replacement=1), r"\[RandomSampler\] replacement is 1; want a bool"),
        (lambda io, d: io.WeightedRandomSampler([1, -1], 1), r"\[WeightedRandomSampler\] weights are .*; want"),
        (lambda io, d: io.WeightedRandomSampler([0, 1], 2, False), r"\[WeightedRandomSampler\] num_samples is 2 of 1"),
        (lambda io, d: io.SubsetRandomSampler([]), r"\[SubsetRandomSampler\] indices is \[\]; want"),
        (lambda io, d: io.DistributedBatchSampler(d, 1, 2, 2), r"\[DistributedBatchSampler\] rank is 2 of 2"),
        (lambda io, d: io.ComposeDataset([d, batch_data.Range(3)]), r"\[ComposeDataset\] .* have 4, 3 samples"),
        (lambda io, d: io.ComposeDataset(d), r"\[ComposeDataset\] datasets is"),
        (lambda io, d: io.ChainDataset([d]), r"\[ChainDataset\] got"),
        (lambda io, d: io.ConcatDataset([]), r"\[ConcatDataset\] datasets is empty"),
        (lambda io, d: io.ConcatDataset([d])[-5], r"\[ConcatDataset\] index is -5; want one from -4 below 4"),
        (
            lambda io, d: io.TensorDataset([paddle.ones([2]), paddle.ones([3])]),
            r"\[TensorDataset\] the first axes have 2, 3",
        ),
        (lambda io, d: io.random_split(d, [3, 2]), r"\[random_split\] lengths are \[3, 2\] of 4"),
        (lambda io, d: io.random_split(d, [-1, 5]), r"\[random_split\] lengths are \[-1, 5\] of 4"),
        (
            lambda io, d: list(io.DataLoader([np.ones(2), np.ones(3)], batch_size=2)),
            r"\[DataLoader\] samples 0 and 1 .* \[2\] and \[3\]",
        ),
        (
            lambda io, d: list(io.DataLoader([(1,), (1, 2)], batch_size=2)),
            r"\[DataLoader\] the samples of a batch have 1, 2 fields",
        ),
        (lambda io, d: list(io.DataLoader([{"x": 1}, {}], batch_size=2)), r"\[DataLoader\] a sample has no 'x'"),
        (lambda io, d: list(io.DataLoader([None])), r"\[DataLoader\] a sample has a field of type NoneType"),
        (lambda io, d: list(io.DataLoader([np.array(["a"])])), r"\[DataLoader\] a batch has an array of <U1"),
    ],
)
def test_errors(make: Callable[[Any, Any], Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        make(paddle.io, batch_data.Range(4))


def test_splits_and_subsets_hold_every_sample_once() -> None:
    paddle.seed(1)
    parts = paddle.io.random_split(batch_data.Range(10), [3, 7])
    assert sorted(x for part in parts for x in (part[i] for i in range(len(part)))) == list(range(10))
    assert sorted(paddle.io.SubsetRandomSampler([5, 7, 9])) == [5, 7, 9]
    both = list(paddle.io.ChainDataset([batch_data.Stream(2), batch_data.Stream(3)]))
    assert both == [0, 1, 0, 1, 2]


def test_a_data_set_is_read_in_the_caller_without_a_thread() -> None:
    loader = DataLoader(Local(4, None), batch_size=2, use_buffer_reader=False)
    assert {int(t) for _, idents in loader for t in idents.numpy()} == {threading.get_ident()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len({int(t) for _, idents in DataLoader(Local(4, None)) for t in idents.numpy()}) == 1
