"""Graphs as pictures, made of their text: a box for each operator, below those whose results it reads."""

from __future__ import annotations

import os
import re

LETTER, LINE, PAD, GAP, BETWEEN = 7.3, 16, 8, 24, 44  # pixels: of the monospaced font, in boxes, and around them
LONGEST = 48  # letters of a line of a box
# What html.escape does; the module takes a millisecond to import.
MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#x27;"})
STYLE = (
    "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:#1f2430}"
    "rect{fill:#eef2fb;stroke:#7489b8}.input rect{fill:#e9f6ec;stroke:#6aa77b}.output rect{fill:#fdf1e3;stroke:#c79a5b}"
    "path{fill:none;stroke:#8b93a5}.name{font-weight:600}"
)


class Box:
    """An operator, an input or an output."""

    def __init__(self, sort: str, lines: list[str], reads: list[int] | None = None) -> None:
        self.sort, self.lines = sort, lines
        self.reads = reads or []  # boxes above
        self.layer, self.x, self.y = 0, 0.0, 0.0

    @property
    def width(self) -> float:
        return max(len(line) for line in self.lines) * LETTER + 2 * PAD

    @property
    def height(self) -> float:
        return len(self.lines) * LINE + 2 * PAD


def short(text: str) -> str:
    """The text, or as much of it as there is room for."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def boxes(text: str) -> list[Box]:
    """What the text of a graph consists of: that of `lower`, or of an ONNX model. Constants are lines of what reads them."""
    found: list[Box] = []
    made: dict[str, tuple[int, str]] = {}  # by name: the box, and the type where the text says it
    constants: dict[str, str] = {}
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("input", "constant") and " = " not in line:
            name, _, kind = rest.partition(" ")
            if word == "constant":
                constants[name] = kind
                continue
            made[name] = len(found), kind
            found.append(Box("input", [short(name), short(kind)]))
        elif word == "output" and " = " not in line:
            name, _, kind = rest.partition(" ")
            found.append(Box("output", [short(f"output {name}")], [made[name][0]] if name in made else []))
        else:
            results, _, call = line.partition(" = ")
            matched = re.match(r"([^(]+)\((.*)\)(.*)$", call)
            if not matched:
                continue
            operator, operands, attributes = matched.groups()
            typed = re.findall(r"(%\d+) (\w+\[[^\]]*\])", results)
            names = [name for name, _ in typed] or results.split(", ")
            box = Box("call", [operator])
            for operand in filter(None, operands.split(", ")):
                if operand in made:
                    box.reads.append(made[operand][0])
                else:
                    box.lines.append(short(f"{operand} {constants[operand]}" if operand in constants else operand))
            box.lines += [short(part) for part in re.findall(r"\w+=(?:\[[^\]]*\]|\S+)", attributes)]
            box.lines += [short(f"→ {kind}") for _, kind in typed]
            for name in names:
                made[name] = len(found), ""
            found.append(box)
    return found


def placed(found: list[Box]) -> tuple[float, float]:
    """Places the boxes, each below all that it reads, and returns the size of the picture."""
    for box in found:
        box.layer = 1 + max((found[i].layer for i in box.reads), default=-1)
    for i, box in enumerate(found):  # an input stands right above what reads it first
        if box.sort == "input":
            box.layer = max(min((other.layer for other in found if i in other.reads), default=1) - 1, 0)
    layers: dict[int, list[Box]] = {}
    for box in found:
        layers.setdefault(box.layer, []).append(box)
    y, width = float(GAP), 0.0
    for number in sorted(layers):
        row = layers[number]

        def above(box: Box) -> float:
            return sum(found[i].x for i in box.reads) / len(box.reads) if box.reads else 0.0

        row.sort(key=above)
        x = -(sum(box.width + GAP for box in row) - GAP) / 2
        for box in row:
            box.x, box.y = x + box.width / 2, y
            x += box.width + GAP
        width = max(width, 2 * x)
        y += max(box.height for box in row) + BETWEEN
    for box in found:
        box.x += width / 2 + GAP
    return width + 2 * GAP, y - BETWEEN + GAP


def line_between(upper: Box, lower: Box, sides: dict[int, float]) -> str:
    """The line from a box to one below that reads it, which passes the boxes of layers between them on the right."""
    start, end = upper.y + upper.height, lower.y
    points = [(upper.x, start), (lower.x, end)]
    if lower.layer > upper.layer + 1:
        side = max(sides[layer] for layer in range(upper.layer + 1, lower.layer)) + PAD
        points[1:1] = [(side, start + BETWEEN), (side, end - BETWEEN)]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}"
    for (x, y), (to_x, to_y) in zip(points, points[1:]):
        middle = (y + to_y) / 2
        path += f"C{x:.1f} {middle:.1f} {to_x:.1f} {middle:.1f} {to_x:.1f} {to_y:.1f}"
    return path


def svg(text: str) -> str:
    """The picture of a graph, as a document."""
    found = boxes(text)
    width, height = placed(found)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><style>{STYLE}</style>'
    ]
    sides: dict[int, float] = {}  # by layer: where its last box ends
    for box in found:
        sides[box.layer] = max(sides.get(box.layer, 0.0), box.x + box.width / 2)
    for box in found:
        for i in dict.fromkeys(box.reads):
            parts.append(f'<path d="{line_between(found[i], box, sides)}"/>')
    for box in found:
        parts.append(
            f'<g class="{box.sort}"><rect x="{box.x - box.width / 2:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
            f'height="{box.height:.1f}" rx="4"/>'
        )
        for i, line in enumerate(box.lines):
            name = ' class="name"' if i == 0 else ""
            parts.append(
                f'<text{name} x="{box.x - box.width / 2 + PAD:.1f}" y="{box.y + PAD + LINE * (i + 0.75):.1f}">{line.translate(MARKUP)}</text>'
            )
        parts.append("</g>")
    return "\n".join([*parts, "</svg>\n"])


class Drawing:
    """A picture of a graph, which notebooks show. `str` is the document."""

    def __init__(self, text: str) -> None:
        self._svg = svg(text)

    def __str__(self) -> str:
        return self._svg

    def _repr_svg_(self) -> str:
        return self._svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file, of which the name ends in .svg."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._svg)
