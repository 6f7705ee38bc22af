"""A plug-in of pytest: runs items of Triton's test_core.py on the mps device, and writes a line of JSON for each.

`core.py` starts pytest with it. The tests are those of Triton's source, unchanged: `--device cpu` makes them allocate
torch tensors on the CPU, which a launch copies to the device and back. With PADDLE_MPS_CORE=census nothing is launched:
kernels go through Triton's own passes, their IR is kept, and the launcher does nothing. What passes then
would pass with any compiler.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
import time
from typing import Any

import pytest

CENSUS = os.environ.get("PADDLE_MPS_CORE") == "census"
KEPT = pathlib.Path(os.environ.get("PADDLE_MPS_CORE_IR", "build/triton-core/ttir"))

# What Metal has not, by Triton's IR of a kernel.
LACKS = {
    "dot_scaled": re.compile(r"\btt\.dot_scaled\b"),
    "f64": re.compile(r"\bf64\b|xf64>"),
    "64-bit atomics": re.compile(r"\btt\.atomic_(rmw|cas)\b.*-> (tensor<[0-9x]*)?(i64|f64)"),
}


class Record:
    """What is known of the item that runs."""

    def __init__(self) -> None:
        self.modules: list[list[Any]] = []  # the name of a kernel's IR, the options it was compiled with
        self.lacks: set[str] = set()
        self.launches = 0
        self.seen: dict[str, tuple[list[Any], list[str]]] = {}  # by the hash of a compiled kernel

    def start(self) -> None:
        self.modules, self.lacks, self.launches = [], set(), 0

    def add(self, key: str) -> None:
        module, lacks = self.seen[key]
        self.lacks |= set(lacks)
        if module not in self.modules:
            self.modules.append(module)


record = Record()


def census() -> None:
    """Puts a compiler that compiles nothing and a launcher that launches nothing in place of ours."""
    from paddle_mps_triton import _build, _options, compiler, driver

    def add_stages(self: Any, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        def ttir(module: Any, metadata: dict[str, Any]) -> Any:
            module = compiler.ttir(module)
            text = str(module)
            settings = {name: getattr(options, name) for name in _build.COMPILER}
            name = hashlib.sha256((text + json.dumps(settings)).encode()).hexdigest()[:16]
            KEPT.mkdir(parents=True, exist_ok=True)
            (KEPT / f"{name}.ttir").write_text(text)
            record.seen[metadata["hash"]] = [name, settings], [k for k, words in LACKS.items() if words.search(text)]
            record.add(metadata["hash"])
            return module

        def nothing(module: Any, metadata: dict[str, Any]) -> str:
            metadata["name"], metadata["shared"] = "nothing", 0
            return "// nothing"

        stages["ttir"], stages["msl"] = ttir, nothing
        stages["metal"] = lambda source, metadata: source.encode()

    class Launcher:
        def __init__(self, source: Any, metadata: Any) -> None:
            self._key = metadata.hash

        def __call__(self, *arguments: Any) -> None:
            record.launches += 1
            record.add(self._key)

    _options.REFUSED.clear()
    compiler.MPSBackend.add_stages = add_stages  # type: ignore[method-assign]
    driver.Utilities.load_binary = lambda *_: (None, None, 32, 0, 1024)  # type: ignore[method-assign]
    driver.MPSDriver.launcher_cls = Launcher  # type: ignore[assignment,method-assign]
    os.environ["TRITON_ALWAYS_COMPILE"] = "1"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--items", help="a file with a name of an item in each line")
    parser.addoption("--results", help="the file to which a line of JSON is added for each item")


def pytest_configure(config: pytest.Config) -> None:
    import torch

    torch.set_num_threads(1)
    if CENSUS:
        census()


def short(item: pytest.Item) -> str:
    """The name of an item without its folder."""
    return item.nodeid.rpartition("/")[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps those that are asked for."""
    path = config.getoption("--items")
    if path:
        wanted = set(pathlib.Path(path).read_text().split("\n"))
        items[:] = [item for item in items if short(item) in wanted]


def said(call: pytest.CallInfo[Any]) -> str:
    """Type and text of what a test raised."""
    assert call.excinfo is not None
    error: Any = call.excinfo.value
    while isinstance(getattr(error, "__cause__", None), BaseException) and "CompilationError" in type(error).__name__:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"[:3000]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> Any:
    """Says that an item begins, so that one that ends the process is known."""
    line(item.config, [short(item), "begun"])
    record.start()
    item.stash[STARTED] = time.perf_counter()
    yield


STARTED: pytest.StashKey[float] = pytest.StashKey()
DONE: pytest.StashKey[bool] = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    outcome = yield
    report = outcome.get_result()
    if item.stash.get(DONE, False) or (report.when != "call" and report.passed):
        return
    item.stash[DONE] = True
    why = said(call) if report.failed else str(report.longrepr[2]) if report.skipped and report.longrepr else ""
    seconds = round(time.perf_counter() - item.stash[STARTED], 2)
    words: list[Any] = [short(item), report.outcome, why, seconds]
    if CENSUS:
        words.append({"modules": record.modules, "lacks": sorted(record.lacks), "launches": record.launches})
    line(item.config, words)


def line(config: pytest.Config, words: list[Any]) -> None:
    path = config.getoption("--results")
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(words) + "\n")
