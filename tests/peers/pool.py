"""A library in its own process, with a time limit on every answer.

Some expressions never return in PaddlePaddle and some kill the process: both are answers here
({"hangs": ...}, {"dies": ...}), and the next question gets a new process.
"""

from __future__ import annotations

import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterable
from typing import Any

WORKER = pathlib.Path(__file__).with_name("worker.py")
# Seconds an expression may take. Paddle's that take longer never return; ours may have shaders to compile first.
LIMITS = {"paddle": 10.0, "paddle_mps": 120.0}
TRIES = 5  # Paddle's assignment through an index tensor deadlocks about one time in four
START_LIMIT = 120.0  # seconds an import may take: Paddle's is slow on a cold disk


class Library:
    """One of the two libraries. Not for use from several threads at once."""

    def __init__(self, module: str, place: str = "cpu", traced: bool = False) -> None:
        self.module = module
        self.traced = traced  # expressions are evaluated as functions that paddle.jit traces
        self.place = place
        self.version = ""
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str] = queue.Queue()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, source: str) -> dict[str, Any]:
        """The answer to an expression; see worker.describe."""
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(source) + "\n")
            process.stdin.flush()
            line = self._lines.get(timeout=LIMITS[self.module])
        except queue.Empty:
            self._stop()
            return {"hangs": f"no answer within {LIMITS[self.module]:.0f} s"}
        except BrokenPipeError:
            line = ""
        if not line:
            return {"dies": self._cause()}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask_all(self, sources: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The answers to expressions, by source."""
        return {source: self.insist(source) for source in sources}

    def insist(self, source: str) -> dict[str, Any]:
        """The answer to an expression that has one: what hangs is asked again."""
        answer: dict[str, Any] = {}
        for _ in range(TRIES):
            answer = self.ask(source)
            if "hangs" not in answer:
                break
        return answer

    def _start(self) -> subprocess.Popen[str]:
        quiet = {"GLOG_minloglevel": "3", "FLAGS_call_stack_level": "0", "PYTHONWARNINGS": "ignore"}
        process = subprocess.Popen(
            [sys.executable, str(WORKER), self.module, self.place],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            env={**os.environ, **quiet, "PEERS_TRACED": str(int(self.traced))},
        )
        lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=_pump, args=(process, lines), daemon=True).start()
        try:
            hello = lines.get(timeout=START_LIMIT)
        except queue.Empty:
            hello = ""
        if not hello:
            process.kill()
            process.wait()
            raise SystemExit(f"{self.module} cannot be imported: `{sys.executable} -c 'import {self.module}'` says why")
        self.version = json.loads(hello)["version"]
        self._process, self._lines = process, lines
        return process

    def _stop(self) -> int:
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        return process.wait()

    def _cause(self) -> str:
        """How a process ended by itself."""
        process, self._process = self._process, None
        status = process.wait() if process else 0
        return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def _pump(process: subprocess.Popen[str], lines: queue.Queue[str]) -> None:
    """Reads until the process ends; an empty line says so."""
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(line)
    lines.put("")
