"""paddle_mps.onnx: models that take or return sequences and optionals. tests/onnx has more such models."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle

PLACES = ["cpu", "mps"]


def load(
    nodes: list[bytes], inputs: list[bytes], outputs: list[bytes], place: str = "cpu", weights: Any = ()
) -> paddle.onnx.Model:
    return paddle.onnx.load(files.model(nodes, inputs, outputs, weights), place)


def joining(place: str = "cpu") -> paddle.onnx.Model:
    """y = x and the tensors of s, one after the other; n = the sequence without its last tensor, and its length."""
    return load(
        [
            files.node("SequenceInsert", ["s", "x", "zero"], ["all"]),
            files.node("ConcatFromSequence", ["all"], ["y"], axis=0),
            files.node("SequenceErase", ["all"], ["rest"]),
            files.node("SequenceLength", ["rest"], ["n"]),
        ],
        [files.port("s", "float", ["n"], sequence=True), files.port("x", "float", ["n"])],
        [
            files.port("y", "float", ["m"]),
            files.port("rest", "float", ["n"], sequence=True),
            files.port("n", "int64", []),
        ],
        place,
        [files.weight("zero", np.array([0], "int64"))],
    )


@pytest.mark.parametrize("place", PLACES)
def test_lists_of_any_length(place: str) -> None:
    model = joining(place)
    assert [p.type for p in model.inputs] == ["a sequence of float[n]", "float[n]"]
    x = np.arange(3, dtype="float32")
    for lengths in ([], [2], [4, 0, 1], [2], [1] * 20):
        s = [np.full(n, i, "float32") for i, n in enumerate(lengths)]
        y, rest, n = model(s, x)
        np.testing.assert_array_equal(y, np.concatenate([x, *s]))
        assert isinstance(rest, list) and len(rest) == n.item() == len(s)
        for got, want in zip(rest, [x, *s]):
            np.testing.assert_array_equal(got, want)
        assert model.run({"s": s, "x": x})["n"].item() == len(s)


def test_each_form_has_one_program() -> None:
    model = joining()
    x = np.ones(2, "float32")
    for _ in range(3):
        for n in (1, 2):
            model([x] * n, x)
    assert model._program.info().compilations == 2
    for n in range(100):  # more forms than are kept
        assert model([x] * n, x)[2].item() == n


@pytest.mark.parametrize("place", PLACES)
def test_optionals(place: str) -> None:
    model = load(
        [files.node("OptionalHasElement", ["o"], ["has"]), files.node("Identity", ["o"], ["same"])],
        [files.port("o", "float", [2], sequence=True, optional=True)],
        [files.port("has", "bool", []), files.port("same", "float", [2], sequence=True, optional=True)],
        place,
    )
    assert model.inputs[0].type == "optional a sequence of float[2]"
    has, same = model(None)
    assert not has.item() and same is None
    x = np.ones(2, "float32")
    has, same = model([x, x + 1])
    assert has.item()
    np.testing.assert_array_equal(np.stack([v.numpy() for v in same]), [x, x + 1])
    has, same = model([])
    assert has.item() and same == []


def test_elements_of_a_sequence_decide() -> None:
    model = load(
        [
            files.node("SequenceAt", ["s", "zero"], ["shape"]),
            files.node("Reshape", ["x", "shape"], ["y"]),
        ],
        [files.port("s", "int64", [None], sequence=True), files.port("x", "float", [None])],
        [files.port("y", "float", None)],
        weights=[files.weight("zero", np.array([0], "int64"))],
    )
    x = np.arange(6, dtype="float32")
    for shape in ([2, 3], [6, 1], [2, 3]):
        np.testing.assert_array_equal(model([np.array(shape)], x), x.reshape(shape))
    np.testing.assert_array_equal(model([np.array([3, 2]), np.array([1])], x), x.reshape(3, 2))


def test_behind_a_size_that_elements_tell() -> None:
    model = load(
        [
            files.node("SequenceAt", ["s", "zero"], ["x"]),
            files.node("NonZero", ["x"], ["at"]),
            files.node("SequenceConstruct", ["at", "at"], ["y"]),
        ],
        [files.port("s", "float", [None], sequence=True)],
        [files.port("y", "int64", [1, None], sequence=True)],
        weights=[files.weight("zero", np.array([0], "int64"))],
    )
    for x in ([1, 0, 2], [0, 0, 0], [1, 1, 1]):
        a, b = model([np.array(x, "float32")])
        assert a.tolist() == b.tolist() == [np.flatnonzero(x).tolist()]


@pytest.mark.parametrize("place", PLACES)
def test_sequences_pass_such_a_size(place: str) -> None:
    """Sequences of inputs, of computed tensors and of none are read behind it."""
    model = load(
        [
            files.node("Neg", ["x"], ["minus"]),
            files.node("SequenceConstruct", ["minus", "x", "two"], ["made"]),
            files.node("SequenceEmpty", [], ["none"]),
            files.node("NonZero", ["x"], ["at"]),
            files.node("SequenceInsert", ["none", "at"], ["some"]),
            files.node("SequenceLength", ["none"], ["n"]),
            files.node("ConcatFromSequence", ["made"], ["joined"], axis=0),
            files.node("Compress", ["joined", "joined_is"], ["y"]),
            files.node("SequenceInsert", ["s", "y"], ["z"]),
        ],
        [
            files.port("x", "float", [3]),
            files.port("s", "float", [None], sequence=True),
            files.port("joined_is", "bool", [None]),
        ],
        [
            files.port("some", "int64", None, sequence=True),
            files.port("n", "int64", []),
            files.port("z", "float", None, sequence=True),
        ],
        place,
        [files.weight("two", np.full(2, 2, "float32"))],
    )
    for x, s, keep in (
        ([1, 0, 2], [[5]], [0, 1, 1, 0, 0, 0, 1, 1]),
        ([0, 0, 0], [], [1] * 8),
        ([1, 1, 1], [[1], [2, 3]], [0]),
    ):
        some, n, z = model(np.array(x, "float32"), [np.array(v, "float32") for v in s], np.array(keep, bool))
        assert [v.tolist() for v in some] == [[np.flatnonzero(x).tolist()]] and n.item() == 0
        joined = [-v for v in x] + x + [2, 2]
        assert [v.tolist() for v in z] == [*s, [v for v, k in zip(joined, keep) if k]]


def test_sequences_of_rounds_are_not_stacked() -> None:
    body = files.graph(
        [files.node("SequenceConstruct", ["x"], ["s"]), files.node("Identity", ["go"], ["on"])],
        [files.port("i", "int64", []), files.port("go", "bool", [])],
        [files.port("on", "bool", []), files.port("s", "float", None, sequence=True)],
    )
    model = load(
        [files.node("Loop", ["n", ""], ["y"], body=body)],
        [files.port("n", "int64", []), files.port("x", "float", [None])],
        [files.port("y", "float", None)],
    )
    with pytest.raises(ValueError, match=r"Loop-\d+\): a sequence or nothing is to be stacked; want tensors"):
        model(np.array(2), np.ones(2, "float32"))


def test_wrong_arguments() -> None:
    model, x = joining(), np.ones(2, "float32")
    for given in (x, None, paddle.to_tensor(x, place="cpu")):
        with pytest.raises(TypeError, match=r"input 's' is .*; want a sequence of float\[n\]"):
            model(given, x)
    with pytest.raises(TypeError, match="input 'x' is NoneType; want float"):
        model([], None)
    with pytest.raises(TypeError, match="input 's' is complex64; want float32"):
        model([x.astype("complex64")], x)
    with pytest.raises(ValueError, match=r'input "s" is int64\[2\]; want a sequence of float\[n\]'):
        model([paddle.to_tensor([1, 2], place="cpu")], x)
    with pytest.raises(ValueError, match=r"is given as 5000 tensors; want a sequence of float.* of at most 4096"):
        model([x] * 5000, x)
    with pytest.raises(paddle.UnsupportedError, match="the outputs are 4097 tensors; want at most 4096"):
        load(
            [files.node("SequenceInsert", ["s", "x"], ["more"]), files.node("SequenceInsert", ["more", "x"], ["y"])],
            [files.port("s", "float", None, sequence=True), files.port("x", "float", None)],
            [files.port("y", "float", None, sequence=True)],
        )([x] * 4095, x)
