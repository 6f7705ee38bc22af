"""pytorch/pytorch#90635: cumsum of integer tensors returns the input for all but int32."""

import numpy as np
from case import T, check, finish, same

import paddle_mps as paddle

for dt in ("int8", "int16", "int32", "int64", "uint8"):
    a = np.array([[1, 1, 1, 1], [100, 100, 100, 100]], "int64").astype(dt)
    for ax in (0, 1, -1):
        got = paddle.cumsum(T(a), axis=ax, dtype=dt)
        same(f"{dt} axis {ax}", got, np.cumsum(a, axis=ax, dtype=dt))
        check(f"{dt}: dtype {got.dtype}", str(got.dtype) == "paddle." + dt)
        same(
            f"{dt} to int64, axis {ax}",
            paddle.cumsum(T(a), axis=ax, dtype="int64"),
            np.cumsum(a, axis=ax, dtype="int64"),
        )
        same(f"{dt} cumprod", paddle.cumprod(T(a), dim=ax), np.cumprod(a, axis=ax, dtype=dt))
big = np.array([2**40, 2**40 + 1, -(2**41), 5], "int64")
same("large int64", T(big).cumsum(0), np.cumsum(big))
same("bool", paddle.cumsum(T(np.array([True, True, False, True])), axis=0, dtype="int64"), [1, 2, 2, 3])
same("reversed view", T(np.arange(10))[::-1].cumsum(0), np.cumsum(np.arange(10)[::-1]))

finish()
