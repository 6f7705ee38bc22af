"""Causes a GPU fault on purpose, in a process of its own: python -m paddle_mps.selftest.fault PLACE

A GPU may report the fault or ignore the write. Either way later work has to be right: it runs on a new command
queue, or its error says that the process has to be started again. The exit status says which.
"""

from __future__ import annotations

import sys

import paddle_mps as paddle

from .._core._errors import DeviceError, UnsupportedError
from .compare import same, tensor

UNSUPPORTED = 3

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void fault(device int *x, constant long &far, uint i [[thread_position_in_grid]]) {
    x[far + i * 4096] = 1;
}
"""


def main(place: str) -> int:
    """0: what follows the fault is right, or its error names a new process as the remedy."""
    kept = tensor([1, 2, 3], place)
    try:
        library = paddle.mps.compile_shader(SOURCE)
    except UnsupportedError:
        return UNSUPPORTED
    try:
        library.fault(paddle.zeros([16], dtype="int32", place=place), 1 << 40, threads=64)
        paddle.device.synchronize(place)
    except DeviceError as error:
        print(f"the fault was reported: {error}")
    try:
        same(kept + 1, [2, 3, 4], "[1, 2, 3] + 1 after the fault")
    except DeviceError as error:
        print(f"after the fault: {error}")
        return 0 if "new process" in str(error) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
