"""microsoft/onnxruntime#22007: a program gives nested lists of Python to run instead of arrays."""

from onnx_case import P, bad, check, finish, h, model, same

import paddle_mps.onnxruntime as ort

m = model([h.make_node("Add", ["x", "x"], ["y"])], [("x", P.INT64, ["a", "b"])], [("y", P.INT64, None)])
s = ort.InferenceSession(m, providers=["CPUExecutionProvider"])
same("lists", s.run(None, {"x": [[101, 2008, 102]]})[0], [[202, 4016, 204]])
mf = model([h.make_node("Add", ["x", "x"], ["y"])], [("x", P.FLOAT, ["a"])], [("y", P.FLOAT, None)])
same("floats", ort.InferenceSession(mf, providers=["CPUExecutionProvider"]).run(None, {"x": [1.5, 2.5]})[0], [3, 5])
mb = model([h.make_node("Not", ["x"], ["y"])], [("x", P.BOOL, ["a"])], [("y", P.BOOL, None)])
same(
    "bools",
    ort.InferenceSession(mb, providers=["CPUExecutionProvider"]).run(None, {"x": [True, False]})[0],
    [False, True],
)
ms = model([h.make_node("Identity", ["x"], ["y"])], [("x", P.STRING, ["a"])], [("y", P.STRING, None)])
same(
    "strings",
    ort.InferenceSession(ms, providers=["CPUExecutionProvider"]).run(None, {"x": ["a", "bc"]})[0],
    ["a", "bc"],
)
check("shape of an input", s.get_inputs()[0].shape == ["a", "b"])
for feed in ({"x": [[1, 2], [3]]}, {}, {"x": [[1]], "q": [1]}):
    try:
        s.run(None, feed)
        bad.append(f"{feed} was accepted")
    except Exception as e:
        check(f"{feed}: {e}", "x" in str(e) or "q" in str(e) or "shape" in str(e).lower() or "list" in str(e))

finish()
