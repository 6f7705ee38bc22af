"""The server of the tests: the executable that build.sh makes, on ports of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

EXECUTABLE = Path(os.environ.get("PADDLE_MPS_TOOL", Path(__file__).parents[2] / "build" / "paddle-mps"))


class Server:
    """A running server and its addresses."""

    def __init__(self, *arguments: str) -> None:
        line = [str(EXECUTABLE), "serve", "--http-port=0", "--grpc-port=0", "--metrics-port=0", *arguments]
        self.process = subprocess.Popen(
            [*line, "--ends-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        said = self.process.stdout.readline()
        if not said.startswith("serving: "):
            raise RuntimeError(f"the server has not started: status {self.process.wait()}")
        for word in said.split()[1:]:
            name, _, address = word.partition("=")
            setattr(self, name, address)

    http: str
    grpc: str
    metrics: str

    def stop(self, how: int = signal.SIGTERM) -> int:
        """Ends the server and returns its status."""
        self.process.send_signal(how)
        return self.process.wait(timeout=60)  # it gives requests half of that


@contextlib.contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """A server that is ended in any case, and in order."""
    server = Server(*arguments)
    try:
        yield server
        assert server.process.poll() is None, "the server has ended by itself"
    finally:
        if server.process.poll() is None:
            assert server.stop() == 0
