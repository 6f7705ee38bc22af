"""Runs the programs of this folder against paddle-mps serve, and against the real tritonserver where one is installed.

    ./build.sh demo serve

It makes the models, copies them into a repository, starts a server on free ports and asks it.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


@contextlib.contextmanager
def ours(repository: str) -> Iterator[str]:
    """The address of HTTP of `paddle-mps serve`, which says it when the models are loaded."""
    line = [str(ROOT / "build" / "paddle-mps"), "serve", repository, "--ends-with-parent", "--log-info=false"]
    line += ["--http-port=0", "--grpc-port=0", "--metrics-port=0"]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        said = process.stdout.readline()
        try:
            yield dict(word.split("=", 1) for word in said.split()[1:])["http"]
        finally:
            process.stdin.close()


@contextlib.contextmanager
def real(repository: str, program: pathlib.Path, folder: pathlib.Path) -> Iterator[str]:
    """The address of HTTP of the real server with our backend."""
    (folder / "lib").mkdir()
    (folder / "lib" / "libpaddlemps.so").symlink_to(ROOT / "python" / "paddle_mps" / "libpaddlemps.so")
    (folder / "backends" / "metal_mps").mkdir(parents=True)
    (folder / "backends" / "metal_mps" / "libtriton_metal_mps.so").symlink_to("../../lib/libpaddlemps.so")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]  # the server takes no port 0
    line = [str(program), f"--backend-directory={folder / 'backends'}", f"--model-repository={repository}"]
    line += ["--http-address=127.0.0.1", f"--http-port={port}", "--allow-grpc=false", "--allow-metrics=false"]
    with subprocess.Popen([*line, "--exit-timeout-secs=5"], stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/v2/health/ready", timeout=5).close()
                    break
                assert process.poll() is None, f"tritonserver has ended with {process.returncode}"
                time.sleep(0.1)
            yield f"127.0.0.1:{port}"
        finally:
            process.terminate()


def main() -> int:
    subprocess.run([sys.executable, "create_test_model.py"], cwd=HERE / "test", check=True)
    status = 0
    with tempfile.TemporaryDirectory() as scratch:
        repository = pathlib.Path(scratch) / "models"
        shutil.copytree(HERE / "test" / "models", repository)
        servers = {"paddle-mps serve": ours(str(repository))}
        installed = sorted(
            (ROOT / ".venv-tritonserver").glob("lib/python3*/site-packages/pytriton/tritonserver/bin/tritonserver")
        )
        if installed:
            servers["tritonserver"] = real(str(repository), installed[0], pathlib.Path(scratch))
        else:
            print("the real tritonserver is not installed (./build.sh test tritonserver installs it, on Linux)")
        for name, server in servers.items():
            print(f"\n== {name}", flush=True)
            with server as address:
                environment = {**os.environ, "TRITON_URL": address}
                status |= subprocess.run(
                    [sys.executable, "test_client.py"], cwd=HERE / "test", env=environment
                ).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
