"""Element types that tensors lack, beside NumPy and ml_dtypes: unsigned integers, 8-bit floats, 4-bit and 2-bit elements.

python -m pytest tests/onnx/elements.py
"""

from __future__ import annotations

import importlib
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import paddle_mps

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
numpy_helper: Any = importlib.import_module("onnx.numpy_helper")

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about infinities and NaN

UNSIGNED = [np.uint16, np.uint32, np.uint64]
FLOAT8 = [ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz]
SMALL_INTS = [ml_dtypes.uint4, ml_dtypes.int4, ml_dtypes.uint2, ml_dtypes.int2]
random = np.random.default_rng(5)


def elem(dtype: Any) -> int:
    """The number of a dtype in ONNX."""
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))


def bits(x: Any) -> Any:
    """An array as integers with its bits."""
    return x.view(f"u{x.dtype.itemsize}")


def model(
    nodes: list[Any],
    inputs: dict[str, Any],
    outputs: dict[str, Any],
    weights: dict[str, Any] | None = None,
    opset: int = 25,
) -> Any:
    """A model of nodes, with dtypes of its inputs and outputs, whose shapes are open."""
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, elem(d), None) for name, d in inputs.items()],
        [helper.make_tensor_value_info(name, elem(d), None) for name, d in outputs.items()],
        [numpy_helper.from_array(w, name) for name, w in (weights or {}).items()],
    )
    data = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11).SerializeToString()
    return paddle_mps.onnx.load(data, paddle_mps.CPUPlace())


def run(op: str, arrays: list[Any], result: Any, **attributes: Any) -> Any:
    """The first result of an operator on arrays."""
    names = [f"x{i}" for i in range(len(arrays))]
    node = helper.make_node(op, names, ["y"], **attributes)
    made = model([node], {n: x.dtype for n, x in zip(names, arrays)}, {"y": result})(*arrays)
    return made if isinstance(made, np.ndarray) else made.numpy()


def edges(dtype: Any) -> Any:
    """Unsigned integers around powers of 2, and random ones of each length."""
    info = np.iinfo(dtype)
    some = [2**k + d for k in range(info.bits) for d in (-1, 0, 1)] + [int(info.max), int(info.max) - 1]
    some += [int(n) >> s for s in range(info.bits) for n in random.integers(0, info.max, 2, np.uint64)]
    return np.array([n for n in some if n <= info.max], dtype)


def pairs(dtype: Any) -> tuple[Any, Any]:
    """All pairs of edges, as a column and a row."""
    x = edges(dtype)
    return x[:, None], x[None, :]


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("Add", np.add),
        ("Sub", np.subtract),
        ("Mul", np.multiply),
        ("Max", np.maximum),
        ("Min", np.minimum),
        ("BitwiseAnd", np.bitwise_and),
        ("BitwiseOr", np.bitwise_or),
        ("BitwiseXor", np.bitwise_xor),
    ],
)
def test_arithmetic(op: str, reference: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    got = run(op, [x, y], dtype)
    assert got.dtype == dtype and (got == reference(x, y)).all()


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_quotients(dtype: Any) -> None:
    x, y = pairs(dtype)
    y = y[:, (y != 0)[0]]
    assert (run("Div", [x, y], dtype) == x // y).all()
    for fmod in (0, 1):
        assert (run("Mod", [x, y], dtype, fmod=fmod) == x % y).all()
    with pytest.raises(Exception, match=r"division by zero|divide"):
        run("Div", [x, np.zeros_like(x)], dtype)


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("Equal", np.equal),
        ("Less", np.less),
        ("LessOrEqual", np.less_equal),
        ("Greater", np.greater),
        ("GreaterOrEqual", np.greater_equal),
    ],
)
def test_comparisons(op: str, reference: Any, dtype: Any) -> None:
    x, y = pairs(dtype)
    assert (run(op, [x, y], np.bool_) == reference(x, y)).all()


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_shifts(dtype: Any) -> None:
    """A distance of as many bits as there are or more leaves nothing."""
    x, y = pairs(dtype)
    few = y < np.iinfo(dtype).bits
    near = np.where(few, y, 0).astype(dtype)
    zero = np.zeros((), dtype)
    assert (run("BitShift", [x, y], dtype, direction="LEFT") == np.where(few, x << near, zero)).all()
    assert (run("BitShift", [x, y], dtype, direction="RIGHT") == np.where(few, x >> near, zero)).all()
    assert (run("BitwiseNot", [x], dtype) == ~x).all()


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_reductions(dtype: Any) -> None:
    x = random.permutation(edges(dtype))[: 4 * 11].reshape(4, 11)
    axes = np.array([1])
    for op, reference in (("ReduceMax", np.max), ("ReduceMin", np.min), ("ReduceSum", np.sum), ("ReduceProd", np.prod)):
        assert (run(op, [x, axes], dtype) == reference(x, 1, keepdims=True).astype(dtype)).all()
    assert (run("CumSum", [x, np.array(1)], dtype) == np.cumsum(x, 1, dtype)).all()
    assert (run("ArgMax", [x], np.int64, axis=1)[:, 0] == np.argmax(x, 1)).all()
    assert (run("ArgMin", [x], np.int64, axis=1)[:, 0] == np.argmin(x, 1)).all()
    low, high = np.array(3, dtype), np.array(np.iinfo(dtype).max - 3, dtype)
    assert (run("Clip", [x, low, high], dtype) == np.clip(x, low, high)).all()
    assert (run("TopK", [x, np.array([3])], dtype) == -np.sort(-x.astype(object), 1)[:, :3]).all()
    none = np.zeros((2, 0), dtype)
    assert (run("ReduceMax", [none, axes], dtype) == 0).all()
    assert (run("ReduceMin", [none, axes], dtype) == np.iinfo(dtype).max).all()
    y = random.permutation(edges(dtype))[:33].reshape(11, 3)
    assert (run("MatMul", [x, y], dtype) == (x[:, :, None] * y).sum(1, dtype)).all()


SIGNED = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.bool_]


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("other", [*SIGNED, *UNSIGNED, np.float16, np.float32, np.float64])
def test_casts_of_unsigned_integers(dtype: Any, other: Any) -> None:
    """NumPy rounds to the nearest number, as we do. What is too large for a half is infinite."""
    x = edges(dtype)
    want = x.astype(other)
    got = run("Cast", [x], other, to=elem(other))
    assert got.dtype == want.dtype and (got == want).all()
    assert (run("CastLike", [x, np.zeros(1, other)], other) == want).all()


@pytest.mark.parametrize("dtype", UNSIGNED)
@pytest.mark.parametrize("other", [*SIGNED, np.float16, np.float32, np.float64])
def test_casts_to_unsigned_integers(dtype: Any, other: Any) -> None:
    """Integers keep their low bits, floats lose their fraction. Floats that are out of range saturate here; NumPy has no answer."""
    info = np.iinfo(dtype)
    if np.issubdtype(other, np.floating):
        below = edges(dtype).astype(np.float64)
        x = np.concatenate([below, below + 0.75, -below, 2 * below, [np.nan, np.inf, -np.inf, -0.5]]).astype(other)
        want = np.array([0 if n != n or n < 0 else info.max if n > info.max else int(n) for n in x.tolist()], dtype)
    else:
        x = edges(np.uint64).astype(other)
        want = x.astype(dtype)
    got = run("Cast", [x], dtype, to=elem(dtype))
    assert got.dtype == dtype and (got == want).all()


@pytest.mark.parametrize("exponent", UNSIGNED)
def test_powers(exponent: Any) -> None:
    x, y = np.array([1.5, -2, 0.5], np.float32), np.array([3, 5, 40], exponent)
    assert np.allclose(run("Pow", [x, y], np.float32), x**y, rtol=1e-6)


def width(dtype: Any) -> int:
    """How many bits an element of 8 bits or less has."""
    few = {ml_dtypes.float4_e2m1fn: 4, ml_dtypes.uint4: 4, ml_dtypes.int4: 4, ml_dtypes.uint2: 2, ml_dtypes.int2: 2}
    return few.get(dtype, 8)


def every_half() -> Any:
    """All numbers of float16."""
    return np.arange(2**16, dtype=np.uint16).view(np.float16)


def around(dtype: Any) -> Any:
    """Numbers of float32 at, beside and halfway between those of a format, and others of all sizes."""
    codes = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    known = np.unique(codes[np.isfinite(codes)])
    halves = (known[1:] + known[:-1]) / 2
    at = np.concatenate([known, halves, 2 * known, [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38]]).astype(
        np.float32
    )
    beside = np.concatenate([np.nextafter(at, np.float32(np.inf)), np.nextafter(at, np.float32(-np.inf))])
    any_size = random.integers(0, 2**32, 10000, np.uint32).view(np.float32)
    return np.concatenate([at, beside, any_size])


def same(got: Any, want: Any) -> bool:
    """Whether floats have the same bits; any NaN is as good as another."""
    nan = np.isnan(want.astype(np.float32))
    return got.dtype == want.dtype and bool(
        ((bits(got) == bits(want)) | (nan & np.isnan(got.astype(np.float32)))).all()
    )


@pytest.mark.parametrize("dtype", [*FLOAT8, ml_dtypes.float4_e2m1fn])
@pytest.mark.parametrize("source", [np.float16, np.float32, np.float64])
def test_casts_to_small_floats(dtype: Any, source: Any) -> None:
    """With saturation what is too large is the largest number, otherwise an infinity or NaN. ml_dtypes rounds float64 by way of
    float32, so that it is given numbers of float32 alone."""
    x = every_half() if source is np.float16 else around(dtype).astype(source)
    want = x.astype(dtype)
    saturated = numpy_helper.saturate_cast(x, np.dtype(dtype)) if dtype in FLOAT8 else want
    number = ~np.isnan(x.astype(np.float32))  # FLOAT4E2M1 has no NaN
    x, want, saturated = (a[number] if dtype not in FLOAT8 else a for a in (x, want, saturated))
    assert same(run("Cast", [x], dtype, to=elem(dtype)), saturated)
    assert same(run("CastLike", [x, np.zeros(1, dtype)], dtype, saturate=1), saturated)
    if dtype in FLOAT8:
        assert same(run("Cast", [x], dtype, to=elem(dtype), saturate=0), want)


def test_a_double_is_rounded_once() -> None:
    """1 + 2**-4 is halfway between two numbers with 3 bits of fraction. Rounded to float32 first, what is above it would be it."""
    x = np.array([1 + 2.0**-4, 1 + 2.0**-4 + 2.0**-40, 1 + 3 * 2.0**-4 - 2.0**-40])
    got = run("Cast", [x], ml_dtypes.float8_e4m3fn, to=elem(ml_dtypes.float8_e4m3fn))
    assert got.astype(np.float32).tolist() == [1, 1.125, 1.125]


@pytest.mark.parametrize("dtype", [*FLOAT8, ml_dtypes.float4_e2m1fn, ml_dtypes.float8_e8m0fnu, *SMALL_INTS])
@pytest.mark.parametrize("other", [np.float16, np.float32, np.float64])
def test_casts_of_small_elements(dtype: Any, other: Any) -> None:
    """All 256 bytes; those with bits above the element are the element."""
    codes = np.arange(256, dtype=np.uint8)
    mask = (1 << width(dtype)) - 1
    x = codes.view(dtype)
    want = (codes & mask).view(dtype).astype(other)
    got = run("Cast", [x], other, to=elem(other))
    assert np.array_equal(got, want, equal_nan=True) and (np.signbit(got) == np.signbit(want))[~np.isnan(want)].all()


@pytest.mark.parametrize("dtype", SMALL_INTS)
@pytest.mark.parametrize(
    "source", [np.int8, np.uint8, np.int32, np.int64, np.uint16, np.uint64, np.float16, np.float32]
)
def test_casts_to_small_integers(dtype: Any, source: Any) -> None:
    x = np.arange(0 if np.dtype(source).kind == "u" else -100, 100).astype(source)
    assert (bits(run("Cast", [x], dtype, to=elem(dtype))) & 15 == bits(x.astype(np.int64).astype(dtype)) & 15).all()


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
@pytest.mark.parametrize("saturate", [0, 1])
def test_casts_to_powers_of_two(mode: str, saturate: int) -> None:
    """ONNX's reference on all numbers but subnormal ones, which it takes for something else."""
    powers = np.ldexp(np.float32(1), np.arange(-126, 128)).astype(np.float32)
    x = np.concatenate(
        [powers * f for f in (1, 1.25, 1.4999999, 1.5, 1.75)] + [np.array([0, np.inf, np.nan], np.float32)]
    )
    x = np.concatenate([x, np.nextafter(x, np.float32(np.inf)), np.nextafter(x, np.float32(0)), -x])
    x = x[(np.abs(x) >= powers[0]) | (x == 0) | np.isnan(x)]
    dtype = ml_dtypes.float8_e8m0fnu
    got = run("Cast", [x], dtype, to=elem(dtype), round_mode=mode, saturate=saturate)
    assert (bits(got) == bits(numpy_helper.to_float8e8m0(x, bool(saturate), mode))).all()


@pytest.mark.parametrize("dtype", [np.uint16, np.int16, *FLOAT8, ml_dtypes.float4_e2m1fn, *SMALL_INTS])
@pytest.mark.parametrize("source", [np.float32, np.float16])
def test_quantization(dtype: Any, source: Any) -> None:
    """Per axis, and back. The reference is the formula in float64, of quotients of powers of 2, which are exact."""
    x = (random.integers(-(2**10), 2**10, (3, 64)) / 2**6).astype(source)
    scale = np.array([0.25, 0.5, 0.0625], source)
    ints = dtype in (np.uint16, np.int16, *SMALL_INTS)
    zero = np.array([1, 0, 2] if ints and dtype is not ml_dtypes.int2 else [1, 0, -1] if ints else [0, 0, 0]).astype(
        dtype
    )
    if dtype is np.uint16:
        zero[2] = 60001
    exact = x.astype(np.float64) / scale[:, None]
    if ints:
        info = ml_dtypes.iinfo(dtype)
        want = (
            np.clip(np.rint(exact) + zero.astype(np.float64)[:, None], int(info.min), int(info.max))
            .astype(np.int64)
            .astype(dtype)
        )
    else:
        want = numpy_helper.saturate_cast(exact.astype(np.float32), np.dtype(dtype))
    got = run("QuantizeLinear", [x, scale, zero], dtype, axis=0)
    assert got.dtype == np.dtype(dtype) and (got == want).all()
    back = (want.astype(np.float32) - zero.astype(np.float32)[:, None]) * scale.astype(np.float32)[:, None]
    assert (run("DequantizeLinear", [got, scale, zero], source, axis=0) == back.astype(source)).all()
    assert (run("QuantizeLinear", [x, scale[:1]], dtype, output_dtype=elem(dtype)).shape) == x.shape


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4, np.uint16, ml_dtypes.float8_e4m3fn])
def test_blocks(dtype: Any) -> None:
    """A scale and a zero point for each block of 4 along an axis, which weights of language models have. Quotients are exact."""
    x = (random.integers(-64, 64, (3, 12, 2)) / 8).astype(np.float32)
    scale = np.float32(2) ** random.integers(-3, 1, (3, 3, 2)).astype(np.float32)
    zero: Any = np.zeros((3, 3, 2)).astype(dtype)
    if dtype is not ml_dtypes.float8_e4m3fn:
        zero = random.integers(0, 7, zero.shape).astype(dtype)
    wide = [np.repeat(a.astype(np.float32), 4, 1) for a in (scale, zero)]
    want = x / wide[0] + wide[1]
    if dtype is not ml_dtypes.float8_e4m3fn:
        info = ml_dtypes.iinfo(dtype)
        want = np.clip(np.rint(x / wide[0]) + wide[1], int(info.min), int(info.max))
    want = want.astype(dtype)
    got = run("QuantizeLinear", [x, scale, zero], dtype, axis=1, block_size=4)
    assert got.dtype == want.dtype and (got == want).all()
    back = (want.astype(np.float32) - wide[1]) * wide[0]
    assert (run("DequantizeLinear", [got, scale, zero], np.float32, axis=1, block_size=4) == back).all()


def test_a_float_zero_point_is_added() -> None:
    dtype = ml_dtypes.float8_e4m3fn
    x, scale, zero = np.array([1, 2, -0.0], np.float32), np.array(0.5, np.float32), np.array(0.5, dtype)
    assert run("QuantizeLinear", [x, scale, zero], dtype).tolist() == [2.5, 4.5, 0.5]
    assert run("DequantizeLinear", [x.astype(dtype), scale, zero], np.float32).tolist() == [0.25, 0.75, -0.25]
    assert (bits(run("QuantizeLinear", [x, scale, np.array(0, dtype)], dtype)) == bits((2 * x).astype(dtype))).all()


@pytest.mark.parametrize("dtype", [*UNSIGNED, *FLOAT8, ml_dtypes.float8_e8m0fnu, ml_dtypes.float4_e2m1fn, *SMALL_INTS])
def test_moves(dtype: Any) -> None:
    """The bits of all elements, as inputs and as weights of a file, which has two or four in a byte. An odd number of them."""
    raw = random.integers(0, 256, (3, 5, np.dtype(dtype).itemsize), np.uint8)
    x = raw.view(dtype)[..., 0]
    if dtype not in (*UNSIGNED, *FLOAT8, ml_dtypes.float8_e8m0fnu):
        x = x.astype(np.float32).astype(dtype)  # no bits above those of the element
    nodes = [
        helper.make_node("Transpose", ["x"], ["t"]),
        helper.make_node("Reshape", ["t", "shape"], ["r"]),
        helper.make_node("Gather", ["r", "places"], ["g"]),
        helper.make_node("Concat", ["g", "w"], ["c"], axis=0),
        helper.make_node("Compress", ["c", "mask"], ["k"], axis=0),
        helper.make_node("Identity", ["k"], ["y"]),
        helper.make_node("Where", ["mask", "c", "w0"], ["z"]),
        helper.make_node("Constant", [], ["v"], value=numpy_helper.from_array(x[1, :3])),
    ]
    places, mask = np.array([14, 0, 7, 2]), np.array([True, False, True, True, False, True, True])
    weights = {"shape": np.array([15]), "places": places, "w": x[0, :3], "w0": x[2, 3:4]}
    made = model(nodes, {"x": dtype, "mask": np.bool_}, dict.fromkeys("yzv", dtype), weights)(x, mask)
    c = np.concatenate([x.T.reshape(-1)[places], x[0, :3]])
    for got, want in zip(made, (c[mask], np.where(mask, c, x[2, 3]), x[1, :3])):
        assert got.dtype == want.dtype and (bits(got) == bits(want)).all()


@pytest.mark.parametrize("dtype", [np.uint16, ml_dtypes.float8_e5m2, ml_dtypes.int4])
def test_elements_that_decide_a_shape(dtype: Any) -> None:
    """The model is compiled for the elements of an input, which is known then; -1 is the rest."""
    nodes = [
        helper.make_node("Cast", ["shape"], ["s"], to=7),
        helper.make_node("Reshape", ["x", "s"], ["y"]),
        helper.make_node("Identity", ["shape"], ["z"]),
    ]
    made = model(nodes, {"x": dtype, "shape": dtype}, {"y": dtype, "z": dtype})
    x = np.arange(6).astype(np.float32).astype(dtype)
    for dims in ((2, 3), (3, 2), (6,)) + (() if dtype is np.uint16 else ((-1, 2),)):
        shape = np.array(dims, np.float32).astype(dtype)
        y, z = made(x, shape)
        assert y.shape == x.reshape(dims).shape and (bits(y).reshape(-1) == bits(x)).all()
        assert z.dtype == shape.dtype and (bits(z) == bits(shape)).all()


def test_control_flow() -> None:
    """A loop that carries and stacks, and a scan."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["a", "one"], ["b"]),
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Identity", ["b"], ["s"]),
        ],
        "body",
        [helper.make_tensor_value_info(n, t, []) for n, t in (("i", 7), ("go", 9), ("a", 4))],
        [helper.make_tensor_value_info(n, t, []) for n, t in (("on", 9), ("b", 4), ("s", 4))],
    )
    scan = helper.make_graph(
        [helper.make_node("Max", ["m", "e"], ["n"]), helper.make_node("Identity", ["n"], ["o"])],
        "scan",
        [helper.make_tensor_value_info(n, 4, []) for n in "me"],
        [helper.make_tensor_value_info(n, 4, []) for n in "no"],
    )
    nodes = [
        helper.make_node("Loop", ["n3", "", "x"], ["last", "all"], body=body),
        helper.make_node("Scan", ["last", "all"], ["most", "running"], body=scan, num_scan_inputs=1),
    ]
    weights = {"n3": np.array(3), "one": np.array(1, np.uint16)}
    made = model(nodes, {"x": np.uint16}, dict.fromkeys(("last", "all", "most", "running"), np.uint16), weights)
    last, stack, most, running = made(np.array(65533, np.uint16))
    assert last.tolist() == 0 and stack.tolist() == [65534, 65535, 0]
    assert most.tolist() == 65535 and running.tolist() == [65534, 65535, 65535]


def test_errors_name_the_type_of_the_file() -> None:
    tensor = numpy_helper.from_array(np.zeros(2, np.uint16), "w")
    tensor.raw_data = b"123"
    with pytest.raises(ValueError, match=r'tensor "w" of uint16\[2\] has 3 bytes; want 4'):
        model([helper.make_node("Constant", [], ["y"], value=tensor)], {}, {"y": np.uint16})()
    nodes = [
        helper.make_node("SequenceConstruct", ["x", "x"], ["s"]),
        helper.make_node("SequenceEmpty", [], ["none"], dtype=4),
        helper.make_node("Concat", ["x", "s"], ["y"], axis=0),
    ]
    for name in ("s", "none"):
        nodes[-1].input[1] = name
        with pytest.raises(ValueError, match=r"Concat-\d+\): operand 1 is a sequence; want a tensor"):
            model(nodes, {"x": np.uint16}, {"y": np.uint16})(np.zeros(2, np.uint16))


def test_a_scan_of_batches() -> None:
    """Scan before opset 9. Its body compares numbers whose bits are negative as signed integers."""
    body = helper.make_graph(
        [helper.make_node("Greater", ["e", "m"], ["g"]), helper.make_node("Max", ["m", "e"], ["n"])],
        "body",
        [helper.make_tensor_value_info(n, 4, []) for n in "me"],
        [helper.make_tensor_value_info(n, t, []) for n, t in (("n", 4), ("g", 9))],
    )
    scan = helper.make_node("Scan", ["", "m", "x"], ["most", "greater"], body=body, num_scan_inputs=1)
    made = model([scan], {"m": np.uint16, "x": np.uint16}, {"most": np.uint16, "greater": np.bool_}, opset=8)
    most, greater = made(np.array([5, 60000], np.uint16), np.array([[4, 65535, 7], [1, 2, 65535]], np.uint16))
    assert most.dtype == np.uint16 and most.tolist() == [65535, 65535]
    assert greater.tolist() == [[False, True, False], [False, False, True]]


def test_what_is_refused() -> None:
    x = np.zeros((2, 2), np.uint16)
    for op, dtype in (
        ("Sqrt", np.uint16),
        ("Relu", np.uint16),
        ("Neg", ml_dtypes.int4),
        ("Add", ml_dtypes.float8_e5m2),
    ):
        arrays = [x.astype(dtype)] * (2 if op == "Add" else 1)
        with pytest.raises(paddle_mps.UnsupportedError, match=rf"{op}-25\): elements of type \w+ are not supported"):
            run(op, arrays, dtype)
    with pytest.raises(ValueError, match="operands have elements of types uint16 and int16; want one type"):
        run("Add", [x, x.astype(np.int16)], np.uint16)
    with pytest.raises(
        paddle_mps.UnsupportedError, match='output "y" is made of uint16; want int16, as the file declares'
    ):
        run("Identity", [x], np.int16)
    with pytest.raises(paddle_mps.UnsupportedError, match="reduction max of elements of type uint16 is not supported"):
        run("ScatterND", [x, np.zeros((1, 2), np.int64), x[0, :1]], np.uint16, reduction="max")
    with pytest.raises(paddle_mps.UnsupportedError, match="operand 1 of elements of type uint32 is not supported"):
        run("Gather", [x, x.astype(np.uint32)], np.uint16)
    with pytest.raises(paddle_mps.UnsupportedError, match="quantized elements of type uint32 are not supported"):
        run("QuantizeLinear", [x.astype(np.float32), np.ones((), np.float32), np.zeros((), np.uint32)], np.uint32)


@pytest.mark.parametrize("dtype", [np.uint32, np.uint64, ml_dtypes.float8_e8m0fnu])
def test_types_that_are_not_quantized(dtype: Any) -> None:
    """ONNX has no such models; a float32 would not hold all of the integers."""
    text = r"quantized elements of type \w+ are not supported"
    with pytest.raises(paddle_mps.UnsupportedError, match=text):
        run("DequantizeLinear", [np.ones(2, dtype), np.ones((), np.float32)], np.float32)
    with pytest.raises(paddle_mps.UnsupportedError, match=text):
        run("QuantizeLinear", [np.ones(2, np.float32), np.ones((), np.float32)], dtype, output_dtype=elem(dtype))


def test_arguments() -> None:
    made = model(
        [helper.make_node("Identity", ["x"], ["y"])], {"x": ml_dtypes.float8_e4m3fn}, {"y": ml_dtypes.float8_e4m3fn}
    )
    assert made.inputs[0].dtype is None and made.inputs[0].type == "float8e4m3fn"
    got = made(np.array([0x38, 0xB8], np.uint8))  # the bits of 1 and -1
    assert got.dtype == ml_dtypes.float8_e4m3fn and got.tolist() == [1, -1]
    for wrong in (np.zeros(2, np.float32), np.zeros(2, ml_dtypes.float8_e5m2), [1.0]):
        with pytest.raises(TypeError, match="want an array of float8_e4m3fn, or of uint8 with their bits"):
            made(wrong)
    made = model([helper.make_node("Identity", ["x"], ["y"])], {"x": np.uint32}, {"y": np.uint32})
    assert made(np.array([1, 255], np.uint8)).dtype == np.uint32
    assert (made(np.arange(6, dtype=">u4").reshape(2, 3).T) == np.arange(6).reshape(2, 3).T).all()
    others: list[Any] = [np.zeros(2, np.int32), np.zeros(2, np.float32), paddle_mps.to_tensor([1], dtype="int32")]
    for wrong in others:
        with pytest.raises(TypeError, match="want an array of uint32"):
            made(wrong)
