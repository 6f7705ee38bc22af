"""One expression, and how to write many of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from match import Exact, Tolerance

NO_KERNEL = "no Paddle kernel"

# What PaddlePaddle 3.3.1 does and we do not, on purpose. A row names one of these, and says in `instead`
# what the right answer is.
DEFECTS = {
    "division by zero": "an integer divided by zero raises ValueError here, a class of its own in Paddle",
    "smallest integer": "dividing the smallest int32 or int64 by -1 kills Paddle's process; it wraps",
    "negative power": "an integer to a negative power never returns when it is a Python number; it truncates",
    "float to integer": "a float that an integer type cannot hold saturates, and nan is 0",
    "dtype name": "a dtype equals its name",
    "place argument": "creation functions take place=",
    "foreign operand": "a string or a list as operand is an error, not ignored",
    "NumPy scalar": "a NumPy float beside an integer tensor is not truncated",
    "0-d matmul": "a 0-d operand of matmul is refused by its rank",
    "index range": "an index tensor out of range is refused; Paddle reads what lies there, or dies",
    "index after None": "an index tensor after None counts along the next axis, not the new one",
    "nothing to choose": "argmax along an axis without elements is refused; Paddle returns what lay there",
    "exp floor": "exp reaches subnormals and 0; Paddle's stops at 2.9e-39",
    "softmax floor": "softmax reaches 0; Paddle's stops at exp(-64)",
    "lost tail": "softplus, gelu and sigmoid keep their digits far below 0",
    "nan is 1": "sinc of nan and of infinities is nan",
    "lost infinity": "softshrink of inf is inf, thresholded_relu of -inf its value, maxout of nan nan",
    "integer angle": "atan2 of integers has all digits of the float64 that it is",
    "sign of zero": "-x turns 0.0 into -0.0, and odd functions keep it",
    "inverse outside": "erfinv is nan where |x| > 1, as on Paddle's GPUs, and keeps its digits near 0",
    "incomplete gamma": "gammainc and gammaincc broadcast, and know infinity; Paddle reads past the smaller operand",
    "polygamma of infinity": "it is 0",
    "Bessel of infinity": "modified Bessel functions of inf are inf",
    "lost subnormals": "reciprocals and roots of subnormals are those of the number itself",
    "lost squares": "hypot is right where squares overflow or underflow",
    "raw bfloat16": "bfloat16 tolist() gives numbers, not their bit patterns",
    "unchecked argument": "an axis or a size out of its range is refused, and an axis that is no number",
    "index into a view": "assignment through an index tensor reaches what a view with strides shows",
    "item of a view": "item(i) counts in the order of the view, not of the memory under it",
    "wide scalar": "an integer scalar beyond int32 wraps around like every other",
    "type as dtype": "to_tensor takes float, int and bool as dtype, as the other functions do",
    "in-place shape": "the result of an in-place operator has the shape of its operand",
    "repeated label": "a label twice in an operand of einsum is its diagonal, and in the result it is refused",
    "empty batch": "cdist of a batch without rows keeps the batch",
    "rounded mean": "a variance is corrected for the rounding of the mean",
    "sum of infinity": "the logarithm of a sum is infinite if its largest term is",
    "float32 exponent": "float64 is raised to a float64 exponent, not to one rounded to float32",
    "float32 factor": "factors and an epsilon beside float64 are not rounded to float32",
    "finite mask": "a causal query does not see later keys however large their scores are; Paddle subtracts 10,000",
    "norm of infinite order": "renorm knows the norms of order 0 and inf",
    "order of complex numbers": "there is none: comparing their order and their remainders are refused",
    "complex division by zero": "a quotient is what NumPy answers: infinite where Paddle has nan",
    "shift of one axis": "fftshift takes an axis, and negative ones in a list",
    "repeated axis": "an axis that stands twice is refused, and so is no axis; Paddle's process dies",
    "order of equals": "topk and kthvalue name the first of equals; Paddle's selection leaves their order open",
    "whole numbers of things": "a k that is no whole number is an error, not truncated",
    "log of zeros": "logcumsumexp answers -inf for log(0), inf for two infinities and nan from a nan on; Paddle -3.4e38, nan and a number",
    "infinite bound": "searchsorted finds infinities like all other values; Paddle puts them at the end",
    "nan is unique": "each nan is an element of its own in unique; Paddle returns what lay there",
    "quantile of nothing": "the quantile of no elements is nan; Paddle returns what lay there",
    "edges of nothing": "histogram_bin_edges refuses 0 bins and an infinite range",
    "edges of bins": "histogramdd takes tensors of edges, as its documentation says",
    "axis of a number": "a 0-d tensor has the axes 0 and -1 everywhere",
    "probability nan": "nan as a parameter of a distribution gives nan, 0 or an error; Paddle's binomial never returns",
    "infinite weight": "multinomial refuses infinite weights, whose sum is no number to divide by",
    "range of nothing": "range is empty where its end lies before its start, and refuses what is no finite number",
    "memory of a view": "set_ and resize_ begin with the first element of a view, not of the memory under it",
    "exponential of nothing": "matrix_exp of no elements has none, and one matrix with nan leaves the others alone",
    "window without room": "a convolution whose window does not fit is refused; Paddle's has no elements, or reads what lies behind",
    "largest of nan": "the largest element of a window with nan is nan, and of infinities below 0 one of them",
    "padding of a fold": "fold takes four paddings, as its documentation says",
    "padding of a mask": "max_pool2d pads with return_mask as without",
    "axis of a Jacobian": "a Jacobian has the shape that it says",
    "factor on the right": "ormqr multiplies on the right what fits the factor",
}

# How a source shows what it is about; the floors of compare.py count these.
VIEW = re.compile(
    r"\.T\b|\.mT|\.t\(\)|::|\[-?\d*:-?\d*[],]|\.transpose|\.expand|\.reshape|squeeze|unbind|\[None|\.\.\.|split|"
    r"zeros\(\[[^]]*\b0\b|T\(\[\]\)|T\((-?[\d.]+|True)[,)]"
)
SPECIAL = re.compile(r"nan|inf|-0\.\d?\b|e-4\d|e[+-]?3\d|e\d\d|2 ?\*\* ?\d\d|12[78]|25[56]|6553\d|655[02]4|300|fail")


@dataclass(frozen=True)
class Row:
    """An expression that both libraries evaluate, after the statements of setup.

    op is a row of the op table, or the group that the expression belongs to. Where Paddle's own answer
    is not ours, rule says why (NO_KERNEL or a key of DEFECTS) and instead is an expression to which
    Paddle's answer is ours.
    """

    op: str
    body: str
    tolerance: Tolerance = Exact()
    rule: str = ""
    instead: str = ""
    setup: str = ""

    @property
    def source(self) -> str:
        """What ours is asked."""
        return self._after_setup(self.body)

    @property
    def expected(self) -> str:
        """What Paddle is asked for the answer that ours must match."""
        return self._after_setup(self.instead or self.body)

    @property
    def on_view(self) -> bool:
        return VIEW.search(self._shown()) is not None

    @property
    def special(self) -> bool:
        return SPECIAL.search(self._shown()) is not None

    def _shown(self) -> str:
        """The body, and what the setup says of the names in it."""
        made = [
            line
            for line in self.setup.splitlines()
            if re.search(rf"\b{re.escape(line.partition('=')[0].strip())}\b", self.body)
        ]
        return "\n".join([self.body, *made])

    def _after_setup(self, text: str) -> str:
        return f"{self.setup}\n{text}".strip()


def lines(op: str, setup: str, text: str, tolerance: Tolerance = Exact()) -> Iterator[Row]:
    """A row for every line of text; ` ;; ` in a line ends a statement."""
    for line in filter(None, map(str.strip, text.splitlines())):
        yield Row(op, statements(line), tolerance, setup=setup)


def defects(op: str, name: str, setup: str, text: str, tolerance: Tolerance = Exact()) -> Iterator[Row]:
    """As lines, each `expression  =>  expression with the right answer`; `=> ValueError` is one that raises."""
    for line in filter(None, map(str.strip, text.splitlines())):
        source, _, right = (part.strip() for part in line.partition("=>"))
        right = f"fail({right})" if right.endswith("Error") else right
        yield Row(op, statements(source), tolerance, name, statements(right), setup)


def statements(line: str) -> str:
    return line.replace(" ;; ", "\n")


def tensor(values: str, dtype: str, view: str = "") -> str:
    """The source of a tensor. values is the text of a flat list; view is what follows it."""
    usual = "float32" if re.search(r"\.|nan|inf|e", values) else "int64"
    return f"T([{values}]{'' if dtype == usual else f', {dtype!r}'}){view}"
