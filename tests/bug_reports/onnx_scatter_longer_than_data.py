"""microsoft/onnxruntime#7593: ScatterElements refuses indices that are longer than the data along its axis."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

m = model(
    [h.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction="add")],
    [("x", P.FLOAT, (1, 2)), ("i", P.INT64, (1, 4)), ("u", P.FLOAT, (1, 4))],
    [("y", P.FLOAT, None)],
    18,
)
same(
    "add",
    run(
        m, {"x": np.array([[1, 2]], "float32"), "i": np.array([[0, 1, 1, 0]]), "u": np.array([[1, 2, 3, 4]], "float32")}
    )[0],
    [[6, 7]],
)
m = model(
    [h.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1)],
    [("x", P.FLOAT, (1, 2)), ("i", P.INT64, (1, 4)), ("u", P.FLOAT, (1, 4))],
    [("y", P.FLOAT, None)],
    18,
)
same(
    "last wins",
    run(
        m, {"x": np.array([[1, 2]], "float32"), "i": np.array([[0, 1, 1, 0]]), "u": np.array([[1, 2, 3, 4]], "float32")}
    )[0],
    [[4, 3]],
)
m = model(
    [h.make_node("GatherElements", ["x", "i"], ["y"], axis=0)],
    [("x", P.FLOAT, (2, 3)), ("i", P.INT64, (5, 2))],
    [("y", P.FLOAT, None)],
    18,
)
x = np.arange(6, dtype="float32").reshape(2, 3)
i = np.array([[0, 1], [1, 0], [1, 1], [0, 0], [-1, -2]])
same("gather", run(m, {"x": x, "i": i})[0], [[x[a, c] for c, a in enumerate(row)] for row in i])
for red, f in (("mul", np.multiply), ("max", np.maximum), ("min", np.minimum)):
    m = model(
        [h.make_node("ScatterElements", ["x", "i", "u"], ["y"], axis=1, reduction=red)],
        [("x", P.FLOAT, (1, 2)), ("i", P.INT64, (1, 4)), ("u", P.FLOAT, (1, 4))],
        [("y", P.FLOAT, None)],
        18,
    )
    want = np.array([[1.0, 2.0]])
    for k, v in zip([0, 1, 1, 0], [1, 2, 3, -4]):
        want[0, k] = f(want[0, k], v)
    same(
        red,
        run(
            m,
            {
                "x": np.array([[1, 2]], "float32"),
                "i": np.array([[0, 1, 1, 0]]),
                "u": np.array([[1, 2, 3, -4]], "float32"),
            },
        )[0],
        want,
    )

finish()
