"""paddle_mps.onnx: products whose operands come from DequantizeLinear, which are products of the integers on the CPU.

Scales are powers of 2 and sums of less than 24 bits, unless a test says otherwise: then every result has one value, in integers
and in floats. NumPy computes it in 64 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx_files as files
import pytest

import paddle_mps as paddle

places = pytest.mark.parametrize("place", ["cpu", "mps"])
kinds = pytest.mark.parametrize(
    ("left", "right"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "int8"), ("int8", "uint8")]
)

rng = np.random.default_rng(16)

QUARTER, HALF = np.array(0.25, "float32"), np.array(0.5, "float32")


def quanta(dtype: str, *shape: int) -> Any:
    """Integers of 8 bits, the least and the greatest among them."""
    return rng.choice(np.array([0, 1, 90, 127, 128, 200, 255], np.uint8), shape).astype(np.uint8).view(dtype)


def powers(*shape: int) -> Any:
    """Scales that are powers of 2."""
    return np.float32(2) ** rng.integers(-6, 0, shape).astype("float32")


def centered(x: Any, zero: Any) -> Any:
    """Integers less their zero point in 64 bits."""
    return x.astype(np.int64) - zero.astype(np.int64)


def elem(x: Any) -> str:
    """The name that ports have for a dtype."""
    return "float" if x.dtype == np.float32 else str(x.dtype)


def model(
    nodes: list[bytes], inputs: dict[str, Any], weights: dict[str, Any], outputs: list[str], **more: Any
) -> bytes:
    """A file whose inputs have the dtypes of arrays."""
    return files.model(
        nodes,
        [files.port(name, elem(x), [None] * x.ndim) for name, x in inputs.items()],
        [files.port(name, "float", None) for name in outputs],
        [files.weight(name, x) for name, x in weights.items()],
        opset=21,
        **more,
    )


def dequantize(name: str, **attributes: Any) -> bytes:
    """name_d is the float of name at the scale name_s and the zero point name_z."""
    return files.node("DequantizeLinear", [name, f"{name}_s", f"{name}_z"], [f"{name}_d"], **attributes)


def integers(loaded: Any, row: str = "matmul_integer") -> int:
    """How many products of integers a program has."""
    return int(loaded.explain().count(f" = {row}("))


def load(data: bytes, place: str, inputs: dict[str, Any], row: str = "matmul_integer", count: int = 1) -> Any:
    """The result of a model, which has so many products of integers on the CPU and none elsewhere."""
    loaded = paddle.onnx.load(data, place)
    made = loaded(*inputs.values())
    assert integers(loaded, row) == (count if place == "cpu" else 0)
    return made.numpy()


@places
@kinds
@pytest.mark.parametrize("constant", [True, False])
def test_matmul(place: str, left: str, right: str, constant: bool) -> None:
    """Scales and zero points of the right operand are for all elements or for columns; it may have batches."""
    for dims in [(5, 70, 40), (1, 9, 4), (2, 3, 9, 17)]:
        *rows, k, n = dims
        x, xz = quanta(left, *rows, k), quanta(left)
        y = quanta(right, *rows[:-1], k, n)
        for ys, yz in [(HALF, quanta(right)), (powers(1), np.zeros(1, right)), (powers(n), quanta(right, n)), (powers(n), np.zeros(n, right))]:  # fmt: skip
            params = {"x_s": QUARTER, "x_z": xz, "y_s": ys, "y_z": yz}
            inputs, weights = ({"x": x}, {"y": y, **params}) if constant else ({"x": x, "y": y}, params)
            nodes = [dequantize("x"), dequantize("y", axis=-1), files.node("MatMul", ["x_d", "y_d"], ["p"])]
            got = load(model(nodes, inputs, weights, ["p"]), place, inputs, count=1 if not yz.any() else 2)
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, (centered(x, xz) @ centered(y, yz)) * 0.25 * ys)


@places
@kinds
@pytest.mark.parametrize("trans", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm(place: str, left: str, right: str, trans: tuple[int, int]) -> None:
    """Its weight may be transposed, and its bias is integers at the scale of the product."""
    m, k, n = 6, 30, 20
    a, b = quanta(left, *((k, m) if trans[0] else (m, k))), quanta(right, *((n, k) if trans[1] else (k, n)))
    az, bz, bs, c = quanta(left), quanta(right, n), powers(n), rng.integers(-1000, 1000, n, np.int32)
    weights = {"a_s": QUARTER, "a_z": az, "b": b, "b_s": bs, "b_z": bz, "c": c, "c_s": bs / 4, "c_z": np.zeros(n, "int32")}  # fmt: skip
    axis = 1 - trans[1]
    gemm = files.node("Gemm", ["a_d", "b_d", "c_d"], ["p"], transA=trans[0], transB=trans[1], alpha=2.0, beta=4.0)
    data = model([dequantize("a"), dequantize("b", axis=axis), dequantize("c", axis=0), gemm], {"a": a}, weights, ["p"])
    exact = centered(a.T if trans[0] else a, az) @ (centered(b.T, bz) if trans[1] else centered(b, bz))
    np.testing.assert_array_equal(
        load(data, place, {"a": a}, count=2), (exact * 2 + c.astype(np.int64) * 4) * 0.25 * bs
    )


@places
def test_transposed_weights(place: str) -> None:
    """A weight in floats that is quantized, as in training, and transposed between DequantizeLinear and the product; also where the
    other axis has the scales, and where the transposed floats are read too."""
    x, w, xz, s = quanta("uint8", 4, 8), quanta("int8", 6, 8), np.array(7, "uint8"), powers(6)
    weights = {"x_s": QUARTER, "x_z": xz, "f": w * s[:, None], "w_s": s, "w_z": np.zeros(6, "int8")}
    nodes = [
        dequantize("x"),
        files.node("QuantizeLinear", ["f", "w_s", "w_z"], ["w"], axis=0),
        dequantize("w", axis=0),
        files.node("Transpose", ["w_d"], ["t"], perm=[1, 0]),
        files.node("MatMul", ["x_d", "t"], ["p"]),
    ]
    exact = (centered(x, xz) @ w.T.astype(np.int64)) * 0.25 * s
    np.testing.assert_array_equal(load(model(nodes, {"x": x}, weights, ["p"]), place, {"x": x}), exact)
    both = paddle.onnx.load(model(nodes, {"x": x}, weights, ["p", "t"]), place)(x)
    np.testing.assert_array_equal(both[0].numpy(), exact)
    np.testing.assert_array_equal(both[1].numpy(), w.T * s)
    # Without perm, and twice.
    nodes[3] = files.node("Transpose", ["w_d"], ["t"])
    np.testing.assert_array_equal(load(model(nodes, {"x": x}, weights, ["p"]), place, {"x": x}), exact)
    nodes[4:] = [files.node("Transpose", ["t"], ["u"]), files.node("Gemm", ["x_d", "u"], ["p"], transB=1)]
    np.testing.assert_array_equal(load(model(nodes, {"x": x}, weights, ["p"]), place, {"x": x}), exact)
    # Scales of the inner axis.
    inner = powers(8)
    weights |= {"f": w * inner, "w_s": inner, "w_z": np.zeros(8, "int8")}
    nodes[1:3] = [files.node("QuantizeLinear", ["f", "w_s", "w_z"], ["w"], axis=1), dequantize("w", axis=1)]
    want = (centered(x, xz) * 0.25) @ (w * inner).T
    np.testing.assert_array_equal(load(model(nodes, {"x": x}, weights, ["p"]), place, {"x": x}, count=0), want)
    nodes[3] = files.node("Transpose", ["w_d"], ["t"], perm=[0, 2])
    with pytest.raises(ValueError, match="Transpose"):
        paddle.onnx.load(model(nodes, {"x": x}, weights, ["p"]), place)(x)


@places
def test_fused_products(place: str) -> None:
    """Those of onnxruntime, with a transposed weight."""
    x, w, xz, b = quanta("uint8", 4, 8), quanta("int8", 6, 8), np.array(7, "uint8"), powers(6)
    weights = {"x_s": QUARTER, "x_z": xz, "w": w, "w_s": HALF, "w_z": np.array(0, "int8"), "b": b}
    exact = centered(x, xz) @ w.T.astype(np.int64) * 0.125
    cases: list[tuple[str, list[str], dict[str, Any], Any]] = [
        ("FusedMatMul", [], {"alpha": 2.0}, exact * 2),
        ("FusedGemm", ["b"], {"activation": "Relu"}, np.maximum(exact + b, 0)),
    ]
    for op, more, attributes, want in cases:
        product = files.node(op, ["x_d", "w_d", *more], ["p"], "com.microsoft", transB=1, **attributes)
        data = model([dequantize("x"), dequantize("w"), product], {"x": x}, weights, ["p"], domains=["com.microsoft"])
        np.testing.assert_array_equal(load(data, place, {"x": x}), want)


def windows(x: Any, w: Any, pad: int, stride: int, groups: int) -> Any:
    """A convolution of integers in 64 bits, padded with 0."""
    sliding: Any = np.lib.stride_tricks.sliding_window_view  # whose stub knows one axis only
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    views = sliding(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    each = [np.einsum("nchwij,ocij->nohw", v, u) for v, u in zip(np.split(views, groups, 1), np.split(w, groups))]
    return np.concatenate(each, 1)


@places
@kinds
@pytest.mark.parametrize("channels", [False, True])
def test_conv(place: str, left: str, right: str, channels: bool) -> None:
    """Padding is what the zero point stands for. Groups of few channels, or of a weight with a zero point, are multiplied as floats."""
    for c, o, size, pad, stride, groups, count in [(9, 7, 3, 1, 1, 1, 1), (16, 12, 3, 2, 2, 2, 1), (16, 4, 1, 0, 1, 1, 1), (5, 7, 3, 1, 1, 1, 0), (4, 4, 3, 1, 1, 4, 0)]:  # fmt: skip
        x, w, xz = quanta(left, 2, c, 9, 9), quanta(right, o, c // groups, size, size), quanta(left)
        each = [o] if channels else []
        for wz in (np.zeros(each, right), quanta(right, *each)):
            ws, b = powers(*each), rng.integers(-1000, 1000, o, np.int32)
            weights = {"x_s": QUARTER, "x_z": xz, "w": w, "w_s": ws, "w_z": wz, "b": b, "b_s": ws / 4, "b_z": np.zeros(each, "int32")}  # fmt: skip
            conv = files.node("Conv", ["x_d", "w_d", "b_d"], ["p"], pads=[pad] * 4, strides=[stride] * 2, group=groups)
            nodes = [dequantize("x"), dequantize("w", axis=0), dequantize("b", axis=0), conv]
            integers = 0 if wz.any() and groups > 1 else count
            got = load(model(nodes, {"x": x}, weights, ["p"]), place, {"x": x}, "conv_integer", integers)
            wide = (wz if channels else np.full(o, wz))[:, None, None, None]
            exact = windows(centered(x, xz), centered(w, wide), pad, stride, groups) + b[:, None, None]
            scale = (ws if channels else np.full(o, ws))[:, None, None]
            np.testing.assert_array_equal(got, exact * 0.25 * scale)


def test_sums_are_exact() -> None:
    """Products of 1 in the middle of a sum are lost in float32: beside 1000 products of 255 and 127, it holds even numbers only."""
    x, w = np.full((1, 3001), 255, "uint8"), np.full((3001, 1), 127, "int8")
    x[0, 1000:2001], w[1000:2001], w[2001:] = 1, 1, -127
    one = np.array(1, "float32")
    weights = {"x_s": one, "x_z": np.array(0, "uint8"), "w": w, "w_s": one, "w_z": np.array(0, "int8")}
    nodes = [dequantize("x"), dequantize("w"), files.node("MatMul", ["x_d", "w_d"], ["p"])]
    assert load(model(nodes, {"x": x}, weights, ["p"]), "cpu", {"x": x}) == 1001
    # The most terms whose sum fits int32, and one more.
    for k, count in [(33025, 1), (33026, 0)]:
        x, w = np.full((1, k), 255, "uint8"), np.full((k, 4), 255, "uint8")
        weights = {"x_s": one, "x_z": np.array(0, "uint8"), "w": w, "w_s": one, "w_z": np.array(0, "uint8")}
        got = load(model(nodes, {"x": x}, weights, ["p"]), "cpu", {"x": x}, count=count)
        # The float32 next to the sum; of floats the error is at most one rounding of it for each term.
        np.testing.assert_allclose(got, np.full((1, 4), k * 255 * 255, "float32"), rtol=0 if count else k * 2.0**-24)


@places
@pytest.mark.parametrize("relu", [False, True])
def test_layer(place: str, relu: bool) -> None:
    """From floats to floats, as exporters write it: quantized, multiplied, with a bias and perhaps Relu, quantized again."""
    k, n = 64, 48
    x, w = (rng.integers(-300, 300, (7, k)) / 4).astype("float32"), quanta("int8", k, n)
    xz, yz, ys = np.array(128, "uint8"), np.array(3, "uint8"), np.array(64, "float32")
    ws, b = powers(n), rng.integers(-1000, 1000, n, np.int32)
    weights = {"x_s": QUARTER, "x_z": xz, "w": w, "w_s": ws, "w_z": np.zeros(n, "int8"), "b": b, "b_s": ws / 4, "b_z": np.zeros(n, "int32"), "q_s": ys, "q_z": yz}  # fmt: skip
    nodes = [
        files.node("QuantizeLinear", ["f", "x_s", "x_z"], ["x"]),
        *(dequantize("x"), dequantize("w", axis=1), dequantize("b", axis=0)),
        files.node("MatMul", ["x_d", "w_d"], ["p"]),
        files.node("Add", ["p", "b_d"], ["s"]),
        files.node("Relu" if relu else "Identity", ["s"], ["r"]),
        files.node("QuantizeLinear", ["r", "q_s", "q_z"], ["q"]),
        dequantize("q"),
    ]
    got = load(model(nodes, {"f": x}, weights, ["q_d"]), place, {"f": x})
    s = (np.clip(x * 4, -128, 127).astype(np.int64) @ w.astype(np.int64) + b) * 0.25 * ws
    q = np.clip(np.rint((np.maximum(s, 0) if relu else s) / 64) + 3, 0, 255)
    np.testing.assert_array_equal(got, (q - 3) * 64)


@places
def test_what_is_multiplied_as_floats(place: str) -> None:
    """Products that integers cannot stand for are as they were: scales of the inner axis or of blocks, of rows of the left
    operand, that are inputs, 0 or not finite, and products of scales that are no normal number; operands that are no matrices."""
    x, w = quanta("uint8", 4, 8), quanta("int8", 8, 6)
    xz, wz = np.array(7, "uint8"), np.array(0, "int8")
    nodes = [dequantize("x", axis=0), dequantize("w", axis=0), files.node("MatMul", ["x_d", "w_d"], ["p"])]

    def check(want: Any, nodes: list[bytes] = nodes, **params: Any) -> None:
        inputs: dict[str, Any] = {"x": params.pop("x", x)} | params.pop("inputs", {})
        weights: dict[str, Any] = {"x_s": QUARTER, "x_z": xz, "w": w, "w_s": HALF, "w_z": wz} | params
        weights = {name: a for name, a in weights.items() if name not in inputs}
        got = load(model(nodes, inputs, weights, ["p"]), place, inputs, count=0)
        np.testing.assert_array_equal(got, want)

    xc, wc = centered(x, xz), w.astype(np.int64)
    inner, rows = powers(8), powers(4)
    check((xc * 0.25) @ (wc * inner[:, None]), w_s=inner, w_z=np.zeros(8, "int8"))
    check((xc * rows[:, None]) @ (wc * 0.5), x_s=rows, x_z=np.full(4, 7, "uint8"))
    check(xc @ wc * 0.125, inputs={"w_s": HALF})
    check(np.zeros((4, 6)), w_s=HALF * 0)
    with np.errstate(all="ignore"):
        for tiny in (np.float32(2.0**-70), np.float32(2.0**-149)):
            check(((xc * tiny).astype("f4") @ (wc * tiny).astype("f4")).astype("f4"), x_s=tiny, w_s=tiny)
        infinite = (xc[:, :, None] * np.float64(0.25) * (wc * np.float64(np.inf))).sum(1)
        check(infinite, w_s=HALF * np.float32(np.inf))
    check(np.full((4, 6), np.nan), x_s=QUARTER * np.float32(np.nan))
    blocks = powers(2, 6)
    blocked = [nodes[0], dequantize("w", axis=0, block_size=4), nodes[2]]
    check((xc * 0.25) @ (wc * np.repeat(blocks, 4, 0)), blocked, w_s=blocks, w_z=np.zeros((2, 6), "int8"))
    check(xc[0] @ wc * 0.125, x=x[0])
    one_float = [files.node("Cast", ["x"], ["x_d"], to=1), nodes[1], nodes[2]]
    check(x.astype(np.int64) @ wc * 0.5, one_float)


@places
def test_operands_that_are_read_as_floats_too(place: str) -> None:
    """As an output of the model, by another operator, within a branch, a loop and a function, and behind a result whose size
    only elements tell."""
    x, w = quanta("uint8", 4, 8), quanta("int8", 8, 6)
    weights = {"x_s": QUARTER, "x_z": np.array(7, "uint8"), "w": w, "w_s": HALF, "w_z": np.array(0, "int8")}
    wf, p = w * 0.5, centered(x, weights["x_z"]) @ w.astype(np.int64) * 0.125
    first = [dequantize("x"), dequantize("w"), files.node("MatMul", ["x_d", "w_d"], ["p"])]

    def run(nodes: list[bytes], outputs: list[str], **more: Any) -> list[Any]:
        data = model([*first, *nodes], {"x": x}, weights | more.pop("weights", {}), outputs, **more)
        made = paddle.onnx.load(data, place)(x)
        return [y.numpy() for y in (made if isinstance(made, tuple) else (made,))]

    for got, want in zip(run([], ["w_d", "p", "x_d"]), (wf, p, centered(x, weights["x_z"]) * 0.25)):
        np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(run([files.node("ReduceSum", ["w_d"], ["s"]), files.node("Sub", ["p", "s"], ["y"])], ["y"])[0], p - wf.sum())  # fmt: skip
    port = [files.port("b", "float", None)]
    for inner in (files.node("Identity", ["w_d"], ["b"]), files.node("MatMul", ["x_d", "w_d"], ["b"])):
        branch = files.graph([inner], [], port)
        chosen = files.node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)
        want = wf if b"Identity" in inner else p
        np.testing.assert_array_equal(run([chosen], ["y"], weights={"yes": np.array(1, "int64")})[0], want)
    # A branch whose output is a value of the graph around it.
    outside = files.graph([], [], [files.port("w_d", "float", None)])
    chosen = files.node("If", ["yes"], ["y"], then_branch=outside, else_branch=outside)
    np.testing.assert_array_equal(run([chosen], ["y"], weights={"yes": np.array(1, "int64")})[0], wf)
    body = [files.node("DequantizeLinear", ["q", "s"], ["r"]), files.node("MatMul", ["l", "r"], ["m"])]
    function = files.function("Layer", body, ["l", "q", "s"], ["m", "r"])
    call = files.node("Layer", ["x_d", "w", "w_s"], ["y", "f"], "own")
    got = run([call], ["y", "f"], graph=b"", domains=["own"], about=function)
    np.testing.assert_array_equal(got[0], p)
    np.testing.assert_array_equal(got[1], wf)
    counted = [files.node("NonZero", ["x"], ["i"]), files.node("Cast", ["i"], ["i_f"], to=1), files.node("ReduceMax", ["i_f"], ["t"]), files.node("Mul", ["w_d", "t"], ["y"]), files.node("MatMul", ["x_d", "w_d"], ["z"])]  # fmt: skip
    for got_one, want in zip(run(counted, ["y", "z"]), (wf * max(i.max() for i in np.nonzero(x)), p)):
        np.testing.assert_array_equal(got_one, want)


def test_empty_operands() -> None:
    for m, k, n in [(0, 8, 6), (4, 0, 6), (4, 8, 0)]:
        x, w = quanta("uint8", m, k), quanta("int8", k, n)
        weights = {"x_s": QUARTER, "x_z": np.array(7, "uint8"), "w": w, "w_s": powers(n), "w_z": np.zeros(n, "int8")}
        nodes = [dequantize("x"), dequantize("w", axis=1), files.node("MatMul", ["x_d", "w_d"], ["p"])]
        got = paddle.onnx.load(model(nodes, {"x": x}, weights, ["p"]), "cpu")(x).numpy()
        np.testing.assert_array_equal(got, np.zeros((m, n)))


def test_operands_that_do_not_fit() -> None:
    """The error names the node, as that of floats does."""
    x, w = quanta("uint8", 4, 7), quanta("int8", 8, 6)
    weights = {"x_s": QUARTER, "x_z": np.array(7, "uint8"), "w": w, "w_s": HALF, "w_z": np.array(0, "int8")}
    nodes = [dequantize("x"), dequantize("w"), files.node("MatMul", ["x_d", "w_d"], ["p"])]
    loaded = paddle.onnx.load(model(nodes, {"x": x}, weights, ["p"]), "cpu")
    with pytest.raises(ValueError, match=r"MatMul.*\[4, 7\].*\[8, 6\]"):
        loaded(x)


def test_weights_keep_8_bits() -> None:
    """The constants of a model of two layers are its weights in int8, and at most a few KB of scales, zero points and biases;
    for all sizes of calls together."""
    k = 512
    weights: dict[str, Any] = {"x_s": QUARTER, "x_z": np.array(0, "uint8")}
    nodes = [files.node("QuantizeLinear", ["f", "x_s", "x_z"], ["x"]), dequantize("x")]
    nodes += [dequantize("v", axis=1), files.node("MatMul", ["x_d", "v_d"], ["y"])]
    nodes += [dequantize("w", axis=0), files.node("Gemm", ["x_d", "w_d"], ["z"], transB=1)]
    for name in ("v", "w"):
        weights |= {name: quanta("int8", k, k), f"{name}_s": powers(k), f"{name}_z": np.zeros(k, "int8")}
    loaded = paddle.onnx.load(model(nodes, {"f": np.zeros((1, 1), "float32")}, weights, ["y", "z"]), "cpu")
    for m in (1, 40):
        loaded(np.ones((m, k), "float32"))
    scales = 2 * 4 * k
    assert 2 * k * k <= loaded._program.info().constant_bytes <= 2 * k * k + scales + 1024
