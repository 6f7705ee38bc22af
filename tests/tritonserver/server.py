"""The real Triton Inference Server of nvidia-pytriton as a process, and requests to it."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sysconfig
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "python" / "paddle_mps" / "libpaddlemps.so"
TRITON = pathlib.Path(sysconfig.get_path("purelib")) / "pytriton" / "tritonserver"

DATATYPES: Mapping[str, Any] = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
}
NAMES = {np.dtype(d): name for name, d in DATATYPES.items()}


class ServerError(Exception):
    """What the server answers instead: a status and a text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(f"{status}: {text}")
        self.status, self.text = status, text


def free_ports(count: int) -> list[int]:
    """Ports that no process listens on; the server takes no port 0."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def backends(folder: pathlib.Path) -> pathlib.Path:
    """A folder of backends as ./build.sh install lays it out."""
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "libpaddlemps.so").symlink_to(LIBRARY)
    (folder / "backends" / "metal_mps").mkdir(parents=True)
    (folder / "backends" / "metal_mps" / "libtriton_metal_mps.so").symlink_to("../../lib/libpaddlemps.so")
    return folder / "backends"


class Server:
    """A server with a repository; models are loaded by name."""

    def __init__(
        self,
        repository: pathlib.Path,
        backend_directory: pathlib.Path,
        log: pathlib.Path,
        grpc: bool = False,
        **environment: str,
    ) -> None:
        self.repository = repository
        self.log = log
        http, self.metrics_port, grpc_port = free_ports(3)
        self.url = f"http://127.0.0.1:{http}"
        self.grpc = f"127.0.0.1:{grpc_port}"
        line = [
            str(TRITON / "bin" / "tritonserver"),
            f"--backend-directory={backend_directory}",
            f"--model-repository={repository}",
            "--model-control-mode=explicit",
            "--http-address=127.0.0.1",
            f"--http-port={http}",
            f"--allow-grpc={str(grpc).lower()}",
            "--grpc-address=127.0.0.1",
            f"--grpc-port={grpc_port}",
            f"--metrics-port={self.metrics_port}",
            "--exit-timeout-secs=60",
        ]
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                line, stdout=out, stderr=out, env={**os.environ, "MPS_VERBOSE": "1", **environment}
            )
        self.wait()

    def wait(self) -> None:
        """Until the server answers."""
        for _ in range(600):
            if self.process.poll() is not None:
                raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.text()}")
            try:
                self.call("/v2/health/live")
                return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server does not answer")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(120)

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def call(
        self, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> tuple[bytes, Mapping[str, str]]:
        # urllib says that a body is a form. tritonserver reads one as a query, on its stack, and dies of 4 MiB.
        binary = {"Content-Type": "application/octet-stream"}
        request = urllib.request.Request(self.url + path, data=body, headers={**binary, **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.read(), dict(answer.headers)
        except urllib.error.HTTPError as e:
            text = e.read().decode(errors="replace")
            raise ServerError(e.code, json.loads(text)["error"] if text else "") from None

    def json(self, path: str, body: object = None) -> Any:
        text, _ = self.call(path, None if body is None else json.dumps(body).encode())
        return json.loads(text) if text else None

    def load(self, name: str) -> None:
        self.json(f"/v2/repository/models/{name}/load", {})

    def unload(self, name: str) -> None:
        self.json(f"/v2/repository/models/{name}/unload", {})
        for _ in range(3000):  # a minute: a busy machine takes long for large models
            index = {m["name"]: m.get("state") for m in self.json("/v2/repository/index", {})}
            if index[name] == "UNAVAILABLE":
                return
            time.sleep(0.02)
        raise AssertionError(f"{name} is not unloaded")

    def infer(
        self, model: str, inputs: Mapping[str, Any], outputs: list[str] | None = None, request: str = "", **types: str
    ) -> dict[str, Any]:
        """Sends arrays in the binary form; request is its id, types names the datatype of an input that NumPy has none for."""
        head: dict[str, Any] = {"id": request, "inputs": [], "parameters": {"binary_data_output": True}}
        blobs = []
        for name, value in inputs.items():
            array = np.ascontiguousarray(value).reshape(np.shape(value))
            blobs.append(array.tobytes())
            head["inputs"].append(
                {
                    "name": name,
                    "shape": list(array.shape),
                    "datatype": types.get(name) or NAMES[array.dtype],
                    "parameters": {"binary_data_size": len(blobs[-1])},
                }
            )
        if outputs is not None:
            head["outputs"] = [{"name": name, "parameters": {"binary_data": True}} for name in outputs]
        text = json.dumps(head).encode()
        body, headers = self.call(
            f"/v2/models/{model}/infer", text + b"".join(blobs), {"Inference-Header-Content-Length": str(len(text))}
        )
        size = int(headers.get("Inference-Header-Content-Length", len(body)))  # not there where no output has a byte
        answer, rest = json.loads(body[:size]), body[size:]
        made = {}
        for o in answer.get("outputs", []):
            n = o["parameters"]["binary_data_size"]
            made[o["name"]] = np.frombuffer(rest[:n], DATATYPES.get(o["datatype"], np.uint16)).reshape(o["shape"])
            rest = rest[n:]
        assert not rest
        return made

    def statistics(self, model: str) -> Any:
        return self.json(f"/v2/models/{model}/stats")["model_stats"][0]

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=60) as answer:
            text: str = answer.read().decode()
            return text

    def footprint(self) -> tuple[int, int, int]:
        """Resident kilobytes, threads and descriptors: the least of a second, because connections close a little later."""
        status, files = pathlib.Path(f"/proc/{self.process.pid}/status"), pathlib.Path(f"/proc/{self.process.pid}/fd")
        samples = []
        for _ in range(20):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
            samples.append((int(fields["VmRSS"].split()[0]), int(fields["Threads"]), len(list(files.iterdir()))))
            time.sleep(0.05)
        memory, threads, descriptors = (min(column) for column in zip(*samples, strict=True))
        return memory, threads, descriptors
