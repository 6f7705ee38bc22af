"""paddle_mps.onnx: loading, arguments, results, the command. tests/onnx compares answers of models."""

from __future__ import annotations

import ctypes
import pathlib
import struct
import sys
from ctypes import byref

import numpy as np
import onnx_files
import pytest

import paddle_mps as paddle
from paddle_mps._core._dtype import BY_NUMBER
from paddle_mps._core._errors import check
from paddle_mps._core._library import library
from paddle_mps._core._structs import ValueInfo

# y = x * w, with w = [0, 2, 4] and x of float[n, 3], from the onnx package.
PRODUCT = bytes.fromhex(
    "080812003a5f0a170a01780a01771201791a0770726f6475637422034d756c1201672a15080310014201774a0c"
    "0000000000000040000080405a140a0178120f0a0d080112090a0312016e0a02080362140a0179120f0a0d0801"
    "12090a0312016e0a02080342040a001011"
)


@pytest.fixture
def model() -> paddle.onnx.Model:
    return paddle.onnx.load(PRODUCT, paddle.CPUPlace())


def test_ports_and_text(model: paddle.onnx.Model) -> None:
    assert model.inputs == [("x", paddle.float32, (None, 3), "float[n, 3]")]
    assert [p.name for p in model.outputs] == ["y"]
    assert repr(model) == "Model('bytes', (x: float[n, 3]) -> (y: float[n, 3]), Place(cpu))"
    assert model.explain() == ""


def test_arguments_are_arrays_tensors_and_lists(model: paddle.onnx.Model) -> None:
    want = [[0, 2, 4]]
    x = np.ones((1, 3), np.float32)
    for given in (x, paddle.to_tensor(x, place=paddle.CPUPlace()), x.tolist(), x.astype(np.float64), x[:, ::-1]):
        assert model(given).tolist() == want
    assert model(x=x).tolist() == model.run({"x": x})["y"].tolist() == want
    assert model(np.ones((2, 3), np.float32)).shape == [2, 3]
    assert "multiply" in model.explain()


def test_wrong_arguments(model: paddle.onnx.Model) -> None:
    x = np.ones((1, 3), np.float32)
    with pytest.raises(TypeError, match=r"got 2 inputs; want 1: \['x'\]"):
        model(x, x)
    with pytest.raises(TypeError, match="'x' is given twice"):
        model(x, x=x)
    with pytest.raises(TypeError, match="'z' is no input"):
        model(z=x)
    with pytest.raises(TypeError, match=r"inputs \['x'\] are missing"):
        model()
    with pytest.raises(TypeError, match="inputs are ndarray; want a dict of arrays by name"):
        model.run(x)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="model is int; want the path of an ONNX file, or its bytes"):
        paddle.onnx.load(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is complex64; want float32"):
        model(x.astype(np.complex64))
    with pytest.raises(ValueError, match=r'input "x" is float32\[1, 2\]; want float\[n, 3\]'):
        model(x[:, :2])


def identity(elem: str, place: str | paddle.Place) -> paddle.onnx.Model:
    """A model that returns its input."""
    ports = [onnx_files.port(name, elem, [None]) for name in "xy"]
    return paddle.onnx.load(onnx_files.model([onnx_files.node("Identity", ["x"], ["y"])], ports[:1], ports[1:]), place)


def test_unsigned_integers_are_arrays() -> None:
    model = identity("uint16", paddle.CPUPlace())
    assert model.inputs == [("x", None, (None,), "uint16[?]")]
    y = model(np.array([1, 65535], np.uint16))
    assert isinstance(y, np.ndarray) and y.dtype == np.uint16 and y.tolist() == [1, 65535]
    assert model.run({"x": np.array([7], np.uint8)})["y"].tolist() == [7]
    for wrong in (np.zeros(1, np.int16), paddle.to_tensor([1], dtype="int16", place=paddle.CPUPlace()), [1]):
        with pytest.raises(TypeError, match=r"input 'x' is .*; want an array of uint16"):
            model(wrong)
    with pytest.raises(ValueError, match=r'input "x" is uint16\[1, 1\]; want uint16\[\?\]'):
        model(np.zeros((1, 1), np.uint16))


@pytest.mark.parametrize(
    ("elem", "carrier"),
    [("uint16", "int16"), ("uint32", "int32"), ("uint64", "int64"), ("float8e5m2", "uint8"), ("int4", "uint8")],
)
def test_the_c_interface_has_the_dtype_that_carries_elements(elem: str, carrier: str) -> None:
    model, info = identity(elem, paddle.CPUPlace()), ValueInfo(ctypes.sizeof(ValueInfo))
    check(library.pmps_program_get_port(model._program._handle, False, 0, byref(info), None, None))
    assert BY_NUMBER[info.dtype].name == carrier


@pytest.mark.parametrize("elem", ["float8e4m3fn", "float8e8m0", "int4", "float4e2m1", "uint2"])
def test_small_elements_are_bytes_without_ml_dtypes(elem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    model = identity(elem, paddle.CPUPlace())
    y = model(np.array([3, 0, 1], np.uint8))
    assert y.dtype == np.uint8 and y.tolist() == [3, 0, 1]
    with pytest.raises(TypeError, match=f"input 'x' is float32; want an array of uint8 with the bits of {elem}"):
        model(np.zeros(1, np.float32))


def test_the_command_writes_small_elements_as_bytes(tmp_path: pathlib.Path) -> None:
    file = onnx_files.model(
        [onnx_files.node("Cast", ["x"], ["y"], to=onnx_files.ELEMS["float8e4m3fn"])],
        [onnx_files.port("x", "float", [2])],
        [onnx_files.port("y", "float8e4m3fn", [2])],
        opset=21,
    )
    (tmp_path / "m.onnx").write_bytes(file)
    np.save(tmp_path / "x.npy", np.array([1, -2], np.float32))
    paths = [str(tmp_path / name) for name in ("m.onnx", "x.npy", "out")]
    assert paddle.onnx.main([paths[0], "--input", paths[1], "--output", paths[2], "--place", "cpu"]) == 0
    y = np.load(tmp_path / "out" / "y.npy")
    assert y.dtype == np.uint8 and y.tolist() == [0x38, 0xC0]


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "product.onnx"
    path.write_bytes(PRODUCT)
    for given in (path, str(path)):
        assert paddle.onnx.load(given)(np.ones((1, 3), np.float32)).tolist() == [[0, 2, 4]]
    with pytest.raises(ValueError, match="no such file"):
        paddle.onnx.load(tmp_path / "none.onnx")
    with pytest.raises(ValueError, match="is a folder; want a file"):
        paddle.onnx.load(tmp_path)
    with pytest.raises(ValueError, match="the file is empty; want an ONNX model"):
        paddle.onnx.load(b"")
    with pytest.raises(
        ValueError, match=r"PaddlePaddle's inference\.json; want an ONNX model: convert the model with paddle2onnx"
    ):
        paddle.onnx.load(b'{"base_code": {"magic": "pir"}}')
    with pytest.raises(ValueError, match="is damaged"):
        paddle.onnx.load(PRODUCT[:50])
    with pytest.raises(paddle.UnsupportedError, match=r'1 operator is not supported: Nul-17 \(node "product"\)'):
        paddle.onnx.load(PRODUCT.replace(b"Mul", b"Nul"))


def test_models_of_any_size_are_bytes_too() -> None:
    """A graph with a text of a megabyte, which nothing reads."""
    text = b"x" * (1 << 20)
    graph = b"\x3a\x5f"
    at = PRODUCT.index(graph)
    inner = PRODUCT[at + 2 : at + 2 + 0x5F]
    longer = inner + b"\x52" + bytes([len(text) & 127 | 128, len(text) >> 7 & 127 | 128, len(text) >> 14]) + text
    size = bytes([len(longer) & 127 | 128, len(longer) >> 7 & 127 | 128, len(longer) >> 14])
    model = paddle.onnx.load(PRODUCT[:at] + b"\x3a" + size + longer + PRODUCT[at + 2 + 0x5F :], paddle.CPUPlace())
    assert model(np.ones((1, 3), np.float32)).tolist() == [[0, 2, 4]]


def test_elements_that_decide_shapes() -> None:
    """y = Reshape(x, s) with s an input: compiled for each s."""

    def field(number: int, text: bytes) -> bytes:
        return struct.pack("BB", number << 3 | 2, len(text)) + text

    def port(name: bytes, elem: int, dim: bytes) -> bytes:
        shape = field(1, field(2, dim))
        return field(1, name) + field(2, field(1, struct.pack("BB", 8, elem) + field(2, shape)))

    node = field(1, b"x") + field(1, b"s") + field(2, b"y") + field(4, b"Reshape")
    graph = (
        field(1, node)
        + field(11, port(b"x", 1, b"n"))
        + field(11, port(b"s", 7, b"k"))
        + field(12, port(b"y", 1, b"m"))
    )
    model = paddle.onnx.load(field(7, graph) + field(8, b"\x10\x11"), paddle.CPUPlace())
    x = np.arange(6, dtype=np.float32)
    for dims in ([2, 3], [3, -1], [1, 6], [2, 3]):
        assert (model(x, np.array(dims)).numpy() == x.reshape(dims)).all()
    for rows in range(1, 200):  # more sets of elements than are kept
        assert model(np.ones(2 * rows, np.float32), np.array([rows, 2])).shape == [rows, 2]
    with pytest.raises(ValueError, match=r"cannot have shape \[4, 4\]"):
        model(x, np.array([4, 4]))


# The sizes of results behind NonZero, Compress and NonMaxSuppression follow from elements: such models run in stages.


@pytest.mark.parametrize("place", [paddle.CPUPlace(), paddle.MPSPlace(0)])
def test_sizes_that_elements_decide(place: paddle.Place) -> None:
    """The elements of x * x above 1, of these those whose exponential is below 20, and how many they are."""
    nodes = [
        onnx_files.node("Mul", ["x", "x"], ["square"]),
        onnx_files.node("Greater", ["square", "one"], ["large"]),
        onnx_files.node("NonZero", ["large"], ["places"]),
        onnx_files.node("Transpose", ["places"], ["rows"]),
        onnx_files.node("GatherND", ["square", "rows"], ["kept"]),
        onnx_files.node("Exp", ["kept"], ["e"]),
        onnx_files.node("Less", ["e", "twenty"], ["small"]),
        onnx_files.node("Compress", ["kept", "small"], ["y"]),
        onnx_files.node("Shape", ["y"], ["count"]),
        onnx_files.node("Sub", ["x", "square"], ["z"]),
    ]
    weights = [onnx_files.weight("one", np.float32(1)), onnx_files.weight("twenty", np.float32(20))]
    outputs = [onnx_files.port(*p, None) for p in (("y", "float"), ("count", "int64"), ("z", "float"))]
    file = onnx_files.model(nodes, [onnx_files.port("x", "float", [None, 5])], outputs, weights)
    model = paddle.onnx.load(file, place)
    rng = np.random.default_rng(3)
    for n in (1, 4, 4, 30, 0, 4):
        x = rng.standard_normal((n, 5)).astype(np.float32) * 2
        y, count, z = (t.numpy() for t in model(x))
        kept = (x * x)[x * x > 1]
        np.testing.assert_allclose(y, kept[np.exp(kept) < 20], rtol=1e-6)
        assert count.tolist() == list(y.shape)
        np.testing.assert_allclose(z, x - x * x, rtol=1e-6)


def test_boxes_without_a_limit() -> None:
    """Exporters write the largest int64 where all boxes may be chosen."""
    limits = [onnx_files.weight("most", np.array([2**63 - 1])), onnx_files.weight("iou", np.array([0.5], np.float32))]
    node = onnx_files.node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["y"])
    inputs = [onnx_files.port("boxes", "float", [1, None, 4]), onnx_files.port("scores", "float", [1, 1, None])]
    model = paddle.onnx.load(
        onnx_files.model([node], inputs, [onnx_files.port("y", "int64", None)], limits), paddle.CPUPlace()
    )
    boxes = np.array([[[0, 0, 1, 1], [0, 0, 1, 1.1], [5, 5, 6, 6]]], np.float32)
    scores = np.array([[[0.5, 0.6, 0.7]]], np.float32)
    assert model(boxes, scores).tolist() == [[0, 0, 2], [0, 0, 1]]


def test_a_condition_with_axes() -> None:
    """Compress takes a vector; of other conditions it made a tensor with too many dimensions."""
    inputs = [onnx_files.port("x", "float", None), onnx_files.port("keep", "bool", None)]
    node = onnx_files.node("Compress", ["x", "keep"], ["y"])
    model = paddle.onnx.load(onnx_files.model([node], inputs, [onnx_files.port("y", "float", None)]), paddle.CPUPlace())
    x = np.arange(4, dtype=np.float32)
    assert model(x, np.array([False, True])).tolist() == [1]
    for keep in (np.array(True), np.array([[True], [False]])):
        with pytest.raises(ValueError, match=r"the condition has [02] dimensions; want 1"):
            model(x, keep)


def test_a_name_with_two_values() -> None:
    """It is an error: which of them a node reads would depend on the order of nodes."""
    nodes = [onnx_files.node("Mul", ["x", "x"], ["w"]), onnx_files.node("Add", ["w", "w"], ["y"])]
    weight = onnx_files.weight("w", np.ones(3, np.float32))
    ports = [onnx_files.port("x", "float", [3])], [onnx_files.port("y", "float", None)]
    for weights in ([weight], [weight, weight]):
        with pytest.raises(ValueError, match='defines "w" twice; want one input, initializer or result of that name'):
            paddle.onnx.load(onnx_files.model(nodes, *ports, weights), "cpu")


def test_sizes_that_elements_of_a_branch_decide() -> None:
    """The condition is an input, so that it is read before the branch counts; test_onnx_stages.py has more of these."""
    branch = onnx_files.field(1, onnx_files.node("NonZero", ["square"], ["y"]))
    branch += onnx_files.field(2, "branch") + onnx_files.field(12, onnx_files.port("y", "int64", None))
    choice = onnx_files.node("If", ["yes"], ["out"])
    for name in ("then_branch", "else_branch"):
        choice += onnx_files.field(5, onnx_files.field(1, name) + onnx_files.field(6, branch) + onnx_files.field(20, 5))
    nodes = [onnx_files.node("Mul", ["x", "x"], ["square"]), choice]
    inputs = [onnx_files.port("x", "float", [3]), onnx_files.port("yes", "bool", [])]
    model = paddle.onnx.load(
        onnx_files.model(nodes, inputs, [onnx_files.port("out", "int64", None)]), paddle.CPUPlace()
    )
    assert model(np.array([0, 2, 3], np.float32), np.array(True)).tolist() == [[1, 2]]


def test_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.onnx").write_bytes(PRODUCT)
    np.save(tmp_path / "x.npy", np.ones((2, 3), np.float32))
    model, x, out = (str(tmp_path / name) for name in ("m.onnx", "x.npy", "out"))
    for text in (x, "x=" + x):
        assert paddle.onnx.main([model, "--input", text, "--output", out, "--place", "cpu"]) == 0
        assert "y: float32[2, 3]" in capsys.readouterr().out
        assert np.load(tmp_path / "out" / "y.npy").tolist() == [[0, 2, 4], [0, 2, 4]]
    (tmp_path / "x.txt").write_text("1 2 3")
    np.savez(tmp_path / "x.npz", np.ones((2, 3)))
    for line, says in (
        ([], "got no array for ['x']; want --input x=FILE.npy"),
        (["--input", str(tmp_path / "x.txt")], "x.txt is no array; want a .npy file, which numpy.save writes"),
        (["--input", str(tmp_path / "x.npz")], "x.npz is no array; want a .npy file"),
        (["--input", str(tmp_path / "none.npy")], "No such file"),
        (["--input", "x=" + x, "--input", "x=" + x], "got two arrays for 'x'; want one"),
        (["--input", x, "--output", model], "m.onnx is a file; want a folder"),
    ):
        assert paddle.onnx.main([model, *line]) == 1
        assert says in capsys.readouterr().err
