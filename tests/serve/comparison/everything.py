"""All requests, by the server that gets them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import control
import http_binary
import http_control
import http_infer
import memory
import model_files
import modes
import rpc_control
import rpc_infer
import texts
import traces
from case import Case


class Setup(NamedTuple):
    """A server: its options, those of our own server besides, and the requests."""

    options: list[str]
    more: list[str]
    cases: Callable[[Path], Iterator[Case]]


def explicit(folder: Path) -> Iterator[Case]:
    for module in (http_control, http_infer, http_binary, rpc_control, rpc_infer, texts, memory):
        yield from module.cases()
    yield from control.cases(folder)
    yield from traces.cases()


SETUPS = {
    "explicit": Setup(
        ["--model-control-mode=explicit", *(f"--load-model={name}" for name in model_files.LOADED)],
        ["--allow-client-shm=true"],  # tritonserver 2.51 always lets clients register
        explicit,
    ),
    "restricted": Setup(modes.OPTIONS, [], modes.cases),
    "whole": Setup(modes.WHOLE, [], modes.whole),
}
