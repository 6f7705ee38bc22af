"""Compares paddle_mps with the real PaddlePaddle, expression by expression.

    compare.py                   asks both libraries; fails also when the stored answers are stale
    compare.py --replay FILE     asks paddle_mps only, and takes Paddle's answers from FILE
    compare.py --record FILE     asks Paddle only, and writes FILE
    compare.py --show SOURCE     prints what each library answers to one expression
    compare.py --self            Paddle against itself: checks the expressions and their tolerances

With --traced, and --replay, each expression is a function that paddle.jit traces, where it can.

--place PLACE makes the tensors of paddle_mps there, on mps for example: PADDLE_MPS_DEVICE says what that is.
-k TEXT takes the expressions in whose operator or source TEXT occurs, --operator NAME those of an operator and those with
its name, or that of its form in place, as a word: "paddle" is no "add". Prints `ok`, or `FAIL` and what
is different, for each; then how many answers were of which kind; exits 1 if anything failed.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
import sys
from collections import Counter

from expressions import DEFECTS, NO_KERNEL, ROWS, Row
from match import Answer, matches
from pool import Library

VERSION = "3.3.1"
GOLDEN = pathlib.Path(__file__).with_name("paddle_3_3_1.json")

# What the set of expressions must hold after every edit.
AT_LEAST = 400
AT_LEAST_VALUES = 300
AT_LEAST_EACH = 3  # per operator and per dtype
DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
OPS = """
add subtract multiply divide floor_divide remainder pow maximum minimum abs neg sign exp expm1 log log1p
log2 sqrt rsqrt square reciprocal sin cos tan tanh sinh cosh floor ceil round trunc erf relu sigmoid silu
gelu softplus leaky_relu softmax clip equal not_equal less_than less_equal greater_than greater_equal
logical_and logical_or logical_xor logical_not isnan isinf isfinite where cast sum mean max min prod any
all argmax argmin logaddexp cumsum matmul reshape transpose concat split stack slice gather tile expand flip uniform normal
""".split()

NO_FLOAT64 = "the GPU has no float64 and no complex numbers"

Answers = dict[str, Answer]


def essence(answer: Answer) -> Answer:
    """What is stored: an exception without its bases and its message, which names lines of Paddle's source."""
    return {key: value for key, value in answer.items() if key not in ("also", "message")}


def read_golden(path: pathlib.Path) -> Answers:
    stored = json.loads(path.read_text(encoding="utf-8"))
    if stored["paddle"] != VERSION:
        raise SystemExit(f"{path} holds the answers of PaddlePaddle {stored['paddle']}; want {VERSION}")
    answers: Answers = stored["answers"]
    return answers


def write_golden(path: pathlib.Path, answers: Answers) -> None:
    """One answer a line, in the order of the expressions."""
    body = ",\n".join(f"{json.dumps(source)}: {json.dumps(essence(a))}" for source, a in answers.items())
    path.write_text(f'{{"paddle": "{VERSION}", "answers": {{\n{body}\n}}}}\n', encoding="utf-8")


def check_paddle(library: Library) -> None:
    library.ask("1")
    if library.version != VERSION:
        raise SystemExit(f"PaddlePaddle {library.version} is installed; want {VERSION}")


def ask_paddle(rows: list[Row]) -> Answers:
    """The answers that ours must match."""
    with Library("paddle") as paddle:
        check_paddle(paddle)
        return paddle.ask_all(row.expected for row in rows)


def check_rules(rows: list[Row], want: Answers) -> dict[str, str]:
    """Whether Paddle still lacks what a row says that it lacks: source to what is wrong."""
    with Library("paddle") as paddle:
        found = {row.source: stale_rule(row, paddle.ask(row.source), want[row.expected]) for row in rows if row.rule}
    return {source: text for source, text in found.items() if text}


def stale_rule(row: Row, own: Answer, instead: Answer) -> str:
    if row.rule == NO_KERNEL:
        return "" if "no_kernel" in own else f"rule {row.rule!r}: Paddle answers {essence(own)}"
    if "no_kernel" in own or matches(instead, own, row.tolerance):
        return ""
    return f"rule {row.rule!r}: Paddle's answer is right"


def compare(row: Row, want: Answer, got: Answer) -> str:
    """Empty when ours is right. A missing kernel of Paddle's is a RuntimeError, which ours must raise."""
    if "no_kernel" in got:
        got = {"raises": "RuntimeError"}
    for broken in ("hangs", "dies", "no_kernel"):
        if broken in want:
            return f"Paddle {broken}: the row must say what our answer is instead"
        if broken in got:
            return f"{broken}: {got[broken]}"
    text = matches(want, got, row.tolerance)
    return f"{text}; {got['message']}" if text and got.get("message") else text


def lacks_float64(got: Answer) -> bool:
    """Whether the place of the answer is a GPU that has no float64 and no complex numbers, and says so."""
    says = "(float64|complex64|complex128) does not exist on mps|on mps:0; want .*: the results are complex"
    return re.search(says, got.get("message", "")) is not None


def float32_there(row: Row, text: str) -> bool:
    """Whether an answer of a GPU differs because float64 tensors are float32 beside tensors of the GPU, where dtypes that differ are an
    error of Paddle.
    """
    if "float64" not in row.source and "np." not in row.source:
        return False
    return text.startswith(("dtype: want float64, got float32", "exception: want ValueError, got a result"))


def needs_elements(got: Answer) -> bool:
    """Whether a traced function refused the expression: it wants elements while it is traced, another shape in place, or
    computes with complex numbers.
    """
    says = "a function that is (being )?traced|a function is being traced|another shape in place|a program does not compute with complex"
    return re.search(says, got.get("message", "")) is not None


def unchecked(row: Row, want: Answer) -> bool:
    """Whether the answer is the error of a check of elements, which a traced function does not make."""
    return "raises" in want and row.op in ("bernoulli", "multinomial", "gaussian_nll_loss", "triplet_margin_loss")


UNCHECKED = "a traced function does not check elements"
NEEDS_ELEMENTS = (
    "a traced function has no elements, nor other shapes in place, nor complex numbers to compute with, and says so"
)
AT_LEAST_TRACED = 6100  # expressions that a traced function answers


# What rows of these operators ask is where tensors are, and what shares the memory of the CPU.
OF_THE_CPU = ("attributes", "storage")


def elsewhere(answer: Answer) -> Answer:
    """The answer as one of another place: tensors say so, and zeros lose their signs, which Apple's min and max need not
    keep."""
    text = json.dumps(answer).replace("Place(cpu)", "Place(mps:0)")
    told: Answer = json.loads(re.sub(r"-0\.0(?=[ \"])", "0.0", text))
    return told


def kind(row: Row, want: Answer) -> str:
    """The class that a right answer is counted in."""
    if row.rule == NO_KERNEL:
        return "no Paddle kernel (our rule)"
    if row.rule:
        return "listed Paddle defect"
    return "same exception" if "raises" in want else "same"


def floors(answers: Answers) -> list[str]:
    """What the set of all expressions lacks."""
    ops = Counter(row.op for row in ROWS)
    dtypes: Counter[str] = Counter()
    for row in ROWS:
        text = row.source + json.dumps(answers.get(row.expected, {}))
        dtypes.update(d for d in DTYPES if re.search(rf"\b{d}\b", text))
    values = sum("raises" not in answers.get(row.expected, {"raises": ""}) for row in ROWS)
    searching = sum(row.on_view or row.special for row in ROWS)
    found = [
        (len(ROWS), AT_LEAST, "expressions"),
        (values, AT_LEAST_VALUES, "expressions that compare values"),
        (searching, len(ROWS) // 2, "expressions on views or special values"),
        *((ops[op], AT_LEAST_EACH, f"expressions on {op}") for op in OPS),
        *((dtypes[d], AT_LEAST_EACH, f"expressions on {d}") for d in DTYPES),
        *((int(row.rule in (*DEFECTS, NO_KERNEL, "")), 1, f"rules named {row.rule!r}") for row in ROWS),
    ]
    return [f"{count} {what}; want at least {least}" for count, least, what in found if count < least]


def staleness(path: pathlib.Path, rows: list[Row], fresh: Answers) -> dict[str, str]:
    """Where the stored answers are not what Paddle says now, within Paddle's own error."""
    stored = read_golden(path)
    wrong = {}
    for row in rows:
        if row.expected not in stored:
            wrong[row.source] = f"not in {path.name}: record it anew"
        elif text := matches(stored[row.expected], essence(fresh[row.expected]), row.tolerance):
            wrong[row.source] = f"{path.name} is stale: {text}"
    return wrong


def report(rows: list[Row], wrong: dict[str, list[str]], want: Answers, without: dict[str, str]) -> int:
    counts: Counter[str] = Counter()
    for row in rows:
        name = f"{row.op}: {'; '.join(row.body.splitlines())}"
        if row.source in without:
            counts[without[row.source]] += 1
            print(f"skip {name}: {without[row.source]}")
        elif row.source in wrong:
            counts["DIFFERENT"] += 1
            print(f"FAIL {name}", *wrong[row.source], sep="\n     ")
        else:
            counts[kind(row, want[row.expected])] += 1
            print(f"ok {name}")
    for what in (
        "same",
        "same exception",
        "no Paddle kernel (our rule)",
        "listed Paddle defect",
        NO_FLOAT64,
        NEEDS_ELEMENTS,
        UNCHECKED,
        "DIFFERENT",
    ):
        print(f"{counts[what]:5d} {what}")
    answered = [row for row in rows if row.source not in without and row.source not in wrong]
    others = [row for row in answered if row.rule]
    for number, what in (
        (len(answered) - len(others), "answers to the same expression"),
        (counts["same exception"], "of which are exceptions, whose classes alone are compared"),
        (
            len(others),
            "answers to another expression, which Paddle is asked because its own answer is not ours on purpose",
        ),
        (sum("raises" in want[row.expected] for row in others), "of which are exceptions that the row names"),
    ):
        print(f"{number:5d} {what}")
    return counts["DIFFERENT"]


def run(
    rows: list[Row], want: Answers, module: str, wrong: dict[str, list[str]], place: str = "cpu", traced: bool = False
) -> int:
    """Asks module, prints the report, and returns the number of failures."""
    without: dict[str, str] = {}
    with Library(module, place, traced) as library:
        for row in rows:
            got = library.insist(row.expected) if module == "paddle" else library.ask(row.source)
            expected = want.get(row.expected, {"hangs": "never asked"})
            if place != "cpu":
                got, expected = elsewhere(got), elsewhere(expected)
            if lacks_float64(got):
                without[row.source] = NO_FLOAT64
            elif traced and needs_elements(got):
                without[row.source] = NEEDS_ELEMENTS
            elif (text := compare(row, expected, got)) and traced and unchecked(row, expected):
                without[row.source] = UNCHECKED
            elif text and place != "cpu" and float32_there(row, text):
                without[row.source] = NO_FLOAT64
            elif text:
                wrong.setdefault(row.source, []).append(text)
    failed = report(rows, wrong, want, without)
    lacking = floors(want) if len(rows) == len(ROWS) else []
    answered = len(rows) - len(without)
    if traced and place == "cpu" and len(rows) > AT_LEAST_TRACED and answered < AT_LEAST_TRACED:
        lacking.append(f"{answered} expressions are answered by traced functions; want at least {AT_LEAST_TRACED}")
    for text in lacking:
        print(f"FAIL {text}")
    print(f"{len(rows) - failed - len(without)} passed, {failed + len(lacking)} failed")
    return failed + len(lacking)


def show(source: str, place: str) -> None:
    for module, where in (("paddle", "cpu"), ("paddle_mps", place)):
        with Library(module, where) as library:
            print(f"{module:10s} {json.dumps(library.ask(source))}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-k", metavar="TEXT", default="")
    parser.add_argument("--operator", metavar="NAME", default="")
    parser.add_argument("--place", default="cpu")
    parser.add_argument("--traced", action="store_true")
    parser.add_argument("--every", metavar="N", type=int, default=1)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--replay", metavar="FILE", type=pathlib.Path)
    way.add_argument("--record", metavar="FILE", type=pathlib.Path)
    way.add_argument("--show", metavar="SOURCE")
    way.add_argument("--self", action="store_true")
    return parser.parse_args()


def both(rows: list[Row], module: str) -> int:
    want = ask_paddle(rows)
    wrong: dict[str, list[str]] = {}
    for found in (check_rules(rows, want), staleness(GOLDEN, rows, want)):
        for source, text in found.items():
            wrong.setdefault(source, []).append(text)
    return run(rows, want, module, wrong)


def asked(row: Row, text: str, operator: str) -> bool:
    """Whether the options take a row."""
    if operator and row.op != operator and not re.search(rf"\b{re.escape(operator)}_?\b", row.source):
        return False
    return text in row.op or text in row.source


def turn(rows: list[Row], every: int) -> list[Row]:
    """Those that run now if the operators take so many turns: see tests/sampling.py."""
    sys.path.append(str(pathlib.Path(__file__).parents[1]))
    import sampling  # for which pytest has to be there, unlike in .venv-peers

    taken = [row for row in rows if sampling.note(every, sampling.takes(every, row.op))]
    for line in sampling.left_out():
        print(line)
    return taken


def main() -> int:
    options = arguments()
    left_out: tuple[str, ...] = () if options.place == "cpu" and not options.traced else OF_THE_CPU
    if options.traced:
        left_out += ("repr",)  # whose elements a traced tensor does not print
    rows = [row for row in ROWS if asked(row, options.k, options.operator) and row.op not in left_out]
    if options.every > 1:
        rows = turn(rows, options.every)
    failed = 0
    if options.show:
        show(options.show.replace(" ;; ", "\n"), options.place)
    elif options.record:
        write_golden(options.record, ask_paddle(ROWS))
    elif options.replay:
        failed = run(rows, read_golden(options.replay), "paddle_mps", {}, options.place, options.traced)
    else:
        failed = both(rows, "paddle" if options.self else "paddle_mps")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
