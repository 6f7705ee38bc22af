"""The table of operations and element types in docs/triton.md, from the Triton IR of the cases in passing.txt.

    python tests/triton/table.py [--write]

An operation counts as supported for a type if a case that passes has it. Without --write, what is in the document is
compared; the exit status is 1 if it is stale.
"""

from __future__ import annotations

import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs" / "triton.md"
BEGIN, END = "<!-- table: tests/triton/table.py -->", "<!-- end of table -->"
TYPES = {
    "i1": "bool",
    "i8": "i8",
    "i16": "i16",
    "i32": "i32",
    "i64": "i64",
    "f16": "fp16",
    "bf16": "bf16",
    "f32": "fp32",
    "f8": "fp8",
}
OPERATION = re.compile(r'^\s*(?:%[^=]*= )?"?((?:tt|arith|math|scf|cf|ttg|ub|llvm)\.[\w.]+)"?')
ELEMENT = re.compile(r"(?:(?<=[x<:( ])|^)(i1|i8|i16|i32|i64|bf16|f16|f32|f64|f8\w+)\b")
SKIPPED = {
    "tt.return",
    "tt.func",
    "scf.yield",
    "tt.reduce.return",
    "tt.scan.return",
    "tt.map_elementwise.return",
    "scf.condition",
}


def operations(text: str) -> set[tuple[str, str]]:
    """Each operation of a module with the last element type of its line, which is that of its result."""
    found, opened = set(), []
    for line in text.splitlines():
        line = re.sub(r" loc\(.*$", "", line)
        match = OPERATION.match(line)
        if match and line.rstrip().endswith("({"):
            opened.append(match[1])  # its types stand behind its region
            continue
        closes = line.lstrip().startswith("})") and opened
        if not match and not closes:
            continue
        name = opened.pop() if closes else match[1] if match else ""
        types = [] if name.startswith("cf.") else ELEMENT.findall(line.rpartition(" : ")[2] if " : " in line else "")
        if name not in SKIPPED:
            found.add((name, "f8" if types and types[-1].startswith("f8") else types[-1] if types else ""))
    return found


def table() -> str:
    """The table as Markdown."""
    folder = HERE / "ttir" / "3.9.0"
    seen: dict[str, set[str]] = collections.defaultdict(set)
    for name in (HERE / "passing.txt").read_text().split():
        for operation, kind in operations((folder / f"{name}.ttir").read_text()):
            seen[operation].add(kind)
    lines = ["| operation | " + " | ".join(TYPES.values()) + " |", "|---|" + ":-:|" * len(TYPES)]
    for operation, kinds in sorted(seen.items()):
        if kinds & set(TYPES):
            lines.append(f"| `{operation}` | " + " | ".join("✓" if kind in kinds else "" for kind in TYPES) + " |")
    plain = sorted(f"`{operation}`" for operation, kinds in seen.items() if not kinds & set(TYPES))
    lines += ["", f"Without a type of their own: {', '.join(plain)}."]
    return "\n".join(lines)


def main() -> int:
    text = DOCUMENT.read_text()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = f"{before}{BEGIN}\n{table()}\n{END}{after}"
    if made == text:
        return 0
    if "--write" in sys.argv[1:]:
        DOCUMENT.write_text(made)
        return 0
    print(f"{DOCUMENT} is stale; run: python tests/triton/table.py --write", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
