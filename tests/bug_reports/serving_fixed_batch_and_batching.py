"""triton-inference-server/server#2387: a model whose first dimension is fixed is configured with max_batch_size 16; the error should name input, shape and rule."""

import numpy as np
from serving_case import add, ask, check, finish, http, new_repo, relu

from paddle_mps.serve import Server

repo = new_repo()
add(
    repo,
    "fixed",
    relu([1, 3, 4]),
    'platform: "onnxruntime_onnx"\nmax_batch_size: 16\ninput { name: "x" data_type: TYPE_FP32 dims: [ 3, 4 ] }\noutput { name: "y" data_type: TYPE_FP32 dims: [ 3, 4 ] }',
)
add(
    repo,
    "reshaped",
    relu([1, 3, 4]),
    'platform: "onnxruntime_onnx"\nmax_batch_size: 0\ninput { name: "x" data_type: TYPE_FP32 dims: [ 3, 4 ] reshape { shape: [ 1, 3, 4 ] } }\noutput { name: "y" data_type: TYPE_FP32 dims: [ 3, 4 ] reshape { shape: [ 1, 3, 4 ] } }',
)
add(
    repo,
    "wrong_reshape",
    relu([1, 3, 4]),
    'platform: "onnxruntime_onnx"\nmax_batch_size: 0\ninput { name: "x" data_type: TYPE_FP32 dims: [ 3, 4 ] reshape { shape: [ 2, 3, 4 ] } }',
)
add(
    repo,
    "wrong_type",
    relu([-1, 3, 4]),
    'max_batch_size: 8\ninput { name: "x" data_type: TYPE_INT32 dims: [ 3, 4 ] }\noutput { name: "y" data_type: TYPE_FP32 dims: [ 3, 4 ] }\nbackend: "onnxruntime"',
)
add(
    repo,
    "wrong_name",
    relu([-1, 3, 4]),
    'max_batch_size: 8\ninput { name: "q" data_type: TYPE_FP32 dims: [ 3, 4 ] }\noutput { name: "y" data_type: TYPE_FP32 dims: [ 3, 4 ] }\nbackend: "onnxruntime"',
)
with Server(repo, "--strict-readiness=false", "--exit-on-error=false") as s:
    c = http.InferenceServerClient(s.http)
    state = {m["name"]: (m.get("state"), m.get("reason", "")) for m in c.get_model_repository_index()}
    for name, words in (
        ("fixed", ("x", "batch")),
        ("wrong_reshape", ("x", "reshape")),
        ("wrong_type", ("x", "INT32")),
        ("wrong_name", ("q",)),
    ):
        st, why = state[name]
        check(f"{name}: {st} {why}", st == "UNAVAILABLE" and all(w in why for w in words))
    check(f"reshaped: {state['reshaped']}", state["reshaped"][0] == "READY")
    x = np.random.default_rng(0).standard_normal((3, 4)).astype("float32")
    y = ask(c, "reshaped", {"x": x})
    check(f"reshaped gives {y.shape}", y.shape == (3, 4) and np.array_equal(y, np.maximum(x, 0)))

finish()
