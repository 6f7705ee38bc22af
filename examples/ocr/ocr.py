"""Reads the text in a picture with rapidocr, a program for onnxruntime, which runs unchanged on paddle_mps.

Run it with `./build.sh demo ocr`. Three models find text, turn lines that are upside down, and read it. The picture is drawn
here, so that it is known what should be found: the program fails if it is not. The picture with what was found is written to
examples/out/ocr.png, and the time is compared with that of onnxruntime.

    ocr.py [--picture FILE] [--threads N] [--rounds N]
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
from typing import Any, NamedTuple

from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).parent
RESULT = HERE.parent / "out" / "ocr.png"
INK, PAPER, BAND, RED, GREEN = "#1b2733", "#f6f3ea", "#23507a", "#b03030", "#1d9a55"


class Line(NamedTuple):
    """A line of text: where its middle is, how large it is, and by how many degrees it is turned."""

    text: str
    x: int
    y: int
    size: int
    color: str = INK
    angle: float = 0


LINES = [
    Line("NIGHT TRAIN 417", 170, 40, 36, "white"),
    Line("Seat 12A", 640, 40, 30, "white"),
    Line("Basel SBB", 110, 125, 34),
    Line("22:58", 75, 170, 26),
    Line("Hamburg-Altona", 420, 125, 34),
    Line("08:12", 330, 170, 26),
    Line("Please keep this ticket until the end of your journey.", 265, 235, 20),
    Line("Price: 89.50 EUR", 120, 285, 24),
    Line("CANCELLED", 610, 225, 38, RED, 12),
    Line("Read me upside down", 590, 315, 28, INK, 180),
]


def font(size: int) -> Any:
    """Pillow's own font."""
    return ImageFont.load_default(size)


def drawn() -> Image.Image:
    """The picture: a ticket with the lines."""
    picture = Image.new("RGB", (760, 360), PAPER)
    ImageDraw.Draw(picture).rectangle((0, 0, 760, 80), fill=BAND)
    for line in LINES:
        left, top, right, bottom = (int(n) for n in font(line.size).getbbox(line.text))
        mask = Image.new("L", (right - left + 8, bottom - top + 8))
        ImageDraw.Draw(mask).text((4 - left, 4 - top), line.text, fill=255, font=font(line.size))
        mask = mask.rotate(line.angle, Image.Resampling.BICUBIC, expand=True)
        at = (line.x - mask.width // 2, line.y - mask.height // 2)
        picture.paste(Image.new("RGB", mask.size, line.color), at, mask)
    return picture


def marked(picture: Image.Image, found: list[dict[str, Any]]) -> Image.Image:
    """The picture, and beside it what was found, where it was found."""
    made = Image.new("RGB", (picture.width * 2 + 10, picture.height), "white")
    made.paste(picture, (0, 0))
    pen = ImageDraw.Draw(made)
    for line in found:
        box = [(int(x), int(y)) for x, y in line["box"]]
        pen.polygon(box, outline=GREEN, width=2)
        right = [(x + picture.width + 10, y) for x, y in box]
        pen.polygon(right, outline=GREEN)
        width = max(x for x, _ in right) - min(x for x, _ in right)
        size = min(20, max(9, int(1.7 * width / len(line["text"]))))
        middle = sum(x for x, _ in right) / 4, sum(y for _, y in right) / 4
        pen.text(middle, line["text"], fill=INK, font=font(size), anchor="mm")
    return made


def work(picture: str, ours: bool, threads: int) -> None:
    """Loads the models and reads the picture once for each line of the standard input; prints what it found, as JSON."""
    if ours:
        import paddle_mps.onnxruntime as ort

        ort.install(ort.get_available_providers()[0])  # rapidocr names the CPU, also where there is a GPU
    import rapidocr

    start = time.perf_counter()
    reader = rapidocr.RapidOCR(
        params={"Global.log_level": "error", "EngineConfig.onnxruntime.intra_op_num_threads": threads}
    )
    loaded = time.perf_counter() - start
    for _ in sys.stdin:
        start = time.perf_counter()
        found = reader(picture)
        seconds = time.perf_counter() - start
        lines = [
            {"text": text, "score": float(score), "box": box.tolist()}
            for text, score, box in zip(found.txts, found.scores, found.boxes)
        ]
        print(json.dumps({"loaded": loaded, "seconds": seconds, "lines": lines}), flush=True)


class Reader:
    """A process that reads the picture, with paddle_mps or with onnxruntime."""

    def __init__(self, picture: str, ours: bool, threads: int) -> None:
        command = [sys.executable, __file__, "--work", "ours" if ours else "theirs", "--picture", picture]
        self._process = subprocess.Popen(
            [*command, "--threads", str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PADDLE_MPS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)},
        )
        self.seconds: list[float] = []
        self.loaded = 0.0

    def read(self) -> list[dict[str, Any]]:
        """What it finds."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"ocr.py: the process that reads ended with status {self._process.wait()}")
        said = json.loads(answer)
        self.seconds.append(said["seconds"])
        self.loaded = said["loaded"]
        lines: list[dict[str, Any]] = said["lines"]
        return lines

    def times(self) -> str:
        """A line about its times."""
        first, *rest = self.seconds
        return f"{self.loaded:>8.2f} s {first:>12.2f} s {statistics.median(rest):>12.3f} s"

    def end(self) -> None:
        """Ends the process."""
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait()


def main() -> int:
    """Reads the picture and returns 1 if something else is found than was drawn."""
    parser = argparse.ArgumentParser(description="Reads the text in a picture.")
    parser.add_argument("--picture", help="another picture; without it, one is drawn")
    parser.add_argument("--threads", type=int, default=1, help="of one operator; default 1")
    parser.add_argument("--rounds", type=int, default=5, help="how often each of the two reads it; default 5")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.picture, given.work == "ours", given.threads)
        return 0
    RESULT.parent.mkdir(exist_ok=True)
    path = given.picture or str(RESULT.with_name("ticket.png"))
    if not given.picture:
        drawn().save(path)
    ours, theirs = (Reader(path, which, given.threads) for which in (True, False))
    found, same = ours.read(), theirs.read()
    for _ in range(given.rounds):  # one after the other, so that both see the same machine
        ours.read()
        theirs.read()
    ours.end()
    theirs.end()

    print(f"{'text':<56}{'score':>6}")
    for line in found:
        print(f"{line['text']:<56}{line['score']:>6.3f}")
    print(f"\n{given.threads} thread(s)   {'load':>8} {'first picture':>15} {'then, median':>14}")
    print(f"paddle_mps   {ours.times()}\nonnxruntime  {theirs.times()}")
    with Image.open(path) as picture:
        marked(picture.convert("RGB"), found).quantize(64).save(RESULT, optimize=True)
    print(f"\nwrote {RESULT.relative_to(HERE.parent.parent)}")
    texts = [line["text"] for line in found]
    if texts != [line["text"] for line in same]:
        print("FAILED: onnxruntime finds other text")
        return 1
    missing = [line.text for line in LINES if line.text not in texts]
    if missing and not given.picture:
        print(f"FAILED: not found: {missing}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
