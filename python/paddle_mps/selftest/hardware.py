"""Probes of how a GPU and its compiler compute: math modes, remainders, and division of unsigned integers."""

from __future__ import annotations

from typing import Any

import numpy as np

import paddle_mps as paddle

from .compare import Array, same, tensor, values
from .recorder import Skip

TANH = "kernel void run(device float *x, uint i [[thread_position_in_grid]]) { x[i] = metal::tanh(x[i]); }"
DIVIDE = """
kernel void run(device const uint *x, device const uint *y, device uint *quotient, device uint *rest,
                uint i [[thread_position_in_grid]]) {
  quotient[i] = x[i] / y[i];
  rest[i] = x[i] % y[i];
}"""


def shader(source: str, place: str) -> Any:
    """The kernel `run` of a source."""
    if place == "cpu":
        raise Skip("the CPU has no shaders")
    try:
        return paddle.mps.compile_shader("#include <metal_stdlib>\n" + source).run
    except paddle.UnsupportedError as error:
        raise Skip("the device has no shaders") from error


def tanh_of_50_is_1(place: str) -> None:
    """tanh(50) is 1, where a fast tanh is NaN."""
    x = np.array([50, -50, 44.5, 89, 0], np.float32)
    same(paddle.tanh(tensor(x, place)), [1, -1, 1, 1, 0], "tanh")


def tanh_of_50_is_1_in_a_shader(place: str) -> None:
    """tanh(50) is 1 in a program's own shader, which is compiled in safe math too."""
    run, x = shader(TANH, place), tensor(np.array([50, -50], np.float32), place)
    run(x)
    near(x, np.array([1.0, -1.0]), 2.0**-21, "tanh")


def near(got: Any, want: Array, error: float, what: str) -> None:
    """Asserts that no value is off by more than an error."""
    off = np.abs(values(got).astype(np.float64) - want)
    worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
    assert off[worst] <= error, f"{what}: {values(got)[worst]!r}; want {want[worst]!r}"


def sine_of_a_large_number(place: str) -> None:
    """sin and cos of 100,000 are those of the number, where fast ones reduce it inexactly."""
    x = np.array([1e5, -1e5, 12345.0, 3e6], np.float32)
    # 4 units in the last place of what is at most 1: table 8.1 of the Metal Shading Language Specification.
    near(paddle.sin(tensor(x, place)), np.sin(x.astype(np.float64)), 2.0**-22, "sin")
    near(paddle.cos(tensor(x, place)), np.cos(x.astype(np.float64)), 2.0**-22, "cos")


def remainder_of_a_large_quotient(place: str) -> None:
    """The remainder of 3e10 by 3 and the like is exact, where x - y * trunc(x / y) is not."""
    x = np.array([1e10, 3e10, 1e30, 16777215.0, 2.0**100], np.float32)
    y = np.array([3, 7, 3, 2.5, 3], np.float32)
    wide = x.astype(np.float64), y.astype(np.float64)
    same(paddle.remainder(tensor(x, place), tensor(y, place)), np.fmod(*wide).astype(np.float32), "remainder")
    same(paddle.remainder(tensor(-x, place), tensor(-y, place)), -np.fmod(*wide).astype(np.float32), "of -x by -y")


def division_near_two_to_the_32(place: str) -> None:
    """Unsigned integers near 2**32 are divided exactly; Bend#824 reports 4294967294 % 3 = 4294967295."""
    run = shader(DIVIDE, place)
    x: Array = np.concatenate([np.arange(2**32 - 300, 2**32), [2**31, 2**31 - 1, 7]]).astype(np.uint32)
    for divisor in (3, 7, 10, 255, 65537, 2**31 - 1):
        # The place has no uint32: int32 has the same bits.
        a, b = (tensor(v.view(np.int32), place) for v in (x, np.full(x.shape, divisor, np.uint32)))
        quotient, rest = (paddle.zeros([len(x)], dtype="int32", place=place) for _ in range(2))
        run(a, b, quotient, rest)
        same(quotient, (x // divisor).view(np.int32), f"/ {divisor}")
        same(rest, (x % divisor).view(np.int32), f"% {divisor}")


MATH_MODES = [tanh_of_50_is_1, tanh_of_50_is_1_in_a_shader, sine_of_a_large_number]
DIVISIONS = [remainder_of_a_large_quotient, division_near_two_to_the_32]
PROBES = [*MATH_MODES, *DIVISIONS]
