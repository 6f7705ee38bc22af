"""The page of `paddle-mps serve` in a real browser."""

from __future__ import annotations

import json
import os
import pathlib
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By

sys.path.append(str(pathlib.Path(__file__).parents[1] / "serve"))
import running

HOSTILE = "<img src=x onerror=document.title='harmed'>"


def varint(n: int) -> bytes:
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def message(field: int, value: bytes | int) -> bytes:
    """A field of a protobuf message."""
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    return varint(field << 3 | 2) + varint(len(value)) + value


def negation() -> bytes:
    """The ONNX file of y = -x on float[n, 4]; the onnx package is not installed here."""
    shape = message(1, message(2, b"n")) + message(1, message(1, 4))

    def port(name: bytes) -> bytes:
        return message(1, name) + message(2, message(1, message(1, 1) + message(2, shape)))

    node = message(1, b"x") + message(2, b"y") + message(4, b"Neg")
    graph = message(1, node) + message(2, b"test") + message(11, port(b"x")) + message(12, port(b"y"))
    return message(1, 8) + message(7, graph) + message(8, message(2, 17))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[running.Server]:
    """A server with a model, one with a hostile name, and one that cannot be loaded."""
    folder = tmp_path_factory.mktemp("models")
    for name, file in {"net": negation(), HOSTILE: negation(), "broken": b"nothing"}.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "1" / "model.onnx").write_bytes(file)
    with running.serving(str(folder), "--exit-on-error=false") as one:
        yield one


def infer(server: running.Server, rows: int) -> None:
    data = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [rows, 4], "data": [1.0] * (4 * rows)}]}
    request = urllib.request.Request(f"http://{server.http}/v2/models/net/infer", json.dumps(data).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        assert json.load(answer)["outputs"][0]["data"] == [-1.0] * (4 * rows)


def wait(what: Callable[[], object], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until, "it has not come to pass"
        time.sleep(0.1)


def card(browser: webdriver.Chrome, name: str) -> str | None:
    """The text of the card of a model; None where there is none. It is read in one step: the page is made anew each second."""
    script = """for (const c of document.querySelectorAll(".card")) if (c.dataset.model === arguments[0]) return c.innerText"""
    text: str | None = browser.execute_script(script, name)
    return text


def value(browser: webdriver.Chrome, name: str, what: str) -> str:
    """A number on the card of a model, read in one step too."""
    script = """for (const c of document.querySelectorAll(".card")) if (c.dataset.model === arguments[0])
        for (const d of c.querySelectorAll("dd")) if (d.dataset.value === arguments[1]) return d.textContent; return "" """
    return str(browser.execute_script(script, name, what))


def shown(browser: webdriver.Chrome, selector: str) -> str:
    """The text of an element, read in one step, as in value."""
    return str(browser.execute_script("return document.querySelector(arguments[0]).innerText", selector))


def test_numbers_are_live(server: running.Server, browser: webdriver.Chrome) -> None:
    browser.get(f"http://{server.http}/")
    wait(lambda: len(browser.find_elements(By.CLASS_NAME, "card")) == 3)
    stop = threading.Event()

    def load() -> None:
        while not stop.is_set():
            infer(server, 3)

    client = threading.Thread(target=load)
    client.start()
    try:
        wait(lambda: value(browser, "net", "requests/s") not in ("", "0", "0.0"))
        wait(lambda: value(browser, "net", "p50").endswith(" ms") and value(browser, "net", "p99").endswith(" ms"))
        wait(lambda: value(browser, "net", "weights") == "-")
        first = value(browser, "net", "answered")
        wait(lambda: value(browser, "net", "answered") != first)
        time.sleep(3)
        if folder := os.environ.get("PADDLE_MPS_PICTURES"):
            browser.save_screenshot(f"{folder}/page.png")
    finally:
        stop.set()
        client.join()
    text = card(browser, "net") or ""
    assert "READY" in text and "batch sizes" in text and "100 %" in text
    assert "requests/s" in shown(browser, "#total")
    assert "cpu:" in shown(browser, "#devices")


def test_states_and_hostile_names(server: running.Server, browser: webdriver.Chrome) -> None:
    browser.get(f"http://{server.http}/")
    wait(lambda: card(browser, HOSTILE) is not None)
    assert HOSTILE in (card(browser, HOSTILE) or "") and browser.title == "paddle-mps serve"
    assert not browser.find_elements(By.TAG_NAME, "img")
    assert "UNAVAILABLE" in (card(browser, "broken") or "") and browser.find_element(By.ID, "ready").text == "NOT READY"
    assert browser.find_elements(By.CLASS_NAME, "reason")


def test_nothing_comes_from_outside(server: running.Server, browser: webdriver.Chrome) -> None:
    browser.get_log("performance")
    browser.get_log("browser")  # of pages before
    browser.get(f"http://{server.http}/")
    time.sleep(2)
    events = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    urls = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    own = f"http://{server.http}/"
    assert {own, own + "status.json"} <= urls and all(u.startswith(own) for u in urls), urls
    with urllib.request.urlopen(own, timeout=10) as answer:
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert b"http" not in answer.read()
    severe = [e for e in browser.get_log("browser") if e["level"] == "SEVERE" and "favicon" not in e["message"]]
    assert not severe, severe


def test_a_phone(server: running.Server, browser: webdriver.Chrome) -> None:
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    )
    try:
        browser.get(f"http://{server.http}/")
        wait(lambda: len(browser.find_elements(By.CLASS_NAME, "card")) == 3)
        infer(server, 1)
        time.sleep(1.5)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
        boxes = browser.execute_script(
            "return [...document.querySelectorAll('.card')].map(c => c.getBoundingClientRect().right)"
        )
        assert all(right <= 360 for right in boxes)
        if folder := os.environ.get("PADDLE_MPS_PICTURES"):
            browser.save_screenshot(f"{folder}/phone.png")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_server_that_is_gone(tmp_path: pathlib.Path, browser: webdriver.Chrome) -> None:
    with running.serving(str(tmp_path)) as server:
        browser.get(f"http://{server.http}/")
        wait(lambda: "no models" in browser.find_element(By.ID, "models").text)
    wait(lambda: "no answer from the server" in browser.find_element(By.ID, "lost").text)
