"""Over what stands in for Apple's libraries: how much ran on the device, and what it refused.

With PADDLE_MPS_FALLBACK=0 an operator that the device lacks fails its cases; they are counted by operator. A
run in which nothing was dispatched, or with PADDLE_MPS_PREFER=mpsgraph no graph was encoded, has proven
nothing and fails.
"""

from __future__ import annotations

import collections
import ctypes
import os
from typing import Any

import pytest

import paddle_mps as paddle

FAKE = os.environ.get("PADDLE_MPS_METAL_LIBRARY", "") if os.environ.get("PADDLE_MPS_DEVICE") == "metal" else ""
REFUSED: collections.Counter[str] = collections.Counter()


def counted(what: str) -> int:
    """A count of the stand-in."""
    count = ctypes.CDLL(FAKE).fakemetal_count
    count.argtypes, count.restype = [ctypes.c_char_p], ctypes.c_int64
    return int(count(what.encode()))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    if call.excinfo is not None and call.excinfo.errisinstance(paddle.UnsupportedError):
        REFUSED[item.name.partition("[")[2].split("-")[1]] += 1
    yield


def proven() -> str:
    """What the run did not do and should have; empty if all is well."""
    if counted("dispatches") == 0:
        return "nothing was dispatched"
    if os.environ.get("PADDLE_MPS_PREFER") == "mpsgraph" and counted("encoded_graphs") == 0:
        return "no graph was encoded"
    return ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    if FAKE and session.testscollected > 1 and proven():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if not FAKE:
        return
    properties = paddle.mps.get_device_properties()
    line = terminalreporter.write_line
    line(f"{properties.name}, macOS {os.environ.get('FAKEMETAL_MACOS', '15.0')}: {counted('dispatches')} dispatches, "
         f"{counted('encoded_graphs')} graphs encoded, {counted('compiles')} compilations")  # fmt: skip
    line(f"refused: {sum(REFUSED.values())} cases {dict(REFUSED) or ''}")
    if proven():
        line(f"FAILED: {proven()}")
