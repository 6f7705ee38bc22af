"""Gradients at saturated operands: 0 and 1, ties, +-200, infinities, -0, the least and the largest numbers.

    edges.py --record    asks PaddlePaddle, and writes golden/edges_3_3_1.json
    edges.py             asks paddle_mps, and prints what is right, not finite as in PaddlePaddle, and wrong, by form

A form is a function of tensors whose first axis counts samples, which do not depend on each other. Where a value of a sample
is finite, the gradient of the sum of its finite values has to be finite: a training step would make all weights NaN otherwise.
It is excused if PaddlePaddle's is not finite either; docs/differences.md lists the functions. The derivative of halves may exceed
the dtype.
"""

from __future__ import annotations

import argparse
import itertools
import json
import pathlib
import re
import warnings
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

GOLDEN = pathlib.Path(__file__).parent / "golden" / "edges_3_3_1.json"

inf = np.inf
ONE_LESS = float(np.nextafter(np.float32(1), np.float32(0)))
SINGLE = [
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, -6.0, 20.0, -20.0, 40.5, -40.5, 89.0, -89.0, 104.0, -104.0,
    200.0, -200.0, 1e-20, -1e-20, 2e-38, -2e-38, 1e20, -1e20, 3e38, -3e38, inf, -inf, ONE_LESS, -ONE_LESS,
]  # fmt: skip
PAIRED = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 200.0, -200.0, 2e-38, 1e20, 3e38, inf, -inf, ONE_LESS]
ROWS = [
    [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 2.0, 3.0], [0.0, -0.0, 3.0], [2.0, 0.0, 2.0], [-inf, 1.0, 2.0], [1.0, -inf, 2.0],
    [1.0, 2.0, -inf], [-inf, -inf, 1.0], [1.0, -inf, -inf], [-inf, -inf, -inf], [inf, 1.0, 2.0], [1.0, 2.0, inf], [inf, inf, 1.0],
    [200.0, -200.0, 0.0], [-200.0, -200.0, -200.0], [2e-38, 2e-38, 2e-38], [1e20, 1e20, 1.0], [3e38, -3e38, 1.0],
    [-1.0, 1.0, 0.0], [1e-20, 0.0, -1e-20], [3e38, 0.0, 0.0],
]  # fmt: skip
CHANCES = [0.0, -0.0, 1.0, 0.5, ONE_LESS, 2e-38, 1e-20, 1e-7]


class Form(NamedTuple):
    """A function, as text for both libraries, and its operands, one row of each for a sample.

    A function that mixes samples is asked for each alone, as a batch of one.
    """

    text: str
    operands: tuple[Any, ...]
    leaves: tuple[int, ...]
    alone: bool = False


def pairs(*values: Sequence[Any]) -> list[Any]:
    """All combinations."""
    return [np.array(list(column)) for column in zip(*itertools.product(*values))]


def single(text: str) -> Form:
    return Form(text, (np.array(SINGLE),), (0,))


def paired(text: str) -> Form:
    return Form(text, tuple(pairs(PAIRED, PAIRED)), (0, 1))


def rows(text: str) -> Form:
    return Form(text, (np.array(ROWS),), (0,))


def two_rows(text: str) -> Form:
    return Form(text, tuple(pairs(ROWS, ROWS)), (0, 1))


def classes(text: str) -> Form:
    """Scores of three classes, and the number of one."""
    x, y = pairs(ROWS, [0, 2])
    return Form(text, (x, y.astype(np.int64)), (0,))


def chances(text: str) -> Form:
    """Probabilities and labels."""
    return Form(text, tuple(pairs(CHANCES, [0.0, 1.0, 0.5, -0.0])), (0, 1))


def labels(text: str, values: Sequence[float] = (0.0, 1.0, 0.5)) -> Form:
    """Numbers and labels, of which the number alone has a gradient."""
    x, y = pairs(SINGLE, values)
    return Form(text, (x, y), (0,))


def soft(text: str) -> Form:
    """Scores of three classes, and probabilities of them."""
    return Form(text, tuple(pairs(ROWS, [[0.0, 0.0, 1.0], [0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])), (0, 1))


def alone(text: str, *operands: Any) -> Form:
    """A function of one row."""
    return Form(text, operands, (0,), True)


ACTIVATIONS = [
    "F.relu(x)", "F.relu6(x)", "F.leaky_relu(x)", "F.elu(x)", "F.elu(x, 0.5)", "F.celu(x)", "F.celu(x, 0.5)", "F.selu(x)", "F.gelu(x)",
    "F.gelu(x, approximate=True)", "F.silu(x)", "F.swish(x)", "F.mish(x)", "F.softplus(x)", "F.softplus(x, 0.5, 3)",
    "F.softsign(x)", "F.softshrink(x)", "F.hardshrink(x)", "F.tanhshrink(x)", "F.hardtanh(x)", "F.hardsigmoid(x)",
    "F.hardswish(x)", "F.log_sigmoid(x)", "F.sigmoid(x)", "F.tanh(x)", "F.thresholded_relu(x)", "F.rrelu(x, training=False)",
    "paddle.stanh(x)", "paddle.softmax(x.reshape([-1, 1]), -1)",
]  # fmt: skip
UNARY = (
    "abs acos acosh angle asin asinh atan atanh cos cosh deg2rad rad2deg digamma erf erfinv exp expm1 frac i0 i0e i1 i1e lgamma "
    "log log10 log1p log2 logit nan_to_num reciprocal rsqrt sgn sigmoid sign sin sinc sinh sqrt square tan tanh trunc floor ceil round"
).split()
BINARY = (
    "add subtract multiply divide remainder pow maximum minimum fmax fmin logaddexp atan2 copysign hypot heaviside ldexp"
).split()
FORMS = [
    *[single(text) for text in ACTIVATIONS],
    *[single(f"paddle.{name}(x)") for name in UNARY],
    single("paddle.clip(x, 0.0, 1.0)"), single("paddle.scale(x, 2.0, 1.0)"), single("paddle.pow(x, 0.5)"),
    single("paddle.pow(x, 2.0)"), single("paddle.pow(x, 0.0)"), single("paddle.pow(x, -1.0)"), single("paddle.pow(x, 1.0)"),
    single("paddle.logit(x, 1e-6)"), single("paddle.polygamma(x, 1)"), single("2.0 ** x"), single("0.0 ** x"), single("1.0 / x"),
    single("paddle.multigammaln(x, 2)"), single("paddle.where(x > 0, x, x * 0)"), single("F.label_smooth(x.reshape([-1, 1]))"),
    *[paired(f"paddle.{name}(x, y)") for name in BINARY if name != "ldexp"],
    paired("paddle.lerp(x, y, 0.5)"),
    paired("paddle.lerp(x, y, 1.0)"), paired("F.swiglu(x, y)"), paired("paddle.gammaln(x) + y"),
    paired("F.glu(paddle.stack([x, y], 1), 1)"), paired("x * F.sigmoid(y)"), paired("x * F.softplus(y)"),
    paired("paddle.cdist(x.reshape([-1, 1, 1]), y.reshape([-1, 1, 1]))"),
    # Losses of numbers.
    paired("F.mse_loss(x, y, 'none')"), paired("F.square_error_cost(x, y)"), paired("F.l1_loss(x, y, 'none')"),
    paired("F.smooth_l1_loss(x, y, 'none')"), paired("F.smooth_l1_loss(x, y, 'none', 0.5, False)"),
    chances("F.binary_cross_entropy(x, y, reduction='none')"),
    chances("F.log_loss(x.reshape([-1, 1]), y.reshape([-1, 1]))"),
    chances("F.kl_div(x, y, 'none')"), paired("F.kl_div(x, y, 'none', log_target=True)"),
    labels("F.kl_div(x, y, 'none', False)"),
    labels("F.binary_cross_entropy(F.sigmoid(x), y, reduction='none')"),
    labels("F.log_loss(F.sigmoid(x).reshape([-1, 1]), y.reshape([-1, 1]))"),
    labels("F.binary_cross_entropy_with_logits(x, y, reduction='none')"),
    labels("F.binary_cross_entropy_with_logits(x, y, reduction='none', pos_weight=T(2.0).astype(x.dtype))"),
    labels("F.sigmoid_focal_loss(x, y, reduction='none')"), labels("F.sigmoid_focal_loss(x, y, gamma=0.5, reduction='none')"),
    labels("F.sigmoid_focal_loss(x, y, gamma=0.0, reduction='none')"), labels("F.sigmoid_focal_loss(x, y, gamma=1.0, reduction='none')"),
    labels("F.poisson_nll_loss(x, y, reduction='none')"), labels("F.poisson_nll_loss(x, y, False, reduction='none')"),
    labels("F.poisson_nll_loss(x, y, full=True, reduction='none')"), labels("F.soft_margin_loss(x, y, 'none')", (1.0, -1.0)),
    labels("F.hinge_embedding_loss(x, y, reduction='none')", (1.0, -1.0)),
    labels("F.margin_ranking_loss(x, x * 0.5, y, reduction='none')", (1.0, -1.0)),
    Form("F.gaussian_nll_loss(x, y, z, reduction='none')", tuple(pairs(PAIRED, [0.0, 1.0], [0.0, 1.0, 200.0, 1e20])), (0, 1, 2)),
    # Losses of classes.
    classes("F.cross_entropy(x, y, reduction='none')"), classes("F.cross_entropy(x, y, reduction='none', label_smoothing=0.1)"),
    classes("F.cross_entropy(F.softmax(x), y, reduction='none', use_softmax=False)"),
    classes("F.softmax_with_cross_entropy(x, y.reshape([-1, 1]))"), classes("F.nll_loss(F.log_softmax(x), y, reduction='none')"),
    classes("F.nll_loss(paddle.log(F.softmax(x)), y, reduction='none')"),
    classes("F.multi_margin_loss(x, y, reduction='none')"),
    classes("F.multi_margin_loss(x, y, 2, reduction='none')"),
    soft("F.cross_entropy(x, y, soft_label=True, reduction='none')"),
    soft("F.cross_entropy(F.softmax(x), y, soft_label=True, use_softmax=False, reduction='none')"),
    soft("F.multi_label_soft_margin_loss(x, y, reduction='none')"),
    soft("F.kl_div(F.log_softmax(x), y, 'none')")._replace(leaves=(0,)), soft("F.binary_cross_entropy(F.softmax(x), y, reduction='none')"),
    # Rows.
    rows("F.softmax(x)"), rows("F.log_softmax(x)"), rows("paddle.logsumexp(x, 1)"), rows("paddle.logcumsumexp(x, 1)"),
    rows("paddle.log(F.softmax(x))"), rows("paddle.log(paddle.sum(paddle.exp(x), 1))"),
    rows("paddle.sum(x, 1)"), rows("paddle.mean(x, 1)"), rows("paddle.max(x, 1)"), rows("paddle.min(x, 1)"), rows("paddle.amax(x, 1)"),
    rows("paddle.amin(x, 1)"), rows("paddle.prod(x, 1)"), rows("paddle.cumsum(x, 1)"), rows("paddle.cumprod(x, 1)"),
    rows("paddle.cummax(x, 1)[0]"), rows("paddle.cummin(x, 1)[0]"), rows("paddle.std(x, 1)"), rows("paddle.var(x, 1)"),
    rows("paddle.std(x, 1, False)"), rows("paddle.median(x, 1)"), rows("paddle.nanmedian(x, 1)"), rows("paddle.nansum(x, 1)"),
    rows("paddle.nanmean(x, 1)"), rows("paddle.quantile(x, 0.5, 1)"), rows("paddle.sort(x, 1)"), rows("paddle.topk(x, 2, 1)[0]"),
    rows("paddle.kthvalue(x, 2, 1)[0]"), rows("paddle.mode(x, 1)[0]"), rows("paddle.diff(x, axis=1)"), rows("paddle.trapezoid(x, axis=1)"),
    rows("paddle.linalg.norm(x, 2, 1)"), rows("paddle.linalg.norm(x, 1, 1)"), rows("paddle.linalg.norm(x, np.inf, 1)"),
    rows("paddle.linalg.norm(x, -np.inf, 1)"), rows("paddle.linalg.norm(x, 3, 1)"), rows("paddle.linalg.norm(x, 0.5, 1)"),
    rows("paddle.linalg.norm(x, 0, 1)"), rows("paddle.linalg.vector_norm(x, 2, 1)"), rows("paddle.linalg.vector_norm(x, 3, 1)"),
    rows("F.normalize(x, axis=1)"), rows("F.normalize(x, 1, 1)"), rows("F.layer_norm(x, 3)"), rows("paddle.renorm(x, 2.0, 0, 1.0)"),
    rows("F.group_norm(x.unsqueeze(-1), 1)"), rows("F.instance_norm(x.unsqueeze(1))"), rows("F.local_response_norm(x.unsqueeze(-1), 3)"),
    rows("F.max_pool1d(x.unsqueeze(1), 2, 1)"), rows("F.avg_pool1d(x.unsqueeze(1), 2, 1)"), rows("F.lp_pool1d(x.unsqueeze(1), 2.0, 2, 1)"),
    rows("F.maxout(x[:, :2].reshape([-1, 2, 1, 1]), 2)"), rows("paddle.cumulative_trapezoid(x, axis=1)"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'mul')"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'mul', include_self=False)"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'add')"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'amax')"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'amin')"),
    rows("paddle.put_along_axis(x, paddle.zeros([x.shape[0], 2], 'int64'), x[:, 1:], 1, 'mean')"),
    two_rows("paddle.dot(x, y)"), two_rows("F.cosine_similarity(x, y, 1)"), two_rows("F.pairwise_distance(x, y)"),
    two_rows("F.pairwise_distance(x, y, 1.0)"), two_rows("paddle.cdist(x.unsqueeze(1), y.unsqueeze(1))"),
    two_rows("paddle.cdist(x.unsqueeze(1), y.unsqueeze(1), 1.0)"), two_rows("paddle.cdist(x.unsqueeze(1), y.unsqueeze(1), float('inf'))"),
    two_rows("paddle.vecdot(x, y, 1)"), two_rows("paddle.cross(x, y, 1)"), two_rows("paddle.bmm(x.unsqueeze(1), y.unsqueeze(2))"),
    two_rows("F.triplet_margin_loss(x, y, x * 0.5, reduction='none')"),
    two_rows("F.cosine_embedding_loss(x, y, paddle.ones([x.shape[0]], 'int64'), reduction='none')"),
    two_rows("F.cosine_embedding_loss(x, y, -paddle.ones([x.shape[0]], 'int64'), reduction='none')"),
    two_rows("F.scaled_dot_product_attention(*[t.reshape([-1, 3, 1, 1]) for t in (x, y, x)])"),
    # What mixes samples.
    alone("F.dice_loss(F.softmax(x), y.reshape([-1, 1]))", *pairs(ROWS, [0, 2])), alone("F.npair_loss(x, x * 0.5, y)", *pairs(ROWS, [0, 2])),
    alone("F.batch_norm(x.reshape([3, 1]), *[paddle.ones([1], x.dtype) for _ in range(4)], training=True)", np.array(ROWS)),
    alone("paddle.dist(x, x * 0.5)", np.array(ROWS)),
    alone("F.ctc_loss(x.reshape([3, 1, 1]).expand([3, 1, 2]) * T([0.0, 1.0]).astype(x.dtype), T([[1]], 'int32'), T([3]), T([1]), reduction='none')", np.array(ROWS)),
    alone("F.rnnt_loss(F.log_softmax(x.reshape([1, 1, 1, 3]).expand([1, 2, 2, 3])), T([[1]], 'int32'), T([2], 'int32'), T([1], 'int32'), reduction='none', fastemit_lambda=0.0)", np.array(ROWS)),
    alone("F.hsigmoid_loss(x, T([0]), 2, paddle.ones([1, 3], x.dtype))", np.array(ROWS)),
    alone("F.multi_label_margin_loss(x, T([[0, -1, -1]]), reduction='none')", np.array(ROWS)),
    alone("paddle.linalg.norm(x, 'fro')", np.array(ROWS)), alone("paddle.norm(x, 2)", np.array(ROWS)),
    alone("paddle.linalg.det(x.reshape([3, 1]) @ x + paddle.eye(3, dtype=x.dtype))", np.array(ROWS)),
    alone("F.cross_entropy(x, y)", *pairs(ROWS, [0, 2])), alone("F.binary_cross_entropy(F.sigmoid(x), x * 0)", np.array(ROWS)),
]  # fmt: skip


def fitting(form: Form, dtype: str) -> list[Any]:
    """The operands in a dtype; numbers are those that it has."""
    with np.errstate(over="ignore"):
        return [
            a if a.dtype.kind == "i" else a.astype(np.float32 if dtype == "float32" else np.float64)
            for a in form.operands
        ]


def ask(paddle: Any, form: Form, dtype: str, traced: bool = False) -> tuple[Any, list[Any]]:
    """The values of a form, and its gradients: None for one that there is not."""
    names = {"paddle": paddle, "F": paddle.nn.functional, "T": paddle.to_tensor, "np": np}
    function = eval(f"lambda {', '.join('xyz'[: len(form.operands)])}: {form.text}", names)
    if traced:
        function = paddle.jit.to_static(function)
    arrays = fitting(form, dtype)
    if not form.alone:
        return called(paddle, function, arrays, form.leaves, dtype)
    answers = [
        called(paddle, function, [a[i : i + 1] for a in arrays], form.leaves, dtype) for i in range(len(arrays[0]))
    ]
    values = np.stack([value.reshape([-1]) for value, _ in answers])
    return values, [
        None if any(g is None for g in of) else np.concatenate(of) for of in zip(*[found for _, found in answers])
    ]


def called(paddle: Any, function: Any, arrays: list[Any], leaves: Sequence[int], dtype: str) -> tuple[Any, list[Any]]:
    T = paddle.to_tensor
    tensors = [T(a) if a.dtype.kind == "i" else T(a).astype(dtype) for a in arrays]
    for i in leaves:
        tensors[i].stop_gradient = False
    y = function(*tensors)
    value = y.detach().astype("float64").numpy()
    found = paddle.grad(y, [tensors[i] for i in leaves], T(np.isfinite(value)).astype(y.dtype), allow_unused=True)
    return value, [None if g is None else g.astype("float64").numpy() for g in found]


def by_sample(a: Any, n: int) -> Any:
    return a.reshape([n, -1])


def record() -> None:
    import paddle

    answers: dict[str, Any] = {}
    for form in FORMS:
        for dtype in dtypes_of(form):
            n = len(form.operands[0])
            try:
                value, gradients = ask(paddle, form, dtype)
            except Exception as error:
                # PaddlePaddle refuses some of the operands: a sample that it refuses has no value.
                found: list[Any] = []
                for i in range(n):
                    one = form._replace(operands=tuple(a[i : i + 1] for a in form.operands))
                    try:
                        found.append(ask(paddle, one, dtype))
                    except Exception:
                        found.append(None)
                refused = sum(f is None for f in found)
                print(
                    f"{form.text}, {dtype}: {refused} of {n} {type(error).__name__} {str(error).strip().splitlines()[-1][:100]}"
                )
                if refused == n:
                    answers[f"{form.text} {dtype}"] = None
                    continue
                value = np.stack(
                    [np.array([np.nan]) if f is None else np.array([by_sample(f[0], 1).sum()]) for f in found]
                )
                gradients = [
                    np.stack([np.array([np.nan if f is None or f[1][k] is None else f[1][k].sum()]) for f in found])
                    for k in range(len(form.leaves))
                ]
            bad = [
                None if g is None else [i for i in range(n) if not np.isfinite(by_sample(g, n)[i]).all()]
                for g in gradients
            ]
            wrong = [i for i in range(n) if not np.isfinite(by_sample(value, n)[i]).any()]
            answers[f"{form.text} {dtype}"] = {"gradients": bad, "values": wrong}
    lines = [f"{json.dumps(key)}: {json.dumps(answer, separators=(',', ':'))}" for key, answer in answers.items()]
    GOLDEN.write_text("{\n" + ",\n".join(lines) + "\n}\n")


class Finding(NamedTuple):
    """What is not as it should be: a gradient that is not finite."""

    name: str
    excused: bool
    text: str


HALVES = {"float16": 65504.0, "bfloat16": 3.38953139e38}

# What no rule could compute without a wider dtype: the derivative is finite, but twice the loss is not.
OVERFLOWS = {("F.sigmoid_focal_loss(x, y, reduction='none')", str(float(np.float32(3e38))))}


def judged(
    paddle: Any, form: Form, dtype: str, golden: dict[str, Any], traced: bool = False
) -> tuple[int, list[Finding]]:
    """How many gradients of samples are finite where their values are, and those that are not."""
    n = len(form.operands[0])
    value, gradients = ask(paddle, form, dtype, traced)
    finite = np.isfinite(by_sample(value, n)).any(1)
    theirs = golden.get(f"{form.text} {'float32' if dtype in HALVES else dtype}")
    right, found = 0, []
    for k, gradient in enumerate(gradients):
        if gradient is None:  # it counts, and has none
            continue
        fine = np.isfinite(by_sample(gradient, n)).all(1)
        right += int((fine & finite).sum())
        for i in np.flatnonzero(finite & ~fine):
            given = [a[i].tolist() for a in fitting(form, dtype)]
            excused = theirs is not None and (i in theirs["values"] or i in (theirs["gradients"][k] or []))
            excused |= (form.text, str(given[0])) in OVERFLOWS
            text = f"{form.text}, {dtype}, leaf {form.leaves[k]}: {given} has the gradient {by_sample(gradient, n)[i].tolist()}"
            found.append(Finding(name_of(form), excused, text))
    return right, found


def judged_half(paddle: Any, form: Form, dtype: str) -> tuple[int, list[Finding]]:
    """The same for halves: as finite as in float32, unless the derivative exceeds the dtype."""
    n = len(form.operands[0])
    halves = [
        a if a.dtype.kind == "i" else paddle.to_tensor(a).astype(dtype).astype("float64").numpy() for a in form.operands
    ]
    form = form._replace(operands=tuple(halves))
    value, gradients = ask(paddle, form, dtype)
    _, wide = ask(paddle, form, "float32")
    finite = np.isfinite(by_sample(value, n)).any(1)
    right, found = 0, []
    for k, (gradient, other) in enumerate(zip(gradients, wide)):
        if gradient is None:
            continue
        with np.errstate(invalid="ignore"):
            small = (np.abs(by_sample(other, n)) <= HALVES[dtype] / 2).all(1)  # nan is not
        fine = np.isfinite(by_sample(gradient, n)).all(1)
        right += int((fine & finite).sum())
        for i in np.flatnonzero(finite & ~fine):
            text = f"{form.text}, {dtype}, leaf {form.leaves[k]}: {[a[i].tolist() for a in halves]}"
            found.append(Finding(name_of(form), not small[i], text))
    return right, found


def name_of(form: Form) -> str:
    """The function that a form is about, as docs/differences.md lists it."""
    found = re.match(r"\(*(?:paddle|F)\.([\w.]+)\(", form.text)
    return found.group(1) if found else form.text


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--record", action="store_true")
    parser.add_argument("-k", default="", help="the forms with this text")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    if args.record:
        return record()
    import paddle_mps as paddle

    golden, total = json.loads(GOLDEN.read_text()), Counter[str]()
    for form in FORMS:
        if args.k not in form.text:
            continue
        counts = Counter[str]()
        for dtype in dtypes_of(form):
            right, found = judged(paddle, form, dtype, golden)
            counts["right"] += right
            counts["not finite as in Paddle"] += sum(f.excused for f in found)
            counts["wrong"] += sum(not f.excused for f in found)
            for f in found:
                if args.k or not f.excused:
                    print("   ", f.text)
        print(
            f"{counts['right']:6} right {counts['not finite as in Paddle']:5} as in Paddle {counts['wrong']:3} wrong  {form.text}"
        )
        total += counts
    print(", ".join(f"{count} {what}" for what, count in total.items()))


def dtypes_of(form: Form) -> tuple[str, ...]:
    """npair_loss compares labels in float32."""
    return ("float32",) if "npair" in form.text else ("float32", "float64")


if __name__ == "__main__":
    main()
