"""Compares gradients with those of the real PaddlePaddle, for each expression of `expressions`.

    gradients.py                   asks both libraries; fails also when the stored answers are stale
    gradients.py --replay FILE     asks paddle_mps only, and takes Paddle's answers from FILE
    gradients.py --record FILE     asks Paddle only, and writes FILE

With --traced each expression is a function that paddle.jit traces, where it can: its gradient is a program too.

What is differentiated says `gradients` of worker.py. Expressions that Paddle has no gradient for are left out, and those
about nan and infinities, where there is none to agree about. --place PLACE makes the tensors of paddle_mps there; -k TEXT
takes the expressions in whose operator or source TEXT occurs. Prints `ok`, `FAIL` with what is different, or `without`
for a function that has no gradient here yet and says so; exits 1 if anything failed.
"""

from __future__ import annotations

import argparse
import functools
import pathlib
import re
import sys
from collections import Counter

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
AT_LEAST = 1450  # gradients that are compared
AT_LEAST_TRACED = 1340  # those of traced functions, which have no elements for NumPy
WITHOUT_AT_MOST = 15  # expressions whose functions have none here yet, 13 of them of complex matrices

# Where Paddle's gradient is not ours, on purpose: why, and what is in the source of such expressions.
DIFFERENT = {
    "at a kink either side's slope is right": r"hardtanh|hardsigmoid|i0e|\.frexp|logit\(T\(\[0\.0",
    "the elements that overlap add up": r"as_strided|unfold",
    "a factor 0 leaves the product of the others": r"paddle\.prod\(",
    "an index below 0 counts from the end in the gradient too": r"index_select\(x, T\(\[-1|narrow\(.*, -\d|put_along_axis\(x, T\(\[\[-1|\[-1",
    "of values for one place only the last that was put has a gradient": r"index_put|put_along_axis.*'assign'|amax.*include_self=False|scatter\(x, T\(\[0, 0",
    "the value of masked_fill has a gradient": r"masked_fill",
    "a quotient that is rounded has none": r"rounding_mode|round\(x, 400\)",
    "soft labels need not add up to 1": r"cross_entropy.*soft_label|softmax_with_cross_entropy",
    "weights of observations have a gradient": r"aweights",
    "the loss is differentiated, not its logits alone": r"sigmoid_focal_loss|hsigmoid_loss",
    "weights, steps and scattered parts have gradients": r"lerp|paddle\.scale\(|trapezoid|diagonal_scatter|fill_diagonal_tensor",
    "a gradient has the shape of its tensor": r"multiplex|broadcast=False",
    "its digits are right": r"selu.*float64|gammaln|logsumexp\(T\(\[1000",
    "labels, their weights and variances have gradients": r"kl_div|binary_cross_entropy|nll_loss|log_loss",
    "the gradient of an embedding is dense": r"embedding\(.*sparse=True",
    "a mask that hides everything leaves 0": r"paddle.zeros\(\[5, 6\], 'bool'\)",
    "factors are not rounded to float32": r"local_response_norm\(T\(d",
    "a pool with a mask is padded as one without": r"padding='SAME'.*return_mask|nothing",
    "statistics of the batch are differentiated": r"batch_norm|group_norm",
    "a 0-d tensor is multiplied by its weight": r"kthvalue\(z|mode\(z",
    "a median of nan, or of nothing, is of no element": r"median\(w|median\(e|nanquantile|quantile\(e|mode\(e",
    "draws differ": r"log_normal|cauchy|bernoulli|exponential|standard_gamma|poisson|binomial|normal\(|gumbel|dropout|rrelu|rand",
    "it counts, and has no gradient": r"p=0|, 0\.0\)|dist\(y, 0\)|vector_norm\(x\.T, 0|heaviside",
    "a leaf is not changed in place": r"_\(|increment|o$|out=|paddle.assign\(\[1.0, 2.0\], o|\bset_|\.resize_",
    "the order of an incomplete gamma function has a gradient": r"gammaincc?\(T\(",
    "what is not read of a triangle has no gradient": r"cholesky_inverse|unitriangular=True, transpose",
    "a transposed solution is as finite differences say": r"lu_solve.*'T'",
    "the sign of a complex number turns with it": r"paddle\.sgn\(",
    "bits have no gradient": r"view\('|view\(x, '",
    "nothing of it depends on the operand": r"matrix_power\(a\.T, 0\)|beta=0\.0|zeros\(\[0\]\)|T\(\[\]|e\[:, 0\]",
}


MADE_INSIDE = "T(T([1, 2]), dtype='float32')"  # a leaf that only the traced function has, and not its result


def source_of(row: Row) -> str:
    """The expression that both libraries are asked."""
    return f"gradients({row.source!r})"


@functools.cache
def candidates() -> dict[str, Row]:
    """The rows that have an answer of their own and are not about special values, by what is asked."""
    return {
        source_of(row): row
        for row in ROWS
        if not row.rule and not row.special and not any(re.search(text, row.body) for text in DIFFERENT.values())
    }


def has_gradients(answer: Answer) -> bool:
    return any("tensor" in item for item in answer.get("list", []))


def ask_paddle(sources: list[str]) -> Answers:
    with Library("paddle") as paddle:
        check_paddle(paddle)
        asked = {source: paddle.ask(source) for source in sources}
    return {source: answer for source, answer in asked.items() if has_gradients(answer)}


def compare(want: Answer, got: Answer) -> str:
    """Empty where the gradients are equal. None and zeros are the same gradient."""
    if "list" not in got or len(got["list"]) != len(want["list"]):
        return matches(want, got, Slopes()) or "kind"
    for i, (w, g) in enumerate(zip(want["list"], got["list"])):
        if "tensor" not in w or "tensor" not in g:
            values = [v for v in (w, g) if "tensor" in v]
            if any(float(x) != 0 for v in values for x in v["values"].split()):
                return f"leaf {i}: want {w}, got {g}"
            continue
        units = 4 if w["tensor"] in ("float16", "bfloat16") else 64
        if text := matches(w, unsigned(g, w), Slopes(units)):
            return f"leaf {i}: {text}"
    return ""


def unsigned(got: Answer, want: Answer) -> Answer:
    """The answer with the signs of zeros as they are wanted."""
    pairs = zip(got["values"].split(), want["values"].split())
    return {**got, "values": " ".join(w if float(g) == 0 == float(w) else g for g, w in pairs)}


def without(got: Answer) -> bool:
    """Whether a function says that it has no gradient yet."""
    return "has no gradient yet" in got.get("message", "") or "does not exist yet" in got.get("message", "")


def run(want: Answers, place: str, traced: bool) -> int:
    counts: Counter[str] = Counter()
    rows = candidates()
    with Library("paddle_mps", place, traced) as library:
        for source, expected in want.items():
            if traced and MADE_INSIDE in source:
                continue
            name = "; ".join(rows[source].body.splitlines())
            got = library.ask(source)
            if place != "cpu":
                got, expected = elsewhere(got), elsewhere(expected)
            if lacks_float64(got):
                counts["skipped"] += 1
            elif traced and needs_elements(got):
                counts["unknown"] += 1
                print(f"skip {name}: {NEEDS_ELEMENTS}")
            elif without(got):
                counts["without"] += 1
                print(f"without {name}")
            elif text := compare(expected, got):
                counts["different"] += 1
                print(f"FAIL {name}\n     {text} {got.get('message', '')}")
            else:
                counts["same"] += 1
                print(f"ok {name}")
    failed = counts["different"]
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
        f"{counts['without']:5d} without a gradient here yet\n{counts['skipped']:5d} skipped: no float64 on the place"
    )
    if traced:
        print(f"{counts['unknown']:5d} skipped: {NEEDS_ELEMENTS}")
    print(f"{counts['same']} passed, {failed} failed")
    return failed


def stale(fresh: Answers) -> dict[str, str]:
    """Where the stored answers are not what Paddle says now."""
    stored = read_golden(GOLDEN)
    found = dict.fromkeys(fresh.keys() - stored.keys(), "not stored")
    found |= dict.fromkeys(stored.keys() - fresh.keys(), "Paddle has none any more")
    for source in fresh.keys() & stored.keys():
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
    options = parser.parse_args()
    asked = [source for source, row in candidates().items() if options.k in row.op or options.k in row.source]
    if options.record:
        write_golden(options.record, ask_paddle(asked))
        return 0
    if options.replay:
        known = read_golden(options.replay)
        missing = [source for source in known if source not in candidates()]
        for source in missing:
            print(f"FAIL {source} is stored and no expression: record anew")
        return int(run({s: known[s] for s in asked if s in known}, options.place, options.traced) + len(missing) > 0)
    fresh = ask_paddle(asked)
    old = stale(fresh) if not options.k else {}
    for source, text in old.items():
        print(f"FAIL {source}: {GOLDEN.name} is stale: {text}")
    return int(run(fresh, options.place, options.traced) + len(old) > 0)


if __name__ == "__main__":
    sys.exit(main())
