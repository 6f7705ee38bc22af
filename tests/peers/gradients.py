"""Compares gradients with those of the real PaddlePaddle, for each expression of `expressions`.

    gradients.py                   asks both libraries; fails also when the stored answers are stale
    gradients.py --replay FILE     asks paddle_mps only, and takes Paddle's answers from FILE
    gradients.py --record FILE     asks Paddle only, and writes FILE
    gradients.py --relist          asks paddle_mps only, and brings gradients_differ.tsv up to date, but for its reasons

With --traced each expression is a function that paddle.jit traces, where it can: its gradient is a program too.

What is differentiated says `gradients` of worker.py. Expressions that Paddle has no gradient for are left out.
gradients_differ.tsv has the rows whose gradients are not Paddle's on purpose, each with the reason and with what says that ours
is right; how many there are of each reason is printed. --place PLACE makes the tensors of paddle_mps there; -k TEXT takes the
expressions in whose operator or source TEXT occurs. Prints `ok`, `FAIL` with what is different, `skip` for a row of the list, or
`without` for a function that has no gradient here yet and says so; exits 1 if anything failed.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pathlib
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from compare import (
    NEEDS_ELEMENTS,
    Answers,
    check_paddle,
    elsewhere,
    lacks_float64,
    needs_elements,
    read_golden,
    write_golden,
)
from expressions import ROWS, Row
from match import Answer, Slopes, matches
from pool import Library

GOLDEN = pathlib.Path(__file__).with_name("gradients_3_3_1.json")
AT_LEAST = 2400  # gradients that are compared
AT_LEAST_TRACED = 2300  # those of traced functions, which have no elements for NumPy
WITHOUT_AT_MOST = (
    27  # expressions whose functions have none here yet, 13 of them of complex matrices, 5 poisson, 4 bits and strides
)

LISTED = pathlib.Path(__file__).with_name("gradients_differ.tsv")
# What LISTED says of our answer to a row: that central differences agree with it and not with Paddle's; that they cannot tell,
# at a kink, at an infinity, of complex numbers and of last digits; or the exception that it is.
BY_DIFFERENCES, UNDECIDED, RAISES = "differences", "undecided", "raises "
RELIST = "run gradients.py --relist, and read what it changes"
NEAR = 0.01  # of differences, beside 1 and beside their size
# Groups of rows in which no gradient is Paddle's: of draws, of leaves that are changed in place, of roundings, and without one here.
NONE_EQUAL = {"divide", "eig", "exponential", "increment", "poisson", "range"}


@dataclass(frozen=True)
class Difference:
    """Why the gradient of one row is not Paddle's, on purpose, and what says that ours is right."""

    ours: str
    why: str


@functools.cache
def listed() -> dict[tuple[str, str], Difference]:
    """The rows whose gradients differ, by operator and body. Each line of the file is one row: `ours`, `why`, operator, body."""
    found = {}
    for line in LISTED.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            ours, why, op, body = line.split("\t")
            found[op, body.replace(" ;; ", "\n")] = Difference(ours, why)
    return found


MADE_INSIDE = "T(T([1, 2]), dtype='float32')"  # a leaf that only the traced function has, and not its result


def source_of(row: Row) -> str:
    """The expression that both libraries are asked."""
    return f"gradients({row.source!r})"


@functools.cache
def candidates() -> dict[str, Row]:
    """The rows that have an answer of their own, by what is asked."""
    return {source_of(row): row for row in ROWS if not row.rule}


def has_gradients(answer: Answer) -> bool:
    return any("tensor" in item for item in answer.get("list", []))


def ask_paddle(sources: list[str]) -> Answers:
    with Library("paddle") as paddle:
        check_paddle(paddle)
        asked = {source: paddle.ask(source) for source in sources}
    return {source: answer for source, answer in asked.items() if has_gradients(answer)}


def leaves_that_differ(want: Answer, got: Answer) -> dict[int, str]:
    """What is different of the gradients of leaves, by their numbers; all are of a list. None and zeros are the same gradient."""
    found = {}
    for i, (w, g) in enumerate(zip(want["list"], got["list"])):
        if "tensor" not in w or "tensor" not in g:
            values = [v for v in (w, g) if "tensor" in v]
            if any(float(x) != 0 for v in values for x in v["values"].split()):
                found[i] = f"want {w}, got {g}"
            continue
        units = 4 if w["tensor"] in ("float16", "bfloat16") else 64
        if text := matches(w, unsigned(g, w), Slopes(units)):
            found[i] = text
    return found


def compare(want: Answer, got: Answer) -> str:
    """Empty where the gradients are equal."""
    if "list" not in got or len(got["list"]) != len(want["list"]):
        return matches(want, got, Slopes()) or "kind"
    return next((f"leaf {i}: {text}" for i, text in leaves_that_differ(want, got).items()), "")


def as_float32(answer: Answer) -> Answer:
    """Gradients of float64 as if they were of float32, so that they may differ as much."""
    told: Answer = json.loads(json.dumps(answer).replace('"float64"', '"float32"'))
    return told


def unsigned(got: Answer, want: Answer) -> Answer:
    """The answer with the signs of zeros as they are wanted."""
    pairs = zip(got["values"].split(), want["values"].split())
    return {**got, "values": " ".join(w if float(g) == 0 == float(w) else g for g, w in pairs)}


def without(got: Answer) -> bool:
    """Whether a function says that it has no gradient yet."""
    return "has no gradient yet" in got.get("message", "") or "does not exist yet" in got.get("message", "")


def numbers(answer: Answer) -> np.ndarray[Any, Any]:
    """The elements of a gradient; none where there is none."""
    return np.array([float(x) for x in answer.get("values", "").split()])


def near(gradient: Answer, slope: Answer) -> bool:
    """Whether a gradient is near central differences; one that is None counts as zeros, and nan is near nothing."""
    wanted = numbers(slope)
    got = numbers(gradient) if "values" in gradient else np.zeros(wanted.size)
    with np.errstate(invalid="ignore"):
        return got.shape == wanted.shape and bool(np.all(abs(got - wanted) <= NEAR * (1 + abs(wanted))))


def decided(source: str, want: Answer, got: Answer, library: Library) -> bool:
    """Whether central differences say of each leaf whose gradients differ that ours is right and Paddle's is not."""
    if "list" not in got or len(got["list"]) != len(want["list"]):
        return False
    leaves = list(leaves_that_differ(want, got))
    slopes = library.ask(f"differences({source[len('gradients(') : -1]}, {leaves})").get("list")
    return slopes is not None and all(
        near(got["list"][i], slope) and not near(want["list"][i], slope) for i, slope in zip(leaves, slopes)
    )


def in_turn(row: Row) -> bool:
    """Whether the central differences of a row, which take some a second, have their turn: one row in five where turns are taken."""
    if not os.environ.get("PADDLE_MPS_SAMPLE"):
        return True
    sys.path.append(str(pathlib.Path(__file__).parents[1]))
    import sampling  # for which pytest has to be there, unlike in .venv-peers

    return sampling.touched(row.op) or sampling.takes(5, row.body)


def settle(row: Row, want: Answer, got: Answer, library: Library) -> str:
    """Whether a row of LISTED is as the list says; empty, or what is wrong."""
    said = listed()[row.op, row.body].ours
    if "list" in got and not compare(want, got):
        return f"is Paddle's now; {RELIST}"
    if said.startswith(RAISES) or "raises" in got:
        raised = got.get("raises")
        return "" if f"{RAISES}{raised}" == said else f"listed as `{said}`, answered {raised or 'a gradient'}; {RELIST}"
    if not in_turn(row):
        return ""
    right = decided(source_of(row), want, got, library)
    if right == (said == BY_DIFFERENCES):
        return ""
    if right:
        return f"central differences agree; {RELIST}"
    return "central differences do not say that this gradient is right and Paddle's is not"


def relist(known: Answers) -> None:
    """Writes LISTED anew: without rows whose gradients are Paddle's now, and with what our answers are. Reasons stay as they are."""
    rows = {(row.op, row.body): source for source, row in candidates().items()}
    lines = [line for line in LISTED.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    with Library("paddle_mps") as library:
        for (op, body), said in listed().items():
            source = rows.get((op, body))
            if source not in known:
                continue
            want, got = known[source], library.ask(source)
            if "raises" in got:
                ours = RAISES + got["raises"]
            elif not compare(want, got):
                continue
            else:
                ours = BY_DIFFERENCES if decided(source, want, got, library) else UNDECIDED
            lines.append("\t".join([ours, said.why, op, body.replace("\n", " ;; ")]))
    LISTED.write_text("\n".join(lines) + "\n", encoding="utf-8")


def shared(want: Answer, got: Answer) -> bool:
    """Whether the gradient of one leaf at least, which is not zero, is Paddle's."""
    if "list" not in got or len(got["list"]) != len(want["list"]):
        return False
    other = leaves_that_differ(want, got)
    return any(i not in other and any(numbers(gradient)) for i, gradient in enumerate(want["list"]))


def run(want: Answers, place: str, traced: bool, whole: bool = True) -> int:
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    equal: set[str] = set()
    rows = candidates()
    with Library("paddle_mps", place, traced) as library:
        for source, expected in want.items():
            if traced and MADE_INSIDE in source:
                continue
            name = "; ".join(rows[source].body.splitlines())
            got = library.ask(source)
            if place != "cpu":
                got, expected = elsewhere(got), elsewhere(expected)
            row = rows[source]
            if (row.op, row.body) in listed():
                # The same elsewhere: what is right is settled once.
                text = settle(row, expected, got, library) if place == "cpu" and not traced else ""
                if shared(expected, got):
                    equal.add(row.op)
                said = listed()[row.op, row.body]
                reasons[said.why] += 1
                kinds[said.ours.partition(" ")[0]] += 1
                counts["listed" if not text else "different"] += 1
                print(f"FAIL {name}\n     {text}" if text else f"skip {name}: {said.why}")
            elif lacks_float64(got):
                counts["skipped"] += 1
            elif traced and needs_elements(got):
                counts["unknown"] += 1
                print(f"skip {name}: {NEEDS_ELEMENTS}")
            elif without(got):
                counts["without"] += 1
                print(f"without {name}")
            elif place != "cpu" and not compare(as_float32(expected), as_float32(got)):
                counts["same"] += 1  # what is float64 is computed in float32 beside tensors of the GPU
                print(f"ok {name}")
            elif text := compare(expected, got):
                counts["different"] += 1
                print(f"FAIL {name}\n     {text} {got.get('message', '')}")
            else:
                counts["same"] += 1
                equal.add(row.op)
                print(f"ok {name}")
    failed = counts["different"]
    if whole and place == "cpu" and not traced:
        for op in sorted({rows[source].op for source in want} - equal - NONE_EQUAL):
            failed += 1
            print(f"FAIL no gradient of {op} is compared with Paddle's")
    if len(want) >= AT_LEAST and place == "cpu":
        least = AT_LEAST_TRACED if traced else AT_LEAST
        for text, bad in [
            (f"{counts['same']} gradients; want at least {least}", counts["same"] < least),
            (f"{counts['without']} without; want at most {WITHOUT_AT_MOST}", counts["without"] > WITHOUT_AT_MOST),
        ]:
            if bad:
                failed += 1
                print(f"FAIL {text}")
    print(
        f"{counts['without']:5d} without a gradient here yet\n{counts['skipped']:5d} skipped: no float64 on the place\n"
        f"{sum(bool(row.rule) for row in ROWS):5d} of which Paddle is asked another expression, without a gradient to compare\n"
        f"{len(rows) - len(want) if whole else 0:5d} of which Paddle has no gradient\n"
        f"{counts['listed']:5d} not Paddle's, on purpose, of which"
    )
    for number, what in (
        (kinds[BY_DIFFERENCES], "settled by central differences"),
        (kinds[RAISES.strip()], "exceptions here"),
        (kinds[UNDECIDED], "that central differences cannot tell"),
    ):
        print(f"{number:5d} {what}")
    for why, count in reasons.most_common():
        print(f"      {count:5d} {why}")
    if traced:
        print(f"{counts['unknown']:5d} skipped: {NEEDS_ELEMENTS}")
    print(f"{counts['same']} passed, {failed} failed")
    return failed


def stale(fresh: Answers) -> dict[str, str]:
    """Where the stored answers are not what Paddle says now."""
    stored = read_golden(GOLDEN)
    found = dict.fromkeys(fresh.keys() - stored.keys(), "not stored")
    found |= dict.fromkeys(stored.keys() - fresh.keys(), "Paddle has none any more")
    rows = candidates()
    for source in fresh.keys() & stored.keys():
        said = listed().get((rows[source].op, rows[source].body))
        if said and said.ours == UNDECIDED:
            continue  # of draws and digits Paddle's own answer is another one each time
        if text := compare(stored[source], fresh[source]):
            found[source] = text
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", metavar="TEXT", default="")
    parser.add_argument("--place", default="cpu")
    parser.add_argument("--traced", action="store_true")
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--replay", metavar="FILE", type=pathlib.Path)
    way.add_argument("--record", metavar="FILE", type=pathlib.Path)
    way.add_argument("--relist", action="store_true")
    options = parser.parse_args()
    asked = [source for source, row in candidates().items() if options.k in row.op or options.k in row.source]
    if options.record:
        write_golden(options.record, ask_paddle(asked))
        return 0
    if options.relist:
        relist(read_golden(GOLDEN))
        return 0
    if options.replay:
        known = read_golden(options.replay)
        missing = [source for source in known if source not in candidates()]
        for source in missing:
            print(f"FAIL {source} is stored and no expression: record anew")
        return int(
            run({s: known[s] for s in asked if s in known}, options.place, options.traced, not options.k) + len(missing)
            > 0
        )
    fresh = ask_paddle(asked)
    old = stale(fresh) if not options.k else {}
    for source, text in old.items():
        print(f"FAIL {source}: {GOLDEN.name} is stale: {text}")
    return int(run(fresh, options.place, options.traced, not options.k) + len(old) > 0)


if __name__ == "__main__":
    sys.exit(main())
