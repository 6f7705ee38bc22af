"""microsoft/onnxruntime#13548: OrtValue.update_inplace copies the bytes of an array in the order of memory, whatever its strides."""

import numpy as np
from onnx_case import P, finish, h, model, same

import paddle_mps.onnxruntime as ort

a = np.arange(8, dtype="float32").reshape(1, 2, 2, 2).transpose(0, 2, 3, 1)
v = ort.OrtValue.ortvalue_from_shape_and_type([1, 2, 2, 2], np.float32, "cpu", 0)
v.update_inplace(a)
same("update_inplace", v.numpy(), a)
same("ortvalue_from_numpy", ort.OrtValue.ortvalue_from_numpy(a, "cpu", 0).numpy(), a)
m = model([h.make_node("Mul", ["x", "x"], ["y"])], [("x", P.FLOAT, ["a", "b", "c", "d"])], [("y", P.FLOAT, None)])
s = ort.InferenceSession(m, providers=["CPUExecutionProvider"])
for b in (a, a[:, ::-1], np.asfortranarray(a), a[..., ::2], np.broadcast_to(a[..., :1], (1, 2, 2, 5))):
    same("run", s.run(None, {"x": b})[0], b * b)
    same(
        "run_with_ort_values", s.run_with_ort_values(None, {"x": ort.OrtValue.ortvalue_from_numpy(b)})[0].numpy(), b * b
    )
    io = s.io_binding()
    io.bind_cpu_input("x", b)
    io.bind_output("y")
    s.run_with_iobinding(io)
    same("io binding", io.copy_outputs_to_cpu()[0], b * b)

finish()
