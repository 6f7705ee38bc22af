"""Functions with open sizes: what a program for all sizes computes is what the function does, to the bit.

Each function is saved with the sizes named n open, and run from the file; and it is traced with `dynamic=True`. Both are compared with
the calls one by one, for sizes that the function was not traced for.
"""

from __future__ import annotations

import functools
import math
import zlib
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps.jit import InputSpec, load, save

to_static: Any = functools.partial(paddle.jit.to_static, full_graph=True)

N = None
PLACES = ["cpu"] + ["mps:0"] * (paddle.mps.device_count() > 0)


class Weights:
    """Tensors that the functions capture."""

    def __init__(self) -> None:
        numbers = np.random.default_rng(1)
        self.square, self.wide, self.kernel, self.bias, self.table = (
            paddle.to_tensor(numbers.standard_normal(shape).astype(np.float32))
            for shape in ([8, 8], [3, 8], [4, 3, 3, 3], [8], [10, 8])
        )
        # Long enough for the sizes that functions are traced for.
        self.positions = paddle.to_tensor(numbers.standard_normal([700, 8]).astype(np.float32))
        self.mask = paddle.tril(paddle.ones([700, 700]))


def heads(w: Weights, x: Any) -> Any:
    batch, length, width = x.shape
    h = (x @ w.square).reshape([batch, length, 2, 4]).transpose([0, 2, 1, 3])
    # With weights as they are it would be one operator, with other roundings.
    return (
        ((F.softmax(h @ h.transpose([0, 1, 3, 2]) / 2) * 0.7) @ h)
        .transpose([0, 2, 1, 3])
        .reshape([batch, length, width])
    )


def filled_in_parts(w: Weights, x: Any) -> Any:
    """Parts of new tensors are written into."""
    made = paddle.zeros([x.shape[0], 9])
    made[:, 1:] = x
    made[-1] = 1.0
    return made


def cached(w: Weights, x: Any, before: Any) -> list[Any]:
    """Scores of tokens that follow others, with positions and a mask that are cut to where they stand."""
    past, n = before.shape[0], x.shape[0]
    k = paddle.concat([before, x + w.positions[past : past + n]])
    total = k.shape[0]
    causal = paddle.arange(total) <= paddle.arange(past, total).unsqueeze(1)
    scores = (x @ k.T) * w.mask[past:total, :total] + paddle.full([n, total], 0.5)
    places = (paddle.arange(n) + past).astype("float32")
    return [paddle.where(causal, scores, paddle.zeros_like(scores)), k.sum(0) / total, x[:, 0] * places, k[-n:]]


CASES: dict[str, tuple[Callable[..., Any], list[list[int | None]]]] = {
    "linear": (lambda w, x: F.relu(F.linear(x, w.wide, w.bias)), [[N, 3]]),
    "layer_norm": (lambda w, x: F.layer_norm(x, [8], w.bias, w.bias), [[N, 8]]),
    "group_norm": (lambda w, x: F.group_norm(x, 2, weight=w.bias, bias=w.bias), [[N, 8, N, N]]),
    "batch_norm": (lambda w, x: F.batch_norm(x, w.bias, w.bias**2), [[N, 8, N, 2]]),
    # Of whole numbers, because a convolution of a program may add up in another order.
    "conv": (lambda w, x: F.max_pool2d(F.relu(F.conv2d(x.round(), w.kernel.round(), padding=1)), 2), [[N, 3, 6, 6]]),
    "pool": (lambda w, x: F.adaptive_avg_pool2d(x, 1).flatten(1), [[N, 3, N, N]]),
    "eye": (lambda w, x: x @ paddle.eye(x.shape[1]) + paddle.eye(x.shape[0], x.shape[1]), [[N, N]]),
    "interpolate": (lambda w, x: F.interpolate(x, scale_factor=2), [[N, 3, 4, 4]]),
    "attention": (heads, [[N, N, 8]]),
    "sdpa": (lambda w, x: F.scaled_dot_product_attention(x, x, x), [[N, N, 2, 8]]),
    "means of lines": (lambda w, x: x * (x.abs().mean(-1, keepdim=True) + 1e-6).rsqrt() * w.bias, [[N, 8]]),
    "log_softmax": (lambda w, x: F.log_softmax(x).max(-1), [[N, 4]]),
    "embedding": (lambda w, x: F.embedding(x.argmax(-1), w.table), [[N, N, 8]]),
    "one_hot": (lambda w, x: F.one_hot(x.argmax(-1), 4), [[N, 4]]),
    "positions": (lambda w, x: x + paddle.arange(x.shape[1], dtype="float32"), [[N, N]]),
    "causal": (lambda w, x: paddle.tril(x) + paddle.ones([x.shape[1], x.shape[1]]).triu(1), [[N, 5, 5]]),
    "tril": (lambda w, x: paddle.tril(x), [[N, N]]),
    "zeros": (lambda w, x: paddle.concat([x, paddle.zeros([x.shape[0], 1])], 1), [[N, 4]]),
    "zeros_like": (lambda w, x: paddle.where(x > 0, x, paddle.zeros_like(x)), [[N, N]]),
    "expand": (lambda w, x: w.bias.expand([x.shape[0], 8]) + x, [[N, 8]]),
    "flatten": (lambda w, x: x.flatten(1) @ w.square, [[N, 2, 4]]),
    "merge": (lambda w, x: x.reshape([x.shape[0] * x.shape[1], 8]) @ w.square, [[N, N, 8]]),
    "last": (lambda w, x: x[:, -1] - x[:, 0], [[N, N, 4]]),
    "cut": (lambda w, x: x[1:] - x[:-1], [[N, 4]]),
    "backwards": (lambda w, x: x[::-1, ::2], [[N, N]]),
    "counts": (
        lambda w, x: [x / x.shape[0], (x.shape[1] * x).sum() / (2 * x.size), x.var(unbiased=False)],
        [[N, N, 8]],
    ),
    "means": (lambda w, x: [x.mean(), x.mean(0), x.sum(1)], [[N, 4]]),
    "medians": (
        lambda w, x: [paddle.median(x, axis=1), paddle.nanmedian(x, axis=0), *paddle.kthvalue(x, 1, 0)],
        [[N, 8]],
    ),
    "traces": (lambda w, x: [paddle.trace(x), paddle.kron(x, x[:1]), paddle.inner(x, x)], [[N, N]]),
    "deviation": (lambda w, x: [x.std(0), (x - x.mean(0)) / (x.var() + 1).sqrt()], [[N, N]]),
    "reciprocal": (lambda w, x: [x.sum(0) * (1 / x.shape[0]), x.T @ x / math.sqrt(x.shape[0])], [[N, 8]]),
    "halves": (lambda w, x: (x.astype("bfloat16") * (51 * x.shape[0])).astype("float32") + len(x), [[N, 8]]),
    "table": (lambda w, x: x + w.positions[: x.shape[1]], [[N, N, 8]]),
    "mask": (lambda w, x: (x @ x.T) * w.mask[: x.shape[0], : x.shape[0]], [[N, 8]]),
    "cache": (cached, [[N, 8], [N, 8]]),
    "positions after others": (
        lambda w, x, y: x + w.positions[len(y) : len(y) + len(x)] + w.positions[len(y)],
        [[N, 8], [N, 8]],
    ),
    "padded": (lambda w, x: F.conv2d(F.pad(x.round(), [1, 1, 1, 1]), w.kernel.round()), [[N, 3, 4, 4]]),
    "tiled": (lambda w, x: paddle.concat([paddle.tile(w.bias, [x.shape[0], 1, 1]), x], 1), [[N, 3, 8]]),
    "framed": (lambda w, x: F.pad(x, [1, 2, 0, 1], value=-1.5), [[N, N]]),
    "filled": (lambda w, x: x.sum() / paddle.full([2], float(x.size)), [[N, 8]]),
    "written": (filled_in_parts, [[N, 8]]),
    "integers": (
        lambda w, x: [paddle.arange(4) * x.shape[0], paddle.arange(x.shape[0]) < x.shape[0] - 1],
        [[N, 8]],
    ),
    "normalize": (lambda w, x: F.normalize(x), [[N, 8]]),
    "cumsum": (lambda w, x: paddle.cumsum(x, 1), [[N, N]]),
    "topk": (lambda w, x: list(paddle.topk(x, 1)), [[N, N]]),
    "split": (lambda w, x: list(paddle.split(x, 2, axis=1)), [[N, 4]]),
    "stack": (lambda w, x: paddle.stack([x, x * 2], 1), [[N, 4]]),
    "tile": (lambda w, x: paddle.tile(x, [1, 2]), [[N, 4]]),
    "einsum": (lambda w, x: paddle.einsum("bij,bkj->bik", x, x), [[N, N, 8]]),
    "two": (lambda w, x, y: x @ y.T, [[N, 4], [N, 4]]),
    "equal": (lambda w, x, y: F.mse_loss(x, y) + (x * y), [[N, 4], [N, 4]]),
    "concat": (lambda w, x, y: paddle.concat([x, y]), [[N, 4], [N, 4]]),
    "random": (lambda w, x: x + paddle.rand([x.shape[0], 1]), [[N, 4]]),
}


def sized(specs: list[list[int | None]], first: int, others: int) -> list[Any]:
    """Inputs of these sizes: of the first axis, and of all other ones that are open."""
    numbers = np.random.default_rng(first)
    return [
        paddle.to_tensor(
            numbers.standard_normal([(others if i else first) if n is None else n for i, n in enumerate(spec)]).astype(
                np.float32
            )
        )
        for spec in specs
    ]


def results(function: Callable[..., Any], inputs: list[Any]) -> list[tuple[Any, bytes]]:
    paddle.seed(3)
    with paddle.no_grad():
        made = function(*inputs)
    return [(x.shape, x.numpy().tobytes()) for x in (made if isinstance(made, list) else [made])]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", CASES)
def test_programs_for_all_sizes(name: str, place: str, tmp_path: Any) -> None:
    written, specs = CASES[name]
    before = paddle.get_device()
    paddle.set_device(place)
    try:
        weights, traced = Weights(), []

        def function(*inputs: Any) -> Any:
            traced.append(len(inputs))
            return written(weights, *inputs)

        save(function, str(tmp_path / "f"), [InputSpec(spec) for spec in specs])
        loaded, dynamic = load(str(tmp_path / "f")), to_static(function, dynamic=True)
        traced.clear()
        for i, sizes in enumerate(((4, 6), (5, 9), (2, 2), (7, 3), (13, 8))):
            inputs = sized(specs, *sizes)
            assert results(dynamic, inputs) == results(lambda *xs: written(weights, *xs), inputs)
            # For each of two calls, and with the second one for two other sets of sizes, and those that a table is too small for.
            assert len(traced) in ((1,), (4, 5))[min(i, 1)]
        for sizes in ((1, 1), (1, 5), (2, 3), (9, 4)):
            inputs = sized(specs, *sizes)
            try:
                want = results(lambda *xs: written(weights, *xs), inputs)
            except (ValueError, IndexError):  # too small for the function
                continue
            assert results(loaded, inputs) == want
    finally:
        paddle.set_device(before)


REFUSED: dict[str, tuple[Callable[..., Any], str]] = {
    "condition": (
        lambda x: x * 2 if x.shape[0] > 100 else x * 3,
        r"\[multiply\] call 0: operand 1 is 3 for some sizes, 2 for others; want one number",
    ),
    "one": (lambda x: x * 2 if x.shape[0] == 1 else x * 3, "operand 1 is 3 for some sizes, 2 for others"),
    "number": (lambda x: x / (x.shape[0] + 2), "operand 1 is 7 for some sizes, 213 for others"),
    "exponent": (lambda x: x.astype("bfloat16") ** x.shape[0], r"\[pow\] call 1: operand 1 is 5 for some sizes"),
    "half": (lambda x: x[: x.shape[0] // 2], r"\[slice\] call 0: ends is \[2\] for some sizes"),
    "loop": (lambda x: sum((x[i] for i in range(x.shape[0])), x[0]), "calls and 1 results for some sizes"),
    "twice": (lambda x: paddle.zeros([2 * x.shape[0], 1]), r"\[full\] call 0: shape is \[10, 1\] for some sizes"),
    "limit": (lambda x: x / min(x.shape[0], 512), "operand 1 is 5 for some sizes, 512 for others"),
    "squeeze": (lambda x: x.squeeze(), r"\[squeeze\] the size of axis 0"),
    # The function that was called, not its operator; and not one whose sizes are known.
    "interpolate": (
        lambda x: F.interpolate(x.t().unsqueeze(0), scale_factor=2, mode="linear"),
        r"\[interpolate\] .* want sizes that are known here, in the InputSpec",
    ),
    "half beside a median": (lambda x: x[: x.shape[0] // 2] + paddle.median(x, axis=1)[0], r"^\[slice\]"),
    "array": (
        lambda x: x + paddle.to_tensor(np.zeros([x.shape[0], 1], np.float32)),
        r"\[add\] it reads a captured tensor of shape \[5, 1\] for some sizes, and another one of shape \[211, 1\]|input 1",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_for_all_sizes(name: str, tmp_path: Any) -> None:
    function, error = REFUSED[name]
    with pytest.raises(paddle.UnsupportedError, match=error):
        save(function, str(tmp_path / "f"), [InputSpec([N, 4])])
    assert not list(tmp_path.iterdir())
    dynamic = to_static(function, dynamic=True)
    for n in (2, 120, 3, 5):
        x = paddle.ones([n, 4])
        assert results(dynamic, [x]) == results(function, [x])


# Numbers that two calls make look like sizes or constants, as 8 // 2 and 9 // 2 do, with the sizes of the calls.
CHANCES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "half of successive sizes": (lambda x: x[: x.shape[0] // 2].sum(0), [(8,), (9,), (16,)]),
    "middle row": (lambda x: x.sort(0)[x.shape[0] // 2], [(8,), (9,), (16,)]),
    "largest": (lambda x: x.topk(x.shape[0] // 4, axis=0)[0], [(9,), (8,), (16,)]),
    "both halves": (lambda x: x[x.shape[0] // 2 :].sum(0) - x[: x.shape[0] // 2].sum(0), [(4,), (5,), (8,)]),
    "pairs of rows": (lambda x: x[::2].sum(0) / (x.shape[0] // 2), [(8,), (16,), (9,)]),
    "power of two": (lambda x: x / 2 ** (x.shape[0] - 1).bit_length(), [(4,), (16,), (9,)]),
    "window": (lambda x: x.cumsum(0) / min(x.shape[0], 512), [(4,), (8,), (600,)]),
    "diagonal": (lambda x: paddle.tril(x @ x.t(), -(x.shape[0] // 4)), [(8,), (9,), (16,)]),
    "larger one": (lambda x, y: (x.sum() + y.sum()) / max(len(x), len(y)), [(4, 8), (5, 9), (20, 6)]),
    "sum of sizes": (lambda x, y: x.sum(0) / (len(x) + len(y)), [(6, 6), (8, 4), (16, 9)]),
    "cut behind": (lambda x, y: paddle.concat([x, y])[len(x) :].sum(0), [(6, 6), (8, 4), (16, 9)]),
    "half of one": (lambda x, y: x.sum(0) / (len(x) // 2) + y.sum(0), [(8, 4), (16, 8), (9, 5)]),
}


@pytest.mark.parametrize("name", CHANCES)
def test_two_calls_do_not_decide_by_chance(name: str) -> None:
    function, calls = CHANCES[name]
    dynamic = to_static(function, dynamic=True)
    for sizes in calls:
        inputs = [paddle.to_tensor(np.sin(np.arange(4 * n, dtype=np.float32)).reshape(n, 4)) for n in sizes]
        got, want = dynamic(*inputs), function(*inputs)
        # Both are computed by the same kernels, but a sum and a quotient of it may be one.
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=4 * 2**-24, atol=4 * 2**-24)


def test_sizes_are_chosen_that_a_function_takes() -> None:
    """It is traced for further sizes, where these are not refused; else each call has a program."""
    table = paddle.ones([100, 4])
    for function, sizes, still in (
        (lambda x: x + table[: x.shape[0]], (8, 16, 24), True),  # no more than 100
        (lambda x: x.reshape([-1, 32, 4]).sum(1) / x.shape[0], (32, 64, 96), True),
        (lambda x: x.reshape([{8: 2, 16: 4, 24: 6}[x.shape[0]], 4, 4]), (8, 16, 24), True),  # the third one is in line
        (lambda x: x.reshape([{8: 2, 16: 4, 28: 7}[x.shape[0]], 4, 4]), (8, 16, 28), False),
    ):
        dynamic = to_static(function, dynamic=True)
        for n in sizes:
            x = paddle.arange(4 * n, dtype="float32").reshape([n, 4])
            assert dynamic(x).tolist() == function(x).tolist()
        assert dynamic.program_cache == (2 if still else 3)
    assert dynamic.explain(x).startswith("sizes are not open: [jit] the function takes no sizes that were chosen")


def test_the_call_that_chance_would_decide_is_named() -> None:
    dynamic = to_static(lambda x: x[: x.shape[0] if x.shape[0] < 300 else 4], dynamic=True)
    for n, want in ((4, 4), (8, 8), (600, 4)):
        assert dynamic(paddle.ones([n])).shape == [want]
    reason = dynamic.explain(paddle.ones([600])).splitlines()[0]
    assert reason.startswith("sizes are not open: [jit] a number that Python computes of sizes") and "slice" in reason


@pytest.mark.parametrize(
    "function", [lambda x: x / max(x.shape), lambda x: x[: min(x.shape)], lambda x: x.sum(int(x.shape[0] > x.shape[1]))]
)
def test_the_order_of_open_sizes_is_open(function: Callable[..., Any], tmp_path: Any) -> None:
    with pytest.raises(paddle.UnsupportedError, match=r"other calls where|for some sizes"):
        save(function, str(tmp_path / "f"), [InputSpec([N, N])])
    assert not list(tmp_path.iterdir())


def test_texts_in_files_are_checked(tmp_path: Any) -> None:
    """A text with a right checksum is refused where it is none, by line; what it says of sizes is inferred again."""
    save(lambda x: paddle.zeros([x.shape[0], 1]) + x, str(tmp_path / "f"), [InputSpec([N, 4])])
    path = tmp_path / "f.pmps"
    file = path.read_bytes()
    text = file[55:]
    for was, now, error in (
        (b"shape=[s0, 1]", b"shape=[s9, 1]", 'line 2: got "s9"; want a size of a line above'),
        (b"shape=[s0, 1]", b"shape=[-7, 1]", "line 2: "),
        (b"= full(", b"= fill(", 'line 2: got "fill"; want an operator'),
        (b"float32[s0, 4]\n", b"float32[s0, 4", "line 1: "),
    ):
        assert was in text
        changed = text.replace(was, now, 1)
        path.write_bytes(
            b"paddle-mps program 1\n%11d bytes, crc32 %08x\n" % (len(changed), zlib.crc32(changed)) + changed
        )
        with pytest.raises(ValueError, match="program") as raised:
            load(str(tmp_path / "f"))
        assert error in str(raised.value)
