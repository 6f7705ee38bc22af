"""Steps of training: forward, backward, and the optimizer, beside PaddlePaddle on the CPU, with 1 and 2 threads.

Each library is a process of its own, and the processes take turns; a figure is the median of the steps of all turns. `compiled` is
`to_static` of the network. The last columns are the time of PaddlePaddle over ours: above 1 this library is faster. Arguments
are names of networks; none for all.
"""

from __future__ import annotations

import json
import os
import pathlib
import statistics
import subprocess
import sys

TURNS = 3
ROOT = pathlib.Path(__file__).resolve().parents[1]

WORKER = """
import json, sys, time
import numpy as np

library, how, only = sys.argv[1], sys.argv[2], sys.argv[3:]
if library == "paddle":
    import paddle
else:
    import paddle_mps as paddle
nn, F = paddle.nn, paddle.nn.functional
rng = np.random.RandomState(0)


def real(*shape):
    return paddle.to_tensor(rng.rand(*shape).astype("float32"))


class Block(nn.Layer):
    def __init__(self, channels):
        super().__init__()
        self.first, self.second = (nn.Conv2D(channels, channels, 3, padding=1, bias_attr=False) for _ in "ab")
        self.norm1, self.norm2 = nn.BatchNorm2D(channels), nn.BatchNorm2D(channels)

    def forward(self, x):
        return F.relu(x + self.norm2(self.second(F.relu(self.norm1(self.first(x))))))


class States(nn.Layer):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)[0]


def lenet():
    head = [nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU(), nn.MaxPool2D(2, 2)]
    return nn.Sequential(*head, nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)), real(64, 1, 28, 28)


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)), real(64, 784)


def residual():
    return nn.Sequential(nn.Conv2D(3, 64, 3, padding=1), Block(64), Block(64), Block(64)), real(16, 3, 32, 32)


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(128, 4, 512, 0.0), 4), real(16, 64, 128)


def lstm():
    return States(nn.LSTM(64, 128, 2, direction="bidirect")), real(32, 50, 64)


def gru():
    return States(nn.GRU(64, 128)), real(32, 50, 64)


NETWORKS = {"LeNet, 64": lenet, "MLP, 64": mlp, "3 residual blocks, 16 x 64 x 32 x 32": residual,
            "4 encoder layers, 16 x 64 x 128": encoder, "2 x 2 LSTM of 128, 32 x 50": lstm, "GRU of 128, 32 x 50": gru}
found = {}
for name, make in NETWORKS.items():
    if only and not any(word in name for word in only):
        continue
    network, x = make()
    if how == "compiled":
        network = paddle.jit.to_static(network)
    optimizer = paddle.optimizer.AdamW(0.001, parameters=network.parameters())
    times = []
    begin, i = time.perf_counter(), 0
    while i < 8 or (time.perf_counter() - begin < 1.5 and i < 60):
        t = [time.perf_counter()]
        loss = (network(x) ** 2).mean()
        t.append(time.perf_counter())
        loss.backward()
        float(loss)
        t.append(time.perf_counter())
        optimizer.step()
        optimizer.clear_grad()
        t.append(time.perf_counter())
        if i >= 4:
            times.append([b - a for a, b in zip(t, t[1:])])
        i += 1
    found[name] = times
print(json.dumps(found))
"""


def measured(library: str, how: str, threads: int, names: list[str]) -> dict[str, list[list[float]]]:
    """Seconds of forward, backward and optimizer of each step, by network; nothing if the library is not there."""
    threaded = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "PADDLE_MPS_NUM_THREADS")}
    env = {**os.environ, **threaded, "PADDLE_MPS_DEVICE": "host", "PYTHONPATH": str(ROOT / "python")}
    command = [sys.executable, "-W", "ignore", "-c", WORKER, library, how, *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        print(f"{library} {how}: {done.stderr.strip().splitlines()[-1]}", file=sys.stderr)
        return {}
    found: dict[str, list[list[float]]] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def main() -> None:
    names = sys.argv[1:]
    ways = (("paddle", "eager"), ("paddle_mps", "eager"), ("paddle_mps", "compiled"))
    for threads in (1, 2):
        steps: dict[tuple[str, str], dict[str, list[list[float]]]] = {way: {} for way in ways}
        for _ in range(TURNS):
            for way in ways:
                for name, times in measured(*way, threads, names).items():
                    steps[way].setdefault(name, []).extend(times)
        print(f"\n{threads} thread{'s' * (threads > 1)}: milliseconds a step, and of forward, backward, optimizer")
        print(f"{'':38} {'PaddlePaddle':>30} {'eager':>30} {'compiled':>30} {'eager':>7} {'compiled':>9}")
        ratios: dict[str, list[float]] = {"eager": [], "compiled": []}
        for name in steps[ways[1]]:
            cells, sums = [], {}
            for way in ways:
                times = steps[way].get(name)
                if not times:
                    cells.append(f"{'-':>30}")
                    continue
                parts = [1e3 * statistics.median(column) for column in zip(*times)]
                sums[way] = 1e3 * statistics.median(map(sum, times))
                cells.append(f"{sums[way]:8.2f} ({', '.join(f'{p:.2f}' for p in parts)})".rjust(30))
            said = []
            for way in ways[1:]:
                if ways[0] in sums and way in sums:
                    ratios[way[1]].append(sums[ways[0]] / sums[way])
                    said.append(f"{ratios[way[1]][-1]:.2f}")
                else:
                    said.append("-")
            print(f"{name:38} {' '.join(cells)} {said[0]:>7} {said[1]:>9}")
        for way, found in ratios.items():
            if found:
                print(f"geometric mean, {way}: {statistics.geometric_mean(found):.2f}, least {min(found):.2f}")


if __name__ == "__main__":
    main()
