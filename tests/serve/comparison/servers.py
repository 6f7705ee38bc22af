"""The two servers, each with the repository of the corpus and equal options."""

from __future__ import annotations

import contextlib
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[3]
OURS = pathlib.Path(os.environ.get("PADDLE_MPS_TOOL", ROOT / "build" / "paddle-mps"))
LIBRARY = ROOT / "python" / "paddle_mps" / "libpaddlemps.so"


def tritonserver() -> pathlib.Path | None:
    """The real server, where `./build.sh test tritonserver` has installed it."""
    found = sorted(ROOT.glob(".venv-tritonserver/lib/python3*/site-packages/pytriton/tritonserver/bin/tritonserver"))
    return found[0] if found else None


class Running:
    """A server that runs."""

    def __init__(self, http: str, grpc: str, process: subprocess.Popen[bytes], folder: pathlib.Path) -> None:
        self.http, self.grpc, self.process, self.folder = http, grpc, process, folder


@contextlib.contextmanager
def real(repository: pathlib.Path, *options: str) -> Iterator[Running]:
    """The real server with our backend."""
    executable = tritonserver()
    assert executable is not None
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "metal_mps"
        folder.mkdir()
        (folder / "libtriton_metal_mps.so").symlink_to(LIBRARY)
        ports = free_ports(3)
        line = [
            str(executable),
            f"--backend-directory={work}",
            f"--model-repository={repository}",
            "--exit-timeout-secs=2",
        ]
        for name, port in zip(("http", "grpc", "metrics"), ports):
            line += [f"--{name}-address=127.0.0.1", f"--{name}-port={port}"]
        with open(pathlib.Path(work) / "log", "w+b") as log:
            process = subprocess.Popen([*line, *options], stdout=log, stderr=log)
            try:
                wait(process, ports[0], pathlib.Path(work) / "log")
                yield Running(f"127.0.0.1:{ports[0]}", f"127.0.0.1:{ports[1]}", process, repository)
            finally:
                process.kill()  # a client of gRPC would keep it for seconds
                process.wait()


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on: tritonserver takes no port 0."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def wait(process: subprocess.Popen[bytes], port: int, log: pathlib.Path) -> None:
    """Until the server answers."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        with contextlib.suppress(OSError, urllib.error.URLError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/live", timeout=5).close()
            return
        time.sleep(0.05)
    raise AssertionError(f"tritonserver has not started, {process.poll()}:\n{log.read_text(errors='replace')[-3000:]}")


@contextlib.contextmanager
def ours(repository: pathlib.Path, *options: str) -> Iterator[Running]:
    """Our server."""
    line = [
        str(OURS),
        "serve",
        "--http-port=0",
        "--grpc-port=0",
        "--metrics-port=0",
        f"--model-repository={repository}",
    ]
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [*line, *options, "--ends-with-parent"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
        )
        try:
            assert process.stdout is not None
            said = process.stdout.readline().decode()
            addresses = dict(re.findall(r"(\w+)=(\S+)", said))
            if "http" not in addresses:
                log.seek(0)
                raise AssertionError(f"paddle-mps has not started: {said}{log.read().decode()[-3000:]}")
            yield Running(addresses["http"], addresses["grpc"], process, repository)
            assert process.poll() is None, "paddle-mps has ended by itself"
        finally:
            process.kill()
            process.wait()


def alive(server: Running) -> bool:
    """Whether the server has not ended."""
    return server.process.poll() is None
