"""Balances the colours of a photograph on the device and checks every step.

Run it with `./build.sh demo`. Each step runs on the device, is timed, and is compared with NumPy in
float64 on the same inputs. The program fails if an error exceeds the guarantee of the device. The
picture before and after is written to examples/out/coffee.png.
"""

from __future__ import annotations

import math
import pathlib
import sys
import time
from typing import Any, Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import paddle_mps as paddle
from paddle_mps.nn import functional

HERE = pathlib.Path(__file__).parent
PHOTO = HERE / "photo" / "coffee.jpg"
RESULT = HERE / "out" / "coffee.png"

RUNS = 5  # of each step; the fastest is shown

Array = NDArray[Any]
# A bound takes the first input of a step and its exact result, both float64, and returns the largest
# allowed error of each element.
Bound = Callable[[Array, Array], Array]


def ulps(count: float) -> Bound:
    """`count` units in the last place of the float32 result."""

    def bound(_: Array, exact: Array) -> Array:
        spacing: Array = np.spacing(np.abs(exact).astype(np.float32))
        return count * spacing.astype(np.float64)

    return bound


EXACT = ulps(0)
ROUNDED = ulps(0.5)  # one IEEE operation
ACCURATE = ulps(2)  # the guarantee of the host device for every other elementwise operator


def channel_mean(x: Array) -> Array:
    mean: Array = x.mean(axis=(1, 2), keepdims=True)
    return mean


def sigmoid(x: Array) -> Array:
    result: Array = 1 / (1 + np.exp(-x))
    return result


def summed(x: Array, _: Array) -> Array:
    """The bound of a mean over n elements: that of the sum, (2 + log2 n) * 2**-24 * sum |x|, divided by n."""
    pixels = x.shape[1] * x.shape[2]
    return (2 + math.log2(pixels)) * 2.0**-24 * channel_mean(np.abs(x))


class Steps:
    """Runs steps on the device and checks them; `failed` lists those that exceeded their bound."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        print(f"{'step':<28}{'ms':>9}{'largest error':>16}{'of allowed':>12}")

    def run(
        self,
        name: str,
        bound: Bound,
        device: Callable[..., paddle.Tensor],
        reference: Callable[..., Array],
        *inputs: paddle.Tensor,
    ) -> paddle.Tensor:
        seconds = []
        for _ in range(RUNS):
            start = time.perf_counter()
            result = device(*inputs)
            paddle.device.synchronize()
            seconds.append(time.perf_counter() - start)
        arrays = [x.numpy().astype(np.float64) for x in inputs]
        exact = np.asarray(reference(*arrays), dtype=np.float64)
        self.check(name, min(seconds), result.numpy(), exact, bound(arrays[0], exact))
        return result

    def check(self, name: str, seconds: float, got: Array, exact: Array, allowed: Array) -> None:
        error = np.abs(got.astype(np.float64) - exact)
        good = got.shape == exact.shape and bool(np.all(error <= allowed))
        share = np.max(np.divide(error, allowed, out=np.zeros_like(error), where=allowed > 0))
        print(f"{name:<28}{seconds * 1e3:>9.3f}{np.max(error):>16.3g}{share:>11.0%}{'' if good else '  WRONG'}")
        if not good:
            self.failed.append(name)


def balance(steps: Steps, pixels: paddle.Tensor) -> paddle.Tensor:
    """Removes the colour cast of a photograph of shape (3, H, W) and lifts its shadows; the result is in [0, 1]."""
    run = steps.run
    x = run("to float32", EXACT, lambda p: p.astype("float32"), lambda p: p, pixels)

    # Normalise each channel; (3, 1, 1) broadcasts against (3, H, W).
    mean = run("channel mean", summed, lambda x: x.mean(axis=[1, 2], keepdim=True), channel_mean, x)
    x = run("x - mean", ROUNDED, lambda x, m: x - m, np.subtract, x, mean)
    square = run("square", ROUNDED, paddle.square, np.square, x)
    var = run("channel variance", summed, lambda x: x.mean(axis=[1, 2], keepdim=True), channel_mean, square)
    std = run("sqrt", ROUNDED, paddle.sqrt, np.sqrt, var)
    x = run("x / std", ROUNDED, lambda x, s: x / s, np.divide, x, std)

    # A soft curve, sqrt(log(1 + exp(x))), centred again and mapped to (0, 1).
    x = run("exp", ACCURATE, paddle.exp, np.exp, x)
    x = run("x + 1", ROUNDED, lambda x: x + 1.0, lambda x: x + 1.0, x)
    x = run("log", ACCURATE, paddle.log, np.log, x)
    x = run("sqrt", ROUNDED, paddle.sqrt, np.sqrt, x)
    mean = run("channel mean", summed, lambda x: x.mean(axis=[1, 2], keepdim=True), channel_mean, x)
    x = run("x - mean", ROUNDED, lambda x, m: x - m, np.subtract, x, mean)
    x = run("x * 4", ROUNDED, lambda x: x * 4.0, lambda x: x * 4.0, x)
    x = run("sigmoid", ACCURATE, functional.sigmoid, sigmoid, x)

    # Black below 1/16.
    x = run("x - 1/16", ROUNDED, lambda x: x - 0.0625, lambda x: x - 0.0625, x)
    return run("relu", EXACT, functional.relu, lambda x: np.maximum(x, 0), x)


def statistics(name: str, x: paddle.Tensor) -> None:
    """Prints one line per channel, computed on the device."""
    axes = [1, 2]
    mean = x.mean(axis=axes).numpy()
    low, high = x.min(axis=axes).numpy(), x.max(axis=axes).numpy()
    for c, channel in enumerate(("red", "green", "blue")):
        print(f"{name:<10}{channel:<8}mean {mean[c]:8.3f}   min {low[c]:8.3f}   max {high[c]:8.3f}")


def save(before: Array, after: paddle.Tensor) -> None:
    """Writes both pictures side by side."""
    levels = paddle.clip(after * (255 / 0.9375), 0, 255).round().astype("uint8")
    picture = np.concatenate([before, levels.transpose([1, 2, 0]).numpy()], axis=1)
    RESULT.parent.mkdir(exist_ok=True)
    Image.fromarray(picture).save(RESULT)


def memory(place: str) -> None:
    """Prints memory statistics of the device."""
    mps = paddle.mps
    print(f"\nmemory of {place}")
    rows = {
        "allocated": mps.memory_allocated(place),
        "reserved": mps.memory_reserved(place),
        "peak allocated": mps.max_memory_allocated(place),
        "peak reserved": mps.max_memory_reserved(place),
    }
    for name, count in rows.items():
        print(f"{name:<16}{count / 2**20:>9.2f} MiB")


def main() -> int:
    place = "mps" if paddle.mps.is_available() else "cpu"
    paddle.set_device(place)
    name = paddle.mps.get_device_name() if place == "mps" else "the processor; there is no mps device"
    print(f"paddle_mps {paddle.__version__} on {paddle.get_device()}: {name}\n")

    photo = np.asarray(Image.open(PHOTO).convert("RGB"))
    pixels = paddle.to_tensor(photo, place=place).transpose([2, 0, 1])
    steps = Steps()
    result = balance(steps, pixels)

    print("\nchannel statistics")
    statistics("before", pixels.astype("float32") / 255)
    statistics("after", result)
    save(photo, result)
    memory(place)
    print(f"\nbefore and after: {RESULT.relative_to(HERE.parent)}")
    if steps.failed:
        print(f"further off than allowed: {', '.join(steps.failed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
