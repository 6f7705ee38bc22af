"""paddle_mps.onnx: models with strings. tests/onnx has those of the onnx package."""

from __future__ import annotations

import io
import re
import threading
from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle
import paddle_mps.onnxruntime as ort
from paddle_mps._models import _strings

PLACES = ["cpu", "mps"]
WORDS = np.array(["b", "a", "", "b", "ü", "z\x00", "a"], object)
ML = "ai.onnx.ml"


def load(
    nodes: list[bytes], x: str, outputs: dict[str, str], place: str = "cpu", weights: Any = (), **more: Any
) -> Any:
    """A model of an input x of a type, and of outputs by name and type; shapes are open."""
    ports = [files.port(name, elem, None) for name, elem in outputs.items()]
    given = [files.port(name, x, None) for name in more.pop("inputs", ["x"])]
    made = files.model(nodes, given, ports, weights, opset=more.pop("opset", 20), domains=[ML])
    return paddle.onnx.load(made, place)


def strings(*list_of: str) -> np.ndarray[Any, Any]:
    return np.array(list_of, object)


def same(got: Any, want: Any) -> None:
    """Results are objects of str, in the shape that is wanted."""
    assert isinstance(got, np.ndarray) and got.dtype == object and got.shape == np.shape(want)
    assert got.tolist() == np.asarray(want, object).tolist()


@pytest.mark.parametrize("place", PLACES)
def test_strings_are_moved_as_other_elements(place: str) -> None:
    model = load(
        [
            files.node("Reshape", ["x", "shape"], ["square"]),
            files.node("Transpose", ["square"], ["turned"]),
            files.node("Gather", ["turned", "at"], ["taken"], axis=0),
            files.node("Concat", ["taken", "more"], ["y"], axis=0),
            files.node("Pad", ["x", "pads"], ["padded"]),
            files.node("Equal", ["x", "b"], ["equal"]),
            files.node("Where", ["equal", "other", "x"], ["where"]),
        ],
        "string",
        {"y": "string", "padded": "string", "equal": "bool", "where": "string"},
        place,
        [
            files.weight("shape", np.array([2, 3])),
            files.weight("at", np.array([2, 0])),
            files.weight("more", np.array([["new", "a"]], object)),
            files.weight("pads", np.array([1, 0])),
            files.weight("b", np.array("b", object)),
            files.weight("other", np.array("a", object)),
        ],
    )
    assert model.inputs[0].dtype is None and model.inputs[0].type == "string"
    x = strings("a", "b", "c", "d", "ä", "b")
    y, padded, equal, where = model(x)
    same(y, [["c", "b"], ["a", "d"], ["new", "a"]])
    same(padded, ["", *x])
    assert equal.tolist() == [False, True, False, False, False, True]
    same(where, ["a", "a", "c", "d", "ä", "a"])


@pytest.mark.parametrize(
    "x", [WORDS, WORDS.astype(str)[:5], np.array([b"x", b"yy"]), ["p", "q"], np.array("0-d", object)]
)
def test_arrays_that_are_strings(x: Any) -> None:
    model = load([files.node("Identity", ["x"], ["y"])], "string", {"y": "string"})
    want = [s.decode() if isinstance(s, bytes) else s for s in np.asarray(x, object).reshape(-1).tolist()]
    same(model(x), np.array(want, object).reshape(np.shape(x)))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3), (2, 0, 1)])
def test_no_strings(shape: tuple[int, ...]) -> None:
    model = load([files.node("StringConcat", ["x", "x"], ["y"])], "string", {"y": "string"})
    same(model(np.empty(shape, object)), np.empty(shape, object))


def test_what_is_no_string() -> None:
    model = load([files.node("Identity", ["x"], ["y"])], "string", {"y": "string"})
    wrong: list[tuple[Any, type[Exception], str]] = [
        (np.array([1, 2]), TypeError, "[onnx] input 'x' is an array of int64; want one of str"),
        (paddle.ones([2]), TypeError, "[onnx] input 'x' is a tensor of float32; want an array of str"),
        (np.array(["a", 1.5], object), TypeError, "[onnx] element 1 of input 'x' is float; want str"),
        (np.array([None], object), TypeError, "[onnx] element 0 of input 'x' is NoneType; want str"),
        (["a", ["b"]], TypeError, "element"),
        (strings("a", "\ud800"), ValueError, "[onnx] element 1 of input 'x' cannot be UTF-8"),
        (np.array([b"\xff"], object), ValueError, "[onnx] element 0 of input 'x' cannot be UTF-8"),
    ]
    for x, error, message in wrong:
        with pytest.raises(error, match=re.escape(message)):
            model(x)
    numbers = load([files.node("Identity", ["x"], ["y"])], "float", {"y": "float"})
    with pytest.raises((TypeError, ValueError)):
        numbers(strings("a"))


def test_split_and_unique_of_what_was_split() -> None:
    """The number of words follows from the strings, and so does the number of different ones."""
    model = load(
        [
            files.node("StringSplit", ["x"], ["words", "counts"]),
            files.node("Reshape", ["words", "flat"], ["all"]),
            files.node("Unique", ["all"], ["y", "first", "which", "often"]),
            files.node("Shape", ["words"], ["shape"]),
        ],
        "string",
        {"y": "string", "often": "int64", "counts": "int64", "shape": "int64", "which": "int64"},
        weights=[files.weight("flat", np.array([-1]))],
    )
    for x in (strings("the cat the dog", " a  cat "), strings("one"), strings("", " "), strings("ä b", "b ä c d e")):
        y, often, counts, shape, which = model(x)
        split = [s.split() for s in x]
        width = max(map(len, split))
        padded = [word for words in split for word in words + [""] * (width - len(words))]
        want, inverse, times = np.unique(np.array(padded, object), return_inverse=True, return_counts=True)
        same(y, want)
        assert often.tolist() == times.tolist() and which.tolist() == inverse.tolist()
        assert counts.tolist() == list(map(len, split)) and shape.tolist() == [len(x), width]


@pytest.mark.parametrize("delimiter", ["", "-", "--", "ü"])
@pytest.mark.parametrize("most", [None, 0, 1, 2, 9])
def test_split_as_python_does(delimiter: str, most: int | None) -> None:
    more: dict[str, Any] = {"delimiter": delimiter} if delimiter else {}
    if most is not None:
        more["maxsplit"] = most
    model = load([files.node("StringSplit", ["x"], ["y", "n"], **more)], "string", {"y": "string", "n": "int64"})
    x = strings("", "-", "a-b--c", "  a b\tc  ", "ü-ü--üü", "----", "a\x00-b", " ")
    want = [s.split(delimiter or None, -1 if most is None else most) for s in x]
    y, n = model(x)
    assert n.tolist() == list(map(len, want))
    width = max(map(len, want))
    same(y, [parts + [""] * (width - len(parts)) for parts in want])


def test_casts() -> None:
    """Floats have 8 significant digits, integers all of theirs. Text becomes the number that Python reads."""
    rng = np.random.default_rng(0)
    numbers = {
        "float": np.append(
            rng.standard_normal(500) * 10.0 ** rng.integers(-44, 38, 500),
            [0, -0.0, 1e16, 1e15, 1e-4, 9e-5, 16777216, np.inf, -np.inf, np.nan],
        ).astype("float32"),
        "double": np.append(rng.standard_normal(500) * 10.0 ** rng.integers(-320, 308, 500), [0, 5e-324, 1e22]),
        "float16": rng.integers(0, 2**16, 2000).astype("uint16").view("float16"),
        "int64": np.array([0, -1, 2**63 - 1, -(2**63)]),
        "int8": np.arange(-128, 128).astype("int8"),
        "uint8": np.arange(256).astype("uint8"),
        "uint16": np.array([0, 2**15, 2**16 - 1], "uint16"),
        "uint64": np.array([0, 2**63, 2**64 - 1], "uint64"),
        "bool": np.array([True, False]),
    }
    for elem, x in numbers.items():
        to = load([files.node("Cast", ["x"], ["y"], to=files.ELEMS["string"])], elem, {"y": "string"})(x)
        if x.dtype.kind == "f":
            names = {"nan": "NaN", "inf": "INF", "-inf": "-INF"}
            text = [f"{n:.8g}" for n in x.tolist()]
            want = [names.get(t, t) for t in text]
            numbers_of = np.array(text, "float64").astype(x.dtype)
        else:
            want, numbers_of = x.astype("uint8" if elem == "bool" else x.dtype).astype(str).tolist(), x
        same(to, want)
        back = load([files.node("Cast", ["x"], ["y"], to=files.ELEMS[elem])], "string", {"y": elem})(to)
        got = back if isinstance(back, np.ndarray) else back.numpy()
        if elem == "float":  # NumPy would round twice
            numbers_of = np.array([np.float32(t) for t in text])
        np.testing.assert_array_equal(got, numbers_of)


def test_text_that_is_a_number_or_not() -> None:
    def cast(elem: str, *x: str) -> Any:
        model = load([files.node("Cast", ["x"], ["y"], to=files.ELEMS[elem])], "string", {"y": elem})
        return model(strings(*x)).tolist()

    assert cast("float", " 1e3", "-INF", "+inf", "1e999", ".5") == [1000.0, -np.inf, np.inf, np.inf, 0.5]
    assert cast("int32", "100.5", "-1e3", "+7", "2147483647") == [100, -1000, 7, 2147483647]
    assert cast("bool", "True", "0", "false", "-2.5") == [True, False, False, True]
    for elem, x in [
        ("float", "Hello World!"), ("float", ""), ("int32", "2147483648"), ("int8", "1e3"), ("int64", "nan"),
        ("uint8", "-1"), ("uint8", "256"), ("bool", "yes"), ("int64", "9.3e18"), ("int64", "inf"),
    ]:  # fmt: skip
        with pytest.raises(ValueError, match=re.escape(f'(Cast-20): element 1 is "{x}"; want a number of type ')):
            cast(elem, "1", x)
    with pytest.raises(ValueError, match=r'element 0 is "x{40}"\.\.\.;'):
        cast("float", "x" * 1000)


@pytest.mark.parametrize(
    ("settings", "want"),
    [
        ({}, ["The", "THE", "cat", "Äh", ""]),
        ({"stopwords": ["the", ""]}, ["cat", "Äh"]),
        ({"stopwords": ["the", "äh"], "is_case_sensitive": 1}, ["The", "THE", "cat", "Äh", ""]),
        ({"stopwords": ["The", "ÄH"], "case_change_action": "UPPER"}, ["CAT", ""]),
        ({"stopwords": ["The"], "is_case_sensitive": 1, "case_change_action": "LOWER"}, ["the", "cat", "äh", ""]),
        ({"stopwords": ["the", "cat", "äh", ""]}, [""]),
    ],
)
def test_normalizer(settings: dict[str, Any], want: list[str]) -> None:
    model = load([files.node("StringNormalizer", ["x"], ["y"], **settings)], "string", {"y": "string"})
    x = strings("The", "THE", "cat", "Äh", "")
    same(model(x), want)
    same(model(x[None]), [want])
    with pytest.raises(ValueError, match="want \\[words\\] or \\[1, words\\]"):
        model(np.stack([x, x]))


def test_labels() -> None:
    words = strings("b", "zz", "", "a", "b")
    cases: list[tuple[dict[str, Any], dict[str, Any], Any, list[Any]]] = [
        ({"keys_strings": ["a", "b", ""]}, {"values_int64s": [7, 8, 9], "default_int64": 5}, words, [8, 5, 9, 7, 8]),
        ({"keys_strings": ["a", "b", "b"]}, {"values_strings": ["A", "B", "C"]}, words, ["C", "_Unused", "_Unused", "A", "C"]),
        ({"keys_int64s": [2**62, -5, 0]}, {"values_strings": ["p", "q", "r"]}, np.array([0, 2**62, 1, -5, 2**62 - 1]), ["r", "p", "_Unused", "q", "_Unused"]),
        ({"keys_floats": [0.5, float("nan"), -1.0]}, {"values_int64s": [1, 2, 3]}, np.array([0.5, np.nan, -1, 0], "float32"), [1, 2, 3, -1]),
    ]  # fmt: skip
    for keys, values, x, want in cases:
        strings_out = "values_strings" in values
        elem = "string" if x.dtype == object else "int64" if x.dtype == np.int64 else "float"
        ports = [files.port("x", elem, None)], [files.port("y", "string" if strings_out else "int64", None)]
        made = files.model([files.node("LabelEncoder", ["x"], ["y"], ML, **keys, **values)], *ports)
        made += files.field(8, files.field(1, ML) + files.field(2, 2))
        model = paddle.onnx.load(made, "cpu")
        assert model(x).tolist() == want
        assert model(x[:0]).tolist() == []
        assert model(x.reshape(1, -1, 1)).tolist() == [[[w] for w in want]]
    mapper = load(
        [files.node("CategoryMapper", ["x"], ["y"], ML, cats_strings=["a", "b"], cats_int64s=[3, 4])],
        "int64",
        {"y": "string"},
    )
    assert mapper(np.array([4, 0, 3])).tolist() == ["b", "_Unused", "a"]


def test_many_labels() -> None:
    """The search among numbers finds each key, and nothing beside it."""
    for n in (1, 2, 3, 4, 7, 8, 9, 1000):
        keys = np.random.default_rng(n).permutation(3 * n)[:n]
        made = files.model(
            [files.node("LabelEncoder", ["x"], ["y"], ML, keys_int64s=keys.tolist(), values_int64s=list(range(n)))],
            [files.port("x", "int64", None)],
            [files.port("y", "int64", None)],
        )
        model = paddle.onnx.load(made + files.field(8, files.field(1, ML) + files.field(2, 2)), "cpu")
        places = {int(key): i for i, key in enumerate(keys)}
        x = np.arange(3 * n + 1)
        assert model(x).tolist() == [places.get(int(k), -1) for k in x]


def test_sequences_and_loops() -> None:
    """A sequence of strings goes in and out, and a loop joins strings, each round behind the last one."""
    body = files.graph(
        [files.node("StringConcat", ["s", "dot"], ["t"]), files.node("Identity", ["go"], ["on"])],
        [files.port("i", "int64", []), files.port("go", "bool", []), files.port("s", "string", None)],
        [files.port("on", "bool", []), files.port("t", "string", None)],
    )
    made = files.model(
        [
            files.node("SequenceAt", ["x", "one"], ["second"]),
            files.node("Loop", ["three", "", "second"], ["y"], body=body),
            files.node("SequenceInsert", ["x", "y"], ["all"]),
            files.node("ConcatFromSequence", ["all"], ["flat"], axis=0),
            files.node("SplitToSequence", ["flat"], ["parts"], keepdims=0),
        ],
        [files.port("x", "string", ["n"], sequence=True), files.port("z", "string", None)],
        [files.port("all", "string", None, sequence=True), files.port("parts", "string", None, sequence=True), files.port("z", "string", None)],
        [files.weight("one", np.array(1)), files.weight("three", np.array(3)), files.weight("dot", np.array(".", object))],
        opset=20,
    )  # fmt: skip
    model = paddle.onnx.load(made, "cpu")
    for _ in range(2):
        all_of, parts, z = model([strings("a"), strings("b", "")], strings("z"))
        assert [x.tolist() for x in all_of] == [["a"], ["b", ""], ["b...", "..."]]
        assert [x.item() for x in parts] == ["a", "b", "", "b...", "..."]
        same(z, ["z"])


def test_words_are_counted() -> None:
    more: dict[str, Any] = {"mode": "TF", "min_gram_length": 1, "max_gram_length": 2, "max_skip_count": 0}
    pool: dict[str, Any] = {"pool_strings": ["a", "b", "a", "b"], "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2]}
    model = load([files.node("TfIdfVectorizer", ["x"], ["y"], **more, **pool)], "string", {"y": "float"})
    assert model(strings("a", "b", "c", "a", "b", "a")).tolist() == [3, 2, 2]
    numbers = load([files.node("TfIdfVectorizer", ["x"], ["y"], **more, **pool)], "int64", {"y": "float"})
    with pytest.raises(ValueError, match="want strings and pool_strings, or integers and pool_int64s"):
        numbers(np.array([1, 2]))


@pytest.mark.parametrize("op", ["Add", "Less", "Max", "ReduceMax", "CumSum", "Neg", "Abs", "TopK"])
def test_operators_that_take_no_strings(op: str) -> None:
    model = load([files.node(op, ["x", "x"], ["y"])], "string", {"y": "string"})
    with pytest.raises(paddle.UnsupportedError, match=f"\\({op}-20\\): elements of type string are not supported"):
        model(strings("a"))


@pytest.mark.parametrize("op", ["Gather", "Reshape"])
def test_indices_and_shapes_are_no_strings(op: str) -> None:
    """The error is about them, and does not want the data to be strings too."""
    weights = [files.weight("w", np.ones(3, np.float32))]
    model = load([files.node(op, ["w", "x"], ["y"])], "string", {"y": "float"}, weights=weights)
    with pytest.raises(paddle.UnsupportedError, match=f"\\({op}-20\\): operand 1 of elements of type string is not"):
        model(strings("a"))


def test_strings_are_no_zero_points() -> None:
    model = load(
        [files.node("QuantizeLinear", ["s", "s", "x"], ["y"])],
        "string",
        {"y": "string"},
        weights=[files.weight("s", np.ones(1, "float32"))],
    )
    with pytest.raises(paddle.UnsupportedError, match="quantized elements of type string are not supported"):
        model(strings("a"))


def test_strings_decide_no_shapes() -> None:
    model = load(
        [files.node("Cast", ["x"], ["n"], to=7), files.node("ConstantOfShape", ["n"], ["y"])], "string", {"y": "float"}
    )
    with pytest.raises(paddle.UnsupportedError, match="depends on the elements of an input"):
        model(strings("3"))


def test_no_run_grows_without_bound() -> None:
    """Each round joins the string with itself: 2**40 bytes."""
    body = files.graph(
        [files.node("StringConcat", ["s", "s"], ["t"]), files.node("Identity", ["go"], ["on"])],
        [files.port("i", "int64", []), files.port("go", "bool", []), files.port("s", "string", None)],
        [files.port("on", "bool", []), files.port("t", "string", None)],
    )
    model = load(
        [files.node("Loop", ["n", "", "x"], ["y"], body=body)], "string", {"y": "string"},
        weights=[files.weight("n", np.array(25))],
    )  # fmt: skip
    assert len(model(strings("a" * 2)).item()) == 2**26
    with pytest.raises(paddle.OutOfMemoryError, match="the strings of a run take more than 1073741824 bytes"):
        model(strings("a" * 64))


def test_threads_have_tables_of_their_own() -> None:
    model = load(
        [files.node("StringConcat", ["x", "mark"], ["y"]), files.node("Equal", ["x", "x"], ["same"])],
        "string",
        {"y": "string", "same": "bool"},
        weights=[files.weight("mark", np.array("!", object))],
    )
    wrong: list[Any] = []

    def work(number: int) -> None:
        for i in range(30):
            x = strings(*(f"{number} {i} {j}" for j in range(20)))
            y, _ = model(x)
            if y.tolist() != [s + "!" for s in x]:
                wrong.append((x, y))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_sessions(tmp_path: Any) -> None:
    made = files.model(
        [files.node("StringConcat", ["x", "x"], ["y"])],
        [files.port("x", "string", ["n"])],
        [files.port("y", "string", ["n"])],
        opset=20,
    )
    session = ort.InferenceSession(made, providers=["CPUExecutionProvider"])
    assert str(session.get_inputs()[0]) == "NodeArg(name='x', type='tensor(string)', shape=['n'])"
    for x in (strings("a", "ü"), np.array(["a", "ü"]), ["a", "ü"]):
        (y,) = session.run(None, {"x": x})
        same(y, ["aa", "üü"])
    failure = ort.capi.onnxruntime_pybind11_state.InvalidArgument
    with pytest.raises(failure, match=re.escape("Actual: (tensor(int64)) , expected: (tensor(string))")):
        session.run(None, {"x": np.array([1])})
    with pytest.raises(failure, match="Invalid rank for input"):
        session.run(None, {"x": strings("a")[None]})


def test_wrong_strings_in_files() -> None:
    with pytest.raises(ValueError, match='element 1 of tensor "w" is not UTF-8'):
        load(
            [files.node("StringConcat", ["x", "w"], ["y"])],
            "string",
            {"y": "string"},
            weights=[files.weight("w", np.array(["a", b"\xff"], object))],
        )(strings("a"))
    short = files.weight("w", np.array(["a"], object)).replace(files.field(1, 1), files.field(1, 2), 1)
    with pytest.raises(ValueError, match='tensor "w" of string\\[2\\] has 1 element in string_data; want 2'):
        load([files.node("StringConcat", ["x", "w"], ["y"])], "string", {"y": "string"}, weights=[short])(strings("a"))


@pytest.mark.parametrize("place", PLACES)
def test_tensors_of_strings_are_no_numbers(place: str) -> None:
    """No function of the package returns one; the elements that the library has for one are never shown as numbers."""
    x = _strings.tensor_of(WORDS, paddle.zeros([0], place=place).place, "x")
    for name, use in (
        ("numpy", lambda: x.numpy()),
        ("tolist", lambda: x.tolist()),
        ("item", lambda: x[0].item()),
        ("array", lambda: np.asarray(x)),
        ("to_dlpack", lambda: np.from_dlpack(x)),
        ("tensor_map", lambda: paddle.save(x, io.BytesIO())),
        ("tensor_map", lambda: paddle.save([x], io.BytesIO(), use_binary_format=False)),
    ):
        with pytest.raises(TypeError, match=rf"^\[{name}\] got a tensor of strings; want tensor_get_strings"):
            use()
    for shape in ((7,), (0,), (), (40, 40)):
        y = _strings.tensor_of(np.full(shape, "a", object), x.place, "y")
        assert repr(y).endswith(" strings)")
    assert (_strings.array_of(x) == WORDS).all()
