"""microsoft/onnxruntime#26997: the reference of ONNX rounds integer quotients down, onnxruntime towards zero as the standard says."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

for dt, t in (("int8", P.INT8), ("int16", P.INT16), ("int32", P.INT32), ("int64", P.INT64)):
    a = np.array([8, -8, 7, -7, 127, -127, 1, -1], dt)
    b = np.array([-3, 3, -2, 2, 4, 4, -2, 2], dt)
    m = model([h.make_node("Div", ["a", "b"], ["y"])], [("a", t, [8]), ("b", t, [8])], [("y", t, None)], 14)
    same(dt, run(m, {"a": a, "b": b})[0], np.trunc(a / b))
    m = model([h.make_node("Div", ["a", "b"], ["y"])], [("a", t, [8])], [("y", t, None)], 14, init=[("b", b)])
    same(dt + " constant", run(m, {"a": a})[0], np.trunc(a / b))
    m = model(
        [h.make_node("Div", ["c", "b"], ["d"]), h.make_node("Add", ["a", "d"], ["y"])],
        [("a", t, [8])],
        [("y", t, None)],
        14,
        init=[("b", b), ("c", a)],
    )
    same(dt + " folded", run(m, {"a": np.zeros(8, dt)})[0], np.trunc(a / b))
# sizes computed in the graph by division of negative numbers
m = model(
    [
        h.make_node("Shape", ["x"], ["s"]),
        h.make_node("Neg", ["s"], ["n"]),
        h.make_node("Div", ["n", "two"], ["q"]),
        h.make_node("Neg", ["q"], ["p"]),
        h.make_node("ConstantOfShape", ["p"], ["y"]),
    ],
    [("x", P.FLOAT, [None])],
    [("y", P.FLOAT, None)],
    init=[("two", np.array([2], "int64"))],
)
same("a size", run(m, {"x": np.zeros(7, "float32")})[0].shape, (3,))

finish()
