"""examples/fleet: three servers behind the real HAProxy, each stopped and started in turn under load."""

from __future__ import annotations

import json
import os
import pathlib
import plistlib
import shutil
import socket
import subprocess
import sys
import time

import models
import pytest
import running
import test_models
from test_serve_soak import IDENTITY, LOAD, load, loading, right, under_load

FLEET = pathlib.Path(__file__).parents[2] / "examples" / "fleet"
HAPROXY = os.environ.get("HAPROXY") or shutil.which("haproxy") or "/usr/sbin/haproxy"
needs_haproxy = pytest.mark.skipif(not os.access(HAPROXY, os.X_OK), reason="there is no haproxy")


def ports(count: int) -> list[int]:
    """Ports that no process listens on: a server has to come back at the same one."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    numbers = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return numbers


class Fleet:
    """Three servers, and HAProxy with the configuration of the example, but for its addresses."""

    def __init__(self, folder: pathlib.Path) -> None:
        models.unary(folder / "models" / "m", "Identity", dims=("n",), config=IDENTITY)
        self.models, numbers = folder / "models", ports(8)
        self.pairs = [tuple(numbers[i : i + 2]) for i in (0, 2, 4)]
        self.http, self.grpc = (f"127.0.0.1:{n}" for n in numbers[6:])
        text = (FLEET / "haproxy.cfg").read_text()
        for i, pair in enumerate(self.pairs, 1):
            for standard, own in zip((8000, 8001), pair, strict=True):
                assert f"192.0.2.{i}:{standard}" in text
                text = text.replace(f"192.0.2.{i}:{standard}", f"127.0.0.1:{own}")
        text = text.replace("127.0.0.1:9000", self.http).replace("127.0.0.1:9001", self.grpc)
        config = folder / "haproxy.cfg"
        config.write_text(text)
        self.servers = [self.start(i) for i in range(3)]
        self.proxy = subprocess.Popen([HAPROXY, "-db", "-f", str(config)])

    def start(self, i: int) -> running.Server:
        http, grpc = self.pairs[i]
        options = "--log-info=false", f"--http-port={http}", f"--grpc-port={grpc}"
        return running.Server(str(self.models), *options)

    def wait(self) -> None:
        """Until the proxy serves both protocols."""
        for protocol, address in (("http", self.http), ("grpc", self.grpc)):
            for _ in range(600):
                line = [str(LOAD), *flags(protocol), "-requests=1", "-clients=1", "-seconds=0", address]
                done = subprocess.run(line, capture_output=True, text=True)
                if done.returncode == 0 and json.loads(done.stdout)["requests"] == 1:
                    break
                time.sleep(0.1)
            else:
                raise AssertionError(f"nothing comes through over {protocol}")

    def stop(self) -> None:
        self.proxy.kill()
        self.proxy.wait()
        for one in self.servers:
            if one.process.poll() is None:
                one.stop()


def flags(protocol: str) -> list[str]:
    return ["-grpc"] if protocol == "grpc" else []


@pytest.fixture
def fleet(tmp_path):
    one = Fleet(tmp_path)
    try:
        one.wait()
        yield one
    finally:
        one.stop()


@needs_haproxy
@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_restarts_in_turn(fleet, protocol):
    """Each server is stopped by SIGTERM and started again under load: no request is lost."""
    with loading(getattr(fleet, protocol), "-clients=8", *flags(protocol)) as said:
        for server in fleet.servers:
            under_load(server.http)
        for i in range(3):
            assert fleet.servers[i].stop() == 0
            fleet.servers[i] = fleet.start(i)
            under_load(fleet.servers[i].http)  # the proxy sees that it is back
    print(f"three servers behind HAProxy, restarted in turn, over {protocol}: {said}")
    right(said)
    assert said["refused"] == 0
    assert said["requests"] > 100


@needs_haproxy
def test_checks(fleet):
    """A server that is gone gets nothing, and what changes a server does not come through."""
    fleet.servers[0].stop()
    fleet.servers[1].stop()
    for protocol in ("http", "grpc"):
        right(load(getattr(fleet, protocol), "-clients=2", "-requests=200", "-seconds=0", *flags(protocol)))
    settings = ("/v2/trace/setting", "/v2/models/m/trace/setting", "/v2/models/%6D/tr%61ce/setting")
    for path in ("/v2/repository/index", "/v2/logging", *settings, "/status.json", "/"):
        assert test_models.fetch(fleet.http, path)[0] == 403, path
    assert test_models.fetch(fleet.http, "/v2/health/ready")[0] == 200


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_systemd(tmp_path):
    """systemd reads the unit, with an executable that there is, and has nothing to say."""
    unit = tmp_path / "paddle-mps.service"
    unit.write_text((FLEET / "paddle-mps.service").read_text().replace("/usr/local/bin/paddle-mps", sys.executable))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(unit)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "paddle-mps" not in done.stderr, done.stderr


def test_lines(tmp_path):
    """The lines of both units are lines that the server takes."""
    plist = plistlib.loads((FLEET / "org.paddle-mps.serve.plist").read_bytes())
    text = (FLEET / "paddle-mps.service").read_text()
    unit = next(line for line in text.splitlines() if line.startswith("ExecStart=")).removeprefix("ExecStart=").split()
    models.unary(tmp_path / "m", "Neg")
    for line in (plist["ProgramArguments"], unit):
        assert line[:2] == ["/usr/local/bin/paddle-mps", "serve"]
        with running.serving(str(tmp_path), *(word.replace("192.0.2.1", "127.0.0.1") for word in line[3:])) as server:
            assert test_models.fetch(server.http, "/v2/health/ready")[0] == 200
