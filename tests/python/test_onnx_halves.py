"""paddle_mps.onnx.load(dtype="float16"): files in half precision."""

from __future__ import annotations

import contextlib
import pathlib
import threading
from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle
from paddle_mps._models import _halves

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(4, 3)
W = np.random.default_rng(0).standard_normal((3, 5)).astype(np.float32)
PRODUCT = files.model(
    [files.node("MatMul", ["x", "w"], ["y"]), files.node("ArgMax", ["y"], ["i"], axis=-1)],
    [files.port("x", "float", ["n", 3])],
    [files.port("y", "float", ["n", 5]), files.port("i", "int64", None)],
    [files.weight("w", W)],
)


def load(model: bytes | pathlib.Path, **options: Any) -> Any:
    return paddle.onnx.load(model, paddle.CPUPlace(), dtype="float16", **options)


def run(
    nodes: list[bytes], elem: str = "float", weights: dict[str, Any] | None = None, x: Any = X, opset: int = 17
) -> Any:
    """The result of nodes from x to y in half precision, as the rewritten file gives it."""
    initializers = [files.weight(name, value) for name, value in (weights or {}).items()]
    data = files.model(
        nodes, [files.port("x", elem, None)], [files.port("y", "float", None)], initializers, opset=opset
    )
    return paddle.onnx.load(_halves.model(data), paddle.CPUPlace())(x)


def test_weights_and_products_are_halves(capfd: pytest.CaptureFixture[str]) -> None:
    model = load(PRODUCT)
    assert model.inputs[0].type == "float16[n, 3]"
    y, i = model(X)
    want = X.astype("f2").astype("f4") @ W.astype("f2").astype("f4")
    assert y.dtype == paddle.float32 and np.allclose(y.numpy(), want, rtol=2.0**-10, atol=2.0**-10)
    assert i.dtype == paddle.int64 and model._program.info().constant_bytes == W.size * 2
    assert 0 < model.accuracy["y"] < 2.0**-9 and model.accuracy["i"] == 0
    said = capfd.readouterr().err
    assert (
        f"float16: output 'y' differs by {model.accuracy['y']:.1e}" in said and "output 'i' differs by 0.0e+00" in said
    )
    model(X)
    assert capfd.readouterr().err == "" and model._reference is None
    for x in (X, X.astype("f8"), X.astype("f2"), paddle.to_tensor(X, place=paddle.CPUPlace())):
        assert model(x)[0].tolist() == y.tolist()
    assert model(X[:0])[0].shape == [0, 5]


def test_first_calls_of_several_threads(capfd: pytest.CaptureFixture[str]) -> None:
    model, failed = load(PRODUCT), []

    def call() -> None:
        try:
            model(X)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed and capfd.readouterr().err.count("output 'y' differs") == 1


def test_each_call_is_checked_if_asked() -> None:
    model = load(PRODUCT, check=True)
    model(X)
    run = model._run
    model._run = lambda given: (run(given)[0] + 1, run(given)[1])
    with pytest.raises(RuntimeError, match=r"output 'y' is \S+ at .*; the reference is"):
        model(X)
    model._reference.close()


def test_overflow_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    large = files.model(
        [files.node("Mul", ["x", "w"], ["y"])], [files.port("x", "float", [3])], [files.port("y", "float", [3])],
        [files.weight("w", np.float32(6e4))],
    )  # fmt: skip
    model = load(large)
    assert model(np.array([1, 2, 3], "f4")).tolist()[1:] == [np.inf, np.inf]
    assert model.accuracy == {"y": np.inf} and "infinities or NaN elsewhere" in capfd.readouterr().err


def test_files(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(PRODUCT)
    model = load(path)
    assert model(X)[0].shape == [4, 5] and str(path) in repr(model)
    with pytest.raises(ValueError, match="No such file"):
        load(tmp_path / "n.onnx")
    with pytest.raises(ValueError, match="dtype is int8; want 'float16'"):
        paddle.onnx.load(path, dtype="int8")
    assert paddle.onnx.load(path, paddle.CPUPlace(), dtype="float32")(X)[0].dtype == paddle.float32


@pytest.mark.parametrize(
    "value", [{"value_float": 2.5}, {"value_floats": [2.5, 1.0, 0.5]}, {"value": (files.weight("", np.float32(2.5)),)}]
)
def test_constants(value: Any) -> None:
    y = run([files.node("Constant", [], ["c"], **value), files.node("Mul", ["x", "c"], ["y"])])
    assert (
        y.dtype == paddle.float16
        and y.tolist() == (X.astype("f2") * np.float16(value.get("value_floats", 2.5))).tolist()
    )


def test_weights_beyond_the_format() -> None:
    w = np.array([3.4e38, -3.4e38, 1e-12, -1e-12, np.inf, -np.inf, 0, -0.0, np.nan, 1 / 3], "f4")
    kept = np.frombuffer(_halves.halved(w), "f2")
    want = [65504, -65504, 2.0**-24, -(2.0**-24), np.inf, -np.inf, 0, -0.0, np.nan, np.float16(1 / 3)]
    assert np.array_equal(kept, np.array(want, "f2"), equal_nan=True) and np.signbit(kept[7])


def test_casts_and_zeros_without_a_value() -> None:
    y = run([files.node("Shape", ["x"], ["s"]), files.node("ConstantOfShape", ["s"], ["z"]),
             files.node("Cast", ["x"], ["c"], to=1), files.node("Add", ["c", "z"], ["y"])], "int64", x=np.arange(3))  # fmt: skip
    assert y.dtype == paddle.float16 and y.tolist() == [0, 1, 2]


def test_sizes_stay_exact() -> None:
    """A scale of 1/3 in half precision would make 33 of 100 elements, and 299 * 1/3 of 897 another number."""
    image = np.zeros((1, 1, 897, 3), "f4")
    nodes = [files.node("Resize", ["x", "", "s"], ["y"], mode="nearest")]
    y = run(nodes, weights={"s": np.array([1, 1, np.float32(1) / 3, 1], "f4")}, x=image)
    assert y.shape == [1, 1, 299, 3] and y.dtype == paddle.float16
    computed = [files.node("Shape", ["x"], ["i"]), files.node("Cast", ["i"], ["f"], to=1), files.node("Div", ["f", "by"], ["s"]),
                files.node("Resize", ["x", "", "s"], ["y"], mode="nearest")]  # fmt: skip
    y = run(computed, weights={"by": np.array([1, 1, 2691, 3], "f4")}, x=image)
    assert y.shape == [1, 1, 299, 3]


def test_branches_and_functions() -> None:
    branch = files.graph([files.node("Add", ["x", "b"], ["t"])], [], [files.port("t", "float", None)])
    nodes = [files.node("Constant", [], ["b"], value_float=0.5), files.node("Constant", [], ["yes"], value_int=1),
             files.node("Cast", ["yes"], ["c"], to=9), files.node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]  # fmt: skip
    y = run(nodes)
    assert y.dtype == paddle.float16 and y.tolist() == (X.astype("f2") + np.float16(0.5)).tolist()


def test_other_types_stay() -> None:
    double = files.model(
        [files.node("Neg", ["x"], ["y"])], [files.port("x", "double", [3])], [files.port("y", "double", [3])]
    )
    assert _halves.model(double) == double and _halves.wide(double) == [False]
    mixed = files.model(
        [files.node("Neg", ["x"], ["y"])], [files.port("x", "float16", [3])], [files.port("y", "float16", [3])]
    )
    assert load(mixed)(np.ones(3, "f2")).dtype == paddle.float16


def test_weights_in_other_files_are_refused() -> None:
    raw = files.weight("w", W)
    away = files.model(
        [files.node("MatMul", ["x", "w"], ["y"])], [files.port("x", "float", None)], [files.port("y", "float", None)],
        [raw + files.field(14, 1)],
    )  # fmt: skip
    with pytest.raises(paddle.UnsupportedError, match="weight 'w' is in another file"):
        load(away)


@pytest.mark.parametrize(
    "data", [b"hello", b"\x08", b"\x3a\x7f", b"\xff" * 20, PRODUCT[:-3], b"\x3a\x04\x0a\x7f\x00\x00"]
)
def test_damaged_files_are_errors(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\[onnx\]"):
        load(data)


def test_bytes_at_random() -> None:
    """Whatever the bytes are, the answer is a file or a ValueError."""
    rng = np.random.default_rng(1)
    for _ in range(3000):
        data = bytearray(PRODUCT)
        for at in rng.integers(0, len(data), rng.integers(1, 4)):
            data[at] = rng.integers(0, 256)
        with contextlib.suppress(ValueError, paddle.UnsupportedError):
            _halves.model(bytes(data))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "uint8"])
def test_what_lies_outside_of_an_image(dtype: str) -> None:
    """The number outside, of a dtype that may be another than that of the image, which NumPy's interpolation knows nothing of."""
    elem = {"float32": "float", "float64": "double"}.get(dtype, dtype)
    region = files.weight("r", np.array([0, 2], "f4"))
    data = files.model(
        [files.node("Resize", ["x", "r", "", "s"], ["y"], mode="nearest", coordinate_transformation_mode="tf_crop_and_resize",
                    extrapolation_value=7.0)],
        [files.port("x", elem, [3])], [files.port("y", elem, None)], [region, files.weight("s", np.array([5]))], opset=19,
    )  # fmt: skip
    y = paddle.onnx.load(data, paddle.CPUPlace())(np.array([1, 2, 3], dtype))
    # Coordinates are 0, 1, 2, 3, 4 of the two images' worth that the region asks for: those beyond 2 are outside.
    assert y.dtype == getattr(paddle, dtype) and y.tolist() == [1, 2, 3, 7, 7]


def test_bits_stay_those_of_float32() -> None:
    data = files.model([files.node("BitCast", ["x"], ["y"], to=6)], [files.port("x", "float", [1])],
                       [files.port("y", "int32", [1])], opset=26)  # fmt: skip
    assert load(data)(np.array([1], "f4")).tolist() == [0x3F800000]
