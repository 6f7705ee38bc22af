"""paddle_mps.onnxruntime: what programs for onnxruntime see.

`./build.sh test onnx` runs this file twice: with the module of this package, and with ONNXRUNTIME_MODULE=onnxruntime, so that
what is expected here is what onnxruntime does. Values are computed by NumPy. Tests marked `ours` are about what is deliberately
different, or about this package alone.
"""

from __future__ import annotations

import copy
import importlib
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import onnx_files as files
import pytest

NAME = os.environ.get("ONNXRUNTIME_MODULE", "paddle_mps.onnxruntime")
ort: Any = importlib.import_module(NAME)
errors: Any = importlib.import_module(f"{NAME}.capi.onnxruntime_pybind11_state")
ours = pytest.mark.skipif(NAME == "onnxruntime", reason="about paddle_mps alone")
CPU = ["CPUExecutionProvider"]

W = np.array([0, 2, 4], np.float32)
# y = x * w, z = y + b; the file does not say the shape of b.
TWO = files.model(
    [files.node("Mul", ["x", "w"], ["y"]), files.node("Add", ["y", "b"], ["z"])],
    [files.port("x", "float", ["n", 3]), files.port("b", "float", None)],
    [files.port("y", "float", ["n", 3]), files.port("z", "float", [None, 3])],
    [files.weight("w", W)],
    {"character": "a\nb\n\u00e9", "k": "v"},
    graph=files.field(10, "about the graph"),
    about=files.field(2, "maker")
    + files.field(3, "1.2")
    + files.field(4, "org.example")
    + files.field(5, 7)
    + files.field(6, "about the model"),
)
X, B = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3], np.float32)
PREFIX = "[ONNXRuntimeError] : "


def session(data: bytes = TWO, options: Any = None) -> Any:
    return ort.InferenceSession(data, options, providers=CPU)


@pytest.fixture
def two() -> Any:
    return session()


def test_what_a_session_says(two: Any) -> None:
    assert [(p.name, p.type, p.shape) for p in two.get_inputs()] == [
        ("x", "tensor(float)", ["n", 3]),
        ("b", "tensor(float)", []),
    ]
    assert [(p.name, p.type, p.shape) for p in two.get_outputs()] == [
        ("y", "tensor(float)", ["n", 3]),
        ("z", "tensor(float)", [None, 3]),
    ]
    assert str(two.get_inputs()[0]) == "NodeArg(name='x', type='tensor(float)', shape=['n', 3])"
    assert two.get_overridable_initializers() == []
    assert two.get_providers() == CPU and two.get_provider_options() == {CPU[0]: {}}
    assert isinstance(two.get_session_options(), ort.SessionOptions) and two.end_profiling() == ""


def test_metadata(two: Any) -> None:
    meta = two.get_modelmeta()
    assert meta.custom_metadata_map == {"character": "a\nb\n\u00e9", "k": "v"}
    assert (meta.producer_name, meta.domain, meta.version) == ("maker", "org.example", 7)
    assert (meta.description, meta.graph_name, meta.graph_description) == ("about the model", "g", "about the graph")


@pytest.mark.parametrize("ir, names", [(3, []), (8, ["w"])])
def test_initializers_that_are_inputs(ir: int, names: list[str]) -> None:
    data = files.model(
        [files.node("Mul", ["x", "w"], ["y"])],
        [files.port("x", "float", ["n", 3]), files.port("w", "float", [3])],
        [files.port("y", "float", ["n", 3])],
        [files.weight("w", W)],
        ir=ir,
    )
    made = session(data)
    assert [p.name for p in made.get_inputs()] == ["x"]
    assert [p.name for p in made.get_overridable_initializers()] == names
    assert (made.run(None, {"x": X})[0] == X * W).all()
    if ir < 4:
        with pytest.raises(errors.InvalidArgument, match="Invalid input name: w"):
            made.run(None, {"x": X, "w": W})
    elif NAME != "onnxruntime":
        with pytest.raises(errors.NotImplemented, match="'w' has a value in the file"):
            made.run(None, {"x": X, "w": W})


@pytest.mark.parametrize(
    "names, want",
    [(None, "yz"), ([], "yz"), (["z"], "z"), (["z", "y", "z"], "zyz"), (("y",), "y")],
)
def test_results(two: Any, names: Any, want: str) -> None:
    values = {"y": X * W, "z": X * W + B}
    made = two.run(names, {"b": B, "x": X})
    assert isinstance(made, list) and len(made) == len(want)
    for got, name in zip(made, want):
        assert type(got) is np.ndarray and got.dtype == np.float32 and got.flags.writeable
        assert (got == values[name]).all()
    made[0][:] = -1
    assert (two.run(["y"], {"x": X, "b": B})[0] == values["y"]).all()


def fortran() -> Any:
    return np.asfortranarray(X)


def unaligned() -> Any:
    raw = np.zeros(X.nbytes + 1, np.uint8)
    raw[1:] = X.reshape(-1).view(np.uint8)
    return raw[1:].view(np.float32).reshape(X.shape)


def frozen() -> Any:
    x = X.copy()
    x.flags.writeable = False
    return x


ARRAYS = {
    "Fortran order": fortran,
    "strided": lambda: np.repeat(X, 2, 1)[:, ::2],
    "backwards": lambda: X[:, ::-1][:, ::-1][::-1][::-1],
    "reversed": lambda: X[::-1, ::-1],
    "transposed": lambda: X.T.copy().T,
    "broadcast": lambda: np.broadcast_to(np.float32(2), (2, 3)),
    "unaligned": unaligned,
    "read-only": frozen,
    "empty": lambda: np.ones((0, 3), np.float32),
    "a list": lambda: X.tolist(),
    "a list of integers": lambda: [[1, 2, 3]],
    "a list of arrays": lambda: [X[0], X[1]],
}


@pytest.mark.parametrize("how", ARRAYS)
def test_arrays_of_any_layout(two: Any, how: str) -> None:
    x = ARRAYS[how]()
    (y,) = two.run(["y"], {"x": x, "b": B})
    want = np.asarray(x, np.float32) * W
    assert y.shape == want.shape and (y == want).all()


def test_a_0d_array_where_the_shape_is_open(two: Any) -> None:
    assert (two.run(["z"], {"x": X, "b": np.array(5, np.float32)})[0] == X * W + 5).all()


@ours
def test_the_other_byte_order(two: Any) -> None:
    """onnxruntime takes the bytes as they are, which gives other numbers."""
    assert (two.run(["y"], {"x": X.astype(X.dtype.newbyteorder()), "b": B})[0] == X * W).all()


def wrong(expected: str) -> str:
    return f"Unexpected input data type. Actual: (tensor({expected})) , expected: (tensor(float))"


DIMS = "Got invalid dimensions for input: x for the following indices\n index: 1 Got: 4 Expected: 3\n Please fix either"
ERRORS: list[tuple[Any, str, str]] = [
    ({"x": X}, "ValueError", "Required inputs (['b']) are missing from input feed (['x'])."),
    ({}, "ValueError", "Required inputs (['x', 'b']) are missing from input feed ([])."),
    ({"X": X, "b": B}, "ValueError", "Required inputs (['x']) are missing from input feed (['X', 'b'])."),
    ({"x": X, "b": B, "q": X}, "InvalidArgument", "2 : INVALID_ARGUMENT : Invalid input name: q"),
    *[
        ({"x": X.astype(dtype), "b": B}, "InvalidArgument", wrong(name))
        for dtype, name in [
            ("float64", "double"),
            ("int64", "int64"),
            ("float16", "float16"),
            ("uint16", "uint16"),
            ("bool", "bool"),
            ("U5", "string"),
            ("object", "string"),
        ]
    ],
    ({"x": X.astype("complex64"), "b": B}, "RuntimeError", "Numpy_type 14 can't be converted to MLDataType."),
    ({"x": np.zeros((2, 3), "M8[s]"), "b": B}, "RuntimeError", "Numpy_type 21 can't be converted to MLDataType."),
    ({"x": np.zeros((2, 3), "f4,f4"), "b": B}, "InvalidArgument", wrong("string")),
    ({"x": X[0], "b": B}, "InvalidArgument", "Invalid rank for input: x Got: 1 Expected: 2 Please fix"),
    ({"x": np.array(1, "f4"), "b": B}, "InvalidArgument", "Invalid rank for input: x Got: 0 Expected: 2"),
    ({"x": np.ones((2, 4), "f4"), "b": B}, "InvalidArgument", DIMS),
    ({"x": np.ones((2, 4, 4), "f4"), "b": B}, "InvalidArgument", "Invalid rank for input: x Got: 3 Expected: 2"),
    ({"x": X, "b": np.ones(5, "f4")}, "Fail", "1 : FAIL : "),
    ({"x": np.float32(1), "b": B}, "RuntimeError", "Unable to handle object of type <class 'numpy.float32'>"),
    ({"x": 1.0, "b": B}, "RuntimeError", "Unable to handle object of type <class 'float'>"),
    ({"x": object(), "b": B}, "RuntimeError", "Unable to handle object of type <class 'object'>"),
    ({"x": None, "b": B}, "Fail", "Missing Input: x"),
    ({"x": ((1.0, 2.0, 3.0),), "b": B}, "RuntimeError", "Input must be a list of dictionaries or a single numpy array"),
    (
        {"x": "abc", "b": B},
        "RuntimeError",
        "Input must be a list of dictionaries or a single numpy array for input 'x'.",
    ),
    ({"x": [[1, 2, 3], [4]], "b": B}, "RuntimeError", "Could not create tensor from given input list"),
    ({"x": [["a", "b", "c"]], "b": B}, "RuntimeError", "Could not create tensor from given input list"),
    (None, "AttributeError", "'NoneType' object has no attribute 'keys'"),
    ([X, B], "AttributeError", "'list' object has no attribute 'keys'"),
]


@pytest.mark.parametrize("feed, kind, text", ERRORS, ids=range(len(ERRORS)))
def test_errors_of_inputs(two: Any, feed: Any, kind: str, text: str) -> None:
    with pytest.raises(Exception) as caught:
        two.run(None, feed)
    assert type(caught.value).__name__ == kind and text in str(caught.value)
    if hasattr(errors, kind):
        assert type(caught.value) is getattr(errors, kind) and str(caught.value).startswith(PREFIX)
        assert not isinstance(caught.value, (RuntimeError, ValueError))
    assert (two.run(["y"], {"x": X, "b": B})[0] == X * W).all()


@pytest.mark.parametrize("names, kind", [(["no"], "InvalidArgument"), ("z", "TypeError"), ([1], "TypeError")])
def test_errors_of_outputs(two: Any, names: Any, kind: str) -> None:
    with pytest.raises(Exception) as caught:
        two.run(names, {"x": X, "b": B})
    assert type(caught.value).__name__ == kind
    assert kind != "InvalidArgument" or str(caught.value) == f"{PREFIX}2 : INVALID_ARGUMENT : Invalid output name:no"


def test_errors_of_files(tmp_path: pathlib.Path) -> None:
    none, bad = tmp_path / "none.onnx", tmp_path / "bad.onnx"
    bad.write_bytes(TWO[:50])
    with pytest.raises(errors.NoSuchFile, match=r"3 : NO_SUCHFILE : Load model from .*none.onnx failed"):
        ort.InferenceSession(str(none), providers=CPU)
    for given in (str(bad), TWO[:50], str(tmp_path)):
        with pytest.raises(errors.InvalidProtobuf, match="7 : INVALID_PROTOBUF : "):
            ort.InferenceSession(given, providers=CPU)
    with pytest.raises(errors.InvalidArgument, match="No graph was found in the protobuf"):
        session(b"")
    for value in (3, bytearray(TWO), None):
        with pytest.raises(TypeError, match="Unable to load from type '<class '"):
            ort.InferenceSession(value, providers=CPU)
    (tmp_path / "good.onnx").write_bytes(TWO)
    for path in (tmp_path / "good.onnx", str(tmp_path / "good.onnx")):
        assert (ort.InferenceSession(path, providers=CPU).run(["y"], {"x": X, "b": B})[0] == X * W).all()


@ours
def test_operators_that_are_missing() -> None:
    with pytest.raises(errors.NotImplemented, match=r"9 : NOT_IMPLEMENTED : .*1 operator is not supported: Nul-17"):
        session(TWO.replace(b"Mul", b"Nul"))


DTYPES = [
    "float32",
    "float64",
    "float16",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "bool",
]
ELEM = {"float32": "float", "float64": "double"}


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype: str) -> None:
    elem = ELEM.get(dtype, dtype)
    data = files.model(
        [files.node("Transpose", ["x"], ["y"])],
        [files.port("x", elem, [None, None])],
        [files.port("y", elem, [None, None])],
    )
    made = session(data)
    x = np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 100, (3, 5)).astype(dtype)
    assert made.get_inputs()[0].type == f"tensor({elem})"
    (y,) = made.run(None, {"x": x})
    assert y.dtype == x.dtype and y.shape == (5, 3) and (y == x.T).all()


def test_strings() -> None:
    data = files.model(
        [files.node("StringConcat", ["x", "x"], ["y"])],
        [files.port("x", "string", ["n"])],
        [files.port("y", "string", ["n"])],
        opset=20,
    )
    made = session(data)
    assert made.get_inputs()[0].type == "tensor(string)"
    for x in (np.array(["a", "ü", ""], object), np.array(["a", "ü", ""]), ["a", "ü", ""]):
        (y,) = made.run(None, {"x": x})
        assert y.dtype == object and y.tolist() == ["aa", "üü", ""]
    with pytest.raises(errors.InvalidArgument, match="Unexpected input data type"):
        made.run(None, {"x": np.array([1, 2], "int64")})


# The bits of 1 and -2 by type; onnxruntime gives only those of the first as an array.
BITS = {"float8e4m3fn": [0x38, 0xC0], "float8e5m2": [0x3C, 0xC0], "int4": [1, 14]}


def small(source: str, target: str) -> Any:
    """A session of a cast."""
    node = files.node("Cast", ["x"], ["y"], to=files.ELEMS[target])
    return session(files.model([node], [files.port("x", source, [2])], [files.port("y", target, [2])], opset=21))


@pytest.mark.parametrize("elem", ["float8e4m3fn", *([] if NAME == "onnxruntime" else ["float8e5m2", "int4"])])
def test_results_without_a_dtype(elem: str) -> None:
    """Results with elements that NumPy has no dtype for have their bits."""
    made = small("float", elem)
    x = np.array([1, -2], np.float32)
    assert made.get_outputs()[0].type == f"tensor({elem})"
    (y,) = made.run(None, {"x": x})
    assert y.dtype == np.uint8 and y.tolist() == BITS[elem]
    (value,) = made.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(x)})
    assert value.data_type() == f"tensor({elem})" and value.element_type() == files.ELEMS[elem]
    assert value.shape() == [2] and value.numpy().tolist() == BITS[elem]
    binding = made.io_binding()
    binding.bind_cpu_input("x", x)
    binding.bind_output("y")
    made.run_with_iobinding(binding)
    assert binding.get_outputs()[0].data_type() == f"tensor({elem})"
    to = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(2, np.uint8), files.ELEMS[elem])
    binding.bind_ortvalue_output("y", to)
    made.run_with_iobinding(binding)
    assert to.numpy().tolist() == BITS[elem]
    binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(np.zeros(2, np.uint8)))
    with pytest.raises(RuntimeError, match="Unexpected output data type"):
        made.run_with_iobinding(binding)


@pytest.mark.parametrize("elem", ["float8e4m3fn", "float8e5m2", *([] if NAME == "onnxruntime" else ["int4"])])
def test_values_without_a_dtype(elem: str) -> None:
    """An input with such elements is a value with their bits; an array would be one of integers."""
    made, raw = small(elem, "float"), np.array(BITS[elem], np.uint8)
    value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(raw, files.ELEMS[elem])
    assert value.data_type() == f"tensor({elem})" and value.element_type() == files.ELEMS[elem]
    assert value.shape() == [2] and value.tensor_size_in_bytes() == 2
    assert made.run(None, {"x": value})[0].tolist() == [1, -2]
    with pytest.raises(errors.InvalidArgument, match=r"Unexpected input data type. Actual: \(tensor\(uint8\)\)"):
        made.run(None, {"x": raw})
    assert ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.array([-1], np.int16), 4).numpy().tolist() == [65535]
    for array, number in ((np.zeros(2, np.float32), 17), (np.zeros(2, np.uint8), 8), (np.zeros(2, np.int8), 99)):
        with pytest.raises(
            RuntimeError, match=r"Items size in the incoming array|Not a valid ONNX Tensor data type: 99"
        ):
            ort.OrtValue.ortvalue_from_numpy_with_onnx_type(array, number)


def test_scalars() -> None:
    """For an input without dimensions any array of one element will do, and a result without dimensions is an array."""
    data = files.model(
        [files.node("ReduceSum", ["x"], ["s"], keepdims=0), files.node("Add", ["s", "a"], ["y"])],
        [files.port("x", "float", ["n"]), files.port("a", "float", [])],
        [files.port("y", "float", [])],
    )
    for a in (np.array(2, "f4"), np.array([2], "f4")):
        (y,) = session(data).run(None, {"x": np.ones(4, "f4"), "a": a})
        assert type(y) is np.ndarray and y.reshape(()) == 6


def test_options() -> None:
    options = ort.SessionOptions()
    want = {"intra_op_num_threads": 0, "inter_op_num_threads": 0, "log_severity_level": -1, "logid": ""}
    want |= {"enable_cpu_mem_arena": True, "enable_mem_pattern": True, "enable_profiling": False}
    assert {name: getattr(options, name) for name in want} == want
    assert options.graph_optimization_level == ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.execution_mode = ort.ExecutionMode.ORT_PARALLEL
    options.intra_op_num_threads = options.inter_op_num_threads = np.int64(1)
    options.log_severity_level, options.enable_cpu_mem_arena = 3, False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
    assert (session(options=options).run(["y"], {"x": X, "b": B})[0] == X * W).all()
    with pytest.raises(RuntimeError, match="does not have configuration with key: none"):
        options.get_session_config_entry("none")
    with pytest.raises(AttributeError, match="has no attribute 'intra_op_threads'"):
        options.intra_op_threads = 1
    for name, value in [("intra_op_num_threads", "a"), ("graph_optimization_level", 1), ("logid", 3)]:
        with pytest.raises(TypeError):
            setattr(options, name, value)
    with pytest.raises(TypeError):
        options.add_session_config_entry("a", 1)
    with pytest.raises((TypeError, AttributeError)):
        ort.InferenceSession(TWO, 3, providers=CPU)
    with pytest.raises(RuntimeError, match="Invalid logging severity"):
        ort.set_default_logger_severity(9)


def test_sizes_that_are_given() -> None:
    options = ort.SessionOptions()
    options.add_free_dimension_override_by_name("n", 2)
    made = session(options=options)
    assert made.get_inputs()[0].shape == [2, 3]
    assert (made.run(["y"], {"x": X, "b": B})[0] == X * W).all()
    with pytest.raises(errors.InvalidArgument, match=r"index: 0 Got: 1 Expected: 2"):
        made.run(None, {"x": X[:1], "b": B})


@ours
def test_options_that_ask_for_what_is_not_there(tmp_path: pathlib.Path) -> None:
    options = ort.SessionOptions()
    options.optimized_model_filepath = str(tmp_path / "better.onnx")
    with pytest.raises(errors.NotImplemented, match="optimized_model_filepath"):
        session(options=options)
    with pytest.raises(errors.NotImplemented, match="custom operators"):
        options.register_custom_ops_library("ops.so")
    with pytest.raises(AttributeError, match="has no LoraAdapter"):
        _ = ort.LoraAdapter


def test_options_of_a_run(two: Any) -> None:
    options = ort.RunOptions()
    assert (two.run(["y"], {"x": X, "b": B}, options)[0] == X * W).all()
    options.terminate = True
    with pytest.raises(errors.Fail, match="1 : FAIL : Exiting due to terminate flag being set to true"):
        two.run(None, {"x": X, "b": B}, run_options=options)
    with pytest.raises(TypeError):
        two.run(None, {"x": X, "b": B}, 3)


@pytest.mark.parametrize(
    "providers",
    [["CPUExecutionProvider"], [("CPUExecutionProvider", {"a": "1"})], ["CPUExecutionProvider"] * 2, [], None],
)
def test_providers(providers: Any) -> None:
    assert "CPUExecutionProvider" in ort.get_available_providers()
    assert set(ort.get_available_providers()) <= {*ort.get_all_providers()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = ort.InferenceSession(TWO, providers=providers)
    assert made.get_providers()[-1] == "CPUExecutionProvider"
    made.set_providers(CPU)
    assert made.get_providers() == CPU and (made.run(["y"], {"x": X, "b": B})[0] == X * W).all()


def test_providers_that_are_not_there() -> None:
    with pytest.warns(
        UserWarning, match="Specified provider 'CUDAExecutionProvider' is not in available provider names"
    ):
        made = ort.InferenceSession(TWO, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
    assert made.get_providers() == CPU


def test_values() -> None:
    x = X.copy()
    value = ort.OrtValue.ortvalue_from_numpy(x)
    assert value.shape() == [2, 3] and value.data_type() == "tensor(float)" and value.element_type() == 1
    assert value.device_name() == "cpu" and value.has_value() and value.is_tensor()
    assert not value.is_sparse_tensor() and not value.is_tensor_sequence()
    assert value.data_ptr() == x.ctypes.data and np.shares_memory(value.numpy(), x)
    value.update_inplace(2 * X)
    assert (x == 2 * X).all()
    for bad in (np.zeros((2, 4), "f4"), *([np.zeros((2, 3), "f8")] if NAME != "onnxruntime" else [])):
        with pytest.raises(RuntimeError, match="does not match the size of the OrtValue"):
            value.update_inplace(bad)
    made = ort.OrtValue.ortvalue_from_shape_and_type([2, 4], np.int64)
    assert made.numpy().shape == (2, 4) and made.data_type() == "tensor(int64)" and made.element_type() == 7
    assert made.tensor_size_in_bytes() == 64
    assert ort.OrtValue.ortvalue_from_shape_and_type([2], 11).numpy().dtype == np.float64
    strided = ort.OrtValue.ortvalue_from_numpy(X[:, ::2])
    assert (strided.numpy() == X[:, ::2]).all()
    for other in ([1.0], np.array(["a"])):
        with pytest.raises(RuntimeError, match="only supported from non-string numpy arrays"):
            ort.OrtValue.ortvalue_from_numpy(other)
    with pytest.raises(RuntimeError, match="Can't allocate memory on the"):
        ort.OrtValue.ortvalue_from_numpy(x, "cuda", 0)
    with pytest.raises(Exception, match="Unsupported device type: foo"):
        ort.OrtValue.ortvalue_from_numpy(x, "foo", 0)


def test_values_are_arrays_for_numpy() -> None:
    value = ort.OrtValue.ortvalue_from_numpy(X.copy())
    assert np.asarray(value).tolist() == X.tolist() and np.array(value, "f8").dtype == np.float64
    other = np.array(value)
    other += 1
    assert (value.numpy() == X).all()


def test_sessions_are_not_pickled(two: Any) -> None:
    for way in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot pickle"):
            way(two)
    assert (copy.copy(two).run(["y"], {"x": X, "b": B})[0] == X * W).all()  # of the same model


class Kept(ort.InferenceSession):  # type: ignore[misc]
    """A session that loads its model again, as programs write it for worker processes."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, providers=CPU)
        self.data = data

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["data"])  # type: ignore[misc]


def test_sessions_that_load_again() -> None:
    made = pickle.loads(pickle.dumps(Kept(TWO)))
    assert (made.run(["y"], {"x": X, "b": B})[0] == X * W).all()


def test_private_names_that_programs_read(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(TWO)
    for source, name, none in ((str(path), "_model_path", "_model_bytes"), (TWO, "_model_bytes", "_model_path")):
        options = ort.SessionOptions()
        made = ort.InferenceSession(source, options, providers=CPU)
        assert getattr(made, name) == source and getattr(made, none, None) is None
        assert isinstance(made._sess_options, ort.SessionOptions)
    base = importlib.import_module(f"{NAME}.capi.onnxruntime_inference_collection").Session
    assert isinstance(made, base)


def test_numbers_print_with_their_names() -> None:
    assert str(ort.GraphOptimizationLevel.ORT_DISABLE_ALL) == "GraphOptimizationLevel.ORT_DISABLE_ALL"
    assert str(ort.ExecutionMode.ORT_PARALLEL) == "ExecutionMode.ORT_PARALLEL"


def test_runs_on_values(two: Any) -> None:
    x, b = (ort.OrtValue.ortvalue_from_numpy(a) for a in (X, B))
    assert (two.run(["y"], {"x": x, "b": B})[0] == X * W).all()
    (z,) = two.run_with_ort_values(["z"], {"x": x, "b": b})
    assert isinstance(z, ort.OrtValue) and (z.numpy() == X * W + B).all()


def test_binding(two: Any) -> None:
    binding = two.io_binding()
    with pytest.raises(RuntimeError, match="At least one output should be requested"):
        two.run_with_iobinding(binding)
    x, out = X.copy(), np.zeros((2, 3), np.float32)
    binding.bind_input("x", "cpu", 0, np.float32, x.shape, x.ctypes.data)
    binding.bind_cpu_input("b", B)
    binding.bind_output("z", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    binding.bind_output("y")
    two.run_with_iobinding(binding)
    assert (out == X * W + B).all()
    z, y = binding.copy_outputs_to_cpu()
    assert (z == X * W + B).all() and (y == X * W).all()
    assert [(v.numpy() == w).all() for v, w in zip(binding.get_outputs(), (X * W + B, X * W))] == [True, True]
    x += 1  # the memory is read when the session runs
    binding.synchronize_inputs()
    two.run_with_iobinding(binding)
    binding.synchronize_outputs()
    assert (out == (X + 1) * W + B).all()
    value = ort.OrtValue.ortvalue_from_numpy(np.zeros((2, 3), np.float32))
    binding.clear_binding_outputs()
    binding.bind_ortvalue_output("y", value)
    two.run_with_iobinding(binding)
    assert (value.numpy() == (X + 1) * W).all()


def test_errors_of_bindings(two: Any) -> None:
    binding = two.io_binding()
    with pytest.raises(RuntimeError, match="Failed to find NodeArg with name: q in the def list"):
        binding.bind_cpu_input("q", X)
    binding.bind_cpu_input("b", B)
    binding.bind_output("z")
    binding.bind_cpu_input("x", X.astype("f8"))
    with pytest.raises(
        RuntimeError, match=r"Error in execution: Unexpected input data type. Actual: \(tensor\(double\)\)"
    ):
        two.run_with_iobinding(binding)
    binding.bind_cpu_input("x", X)
    out = np.zeros((2, 2), np.float32)
    binding.bind_output("z", "cpu", 0, np.float32, out.shape, out.ctypes.data)
    with pytest.raises(
        RuntimeError, match=r"Got invalid dimensions for output: z for the following indices\n index: 1 Got: 2"
    ):
        two.run_with_iobinding(binding)


def test_runs_in_another_thread(two: Any) -> None:
    done, said = threading.Event(), []

    def callback(results: Any, data: Any, error: str) -> None:
        said.append((results, data, error))
        done.set()

    for x in (X, X[:, :2]):
        done.clear()
        two.run_async(["y"], {"x": x, "b": B}, callback, 5)
        assert done.wait(30)
    (good, bad) = said
    assert (good[0][0] == X * W).all() and good[1:] == (5, "")
    assert bad[0] == [] and bad[1] == 5 and bad[2].startswith("Got invalid dimensions for input: x")
    with pytest.raises(ValueError, match="are missing from input feed"):
        two.run_async(["y"], {"x": X}, callback, 5)


def test_threads(two: Any) -> None:
    """A session in many threads, at several sizes."""
    wrong: list[int] = []

    def work(n: int) -> None:
        x = np.full((n % 5 + 1, 3), n, np.float32)
        for _ in range(50):
            y, z = two.run(None, {"x": x, "b": B})
            if not ((y == x * W).all() and (z == x * W + B).all()):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def python(*arguments: str, status: int = 0, **env: str) -> str:
    """What an interpreter prints."""
    done = subprocess.run(
        [sys.executable, *arguments], env=os.environ | env, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stderr


PROGRAM = f"""
import sys
import numpy as np
import onnxruntime as rt
from onnxruntime import InferenceSession
from onnxruntime.capi.onnxruntime_pybind11_state import InvalidArgument
from onnxruntime.capi import _pybind_state as C
session = InferenceSession(bytes.fromhex("{TWO.hex()}"), providers=["CPUExecutionProvider"])
assert rt.__name__ == "paddle_mps.onnxruntime" and "onnxruntime" in sys.modules and C.InvalidArgument is InvalidArgument
try:
    session.run(["no"], {{"x": np.ones((1, 3), "f4"), "b": np.ones(3, "f4")}})
except InvalidArgument as error:
    print(session.run(["y"], {{"x": np.ones((1, 3), "f4"), "b": np.ones(3, "f4")}})[0].tolist(), session.get_providers())
"""


@ours
def test_install() -> None:
    install = "import paddle_mps.onnxruntime as ort; ort.install(); ort.install()\n"
    want = "[[0.0, 2.0, 4.0]] ['CPUExecutionProvider']\n"
    assert python("-c", install + PROGRAM) == python("-m", "paddle_mps", "--onnxruntime", "-c", PROGRAM) == want


@ours
@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac may have the GPU")
def test_install_for_a_gpu_that_is_missing() -> None:
    said = python("-m", "paddle_mps", "--onnxruntime=mps", "-c", PROGRAM, status=1, PADDLE_MPS_DEVICE="auto")
    assert "PADDLE_MPS_DEVICE=host emulates one on the CPU" in said


@ours
def test_install_for_the_gpu() -> None:
    """The program asks for the CPU and gets the device that the user asks for."""
    out = python("-m", "paddle_mps", "--onnxruntime=mps", "-c", PROGRAM, PADDLE_MPS_DEVICE="host")
    assert out == "[[0.0, 2.0, 4.0]] ['MPSExecutionProvider', 'CPUExecutionProvider']\n"
    said = python("-m", "paddle_mps", "--onnxruntime=none", "-c", PROGRAM, status=1)
    assert "provider is 'none'; want one of" in said


@ours
def test_the_real_onnxruntime_is_not_replaced(tmp_path: pathlib.Path) -> None:
    (tmp_path / "onnxruntime.py").write_text("")
    text = "import onnxruntime, paddle_mps.onnxruntime as ort; ort.install()"
    said = python("-c", text, status=1, PYTHONPATH=os.pathsep.join([str(tmp_path), *sys.path]))
    assert "RuntimeError: [install] onnxruntime is already imported, from" in said


@ours
def test_it_is_imported_when_it_is_asked_for() -> None:
    python("-c", "import sys, paddle_mps; assert not [m for m in sys.modules if 'onnxruntime' in m]")


@ours
def test_on_mps() -> None:
    """On the emulated device: providers, values of the device, and the CPU for dtypes that it lacks."""
    text = f"""
import numpy as np, warnings, paddle_mps.onnxruntime as ort
two, wide = bytes.fromhex("{TWO.hex()}"), bytes.fromhex("{WIDE.hex()}")
assert ort.get_available_providers() == ["MPSExecutionProvider", "CPUExecutionProvider"] and ort.get_device() == "MPS"
for asked in (None, ["MPSExecutionProvider"], ["CoreMLExecutionProvider", "CPUExecutionProvider"]):
    session = ort.InferenceSession(two, providers=asked)
    assert session.get_providers() == ["MPSExecutionProvider", "CPUExecutionProvider"], session.get_providers()
x, b = np.arange(6, dtype="f4").reshape(2, 3), np.ones(3, "f4")
want = x * np.array([0, 2, 4], "f4")
assert (session.run(["y"], {{"x": x, "b": b}})[0] == want).all()
value = ort.OrtValue.ortvalue_from_numpy(x, "mps")
assert value.device_name() == "mps" and value.shape() == [2, 3] and (value.numpy() == x).all()
value.update_inplace(x + 1)
assert (session.run(["y"], {{"x": value, "b": b}})[0] == (x + 1) * np.array([0, 2, 4], "f4")).all()
binding = session.io_binding()
binding.bind_ortvalue_input("x", value)
binding.bind_cpu_input("b", b)
binding.bind_output("y", "mps")
session.run_with_iobinding(binding)
assert binding.get_outputs()[0].device_name() == "mps"
assert (binding.copy_outputs_to_cpu()[0] == (x + 1) * np.array([0, 2, 4], "f4")).all()
session = ort.InferenceSession(wide)
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    assert (session.run(None, {{"x": x.astype("f8")}})[0] == -x).all()
assert session.get_providers() == ["CPUExecutionProvider"] and len(said) == 1, (session.get_providers(), said)
session = ort.InferenceSession(wide)
session.disable_fallback()
try:
    session.run(None, {{"x": x.astype("f8")}})
except Exception as error:
    print(type(error).__name__)
"""
    assert python("-c", text, PADDLE_MPS_DEVICE="host") in ("Fail\n", "NotImplemented\n")


WIDE = files.model(
    [files.node("Neg", ["x"], ["y"])], [files.port("x", "double", ["n", 3])], [files.port("y", "double", ["n", 3])]
)


# y = s with x at the end; s and y are sequences.
INSERT = files.model(
    [files.node("SequenceInsert", ["s", "x"], ["y"])],
    [files.port("s", "float", [2], sequence=True), files.port("x", "float", [2])],
    [files.port("y", "float", [2], sequence=True)],
)


def test_sequences_are_lists() -> None:
    s = session(INSERT)
    assert [(p.name, p.type, p.shape) for p in s.get_inputs() + s.get_outputs()] == [
        ("s", "seq(tensor(float))", []),
        ("x", "tensor(float)", [2]),
        ("y", "seq(tensor(float))", []),
    ]
    x = np.arange(2, dtype=np.float32)
    for given in ([], [x + 1], [x + 1, x + 2], [np.zeros((3, 2), np.float32)]):
        (y,) = s.run(None, {"s": given, "x": x})
        assert isinstance(y, list) and len(y) == len(given) + 1
        for got, want in zip(y, [*given, x]):
            np.testing.assert_array_equal(got, want)


def test_what_is_no_sequence() -> None:
    s, x = session(INSERT), np.zeros(2, np.float32)
    for given, error, says in (
        (x, errors.InvalidArgument, "input with name: 's' expected to be"),
        ((x,), RuntimeError, "Iterable of <class '.*'> should be given as array for input 's'"),
        ([1.0], RuntimeError, "CreateSequenceOfTensors: Input is not a tensor"),
        ([[1.0, 2.0]], RuntimeError, "CreateSequenceOfTensors: Input is not a tensor"),
        ([x.astype(np.float64)], RuntimeError, None),
        (None, errors.Fail, None),
    ):
        with pytest.raises(error, match=says):
            s.run(None, {"s": given, "x": x})


def test_optionals_are_none() -> None:
    has = session(
        files.model(
            [files.node("OptionalHasElement", ["o"], ["y"])],
            [files.port("o", "float", [2], optional=True)],
            [files.port("y", "bool", [])],
        )
    )
    assert str(has.get_inputs()[0]) == "NodeArg(name='o', type='optional(tensor(float))', shape=[2])"
    x = np.ones(2, np.float32)
    assert [has.run(None, feed)[0].item() for feed in ({"o": x}, {"o": None}, {}, {"o": [1.0, 2.0]})] == [
        True,
        False,
        False,
        True,
    ]
    with pytest.raises(errors.InvalidArgument, match="Got invalid dimensions for input: o"):
        has.run(None, {"o": np.ones(3, np.float32)})
    with pytest.raises(errors.InvalidArgument, match=r"Actual: \(tensor\(double\)\) , expected: \(tensor\(float\)\)"):
        has.run(None, {"o": np.ones(2)})
    same = session(
        files.model(
            [files.node("Identity", ["o"], ["y"])],
            [files.port("o", "float", [2], optional=True)],
            [files.port("y", "float", [2], optional=True)],
        )
    )
    assert same.run(None, {"o": None}) == [None]
    np.testing.assert_array_equal(same.run(None, {"o": x})[0], x)


@ours
def test_values_hold_no_sequences() -> None:
    s, x = session(INSERT), ort.OrtValue.ortvalue_from_numpy(np.zeros(2, np.float32))
    with pytest.raises(errors.NotImplemented, match=r"'y' is a sequence or nothing; want run\(\)"):
        s.run_with_ort_values(None, {"s": [], "x": x})
