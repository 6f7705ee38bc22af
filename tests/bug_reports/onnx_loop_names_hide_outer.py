"""onnx/onnx#2082: a body of a Loop whose input has the name of a value outside reads the one outside in each round."""

import numpy as np
from onnx_case import P, finish, h, model, run, same

body = h.make_graph(
    [
        h.make_node("Add", ["b", "x"], ["b_out"]),
        h.make_node("Identity", ["c"], ["c_out"]),
        h.make_node("Identity", ["b"], ["seen"]),
    ],
    "body",
    [
        h.make_tensor_value_info("i", P.INT64, []),
        h.make_tensor_value_info("c", P.BOOL, []),
        h.make_tensor_value_info("b", P.FLOAT, [1]),
    ],
    [
        h.make_tensor_value_info("c_out", P.BOOL, []),
        h.make_tensor_value_info("b_out", P.FLOAT, [1]),
        h.make_tensor_value_info("seen", P.FLOAT, [1]),
    ],
)
m = model(
    [
        h.make_node("Mul", ["x", "x"], ["b"]),
        h.make_node("Loop", ["n", "", "b"], ["y", "all"], body=body),
        h.make_node("Add", ["y", "b"], ["z"]),
    ],
    [("x", P.FLOAT, [1]), ("n", P.INT64, [])],
    [("y", P.FLOAT, None), ("all", P.FLOAT, None), ("z", P.FLOAT, None)],
)
for n in (0, 1, 3, 7):
    got = run(m, {"x": np.array([3], "float32"), "n": np.array(n, "int64")})
    same(f"{n} rounds", got[0], [9 + 3 * n])
    same(f"{n} rounds, seen", np.ravel(got[1]), [9 + 3 * k for k in range(n)])
    same(f"{n} rounds, outer b", got[2], [18 + 3 * n])

finish()
