"""The page of `paddle-mps memory-viz` in a real browser: Chromium without a window, driven by Selenium.

The snapshot is one of a program that has just run. `./build.sh test` has built the command and found
the browser.
"""

from __future__ import annotations

import itertools
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
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.actions.wheel_input import ScrollOrigin
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

def other_layer(n):
    return paddle.zeros([n, 512], place="mps")

paddle.mps.record_memory_history()
kept = [layer_of_the_test(n) for n in range(10, 400, 13)]
kept += [other_layer(n) for n in range(50, 500, 21)]
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


def test_both_writers_make_the_same_page(snapshot: tuple[pathlib.Path, dict[str, Any]], tmp_path: pathlib.Path) -> None:
    """The command in Go and the one that pip installs."""
    page = tmp_path / "python.html"
    command = [sys.executable, "-m", "paddle_mps.memory_viz", str(snapshot[0].with_suffix(".json")), "-o", str(page)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert page.read_bytes() == snapshot[0].read_bytes()


def test_the_figures(page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]) -> None:
    figures = dict(zip(*[iter(page.find_element(By.ID, "figures").text.splitlines())] * 2))
    assert figures["Out of memory"] == "once"
    assert figures["Events"] == str(len(snapshot[1]["trace"])) and figures["Heaps"] == str(len(snapshot[1]["segments"]))
    assert "undefined" not in page.find_element(By.TAG_NAME, "body").text


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


def view(page: webdriver.Chrome) -> tuple[float, float]:
    """What part of the axis is shown."""
    shown = page.execute_script("return memoryViz.view")
    return shown["from"], shown["to"]


def at(page: webdriver.Chrome, x: float, y: float) -> ActionChains:
    """The pointer on a pixel of the timeline; Selenium counts from its middle."""
    timeline = page.find_element(By.ID, "timeline")
    size = timeline.size
    return ActionChains(page).move_to_element_with_offset(
        timeline, round(x - size["width"] / 2), round(y - size["height"] / 2)
    )


@pytest.mark.parametrize("function", ["layer_of_the_test", "other_layer"])
def test_a_click_on_a_band_selects_it(
    page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]], function: str
) -> None:
    """The band shows its call stack, and the allocations that it consists of at that moment."""
    trace, stacks = snapshot[1]["trace"], snapshot[1]["stacks"]
    entry = next(e for e in page.find_elements(By.CSS_SELECTOR, "#legend button") if e.text.startswith(function))
    stack = int(entry.get_attribute("data-stack") or 0)
    assert stacks[stack - 1][0]["name"] == function
    Select(page.find_element(By.ID, "across")).select_by_value("event")
    last = max(i for i, e in enumerate(trace) if e["action"] == "free")
    place = page.execute_script(f"return memoryViz.whereIs({last}, {stack})")
    at(page, **place).click().perform()
    live: dict[int, dict[str, Any]] = {}
    for event in trace[: last + 1]:
        if event["action"] == "alloc":
            live[event["addr"]] = event
        elif event["action"] == "free":
            live.pop(event["addr"], None)
    sizes = [e["size"] for e in live.values() if e["stack"] == stack]
    said = detail(page)
    assert "Allocated from here" in said and function in said and f"Allocations {len(sizes)}\n" in said
    assert page.execute_script("const [n] = arguments; return bytes(n)", sum(sizes)) in said
    assert f"and {len(sizes) - 6} more" in said
    chosen = page.find_elements(By.CSS_SELECTOR, "#legend button.selected")
    assert [c.get_attribute("data-stack") for c in chosen] == [str(stack)]
    page.find_element(By.ID, "timeline").send_keys(Keys.ARROW_LEFT)
    assert f"{last} of {len(trace)}" in detail(page), "keys go on from there"
    assert not page.find_elements(By.CSS_SELECTOR, "#legend button.selected")


def test_zoom_and_pan(page: webdriver.Chrome) -> None:
    timeline = page.find_element(By.ID, "timeline")
    whole = view(page)
    ActionChains(page).scroll_from_origin(ScrollOrigin.from_element(timeline), 0, -200).perform()
    near = view(page)
    assert whole[0] < near[0] < near[1] < whole[1], "the wheel zooms about the pointer"
    at(page, 500, 100).click_and_hold().move_by_offset(-120, 3).release().perform()
    moved = view(page)
    assert moved[0] > near[0] and moved[1] - moved[0] == pytest.approx(near[1] - near[0])
    assert "Nothing is selected" in detail(page), "what is dragged is not clicked"
    ActionChains(page).scroll_from_origin(ScrollOrigin.from_element(timeline), -60, 0).perform()
    assert view(page)[0] < moved[0], "a wheel that turns sideways pans"
    timeline.send_keys("0")
    assert view(page) == whole
    timeline.send_keys("+")
    assert view(page)[1] - view(page)[0] == pytest.approx((whole[1] - whole[0]) / 2)
    page.find_element(By.ID, "zoom-in").click()
    page.find_element(By.ID, "zoom-out").click()
    timeline.send_keys("-")
    assert view(page) == whole, "there is nothing beside it"
    for _ in range(60):
        timeline.send_keys("+")
    assert view(page)[1] - view(page)[0] == 2, "no further than to two microseconds"
    page.execute_script("memoryViz.selectEvent(0)")
    assert view(page)[0] == whole[0], "what is selected is shown"


def test_the_axes(page: webdriver.Chrome, snapshot: tuple[pathlib.Path, dict[str, Any]]) -> None:
    """Labels are of round times or numbers of events; the topmost size is whole."""
    ticks = page.execute_script("return memoryViz.ticks")
    assert len(ticks) >= 2 and len(set(ticks)) == len(ticks)
    assert {t.split()[1] for t in ticks} <= {"µs", "ms", "s"} and len({t.split()[1] for t in ticks}) == 1
    for _ in range(8):
        page.find_element(By.ID, "zoom-in").click()
        ticks = page.execute_script("return memoryViz.ticks")
        assert len(set(ticks)) == len(ticks) >= 2, "labels have the digits that tell them apart"
    Select(page.find_element(By.ID, "across")).select_by_value("event")
    ticks = [int(t) for t in page.execute_script("return memoryViz.ticks")]
    assert ticks == sorted(set(ticks)) and ticks[-1] <= len(snapshot[1]["trace"])
    for _ in range(2):
        sizes = page.execute_script("return memoryViz.sizes")
        assert 2 <= len(sizes) <= 7
        assert min(s["y"] for s in sizes) >= 6, "half of the 12 pixels of a label"
        page.find_element(By.ID, "with-reserved").click()


def lab(colour: str) -> tuple[float, float, float]:
    """#rrggbb in CIELAB, by the definition of IEC 61966-2-1 and CIE 15 with the white of D65."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (((c + 0.055) / 1.055) ** 2.4 if c > 0.04045 else c / 12.92 for c in parts)
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    fx, fy, fz = (c ** (1 / 3) if c > 216 / 24389 else 841 / 108 * c + 4 / 29 for c in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_colours_can_be_told_apart(page: webdriver.Chrome) -> None:
    """A difference of 2.3 can just be noticed (Mahy, 1994). Bands touch, also those between which another has no
    height at the moment; ten times as much is a clear difference."""

    def distance(a: str, b: str) -> float:
        return float(sum((p - q) ** 2 for p, q in zip(lab(a), lab(b))) ** 0.5)

    colours = page.execute_script("return memoryViz.colors")
    assert len(colours) == 13
    assert min(distance(a, b) for a, b in itertools.combinations(colours, 2)) > 10 * 2.3
    drawn = page.execute_script(
        "const g = timeline.getContext('2d'), d = g.getImageData(0, 0, timeline.width, timeline.height).data;"
        "const seen = new Set(); for (let i = 0; i < d.length; i += 4)"
        " seen.add('#' + [0, 1, 2].map((k) => d[i + k].toString(16).padStart(2, '0')).join(''));"
        "return [...seen]"
    )
    assert set(colours[:3]) <= set(drawn), "these are what is drawn"


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
