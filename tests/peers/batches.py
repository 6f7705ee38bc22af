"""Orders, batches and dtypes of paddle.io, for tests/python/test_io.py.

    batches.py --record    asks PaddlePaddle, and writes batches_3_3_1.json
    batches.py             asks PaddlePaddle, and exits with 1 if the file differs

Each expression is answered in a process of its own: with some data sets PaddlePaddle never returns.
"""

from __future__ import annotations

import argparse
import collections
import importlib
import json
import multiprocessing
import pathlib
import sys
from typing import Any

import numpy as np

FILE = pathlib.Path(__file__).with_name("batches_3_3_1.json")
SECONDS = 30

EXPRESSIONS = """
list(RandomSampler(Range(6)))
list(RandomSampler(Range(6), num_samples=3))
list(RandomSampler(Range(6), replacement=True))
list(RandomSampler(Range(6), replacement=True, num_samples=9))
list(RandomSampler(Range(6), generator=iter([1, 2, 3]), num_samples=2))
list(RandomSampler(Range(6), generator=iter([1, 2, 3])))
list(WeightedRandomSampler(np.array([0., 1., 3., 2.]), 6))
list(WeightedRandomSampler(np.array([[0., 1., 3., 2.]]), 3, False))
list(BatchSampler(Range(5), batch_size=2))
list(BatchSampler(Range(5), batch_size=2, drop_last=True))
list(BatchSampler(Range(5), batch_size=2, shuffle=True))
list(BatchSampler(sampler=[3, 1, 2], batch_size=2))
[len(BatchSampler(Range(5), batch_size=2, drop_last=drop)) for drop in (False, True)]
[list(DistributedBatchSampler(Range(10), 3, num_replicas=3, rank=r)) for r in range(3)]
[list(DistributedBatchSampler(Range(10), 3, num_replicas=3, rank=r, drop_last=True)) for r in range(3)]
[list(DistributedBatchSampler(Range(7), 2, num_replicas=2, rank=r, shuffle=True)) for r in range(2)]
[list(DistributedBatchSampler(Range(2), 3, num_replicas=5, rank=r)) for r in range(5)]
(lambda d: [list(d), list(d), d.set_epoch(5), list(d), len(d)])(DistributedBatchSampler(Range(10), 2, num_replicas=2, rank=0, shuffle=True))
ConcatDataset([Range(2), Range(3)]).cumulative_sizes
[ConcatDataset([Range(2), Range(3)])[i] for i in range(-5, 5)]
ComposeDataset([Given((1, 2)), Given([3, 4]), Given(5)])[0]
[len(part) for part in random_split(Range(11), [0.25, 0.25, 0.5])]
[len(part) for part in random_split(Range(10), [0.33, 0.33, 0.34])]
batch(np.float32(1), np.float32(2))
batch(1, 2)
batch(1.5, 2)
batch(True, False)
batch(np.int32(1), np.int32(2))
batch(np.float16(1), np.float16(2))
batch(np.array([1, 2], 'uint8'), np.array([3, 4], 'uint8'))
batch(np.array([1, 2], 'float64'), np.array([3, 4], 'float64'))
batch(np.array([1, 2], 'uint16'), np.array([3, 4], 'uint16'))
batch(np.array([1, 2], 'int32'), np.array([3, 4], 'int64'))
batch(1j, 2j)
batch(paddle.to_tensor([1.]), paddle.to_tensor([2.]))
batch(paddle.to_tensor([1.], stop_gradient=False), paddle.to_tensor([2.]))
batch((1, 'a'), (2, 'b'))
batch({'x': 1, 'y': 's'}, {'x': 2, 'y': 't'})
batch({'x': 1}, {'x': 2, 'y': 3})
batch(Pair(1, 2.), Pair(3, 4.))
batch({'x': {'y': [1, (2, 'q')]}}, {'x': {'y': [3, (4, 'r')]}})
batch(np.ones(0), np.ones(0))
batch(np.ones((2, 2)).T, np.zeros((2, 2)).T)
batch(range(2), range(2))
single((1, 'a', np.ones(2)))
single({'x': 1, 'y': np.ones(1)})
single(np.ones(2, 'float32'))
single(Pair(1, np.ones(1)))
made(lambda samples: [len(samples), 's', None, np.ones(2), (paddle.ones([1]), 2.)])
made(lambda samples: {'a': np.ones(1), 'b': 3})
made(lambda samples: np.ones(2))
batches(Range(5), batch_size=2)
batches(Range(5), batch_size=2, drop_last=True)
batches(Range(5), batch_sampler=[[4, 0], [1]])
batches(Range(6), batch_size=6, shuffle=True) + batches(Range(6), batch_size=6, shuffle=True)
batches(Range(6), batch_size=6, shuffle=True, num_workers=2) + batches(Range(6), batch_size=6, shuffle=True, num_workers=2)
batches(Stream(7), batch_size=2)
batches(Stream(7), batch_size=2, drop_last=True)
batches(Stream(9), batch_size=2, num_workers=3)
batches(Stream(7), batch_size=2, num_workers=2, drop_last=True)
""".strip().splitlines()

Pair = collections.namedtuple("Pair", "a b")


def scope(library: str) -> dict[str, Any]:
    """The names of the expressions."""
    paddle = importlib.import_module(library)
    io = importlib.import_module(f"{library}.io")

    def batches(dataset: Any, **settings: Any) -> list[Any]:
        return [batch for batch in io.DataLoader(dataset, **settings)]  # noqa: C416  # list asks for a length, which a stream lacks

    class Range(io.Dataset):  # type: ignore[name-defined,misc]
        def __init__(self, count: int) -> None:
            self.count = count

        def __getitem__(self, index: int) -> int:
            return index

        def __len__(self) -> int:
            return self.count

    class Given(io.Dataset):  # type: ignore[name-defined,misc]
        def __init__(self, *samples: Any) -> None:
            self.samples = samples

        def __getitem__(self, index: int) -> Any:
            return self.samples[index]

        def __len__(self) -> int:
            return len(self.samples)

    class Stream(io.IterableDataset):  # type: ignore[name-defined,misc]
        def __init__(self, count: int) -> None:
            self.count = count

        def __iter__(self) -> Any:
            worker = io.get_worker_info()
            first, step = (worker.id, worker.num_workers) if worker else (0, 1)
            return iter(range(first, self.count, step))

    return {
        **{name: getattr(io, name) for name in io.__all__},
        "paddle": paddle,
        "np": np,
        "Pair": Pair,
        "Range": Range,
        "Given": Given,
        "Stream": Stream,
        "batches": batches,
        "batch": lambda *samples: batches(Given(*samples), batch_size=len(samples))[0],
        "single": lambda sample: batches(Given(sample), batch_size=None)[0],
        "made": lambda collate: batches(Given(1, 2), batch_size=2, collate_fn=collate)[0],
    }


def essence(value: Any) -> Any:
    """A result as JSON: of a tensor dtype, shape, values as text and stop_gradient; of a tuple that it is one."""
    if hasattr(value, "stop_gradient"):
        dtype = str(value.dtype).rpartition(".")[2]
        return {
            "tensor": dtype,
            "shape": list(value.shape),
            "values": str(value.numpy().tolist()),
            "fixed": value.stop_gradient,
        }
    if isinstance(value, dict):
        return {"dict": {key: essence(v) for key, v in value.items()}}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [essence(v) for v in value]}
    return value if isinstance(value, (str, int, float, type(None))) else f"{type(value).__name__}"


def answer(library: str, expression: str) -> Any:
    """What an expression gives, from a fixed state of NumPy's generator."""
    names = scope(library)
    np.random.seed(0)
    return essence(eval(expression, names))


def put(queue: Any, expression: str) -> None:
    queue.put(answer("paddle", expression))


def ask(expression: str) -> Any:
    """Paddle's answer, of a process of its own."""
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    process = context.Process(target=put, args=(queue, expression))
    process.start()
    process.join(SECONDS)
    if process.exitcode != 0:
        process.kill()
        raise SystemExit(f"{expression}: PaddlePaddle gives no answer")
    return queue.get()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    record = parser.parse_args().record
    importlib.import_module("paddle")
    answers = {expression: ask(expression) for expression in EXPRESSIONS}
    body = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items())
    text = f"{{\n{body}\n}}\n"
    if record:
        FILE.write_text(text, encoding="utf-8")
        return 0
    same = FILE.read_text(encoding="utf-8") == text
    print("ok" if same else f"FAIL {FILE.name} is stale")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main())
