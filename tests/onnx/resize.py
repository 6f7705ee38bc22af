"""Resize beside onnxruntime: all modes, coordinates and roundings at sizes 1 to 5, of the opsets that have them.

python -m pytest tests/onnx/resize.py
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

import paddle_mps

onnx: Any = importlib.import_module("onnx")
helper: Any = importlib.import_module("onnx.helper")
onnxruntime = pytest.importorskip("onnxruntime")

COORDINATES = [
    "half_pixel",
    "half_pixel_symmetric",
    "pytorch_half_pixel",
    "align_corners",
    "asymmetric",
    "tf_crop_and_resize",
    "tf_half_pixel_for_nn",
]
SINCE = {"half_pixel_symmetric": 19}
UNTIL = {"tf_half_pixel_for_nn": 11}
NEAREST = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
SIZES = range(1, 6)
REGION = [0.0, 0.0, 0.2, -0.1, 1.0, 1.0, 0.7, 1.2]


class Case(NamedTuple):
    """A Resize of an image of height and width; by scales or to sizes."""

    opset: int
    size: tuple[int, int]
    scales: tuple[float, float] | None
    sizes: tuple[int, int] | None
    attributes: dict[str, Any]


def settings(opset: int) -> Iterator[dict[str, Any]]:
    """The attributes of an opset."""
    if opset == 10:
        yield from ({"mode": mode} for mode in ("nearest", "linear"))
        return
    for way in COORDINATES:
        if not SINCE.get(way, 11) <= opset <= UNTIL.get(way, 19):
            continue
        base = {"coordinate_transformation_mode": way}
        crop: dict[str, Any] = {"extrapolation_value": 9.5} if way == "tf_crop_and_resize" else {}
        for nearest in NEAREST:
            yield {**base, **crop, "mode": "nearest", "nearest_mode": nearest}
        smooth: list[dict[str, Any]] = [{"mode": "linear"}]
        smooth += [{"mode": "cubic", "exclude_outside": out, "cubic_coeff_a": a} for out, a in ((0, -0.75), (1, -0.5))]
        for more in smooth:
            yield {**base, **crop, **more}
            if opset >= 18 and not crop:
                yield {**base, **more, "antialias": 1}


def cases(opset: int) -> Iterator[Case]:
    """All sizes to all sizes, the same on both axes and different ones."""
    for n, out in itertools.product(SIZES, SIZES):
        size, target = (n, 6 - n), (out, n)
        for attributes in settings(opset):
            if opset > 10:
                yield Case(opset, size, None, target, attributes)
            yield Case(opset, size, ((out + 0.25) / n, 1.3), None, attributes)


def model(case: Case) -> bytes:
    """A file with the node; scales, sizes and the region are constants."""
    numbers, attributes = case.attributes, dict(case.attributes)
    inputs = ["x"]
    weights = []

    def constant(name: str, elem: int, values: list[Any]) -> str:
        weights.append(helper.make_tensor(name, elem, [len(values)], values))
        return name

    def absent(name: str) -> str:  # in opset 11 operands that are not the last are empty tensors
        return constant(name, onnx.TensorProto.FLOAT, []) if case.opset == 11 else ""

    if case.opset > 10:
        crops = numbers.get("coordinate_transformation_mode") == "tf_crop_and_resize"
        inputs.append(constant("roi", onnx.TensorProto.FLOAT, REGION) if crops else absent("roi"))
    inputs.append(constant("scales", onnx.TensorProto.FLOAT, [1, 1, *case.scales]) if case.scales else absent("scales"))
    if case.sizes:
        inputs.append(constant("sizes", onnx.TensorProto.INT64, [1, 1, *case.sizes]))
    node = helper.make_node("Resize", inputs, ["y"], **attributes)
    port = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 1, *case.size])
    graph = helper.make_graph([node], "g", [port], [helper.make_tensor_value_info("y", 1, None)], weights)
    file = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=5)
    return bytes(file.SerializeToString())


def image(size: tuple[int, int]) -> Any:
    return (np.arange(1, size[0] * size[1] + 1, dtype="float32") ** 1.5).reshape(1, 1, *size)


def differs(case: Case) -> bool:
    """Cases in which onnxruntime does not do what the text of ONNX says, and we do; docs/onnx.md lists them."""
    way = case.attributes.get("coordinate_transformation_mode")
    if case.scales:
        same = [int(n * s) == n for n, s in zip(case.size, case.scales)]
        kept = any(same) if "antialias" in case.attributes else all(same)
        return kept or way in ("align_corners", "tf_crop_and_resize")
    pairs = list(zip(case.size, case.sizes or ()))
    if way == "half_pixel_symmetric" and case.attributes.get("nearest_mode") == "floor":
        return True  # coordinates that are integers are below them in float32, as 0.5 / (1 / 3) - 0.5 is below 1
    return way == "tf_crop_and_resize" and any(n == out for n, out in pairs)


@pytest.mark.parametrize("opset", [10, 11, 13, 18, 19])
def test_resize(opset: int) -> None:
    wrong, compared, left_out = [], 0, 0
    for case in cases(opset):
        if differs(case):
            left_out += 1
            continue
        data, x = model(case), image(case.size)
        want = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
        got = paddle_mps.onnx.load(data, "cpu")(x).numpy()
        compared += 1
        # Up to 16 products of a weight of up to 1.5 and an element, coordinates and weights of float32 beside ours of float64.
        bound = 2.0**-16 * np.abs(x).max()
        if got.shape != want.shape or not (np.abs(got - want) <= bound).all():
            wrong.append(f"{case}: {got.ravel()[:6].tolist()}; want {want.ravel()[:6].tolist()}")
    assert not wrong, "\n".join([f"{len(wrong)} of {compared}", *wrong[:5]])
    assert compared > 2 * left_out
