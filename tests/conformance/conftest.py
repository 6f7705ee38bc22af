"""Over what stands in for Apple's libraries: how much ran on the device, and what it refused.

With PADDLE_MPS_FALLBACK=0 an operator that the device lacks raises UnsupportedError: cases that its row lists in Lacks
have to, all others fail, and are counted by operator. A
run in which nothing was dispatched, or with PADDLE_MPS_PREFER=mpsgraph no graph was encoded, has proven
nothing and fails.

With FAKEMETAL_REFUSE=* nothing is compiled: all cases run on the CPU, and a run in which something was dispatched, or
nothing was refused, fails.

With --operator NAME only the cases of that operator run. It may be a view, or one that MPSGraph does not
have, so such a run need not dispatch or encode anything; the counts are printed all the same.
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


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--operator", metavar="NAME", help="run the cases of one operator")


def operator(config: pytest.Config) -> str | None:
    """The one that was asked for. There is no such option where this file is not read at the start."""
    name: str | None = config.getoption("--operator", None)
    return name


def counted(what: str) -> int:
    """A count of the mock."""
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
    if os.environ.get("FAKEMETAL_REFUSE") == "*":
        if counted("refused") == 0 or paddle.mps.memory_stats()["refused_shaders"] == 0:
            return "nothing was refused"
        return "something was dispatched" if counted("dispatches") + counted("encoded_graphs") > 0 else ""
    if counted("dispatches") == 0:
        return "nothing was dispatched"
    if os.environ.get("PADDLE_MPS_PREFER") == "mpsgraph" and counted("encoded_graphs") == 0:
        return "no graph was encoded"
    return ""


def pytest_sessionfinish(session: pytest.Session) -> None:
    if FAKE and session.testscollected > 1 and operator(session.config) is None and proven():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not FAKE:
        return
    properties = paddle.mps.get_device_properties()
    line = terminalreporter.write_line
    line(f"{properties.name}, macOS {os.environ.get('FAKEMETAL_MACOS', '15.0')}: {counted('dispatches')} dispatches, "
         f"{counted('encoded_graphs')} graphs encoded, {counted('compiles')} compilations")  # fmt: skip
    line(f"refused: {sum(REFUSED.values())} cases {dict(REFUSED) or ''}")
    if operator(config) is None and proven():
        line(f"FAILED: {proven()}")
