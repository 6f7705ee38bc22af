"""Memory over many rounds of what would leak if cycles through the library were not collected, and of training steps.

Prints for each case the most resident memory in the first third of the rounds, after a warm-up, and in the last third; fails if
it has grown by more than 2 percent, or if a handle or an object is left.

    ./build.sh bench leaks [--rounds N] [NAME...]
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from collections.abc import Iterable
from typing import Any, Callable

import numpy as np

import paddle_mps as paddle
from paddle_mps._calls._holding import callbacks
from paddle_mps._core._library import library
from paddle_mps._core._objects import collect

Case = Callable[[], Callable[[], Any]]


def leaf(*shape: int) -> Any:
    return paddle.to_tensor(np.ones(shape, np.float32), stop_gradient=False)


class Tanh(paddle.autograd.PyLayer):
    """Saves its output."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        y = paddle.tanh(x)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensor()
        return g * (1 - y * y)


class Careless(Tanh):
    """Keeps its output as an attribute, which only a collection can free."""

    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.y = paddle.tanh(x)
        return ctx.y

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * (1 - ctx.y * ctx.y)


class Net:
    """Its method is a hook on its own parameter."""

    def __init__(self) -> None:
        self.w = leaf(256)
        self.w.register_hook(self.clip)

    def clip(self, g: Any) -> Any:
        return g


def layer(cls: Any) -> Case:
    def prepare() -> Callable[[], Any]:
        w = leaf(256)
        return lambda: cls.apply(w)

    return prepare


def hooked(*, backward: bool) -> Case:
    def prepare() -> Callable[[], Any]:
        w = leaf(256)

        def once() -> None:
            y = w * 2
            y.register_hook(lambda g, y=y: g)
            if backward:
                y.sum().backward()

        return once

    return prepare


def net() -> Callable[[], Any]:
    return Net


def gradient() -> Callable[[], Any]:
    w = leaf(64)

    def once() -> None:
        y = Tanh.apply(w)
        y.register_hook(lambda g: None if y is None else g)
        (g,) = paddle.grad([y.sum()], [w], create_graph=True)
        g.sum().backward()
        w.clear_grad(set_to_zero=False)

    return once


def training() -> Callable[[], Any]:
    """A step of a network with hooks on parameters and activations, and layers with gradients of their own."""
    rng = np.random.default_rng(0)
    sizes = [8, 16, 16, 1]
    weights = [
        paddle.to_tensor(rng.standard_normal(s).astype(np.float32) / 4, stop_gradient=False)
        for s in zip(sizes, sizes[1:])
    ]
    x = paddle.to_tensor(rng.standard_normal((4, 8)).astype(np.float32))
    for w in weights:
        w.register_hook(lambda g: g.clip(-1.0, 1.0))

    def once() -> None:
        y = x
        for i, w in enumerate(weights):
            y = (Careless if i == 1 else Tanh).apply(y @ w)
            y.register_hook(lambda g, y=y: None if y.shape else g)
        (y * y).mean().backward()
        with paddle.no_grad():
            for w in weights:
                w.subtract_(w.grad * 0.01)
                w.clear_grad()

    return once


CASES: dict[str, Case] = {
    "layer-saves-output": layer(Tanh),
    "layer-keeps-output": layer(Careless),
    "hook-over-itself": hooked(backward=False),
    "hook-over-itself-backward": hooked(backward=True),
    "bound-method": net,
    "second-gradient": gradient,
    "training": training,
}


def resident() -> float:
    """The resident memory of this process, in MiB: now where the system says it, else the most so far."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096 / 2**20
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


SAMPLES = 900  # of the resident memory over the rounds


def measure(name: str, rounds: int) -> bool:
    """Whether memory, handles and objects are flat over the rounds of a case.

    Memory goes up and down, as collectors do their work, of Python and of Go. So the most in the first third of the rounds, after
    a warm-up, is compared with the most in the last one: medians of what goes up and down differ more from run to run.
    """
    once = CASES[name]()
    for _ in range(max(rounds // 10, 200)):
        once()
    collect()
    live, since, seen = (library.pmps_live_handles(), len(callbacks)), time.perf_counter(), []
    for i in range(rounds):
        once()
        if i % max(rounds // SAMPLES, 1) == 0:
            seen.append(resident())
    took = time.perf_counter() - since
    collect()
    left = library.pmps_live_handles(), len(callbacks)
    first, last = max(seen[: len(seen) // 3]), max(seen[-len(seen) // 3 :])
    flat = last <= first * 1.02 and left == live
    print(
        f"{name:28} {rounds:8} rounds  {first:8.1f} -> {last:8.1f} MiB  handles {live[0]} -> {left[0]}, "
        f"objects {live[1]} -> {left[1]}  {took / rounds * 1e6:6.0f} us a round  {'flat' if flat else 'GROWS'}",
        flush=True,
    )
    return flat


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(CASES)}")
    parser.add_argument("--rounds", type=int, default=100_000)
    given = parser.parse_args(list(arguments))
    if set(given.names) - set(CASES):
        parser.error(f"got {given.names}; want some of {', '.join(CASES)}")
    gc.collect()
    flat = [measure(name, given.rounds) for name in given.names or CASES]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
