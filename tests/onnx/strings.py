"""Models with strings, beside onnxruntime: operators on strings of all kinds, with random attributes.

python -m pytest tests/onnx/strings.py
"""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np
import pytest

import paddle_mps

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
onnxruntime = pytest.importorskip("onnxruntime")

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about floats that become infinite

STRING, INT64 = onnx.TensorProto.STRING, onnx.TensorProto.INT64
WORDS = ["", *"a b ab The THE the Ä ä a-b--c - 1 2.5 \x00x z\x00 ß 日本".split(" "), "cat dog", "a\nb"]
LABELS = "ai.onnx.ml"
ROUNDS = 40


def strings(rng: random.Random, *shape: int) -> Any:
    """An array of words."""
    made = np.empty(int(np.prod(shape)), object)
    made[:] = [rng.choice(WORDS) for _ in range(made.size)]
    return made.reshape(shape)


def same(node: Any, inputs: list[Any], outputs: list[int]) -> None:
    """Both libraries compute the same of a node, whose operands are x0, x1 and so on and whose results are y0, y1 and so on."""
    ports = [
        helper.make_tensor_value_info(f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)
        for i, x in enumerate(inputs)
    ]
    results = [helper.make_tensor_value_info(f"y{i}", elem, None) for i, elem in enumerate(outputs)]
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid(LABELS, 4)]
    file = helper.make_model(helper.make_graph([node], "g", ports, results), opset_imports=opsets, ir_version=9)
    data = file.SerializeToString()
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    wanted = session.run(None, {f"x{i}": x for i, x in enumerate(inputs)})
    made = paddle_mps.onnx.load(data, "cpu")(*inputs)
    for x, want in zip(made if isinstance(made, tuple) else (made,), wanted):
        got = x if isinstance(x, np.ndarray) else x.numpy()
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        np.testing.assert_array_equal(got, want)


def node(op: str, inputs: int, outputs: int, domain: str = "", **attributes: Any) -> Any:
    """A node with operands x0, x1 and so on."""
    return helper.make_node(
        op, [f"x{i}" for i in range(inputs)], [f"y{i}" for i in range(outputs)], domain=domain, **attributes
    )


@pytest.fixture(params=range(ROUNDS))
def rng(request: Any) -> random.Random:
    return random.Random(request.param)


def test_concat(rng: random.Random) -> None:
    x, y = strings(rng, 2, 3), strings(rng, *rng.choice([(2, 3), (3,), (1,), (2, 1), ()]))
    same(node("StringConcat", 2, 1), [x, y], [STRING])


def test_split(rng: random.Random) -> None:
    """onnxruntime has no parts of an empty string, and no white space but blanks."""
    x = np.array([s for s in strings(rng, 9).tolist() if s and "\n" not in s] or ["a"], object)
    more: dict[str, Any] = {"maxsplit": rng.choice([0, 1, 2])} if rng.random() < 0.5 else {}
    same(node("StringSplit", 1, 2, delimiter=rng.choice(["-", "--", "a", " "]), **more), [x], [STRING, INT64])


def test_normalizer(rng: random.Random) -> None:
    more: dict[str, Any] = {"is_case_sensitive": rng.choice([0, 1]), "locale": "C.UTF-8"}
    more["case_change_action"] = rng.choice(["LOWER", "UPPER", "NONE"])
    if rng.random() < 0.7:
        more["stopwords"] = rng.sample(WORDS, rng.choice([1, 3, 8]))
    same(node("StringNormalizer", 1, 1, **more), [strings(rng, *rng.choice([(4,), (1, 4), (1,), (1, 1)]))], [STRING])


def test_equal_and_unique(rng: random.Random) -> None:
    same(node("Equal", 2, 1), [strings(rng, 4, 3), strings(rng, 3)], [onnx.TensorProto.BOOL])
    same(node("Unique", 1, 4, sorted=rng.choice([0, 1])), [strings(rng, 8)], [STRING, INT64, INT64, INT64])


def test_labels(rng: random.Random) -> None:
    words, numbers = rng.sample(WORDS, rng.choice([1, 3, 9])), rng.sample(range(-9, 9), 5)
    x = np.array([rng.randint(-10, 10) for _ in range(6)])
    floats = np.array([rng.choice([float("nan"), 0.5, -1, 0]) for _ in range(6)], "float32")
    cases: list[tuple[Any, dict[str, Any], int]] = [
        (strings(rng, 2, 3), {"keys_strings": words, "values_int64s": list(range(len(words)))}, INT64),
        (strings(rng, 6), {"keys_strings": words, "values_strings": [w + "!" for w in words]}, STRING),
        (x, {"keys_int64s": numbers, "values_strings": [str(n) for n in numbers], "default_string": "none"}, STRING),
        (floats, {"keys_floats": [float("nan"), 0.5, -1.0], "values_int64s": [1, 2, 3]}, INT64),
    ]
    for given, more, elem in cases:
        same(node("LabelEncoder", 1, 1, LABELS, **more), [given], [elem])


def test_words_are_counted(rng: random.Random) -> None:
    more: dict[str, Any] = {
        "mode": rng.choice(["TF", "IDF", "TFIDF"]),
        "max_skip_count": rng.choice([0, 1]),
        "weights": [1.0, 2.0, 3.0],
    }
    pool: dict[str, Any] = {"pool_strings": ["a", "b", "a", "b"], "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2]}
    x = strings(rng, *rng.choice([(9,), (2, 9)]))
    same(
        node("TfIdfVectorizer", 1, 1, min_gram_length=1, max_gram_length=2, **more, **pool),
        [x],
        [onnx.TensorProto.FLOAT],
    )


def test_casts(rng: random.Random) -> None:
    numbers = np.random.default_rng(rng.randrange(2**30))
    floats = numbers.standard_normal(50) * 10.0 ** numbers.integers(-30, 30, 50)
    floats[:6] = [0, -0.0, 3, float("nan"), float("inf"), -float("inf")]
    for x in [
        floats.astype("float32"),
        floats,
        floats.astype("float16"),
        numbers.integers(-(2**63), 2**63 - 1, 50),
        numbers.integers(0, 2**64 - 1, 50, "uint64"),
        floats > 0,
    ]:
        same(node("Cast", 1, 1, to=STRING), [x], [STRING])
    texts = np.array([f"{n:.9g}" for n in floats.tolist()], object)
    for elem in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
        same(node("Cast", 1, 1, to=elem), [texts], [elem])
    whole = np.array([str(n) for n in numbers.integers(-128, 128, 50)], object)
    for elem in (INT64, onnx.TensorProto.INT32, onnx.TensorProto.INT8, onnx.TensorProto.BOOL):
        same(node("Cast", 1, 1, to=elem), [whole], [elem])
