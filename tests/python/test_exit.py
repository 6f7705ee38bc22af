"""Tensors that are used while the interpreter ends, by the `__del__` of an object that is still there."""

from __future__ import annotations

import subprocess
import sys

import pytest

CALLS = [
    "x.numpy()", "repr(x)", "(x + 1).tolist()", "x[x > 0].numpy()", "x.astype('bfloat16').numpy()", "x.sum().item()",
    "to_tensor([[1.0, 2.0]]).tolist()", "to_tensor(array).numpy()", "array_of(x)", "x.sort().numpy()", "x.fill_(2).tolist()", "gradient(x)",
]  # fmt: skip

PROGRAM = """
import numpy as np
import paddle_mps as paddle

to_tensor, array, array_of = paddle.to_tensor, np.zeros(3, np.float32), np.array

def gradient(x):
    x.stop_gradient = False
    x.register_hook(lambda g, x=x: g)
    (x * 2).sum().backward()
    return x.grad.numpy()

class User:
    def __init__(self, call):
        self.x, self.call = paddle.ones([3]), eval("lambda x: " + call)

    def __del__(self):
        try:
            self.call(self.x)
            print("ran")
        except BaseException as error:
            print(repr(error))

users = [User(call) for call in CALLS]
"""


@pytest.mark.parametrize("last", ["a module's", "no module's"])
def test_while_the_interpreter_ends(last: str) -> None:
    held = "import sys\nsys.modules['held'] = users\ndel users\n" if last == "no module's" else ""
    done = subprocess.run(
        [sys.executable, "-c", f"CALLS = {CALLS}\n{PROGRAM}{held}"], capture_output=True, text=True, timeout=60
    )
    assert (done.stdout.split(), done.stderr) == (["ran"] * len(CALLS), "")
