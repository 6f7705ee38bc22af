"""What PaddlePaddle 3.3.1 has no CPU kernel for, and the rule that takes the place of its answer.

Half precision is computed in float32 and rounded once. Small integers are computed as int32 is, and
where int32 keeps its dtype they keep theirs and wrap around. relu of an integer is an integer, silu of one
is float32. What has
no meaning for a dtype (exp of a bool) raises, as it does in Paddle.
"""

from __future__ import annotations

from match import Exact, Tolerance

from .row import NO_KERNEL, Row

HALF = "float16 bfloat16"
SMALL = "uint8 int8 int16"

# op: the dtypes that Paddle lacks.
MISSING: dict[str, str] = {
    **dict.fromkeys("abs round trunc square clip".split(), f"bool {SMALL} {HALF}"),
    "neg": "",
    "sign": f"bool {HALF}",
    **dict.fromkeys("exp expm1".split(), f"bool {SMALL} bfloat16"),
    **dict.fromkeys("log log1p log2".split(), f"bool {SMALL}"),
    **dict.fromkeys("sqrt rsqrt reciprocal sin cos tan tanh sinh cosh sigmoid".split(), f"bool {HALF}"),
    **dict.fromkeys("floor ceil".split(), "bool"),
    "erf": "bool bfloat16",
    **dict.fromkeys("acos asin atan acosh asinh atanh".split(), f"bool {HALF}"),
    "log10": f"bool {SMALL}",
    **dict.fromkeys("relu silu gelu softplus leaky_relu softmax".split(), f"bool {SMALL} int32 int64 {HALF}"),
    "logical_not": f"uint8 {HALF}",
    "isnan": f"bool {SMALL}",
    "isfinite": f"bool {SMALL}",
    "isinf": "bool",
    "sum": "",
    "mean": f"{SMALL} {HALF}",
    **dict.fromkeys("max min prod".split(), f"bool {SMALL} {HALF}"),
    **dict.fromkeys("any all".split(), f"{SMALL} {HALF}"),
    **dict.fromkeys("argmax argmin".split(), f"bool int8 {HALF}"),
    "matmul": f"bool {SMALL} {HALF}",
    "flip": f"{SMALL} {HALF}",
    "where": f"{SMALL} {HALF}",
    "split": "int16",
    "gather": "float16",
    "tile": "bfloat16",
    "add": HALF,
    "subtract": "bool uint8 int8 float16",
    "multiply": f"{SMALL} float16",
    "divide": HALF,
    "floor_divide": "bool",
    "remainder": f"bool {SMALL} {HALF}",
    "pow": f"bool {SMALL} float16",
    "maximum": f"bool {SMALL} float16",
    "minimum": f"bool {SMALL} float16",
    **dict.fromkeys("logical_and logical_or logical_xor".split(), f"uint8 {HALF}"),
}

# What the op table has no kernel for either: it raises.
REFUSED: dict[str, str] = {
    **dict.fromkeys("sign exp expm1 log log1p log2 sqrt rsqrt square reciprocal".split(), "bool"),
    **dict.fromkeys("acos asin atan acosh asinh atanh log10".split(), "bool"),
    **dict.fromkeys("sin cos tan tanh sinh cosh floor ceil round trunc erf sigmoid relu silu".split(), "bool"),
    **dict.fromkeys("isnan isinf isfinite clip argmax argmin matmul".split(), "bool"),
    **dict.fromkeys("subtract floor_divide remainder pow".split(), "bool"),
    **dict.fromkeys("gelu softplus leaky_relu softmax".split(), f"bool {SMALL} int32 int64"),
}

# The others give the dtype of their operand: this is what the mock's answer is cast back to.
ELSEWHERE = {
    **dict.fromkeys("logical_not isnan isinf isfinite any all logical_and logical_or logical_xor".split(), "bool"),
    **dict.fromkeys("argmax argmin".split(), "int64"),
}
FRACTIONAL = set(
    "acos asin atan acosh asinh atanh log10 exp expm1 log log1p log2 sqrt rsqrt reciprocal sin cos tan tanh sinh cosh erf sigmoid silu divide".split()
)


def result_dtype(op: str, dtype: str) -> str:
    if op in ELSEWHERE:
        return ELSEWHERE[op]
    if op in FRACTIONAL and "float" not in dtype:
        return "float32"
    return "int64" if op == "prod" and dtype == "bool" else dtype


def stand_in(op: str, template: str, operands: list[str], dtype: str) -> str:
    """The expression that Paddle does have a kernel for, in a wider dtype and back."""
    if dtype in REFUSED.get(op, "").split():
        return "fail(RuntimeError)"
    wide = "float32" if dtype in HALF.split() or op in ("relu", "silu") else "int32"
    text = template.format(*(f"{x}.astype({wide!r})" for x in operands))
    return f"({text}).astype({result_dtype(op, dtype)!r})"


def row(op: str, template: str, operands: list[str], dtype: str, tolerance: Tolerance = Exact()) -> Row:
    """template, with {} for each operand, all of one dtype; by our own rule where Paddle has no kernel."""
    source = template.format(*operands)
    if dtype not in MISSING.get(op, "").split():
        return Row(op, source, tolerance)
    return Row(op, source, tolerance, NO_KERNEL, stand_in(op, template, operands, dtype))
