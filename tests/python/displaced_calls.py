"""A program of test_displaced: calls with a tensor that is on the CPU because of its dtype beside one of the GPU.

The answer of each is that of the same call with float32 tensors of the GPU, bit for bit: float64 numbers that are float32 numbers become
what they were. It prints what is wrong, and how many calls it made.

    displaced_calls.py [set_device]
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import paddle_mps as paddle
from paddle_mps._calls import _call, _operators
from paddle_mps.selftest import suite

FLOAT = "float32"
FAILURES: list[str] = []


def displaced(x: paddle.Tensor) -> paddle.Tensor:
    """The tensor on the CPU because of a dtype: float64 if it is floating-point, else computed from a float64 tensor."""
    values = x.astype(FLOAT) if x.dtype in (paddle.bfloat16, paddle.float16) else x
    made = paddle.to_tensor(values.numpy().astype("float64"))
    if not x.is_floating_point():
        made = _operators.cast(made, x.dtype)  # as functions do, which leave it where it is
    return made


def expect(what: str, place: str, dtype: Any, x: Any) -> None:
    if x.device != place or x.dtype != dtype:
        FAILURES.append(f"{what}: {x.dtype} on {x.device}; want {dtype} on {place}")


def same(what: str, got: list[Any], want: list[Any]) -> None:
    if len(got) != len(want):
        FAILURES.append(f"{what}: {len(got)} results; want {len(want)}")
    for x, y in zip(got, want):
        if (x.dtype, x.device, x.shape) != (y.dtype, y.device, y.shape):
            FAILURES.append(f"{what}: {x.dtype} {x.shape} on {x.device}; want {y.dtype} {y.shape} on {y.device}")
        elif x.numpy().tobytes() != y.numpy().tobytes():
            FAILURES.append(f"{what}: other elements")


def variants(inputs: list[Any]) -> Iterator[tuple[int, list[Any]]]:
    """The operands of a call with one tensor of several displaced."""
    flat = suite.flattened(inputs)
    tensors = [i for i, x in enumerate(flat) if isinstance(x, paddle.Tensor)]
    for i in tensors if len(tensors) > 1 else ():
        yield i, [displaced(x) if j == i else x for j, x in enumerate(flat)]


def operators() -> int:
    """Every operator of several tensors; returns the number of calls."""
    count = 0
    for row in suite.TABLE:
        if row.get("elsewhere") or FLOAT not in row["dtypes"] or row["kind"] == "create":
            continue
        for layout in ("same", "transposed", "zero_d"):
            case = suite.Case(row["name"], FLOAT, layout)
            if not suite.applies(row, layout):
                continue
            for setting in suite.settings(row):
                given = suite.settle(row, case, setting)
                if not suite.possible(row, case, setting) or setting.get("dtype") == "float64":
                    continue
                inputs = suite.operands(row, case, "mps", setting)
                attributes = suite.attributes(row, given)
                for i, operands in variants(inputs):
                    want = _call.call_many(row["id"], suite.flattened(inputs), attributes, 16)
                    what = f"{case} operand {i} {setting}"
                    try:
                        same(what, _call.call_many(row["id"], operands, attributes, 16), want)
                    except Exception as error:
                        FAILURES.append(f"{what}: {type(error).__name__} {error}")
                    count += 1
    return count


# Of x, a float64 tensor on the CPU because of its dtype, and g, one of float32 on the GPU.
CASTS = (
    "x.astype('float32')", "x.astype(paddle.int32)", "x.cast('float16')", "paddle.cast(x, 'int64')", "x.to('float32')", "x.to(dtype='bool')",
    "x.to('mps', 'float32')", "x.to(g)", "x.type_as(g)", "x.clone().cast_('float32')", "paddle.to_tensor(x, dtype='float32')",
    "paddle.to_tensor(x, 'float32', place='mps')", "(x > 0).astype('float32')", "x.argmax().astype('int32')", "x.T[0].astype('float32')",
    "x.reshape([-1])[1:].detach().astype('float32')", "(x + x).sum().astype('float32')", "paddle.cast(paddle.concat([x, x]), 'float32')",
    "paddle.zeros_like(x, dtype='float32')", "paddle.full_like(x, 2, dtype='int32')",
    "pickle.loads(pickle.dumps(x)).astype('float32')", "copy.deepcopy(x).astype('float32')", "copy.copy(x).astype('float32')",
    "paddle.arange(0, 1, .1, dtype='float64').astype('float32')", "paddle.linspace(0, 1, 5, dtype='float64').astype('float32')",
    "paddle.eye(3, dtype='float64').astype('float32')", "paddle.full([2], 3., 'float64').astype('float32')",
    "paddle.rand([2], 'float64').astype('float32')", "paddle.randn([2], 'float64').astype('float32')", "paddle.empty([2], 'float64').astype('float32')",
    "paddle.logspace(0, 1, 5, dtype='float64').astype('float32')", "g.astype('float64').astype('float32')",
    "paddle.where(x > 0, g, -g)", "g[x > 0]", "g * np.ones(3)", "np.ones(3) * g", "g @ np.ones([3, 2])", "paddle.gather(g, x.argmax(0))",
    "paddle.to_tensor(np.random.rand(4, 3)).astype('float32') @ paddle.randn([3, 2])",
    "F.cross_entropy(g, paddle.to_tensor([0, 1, 2]), weight=paddle.to_tensor(np.ones(3)))",
    "F.cross_entropy(g, paddle.to_tensor(np.array([0., 1, 2])).astype('int64'))", "F.mse_loss(g, x)", "F.linear(g, x, paddle.to_tensor(np.ones(3)))",
    "F.embedding(x.argmax(0), g)", "paddle.stack([g, x])", "paddle.maximum(g, x)",
    "F.layer_norm(g, 3, paddle.to_tensor(np.ones(3)), paddle.to_tensor(np.zeros(3)))", "paddle.clip(g, x.min(), x.max())",
     "paddle.add(g, paddle.to_tensor(np.float64(2)))",
    "paddle.bincount(paddle.to_tensor([0, 1]), weights=paddle.to_tensor(np.ones(2)))", "paddle.quantile(g, paddle.to_tensor(np.float64(0.5)))",
)  # fmt: skip
# Those of a tensor that the program has put on the CPU.
STAYS = (
    "x.cpu().astype('float32')", "x.to('cpu').astype('float32')", "x.to('cpu', 'float32')", "paddle.to_tensor(np.ones(3), place='cpu').astype('float32')",
    "paddle.ones([3], 'float64', place='cpu').astype('float32')", "(x.cpu() + 1).astype('float32')", "paddle.to_tensor(x, place='cpu').astype('float32')",
)  # fmt: skip
# Functions that compute in float64 and cast on the way do so to the end.
DOUBLE = (
    "paddle.median(x)", "paddle.quantile(x, 0.3)", "paddle.var(x)", "paddle.std(x)", "paddle.linalg.norm(x)", "x[x > 0]", "paddle.cumsum(x)",
    "paddle.linalg.inv(x + paddle.eye(3, dtype='float64') * 9)", "paddle.logsumexp(x)", "F.softmax(x)", "paddle.sort(x)", "x.mean()", "paddle.where(x > 0, x, -x)",
    "F.cross_entropy(x, x.argmax(1))", "F.interpolate(x.reshape([1, 1, 3, 3]), size=[4, 4], mode='bilinear')", "paddle.nanmean(x)", "paddle.gather(x, x.argmax(0))",
    "F.layer_norm(x, 3)", "paddle.unique(x)", "paddle.kthvalue(x, 2)[0]", "paddle.histogram(x, 4).astype('float64')", "x.pow(2)",
    "paddle.zeros_like(x)", "paddle.nn.functional.gelu(x)", "x.fill_diagonal_(1.0)", "paddle.diff(x)", "paddle.searchsorted(x.flatten().sort(), x).astype('float64')",
)  # fmt: skip


def lines() -> int:
    """Lines of programs; what they give is on the GPU if they cast or meet, and else in float64."""
    import copy
    import pickle

    known: dict[str, Any] = {"paddle": paddle, "np": np, "F": paddle.nn.functional, "copy": copy, "pickle": pickle}
    for line in (*CASTS, *STAYS, *DOUBLE):
        x = paddle.to_tensor(np.array([[1.0, -2, 3], [4, 5, -6], [0, 2, 1]]))
        known.update(x=x, g=paddle.to_tensor([[1.0, 2, 3], [3, 1, 2], [2, 2, 1]], place="mps"))
        try:
            made = eval(line, known)
        except Exception as error:
            FAILURES.append(f"{line}: {type(error).__name__} {error}")
            continue
        if line in DOUBLE:
            expect(line, "cpu", paddle.float64, made)
        else:
            expect(line, "cpu" if line in STAYS else "mps:0", made.dtype, made)
    return len(CASTS) + len(STAYS) + len(DOUBLE)


def gradients() -> int:
    """A gradient goes back through the cast and the move: in the dtype and on the place of its leaf, from where it follows, too."""
    x = paddle.to_tensor(np.array([1.0, 2, 3]), stop_gradient=False)
    w = paddle.to_tensor([2.0, 3, 4], place="mps", stop_gradient=False)
    (x * w).sum().backward()
    expect("gradient of x", "cpu", paddle.float64, x.grad)
    expect("gradient of w", "mps:0", paddle.float32, w.grad)
    expect("gradient of x beside w", "mps:0", paddle.float32, x.grad * w)
    if x.grad.tolist() != [2, 3, 4] or w.grad.tolist() != [1, 2, 3]:
        FAILURES.append(f"gradients {x.grad.tolist()} and {w.grad.tolist()}")
    (found,) = paddle.grad((x.astype("float32") * w).sum(), [x])
    expect("paddle.grad", "cpu", paddle.float64, found)
    w.clear_grad()
    (w.astype("float64") ** 2).sum().backward()
    if w.grad.tolist() != [4, 6, 8]:
        FAILURES.append(f"gradient through float64 {w.grad.tolist()}")
    return 6


def writes() -> int:
    """What is written into keeps its dtype and place; in-place forms get those of the result, as in Paddle."""
    g, x = paddle.zeros([3], place="mps"), paddle.to_tensor(np.array([1.0, 2, 3]))
    g[0] = x[1]
    g[1:] = np.array([5.0, 6])
    g[x > 2] = 7
    expect("g[...] = x", "mps:0", paddle.float32, g)
    if g.tolist() != [2, 5, 7]:
        FAILURES.append(f"g is {g.tolist()}")
    x[0] = g[2]
    x[paddle.to_tensor([1])] = paddle.to_tensor([9.0], place="mps")
    expect("x[...] = g", "cpu", paddle.float64, x)
    if x.tolist() != [7, 9, 3]:
        FAILURES.append(f"x is {x.tolist()}")
    g.copy_(x)
    g.add_(x)
    expect("g.add_(x)", "mps:0", paddle.float32, g)
    if g.tolist() != [14, 18, 6]:
        FAILURES.append(f"g is {g.tolist()}")
    x.add_(g)
    expect("x.add_(g)", "mps:0", paddle.float32, x)
    out = paddle.zeros([3], place="mps")
    paddle.add(paddle.to_tensor(np.ones(3)), out, out=out)
    expect("out", "mps:0", paddle.float32, out)
    return 6


def traced() -> int:
    """Functions that are traced: on the GPU with what they have there, and else on the CPU in float64."""
    weight = paddle.to_tensor([2.0, 3, 4], place="mps", stop_gradient=False)
    table = paddle.to_tensor(np.array([1.0, 2, 3]), stop_gradient=False)
    x, g = paddle.to_tensor(np.array([1.0, 1, 2])), paddle.to_tensor([1.0, 1, 2], place="mps")
    on_gpu, alone = paddle.jit.to_static(lambda x: x * weight + np.ones(3)), paddle.jit.to_static(lambda x: x / 3)
    two, captures = paddle.jit.to_static(lambda x, y: x + y), paddle.jit.to_static(lambda x: (x * table).sum())
    for _ in range(2):
        expect("captures a weight", "mps:0", paddle.float32, on_gpu(x))
        expect("alone", "cpu", paddle.float64, alone(x))
        expect("alone on the GPU", "mps:0", paddle.float32, alone(g))
        expect("two arguments", "mps:0", paddle.float32, two(x, g))
        expect("indices", "mps:0", paddle.int64, two(x.argsort(), paddle.to_tensor([1, 2, 3], place="mps")))
    if on_gpu(x).tolist() != [3, 4, 9] or two(x, g).tolist() != [2, 2, 4] or alone(x).tolist() != [1 / 3, 1 / 3, 2 / 3]:
        FAILURES.append("traced functions compute something else")
    for total in (9, 12):  # a captured tensor is read at each run
        made = captures(g)
        made.backward()
        if made.item() != total:
            FAILURES.append(f"captured: {made.item()}; want {total}")
        with paddle.no_grad():
            table[2] = 4.5
    expect("gradient of what is captured", "cpu", paddle.float64, table.grad)
    if table.grad.tolist() != [2, 2, 4]:
        FAILURES.append(f"gradient of what is captured: {table.grad.tolist()}")
    on_gpu(x).sum().backward()
    if weight.grad.tolist() != [1, 1, 2]:
        FAILURES.append(f"gradient of a weight: {weight.grad.tolist()}")
    return 20


def complexes() -> int:
    """Complex tensors, which a GPU has no counterpart of: calls run on the CPU, and real parts follow the GPU."""
    z, g = paddle.to_tensor(np.array([1 + 2j, 3j, 1])), paddle.to_tensor([1.0, 2, 3], place="mps", stop_gradient=False)
    expect("z * g", "cpu", paddle.complex128, z * g)
    expect("real part beside g", "mps:0", paddle.float32, (z * g).real() + g)
    expect("fft", "cpu", paddle.complex64, paddle.fft.fft(g))
    expect("abs of fft beside g", "mps:0", paddle.float32, paddle.fft.fft(g).abs() * g)
    (z * g).abs().sum().backward()
    expect("gradient of g", "mps:0", paddle.float32, g.grad)
    if not np.allclose(g.grad.numpy(), np.abs([1 + 2j, 3j, 1]), rtol=1e-6):
        FAILURES.append(f"gradient of g: {g.grad.tolist()}")
    h = paddle.zeros([2], place="mps")
    h[0] = z[0]
    if h.tolist() != [1, 0]:
        FAILURES.append(f"h is {h.tolist()}")
    return 7


def main() -> None:
    warnings.simplefilter("ignore")
    if "set_device" in sys.argv:
        paddle.set_device("mps")
    count = operators() + lines() + gradients() + writes() + traced() + complexes()
    print(*FAILURES, sep="\n")
    print(f"{count} calls, {len(FAILURES)} wrong")


if __name__ == "__main__":
    main()
