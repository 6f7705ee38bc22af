"""Normalizations, embeddings, attention, dropout and what mixes features, beside formulas in NumPy."""

from __future__ import annotations

import inspect
import math
import warnings
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps.nn import functional as F

T = paddle.to_tensor
Array = Any  # of NumPy, in float64

EPSILON = 2.0**-52


def near(got: Any, want: Any, scale: float = 16.0) -> None:
    """Within 64 roundings of values up to scale."""
    want = np.asarray(want)
    assert list(got.shape) == list(want.shape)
    assert np.abs(got.numpy() - want).max(initial=0.0) <= 64 * EPSILON * scale


def normal(x: Array, axes: tuple[int, ...], epsilon: float = 1e-5) -> Array:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + epsilon)


def data(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("inner", [1, 2, 3])
def test_layer_norm(inner: int) -> None:
    x, weight, bias = data(3, 4, 5), data(3 * 4 * 5, seed=1), data(3 * 4 * 5, seed=2)
    sizes = x.shape[3 - inner :]
    count = math.prod(sizes)
    want = normal(x, tuple(range(3 - inner, 3))) * weight[:count].reshape(sizes) + bias[:count].reshape(sizes)
    near(F.layer_norm(T(x), list(sizes), T(weight[:count]), T(bias[:count])), want)
    near(F.layer_norm(T(x).transpose([2, 1, 0]), 3), normal(x.T, (2,)))


def test_norms_of_halves_are_rounded_once() -> None:
    x = data(6, 8).astype("float16")
    for got, axes in (
        (F.layer_norm(T(x), 8, T(np.ones(8, "float32"))), (1,)),
        (F.batch_norm(T(x), T(np.zeros(8, "float32")), T(np.ones(8, "float32")), training=True), (0,)),
        (F.group_norm(T(x.reshape(6, 4, 2)), 1).reshape([6, 8]), (1,)),
    ):
        assert got.dtype is paddle.float16
        want = normal(x.astype("float64"), axes)
        assert (np.abs(got.numpy() - want) <= 0.501 * np.spacing(np.abs(want).astype("float16"))).all()


def test_rms_norm() -> None:
    x, weight = data(3, 4, 5), data(20, seed=1)
    scale = 1 / np.sqrt((x**2).mean((1, 2)) + 1e-3)
    got, inverse = F.rms_norm(T(x), [4, 5], T(weight), 1e-3)
    near(got, x * scale[:, None, None] * weight.reshape(4, 5))
    near(inverse, scale)


FORMATS = [((6, 4), 1, "NC"), ((6, 4, 3), 1, "NCL"), ((2, 3, 3, 4), 3, "NHWC"), ((2, 4, 2, 2, 3), 1, "NCDHW")]


@pytest.mark.parametrize("shape, axis, layout", FORMATS)
def test_batch_norm(shape: tuple[int, ...], axis: int, layout: str) -> None:
    x, weight, bias, mean, var = data(*shape), data(4, seed=1), data(4, seed=2), data(4, seed=3), data(4, seed=4) ** 2
    spread = [-1 if a == axis else 1 for a in range(len(shape))]
    w, b, m, v = (array.reshape(spread) for array in (weight, bias, mean, var))
    running = T(mean), T(var)
    near(F.batch_norm(T(x), *running, T(weight), T(bias), data_format=layout), (x - m) / np.sqrt(v + 1e-5) * w + b, 256)
    near(running[0], mean)
    axes = tuple(a for a in range(len(shape)) if a != axis)
    alias = running[0].reshape([4])
    got = F.batch_norm(T(x), *running, T(weight), T(bias), True, 0.8, data_format=layout)
    near(got, normal(x, axes) * w + b)
    near(running[0], mean * 0.8 + x.mean(axes) * 0.2)
    near(running[1], var * 0.8 + x.var(axes) * 0.2)
    assert alias.tolist() == running[0].tolist()  # in their own memory


def test_batch_norm_chooses_its_statistics() -> None:
    x, mean, var = data(5, 3), data(3, seed=1), data(3, seed=2) ** 2
    kept, fresh = (x - mean) / np.sqrt(var + 1e-5), normal(x, (0,))
    for training, use_global, want in (
        (True, True, kept),
        (False, False, fresh),
        (True, None, fresh),
        (False, None, kept),
    ):
        running = T(mean), T(var)
        near(F.batch_norm(T(x), *running, training=training, use_global_stats=use_global), want, 256)
        assert (running[0].tolist() == mean.tolist()) == (want is kept)


def test_instance_norm() -> None:
    x, weight, bias = data(2, 3, 4, 5), data(3, seed=1), data(3, seed=2)
    want = normal(x, (2, 3), 0.1) * weight[:, None, None] + bias[:, None, None]
    near(F.instance_norm(T(x), weight=T(weight), bias=T(bias), eps=0.1), want)
    near(F.instance_norm(T(data(2, 3)), bias=T(bias)), np.broadcast_to(bias, (2, 3)))


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(groups: int) -> None:
    x, weight, bias = data(3, 6, 2, 2), data(6, seed=1), data(6, seed=2)
    want = normal(x.reshape(3, groups, -1), (2,)).reshape(x.shape) * weight[:, None, None] + bias[:, None, None]
    near(F.group_norm(T(x), groups, 1e-5, T(weight), T(bias)), want)
    near(F.group_norm(T(x), groups, T(weight), T(bias)), want)
    last = F.group_norm(T(x).transpose([0, 2, 3, 1]), groups, weight=T(weight), bias=T(bias), data_format="NHWC")
    near(last, want.transpose(0, 2, 3, 1))
    assert list(inspect.signature(F.group_norm).parameters)[:4] == ["x", "num_groups", "epsilon", "weight"]


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_local_response_norm(size: int) -> None:
    x = data(2, 6, 3)
    want = np.empty_like(x)
    for c in range(6):
        near_by = range(max(c - size // 2, 0), min(c + (size - 1) // 2, 5) + 1)
        mean = sum(x[:, i] ** 2 for i in near_by) / size
        want[:, c] = x[:, c] / (2 + 0.5 * mean) ** 0.6
    near(F.local_response_norm(T(x), size, 0.5, 0.6, 2.0), want)
    near(F.local_response_norm(T(x).transpose([0, 2, 1]), size, 0.5, 0.6, 2.0, "NLC"), want.transpose(0, 2, 1))


def test_norms_refuse() -> None:
    x, one = T(data(2, 4, 3)), T(np.ones(3))
    for call in (
        lambda: F.layer_norm(x, [4]),
        lambda: F.layer_norm(x, 3, epsilon=0.01),
        lambda: F.layer_norm(x, [4, 3], one),
        lambda: F.batch_norm(x, one, one),
        lambda: F.batch_norm(x, T(np.ones(4)), T(np.ones(4)), data_format="CN"),
        lambda: F.group_norm(x, 3),
        lambda: F.instance_norm(x, weight=one),
        lambda: F.rms_norm(x, [4]),
        lambda: F.local_response_norm(x[0], 3),
    ):
        with pytest.raises(ValueError, match="want"):
            call()
    for whole in (lambda: F.layer_norm(T([[1, 2]]), 2), lambda: F.group_norm(T([[[1], [2]]]), 1)):
        with pytest.raises(paddle.UnsupportedError, match="int64"):
            whole()
    with pytest.raises(TypeError, match="twice"):
        F.group_norm(x, 2, one, weight=one)


def test_embedding() -> None:
    x, weight = np.array([[1, 3, 1], [0, 2, 3]]), data(4, 5)
    near(F.embedding(T(x), T(weight)), weight[x])
    near(F.embedding(T(x).T, T(weight), padding_idx=-1), np.where(x.T[..., None] == 3, 0, weight[x.T]))
    for number in (-1, 4):
        with pytest.raises(IndexError, match="out of range"):
            F.embedding(T([number]), T(weight)).numpy()
    with pytest.raises(ValueError, match="padding_idx"):
        F.embedding(T(x), T(weight), 4)
    with pytest.raises(AttributeError, match="scale_grad_by_freq"):
        F.embedding(T(x), T(weight), sparse=True, scale_grad_by_freq=True)


def test_embedding_shortens_the_rows_that_are_used() -> None:
    weight, x = data(4, 5), T([1, 1, 3])
    table = T(weight)
    lengths = np.linalg.norm(weight, axis=1, keepdims=True)
    want = np.where(lengths > 0.7, weight * 0.7 / (lengths + 1e-7), weight)
    near(F.embedding(x, table, max_norm=0.7), want[[1, 1, 3]])
    want[[0, 2]] = weight[[0, 2]]
    near(table, want)


def attention(q: Array, k: Array, v: Array, mask: Array, scale: float) -> Array:
    """Head by head; the heads of q share those of k and v in turn."""
    result = np.empty((*q.shape[:3], v.shape[3]))
    for b in range(q.shape[0]):
        for h in range(q.shape[2]):
            other = h // (q.shape[2] // k.shape[2])
            scores = q[b, :, h] @ k[b, :, other].T * scale + mask[b, h]
            weights = np.exp(scores - scores.max(1, keepdims=True))
            result[b, :, h] = weights / weights.sum(1, keepdims=True) @ v[b, :, other]
    return result


@pytest.mark.parametrize("shared", [1, 2, 6])
def test_attention(shared: int) -> None:
    q, k, v = data(2, 5, 6, 3), data(2, 4, shared, 3, seed=1), data(2, 4, shared, 2, seed=2)
    mask, free = data(2, 6, 5, 4, seed=3), np.zeros((2, 6, 5, 4))
    hidden, later = np.where(mask > -1, 0, -np.inf), np.triu(np.full((5, 4), -np.inf), 1) + free
    hidden[..., 0] = 0
    call, tensors, root = F.scaled_dot_product_attention, (T(q), T(k), T(v)), 3**-0.5
    near(call(*tensors), attention(q, k, v, free, root))
    near(call(*tensors, T(mask), scale=0.3), attention(q, k, v, mask, 0.3))
    near(call(*tensors, T(mask[:, :1])), attention(q, k, v, mask[:, :1] + free, root))
    near(call(*tensors, T(hidden == 0)), attention(q, k, v, hidden, root))
    near(call(*tensors, is_causal=True), attention(q, k, v, later, root))
    near(call(*tensors, T(mask), is_causal=True), attention(q, k, v, later, root))
    near(call(tensors[0][0], tensors[1][0], tensors[2][0]), attention(q, k, v, free, root)[0])
    near(call(*tensors, dropout_p=0.9, training=False), attention(q, k, v, free, root))


def test_attention_refuses() -> None:
    q, k = T(data(1, 2, 4, 3)), T(data(1, 2, 2, 3))
    with pytest.raises(AssertionError, match="heads"):
        F.scaled_dot_product_attention(q, k, q)
    with pytest.raises(AssertionError, match="heads"):
        F.scaled_dot_product_attention(q, k, k, enable_gqa=False)
    with pytest.raises(ValueError, match="axes"):
        F.scaled_dot_product_attention(q, k[0], k[0])


def test_attention_with_dropout_keeps_the_mean() -> None:
    paddle.seed(5)
    q, v = paddle.zeros([64, 16, 4, 8]), paddle.ones([64, 16, 4, 8])
    got = F.scaled_dot_product_attention(q, v, v, dropout_p=0.5).numpy()[..., 0]
    # 65,536 weights of 1/16 that are kept with probability 1/2: the mean of 4,096 rows is within 6 deviations of 1.
    assert abs(got.mean() - 1) <= 6 / math.sqrt(65536)
    assert set(np.unique(np.round(got * 8, 3))) <= set(range(17))


def binomial(kept: float, chance: float, n: int) -> None:
    """A count of n independent draws, within 6 deviations."""
    assert abs(kept - n * chance) <= 6 * math.sqrt(n * chance * (1 - chance))


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dropout(p: float, dtype: str) -> None:
    paddle.seed(1)
    x = T(np.full((100, 200), 3.0), dtype)
    got = F.dropout(x, p)
    assert got.dtype is x.dtype
    values = set(np.unique(got.numpy()).tolist())
    kept = (got.numpy() != 0).sum()
    assert len(values) == 2 and abs(max(values) - 3 / (1 - p)) <= 2 * np.spacing(np.dtype(dtype).type(3 / (1 - p)))
    binomial(kept, 1 - p, 20000)
    assert set(np.unique(F.dropout(x, p, mode="downscale_in_infer").numpy())) == {0.0, 3.0}
    assert (F.dropout(x, p, training=False).numpy() == 3).all()
    paddle.seed(1)
    assert F.dropout(x, p).tolist() == got.tolist()


def test_dropout_along_axes() -> None:
    paddle.seed(2)
    x = paddle.ones([300, 40])
    rows = F.dropout(x, 0.25, axis=0).numpy()
    assert (rows == rows[:, :1]).all()
    binomial((rows[:, 0] != 0).sum(), 0.75, 300)
    images = F.dropout2d(paddle.ones([30, 20, 3, 4]), 0.25).numpy()
    assert (images == images[:, :, :1, :1]).all()
    binomial((images[:, :, 0, 0] != 0).sum(), 0.75, 600)
    last = F.dropout3d(paddle.ones([30, 2, 3, 2, 20]), 0.25, data_format="NDHWC").numpy()
    assert (last == last[:, :1, :1, :1]).all()
    lines = F.dropout1d(paddle.ones([5, 400, 3]), 0.25).numpy()
    assert (lines == lines[:1, :, :1]).all()


def test_dropout_drops_what_is_no_number() -> None:
    paddle.seed(3)
    assert not np.isnan(F.dropout(paddle.full([50], math.nan), 1.0).numpy()).any()
    with pytest.raises(paddle.UnsupportedError, match="inplace"):
        F.dropout(paddle.ones([2]), 0.5, 0, inplace=True)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        F.dropout1d(paddle.ones([2, 3]), 0.5, inplace=True)
    assert len(found) == 1


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_alpha_dropout_keeps_mean_and_variance(p: float) -> None:
    paddle.seed(4)
    x = paddle.randn([400, 500])
    got = F.alpha_dropout(x, p).numpy()
    most = np.unique(got, return_counts=True)[1].max()  # no other value stands there so often
    binomial(most, p, 200000)
    # 200,000 values of variance 1 and of a fourth moment below 12.
    assert abs(got.mean()) <= 6 / math.sqrt(200000) and abs(got.var() - 1) <= 6 * math.sqrt(12 / 200000)
    features = F.feature_alpha_dropout(paddle.ones([20, 30, 4]), p).numpy()
    assert (features == features[:, :, :1]).all() and len(np.unique(features)) == 2


def test_gumbel_softmax() -> None:
    paddle.seed(6)
    chances = np.array([0.5, 0.3, 0.15, 0.05])
    logits = T(np.broadcast_to(np.log(chances), (20000, 4)).copy())
    soft, hard = F.gumbel_softmax(logits, 0.5), F.gumbel_softmax(logits, hard=True)
    assert np.abs(soft.numpy().sum(1) - 1).max() <= 8 * EPSILON
    assert set(np.unique(hard.numpy())) == {0.0, 1.0} and (hard.numpy().sum(1) == 1).all()
    for i, chance in enumerate(chances):
        binomial(hard.numpy()[:, i].sum(), chance, 20000)
        binomial((soft.numpy().argmax(1) == i).sum(), chance, 20000)


def test_bilinear() -> None:
    a, b, weight, bias = data(3, 4), data(3, 2, seed=1), data(5, 4, 2, seed=2), data(1, 5, seed=3)
    near(F.bilinear(T(a), T(b), T(weight), T(bias)), np.einsum("na,kab,nb->nk", a, weight, b) + bias)
    with pytest.raises(ValueError, match="shapes are"):
        F.bilinear(T(a), T(b[:2]), T(weight))


def test_temporal_shift() -> None:
    x = data(6, 8, 2, 3)
    frames = x.reshape(2, 3, 8, 2, 3)
    want = frames.copy()
    want[:, 1:, :2], want[:, 0, :2] = frames[:, :-1, :2], 0
    want[:, :-1, 2:4], want[:, -1, 2:4] = frames[:, 1:, 2:4], 0
    near(F.temporal_shift(T(x), 3), want.reshape(x.shape))
    last = F.temporal_shift(T(x).transpose([0, 2, 3, 1]), 3, data_format="NHWC")
    near(last, want.reshape(x.shape).transpose(0, 2, 3, 1))


def test_top_level_names() -> None:
    assert paddle.layer_norm is F.layer_norm and paddle.group_norm is F.group_norm


def test_pad_with_a_constant_reads_each_element_once() -> None:
    x = data(2, 3)
    near(F.pad(T(x).T, [1, 0, 2, 1], value=7.0), np.pad(x.T, [(1, 0), (2, 1)], constant_values=7.0))


@pytest.mark.parametrize(("shape", "pad"), [([0, 3], [1, 1, 2, 2]), ([2, 0], [1, 1, 0, 0]), ([0], [0, 3])])
def test_pad_of_nothing_has_a_gradient(shape: list[int], pad: list[int]) -> None:
    x = paddle.zeros(shape)
    x.stop_gradient = False
    y = F.pad(x, pad, value=7.0)
    assert (y.numpy() == 7).all()
    y.sum().backward()
    assert x.grad.shape == shape


def test_log_sigmoid_far_from_zero() -> None:
    x = np.array([-800.0, -41.0, -1.0, 0.0, 1.0, 39.0, 700.0])
    near(F.log_sigmoid(T(x)), -np.logaddexp(0, -x), 800)
    assert F.log_sigmoid(T([-math.inf, math.inf])).tolist() == [-math.inf, 0.0]


def test_frequencies_of_rows() -> None:
    from paddle_mps._functional._embedding import frequencies

    got = frequencies(T([1, 3, 1, 0, 1]), 5, T([0.0]))
    assert got.tolist() == [[3.0], [1.0], [3.0], [1.0], [3.0]]
