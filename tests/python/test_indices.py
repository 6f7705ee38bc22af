"""Every operator and function that takes indices, at each index from -2n - 1 to 2n of an axis of n elements: what NumPy reads or
writes there, and an error everywhere else. An index is judged once, as it was given: one below -n is never counted from the end
a second time."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle
import paddle_mps.onnxruntime
from paddle_mps._calls import _operators

N = 4  # elements of the axis that indices count along
INDICES = range(-2 * N - 1, 2 * N + 1)
X = np.arange(1, 13, dtype="float32").reshape(3, N)
ERRORS = (IndexError, ValueError, RuntimeError)


class Node(NamedTuple):
    """A node of ONNX whose operand `at` holds an index, and what it computes of one."""

    op: str
    arrays: Callable[[int], list[Any]]
    at: int
    want: Callable[[int], Any]
    least: int = -N
    most: int = N - 1
    domain: str = ""
    opset: int = 24
    dtypes: tuple[str, ...] = ("int32", "int64")
    more: Mapping[str, Any] = MappingProxyType({})

    def __str__(self) -> str:
        return "-".join([self.op, *map(str, self.more.values())])


def written(x: Any, key: Any, value: Any, how: str = "none") -> Any:
    """x with a value at a key, joined with what is there."""
    y = x.copy()
    joined = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}.get(how)
    y[key] = value if joined is None else joined(y[key], value)
    return y


def full(v: int, *shape: int) -> Any:
    return np.full(shape, v)


NINES = full(9, 3, 1).astype("float32")
ROW = full(9, 1, 3).astype("float32")
RAISED = np.stack([X, X + 100])  # [2, 3, N]
CACHE = np.arange(N * 2, dtype="float32").reshape(N, 2)
PAIRS = np.arange(1, 5, dtype="float32").reshape(1, 1, 1, 4)
IMAGES = X[0].reshape(N, 1, 1, 1) * np.ones((N, 1, 3, 3), "float32")
REGION = np.array([[1, 1, 1, 1]], "float32")
LOGS = np.arange(12, dtype="float32").reshape(3, N)


def turned(v: int) -> Any:
    """PAIRS turned by the angles of row v of CACHE, which is the cosines and the sines."""
    a, b, t = PAIRS[..., :2], PAIRS[..., 2:], CACHE[v]
    return np.concatenate([t * a - t * b, t * a + t * b], -1)


NODES = [
    Node("Gather", lambda v: [X, full(v, 2)], 1, lambda v: X[:, [v, v]], more={"axis": 1}),
    Node("Gather", lambda v: [X.T, np.array(v)], 1, lambda v: X.T[v], more={"axis": 0}),
    Node("GatherElements", lambda v: [X, full(v, 3, 2)], 1, lambda v: X[:, [v, v]], more={"axis": 1}),
    Node("GatherND", lambda v: [X.T, full(v, 2, 1)], 1, lambda v: X.T[[v, v]], dtypes=("int64",)),
    Node(
        "GatherND",
        lambda v: [RAISED, np.array([[[0, v]], [[2, v]]])],
        1,
        lambda v: np.array([[RAISED[0, 0, v]], [RAISED[1, 2, v]]]),
        dtypes=("int64",),
        more={"batch_dims": 1},
    ),
    Node(
        "Scatter",
        lambda v: [X, full(v, 3, 1), NINES],
        1,
        lambda v: written(X, np.s_[:, v], 9),
        opset=10,
        more={"axis": 1},
    ),
    *[
        Node(
            "ScatterElements",
            lambda v: [X, full(v, 3, 1), NINES],
            1,
            lambda v, how=how: written(X, np.s_[:, v], 9, how),  # type: ignore[misc]
            more={"axis": 1, "reduction": how},
        )
        for how in ("none", "add", "mul", "min", "max")
    ],
    *[
        Node(
            "ScatterND",
            lambda v: [X.T, full(v, 1, 1), ROW],
            1,
            lambda v, how=how: written(X.T, v, 9, how),  # type: ignore[misc]
            dtypes=("int64",),
            more={"reduction": how},
        )
        for how in ("none", "add", "mul", "min", "max")
    ],
    Node(
        "TensorScatter",
        lambda v: [X, NINES, full(v, 3)],
        2,
        lambda v: written(X, np.s_[:, v], 9),
        least=0,
        dtypes=("int64",),
        more={"axis": 1, "mode": "linear"},
    ),
    Node(
        "TensorScatter",
        lambda v: [X, NINES, full(v, 3)],
        2,
        lambda v: written(X, np.s_[:, v % N], 9),
        least=0,
        most=2 * N,
        dtypes=("int64",),
        more={"axis": 1, "mode": "circular"},
    ),
    Node(
        "ArrayFeatureExtractor",
        lambda v: [X, full(v, 1)],
        1,
        lambda v: X[:, [v]],
        least=0,
        domain="ai.onnx.ml",
        dtypes=("int64",),
    ),
    Node(
        "MaxUnpool",
        lambda v: [full(9, 1, 1, 1, 1).astype("float32"), full(v, 1, 1, 1, 1)],
        1,
        lambda v: written(np.zeros(N, "float32"), v, 9).reshape(1, 1, 2, 2),
        least=0,
        dtypes=("int64",),
        more={"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
    Node(
        "RoiAlign",
        lambda v: [IMAGES, REGION, full(v, 1)],
        2,
        lambda v: IMAGES[v, :, 1, 1].reshape(1, 1, 1, 1),
        least=0,
        opset=16,
        dtypes=("int64",),
        more={"sampling_ratio": 1, "coordinate_transformation_mode": "half_pixel", "spatial_scale": 1.0},
    ),
    Node(
        "RotaryEmbedding",
        lambda v: [PAIRS, CACHE, CACHE, full(v, 1, 1)],
        3,
        turned,
        least=0,
        dtypes=("int64",),
    ),
    Node(
        "RotaryEmbedding",
        lambda v: [PAIRS, full(v, 1, 1), CACHE, CACHE],
        1,
        turned,
        least=0,
        domain="com.microsoft",
        dtypes=("int64",),
    ),
    Node(
        "OneHot",
        lambda v: [full(v, 1), np.array(N), np.array([0, 1], "float32")],
        0,
        lambda v: (np.arange(N) == (v + N if v < 0 else v)).astype("float32")[None],
        least=-(2**62),
        most=2**62,
    ),
    Node(
        "NegativeLogLikelihoodLoss",
        lambda v: [LOGS, full(v, 3)],
        1,
        lambda v: -LOGS[:, v],
        least=0,
        more={"reduction": "none"},
    ),
]  # fmt: skip


@pytest.fixture(autouse=True)
def settled() -> Iterator[None]:
    """No error of a device that nothing has asked for is left to the next test that waits for it."""
    yield
    with contextlib.suppress(*ERRORS):
        paddle.mps.synchronize()


def outcome(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, as an array, or None if it raises the error for an index out of range."""
    try:
        return function(*arguments).numpy()
    except ERRORS as e:
        assert "out of range" in str(e)
        return None


def compare(what: str, v: int, got: Any, want: Any) -> list[str]:
    """A line if a result is not the wanted one; None stands for an error."""
    if want is None or got is None:
        if want is got:
            return []
        return [f"{what}: index {v} gives {'an error' if got is None else got.ravel()[:6].tolist()}"]
    if got.shape == want.shape and np.array_equal(got, want):
        return []
    return [f"{what}: index {v} gives {got.ravel().tolist()}; want {want.ravel().tolist()}"]


def file(node: Node, arrays: list[Any], constant: bool) -> bytes:
    """A model of the node; with a constant index its other operands are inputs."""
    kinds = {"float32": "float"}
    names = [f"x{i}" for i in range(len(arrays))]
    inputs = [
        files.port(name, kinds.get(str(x.dtype), str(x.dtype)), x.shape)
        for i, (name, x) in enumerate(zip(names, arrays))
        if not (constant and i == node.at)
    ]
    return files.model(
        [files.node(node.op, names, ["y"], node.domain, **node.more)],
        inputs,
        [files.port("y", "float", None)],
        [files.weight(f"x{node.at}", arrays[node.at])] if constant else [],
        opset=node.opset,
        domains=[node.domain] if node.domain else [],
    )


def load_and_run(model: bytes, place: str, *arrays: Any) -> Any:
    return paddle.onnx.load(model, place)(*arrays)


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("node", NODES, ids=str)
def test_nodes(node: Node, place: str) -> None:
    wrong = []
    for dtype in node.dtypes:
        shared = None  # the index is an input of one model, and a constant of one model each
        for v in INDICES:
            want = np.asarray(node.want(v)) if node.least <= v <= node.most else None
            arrays = node.arrays(v)
            arrays[node.at] = arrays[node.at].astype(dtype)
            if shared is None:
                shared = paddle.onnx.load(file(node, arrays, False), place)
            got = outcome(shared, *arrays)
            wrong += compare(f"{dtype} computed", v, got, want)
            rest = [x for i, x in enumerate(arrays) if i != node.at]
            got = outcome(load_and_run, file(node, arrays, True), place, *rest)
            wrong += compare(f"{dtype} constant", v, got, want)
    assert not wrong, "\n".join(wrong)


def test_sessions() -> None:
    """The replacement of onnxruntime judges indices as `load` does."""
    wrong = []
    for node in NODES[:5]:
        session = paddle_mps.onnxruntime.InferenceSession(file(node, node.arrays(0), False))
        names = [p.name for p in session.get_inputs()]
        for v in INDICES:
            want = np.asarray(node.want(v)) if node.least <= v <= node.most else None
            feed = dict(zip(names, node.arrays(v)))
            if node.dtypes == ("int32", "int64"):
                feed[names[node.at]] = feed[names[node.at]].astype("int64")
            try:
                got = session.run(None, feed)[0]
            except Exception as e:  # of its own class
                assert "out of range" in str(e)
                got = None
            wrong += compare(str(node), v, got, want)
    assert not wrong, "\n".join(wrong)


def test_sizes_that_shapes_have() -> None:
    """A constant index into a shape, which is folded while the graph is built."""
    shape = (2, 3, 5, 7)
    wrong = []
    for v in INDICES:
        model = files.model(
            [files.node("Shape", ["x"], ["s"]), files.node("Gather", ["s", "i"], ["y"])],
            [files.port("x", "float", [None] * N)],
            [files.port("y", "int64", None)],
            [files.weight("i", np.array(v))],
        )
        got = outcome(load_and_run, model, "cpu", np.zeros(shape, "float32"))
        wrong += compare("shape", v, got, np.array(shape[v]) if -N <= v < N else None)
    assert not wrong, "\n".join(wrong)


class Function(NamedTuple):
    """A function of the package of an index tensor, and what it computes of one index."""

    name: str
    call: Callable[[Any, Any], Any]  # of X and the index, a tensor of int64 or int32
    want: Callable[[int], Any]
    least: int = -N
    most: int = N - 1
    dtypes: tuple[str, ...] = ("int32", "int64")


def with_nine(x: Any, shape: Any) -> Any:
    return paddle.to_tensor(np.full(shape, 9, "float32"), place=x.place)


def probabilities(x: Any) -> Any:
    return x / x.sum(axis=1, keepdim=True)


PUT: dict[str, str] = {"amin": "min", "amax": "max", "assign": "none", "add": "add", "mul": "mul"}
SHARES = X / X.sum(1, keepdims=True)
FUNCTIONS = [
    Function("gather", lambda x, i: paddle.gather(x, i.reshape([1]), 1), lambda v: X[:, [v]]),
    Function("index_select", lambda x, i: paddle.index_select(x, i.reshape([1]), 1), lambda v: X[:, [v]]),
    Function("gather_nd", lambda x, i: paddle.gather_nd(x.t(), i.reshape([1, 1])), lambda v: X.T[[v]]),
    Function("take", lambda x, i: paddle.take(x[0], i), lambda v: X[0][v]),
    Function(
        "take wrap",
        lambda x, i: paddle.take(x[0], i, mode="wrap"),
        lambda v: X[0][v % N],
        least=-(2**62),
        most=2**62,
    ),
    Function(
        "take clip",
        lambda x, i: paddle.take(x[0], i, mode="clip"),
        lambda v: X[0][min(max(v, 0), N - 1)],
        least=-(2**62),
        most=2**62,
    ),
    Function(
        "take_along_axis", lambda x, i: paddle.take_along_axis(x, i.reshape([1, 1]), 1), lambda v: X[:, [v]]
    ),
    Function(
        "index_sample", lambda x, i: paddle.index_sample(x, i.expand([3, 1])), lambda v: X[:, [v]]
    ),
    Function("x[i]", lambda x, i: x[:, i], lambda v: X[:, v]),
    Function("x[i] of a list", lambda x, i: x[:, i.reshape([1])], lambda v: X[:, [v]]),
    *[
        Function(
            f"put_along_axis {how}",
            lambda x, i, how=how: paddle.put_along_axis(x, i.expand([3, 1]), 9.0, 1, reduce=how),  # type: ignore[misc]
            lambda v, how=how: written(X, np.s_[:, v], 9, PUT[how]),  # type: ignore[misc]
        )
        for how in ("assign", "add", "mul", "amin", "amax")
    ],
    Function(
        "index_add",
        lambda x, i: paddle.index_add(x, i.reshape([1]), 1, with_nine(x, [3, 1])),
        lambda v: written(X, np.s_[:, v], 9, "add"),
    ),
    Function(
        "index_fill", lambda x, i: paddle.index_fill(x, i.reshape([1]), 1, 9.0), lambda v: written(X, np.s_[:, v], 9)
    ),
    Function(
        "index_put",
        lambda x, i: paddle.index_put(x.t(), (i.reshape([1]),), with_nine(x, [1, 3])),
        lambda v: written(X.T, v, 9),
    ),
    Function(
        "scatter_nd_add",
        lambda x, i: paddle.scatter_nd_add(x.t().contiguous(), i.reshape([1, 1]), with_nine(x, [1, 3])),
        lambda v: written(X.T, v, 9, "add"),
    ),
    Function(
        "scatter_nd",
        lambda x, i: paddle.scatter_nd(i.reshape([1, 1]), with_nine(x, [1, 3]), [N, 3]),
        lambda v: written(X.T * 0, v, 9),
    ),
    Function(
        "scatter",
        lambda x, i: paddle.scatter(x.t().contiguous(), i.reshape([1]), with_nine(x, [1, 3])),
        lambda v: written(X.T, v, 9),
    ),
    Function("setitem", lambda x, i: put(x, i), lambda v: written(X, np.s_[:, v], 9)),
    Function(
        "multiplex",
        lambda x, i: paddle.multiplex([x[:, k : k + 1].t() for k in range(N)], i.reshape([1, 1])),
        lambda v: X[None, 0:3, v] * 1,
        least=0,
        dtypes=("int32",),
    ),
    Function(
        "embedding", lambda x, i: paddle.nn.functional.embedding(i, x.t().contiguous()), lambda v: X.T[v], least=0
    ),
    Function(
        "one_hot",
        lambda x, i: paddle.nn.functional.one_hot(i, N),
        lambda v: np.eye(N, dtype="float32")[v],
        least=0,
    ),
    Function(
        "gather_tree",
        lambda x, i: paddle.nn.functional.gather_tree(
            (x[:2].reshape([2, 1, N]) - 1).cast(i.dtype), i.expand([2, 1, N])
        ),
        lambda v: np.stack([full(v, N), np.arange(N, 2 * N)])[:, None],
        least=0,
    ),
    Function(
        "nll_loss",
        lambda x, i: paddle.nn.functional.nll_loss(x, i.expand([3]), reduction="none"),
        lambda v: -X[:, v],
        least=0,
        dtypes=("int64",),
    ),
    Function(
        "cross_entropy",
        lambda x, i: paddle.nn.functional.cross_entropy(
            probabilities(x), i.expand([3]), reduction="none", use_softmax=False
        ).exp(),
        lambda v: 1 / SHARES[:, v],
        least=0,
        dtypes=("int64",),
    ),
]  # fmt: skip


def put(x: Any, i: Any) -> Any:
    y = x.clone()
    y[:, i] = 9.0
    return y


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "traced"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.name)
def test_functions(function: Function, traced: bool, place: str) -> None:
    call: Any = paddle.jit.to_static(function.call) if traced else function.call
    x = paddle.to_tensor(X, place=place)
    wrong = []
    for dtype in function.dtypes:
        for v in INDICES:
            index = paddle.to_tensor(np.array(v, dtype), place=place)
            want = np.asarray(function.want(v)) if function.least <= v <= function.most else None
            got = outcome(call, x, index)
            if got is not None and want is not None and "entropy" in function.name:
                assert np.allclose(got, want, rtol=2**-20)
                continue
            wrong += compare(f"{function.name} {dtype}", v, got, want)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("place", ["cpu", "mps"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_rows_that_write_along_an_axis(dtype: str, place: str) -> None:
    """index_add and index_fill, out of place, into new memory and into x itself, of views too."""
    rng = np.random.default_rng(5)
    x = paddle.to_tensor(rng.integers(0, 2 if dtype == "bool" else 9, (3, 4, 5)), dtype=dtype, place=place)
    turned = x.transpose([2, 0, 1])
    for given in (x, turned, x[:, 1:, ::2]):
        for axis in range(3):
            n = given.shape[axis]
            index = rng.integers(-n, n, 4)
            at = paddle.to_tensor(index, place=place)
            value = paddle.to_tensor(
                rng.integers(0, 2, [*given.shape[:axis], 4, *given.shape[axis + 1 :]]), dtype=dtype, place=place
            )
            added, filled = given.numpy().copy(), given.numpy().copy()
            np.add.at(np.moveaxis(added, axis, 0), index, np.moveaxis(value.numpy(), axis, 0))
            np.moveaxis(filled, axis, 0)[index] = 1
            one = paddle.ones([], dtype).to(place)
            for _ in range(3):
                np.testing.assert_array_equal(_operators.index_add(given, at, value, axis).numpy(), added)
                np.testing.assert_array_equal(_operators.index_fill(given, at, one, axis).numpy(), filled)
            np.testing.assert_array_equal(given.clone().index_add_(at, axis, value).numpy(), added)
            np.testing.assert_array_equal(given.clone().index_fill_(at, axis, 1).numpy(), filled)
            traced = paddle.jit.to_static(lambda x, i, v, a=axis: (x.index_add(i, a, v), x.index_fill(i, a, 1)))
            for got, want in zip(traced(given, at, value), (added, filled)):
                np.testing.assert_array_equal(got.numpy(), want)
    for call in (lambda i: _operators.index_add(x, i, x, 3), lambda i: _operators.index_add(x, i, x[:2], 0),
                 lambda i: _operators.index_fill(x, i, x, 0), lambda i: _operators.index_fill(x, i.cast("float32"), x[0, 0, 0], 0)):  # fmt: skip
        with pytest.raises((ValueError, IndexError), match=r"\[index_(add|fill)\] .*; want"):
            call(paddle.to_tensor([0], place=place))
