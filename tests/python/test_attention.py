"""The operator attention, on every device: by the host's kernel, and in terms of other operators, as float64 and other devices have it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F
from paddle_mps._calls import _call, _operators
from paddle_mps.jit import to_static
from paddle_mps.selftest import aliases, suite

PLACES = ["cpu"] + ["mps:0"] * (paddle.mps.device_count() > 0)
RNG = np.random.default_rng(11)
EPS = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
Array = Any


def attention(q: Array, k: Array, v: Array, mask: Array | None, scale: float, causal: bool) -> tuple[Array, Array]:
    """The results in float64, and the sum of the magnitudes that the error is proportional to, without the rounding unit.

    A score has a rounding for each of its products and for what is done to it, each at most eps times the sum of the
    magnitudes. An absolute error of a score is a relative one of its weight, of the numerator and of the sum. The sums over
    keys have a rounding for each.
    """
    group = q.shape[-3] // max(k.shape[-3], 1)
    k, v = np.repeat(k, group, -3), np.repeat(v, group, -3)
    scores = scale * q @ np.swapaxes(k, -1, -2)
    size = np.abs(scale * q) @ np.abs(np.swapaxes(k, -1, -2)) * (q.shape[-1] + 4) + 4 * np.abs(scores)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
        if mask.dtype != bool:
            size = size + 4 * np.abs(np.where(np.isinf(scores), 0, scores))
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True, initial=-np.inf))
        w = e / e.sum(-1, keepdims=True)
        most = np.where(w > 0, size, 0).max(-1, keepdims=True, initial=0)
        return w @ v, (2 * most + 2 * scores.shape[-1] + 32) * (w @ np.abs(v)) + 2.0**-90


def numbers(*shape: int) -> Array:
    return RNG.standard_normal(shape)


def given(a: Array, dtype: str, place: str) -> Any:
    """A tensor and the numbers that it holds."""
    return paddle.to_tensor(a.astype(np.float32 if dtype != "float64" else np.float64), place=place).astype(dtype)


def exact(x: Any) -> Array:
    return (
        x.numpy()
        if x.dtype == paddle.bool
        else x.astype("float32" if x.dtype != paddle.float64 else "float64").numpy().astype(np.float64)
    )


def check(got: Any, tensors: list[Any], mask: Any, scale: float, causal: bool) -> None:
    q, k, v = (exact(x) for x in tensors)
    want, size = attention(q, k, v, None if mask is None else exact(mask), scale, causal)
    dtype = str(got.dtype).split(".")[-1]
    off = size * (EPS["float64"] if dtype == "float64" else EPS["float32"])
    if dtype in ("float16", "bfloat16"):  # which other devices round after each step
        off = off + EPS[dtype] * (size if "mps" in str(got.place) else np.abs(want)) + 2.0**-24
    result = exact(got)
    assert result.shape == want.shape
    sure = np.isfinite(want)
    np.testing.assert_array_equal(result[~sure], want[~sure])
    assert (np.abs(result[sure] - want[sure]) <= off[sure]).all()


SHAPES = [  # of query, key and value; the blocks of the host have up to 32 queries and some 250 keys
    ([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
    ([2, 3, 33, 8], [2, 3, 40, 8], [2, 3, 40, 8]),
    ([3, 65, 16], [3, 300, 16], [3, 300, 5]),
    ([2, 6, 7, 4], [2, 2, 9, 4], [2, 2, 9, 3]),
    ([2, 2, 4, 5, 4], [2, 2, 1, 6, 4], [2, 2, 1, 6, 4]),
    ([1, 2, 1, 8], [1, 2, 513, 8], [1, 2, 513, 8]),
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_attention(place: str, dtype: str, shapes: Any) -> None:
    if dtype == "float64" and place != "cpu":
        pytest.skip("the device has no float64")
    tensors = [given(numbers(*s), dtype, place) for s in shapes]
    *batch, queries, size = shapes[0]
    keys = shapes[1][-2]
    hidden = np.where(RNG.random((*batch, queries, keys)) < 0.3, -np.inf, numbers(*batch, queries, keys))
    hidden[..., 0] = 0  # a query sees one key at least
    masks = [
        None,
        given(numbers(queries, keys), dtype, place),
        given(numbers(batch[0], *[1] * len(batch), keys), dtype, place),
        given(hidden, dtype, place),
        paddle.to_tensor(np.isfinite(hidden), place=place),
        paddle.to_tensor(np.isfinite(hidden).all(0, keepdims=True), place=place),
    ]
    for i, mask in enumerate(masks):
        for causal in (False, True):
            scale = [size**-0.5, 1.0, 0.3][i % 3]
            check(_operators.attention(*tensors, mask, scale, causal), tensors, mask, scale, causal)


@pytest.mark.parametrize("place", PLACES)
def test_views(place: str) -> None:
    """Operands in any layout: heads behind the length, halves of one tensor, reversed and broadcast."""
    whole = given(numbers(2, 37, 3, 24), "float32", place)
    q, k, v = (x.transpose([0, 2, 1, 3]) for x in paddle.split(whole, 3, -1))
    check(_operators.attention(q, k, v, None, 0.5, True), [q, k, v], None, 0.5, True)
    turned = given(numbers(2, 3, 8, 37), "float32", place).transpose([0, 1, 3, 2])
    one = given(numbers(1, 3, 1, 8), "float32", place).expand([2, 3, 37, 8])
    back = paddle.flip(v, [2])
    check(_operators.attention(turned, one, back, None, 0.5, False), [turned, one, back], None, 0.5, False)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shared", [[0], [1], [2], [0, 1, 2]], ids=str)
def test_output_over_operands(place: str, dtype: str, shared: list[int]) -> None:
    """The output may lie in the memory of operands: in the same place, or ahead of them, or behind."""
    row = suite.BY_NAME["attention"]
    shape, n = [2, 20, 24], 960
    for start, out_start in aliases.STARTS:
        line = given(numbers(n + 1), dtype, place)
        x, out = (line[at : at + n].reshape(shape) for at in (start, out_start))
        tensors = [x if i in shared else given(numbers(*shape), dtype, place) for i in range(3)]
        before, around = [t.clone() for t in tensors], exact(line)
        _call.call_into(row["id"], tensors, suite.attributes(row, {"scale": 0.5, "causal": True}), out)
        check(out, before, None, 0.5, True)
        outside = [at for at in range(n + 1) if not out_start <= at < out_start + n]
        np.testing.assert_array_equal(exact(line)[outside], around[outside])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nothing(place: str, dtype: str) -> None:
    """Without queries there is no result; without keys it is 0, and without elements of a key the mean of the values."""
    if dtype == "float64" and place != "cpu":
        pytest.skip("the device has no float64")
    q, k, v = (given(numbers(2, 2, n, 4), dtype, place) for n in (3, 5, 5))
    assert _operators.attention(q[:, :, :0], k, v, None, 1.0, False).shape == [2, 2, 0, 4]
    assert _operators.attention(q, k, v[..., :0], None, 1.0, False).shape == [2, 2, 3, 0]
    assert _operators.attention(q[:0], k[:0], v[:0], None, 1.0, True).shape == [0, 2, 3, 4]
    assert (_operators.attention(q, k[:, :, :0], v[:, :, :0], None, 1.0, False).numpy() == 0).all()
    check(
        _operators.attention(q[..., :0], k[..., :0], v, None, 1.0, False), [q[..., :0], k[..., :0], v], None, 1.0, False
    )


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_specials(place: str, dtype: str) -> None:
    """A NaN or an infinity counts as in the expression, a key that is not seen included: its value times 0."""
    if dtype == "float64" and place != "cpu":
        pytest.skip("the device has no float64")
    for operand in range(3):
        for special in (np.nan, np.inf, -np.inf):
            for causal in (False, True):
                arrays = [numbers(1, 2, 40, 4) for _ in range(3)]
                arrays[operand][0, 0, 20, 1] = special
                tensors = [given(a, dtype, place) for a in arrays]
                check(_operators.attention(*tensors, None, 0.5, causal), tensors, None, 0.5, causal)
    tensors = [given(numbers(1, 2, 40, 4), dtype, place) for _ in range(3)]
    mask = np.tri(40, 40, -3, dtype=bool)  # three queries see nothing
    got = _operators.attention(*tensors, paddle.to_tensor(mask, place=place), 0.5, False)
    assert np.isnan(got.numpy()[:, :, :3]).all() and np.isfinite(got.numpy()[:, :, 3:]).all()


@pytest.mark.parametrize("place", PLACES)
def test_gradients_of_narrow_dtypes(place: str) -> None:
    """Those of float32 and halves, beside float64."""
    for dtype, off in (("float32", 1e-5), ("float16", 2e-2), ("bfloat16", 1e-1)):
        grads = []
        arrays = [numbers(2, 4, 9, 8), numbers(2, 2, 11, 8), numbers(2, 2, 11, 4)]
        tensors = [given(a, dtype, place).detach() for a in arrays]
        for kind, at in ((dtype, place), ("float64", "cpu")):
            leaves = [given(exact(x), kind, at).detach() for x in tensors]
            for x in leaves:
                x.stop_gradient = False
            _operators.attention(*leaves, None, 0.5, True).sum().backward()
            grads.append([exact(x.grad) for x in leaves])
        for got, want in zip(*grads):
            assert np.abs(got - want).max() <= off * max(1, np.abs(want).max())


@pytest.mark.parametrize("place", PLACES)
def test_gradients_of_nothing(place: str) -> None:
    """Without keys there is nothing that gradients depend on; what causal hides has the gradient 0, also of a query without keys."""
    q, k, v = (given(numbers(1, 2, n, 4), "float32", place).detach() for n in (33, 0, 0))
    q.stop_gradient = False
    _operators.attention(q, k, v, None, 0.5, False).sum().backward()
    assert (exact(q.grad) == 0).all()
    q, k, v = (given(numbers(1, 1, 3, 4), "float32", place).detach() for _ in range(3))
    q.stop_gradient = False
    first = paddle.to_tensor(np.array([False, True, True]), place=place)
    _operators.attention(q, k, v, first, 0.5, True).sum().backward()
    assert (exact(q.grad)[:, :, 0] == 0).all()


@pytest.mark.parametrize("place", PLACES)
def test_programs(place: str) -> None:
    """A traced function has the bits of the call, also with open sizes and a result that goes into a view."""

    def f(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return _operators.attention(q * 2.0, k, v, mask, 0.25, True) + 1.0

    for dynamic in (False, True):
        traced = to_static(f, dynamic=dynamic)
        for n in (5, 40, 33):
            args = [given(numbers(2, 2, n, 8), "float32", place) for _ in range(3)] + [
                given(numbers(n, n), "float32", place)
            ]
            np.testing.assert_array_equal(traced(*args).numpy(), f(*args).numpy())


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_fill(place: str, dtype: str) -> None:
    """A key that is hidden has the score fill, rounded to the dtype: of a query without others all weights are equal, or NaN of
    an infinity."""
    if dtype == "float64" and place != "cpu":
        pytest.skip("the device has no float64")
    q, k, v = (given(numbers(1, 2, 5, 4), dtype, place) for _ in range(3))
    mask = paddle.to_tensor(np.arange(5)[:, None] > 2 * np.ones(5), place=place)
    for fill in (-1e9, -3e38, 2.0, float("-inf")):
        got = exact(_operators.attention(q, k, v, mask, 0.5, False, fill))
        rounded = exact(given(np.array(fill), dtype, place))
        want = exact(v).mean(2)[:, :, None] if np.isfinite(rounded) else np.nan * np.ones((1, 2, 1, 4))
        off = {"float32": 2.0**-21, "float64": 2.0**-48}.get(dtype, 2.0**-6)
        np.testing.assert_allclose(got[:, :, :3], np.broadcast_to(want, (1, 2, 3, 4)), rtol=0, atol=off)
        tail = [q[:, :, 3:], k, v]
        check(_operators.attention(*tail, mask[3:], 0.5, False, fill), tail, mask[3:], 0.5, False)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_causal_beside_masks(place: str, dtype: str) -> None:
    """A later key is hidden whatever the mask says of it: neither its fill nor a NaN becomes a score."""
    if dtype == "float64" and place != "cpu":
        pytest.skip("the device has no float64")
    for n in (3, 40):
        q, k, v = (given(numbers(1, 2, n, 4), dtype, place) for _ in range(3))
        later = np.arange(n) > np.arange(n)[:, None]
        some = RNG.random((n, n)) < 0.5
        masks = [paddle.to_tensor(some | later, place=place), paddle.to_tensor(some & ~later, place=place)]
        one, other = (exact(_operators.attention(q, k, v, mask, 0.5, True, 2.0)) for mask in masks)
        np.testing.assert_array_equal(one, other)
        added = numbers(n, n)
        plain = exact(_operators.attention(q, k, v, given(added, dtype, place), 0.5, True))
        assert np.isfinite(plain).all()
        for value in (np.nan, np.inf):
            mask = given(np.where(later, value, added), dtype, place)
            np.testing.assert_array_equal(exact(_operators.attention(q, k, v, mask, 0.5, True)), plain)


def test_refuses() -> None:
    q, k, mask = paddle.ones([2, 4, 3, 8]), paddle.ones([2, 2, 5, 8]), paddle.ones([3, 4])
    call = _operators.attention
    for args, message in [
        (
            (q, k, k[:, :, :4], None),
            r"\[attention\] query has shape \[2, 4, 3, 8\], key \[2, 2, 5, 8\] and value \[2, 2, 4, 8\]; want",
        ),
        ((q[:, :3], k, k, None), "for a divisor n of heads"),
        ((q, k[:, :0], k[:, :0], None), "for a divisor n of heads"),
        ((q[..., :7], k, k, None), "any size"),
        ((q[:1], k, k, None), "any size"),
        ((q[0, 0], k[0, 0], k[0, 0], None), r"want 3 to \d+ dimensions"),
        ((q, k, k, mask), r"mask has shape \[3, 4\]; want one that broadcasts to \[2, 4, 3, 5\]"),
        ((q, k, k, paddle.ones([3, 1, 3, 5])), "mask has shape"),
        ((q, k, k, paddle.ones([1, 2, 4, 3, 5])), "mask has shape"),
    ]:
        with pytest.raises(ValueError, match=message):
            call(*args, 1.0, False)
    with pytest.raises(paddle.UnsupportedError, match=r"\[attention\] has no kernel for int64"):
        call(*(x.astype("int64") for x in (q, k, k)), None, 1.0, False)


def steps(explained: str) -> list[str]:
    """The operators of the steps of a program."""
    return [line.split("= ")[1].split("(")[0] for line in explained.splitlines() if "= " in line]


def scores_of(q: Any, k: Any) -> Any:
    return paddle.matmul(q, k, transpose_y=True)


def bert(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return paddle.matmul(F.softmax(paddle.matmul(q, k.transpose([0, 1, 3, 2])) / 2.0 + mask, -1), v)


def torch_export(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return paddle.matmul(F.softmax(scores_of(q * 0.25**0.5, k * 0.5) * 2.0, -1), v)


def masked_fill(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return paddle.matmul(F.softmax(paddle.where(mask > 0, -1e9, scores_of(q, k)), -1), v)


def seen(q: Any, k: Any, v: Any, mask: Any) -> Any:
    return paddle.matmul(F.softmax(paddle.where(mask < 0, scores_of(q, k) * 0.5, float("-inf")), -1), v)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(  # where promotes halves beside a Python number to float32
    ("spelled", "dtype"),
    [
        *((f, "float32") for f in (bert, torch_export, masked_fill, seen)),
        (bert, "bfloat16"),
        (torch_export, "bfloat16"),
    ],
)
def test_recognised(place: str, spelled: Any, dtype: str) -> None:
    """A program of an expression has one step where the device has a kernel, and the results of the calls."""
    for hidden in (False, True):  # of one query every key
        arrays = [numbers(2, 3, 20, 8), numbers(2, 3, 30, 8), numbers(2, 3, 30, 5)]
        mask = numbers(20, 30) - 10 * np.eye(20, 30)
        if hidden:
            mask[7] = 1
        args = [given(a, dtype, place) for a in (*arrays, mask)]
        traced = to_static(spelled)
        got, want = exact(traced(*args)), exact(spelled(*args))
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
        # Both are within the bound of the row, which is below 2**-24 * (16 * 100 + 100) * 5 for these numbers; halves are
        # rounded after each call, and a score of 30 is off by 0.1.
        assert np.nanmax(np.abs(got - want)) <= (2.0**-10 if dtype == "float32" else 0.5)
        if place != "cpu" and os.environ["PADDLE_MPS_DEVICE"] != "host":
            continue  # Metal has no kernel of attention
        found = steps(traced.explain(*args))
        assert "matmul" not in found and "softmax" not in found and found.count("attention") == 1


def test_not_recognised() -> None:
    """What else reads the weights, such as the rule of a gradient, keeps the calls."""

    def slopes(q: Any, k: Any, v: Any, mask: Any) -> Any:
        return paddle.grad([bert(q, k, v, mask).sum()], [q])[0]

    def weights(q: Any, k: Any, v: Any, mask: Any) -> Any:
        w = F.softmax(scores_of(q, k), -1)
        return paddle.matmul(w, v), w

    args = [
        given(a, "float32", "cpu")
        for a in (numbers(2, 3, 9, 8), numbers(2, 3, 9, 8), numbers(2, 3, 9, 5), numbers(9, 9))
    ]
    args[0].stop_gradient = False
    for f in (slopes, weights):
        assert "attention" not in steps(to_static(f).explain(*args))
