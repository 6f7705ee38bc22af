"""Runs random programs by this package and by NumPy, and compares every value.

    run.py [--seconds S | --programs N] [--seed SEED] [--place PLACE] [--traced | --views]

PLACE is the place besides cpu that tensors move to and from: mps (what PADDLE_MPS_DEVICE says that is) or cpu itself.
With --traced each program is a function that is traced on PLACE and run twice. Of each five programs one is about gradients: see
slope_programs.py. With --views all are about writes in place through views: see view_programs.py; what they were refused is
printed with its count. Prints the seed of the first program, then `ok` and the number of programs, or `FAIL` and the shortest program
that still differs, with its seed, and exits 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from typing import Any, Callable

import programs
import slope_programs
import view_programs

import paddle_mps as paddle


def streams_of(places: tuple[str, ...]) -> dict[str, list[Any]]:
    """Two streams of each place that has streams: its current one and another."""
    return {p: [paddle.device.current_stream(p), paddle.device.Stream(p)] for p in places if p != "cpu"}


Difference = Callable[[list[programs.Statement]], str]


def shortened(statements: list[programs.Statement], difference: Difference) -> list[programs.Statement]:
    """The program without what the difference does not need."""
    end = len(statements)
    while end > 1 and difference(statements[: end - 1]):
        end -= 1
    return statements[:end]


def told(seed: int, statements: list[programs.Statement], text: str) -> str:
    lines, number = [], 0
    for s in statements:
        writes = s.name in programs.OPERATORS and programs.OPERATORS[s.name].writes
        lines.append(f"  {'   ' if writes else f'v{number} ='} {s}")
        number += not writes
    return "\n".join([f"FAIL program of seed {seed}", *lines, *("  " + line for line in text.splitlines())])


def program(
    seed: int, places: tuple[str, ...], traced: bool, streams: dict[str, list[Any]] | None
) -> tuple[list[programs.Statement], Difference]:
    """The program of a seed, and how it is compared."""
    if seed % 5 == 0:
        place = places[seed // 5 % len(places)]
        return slope_programs.Maker(seed, place).make(), lambda statements: slope_programs.difference(
            statements, traced
        )
    return programs.Maker(seed, places, traced).make(), lambda statements: programs.difference(statements, streams)


def views(first: int, options: argparse.Namespace) -> int:
    """The programs about writes through views: on cpu and on the place in turns."""
    places = tuple(dict.fromkeys(("cpu", options.place)))
    end, done = time.monotonic() + options.seconds, 0
    while done < options.programs if options.programs else not done or time.monotonic() < end:
        seed = first + done
        statements = view_programs.Maker(seed, places[seed % len(places)]).make()
        if view_programs.difference(statements):
            short = view_programs.shortened(statements, view_programs.difference)
            print(view_programs.told(seed, short, view_programs.difference(short)))
            if not options.all:
                return 1
        done += 1
    for text, count in view_programs.REFUSED.most_common():
        print(f"{count:6d} refused, {text}")
    right = ", ".join(f"{count} {way}" for way, count in view_programs.RIGHT.items())
    print(f"ok {done} programs on {' and '.join(places)}: {right}")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--programs", type=int, help="so many, however long they take")
    parser.add_argument("--seed", type=int, help="of the first; else random")
    parser.add_argument("--place", default="mps")
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("--views", action="store_true")
    parser.add_argument("--all", action="store_true", help="with --views: go on after a difference")
    options = parser.parse_args()
    first = options.seed if options.seed is not None else random.SystemRandom().randrange(10**9)
    places = (options.place,) if options.traced else tuple(dict.fromkeys(("cpu", options.place)))
    print(f"from seed {first}", flush=True)  # before what may end the process
    if options.views:
        return views(first, options)
    streams = None if options.traced else streams_of(places)
    end, done = time.monotonic() + options.seconds, 0
    while done < options.programs if options.programs else not done or time.monotonic() < end:
        statements, difference = program(first + done, places, options.traced, streams)
        if difference(statements):
            short = shortened(statements, difference)
            print(told(first + done, short, difference(short)))
            return 1
        done += 1
    print(f"ok {done} programs on {' and '.join(places)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
