"""Functions with open sizes: what a program for all sizes computes is what the function does, to the bit.

Each function is saved with the sizes named n open, and run from the file; and it is traced with `dynamic=True`. Both are compared with
the calls one by one, for sizes that the function was not traced for.
"""

from __future__ import annotations

import zlib
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps.jit import InputSpec, load, save, to_static

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


def heads(w: Weights, x: Any) -> Any:
    batch, length, width = x.shape
    h = (x @ w.square).reshape([batch, length, 2, 4]).transpose([0, 2, 1, 3])
    # With weights as they are it would be one operator, with other roundings.
    return (
        ((F.softmax(h @ h.transpose([0, 1, 3, 2]) / 2) * 0.7) @ h)
        .transpose([0, 2, 1, 3])
        .reshape([batch, length, width])
    )


CASES: dict[str, tuple[Callable[..., Any], list[list[int | None]]]] = {
    "linear": (lambda w, x: F.relu(F.linear(x, w.wide, w.bias)), [[N, 3]]),
    "layer_norm": (lambda w, x: F.layer_norm(x, [8], w.bias, w.bias), [[N, 8]]),
    "group_norm": (lambda w, x: F.group_norm(x, 2, weight=w.bias, bias=w.bias), [[N, 8, N, N]]),
    "batch_norm": (lambda w, x: F.batch_norm(x, w.bias, w.bias**2), [[N, 8, N, 2]]),
    "conv": (lambda w, x: F.max_pool2d(F.relu(F.conv2d(x, w.kernel, padding=1)), 2), [[N, 3, 6, 6]]),
    "pool": (lambda w, x: F.adaptive_avg_pool2d(x, 1).flatten(1), [[N, 3, N, N]]),
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
        for sizes in ((4, 6), (5, 9), (2, 2), (7, 3), (13, 8)):
            inputs = sized(specs, *sizes)
            assert results(dynamic, inputs) == results(lambda *xs: written(weights, *xs), inputs)
        assert len(traced) == 2
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
    "condition": (lambda x: x * 2 if x.shape[0] > 100 else x * 3, "operand 1 is another one for other sizes"),
    "one": (lambda x: x * 2 if x.shape[0] == 1 else x * 3, "operand 1 is another one for other sizes"),
    "number": (lambda x: x / (x.shape[0] + 1), "operand 1 is another one for other sizes"),
    "loop": (lambda x: sum((x[i] for i in range(x.shape[0])), x[0]), "calls and 1 results for some sizes"),
    "twice": (lambda x: paddle.zeros([2 * x.shape[0], 1]), r"\[full\] call 0: shape is \[10, 1\] for some sizes"),
    "squeeze": (lambda x: x.squeeze(), r"\[squeeze\] the size of axis 0"),
    "array": (lambda x: x + paddle.to_tensor(np.zeros([x.shape[0], 1], np.float32)), "other captured tensors|input 1"),
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


def test_texts_in_files_are_checked(tmp_path: Any) -> None:
    """A text with a right checksum is refused where it is none, by line; what it says of sizes is inferred again."""
    save(lambda x: paddle.zeros([x.shape[0], 1]) + x, str(tmp_path / "f"), [InputSpec([N, 4])])
    path = tmp_path / "f.pmps"
    file = path.read_bytes()
    text = file[55:]
    for was, now, error in (
        (b"shape=[s0, 1]", b"shape=[s9, 1]", 'line 2: got "s9"; want a size of an input'),
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
