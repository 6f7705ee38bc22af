"""How many instructions the loops of the CPU device take on arm64: those of NEON beside the portable ones.

Each row of the rooms of kernels/host/vec that takes much time in networks runs on 4096 elements (16 KiB of float32) in
qemu-aarch64, with a plug-in that counts (bench/arm64.c). The counts include the call from Go to C. They are
the same on every machine, and say nothing about the time of an instruction on a real processor: division and
square root take longer than a load. The bar for each row is 0.35 of the portable loop's count.

    ./build.sh bench arm64
"""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build" / "arm64"
PACKAGE = ROOT / "kernels" / "host" / "vec"
ELEMENTS = 4096  # countedLength of instructions_test.go
BAR = 0.35


def build() -> None:
    """The plug-in for this machine, and the tests of the package for Linux on arm64."""
    OUT.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", OUT / "count.so", ROOT / "bench" / "arm64.c"], check=True)
    target = {"GOOS": "linux", "GOARCH": "arm64", "CGO_ENABLED": "1", "CC": "aarch64-linux-gnu-gcc", "GOEXPERIMENT": ""}
    subprocess.run(["go", "test", "-c", "-o", OUT / "vec.test", "."], check=True, cwd=PACKAGE, env=os.environ | target)


def counts() -> dict[str, dict[str, int]]:
    """Instructions of each row, by the name of the level."""
    command = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", "-plugin", str(OUT / "count.so"), str(OUT / "vec.test")]
    test = ["-test.run", "^TestCountedRows$", "-instructions"]
    # A signal that asks a goroutine to make way would be counted, too.
    quiet = os.environ | {"GODEBUG": "asyncpreemptoff=1"}
    run = subprocess.run(command + test, check=True, cwd=PACKAGE, env=quiet, capture_output=True, text=True)
    counted = dict(re.findall(r"^count (\d+) (\d+)$", run.stderr, re.MULTILINE))
    rows: dict[str, dict[str, int]] = {}
    for number, level, name in re.findall(r"^row (\d+) (\w+): (.*)$", run.stdout, re.MULTILINE):
        rows.setdefault(name, {})[level] = int(counted[number])
    return rows


def main() -> int:
    if len(sys.argv) > 1:
        print(f"bench arm64: got {sys.argv[1:]}; want no arguments", file=sys.stderr)
        return 2
    build()
    rows = counts()
    if len(rows) < 20:
        print(f"bench arm64: counted {len(rows)} rows; want 20 or more", file=sys.stderr)
        return 1
    print(f"instructions of an element, rows of {ELEMENTS} elements; the bar is {BAR} of the portable loop")
    print(f"{'row':24} {'portable':>10} {'NEON':>8} {'ratio':>7} {'bar':>6}")
    missed = 0
    for name, row in rows.items():
        ratio = row["neon"] / row["portable"]
        missed += ratio > BAR
        verdict = "missed" if ratio > BAR else ""
        portable, neon = row["portable"] / ELEMENTS, row["neon"] / ELEMENTS
        print(f"{name:24} {portable:10.2f} {neon:8.2f} {ratio:7.3f} {BAR:6.2f} {verdict}".rstrip())
    print(f"{len(rows) - missed} of {len(rows)} rows are within the bar")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
