"""paddle_mps.onnx: operators where the tests of the onnx package, which tests/onnx runs, leave something open. Values are computed
by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle

pytestmark = pytest.mark.parametrize("place", ["cpu", "mps"])

rng = np.random.default_rng(3)

sliding_windows: Any = np.lib.stride_tricks.sliding_window_view  # whose stub knows one axis only


def run(
    place: str, op: str, arrays: list[Any], results: int = 1, opset: int = 22, domain: str = "", **attributes: Any
) -> Any:
    """The results of a model of one node, with arrays for its operands; None for one that is left out."""
    names = ["" if x is None else f"x{i}" for i, x in enumerate(arrays)]
    kinds = {"float32": "float", "float64": "double"}
    inputs = [
        files.port(name, kinds.get(str(x.dtype), str(x.dtype)), [None] * x.ndim)
        for name, x in zip(names, arrays)
        if x is not None
    ]
    outputs = [f"y{i}" for i in range(results)]
    model = files.model(
        [files.node(op, names, outputs, domain, **attributes)],
        inputs,
        [files.port(name, "float", None) for name in outputs],
        opset=opset,
        domains=[domain] if domain else [],
    )
    made = paddle.onnx.load(model, place)(*[x for x in arrays if x is not None])
    return [x.numpy() for x in made] if isinstance(made, tuple) else made.numpy()


def test_dropout_of_training(place: str) -> None:
    x = rng.standard_normal((50, 80)).astype("float32")
    ratio, training = np.array(0.25, "float32"), np.array(True)
    y, mask = run(place, "Dropout", [x, ratio, training], 2)
    assert mask.dtype == bool
    np.testing.assert_array_equal(y == 0, ~mask)
    np.testing.assert_allclose(y, np.where(mask, x / np.float32(0.75), 0), rtol=2**-22)
    # 4,000 draws with a probability of 0.25 have a deviation of 27: ten of them never happen.
    assert abs((~mask).sum() - 1000) < 270
    again = run(place, "Dropout", [x, ratio, training], 2)[1]
    assert (again != mask).any()
    np.testing.assert_array_equal(run(place, "Dropout", [x, np.array(0, "float32"), training], 2)[0], x)
    assert not run(place, "Dropout", [x, np.array(1, "float32"), training]).any()


def test_multinomial(place: str) -> None:
    weights = np.array([[0.1, 0.2, 0.7], [1e-30, 1.0, 1e-30]])
    x = np.log(weights).astype("float32")
    drawn = run(place, "Multinomial", [x], sample_size=4000)
    assert drawn.dtype == np.int32 and drawn.shape == (2, 4000)
    # The counts have a deviation of at most 29: ten of them never happen.
    np.testing.assert_allclose(np.bincount(drawn[0], minlength=3), [400, 800, 2800], atol=290)
    assert (drawn[1] == 1).all()
    assert run(place, "Multinomial", [x], dtype=7, sample_size=5).dtype == np.int64
    with pytest.raises(ValueError, match="the operand has 1 axes and sample_size is 1; want 2 axes"):
        run(place, "Multinomial", [x[0]])


def test_norm_of_training(place: str) -> None:
    x = rng.standard_normal((4, 3, 5)).astype("float32") * 3 + 2
    scale, bias, mean, variance = rng.random((4, 3)).astype("float32")
    got = run(
        place, "BatchNormalization", [x, scale, bias, mean, variance], 3, training_mode=1, momentum=0.75, epsilon=0.5
    )
    exact = x.astype("float64")
    m, v = exact.mean((0, 2)), exact.var((0, 2))
    y = (exact - m[:, None]) / np.sqrt(v[:, None] + 0.5) * scale[:, None] + bias[:, None]
    for a, b in zip(got, (y, 0.75 * mean + 0.25 * m, 0.75 * variance + 0.25 * v)):
        np.testing.assert_allclose(a, b, rtol=2**-18, atol=2**-18)  # sums of 20 terms of up to 12


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
def test_determinants(place: str, n: int) -> None:
    # Integers have exact determinants, and small ones many zeros as first elements.
    x = rng.integers(-2, 3, (7, 3, n, n)).astype("float32")
    got = run(place, "Det", [x])
    assert got.shape == (7, 3)
    # Elimination with pivots: an error of n**2 roundings of what the rows hold, which Hadamard's bound limits.
    bound = np.prod(np.linalg.norm(x.astype("float64"), axis=-1), axis=-1)
    assert (np.abs(got - np.linalg.det(x.astype("float64"))) <= n * n * 2.0**-22 * bound).all()


def test_determinants_of_what_has_none(place: str) -> None:
    assert run(place, "Det", [np.zeros((2, 3, 3), "float32")]).tolist() == [0, 0]
    assert run(place, "Det", [np.eye(4, dtype="float32")[[1, 0, 3, 2]]]) == 1
    for shape in [(3,), (2, 3)]:
        with pytest.raises(ValueError, match="want square matrices"):
            run(place, "Det", [np.zeros(shape, "float32")])


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "bool"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((40,), None), ((6, 7), None), ((30, 2), 0), ((2, 30), 1), ((2, 30, 3), 1), ((0,), None), ((0, 3), 0)],
)
def test_unique(place: str, dtype: str, shape: tuple[int, ...], axis: int | None) -> None:
    x = rng.integers(0, 4, shape).astype(dtype)
    attributes: dict[str, Any] = {} if axis is None else {"axis": axis}
    want = np.unique(x, True, True, True, axis=axis)
    for got, w in zip(run(place, "Unique", [x], 4, **attributes), want):
        np.testing.assert_array_equal(got.reshape(w.shape), w)
    # In the order of their first occurrence.
    values, first, inverse, counts = run(place, "Unique", [x], 4, sorted=0, **attributes)
    order = np.argsort(want[1])
    np.testing.assert_array_equal(first, want[1][order])
    np.testing.assert_array_equal(counts, want[3][order])
    np.testing.assert_array_equal(values, np.take(x if axis is not None else x.reshape(-1), first, axis or 0))
    np.testing.assert_array_equal(np.take(values, inverse, axis or 0), x if axis is not None else x.reshape(-1))


def test_unique_numbers_that_are_none(place: str) -> None:
    x = np.array([np.nan, 1, -0.0, np.nan, 0.0, np.inf, 1], "float32")
    values, first, inverse, counts = run(place, "Unique", [x], 4)
    np.testing.assert_array_equal(values, np.array([0, 1, np.inf, np.nan], "float32"))
    assert (first.tolist(), inverse.tolist(), counts.tolist()) == ([2, 1, 5, 0], [3, 1, 0, 3, 0, 2, 1], [2, 2, 1, 2])


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_counts_of_terms(place: str, mode: str) -> None:
    """Sequences of one, two and three words, with up to two words between."""
    pool = [[1], [4], [2, 1], [1, 1], [3, 3], [1, 2, 3]]
    to, weights = [5, 0, 2, 1, 6, 3], [0.5, 2.0, 3.0, 1.0, 7.0, 4.0, 1.5]
    x = rng.integers(0, 5, (6, 12)).astype("int32")
    want = np.zeros((6, 7), "float32")
    for row, line in zip(want, x):
        for gram, place_of in zip(pool, to):
            for step in range(1, 4 if len(gram) > 1 else 2):
                for start in range(12 - (len(gram) - 1) * step):
                    row[place_of] += list(line[start::step][: len(gram)]) == gram
    if mode == "IDF":
        want[:] = want > 0
    if mode != "TF":
        want *= np.array(weights, "float32")
    attributes: dict[str, Any] = {
        "mode": mode, "min_gram_length": 1, "max_gram_length": 3, "max_skip_count": 2, "ngram_counts": [0, 2, 8],
        "ngram_indexes": to, "pool_int64s": [word for gram in pool for word in gram], "weights": weights,
    }  # fmt: skip
    np.testing.assert_array_equal(run(place, "TfIdfVectorizer", [x], opset=17, **attributes), want)
    np.testing.assert_array_equal(
        run(place, "TfIdfVectorizer", [x[0].astype("int64")], opset=17, **attributes), want[0]
    )
    for dims in ((0,), (2, 0)):  # texts without words
        got = run(place, "TfIdfVectorizer", [np.zeros(dims, "int64")], opset=17, **attributes)
        np.testing.assert_array_equal(got, np.zeros((*dims[:-1], 7), "float32"))
        assert got.shape == (*dims[:-1], 7)


def test_regions_between_elements(place: str) -> None:
    """Regions with edges between and at elements, and beyond the image. A plane is the same between its elements as at them."""
    rows, columns = np.mgrid[0:8, 0:10].astype("float32")
    x = np.stack([np.stack([rows, columns]), np.stack([columns * 2, rows * 3])])
    regions = np.array([[1.25, 2.5, 6.75, 5.5], [0.5, 0.5, 8.5, 6.5], [20, 20, 30, 30]], "float32")
    got = run(place, "RoiAlign", [x, regions, np.array([0, 1, 0])], output_height=3, output_width=2, sampling_ratio=2)
    want = np.zeros((3, 2, 3, 2))
    for i, (x1, y1, x2, y2) in enumerate(regions[:2].astype("float64") - 0.5):
        for h in range(3):
            for w in range(2):
                middle = y1 + (h + 0.5) * (y2 - y1) / 3, x1 + (w + 0.5) * (x2 - x1) / 2
                want[i, :, h, w] = middle if i == 0 else (2 * middle[1], 3 * middle[0])
    np.testing.assert_allclose(got, want, rtol=2**-20, atol=2**-20)


def test_adaptive_regions_are_refused(place: str) -> None:
    arrays = [np.zeros((1, 1, 4, 4), "float32"), np.zeros((1, 4), "float32"), np.zeros(1, "int64")]
    with pytest.raises(
        paddle.UnsupportedError, match="sampling_ratio is 0, which makes the number of points depend on elements"
    ):
        run(place, "RoiAlign", arrays)


@pytest.mark.parametrize("p", [1, 2, 3])
def test_norms_of_windows(place: str, p: int) -> None:
    """Of all places, of windows that a row with a kernel has, and of windows with gaps."""
    x = rng.standard_normal((2, 3, 5, 6)).astype("float32")
    powers = np.abs(x.astype("float64")) ** p
    got = run(place, "GlobalLpPool", [x], p=p)
    np.testing.assert_allclose(got, powers.sum((2, 3), keepdims=True) ** (1 / p), rtol=2**-20)
    windows = sliding_windows(powers, (3, 3), axis=(2, 3))
    got = run(place, "LpPool", [x], p=p, kernel_shape=[3, 3])
    np.testing.assert_allclose(got, windows.sum((4, 5)) ** (1 / p), rtol=2**-20)
    got = run(place, "LpPool", [x], p=p, kernel_shape=[2, 2], dilations=[2, 2])
    np.testing.assert_allclose(got, windows[..., ::2, ::2].sum((4, 5)) ** (1 / p), rtol=2**-20)


@pytest.mark.parametrize("pads", [[0, 0, 2, 0], [0, 2, 0, 1], [2, 0, 1, 2], [1, 1, 1, 1]])
def test_means_count_the_padding_on_either_side(place: str, pads: list[int]) -> None:
    x = rng.integers(-9, 10, (2, 3, 6, 5)).astype("float32")
    around = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    want = sliding_windows(around, (3, 3), (2, 3)).mean((-2, -1))
    got = run(place, "AveragePool", [x], kernel_shape=[3, 3], pads=pads, count_include_pad=1)
    np.testing.assert_allclose(got, want, rtol=2**-20, atol=2**-20)


@pytest.mark.parametrize(("start", "end", "want"), [(-9, -99, [0]), (-9, 0, []), (-9, -1, []), (9, -99, [3, 2, 1, 0])])
def test_slices_downwards_start_at_an_element(place: str, start: int, end: int, want: list[int]) -> None:
    """A start in front of the first element is that element, where Python has none."""
    numbers = [np.array([n]) for n in (start, end, 0, -1)]
    operands = {f"n{i}": n for i, n in enumerate(numbers)}
    model = files.model(
        [files.node("Slice", ["x", *operands], ["y"])],
        [files.port("x", "float", [4])],
        [files.port("y", "float", None)],
        [files.weight(name, n) for name, n in operands.items()],
    )
    got = paddle.onnx.load(model, place)(np.arange(4, dtype="float32"))
    assert got.numpy().tolist() == want


@pytest.mark.parametrize("groups", [1, 2])
def test_kernels_that_are_not_deformed(place: str, groups: int) -> None:
    """Without offsets it is a convolution."""
    x, w = (
        rng.standard_normal((2, 4, 7, 6)).astype("float32"),
        rng.standard_normal((6, 4 // groups, 3, 2)).astype("float32"),
    )
    at: dict[str, Any] = {"strides": [2, 1], "pads": [1, 0, 1, 1], "dilations": [1, 2], "group": groups}
    want = run(place, "Conv", [x, w], **at)
    offset = np.zeros((2, 2 * 6 * 2, *want.shape[2:]), "float32")
    got = run(place, "DeformConv", [x, w, offset], offset_group=2, **at)
    np.testing.assert_allclose(got, want, rtol=2**-18, atol=2**-18)  # sums of 24 terms
    with pytest.raises(ValueError, match=r"offset has \d places on axis 0"):
        run(place, "DeformConv", [x, w, offset[:, :, 1:]], offset_group=2, **at)


@pytest.mark.parametrize("rule", ["linear", "gated", "delta", "gated_delta"])
def test_linear_attention_continues(place: str, rule: str) -> None:
    """A sequence in two calls is the sequence in one; the first token reads the product of its key and its value."""
    q, k = rng.standard_normal((2, 2, 7, 8)).astype("float32")
    v = rng.standard_normal((2, 7, 6)).astype("float32")
    decay = -rng.random((2, 7, 2)).astype("float32") if "gated" in rule else None
    beta = rng.random((2, 7, 1)).astype("float32") if "delta" in rule else None

    def attend(state: Any, part: slice) -> Any:
        more = [None if x is None else x[:, part] for x in (decay, beta)]
        arrays = [q[:, part], k[:, part], v[:, part], state, *more]
        return run(place, "LinearAttention", arrays, 2, 27, update_rule=rule, q_num_heads=2, kv_num_heads=2)

    whole, last = attend(None, slice(0, 7))
    first, state = attend(None, slice(0, 3))
    second, end = attend(state, slice(3, 7))
    np.testing.assert_array_equal(np.concatenate([first, second], 1), whole)
    np.testing.assert_array_equal(end, last)
    share = np.einsum("bhd,bhd->bh", *[x[:, 0].reshape(2, 2, 4) for x in (q, k)]) / 2
    if beta is not None:
        share = share * beta[:, 0]
    want = share[:, :, None] * v[:, 0].reshape(2, 2, 3)
    np.testing.assert_allclose(first[:, 0], want.reshape(2, 6), rtol=2**-18, atol=2**-18)
    with pytest.raises(ValueError, match=r"state has shape .* want"):
        attend(state[:1], slice(0, 3))
    with pytest.raises(ValueError, match='update_rule is "other"'):
        run(place, "LinearAttention", [q, k, v], 2, 27, update_rule="other", q_num_heads=2, kv_num_heads=2)


def recurrent(op: str, x: Any, w: Any, r: Any, b: Any, linear: bool) -> Any:
    """One direction of a recurrent network, by the equations of ONNX: all states."""

    def f(v: Any) -> Any:
        return 1 / (1 + np.exp(-v))

    h, c, made = np.zeros((x.shape[1], r.shape[1])), np.zeros((x.shape[1], r.shape[1])), []
    n = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    wb, rb = np.split(b, 2)
    for step in x:
        xs, hs = np.split(step @ w.T + wb, n, -1), np.split(h @ r.T + rb, n, -1)
        if op == "RNN":
            h = np.tanh(xs[0] + hs[0])
        elif op == "GRU":
            z, reset = f(xs[0] + hs[0]), f(xs[1] + hs[1])
            last = reset * hs[2] if linear else (reset * h) @ np.split(r, 3)[2].T + np.split(rb, 3)[2]
            h = (1 - z) * np.tanh(xs[2] + last) + z * h
        else:
            i, o, forget, cell = (a + b for a, b in zip(xs, hs))
            c = f(forget) * c + f(i) * np.tanh(cell)
            h = f(o) * np.tanh(c)
        made.append(h)
    return np.stack(made)


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op, linear", [("RNN", 0), ("GRU", 0), ("GRU", 1), ("LSTM", 0)])
def test_biases_of_recurrent_networks(place: str, op: str, linear: int, direction: str) -> None:
    """Each bias is added where ONNX says, whether it is added in each step or before the first."""
    both, gates, hidden = 1 + (direction == "bidirectional"), {"RNN": 1, "GRU": 3, "LSTM": 4}[op], 3
    x = rng.standard_normal((5, 2, 4)).astype("float32")
    w, r = ((rng.standard_normal((both, gates * hidden, n)) * 0.3).astype("float32") for n in (4, hidden))
    b = rng.standard_normal((both, 2 * gates * hidden)).astype("float32")
    at: dict[str, Any] = {"linear_before_reset": linear} if op == "GRU" else {}
    got = run(place, op, [x, w, r, b], hidden_size=hidden, direction=direction, **at)
    want = []
    for d in range(both):
        back = d == 1 or direction == "reverse"
        sequence = (x[::-1] if back else x).astype("f8")
        made = recurrent(op, sequence, w[d].astype("f8"), r[d].astype("f8"), b[d].astype("f8"), bool(linear))
        want.append(made[:: -1 if back else 1])
    # A gate is a sum of at most 9 terms, their magnitudes of less than 16 together, so that each step adds at most 9 * 16 * 2**-24
    # to the error of the state before, which the recurrent weights make smaller.
    np.testing.assert_allclose(got, np.stack(want, 1), rtol=0, atol=5 * 9 * 16 * 2**-24)


def test_optimizers_of_several_tensors(place: str) -> None:
    """The operands are lists by role, and so are the results."""
    rate, count = np.array(0.5, "float32"), np.array(3)
    (x, y), (g, h), (v, w) = (rng.standard_normal((2, n)).astype("float32") for n in (4, 4, 4))
    got = run(
        place, "Momentum", [rate, count, x, y, g, h, v, w], 4, domain="ai.onnx.preview.training", alpha=0.5, beta=2.0
    )
    moved = [0.5 * v + 2 * g, 0.5 * w + 2 * h]
    for a, b in zip(got, [x - 0.5 * moved[0], y - 0.5 * moved[1], *moved]):
        np.testing.assert_allclose(a, b, rtol=2**-20, atol=2**-20)
    first = run(
        place, "Momentum", [rate, np.array(0), x, g, v], 2, domain="ai.onnx.preview.training", alpha=0.5, beta=2.0
    )
    np.testing.assert_allclose(first[1], 0.5 * v + g, rtol=2**-20, atol=2**-20)
    with pytest.raises(ValueError, match="has 6 operands; want 2 and 3 for each tensor"):
        run(place, "Momentum", [rate, count, x, y, g, h], 2, domain="ai.onnx.preview.training")


def centered(x: Any, zero: Any) -> Any:
    """Integers less their zero point, which may be None, in 64 bits."""
    return x.astype(np.int64) - (0 if zero is None else zero.astype(np.int64))


QUANTIZED = [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8"), ("int8", "uint8")]


def quanta(dtype: str, *shape: int) -> Any:
    """Integers of 8 bits, the least and the greatest among them."""
    return rng.choice(np.array([0, 1, 90, 127, 128, 200, 255], np.uint8), shape).astype(np.uint8).view(dtype)


@pytest.mark.parametrize(("left", "right"), QUANTIZED)
def test_matmul_integer(place: str, left: str, right: str) -> None:
    """Zero points of the whole, of rows and of columns, beside none."""
    for x, y, rows in [
        (quanta(left, 5, 70), quanta(right, 70, 40), 5),
        (quanta(left, 2, 3, 9), quanta(right, 9, 4), None),
    ]:
        n = y.shape[-1]
        for xz in (None, quanta(left), quanta(left, 1), *([quanta(left, rows)] if rows else [])):
            for yz in (None, np.zeros((), right), quanta(right), quanta(right, n)):
                z = xz[:, None] if xz is not None and xz.ndim and xz.size > 1 else xz
                got = run(place, "MatMulInteger", [x, y, xz, yz])
                assert got.dtype == np.int32
                np.testing.assert_array_equal(got, centered(x, z) @ centered(y, yz))


@pytest.mark.parametrize(("left", "right"), QUANTIZED)
def test_qlinear_matmul(place: str, left: str, right: str) -> None:
    x, y, xz, yz, zero = quanta(left, 6, 30), quanta(right, 30, 20), quanta(left), quanta(right, 20), quanta(left)
    # Scales are powers of 2, so that only the last rounding counts, which is to even.
    xs, ys, scale = (np.array(2.0**-n, "float32") for n in (3, 4, 1))
    got = run(place, "QLinearMatMul", [x, xs, xz, y, np.full(20, ys), yz, scale, zero])
    limits = np.iinfo(left)
    want = np.clip(np.rint((centered(x, xz) @ centered(y, yz)) * 2.0**-6) + int(zero), limits.min, limits.max)
    assert got.dtype == left
    np.testing.assert_array_equal(got, want)


def windows(x: Any, w: Any, pad: int, stride: int, groups: int) -> Any:
    """A convolution of integers in 64 bits, padded with 0."""
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    size = w.shape[2]
    views = sliding_windows(x, (size, size), (2, 3))[:, :, ::stride, ::stride]
    each = [np.einsum("nchwij,ocij->nohw", v, u) for v, u in zip(np.split(views, groups, 1), np.split(w, groups))]
    return np.concatenate(each, 1)


@pytest.mark.parametrize(("left", "right"), QUANTIZED)
def test_quantized_convolutions(place: str, left: str, right: str) -> None:
    """ConvInteger, and QLinearConv with a scale for each channel and a bias, with and without zero points of the weight."""
    limits = np.iinfo(left)
    for channels, filters, size, pad, stride, groups in [
        (5, 7, 3, 1, 1, 1),
        (8, 12, 3, 2, 2, 2),
        (16, 4, 1, 0, 1, 1),
        (4, 4, 3, 1, 1, 4),
    ]:
        x, w = quanta(left, 2, channels, 9, 9), quanta(right, filters, channels // groups, size, size)
        attributes: dict[str, Any] = {"pads": [pad] * 4, "strides": [stride] * 2, "group": groups}
        for xz, wz in [(None, None), (quanta(left), None), (quanta(left), np.zeros((), right)), (quanta(left), quanta(right)), (quanta(left), quanta(right, filters))]:  # fmt: skip
            per_filter = wz if wz is None or wz.ndim == 0 else wz[:, None, None, None]
            exact = windows(centered(x, xz), centered(w, per_filter), pad, stride, groups)
            got = run(place, "ConvInteger", [x, w, xz, wz], **attributes)
            assert got.dtype == np.int32
            np.testing.assert_array_equal(got, exact)
            if xz is None or wz is None:
                continue
            bias, zero = rng.integers(-1000, 1000, filters, np.int32), quanta(left)
            scales = np.float32(2) ** rng.integers(-6, -3, filters).astype("float32")
            operands = [x, np.array(0.25, "float32"), xz, w, scales, np.broadcast_to(wz, filters).copy(), np.array(0.5, "float32"), zero, bias]  # fmt: skip
            got = run(place, "QLinearConv", operands, **attributes)
            scaled = (exact + bias[:, None, None]) * scales.astype(float)[:, None, None] / 2
            np.testing.assert_array_equal(got, np.clip(np.rint(scaled) + int(zero), limits.min, limits.max))


def test_zeros_are_quantized_with_a_scale_of_one(place: str) -> None:
    """As in onnxruntime: with a scale of 0, a division by it gives NaN."""
    for x in (np.zeros((2, 3), "float32"), -np.zeros(4, "float32")):
        got, scale, zero = run(place, "DynamicQuantizeLinear", [x], 3)
        assert (scale, zero, got.any()) == (1, 0, False)


def test_quantized_layers_with_constant_weights(place: str) -> None:
    """Weights of the file are packed when the program is made; what follows a large product runs on pieces of it."""

    def layer(op: str, x: Any, constants: dict[str, Any], **attributes: Any) -> Any:
        model = files.model(
            [files.node(op, ["x", *constants], ["y"], **attributes)],
            [files.port("x", str(x.dtype), [None] * x.ndim)],
            [files.port("y", "float", None)],
            [files.weight(name, array) for name, array in constants.items()],
        )
        return paddle.onnx.load(model, place)(x).numpy()

    one, zero = np.array(1, "float32"), np.array(7, "uint8")
    for m, k, n in [(1, 700, 1100), (300, 70, 1000), (513, 530, 33)]:
        x, w, columns = quanta("uint8", m, k), quanta("int8", k, n), quanta("int8", n)
        exact = centered(x, zero) @ centered(w, None)
        scales = {"xs": one, "xz": zero, "w": w, "ws": one, "wz": np.zeros((), "int8"), "s": one * 1024, "z": zero}
        got = layer("QLinearMatMul", x, scales)
        np.testing.assert_array_equal(got, np.clip(np.rint(exact / 1024) + 7, 0, 255))
        got = layer("MatMulInteger", x, {"w": w, "xz": zero, "wz": columns})
        np.testing.assert_array_equal(got, centered(x, zero) @ centered(w, columns))
    x, w = quanta("uint8", 2, 12, 33, 33), quanta("int8", 40, 12, 3, 3)
    got = layer("ConvInteger", x, {"w": w, "xz": zero}, pads=[1] * 4)
    np.testing.assert_array_equal(got, windows(centered(x, zero), centered(w, None), 1, 1, 1))


@pytest.mark.parametrize(
    ("way", "mode", "shape", "size", "want"),
    [
        # The text of ONNX, not its reference: one element is read at coordinate 0.
        ("pytorch_half_pixel", "cubic", (4, 4), (1, 3), [1.2213068008422852, 3.920844078063965, 7.638703346252441]),
        ("pytorch_half_pixel", "linear", (4, 4), (3, 1), [2.696723461151123, 19.09016990661621, 43.56013488769531]),
        # One element is read in the middle of the region.
        ("tf_crop_and_resize", "cubic", (4, 5), (1, 4), [9.5, 27.910728454589844, 36.22350311279297, 9.5]),
        ("tf_crop_and_resize", "linear", (4, 5), (1, 1), [32.067283630371094]),
        ("tf_crop_and_resize", "nearest", (5, 2), (1, 1), [14.696938514709473]),
        ("align_corners", "cubic", (4, 4), (1, 1), [1.0]),
        ("half_pixel_symmetric", "linear", (4, 5), (1, 2), [28.9310302734375, 40.98339080810547]),
    ],
)
def test_resize_to_one_element(place: str, way: str, mode: str, shape: Any, size: Any, want: list[float]) -> None:
    """Answers of onnxruntime 1.31.1; tests/onnx/resize.py compares with it at all sizes."""
    x = (np.arange(1, shape[0] * shape[1] + 1, dtype="float32") ** 1.5).reshape(1, 1, *shape)
    region = np.array([0, 0, 0.2, -0.1, 1, 1, 0.7, 1.2], "float32") if way == "tf_crop_and_resize" else None
    more: dict[str, Any] = {"nearest_mode": "ceil"} if mode == "nearest" else {}
    if region is not None:
        more["extrapolation_value"] = 9.5
    sizes = np.array([1, 1, *size])
    got = run(
        place, "Resize", [x, region, None, sizes], opset=19, mode=mode, coordinate_transformation_mode=way, **more
    )
    # 16 products with weights of up to 1.5, and coordinates of float32 beside ours of float64.
    np.testing.assert_allclose(got.ravel(), want, rtol=0, atol=2.0**-16 * x.max())
