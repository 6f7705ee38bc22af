"""microsoft/onnxruntime#28292: cubic Resize with a coefficient of its own seems to differ from PyTorch, which has another coefficient."""

import numpy as np
from onnx_case import P, ReferenceEvaluator, finish, h, model, run, same

import onnx

r = np.random.default_rng(0)
x = r.random((1, 1, 8, 8)).astype("float32")
for mode in ("cubic", "linear", "nearest"):
    for coord in ("pytorch_half_pixel", "half_pixel", "align_corners", "asymmetric", "half_pixel_symmetric"):
        for sizes in ((1, 1, 1, 1), (1, 1, 4, 1), (1, 1, 4, 4), (1, 1, 11, 5)):
            for ex in (0, 1) if mode == "cubic" else (0,):
                for a in (-0.75, -0.5) if mode == "cubic" else (-0.75,):
                    m = model(
                        [
                            h.make_node(
                                "Resize",
                                ["x", "", "", "s"],
                                ["y"],
                                mode=mode,
                                coordinate_transformation_mode=coord,
                                exclude_outside=ex,
                                cubic_coeff_a=a,
                            )
                        ],
                        [("x", P.FLOAT, x.shape)],
                        [("y", P.FLOAT, None)],
                        19,
                        init=[("s", np.array(sizes, "int64"))],
                    )
                    want = ReferenceEvaluator(onnx.load_from_string(m)).run(None, {"x": x})[0]
                    if 1 in sizes[2:] and coord == "pytorch_half_pixel" and mode == "cubic":
                        continue  # text and reference differ there
                    same(f"{mode} {coord} {sizes} exclude {ex} a {a}", run(m, {"x": x})[0], want, 1e-4)

finish()
