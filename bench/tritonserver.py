"""What our backend costs in the real Triton Inference Server, against one in C that only copies.

One server has both; wrk sends requests to a model of one and of the other in turn. The rates are noisy on a machine
that does other things; the CPU time of the server for each request is steadier. Identity does nothing, so that this is
all overhead and says nothing about models.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
if __name__ == "__main__":  # bench/onnx.py must not be found before the package onnx
    sys.path.append(sys.path.pop(0))
sys.path.insert(0, str(ROOT / "tests" / "tritonserver"))

import repository  # noqa: E402
from server import Server, backends  # noqa: E402

CONFIG = (
    repository.ports("input", [("x", "TYPE_FP32", "dims: [-1]")])
    + repository.ports("output", [("y", "TYPE_FP32", "dims: [-1]")])
    + "\ninstance_group [{ kind: KIND_CPU }]"
)
SCRIPT = """
local f = io.open("%s", "rb")
wrk.method, wrk.body = "POST", f:read("*a")
wrk.headers["Inference-Header-Content-Length"] = "%d"
function done(summary, latency, requests)
  print("bad " .. (summary.errors.status + summary.errors.read + summary.errors.timeout))
end
"""


def write_models(folder: pathlib.Path) -> None:
    r, port = repository.Repository(folder), repository.TensorProto.FLOAT
    for name in ("ours", "c"):
        r.model(name, [repository.node("Identity", "x", "y")], [("x", port, ["n"])], [("y", port, ["n"])], CONFIG)
    config = folder / "c" / "config.pbtxt"
    config.write_text(config.read_text().replace("metal_mps", "identity"))


def request(folder: pathlib.Path, size: int) -> pathlib.Path:
    """A script for wrk that sends a tensor of so many bytes, and wants the same in the binary form."""
    head = {
        "inputs": [{"name": "x", "shape": [size // 4], "datatype": "FP32", "parameters": {"binary_data_size": size}}],
        "parameters": {"binary_data_output": True},
    }
    text = json.dumps(head).encode()
    body, script = folder / f"body{size}", folder / f"{size}.lua"
    body.write_bytes(text + bytes(size))
    script.write_text(SCRIPT % (body, len(text)))
    return script


def cpu(server: Server) -> float:
    """Seconds of CPU time that the server has used."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def turn(server: Server, model: str, script: pathlib.Path, clients: int, seconds: float) -> tuple[float, float]:
    """Requests a second, and microseconds of CPU time each."""
    line = [
        "wrk",
        "-t1",
        f"-c{clients}",
        f"-d{seconds:.0f}s",
        "-s",
        str(script),
        f"{server.url}/v2/models/{model}/infer",
    ]
    before, count, since = cpu(server), server.statistics(model)["inference_count"], time.monotonic()
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    took = time.monotonic() - since
    count = server.statistics(model)["inference_count"] - count
    if not re.search(r"^bad 0$", said, re.M) or count == 0:
        raise SystemExit(f"requests have failed:\n{said}")
    return count / took, (cpu(server) - before) / count * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_models(folder / "models")
        directory = backends(folder / "prefix")
        (directory / "identity").mkdir()
        library = directory / "identity" / "libtriton_identity.so"
        source = ROOT / "tests" / "tritonserver" / "identity.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(source)], check=True)
        server = Server(folder / "models", directory, folder / "log")
        try:
            server.load("ours")
            server.load("c")
            for clients, size in ((1, 64), (8, 64), (4, 1 << 20)):
                script, got = request(folder, size), []
                for _ in range(args.rounds):
                    got.append([turn(server, model, script, clients, args.seconds) for model in ("c", "ours")])
                rate = [statistics.median(g[i][0] for g in got) for i in range(2)]
                used = [statistics.median(g[i][1] for g in got) for i in range(2)]
                ratio = statistics.median(ours[0] / c[0] for c, ours in got)
                low, high = min(ours[0] / c[0] for c, ours in got), max(ours[0] / c[0] for c, ours in got)
                print(
                    f"{clients} clients, {size:7} B: C {rate[0]:7.0f}/s {used[0]:6.1f} us   ours {rate[1]:7.0f}/s"
                    f" {used[1]:6.1f} us   rate {ratio:.2f}x ({low:.2f} to {high:.2f})   CPU {used[1] / used[0]:.2f}x",
                    flush=True,
                )
        finally:
            server.stop()


if __name__ == "__main__":
    main()
