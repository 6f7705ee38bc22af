"""Attention of ONNX against its definition: caches inside and outside of the operator, groups of heads, masks, windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_attention
import onnx_files as files
import pytest
from onnx_attention import Case

import paddle_mps as paddle

NAMES = ["q", "k", "v", "mask", "past_key", "past_value", "lengths"]


def run(case: Case, place: str, results: int) -> list[Any]:
    """The first results of a model of one node."""
    kinds = {"float32": "float"}
    given = [(name, x) for name, x in zip(NAMES, case.operands) if x is not None]
    node = files.node(
        "Attention",
        [name if x is not None else "" for name, x in zip(NAMES, case.operands)],
        [f"y{i}" for i in range(results)],
        **case.attributes,
    )
    inputs = [files.port(name, kinds.get(str(x.dtype), str(x.dtype)), x.shape) for name, x in given]
    model = files.model([node], inputs, [files.port(f"y{i}", "float", None) for i in range(results)], opset=25)
    made = paddle.onnx.load(model, place)(*[x for _, x in given])
    return [x.numpy() for x in (made if isinstance(made, tuple) else (made,))]


def check(case: Case, place: str) -> None:
    """Compares Y, and where the cache is inside of the operator all keys and values."""
    results = 3 if case.operands[4] is not None else 1
    got = run(case, place, results)
    y, keys, values, _, bound = onnx_attention.attention(case)
    assert got[0].shape == y.shape, case
    assert (np.abs(got[0] - y) <= bound).all(), case  # not where one is NaN
    for a, b in zip(got[1:], (keys, values)):
        np.testing.assert_array_equal(a, b.astype("float32"))


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("part", range(4))
def test_random_operands(part: int, place: str) -> None:
    for seed in range(part, 240, 4):
        check(onnx_attention.case(seed), place)


@pytest.mark.parametrize("mode", range(4))
def test_scores_as_a_result(mode: int) -> None:
    for seed in range(1000, 1030):
        case = onnx_attention.case(seed)
        case.attributes["qk_matmul_output_mode"] = mode
        got = run(case, "cpu", 4)[3]
        want = onnx_attention.attention(case)[3]
        # At most 4 products of numbers up to 5; weights are at most 1, and e**error off.
        np.testing.assert_allclose(got, want, rtol=2**-17, atol=2**-17, err_msg=str(case))


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_tokens_of_a_static_cache(place: str) -> None:
    """A prompt and then one token after the other, with the same numbers as all tokens at once: batches have other lengths, and the
    keys behind them are those of an earlier text."""
    numbers = np.random.default_rng(0)
    q, k, v = numbers.standard_normal((3, 2, 2, 9, 4)).astype("float32")
    whole = run(Case([q, k, v, None, None, None, None], {"is_causal": 1}), place, 1)[0]
    filled, size = np.array([3, 5]), 2  # of each batch; and tokens at a time
    while filled.max() + size <= 9:
        filled = filled + size
        part = np.stack([q[b, :, end - size : end] for b, end in enumerate(filled)])
        cache, values = k.copy(), v.copy()
        for b, end in enumerate(filled):
            cache[b, :, end:], values[b, :, end:] = 7, 1e30
        got = run(Case([part, cache, values, None, None, None, filled], {"is_causal": 1}), place, 1)[0]
        want = np.stack([whole[b, :, end - size : end] for b, end in enumerate(filled)])
        np.testing.assert_allclose(got, want, rtol=2**-18, atol=2**-20)


def test_lengths_and_a_past() -> None:
    q = np.zeros((1, 1, 1, 2), "float32")
    for past, lengths in (([q, q], np.array([1])), ([q, None], None), ([None, q], None)):
        with pytest.raises(ValueError, match="want both of the past, or lengths, or none"):
            run(Case([q, q, q, None, *past, lengths], {}), "cpu", 1)
    with pytest.raises(ValueError, match="left_window_size is -2; want -1 or more"):
        run(Case([q, q, q, None, None, None, None], {"left_window_size": -2}), "cpu", 1)
