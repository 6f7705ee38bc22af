"""triton-lang/triton#6376: atomic_max takes -0.0 for the least number."""

import numpy as np
from triton_case import dev, finish, same, tl, triton


@triton.jit
def kernel(x, o, MIN: tl.constexpr):
    i = tl.program_id(0)
    v = tl.load(x + i)
    if MIN:
        tl.atomic_min(o, v)
    else:
        tl.atomic_max(o, v)


@triton.jit
def block(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_max(o + i // 2, tl.load(x + i))


low = np.float32(-3.4e38)
for vals in (
    [-0.0, -1.0],
    [-0.0, low],
    [-5.0, -2.0],
    [3.0, -4.0, -0.0],
    [0.0, -0.0],
    [-1e-40, -1e-39],
    [np.inf, 1.0],
    [-np.inf, -7.0],
):
    x = np.array(vals, "float32")
    for start in (low, np.float32(-0.0), np.float32(-3.5), np.float32(2.0)):
        for mn in (False, True):
            o = dev(np.array([start]))
            kernel[(len(vals),)](dev(x), o, MIN=mn)
            want = (np.minimum if mn else np.maximum).reduce(np.append(x, start))
            same(f"{vals} from {start} {'min' if mn else 'max'}", o, [want])
x = np.array([-0.0, low, -1, -4], "float32")
o = dev(np.full(2, low))
block[(1,)](dev(x), o, N=4)
same("rows", o, [0, -1])

finish()
