"""Is there an mps device, and what is it? A script with a report, and tests."""

from __future__ import annotations

import sys
from typing import Callable

import mps_report as mps
import paddle_mps as paddle


def compiled() -> bool:
    assert paddle.is_compiled_with_mps()
    return True


def available() -> bool:
    assert paddle.mps.is_available()
    return True


def count() -> int:
    assert paddle.mps.device_count() >= 1
    return paddle.mps.device_count()


def properties() -> str:
    properties = paddle.mps.get_device_properties()
    assert properties.name == paddle.mps.get_device_name()
    return f"{properties.name}, {properties.total_memory / 2**30:.1f} GiB"


def selection() -> str:
    before = paddle.get_device()
    try:
        paddle.mps.set_device(0)
        assert paddle.mps.current_device() == 0
        assert paddle.ones([1]).device == "mps:0"
        return paddle.get_device()
    finally:
        paddle.set_device(before)


def memory() -> str:
    x = paddle.ones([1024], place="mps")
    assert paddle.mps.memory_allocated() >= x.size * x.itemsize
    assert paddle.mps.memory_reserved() >= paddle.mps.memory_allocated()
    return f"{paddle.mps.memory_allocated()} of {paddle.mps.memory_reserved()} bytes"


CHECKS: dict[str, Callable[[], object]] = {
    "compiled with mps": compiled,
    "available": available,
    "devices": count,
    "device 0": properties,
    "set_device": selection,
    "memory": memory,
}


def test_availability() -> None:
    for check in CHECKS.values():
        check()


if __name__ == "__main__":
    sys.exit(mps.report({"Availability": CHECKS}))
