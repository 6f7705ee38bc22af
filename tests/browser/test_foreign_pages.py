"""Pages of other origins in a real browser: none of their requests reaches `paddle-mps serve` on this machine.

The routes are those of cmd/paddle-mps/internal/httpapi: its TestRoutes keeps testdata/routes.txt equal to the tables. A
new route with POST fails test_each_route_would_change_something until EFFECTS says what it changes.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import json
import pathlib
import re
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from multiprocessing import shared_memory
from typing import Any

import pytest
from selenium import webdriver
from test_serving_page import card, negation, wait

sys.path.append(str(pathlib.Path(__file__).parents[1] / "serve"))
import running

ROOT = pathlib.Path(__file__).parents[2]
INTERNAL = ROOT / "cmd" / "paddle-mps" / "internal"
ROUTES = [line.split() for line in (INTERNAL / "httpapi" / "testdata" / "routes.txt").read_text().splitlines()]
METHODS = re.findall(r"^ *rpc (\w+)\(", (INTERNAL / "kserve" / "grpc_service.proto").read_text(), re.M)
INFERENCE = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1.0, 2.0, 3.0, 4.0]}]}

# What requests with POST change when they are accepted, by what their paths end with: the body and the model of the request.
# The order is one in which each finds something to change. None: the request changes nothing anyhow.
EFFECTS: dict[str, tuple[dict[str, Any], str] | None] = {
    "/infer": (INFERENCE, "net"),
    "/logging": ({"log_verbose_level": 7}, ""),
    "/v2/trace/setting": ({"trace_rate": "77"}, ""),
    "{model}/trace/setting": ({"trace_rate": "78"}, "net"),
    "/systemsharedmemory/region/{region}/register": ({"key": "KEY", "offset": 0, "byte_size": 16}, ""),
    "/systemsharedmemory/region/{region}/unregister": ({}, ""),
    "/systemsharedmemory/unregister": ({}, ""),
    "/repository/models/{model}/load": ({"parameters": {}}, "other"),
    "/repository/models/{model}/unload": ({}, "net"),
    "/generate": None,
    "/generate_stream": None,
    "/index": None,
    "/systemsharedmemory/register": None,
    "/cudasharedmemory/unregister": None,
    "/cudasharedmemory/region/{region}/register": None,
    "/cudasharedmemory/region/{region}/unregister": None,
    "/repository/{repository}/models/{model}/load": None,
    "/repository/{repository}/models/{model}/unload": None,
}

# How a page sends a request, as functions of (url, body) that return a promise. What pages of other origins get to see of the
# response is nothing, in any case.
SEND = """
const send = {
    plain: (url, body) => fetch(url, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body}),
    json: (url, body) => fetch(url, {method: "POST", headers: {"Content-Type": "application/json"}, body}),
    silent: (url, body) => fetch(url, {method: "POST", mode: "no-cors", referrerPolicy: "no-referrer", body}),
    beacon: async (url, body) => navigator.sendBeacon(url, body),
    frame: (url, body) => new Promise(done => {
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts";
        frame.srcdoc = `<script>fetch(${JSON.stringify(url)}, {method: "POST", mode: "no-cors", body: ${JSON.stringify(body)}})
            .finally(() => parent.postMessage("done", "*"))</` + "script>";
        window.addEventListener("message", done, {once: true});
        document.body.append(frame);
    }),
    form: (url, body) => new Promise(done => {
        const frame = document.createElement("iframe"), form = document.createElement("form"), field = document.createElement("input");
        frame.name = "frame" + Math.random();
        document.body.append(frame);
        Object.assign(form, {method: "POST", action: url, enctype: "text/plain", target: frame.name});
        // The body of a form is NAME=VALUE: the equals sign becomes part of a text.
        field.name = body.slice(0, -1) + (body.length > 2 ? ', "a": "' : '"a": "');
        field.value = '"}';
        form.append(field);
        document.body.append(form);
        frame.addEventListener("load", done, {once: true});
        form.submit();
    }),
};
"""
KINDS = [*re.findall(r"^    (\w+): \(", SEND, re.M), "beacon"]


class Page(http.server.BaseHTTPRequestHandler):
    """An empty page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!DOCTYPE html><title>foreign</title><body>")

    def log_message(self, *arguments: object) -> None: ...


@pytest.fixture(scope="module")
def foreign() -> Iterator[str]:
    """The address of a page that is not of the server."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as one:
        threading.Thread(target=one.serve_forever).start()
        yield f"evil.example:{one.server_port}"
        one.shutdown()


@contextlib.contextmanager
def served(folder: pathlib.Path, *options: str) -> Iterator[running.Server]:
    """A server that allows clients all that there is, with a model that is loaded and one that is not."""
    for name in ("net", "other"):
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "1" / "model.onnx").write_bytes(negation())
    allowed = ["--model-control-mode=explicit", "--load-model=net", "--allow-client-shm=true"]
    traces = [f"--trace-config=triton,file={folder / 'trace'}", "--trace-config=level=TIMESTAMPS"]
    with running.serving(
        str(folder), "--log-info=false", "--trace-config=rate=1000", *allowed, *traces, *options
    ) as one:
        yield one


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[running.Server]:
    with served(tmp_path_factory.mktemp("models")) as one:
        yield one


def fetch(server: running.Server, method: str, path: str, body: object = None) -> Any:
    data = json.dumps(body).encode() if method == "POST" else None
    request = urllib.request.Request(f"http://{server.http}{path}", data, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.loads(answer.read() or b"null")


def state(server: running.Server) -> dict[str, Any]:
    """All that requests can change, the counts of inferences included."""
    paths = ["/v2/logging", "/v2/trace/setting", "/v2/systemsharedmemory/status", "/v2/models/stats"]
    found = {path: fetch(server, "GET", path) for path in paths}
    found["index"] = fetch(server, "POST", "/v2/repository/index", {})
    if any(m.get("state") == "READY" and m["name"] == "net" for m in found["index"]):
        found["net"] = fetch(server, "GET", "/v2/models/net/trace/setting")
    return found


def settled(server: running.Server) -> dict[str, Any]:
    """The state once it stays: an inference is counted after its response is sent."""
    last: dict[str, Any] = {}
    while last != (last := state(server)):
        time.sleep(0.05)
    return last


def concrete(path: str, model: str = "net") -> str:
    for name, value in {"model": model or "net", "version": "1", "region": "r", "repository": "a"}.items():
        path = path.replace("{" + name + "}", value)
    return path


def effect(path: str) -> tuple[dict[str, Any], str] | None:
    """The entry of EFFECTS with the longest end of the path."""
    ends = [end for end in EFFECTS if path.endswith(end)]
    assert ends, f"EFFECTS does not say what POST {path} changes"
    return EFFECTS[max(ends, key=len)]


@functools.cache
def posts() -> list[tuple[str, str, bool]]:
    """The path and the body of each POST, and whether it changes something, in the order of EFFECTS."""
    found = []
    for method, path in ROUTES:
        if method == "POST":
            what = effect(path)
            body, model = what or ({}, "")
            place = max((len(end), -i) for i, end in enumerate(EFFECTS) if path.endswith(end))
            found.append((-place[1], concrete(path, model), json.dumps(body), what is not None))
    return [tuple(one[1:]) for one in sorted(found)]  # type: ignore[misc]


def run(browser: webdriver.Chrome, script: str, *arguments: object) -> Any:
    """Runs a script that awaits in the page that is open; its value."""
    return browser.execute_async_script(
        f"const done = arguments[arguments.length - 1];{SEND}(async () => {{{script}}})().then(done, e => done(String(e)))",
        *arguments,
    )


def attack(browser: webdriver.Chrome, kind: str, url: str, body: str) -> None:
    """Sends a request from the page that is open. That it fails is what is hoped for."""
    run(browser, "return send[arguments[0]](arguments[1], arguments[2]).then(() => 'sent', String)", kind, url, body)


def test_a_foreign_page_changes_nothing(server: running.Server, browser: webdriver.Chrome, foreign: str) -> None:
    before = settled(server)
    browser.get(f"http://{foreign}/")
    requests = [
        [f"http://{host}{path}", body] for path, body, _ in posts() for host in (server.http, local(server.http))
    ]
    requests += [[f"http://{server.grpc}/inference.GRPCInferenceService/{method}", "\0\0\0\0\0"] for method in METHODS]
    requests += [[f"http://{server.metrics}/metrics", ""]]
    sent = run(
        browser,
        """let n = 0;
        for (const kind of arguments[1]) for (const [url, body] of arguments[0]) {
            if (kind === "form" && !body.endsWith("}")) continue;
            const late = new Promise(done => setTimeout(done, 5000));
            await Promise.race([send[kind](url, body).catch(() => {}), late]);
            n++;
        }
        return n;""",
        requests,
        KINDS,
    )
    assert isinstance(sent, int) and sent > 5 * len(requests), sent
    time.sleep(0.5)  # beacons
    assert settled(server) == before


def local(address: str) -> str:
    return address.replace("127.0.0.1", "localhost")


def test_a_rebound_name_reads_nothing(server: running.Server, browser: webdriver.Chrome) -> None:
    """A page whose own name has become that of this machine is of one origin with the server, and reads its responses."""
    before = settled(server)
    for address, paths in {
        server.http: [*((m, concrete(p), json.dumps((effect(p) if m == "POST" else None) or {})) for m, p in ROUTES)],
        server.metrics: [("GET", "/metrics", "{}")],
    }.items():
        browser.get(f"http://evil.example:{address.rpartition(':')[2]}/")
        said = run(
            browser,
            """const said = [];
            for (const [method, path, body] of arguments[0]) {
                const response = await fetch(path, method === "POST" ? {method, body} : {method});
                said.push([method, path, response.status, await response.text()]);
            }
            return said;""",
            paths,
        )
        assert len(said) == len(paths), said
        for method, path, status, text in said:
            assert status == 403 and "--http-allowed-host=evil.example" in text, (method, path, status, text)
    assert settled(server) == before


def test_the_own_page_works(server: running.Server, browser: webdriver.Chrome) -> None:
    for address in (server.http, local(server.http)):
        browser.get(f"http://{address}/")
        wait(lambda: "READY" in (card(browser, "net") or ""))
        script = "const r = await fetch('/v2/models/net/infer', {method: 'POST', body: arguments[0]}); return [r.status, await r.json()]"
        status, answer = run(browser, script, json.dumps(INFERENCE))
        assert status == 200 and answer["outputs"][0]["data"] == [-1, -2, -3, -4]


def test_each_route_would_change_something(tmp_path: pathlib.Path, browser: webdriver.Chrome, foreign: str) -> None:
    """The same requests do what they say if an option names the page: it is the guard that holds them off."""
    memory = shared_memory.SharedMemory(create=True, size=64)
    try:
        with served(tmp_path / "models", f"--http-allowed-host={foreign}") as server:
            browser.get(f"http://{foreign}/")
            for path, body, changes in posts():
                if path.endswith("/systemsharedmemory/unregister"):
                    key = {"key": "/" + memory.name.lstrip("/"), "offset": 0, "byte_size": 16}
                    fetch(server, "POST", "/v2/systemsharedmemory/region/r/register", key)
                before = settled(server)
                attack(
                    browser, "plain", f"http://{server.http}{path}", body.replace("KEY", "/" + memory.name.lstrip("/"))
                )
                if changes:
                    wait(lambda before=before: state(server) != before)  # type: ignore[misc]
                else:
                    assert settled(server) == before, path
    finally:
        memory.close()
        memory.unlink()
