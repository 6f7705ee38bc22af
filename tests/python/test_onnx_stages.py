"""paddle_mps.onnx: results whose size only elements tell, within branches, loops and functions."""

from __future__ import annotations

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle

pytestmark = pytest.mark.parametrize("place", ["cpu", "mps"])

rng = np.random.default_rng(8)
X = files.port("x", "float", [None])


def branching(nodes: list[bytes]) -> list[bytes]:
    """y = these nodes of square = x * x where yes is true, and x elsewhere."""
    chosen = files.graph(nodes, [], [files.port("y", "float", None)])
    otherwise = files.graph([files.node("Identity", ["x"], ["y"])], [], [files.port("y", "float", None)])
    return [
        files.node("Mul", ["x", "x"], ["square"]),
        files.node("If", ["yes"], ["y"], then_branch=chosen, else_branch=otherwise),
        files.node("Sub", ["x", "square"], ["z"]),
    ]


COMPRESSED = [
    files.node("Greater", ["square", "one"], ["large"]),
    files.node("Compress", ["square", "large"], ["kept"]),
    files.node("Less", ["kept", "nine"], ["small"]),
    files.node("Compress", ["kept", "small"], ["few"]),
    files.node("Neg", ["few"], ["y"]),
]
NUMBERS = [files.weight("one", np.float32(1)), files.weight("nine", np.float32(9))]


def test_in_a_branch(place: str) -> None:
    model = paddle.onnx.load(
        files.model(
            branching(COMPRESSED),
            [X, files.port("yes", "bool", [])],
            [files.port("y", "float", None), files.port("z", "float", None)],
            NUMBERS,
        ),
        place,
    )
    for n in (3000, 0, 1, 7, 3000):  # the first one is too large for inputs whose elements decide
        x = rng.standard_normal(n).astype("float32") * 2
        for yes in (True, False):
            y, z = model(x, np.array(yes))
            square = x * x
            np.testing.assert_array_equal(y, -square[(square > 1) & (square < 9)] if yes else x)
            np.testing.assert_array_equal(z, x - square)


def test_in_each_round_of_a_loop(place: str) -> None:
    """Each round keeps the elements above its number, and says how many they are."""
    body = files.graph(
        [
            files.node("Cast", ["i"], ["number"], to=1),
            files.node("Greater", ["v", "number"], ["above"]),
            files.node("Compress", ["v", "above"], ["kept"]),
            files.node("Size", ["kept"], ["count"]),
            files.node("Identity", ["go"], ["on"]),
        ],
        [files.port("i", "int64", []), files.port("go", "bool", []), files.port("v", "float", None)],
        [files.port("on", "bool", []), files.port("kept", "float", None), files.port("count", "int64", [])],
    )
    model = paddle.onnx.load(
        files.model(
            [
                files.node("Mul", ["x", "x"], ["square"]),
                files.node("Loop", ["rounds", "", "square"], ["last", "counts"], body=body),
                files.node("Add", ["last", "last"], ["y"]),
            ],
            [X],
            [files.port("y", "float", None), files.port("counts", "int64", None)],
            [files.weight("rounds", np.array(6))],
        ),
        place,
    )
    for n in (2000, 5, 0, 2000):
        x = rng.standard_normal(n).astype("float32") * 2
        y, counts = model(x)
        left, want = x * x, []
        for i in range(6):
            left = left[left > i]
            want.append(len(left))
        np.testing.assert_array_equal(y, left + left)
        assert counts.tolist() == want


def test_in_a_function(place: str) -> None:
    """Two calls of one function, the second of what the first has made."""
    above = files.function(
        "Above",
        [files.node("Greater", ["v", "least"], ["large"]), files.node("Compress", ["v", "large"], ["kept"])],
        ["v", "least"],
        ["kept"],
    )
    model = paddle.onnx.load(
        files.model(
            [
                files.node("Mul", ["x", "x"], ["square"]),
                files.node("Above", ["square", "one"], ["a"], "own"),
                files.node("Above", ["a", "nine"], ["y"], "own"),
            ],
            [X],
            [files.port("a", "float", None), files.port("y", "float", None)],
            NUMBERS,
            about=above,
            domains=["own"],
        ),
        place,
    )
    for n in (2000, 3):
        x = rng.standard_normal(n).astype("float32") * 3
        a, y = model(x)
        square = x * x
        np.testing.assert_array_equal(a, square[square > 1])
        np.testing.assert_array_equal(y, square[square > 9])


def test_not_behind_random_numbers(place: str) -> None:
    """The node runs again behind the result, and would draw others."""
    nodes = [
        files.node("RandomUniformLike", ["square"], ["noise"]),
        *COMPRESSED[:-1],
        files.node("Neg", ["few"], ["y"]),
    ]
    model = paddle.onnx.load(
        files.model(branching(nodes), [X, files.port("yes", "bool", [])], [files.port("y", "float", None)], NUMBERS),
        place,
    )
    x = rng.standard_normal(2000).astype("float32")
    with pytest.raises(paddle.UnsupportedError, match="random numbers were drawn before it in a branch"):
        model(x, np.array(True))
    np.testing.assert_array_equal(model(x, np.array(False)), x)
