"""Starts and stops a server for ONNX models over HTTP and gRPC, in a process of its own.

    paddle_mps.serve.add_model("models", "net", "net.onnx", max_batch_size=8)
    with paddle_mps.serve.Server("models") as server:
        client = tritonclient.http.InferenceServerClient(server.http)

The server is the command `paddle-mps serve`, an executable written in Go. This module finds it, starts it and waits until
its models are loaded. docs/serving.md describes the command.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO

__all__ = ["Server", "add_model", "executable"]

# The environment variable with the path of the executable; without it, that of the wheel or of the checkout is used.
VARIABLE = "PADDLE_MPS_TOOL"


def executable() -> str:
    """The path of the executable: from PADDLE_MPS_TOOL, the wheel or the checkout, in this order."""
    given = os.environ.get(VARIABLE)
    if given:
        if os.access(given, os.X_OK):
            return given
        raise FileNotFoundError(f"[serve] {VARIABLE} is {given!r}; want an executable file")
    package = Path(__file__).parent
    for path in (package / "bin" / "paddle-mps", package.parents[1] / "build" / "paddle-mps"):
        if os.access(path, os.X_OK):
            return str(path)
    raise FileNotFoundError(
        "[serve] this installation has no server, which is a program in Go; want a wheel that has it, "
        f"./build.sh tool in a checkout, or the path of the executable in {VARIABLE}"
    )


class Server:
    """A server for a repository, or for one ONNX file, on free ports of this machine.

    It starts when the object is created. It ends with `close`, at the end of a `with` block, or when this process ends,
    even by a crash: the server watches a pipe whose other end is here. (A child made by os.fork holds that end too.)
    Its log goes to standard error.

    Attributes: `http`, `grpc` and `metrics` are addresses such as "127.0.0.1:41001"; `pid` is the process.
    """

    http: str
    grpc: str
    metrics: str

    def __init__(
        self,
        repository: str | os.PathLike[str],
        *options: str,
        http_port: int = 0,
        grpc_port: int = 0,
        metrics_port: int = 0,
        verbose: bool = False,
        timeout: float = 600.0,
    ) -> None:
        """Starts a server and waits until its models are loaded, at most `timeout` seconds. `options` are those of the
        command, such as "--model-control-mode=explicit". Port 0 means a free port. Raises RuntimeError if the server
        does not start; the server prints the reason to standard error."""
        line = [
            executable(),
            "serve",
            os.fspath(repository),
            "--ends-with-parent",
            f"--log-info={str(verbose).lower()}",
        ]
        line += [f"--http-port={http_port}", f"--grpc-port={grpc_port}", f"--metrics-port={metrics_port}", *options]
        self._process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid
        try:
            self._read_addresses(timeout)
        except BaseException:
            self._process.kill()
            self.close()
            raise

    def _read_addresses(self, timeout: float) -> None:
        """Waits for the line with the addresses. A thread reads it, because a pipe has no timeout."""
        said: list[str] = []
        stdout = self._process.stdout
        assert stdout is not None
        reader = threading.Thread(target=lambda: said.append(stdout.readline()), daemon=True)
        reader.start()
        reader.join(timeout)
        if not said:
            raise RuntimeError(f"[serve] the models were not loaded within {timeout} s")
        if not said[0].startswith("serving: "):
            status = self._process.wait()
            raise RuntimeError(f"[serve] the server ended with status {status}; the reason is above, on standard error")
        for word in said[0].split()[1:]:
            name, _, address = word.partition("=")
            setattr(self, name, address)

    def close(self, timeout: float = 60.0) -> int:
        """Shuts the server down after it has answered the requests that it accepted. Returns its exit status, 0 if all
        were answered. After `timeout` seconds the server is killed. A second call does nothing."""
        process = self._process
        for pipe in (process.stdin, process.stdout):
            _close(pipe)
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "ended" if self._process.poll() is not None else f"http={getattr(self, 'http', None)!r}"
        return f"<paddle_mps.serve.Server pid={self.pid} {state}>"


def _close(pipe: IO[str] | None) -> None:
    """Closes a pipe. The server may have closed its end."""
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


def add_model(
    repository: str | os.PathLike[str],
    name: str,
    model: str | os.PathLike[str],
    *,
    version: int | None = None,
    max_batch_size: int | None = None,
    preferred_batch_size: Sequence[int] = (),
    max_queue_delay_microseconds: int | None = None,
    instances: int = 1,
    kind: str = "AUTO",
) -> Path:
    """Adds an ONNX file to a model repository, as a version of a model, and returns the folder of the version.

    `version` defaults to the highest existing version plus one. If any other argument is given, config.pbtxt is written,
    which applies to all versions; without it the server completes a configuration from the file. `kind` is "AUTO", "CPU",
    "GPU" or "MODEL". The version is added atomically: a server that polls the repository or loads the model meanwhile
    sees it completely or not at all.
    """
    if not re.fullmatch(r"[^/\\\0]+", name) or name in (".", ".."):
        raise ValueError(f"[add_model] name is {name!r}; want the name of a folder")
    if kind not in ("AUTO", "CPU", "GPU", "MODEL"):
        raise ValueError(f"[add_model] kind is {kind!r}; want 'AUTO', 'CPU', 'GPU' or 'MODEL'")
    if not os.path.isfile(model):  # before anything is made, which a server would find
        raise FileNotFoundError(f"[add_model] {os.fspath(model)!r} is no file; want the path of an ONNX file")
    for what, number in (
        ("max_batch_size", max_batch_size),
        ("max_queue_delay_microseconds", max_queue_delay_microseconds),
    ):
        if number is not None and number < 0:
            raise ValueError(f"[add_model] {what} is {number}; want 0 or more")
    if instances < 1:
        raise ValueError(f"[add_model] instances is {instances}; want 1 or more")
    folder = Path(repository) / name
    folder.mkdir(parents=True, exist_ok=True)
    if version is None:
        numbers = [int(p.name) for p in folder.iterdir() if re.fullmatch(r"0|[1-9][0-9]*", p.name)]
        version = max(numbers, default=0) + 1
    if version < 1 or (folder / str(version)).exists():
        raise ValueError(f"[add_model] version is {version}; want a number of 1 or more that {folder} does not have")
    config = _config(max_batch_size, preferred_batch_size, max_queue_delay_microseconds, instances, kind)
    if config:
        _write(folder / "config.pbtxt", config)
    # The folder gets its name when its file is complete: a name with a dot is no version.
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        shutil.copyfile(model, making / "model.onnx")
        making.chmod(0o755)
        return making.rename(folder / str(version))
    except BaseException:
        shutil.rmtree(making, ignore_errors=True)
        raise


def _config(batch: int | None, preferred: Sequence[int], delay: int | None, instances: int, kind: str) -> str:
    """The text of a configuration; empty where everything has its default."""
    if batch is None and not preferred and delay is None and instances == 1 and kind == "AUTO":
        return ""
    lines = ['backend: "metal_mps"']
    if batch is not None:
        lines.append(f"max_batch_size: {int(batch)}")
    if preferred or delay is not None:
        sizes = "".join(f" preferred_batch_size: {int(n)}" for n in preferred)
        wait = "" if delay is None else f" max_queue_delay_microseconds: {int(delay)}"
        lines.append(f"dynamic_batching {{{sizes}{wait} }}")
    lines.append(f"instance_group {{ count: {int(instances)} kind: KIND_{kind} }}")
    return "\n".join(lines) + "\n"


def _write(path: Path, text: str) -> None:
    """Writes a file as a whole: who reads it meanwhile gets the old or the new text."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".making-")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def main(arguments: Sequence[str]) -> int:
    """The command `paddle-mps serve` of an installed package: the one in Go takes the place of this process."""
    try:
        path = executable()
    except FileNotFoundError as missing:
        if any(a in ("-h", "--help") for a in arguments):
            print("usage: paddle-mps serve REPOSITORY | MODEL.onnx [OPTIONS]\n")
            print(f"It cannot run now: {missing}")
            return 0
        print(f"paddle-mps serve: {missing}", file=sys.stderr)
        return 1
    sys.stdout.flush()
    os.execv(path, [path, "serve", *arguments])
