"""The page of `paddle-mps memory-viz` in a real browser: Chromium without a window, driven by Selenium.

The snapshot is one of a program that has just run. `./build.sh test` has built the command and found
the browser.
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

ROOT = pathlib.Path(__file__).parents[2]
TOOL = ROOT / "build" / "paddle-mps"

PROGRAM = """
import sys
import paddle_mps as paddle

def layer_of_the_test(n):
    return paddle.randn([n, 256], place="mps") + 1.0

paddle.mps.record_memory_history()
kept = [layer_of_the_test(n) for n in range(10, 400, 13)]
del kept[::3]
kept.append(paddle.ones([3000, 3000], place="mps"))
paddle.mps.synchronize()
try:
    paddle.ones([1 << 40], place="mps")
except paddle.OutOfMemoryError:
    pass
paddle.mps.dump_snapshot(sys.argv[1])
"""


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, dict[str, Any]]:
    """A page, and the snapshot that it shows."""
    folder = tmp_path_factory.mktemp("viz")
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(folder / "s.json")],
        check=True,
        env={**os.environ, "PADDLE_MPS_DEVICE": "host"},
    )
    subprocess.run([TOOL, "memory-viz", folder / "s.json"], check=True, stdout=subprocess.DEVNULL)
    return folder / "s.html", json.loads((folder / "s.json").read_text())


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or ""
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,1000",
    ):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as driver:
        yield driver


@pytest.fixture
def page(browser: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]) -> Iterator[webdriver.Chrome]:
    """The page, freshly opened; nothing on it may complain in the console or fetch anything."""
    browser.get(snapshot[0].as_uri())
    yield browser
    assert browser.get_log("browser") == []
    fetched = browser.execute_script("return performance.getEntriesByType('resource').length")
    assert fetched == 0


def detail(page: webdriver.Chrome) -> str:
    return page.find_element(By.ID, "detail").text


def test_every_heap_and_block_is_drawn(page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]) -> None:
    segments = snapshot[1]["segments"]
    heaps = page.find_elements(By.CLASS_NAME, "heap")
    assert [int(h.get_attribute("data-heap") or 0) for h in heaps] == [s["id"] for s in segments]
    for heap, segment in zip(heaps, segments):
        drawn = [int(b.get_attribute("data-blocks") or 0) for b in heap.find_elements(By.CLASS_NAME, "block")]
        assert sum(drawn) == len(segment["blocks"]) > 0
        width = heap.find_element(By.CLASS_NAME, "bar").size["width"]
        wide = [b for b in segment["blocks"] if b["size"] >= 4 * segment["total_size"] / width]
        assert drawn.count(1) >= len(wide), "what is wide enough has a field of its own"


def test_a_click_on_a_block_shows_its_stack(page: webdriver.Chrome) -> None:
    live = page.find_elements(By.CSS_SELECTOR, ".block.live:not(.mixed)")
    assert live
    live[0].click()
    assert "allocated" in detail(page)
    said = detail(page)
    assert "layer_of_the_test" in said or "<module>" in said
    page.execute_script("arguments[0].focus()", live[-1])
    live[-1].send_keys(Keys.ENTER)
    assert len(page.find_elements(By.CSS_SELECTOR, ".block.selected")) == 1


def test_the_timeline_ends_at_the_statistics(
    page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]
) -> None:
    stats = snapshot[1]["stats"]
    final = page.execute_script("return memoryViz.final")
    assert final == {"allocated": stats["allocated_bytes"]["current"], "reserved": stats["reserved_bytes"]["current"]}
    drawn = page.execute_script(
        "const c = document.getElementById('timeline');"
        "return new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size"
    )
    assert drawn > 8, "the timeline has more than one colour"


def test_the_timeline_by_keys_and_clicks(page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]) -> None:
    events = snapshot[1]["trace"]
    timeline = page.find_element(By.ID, "timeline")
    timeline.click()
    assert f"of {len(events)}" in detail(page)
    first = next(i for i, e in enumerate(events) if e["action"] == "alloc")
    page.execute_script(f"memoryViz.selectEvent({first - 1})")
    timeline.send_keys(Keys.ARROW_RIGHT)
    assert "Allocation" in detail(page) and "layer_of_the_test" in detail(page)
    refused = next(i for i, e in enumerate(events) if e["action"] == "oom")
    page.execute_script(f"memoryViz.selectEvent({refused})")
    assert "Out of memory" in detail(page) and "4.000 TiB" in detail(page)


def test_colours_are_of_what_one_chooses(page: webdriver.Chrome) -> None:
    def colours() -> set[str]:
        live = page.find_elements(By.CSS_SELECTOR, ".block.live")
        return {str(b.value_of_css_property("background-color")) for b in live}

    choice = Select(page.find_element(By.ID, "coloring"))
    assert len(colours()) > 1, "several call stacks"
    choice.select_by_value("state")
    assert len(colours()) == 1
    choice.select_by_value("stream")
    assert len(colours()) == 1, "live blocks have no stream"


def test_the_legend_names_the_callers(page: webdriver.Chrome) -> None:
    entries = page.find_elements(By.CSS_SELECTOR, "#legend button")
    assert entries and any("<module>" in e.text or "layer_of_the_test" in e.text for e in entries)
    entries[0].click()
    assert "Allocated from here" in detail(page)


def test_a_hundred_thousand_events(browser: webdriver.Chrome, tmp_path: pathlib.Path) -> None:
    """A long history and a heap of many small blocks stay usable, and text of a stack stays text."""
    n = 100_000
    nasty = "</script><script>document.title = 'broken out'</script>"
    stat = {"current": 0, "peak": 0, "allocated": 0, "freed": 0}
    trace = [
        {"action": "alloc" if i % 2 == 0 else "free", "time_us": i, "addr": 4096, "size": 256, "stack": 1}
        for i in range(n)
    ]
    blocks = [
        {"address": i * 256, "size": 256, "requested_size": 256, "state": "active_allocated", "stack": 1}
        for i in range(20000)
    ]
    snapshot = {
        "version": 1, "device": nasty, "place": "mps:0", "time_us": n, "limit_bytes": 1 << 30,
        "stats": dict.fromkeys(("allocated_bytes", "active_bytes", "reserved_bytes"), stat),
        "segments": [{"id": 1, "address": 0, "total_size": 256 * 20000, "allocated_size": 256 * 20000, "active_size": 0, "requested_size": 0, "blocks": blocks}],
        "trace": trace, "trace_dropped": 7, "stacks": [[{"filename": nasty, "line": 1, "name": nasty}]],
    }  # fmt: skip
    (tmp_path / "long.json").write_text(json.dumps(snapshot))
    subprocess.run(
        [TOOL, "memory-viz", "-o", tmp_path / "page.html", tmp_path / "long.json"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    browser.get((tmp_path / "page.html").as_uri())
    assert browser.title.startswith("Memory of mps:0 (</script>")
    fields = browser.find_elements(By.CLASS_NAME, "block")
    assert 100 < len(fields) < 2000
    assert sum(int(f.get_attribute("data-blocks") or 0) for f in fields[:1]) > 1
    fields[0].click()
    assert "small blocks" in detail(browser) and nasty in detail(browser)
    assert "7 older ones dropped" in browser.find_element(By.ID, "figures").text
    assert browser.get_log("browser") == []
