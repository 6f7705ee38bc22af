"""triton-inference-server/server#2551: BYTES elements that end in zero bytes, or are empty, come back shorter."""

import numpy as np
from serving_case import P, add, check, finish, grpc, h, http, new_repo

from paddle_mps.serve import Server

repo = new_repo()
m = h.make_model(
    h.make_graph(
        [h.make_node("Identity", ["x"], ["y"])],
        "g",
        [h.make_tensor_value_info("x", P.STRING, [None, 3])],
        [h.make_tensor_value_info("y", P.STRING, [None, 3])],
    ),
    opset_imports=[h.make_opsetid("", 18)],
    ir_version=9,
).SerializeToString()
add(repo, "echo", m, "max_batch_size: 4")
x = np.array([[b"a\0\0", b"", "Gr\u00fc\u00dfe \u4e2d\u6587".encode()], [b"\0", b"x" * 3000, b' \n\t"']], dtype=object)
with Server(repo) as s:
    for lib, url in ((http, s.http), (grpc, s.grpc)):
        c = lib.InferenceServerClient(url)
        for binary in (True, False) if lib is http else (True,):
            i = lib.InferInput("x", list(x.shape), "BYTES")
            i.set_data_from_numpy(x, **({"binary_data": binary} if lib is http else {}))
            o = lib.InferRequestedOutput("y", **({"binary_data": binary} if lib is http else {}))
            y = c.infer("echo", [i], outputs=[o]).as_numpy("y")
            got = [[v if isinstance(v, bytes) else v.encode() for v in row] for row in y]
            check(f"{lib.__name__} binary {binary}: {got}", got == x.tolist())

finish()
